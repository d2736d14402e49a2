"""`vitals --json`: its form, its stream, and that it reads back to the same bytes."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

import jsonschema
from harness import SOURCE, VITALS, environment, reads_json, started, vitals

SCHEMA = json.loads((SOURCE / "docs" / "schema" / "snapshot.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

# Worlds that a snapshot can be of: this machine, invented devices, no process at all.
WORLDS = ((), ("--demo",), ("--backends", "none"))


def lines_of(*arguments):
    result = vitals("--json", *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


class Form(unittest.TestCase):
    def test_schema_is_one(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)

    def test_is_that_of_the_schema(self):
        for world in WORLDS:
            with self.subTest(world=world):
                lines = lines_of(*world)
                self.assertEqual(len(lines), 1)
                VALIDATOR.validate(json.loads(lines[0]))

    def test_the_schema_refuses_what_is_wrong(self):
        def drop(name):
            return lambda snapshot: snapshot.pop(name)

        def put(table, **values):
            return lambda snapshot: snapshot["tables"][table][0].update(values)

        breaks = (
            drop("realtime_ns"),
            drop("tables"),
            put("host", memory_total_bytes="1"),
            put("host", memory_total_bytes=-1),
            put("host", cpus=1.5),
            put("host", availability={"cpus": "unset"}),
            put("gpu", name=3),
            put("gpu", key=None),
            lambda snapshot: snapshot.update(schema=2),
            lambda snapshot: snapshot.update(realtime_ns=3),
        )
        good = lines_of("--demo")[0]
        for number, change in enumerate(breaks):
            with self.subTest(number=number):
                snapshot = json.loads(good)
                change(snapshot)
                self.assertFalse(VALIDATOR.is_valid(snapshot))

    def test_no_value_is_without_its_availability(self):
        for world in WORLDS:
            with self.subTest(world=world):
                line = lines_of(*world)[0]
                self.assertNotIn('"unset"', line)
                snapshot = json.loads(line)
                self.assertEqual(set(snapshot["columns"]), set(snapshot["tables"]))
                for table, rows in snapshot["tables"].items():
                    for row in rows:
                        words = row.get("availability", {})
                        for name in snapshot["columns"][table]:
                            known = words.get(name, "have") in (
                                "have", "stale", "estimate", "lower_bound", "upper_bound",
                                "sampled")
                            self.assertEqual(row[name] is not None, known, (table, name))

    def test_holds_this_very_process(self):
        snapshot = json.loads(lines_of()[0])
        rows = {row["pid"]: row for row in snapshot["tables"]["process"]}
        self.assertEqual(rows[os.getpid()]["parent_pid"], os.getppid())
        self.assertEqual(rows[os.getpid()]["uid"], os.getuid())


@unittest.skipUnless(reads_json(), "built without reading JSON")
class RoundTrip(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def check(self, text):
        file = self.folder / "saved.json"
        file.write_text(text)
        result = vitals("--json", "--from", file)
        self.assertEqual(result.stderr, "")
        self.assertEqual(result.stdout, text)
        return file

    def test_of_one(self):
        for world in WORLDS:
            with self.subTest(world=world):
                self.check(vitals("--json", *world).stdout)

    def test_of_a_stream(self):
        file = self.check(vitals("--json", "--demo", "--interval", "20ms", "--count", 5).stdout)
        self.assertEqual(len(file.read_text().splitlines()), 5)
        result = vitals("--json", "--from", file, "--count", 2)
        self.assertEqual(result.stdout.splitlines(), file.read_text().splitlines()[:2])

    def test_of_a_pipe(self):
        text = vitals("--json", "--demo", "--count", 2, "--interval", "10ms").stdout
        result = subprocess.run([VITALS, "--json", "--from", "-"], input=text, text=True,
                                capture_output=True, env=environment(), check=False, timeout=30)
        self.assertEqual((result.stdout, result.stderr), (text, ""))

    def test_whatever_the_spaces(self):
        lines = vitals("--json", "--demo", "--count", 2, "--interval", "10ms").stdout.splitlines()
        file = self.folder / "pretty.json"
        file.write_text("\n\n".join(json.dumps(json.loads(line), indent=3) for line in lines))
        result = vitals("--json", "--from", file)
        self.assertEqual(result.stdout.splitlines(), lines)

    def test_of_what_a_process_may_call_itself(self):
        names = [b"plain", b"a\nb", b"\x1b[31mred", b"\xff\xfe", b'q"\\', "äöü€😀".encode(),
                 b"\xe2\x80\xae right to left", b"x" * 300]
        children = [started([b"sleep", b"60"], executable="/bin/sleep"),
                    *(started([b"vitals-test-" + name, b"60"], executable="/bin/sleep")
                      for name in names)]
        try:
            text = vitals("--json", errors="strict").stdout
        finally:
            for child in children:
                child.kill()
                child.wait()
        lines = {row["pid"]: row["command_line"]
                 for row in json.loads(text)["tables"]["process"]}
        self.assertEqual(lines[children[0].pid].split("\0")[:2], ["sleep", "60"])
        self.assertEqual(lines[children[2].pid].split("\0")[:2], ["vitals-test-a\nb", "60"])
        self.assertIn("\ufffd", lines[children[4].pid])
        self.check(text)

    def test_reading_a_file_reads_no_machine(self):
        file = self.check(vitals("--json", "--demo").stdout)
        result = vitals("--json", "--from", file, "--proc-root", "/nowhere", "--nvml", "/nowhere")
        self.assertEqual(result.stdout, file.read_text())


class Stream(unittest.TestCase):
    def test_keeps_its_rhythm(self):
        snapshots = [json.loads(line) for line in
                     lines_of("--demo", "--interval", "50ms", "--count", "4")]
        times = [int(snapshot["monotonic_ns"]) for snapshot in snapshots]
        # The first may end late, never later than the second begins; from there on it is whole steps.
        self.assertEqual(times, sorted(times))
        self.assertGreaterEqual(times[-1] - times[0], 2 * 50_000_000)
        self.assertEqual(len({snapshot["sequence"] for snapshot in snapshots}), 4)

    def test_ends_when_it_is_told_to_with_whole_lines(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                child = subprocess.Popen([VITALS, "--json", "--demo", "--interval", "20ms"],
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                         env=environment(), text=True)
                first = child.stdout.readline()
                child.send_signal(number)
                rest, errors = child.communicate(timeout=30)
                self.assertEqual((child.returncode, errors), (0, ""))
                for line in (first + rest).splitlines():
                    json.loads(line)

    def test_ends_when_nobody_reads(self):
        child = subprocess.Popen([VITALS, "--json", "--demo", "--interval", "10ms"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        child.stdout.readline()
        child.stdout.close()
        self.assertEqual(child.wait(timeout=30), 0)
        self.assertEqual(child.stderr.read(), b"")
        child.stderr.close()

    def test_a_configured_interval_makes_no_stream(self):
        result = vitals("--json", "--demo", env={"VITALS_INTERVAL": "1"})
        self.assertEqual(len(result.stdout.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
