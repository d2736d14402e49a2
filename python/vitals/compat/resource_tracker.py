"""resource-tracker's names over vitals: `from vitals.compat import resource_tracker`, or

    from vitals.compat.resource_tracker import ResourceTracker

    with ResourceTracker(interval=0.5, discover_cloud=False) as tracker:
        work()
    print(tracker.stats(), tracker.recommend_resources())

Columns, units and names are those of resource-tracker 0.5; functions named `get_pid_…` have the units of
0.1 (clock ticks, kB). A value that cannot be read is 0 in rows, as there. Differences: everything that
runs in threads of any process counts, and also children that live between two samples; the first and the
last interval are not lost; memory is recommended in MiB as measured; the report needs no network.
Nothing is streamed to Sentinel.
"""

from __future__ import annotations

import contextlib
import csv
import enum
import functools
import gzip
import io
import json
import logging
import os
import re
import sys
import tempfile
import threading
import time
import warnings
import weakref
from csv import DictReader
from time import sleep
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Union, overload

from vitals import _core
from vitals._core import Context, GoneError, Pointer, ffi, lib
from vitals._process import Process
from vitals._run import Run
from vitals._snapshot import Snapshot, nanoseconds, request, snapshot

if TYPE_CHECKING:
    from typing import Literal

__all__ = ["PidTracker", "ProcessTracker", "Report", "ResourceTracker", "RunStatus", "StatSpec", "SystemTracker",
           "TinyDataFrame", "aggregate_stats", "get_cloud_info", "get_instance_price", "get_pid_children",
           "get_pid_proc_io", "get_pid_proc_times", "get_pid_pss_rollup", "get_pid_rss", "get_pid_stats",
           "get_process_children", "get_process_proc_io", "get_process_proc_times", "get_process_pss_rollup",
           "get_process_rss", "get_process_stats", "get_recommended_cloud_servers", "get_server_info",
           "get_system_stats", "is_partition", "round_memory"]

log = logging.getLogger(__name__)

Value = Union[int, float, str, None]
Stats = Dict[str, Dict[str, Any]]

MIB = 1048576
GB = 1000000000
TICKS = os.sysconf("SC_CLK_TCK")

# Columns in larger units, and the bytes in one unit.
BYTE_MAPPING = {
    "memory_mib": MIB, "memory_free_mib": MIB, "memory_used_mib": MIB, "memory_buffers_mib": MIB,
    "memory_cached_mib": MIB, "memory_active_mib": MIB, "memory_inactive_mib": MIB, "gpu_vram_mib": MIB,
    "disk_space_total_gb": GB, "disk_space_used_gb": GB, "disk_space_free_gb": GB,
}

HUMAN_NAMES_MAPPING = {
    "timestamp": "Timestamp", "processes": "processes", "utime": "CPU time (user)", "stime": "CPU time (system)",
    "cpu_usage": "CPU usage", "memory_free_mib": "free memory", "memory_used_mib": "used memory",
    "memory_buffers_mib": "memory buffers", "memory_cached_mib": "memory page/file cached",
    "memory_active_mib": "active memory", "memory_inactive_mib": "inactive memory", "disk_read_bytes": "disk read",
    "disk_write_bytes": "disk write", "disk_space_total_gb": "disk space total",
    "disk_space_used_gb": "disk space used", "disk_space_free_gb": "disk space free",
    "net_recv_bytes": "inbound network traffic", "net_sent_bytes": "outbound network traffic",
    "gpu_usage": "GPU usage", "gpu_vram_mib": "VRAM used", "gpu_utilized": "GPUs in use", "pid": "PID",
    "children": "children", "memory_mib": "memory usage",
}

# The server is taken for shared if the machine uses so much more than the process.
SERVER_ALLOCATION_CHECKS: list[dict[str, Any]] = [
    {"process_column": "cpu_usage", "system_column": "cpu_usage", "percent": 1.25, "absolute": 0.25},
    {"process_column": "memory_mib", "system_column": "memory_used_mib", "percent": 1.5, "absolute": 512},
    {"process_column": "gpu_usage", "system_column": "gpu_usage", "percent": 1.25, "absolute": 0.2},
    {"process_column": "gpu_vram_mib", "system_column": "gpu_vram_mib", "percent": 1.25, "absolute": 512},
]


class RunStatus(enum.Enum):
    """How a run ended."""

    finished = "finished"
    failed = "failed"


# --- a small data frame -----------------------------------------------------------------------------

class StatSpec(NamedTuple):
    """A statistic of a column: `agg` of its values, under `agg_name`, with so many decimals."""

    column: str
    agg: Callable[[List[Any]], Any]
    agg_name: Optional[str] = None
    round: Optional[int] = None


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def _text_of(path: str) -> str:
    """The text of a file or of a URL."""
    if not path.startswith(("http://", "https://")):
        with open(path, newline="", encoding="utf-8") as file:
            return file.read()
    from urllib.request import urlopen
    with urlopen(path, timeout=30) as answer:
        text: str = answer.read().decode("utf-8")
        return text


