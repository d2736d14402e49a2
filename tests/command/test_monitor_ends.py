"""The monitor ends when it is told to, while it reads every process often; and a screen of the demo
leaves no files behind, however it is ended."""

import os
import pathlib
import re
import resource
import signal
import subprocess
import tempfile
import time
import unittest

from harness import MEMORY, VITALS, environment, vitals
from terminal import BUILT, PATIENCE, TMUX, Terminal


@unittest.skipIf(TMUX is None, "no tmux")
@unittest.skipUnless(BUILT, "built without the interactive screens")
class Ends(unittest.TestCase):
    def test_with_all_processes_shown(self):
        for name, end in (("q", lambda terminal: terminal.type("q")),
                          ("SIGTERM", lambda terminal: os.kill(terminal.child(), signal.SIGTERM))):
            with self.subTest(name):
                terminal = Terminal(110, 36)
                self.addCleanup(terminal.close)
                terminal.run(f"{pathlib.Path(VITALS).resolve()} --backends none --interval 0.5")
                terminal.wait("All processes:")
                time.sleep(1.5)  # some readings: it hung at the second
                end(terminal)
                terminal.wait(f"rc={0 if name == 'q' else 128 + signal.SIGTERM}.", seconds=PATIENCE)


class DemoFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vitals-ends-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def folders(self):
        return {place.parent.parent for place in self.folder.glob("vitals-demo-*/proc/stat")}

    def start(self):
        """Stopped while it has a folder, which is seen sooner or later."""
        before, until = self.folders(), time.monotonic() + PATIENCE
        while time.monotonic() < until:
            child = subprocess.Popen([VITALS, "--demo", "--screen", "80x24"], stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                     env=environment(TMPDIR=str(self.folder)))
            self.addCleanup(lambda child=child: (child.kill(), child.communicate()))
            while child.poll() is None and not self.folders() - before:
                pass
            child.send_signal(signal.SIGSTOP)
            if child.poll() is None and self.folders() - before:
                return child
            child.send_signal(signal.SIGCONT)
        self.fail("its folder was never seen")

    def test_who_is_ended_takes_the_folder_along(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(number.name):
                child = self.start()
                child.send_signal(number)
                child.send_signal(signal.SIGCONT)
                child.communicate(timeout=PATIENCE)
                self.assertEqual(child.returncode, -number)
                self.assertEqual(list(self.folder.iterdir()), [])

    def test_what_a_killed_one_left_goes_with_the_next_and_nothing_else(self):
        foreign = self.folder / "vitals-demo-notes"
        foreign.mkdir(mode=0o700)
        (foreign / "note").write_text("mine")
        child = self.start()
        child.kill()
        child.communicate(timeout=PATIENCE)
        self.assertEqual(len(list(self.folder.iterdir())), 2)
        living = self.start()  # it holds its folder; what was left is gone
        self.assertEqual(len(list(self.folder.iterdir())), 2)
        done = vitals("--demo", "--screen", "80x24", env={"TMPDIR": str(self.folder)})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(list(self.folder.iterdir())), 2)
        living.send_signal(signal.SIGCONT)
        text, error = living.communicate(timeout=PATIENCE)
        self.assertEqual((living.returncode, error), (0, b""))
        self.assertGreater(len(text), 80)
        self.assertEqual([(foreign / "note").read_text()], ["mine"])
        self.assertEqual(list(self.folder.iterdir()), [foreign])

    @unittest.skipUnless(MEMORY, "there is no folder in memory, or a small one")
    def test_it_is_in_memory_unless_another_is_named(self):
        """Where it cannot be written the message says where that is."""
        for named, folder in ((None, MEMORY), (str(self.folder), str(self.folder))):
            done = vitals("--demo", "--screen", "80x24", env={"TMPDIR": named},
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(f"below {folder}: ", done.stderr)

    def test_a_screen_without_a_size(self):
        whole = vitals("--demo", "--screen", "80x24:help")
        alone = vitals("--demo", "--screen", "help")
        self.assertEqual((alone.returncode, alone.stderr), (0, ""))
        self.assertEqual(alone.stdout, whole.stdout)
        wrong = vitals("--demo", "--screen", "nowhere")
        self.assertEqual(wrong.returncode, 2)
        self.assertTrue(re.search("no screen of that name", wrong.stderr))


if __name__ == "__main__":
    unittest.main()
