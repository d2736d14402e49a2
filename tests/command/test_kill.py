"""`vitals kill`: whom it shows, asks and signals, what becomes of each, and whom it never touches."""

import contextlib
import ctypes
import os
import pathlib
import pty
import pwd
import select
import signal
import subprocess
import tempfile
import time
import unittest

from cast import Cast, ordinary, unshared
from harness import NO_HOME, VITALS, environment, reads_json, started, vitals

STUBBORN = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
ready()
stay()
"""


class Case(unittest.TestCase):
    def sleeper(self, name=b"vitals-kill-sleeper", **options):
        child = started([name, b"600"], executable="/bin/sleep", **options)
        self.addCleanup(self.end, child)
        return child

    def end(self, child):
        if child.poll() is None:
            child.kill()
            child.wait()

    def alive(self, child):
        return child.poll() is None

    def check(self, *arguments, code=0, **options):
        result = vitals("kill", *arguments, **options)
        self.assertEqual(result.returncode, code, (result.stdout, result.stderr))
        return result


class Demo(Case):
    """Its devices are invented, and who is on them is not."""

    def test_nobody_is_signalled_for_what_is_invented(self):
        for arguments in (["--gpu"], ["--container", "5d1f"]):
            self.refuses("--demo", *arguments)

    def refuses(self, *arguments, **changes):
        """Without --yes, so that a test that fails harms nobody."""
        result = self.check("-s", "CONT", *arguments, code=2, env=changes)
        self.assertIn("--dry-run", result.stderr)
        self.assertEqual(result.stdout, "")

    def test_however_the_demo_was_asked_for(self):
        for backends in ("demo", "nvidia,demo", " demo ,drm", "nvidia, demo"):
            with self.subTest(backends):
                self.refuses("--backends", backends, "--gpu")
                self.refuses("--gpu", VITALS_BACKENDS=backends)
        self.refuses("--gpu", VITALS_DEMO="default")
        self.check("--backends", "nvidia", "--gpu", "--match", "^no such$", "-s", "CONT", code=1)

    def test_a_configuration_that_asks_for_it(self):
        if not reads_json():
            self.skipTest("built without reading JSON")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "config.json")
            path.write_text('{"backends": "demo"}')
            self.refuses("--config", path, "--gpu")
            place = pathlib.Path(folder, "vitals", "config.json")
            place.parent.mkdir()
            path.rename(place)
            self.refuses("--gpu", XDG_CONFIG_HOME=folder)

    def test_a_pid_is_no_invention(self):
        for arguments in (["--demo"], ["--backends", "demo"]):
            for words in ([], ["-p"]):
                child = self.sleeper()
                self.check(*arguments, "--yes", *words, child.pid)
                self.assertEqual(child.wait(timeout=30), -signal.SIGTERM)


class Width(Case):
    def test_what_was_said_counts_in_a_pipe(self):
        child = self.sleeper(b"vitals-kill-" + b"wide" * 60)
        longest = lambda *words, **changes: max(map(len, self.check(
            "--dry-run", *words, child.pid, env=changes).stdout.splitlines()))
        self.assertGreater(longest(), 200)
        self.assertLessEqual(longest("--width", 80), 80)
        self.assertLessEqual(longest(VITALS_WIDTH=90), 90)
        self.assertLessEqual(longest(COLUMNS=100), 100)


class Signals(Case):
    def test_sends_what_is_named(self):
        for words, number in (((), signal.SIGTERM), (("-s", "KILL"), signal.SIGKILL),
                              (("-s", "SIGINT"), signal.SIGINT), (("-s", "usr1"), signal.SIGUSR1),
                              (("--signal=10",), signal.SIGUSR1), (("-9",), signal.SIGKILL),
                              (("-KILL",), signal.SIGKILL), (("-HUP",), signal.SIGHUP),
                              (("-SIGUSR2",), signal.SIGUSR2), (("-s", "RTMIN+3"), 37)):
            with self.subTest(words):
                child = self.sleeper()
                result = self.check("-y", *words, child.pid)
                self.assertEqual(child.wait(timeout=30), -number)
                self.assertRegex(result.stdout, rf"(?m)^{child.pid}: \S+.* sent$")

    def test_shows_who_it_is(self):
        child = self.sleeper()
        line = next(line for line in self.check("--dry-run", child.pid).stdout.splitlines()
                    if line.split()[0] == str(child.pid))
        self.assertIn("vitals-kill-sleeper 600", line)
        self.assertTrue(self.alive(child))

    def test_stops_and_continues(self):
        child = self.sleeper()
        self.check("-y", "-s", "STOP", child.pid)
        self.assertEqual(os.waitid(os.P_PID, child.pid, os.WSTOPPED).si_status, signal.SIGSTOP)
        self.check("-y", "-s", "CONT", child.pid)
        os.waitid(os.P_PID, child.pid, os.WCONTINUED)
        self.assertTrue(self.alive(child))

    def test_lists_signals(self):
        """As kill(1): names of numbers, also of a shell's exit code, and numbers of names."""
        result = vitals("kill", "-l")
        self.assertEqual(result.returncode, 0)
        listed = dict(reversed(line.split()) for line in result.stdout.splitlines())
        for name in ("HUP", "KILL", "TERM", "USR1", "CHLD", "SYS"):
            self.assertEqual(int(listed[name]), getattr(signal, f"SIG{name}"))
        self.assertEqual(int(listed["RTMIN"]), signal.SIGRTMIN)
        for word, answer in (("9", "KILL"), ("143", "TERM"), ("TERM", "15"), ("SIGHUP", "1")):
            result = vitals("kill", "-l", word)
            self.assertEqual((result.returncode, result.stdout), (0, answer + "\n"), result.stderr)
            shell = subprocess.run(["bash", "-c", f"kill -l {word}"], capture_output=True,
                                   text=True, check=True)
            self.assertEqual(result.stdout, shell.stdout)
        self.assertEqual(vitals("kill", "-l", "NONE").returncode, 2)

        # Each once, by number; and what is printed is taken back.
        numbers = [int(line.split()[0]) for line in vitals("kill", "-l").stdout.splitlines()]
        self.assertEqual(numbers, sorted(set(numbers)))
        for number in range(1, signal.SIGRTMAX + 1):
            name = vitals("kill", "-l", str(number)).stdout.strip()
            self.assertNotIn(" ", name)
            back = vitals("kill", "-l", name).stdout.strip()
            self.assertIn(str(number), (name, back))

    def test_signal_0_only_asks(self):
        """As kill(1): nothing is sent, asked or shown; the exit code tells whether it is there."""
        child = subprocess.Popen(["sleep", "600"])
        try:
            for words in (["-0"], ["-s", "0"]):
                result = vitals("kill", *words, str(child.pid))
                self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
            self.assertIsNone(child.poll())
        finally:
            child.kill()
            child.wait()
        self.assertEqual(vitals("kill", "-0", str(child.pid)).returncode, 1)
        for words in (["-0", "--wait"], ["-s", "00", "--force-after", "1"]):
            result = vitals("kill", *words, str(os.getpid()))
            self.assertEqual(result.returncode, 2)
            self.assertIn("signal 0 ends no process", result.stderr)

    def test_the_newest_is_picked_from_what_may_be_signalled(self):
        """Not a zombie, vitals' own shell or init, whose place another then takes."""
        child = self.sleeper()
        zombie = subprocess.Popen(["sleep", "0"])
        self.addCleanup(zombie.wait)
        os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
        result = vitals("kill", "--dry-run", "--newest", "--name", "sleep", "-P", os.getpid())
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, rf"(?m)^ *{child.pid} ")
        result = vitals("kill", "--dry-run", "--oldest", "-p", "1")
        self.assertIn("1", result.stdout)

    def test_a_signal_that_is_none(self):
        child = self.sleeper()
        for words, message in ((("-s", "TREM"), "did you mean TERM?"), (("-s", "99"), "99"),
                               (("-s", "KIL"), "did you mean KILL?"),
                               (("-s", "xyzzyplugh"), "xyzzyplugh"), (("-s", "TERM", "-9"), "one"),
                               (("-s", ""), "no signal")):
            with self.subTest(words):
                result = self.check("-y", *words, child.pid, code=2)
                self.assertIn(message, result.stderr)
                self.assertEqual(result.stdout, "")
        self.assertTrue(self.alive(child))


