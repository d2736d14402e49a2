"""The screen of a device: of every vendor, at every size, and what it alone asks a driver for."""

import concurrent.futures
import pathlib
import re
import tempfile
import time
import unicodedata
import unittest

from harness import FIXTURES, MEMORY, SOURCE, VITALS, nvml, reads_json, unpack, vitals
from input_events import BUILT, Events

SCENARIO = SOURCE / "tests" / "nvml" / "scenarios" / "eight.conf"
SIZES = ("1x1", "7x3", "40x10", "41x20", "79x24", "80x24", "100x30", "120x40", "160x50", "250x50")


def columns(line):
    return sum(0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF"
               else 1 for character in line)


class Device(unittest.TestCase):
    maxDiff = None

    def screen(self, size, *arguments, screen="device", **env):
        done = vitals("--screen", f"{size}:{screen}", *map(str, arguments),
                      env={"LC_ALL": "C.UTF-8", "TZ": "UTC", **env}, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        width, height = map(int, size.split("x"))
        lines = done.stdout.split("\n")
        self.assertEqual(lines.pop(), "")
        self.assertEqual(len(lines), height)
        for line in lines:
            self.assertLessEqual(columns(line), width, line)
            for character in line:
                self.assertNotIn(unicodedata.category(character), ("Cc", "Cf"), repr(line))
        return done.stdout

    def simulated(self, size, *arguments, scenario=SCENARIO, **more):
        library = nvml("r580")
        if not library.exists():
            self.skipTest("the simulated driver is not built")
        return self.screen(size, "--backends", "nvidia", "--nvml", library, *arguments,
                           VITALS_NVML_SCENARIO=str(scenario), **more)


class Sizes(Device):
    def test_any_size(self):
        jobs = [(size, arguments) for size in SIZES
                for arguments in (["--demo"], ["--demo", "--ascii"], ["--demo=many"], ["--demo=broken"],
                                  ["--demo=ailing"])]
        with concurrent.futures.ThreadPoolExecutor(4) as several:  # a demo waits more than it works
            texts = [several.submit(self.screen, size, *arguments) for size, arguments in jobs]
            for (size, arguments), text in zip(jobs, texts):
                with self.subTest(size=size, arguments=arguments):
                    self.assertTrue(text.result() and ("--ascii" not in arguments or text.result().isascii()))

    @unittest.skipUnless(reads_json(), "built without jansson")
    def test_snapshots_of_others(self):
        for name in ("devices", "partitions", "many", "broken", "hostile", "once"):
            for size in SIZES:
                with self.subTest(name, size=size):
                    self.screen(size, "--from", FIXTURES / "report" / f"{name}.json")

    def test_without_a_device_it_says_so(self):
        done = vitals("--screen", "80x24:device", "--backends", "none")
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no device to look at", done.stderr)


class Vendors(Device):
    def test_nvidia(self):
        text = self.simulated("160x100", "--delay", "1")
        for words in ("GPU-5e4f0000-0000", "SMs active", "encoder", "300 W of 700 W (43%)", "energy         ",
                      "1740 MHz of 1980 MHz", "throttled by   power", "sw_power_cap", "generation     5 of 5",
                      "received       ", "/s", "nvlink0        version 6, to switch,", "Xid errors", "ECC            on",
                      "remapped", "Peers", "4000100", "bar1", "persistence", "Utilization ", "300/700W"):
            self.assertIn(words, text)
        self.assertRegex(text, r"in [0-9.]+[KM]iB/s\b")
        self.assertIn("this device, driver or kernel", text)  # why the rest is not there

    def test_another_device(self):
        text = self.simulated("100x60", "-o", "3")
        self.assertIn("GPU 3 ", text)
        self.assertIn("1 of 1", text)
        self.assertNotIn("4000100", text)

    def test_a_partition_says_whose_it_is(self):
        scenarios = SOURCE / "tests" / "nvml" / "scenarios"
        found = [path for path in sorted(scenarios.glob("*mig*.conf"))]
        self.assertTrue(found)
        text = self.simulated("120x100", scenario=found[0])
        self.assertIn("Partitions", text)
        self.assertIn("busy", text)

    def test_trees_of_the_others(self):
        expected = {
            "amd/mi300x-6.12": ("amd", "xgmi", "throttled by"),
            "amd/mi300x-cpx-6.14": ("amd", "Partitions", "CPX"),
            "amd/navi21-5.14": ("amd", "MHz of", "rpm", "junction", "gtt"),
            "amd/strix-6.14": ("amd", "gtt"),
            "intel/xe-b580": ("intel", "throttled by"),
            "intel/xe-tiles": ("intel", "Partitions"),
            "intel/i915-a380": ("intel",),
        }
        for name, words in expected.items():
            with tempfile.TemporaryDirectory(dir=MEMORY) as folder, self.subTest(name):
                root = pathlib.Path(folder)
                unpack(FIXTURES / "gpu" / f"{name}.tree", root)
                text = self.screen("100x120", "--proc-root", root / "proc", "--sys-root", root / "sys", "--dev-root",
                                   root / "dev", "--backends", name.split("/", maxsplit=1)[0], "--delay", "1")
                for word in ("utilization", "used  ", "Power", "N/A", *words):
                    self.assertIn(word, text)


class Slow(Device):
    def calls(self, log):
        return log.read_text().count("PcieThroughput") if log.exists() else 0

    def test_only_this_screen_asks_for_what_is_slow(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "calls"
            self.simulated("100x30", screen="main", VITALS_NVML_LOG=str(log))
            self.assertIn("nvmlDeviceGetUtilizationRates", log.read_text())
            self.assertEqual(self.calls(log), 0)
            self.simulated("100x30", VITALS_NVML_LOG=str(log))
            self.assertGreater(self.calls(log), 0)

    @unittest.skipUnless(BUILT, "built without the interactive screens")
    def test_and_only_while_it_is_open(self):
        library = nvml("r580")
        if not library.exists():
            self.skipTest("the simulated driver is not built")
        terminal = Events(120, 100)
        self.addCleanup(terminal.close)
        log = terminal.home / "calls"
        terminal.run(f"VITALS_NVML_SCENARIO={SCENARIO} VITALS_NVML_LOG={log} {VITALS} --backends nvidia "
                     f"--nvml {library}")
        terminal.wait("GPU-Util", "300W")
        self.assertEqual(self.calls(log), 0)
        terminal.type("d")
        terminal.wait("arrow keys choose a device")
        terminal.type("Down", "Enter")
        terminal.wait("GPU 1 ", "received", "MiB/s", "SMs active")
        terminal.type("Right")
        terminal.wait("GPU 2 ", "3 of 8")
        terminal.type("q")
        terminal.wait("GPU-Util", gone=("q back",))
        before, until = -1, time.monotonic() + 30
        while before != self.calls(log):  # the last errand may still be under way
            before = self.calls(log)
            self.assertLess(time.monotonic(), until)
            time.sleep(2)
        self.assertGreater(before, 0)
        terminal.type("7")
        terminal.wait("GPU 7 ", "8 of 8")
        terminal.type("q")
        terminal.wait("GPU-Util", gone=("q back",))
        terminal.type("q")
        terminal.wait("rc=0.")


UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def rates(way, text):
    """Bytes a second that stand behind a word, in the order of the screen."""
    return [float(number) * UNITS[unit] for number, unit in re.findall(rf"\b{way} ([0-9.]+)([KMG]?i?B)/s", text)]


class Traffic(unittest.TestCase):
    @unittest.skipUnless(BUILT, "built without the interactive screens")
    def test_what_goes_through_has_graphs(self):
        terminal = Events(130, 60)
        self.addCleanup(terminal.close)
        terminal.run(f"{VITALS} --demo")
        terminal.wait("Press h for help", "COMMAND", "GPU-Util", "H100")
        terminal.type("0")
        text = terminal.wait("GPU 0 ", "PCIe ─", "Links ─", " ago")
        for way in ("PCIe", "Links"):
            self.assertRegex(text, way + r" ─+ in [0-9.]+[KMG]iB/s")
        terminal.type("q")
        terminal.wait("GPU-Util", gone=("q back",))
        terminal.type("q")
        terminal.wait("rc=0.")

    @unittest.skipUnless(BUILT, "built without the interactive screens")
    def test_links_of_a_driver_together_are_one_graph(self):
        library = nvml("r580")
        if not library.exists():
            self.skipTest("the simulated driver is not built")
        terminal = Events(160, 100)
        self.addCleanup(terminal.close)
        terminal.run(f"VITALS_NVML_SCENARIO={SCENARIO} {VITALS} --backends nvidia --nvml {library}")
        terminal.wait("Press h for help", "GPU-Util")
        for number in (0, 5):
            terminal.type(str(number))
            terminal.wait(f"GPU {number} ", "PCIe ─", "Links ─", "nvlink0 ")
            text = terminal.still()
            lines = text.splitlines()
            top = next(y for y, line in enumerate(lines) if "Links ─" in line)
            graph = "\n".join(line[lines[top].index("Links ─"):] for line in lines[top:top + 11])
            facts = text.split(" Links\n")[-1] if " Links\n" in text else text[text.index("nvlink0 "):]
            for way in ("in", "out"):
                each = [rate for rate in rates(way, facts) if rate > 0]
                self.assertGreater(len(each), 3, text)
                whole = rates(way, graph)[0]
                self.assertAlmostEqual(whole / sum(each), 1, delta=0.02, msg=f"{way}: {whole}, {each}\n{text}")
            terminal.type("q")
            terminal.wait("GPU-Util", gone=("q back",))
        terminal.type("q")
        terminal.wait("rc=0.")

    @unittest.skipUnless(BUILT, "built without the interactive screens")
    def test_without_a_link_there_is_no_graph_of_them(self):
        library = nvml("r580")
        if not library.exists():
            self.skipTest("the simulated driver is not built")
        terminal = Events(160, 100)
        self.addCleanup(terminal.close)
        scenario = terminal.home / "unlinked.conf"
        scenario.write_text(SCENARIO.read_text().replace("[gpu 0]\n", "[gpu 0]\nnvlinks = 0\n"))
        terminal.run(f"VITALS_NVML_SCENARIO={scenario} {VITALS} --backends nvidia --nvml {library}")
        terminal.wait("Press h for help", "GPU-Util")
        terminal.type("0")
        text = terminal.wait("GPU 0 ", "PCIe ─", "PCI Express", "UUID")
        self.assertNotIn("Links", text)
        self.assertNotIn("nvlink", text)
        terminal.type("q")
        terminal.wait("GPU-Util", gone=("q back",))
        terminal.type("q")
        terminal.wait("rc=0.")


class Held(Device):
    @unittest.skipUnless(BUILT, "built without the interactive screens")
    def test_memory_that_nobody_uses_is_marked_after_a_while(self):
        """Device 0 does nothing and four processes have memory of it, one of which only draws."""
        library = nvml("r580")
        if not library.exists():
            self.skipTest("the simulated driver is not built")
        terminal = Events(110, 60)
        self.addCleanup(terminal.close)
        scenario = terminal.home / "idle.conf"
        scenario.write_text(SCENARIO.read_text().replace(
            "utilization_gpu_percent = 0..20", "utilization_gpu_percent = 0\nclocks_event_reasons = 0x1"))
        terminal.run(f"VITALS_NVML_SCENARIO={scenario} {VITALS} --backends nvidia --nvml {library} --held-after 4s")
        first = terminal.wait("GPU-Util", "300W")
        self.assertNotIn("held", first)
        text = terminal.wait("[held ")
        held = [line for line in text.splitlines() if "[held " in line]
        self.assertTrue(all(line.split()[1] == "0" for line in held), held)
        self.assertFalse(any(" G " in line for line in held), held)
        self.assertRegex(text, r"0%\s+held \d+ s │")
        terminal.type("0")
        terminal.wait("GPU 0 ", ", and not used")
        terminal.type("Right")
        terminal.wait("GPU 1 ", gone=("and not used",))
        terminal.type("q")
        terminal.wait("GPU-Util", gone=("q back",))
        terminal.type("q")
        terminal.wait("rc=0.")


if __name__ == "__main__":
    unittest.main()
