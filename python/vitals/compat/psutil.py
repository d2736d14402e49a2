"""psutil's names, units and rules over vitals: `import vitals.compat.psutil as psutil`.

Numbers are those that psutil 7 gives. Where it takes a reading of everything for one answer, this takes
one snapshot. Two things are better on purpose: a process is the same one by its descriptor, never by its
pid and start alone, and a signal goes to that process or to none.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import operator
import os
import resource
import sys
import threading
import time
import weakref

import vitals
from vitals import _core
from vitals._core import ffi, lib
from vitals._process import read_once
from vitals._snapshot import Snapshot, Table, _new, request, rows_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Collection, Iterable, Iterator

__version__ = "7.2.2"
version_info = (7, 2, 2)

POSIX = LINUX = True
WINDOWS = MACOS = OSX = FREEBSD = OPENBSD = NETBSD = BSD = SUNOS = AIX = False
PROCFS_PATH = "/proc"

STATUS_RUNNING, STATUS_SLEEPING, STATUS_DISK_SLEEP = "running", "sleeping", "disk-sleep"
STATUS_STOPPED, STATUS_TRACING_STOP, STATUS_ZOMBIE, STATUS_DEAD = "stopped", "tracing-stop", "zombie", "dead"
STATUS_WAKE_KILL, STATUS_WAKING, STATUS_IDLE, STATUS_LOCKED = "wake-kill", "waking", "idle", "locked"
STATUS_WAITING, STATUS_SUSPENDED, STATUS_PARKED = "waiting", "suspended", "parked"
CONN_ESTABLISHED, CONN_SYN_SENT, CONN_SYN_RECV = "ESTABLISHED", "SYN_SENT", "SYN_RECV"
CONN_FIN_WAIT1, CONN_FIN_WAIT2, CONN_TIME_WAIT, CONN_CLOSE = "FIN_WAIT1", "FIN_WAIT2", "TIME_WAIT", "CLOSE"
CONN_CLOSE_WAIT, CONN_LAST_ACK, CONN_LISTEN = "CLOSE_WAIT", "LAST_ACK", "LISTEN"
CONN_CLOSING, CONN_NONE = "CLOSING", "NONE"
RLIM_INFINITY = -1
_RLIMITS = {name: getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")}
_LIMIT_NAMES = {number: name[7:].lower() for name, number in _RLIMITS.items() if name != "RLIMIT_OFILE"}
globals().update(_RLIMITS)


# In _psutil_words.py, loaded with the first use of one of them.
_WORDS = (
    "AF_LINK", "NicDuplex", "BatteryTime", "IOPriority", "NIC_DUPLEX_FULL", "NIC_DUPLEX_HALF", "NIC_DUPLEX_UNKNOWN",
    "POWER_TIME_UNKNOWN", "POWER_TIME_UNLIMITED", "IOPRIO_CLASS_NONE", "IOPRIO_CLASS_RT", "IOPRIO_CLASS_BE",
    "IOPRIO_CLASS_IDLE",
)


def __getattr__(name: str) -> Any:
    if name in _FIELDS:
        return getattr(_types, name)
    if name not in _WORDS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from vitals.compat import _psutil_words
    value = globals()[name] = getattr(_psutil_words, name)
    return value


# --- Errors -----------------------------------------------------------------------------------------

class Error(Exception):
    """Of all errors here."""

    __module__ = "psutil"

    def _about(self, *names: str) -> dict[str, Any]:
        return {name: value for name in names if (value := getattr(self, name, None))}

    def __str__(self) -> str:
        about = self._about("pid", "ppid", "name")
        shown = ", ".join(f"{name}={value!r}" for name, value in about.items())
        message = getattr(self, "msg", "")
        return f"{message} ({shown})".strip() if shown else str(message)

    def __repr__(self) -> str:
        about = self._about("pid", "ppid", "name", "seconds", "msg")
        return f"psutil.{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in about.items())})"


class NoSuchProcess(Error):
    """No process has the pid, or no longer."""

    __module__ = "psutil"

    def __init__(self, pid: int, name: str | None = None, msg: str | None = None) -> None:
        super().__init__()
        self.pid, self.name, self.msg = pid, name, msg or "process no longer exists"

    def __reduce__(self) -> Any:
        return type(self), (self.pid, self.name, self.msg)


class ZombieProcess(NoSuchProcess):
    """It has ended and was not waited for: it has no such value any more."""

    __module__ = "psutil"

    def __init__(self, pid: int, name: str | None = None, ppid: int | None = None, msg: str | None = None) -> None:
        super().__init__(pid, name, msg or "PID still exists but it's a zombie")
        self.ppid = ppid

    def __reduce__(self) -> Any:
        return type(self), (self.pid, self.name, self.ppid, self.msg)


class AccessDenied(Error):
    """Permission is missing."""

    __module__ = "psutil"

    def __init__(self, pid: int | None = None, name: str | None = None, msg: str | None = None) -> None:
        super().__init__()
        self.pid, self.name, self.msg = pid, name, msg or ""

    def __reduce__(self) -> Any:
        return type(self), (self.pid, self.name, self.msg)


class TimeoutExpired(Error):
    """It has not ended in time."""

    __module__ = "psutil"

    def __init__(self, seconds: float, pid: int | None = None, name: str | None = None) -> None:
        super().__init__()
        self.seconds, self.pid, self.name = seconds, pid, name
        self.msg = f"timeout after {seconds} seconds"

    def __reduce__(self) -> Any:
        return type(self), (self.seconds, self.pid, self.name)


# --- What is returned -------------------------------------------------------------------------------

_CPU_FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice")
_MAP_FIELDS = "rss size pss shared_clean shared_dirty private_clean private_dirty referenced anonymous swap"
_FIELDS = {
    "scputimes": " ".join(_CPU_FIELDS),
    "scpustats": "ctx_switches interrupts soft_interrupts syscalls",
    "scpufreq": "current min max",
    "svmem": "total available percent used free active inactive buffers cached shared slab",
    "sswap": "total used free percent sin sout",
    "sdiskusage": "total used free percent",
    "sdiskio": "read_count write_count read_bytes write_bytes read_time write_time read_merged_count "
               "write_merged_count busy_time",
    "sdiskpart": "device mountpoint fstype opts",
    "snetio": "bytes_sent bytes_recv packets_sent packets_recv errin errout dropin dropout",
    "snicaddr": "family address netmask broadcast ptp",
    "snicstats": "isup duplex speed mtu flags",
    "sconn": "fd family type laddr raddr status pid",
    "pconn": "fd family type laddr raddr status",
    "addr": "ip port",
    "suser": "name terminal host started pid",
    "shwtemp": "label current high critical",
    "sfan": "label current",
    "sbattery": "percent secsleft power_plugged",
    "pmem": "rss vms shared text lib data dirty",
    "pfullmem": "rss vms shared text lib data dirty uss pss swap",
    "pcputimes": "user system children_user children_system iowait",
    "pio": "read_count write_count read_bytes write_bytes read_chars write_chars",
    "pionice": "ioclass value",
    "pctxsw": "voluntary involuntary",
    "puids": "real effective saved",
    "pgids": "real effective saved",
    "pthread": "id user_time system_time",
    "popenfile": "path fd position mode flags",
    "pmmap_grouped": "path " + _MAP_FIELDS,
    "pmmap_ext": "addr perms path " + _MAP_FIELDS,
    "_Ids": "pid started",
}


class _Types:
    """Named tuples, each made when it is first used: to make all takes longer than all other imports."""

    def __getattr__(self, name: str) -> Any:
        if name not in _FIELDS:
            raise AttributeError(name)
        made: Any = collections.namedtuple(name, _FIELDS[name], module=__name__)  # type: ignore[misc]
        kept: Any = self.__dict__.setdefault(name, made)  # another thread may have made it meanwhile
        globals()[name] = kept
        return kept


_types = _Types()


# --- Readings of the machine ------------------------------------------------------------------------

def _take(*what: str) -> Snapshot:
    return vitals.snapshot(*what)


_kept = threading.local()


def _forget_samplers() -> None:
    global _kept
    _kept = threading.local()


os.register_at_fork(after_in_child=_forget_samplers)


def _again(table: str, *names: str) -> list[list[Any]]:
    """Rows by a sampler that this thread keeps: its files are open already."""
    readers: Any = _kept.__dict__
    reader = readers.get((table, names))
    if reader is None:
        reader = vitals.Sampler(*(f"{table}.{name}" for name in names)).rows_reader(table, *names)
        readers[table, names] = reader
    return reader()  # type: ignore[no-any-return]


def _host_values(*names: str) -> list[Any]:
    """A value that is missing is 0, as psutil has it."""
    return _filled(_again("host", *names)[0], 0)


def _rows_of(table: str, *names: str) -> list[list[Any]]:
    """Rows of a table that is read in this thread; none where this machine does not have or show it."""
    try:
        return rows_of(ffi.NULL, table, names, lacking=True)
    except (vitals.UnsupportedError, vitals.DeniedError):
        return []


def _rounded(part: float, whole: float, digits: int | None = 1) -> float:
    if not whole:
        return 0.0
    percent = part / whole * 100
    return percent if digits is None else round(percent, digits)


def boot_time() -> float:
    """Seconds since 1970, on a whole second."""
    return float(int(_host_values("boot_time_seconds")[0]))


getloadavg = os.getloadavg


def cpu_count(logical: bool = True) -> int | None:
    if logical:
        return os.sysconf("SC_NPROCESSORS_ONLN")
    rows = _rows_of("host", "cpus_physical")
    return rows[0][0] or None if rows else None


_HOST_TIMES = tuple(f"cpu_{name}_seconds" for name in _CPU_FIELDS)
_CPU_TIMES = tuple(f"{name}_seconds" for name in _CPU_FIELDS)


def _times(values: list[Any]) -> Any:
    return _tuple(_types.scputimes, _filled(values, 0.0))


def cpu_times(percpu: bool = False) -> Any:
    if not percpu:
        return _times(_again("host", *_HOST_TIMES)[0])
    return list(map(_times, _again("cpu", *_CPU_TIMES)))


# psutil keeps the last reading of each thread and kind.
_last = threading.local()


def _between(kind: str, interval: float | None, percpu: bool) -> tuple[list[Any], list[Any]]:
    if interval is not None and interval < 0:
        raise ValueError(f"interval is not positive (got {interval})")

    def read() -> list[Any]:
        times = cpu_times(percpu)
        return times if percpu else [times]
    key = f"{kind}_{percpu}"
    if interval is not None and interval > 0:
        before = read()
        time.sleep(interval)
    else:
        before = getattr(_last, key, None) or _first.get(percpu) or read()
    now = read()
    setattr(_last, key, now)
    return before, now


def _delta(before: Any, now: Any) -> Any:
    return _tuple(_types.scputimes, [new - old if new > old else 0.0 for old, new in zip(before, now)])


def _all(delta: Any) -> float:
    return float(sum(delta) - delta.guest - delta.guest_nice)


def cpu_percent(interval: float | None = None, percpu: bool = False) -> Any:
    """Share of the time in which CPUs were busy since the last call of this thread."""
    found = []
    for before, now in zip(*_between("percent", interval, percpu)):
        delta = _delta(before, now)
        total = _all(delta)
        found.append(_rounded(total - delta.idle - delta.iowait, total))
    return found if percpu else found[0]


def cpu_times_percent(interval: float | None = None, percpu: bool = False) -> Any:
    found = []
    for before, now in zip(*_between("times", interval, percpu)):
        delta = _delta(before, now)
        scale = 100 / max(1, _all(delta))
        found.append(_types.scputimes(*(min(max(0.0, round(value * scale, 1)), 100.0) for value in delta)))
    return found if percpu else found[0]


def cpu_stats() -> Any:
    return _types.scpustats(*_host_values("context_switches", "interrupts", "soft_interrupts"), 0)


def cpu_freq(percpu: bool = False) -> Any:
    """In MHz."""
    found = [_types.scpufreq(*(value / 1e6 if value else 0.0 for value in row)) for row in _rows_of(
        "cpu", "frequency_hertz", "frequency_min_hertz", "frequency_max_hertz")]
    if percpu:
        return found
    if not found or not any(one.current for one in found):
        return None
    return _types.scpufreq(*(sum(values) / len(found) for values in zip(*found)))


_MEMORY = tuple(f"memory_{name}_bytes" for name in (
    "total", "available", "free", "active", "inactive", "buffers", "cached", "shared", "slab"))


def virtual_memory() -> Any:
    total, available, *rest = _host_values(*_MEMORY)
    used = total - available
    return _types.svmem(total, available, _rounded(used, total), used, *rest)


def swap_memory() -> Any:
    total, used, free, moved_in, moved_out = _host_values(
        "swap_total_bytes", "swap_used_bytes", "swap_free_bytes", "swap_in_bytes", "swap_out_bytes")
    return _types.sswap(total, used, free, _rounded(used, total), moved_in, moved_out)


def disk_usage(path: Any) -> Any:
    """Of the file system on which the path is; statvfs(3) tells."""
    told = os.statvfs(path)
    total, available = told.f_blocks * told.f_frsize, told.f_bavail * told.f_frsize
    used = (told.f_blocks - told.f_bfree) * told.f_frsize
    return _types.sdiskusage(total, used, available, _rounded(used, used + available))


def disk_partitions(all: bool = False) -> list[Any]:
    names = ("device", "mount_point", "type", "options")
    if all:
        rows = _rows_of("mount", *names)
    else:
        rows = [row[:4] for row in _rows_of("filesystem", *names, "pseudo")
                if not row[4] and row[0] and row[0].startswith("/")]
    return [_types.sdiskpart(device or "", *others) for device, *others in rows]


class _Wrapped:
    """Counters that never fall for the caller: what a counter lost is added again."""

    def __init__(self) -> None:
        self._last: dict[Any, Any] = {}
        self._added: dict[Any, list[int]] = {}
        self._lock = threading.Lock()

    def clear(self) -> None:
        with self._lock:
            self._last, self._added = {}, {}

    def __call__(self, now: dict[Any, Any]) -> dict[Any, Any]:
        with self._lock:
            found = dict(now)
            for name, values in now.items():
                before = self._last.get(name, values)
                if not all(map(operator.le, before, values)):
                    added = self._added.setdefault(name, [0] * len(values))
                    for place, (old, new) in enumerate(zip(before, values)):
                        added[place] += old if new < old else 0
            self._added = {name: added for name, added in self._added.items() if name in now}
            for name, added in self._added.items():
                found[name] = type(now[name])(*map(operator.add, now[name], added))
            self._last = now
            return found


_disk_wrapped, _net_wrapped = _Wrapped(), _Wrapped()


def _counters(found: dict[Any, Any], each: bool, nowrap: bool, wrapped: _Wrapped, made: Any) -> Any:
    if nowrap:
        found = wrapped(found)
    if each:
        return found
    return _tuple(made, map(sum, zip(*found.values()))) if found else None


_DISK = ("reads", "writes", "read_bytes", "written_bytes", "read_seconds", "write_seconds", "reads_merged",
         "writes_merged", "busy_seconds")
_NETWORK = ("transmitted_bytes", "received_bytes", "transmitted_packets", "received_packets", "receive_errors",
            "transmit_errors", "receive_drops", "transmit_drops")


def disk_io_counters(perdisk: bool = False, nowrap: bool = True) -> Any:
    """Counts and bytes; times in ms. The total is that of whole disks."""
    found = {}
    for name, kind, *values in _again("disk", "name", "type", *_DISK):
        if perdisk or kind != "partition":
            reads, writes, read, written, reading, writing, reads_merged, writes_merged, busy = _filled(values, 0)
            found[name] = _types.sdiskio(reads, writes, read, written, round(reading * 1000), round(writing * 1000),
                                  reads_merged, writes_merged, round(busy * 1000))
    return _counters(found, perdisk, nowrap, _disk_wrapped, _types.sdiskio)


def net_io_counters(pernic: bool = False, nowrap: bool = True) -> Any:
    found = {name: _tuple(_types.snetio, _filled(values, 0)) for name, *values in _again("network", "name", *_NETWORK)}
    return _counters(found, pernic, nowrap, _net_wrapped, _types.snetio)


disk_io_counters.cache_clear = _disk_wrapped.clear  # type: ignore[attr-defined]
net_io_counters.cache_clear = _net_wrapped.clear  # type: ignore[attr-defined]


def net_if_addrs() -> dict[str, list[Any]]:
    from vitals.compat._psutil_words import AF_LINK, FAMILIES
    found: dict[str, list[Any]] = {}
    for interface, word, address, *others in sorted(
            _rows_of("network_address", "interface", "family", "address", "netmask", "broadcast", "peer"),
            key=lambda row: FAMILIES[row[1]]):
        family = FAMILIES[word]
        if family == AF_LINK and address:  # psutil fills a short one up
            address += ":00" * (5 - address.count(":"))
        if address:
            netmask, broadcast, peer = others
            found.setdefault(interface, []).append(
                _tuple(_types.snicaddr, (family, address, netmask or None, broadcast or None, peer or None)))
    return found


def net_if_stats() -> dict[str, Any]:
    """Speed in Mbit/s."""
    from vitals.compat._psutil_words import DUPLEX, NicDuplex
    return {name: _tuple(_types.snicstats, (
        "running" in flags.split(",") if flags else False, DUPLEX.get(duplex, NicDuplex.NIC_DUPLEX_UNKNOWN),
        round((speed or 0) * 8 / 1e6), mtu or 0, flags or ""))
        for name, duplex, speed, mtu, flags in _rows_of(
            "network", "name", "duplex", "speed_bytes_per_second", "mtu_bytes", "flags")}


_STATES = {"established": CONN_ESTABLISHED, "syn_sent": CONN_SYN_SENT, "syn_received": CONN_SYN_RECV,
           "fin_wait_1": CONN_FIN_WAIT1, "fin_wait_2": CONN_FIN_WAIT2, "time_wait": CONN_TIME_WAIT,
           "closed": CONN_CLOSE, "close_wait": CONN_CLOSE_WAIT, "last_ack": CONN_LAST_ACK, "listen": CONN_LISTEN,
           "closing": CONN_CLOSING}
_KINDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "all": (("tcp", "udp", "unix"), ("inet", "inet6", "unix")), "inet": (("tcp", "udp"), ("inet", "inet6")),
    "tcp": (("tcp",), ("inet", "inet6")), "tcp4": (("tcp",), ("inet",)), "tcp6": (("tcp",), ("inet6",)),
    "udp": (("udp",), ("inet", "inet6")), "udp4": (("udp",), ("inet",)), "udp6": (("udp",), ("inet6",)),
    "unix": (("unix",), ("unix",)), "inet4": (("tcp", "udp"), ("inet",)), "inet6": (("tcp", "udp"), ("inet6",)),
}


_SOCKET = ("family", "protocol", "type", "local_address", "local_port", "remote_address", "remote_port", "state",
           "descriptor", "pid")


def _check_kind(kind: str) -> None:
    if kind not in _KINDS:
        raise ValueError(f"invalid {kind!r} kind argument; valid ones are: {', '.join(map(repr, _KINDS))}")


def _connections(rows: Iterable[list[Any]], kind: str, with_pid: bool) -> list[Any]:
    """Of rows with the columns _SOCKET."""
    from vitals.compat._psutil_words import FAMILIES, SOCKET_TYPES
    protocols, families = _KINDS[kind]
    found = {}
    for family, protocol, socket_type, address, port, peer, peer_port, word, number, pid in rows:
        if family not in families or (family != "unix" and protocol not in protocols):
            continue
        local: Any
        remote: Any
        if family == "unix":
            local, remote, state = address or "", "", CONN_NONE
        else:
            local = _types.addr(address, port) if port else ()
            remote = _types.addr(peer, peer_port) if peer_port else ()
            state = _STATES.get(word, CONN_NONE) if protocol == "tcp" else CONN_NONE
        values = (-1 if number is None else number, FAMILIES[family], SOCKET_TYPES.get(socket_type, socket_type),
                  local, remote, state)
        found[(*values, pid)] = _types.sconn(*values, pid) if with_pid else _types.pconn(*values)
    return list(found.values())


def net_connections(kind: str = "inet") -> list[Any]:
    _check_kind(kind)
    return _connections(_rows_of("socket", *_SOCKET), kind, True)


def users() -> list[Any]:
    return [_types.suser(user, terminal or None, host or "localhost", float(int(start or 0)), pid)
            for user, terminal, host, start, pid in _rows_of(
                "login", "user", "terminal", "host", "start_time_seconds", "pid")]


def _sensors(kind: str, *names: str) -> list[list[Any]]:
    return [row[1:] for row in _rows_of("sensor", "kind", *names) if row[0] == kind]


def sensors_temperatures(fahrenheit: bool = False) -> dict[str, list[Any]]:
    def shown(value: Any) -> Any:
        return value * 9 / 5 + 32 if fahrenheit and value is not None else value
    found: dict[str, list[Any]] = {}
    for chip, name, *celsius in _sensors("temperature", "chip", "name", "temperature_celsius", "high_celsius",
                                         "critical_celsius"):
        if celsius[0] is not None:
            found.setdefault(str(chip), []).append(_types.shwtemp(name or "", *map(shown, celsius)))
    return found


def sensors_fans() -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for chip, name, speed in _sensors("fan", "chip", "name", "fan_rpm"):
        found.setdefault(str(chip), []).append(_types.sfan(name or "", round(speed or 0)))
    return found


def sensors_battery() -> Any:
    from vitals.compat._psutil_words import BatteryTime
    for state, charge, left in _sensors("battery", "state", "charge_ratio", "remaining_seconds"):
        if isinstance(charge, float):
            plugged = None if state is None else state in ("charging", "full", "not_charging")
            seconds = (BatteryTime.POWER_TIME_UNLIMITED if plugged else BatteryTime.POWER_TIME_UNKNOWN if left is None
                       else round(float(left)))
            return _types.sbattery(charge * 100, seconds, plugged)
    return None


_MARKS = ffi.typeof("uint64_t[]")
_room = 1024  # for so many processes


def _listed() -> bytes:
    """The marks of all processes (native.c), as the kernel lists them: a pid and the inode of its folder each."""
    global _room
    while True:
        room = _room  # other threads may change it
        marks = _new(_MARKS, room)
        count = lib.vitals_python_marks(b"/proc", marks, room)
        if count < 0:
            raise OSError(ffi.errno, os.strerror(ffi.errno), "/proc")
        if count <= room:
            return bytes(ffi.buffer(marks, 8 * count))
        _room = count + 256


def _in_order(listed: bytes) -> list[int]:
    """Marks in the order of pids."""
    return sorted(memoryview(listed).cast("Q").tolist())


def pids() -> list[int]:
    """All pids, in their order."""
    return [mark >> 32 for mark in _in_order(_listed())]


def pid_exists(pid: int) -> bool:
    if pid < 0:
        return False
    if pid == 0:
        return pid in pids()
    try:
        vitals.Process(pid)
    except vitals.DeniedError:
        return True
    except (vitals.VitalsError, OverflowError):
        return False
    return True


# --- Processes --------------------------------------------------------------------------------------

_OPEN_FILE = ("type", "path", "deleted", "number", "position_bytes", "flags")
_STATUS = {"disk_sleep": STATUS_DISK_SLEEP, "tracing_stop": STATUS_TRACING_STOP, "wake_kill": STATUS_WAKE_KILL}
_MOST_TIMES = ("user", "system", "children_user", "children_system")


REAP_SECONDS = 0.005  # how often is looked whether a zombie's parent has reaped it


# Handles of processes that were found in a list, or that came when half of all descriptors were in use: the last ones
# stay open.
_lent_handles: collections.deque[vitals.Process] = collections.deque(maxlen=16)


def _is_high(descriptor: int) -> bool:
    """Whether half of all descriptors are in use, as the kernel gives the lowest number that is free."""
    limit: int = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if descriptor >= 32 else RLIM_INFINITY
    return limit != RLIM_INFINITY and descriptor >= limit // 2


_FAILURES = vitals.GoneError, vitals.DeniedError, vitals.UnsupportedError
_nice, _io_priority, _limit = lib.vitals_python_nice, lib.vitals_python_io_priority, lib.vitals_python_limit
_cpus, _folder = lib.vitals_python_cpus, lib.vitals_python_folder
_UNKNOWN = lib.VITALS_PYTHON_UNKNOWN
_PATH, _PATH_SIZE = ffi.typeof("char[1024]"), 1024
_DENIED, _GONE = lib.VITALS_DENIED & 0xFF, lib.VITALS_GONE & 0xFF


def _translated(function: Callable[..., Any]) -> Callable[..., Any]:
    """The library's errors as psutil's."""

    @functools.wraps(function)
    def translated(self: Process, *arguments: Any, **named: Any) -> Any:
        try:
            return function(self, *arguments, **named)
        except _FAILURES as error:
            raise self._failure(error) from None
    return translated


_waits: tuple[float, bool] = (0.0, False)


def _waits_counted() -> bool:
    """Whether the kernel counts how long processes wait for disks: it can be told at any time, and to ask
    it of each process costs as much as all else."""
    global _waits
    if time.monotonic() >= _waits[0]:
        _waits = time.monotonic() + 1.0, vitals.Process()["block_delay_seconds"] is not None
    return _waits[1]


def _may_be_cut(name: str) -> bool:
    """The kernel keeps 15 bytes of a name."""
    return len(name) >= 15 or (not name.isascii() and len(os.fsencode(name)) >= 15)


class Process:
    """A process, by psutil's methods. Without a pid: this process."""

    _held: vitals.Process | None  # of one that was asked for by its pid, or is waited for
    _pointer: Any = ffi.NULL  # that of _held
    _lent: weakref.ref[vitals.Process] | None  # of any other
    _start: float | None
    _inode: int | None  # of its pidfd, of one that was asked for by its pid and is not held
    _exe: str | None
    _name: str | None
    _ppid: int | None
    _last: tuple[float, float] | None
    _answer: dict[str, Any] | None
    _created: float | None
    _hash: int | None
    _exit: Any
    _held = _lent = _inode = _exe = _name = _ppid = _last = _answer = _created = _hash = _exit = None
    _gone = _reused = _waited = False
    _REMEMBERED = ("_held", "_pointer", "_lent", "_inode", "_exe", "_name", "_ppid", "_last", "_answer", "_created", "_hash",
                   "_exit", "_gone", "_reused", "_waited", "_ident")

    def __init__(self, pid: int | None = None) -> None:
        self._init(pid)

    def _init(self, pid: int | None, _ignore_nsp: bool = False) -> None:
        """Anew, with nothing remembered. Tests of psutil's, and some programs, use it."""
        pid = os.getpid() if pid is None else pid
        if not isinstance(pid, int):
            raise TypeError(f"pid must be an integer (got {pid!r})")
        if pid < 0:
            raise ValueError(f"pid must be a positive integer (got {pid})")
        self._forget(pid, None)
        try:
            if pid == 0:
                raise vitals.GoneError("no process has the pid 0")
            handle = vitals.Process(pid)
            self._start = handle.start_seconds
            if _is_high(handle.descriptor):
                self._inode = os.fstat(handle.descriptor).st_ino
                self._lend(handle)
            else:
                self._held, self._pointer = handle, handle.pointer
        except (vitals.GoneError, OverflowError):
            if not _ignore_nsp:
                raise NoSuchProcess(pid, msg="process PID not found") from None
            self._gone = True
        except vitals.DeniedError:
            if not _ignore_nsp:
                raise AccessDenied(pid) from None

    def _forget(self, pid: int, start: float | None) -> None:
        for name in self._REMEMBERED if self.__dict__ else ():
            self.__dict__.pop(name, None)
        self._pid, self._start = pid, start

    @functools.cached_property
    def _ident(self) -> Any:
        return _types._Ids(self._pid, self._start)

    @classmethod
    def _found(cls, pid: int, start: float | None) -> Process:
        """Of a list of processes: nothing is opened until something is asked, and few stay open at a time."""
        made = cls.__new__(cls)
        made._pid, made._start = pid, start
        return made

    @property
    def _handle(self) -> vitals.Process:
        """Raises GoneError if it has ended, also if another process has its pid now."""
        handle = self._held if self._lent is None else self._held or self._lent()
        if handle is None:
            handle = vitals.Process(self._pid)
            # A start is on a clock tick. Since Linux 6.9 no two pidfds of different processes have the same inode.
            if handle.start_seconds != self._start or (
                    self._inode is not None and os.fstat(handle.descriptor).st_ino != self._inode):
                raise vitals.GoneError("another process has this pid now")
            self._lend(handle)
        return handle

    def _lend(self, handle: vitals.Process) -> None:
        _lent_handles.append(handle)
        self._lent = weakref.ref(handle)

    # --- what it is ---

    @property
    def pid(self) -> int:
        return self._pid

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Process):
            return NotImplemented
        return bool(self._ident == other._ident)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self._ident)
        return self._hash

    def __str__(self) -> str:
        about: dict[str, Any] = {"pid": self._pid}
        if self._name:
            about["name"] = self._name
        with self.oneshot():
            try:
                about["name"], about["status"] = self.name(), self.status()
            except ZombieProcess:
                about["status"] = "zombie"
            except NoSuchProcess:
                self.is_running()
                about["status"] = "terminated + PID reused" if self._reused else "terminated"
            except AccessDenied:
                pass
            if self._exit is not None:
                about["exitcode"] = self._exit
            if not str(about.get("status")).startswith("terminated"):
                try:
                    at = time.localtime(self.create_time())
                    today = time.localtime()[:3] == at[:3]
                    about["started"] = time.strftime("%H:%M:%S" if today else "%Y-%m-%d %H:%M:%S", at)
                except Error:
                    pass
        shown = ", ".join(f"{name}={value!r}" for name, value in about.items())
        return f"{type(self).__module__}.{type(self).__name__}({shown})"

    __repr__ = __str__

    def _exists(self) -> bool:
        try:
            return self._handle.is_running()
        except vitals.GoneError:
            return False
        except vitals.DeniedError:
            return True

    def _failure(self, error: vitals.VitalsError) -> Error:
        return AccessDenied(self._pid, self._name) if isinstance(error, vitals.DeniedError) else self._no_longer()

    def _no_longer(self) -> NoSuchProcess:
        if self._exists():
            return ZombieProcess(self._pid, self._name, self._ppid)
        self._gone = True
        return NoSuchProcess(self._pid, self._name)

    def is_running(self) -> bool:
        """True while it exists, also as a zombie; never for another process that got its pid."""
        if self._gone or self._reused:
            return False
        if self._exists():
            return True
        try:
            vitals.Process(self._pid)
            self._reused = True
        except vitals.DeniedError:
            self._reused = True
        except vitals.GoneError:
            self._gone = True
        _pmap.pop(self._pid, None)
        return False

    # --- reading ---

    @contextlib.contextmanager
    def oneshot(self) -> Iterator[None]:
        """What is read within is read once."""
        if self._answer is not None:
            yield
            return
        self._answer = {}
        try:
            yield
        finally:
            self._answer = None

    # What stands in the same files is read together.
    _GROUPS = (
        ("parent_pid", "name", "state", "terminal", "cpu", "threads", "cpu_user_seconds", "cpu_system_seconds",
         "children_user_seconds", "children_system_seconds"),
        ("resident_bytes", "virtual_bytes", "shared_bytes", "text_bytes", "data_bytes"),
        ("uid", "effective_uid", "saved_uid", "gid", "effective_gid", "saved_gid", "cpus_allowed_list"),
        ("read_calls", "write_calls", "read_bytes", "written_bytes", "call_read_bytes", "call_written_bytes"),
        ("uss_bytes", "pss_bytes", "swapped_bytes"),
        ("io_class", "io_level"),
        ("voluntary_context_switches", "involuntary_context_switches"),
    )

    def _values(self, *names: str) -> list[Any]:
        """Metrics, or psutil's error where one of them is missing for a reason that has one."""
        answer = self._answer
        if answer is None:
            try:
                handle = self._held or (self._lent and self._lent())
                if handle is None and self._inode is None and self._start is not None:
                    values, states = read_once(self._pid, self._start, names)
                else:
                    values, states = (handle or self._handle).read_available(names)
            except _FAILURES as error:
                raise self._failure(error) from None
        else:
            missing = [name for name in names if name not in answer]
            if missing:
                together = [name for group in self._GROUPS if not set(group).isdisjoint(missing) for name in group]
                self._read_into(answer, tuple(dict.fromkeys([*together, *missing])))
            values, states = zip(*[answer[name] for name in names])  # type: ignore[assignment]
            values = list(values)
        if None in values:
            if _DENIED in states:
                raise AccessDenied(self._pid, self._name)
            if _GONE in states:
                raise self._no_longer()
        return values

    @_translated
    def _read_into(self, answer: dict[str, Any], names: tuple[str, ...]) -> None:
        """What is not read yet, at one moment."""
        for name, value, state in zip(names, *self._handle.read_available(names)):
            answer.setdefault(name, (value, state))

    @_translated
    def _rows(self, table: str, *names: str) -> list[list[Any]]:
        """Some columns of its rows of a table."""
        try:
            rows: list[list[Any]] = self._handle.read_rows(table, *names)
        except vitals.UnsupportedError:
            return []
        return rows

    @_translated
    def _table(self, table: str) -> Any:
        """All columns of a table of its own."""
        rows = self._handle.ask(table)[table]
        if rows.state == "denied":
            raise AccessDenied(self._pid, self._name)
        if rows.state == "gone":
            raise self._no_longer()
        return rows

    def ppid(self) -> int:
        return self._values("parent_pid")[0]  # type: ignore[no-any-return]

    def name(self) -> str:
        self._name = self._values("name")[0]
        if self._name and _may_be_cut(self._name):
            self._name = self._values("program_name")[0]
        return self._name or ""

    def exe(self) -> str:
        """That of the first call, as in psutil."""
        if self._exe is not None:
            return self._exe
        path: str = self._values("executable")[0] or ""
        self._exe = path
        return path

    def cmdline(self) -> list[str]:
        line = self._values("command_line")[0]
        if not line:
            if self._values("state")[0] == "zombie":
                raise ZombieProcess(self._pid, self._name, self._ppid)
            return []
        if line.endswith("\0"):
            line = line[:-1]
        parts: list[str] = line.split("\0")
        return line.split(" ") if len(parts) == 1 and " " in line and not os.path.exists(line) else parts

    @_translated
    def environ(self) -> dict[str, str]:
        return self._handle.environment()

    def cwd(self) -> str:
        told: str | None = None
        path = _new(_PATH)
        if self._answer is None and _folder(self._pointer, path, _PATH_SIZE) > 0:
            told = ffi.string(path).decode("utf-8", "surrogateescape")
        if told is None or told.endswith(" (deleted)"):  # the kernel may have added that
            told = self._values("working_directory")[0]
        return told or ""

    def terminal(self) -> str | None:
        word: str | None = self._values("terminal")[0]
        return f"/dev/{word}" if word and not word.startswith("/") else word or None

    def status(self) -> str:
        word: str = self._values("state")[0]
        return _STATUS.get(word, word)

    def create_time(self) -> float:
        return self._created or self._read_create_time()

    @_translated
    def _read_create_time(self) -> float:
        taken = self._handle.ask("start_seconds", "host.boot_time_seconds")
        out = ffi.new("double *")
        if lib.vitals_psutil_create_time(taken.process[0]._pointer, out) <= 0:
            raise self._no_longer()
        self._created = float(out[0])
        return self._created

    def username(self) -> str:
        import pwd
        real = self._values("uid")[0]
        try:
            return str(pwd.getpwuid(real).pw_name)
        except KeyError:
            return str(real)

    def uids(self) -> Any:
        return _types.puids(*self._values("uid", "effective_uid", "saved_uid"))

    def gids(self) -> Any:
        return _types.pgids(*self._values("gid", "effective_gid", "saved_gid"))

    def num_threads(self) -> int:
        return self._values("threads")[0]  # type: ignore[no-any-return]

    def threads(self) -> list[Any]:
        made = _types.pthread
        return [_tuple(made, row) for row in self._rows("thread", "tid", "cpu_user_seconds", "cpu_system_seconds")]

    def num_fds(self) -> int:
        return self._values("descriptors")[0]  # type: ignore[no-any-return]

    def open_files(self) -> list[Any]:
        found = []
        for kind, path, deleted, number, position, flags in self._rows(
                "descriptor", *_OPEN_FILE):
            if kind == "file" and path and path.startswith("/") and not deleted and \
                    (not path.startswith("/proc/") or os.path.isfile(path)):  # its process may have ended
                flags = flags or 0
                mode = {os.O_RDONLY: "r", os.O_WRONLY: "w", os.O_RDWR: "w+"}.get(flags & os.O_ACCMODE, "r")
                if flags & os.O_APPEND:
                    mode = mode.replace("w", "a", 1)
                found.append(_types.popenfile(path, number, position, mode.replace("w+", "r+"), flags))
        return found

    def net_connections(self, kind: str = "inet") -> list[Any]:
        _check_kind(kind)
        return _connections(self._rows("socket", *_SOCKET), kind, False)

    connections = net_connections

    def num_ctx_switches(self) -> Any:
        return _types.pctxsw(*self._values("voluntary_context_switches", "involuntary_context_switches"))

    def cpu_times(self) -> Any:
        if _waits_counted():
            return _types.pcputimes(*_filled(self._values(*_PLAIN["cpu_times"]), 0.0))
        return _types.pcputimes(*_filled(self._values(*_PLAIN["cpu_times"][:-1]), 0.0), 0.0)

    def cpu_percent(self, interval: float | None = None) -> float:
        """Of one CPU, since the last call; 0.0 at first."""
        if interval is not None and interval < 0:
            raise ValueError(f"interval is not positive (got {interval})")

        def read() -> tuple[float, float]:
            user, system = self._values("cpu_user_seconds", "cpu_system_seconds")
            return time.monotonic(), user + system
        before = self._last
        if interval:
            before = read()
            time.sleep(interval)
        now = read()
        self._last = now
        if before is None or now[0] <= before[0]:
            return 0.0
        return max(0.0, round((now[1] - before[1]) / (now[0] - before[0]) * 100, 1))

    def cpu_num(self) -> int:
        return self._values("cpu")[0]  # type: ignore[no-any-return]

    def cpu_affinity(self, cpus: Collection[int] | None = None) -> list[int] | None:
        if cpus is not None:
            listed = sorted(set(cpus))
            if any(not isinstance(cpu, int) for cpu in listed):
                raise TypeError(f"CPUs are integers (got {listed})")
            self._set("set_affinity", listed)
            return None
        bits = _cpus(self._pointer) if self._answer is None else 0
        if bits > 0:
            return list(_cpus_of(bits))
        words = self._values("cpus_allowed_list")[0]
        line = ffi.new("char[]", _core.encode(words))
        count = lib.vitals_cpus_parse(lib.vitals_text_of(line), ffi.NULL, 0)
        out = ffi.new("unsigned[]", max(1, count))
        lib.vitals_cpus_parse(lib.vitals_text_of(line), out, count)
        allowed: list[int] = ffi.unpack(out, count)
        eligible = set(range(os.cpu_count() or 1))
        return [cpu for cpu in allowed if cpu in eligible] or allowed

    @_translated
    def _set(self, setter: str, *values: Any) -> None:
        try:
            getattr(self._handle, setter)(*values)
        except vitals.ArgumentError as error:
            raise ValueError(str(error)) from None

    def nice(self, value: int | None = None) -> int | None:
        if value is not None:
            self._set("set_nice", value)
            return None
        told: int = _nice(self._pointer) if self._answer is None else _UNKNOWN
        return told if told != _UNKNOWN else self._values("nice")[0]

    def ionice(self, ioclass: int | None = None, value: int | None = None) -> Any:
        if ioclass is not None:
            self._set_ionice(ioclass, value)
            return None
        if value is not None:
            raise ValueError("'ioclass' argument must be specified")
        packed: int = _io_priority(self._pointer) if self._answer is None else _UNKNOWN
        if packed >= 0:
            kind = packed >> 13
            return _tuple(_types.pionice, (_io_classes()[kind], packed & 7 if kind in (1, 2) else 0))
        word, level = self._values("io_class", "io_level")
        line = ffi.new("char[]", _core.encode(word))
        return _types.pionice(_io_classes()[lib.vitals_io_class_find(lib.vitals_text_of(line))], level or 0)

    @_translated
    def _set_ionice(self, ioclass: int, value: int | None) -> None:
        from vitals.compat._psutil_words import IOPriority
        if value and ioclass in (IOPriority.IOPRIO_CLASS_IDLE, IOPriority.IOPRIO_CLASS_NONE):
            raise ValueError(f"{IOPriority(ioclass).name} ioclass accepts no value")
        value = value or 0
        if not 0 <= value <= 7:
            raise ValueError("value not in 0-7 range")
        name = _core.string(lib.vitals_io_class_name(int(ioclass)))
        if not name:
            raise ValueError(f"invalid ioclass {ioclass!r}")
        self._handle.set_io_priority(name, value)

    def rlimit(self, which: int, limits: tuple[int, int] | None = None) -> tuple[int, int] | None:
        names = _LIMIT_NAMES
        if which not in names:
            raise ValueError(f"invalid resource {which}")
        if limits is not None:
            if len(limits) != 2:
                raise ValueError(f"second argument must be a (soft, hard) tuple, got {limits!r}")
            self._set("set_limit", names[which], *(None if one == RLIM_INFINITY else one for one in limits))
            return None
        told = _limit(self._pointer, which)
        if told >= 0:
            return _limits_of(told)
        for name, *pairs in self._rows("limit", "name", "soft", "soft_unlimited", "hard", "hard_unlimited"):
            if name == names[which]:
                soft, no_soft, hard, no_hard = pairs
                return RLIM_INFINITY if no_soft else soft, RLIM_INFINITY if no_hard else hard
        raise self._no_longer()

    def memory_info(self) -> Any:
        return _MADE["memory_info"](*_filled(self._values(*_PLAIN["memory_info"]), 0))

    memory_info_ex = memory_info

    def memory_full_info(self) -> Any:
        uss, pss, swap = self._values("uss_bytes", "pss_bytes", "swapped_bytes")
        return _types.pfullmem(*self.memory_info(), uss or 0, pss or 0, swap or 0)

    def memory_percent(self, memtype: str = "rss") -> float:
        if memtype not in _types.pfullmem._fields:
            raise ValueError(f"invalid memtype {memtype!r}; valid types are {_types.pfullmem._fields!r}")
        info = self.memory_info() if memtype in _types.pmem._fields else self.memory_full_info()
        total = _memory_total()
        return float(getattr(info, memtype)) / total * 100

    def memory_maps(self, grouped: bool = True) -> list[Any]:
        names = ("resident", "size", "pss", "shared_clean", "shared_dirty", "private_clean", "private_dirty",
                 "referenced", "anonymous", "swap")

        rows = self._table("mapped_file" if grouped else "mapping")
        columns = [[value or 0 for value in rows.values(f"{name}_bytes")] for name in names]
        paths = [path or "[anon]" for path in rows.values("path")]
        if grouped:
            return [_types.pmmap_grouped(*line) for line in zip(paths, *columns)]
        return [_types.pmmap_ext(*line) for line in zip(rows.values("addresses"), rows.values("permissions"), paths,
                                                        *columns)]

    def io_counters(self) -> Any:
        return _types.pio(*(value or 0 for value in self._values(
            "read_calls", "write_calls", "read_bytes", "written_bytes", "call_read_bytes", "call_written_bytes")))

    # --- relatives ---

    @_translated
    def _relatives(self, relation: str) -> list[Process]:
        self._check_alive()
        rows = self._handle.relatives(relation, "process.pid", "process.start_seconds").process
        return [Process._found(int(row["pid"] or 0), row["start_seconds"]) for row in rows]  # type: ignore[arg-type]

    def _check_alive(self) -> None:
        if not self.is_running():
            raise NoSuchProcess(self._pid, self._name, "process no longer exists and its PID has been reused"
                                if self._reused else None)

    def parent(self) -> Process | None:
        return next(iter(self._relatives("parent")), None)

    def parents(self) -> list[Process]:
        found: list[Process] = self._relatives("ancestors")
        return found

    def children(self, recursive: bool = False) -> list[Process]:
        found: list[Process] = self._relatives("descendants" if recursive else "children")
        return found

    # --- signals and waiting ---

    @_translated
    def send_signal(self, sig: int) -> None:
        self._check_alive()
        self._handle.signal(int(sig))

    def _send(self, name: str) -> None:
        import signal
        self.send_signal(signal.Signals[name])

    def suspend(self) -> None:
        self._send("SIGSTOP")

    def resume(self) -> None:
        self._send("SIGCONT")

    def terminate(self) -> None:
        self._send("SIGTERM")

    def kill(self) -> None:
        self._send("SIGKILL")

    def wait(self, timeout: float | None = None) -> Any:
        """Its exit code, the negative number of the signal that ended it, or None if it was no child of ours."""
        if timeout is not None and not isinstance(timeout, (int, float)):
            raise TypeError(f"timeout must be an int or float (got {type(timeout)})")
        if timeout is not None and timeout < 0:
            raise ValueError(f"timeout must be positive or zero (got {timeout})")
        if self._pid == 0:
            raise ValueError("can't wait for PID 0")
        if self._pid == os.getpid():
            raise ValueError("can't wait for itself")
        if self._waited:
            return self._exit
        ours = self._is_child()
        end = None if timeout is None else time.monotonic() + timeout
        code = None
        try:
            handle = self._handle
            if not _is_high(handle.descriptor):
                self._held, self._pointer = handle, handle.pointer
            code = handle.wait(timeout)
            # psutil waits until its parent has reaped it, too.
            while handle.is_running():
                if end is not None and time.monotonic() >= end:
                    raise vitals.TimedOutError("a zombie")
                time.sleep(REAP_SECONDS)
        except vitals.GoneError:
            pass
        except vitals.DeniedError:
            raise AccessDenied(self._pid, self._name) from None
        except vitals.TimedOutError:
            raise TimeoutExpired(0 if timeout is None else timeout, self._pid, self._name) from None
        self._waited = True
        if ours and code is not None:
            with contextlib.suppress(ValueError):
                code = _Signal(-code) if code < 0 else code
            self._exit = code
        return self._exit

    def _is_child(self) -> bool:
        try:
            return bool(self._handle["parent_pid"] == os.getpid())
        except (vitals.GoneError, vitals.DeniedError):
            return False  # something else has waited for it, or may

    # --- many at once ---

    def as_dict(self, attrs: Collection[str] | None = None, ad_value: Any = None) -> dict[str, Any]:
        if attrs is not None:
            if not isinstance(attrs, (list, tuple, set, frozenset)):
                raise TypeError(f"invalid attrs type {type(attrs)}")
            unknown = set(attrs) - _AS_DICT
            if unknown:
                raise ValueError(f"invalid attr name{'s' if len(unknown) > 1 else ''} "
                                 f"{', '.join(map(repr, sorted(unknown)))}")
        wanted = tuple(attrs or _AS_DICT)
        names, plain = _plan_of(wanted, _waits_counted())
        kind = type(self)  # it may have methods of its own
        if plain and self._answer is None and all(getattr(kind, name) is _METHODS[name] for name in wanted):
            made: dict[str, Any] | None = self._plain_dict(wanted, names)
            if made is not None:
                return made
        found = {}
        with self.oneshot():
            if names and self._answer is not None:
                self._read_into(self._answer, names)
            for name in wanted:
                try:
                    found[name] = self._pid if name == "pid" else getattr(self, name)()
                except (AccessDenied, ZombieProcess):
                    found[name] = ad_value
                except NotImplementedError:
                    if attrs:
                        raise
        return found

    @_translated
    def _plain_dict(self, attrs: tuple[str, ...], names: tuple[str, ...]) -> dict[str, Any] | None:
        """Attributes that are made of a few metrics; None where one of these is missing."""
        values: list[Any] = self._handle.read(*names)
        if None in values:
            return None
        known = dict(zip(names, values))
        known["pid"], known["block_delay_seconds"] = self._pid, known.get("block_delay_seconds", 0.0)
        if "name" in attrs:
            if _may_be_cut(known["name"]):
                return None
            self._name = known["name"]
        found = {}
        for attribute in attrs:
            parts = [known[name] for name in _PLAIN[attribute] or ("pid",)]
            made = _MADE.get(attribute)
            found[attribute] = parts[0] if made is None else made(*parts)
        return found


