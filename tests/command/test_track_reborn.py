"""`vitals track` where pids are given again, many come at once, and large ones come and go unseen."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from harness import (BUILD, NOBODY, PYTHON, SANITIZED, VITALS, environment, for_every_user,
                     wait_until)

# What each parent below begins with: it says "ready" when it may be tracked, goes on with the next
# line of its input, and `born_as` forks a child with a pid that was somebody's before.
COMMON = """
import ctypes, os, struct, sys, time
def step(word):
    print(word, flush=True)
    sys.stdin.readline()
def burn(seconds):
    while time.process_time() < seconds:
        pass
    os._exit(0)
def born_as(pid):
    wanted = (ctypes.c_int * 1)(pid)
    words = struct.pack("11Q", 0, 0, 0, 0, 17, 0, 0, 0, ctypes.addressof(wanted), 1, 0)
    for _ in range(100): # the pid becomes free a moment behind the end
        born = ctypes.CDLL(None).syscall(435, ctypes.create_string_buffer(words, len(words)), 88)
        if born >= 0:
            break
        time.sleep(0.005)
    return born
"""

# A child that was over before tracking began and is waited for later: its pid becomes free.
ZOMBIE = COMMON + """
child = os.fork()
if child == 0:
    os._exit(0)
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
step(f"ready {child}")
os.waitpid(child, 0)
step("done")
step("over")
"""

# Two children with the same pid, the one behind the other. Nobody waits for them: no sample tells what
# they used.
TWICE = COMMON + """
import signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
def wait():
    try:
        os.wait() # until there is none
    except ChildProcessError:
        pass
step("ready")
child = os.fork()
if child == 0:
    burn(0.2)
wait()
again = born_as(child)
if again == 0:
    burn(0.4)
wait()
step(f"done {again == child}")
"""

BURST = COMMON + """
step("ready")
for _ in range(3000):
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
step("done")
"""

# Six of 40 MiB at once, that no sample sees: they are there for a few milliseconds.
LARGE = COMMON + """
step("ready")
here, there = os.pipe()
children = []
for _ in range(6):
    child = os.fork()
    if child == 0:
        os.close(there)
        held = bytearray(40 << 20)
        os.read(here, 1)
        os._exit(0)
    children.append(child)
os.close(there)
for child in children:
    os.waitpid(child, 0)
step("done")
"""

BORN_AS_STRANGER = COMMON + """
child = born_as(int(sys.argv[1]))
if child == 0:
    burn(1)
print(child, flush=True)
if child > 0:
    os.waitpid(child, 0)
