"""gpu_tracker's names over vitals: `from vitals.compat import gpu_tracker`, or

    from vitals.compat.gpu_tracker import Tracker

    with Tracker(sleep_time=0.5, ram_unit="megabytes") as tracker:
        work()
    print(tracker)

Keys, units, states, files and error texts are those of gpu_tracker 5. A figure that could not be read is
None (N/A in the text), where gpu_tracker says 0.0. vitals' own threads are left out of what is told of
this process. Differences: GPU memory is exact (gpu_tracker takes MiB for MB), children that live between
two samples are counted, and the crash backup `resource_usage_file` is vitals' account as JSON, which
`vitals report FILE --format gpu-tracker` reads.

Analysis and comparison of code blocks return pandas objects, as there, and need pandas.
"""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import enum
import functools
import inspect
import json
import logging
import os
import pickle
import re
import tempfile
import time
import uuid
from typing import TYPE_CHECKING, Any, Callable, Collection, Iterable, Iterator, TypeVar

from vitals import _core
from vitals._core import Context, GoneError, Pointer, ffi, lib
from vitals._record import Recording
from vitals._run import Account, Run
from vitals._snapshot import nanoseconds, request, snapshot

if TYPE_CHECKING:
    import sqlite3

    import pandas as pd

__all__ = ["CPUUtilization", "CodeBlockResults", "ComparisonResults", "ComputeTime", "GPUUtilization", "MaxGPURAM",
           "MaxRAM", "ProcessingUnitPercentages", "RSSValues", "ResourceUsage", "SubTracker", "SubTrackingAnalyzer",
           "SubTrackingResults", "Tracker", "TrackingComparison", "sub_track"]

F = TypeVar("F", bound=Callable[..., Any])

log = logging.getLogger(__name__)

MEMORY_UNITS = ("bytes", "gigabytes", "kilobytes", "megabytes", "terabytes")
TIME_UNITS = ("days", "hours", "minutes", "seconds")
BRANDS = ("nvidia", "amd")
SHORTEST_SLEEP = 0.1
STATISTICS = ("min", "max", "mean", "std")


# --- what was used ----------------------------------------------------------------------------------

@dataclasses.dataclass
class RSSValues:
    """Memory of processes: `total_rss` counts each page once, in the unit of the MaxRAM."""

    total_rss: float | None = 0.0
    private_rss: float | None = 0.0
    shared_rss: float | None = 0.0


@dataclasses.dataclass
class MaxRAM:
    """The most memory that was in use at one moment."""

    unit: str
    system_capacity: float | None
    system: float | None = 0.0
    main: RSSValues = dataclasses.field(default_factory=RSSValues)
    descendants: RSSValues = dataclasses.field(default_factory=RSSValues)
    combined: RSSValues = dataclasses.field(default_factory=RSSValues)


@dataclasses.dataclass
class MaxGPURAM:
    """The most device memory that was in use at one moment, over all GPUs of the machine."""

    unit: str
    system_capacity: float | None
    system: float | None = 0.0
    main: float | None = 0.0
    descendants: float | None = 0.0
    combined: float | None = 0.0


@dataclasses.dataclass
class ProcessingUnitPercentages:
    """`sum`: 100 is one whole core or GPU; `hardware`: 100 is all expected ones."""

    max_sum_percent: float | None = 0.0
    max_hardware_percent: float | None = 0.0
    mean_sum_percent: float | None = 0.0
    mean_hardware_percent: float | None = 0.0


@dataclasses.dataclass
class CPUUtilization:
    """Use of the CPUs, and the most threads at one moment."""

    system_core_count: int | None
    n_expected_cores: int | None
    system: ProcessingUnitPercentages = dataclasses.field(default_factory=ProcessingUnitPercentages)
    main: ProcessingUnitPercentages = dataclasses.field(default_factory=ProcessingUnitPercentages)
    descendants: ProcessingUnitPercentages = dataclasses.field(default_factory=ProcessingUnitPercentages)
    combined: ProcessingUnitPercentages = dataclasses.field(default_factory=ProcessingUnitPercentages)
    main_n_threads: int | None = 0
    descendants_n_threads: int | None = 0
    combined_n_threads: int | None = 0


@dataclasses.dataclass
class GPUUtilization:
    """Use of the expected GPUs, by whatever process."""

    system_gpu_count: int | None
    n_expected_gpus: int | None
    gpu_percentages: ProcessingUnitPercentages = dataclasses.field(default_factory=ProcessingUnitPercentages)


@dataclasses.dataclass
class ComputeTime:
    """The time from start to stop."""

    unit: str
    time: float | None = 0.0


@dataclasses.dataclass
class ResourceUsage:
    """All that a tracker tells."""

    max_ram: MaxRAM
    max_gpu_ram: MaxGPURAM
    cpu_utilization: CPUUtilization
    gpu_utilization: GPUUtilization
    compute_time: ComputeTime


def _resource_usage(tree: dict[str, Any]) -> ResourceUsage:
    ram, cpu, gpu = dict(tree["max_ram"]), dict(tree["cpu_utilization"]), dict(tree["gpu_utilization"])
    for scope in ("main", "descendants", "combined"):
        ram[scope] = RSSValues(**ram[scope])
    for scope in ("system", "main", "descendants", "combined"):
        cpu[scope] = ProcessingUnitPercentages(**cpu[scope])
    gpu["gpu_percentages"] = ProcessingUnitPercentages(**gpu["gpu_percentages"])
    return ResourceUsage(MaxRAM(**ram), MaxGPURAM(**tree["max_gpu_ram"]), CPUUtilization(**cpu),
                         GPUUtilization(**gpu), ComputeTime(**tree["compute_time"]))


