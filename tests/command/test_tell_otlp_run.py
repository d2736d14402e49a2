"""What `vitals run --otlp` sends of a run, and `vitals serve --otlp` of a machine; and what a real
collector makes of it, where there is one ($VITALS_OTELCOL)."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import unittest

from harness import VITALS, environment, wait_until
from otlp_collector import Collector, demo, needs_reader, only, read, said, send

COLLECTOR = os.environ.get("VITALS_OTELCOL", "")
START_NS = 1_750_000_000_000_000_000
JOB = {"argv": ["python", "train.py", "--token=hf_secretsecretsecretsecret"], "pid": 77, "host": "node7", "user": "ann",
       "started_ns": str(START_NS)}


def usage(number, *values):
    return {"usage": {"realtime_ns": str(START_NS + number * 1_000_000_000), "monotonic_ns": str(number),
                      "values": [[*value[:3], "have" if value[3] is not None else "denied", value[3]] for value in values]}}


def account(*figures):
    return {"account": {"schema": 1, "exit_code": 3, "signal": 0, "figures": [
        {"name": name, "value": value, "unit": unit, "availability": "have", "source": "x",
         **({"subject": subject} if subject else {})} for name, subject, value, unit in figures]},
            "status": {"state": "exited", "code": 3}}


@needs_reader
class ARun(unittest.TestCase):
    def sent(self, lines, **hello):
        with Collector() as collector:
            requests, heard = send(collector, lines, {"OTEL_METRIC_EXPORT_INTERVAL": "3600000"}, job=JOB, **hello)
        self.assertEqual(said(heard), [])
        return read(requests)

    def test_the_tree_and_its_first_process(self):
        first, last, end = self.sent([
            usage(1, ("tree", "", "cpu_seconds", 2.5), ("tree", "", "memory_resident_bytes", 4096),
                  ("root", "", "cpu_user_seconds", 1.5), ("root", "", "memory_resident_bytes", 1024),
                  ("tree", "", "gpu_memory_bytes", 30), ("gpu", "GPU-a", "gpu_memory_bytes", 10),
                  ("gpu", "GPU-b", "gpu_memory_bytes", 20), ("tree", "", "disk_read_bytes", None)),
            usage(2, ("tree", "", "cpu_seconds", 3.0)), usage(3, ("tree", "", "cpu_seconds", 4.0)),
            account(("cpu_seconds", None, 4.5, "seconds"), ("memory_peak_bytes", None, 8192, "bytes"),
                    ("gpu_memory_peak_bytes", "GPU-a", 11, "bytes"), ("gpu_memory_peak_bytes", "GPU-b", 21, "bytes"),
                    ("cpu_cores", None, 1.5, "cores"), ("memory_used_bytes", "system", 1, "bytes"))])
        point = only(first["points"], "vitals.run.cpu")
        self.assertEqual((point["value"], point["unit"], point["monotonic"]), (2.5, "s", True))
        self.assertEqual((point["start"], point["time"]), (START_NS, START_NS + 1_000_000_000))
        self.assertEqual(only(first["points"], "vitals.run.memory_resident")["value"], 4096)
        self.assertEqual(only(first["points"], "process.memory.usage", process__pid=77)["value"], 1024)
        self.assertEqual(only(first["points"], "process.cpu.time", cpu__mode="user")["value"], 1.5)
        by_device = {point["attributes"].get("hw.id"): point["value"] for point in first["points"]
                     if point["name"] == "vitals.run.gpu_memory"}
        self.assertEqual(by_device, {"GPU-a": 10, "GPU-b": 20})  # and no sum beside its parts
        self.assertNotIn("vitals.run.disk_read", {point["name"] for point in first["points"]})
        # The newest sample goes before the account, of all those that the interval passed over.
        self.assertEqual(only(last["points"], "vitals.run.cpu")["value"], 4.0)
        self.assertEqual(only(end["points"], "vitals.run.cpu")["value"], 4.5)
        self.assertEqual(only(end["points"], "vitals.run.memory_peak")["value"], 8192)
        self.assertEqual(only(end["points"], "vitals.run.gpu_memory_peak", hw__id="GPU-b")["value"], 21)
        self.assertEqual(only(end["points"], "vitals.run.exit_code")["value"], 3)
        self.assertFalse({"vitals.run.cpu_cores", "vitals.run.memory_used"} & {p["name"] for p in end["points"]})
        self.assertEqual(first["resource"]["host.name"], "node7")
        self.assertEqual(first["resource"]["process.owner"], "ann")
        self.assertEqual(first["resource"]["service.instance.id"], f"node7/{START_NS}")

    def test_of_one_that_was_killed_the_last_sample_is_sent(self):
        first, last = self.sent([usage(number, ("tree", "", "cpu_seconds", number)) for number in (1, 2, 3)])
        self.assertEqual(only(first["points"], "vitals.run.cpu")["value"], 1)
        self.assertEqual(only(last["points"], "vitals.run.cpu")["value"], 3)

    def test_what_a_run_works_for_stands_on_its_resource(self):
        def row(key, parent, **values):
            return {"key": key, "parent": parent, "label": "x", "age_ns": 0, **values}
        tables = {"process": [row(1, None, pid=4, parent_pid=500, start_seconds=9.5, workload="user:ann"),
                              row(2, None, pid=500, parent_pid=7, start_seconds=9.25, workload="pod:a/b/c"),
                              row(3, None, pid=501, parent_pid=500, start_seconds=9.0, workload="user:ann")],
                  "workload": [row(1, None, id="user:ann", kind="user", k8s_pod_name="other", container_id="1"),
                               row(2, None, id="pod:a/b/c", kind="pod", k8s_pod_name="b", container_id="2")]}
        snapshot = {"schema": 1, "vitals": "0.1.0", "host": {"name": "n", "boot_id": "b", "pid_namespace": 1},
                    "time": "2027-01-15T08:00:00.000000000Z", "realtime_ns": str(START_NS), "boottime_ns": "9",
                    "monotonic_ns": "9", "stream": 1, "sequence": 1, "tables": tables,
                    "columns": {name: list(rows[0])[4:] for name, rows in tables.items()}}
        for job, pid, work in ((JOB, 77, None), ({**JOB, "pid": 4}, 4, ("user:ann", "other", "1")),
                               ({name: JOB[name] for name in JOB if name != "pid"}, 500, ("pod:a/b/c", "b", "2"))):
            with self.subTest(pid), Collector() as collector:
                requests, heard = send(collector, [snapshot, usage(1, ("root", "", "threads", 3))], job=job)
                self.assertEqual(said(heard), [])
                (document,) = read(requests)
                self.assertEqual(only(document["points"], "process.thread.count")["attributes"]["process.pid"], pid)
                names = ("vitals.workload", "k8s.pod.name", "container.id")
                self.assertEqual(tuple(document["resource"].get(name) for name in names), work or (None,) * 3)

    def test_a_counter_never_goes_back_at_the_end(self):
        _, end = self.sent([usage(1, ("tree", "", "cpu_seconds", 5.0)), account(("cpu_seconds", None, 4.5, "seconds"))])
        self.assertEqual(only(end["points"], "vitals.run.cpu")["value"], 5.0)

    def test_the_command_line_leaves_only_as_far_as_is_wanted(self):
        for word, key, wanted in ((None, None, None), ("off", None, None), ("argv0", "process.command", "python"),
                                  ("full", "process.command_line", "python train.py --token=hf_secretsecretsecretsecret"),
                                  ("redacted", "process.command_line", "***")):
            hello = {"cmdline": word} if word else {}
            resource = self.sent([usage(1, ("tree", "", "cpu_seconds", 1.0))], **hello)[0]["resource"]
            if key is None:
                self.assertNotIn("train.py", str(resource))
                continue
            self.assertIn(wanted, resource[key])
            self.assertEqual("hf_secret" in str(resource), word == "full")


@needs_reader
class TheCommand(unittest.TestCase):
    def test_run_ends_as_its_child_and_sends_its_end(self):
        with Collector() as collector:
            done = subprocess.run([VITALS, "run", "--interval", "0.2", f"--otlp={collector.url}", "--",
                                   "sh", "-c", "echo $$; sleep 1; exit 3"], env=environment(), capture_output=True, check=False)
            self.assertEqual(done.returncode, 3, done.stderr)
            wait_until(lambda: len(collector.requests) >= 2, "two documents")
        documents = read(collector.requests)
        names = {point["name"] for document in documents for point in document["points"]}
        self.assertLessEqual({"process.memory.usage", "vitals.run.cpu", "vitals.run.wall"}, names)
        self.assertEqual(only(documents[-1]["points"], "vitals.run.exit_code")["value"], 3)
        process = only(documents[0]["points"], "process.memory.usage")
        self.assertEqual(process["attributes"]["process.pid"], int(done.stdout))
        self.assertIn("vitals.workload", documents[0]["resource"])
        self.assertEqual(len({json.dumps(document["resource"], sort_keys=True) for document in documents}), 1)

    def test_a_run_is_unharmed_where_nobody_listens(self):
        with Collector() as collector:
            url = collector.url
        done = subprocess.run([VITALS, "run", f"--otlp={url}", "--", "sh", "-c", "echo done; exit 4"],
                              env=environment(), capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (4, "done\n"))
        self.assertEqual(len([line for line in done.stderr.splitlines() if "did not get there" in line]), 1, done.stderr)

    def test_serve_sends_the_machine(self):
        with Collector() as collector:
            server = subprocess.Popen([VITALS, "serve", "--demo", "--port", "0", f"--otlp={collector.url}"],
                                      env=environment(OTEL_METRIC_EXPORT_INTERVAL="1000"), stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE)
            try:
                collector.wait(2)
            finally:
                server.send_signal(signal.SIGTERM)
                server.communicate(timeout=60)
        documents = read(collector.requests[:2])
        for document in documents:
            names = {point["name"] for point in document["points"]}
            self.assertLessEqual({"system.cpu.time", "system.memory.usage", "hw.gpu.utilization", "hw.power",
                                  "vitals.workload.processes"}, names)
            self.assertFalse([name for name in names if name.startswith("process.")])
        idle = [only(document["points"], "system.cpu.time", cpu__mode="idle") for document in documents]
        self.assertLessEqual(idle[0]["value"], idle[1]["value"])
        self.assertLess(idle[0]["time"], idle[1]["time"])


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@unittest.skipUnless(os.access(COLLECTOR, os.X_OK), "no OpenTelemetry collector (VITALS_OTELCOL; scripts/setup collector)")
class ARealCollector(unittest.TestCase):
    """With an otlp receiver and the debug exporter built in."""

    def test_it_takes_what_is_sent(self):
        port = free_port()
        with tempfile.TemporaryDirectory() as folder:
            config, log = pathlib.Path(folder) / "c.yaml", pathlib.Path(folder) / "log"
            config.write_text(f"receivers: {{otlp: {{protocols: {{http: {{endpoint: '127.0.0.1:{port}'}}}}}}}}\n"
                              "exporters: {debug: {verbosity: detailed}}\n"
                              "service: {pipelines: {metrics: {receivers: [otlp], exporters: [debug]}}, "
                              "telemetry: {metrics: {level: none}}}\n")
            with open(log, "wb") as out:
                server = subprocess.Popen([COLLECTOR, "--config", config], stdout=out, stderr=out)
            try:
                wait_until(lambda: b"Everything is ready" in log.read_bytes(), "the collector", seconds=120)
                before = log.stat().st_size
                _, heard = send(type("At", (), {"url": f"http://127.0.0.1:{port}", "requests": []}), [demo()[0]])
                self.assertEqual(said(heard), [])
                wait_until(lambda: b"hw.gpu.utilization" in log.read_bytes()[before:], "its metrics")
                names = set(re.findall(rb"-> Name: (\S+)", log.read_bytes()[before:]))
                self.assertGreater(len(names), 40)
            finally:
                server.terminate()
                server.wait(timeout=60)


if __name__ == "__main__":
    unittest.main()
