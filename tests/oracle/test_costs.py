"""What figures cost beside a thousand processes, in CPU time of one run with others for the same figures: those of the
machine, for which no process is opened, beside psutil; those of every process beside psutil and libproc2."""

import gc
import os
import re
import signal
import sys
import time
import unittest

import psutil

import api
from api import lib

sys.path.append(str(api.SOURCE / "bench"))
import libproc  # noqa: E402

SLEEPERS = 1000
TURNS = 30
DESCRIPTORS_MOST = 40
FIRST_NAMESPACE = os.stat("/proc/self/ns/pid").st_ino == 0xEFFFFFFC
SHARE_MOST = 0.75 if FIRST_NAMESPACE else 1.5  # 0.4 as a rule; 1 where /proc must be listed to count
ATTRIBUTES = ["pid", "ppid", "name", "username", "status", "cpu_times", "memory_info", "num_threads", "nice", "cmdline",
              "create_time", "terminal"]


def machine_by_psutil():
    psutil.cpu_times()
    psutil.cpu_times(percpu=True)
    psutil.cpu_count()
    psutil.cpu_stats()
    psutil.cpu_freq(percpu=True)
    psutil.virtual_memory()
    psutil.swap_memory()
    psutil.getloadavg()
    psutil.boot_time()
    psutil.disk_io_counters(perdisk=True)
    psutil.net_io_counters(pernic=True)
    psutil.net_if_stats()
    len(psutil.pids())


def processes_by_psutil():
    for _ in psutil.process_iter(ATTRIBUTES):
        pass


def cpu_seconds(*functions, turns=TURNS):
    """Of each the least of some turns, of all threads, in turn: what interrupts one is not its own."""
    least = [float("inf")] * len(functions)
    for _ in range(turns):
        for i, function in enumerate(functions):
            begin = time.process_time()
            function()
            least[i] = min(least[i], time.process_time() - begin)
    return least


def descriptors():
    return len(os.listdir("/proc/self/fd"))


class Costs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pids = []
        cls.addClassCleanup(cls.end)
        for _ in range(SLEEPERS):
            pid = os.fork()
            if pid == 0:
                signal.pause()
                os._exit(0)
            cls.pids.append(pid)

    @classmethod
    def end(cls):
        for pid in cls.pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def learn(self, sampler):
        """Processes are counted without a listing once two listings of different numbers agree."""
        for _ in range(3):
            sampler.take()
            pid = os.fork()
            if pid == 0:
                signal.pause()
                os._exit(0)
            sampler.take()
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def check(self, sets, options):
        before = descriptors()
        sampler = api.Context(**options).sampler(sets=sets)
        self.learn(sampler)
        seconds, theirs = cpu_seconds(sampler.take, machine_by_psutil)
        kept = descriptors() - before
        print(f"# set {sets:#x}: {seconds * 1e3:.2f} ms and {kept} descriptors; psutil "
              f"{theirs * 1e3:.2f} ms; {seconds / theirs:.2f}", file=sys.stderr)
        self.assertLessEqual(kept, DESCRIPTORS_MOST)
        self.assertLess(seconds, SHARE_MOST * theirs)
        return sampler.take()

    def test_the_machine_opens_no_process(self):
        snapshot = self.check(lib.VITALS_SET_MACHINE, {})
        listed = snapshot.one("host")["processes"]
        self.assertGreater(listed, SLEEPERS)

    def compare(self, what, ours, theirs, shares):
        """`theirs`: name → function; `shares`: name → the most that ours may be of it."""
        gc.collect()
        seconds, *others = cpu_seconds(ours, *theirs.values(), turns=5)
        told = [f"{name} {other * 1e3:.1f} ms, {seconds / other:.3f} of it" for name, other in zip(theirs, others)]
        print(f"# {what}: {seconds * 1e3:.1f} ms; " + "; ".join(told), file=sys.stderr)
        for name, other in zip(theirs, others):
            self.assertLess(seconds, shares[name] * other, name)

    def lib_proc(self):
        if not libproc.usable():
            return None
        opened = libproc.LibProc()
        self.addCleanup(opened.close)
        return opened

    def test_a_steady_reading_of_all_processes(self):
        theirs = {"psutil": processes_by_psutil}
        if opened := self.lib_proc():
            theirs["libproc2"] = opened.take
        for most in (0, 2**32 - 1):
            sampler = api.Context(max_descriptors=most).sampler(sets=lib.VITALS_SET_PROCESSES)
            sampler.take()
            with self.subTest(max_descriptors=most):
                self.compare(f"steady, max_descriptors {most}", sampler.take, theirs, {"psutil": 0.25, "libproc2": 0.8})

    def test_a_first_reading_of_all_processes(self):
        def first_by_psutil():
            psutil.process_iter.cache_clear()
            processes_by_psutil()

        def first_by_libproc():
            opened = libproc.LibProc(libproc.CGROUP)
            opened.take()
            opened.close()

        context = api.Context()
        theirs = {"psutil": first_by_psutil}
        if libproc.usable():
            theirs["libproc2"] = first_by_libproc
        self.compare("first", lambda: context.sampler(sets=lib.VITALS_SET_PROCESSES).take(), theirs,
                     {"psutil": 0.8, "libproc2": 2.8})

    def test_a_snapshot_alone_costs_what_its_header_says(self):
        """It opens each process and gives it up again; who reads twice is told to keep a sampler."""
        words = " ".join(re.sub(r"\n \* ", " ", (api.SOURCE / "include/vitals/snapshot.h").read_text()).split())
        least, most = map(int, re.search(r"Errors: EARGUMENT, EMEMORY.*?some (\d+) to (\d+) times the CPU time of a "
                                         r"later tick.*?To read more than once use a sampler", words).groups())
        context = api.Context(max_descriptors=2**32 - 1)
        sampler = context.sampler(sets=lib.VITALS_SET_PROCESSES)
        for _ in range(8):
            sampler.take()

        def alone():
            api.Snapshot(api.take_out("vitals_snapshot", lib.vitals_snapshot_take, context.pointer,
                                      lib.VITALS_SET_PROCESSES))
        once, tick = cpu_seconds(alone, sampler.take, turns=5)
        print(f"# a snapshot alone: {once * 1e3:.1f} ms, a tick {tick * 1e3:.1f} ms: {once / tick:.1f} times",
              file=sys.stderr)
        self.assertGreater(once / tick, least / 2)
        self.assertLess(once / tick, most * 2)

    def test_the_number_of_processes_is_that_of_a_listing(self):
        """Also where it is known without one."""
        sampler = api.Context().sampler("host.processes")
        for turn in range(40):
            for _ in range(1000):  # others come and go
                before = psutil.pids()
                snapshot = sampler.take()
                if before == psutil.pids():
                    break
            else:
                self.skipTest("processes come and go too fast here")
            self.assertEqual((snapshot.one("host")["processes"], snapshot.one("host").state("processes")),
                             (len(before), "have"))
            pid = os.fork()
            if pid == 0:
                signal.pause()
                os._exit(0)
            self.pids.append(pid)
            if turn % 3 == 0:
                gone = self.pids.pop(0)
                os.kill(gone, signal.SIGKILL)
                os.waitpid(gone, 0)

    def test_devices_open_their_users_alone(self):
        self.check(lib.VITALS_SET_GPUS, {"backends": "demo"})


if __name__ == "__main__":
    unittest.main()