class TinyDataFrame:
    """Columns of equal length, made of a dictionary of columns, a list of rows, or a CSV file or URL."""

    def __init__(self, data: dict[str, list[Any]] | list[dict[str, Any]] | None = None,
                 csv_file_path: str | None = None, retries: int = 0, retry_delay: float = 0.1) -> None:
        assert data is None or csv_file_path is None, "only one of data or csv_file_path must be provided"
        assert data is not None or csv_file_path is not None, "either data or csv_file_path must be provided"
        if csv_file_path is not None:
            data = self._read_csv(csv_file_path, retries, retry_delay)
        assert isinstance(data, (dict, list)), "data must be a dictionary or a list"
        if isinstance(data, list):
            self.columns = list(dict.fromkeys(name for row in data for name in row))
            self._data = [[row.get(column) for row in data] for column in self.columns]
        else:
            self.columns = list(data)
            self._data = [list(values) for values in data.values()]

    def _read_csv(self, csv_file_path: str, retries: int = 0, retry_delay: float = 0.1) -> list[dict[str, Any]]:
        problem: Exception | None = None
        for attempt in range(retries + 1):
            if attempt:
                sleep(retry_delay)
                retry_delay *= 2
            try:
                rows = list(DictReader(io.StringIO(_text_of(csv_file_path), newline="")))
                if any(None in row for row in rows):
                    raise ValueError("a line has more cells than there are columns")
                return [{name: value if value is None else _number(value) for name, value in row.items()}
                        for row in rows]
            except Exception as error:  # it may be half written
                problem = error
        raise RuntimeError(f"Failed to read CSV file after {retries + 1} attempts: {csv_file_path}") from problem

    def __len__(self) -> int:
        return len(self._data[0]) if self._data else 0

    @overload
    def __getitem__(self, key: str) -> list[Any]: ...
    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: list[str] | slice) -> TinyDataFrame: ...

    def __getitem__(self, key: str | int | list[str] | slice) -> list[Any] | dict[str, Any] | TinyDataFrame:
        if isinstance(key, str):
            if key not in self.columns:
                raise KeyError(f"Column '{key}' not found")
            return self._data[self.columns.index(key)]
        if isinstance(key, list):
            return TinyDataFrame({name: self[name] for name in key})
        if isinstance(key, slice):
            return TinyDataFrame({name: values[key] for name, values in zip(self.columns, self._data)})
        if isinstance(key, int):
            return {name: values[key] for name, values in zip(self.columns, self._data)}
        raise TypeError(f"Invalid key type: {type(key)}")

    def __setitem__(self, key: str, value: list[Any]) -> None:
        if not isinstance(key, str):
            raise TypeError(f"Column name must be a string, got {type(key)}")
        if self.columns and len(value) != len(self):
            raise ValueError(f"Length of values ({len(value)}) must match dataframe length ({len(self)})")
        if key in self.columns:
            self._data[self.columns.index(key)] = list(value)
        else:
            self.columns.append(key)
            self._data.append(list(value))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[index] for index in range(len(self)))

    def head(self, n: int = 5) -> TinyDataFrame:
        """The first rows."""
        return self[:n]

    def tail(self, n: int = 5) -> TinyDataFrame:
        """The last rows."""
        return self[max(len(self) - n, 0):]

    def __repr__(self) -> str:
        first = self[0] if len(self) else {}
        return (f"TinyDataFrame with {len(self)} rows and {len(self.columns)} columns. "
                f"First row as a dict: {first}")

    def __str__(self) -> str:
        title = f"TinyDataFrame with {len(self)} rows and {len(self.columns)} columns:\n"
        if not len(self):
            return f"{title}Empty dataframe"
        shown = [[str(value) for value in row.values()] for row in self.head(10)]
        widths = [max(len(name), *(len(row[at]) for row in shown)) for at, name in enumerate(self.columns)]
        lines = [" | ".join(word.ljust(width) for word, width in zip(row, widths)) for row in [self.columns, *shown]]
        lines.insert(1, "-+-".join("-" * width for width in widths))
        if len(self) > len(shown):
            lines.append("...".ljust(len(lines[0])))
        return title + "\n".join(lines)

    def rename(self, columns: dict[str, str]) -> TinyDataFrame:
        """Renames columns in place, and returns the frame."""
        for old, new in columns.items():
            if old not in self.columns:
                raise KeyError(f"Column '{old}' not found in dataframe")
            self.columns[self.columns.index(old)] = new
        return self

    def to_csv(self, csv_file_path: str | None = None, quote_strings: bool = True) -> str | None:
        """Writes CSV to a file, or returns it."""
        out = io.StringIO(newline="")
        writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC if quote_strings else csv.QUOTE_MINIMAL)
        writer.writerow(self.columns)
        writer.writerows(row.values() for row in self)
        if csv_file_path is None:
            return out.getvalue()
        with open(csv_file_path, "w", newline="", encoding="utf-8") as file:
            file.write(out.getvalue())
        return None

    def to_dict(self) -> list[dict[str, Any]]:
        """The rows."""
        return list(self)

    def stats(self, specs: Sequence[StatSpec]) -> Stats:
        """Statistics by column and name. A column that is not there is left out; a function that fails is logged."""
        made: Stats = {}
        for spec in specs:
            if spec.column not in self.columns or not len(self):
                continue
            name = spec.agg_name or spec.agg.__name__
            try:
                value = spec.agg(self[spec.column])
                made.setdefault(spec.column, {})[name] = value if spec.round is None else round(value, spec.round)
            except Exception as problem:
                log.error("Error collecting statistic on %s with %s: %s", spec.column, name, problem)
        return made


# --- what processes and the machine have used since their start --------------------------------------

_ROW = ("process.pid", "process.parent_pid", "process.cpu_user_seconds", "process.cpu_system_seconds",
        "process.children_user_seconds", "process.children_system_seconds", "process.pss_bytes",
        "process.read_bytes", "process.written_bytes")
_GPU_ROW = ("gpu_process.pid", "gpu_process.memory_used_bytes", "gpu_process.utilization_ratio", "gpu.index")


def _sum(values: list[Any]) -> Any:
    return sum(value for value in values if value is not None)


def _tree(pid: int, children: bool, *what: str) -> Snapshot:
    return snapshot(*what, pids=[pid], rows="tree" if children else "listed")


def get_process_children(pid: int) -> set[int]:
    """The pids of all descendants, also of those that a thread has started."""
    found = {int(value) for value in _tree(pid, True, "process.pid").process.values("pid") if value is not None}
    return found - {pid}


def get_process_rss(pid: int) -> int:
    """The resident set size in kB; 0 for a process that has ended."""
    return int(_sum(_tree(pid, False, "process.resident_bytes").process.values("resident_bytes"))) // 1024


def get_process_pss_rollup(pid: int) -> int:
    """The proportional set size in kB; 0 for a process that has ended, or where it is denied."""
    return int(_sum(_tree(pid, False, "process.pss_bytes").process.values("pss_bytes"))) // 1024


def get_process_proc_times(pid: int, children: bool = True) -> dict[str, int]:
    """CPU time in clock ticks, with that of children that it has waited for."""
    table = _tree(pid, False, *_ROW[2:6]).process
    times = {}
    for name, word in (("utime", "user"), ("stime", "system")):
        seconds = _sum(table.values(f"cpu_{word}_seconds"))
        if children:
            seconds += _sum(table.values(f"children_{word}_seconds"))
        times[name] = round(seconds * TICKS)
    return times


_IO = {"rchar": "call_read_bytes", "wchar": "call_written_bytes", "syscr": "read_calls", "syscw": "write_calls",
       "read_bytes": "read_bytes", "write_bytes": "written_bytes", "cancelled_write_bytes": "cancelled_write_bytes"}


