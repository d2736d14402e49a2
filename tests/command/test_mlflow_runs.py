"""Which run of MLflow's a job is, what is known of it beside its samples, and what its shares are of."""

import json
import os
import shutil
import signal
import subprocess
import unittest

from harness import environment, vitals, wait_until
from mlflow_server import BEGIN_NS, JOB, Stub, end, free_port, usage
from test_mlflow import Case
from test_telling import Teller

COMMIT = "0123456789abcdef0123456789abcdef01234567"
OUTER = "f" * 32


def snapshot_of(second, gpus=(), process=None, **host):
    """A sample of a machine: what its host and devices say; None is what has no value."""
    tables = {"host": [row(1, "host", **host)],
              "gpu": [row(10 + number, label, uuid=uuid) for number, (label, uuid) in enumerate(gpus)],
              "process": [row(20, "train", pid=77, cgroup=process)] if process else []}
    columns = {table: [name for name in rows[0] if name not in ("key", "parent", "label", "age_ns", "availability")]
               for table, rows in tables.items() if rows}
    return {"schema": 1, "vitals": "0.1.0", "host": {"name": "box", "boot_id": "b", "pid_namespace": 1},
            "time": "2027-01-15T08:00:00.000000000Z", "realtime_ns": str(BEGIN_NS + second * 10**9),
            "boottime_ns": str((1000 + second) * 10**9), "monotonic_ns": str((1000 + second) * 10**9), "stream": 1,
            "sequence": second + 1, "columns": columns, "tables": {table: tables[table] for table in columns}}


def row(key, label, **values):
    missing = {name: value["is"] if isinstance(value, dict) else "unsupported" for name, value in values.items()
               if value is None or isinstance(value, dict)}
    values = {name: None if name in missing else value for name, value in values.items()}
    return {"key": key, "parent": None, "label": label, "age_ns": 0, **values} | \
        ({"availability": missing} if missing else {})