_WORDS = {"ram": "RAM", "gpu": "GPU", "gpus": "GPUs", "cpu": "CPU", "rss": "RSS", "n": "number of"}


def _title(key: str) -> str:
    words = " ".join(_WORDS.get(word, word) for word in key.split("_"))
    return words[0].upper() + words[1:]


def _text(tree: dict[str, Any], indent: int = 0) -> Iterator[str]:
    for key, value in tree.items():
        margin = f"{' ' * indent}{_title(key)}:"
        if isinstance(value, dict):
            yield margin
            yield from _text(value, indent + 3)
        elif value is None:
            yield f"{margin} N/A"
        else:
            yield f"{margin} {round(value, 3) if isinstance(value, float) else value}"


# --- files ------------------------------------------------------------------------------------------

SUB_COLUMNS = ("process_id", "code_block_name", "position", "timestamp")

# Of each column of a tracking file the series that it is in a recording, and its unit.
_COLUMNS = {
    "main_ram": ("memory_both_bytes", "root", "ram"),
    "descendants_ram": ("memory_both_bytes", "descendants", "ram"),
    "combined_ram": ("memory_both_bytes", "", "ram"),
    "system_ram": ("memory_used_bytes", "system", "ram"),
    "main_gpu_ram": ("gpu_memory_bytes", "root", "gpu_ram"),
    "descendants_gpu_ram": ("gpu_memory_bytes", "descendants", "gpu_ram"),
    "combined_gpu_ram": ("gpu_memory_bytes", "", "gpu_ram"),
    "system_gpu_ram": ("device_memory_used_bytes", "system", "gpu_ram"),
    "gpu_sum_utilization_percent": ("device_utilization_ratio", "system", "percent"),
    "gpu_hardware_utilization_percent": ("gpu_hardware_utilization_percent", "system", ""),
    "main_n_threads": ("threads", "root", ""),
    "descendants_n_threads": ("threads", "descendants", ""),
    "combined_n_threads": ("threads", "", ""),
    "cpu_system_sum_utilization_percent": ("cpu_cores", "system", "percent"),
    "cpu_system_hardware_utilization_percent": ("cpu_ratio", "system", "percent"),
    "cpu_main_sum_utilization_percent": ("cpu_cores", "root", "percent"),
    "cpu_main_hardware_utilization_percent": ("cpu_ratio", "root", "percent"),
    "cpu_descendants_sum_utilization_percent": ("cpu_cores", "descendants", "percent"),
    "cpu_descendants_hardware_utilization_percent": ("cpu_ratio", "descendants", "percent"),
    "cpu_combined_sum_utilization_percent": ("cpu_cores", "", "percent"),
    "cpu_combined_hardware_utilization_percent": ("cpu_ratio", "", "percent"),
}
_STATIC_NUMBERS = {"ram_system_capacity": float, "gpu_ram_system_capacity": float, "system_core_count": int,
                   "n_expected_cores": int, "system_gpu_count": int, "n_expected_gpus": int}


def _ending(path: str) -> str:
    ending = os.path.splitext(path)[1]
    if ending not in (".csv", ".sqlite"):
        raise ValueError(f'Invalid file name: "{path}". Valid file extensions are ".csv" and ".sqlite".')
    return ending


def _claim(path: str, overwrite: bool) -> None:
    """Removes a file that may be overwritten; raises FileExistsError for another one that is there."""
    if os.path.exists(path):
        if not overwrite:
            raise FileExistsError(f"File {path} already exists. Set overwrite to True to overwrite the existing file.")
        os.remove(path)


@contextlib.contextmanager
def _database(path: str) -> Iterator[sqlite3.Connection]:
    import sqlite3  # not in every build of Python
    connection = sqlite3.connect(path, timeout=30.0)
    try:
        with connection:
            yield connection
    finally:
        connection.close()


def _there(path: str) -> str:
    if not os.path.exists(path):
        raise FileNotFoundError(2, os.strerror(2), path)
    return path


def _static_row(path: str) -> dict[str, Any]:
    """The static data of a tracking file."""
    if _ending(_there(path)) == ".sqlite":
        with _database(path) as database:
            cursor = database.execute("SELECT * FROM static_data")
            row = dict(zip((column[0] for column in cursor.description), cursor.fetchone() or ()))
    else:
        with open(path, newline="", encoding="utf-8") as file:
            row = next(csv.DictReader(file), {})
    return {name: _STATIC_NUMBERS[name](float(value)) if name in _STATIC_NUMBERS else value
            for name, value in row.items()}


def _sub_rows(path: str) -> list[tuple[int, str, int, float]]:
    """The rows of a sub-tracking file; its columns may be in any order."""
    if _ending(_there(path)) == ".sqlite":
        with _database(path) as database:
            rows = database.execute(f"SELECT {', '.join(SUB_COLUMNS)} FROM data").fetchall()
    else:
        with open(path, newline="", encoding="utf-8") as file:
            rows = [[row[name] for name in SUB_COLUMNS] for row in csv.DictReader(file)]
    return [(int(row[0]), str(row[1]), int(row[2]), float(row[3])) for row in rows]


