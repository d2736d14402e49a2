"""`vitals report`: what is told of a recorded run, in every form but the page."""

import json
import pathlib
import re
import tempfile
import unittest

import jsonschema
import recorded
from harness import FIXTURES, SOURCE, reads_json, vitals

GOLDEN = FIXTURES / "account"
SCHEMA = json.loads((SOURCE / "docs/schema/account.json").read_text())
MIB, GIB = 2 ** 20, 2 ** 30

HOSTILE = 'a\x1b[31m"b\n<script>&\u202e\\ c'


@unittest.skipUnless(reads_json(), "built without jansson")
class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def account(self, document, name="account.json"):
        path = self.folder / name
        path.write_text(json.dumps(document))
        return path

    def report(self, path, *arguments):
        done = vitals("report", path, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""), (arguments, done.stderr))
        return done.stdout

    def advice(self, *figures, **attributes):
        path = self.account(recorded.account(list(figures), **attributes))
        document = json.loads(self.report(path, "--json"))
        return {what: part["value"] for what, part in document["advice"].items()}


class Text(Report):
    def check_golden(self, name, *arguments):
        path = self.folder / "run.csv"
        recorded.write_training(path)
        text = self.report(path, "--phases", *arguments)
        self.assertEqual(text, (GOLDEN / name).read_text())
        return text

    def test_golden(self):
        for width in (80, 120):
            text = self.check_golden(f"training-{width}.txt", "--width", width, "--ascii")
            self.assertLessEqual(max(map(len, text.splitlines())), width)
            self.assertTrue(text.isascii())

    def test_every_figure(self):
        text = self.report(self.account(recorded.training()), "--verbose", "--width", 120)
        for figure in recorded.training()["figures"]:
            self.assertRegex(text, rf"(?m)^  {figure['name']} ")
        self.assertIn("/sys/class/powercap is for root alone", text)

    def test_units(self):
        path = self.account(recorded.training())
        text = self.report(path, "--memory-unit", "gigabytes", "--gpu-memory-unit", "mebibytes",
                           "--time-unit", "hours")
        self.assertIn("peak 44.238 gigabytes", text)
        self.assertIn("peak 73523.200 mebibytes", text)
        self.assertIn("finished in 1.200 hours", text)

    def test_an_unknown_unit_is_told_with_those_that_are_known(self):
        path = self.account(recorded.training())
        for option, unit, some in (("--memory-unit", "GB", "gibibytes"),
                                   ("--gpu-memory-unit", "hours", "terabytes"),
                                   ("--time-unit", "fortnights", "minutes"),
                                   ("--time-unit", "bytes", "days")):
            done = vitals("report", path, option, unit)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            for part in (option, unit, some):
                self.assertIn(part, done.stderr)

    def test_a_bracket_where_no_peak_was_counted(self):
        path = self.account(recorded.account([
            recorded.figure("wall_seconds", 2, "seconds"),
            recorded.figure("memory_peak_low_bytes", 4 * GIB, "bytes", "lower_bound", "sampled"),
            recorded.figure("memory_peak_high_bytes", 5 * GIB, "bytes", "estimate", "VmHWM")]))
        text = self.report(path)
        self.assertRegex(text, r"(?m)memory +peak at least 4096MiB$")
        self.assertRegex(text, r"(?m) estimated 5120MiB$")

    def test_what_is_missing_is_not_0(self):
        path = self.account(recorded.account([
            recorded.figure("wall_seconds", 2, "seconds"),
            recorded.figure("cpu_seconds", None, "seconds", "failed", "the counter ran backwards"),
            recorded.figure("processes", None, "", "timed_out", "nobody answered")]))
        text = self.report(path)
        self.assertRegex(text, r"CPU +N/A +the counter ran backwards")
        self.assertRegex(text, r"processes +N/A +nobody answered")

    def test_how_it_ended(self):
        wall = recorded.figure("wall_seconds", 61.2, "seconds")
        for changes, words in (
                ({"exit_code": 3}, "finished in 1 min 1 s, exit 3"),
                ({"exit_code": 137, "signal": 9}, "ended after 1 min 1 s by SIGKILL"),
                ({"state": "partial"}, "was followed for 1 min 1 s; its end was not seen"),
                ({"state": "running"}, "has run for 1 min 1 s")):
            path = self.account(recorded.account([wall], command="make -j8", **changes))
            self.assertIn(f"vitals: make -j8 {words}\n", self.report(path))

    def test_what_did_not_run(self):
        document = recorded.account([recorded.figure("wall_seconds", 0.001, "seconds")],
                                    exit_code=126, command="./notes")
        document["failure"] = "./notes: permission denied"
        self.assertEqual(self.report(self.account(document)),
                         "vitals: ./notes was not run: ./notes: permission denied, exit 126\n")

    def test_a_limit(self):
        text = self.report(self.account(recorded.account(
            [], exit_code=143, signal=15, limit="time", limit_words="it took longer than 1 h")))
        self.assertRegex(text, r"limit +it took longer than 1 h")

    def test_killed_for_want_of_memory(self):
        path = self.account(recorded.account([
            recorded.figure("memory_peak_bytes", 2 * GIB, "bytes"),
            recorded.figure("oom_kills", 2)]))
        self.assertIn("2 processes killed for want of it", self.report(path))

    def test_a_machine_is_no_run(self):
        path = self.account(recorded.account(
            [recorded.figure("wall_seconds", 60, "seconds", "sampled"),
             recorded.figure("cpu_seconds", 90, "seconds", "have", "kernel", "system"),
             recorded.figure("cpu_mean_cores", 1.5, "cores", "sampled", "kernel", "system"),
             recorded.figure("memory_used_peak_bytes", 3 * GIB, "bytes", "sampled", "kernel",
                             "system"),
             recorded.figure("processes_peak", 321, "", "sampled", "kernel", "system")],
            host="node07"))
        text = self.report(path)
        self.assertTrue(text.startswith("vitals: node07 was recorded for 1 min 0 s\n"))
        self.assertRegex(text, r"(?m)CPU +1 min 30 s  \(1\.50 cores\) +exact$")
        self.assertRegex(text, r"(?m)memory +peak 3072MiB +sampled$")
        self.assertRegex(text, r"(?m)processes +peak 321 +sampled$")
        self.assertNotIn("next time", text)

    def test_hostile_text_moves_no_cursor(self):
        path = self.account(recorded.account(
            [recorded.figure("gpu_memory_peak_bytes", 1, "bytes", source=HOSTILE, subject=HOSTILE,
                             label=HOSTILE)],
            command=HOSTILE, missing=HOSTILE))
        for arguments in ((), ("--verbose",), ("--verbose", "--ascii")):
            text = self.report(path, *arguments)
            self.assertFalse(set(text) & {"\x1b", "\u202e", "\r"})
            if "--ascii" in arguments:
                self.assertTrue(text.isascii())


