"""What the built library gives to the world and wants from it.

It exports the public functions and nothing else, exports every function that a header promises, and
needs the C library alone: a program that links it drags in no TLS, no JSON, no terminal.
"""

import os
import pathlib
import re
import subprocess
import unittest

SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))
LIBRARY = os.environ.get("VITALS_LIBRARY", str(SOURCE / "build/libvitals.so"))
ARCHIVE = str(pathlib.Path(os.environ.get("VITALS_BUILD", SOURCE / "build")) / "libvitals.a")
VITALS = os.environ.get("VITALS", str(SOURCE / "build/vitals"))

ALLOWED_LIBRARIES = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0"}
LOADER = re.compile(r"^ld-linux.*\.so\.\d$")
SANITIZERS = re.compile(r"^lib([alt]san|ubsan|clang_rt.*|gcc_s|stdc\+\+)\.so")

DECLARATION = re.compile(r"\bVITALS_API\b[^;{]*?\b(vitals_\w+)\s*\(", re.DOTALL)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def exported():
    # "address type name@@VERSION"; the version itself is an absolute symbol.
    rows = (line.split() for line in output("nm", "-D", "--defined-only", LIBRARY).splitlines())
    return {row[2].split("@")[0]: row[1] for row in rows if len(row) == 3 and row[1] != "A"}


def promised():
    text = "".join(path.read_text() for path in sorted((SOURCE / "include/vitals").rglob("*.h")))
    return set(DECLARATION.findall(COMMENT.sub(" ", text)))


def needed(file):
    names = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-dW", file))
    return {name for name in names if not LOADER.match(name) and not SANITIZERS.match(name)}


class Symbols(unittest.TestCase):
    maxDiff = None

    def test_nothing_else_is_exported(self):
        foreign = [name for name in exported() if not name.startswith("vitals_")]
        self.assertEqual(foreign, [])

    def test_what_is_exported_is_promised_by_a_header(self):
        self.assertEqual(sorted(set(exported()) - promised()), [])

    def test_what_a_header_promises_is_exported(self):
        self.assertEqual(sorted(promised() - set(exported())), [])

    def test_the_static_library_has_the_same_names(self):
        rows = (line.split() for line in output("nm", "-g", "--defined-only", ARCHIVE).splitlines())
        self.assertEqual(sorted(row[2] for row in rows if len(row) == 3), sorted(exported()))

    def test_no_variable_is_exported(self):
        # The size of a variable becomes part of every program that uses it.
        variables = [name for name, kind in exported().items() if kind not in "TW"]
        self.assertEqual(variables, [])

    def test_the_library_needs_the_c_library_alone(self):
        self.assertEqual(needed(LIBRARY) - ALLOWED_LIBRARIES, set())

    def test_the_command_needs_no_library_that_is_not_listed(self):
        """The library is in it, as the static one, whose names are the public ones (above)."""
        listed = {"libc", "libm", "libdl", "libpthread", "libjansson", "libz"}
        self.assertEqual({name.split(".so")[0] for name in needed(VITALS)} - listed, set())

    def test_the_whole_command_needs_two_more(self):
        whole = os.path.join(os.path.dirname(VITALS), "vitals-full")
        if not os.path.exists(whole):
            self.skipTest("built without SQLite and ncurses")
        more = {"libsqlite3", "libncursesw", "libtinfo"}
        self.assertTrue({name.split(".so")[0] for name in needed(whole) - needed(VITALS)} <= more)


if __name__ == "__main__":
    unittest.main()
