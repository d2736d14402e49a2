"""The bounds of a run's memory against what its processes held, measured from outside.

Each workload comes to a state, says so and waits; meanwhile the pages that its processes map are
counted here, each once: by frame number (/proc/PID/pagemap) as root, else between the sum of PSS and
that with what one process shares with others. As a program it prints a table, with every method:

    python3 tests/command/test_memory_bounds.py table [MIB]
"""

import array
import ctypes
import concurrent.futures
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

from harness import VITALS, environment, wait_until
from runs import ordinary_user, program

MIB = 1 << 20
LIBC = ctypes.CDLL(None, use_errno=True)
PAGE = os.sysconf("SC_PAGE_SIZE")

# How long a state lasts at least: private pages are counted once a second, and the second reading
# shows that nothing has changed since the first.
SECONDS = 3.5

# And one of which all must be told: those that rest are read again after five seconds alone, and all
# must have been read since the last of them came to rest.
STILL_SECONDS = 40  # at most

# Resident pages are counted by the kernel in batches for each CPU, so that VmHWM is ahead of them.
LAG = 4 * MIB

COMMON = """
import mmap

size = int(sys.argv[1]) << 20

def write(block, begin=0, end=None):
    for at in range(begin, end or len(block), mmap.PAGESIZE):
        block[at] = block[at] + 1 & 255 | 1

def state(word):
    say(word)
    os.read(0, 1)

def anonymous(flags=mmap.MAP_PRIVATE):
    return mmap.mmap(-1, size, flags | mmap.MAP_ANONYMOUS)

def fork(work):
    ready, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        work()
        os.write(told, b".")
        signal.pause()
    os.read(ready, 1)
    os.close(ready), os.close(told)
    return pid

def end(pids):
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

state("ready")
"""

# name, what it does between "ready" and its end; what it holds at once by construction, of its size.
# In a state called "still" what several hold together must be told too.
WORKLOADS = {
    "shared, 8 processes": ("""
        block = anonymous(mmap.MAP_SHARED)
        write(block)
        pids = [fork(lambda: write(block)) for i in range(7)]
        state("held")
        end(pids)
        """, 1),
    "shared file, 8 processes": ("""
        import tempfile
        file = tempfile.TemporaryFile(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        file.truncate(size)
        block = mmap.mmap(file.fileno(), size)
        write(block)
        pids = [fork(lambda: write(block)) for i in range(7)]
        state("held")
        end(pids)
        """, 1),
    "copy-on-write, 6 forks": ("""
        block = anonymous()
        write(block)
        pids = [fork(lambda: None) for i in range(6)]
        state("held")
        end(pids)
        """, 1),
    "copy-on-write, 6 forks, 4 write a quarter": ("""
        block = anonymous()
        write(block)
        pids = [fork(lambda: write(block, 0, size // 4 if i < 4 else 1)) for i in range(6)]
        state("still")
        end(pids)
        """, 2),
    "each its own, 4 processes": ("""
        def work():
            global block
            block = mmap.mmap(-1, size // 4, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            write(block)
        pids = [fork(work) for i in range(4)]
        state("still")
        end(pids)
        """, 1),
    "one map, brothers": ("""
        # clone(CLONE_VM) without a thread, by a process that ends at once: no fork is between the
        # two any more, and PSS has all of the map in each.
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        body = ctypes.cast(libc.pause, ctypes.c_void_p)
        stacks = [ctypes.create_string_buffer(1 << 16) for i in range(2)]
        libc.prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: so they stay below us
        ready, told = os.pipe()
        middle = os.fork()
        if middle == 0:
            block = anonymous()
            write(block)
            for stack in stacks:
                top = ctypes.c_void_p(ctypes.addressof(stack) + (1 << 16) - 64 & ~15)
                pid = libc.clone(body, top, 0x100 | signal.SIGCHLD, None)
                os.write(told, pid.to_bytes(4, "little", signed=True))
            os._exit(0)
        os.waitpid(middle, 0)
        pids = [int.from_bytes(os.read(ready, 4), "little", signed=True) for i in range(2)]
        assert min(pids) > 0, "clone"
        state("still")
        end(pids)
        """, 1),
    "in turn, 3 processes": ("""
        def work():
            global block
            block = anonymous()
            write(block)
        for i in range(3):
            pid = fork(work)
            state("held")
            end([pid])
        """, 1),
    "in turn, both live": ("""
        def work():
            for turn in range(2):
                block = anonymous()
                write(block)
                os.write(told, b".")
                os.read(go, 1)
                block.close()
            signal.pause()
        pids, pipes = [], []
        for i in range(2):
            ready, told = os.pipe()
            go, give = os.pipe()
            pids.append(os.fork())
            if pids[-1] == 0:
                work()
            os.read(ready, 1)
            state("held")
            os.write(give, b".")
            os.read(ready, 1)
            state("held")
            os.write(give, b".")
            time.sleep(0.1)
        end(pids)
        """, 1),
}


