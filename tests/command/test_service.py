"""The systemd unit of vitals serve: systemd itself reads it, and says how much it could do if it were
taken over."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import BUILD, environment, vitals

UNIT = BUILD / "packaging" / "systemd" / "vitals.service"
ANALYZE = shutil.which("systemd-analyze")

# In tenths, as systemd-analyze counts them: 0 is nothing at all. What is left is the network that a server
# needs, and what would hide processes and devices.
MOST_EXPOSED = 30

# Set, each of these hides what is measured (packaging/systemd/vitals.service.in).
NEVER = ("PrivateDevices", "ProtectClock", "PrivateUsers", "ProcSubset", "ProtectProc",
         "MemoryDenyWriteExecute")


def settings():
    return dict(line.split("=", 1) for line in UNIT.read_text().splitlines()
                if "=" in line and not line.startswith("#"))


class Service(unittest.TestCase):
    def analyze(self, *arguments):
        if ANALYZE is None:
            self.skipTest("no systemd-analyze here")
        return subprocess.run([ANALYZE, *arguments], capture_output=True, text=True, check=False,
                              env=environment(SYSTEMD_COLORS="0"))

    def test_how_exposed_it_is(self):
        if ANALYZE is not None and "--offline" not in self.analyze("--help").stdout:
            self.skipTest("this systemd-analyze reads no files (--offline)")
        done = self.analyze("security", "--offline=yes", f"--threshold={MOST_EXPOSED}", str(UNIT))
        found = re.search(r"Overall exposure level for vitals.service: ([0-9.]+)", done.stdout)
        self.assertIsNotNone(found, done.stderr)
        self.assertLessEqual(float(found.group(1)) * 10, MOST_EXPOSED)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_systemd_understands_every_line(self):
        """The command itself is not installed where it says; anything else that is said is wrong."""
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / "vitals.service"
            text = re.sub(r"(?m)^ExecStart=.*$", "ExecStart=/bin/true", UNIT.read_text())
            copy.write_text(re.sub(r"(?m)^Documentation=.*\n", "", text))
            done = self.analyze("verify", "--man=no", str(copy))
        wrong = [line for line in done.stderr.splitlines() if "vitals.service" in line]
        self.assertEqual(wrong, [])

    def test_nothing_in_it_hides_what_is_measured(self):
        for name in NEVER:
            self.assertNotIn(name, settings())
        self.assertIn(settings().get("ProtectHome", "no"), ("no", "read-only"))

    def test_what_it_starts_is_a_command(self):
        words = settings()["ExecStart"].split()
        self.assertEqual(words[1:], ["serve"])
        self.assertTrue(os.path.isabs(words[0]))
        self.assertEqual(vitals(*words[1:], "--help").returncode, 0)


if __name__ == "__main__":
    unittest.main()
