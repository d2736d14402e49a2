"""What the tests of the command share: where it is, and how to run it so that only its arguments and
its input decide what it says."""

import atexit
import functools
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# Under nohup, or behind a `&` of a script, these are ignored, and by every program that we start too.
for _number in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(_number, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

NOBODY = 65534


def memory_folder():
    """For many small files: a folder in memory with a gibibyte free, or None: that of other temporary files."""
    try:
        room = os.statvfs("/dev/shm")
    except OSError:
        return None
    enough = room.f_bavail * room.f_frsize >= 1 << 30
    return "/dev/shm" if enough and os.access("/dev/shm", os.W_OK) else None


MEMORY = memory_folder()

# --- Files for every user ----------------------------------------------------------------------------
#
# A clone may lie below a home folder of mode 0700, as Debian's /root. The tests of root start programs
# as an ordinary user too, and such a user cannot reach the build folder, the interpreter of its virtual
# environment or the tests then. So the tests name what another user may need by for_every_user(), and
# start Python as another user by PYTHON.


def readable_by_every_user(path):
    """Whether a user without rights can read all of a file or folder, and execute what its owner can."""
    find = ["find", path, "(", "!", "-readable", "-o", "-perm", "-u+x", "!", "-executable", ")", "-print",
            "-quit"]
    try:
        done = subprocess.run(find, capture_output=True, check=False, cwd="/", user=NOBODY, group=NOBODY,
                              extra_groups=[])
    except OSError:
        return True  # we cannot become another user, and so no test does
    return done.returncode == 0 and done.stdout == b""


@functools.cache
def copies():
    """The folder of the copies; it goes with this program."""
    folder, owner = pathlib.Path(tempfile.mkdtemp(prefix="vitals-copies-")), os.getpid()
    atexit.register(lambda: os.getpid() == owner and shutil.rmtree(folder, ignore_errors=True))
    return folder


@functools.cache
def for_every_user(path):
    """The absolute path of a file or folder where every user can read it, else of a copy.

    Copies keep their path below one folder, so that files which find each other by their place still
    do. For programs, libraries and scripts: a few megabytes at most."""
    path = pathlib.Path(os.path.abspath(path))
    if os.geteuid() != 0 or not path.exists() or readable_by_every_user(path):
        return path
    copy = copies() / path.relative_to("/")
    copy.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        shutil.copytree(path, copy, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(path, copy)
    subprocess.run(["chmod", "-R", "a+rX", copies()], check=True)
    return copy


def python_for_every_user():
    """Ours, or the one that our virtual environment was made from: it has the standard library alone.
    Ours where neither can be read: as_user() of cast.py says so then."""
    system = os.path.realpath(sys.executable)
    if os.geteuid() != 0 or readable_by_every_user(sys.executable) or not readable_by_every_user(system):
        return sys.executable
    return system


BUILD = pathlib.Path(os.environ.get("VITALS_BUILD", "build"))
VITALS = str(for_every_user(os.environ.get("VITALS", "build/vitals")))
for _name in ("tell", "vitals-full", "libvitals.so.1"):  # beside it, where it looks, and the library of that
    for_every_user(BUILD / _name)
PYTHON = python_for_every_user()
SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))
FIXTURES = SOURCE / "tests" / "fixtures"

# A home where nobody, not even root, can make anything; so no test finds what another left there.
NO_HOME = "/proc/no-home"

# Built for a sanitizer: memory, time and limits of the address space are then not the program's own.
SANITIZED = bool(os.environ.get("VITALS_SANITIZED"))

# What a person's shell or Meson could hold that would change the output.
_FOREIGN = ("COLUMNS", "LINES", "NO_COLOR", "TERM", "COLORFGBG", "LS_COLORS", "CUDA_VISIBLE_DEVICES",
            "LD_LIBRARY_PATH")


def environment(**changes):
    """The environment of a test: ours without what a person's shell adds. None takes one out. The main screen
    is that of `--layout nvitop` unless a test takes VITALS_LAYOUT out; test_monitor_usual.py has the usual one."""
    result = {
        name: value
        for name, value in os.environ.items()
        if name not in _FOREIGN and not name.startswith(("NVITOP_", "VITALS"))
    }
    result["VITALS_LAYOUT"] = "nvitop"
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


def wait_until(holds, what="what was waited for", seconds=60):
    """Waits for something that has no descriptor to wait for, and leaves the CPU to others."""
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            raise AssertionError(f"never: {what}")
        time.sleep(0.001)


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
    """The path of a simulated libnvidia-ml.so.1, for every user."""
    return for_every_user(BUILD / "tests" / "nvml" / variant / "libnvidia-ml.so.1")


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
