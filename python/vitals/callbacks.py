"""Callbacks of training frameworks that log what the GPUs do.

    keras:         model.fit(..., callbacks=[vitals.callbacks.keras(), TensorBoard(...)])
    Lightning:     Trainer(callbacks=[vitals.callbacks.lightning()])
    Transformers:  vitals.callbacks.transformers(trainer)
    MLflow:        with mlflow.start_run(), vitals.callbacks.mlflow(): train()
    TensorBoard:   vitals.callbacks.add_scalar_dict(writer, "gpu", vitals.callbacks.gpu_stats(), step)

The keys are those of nvitop's callbacks: "gpu_id: 0/utilization.gpu (%)", "gpu_id: 0/memory.used (MiB)",
"batch_time/intra_step (ms)". Without a GPU nothing is logged. A value that is missing is left out.
A framework is imported when its callback is made. MLflow's keys are those of its own system metrics.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from typing import Any, Iterable

from vitals import _core
from vitals._core import Context, ffi, lib
from vitals._snapshot import Row, Sampler

MIB = 1 << 20

# The key, the metric and what to divide it by; the group decides whether it is logged.
KEYS = (
    ("memory_utilization", "utilization.memory (%)", "memory_busy_ratio", 0.01),
    ("gpu_utilization", "utilization.gpu (%)", "utilization_ratio", 0.01),
    ("memory", "memory.used (MiB)", "memory_used_bytes", MIB),
    ("memory", "memory.free (MiB)", "memory_free_bytes", MIB),
    ("fan_speed", "fan.speed (%)", "fan_ratio", 0.01),
    ("temperature", "temperature.gpu (C)", "temperature_celsius", 1),
)


# What says which devices CUDA_VISIBLE_DEVICES names.
IDENTITY = ("uuid", "vendor", "name", "pci_bus_id", "gpu_instance_id", "compute_instance_id")


class GpuStats:
    """Reads the GPUs that this process sees, in CUDA's order."""

    def __init__(self, gpus: Iterable[int] | None = None, *, memory_utilization: bool = True,
                 gpu_utilization: bool = True, fan_speed: bool = False, temperature: bool = False,
                 context: Context | None = None) -> None:
        wanted = {"memory_utilization": memory_utilization, "gpu_utilization": gpu_utilization, "memory": True,
                  "fan_speed": fan_speed, "temperature": temperature}
        self._keys = [key for key in KEYS if wanted[key[0]]]
        self._only = None if gpus is None else set(gpus)
        self._sampler = Sampler(*(f"gpu.{name}" for name in (*IDENTITY, *(key[2] for key in self._keys))),
                                context=context)

    def _visible(self) -> list[tuple[int, Row]]:
        taken = self._sampler.take()
        room = len(taken.gpu) or 1
        rows = ffi.new("vitals_row *[]", room)
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        order = os.environ.get("CUDA_DEVICE_ORDER")
        count = lib.vitals_cuda_visible_devices(
            taken.pointer, ffi.NULL if visible is None else _core.encode(visible),
            ffi.NULL if order is None else _core.encode(order), rows, room)
        table = _core.table_number("gpu")
        found = [Row(taken, table, rows[index]) for index in range(min(count, room))]
        return [(index, row) for index, row in enumerate(found) if self._only is None or index in self._only]

    def __call__(self) -> dict[str, float]:
        """The values by their keys."""
        values = {}
        for index, row in self._visible():
            name = f"gpu_id: {index}"
            if row.label != str(index):
                name += f" (physical index: {row.label})"
            for _group, key, metric, scale in self._keys:
                value = row[metric]
                if isinstance(value, (int, float)):
                    values[f"{name}/{key}"] = value / scale
        return values


def gpu_stats(gpus: Iterable[int] | None = None, **options: Any) -> dict[str, float]:
    """One reading of the GPUs that this process sees, by the keys above."""
    return GpuStats(gpus, **options)()


def add_scalar_dict(writer: Any, main_tag: str, values: dict[str, float], global_step: int | None = None,
                    walltime: float | None = None) -> None:
    """Writes each value to a TensorBoard writer as "main_tag/key"."""
    for key, value in values.items():
        writer.add_scalar(f"{main_tag}/{key}", value, global_step, walltime)


