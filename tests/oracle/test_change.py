"""Affinity, nice, I/O priority and limits: read and set, against taskset, ps, ionice and prlimit."""

import ctypes
import itertools
import os
import resource
import shutil
import subprocess
import unittest

import api
import psutil
import scene
import theirs
from api import UNLIMITED, Failure



def usable_cpus():
    """All that a process here may run on, whatever taskset left to us."""
    kept = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(1024))
    try:
        return sorted(os.sched_getaffinity(0))
    finally:
        os.sched_setaffinity(0, kept)


CPUS = usable_cpus()


def tool(case, *command):
    if shutil.which(command[0]) is None:
        case.skipTest(f"no {command[0]}")
    return subprocess.run(list(map(str, command)), capture_output=True, text=True,
                          check=True).stdout


class Changing(unittest.TestCase):
    def setUp(self):
        self.pid = scene.one(self, "ready(); stay()")
        self.process = api.Context().open(self.pid)
        self.their = psutil.Process(self.pid)


class Affinity(Changing):
    """Check 30."""

    def setUp(self):
        super().setUp()
        os.sched_setaffinity(self.pid, CPUS)

    def ours(self):
        return theirs.cpu_list(self.process.get("cpus_allowed_list").decode())

    def test_all_combinations(self):
        some = CPUS[:6]
        for count in range(1, len(some) + 1):
            for cpus in itertools.combinations(some, count):
                self.process.set_affinity(cpus)
                self.assertEqual(os.sched_getaffinity(self.pid), set(cpus))
                self.assertEqual(self.ours(), set(cpus))
                self.assertEqual(self.process.get("cpus_allowed"), len(cpus))
                self.assertEqual(self.their.cpu_affinity(), sorted(cpus))

    def test_taskset_agrees(self):
        self.process.set_affinity(CPUS[-1:])
        told = tool(self, "taskset", "-pc", self.pid).rpartition(":")[2].strip()
        self.assertEqual(theirs.cpu_list(told), self.ours())

    def test_set_by_others_is_seen(self):
        os.sched_setaffinity(self.pid, CPUS[:1])
        self.assertEqual(self.ours(), set(CPUS[:1]))

    def test_none_means_all(self):
        """As psutil's cpu_affinity([])."""
        self.process.set_affinity(CPUS[:1])
        self.process.set_affinity([])
        self.assertEqual(os.sched_getaffinity(self.pid), set(CPUS))

    def test_a_cpu_that_there_is_not(self):
        absent = max(CPUS) + 1
        for cpus in ([absent], [CPUS[0], absent], [4095], [2**31 - 1]):
            with self.assertRaises(Failure) as caught:
                self.process.set_affinity(cpus)
            self.assertEqual(caught.exception.code, "argument")
            self.assertIn(str(max(cpus)), caught.exception.message)
        self.assertEqual(os.sched_getaffinity(self.pid), set(CPUS))


