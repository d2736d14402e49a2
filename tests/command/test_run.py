"""`vitals run` from outside: the command is as if nobody watched, and what it used is told.

Programs that a case runs are Python, given as text; `say` and `burn` are theirs. Bounds on time are
wide where a loaded machine may stretch them, and narrow only where the promise is one of time.
"""

import contextlib
import json
import os
import pathlib
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from harness import VITALS, environment, vitals
from runs import (Account, RunCase, children, command_line, program, state, status,
                  wait_until)

MIB = 1 << 20

# Without what the kernel may count for us, which not every machine permits.
SAMPLED = ("--rungs", "wait4,sampling")


class ExitCodes(RunCase):
    def test_the_commands_own(self):
        for code in (0, 1, 7, 255):
            with self.subTest(code=code):
                done, account = self.run_it(["sh", "-c", f"exit {code}"])
                self.assertEqual(done.returncode, code)
                self.assertEqual(account.document["exit_code"], code)
                self.assertEqual(account.document["signal"], 0)
                self.assertIn(f"exit {code}", done.stderr)

    def test_128_and_the_signal(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV):
            with self.subTest(number=number):
                done, account = self.run_it(["sh", "-c", f"ulimit -c 0; kill -{int(number)} $$"])
                self.assertEqual(done.returncode, 128 + number)
                self.assertEqual(account.document["signal"], number)

    def test_127_where_there_is_no_such_command(self):
        done, account = self.run_it(["vitals-no-such-command"])
        self.assertEqual((done.returncode, done.stdout), (127, ""))
        self.assertIn("vitals-no-such-command", done.stderr)
        self.assertIn("not found", done.stderr)

    def test_126_where_it_cannot_be_run(self):
        plain = self.folder / "plain"
        plain.write_text("no program\n")
        for command, why in ((plain, "Permission denied"), (self.folder, "Is a directory")):
            with self.subTest(command=command):
                done, _ = self.run_it([command])
                self.assertEqual((done.returncode, done.stdout), (126, ""))
                self.assertIn(why, done.stderr)

    def test_a_hostile_name_does_not_reach_the_terminal(self):
        done, _ = self.run_it(["no\x1b[31m\nsuch"])
        self.assertEqual(done.returncode, 127)
        self.assertNotIn("\x1b", done.stderr)

    def test_125_where_vitals_itself_cannot(self):
        mark = self.folder / "ran"
        done = vitals("run", "--json", self.folder / "no" / "where", "--", "touch", mark)
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertFalse(mark.exists())

    def test_2_for_bad_usage(self):
        for arguments in (["run"], ["run", "--"], ["run", "--interval", "0", "--", "true"]):
            with self.subTest(arguments=arguments):
                done = vitals(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))


