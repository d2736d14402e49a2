"""Snapshots of several devices and their processes, and statistics of them over time."""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from weakref import WeakSet

from vitals import VitalsError
from vitals.compat.nvitop import host, libnvml, readings
from vitals.compat.nvitop.device import CudaDevice, Device
from vitals.compat.nvitop.process import GpuProcess, HostProcess
from vitals.compat.nvitop.utils import GiB, MiB, Snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, ClassVar, Iterable, Iterator, List, NamedTuple

    OnCollect = Callable[[dict], bool]  # type: ignore[type-arg]
    OnEvent = Callable[["ResourceMetricCollector"], None]
else:
    from vitals.compat.nvitop.named_tuple import NamedTuple

__all__ = ["ResourceMetricCollector", "collect_in_background", "take_snapshots"]

timer = time.monotonic


class SnapshotResult(NamedTuple):
    devices: List[Snapshot]
    gpu_processes: List[Snapshot]


def _parts_and_leaves(devices: Iterable[Device]) -> tuple[list[Device], list[Device]]:
    """The devices with the MIG devices of each behind it, and those that are not divided."""
    whole: list[Device] = []
    leaves: list[Device] = []
    for device in devices:
        parts = device.mig_devices()
        whole += [device, *parts]
        leaves += parts or [device]
    return whole, leaves


def take_snapshots(devices: Device | Iterable[Device] | None = None, *,
                   gpu_processes: bool | GpuProcess | Iterable[GpuProcess] | None = None) -> SnapshotResult:
    """Snapshots of devices and of processes on them, of one moment.

    Without devices: all, with their MIG devices; or those of the processes that are given. Without processes: all on
    these devices; False: none.
    """
    with readings.together():
        chosen = [devices] if isinstance(devices, Device) else None if devices is None else list(devices)
        if gpu_processes is None or gpu_processes is True:
            leaves = chosen
            if chosen is None or leaves is None:
                chosen, leaves = _parts_and_leaves(Device.all())
            processes = [process for device in leaves for process in device.processes().values()]
        else:
            processes = [gpu_processes] if isinstance(gpu_processes, GpuProcess) else list(gpu_processes or ())
            users = list(dict.fromkeys(process.device for process in processes))
            for device in users:
                device.processes()  # sets the figures of its GpuProcess objects
            if chosen is None:
                chosen = users or Device.all()
        return SnapshotResult([device.as_snapshot() for device in chosen],
                              GpuProcess.take_snapshots(processes, failsafe=True))


def _interval(value: float) -> float:
    if not isinstance(value, (int, float)) or not value > 0:
        raise ValueError(f"Invalid argument interval={value!r}")
    return float(value)


def collect_in_background(on_collect: OnCollect, collector: ResourceMetricCollector | None = None,
                          interval: float | None = None, *, on_start: OnEvent | None = None,
                          on_stop: OnEvent | None = None, tag: str = "metrics-daemon",
                          start: bool = True) -> threading.Thread:
    """A thread that collects at each interval and hands the metrics to `on_collect`, until that returns false."""
    used = ResourceMetricCollector() if collector is None else collector
    seconds = used.interval if interval is None else _interval(interval)

    def run() -> None:
        if on_start is not None:
            on_start(used)
        try:
            with used(tag):
                due = timer() + seconds
                with contextlib.suppress(KeyboardInterrupt):
                    while on_collect(used.collect()):
                        time.sleep(max(0.0, due - timer()))
                        due += seconds
        finally:
            if on_stop is not None:
                on_stop(used)

    daemon = threading.Thread(target=run, name=tag, daemon=True)
    daemon.collector = used  # type: ignore[attr-defined]
    if start:
        daemon.start()
    return daemon