class Json(Report):
    def test_follows_the_schema(self):
        path = self.folder / "run.csv"
        recorded.write_training(path)
        for file in (path, self.account(recorded.training()), self.account(recorded.account([]))):
            document = json.loads(self.report(file, "--json"))
            jsonschema.validate(document, SCHEMA)

    def test_gives_back_what_it_read(self):
        given = recorded.training()
        document = json.loads(self.report(self.account(given), "--json"))
        self.assertEqual(document["figures"], given["figures"])
        for name, text in given["attributes"].items():
            self.assertEqual(document["attributes"][name], text)

    def test_reads_its_own(self):
        first = self.report(self.account(recorded.training()), "--json")
        again = self.folder / "again.json"
        again.write_text(first)
        self.assertEqual(self.report(again, "--json"), first)

    def test_what_a_run_prints_follows_the_schema(self):
        path = self.folder / "account.json"
        done = vitals("run", "--backends", "", "--json", path, "--", "sh", "-c", "exit 3")
        self.assertEqual(done.returncode, 3, done.stderr)
        document = json.loads(path.read_text())
        jsonschema.validate(document, SCHEMA)
        self.assertEqual(document["exit_code"], 3)
        self.assertIn("exit 3", self.report(path))

    def test_the_schema_refuses_what_is_wrong(self):
        for changes in ({"value": None}, {"availability": "perfect"}, {"unit": "MiB"}):
            document = recorded.account([recorded.figure("cpu_seconds", 1, "seconds") | changes])
            with self.assertRaises(jsonschema.ValidationError):
                jsonschema.validate(document, SCHEMA)


