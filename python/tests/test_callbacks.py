"""Callbacks with the real frameworks, where they are installed, and the keys that they log."""

import os
import re
import unittest

import vitals
from vitals import callbacks

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


class Keras(unittest.TestCase):
    def test_fit(self):
        os.environ.setdefault("KERAS_BACKEND", "jax")
        try:
            import keras
            import numpy
        except ImportError:
            self.skipTest("no keras here")

        class Seen(keras.callbacks.Callback):
            def __init__(self):
                super().__init__()
                self.logs = []

            def on_train_batch_end(self, batch, logs=None):
                self.logs.append(dict(logs or {}))
        seen = Seen()
        model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(2)])
        model.compile(loss="mse")
        model.fit(numpy.zeros((64, 4)), numpy.zeros((64, 2)), batch_size=16, epochs=1, verbose=0,
                  callbacks=[callbacks.keras(context=DEMO, intra_step_time=True, inter_step_time=True), seen])
        self.assertEqual(len(seen.logs), 4)
        for logs in seen.logs:
            self.assertIn("loss", logs)
            self.assertIn("gpu_id: 0/utilization.gpu (%)", logs)
            self.assertGreater(logs["batch_time/intra_step (ms)"], 0)


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
