"""What the program prints about itself is what the tree holds: the header of the metrics, their page
and the schema of a snapshot."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))
BUILD = os.environ.get("VITALS_BUILD", str(SOURCE / "build"))

STAND_IN = '#!/bin/sh\necho "$*"\n'


def generated(script, *arguments):
    return subprocess.run([script, *arguments], capture_output=True, text=True, check=False)


class Generated(unittest.TestCase):
    def test_is_fresh(self):
        result = generated(SOURCE / "scripts/generated", "check", BUILD)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_stale_file_is_seen_and_written_anew(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "scripts").mkdir()
            script = root / "scripts/generated"
            shutil.copy(SOURCE / "scripts/generated", script)
            (root / "docs/generate").mkdir(parents=True)
            for program in ("docs/generate/vitals-documents", "scripts/include-examples"):
                (root / program).write_text(STAND_IN)
                (root / program).chmod(0o755)

            self.assertEqual(generated(script, "check", root).returncode, 1)
            self.assertEqual(generated(script, "write", root).returncode, 0)
            self.assertEqual(generated(script, "check", root).returncode, 0)

            page = root / "docs/metrics.md"
            self.assertEqual(page.read_text(), "metrics.md\n")
            page.write_text("old\n")
            result = generated(script, "check", root)
            self.assertEqual(result.returncode, 1)
            self.assertIn("docs/metrics.md: stale", result.stderr)
            self.assertIn("-old", result.stderr)
            self.assertNotIn("metrics.h: stale", result.stderr)


if __name__ == "__main__":
    unittest.main()
