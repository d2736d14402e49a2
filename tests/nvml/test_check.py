"""tests/gpu/check, which is for machines with a real GPU, on the simulation: every value of ours agrees
with nvidia-ml-py's, and one that does not is noticed."""

import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

import simulated

CHECK = pathlib.Path(simulated.HERE).parents[0] / "gpu" / "check"
VITALS = os.environ.get("VITALS", os.path.join(os.environ["VITALS_BUILD"], "vitals"))


def check(variant, name, vitals=VITALS):
    environment = dict(os.environ, LD_LIBRARY_PATH=simulated.folder(variant), PATH="/nowhere",
                       VITALS_NVML_SCENARIO=simulated.scenario(name))
    return subprocess.run([sys.executable, str(CHECK), "--no-load", "--vitals", str(vitals)],
                          env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120)


class Check(unittest.TestCase):
    def test_every_value_agrees(self):
        for variant in ("r535", "r580"):
            with self.subTest(variant):
                done = check(variant, "eight")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                agree = int(done.stdout.splitlines()[-1].split()[0])
                self.assertGreater(agree, 8 * 50)
                self.assertIn("nvidia-smi: not installed here", done.stdout)

    def test_a_wrong_value_is_noticed(self):
        """Ours looks at other GPUs than nvidia-ml-py."""
        with tempfile.NamedTemporaryFile("w", suffix=".sh", delete=False) as wrapper:
            wrapper.write(f"#!/bin/sh\nVITALS_NVML_SCENARIO={simulated.scenario('two-healthy')} "
                          f"exec {VITALS} \"$@\"\n")
        try:
            os.chmod(wrapper.name, stat.S_IRWXU)
            done = check("r580", "eight", wrapper.name)
        finally:
            os.unlink(wrapper.name)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?m)^  memory_used_bytes .*DIFFERS$")

    def test_without_a_gpu_it_says_so(self):
        done = check("r580", "init-driver-not-loaded")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("no NVIDIA GPU to look at", done.stderr)


if __name__ == "__main__":
    unittest.main()
