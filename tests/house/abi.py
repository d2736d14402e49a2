"""A program that was compiled against libvitals or libvitals-record goes on working: docs/abi, the list of what it may
rely on and the types as abidiff compares them, agrees with the built libraries, and the check says so where it does
not.
"""

import os
import pathlib
import re
import runpy
import shutil
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


class Types(unittest.TestCase):
    """What scripts/abi makes of abidiff, shown by descriptions that differ from that of libvitals in one place."""

    @classmethod
    def setUpClass(cls):
        if shutil.which("abidiff") is None:
            raise unittest.SkipTest("no abidiff here")
        cls.now = (LIST.parent / "libvitals.abi").read_text()

    def block(self, kind, name):
        return re.search(rf"    <{kind} name='{name}'.*?</{kind}>\n", self.now, re.DOTALL)[0]

    def type_id(self, name):
        return re.search(rf"<type-decl name='{name}'[^>]*id='(\w+)'", self.now)[1]

    def said(self, *pairs):
        """What is said where each first of the pairs was the second before."""
        before = self.now
        for part, old in pairs:
            self.assertIn(part, before)
            self.assertNotEqual(part, old)
            before = before.replace(part, old)
        return ABI["compare"](before, self.now)

    def test_what_breaks_a_program_is_found(self):
        number, whole, natural = (self.type_id(name) for name in ("double", "int", "unsigned int"))
        function = self.block("function-decl", "vitals_human_duration")
        symbol = re.search(r"    <elf-symbol name='vitals_human_duration'.*\n", self.now)[0]
        called = re.search(r"<typedef-decl name='vitals_write_fn' type-id='(\w+)'", self.now)[1]
        called = re.search(rf"    <function-type size-in-bits='64' id='{called}'>.*?</function-type>\n", self.now,
                           re.DOTALL)[0]
        wait, codes = self.block("class-decl", "vitals_wait"), self.block("enum-decl", "vitals_code")
        cases = {
            "a parameter": (function, function.replace(number, whole)),
            "what a callback returns": (called, called.replace(whole, number)),
            "a member of the same size": (wait, wait.replace(natural, whole)),
            "the value of a constant": (codes, codes.replace("value='-104'", "value='-105'")),
        }
        for name, pair in cases.items():
            with self.subTest(name):
                self.assertRegex(self.said(pair), r"\b[1-9]\d* Changed")
        gone = [(part, part + part.replace("human_duration", "human_gone")) for part in (function, symbol)]
        self.assertIn("[D] 'function char* vitals_human_gone(double, char*)'", self.said(*gone))

    def shorter(self, struct):
        """A description of a struct without its last member."""
        last = re.findall(r"      <data-member.*?</data-member>\n", struct, re.DOTALL)[-1]
        return re.sub(r"(size-in-bits=')(\d+)", lambda size: f"{size[1]}{int(size[2]) - 64}",
                      struct.replace(last, ""), count=1)

    def test_what_breaks_no_program_is_allowed(self):
        function = self.block("function-decl", "vitals_human_duration")
        symbol = re.search(r"    <elf-symbol name='vitals_human_duration'.*\n", self.now)[0]
        options, codes = self.block("class-decl", "vitals_options"), self.block("enum-decl", "vitals_code")
        hidden = re.search(r"<class-decl name='vitals_snapshot' size-in-bits='\d+'", self.now)[0]
        cases = {
            "a new function": ((function, ""), (symbol, "")),
            "a new constant": ((codes, re.sub(r" *<enumerator name='VITALS_ETIMEOUT'.*\n", "", codes)),),
            "a struct with a size that grew": ((options, self.shorter(options)),),
            "a struct of which the headers tell the name alone": ((hidden, re.sub(r"\d+", "64", hidden)),),
            "another soname": ((" soname='libvitals.so.1'", " soname='libvitals.so.0'"),
                               (function, function.replace(self.type_id("double"), self.type_id("int")))),
        }
        for name, pairs in cases.items():
            with self.subTest(name):
                self.assertEqual(self.said(*pairs), "")

    def test_what_grows_changes_nothing_else(self):
        options = self.block("class-decl", "vitals_options")
        other = self.shorter(options).replace(self.type_id("int"), self.type_id("double"))
        self.assertRegex(self.said((options, other)), r"\b[1-9]\d* Changed")
        text = self.block("class-decl", "vitals_text")  # which has no size, and never grows
        self.assertRegex(self.said((text, self.shorter(text))), r"\b[1-9]\d* Changed")

    def test_no_type_of_the_built_libraries_has_changed(self):
        if ".debug_info" not in ABI["output"]("readelf", "-SW", BUILD / "libvitals.so"):
            self.skipTest("built without debugging information")
        done = subprocess.run([SOURCE / "scripts/abi", "compare", BUILD], capture_output=True, text=True, check=False,
                              timeout=120)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_the_descriptions_are_whole(self):
        listed = re.findall(r"(?m)^function (\w+):", LIST.read_text())
        self.assertEqual(sorted(re.findall(r"<elf-symbol name='(\w+)'", self.now)), sorted(listed))
        record = (LIST.parent / "libvitals-record.abi").read_text()
        headers = "".join(path.read_text() for path in (SOURCE / "include/vitals/record").glob("*.h"))
        promised = re.findall(r"\bVITALS_API\b[^;{(]*?\b(vitals_\w+)\(",
                              re.sub(r"/\*.*?\*/", "", headers, flags=re.DOTALL))
        self.assertEqual(sorted(re.findall(r"<elf-symbol name='(\w+)'", record)), sorted(promised))
        for text in (self.now, record):
            self.assertGreater(text.count("<function-decl "), 90)


if __name__ == "__main__":
    unittest.main()