# ---- the truth ----


def tree(pid):
    """A process and all below it."""
    pids = [pid]
    for one in pids:
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{one}/task"):
                words = pathlib.Path(f"/proc/{one}/task/{task}/children").read_text().split()
                pids.extend(map(int, words))
    return pids


def rollup(pid):
    lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    return {line.split(":")[0]: int(line.split()[1]) << 10 for line in lines}


def frames(pid):
    """The numbers of the frames that it maps; empty where they are hidden."""
    present, number = 1 << 63, (1 << 55) - 1
    found = set()
    with open(f"/proc/{pid}/pagemap", "rb", buffering=0) as pagemap:
        for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
            begin, end = (int(word, 16) for word in line.split()[0].split("-"))
            if begin >= 1 << 63:
                continue  # vsyscall
            entries = array.array("Q", os.pread(pagemap.fileno(), (end - begin) // PAGE * 8,
                                                begin // PAGE * 8))
            found.update(entry & number for entry in entries if entry & present)
    return found - {0}


def held(pid):
    """At least and at most so many bytes are held by a tree that stands still."""
    pids = maps_once(tree(pid))
    sizes = [rollup(one) for one in pids]
    least = sum(size["Pss"] for size in sizes)
    found = set().union(*map(frames, pids)) if os.geteuid() == 0 else set()
    if found:
        return len(found) * PAGE, len(found) * PAGE
    return least, least + max(size["Shared_Clean"] + size["Shared_Dirty"] for size in sizes)


def compare_maps(pid, other):
    """0: they share one; below 0: it is not told here."""
    kcmp = {"x86_64": 312, "aarch64": 272}.get(os.uname().machine, -1)
    return LIBC.syscall(kcmp, pid, other, 1, 0, 0)  # KCMP_VM


def maps_once(pids):
    """Of processes that share one memory map, the first: PSS has all of it in each."""
    kept = []
    for pid in pids:
        if not any(compare_maps(pid, other) == 0 for other in kept):
            kept.append(pid)
    return kept


# ---- one run ----


class Run:
    """Of a workload under `vitals run` or `vitals track`, with what is true of it and what was told."""

    def __init__(self, workload, size, verb, methods, become):
        self.text, self.share = WORKLOADS[workload]
        self.least = self.most = self.still = 0
        with tempfile.TemporaryDirectory(prefix="vitals-bounds-") as folder:
            os.chmod(folder, 0o777)
            self.account = pathlib.Path(folder) / "account.json"
            self.state = environment(XDG_STATE_HOME=folder)
            work = program(COMMON, size)
            work[2] += textwrap.dedent(self.text)
            options = ["--backends", "", "--interval", "100ms", "--json", str(self.account),
                       *(["--rungs", methods] if methods else [])]
            (self.run if verb == "run" else self.track)(become, options, work)
            self.figures = {one["name"]: one for one in json.loads(self.account.read_text())["figures"]
                            if "subject" not in one}

    def started(self, command):
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=self.state)

    def run(self, become, options, work):
        with self.started([*become, VITALS, "run", *options, "--", *work]) as process:
            self.go_through(process, lambda: None)

    def track(self, become, options, work):
        with self.started([*become, *work]) as process:
            trackers = []

            def begin():
                trackers.append(self.started([*become, VITALS, "track", *options, str(process.pid)]))
                wait_until(lambda: list(self.account.parent.glob("vitals/*.json")), "running totals")

            self.go_through(process, begin)
            out, errors = trackers[0].communicate(timeout=60)
            assert trackers[0].returncode == 0, errors

    def go_through(self, process, begin):
        """Every state that the workload comes to is measured, and lasts for some samples."""
        for line in process.stdout:
            if line == b"ready\n":
                begin()
            else:
                least, most = held(self.root_of(process.pid))
                self.least, self.most = max(self.least, least), max(self.most, most)
                still = line == b"still\n"
                self.still = max(self.still, least if still else 0)
                if still:
                    self.wait_for_all(least)
                time.sleep(SECONDS)
            process.stdin.write(b".")
            process.stdin.flush()
        errors = process.stderr.read()
        assert process.wait(60) == 0, errors

    def wait_for_all(self, least):
        """Until the running totals tell what is held together; on a busy machine that takes longer."""
        until = time.monotonic() + STILL_SECONDS
        while time.monotonic() < until and not self.told_together(least):
            time.sleep(0.1)

    def told_together(self, least):
        for path in self.account.parent.glob("vitals/*.json"):
            with contextlib.suppress(OSError, ValueError):
                figures = {one["name"]: one["value"] for one in json.loads(path.read_text())["figures"]
                           if "subject" not in one}
                return "memory_peak_bytes" in figures or figures.get("memory_peak_low_bytes", 0) >= 0.8 * least
        return False

    @staticmethod
    def command_of(pid):
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")

    def root_of(self, pid):
        """The workload itself, which may be below vitals."""
        for one in tree(pid):
            if b"-c" in self.command_of(one) and b"run" not in self.command_of(one):
                return one
        raise AssertionError("it has ended")

    def value(self, name):
        return self.figures.get(name, {}).get("value")

    def wrong(self):
        """What is not true; empty where all is."""
        counted = self.figures.get("memory_peak_bytes")
        if counted is not None:
            # A cgroup counts what was charged to it, page tables and files included.
            exact = counted["availability"] == "have"
            return "" if not exact or counted["value"] > self.least - 16 * MIB else "below what was held"
        low, high = self.value("memory_peak_low_bytes"), self.value("memory_peak_high_bytes")
        if low is None or high is None:
            return "nothing was told"
        return ("; ".join(words for words, true in (
            ("more than was held", low <= self.most + LAG),
            ("less than was held together", low >= self.still * 0.8),
            ("the estimate is below the bound", high >= low),
            ("the estimate is far above what was held", high <= self.most * 1.5 + LAG),
            ("the estimate is far below what was held", high >= self.least * 0.6),
        ) if not true))


# ---- tests ----


class Bounds(unittest.TestCase):
    SIZE = 64

    def check(self, workload):
        """As root and as an ordinary user, in ways that no cgroup of the run's own counts."""
        if workload == "one map, brothers" and compare_maps(os.getpid(), os.getpid()) != 0:
            self.skipTest("kcmp is refused here")
        ways = [("run", "wait4", []), ("track", "", [])]
        if os.geteuid() == 0:
            ways.append(("run", "taskstats", []))
            try:
                become = ordinary_user()
                ways += [("run", "wait4", become), ("track", "", become)]
            except unittest.SkipTest as reason:
                print(f"# as root alone: {reason}")
        with concurrent.futures.ThreadPoolExecutor(len(ways)) as pool:
            runs = list(pool.map(lambda way: Run(workload, self.SIZE, *way), ways))
        for way, run in zip(ways, runs, strict=True):
            with self.subTest(way=way):
                told = {name: one for name, one in run.figures.items() if name.startswith("memory_peak")}
                self.assertGreater(run.least, self.SIZE * MIB * run.share * 0.9)
                self.assertNotIn("memory_peak_bytes", run.figures)
                self.assertEqual(told["memory_peak_low_bytes"]["availability"], "lower_bound")
                self.assertEqual(told["memory_peak_high_bytes"]["availability"], "estimate")
                self.assertEqual(run.wrong(), "", (run.least, run.most, told))


def add_test(workload):
    name = "test_" + "".join(letter if letter.isalnum() else "_" for letter in workload)
    setattr(Bounds, name, lambda self: self.check(workload))


for one in WORKLOADS:
    add_test(one)


# ---- the table ----


def table(size):
    become = ordinary_user()
    ways = [(verb, methods, who) for verb, all_methods in
            (("run", ("", "cgroup2", "taskstats", "wait4")), ("track", ("",)))
            for methods in all_methods for who in ([], become) if who == [] or become]
    wrong = 0
    print(f"{'workload':<42} {'user':<7} {'method':<14} {'truth':>13} {'low':>7} {'estimate':>9}"
          f" {'counted':>8}  how", flush=True)
    for workload in WORKLOADS:
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            runs = pool.map(lambda way, which=workload: Run(which, size, *way), ways)
            for (verb, methods, who), run in zip(ways, runs, strict=True):
                def mib(name, from_run=run):
                    value = from_run.value(name)
                    return "-" if value is None else f"{value / MIB:.1f}"
                user = "nobody" if who else ("root" if os.geteuid() == 0 else "self")
                truth = f"{run.least / MIB:.1f}"
                if run.most != run.least:
                    truth += f"-{run.most / MIB:.1f}"
                counted = run.figures.get("memory_peak_bytes", {}).get("availability", "")
                problem = run.wrong()
                wrong += bool(problem)
                source = run.figures.get("memory_peak_low_bytes", {}).get("source", counted)
                print(f"{workload:<42} {user:<7} {verb + ' ' + (methods or 'default'):<14} {truth:>13}"
                      f" {mib('memory_peak_low_bytes'):>7} {mib('memory_peak_high_bytes'):>9}"
                      f" {mib('memory_peak_bytes'):>8}  {source}"
                      + (f"  WRONG: {problem}" if problem else ""), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["table"]:
        sys.exit(table(int(sys.argv[2]) if len(sys.argv) > 2 else 200))
    unittest.main()