def get_process_proc_io(pid: int) -> dict[str, int]:
    """What /proc/PID/io tells; only read_bytes and write_bytes, as 0, where it tells nothing."""
    table = _tree(pid, False, *(f"process.{name}" for name in _IO.values())).process
    values = {key: table[0][name] for key, name in _IO.items()} if len(table) else {}
    known = {key: int(value) for key, value in values.items() if value is not None}
    return known or {"read_bytes": 0, "write_bytes": 0}


def _process_stats(pid: int, children: bool) -> dict[str, Any]:
    """What a tree has used since its start, in seconds and bytes."""
    whole = _tree(pid, children, *_ROW, *_GPU_ROW)
    table = whole.process
    pids = {int(value) for value in table.values("pid") if value is not None}
    gpus = [row for row in whole.gpu_process if row["pid"] in pids]
    devices = {row.key: row["index"] for row in whole.gpu}
    reaped = ("children_{}_seconds",) if children else ()
    made: dict[str, Any] = {"timestamp": time.time(), "pid": pid, "children": len(pids - {pid})}
    for name, word in (("utime", "user"), ("stime", "system")):
        made[name] = float(sum(_sum(table.values(form.format(word))) for form in ("cpu_{}_seconds", *reaped)))
    made["pss"] = _sum(table.values("pss_bytes"))
    made["disk_read_bytes"] = int(_sum(table.values("read_bytes")))
    made["disk_write_bytes"] = int(_sum(table.values("written_bytes")))
    made["gpu_usage"] = _sum([row["utilization_ratio"] for row in gpus])
    made["gpu_vram"] = _sum([row["memory_used_bytes"] for row in gpus]) / MIB
    indexes = {devices.get(row.parent_key) for row in gpus if row["utilization_ratio"]} - {None}
    made["gpu_utilized"], made["gpu_utilized_indexes"] = len(indexes), indexes
    return made


def get_process_stats(pid: int, children: bool = True) -> dict[str, Any]:
    """What a process, with its descendants, has used since its start: seconds, MiB and bytes."""
    stats = _process_stats(pid, children)
    return {**{name: stats[name] for name in ("timestamp", "pid", "children", "utime", "stime")},
            "memory_mib": stats["pss"] / MIB, "disk_read_bytes": stats["disk_read_bytes"],
            "disk_write_bytes": stats["disk_write_bytes"], "gpu_usage": stats["gpu_usage"],
            "gpu_vram_mib": stats["gpu_vram"], "gpu_utilized": stats["gpu_utilized"],
            "gpu_utilized_indexes": stats["gpu_utilized_indexes"]}


def get_pid_stats(pid: int, children: bool = True) -> dict[str, Any]:
    """As get_process_stats, with the names and units of 0.1: clock ticks, kB, bytes."""
    stats = _process_stats(pid, children)
    return {"timestamp": stats["timestamp"], "pid": pid, "children": stats["children"] if children else None,
            "utime": round(stats["utime"] * TICKS), "stime": round(stats["stime"] * TICKS),
            "pss": int(stats["pss"]) // 1024, "read_bytes": stats["disk_read_bytes"],
            "write_bytes": stats["disk_write_bytes"], "gpu_usage": stats["gpu_usage"],
            "gpu_vram": stats["gpu_vram"], "gpu_utilized": stats["gpu_utilized"],
            "gpu_utilized_indexes": stats["gpu_utilized_indexes"]}


get_pid_children = get_process_children
get_pid_rss = get_process_rss
get_pid_pss_rollup = get_process_pss_rollup
get_pid_proc_times = get_process_proc_times
get_pid_proc_io = get_process_proc_io


def get_system_stats() -> dict[str, Any]:
    """What the machine has used since it was booted: seconds, MiB, bytes. Disks count 512-byte sectors."""
    whole = snapshot("host", "disk.name", "disk.type", "disk.read_bytes", "disk.written_bytes", "filesystem",
                     "gpu.utilization_ratio", "gpu.memory_used_bytes")
    host = whole.host[0]

    def number(*names: str) -> Any:
        return _sum([host[name] for name in names])

    disks = {str(row["name"]): {"read_bytes": row["read_bytes"] or 0, "write_bytes": row["written_bytes"] or 0}
             for row in whole.disk if row["type"] != "partition"}
    spaces = {str(row["mount_point"]) or f"zfs:{row['device']}": {
        "total": row["total_bytes"], "used": row["used_bytes"], "free": row["available_bytes"]}
        for row in whole.filesystem if row["counted"]}
    gpus = [row for row in whole.gpu if row.parent_key == 0]
    made: dict[str, Any] = {
        "timestamp": time.time(), "processes": int(number("processes")),
        "utime": number("cpu_user_seconds", "cpu_nice_seconds"),
        "stime": number("cpu_system_seconds", "cpu_irq_seconds", "cpu_softirq_seconds")}
    for name in ("free", "used", "buffers", "cached", "active", "inactive"):
        made[f"memory_{name}_mib"] = number(f"memory_{name}_bytes") / MIB
    return {**made, "disk_stats": disks, "disk_spaces": spaces,
            "net_recv_bytes": int(number("network_received_bytes")),
            "net_sent_bytes": int(number("network_transmitted_bytes")),
            "gpu_usage": _sum([row["utilization_ratio"] for row in gpus]),
            "gpu_vram_mib": _sum([row["memory_used_bytes"] for row in gpus]) / MIB,
            "gpu_utilized": sum(1 for row in gpus if row["utilization_ratio"])}


_PARTITION = re.compile(r"(?:[shv]d[a-z]+|xvd[a-z]+)\d+\Z|(?:nvme\d+n|mmcblk|loop|nbd)\d+p\d+\Z")


def is_partition(disk_name: str) -> bool:
    """True for a partition of a disk that this machine has."""
    for row in snapshot("disk.name", "disk.type").disk:
        if row["name"] == disk_name:
            return row["type"] == "partition"
    return False


# --- trackers that write rows ------------------------------------------------------------------------

def _memory_request(interval: float) -> Pointer:
    """Proportional memory in each sample: by itself the library reads it each ten seconds."""
    return request(["process.pss_bytes"], every={"process.pss_bytes": interval})


