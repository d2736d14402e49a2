"""resource-tracker from PyPI beside us, on the same process and machine at the same time: our files in
its form are read by it, its files by us, and both say the same within what two samplers can differ.

Where its numbers are known to be wrong, ours are held against the kernel's own."""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import textwrap
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "command"))
from harness import VITALS, environment, vitals, wait_until  # noqa: E402

try:
    from resource_tracker.tiny_data_frame import TinyDataFrame
    MISSING = None
except ImportError as error:
    MISSING = str(error)

# 60 MiB that are touched, and a CPU that is never left: the same whenever one looks.
STEADY = textwrap.dedent("""
    import os, sys, time
    kept = bytearray(60 << 20)
    for i in range(0, len(kept), 4096):
        kept[i] = 1
    with open(sys.argv[1] + ".new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(sys.argv[1] + ".new", sys.argv[1])
    until = time.monotonic() + float(sys.argv[2])
    while time.monotonic() < until:
        pass
    with open(f"/proc/{os.getpid()}/smaps_rollup") as file:
        pss = next(line for line in file if line.startswith("Pss:"))
    times = os.times()
    with open(sys.argv[1] + ".end", "w") as file:
        file.write(f"{times.user} {times.system} {pss.split()[1]}")
""")

THEIRS = textwrap.dedent("""
    import sys
    from resource_tracker import ProcessTracker, SystemTracker
    pid, process, system = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    import multiprocessing
    def follow():
        ProcessTracker(pid=pid, interval=1, autostart=False).start_tracking(process)
    def watch():
        SystemTracker(interval=1, autostart=False).start_tracking(system)
    both = [multiprocessing.Process(target=one, daemon=True) for one in (follow, watch)]
    for one in both:
        one.start()
    sys.stdin.read()
    for one in both:
        one.terminate()
""")

SECONDS = 7


def mounted_again():
    """Whether a disk's file system has more than one mount point now."""
    with open("/proc/self/mountinfo") as file:
        sources = [line.split(" - ")[1].split()[1] for line in file]
    disks = [source for source in sources if source.startswith("/")]
    return len(disks) > len(set(disks))


def root_gb():
    root = os.statvfs("/")
    return root.f_blocks * root.f_frsize / 2**30


