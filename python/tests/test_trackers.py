"""vitals.compat.gpu_tracker, resource_tracker and stouputils: real work, and what their originals tell of it."""

import asyncio
import contextlib
import csv
import http.server
import importlib.util
import json
import logging
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import unittest.mock
import urllib.parse

import vitals
from counted import interpreter
from vitals.compat import gpu_tracker, resource_tracker, stouputils

DEMO = vitals.Context(demo="default")
NO_PANDAS = importlib.util.find_spec("pandas") is None
BUFFER = 100_000_000
MIB = 1048576

logging.disable(logging.CRITICAL)


def burner(seconds):
    """A child that uses so much CPU time."""
    code = "import sys, time\nwhile time.process_time() < float(sys.argv[1]): pass"
    return subprocess.Popen([sys.executable, "-S", "-c", code, str(seconds)])


def burn(seconds):
    child = burner(seconds)
    child.wait()


def eventually(test):
    """True once a test holds; private and proportional memory are read at 1 % of the time at most."""
    end = time.monotonic() + 20
    while not test() and time.monotonic() < end:
        time.sleep(0.05)
    return test()


def kernel_threads():
    return len(os.listdir("/proc/self/task"))


def gone():
    """The pid of a process that has ended."""
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        before = os.getcwd()
        os.chdir(folder.name)
        self.addCleanup(os.chdir, before)

    def assertSays(self, kind, text, function, *arguments, **named):
        with self.assertRaises(kind) as caught:
            function(*arguments, **named)
        self.assertEqual(str(caught.exception), text)


# --- gpu_tracker ------------------------------------------------------------------------------------

PERCENTAGES = ["max_sum_percent", "max_hardware_percent", "mean_sum_percent", "mean_hardware_percent"]
RSS = ["total_rss", "private_rss", "shared_rss"]
TREE = {
    "max_ram": {"unit": None, "system_capacity": None, "system": None, "main": RSS, "descendants": RSS,
                "combined": RSS},
    "max_gpu_ram": dict.fromkeys(["unit", "system_capacity", "system", "main", "descendants", "combined"]),
    "cpu_utilization": {"system_core_count": None, "n_expected_cores": None, "system": PERCENTAGES,
                        "main": PERCENTAGES, "descendants": PERCENTAGES, "combined": PERCENTAGES,
                        "main_n_threads": None, "descendants_n_threads": None, "combined_n_threads": None},
    "gpu_utilization": {"system_gpu_count": None, "n_expected_gpus": None, "gpu_percentages": PERCENTAGES},
    "compute_time": dict.fromkeys(["unit", "time"]),
}
STATIC = ("ram_unit,gpu_ram_unit,time_unit,ram_system_capacity,gpu_ram_system_capacity,system_core_count,"
          "n_expected_cores,system_gpu_count,n_expected_gpus").split(",")
DATA = ["main_ram", "descendants_ram", "combined_ram", "system_ram", "main_gpu_ram", "descendants_gpu_ram",
        "combined_gpu_ram", "system_gpu_ram", "gpu_sum_utilization_percent", "gpu_hardware_utilization_percent",
        "main_n_threads", "descendants_n_threads", "combined_n_threads",
        *(f"cpu_{scope}_{kind}_utilization_percent" for scope in ("system", "main", "descendants", "combined")
          for kind in ("sum", "hardware")), "timestamp"]


def keys(tree):
    return {name: keys(value) if isinstance(value, dict) and any(isinstance(one, dict) for one in value.values())
            else list(value) if isinstance(value, dict) else None for name, value in tree.items()}


def leaves(tree):
    for value in tree.values():
        yield from leaves(value) if isinstance(value, dict) else [value]


