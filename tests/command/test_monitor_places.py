"""Where the monitor runs: over ssh, in a terminal without UTF-8, without colors or without room, and
where there is no terminal at all."""

import getpass
import grp
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import time
import unittest

import screens
from harness import VITALS, environment
from terminal import BUILT, PATIENCE, TMUX, Terminal

SSHD = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
EMPTY = pathlib.Path("/run/sshd")
PROGRAM = str(pathlib.Path(VITALS).resolve())


@unittest.skipIf(TMUX is None, "no tmux")
@unittest.skipUnless(BUILT, "built without the interactive screens")
class InATerminal(unittest.TestCase):
    def setUp(self):
        self.terminal = Terminal()
        self.addCleanup(self.terminal.close)

    def leave(self):
        self.terminal.type("q")
        self.terminal.wait("rc=0.", "ready>")


class Odd(InATerminal):
    def test_without_utf_8_it_is_ascii(self):
        for locale in ("C", "POSIX", "no_SUCH"):
            with self.subTest(locale):
                self.terminal.type("clear", "Enter")
                self.terminal.run(f"LC_ALL={locale} {PROGRAM} --demo")
                text = self.terminal.wait("Press h for help", "+=====", "COMMAND")
                self.assertTrue(text.isascii(), text)
                self.leave()

    def test_other_terminals(self):
        """Without colors, without a mouse, without a title; what tmux itself is told is the same."""
        for term in ("vt100", "linux", "xterm", "ansi"):
            if subprocess.run(["infocmp", term], capture_output=True, check=False).returncode != 0:
                continue
            with self.subTest(term):
                self.terminal.type("clear", "Enter")
                state = self.terminal.state()
                # On a console ncurses opens libgpm, which leaks; that is none of ours.
                self.terminal.run(f"ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 TERM={term} {PROGRAM}"
                                  " --demo --ascii")
                self.terminal.wait("Press h for help", "COMMAND")
                self.terminal.type("h")
                self.terminal.wait("What is shown")
                self.terminal.type("q")
                self.terminal.wait("Press h for help")
                self.leave()
                self.assertEqual(self.terminal.state(), state)

    def test_begun_where_there_is_no_room(self):
        terminal = self.terminal
        terminal.type("-l", f"echo waits $((6 * 7)); read; exec {PROGRAM} --demo")
        terminal.type("Enter")
        terminal.wait("waits 42")  # before, the shell's line editor would take the next Enter
        terminal.tmux("resize-window", "-x", "1", "-y", "1")
        terminal.type("Enter")
        shell = terminal.tmux("display-message", "-p", "#{pane_pid}").strip()
        name, until = pathlib.Path(f"/proc/{shell}/comm"), time.monotonic() + PATIENCE
        while name.read_text() != "vitals\n":
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)
        for width, height in ((1, 1), (2, 3), (3, 1), (1, 50), (300, 1), (7, 5)):
            terminal.tmux("resize-window", "-x", str(width), "-y", str(height))
            terminal.type("Down")
        terminal.tmux("resize-window", "-x", "100", "-y", "30")
        text = terminal.wait("Press h for help", "COMMAND", "╘")
        # Commands of others may hold anything: only what is above the list.
        grid = [screens.cells(line) for line in text[:text.index("COMMAND")].splitlines()]
        self.assertEqual(screens.open_frames(grid[:-1], 100), [], text)

    def test_odd_modes_come_back(self):
        terminal = self.terminal
        terminal.run(f"stty -echo -icanon min 0 time 3 -ixon tostop; stty -a >{terminal.home}/before")
        terminal.wait("rc=0.")
        terminal.run(f"{PROGRAM} --demo")
        terminal.wait("Press h for help")
        self.leave()
        terminal.run(f"stty -a >{terminal.home}/after; stty sane; echo written $((6 * 7))")
        terminal.wait("written 42")
        self.assertEqual((terminal.home / "before").read_text(), (terminal.home / "after").read_text())

    def test_no_terminal_is_said(self):
        """Whoever asks for a monitor gets one, or why not."""
        for words in (f"{PROGRAM} -m --demo | cat; (exit ${{PIPESTATUS[0]}})", f"{PROGRAM} -m --demo </dev/null",
                      f"{PROGRAM} -m --demo >/dev/null", f"{PROGRAM} -m --demo >&-", f"{PROGRAM} -m --demo <&-"):
            with self.subTest(words):
                self.terminal.type("clear", "Enter")
                self.terminal.run(words)
                text = self.terminal.wait("rc=1.")
                self.assertIn("vitals: ", text)
                self.assertIn("terminal", text)

    def test_not_asked_for_it_is_a_report(self):
        self.terminal.run(f"{PROGRAM} --demo --delay 0 | tail -n 12")
        text = self.terminal.wait("rc=0.")
        self.assertNotIn("Press h for help", text)
        self.assertIn("╘", text)

    def test_errors_apart_from_the_screen(self):
        """Standard error may be a file: nothing of it is on the screen, and nothing else in it."""
        self.terminal.run(f"{PROGRAM} --demo 2>{self.terminal.home}/errors")
        self.terminal.wait("Press h for help", "COMMAND")
        self.leave()
        self.assertEqual((self.terminal.home / "errors").read_text(), "")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@unittest.skipIf(SSHD is None or shutil.which("ssh") is None, "no ssh server to try it with (openssh-server)")