class Phases(Report):
    """One sample a second from 0 to 10; the counter grows by 2 a second, the gauge is the second."""

    def setUp(self):
        super().setUp()
        self.path = self.folder / "run.csv"

    def phases(self, *marks):
        rows = [(recorded.START + i, [2.0 * i, float(i)]) for i in range(11)]
        recorded.write(self.path, ["cpu_seconds", "cpu_cores"], rows,
                       [(recorded.START + second, *rest) for second, *rest in marks],
                       recorded.account([recorded.figure("wall_seconds", 10, "seconds")]))
        document = json.loads(self.report(self.path, "--json"))
        jsonschema.validate(document, SCHEMA)
        return {phase["name"]: phase for phase in document["phases"]}

    def usage(self, phase):
        return {one["name"]: one for one in phase["resource_usage"]}

    def test_one_call(self):
        phase = self.phases((1.5, "begin", "a", 1), (4.25, "end", "a", 1))["a"]
        self.assertEqual((phase["num_calls"], phase["num_non_empty_calls"],
                          phase["num_timepoints"]), (1, 1, 3))
        self.assertAlmostEqual(phase["compute_seconds"]["total"], 2.75, places=5)
        usage = self.usage(phase)
        self.assertAlmostEqual(usage["cpu_seconds"]["growth"], 5.5, places=5)
        self.assertEqual(usage["cpu_cores"]["values"],
                         {"min": 2, "max": 4, "mean": 3,
                          "std": 1})

    def test_a_call_between_two_samples(self):
        phase = self.phases((1.25, "begin", "a", 1), (1.75, "end", "a", 1))["a"]
        self.assertEqual((phase["num_calls"], phase["num_non_empty_calls"],
                          phase["num_timepoints"]), (1, 0, 0))
        self.assertIsNone(self.usage(phase)["cpu_seconds"]["growth"])
        self.assertIsNone(self.usage(phase)["cpu_cores"]["values"]["mean"])
        self.assertIn("1 call was shorter than a sample", self.report(self.path, "--phases"))

    def test_every_figure_has_its_quality(self):
        phases = self.phases((1.5, "begin", "long", 1), (4.25, "end", "long", 1), (5.25, "begin", "short", 1),
                             (5.75, "end", "short", 1))
        words = {(phase, one["name"]): one["availability"]
                 for phase in phases for one in phases[phase]["resource_usage"]}
        self.assertEqual(words, {("long", "cpu_seconds"): "estimate", ("long", "cpu_cores"): "sampled",
                                 ("short", "cpu_seconds"): "not_yet", ("short", "cpu_cores"): "not_yet"})
        said = "time: exact; CPU: estimate, on the line between two samples; the rest: sampled"
        self.assertIn(said, self.report(self.path, "--phases"))
        page = self.folder / "page.html"
        self.report(self.path, "--html", page)
        section, = re.findall(r"<h2>Phases</h2>.*?</section>", page.read_text(), re.DOTALL)
        self.assertIn(said, section)
        cells = re.findall(r'<td class="num"><span class="how" tabindex="0" data-how="(\w+)[^"]*">', section)
        self.assertEqual(cells, ["exact"] * 3 + ["estimate"] + ["exact"] * 3)

    def test_a_call_beyond_the_samples_used_at_least_what_they_show(self):
        """As in the last part of a recording that was rotated."""
        phases = self.phases((-5, "begin", "early", 1), (4, "end", "early", 1), (-0.5, "begin", "usual", 2),
                             (3, "end", "usual", 2), (8, "begin", "late", 3), (20, "end", "late", 3))
        found = {name: (self.usage(phase)["cpu_seconds"]["growth"], self.usage(phase)["cpu_seconds"]["availability"])
                 for name, phase in phases.items()}
        self.assertEqual(found, {"early": (8, "lower_bound"), "usual": (6, "estimate"), "late": (4, "lower_bound")})
        self.assertIn("2 went on beyond the samples: CPU is at least that", self.report(self.path, "--phases"))

    def test_recursion_is_paired_from_the_inside(self):
        phase = self.phases((1, "begin", "f", 1), (2, "begin", "f", 1), (3, "end", "f", 1),
                            (6, "end", "f", 1))["f"]
        self.assertEqual(phase["num_calls"], 2)
        self.assertAlmostEqual(phase["compute_seconds"]["max"], 5, places=5)
        self.assertAlmostEqual(phase["compute_seconds"]["min"], 1, places=5)
        self.assertEqual(phase["num_timepoints"], 6)  # each sample once
        self.assertAlmostEqual(self.usage(phase)["cpu_seconds"]["growth"], 10, places=5)

    def test_threads_are_paired_each_with_itself(self):
        phase = self.phases((1, "begin", "f", 1), (2, "begin", "f", 2), (4, "end", "f", 1),
                            (9, "end", "f", 2))["f"]
        self.assertAlmostEqual(phase["compute_seconds"]["min"], 3, places=5)
        self.assertAlmostEqual(phase["compute_seconds"]["max"], 7, places=5)
        self.assertAlmostEqual(self.usage(phase)["cpu_seconds"]["growth"], 16, places=5)

    def test_nested_ones_have_each_their_own(self):
        phases = self.phases((0.5, "begin", "outer", 1), (2, "begin", "inner", 1),
                             (3, "end", "inner", 1), (8, "end", "outer", 1))
        self.assertEqual(list(phases), ["outer", "inner"])
        self.assertAlmostEqual(phases["outer"]["compute_seconds"]["total"], 7.5, places=5)
        self.assertAlmostEqual(phases["inner"]["compute_seconds"]["total"], 1, places=5)

    def test_one_that_never_ended_is_not_counted(self):
        phase = self.phases((1, "begin", "f", 1), (2, "end", "f", 1), (3, "begin", "f", 1))["f"]
        self.assertEqual((phase["num_calls"], phase["num_open_calls"]), (1, 1))
        self.assertIn("1 never ended", self.report(self.path, "--phases"))

    def test_none(self):
        self.assertEqual(self.phases(), {})
        self.assertIn("no phases were marked", self.report(self.path, "--phases"))

    def test_as_gpu_tracker_analyses_them(self):
        self.phases((1.5, "begin", "b", 1), (4.25, "end", "b", 1), (5, "begin", "a", 1),
                    (6.5, "end", "a", 1))
        document = json.loads(self.report(self.path, "--phases", "--format", "gpu-tracker"))
        self.assertEqual(list(document), ["overall", "static_data", "code_block_results"])
        self.assertEqual(len(document["overall"]), 21)
        self.assertEqual([block["name"] for block in document["code_block_results"]], ["a", "b"])
        block = document["code_block_results"][1]
        self.assertEqual(list(block), ["name", "num_timepoints", "num_calls",
                                       "num_non_empty_calls", "compute_time", "resource_usage"])
        self.assertEqual(list(block["compute_time"]), ["min", "max", "mean", "std", "total"])
        percent = block["resource_usage"]["cpu_combined_sum_utilization_percent"]
        self.assertEqual((percent["min"], percent["max"], percent["mean"]), (200, 400, 300))