class _Meter:
    """Growth and gauges of a tree (no pids: of the machine), from one call to the next."""

    def __init__(self, pids: list[int] | None, children: bool, context: Context | None = None) -> None:
        context = context or _core.default_context()
        options = ffi.new("vitals_usage_options *")
        lib.vitals_usage_options_init(options, ffi.sizeof("vitals_usage_options"))
        kept = ffi.new("int64_t[]", pids or [0])
        if pids is not None:
            options.pids, options.pid_count = kept, len(pids)
        options.no_children, options.details = not children, True
        self.usage = _core.owned(_core.create("vitals_usage", lib.vitals_usage_new, options), lib.vitals_usage_free)
        wanted = _memory_request(0.0) if pids is not None else _core.owned(
            _core.create("vitals_request", lib.vitals_request_new, 0), lib.vitals_request_free)
        _core.call(lib.vitals_usage_request, self.usage, wanted)
        self._sampler = _core.owned(
            _core.create("vitals_sampler", lib.vitals_sampler_new, context.pointer, wanted),
            lib.vitals_sampler_free, context)
        self.scope = lib.VITALS_SCOPE_SYSTEM if pids is None else lib.VITALS_SCOPE_TREE

    def take(self) -> Snapshot:
        """Reads now."""
        taken = Snapshot(_core.create("vitals_snapshot", lib.vitals_sampler_take, self._sampler))
        _core.call(lib.vitals_usage_add, self.usage, taken.pointer)
        return taken

    def values(self) -> dict[str, float]:
        """What was read last, by the name of the measure; of the descendants as "descendants.NAME"."""
        names = {self.scope: "", lib.VITALS_SCOPE_DESCENDANTS: "descendants."}
        return {names[value.scope] + _core.string(lib.vitals_measure_name(value.measure)): float(value.value)
                for value in _core.each(lib.vitals_usage_next, self.usage)
                if value.scope in names and value.state > 0}


# Each column of a row: the measure, whether it grows, the divisor, the decimals (None: an integer).
_PROCESS_COLUMNS = (
    ("utime", "cpu_user_seconds", True, 1, 6), ("stime", "cpu_system_seconds", True, 1, 6),
    ("cpu_usage", "cpu_cores", False, 1, 4), ("memory_mib", "memory_pss_bytes", False, MIB, 4),
    ("disk_read_bytes", "disk_read_bytes", True, 1, None), ("disk_write_bytes", "disk_written_bytes", True, 1, None),
    ("gpu_usage", "gpu_utilization_ratio", False, 1, 4), ("gpu_vram_mib", "gpu_memory_bytes", False, MIB, 4),
    ("gpu_utilized", "devices_busy", False, 1, None))
_SYSTEM_COLUMNS = (
    ("processes", "processes", False, 1, None), ("utime", "cpu_user_seconds", True, 1, 6),
    ("stime", "cpu_system_seconds", True, 1, 6), ("cpu_usage", "cpu_cores", False, 1, 4),
    *((f"memory_{name}_mib", f"memory_{name}_bytes", False, MIB, 4)
      for name in ("free", "used", "buffers", "cached", "active", "inactive")),
    ("disk_read_bytes", "disk_read_bytes", True, 1, None), ("disk_write_bytes", "disk_written_bytes", True, 1, None),
    *((f"disk_space_{name}_gb", f"disk_space_{measure}_bytes", False, GB, 2)
      for name, measure in (("total", "total"), ("used", "used"), ("free", "available"))),
    ("net_recv_bytes", "network_received_bytes", True, 1, None),
    ("net_sent_bytes", "network_transmitted_bytes", True, 1, None),
    ("gpu_usage", "device_utilization_ratio", False, 1, 4),
    ("gpu_vram_mib", "device_memory_used_bytes", False, MIB, 4), ("gpu_utilized", "devices_busy", False, 1, None))


class _RowTracker:
    """What ProcessTracker and SystemTracker share."""

    _form = b""
    _columns: Sequence[tuple[str, str, bool, int, Optional[int]]] = ()

    def __init__(self, pids: list[int] | None, children: bool, start_time: float | None, interval: float) -> None:
        self.status = "running"
        self.interval = interval
        self.cycle = 0
        self.start_time = time.time() if start_time is None else start_time
        self._meter = _Meter(pids, children)
        self._meter.take()
        self._before = self._meter.values()

    def __call__(self) -> None:
        """Does nothing."""

    def _take(self) -> Snapshot:
        self.cycle += 1
        return self._meter.take()

    def _diff(self) -> dict[str, Any]:
        now, row = self._meter.values(), {}
        for name, measure, grows, divisor, decimals in self._columns:
            value = now.get(measure, 0.0)
            if grows:
                value = max(value - self._before.get(measure, 0.0), 0.0)
            value /= divisor
            row[name] = round(value) if decimals is None else round(value, decimals)
        self._before = now
        return row

    def _alive(self) -> bool:
        return True

    def _sleep(self, seconds: float) -> bool:
        """Waits; False if there is nothing more to wait for."""
        time.sleep(seconds)
        return True

    def _attributes(self) -> dict[str, str]:
        return {}

    def start_tracking(self, output_file: str | None = None, print_header: bool = True) -> None:
        """Writes a row at each interval, to a file or to standard output, until the process has ended.
        Blocks until then; a SystemTracker stops once its `status` is set to "exited"."""
        options = ffi.new("vitals_recorder_options *")
        lib.vitals_recorder_options_init(options, ffi.sizeof("vitals_recorder_options"))
        path, form = ffi.new("char[]", _core.encode(output_file or "-")), ffi.new("char[]", self._form)
        options.path, options.form, options.overwrite, options.no_header = path, form, True, not print_header
        options.interval_ns = nanoseconds(self.interval)
        if output_file is None:
            sys.stdout.flush()
        time.sleep(max(self.start_time - time.time(), 0.0))
        recorder = _core.create("vitals_recorder", lib.vitals_recorder_open, options)
        try:
            for name, value in self._attributes().items():
                text = ffi.new("char[]", _core.encode(value))
                _core.call(lib.vitals_recorder_set, recorder, _core.encode(name), lib.vitals_text_of(text))
            self._rows(recorder)
        finally:
            _core.call(lib.vitals_recorder_close, recorder)

    def _rows(self, recorder: Pointer) -> None:
        due, waiting = time.monotonic(), True
        while self.status == "running" and self._alive():
            taken = self._take()
            _core.call(lib.vitals_recorder_sample, recorder, taken.pointer, self._meter.usage)
            if not waiting:
                break
            due = max(due + self.interval, time.monotonic())
            waiting = self._sleep(due - time.monotonic())
        self._before = self._meter.values()
        self.status = "exited"