class Shares(Case):
    """What percentages are of: what was asked for, else what the cgroup allows, else all there is."""

    def told(self, limits, job=None, **config):
        """Three samples; `limits` of each, or one for all, or None: no snapshots come."""
        job = {name: value for name, value in JOB.items() if name != "memory_limit_bytes"} | (job or {})
        with Stub() as stub:
            with self.tell(stub.url, job=job, interval_seconds=1, **config) as tell:
                tell.hear("opened")
                for second in range(3):
                    if limits is not None:
                        tell.write(snapshot_of(second, **(limits[second] if isinstance(limits, list) else limits)))
                    tell.write(usage(second))
                tell.write(end())
                tell.end()
            return stub

    def share(self, stub, name):
        points = self.points(stub, "system/process/" + name)
        return points[-1][2] if points else None

    def settings(self, stub, part="params"):
        return {pair["key"]: pair["value"] for pairs in stub.batches(part) for pair in pairs}

    def test_of_the_cgroup(self):
        stub = self.told({"cgroup_memory_limit_bytes": 2**29, "cgroup_cpu_limit_cores": 2.5})
        self.assertAlmostEqual(self.share(stub, "memory_usage_percentage"), 102 * 2**20 * 100 / 2**29)
        self.assertAlmostEqual(self.share(stub, "cpu_usage_percentage"), 50 / 2.5)
        self.assertAlmostEqual(self.share(stub, "cpu_usage_percentage_max"), 25 / 2.5)
        settings = self.settings(stub)
        self.assertEqual(settings["vitals.cgroup_memory_limit_bytes"], str(2**29))
        self.assertEqual(settings["vitals.cgroup_cpu_limit_cores"], "2.5")
        self.assertEqual(settings["vitals.cpu_usage_cores"], "2.5")

    def test_without_limits_of_the_machine_and_one_core(self):
        for limits in (None, {"cgroup_memory_limit_bytes": None, "cgroup_cpu_limit_cores": None},
                       {"cgroup_memory_limit_bytes": 10**15, "cgroup_cpu_limit_cores": None}):
            with self.subTest(limits):
                stub = self.told(limits)
                self.assertAlmostEqual(self.share(stub, "memory_usage_percentage"), 102 * 2**20 * 100 / 4e9)
                self.assertAlmostEqual(self.share(stub, "cpu_usage_percentage"), 50)
                self.assertEqual(self.settings(stub)["vitals.cpu_usage_cores"], "1")

    def test_what_was_asked_for_goes_before(self):
        limits = {"cgroup_memory_limit_bytes": 2**29, "cgroup_cpu_limit_cores": 2.5}
        stub = self.told(limits, max_memory_bytes=2**28, max_cpus=4)
        self.assertAlmostEqual(self.share(stub, "memory_usage_percentage"), 102 / 256 * 100)
        self.assertAlmostEqual(self.share(stub, "cpu_usage_percentage"), 50 / 4)
        self.assertEqual(self.settings(stub)["vitals.cpu_usage_cores"], "4")
        stub = self.told(limits, job={"memory_limit_bytes": 2**28})  # --limit-memory
        self.assertAlmostEqual(self.share(stub, "memory_usage_percentage"), 102 / 256 * 100)

    def test_of_a_process_that_was_there_before_ours_holds_only_where_it_is_in_it(self):
        for path, whole in (("/ours", 2**29), ("/ours/below", 2**29), ("/ours2", 4e9), ("/", 4e9)):
            with self.subTest(path):
                stub = self.told({"cgroup_memory_limit_bytes": 2**29, "cgroup_cpu_limit_cores": 2.5,
                                  "cgroup_path": "/ours", "process": path}, job={"pid": 77}, program="track")
                self.assertAlmostEqual(self.share(stub, "memory_usage_percentage"), 102 * 2**20 * 100 / whole)

    def test_what_is_not_known_yet_is_no_share_of_anything_else(self):
        late = {"cgroup_memory_limit_bytes": {"is": "timed_out"}, "cgroup_cpu_limit_cores": {"is": "not_yet"}}
        known = {"cgroup_memory_limit_bytes": 2**29, "cgroup_cpu_limit_cores": 2}
        stub = self.told([late, known, late])
        process = "system/process/"
        self.assertEqual([ms for ms, _, _ in self.points(stub, process + "memory_usage_percentage")], [1000, 2000])
        self.assertEqual([value for _, _, value in self.points(stub, process + "cpu_usage_percentage")], [25, 25])
        self.assertEqual([pair["value"] for pairs in stub.batches("params") for pair in pairs
                          if pair["key"] == "vitals.cpu_usage_cores"], ["2"])
        self.assertEqual(len(self.points(stub, process + "num_threads")), 3)


    def test_what_is_100_percent_stays_so_for_the_whole_run(self):
        limits = [{"cgroup_memory_limit_bytes": 2**29, "cgroup_cpu_limit_cores": cores} for cores in (2, 4, 4)]
        stub = self.told(limits)
        points = self.points(stub, "system/process/cpu_usage_percentage")
        self.assertEqual([value for _, _, value in points], [25, 25])
        self.assertEqual(self.settings(stub)["vitals.cpu_usage_cores"], "2")
        stub = self.told(limits, run_id="r" * 32)  # of a run that is continued it is a tag
        self.assertNotIn("vitals.cpu_usage_cores", self.settings(stub))
        self.assertEqual(self.settings(stub, "tags")["vitals.cpu_usage_cores"], "2")


class Devices(Case):
    def test_a_device_has_the_number_that_all_others_give_it(self):
        def uses(line, *devices):
            line["usage"]["values"] = [["gpu", uuid, "device_power_watts", "have", 7] for uuid in devices]
            return line
        with Stub() as stub:
            with self.tell(stub.url, interval_seconds=1) as tell:
                tell.hear("opened")
                rows = [("0", "GPU-a"), ("1", "GPU-b"), ("1:0", "MIG-c"), ("2", "GPU-d")]
                for second in range(2):
                    tell.write(snapshot_of(second, gpus=rows[:3] if second == 0 else rows))
                    tell.write(uses(usage(second), "GPU-d", "GPU-b", "MIG-c"))
                tell.end()
            told = {key for batch in stub.batches() for key in (point["key"] for point in batch) if "power_usage_watts" in key}
        self.assertEqual({key for key in told if not key.endswith("_max")},
                         {"system/gpu_GPU-d_power_usage_watts",  # it had no row when it was first told of
                          "system/gpu_1_power_usage_watts", "system/gpu_1_0_power_usage_watts"})


