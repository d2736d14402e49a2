"""Each public header stands alone: as C11 to C2x and as C++17 and C++20, with every compiler here, without a warning.

A header that only works after another one breaks the first program that sorts its includes.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))
INCLUDE = SOURCE / "include"

FLAGS = ("-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Werror")
LANGUAGES = (
    *((f"C{year}", ("gcc", "clang"), (f"-std=c{year}", "-Wstrict-prototypes", "-x", "c")) for year in ("11", "17", "2x")),
    *((f"C++{year}", ("g++", "clang++"), (f"-std=c++{year}", "-Wold-style-cast", "-x", "c++")) for year in ("17", "20")),
)

# vitals.h leaves them to the programs that want them.
APART = {"vitals/vitals.h", "vitals/mark.h", "vitals/psutil.h"}
MARKS = """#include <vitals/mark.h>
int main(void) { VITALS_BEGIN("one phase"); VITALS_END("one phase"); return 0; }
"""


# Each compiled before the names were told apart.
CONFUSIONS = {
    "a set for a table": "size_t f(const vitals_snapshot *s) { return vitals_snapshot_count(s, VITALS_SET_PROCESSES); }",
    "a table for a metric": "vitals_availability f(const vitals_row *row, uint64_t *out) "
                            "{ return vitals_row_u64(row, VITALS_TABLE_GPU, out); }",
    "a metric for a table": "size_t f(const vitals_snapshot *s) { return vitals_snapshot_count(s, VITALS_GPU_PROCESSES); }",
    "an error for an availability": "int f(vitals_availability state) { return state == VITALS_EGONE; }",
    "an availability for an error": "int f(const vitals_error *error) { return error->code == VITALS_DENIED; }",
    "an availability for a set": "int f(void) { _Static_assert(VITALS_DENIED == VITALS_EGONE, \"\"); return 0; }",
}


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
            if header == "vitals/record.h" or header.startswith("vitals/record/"):
                continue
            if header not in APART and not header.startswith("vitals/sys/"):
                self.assertIn(f"#include <{header}>", text)
            else:
                self.assertNotIn(f"#include <{header}>", text)

    def test_record_h_has_those_of_the_second_library(self):
        text = (INCLUDE / "vitals/record.h").read_text()
        self.assertEqual(sorted(re.findall(r"#include <(.*)>", text)),
                         [header for header in headers() if header.startswith("vitals/record/")])

    def test_what_is_confused_does_not_compile(self):
        for compiler in ("gcc", "clang"):
            if shutil.which(compiler) is None:
                continue
            for name, function in CONFUSIONS.items():
                if compiler == "clang" and "==" in function and "assert" not in function:
                    continue  # it tells enums apart in calls alone
                with self.subTest(name, compiler=compiler):
                    program = f"#include <vitals/vitals.h>\n{function}\n"
                    done = subprocess.run([compiler, *FLAGS, "-fsyntax-only", "-std=c11", "-x", "c", "-I", INCLUDE, "-"],
                                          input=program, capture_output=True, text=True, check=False)
                    self.assertRegex(done.stderr, r"enum|Static_assert|static_assert|static assertion")
                    self.assertNotEqual(done.returncode, 0)


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
