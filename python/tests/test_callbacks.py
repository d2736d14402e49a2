"""What callbacks log, and the magic of notebooks. The real frameworks are in test_frameworks.py."""

import os
import re
import time
import unittest
import unittest.mock

import vitals
from vitals import callbacks
from vitals._system_metrics import SystemMetrics, _of_gpu

KEY = re.compile(r"gpu_id: \d+( \(physical index: [\d:]+\))?/"
                 r"(utilization\.(gpu|memory) \(%\)|memory\.(used|free) \(MiB\)|fan\.speed \(%\)|temperature\.gpu \(C\))$")
DEMO = vitals.Context(demo="default")


class Keys(unittest.TestCase):
    def setUp(self):
        os.environ.pop("CUDA_VISIBLE_DEVICES", None)

    def test_units(self):
        rows = {row.label: row for row in vitals.snapshot("gpus", context=DEMO).gpu}
        values = callbacks.gpu_stats(context=DEMO, fan_speed=True, temperature=True)
        self.assertTrue(values)
        for key, value in values.items():
            self.assertRegex(key, KEY)
            self.assertGreaterEqual(value, 0, key)
        used = rows["0"].memory_used_bytes / 2**20
        self.assertAlmostEqual(values["gpu_id: 0/memory.used (MiB)"], used, delta=used / 2)
        self.assertTrue(all(value <= 100 for key, value in values.items() if "utilization" in key))

    def test_choices(self):
        self.assertEqual(callbacks.gpu_stats(gpus=[], context=DEMO), {})
        only = callbacks.gpu_stats(gpus=[0], context=DEMO, memory_utilization=False, gpu_utilization=False)
        self.assertTrue(only)
        self.assertTrue(all(key.startswith("gpu_id: 0/") and "utilization" not in key for key in only), only)

    def test_visible_devices(self):
        """Device 1 of the demo is divided: CUDA sees its first part."""
        os.environ["CUDA_VISIBLE_DEVICES"] = "1"
        try:
            values = callbacks.gpu_stats(context=DEMO)
        finally:
            del os.environ["CUDA_VISIBLE_DEVICES"]
        self.assertTrue(values)
        self.assertTrue(all(key.startswith("gpu_id: 0 (physical index: 1:0)/") for key in values), values)

    def test_scalars(self):
        class Writer:
            def __init__(self):
                self.told = []

            def add_scalar(self, *what):
                self.told.append(what)
        writer = Writer()
        callbacks.add_scalar_dict(writer, "gpu", {"a": 1.0, "b": 2.0}, 7)
        self.assertEqual(writer.told, [("gpu/a", 1.0, 7, None), ("gpu/b", 2.0, 7, None)])


class Mlflow(unittest.TestCase):
    """What callbacks.mlflow() logs; into a real MLflow it is in test_export.py and a notebook."""

    NAMES = {"system_memory_usage_megabytes", "system_memory_usage_percentage", "disk_usage_percentage",
             "disk_usage_megabytes", "disk_available_megabytes", "cpu_utilization_percentage",
             "network_receive_megabytes", "network_transmit_megabytes"}

    def test_a_sample_has_the_names_and_units_of_mlflow(self):
        monitor = SystemMetrics(0.1, 1, None, DEMO)
        monitor.collect_once()
        end = time.process_time() + 0.1
        while time.process_time() < end:  # until the kernel's ticks have gone on
            pass
        told = monitor.collect_once()
        gpus = {name: value for name, value in told.items() if name.startswith("gpu_")}
        self.assertEqual(set(told) - set(gpus), self.NAMES)
        host = vitals.snapshot("host").host[0]
        self.assertAlmostEqual(told["system_memory_usage_percentage"],
                               told["system_memory_usage_megabytes"] * 1e8 / host.memory_total_bytes, places=6)
        self.assertTrue(0 <= told["cpu_utilization_percentage"] <= 100, told)
        whole = [row for row in vitals.snapshot("gpus", context=DEMO).gpu if not row.parent_key]
        self.assertEqual({name.split("_")[1] for name in gpus}, {str(index) for index in range(len(whole))})
        self.assertAlmostEqual(gpus["gpu_0_power_usage_percentage"] / 100 * whole[0].power_limit_watts,
                               gpus["gpu_0_power_usage_watts"])
        self.assertAlmostEqual(gpus["gpu_0_memory_usage_percentage"] / 100 * whole[0].memory_total_bytes,
                               gpus["gpu_0_memory_usage_megabytes"] * 1e6, delta=1)

    def test_several_samples_become_one(self):
        monitor = SystemMetrics(0.1, 3, None, DEMO)
        told = monitor.aggregate([{"cpu_utilization_percentage": 10.0, "network_receive_megabytes": 1.0},
                                  {"cpu_utilization_percentage": 20.04, "network_receive_megabytes": 2.25},
                                  {"gpu_0_power_usage_watts": 7.0}])
        self.assertEqual(told, {"cpu_utilization_percentage": 15.0, "network_receive_megabytes": 2.25,
                                "gpu_0_power_usage_watts": 7.0})

    def test_what_a_gpu_does_not_tell_is_left_out(self):
        self.assertEqual(_of_gpu(0, None, 8e9, None, 50.0, None), {"gpu_0_power_usage_watts": 50.0})

    def test_its_variables_are_those_of_mlflow(self):
        with unittest.mock.patch.dict(os.environ, MLFLOW_SYSTEM_METRICS_SAMPLING_INTERVAL="2.5",
                                      MLFLOW_SYSTEM_METRICS_SAMPLES_BEFORE_LOGGING="4",
                                      MLFLOW_SYSTEM_METRICS_NODE_ID="one"):
            monitor = callbacks.mlflow(sampling_interval=9, samples_before_logging=2, context=DEMO)
        self.assertEqual((monitor.sampling_interval, monitor.samples_before_logging, monitor.prefix),
                         (2.5, 4, "system/one/"))


class Notebook(unittest.TestCase):
    def test_a_cell(self):
        try:
            from IPython.testing.globalipapp import start_ipython
            from IPython.utils.capture import capture_output
        except ImportError:
            self.skipTest("no IPython here")
        shell = start_ipython()
        shell.display_formatter.active_types = ["text/plain", "text/html"]
        shell.run_line_magic("load_ext", "vitals")
        with capture_output() as captured:
            shell.run_cell_magic("vitals", "", "import time\nanswer = sum(range(3_000_000))\ntime.sleep(2.3)")
        self.assertEqual(shell.user_ns["answer"], 4499998500000)
        pages = [output.data.get("text/html", "") for output in captured.outputs]
        self.assertTrue(any("<b>CPU</b>" in page for page in pages), pages)
        self.assertTrue(any("<svg" in page for page in pages), pages)


if __name__ == "__main__":
    unittest.main()
