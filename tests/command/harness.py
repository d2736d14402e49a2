"""What the tests of the command share: where it is, and how to run it so that only its arguments and
its input decide what it says."""

import os
import pathlib
import subprocess

VITALS = os.environ.get("VITALS", "build/vitals")
BUILD = pathlib.Path(os.environ.get("VITALS_BUILD", "build"))
SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))
FIXTURES = SOURCE / "tests" / "fixtures"

# Built for a sanitizer: memory, time and limits of the address space are then not the program's own.
SANITIZED = bool(os.environ.get("VITALS_SANITIZED"))

# What a person's shell or Meson could hold that would change the output.
_FOREIGN = ("COLUMNS", "LINES", "NO_COLOR", "TERM", "LS_COLORS", "CUDA_VISIBLE_DEVICES",
            "LD_LIBRARY_PATH")


def environment(**changes):
    """The environment of a test: ours without what a person's shell adds. None takes one out."""
    result = {
        name: value
        for name, value in os.environ.items()
        if name not in _FOREIGN and not name.startswith(("NVITOP_", "VITALS"))
    }
    for name, value in changes.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = str(value)
    return result


def vitals(*arguments, env=None, timeout=30, **options):
    """Runs the command to its end; gives a CompletedProcess with returncode, stdout and stderr."""
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("text", True)
    options.setdefault("errors", "surrogateescape")
    return subprocess.run(
        [VITALS, *map(str, arguments)],
        env=environment(**(env or {})),
        capture_output=True,
        timeout=timeout,
        check=False,
        **options,
    )


def reads_json():
    """Whether this build reads JSON: saved snapshots, the configuration."""
    return "reading JSON   no" not in vitals("--version").stdout


def nvml(variant):
    """The path of a simulated libnvidia-ml.so.1."""
    return BUILD / "tests" / "nvml" / variant / "libnvidia-ml.so.1"
