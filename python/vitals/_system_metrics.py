"""The machine's metrics in an MLflow run, by the names of MLflow's own monitor (`log_system_metrics=True`)."""

from __future__ import annotations

import os
from typing import Any

from vitals._core import Context
from vitals._snapshot import Sampler
from vitals.compat import psutil
from vitals.compat.stouputils import ProcessMetricsMonitor

MEGABYTE = 1e6  # as MLflow has it
_GPU = ("memory_used_bytes", "memory_total_bytes", "utilization_ratio", "power_watts", "power_limit_watts")


class SystemMetrics(ProcessMetricsMonitor):
    """See vitals.callbacks.mlflow."""

    def __init__(self, sampling_interval: float, samples_before_logging: int, node_id: str | None,
                 context: Context | None) -> None:
        def setting(name: str) -> str | None:
            return os.environ.get(f"MLFLOW_SYSTEM_METRICS_{name}")
        node = setting("NODE_ID") or node_id
        super().__init__(sampling_interval=float(setting("SAMPLING_INTERVAL") or sampling_interval),
                         samples_before_logging=int(setting("SAMPLES_BEFORE_LOGGING") or samples_before_logging),
                         prefix=f"system/{node}/" if node else "system/", context=context)
        self._gpus: Sampler | None = None

    def _open(self) -> None:
        self._gpus = Sampler(*(f"gpu.{name}" for name in _GPU), context=self._context)
        self._gpus.take()
        self._times, self._network = psutil.cpu_times(), psutil.net_io_counters(nowrap=False)
        self.step = self._next_step()

    def _next_step(self) -> int:
        """Behind what the run has already, if it is continued."""
        if self.run_id is None:
            return 0
        from importlib import import_module
        data: Any = import_module("mlflow").MlflowClient().get_run(self.run_id).data
        return max((metric.step + 1 for metric in getattr(data, "_metric_objs", ())
                    if metric.key.startswith("system/")), default=0)

    def collect_once(self) -> dict[str, float]:
        """One sample: CPU since the sample before, network since the start, the rest as it is now."""
        with self._lock:
            if self._gpus is None:
                self._open()
            assert self._gpus is not None
            before, self._times = self._times, psutil.cpu_times()
            delta = psutil._delta(before, self._times)
            memory, disk = psutil.virtual_memory(), psutil.disk_usage(os.sep)
            whole = psutil._all(delta)
            made = {"system_memory_usage_megabytes": memory.used / MEGABYTE,
                    "system_memory_usage_percentage": memory.used / memory.total * 100,
                    "disk_usage_percentage": disk.percent, "disk_usage_megabytes": disk.used / MEGABYTE,
                    "disk_available_megabytes": disk.free / MEGABYTE}
            if whole > 0:
                made["cpu_utilization_percentage"] = 100 * (whole - delta.idle - delta.iowait) / whole
            network = psutil.net_io_counters(nowrap=False)
            if network is not None and self._network is not None:
                made["network_receive_megabytes"] = (network.bytes_recv - self._network.bytes_recv) / MEGABYTE
                made["network_transmit_megabytes"] = (network.bytes_sent - self._network.bytes_sent) / MEGABYTE
            for index, row in enumerate(row for row in self._gpus.take().gpu if not row.parent_key):
                made.update(_of_gpu(index, *row.read(*_GPU)))
            return made

    def aggregate(self, samples: list[dict[str, float]]) -> dict[str, float]:
        """The mean of each metric with one decimal; of the network, which is counted on, the last value."""
        made: dict[str, float] = {}
        for name in dict.fromkeys(name for sample in samples for name in sample):
            values = [sample[name] for sample in samples if name in sample]
            made[name] = values[-1] if name.startswith("network_") else round(sum(values) / len(values), 1)
        return made


def _of_gpu(index: int, used: Any, total: Any, busy: Any, watts: Any, limit: Any) -> dict[str, float]:
    """What is missing is left out."""
    values = {"memory_usage_megabytes": None if used is None else used / MEGABYTE,
              "memory_usage_percentage": used / total * 100 if used is not None and total else None,
              "utilization_percentage": None if busy is None else busy * 100,
              "power_usage_watts": watts,
              "power_usage_percentage": watts / limit * 100 if watts is not None and limit else None}
    return {f"gpu_{index}_{name}": float(value) for name, value in values.items() if value is not None}