@functools.lru_cache(maxsize=None)
def _io_classes() -> tuple[Any, ...]:
    from vitals.compat._psutil_words import IO_CLASSES
    return IO_CLASSES


@functools.lru_cache(maxsize=256)
def _limits_of(packed: int) -> tuple[int, int]:
    """(soft, hard) of what native.c says in one number."""
    none = 2**31 - 1
    soft, hard = packed & 0xFFFFFFFF, packed >> 32
    return RLIM_INFINITY if soft == none else soft, RLIM_INFINITY if hard == none else hard


@functools.lru_cache(maxsize=256)
def _cpus_of(bits: int) -> tuple[int, ...]:
    """The CPUs of a mask, by their numbers."""
    return tuple(cpu for cpu in range(bits.bit_length()) if bits >> cpu & 1)


def _Signal(number: int) -> Any:
    """A negative signal, which prints as its name."""
    import enum
    import signal
    make: Any = enum.IntEnum
    return make("Negsignal", {signal.Signals(number).name: -number})(-number)


_AS_DICT = {"pid"} | {name for name in vars(Process) if not name.startswith("_")} - {
    "pid", "send_signal", "suspend", "resume", "terminate", "kill", "wait", "is_running", "as_dict", "parent",
    "parents", "children", "rlimit", "connections", "memory_info_ex", "oneshot"}


