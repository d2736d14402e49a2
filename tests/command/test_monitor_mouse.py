"""The mouse as a person uses it: a button is released some time after it was pressed. The monitor
must go on whatever the mouse reports, and each event acts at most once."""

import concurrent.futures
import re
import subprocess
import time
import unittest

from harness import VITALS
from terminal import BUILT, TMUX, Terminal

WIDTH, HEIGHT = 100, 30
RELEASED_AFTER = 0.05  # seconds: as fast as a person clicks

# The number of a button in a report. Motion with a button held adds 32; wheels have no release.
LEFT, MIDDLE, RIGHT, MOTION, WHEEL_UP, BACK = 0, 1, 2, 32, 64, 128


def sgr(button, x, y, released=False):
    return f"\x1b[<{button};{x + 1};{y + 1}{'m' if released else 'M'}"


def x10(button, x, y, released=False):
    """The older form, which does not say which button was released."""
    return "\x1b[M" + "".join(chr(32 + number) for number in (button & ~3 | 3 if released else button, x + 1, y + 1))


def gestures(report, x, y):
    """What each gesture sends, in parts that are sent one after the other."""
    result = {f"button {button + 1}": [report(button, x, y), report(button, x, y, True)]
              for button in (LEFT, MIDDLE, RIGHT)}
    for button in (LEFT, MIDDLE, RIGHT):
        result[f"drag with button {button + 1}"] = [
            report(button, x, y), report(button + MOTION, x + 1, y), report(button + MOTION, x + 2, y),
            report(button, x + 2, y, True)]
    for number, name in enumerate(("up", "down", "left", "right")):
        result[f"wheel {name}"] = [report(WHEEL_UP + number, x, y)]
    result["a click with Shift and Control"] = [report(LEFT + 4 + 16, x, y), report(LEFT + 4 + 16, x, y, True)]
    result["a release alone"] = [report(LEFT, x, y, True)]
    result["two clicks at once"] = [report(LEFT, x, y) + report(LEFT, x, y, True)] * 2
    if report is sgr:
        result["button 8"] = [report(BACK, x, y), report(BACK, x, y, True)]
        result["button 11"] = [report(BACK + 3, x, y), report(BACK + 3, x, y, True)]
    return result


def start(terminal, term, *arguments):
    terminal.run(f"TERM={term} {VITALS} --interval 500ms {' '.join(arguments)}")
    terminal.wait("Press h for help", "COMMAND")


def send(terminal, parts):
    for part in parts:
        terminal.raw(part)
        time.sleep(RELEASED_AFTER)


# How the mouse is reported, the value of TERM, the arguments of the monitor.
WAYS = ((sgr, "xterm-256color", "--demo"), (sgr, "xterm-256color", "--backends", "none"),
        (sgr, "xterm", "--demo"), (sgr, "xterm", "--backends", "none"), (x10, "screen-256color", "--demo"))


def stood_still(report, term, *arguments):
    """The gestures after which the clock of the main screen does not go on without any other input."""
    found, terminal = [], Terminal(WIDTH, HEIGHT)
    try:
        start(terminal, term, *arguments)
        for name, parts in gestures(report, 20, HEIGHT - 4).items():
            send(terminal, parts)
            clock = terminal.screen().splitlines()[0]
            try:
                terminal.wait("Press h for help", gone=(clock,))
            except AssertionError as why:
                found.append(f"{name}: {why}")
            terminal.type("C-l")  # wakes it, so that the next gesture is tried as well
        terminal.type("q")
        terminal.wait("rc=0.")
    finally:
        terminal.close()
    return found


@unittest.skipIf(TMUX is None, "no tmux")
@unittest.skipUnless(BUILT, "built without the interactive screens")
class Gestures(unittest.TestCase):
    def test_none_stops_the_clock(self):
        """In all ways at once, as a second is waited for after each gesture."""
        with concurrent.futures.ThreadPoolExecutor(len(WAYS)) as several:
            for way, found in zip(WAYS, several.map(lambda way: stood_still(*way), WAYS)):
                with self.subTest(way[1:], report=way[0].__name__):
                    self.assertEqual(found, [])


