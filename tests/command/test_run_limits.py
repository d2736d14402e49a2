"""`vitals run` with limits: what passes one is asked to end, then killed, with all that it started;
and what a command leaves running behind it, where that is not wanted.

As root and as an ordinary user: where a cgroup can be had the kernel holds memory too, and where none
can, samples must do.
"""

import contextlib
import os
import pathlib
import signal
import subprocess
import time
import unittest

from harness import PYTHON, VITALS, environment, vitals, wait_until
from runs import Account, RunCase, children, command_line, lives, ordinary_user, program

# Two processes that ignore TERM, one of them in a session of its own; their pids are said.
STUBBORN = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
if child == 0:
    os.setsid()
    child = os.fork()
    if child != 0:
        os._exit(0)
    say(os.getpid())
    time.sleep(600)
say(os.getpid())
time.sleep(600)
"""


class Limits(RunCase):
    prefix = []

    def limited(self, command, *options, timeout=60):
        """Runs to the end; (what is done, its account, the seconds that it took)."""
        begin = time.monotonic()
        done = subprocess.run(
            [*self.prefix, VITALS, "run", "--backends", "", "--json", str(self.json), *options, "--",
             *command],
            env=environment(HOME="/nonexistent"), stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=timeout)
        return done, Account(self.json), time.monotonic() - begin

    def attribute(self, account, name):
        return account.document["attributes"].get(name)

    def none_lives(self, text):
        """The pids that were said, a line each: all of them have ended."""
        pids = [int(line) for line in text.split()]
        for pid in pids:
            self.kill_later(pid)
        self.assertEqual([pid for pid in pids if lives(pid)], [])
        return pids

    def test_who_ended_in_time_did_so_however_late_it_is_seen(self):
        begin = time.monotonic()
        process = subprocess.Popen(
            [*self.prefix, VITALS, "run", "--backends", "", "--limit-time", "3s", "--", "sh", "-c",
             "echo $$; read line; exit 5"],
            env=environment(HOME="/nonexistent"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        command = int(process.stdout.readline())
        stat = pathlib.Path(f"/proc/{command}/stat")
        launcher = int(stat.read_text().rsplit(")", 1)[1].split()[1])
        if os.stat(f"/proc/{launcher}").st_uid != os.geteuid() and os.geteuid() != 0:
            self.skipTest("the launcher is somebody else's")
        os.kill(launcher, signal.SIGSTOP)
        process.stdin.write("end\n")
        process.stdin.flush()
        wait_until(lambda: stat.read_text().rsplit(")", 1)[1].split()[0] == "Z", "its end")
        late = time.monotonic() - begin > 2.5
        time.sleep(max(0, begin + 3.5 - time.monotonic()))
        os.kill(launcher, signal.SIGCONT)
        _, err = process.communicate(timeout=60)
        if late:
            self.skipTest("it did not end in time")
        self.assertEqual(process.returncode, 5, err)

    def test_time(self):
        done, account, seconds = self.limited(["sleep", "300"], "--limit-time", "200ms")
        self.assertEqual(done.returncode, 124)
        self.assertEqual(self.attribute(account, "limit"), "time")
        self.assertEqual(account.document["signal"], signal.SIGTERM)
        self.assertLess(seconds, 60)
        self.assertEqual(done.stderr.count("longer than 0.2 s"), 1, done.stderr)
        self.assertEqual(done.stdout, "")

    def test_a_command_that_keeps_within_its_limits_is_left_alone(self):
        done, account, _ = self.limited(["sh", "-c", "exit 5"], "--limit-time", "1h", "--limit-memory",
                                        "8GiB", "--limit-processes", "1000", "--limit-gpu-memory", "1GiB")
        self.assertEqual(done.returncode, 5)
        self.assertIsNone(self.attribute(account, "limit"))

    def test_who_ends_in_time_when_asked_is_not_killed(self):
        text = """
            def end(number, frame):
                say("ends")
                os._exit(3)
            signal.signal(signal.SIGTERM, end)
            say("waits")
            time.sleep(600)
            """
        done, account, _ = self.limited(program(text), "--limit-time", "1", "--limit-grace", "1h")
        self.assertEqual(done.stdout.split(), ["waits", "ends"])
        self.assertEqual(done.returncode, 124)  # why it ended, whatever it says itself
        self.assertEqual(account.document["exit_code"], 3)

    def test_who_does_not_is_killed_with_all_that_it_started(self):
        done, account, seconds = self.limited(program(STUBBORN), "--limit-time", "5", "--limit-grace",
                                              "300ms")
        self.assertEqual(done.returncode, 124)
        self.assertEqual(len(self.none_lives(done.stdout)), 2)
        self.assertEqual(account.document["signal"], signal.SIGKILL)
        self.assertLess(seconds, 40)

    def test_what_is_stopped_is_ended_too(self):
        text = "say(os.getpid()); os.kill(os.getpid(), signal.SIGSTOP)"
        done, _, _ = self.limited(program(text), "--limit-time", "1s", "--limit-grace", "1h")
        self.assertEqual(done.returncode, 124)
        self.none_lives(done.stdout)

    def test_memory(self):
        text = """
            blocks = []
            for _ in range(600):
                blocks.append(bytearray(os.urandom(1 << 10)) * (1 << 10))
                time.sleep(0.01)
            time.sleep(600)
            """
        done, account, _ = self.limited(program(text), "--limit-memory", "150MiB")
        self.assertEqual(done.returncode, 137)
        self.assertEqual(self.attribute(account, "limit"), "memory")
        self.assertIn("150MiB of memory", done.stderr)

    def test_a_limit_is_said_as_it_was_asked(self):
        text = "block = bytearray(os.urandom(1 << 20)) * 90; time.sleep(600)"
        done, _, _ = self.limited(program(text), "--limit-memory", "50M")
        self.assertEqual(done.returncode, 137)
        self.assertIn("50MB of memory", done.stderr)

    def test_a_sampler_that_is_killed_is_replaced_and_told(self):
        text = """
            say("ready")
            sys.stdin.readline()
            block = bytearray(os.urandom(1 << 20)) * 300
            time.sleep(60)
            """
        process = subprocess.Popen(
            [*self.prefix, VITALS, "run", "--backends", "", "--rungs", "wait4", "--json", str(self.json),
             "--limit-memory", "100M", "--", *program(text)], env=environment(HOME="/nonexistent"),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.kill_later(process.pid)
        self.assertEqual(process.stdout.readline(), "ready\n")
        # It is forked and executes nothing, so its command line is that of the launcher.
        sampler = [pid for pid in children(process.pid) if command_line(pid) == command_line(process.pid)]
        self.assertEqual(len(sampler), 1)
        os.kill(sampler[0], signal.SIGKILL)
        _, said = process.communicate("go\n", timeout=60)
        self.assertEqual(process.returncode, 137, said)
        missing = self.attribute(Account(self.json), "missing")
        self.assertIn("the sampler was killed", missing)
        self.assertIn("another watched the limits", missing)

    def test_more_children_from_before_than_a_list_holds_are_left_alone(self):
        script = 'for i in $(seq 150); do sleep 613 >/dev/null 2>&1 & echo $!; done; exec "$@"'
        for options in (["--kill-tree", "--", "true"],
                        ["--limit-time", "0.3", "--kill-tree", "--", "sleep", "60"]):
            with self.subTest(options=options):
                done = subprocess.run(["sh", "-c", script, "sh", VITALS, "run", "-q", "--backends", "",
                                       *options], env=environment(), stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True, timeout=60)
                pids = [int(line) for line in done.stdout.split()]
                for pid in pids:
                    self.kill_later(pid)
                self.assertEqual(sum(lives(pid) for pid in pids), 150, done.stderr)

    def test_memory_of_many_together(self):
        text = """
            for _ in range(4):
                if os.fork() == 0:
                    block = bytearray(os.urandom(1 << 20)) * 60
                    time.sleep(600)
            time.sleep(600)
            """
        done, account, _ = self.limited(program(text), "--limit-memory", "150MiB", "--rungs",
                                        "wait4,sampling")
        self.assertEqual(done.returncode, 137)
        self.assertEqual(self.attribute(account, "limit"), "memory")

    def test_memory_of_many_small_programs(self):
        """Each maps more of libraries than it has of its own; of its own they have some 100 MiB together."""
        with open("/proc/self/smaps_rollup", encoding="utf-8") as file:
            if "Pss_Anon" not in file.read():
                self.skipTest("this kernel does not tell which part of PSS is anonymous")
        text = """
            import subprocess
            one = "import ctypes, decimal, json, ssl, time; block = bytearray(b'1') * (4 << 20); time.sleep(600)"
            for _ in range(12):
                subprocess.Popen([sys.executable, "-c", one])
            time.sleep(600)
            """
        done, account, _ = self.limited(program(text), "--limit-memory", "80MiB", "--rungs", "wait4,sampling")
        self.assertEqual(done.returncode, 137)
        self.assertEqual(self.attribute(account, "limit"), "memory")

    def test_memory_that_is_shared_counts_once(self):
        text = """
            import mmap
            block = mmap.mmap(-1, 100 << 20)
            for at in range(0, len(block), 4096):
                block[at] = 1
            for _ in range(5):
                if os.fork() == 0:
                    sum(block[at] for at in range(0, len(block), 4096))
                    time.sleep(2)
                    os._exit(0)
            while True:
                try:
                    os.wait()
                except ChildProcessError:
                    sys.exit(6)
            """
        done, account, _ = self.limited(program(text), "--limit-memory", "400MiB", "--rungs",
                                        "wait4,sampling")
        self.assertEqual(done.returncode, 6, done.stderr)

    def test_pages_that_forks_read_are_not_theirs_alone(self):
        """A parent of 100 MiB, and forks that read it one after the other: each proportional size was
        right when it was read, and their sum never."""
        text = """
            block = bytearray(100 << 20)
            for at in range(0, len(block), 4096):
                block[at] = 1
            for _ in range(8):
                if os.fork() == 0:
                    sum(block[at] for at in range(0, len(block), 4096))
                    time.sleep(2)
                    os._exit(0)
                time.sleep(0.1)
            while True:
                try:
                    os.wait()
                except ChildProcessError:
                    sys.exit(6)
            """
        for limit in ("140MiB", "180MiB"):
            for methods in ((), ("--rungs", "wait4,sampling")):
                done, _, _ = self.limited(program(text), "--limit-memory", limit, *methods)
                self.assertEqual(done.returncode, 6, (limit, methods, done.stderr))

    def test_a_file_that_is_mapped_passes_no_limit(self):
        """The kernel can drop its pages at any time."""
        text = f"""
            import mmap
            with open({str(self.json.parent / "mapped")!r}, "w+b") as file:
                for _ in range(200):
                    file.write(bytes(1 << 20))
                    file.flush()
                    os.fsync(file.fileno())  # what waits to be written cannot be dropped, and may end a job
                block = mmap.mmap(file.fileno(), 200 << 20, prot=mmap.PROT_READ)
            sum(block[at] for at in range(0, len(block), 4096))
            time.sleep(2)
            sys.exit(6)
            """
        for methods in ((), ("--rungs", "wait4,sampling")):
            done, _, _ = self.limited(program(text), "--limit-memory", "100MiB", *methods)
            self.assertEqual(done.returncode, 6, (methods, done.stderr))

    def test_what_it_cannot_enforce_is_said_at_the_start(self):
        done, _, _ = self.limited(["sh", "-c", "echo it ran >&2"], "--limit-memory", "64MiB", "--rungs",
                                  "wait4,sampling")
        before, _, _ = done.stderr.partition("it ran")
        self.assertIn("no cgroup counts this command's memory", before)
        self.assertIn("/dev/shm", before)
        self.assertIn("hugetlbfs", before)

    def test_a_limit_of_gpus_that_are_not_there_is_told(self):
        _, account, _ = self.limited(["sleep", "0.3"], "--limit-gpu-memory", "1GiB")
        self.assertEqual(self.attribute(account, "missing"), "GPU memory was not limited: no GPU was found")

    def test_files_in_memory_are_held_by_a_cgroup(self):
        path = pathlib.Path("/dev/shm") / f"vitals-test-{os.getpid()}"
        self.addCleanup(lambda: path.unlink(missing_ok=True))
        text = f"""
            with open({str(path)!r}, "wb") as file:
                for _ in range(60):
                    file.write(bytes(1 << 20))
            time.sleep(60)
            """
        path.touch(mode=0o666)
        path.chmod(0o666)
        done, account, _ = self.limited(["timeout", "3", *program(text)], "--limit-memory", "50MiB")
        if "no cgroup counts" in done.stderr:  # said, and so it is not ended
            self.assertEqual(done.returncode, 124, done.stderr)
        else:
            self.assertEqual((done.returncode, self.attribute(account, "limit")), (137, "memory"))

    def test_processes(self):
        text = """
            for _ in range(12):
                if os.fork() == 0:
                    time.sleep(600)
            time.sleep(600)
            """
        done, account, _ = self.limited(program(text), "--limit-processes", "5")
        self.assertEqual(done.returncode, 137)
        self.assertEqual(self.attribute(account, "limit"), "processes")
        self.assertIn("more than 5 processes", done.stderr)

    def test_threads_are_no_processes(self):
        text = """
            import threading
            for _ in range(20):
                threading.Thread(target=time.sleep, args=(1,)).start()
            """
        done, _, _ = self.limited(program(text), "--limit-processes", "3")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_impatience_ends_the_grace(self):
        process = subprocess.Popen(
            [*self.prefix, VITALS, "run", "--backends", "", "--limit-time", "500ms", "--limit-grace", "1h",
             "--", *program("""
                for _ in range(2):
                    if os.fork() == 0:
                        signal.signal(signal.SIGTERM, signal.SIG_IGN)
                        os.write(1, b"%d\\n" % os.getpid())
                        time.sleep(600)
                time.sleep(600)
                """)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment(), text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        pids = [process.stdout.readline() for _ in range(2)]
        for pid in pids:
            self.kill_later(int(pid))
        time.sleep(2)  # it was asked to end, and has; they have not
        self.assertIsNone(process.poll())
        process.terminate()
        self.assertEqual(process.wait(30), 124)
        self.none_lives("\n".join(pids))


class LimitsOfAnOrdinaryUser(Limits):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("we are no other")
        self.prefix = ordinary_user()
        self.folder.chmod(0o777)


# Takes what no test's limit holds, at once.
HOG = "block = b'x' * (400 << 20)"
# A shell that starts one, with it as its argument, and goes on.
SURVIVOR = f'{PYTHON} -c "$1"; echo went on; exit 3'


class Kernel(RunCase):
    """What the kernel ends for want of memory: by our limit, or by somebody's above us."""

    def hog(self, *options, prefix=()):
        """Skips where the kernel ended none of it alone."""
        done = subprocess.run(
            [*prefix, VITALS, "run", "--backends", "", "--json", str(self.json), *options, "--", "sh", "-c",
             SURVIVOR, "sh", HOG], env=environment(HOME="/nonexistent"), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=60)
        return done, self.account_of_a_kill()

    def account_of_a_kill(self):
        account = Account(self.json)
        if account.get("oom_kills", {}).get("value", 0) == 0:
            self.skipTest("no cgroup here tells which processes the kernel ended")
        return account

    def memory_group(self, most):
        """The file by which one joins a cgroup of so much memory, in ours."""
        for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            for place, name, limit in (("/sys/fs/cgroup/memory", "memory", "memory.limit_in_bytes"),
                                       ("/sys/fs/cgroup", "", "memory.max")):
                group = pathlib.Path(place + path) / f"vitals-test-{os.getpid()}"
                if controllers != name or not os.access(group.parent, os.W_OK):
                    continue
                try:
                    group.mkdir()
                except OSError:
                    continue
                self.addCleanup(group.rmdir)
                try:
                    (group / limit).write_text(str(most))
                except OSError:
                    continue
                return group / "cgroup.procs"
        self.skipTest("no cgroup of memory can be made here")

    def test_a_limit_above_ours_is_not_ours(self):
        join = self.memory_group(60 << 20)
        prefix = ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(join)]
        done, account = self.hog("--limit-memory", "2GiB", prefix=prefix)
        self.assertNotIn("limit", account.document["attributes"])
        self.assertEqual(done.returncode, account.document["exit_code"])
        self.assertNotIn("passed a limit", done.stderr)

    def test_a_command_that_leaves_its_cgroup_keeps_its_limit(self):
        join = self.memory_group(1 << 30)
        text = f"""
            with open({str(join)!r}, "w") as file:
                file.write("0")
            block = bytearray(os.urandom(1 << 20)) * 90
            time.sleep(10)
            """
        done = subprocess.run(
            [VITALS, "run", "--backends", "", "--json", str(self.json), "--limit-memory", "50MiB", "--",
             *program(text)], env=environment(HOME="/nonexistent"), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 137, done.stderr)
        self.assertEqual(Account(self.json).document["attributes"]["limit"], "memory")

    def test_a_command_that_survived_is_not_called_ended(self):
        process = self.start(["sh", "-c", "echo ready; read go; " + SURVIVOR, "sh", HOG], "--limit-memory", "100MiB",
                             stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "ready\n")
        # A sample that came before the kernel would have the command ended.
        samplers = [pid for pid in children(process.pid) if command_line(pid) == command_line(process.pid)]
        self.assertEqual(len(samplers), 1)
        os.kill(samplers[0], signal.SIGSTOP)
        process.stdin.write("go\n")
        process.stdin.flush()
        survived = process.stdout.readline()
        with contextlib.suppress(ProcessLookupError):
            os.kill(samplers[0], signal.SIGCONT)
        _, said = process.communicate(timeout=60)
        account = self.account_of_a_kill()
        if survived == "":
            self.skipTest("all of it was ended at once")
        self.assertEqual(account.document["exit_code"], 3)
        self.assertEqual(account.document["attributes"]["limit"], "memory")
        self.assertEqual(process.returncode, 137)  # also where the command knows nothing of it
        # What the kernel ended may not have given all of its memory back when the sampler goes on.
        self.assertRegex(" ".join(said.split()), "the kernel ended one of its processes|it used more than 100MiB")
        self.assertNotIn("was ended", said)


