"""What a tick costs, in counts that are the same on every machine: system calls per process,
allocations, calls into a driver, and, where valgrind is installed, instructions.

expected.json says what they are. More is a regression; fewer is to be written down there, or the
next regression goes unseen. Times are no test: `make bench` prints them.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import scene

EXPECTED = json.loads((pathlib.Path(__file__).parent / "expected.json").read_text())
TABLE = str(scene.PROGRAMS / "table")
FLOOR = str(scene.PROGRAMS / "floor")
ASK = str(scene.PROGRAMS / "ask")

try:
    APART = scene.apart()
except scene.Unavailable as reason:
    raise unittest.SkipTest(f"NOTHING WAS COUNTED: {reason}") from reason

# Of calls per process: a thread that wakes once more or less, over the number of processes and ticks.
MARGIN = 0.05

# A tick in which somebody else's process began is not steady, so then the best tick has to do.
ALLOCATIONS = "allocations" if APART else "allocations_least"


class SystemCalls(unittest.TestCase):
    """Per process, by the slope between two numbers of sleeping processes."""

    @classmethod
    def setUpClass(cls):
        missing = scene.strace_missing()
        if missing is not None:
            raise unittest.SkipTest(f"NO SYSTEM CALL WAS COUNTED: {missing}")
        if not APART:
            raise unittest.SkipTest("NO SYSTEM CALL WAS COUNTED: no pid namespace of our own here,"
                                    " and other people's processes come and go")

    def check(self, case):
        expected = EXPECTED["system_calls"][case]
        first = scene.first_calls([TABLE, case])
        steady, fixed = scene.steady_calls([TABLE, case])
        found = f"{case}: {first:.2f} first, {steady:.2f} steady, {fixed:.1f} per tick"
        self.assertAlmostEqual(first, expected["first"], delta=MARGIN, msg=found)
        self.assertAlmostEqual(steady, expected["steady"], delta=MARGIN, msg=found)
        if "tick" in expected:
            self.assertLessEqual(fixed, expected["tick"] + EXPECTED["tick_margin"], found)

    def test_plain(self):
        self.check("plain")

    def test_usual(self):
        self.check("usual")

    def test_processes(self):
        self.check("processes")

    def test_one(self):
        self.check("one")

    def test_tree(self):
        self.check("tree")

    def test_users(self):
        """Those that a device names: the others are not even listed, which is three calls."""
        self.check("users")

    def test_machine(self):
        self.check("machine")

    def test_ps(self):
        """A whole run of the command: stat, statm and cmdline, each opened, read and closed, the owner of
        their folder and the clock. Not exactly: for every 32 the worker reads how long it waited."""
        few, many = (scene.working_calls(count, [scene.VITALS, "ps"], scene.WAKES | {"brk"})
                     for count in (scene.SEVERAL, scene.CROWD))
        each = (many - few) / (scene.CROWD - scene.SEVERAL)
        self.assertAlmostEqual(each, EXPECTED["system_calls"]["ps"]["first"], delta=10 * MARGIN)

    def test_floor_counts_itself(self):
        """The floor is what everything else is compared with: its own count is the tracer's."""
        for case in ("plain", "usual", "processes"):
            told = scene.lines(scene.beside(scene.FEW, [FLOOR, case, 1, 5]))
            self.assertAlmostEqual(scene.first_calls([FLOOR, case], waits=()),
                                   told[case, "first"]["calls"], delta=MARGIN, msg=case)
            self.assertAlmostEqual(scene.steady_calls([FLOOR, case])[0],
                                   told[case, "steady"]["calls"], delta=MARGIN, msg=case)

    def test_minute(self):
        """A minute of ticks a second apart: command lines and users are read again now and then."""
        expected = EXPECTED["system_calls"]["minute"]
        steady, _ = scene.steady_calls([TABLE, "minute"], ticks=60)
        self.assertAlmostEqual(steady, expected["steady"], delta=MARGIN)


class Questions(unittest.TestCase):
    """System calls and allocations of one question to the first process of the namespace, which has few
    of everything; and what one more process costs a question about relatives."""

    MEASURING = 2  # ask reads the CPU clock before and after

    @classmethod
    def setUpClass(cls):
        SystemCalls.setUpClass()

    @staticmethod
    def calls(case, count=scene.FEW, rounds=(10, 30)):
        few, many = (scene.total_calls(count, [ASK, case, "1", str(n)]) for n in rounds)
        return (many - few) / (rounds[1] - rounds[0])

    def test_calls(self):
        for case, expected in EXPECTED["questions"].items():
            with self.subTest(case=case):
                found = self.calls(case) - self.MEASURING
                self.assertAlmostEqual(found, expected["calls"], delta=MARGIN, msg=case)

    def test_allocations(self):
        for case, expected in EXPECTED["questions"].items():
            with self.subTest(case=case):
                told = scene.lines(scene.beside(scene.FEW, [ASK, case, 1, 5]))[case, "ask"]
                self.assertLessEqual(told["allocations"], expected["allocations"], case)

    def test_relatives(self):
        few, many = (self.calls("children", count) for count in (scene.FEW, scene.MANY))
        each = (many - few) / (scene.MANY - scene.FEW)
        self.assertAlmostEqual(each, EXPECTED["system_calls_per_relative"], delta=MARGIN)