def _make_sub(path: str) -> None:
    if _ending(path) == ".sqlite":
        with _database(path) as database:
            database.execute("CREATE TABLE IF NOT EXISTS data (process_id BIGINT, code_block_name TEXT, "
                             "position BIGINT, timestamp FLOAT)")
    else:
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerow(SUB_COLUMNS)


class _Line:
    """Collects the one line that a csv.writer makes."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text


def _add_sub(path: str, rows: Iterable[tuple[int, str, int, float]]) -> None:
    if not os.path.exists(path):
        raise FileNotFoundError(f"The file {path} was removed in the middle of writing data to it.")
    if _ending(path) == ".sqlite":
        with _database(path) as database:
            database.executemany(f"INSERT INTO data ({', '.join(SUB_COLUMNS)}) VALUES (?, ?, ?, ?)", rows)
        return
    line = _Line()
    csv.writer(line, lineterminator="\n").writerows(rows)
    # One write to the end of the file: threads and processes may mark at once.
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    try:
        os.write(file, line.text.encode("utf-8", "surrogateescape"))
    finally:
        os.close(file)


def _mend(path: str, static: dict[str, Any], mend_row: Callable[[dict[str, Any]], None]) -> None:
    """Puts other static data into a tracking file, and changes each of its rows in place."""
    if _ending(path) == ".sqlite":
        with _database(path) as database:
            for name, value in static.items():
                database.execute(f"UPDATE static_data SET {name} = ?", (value,))
            cursor = database.execute("SELECT rowid, * FROM data")
            names = [column[0] for column in cursor.description][1:]
            for number, *values in cursor.fetchall():
                row = dict(zip(names, values))
                mend_row(row)
                changes = ", ".join(f"{name} = ?" for name in row)
                database.execute(f"UPDATE data SET {changes} WHERE rowid = ?", (*row.values(), number))
        return
    with open(path, newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    if len(lines) < 3:
        return
    whole = dict(zip(lines[0], lines[1]))
    whole.update(static)
    made = f"{path}.new"
    with open(made, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([lines[0], [whole[name] for name in lines[0]], lines[2]])
        for line in lines[3:]:
            row = {name: float(value) if "." in value or "e" in value else int(value)
                   for name, value in zip(lines[2], line)}
            mend_row(row)
            writer.writerow(list(row.values()))
    os.replace(made, path)


def _converted(value: float, unit: str, to: str) -> float:
    out = ffi.new("double *")
    if lib.vitals_usage_convert(value, _core.encode(unit), _core.encode(to), out) != 0:
        raise ValueError(f'"{to}" is no unit of {unit}')
    return float(out[0])


# --- the tracker ------------------------------------------------------------------------------------

class _Settings:
    """What a run of a tracker has beside the options of vitals.Run."""

    def __init__(self, cores: int, brand: str | None, path: str | None, totals: str | None) -> None:
        self.cores, self.brand, self.path, self.totals = cores, brand, path, totals


class _TrackerRun(Run):
    """A run with the expected cores, the brand, the backup and the file of a tracker."""

    def __init__(self, settings: _Settings, **options: Any) -> None:
        self._settings = settings
        super().__init__(record=settings.path, marks=False, **options)

    def _options(self, *arguments: Any) -> Pointer:
        options = super()._options(*arguments)
        observer = self._keep(ffi.new("vitals_run_observer *"))
        lib.vitals_run_observer_init(observer, ffi.sizeof("vitals_run_observer"))
        options.observer = self._with_memory(observer, options.interval_ns / 1e9)
        if self._settings.totals is not None:
            options.totals_path = self._keep(ffi.new("char[]", _core.encode(os.path.abspath(self._settings.totals))))
        return options

    def _with_memory(self, observer: Pointer, interval: float) -> Pointer:
        """Private memory in each sample: by itself the library reads it each ten seconds."""
        wanted = ("process.pss_bytes", "process.uss_bytes")
        observer.request = self._keep(request(wanted, every=dict.fromkeys(wanted, interval)))
        return observer

    def _usage(self, *arguments: Any) -> Pointer:
        usage = super()._usage(*arguments)
        usage.expected_cores = self._settings.cores
        usage.machine_pace = lib.VITALS_MACHINE_CLOSELY
        if self._settings.brand is not None:
            usage.brand = self._keep(ffi.new("char[]", _core.encode(self._settings.brand)))
        return usage

    def _record(self, path: str | os.PathLike[str], snapshots: bool, interval: float, argv: object) -> Pointer:
        options = ffi.new("vitals_recorder_options *")
        lib.vitals_recorder_options_init(options, ffi.sizeof("vitals_recorder_options"))
        name, form = ffi.new("char[]", _core.encode(path)), ffi.new("char[]", b"gpu-tracker")
        options.path, options.form, options.overwrite = name, form, True
        options.interval_ns = nanoseconds(interval)
        self._recorder = _core.create("vitals_run_recorder", lib.vitals_run_recorder_open, options)
        cores = ffi.new("char[]", str(self._settings.cores).encode())
        _core.call(lib.vitals_run_recorder_set, self._recorder, b"expected_cores", lib.vitals_text_of(cores))
        observer = self._keep(ffi.new("vitals_run_observer *", lib.vitals_run_recorder_observer(self._recorder)[0]))
        return self._with_memory(observer, interval)


class Tracker:
    """Measures a process, with all that descends from it, between `start` and `stop`.

    `n_join_attempts` and `join_timeout` are kept and have no effect: there is no sampling process to
    join. `context` is vitals' own: where to look for devices.
    """

    class State(enum.Enum):
        """A tracker is used once."""

        NEW = 0
        STARTED = 1
        STOPPED = 2

    def __init__(self, sleep_time: float = 1.0, ram_unit: str = "gigabytes", gpu_ram_unit: str = "gigabytes",
                 time_unit: str = "hours", n_expected_cores: int | None = None, gpu_uuids: set[str] | None = None,
                 disable_logs: bool = False, process_id: int | None = None, resource_usage_file: str | None = None,
                 n_join_attempts: int = 5, join_timeout: float = 10.0, gpu_brand: str | None = None,
                 tracking_file: str | None = None, overwrite: bool = False, *, context: Context | None = None) -> None:
        if sleep_time < SHORTEST_SLEEP:
            raise ValueError(f"Sleep time of {sleep_time} is invalid. Must be at least {SHORTEST_SLEEP} seconds.")
        for unit, kind, valid in ((ram_unit, "RAM", MEMORY_UNITS), (gpu_ram_unit, "GPU RAM", MEMORY_UNITS),
                                  (time_unit, "time", TIME_UNITS)):
            if unit not in valid:
                raise ValueError(f'"{unit}" is not a valid {kind} unit. Valid values are {", ".join(valid)}')
        if gpu_brand is not None and gpu_brand not in BRANDS:
            raise ValueError(f'"{gpu_brand}" is not a valid GPU brand. Supported values are "nvidia" and "amd".')
        self.n_join_attempts, self.join_timeout = n_join_attempts, join_timeout
        self.resource_usage: ResourceUsage | None = None
        self.state = Tracker.State.NEW
        self._context, self._interval, self._disable_logs = context, float(sleep_time), disable_logs
        self._units = (ram_unit, gpu_ram_unit, time_unit)
        self._cores = n_expected_cores or os.cpu_count() or 1
        self._brand, self._pid = gpu_brand, process_id
        self._gpus = self._chosen(gpu_uuids)
        if tracking_file is not None:
            _ending(tracking_file)
            _claim(tracking_file, overwrite)
        self._tracking_file = tracking_file
        self._resource_usage_file = resource_usage_file or f".gpu-tracker_{uuid.uuid1()}.json"
        self._run: _TrackerRun | None = None
        self._gpu_run: _TrackerRun | None = None
        self._gpu_file: str | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_run": None, "_gpu_run": None, "_context": None}

    def _chosen(self, uuids: set[str] | None) -> list[str] | None:
        """The devices whose utilization counts; None: all."""
        rows = [row for row in snapshot("gpu.uuid", "gpu.vendor", context=self._context).gpu
                if row["uuid"] is not None and (self._brand is None or str(row["vendor"]).lower() == self._brand)]
        there = [str(row["uuid"]) for row in rows if row.parent_key == 0]
        if not there:
            self._warn("No GPU could be found. The GPU RAM and GPU utilization values will remain 0.0.")
            return None
        if uuids is None:
            return None
        if len(uuids) == 0:
            raise ValueError(
                "gpu_uuids is not None but the set is empty. Please provide a set of at least one GPU UUID.")
        for one in sorted(uuids):
            if all(one != row["uuid"] for row in rows):
                raise ValueError(f"GPU UUID of {one} is not valid. Available UUIDs are: {', '.join(there)}")
        return None if set(there) == set(uuids) else sorted(uuids)

    def _warn(self, text: str) -> None:
        if not self._disable_logs:
            log.warning(text)

    def __enter__(self) -> Tracker:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begins tracking."""
        self._expect(Tracker.State.NEW, "start")
        pid = os.getpid() if self._pid is None else self._pid
        try:
            self._run = self._open([pid], None, self._tracking_file, self._resource_usage_file)
            if self._gpus is not None:
                self._open_gpus(pid)
            self._run.start()
            if self._gpu_run is not None:
                self._gpu_run.start()
        except GoneError:
            self._run = None
            self._warn(f"The target process of ID {pid} ended before tracking could begin.")
        self.state = Tracker.State.STARTED

    def _open(self, pids: list[int], devices: list[str] | None, path: str | None, totals: str | None) -> _TrackerRun:
        return _TrackerRun(_Settings(self._cores, self._brand, path, totals), pids=pids, interval=self._interval,
                           devices=devices, details=True, context=self._context)

    def _open_gpus(self, pid: int) -> None:
        """A second run for the utilization of some GPUs: memory is of all the GPUs of the machine."""
        if self._tracking_file is not None:
            made, self._gpu_file = tempfile.mkstemp(suffix=".csv")
            os.close(made)
        self._gpu_run = self._open([pid], self._gpus, self._gpu_file, None)

    def stop(self) -> None:
        """Ends tracking, and fills `resource_usage`."""
        self._expect(Tracker.State.STARTED, "stop")
        self.state = Tracker.State.STOPPED
        # In this order: the first tells how many threads both runs have.
        account = self._close(self._run)
        gpu_account = self._close(self._gpu_run)
        if account is None:
            tree = self._gone()
        else:
            tree = _tree(account, self._units)
            _shared(tree, account)
            _without_descendants(tree, account)
            _without_ours(tree, account)
        if gpu_account is not None and self._gpus is not None:
            chosen = _tree(gpu_account, self._units)["gpu_utilization"]
            tree["gpu_utilization"].update(n_expected_gpus=len(self._gpus), gpu_percentages=chosen["gpu_percentages"])
        self.resource_usage = _resource_usage(tree)
        if account is not None and self._tracking_file is not None:
            self._mend_file(tree, account)
        for path in (self._resource_usage_file, self._gpu_file):
            if path is not None:
                with contextlib.suppress(OSError):
                    os.remove(path)

    def _close(self, run: _TrackerRun | None) -> Account | None:
        if run is None:
            return None
        account = run.stop()
        run.close()
        return account

    def _gone(self) -> dict[str, Any]:
        """What is told where there was no process: the machine alone."""
        run = self._open([os.getpid()], self._gpus, None, None)
        run.start()
        account = self._close(run)
        assert account is not None
        tree = _tree(account, self._units)
        _blank(tree, ("main", "descendants", "combined"), None)
        tree["compute_time"]["time"] = 0.0
        return tree

    def _mend_file(self, tree: dict[str, Any], account: Account) -> None:
        """The units of this tracker for those of the library, and without vitals' threads."""
        assert self._tracking_file is not None
        ram, gpu_ram, time_unit = self._units
        scales = {"ram": _factor(ram), "gpu_ram": _factor(gpu_ram)}
        own = int(account.get("own_threads") or 0)
        others: list[dict[str, float]] = []
        if self._gpu_file is not None:
            with open(self._gpu_file, newline="", encoding="utf-8") as file:
                lines = list(csv.reader(file))
            others = [dict(zip(lines[2], map(float, line))) for line in lines[3:]]

        def mend_row(row: dict[str, Any]) -> None:
            for name, (_, _, kind) in _COLUMNS.items():
                if kind in scales and scales[kind] != 1.0:
                    row[name] *= scales[kind]
            for name in ("main_n_threads", "combined_n_threads"):
                row[name] = max(int(row[name]) - own, min(int(row[name]), 1))
            if others:
                nearest = min(others, key=lambda other: abs(other["timestamp"] - row["timestamp"]))
                for name in ("gpu_sum_utilization_percent", "gpu_hardware_utilization_percent"):
                    row[name] = nearest[name]

        static = {"ram_unit": ram, "gpu_ram_unit": gpu_ram, "time_unit": time_unit,
                  "ram_system_capacity": tree["max_ram"]["system_capacity"],
                  "gpu_ram_system_capacity": tree["max_gpu_ram"]["system_capacity"],
                  "n_expected_cores": self._cores,
                  "system_gpu_count": tree["gpu_utilization"]["system_gpu_count"],
                  "n_expected_gpus": tree["gpu_utilization"]["n_expected_gpus"]}
        _mend(self._tracking_file, {name: value for name, value in static.items() if value is not None}, mend_row)

    def _expect(self, state: Tracker.State, verb: str) -> None:
        if self.state is not state:
            when = {Tracker.State.NEW: "has not started yet", Tracker.State.STARTED: "has already started",
                    Tracker.State.STOPPED: "has already stopped"}[self.state]
            raise RuntimeError(f"Cannot {verb} tracking when tracking {when}.")

    def _used(self) -> ResourceUsage:
        if self.state is not Tracker.State.STOPPED or self.resource_usage is None:
            raise RuntimeError(
                "Cannot display the tracker in string or JSON format before tracking completes. Exit the content "
                "manager or call the stop() method before calling to_json() or str()")
        return self.resource_usage

    def to_json(self) -> dict[str, dict[str, Any]]:
        """What was used, as dictionaries."""
        return dataclasses.asdict(self._used())

    def __str__(self) -> str:
        return "\n".join(_text(self.to_json()))

    def __repr__(self) -> str:
        return f"State: {self.state.name}"


