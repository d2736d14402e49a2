"""The test tools themselves: a failure must be seen, counted and explained.

A suite that cannot fail proves nothing; so here are a C program and a Python file full of failures.
"""

import json
import os
import pathlib
import runpy
import signal
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))
FALSE_CLAIMS = os.environ.get("VITALS_FALSE_CLAIMS")

PYTHON_CASES = '''
import os, unittest
class Cases(unittest.TestCase):
    def test_good(self): os.system("echo not ok 99 - printed by a child")
    def test_wrong(self): self.assertEqual(1, 2, "the reason")
    def test_broken(self): raise KeyError("lost")
    def test_rows(self):
        for row in (1, 2, 3):
            with self.subTest(row=row): self.assertNotEqual(row, 2)
    @unittest.skip("not here")
    def test_skipped(self): pass
'''


class Check(unittest.TestCase):
    """tests/unit/check.h."""

    EXPLANATIONS = (
        "1 + 1 == 3 does not hold",
        "1 + 1 is 2, expected 3",
        "UINT64_MAX is 18446744073709551615 (0xffffffffffffffff), expected 255 (0xff)",
        "1.5 is 1.5, expected 1 within 0.25",
        "nan, expected 0 within 1",
        'differs at byte 1\n  is       3 bytes "a\\x0ab"\n  expected 3 bytes "a b"',
        'nothing is NULL, expected "a"',
        'differs at byte 2\n  is       3 bytes "a\\x00b"\n  expected 3 bytes "a\\x00c"',
        '"hay" does not hold "needle"; it is\nhay',
        "-3 returned -3: the disk is full",
        'table row, case "second": rows[i].value is 3, expected 2',
        "false_claims.c:9: condition: ",
        "crash, case boom: crashed",
    )

    def setUp(self):
        if FALSE_CLAIMS is None:
            self.skipTest("built without cmocka")
        self.run_ = subprocess.run([FALSE_CLAIMS], capture_output=True, text=True, check=False)

    def test_every_false_claim_fails(self):
        results = [line for line in self.run_.stdout.splitlines() if line.startswith(("ok", "not"))]
        self.assertEqual(len(results), 12, self.run_.stderr)
        failed = [line for line in results if line.startswith("not ok")]
        self.assertEqual(len(failed), 11, self.run_.stderr)
        self.assertEqual(results[-1], "ok 12 - skipped # SKIP no such hardware")
        self.assertEqual(self.run_.returncode, -signal.SIGSEGV)

    def test_every_failure_is_explained(self):
        for text in self.EXPLANATIONS:
            with self.subTest(text=text):
                self.assertIn(text, self.run_.stderr)


class Tap(unittest.TestCase):
    """tests/tap.py."""

    def say(self, *names):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "cases.py"
            path.write_text(PYTHON_CASES)
            self.run_ = subprocess.run(
                [sys.executable, SOURCE / "tests/tap.py", path, *names],
                capture_output=True, text=True, check=False,
            )
        return self.run_.stdout.splitlines()

    def setUp(self):
        self.lines = self.say()

    def test_each_case_is_one_line(self):
        self.assertEqual(
            [line for line in self.lines if not line.startswith("#")],
            [
                "not ok 1 - cases.Cases.test_broken",
                "ok 2 - cases.Cases.test_good",
                "not ok 3 - cases.Cases.test_rows (row=2)",
                "ok 4 - cases.Cases.test_skipped # SKIP not here",
                "not ok 5 - cases.Cases.test_wrong",
                "1..5",
            ],
        )

    def test_one_case_by_its_name(self):
        self.assertEqual(self.say("cases.Cases.test_good"), ["ok 1 - cases.Cases.test_good", "1..1"])
        self.assertIn("1..5", self.say("cases.Cases.test_good", "cases.Cases.test_absent"))

    def test_the_reason_is_told(self):
        for text in ("the reason", "lost", "line 5, in test_wrong", "printed by a child"):
            self.assertIn(text, self.run_.stderr)
        self.assertNotEqual(self.run_.returncode, 0)


