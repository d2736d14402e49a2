"""`vitals run` on a simulated NVIDIA driver: limits of GPU memory, and devices that are lost while the
command runs and perhaps come back."""

import os
import subprocess
import textwrap
import unittest

from harness import VITALS, environment, nvml
from runs import Account, RunCase, program

GIB = 1 << 30

DEVICES = """
    [gpu 0]
    name = NVIDIA H100
    memory_total_bytes = 80GiB
    [gpu 1]
    like = 0
    """

TRAINER = """
    [process trainer]
    gpu = 1
    pid = {pid}
    kind = C
    memory = {memory}
    sm = 50
    """

LOST = """
    [call *]
    gpu = 1
    from_call = {first}
    until_call = {last}
    result = {result}
    """

FOR_EVER = 1000000000
IS_LOST, UNKNOWN = 15, 999  # of nvmlReturn_t


class OnADriver(RunCase):
    """The driver waits for its scenario, a pipe, and that for the pid of the command."""

    def setUp(self):
        super().setUp()
        self.library = nvml("r580")
        if not self.library.exists():
            self.skipTest("the simulated driver is not built")
        self.scenario = self.folder / "scenario"
        os.mkfifo(self.scenario)

    def begin(self, command, *options):
        process = subprocess.Popen(
            [VITALS, "run", "--backends", "nvidia", "--nvml", self.library, "--json", self.json,
             "--interval", "50ms", *options, "--", *command],
            env=environment(VITALS_NVML_SCENARIO=self.scenario, VITALS_NVML_LOG=self.folder / "log",
                            XDG_RUNTIME_DIR=self.folder),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.kill_later(process.pid)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        return process

    def play(self, *parts, **values):
        self.scenario.write_text("".join(textwrap.dedent(part).format(**values) for part in parts))

    def finish(self, process):
        """Its exit code, what it said on stderr, and its account."""
        out, said = process.communicate(timeout=60)
        self.output = out.split()
        return process.returncode, said, Account(self.json)

    def memory(self, account):
        """Of the device that the trainer has."""
        (figure,) = [one for (name, _), one in account.of.items()
                     if name == "gpu_memory_peak_bytes" and one.get("label") == "GPU 1"]
        return figure

    def attribute(self, account, name):
        return account.document["attributes"].get(name)


class Limits(OnADriver):
    GENTLE = """
        def end(number, frame):
            say("ends")
            os._exit(3)
        signal.signal(signal.SIGTERM, end)
        say(os.getpid())
        time.sleep(60)
        """
    STUBBORN = """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        say(os.getpid())
        time.sleep(60)
        """

    def limited(self, text, memory, *options):
        process = self.begin(program(text), "--limit-gpu-memory", "16GiB", *options)
        pid = process.stdout.readline().strip()
        self.kill_later(int(pid))
        self.play(DEVICES, TRAINER, pid=pid, memory=memory)
        return self.finish(process)

    def test_who_passes_it_is_asked_to_end(self):
        code, said, account = self.limited(self.GENTLE, "20GiB", "--limit-grace", "1h")
        self.assertEqual(code, 137, said)
        self.assertEqual(self.output, ["ends"])
        self.assertEqual(self.attribute(account, "limit"), "gpu_memory")
        self.assertEqual(account.document["exit_code"], 3)
        self.assertRegex(said, r"it used more than 16GiB of GPU memory: 20\.00GiB")

    def test_who_does_not_end_is_killed(self):
        code, said, account = self.limited(self.STUBBORN, "20GiB", "--limit-grace", "200ms")
        self.assertEqual(code, 137, said)
        self.assertEqual(account.document["signal"], 9)

    def test_who_grows_passes_it_later(self):
        code, said, account = self.limited(self.GENTLE, "10GiB+1GiB", "--limit-grace", "1h")
        self.assertEqual(code, 137, said)
        self.assertIn("more than 16GiB of GPU memory: ", said)

    def test_who_keeps_within_it_is_left_alone(self):
        code, said, account = self.limited("say(os.getpid()); time.sleep(1.5); sys.exit(4)", "16GiB")
        self.assertEqual(code, 4, said)
        self.assertIsNone(self.attribute(account, "limit"))
        self.assertEqual(self.memory(account)["value"], 16 * GIB)

    def test_descendants_count_too(self):
        text = """
            daemon(lambda: (say(os.getpid()), time.sleep(60)))
            time.sleep(60)
            """
        code, said, _ = self.limited(text, "20GiB", "--limit-grace", "1")
        self.assertEqual(code, 137, said)

    def test_others_do_not(self):
        process = self.begin(program("say(os.getpid()); time.sleep(1.5); sys.exit(4)"),
                             "--limit-gpu-memory", "16GiB")
        process.stdout.readline()
        self.play(DEVICES, TRAINER, pid=os.getpid(), memory="79GiB")
        self.assertEqual(self.finish(process)[0], 4)

    def test_on_devices_that_were_chosen(self):
        """--gpus looks at the devices first, and the sampler once more."""
        text = "say(os.environ['CUDA_VISIBLE_DEVICES'], os.getpid()); time.sleep(60)"
        process = self.begin(program(text), "--gpus", "1", "--limit-gpu-memory", "16GiB", "--limit-grace",
                             "1h")
        self.play(DEVICES)
        visible, pid = process.stdout.readline().split()
        self.assertTrue(visible.startswith("GPU-"), visible)
        self.play(DEVICES, TRAINER, pid=pid, memory="20GiB")
        code, said, account = self.finish(process)
        self.assertEqual(code, 137, said)
        self.assertEqual(self.attribute(account, "limit"), "gpu_memory")


class Lost(OnADriver):
    def lose(self, first, last, *options, seconds=1.8, result=IS_LOST):
        process = self.begin(program(f"say(os.getpid()); time.sleep({seconds}); sys.exit(5)"), *options)
        pid = process.stdout.readline().strip()
        self.play(DEVICES, TRAINER, LOST, pid=pid, memory="20GiB", first=first, last=last, result=result)
        return self.finish(process)

    def calls(self):
        return [line.split() for line in (self.folder / "log").read_text().splitlines()]

    def failed(self, result):
        return sum(1 for name, gpu, code in self.calls() if gpu == "1" and code == str(result))

    def test_for_good(self):
        """What it had told stands; what it can tell no more is no nought."""
        code, said, account = self.lose(60, FOR_EVER)
        self.assertEqual(code, 5, said)
        self.assertGreater(self.failed(IS_LOST), 0)
        self.assertEqual(self.memory(account)["value"], 20 * GIB)
        self.assertIn("GPU 1", said)

    def test_that_fails_for_a_while(self):
        """It is asked again, and its readings go on."""
        code, said, account = self.lose(40, 60, result=UNKNOWN, seconds=2.5)
        self.assertEqual(code, 5, said)
        self.assertGreater(self.failed(UNKNOWN), 0)
        codes = [result for name, gpu, result in self.calls() if gpu == "1"]
        self.assertIn("0", codes[len(codes) - codes[::-1].index(str(UNKNOWN)):])
        self.assertEqual(self.memory(account)["value"], 20 * GIB)

    def test_that_comes_back(self):
        """Lost is lost for half a minute, and this run for good (nvidia.c): it ends as it would."""
        code, said, account = self.lose(60, 61)
        self.assertEqual(code, 5, said)
        self.assertEqual(self.memory(account)["value"], 20 * GIB)

    def test_before_it_could_tell_anything(self):
        code, said, account = self.lose(1, FOR_EVER, seconds=1.5)
        self.assertEqual(code, 5, said)
        self.assertEqual([one for one in account.of.values() if one["value"]], [])

    def test_under_a_limit(self):
        """A device that is lost has passed no limit."""
        code, said, account = self.lose(60, FOR_EVER, "--limit-gpu-memory", "30GiB")
        self.assertEqual(code, 5, said)
        self.assertIsNone(self.attribute(account, "limit"))

    def test_while_it_is_recorded(self):
        path = self.folder / "a.csv"
        code, said, _ = self.lose(60, FOR_EVER, "--record", path)
        self.assertEqual(code, 5, said)
        lines = path.read_text().splitlines()
        self.assertEqual(len({line.count(",") for line in lines}), 1)
        self.assertGreater(len(lines), 4)


if __name__ == "__main__":
    unittest.main()
