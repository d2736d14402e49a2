"""Commands over a driver that is slow to start, to list its GPUs, to answer, or to end."""

import concurrent.futures
import json
import pathlib
import tempfile
import time
import unittest

from harness import SANITIZED, nvml, vitals

EIGHT = "".join(f"[gpu {i}]\n" for i in range(8))
LISTING = "\n[call nvmlDeviceGetHandleByIndex_v2]\nlatency = {}\n"


class SlowDriver(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.conf = pathlib.Path(folder.name, "scenario.conf")
        self.library = nvml("r580")
        if not self.library.exists():
            self.skipTest("this build has no simulated driver")

    def run_it(self, *arguments):
        word = 0 if arguments[0].startswith("-") else 1
        return vitals(*arguments[:word], "--nvml", self.library, "--backends", "nvidia",
                      *arguments[word:], env={"VITALS_NVML_SCENARIO": self.conf},
                      timeout=120)

    def run_all(self, commands):
        """Each command and how it ended. All wait at once, as each has a driver of its own."""
        with concurrent.futures.ThreadPoolExecutor(len(commands)) as several:
            return list(zip(commands, several.map(lambda command: self.run_it(*command), commands)))

    def test_listing_takes_long(self):
        """0.7 s a device, 5.6 s in all: every command waits, and says so."""
        self.conf.write_text(EIGHT + LISTING.format("700ms"), encoding="utf-8")
        counts = {("-1",): lambda text: text.count("H100"), ("--json",): None,
                  ("device", "-o", "label", "--no-header"): lambda text: len(text.split()),
                  ("topo", "--json"): None,
                  ("select", "-n", "8"): lambda text: len(text.split(","))}
        for arguments, done in self.run_all(list(counts)):
            count = counts[arguments]
            with self.subTest(arguments):
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("still listing its GPUs", done.stderr)
                found = (len(json.loads(done.stdout)["tables"]["gpu"]) if count is None
                         else count(done.stdout))
                self.assertGreaterEqual(found, 8, done.stdout)

    def test_start_takes_long(self):
        self.conf.write_text(EIGHT + "\n[call nvmlInit_v2]\nlatency = 3s\n", encoding="utf-8")
        done = self.run_it("--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("still listing its GPUs", done.stderr)
        self.assertEqual(len(json.loads(done.stdout)["tables"]["gpu"]), 8)

    @unittest.skipIf(SANITIZED, "a thread that is left in a driver is not freed")
    def test_a_limit_of_gpus_that_are_not_listed_yet(self):
        self.conf.write_text(EIGHT + "\n[call nvmlInit_v2]\nlatency = 60s\n", encoding="utf-8")
        account = self.conf.with_name("account.json")
        done = self.run_it("run", "-q", "--json", account, "--limit-gpu-memory", "1GiB", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(account.read_text())["attributes"]["missing"],
                         "GPU memory was not limited: no driver had listed its GPUs yet")

    @unittest.skipIf(SANITIZED, "a thread that is left in a driver is not freed")
    def test_a_partial_list_is_no_success(self):
        self.conf.write_text(EIGHT + "\n[call nvmlDeviceGetHandleByIndex_v2]\ngpu = 2\n"
                             "latency = 60s\n", encoding="utf-8")
        for arguments, done in self.run_all([[word, "--device-wait", "3"] for word in
                                             ("-1", "--json", "device", "topo", "select")]):
            with self.subTest(arguments):
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("2 of 8 devices listed", done.stderr)
                self.assertIn("not complete", done.stderr)
                self.assertEqual(done.stdout == "", arguments[0] == "select")

    @unittest.skipIf(SANITIZED, "a thread that is left in a driver is not freed")
    def test_a_stream_tells_that_its_list_is_partial(self):
        self.conf.write_text(EIGHT + LISTING.format("700ms"), encoding="utf-8")
        done = self.run_it("--json", "--interval", "0.5", "--count", "12")
        documents = [json.loads(line) for line in done.stdout.splitlines()]
        for document in documents:
            whole = len(document["tables"]["gpu"]) == 8
            self.assertEqual("gpu" in document.get("states", {}), not whole)
        self.assertIn("gpu", documents[0]["states"])
        self.assertNotIn("gpu", documents[-1].get("states", {}))

    @unittest.skipIf(SANITIZED, "a thread that is left in a driver is not freed")
    def test_a_shutdown_that_hangs_holds_no_command(self):
        self.conf.write_text(EIGHT + "\n[call nvmlShutdown]\nlatency = 200s\n", encoding="utf-8")
        begun = time.monotonic()
        for arguments, done in self.run_all([["-1"], ["--json"], ["device"], ["topo"], ["select"],
                                             ["select", "--", "echo", "ran"], ["run", "--devices", "0", "true"]]):
            with self.subTest(arguments):
                self.assertEqual(done.returncode, 0, done.stderr)
                if arguments[0] != "run":
                    self.assertNotEqual(done.stdout, "")
        self.assertLess(time.monotonic() - begun, 150)  # less than one shutdown takes

    def test_the_monitor_tells_of_a_driver_that_does_not_list_processes(self):
        for code, words in ((4, "No permission"), (999, "cannot list"), (3, "does not list")):
            self.conf.write_text("[gpu 0]\n" + "".join(
                f"[call nvmlDeviceGet{kind}RunningProcesses_v3]\nresult = {code}\n"
                for kind in ("Compute", "Graphics")), encoding="utf-8")
            for arguments in (["-1"], ["--screen", "100x30"]):
                with self.subTest(f"{arguments} {code}"):
                    done = self.run_it(*arguments)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertIn(words, done.stdout)
                    self.assertNotIn("No running processes found", done.stdout)

    def test_old_values_are_marked(self):
        """At 1 ms a call: nothing on the screen is older than two intervals and unmarked."""
        self.conf.write_text("".join(
            f"[gpu {i}]\nmemory_total_bytes = 1024TiB\nmemory_used_bytes = now\n" for i in range(8)) +
            "\n[call *]\nlatency = 1ms\n", encoding="utf-8")
        done = self.run_it("--json", "--interval", "1", "--count", "12")
        documents = [json.loads(line) for line in done.stdout.splitlines()]
        fresh = 0
        for document in documents:
            now = int(document["monotonic_ns"]) / 1e9
            for row in document["tables"]["gpu"]:
                for metric in ("memory_used_bytes", "power_watts", "temperature_celsius"):
                    if row[metric] is None:
                        continue
                    stale = row.get("availability", {}).get(metric) == "stale"
                    age = row.get("ages_ns", {}).get(metric, row["age_ns"]) / 1e9
                    if metric == "memory_used_bytes":
                        self.assertAlmostEqual(now - row[metric] / 1e6, age, delta=0.15)
                    self.assertTrue(age <= 1.3 or stale, f"{metric} {age}")
                    fresh += metric == "memory_used_bytes" and not stale
        self.assertGreater(fresh, 12 * 8 / 2)


if __name__ == "__main__":
    unittest.main()
