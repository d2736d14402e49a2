"""The dialog before a signal, against real children of the test: somebody else's, one that has gone
meanwhile, several at once, and over the tree. test_monitor_terminal.py has the usual case."""

import os
import pathlib
import shutil
import signal
import subprocess
import unittest

from cast import ordinary
from harness import VITALS
from terminal import BUILT, PATIENCE, TMUX, Terminal


@unittest.skipIf(TMUX is None, "no tmux")
@unittest.skipUnless(BUILT, "built without the interactive screens")
class Dialog(unittest.TestCase):
    def setUp(self):
        self.terminal = Terminal(110, 36)
        self.addCleanup(self.terminal.close)
        self.name = f"prey{os.getpid()}"
        self.program = pathlib.Path(self.terminal.folder.name) / self.name
        shutil.copy(shutil.which("sleep"), self.program)

    def child(self):
        child = subprocess.Popen([self.program, "600"], stdin=subprocess.DEVNULL)
        self.addCleanup(lambda: (child.kill(), child.wait()))
        return child

    def open(self, *children, before=""):
        """The monitor with these in its list and nobody else."""
        terminal = self.terminal
        terminal.run(f"{before} {pathlib.Path(VITALS).resolve()} --backends none")
        terminal.wait("All processes:")
        terminal.type("-l", f"&{self.name}")
        terminal.wait(f"Filter: {self.name}")
        terminal.type("Enter")
        terminal.wait(*(str(child.pid) for child in children), f"{self.name} 600", gone=("Filter:",))
        terminal.type("Home")

    def ask(self, count):
        self.terminal.type("T")
        return self.terminal.wait(f"Send a signal to {count} process{'es' if count > 1 else ''}?", "SIGTERM")

    def test_somebody_elses_process_is_left_alone_and_that_is_told(self):
        words = ordinary(self)
        child = self.child()
        self.open(child, before=" ".join(words))
        self.ask(1)
        self.terminal.type("Enter")
        self.terminal.wait("no permission", str(child.pid))
        self.terminal.type("Escape")
        self.terminal.wait("All processes:", gone=("no permission",))
        self.assertIsNone(child.poll())

    def test_who_goes_between_question_and_answer_is_told_and_nobody_else_is_meant(self):
        child, other = self.child(), self.child()
        self.open(child, other)
        text = self.ask(1)
        meant = child if f"{child.pid} " in text.split("Send a signal")[1].split("SIGTERM")[0] else other
        spared = other if meant is child else child
        meant.kill()
        meant.wait(timeout=PATIENCE)
        self.terminal.type("Enter")
        self.terminal.wait("had ended already", str(meant.pid))
        self.terminal.type("Escape")
        self.terminal.wait("All processes:", gone=("had ended already",))
        self.assertIsNone(spared.poll())

    def test_several_that_are_tagged_at_once(self):
        children = [self.child() for _ in range(3)]
        spared = self.child()
        self.open(*children, spared)
        lines = self.terminal.still().splitlines()
        order = [pid for line in lines for pid in ([child.pid for child in [*children, spared]])
                 if f" {pid} " in line and self.name in line]
        self.assertEqual(len(order), 4, "\n".join(lines))
        at_last = order[-1]
        for _ in range(3):  # Space tags and goes on
            self.terminal.type("Space")
        text = self.ask(3)
        for pid in order[:-1]:
            self.assertIn(f"{pid} ", text.split("Send a signal")[1].split("SIGTERM")[0])
        self.terminal.type("Enter")  # of several nothing is chosen yet: that cancels
        self.terminal.wait("All processes:", gone=("Send a signal",))
        self.assertEqual([child.poll() for child in children], [None] * 3)
        self.ask(3)
        self.terminal.type("-l", "t")
        self.terminal.type("Enter")
        self.terminal.wait("What became of it:", "has ended", "after SIGTERM")
        for child in [*children, spared]:
            if child.pid != at_last:
                self.assertEqual(child.wait(timeout=PATIENCE), -signal.SIGTERM)
        self.assertEqual([child.pid for child in [*children, spared] if child.poll() is None], [at_last])

    def test_over_the_tree(self):
        child = self.child()
        self.open(child)
        self.terminal.type("t")
        self.terminal.wait("Tree of", str(child.pid), gone=("All processes:",))
        self.ask(1)
        self.terminal.type("-l", "i")
        self.terminal.type("Enter")
        self.terminal.wait("has ended", "after SIGINT", str(child.pid))
        self.assertEqual(child.wait(timeout=PATIENCE), -signal.SIGINT)
        self.terminal.type("Escape")
        self.terminal.wait("Tree of", gone=("has ended",))
        self.terminal.type("q")
        self.terminal.wait("All processes:")


if __name__ == "__main__":
    unittest.main()
