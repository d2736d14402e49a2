"""`vitals record`, and recordings as a person meets them: what is in the file, that it is whole
whatever happens, and that what is wrong with one is said."""

import contextlib
import csv
import json
import os
import pathlib
import random
import resource
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

from harness import SANITIZED, VITALS, environment, in_most_of, vitals, wait_until
from runs import children, lives

PLAIN = ("--backends", "none")
SQLITE = "SQLite" in vitals("--version").stdout


class Recordings(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def record(self, name, *options, count=3, interval="50ms", **more):
        path = self.folder / name
        result = vitals("record", *PLAIN, "--count", count, "--interval", interval, *options, path,
                        **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "")
        return path

    def query(self, path, sql):
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            return database.execute(sql).fetchall()


@unittest.skipUnless(SQLITE, "built without SQLite")
class Database(Recordings):
    def test_samples_are_a_table(self):
        path = self.record("a.db", count=4)
        rows = self.query(path, 'SELECT time, "system.cpu_seconds", "system.memory_total_bytes" '
                                "FROM samples ORDER BY sample")
        self.assertEqual(len(rows), 4)
        times = [row[0] for row in rows]
        self.assertEqual(times, sorted(times))
        self.assertAlmostEqual(times[0], time.time(), delta=60)
        self.assertEqual(rows[0][1], 0)
        self.assertGreaterEqual(rows[3][1], rows[1][1])
        total = next(line for line in pathlib.Path("/proc/meminfo").read_text().splitlines()
                     if line.startswith("MemTotal"))
        self.assertEqual({row[2] for row in rows}, {int(total.split()[1]) * 1024})

    def test_every_column_is_told(self):
        path = self.record("a.db")
        columns = [row[1] for row in self.query(path, "PRAGMA table_info(samples)")][3:]
        told = self.query(path, "SELECT column_name, unit, kind FROM series ORDER BY id")
        self.assertEqual(columns, [row[0] for row in told])
        for name, unit, kind in told:
            self.assertIn(kind, ("gauge", "counter"))
            if name.endswith("_bytes"):
                self.assertEqual(unit, "bytes")

    def test_what_is_missing_is_null_and_says_why(self):
        path = self.record("a.db")
        rows = self.query(path, 'SELECT "system.cpu_cores" FROM samples ORDER BY sample')
        self.assertIsNone(rows[0][0])
        why = self.query(path, "SELECT state FROM states JOIN series ON series.id = states.series "
                               "WHERE column_name = 'system.cpu_cores' ORDER BY sample")
        self.assertEqual(why[0][0], "not_yet")

    def test_the_account_and_the_attributes_are_there(self):
        path = self.record("a.db")
        attributes = dict(self.query(path, "SELECT name, value FROM attributes"))
        self.assertEqual(attributes["state"], "complete")
        self.assertEqual(attributes["interval_ns"], "50000000")
        self.assertEqual(attributes["boot_id"],
                         pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        figures = dict(self.query(path, "SELECT name, value FROM account WHERE subject = 'system'"))
        self.assertGreater(figures["memory_used_peak_bytes"], 0)

    def test_snapshots_are_shown_again(self):
        path = self.record("a.db", "--processes")
        table = vitals("ps", "--from", path, "-o", "pid", "--no-header")
        self.assertEqual(table.returncode, 0, table.stderr)
        self.assertIn(str(os.getpid()), table.stdout.split())
        lines = vitals("--json", "--from", path).stdout.splitlines()
        left_out = self.query(path, "SELECT value FROM attributes WHERE name = 'frames_left_out'")
        count = int(left_out[0][0].split()[0]) if left_out else 0
        self.assertEqual(len(lines) + count, 3)
        self.assertGreater(len(lines), 0)
        for line in lines:
            self.assertIn("host", json.loads(line)["tables"])
        self.assertEqual(vitals("-1", "--from", path).returncode, 0)

    def test_a_database_of_nothing_is_empty(self):
        path = self.folder / "a.db"
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA journal_mode=WAL").fetchall()
        for words in (("report", path), ("-1", "--from", path), ("replay", path, "--screen", "80x24")):
            done = vitals(*words)
            self.assertEqual(done.returncode, 1, words)
            self.assertIn("nothing has been recorded in it yet", done.stderr)

    def test_a_change_that_was_cut_off_is_said(self):
        path = self.record("a.db")
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute("PRAGMA cache_size=1")
            database.execute("BEGIN")
            database.execute("UPDATE frames SET content = zeroblob(100000)")
            torn = self.folder / "torn.db"
            for ending in ("", "-journal"):
                torn.with_name(torn.name + ending).write_bytes(path.with_name(path.name + ending).read_bytes())
            database.execute("ROLLBACK")
        done = vitals("report", torn)
        self.assertEqual(done.returncode, 1)
        self.assertIn("undoes it from the -journal", done.stderr)
        with contextlib.closing(sqlite3.connect(torn)) as database:
            database.execute("SELECT count(*) FROM samples").fetchall()
        self.assertEqual(vitals("report", torn).returncode, 0)

    def test_a_report_is_of_the_last_snapshots(self):
        path = self.record("a.db", count=6, interval="300ms")
        lines = [json.loads(line) for line in vitals("--json", "--from", path).stdout.splitlines()]
        clean = self.folder / "last.json"
        clean.write_text("\n".join(json.dumps(line) for line in lines[-2:]))
        self.assertEqual(vitals("-1", "--from", path).stdout, vitals("-1", "--from", clean).stdout)

    def test_devices_have_columns(self):
        path = self.folder / "a.db"
        result = vitals("record", "--demo", "--seed", "7", "--count", 10, "--interval", "50ms", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        subjects = self.query(path, "SELECT subject, label FROM series "
                                    "WHERE name = 'device_memory_used_bytes'")
        devices = [subject for subject, _ in subjects if subject != "system"]
        self.assertGreater(len(devices), 1)
        column = f"{devices[0]}.device_memory_used_bytes"
        values = [value for (value,) in self.query(path, f'SELECT "{column}" FROM samples')]
        self.assertEqual(len(values), 10)
        known = [value for value in values if value is not None]  # of a tick that a busy machine delays
        self.assertTrue(known)
        self.assertGreater(min(known), 0)

    def test_several_devices_are_named(self):
        path = self.folder / "a.db"
        result = vitals("record", "--demo", "--seed", "7", "--devices", "0,1", "--count", 2,
                        "--interval", "50ms", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        subjects = self.query(path, "SELECT subject FROM series "
                                    "WHERE name = 'device_memory_used_bytes' AND subject != 'system'")
        self.assertEqual({subject for (subject,) in subjects},
                         {"GPU-demo-0000", "GPU-demo-0001", "MIG-demo-0002", "MIG-demo-0003"})  # with the parts of 1


class Csv(Recordings):
    def read(self, path):
        with open(path, newline="") as file:
            return list(csv.reader(file))

    def test_it_is_one_rectangle(self):
        rows = self.read(self.record("a.csv", count=4))
        self.assertEqual(rows[0][:2], ["time", "mark"])
        self.assertEqual(len(rows), 5)
        self.assertEqual({len(row) for row in rows}, {len(rows[0])})
        self.assertEqual(len(set(rows[0])), len(rows[0]))
        column = rows[0].index("system.memory_used_bytes")
        self.assertGreater(int(rows[1][column]), 0)

    def test_standard_output_gets_it(self):
        result = vitals("record", *PLAIN, "--count", 2, "--interval", "20ms")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout.startswith("time,mark,"))
        self.assertEqual(len(result.stdout.splitlines()), 3)

    def test_a_reader_that_goes_away_ends_it(self):
        program = subprocess.Popen([VITALS, "record", *PLAIN, "--interval", "10ms"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=environment())
        program.stdout.readline()
        program.stdout.close()
        self.assertEqual(program.wait(30), 0)
        # It says of its own accord what a busy machine made it miss.
        self.assertRegex(program.stderr.read(), rb"\A(vitals: \d+ of \d+ samples were missed: .*\n)?\Z")
        program.stderr.close()

    def test_what_is_no_table_stands_beside_it(self):
        path = self.record("a.csv")
        account = json.loads(pathlib.Path(f"{path}.json").read_text())
        self.assertEqual(account["attributes"]["state"], "complete")
        self.assertTrue(account["figures"])

    def test_old_dialects_hold_numbers_alone(self):
        path = self.record("o.csv", "--format", "resource-tracker-0.1")
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file, quoting=csv.QUOTE_NONNUMERIC))
        self.assertEqual(len(rows), 2)
        for row in rows:
            self.assertTrue(all(isinstance(value, float) for value in row.values()), row)

    def test_dialects_have_their_columns(self):
        rows = self.read(self.record("s.csv", "--format", "resource-tracker"))
        self.assertEqual(rows[0][0:3], ["timestamp", "processes", "utime"])
        self.assertEqual({len(row) for row in rows}, {21})
        self.assertEqual(len(rows), 3)  # the header stands for the first sample
        rows = self.read(self.record("o.csv", "--format", "resource-tracker-0.1", "--no-header"))
        self.assertEqual(len(rows), 3)
        forks = int(next(line for line in pathlib.Path("/proc/stat").read_text().splitlines()
                         if line.startswith("processes")).split()[1])
        self.assertLessEqual(int(rows[0][1]), int(rows[2][1]))
        self.assertLessEqual(int(rows[2][1]), forks)
        self.assertGreater(int(rows[2][1]), 0)


@unittest.skipUnless(SQLITE, "built without SQLite")
class Endings(Recordings):
    def begin(self, path, *options, interval="50ms"):
        program = subprocess.Popen([VITALS, "record", *PLAIN, "--interval", interval, *options,
                                    path], env=environment(), stderr=subprocess.PIPE)
        self.addCleanup(program.stderr.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        return program

    def rows(self, path):
        try:
            return self.query(path, "SELECT count(*) FROM samples")[0][0]
        except sqlite3.OperationalError:
            return 0

    @unittest.skipIf(SANITIZED, "a sanitizer makes frames expensive")
    def test_a_busy_machine_costs_no_snapshot(self):
        """Frames may take a hundredth of a CPU's time, not of the clock's, which others take too."""
        path = self.folder / "a.db"
        program = self.begin(path, "--count", "4", interval="500ms")
        while program.poll() is None:  # it runs for a twentieth of the time
            program.send_signal(signal.SIGSTOP)
            time.sleep(0.019)
            program.send_signal(signal.SIGCONT)
            time.sleep(0.001)
        self.assertEqual(program.returncode, 0)
        self.assertEqual(self.query(path, "SELECT count(*) FROM frames"), [(4,)])

    def test_a_signal_ends_it_whole(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            path = self.folder / f"{number}.db"
            program = self.begin(path)
            wait_until(lambda path=path: path.exists() and self.rows(path) >= 2, "two samples")
            program.send_signal(number)
            self.assertEqual(program.wait(30), 0)
            self.assertEqual([entry.name for entry in self.folder.glob(f"{number}.db*")],
                             [path.name])
            state = self.query(path, "SELECT value FROM attributes WHERE name = 'state'")
            self.assertEqual(state, [("complete",)])

    def test_it_can_be_read_while_it_grows(self):
        path = self.folder / "a.db"
        self.begin(path)
        wait_until(lambda: path.exists() and self.rows(path) >= 1, "a sample")
        first = self.rows(path)
        wait_until(lambda: self.rows(path) > first, "another sample")
        self.assertEqual(vitals("-1", "--from", path).returncode, 0)

    def test_a_kill_loses_no_more_than_a_second(self):
        """At a random moment: what is missing is a second, or an interval where that is more; on a
        busy machine the sample that was due may itself be late, so most of several tries count."""
        for name, interval in (("10ms", 0.01), ("440ms", 0.44), ("700ms", 0.7)):
            def measure(name=name, interval=interval):
                path = self.folder / f"{name}.db"
                path.unlink(missing_ok=True)
                program = self.begin(path, "--overwrite", interval=name)
                wait_until(lambda: path.exists() and self.rows(path) >= 2, "two samples")
                time.sleep(random.uniform(0, 2))
                program.kill()
                killed = time.time()
                program.wait()
                newest = self.query(path, "SELECT max(time) FROM samples")[0][0]
                self.assertLess(killed - newest, 1.1, name)
                self.assertEqual(self.query(path, "PRAGMA integrity_check"), [("ok",)])
                self.assertEqual(vitals("-1", "--from", path).returncode, 0)

            with self.subTest(interval=name):
                in_most_of(3, measure)

    def test_a_mark_does_not_wait_for_a_sample(self):
        path = self.folder / "a.db"
        program = subprocess.Popen(
            [VITALS, "run", *PLAIN, "--interval", "60s", "--record", path, "--", "sh", "-c",
             f"sleep 1; '{VITALS}' mark begin a; '{VITALS}' mark end a; echo $$; exec sleep 60"],
            env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(program.wait)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.kill)
        self.addCleanup(os.kill, int(program.stdout.readline()), signal.SIGKILL)
        wait_until(lambda: self.query(path, "SELECT count(*) FROM marks") == [(2,)], "two marks")

    @unittest.skipUnless(SQLITE, "built without SQLite")
    def test_a_killed_recording_opens_whole(self):
        """SQLite reads its write-ahead log, so that samples, snapshots and phases are there."""
        path = self.folder / "a.db"
        program = self.begin(path, interval="50ms")
        wait_until(lambda: path.exists() and self.rows(path) >= 20, "twenty samples")
        program.kill()
        program.wait()
        self.assertTrue(path.with_name("a.db-wal").stat().st_size > 0)
        rows = self.rows(path)
        report = vitals("report", "--json", path)
        self.assertEqual((report.returncode, report.stderr), (0, ""))
        figures = {one["name"]: one for one in json.loads(report.stdout)["figures"]}
        self.assertGreater(figures["wall_seconds"]["value"], 0.05 * (rows - 1) * 0.9)
        for how in (["-1", *PLAIN], ["--json"]):
            shown = vitals(*how, "--from", path)
            self.assertEqual((shown.returncode, shown.stderr), (0, ""), how)
        screen = vitals("replay", *PLAIN, path, "--screen", "80x24")
        self.assertEqual((screen.returncode, screen.stderr), (0, ""))

    def test_snapshots_out_of_order_have_an_end(self):
        """In a leaf of the table of frames the number of each snapshot in turn is set to 1."""
        path = self.record("a.db", count=12)
        whole = path.read_bytes()
        ((page_bytes,),) = self.query(path, "PRAGMA page_size")
        broken = self.folder / "broken.db"
        tried = 0
        for page in range(page_bytes, len(whole), page_bytes):
            if whole[page] != 13:  # a leaf of a table
                continue
            cells = int.from_bytes(whole[page + 3:page + 5], "big")
            for cell in range(min(cells, 20)):
                at = page + int.from_bytes(whole[page + 8 + 2 * cell:page + 10 + 2 * cell], "big")
                while whole[at] & 128:
                    at += 1
                if whole[at + 1] & 128 or whole[at + 1] < 2:
                    continue
                broken.write_bytes(whole[:at + 1] + b"\1" + whole[at + 2:])
                (self.folder / "page.html").unlink(missing_ok=True)
                for arguments in (("report", broken, "--html", self.folder / "page.html"),
                                  ("-1", "--from", broken)):
                    tried += 1
                    done = vitals(*arguments, timeout=60)
                    self.assertIn(done.returncode, (0, 1), (arguments, at, done.stderr))
        self.assertGreater(tried, 20)

    def test_a_damaged_file_names_the_tool_that_recovers_it(self):
        path = self.record("a.db", count=60, interval="50ms")
        whole = path.read_bytes()
        cut = self.folder / "cut.db"
        for percent in (95, 70, 20):
            cut.write_bytes(whole[:len(whole) * percent // 100])
            for command in (["report"], ["-1", *PLAIN, "--from"], ["--json", "--from"],
                            ["replay", "--screen", "80x24"]):
                with self.subTest(percent=percent, command=command):
                    said = vitals(*command, cut)
                    self.assertEqual(said.returncode, 1)
                    self.assertEqual(len(said.stderr.splitlines()), 1, said.stderr)
                    self.assertIn("cut.db: SQLite cannot read it", said.stderr)
                    self.assertIn("sqlite3 FILE .recover", said.stderr)

    @unittest.skipUnless(SQLITE, "built without SQLite")
    def test_a_launcher_that_is_killed_leaves_every_sample(self):
        """Samples are committed about once a second; the sampler lives on long enough to commit
        what came since."""
        path = self.folder / "a.db"
        program = subprocess.Popen(
            [VITALS, "run", *PLAIN, "--interval", "50ms", "--record", path, "--", "sh", "-c",
             "echo $$; exec sleep 60"], env=environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.kill)
        job = int(program.stdout.readline())
        self.addCleanup(os.kill, job, signal.SIGKILL)
        def newest():
            return self.query(path, "SELECT max(time) FROM samples")[0][0] or 0
        wait_until(lambda: self.rows(path) >= 10, "ten samples")
        before = newest()
        wait_until(lambda: newest() > before, "another commit")
        committed = newest()
        time.sleep(0.6)
        samplers = [pid for pid in children(program.pid) if pid != job]
        program.kill()
        program.wait()
        wait_until(lambda: newest() > committed + 0.3, "the last commit", seconds=10)
        wait_until(lambda: not any(lives(pid) for pid in samplers), "the sampler's end", seconds=10)
        self.assertEqual(self.query(path, "PRAGMA integrity_check"), [("ok",)])

    def test_a_killed_csv_is_whole(self):
        path = self.folder / "a.csv"
        program = self.begin(path, interval="10ms")
        wait_until(lambda: path.exists() and path.read_bytes().count(b"\n") > 20, "twenty lines")
        program.kill()
        program.wait()
        text = path.read_text()
        self.assertTrue(text.endswith("\n"))
        self.assertEqual(len({line.count(",") for line in text.splitlines()}), 1)

    def test_a_full_disk_is_said_once(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, 1 << 18))

        for name in ("a.csv", "a.db"):
            result = vitals("record", *PLAIN, "--interval", "10ms", self.folder / name,
                            preexec_fn=limit, timeout=120)
            self.assertEqual(result.returncode, 1)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn(name, result.stderr)
        self.assertEqual(self.query(self.folder / "a.db", "PRAGMA integrity_check"), [("ok",)])
        self.assertTrue((self.folder / "a.csv").read_text().endswith("\n"))

    def test_parts_are_few_and_whole(self):
        path = self.record("a.csv", "--rotate", "8KiB", "--keep", 2, count=120, interval="10ms")
        parts = sorted(self.folder.glob("a.csv.[0-9]*"))
        parts = [part for part in parts if part.suffix != ".json"]
        self.assertEqual(len(parts), 2)
        for part in (*parts, path):
            self.assertTrue(part.read_text().startswith("time,mark,"))
        for part in parts:
            self.assertGreaterEqual(part.stat().st_size, 8192)

    def test_a_time_ends_it(self):
        path = self.folder / "a.csv"
        begun = time.monotonic()
        result = vitals("record", *PLAIN, "--interval", "100ms", "--duration", "500ms", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertLess(time.monotonic() - begun, 20)
        self.assertLessEqual(path.read_text().count("\n"), 7)

    INTERVAL = 0.4

    def near(self, before, after):
        """How near a sample of `after` comes to the turns of those `before`, in intervals: 0 to 0.5."""
        turns = [abs((late - early) / self.INTERVAL % 1) for early in before for late in after]
        return min(min(turn, 1 - turn) for turn in turns)

    def test_deadlines_do_not_drift(self):
        """A sample that is late, since the program was stopped, does not move those behind it."""
        path = self.folder / "a.csv"
        program = self.begin(path, interval=f"{self.INTERVAL}s")

        def times(count):
            def taken():
                lines = path.read_text().splitlines()[1:] if path.exists() else []
                return [float(line.split(",")[0]) for line in lines]
            wait_until(lambda: len(taken()) >= count, f"{count} samples", seconds=120)
            return taken()

        before = times(5)
        time.sleep(self.INTERVAL / 4)
        program.send_signal(signal.SIGSTOP)
        time.sleep(1.25 * self.INTERVAL)  # beyond a deadline, by half an interval
        program.send_signal(signal.SIGCONT)
        late = len(before) + 2  # one may have come before the stop
        after = times(late + 12)[late:]
        self.assertLess(self.near(before, after), 0.15)
        # Had the wait begun again behind the late one, none of them would be near.
        moved = [at + self.INTERVAL / 2 for at in before]
        self.assertGreater(self.near(before[:1], moved[:1]), 0.15)

    @unittest.skipIf(SANITIZED, "a sanitizer keeps what was freed")
    def test_memory_stays_where_it_is(self):
        path = self.folder / "a.db"
        program = self.begin(path, interval="10ms")

        def resident():
            for line in pathlib.Path(f"/proc/{program.pid}/status").read_text().splitlines():
                if line.startswith("VmRSS"):
                    return int(line.split()[1])
            return 0

        wait_until(lambda: path.exists() and self.rows(path) >= 100, "a hundred samples")
        before = resident()
        wait_until(lambda: self.rows(path) >= 300, "three hundred samples", seconds=120)
        self.assertLess(resident() - before, 4096)


@unittest.skipUnless(SQLITE, "built without SQLite")
class Mistakes(Recordings):
    def refused(self, code, part, *arguments):
        result = vitals("record", *arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn(part, result.stderr)
        self.assertEqual(result.stdout, "")

    def test_usage(self):
        path = self.folder / "a.db"
        for interval in ("0", "-1", "nan", "9ms"):
            self.refused(2, "interval", "--interval", interval, path)
        self.refused(2, "no such format", "--format", "parquet", path)
        self.refused(2, "ending", self.folder / "a.parquet")
        self.refused(2, "one file", path, self.folder / "b.db")
        self.refused(2, "--rotate", "--rotate", "soon", path)
        self.refused(2, "standard output", "--format", "vitals")
        self.refused(2, "cannot hold processes", "--processes", self.folder / "a.csv")
        self.refused(2, "cannot hold processes", "--processes")
        self.refused(2, "brand", "--brand", "voodoo", path)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_nothing_is_made_behind_a_link(self):
        """Another user may have made it, in a folder for all."""
        for name in ("a.csv", "a.db"):
            link, target = self.folder / name, self.folder / "elsewhere"
            link.symlink_to(target)
            self.refused(1, "No such file or directory", link)
            self.assertFalse(target.exists())

    def test_a_file_that_is_there_is_kept(self):
        path = self.record("a.db")
        before = path.read_bytes()
        self.refused(2, "exists and is not empty; --overwrite replaces it", path)
        self.assertEqual(path.read_bytes(), before)
        self.record("a.db", "--overwrite")

    def test_a_place_that_is_not_there(self):
        self.refused(1, "No such file", self.folder / "no" / "a.db")
        self.refused(1, "No such file", self.folder / "no" / "a.csv")

    def test_what_holds_no_snapshots_says_so(self):
        path = self.folder / "a.db"
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE x(y)")
        result = vitals("-1", "--from", path)
        self.assertEqual(result.returncode, 1)
        self.assertIn("no snapshots", result.stderr)


if __name__ == "__main__":
    unittest.main()
