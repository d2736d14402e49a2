"""The screen of an environment, of a child of this test: sideways to the end of a long value and back, and
read again once it is another one."""

import os
import pathlib
import subprocess
import unittest

from harness import VITALS, wait_until
from input_events import BUILT, Events

WIDTH, HEIGHT, SIDEWAYS = 80, 20, 5  # columns by Right
LONG = "".join(f"<{number:04}>" for number in range(100))


@unittest.skipUnless(BUILT, "built without the interactive screens")
class Environment(unittest.TestCase):
    def setUp(self):
        self.terminal = Events(WIDTH, HEIGHT)
        self.addCleanup(self.terminal.close)
        self.type = self.terminal.type

    def open(self, **variables):
        """A child that becomes another program with one variable more at a line of its input."""
        child = subprocess.Popen(["sh", "-c", "read line; AGAIN=another-one exec sleep 600"], stdin=subprocess.PIPE,
                                 env={"PATH": os.environ["PATH"], **variables})
        self.addCleanup(lambda: (child.kill(), child.wait(), child.stdin.close()))
        wait_until(lambda: b"PATH=" in self.environ(child), "the child's environment")
        self.terminal.run(f"{VITALS} --backends none -p {child.pid}")
        self.terminal.wait("Press h for help", f"{child.pid} ")
        self.type("Down", "e")
        self.terminal.wait(f"Environment of {child.pid}: ", "PATH=")
        return child

    @staticmethod
    def environ(child):
        return pathlib.Path(f"/proc/{child.pid}/environ").read_bytes()

    def line(self, mark):
        """Of the screen at rest, the line that holds it."""
        return next(line for line in self.terminal.still().splitlines() if mark in line)

    def leave(self):
        self.type("q")
        self.terminal.wait("rocesses:", gone=("Environment of",))
        self.type("q")
        self.terminal.wait("rc=0.")

    def test_to_the_end_of_a_long_value_and_back(self):
        self.open(LONG=LONG, SHORT="s")
        whole = f" LONG={LONG}"
        first = self.line("LONG=")
        self.assertEqual(first, whole[:WIDTH - 1] + ">")  # which says that there is more
        for key in ("Right", "M-l"):
            self.type("^", key)
            self.assertEqual(self.line("<0005>"), whole[SIDEWAYS:][:WIDTH - 1] + ">", key)
        self.type("Right")
        self.assertEqual(self.line("<0005>"), whole[2 * SIDEWAYS:][:WIDTH - 1] + ">")
        self.type("Left")
        self.assertEqual(self.line("<0005>"), whole[SIDEWAYS:][:WIDTH - 1] + ">")
        for key in ("$", "C-e"):
            self.type("^", key)
            self.assertEqual(self.line("<0099>"), whole[-(WIDTH - 1):], key)
            self.type("Right")  # no further
            self.assertEqual(self.line("<0099>"), whole[-(WIDTH - 1):], key)
        for key in ("^", "C-a"):
            self.type("$", key)
            self.assertEqual(self.line("LONG="), first, key)
        self.leave()

    def test_lines_of_an_environment_that_is_longer_than_the_screen(self):
        self.open(**{f"V{number:03}": "x" for number in range(60)})
        lines = HEIGHT - 3  # a title, a rule, a line of keys
        for key, top in (("Home", None), ("Down", "V000"), ("C-d", f"V{lines:03}"), ("C-u", "V000"), ("End", f"V{60 - lines:03}"),
                         ("Up", f"V{59 - lines:03}")):
            self.type(key)
            shown = self.terminal.still().splitlines()[2].strip()
            self.assertTrue(shown.startswith(top or "P"), f"{key}: {shown}")
        self.leave()

    def test_it_is_read_again(self):
        child = self.open(BEFORE="stays")
        self.assertNotIn("\n AGAIN=", self.terminal.still())
        child.stdin.write(b"go\n")
        child.stdin.flush()
        wait_until(lambda: b"AGAIN=another-one" in self.environ(child), "the other program")
        self.assertNotIn("\n AGAIN=", self.terminal.still())  # nothing reads it by itself
        for key in ("r", "F5"):
            self.type(key)
            self.terminal.wait("\n AGAIN=another-one", "\n BEFORE=stays")
        self.terminal.still()  # the last key is answered: one that is ending shows no environment
        child.kill()
        child.wait()
        self.type("r")  # of who has ended what was read stays, and that is said
        text = self.terminal.wait("no process has the pid")
        for words in (f"Environment of {child.pid}", "\n AGAIN=another-one", "\n BEFORE=stays"):
            self.assertIn(words, text)
        self.leave()


if __name__ == "__main__":
    unittest.main()
