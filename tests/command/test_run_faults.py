"""What may go wrong while a run is accounted for: vitals is killed, or what it watches; the disk is
full; files cannot be read; targets go between two samples. The command is never harmed by it, its
exit code is told where somebody lives to tell it, and the account says what is missing.
"""

import contextlib
import errno
import json
import os
import random
import shlex
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import time
import unittest

from cast import unshared
from harness import BUILD, SANITIZED, VITALS, environment, vitals
from runs import Account, RunCase, children, lives, ordinary_user, program, state, wait_until

SQLITE = "SQLite" in vitals("--version").stdout


class FaultCase(RunCase):
    def samplers(self, launcher):
        """Our own helpers below it."""
        with contextlib.suppress(OSError):
            return [pid for pid in children(launcher) if self.is_vitals(pid)]
        return []

    def is_vitals(self, pid):
        with contextlib.suppress(OSError):
            return os.path.realpath(f"/proc/{pid}/exe") == os.path.realpath(VITALS)
        return False

    def attribute(self, name):
        return Account(self.json).document["attributes"].get(name, "")


class Killed(FaultCase):
    # Says its pid, lives for as long as it is told, says so and leaves its word.
    JOB = """
        say(os.getpid())
        time.sleep(float(sys.argv[1]))
        end_with(sys.argv[2], os.getpid())
        """

    def test_the_sampler(self):
        process = self.start(program("say('ready'); sys.stdin.readline(); burn(0.3); sys.exit(7)"),
                             "--interval", "50ms", "--rungs", "wait4", stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "ready\n")
        wait_until(lambda: self.samplers(process.pid), what="the sampler")
        os.kill(self.samplers(process.pid)[0], signal.SIGKILL)
        _, said = process.communicate("go\n", timeout=60)
        self.assertEqual(process.returncode, 7, said)
        self.assertIn("the sampler was killed after", self.attribute("missing"))
        self.assertIn("the sampler was killed after", " ".join(said.split()))
        # What does not depend on it is whole: the launcher counted it.
        self.assertGreater(Account(self.json).value("cpu_seconds"), 0.25)

    def start_eater(self):
        """A command that goes beyond its limit of memory once it is told to."""
        text = """
            say("ready")
            sys.stdin.readline()
            block = bytearray(os.urandom(1 << 20)) * 200
            time.sleep(60)
            """
        process = self.start(program(text), "--rungs", "wait4", "--limit-memory", "100M",
                             stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def test_several_samplers_that_watch_a_limit(self):
        """Another comes each time, and the limit still holds."""
        process = self.start_eater()
        for which in ("first", "second"):
            wait_until(lambda: self.samplers(process.pid), what=f"the {which} sampler")
            pid = self.samplers(process.pid)[0]
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda pid=pid: pid not in self.samplers(process.pid), what="its end")
        _, said = process.communicate("go\n", timeout=60)
        self.assertEqual(process.returncode, 137, said)
        self.assertIn("others watched the limits", self.attribute("missing"))

    def test_one_that_hangs_while_it_watches_a_limit(self):
        """It is as good as dead: another comes, and the limit holds."""
        process = self.start_eater()
        wait_until(lambda: self.samplers(process.pid), what="the sampler")
        os.kill(self.samplers(process.pid)[0], signal.SIGSTOP)
        _, said = process.communicate("go\n", timeout=60)
        self.assertEqual(process.returncode, 137, said)
        self.assertIn("the sampler hung after", self.attribute("missing"))
        self.assertIn("another watched the limits", self.attribute("missing"))

    def test_one_that_hangs(self):
        process = self.start(program("say('ready'); time.sleep(7)"), "--interval", "50ms",
                             "--rungs", "wait4")
        self.assertEqual(process.stdout.readline(), "ready\n")
        wait_until(lambda: self.samplers(process.pid), what="the sampler")
        os.kill(self.samplers(process.pid)[0], signal.SIGSTOP)
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, said)
        self.assertIn("the sampler hung after", self.attribute("missing"))

    def test_the_command(self):
        process = self.start(program("say(os.getpid()); time.sleep(60)"), "--interval", "50ms")
        os.kill(int(process.stdout.readline()), signal.SIGKILL)
        self.assertEqual(process.wait(60), 128 + signal.SIGKILL)
        self.assertEqual(Account(self.json).document["signal"], signal.SIGKILL)

    def test_anybody_at_any_moment(self):
        """Who of us is killed, and when, is drawn; the seed is told."""
        for turn in range(7):
            seed = random.randrange(1 << 32)
            with self.subTest(turn=turn, seed=seed):
                self.kill_some(random.Random(seed), turn)

    def kill_some(self, draw, turn):
        word, recording = self.folder / f"word{turn}", self.folder / f"{turn}.db"
        options = ["--interval", "10ms"] + (["--record", str(recording)] if SQLITE else [])
        process = self.start(program(self.JOB, 0.6, word), *options)
        job = int(process.stdout.readline())
        self.kill_later(job)
        time.sleep(draw.uniform(0, 0.4))
        ours = self.samplers(process.pid)
        victims = draw.choice([[process.pid], ours, ours + [process.pid], [process.pid] + ours])
        for pid in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_until(word.exists, what="the end of the job")  # which nobody harmed
        self.assertEqual(word.read_text(), str(job))
        if process.pid in victims:
            self.assertEqual(process.wait(60), -signal.SIGKILL)
        else:
            self.assertEqual(process.wait(60), 0)
            self.assertEqual(Account(self.json).document["exit_code"], 0)
        wait_until(lambda: not any(lives(pid) for pid in ours), what="the end of the sampler")
        if recording.exists() and recording.stat().st_size > 0:
            with contextlib.closing(sqlite3.connect(recording)) as database:
                self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
                begun = database.execute("SELECT count(*) FROM sqlite_master").fetchall() != [(0,)]
            report = vitals("report", recording)
            # Who is killed while the file is made leaves an empty one.
            self.assertEqual(report.returncode, 0 if begun else 1, report.stderr)

    def test_before_the_command_has_begun(self):
        """It begins with everything in place to count it, or not at all: nobody waits for a dead
        launcher's word."""
        begun = 0
        for turn in range(25):
            place = self.folder / f"touched{turn}"
            process = self.start(["sh", "-c", f"sleep 0.05; touch {place}"])
            time.sleep(random.uniform(0, 0.02))
            below = children(process.pid)
            process.kill()
            process.wait()
            wait_until(lambda below=below: not any(lives(pid) for pid in below), what="the end of all")
            begun += place.exists()
        print(f"# {begun} of 25 had begun", file=sys.stderr)

    def test_everybody_at_once(self):
        """A whole job is killed, as schedulers do: what was recorded can be read."""
        path = self.folder / ("a.db" if SQLITE else "a.csv")
        process = self.start(program("say('ready'); burn(60)"), "--interval", "20ms", "--record", str(path),
                             start_new_session=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        time.sleep(1.5)  # commits come about once a second
        os.killpg(process.pid, signal.SIGKILL)
        self.assertEqual(process.wait(60), -signal.SIGKILL)
        done = vitals("report", "--json", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["attributes"]["state"], "partial")
        self.assertIn("its end was not seen", vitals("report", path).stdout)


class FullDisk(FaultCase):
    """A file system that is full, or becomes so, in a namespace of the test's own."""

    ENTER = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]

    def setUp(self):
        super().setUp()
        self.disk = self.folder / "disk"
        self.disk.mkdir()
        if shutil.which("unshare") is None or self.on_disk("true").returncode != 0:
            self.skipTest("no small file system can be mounted here (unshare(1), tmpfs)")

    def on_disk(self, script, kib=96, **changes):
        """Runs a script where `disk` has that much room; what it leaves there goes with it."""
        mount = f"mount -t tmpfs -o size={kib}k none {shlex.quote(str(self.disk))} || exit 99\n"
        names = {"disk": self.disk, "vitals": os.path.abspath(VITALS), "kept": self.folder, **changes}
        return subprocess.run([*self.ENTER, "sh", "-c", mount + script], env=environment(**names),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)

    def test_a_recording(self):
        for name, kib in (("a.csv", 16), *((("a.db", 256),) if SQLITE else ())):
            with self.subTest(name=name):
                done = self.on_disk(
                    f'"$vitals" run -q --backends= --interval 10ms --record "$disk/{name}" '
                    '--json "$kept/account.json" -- sh -c "sleep 2; exit 3"; echo code $?\n'
                    f'"$vitals" report --json "$disk/{name}" >"$kept/report.json"; echo report $?\n', kib)
                self.assertIn("code 3\n", done.stdout, done.stderr)
                self.assertIn("report 0\n", done.stdout, done.stderr)
                self.assertIn("recording stopped", self.attribute("missing"))
                self.assertRegex(done.stderr, "No space left|disk is full")
                self.assertEqual(Account(self.json).document["exit_code"], 3)
                self.assertGreater(Account(self.json).value("wall_seconds"), 1.9)
                self.assertTrue(json.loads((self.folder / "report.json").read_text())["figures"])

    FILL = 'head -c 1M /dev/zero >"$disk/full" 2>/dev/null\n'

    def test_an_account(self):
        done = self.on_disk(self.FILL + '"$vitals" run --backends= --json "$disk/a.json" -- '
                                        'sh -c "exit 3"; echo code $?')
        self.assertIn("code 3\n", done.stdout, done.stderr)
        self.assertIn("exit 3", done.stderr)  # the account in words
        self.assertIn("No space left", done.stderr)

    def test_totals(self):
        for place in ("", "--backup $disk/totals.json"):
            with self.subTest(place=place):
                done = self.on_disk(
                    'mkdir "$disk/vitals"\n' + self.FILL +
                    f'"$vitals" run -q --backends= --interval 50ms {place} --json "$kept/account.json" -- '
                    'sh -c "sleep 1.5; exit 3"; echo code $?; ls -A "$disk" "$disk/vitals"',
                    XDG_STATE_HOME=self.disk)
                self.assertIn("code 3\n", done.stdout, done.stderr)
                self.assertEqual(done.stdout.split()[2:-1].count("full"), 1, done.stdout)
                self.assertNotIn("json", done.stdout)  # no half of one
                self.assertIn("no file of totals", self.attribute("missing"))

    def test_marks(self):
        done = self.on_disk(
            self.FILL + '"$vitals" run --backends= -- sh -c \'"$vitals" mark begin a; '
            'echo "begin b" >>"$VITALS_MARKS"; "$vitals" mark c -- sh -c "exit 5"; exit $?\'; echo code $?',
            XDG_RUNTIME_DIR=self.disk)
        self.assertIn("code 5\n", done.stdout, done.stderr)

    def test_marks_that_nobody_can_make(self):
        """No folder at all for them: no phases, and nothing else changes."""
        done = self.on_disk('folder=/tmp/vitals-$(id -u); mkdir -m 700 $folder 2>/dev/null\n'
                            'mount -t tmpfs -o ro,mode=700 none $folder || exit 99\n'
                            '"$vitals" run -q --backends= -- sh -c \'"$vitals" mark x -- sh -c '
                            '"exit 5"\' ; echo code $?', XDG_RUNTIME_DIR=None)
        self.assertIn("code 5\n", done.stdout, done.stderr)


