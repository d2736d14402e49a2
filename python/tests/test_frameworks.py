"""Callbacks in the frameworks that they are made for, trained for a few steps on the CPU.

The environment has Debian's PyTorch (scripts/packages-frameworks) and the rest from PyPI
(scripts/requirements-frameworks.txt).
"""

import os
import pathlib
import re
import tempfile
import unittest
import warnings

os.environ["KERAS_BACKEND"] = "jax"

import torch

import vitals
from vitals import callbacks

KEY = re.compile(r"gpu_id: \d+( \(physical index: [\d:]+\))?/"
                 r"(utilization\.(gpu|memory) \(%\)|memory\.(used|free) \(MiB\)|fan\.speed \(%\)|temperature\.gpu \(C\))$"
                 r"|batch_time/(intra|inter)_step \(ms\)$")
DEMO = vitals.Context(demo="default")
BATCHES = 4
ALL = {"fan_speed": True, "temperature": True, "intra_step_time": True, "inter_step_time": True}
ONE_GPU = {"utilization.memory (%)", "utilization.gpu (%)", "memory.used (MiB)", "memory.free (MiB)",
           "temperature.gpu (C)"}  # it has no fan

warnings.filterwarnings("ignore")


def data():
    return torch.utils.data.DataLoader(torch.zeros(4 * BATCHES, 3), batch_size=4)


class Keys(unittest.TestCase):
    def assert_keys(self, logged):
        """Each key is one of nvitop's callbacks, the first GPU has all of them, and the times are there."""
        keys = {key for values in logged for key in values}
        self.assertTrue(keys)
        for key in keys:
            self.assertRegex(key, KEY)
        self.assertLessEqual({f"gpu_id: 0/{name}" for name in ONE_GPU}, keys)
        for name in ("intra", "inter"):
            times = [values[f"batch_time/{name}_step (ms)"] for values in logged
                     if f"batch_time/{name}_step (ms)" in values]
            self.assertTrue(times, name)
            self.assertTrue(all(0 <= time < 1e6 for time in times), times)


class Lightning(Keys):
    """Both packages: lightning.pytorch, and pytorch_lightning alone."""

    def train(self, framework, callback):
        class Logger(framework.loggers.logger.Logger):
            name, version = "here", "0"

            def __init__(self):
                super().__init__()
                self.logged = []

            def log_metrics(self, metrics, step=None):
                self.logged.append((step, metrics))

            def log_hyperparams(self, *_):
                pass

        class Model(framework.LightningModule):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(3, 1)

            def _register_sharded_tensor_state_dict_hooks_if_available(self):
                """PyTorch 1.13 cannot import its sharded tensors under Python 3.11."""

            def training_step(self, batch, _):
                return self.layer(batch).square().mean()

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), lr=0.1)

        logger = Logger()
        with tempfile.TemporaryDirectory() as folder:
            framework.Trainer(accelerator="cpu", max_epochs=1, logger=logger, callbacks=[callback],
                              enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False,
                              default_root_dir=folder).fit(Model(), data())
        ours = [(step, values) for step, values in logger.logged if any(KEY.match(key) for key in values)]
        self.assertEqual(len(ours), 2 * BATCHES, "at the begin and at the end of each batch")
        self.assertEqual(sorted({step for step, _ in ours}), list(range(BATCHES + 1)))
        self.assert_keys([values for _, values in ours])

    def test_lightning(self):
        import lightning.pytorch
        self.train(lightning.pytorch, callbacks.lightning("lightning.pytorch", context=DEMO, **ALL))

    def test_pytorch_lightning(self):
        import pytorch_lightning
        self.train(pytorch_lightning, callbacks.lightning("pytorch_lightning", context=DEMO, **ALL))


class Keras(Keys):
    """On its JAX back end."""

    def test_fit(self):
        import keras
        import numpy
        self.assertEqual(keras.backend.backend(), "jax")

        class Seen(keras.callbacks.Callback):
            def __init__(self):
                super().__init__()
                self.begins, self.logs = [], []

            def on_train_batch_begin(self, batch, logs=None):
                self.begins.append(dict(logs or {}))

            def on_train_batch_end(self, batch, logs=None):
                self.logs.append(dict(logs or {}))
        seen = Seen()
        model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
        model.compile(loss="mse")
        model.fit(numpy.zeros((4 * BATCHES, 3)), numpy.zeros((4 * BATCHES, 1)), batch_size=4, epochs=1, verbose=0,
                  callbacks=[callbacks.keras(context=DEMO, **ALL), seen])
        self.assertEqual((len(seen.begins), len(seen.logs)), (BATCHES, BATCHES))
        for logs in seen.logs:
            self.assertIn("loss", logs)
            self.assertIn("gpu_id: 0/utilization.gpu (%)", logs)
            self.assertGreater(logs["batch_time/intra_step (ms)"], 0)
        self.assert_keys([{key: value for key, value in logs.items() if key != "loss"}
                          for logs in (*seen.begins, *seen.logs)])


class Transformers(Keys):
    def train(self, report_to, folder, **arguments):
        import transformers

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(3, 1)

            def forward(self, x, labels=None):
                return {"loss": (self.layer(x) - labels).square().mean()}

        rows = [{"x": torch.zeros(3), "labels": torch.zeros(1)} for _ in range(4 * BATCHES)]
        return transformers.Trainer(
            model=Model(), train_dataset=rows, **arguments,
            args=transformers.TrainingArguments(
                output_dir=folder, logging_dir=folder, per_device_train_batch_size=4, num_train_epochs=1,
                logging_steps=1, report_to=report_to, save_strategy="no", disable_tqdm=True, use_cpu=True))

    def assert_history(self, trainer):
        told = [{key: value for key, value in entry.items() if KEY.match(key)} for entry in trainer.state.log_history]
        self.assertEqual(sum("loss" in entry for entry in trainer.state.log_history), BATCHES)
        self.assertTrue(all("gpu_id: 0/utilization.gpu (%)" in values for values in told))
        self.assert_keys(told)

    def test_as_a_callback(self):
        with tempfile.TemporaryDirectory() as folder:
            trainer = self.train([], folder, callbacks=[callbacks.transformers(context=DEMO, **ALL)])
            trainer.train()
        self.assert_history(trainer)

    def test_before_the_reporters(self):
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        with tempfile.TemporaryDirectory() as folder:
            trainer = self.train(["tensorboard"], folder)
            callbacks.transformers(trainer, context=DEMO, **ALL)
            trainer.train()
            read = EventAccumulator(folder)
            read.Reload()
        self.assert_history(trainer)
        self.assertIn("train/gpu_id: 0/memory.used (MiB)", read.Tags()["scalars"])


class TensorBoard(Keys):
    def test_scalars(self):
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        from torch.utils.tensorboard import SummaryWriter
        values = callbacks.gpu_stats(context=DEMO)
        with tempfile.TemporaryDirectory() as folder:
            with SummaryWriter(folder) as writer:
                for step in range(3):
                    callbacks.add_scalar_dict(writer, "gpu", values, step)
            read = EventAccumulator(folder)
            read.Reload()
            self.assertTrue(list(pathlib.Path(folder).iterdir()))
            self.assertEqual(set(read.Tags()["scalars"]), {f"gpu/{key}" for key in values})
            key = "gpu_id: 0/memory.used (MiB)"
            self.assertEqual([event.step for event in read.Scalars(f"gpu/{key}")], [0, 1, 2])
            self.assertAlmostEqual(read.Scalars(f"gpu/{key}")[0].value / values[key], 1, places=5)


if __name__ == "__main__":
    unittest.main()