@unittest.skipIf(TMUX is None, "no tmux")
@unittest.skipUnless(BUILT, "built without the interactive screens")
class Mouse(unittest.TestCase):
    def setUp(self):
        self.terminal = Terminal(WIDTH, HEIGHT)
        self.addCleanup(self.terminal.close)

    def start(self, term, *arguments):
        start(self.terminal, term, *arguments)

    def send(self, parts):
        send(self.terminal, parts)

    def test_a_release_or_a_motion_presses_no_key(self):
        """Help ends with any key, and a question about a sort with the next one."""
        self.start("xterm-256color", "--demo")
        for key, word in (("h", "What is shown"), ("o", "Sort by"), ("\\", "Search: _")):
            with self.subTest(word):
                self.terminal.type(key)
                self.terminal.wait(word)
                self.send([sgr(LEFT, 21, 2, True), sgr(MIDDLE, 20, 2), sgr(MIDDLE + MOTION, 21, 2),
                           sgr(MIDDLE, 21, 2, True), sgr(35, 22, 2)])
                self.assertIn(word, self.terminal.still())
                self.terminal.type("Escape")
                self.terminal.wait("Press h for help", gone=(word,))

    def titles(self):
        """Where the title of the column PID is."""
        lines = self.terminal.still().splitlines()
        y = next(y for y, line in enumerate(lines) if "PID" in line and "COMMAND" in line)
        return lines[y].index("PID") + 1, y

    def test_a_click_acts_once(self):
        """A second click on a title reverses the order, which a release or a motion must not."""
        for number in range(3):
            with self.subTest(number):
                self.start("xterm-256color", "--demo")
                x, y = self.titles()
                press, motion, release = sgr(LEFT, x, y), sgr(LEFT + MOTION, x, y), sgr(LEFT, x, y, True)
                self.send(([press, release], [press, motion, motion, release], [press + release])[number])
                self.terminal.wait("▲PID")
                self.assertIn("▲PID", self.terminal.still())
                self.terminal.type("q")
                self.terminal.wait("rc=0.")
                self.terminal.type("clear", "Enter")

    def test_what_comes_in_one_read_counts_and_in_its_order(self):
        children = [subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL) for _ in range(8)]
        for child in children:
            self.addCleanup(lambda child=child: (child.kill(), child.wait()))
        pids = sorted(child.pid for child in children)
        self.start("xterm-256color", "--backends", "none", "-p", *map(str, pids))
        x, y = self.titles()
        click = sgr(LEFT, x, y) + sgr(LEFT, x, y, True)
        self.terminal.raw(click + click)
        self.terminal.wait("▼PID")
        self.terminal.raw(click + sgr(LEFT, x, y + 2) + sgr(LEFT, x, y + 2, True) + sgr(WHEEL_UP + 1, x, y + 4) * 3)
        self.terminal.wait("▲PID")
        self.assertEqual(self.selected(), str(pids[3]))

    def selected(self):
        """The pid that the screen of the selected process shows."""
        self.terminal.type("Enter")
        text = self.terminal.wait("HOST-CPU")
        self.terminal.type("q")
        self.terminal.wait("Press h for help", gone=("HOST-CPU",))
        return re.search(r"PID[^\n]*\n\D*(\d+)", text).group(1)

    def test_places_as_numbers(self):
        """They have no end at column 223."""
        self.start("xterm-256color", "--demo")
        lines = self.terminal.still().splitlines()
        y = next(y for y, line in enumerate(lines) if "COMMAND" in line)
        x = lines[y].index("PID") + 1
        self.terminal.raw(sgr(LEFT, x, y) + sgr(LEFT, x, y, True))
        self.terminal.wait("▲PID")


if __name__ == "__main__":
    unittest.main()