@functools.lru_cache(maxsize=1)
def _memory_total() -> int:
    return int(_host_values("memory_total_bytes")[0]) or 1


class Popen(Process):
    """subprocess.Popen that has the methods of Process too."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        import subprocess
        self._child = subprocess.Popen(*arguments, **named)
        super().__init__(self._child.pid)

    def __getattr__(self, name: str) -> Any:
        if name == "_child":
            raise AttributeError(name)
        return getattr(self._child, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._child)})

    def __enter__(self) -> Popen:
        self._child.__enter__()
        return self

    def __exit__(self, *what: Any) -> None:
        try:
            for stream in (self._child.stdout, self._child.stderr, self._child.stdin):
                if stream:
                    stream.close()
        finally:
            self.wait()

    def wait(self, timeout: float | None = None) -> Any:
        if self._child.returncode is not None:
            return self._child.returncode
        self._child.returncode = super().wait(timeout)
        return self._child.returncode


# --- All processes ----------------------------------------------------------------------------------

_pmap: dict[int, Process] = {}
# Attributes that _plain makes, and the metrics of each; those of others are read at once where several are asked.
_PLAIN: dict[str, tuple[str, ...]] = {
    "pid": (), "name": ("name", "kernel_flags"), "ppid": ("parent_pid",), "status": ("state",),
    "num_threads": ("threads",), "cpu_num": ("cpu",), "nice": ("nice",),
    "memory_info": ("resident_bytes", "virtual_bytes", "shared_bytes", "text_bytes", "data_bytes"),
    "cpu_times": ("cpu_user_seconds", "cpu_system_seconds", "children_user_seconds", "children_system_seconds",
                  "block_delay_seconds"),
}
_METRICS: dict[str, tuple[str, ...]] = {
    **_PLAIN,
    "memory_percent": _PLAIN["memory_info"], "memory_full_info": (
        *_PLAIN["memory_info"], "uss_bytes", "pss_bytes", "swapped_bytes"),
    "cpu_percent": ("cpu_user_seconds", "cpu_system_seconds"), "username": ("uid",),
    "uids": ("uid", "effective_uid", "saved_uid"), "gids": ("gid", "effective_gid", "saved_gid"),
    "cpu_affinity": ("cpus_allowed_list",), "ionice": ("io_class", "io_level"), "terminal": ("terminal",),
    "num_ctx_switches": ("voluntary_context_switches", "involuntary_context_switches"),
    "io_counters": ("read_calls", "write_calls", "read_bytes", "written_bytes", "call_read_bytes",
                    "call_written_bytes"),
    "exe": ("executable",), "cmdline": ("command_line", "state"), "cwd": ("working_directory",),
    "num_fds": ("descriptors",),
}


_METHODS = {name: getattr(Process, name) for name in _PLAIN}


@functools.lru_cache(maxsize=64)
def _plan_of(attrs: tuple[str, ...], waits: bool) -> tuple[tuple[str, ...], bool]:
    """What to read for attributes of one process, and whether _plain makes all of them of it."""
    names = dict.fromkeys(metric for name in attrs for metric in _METRICS.get(name, ()))
    if not waits:
        names.pop("block_delay_seconds", None)
    return tuple(names), bool(names) and all(name in _PLAIN for name in attrs)


def _filled(values: list[Any], missing: Any) -> list[Any]:
    return [missing if value is None else value for value in values] if None in values else values


_tuple: Any = tuple.__new__  # of a named tuple: half of what its own class takes

# What makes an attribute of its metrics, where it is not the only one of these as it is.
_MADE: dict[str, Callable[..., Any]] = {
    "memory_info": lambda rss, vms, shared, text, data: _tuple(_types.pmem, (rss, vms, shared, text, 0, data, 0)),
    "cpu_times": lambda *seconds: _tuple(_types.pcputimes, seconds),
    "status": lambda word: _STATUS.get(word, word),
}


def _plain(attribute: str, columns: dict[str, list[Any]], processes: list[Process]) -> list[Any]:
    """An attribute of all processes, of the columns of one snapshot."""
    if attribute == "pid":
        return columns["pid"]
    values = [columns[name] for name in _PLAIN[attribute]]
    if attribute == "name":
        return _whole_names(processes, *values)
    made = _MADE.get(attribute)
    if made is None:
        return values[0]
    return list(map(made, *(values if attribute == "status" else (_filled(column, 0) for column in values))))


_KERNEL_THREAD = 0x200000  # PF_KTHREAD of include/linux/sched.h


def _whole_names(processes: list[Process], names: list[Any], flags: list[Any]) -> list[Any]:
    """Names as Process.name() gives them: those that may be cut are read again. A kernel thread has no other name."""
    short = {process._pid: place for place, (process, name, flag) in enumerate(zip(processes, names, flags))
             if name and _may_be_cut(name) and not (flag or 0) & _KERNEL_THREAD}
    for pid, start, whole in _of_some(list(short), "start_seconds", "program_name") if short else ():
        if whole and start == processes[short[pid]]._start:
            names[short[pid]] = whole
    return names


@functools.lru_cache(maxsize=64)
def _process_request(names: tuple[str, ...]) -> Any:
    return request([f"process.{name}" for name in names])


def process_iter(attrs: Collection[str] | None = None, ad_value: Any = None) -> Iterator[Process]:
    """All processes, each the same object as long as it lives. With `attrs` each has them as a dictionary `info`:
    those that one snapshot has are read for all processes at once."""
    if attrs is not None:
        unknown = set(attrs) - _AS_DICT
        if unknown:
            raise ValueError(f"invalid attr name {', '.join(map(repr, sorted(unknown)))}")
    if attrs is None:
        yield from _iterate()
        return
    wanted = tuple(attrs or _AS_DICT)
    plain = tuple(name for name in wanted if name in _PLAIN)
    names = tuple(dict.fromkeys(["pid", "start_seconds", *_plan_of(plain, _waits_counted())[0]]))
    rest = [name for name in wanted if name not in _PLAIN]
    table = _of_all(names)
    columns: dict[str, list[Any]] = {name: table.values(name) for name in names}
    columns.setdefault("block_delay_seconds", [0.0] * len(table))
    pids = columns["pid"]
    processes = list(map(_known, pids, columns["start_seconds"]))
    for pid in _pmap.keys() - set(pids):
        _pmap.pop(pid, None)
    made = list(zip(*(_plain(name, columns, processes) for name in plain))) if plain else [()] * len(table)
    for place in sorted(range(len(pids)), key=pids.__getitem__):
        process = processes[place]
        process.info = dict(zip(plain, made[place]))  # type: ignore[attr-defined]
        if rest:
            try:
                process.info.update(process.as_dict(rest, ad_value))  # type: ignore[attr-defined]
            except NoSuchProcess:
                _pmap.pop(process._pid, None)
                continue
        yield process


def _known(pid: int, start: float | None) -> Process:
    process = _pmap.get(pid)
    if process is None or process._start != start:
        process = _pmap[pid] = Process._found(pid, start)
    return process


def _of_all(names: tuple[str, ...]) -> Table:
    """Metrics of all processes. Asked for the same ones again, a sampler that this thread keeps leaves files open."""
    last, sampler = getattr(_kept, "of_all", ((), None))
    if last != names:
        _kept.of_all = names, None
        return Snapshot(_core.create("vitals_snapshot", lib.vitals_snapshot_take_request,
                                     _core.default_context().pointer, _process_request(names))).process
    if sampler is None:
        sampler = vitals.Sampler(*(f"process.{name}" for name in names))
        _kept.of_all = names, sampler
    return sampler.take().process


_FEW = 16  # to take a snapshot costs as much as to open so many processes


def _of_some(pids: list[int], *names: str) -> list[list[Any]]:
    """Metrics of the processes with some pids that still exist, pid first: a row each."""
    if len(pids) > _FEW:
        table = vitals.snapshot(*(f"process.{name}" for name in ("pid", *names)), pids=pids, rows="listed").process
        return list(map(list, zip(*(table.values(name) for name in ("pid", *names)))))
    found: list[list[Any]] = []
    for pid in pids:
        try:
            found.append([pid, *vitals.Process(pid).read(*names)])
        except vitals.GoneError:
            pass
        except vitals.DeniedError:
            found.append([pid, *(None for _ in names)])
    return found


# The processes by their marks, and the list that they are of.
_alive: tuple[bytes, dict[int, Process]] = b"", {}


def _iterate() -> Iterable[Process]:
    """All processes. Only the start of one that was not in the last list is read."""
    global _alive
    last, before = _alive
    listed = _listed()
    if listed == last:
        return before.values()
    marks = _in_order(listed)
    alive: dict[int, Any] = dict(zip(marks, map(before.get, marks)))
    new = {mark >> 32: mark for mark in marks if mark not in before}
    if new or len(alive) < len(before):
        for mark in before.keys() - alive.keys():
            if mark >> 32 not in new:
                _pmap.pop(mark >> 32, None)
        starts = dict(_of_some(list(new), "start_seconds"))
        for pid, mark in new.items():
            if pid in starts:
                alive[mark] = _known(pid, starts[pid])
            else:  # it has ended meanwhile
                del alive[mark]
    _alive = listed, alive
    return alive.values()


def _forget_processes() -> None:
    global _alive
    _alive = b"", {}
    _pmap.clear()


process_iter.cache_clear = _forget_processes  # type: ignore[attr-defined]


def wait_procs(procs: Iterable[Process], timeout: float | None = None,
               callback: Callable[[Process], Any] | None = None) -> tuple[list[Process], list[Process]]:
    """Waits until all have ended, or the time is over: (gone, alive). Each that is gone has a `returncode`."""
    if timeout is not None and timeout < 0:
        raise ValueError(f"timeout must be a positive integer, got {timeout}")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback {callback!r} is not a callable")
    gone: list[Process] = []

    def ended(process: Process, code: Any) -> None:
        process.returncode = code  # type: ignore[attr-defined]
        gone.append(process)
        if callback is not None:
            callback(process)
    end = None if timeout is None else time.monotonic() + timeout
    waiting = list(set(procs))
    alive: list[Process] = []
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    most = max(16, limit // 8) if limit != RLIM_INFINITY else len(waiting)  # that are opened for it at a time
    while waiting:
        handles: dict[int, tuple[vitals.Process, Process]] = {}
        opened = 0
        while waiting and opened < most:
            process = waiting.pop()
            try:
                handle = process._handle
                handles[id(handle)] = handle, process
                opened += process._held is None
            except vitals.GoneError:
                ended(process, process._exit)
            except vitals.DeniedError:
                raise AccessDenied(process._pid, process._name) from None
        _, living = vitals.wait_several(
            [handle for handle, _ in handles.values()], end and max(0.0, end - time.monotonic()),
            lambda handle: ended(handles[id(handle)][1], handles[id(handle)][1].wait(0)), reap=False)
        alive += [handles[id(handle)][1] for handle in living]
    return gone, alive


def test() -> None:
    """Prints the processes, as ps aux."""
    os.execv(sys.executable, [sys.executable, "-m", "vitals", "ps"])


_first: dict[bool, list[Any]] = {}


def _remember() -> None:
    """psutil's first cpu_percent() is since its import."""
    taken = _take(*(f"host.{name}" for name in _HOST_TIMES), *(f"cpu.{name}" for name in _CPU_TIMES))
    _first[False], _first[True] = [_times(taken.host[0].read(*_HOST_TIMES))], list(
        map(_times, taken.cpu.rows(*_CPU_TIMES)))


_remember()

__all__ = sorted(["getloadavg", *(name for name in _WORDS if name.isupper()), *(
    name for name, value in globals().items() if not name.startswith("_") and name not in _FIELDS and
    not isinstance(value, type(os)) and getattr(value, "__module__", __name__) in (__name__, "psutil") and
    name not in ("REAP_SECONDS", "PROCFS_PATH", "POSIX", "test", "ffi", "lib", "annotations", "TYPE_CHECKING"))])


def __dir__() -> list[str]:
    """psutil's names, without the modules that are imported here."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("_"))})