def _factor(unit: str) -> float:
    """From gigabytes to a unit."""
    return 1.0 if unit == "gigabytes" else _converted(1e9, "bytes", unit)


def _tree(account: Account, units: tuple[str, str, str]) -> dict[str, Any]:
    text = account.report("gpu_tracker", memory_unit=units[0], gpu_memory_unit=units[1], time_unit=units[2])
    tree: dict[str, Any] = json.loads(text)
    system, cores = tree["cpu_utilization"]["system"], tree["cpu_utilization"]["system_core_count"]
    for name, value in system.items():  # ticks of two readings may be some more than the time between them
        if value is not None and cores:
            system[name] = min(value, 100.0 * cores if "sum" in name else 100.0)
    gpus = tree["gpu_utilization"]["system_gpu_count"]
    if gpus:
        gpu_ram = tree["max_gpu_ram"]
        if gpu_ram["combined"] == 0.0:  # no process had any, so neither main nor descendants had
            gpu_ram["main"] = gpu_ram["descendants"] = 0.0
    return tree


def _shared(tree: dict[str, Any], account: Account) -> None:
    """An estimate of shared memory is resident memory of one moment less private memory of a moment before:
    too much, while a process grows. It is at most what is left at the peak."""
    for scope, subject in (("main", "root"), ("descendants", "descendants"), ("combined", "")):
        rss = tree["max_ram"][scope]
        if None not in rss.values() and account.figure("memory_shared_peak_bytes", subject).availability == "estimate":
            rss["shared_rss"] = min(rss["shared_rss"], max(rss["total_rss"] - rss["private_rss"], 0.0))


