"""`vitals mark`, and the file that a run's processes mark in: what it must never do to them."""

import os
import pathlib
import resource
import signal
import subprocess
import tempfile
import threading
import unittest

from harness import VITALS, environment, vitals, wait_until
from runs import RunCase, program, state


class Marks(unittest.TestCase):
    """Into a file of ours, as if a run had made it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vitals-mark-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "marks"
        self.file.touch()

    def mark(self, *arguments, file=None, **rest):
        return vitals("mark", *arguments, env={"VITALS_MARKS": file or self.file}, **rest)

    def lines(self):
        return [line.split("\t") for line in self.file.read_text().splitlines()]

    def test_begin_and_end_belong_to_the_shell(self):
        for what in ("begin", "end"):
            done = self.mark(what, "epoch 1")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        lines = self.lines()
        self.assertEqual([line[:2] for line in lines], [["begin", "epoch 1"], ["end", "epoch 1"]])
        self.assertLessEqual(int(lines[0][2]), int(lines[1][2]))
        self.assertEqual([line[3:] for line in lines], [[str(os.getpid())] * 2] * 2)

    def test_around_a_command(self):
        done = self.mark("load", "--", "sh", "-c", "echo out; echo err >&2; exit 9")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (9, "out\n", "err\n"))
        lines = self.lines()
        self.assertEqual([line[:2] for line in lines], [["begin", "load"], ["end", "load"]])
        self.assertEqual(lines[0][3:], lines[1][3:])

    def test_a_command_that_cannot_be_run_is_told_as_a_shell_does(self):
        done = self.mark("x", "--", "vitals-no-such-command")
        self.assertEqual(done.returncode, 127)
        self.assertIn("vitals-no-such-command", done.stderr)
        done = self.mark("x", "--", self.folder)
        self.assertEqual(done.returncode, 126)
        self.assertEqual([line[0] for line in self.lines()], ["begin", "end"] * 2)

    def test_a_command_that_a_signal_ends(self):
        done = self.mark("x", "--", "sh", "-c", "kill -TERM $$")
        self.assertEqual(done.returncode, 128 + signal.SIGTERM)
        done = self.mark("x", "--", "sh", "-c", "kill -INT $$")
        self.assertEqual(done.returncode, -signal.SIGINT)  # a shell ends its script for that alone
        self.assertEqual([line[0] for line in self.lines()], ["begin", "end"] * 2)

    def test_signals_are_passed_on(self):
        # Python does not see a signal that comes just before it sleeps until it wakes.
        text = "signal.signal(signal.SIGTERM, lambda *_: sys.exit(8)); say('ready')\nwhile True: time.sleep(0.1)"
        process = subprocess.Popen([VITALS, "mark", "x", "--", *program(text)], stdout=subprocess.PIPE,
                                   text=True, env=environment(VITALS_MARKS=self.file))
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.terminate()
        self.assertEqual(process.wait(30), 8)

    def test_the_command_has_the_callers_signals(self):
        text = """
            mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
            say(sorted(int(one) for one in mask), int(signal.getsignal(signal.SIGCHLD)))
            """
        plain = subprocess.run(program(text), capture_output=True, text=True)
        self.assertEqual(self.mark("x", "--", *program(text)).stdout, plain.stdout)

    def test_it_stops_and_goes_on_with_its_command(self):
        """In a group that somebody of the session watches, as a shell does."""
        process = subprocess.Popen([VITALS, "mark", "x", "--", "sleep", "60"], process_group=0,
                                   env=environment(VITALS_MARKS=self.file))

        def child():
            path = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
            return int((path.read_text().split() or ["0"])[0])

        def clean():
            process.kill()
            process.wait()

        self.addCleanup(clean)
        wait_until(lambda: child() != 0 and b"sleep" in pathlib.Path(f"/proc/{child()}/cmdline").read_bytes())
        for _ in range(2):
            os.kill(child(), signal.SIGTSTP)
            wait_until(lambda: state(process.pid) == "T", "that it stops too")
            os.killpg(process.pid, signal.SIGCONT)
            wait_until(lambda: state(process.pid) == "S" and state(child()) == "S", "that both go on")
        os.killpg(process.pid, signal.SIGTERM)
        self.assertEqual(process.wait(30), 128 + signal.SIGTERM)

    def test_without_a_run_it_only_runs(self):
        for file in (None, "", "relative"):
            env = {"VITALS_MARKS": file}
            done = vitals("mark", "begin", "x", env=env)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            done = vitals("mark", "x", "--", "sh", "-c", "exit 6", env=env)
            self.assertEqual((done.returncode, done.stderr), (6, ""))
        self.assertIn("is not marked", vitals("mark", "--verbose", "begin", "x").stderr)

    def test_a_run_that_is_over_is_not_spoken_of(self):
        done = self.mark("begin", "x", file=self.folder / "gone")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_what_cannot_be_written_is_said_and_no_failure(self):
        pipe, link = self.folder / "pipe", self.folder / "link"
        os.mkfifo(pipe)
        link.symlink_to(self.file)
        for place in (pipe, link, self.folder, "/dev/full"):
            with self.subTest(place=place):
                done = self.mark("x", "--", "sh", "-c", "exit 6", file=place)
                self.assertEqual(done.returncode, 6)
                self.assertIn("not marked", done.stderr)
        self.assertEqual(self.file.read_text(), "")

    def test_a_limit_of_file_sizes_ends_nobody(self):
        def small():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4, resource.RLIM_INFINITY))

        done = self.mark("begin", "x", preexec_fn=small)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.file.read_text(), "")

    def test_a_name_breaks_no_line(self):
        self.mark("begin", "a\tb\nend x\x1b[31m")
        self.mark("begin", "n" * 5000)
        lines = self.lines()
        self.assertEqual(lines[0][:2], ["begin", "a b end x [31m"])
        self.assertEqual(lines[1][1], "n" * 200)
        self.assertEqual(len(lines), 2)

    def test_many_at_once_break_no_line(self):
        def work(name):
            for _ in range(20):
                subprocess.run([VITALS, "mark", "begin", name], check=True,
                               env=environment(VITALS_MARKS=self.file))

        threads = [threading.Thread(target=work, args=(str(one) * 150,)) for one in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        lines = self.lines()
        self.assertEqual(len(lines), 80)
        self.assertEqual({(len(line), len(line[1])) for line in lines}, {(5, 150)})

    def test_usage(self):
        for arguments in ([], ["begin"], ["end"], ["start", "x"], ["begin", "a", "b"], ["begin", ""],
                          ["a", "b", "--", "true"], ["--", "true"], ["", "--", "true"]):
            with self.subTest(arguments=arguments):
                done = self.mark(*arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("mark", done.stderr)
        self.assertEqual(self.file.read_text(), "")


class OfARun(RunCase):
    """The file that `vitals run` makes."""

    def test_it_is_the_users_alone_and_goes_with_the_run(self):
        done, _ = self.run_it(["sh", "-c", 'echo "$VITALS_MARKS"; stat -c %a:%u "$VITALS_MARKS"; '
                                           'stat -c %a:%u "${VITALS_MARKS%/*}"'])
        path, file, folder = done.stdout.split()
        self.assertEqual((file, folder), (f"600:{os.geteuid()}", f"700:{os.geteuid()}"))
        self.assertFalse(os.path.exists(path))

    def test_it_lies_in_the_runtime_folder_where_that_is_ours(self):
        done, _ = self.run_it(["sh", "-c", 'echo "$VITALS_MARKS"'],
                              env={"XDG_RUNTIME_DIR": self.folder})
        self.assertTrue(done.stdout.startswith(str(self.folder) + "/vitals/"), done.stdout)

    def test_a_folder_of_somebody_else_is_not_used(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make one")
        taken = self.folder / "vitals"
        taken.mkdir()
        taken.chmod(0o777)
        done, _ = self.run_it(["sh", "-c", 'echo "$VITALS_MARKS"; echo begin x >> "$VITALS_MARKS"'],
                              env={"XDG_RUNTIME_DIR": self.folder})
        self.assertNotIn(str(self.folder), done.stdout)
        self.assertEqual(list(taken.iterdir()), [])
        self.assertEqual(done.returncode, 0)

    def test_a_link_is_not_followed(self):
        target = self.folder / "elsewhere"
        target.mkdir()
        (self.folder / "vitals").symlink_to(target)
        done, _ = self.run_it(["sh", "-c", 'echo "$VITALS_MARKS"'],
                              env={"XDG_RUNTIME_DIR": self.folder})
        self.assertEqual(list(target.iterdir()), [])
        self.assertNotIn(str(self.folder), done.stdout)

    def test_a_run_within_a_run_has_its_own(self):
        inner = f'echo "$VITALS_MARKS"; {VITALS} run --quiet -- sh -c \'echo "$VITALS_MARKS"\'; ' \
                'echo "$VITALS_MARKS"'
        done, _ = self.run_it(["sh", "-c", inner])
        before, within, after = done.stdout.split()
        self.assertEqual(before, after)
        self.assertNotEqual(before, within)

    def test_what_the_job_does_to_it_harms_nobody(self):
        for script in ('rm "$VITALS_MARKS"', 'ln -sf /etc/passwd "$VITALS_MARKS"',
                       'rm "$VITALS_MARKS"; mkdir "$VITALS_MARKS"',
                       'head -c 3000000 /dev/urandom >> "$VITALS_MARKS"',
                       'yes begin | head -100000 >> "$VITALS_MARKS"',
                       'chmod 0 "$VITALS_MARKS"; echo begin x > "$VITALS_MARKS"'):
            with self.subTest(script=script):
                before = pathlib.Path("/etc/passwd").read_bytes()
                done, account = self.run_it(["sh", "-c", script + " 2>&1; sleep 0.1; exit 3"],
                                            "--interval", "20ms", env={"XDG_RUNTIME_DIR": self.folder})
                self.assertEqual(done.returncode, 3)
                self.assertGreater(account.value("wall_seconds"), 0)
                self.assertEqual(pathlib.Path("/etc/passwd").read_bytes(), before)


if __name__ == "__main__":
    unittest.main()