class Elsewhere(FaultCase):
    """Machines that lack what others have."""

    def there(self, prepare, command, *options, enter=("-m",), code=3):
        """Runs a command in a namespace that was prepared by a line of shell; its account."""
        script = f'{prepare} || exit 99; exec "$@"'
        # Where there is no /proc a program does not find libraries beside itself.
        library = os.path.dirname(os.path.realpath(VITALS))
        done = subprocess.run(
            [*unshared(self, *enter), "sh", "-c", script, "sh", os.path.abspath(VITALS), "run", "--backends", "",
             "--json", str(self.json), *options, "--", *command],
            env=environment(LD_LIBRARY_PATH=library), stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=60)
        if done.returncode == 99:
            self.skipTest(f"{prepare}: {done.stderr.strip()}")
        self.assertEqual(done.returncode, code, done.stderr)
        return Account(self.json)

    NO_PROC = "mount -t tmpfs none /proc"

    @unittest.skipIf(SANITIZED, "a sanitizer needs /proc")
    def test_no_proc(self):
        account = self.there(self.NO_PROC, ["sh", "-c", "sleep 0.3; exit 3"])
        self.assertEqual(account["cpu_seconds"]["availability"], "lower_bound")  # who knows what is left
        self.there(self.NO_PROC, ["sh", "-c", "sleep 0.3 & exit 3"], "--wait")
        self.there(self.NO_PROC, ["sh", "-c", "exit 3"], "--kill-tree", "--limit-grace", "200ms")
        self.there(self.NO_PROC, ["sh", "-c", "exit 3"], "--limit-processes", "3", "--limit-memory", "1GiB")

    @unittest.skipIf(SANITIZED, "a sanitizer needs /proc")
    def test_time_holds_without_proc(self):
        self.there(self.NO_PROC, program("signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"),
                   "--limit-time", "1s", "--limit-grace", "200ms", code=124)

    def test_cgroups_that_cannot_be_written(self):
        account = self.there("for one in /sys/fs/cgroup /sys/fs/cgroup/*; do if mountpoint -q $one; "
                             "then mount -o remount,bind,ro $one; fi; done", ["sh", "-c", "exit 3"])
        self.assertNotIn("cgroup", account.document["attributes"]["rungs"])

    def test_as_the_first_process(self):
        """As in a container: it reaps what is left to it, and passes on what it is sent."""
        enter = ("-p", "-f", "--mount-proc")
        account = self.there("true", ["sh", "-c", "[ $PPID = 1 ] && (sleep 0.2 & sleep 0.3 &) && exit 3"],
                             "--wait", enter=enter)
        self.assertGreaterEqual(account.value("processes"), 3)
        self.assertNotIn("processes_left", account)
        self.there("true", ["sh", "-c", "kill -TERM 1; sleep 60"], enter=enter, code=128 + signal.SIGTERM)
        self.there("true", ["sh", "-c", "kill -INT $$"], enter=enter, code=128 + signal.SIGINT)