def gets_terminals():
    """Whether a server of ours gets a terminal of group tty, as sshd(8) wants it. Where devpts is not
    mounted with gid=5, as in some containers, only root and that group can make it one."""
    first, second = os.openpty()
    group = os.fstat(second).st_gid
    os.close(first)
    os.close(second)
    try:
        wanted = grp.getgrnam("tty").gr_gid
    except KeyError:
        return True
    return os.getuid() == 0 or group == wanted or wanted in (os.getegid(), *os.getgroups())


class OverSsh(InATerminal):
    """A server of our own, on the loopback, with keys of its own; it ends with the test."""

    def setUp(self):
        super().setUp()
        self.folder = self.terminal.home
        if not os.access(pwd.getpwuid(os.getuid()).pw_shell, os.X_OK):
            self.skipTest("this user has no shell to log in to")
        if not gets_terminals():
            self.skipTest("an sshd of this user gets no terminal: devpts is mounted without gid=5")
        if os.getuid() == 0 and not EMPTY.is_dir():  # as its service makes it
            EMPTY.mkdir(mode=0o755)
            self.addCleanup(EMPTY.rmdir)
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name], check=True,
                           stdin=subprocess.DEVNULL)
        for _ in range(4):  # somebody else may have got the port
            self.port = free_port()
            if self.serve():
                return
        self.skipTest("sshd does not start: " + (self.folder / "log").read_text()[-300:])

    def serve(self):
        (self.folder / "config").write_text(f"""
Port {self.port}
ListenAddress 127.0.0.1
HostKey {self.folder}/host
AuthorizedKeysFile {self.folder}/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
SetEnv LC_ALL=C.UTF-8
""")
        with open(self.folder / "log", "w", encoding="utf-8") as log:
            server = subprocess.Popen([SSHD, "-D", "-e", "-f", self.folder / "config"], stdin=subprocess.DEVNULL,
                                      stdout=log, stderr=log, env=environment())
        until = time.monotonic() + PATIENCE
        while server.poll() is None and time.monotonic() < until:
            if "Server listening" in (self.folder / "log").read_text():
                self.addCleanup(lambda: (server.terminate(), server.wait()))
                key = (self.folder / "host.pub").read_text()
                (self.folder / "known").write_text(f"[127.0.0.1]:{self.port} {key}")
                return True
            time.sleep(0.05)
        server.kill()
        server.wait()
        return False

    def start(self):
        """The monitor on the other side, and its pid there."""
        (self.folder / "there").write_text(
            f"echo $$ >{self.folder}/pid\nHOME={self.folder} exec {PROGRAM} --demo --layout nvitop\n")
        self.terminal.run(
            f"ssh -F none -i {self.folder}/user -o IdentitiesOnly=yes -o UserKnownHostsFile={self.folder}/known "
            f"-o GlobalKnownHostsFile=none -p {self.port} -t {getpass.getuser()}@127.0.0.1 sh {self.folder}/there")
        self.terminal.wait("Press h for help", "COMMAND", "╘")
        return int((self.folder / "pid").read_text())

    def test_keys_sizes_and_the_end(self):
        terminal = self.terminal
        terminal.type("clear", "Enter")
        state = terminal.state()
        self.start()
        terminal.type("h")
        terminal.wait("What is shown")
        terminal.type("q")
        terminal.tmux("resize-window", "-x", "60", "-y", "20")
        terminal.wait("COMMAND", "╘" + "═" * 58 + "╛")
        terminal.tmux("resize-window", "-x", "100", "-y", "30")
        terminal.wait("Press h for help", "╘" + "═" * 98 + "╛")
        self.leave()
        self.assertEqual(terminal.state(), state)

    def test_a_lost_connection_ends_it(self):
        place = pathlib.Path(f"/proc/{self.start()}")
        os.kill(self.terminal.child(), 9)
        until = time.monotonic() + PATIENCE
        while place.exists():
            self.assertLess(time.monotonic(), until, "it lives on without anybody")
            time.sleep(0.05)


if __name__ == "__main__":
    unittest.main()
