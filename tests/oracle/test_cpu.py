"""CPU time, threads and context switches: whole processes, exactly."""

import ctypes
import os
import signal
import time
import unittest

import api
import psutil
import scene
import theirs
from harness import in_most_of

TICK = 1 / theirs.TICKS


def clock_of(pid):
    """Nanoseconds of all threads of a process, dead ones included, by the kernel's clock of it."""
    return time.clock_gettime_ns(ctypes.c_int(((~pid) << 3) | 2).value)


class Threads(unittest.TestCase):
    """Check 23."""

    def test_each_thread(self):
        pid = scene.one(self, scene.THREADS)
        process, their = api.Context().open(pid), psutil.Process(pid)
        in_most_of(5, lambda: self.check_each_thread(process, their))

    def check_each_thread(self, process, their):
        before = theirs.threads(their)
        rows = process.rows("thread")
        after = theirs.threads(their)
        self.assertEqual([row["tid"] for row in rows], sorted(before))
        for row in rows:
            times = theirs.ticks((row["cpu_user_seconds"], row["cpu_system_seconds"]))
            tid = row["tid"]
            self.assertTrue(all(map(lambda a, b, c: a <= b <= c, before[tid], times, after[tid])),
                            (before[tid], times, after[tid]))
        self.assertEqual({row["nice"] for row in rows}, {min(os.nice(0) + 5, 19)})
        # One burns, and its own clock knows it finer than in ticks.
        busy = max(rows, key=lambda row: row["cpu_seconds"])
        self.assertAlmostEqual(busy["cpu_seconds"],
                               busy["cpu_user_seconds"] + busy["cpu_system_seconds"],
                               delta=5 * TICK)

    def test_a_bracket_in_a_name(self):
        """psutil reads numbers out of the name (defect 3)."""
        pid = scene.one(self, """
def rename():
    libc.prctl(15, b'a) R 9 9 9 (b'); named.set(); threading.Event().wait()
named = threading.Event()
threading.Thread(target=rename, daemon=True).start(); named.wait()
ready(); stay()
""")
        tids = os.listdir(f"/proc/{pid}/task")
        scene.until(lambda: {theirs.stat_fields(pid, "task", tid)[2] for tid in tids} == {"S"},
                    "the sleep of both")
        row, = [row for row in api.Context().open(pid).rows("thread")
                if row["name"] == b"a) R 9 9 9 (b"]
        self.assertLess(row["cpu_user_seconds"], 10)
        self.assertEqual(row["state"], b"sleeping")
        their, = [one for one in psutil.Process(pid).threads() if one.id == row["tid"]]
        truth = theirs.true_threads(pid)[row["tid"]]
        self.assertNotEqual(theirs.ticks((their.user_time, their.system_time)), truth)
        self.assertEqual(theirs.ticks((row["cpu_user_seconds"], row["cpu_system_seconds"])), truth)

    def test_threads_that_come_and_go(self):
        pid = scene.one(self, """
def churn():
    while True:
        thread = threading.Thread(target=lambda: None); thread.start(); thread.join()
for _ in range(2): threading.Thread(target=churn, daemon=True).start()
ready(); stay()
""")
        process = api.Context().open(pid)
        for _ in range(300):
            rows = process.rows("thread")
            tids = [row["tid"] for row in rows]
            self.assertEqual(tids, sorted(set(tids)))
            self.assertIn(pid, tids)
            for row in rows:
                row.all()

    def test_a_thousand(self):
        pid = scene.one(self, """
threading.stack_size(65536)
for _ in range(999): threading.Thread(target=threading.Event().wait, daemon=True).start()
ready(); stay()
""")
        snapshot = api.Context().open(pid).ask("thread", "process.threads")
        self.assertEqual((len(snapshot.rows("thread")), snapshot.one()["threads"]), (1000, 1000))