class KillTree(RunCase):
    DAEMON = """
        def work():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            say(os.getpid())
            time.sleep(600)
        daemon(work)
        while not has_ended(os.getpid()):
            time.sleep(1)
            sys.exit(4)
        """

    def test_what_is_left_goes(self):
        process = self.start(program(self.DAEMON), "--kill-tree", "--limit-grace", "300ms")
        pid = int(process.stdout.readline())
        self.kill_later(pid)
        self.assertEqual(process.wait(40), 4)
        self.assertFalse(lives(pid))
        account = Account(self.json)
        self.assertNotIn("processes_left", account)
        self.assertNotIn("limit", account.document["attributes"])

    def test_without_it_stays(self):
        process = self.start(program(self.DAEMON))
        pid = int(process.stdout.readline())
        self.kill_later(pid)
        self.assertEqual(process.wait(40), 4)
        self.assertTrue(lives(pid))

    def test_children_from_before_are_spared(self):
        script = 'sleep 60 >/dev/null & echo $!; exec "$@"'
        done = subprocess.run(
            ["sh", "-c", script, "sh", VITALS, "run", "--backends", "", "--kill-tree", "--", "true"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=40,
            env=environment())
        self.assertEqual(done.returncode, 0)
        pid = int(done.stdout)
        self.kill_later(pid)
        self.assertTrue(lives(pid))


class Nonsense(unittest.TestCase):
    """Exit 2, and a message that names what is wrong; the command has not run."""

    def test_each(self):
        for options in (["--limit-time", "0"], ["--limit-time", "nan"], ["--limit-time", "-5"],
                        ["--limit-memory", "0"], ["--limit-memory", "lots"], ["--limit-memory", "-1"], ["--limit-memory", "10"],
                        ["--limit-gpu-memory", "1000000000"],
                        ["--limit-gpu-memory", "1XiB"], ["--limit-processes", "0"],
                        ["--limit-processes", "1.5"], ["--limit-grace", "inf"], ["--interval", "0"],
                        ["--interval", "nan"], ["--interval", "1ms"], ["--repeat", "0"],
                        ["--expected-cores", "0"], ["--brand", "voodoo"], ["--methods", "ladder"],
                        ["--memory-unit", "elephants"], ["--time-unit", "gigabytes"], ["--gpus", "0"],
                        ["--tolerance", "10"], ["--record", "x.db", "--format", "wav"],
                        ["--format", "vitals"], ["--min-free-memory", "1GiB"],
                        ["--kill-tree", "--wait"], ["--quiet", "--verbose"],
                        ["--record", "/dev/stderr"], ["--backup", "x", "--no-backup"]):
            with self.subTest(options=options):
                done = vitals("run", *options, "--", "sh", "-c", "echo it ran")
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(options[0], done.stderr) if len(options) == 2 else None
                self.assertTrue(done.stderr.startswith("vitals: "), done.stderr)

    def test_a_size_has_a_unit(self):
        """10 is as likely meant as 10 GiB as it is as 10 bytes."""
        for size in ("10", "20000000", "0.5"):
            done = vitals("run", "--limit-memory", size, "--", "echo", "it ran")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"--limit-memory {size}: write a size above 0 with its unit", done.stderr)

    def test_a_quoted_line(self):
        done = vitals("run", "sh -c 'exit 7'")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("one word", done.stderr)
        self.assertIn("vitals run -- sh -c 'exit 7'", done.stderr)
        for line in ("sleep 1; echo hi", "echo hi | cat", "echo hi >/dev/null"):
            done = vitals("run", line)  # without the quotes another shell reads the rest of it
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertNotIn("without the quotes", done.stderr)
            self.assertIn("vitals run -- sh -c '...'", done.stderr)


if __name__ == "__main__":
    unittest.main()
