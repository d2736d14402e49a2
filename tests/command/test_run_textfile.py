"""`vitals run --textfile FILE`: what a run tells node_exporter's textfile collector, while it runs and of its end."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

from exposed import lint, needs_promtool, series
from harness import BUILD, VITALS, environment, reads_json
from tell_program import PATIENCE, Tell

TELL = BUILD / "tell"
ALWAYS = {"vitals_run_info", "vitals_run_start_time_seconds"}
COUNTED = {"vitals_run_cpu_seconds_total", "vitals_run_memory_peak_bytes"}
AT_THE_END = {"vitals_run_end_time_seconds", "vitals_run_exit_code"}
NEVER = 97  # a job's exit code where it was not told in time
OF_NOW = {"vitals_run_memory_bytes", "vitals_run_gpu_memory_bytes"}
# The demo's devices are those of the newest programs when it looks, once: nearly always the job's, if it starts no other.
TRIES = 4
WAITS_TO_BE_TOLD = """
import pathlib, sys, time
path, seen, never = sys.argv[1:]
end = time.monotonic() + %d
while time.monotonic() < end:
    text = pathlib.Path(path).read_text() if pathlib.Path(path).exists() else ""
    if "\\nvitals_run_memory_bytes" in text and "\\nvitals_run_gpu_memory_bytes" in text:
        pathlib.Path(seen).write_text(text)
        sys.exit(3)
    time.sleep(0.1)
