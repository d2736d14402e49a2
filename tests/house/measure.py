"""The figures of the source tree stay below their limits (scripts/measure-house)."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))
MEASURE = SOURCE / "scripts/measure-house"


def measure(*arguments):
    return subprocess.run([sys.executable, MEASURE, *arguments], capture_output=True, text=True, check=False)


class House(unittest.TestCase):
    @unittest.skipUnless((SOURCE / ".git").exists(), "no git checkout")
    def test_the_tree_is_within_its_limits(self):
        done = measure(SOURCE)
        print("# " + done.stdout.strip().replace("\n", "\n# "), file=sys.stderr)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_tree_that_is_not_is_noticed(self):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            (root / "src").mkdir()
            (root / "src/a.c").write_text(
                "/* Nobody knows who calls whom. */\n"
                "static int once(void)\n{\n    return 1;\n}\n\nint twice(void)\n{\n    return once();\n}\n")
            for command in (["init", "-q"], ["add", "."]):
                subprocess.run(["git", "-C", name, *command], check=True, capture_output=True)
            done = measure(root)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        for figure in ("static functions called from one place: 100 %", "nobody, somebody per 1000 words: 600"):
            self.assertIn(figure, done.stdout)
        self.assertEqual(done.stdout.count("TOO MUCH"), 2)


if __name__ == "__main__":
    unittest.main()