class Choice(Case):
    def test_by_options(self):
        a, b = self.sleeper(b"vitals-kill-a"), self.sleeper(b"vitals-kill-b")
        self.check("-y", "--match", "^vitals-kill-a 600")
        self.assertEqual(a.wait(timeout=30), -signal.SIGTERM)
        self.assertTrue(self.alive(b))
        self.check("-y", "--match", "^vitals-kill-b", "-u", os.geteuid(), "--name", "sle*",
                   "--state", "S", "-p", b.pid)
        self.assertEqual(b.wait(timeout=30), -signal.SIGTERM)

    def test_words_and_options_must_both_hold(self):
        a, b = self.sleeper(b"vitals-kill-a"), self.sleeper(b"vitals-kill-b")
        self.check("-y", "--match", "^vitals-kill-a", b.pid, code=1)
        self.assertTrue(self.alive(a) and self.alive(b))

    def test_a_user_is_one_word(self):
        """-u ana 123 is not two users."""
        child = self.sleeper()
        self.check("-y", "-u", os.geteuid(), child.pid)
        self.assertEqual(child.wait(timeout=30), -signal.SIGTERM)

    def test_nothing_is_chosen(self):
        result = self.check("-y", code=2)
        self.assertIn("needs a pid", result.stderr)
        result = self.check("-y", "--match", "vitals-kill-nobody-says-this", code=1)
        self.assertIn("no process was chosen", result.stderr)

    def test_never_what_it_runs_in(self):
        result = self.check("--dry-run", "-u", os.geteuid())
        shown = {line.split()[0] for line in result.stdout.splitlines()[1:]}
        self.assertNotIn("1", shown)
        self.assertNotIn(str(os.getpid()), shown)
        self.assertIn(f"process {os.getpid()} is left out", result.stderr)
        for pid in shown:
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                stat = pathlib.Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
                self.assertNotEqual((stat[0], stat[20]), (b"I", b"0"), "a kernel thread")

    def test_what_it_runs_in_if_it_is_named(self):
        result = self.check("--dry-run", os.getpid())
        self.assertIn(str(os.getpid()), result.stdout)

    def test_pids_that_are_none(self):
        child = self.sleeper()
        for words in (("0",), (child.pid, "-1"), ("abc",), ("1.5",), ("--", "-9", child.pid),
                      (child.pid, "-9")):
            result = self.check("-y", *words, code=2)
            self.assertIn("is not a pid", result.stderr)
        self.assertTrue(self.alive(child))

    def test_one_that_is_gone_does_not_keep_the_others(self):
        gone = subprocess.Popen(["true"])
        gone.wait()
        child = self.sleeper()
        result = self.check("-y", gone.pid, child.pid, code=1)
        self.assertIn(f"no process has the pid {gone.pid}", result.stderr)
        self.assertEqual(child.wait(timeout=30), -signal.SIGTERM)

    def test_no_permission(self):
        child = self.sleeper()
        words = ordinary(self)
        done = subprocess.run([*words, VITALS, "kill", "-y", str(child.pid)], capture_output=True,
                              text=True, check=False, timeout=60, stdin=subprocess.DEVNULL,
                              env=environment(HOME=NO_HOME))
        self.assertEqual(done.returncode, 1)
        user = pwd.getpwuid(os.geteuid()).pw_name
        self.assertEqual(done.stderr,
                         f"vitals: TERM to process {child.pid}: no permission; the process belongs to {user}\n")
        self.assertTrue(self.alive(child))


    def test_a_zombie_is_not_chosen_and_if_named_told(self):
        zombie = subprocess.Popen(["true"])
        self.addCleanup(zombie.wait)
        os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
        child = self.sleeper(b"vitals-kill-live")
        shown = self.check("--dry-run", "-u", os.geteuid()).stdout
        self.assertRegex(shown, rf"(?m)^ *{child.pid} ")
        self.assertNotRegex(shown, rf"(?m)^ *{zombie.pid} ")
        result = self.check("-y", zombie.pid, child.pid, code=1)
        self.assertEqual(result.stderr, f"vitals: {zombie.pid} has already ended; its parent "
                         f"{os.getpid()} has not collected it\n")
        self.assertEqual(child.wait(timeout=30), -signal.SIGTERM)

    def test_one_that_proc_hides(self):
        words = ordinary(self)
        child = self.sleeper()
        enter = (*unshared(self, "--mount", "--propagation=private"), "sh", "-c",
                 'mount -t proc -o hidepid=2 proc /proc && exec "$@"', "sh", *words, VITALS)
        for command in ("kill", "info", "ps"):
            done = subprocess.run([*enter, command, str(child.pid)], capture_output=True, text=True,
                                  check=False, timeout=60, stdin=subprocess.DEVNULL,
                                  env=environment(HOME=NO_HOME))
            if "mount" in done.stderr and "vitals:" not in done.stderr:
                self.skipTest(f"/proc cannot be mounted here: {done.stderr}")
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"process {child.pid} is hidden from you (/proc is mounted with hidepid)",
                          done.stderr)


