"""Exports by the package: to the real MLflow where its environment is (VITALS_SERVERS_PYTHON), to TensorBoard's
files and to a program that stands in for the exporter."""

import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

sys.path.append(str(pathlib.Path(__file__).parents[2] / "tests/command"))

import vitals
from mlflow_server import MlflowServer, needs_servers

DEMO = vitals.Context(demo="default")


def tags(folder):
    """The records of the files for TensorBoard in a folder: as many as there are, and all their bytes."""
    records, names = 0, b""
    for path in pathlib.Path(folder).glob("events.out.tfevents.*"):
        data = path.read_bytes()
        at = 0
        while at < len(data):
            (size,) = struct.unpack_from("<Q", data, at)
            names += data[at + 12:at + 12 + size]
            at += 12 + size + 4
            records += 1
    return records, names


class Case(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory(prefix="vitals-export-")
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        for name in [name for name in os.environ if name.startswith("MLFLOW_")]:
            self.addCleanup(os.environ.__setitem__, name, os.environ.pop(name))

    def program(self, script):
        """A script in the place of the exporter, which keeps what it is told in `told`."""
        path = self.folder / "tell"
        path.write_text(f"#!/bin/sh\ncd {self.folder}\n{script}\n")
        path.chmod(0o755)
        os.environ["VITALS_TELL"] = str(path)
        self.addCleanup(os.environ.pop, "VITALS_TELL", None)

    def told(self):
        return [json.loads(line) for line in (self.folder / "told").read_text().splitlines() if line]


class Files(Case):
    def test_a_command(self):
        account = vitals.run(["sh", "-c", "sleep 0.5; exit 4"], interval=0.1, tensorboard=self.folder / "runs")
        self.assertEqual(account.exit_code, 4)
        records, names = tags(self.folder / "runs")
        self.assertGreater(records, 2)
        self.assertIn(b"vitals/memory_resident_GiB", names)
        self.assertIn(b"account", names)

    def test_a_block_and_its_recording(self):
        path = self.folder / "run.csv"
        with vitals.account(interval=0.05, tensorboard=str(self.folder / "runs"), record=path) as used:
            self.assertIsNotNone(used.exporter)
            time.sleep(0.3)
        self.assertIsNone(used.exporter)
        records, names = tags(self.folder / "runs")
        self.assertIn(b"vitals/cpu_cores", names)
        self.assertGreaterEqual(records, len(vitals.Recording(path).seconds))

    def test_samples_of_the_machine(self):
        with vitals.Exporter(tensorboard=self.folder / "runs", interval=0.1) as exporter:
            sampler = exporter.sampler(context=DEMO)
            for _ in range(3):
                self.assertTrue(exporter.sample(sampler.take()))
                time.sleep(0.02)
            self.assertTrue(exporter.wait(60))
            self.assertEqual(exporter.state, {"tensorboard": "works"})
        records, names = tags(self.folder / "runs")
        self.assertIn(b"system/memory_used_GiB", names)
        self.assertIn(b"gpu_0/power_watts", names)
        self.assertGreaterEqual(records, 3)
        with self.assertRaises(vitals.VitalsError):
            exporter.sample(sampler.take())

    def test_a_file_for_node_exporter(self):
        path = self.folder / "job.prom"
        vitals.run(["true"], textfile=path)
        self.assertIn("vitals_run_exit_code", path.read_text())


class Programs(Case):
    def test_what_the_exporter_is_told(self):
        self.program("cat > told; echo '{\"done\":true}'")
        account = vitals.run(["sh", "-c", "echo $SECRET > /dev/null"], mlflow={
            "uri": "http://127.0.0.1:9", "run_id": "4711", "interval": 2.5, "unsent": None}, otlp="http://127.0.0.1:8",
            export={"timeout": 1.0, "expected_cores": 2})
        self.assertEqual(account.exit_code, 0)
        first, *_, = told = self.told()
        self.assertEqual(first["mlflow"], {"uri": "http://127.0.0.1:9", "run_id": "4711", "prefix": "system/process/",
                                           "interval_seconds": 2.5, "samples": 1})
        self.assertEqual(first["otlp"], {"endpoint": "http://127.0.0.1:8"})
        self.assertEqual((first["job"]["argv"], first["job"]["name"]), ([], "sh"))
        self.assertEqual((first["program"], first["job"]["expected_cores"]), ("run", 2))
        self.assertIn("usage", told[2])
        (end,) = [line for line in told if "account" in line]
        self.assertEqual(end["status"], {"state": "exited", "code": 0, "signal": 0})
        self.assertNotIn("SECRET", json.dumps(told))

    def test_a_command_finds_its_run(self):
        self.program("echo '{\"opened\":\"mlflow\",\"run_id\":\"4711\",\"url\":\"http://there/4711\"}'; "
                     "cat > told; echo '{\"done\":true}'")
        out = self.folder / "seen"
        command = ["sh", "-c", f"echo $MLFLOW_TRACKING_URI $MLFLOW_RUN_ID $MLFLOW_EXPERIMENT_NAME > {out}"]
        vitals.run(command, mlflow={"uri": "http://127.0.0.1:9", "experiment": "mine"})
        self.assertEqual(out.read_text(), "http://127.0.0.1:9 4711 mine\n")
        os.environ["MLFLOW_TRACKING_URI"] = "http://127.0.0.1:7"
        self.addCleanup(os.environ.pop, "MLFLOW_TRACKING_URI")
        vitals.run(command, mlflow=True)
        self.assertEqual(out.read_text(), "http://127.0.0.1:7 4711\n")

    def test_a_command_without_a_run_continues_no_other_one(self):
        self.program("cat > told; echo '{\"done\":true}'")
        out = self.folder / "seen"
        os.environ["MLFLOW_RUN_ID"] = "4712"
        self.addCleanup(os.environ.pop, "MLFLOW_RUN_ID")
        with self.assertWarnsRegex(RuntimeWarning, "without MLFLOW_RUN_ID"):
            vitals.run(["sh", "-c", f"echo $MLFLOW_TRACKING_URI $MLFLOW_RUN_ID $MLFLOW_EXPERIMENT_NAME > {out}"],
                       mlflow={"uri": "http://127.0.0.1:9", "experiment": "mine", "new_run": True},
                       export={"timeout": 0.5})
        self.assertEqual(out.read_text(), "http://127.0.0.1:9 mine\n")

    def test_what_is_not_sent_is_a_warning_and_no_failure_of_the_run(self):
        for script, what in (("exit 3", "exporter ended"), ("exec sleep 30", "not done in time"),
                             ("cat > /dev/null; echo '{\"say\":\"7 are lost\",\"lost\":\"yes\"}'; echo '{\"done\":true}'",
                              "7 are lost")):
            with self.subTest(what), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                self.program(script)
                account = vitals.run(["sh", "-c", "exit 5"], tensorboard="x", export={"timeout": 1.0 if "sleep" in script else 60})
                self.assertEqual(account.exit_code, 5)
                self.assertTrue([one for one in caught if what in str(one.message)], [str(one.message) for one in caught])

    def test_a_mistake_is_raised_before_anything_begins(self):
        out = self.folder / "seen"
        for options in ({"mlflow": "sqlite:///x.db"}, {"otlp": "grpc://x"}, {"textfile": "x.txt"}, {"tensorboard": ""}):
            with self.subTest(options), self.assertRaises(vitals.ArgumentError):
                vitals.run(["touch", str(out)], **options)
        with self.assertRaises(TypeError):
            vitals.run(["touch", str(out)], mlflow={"url": "http://x"})
        os.environ["VITALS_TELL"] = "/nowhere/tell"
        self.addCleanup(os.environ.pop, "VITALS_TELL")
        with self.assertRaises(vitals.GoneError):
            vitals.run(["touch", str(out)], tensorboard=self.folder)
        self.assertFalse(out.exists())

    def test_a_forked_child_leaves_it_alone(self):
        self.program("cat > told.part; mv told.part told; echo '{\"done\":true}'")
        with vitals.Exporter(tensorboard="x") as exporter:
            child = os.fork()
            if child == 0:
                try:
                    exporter.close()
                except vitals.ArgumentError:
                    os._exit(7)
                os._exit(1)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)
            self.assertTrue(exporter.sample(exporter.sampler(context=DEMO).take()))
        self.assertTrue([line for line in self.told() if "usage" in line])


