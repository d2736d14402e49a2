"""What Prometheus is told, seen by Prometheus: promtool, the reference parsers, a server that scrapes."""

import json
import os
import pathlib
import re
import stat
import subprocess
import tempfile
import time
import unittest

from cast import kernel_thread
from exposed import (PROMETHEUS, ask_prometheus, await_prometheus, free_port, lint, needs_client,
                     needs_promtool, parse, series, shipped_config, start_prometheus, start_server)
from harness import SANITIZED, SOURCE, VITALS, environment, nvml, reads_json, wait_until
from served import Server
from tell_program import PATIENCE, Tell, snapshots

OPENMETRICS = "application/openmetrics-text;version=1.0.0"
LEVELS = ("off", "workload", "pid")

CORPUS = SOURCE / "fuzz" / "corpus" / "exposition"


def hostile():
    """Samples in which every name is as bad as it can be; their first byte is the fuzzer's."""
    return (CORPUS / "pid").read_bytes()[1:].splitlines()


def written(lines, **config):
    """The file that a textfile publisher writes of the last of these samples."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "vitals.prom"
        with Tell(patience_seconds=PATIENCE, interval_seconds=3600, textfile={"path": str(path), **config}) as tell:
            for line in lines:
                tell.write(line)
            text, seen = "", None
            while seen is None or seen != path.stat().st_ino:  # a sample may be passed over for the next
                wait_until(path.exists, "the file")
                seen, text = path.stat().st_ino, path.read_text()
                time.sleep(0.3)
            return text


@unittest.skipUnless(reads_json(), "built without JSON")
class Documents(unittest.TestCase):
    @needs_promtool
    def test_promtool_is_silent(self):
        for level in LEVELS:
            for lines in (snapshots("--demo"), hostile()):
                with self.subTest(f"{level} {len(lines)}"):
                    self.assertEqual(lint(written(lines, processes=level)), (0, ""))

    @needs_client
    def test_the_reference_parser_reads_all_of_it(self):
        with Server(samples=False, processes="pid") as server:
            for lines in (snapshots("--demo"), hostile()):
                for line in lines:
                    server.write(line)
                server.wait_ready()
                for form, accept in (("openmetrics", OPENMETRICS), ("text", "text/plain")):
                    with self.subTest(form):
                        body = server.get("/metrics", accept=accept)[2].decode()
                        families = parse(body, form)
                        samples = [s for family in families for s in family[4]]
                        lines = [line for line in body.splitlines() if not line.startswith("#")]
                        self.assertEqual(len(samples), len(lines))
                        self.assertGreater(len(families), 20)

    @needs_client
    def test_families_say_their_unit(self):
        with Server(processes="pid") as server:
            body = server.get("/metrics", accept=OPENMETRICS)[2].decode()
        units = {name: (kind, unit) for name, kind, unit, *_ in parse(body, "openmetrics")}
        self.assertEqual(units["vitals_gpu_energy_joules"], ("counter", "joules"))
        self.assertEqual(units["vitals_gpu_memory_used_bytes"], ("gauge", "bytes"))
        self.assertEqual(units["vitals_gpu_processes"], ("gauge", ""))

    def test_labels_are_the_documented_ones(self):
        page = (SOURCE / "docs" / "prometheus.md").read_text()
        known = {name: set(filter(None, labels.split(", ")))
                 for name, labels in re.findall(r"^\| `(\w+)` \| \w+ \| ([\w, ]*) \|", page, re.M)}
        for lines in (snapshots("--demo"), hostile()):
            for name, found in series(written(lines, processes="pid")).items():
                with self.subTest(name):
                    self.assertLessEqual({key for labels in found for key, _ in labels}, known[name])

    def test_values_are_those_of_the_sample(self):
        line = snapshots("--demo")[0]
        told = series(written([line], processes="pid"))
        for gpu in json.loads(line)["tables"]["gpu"]:
            if gpu["parent"] is None:
                labels = (("gpu", gpu["label"]), ("uuid", gpu["uuid"]))
                for ours, name in (("memory_used_bytes", "vitals_gpu_memory_used_bytes"),
                                   ("power_watts", "vitals_gpu_power_watts"),
                                   ("utilization_ratio", "vitals_gpu_utilization_ratio")):
                    with self.subTest(f"{name} {labels}"):
                        self.assertEqual(told[name].get(labels), gpu[ours])

    def test_the_exporter_tells_of_itself(self):
        """Under the names that every exporter has, whoever's names are asked for."""
        with Server(samples=False) as server:
            before = series(server.get("/metrics")[2].decode())
            status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
            stat = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
            booted = int(re.search(r"^btime (\d+)", pathlib.Path("/proc/stat").read_text(), re.M)[1])
            for _ in range(200):
                server.get("/metrics")
            after = series(server.get("/metrics")[2].decode())
        value = {name: found[()] for name, found in after.items() if name.startswith("process_")}
        resident = 1024 * int(re.search(r"VmRSS:\s+(\d+)", status)[1])
        apart = (64 if SANITIZED else 4) << 20  # a sanitizer keeps what was freed
        self.assertLess(abs(value["process_resident_memory_bytes"] - resident), apart)
        self.assertGreater(value["process_virtual_memory_bytes"], value["process_resident_memory_bytes"])
        self.assertGreater(value["process_cpu_seconds_total"], before["process_cpu_seconds_total"][()])
        self.assertLess(abs(value["process_start_time_seconds"] - booted - int(stat[19]) / 100), 3)
        self.assertGreater(value["process_max_fds"], 63)
        for name in ("process_open_fds",) if os.geteuid() != 0 else ():
            self.assertGreater(value[name], 5)  # who gave up root's rights may not look

    def test_hosts_can_be_left_to_another(self):
        line = snapshots("--demo")[0]
        for compat, names in (("", "vitals_host_"), ("nvitop-exporter", "host_")):
            for without in (False, True):
                with self.subTest(f"{compat} {without}"):
                    told = series(written([line], compat=compat, no_host=without))
                    self.assertEqual(any(name.startswith(names) for name in told), not without)
                    self.assertTrue(any("gpu_" in name for name in told))


