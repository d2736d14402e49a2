"""Every key that goes through time, one by one on every screen that has them: where one comes to must be
where a list of the moments says. The recording has a snapshot every five seconds and a hole."""

import bisect
import json
import pathlib
import random
import re
import tempfile
import unittest

from harness import VITALS, reads_json, vitals
from screens import machine
from input_events import BUILT, Events

SQLITE = "SQLite" in vitals("--version").stdout
SECOND = 1_000_000_000
COUNT, STEP, HOLE = 320, 5, range(150, 190)  # 26 min, of which 200 s are missing
# Keys and what they do: so many snapshots, so many seconds, or to an end.
STEPS = {"{": -1, "}": 1, "S-Left": -1, "S-Right": 1}
SECONDS = {"(": -10, ")": 10, "b": -60, "w": 60, "C-b": -600, "C-f": 600}
ENDS = {"|": 0, "E": -1}
KEYS = [*STEPS, *SECONDS, *ENDS]
WAYS = {"main": [], "tree": ["t"], "process": ["Down", "Enter"], "device": ["0"]}


def clock(ns):
    seconds = ns // SECOND % 86400
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def recording():
    """Its bytes and its moments."""
    lines, moments = [], []
    for tick, line in enumerate(machine(1, 3, ticks=COUNT).splitlines()):
        if tick in HOLE:
            continue
        snapshot = json.loads(line)
        for name in ("monotonic_ns", "realtime_ns", "boottime_ns"):
            snapshot[name] = str(int(snapshot[name]) + tick * (STEP - 1) * SECOND)
        moments.append(int(snapshot["realtime_ns"]))
        lines.append(json.dumps(snapshot) + "\n")
    return "".join(lines).encode(), moments


class Oracle:
    """Where keys lead."""

    def __init__(self, moments):
        self.moments, self.at = moments, 0

    def newest(self, ns):
        return max(0, bisect.bisect_right(self.moments, ns) - 1)

    def press(self, key):
        last = len(self.moments) - 1
        if key in ENDS:
            self.at = ENDS[key] % len(self.moments)
        elif key in STEPS:
            self.at = min(last, max(0, self.at + STEPS[key]))
        else:
            found = self.newest(self.moments[self.at] + SECONDS[key] * SECOND)
            if found == self.at:  # in the hole: at least one further
                found += 1 if SECONDS[key] > 0 else -1
            self.at = min(last, max(0, found))
        return clock(self.moments[self.at])


