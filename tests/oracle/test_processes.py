"""Every field of processes of many kinds, started here, and the fields of all other processes that hold
still or only grow: ours between two readings of psutil's, as root, as an ordinary user, where /proc
hides, and in other namespaces.

compare.py does the comparing and says how; the tests here check its results.
"""

import sys
import unittest

import api  # noqa: F401  first: skips where the library cannot be loaded
import cffi
import compare
import psutil
import scene
import theirs
from harness import NOBODY

# Asked of every place, so that no comparison of it is empty.
HERE = tuple(role for role in scene.EVERYBODY if role not in scene.USERS)


class Processes(unittest.TestCase):
    """Check 1 (and 29: what stat, statm and status say of the same thing agrees)."""

    def compare(self, place, mode, roles=HERE):
        found = scene.run_there(scene.place_or_skip(self, place), "compare.py", "--made",
                                ",".join(roles), mode)
        for wrong in found["wrong"]:
            with self.subTest(**{name: wrong[name] for name in ("pid", "name", "field")}):
                self.fail("theirs, ours, theirs:\n" + "\n".join(wrong["seen"]))
        self.assertLessEqual(set(found["made"].values()), set(found["pids"]),
                             f"made for this, and not compared: {found['made']}")
        return found

    def every_field(self, found, fields):
        never = {field for field in fields if not found["fields"].get(field)}
        self.assertEqual(never, set(), "fields that never agreed, nor disagreed")

    def test_handle(self):
        found = self.compare("root", "handle", scene.EVERYBODY)
        self.every_field(found, theirs.FIELDS)

    def test_handle_as_nobody(self):
        self.every_field(self.compare("nobody", "handle"), theirs.FIELDS)

    def test_handle_hidepid_1(self):
        # Of relatives psutil says nothing here; test_relatives.py does.
        self.every_field(self.compare("hidepid_1", "handle"),
                         set(theirs.FIELDS) - {"children", "descendants", "parents"})

    def test_handle_hidepid_2(self):
        self.every_field(self.compare("hidepid_2", "handle"), theirs.FIELDS)

    def test_handle_in_a_pid_namespace(self):
        found = self.compare("pid_namespace", "handle")
        self.every_field(found, theirs.FIELDS)
        # Nobody of outside is seen.
        self.assertLess(len(found["pids"]), len(HERE) * 3)

    def test_handle_in_a_net_namespace(self):
        self.every_field(self.compare("net_namespace", "handle"), theirs.FIELDS)

    def test_handle_in_a_mount_namespace(self):
        self.every_field(self.compare("mount_namespace", "handle"), theirs.FIELDS)


class Table(Processes):
    """The same of the table of all processes, as a sampler reads it."""

    def every_field(self, found, fields):
        super().every_field(found, set(fields) & compare.OURS.keys() - set(compare.OWN_FIELDS))

    def compare(self, place, mode, roles=HERE):
        return super().compare(place, "table", roles)


class Installed(unittest.TestCase):
    def test_an_ordinary_user_may_read_the_environment(self):
        """The same interpreter and packages for every user, wherever the virtual environment lies."""
        words = scene.place_or_skip(self, "nobody")
        told = scene.python_there(words, "-c", "import os, sys, psutil, cffi; "
                                  "print(os.geteuid(), sys.version_info[:2], psutil.__version__, cffi.__version__)")
        self.assertEqual(told.split(maxsplit=1)[0], str(NOBODY))
        self.assertEqual(told.split(maxsplit=1)[1].strip(),
                         f"{sys.version_info[:2]} {psutil.__version__} {cffi.__version__}")


if __name__ == "__main__":
    unittest.main()