class SamePid(Case):
    """A pid that goes from one process to another while vitals kill, which has seen the first, stands
    still: it has to complain to a pipe that is full. Who judged the first reading and only then
    opened the pid would stand there within the clock tick in which both begin, and could not tell
    them apart."""

    ATTEMPTS = 10

    def clone_as(self, pid, name):
        """clone3 with set_tid: a process that only waits, with that name from its first moment."""
        libc = ctypes.CDLL(None, use_errno=True)
        tid, words = ctypes.c_int32(pid), (ctypes.c_uint64 * 11)()
        words[4] = signal.SIGCHLD
        words[8], words[9] = ctypes.addressof(tid), 1
        libc.prctl(15, name)
        child = libc.syscall(435, words, ctypes.sizeof(words))
        if child == 0:
            while True:
                signal.pause()
        libc.prctl(15, b"vk-test")
        if child < 0:
            self.skipTest(f"no process with a pid of our choice: {os.strerror(ctypes.get_errno())}")
        return child

    def attempt(self, pid):
        """The first begins with a tick of the clock."""
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, b" " * 4096)
        os.set_blocking(writer, True)
        while time.clock_gettime_ns(time.CLOCK_BOOTTIME) % 10_000_000 > 300_000:
            pass
        victim = self.clone_as(pid, b"vk-victim")
        done = subprocess.Popen(
            [VITALS, "kill", "-y", "--name", "vk-victim", "-u", f"{os.geteuid()},vk-nobody"],
            env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=writer)
        os.close(writer)
        call = pathlib.Path(f"/proc/{done.pid}/syscall")
        while not call.read_text().startswith("1 0x2 "):
            self.assertIsNone(done.poll(), "it has nothing to complain about")
        os.kill(victim, signal.SIGKILL)
        os.waitpid(victim, 0)
        self.clone_as(pid, b"vk-innocent")
        with open(reader, "rb") as messages:
            text = messages.read().strip()
        done.wait()
        os.kill(pid, signal.SIGKILL)
        ended_by = os.WTERMSIG(os.waitpid(pid, 0)[1])
        self.assertEqual(ended_by, signal.SIGKILL, "it was never chosen")
        self.assertIn(b"has ended", text)

    def test_only_who_was_chosen_gets_the_signal(self):
        free = subprocess.Popen(["true"])
        free.wait()
        self.addCleanup(ctypes.CDLL(None).prctl, 15, pathlib.Path("/proc/self/comm").read_bytes())
        if not os.access("/proc/self/syscall", os.R_OK):
            self.skipTest("this kernel does not tell in which call a process waits")
        for _ in range(self.ATTEMPTS):
            self.attempt(free.pid)


