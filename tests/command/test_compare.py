"""`vitals compare`: what is told of two runs or many, and when nothing can be."""

import json
import pathlib
import statistics
import tempfile
import unittest

import recorded
from harness import reads_json, vitals


@unittest.skipUnless(reads_json(), "built without jansson")
class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_of(self, name, seconds, availability="have", **attributes):
        path = self.folder / name
        path.write_text(json.dumps(recorded.account(
            [recorded.figure("wall_seconds", seconds, "seconds", availability)], **attributes)))
        return path

    def runs_of(self, name, *times):
        return [self.run_of(f"{name}.{i}.json", seconds) for i, seconds in enumerate(times)]

    def compare(self, *arguments, env=None):
        done = vitals("compare", *arguments, env=env)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stderr)
        return done.stdout

    def sessions(self, *files):
        document = json.loads(self.compare("--json", *files))
        self.assertEqual(document["schema"], 1)
        (figure,) = [one for one in document["figures"] if one["name"] == "wall_seconds"]
        return figure["sessions"]

    def test_several_runs_tell_a_difference_from_chance(self):
        old = self.runs_of("old", 10.0, 10.1, 9.9, 10.05)
        for times, verdict in (((8.0, 8.1, 7.9), "less"), ((12.0, 12.1, 11.9), "more"),
                               ((10.02, 9.95, 10.08), "no_difference"),
                               ((7.0, 10.0, 12.0), "no_difference")):
            first, other = self.sessions(*old, "vs", *self.runs_of("new", *times))
            self.assertEqual((first["verdict"], other["verdict"]), ("first", verdict), times)
            self.assertEqual((first["count"], other["count"]), (4, 3))
            self.assertEqual(other["probability"] < 0.01, verdict in ("less", "more"))

    def test_a_difference_below_1_percent_is_none(self):
        other = self.sessions(*self.runs_of("a", 10.0, 10.0001), "vs",
                              *self.runs_of("b", 10.05, 10.0501))[1]
        self.assertEqual(other["verdict"], "no_difference")

    def test_statistics(self):
        first = self.sessions(*self.runs_of("a", 2.0, 4.0), "vs", *self.runs_of("b", 1.0))[0]
        self.assertEqual((first["min"], first["max"], first["mean"], first["std"]), (2, 4, 3, 2 ** 0.5))

    def test_one_deviation_for_all(self):
        """run --repeat divides by the count less one, and so do compare and the phases."""
        times = (10.0, 10.5, 9.0)
        (first, _) = self.sessions(*self.runs_of("a", *times), "vs", *self.runs_of("b", 1.0))
        self.assertAlmostEqual(first["std"], statistics.stdev(times))
        self.assertIsNone(self.sessions(*self.runs_of("a", *times), "vs", *self.runs_of("b", 1.0))[1]["std"])

    def test_one_run_each_proves_nothing(self):
        old = self.run_of("old.json", 10.0)
        for seconds in (10.0, 10.9, 9.1, 8.0, 120.0):
            other = self.sessions(old, self.run_of("new.json", seconds))[1]
            self.assertEqual((other["verdict"], other["probability"]), ("cannot_tell", None), seconds)
        text = self.compare(old, self.run_of("new.json", 8.0))
        self.assertIn("One run does not show how much runs vary", text)
        self.assertRegex(text, r"time +10\.0 s +8\.0 s +-20 % +not known")
        self.assertRegex(self.compare(old, *self.runs_of("same", 10.0)), r"0 % +the same")

    def test_calls_of_one_run_are_no_runs(self):
        paths = []
        for name, length in (("a", 1), ("b", 2)):
            marks = [(at, kind, "f", 1) for start in (1, 6, 11)
                     for at, kind in ((start, "begin"), (start + length + start / 1000, "end"))]
            paths.append(self.phases_file(f"{name}.csv", *marks))
        document = json.loads(self.compare("--json", *paths))
        verdicts = {one["sessions"][1]["verdict"] for one in document["figures"] if "phase" in one}
        self.assertLessEqual(verdicts, {"cannot_tell", "missing"})

    def test_nothing_and_nothing_are_the_same(self):
        paths = []
        for name in ("a", "b", "c", "d"):
            paths.append(self.folder / f"{name}.json")
            paths[-1].write_text(json.dumps(recorded.account([recorded.figure("disk_read_bytes", 0, "bytes")])))
        self.assertRegex(self.compare(*paths[:2], "vs", *paths[2:]), r"disk read +0B +0B +0 % +the same")

    def test_the_threshold_is_shown(self):
        text = self.compare(*self.runs_of("old", 10.0, 10.1, 9.9), "vs",
                            *self.runs_of("new", 10.2, 10.3, 10.25), "--width", 160)
        self.assertRegex(text, r"within chance \(p 0\.0\d+\), above 0\.01")

    def test_the_same_file_twice_is_refused(self):
        a, b = self.run_of("a.json", 10), self.run_of("b.json", 8)
        link = self.folder / "link.json"
        link.symlink_to(a)
        for files in ((a, a), (a, b, "vs", a, b), (a, f"again={link}")):
            done = vitals("compare", *files)
            self.assertEqual((done.returncode, done.stdout), (2, ""), files)
            self.assertIn("the same file twice", done.stderr)

    def test_what_was_got_in_another_way_is_told(self):
        other = self.sessions(self.run_of("a.json", 10), self.run_of("b.json", 8, "sampled"))[1]
        self.assertFalse(other["counted_alike"])
        self.assertIn("got in another way", self.compare(
            self.run_of("a.json", 10), self.run_of("b.json", 8, "sampled"), "--width", 120))

    def test_what_one_does_not_have(self):
        lacks = self.folder / "lacks.json"
        lacks.write_text(json.dumps(recorded.account([])))
        other = self.sessions(self.run_of("a.json", 10), lacks)[1]
        self.assertEqual((other["verdict"], other["mean"]), ("missing", None))
        self.assertRegex(self.compare(self.run_of("a.json", 10), lacks), r"N/A +not in both")

    def test_names(self):
        a, b = self.run_of("a.json", 10), self.run_of("b=c.json", 8)
        names = [one["session"] for one in self.sessions(f"base={a}", b)]
        self.assertEqual(names, ["base", "b=c.json"])
        copies = [a]
        for folder in ("second", "third"):
            (self.folder / folder).mkdir()
            copies.append(self.folder / folder / "a.json")
            copies[-1].write_text(a.read_text())
        names = [one["session"] for one in self.sessions(*copies)]
        self.assertEqual(names, ["a.json", "a.json (2)", "a.json (3)"])

    def test_three_stand_below_each_other(self):
        files = [self.run_of(f"{i}.json", 10 - i) for i in range(3)]
        text = self.compare(*files)
        self.assertRegex(text, r"(?m)^  time\n    0\.json +10\.0 s.*\n    1\.json +9\.0 s +-10 %")

    def test_widths(self):
        paths = [self.folder / "old.csv", self.folder / "new.csv"]
        for path, step in zip(paths, (6.0, 5.0)):
            recorded.write_training(path, step=step)
        for width in (80, 120):
            text = self.compare(*paths, "--width", width, "--ascii")
            self.assertLessEqual(max(map(len, text.splitlines())), width, text)
            self.assertTrue(text.isascii())
            self.assertIn("memory peak", text)

    def phases_file(self, name, *marks):
        path = self.folder / name
        rows = [(recorded.START + i, [2.0 * i]) for i in range(21)]
        recorded.write(path, ["cpu_cores"], rows,
                       [(recorded.START + second, *rest) for second, *rest in marks],
                       recorded.account([]))
        return path

    def test_phases_are_paired_by_name(self):
        a = self.phases_file("a.csv", (1, "begin", "f", 1), (3, "end", "f", 1),
                             (4, "begin", "g", 1), (5, "end", "g", 1))
        b = self.phases_file("b.csv", (1, "begin", "g", 1), (2, "end", "g", 1),
                             (4, "begin", "f", 1), (8, "end", "f", 1))
        document = json.loads(self.compare("--json", a, b))
        calls = {one["phase"]: [session["mean"] for session in one["sessions"]]
                 for one in document["figures"] if one["name"] == "call_seconds"}
        self.assertEqual(set(calls), {"f", "g"})
        self.assertAlmostEqual(calls["f"][0], 2, places=5)
        self.assertAlmostEqual(calls["f"][1], 4, places=5)

    def test_figures_of_phases_have_their_quality(self):
        paths = [self.folder / "a.csv", self.folder / "b.csv"]
        for path in paths:
            recorded.write(path, ["cpu_seconds", "memory_resident_bytes"],
                           [(recorded.START + i, [2.0 * i, 1e6 * i]) for i in range(9)],
                           [(recorded.START + 1, "begin", "f", 1), (recorded.START + 4, "end", "f", 1)],
                           recorded.account([]))
        document = json.loads(self.compare("--json", *paths))
        self.assertEqual({one["name"]: {session["availability"] for session in one["sessions"]}
                          for one in document["figures"] if "phase" in one},
                         {"call_seconds": {"have"}, "cpu_seconds": {"estimate"},
                          "memory_resident_peak_bytes": {"sampled"}})

    def test_names_that_differ_by_their_line_are_paired_in_order(self):
        a = self.phases_file("a.csv", (1, "begin", "f.py:7", 1), (3, "end", "f.py:7", 1),
                             (4, "begin", "f.py:20", 1), (5, "end", "f.py:20", 1))
        b = self.phases_file("b.csv", (1, "begin", "f.py:9", 1), (2, "end", "f.py:9", 1),
                             (4, "begin", "f.py:25", 1), (8, "end", "f.py:25", 1))
        document = json.loads(self.compare("--format", "gpu-tracker", a, b))
        times = document["code_block_compute_time"]
        self.assertEqual(set(times), {"f.py:7 -> f.py:9", "f.py:20 -> f.py:25"})
        self.assertEqual(list(times["f.py:7 -> f.py:9"]), ["b.csv", "a.csv"])  # ascending

    def test_as_gpu_tracker_compares(self):
        a = self.phases_file("a.csv", (1, "begin", "f", 1), (3, "end", "f", 1))
        b = self.phases_file("b.csv", (2, "begin", "f", 1), (8, "end", "f", 1))
        for statistic, values in (("mean", (400, 1000)), ("max", (600, 1600)), ("min", (200, 400))):
            document = json.loads(self.compare("--format", "gpu-tracker", "--statistic", statistic,
                                               f"x={a}", f"y={b}"))
            self.assertEqual(list(document), ["overall_resource_usage",
                                              "code_block_resource_usage",
                                              "code_block_compute_time"])
            usage = document["code_block_resource_usage"]["cpu_combined_sum_utilization_percent"]
            self.assertEqual(usage, {"f": {"x": values[0], "y": values[1]}})
            self.assertEqual(len(document["overall_resource_usage"]), 21)

    def test_mistakes(self):
        a, b = self.run_of("a.json", 10), self.run_of("b.json", 10)
        for arguments, code, words in (
                ((), 2, "at least two files"), ((a,), 2, "at least two files"),
                ((a, "vs"), 2, "at least two files"),
                ((a, b, "--statistic", "median"), 2, "give mean|min|max|std"),
                ((a, b, "--format", "csv"), 2, "give text|json|gpu-tracker"),
                ((a, b, "--time-unit", "years"), 2, "seconds, minutes, hours or days"),
                ((a, self.folder / "nowhere"), 1, "nowhere")):
            done = vitals("compare", *arguments)
            self.assertEqual((done.returncode, done.stdout), (code, ""), arguments)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
