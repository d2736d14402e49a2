"""Where values of devices come from: samplers of the C library, one for each group of metrics.

A sampler is made with the first question of its group and then answers each question with a reading of its own: by
an interval of a day nothing is put off, and no thread reads between questions. It starts no thread but the library's
worker, in which the driver is called. A reading is of all NVIDIA devices; `together()` makes one serve several.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
import time

import vitals
from vitals import _core
from vitals._core import ffi, lib
from vitals._snapshot import Plan, Sampler, Snapshot, plan_of
from vitals.compat.nvitop import libnvml
from vitals.compat.nvitop.utils import NA

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterator, Tuple, Union

    Index = Union[int, Tuple[int, int]]  # a device, or (device, partition)

_IDENTITY = ("gpu.name", "gpu.uuid", "gpu.pci_bus_id", "gpu.driver_version", "gpu.cuda_version",
             "gpu.gpu_instance_id", "gpu.compute_instance_id", "gpu.compute_capability")
_LIVE = {
    "memory": ("gpu.memory_total_bytes", "gpu.memory_used_bytes", "gpu.memory_free_bytes", "gpu.memory_reserved_bytes"),
    "utilization": ("gpu.utilization_ratio", "gpu.memory_busy_ratio", "gpu_engine.utilization_ratio"),
    "clocks": ("gpu_clock.frequency_hertz", "gpu_clock.frequency_max_hertz"),
    "board": ("gpu.fan_ratio", "gpu.temperature_celsius", "gpu.power_watts", "gpu.power_limit_set_watts"),
    "state": ("gpu.display_active", "gpu.display_attached", "gpu.persistence_mode", "gpu.performance_state",
              "gpu.ecc_errors_uncorrected", "gpu.compute_mode", "gpu.driver_model", "gpu.mig_mode"),
    "bar1": ("gpu_pool.total_bytes", "gpu_pool.used_bytes"),
    "pcie": ("gpu.pcie_transmitted_bytes_per_second", "gpu.pcie_received_bytes_per_second"),
    "links": ("gpu_link.transmitted_bytes", "gpu_link.received_bytes"),
    "serial": ("gpu.serial",),
    "processes": tuple(f"gpu_process.{name}" for name in (
        "pid", "type", "memory_used_bytes", "utilization_ratio", "memory_busy_ratio", "encoder_ratio", "decoder_ratio",
        "gpu_instance_id", "compute_instance_id")),
}
_LIVE["snapshot"] = sum((_LIVE[name] for name in ("memory", "utilization", "clocks", "board", "state")), ()) + (
    "gpu.compute_capability", "gpu.gpu_instance_id", "gpu.compute_instance_id")
GROUPS = {name: ("gpu.vendor", *names, "source.state", "source.message") for name, names in {
    **_LIVE, "identity": _IDENTITY}.items()}
DAY = 86400.0
LIST_SECONDS = 30.0  # how long a reading waits for a driver that has not listed its devices


class Reading:
    """All devices at one moment, by index. Values are kept once they were looked at."""

    __slots__ = ("snapshot", "_group", "_kept", "_values")

    def __init__(self, snapshot: Snapshot, group: _Group) -> None:
        self.snapshot, self._group = snapshot, group
        self._kept: dict[Any, Any] = {}
        self._values: dict[Index, dict[str, Any]] = {}

    def once(self, name: Any, make: Callable[[], Any]) -> Any:
        """What `make` returned when it was first called for the name."""
        kept = self._kept
        if name not in kept:
            kept[name] = make()
        return kept[name]

    @property
    def rows(self) -> dict[Index, Any]:
        """The rows of all devices."""
        return self.once("rows", self._list)  # type: ignore[no-any-return]

    def _list(self) -> dict[Index, Any]:
        found = {_index(_core.string(lib.vitals_row_label(pointer))): pointer
                 for pointer in _core.each(lib.vitals_snapshot_next, self.snapshot.pointer, GPU)
                 if value(pointer, "gpu.vendor") == "nvidia"}
        self._group.keys = {index: lib.vitals_row_key(pointer) for index, pointer in found.items()}
        return found

    def row(self, index: Index) -> Any:
        """The row of a device; None if it has gone."""
        key = self._group.keys.get(index)
        pointer = None if key is None else lib.vitals_snapshot_find(self.snapshot.pointer, GPU, key)
        return pointer or self.rows.get(index)

    def index_of(self, pointer: Any) -> Index | None:
        """Of a row of the snapshot."""
        return next((index for index, row in self.rows.items() if row == pointer), None)

    def values(self, index: Index) -> dict[str, Any]:
        """What the group asks of the table gpu, by name ("gpu.name"), read with the first of them; nothing where the
        device has gone."""
        found = self._values.get(index)
        if found is None:
            pointer = self.row(index)
            found = self._values[index] = {} if pointer is None else self._group.read(pointer, "gpu")
        return found

    def value(self, index: Index, name: str) -> Any:
        """A metric of the table gpu; None where there is none, also where the device has gone."""
        return self.values(index).get(name)

    def children(self, index: Index, table: str) -> dict[str, Any]:
        """The rows of a device in another table, by label."""
        return self.once((index, table), lambda: self._list_children(index, table))  # type: ignore[no-any-return]

    def child_values(self, index: Index, table: str, labels: tuple[str, ...] | None = None) -> dict[str, dict[str, Any]]:
        """What the group asks of these rows, or of those with some labels: by label, then by name."""
        read = self._group.read
        return self.once((index, table, labels), lambda: {  # type: ignore[no-any-return]
            label: read(pointer, table) for label, pointer in self.children(index, table).items()
            if labels is None or label in labels})

    def _list_children(self, index: Index, table: str) -> dict[str, Any]:
        pointer = self.row(index)
        if pointer is None:
            return {}
        number, whole, found, child = _core.table_number(table), self.snapshot.pointer, {}, ffi.NULL
        key, step = lib.vitals_row_key(pointer), lib.vitals_snapshot_next_child
        while child := step(whole, number, key, child):
            found[_label(ffi.string(lib.vitals_row_label(child)))] = child
        return found


@functools.lru_cache(maxsize=4096)
def _label(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


GPU = _core.table_number("gpu")


@functools.lru_cache(maxsize=None)
def _index(label: str) -> Index:
    device, _, part = label.partition(":")
    return (int(device), int(part)) if part else int(device)


metric = functools.lru_cache(maxsize=None)(_core.metric_of)


class _Group:
    """The sampler of a group. Whole snapshots keep to the library's rule that the driver is asked for at most a tenth
    of the time; a single question always asks."""

    def __init__(self, name: str, context: vitals.Context) -> None:
        self.name, self.lock = name, threading.Lock()
        self._plans: dict[str, tuple[list[str], Plan]] = {}
        self.listed, self.list_end = False, 0.0
        self.sampler = Sampler(*GROUPS[name], interval=1.0 if name == "snapshot" else DAY, context=context,
                               every={one: 0.0 for one in _LIVE.get(name, ())})

        self.keys: dict[Index, int] = {}  # of the rows of devices, in each reading
        self.last: Reading | None = None
        self.last_time = 0.0

    def read(self, pointer: Any, table: str) -> dict[str, Any]:
        """The metrics of a row that the group asks for."""
        plan = self._plans.get(table)
        if plan is None:
            names = [name for name in GROUPS[self.name][1:] if name.startswith(f"{table}.")]
            plan = self._plans[table] = names, plan_of(_core.table_number(table), tuple(
                name.partition(".")[2] for name in names))
        return dict(zip(plan[0], plan[1].read(pointer)[0]))

    def take(self) -> Reading:
        with self.lock:
            made = self._whole() if not self.listed else Reading(self.sampler.take(), self)
            self.last, self.last_time = made, time.monotonic()
            return made

    def _whole(self) -> Reading:
        """A reading of all devices. Raises NVMLError_Timeout where it cannot be known which these are."""
        self.list_end = self.list_end or time.monotonic() + LIST_SECONDS
        while True:
            made = Reading(self.sampler.take(), self)
            self.listed = all(row["state"] != "not_yet" for row in made.snapshot["source"] if row.label == "nvidia")
            if self.listed:
                return made
            if time.monotonic() >= self.list_end:
                if self.name == "identity":
                    raise libnvml.NVMLError(10)
                return made
            time.sleep(0.1)

    def recent(self, seconds: float) -> Reading:
        """The last reading, if it is no older."""
        last = self.last
        return last if last is not None and time.monotonic() - self.last_time < seconds else self.take()


_groups: dict[str, _Group] = {}
_lock = threading.Lock()
_context: vitals.Context | None = None
_shared = threading.local()


def use(context: vitals.Context | None) -> None:
    """Which devices there are from now on: those of a context, as `vitals.Context(demo="default")`; None: real ones."""
    global _context
    with _lock:
        _context = context
        _groups.clear()


def _after_fork() -> None:
    """The samplers of the parent have no thread here."""
    global _lock
    _lock = threading.Lock()
    _groups.clear()


os.register_at_fork(after_in_child=_after_fork)


def group(name: str) -> _Group:
    found = _groups.get(name)
    if found is None:
        with _lock:
            found = _groups.get(name) or _Group(name, _context or vitals.Context(backends="nvidia"))
            _groups[name] = found
    return found


def take(name: str) -> Reading:
    """Reads a group now; within `together()` once."""
    kept = getattr(_shared, "kept", None)
    if kept is None:
        return group(name).take()
    if name not in kept:
        kept[name] = group(name).take()
    reading: Reading = kept[name]
    return reading


@contextlib.contextmanager
def together() -> Iterator[None]:
    """What this thread reads within is read once, for all devices."""
    if getattr(_shared, "kept", None) is not None:
        yield
        return
    _shared.kept = {}
    try:
        yield
    finally:
        _shared.kept = None


# --- Why there is no device -------------------------------------------------------------------------

_WORDS = (
    ("not loaded", 9), ("does not match", 18), ("lost a device", 15), ("driver library", 12),
)


def check(reading: Reading) -> None:
    """Raises NVML's error if the driver could not be used at all."""
    for row in reading.snapshot["source"]:
        if row.label != "nvidia" or row["state"] == "have":
            continue
        message = str(row["message"])
        if row["state"] == "denied":
            raise libnvml.NVMLError(4)
        _, said, number = message.partition("nvmlInit says ")
        if said:
            raise libnvml.NVMLError(int(number.partition(")")[0]))
        raise libnvml.NVMLError(next((code for words, code in _WORDS if words in message), 999))