def _blank(tree: dict[str, Any], scopes: Iterable[str], value: float | None) -> None:
    """Sets all that is told of scopes."""
    for scope in scopes:
        for group in (tree["max_ram"], tree["cpu_utilization"]):
            group[scope] = dict.fromkeys(group[scope], value)
        tree["max_gpu_ram"][scope] = value
        tree["cpu_utilization"][f"{scope}_n_threads"] = None if value is None else int(value)


def _without_descendants(tree: dict[str, Any], account: Account) -> None:
    """Where there never was a descendant, all of them used nothing: that is known."""
    ever = account.get("processes")
    if ever is not None and ever <= 1 and not account.get("processes_peak", "descendants"):
        _blank(tree, ("descendants",), 0.0)


def _without_ours(tree: dict[str, Any], account: Account) -> None:
    """Takes away vitals' own threads, where they were measured with this process."""
    cpu = tree["cpu_utilization"]
    threads, seconds, wall = (account.get(name) for name in ("own_threads", "own_cpu_seconds", "wall_seconds"))
    percent = 100.0 * seconds / wall if seconds is not None and wall else 0.0
    for scope in ("main", "combined"):
        count = cpu[f"{scope}_n_threads"]
        if threads is not None and count is not None:
            cpu[f"{scope}_n_threads"] = max(count - int(threads), 1)
        for kind in ("mean", "max"):
            used = cpu[scope][f"{kind}_sum_percent"]
            if used is not None and percent > 0:
                used = max(used - percent, 0.0)
                cpu[scope][f"{kind}_sum_percent"] = used
                if cpu["n_expected_cores"]:
                    cpu[scope][f"{kind}_hardware_percent"] = used / cpu["n_expected_cores"]


