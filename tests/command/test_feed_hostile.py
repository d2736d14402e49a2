"""`--from`: whatever the file holds, it is read right or refused with its name and line."""

import copy
import json
import pathlib
import resource
import subprocess
import tempfile
import unittest

from harness import VITALS, environment, reads_json, vitals


def small():
    """A snapshot that is as small as they come, and right."""
    return {
        "schema": 1, "vitals": "0.1.0",
        "host": {"name": "n", "boot_id": "b", "pid_namespace": 7},
        "time": "2026-01-05T10:00:00.000000000Z",
        "realtime_ns": "1767607200000000000", "boottime_ns": "5000000000",
        "monotonic_ns": "5000000000", "stream": 9, "sequence": 1,
        "columns": {"gpu": ["index", "name", "power_watts"], "process": ["pid", "nice"]},
        "tables": {
            "gpu": [{"key": 1, "parent": None, "label": "0", "age_ns": 0, "index": 0,
                     "name": "G", "power_watts": 1.5},
                    {"key": 2, "parent": 1, "label": "0:1", "age_ns": 10, "index": 1,
                     "name": None, "power_watts": 2,
                     "availability": {"name": "denied", "power_watts": "stale"}}],
            "process": [{"key": 3, "parent": 2, "label": "x", "age_ns": -5, "pid": 3, "nice": -20,
                         "ages_ns": {"nice": 70}}],
        },
    }


def changed(path, value):
    """The small one with one value changed, or taken out (Ellipsis)."""
    result = copy.deepcopy(small())
    at = result
    for step in path[:-1]:
        at = at[step]
    if value is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return json.dumps(result)


GPU = ("tables", "gpu", 0)

