"""`vitals run --gpus N`: as `vitals select -n N --wait --lock -- vitals run` does, on the demo's devices."""

import subprocess
import unittest

from harness import VITALS, environment, nvml, vitals
from runs import RunCase


class Gpus(RunCase):
    def test_the_command_sees_what_was_chosen(self):
        selected = vitals("select", "--demo", "-n", "1", "--", "env")
        done = vitals("run", "--demo", "--gpus", "1", "--quiet", "--", "env")
        self.assertEqual(done.returncode, 0, done.stderr)

        def visible(text):
            return [line for line in text.splitlines() if "VISIBLE_DEVICES" in line]

        self.assertTrue(visible(selected.stdout))
        self.assertEqual(visible(done.stdout), visible(selected.stdout))

    def test_its_exit_code_and_its_account(self):
        done = vitals("run", "--demo", "--gpus", "1", "--json", self.json, "--", "sh", "-c", "exit 6")
        self.assertEqual(done.returncode, 6)
        self.assertIn("exit 6", done.stderr)
        self.assertTrue(self.json.stat().st_size > 0)

    def test_nobody_else_gets_them_meanwhile(self):
        holder = subprocess.Popen([VITALS, "run", "--demo", "--gpus", "1", "--quiet", "--", "sh", "-c",
                                   "env | grep -E 'VISIBLE|AFFINITY'; exec sleep 60"],
                                  stdout=subprocess.PIPE, text=True, env=environment())
        self.addCleanup(holder.communicate)
        self.addCleanup(holder.kill)
        held = holder.stdout.readline().strip()
        self.assertTrue(held)
        other = vitals("run", "--demo", "--gpus", "1", "--quiet", "--", "sh", "-c",
                       "env | grep -E 'VISIBLE|AFFINITY'")
        self.assertEqual(other.returncode, 0)
        self.assertNotEqual(other.stdout.strip(), held)
        holder.terminate()
        self.assertEqual(holder.wait(30), 128 + 15)

    def test_limits_are_strict_unless_a_tolerance_is_given(self):
        """An 80 GiB card with 81.07 GB free misses 90 GB by less than 10 %."""
        scenario = self.folder / "scenario.conf"
        scenario.write_text("[gpu 0]\nmemory_total_bytes = 80GiB\nmemory_reserved_bytes = 0\n"
                            f"memory_used_bytes = {80 * 1024 ** 3 - 81070000000}\n"
                            "utilization_gpu_percent = 12\n")
        world = {"VITALS_NVML_SCENARIO": scenario, "VITALS_LOCK_FOLDER": self.folder}

        def command(*options):
            return ["run", "--nvml", str(nvml("r580")), "--backends", "nvidia", "--gpus", "1", "--quiet",
                    *options, "--", "echo", "ran"]

        for limit in (["--min-free-memory", "90GB"], ["--max-gpu-utilization", "5"]):
            with self.subTest(limit):
                waits = subprocess.Popen([VITALS, *command(*limit)], stdout=subprocess.PIPE,
                                         stderr=subprocess.PIPE, text=True, env=environment(**world))
                said = waits.stderr.readline()
                waits.kill()
                self.assertEqual(waits.communicate()[0], "")
                self.assertIn("waiting for GPUs: 0 of 1 are free", said)
                done = vitals(*command(*limit, "--tolerance", "10"), env=world)
                self.assertEqual((done.returncode, done.stdout), (0, "ran\n"), done.stderr)

    def test_more_than_there_are_end_at_once(self):
        done = vitals("run", "--backends", "none", "--gpus", "1", "--", "echo", "ran")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("no GPU was found", done.stderr)

    def test_bad_options_are_told_before_anybody_waits(self):
        done = vitals("run", "--backends", "none", "--gpus", "1", "--limit-memory", "x", "--", "true")
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
