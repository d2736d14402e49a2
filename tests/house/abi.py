"""A program that was compiled against libvitals goes on working: docs/abi/libvitals.symbols, the list of what it may
rely on, agrees with the built library, and the check says so where it does not.
"""

import os
import pathlib
import re
import runpy
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))
BUILD = pathlib.Path(os.environ.get("VITALS_BUILD", SOURCE / "build"))
LIST = SOURCE / "docs/abi/libvitals.symbols"
ABI = runpy.run_path(str(SOURCE / "scripts/abi"))

# What is done to the list, and what the check must then say.
BREAKS = (
    (r"\A", "function vitals_gone: int(void)\n", "function vitals_gone is gone; it was: int(void)"),
    (r"(function vitals_row_u64: .*), uint64_t", r"\1, int64_t", "function vitals_row_u64 has changed from"),
    (r"struct vitals_text: 16", "struct vitals_text: 8", "struct vitals_text has changed from 8 to 16"),
    (r"struct vitals_options: \d+", "struct vitals_options: 9999", "struct vitals_options has changed from 9999"),
    (r"vitals_wait.timeout_ns: at 8", "vitals_wait.timeout_ns: at 16", "member vitals_wait.timeout_ns has changed"),
    (r"VITALS_EGONE: -104", "VITALS_EGONE: -105", "constant VITALS_EGONE has changed from -105 to -104"),
    (r"VITALS_PROCESS_PID: ", "VITALS_PROCESS_PID: 9", "constant VITALS_PROCESS_PID has changed from 9"),
)


@unittest.skipIf(sys.maxsize < 2**32, "the list is of a 64-bit system")
class Abi(unittest.TestCase):
    def check(self, text):
        with tempfile.TemporaryDirectory() as folder:
            listed = pathlib.Path(folder, "libvitals.symbols")
            listed.write_text(text)
            done = subprocess.run([SOURCE / "scripts/abi", "check", BUILD, listed], capture_output=True, text=True,
                                  check=False, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def test_nothing_that_programs_use_has_changed(self):
        code, _, said = self.check(LIST.read_text())
        self.assertEqual((code, said), (0, ""))

    def test_the_list_is_whole(self):
        code, said, _ = self.check(LIST.read_text())
        self.assertEqual((code, said), (0, ""))
        self.assertGreater(len(re.findall(r"(?m)^function ", LIST.read_text())), 190)

    def test_what_breaks_a_program_is_found(self):
        text = LIST.read_text()
        code, _, said = self.check(BREAKS[0][1] + text)
        self.assertNotEqual(code, 0)
        self.assertIn(BREAKS[0][2], said)
        self.assertIn("give the library another soname", said)
        built = ABI["parse"](text)
        for pattern, new, expected in BREAKS:
            with self.subTest(expected):
                self.assertRegex(text, pattern)
                said = ABI["differences"](ABI["parse"](re.sub(pattern, new, text, count=1)), built)
                self.assertEqual(len(said), 1, said)
                self.assertIn(expected, said[0])

    def test_what_breaks_no_program_is_allowed(self):
        text = LIST.read_text()
        built = ABI["parse"](text)
        for name, pattern, new in (("a new function", r"function vitals_row_u64: .*\n", ""),
                                   ("a struct with a size that grew", r"(struct vitals_options): \d+", r"\1: 8"),
                                   ("another soname", r"(soname: .*)((?:.|\n)*)VITALS_EGONE: -104",
                                    r"\g<1>9\g<2>VITALS_EGONE: -105")):
            with self.subTest(name):
                old = re.sub(pattern, new, text, count=1)
                self.assertNotEqual(old, text)
                self.assertEqual(ABI["differences"](ABI["parse"](old), built), [])

    def test_a_new_function_is_asked_for(self):
        code, said, _ = self.check(re.sub(r"function vitals_row_u64: .*\n", "", LIST.read_text()))
        self.assertEqual(code, 0)
        self.assertIn("run `scripts/abi write`: function vitals_row_u64", said)


if __name__ == "__main__":
    unittest.main()
