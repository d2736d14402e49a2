"""`vitals run` of jobs that mean no good: they fork without end, leave daemons, hold memory on every
rung of counting, and do not end when they are asked. All of it is bounded by the jobs themselves."""

import contextlib
import os
import pathlib
import signal
import subprocess
import time
import unittest
import uuid

from harness import VITALS, environment
from runs import Account, RunCase, lives, ordinary_user, program

# Takes one of so many leaves for each child that it makes, as do they; none ends when asked.
BOMB = """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    leaves, give = os.pipe()
    os.write(give, b"x" * int(sys.argv[2]))
    os.set_blocking(leaves, False)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            if os.read(leaves, 1) and os.fork() == 0 and os.getpid() % 3 == 0:
                os.setsid()
        except (BlockingIOError, OSError):
            pass
        time.sleep(0.02)
    """


class Jobs(RunCase):
    prefix = []

    def setUp(self):
        super().setUp()
        self.mark = f"mark-{uuid.uuid4()}"  # stands among the arguments of each process of a job
        self.addCleanup(self.end_all)

    def alive(self):
        found = []
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if self.mark.encode() in (folder / "cmdline").read_bytes().split(b"\0") and \
                        (folder / "exe").exists() and not self.is_vitals(folder) and lives(folder.name):
                    found.append(int(folder.name))
        return found

    def is_vitals(self, folder):
        return os.path.realpath(folder / "exe") == os.path.realpath(VITALS)

    def end_all(self):
        for _ in range(10):
            for pid in self.alive():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def job(self, text, *options, arguments=()):
        """Runs it to its end; what lives on holds a file and no pipe, so that nobody waits for it."""
        said = self.folder / "said"
        with said.open("w") as errors:
            done = subprocess.run(
                [*self.prefix, VITALS, "run", "--backends", "", "--json", str(self.json), *options, "--",
                 *program(text, self.mark, *arguments)],
                env=environment(HOME="/nonexistent"), stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=errors, timeout=100)
        done.stderr = said.read_text()
        return done, Account(self.json)

    def limit(self, account):
        return account.document["attributes"].get("limit")


class Bombs(Jobs):
    def test_one_that_forks(self):
        done, account = self.job(BOMB, "--limit-processes", "12", "--limit-grace", "200ms", arguments=[60])
        self.assertEqual(done.returncode, 137, done.stderr)
        self.assertEqual(self.limit(account), "processes")
        self.assertEqual(self.alive(), [])
        self.assertIn("more than 12 processes: ", done.stderr)

    def test_one_that_is_told_by_time_alone(self):
        done, account = self.job(BOMB, "--limit-time", "1s", "--limit-grace", "200ms", arguments=[40])
        self.assertEqual(done.returncode, 124, done.stderr)
        self.assertEqual(self.limit(account), "time")
        self.assertEqual(self.alive(), [])

    def test_one_that_is_counted_by_samples_alone(self):
        done, account = self.job(BOMB, "--limit-processes", "12", "--limit-grace", "200ms", "--rungs",
                                 "wait4,sampling", arguments=[60])
        self.assertEqual(done.returncode, 137, done.stderr)
        self.assertEqual(self.alive(), [])


class BombsOfAnOrdinaryUser(Bombs):
    def setUp(self):
        super().setUp()
        self.prefix = ordinary_user()
        if not self.prefix:
            self.skipTest("we are no other")
        self.folder.chmod(0o777)


class Memory(Jobs):
    HOG = """
        daemon(lambda: None)
        blocks = []
        for _ in range(400):
            blocks.append(bytearray(os.urandom(1 << 10)) * (1 << 10))
            time.sleep(0.002)
        time.sleep(60)
        """

    def rungs(self):
        """Those that count here, each alone beside what is always there."""
        done, account = self.job("time.sleep(0.1)")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = account.document["attributes"]["rungs"].split()
        return [rung for rung in found if rung not in ("wait4", "sampling")] + [""]

    def test_on_each_rung(self):
        for rung in self.rungs():
            with self.subTest(rung=rung):
                rungs = ",".join(filter(None, [rung, "wait4", "sampling"]))
                done, account = self.job(self.HOG, "--limit-memory", "120MiB", "--rungs", rungs)
                self.assertEqual(done.returncode, 137, done.stderr)
                self.assertEqual(self.limit(account), "memory")
                self.assertEqual(self.alive(), [])
                self.assertIn("120MiB of memory", done.stderr)


class KillTree(Jobs):
    DAEMONS = """
        def work():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            if os.fork() == 0:
                os.setsid()
            os.write(give, b"x")
            time.sleep(60)
        wait, give = os.pipe()
        for _ in range(4):
            daemon(work)
        for _ in range(8):
            os.read(wait, 1) # they stand
        sys.exit(6)
        """

    def test_daemons_that_do_not_listen(self):
        done, account = self.job(self.DAEMONS, "--kill-tree", "--limit-grace", "200ms")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertEqual(self.alive(), [])
        self.assertIsNone(self.limit(account))

    def test_daemons_that_are_left(self):
        done, account = self.job(self.DAEMONS)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertEqual(len(self.alive()), 8)
        self.assertEqual(account.value("processes_left"), 8)

    def test_daemons_that_listen(self):
        """Each of them has the time that it needs, and what it does last is done."""
        text = """
            def work():
                def end(number, frame):
                    time.sleep(0.5)
                    open(sys.argv[2] + "/%d" % os.getpid(), "w").close()
                    os._exit(0)
                signal.signal(signal.SIGTERM, end)
                os.write(give, b"x")
                time.sleep(60)
            wait, give = os.pipe()
            for _ in range(3):
                daemon(work)
            for _ in range(3):
                os.read(wait, 1)
            sys.exit(6)
            """
        words = self.folder / "words"
        words.mkdir()
        done, _ = self.job(text, "--kill-tree", "--limit-grace", "1h", arguments=[words])
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertEqual((len(list(words.iterdir())), self.alive()), (3, []))

    def test_what_is_traced_or_frozen_goes_too(self):
        text = """
            def work():
                os.write(give, b"x")
                os.kill(os.getpid(), signal.SIGSTOP)
                time.sleep(60)
            wait, give = os.pipe()
            daemon(work)
            os.read(wait, 1)
            sys.exit(6)
            """
        done, _ = self.job(text, "--kill-tree", "--limit-grace", "1h")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertEqual(self.alive(), [])


class NoWatcherLeft(Jobs):
    def test_time_holds_where_nobody_samples(self):
        """Every sampler is killed as soon as it is seen."""
        process = subprocess.Popen(
            [VITALS, "run", "--backends", "", "--json", str(self.json), "--limit-time", "2s",
             "--limit-processes", "5", "--limit-grace", "200ms", "--",
             *program("signal.signal(signal.SIGTERM, signal.SIG_IGN); say(os.getpid()); time.sleep(60)",
                      self.mark)],
            env=environment(HOME="/nonexistent"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        self.kill_later(process.pid)
        self.kill_later(int(process.stdout.readline()))  # it is itself now, and no copy of us
        until = time.monotonic() + 30
        while process.poll() is None and time.monotonic() < until:
            with contextlib.suppress(OSError):
                place = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
                for pid in place.read_text().split():
                    if self.is_vitals(pathlib.Path(f"/proc/{pid}")):
                        os.kill(int(pid), signal.SIGKILL)
            time.sleep(0.05)
        _, said = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 124, said)
        self.assertEqual(self.alive(), [])


del Jobs  # has no cases of its own

if __name__ == "__main__":
    unittest.main()