class ResourceMetricCollector:
    """Statistics of devices, of the machine and of processes on the devices: those of `root_pids` (this process) and
    what descends from them.

    Within `with collector(tag="epoch"):`, or between start() and stop(), a thread takes snapshots at each interval, and
    `collect()` returns "epoch/gpu:0/gpu_utilization (%)/mean" and its like, from the begin of the tag on. Tags nest.
    """

    DEVICE_METRICS: ClassVar[list[tuple[str, str, float]]] = [
        ("memory_used", "memory_used (MiB)", MiB), ("memory_free", "memory_free (MiB)", MiB),
        ("memory_total", "memory_total (MiB)", MiB), ("memory_percent", "memory_percent (%)", 1.0),
        ("gpu_utilization", "gpu_utilization (%)", 1.0), ("memory_utilization", "memory_utilization (%)", 1.0),
        ("fan_speed", "fan_speed (%)", 1.0), ("temperature", "temperature (C)", 1.0),
        ("power_usage", "power_usage (W)", 1000.0), ("power_limit", "power_limit (W)", 1000.0)]
    PROCESS_METRICS: ClassVar[list[tuple[str, str | None, str, float]]] = [
        ("cpu_percent", "host", "cpu_percent (%)", 1.0), ("host_memory", "host", "host_memory (MiB)", MiB),
        ("host_memory_percent", "host", "host_memory_percent (%)", 1.0),
        ("running_time_in_seconds", "host", "running_time (min)", 60.0),
        ("gpu_memory", None, "gpu_memory (MiB)", MiB), ("gpu_memory_percent", None, "gpu_memory_percent (%)", 1.0),
        ("gpu_memory_utilization", None, "gpu_memory_utilization (%)", 1.0),
        ("gpu_sm_utilization", None, "gpu_sm_utilization (%)", 1.0)]

    def __init__(self, devices: Device | Iterable[Device] | None = None, *, root_pids: Iterable[int] | None = None,
                 interval: float = 1.0) -> None:
        self.interval = _interval(interval)
        self.devices = [devices] if isinstance(devices, Device) else list(Device.all() if devices is None else devices)
        self.all_devices, self.leaf_devices = _parts_and_leaves(self.devices)
        self.root_pids = {os.getpid()} if root_pids is None else set(root_pids)
        self._roots = {HostProcess(pid) for pid in self.root_pids}
        self._ours = WeakSet(self._roots)  # each object keeps a descriptor
        self._others: WeakSet[HostProcess] = WeakSet()
        self._last = -math.inf
        self._lock = threading.RLock()
        self._buffers: list[_Buffer] = []
        self._running = threading.Event()
        self._daemon: threading.Thread | None = None

    # --- tags ---

    def activate(self, tag: str) -> ResourceMetricCollector:
        """Begins a tag, within those that are open. RuntimeError if it is open."""
        with self._lock:
            if any(buffer.tag == tag for buffer in self._buffers):
                raise RuntimeError(f'Resource metric collector is already started with tag "{tag}"')
            self._buffers.append(_Buffer("/".join([*(buffer.tag for buffer in self._buffers), tag]), tag))
            self._last = -math.inf
            self._running.set()
            if self._daemon is None or not self._daemon.is_alive():
                self._daemon = threading.Thread(name="metrics-collector-daemon", target=self._run, daemon=True)
                self._daemon.start()
        return self

    start = activate

    def _from(self, tag: str | None) -> int | None:
        """Where the open tag is (None: the innermost), or None where none is open."""
        if not self._buffers:
            if tag is not None:
                raise RuntimeError("Resource metric collector has not been started yet.")
            return None
        for number, buffer in enumerate(self._buffers):
            if buffer.tag == tag:
                return number
        if tag is not None:
            raise RuntimeError(f'Resource metric collector has not been started with tag "{tag}".')
        return len(self._buffers) - 1

    def deactivate(self, tag: str | None = None) -> ResourceMetricCollector:
        """Ends a tag, and those within it. RuntimeError if it is not open."""
        with self._lock:
            del self._buffers[self._from(tag):]
            if not self._buffers:
                self._running.clear()
        return self

    stop = deactivate

    def clear(self, tag: str | None = None) -> None:
        """Forgets what a tag, and those within it, have collected."""
        with self._lock:
            for buffer in self._buffers[self._from(tag):]:
                buffer.clear()

    reset = clear

    @contextlib.contextmanager
    def context(self, tag: str) -> Iterator[ResourceMetricCollector]:
        self.activate(tag)
        try:
            yield self
        finally:
            self.deactivate(tag)

    __call__ = context

    def daemonize(self, on_collect: OnCollect, interval: float | None = None, *, on_start: OnEvent | None = None,
                  on_stop: OnEvent | None = None, tag: str = "metrics-daemon", start: bool = True) -> threading.Thread:
        return collect_in_background(on_collect, self, interval, on_start=on_start, on_stop=on_stop, tag=tag,
                                     start=start)

    def _run(self) -> None:
        while self._running.is_set():
            due = timer() + self.interval
            with contextlib.suppress(libnvml.NVMLError, host.PsutilError, VitalsError):
                self.take_snapshots()  # an error that stays is raised by collect()
            time.sleep(max(0.0, due - timer()))

    # --- metrics ---

    def collect(self) -> dict[str, float]:
        """The metrics of the innermost tag up to now. RuntimeError if none is open."""
        with self._lock:
            if not self._buffers:
                raise RuntimeError("Resource metric collector has not been started yet.")
            if timer() - self._last > self.interval / 2:
                self.take_snapshots()
            return self._buffers[-1].collect()

    def _is_ours(self, process: HostProcess) -> bool:
        line: list[HostProcess] = []
        step: HostProcess | None = process
        while step is not None and step not in self._ours and step not in self._others:
            line.append(step)
            try:
                step = step.parent()
            except host.PsutilError:
                step = None
        found = step is not None and step in self._ours
        (self._ours if found else self._others).update(line)
        return found

    def take_snapshots(self) -> SnapshotResult:
        """Takes snapshots now and adds them to the open tags."""
        with readings.together():
            processes = [process for device in (self.leaf_devices if self.root_pids else ())
                         for process in device.processes().values() if self._is_ours(process.host)]
            now, epoch = timer(), time.time()
            taken = SnapshotResult([device.as_snapshot() for device in self.all_devices],
                                   GpuProcess.take_snapshots(processes, failsafe=True))
        metrics = self._of_host()
        names = {}
        for device in taken.devices:
            name = f"gpu:{device.index}"
            names[device.real] = name = (f"cuda:{device.cuda_index} ({name})" if isinstance(device.real, CudaDevice)
                                         else name)
            for key, metric, unit in self.DEVICE_METRICS:
                metrics[f"{name}/{metric}"] = float(device[key]) / unit
        for process in taken.gpu_processes:
            for key, scope, metric, unit in self.PROCESS_METRICS:
                metrics[f"pid:{process.pid}/{scope or names[process.device]}/{metric}"] = float(process[key]) / unit
        with self._lock:
            for number, buffer in enumerate(self._buffers):
                buffer.add(metrics, now, epoch if number == len(self._buffers) - 1 else time.time())
            if self._buffers:
                self._last = now
        return taken

    @staticmethod
    def _of_host() -> dict[str, float]:
        memory = host.virtual_memory()
        loads = zip(("1 min", "5 min", "15 min"), host.load_average())
        return {"host/cpu_percent (%)": host.cpu_percent(), "host/memory_percent (%)": memory.percent,
                "host/swap_percent (%)": host.swap_percent(), "host/memory_used (GiB)": memory.used / GiB,
                **{f"host/load_average (%) ({name})": load for name, load in loads}}


