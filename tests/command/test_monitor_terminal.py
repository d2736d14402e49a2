"""The monitor in a terminal: tmux is the terminal, a shell in it starts the monitor, keys are typed
and the screen is read back. What must hold above all: a key is answered whatever a driver does, and
the terminal is afterwards as it was before."""

import contextlib
import ctypes
import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import threading
import time
import unittest

from harness import SANITIZED, VITALS, environment, in_one_of
from terminal import BUILT, PATIENCE, TMUX, Terminal


DIRECT = r"""vte-direct|any color, as vte and others write it,
	RGB, colors#0x1000000, pairs#0x7fff, op=\E[39;49m,
	setaf=\E[%?%p1%{8}%<%t3%p1%d%e38;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%d%;m,
	setab=\E[4%p1%dm, use=xterm-256color,
"""


QUERY = b"\x1b]11;?"
LIGHT, DARK = b"38;5;26m", b"38;5;117m"  # keys in the last line
WHITE, BLACK = b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\", b"\x1b]11;rgb:0000/0000/2222\a"
KIND = b"\x1b[?64;1;2c"  # the reply to the query behind it


def need_strace(case):
    may = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, check=False) \
        if shutil.which("strace") else None
    if may is None or may.returncode != 0:
        case.skipTest("no strace, or it may not trace here")


