"""The monitor driven by input events, without a terminal: what is typed is handled when `type` returns,
and the picture that follows is there. It has the names of terminal.Terminal, so that a test takes the
one or the other; what only a terminal can show (start, signals, sizes, the mouse's own bytes) is
tested there."""

import os
import pathlib
import pty
import subprocess
import tempfile
import threading
import time

from harness import BUILD, VITALS, environment, for_every_user
from terminal import PATIENCE

EVENTS = BUILD / "tests/command/monitor_events"
BUILT = EVENTS.exists()

# As src/monitor/input_event.h has them. Terminals have more keys; the monitor knows none of those.
SPECIAL = 0x110000
CODES = {name: SPECIAL + place for place, name in enumerate((
    "Up", "Down", "Left", "Right", "PageUp", "PageDown", "Home", "End", "BTab", "F5", "S-Left", "S-Right", "Click",
    "WheelUp", "WheelDown", "WheelLeft", "WheelRight", "PasteBegin", "PasteEnd", "Size", "F1", "F2", "F3", "F4", "F6", "F7", "F8", "F9", "F10"))}
CODES |= {"Tab": 9, "Enter": 10, "Escape": 27, "Space": 32, "BSpace": 127}
ALT = 1 << 24
NONE = 0


def code_of(key):
    """The code of a key as tmux names it."""
    if key in CODES:
        return CODES[key]
    if key.startswith("C-") and len(key) == 3:
        return ord(key[2].upper()) & 0x1f
    if key.startswith("M-") and len(key) == 3:
        return ALT | ord(key[2])
    return ord(key) if len(key) == 1 else NONE


class Events:
    """A monitor that is started by `run`, in a session of its own."""

    def __init__(self, width=100, height=30):
        self.size = f"{width}x{height}"
        self.folder = tempfile.TemporaryDirectory(prefix="vitals-events-")
        self.home = pathlib.Path(self.folder.name)
        self.program = None

    def run(self, command):
        """A command of the shell in which the program stands by its path."""
        self.end()
        events, self.events = os.pipe()
        self.pictures, pictures = os.pipe()
        keyboard, terminal = pty.openpty()
        self.sent = self.seen = 0
        self.text, self.news = "", threading.Condition()
        program = str(for_every_user(EVENTS.resolve()))
        path = str(pathlib.Path(VITALS).resolve())
        command = command.replace(path, program).replace(VITALS, program)
        self.program = subprocess.Popen(
            ["bash", "-c", command],
            env=environment(LC_ALL="C.UTF-8", TZ="UTC", HOME=str(self.home), TERM="xterm-256color",
                            VITALS_EVENTS=f"{events} {pictures} {self.size}"),
            stdin=terminal, stdout=terminal, stderr=terminal, pass_fds=(events, pictures), start_new_session=True)
        for descriptor in (events, pictures, terminal):
            os.close(descriptor)
        self.reader = threading.Thread(target=self.read, args=(self.pictures, keyboard))
        self.reader.start()

    def read(self, pictures, keyboard):
        """In a thread: the newest picture, until the program ends."""
        waiting = b""
        while (got := os.read(pictures, 1 << 20)):
            *whole, waiting = (waiting + got).split(b"\f")
            if whole:
                seen, _, text = whole[-1].decode().partition("\n")
                with self.news:
                    self.seen, self.text = int(seen), text
                    self.news.notify_all()
        code = self.program.wait()
        said = b""
        os.set_blocking(keyboard, False)
        try:
            said = os.read(keyboard, 1 << 16)
        except OSError:
            pass
        os.close(pictures)
        os.close(keyboard)
        with self.news:
            self.text = f"{said.decode(errors='replace')}rc={code if code >= 0 else 128 - code}."
            self.seen = 1 << 62
            self.news.notify_all()

    def end(self):
        if self.program is not None:
            os.close(self.events)  # as a terminal that is closed
            try:
                self.program.wait(timeout=PATIENCE)
            finally:
                self.program.kill()
                self.reader.join()
            self.program = None

    def close(self):
        self.end()
        self.folder.cleanup()

    def send(self, *events):
        """(code, x, y) of each; returns when the picture after them is there."""
        with self.news:
            for event in events:
                self.sent += 1
                try:
                    os.write(self.events, b"%d %d %d\n" % event)
                except BrokenPipeError:
                    break
            if not self.news.wait_for(lambda: self.seen >= self.sent, PATIENCE):
                raise AssertionError(f"{events} are not handled:\n{self.text}")

    def type(self, *keys):
        """As `tmux send-keys` has them: names, or with -l each character of what follows."""
        literal = "-l" in keys
        keys = [key for key in keys if key not in ("-l", "--")]
        keys = [character for key in keys for character in key] if literal else keys
        self.send(*((code_of(key), 0, 0) for key in keys))

    def screen(self):
        with self.news:
            return self.text

    def wait(self, *words, gone=(), seconds=PATIENCE):
        """Until all the words stand on the screen, and none of the others."""
        until = time.monotonic() + seconds
        with self.news:
            while not all(word in self.text for word in words) or any(word in self.text for word in gone):
                if not self.news.wait(until - time.monotonic()) and time.monotonic() > until:
                    raise AssertionError(f"never {words} without {gone}:\n{self.text}")
            return self.text

    def still(self):
        """The screen after all that was typed."""
        return self.screen()

    def child(self):
        """The monitor: its pid."""
        return self.program.pid
