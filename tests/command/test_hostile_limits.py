"""The command where descriptors, memory, output or its reader run out."""

import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from cast import ordinary
from harness import SANITIZED, VITALS, environment, wait_until
from hostile import MODES, SECONDS, Hostile, execute, finish, start


class Limits(Hostile):
    def test_few_descriptors(self):
        for limit in (64, 256):
            with self.subTest(limit=limit):
                one, = self.check_all(prefix=("prlimit", f"--nofile={limit}"))["json"]
                row, = [row for row in one["tables"]["process"] if row["pid"] == os.getpid()]
                self.assertNotIn("availability", row)

    def test_hardly_any_descriptor(self):
        """It works or says why it cannot; below six the loader itself gives up."""
        for limit in (6, 8, 10, 12, 16, 24):
            for mode in ("text", "json"):
                with self.subTest(limit=limit, mode=mode):
                    result = execute(*MODES[mode], prefix=("prlimit", f"--nofile={limit}"))
                    self.assertIn(result.code, (0, 1), result.err)
                    self.clean(result.err)
                    if result.code == 1:
                        self.assertRegex(result.err, rb"^vitals: ")
                        self.assertEqual(result.out, b"")

    def test_a_run_without_descriptors_leaves_no_folder(self):
        """That of its marks; other tests may make some of such names meanwhile, which go."""
        def folders():
            return {path for path in pathlib.Path("/tmp").glob("vitals-??????")
                    if path.is_dir() and path.stat().st_uid == os.geteuid()}

        before = folders()
        for limit in range(8, 40, 4):
            with self.subTest(limit=limit):
                result = execute("run", "true", prefix=("prlimit", f"--nofile={limit}"),
                                 env={"XDG_RUNTIME_DIR": None})
                self.assertIn(result.code, (0, 125), result.err)
        for path in folders() - before:
            wait_until(lambda path=path: not path.exists(), f"the end of {path}", SECONDS)

    @unittest.skipIf(SANITIZED, "a sanitizer takes terabytes of address space")
    def test_little_address_space(self):
        ended = set()
        for mebibytes in (4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 64):
            for mode in MODES:
                with self.subTest(mebibytes=mebibytes, mode=mode):
                    result = execute(*MODES[mode],
                                     prefix=("prlimit", f"--as={mebibytes << 20}"))
                    # 127: the loader could not map the libraries. glibc's getpwuid_r follows NULL
                    # where its first own allocation fails (2.36: nss_database.c), in a narrow range.
                    if result.code == -signal.SIGSEGV and mode != "run" and mebibytes <= 8:
                        continue
                    # glibc's assert() prints this if it has no memory for its message; vitals calls no
                    # assert().
                    if (mode != "run" and mebibytes <= 16
                            and (result.code, result.err) == (-signal.SIGABRT, b"Unexpected error.\n")):
                        continue
                    self.assertIn(result.code, (0, 1, 125, 127), result.err)
                    self.clean(result.err)
                    if result.code != 0:
                        self.assertGreater(len(result.err), 0)
                    if mode == "json" and result.code == 0:
                        self.documents(result.out)
                    ended.add(result.code)
        self.assertIn(0, ended)

    def test_no_process_may_be_made(self):
        """Threads count against this limit for everybody but root."""
        if SANITIZED:
            self.skipTest("LeakSanitizer looks for leaks from a process of its own")
        prefix = (*ordinary(self), "prlimit", "--nproc=1")
        for mode in ("text", "json", "run"):
            with self.subTest(mode=mode):
                result = execute(*MODES[mode], prefix=prefix)
                self.assertIn(result.code, (0, 1, 125), result.err)
                self.clean(result.err)
                if result.code != 0:
                    self.assertRegex(result.err, rb"vitals: ")

    def test_a_full_device(self):
        for mode in ("text", "ascii", "json"):
            with self.subTest(mode=mode), open("/dev/full", "wb") as full:
                result = execute(*MODES[mode], stdout=full)
                self.assertEqual(result.code, 1)
                self.assertRegex(self.clean(result.err), r"^vitals: .*No space left.*\n$")
        with open("/dev/full", "wb") as full:
            stream = execute("--json", "--interval", "0.05", stdout=full)
        self.assertEqual(stream.code, 1)
        self.assertEqual(stream.err.count(b"\n"), 1)

    def test_an_account_on_a_full_device(self):
        """The job's exit code stays its own."""
        result = execute("run", "--json", "/dev/full", "--", "sh", "-c", "exit 7")
        self.assertEqual(result.code, 7)
        self.assertIn(b"vitals: ", result.err)
        with open("/dev/full", "wb") as full:
            result = execute("run", "--", "sh", "-c", "exit 7", stderr=full)
        self.assertEqual(result.code, 7)

    def closed(self, *arguments, descriptor):
        script = f"exec {descriptor}>&- ; exec \"$@\""
        return execute(*arguments, prefix=("sh", "-c", script, "sh"))

    def test_closed_streams(self):
        for mode in ("text", "ascii", "json"):
            for descriptor in (0, 1, 2):
                with self.subTest(mode=mode, descriptor=descriptor):
                    result = self.closed(*MODES[mode], descriptor=descriptor)
                    self.assertEqual(result.code, 1 if descriptor == 1 else 0, result.err)
                    if descriptor == 1:
                        self.assertRegex(self.clean(result.err), r"^vitals: .+\n$")
                    elif mode == "json":
                        self.documents(result.out)
        for descriptor in (0, 1, 2):
            with self.subTest(mode="run", descriptor=descriptor):
                result = self.closed("run", "--", "sh", "-c", "exit 7", descriptor=descriptor)
                self.assertEqual(result.code, 7)
                self.assertEqual(result.out, b"")

    def test_all_streams_closed(self):
        """No file that it opens may become its standard output."""
        world = self.plain()
        before = {path: path.read_bytes() for path in world.rglob("*") if path.is_file()}
        for mode in ("text", "json"):
            script = "exec 0>&- 1>&- 2>&- ; exec \"$@\""
            result = execute(*MODES[mode], *self.roots(world), prefix=("sh", "-c", script, "sh"))
            self.assertEqual(result.code, 1)
        self.assertEqual({path: path.read_bytes() for path in before}, before)

    def test_a_reader_that_leaves(self):
        begun = time.monotonic()
        with tempfile.TemporaryFile() as err:
            program = start([VITALS, "--json", "--interval", "0.05"], stdout=subprocess.PIPE,
                            stderr=err, env=environment())
            program.stdout.readline()
            program.stdout.close()
            code, _ = finish(program, SECONDS)
            err.seek(0)
            said = err.read()
        self.assertIsNotNone(code, "it went on without a reader")
        self.assertIn(code, (0, 1, -signal.SIGPIPE))
        self.assertLessEqual(said.count(b"\n"), 1)
        self.assertLess(time.monotonic() - begun, SECONDS)

    def test_a_pipe_that_nobody_reads(self):
        """More than a pipe holds, for a moment of which the stream must wait and not spin."""
        program = start([VITALS, "--json", "--interval", "0.01", "--count", "40"],
                        stdout=subprocess.PIPE, env=environment())
        until = time.monotonic() + SECONDS
        while pathlib.Path(f"/proc/{program.pid}/wchan").exists() and time.monotonic() < until:
            # The main thread sleeps in the write.
            text = pathlib.Path(f"/proc/{program.pid}/syscall").read_text().split() \
                if os.geteuid() == 0 else []
            if not text or (text[0] == "1" and text[1] == "0x1"):
                break
            time.sleep(0.001)
        out = program.stdout.read()
        program.stdout.close()
        code, _ = finish(program, SECONDS)
        self.assertEqual(code, 0)
        self.assertEqual(len(self.documents(out)), 40)

    def test_ignored_and_blocked_signals(self):
        """As nohup and some supervisors start it."""
        def ignore():
            for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGCHLD, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))

        for mode in MODES:
            with self.subTest(mode=mode):
                self.check(mode, preexec_fn=ignore)


if __name__ == "__main__":
    unittest.main()