class Trackers(InAFolder):
    def test_what_was_used(self):
        tracker = gpu_tracker.Tracker(sleep_time=0.1, ram_unit="megabytes", time_unit="seconds", n_expected_cores=1,
                                      tracking_file="run.csv")
        begin, threads = time.monotonic(), kernel_threads()
        with tracker:
            held = bytearray(BUFFER)
            burn(0.4)
            eventually(lambda: tracker._run.account.get("memory_private_peak_bytes", "root", 0) > BUFFER)
            del held
        wall = time.monotonic() - begin
        told = tracker.to_json()
        self.assertEqual({name: {key: value for key, value in group.items()} for name, group in keys(told).items()
                          if isinstance(group, dict)},
                         {name: TREE[name] for name in ("max_ram", "cpu_utilization", "gpu_utilization")})
        self.assertEqual(list(told), list(TREE))
        self.assertEqual(list(told["max_gpu_ram"]), list(TREE["max_gpu_ram"]))
        self.assertEqual(list(told["compute_time"]), ["unit", "time"])

        ram, cpu, spent = told["max_ram"], told["cpu_utilization"], told["compute_time"]
        self.assertEqual((ram["unit"], spent["unit"]), ("megabytes", "seconds"))
        self.assertAlmostEqual(spent["time"], wall, delta=0.5)
        self.assertGreater(ram["main"]["private_rss"], BUFFER / 1e6)
        self.assertLess(ram["main"]["total_rss"], BUFFER / 1e6 + 300)
        # No closer: it is the resident memory of now less private memory that may be a second older.
        self.assertLessEqual(ram["main"]["shared_rss"], ram["main"]["total_rss"])
        with open("/proc/meminfo", encoding="ascii") as file:
            self.assertAlmostEqual(ram["system_capacity"], int(file.readline().split()[1]) * 1024 / 1e6, delta=0.01)
        seconds = cpu["descendants"]["mean_sum_percent"] * spent["time"] / 100
        self.assertAlmostEqual(seconds, 0.4, delta=0.1)
        self.assertEqual(cpu["n_expected_cores"], 1)
        self.assertEqual(cpu["descendants"]["mean_hardware_percent"], cpu["descendants"]["mean_sum_percent"])
        # Those of libraries, as of numpy's, are ours too; those of vitals are not.
        self.assertTrue(threading.active_count() <= cpu["main_n_threads"] <= threads)
        self.assertEqual(cpu["descendants_n_threads"], 1)
        self.assertLessEqual(cpu["system"]["max_hardware_percent"], 100.0)

        usage = tracker.resource_usage
        self.assertIsInstance(usage, gpu_tracker.ResourceUsage)
        self.assertEqual(usage.max_ram.main.total_rss, ram["main"]["total_rss"])
        self.assertEqual(usage.cpu_utilization.system.max_sum_percent, cpu["system"]["max_sum_percent"])
        text = str(tracker).splitlines()
        self.assertEqual(text[:2], ["Max RAM:", "   Unit: megabytes"])
        for line in ("   System capacity:", "      Total RSS:", "Max GPU RAM:", "CPU utilization:",
                     "   Number of expected cores: 1", "   Main number of threads: ", "   GPU percentages:",
                     "      Max sum percent:", "Compute time:", "   Time: "):
            self.assertTrue(any(one.startswith(line) for one in text), line)
        self.assertIn(f"   Time: {round(spent['time'], 3)}", text)
        self.assertEqual(os.listdir("."), ["run.csv"], "no backup is left")

        with open("run.csv", newline="", encoding="utf-8") as file:
            lines = list(csv.reader(file))
        self.assertEqual(lines[0], STATIC)
        self.assertEqual(lines[2], DATA)
        self.assertEqual(lines[1][:3], ["megabytes", "gigabytes", "seconds"])
        rows = [dict(zip(DATA, map(float, line))) for line in lines[3:]]
        self.assertGreater(max(row["main_ram"] for row in rows), BUFFER / 1e6)
        self.assertLessEqual(max(row["main_n_threads"] for row in rows), threads)

    def test_states_and_errors(self):
        track = gpu_tracker.Tracker
        self.assertSays(ValueError, "Sleep time of 0.05 is invalid. Must be at least 0.1 seconds.", track,
                        sleep_time=0.05)
        for name, kind, valid in (
                ("ram_unit", "RAM", "bytes, gigabytes, kilobytes, megabytes, terabytes"),
                ("gpu_ram_unit", "GPU RAM", "bytes, gigabytes, kilobytes, megabytes, terabytes"),
                ("time_unit", "time", "days, hours, minutes, seconds")):
            self.assertSays(ValueError, f'"x" is not a valid {kind} unit. Valid values are {valid}', track,
                            **{name: "x"})
        self.assertSays(ValueError, '"NVIDIA" is not a valid GPU brand. Supported values are "nvidia" and "amd".',
                        track, gpu_brand="NVIDIA")
        self.assertSays(ValueError, "gpu_uuids is not None but the set is empty. Please provide a set of at least one "
                        "GPU UUID.", track, gpu_uuids=set(), context=DEMO)
        with self.assertRaisesRegex(ValueError, "GPU UUID of foo is not valid. Available UUIDs are: GPU-"):
            track(gpu_uuids={"foo"}, context=DEMO)
        self.assertSays(ValueError, 'Invalid file name: "x.txt". Valid file extensions are ".csv" and ".sqlite".',
                        track, tracking_file="x.txt")
        with open("is.csv", "w", encoding="ascii"):
            pass
        self.assertSays(FileExistsError, "File is.csv already exists. Set overwrite to True to overwrite the existing "
                        "file.", track, tracking_file="is.csv")

        tracker = track(sleep_time=0.1)
        self.assertEqual(repr(tracker), "State: NEW")
        self.assertIs(tracker.state, track.State.NEW)
        self.assertSays(RuntimeError, "Cannot stop tracking when tracking has not started yet.", tracker.stop)
        early = ("Cannot display the tracker in string or JSON format before tracking completes. Exit the content "
                 "manager or call the stop() method before calling to_json() or str()")
        self.assertSays(RuntimeError, early, str, tracker)
        tracker.start()
        self.assertSays(RuntimeError, "Cannot start tracking when tracking has already started.", tracker.start)
        self.assertSays(RuntimeError, early, tracker.to_json)
        tracker.stop()
        self.assertSays(RuntimeError, "Cannot start tracking when tracking has already stopped.", tracker.start)
        self.assertSays(RuntimeError, "Cannot stop tracking when tracking has already stopped.", tracker.stop)
        self.assertEqual([state.name for state in track.State], ["NEW", "STARTED", "STOPPED"])
        self.assertEqual(tracker.to_json()["max_ram"]["descendants"], dict.fromkeys(RSS, 0.0))

    def test_a_process_that_has_ended_is_missing_and_not_zero(self):
        tracker = gpu_tracker.Tracker(sleep_time=0.1, process_id=gone())
        with tracker:
            pass
        told = tracker.to_json()
        self.assertEqual(told["max_ram"]["main"], dict.fromkeys(RSS))
        self.assertGreater(told["max_ram"]["system_capacity"], 0)
        self.assertIn("      Total RSS: N/A", str(tracker).splitlines())

    def test_another_process_and_its_end(self):
        child = burner(0.3)
        with gpu_tracker.Tracker(sleep_time=0.1, process_id=child.pid, time_unit="seconds") as tracker:
            child.wait()
        told = tracker.to_json()
        self.assertAlmostEqual(told["cpu_utilization"]["main"]["mean_sum_percent"] * told["compute_time"]["time"] / 100,
                               0.3, delta=0.15)
        self.assertEqual(told["cpu_utilization"]["main_n_threads"], 1)

    def test_some_gpus(self):
        rows = vitals.snapshot("gpu.uuid", "gpu.memory_total_bytes", context=DEMO).gpu
        devices = [row for row in rows if row.parent_key == 0]
        threads = kernel_threads()
        with gpu_tracker.Tracker(sleep_time=0.1, gpu_uuids={devices[0].uuid}, gpu_ram_unit="bytes",
                                 tracking_file="run.csv", context=DEMO) as tracker:
            time.sleep(0.3)
        told = tracker.to_json()
        self.assertEqual((told["gpu_utilization"]["system_gpu_count"], told["gpu_utilization"]["n_expected_gpus"]),
                         (len(devices), 1))
        percent = told["gpu_utilization"]["gpu_percentages"]
        self.assertEqual(percent["max_sum_percent"], percent["max_hardware_percent"])
        self.assertEqual(told["max_gpu_ram"]["system_capacity"], sum(row.memory_total_bytes for row in devices),
                         "memory is of all GPUs")
        self.assertLessEqual(told["cpu_utilization"]["main_n_threads"], threads)
        static = gpu_tracker._static_row("run.csv")
        self.assertEqual((static["gpu_ram_unit"], static["system_gpu_count"], static["n_expected_gpus"]),
                         ("bytes", len(devices), 1))

    def test_a_backup_while_it_runs(self):
        with gpu_tracker.Tracker(sleep_time=0.1, resource_usage_file="backup"):
            eventually(lambda: os.path.exists("backup"))
            with open("backup", "rb") as file:
                self.assertIn("figures", json.load(file))
        self.assertFalse(os.path.exists("backup"))


