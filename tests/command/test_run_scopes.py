"""What is counted of a run beyond its processes: the target's own cgroup, a network namespace of its
own, whose the devices are. Each needs rights that a test may lack."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import recorded
from harness import VITALS, environment, vitals, wait_until

# Spends half a second of CPU time in children that each live for some ms, once it is told to.
WORKER = """
import os, sys, time
print("ready", flush=True)
sys.stdin.readline()
while sum(os.times()[:4]) < 0.5:
    if os.fork() == 0:
        end = time.process_time() + 0.005
        while time.process_time() < end:
            pass
        os._exit(0)
    os.wait()
print("done", flush=True)
sys.stdin.readline()
"""

# An interface in a namespace of its own, and a megabyte through it.
TRAFFIC = """
set -e
ip link add name va0 type veth peer name vb0
ip addr add 10.9.0.1/24 dev va0
ip link set dev va0 up
ip link set dev vb0 up
sleep 4
exec python3 - <<'END'
import socket, time
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
for i in range(1000):
    sender.sendto(bytes(1000), ("10.9.0.255", 9))
time.sleep(4)
END
"""


def cgroup2():
    """Where version 2 is mounted, or None."""
    for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
        if line.split()[2] == "cgroup2":
            return pathlib.Path(line.split()[1])
    return None


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def figures(self, path):
        document = json.loads(path.read_text())
        return document["attributes"], {
            (figure["name"], figure.get("subject", "")): figure for figure in document["figures"]
        }


class Cgroup(Folder):
    def group(self):
        mount = cgroup2()
        if mount is None:
            self.skipTest("no cgroup of version 2")
        group = mount / f"vitals-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError as error:
            self.skipTest(f"no cgroup can be made: {error}")
        self.addCleanup(group.rmdir)
        return group

    def worker(self, group):
        def enter():
            (group / "cgroup.procs").write_text(str(os.getpid()))

        worker = subprocess.Popen([sys.executable, "-c", WORKER], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, preexec_fn=enter)
        self.addCleanup(lambda: (worker.stdin.close(), worker.stdout.close(), worker.wait()))
        self.addCleanup(worker.kill)
        self.assertEqual(worker.stdout.readline(), b"ready\n")
        return worker

    def track(self, worker):
        account = self.folder / "account.json"
        totals = self.folder / "totals.json"
        track = subprocess.Popen([VITALS, "track", "-q", "--json", account, "--backup", totals,
                                  str(worker.pid)], env=environment())
        self.addCleanup(track.kill)
        wait_until(totals.exists, "running totals")
        return track, account

    def tell(self, worker):
        worker.stdin.write(b"go\n")
        worker.stdin.flush()

    def run_worker(self, group, stranger=None):
        worker = self.worker(group)
        if stranger is not None:
            (group / "cgroup.procs").write_text(str(stranger))
        track, account = self.track(worker)
        self.tell(worker)
        self.assertEqual(worker.stdout.readline(), b"done\n")
        self.tell(worker)
        self.assertEqual(track.wait(timeout=60), 0)
        return self.figures(account)

    def test_the_targets_own_cgroup_counts_exactly(self):
        attributes, figures = self.run_worker(self.group())
        cpu = figures["cpu_seconds", ""]
        self.assertEqual((cpu["availability"], attributes["rungs"].split()[0]), ("have", "cgroup2"))
        self.assertIn("its cgroup v2", cpu["source"])
        self.assertGreater(cpu["value"], 0.3)
        self.assertLess(cpu["value"], 60)

    def test_a_cgroup_that_others_are_in_does_not(self):
        group = self.group()
        stranger = subprocess.Popen(["sleep", "300"])
        self.addCleanup(stranger.wait)
        self.addCleanup(stranger.kill)
        attributes, figures = self.run_worker(group, stranger.pid)
        self.assertNotIn("cgroup2", attributes["rungs"])
        # a bound, if a busy machine let no sample be taken near its end
        self.assertIn(figures["cpu_seconds", ""]["availability"], ("sampled", "lower_bound"))


class Network(Folder):
    def test_our_namespace_gives_an_upper_bound(self):
        path = self.folder / "account.json"
        done = vitals("run", "-q", "--json", path, "--", "sleep", "2.5")
        self.assertEqual(done.returncode, 0, done.stderr)
        figure = self.figures(path)[1].get(("network_received_bytes", ""))
        if figure is None:
            self.skipTest("namespaces cannot be read here")
        self.assertEqual(figure["availability"], "upper_bound")
        self.assertIn("machine", figure["source"])

    def test_a_namespace_of_its_own_is_counted(self):
        path = self.folder / "account.json"
        own = ("unshare", "-rn", "sh", "-c", TRAFFIC)
        if shutil.which("ip") is None or shutil.which("unshare") is None:
            self.skipTest("no ip, or no unshare")
        made = subprocess.run(["unshare", "-rn", "ip", "link", "add", "name", "va0", "type", "veth",
                               "peer", "name", "vb0"], capture_output=True, check=False)
        if made.returncode != 0:
            self.skipTest("no namespace with an interface can be made")
        done = vitals("run", "--json", path, "--", *own, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        figure = self.figures(path)[1]["network_transmitted_bytes", ""]
        self.assertEqual(figure["availability"], "sampled")
        self.assertIn("its network namespace", figure["source"])
        self.assertGreater(figure["value"], 1e6)
        self.assertLess(figure["value"], 3e6)


class Vendors(Folder):
    def limits(self, **attributes):
        path = self.folder / "account.json"
        document = recorded.training(**attributes)
        for figure in document["figures"]:
            for uuid, name in zip((uuid for uuid, _ in recorded.GPUS), ("0000:03:00.0", "card 1")):
                if figure.get("subject") == uuid and attributes:
                    figure["subject"] = name
        path.write_text(json.dumps(document))
        done = vitals("report", path, "--advice", "kubernetes")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_advice_names_what_the_vendors_plugin_does(self):
        for vendor, driver, resource in (("amd", "amdgpu", "amd.com/gpu"),
                                         ("intel", "i915", "gpu.intel.com/i915"),
                                         ("intel", "xe", "gpu.intel.com/xe"),
                                         ("nvidia", "nvidia", "nvidia.com/gpu")):
            drivers = f"{vendor} {driver} 0000:03:00.0\n{vendor} {driver} card 1"
            with self.subTest(driver=driver):
                self.assertIn(f"    {resource}: 2\n", self.limits(gpu_drivers=drivers))

    def test_a_driver_that_is_not_known_is_not_guessed(self):
        for drivers in ("x msm 0000:03:00.0\nx msm card 1", "", "a b\n\n  \nx"):
            with self.subTest(drivers=drivers):
                self.assertNotIn("nvidia.com/gpu", self.limits(gpu_drivers=drivers))


if __name__ == "__main__":
    unittest.main()
