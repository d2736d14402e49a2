"""What the tests of `vitals run` share: programs to be run, the account that is made of them, and what
/proc says of who takes part.
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import textwrap
import unittest

from cast import as_user
from harness import NOBODY, PYTHON, VITALS, environment, vitals, wait_until  # noqa: F401  the last is for the tests

PRELUDE = """
import os, resource, signal, sys, time

def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())  # at once, whoever says something too

def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass

def used():
    ours = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in ours)

def end_with(path, number):
    \"\"\"Nothing is done after this that the number does not hold.\"\"\"
    with open(path + ".new", "w") as file:
        file.write(repr(number))
    os.rename(path + ".new", path)
    os._exit(0)

def has_ended(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True

def daemon(work):
    \"\"\"Twice forked, in a session of its own.\"\"\"
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:
            work()
        os._exit(0)
    os.waitpid(child, 0)
"""


def program(text, *arguments):
    """The command line of a Python program that is told what the others have in common."""
    return [PYTHON, "-c", PRELUDE + textwrap.dedent(text), *map(str, arguments)]


def status(pid):
    """What /proc says of a process; empty where there is none."""
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return {}
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def state(pid):
    return status(pid).get("State", "?")[0]


def children(pid):
    return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def command_line(pid):
    return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()


class Account(dict):
    """The figures of an account, by name."""

    OF_DEVICES = ("gpu_memory_peak_bytes", "gpu_busy_ratio", "gpu_busy_seconds")

    def __init__(self, path):
        self.document = json.loads(path.read_text())
        super().__init__({one["name"]: one for one in self.document["figures"] if "subject" not in one})
        # What the run had of each device.
        self.of = {(one["name"], one["subject"]): one
                   for one in self.document["figures"]
                   if one.get("subject") not in (None, "root", "descendants")
                   and one["name"] in self.OF_DEVICES}

    def value(self, name):
        return self[name]["value"]


class RunCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vitals-run-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.json = self.folder / "account.json"

    def run_it(self, command, *options, **rest):
        done = vitals("run", "--backends", "", "--json", self.json, *options, "--", *command, **rest)
        return done, Account(self.json) if self.json.exists() and self.json.stat().st_size else None

    def start(self, command, *options, **rest):
        rest.setdefault("stdin", subprocess.DEVNULL)
        rest.setdefault("env", environment())
        process = subprocess.Popen(
            [VITALS, "run", "--backends", "", "--json", str(self.json), *options, "--", *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **rest,
        )

        def clean():
            if process.poll() is None:
                process.kill()
            process.communicate()

        self.addCleanup(clean)
        return process

    def kill_later(self, pid):
        def kill():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

        self.addCleanup(kill)


def ordinary_user():
    """What makes a program an ordinary user's, in front of its command line; empty where we are one
    ourselves. Skips where neither can be had."""
    if os.geteuid() != 0:
        return []
    words, reason = as_user(NOBODY, NOBODY, "--no-new-privs")
    if reason is not None:
        raise unittest.SkipTest(reason)
    return list(words)


def lives(pid):
    return state(pid) not in "?ZX"