class CodeBlocks(InAFolder):
    def setUp(self):
        super().setUp()
        self.addCleanup(gpu_tracker._sub_files.clear)

    def blocks(self, ending):
        """A tracking file and its blocks: one that nests in itself, and one that does nothing."""
        @gpu_tracker.sub_track("nested", sub_tracking_file=f"sub{ending}")
        def nested(depth):
            time.sleep(0.25)
            if depth:
                nested(depth - 1)

        tracking = f"run{ending}"
        with gpu_tracker.Tracker(sleep_time=0.1, ram_unit="megabytes", tracking_file=tracking, overwrite=True):
            nested(1)
            with gpu_tracker.SubTracker('say "a", b', sub_tracking_file=f"sub{ending}"):
                pass
            time.sleep(0.1)
        return gpu_tracker.SubTrackingAnalyzer(tracking, f"sub{ending}")

    def test_names_files_and_errors(self):
        begin = time.time()
        with gpu_tracker.SubTracker() as block:
            pass
        file, line = block.code_block_name.rsplit(":", 1)
        self.assertEqual(os.path.abspath(file), os.path.abspath(__file__))
        self.assertTrue(line.isdigit())
        self.assertEqual(block.sub_tracking_file, f"{os.getpid()}.csv")
        with gpu_tracker.SubTracker(code_block_attribute="part") as block:
            pass
        self.assertEqual(block.code_block_name, f"{file}:part")

        @gpu_tracker.sub_track()
        def work(value):
            """Works."""
            return value + 1

        self.assertEqual((work(1), work.__doc__), (2, "Works."))
        with open(f"{os.getpid()}.csv", newline="", encoding="utf-8") as read:
            rows = list(csv.DictReader(read))
        self.assertEqual(list(rows[0]), ["process_id", "code_block_name", "position", "timestamp"])
        self.assertEqual([row["position"] for row in rows], ["0", "1"] * 3)
        self.assertEqual({row["process_id"] for row in rows}, {str(os.getpid())})
        self.assertEqual(rows[-1]["code_block_name"], f"{os.path.abspath(__file__)}:work")
        self.assertTrue(all(begin <= float(row["timestamp"]) <= time.time() for row in rows))
        self.assertSays(ValueError, 'Invalid file name: "x.txt". Valid file extensions are ".csv" and ".sqlite".',
                        gpu_tracker.SubTracker, sub_tracking_file="x.txt")
        with open("is.csv", "w", encoding="ascii"):
            pass
        self.assertSays(FileExistsError, "File is.csv already exists. Set overwrite to True to overwrite the existing "
                        "file.", gpu_tracker.SubTracker, sub_tracking_file="is.csv")

    def test_pairs_and_combined_files(self):
        for ending in (".csv", ".sqlite"):
            with self.subTest(ending):
                analyzer = self.blocks(ending)
                self.assertEqual(analyzer.load_code_block_names(), ["nested", 'say "a", b'])
                inner, outer = sorted(end - begin for begin, end in analyzer.load_timestamp_pairs("nested"))
                self.assertGreaterEqual(inner, 0.25)
                self.assertGreaterEqual(outer, inner + 0.25)
                whole = gpu_tracker.SubTrackingAnalyzer(None, f"whole{ending}")
                whole.combine_sub_tracking_files([f"sub{ending}"])
                self.assertEqual(whole.load_code_block_names(), analyzer.load_code_block_names())
                self.assertSays(ValueError, f"Cannot create sub-tracking file whole{ending}. File already exists.",
                                whole.combine_sub_tracking_files, [f"sub{ending}"])
                other = gpu_tracker.SubTrackingAnalyzer(None, f"b{ending}")
                self.assertSays(ValueError, f"File a.txt does not end with the same extension as b{ending}. Must end "
                                f'in "{ending}".', other.combine_sub_tracking_files, ["a.txt"])
        with self.assertRaises(FileNotFoundError):
            gpu_tracker.SubTrackingAnalyzer("no.csv", "sub.csv").read_static_data()

    @unittest.skipIf(NO_PANDAS, "no pandas here")
    def test_analysis(self):
        for ending in (".csv", ".sqlite"):
            with self.subTest(ending):
                analyzer = self.blocks(ending)
                results = analyzer.sub_tracking_results()
                self.assertEqual(list(results.overall.index), DATA[:-1])
                self.assertEqual(list(results.overall.columns), ["min", "max", "mean", "std"])
                self.assertEqual(list(results.static_data.index), STATIC)
                self.assertEqual(results.static_data["ram_unit"], "megabytes")
                nested, empty = results.code_block_results
                self.assertEqual((nested.name, nested.num_calls, nested.num_non_empty_calls), ("nested", 2, 2))
                self.assertEqual(empty.num_calls, 1)
                self.assertEqual(empty.num_non_empty_calls, min(empty.num_timepoints, 1))
                self.assertEqual(list(nested.compute_time.index), ["min", "max", "mean", "std", "total"])
                self.assertGreaterEqual(nested.compute_time["total"], 0.75)
                points = analyzer.load_timepoints(analyzer.load_timestamp_pairs("nested"))
                self.assertEqual(len(points), nested.num_timepoints)
                self.assertEqual(list(points.columns), DATA)
                self.assertAlmostEqual(points["main_ram"].mean(), nested.resource_usage.loc["main_ram", "mean"])
                self.assertGreater(points["main_ram"].min(), 5, "megabytes")
                told = results.to_json()
                self.assertEqual(list(told), ["overall", "static_data", "code_block_results"])
                self.assertEqual(list(told["code_block_results"][0]),
                                 ["name", "num_timepoints", "num_calls", "num_non_empty_calls", "compute_time",
                                  "resource_usage"])
                json.dumps(told)
                self.assertTrue(str(results).startswith("Overall:\n\t"))

    def test_a_tracker_that_has_ended_can_be_pickled(self):
        with gpu_tracker.Tracker(sleep_time=0.1, context=DEMO, disable_logs=True) as tracker:
            burn(0.1)
        self.assertEqual(pickle.loads(pickle.dumps(tracker)).to_json(), tracker.to_json())

    def test_a_wrong_option_ends_the_command(self):
        done = subprocess.run([*interpreter(), "-m", "vitals.compat.gpu_tracker_command", "-e", "sleep 300.4711", "--ru",
                               "pounds"], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('"pounds" is not a valid RAM unit', done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        lines = vitals.snapshot("process.command_line").process.values("command_line")
        self.assertEqual([line for line in lines if line and "sleep 300.4711" in line], [])

    @unittest.skipIf(NO_PANDAS, "no pandas here")
    def test_comparison(self):
        results = self.blocks(".csv").sub_tracking_results()
        results.code_block_results[0].name = "f.py:7"
        results.code_block_results[1].name = "g"

        def save(name):
            with open(name, "wb") as file:
                pickle.dump(results, file)
            return name

        files = {"first": save("a.pkl")}
        results.code_block_results[0].name = "f.py:9"
        results.overall.loc["main_ram", "mean"] -= 1
        files["second"] = save("b.pkl")
        comparison = gpu_tracker.TrackingComparison(files)
        compared = comparison.compare()
        self.assertEqual(list(compared.overall_resource_usage["main_ram"].index), ["second", "first"], "ascending")
        self.assertEqual(list(compared.code_block_compute_time), ["f.py:7 -> f.py:9", "g"])
        told = compared.to_json()
        self.assertEqual(list(told), ["overall_resource_usage", "code_block_resource_usage", "code_block_compute_time"])
        self.assertEqual(list(told["overall_resource_usage"]), DATA[:-1])
        json.dumps(told)
        self.assertSays(ValueError, "Invalid summary statistic 'x'. Valid values are min max mean std.",
                        comparison.compare, "x")
        results.code_block_results[0].name = "other"
        self.assertSays(ValueError, 'Code block name "f.py:7" of tracking session "first" does not match code block '
                        'name "g" of tracking session "second"', gpu_tracker.TrackingComparison,
                        {**files, "second": save("b.pkl")})
        results.code_block_results.pop()
        self.assertSays(ValueError, "All sub-tracking results must have the same number of code blocks. The first has "
                        '2 code blocks but tracking session "second" has 1 code blocks.',
                        gpu_tracker.TrackingComparison, {**files, "second": save("b.pkl")})


# --- resource_tracker -------------------------------------------------------------------------------

PROCESS = ["timestamp", "pid", "children", "utime", "stime", "cpu_usage", "memory_mib", "disk_read_bytes",
           "disk_write_bytes", "gpu_usage", "gpu_vram_mib", "gpu_utilized"]
SYSTEM = ["timestamp", "processes", "utime", "stime", "cpu_usage", "memory_free_mib", "memory_used_mib",
          "memory_buffers_mib", "memory_cached_mib", "memory_active_mib", "memory_inactive_mib", "disk_read_bytes",
          "disk_write_bytes", "disk_space_total_gb", "disk_space_used_gb", "disk_space_free_gb", "net_recv_bytes",
          "net_sent_bytes", "gpu_usage", "gpu_vram_mib", "gpu_utilized"]


class Frames(InAFolder):
    def test_a_frame(self):
        frame = resource_tracker.TinyDataFrame({"a": [1, 2.5, 3], "b": ["x", "y", "z"]})
        self.assertEqual((len(frame), frame.columns), (3, ["a", "b"]))
        self.assertEqual((frame["a"], frame[1], frame[-1]), ([1, 2.5, 3], {"a": 2.5, "b": "y"}, {"a": 3, "b": "z"}))
        self.assertEqual(frame[["b"]].to_dict(), [{"b": "x"}, {"b": "y"}, {"b": "z"}])
        self.assertEqual((len(frame[1:]), len(frame.head(2)), frame.tail(1).to_dict()), (2, 2, [{"a": 3, "b": "z"}]))
        self.assertEqual(frame.to_csv(), '"a","b"\r\n1,"x"\r\n2.5,"y"\r\n3,"z"\r\n')
        self.assertIsNone(frame.to_csv("f.csv", quote_strings=False))
        read = resource_tracker.TinyDataFrame(csv_file_path="f.csv")
        self.assertEqual(read.to_dict(), frame.to_dict())
        self.assertEqual(repr(frame[:1]), "TinyDataFrame with 1 rows and 2 columns. First row as a dict: "
                         "{'a': 1, 'b': 'x'}")
        self.assertEqual(str(frame[:1]), "TinyDataFrame with 1 rows and 2 columns:\na | b\n--+--\n1 | x")
        spec = resource_tracker.StatSpec
        self.assertEqual(frame.stats([spec("a", max), spec("a", sum, "all", 0), spec("no", max)]),
                         {"a": {"max": 3, "all": 6}})
        frame["c"] = [7, 8, 9]
        self.assertEqual(frame.rename({"c": "d"}).columns, ["a", "b", "d"])
        self.assertSays(KeyError, '"Column \'no\' not found"', frame.__getitem__, "no")
        self.assertSays(KeyError, '"Column \'no\' not found in dataframe"', frame.rename, {"no": "x"})
        self.assertSays(TypeError, "Invalid key type: <class 'float'>", frame.__getitem__, 1.5)
        self.assertSays(ValueError, "Length of values (1) must match dataframe length (3)", frame.__setitem__, "q", [1])
        self.assertSays(RuntimeError, "Failed to read CSV file after 1 attempts: no.csv",
                        resource_tracker.TinyDataFrame, csv_file_path="no.csv")
        self.assertSays(AssertionError, "either data or csv_file_path must be provided", resource_tracker.TinyDataFrame)


class ResourceTrackers(InAFolder):
    def test_functions(self):
        child = subprocess.Popen(["sleep", "60"])
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        pid = os.getpid()
        self.assertIn(child.pid, resource_tracker.get_pid_children(pid))
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            resident = int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024
        self.assertAlmostEqual(resource_tracker.get_pid_rss(pid), resident, delta=4096)
        self.assertTrue(0 < resource_tracker.get_pid_pss_rollup(pid) <= resource_tracker.get_pid_rss(pid) + 1024)
        self.assertLessEqual({"rchar", "wchar", "read_bytes", "write_bytes"},
                             set(resource_tracker.get_pid_proc_io(pid)))
        times, used = resource_tracker.get_pid_proc_times(pid), os.times()
        self.assertAlmostEqual(times["utime"], (used.user + used.children_user) * resource_tracker.TICKS, delta=20)
        stats = resource_tracker.get_process_stats(pid)
        self.assertEqual(list(stats), ["timestamp", "pid", "children", "utime", "stime", "memory_mib",
                                       "disk_read_bytes", "disk_write_bytes", "gpu_usage", "gpu_vram_mib",
                                       "gpu_utilized", "gpu_utilized_indexes"])
        self.assertEqual((stats["pid"], stats["children"]), (pid, 1))
        self.assertAlmostEqual(stats["utime"], used.user + used.children_user, delta=0.3)
        old = resource_tracker.get_pid_stats(pid)
        self.assertEqual(list(old), ["timestamp", "pid", "children", "utime", "stime", "pss", "read_bytes",
                                     "write_bytes", "gpu_usage", "gpu_vram", "gpu_utilized", "gpu_utilized_indexes"])
        self.assertAlmostEqual(old["pss"] / 1024, stats["memory_mib"], delta=8)
        dead = gone()
        self.assertEqual((resource_tracker.get_pid_children(dead), resource_tracker.get_pid_rss(dead),
                          resource_tracker.get_pid_proc_times(dead)), (set(), 0, {"utime": 0, "stime": 0}))
        machine = resource_tracker.get_system_stats()
        with open("/proc/stat", encoding="ascii") as file:
            words = file.readline().split()
        self.assertAlmostEqual(machine["utime"], (int(words[1]) + int(words[2])) / resource_tracker.TICKS, delta=5)
        self.assertGreater(machine["processes"], 1)
        self.assertFalse(resource_tracker.is_partition("no such disk"))
        server = resource_tracker.get_server_info()
        self.assertEqual(server["vcpus"], os.sysconf("SC_NPROCESSORS_ONLN"))
        self.assertEqual(list(server), ["os", "vcpus", "memory_mib", "gpu_count", "gpu_names", "gpu_name",
                                        "gpu_memory_mib"])

    def test_a_process_to_its_end(self):
        child = burner(0.5)
        tracker = resource_tracker.ProcessTracker(pid=child.pid, interval=0.2, output_file="rows.csv")
        child.wait()
        self.assertEqual(tracker.status, "exited")
        with open("rows.csv", encoding="utf-8") as file:
            self.assertEqual(file.readline(), ",".join(f'"{name}"' for name in PROCESS) + "\n")
        rows = resource_tracker.TinyDataFrame(csv_file_path="rows.csv")
        self.assertEqual(set(rows["pid"]), {child.pid})
        self.assertAlmostEqual(sum(rows["utime"]) + sum(rows["stime"]), 0.5, delta=0.2)
        self.assertGreater(max(rows["memory_mib"]), 0.5)
        with self.assertWarns(DeprecationWarning):
            resource_tracker.PidTracker(pid=child.pid, output_file="none.csv")
        self.assertEqual(os.path.getsize("none.csv"), 0)

    def test_differences(self):
        tracker = resource_tracker.ProcessTracker(autostart=False)
        self.assertEqual((tracker.status, tracker.cycle, tracker.children), ("running", 0, True))
        # A child of another thread, which begins and ends between two calls.
        thread = threading.Thread(target=burn, args=(0.3,))
        thread.start()
        thread.join()
        row = tracker.diff_stats()
        self.assertEqual(list(row), PROCESS)
        self.assertEqual((row["pid"], row["children"], tracker.cycle), (os.getpid(), None, 1))
        self.assertAlmostEqual(row["utime"] + row["stime"], 0.3, delta=0.15)
        self.assertIsNone(tracker())
        machine = resource_tracker.SystemTracker(autostart=False, interval=0.2)
        self.assertEqual(list(machine.diff_stats()), SYSTEM)
        stop = threading.Timer(0.7, setattr, (machine, "status", "exited"))
        stop.start()
        machine.start_tracking("system.csv")
        rows = resource_tracker.TinyDataFrame(csv_file_path="system.csv")
        self.assertEqual(rows.columns, SYSTEM)
        self.assertGreater(len(rows), 0)
        self.assertAlmostEqual(rows[0]["memory_used_mib"] + rows[0]["memory_free_mib"], sum(
            rows[0][f"memory_{name}_mib"] for name in ("used", "free")))

    def test_both_at_once(self):
        tracker = resource_tracker.ResourceTracker(interval=0.2, discover_cloud=False)
        self.assertEqual((tracker.n_samples, tracker.running, tracker.server_info), (0, False, None))
        self.assertSays(RuntimeError, "No metrics collected (yet)", tracker.stats)
        with tracker:
            self.assertTrue(tracker.running)
            self.assertSays(RuntimeError, "Resource tracker already running, cannot start again.", tracker.start)
            held = bytearray(BUFFER)
            burn(0.5)
            tracker.wait_for_samples(3)
            eventually(lambda: max(tracker.process_metrics["memory_mib"]) > BUFFER / MIB)
            del held
        self.assertFalse(tracker.running)
        self.assertSays(RuntimeError, "Resource tracker already stopped. Create a new instance instead of trying to "
                        "restart it.", tracker.start)
        self.assertSays(RuntimeError, f"Resource tracker has been already stopped with {tracker.n_samples} sample(s), "
                        "cannot wait to collect the requested 999 sample(s).", tracker.wait_for_samples, 999)
        process, machine = tracker.process_metrics, tracker.system_metrics
        self.assertEqual((process.columns, machine.columns), (PROCESS, SYSTEM))
        self.assertEqual(len(process), len(machine))
        self.assertGreater(sum(process["utime"]) + sum(process["stime"]), 0.4)
        self.assertGreater(max(process["memory_mib"]), BUFFER / MIB)

        both = tracker.get_combined_metrics()
        self.assertEqual(both.columns, ["timestamp", *(f"system_{name}" for name in SYSTEM[1:]),
                                        *(f"process_{name}" for name in PROCESS[1:])])
        people = tracker.get_combined_metrics(bytes=True, human_names=True, offset=1)
        self.assertEqual(len(people), len(both) - 1)
        self.assertAlmostEqual(people[0]["System used memory"], both[1]["system_memory_used_mib"] * MIB)
        self.assertIn("Process VRAM used", people.columns)

        stats = tracker.stats()
        self.assertEqual({column: list(found) for column, found in stats.items()}, {
            **{f"process_{name}": ["mean", "max"] for name in
               ("cpu_usage", "memory_mib", "gpu_usage", "gpu_vram_mib", "gpu_utilized")},
            "system_disk_space_used_gb": ["max"], "system_net_recv_bytes": ["sum"], "system_net_sent_bytes": ["sum"],
            "timestamp": ["duration"]})
        wanted = tracker.recommend_resources()
        self.assertEqual(list(wanted), ["cpu", "memory", "gpu", "vram"])
        self.assertEqual(wanted["memory"], resource_tracker.round_memory(stats["process_memory_mib"]["max"] * 1.2))
        self.assertGreaterEqual(wanted["memory"], 128)
        self.assertEqual([resource_tracker.round_memory(mib) for mib in (1, 129, 300, 600, 1500, 2100)],
                         [128, 256, 512, 1024, 2048, 3072])
        self.assertEqual(resource_tracker.aggregate_stats([{"a": {"mean": 1, "max": 2}}, {"a": {"mean": 2, "max": 5}}]),
                         {"a": {"mean": 1.5, "max": 5}})
        self.assertIn(tracker.server_info["allocation"], ("dedicated", "shared"))

        tracker.dump("kept.gz")
        again = resource_tracker.ResourceTracker.load("kept.gz")
        self.assertEqual((again.stats(), again.n_samples, again.running), (stats, tracker.n_samples, False))
        self.assertEqual(list(tracker.snapshot()), ["metadata", "server_info", "cloud_info", "process_metrics",
                                                    "system_metrics"])
        page = tracker.report().save("page.html")
        self.assertIsInstance(page, resource_tracker.Report)
        self.assertIn("<html", page)

    def test_one_of_both(self):
        with resource_tracker.ResourceTracker(interval=0.1, discover_cloud=False, track_system=False) as tracker:
            tracker.wait_for_samples(1)
        self.assertEqual((tracker.process_metrics.columns, len(tracker.system_metrics)), (PROCESS, 0))
        self.assertIn("process_cpu_usage", tracker.stats())
        with resource_tracker.ResourceTracker(interval=0.1, discover_cloud=False, track_processes=False) as tracker:
            tracker.wait_for_samples(1)
        self.assertEqual((tracker.system_metrics.columns, len(tracker.process_metrics)), (SYSTEM, 0))
        self.assertSays(ValueError, "cannot find context for 'zzz'", resource_tracker.ResourceTracker, method="zzz")


# --- stouputils -------------------------------------------------------------------------------------

METRICS = {"cpu_usage_percentage", "memory_rss_megabytes", "memory_vms_megabytes", "memory_uss_megabytes",
           "memory_usage_percentage", "num_threads", "num_fds", "io_read_megabytes", "io_write_megabytes"}


@contextlib.contextmanager
def mlflow_of(run_id):
    """A stand-in for mlflow, which keeps what is logged: (key, value, milliseconds, step)."""
    logged = []

    class Client:
        def log_batch(self, run, metrics=()):
            logged.extend((run, *metric) for metric in metrics)

    module, entities = types.ModuleType("mlflow"), types.ModuleType("mlflow.entities")
    module.active_run = lambda: run_id and types.SimpleNamespace(info=types.SimpleNamespace(run_id=run_id))
    module.MlflowClient = Client
    entities.Metric = lambda *arguments: arguments
    before = {name: sys.modules.get(name) for name in ("mlflow", "mlflow.entities")}
    sys.modules.update({"mlflow": module, "mlflow.entities": entities})
    try:
        yield logged
    finally:
        for name, old in before.items():
            if old is None:
                del sys.modules[name]
            else:
                sys.modules[name] = old


class Monitors(unittest.TestCase):
    def test_a_run(self):
        begin = time.time()
        with mlflow_of("r1") as logged:
            with stouputils.ProcessMetricsMonitor(sampling_interval=0.2, samples_before_logging=2) as monitor:
                held = bytearray(BUFFER)
                burn(0.5)
                del held
        self.assertEqual({entry[0] for entry in logged}, {"r1"})
        self.assertEqual({entry[1] for entry in logged}, {"system/process/" + name for name in METRICS})
        steps = sorted({entry[4] for entry in logged})
        self.assertEqual(steps, list(range(len(steps))))
        self.assertEqual(monitor.step, len(steps))
        self.assertTrue(all(begin * 1000 - 1 <= entry[3] <= time.time() * 1000 for entry in logged))
        series = {name: [entry[2] for entry in logged if entry[1].endswith("/" + name)] for name in METRICS}
        self.assertGreater(max(series["cpu_usage_percentage"]), 1)
        self.assertGreater(max(series["memory_rss_megabytes"]), BUFFER / MIB)
        self.assertGreaterEqual(min(series["num_fds"]), 3)
        self.assertEqual(series["io_read_megabytes"], sorted(series["io_read_megabytes"]))

    def test_a_sample(self):
        child = burner(30)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        monitor = stouputils.ProcessMetricsMonitor(pid=child.pid, max_memory_megabytes=1000, max_cpu_count=0.5)
        monitor.collect_once()
        before, begin = resource_tracker.get_process_stats(child.pid), time.monotonic()
        time.sleep(0.5)
        sample = monitor.collect_once()
        after, wall = resource_tracker.get_process_stats(child.pid), time.monotonic() - begin
        used = sum(after[name] - before[name] for name in ("utime", "stime")) / wall
        self.assertEqual(set(sample), METRICS)
        self.assertAlmostEqual(sample["cpu_usage_percentage"], 200 * used, delta=60)
        self.assertEqual(sample["num_threads"], 1)
        self.assertAlmostEqual(sample["memory_usage_percentage"], sample["memory_rss_megabytes"] / 10)
        self.assertEqual(set(monitor.processes), {child.pid})
        self.assertEqual(monitor.aggregate([{"num_fds": 2.0, "io_read_megabytes": 1.0},
                                            {"num_fds": 4.0, "io_read_megabytes": 7.0}]),
                         {"num_fds": 3.0, "io_read_megabytes": 7.0})
        with mlflow_of("r2") as logged:
            monitor.publish({"num_fds": 3.0})
        self.assertEqual([(entry[:3], entry[4]) for entry in logged], [(("r2", "system/process/num_fds", 3.0), 0)])

    def test_the_end_of_the_process(self):
        child = subprocess.Popen(["sleep", "0.3"])
        with mlflow_of("r3") as logged:
            monitor = stouputils.ProcessMetricsMonitor(pid=child.pid, sampling_interval=0.1, prefix="process/")
            monitor.start()
            child.wait()
            monitor._threads[0].join(10)
            self.assertFalse(monitor._threads[0].is_alive(), "it ends with the process")
            monitor.finish()
        self.assertNotIn(0.0, [entry[2] for entry in logged if entry[1] == "process/num_threads"])

    def test_async_and_errors(self):
        async def work():
            async with stouputils.ProcessMetricsMonitor(sampling_interval=60) as monitor:
                await asyncio.sleep(0.1)
            return monitor

        with mlflow_of("r4") as logged:
            self.assertEqual(asyncio.run(work()).run_id, "r4")
        self.assertEqual(len(logged), len(METRICS), "the last sample is taken at the end")
        with mlflow_of(None), self.assertRaisesRegex(RuntimeError, "active MLflow run"):
            stouputils.ProcessMetricsMonitor().start()
        with mlflow_of("r5"), self.assertRaises(ProcessLookupError):
            stouputils.ProcessMetricsMonitor(pid=gone()).start()


class Clouds(unittest.TestCase):
    """What services of clouds and of prices answer, by a server on the loopback in their place."""

    def serve(self, answers):
        """The address of a server with an answer by method and path; what it was asked is in self.asked."""
        asked = self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append((self.command, self.path, self.headers))
                answer = answers.get((self.command, self.path.partition("?")[0]))
                self.send_response(404 if answer is None else 200)
                self.end_headers()
                self.wfile.write((answer or "").encode())

            do_PUT = do_GET

            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}"

    def cloud(self, answers):
        """What get_cloud_info says where the services of all clouds have these answers."""
        root, ask = self.serve(answers), resource_tracker._ask

        def here(url, *arguments):
            return ask(root + "/" + url.split("/", 3)[3], *arguments)
        resource_tracker.get_cloud_info.cache_clear()
        self.addCleanup(resource_tracker.get_cloud_info.cache_clear)
        with unittest.mock.patch.object(resource_tracker, "_ask", here):
            told = resource_tracker.get_cloud_info()
        self.assertGreaterEqual(told.pop("discovery_time"), 0)
        return tuple(told.values())

    def test_each_cloud(self):
        aws = "/latest/meta-data"
        gcp = "/computeMetadata/v1/instance"
        for wanted, answers in (
                (("unknown", "unknown", "unknown"), {}),
                (("aws", "p5.48xlarge", "eu-west-1"), {
                    ("PUT", "/latest/api/token"): "secret", ("GET", f"{aws}/services/domain"): "amazonaws.com",
                    ("GET", f"{aws}/instance-type"): "p5.48xlarge", ("GET", f"{aws}/placement/region"): "eu-west-1"}),
                (("unknown", "unknown", "unknown"), {  # another cloud that speaks EC2
                    ("PUT", "/latest/api/token"): "secret", ("GET", f"{aws}/services/domain"): "elsewhere.example"}),
                (("gcp", "a3-highgpu-8g", "us-central1"), {
                    ("GET", f"{gcp}/machine-type"): "projects/1/machineTypes/a3-highgpu-8g",
                    ("GET", f"{gcp}/zone"): "projects/1/zones/us-central1-a"}),
                (("azure", "Standard_ND96", "westeurope"), {
                    ("GET", "/metadata/instance"): '{"compute": {"vmSize": "Standard_ND96", "location": "westeurope"}}'}),
                (("hcloud", "unknown", "eu-central"), {("GET", "/hetzner/v1/metadata/region"): "eu-central"}),
                (("upcloud", "unknown", "fi-hel1"), {
                    ("GET", "/metadata/v1.json"): '{"cloud_name": "upcloud", "region": "fi-hel1"}'}),
                (("alicloud", "ecs.g7", "cn-beijing"), {
                    ("GET", "/latest/meta-data/instance/instance-type"): "ecs.g7",
                    ("GET", "/latest/meta-data/region-id"): "cn-beijing"})):
            with self.subTest(wanted):
                self.assertEqual(self.cloud(answers), wanted)
                if wanted[0] == "aws":
                    tokens = {headers["X-aws-ec2-metadata-token"]
                              for method, path, headers in self.asked if path == f"{aws}/instance-type"}
                    self.assertEqual(tokens, {"secret"})

    def test_prices(self):
        server = {"vendor_id": "aws", "api_reference": "c7.large"}
        prices = [{"region_id": "us-1", "allocation": "spot", "price": 0.1},
                  {"region": {"api_reference": "us-1"}, "allocation": "ondemand", "price": "0.25"}]
        root = self.serve({("GET", "/servers"): json.dumps([server]),
                           ("GET", "/server/aws/c7.large/prices"): json.dumps(prices)})
        with unittest.mock.patch.object(resource_tracker, "KEEPER", root):
            self.assertEqual(resource_tracker.get_recommended_cloud_servers(4, 2048, 1, 8192, 3, vendor="aws"), [server])
            query = urllib.parse.parse_qs(self.asked[0][1].partition("?")[2])
            self.assertEqual(query, {"vcpus_min": ["4"], "memory_min": ["2.0"], "gpu_min": ["1"], "limit": ["3"],
                                     "gpu_memory_total": ["8.0"], "order_by": ["min_price_ondemand"],
                                     "order_dir": ["asc"], "vendor": ["aws"]})
            self.assertEqual(resource_tracker.get_instance_price("aws", "us-1", "c7.large"), 0.25)
            self.assertIsNone(resource_tracker.get_instance_price("aws", "eu-1", "c7.large"))
            self.assertIsNone(resource_tracker.get_instance_price("gcp", "eu-1", "n2"))
        with unittest.mock.patch.object(resource_tracker, "KEEPER", "http://127.0.0.1:9"):
            self.assertEqual(resource_tracker.get_recommended_cloud_servers(1, 1024), [])


class Imports(unittest.TestCase):
    def test_they_import_little(self):
        code = ("import sys, vitals.compat.gpu_tracker, vitals.compat.resource_tracker, vitals.compat.stouputils\n"
                "print([name for name in ('numpy', 'pandas', 'psutil', 'nvitop', 'mlflow', 'urllib.request') "
                "if name in sys.modules])")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.strip(), "[]")


if __name__ == "__main__":
    unittest.main()