# --- code blocks ------------------------------------------------------------------------------------

_sub_files: set[str] = set()  # those that this process, or the one that it was forked from, has made


class SubTracker:
    """Marks begin and end of a block of code in a sub-tracking file, and as a phase for `vitals run`.

    Without a name it is called `file:line`, relative to the working directory, or `file:attribute`.
    """

    def __init__(self, code_block_name: str | None = None, code_block_attribute: str | None = None,
                 sub_tracking_file: str | None = None, overwrite: bool = False) -> None:
        if code_block_name is None:
            frame = inspect.currentframe()
            caller = frame.f_back if frame is not None else None
            file = os.path.relpath(caller.f_code.co_filename) if caller is not None else "unknown"
            line = caller.f_lineno if caller is not None else 0
            code_block_name = f"{file}:{line if code_block_attribute is None else code_block_attribute}"
        self.code_block_name = code_block_name
        self.process_id = os.getpid()
        self.sub_tracking_file = f"{self.process_id}.csv" if sub_tracking_file is None else sub_tracking_file
        _ending(self.sub_tracking_file)
        path = os.path.abspath(self.sub_tracking_file)
        if path not in _sub_files:
            _claim(self.sub_tracking_file, overwrite)
            _make_sub(self.sub_tracking_file)
            _sub_files.add(path)
        self._mark_name = code_block_name.encode("utf-8", "replace").replace(b"\0", b" ")

    def _mark(self, position: int) -> None:
        lib.vitals_python_mark(b"end" if position else b"begin", self._mark_name)
        _add_sub(self.sub_tracking_file, [(self.process_id, self.code_block_name, position, time.time())])

    def __enter__(self) -> SubTracker:
        self._mark(0)
        return self

    def __exit__(self, *_: object) -> None:
        self._mark(1)


def sub_track(code_block_name: str | None = None, code_block_attribute: str | None = None,
              sub_tracking_file: str | None = None, overwrite: bool = False) -> Callable[[F], F]:
    """Marks each call of a function as a code block. Without a name it is called `path:function`, or
    `path:attribute`."""
    def decorate(function: F) -> F:
        name = code_block_name
        if name is None:
            path = os.path.abspath(inspect.getsourcefile(function) or function.__code__.co_filename)
            name = f"{path}:{function.__name__ if code_block_attribute is None else code_block_attribute}"

        @functools.wraps(function)
        def marked(*arguments: Any, **named: Any) -> Any:
            with SubTracker(name, code_block_attribute, sub_tracking_file, overwrite):
                return function(*arguments, **named)
        return marked  # type: ignore[return-value]
    return decorate


# --- analysis ---------------------------------------------------------------------------------------

def _plain(value: Any) -> Any:
    """Data frames, series and results as dictionaries, lists and numbers."""
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if hasattr(value, "to_dict"):
        return _plain(value.to_dict("index") if hasattr(value, "columns") else value.to_dict())
    return value.item() if hasattr(value, "item") else value


def _table(value: Any) -> list[str]:
    """A data frame, or a series as a row, as lines of text."""
    frame = value
    if not hasattr(value, "columns"):
        frame = value.to_frame().T
        frame.index = [""]
    text: str = frame.to_string(float_format=lambda number: str(float(f"{number:.8f}")))
    return text.split("\n")


def _outline(tree: dict[str, Any], indent: int, names: Collection[str]) -> Iterator[str]:
    """Results as indented text. `names`: keys that are names of code blocks, which stay as they are."""
    margin = "\t" * indent
    titles = {key: margin + (key if key in names else key.replace("_", " ").title()) for key in tree}
    width = max(map(len, titles.values()), default=0)
    for key, value in tree.items():
        title = titles[key]
        if isinstance(value, dict):
            yield f"{title}:"
            yield from _outline(value, indent + 1, names)
        elif isinstance(value, list):
            yield f"{title}:"
            for item in value:
                yield from _outline({field.name: getattr(item, field.name) for field in dataclasses.fields(item)},
                                    indent + 1, names)
                yield ""
        elif hasattr(value, "to_string"):
            yield f"{title}:"
            for line in _table(value):
                yield f"{margin}\t{line}"
        else:
            shown = f"{value:.8f}" if isinstance(value, float) else value
            yield f"{title}:{' ' * (width - len(title))} {shown}"