@unittest.skipIf(MISSING, f"resource-tracker is not installed: {MISSING}")
class Beside(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        told = cls.folder / "pid"
        machine = subprocess.Popen([VITALS, "record", "--backends", "none", "--format",
                                    "resource-tracker", cls.folder / "machine.csv"],
                                   env=environment())
        run = subprocess.Popen([VITALS, "run", "--quiet", "--backends", "none", "--record",
                                cls.folder / "run.csv", "--format", "resource-tracker", "--",
                                sys.executable, "-c", STEADY, told, str(SECONDS)],
                               env=environment())
        wait_until(told.exists, "the steady process")
        cls.pid = int(told.read_text())
        theirs = subprocess.Popen([sys.executable, "-c", THEIRS, str(cls.pid),
                                   cls.folder / "theirs.csv", cls.folder / "their_machine.csv"],
                                  stdin=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  env=environment())
        try:
            cls.code = run.wait(60)
        finally:
            theirs.stdin.close()
            theirs.wait(30)
            machine.terminate()
            machine.wait(30)
            run.kill()
            run.wait()
        user, system, pss = (cls.folder / "pid.end").read_text().split()
        cls.cpu_seconds, cls.pss_mib = float(user) + float(system), int(pss) / 1024

    def read(self, name):
        return TinyDataFrame(csv_file_path=str(self.folder / name))

    def test_it_reads_our_files(self):
        for ours, theirs in (("run.csv", "theirs.csv"), ("machine.csv", "their_machine.csv")):
            one, other = self.read(ours), self.read(theirs)
            self.assertEqual(one.columns, other.columns)
            self.assertGreater(len(one), 2)
            for column in one.columns:
                for value in one[column]:
                    self.assertTrue(isinstance(value, (int, float)) or
                                    (column == "children" and value == ""), (column, value))

    def test_a_header_and_a_quote_are_its_own(self):
        for ours, theirs in (("run.csv", "theirs.csv"), ("machine.csv", "their_machine.csv")):
            one, other = ((self.folder / name).read_bytes() for name in (ours, theirs))
            self.assertEqual(one.splitlines(True)[0], other.splitlines(True)[0])

    def test_the_process_is_the_same(self):
        ours, theirs = self.read("run.csv"), self.read("theirs.csv")
        middle = slice(2, -2)
        # in a second that a neighbour took from the process both say less, so they are compared
        one = statistics.median(list(ours["cpu_usage"])[middle])
        other = statistics.median(list(theirs["cpu_usage"])[1:-1])
        self.assertAlmostEqual(one, other, delta=0.25)
        self.assertAlmostEqual(max(ours["memory_mib"]), max(theirs["memory_mib"]),
                               delta=0.05 * max(theirs["memory_mib"]))
        self.assertEqual(set(list(theirs["pid"])), {self.pid})
        self.assertIn(self.pid, list(ours["pid"]))

    def test_the_process_is_what_the_kernel_says(self):
        ours = self.read("run.csv")
        seen = sum(ours["utime"]) + sum(ours["stime"])
        self.assertLessEqual(seen, self.cpu_seconds + 0.1)
        # the last part of an interval is seen by nobody who samples
        self.assertGreater(seen, self.cpu_seconds - 2.2)
        # of Python's own pages each counts less the more neighbours map them at that moment
        self.assertAlmostEqual(max(ours["memory_mib"]), self.pss_mib, delta=0.1 * self.pss_mib)
        self.assertGreaterEqual(max(ours["memory_mib"]), 60)

    def test_the_machine_is_the_same(self):
        ours, theirs = self.read("machine.csv"), self.read("their_machine.csv")
        begin = max(ours["timestamp"][0], theirs["timestamp"][0])
        end = min(ours["timestamp"][len(ours) - 1], theirs["timestamp"][len(theirs) - 1])

        def mean(frame, column):
            rows = [value for at, value in zip(frame["timestamp"], frame[column])
                    if begin - 0.5 <= at <= end + 0.5]
            return statistics.mean(rows)

        for column, share in (("memory_free_mib", 0.1), ("memory_used_mib", 0.2),
                              ("memory_cached_mib", 0.1), ("processes", 0.2)):
            other = mean(theirs, column)
            self.assertAlmostEqual(mean(ours, column), other, delta=share * other + 1,
                                   msg=column)
        # theirs counts a file system again for each bind mount that anyone has at the moment
        space, other = mean(ours, "disk_space_total_gb"), mean(theirs, "disk_space_total_gb")
        self.assertLessEqual(space, 1.02 * other + 1)
        least = root_gb() if mounted_again() else min(theirs["disk_space_total_gb"])
        self.assertGreaterEqual(space, 0.98 * least - 1)
        # theirs has no interrupts and may lack a neighbour's last moment
        self.assertAlmostEqual(mean(ours, "cpu_usage"), mean(theirs, "cpu_usage"),
                               delta=0.25 * os.cpu_count())

    def test_we_read_its_files(self):
        for name, subject in (("theirs.csv", ""), ("their_machine.csv", "system")):
            told = vitals("report", "--json", self.folder / name)
            self.assertEqual(told.returncode, 0, told.stderr)
            account = json.loads(told.stdout)
            account = account.get("account", account)
            figures = {figure["name"]: figure["value"] for figure in account["figures"]
                       if figure.get("subject", "") == subject}
            frame = self.read(name)
            self.assertAlmostEqual(figures["cpu_user_seconds"], sum(frame["utime"]) -
                                   frame["utime"][0], delta=1e-6)
            self.assertAlmostEqual(figures["cpu_peak_cores"], max(frame["cpu_usage"]), places=6)
            memory = "memory_pss_peak_bytes" if subject == "" else "memory_used_peak_bytes"
            column = "memory_mib" if subject == "" else "memory_used_mib"
            self.assertAlmostEqual(figures[memory], max(frame[column]) * 2**20, delta=1)


if __name__ == "__main__":
    unittest.main()
