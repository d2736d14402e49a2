"""What the machine's figures cost beside a thousand processes: no process is opened for a number that the
listing of /proc gives, and psutil's functions for the same figures are measured in the same run."""

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
SHARE_MOST = 1.5  # one as a rule: half of either is the listing of /proc


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


def cpu_seconds(*functions):
    """Of each the least of some turns, of all threads, in turn: what interrupts one is not its own."""
    least = [float("inf")] * len(functions)
    for _ in range(TURNS):
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

    def check(self, sets, options):
        before = descriptors()
        sampler = api.Context(**options).sampler(sets=sets)
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

    def test_devices_open_their_users_alone(self):
        self.check(lib.VITALS_SET_GPUS, {"backends": "demo"})


if __name__ == "__main__":
    unittest.main()