class GpuTracker(Report):
    def test_its_tree(self):
        path = self.account(recorded.training())
        document = json.loads(self.report(path, "--format", "gpu-tracker"))
        self.assertEqual(list(document), ["max_ram", "max_gpu_ram", "cpu_utilization",
                                          "gpu_utilization", "compute_time"])
        self.assertEqual(list(document["max_ram"]), ["unit", "system_capacity", "system", "main",
                                                     "descendants", "combined"])
        self.assertEqual(list(document["max_ram"]["main"]),
                         ["total_rss", "private_rss", "shared_rss"])
        self.assertEqual(list(document["cpu_utilization"]),
                         ["system_core_count", "n_expected_cores", "system", "main", "descendants",
                          "combined", "main_n_threads", "descendants_n_threads",
                          "combined_n_threads"])
        self.assertEqual(list(document["cpu_utilization"]["main"]),
                         ["max_sum_percent", "max_hardware_percent", "mean_sum_percent",
                          "mean_hardware_percent"])
        self.assertEqual(list(document["gpu_utilization"]), ["system_gpu_count", "n_expected_gpus",
                                                             "gpu_percentages"])
        self.assertEqual(document["compute_time"], {"unit": "hours", "time": 1.2})
        combined = document["cpu_utilization"]["combined"]
        self.assertAlmostEqual(combined["mean_sum_percent"], 307)
        self.assertAlmostEqual(combined["mean_hardware_percent"], 307 / 16)
        self.assertAlmostEqual(combined["max_sum_percent"], 740)
        self.assertIsNone(document["max_ram"]["system"])  # not known is not 0

    def test_units(self):
        figures = [recorded.figure(f"memory_{kind}_peak_bytes", value * 1e6, "bytes", "sampled",
                                   subject=scope)
                   for scope in ("root", "descendants", "")
                   for kind, value in (("both", 30), ("private", 20), ("shared", 10))]
        path = self.account(recorded.account(figures))
        document = json.loads(self.report(path, "--format", "gpu-tracker", "--memory-unit",
                                          "megabytes"))
        self.assertEqual(document["max_ram"]["main"],
                         {"total_rss": 30, "private_rss": 20, "shared_rss": 10})
        self.assertEqual(document["max_ram"]["unit"], "megabytes")

    def test_without_a_device_nothing_of_one_was_used(self):
        """Ours leaves out what there is none of; of another's nobody knows."""
        machine = recorded.figure("memory_total_peak_bytes", 16e9, "bytes", "sampled",
                                  subject="system")
        for attributes, used in (({"version": "0.1.0"}, 0), ({}, None)):
            path = self.account(recorded.account([machine], **attributes))
            document = json.loads(self.report(path, "--format", "gpu-tracker"))
            self.assertEqual(document["max_gpu_ram"]["combined"], used)
            self.assertEqual(document["gpu_utilization"]["system_gpu_count"], used)
            self.assertEqual(document["gpu_utilization"]["gpu_percentages"]["mean_sum_percent"],
                             used)

    def test_a_part_of_nothing_is_nothing(self):
        devices = [recorded.figure("devices_peak", 2, "", "sampled", subject="system"),
                   recorded.figure("gpu_memory_peak_bytes", 0, "bytes", "sampled")]
        path = self.account(recorded.account(devices, version="0.1.0"))
        used = json.loads(self.report(path, "--format", "gpu-tracker"))["max_gpu_ram"]
        self.assertEqual([used[name] for name in ("main", "descendants", "combined")], [0, 0, 0])

    def test_its_text_is_its_tree(self):
        """The same members in the same order, each deeper by three columns."""
        path = self.account(recorded.training())
        document = json.loads(self.report(path, "--format", "gpu-tracker"))
        text = self.report(path, "--format", "gpu-tracker-text")

        def lines(tree, depth):
            for value in tree.values():
                yield depth, None if isinstance(value, dict) else value
                if isinstance(value, dict):
                    yield from lines(value, depth + 1)

        expected = list(lines(document, 0))
        printed = text.splitlines()
        self.assertEqual(len(printed), len(expected))
        for line, (depth, value) in zip(printed, expected):
            self.assertRegex(line, rf"^ {{{3 * depth}}}\w")
            shown = line.partition(":")[2].strip()
            if isinstance(value, float):
                self.assertEqual(shown, str(float(f"{value:.3f}")), line)
            elif value is None:
                self.assertIn(shown, ("", "N/A"), line)
            else:
                self.assertEqual(shown, str(value), line)
        self.assertEqual(text, (GOLDEN / "gpu-tracker.txt").read_text())


