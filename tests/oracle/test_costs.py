"""What figures cost beside a thousand processes, in CPU time of one run with others for the same figures: those of the
machine, for which no process is opened, beside psutil; those of every process beside psutil and libproc2."""

import ctypes
import gc
import os
import signal
import sys
import time
import unittest

import psutil

import api
from api import lib

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


class LibProc:
    """All processes by the library of ps and top (libproc2.so.0 of procps 4), the same columns."""

    # enum pids_item: pid, ppid, cmd, cmdline, state, ruser, tics_all, res, virt, nlwp, nice, began, tty
    ITEMS = (36, 37, 12, 14, 120, 41, 123, 62, 66, 69, 68, 126, 139)
    CGROUP = 10

    def __init__(self, *more):
        self.library = ctypes.CDLL("libproc2.so.0")
        self.library.procps_pids_reap.restype = ctypes.POINTER(ctypes.c_void_p * 2)
        self.info = ctypes.c_void_p()
        chosen = (*self.ITEMS, *more)
        items = (ctypes.c_int * len(chosen))(*chosen)
        if self.library.procps_pids_new(ctypes.byref(self.info), items, len(chosen)) < 0:
            raise OSError("libproc2 refuses these columns")

    def take(self):
        fetched = self.library.procps_pids_reap(self.info, 0)
        return ctypes.cast(fetched.contents[0], ctypes.POINTER(ctypes.c_int))[0]

    def knows(self, pid):
        """Whether its columns are those above: they may be numbered otherwise in another release."""
        fetched = self.library.procps_pids_reap(self.info, 0)
        stacks = ctypes.cast(fetched.contents[1], ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p)))
        count = ctypes.cast(fetched.contents[0], ctypes.POINTER(ctypes.c_int))[0]
        for place in range(count):
            values = ctypes.cast(stacks[place][0], ctypes.POINTER(ctypes.c_uint64))
            if values[1] & 0xFFFFFFFF == pid:
                return values[3] & 0xFFFFFFFF == os.getppid() and ctypes.string_at(values[5]) == name_of(pid)
        return False

    def close(self):
        self.library.procps_pids_unref(ctypes.byref(self.info))


def name_of(pid):
    with open(f"/proc/{pid}/comm", "rb") as file:
        return file.read().rstrip(b"\n")


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
        try:
            opened = LibProc()
        except OSError:
            return None
        self.addCleanup(opened.close)
        return opened if opened.knows(os.getpid()) else None

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
            opened = LibProc(LibProc.CGROUP)
            opened.take()
            opened.close()

        context = api.Context()
        theirs = {"psutil": first_by_psutil}
        if self.lib_proc():
            theirs["libproc2"] = first_by_libproc
        self.compare("first", lambda: context.sampler(sets=lib.VITALS_SET_PROCESSES).take(), theirs,
                     {"psutil": 0.8, "libproc2": 2.8})

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
