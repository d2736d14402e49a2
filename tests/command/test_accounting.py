"""Accounting from end to end: a job with phases is run and recorded, and what it used is reported,
compared and tracked."""

import json
import os
import pathlib
import signal
import subprocess
import unittest

from harness import VITALS, environment, vitals
from runs import RunCase, program, state, wait_until

# A script as people write them: one phase by hand, one around a command, two nested.
JOB = f"""
echo "begin load" >> "$VITALS_MARKS"
sleep 0.3
echo "end load" >> "$VITALS_MARKS"
{VITALS} mark train -- "$0" -c '
import time
block = bytearray(100 << 20)
until = time.process_time() + 0.5
while time.process_time() < until:
    pass
time.sleep(0.2)
'
{VITALS} mark begin outer
{VITALS} mark begin inner
sleep 0.3
{VITALS} mark end inner
{VITALS} mark end outer
"""


class EndToEnd(RunCase):
    def record(self, path, *options):
        python = program("")[0]
        done = vitals("run", "--backends", "", "--record", path, "--interval", "50ms", *options, "--",
                      "sh", "-c", JOB, python, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        return done

    def document(self, *arguments):
        done = vitals(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def setUp(self):
        super().setUp()
        if "SQLite" not in vitals("--version").stdout and "sqlite" not in vitals("--version").stdout:
            self.skipTest("this build has no SQLite")

    def test_a_recorded_run_is_reported(self):
        path = self.folder / "x.db"
        done = self.record(path)
        report = vitals("report", path)
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertEqual(report.stdout.splitlines()[0], done.stderr.splitlines()[0])
        account = self.document("report", "--json", path)
        self.assertEqual(account["exit_code"], 0)
        self.assertEqual(account["attributes"]["state"], "complete")
        figures = {one["name"]: one for one in account["figures"] if not one.get("subject")}
        self.assertGreater(figures["cpu_seconds"]["value"], 0.5)
        self.assertGreater(figures["memory_resident_peak_bytes"]["value"], 100 << 20)
        for figure in account["figures"]:
            self.assertTrue({"name", "value", "unit", "availability", "source"} <= set(figure), figure)

    def test_phases(self):
        path = self.folder / "x.db"
        self.record(path)
        done = vitals("report", "--phases", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("load", "train", "outer", "inner"):
            self.assertRegex(done.stdout, rf"(?m)^\s+{name}\s+1\s")
        phases = {one["name"]: one for one in self.document("report", "--phases", "--json", path)["phases"]}
        self.assertEqual(set(phases), {"load", "train", "outer", "inner"})

    def test_two_runs_are_compared(self):
        first, second = self.folder / "a.db", self.folder / "b.db"
        self.record(first)
        self.record(second)
        done = vitals("compare", first, second)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("CPU", done.stdout)
        self.assertTrue(self.document("compare", "--json", first, second)["figures"])

    def test_a_run_that_was_killed_left_its_totals_and_recording(self):
        path, totals = self.folder / "x.db", self.folder / "totals.json"
        process = self.start(program("say(os.getpid()); burn(2); say('burnt'); time.sleep(60)"),
                             "--record", str(path), "--backup", str(totals), "--interval", "50ms")
        command = int(process.stdout.readline())
        self.kill_later(command)
        self.assertEqual(process.stdout.readline(), "burnt\n")
        wait_until(lambda: totals.exists() and totals.stat().st_size > 0, what="running totals")
        wait_until(lambda: self.seen(totals) > 1, what="what was burnt")
        process.kill()
        process.wait(20)
        self.assertIn(state(command), "SR")  # the job goes on
        for file in (path, totals):
            with self.subTest(file=file.name):
                account = self.document("report", "--json", file)
                self.assertIn(account["attributes"]["state"], ("partial", "running"))
                seen = max(one["value"] for one in account["figures"]
                           if one["name"] == "cpu_seconds" and one["value"] is not None)
                self.assertGreater(seen, 1 if file is totals else 0.9)  # one second may be lost

    def seen(self, totals):
        try:
            figures = json.loads(totals.read_text())["figures"]
        except (OSError, ValueError):
            return 0
        return max([one["value"] or 0 for one in figures if one["name"] == "cpu_seconds"], default=0)

    def test_what_stands_where_totals_would_is_kept(self):
        mine = self.folder / "mine.txt"
        mine.write_text("x\n")
        done, _ = self.run_it(["sh", "-c", "echo it ran"], "--quiet", "--backup", str(mine))
        self.assertEqual((done.returncode, done.stdout, mine.read_text()), (125, "", "x\n"))
        self.assertIn(str(mine), done.stderr)

    def test_a_device_that_is_not_there_is_told(self):
        for name in ("nothing", "GPU-00000000-dead"):
            with self.subTest(name=name):
                done, _ = self.run_it(["sh", "-c", "echo it ran"], "--devices", name)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(name, done.stderr)

    def test_what_is_no_file_cannot_be_a_recording(self):
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        for place in (str(fifo), "/dev/full", "/dev/stderr"):
            with self.subTest(place=place):
                done, _ = self.run_it(["sh", "-c", "echo it ran"], "--quiet", "--record", place)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn("not a regular file", done.stderr)

    def test_totals_go_with_a_run_that_ended(self):
        state_folder = self.folder / "state"
        done, _ = self.run_it(["sleep", "1.5"], "--verbose", "--interval", "50ms",
                              env={"XDG_STATE_HOME": state_folder})
        self.assertIn(f"running totals are kept in {state_folder}/vitals/run-", done.stderr)
        self.assertEqual(list((state_folder / "vitals").iterdir()), [])
        home = self.folder / "nobody's"  # that is not there is not made
        done, _ = self.run_it(["sleep", "0.1"], env={"XDG_STATE_HOME": None, "HOME": home})
        self.assertEqual((done.returncode, home.exists()), (0, False))
        done, _ = self.run_it(["true"], "--verbose", "--no-backup", env={"XDG_STATE_HOME": state_folder})
        self.assertIn("no running totals are kept", done.stderr)
        done, _ = self.run_it(["sh", "-c", "exit 3"], env={"XDG_STATE_HOME": "/proc/no/such"})
        self.assertEqual(done.returncode, 3)

    def test_a_process_that_lives_is_tracked(self):
        target = subprocess.Popen(program("say('ready'); burn(1); time.sleep(60)"), stdout=subprocess.PIPE,
                                  text=True, env=environment())
        self.addCleanup(target.communicate)
        self.addCleanup(target.kill)
        self.assertEqual(target.stdout.readline(), "ready\n")
        tracker = subprocess.Popen([VITALS, "track", str(target.pid), "--interval", "50ms", "--json",
                                    str(self.json)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=environment())
        self.addCleanup(tracker.communicate)
        self.addCleanup(tracker.kill)
        wait_until(lambda: pathlib.Path(f"/proc/{target.pid}/stat").exists() and
                   self.used(target.pid) > 0.9, what="what was burnt")
        os.kill(target.pid, signal.SIGTERM)
        target.wait(20)
        _, said = tracker.communicate(timeout=30)
        self.assertIn("CPU", said)
        figures = json.loads(self.json.read_text())["figures"]
        self.assertTrue([one for one in figures if one["name"] == "cpu_seconds"])

    def used(self, pid):
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Repeated(RunCase):
    def test_statistics_of_several_runs(self):
        done = vitals("run", "--backends", "", "--repeat", "3", "--json", self.json, "--", "sh", "-c",
                      "echo out; sleep 0.1")
        self.assertEqual((done.returncode, done.stdout), (0, "out\n" * 3))
        self.assertIn("3 runs", done.stderr)
        document = json.loads(self.json.read_text())
        self.assertEqual((document["runs"], len(document["accounts"])), (3, 3))
        walls = [next(one["value"] for one in account["figures"] if one["name"] == "wall_seconds")
                 for account in document["accounts"]]
        wall = next(one for one in document["statistics"] if one["name"] == "wall_seconds")
        self.assertEqual((wall["count"], wall["min"], wall["max"]), (3, min(walls), max(walls)))
        self.assertAlmostEqual(wall["mean"], sum(walls) / 3)
        self.assertGreaterEqual(wall["min"], 0.1)

    def test_the_first_that_fails_is_the_last(self):
        counter = self.folder / "count"
        done = vitals("run", "--backends", "", "--repeat", "9", "--", "sh", "-c",
                      f'echo x >> {counter}; test $(wc -l < {counter}) -lt 3 || exit 7')
        self.assertEqual(done.returncode, 7)
        self.assertEqual(counter.read_text(), "x\n" * 3)
        self.assertIn("run 3 of 9 failed", done.stderr)
        self.assertIn("2 runs", done.stderr)


class HowMuchIsSaid(RunCase):
    def test_quiet_leaves_the_command_to_speak_for_itself(self):
        for script, code in (("echo out", 0), ("echo out; echo wrong >&2; exit 3", 3), ("kill -9 $$", 137)):
            with self.subTest(script):
                done, account = self.run_it(["sh", "-c", script], "--quiet")
                self.assertEqual(done.returncode, code)
                self.assertEqual(done.stdout, "out\n" if "echo out" in script else "")
                self.assertEqual(done.stderr, "wrong\n" if "wrong" in script else "")
                self.assertIsNotNone(account)

    def test_quiet_says_what_vitals_itself_did(self):
        for command, options, code, said in (
                (["sleep", "60"], ["--limit-time", "0.1"], 124, "the command passed a limit: "),
                (["no-such-program"], [], 127, "no-such-program: command not found"),
                (["false"], ["--repeat", "2"], 1, "run 1 of 2 failed")):
            with self.subTest(command):
                done = vitals("run", "--backends", "", "--quiet", *options, "--", *command)
                self.assertEqual(done.returncode, code)
                self.assertEqual(done.stdout, "")
                self.assertRegex(done.stderr, f"\\Avitals: {said}.*\n\\Z")

    def test_units(self):
        done, _ = self.run_it(["true"], "--memory-unit", "kilobytes", "--time-unit", "hours")
        self.assertEqual(done.returncode, 0)
        self.assertIn("hours", done.stderr)

    def test_the_account_names_what_it_is_of(self):
        done, account = self.run_it(["sh", "-c", "exit 0"])
        attributes = account.document["attributes"]
        self.assertEqual(attributes["command"], "sh -c 'exit 0'")
        self.assertEqual(attributes["working_directory"], os.getcwd())
        self.assertEqual(attributes["boot_id"],
                         pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        self.assertGreater(int(attributes["started_ns"]), 1e18)


if __name__ == "__main__":
    unittest.main()
