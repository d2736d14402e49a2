"""The screens of the monitor as text: what they must look like, and what holds at any size.

The golden texts are the specification. After a change that is meant to be seen:

    VITALS_WRITE_GOLDEN=1 VITALS=build/vitals VITALS_SOURCE=. python3 tests/command/test_monitor.py

and read the difference before it is committed. The inputs are those of the report.
"""

import os
import re
import subprocess
import unicodedata
import unittest

from harness import FIXTURES, VITALS, environment, reads_json, vitals

INPUTS = FIXTURES / "report"
FOLDER = FIXTURES / "monitor"
WRITE = os.environ.get("VITALS_WRITE_GOLDEN") == "1"
SIZES = ("40x20", "80x24", "120x40", "200x60")

# input, screen, further arguments
CASES = [(name, f"{size}:main", arguments) for name in ("devices", "host")
         for size in SIZES for arguments in ([], ["--ascii"])]
CASES += [
    ("many", "160x50:main", []),
    ("partitions", "130x50:main", []),
    ("broken", "80x40:main", []),
    ("broken", "124x50:main", ["--force-color"]),
    ("devices", "124x50:main", ["--force-color"]),
    ("devices", "124x50:main", ["--force-color", "--colorful"]),
    ("devices", "80x40:main", ["-m", "full"]),
    ("devices", "80x40:main", ["-m", "compact"]),
    ("devices", "100x24:main", ["-o", "1"]),
    ("devices", "100x24:main", ["-u", "nobody"]),
    ("hostile", "100x24:main", []),
    ("hostile", "100x24:main", ["--ascii"]),
    ("devices", "40x12:tree", []),
    ("devices", "100x12:tree", []),
    ("host", "100x12:tree", ["--ascii"]),
    ("devices", "100x30:process", []),
    ("devices", "40x24:process", ["--ascii"]),
    ("host", "80x24:process", []),
    ("devices", "40x24:help", []),
    ("devices", "80x80:help", []),
]


def label(name, size, arguments):
    return "-".join([name, size.replace(":", "-"), *(word.strip("-") for word in arguments)])


def screen(name, size, arguments=()):
    """-m asks for a terminal; as text it is the environment that chooses the form."""
    words, changes = list(arguments), {}
    if words[:1] == ["-m"]:
        changes["VITALS_MONITOR"], words = words[1], words[2:]
    command = [VITALS, "--screen", size, "--from", str(INPUTS / f"{name}.json"), *words]
    return subprocess.run(
        command, env=environment(TZ="UTC", HOME="/nonexistent", LC_ALL="C.UTF-8", **changes),
        stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False)


def columns(line):
    return sum(0 if unicodedata.combining(character) or character == "\u200d" else
               2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in line)


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@unittest.skipUnless(reads_json(), "built without jansson")
class Golden(unittest.TestCase):
    maxDiff = None

    def test_looks_as_it_must(self):
        for case in CASES:
            with self.subTest(label(*case)):
                done = screen(*case)
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                path = FOLDER / f"{label(*case)}.txt"
                if WRITE:
                    FOLDER.mkdir(exist_ok=True)
                    path.write_bytes(done.stdout)
                self.assertEqual(done.stdout.decode(), path.read_text(encoding="utf-8"))

    def test_no_golden_text_is_left_over(self):
        self.assertEqual({path.stem for path in FOLDER.glob("*.txt")}, {label(*case) for case in CASES})


@unittest.skipUnless(reads_json(), "built without jansson")
class AnySize(unittest.TestCase):
    """What must hold of every screen, whatever stands in it."""

    def check(self, name, size, arguments=()):
        done = screen(name, size, arguments)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        width, height = map(int, size.split(":")[0].split("x"))
        lines = done.stdout.decode().split("\n")
        self.assertEqual(lines.pop(), "")
        self.assertEqual(len(lines), height)
        for line in lines:
            self.assertLessEqual(columns(plain(line)), width, line)
        return lines

    def test_of_every_input(self):
        sizes = ("1x1", "7x3", "40x10", "41x20", "78x24", "79x24", "99x30", "100x30", "122x40", "123x40",
                 "250x50")
        for name in ("devices", "partitions", "many", "broken", "host", "hostile", "once"):
            for size in sizes:
                with self.subTest(name, size=size):
                    self.check(name, size)

    def test_of_every_screen(self):
        for size in ("1x1", "20x5", "40x10", "250x50"):
            for name in ("tree", "process", "help"):
                with self.subTest(name, size=size):
                    self.check("devices", f"{size}:{name}")

    def test_forty_columns_still_tell(self):
        lines = self.check("devices", "40x30")
        text = "\n".join(lines)
        for word in ("PID", "%CPU", "COMMAND", "53.64GiB", "70%", "CPU:", "MEM:"):
            self.assertIn(word, text)

    def test_ascii_is_ascii(self):
        for name in ("devices", "host", "hostile", "broken"):
            for size in ("40x20", "124x50", "100x20:tree", "100x30:process"):
                text = screen(name, size, ["--ascii"]).stdout
                self.assertTrue(text.isascii(), name)
                self.assertNotIn(b"\x1b", text)

    def test_hostile_names_are_safe(self):
        for size in ("80x24", "200x50", "100x30:tree", "100x30:process"):
            text = screen("hostile", size).stdout.decode()
            for character in text:
                self.assertFalse(unicodedata.category(character) in ("Cc", "Cf") and character != "\n",
                                 repr(character))

    def test_of_the_demo(self):
        for scenario in ("default", "many", "broken", "idle", "empty", "strangers"):
            with self.subTest(scenario):
                done = vitals("--screen", "100x40", f"--demo={scenario}", env={"LC_ALL": "C.UTF-8"})
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(len(done.stdout.splitlines()), 40)
        for size in SIZES:
            for arguments in ([], ["--ascii"]):
                with self.subTest(size, arguments=arguments):
                    done = vitals("--screen", size, "--demo", *arguments, env={"LC_ALL": "C.UTF-8"})
                    lines = done.stdout.split("\n")
                    self.assertEqual((done.returncode, done.stderr, len(lines)),
                                     (0, "", int(size.split("x")[1]) + 1))
                    self.assertLessEqual(max(map(columns, lines)), int(size.split("x")[0]))
                    self.assertRegex(done.stdout, r"Processes:[^\0]*PID[^\0]*COMMAND")


class Usage(unittest.TestCase):
    def test_of_a_screen(self):
        for size in ("", "80", "80x", "x24", "0x5", "80x24x3", "80x24 ", "-1x5", "99999x1", "80x24:"):
            with self.subTest(size):
                done = vitals(f"--screen={size}", "--demo")
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr.splitlines()[0], r"screen")
        done = vitals("--screen", "80x24:nothing", "--demo")
        self.assertEqual(done.returncode, 2)
        self.assertIn("main", done.stderr)

    def test_not_with_a_report(self):
        self.assertEqual(vitals("--screen", "80x24", "-1").returncode, 2)

    def test_a_monitor_needs_a_terminal(self):
        done = vitals("-m")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("terminal", done.stderr)

    def test_without_a_terminal_it_is_the_report(self):
        done = vitals("--demo", "--delay", "0")
        self.assertEqual(done.returncode, 0)
        self.assertIn("Processes:", done.stdout)


if __name__ == "__main__":
    unittest.main()