@unittest.skipUnless(BUILT and reads_json(), "built without the interactive screens, or without JSON")
class OnATerminal(unittest.TestCase):
    """What both kinds of recordings need."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="vitals-replay-keys-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.file = cls.folder / "run.json"
        text, cls.moments = recording()
        cls.file.write_bytes(text)

    def open(self, path=None):
        """On a terminal of its own, where it stands at the begin."""
        self.terminal = Events(120, 32)
        self.addCleanup(self.terminal.close)
        self.terminal.run(f"{VITALS} replay --hold {path or self.file}")
        return self.terminal.wait(" of ", "{ } ( ) b w move")

    def last_row(self):
        return self.terminal.still().rstrip("\n").splitlines()[-1]

    def literally(self, *keys):
        for key in keys:
            self.terminal.type(*(["-l", key] if len(key) == 1 else [key]))

    def say(self, words):
        """Asks for a moment."""
        self.literally("@")
        self.terminal.wait("Go to: _")
        self.terminal.type("-l", "--", words)
        self.terminal.wait(f"Go to: {words}_")
        self.literally("Enter")

    def leave(self, screen):
        if screen != "main":
            self.literally("q")
            self.terminal.wait("rocesses:", "COMMAND", gone=("goes back", "q back"))
        self.literally("q")
        self.terminal.wait("rc=0.")

    def walk(self, oracle, keys, what):
        for place, key in enumerate(keys):
            before = oracle.at
            expected = oracle.press(key)
            self.literally(key)
            if key in STEPS and oracle.at == before:  # that is said, until the next key
                self.terminal.wait("this is the beginning" if STEPS[key] < 0 else "this is the end")
                continue
            self.terminal.wait(f"{expected} of ", ", stands")
            if oracle.at == before:  # which was seen before the key, too
                self.assertIn(f"{expected} of ", self.last_row(), f"{what}: {key} from {before}, the {place}th of {keys}")


class Keys(OnATerminal):
    def test_each_key_on_each_screen(self):
        for screen, way in WAYS.items():
            with self.subTest(screen):
                oracle = Oracle(self.moments)
                self.open()
                self.literally(*way)
                self.walk(oracle, KEYS, screen)
                self.walk(oracle, [part for key in KEYS for part in ("E", key)], screen)
                self.leave(screen)

    def test_any_order_of_them(self):
        for seed in range(2):
            keys = random.Random(seed).choices([key for key in KEYS if key not in ENDS], k=60)
            with self.subTest(seed=seed):
                oracle = Oracle(self.moments)
                self.open()
                self.say("50%")
                middle = self.moments[0] + (self.moments[-1] - self.moments[0]) // 2
                oracle.at = oracle.newest(middle)
                self.terminal.wait(f"{clock(self.moments[oracle.at])} of ", gone=("Go to:",))
                self.walk(oracle, keys, f"seed {seed}")
                self.leave("main")

    def test_across_the_hole(self):
        """What is missing is never shown, and stops nobody."""
        edge = HOLE.start - 1
        self.open()
        inside = (self.moments[edge] + 100 * SECOND)
        for words in (clock(inside), f"+{(inside - self.moments[0]) // SECOND}"):
            self.literally("|")
            self.terminal.wait(f"{clock(self.moments[0])} of ")
            self.say(words)
            self.terminal.wait(f"{clock(self.moments[edge])} of ", ", stands")
        oracle = Oracle(self.moments)
        for key in ("}", "S-Right", ")", "w"):
            oracle.at = edge
            self.walk(oracle, [key], "into it")
            self.assertEqual(oracle.at, edge + 1, key)
            self.walk(oracle, [{"}": "{", "S-Right": "S-Left", ")": "(", "w": "b"}[key]], "and back")
            self.assertEqual(oracle.at, edge, key)
        self.literally("p")  # and whoever plays waits a second there, not 200
        self.terminal.wait(", plays 1x")
        self.terminal.wait(f"{clock(self.moments[edge + 1])} of ")
        self.leave("main")

    def test_both_ends_are_said(self):
        self.open()
        for key, end, words in (("{", "|", "this is the beginning"), ("}", "E", "this is the end")):
            self.literally(end, key)
            self.terminal.wait(words)
            self.literally("Escape")
            self.terminal.wait(" of ", gone=(words,))
        self.leave("main")

    def test_moments_that_are_typed(self):
        first, last = self.moments[0], self.moments[-1]
        self.open()
        oracle = Oracle(self.moments)
        for words, target in (("34%", first + (last - first) * 34 // 100), ("begin", first), ("end", last), ("-5min", last - 300 * SECOND),
                              ("+99h", last), ("-99h", first), (clock(first + 301 * SECOND), first + 301 * SECOND)):
            self.say(words)
            self.terminal.wait(f"{clock(self.moments[oracle.newest(target)])} of ", gone=("Go to:",))
        here = self.last_row()
        for words in ("soon", "101%", "25:00", "-", "2026-02-31"):
            self.say(words)
            self.terminal.wait("is not a time;")
            self.literally("Escape")
            self.terminal.wait(" of ", gone=("is not a time", "Go to:"))
            self.assertEqual(self.last_row(), here)
        self.literally("@", "1", "Escape")  # thought better of it
        self.terminal.wait(" of ", gone=("Go to:",))
        self.assertEqual(self.last_row(), here)
        self.leave("main")

    def test_speeds_one_by_one(self):
        self.open()
        for speed in (2, 4, 8, 16, 32, 64, 64):  # of who stands: it plays
            self.literally("x")
            self.terminal.wait(f"plays {speed}x")
            self.literally("|")
        for speed in (32, 16, 8, 4, 2, 1, 1):
            self.literally("X")
            self.terminal.wait(f"plays {speed}x")
            self.literally("|")
        self.literally("p")
        self.terminal.wait("stands")
        self.literally("X")  # nothing is slower than 1x, and it plays again
        self.terminal.wait("plays 1x")
        self.leave("main")

    def test_it_is_held_on_each_screen(self):
        for screen, way in WAYS.items():
            with self.subTest(screen):
                self.open()
                self.literally(*way, "p")
                self.terminal.wait("plays 1x")
                self.literally("p")
                held = self.terminal.wait("stands")
                self.assertIn(f" of {clock(self.moments[0])}", held)
                self.leave(screen)

    def test_past_alerts(self):
        """A device that throttled for a while, one that still does: when that began and ended, and there by a key."""
        lines = [json.loads(line) for line in machine(2, 3, ticks=90).splitlines()]
        for tick, snapshot in enumerate(lines):
            gpus = snapshot["tables"]["gpu"]
            snapshot["columns"]["gpu"].append("throttled_by_temperature")
            for place, hot in ((0, 20 <= tick <= 40), (1, tick >= 70 or tick == 60)):  # one break is short
                gpus[place]["throttled_by_temperature"] = int(hot)
        path = self.folder / "hot.json"
        path.write_text("".join(json.dumps(snapshot) + "\n" for snapshot in lines), encoding="utf-8")
        begun, ended = (clock(int(lines[tick]["realtime_ns"])) for tick in (20, 40))
        since = clock(int(lines[60]["realtime_ns"]))
        self.open(path)
        self.literally("A")
        text = self.terminal.wait("What needed attention", "Enter goes to that time", gone=("looking further back",))
        found = [" ".join(line.split()) for line in text.splitlines() if "throttled" in line]
        self.assertEqual(found, [f"▲ {since} now 29 s GPU 1 throttled: heat",
                                 f"▲ {begun} {ended} 20 s GPU 0 throttled: heat"], text)
        self.literally("Down", "Enter")
        self.assertRegex(self.last_row(), f"^{begun} of ")
        self.literally("A", "Escape", "A", "q")
        self.assertRegex(self.last_row(), f"^{begun} of ")
        self.leave("main")

    def test_an_alert_leads_to_where_it_is_told(self):
        """Memory that is held is told after a while: before that nothing on the main screen says so."""
        lines = [json.loads(line) for line in machine(2, 3, ticks=90).splitlines()]
        for tick, snapshot in enumerate(lines):
            snapshot["tables"]["gpu"][0]["utilization_ratio"] = 0.5 if tick < 10 else 0
        path = self.folder / "held.json"
        path.write_text("".join(json.dumps(snapshot) + "\n" for snapshot in lines), encoding="utf-8")
        self.terminal = Events(120, 40)
        self.addCleanup(self.terminal.close)
        self.terminal.run(f"env -u VITALS_LAYOUT {VITALS} replay --hold --held-after 30 {path}")
        self.terminal.wait(" of ", "{ } ( ) b w move")
        self.literally("E")
        self.terminal.wait("GPU 0 idle 79 s")
        self.literally("A")
        self.terminal.wait("GPU 0 idle 79 s", "Enter goes to that time", gone=("looking further back",))
        self.literally("Enter")
        text = self.terminal.wait("COMMAND", "GPU 0 idle 30 s")  # once it has looked back
        self.assertIn("GPU 0 idle 30 s", text.splitlines()[1])
        self.assertRegex(self.last_row(), f"^{clock(int(lines[40]['realtime_ns']))} of ")
        self.leave("main")

    def test_without_marks_that_is_said(self):
        self.open()
        for key in ("m", "'"):
            self.literally(key)
            self.terminal.wait("there are no marks")
            self.literally("Escape")
            self.terminal.wait(" of ", gone=("nothing is marked",))
        self.leave("main")


@unittest.skipUnless(SQLITE, "built without SQLite")
class Marks(OnATerminal):
    def test_from_mark_to_mark(self):
        path = self.folder / "marked.db"
        phases = "; ".join(f"{VITALS} mark begin {name}; sleep 2; {VITALS} mark end {name}; sleep 2"
                           for name in ("load", "train"))
        done = vitals("run", "--record", str(path), "--interval", "0.05", "--", "sh", "-c", f"sleep 2; {phases}",
                      timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.open(path)
        self.assertNotIn(", in ", self.last_row())
        for key, seen in (("m", "load"), ("m", None), ("m", "train"), ("m", None)):
            before = self.last_row()
            self.literally(key)
            row = self.until_another(before)
            self.assertEqual(re.findall(r", in (\w+)", row), [seen] if seen else [], row)
        self.literally("m")
        self.terminal.wait("there is no later mark")
        self.literally("Escape")
        for seen in ("train", None, "load"):
            before = self.last_row()
            self.literally("'")
            row = self.until_another(before)
            self.assertEqual(re.findall(r", in (\w+)", row), [seen] if seen else [], row)
        self.literally("'")
        self.terminal.wait("there is no earlier mark")
        self.leave("main")

    def until_another(self, before):
        self.terminal.wait(" of ", gone=(before,))
        return self.last_row()


if __name__ == "__main__":
    unittest.main()
