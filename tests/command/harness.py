"""What the tests of the command share: where it is, and how to run it so that only its arguments and
its input decide what it says."""

import os
import pathlib
import signal
import subprocess
import time

# Under nohup, or behind a `&` of a script, these are ignored, and by every program that we start too.
for _number in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(_number, signal.SIG_DFL)

VITALS = os.environ.get("VITALS", "build/vitals")
BUILD = pathlib.Path(os.environ.get("VITALS_BUILD", "build"))
SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))
FIXTURES = SOURCE / "tests" / "fixtures"

# A home where nobody, not even root, can make anything; so no test finds what another left there.
NO_HOME = "/proc/no-home"

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


def wait_until(holds, what="what was waited for", seconds=30):
    """Waits for something that has no descriptor to wait for."""
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            raise AssertionError(f"never: {what}")
        os.sched_yield()


def started(command, **options):
    """A Popen whose program stands in its place. Popen itself returns when execve(2) has closed the
    descriptors, which is before there are mappings and arguments."""
    program = subprocess.Popen(command, **options)
    place = pathlib.Path(f"/proc/{program.pid}/cmdline")
    wait_until(lambda: place.read_bytes() or program.poll() is not None, "its arguments")
    return program


def in_most_of(tries, measure):
    """Measures so many times, of which a quarter may fail, and one in any case; ends once that is
    decided. A neighbour that takes the CPU between two readings spoils one; what is wrong now and
    then spoils more. What must hold each time is no part of it: it is never retried."""
    allowed, spoilt = min(max(1, tries // 4), tries - 1), 0
    for done in range(1, tries + 1):
        try:
            result = measure()
        except AssertionError as why:
            spoilt += 1
            if spoilt > allowed:
                raise AssertionError(f"{spoilt} of {done} tries failed: {why}") from why
            continue
        if done - spoilt >= tries - allowed:
            return result


def in_one_of(attempts, measure):
    """Measures until what must come soon did once: how long a program takes, which a busy machine
    only makes longer."""
    for left in reversed(range(attempts)):
        try:
            return measure()
        except AssertionError:
            if left == 0:
                raise


def reads_json():
    """Whether this build reads JSON: saved snapshots, the configuration."""
    return "reading JSON   no" not in vitals("--version").stdout


def nvml(variant):
    """The path of a simulated libnvidia-ml.so.1."""
    return BUILD / "tests" / "nvml" / variant / "libnvidia-ml.so.1"


def unpack(tree, folder):
    """A machine of tests/fixtures/gpu (tests/unit/gpu_tree.h says how it is packed) as files."""
    for root in ("proc", "sys", "dev"):
        (folder / root).mkdir()
    path = None
    for line in tree.read_text().splitlines():
        if line.startswith("|"):
            with path.open("a") as file:
                file.write(line[2:] + "\n")
            continue
        if not line or line.startswith("#"):
            continue
        name, _, target = line.partition(" -> ")
        name, _, text = name.partition(" = ")
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if target:
            path.symlink_to(target)
        elif text:
            path.write_text(text + "\n")
        elif name.endswith("/"):
            path.mkdir(exist_ok=True)