@unittest.skipUnless(reads_json(), "built without JSON")
class Textfile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "vitals.prom"

    def tell(self, **config):
        return Tell(patience_seconds=PATIENCE, textfile={"path": str(self.path), **config})

    def test_anybody_may_read_it_and_nothing_else_is_left(self):
        umask = os.umask(0o077)
        self.addCleanup(os.umask, umask)
        with self.tell() as tell:
            tell.hear("opened")
            tell.write(snapshots("--demo")[0])
            tell.end()
        self.assertEqual(stat.S_IMODE(self.path.stat().st_mode), 0o644)
        self.assertEqual(os.listdir(self.folder), ["vitals.prom"])

    def test_a_reader_never_sees_half_of_it(self):
        line = snapshots("--demo")[0]
        with self.tell() as tell:
            tell.write(line)
            wait_until(self.path.exists, "the file")
            first = self.path.stat().st_ino
            held = self.path.open()
            before = held.read()
            tell.write(line)
            wait_until(lambda: self.path.stat().st_ino != first, "the next file")
            held.seek(0)
            self.assertEqual(held.read(), before)  # the old one is whole for who had it open
            held.close()
            tell.end()
        self.assertIn("vitals_build_info", self.path.read_text())

    def test_what_is_over_is_not_told_on(self):
        line = snapshots("--demo")[0]
        with self.tell() as tell:  # an interval of one second
            tell.write(line)
            wait_until(lambda: self.path.exists() and "vitals_gpu_info" in self.path.read_text(), "a sample")
            wait_until(lambda: "vitals_gpu_info" not in self.path.read_text(), "three intervals")
            tell.write(line)
            wait_until(lambda: "vitals_gpu_info" in self.path.read_text(), "the next sample")
            tell.end()
        text = self.path.read_text()
        self.assertNotIn("vitals_gpu_info", text)
        self.assertIn("vitals_build_info", text)
        self.assertIn("vitals_collector_last_success_timestamp_seconds", text)

    def test_what_fails_is_said_once(self):
        self.path = self.folder / "none" / "vitals.prom"
        line = snapshots("--demo")[0]
        with self.tell() as tell:
            for _ in range(5):
                tell.write(line)
            heard, _ = tell.end()
        said = [reply["say"] for reply in heard if "say" in reply]
        self.assertEqual(said, [f"{self.path}: cannot be written: No such file or directory"])

    def test_links_are_never_followed(self):
        other = self.folder / "other"
        other.write_text("untouched")
        with self.tell() as tell:
            (self.folder / f".vitals.prom.{tell.process.pid}.new").symlink_to(other)
            tell.write(snapshots("--demo")[0])
            tell.end()
        self.assertEqual(other.read_text(), "untouched")
        self.assertEqual([path.name for path in self.folder.iterdir() if path != other], [self.path.name])
        self.path.unlink()
        self.path.symlink_to(other)  # as /dev/stdout is one
        with self.tell() as tell:
            tell.write(snapshots("--demo")[0])
            heard, _ = tell.end()
        self.assertEqual([reply["say"] for reply in heard if "say" in reply],
                         [f"{self.path}: cannot be written: not a regular file"])
        self.assertEqual((other.read_text(), self.path.is_symlink()), ("untouched", True))

    def test_bad_words_are_refused(self):
        for config in ({"processes": "some"}, {"label_user": "who"}, {"compat": "dcgm"}, {"path": ""}):
            with self.subTest(str(config)), self.tell(**config) as tell:
                self.assertIn("textfile", tell.hear("failed")["failed"])
                tell.end()