"""


class Reborn(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o777)

    def begun(self, program, interval="2s", user=None, **changes):
        """Such a parent, its first line, and who tracks it already."""
        who = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        parent = subprocess.Popen([PYTHON, "-c", program], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True, cwd="/", **who)
        self.addCleanup(lambda: (parent.stdin.close(), parent.stdout.close(), parent.wait()))
        self.addCleanup(parent.kill)
        line = parent.stdout.readline().split()
        self.assertEqual(line[0], "ready")
        account = self.folder / "account.json"
        tracker = subprocess.Popen(
            [VITALS, "track", "--interval", interval, "--json", account, str(parent.pid)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=environment(XDG_STATE_HOME=self.folder, **changes), **who,
        )
        self.addCleanup(tracker.stdout.close)
        self.addCleanup(tracker.kill)
        wait_until(lambda: list(self.folder.glob("vitals/*.json")), "running totals")
        return parent, line, tracker

    def go_on(self, parent, word):
        parent.stdin.write("go\n")
        parent.stdin.flush()
        line = parent.stdout.readline().split()
        self.assertEqual(line[:1], [word])
        return line

    def ended(self, parent, tracker, rung):
        """The figures of its account, once it has ended."""
        with contextlib.suppress(BrokenPipeError):
            parent.stdin.write("end\n")
            parent.stdin.flush()
        self.assertEqual(tracker.wait(timeout=60), 0, tracker.stdout.read())
        document = json.loads((self.folder / "account.json").read_text())
        rungs = document["attributes"]["rungs"].split()
        if rung not in rungs:
            self.skipTest("the kernel tells too little here: " + " ".join(rungs))
        figures = {
            figure["name"]: figure for figure in document["figures"] if not figure.get("subject")
        }
        if "lost" in figures["cpu_seconds"]["source"]:
            self.skipTest("the machine has too much to tell: " + figures["cpu_seconds"]["source"])
        return figures

    @unittest.skipIf(os.geteuid() != 0, "needs root, to choose a pid")
    def test_a_stranger_with_the_pid_of_a_zombie_is_none_of_ours(self):
        parent, line, tracker = self.begun(ZOMBIE)
        self.go_on(parent, "done")
        stranger = subprocess.run([sys.executable, "-c", BORN_AS_STRANGER, line[1]],
                                  stdout=subprocess.PIPE, text=True, timeout=60, check=True)
        if stranger.stdout.split() != [line[1]]:
            self.skipTest("a pid cannot be chosen here: " + stranger.stdout)
        self.go_on(parent, "over")
        figures = self.ended(parent, tracker, "taskstats")
        self.assertLess(figures["cpu_seconds"]["value"], 0.5)
        self.assertEqual(figures["processes"]["value"], 2)

    @unittest.skipIf(os.geteuid() != 0, "needs root, to choose a pid")
    def test_two_with_one_pid_are_two(self):
        parent, _, tracker = self.begun(TWICE)
        if self.go_on(parent, "done")[1] != "True":
            self.skipTest("a pid cannot be chosen here, or was taken")
        figures = self.ended(parent, tracker, "taskstats")
        self.assertGreaterEqual(figures["cpu_seconds"]["value"], 0.6)
        self.assertEqual(figures["processes"]["value"], 3)

    def test_time_in_user_mode_is_not_left_to_samples(self):
        parent, _, tracker = self.begun(TWICE)
        self.go_on(parent, "done")
        figures = self.ended(parent, tracker, "taskstats")
        parts = [figures[f"cpu_{part}_seconds"] for part in ("user", "system")]
        if figures["cpu_seconds"]["availability"] != "lower_bound":
            self.skipTest("samples saw it all")
        self.assertEqual([part["availability"] for part in parts], ["lower_bound"] * 2, parts)
        self.assertGreater(sum(part["value"] for part in parts), 0.15)

    @unittest.skipIf(os.geteuid() != 0, "needs root, to be nobody")
    @unittest.skipIf(SANITIZED, "a sanitizer does not let another library be preloaded")
    def test_many_at_once_fit_into_little_room(self):
        library = for_every_user(BUILD / "tests" / "command" / "narrow_room.so")
        parent, _, tracker = self.begun(BURST, user=NOBODY, LD_PRELOAD=library)
        self.go_on(parent, "done")
        figures = self.ended(parent, tracker, "connector")
        # On a busy machine we may come too late; before, no more than 600 were ever heard of.
        self.assertGreaterEqual(figures["processes"]["value"], 1500, figures["processes"])

    def test_large_ones_that_no_sample_saw_are_all_in_the_upper_end(self):
        parent, _, tracker = self.begun(LARGE)
        self.go_on(parent, "done")
        figures = self.ended(parent, tracker, "taskstats")
        if "memory_peak_sum_bytes" not in figures:
            self.skipTest("counted by a cgroup of its own")
        low, high = (figures[f"memory_peak_{end}_bytes"] for end in ("low", "sum"))
        self.assertGreaterEqual(low["value"], 40 << 20)
        self.assertGreaterEqual(high["value"], 6 * (40 << 20), high)
        self.assertNotIn("wait4", high["source"])
        self.assertIn("taskstats", high["source"])


if __name__ == "__main__":
    unittest.main()
