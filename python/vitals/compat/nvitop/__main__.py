"""`python -m vitals.compat.nvitop`: the monitor with nvitop's screen and options."""

from vitals.__main__ import main

if __name__ == "__main__":
    main("--layout", "nvitop")