@unittest.skipUnless(PROMETHEUS, "no prometheus")
@unittest.skipUnless(reads_json(), "built without JSON")
class Scraped(unittest.TestCase):
    """The real one, on loopback, with the limits of the configuration that we ship."""

    def test_it_scrapes_serve_itself(self):
        """The whole way, once: a sampler, the pipe, the server, Prometheus; counters count."""
        kernel_thread(self)  # in a pid namespace of its own, a pid that a driver names proves nothing
        with tempfile.TemporaryDirectory() as folder:
            target = f"127.0.0.1:{free_port()}"
            # On this simulated device the process that reads is at work.
            scenario = SOURCE / "tests" / "nvml" / "scenarios" / "two-healthy.conf"
            start_server(self.addCleanup, [VITALS, "serve", "--nvml", nvml("r580"), "--backends", "nvidia",
                                           "--listen", target, "--interval", "0.5"], VITALS_NVML_SCENARIO=scenario)
            port = start_prometheus(self.addCleanup, folder, shipped_config(target))
            await_prometheus(port, 'vitals_collector_success{collector="nvidia"} == 1')
            await_prometheus(port, "increase(vitals_gpu_busy_seconds_total[1m]) > 0")
            await_prometheus(port, 'increase(vitals_workload_gpu_busy_seconds_total[1m]) > 0')
            joined = await_prometheus(port, "vitals_workload_gpu_memory_used_bytes * on (instance, workload) "
                                            "group_left (user) vitals_workload_info")
            self.assertTrue(all("user" in one["metric"] for one in joined))
            self.doCleanups()

    def test_it_scrapes_and_stores(self):
        line = snapshots("--demo")[0]
        with tempfile.TemporaryDirectory() as folder, Server(samples=False,
                                                             processes="pid") as server:
            server.write(line)
            server.wait_ready()
            port = start_prometheus(self.addCleanup, folder, shipped_config(f"127.0.0.1:{server.port}"))
            await_prometheus(port, 'up{job="vitals"} == 1')
            stored = await_prometheus(port, "vitals_gpu_memory_used_bytes")
            wanted = {gpu["uuid"]: gpu["memory_used_bytes"] for gpu in json.loads(line)["tables"]["gpu"]
                      if gpu["parent"] is None}
            self.assertEqual({one["metric"]["uuid"]: float(one["value"][1]) for one in stored}, wanted)
            self.assertEqual(ask_prometheus(port, '{__name__=~"exported_.*"}'), [])
            self.assertEqual(ask_prometheus(port, '{exported_job!=""}'), [])
            self.doCleanups()
