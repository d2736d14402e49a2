"""`python -m vitals.compat.nvitop`: the monitor, which takes nvitop's options."""

from vitals.__main__ import main

if __name__ == "__main__":
    main()