class Times(unittest.TestCase):
    """Check 25."""

    def test_between_two_readings_of_its_own_clock(self):
        pid = scene.one(self, scene.THREADS)
        process = api.Context().open(pid)
        for _ in range(50):
            before = clock_of(pid)
            ours = process.get("cpu_seconds")
            after = clock_of(pid)
            self.assertLessEqual(before / 1e9, ours + 1e-9)
            self.assertLessEqual(ours, after / 1e9 + 1e-9)

    def test_against_getrusage(self):
        """Its own account of itself, threads that ended and children that it waited for included."""
        popen, pid = scene.program(self, """
import resource
def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass
thread = threading.Thread(target=burn, args=(0.12,)); thread.start(); thread.join()
if os.fork() == 0: burn(0.15); os._exit(0)
os.wait()
own, waited = resource.getrusage(0), resource.getrusage(resource.RUSAGE_CHILDREN)
print(own.ru_utime, own.ru_stime, waited.ru_utime, waited.ru_stime, os.getpid(), flush=True)
stay()
""")
        scene.until(lambda: theirs.stat_fields(pid)[2] == "S", "its sleep")
        row = api.Context().open(pid).ask(*api.PROCESS_COLUMNS).one()
        their = psutil.Process(pid).cpu_times()
        ours = [row[name] for name in ("cpu_user_seconds", "cpu_system_seconds",
                                       "children_user_seconds", "children_system_seconds")]
        self.assertEqual(theirs.ticks(ours), theirs.ticks(their[:4]))
        self.assertGreater(ours[0] + ours[1], 0.09)
        self.assertGreater(ours[2] + ours[3], 0.12)
        self.assertLess(ours[2] + ours[3], 2)

    def test_a_duty_cycle(self):
        """Check 33: 37 of 100 ms at work. Our rate is that of its own notes, over the same time."""
        popen, pid = scene.program(self, """
done = threading.Event()
threading.Thread(target=lambda: (sys.stdin.readline(), done.set()), daemon=True).start()
ready()
while not done.is_set():
    until = time.process_time() + 0.037
    while time.process_time() < until: pass
    done.wait(0.063)
os._exit(0)
""")
        process, their = api.Context().open(pid), psutil.Process(pid)
        in_most_of(5, lambda: self.check_duty(pid, process, their))

    def check_duty(self, pid, process, their):
        their.cpu_percent()
        begun = time.monotonic_ns(), clock_of(pid)
        older = process.ask("process.cpu_seconds")
        signal.sigtimedwait([], 1)
        newer = process.ask("process.cpu_seconds")
        ended = time.monotonic_ns(), clock_of(pid)
        psutil_percent = their.cpu_percent()
        rate, state = newer.one().rate(older, "cpu_seconds")
        truth = (ended[1] - begun[1]) / (ended[0] - begun[0])
        self.assertEqual(state, "have")
        self.assertAlmostEqual(rate, truth, delta=0.02)
        self.assertAlmostEqual(psutil_percent / 100, truth, delta=0.05)

    def test_no_rate_of_one_reading(self):
        """psutil says 0.0 %; we say that another is needed."""
        process = api.Context().open(os.getpid())
        row = process.ask("process.cpu_seconds").one()
        self.assertEqual(row.rate(None, "cpu_seconds"), (None, "not_yet"))
        self.assertEqual(psutil.Process().cpu_percent(), 0.0)

    def test_as_nobody_it_is_still_exact(self):
        """The kernel tells everybody the CPU clock of every process."""
        words = scene.place_or_skip(self, "nobody")
        code = ("import api, sys\nrow = api.Context().open(int(sys.argv[1])).ask("
                "'process.cpu_seconds').one()\nprint(*row.read('cpu_seconds'))")
        pid = scene.one(self, scene.THREADS)
        before = clock_of(pid)
        told = scene.python_there(words, "-c", code, pid).split()
        after = clock_of(pid)
        self.assertEqual(told[1], "have")
        self.assertTrue(before <= float(told[0]) * 1e9 + 1 <= after + 2, (before, told, after))


class Switches(unittest.TestCase):
    """Check 24: context switches of the whole process, dead threads included (psutil's defect 4)."""

    def test_against_getrusage(self):
        popen, pid = scene.program(self, """
import resource
def switch():
    for _ in range(300): time.sleep(0.0001)
threads = [threading.Thread(target=switch) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
threading.Thread(target=threading.Event().wait, daemon=True).start()
ready()
sys.stdin.readline()
usage = resource.getrusage(0)
print(usage.ru_nvcsw, usage.ru_nivcsw, flush=True)
stay()
""")
        scene.until(lambda: theirs.stat_fields(pid)[2] == "S", "its sleep")
        row = api.Context().open(pid).ask(*api.PROCESS_COLUMNS).one()
        their = psutil.Process(pid).num_ctx_switches()
        pairs = [row.read(f"{kind}_context_switches") for kind in ("voluntary", "involuntary")]
        popen.stdin.write(b"\n")
        popen.stdin.flush()
        truth = list(map(int, popen.stdout.readline().split()))
        # A sleep that is over before the CPU is given up is no switch: some of 1200 are.
        self.assertGreater(truth[0], 600)
        self.assertLess(their.voluntary, truth[0] // 2, "psutil counts the first thread alone")
        for (value, state), true in zip(pairs, truth):
            self.assertLessEqual(value, true + 1)
            if state == "have":
                # Between our reading and its own it woke, and printed.
                self.assertGreaterEqual(value, true - 20)
            else:
                self.assertEqual(state, "lower_bound")

    def test_without_dead_threads_it_is_exact(self):
        """What the kernel forgets are switches of threads that ended: without them it is the whole
        (taskstats, which root is given, or the sum over all threads)."""
        popen, pid = scene.program(self, """
import resource
def switch():
    for _ in range(200): time.sleep(0.0001)
    done.release(); threading.Event().wait()
done = threading.Semaphore(0)
for _ in range(4): threading.Thread(target=switch, daemon=True).start()
for _ in range(4): done.acquire()
ready()
sys.stdin.readline()
usage = resource.getrusage(0)
print(usage.ru_nvcsw, usage.ru_nivcsw, flush=True)
stay()
""")
        scene.until(lambda: theirs.stat_fields(pid)[2] == "S", "its sleep")
        row = api.Context().open(pid).ask(*api.PROCESS_COLUMNS).one()
        popen.stdin.write(b"\n")
        popen.stdin.flush()
        truth = list(map(int, popen.stdout.readline().split()))
        for kind, true in zip(("voluntary", "involuntary"), truth):
            value, state = row.read(f"{kind}_context_switches")
            self.assertEqual(state, "have")
            self.assertTrue(true - 20 <= value <= true, (kind, value, true))
        self.assertGreater(truth[0], 400)


if __name__ == "__main__":
    unittest.main()