class _Buffer:
    """The statistics of a tag."""

    def __init__(self, prefix: str, tag: str) -> None:
        self.prefix, self.tag = prefix, tag
        self.clear()

    def clear(self) -> None:
        self.begin = self.last = timer()
        self.last_epoch = time.time()
        self.kept: dict[str, _Statistic] = {}

    def add(self, metrics: dict[str, float], now: float, epoch: float) -> None:
        for name, statistic in self.kept.items():
            if name not in metrics:
                statistic.add(math.nan, now)
        for name, value in metrics.items():
            if name not in self.kept:
                self.kept[name] = _Statistic(self.last)
            self.kept[name].add(value, now)
        self.last, self.last_epoch = now, epoch

    def collect(self) -> dict[str, float]:
        found = {}
        for name, statistic in self.kept.items():
            values = statistic.values()
            if name.endswith("host/running_time (min)"):  # a time that passes has no mean
                found[f"{self.prefix}/{name}"] = values["max"]
                values = {"last": values["last"]}
            found.update((f"{self.prefix}/{name}/{kind}", value) for kind, value in values.items())
        found[f"{self.prefix}/duration (s)"] = timer() - self.begin
        found[f"{self.prefix}/timestamp"] = time.time()
        found[f"{self.prefix}/last_timestamp"] = self.last_epoch
        return found


class _Statistic:
    """Of one metric: the mean over time, along straight lines between its values. Before the first it is as that, and
    after the last as that too; where values were missing the mean ends with the last."""

    def __init__(self, begin: float) -> None:
        self.begin = self.at = begin
        self.area = 0.0
        self.least = self.most = self.last = math.nan
        self.gaps = False

    def add(self, value: float, now: float) -> None:
        if math.isnan(value):
            self.gaps = True
            return
        before = value if math.isnan(self.last) else self.last
        self.area += (before + value) / 2 * (now - self.at)
        self.least, self.most = (value, value) if math.isnan(self.last) else (
            min(self.least, value), max(self.most, value))
        self.at, self.last = now, value

    def values(self) -> dict[str, float]:
        end = self.at if self.gaps else timer()
        seconds = end - self.begin
        area = self.area + (0.0 if self.gaps else self.last * (end - self.at))
        mean = self.last if math.isnan(self.last) or seconds <= 0 else area / seconds
        return {"mean": mean, "min": self.least, "max": self.most, "last": self.last}
