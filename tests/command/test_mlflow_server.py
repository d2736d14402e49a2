"""The real server of MLflow, with SQLite and artifacts through it: what it shows of runs that vitals told it of.
It is started once, and stopped and begun again by the test of a gap."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

from harness import BUILD, environment, vitals, wait_until
from mlflow_server import BEGIN_NS, GAUGES, JOB, MlflowServer, end, free_port, kept_spool, needs_servers, usage
from tell_program import Tell

BEGIN_MS = BEGIN_NS // 10**6
EXAMPLE = BUILD / "examples/example_exporter"
UNSET = {name: None for name in ("MLFLOW_RUN_ID", "MLFLOW_EXPERIMENT_ID", "MLFLOW_EXPERIMENT_NAME",
                                 "MLFLOW_TRACKING_URI", "MLFLOW_RUN_NAME", "MLFLOW_SYSTEM_METRICS_NODE_ID")}


def named(pairs):
    return {pair["key"]: pair["value"] for pair in pairs}


@needs_servers
class Server(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = MlflowServer()
        cls.addClassCleanup(cls.server.done)
        cls.server.start()

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vitals-mlflow-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.spool = self.folder / "unsent"

    def tell(self, patience=60, program="run", env=None, job=None, **config):
        config = {"uri": self.server.url, "spool": str(self.spool), "interval_seconds": 1} | config
        return Tell(env=UNSET | {"HOME": str(self.folder)} | (env or {}), patience_seconds=patience, program=program,
                    cmdline="argv0", job=job or JOB,
                    mlflow={name: value for name, value in config.items() if value is not None})

    def run_vitals(self, *arguments, command, env=None):
        variables = UNSET | {"HOME": str(self.folder), "XDG_STATE_HOME": str(self.folder)} | (env or {})
        return vitals("run", "--mlflow=" + self.server.url, "--tell-wait", "60", *arguments, "--", *command,
                      env=variables, timeout=180)

    def newest_run(self, experiment):
        found = self.server.call("experiments/get-by-name", experiment_name=experiment)["experiment"]
        runs = self.server.call("runs/search", {"experiment_ids": [found["experiment_id"]], "max_results": 5})["runs"]
        return runs[0], len(runs)

    # ---- where it is ----

    def test_the_address_that_is_said_is_that_of_the_run(self):
        result = self.run_vitals("--mlflow-experiment", "where", command=["true"])
        (line,) = [line for line in result.stderr.splitlines() if "the run is at" in line]
        run, _ = self.newest_run("where")
        info = run["info"]
        self.assertTrue(line.endswith(f" {self.server.url}/#/experiments/{info['experiment_id']}/runs/{info['run_id']}"), line)
        self.assertIn(b"<html", self.server.ask("/", raw=True).lower())  # the part before # is its page

    def test_what_waits_for_a_server_that_has_moved_is_sent_to_where_it_is(self):
        result = self.run_vitals("--mlflow-experiment", "moved", "--tell-wait", "1", f"--mlflow=http://127.0.0.1:{free_port()}",
                                 command=["sh", "-c", "exit 3"])
        self.assertEqual(result.returncode, 3, result.stderr)
        spool = kept_spool(self.folder)
        sent = vitals("send", "--mlflow=" + self.server.url, spool, timeout=180,
                      env=UNSET | {"HOME": str(self.folder), "XDG_STATE_HOME": str(self.folder)})
        self.assertEqual((sent.returncode, sent.stderr.count("\n")), (0, 1), sent.stderr)
        self.assertIn(f"to {self.server.url}; {spool} is removed", sent.stderr)
        run, count = self.newest_run("moved")
        self.assertEqual((run["info"]["status"], count), ("FAILED", 1))
        self.assertFalse(spool.exists())

    def test_one_damaged_byte_in_what_is_kept_costs_one_record(self):
        result = self.run_vitals("--mlflow-experiment", "damaged", "--tell-wait", "1", f"--mlflow=http://127.0.0.1:{free_port()}",
                                 command=["sh", "-c", "exit 3"])
        self.assertEqual(result.returncode, 3, result.stderr)
        spool = kept_spool(self.folder)
        whole = spool.read_bytes()
        at = whole.index(b'"vitals.exit"')  # the record after those of the metrics and the account
        spool.write_bytes(whole[:at + 3] + b"\0" + whole[at + 4:])
        sent = vitals("send", "--mlflow=" + self.server.url, spool, timeout=180,
                      env=UNSET | {"HOME": str(self.folder), "XDG_STATE_HOME": str(self.folder)})
        self.assertEqual(sent.returncode, 1, sent.stderr)
        self.assertIn("bytes from byte", sent.stderr)
        self.assertIn(f"the file is kept as {spool}.damaged", sent.stderr)
        run, count = self.newest_run("damaged")
        self.assertEqual((run["info"]["status"], count), ("FAILED", 1))
        self.assertIn("system/run/wall_seconds", {metric["key"] for metric in run["data"]["metrics"]})
        self.assertIn(b"figures", self.server.artifact(run, "vitals/account.json"))
        self.assertFalse(spool.exists())
        self.assertIn(whole[at + 4:at + 100], spool.with_name(spool.name + ".damaged").read_bytes())

    # ---- the whole way, from the command ----

    def test_a_run_of_the_command(self):
        began = time.time()
        account = self.folder / "account.json"
        seen = self.folder / "seen"
        result = self.run_vitals("--mlflow-experiment", "whole", "--mlflow-name", "first", "--mlflow-interval", "0.5s",
                                 "--interval", "0.1", "--json", str(account), command=[
                                     "sh", "-c", f'echo "$MLFLOW_RUN_ID" > {seen}; i=0; '
                                     "while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 1.5"])
        self.assertEqual(result.returncode, 0, result.stderr)
        run, count = self.newest_run("whole")
        self.assertEqual(count, 1)
        info, metrics = run["info"], named(run["data"]["metrics"])
        self.assertEqual((info["status"], info["run_name"]), ("FINISHED", "first"))
        self.assertEqual(seen.read_text().strip(), info["run_id"])
        figures = json.loads(account.read_text())["figures"]
        main = {figure["name"]: figure["value"] for figure in figures if not figure.get("subject")}
        of_run = {key.removeprefix("system/run/"): value for key, value in metrics.items() if key.startswith("system/run/")}
        self.assertEqual(of_run, {name: main[name] for name in of_run})
        self.assertTrue({"wall_seconds", "cpu_seconds"} <= of_run.keys() and len(of_run) <= 6, of_run)
        self.assertEqual([key for key in metrics if not key.startswith("system/")], [])
        cores = float(named(run["data"]["params"])["vitals.cpu_usage_cores"])
        shares = self.server.history(info["run_id"], "system/process/cpu_usage_percentage_max")
        used = max(value for _, _, value in shares) / 100 * cores
        self.assertTrue(0 < used <= os.cpu_count() * 1.5, used)
        points = self.server.history(info["run_id"], "system/process/memory_rss_megabytes")
        self.assertGreaterEqual(len(points), 2)
        self.assertEqual([step for _, step, _ in points], list(range(len(points))))
        for ms, _, _ in points:
            self.assertTrue(began - 1 <= ms / 1000 <= time.time() + 1, ms)
        for key in ("system/cpu_utilization_percentage", "system/system_memory_usage_megabytes",
                    "system/system_memory_usage_percentage", "system/process/cpu_usage_percentage"):
            self.assertIn(key, metrics)
        roots = [line.split()[2] for line in pathlib.Path("/proc/mounts").read_text().splitlines() if line.split()[1] == "/"]
        if roots and roots[-1] != "overlay":  # a container's own is not a file system that stores something
            total, used, _ = shutil.disk_usage("/")
            self.assertAlmostEqual(metrics["system/disk_usage_megabytes"], used / 1e6, delta=total / 1e6 / 20)
        self.assertEqual(json.loads(self.server.artifact(run, "vitals/account.json"))["figures"], figures)
        self.assertIn(b"</html>", self.server.artifact(run, "vitals/report.html"))
        self.assertFalse(list(self.folder.rglob("*.spool")))

    @unittest.skipUnless(EXAMPLE.exists(), "built without examples")
    def test_a_program_exports_a_run_by_the_library(self):
        seen = self.folder / "seen"
        result = subprocess.run([EXAMPLE, self.server.url, "sh", "-c", f'echo "$MLFLOW_RUN_ID" > {seen}; sleep 1.2; exit 3'],
                                env=environment(**UNSET, HOME=str(self.folder), VITALS_TELL=str(BUILD / "tell")),
                                capture_output=True, text=True, timeout=180)
        self.assertEqual((result.returncode, result.stderr), (3, ""))
        run = self.server.run(seen.read_text().strip())
        metrics = named(run["data"]["metrics"])
        self.assertTrue(result.stdout.strip().endswith(f"/runs/{run['info']['run_id']}"), result.stdout)
        self.assertEqual(run["info"]["status"], "FAILED")
        self.assertGreaterEqual(len(self.server.history(run["info"]["run_id"], "system/process/memory_rss_megabytes")), 2)
        self.assertGreaterEqual(metrics["system/run/wall_seconds"], 1.2)
        account = json.loads(self.server.artifact(run, "vitals/account.json"))
        self.assertEqual(account["exit_code"], 3)
        self.assertNotIn("command", account["attributes"])

    def test_how_the_child_ended_is_how_the_run_did(self):
        for name, command, code, status in (("failure", ["sh", "-c", "exit 3"], 3, "FAILED"),
                                            ("signal", ["sh", "-c", "kill -9 $$"], 137, "KILLED")):
            with self.subTest(name):
                result = self.run_vitals("--mlflow-experiment", name, command=command)
                self.assertEqual(result.returncode, code, result.stderr)
                run, _ = self.newest_run(name)
                self.assertEqual(run["info"]["status"], status)
                self.assertEqual(named(run["data"]["tags"])["vitals.exit_code"], str(code))

    def test_what_cannot_be_told_does_not_harm_the_job(self):
        for arguments, env, words in ((["--mlflow-run", "no-such-run"], {}, "no-such-run"),
                                      ([], {"MLFLOW_EXPERIMENT_ID": "987654"}, "987654")):
            with self.subTest(words):
                result = self.run_vitals(*arguments, command=["sh", "-c", "echo done; exit 4"], env=env)
                self.assertEqual((result.returncode, result.stdout), (4, "done\n"), result.stderr)
                self.assertEqual(sum(words in line for line in result.stderr.splitlines()), 1, result.stderr)

    # ---- what goes wrong ----

    def test_nothing_is_lost_and_nothing_is_twice_over_a_restart(self):
        with self.tell(experiment="restart", patience=120) as tell:
            run_id = tell.hear("opened", seconds=120)["run_id"]
            for second in range(5):
                tell.write(usage(second))
            key = "system/process/memory_rss_megabytes"
            wait_until(lambda: len(self.server.history(run_id, key)) == 5, "the first points", seconds=120)
            self.server.stop()
            for second in range(5, 10):
                tell.write(usage(second))
            tell.hear("say", seconds=120)
            self.server.start()
            for second in range(10, 13):
                tell.write(usage(second))
            tell.write(end())
            tell.end(seconds=200)
        self.assertEqual(self.server.history(run_id, key),
                         [(BEGIN_MS + second * 1000, second, 100 + second) for second in range(13)])
        self.assertEqual(self.server.run(run_id)["info"]["status"], "FINISHED")

    def test_of_a_killed_one_the_rest_arrives_once(self):
        with self.tell(experiment="killed") as tell:
            run_id = tell.hear("opened", seconds=120)["run_id"]
            for second in range(200):
                tell.write(usage(second))
            wait_until(lambda: any(path.stat().st_size > 300_000 for path in self.spool.glob("*")), "a long spool",
                       seconds=120)
            tell.process.kill()
            tell.process.wait()
        (spool,) = self.spool.glob("*")
        kept = max(int(line.split(b'"step":')[1].split(b"}")[0]) for line in spool.read_bytes().split(b"{")
                   if b"num_threads" in line and b'"step":' in line)
        with self.tell(uri=None, spool=None, resume=str(spool), patience=120) as tell:
            tell.end(seconds=200)
        points = self.server.history(run_id, "system/process/num_threads")
        self.assertEqual([step for _, step, _ in points], list(range(len(points))))
        self.assertGreaterEqual(len(points), kept + 1)
        self.assertEqual(self.server.run(run_id)["info"]["status"], "KILLED")
        self.assertFalse(spool.exists())

    # ---- limits and names ----

    def test_a_thousand_metrics_at_once_and_names_from_outside(self):
        line = usage(0)
        line["usage"]["values"] = [["gpu", f"GPU-{i}", name, "have", i / 7] for i in range(220) for name in GAUGES]
        with self.tell(experiment="limits", env={"MLFLOW_SYSTEM_METRICS_NODE_ID": "../a\nb//é;c/"}) as tell:
            run_id = tell.hear("opened", seconds=120)["run_id"]
            tell.write(line)
            tell.write(end(attributes={"missing": "\x01é" * 3000, "rungs": "x" * 9000}))
            heard, _ = tell.end(seconds=200)
        self.assertFalse([line for line in heard if "say" in line or "failed" in line], heard)
        run = self.server.run(run_id)
        metrics, tags = named(run["data"]["metrics"]), named(run["data"]["tags"])
        for peak in ("", "_max"):
            self.assertEqual([metrics[f"system/process/gpu_{i}_memory_bytes{peak}"] for i in range(220)],
                             [i / 7 for i in range(220)])
        self.assertEqual(sum(key.startswith("system/process/") for key in metrics), 2 * 2 * 220)
        self.assertEqual(sum("_power_usage_watts" in key for key in metrics), 2 * 220)
        self.assertEqual(len(tags["vitals.rungs"]), 5000)

    # ---- which run ----

    def test_a_run_that_is_there_is_gone_on_with(self):
        made = self.server.call("runs/create", {"experiment_id": "0", "run_name": "theirs"})["run"]["info"]["run_id"]
        self.server.call("runs/log-batch", {"run_id": made, "metrics": [
            {"key": "system/process/num_threads", "value": 9, "timestamp": 5, "step": 41},
            {"key": "loss", "value": 1, "timestamp": 5, "step": 1000000}]})
        for job in range(2):  # parameters cannot change: two that go on with one run do not quarrel
            with self.tell(env={"MLFLOW_RUN_ID": made}, job=JOB | {"expected_cores": 2 + job}) as tell:
                self.assertEqual(tell.hear("opened", seconds=120)["run_id"], made)
                tell.write(usage(job * 10))
                tell.write(usage(job * 10 + 1))
                tell.write(end())
                heard, _ = tell.end(seconds=120)
                self.assertFalse([line for line in heard if "say" in line or "failed" in line], heard)
        self.assertEqual([step for _, step, _ in self.server.history(made, "system/process/num_threads")],
                         [41, 42, 43, 45, 46])  # 44: what the account counted beyond the last sample
        self.assertEqual(self.server.run(made)["info"]["run_name"], "theirs")

    def test_an_experiment_and_its_id_must_agree(self):
        made = self.server.call("experiments/create", {"name": "agreed"})["experiment_id"]
        names = {"MLFLOW_EXPERIMENT_NAME": "agreed"}
        with self.tell(env=names | {"MLFLOW_EXPERIMENT_ID": made}) as tell:
            run_id = tell.hear("opened", seconds=120)["run_id"]
            tell.write(end())
            tell.end(seconds=120)
        run = self.server.run(run_id)
        self.assertEqual(run["info"]["experiment_id"], made)
        self.assertEqual(int(run["info"]["start_time"]), BEGIN_MS)
        tags = named(run["data"]["tags"])
        self.assertEqual((tags["mlflow.user"], tags["mlflow.source.type"]), ("ann", "LOCAL"))
        self.assertEqual(named(run["data"]["params"])["vitals.expected_cores"], "2")
        with self.tell(env=names | {"MLFLOW_EXPERIMENT_ID": "0"}) as tell:
            self.assertIn("another id", tell.hear("failed", seconds=120)["message"])
            tell.end(seconds=120)
        with self.tell(experiment="agreed", env={"MLFLOW_EXPERIMENT_ID": "0"}) as tell:  # an option goes before
            run_id = tell.hear("opened", seconds=120)["run_id"]
            tell.end(seconds=120)
        self.assertEqual(self.server.run(run_id)["info"]["experiment_id"], made)


if __name__ == "__main__":
    unittest.main()