class _Steps:
    """What all callbacks share: the values at the begin and at the end of a batch, and times of steps."""

    def __init__(self, intra_step_time: bool = False, inter_step_time: bool = False, gpus: Iterable[int] | None = None,
                 **options: Any) -> None:
        self._stats = GpuStats(gpus, **options)
        self._intra, self._inter = intra_step_time, inter_step_time
        self._began: float | None = None
        self._ended: float | None = None

    def forget(self) -> None:
        self._began = self._ended = None

    def begin(self) -> dict[str, float]:
        values = self._stats()
        now = time.monotonic()
        if self._inter and self._ended is not None:
            values["batch_time/inter_step (ms)"] = (now - self._ended) * 1000
        self._began = time.monotonic()
        return values

    def end(self) -> dict[str, float]:
        now = time.monotonic()
        values = self._stats()
        if self._intra and self._began is not None:
            values["batch_time/intra_step (ms)"] = (now - self._began) * 1000
        self._ended = now
        return values


def keras(**options: Any) -> Any:
    """A callback for keras: adds the values to the logs of each training batch, for the callbacks behind it.

    Options: memory_utilization, gpu_utilization (on), fan_speed, temperature, intra_step_time,
    inter_step_time (off), gpus: the indices to log.
    """
    import keras as framework

    class GpuStatsLogger(framework.callbacks.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self._steps = _Steps(**options)

        def on_train_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            self._steps.forget()

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            if logs is not None:
                logs.update(self._steps.begin())

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if logs is not None:
                logs.update(self._steps.end())

    return GpuStatsLogger()


LIGHTNING = ("lightning.pytorch", "pytorch_lightning")


def _lightning(name: str | None) -> Any:
    names = [name] if name is not None else sorted(LIGHTNING, key=lambda name: name not in sys.modules)
    for name in names[:-1]:
        try:
            return importlib.import_module(name)
        except ImportError:
            pass
    return importlib.import_module(names[-1])


def lightning(framework: str | None = None, **options: Any) -> Any:
    """A callback for Lightning: logs to the trainer's loggers. Options are those of `keras`. `framework`:
    "lightning.pytorch" or "pytorch_lightning"; else the one that is imported, or installed."""
    module = _lightning(framework)

    class GpuStatsLogger(module.callbacks.Callback):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self._steps = _Steps(**options)

        def _log(self, trainer: Any, values: dict[str, float]) -> None:
            for logger in trainer.loggers:
                logger.log_metrics(values, step=trainer.global_step)

        def on_train_epoch_start(self, trainer: Any, module: Any) -> None:
            self._steps.forget()

        def on_train_batch_start(self, trainer: Any, module: Any, *_: Any) -> None:
            self._log(trainer, self._steps.begin())

        def on_train_batch_end(self, trainer: Any, module: Any, *_: Any) -> None:
            self._log(trainer, self._steps.end())

    return GpuStatsLogger()


def transformers(trainer: Any = None, **options: Any) -> Any:
    """A callback for the Trainer of Hugging Face: adds the values to what it logs. Options are those of `keras`.

    With a trainer it is put in front of its reporters (TensorBoard, MLflow, …), which then report the values
    too. Given as Trainer(callbacks=[…]) it comes behind them: the values are in `trainer.state.log_history`.
    """
    import transformers as framework

    class GpuStatsLogger(framework.TrainerCallback):  # type: ignore[misc]
        def __init__(self) -> None:
            self._steps = _Steps(**options)
            self._values: dict[str, float] = {}

        def on_epoch_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self._steps.forget()

        def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self._values = self._steps.begin()

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self._values.update(self._steps.end())

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            if logs is not None:
                logs.update(self._values)
                if state.log_history:  # it has a copy of the logs, made before
                    state.log_history[-1].update(self._values)

    made = GpuStatsLogger()
    if trainer is not None:
        trainer.callback_handler.callbacks.insert(0, made)
    return made


def mlflow(sampling_interval: float = 10.0, samples_before_logging: int = 1, node_id: str | None = None, *,
           context: Context | None = None) -> Any:
    """Logs the machine's metrics to the active run of MLflow, in place of MLflow's own `log_system_metrics`, until
    its block ends:

        with mlflow.start_run(), vitals.callbacks.mlflow(sampling_interval=5):
            train()

    The keys are those of MLflow ("system/cpu_utilization_percentage", "system/gpu_0_power_usage_watts"), for GPUs of
    every vendor, and its variables MLFLOW_SYSTEM_METRICS_… count here too. Each value has the time at which it was
    read, a short run has a last sample, and a slow server delays none. start() and finish() do the same as a block.
    """
    from vitals._system_metrics import SystemMetrics
    return SystemMetrics(sampling_interval, samples_before_logging, node_id, context)
