"""`vitals run` and devices: which of them a run used, and a driver that does not answer."""

import os
import signal
import subprocess
import sys
import textwrap
import time
import unittest

from harness import SOURCE, VITALS, environment, in_one_of, nvml, vitals
from runs import Account, RunCase, program


class Devices(RunCase):
    SCENARIO = """
        [gpu 0]
        name = NVIDIA H100
        memory_total_bytes = 80GiB
        [gpu 1]
        like = 0
        [process trainer]
        gpu = 1
        pid = {pid}
        kind = C
        memory = 20GiB
        sm = 50
        """

    def test_only_those_that_the_run_used(self):
        library = nvml("r580")
        if not library.exists():
            self.skipTest("the simulated driver is not built")
        # The driver waits for its scenario, and that for the pid of the command.
        scenario = self.folder / "scenario"
        os.mkfifo(scenario)
        process = subprocess.Popen(
            [VITALS, "run", "--backends", "nvidia", "--nvml", library, "--json", self.json,
             "--interval", "100ms", "--", *program("say(os.getpid()); time.sleep(2)")],
            env=environment(VITALS_NVML_SCENARIO=scenario), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        pid = process.stdout.readline().strip()
        scenario.write_text(textwrap.dedent(self.SCENARIO.format(pid=pid)))
        _, said = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0)
        figures = Account(self.json).of
        (uuid,) = {subject for _, subject in figures}
        self.assertTrue(uuid.startswith("GPU-"), uuid)
        memory = figures["gpu_memory_peak_bytes", uuid]
        self.assertEqual((memory["label"], memory["value"]), ("GPU 1", 20 << 30))
        self.assertEqual(memory["availability"], "sampled")
        self.assertGreater(figures["gpu_busy_ratio", uuid]["value"], 0.1)
        self.assertLessEqual(figures["gpu_busy_ratio", uuid]["value"], 0.6)
        self.assertGreater(figures["gpu_busy_seconds", uuid]["value"], 0.2)
        self.assertRegex(said, r"\n  GPU 1      peak 20\.00GiB, \d+ % busy +sampled\n")
        self.assertNotIn("GPU 0", said)

    def run_on(self, library, *arguments):
        return [VITALS, "run", "--backends", "nvidia", "--nvml", str(library),
                "--json", str(self.json), "--interval", "100ms", "--", *map(str, arguments)]

    def test_our_own_processes_are_not_the_jobs(self):
        library = nvml("r580")
        if not library.exists():
            self.skipTest("the simulated driver is not built")
        scenario = self.folder / "scenario"
        os.mkfifo(scenario)
        process = subprocess.Popen(
            self.run_on(library, *program("say('ready'); time.sleep(1)")),
            env=environment(VITALS_NVML_SCENARIO=scenario), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        process.stdout.readline()
        # `self` is who loaded the driver: the watcher.
        scenario.write_text("".join(
            f"[gpu {i}]\n[process ours{i}]\ngpu = {i}\npid = {pid}\nkind = C\nmemory = 1GiB\nsm = 50\n"
            for i, pid in enumerate(("self", process.pid))))
        _, said = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(Account(self.json).of, {})
        self.assertNotIn("GPU", said)

    def test_a_driver_that_is_denied_is_said(self):
        library = nvml("r580")
        if not library.exists():
            self.skipTest("the simulated driver is not built")
        scenarios = SOURCE / "tests" / "nvml" / "scenarios"
        done = vitals(*self.run_on(library, "sleep", "0.3")[1:],
                      env={"VITALS_NVML_SCENARIO": scenarios / "init-no-permission.conf"})
        self.assertEqual(done.returncode, 0)
        (figure,) = Account(self.json).of.values()
        self.assertEqual((figure["name"], figure["subject"], figure["label"], figure["value"]),
                         ("gpu_memory_peak_bytes", "nvidia", "GPU nvidia", None))
        self.assertEqual(figure["availability"], "denied")
        self.assertIn("add yourself to the group", figure["source"])
        self.assertRegex(done.stderr, r"\n  GPU nvidia +N/A +no permission to /dev/nvidia\*\n")

    def test_a_machine_without_a_driver_says_nothing_of_devices(self):
        library = nvml("r580")
        if not library.exists():
            self.skipTest("the simulated driver is not built")
        scenarios = SOURCE / "tests" / "nvml" / "scenarios"
        for name in ("init-driver-not-loaded", "empty", "two-healthy"):
            with self.subTest(name=name):
                done = vitals(*self.run_on(library, "sleep", "0.3")[1:],
                              env={"VITALS_NVML_SCENARIO": scenarios / f"{name}.conf"})
                self.assertEqual(Account(self.json).of, {})
                self.assertNotIn("GPU", done.stderr)


class ADriverThatHangs(RunCase):
    """In calls that the sampler makes. That one was entered shows in the account: the driver then
    has not answered, where it otherwise says who uses its devices."""

    CALLS = {"nvmlInit_v2": ("nvidia", "GPU nvidia"),
             "nvmlDeviceGetComputeRunningProcesses_v3": ("GPU-", "GPU 0")}

    def hang(self, call, seconds, latency="30s"):
        """Runs a command of that many seconds; gives what it took until its code came, and what was said."""
        library = nvml("r580")
        if not library.exists():
            self.skipTest("the simulated driver is not built")
        scenario = self.folder / "scenario"
        scenario.write_text(f"[gpu 0]\n[call {call}]\nlatency = {latency}\n")
        text = "time.sleep(float(sys.argv[1])); say(time.monotonic()); os._exit(3)"
        process = subprocess.Popen(
            [VITALS, "run", "--backends", "nvidia", "--nvml", str(library), "--json", str(self.json),
             "--", *program(text, seconds)],
            env=environment(VITALS_NVML_SCENARIO=scenario, VITALS_NVML_LOG=self.folder / "log"),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        code = process.wait(30)
        delivered = time.monotonic()
        out, said = process.communicate()
        self.assertEqual(code, 3)
        print(f"# delivered after {delivered - float(out):.3f} s", file=sys.stderr)
        return delivered - float(out), said

    def test_the_code_comes_within_half_a_second(self):
        for call, (subject, label) in self.CALLS.items():
            for seconds in (0, 1, 3):
                with self.subTest(call=call, seconds=seconds):
                    said = in_one_of(4, lambda call=call, seconds=seconds: self.soon(call, seconds))
                    figures = list(Account(self.json).of.values())
                    if seconds == 0 and not figures:
                        continue  # it was over before the driver was asked
                    (figure,) = figures
                    self.assertTrue(figure["subject"].startswith(subject), figure)
                    self.assertEqual((figure["label"], figure["value"]), (label, None))
                    self.assertIn(figure["availability"], ("not_yet", "timed_out"))
                    why = "the driver has not answered|the source did not answer in time"
                    self.assertRegex(figure["source"], why)
                    self.assertRegex(said, rf"\n  {label} +N/A +({why})")

    def soon(self, call, seconds):
        took, said = self.hang(call, seconds)
        self.assertLess(took, 0.5)
        return said

    def test_those_are_calls_that_the_sampler_makes(self):
        for call in self.CALLS:
            with self.subTest(call=call):
                self.hang(call, 1, "1ms")
                called = {line.split()[0] for line in (self.folder / "log").read_text().splitlines()}
                self.assertIn(call, called)
                self.assertEqual(Account(self.json).of, {})


class DevicesThatAreNamed(RunCase):
    def run_on(self, name, scenario, before=None):
        library = nvml("r580")
        if not library.exists():
            self.skipTest("the simulated driver is not built")
        return subprocess.run(
            [VITALS, "run", "-q", "--backends", "nvidia", "--nvml", library, "--devices", name,
             "--", "echo", "ran"],
            env=environment(VITALS_NVML_SCENARIO=scenario), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=30, preexec_fn=before,
        )

    def scenario(self):
        path = self.folder / "scenario"
        path.write_text("[gpu 0]\nname = NVIDIA H100\nmemory_total_bytes = 80GiB\n")
        return path

    # As after `trap '' CHLD`: the codes of children are lost.
    def test_a_wrong_name_is_said_also_where_no_child_is_waited_for(self):
        def deaf():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)

        for before in (None, deaf):
            with self.subTest(before=before):
                done = self.run_on("GPU-nowhere", self.scenario(), before)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertRegex(done.stderr, r"\Avitals: --devices: .*GPU-nowhere.*\n\Z")
                done = self.run_on("0", self.scenario(), before)
                self.assertEqual((done.returncode, done.stdout), (0, "ran\n"), done.stderr)

    def test_a_driver_that_never_answers_keeps_no_command_from_running(self):
        scenario = self.folder / "scenario"
        os.mkfifo(scenario)  # nobody writes to it
        done = self.run_on("GPU-nowhere", scenario)
        self.assertEqual((done.returncode, done.stdout), (0, "ran\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
