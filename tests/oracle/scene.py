"""What the tests of this folder have beside the machine itself: a cast of processes of every kind, and
other places to look from (another user, other namespaces, a /proc that hides)."""

import contextlib
import ctypes
import functools
import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

import api  # first: it knows where the tests of the command are
from cast import (NOBODY, PRELUDE, Cast, as_user, kernel_thread, state_of)  # noqa: F401  some for the tests
from harness import PYTHON, VITALS, environment, for_every_user, wait_until as until  # noqa: F401

HERE = for_every_user(pathlib.Path(__file__).parent)
NO_NAME = 54321  # a user id without a name
UNSHARE = shutil.which("unshare")

# --- The cast ----------------------------------------------------------------------------------------

ZOMBIE = """
child = os.fork()
if child == 0: os._exit(3)
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
print(child, flush=True)
stay()
"""

TRACED = """
child = os.fork()
if child == 0:
    libc.ptrace(0, 0, 0, 0)
    os.kill(os.getpid(), signal.SIGSTOP)
    os._exit(0)
os.waitpid(child, 2)  # WUNTRACED
print(child, flush=True)
sys.stdin.read()
os.kill(child, signal.SIGKILL)
os._exit(0)
"""

THREADS = """
def burn():
    while True:
        hashlib.pbkdf2_hmac('sha256', b'a', b'b', 20000)  # without the interpreter's lock
os.nice(5)
threading.Thread(target=burn, daemon=True).start()
for _ in range(4): threading.Thread(target=threading.Event().wait, daemon=True).start()
ready(); stay()
"""

FILES = """
import select, tempfile
kept = [tempfile.TemporaryFile(), open(sys.executable, 'rb'), os.memfd_create('mine'),
        os.open('/tmp', os.O_TMPFILE | os.O_RDWR, 0o600), select.epoll()]
kept[1].seek(1234)
ready(); stay()
"""

SOCKETS = """
import socket
kept = []
for family in (socket.AF_INET, socket.AF_INET6):
    try:
        tcp, udp = socket.socket(family, socket.SOCK_STREAM), socket.socket(family, socket.SOCK_DGRAM)
        address = '127.0.0.1' if family == socket.AF_INET else '::1'
        tcp.bind((address, 0)); tcp.listen(3); udp.bind((address, 0))
    except OSError:
        continue  # no such family in this network namespace, or no loopback
    client = socket.create_connection(tcp.getsockname()[:2])
    kept += [tcp, udp, client, tcp.accept()[0]]
kept += socket.socketpair()
abstract = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
abstract.bind(b'\\0vitals-%d' % os.getpid())
kept.append(abstract)
ready(); stay()
"""

MEMORY = """
import mmap
kept = [mmap.mmap(-1, 8 << 20) for _ in range(3)]
for one in kept: one.write(b'x' * (4 << 20))
private = mmap.mmap(-1, 16 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
private.write(b'y' * (3 << 20))
with open(sys.executable, 'rb') as file:
    kept.append(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
sum(kept[-1][::4096])
ready(); stay()
"""

FAMILY = """
def generation(depth):
    for _ in range(2):
        child = os.fork()
        if child == 0:
            if depth: generation(depth - 1)
            os.write(told, b'.')
            libc.prctl(1, 9)  # PR_SET_PDEATHSIG
            while True: signal.pause()
read_end, told = os.pipe()
generation(2)
count = 0
while count < 14: count += len(os.read(read_end, 14 - count))
ready(); stay()
"""

PROGRAMS = {
    "plain": "ready(); stay()",
    "spaces": "name(b'two words here'); ready(); stay()",
    "bracket": "name(b'x) Z 1 (y'); ready(); stay()",
    "newline": "name(b'two\\nlines'); ready(); stay()",
    "spoof_uid": "name(b'Uid:\\t7\\t8\\t9'); ready(); stay()",
    "spoof_threads": "name(b'\\nThreads:\\t77'); ready(); stay()",
    "bytes": "name(b'\\xff\\xfe\\x1b[2J'); ready(); stay()",
    "empty": "name(b''); ready(); stay()",
    "zombie": ZOMBIE,
    "stopped": "ready(); os.kill(os.getpid(), signal.SIGSTOP); stay()",
    "traced": TRACED,
    "threads": THREADS,
    "files": FILES,
    "sockets": SOCKETS,
    "memory": MEMORY,
    "family": FAMILY,
    "reniced": "os.nice(7); os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); ready(); stay()",
    "limited": "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (77, 99)); ready(); stay()",
    "moved": "d = __import__('tempfile').mkdtemp(); os.chdir(d); os.rmdir(d); ready(); stay()",
}
ARGUMENTS = {"arguments": ("", "b c", "--x=\u00e9", "a\nb", "")}
USERS = {"nobody": NOBODY.pw_uid, "no_name": NO_NAME}
EVERYBODY = (*PROGRAMS, *ARGUMENTS, *USERS)


def add(cast, role):
    if role in USERS:
        words, reason = as_user(USERS[role], USERS[role])
        if reason is None:
            cast.add(role, PROGRAMS["plain"], prefix=words)
        return
    cast.add(role, PROGRAMS.get(role, PROGRAMS["plain"]), *ARGUMENTS.get(role, ()))
    if role == "stopped":
        cast.wait_for_state("stopped", "T")


