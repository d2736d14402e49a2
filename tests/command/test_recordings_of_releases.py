"""Recordings and accounts of every release are read by this one, to the last figure
(tests/fixtures/recordings/record makes them)."""

import contextlib
import json
import sqlite3
import subprocess
import unittest

from harness import SOURCE, VITALS, environment, reads_json, vitals

RELEASES = sorted(path for path in (SOURCE / "tests" / "fixtures" / "recordings").iterdir() if path.is_dir())
VERSION = vitals("--version").stdout
HAS_SQLITE, HAS_ZLIB = "SQLite" in VERSION, "zlib" in VERSION


def readable(release):
    return [path for path in sorted(release.glob("*.*")) if HAS_SQLITE or path.suffix != ".db"]


@unittest.skipUnless(reads_json(), "built without JSON")
class Releases(unittest.TestCase):
    def test_there_is_one_of_the_last_release(self):
        self.assertGreaterEqual(len(RELEASES), 1)
        for release in RELEASES:
            self.assertTrue({"run.db", "plain.db", "run.csv", "account.json", "expected"} <= {p.name for p in release.iterdir()})

    def test_every_figure_is_as_it_was(self):
        for release in RELEASES:
            expected = [line.split("\t") for line in (release / "expected").read_text().splitlines()]
            self.assertGreater(len(expected), 30)
            for name in {line[0] for line in expected} & {path.name for path in readable(release)}:
                done = vitals("report", "--json", str(release / name))
                self.assertEqual(done.returncode, 0, done.stderr)
                found = {(f["name"], f.get("subject", "-")): (f["value"], f["availability"])
                         for f in json.loads(done.stdout)["figures"]}
                for _, figure, subject, value, availability in (line for line in expected if line[0] == name):
                    with self.subTest(f"{release.name}/{name}: {figure} {subject}"):
                        self.assertEqual(found.get((figure, subject)), (json.loads(value), availability))

    def test_phases(self):
        for release in RELEASES:
            for path in readable(release):
                if path.name == "run.db":
                    phases = json.loads(vitals("report", "--json", str(path)).stdout)["phases"]
                    self.assertEqual([phase["name"] for phase in phases], ["load"])

    def test_its_screens(self):
        if not HAS_SQLITE:
            self.skipTest("built without SQLite")
        encodings = {"run.db": "binary-zlib", "plain.db": "binary"}  # with zlib and without
        for release in RELEASES:
            for name, encoding in encodings.items():
                with self.subTest(f"{release.name}/{name}"):
                    self.check_screen(release / name, encoding)

    def check_screen(self, path, encoding):
        with contextlib.closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as database:
            self.assertEqual(database.execute("SELECT DISTINCT encoding FROM frames").fetchall(), [(encoding,)])
        if encoding == "binary-zlib" and not HAS_ZLIB:
            self.skipTest("built without zlib")
        done = subprocess.run([VITALS, "replay", path, "--at", "end", "--screen", "120x40"],
                              capture_output=True, text=True, env=environment(), check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("node17", done.stdout)
        self.assertIn("44.00GiB", done.stdout)


if __name__ == "__main__":
    unittest.main()