class Unknown(Case):
    """A command line that could not be read is not an empty one."""

    def test_it_matches_nothing_and_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for entry in ("stat", "uptime", "meminfo", "loadavg", "self"):
                (root / entry).symlink_to(f"/proc/{entry}")
            (root / "sys").symlink_to("/proc/sys")
            own = root / str(os.getppid())
            own.mkdir()
            for entry in ("stat", "statm", "status", "comm"):
                (own / entry).write_bytes(
                    pathlib.Path(f"/proc/{os.getppid()}/{entry}").read_bytes())
            (own / "cmdline").mkdir()  # EISDIR: it fails
            name = (own / "comm").read_text().strip()
            result = vitals("ps", "--proc-root", root, "--match", f"^{name}", "-o", "pid")
            self.assertEqual(result.returncode, 1, result.stdout)
            self.assertNotIn(str(os.getppid()), result.stdout)
            self.assertIn("1 process could not be matched: its command line was not read in time",
                          result.stderr)


class Asking(Case):
    def test_what_was_typed_before_is_no_answer(self):
        child = self.sleeper()
        text, code = self.talk(b"n\n", child.pid, early=b"y\n")
        self.assertEqual(code, 1, text)
        self.assertIn("nothing was signalled", text)
        self.assertTrue(self.alive(child))

    def test_says_how_many(self):
        children = [self.sleeper(b"vitals-kill-many") for _ in range(3)]
        text, code = self.talk(b"n\n", "--match", "^vitals-kill-many")
        self.assertIn("Send TERM to these 3 processes? [y/N]", text)
        self.assertTrue(all(map(self.alive, children)))

    def talk(self, answer, *arguments, early=b""):
        """Runs it on a terminal and answers once; gives what it printed and its exit code."""
        child, terminal = pty.fork()
        if child == 0:
            os.execvpe(VITALS, [VITALS, "kill", *map(str, arguments)],
                       environment(TERM="xterm", LC_ALL="C.UTF-8"))
        os.write(terminal, early)
        text, answered = b"", False
        try:
            while True:
                ready, _, _ = select.select([terminal], [], [], 30)
                if not ready:
                    os.kill(child, signal.SIGKILL)
                    break
                try:
                    data = os.read(terminal, 65536)
                except OSError:
                    break
                if not data:
                    break
                text += data
                if b"[y/N]" in text and not answered:
                    answered = True
                    os.write(terminal, answer)
        finally:
            os.close(terminal)
        return text.decode(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def test_yes_signals_and_anything_else_does_not(self):
        for answer, dies in ((b"y\n", True), (b"Y\n", True), (b"yes\n", True), (b"n\n", False),
                             (b"\n", False), (b"maybe\n", False), (b"\x04", False)):
            with self.subTest(answer):
                child = self.sleeper()
                text, code = self.talk(answer, child.pid)
                self.assertIn("vitals-kill-sleeper", text)
                self.assertIn("Send TERM to this process?", text)
                self.assertEqual(code, 0 if dies else 1, text)
                if dies:
                    self.assertEqual(child.wait(timeout=30), -signal.SIGTERM)
                else:
                    self.assertIn("nothing was signalled", text)
                    self.assertTrue(self.alive(child))

    def test_without_a_terminal_it_refuses(self):
        child = self.sleeper()
        result = self.check(child.pid, code=1)
        self.assertIn("--yes", result.stderr)
        self.assertTrue(self.alive(child))
        result = self.check(child.pid, code=1, input="y\n", stdin=None)
        self.assertTrue(self.alive(child))

    def test_who_got_the_pid_meanwhile_is_left_alone(self):
        """Between showing and answering the process ends; its pid is then another's, or nobody's."""
        child = self.sleeper()
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvpe(VITALS, [VITALS, "kill", str(child.pid)], environment(TERM="xterm"))
        text = b""
        while b"[y/N]" not in text:
            text += os.read(terminal, 4096)
        child.kill()
        child.wait()
        other = self.recreate(child.pid)
        os.write(terminal, b"y\n")
        with contextlib.suppress(OSError):
            while data := os.read(terminal, 4096):
                text += data
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 1, text)
        self.assertIn(b"has ended", text)
        if other is None:
            self.skipTest("the pid could not be given to another: it takes root")
        self.assertTrue(self.alive(other))

    def recreate(self, wanted):
        """A new process with that pid, through /proc/sys/kernel/ns_last_pid."""
        place = pathlib.Path("/proc/sys/kernel/ns_last_pid")
        for _ in range(200):
            try:
                place.write_text(str(wanted - 1))
            except OSError:
                return None
            other = subprocess.Popen(["sleep", "600"])
            if other.pid == wanted:
                self.addCleanup(self.end, other)
                return other
            other.kill()
            other.wait()
        return None


