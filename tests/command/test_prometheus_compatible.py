"""`--compat nvitop-exporter` beside nvitop-exporter itself, both on the simulated driver: the same
families, the same labels, the same values."""

import http.client
import json
import math
import pathlib
import subprocess
import time
import unittest

from exposed import SERVERS_PYTHON, free_port, has_module, lint, needs_promtool, series
from harness import SOURCE, VITALS, environment, nvml, reads_json, vitals
from served import Server
from tell_program import PATIENCE, snapshots

SCENARIO = SOURCE / "tests" / "nvml" / "scenarios" / "two-healthy.conf"
HOST = "somewhere"

# Theirs, of the Python that it runs in.
OWN = ("python_", "process_virtual_", "process_resident_", "process_start_time_", "process_cpu_seconds_",
       "process_open_fds", "process_max_fds")

# What stands still on the simulated driver and on this machine, and how near two readings must be.
STILL = {
    "gpu_memory_total_MiB": 0, "gpu_memory_used_MiB": 0, "gpu_memory_free_MiB": 0,
    "gpu_memory_percent_Percentage": 0.1, "gpu_power_limit_W": 0, "gpu_memory_utilization_Percentage": 0,
    "gpu_clock_sm_MHz": 0, "gpu_clock_memory_MHz": 0, "gpu_clock_graphics_MHz": 0, "gpu_clock_video_MHz": 0,
    "gpu_fan_speed_Percentage": 0, "process_gpu_memory_MiB": 0,
    "host_virtual_memory_total_MiB": 0, "host_swap_memory_total_MiB": 0,
}


def still(labels):
    """Labels without the process that reads, which the scenario puts on a device, and its host."""
    return tuple(pair for pair in labels if pair[0] != "hostname")


def is_reader(labels):
    return dict(labels).get("pid") not in (None, "1", "4000001")


def stays(labels):
    """No process of ours, and no interface that another test may make meanwhile."""
    return not is_reader(labels) and dict(labels).get("interface", "lo") == "lo"


def get(port, until):
    while True:
        try:
            client = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            client.request("GET", "/metrics")
            text = client.getresponse().read().decode()
            client.close()
            return text
        except OSError:
            assert time.monotonic() < until, port
            time.sleep(0.1)  # a server of others: there is nothing to wait on


@unittest.skipUnless(reads_json(), "built without JSON")
@unittest.skipUnless(has_module("nvitop_exporter"), "no Python with nvitop-exporter (VITALS_SERVERS_PYTHON)")
class Beside(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        library = pathlib.Path(nvml("r580"))
        until = time.monotonic() + PATIENCE
        ports = free_port(), free_port()
        cls.running = [
            subprocess.Popen(command, env=environment(VITALS_NVML_SCENARIO=SCENARIO, **env),
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for command, env in (
                ([SERVERS_PYTHON, "-m", "nvitop_exporter", "-H", HOST, "-p", str(ports[0])],
                 {"LD_LIBRARY_PATH": library.parent}),
                ([VITALS, "serve", "--nvml", library, "--backends", "nvidia", "--compat", "nvitop-exporter",
                  "--listen", f"127.0.0.1:{ports[1]}"], {}))]
        cls.theirs = cls.ours = {}
        # It sets its gauges one by one, device by device: these are the last ones.
        while len(cls.theirs.get("process_gpu_decoder_utilization_Percentage", ())) < 3:
            cls.theirs = series(get(ports[0], until))
            assert time.monotonic() < until
        while "gpu_nvlink_tx_throughput_MiBps" not in cls.ours or "process_cpu_percent_Percentage" not in cls.ours:
            cls.text = get(ports[1], until)
            cls.ours = series(cls.text)
            assert time.monotonic() < until, sorted(cls.ours)
        cls.own = {name for name in cls.ours if name.startswith(OWN)}
        cls.theirs, cls.ours = ({name: found for name, found in document.items() if not name.startswith(OWN)}
                                for document in (cls.theirs, cls.ours))

    @classmethod
    def tearDownClass(cls):
        for process in cls.running:
            process.kill()
            process.wait()

    def test_families_are_the_same(self):
        self.assertEqual(sorted(self.ours), sorted(self.theirs))

    def test_labels_are_the_same(self):
        for name, found in self.theirs.items():
            with self.subTest(name):
                names = {tuple(key for key, _ in labels) for labels in found}
                self.assertEqual({tuple(key for key, _ in labels) for labels in self.ours[name]}, names)

    def test_series_are_the_same(self):
        """But what theirs writes as NaN, where ours has none."""
        for name, found in self.theirs.items():
            if name in ("nvitop_info", "process_info_info") or name.startswith("host_disk_"):
                continue
            with self.subTest(name):
                theirs = {still(labels) for labels, value in found.items()
                          if not math.isnan(value) and stays(labels)}
                ours = {still(labels) for labels in self.ours[name] if stays(labels)}
                self.assertEqual(ours, theirs)

    def test_values_are_the_same(self):
        for name, tolerance in STILL.items():
            ours = {still(labels): value for labels, value in self.ours[name].items()}
            for labels, value in self.theirs[name].items():
                if math.isnan(value) or is_reader(labels):
                    continue
                with self.subTest(f"{name} {labels}"):
                    self.assertAlmostEqual(ours[still(labels)], value, delta=tolerance)

    def test_information_is_the_same(self):
        mine, = self.ours["nvitop_info"]
        other, = self.theirs["nvitop_info"]
        self.assertEqual(still(mine), still(other))

    def test_no_command_line_unless_it_is_asked_for(self):
        commands = {dict(labels)["command"] for labels in self.ours["process_info_info"]}
        self.assertFalse([command for command in commands if "--" in command], commands)
        self.assertIn("No Such Process", commands)

    @needs_promtool
    def test_it_is_a_document(self):
        """Names are theirs, and promtool says of them what it says; of the form it says nothing."""
        said = lint(self.text)[1]
        self.assertNotIn("error while linting", said)


@unittest.skipUnless(reads_json(), "built without JSON")
class CommandLines(unittest.TestCase):
    """What leaves of them, as it was chosen."""

    LINE = "train\0--password\0hunter2\0--lr\0" + "1\0"

    def commands(self, form):
        document = json.loads(snapshots("--demo")[0])
        for row in document["tables"]["process"]:
            row["command_line"] = self.LINE
            row.get("availability", {}).pop("command_line", None)
        with Server(samples=False, compat="nvitop-exporter", hello={"cmdline": form}) as server:
            server.write(document)
            server.wait_ready()
            found = series(server.get("/metrics")[2].decode())
        return {dict(labels)["command"] for labels in found["process_info_info"]}

    def test_forms(self):
        self.assertIn("train --password '***' --lr 1", self.commands("redacted"))
        self.assertIn("train --password hunter2 --lr 1", self.commands("full"))
        self.assertIn("train", self.commands("argv0"))
        self.assertFalse([c for c in self.commands("off") if "train --" in c])

    def test_unknown_forms_are_refused(self):
        done = vitals("serve", "--compat", "nvitop-exporter", "--cmdline", "some")
        self.assertEqual(done.returncode, 2)

