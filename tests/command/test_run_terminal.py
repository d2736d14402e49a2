"""`vitals run` and `vitals mark` as jobs of an interactive shell: tmux is the terminal, bash the shell.
Keys stop, continue and end them as they do the command alone. And of shells without a terminal."""

import contextlib
import os
import select
import signal
import subprocess
import unittest

from harness import SANITIZED, VITALS, environment
from runs import RunCase, children, ordinary_user, program, status, wait_until
from terminal import PATIENCE, TMUX, Terminal


def has_bash():
    return subprocess.run(["bash", "-c", ":"], capture_output=True).returncode == 0


@unittest.skipIf(TMUX is None, "no tmux")
@unittest.skipUnless(TMUX is None or has_bash(), "no bash")
class Jobs(unittest.TestCase):
    def setUp(self):
        self.count = 0
        self.terminal = Terminal(width=120, height=40)
        self.addCleanup(self.terminal.close)
        self.line(f"run='{os.path.abspath(VITALS)} run -q --backends= --'; "
                  f"mark='{os.path.abspath(VITALS)} mark x --'; stty -echoctl")
        self.empty()

    def empty(self):
        """The shell's prompt, a new one, on a screen without anything else.

        The former prompt proves nothing: it may stand there before the shell has read what is typed.
        """
        self.count += 1
        self.line(f'clear; PS1="$((1000 + {self.count}))> "')
        self.seen(f"{1000 + self.count}>", gone=("clear",))

    def line(self, text):
        self.terminal.type("-l", text)
        self.terminal.type("Enter")

    def key(self, name):
        self.terminal.type(name)

    def seen(self, *words, gone=()):
        return self.terminal.wait(*words, gone=gone)

    def asks(self, what):
        """The shell's prompt is there: it answers with the number of the question."""
        self.count += 1
        self.line(f'echo "$((1000 + {self.count})) {what}"')
        return self.seen(f"{1000 + self.count} ")

    def reads(self, word):
        """The command in front reads a line: cat gives it back. What is typed while the shell still
        changes the terminal's mode may be lost, so that it is typed again."""
        for again in range(PATIENCE):
            with contextlib.suppress(AssertionError):
                self.line(f"{word}{again}")
                self.terminal.wait(f"\n{word}{again}\n{word}{again}\n", seconds=1)
                return
        self.fail(f"not read:\n{self.terminal.screen()}")

    def test_stopped_and_continued(self):
        for job in ("$run cat", "$mark cat", "$run $run $mark cat", "$run cat | $run cat",
                    "$run timeout --foreground 600 cat"):
            with self.subTest(job=job):
                self.empty()
                self.line(job)
                self.reads("one")
                for word in ("two", "three"):
                    self.key("C-z")
                    self.seen("[1]+  Stopped")
                    self.asks("$(jobs -s | wc -l)")
                    self.empty()
                    self.line("fg")
                    self.reads(word)
                self.key("C-d")
                self.assertIn(f"{1000 + self.count + 1} 0 0", self.asks("$? $(jobs | wc -l)"))

    def test_one_that_stops_itself(self):
        """As top and others do: they put the terminal in order first."""
        stops = self.terminal.home / "stops.py"
        stops.write_text("import os, signal, sys\n"
                         "def stop(number, frame):\n    os.kill(os.getpid(), signal.SIGSTOP)\n"
                         "signal.signal(signal.SIGTSTP, stop)\nprint('ready', flush=True)\n"
                         "for line in sys.stdin:\n    print(line, end='', flush=True)\n")
        for job in ("$run", "$mark", "$run $run $mark"):
            with self.subTest(job=job):
                self.empty()
                self.line(f"{job} python3 {stops}")
                self.seen("\nready")
                for word in ("one", "two"):
                    self.key("C-z")
                    self.seen("[1]+  Stopped")
                    self.asks("stopped")
                    self.empty()
                    self.line("fg")
                    self.reads(word)
                self.key("C-d")
                self.assertIn(f"{1000 + self.count + 1} 0 0", self.asks("$? $(jobs | wc -l)"))

    def test_continued_behind_the_shell(self):
        self.line("$run sh -c 'until [ -e ~/go ]; do sleep 0.1; done; exit 7'")
        wait_until(lambda: "\nsh -c until" in "\n" + self.front(), what="the command")
        self.key("C-z")
        self.seen("Stopped")
        self.line("bg; touch ~/go; wait %1")
        self.assertIn(" 7", self.asks("$?"))
        os.unlink(self.terminal.home / "go")

    def front(self):
        """The command lines of all that lives in the terminal."""
        tty = self.terminal.tmux("display-message", "-p", "#{pane_tty}").strip()
        return subprocess.run(["ps", "-o", "args=", "-t", tty.removeprefix("/dev/")],
                              capture_output=True, text=True, check=False).stdout

    def test_reading_behind_the_shell(self):
        self.line("$run cat &")
        wait_until(lambda: " cat" in self.front(), what="the command")
        self.line("wait %1")
        self.seen("Stopped")
        self.line("fg")
        self.reads("word")
        self.key("C-d")
        self.assertIn(" 0", self.asks("$?"))

    def test_writing_behind_the_shell(self):
        self.line("stty tostop; $run sh -c 'echo said; exit 3' & wait %1")
        self.seen("Stopped")
        self.assertNotIn("\nsaid", self.terminal.screen())
        self.line("fg")
        self.seen("\nsaid\n")
        self.assertIn(" 3", self.asks("$?"))
        self.line("stty -tostop")

    def test_interrupted(self):
        """A loop ends only where the program died of it."""
        for job in ("$run", "$mark", "$run $run", "$run $mark", "$run timeout 600"):
            with self.subTest(job=job):
                self.empty()
                self.line(f"for i in 1 2 3; do {job} sleep 61$i; done")
                wait_until(lambda: "\nsleep 611" in "\n" + self.front(), what="the command")
                self.key("C-c")
                self.assertIn(" 130", self.asks("$?"))
                self.assertNotIn("sleep 61", self.front())

    def test_quit(self):
        self.line("ulimit -c 0; $run sleep 62")
        wait_until(lambda: "\nsleep 62" in "\n" + self.front(), what="the command")
        self.key("C-\\")
        self.assertIn(" 131", self.asks("$?"))

    def test_a_shell_within_has_its_own_jobs(self):
        for job in ("$run", "$mark"):
            with self.subTest(job=job):
                self.empty()
                self.line(f"{job} bash --norc --noprofile")
                self.line("PS1='inner> '; sleep 63")
                wait_until(lambda: "\nsleep 63" in "\n" + self.front(), what="its job")
                self.key("C-z")
                self.seen("Stopped                 sleep 63", "inner>")
                self.line("kill %1; wait %1")  # a job that is stopped still would hold back exit
                self.line("suspend")
                self.seen(f"bash --norc --noprofile\n{1000 + self.count}>")
                self.empty()
                self.line("fg")
                self.line("echo $((6 * 7)) of the inner")
                self.seen("42 of the inner")
                self.line("exit 5")
                self.seen(f"exit\n{1000 + self.count}>")
                self.assertIn(" 5", self.asks("$?"))


