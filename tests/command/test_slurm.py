"""packaging/slurm: a job whose slurmstepd is a program with that title leaves an account, and a log that ends with it.
scripts/package-test tries the same with Slurm itself."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

from harness import NOBODY, SOURCE, VITALS, environment, reads_json, wait_until

SLURM = SOURCE / "packaging" / "slurm"
JOB = str(10 ** 9 + os.getpid())
# A step that works for a moment after the prolog has seen it: `go` ends it.
STEP = 'exec -a "slurmstepd: [$0.batch]" sh -c "while ! [ -e \\$0 ]; do sleep 0.02; done" "$1"'


@unittest.skipUnless(reads_json(), "built without JSON")
@unittest.skipUnless(os.geteuid() == 0, "Slurm's prolog and epilog are for root")
@unittest.skipUnless(shutil.which("pgrep") and shutil.which("setpriv"), "no pgrep or setpriv")
class Job(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)
        self.accounts = self.folder / "accounts"
        self.log = self.folder / "log"
        self.log.write_text("the job's own words\n")
        self.env = environment(SLURM_JOB_ID=JOB, SLURM_JOB_UID=str(NOBODY), SLURM_JOB_STDOUT=str(self.log),
                               VITALS_JOBS=str(self.accounts), VITALS_PATH=str(pathlib.Path(VITALS).resolve().parent))

    def script(self, name):
        """As slurmd does it: in a process group of its own, which is killed when the script has ended."""
        script = subprocess.Popen([SLURM / name], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  start_new_session=True)
        status = script.wait()
        try:
            os.killpg(script.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        output, errors = script.communicate()
        self.assertEqual((status, output), (0, ""), errors)

    def run_job(self):
        go = self.folder / "go"
        self.script("prolog")
        self.addCleanup(shutil.rmtree, f"/run/vitals-jobs/{JOB}", ignore_errors=True)
        step = subprocess.Popen(["bash", "-c", STEP, JOB, str(go)], env=self.env)
        self.addCleanup(step.wait)
        self.addCleanup(step.kill)
        wait_until(lambda: list(pathlib.Path("/run/vitals-jobs", JOB).iterdir()), "the step to be seen")
        tracked = self.accounts / f"{JOB}.batch.json"
        wait_until(tracked.exists, "the account to be opened")
        go.touch()
        step.wait()
        self.script("epilog")
        return json.loads(tracked.read_text()), tracked

    def test_its_log_ends_with_the_account(self):
        os.chown(self.log, NOBODY, NOBODY)
        account, path = self.run_job()
        self.assertEqual(account["attributes"]["state"], "complete")
        self.assertEqual(path.stat().st_uid, NOBODY)
        log = self.log.read_text()
        self.assertTrue(log.startswith("the job's own words\n"))
        self.assertIn("next time ask for", log)
        self.assertFalse(pathlib.Path("/run/vitals-jobs", JOB).exists())

    def test_a_log_that_is_named_by_a_pattern(self):
        os.chown(self.log, NOBODY, NOBODY)
        scontrol = self.folder / "scontrol"
        scontrol.write_text(f"#!/bin/sh\necho '   StdErr=/nowhere'\necho '   StdOut={self.log}'\n")
        scontrol.chmod(0o755)
        self.env.update(SLURM_JOB_STDOUT=str(self.folder / "log.%j"), PATH=f"{self.folder}:{self.env['PATH']}")
        self.run_job()
        self.assertIn("next time ask for", self.log.read_text())

    def test_a_machine_so_busy_that_the_prolog_is_faster_than_its_program(self):
        slow = self.folder / "setsid"
        slow.write_text(f'#!/bin/sh\nsleep 0.5\nexec {shutil.which("setsid")} "$@"\n')
        slow.chmod(0o755)
        self.env["PATH"] = f"{self.folder}:{self.env['PATH']}"
        account, _ = self.run_job()
        self.assertEqual(account["attributes"]["state"], "complete")

    def test_a_log_that_the_user_may_not_write_is_left_alone(self):
        self.log.chmod(0o644)
        self.run_job()
        self.assertEqual(self.log.read_text(), "the job's own words\n")


if __name__ == "__main__":
    unittest.main()