@unittest.skipUnless(BUILT, "built without the interactive screens")
class Colors(unittest.TestCase):
    """On a terminal that is this program: what is drawn, in bytes."""

    whole = b""

    def open(self, term, *options, **variables):
        folder = tempfile.TemporaryDirectory(prefix="vitals-terminfo-")
        self.addCleanup(folder.cleanup)
        source = pathlib.Path(folder.name) / "direct.ti"
        source.write_text(DIRECT)
        subprocess.run(["tic", "-x", "-o", folder.name, str(source)], check=True, capture_output=True)
        every = environment(**{
            "TERM": term, "LC_ALL": "C.UTF-8", "VITALS_LAYOUT": None, "XDG_CONFIG_HOME": folder.name,
            "TERMINFO_DIRS": f"{folder.name}:/etc/terminfo:/lib/terminfo:/usr/share/terminfo", **variables})
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
            os.execvpe(VITALS, [VITALS, *(options or ("--demo=many",))], every)
        self.wait(b"H100" if "--demo=many" in (options or ("--demo=many",)) else b"quit")

    def wait(self, word):
        """Reads until a word comes; gives what came with it."""
        text, end = b"", time.monotonic() + PATIENCE
        while word not in text:
            if time.monotonic() > end:
                raise AssertionError(f"never {word}: {text[-3000:]}")
            if select.select([self.terminal], [], [], 1)[0]:
                part = os.read(self.terminal, 65536)
                text += part
                self.whole += part
        return text

    def say(self, text):
        os.write(self.terminal, text)

    def redrawn(self):
        """The whole screen, in the colors that it has now: what is read first may be the end of an older one."""
        self.say(b"\x0c")
        self.wait(b"quit")
        self.say(b"\x0c")
        return self.wait(b"quit")

    def end(self, last=b"q"):
        """Ends it, and returns the seconds that this took."""
        begun = time.monotonic()
        self.say(last)
        with contextlib.suppress(OSError):  # it has ended
            self.wait(b"no such word")
        os.close(self.terminal)
        self.assertEqual(os.waitpid(self.pid, 0)[1], 0)
        return time.monotonic() - begun

    def drawn(self, term, *options, **variables):
        """The bytes of the first screens."""
        self.open(term, *options, **variables)
        text = self.redrawn()
        self.end()
        return text

    def test_any_color_where_the_terminal_has_it(self):
        self.assertRegex(self.drawn("xterm-256color", COLORTERM="truecolor"), rb"\x1b\[(\d+;)*38;2;\d+;\d+;\d+m")

    def test_the_theme_follows_the_background(self):
        for title, before, reply, after, variables in (
                ("white", DARK, WHITE, LIGHT, {}), ("black", LIGHT, BLACK, DARK, {"COLORFGBG": "0;default;15"}),
                ("white, and its kind", DARK, WHITE + KIND, LIGHT, {}), ("its kind alone", DARK, KIND, DARK, {}),
                ("nothing", LIGHT, b"", LIGHT, {"COLORFGBG": "0;15"}),
                ("no color", DARK, b"\x1b]11;rgb:white\a", DARK, {}),
                ("another property", DARK, b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\", DARK, {}),
                ("without end", DARK, b"\x1b]11;" + 200 * b"/", DARK, {})):
            with self.subTest(title):
                self.open("xterm-256color", **variables)
                self.assertIn(before, self.redrawn())
                self.say(reply)
                if after != before:
                    self.wait(after)
                text = self.redrawn()
                self.assertIn(after, text)
                self.assertNotIn(DARK if after == LIGHT else LIGHT, text)
                for word in (b"Search", b"Filter", b"help shows"):  # of keys that a reply has characters of
                    self.assertNotIn(word, text)
                self.end()

    def test_a_reply_in_any_parts_is_no_key(self):
        for size in (1, 2, 7):
            with self.subTest(size):
                self.open("xterm-256color")
                text = WHITE + KIND
                for at in range(0, len(text), size):
                    self.say(text[at:at + size])
                    time.sleep(0.003)
                self.wait(LIGHT)
                text = self.redrawn()
                for word in (b"Search", b"Filter", b"next  q back"):
                    self.assertNotIn(word, text)
                self.end()

    def test_a_reply_closes_nothing_and_takes_no_message_away(self):
        self.open("xterm-nonesuch", COLORFGBG="0;15")
        self.say(WHITE + KIND + b"\x0c")
        self.wait(b"has no terminfo entry")
        self.say(b"h")
        self.wait(b"Esc")
        self.say(WHITE + KIND)
        self.say(b"\x0c")
        self.wait(b"Esc")
        self.say(b"\x1b")
        self.wait(b"details")
        self.end()

    def test_other_sequences_and_keys_beside_a_reply(self):
        for title, before in (("a paste", b"\x1b[200~abc\x1b]0;title\x1b[201~"), ("Alt and a bracket", b"\x1b]"),
                              ("Alt and the other", b"\x1b["), ("a title", b"\x1b]0;title\a"), ("cut", b"\x1b]11;rgb:ff\r")):
            with self.subTest(title):
                self.open("xterm-256color", "--demo=many")
                self.say(before + WHITE + KIND)
                self.wait(LIGHT)
                for key in (b"\x1b", b"\x1b"):  # closes a dialog that the first part may have opened
                    self.say(key)
                    time.sleep(0.05)
                self.redrawn()
                self.end()

    def test_the_charts_follow_it_in_any_color(self):
        """No ramp of the dark theme is left."""
        self.open("xterm-256color", "--demo=many", COLORTERM="truecolor")
        dark = set(re.findall(rb"38;2;[\d;]+m", self.redrawn()))
        self.say(WHITE)
        self.wait(b"38;2;0;95;215m")
        light = set(re.findall(rb"38;2;[\d;]+m", self.redrawn()))
        self.end()
        self.assertNotIn(b"38;2;135;215;255m", light)
        self.assertGreater(len(light - dark), 5)

    def test_what_was_chosen_is_not_queried(self):
        config = tempfile.NamedTemporaryFile("w", suffix=".json")
        self.addCleanup(config.close)
        config.write('{"theme": "dark"}')
        config.flush()
        for term, options, variables in (
                ("xterm-256color", ("--theme", "dark"), {}), ("xterm-256color", ("--light",), {}), ("linux", (), {}),
                ("xterm-256color", ("--config", config.name), {}), ("xterm-256color", (), {"VITALS_THEME": "mono"}),
                ("xterm-256color", (), {"NO_COLOR": "1"}), ("xterm-256color", (), {"VITALS_LAYOUT": config.name})):
            with self.subTest(term=term, options=options, variables=variables):
                self.whole = b""
                self.open(term, "--demo=many", *options, **{"COLORFGBG": "0;15", **variables})
                self.say(WHITE)
                text = self.redrawn()
                self.end()
                self.assertIn(b"H100", self.whole)
                self.assertNotIn(QUERY, self.whole)
                if "--light" not in options:
                    self.assertNotIn(LIGHT, text)

    def test_keys_that_come_do_not_delay_the_end(self):
        self.open("xterm-256color")
        ended = threading.Event()

        def press():
            while not ended.is_set():
                with contextlib.suppress(OSError):  # it reads no more
                    os.write(self.terminal, b"j" * 20)
                time.sleep(0.0005)
        thread = threading.Thread(target=press)
        os.set_blocking(self.terminal, False)
        self.say(b"q")
        thread.start()
        try:
            self.assertLess(self.end(b""), PATIENCE / 4)
        finally:
            ended.set()
            thread.join()

    def test_no_color_where_the_name_says_so(self):
        self.assertNotRegex(self.drawn("xterm-mono", COLORTERM="truecolor"), rb"\x1b\[(\d+;)*3[0-8](;\d+)*m")


@unittest.skipIf(TMUX is None, "no tmux")
@unittest.skipUnless(BUILT, "built without the interactive screens")
class InATerminal(unittest.TestCase):
    def setUp(self):
        self.terminal = Terminal()
        self.addCleanup(self.terminal.close)

    def start(self, *arguments, before="", waits=("Processes:",)):
        self.terminal.run(f"{before}{VITALS} {' '.join(arguments)}")
        self.terminal.wait("Press h for help", *waits)
        if "--demo" in arguments:  # before the first reading nobody can be chosen, and panels move
            self.terminal.wait(*waits, gone=("Gathering process", "No running processes"))

    def pid(self):
        return self.terminal.child()

    def ending(self, end):
        """Starts with the terminal's state known, ends by `end`, and compares."""
        terminal = self.terminal
        terminal.run(f"stty -a >{terminal.home}/before")
        terminal.wait("rc=0.")
        terminal.type("clear", "Enter")
        state = terminal.state()
        self.start("--demo")
        self.assertNotEqual(terminal.state(), state)
        end()
        terminal.wait("ready>", gone=("Press h for help",))
        self.assertEqual(terminal.state(), state)
        terminal.run(f"stty -a >{terminal.home}/after; echo written $((6 * 7))")
        terminal.wait("written 42")
        self.assertEqual((terminal.home / "before").read_text(), (terminal.home / "after").read_text())
        return terminal.screen("-S", "-200")

    def test_quit_leaves_a_report_and_the_terminal_as_it_was(self):
        text = self.ending(lambda: self.terminal.type("q"))
        self.assertIn("rc=0.", text)
        self.assertIn("Driver Version", text)

    def test_signals_leave_the_terminal_as_it_was(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGSEGV, signal.SIGABRT):
            with self.subTest(number.name):
                text = self.ending(lambda number=number: os.kill(self.pid(), number))
                # SIGINT ends the shell's line too; a sanitizer takes SIGSEGV for itself.
                if number != signal.SIGINT and not (SANITIZED and number == signal.SIGSEGV):
                    self.assertIn(f"rc={128 + number}.", text)
                self.terminal.type("clear", "Enter")
                self.terminal.tmux("clear-history")

    @unittest.skipIf(SANITIZED, "a sanitizer takes SIGSEGV for itself")
    def test_a_crash_of_a_thread_leaves_the_terminal_as_it_was(self):
        def crash():
            tasks = pathlib.Path(f"/proc/{self.pid()}/task")
            tid, = (task.name for task in tasks.iterdir() if (task / "comm").read_text() == "vitals-machine\n")
            ctypes.CDLL(None).tgkill(self.pid(), int(tid), signal.SIGSEGV)
        self.assertIn(f"rc={128 + signal.SIGSEGV}.", self.ending(crash))

    def test_stopped_and_gone_on(self):
        terminal = self.terminal
        state = terminal.state()
        for stop in ("key", "signal"):
            with self.subTest(stop):
                terminal.type("clear", "Enter")
                self.start("--demo")
                if stop == "key":
                    terminal.type("C-z")
                else:
                    os.kill(self.pid(), signal.SIGTSTP)
                terminal.wait("Stopped", "ready>")
                self.assertEqual(terminal.state(), state)
                terminal.type("clear; echo meanwhile; fg", "Enter")
                terminal.wait("Press h for help", "Processes:", gone=("meanwhile",))
                terminal.type("Down", "Enter")
                terminal.wait("HOST-CPU")
                terminal.type("q")
                terminal.wait("Press h for help")
                terminal.type("h")
                terminal.wait("What is shown")
                terminal.type("q", "q")
                terminal.wait("ready>", gone=("What is shown",))
                self.assertEqual(terminal.state(), state)

    def test_a_lost_terminal_ends_it(self):
        self.start("--demo")
        place = pathlib.Path(f"/proc/{self.pid()}")
        self.terminal.tmux("kill-server")
        until = time.monotonic() + PATIENCE
        while place.exists():
            self.assertLess(time.monotonic(), until, "it lives on without a terminal")
            time.sleep(0.05)

    def test_every_screen_and_back(self):
        terminal = self.terminal
        self.start("--demo")
        # Nobody is selected at first: the environment is our own, which is there in any case.
        for keys, word, back in (("h", "What is shown", "x"), ("e", "Environment of", "e"),
                                 ("t", "Tree of", "q"), ("Down Enter", "HOST-CPU", "q")):
            with self.subTest(keys):
                terminal.type(*keys.split())
                terminal.wait(word, gone=("Press h for help",))
                terminal.type(back)
                terminal.wait("Press h for help", gone=(word,))

    def test_type_ahead_is_kept(self):
        terminal = self.terminal
        self.start("--demo")
        terminal.type("-l", "gog")  # all processes, by the memory of devices
        terminal.wait("All processes:", "▼GPU-MEM")
        terminal.type("-l", "oPh")
        terminal.wait("What is shown")

    def test_keys_before_the_first_reading_count(self):
        terminal = self.terminal
        terminal.run(f"sleep 1; {VITALS} --demo")
        terminal.type("h")
        terminal.wait("What is shown")

    def test_the_first_key_is_an_arrow(self):
        """A terminal sends another one until it is told which mode its keys are in."""
        self.start("--demo")
        self.terminal.type("Down", "Enter")
        self.terminal.wait("HOST-CPU")

    def test_keys_that_terminfo_does_not_know(self):
        """Cursor keys outside of application mode, and Home and End as tmux and rxvt send them."""
        children = [subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL) for _ in range(3)]
        for child in children:
            self.addCleanup(lambda child=child: (child.kill(), child.wait()))
        pids = " ".join(str(child.pid) for child in children)
        for term in ("xterm-256color", "screen-256color"):
            self.start("--backends", "none", "-p", pids, before=f"TERM={term} ", waits=(str(children[0].pid),))
            for keys in ("\x1b[B", "\x1b[H\x1b[B\x1b[A", "\x1b[F", "\x1b[1~", "\x1b[4~", "\x1b[7~", "\x1b[8~"):
                with self.subTest(keys, term=term):
                    self.terminal.raw(keys)
                    self.terminal.type("Enter")
                    self.terminal.wait("HOST-CPU")
                    self.terminal.type("q")
                    self.terminal.wait("Press h for help", gone=("HOST-CPU",))
                    self.terminal.type("r")  # selects none
                    self.terminal.still()
            self.terminal.type("q")
            self.terminal.wait("rc=0.")
            self.terminal.type("clear", "Enter")

    def test_what_is_pasted_presses_no_key(self):
        terminal = self.terminal
        self.start("--demo")
        terminal.tmux("set-buffer", "qtKk\nqq")
        terminal.tmux("paste-buffer", "-p")
        terminal.type("\\")
        terminal.wait("Search: _", "Processes:")
        terminal.type("Escape")

    def test_a_hanging_driver_delays_no_key(self):
        def answered():
            terminal = Terminal()
            try:
                terminal.run(f"{VITALS} --demo=hang --interval 100ms")
                terminal.wait("Press h for help")
                for _ in range(3):  # the driver takes five seconds each time
                    terminal.type("h")
                    terminal.wait("What is shown", seconds=3)
                    terminal.type("x")
                    terminal.wait("Press h for help", seconds=3)
                for _ in range(3):  # what only a device's screen asks for ends with it
                    terminal.type("0")
                    terminal.wait("Utilization ", "q back", seconds=3)
                    terminal.type("q")
                    terminal.wait("Press h for help", seconds=3)
            finally:
                terminal.close()

        in_one_of(4, answered)

    def test_a_storm_of_sizes(self):
        terminal = self.terminal
        self.start("--demo")
        for width, height in ((40, 12), (200, 50), (20, 5), (79, 24), (1, 1), (123, 40), (100, 30)) * 2:
            terminal.tmux("resize-window", "-x", str(width), "-y", str(height))
        lines = terminal.wait("Press h for help", "Driver Version", "╘").splitlines()
        self.assertLessEqual(max(map(len, lines)), 100)
        self.assertTrue(any(len(line) == 100 for line in lines))
        terminal.type("q")
        terminal.wait("rc=0.")

    def test_ascii_and_a_narrow_terminal(self):
        self.terminal.tmux("resize-window", "-x", "40", "-y", "24")
        self.terminal.run(f"{VITALS} --demo --ascii")
        text = self.terminal.wait("PID", "COMMAND", "+=====", "%CPU")
        self.assertTrue(text.isascii())

    def test_the_mouse(self):
        terminal = self.terminal
        self.start("--demo")
        for arrow in "▲▼":  # panels may move when the order changes
            rows = terminal.screen().splitlines()
            y = next(y for y, line in enumerate(rows) if "PID" in line and "COMMAND" in line)
            x = rows[y].index("PID") + 1
            place = f"{chr(33 + x)}{chr(33 + y)}"
            terminal.raw(f"\x1b[M {place}\x1b[M#{place}")  # down and up
            terminal.wait(arrow + "PID")
        terminal.raw(f"\x1b[Ma{place}")  # the wheel
        terminal.type("Enter")
        terminal.wait("HOST-CPU")

    def test_unknown_sequences_press_no_key(self):
        terminal = self.terminal
        self.start("--demo")
        terminal.type("Down")
        terminal.raw("\x1b[I\x1b[<0;3;4q\x1b[?1;2c\x1b[12;5t")  # focus, answers of terminals
        terminal.type("h")
        terminal.wait("What is shown")
        terminal.type("x")
        terminal.wait("Press h for help", gone=("Send a signal", "What is shown"))

    @unittest.skipIf(SANITIZED, "a sanitizer takes the place of a tracer")
    def test_a_screen_is_one_write(self):
        """Each of many would wake the terminal, and a connection would carry each apart."""
        terminal = self.terminal
        log = terminal.home / "log"
        need_strace(self)
        terminal.run(f"strace -o {log} -e trace=write,poll {VITALS} --demo --interval 100ms")
        terminal.wait("Press h for help", "COMMAND")
        for key in "hqhqhq":
            terminal.type(key)
            terminal.wait("What is shown" if key == "h" else "Press h for help")
        terminal.type("q")
        terminal.wait("rc=0.")
        calls = log.read_text().splitlines()
        begun = next(place for place, call in enumerate(calls) if call.startswith("poll("))
        left = max(place for place, call in enumerate(calls) if call.startswith("poll("))
        waits = sum(call.startswith("poll(") for call in calls[begun:left])
        writes = sum(call.startswith("write(1,") for call in calls[begun:left])
        self.assertGreater(writes, 6)
        self.assertLessEqual(writes, waits)

    @unittest.skipIf(SANITIZED, "ncurses keeps what it could not open, which is told as a leak")
    def test_a_terminal_without_an_entry(self):
        """The screens are those of a common terminal, and the last row says so until the next key."""
        for term in ("xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm", "st-256color", "nonsense"):
            with self.subTest(term):
                if subprocess.run(["infocmp", term], capture_output=True, check=False).returncode == 0:
                    self.skipTest("this machine has an entry for it")
                self.terminal.type("clear", "Enter")
                self.terminal.run(f"TERM={term} {VITALS} --demo")
                words = f"TERM={term} has no terminfo entry; using xterm-256color"
                self.terminal.wait("Press h for help", "COMMAND", words)
                self.terminal.type("Down")
                self.terminal.wait("Press h for help", "COMMAND", gone=(words,))
                self.terminal.type("q")
                self.terminal.wait("rc=0.")

    @unittest.skipIf(SANITIZED, "ncurses keeps what it could not open, which is told as a leak")
    def test_a_name_that_holds_anything(self):
        """It is shown as every text of others is, and beside what else is told at the start."""
        (self.terminal.home / "vitals").mkdir()
        (self.terminal.home / "vitals" / "config.json").write_text("{")
        self.terminal.run(f"TERM=$'a\\e[2J/\\n../b' XDG_CONFIG_HOME={self.terminal.home} {VITALS} --demo")
        self.terminal.wait("Press h for help", "COMMAND", r"TERM=a\e[2J/\n../b has no terminfo entry; using xterm-256color; ")
        self.terminal.type("q")
        self.terminal.wait("rc=0.")

    def test_the_report_where_the_terminal_has_no_name(self):
        for before in ("env -u TERM", "TERM=", "TERM=dumb"):
            with self.subTest(before):
                self.terminal.type("clear", "Enter")
                self.terminal.wait("ready>", gone=("rc=", "clear"))
                self.terminal.tmux("clear-history")
                self.terminal.run(f"{before} {VITALS} --demo")
                self.terminal.wait("rc=0.")
                text = self.terminal.screen("-S", "-200")
                self.assertIn("Driver Version", text)
                self.assertNotIn("Press h for help", text)

    def test_what_needs_the_screens_is_refused_with_the_cure(self):
        for before, arguments, words, code in (
                ("env -u TERM", "--demo -m", "TERM is not set", 1), ("TERM=dumb", "--demo -m", "TERM=dumb is a terminal", 1),
                ("TERM=dumb", "--demo --interval 1", "that TERM names", 2)):
            with self.subTest(before, arguments=arguments):
                self.terminal.type("clear", "Enter")
                self.terminal.wait("ready>", gone=("rc=", "clear"))
                self.terminal.run(f"{before} {VITALS} {arguments}")
                text = self.terminal.wait(f"rc={code}.").replace("\n", "")
                self.assertIn(words, text)
                self.assertIn("xterm-256color", text)


