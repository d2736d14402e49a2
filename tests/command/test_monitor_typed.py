"""Every key of the key table, as an input event, and the mouse.

The keys are read from the help, which is made of the table, so that a new one is typed here too
without anybody thinking of it."""

import os
import re
import shutil
import subprocess
import time
import unittest

import frames
import screens
from harness import VITALS, vitals
from input_events import BUILT, Events, code_of
from terminal import PATIENCE

# As the help writes them, and as tmux does.
NAMES = {"PgUp": "PageUp", "PgDn": "PageDown", "S-Tab": "BTab", "Esc": "Escape", "Bksp": "BSpace", "Del": "DC", "Ins": "IC"}
KNOWN = {"Up", "Down", "Left", "Right", "Home", "End", "Tab", "Space", "Enter", *(f"F{i}" for i in range(1, 13))}
WIDTH, HEIGHT = 120, 36
ENDS = ("q", "Q", "F10")


def help_keys():
    """The keys that the help names: [["r", "R", "C-r", "F5"], ["op"], …]."""
    lines = vitals("--demo", "--screen", "120x300:help", env={"LC_ALL": "C.UTF-8"}).stdout.splitlines()
    begin = next(place for place, line in enumerate(lines) if line.startswith(" What is shown"))
    column = next(line.index("this help") for line in lines if line.startswith(" h ?"))
    found = []
    for line in lines[begin:]:
        keys, said = line[:column].split(), line[column:].strip()
        if keys and said and "─" not in line and keys != ["Mouse"]:
            found.append(keys)
        elif not keys and found and found[-1][0][0] in "oG":  # letters that this key waits for
            found += [[found[-1][0][0] + letter] for letter in re.findall(r"(?:^|  )(\w) ", said)]
    return found


def presses(key):
    """The keys to type, for one as the help names it."""
    if key in NAMES:
        return [NAMES[key]]
    if key in KNOWN or re.fullmatch(r"[CS]-\S+", key):
        return [key]
    if re.fullmatch(r"A-\S", key):
        return ["M-" + key[2:]]
    if len(key) == 1 or re.fullmatch(r"[oG][A-Za-z/]", key):
        return list(key)
    if re.fullmatch(r"\d-\d", key):
        return list(map(str, range(int(key[0]), int(key[2]) + 1)))
    raise AssertionError(f"the help names a key that this test cannot type: {key}")


# A question in the last row ("Search: _", "Sort by (n p u):"), a dialog, another screen's way back.
HALF = re.compile(r"^ *[A-Z][a-z ]*(\(.*\))?:[^\n]*\Z|Send a signal|\b(goes|q) back\b", re.MULTILINE)


