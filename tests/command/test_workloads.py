"""The table workload of `vitals --json`: what processes work for, and what its cgroup counts."""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import unittest

from harness import vitals

CGROUPS = pathlib.Path("/sys/fs/cgroup")
# What src/gpu/demo/scenarios.c makes up.
CAST = {
    "slurm:4711.0",
    "ctr:5d1f0c6be2a9",
    "k8s:inference/chat-6f7c9d5b8-x2lqp/server",
    "k8s:research/notebook-0/jupyter",
    "unit:transcribe.service",
}
GRAMMAR = re.compile(
    r"slurm:[0-9]+(\.\w+)?|slurm:s[0-9A-Z]{13}(\.\w+)?|k8s:[^/]+/[^/]+/[^/]+|(ctr|unit|user):.+", re.DOTALL
)


def snapshots(*arguments):
    result = vitals("--json", *arguments)
    assert result.returncode == 0, result.stderr
    return [json.loads(line)["tables"] for line in result.stdout.splitlines()]


class Demo(unittest.TestCase):
    def test_its_jobs_pods_and_services_are_workloads(self):
        # Each part is played by one of this machine's newest processes, which may end before it is read.
        for _ in range(10):
            tables = snapshots("--demo")[0]
            rows = {row["id"]: row for row in tables["workload"]}
            users = {row["process"] for row in tables["gpu_process"]}
            ids = {row["workload"] for row in tables["process"] if row["key"] in users}
            kinds = {rows[name]["kind"] for name in ids if name is not None}
            if len(kinds - {"user"}) >= 2:
                break
        if len(users) < 4:
            self.skipTest(f"the demo found {len(users)} processes")
        self.assertGreaterEqual(len(kinds - {"user"}), 2, kinds)
        self.assertLessEqual({name for name in ids if name and not name.startswith("user:")}, CAST)
        for name in ids & rows.keys():
            row = rows[name]
            if row["kind"] == "slurm":
                self.assertEqual(name, f"slurm:{row['slurm_job_id']}.{row['slurm_step_id']}")
            elif row["kind"] == "k8s":
                names = (row[f"k8s_{part}_name"] for part in ("namespace", "pod", "container"))
                self.assertEqual(name, "k8s:" + "/".join(names))
                self.assertEqual(len(row["container_id"]), 64)
            elif row["kind"] == "ctr":
                self.assertEqual(name, "ctr:" + row["container_id"][:12])


class Living(unittest.TestCase):
    def test_processes_and_workloads_say_the_same(self):
        tables = snapshots()[0]
        rows = {row["id"]: row for row in tables["workload"]}
        self.assertEqual(len(rows), len(tables["workload"]))
        counted = {}
        for process in tables["process"]:
            name = process["workload"]
            if name is not None:
                counted[name] = counted.get(name, 0) + 1
        self.assertEqual(counted, {name: row["processes"] for name, row in rows.items()})
        for name, row in rows.items():
            with self.subTest(workload=name):
                self.assertRegex(name, GRAMMAR)
                self.assertEqual(name.split(":")[0], row["kind"])
                self.assertEqual(row["label"], name)

    def test_keys_hold_from_tick_to_tick(self):
        first, second = snapshots("--count", "2", "--interval", "0.2")
        keys = {row["id"]: row["key"] for row in first["workload"]}
        both = [row for row in second["workload"] if row["id"] in keys]
        self.assertTrue(both)
        for row in both:
            self.assertEqual(row["key"], keys[row["id"]])


def hierarchies():
    """Folders in which a cgroup can be made, one for each hierarchy that counts something."""
    if (CGROUPS / "cgroup.controllers").exists():
        return [CGROUPS]
    return [CGROUPS / name for name in ("memory", "cpuacct", "pids") if (CGROUPS / name / "tasks").exists()]


class Kernel(unittest.TestCase):
    def setUp(self):
        if os.geteuid() != 0 or not hierarchies():
            self.skipTest("cgroups can be made by root alone, where they are mounted")
        self.unit = f"vitals-test-{os.getpid()}.service"
        self.folders = [folder / self.unit for folder in hierarchies()]
        for folder in self.folders:
            try:
                folder.mkdir()
            except OSError as error:
                self.skipTest(f"{folder}: {error.strerror}")
            self.addCleanup(folder.rmdir)

    def start(self, script):
        process = subprocess.Popen(["sh", "-c", f"read go; {script}"], stdin=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        try:
            for folder in self.folders:
                (folder / "cgroup.procs").write_text(str(process.pid))
        except OSError as error:
            self.skipTest(f"moving a process: {error.strerror}")
        process.stdin.write(b"go\n")
        process.stdin.close()
        return process

    def test_a_cgroup_counts_for_those_who_have_ended(self):
        work = "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done"
        worker = self.start(f"{work}; exit")
        worker.wait()
        self.start("exec sleep 300")
        row = next(row for row in snapshots()[0]["workload"] if row["id"] == f"unit:{self.unit}")
        self.assertEqual(row["cgroup"], f"/{self.unit}")
        self.assertEqual(row["unit"], self.unit)
        self.assertEqual(row["processes"], 1)
        with contextlib.suppress(FileNotFoundError):
            counted = float((CGROUPS / "cpuacct" / self.unit / "cpuacct.usage").read_text()) / 1e9
            self.assertLessEqual(row["cpu_seconds"], counted)
        state = row.get("availability", {})
        if "cpu_seconds" not in state:  # as exact as it gets: the worker's time is in it
            self.assertGreater(row["cpu_seconds"], 0.01)
        for metric in ("memory_used_bytes", "tasks"):
            self.assertTrue(row[metric] or metric in state, metric)


if __name__ == "__main__":
    unittest.main()