class ProcessTracker(_RowTracker):
    """Writes what a process and its descendants use, until it ends. With autostart=True, the default,
    making one blocks until then."""

    _form = b"resource-tracker-process"
    _columns = _PROCESS_COLUMNS

    def __init__(self, pid: int | None = None, start_time: float | None = None, interval: float = 1,
                 children: bool = True, autostart: bool = True, output_file: str | None = None) -> None:
        self.pid = os.getpid() if pid is None else pid
        self.children = children
        try:
            self._process: Process | None = Process(self.pid)
        except GoneError:
            self._process = None
        super().__init__([self.pid], children, start_time, interval)
        if autostart:
            self.start_tracking(output_file)

    @property
    def stats(self) -> dict[str, Any]:
        """What it has used since its start."""
        return get_process_stats(self.pid, self.children)

    def diff_stats(self) -> dict[str, Any]:
        """What it has used since the last call."""
        self._take()
        descendants = int(self._meter.values().get("descendants.processes", 0))
        return {"timestamp": round(time.time(), 3), "pid": self.pid,
                "children": (descendants or None) if self.children else None, **self._diff()}

    def _alive(self) -> bool:
        return self._process is not None and self._process.is_running()

    def _sleep(self, seconds: float) -> bool:
        assert self._process is not None
        try:
            self._process.wait(seconds, reap=False)
        except TimeoutError:
            return True
        return False

    def _attributes(self) -> dict[str, str]:
        return {"pid": str(self.pid)}


class PidTracker(ProcessTracker):
    """The old name of ProcessTracker."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        warnings.warn("PidTracker is deprecated and will be removed in a future release. "
                      "Please use ProcessTracker instead.", DeprecationWarning, stacklevel=2)
        super().__init__(*arguments, **named)


class SystemTracker(_RowTracker):
    """Writes what the machine uses. With autostart=True, the default, making one blocks for good."""

    _form = b"resource-tracker-system"
    _columns = _SYSTEM_COLUMNS

    def __init__(self, start_time: float | None = None, interval: float = 1, autostart: bool = True,
                 output_file: str | None = None) -> None:
        super().__init__(None, True, start_time, interval)
        if autostart:
            self.start_tracking(output_file)

    @property
    def stats(self) -> dict[str, Any]:
        """What it has used since it was booted."""
        return get_system_stats()

    def diff_stats(self) -> dict[str, Any]:
        """What the machine has used since the last call."""
        self._take()
        return {"timestamp": round(time.time(), 3), **self._diff()}


# --- the server and its cloud ------------------------------------------------------------------------

def get_total_memory_mib() -> float:
    """The memory of the machine."""
    total = snapshot("host.memory_total_bytes").host[0]["memory_total_bytes"]
    return round(float(total) / MIB, 2) if total is not None else 0.0


def get_server_info() -> dict[str, Any]:
    """The machine: system, CPUs, memory in MiB, GPUs."""
    whole = snapshot("host.cpus", "host.memory_total_bytes", "gpu.name", "gpu.memory_total_bytes")
    host, gpus = whole.host[0], [row for row in whole.gpu if row.parent_key == 0]
    names = [str(row["name"]) for row in gpus if row["name"] is not None]
    memory = host["memory_total_bytes"]
    return {"os": os.uname().sysname, "vcpus": host["cpus"],
            "memory_mib": round(float(memory) / MIB, 2) if memory is not None else None,
            "gpu_count": len(gpus), "gpu_names": names, "gpu_name": max(names, key=names.count, default=""),
            "gpu_memory_mib": round(_sum([row["memory_total_bytes"] for row in gpus]) / MIB)}


CLOUD_TIMEOUT = 1.0  # seconds; the addresses are of the machine's own network


def _ask(url: str, headers: dict[str, str] | None = None, method: str = "GET") -> str:
    from urllib.request import ProxyHandler, Request, build_opener
    opener = build_opener(ProxyHandler({}))
    with opener.open(Request(url, headers=headers or {}, method=method), timeout=CLOUD_TIMEOUT) as answer:
        text: str = answer.read(65536).decode("utf-8").strip()
    return text


LINK_LOCAL = "http://169.254.169.254"


def _aws() -> tuple[str, str]:
    token = _ask(f"{LINK_LOCAL}/latest/api/token", {"X-aws-ec2-metadata-token-ttl-seconds": "60"}, "PUT")
    headers, root = {"X-aws-ec2-metadata-token": token}, f"{LINK_LOCAL}/latest/meta-data"
    if _ask(f"{root}/services/domain", headers) != "amazonaws.com":
        raise ValueError("another cloud that speaks EC2")
    return _ask(f"{root}/instance-type", headers), _ask(f"{root}/placement/region", headers)


def _gcp() -> tuple[str, str]:
    root, headers = "http://metadata.google.internal/computeMetadata/v1/instance", {"Metadata-Flavor": "Google"}
    kind, zone = _ask(f"{root}/machine-type", headers), _ask(f"{root}/zone", headers)
    return kind.rsplit("/", 1)[-1], zone.rsplit("/", 1)[-1].rsplit("-", 1)[0]


def _azure() -> tuple[str, str]:
    told = _ask(f"{LINK_LOCAL}/metadata/instance?api-version=2021-02-01", {"Metadata": "true"})
    compute = json.loads(told)["compute"]
    return compute["vmSize"], compute["location"]


def _hcloud() -> tuple[str, str]:
    # Hetzner tells the region, and no type.
    return "unknown", _ask(f"{LINK_LOCAL}/hetzner/v1/metadata/region")


def _upcloud() -> tuple[str, str]:
    told = json.loads(_ask(f"{LINK_LOCAL}/metadata/v1.json"))
    if told["cloud_name"] != "upcloud":
        raise ValueError("another cloud")
    return "unknown", told["region"]


def _alicloud() -> tuple[str, str]:
    root = "http://100.100.100.200/latest/meta-data"
    return _ask(f"{root}/instance/instance-type"), _ask(f"{root}/region-id")


_CLOUDS = {"aws": _aws, "gcp": _gcp, "azure": _azure, "hcloud": _hcloud, "upcloud": _upcloud, "alicloud": _alicloud}


@functools.lru_cache(maxsize=1)
def get_cloud_info() -> dict[str, Any]:
    """The cloud that this machine runs in, by what its metadata services answer: vendor, instance_type,
    region ("unknown" where there is none), and discovery_time in seconds."""
    begin = time.monotonic()
    found: dict[str, Any] = {"vendor": "unknown", "instance_type": "unknown", "region": "unknown"}
    answers: dict[str, tuple[str, str]] = {}

    def look(vendor: str, probe: Callable[[], tuple[str, str]]) -> None:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            answers[vendor] = probe()

    threads = [threading.Thread(target=look, args=item, daemon=True) for item in _CLOUDS.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(4 * CLOUD_TIMEOUT)
    for vendor in _CLOUDS:
        if vendor in answers:
            found.update(vendor=vendor, instance_type=answers[vendor][0], region=answers[vendor][1])
            break
    found["discovery_time"] = time.monotonic() - begin
    return found


KEEPER = "https://keeper.sparecores.net"


def _keeper(path: str, timeout: float = 2) -> Any:
    """What Spare Cores' public service answers; None where it cannot be reached."""
    from urllib.request import urlopen
    try:
        with urlopen(KEEPER + path, timeout=timeout) as answer:
            return json.loads(answer.read())
    except (OSError, ValueError):
        return None