class TheEnd(Case):
    def test_the_last_point_is_what_the_account_says(self):
        with Stub() as stub:
            with self.tell(stub.url) as tell:
                tell.hear("opened")
                for second in range(14):
                    tell.write(usage(second))  # 6.5 s of CPU by 13 s: the run ended at 12.5 s
                figures = [{"name": "cpu_seconds", "value": 9.0, "unit": "seconds", "availability": "have"},
                           {"name": "minor_faults", "value": 3, "unit": "", "availability": "have"},
                           {"name": "cpu_seconds", "subject": "root", "value": 50, "unit": "seconds", "availability": "have"}]
                line = end(figures=figures)
                line["account"]["figures"] = figures + line["account"]["figures"][:1]
                tell.write(line)
                tell.end()
        process = "system/process/"
        self.assertEqual(self.points(stub, process + "cpu_seconds")[-1], (12500, 2, 9))
        self.assertEqual(self.points(stub, process + "minor_faults")[-1][2], 91)  # no count goes back
        # What no sample saw may be of any time, and is no rate of the last seconds.
        self.assertAlmostEqual(self.points(stub, process + "cpu_usage_percentage")[-1][2], (6.5 - 5) / 2.5 * 100)

    def test_what_the_account_has_beyond_the_last_sample_is_a_point_of_counters(self):
        with Stub() as stub:
            with self.tell(stub.url, interval_seconds=1) as tell:
                tell.hear("opened")
                for second in range(3):
                    tell.write(usage(second))
                tell.write(end(figures=[]))  # 6.25 s of CPU, 12.5 s
                tell.end()
        seconds = self.points(stub, "system/process/cpu_seconds")
        self.assertEqual([value for _, _, value in seconds], [0, 0.5, 1, 6.25])
        self.assertEqual(seconds[-1][:2], (12500, 3))
        (last,) = [batch for batch in stub.batches() if any(metric["step"] == 3 for metric in batch)]
        told = {metric["key"] for metric in last if metric["step"] == 3 and metric["key"].startswith("system/")}
        self.assertEqual(told, {"system/process/cpu_seconds"})
        self.assertLess(max(value for _, _, value in self.points(stub, "system/process/cpu_usage_percentage")), 51)

    def test_of_processes_that_have_gone_no_rate_is_told(self):
        with Teller() as teller:
            teller.run("run", "-q", "--otlp", "--interval", "100ms", "--", "sh", "-c",
                       "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; sleep 0.3")
            last = teller.ended().having("usage")[-1]["values"]
        states = {measure: (state, value) for scope, _, measure, state, value in last if scope == "tree"}
        self.assertEqual(states["processes"], ("gone", None))
        self.assertEqual(states["cpu_cores"], ("gone", None))
        self.assertGreater(states["cpu_seconds"][1], 0)


class Signals(Case):
    def test_who_ends_all_of_a_cgroup_does_not_end_what_is_still_to_be_told(self):
        with Stub() as stub:
            with self.tell(stub.url, interval_seconds=1) as tell:
                tell.hear("opened")
                tell.write(usage(0))
                for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2,
                               signal.SIGQUIT, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGXCPU, signal.SIGXFSZ, signal.SIGIO,
                               signal.SIGPWR, signal.SIGRTMIN, signal.SIGRTMAX):
                    tell.process.send_signal(number)
                tell.write(usage(1))
                tell.write(end(code=3))
                tell.end()
            (update,) = [json.loads(body) for _, path, body, _ in stub.requests if path.endswith("runs/update")]
            self.assertEqual(update["status"], "FAILED")
            self.assertEqual(len(self.points(stub, "system/process/num_threads")), 2)

    def test_who_sends_a_file_ends_as_any_program(self):
        with self.tell(f"http://127.0.0.1:{free_port()}") as tell:
            tell.write(usage(0))
            tell.write(end())
            wait_until(lambda: any(b" end " in spool.read_bytes() for spool in self.spools()), "all of it in a spool")
            tell.process.kill()
            tell.process.wait()
        (spool,) = self.spools()
        with self.tell(None, program="send", spool=None, resume=str(spool), away_seconds=300, patience=300) as tell:
            tell.hear("say")
            tell.process.terminate()
            self.assertEqual(tell.process.wait(timeout=60), -signal.SIGTERM)
        self.assertTrue(spool.exists())


