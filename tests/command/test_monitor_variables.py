"""What the monitor makes of the environment and of a configuration, seen on a terminal."""

import os
import pathlib
import re
import shlex
import unittest

from harness import VITALS
from terminal import BUILT, TMUX, Terminal

REVERSED = re.compile(r"\x1b\[(?:\d+;)*7[;m]")
COLORED = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-7]|9[0-7]|38;5;\d+)m")


@unittest.skipIf(TMUX is None, "no tmux")
@unittest.skipUnless(BUILT, "built without the interactive screens")
class Variables(unittest.TestCase):
    def setUp(self):
        self.terminal = Terminal(110, 36)
        self.addCleanup(self.terminal.close)

    def start(self, *words, **variables):
        before = "".join(f"{name}={shlex.quote(value)} " for name, value in variables.items())
        self.terminal.run(f"clear; {before}{pathlib.Path(VITALS).resolve()} --demo {' '.join(words)}")

    def quit(self):
        self.terminal.type("q")
        self.terminal.wait("rc=0.")

    def monitor(self, *words, **variables):
        self.start(*words, **variables)
        self.terminal.wait("Press h for help", "COMMAND")
        return self.terminal.screen("-e")

    def selected(self):
        """With a row selected; the demo's first may be of a program that ends just then."""
        for _ in range(5):
            self.terminal.type("Down")
            self.terminal.still()
            text = self.terminal.screen("-e")
            if REVERSED.search(text):
                break
        return text

    def test_no_color_takes_the_colors_and_leaves_bold_and_reverse(self):
        for words, variables, colored in (((), {}, True), ((), {"NO_COLOR": "1"}, False),
                                          (("--colorful", "--light"), {"NO_COLOR": "1"}, False),
                                          (("--force-color",), {"NO_COLOR": "1"}, True)):
            with self.subTest(variables, words=words):
                self.monitor(*words, **variables)
                text = self.selected()
                self.assertEqual(bool(COLORED.search(text)), colored, text)
                self.assertRegex(text, r"\x1b\[(?:\d+;)*1[;m]", "nothing is bold")
                self.assertRegex(text, REVERSED, "nothing is reversed")
                self.quit()

    def test_a_terminal_gets_the_monitor_unless_the_older_form_says_no(self):
        for value in ("true", "YES", "1", "perhaps"):
            with self.subTest(value):
                self.monitor(NVITOP_MONITOR_ALWAYS=value)
                self.quit()
        for value in ("false", "No", "0"):
            with self.subTest(value):
                self.start(NVITOP_MONITOR_ALWAYS=value)
                text = self.terminal.wait("rc=0.", gone=("Press h for help",))
                self.assertIn("Driver Version", text + self.terminal.screen("-S", "-100"))
        self.monitor("-m", NVITOP_MONITOR_ALWAYS="no")
        self.quit()

    def test_a_broken_configuration_is_told_in_the_last_row(self):
        folder = self.terminal.home / "vitals"
        os.makedirs(folder)
        (folder / "config.json").write_text('{"interval": 1,\n "ascii": "perhaps"}', encoding="utf-8")
        self.monitor(XDG_CONFIG_HOME=str(self.terminal.home))
        last = self.terminal.still().rstrip().splitlines()[-1]
        self.assertIn("config.json:2:", last)
        (folder / "config.json").write_text('{"interval": 1}', encoding="utf-8")
        self.quit()
        self.monitor(XDG_CONFIG_HOME=str(self.terminal.home))
        self.assertNotIn("config.json", self.terminal.still())
        self.quit()


if __name__ == "__main__":
    unittest.main()
