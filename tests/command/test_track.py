"""`vitals track` from outside: processes that live already are watched and never notice."""

import fcntl
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest

from harness import VITALS, environment, vitals, wait_until
from runs import ordinary_user

# Says that it runs, spends CPU time until it is told to end, and ends with code 3.
WORKER = """
import sys
print("ready", flush=True)
import select
while not select.select([sys.stdin], [], [], 0)[0]:
    sum(range(10000))
sys.exit(3)
"""

# Starts what it is told with its own pid, and waits for its end, which it asks for when it is told to.
# Prints the CPU time that it had itself meanwhile. As a subreaper it gets what its children leave behind.
TARGET = """
import ctypes, os, signal, subprocess, sys, time
if sys.argv[1] == "reaps":
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
begun = time.process_time()
tracker = subprocess.Popen([*sys.argv[2:], str(os.getpid())])
sys.stdin.read(1)
tracker.send_signal(signal.SIGINT)
print(tracker.wait(), time.process_time() - begun, flush=True)
"""

# The same, by children that each live for a tenth of a second.
PARENT = """
import subprocess, sys, select
print("ready", flush=True)
child = "import time; t = time.process_time()\\nwhile time.process_time() - t < 0.1: pass"
while not select.select([sys.stdin], [], [], 0)[0]:
    subprocess.run([sys.executable, "-c", child])
"""