class TheCommandsRun(Case):
    """What the command finds in its environment."""

    def seen(self, *arguments, env=None):
        variables = {name: None for name in os.environ if name.startswith("MLFLOW_")}
        variables |= {"HOME": str(self.folder), "XDG_STATE_HOME": str(self.folder)} | (env or {})
        result = vitals("run", "-q", "--tell-wait", "1", *arguments, "--", "sh", "-c", "env | grep ^MLFLOW_ | sort",
                        env=variables, timeout=120)
        return dict(line.split("=", 1) for line in result.stdout.splitlines()), result

    def test_a_run_that_was_named_is_known_though_its_server_is_away(self):
        url = f"http://127.0.0.1:{free_port()}"
        seen, _ = self.seen("--mlflow=" + url, "--mlflow-run", OUTER, env={"MLFLOW_RUN_ID": "another"})
        self.assertEqual(seen, {"MLFLOW_RUN_ID": OUTER, "MLFLOW_TRACKING_URI": url})

    def test_a_new_run_that_nobody_has_named_yet_has_its_server_and_experiment(self):
        url = f"http://127.0.0.1:{free_port()}"
        seen, result = self.seen("--mlflow=" + url, "--mlflow-experiment", "mine")
        self.assertEqual(seen, {"MLFLOW_TRACKING_URI": url, "MLFLOW_EXPERIMENT_NAME": "mine"})
        self.assertIn("begins without MLFLOW_RUN_ID", result.stderr)
        seen, _ = self.seen("--mlflow=" + url, "--mlflow-run", "new", env={"MLFLOW_RUN_ID": OUTER})
        self.assertEqual(seen, {"MLFLOW_TRACKING_URI": url})  # never the one around it

    def test_of_a_run_that_the_environment_names_nothing_is_said_to_be_missing(self):
        url = f"http://127.0.0.1:{free_port()}"
        seen, result = self.seen("--mlflow=" + url, env={"MLFLOW_RUN_ID": OUTER})
        self.assertEqual(seen["MLFLOW_RUN_ID"], OUTER)
        self.assertNotIn("without MLFLOW_RUN_ID", result.stderr)

    def test_a_named_experiment_goes_before_the_id_around_it(self):
        """MLflow's own client raises where the two are of different experiments."""
        def mine(method, path, *_):
            if "get-by-name" not in path:
                return None
            return 200, {}, b'{"experiment":{"experiment_id":"9","lifecycle_stage":"active","name":"mine"}}'
        around = {"MLFLOW_EXPERIMENT_ID": "5"}
        with Stub(mine) as stub:
            seen, result = self.seen("--mlflow=" + stub.url, "--mlflow-experiment", "mine", env=around)
            (made,) = [json.loads(body) for _, path, body, _ in stub.requests if path.endswith("runs/create")]
        self.assertEqual((made["experiment_id"], result.stderr), ("9", ""))
        self.assertEqual((seen["MLFLOW_EXPERIMENT_NAME"], seen.get("MLFLOW_EXPERIMENT_ID")), ("mine", None))
        with Stub() as stub:
            seen, _ = self.seen("--mlflow=" + stub.url, env=around)
        self.assertEqual(seen["MLFLOW_EXPERIMENT_ID"], "5")

    def test_a_run_that_is_not_there_is_nobodys(self):
        def none(method, path, *_):
            return 404, {}, b'{"error_code":"RESOURCE_DOES_NOT_EXIST","message":"no"}' if method == "GET" else b"{}"
        with Stub(none) as stub:
            seen, result = self.seen("--mlflow=" + stub.url, "--mlflow-run", OUTER)
        self.assertNotIn("MLFLOW_RUN_ID", seen)
        self.assertIn("there is no run " + OUTER, result.stderr)