class Waiting(Case):
    def setUp(self):
        self.cast = Cast()
        self.addCleanup(self.cast.close)

    def test_tells_how_each_ended(self):
        child = self.sleeper()
        result = self.check("-y", "--wait", child.pid)
        self.assertRegex(result.stdout, rf"(?m)^{child.pid}: TERM sent, ended after [0-9.]+ s")
        self.assertEqual(child.wait(timeout=30), -signal.SIGTERM)

    def test_waits_no_longer_than_told(self):
        self.cast.add("stubborn", STUBBORN)
        pid = self.cast.pids["stubborn"]
        result = self.check("-y", "--wait=0.2", pid, code=1)
        self.assertIn(f"{pid}: TERM sent, still alive", result.stdout)

    def test_forces_who_does_not_listen(self):
        program = self.cast.add("stubborn", STUBBORN)
        pid, child = self.cast.pids["stubborn"], self.sleeper()
        result = self.check("-y", "--force-after", "0.3", pid, child.pid)
        self.assertRegex(result.stdout, rf"(?m)^{pid}: KILL sent, ended after [0-9.]+ s")
        self.assertRegex(result.stdout, rf"(?m)^{child.pid}: TERM sent, ended after [0-9.]+ s")
        self.assertEqual(program.wait(timeout=30), -signal.SIGKILL)
        self.assertEqual(child.wait(timeout=30), -signal.SIGTERM)

    def test_a_whole_tree(self):
        self.cast.add("parent", """
import subprocess
child = subprocess.Popen(["sleep", "600"])
print(os.getpid(), flush=True)
stay()
""")
        parent = self.cast.pids["parent"]
        result = self.check("-y", "--wait", "--children", parent)
        self.assertEqual(result.stdout.count(" sent, ended"), 1)
        self.assertTrue(pathlib.Path(f"/proc/{parent}").exists())


class Mistakes(Case):
    def test_options_that_exclude_each_other(self):
        child = self.sleeper()
        self.check("--dry-run", "--yes", child.pid, code=2)
        self.check("-y", "--wait=soon", child.pid, code=2)
        self.check("-y", "--force-after", "0", child.pid, code=2)
        self.assertTrue(self.alive(child))


if __name__ == "__main__":
    unittest.main()
