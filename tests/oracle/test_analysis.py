"""gpu_tracker's analysis of code blocks and its comparison of sessions, by itself and by `vitals report`
and `vitals compare` from the same files: the same numbers in the same form. And its text, by its own
rules from our JSON."""

import json
import pathlib
import pickle
import random
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "command"))
import recorded  # noqa: E402
from harness import vitals  # noqa: E402

try:
    import logging
    logging.disable(logging.CRITICAL)
    from gpu_tracker import SubTrackingAnalyzer, Tracker, TrackingComparison
    MISSING = None
except ImportError as error:
    MISSING = str(error)

STATIC = {"ram_unit": "gigabytes", "gpu_ram_unit": "gigabytes", "time_unit": "hours",
          "ram_system_capacity": 67.5, "gpu_ram_system_capacity": 80.0, "system_core_count": 8,
          "n_expected_cores": 4, "system_gpu_count": 2, "n_expected_gpus": 2}
SCOPES = ("system", "main", "descendants", "combined")
COLUMNS = ["main_ram", "descendants_ram", "combined_ram", "system_ram", "main_gpu_ram",
           "descendants_gpu_ram", "combined_gpu_ram", "system_gpu_ram",
           "gpu_sum_utilization_percent", "gpu_hardware_utilization_percent", "main_n_threads",
           "descendants_n_threads", "combined_n_threads",
           *[f"cpu_{scope}_{kind}_utilization_percent" for scope in SCOPES
             for kind in ("sum", "hardware")], "timestamp"]
START = 1763798400.0


def write_tracking(path, seed, samples=60):
    """A file as gpu_tracker writes one, of numbers that nothing could guess."""
    dice = random.Random(seed)
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(STATIC) + "\n" + ",".join(map(str, STATIC.values())) + "\n")
        file.write(",".join(COLUMNS) + "\n")
        for i in range(samples):
            ram, gpu = dice.uniform(1, 9), dice.uniform(1, 30)
            used = dice.uniform(0, 200)
            row = [ram, ram / 2, ram * 1.5, ram * 4, gpu, gpu / 3, gpu * 4 / 3, gpu * 2, used, used / 2,
                   dice.randint(1, 4), dice.randint(0, 9), dice.randint(4, 13)]
            for scope in SCOPES:
                total = dice.uniform(0, 400)
                row += [total, total / (8 if scope == "system" else 4)]
            file.write(",".join(map(repr, row + [START + i])) + "\n")


def write_blocks(path, blocks):
    with open(path, "w", encoding="utf-8") as file:
        file.write("process_id,code_block_name,position,timestamp\n")
        for name, begin, end in blocks:
            file.write(f"77,{name},0,{START + begin!r}\n77,{name},1,{START + end!r}\n")


class Same(unittest.TestCase):
    def setUp(self):
        if MISSING:
            self.skipTest(MISSING)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def session(self, name, seed, blocks):
        tracking, sub = self.folder / f"{name}.csv", self.folder / f"{name}.sub.csv"
        write_tracking(tracking, seed)
        write_blocks(sub, blocks)
        return tracking, SubTrackingAnalyzer(str(tracking), str(sub)).sub_tracking_results()

    def check(self, ours, theirs, place=""):
        if isinstance(theirs, dict):
            equals = len(set(map(str, theirs.values()))) < len(theirs)  # theirs: in any order
            self.assertEqual((sorted if equals else list)(ours),
                             (sorted if equals else list)(theirs), place)
            for key, value in theirs.items():
                self.check(ours[key], value, f"{place}.{key}")
        elif isinstance(theirs, list):
            self.assertEqual(len(ours), len(theirs), place)
            for i, value in enumerate(theirs):
                self.check(ours[i], value, f"{place}[{i}]")
        elif isinstance(theirs, str):
            self.assertEqual(ours, theirs, place)
        else:
            self.assertAlmostEqual(ours, float(theirs), delta=1e-9 + 1e-7 * abs(theirs), msg=place)

    def ours(self, *arguments):
        done = vitals(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_analysis(self):
        tracking, results = self.session("a", 1, [
            ("load", 0.5, 9.25), ("train", 10, 20.5), ("train", 21, 30), ("empty", 40.2, 40.7),
            ("whole", 0, 59)])
        ours = json.loads(self.ours("report", tracking, "--phases", "--format", "gpu-tracker"))
        theirs = results.to_json()
        self.check(ours["overall"], theirs["overall"])
        self.check(ours["static_data"], theirs["static_data"])
        blocks = {block["name"]: block for block in ours["code_block_results"]}
        self.assertEqual(list(blocks), [block["name"] for block in theirs["code_block_results"]])
        for block in theirs["code_block_results"]:
            mine = blocks[block["name"]]
            if block["num_timepoints"] == 0:  # NaN there, null here
                block.pop("resource_usage")
                self.assertIsNone(mine.pop("resource_usage")["main_ram"]["mean"])
            self.check(mine, block, block["name"])

    def test_comparison(self):
        files = {}
        for name, seed, line in (("first", 2, 7), ("second", 3, 9), ("third", 4, 9)):
            tracking, results = self.session(name, seed, [
                ("setup", 1.5, 6), (f"train.py:{line}", 8, 30 + seed), ("test", 44, 50 - seed)])
            results_file = self.folder / f"{name}.pickle"
            results_file.write_bytes(pickle.dumps(results))
            files[name] = (tracking, results_file)
        words = [f"{name}={tracking}" for name, (tracking, _) in files.items()]
        for statistic in ("mean", "min", "max", "std"):
            theirs = TrackingComparison({name: str(file) for name, (_, file) in files.items()})
            ours = json.loads(self.ours("compare", *words, "--format", "gpu-tracker", "--statistic",
                                        statistic))
            self.check(ours, theirs.compare(statistic).to_json())

    def test_text_by_its_own_rules(self):
        path = self.folder / "account.json"
        path.write_text(json.dumps(recorded.training()))
        tree = json.loads(self.ours("report", path, "--format", "gpu-tracker"))

        class Given(Tracker):
            def __init__(self):
                pass

            def to_json(self):
                return tree

            def __del__(self):
                pass

        theirs = str(Given()).replace("null", "N/A")
        self.assertEqual(self.ours("report", path, "--format", "gpu-tracker-text"), theirs + "\n")


if __name__ == "__main__":
    unittest.main()
