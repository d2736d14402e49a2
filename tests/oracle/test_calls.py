"""Check 40: thousands of calls of everything on a living and on a dead process leave no descriptor and
no memory behind. tests/unit/process/test_ten_thousand.c counts the library's own blocks exactly, in C."""

import gc
import os
import re
import unittest

import psutil

import api
import scene
import theirs
from api import Failure

CALLS = 5_000
# Dearer ones: thousands of rows each.
DEAR = {"ask everything": 500, "mapping": 500, "mapped_file": 500, "descendants": 500,
        "children": 500, "table": 150}
# These read every process of the machine. Of more than a hundred, fewer calls read as many.
WALKS = ("descendants", "children", "table")


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def own_bytes():
    """Of no file: those of a library become ours alone, and so private, when others end."""
    kib = re.search(rb"^Anonymous: +(\d+) kB$", theirs.read("self", "smaps_rollup"), re.MULTILINE)[1]
    return int(kib) * 1024


class Calls(unittest.TestCase):
    GROWTH = 256 << 10
    # A leak grows in every turn. What is kept for the largest number of processes, sockets or mappings
    # grows once for each new maximum, of which a busy machine can have several behind each other.
    TURNS = 12

    def turn(self, function, times):
        """The most that we had at ten moments of so many calls."""
        most = 0
        for _ in range(10):
            for _ in range(times // 10):
                try:
                    function()
                except Failure as failure:
                    self.assertIn(failure.code, ("gone", "timeout"))
            gc.collect()
            most = max(most, own_bytes())
        return most

    def count(self, name):
        count = DEAR.get(name, CALLS)
        return max(100, count * 100 // max(100, len(psutil.pids()))) if name in WALKS else count

    def many(self, name, function):
        count = self.count(name)
        peaks = [self.turn(function, max(100, count // 20))]  # until pools and arenas have their size
        before = descriptors()
        for _ in range(self.TURNS):
            peaks.append(self.turn(function, count))
            self.assertEqual(descriptors(), before, f"{name}: descriptors")
            if peaks[-1] - peaks[-2] < self.GROWTH:
                return
        self.fail(f"{name}: memory grows in every turn: {peaks}")

    def calls(self, context, process):
        everything = (*api.PROCESS_COLUMNS, *api.OWN_TABLES, "socket")
        nice = min(os.nice(0) + 5, 19)  # without rights none can be lower than its own
        calls = {
            "is_running": process.is_running,
            "scalars": lambda: process.ask("process.name", "process.cpu_seconds"),
            "ask everything": lambda: process.ask(*everything),
            "wait": lambda: process.wait(0),
            "signal": lambda: process.signal(0),
            "nice": lambda: process.set_nice(nice),
            "io": lambda: process.set_io_priority("idle"),
            "affinity": lambda: process.set_affinity([]),
            "limit": lambda: process.set_limit("core", 0, 0),
            "open": lambda: context.open(process.pid),
            "parent": lambda: process.pids("parent"),
            "children": lambda: process.pids("children"),
            "descendants": lambda: process.pids("descendants"),
            "several": lambda: api.wait_for_several([process], 0),
        }
        for table in (*api.OWN_TABLES, "socket"):
            calls[table] = lambda table=table: process.ask(table)
        return calls

    def check(self, process, context, living):
        for name, function in self.calls(context, process).items():
            with self.subTest(call=name):
                self.many(name, function)
        self.assertEqual(process.is_running(), living)

    def test_a_living_process(self):
        context = api.Context()
        pid = scene.one(self, "ready(); stay()")
        self.check(context.open(pid), context, True)

    def test_a_dead_process(self):
        context = api.Context()
        with scene.sleeping_child() as pid:
            process = context.open(pid)
            process.ask(*api.PROCESS_COLUMNS, *api.OWN_TABLES)
        self.check(process, context, False)

    def test_the_machine(self):
        context = api.Context()
        tables = ("host", "cpu", "disk", "network", "pressure", "filesystem", "sensor",
                  "network_address", "login", "process", "socket")
        self.many("table", lambda: context.take(*tables))


if __name__ == "__main__":
    unittest.main()