def get_recommended_cloud_servers(cpu: int, memory: int, gpu: int | None = None, vram: int | None = None,
                                  n: int = 10, **filters: Any) -> list[dict[str, Any]]:
    """The cheapest servers with so many CPUs, GPUs and so much memory (MiB); none without a network."""
    from urllib.parse import urlencode
    wanted: dict[str, Any] = {"vcpus_min": cpu, "memory_min": round(memory / 1024, 3),
                              "order_by": "min_price_ondemand", "order_dir": "asc", "limit": n}
    if gpu:
        wanted["gpu_min"] = gpu
    if vram:
        wanted["gpu_memory_total"] = round(vram / 1024, 3)
    return _keeper(f"/servers?{urlencode({**wanted, **filters}, doseq=True)}") or []


def get_instance_price(vendor_id: str, region_id: str, instance_type: str) -> float | None:
    """The price of a server per hour, in USD, or None where it is not known."""
    from urllib.parse import quote
    prices = _keeper(f"/server/{quote(vendor_id)}/{quote(instance_type)}/prices") or []
    for price in prices:
        if region_id in (price.get("region_id"), (price.get("region") or {}).get("api_reference")) \
                and price.get("allocation") == "ondemand":
            return float(price["price"])
    return None


# --- the tracker of both -----------------------------------------------------------------------------

def mean(values: list[Any]) -> Any:
    """The arithmetic mean."""
    return sum(values) / len(values)


def _duration(values: list[Any]) -> float:
    return float(round(max(values) - min(values), 3))


DEFAULT_STATS = [
    *(StatSpec(f"process_{name}", function, None, 2)
      for name in ("cpu_usage", "memory_mib", "gpu_usage", "gpu_vram_mib", "gpu_utilized") for function in (mean, max)),
    StatSpec("system_disk_space_used_gb", max, None, 2),
    StatSpec("system_net_recv_bytes", sum), StatSpec("system_net_sent_bytes", sum),
    StatSpec("timestamp", _duration, "duration"),
]


def aggregate_stats(stats: list[Stats]) -> Stats:
    """Statistics of several runs as one: means and durations are averaged, of maxima and sums the largest is
    taken. Raises ValueError for others."""
    made: Stats = {}
    for name in {name for one in stats for values in one.values() for name in values}:
        if name not in ("mean", "duration", "max", "sum"):
            raise ValueError(f"Unsupported aggregation type: {name}")
    for column in dict.fromkeys(column for one in stats for column in one):
        values: dict[str, list[Any]] = {}
        for one in stats:
            for name, value in one.get(column, {}).items():
                values.setdefault(name, []).append(value)
        made[column] = {name: mean(found) if name in ("mean", "duration") else max(found)
                        for name, found in values.items()}
    return made


