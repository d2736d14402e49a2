"""Programs that a test starts: their lines count with the test's own, where those are counted (covered.py)."""

import os
import sys


def interpreter():
    """The beginning of a command that runs a file of Python, or -m MODULE."""
    coverage = sys.modules.get("coverage")
    current = coverage.Coverage.current() if coverage is not None else None
    if current is None:
        return [sys.executable]
    return [sys.executable, "-m", "coverage", "run", "--rcfile", current.config.config_file,
            "--data-file", os.path.abspath(current.config.data_file)]