@unittest.skipUnless(BUILT, "built without the interactive screens")
class Typed(unittest.TestCase):
    def setUp(self):
        self.terminal = Events(WIDTH, HEIGHT)
        self.addCleanup(self.terminal.close)
        self.type = self.terminal.type

    def start(self, *arguments):
        """With the devices of the demo, which are not in the first picture, if nothing else is asked for."""
        self.terminal.run(f"{VITALS} {' '.join(arguments or ['--demo=many'])}")
        self.terminal.wait("Press h for help", "COMMAND", *([] if arguments else ["Default"]))

    def start_on_sleepers(self, count=6):
        """The monitor with a list that changes only by keys: of processes whose name nobody else has."""
        name = f"typed{os.getpid()}"
        shutil.copy(shutil.which("sleep"), self.terminal.home / name)
        for _ in range(count):
            sleeper = subprocess.Popen([self.terminal.home / name, "600", *["0.125"] * 40], stdin=subprocess.DEVNULL)
            self.addCleanup(lambda sleeper=sleeper: (sleeper.kill(), sleeper.wait()))
        self.start("--backends", "none")
        self.type("-l", f"&{name}")
        self.terminal.wait(f"Filter: {name}")  # the list before it may show the sleepers as well
        self.type("Enter")
        self.terminal.wait(str(sleeper.pid), "0.125 0.125", gone=("Filter:",))
        return self.terminal.still()

    def literally(self, keys):
        for key in keys:
            self.type(*(["-l", key] if len(key) == 1 else [key]))

    def start_on_children(self, count=24):
        """No other process is in the list, whatever is pressed: whoever is under the cursor lives on,
        and nothing that is sent reaches anybody else."""
        children = [subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL) for _ in range(count)]
        for child in children:
            self.addCleanup(lambda child=child: (child.kill(), child.wait()))
        self.start("--backends", "none", "-p", *(str(child.pid) for child in children))
        return children

    def check(self, what):
        """The screen keeps its form, whatever was pressed."""
        text = self.terminal.still()
        self.assertEqual(frames.faults(text, WIDTH, HEIGHT), [], f"after {what}:\n{text}")
        return text

    def home(self, text):
        """From what is seen now to the main screen as it was at first. Every other says how one comes
        back."""
        for _ in range(10):
            if not HALF.search(text.rstrip()):
                self.type("r")
                return
            self.type("Escape")
            until = time.monotonic() + 1
            text = self.terminal.still()
            while HALF.search(text.rstrip()) and time.monotonic() < until:  # a busy machine: q must not come with it
                text = self.terminal.still()
            if HALF.search(text.rstrip()):
                self.type("q")
                text = self.terminal.still()
        self.fail(f"no way back:\n{text}")

    def quit(self, child):
        self.home(self.terminal.still())
        self.assertEqual(self.terminal.child(), child, "another monitor than at first")
        self.type("q")
        self.terminal.wait("rc=0.")

    def test_the_keys_can_be_read(self):
        keys = [key for row in help_keys() for key in row]
        for key in ("q", "C-r", "A-J", "op", "Enter", "Esc", "PgDn", "\\", "&", "S-Tab"):
            self.assertIn(key, keys)
        for key in keys:
            self.assertTrue(presses(key))

    def test_the_check_finds_what_is_broken(self):
        """Of each screen a line that stands a column too far right, mostly: not text of others alone."""
        for name in screens.names():
            text = vitals("--demo", "--screen", f"{WIDTH}x{HEIGHT}:{name}", env={"LC_ALL": "C.UTF-8"}).stdout
            self.assertEqual(frames.faults(text, WIDTH, HEIGHT), [], text)
            lines, found = text.splitlines(), 0
            for y, line in enumerate(lines[:-1]):
                moved = [*lines[:y], " " + line[:WIDTH - 1], *lines[y + 1:]]
                found += frames.faults("\n".join(moved), WIDTH, HEIGHT) != []
            with self.subTest(name):
                self.assertGreaterEqual(found, {"alerts": 2, "device": 2, "environment": 1, "tree": 3}.get(name, 8))

    def test_the_check_knows_a_deep_tree(self):
        """Levels that have no room are a number."""
        title = " Tree of processes ──\n     ▲PID    USER S      RES  %CPU     TIME  COMMAND"
        before = " " * title.splitlines()[1].index("COMMAND")
        for last in ("1  │  └─ c", "1     └─ c", "12 └─ c"):
            self.assertEqual(frames.faults("\n".join([title, f"{before}├─ a", f"{before}│  └─ b", before + last]), 120, 6), [])
        self.assertNotEqual(frames.faults("\n".join([title, f"{before}├─ a", f"{before}x  └─ b", ""]), 120, 6), [])

    def test_every_key_on_the_main_screen(self):
        self.start()
        child = self.terminal.child()
        for row in help_keys():
            for key in row:
                if key in ENDS:
                    continue
                with self.subTest(key):
                    self.literally(presses(key))
                    self.home(self.check(key))
                self.assertNotIn("rc=", self.terminal.screen(), f"it ended after {key}")
        self.quit(child)

    def type_all(self, way, mark):
        """One name of each key where `way` leads, which is where `mark` is seen. Before each key that
        is so, and what it made of the screen is looked at."""
        for row in help_keys():
            key = next((key for key in row if key not in ENDS), None)
            if key is None:
                continue
            with self.subTest(key, way=way):
                if not re.search(mark, self.terminal.screen(), re.MULTILINE):
                    self.go(way, mark)
                self.literally(presses(key))
                self.check(f"{way}, {key}")
            self.assertNotIn("rc=", self.terminal.screen(), f"it ended after {key}")

    def go(self, way, mark):
        """From wherever, and whenever: a key may have led to the past."""
        for _ in range(2):  # words in the last row may hide the way back
            self.home(self.terminal.still())
        self.literally(["E", *way])
        until = time.monotonic() + PATIENCE
        while not re.search(mark, self.terminal.screen(), re.MULTILINE):
            self.assertLess(time.monotonic(), until, f"{way} does not lead to {mark}:\n{self.terminal.screen()}")
            time.sleep(0.03)

    def every_key_at(self, *ways):
        """Of the monitor that was started."""
        child = self.terminal.child()
        for way, mark in ways:
            self.go(way, mark)
            self.type_all(way, mark)
        self.quit(child)

    def test_every_key_on_the_screens_of_processes(self):
        children = self.start_on_children()
        self.every_key_at((["Down", "e"], r"^Environment of "), (["Down", "Enter"], r"^┌─ Process "))
        self.assertEqual([child.pid for child in children if child.poll() is not None], [], "a key reached them")

    def test_every_key_on_the_tree(self):
        self.start()
        self.every_key_at((["t"], r"^ Tree of processes"))

    def test_every_key_on_the_other_screens(self):
        self.start()
        self.every_key_at((["d", "Enter"], r"^ GPU \d.* of 8$"), (["C"], r"^ Columns of the list"),
                          (["h"], r"(any other|Any) key goes back"), (["A"], r"^ What needed attention"),
                          (["S"], r"^ Settings  "))

    def test_every_key_after_a_question(self):
        """Letters become its text there."""
        self.start()
        self.every_key_at((["\\"], r"^ *Search: "), (["&"], r"^ *Filter: "), (["@"], r"^ *Go to: "))

    def test_every_key_in_the_dialog_about_a_child(self):
        keys = [next(key for key in row if key not in ENDS) for row in help_keys() if set(row) - set(ENDS)]
        children = self.start_on_children()
        monitor = self.terminal.child()
        for key in keys:
            with self.subTest(key):
                self.home(self.terminal.still())  # so that each key finds the dialog as it opens
                self.type("E", "Escape")
                self.terminal.wait("sleep 600")  # another screen may have been there, and the list is read anew
                self.type("Home", "T")
                text = self.terminal.wait("Send a signal to 1 process", "SIGTERM")
                named = text.split("Send a signal")[1]
                self.assertTrue(any(f"{child.pid} " in named for child in children), text)
                self.literally(presses(key))
                self.terminal.still()
        self.assertTrue(any(child.poll() is not None for child in children), "no key sent anything")
        self.quit(monitor)

    # ---- each name of a key does what the others do ----

    def selected(self):
        """Who is: the pid that the screen of a process shows."""
        self.type("Enter")
        text = self.terminal.wait("HOST-CPU")
        pid = re.search(r"PID[^\n]*\n\D*(\d+)", text).group(1)
        self.type("q")
        self.terminal.wait("rocesses:", gone=("HOST-CPU",))
        return pid

    def titles(self, text):
        return next(y for y, line in enumerate(text.splitlines()) if re.search(r"[ ▲▼]PID ", line))

    def test_keys_that_move_the_selection(self):
        y = self.titles(self.start_on_sleepers()) + 2
        for begin, alternatives in (("Home", ["Down", "M-j", "Tab", "WheelDown"]),
                                    ("End", ["Up", "M-k", "BTab", "WheelUp"])):
            self.type(begin)
            at_first, found = self.selected(), set()
            for key in alternatives:
                self.type(begin)
                self.terminal.send((code_of(key), 20, y))
                found.add(self.selected())
            self.assertEqual(len(found), 1, f"{alternatives} select {found}")
            self.assertNotIn(at_first, found)

    def test_a_click_selects(self):
        text = self.start_on_sleepers()
        y = self.titles(text) + 4
        pid = re.search(r"\d+", text.splitlines()[y]).group(0)
        self.terminal.send((code_of("Click"), 20, y))
        self.assertEqual(self.selected(), pid)

    def rows(self):
        """The lines of the list without their figures, some of which move."""
        lines = self.terminal.still().splitlines()
        return re.sub(r" +(N/A|\d[\d.:]*)", " 0", "\n".join(lines[self.titles("\n".join(lines)):]))

    def test_keys_that_have_several_names(self):
        self.start_on_sleepers()
        for before, alternatives, back in (
                ((), ["Right", "M-l"], "^"), (("Right", "Right"), ["^", "C-a"], "^"), ((), ["$", "C-e"], "^"),
                (("op",), [".", ">"], "on"), (("op",), [",", "<"], "on")):
            with self.subTest(alternatives):
                found = set()
                for key in alternatives:
                    for word in before:
                        self.literally(list(word) if word.islower() else [word])
                    at_first = self.rows()
                    self.literally([key])
                    found.add(self.rows())
                    self.assertNotIn(at_first, found, key)
                    self.literally(back)
                self.assertEqual(len(found), 1, "\n".join(found))

    def test_keys_that_put_everything_back(self):
        self.start()
        for key in ("r", "R", "C-r", "F5"):
            with self.subTest(key):
                self.literally("oP")
                self.terminal.wait("▼PID")
                self.literally([key])
                self.terminal.wait("PID", gone=("▼PID",))


if __name__ == "__main__":
    unittest.main()