class Count(unittest.TestCase):
    """scripts/run-tests: what Meson's log says, as three numbers."""

    CASES = (
        ("all good", "OK", "1..2\nok 1 - a\nok 2\n", (2, 0, 0)),
        ("one bad", "FAIL", "ok 1 - a\nnot ok 2 - b\n1..2\n", (1, 1, 0)),
        ("a skip", "OK", "ok 1 - a # SKIP no GPU\n1..1\n", (0, 0, 1)),
        ("a crash after good cases", "ERROR", "1..3\nok 1 - a\n", (1, 1, 0)),
        ("too slow", "TIMEOUT", "", (0, 1, 0)),
        ("all skipped", "SKIP", "1..0 # SKIP no cmocka\n", (0, 0, 1)),
        ("nothing said", "FAIL", None, (0, 1, 0)),
        ("talk is no result", "OK", "1..1\nok 1 - a\n# not ok\nokay\n", (1, 0, 0)),
    )

    def test_counts(self):
        count = runpy.run_path(str(SOURCE / "scripts/run-tests"))["count"]
        for name, result, stdout, expected in self.CASES:
            with self.subTest(name):
                log = json.loads(json.dumps({"result": result, "stdout": stdout}))
                self.assertEqual(count(log), expected)

    STDERR = """t.c:9: sum: 1 + 1 is 2, expected 3
--- cases.Cases.test_wrong
Traceback (most recent call last):
AssertionError: 1 != 2 : the reason
--- cases.Cases.test_broken
KeyError: 'lost'
"""

    def test_failures_are_named(self):
        failures = runpy.run_path(str(SOURCE / "scripts/run-tests"))["failures"]
        for result, stdout, stderr, expected in (
                ("FAIL", "not ok 1 - sum\nok 2 - b\n1..2\n", self.STDERR,
                 ["1 - sum: t.c:9: sum: 1 + 1 is 2, expected 3"]),
                ("FAIL", "not ok 1 - cases.Cases.test_broken\nnot ok 2 - cases.Cases.test_wrong\n",
                 self.STDERR, ["1 - cases.Cases.test_broken: KeyError: 'lost'",
                               "2 - cases.Cases.test_wrong: AssertionError: 1 != 2 : the reason"]),
                ("FAIL", "not ok 1 - a\n1..1\n", None, ["1 - a"]),
                ("ERROR", "1..3\nok 1 - a\n", "leak of 8 bytes\nexit 23\n\n", ["ERROR: exit 23"]),
                ("TIMEOUT", "", None, ["TIMEOUT: it said nothing"]),
                ("OK", "ok 1 - a\n1..1\n", "talk", [])):
            with self.subTest(stdout):
                self.assertEqual(
                    failures({"result": result, "stdout": stdout, "stderr": stderr}), expected)

    def test_only_what_a_busy_machine_can_upset_runs_again(self):
        may = runpy.run_path(str(SOURCE / "scripts/run-tests"))["may_run_again"]
        for result, code, stdout, stderr, expected in (
                ("FAIL", 1, "not ok 1 - a\n1..1\n", None, True),
                ("ERROR", 1, "not ok 1 - a\n1..1\n", "AssertionError: 1 != 2", True),
                ("ERROR", -11, "not ok 1 - a\n1..1\n", "", False),
                ("ERROR", 1, "ok 1 - a\n1..2\n", "", False),
                ("TIMEOUT", 0, "", None, False),
                ("ERROR", 1, "not ok 1 - a\n", "ERROR: LeakSanitizer: detected", False),
                ("ERROR", 1, "not ok 1 - a\n", "WARNING: ThreadSanitizer: data race", False),
                ("ERROR", 1, "not ok 1 - a\n", "a.c:1:2: runtime error: shift", False)):
            with self.subTest((result, code, stdout, stderr)):
                self.assertEqual(may({"result": result, "returncode": code, "stdout": stdout,
                                      "stderr": stderr}), expected)

    def test_cases_of_python_run_again_alone(self):
        tools = runpy.run_path(str(SOURCE / "scripts/run-tests"))
        for stdout, expected in (
                ("ok 1 - t.C.test_a\nnot ok 2 - t.C.test_b\nnot ok 3 - t.C.test_c (row=2)\n"
                 "not ok 4 - t.C.test_c (row=3)\n1..4\n", ["t.C.test_b", "t.C.test_c"]),
                ("not ok 1 - t.C.test_a\nnot ok 2 - setUpClass (t.C)\n", []),
                ("not ok 1 - half a number is none\n", []), (None, [])):
            with self.subTest(stdout):
                self.assertEqual(tools["failed_cases"]({"stdout": stdout}), expected)
        first = {"result": "FAIL", "stdout": "ok 1 - t.C.test_a\nnot ok 2 - t.C.test_b\n1..2\n", "duration": 3}
        second = {"result": "OK", "stdout": "ok 1 - t.C.test_b\n1..1\n", "duration": 1}
        both = tools["merged"](first, second)
        self.assertEqual((tools["count"](both), both["result"], both["duration"]), ((2, 0, 0), "OK", 4))

    def test_tests_are_chosen_by_words(self):
        """The longest first; a word with "!" takes away."""
        chosen = runpy.run_path(str(SOURCE / "scripts/run-tests"))["chosen"]
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder)
            (build / "meson-info").mkdir()
            (build / "meson-info/intro-tests.json").write_text(json.dumps(
                [{"name": name, "suite": [f"vitals:{suite}"], "priority": priority} for name, suite, priority in (
                    ("unit_a", "unit", 0), ("unit_b", "unit", 10), ("unit_c", "unit", 0), ("run", "command", -10),
                    ("ps", "command", 0), ("page", "servers", 0))]))
            for words, expected in (
                    ([], ["--no-suite=servers"]), (["unit"], ["--suite=unit"]),
                    (["run", "unit"], ["unit_b", "unit_a", "unit_c", "run"]),
                    (["unit", "!a"], ["unit_b", "unit_c"]), (["p*"], ["page", "ps"])):
                with self.subTest(words):
                    self.assertEqual(chosen(build, words), expected)

    def test_the_ten_slowest_are_named(self):
        slowest = runpy.run_path(str(SOURCE / "scripts/run-tests"))["slowest"]
        programs = [{"name": f"program {i}", "duration": i / 8} for i in (3, 12, 1, 8, 2, 9, 4, 11, 5, 10, 6, 7)]
        self.assertEqual(slowest(programs), [f"{i / 8:.1f} s: program {i}" for i in range(12, 2, -1)])
        self.assertEqual(slowest(programs[:1]), ["0.4 s: program 3"])

    def test_skips_are_named(self):
        skips = runpy.run_path(str(SOURCE / "scripts/run-tests"))["skips"]
        for result, stdout, expected in (
                ("OK", "ok 1 - a # SKIP no GPU\nok 2 - b\n1..2\n", ["1 - a: no GPU"]),
                ("SKIP", "1..0 # SKIP no cmocka\n", ["all: no cmocka"]),
                ("SKIP", None, ["all: no reason given"]),
                ("OK", "ok 1 - a\n1..1\n", [])):
            with self.subTest(stdout):
                self.assertEqual(skips({"result": result, "stdout": stdout}), expected)


if __name__ == "__main__":
    unittest.main()
