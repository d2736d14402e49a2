"""What git keeps: no symbolic link, which a checkout on another system, an archive or a copy loses. Fixtures that
need links have them as text (tests/fixtures/linked)."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))
LINK = "120000"


def git(folder, *words):
    return subprocess.run(["git", "-C", str(folder), "-c", "safe.directory=*", *words],
                          capture_output=True, text=True, check=False)


def links(folder):
    """The symbolic links that git knows of there, or None where it keeps nothing."""
    listed = git(folder, "ls-files", "--stage", "-z")
    if listed.returncode != 0:
        return None
    rows = [row.split("\t", 1) for row in listed.stdout.split("\0") if row]
    return [name for mode, name in rows if mode.startswith(LINK)]


class Links(unittest.TestCase):
    def setUp(self):
        if shutil.which("git") is None:
            self.skipTest("no git here")

    def test_none_is_tracked(self):
        found = links(SOURCE)
        if found is None:
            self.skipTest("this is no checkout of git's")
        self.assertEqual(found, [])

    def test_one_would_be_seen(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(git(folder, "init", "--quiet").returncode, 0)
            pathlib.Path(folder, "file").write_text("", encoding="utf-8")
            pathlib.Path(folder, "link").symlink_to("file")
            self.assertEqual(git(folder, "add", "file", "link").returncode, 0)
            self.assertEqual(links(folder), ["link"])


if __name__ == "__main__":
    unittest.main()
