"""`vitals track` of a process whose children come and go between two samples."""

import json
import pathlib
import subprocess
import tempfile
import unittest

from cast import ordinary
from harness import PYTHON, VITALS, environment, wait_until

CHILDREN = 1000
CHILD_SECONDS = 0.001

# Forks children of a millisecond, one after the other, once it is told to, and then waits for its
# end. Nobody waits for a child where SIGCHLD is ignored; a daemon is a child of whoever adopts it.
PARENT = """
import os, signal, sys, time
kind, count, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
if kind == "ignored":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
def burn():
    while time.process_time() - began < seconds:
        pass
    os._exit(0)
print("ready", flush=True)
sys.stdin.readline()
for _ in range(count):
    child = os.fork()
    if child == 0:
        began = time.process_time()
        if kind != "daemon" or os.fork() == 0:
            os.setsid()
            burn()
        os._exit(0)
    try:
        os.waitpid(child, 0)
    except ChildProcessError:
        pass
print("done", flush=True)
sys.stdin.readline()
"""

REACHES = "import os, sys; sys.exit(not os.access(sys.argv[1], os.W_OK | os.X_OK))"


class Ends(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o777)

    def tracked(self, kind, who=()):
        """The account of such a parent, with samples that see next to none of it."""
        parent = subprocess.Popen(
            [*who, PYTHON, "-c", PARENT, kind, str(CHILDREN), str(CHILD_SECONDS)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/",
        )
        self.addCleanup(lambda: (parent.stdin.close(), parent.stdout.close(), parent.wait()))
        self.addCleanup(parent.kill)
        self.assertEqual(parent.stdout.readline(), b"ready\n")
        account = self.folder / f"{kind}.json"
        state = self.folder / f"state-{kind}"
        state.mkdir()
        state.chmod(0o777)
        tracker = subprocess.Popen(
            [*who, VITALS, "track", "--interval", "1s", "--json", account, str(parent.pid)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=environment(XDG_STATE_HOME=str(state)),
        )
        self.addCleanup(tracker.stdout.close)
        self.addCleanup(tracker.kill)
        wait_until(lambda: list(state.glob("vitals/*.json")), "running totals")
        parent.stdin.write(b"go\n")
        parent.stdin.flush()
        self.assertEqual(parent.stdout.readline(), b"done\n")
        parent.stdin.write(b"end\n")
        parent.stdin.flush()
        self.assertEqual(tracker.wait(timeout=60), 0, tracker.stdout.read())
        document = json.loads(account.read_text())
        return document["attributes"]["rungs"].split(), {
            figure["name"]: figure for figure in document["figures"] if not figure.get("subject")
        }

    def check_counted(self, kind, processes):
        rungs, figures = self.tracked(kind)
        if "taskstats" not in rungs:
            self.skipTest("the kernel tells no ends here: " + " ".join(rungs))
        cpu = figures["cpu_seconds"]
        if "some lost" in cpu["source"]:
            self.skipTest("the machine has too much to tell: " + cpu["source"])
        self.assertEqual(cpu["availability"], "lower_bound", cpu)
        self.assertIn("taskstats", cpu["source"])
        self.assertGreaterEqual(cpu["value"], CHILDREN * CHILD_SECONDS)
        self.assertGreaterEqual(figures["processes"]["value"], processes)
        self.assertLessEqual(figures["processes"]["value"], processes + 10)
        self.assertLess(figures["processes_seen"]["value"], CHILDREN)

    def test_children_that_nobody_waits_for(self):
        self.check_counted("ignored", CHILDREN + 1)

    def test_daemons_that_others_reap(self):
        self.check_counted("daemon", 2 * CHILDREN + 1)

    def test_children_that_were_waited_for_are_never_less(self):
        _, figures = self.tracked("waited")
        cpu = figures["cpu_seconds"]
        self.assertGreaterEqual(cpu["value"], 0.98 * CHILDREN * CHILD_SECONDS)
        self.assertIn(cpu["availability"], ("sampled", "lower_bound"))

    def ordinary_user(self):
        """The words that run a command as an ordinary user; skips where such a one can run no
        interpreter, not the command, or reach no folder of ours."""
        words = ordinary(self)
        probe = subprocess.run(
            [*words, PYTHON, "-c", REACHES, self.folder],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, cwd="/",
        )
        if probe.returncode != 0:
            why = (probe.stderr.strip().splitlines() or ["it cannot write where accounts go"])[-1]
            self.skipTest("no parent can be an ordinary user's: " + why)
        return words

    def test_nobody_hears_of_births_alone(self):
        rungs, figures = self.tracked("ignored", self.ordinary_user())
        self.assertNotIn("taskstats", rungs)
        self.assertIn("sampling", rungs)
        self.assertNotEqual(figures["cpu_seconds"]["availability"], "have")
        if "connector" not in rungs:
            self.skipTest("an ordinary user may not listen on this kernel")
        if "some were lost" in figures["processes"]["source"]:
            self.skipTest("the machine has too much to tell")
        self.assertEqual(figures["processes"]["availability"], "lower_bound")
        self.assertGreaterEqual(figures["processes"]["value"], CHILDREN + 1)


if __name__ == "__main__":
    unittest.main()