class Allocations(unittest.TestCase):
    """A steady tick asks for no memory, whatever it reads."""

    def check(self, case, *options):
        ticks = scene.WARM_TICKS + (6 if APART else 60)
        output = scene.beside(scene.FEW, [TABLE, case, 2, ticks, *options])
        steady = scene.lines(output)[case, "steady"]
        self.assertEqual(steady[ALLOCATIONS], EXPECTED["allocations"]["steady"], output)

    def test_plain(self):
        self.check("plain")

    def test_usual(self):
        self.check("usual")

    def test_processes(self):
        self.check("processes")

    def test_tree(self):
        self.check("tree")

    def test_machine(self):
        self.check("machine")


class DriverCalls(unittest.TestCase):
    """Eight GPUs of the simulated driver, a second between two ticks."""

    @classmethod
    def setUpClass(cls):
        cls.library, scenario = scene.nvml()
        os.environ["VITALS_NVML_SCENARIO"] = str(scenario)
        # A whole number of the longest cadence among the metrics of a GPU.
        cls.output = scene.beside(
            0, [TABLE, "gpus", 2, scene.WARM_TICKS + 60, "--nvml", cls.library])
        cls.found = scene.lines(cls.output)

    def check(self, phase, margin):
        found, expected = self.found["gpus", phase]["driver_calls"], EXPECTED["driver_calls"][phase]
        self.assertAlmostEqual(found, expected, delta=margin * expected, msg=self.output)

    def test_first(self):
        self.check("first", 0)

    def test_steady(self):
        """In the mean: a tick that comes late on a loaded machine moves calls to the next."""
        self.check("steady", 0.05)

    def test_allocations(self):
        self.assertEqual(self.found["gpus", "steady"][ALLOCATIONS],
                         EXPECTED["allocations"]["steady"], self.output)


class Instructions(unittest.TestCase):
    """Of a steady tick in user space. They depend on the compiler: the margin is wide, upwards."""

    @classmethod
    def setUpClass(cls):
        if os.environ.get("VITALS_COMPILER", "gcc") != "gcc":
            raise unittest.SkipTest("NO INSTRUCTION WAS COUNTED: the expected ones are gcc's, and older "
                                    "valgrinds cannot read what other compilers write")
        if shutil.which("valgrind") is None:
            raise unittest.SkipTest("NO INSTRUCTION WAS COUNTED: valgrind is not installed")
        if os.environ.get("VITALS_OPTIMIZATION") not in ("2", "3"):
            raise unittest.SkipTest("NO INSTRUCTION WAS COUNTED: not an optimized build")
        if not APART:
            raise unittest.SkipTest("NO INSTRUCTION WAS COUNTED: no pid namespace of our own here")

    @staticmethod
    def instructions(count, case, ticks):
        """Through a shell, because valgrind tells on stderr."""
        command = f"valgrind --tool=callgrind --callgrind-out-file=/dev/null {TABLE} {case} 1 {ticks}"
        output = scene.beside(count, ["sh", "-c", command + " 2>&1"])
        match = re.search(r"Collected : (\d+)", output)
        if match is None:
            raise RuntimeError(output)
        return int(match[1])

    def check(self, case):
        expected, margin = EXPECTED["instructions"][case], 1 + EXPECTED["instructions_margin"]
        growth = {}
        for count in (scene.FEW, scene.MANY):
            short, long = (self.instructions(count, case, n) for n in (8, 12))
            growth[count] = (long - short) / 4
        each = (growth[scene.MANY] - growth[scene.FEW]) / (scene.MANY - scene.FEW)
        tick = growth[scene.FEW] - each * (scene.FEW + 3)
        found = f"{case}: {each:.0f} per process and {tick:.0f} per tick, expected {expected}"
        print(found)
        self.assertLessEqual(each, expected["process"] * margin, found)
        self.assertLessEqual(tick, expected["tick"] * margin, found)

    def test_plain(self):
        self.check("plain")

    def test_usual(self):
        self.check("usual")


class Build(unittest.TestCase):
    def test_programs_are_there(self):
        """A bench that is not built would make everything here a skip."""
        for name in ("floor", "table", "ask", "reads", "sleepers"):
            path = scene.PROGRAMS / name
            self.assertTrue(path.exists(), path)
        usage = subprocess.run([TABLE], capture_output=True, text=True, check=False)
        self.assertEqual(usage.returncode, 2)
