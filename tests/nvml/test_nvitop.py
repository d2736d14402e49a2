"""nvitop, the program that knows most of the library's corners, runs on the simulation unchanged."""

import os
import re
import subprocess
import sys
import unittest

import nvitop

import simulated


def once(variant, name, columns=140):
    environment = dict(os.environ, LD_LIBRARY_PATH=simulated.folder(variant), COLUMNS=str(columns),
                       VITALS_NVML_SCENARIO=simulated.scenario(name), LC_ALL="C.UTF-8", TZ="UTC",
                       PYTHONUTF8="1", NO_COLOR="1")
    return subprocess.run([sys.executable, "-m", "nvitop", "-1", "--ascii"], env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=120)


class Once(unittest.TestCase):
    def shows(self, name, words, variant="r580"):
        done = once(variant, name)
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in words:
            self.assertRegex(done.stdout, word, done.stdout)
        return done

    def test_the_version_that_was_read(self):
        self.assertEqual(nvitop.__version__.split(".")[:2], ["1", "7"])

    def test_two_healthy(self):
        done = self.shows("two-healthy", [
            "Driver Version: 580.65.06 +CUDA Driver Version: 13.0",
            r"0 +H100 80GB HBM3 +On \| 00000000:17:00.0 Off", r"24.00GiB / 80.00GiB",
            r"1 +A100-SXM4-40GB +On \| 00000000:18:00.0 Off", r"0B / 40.00GiB",
            "41C +P0 +312W / 700W", r"20.00GiB +30 +12", r"4000001 C +N/A 512.0MiB"])
        self.assertEqual(done.stderr, "")

    def test_eight(self):
        done = self.shows("eight", [rf"\| +{g} +H100 80GB HBM3" for g in range(8)] +
                          [rf"{str(8 * g + 4) + '.00GiB' if g > 1 else str(8192 * g + 4096) + 'MiB'}"
                           " / 80.00GiB" for g in range(8)])
        self.assertEqual(len(re.findall(r"\b40001\d\d [CG]\b", done.stdout)), 32)

    def test_mig(self):
        """nvitop stops at the first hole: the instance at index 3 is there and not shown."""
        done = self.shows("mig", [
            r"A100-SXM4-80GB +On", "Enabled", r"0:0 +3g.40gb @ GI/CI: 2/0",
            r"16384MiB / 40.00GiB", r"0:1 +1g.10gb @ GI/CI: 9/0", r"5120MiB / 10240MiB",
            r"H100 80GB HBM3 +On", r"0:1 4000002 C +N/A +N/A"])
        self.assertNotRegex(done.stdout, r"(?m)^\| +0:3 ")  # not the clock's 18:00:37

    def test_not_available(self):
        self.shows("not-available", [r"Mute 1000 +N/A", r"N/A +N/A +N/A +N/A / N/A",
                                     r"Nearly Mute 1000", r"3072MiB / 16384MiB"])

    def test_lost(self):
        self.shows("lost-half-way", ["H100 80GB HBM3"])

    def test_older_generations(self):
        for variant in simulated.VARIANTS:
            self.shows("two-healthy", ["H100 80GB HBM3", r"24.00GiB / 80.00GiB|24.50GiB / 80.00GiB",
                                       r"20.00GiB +30 +12", r"4000001 C"], variant)

    def test_init_errors(self):
        for name in ("no-permission", "driver-not-loaded", "version-mismatch", "unknown"):
            done = once("r580", "init-" + name)
            self.assertEqual(done.returncode, 1)
            self.assertIn("NVML ERROR", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
