"""gpu_tracker from PyPI beside us, on the same process at the same time: our tracking files are
analyzed by it, its files are read by us. Where it is known to be wrong (shared memory, a window of
0.1 s for CPU), ours are held against the kernel's own."""

import contextlib
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "command"))
from harness import VITALS, environment, vitals, wait_until  # noqa: E402

try:
    import logging
    logging.disable(logging.CRITICAL)  # it says at once that there is no GPU
    from gpu_tracker import SubTrackingAnalyzer
    MISSING = None
except ImportError as error:
    MISSING = str(error)

STEADY = textwrap.dedent("""
    import os, sys, time
    kept = bytearray(60 << 20)
    for i in range(0, len(kept), 4096):
        kept[i] = 1
    def mark(what):
        with open(os.environ["VITALS_MARKS"], "a") as file:
            file.write(f"{what}\\tthe loop\\t{time.monotonic_ns()}\\t{os.getpid()}\\t{os.getpid()}\\n")
    with open(sys.argv[1] + ".new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(sys.argv[1] + ".new", sys.argv[1])
    while not os.path.exists(sys.argv[1] + ".go"):
        time.sleep(0.01)
    begin = time.monotonic()
    mark("begin")
    while not os.path.exists(sys.argv[1] + ".stop"):
        for _ in range(10000):
            pass
    mark("end")
    seconds = time.monotonic() - begin
    sizes = {}
    with open(f"/proc/{os.getpid()}/smaps_rollup") as file:
        for line in file:
            words = line.split()
            if words[-1] == "kB":
                sizes[words[0].rstrip(":")] = int(words[1]) * 1024
    both = sum(sizes[one] for one in ("Private_Clean", "Private_Dirty", "Shared_Clean",
                                      "Shared_Dirty"))
    with open(sys.argv[1] + ".end", "w") as file:
        file.write(f"{both} {seconds}")
    sys.stdin.read()
""")

THEIRS = textwrap.dedent("""
    import sys
    from gpu_tracker import Tracker
    with Tracker(sleep_time=0.5, process_id=int(sys.argv[1]), tracking_file=sys.argv[2],
                 disable_logs=True):
        sys.stdin.read()
""")

SAMPLES = 8  # of theirs within the block
SLOW = 120  # seconds: it imports pandas where others have the CPUs
GB = 1e9


def samples(path):
    """How many samples gpu_tracker has written there."""
    if path.suffix == ".csv":
        return max(0, path.read_text().count("\n") - 3) if path.exists() else 0  # three lines of heads
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            return database.execute("SELECT count(*) FROM data").fetchone()[0]
    except sqlite3.OperationalError:
        return 0  # no file or table yet


@unittest.skipIf(MISSING, f"gpu-tracker is not installed: {MISSING}")
class Beside(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.both, cls.seconds = {}, {}
        if "SQLite" not in vitals("--version").stdout:
            raise unittest.SkipTest("built without SQLite")
        for ending in ("csv", "sqlite"):
            cls.follow(ending)

    @classmethod
    def follow(cls, ending):
        told, file = cls.folder / f"pid_{ending}", cls.folder / f"theirs.{ending}"
        run = subprocess.Popen([VITALS, "run", "--quiet", "--backends", "none", "--interval",
                                "500ms", "--record", cls.folder / f"ours.{ending}", "--format",
                                "gpu-tracker", "--", sys.executable, "-c", STEADY, told],
                               stdin=subprocess.PIPE, env=environment())
        try:
            wait_until(told.exists, "the steady process")
            theirs = subprocess.Popen([sys.executable, "-c", THEIRS, told.read_text(), file],
                                      stdin=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                      cwd=cls.folder, env=environment())
            try:
                wait_until(lambda: samples(file) > 0, "their first sample", SLOW)
                told.with_suffix(".go").touch()
                wanted = samples(file) + SAMPLES
                wait_until(lambda: samples(file) >= wanted, "their samples of the block", SLOW)
                told.with_suffix(".stop").touch()
                wanted = samples(file) + 2  # one may have begun within it
                wait_until(lambda: samples(file) >= wanted, "a sample behind the block", SLOW)
            finally:
                theirs.stdin.close()
                theirs.wait(SLOW)
            run.communicate(timeout=SLOW)
        finally:
            run.kill()
            run.wait()
        both, seconds = told.with_suffix(".end").read_text().split()
        cls.both[ending], cls.seconds[ending] = int(both), float(seconds)

    def analyze(self, who, ending):
        sub = self.folder / f"ours.sub.{ending}"
        analyzer = SubTrackingAnalyzer(str(self.folder / f"{who}.{ending}"), str(sub))
        return analyzer.sub_tracking_results().to_json()

    def test_it_analyzes_our_files(self):
        for ending in ("csv", "sqlite"):
            ours, theirs = self.analyze("ours", ending), self.analyze("theirs", ending)
            self.assertEqual(set(ours["overall"]), set(theirs["overall"]))
            for name in ("ram_unit", "gpu_ram_unit", "time_unit", "ram_system_capacity",
                         "system_core_count", "n_expected_cores"):
                self.assertEqual(ours["static_data"][name], theirs["static_data"][name], name)
            block = ours["code_block_results"][0]
            self.assertEqual(block["name"], "the loop")
            self.assertEqual(block["num_calls"], 1)
            self.assertGreater(block["num_timepoints"], 3)
            self.assertAlmostEqual(block["compute_time"]["total"], self.seconds[ending], delta=0.5)

    def test_both_say_the_same_of_the_block(self):
        for ending in ("csv", "sqlite"):
            ours, theirs = (self.analyze(who, ending)["code_block_results"][0]["resource_usage"]
                            for who in ("ours", "theirs"))
            self.assertEqual(ours["main_n_threads"]["max"], theirs["main_n_threads"]["max"])
            self.assertEqual(ours["descendants_n_threads"]["max"], 0)
            # it counts one mapping of each file alone: up to a tenth of a small process
            self.assertAlmostEqual(ours["main_ram"]["max"], theirs["main_ram"]["max"],
                                   delta=0.2 * theirs["main_ram"]["max"])
            # its window is a tenth of a second out of each half one
            self.assertAlmostEqual(ours["cpu_main_sum_utilization_percent"]["mean"],
                                   theirs["cpu_main_sum_utilization_percent"]["mean"], delta=35)

    def test_ours_is_what_the_kernel_says(self):
        for ending in ("csv", "sqlite"):
            block = self.analyze("ours", ending)["code_block_results"][0]["resource_usage"]
            self.assertAlmostEqual(block["main_ram"]["max"] * GB, self.both[ending],
                                   delta=0.05 * self.both[ending])

    def test_we_read_its_files(self):
        for ending in ("csv", "sqlite"):
            told = vitals("report", "--json", self.folder / f"theirs.{ending}")
            self.assertEqual(told.returncode, 0, told.stderr)
            account = json.loads(told.stdout)
            account = account.get("account", account)
            figures = {(figure["name"], figure.get("subject", "")): figure["value"]
                       for figure in account["figures"]}
            overall = self.analyze("theirs", ending)["overall"]
            self.assertAlmostEqual(figures["memory_both_peak_bytes", "root"],
                                   overall["main_ram"]["max"] * GB, delta=1)
            self.assertAlmostEqual(figures["cpu_peak_cores", ""],
                                   overall["cpu_combined_sum_utilization_percent"]["max"] / 100,
                                   places=6)
            self.assertEqual(figures["threads_peak", "root"], overall["main_n_threads"]["max"])


if __name__ == "__main__":
    unittest.main()