@unittest.skipUnless(has_bash(), "no bash")
class Scripts(RunCase):
    """Shells without a terminal."""

    def script(self, text, *options, timeout=60, **changes):
        done = subprocess.run(
            [*options, "bash", "-c", f"run='{os.path.abspath(VITALS)} run -q --backends= --'\n{text}"],
            capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL,
            cwd=self.folder, env=environment(HOME=self.folder, **changes))
        return done

    def says(self, text, expected, *options, **rest):
        done = self.script(text, *options, **rest)
        self.assertEqual(done.stdout.split(), expected.split(), done.stderr)

    def test_jobs_in_a_script(self):
        self.says("set -m; $run sh -c 'exit 4' 2>/dev/null & wait $!; echo $?", "4")
        self.says("set -m; $run cat <<<word; echo $?", "word 0")

    def test_stopped_alone(self):
        """Who stops the command alone continues it alone: neither launcher may stay behind."""
        for job in ("$run", f"'{os.path.abspath(VITALS)}' mark x --"):
            with self.subTest(job=job):
                self.says(f"""{job} sh -c 'echo $$ >pid; kill -STOP $$; exit 6' 2>/dev/null & job=$!
                    until [ -s pid ] && grep -q '^State:.T' /proc/$(cat pid)/status; do sleep 0.05; done
                    sleep 0.2; kill -CONT $(cat pid); wait $job; echo $?""", "6")
                (self.folder / "pid").unlink()

    def test_orphaned_groups_stop_for_nobody(self):
        """No shell could continue it: the kernel drops the signal, for the command and for us."""
        self.says("$run sh -c 'kill -TSTP 0; exit 3' 2>/dev/null; echo $?", "3", "setsid", "-w")

    def test_pipelines(self):
        self.says("$run seq 5 | $run tail -n 1", "5")
        self.says("$run yes 2>/dev/null | head -n 1; echo ${PIPESTATUS[@]}", "y 141 0")
        self.says("set -o pipefail; $run sh -c 'exit 9' 2>/dev/null | $run cat; echo $?", "9")

    def test_wrapped_by_others(self):
        for before, command, code in (
                ("nohup", "exit 3", 3), ("setsid -w", "exit 4", 4), ("nice -n 1", "exit 5", 5),
                ("timeout 60", "exit 6", 6), ("timeout 0.5", "sleep 66", 124),
                ("timeout -s INT 0.5", "sleep 67", 124), ("env -i", "exit 8", 8),
                ("exec -a -odd", "exit 9", 9), ("exec -a ''", "exit 10", 10)):
            with self.subTest(before=before):
                done = self.script(f"({before} $run /bin/sh -c '{command}') 2>/dev/null; echo $?")
                self.assertEqual(done.stdout.split(), [str(code)], done.stderr)

    def test_an_alarm_from_before_reaches_the_command(self):
        """A poor man's timeout; alarms outlive exec."""
        text = "import os, signal, sys; signal.alarm(1); os.execvp(sys.argv[1], sys.argv[1:])"
        for words in (["run", "-q", "--backends=", "--"], ["mark", "x", "--"]):
            with self.subTest(words=words):
                done = subprocess.run(["python3", "-c", text, VITALS, *words, "sleep", "60"], timeout=50,
                                      env=environment(), capture_output=True, stdin=subprocess.DEVNULL)
                self.assertEqual(done.returncode, 128 + 14, done.stderr)

    def test_many_at_once(self):
        self.says("seq 12 | xargs -P 4 -I% $run sh -c 'echo %' | sort -n | tail -n 1; "
                  "echo ${PIPESTATUS[1]}", "12 0")

    def test_a_makefile(self):
        (self.folder / "Makefile").write_text(
            "all: a b c\na b c: ; @$(run) $(MAKE) -s -f inner $@.out\n")
        (self.folder / "inner").write_text("%.out: ; @echo $@ $(filter -j% --jobserver%,$(MAKEFLAGS))\n")
        done = self.script("export run; make -s -j 3 all | sort; make -s all -j 2 -f Makefile "
                           "run='$(run) sh -c \"exit 2\" #' >/dev/null 2>&1; echo $?")
        *lines, code = done.stdout.split("\n")[:-1]
        self.assertEqual([line.split()[0] for line in lines], ["a.out", "b.out", "c.out"], done)
        self.assertTrue(all("jobserver" in line for line in lines), lines)  # what make handed on
        self.assertEqual(code, "2")
        self.assertNotIn("jobserver unavailable", done.stderr)

    def test_codes(self):
        """Also those that other ends have: they are the command's own all the same."""
        codes = (0, 2, 42, 124, 125, 126, 127, 128, 130, 137, 143, 200, 255)
        self.says(f"for code in {' '.join(map(str, codes))}; do $run sh -c \"exit $code\" 2>/dev/null; "
                  "echo $?; done", " ".join(map(str, codes)))

    def test_deaths(self):
        """By every signal that ends a program, with a core and without."""
        spared = {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCONT,
                  signal.SIGCHLD, signal.SIGURG, signal.SIGWINCH}
        numbers = sorted(int(number) for number in signal.valid_signals() - spared)
        for core in ("0", "unlimited"):
            self.says(f"ulimit -c {core}; for number in {' '.join(map(str, numbers))}; do "
                      "($run sh -c 'kill -$0 $$' $number) >/dev/null 2>&1; echo $?; done",
                      " ".join(str(128 + number) for number in numbers))

    # A sanitizer handles these itself.
    FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGABRT,
              signal.SIGSYS} if SANITIZED else set()

    def test_every_signal_reaches_the_command(self):
        """Whoever means to signal us means the command, by whatever number."""
        text = """
            numbers = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}
            for number in numbers:
                signal.signal(number, lambda number, frame: os.write(1, b"%d\\n" % number))
            say("ready")
            while True:
                time.sleep(0.05)  # not pause(): a signal just before it would be slept over
            """
        for words in (["run", "-q", "--backends=", "--"], ["mark", "x", "--"]):
            with self.subTest(words=words):
                process = subprocess.Popen([VITALS, *words, *program(text)], stdout=subprocess.PIPE,
                                           stderr=subprocess.DEVNULL, text=True, env=environment())
                self.addCleanup(process.stdout.close)
                self.addCleanup(process.wait)
                self.kill_later(process.pid)
                self.assertEqual(process.stdout.readline(), "ready\n")
                pid = next(one for one in children(process.pid) if "python" in status(one).get("Name", ""))
                self.kill_later(pid)
                never = {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD} | self.FAULTS
                for number in signal.valid_signals() - never:
                    process.send_signal(number)
                    heard, _, _ = select.select([process.stdout], [], [], 60)
                    self.assertTrue(heard, f"nobody heard {number}")
                    self.assertEqual(process.stdout.readline(), f"{int(number)}\n")
                os.kill(pid, signal.SIGKILL)
                self.assertEqual(process.wait(60), 128 + signal.SIGKILL)

    def test_closed_streams(self):
        path = self.folder / "account.json"
        run = f"'{os.path.abspath(VITALS)}' run --backends= --json '{path}' --"
        for streams in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            with self.subTest(streams=streams):
                path.unlink(missing_ok=True)
                done = self.script(
                    f"({run} bash -c '[ -e /proc/$$/fd/0 ] || [ -e /proc/$$/fd/1 ] || "
                    f"[ -e /proc/$$/fd/2 ]; exit $((7 + $?))' {streams}) 2>&-; echo $?")
                self.assertEqual(done.stdout.split(), ["8" if streams.count("&") == 3 else "7"])
                self.assertTrue(path.read_text().startswith("{"), path.read_text()[:40])

    def test_places(self):
        self.says("mkdir gone; cd gone; rmdir ../gone; $run sh -c 'exit 3' 2>/dev/null; echo $?", "3")
        self.says("PATH= $run /bin/sh -c 'exit 4' 2>/dev/null; echo $?", "4")
        self.says("PATH= $run sh 2>/dev/null; echo $?", "127")
        self.says("unset PATH; $run sh -c 'exit 5' 2>/dev/null; echo $?", "5")
        self.says("echo 'exit 6' >plain; chmod +x plain; $run ./plain 2>/dev/null; echo $?", "6")

    def test_long_arguments(self):
        self.says("$run sh -c 'echo ${#1}' sh $(head -c 120000 /dev/zero | tr '\\0' a)", "120000")
        self.says("$run sh -c 'echo $#' sh $(seq 1 36000)", "36000")

    def test_little_room(self):
        """Too few descriptors, processes or addresses: it runs, or it is said that it did not."""
        addresses = () if SANITIZED else ("-v 12000", "-v 30000")
        for limit in ("-n 7", "-n 10", "-n 13", "-n 16", *addresses):
            with self.subTest(limit=limit):
                done = self.script(f"ulimit {limit}; $run sh -c 'echo ran; exit 3'")
                self.assertIn((done.returncode, done.stdout), ((3, "ran\n"), (125, "")), done.stderr)
                self.assertEqual(done.returncode == 125, "cannot" in done.stderr, done.stderr)

    @unittest.skipIf(SANITIZED, "a sanitizer starts threads of its own, and ends the program where it cannot")
    def test_no_process_more(self):
        """The limit is of all processes of a user, and holds for none that may pass it."""
        user = ordinary_user()
        done = self.script("ulimit -u 1; exec $run sh -c 'echo ran; exit 3'", *user)
        self.assertIn((done.returncode, done.stdout), ((3, "ran\n"), (125, "")), done.stderr)
        self.assertEqual(done.returncode == 125, "cannot start a process" in done.stderr, done.stderr)
        if user:
            self.assertEqual(done.returncode, 125, done.stderr)

    def test_a_limit_of_file_sizes(self):
        """The account has no room: the command's code is told all the same."""
        (self.folder / "file").write_bytes(bytes(4096))
        done = self.script(f"ulimit -f 1; '{os.path.abspath(VITALS)}' run -q --backends= --json "
                           f"'{self.folder / 'account.json'}' -- sh -c 'exit 3'")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("too large", done.stderr)


if __name__ == "__main__":
    unittest.main()
