"""vitals/psutil.h: psutil's own numbers, where its definitions are not ours."""

import os
import signal
import unittest

import api
import psutil
import scene
from harness import in_most_of

CPU = ("process.cpu_user_seconds", "process.cpu_system_seconds")


class Compatible(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.context = api.Context()
        cls.snapshot = cls.context.take("process", "host.boot_time_seconds",
                                        "host.memory_total_bytes")

    def test_create_time_of_every_process(self):
        compared = 0
        for row in self.snapshot.rows("process"):
            try:
                their = psutil.Process(row["pid"]).create_time()
            except psutil.NoSuchProcess:
                continue
            ours, state = row.compute(api.lib.vitals_psutil_create_time)
            self.assertEqual(state, "have")
            self.assertAlmostEqual(ours, their, places=6)
            compared += 1
        self.assertGreater(compared, 1)

    def test_memory_percent(self):
        pid = scene.one(self, scene.MEMORY)

        def compare():
            row = self.context.open(pid).ask("process.resident_bytes",
                                             "host.memory_total_bytes").one()
            ours, _ = row.compute(api.lib.vitals_psutil_memory_percent)
            self.assertAlmostEqual(ours, psutil.Process(pid).memory_percent(), places=9)

        in_most_of(8, compare)

    def test_cpu_percent(self):
        """Of clock ticks over the same time, so within a tick at both ends, and one decimal."""
        pid = scene.one(self, scene.THREADS)
        process, their = self.context.open(pid), psutil.Process(pid)
        in_most_of(5, lambda: self.check_cpu_percent(process, their))

    def check_cpu_percent(self, process, their):
        their.cpu_percent()
        older = process.ask(*CPU)
        signal.sigtimedwait([], 0.5)
        newer = process.ask(*CPU)
        percent = their.cpu_percent()
        ours, state = newer.one().compute(api.lib.vitals_psutil_cpu_percent, older)
        self.assertEqual(state, "have")
        self.assertAlmostEqual(ours, percent, delta=5)
        self.assertEqual(ours, round(ours, 1))
        self.assertGreater(ours, 10)

    def test_the_first_call(self):
        row = self.context.open(os.getpid()).ask(*CPU).one()
        self.assertEqual(row.compute(api.lib.vitals_psutil_cpu_percent, None), (0.0, "have"))

    def test_what_was_not_asked_for(self):
        """A number is never made of what is not there."""
        row = self.context.take("process.pid").rows("process")[0]
        for function, older in ((api.lib.vitals_psutil_create_time, ()),
                                (api.lib.vitals_psutil_memory_percent, ()),
                                (api.lib.vitals_psutil_cpu_percent, (None,))):
            value, state = row.compute(function, *older)
            self.assertIsNone(value)
            self.assertIn(state, api.MISSING)
        host = self.context.take("host.name").one("host")
        value, _ = host.compute(api.lib.vitals_psutil_memory_used, kind="uint64_t *")
        self.assertIsNone(value)


if __name__ == "__main__":
    unittest.main()
