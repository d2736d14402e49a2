"""`vitals run --gpus N`: as `vitals select -n N --wait --lock -- vitals run` does, on the demo's devices."""

import subprocess
import unittest

from harness import VITALS, environment, vitals
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

    def test_bad_options_are_told_before_anybody_waits(self):
        done = vitals("run", "--backends", "none", "--gpus", "1", "--limit-memory", "x", "--", "true")
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
