"""Each public header stands alone: as C11 and as C++17, with every compiler here, without a warning.

A header that only works after another one breaks the first program that sorts its includes.
"""

import os
import pathlib
import shutil
import subprocess
import unittest

SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))
INCLUDE = SOURCE / "include"

FLAGS = ("-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only")
LANGUAGES = (
    ("C11", ("gcc", "clang"), ("-std=c11", "-Wstrict-prototypes", "-x", "c")),
    ("C++17", ("g++", "clang++"), ("-std=c++17", "-x", "c++")),
)


def headers():
    return sorted(path.relative_to(INCLUDE).as_posix() for path in INCLUDE.rglob("*.h"))


def compile_alone(compiler, flags, header):
    # Twice: the guard must hold. A declaration of our own, as ISO C wants no empty unit.
    program = f"#include <{header}>\n#include <{header}>\nextern int alone;\n"
    return subprocess.run(
        [compiler, *FLAGS, *flags, "-I", INCLUDE, "-"],
        input=program, capture_output=True, text=True, check=False,
    )


class Headers(unittest.TestCase):
    def test_there_are_some(self):
        self.assertIn("vitals/vitals.h", headers())

    def test_vitals_h_has_them_all(self):
        text = (INCLUDE / "vitals/vitals.h").read_text()
        for header in headers():
            if header != "vitals/vitals.h" and not header.startswith("vitals/sys/"):
                self.assertIn(f"#include <{header}>", text)


def add_case(language, compiler, flags):
    def test(self):
        if shutil.which(compiler) is None:
            self.skipTest(f"no {compiler} here")
        for header in headers():
            with self.subTest(header=header):
                result = compile_alone(compiler, flags, header)
                self.assertEqual(result.returncode, 0, result.stderr)

    name = f"test_each_alone_as_{language}_with_{compiler}"
    setattr(Headers, name.replace("++", "pp"), test)


for _language, _compilers, _flags in LANGUAGES:
    for _compiler in _compilers:
        add_case(_language, _compiler, _flags)


if __name__ == "__main__":
    unittest.main()