# file, words of the message
REFUSED = (
    ("{", ("1:", "ends inside")),
    ("[]", ("1:", "begins with {")),
    ("null", ("begins with {",)),
    ("not JSON at all", ("begins with {",)),
    ("\0\0\0\0", ("begins with {",)),
    ("{}", ("1:", "no snapshot of vitals")),
    ('{"a": }', ("1:", "no JSON")),
    ("{]", ("no JSON",)),
    ("\n\n{\n\n]", (":5:", "no JSON")),
    ('{"schema": 1, "schema": 1}', ("duplicate",)),
    ("{" * 100000, ("ends inside",)),
    ("{" * 100000 + "}" * 100000, ("no JSON",)),
    ('{"a":' + "[" * 5000 + "]" * 5000 + "}", ("no JSON",)),
    (changed(("schema",), 2), ("newer vitals", "2")),
    (changed(("schema",), 10**30), ("schema",)),
    (changed(("schema",), 0), ("schema",)),
    (changed(("schema",), "1"), ("schema",)),
    (changed(("schema",), 1.5), ("schema",)),
    (changed(("host",), ...), ("host",)),
    (changed(("host",), []), ("host",)),
    (changed(("host", "name"), 3), ("name",)),
    (changed(("host", "pid_namespace"), -1), ("pid_namespace",)),
    (changed(("realtime_ns",), ...), ("realtime_ns",)),
    (changed(("realtime_ns",), 3), ("realtime_ns",)),
    (changed(("realtime_ns",), "-3"), ("realtime_ns",)),
    (changed(("realtime_ns",), ""), ("realtime_ns",)),
    (changed(("realtime_ns",), "3 "), ("realtime_ns",)),
    (changed(("realtime_ns",), "007"), ("realtime_ns",)),
    (changed(("realtime_ns",), "3\0"), ("realtime_ns",)),
    (changed(("realtime_ns",), "18446744073709551616"), ("realtime_ns",)),
    (changed(("realtime_ns",), "9" * 1000), ("realtime_ns",)),
    (changed(("stream",), ...), ("stream",)),
    (changed(("stream",), 2**53 + 2), ("stream",)),
    (changed(("sequence",), -1), ("sequence",)),
    (changed(("columns",), ...), ("columns",)),
    (changed(("columns", "gpu"), 3), ("columns.gpu",)),
    (changed(("columns", "gpu"), ...), ("columns.gpu",)),
    (changed(("columns", "gpu"), [3]), ("columns.gpu[0]",)),
    (changed(("columns", "gpu"), ["name"] * 1000), ("columns.gpu",)),
    (changed(("tables",), ...), ("tables",)),
    (changed(("tables",), []), ("tables",)),
    (changed(("tables", "gpu"), ...), ("tables.gpu",)),
    (changed(("tables", "gpu"), {}), ("tables.gpu",)),
    (changed(("tables", "gpu"), [None]), ("tables.gpu[0].key",)),
    (changed(("tables", "gpu"), ["x"]), ("tables.gpu[0].key",)),
    (changed((*GPU, "key"), ...), ("tables.gpu[0].key",)),
    (changed((*GPU, "key"), "1"), ("tables.gpu[0].key",)),
    (changed((*GPU, "key"), -1), ("tables.gpu[0].key",)),
    (changed((*GPU, "key"), 2**53 + 2), ("tables.gpu[0].key",)),
    (changed((*GPU, "key"), 2), ("2",)),
    (changed((*GPU, "key"), 0), ("gpu", "key")),
    (changed((*GPU, "ages_ns"), []), ("tables.gpu[0].ages_ns",)),
    (changed((*GPU, "ages_ns"), {"name": "1"}), ("tables.gpu[0].ages_ns",)),
    (changed((*GPU, "ages_ns"), {"name": 10**10}), ("tables.gpu[0].ages_ns",)),
    (changed((*GPU, "parent"), ...), ("tables.gpu[0].parent",)),
    (changed((*GPU, "parent"), "x"), ("tables.gpu[0].parent",)),
    (changed((*GPU, "label"), None), ("tables.gpu[0].label",)),
    (changed((*GPU, "age_ns"), ...), ("tables.gpu[0].age_ns",)),
    (changed((*GPU, "age_ns"), 0.5), ("tables.gpu[0].age_ns",)),
    (changed((*GPU, "age_ns"), 5000000001), ("tables.gpu[0].age_ns", "clock")),
    (changed((*GPU, "index"), ...), ("tables.gpu[0].index", "missing")),
    (changed((*GPU, "index"), "0"), ("tables.gpu[0].index",)),
    (changed((*GPU, "index"), -1), ("tables.gpu[0].index",)),
    (changed((*GPU, "index"), 1e300), ("tables.gpu[0].index",)),
    (changed((*GPU, "index"), True), ("tables.gpu[0].index",)),
    (changed((*GPU, "index"), None), ("tables.gpu[0].index", "without a reason")),
    (changed((*GPU, "name"), 3), ("tables.gpu[0].name",)),
    (changed((*GPU, "name"), {}), ("tables.gpu[0].name",)),
    (changed((*GPU, "power_watts"), "1"), ("tables.gpu[0].power_watts",)),
    (changed((*GPU, "power_watts"), 1.5).replace("1.5", "1e999"), ("no JSON",)),
    (changed((*GPU, "power_watts"), float("nan")), ("no JSON",)),
    (changed((*GPU, "availability"), []), ("tables.gpu[0].availability",)),
    (changed((*GPU, "availability"), {"name": "unset"}), ("tables.gpu[0].name",)),
    (changed((*GPU, "availability"), {"name": "because"}), ("tables.gpu[0].name",)),
    (changed((*GPU, "availability"), {"name": 3}), ("tables.gpu[0].name",)),
    (changed((*GPU, "availability"), {"name": "denied"}), ("tables.gpu[0].name",)),
    (changed(("tables", "gpu", 1, "availability"), {"name": "stale"}), ("tables.gpu[1].name",)),
    (changed(("tables", "process", 0, "nice"), 0.5), ("tables.process[0].nice",)),
)


