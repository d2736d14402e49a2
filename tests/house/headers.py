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
    "a measure for a name": "const vitals_series *f(const vitals_recording *r) "
                            "{ return vitals_recording_find_series(r, VITALS_MEASURE_CPU_SECONDS, \"\"); }",
    "a name for a measure": "const vitals_phase_measure *f(const vitals_phase *phase) "
                            "{ return vitals_phase_find_measure(phase, \"cpu_seconds\", \"\"); }",
    "an availability for a set": "int f(void) { _Static_assert(VITALS_DENIED == VITALS_EGONE, \"\"); return 0; }",
}


# Compile as they stand, in C and in C++: no cast, no warning.
USES = """#include <vitals/vitals.h>
#include <vitals/record.h>

int request(vitals_request **out, vitals_error *error);
int request(vitals_request **out, vitals_error *error)
{
    return vitals_request_new(VITALS_SET_MACHINE | VITALS_SET_GPUS, out, error);
}

unsigned count(void);
unsigned count(void)
{
    unsigned found = 0;
    for (vitals_table table = VITALS_TABLE_NONE; (table = vitals_table_next(table)) != VITALS_TABLE_NONE;)
        found++;
    for (vitals_metric metric = VITALS_METRIC_NONE; (metric = vitals_metric_next(metric)) != VITALS_METRIC_NONE;)
        found++;
    for (vitals_measure one = VITALS_MEASURE_NONE; (one = vitals_measure_next(one)) != VITALS_MEASURE_NONE;)
        found++;
    return found;
}

int run(char **argv, vitals_account **out);
int run(char **argv, vitals_account **out)
{
    vitals_run_options options;
    vitals_run_options_init(&options, sizeof options);
    options.argv = argv + 1;
    return vitals_run_command(&options, out, NULL);
}

void end(vitals_process *process, vitals_recorder *recorder);
void end(vitals_process *process, vitals_recorder *recorder)
{
    vitals_process_signal(process, 9, NULL);
    vitals_recorder_close(recorder, NULL);
}

int64_t pid(const vitals_snapshot *snapshot);
int64_t pid(const vitals_snapshot *snapshot)
{
    int64_t found = 0;
    const vitals_row *row = vitals_snapshot_find_pid(snapshot, 1);
    return vitals_row_pid(row, &found) > 0 ? found : -1;
}
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

    def test_every_struct_can_grow(self):
        """It begins with its size, or the library alone makes it and hands it out by pointer; three never grow."""
        never = {"vitals_error", "vitals_text", "vitals_value"}
        handed_out = {"vitals_collected", "vitals_mark", "vitals_usage_value"}
        found = {}
        for header in headers():
            text = re.sub(r"/\*.*?\*/", "", (INCLUDE / header).read_text(), flags=re.DOTALL)
            found |= dict(re.findall(r"typedef struct (\w+) \{\s*([^;]*;)", text))
        self.assertGreater(len(found), 12)
        self.assertEqual({name for name, first in found.items() if first != "size_t size;"}, never | handed_out)

    def test_types_of_functions_are_called_so(self):
        types = [name for header in headers()
                 for name in re.findall(r"(?m)^typedef [^;{(]*\b(\w+)\(", (INCLUDE / header).read_text())]
        self.assertGreater(len(types), 3)
        self.assertEqual([name for name in types if not name.endswith("_fn")], [])

    def test_what_a_program_writes_compiles(self):
        for name, compilers, flags in LANGUAGES:
            for compiler in filter(shutil.which, compilers):
                with self.subTest(name, compiler=compiler):
                    done = subprocess.run([compiler, *FLAGS, "-Wunused-result", "-Wsign-conversion", *flags,
                                           "-fsyntax-only", "-I", INCLUDE, "-"], input=USES, capture_output=True,
                                          text=True, check=False)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_what_is_confused_does_not_compile(self):
        for compiler in ("gcc", "clang"):
            if shutil.which(compiler) is None:
                continue
            for name, function in CONFUSIONS.items():
                if compiler == "clang" and "==" in function and "assert" not in function:
                    continue  # it tells enums apart in calls alone
                with self.subTest(name, compiler=compiler):
                    program = f"#include <vitals/vitals.h>\n#include <vitals/record.h>\n{function}\n"
                    done = subprocess.run([compiler, *FLAGS, "-fsyntax-only", "-std=c11", "-x", "c", "-I", INCLUDE, "-"],
                                          input=program, capture_output=True, text=True, check=False)
                    self.assertRegex(done.stderr, r"enum|[Ss]tatic_assert|static assertion|int-conversion|incompatible")
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
