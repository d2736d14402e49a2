"""Each public header stands alone: as C11 to C2x and as C++17 and C++20, with every compiler here, without a warning.

A header that only works after another one breaks the first program that sorts its includes.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))
INCLUDE = SOURCE / "include"

FLAGS = ("-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Werror")
LANGUAGES = (
    *((f"C{year}", ("gcc", "clang"), (f"-std=c{year}", "-Wstrict-prototypes", "-x", "c")) for year in ("11", "17", "2x")),
    *((f"C++{year}", ("g++", "clang++"), (f"-std=c++{year}", "-x", "c++")) for year in ("17", "20")),
)

# vitals.h leaves them to the programs that want them.
APART = {"vitals/vitals.h", "vitals/mark.h", "vitals/psutil.h"}
MARKS = """#include <vitals/mark.h>
int main(void) { VITALS_BEGIN("one phase"); VITALS_END("one phase"); return 0; }
"""


def headers():
    return sorted(path.relative_to(INCLUDE).as_posix() for path in INCLUDE.rglob("*.h"))


def compile_alone(compiler, flags, header):
    # Twice: the guard must hold. A declaration of our own, as ISO C wants no empty unit.
    program = f"#include <{header}>\n#include <{header}>\nextern int alone;\n"
    return subprocess.run(
        [compiler, *FLAGS, "-fsyntax-only", *flags, "-I", INCLUDE, "-"],
        input=program, capture_output=True, text=True, check=False,
    )


class Headers(unittest.TestCase):
    def test_there_are_some(self):
        self.assertIn("vitals/vitals.h", headers())

    def test_vitals_h_has_them_all(self):
        text = (INCLUDE / "vitals/vitals.h").read_text()
        for header in headers():
            if header not in APART and not header.startswith("vitals/sys/"):
                self.assertIn(f"#include <{header}>", text)
            else:
                self.assertNotIn(f"#include <{header}>", text)


def add_case(language, compiler, flags):
    def test(self):
        if shutil.which(compiler) is None:
            self.skipTest(f"no {compiler} here")
        for header in headers():
            with self.subTest(header=header):
                result = compile_alone(compiler, flags, header)
                self.assertEqual(result.returncode, 0, result.stderr)

    def test_marks(self):
        if shutil.which(compiler) is None:
            self.skipTest(f"no {compiler} here")
        with tempfile.TemporaryDirectory() as folder:
            program, marks = pathlib.Path(folder) / "program", pathlib.Path(folder) / "marks"
            marks.touch()
            done = subprocess.run([compiler, *FLAGS, *flags, "-I", INCLUDE, "-o", program, "-"], input=MARKS,
                                  capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            subprocess.run([program], env={"VITALS_MARKS": str(marks)}, check=True)
            self.assertRegex(marks.read_text(), r"\Abegin\tone phase\t\d+\t\d+\t\d+\nend\tone phase\t")

    name = f"test_marks_in_{language}_with_{compiler}"
    setattr(Headers, name.replace("++", "pp"), test_marks)
    name = f"test_each_alone_as_{language}_with_{compiler}"
    setattr(Headers, name.replace("++", "pp"), test)


for _language, _compilers, _flags in LANGUAGES:
    for _compiler in _compilers:
        add_case(_language, _compiler, _flags)


if __name__ == "__main__":
    unittest.main()
