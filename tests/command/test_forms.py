"""Forms of what is measured: lines on standard output of track, headers, what a form cannot tell,
files of which nothing is left. On Linux, with processes of our own."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from harness import SOURCE, VITALS, environment, vitals

PROCESS = '"timestamp","pid","children","utime"'


class Forms(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def sleeper(self, seconds):
        process = subprocess.Popen(["sleep", str(seconds)])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def track(self, *arguments, seconds=1.5):
        """What is said of a process that ends by itself."""
        process = self.sleeper(seconds)
        tracker = subprocess.Popen([VITALS, "track", "--quiet", "--interval", "100ms", *arguments,
                                    str(process.pid)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True,
                                   env=environment())
        process.wait(60)
        out, err = tracker.communicate(timeout=60)
        return process.pid, tracker.returncode, out.splitlines(), err

    def test_track_writes_a_form_to_standard_output(self):
        pid, code, lines, err = self.track("--format", "resource-tracker")
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(lines[0].startswith(PROCESS), lines[0])
        self.assertGreater(len(lines), 1)
        self.assertEqual({line.split(",")[1] for line in lines[1:]}, {str(pid)})

    def test_track_without_a_header(self):
        pid, code, lines, _ = self.track("--format", "resource-tracker-process", "--no-header")
        self.assertEqual(code, 0)
        self.assertEqual({line.split(",")[1] for line in lines}, {str(pid)})

    def test_track_writes_other_subjects_too(self):
        for form, columns in (("system", 21), ("combined", 32)):
            with self.subTest(form=form):
                _, code, lines, _ = self.track("--format", f"resource-tracker-{form}")
                self.assertEqual(code, 0)
                self.assertEqual({len(line.split(",")) for line in lines}, {columns})

    def test_a_dash_is_standard_output_for_track(self):
        _, code, lines, _ = self.track("--record", "-")
        self.assertEqual(code, 0)
        self.assertEqual(lines[0].split(",")[0], "time")
        self.assertGreater(len(lines), 1)
        pid, code, lines, _ = self.track("--json", "-", seconds=0.3)
        self.assertEqual(code, 0)
        self.assertIn("figures", json.loads("\n".join(lines)))

    def test_a_dash_is_standard_input_for_phases(self):
        recording = self.folder / "tracking.csv"
        vitals("run", "-q", "--interval", "50ms", "--record", recording, "--format", "gpu-tracker", "--",
               VITALS, "mark", "work", "--", "sleep", "0.3")
        beside = self.folder / "tracking.sub.csv"
        phases = beside.read_text()
        beside.unlink()
        done = vitals("report", "--phases", recording, "--phases-from", "-", stdin=None, input=phases)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("work", done.stdout)

    def test_track_ends_when_nobody_reads(self):
        process = self.sleeper(600)
        tracker = subprocess.Popen([VITALS, "track", "--quiet", "--interval", "50ms", "--format",
                                    "resource-tracker", str(process.pid)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True,
                                   env=environment())
        tracker.stdout.readline()
        tracker.stdout.close()
        self.assertEqual(tracker.wait(60), 0)
        self.assertEqual(tracker.stderr.read(), "")
        tracker.stderr.close()
        self.assertIsNone(process.poll())

    def test_what_cannot_go_to_standard_output_is_refused(self):
        me = str(os.getpid())
        for arguments in (["track", "--format", "vitals", me], ["track", "--no-header", me],
                          ["run", "--no-header", "--", "true"],
                          ["run", "--record", "-", "--rotate", "1h", "--", "echo", "it ran"],
                          ["run", "--record", "-", "--repeat", "2", "--", "echo", "it ran"],
                          ["track", "--record", "-", "--rotate", "1h", me]):
            with self.subTest(arguments=arguments):
                done = vitals(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))

    def test_sqlite_cannot_go_to_standard_output(self):
        me = str(os.getpid())
        for arguments in (["run", "--record", "-", "--format", "vitals", "--", "echo", "it ran"],
                          ["track", "--record", "-", "--format", "vitals", me],
                          ["record", "--format", "vitals", "-"], ["record", "--format", "vitals"]):
            with self.subTest(arguments=arguments):
                done = vitals(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn("standard output: cannot hold the format vitals; use --format vitals-csv",
                              done.stderr)

    def test_two_forms_do_not_go_to_standard_output(self):
        me = str(os.getpid())
        for arguments, first in ((["run", "--record", "-", "--json", "-", "--", "echo", "it ran"], "--record -"),
                                 (["track", "--record", "-", "--json", "-", me], "--record -"),
                                 (["track", "--format", "vitals-csv", "--json", "-", me],
                                  "--format without --record")):
            with self.subTest(arguments=arguments):
                done = vitals(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(f"{first} and --json - both write to standard output; name a file for one\n",
                              done.stderr)

    def test_a_run_records_to_standard_output(self):
        """Between what the command itself writes there. Also where others are told,
        which takes a descriptor of its own."""
        for told in ([], ["--tensorboard", str(self.folder / "events")]):
            with self.subTest(told=told):
                done = vitals("run", "-q", "--interval", "50ms", "--record", "-", "--json", "account", *told,
                              "--", "sh", "-c", "echo first; sleep 0.5; echo last", cwd=self.folder)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                account = json.loads((self.folder / "account").read_text())
                self.assertEqual(account["command"][:2], ["sh", "-c"])
                lines = done.stdout.splitlines()
                rows = [line for line in lines if line not in ("first", "last")]
                self.assertEqual(len(lines) - len(rows), 2)
                self.assertEqual(rows[0].split(",")[:2], ["time", "mark"])
                self.assertGreater(len(rows), 3)
                self.assertEqual({line.count(",") for line in rows}, {rows[0].count(",")})
                self.assertFalse((self.folder / "-").exists())

    def test_a_run_whose_recording_nobody_reads_goes_on(self):
        mark = self.folder / "went-on"
        run = subprocess.Popen([VITALS, "run", "-q", "--interval", "50ms", "--record", "-", "--", "sh", "-c",
                                f"exec >&-; read go; sleep 0.3; touch {mark}"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
        self.assertTrue(run.stdout.readline().startswith("time,"))
        run.stdout.close()
        _, said = run.communicate("go\n", timeout=60)
        self.assertEqual((run.returncode, said),
                         (0, "vitals: recording stopped: standard output: Broken pipe\n"))
        self.assertTrue(mark.exists())

    def test_a_dash_is_a_stream_wherever_a_file_is_named(self):
        """What "-" is for each option that names a file. None: it is tried by another test."""
        me, account = str(os.getpid()), vitals("run", "-q", "--json", "-", "--", "true").stdout
        table = vitals("record", "--count", "2", "--interval", "20ms", "-").stdout
        snapshot = vitals("--json", "--demo", "--delay", "0").stdout
        out, said = "prints", "refused"
        dashes = {
            ("vitals", "from"): (["--from", "-", "--json"], out, snapshot),
            ("vitals", "layout"): (["--layout", "-", "--screen", "80x24"], said, ""),
            ("run", "json"): (["run", "-q", "--json", "-", "--", "true"], out, ""),
            ("run", "record"): (["run", "-q", "--record", "-", "--", "true"], out, ""),
            ("run", "backup"): (["run", "--backup", "-", "--", "echo", "it ran"], said, ""),
            ("run", "textfile"): (["run", "--textfile", "-", "--", "echo", "it ran"], said, ""),
            ("track", "backup"): (["track", "--backup", "-", me], said, ""),
            ("track", "textfile"): (["track", "--textfile", "-", me], said, ""),
            ("track", "json"): None,
            ("track", "record"): None,
            ("record", "output"): (["record", "-o", "-", "--count", "1"], out, ""),
            ("replay", "layout"): (["replay", "--layout", "-", "x.db"], said, ""),
            ("ps", "from"): (["ps", "--from", "-"], out, snapshot),
            ("device", "from"): (["device", "--from", "-"], out, snapshot),
            ("topo", "from"): (["topo", "--from", "-"], out, snapshot),
            ("doctor", "from"): (["doctor", "--from", "-"], out,
                                 vitals("doctor", "--demo", "--json").stdout),
            ("report", "html"): (["report", "-", "--html", "-"], out, account),
            ("report", "FILE"): (["report", "-"], out, table),
            ("report", "phases-from"): None,
            **{(command, option): ([*([command] if command != "vitals" else []), "--hosts", "a", f"--{option}", "-"],
                                   said, "")
               for command in ("vitals", "top", "select") for option in ("netrc", "ca-file")},
            ("serve", "web-config"): (["serve", "--web-config", "-"], said, ""),
            ("serve", "textfile"): (["serve", "--textfile", "-"], said, ""),
            ("Every command", "config"): (["options", "--settings", "--config", "-"], out, '{"interval": 7}'),
        }
        command, found = None, set()
        for line in (SOURCE / "docs" / "options.md").read_text().splitlines():
            if line.startswith("## "):
                command = line[3:]
            option = re.search(r"`--([a-z-]+) FILE`", line)
            if option is not None:
                found.add((command, option[1]))
        self.assertEqual(found, {key for key in dashes if key[1] != "FILE"})
        for key, tried in dashes.items():
            if tried is None:
                continue
            arguments, expected, given = tried
            with self.subTest(key):
                done = vitals(*arguments, stdin=None, input=given, cwd=self.folder)
                if expected == out:
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertNotEqual(done.stdout, "")
                else:
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertIn(f"--{key[1]} -: name a file", done.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_an_ending_that_tells_no_format_is_bad_usage(self):
        done = vitals("run", "--record", str(self.folder / "x.foo"), "--", "echo", "it ran")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("x.foo", done.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_recording_of_a_run_without_a_header(self):
        path = self.folder / "run.csv"
        done = vitals("run", "--quiet", "--no-header", "--interval", "100ms", "--record", str(path),
                      "--format", "resource-tracker-process", "--", sys.executable, "-c",
                      "import os, time; print(os.getpid()); time.sleep(1)")
        self.assertEqual(done.returncode, 0)
        lines = path.read_text().splitlines()
        self.assertGreater(len(lines), 1)
        self.assertEqual({line.split(",")[1] for line in lines}, {done.stdout.strip()})

    def test_a_machine_is_no_process(self):
        for form in ("resource-tracker-process", "resource-tracker-0.1-process",
                     "resource-tracker-combined"):
            with self.subTest(form=form):
                done = vitals("record", "--count", "1", "--format", form)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(form, done.stderr)
        done = vitals("record", "--count", "2", "--interval", "50ms", "--format",
                      "resource-tracker-system")
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 2))

    def test_a_file_of_which_nothing_is_left_is_an_error(self):
        whole, cut = self.folder / "whole.db", self.folder / "cut.db"
        done = vitals("record", "--count", "2", "--interval", "50ms", str(whole))
        self.assertEqual(done.returncode, 0)
        cut.write_bytes(whole.read_bytes()[:3000])
        done = vitals("report", str(cut))
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("sqlite3 FILE .recover", done.stderr)
        self.assertEqual(vitals("report", str(whole)).returncode, 0)

    def test_sub_tracking_files_have_any_name(self):
        """gpu_tracker gives each process one, by its pid."""
        gigabytes = ("gigabytes,gigabytes,hours,25.0,0.0,2,2,0,0",
                     ",".join(["0.5"] * 21))
        titles = ("ram_unit,gpu_ram_unit,time_unit,ram_system_capacity,gpu_ram_system_capacity,"
                  "system_core_count,n_expected_cores,system_gpu_count,n_expected_gpus",
                  "main_ram,descendants_ram,combined_ram,system_ram,main_gpu_ram,"
                  "descendants_gpu_ram,combined_gpu_ram,system_gpu_ram,gpu_sum_utilization_percent,"
                  "gpu_hardware_utilization_percent,main_n_threads,descendants_n_threads,"
                  "combined_n_threads,cpu_system_sum_utilization_percent,"
                  "cpu_system_hardware_utilization_percent,cpu_main_sum_utilization_percent,"
                  "cpu_main_hardware_utilization_percent,cpu_descendants_sum_utilization_percent,"
                  "cpu_descendants_hardware_utilization_percent,"
                  "cpu_combined_sum_utilization_percent,"
                  "cpu_combined_hardware_utilization_percent,timestamp")
        tracking = self.folder / "gt.csv"
        rows = [titles[0], gigabytes[0], titles[1]]
        rows += [f"{gigabytes[1]},{1000 + second}" for second in range(5)]
        tracking.write_text("\n".join(rows) + "\n")
        head = "process_id,code_block_name,position,timestamp\n"
        for pid, name in ((71, "load"), (72, "train")):
            (self.folder / f"{pid}.csv").write_text(
                f"{head}{pid},{name},0,1000.5\n{pid},{name},1,1002.5\n")
        done = vitals("report", "--phases", "--json", tracking)
        self.assertEqual(json.loads(done.stdout)["phases"], [])
        done = vitals("report", tracking, "--phases", "--json", "--phases-from",
                      f"{self.folder}/71.csv,{self.folder}/72.csv")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([phase["name"] for phase in json.loads(done.stdout)["phases"]],
                         ["load", "train"])
        for wrong in (str(tracking), str(self.folder / "nothing.csv")):
            done = vitals("report", tracking, "--phases", "--phases-from", wrong)
            self.assertEqual((done.returncode, done.stdout), (1, ""), wrong)
            self.assertIn(wrong, done.stderr)

    def test_gpu_trackers_text_has_no_code_blocks(self):
        whole = self.folder / "whole.db"
        self.assertEqual(vitals("record", "--count", "1", str(whole)).returncode, 0)
        done = vitals("report", "--phases", "--format", "gpu-tracker-text", str(whole))
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("cannot show phases", done.stderr)


if __name__ == "__main__":
    unittest.main()
