"""How soon a key is answered while a driver does not answer: from the moment when it is written into
the terminal until its screen has been read from it. No tmux in between, which has a rhythm of its own."""

import fcntl
import os
import pty
import re
import select
import signal
import statistics
import struct
import termios
import time
import unittest

from harness import SANITIZED, VITALS, environment, vitals
from terminal import BUILT, PATIENCE

WIDTH, HEIGHT = 100, 30
FRAME = 1 / 30  # seconds: what a person takes for "at once"
ROUNDS, PAIRS = 3, 20

ESCAPES = re.compile(rb"\x1b(?:\[[0-9;?]*[A-Za-z]|[()][A-Z0-9]|\][^\x07]*\x07|[=>78])")


class Watched:
    """The monitor on a terminal that this test reads itself."""

    def __init__(self, *arguments):
        words = [VITALS, *arguments]
        changes = environment(LC_ALL="C.UTF-8", TZ="UTC", TERM="xterm-256color", HOME="/nonexistent")
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execve(words[0], words, changes)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
        os.kill(self.pid, signal.SIGWINCH)

    def wait(self, word, seconds=PATIENCE):
        """Until the word has been written: what has been, since the last one was."""
        text, until = b"", time.monotonic() + seconds
        while word not in ESCAPES.sub(b"", text):
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.terminal], [], [], left)[0]:
                raise AssertionError(f"never {word}: {text[-2000:]}")
            text += os.read(self.terminal, 65536)
        return text

    def answer(self, key, word):
        """Seconds until the key has done what it is for."""
        begun = time.monotonic()
        os.write(self.terminal, key)
        self.wait(word)
        return time.monotonic() - begun

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


@unittest.skipUnless(BUILT, "built without the interactive screens")
class Latency(unittest.TestCase):
    def medians(self, pairs):
        """Of each round: keys in turns, each with what it brings onto the screen."""
        watched = Watched("--demo=hang", "--interval", "100ms")
        self.addCleanup(watched.close)
        watched.wait(b"Press h for help")
        result = []
        for _ in range(ROUNDS):
            took = [watched.answer(key, word) for _ in range(PAIRS) for key, word in pairs]
            result.append(statistics.median(took))
        return result

    @unittest.skipIf(SANITIZED, "a sanitizer is slow by itself")
    def test_a_key_is_answered_within_a_frame_whatever_the_driver_does(self):
        # Words of which no letter stands at its place on the screen before, so that all are written.
        for pairs in ([(b"h", b"What is shown"), (b"x", b"Press h for help")],
                      [(b"t", b"Tree of"), (b"q", b"Press h for help")]):
            with self.subTest(pairs):
                medians = self.medians(pairs)
                self.assertLess(min(medians), FRAME, medians)

    def test_the_driver_does_hang(self):
        """Else the bound above would say nothing: at the end the device has not told its power."""
        text = vitals("--demo=hang", "--screen", "100x30", env={"LC_ALL": "C.UTF-8", "TZ": "UTC"}).stdout
        self.assertRegex(text, r"(?m)^│   0 .*\d+W / 700W")
        self.assertRegex(text, r"(?m)^│   1 .* N/A / N/A")


if __name__ == "__main__":
    unittest.main()
