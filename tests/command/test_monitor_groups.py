"""A signal to a group, against real children of the test: all of it and nobody else, whether it is open
or closed, and nobody at all where one may only look."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import unittest

from harness import VITALS
from input_events import BUILT, EVENTS, Events
from terminal import PATIENCE


@unittest.skipUnless(BUILT, "built without the interactive screens")
class Groups(unittest.TestCase):
    def setUp(self):
        self.terminal = Events(110, 36)
        self.addCleanup(self.terminal.close)
        self.name = f"pack{os.getpid()}"
        self.program = pathlib.Path(self.terminal.folder.name) / self.name
        shutil.copy(shutil.which("sleep"), self.program)

    def child(self, *before):
        child = subprocess.Popen([*before, self.program, "600"], stdin=subprocess.DEVNULL)
        self.addCleanup(lambda: (child.kill(), child.wait()))
        return child

    def open(self, children, *arguments):
        """The monitor with these in its list, in one group each parent has, the first one selected."""
        terminal = self.terminal
        terminal.run(f"{pathlib.Path(VITALS).resolve()} --backends none {' '.join(arguments)}")
        terminal.wait("All processes:")
        terminal.type("-l", f"&{self.name}")
        terminal.wait(f"Filter: {self.name}")
        terminal.type("Enter")
        terminal.wait(*(str(child.pid) for child in children), gone=("Filter:",))
        terminal.type("-l", "Gp")
        terminal.wait(f"parent {os.getpid()}", "processes")
        terminal.type("Home")

    def test_all_of_it_and_nobody_else(self):
        children, other = [self.child() for _ in range(3)], None
        for closed in (False, True):
            with self.subTest(closed=closed):
                self.open(children)
                other = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL)
                self.addCleanup(lambda child=other: (child.kill(), child.wait()))
                if closed:
                    self.terminal.type("-l", "-")
                    self.terminal.wait("▶ parent", gone=("▼",))
                self.terminal.type("T")
                text = self.terminal.wait(f"Send a signal to parent {os.getpid()}", "3 of its ", "SIGTERM")
                total, rest = map(int, re.search(r"3 of its (\d+) processes \((\d+) (?:is|are) not touched", text).groups())
                self.assertEqual(rest, total - 3, text)  # the filter hides the monitor, at least
                for child in children:
                    self.assertRegex(text, rf"{child.pid} \S+, running .*{self.name}")
                late = self.child()  # who joins meanwhile is not meant
                self.terminal.type("-l", "t")
                self.terminal.type("Enter")
                self.terminal.wait("What became of it:", "has ended", gone=("SIGTERM sent",))
                self.assertEqual([child.wait(timeout=PATIENCE) for child in children], [-signal.SIGTERM] * 3)
                self.assertIsNone(other.poll())
                self.assertIsNone(late.poll())
                late.kill()
                late.wait()
                self.terminal.type("Escape")
                self.terminal.wait("All processes:", gone=("has ended",))
                self.terminal.type("q")
                self.terminal.wait("rc=0")
                self.terminal.type("-l", "clear")
                self.terminal.type("Enter")
                children = [self.child() for _ in range(3)]

    def test_more_than_are_seen_are_told_and_looked_through(self):
        children = [self.child() for _ in range(30)]
        self.open(())  # Not all of them have room.
        self.terminal.wait("30 processes")
        self.terminal.type("T")
        self.terminal.wait(f"Send a signal to parent {os.getpid()}", "30 of its ", "0 more above, 14 below")
        self.terminal.type("End")
        self.terminal.wait("14 more above, 0 below")
        self.terminal.type("Escape")
        self.terminal.wait("All processes:", gone=("Send a signal",))
        self.assertEqual({child.poll() for child in children}, {None})

    def test_vitals_and_who_started_it_are_left_alone(self):
        """All that the user runs with that name: two children, vitals, and a shell that runs it."""
        terminal, children = self.terminal, [self.child() for _ in range(2)]
        program = pathlib.Path(VITALS).resolve()
        terminal.run(f"bash -c '{program} --backends none; exit $?' {self.name}")
        terminal.wait("All processes:")
        terminal.type("-l", f"&{self.name}")
        terminal.wait(f"Filter: {self.name}")
        terminal.type("Enter")
        terminal.wait(*(str(child.pid) for child in children), str(terminal.child()), gone=("Filter:",))
        terminal.type("-l", "Gu")
        terminal.wait("3 processes")
        terminal.type("Home")
        terminal.type("T")
        text = terminal.wait("Send a signal to user ", ": 2 of its ", "left alone: it started vitals")
        self.assertIn(f"{terminal.child()} ", text)
        terminal.type("-l", "t")
        terminal.type("Enter")
        terminal.wait("What became of it:", "has ended", gone=("SIGTERM sent",))
        self.assertEqual([child.wait(timeout=PATIENCE) for child in children], [-signal.SIGTERM] * 2)
        terminal.type("Escape")
        terminal.wait("All processes:", gone=("has ended",))
        terminal.type("q")
        terminal.wait("rc=0")

    def test_vitals_itself_is_left_alone(self):
        terminal = self.terminal
        program = self.program.with_name(f"{self.name}-monitor")
        program.symlink_to(EVENTS.resolve())
        child = self.child()
        terminal.run(f"{program} --backends none")
        terminal.wait("All processes:")
        terminal.type("-l", f"&{self.name}")
        terminal.wait(f"Filter: {self.name}")
        terminal.type("Enter")
        terminal.wait(str(child.pid), str(terminal.child()), gone=("Filter:",))
        terminal.type("-l", "Gu")
        terminal.wait("2 processes")
        terminal.type("Home")
        terminal.type("T")
        terminal.wait("Send a signal to user ", ": 1 of its ", "left alone: this is vitals")
        terminal.type("Escape")
        terminal.wait("All processes:", gone=("left alone",))
        self.assertIsNone(child.poll())

    def test_read_only_sends_none(self):
        children = [self.child() for _ in range(2)]
        self.open(children, "--readonly")
        for key in ("T", "K", "I"):
            self.terminal.type(key)
            self.terminal.wait("read-only: no signal is sent")
        self.assertEqual({child.poll() for child in children}, {None})


if __name__ == "__main__":
    unittest.main()
