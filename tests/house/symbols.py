"""What the built libraries give to the world and want from it.

Each exports the public functions and nothing else, and every function that its headers promise.
libvitals needs the C library alone: a program that links it drags in no TLS, no JSON, no terminal.
"""

import os
import pathlib
import re
import subprocess
import unittest

SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))
LIBRARY = os.environ.get("VITALS_LIBRARY", str(SOURCE / "build/libvitals.so"))
FOLDER = pathlib.Path(LIBRARY).parent
VITALS = os.environ.get("VITALS", str(SOURCE / "build/vitals"))
WHOLE = os.path.join(os.path.dirname(VITALS), "vitals-full")

# Where each is declared, and what it may need beside the C library.
LIBRARIES = {
    "libvitals": (("*.h", "sys/*.h"), set()),
    "libvitals-record": (("record/*.h",), {"libvitals", "libjansson", "libsqlite3", "libz"}),
}
C_LIBRARY = {"libc", "libm", "libdl", "libpthread"}
LOADER = re.compile(r"^ld-linux.*\.so\.\d$")
SANITIZERS = re.compile(r"^lib([alt]san|ubsan|clang_rt.*|gcc_s|stdc\+\+)\.so")

DECLARATION = re.compile(r"\bVITALS_API\b[^;{]*?\b(vitals_\w+)\s*\(", re.DOTALL)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def exported(library):
    # "address type name@@VERSION"; the version itself is an absolute symbol.
    listed = output("nm", "-D", "--defined-only", FOLDER / f"{library}.so")
    rows = (line.split() for line in listed.splitlines())
    return {row[2].split("@")[0]: row[1] for row in rows if len(row) == 3 and row[1] != "A"}


def promised(library):
    paths = (path for pattern in LIBRARIES[library][0]
             for path in (SOURCE / "include/vitals").glob(pattern))
    text = "".join(path.read_text() for path in paths)
    return set(DECLARATION.findall(COMMENT.sub(" ", text)))


def needed(file):
    names = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-dW", file))
    return {name for name in names if not LOADER.match(name) and not SANITIZERS.match(name)}


class Symbols:
    """Of a library; its name is LIBRARY."""

    maxDiff = None
    LIBRARY = ""

    def test_nothing_else_is_exported(self):
        foreign = [name for name in exported(self.LIBRARY) if not name.startswith("vitals_")]
        self.assertEqual(foreign, [])

    def test_what_is_exported_is_promised_by_a_header(self):
        self.assertEqual(sorted(set(exported(self.LIBRARY)) - promised(self.LIBRARY)), [])

    def test_what_a_header_promises_is_exported(self):
        self.assertEqual(sorted(promised(self.LIBRARY) - set(exported(self.LIBRARY))), [])

    def test_the_static_library_has_the_same_names(self):
        archive = FOLDER / f"{self.LIBRARY}.a"
        rows = (line.split() for line in output("nm", "-g", "--defined-only", archive).splitlines())
        self.assertEqual(sorted(row[2] for row in rows if len(row) == 3), sorted(exported(self.LIBRARY)))

    def test_no_variable_is_exported(self):
        # The size of a variable becomes part of every program that uses it.
        variables = [name for name, kind in exported(self.LIBRARY).items() if kind not in "TW"]
        self.assertEqual(variables, [])

    def test_it_needs_no_library_that_is_not_listed(self):
        names = {name.split(".so")[0] for name in needed(FOLDER / f"{self.LIBRARY}.so")}
        self.assertEqual(names - C_LIBRARY - LIBRARIES[self.LIBRARY][1], set())

    def test_no_name_is_of_both(self):
        for other in LIBRARIES.keys() - {self.LIBRARY}:
            self.assertEqual(exported(self.LIBRARY).keys() & exported(other).keys(), set())


class Library(Symbols, unittest.TestCase):
    LIBRARY = "libvitals"


class RecordLibrary(Symbols, unittest.TestCase):
    LIBRARY = "libvitals-record"

    def test_the_static_library_has_the_same_names(self):
        if not (FOLDER / "libvitals-record.a").exists():
            self.skipTest("built with link-time optimization")
        super().test_the_static_library_has_the_same_names()

    def test_it_neither_prints_nor_ends_nor_asks_the_environment(self):
        """Nothing of it is linked that could; SQLite and jansson are libraries of their own. Opening an
        exporter starts that program, and alone forks."""
        listed = output("nm", "-D", "--undefined-only", FOLDER / "libvitals-record.so")
        used = {line.split()[-1].split("@")[0] for line in listed.splitlines()}
        unwanted = {"printf", "puts", "putchar", "vprintf", "__printf_chk", "perror", "stdout",
                    "stderr", "exit", "_exit", "abort", "getenv", "secure_getenv", "setlocale",
                    "signal", "fork", "execve", "system", "popen"}
        self.assertEqual(used & unwanted - {"fork", "execve", "_exit"}, set())


class Command(unittest.TestCase):
    def test_the_command_needs_no_library_that_is_not_listed(self):
        """The library is in it, as the static one, whose names are the public ones (above)."""
        listed = {"libc", "libm", "libdl", "libpthread", "libjansson"}
        if not os.path.exists(WHOLE):
            listed.add("libz")
        self.assertEqual({name.split(".so")[0] for name in needed(VITALS)} - listed, set())

    def test_the_whole_command_needs_three_more(self):
        if not os.path.exists(WHOLE):
            self.skipTest("built without SQLite and ncurses")
        more = {"libsqlite3", "libncursesw", "libtinfo", "libz"}
        self.assertTrue({name.split(".so")[0] for name in needed(WHOLE) - needed(VITALS)} <= more)


if __name__ == "__main__":
    unittest.main()
