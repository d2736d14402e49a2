"""What the tests of MLflow stand on: a program that tells a server, in a folder of its own."""

import os
import pathlib
import re
import tempfile
import unittest

from mlflow_server import BEGIN_NS, JOB
from tell_program import Tell

BEGIN_MS = BEGIN_NS // 10**6


def check_all_sent(case, sent, spool, url):
    """What `vitals send` says of a file that it has sent: one line with how much went where."""
    case.assertEqual(sent.returncode, 0, sent.stderr)
    case.assertRegex(sent.stderr, rf"^vitals: mlflow: sent [1-9]\d* records \(\d+ metric values, \d+ artifacts\) "
                                  rf"to {re.escape(url)}; {re.escape(str(spool))} is removed\n$")
    case.assertFalse(spool.exists())


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="vitals-mlflow-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.spool = self.folder / "state" / "unsent"

    def tell(self, url, env=None, patience=20, cmdline="off", program="run", job=None, **config):
        variables = {name: None for name in os.environ if name.startswith("MLFLOW_")}
        variables |= {"HOME": str(self.folder)} | (env or {})
        config = {"uri": url, "spool": str(self.spool)} | config
        return Tell(env=variables, patience_seconds=patience, program=program, cmdline=cmdline, job=job or JOB,
                    mlflow={name: value for name, value in config.items() if value is not None})

    def spools(self):
        return sorted(self.spool.glob("*")) if self.spool.exists() else []

    def points(self, stub, key):
        return [(point["timestamp"] - BEGIN_MS, point["step"], point["value"])
                for batch in stub.batches() for point in batch if point["key"] == key]
