"""What the samples of `vitals run` see of who slips away from the cgroup that counts him, and that
what is recorded of the machine moves in each row."""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from harness import VITALS, environment

MEBIBYTE = 1 << 20

# Rests first, so that it is known and trusted to; then goes into a group of its own making beside
# the one that it was born in, sleeps there, and does what nobody may miss.
MOVER = """
import os, sys, time
time.sleep(3)
place = next((line[3:].strip() for line in open("/proc/self/cgroup") if line.startswith("0::")), "/")
mount = next((line.split()[4] for line in open("/proc/self/mountinfo") if " - cgroup2 " in line), "")
if not mount or place == "/":
    sys.exit(9)
other = mount + os.path.dirname(place).rstrip("/") + "/vitals-moved-%d" % os.getpid()
try:
    os.mkdir(other)
    with open(other + "/cgroup.procs", "w") as file:
        file.write(str(os.getpid()))
except OSError:
    if os.path.isdir(other):
        os.rmdir(other)
    sys.exit(9)
print(other, flush=True)
time.sleep(3)
held = bytearray(b"x") * (100 << 20)
children = []
for _ in range(3):
    child = os.fork()
    if child == 0:
        until = time.process_time() + 1
        while time.process_time() < until:
            pass
        time.sleep(2)
        os._exit(0)
    children.append(child)
time.sleep(3)
for child in children:
    os.waitpid(child, 0)
"""


class Watched(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_vitals(self, *arguments):
        return subprocess.run([VITALS, "run", "-q", *map(str, arguments)], capture_output=True,
                              text=True, timeout=120, env=environment(), check=False)

    def test_who_was_moved_to_another_cgroup_is_seen(self):
        path = self.folder / "account.json"
        done = self.run_vitals("--json", path, "--", sys.executable, "-c", MOVER)
        if done.stdout.strip():
            pathlib.Path(done.stdout.strip()).rmdir()
        if done.returncode == 9:
            self.skipTest("no second cgroup can be made here")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        figures = {(figure["name"], figure.get("subject", "")): figure
                   for figure in json.loads(path.read_text())["figures"]}
        said = {name: figure.get("value") for (name, _), figure in figures.items()
                if name in ("memory_resident_peak_bytes", "processes_peak")}
        self.assertGreater(self.value(figures, "memory_resident_peak_bytes"), 100 * MEBIBYTE, said)
        self.assertGreaterEqual(self.value(figures, "processes_peak"), 4, said)

    def value(self, figures, name):
        found = [figure["value"] for (its, _), figure in figures.items() if its == name]
        self.assertTrue(found, f"{name} is not in the account")
        return max(found)

    def test_the_machine_moves_in_each_row_of_a_recording(self):
        path = self.folder / "a.csv"
        done = self.run_vitals("--record", path, "--", "sleep", "6")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with path.open(encoding="utf-8") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        first = float(rows[0]["time"])
        later = [row for row in rows if float(row["time"]) - first >= 1.5]
        self.assertGreaterEqual(len(later), 3)
        for name in ("disk_read_bytes", "network_received_bytes", "load_1m", "processes"):
            self.assertTrue(rows[0][f"system.{name}"] or later[0][f"system.{name}"], name)
            # The last comes at once after the end: of what does not grow the one before holds.
            for row in later[:-1] if name == "load_1m" else later:
                self.assertTrue(row[f"system.{name}"], f"{name} at {row['time']}")


if __name__ == "__main__":
    unittest.main()