class Advice(Report):
    def test_memory_is_never_less_than_the_peak(self):
        """resource-tracker told 128 MiB for a peak of 258 MiB."""
        for mib in (1, 100, 127, 200, 258, 500, 1000, 1900, 2048, 5000, 70000, 1500000):
            for state, least in (("have", 1.1), ("sampled", 1.25)):
                asked = self.advice(recorded.figure("memory_peak_bytes", mib * MIB, "bytes", state))
                self.assertGreaterEqual(asked["memory_bytes"], mib * MIB * least)
                self.assertLessEqual(asked["memory_bytes"], max(128 * MIB, mib * MIB * 2.6))
                self.assertEqual(asked["memory_bytes"] % (128 * MIB), 0)

    def test_a_bracket(self):
        def asked(low, high):
            return self.advice(
                recorded.figure("memory_peak_low_bytes", low * GIB, "bytes", "lower_bound"),
                recorded.figure("memory_peak_high_bytes", high * GIB, "bytes", "estimate"),
            )["memory_bytes"] / GIB

        self.assertEqual(asked(10, 10), 13)   # 25 % above the estimate
        self.assertEqual(asked(10, 14), 18)
        self.assertEqual(asked(10, 48), 60)   # however little is certain
        self.assertEqual(asked(10, 4), 13)    # and never below that

    def test_a_killed_run_never_showed_its_need(self):
        asked = self.advice(recorded.figure("memory_peak_bytes", 4 * GIB, "bytes"),
                            recorded.figure("oom_kills", 1))
        self.assertEqual(asked["memory_bytes"], 8 * GIB)

    def test_a_run_that_was_ended_never_showed_its_time(self):
        wall = recorded.figure("wall_seconds", 3600, "seconds")
        peak = recorded.figure("memory_peak_bytes", 4 * GIB, "bytes")
        asked = self.advice(wall, peak, exit_code=143, signal=15, limit="time",
                            limit_words="it took longer than 1 h")
        self.assertIsNone(asked["time_seconds"])
        asked = self.advice(wall, peak, exit_code=143, signal=15, limit="memory")
        self.assertEqual(asked["memory_bytes"], 8 * GIB)

    def test_a_run_that_failed_may_have_needed_more(self):
        path = self.account(recorded.account([recorded.figure("wall_seconds", 1, "seconds")],
                                             exit_code=3))
        for arguments in ((), ("--advice", "slurm"), ("--advice", "kubernetes")):
            self.assertIn("this run failed and may have needed more", self.report(path, *arguments))

    def test_cpus(self):
        def asked(mean, most=None):
            figures = [recorded.figure("cpu_cores", mean, "cores")]
            if most is not None:
                figures.append(recorded.figure("cpu_peak_cores", most, "cores", "sampled"))
            return self.advice(*figures)["cpus"]

        self.assertEqual(asked(0.02), 1)
        self.assertEqual(asked(2.3), 3)
        self.assertEqual(asked(2.3, 4.05), 4)
        self.assertEqual(asked(2.3, 4.4), 5)

    def test_what_is_not_known_is_not_asked_for(self):
        self.assertEqual(self.advice(), {"cpus": None, "memory_bytes": None, "gpus": 0,
                                         "gpu_memory_bytes": None, "time_seconds": None})
        path = self.account(recorded.account([]))
        text = self.report(path, "--advice", "slurm")
        self.assertNotIn("#SBATCH", text)
        self.assertIn("# memory: the memory it needed is not known", text)

    def test_a_peak_of_zero_is_none(self):
        for name in ("memory_resident_peak_bytes", "memory_peak_low_bytes", "memory_peak_high_bytes"):
            self.assertIsNone(self.advice(recorded.figure(name, 0, "bytes", "sampled"))["memory_bytes"])

    def test_what_no_machine_has_is_not_asked_for(self):
        for name, unit, value in (("wall_seconds", "seconds", -5), ("wall_seconds", "seconds", 1e30),
                                  ("memory_peak_bytes", "bytes", 1e300),
                                  ("memory_peak_bytes", "bytes", -1)):
            path = self.account(recorded.account([recorded.figure(name, value, unit)]))
            done = vitals("report", "--advice", "slurm", path)
            self.assertEqual((done.returncode, done.stdout), (1, ""), name)
            self.assertIn("more than any machine has", done.stderr)
        path = self.account(recorded.account([recorded.figure("memory_peak_bytes", 2.0**62,
                                                              "bytes")]))
        text = self.report(path, "--advice", "slurm")
        self.assertNotIn("#SBATCH --mem", text)
        self.assertIn("# memory: no machine has what the account says", text)

    def test_an_idle_device_is_not_asked_for(self):
        def device(uuid, busy):
            return [recorded.figure("gpu_memory_peak_bytes", 3 * GIB, "bytes", "sampled",
                                    subject=uuid),
                    recorded.figure("gpu_busy_ratio", busy, "ratio", "sampled", subject=uuid)]

        asked = self.advice(*device("GPU-a", 0.7), *device("GPU-b", 0.001))
        self.assertEqual((asked["gpus"], asked["gpu_memory_bytes"]), (1, 4 * GIB))

    def test_slurm(self):
        text = self.report(self.account(recorded.training()), "--advice", "slurm")
        self.assertEqual(text, "#SBATCH --cpus-per-task=8\n#SBATCH --mem=46G\n#SBATCH --gpus=2\n"
                               "#SBATCH --time=1:30:00\n# each GPU needs 79 GiB of memory\n")

    def test_kubernetes(self):
        text = self.report(self.account(recorded.training()), "--advice", "kubernetes")
        self.assertEqual(text, 'resources:\n  requests:\n    cpu: "8"\n    memory: 46Gi\n'
                               "  limits:\n    memory: 46Gi\n    nvidia.com/gpu: 2\n"
                               "# each GPU needs 79 GiB of memory\n")

    def test_an_unknown_form(self):
        path = self.account(recorded.training())
        for option, word in (("--advice", "pbs"), ("--format", "yaml")):
            done = vitals("report", path, option, word)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, rf'vitals: {option}: "{word}" is not accepted; give \w')