def round_memory(mib: float) -> int:
    """So much memory as machines are sold with: 128, 256, 512, 1024, 2048 MiB, then whole GiB."""
    for step in (128, 256, 512, 1024, 2048):
        if mib <= step:
            return step
    return 1024 * -int(-mib // 1024)


class Report(str):
    """A page of HTML."""

    def save(self, filepath: str) -> Report:
        """Writes it to a file."""
        with open(filepath, "w", encoding="utf-8") as file:
            file.write(self)
        return self

    def browse(self) -> Report:
        """Shows it in a browser."""
        import webbrowser
        with tempfile.NamedTemporaryFile("w", suffix=".html", delete=False, encoding="utf-8") as file:
            file.write(self)
        webbrowser.open(f"file://{file.name}")
        return self


class _ResourceRun(Run):
    """A run that writes rows of resource-tracker."""

    def __init__(self, form: bytes, children: bool, pid: int, path: str, interval: float,
                 context: Context | None) -> None:
        self._form, self._children, self._root = form, children, pid
        super().__init__(pids=[pid], interval=interval, record=path, details=True, marks=False, context=context)

    def _usage(self, *arguments: Any) -> Pointer:
        usage = super()._usage(*arguments)
        usage.no_children, usage.machine_pace = not self._children, lib.VITALS_MACHINE_CLOSELY
        return usage

    def _record(self, path: str | os.PathLike[str], snapshots: bool, interval: float, argv: object) -> Pointer:
        options = ffi.new("vitals_recorder_options *")
        lib.vitals_recorder_options_init(options, ffi.sizeof("vitals_recorder_options"))
        name, form = ffi.new("char[]", _core.encode(path)), ffi.new("char[]", self._form)
        options.path, options.form, options.overwrite = name, form, True
        options.interval_ns = nanoseconds(interval)
        self._recorder = _core.create("vitals_run_recorder", lib.vitals_run_recorder_open, options)
        pid = ffi.new("char[]", str(self._root).encode())
        _core.call(lib.vitals_run_recorder_set, self._recorder, b"pid", lib.vitals_text_of(pid))
        observer = self._keep(ffi.new("vitals_run_observer *", lib.vitals_run_recorder_observer(self._recorder)[0]))
        if b"system" not in self._form:
            observer.request = self._keep(_memory_request(interval))
        return observer


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.remove(path)


VERSION = "0.5.0"  # of resource-tracker, whose names and units these are


class ResourceTracker:
    """Tracks a process and the machine in the background. `method` and `upload_interval` are accepted
    and have no effect: no process is started, nothing is streamed."""

    def __init__(self, pid: int | None = None, children: bool = True, interval: float = 1,
                 method: str | None = None, autostart: bool = False, track_processes: bool = True,
                 track_system: bool = True, discover_server: bool = True, discover_cloud: bool = True,
                 sentinel_token: str | None = None, upload_interval: int = 60,
                 streaming_metadata: dict[str, Any] | None = None, *, context: Context | None = None) -> None:
        if method not in (None, "fork", "spawn", "forkserver"):
            raise ValueError(f"cannot find context for {method!r}")
        if sentinel_token is not None:
            log.warning("Streaming to Sentinel is not supported here: the token is not used.")
        self.pid = os.getpid() if pid is None else pid
        self.children, self.interval, self.method, self.autostart = children, interval, method, autostart
        self.track_processes, self.track_system = track_processes, track_system
        self.discover_server, self.discover_cloud = discover_server, discover_cloud
        self.start_time: float | None = None
        self.stop_time: float | None = None
        self.exit_code = 0
        self.run_status = RunStatus.finished
        self._context = context
        self._run: _ResourceRun | None = None
        self._path: str | None = None
        self._rows: TinyDataFrame | None = None
        self._server_info: dict[str, Any] | None = None
        self._cloud_info: dict[str, Any] | None = None
        self._cloud_thread: threading.Thread | None = None
        if autostart:
            self.start()

    def __enter__(self) -> ResourceTracker:
        if not self.running:
            self.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.stop()
        else:
            self.stop(1, RunStatus.failed)

    def start(self) -> None:
        """Begins tracking, once."""
        if self.running:
            raise RuntimeError("Resource tracker already running, cannot start again.")
        if self.stop_time is not None:
            raise RuntimeError("Resource tracker already stopped. Create a new instance instead of trying to "
                               "restart it.")
        self.start_time = time.time()
        if self.discover_cloud:
            self._cloud_thread = threading.Thread(target=self._find_cloud, daemon=True)
            self._cloud_thread.start()
        if not self.track_processes and not self.track_system:
            return
        made, self._path = tempfile.mkstemp(suffix=".csv")
        os.close(made)
        weakref.finalize(self, _remove, self._path)
        form = b"combined" if self.track_processes and self.track_system else \
            b"process" if self.track_processes else b"system"
        try:
            self._run = _ResourceRun(b"resource-tracker-" + form, self.children, self.pid, self._path,
                                     self.interval, self._context)
            self._run.start()
        except GoneError:
            self._run = None
            log.warning("The process %s has ended before it could be tracked.", self.pid)

    def _find_cloud(self) -> None:
        self._cloud_info = dict(get_cloud_info())

    def stop(self, exit_code: int = 0, run_status: RunStatus = RunStatus.finished) -> None:
        """Ends tracking. Does nothing if that was done before."""
        if self.start_time is None or self.stop_time is not None:
            return
        self.exit_code, self.run_status = exit_code, run_status
        if self._run is not None:
            self._run.stop()
            self._run.close()
        self.stop_time = time.time()
        self._rows = self._read()
        self._run = None
        self._forget()

    def _forget(self) -> None:
        if self._path is not None:
            _remove(self._path)
        self._path = None

    def cleanup(self) -> None:
        """Stops, and removes temporary files. Metrics stay."""
        self.stop()

    @property
    def running(self) -> bool:
        """True from start to stop."""
        return self._run is not None

    def _read(self) -> TinyDataFrame:
        """All rows so far."""
        if self._rows is not None:
            return self._rows
        if self._path is None or os.path.getsize(self._path) == 0:
            return TinyDataFrame({})
        with open(self._path, newline="", encoding="utf-8") as file:
            text = file.read()
        lines = list(csv.reader(io.StringIO(text[:text.rfind("\n") + 1], newline="")))
        columns: list[list[Any]] = [[_number(line[at]) for line in lines[1:]] for at in range(len(lines[0]))]
        return TinyDataFrame(dict(zip(lines[0], columns)))

    def _part(self, prefix: str) -> TinyDataFrame:
        rows = self._read()
        both = self.track_processes and self.track_system
        if not len(rows) or not (self.track_processes if prefix == "process_" else self.track_system):
            return TinyDataFrame({})
        if not both:
            return rows[:]
        names = [name for name in rows.columns if name == "timestamp" or name.startswith(prefix)]
        return TinyDataFrame({name[len(prefix):] if name != "timestamp" else name: rows[name] for name in names})

    @property
    def process_metrics(self) -> TinyDataFrame:
        """The rows of the process."""
        return self._part("process_")

    @property
    def system_metrics(self) -> TinyDataFrame:
        """The rows of the machine."""
        return self._part("system_")

    @property
    def n_samples(self) -> int:
        """How many rows there are."""
        return len(self._read())

    @property
    def server_info(self) -> dict[str, Any] | None:
        """The machine, and whether it is "dedicated" to the process or "shared"; None before the start."""
        if self._server_info is None and self.discover_server and self.start_time is not None:
            self._server_info = get_server_info()
        if self._server_info is not None and self._server_info.get("allocation") is None:
            self._server_info["allocation"] = self._allocation()
        return self._server_info

    def _allocation(self) -> str | None:
        process, system = self.process_metrics, self.system_metrics
        if not len(process) or not len(system):
            return None
        for check in SERVER_ALLOCATION_CHECKS:
            ours, all_of_it = mean(process[check["process_column"]]), mean(system[check["system_column"]])
            if all_of_it > ours * check["percent"] and all_of_it > ours + check["absolute"]:
                return "shared"
        return "dedicated"

    @property
    def cloud_info(self) -> dict[str, Any] | None:
        """What get_cloud_info has found; None where it was not asked."""
        if self._cloud_thread is not None:
            self._cloud_thread.join(5 * CLOUD_TIMEOUT)
        return self._cloud_info

    @property
    def sentinel_result(self) -> None:
        """None: nothing is streamed."""
        return None

    def wait_for_samples(self, n: int = 1, timeout: float = 5) -> None:
        """Waits until there are so many rows. Raises RuntimeError if they do not come."""
        end = time.monotonic() + timeout
        while self.n_samples < n:
            if not self.running:
                raise RuntimeError(f"Resource tracker has been already stopped with {self.n_samples} sample(s), "
                                   f"cannot wait to collect the requested {n} sample(s).")
            if time.monotonic() > end:
                raise RuntimeError(f"Timed out waiting for resource tracker to collect {n} samples")
            time.sleep(min(self.interval / 10, 0.1))

    def get_combined_metrics(self, bytes: bool = False, human_names: bool = False, system_prefix: str | None = None,
                             process_prefix: str | None = None, offset: int | None = None) -> TinyDataFrame:
        """The rows of both side by side. `bytes`: sizes in bytes. `offset`: leaves out the first rows."""
        frames = (("System " if human_names else "system_") if system_prefix is None else system_prefix,
                  self.system_metrics), (
                  ("Process " if human_names else "process_") if process_prefix is None else process_prefix,
                  self.process_metrics)
        made: dict[str, list[Any]] = {}
        for prefix, frame in frames:
            for name in frame.columns:
                values = frame[name][offset or 0:]
                factor = BYTE_MAPPING.get(name, 1) if bytes else 1
                title = HUMAN_NAMES_MAPPING.get(name, name) if human_names else name
                if name != "timestamp":
                    made[prefix + title] = [value * factor for value in values] if factor != 1 else values
                else:
                    made.setdefault(title, values)
        return TinyDataFrame(made)

    def stats(self, specs: list[StatSpec] | None = None) -> Stats:
        """Statistics by column. Raises RuntimeError without a row."""
        rows = self.get_combined_metrics()
        if not len(rows):
            raise RuntimeError("No metrics collected (yet)")
        made = rows.stats(DEFAULT_STATS if specs is None else specs)
        if specs is None:
            made["timestamp"]["duration"] = round(made["timestamp"]["duration"] + self.interval, 2)
        return made

    def recommend_resources(self, historical_stats: list[Stats] | None = None) -> dict[str, int]:
        """What to ask for next time: CPUs, memory in MiB, GPUs, memory of GPUs in MiB."""
        self.wait_for_samples(1)
        stats = aggregate_stats([self.stats(), *(historical_stats or [])])

        def figure(column: str, name: str) -> float:
            return float(stats.get(f"process_{column}", {}).get(name, 0))

        gpus, vram = figure("gpu_usage", "max"), figure("gpu_vram_mib", "max")
        return {"cpu": max(1, round(figure("cpu_usage", "mean"))),
                "memory": round_memory(figure("memory_mib", "max") * 1.2),
                "gpu": max(1, round(gpus)) if gpus > 0 else 0,
                "vram": round_memory(vram * 1.2) if vram > 0 else 0}

    def recommend_server(self, **kwargs: Any) -> dict[str, Any]:
        """The cheapest server with these resources, by Spare Cores' public service. Needs the network;
        raises RuntimeError without an answer. `kwargs` are filters of that service."""
        wanted = self.recommend_resources()
        found = get_recommended_cloud_servers(wanted["cpu"], wanted["memory"], wanted["gpu"], wanted["vram"], 1,
                                              **kwargs)
        if not found:
            raise RuntimeError(f"No server could be recommended: {KEEPER} gave no answer")
        return found[0]

    def report(self, integration: Literal["standalone", "Metaflow", "R"] = "standalone",
               historical_stats: list[Stats] | None = None, status_failed: bool = False,
               integration_version: str | None = None) -> Report:
        """A page of HTML with charts of all rows, that needs no network and no other file."""
        from vitals._record import Recording
        self.wait_for_samples(1)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "metrics.csv")
            self.get_combined_metrics().to_csv(path)
            status = "Failed" if status_failed or self.exit_code else "Pending" if self.running else "Finished"
            return Report(Recording(path).report("html", title=f"Process {self.pid}: {status}"))

    def snapshot(self) -> dict[str, Any]:
        """Everything, to be kept: settings, server, cloud, rows."""
        begin, end = self.start_time, self.stop_time
        return {
            "metadata": {
                "version": 1, "resource_tracker": {"version": VERSION, "implementation": "vitals"}, "pid": self.pid,
                "children": self.children, "interval": self.interval, "method": self.method,
                "autostart": self.autostart, "track_processes": self.track_processes,
                "track_system": self.track_system, "discover_server": self.discover_server,
                "discover_cloud": self.discover_cloud, "start_time": begin, "stop_time": end,
                "duration": None if begin is None else round((end or time.time()) - begin, 2)},
            "server_info": self.server_info, "cloud_info": self.cloud_info,
            "process_metrics": self.process_metrics.to_dict(), "system_metrics": self.system_metrics.to_dict()}

    @classmethod
    def from_snapshot(cls, snapshot: dict[str, Any]) -> ResourceTracker:
        """A stopped tracker with what a snapshot holds."""
        told = snapshot["metadata"]
        made = cls(told["pid"], told["children"], told["interval"], told["method"], False, told["track_processes"],
                   told["track_system"], told["discover_server"], told["discover_cloud"])
        made.start_time = told["start_time"]
        made.stop_time = told["stop_time"] or (told["start_time"] or 0.0) + (told["duration"] or 0.0)
        made._server_info, made._cloud_info = snapshot["server_info"], snapshot["cloud_info"]
        process, system = (TinyDataFrame(snapshot[name]) for name in ("process_metrics", "system_metrics"))
        if len(process) and len(system):
            count = min(len(process), len(system))
            rows = {name if name == "timestamp" else f"system_{name}": system[name][:count] for name in system.columns}
            rows.update({f"process_{name}": process[name][:count] for name in process.columns if name != "timestamp"})
            made._rows, made.track_processes, made.track_system = TinyDataFrame(rows), True, True
        else:
            made._rows = process if len(process) else system
            made.track_processes, made.track_system = len(process) > 0, len(process) == 0
        return made

    def dumps(self) -> str:
        """The snapshot as JSON."""
        return json.dumps(self.snapshot())

    def dump(self, file: str) -> None:
        """Writes the snapshot as JSON, packed with gzip."""
        with gzip.open(file, "wt", encoding="utf-8") as out:
            out.write(self.dumps())

    @classmethod
    def loads(cls, s: str) -> ResourceTracker:
        """The tracker of a snapshot as JSON."""
        return cls.from_snapshot(json.loads(s))

    @classmethod
    def load(cls, file: str) -> ResourceTracker:
        """The tracker of a file that `dump` wrote."""
        with gzip.open(file, "rt", encoding="utf-8") as read:
            return cls.loads(read.read())