class Priority(Changing):
    """Check 31."""

    def test_nice(self):
        values = range(-20, 20) if os.geteuid() == 0 else range(os.nice(0), 20)
        for nice in values:
            self.process.set_nice(nice)
            self.assertEqual(os.getpriority(os.PRIO_PROCESS, self.pid), nice)
            self.assertEqual(self.process.get("nice"), nice)
            self.assertEqual(self.their.nice(), nice)
        told = tool(self, "ps", "-o", "ni=", "-p", self.pid)
        self.assertEqual(int(told), self.process.get("nice"))

    def ionice(self):
        row = self.process.ask("process.io_class", "process.io_level").one()
        return row["io_class"].decode(), row["io_level"]

    def test_io_priority(self):
        classes = [("idle", 0), *(("best_effort", level) for level in range(8)), ("none", 0)]
        if os.geteuid() == 0:
            classes += [("realtime", level) for level in range(8)]
        for io_class, level in classes:
            self.process.set_io_priority(io_class, level)
            has_level = io_class in ("best_effort", "realtime")
            self.assertEqual(self.ionice(), (io_class, level if has_level else None))
            their = self.their.ionice()
            self.assertEqual(theirs.IO_CLASSES[int(their.ioclass)], io_class)
            if has_level:
                self.assertEqual(their.value & 7, level)

    def test_words_that_were_read_can_be_set(self):
        self.process.set_io_priority("idle")
        word = api.ffi.from_buffer("char[]", self.process.get("io_class"))
        text = {"bytes": word, "size": len(word)}
        self.assertEqual(api.lib.vitals_io_class_find(text), api.lib.VITALS_IO_IDLE)
        name = api.lib.vitals_io_class_name(api.lib.VITALS_IO_IDLE)
        self.assertEqual(api.ffi.string(name), b"idle")
        listed = api.ffi.from_buffer("char[]", self.process.get("cpus_allowed_list"))
        cpus = api.ffi.new("unsigned[]", 8192)
        count = api.lib.vitals_cpus_parse({"bytes": listed, "size": len(listed)}, cpus, len(cpus))
        self.assertEqual(set(cpus[0:count]), set(self.their.cpu_affinity()))

    def test_ionice_agrees(self):
        self.process.set_io_priority("best_effort", 3)
        self.assertEqual(tool(self, "ionice", "-p", self.pid).strip(), "best-effort: prio 3")
        tool(self, "ionice", "-c", 3, "-p", self.pid)
        self.assertEqual(self.ionice(), ("idle", None))

    def test_hint_bits_are_no_level(self):
        """psutil tells level 4 with a hint as 12 (defect 10)."""
        value = 2 << 13 | 1 << 3 | 4
        libc = ctypes.CDLL(None, use_errno=True)
        number = {"x86_64": (251, 252), "aarch64": (30, 31)}.get(os.uname().machine)
        if number is None or libc.syscall(number[0], 1, self.pid, value) != 0:
            self.skipTest("this kernel takes no hints")
        self.assertEqual(self.ionice(), ("best_effort", 4))
        self.assertEqual(self.their.ionice().value, 12)


class Limits(Changing):
    """Check 31."""

    def ours(self):
        return {row["name"].decode(): (row["soft"], row["hard"])
                for row in self.process.rows("limit")}

    def test_every_limit(self):
        self.assertEqual(self.ours(), theirs.limits(self.pid))
        self.assertEqual(self.ours(), theirs.rlimits(self.their))
        self.assertEqual(len(self.ours()), 16)

    def test_set(self):
        for name in ("nofile", "core", "stack", "cpu", "memlock", "fsize"):
            soft, hard = self.ours()[name]
            new = 1000 if hard is None else hard // 2
            self.process.set_limit(name, new, UNLIMITED if hard is None else hard)
            self.assertEqual(self.ours()[name], (new, hard))
            self.assertEqual(resource.prlimit(self.pid, theirs.LIMITS[name])[0], new)
        self.assertEqual(self.ours(), theirs.limits(self.pid))

    def test_no_limit(self):
        """psutil says -1; a limit that there is not is unsupported here, and set by its own word."""
        self.process.set_limit("core", UNLIMITED if os.geteuid() == 0 else 0,
                               UNLIMITED if os.geteuid() == 0 else 0)
        row = {row["name"]: row for row in self.process.rows("limit")}[b"core"]
        if os.geteuid() == 0:
            self.assertEqual(row.read("soft"), (None, "unsupported"))
            self.assertEqual((row["soft_unlimited"], row["hard_unlimited"]), (1, 1))
            self.assertEqual(self.their.rlimit(psutil.RLIMIT_CORE), (-1, -1))

    def test_prlimit_agrees(self):
        self.process.set_limit("nofile", 321, 654)
        told = tool(self, "prlimit", "--nofile", "--noheadings", "--output", "SOFT,HARD", "--pid",
                    self.pid)
        self.assertEqual(tuple(map(int, told.split())), self.ours()["nofile"])

    def test_units(self):
        units = {row["name"]: row["unit"] for row in self.process.rows("limit")}
        self.assertEqual((units[b"as"], units[b"cpu"], units[b"nofile"], units[b"rttime"]),
                         (b"bytes", b"seconds", b"", b"microseconds"))

    def test_an_ordinary_user_reads_them_too(self):
        """prlimit is refused, /proc/PID/limits is not: psutil gives up, we do not."""
        words = scene.place_or_skip(self, "nobody")
        found = scene.run_there(words, "stranger.py", self.pid)
        self.assertEqual(found["states"]["limit"], "have")


if __name__ == "__main__":
    unittest.main()
