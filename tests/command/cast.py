"""Processes that tests need to exist: they say when they are ready, and end when their standard
input does, so that none outlives its test."""

import contextlib
import functools
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
from harness import PYTHON, VITALS, environment, wait_until

NOBODY = pwd.getpwnam("nobody")


@functools.cache
def as_user(uid, gid, *options):
    """The words that run a command as another user, and why they do not work where they don't."""
    if os.geteuid() != 0:
        return (), "becoming another user takes root"
    if shutil.which("setpriv") is None:
        return (), "no setpriv"
    words = ("setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups", *options)
    # By way of a shell: what setpriv(1) itself starts is looked up with the rights of root.
    probe = subprocess.run([*words, "sh", "-c", '"$0" --version && exec "$1" -c ""', VITALS, PYTHON],
                           capture_output=True, check=False, stdin=subprocess.DEVNULL, text=True)
    if probe.returncode != 0:
        return (), f"no other user can run {VITALS} and {PYTHON}: {probe.stderr.strip()}"
    return words, None


def ordinary(case):
    """The words that run a command as an ordinary user; skips the case where that cannot be."""
    words, reason = as_user(NOBODY.pw_uid, NOBODY.pw_gid)
    if reason is not None:
        case.skipTest(reason)
    return words


def unshared(case, *arguments):
    """The words that run a command in namespaces of its own; skips the case where that cannot be, as in
    a chroot, whose root is no mount point."""
    if os.geteuid() != 0:
        case.skipTest("namespaces take root")
    if shutil.which("unshare") is None:
        case.skipTest("no unshare")
    words = ("unshare", *arguments)
    probe = subprocess.run([*words, "true"], capture_output=True, check=False, text=True)
    if probe.returncode != 0:
        case.skipTest(probe.stderr.strip())
    return words


def kernel_thread(case):
    """The pid of a kernel thread; skips the case in a pid namespace that has none."""
    with contextlib.suppress(OSError):
        if pathlib.Path("/proc/2/comm").read_bytes() == b"kthreadd\n":
            return 2
    case.skipTest("a pid namespace without kernel threads")


PRELUDE = """
import ctypes, hashlib, os, signal, sys, threading, time
libc = ctypes.CDLL(None)

def name(text):
    libc.prctl(15, text)

def ready(*words):
    print(os.getpid(), *words, flush=True)

def stay():
    sys.stdin.read()
    os._exit(0)
"""


def state_of(pid):
    """The letter of /proc/PID/stat."""
    return pathlib.Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0].decode()


class Cast:
    """Programs that say when they are ready, and end when their standard input does."""

    def __init__(self):
        self.programs = []
        self.pids = {}

    def add(self, role, text, *arguments, prefix=()):
        program = subprocess.Popen(
            [*prefix, PYTHON, "-c", PRELUDE + text, *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
        self.programs.append(program)
        words = program.stdout.readline().split()
        assert words, f"{role} did not start"
        self.pids[role] = int(words[-1])
        return program

    def wait_for_state(self, role, letter):
        wait_until(lambda: state_of(self.pids[role]) == letter, f"{role} in state {letter}")

    def close(self):
        for program in self.programs:
            with contextlib.suppress(ProcessLookupError):
                program.send_signal(signal.SIGCONT)
            program.stdin.close()
            try:
                program.wait(10)
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()
            program.stdout.close()
