"""Parents and children: random trees, deaths during the scan, what may not be looked at."""

import os
import random
import signal
import subprocess
import unittest

import api
import psutil
import scene
import theirs

# A tree of a shape that is given as pairs: (number, number of the parent), 0 being the root.
TREE = """
import json
shape = json.loads(sys.argv[1])
def grow(me):
    for number, parent in shape:
        if parent == me and os.fork() == 0:
            grow(number)
            os.write(told, b'%d %d\\n' % (number, os.getpid()))
            libc.prctl(1, 9)
            while True: signal.pause()
read_end, told = os.pipe()
if os.fork() == 0: pass  # the root is a child, so that the pipe's end is not its own
else:
    os.close(told)
    lines = os.fdopen(read_end)
    for _ in range(len(shape) + 1): print(lines.readline().strip(), flush=True)
    print(os.getpid(), flush=True)
    stay()
os.close(0)
grow(0)
os.write(told, b'%d %d\\n' % (0, os.getpid()))
libc.prctl(1, 9)
while True: signal.pause()
"""


class Trees(unittest.TestCase):
    """Check 21."""

    def grow(self, shape):
        """{number: pid}."""
        cast = scene.Cast()
        self.addCleanup(cast.close)
        popen = subprocess.Popen(
            [scene.PYTHON, "-c", scene.PRELUDE + TREE,
             scene.json.dumps(shape)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        cast.programs.append(popen)
        pids = {}
        for _ in range(len(shape) + 1):
            number, pid = popen.stdout.readline().split()
            pids[int(number)] = int(pid)
        self.addCleanup(self.end, pids)
        return pids

    def end(self, pids):
        for pid in pids.values():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def test_random_trees(self):
        chance = random.Random(20)
        context = api.Context()
        for size in (1, 5, 16):  # theirs lists the whole machine for each, five times
            shape = [(number, chance.randrange(number)) for number in range(1, size + 1)]
            parents = dict(shape)
            pids = self.grow(shape)
            for number in pids:
                process, their = context.open(pids[number]), psutil.Process(pids[number])
                children = {pids[n] for n, parent in shape if parent == number}
                below = {n for n in pids if self.is_below(n, number, parents)}
                with self.subTest(size=size, number=number):
                    self.assertEqual(set(process.pids("children")), children)
                    self.assertEqual({one.pid for one in their.children()}, children)
                    self.assertEqual(set(process.pids("descendants")), {pids[n] for n in below})
                    self.assertEqual({one.pid for one in their.children(recursive=True)},
                                     {pids[n] for n in below})
                    self.assertEqual(process.pids("parent"), [their.ppid()])
                    self.assertEqual(process.pids("ancestors"), [one.pid for one in their.parents()])

    @staticmethod
    def is_below(number, root, parents):
        while number in parents:
            number = parents[number]
            if number == root:
                return True
        return False

    def test_against_ps(self):
        pid = scene.one(self, scene.FAMILY)
        told = subprocess.run(["ps", "--ppid", str(pid), "-o", "pid="], capture_output=True,
                              text=True, check=True).stdout.split()
        process = api.Context().open(pid)
        self.assertEqual(process.pids("children"), sorted(map(int, told)))
        self.assertEqual(len(process.pids("descendants")), 14)
        self.assertEqual(process.relatives("descendants").state("process"), "have")

    def test_rows_open_handles(self):
        pid = scene.one(self, scene.FAMILY)
        context = api.Context()
        snapshot = context.open(pid).relatives("descendants", "process.name",
                                               "process.resident_bytes")
        for row in snapshot.rows("process"):
            handle = context.open_row(row)
            self.assertEqual((handle.pid, handle.start_seconds), (row["pid"], row["start_seconds"]))
            self.assertGreater(row["resident_bytes"], 0)
            handle.signal(signal.SIGKILL)
        self.assertEqual(context.open(pid).pids("children"), sorted(
            one.pid for one in psutil.Process(pid).children()))

    def test_deaths_during_the_scan(self):
        pid = scene.one(self, """
def churn():
    while True:
        child = os.fork()
        if child == 0: os._exit(0)
        os.waitpid(child, 0)
threading.Thread(target=churn, daemon=True).start()
kept = os.fork()
if kept == 0:
    libc.prctl(1, 9)
    while True: signal.pause()
print(kept, os.getpid(), flush=True); stay()
""")
        process = api.Context().open(pid)
        for _ in range(200):
            rows = process.relatives("descendants").rows("process")
            self.assertGreaterEqual(len(rows), 1)
            self.assertEqual({row["parent_pid"] for row in rows}, {pid})

    def test_the_top(self):
        process = api.Context().open(1)
        self.assertEqual(process.pids("parent"), [])
        self.assertEqual(process.pids("ancestors"), [])

    def test_parents_of_ours(self):
        process = api.Context().open(os.getpid())
        self.assertEqual(process.pids("parent"), [os.getppid()])
        self.assertEqual(process.pids("ancestors"), [one.pid for one in psutil.Process().parents()])

    def test_a_thread_s_child(self):
        """Forked by a thread: a child of the process all the same."""
        pid = scene.one(self, """
def fork():
    child = os.fork()
    if child == 0:
        libc.prctl(1, 9)
        while True: signal.pause()
    kept.append(child); forked.set(); threading.Event().wait()
kept, forked = [], threading.Event()
threading.Thread(target=fork, daemon=True).start(); forked.wait()
print(kept[0], os.getpid(), flush=True); stay()
""")
        self.assertEqual(api.Context().open(pid).pids("children"),
                         [one.pid for one in psutil.Process(pid).children()])


class Hidden(unittest.TestCase):
    def test_hidepid(self):
        """One that may not be looked at does not end the search (psutil's defect 12): what can be
        seen is told, and that it may not be all."""
        words = scene.place_or_skip(self, "hidepid_1")
        found = scene.run_there(words, "family.py")
        self.assertEqual(found["psutil"], "AccessDenied")
        self.assertEqual(found["ours"], found["truth"])
        self.assertEqual(found["state"], "lower_bound")


class Clock(unittest.TestCase):
    """Check 22: nothing of ours hangs on the wall clock, as a start is counted from boot."""

    def test_starts_are_since_boot(self):
        pid = scene.one(self, scene.FAMILY)
        for row in api.Context().open(pid).relatives("descendants").rows("process"):
            self.assertEqual(row["start_seconds"],
                             int(theirs.stat_fields(row["pid"])[21]) / theirs.TICKS)

    def test_a_time_namespace(self):
        """Where boot was at another time: the tree is the same, and psutil's create_time is met."""
        words = ("unshare", "--time", "--boottime", "1000000", "--fork", "--kill-child")
        probe = subprocess.run([*words, "true"], capture_output=True, text=True, check=False)
        if probe.returncode != 0:
            self.skipTest(f"no time namespace here: {probe.stderr.strip()}")
        found = scene.run_there(words, "family.py")
        self.assertEqual(found["ours"], found["truth"])
        self.assertEqual(found["psutil"], found["truth"])


if __name__ == "__main__":
    unittest.main()