class Unreadable(FaultCase):
    """Of an ordinary user, whose command hides from him: it gained rights, or asked not to be read."""

    HIDDEN = """
        import ctypes
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0) # PR_SET_DUMPABLE: its files are root's now
        say(os.getpid())
        sys.stdin.readline()
        block = bytearray(os.urandom(1 << 20)) * 40
        time.sleep(1.5) # smaps are read once a second
        """

    def hidden(self, limit):
        """Runs it; what was said, and its account."""
        self.folder.chmod(0o777)
        process = subprocess.Popen(
            [*ordinary_user(), VITALS, "run", "--backends", "", "--rungs", "wait4,sampling", "--interval",
             "50ms", "--limit-memory", limit, "--json", str(self.json), "--", *program(self.HIDDEN)],
            env=environment(HOME="/nonexistent"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        self.kill_later(process.pid)
        pid = int(process.stdout.readline())
        place = f"/proc/{pid}/smaps"
        if subprocess.run([*ordinary_user(), "cat", place], capture_output=True).returncode == 0:
            self.skipTest("an ordinary user may read smaps of a process that is not dumpable here")
        _, said = process.communicate("\n", timeout=60)
        return process.returncode, said, Account(self.json)

    def test_memory_of_a_command_that_hides(self):
        code, said, account = self.hidden("8GiB")
        self.assertEqual(code, 0, said)
        self.assertGreater(account.value("memory_peak_low_bytes"), 40 << 20)  # statm is everybody's
        for name, figure in account.items():  # nothing, or what was read before it hid
            if "memory_pss" in name or "memory_private" in name:
                self.assertTrue(figure["value"] is None or 0 < figure["value"] < 40 << 20, figure)

    def test_a_limit_holds_without_smaps(self):
        code, said, account = self.hidden("30MiB")
        self.assertEqual(code, 137, said)
        self.assertIn("more than 30MiB of memory", said)

    def test_a_target_of_another(self):
        user = ordinary_user()
        if not user:
            self.skipTest("we are no other")
        self.folder.chmod(0o777)
        target = subprocess.Popen(program("say('ready'); burn(1); time.sleep(60)"), stdout=subprocess.PIPE,
                                  text=True, env=environment())
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        self.addCleanup(target.stdout.close)
        self.assertEqual(target.stdout.readline(), "ready\n")
        process = subprocess.Popen(
            [*user, VITALS, "track", "--interval", "50ms", "--json", str(self.json), str(target.pid)],
            env=environment(HOME="/nonexistent"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.kill_later(process.pid)
        wait_until(lambda: state(target.pid) == "S", what="the end of its work")
        target.kill()
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, said)
        figures = Account(self.json)
        self.assertGreater(figures.value("memory_peak_low_bytes"), 0)
        for name in ("read_bytes", "written_bytes"):
            if name in figures:
                self.assertIsNone(figures[name]["value"], figures[name])
                self.assertEqual(figures[name]["availability"], "denied")


class Targets(FaultCase):
    """`vitals track` of what goes before it is looked at."""

    def track(self, *pids, interval="10ms"):
        process = subprocess.Popen(
            [VITALS, "track", "--backends", "", "--interval", interval, "--json", str(self.json),
             *map(str, pids)], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.kill_later(process.pid)
        return process

    def target(self):
        process = subprocess.Popen(program("say('ready'); time.sleep(60)"), stdout=subprocess.PIPE,
                                   text=True, env=environment())
        self.kill_later(process.pid)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.stdout.close()
        return process

    def test_gone_at_any_moment(self):
        """Before it is found, before the first sample or after: it ends, and says which."""
        for turn in range(8):
            delay = random.uniform(0, 0.06)
            with self.subTest(turn=turn, delay=delay):
                self.json.unlink(missing_ok=True)
                target = self.target()
                process = self.track(target.pid)
                time.sleep(delay)
                target.kill()
                target.wait()
                _, said = process.communicate(timeout=60)
                self.assertIn(process.returncode, (0, 1), said)
                if process.returncode == 0:
                    self.assertTrue(Account(self.json).document["figures"])
                else:
                    self.assertIn(str(target.pid), said)

    def test_gone_between_two_samples_far_apart(self):
        target, other = self.target(), self.target()
        process = self.track(target.pid, other.pid, interval="1h")
        time.sleep(1)
        target.kill()
        target.wait()
        time.sleep(0.3)
        self.assertIsNone(process.poll())  # there is another
        other.kill()
        other.wait()
        _, said = process.communicate(timeout=60)  # no hour later
        self.assertEqual(process.returncode, 0, said)

    def test_one_that_is_dead_and_not_buried(self):
        """A zombie uses nothing any more: it counts as gone."""
        target = self.target()
        process = self.track(target.pid)
        time.sleep(0.5)
        target.kill()
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, said)
        self.assertEqual(state(target.pid), "Z")  # and we left it to its parent


@unittest.skipIf(SANITIZED, "a sanitizer's library must be the first that is loaded")
class CallsThatFail(FaultCase):
    """attack_preload.c lets calls of vitals fail, of no other program."""

    def attacked(self, attack, *words):
        library = BUILD / "tests" / "command" / "attack_preload.so"
        return vitals(*words, timeout=60,
                      env={"LD_PRELOAD": library.resolve(strict=True), "VITALS_ATTACK": attack,
                           "VITALS_ATTACK_FOLDER": self.folder})

    def test_no_wait_ever_succeeds(self):
        done = self.attacked(f"poll 1 1 {errno.ENOMEM}", "run", "--", "sh", "-c", "exit 7")
        self.assertEqual(done.returncode, 7, done.stderr)

    def allocations(self, *words):
        self.attacked("none 0 0 0", *words)
        (name, most, _), *_ = struct.iter_unpack("16sQQ", (self.folder / "calls").read_bytes())
        self.assertEqual(name.rstrip(b"\0"), b"malloc")
        return most

    def test_an_account_that_there_is_no_memory_for_is_told(self):
        words, told = ("run", "--json", "-", "--", "true"), 0
        most = self.allocations(*words)
        for first in range(most // 4, most, max(1, most // 24)):
            done = self.attacked(f"malloc {first} 1 {errno.ENOMEM}", *words)
            if done.returncode == 0 and not done.stdout:
                self.assertIn("out of memory", done.stderr, first)
                told += 1
        self.assertGreater(told, 0)

    def test_a_recording_to_standard_output_without_memory(self):
        words, told = ("record", "--backends", "", "-n", "1", "-"), 0
        most = self.allocations(*words)
        for first in range(most // 2, most + 1, 2):  # in the second half it samples
            done = self.attacked(f"malloc {first} 0 {errno.ENOMEM}", *words)
            self.assertIn(done.returncode, (0, 1), first)
            told += "standard output: out of memory" in done.stderr
        self.assertGreater(told, 0)


if __name__ == "__main__":
    unittest.main()