@dataclasses.dataclass
class CodeBlockResults:
    """What the calls of one code block took and used. Times are in seconds."""

    name: str
    num_timepoints: int
    num_calls: int
    num_non_empty_calls: int
    compute_time: pd.Series
    resource_usage: pd.DataFrame


class _Results:
    def to_json(self) -> dict[str, Any]:
        """The results as dictionaries and numbers."""
        made: dict[str, Any] = _plain(self)
        return made

    def __str__(self) -> str:
        assert dataclasses.is_dataclass(self)
        tree = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return "".join(f"{line}\n" for line in _outline(tree, 0, self._block_names()))

    def _block_names(self) -> Collection[str]:
        return ()


@dataclasses.dataclass
class SubTrackingResults(_Results):
    """The analysis of a tracking file and its code blocks."""

    overall: pd.DataFrame
    static_data: pd.Series
    code_block_results: list[CodeBlockResults]


@dataclasses.dataclass
class ComparisonResults(_Results):
    """Sessions side by side, each series in ascending order."""

    overall_resource_usage: dict[str, pd.Series]
    code_block_resource_usage: dict[str, dict[str, pd.Series]]
    code_block_compute_time: dict[str, pd.Series]

    def _block_names(self) -> Collection[str]:
        return self.code_block_compute_time


class SubTrackingAnalyzer:
    """Analyzes code blocks by the samples of a tracking file that fall into them."""

    def __init__(self, tracking_file: str | None, sub_tracking_file: str) -> None:
        for path in (tracking_file, sub_tracking_file):
            if path is not None:
                _ending(path)
        self.tracking_file, self.sub_tracking_file = tracking_file, sub_tracking_file

    def _tracking(self) -> str:
        if self.tracking_file is None:
            raise ValueError("A tracking file is needed: this analyzer has none.")
        return _there(self.tracking_file)

    @contextlib.contextmanager
    def _phases(self) -> Iterator[str]:
        """The sub-tracking file as CSV, the form that the library reads."""
        path = _there(self.sub_tracking_file)
        if _ending(path) == ".csv":
            yield path
            return
        with tempfile.TemporaryDirectory() as folder:
            made = os.path.join(folder, "sub.csv")
            _make_sub(made)
            _add_sub(made, _sub_rows(path))
            yield made

    def read_static_data(self) -> pd.Series:
        """Units, capacities and counts."""
        row = _static_row(self._tracking())
        import pandas as pd
        return pd.Series(row, name=0)

    def load_code_block_names(self) -> list[str]:
        """The names of all code blocks, sorted."""
        return sorted({row[1] for row in _sub_rows(self.sub_tracking_file)})

    def combine_sub_tracking_files(self, files: list[str]) -> None:
        """Writes the rows of several sub-tracking files into that of this analyzer."""
        target, ending = self.sub_tracking_file, _ending(self.sub_tracking_file)
        if os.path.exists(target):
            raise ValueError(f"Cannot create sub-tracking file {target}. File already exists.")
        for file in files:
            if not file.endswith(ending):
                raise ValueError(f'File {file} does not end with the same extension as {target}. '
                                 f'Must end in "{ending}".')
        rows = [row for file in files for row in _sub_rows(file)]
        _make_sub(target)
        _add_sub(target, rows)

    def load_timestamp_pairs(self, code_block_name: str) -> list[tuple[float, float]]:
        """Begin and end of each call of a code block that ended. Raises ValueError for an end without a begin."""
        _check_marks([row for row in _sub_rows(self.sub_tracking_file) if row[1] == code_block_name])
        with self._phases() as path:
            spans = Recording(path).spans
        return [(span.begin, span.end) for span in spans if span.name == code_block_name and span.end == span.end]

    def _timepoints(self) -> pd.DataFrame:
        import pandas as pd
        static = _static_row(self._tracking())
        recording = Recording(self._tracking())
        scales = {"ram": _factor(static["ram_unit"]) * 1e-9, "gpu_ram": _factor(static["gpu_ram_unit"]) * 1e-9,
                  "percent": 100.0, "": 1.0}
        series = {(item.name, item.subject): item.values for item in recording.series}
        columns = {name: [value * scales[kind] for value in series[measure, subject]]
                   for name, (measure, subject, kind) in _COLUMNS.items() if (measure, subject) in series}
        return pd.DataFrame({**columns, "timestamp": recording.seconds})

    def load_timepoints(self, timestamp_pairs: list[tuple[float, float]]) -> pd.DataFrame:
        """The samples within any of these spans of time."""
        frame = self._timepoints()
        within = [any(begin <= moment <= end for begin, end in timestamp_pairs) for moment in frame["timestamp"]]
        return frame[within].reset_index(drop=True)

    def overall_timepoint_results(self) -> pd.DataFrame:
        """Statistics of all samples."""
        return _statistics(self._analysis()["overall"])

    def _analysis(self) -> dict[str, Any]:
        static = _static_row(self._tracking())
        with self._phases() as path:
            recording = Recording(self._tracking(), [path])
            text = recording.report("gpu_tracker", phases=True, memory_unit=static["ram_unit"],
                                    gpu_memory_unit=static["gpu_ram_unit"], time_unit=static["time_unit"])
        analysis: dict[str, Any] = json.loads(text)
        analysis["static_data"] = static
        return analysis

    def sub_tracking_results(self) -> SubTrackingResults:
        """Everything: of all samples, and of each code block."""
        import pandas as pd
        analysis = self._analysis()
        blocks = [CodeBlockResults(block["name"], block["num_timepoints"], block["num_calls"],
                                   block["num_non_empty_calls"],
                                   pd.Series(block["compute_time"], dtype=float),
                                   _statistics(block["resource_usage"])) for block in analysis["code_block_results"]]
        return SubTrackingResults(_statistics(analysis["overall"]), pd.Series(analysis["static_data"], name=0), blocks)