@unittest.skipUnless(reads_json(), "built without reading JSON")
class Hostile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "saved.json"

    def read(self, text, *more):
        self.file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return vitals("--json", "--from", self.file, *more)

    def refuse(self, result, *words):
        self.assertEqual((result.returncode, result.stdout), (1, ""), result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertTrue(result.stderr.isascii())
        for word in words:
            self.assertIn(word, result.stderr)

    def test_a_right_one_is_read(self):
        result = self.read(json.dumps(small()))
        self.assertEqual(result.stderr, "")
        self.assertEqual(json.loads(result.stdout), small())

    def test_wrong_ones_are_refused_with_their_place(self):
        for text, words in REFUSED:
            with self.subTest(text=text[:200]):
                self.refuse(self.read(text), "saved.json:", *words)

    def test_the_line_is_that_of_the_snapshot(self):
        good = json.dumps(small())
        result = self.read(f"{good}\n\n{good}\n{changed(('host',), 3)}\n{good}\n")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(len(result.stdout.splitlines()), 2)
        self.assertIn("saved.json:4: host", result.stderr)

    def test_a_stream_that_was_cut_gives_what_is_whole(self):
        good = json.dumps(small())
        for cut in (1, 2, 100, len(good) - 1):
            with self.subTest(cut=cut):
                result = self.read(f"{good}\n{good[:cut]}")
                self.assertEqual(result.returncode, 1)
                self.assertEqual(len(result.stdout.splitlines()), 1)
                self.assertIn("saved.json:2:", result.stderr)

    def test_every_cut_of_one_is_refused(self):
        good = json.dumps(small())
        for cut in range(1, len(good), 7):
            self.refuse(self.read(good[:cut]), "saved.json:1:")

    def test_every_broken_byte_ends_well(self):
        good = bytearray(json.dumps(small()).encode())
        for place in range(0, len(good), 11):
            for byte in (0, 0xFF, ord('"'), ord("9"), ord("}")):
                broken = bytearray(good)
                broken[place] = byte
                result = self.read(bytes(broken))
                self.assertIn(result.returncode, (0, 1), result.stderr)
                self.assertEqual(result.returncode == 0, result.stderr == "")

    def test_an_empty_file_is_no_snapshot(self):
        for text in ("", "\n\n  \n"):
            self.refuse(self.read(text), "saved.json: no snapshot in it")

    def test_what_a_newer_vitals_added_is_passed_over(self):
        newer = small()
        newer["news"] = [1]
        newer["columns"]["flux"] = ["density"]
        newer["tables"]["flux"] = [{"key": 1}]
        newer["columns"]["gpu"].append("flux_ratio")
        for row in newer["tables"]["gpu"]:
            row["flux_ratio"] = 0.5
        result = self.read(json.dumps(newer))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(json.loads(result.stdout), small())

    def test_rows_that_nobody_reads_are_json_all_the_same(self):
        newer = small()
        newer["tables"]["flux"] = [{"key": 1}]
        text = json.dumps(newer)
        for broken in ('{"key": }', '{"key": 1} {"key": 2}', '{"key": 1}{}', '{"key": 1, "key": 2}', "{1}"):
            with self.subTest(broken):
                self.refuse(self.read(text.replace('"flux": [{"key": 1}]', f'"flux": [{broken}]')), "this is no JSON")
        self.refuse(self.read(json.dumps(small()).replace("}, {", "} {", 1)), "this is no JSON")

    def test_text_stays_text(self):
        odd = "a\0b\nc\x1b[31m\"\\\u202e\U0001f600"
        result = self.read(changed((*GPU, "name"), odd))
        self.assertEqual(json.loads(result.stdout)["tables"]["gpu"][0]["name"], odd)
        self.assertNotIn("\x1b", result.stdout)

    def test_long_text_does_not_end_the_reader(self):
        result = self.read(changed((*GPU, "name"), "x" * 10_000_000))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(self.read(result.stdout).stdout, result.stdout)

    def test_numbers_at_their_ends(self):
        for value in (0, 2**53, 2**53 - 1):
            text = self.read(changed((*GPU, "index"), value)).stdout
            self.assertEqual(json.loads(text)["tables"]["gpu"][0]["index"], value)
        for value in (0.1, 1e-300, 1.7976931348623157e308, -2.5, 5e-324, 1e22, 123456789012345680.0):
            text = self.read(changed((*GPU, "power_watts"), value)).stdout
            self.assertEqual(json.loads(text)["tables"]["gpu"][0]["power_watts"], value)
            self.assertEqual(self.read(text).stdout, text)

    def test_files_that_are_none(self):
        self.refuse(vitals("--json", "--from", "/nowhere/x.json"), "/nowhere/x.json", "No such file")
        self.refuse(vitals("--json", "--from", "/"), "directory")
        self.refuse(vitals("--json", "--from", ""), "No such file")

    def test_files_that_never_end(self):
        self.refuse(vitals("--json", "--from", "/dev/zero"), "/dev/zero:1:")
        self.refuse(vitals("--json", "--from", "/dev/urandom"), "/dev/urandom:")  # any line: it may begin with newlines

    def test_a_document_that_never_ends_is_refused_within_bounds(self):
        script = f"""(printf '{{"schema": "'; yes | tr -d '\\n') | '{VITALS}' --json --from -"""
        result = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False,
                                env=environment(), timeout=60)
        self.refuse(result, "standard input:1:", "64 MiB")
        peak_kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.assertLess(peak_kib, 1024 * 1024)

    def test_a_name_that_would_move_the_cursor(self):
        self.refuse(vitals("--json", "--from", "/nowhere/\x1b[31m\n" + "x/" * 1500), "No such file")

    def test_the_report_says_the_same(self):
        self.file.write_text("{}")
        result = vitals("-1", "--from", self.file)
        self.refuse(result, "saved.json:1:", "no snapshot of vitals")


if __name__ == "__main__":
    unittest.main()
