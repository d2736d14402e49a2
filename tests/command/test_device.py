"""`vitals device` seen from outside: what it says of each device as text, columns, CSV and JSON, and what
it says where there is none."""

import csv
import io
import json
import os
import pathlib
import re
import tempfile
import unittest

import jsonschema
from harness import SOURCE, nvml, started, vitals, wait_until

SCHEMA = json.loads((SOURCE / "docs" / "schema" / "snapshot.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def demo(*arguments, scenario="default"):
    return vitals("device", f"--demo={scenario}", *arguments, env={"LC_ALL": "C.UTF-8"})


def simulated(*arguments, scenario="two-healthy"):
    path = SOURCE / "tests" / "nvml" / "scenarios" / f"{scenario}.conf"
    return vitals("device", "--nvml", nvml("r580"), "--backends", "nvidia", *arguments,
                  env={"VITALS_NVML_SCENARIO": path, "LC_ALL": "C.UTF-8"})


def sections(text):
    """Device's first line -> title -> its lines."""
    found, head, title = {}, None, None
    for block in text.split("\n\n"):
        lines = block.splitlines()
        if re.match(r"\d+(:\d+)?  ", lines[0]):
            head, found[lines[0]] = lines[0], {}
        else:
            title = lines[0]
            found[head][title] = lines[1:]
    return found


class Text(unittest.TestCase):
    def test_each_device_in_sections(self):
        done = simulated(scenario="two-healthy")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = sections(done.stdout)
        self.assertEqual(len(found), 2)
        for device in found.values():
            for title in ("Identity", "Driver", "Load", "Memory", "Clocks", "Power",
                          "Temperature and sensors", "PCI Express", "Errors"):
                self.assertIn(title, device)
            text = "\n".join(sum(device.values(), []))
            for value in ("GPU-", "0.00GiB", "°C", "MHz", " W\n", "kept by the driver"):
                self.assertIn(value, text)

    def test_no_line_is_wider_than_asked(self):
        for width in (79, 80, 100, 120):
            for arguments in ([], ["--verbose"]):
                with self.subTest(f"{width} {arguments}"):
                    text = simulated("--width", width, *arguments, scenario="mig").stdout
                    self.assertLessEqual(max(map(len, text.splitlines())), width)

    def test_ascii(self):
        text = simulated("--ascii").stdout
        self.assertTrue(text.isascii())
        self.assertIn(" C\n", text)

    def test_nothing_is_said_twice_or_with_its_number_unprinted(self):
        for scenario in ("default", "many", "broken", "idle", "strangers"):
            text = demo("--verbose", scenario=scenario).stdout
            # Command lines are the machine's own, and may say anything.
            text = "\n".join(line for device in sections(text).values()
                             for title, lines in device.items() if title != "Processes"
                             for line in lines)
            self.assertIn("UUID", text)
            self.assertNotRegex(text, r"\bunset\b|\bnan\b|\binf\b|1\.8e\+|18446744073709551615|\(null\)")

    def test_why_values_are_missing(self):
        brief, verbose = demo("3").stdout, demo("3", "--verbose").stdout
        self.assertRegex(brief, r"(?m)^  N/A +\w")
        self.assertNotIn("does not have it", brief)
        self.assertRegex(verbose, r"(?s)N/A.*: \w+")

    def test_a_lost_device_says_so(self):
        done = demo("0", scenario="broken")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout.splitlines()[0], "lost")
        self.assertNotIn("0B", done.stdout)
        self.assertNotIn("N/A", done.stdout)  # that everything is missing needs no list
        self.assertIn("serial", demo("0", "--verbose", scenario="broken").stdout)

    def test_hostile_names_stay_text(self):
        text = simulated("--verbose", scenario="hostile-names").stdout
        self.assertNotRegex(text, r"[\x00-\x09\x0b-\x1f\x7f]")

    def test_color_adds_nothing_but_color(self):
        plain, colored = demo("0", "--delay", "0", "--ascii"), demo("0", "--delay", "0", "--ascii",
                                                                     "--force-color")
        stripped = re.sub(r"\x1b\[[0-9;]*m", "", colored.stdout)
        self.assertIn("\x1b[", colored.stdout)
        self.assertEqual(re.sub(r"\d", "", stripped.split("Load")[0]),
                         re.sub(r"\d", "", plain.stdout.split("Load")[0]))


class Names(unittest.TestCase):
    def labels(self, *names):
        done = demo(*names, "-o", "label", "--no-header")
        return done.returncode, done.stdout.split(), done.stderr

    def test_by_number_uuid_and_address(self):
        for names, expected in [
            (["0"], ["0"]), (["1:1"], ["1:1"]), (["1"], ["1", "1:0", "1:1"]),
            (["00000000:17:00.0"], ["0"]), (["17:00.0"], ["0"]), (["GPU-demo-0005"], ["3"]),
            (["mig-DEMO-0003"], ["1:1"]), (["3", "0"], ["0", "3"]), (["0", "0"], ["0"]),
        ]:
            with self.subTest(names):
                self.assertEqual(self.labels(*names), (0, expected, ""))

    def test_what_is_not_there_is_named_and_the_rest_shown(self):
        for name, message in [
            ("7", "there is no GPU 7"), ("GPU-demo-9", "there is no GPU GPU-demo-9"),
            ("GPU-demo-000", "GPU-demo-0000, GPU-demo-0001"), ("99:00.0", "there is no GPU 99:00.0"),
            ("x\ny", "not a GPU; give a number, UUID or PCI address"),
        ]:
            with self.subTest(name):
                code, labels, message_there = self.labels(name, "0")
                self.assertEqual((code, labels), (1, ["0"]))
                self.assertIn(message, message_there)
                self.assertEqual(message_there.count("\n"), 1)


class Work(unittest.TestCase):
    """What processes belong to: the demo invents it, in the columns of real ones."""

    METRICS = ("container", "container_name", "unit", "slurm_job", "slurm_step", "pod", "pod_name",
               "pod_namespace")

    def work(self, *arguments, scenario="default"):
        """What each process on each device belongs to, in the order of devices."""
        tables = json.loads(demo("--json", *arguments, scenario=scenario).stdout)["tables"]
        processes = {row["key"]: row for row in tables["process"]}
        return [{name: processes[user["process"]][name] for name in self.METRICS}
                for user in sorted(tables["gpu_process"], key=lambda user: user["parent"])
                if user["process"] is not None]

    def setUp(self):
        # The demo takes the newest programs. Of a busy machine's some are gone before they are read.
        for _ in range(6):
            child = started(["sleep", "600"])
            self.addCleanup(child.wait)
            self.addCleanup(child.kill)

    def test_of_every_kind(self):
        found = []

        def there():
            found[:] = self.work()
            return len(found) == 6
        wait_until(there, "six processes that live while they are read")
        for name in self.METRICS:
            self.assertTrue(any(one[name] for one in found), name)
        for one in found:
            self.assertEqual(bool(one["pod"]), bool(one["pod_name"]), one)
            self.assertEqual(bool(one["slurm_job"]), bool(one["slurm_step"]), one)
            self.assertIn(one["container"][:64], one["unit"] if one["container"] else "")

    def test_beside_real_devices_no_work_is_made_up(self):
        """The demo's devices have the machine's processes, whose work is then their own."""
        def jobs(*arguments):
            done = vitals("ps", "--gpu", "--json", "-o", "pid,slurm_job", *arguments)
            return [row["slurm_job"] for row in json.loads(done.stdout)["tables"]["process"]
                    if row["slurm_job"] == "4711"]
        wait_until(lambda: jobs("--demo"), "a job that is made up")
        for _ in range(3):
            self.assertEqual(jobs("--backends", "nvidia,demo", "--nvml", "/nowhere.so"), [])

    def test_of_nobody_without_the_demo_or_with_strangers(self):
        tables = json.loads(demo("--json", scenario="strangers").stdout)["tables"]
        alive = {user["pid"] for user in tables["gpu_process"] if os.path.exists(f"/proc/{user['pid']}")}
        if alive:  # a stranger's number is somebody's here
            self.skipTest(f"the machine has processes {alive}")
        self.assertEqual(self.work(scenario="strangers"), [])
        plain = json.loads(vitals("ps", "--json", "-o", "pid,slurm_job").stdout)
        self.assertNotIn("4711", {row["slurm_job"] for row in plain["tables"]["process"]})

    def test_is_shown(self):
        for width, shown in ((80, False), (120, True)):
            with self.subTest(width):
                report = lambda: vitals("-1", "--demo", "--width", width, env={"LC_ALL": "C.UTF-8"}).stdout
                if shown:
                    wait_until(lambda: "job 4711.0" in report(), "a job in the report")
                else:
                    self.assertNotIn("job 4711", report())
                wait_until(lambda: "job 4711.0" in demo("0", "--width", width).stdout, "a job on device 0")
                self.assertLessEqual(max(map(len, demo("0", "--width", width).stdout.splitlines())), width)


class Columns(unittest.TestCase):
    def test_none_that_was_asked_for_is_left_out(self):
        names = "label,name,memory_used_bytes,utilization_ratio,power_watts,temperature_celsius,uuid"
        for width in (79, 80, 120):
            with self.subTest(width):
                lines = demo("-o", names, "--width", width).stdout.splitlines()
                self.assertEqual(lines[0].split(), names.upper().split(","))
                self.assertRegex(lines[1], r" GPU-demo-0000$")

    def test_an_empty_name(self):
        done = demo("-o", "name,,label")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("name,,label", done.stderr)
        self.assertIn("Try: vitals device --help", done.stderr)

    def test_titles_and_rows(self):
        lines = demo("-o", "label,name=WHO,memory_used_bytes,utilization_ratio").stdout.splitlines()
        self.assertEqual(lines[0].split(), ["LABEL", "WHO", "MEMORY_USED_BYTES", "UTILIZATION_RATIO"])
        self.assertEqual(len(lines), 7)
        self.assertRegex(lines[1], r"^0 +NVIDIA H100 80GB HBM3 +[\d.]+GiB +\d+ %$")
        self.assertEqual(len(demo("-o", "label", "--no-header").stdout.splitlines()), 6)

    def test_csv_in_base_units(self):
        done = demo("--csv", "-o", "label,name,memory_total_bytes,power_watts,fan_ratio", "0")
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual(len(rows), 1)
        self.assertEqual(rows[0]["memory_total_bytes"], str(80 << 30))
        self.assertEqual(rows[0]["fan_ratio"], "")
        self.assertGreater(float(rows[0]["power_watts"]), 10)

    def test_csv_without_columns_has_every_metric(self):
        rows = list(csv.DictReader(io.StringIO(demo("--csv").stdout)))
        catalogue = json.loads(vitals("metrics", "--json").stdout)
        gpu = next(table for table in catalogue["tables"] if table["name"] == "gpu")
        self.assertEqual(list(rows[0]), ["label"] + [metric["name"] for metric in gpu["metrics"]])
        self.assertEqual(len(rows), 6)

    def test_unknown_columns(self):
        done = demo("-o", "label,memory_usd_bytes")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("memory_used_bytes", done.stderr)
        self.assertEqual(demo("-o", ",").returncode, 2)

    def test_again_and_again(self):
        done = demo("0", "-o", "label,power_watts", "--csv", "--interval", "20ms", "--count", "3")
        self.assertEqual(len(done.stdout.splitlines()), 4)


class Json(unittest.TestCase):
    def test_a_snapshot_with_all_tables(self):
        done = simulated("--json", scenario="two-healthy")
        document = json.loads(done.stdout)
        VALIDATOR.validate(document)
        for table in ("gpu", "gpu_engine", "gpu_sensor", "gpu_clock", "gpu_pool", "gpu_process",
                      "gpu_link", "gpu_error", "gpu_peer"):
            self.assertIn(table, document["tables"])
        self.assertEqual(len(document["tables"]["gpu"]), 2)
        self.assertNotIn("unset", done.stdout)

    def test_only_what_belongs_to_a_device(self):
        document = json.loads(demo("--json", "1").stdout)
        VALIDATOR.validate(document)
        keys = {row["key"] for row in document["tables"]["gpu"]}
        self.assertEqual([row["label"] for row in document["tables"]["gpu"]], ["1", "1:0", "1:1"])
        for name, rows in document["tables"].items():
            if name.startswith("gpu_"):
                self.assertLessEqual({row["parent"] for row in rows}, keys, name)
        users = {row["process"] for row in document["tables"]["gpu_process"]} - {None}
        self.assertEqual({row["key"] for row in document["tables"]["process"]}, users)

    def test_a_saved_snapshot_is_shown_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "saved.json")
            path.write_text(demo("--json").stdout, encoding="utf-8")
            shown = vitals("device", "--from", path, "0")
            self.assertEqual((shown.returncode, shown.stderr), (0, ""))
            self.assertIn("NVIDIA H100", shown.stdout.splitlines()[0])
            empty = pathlib.Path(folder, "empty.json")
            empty.write_text("", encoding="utf-8")
            self.assertEqual(vitals("device", "--from", empty).returncode, 1)


class Nothing(unittest.TestCase):
    def test_no_device_is_no_failure_and_is_told(self):
        for arguments in ([], ["-o", "label"], ["--csv"], ["--json"]):
            with self.subTest(arguments):
                done = vitals("device", "--backends", "none", *arguments)
                self.assertEqual(done.returncode, 0)
                self.assertIn("no GPU was found", done.stderr)

    def test_what_kept_a_source_from_looking_is_told(self):
        done = simulated(scenario="init-no-permission")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("nvidia: no permission", done.stderr)

    def test_also_where_one_was_named(self):
        done = simulated("1", scenario="init-no-permission")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("there is no GPU 1", done.stderr)
        self.assertIn("nvidia: no permission", done.stderr)

    def test_but_one_that_was_named_is(self):
        done = vitals("device", "--backends", "none", "0")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("there is no GPU 0", done.stderr)
        self.assertIn("vitals doctor", done.stderr)


if __name__ == "__main__":
    unittest.main()
