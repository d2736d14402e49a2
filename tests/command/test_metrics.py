"""`vitals metrics`: the catalogue; and the manual page, whose table of options is generated."""

import json
import shutil
import subprocess
import unittest

from harness import SOURCE, vitals

SUFFIXES = {
    "bytes": "_bytes", "seconds": "_seconds", "celsius": "_celsius", "watts": "_watts",
    "joules": "_joules", "hertz": "_hertz", "ratio": "_ratio", "cores": "_cores", "rpm": "_rpm",
    "volts": "_volts", "bytes_per_second": "_bytes_per_second",
}


def catalogue():
    return json.loads(vitals("metrics", "--json").stdout)


class Manual(unittest.TestCase):
    def test_the_manual_is_one(self):
        if shutil.which("man") is None:
            self.skipTest("man is not installed")
        result = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z",
                                 SOURCE / "docs" / "vitals.1"], capture_output=True, text=True, check=False,
                                timeout=60)
        self.assertEqual((result.returncode, result.stderr), (0, ""))


class Catalogue(unittest.TestCase):
    def test_numbers_and_names_are_unique(self):
        tables = catalogue()["tables"]
        numbers = [metric["number"] for table in tables for metric in table["metrics"]]
        self.assertEqual(len(numbers), len(set(numbers)))
        self.assertEqual(numbers, sorted(numbers))
        for table in tables:
            names = [metric["name"] for metric in table["metrics"]]
            self.assertEqual(len(names), len(set(names)), table["name"])
            self.assertTrue(all(metric["number"] >> 8 == table["number"]
                                for metric in table["metrics"]))

    def test_names_end_with_their_units(self):
        for table in catalogue()["tables"]:
            for metric in table["metrics"]:
                with self.subTest(table=table["name"], metric=metric["name"]):
                    self.assertRegex(metric["name"], r"\A[a-z][a-z0-9_]*\Z")
                    if metric["unit"]:
                        self.assertTrue(metric["name"].endswith(SUFFIXES[metric["unit"]]))
                    else:
                        self.assertFalse(metric["name"].endswith(tuple(SUFFIXES.values())))
                    self.assertTrue(metric["help"].endswith("."))
                    self.assertTrue(metric["source"])

    def test_the_list_holds_every_metric(self):
        lines = vitals("metrics").stdout.splitlines()
        for table in catalogue()["tables"]:
            self.assertIn(f"{table['name']}: {table['help']}", lines)
            for metric in table["metrics"]:
                self.assertTrue(any(line.split()[:1] == [metric["name"]] and metric["help"] in line
                                    for line in lines), metric["name"])

    def test_words_that_a_row_has_anyway_name_no_metric(self):
        for table in catalogue()["tables"]:
            names = {metric["name"] for metric in table["metrics"]}
            taken = {"key", "parent", "label", "age_ns", "ages_ns", "availability"}
            self.assertEqual(names & taken, set())


if __name__ == "__main__":
    unittest.main()