def driver_in_words() -> str:
    """The version of a driver that has no device; NA where it does not say."""
    for row in take("identity").snapshot["source"]:
        word, _, version = str(row["message"]).partition(" ")
        version, comma, _ = version.partition(",")
        if row.label == "nvidia" and word == "driver" and version and comma and " " not in version:
            return version
    return NA


def value(pointer: Any, name: str) -> Any:
    """A metric of a row; None where there is none."""
    table, _, short = name.partition(".")
    return plan_of(_core.table_number(table), (short,)).read(pointer)[0][0]


def number_in(label: str) -> int:
    """The number at the end of "nvlink12"."""
    return int("".join(filter(str.isdecimal, label)) or 0)


def is_fresh(reading: Reading, index: Index, name: str, seconds: float) -> bool:
    """Whether a value is at most so old, or will not come."""
    pointer = reading.row(index)
    if pointer is None:
        return True
    number = metric(name)
    state = lib.vitals_row_availability(pointer, number)
    if state <= 0:
        return bool(state != lib.VITALS_NOT_YET)
    return bool(lib.vitals_row_age_seconds(pointer, number) <= seconds)


def rate(pointer: Any, older: Reading, name: str) -> float | None:
    """Growth of a counter per second since an older reading of its group."""
    out = ffi.new("double *")
    state = lib.vitals_row_rate(pointer, older.snapshot.pointer, metric(name), out)
    return float(out[0]) if state > 0 else None
