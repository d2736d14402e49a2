"""What the tests of the monitor in a terminal share: a tmux server of their own, whose screen is read
back."""

import fcntl
import os
import pathlib
import shutil
import subprocess
import tempfile
import termios
import time

from harness import environment, vitals

TMUX = shutil.which("tmux")
BUILT = "monitor        no" not in vitals("--version").stdout
PATIENCE = int(os.environ.get("VITALS_PATIENCE", 40))  # seconds: a busy machine


class Terminal:
    """A tmux server of its own with one window and a shell in it."""

    def __init__(self, width=100, height=30):
        self.folder = tempfile.TemporaryDirectory(prefix="vitals-tmux-")
        self.socket = os.path.join(self.folder.name, "socket")
        self.home = pathlib.Path(self.folder.name)
        shell = "exec env -u TMUX TERM=screen-256color bash --norc --noprofile"
        env = environment(LC_ALL="C.UTF-8", TZ="UTC", HOME=self.folder.name, HISTFILE="/dev/null")
        # A server that is asked while it starts on a busy machine may not be there yet.
        subprocess.run([TMUX, "-S", self.socket, "-f", "/dev/null", "new-session", "-d", "-x", str(width),
                        "-y", str(height), shell], env=env, check=True, timeout=PATIENCE,
                       stdin=subprocess.DEVNULL)
        self.type("PS1='ready> '; clear", "Enter")
        self.wait("ready>")

    def close(self):
        subprocess.run([TMUX, "-S", self.socket, "kill-server"], check=False, capture_output=True)
        self.folder.cleanup()

    def tmux(self, *words):
        return subprocess.run([TMUX, "-S", self.socket, *words], check=True, timeout=PATIENCE, text=True,
                              errors="replace", stdin=subprocess.DEVNULL, capture_output=True).stdout

    def type(self, *keys):
        self.tmux("send-keys", *keys)

    def raw(self, text):
        """Bytes as a terminal sends them, all at once."""
        self.tmux("send-keys", "-H", *(f"{ord(character):x}" for character in text))

    def screen(self, *words):
        return self.tmux("capture-pane", "-p", *words)

    def wait(self, *words, gone=(), seconds=PATIENCE):
        """Until all the words stand on the screen, and none of the others."""
        until = time.monotonic() + seconds
        while True:
            text = self.screen()
            if all(word in text for word in words) and not any(word in text for word in gone):
                return text
            if time.monotonic() > until:
                raise AssertionError(f"never {words} without {gone}:\n{text}")
            time.sleep(0.05)

    def state(self):
        """What a program may have left behind: alternate screen, hidden cursor, mouse, keypad."""
        return self.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag} #{mouse_any_flag} "
                         "#{keypad_flag} #{keypad_cursor_flag} #{insert_flag}").strip()

    def run(self, command):
        """Types a command whose end is seen; gives nothing before it has ended."""
        self.type("-l", f"{command}; echo rc=$?.")
        self.type("Enter")

    def child(self):
        """The one that the shell runs: its pid."""
        shell = self.tmux("display-message", "-p", "#{pane_pid}").strip()
        children = pathlib.Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
        if len(children) != 1:
            raise AssertionError(f"the shell has the children {children}")
        return int(children[0])

    def rests(self):
        """Whether the program has read all keys, and waits. (Escape is waited behind for 25 ms.)"""
        place = pathlib.Path(f"/proc/{self.child()}")
        with open(place / "fd" / "0", "rb", buffering=0) as keys:
            waiting = fcntl.ioctl(keys, termios.FIONREAD, b"\0\0\0\0")
        return waiting == b"\0\0\0\0" and (place / "stat").read_text().rpartition(")")[2].split()[0] == "S"

    def still(self, seconds=PATIENCE):
        """The screen once the program rests: three times in a row, and the same each time."""
        until, texts = time.monotonic() + seconds, []
        while len(texts) < 3 or len(set(texts[-3:])) > 1:
            if time.monotonic() > until:
                raise AssertionError(f"never still:\n{self.screen()}")
            rests = self.rests()
            texts.append(self.screen())
            if not rests:
                texts.clear()
            time.sleep(0.03)
        return texts[-1]
