"""ProcessMetricsMonitor of stouputils.mlflow over vitals:

    from vitals.compat.stouputils import ProcessMetricsMonitor

    with mlflow.start_run(), ProcessMetricsMonitor(sampling_interval=5):
        train()

Nine metrics of a process and its descendants go to the active MLflow run, whose tab "System metrics"
shows them (the prefix `system/process/` of stouputils 26.10; `prefix="process/"` is that of older ones).
Differences: each value has the time at which it was read; the first sample is a whole interval, and the
last one is taken at the end; CPU time of children that live between two samples counts; monitoring ends
with the process; publishing never delays sampling. mlflow is imported at the start.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
from importlib import import_module
from types import TracebackType
from typing import Any, Dict, List, Tuple

from vitals import _core
from vitals._core import Context, GoneError, Pointer, ffi, lib
from vitals._process import Process
from vitals._snapshot import Snapshot, request, snapshot

__all__ = ["ProcessMetricsMonitor"]

log = logging.getLogger(__name__)

MEGABYTE = 1048576
FINISH_SECONDS = 30.0  # for a slow server to take what is left

# Each metric that is a gauge: the measure and the divisor.
_GAUGES = (("memory_rss_megabytes", "memory_resident_bytes", MEGABYTE),
           ("memory_vms_megabytes", "memory_virtual_bytes", MEGABYTE),
           ("memory_uss_megabytes", "memory_private_bytes", MEGABYTE),
           ("num_threads", "threads", 1), ("num_fds", "descriptors", 1))
# Totals since the process was started: of several samples the last one stands for all.
_TOTALS = (("io_read_megabytes", "disk_read_bytes", "read_bytes"),
           ("io_write_megabytes", "disk_written_bytes", "written_bytes"))

# By itself the library reads these each ten seconds.
_MEMORY = ("process.pss_bytes", "process.uss_bytes")

_Batch = Tuple[List[Dict[str, float]], float]


class ProcessMetricsMonitor:
    """Samples a process (this one, without `pid`) and logs what it uses to the active MLflow run.

    `samples_before_logging` samples are averaged into one; `max_memory_megabytes` is 100 % of memory
    (else the machine's), `max_cpu_count` CPUs are 100 % of CPU (else a single one). `deadband` is
    accepted: every value is written. A metric that cannot be read is not logged.
    """

    def __init__(self, pid: int | None = None, children: bool = True, sampling_interval: float = 10.0,
                 samples_before_logging: int = 1, prefix: str = "system/process/", verbose: bool = False,
                 max_memory_megabytes: float | None = None, max_cpu_count: float | None = None,
                 deadband: float = 0.0, *, context: Context | None = None) -> None:
        self.pid = os.getpid() if pid is None else pid
        self.children, self.sampling_interval = children, sampling_interval
        self.samples_before_logging, self.prefix, self.verbose = max(int(samples_before_logging), 1), prefix, verbose
        self.max_memory_megabytes, self.max_cpu_count, self.deadband = max_memory_megabytes, max_cpu_count, deadband
        self.run_id: str | None = None
        self.step = 0
        self.samples: list[dict[str, float]] = []
        self._context = context or _core.default_context()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._batches: queue.SimpleQueue[_Batch | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._usage: Pointer | None = None
        self._sampler: Pointer | None = None
        self._process: Process | None = None
        self._bases: dict[str, float] = {}
        self._cpu, self._cpu_at = 0.0, 0.0
        self._memory_total: float | None = None

    # --- measuring ---

    @property
    def processes(self) -> dict[int, Process]:
        """The processes that are measured now, by pid."""
        try:
            root = Process(self.pid, context=self._context)
            return {one.pid: one for one in [root, *(root.descendants() if self.children else [])]}
        except GoneError:
            return {}

    def _open(self) -> None:
        self._process = Process(self.pid, context=self._context)
        options = ffi.new("vitals_usage_options *")
        lib.vitals_usage_options_init(options, ffi.sizeof("vitals_usage_options"))
        pids = ffi.new("int64_t[]", [self.pid])
        options.pids, options.pid_count, options.no_children = pids, 1, not self.children
        options.details, options.machine_pace = True, lib.VITALS_MACHINE_SELDOM
        self._usage = _core.owned(_core.create("vitals_usage", lib.vitals_usage_new, options), lib.vitals_usage_free)
        wanted = request(_MEMORY, every=dict.fromkeys(_MEMORY, 0.0))
        _core.call(lib.vitals_usage_request, self._usage, wanted)
        self._sampler = _core.owned(
            _core.create("vitals_sampler", lib.vitals_sampler_new, self._context.pointer, wanted),
            lib.vitals_sampler_free, self._context)
        before = snapshot("host.memory_total_bytes", *(f"process.{name}" for _, _, name in _TOTALS),
                          pids=[self.pid], rows="tree" if self.children else "listed", context=self._context)
        for _, measure, name in _TOTALS:
            known = [float(value) for value in before.process.values(name) if isinstance(value, (int, float))]
            if known:
                self._bases[measure] = sum(known)
        total = before.host[0]["memory_total_bytes"]
        self._memory_total = float(total) if isinstance(total, (int, float)) else None
        self._cpu, self._cpu_at = self._values().get("cpu_seconds", 0.0), time.monotonic()

    def _values(self) -> dict[str, float]:
        taken = Snapshot(_core.create("vitals_snapshot", lib.vitals_sampler_take, self._sampler))
        _core.call(lib.vitals_usage_add, self._usage, taken.pointer)
        return {_core.string(lib.vitals_measure_name(value.measure)): float(value.value)
                for value in _core.each(lib.vitals_usage_next, self._usage)
                if value.scope == lib.VITALS_SCOPE_TREE and value.state > 0}

    def collect_once(self) -> dict[str, float]:
        """One sample: CPU since the sample before, the rest as it is now. Empty once the process has ended."""
        with self._lock:
            if self._sampler is None:
                self._open()
            assert self._process is not None
            values, now = self._values(), time.monotonic()
            if not self._process.is_running() or not values.get("processes"):
                return {}
            made: dict[str, float] = {}
            if "cpu_seconds" in values and now > self._cpu_at:
                cores = max(values["cpu_seconds"] - self._cpu, 0.0) / (now - self._cpu_at)
                made["cpu_usage_percentage"] = 100.0 * cores / (self.max_cpu_count or 1.0)
                self._cpu, self._cpu_at = values["cpu_seconds"], now
            for name, measure, divisor in _GAUGES:
                if measure in values:
                    made[name] = values[measure] / divisor
            if "memory_rss_megabytes" in made:
                made.setdefault("memory_uss_megabytes", made["memory_rss_megabytes"])
                most = self.max_memory_megabytes or (self._memory_total or 0.0) / MEGABYTE
                if most > 0:
                    made["memory_usage_percentage"] = 100.0 * made["memory_rss_megabytes"] / most
            for name, measure, _ in _TOTALS:
                if measure in values and measure in self._bases:
                    made[name] = (self._bases[measure] + values[measure]) / MEGABYTE
            return made

    def aggregate(self, samples: list[dict[str, float]]) -> dict[str, float]:
        """The mean of each metric; of totals the last value."""
        made: dict[str, float] = {}
        totals = {name for name, _, _ in _TOTALS}
        for name in dict.fromkeys(name for sample in samples for name in sample):
            values = [sample[name] for sample in samples if name in sample]
            made[name] = values[-1] if name in totals else sum(values) / len(values)
        return made

    # --- publishing ---

    def _active_run(self) -> str:
        run = import_module("mlflow").active_run()
        if run is None:
            raise RuntimeError("ProcessMetricsMonitor needs an active MLflow run: call mlflow.start_run() before.")
        return str(run.info.run_id)

    def publish(self, metrics: dict[str, float]) -> None:
        """Logs metrics now, as the next step of the run."""
        self._publish(metrics, time.time())

    def _publish(self, metrics: dict[str, float], seconds: float) -> None:
        mlflow, metric = import_module("mlflow"), import_module("mlflow.entities").Metric
        if self.run_id is None:
            self.run_id = self._active_run()
        with self._lock:
            step, self.step = self.step, self.step + 1
        moment = int(seconds * 1000)
        mlflow.MlflowClient().log_batch(self.run_id, metrics=[
            metric(self.prefix + name, value, moment, step) for name, value in metrics.items()])
        if self.verbose:
            log.info("MLflow run %s, step %d: %s", self.run_id, step, metrics)

    def _publish_loop(self) -> None:
        """In a thread of its own: a slow server delays no sample."""
        while True:
            batch = self._batches.get()
            if batch is None:
                return
            try:
                self._publish(self.aggregate(batch[0]), batch[1])
            except Exception as problem:  # the program that is monitored must not suffer
                log.warning("metrics of process %d could not be published: %s", self.pid, problem)

    # --- running ---

    def _collect(self) -> bool:
        sample = self.collect_once()
        if sample:
            self.samples.append(sample)
            if len(self.samples) >= self.samples_before_logging:
                self.flush_remaining()
        return bool(sample)

    def flush_remaining(self) -> None:
        """Hands over the samples that are not yet logged."""
        samples, self.samples = self.samples, []
        if samples:
            self._batches.put((samples, time.time()))

    def monitor_loop(self) -> None:
        """Samples at each interval, until `finish` or the end of the process."""
        due, alive = time.monotonic(), True
        while alive:
            due = max(due + self.sampling_interval, time.monotonic())
            last = self._stopping.wait(due - time.monotonic())
            try:
                alive = self._collect() and not last
            except Exception as problem:
                log.warning("process %d could not be sampled: %s", self.pid, problem)
                alive = not last
        self.flush_remaining()
        self._batches.put(None)

    def start(self) -> None:
        """Begins. Raises RuntimeError without an active run, ProcessLookupError without the process."""
        if self._threads:
            raise RuntimeError("The monitor was started before.")
        self.run_id = self._active_run()
        self._open()
        self._threads = [threading.Thread(target=target, name=f"vitals-{name}", daemon=True)
                         for target, name in ((self.monitor_loop, "monitor"), (self._publish_loop, "publish"))]
        for thread in self._threads:
            thread.start()

    def finish(self) -> None:
        """Takes a last sample, and waits until all is published."""
        self._stopping.set()
        for thread in self._threads:
            thread.join(FINISH_SECONDS)
        if any(thread.is_alive() for thread in self._threads):
            log.warning("the MLflow server is slow: the last metrics of process %d may be missing", self.pid)
        elif self._sampler is not None:
            with self._lock:
                self._sampler = self._usage = None

    def __enter__(self) -> ProcessMetricsMonitor:
        self.start()
        return self

    def __exit__(self, exc_type: type[BaseException] | None, exc_val: BaseException | None,
                 exc_tb: TracebackType | None) -> None:
        self.finish()

    async def __aenter__(self) -> ProcessMetricsMonitor:
        self.start()
        return self

    async def __aexit__(self, exc_type: type[BaseException] | None, exc_val: BaseException | None,
                        exc_tb: Any | None) -> None:
        import asyncio
        await asyncio.get_running_loop().run_in_executor(None, self.finish)