sys.exit(int(never))
""" % (PATIENCE / 4)


def usage(*values):
    return json.dumps({"usage": {"realtime_ns": "5", "monotonic_ns": "5", "values": list(values)}})


@unittest.skipUnless(reads_json() and TELL.exists(), "built without JSON or what tells others")
class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "run.prom"

    def run_it(self, *command):
        account = self.path.with_name("account.json")
        done = subprocess.run(
            [VITALS, "--demo", "run", "--quiet", "--textfile", self.path, "--json", account, "--", *command],
            env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False)
        return done, json.loads(account.read_text()), series(self.path.read_text())

    def test_what_stands_there_while_it_runs_and_then(self):
        seen = self.path.with_name("seen")
        for _ in range(TRIES):
            done, account, told = self.run_it(sys.executable, "-c", WAITS_TO_BE_TOLD, self.path, seen, str(NEVER))
            if done.returncode != NEVER:
                break
        self.assertNotEqual(done.returncode, NEVER, "never told while it ran: " + self.path.read_text())
        self.assertEqual(done.returncode, 3, done.stderr)
        while_it_ran = series(seen.read_text())
        self.assertLessEqual(ALWAYS | COUNTED | OF_NOW, set(while_it_ran))
        self.assertEqual(AT_THE_END & set(while_it_ran), set())
        self.assertLessEqual(ALWAYS | COUNTED | AT_THE_END, set(told))
        self.assertEqual(OF_NOW & set(told), set())
        self.assertTrue(all(name.startswith("vitals_run_") for name in told), sorted(told))
        run, = (dict(labels)["run"] for labels in told["vitals_run_info"])
        self.assertTrue(all(dict(labels)["run"] == run for found in told.values() for labels in found))
        of = (("run", run),)
        self.assertEqual(told["vitals_run_exit_code"][of], 3)
        self.assertGreater(told["vitals_run_end_time_seconds"][of], told["vitals_run_start_time_seconds"][of])
        for name, before in while_it_ran.items():
            for labels, value in before.items() if name.endswith("_total") else ():
                self.assertGreaterEqual(told[name][labels], value)
        figures = {(figure["name"], figure.get("subject")): figure["value"] for figure in account["figures"]}
        self.assertGreaterEqual(told["vitals_run_cpu_seconds_total"][of], figures["cpu_seconds", None])
        for labels, joules in told["vitals_run_gpu_energy_joules_total"].items():
            self.assertAlmostEqual(joules, figures["gpu_energy_joules", dict(labels)["uuid"]], delta=1e-6 * joules)

    @needs_promtool
    def test_promtool_is_silent(self):
        done, _, _ = self.run_it("sleep", "0.5")
        self.assertEqual((done.returncode, lint(self.path.read_text())), (0, (0, "")))

    def test_a_file_that_cannot_be_written_harms_no_job(self):
        self.path = self.path.with_name("nowhere") / "run.prom"
        done = subprocess.run([VITALS, "run", "--quiet", "--textfile", self.path, "--", "sh", "-c", "exit 4"],
                              env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stderr, r"vitals: .*run\.prom: cannot be written: No such file or directory\n$")

    def test_a_file_that_the_collector_would_not_read_is_refused(self):
        for name in ("run.txt", "prom", "run.prom~"):
            path = self.path.with_name(name)
            for command in (["run", "--textfile", path, "--", "true"], ["serve", "--textfile", path]):
                done = subprocess.run([VITALS, *command], env=environment(), stdin=subprocess.DEVNULL, capture_output=True,
                                      text=True, timeout=PATIENCE, check=False)
                self.assertEqual((done.returncode, path.exists()), (2, False), done.stderr)
                self.assertIn("must end in .prom, or node_exporter does not read it", done.stderr)

    def test_what_is_no_plain_file_is_never_replaced(self):
        self.path.with_name("other").write_text("kept")
        def link():
            self.path.symlink_to("other")
        for make in (lambda: os.mkfifo(self.path), link):
            make()
            before = os.lstat(self.path)
            done = subprocess.run([VITALS, "run", "--quiet", "--textfile", self.path, "--", "true"], env=environment(),
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False)
            self.assertEqual(done.returncode, 0)
            self.assertIn("not a regular file", done.stderr)
            self.assertEqual(os.lstat(self.path).st_ino, before.st_ino)
            self.path.unlink()
        self.assertEqual(self.path.with_name("other").read_text(), "kept")

    def test_the_account_says_when_it_was(self):
        told = self.fed('{"account":{"attributes":{"started_ns":"2000000000"},"exit_code":0,"figures":'
                        '[{"name":"wall_seconds","value":1.5,"availability":"have"}]},'
                        '"status":{"state":"exited","code":0,"signal":0}}')
        values = {name: sorted(found.values()) for name, found in told.items()}
        self.assertEqual((values["vitals_run_start_time_seconds"], values["vitals_run_end_time_seconds"]), ([2], [3.5]))
        info, = told["vitals_run_info"]
        self.assertRegex(dict(info)["run"], r"^1000000000-\d+$")

    def test_of_one_whose_measurer_was_killed_the_end_is_told_and_no_code(self):
        told = self.fed(usage(["tree", "", "cpu_seconds", "have", 7], ["tree", "", "memory_resident_bytes", "have", 9]))
        self.assertEqual(list(told["vitals_run_cpu_seconds_total"].values()), [7])
        self.assertIn("vitals_run_end_time_seconds", told)
        self.assertEqual({"vitals_run_exit_code", "vitals_run_memory_bytes"} & set(told), set())

    def test_nothing_of_it_stays_beside(self):
        self.fed(usage())
        self.assertEqual([path.name for path in self.path.parent.iterdir()], [self.path.name])

    def test_a_recording_of_the_machine_writes_none(self):
        done = subprocess.run([VITALS, "record", "--textfile", self.path], env=environment(), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual((done.returncode, self.path.exists()), (2, False))
        self.assertIn("--textfile does not go with vitals record", done.stderr)

    def fed(self, *lines):
        """What the file holds once all of them have come."""
        with Tell(patience_seconds=PATIENCE, textfile={"path": str(self.path)},
                  job={"name": 'a"b\n\\', "user": "x\x1b", "pid": 5, "started_ns": "1000000000"}) as tell:
            for line in lines:
                tell.write(line)
            tell.end()
        return series(self.path.read_text())

    def test_counters_never_fall_and_what_is_missing_is_not_there(self):
        told = self.fed(usage(["tree", "", "cpu_seconds", "have", 7], ["gpu", "G", "gpu_busy_seconds", "have", 2]),
                        usage(["tree", "", "cpu_seconds", "have", 6], ["tree", "", "disk_read_bytes", "denied", None],
                              ["gpu", "G", "gpu_busy_seconds", "gone", None], ["gpu", "H", "gpu_busy_seconds", "have", 0]),
                        '{"account":{"figures":[{"name":"cpu_seconds","value":1,"availability":"have"},'
                        '{"name":"cpu_seconds","subject":"root","value":99,"availability":"have"},'
                        '{"name":"gpu_busy_seconds","subject":"system","value":99,"availability":"have"},'
                        '{"name":"disk_written_bytes","value":null,"availability":"denied"}],"exit_code":0},'
                        '"status":{"state":"unknown","code":0,"signal":0}}')
        values = {name: sorted(found.values()) for name, found in told.items()}
        self.assertEqual(values["vitals_run_cpu_seconds_total"], [7])
        self.assertEqual(values["vitals_run_gpu_busy_seconds_total"], [2])
        self.assertNotIn("vitals_run_read_bytes_total", values)
        self.assertNotIn("vitals_run_written_bytes_total", values)
        self.assertNotIn("vitals_run_exit_code", values)  # nobody saw how it ended
        self.assertIn("vitals_run_end_time_seconds", values)

    def test_whatever_comes_the_text_is_right(self):
        lines = [usage(["gpu", 'q"\n', "gpu_memory_bytes", "have", 1e30], ["gpu", None, 3, {}, []]),
                 '{"usage":{"values":{}}}', '{"usage":7}', '{"account":[],"status":[]}',
                 '{"account":{"figures":[7,{"name":3},{"name":"cpu_seconds","value":-4,"availability":"have"},'
                 '{"name":"gpu_busy_seconds","subject":"x","value":1e309,"availability":"have"}]}}']
        told = self.fed(*lines)
        info, = told["vitals_run_info"]
        self.assertEqual(dict(info)["name"], 'a\\"b\\n\\\\')
        self.assertNotIn(b"\x1b", self.path.read_bytes())

    def test_it_does_not_tell_what_serve_tells(self):
        """An environment made for the service writes no file of each run."""
        done = subprocess.run([VITALS, "run", "--quiet", "--", "true"],
                              env=environment(VITALS_TEXTFILE=str(self.path)), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual((done.returncode, done.stderr, self.path.exists()), (0, "", False))


if __name__ == "__main__":
    unittest.main()
