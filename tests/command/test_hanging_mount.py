"""A file server that gives no answer: commands that ask for the space of file systems end all the same, and
keep no pipe open behind them."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

from cast import unshared
from harness import NO_HOME, SANITIZED, SOURCE, VITALS, environment


class Hangs(unittest.TestCase):
    def beside(self, *arguments):
        prefix = unshared(self, "--mount")
        if not os.access("/dev/fuse", os.R_OK | os.W_OK):
            self.skipTest("no /dev/fuse")
        with tempfile.TemporaryDirectory(prefix="vitals-hangs-") as folder:
            script = SOURCE / "tests" / "command" / "hanging_mount.py"
            done = subprocess.run([*prefix, sys.executable, script, folder, *map(str, arguments)], text=True,
                                  capture_output=True, timeout=120, check=False, env=environment(HOME=NO_HOME))
            if "no FUSE" in done.stderr:
                self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertTrue(found["ended"], f"{arguments} does not end")
        self.assertTrue(found["closed"], f"something that {arguments} left holds its output")
        if SANITIZED and not found["asked"]:
            self.skipTest("a program that a sanitizer slows ended before it asked the file system")
        self.assertTrue(found["asked"], "the file system was never asked")
        return found

    def test_json(self):
        found = self.beside(VITALS, "--json")
        self.assertEqual(found["code"], 0, found["out"])
        table = json.loads(found["out"])["tables"]["filesystem"]
        (row,) = [row for row in table if row["device"] == "hangs"]
        self.assertIsNone(row["total_bytes"])
        self.assertEqual(row["availability"]["total_bytes"], "timed_out")
        self.assertTrue(any(row["total_bytes"] for row in table), "no other is read")

    def test_json_again_and_again(self):
        count = 15 if SANITIZED else 3  # a slow program asks some ticks later
        found = self.beside(VITALS, "--json", "--count", count, "--interval", "0.5")
        self.assertEqual(found["code"], 0, found["out"])
        self.assertEqual(len(found["out"].splitlines()), count)

    def test_record(self):
        with tempfile.TemporaryDirectory() as folder:
            found = self.beside(VITALS, "record", "-n", "2", "--interval", "0.5", pathlib.Path(folder) / "x.csv")
        self.assertEqual(found["code"], 0, found["out"])

    def test_serve(self):
        """Ended by a signal, as systemd does."""
        found = self.beside("timeout", "-s", "TERM", "4", VITALS, "serve", "--listen", "127.0.0.1:0")
        self.assertIn(found["code"], (124, 128 + signal.SIGTERM), found["out"])


if __name__ == "__main__":
    unittest.main()