def make_cast(roles=EVERYBODY):
    """Programs that wait to be looked at; close() ends them."""
    cast = Cast()
    try:
        for role in roles:
            add(cast, role)
    except BaseException:
        cast.close()
        raise
    return cast


def one(case, text, *arguments, prefix=()):
    """One program for one test, as a pid; cast.PRELUDE says what its text may use."""
    cast = Cast()
    case.addCleanup(cast.close)
    cast.add("one", text, *arguments, prefix=prefix)
    return cast.pids["one"]


def program(case, text, *arguments, prefix=()):
    """The same as (Popen, pid), for a test that talks with it."""
    cast = Cast()
    case.addCleanup(cast.close)
    popen = cast.add("one", text, *arguments, prefix=prefix)
    return popen, cast.pids["one"]


# --- Other places to look from -----------------------------------------------------------------------

def shell(text):
    return ("sh", "-c", text + ' && exec "$@"', "sh")


NEW_PROC = "mount -t proc proc /proc"
PLACES = {
    "root": (),
    "nobody": None,
    "hidepid_1": (("unshare", "--mount"), "mount -t proc -o hidepid=1 proc /proc", True),
    "hidepid_2": (("unshare", "--mount"), "mount -t proc -o hidepid=2 proc /proc", True),
    "pid_namespace": (("unshare", "--pid", "--fork", "--kill-child", "--mount"), NEW_PROC, False),
    "net_namespace": (("unshare", "--net"), "ip link set lo up", False),
    "mount_namespace": (("unshare", "--mount"), "mount -t tmpfs tmpfs /mnt", False),
}


@functools.cache
def place(name):
    """(words, None) that run a command there, or ((), why it cannot be)."""
    if name == "root":
        return ((), None) if os.geteuid() == 0 else ((), "not started as root")
    user, reason = as_user(NOBODY.pw_uid, NOBODY.pw_gid)
    if name == "nobody" or (PLACES[name][2] and reason is not None):
        return user, reason
    if UNSHARE is None:
        return (), "no unshare"
    first, text, as_nobody = PLACES[name]
    words = (*first, *shell(text), *(user if as_nobody else ()))
    probe = subprocess.run([*words, PYTHON, "-c", ""], capture_output=True, text=True,
                           check=False, stdin=subprocess.DEVNULL)
    if probe.returncode != 0:
        why = (probe.stderr.strip().splitlines() or [f"exit {probe.returncode}"])[-1]
        return (), f"no {name} here: {why}"
    return words, None


def place_or_skip(case, name):
    words, reason = place(name)
    if reason is not None:
        case.skipTest(reason)
    return words


@functools.cache
def declarations_file():
    """The library's declarations, for programs that have no compiler."""
    folder = tempfile.mkdtemp(prefix="vitals-oracle-")
    os.chmod(folder, 0o755)
    path = pathlib.Path(folder, "declarations.h")
    path.write_text(api.DECLARATIONS)
    unittest.addModuleCleanup(shutil.rmtree, folder)
    return path


@functools.cache
def modules_path():
    """PYTHONPATH for every user: of this folder, and of what api.py imports."""
    folders = [str(HERE)]
    for name in ("psutil", "cffi", "_cffi_backend", "pycparser"):
        place = pathlib.Path(importlib.util.find_spec(name).origin)
        place = for_every_user(place.parent if place.name == "__init__.py" else place)
        folders.append(str(place.parent))
    return os.pathsep.join(dict.fromkeys(folders))


def python_there(words, *arguments, timeout=150):
    """What Python prints in such a place, where it can import what lies beside this file."""
    result = subprocess.run(
        [*words, PYTHON, *map(str, arguments)],
        env=environment(VITALS=VITALS, VITALS_LIBRARY=for_every_user(api.LIBRARY),
                        VITALS_SOURCE=for_every_user(api.SOURCE / "tests/command").parents[1],
                        VITALS_DECLARATIONS=declarations_file(), PYTHONPATH=modules_path(),
                        PYTHONDONTWRITEBYTECODE=1),
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, check=False, cwd="/")
    if result.returncode != 0:
        raise AssertionError(f"{arguments[:2]}: exit {result.returncode}\n{result.stderr}")
    return result.stdout


def run_there(words, script, *arguments, timeout=150):
    """What a script beside this file prints as JSON, run in such a place."""
    return json.loads(python_there(words, HERE / script, *arguments, timeout=timeout))


# --- A pid that is given again -------------------------------------------------------------------------

CLONE_ARGS = 88  # the second version of struct clone_args: set_tid is its last member
SYS_CLONE3 = 435


def clone_as(pid):
    """Forks a child that has this pid; the child is told so by 0. OSError where the kernel or our
    rights do not let us."""
    libc = ctypes.CDLL(None, use_errno=True)
    wanted = (ctypes.c_int * 1)(pid)
    fields = [0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, ctypes.addressof(wanted), 1, 0]
    arguments = (ctypes.c_uint64 * len(fields))(*fields)
    child = libc.syscall(SYS_CLONE3, ctypes.byref(arguments), CLONE_ARGS)
    if child < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return child


@contextlib.contextmanager
def sleeping_child(pid=None):
    """A child that does nothing, killed and reaped at the end; with a pid of our choice."""
    child = clone_as(pid) if pid else os.fork()
    if child == 0:
        while True:
            signal.pause()
    try:
        yield child
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)