class Track(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.env = environment(XDG_STATE_HOME=str(self.folder))

    def worker(self, text=WORKER):
        process = subprocess.Popen(
            [sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.addCleanup(lambda: (process.stdin.close(), process.stdout.close(), process.wait()))
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def track(self, *arguments):
        account = self.folder / "account.json"
        process = subprocess.Popen(
            [VITALS, "track", "--interval", "50ms", "--json", account, *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.env,
        )
        self.addCleanup(process.kill)
        return process, account

    def totals(self):
        return list(self.folder.glob("vitals/*.json"))

    def end(self, worker):
        worker.stdin.write(b"end\n")
        worker.stdin.flush()

    @staticmethod
    def figures(account):
        document = json.loads(account.read_text())
        return document, {
            (figure["name"], figure.get("subject", "")): figure for figure in document["figures"]
        }

    def test_it_ends_with_the_target_and_says_what_it_used(self):
        worker = self.worker()
        process, account = self.track(worker.pid)
        wait_until(self.totals, "running totals")
        self.end(worker)
        out, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out), (0, ""))
        document, figures = self.figures(account)
        self.assertGreater(figures["cpu_seconds", ""]["value"], 0.05)
        # Where the kernel tells of ends, they are told behind the last sample.
        self.assertIn(figures["cpu_seconds", ""]["availability"], ("sampled", "lower_bound"))
        self.assertGreater(figures["memory_resident_peak_bytes", ""]["value"], 1 << 20)
        self.assertEqual(document["attributes"]["state"], "complete")
        self.assertIn("-c", document["attributes"]["command"])
        self.assertIn("CPU", err)
        self.assertEqual(self.totals(), [], "removed on success")

    def test_what_was_used_before_does_not_count(self):
        worker = self.worker()

        def used():
            fields = pathlib.Path(f"/proc/{worker.pid}/stat").read_text().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

        wait_until(lambda: used() > 0.5, "half a second of CPU time")
        before = used()
        process, account = self.track(worker.pid)
        wait_until(self.totals, "running totals")
        after = used()
        self.end(worker)
        process.communicate(timeout=30)
        final = self.figures(account)[1]["cpu_seconds", ""]["value"]
        self.assertGreater(final, 0)
        self.assertLess(final, after - before + 5)

    def test_children_between_samples_are_seen_in_their_parent(self):
        worker = self.worker(PARENT)
        process, account = self.track("--interval", "10s", worker.pid)
        wait_until(
            lambda: int(pathlib.Path(f"/proc/{worker.pid}/stat").read_text()
                        .rsplit(")", 1)[1].split()[13]) > 50,
            "half a second of CPU time of children",
        )
        self.end(worker)
        process.communicate(timeout=60)
        figures = self.figures(account)[1]
        self.assertGreater(figures["cpu_seconds", ""]["value"], 0.3)
        self.assertLess(figures["cpu_seconds", "root"]["value"],
                        figures["cpu_seconds", ""]["value"])

    def test_control_c_ends_the_tracking_and_not_the_target(self):
        worker = self.worker()
        process, account = self.track(worker.pid)
        wait_until(self.totals, "running totals")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0)
        self.assertIsNone(worker.poll())
        self.assertIn("CPU", err)
        self.assertGreater(self.figures(account)[1]["cpu_seconds", ""]["value"], 0)

    def test_a_child_of_ours_is_left_for_us_to_reap(self):
        worker = self.worker()
        process, account = self.track(worker.pid)
        wait_until(self.totals, "running totals")
        self.end(worker)
        self.assertEqual(worker.wait(timeout=30), 3)
        process.communicate(timeout=30)
        attributes = self.figures(account)[0]["attributes"]
        self.assertIn(attributes.get("exit", "3"), ("3",), "told, or not known before Linux 6.15")

    def test_totals_stand_after_vitals_was_killed(self):
        worker = self.worker()
        process, _ = self.track(worker.pid)
        wait_until(self.totals, "running totals")
        process.kill()
        process.communicate(timeout=30)
        self.assertIsNone(worker.poll())
        [path] = self.totals()
        document, figures = self.figures(path)
        self.assertEqual(document["attributes"]["state"], "running")
        self.assertGreater(figures["wall_seconds", ""]["value"], 0)

    def test_it_leaves_itself_out_where_its_target_started_it(self):
        """And its helpers, also those that become children of the target."""
        for reaps, told in (("", []), ("reaps", []), ("", ["--tensorboard", str(self.folder / "events")]),
                            ("reaps", ["--tensorboard", str(self.folder / "events")])):
            with self.subTest(reaps=reaps, told=told):
                place, totals = self.folder / "account.json", self.folder / "totals"
                target = subprocess.Popen(
                    [sys.executable, "-c", TARGET, reaps, VITALS, "track", "-q", "--backends", "", "--interval",
                     "20ms", "--backup", totals, "--json", place, *told],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.env)
                self.addCleanup(target.kill)
                wait_until(totals.exists, "running totals")
                said, _ = target.communicate("x", timeout=60)
                code, own = said.split()
                self.assertEqual((target.returncode, int(code)), (0, 0))
                document, figures = self.figures(place)
                peaks = {name: figures[name, ""]["value"]
                         for name in ("processes", "processes_peak", "threads_peak")}
                self.assertEqual(peaks, {"processes": 1, "processes_peak": 1, "threads_peak": 1}, document)
                # What is sampled is counted in steps of 10 ms.
                self.assertLessEqual(figures["cpu_seconds", ""]["value"], float(own) + 0.02, document)
                self.assertFalse([figure for figure in document["figures"]
                                  if figure.get("subject") == "descendants" and figure.get("value")])

    def test_a_shell_script_tracks_itself(self):
        """As root and as an ordinary user, each with what the kernel tells it."""
        for become in ([], ordinary_user()):
            with self.subTest(become=become), tempfile.TemporaryDirectory() as folder:
                os.chmod(folder, 0o777)
                place, totals = pathlib.Path(folder, "account.json"), pathlib.Path(folder, "totals")
                script = '"$@" $$ & read word; kill -INT $!; wait $!'
                shell = subprocess.Popen(
                    [*become, "bash", "-c", "set -m; " + script, "bash", VITALS, "track", "-q", "--backends", "",
                     "--interval", "20ms", "--backup", totals, "--json", place],
                    stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.env)
                self.addCleanup(shell.kill)
                wait_until(totals.exists, "running totals")
                _, said = shell.communicate("x\n", timeout=60)
                document, figures = self.figures(place)
                self.assertEqual([figures[name, ""]["value"] for name in ("processes", "threads_peak")], [1, 1],
                                 (said, document))

    def test_several_targets(self):
        first, second = self.worker(), self.worker()
        process, account = self.track(first.pid, second.pid)
        wait_until(self.totals, "running totals")
        self.end(first)
        first.wait(timeout=30)
        self.assertIsNone(process.poll())
        self.end(second)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.figures(account)[1]["processes_seen", ""]["value"], 2)

    def test_what_is_no_process_is_said(self):
        worker = subprocess.Popen(["true"])
        worker.wait()
        for words, code, says in (
            ((worker.pid,), 1, "no process has the pid"),
            (("abc",), 2, "is not a pid"),
            (("0",), 2, "is not a pid"),
            ((), 2, "no pid"),
            (("--brand", "matrox", os.getpid()), 2, "--brand"),
        ):
            with self.subTest(words=words):
                done = vitals("track", *map(str, words), env=self.env)
                self.assertEqual((done.returncode, done.stdout), (code, ""))
                self.assertIn(says, done.stderr)

    def test_a_recording_is_written(self):
        worker = self.worker()
        recording = self.folder / "track.csv"
        process, account = self.track("--record", recording, worker.pid)
        wait_until(lambda: recording.exists() and recording.read_text().count("\n") > 3,
                   "lines of a recording")
        self.end(worker)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0)
        self.assertGreater(recording.read_text().count("\n"), 3)

    def test_a_wrong_pid_costs_no_recording(self):
        gone = subprocess.Popen(["true"])
        gone.wait()
        for name in ("old.db", "old.csv"):
            kept, new = self.folder / name, self.folder / f"new-{name}"
            kept.write_text("what was recorded before\n")
            for words in (("--overwrite", "--record", kept), ("--record", new)):
                with self.subTest(words=words):
                    done = vitals("track", *map(str, words), str(gone.pid), env=self.env)
                    self.assertEqual(done.returncode, 1)
                    self.assertIn("no process has the pid", done.stderr)
            self.assertEqual(kept.read_text(), "what was recorded before\n")
            self.assertFalse(new.exists())

    def test_a_file_that_stood_there_is_not_removed_as_totals(self):
        worker = self.worker()
        kept = self.folder / "keep.txt"
        kept.touch()
        self.end(worker)
        os.waitid(os.P_PID, worker.pid, os.WEXITED | os.WNOWAIT)
        process, account = self.track("--backup", kept, worker.pid)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0)
        if self.figures(account)[1]["wall_seconds", ""]["value"] > 0.9:
            self.skipTest("it lasted so long that totals were written")
        self.assertTrue(kept.exists(), "an empty file of the user's")

    def test_a_recording_that_cannot_take_the_account(self):
        worker = self.worker()
        recording = self.folder / "track.csv"
        process, account = self.track("-q", "--record", recording, worker.pid)
        wait_until(lambda: recording.exists() and recording.read_text().count("\n") > 1,
                   "a line of a recording")
        recording.unlink()
        self.end(worker)
        _, err = process.communicate(timeout=30)
        self.assertIn("the account is missing", err)
        self.assertEqual(process.returncode, 1)
        self.assertTrue(self.figures(account))

    def test_a_recording_that_stops_is_told_whoever_wants_to_hear(self):
        worker = self.worker()
        recording = self.folder / "track.csv"
        process = subprocess.Popen(
            [VITALS, "track", "-q", "--no-backup", "--interval", "20ms", "--record", recording,
             str(worker.pid)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.env,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 14, 1 << 14)),
        )
        self.addCleanup(process.kill)

        def is_full():
            size = recording.stat().st_size if recording.exists() else 0
            time.sleep(0.5)  # many intervals: the row that did not fit was tried
            return size > 15000 and size == recording.stat().st_size

        wait_until(is_full, "a recording as large as a file may be")
        self.end(worker)
        out, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out), (1, ""))
        self.assertIn("recording stopped", err)

    def test_a_reader_that_does_not_read_holds_nobody_who_is_told_to_end(self):
        worker = self.worker()
        commands = {
            "track": ["track", "--format", "resource-tracker", str(worker.pid)],
            "record": ["record", "--format", "resource-tracker-system"],
        }
        for name, command in commands.items():
            for told in (signal.SIGINT, signal.SIGTERM):
                with self.subTest(command=name, told=told):
                    self.assertIn("accepts no more data", self.held(command, told))

    # Its standard output is a pipe that it fills.
    def held(self, command, told):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        process = subprocess.Popen(
            [VITALS, *command, "--interval", "20ms"],
            stdout=writer, stderr=subprocess.PIPE, text=True, env=self.env,
        )
        os.close(writer)
        self.addCleanup(process.kill)

        def written():
            return int.from_bytes(fcntl.ioctl(reader, termios.FIONREAD, bytes(4)), sys.byteorder)

        def is_full():
            before = written()
            time.sleep(0.5)  # many intervals
            return written() == before > 0

        wait_until(is_full, "a full pipe")
        process.send_signal(told)
        _, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 1, err)
        return err


if __name__ == "__main__":
    unittest.main()
