"""`vitals replay`: a recording on the monitor's screens, and stepping back in the live monitor. What is
shown of a moment must be what somebody saw who looked then: `--screen --from` of what had been
recorded by then is the oracle."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

from harness import VITALS, environment, in_one_of, reads_json, started, vitals, wait_until
from screens import machine, picture
from input_events import BUILT, Events

SQLITE = "SQLite" in vitals("--version").stdout
TICKS = 240
DEVICES, PROCESSES = 2, 12


def replay(path, *words, code=0):
    done = subprocess.run([VITALS, "replay", str(path), *words],
                          env=environment(TZ="UTC", HOME="/nonexistent", LC_ALL="C.UTF-8"),
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False, text=True)
    if done.returncode != code:
        raise AssertionError(f"{words}: exit code {done.returncode}, not {code}: {done.stderr}")
    return done.stdout if code == 0 else done.stderr


def clock(ns):
    return time.strftime("%H:%M:%S", time.gmtime(int(ns) // 1_000_000_000))


class Recorded(unittest.TestCase):
    """One file of snapshots a second apart for all of them."""

    @classmethod
    def setUpClass(cls):
        if not reads_json():
            raise unittest.SkipTest("built without jansson")
        folder = tempfile.TemporaryDirectory(prefix="vitals-replay-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.file = cls.folder / "run.json"
        cls.file.write_bytes(machine(DEVICES, PROCESSES, ticks=TICKS))
        cls.lines = cls.file.read_bytes().splitlines(keepends=True)
        cls.times = [json.loads(line)["realtime_ns"] for line in cls.lines]

    def until(self, tick):
        """A file of what had been recorded by then."""
        path = self.folder / f"until-{tick}.json"
        path.write_bytes(b"".join(self.lines[:tick + 1]))
        return path


class Pictures(Recorded):
    def test_a_moment_looks_as_it_did(self):
        for tick in (0, 1, 5, 100, TICKS - 1):
            for name in ("main", "tree", "process"):
                for width in (80, 160):
                    with self.subTest(tick=tick, screen=name, width=width):
                        shown = replay(self.file, "--at", clock(self.times[tick]), "--screen",
                                       f"{width}x41:{name}").splitlines()
                        then = picture(self.until(tick), width, 40, name).stdout.decode().splitlines()
                        if name == "process":  # its graphs begin when it is opened; a recording knows more
                            shown, then = shown[:5] + shown[-2:], then[:5] + then[-1:]
                        self.assertEqual(shown[:-1], then)
                        self.assertIn(clock(self.times[tick]), shown[-1])

    def test_memory_that_was_held_is_told(self):
        """Since when follows from the recording, wherever one begins to look."""
        lines = []
        for tick, line in enumerate(self.lines):
            snapshot = json.loads(line)
            works = tick == 60
            for row in snapshot["tables"]["gpu"] + snapshot["tables"]["gpu_process"]:
                row["utilization_ratio"] = 0.5 if works else 0.0
                for name in ("utilization_ratio", "memory_used_bytes"):
                    row["availability"].pop(name, None)
            for row in snapshot["tables"]["gpu_process"]:
                row["type"] = "C"
            lines.append(json.dumps(snapshot) + "\n")
        path = self.folder / "held.json"
        path.write_text("".join(lines))
        for tick, words in ((50, "held 50 s"), (60, None), (75, None), (100, "held 39 s"), (239, "held 178 s")):
            with self.subTest(tick=tick):
                text = replay(path, "--at", clock(self.times[tick]), "--held-after", "20s", "--screen", "160x50")
                self.assertEqual(set(re.findall(r"held \d+ \w+", text)), {words} - {None} if tick < 200 else {"held 2 min"})

    def test_words_for_moments(self):
        first, last = int(self.times[0]), int(self.times[-1])
        second = 1_000_000_000
        for words, ns in (("begin", first), ("end", last), ("+90", first + 90 * second), ("0%", first),
                          ("-1min", last - 60 * second), ("50%", first + (last - first) // 2),
                          ("-99h", first), ("+99h", last), ("+1.5min", first + 90 * second)):
            with self.subTest(words):
                text = replay(self.file, "--at", words, "--screen", "80x24").splitlines()[-1]
                self.assertTrue(text.startswith(f"{clock(ns)} of {clock(first)}–{clock(last)}, "), text)
        text = replay(self.file, "--screen", "80x24", "--ascii").splitlines()[-1]
        self.assertTrue(text.startswith(f"{clock(last)} of {clock(first)}-{clock(last)}, 100 %, stands"), text)

    def test_the_graph_of_a_process_has_a_past(self):
        shown = replay(self.file, "--screen", "100x40:process")
        self.assertGreater(shown.count("⣿") + shown.count("⣶"), 100)

    def test_what_cannot_be_shown_is_said(self):
        empty, text, csv = self.folder / "empty", self.folder / "text", self.folder / "a.csv"
        empty.write_bytes(b"")
        text.write_text("no recording at all\n")
        self.assertEqual(vitals("record", "--count", "2", "--interval", "0.1", str(csv)).returncode, 0)
        broken = self.folder / "broken.json"
        broken.write_bytes(b"{ this is no snapshot }\n")
        for path, words in ((self.folder / "absent", "No such file"), (self.folder, "not a regular file"),
                            (empty, "empty"), (text, "text"), (csv, "vitals report"), (broken, "broken.json"),
                            ("-", "write it to a file"), ("/dev/null", "not a regular file")):
            with self.subTest(path=path):
                said = replay(path, "--screen", "80x24", code=1)
                self.assertIn(words, said)
                self.assertEqual(len(said.splitlines()), 1, said)
        self.assertIn("name one recording", vitals("replay").stderr)
        for words, said in (([], "needs a terminal"), (["--screen", "80"], "--screen 80: not a size"),
                            (["--screen", "80x24:nowhere"], "there is no screen of that name"),
                            (["--screen", "80x24", "--at", "soon"], "that is not a time")):
            with self.subTest(words=words):
                done = vitals("replay", str(self.file), *words)
                self.assertEqual(done.returncode, 2 if words else 1)
                self.assertIn(said, done.stderr)

    def test_what_is_left_of_a_cut_file_is_shown(self):
        path = self.folder / "cut.json"
        whole = b"".join(self.lines[:10])
        path.write_bytes(whole + self.lines[10][:1000])
        text = replay(path, "--screen", "80x24").splitlines()
        self.assertIn(clock(self.times[9]), text[0])


@unittest.skipUnless(SQLITE, "built without SQLite")
class Databases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vitals-replay-")
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "run.db"

    def record(self, *words):
        done = vitals("record", "--demo", "--interval", "0.1", *words, str(self.file), timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_recording_of_the_machine(self):
        # The demo takes the newest programs, of which some may be gone before they are read.
        for _ in range(6):
            child = started(["sleep", "600"])
            self.addCleanup(child.wait)
            self.addCleanup(child.kill)
        def tree():
            self.file.unlink(missing_ok=True)
            self.record("--count", "25", "--processes")
            return "\n".join(replay(self.file, "--screen", "120x50:tree", "--at", f"{percent}%")
                             for percent in (100, 75, 50, 25))
        in_one_of(5, lambda: self.assertRegex(tree(), r"\b1\b.*root"))
        text = replay(self.file, "--screen", "120x50")
        self.assertIn("Driver Version", text)
        self.assertIn("100 %", text)
        # a file that nobody may write, in a folder that nobody may write
        os.chmod(self.file, 0o444)
        os.chmod(self.file.parent, 0o555)
        self.addCleanup(os.chmod, self.file.parent, 0o755)
        self.assertEqual(replay(self.file, "--screen", "120x50"), text)

    def test_phases_are_named(self):
        done = vitals("run", "--record", str(self.file), "--interval", "0.05", "--", "sh", "-c",
                      f"{VITALS} mark begin load; sleep 1.2; {VITALS} mark end load; sleep 1.2", timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        seen = {replay(self.file, "--screen", "120x30", "--at", f"{percent}%").splitlines()[-1]
                .count("in load") for percent in range(0, 101, 10)}
        self.assertEqual(seen, {0, 1})


@unittest.skipUnless(BUILT, "built without the interactive screens")
class OnATerminal(Recorded):
    def setUp(self):
        self.terminal = Events(120, 32)
        self.addCleanup(self.terminal.close)

    def open(self, *words):
        self.terminal.run(f"{VITALS} replay {self.file} {' '.join(words)}")
        return self.terminal.wait("Press h for help", " of ")

    def at(self, tick, *words):
        return self.terminal.wait(f"{clock(self.times[tick])} of ", *words)

    def test_keys_go_through_time(self):
        self.open("--hold")
        self.at(0, "stands", "Processes")
        for keys, tick in (("}", 1), ("}}}", 4), ("{", 3), (")", 13), ("w", 73), ("(", 63), ("b", 3),
                           ("E", TICKS - 1), ("{", TICKS - 2), ("|", 0)):
            self.terminal.type("-l", keys)
            self.at(tick)
        self.terminal.type("S-Right")
        self.at(1)
        self.terminal.type("-l", "@+60")
        self.terminal.wait("Go to: +60_")
        self.terminal.type("Enter")
        self.at(61)
        self.terminal.type("Down", "K")
        self.terminal.wait("this is a recording: no signal is sent")
        self.terminal.type("e")
        self.terminal.wait("asked of a living process")
        self.terminal.type("q")
        self.terminal.wait("Processes:", gone=("asked of a living process",))
        self.terminal.type("q")
        self.terminal.wait("rc=0.")

    def test_it_plays_and_holds(self):
        self.open("--at", "begin")
        self.terminal.wait("plays 1x")
        self.terminal.type("-l", "xxxxxx")
        self.terminal.wait("plays 64x")
        self.at(TICKS - 1, "waits for more")  # 240 s take four
        self.terminal.type("p")
        self.terminal.wait("stands")
        self.terminal.type("q")
        self.terminal.wait("rc=0.")

    def test_a_file_that_grows_is_followed(self):
        self.file = self.folder / "growing.json"
        self.file.write_bytes(b"".join(self.lines[:5]))
        self.open("--at", "end")
        self.at(4, "waits for more")
        with open(self.file, "ab") as file:
            file.write(b"".join(self.lines[5:7]))
        self.at(6)
        self.terminal.type("q")
        self.terminal.wait("rc=0.")


@unittest.skipUnless(BUILT and reads_json(), "built without the interactive screens, or without JSON")
class LookingBack(unittest.TestCase):
    def setUp(self):
        self.terminal = Events(120, 32)
        self.addCleanup(self.terminal.close)

    def moment(self):
        """That the first line tells."""
        pattern = re.compile(r"\d\d:\d\d:\d\d")
        found = []

        def told():  # a screen may be read while it is drawn
            found[:] = pattern.findall(self.terminal.screen().splitlines()[0])
            return bool(found)
        wait_until(told, "a time of day")
        return found[0]

    def until_kept(self):
        """Until some snapshots are kept that one can go back to."""
        self.terminal.wait("Press h for help", "Processes:")
        seen = set()
        while len(seen) < 4:
            seen.add(self.moment())
            time.sleep(0.1)

    def test_one_steps_back_and_comes_back(self):
        terminal = self.terminal
        terminal.run(f"{VITALS} --demo")
        self.until_kept()
        terminal.type("-l", "{{")
        text = terminal.wait(" ago", "E or Esc: back to now")
        held = self.moment()
        self.assertIn(held, text.splitlines()[-1])
        # It is counted from now, which goes on, while what is shown stands.
        ago = re.search(r" \d+ s ago", text.splitlines()[-1]).group()
        terminal.wait(" ago", gone=(ago,))
        self.assertEqual(self.moment(), held)
        terminal.type("Down", "K")
        terminal.wait("this is the past")
        terminal.type("p")
        terminal.wait("plays 1x")
        terminal.type("E")
        terminal.wait("Press h for help", gone=("back to now",))
        self.assertGreater(self.moment(), held)
        terminal.type("{")
        terminal.wait("E or Esc: back to now")
        terminal.type("Escape")
        terminal.wait("Press h for help", gone=("back to now",))
        terminal.type("q")
        terminal.wait("rc=0.")

    def test_what_is_kept_is_nobodys_file(self):
        terminal, folder = self.terminal, self.terminal.home / "temporary"
        folder.mkdir()
        terminal.run(f"TMPDIR={folder} {VITALS} --demo")
        self.until_kept()
        self.assertEqual(list(folder.iterdir()), [])
        place = pathlib.Path(f"/proc/{terminal.child()}/fd")
        files = [name for name in map(os.readlink, place.iterdir()) if name.startswith(str(folder))]
        self.assertEqual(len(files), 2, files)
        terminal.type("q")
        terminal.wait("rc=0.")

    def test_without_a_folder_it_is_kept_in_memory(self):
        terminal = self.terminal
        terminal.run(f"TMPDIR={terminal.home}/absent {VITALS} --demo")
        terminal.wait("the history is kept in memory")
        self.until_kept()
        terminal.type("{")
        terminal.wait("back to now", gone=("kept in memory",))
        terminal.type("q")
        terminal.wait("rc=0.")


if __name__ == "__main__":
    unittest.main()