def _check_marks(rows: list[tuple[int, str, int, float]]) -> None:
    """Each end of a process comes after a begin of its own. The errors are gpu_tracker's."""
    rows = sorted(rows, key=lambda row: (row[0], row[3], row[2]))
    begun: dict[int, int] = {}
    for at, (process_id, _, position, seconds) in enumerate(rows):
        begun[process_id] = begun.get(process_id, 0) + (-1 if position else 1)
        if begun[process_id] >= 0:
            continue
        if at + 1 == len(rows):
            raise ValueError(f"Sub-tracking file is invalid. The stop {seconds} of process ID {process_id} has no start.")
        other, _, _, later = rows[at + 1]
        wrong = (f"of process ID {process_id} with a start time greater than the stop time" if other == process_id
                 else f"with differing process IDs: {process_id} and {other}")
        raise ValueError(f"Sub-tracking file is invalid. Detected timestamp pair ({seconds}, {later}) {wrong}.")


def _statistics(measures: dict[str, dict[str, float | None]]) -> pd.DataFrame:
    import pandas as pd
    return pd.DataFrame.from_dict(measures, orient="index", columns=list(STATISTICS), dtype=float)


# --- comparison -------------------------------------------------------------------------------------

class _Unpickler(pickle.Unpickler):
    """Reads results of gpu_tracker itself too, as the classes that are here."""

    def find_class(self, module: str, name: str) -> Any:
        if module.split(".")[0] == "gpu_tracker":
            module = __name__
        return super().find_class(module, name)


_NUMBERED = re.compile(r"(.*):(\d+)\Z", re.DOTALL)


def _in_order(name: str) -> str:
    """What names of code blocks are sorted by: numbers of lines by their value."""
    numbered = _NUMBERED.match(name)
    return f"{numbered[1]}:{numbered[2].zfill(20)}" if numbered else name


class TrackingComparison:
    """Compares the results of several sessions: files with pickled SubTrackingResults by name."""

    def __init__(self, file_path_map: dict[str, str]) -> None:
        self.results_map: dict[str, SubTrackingResults] = {}
        for name, path in file_path_map.items():
            with open(path, "rb") as file:
                self.results_map[name] = _Unpickler(file).load()
        for results in self.results_map.values():
            results.code_block_results.sort(key=lambda block: _in_order(block.name))
        self._names = self._matched()

    def _matched(self) -> list[str]:
        """A name for each code block. Names may differ by the number of the line alone."""
        if not self.results_map:
            return []
        (first, results), *others = sorted(self.results_map.items(), key=lambda item: item[0])
        blocks = results.code_block_results
        names = [[block.name] for block in blocks]
        for session, other in others:
            if len(other.code_block_results) != len(blocks):
                raise ValueError(
                    f"All sub-tracking results must have the same number of code blocks. The first has {len(blocks)} "
                    f'code blocks but tracking session "{session}" has {len(other.code_block_results)} code blocks.')
            for ours, theirs, found in zip(blocks, other.code_block_results, names):
                if ours.name == theirs.name:
                    continue
                matches = _NUMBERED.match(ours.name), _NUMBERED.match(theirs.name)
                if matches[0] is None or matches[1] is None or matches[0][1] != matches[1][1]:
                    raise ValueError(f'Code block name "{ours.name}" of tracking session "{first}" does not match '
                                     f'code block name "{theirs.name}" of tracking session "{session}"')
                log.warning('Code block name "%s" of tracking session "%s" matched with code block name "%s" of '
                            'tracking session "%s" but they differ by line number. If these code blocks were not '
                            'meant to match, their comparison will not be valid and their names must be '
                            'disambiguated.', ours.name, first, theirs.name, session)
                if theirs.name not in found:
                    found.append(theirs.name)
        return [" -> ".join(sorted(found)) for found in names]

    def _sessions(self, value: Callable[[SubTrackingResults], Any]) -> pd.Series:
        import pandas as pd
        made = pd.Series({name: value(results).item() for name, results in self.results_map.items()})
        return made.sort_values(kind="stable")

    def compare(self, statistic: str = "mean") -> ComparisonResults:
        """Compares a statistic: "mean", "min", "max" or "std"."""
        if statistic not in STATISTICS:
            raise ValueError(f"Invalid summary statistic '{statistic}'. Valid values are {' '.join(STATISTICS)}.")
        measures = list(next(iter(self.results_map.values())).overall.index) if self.results_map else []
        overall = {measure: self._sessions(lambda results: results.overall[statistic][measure])
                   for measure in measures}
        usage = {measure: {name: self._sessions(lambda results: results.code_block_results[at].resource_usage[
            statistic][measure]) for at, name in enumerate(self._names)} for measure in measures}
        times = {name: self._sessions(lambda results: results.code_block_results[at].compute_time[statistic])
                 for at, name in enumerate(self._names)}
        return ComparisonResults(overall, usage, times)