@unittest.skipIf(TMUX is None, "no tmux")
@unittest.skipUnless(BUILT, "built without the interactive screens")
class Signals(unittest.TestCase):
    """Against a real process, whose name nobody else has."""

    def setUp(self):
        self.terminal = Terminal(110, 30)
        self.addCleanup(self.terminal.close)
        folder = pathlib.Path(self.terminal.folder.name)
        self.name = f"victim{os.getpid()}"
        shutil.copy(shutil.which("sleep"), folder / self.name)
        self.victim = subprocess.Popen([folder / self.name, "600"], stdin=subprocess.DEVNULL)
        self.addCleanup(self.end)

    def end(self):
        self.victim.kill()
        self.victim.wait()

    def open(self, *arguments):
        """The monitor with the victim selected, alone in the list."""
        terminal = self.terminal
        terminal.run(f"{VITALS} --backends none {' '.join(arguments)}")
        terminal.wait("All processes:")
        terminal.type("-l", f"&{self.name}")
        terminal.type("Enter")
        terminal.wait(str(self.victim.pid), "600", gone=("Filter:",))
        terminal.type("Home")

    def test_enter_sends_and_tells(self):
        self.open()
        self.terminal.type("T")
        text = self.terminal.wait("Send a signal", "SIGTERM", "Cancel")
        self.assertRegex(text, rf"{self.victim.pid} \S+, running .*{self.name}")
        self.terminal.type("Enter")
        self.terminal.wait("has ended", "after SIGTERM")
        self.assertEqual(self.victim.wait(timeout=PATIENCE), -signal.SIGTERM)
        self.terminal.type("Escape")
        self.terminal.wait("All processes:", gone=("has ended",))

    def test_a_repeated_key_never_sends(self):
        self.open()
        self.terminal.type("-l", "KKkkKk  1k2t,.<>[]")
        self.terminal.wait("Send a signal")
        self.terminal.type("Escape")
        self.terminal.wait("All processes:", gone=("Send a signal",))
        self.assertIsNone(self.victim.poll())
        self.terminal.type("T")
        self.terminal.wait("Send a signal")
        self.terminal.type("c", "Enter")
        self.terminal.wait("All processes:", gone=("Send a signal",))
        self.assertIsNone(self.victim.poll())

    def click(self, word):
        """On a word of the screen, as a terminal tells it: down and up."""
        lines = self.terminal.still().splitlines()
        y = next(y for y, line in enumerate(lines) if "Cancel" in line)
        place = f"{chr(33 + lines[y].index(word) + 1)}{chr(33 + y)}"
        self.terminal.raw(f"\x1b[M {place}\x1b[M#{place}")

    def test_clicks_in_the_dialog(self):
        """One chooses, one more confirms."""
        self.open()
        self.terminal.type("T")
        self.terminal.wait("Send a signal")
        self.click("SIGKILL")
        self.click("Cancel")
        self.terminal.wait("Send a signal")
        self.assertIsNone(self.victim.poll())
        self.click("Cancel")
        self.terminal.wait("All processes:", gone=("Send a signal",))
        self.assertIsNone(self.victim.poll())
        self.terminal.type("T")
        self.terminal.wait("Send a signal")
        self.click("SIGINT")
        self.click("SIGINT")
        self.terminal.wait("has ended", "after SIGINT")
        self.assertEqual(self.victim.wait(timeout=PATIENCE), -signal.SIGINT)

    def test_who_does_not_end_is_told(self):
        os.kill(self.victim.pid, signal.SIGSTOP)
        self.open()
        self.terminal.type("T")
        self.terminal.wait("Send a signal")
        self.terminal.type("Enter")
        self.terminal.wait("still alive", "k asks about SIGKILL")
        self.terminal.type("k")
        self.terminal.wait("Send a signal")
        self.assertIsNone(self.victim.poll())
        self.terminal.type("Enter")
        self.terminal.wait("has ended", "after SIGKILL")
        self.assertEqual(self.victim.wait(timeout=PATIENCE), -signal.SIGKILL)

    def open_page(self, before=""):
        """The page of the victim, in the usual layout."""
        self.terminal.run(f"{before}VITALS_LAYOUT= {VITALS} --backends none -p {self.victim.pid}")
        self.terminal.wait("Processes", self.name)
        self.terminal.type("Home", "Enter")
        self.terminal.wait("Overview", str(self.victim.pid))

    @unittest.skipIf(SANITIZED, "a sanitizer takes the place of a tracer")
    def test_strace_has_the_terminal_until_it_ends(self):
        need_strace(self)
        self.open_page()
        for end in ("C-c", "TERM"):
            self.terminal.type("s")
            self.terminal.wait(f"strace -f -p {self.victim.pid}", "attached", gone=("Overview",))
            self.terminal.type("C-z")  # nothing is stopped
            if end == "TERM":
                os.kill(self.terminal.child(), signal.SIGTERM)
                self.terminal.wait("rc=143.")
            else:
                self.terminal.type(end)
                self.terminal.wait("Enter goes back to vitals", "detached")
                self.terminal.type("Enter")
                self.terminal.wait("Overview", gone=("Enter goes back",))
            self.assertIsNone(self.victim.poll())
            tracer = re.search(r"TracerPid:\s+(\d+)", pathlib.Path(f"/proc/{self.victim.pid}/status").read_text())
            self.assertEqual(tracer.group(1), "0")

    def test_without_strace_its_name_is_told(self):
        self.open_page("PATH=/nonexistent ")
        self.terminal.type("s")
        self.terminal.wait("strace: it is not installed", "Overview")

    def test_read_only_sends_none(self):
        self.open("--readonly")
        for key in ("T", "K", "I", "C-c"):
            self.terminal.type(key)
            self.terminal.wait("read-only: no signal is sent", gone=("Send a signal",))
            self.terminal.type("Enter")
            self.terminal.wait("HOST-CPU")
            self.terminal.type("q")
            self.terminal.wait("All processes:", gone=("HOST-CPU",))
        self.assertIsNone(self.victim.poll())

    def test_the_demo_sends_none(self):
        terminal = self.terminal
        terminal.run(f"{VITALS} --demo")
        terminal.wait("Processes:", "COMMAND", "580.65.06")  # of the first reading, which says that it is a demo
        terminal.type("Down", "K")
        terminal.wait("Signal (demo: nothing is sent)")
        terminal.type("Escape")
        terminal.wait("Processes:", gone=("Signal (",))


if __name__ == "__main__":
    unittest.main()
