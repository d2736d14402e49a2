"""Recordings of `vitals run` and `vitals track`: rotated, one for each of several runs, and places
where none can stand."""

import json
import os
import pathlib
import pwd
import sqlite3
import subprocess
import sys
import tempfile
import unittest

from harness import VITALS, environment, vitals, wait_until


class Recordings(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def parts(self, name):
        return sorted(
            (path.name for path in self.folder.glob(f"{name}.[0-9]*") if path.suffix != ".json"),
            key=lambda part: int(part.rsplit(".", 1)[1]),
        )

    def refused(self, code, *arguments, words=""):
        done = vitals(*arguments)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertIn(words, done.stderr)

    # ---- rotation ----

    def test_a_run_rotates_its_recording(self):
        path = self.folder / "a.csv"
        done = vitals("run", "-q", "--interval", "10ms", "--record", path, "--rotate", "8KiB",
                      "--keep", 2, "--", "sh", "-c",
                      f"while [ ! -e {self.folder}/a.csv.4 ]; do sleep 0.05; done", timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        parts = self.parts("a.csv")
        self.assertEqual(len(parts), 2, "what is older is removed")
        self.assertGreaterEqual(int(parts[-1].rsplit(".", 1)[1]), 4)
        for name in ["a.csv", *parts]:
            self.assertTrue((self.folder / name).read_text().startswith("time,"), name)
        report = vitals("report", path, "--json")
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertEqual(json.loads(report.stdout)["exit_code"], 0)

    def test_a_tracked_process_too(self):
        worker = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.stdin.close)
        path = self.folder / "t.db"
        track = subprocess.Popen(
            [VITALS, "track", "-q", "--interval", "10ms", "--record", path, "--rotate", "16KiB",
             str(worker.pid)], env=environment(), stderr=subprocess.PIPE, text=True)
        self.addCleanup(track.kill)
        wait_until(lambda: self.parts("t.db"), "an older part", seconds=60)
        worker.stdin.write(b"\n")
        worker.stdin.flush()
        self.assertEqual((track.communicate(timeout=60)[1], track.returncode), ("", 0))

    def test_rotation_without_a_recording_and_without_sense(self):
        path = self.folder / "a.db"
        self.refused(2, "run", "--rotate", "1h", "--", "true", words="--record")
        self.refused(2, "run", "--record", path, "--keep", 2, "--", "true", words="--rotate")
        for word in ("soon", "0", "1KiB", "-1h", "100ms"):
            self.refused(2, "run", "--record", path, f"--rotate={word}", "--", "true",
                         words="--rotate")
        self.refused(2, "track", "--record", path, "--rotate", "soon", os.getpid(),
                     words="--rotate")
        self.assertFalse(path.exists())

    @unittest.skipUnless("SQLite" in vitals("--version").stdout, "built without SQLite")
    def test_its_snapshots_have_users_and_states(self):
        path = self.folder / "a.db"
        done = vitals("run", "-q", "--interval", "50ms", "--record", path, "--", "sleep", "1")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = [row for line in vitals("--json", "--from", path).stdout.splitlines()
                for row in json.loads(line)["tables"].get("process", [])]
        seen = {(row["name"], row["user"], row["state"]) for row in rows}
        self.assertIn(("sleep", pwd.getpwuid(os.getuid()).pw_name, "sleeping"), seen)

    # ---- one for each run ----

    def test_sqlite_reads_its_schema_few_times_however_many_columns_there_are(self):
        """It is parsed anew after each change, which its header counts."""
        if "sqlite" not in vitals("--version").stdout.lower():
            self.skipTest("this build has no SQLite")
        path = self.folder / "a.db"
        done = vitals("run", "-q", "--record", path, "--", "true")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        changes = int.from_bytes(path.read_bytes()[40:44], "big")
        database = sqlite3.connect(path)
        self.addCleanup(database.close)
        ((tables,),) = database.execute("SELECT count(*) FROM sqlite_master WHERE sql IS NOT NULL")
        ((series,),) = database.execute("SELECT count(*) FROM series")
        self.assertGreater(series, 2 * tables)
        self.assertLessEqual(changes, tables + 4)  # one is dropped and made anew

    def test_each_of_several_runs_has_its_own(self):
        path = self.folder / "b.db"
        done = vitals("run", "-q", "--repeat", 3, "--record", path, "--", "sleep", "0.05")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        names = sorted(item.name for item in self.folder.iterdir())
        self.assertEqual(names, ["b.1.db", "b.2.db", "b.3.db"])
        compared = vitals("compare", *(self.folder / name for name in names[:1]), "vs",
                          *(self.folder / name for name in names[1:]))
        self.assertEqual(compared.returncode, 0, compared.stderr)

    def test_a_run_that_fails_has_recorded_why(self):
        path = self.folder / "bare"
        count = self.folder / "count"
        script = f'echo x >>{count}; [ "$(wc -l <{count})" -lt 2 ]'
        done = vitals("run", "-q", "--repeat", 3, "--record", path, "--format", "vitals-csv",
                      "--", "sh", "-c", script)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("run 2 of 3 failed", done.stderr)
        self.assertEqual(len(count.read_text().splitlines()), 2)
        report = vitals("report", f"{path}.2", "--json")
        self.assertEqual(json.loads(report.stdout)["exit_code"], 1, report.stderr)
        self.assertFalse(pathlib.Path(f"{path}.3").exists())

    def test_none_runs_where_one_could_not_be_recorded(self):
        path, ran = self.folder / "c.db", self.folder / "ran"
        (self.folder / "c.3.db").write_text("mine\n")
        command = ("run", "-q", "--repeat", 3, "--record", path, "--", "touch", ran)
        self.refused(125, *command, words="c.3.db")
        self.assertFalse(ran.exists())
        self.assertEqual((self.folder / "c.3.db").read_text(), "mine\n")
        done = vitals(*command[:1], "--overwrite", *command[1:])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotEqual((self.folder / "c.3.db").read_bytes()[:5], b"mine\n")

    def test_what_is_in_the_way_has_its_way_out(self):
        path, ran = self.folder / "c.csv", self.folder / "ran"
        path.write_text("mine\n")
        self.refused(125, "run", "-q", "--record", path, "--", "touch", ran,
                     words="c.csv: exists and is not empty; --overwrite replaces it; the command was not run")
        self.refused(1, "track", "-q", "--record", path, os.getpid(),
                     words="c.csv: exists and is not empty; --overwrite replaces it")
        self.assertEqual((ran.exists(), path.read_text()), (False, "mine\n"))

    # ---- places ----

    def test_places_where_no_recording_can_stand(self):
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        for place in (fifo, self.folder, "/dev/null", "/dev/stdout", "/dev/fd/1"):
            for command in (("run", "--record", place, "--", "true"),
                            ("track", "--record", place, os.getpid()),
                            ("record", "--count", 1, place)):
                with self.subTest(command=command):
                    self.refused(2, *command, words="not a regular file")


if __name__ == "__main__":
    unittest.main()