class Files(Report):
    def test_no_file(self):
        for arguments, words in (((), "no file"), (("a", "b"), "one file, not 2")):
            done = vitals("report", *arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)

    def test_a_file_that_is_none(self):
        path = self.folder / "notes.txt"
        path.write_text("buy milk\n")
        for file in (path, self.folder / "nowhere.db", self.folder):
            done = vitals("report", file)
            self.assertEqual((done.returncode, done.stdout), (1, ""), file)
            self.assertRegex(done.stderr, r"^vitals: [^\n]+\n$")

    def test_a_page_is_never_put_in_the_place_of_its_recording(self):
        path = self.account(recorded.training())
        before = path.read_bytes()
        done = vitals("report", path, "--html", self.folder / "." / path.name)
        self.assertEqual((done.returncode, path.read_bytes()), (2, before))
        self.assertIn("the recording itself", done.stderr)

    def test_a_page_that_cannot_be_written(self):
        done = vitals("report", self.account(recorded.training()), "--html",
                      self.folder / "no" / "page.html")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"page\.html: No such file or directory")

    def test_a_folder_of_jobs(self):
        self.account(recorded.account([recorded.figure("wall_seconds", 90.0, "seconds"),
                                       recorded.figure("cpu_seconds", 45.0, "seconds"),
                                       recorded.figure("memory_peak_low_bytes", 1 * GIB, "bytes"),
                                       recorded.figure("memory_peak_high_bytes", 2 * GIB, "bytes")],
                                      exit_code=3, command=HOSTILE, host="node17"), "10.batch.json")
        self.account(recorded.training(), "9.batch.json")
        (self.folder / "notes.txt").write_text("no account")
        lines = self.report("--jobs", self.folder).splitlines()
        self.assertEqual(lines[0].split()[:4], ["JOB", "STATE", "EXIT", "TIME"])
        self.assertEqual([line.split()[0] for line in lines[1:]], ["9.batch", "10.batch"])
        ended = lines[2].split()
        for words in ("3", "2048MiB", "node17", "N/A"):
            self.assertIn(words, ended)
        self.assertNotIn("\x1b", lines[2])

    def test_a_job_that_is_none_is_named_and_the_others_are_shown(self):
        self.account(recorded.training(), "1.json")
        (self.folder / "2.json").write_text("{")
        done = vitals("report", "--jobs", self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("2.json", done.stderr)
        self.assertEqual(done.stdout.splitlines()[1].split()[0], "1")
        done = vitals("report", "--jobs", self.folder, "run.db")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("run.db would be ignored", done.stderr)
        done = vitals("report", "--jobs", self.folder / "nowhere")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"nowhere: No such file or directory")


if __name__ == "__main__":
    unittest.main()