class TheCommandIsAlone(RunCase):
    """It runs as if nobody watched."""

    def test_its_output_is_its_own(self):
        text = """
            import hashlib
            block = hashlib.sha256(b"vitals").digest() * 32768
            os.write(2, b"to stderr\\n")
            view = memoryview(block)
            while view:
                view = view[os.write(1, view):]
            """
        plain = subprocess.run(program(text), capture_output=True, check=True)
        done, _ = self.run_it(program(text), text=False, errors=None)
        self.assertEqual(len(done.stdout), MIB)
        self.assertEqual(done.stdout, plain.stdout)
        self.assertTrue(done.stderr.startswith(b"to stderr\n"))

    def test_its_input_passes_through(self):
        block = bytes(range(256)) * 4096
        done = subprocess.run(
            [VITALS, "run", "--", "cat"], input=block, capture_output=True, env=environment()
        )
        self.assertEqual(done.stdout, block)

    def test_it_inherits_what_was_given_and_nothing_of_ours(self):
        text = """
            import json
            found = {}
            for name in os.listdir("/proc/self/fd"):
                try:
                    found[int(name)] = os.readlink("/proc/self/fd/" + name)
                except OSError:
                    pass
            own = "/proc/%d/fd" % os.getpid()
            say(json.dumps({n: t for n, t in found.items() if t != own}))
            """
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        self.addCleanup(os.close, writing)
        plain = subprocess.run(program(text), capture_output=True, pass_fds=[writing], check=True)
        done, _ = self.run_it(program(text), pass_fds=[writing])
        self.assertEqual(json.loads(done.stdout).keys(), json.loads(plain.stdout).keys())
        self.assertIn(str(writing), json.loads(done.stdout))

    def test_the_sampler_holds_nothing_of_the_callers(self):
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        process = self.start(program("say('ready'); time.sleep(60)"), pass_fds=[writing])
        os.close(writing)
        self.assertEqual(process.stdout.readline(), "ready\n")
        command, watcher = self.parts(process)
        pipe = os.readlink(f"/proc/self/fd/{reading}")

        def held(pid):
            folder = f"/proc/{pid}/fd"
            links = []
            for name in os.listdir(folder):
                with contextlib.suppress(OSError):
                    links.append(os.readlink(f"{folder}/{name}"))
            return links

        self.assertIn(pipe, held(command))
        self.assertNotIn(pipe, held(watcher))
        self.assertEqual([os.readlink(f"/proc/{watcher}/fd/{n}") for n in range(3)], ["/dev/null"] * 3)
        process.terminate()
        self.assertEqual(process.wait(20), 128 + signal.SIGTERM)

    def parts(self, process):
        """The pids of the command and of the sampler."""
        def is_watcher(pid):
            return command_line(pid) == command_line(process.pid)

        found = children(process.pid)
        watchers = [pid for pid in found if is_watcher(pid)]
        commands = [pid for pid in found if not is_watcher(pid)]
        self.assertEqual((len(watchers), len(commands)), (1, 1), found)
        return commands[0], watchers[0]

    def test_its_limit_of_descriptors_is_the_callers(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        hard = 4096 if hard == resource.RLIM_INFINITY else min(hard, 4096)

        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (300, hard))

        done, _ = self.run_it(["sh", "-c", "ulimit -Sn; ulimit -Hn"], preexec_fn=limit)
        self.assertEqual(done.stdout.split(), ["300", str(hard)])

    def test_its_signals_are_the_callers(self):
        def ignore():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])

        command = ["grep", "-E", "^Sig(Blk|Ign|Cgt)", "/proc/self/status"]
        plain = subprocess.run(command, capture_output=True, text=True, preexec_fn=ignore)
        done, account = self.run_it(command, preexec_fn=ignore)
        self.assertEqual(done.stdout, plain.stdout)
        self.assertEqual((done.returncode, account.document["exit_code"]), (0, 0))

    def test_a_caller_that_ignores_its_children_still_gets_the_code(self):
        def ignore():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)

        process = self.start(["sh", "-c", "exit 7"], preexec_fn=ignore)
        self.assertEqual(process.wait(20), 7)

    def test_killing_the_launcher_leaves_it_alive(self):
        process = self.start(program("say(os.getpid()); time.sleep(60)"))
        command = int(process.stdout.readline())
        self.kill_later(command)
        same, watcher = self.parts(process)
        self.assertEqual(same, command)
        process.kill()
        process.wait(20)
        wait_until(lambda: state(watcher) in "?ZX", what="the end of the sampler")
        self.assertIn(state(command), "SR")