@needs_servers
class RealMlflow(Case):
    @classmethod
    def setUpClass(cls):
        cls.server = MlflowServer()
        cls.addClassCleanup(cls.server.done)
        cls.server.start()

    def test_a_command(self):
        seen, enough = self.folder / "seen", self.folder / "enough"

        def wait_for_two_points():
            end = time.monotonic() + 120
            while time.monotonic() < end and not (seen.exists() and len(self.server.history(
                    seen.read_text().strip(), "system/process/memory_rss_megabytes")) >= 2):
                time.sleep(0.1)
            enough.touch()
        thread = threading.Thread(target=wait_for_two_points)
        thread.start()
        self.addCleanup(thread.join)
        account = vitals.run(["sh", "-c", f"echo $MLFLOW_RUN_ID > {seen}.part; mv {seen}.part {seen}; "
                              f"while [ ! -e {enough} ]; do sleep 0.1; done; exit 3"], interval=0.3, mlflow={
            "uri": self.server.url, "run_name": "first", "interval": 0.5, "unsent": self.folder}, export={"timeout": 60})
        run = self.server.run(seen.read_text().strip())
        metrics = {metric["key"]: metric["value"] for metric in run["data"]["metrics"]}
        self.assertEqual((run["info"]["status"], run["info"]["run_name"]), ("FAILED", "first"))
        self.assertEqual(metrics["system/run/wall_seconds"], account["wall_seconds"])
        self.assertGreaterEqual(len(self.server.history(run["info"]["run_id"], "system/process/memory_rss_megabytes")), 2)
        self.assertEqual(json.loads(self.server.artifact(run, "vitals/account.json"))["exit_code"], 3)
        self.assertIn(b"</html>", self.server.artifact(run, "vitals/report.html"))
        self.assertEqual(list(self.folder.glob("*.spool")), [])

    def test_a_block_in_a_run_that_goes_on(self):
        made = self.server.call("runs/create", {"experiment_id": "0", "run_name": "theirs"})["run"]["info"]["run_id"]
        with vitals.account(interval=0.2, mlflow={"uri": self.server.url, "run_id": made, "interval": 0.4},
                            export={"timeout": 60}) as used:
            self.assertTrue(used.exporter.wait(60))
            self.assertEqual((used.exporter.run_id, used.exporter.state), (made, {"mlflow": "works"}))
            sum(range(3_000_000))
            time.sleep(0.8)
        run = self.server.run(made)
        metrics = {metric["key"]: metric["value"] for metric in run["data"]["metrics"]}
        self.assertEqual((run["info"]["status"], run["info"]["run_name"]), ("RUNNING", "theirs"))
        self.assertEqual(metrics["system/run/cpu_seconds"], used["cpu_seconds"])
        self.assertIn("system/process/num_threads", metrics)

    def program_with_mlflow(self, code):
        """The runs of which a program prints the ids. It has the Python with MLflow, and this package on its path."""
        package = pathlib.Path(vitals.__file__).parents[1]
        begin = f"""
import sys
import mlflow
sys.path.append({str(package)!r})
import vitals
mlflow.set_tracking_uri({self.server.url!r})
"""
        done = subprocess.run([os.environ["VITALS_SERVERS_PYTHON"], "-c", begin + code], capture_output=True, text=True,
                              env={**os.environ, "HOME": str(self.folder)}, timeout=240, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [self.server.run(run_id) for run_id in re.findall(r"^id (\w+)$", done.stdout, re.MULTILINE)]

    def test_system_metrics_beside_those_of_mlflow(self):
        ours, theirs, processes = self.program_with_mlflow("""
import time
import vitals.callbacks
from vitals.compat.stouputils import ProcessMetricsMonitor

def work(run):
    print("id", run.info.run_id)
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        sum(range(100_000))

demo = vitals.Context(demo="default")
with mlflow.start_run() as run, vitals.callbacks.mlflow(sampling_interval=0.4, context=demo):
    work(run)
mlflow.set_system_metrics_sampling_interval(0.4)
with mlflow.start_run(log_system_metrics=True) as run:
    work(run)
with mlflow.start_run() as run, ProcessMetricsMonitor(sampling_interval=0.4):
    work(run)
""")
        values = {run: {metric["key"]: metric["value"] for metric in run_["data"]["metrics"]}
                  for run, run_ in (("ours", ours), ("theirs", theirs), ("processes", processes))}
        self.assertGreaterEqual(len(values["theirs"]), 8, values)
        self.assertLessEqual(set(values["theirs"]), set(values["ours"]))
        self.assertEqual({key for key in values["ours"] if "gpu_0_" in key}, {f"system/gpu_0_{name}" for name in (
            "memory_usage_megabytes", "memory_usage_percentage", "utilization_percentage", "power_usage_watts",
            "power_usage_percentage")})
        for name in ("system_memory_usage_percentage", "disk_usage_percentage"):
            self.assertAlmostEqual(values["ours"]["system/" + name], values["theirs"]["system/" + name], delta=20)
        history = self.server.history(ours["info"]["run_id"], "system/cpu_utilization_percentage")
        self.assertGreaterEqual(len(history), 2)
        self.assertEqual([step for _, step, _ in history], list(range(len(history))))
        self.assertTrue(all(0 <= value <= 100 for _, _, value in history), history)
        self.assertEqual(set(values["processes"]), {f"system/process/{name}" for name in (
            "cpu_usage_percentage", "memory_rss_megabytes", "memory_vms_megabytes", "memory_uss_megabytes",
            "memory_usage_percentage", "num_threads", "num_fds", "io_read_megabytes", "io_write_megabytes")})
        self.assertGreater(values["processes"]["system/process/memory_rss_megabytes"], 10)

    def test_the_active_run_of_the_module(self):
        (run,) = self.program_with_mlflow("""
with mlflow.start_run() as run:
    with vitals.account(interval=0.2, mlflow=True, export={"timeout": 60}):
        mlflow.log_metric("loss", 0.5)
    print("id", run.info.run_id)
""")
        keys = {metric["key"] for metric in run["data"]["metrics"]}
        self.assertEqual(run["info"]["status"], "FINISHED")
        self.assertIn("system/run/wall_seconds", keys)
        self.assertEqual([key for key in keys if not key.startswith("system/")], ["loss"])


if __name__ == "__main__":
    unittest.main()
