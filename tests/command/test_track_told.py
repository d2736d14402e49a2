"""`vitals track` of a process that gave itself a name: what others are told that it is called."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from exposed import series
from harness import BUILD, VITALS, environment, reads_json, wait_until

NAMED = """import pathlib, sys
pathlib.Path("/proc/self/comm").write_text(sys.argv[1])
print("named", flush=True)
sys.stdin.readline()
"""


@unittest.skipUnless(reads_json() and (BUILD / "tell").exists(), "built without JSON or what tells others")
class Told(unittest.TestCase):
    def test_a_slash_in_the_name_that_it_gave_itself_stays(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.prom"
            worker = subprocess.Popen([sys.executable, "-c", NAMED, "train/rank0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            with worker:
                self.assertEqual(worker.stdout.readline(), b"named\n")
                track = subprocess.Popen([VITALS, "--demo", "track", "--quiet", "--textfile", path, str(worker.pid)], env=environment(),
                                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                try:
                    wait_until(lambda: path.exists() or track.poll() is not None, "what is told", seconds=60)
                    worker.stdin.close()
                    _, said = track.communicate(timeout=60)
                finally:
                    track.kill()
            self.assertTrue(path.exists(), said)
            names = {dict(labels).get("name") for labels in series(path.read_text())["vitals_run_info"]}
            self.assertEqual(names, {"train/rank0"}, said)


if __name__ == "__main__":
    unittest.main()
