"""`python -m vitals.compat.nvitop.nvisel`: devices that are free enough, with the options of nvisel."""

from vitals.__main__ import main

if __name__ == "__main__":
    main("select")