class NewRuns(Case):
    """What is said of a run that we make."""

    def made(self, answer=None, env=None, job=None, program="run", **config):
        with Stub(answer) as stub:
            with self.tell(stub.url, env=env, job=JOB | (job or {}), program=program, **config) as tell:
                heard = tell.hear("opened")
                tell.write(end())
                tell.end()
            (body,) = [json.loads(body) for _, path, body, _ in stub.requests if path.endswith("runs/create")]
        self.assertEqual(heard["run_id"], "r" * 32)
        return body, {tag["key"]: tag["value"] for tag in body["tags"]}

    def test_below_the_run_around_it_and_in_its_experiment(self):
        def outer(method, path, *_):
            if not path.endswith(OUTER):
                return None
            info = {"run_id": OUTER, "experiment_id": "41", "status": "RUNNING", "lifecycle_stage": "active"}
            return 200, {}, json.dumps({"run": {"info": info, "data": {}}}).encode()
        body, tags = self.made(outer, new_run=True, env={"MLFLOW_RUN_ID": OUTER}, run_name="step 2")
        self.assertEqual((body["experiment_id"], body["run_name"]), ("41", "step 2"))
        self.assertEqual((tags["mlflow.parentRunId"], tags["mlflow.runName"]), (OUTER, "step 2"))
        body, tags = self.made(new_run=True)
        self.assertEqual(body["experiment_id"], "0")
        self.assertNotIn("mlflow.parentRunId", tags)

    def test_below_a_run_that_has_gone_it_stands_by_itself(self):
        def gone(method, path, *_):
            return (404, {}, b'{"error_code":"RESOURCE_DOES_NOT_EXIST","message":"no"}') if OUTER in path else None
        with Stub(gone) as stub:
            with self.tell(stub.url, new_run=True, env={"MLFLOW_RUN_ID": OUTER}) as tell:
                tell.hear("opened")
                tell.write(end())
                said = tell.end()
            (body,) = [json.loads(body) for _, path, body, _ in stub.requests if path.endswith("runs/create")]
        self.assertEqual(body["experiment_id"], "0")
        self.assertNotIn("mlflow.parentRunId", {tag["key"] for tag in body["tags"]})
        self.assertIn(f"there is no run {OUTER}", str(tell.heard) + str(said))

    def test_what_runs_and_whose_it_is(self):
        _, tags = self.made(job={"name": "train"})
        self.assertEqual((tags["mlflow.source.name"], tags["mlflow.user"]), ("train", "ann"))
        _, tags = self.made(job={"name": "train"}, cmdline="argv0")
        self.assertEqual(tags["mlflow.source.name"], "/opt/bin/train")

    def commit(self, folder, **more):
        return self.made(job={"cwd": str(folder)}, **more)[1].get("mlflow.source.git.commit")

    def repository(self, **files):
        folder = self.folder / "repository"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "src" / "deep").mkdir(parents=True)
        for name, text in {"HEAD": "ref: refs/heads/main\n", **files}.items():
            path = folder / ".git" / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return folder

    def test_the_commit_of_the_working_folder(self):
        folder = self.repository(refs__heads__main=COMMIT + "\n")
        self.assertEqual(self.commit(folder / "src" / "deep"), COMMIT)
        self.assertIsNone(self.commit(folder, program="track"))  # it is ours, not theirs
        self.assertEqual(self.commit(self.repository(HEAD=COMMIT + "\n")), COMMIT)
        packed = f"# pack-refs\n{'1' * 40} refs/heads/mainly\n{COMMIT} refs/heads/main\n^{'2' * 40}\n"
        self.assertEqual(self.commit(self.repository(**{"packed-refs": packed})), COMMIT)

    def test_a_linked_working_tree(self):
        folder = self.repository(refs__heads__side=COMMIT + "\n", refs__heads__main="1" * 40,
                                 worktrees__w__HEAD="ref: refs/heads/side\n", worktrees__w__commondir="../..\n")
        tree = self.folder / "tree"
        tree.mkdir()
        (tree / ".git").write_text(f"gitdir: {folder}/.git/worktrees/w\n")
        self.assertEqual(self.commit(tree), COMMIT)

    def test_what_is_no_commit(self):
        (self.folder / "secret").write_text(COMMIT)
        for files in ({}, {"HEAD": ""}, {"HEAD": "ref: ../../secret\n"}, {"HEAD": "ref: refs/../../../secret"},
                      {"HEAD": COMMIT[:-1]}, {"HEAD": COMMIT + "0"}, {"HEAD": "x" * 5000},
                      {"refs__heads__main": "ref: refs/heads/main"}, {"HEAD": "ref: refs/heads/.invalid"}):
            with self.subTest(files):
                self.assertIsNone(self.commit(self.repository(**files)))
        os.mkfifo(self.repository() / ".git" / "refs")  # where the name would be a folder
        self.assertIsNone(self.commit(self.folder / "repository"))

    def test_what_a_stranger_put_above_is_not_told(self):
        folder = self.repository(HEAD=COMMIT + "\n")
        head, secret = folder / ".git" / "HEAD", self.folder / "secret"
        secret.write_text(COMMIT)
        head.unlink()
        head.symlink_to(secret)
        self.assertIsNone(self.commit(folder))
        folder = self.repository(HEAD=COMMIT + "\n")
        (folder / ".git").rename(self.folder / "elsewhere")
        (folder / ".git").symlink_to(self.folder / "elsewhere")
        self.assertIsNone(self.commit(folder))

    @unittest.skipUnless(os.geteuid() == 0, "only root makes files of others")
    def test_what_is_a_strangers_is_not_told(self):
        for name in (".git", ".git/HEAD", ".git/refs/heads/main"):
            folder = self.repository(refs__heads__main=COMMIT + "\n")
            self.assertEqual(self.commit(folder), COMMIT)
            os.chown(folder / name, 12345, 12345)
            self.assertIsNone(self.commit(folder), name)

    @unittest.skipUnless(shutil.which("git"), "no git")
    def test_git_itself_agrees(self):
        folder = self.folder / "real"
        folder.mkdir()
        git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultRefFormat=files"]
        for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"], ["pack-refs", "--all"]):
            subprocess.run([*git, *command], check=True, env=environment(HOME=str(self.folder)))
            if command[0] != "init":
                head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout
                self.assertEqual(self.commit(folder), head.strip())


if __name__ == "__main__":
    unittest.main()