class Counting(RunCase):
    def test_a_hundred_children_to_one_percent(self):
        text = """
            for _ in range(100):
                child = os.fork()
                if child == 0:
                    burn(0.05)
                    os._exit(0)
                os.waitpid(child, 0)
            end_with(sys.argv[1], used())
            """
        path = self.folder / "used"
        done, account = self.run_it(program(text, path), timeout=120)
        self.assertEqual(done.returncode, 0)
        truth = float(path.read_text())
        self.assertGreater(truth, 5)
        self.assertAlmostEqual(account.value("cpu_seconds") / truth, 1, delta=0.01)
        self.assertEqual(account["cpu_seconds"]["availability"], "have")
        self.assertAlmostEqual(
            account.value("cpu_user_seconds") + account.value("cpu_system_seconds"), account.value("cpu_seconds"), delta=1e-5
        )

    DAEMON = """
        path, how, command = sys.argv[1], sys.argv[2], os.getpid()
        def work():
            while how == "go" and not has_ended(command):
                time.sleep(0.01)
            os.write(told, b"%d " % os.getpid())
            burn(0.5)
            end_with(path, time.process_time())
        heard, told = os.pipe()
        daemon(work)
        if how == "stay":
            pid = int(os.read(heard, 20))
            while not has_ended(pid):
                time.sleep(0.01)
        end_with(path + ".own", used())
        """

    def check_daemon(self, how, *options):
        path = self.folder / "daemon"
        done, account = self.run_it(program(self.DAEMON, path, how), *options, timeout=60)
        self.assertEqual(done.returncode, 0)
        daemon = float(path.read_text())
        own = float(pathlib.Path(f"{path}.own").read_text())
        self.assertGreater(daemon, 0.5)
        self.assertAlmostEqual(account.value("cpu_seconds"), daemon + own, delta=0.03)
        self.assertNotIn("processes_left", account)
        self.assertGreaterEqual(account.value("processes"), 2)
        return account

    def check_exact_daemon(self, how, *options):
        """For an ordinary user perf's clock confirms that no child is missing. It counts interrupts too:
        beside a busy machine's it may not confirm, and the figure is then a lower bound. Not each time."""
        for _ in range(4):
            account = self.check_daemon(how, *options)
            if account["cpu_seconds"]["availability"] == "have":
                return account
            self.assertEqual(account["cpu_seconds"]["availability"], "lower_bound")
        self.fail(f"never exact: {account['cpu_seconds']}")

    def test_a_daemon_that_the_command_outlives(self):
        self.check_exact_daemon("stay")

    def test_wall_time_is_that_of_all_that_is_waited_for(self):
        _, account = self.run_it(["sh", "-c", "(sleep 1.2) & exit 0"], "--wait")
        self.assertGreaterEqual(account.value("wall_seconds"), 1.2)

    def test_a_daemon_that_is_waited_for(self):
        """It burns half a second once the command has ended."""
        account = self.check_exact_daemon("go", "--wait")
        self.assertGreater(account.value("wall_seconds"), 0.5)

    def test_a_daemon_that_still_runs_is_counted_and_named(self):
        text = """
            def work():
                burn(0.3)
                open(sys.argv[1], "w").write(str(os.getpid()))
                time.sleep(60)
            daemon(work)
            while not (os.path.exists(sys.argv[1]) and open(sys.argv[1]).read()):
                time.sleep(0.01)
            """
        path = self.folder / "pid"
        # A pipe that the daemon holds would keep us waiting; that is not what is asked here.
        with open(self.folder / "out", "w") as out:
            done = subprocess.run(
                [VITALS, "run", "--backends", "", "--json", self.json, "--", *program(text, path)],
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment(), timeout=60,
            )
        pid = int(path.read_text())
        self.kill_later(pid)
        account = Account(self.json)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(state(pid), "S")
        self.assertEqual(account.value("processes_left"), 1)
        self.assertGreater(account.value("cpu_seconds"), 0.3)
        self.assertEqual(account["cpu_seconds"]["availability"], "lower_bound")

    def test_waiting_for_the_rest_can_be_ended(self):
        text = """
            def work():
                open(sys.argv[1], "w").write(str(os.getpid()))
                for number in (0, 1, 2):
                    os.close(number)
                time.sleep(60)
            daemon(work)
            while not (os.path.exists(sys.argv[1]) and open(sys.argv[1]).read()):
                time.sleep(0.01)
            sys.exit(3)
            """
        path = self.folder / "pid"
        process = self.start(program(text, path), "--wait")
        wait_until(lambda: path.exists() and path.read_text(), what="the daemon")
        pid = int(path.read_text())
        self.kill_later(pid)
        wait_until(lambda: len(children(process.pid)) == 2 and pid in children(process.pid),
                   what="the end of the command")
        self.assertIsNone(process.poll())
        process.terminate()
        self.assertEqual(process.wait(20), 3)
        self.assertEqual(Account(self.json).value("processes_left"), 1)
        self.assertEqual(state(pid), "S")

    def test_orphans_of_orphans(self):
        text = """
            def work():
                for _ in range(4):
                    if os.fork() == 0:
                        daemon(lambda: burn(0.1))
                        os._exit(0)
            daemon(work)
            """
        done, account = self.run_it(program(text), "--wait", timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertGreater(account.value("cpu_seconds"), 0.4)
        self.assertGreaterEqual(account.value("processes"), 5)
        self.assertNotIn("processes_left", account)

    def test_memory_lies_in_the_bracket(self):
        text = """
            block = bytearray(os.urandom(1 << 20)) * 200
            high = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
            time.sleep(1)
            say(int(high[0].split()[1]) * 1024)
            """
        done, account = self.run_it(program(text), "--interval", "100ms", *SAMPLED)
        truth = int(done.stdout)
        low, high = account.value("memory_peak_low_bytes"), account.value("memory_peak_high_bytes")
        self.assertGreater(truth, 200 * MIB)
        self.assertGreater(low, 200 * MIB)
        # VmHWM is read from counters that lag by a few pages a thread.
        self.assertLessEqual(low, truth + MIB)
        self.assertGreaterEqual(high, truth - MIB)
        # Who was never sampled may have had as much as the largest that ended.
        self.assertLess(high, 2 * truth + 20 * MIB)
        self.assertEqual(account["memory_peak_low_bytes"]["availability"], "lower_bound")

    def test_a_very_short_command_has_no_memory_rather_than_none_used(self):
        for _ in range(5):
            done, account = self.run_it(["true"], *SAMPLED)
            self.assertEqual(done.returncode, 0)
            low = account["memory_peak_low_bytes"]
            self.assertTrue(low["value"] is None or low["value"] > 0, low)

    def test_reports_that_nobody_takes_hold_nobody_up(self):
        process = self.start(program("say('ready'); time.sleep(3); sys.exit(6)"), "--interval", "10ms", *SAMPLED)
        self.assertEqual(process.stdout.readline(), "ready\n")
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(2)  # far more reports than the channel holds
        os.kill(process.pid, signal.SIGCONT)
        self.assertEqual(process.wait(20), 6)
        self.assertGreater(Account(self.json).value("memory_peak_low_bytes"), 0)


class WhatAPersonReads(RunCase):
    """Three columns in 100: what, how much, how good that is or why it is missing. Above them what to ask for
    next time, and how it ended."""

    HOW = 45

    def lines(self, done):
        first, *rest = done.stderr.splitlines()
        if first.startswith("vitals: next time"):
            first, *rest = rest
        self.assertTrue(first.startswith("vitals: "), first)
        found = {}
        what = ""
        for line in rest:
            self.assertLessEqual(len(line), 100, line)
            what = line[:13].strip() or what
            found.setdefault(what, []).append((line[13 : self.HOW].strip(), line[self.HOW :]))
            self.assertEqual(line[:2], "  ")
            self.assertIn(line[self.HOW - 1 : self.HOW], ("", " "), line)
        return first, found

    def test_a_run_of_some_length(self):
        text = "block = bytearray(200 << 20); burn(0.6); time.sleep(0.2)"
        done, _ = self.run_it(program(text), "--interval", "50ms", *SAMPLED)
        first, lines = self.lines(done)
        self.assertRegex(first, r"^vitals: .+ finished in \d+\.\d+ s, exit 0$")
        self.assertLessEqual(len(first), 100)
        lines.pop("waited", None)  # for a CPU, where others have them
        self.assertEqual(list(lines), ["CPU", "memory", "disk", "processes"])
        self.assertRegex(lines["CPU"][0][0], r"^\d+\.\d+ s  \(\d\.\d\d of [\d.]+ cores?\)$")
        self.assertIn(lines["CPU"][0][1], ("exact", "at least"))  # exact where nobody was born
        self.assertRegex(lines["CPU"][1][0], r"^user .+ s, system .+ s$")
        low, *high = [line for line in lines["memory"] if line[0]]
        self.assertRegex(low[0], r"^peak at least 2\d\d\.\dMiB$")
        self.assertEqual(low[1], "")  # the words say how good it is
        for line in high:  # of one process it is mostly the same
            self.assertRegex(line[0], r"^estimated 2\d\d\.\dMiB$")
            self.assertEqual(line[1], "")
        self.assertRegex(lines["disk"][0][0], "^read .+, written .+$")
        ((count, how),) = lines["processes"]
        self.assertEqual(count, "1")
        self.assertEqual(how, "at least")
        self.assertNotIn("\x1b", done.stderr)

    def test_a_run_without_a_sample_says_of_how_many_cores_as_a_longer_one_does(self):
        for options in ((), ("--expected-cores", "7")):
            said = []
            for command in (["true"], ["sleep", "0.3"]):
                done, account = self.run_it(command, *options)
                _, lines = self.lines(done)
                said.append(account.document["attributes"].get("expected_cores"))
                words = f"({account.value('cpu_cores'):.2f} of {said[-1]} cores)"
                self.assertTrue(lines["CPU"][0][0].endswith(words), (words, done.stderr))
            self.assertEqual(len(set(said)), 1, said)

    def test_the_first_line_says_what_to_ask_for(self):
        text = "block = bytearray(200 << 20); burn(0.6); time.sleep(0.2)"
        asked = r"--cpus-per-task=1 --mem=(256|512)M --time=0:05:00$"
        done, _ = self.run_it(program(text), "--interval", "50ms")
        self.assertRegex(done.stderr.splitlines()[0], "^vitals: next time: " + asked)
        done, _ = self.run_it(program(text + "; sys.exit(1)"), "--interval", "50ms")
        self.assertRegex(done.stderr.splitlines()[0], "^vitals: next time, at least: " + asked)

    def test_sources_are_for_those_who_ask(self):
        for words, sources in (((), False), (("--verbose",), True)):
            done, account = self.run_it(program("burn(0.3)"), "--interval", "50ms", *SAMPLED, *words)
            _, lines = self.lines(done) if not sources else (None, None)
            source = account["cpu_seconds"]["source"]
            (self.assertIn if sources else self.assertNotIn)(f", {source}", " ".join(done.stderr.split()))
            if lines is not None:
                self.assertLessEqual({how for some in lines.values() for _, how in some},
                                     {"exact", "at least", "estimate", "sampled", ""})

    def test_a_core_dump_is_told(self):
        with tempfile.TemporaryDirectory(prefix="vitals-core-") as folder:
            dies = [sys.executable, "-c", "import os, resource, signal; os.chdir(os.sys.argv[1]); "
                    "most = resource.getrlimit(resource.RLIMIT_CORE)[1]; "
                    "resource.setrlimit(resource.RLIMIT_CORE, (most, most)); os.kill(os.getpid(), signal.SIGABRT)", folder]
            child = subprocess.Popen(dies)
            dumps = os.WCOREDUMP(os.waitpid(child.pid, 0)[1])  # what the kernel does here
            done, _ = self.run_it(dies)
        first, _ = self.lines(done)
        self.assertRegex(first, r" ended after .* s by SIGABRT" + (", core dumped$" if dumps else "$"))

    def test_what_is_missing_is_said(self):
        with tempfile.TemporaryDirectory(prefix="vitals-run-") as empty:
            done, account = self.run_it(["true"], "--proc-root", empty, *SAMPLED)
        self.assertEqual(done.returncode, 0)
        _, lines = self.lines(done)
        self.assertEqual(lines["memory"][0][0], "peak N/A")
        told = " ".join(how for _, how in lines["memory"])
        self.assertEqual(told, account["memory_peak_low_bytes"]["source"])
        self.assertIsNone(account.value("memory_peak_low_bytes"))

    def test_a_signal(self):
        done, _ = self.run_it(["sh", "-c", "kill -TERM $$"])
        first, _ = self.lines(done)
        self.assertRegex(first, r"^vitals: sh -c 'kill -TERM \$\$' ended after .* s by SIGTERM$")

    def test_a_command_is_shown_as_it_was_typed(self):
        done, _ = self.run_it(["sh", "-c", "true\ntrue # \x1b[31m \\d", "a b"])
        first, _ = self.lines(done)
        self.assertIn(r"vitals: sh -c 'true\ntrue # \e[31m \d' 'a b' finished in ", first)

    def test_a_long_name_is_cut_between_characters(self):
        for locale, name in (("C.UTF-8", r"ö+"), ("C", r"(\\u\{f6\})+")):
            with self.subTest(locale=locale):
                done, _ = self.run_it(["true", "ö" * 200], "--force-color", env={"LC_ALL": locale})
                _, first, *_ = done.stderr.splitlines()
                self.assertRegex(first, rf"^vitals: true {name}\.\. finished in ")
                self.assertLessEqual(len(first), 100)
                self.assertIn("\x1b[1mCPU", done.stderr)


class Signals(RunCase):
    COUNTING = """
        seen = {}
        def count(number, frame):
            seen[number] = seen.get(number, 0) + 1
            say("got", number)
        for number in (1, 2, 3, 10, 14, 15, 28):
            signal.signal(number, count)
        def end(number, frame):
            say("counts", *(f"{n}:{c}" for n, c in sorted(seen.items())))
            os._exit(9)
        signal.signal(signal.SIGUSR2, end)
        say("ready")
        while True:  # pause() would miss a signal that comes just before it
            time.sleep(0.1)
        """

    def test_what_the_launcher_gets_the_command_gets_once(self):
        process = self.start(program(self.COUNTING), start_new_session=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        numbers = [int(one) for one in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1,
                                        signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM,
                                        signal.SIGWINCH)]
        for number in numbers:
            os.kill(process.pid, number)
            self.assertEqual(process.stdout.readline(), f"got {number}\n")
        os.kill(process.pid, signal.SIGUSR2)
        counts = process.stdout.readline().split()[1:]
        self.assertEqual(counts, [f"{number}:1" for number in sorted(numbers)])
        self.assertEqual(process.wait(20), 9)

    def test_a_command_that_a_signal_ends_is_accounted_for(self):
        # Python sees a signal that comes as it begins to sleep only when that ends.
        process = self.start(program("say('ready')\nwhile True: time.sleep(0.05)"))
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGINT)
        # Died of it, and not only with its number: a shell ends its script for nothing less.
        self.assertEqual(process.wait(20), -signal.SIGINT)
        self.assertGreater(Account(self.json).value("cpu_seconds"), 0)

    # A shell's part of job control: a group of its own in the foreground of a terminal.
    SHELL = """
        import subprocess
        job = os.fork()
        if job == 0:
            os.setpgid(0, 0)
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            os.tcsetpgrp(0, os.getpid())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            os.execv(sys.argv[1], sys.argv[1:])
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        while True:
            _, status = os.waitpid(job, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                break
            os.tcsetpgrp(0, os.getpgrp())
            say("stopped", os.WSTOPSIG(status))
            sys.stdin.readline()
            os.tcsetpgrp(0, job)
            os.killpg(job, signal.SIGCONT)
        os.tcsetpgrp(0, os.getpgrp())
        say("ended", os.waitstatus_to_exitcode(status))
        """

    def terminal(self, command):
        """Runs a command as a shell's job; gives the terminal's other end."""
        pid, master = pty.fork()
        if pid == 0:
            with contextlib.suppress(BaseException):
                line = program(self.SHELL, VITALS, "run", "--backends", "", "--json", self.json,
                               "--", *command)
                os.execve(line[0], line, environment())
            os._exit(1)
        self.unread = ""
        self.addCleanup(os.waitpid, pid, 0)
        self.kill_later(pid)
        self.addCleanup(os.close, master)  # hangs up: what runs there ends
        return master

    def read_until(self, master, word, seconds=20):
        """What the terminal shows up to and with the word; what follows is left for the next. The
        terminal's own ^C, ^\\ and ^Z may come in the middle of a line: they are left out."""
        text, until = self.unread, time.monotonic() + seconds
        while word not in text:
            left = max(until - time.monotonic(), 0)
            if not select.select([master], [], [], left)[0]:
                self.fail(f"{word!r} did not come, but {text!r}")
            try:
                text += os.read(master, 4096).decode(errors="replace")
            except OSError:
                self.fail(f"the terminal closed after {text!r}")
            text = re.sub(r"\^[C\\Z]", "", text)
        end = text.index(word) + len(word)
        self.unread = text[end:]
        return text[:end]

    def test_it_stops_and_goes_on_as_a_job(self):
        text = """
            def more(number, frame):
                say("continued")
            signal.signal(signal.SIGCONT, more)
            signal.signal(signal.SIGINT, lambda number, frame: os._exit(5))
            say("ready")
            while True:
                time.sleep(0.1)
            """
        master = self.terminal(program(text))
        self.read_until(master, "ready")
        for _ in range(2):
            os.write(master, b"\x1a")
            self.read_until(master, f"stopped {int(signal.SIGTSTP)}")
            os.write(master, b"\n")
            self.read_until(master, "continued")  # and perhaps once more: the group is signalled
        os.write(master, b"\x03")
        self.read_until(master, "ended 5")

    def test_a_background_job_that_reads_the_terminal_stops(self):
        text = """
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            os.tcsetpgrp(0, os.getsid(0)) # as if it had been started in the background
            say("line", repr(sys.stdin.readline()))
            sys.exit(4)
            """
        master = self.terminal(program(text))
        self.read_until(master, f"stopped {int(signal.SIGTTIN)}")
        os.write(master, b"\nmore\n")
        self.read_until(master, "ended 4")

    def test_control_c_reaches_the_command_once(self):
        master = self.terminal(program(self.COUNTING))
        self.read_until(master, "ready")
        os.write(master, b"\x03")
        self.read_until(master, "got 2")
        os.write(master, b"\x1c")
        self.read_until(master, "got 3")
        launcher = self.find_launcher()
        os.kill(launcher, signal.SIGUSR2)
        said = self.read_until(master, "ended 9")
        self.assertIn("counts 2:1 3:1", said.replace("\r", ""))

    def find_launcher(self):
        """The process whose command line names our JSON file and that the shell started."""
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (folder / "cmdline").read_bytes().split(b"\0")
                if words[0] == VITALS.encode() and str(self.json).encode() in words:
                    if len(children(int(folder.name))) == 2:
                        return int(folder.name)
        self.fail("no launcher")


class Corners(RunCase):
    """What a terminal, a shell or another /proc does to a launcher that only thought of the usual."""

    def terminal(self, *command):
        """vitals as leader of a session of its own; its pid and the terminal's other end."""
        pid, other = pty.fork()
        if pid == 0:
            with contextlib.suppress(OSError):
                os.execv(VITALS, [VITALS, "run", "--backends", "", "--", *command])
            os._exit(126)
        self.kill_later(pid)
        wait_until(lambda: len(children(pid)) == 2 and all(state(one) == "S" for one in children(pid)))
        return pid, other

    def ends(self, pid):
        wait_until(lambda: os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT), what="the end")
        return os.waitpid(pid, 0)[1]

    def test_a_terminal_that_hangs_up(self):
        pid, other = self.terminal("sleep", "60")
        command = [one for one in children(pid) if "sleep" in status(one).get("Name", "")]
        os.close(other)
        self.ends(pid)
        self.assertEqual([state(one) for one in command], ["?"])

    def test_ctrl_c_reaches_a_command_in_a_group_of_its_own(self):
        pid, other = self.terminal("timeout", "60", "sleep", "60")
        os.write(other, b"\x03")
        self.ends(pid)
        os.close(other)

    def test_nobody_reads_the_account(self):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run([VITALS, "run", "--", "sh", "-c", "exit 3"], stderr=writing, timeout=20)
        os.close(writing)
        self.assertEqual(done.returncode, 3)

    def test_another_proc_holds_up_nobody_and_no_signal(self):
        (self.folder / "proc" / "1").mkdir(parents=True)
        root = ["--proc-root", str(self.folder / "proc")]
        done, _ = self.run_it(["sh", "-c", "sleep 0.2 & exit 0"], "--wait", *root)
        self.assertEqual(done.returncode, 0)
        process = self.start(program("say('ready'); time.sleep(60)"), *root)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(20), 128 + signal.SIGTERM)

    def test_children_from_before_are_not_the_job_s(self):
        burner = self.folder / "pid"
        script = f"""
            "$0" -c 'x = bytearray(150 << 20)
while True: pass' & echo $! >{burner}
            while [ "$(awk '/VmRSS/ {{ print $2 }}' /proc/$!/status)" -lt 150000 ]; do sleep 0.05; done
            exec "$@"
        """
        command = [VITALS, "run", "--wait", "--backends", "", "--json", str(self.json), *SAMPLED,
                   "--", "sleep", "0.5"]
        done = subprocess.run(["sh", "-c", script, sys.executable, *command], timeout=30,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.kill_later(int(burner.read_text()))
        account = Account(self.json)
        self.assertEqual(done.returncode, 0)
        self.assertLess(account.value("cpu_seconds"), 0.2)
        self.assertLess(account.value("memory_peak_low_bytes"), 50 * MIB)

    def test_children_that_nobody_waits_for_are_not_called_exact(self):
        done, account = self.run_it(program("""
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            for _ in range(3):
                if os.fork() == 0:
                    burn(0.5)
                    time.sleep(0.3)
                    os._exit(0)
            try:
                os.wait() # for all of them, and then there is none
            except ChildProcessError:
                pass
        """), "--interval", "50ms", *SAMPLED)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(account["cpu_seconds"]["availability"], "lower_bound")
        self.assertGreater(account.value("cpu_seconds"), 1.3)

    def test_children_that_were_not_waited_for_a_while_are_not_called_exact(self):
        """The signal is ignored and then not: nothing of the zombie shows it."""
        path = self.folder / "written"
        for methods in (("--rungs", "perf,wait4,sampling"), ("--rungs", "wait4,sampling"),
                        ("--rungs", "cgroup2,wait4,sampling"), ()):
            done, account = self.run_it(program(f"""
                signal.signal(signal.SIGCHLD, signal.SIG_IGN)
                if os.fork() == 0:
                    with open({str(path)!r}, "wb") as file:
                        file.write(bytes(16 << 20))
                    os._exit(0)
                try:
                    os.wait()
                except ChildProcessError:
                    pass
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            """), "--interval", "10s", *methods)
            self.assertEqual(done.returncode, 0)
            written = account["disk_written_bytes"]
            if written["availability"] == "have":
                self.assertGreaterEqual(written["value"], 16 << 20, (methods, written))

    def test_a_peak_is_not_below_what_was_resident(self):
        """The pages of a program that others have read are charged to no cgroup of the run."""
        _, account = self.run_it(["sleep", "0.5"], "--interval", "50ms")
        peak, resident = account.get("memory_peak_bytes"), account["memory_resident_peak_bytes"]
        if peak is not None and peak["availability"] == "have":
            self.assertGreaterEqual(peak["value"] * 1.05 + MIB, resident["value"])

    def test_a_signal_has_its_name_and_a_core_is_told(self):
        done, account = self.run_it(["sh", "-c", "ulimit -c 0; kill -TERM $$"])
        self.assertIn("by SIGTERM", done.stderr)
        self.assertNotIn("core_dumped", account.document["attributes"])

    def test_cores_are_of_the_time_in_which_they_were_used(self):
        done, account = self.run_it(["sh", "-c", '"$@" & exit 0', "sh", *program("burn(0.5)")], "--wait")
        self.assertEqual(done.returncode, 0)
        self.assertLessEqual(account.value("cpu_cores"), 1.1)
        self.assertGreater(account.value("cpu_seconds"), 0.5)


if __name__ == "__main__":
    unittest.main()
