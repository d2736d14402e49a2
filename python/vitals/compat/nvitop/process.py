"""Processes: as the machine sees them, and as users of a device."""

from __future__ import annotations

import abc
import contextlib
import functools
import os
import threading
import time
import types
from weakref import WeakValueDictionary

from vitals import _core
from vitals._core import DeniedError, GoneError
from vitals._process import PROCESS
from vitals._snapshot import plan_of
from vitals.compat import psutil
from vitals.compat.nvitop import host
from vitals.compat.nvitop.utils import NA, UINT_MAX, Snapshot, bytes2human, timedelta2human

TYPE_CHECKING = False
if TYPE_CHECKING:
    import datetime
    from typing import Any, Callable, ClassVar, Iterable, Iterator

    from vitals.compat.nvitop.device import Device
    from vitals.compat.nvitop.utils import Int, NaType

__all__ = ["GpuProcess", "HostProcess", "command_join"]


# --- Command lines ----------------------------------------------------------------------------------

def add_quotes(s: str) -> str:
    """An argument as a shell reads it back, in double quotes where they do."""
    if s == "":
        return '""'
    if not set(s) & set("$\\\n"):
        if " " not in s:
            return s
        if '"' not in s:
            return f'"{s}"'
    if "'" not in s and "\n" not in s:
        return f"'{s}'"
    return '"' + s.translate({ord("\\"): r"\\", ord('"'): r"\"", ord("$"): r"\$", ord("\n"): r"\n"}) + '"'


def command_join(cmdline: list[str]) -> str:
    """A command line in one string. A single argument that is no file's path is a title that the process has set
    itself, and stays as it is."""
    if len(cmdline) == 1 and not (os.path.isabs(cmdline[0]) and os.path.isfile(cmdline[0])):
        return cmdline[0]
    return " ".join(map(add_quotes, cmdline))


# --- Of the machine ---------------------------------------------------------------------------------

_EVERYTHING = (
    "parent_pid", "name", "program_name", "executable", "command_line", "state", "working_directory", "terminal", "uid",
    "effective_uid", "saved_uid", "gid", "effective_gid", "saved_gid", "threads", "descriptors",
    "voluntary_context_switches", "involuntary_context_switches", "cpu_user_seconds", "cpu_system_seconds",
    "children_user_seconds", "children_system_seconds", "block_delay_seconds", "cpu", "cpus_allowed_list", "nice",
    "io_class", "io_level", "resident_bytes", "virtual_bytes", "shared_bytes", "text_bytes", "data_bytes",
    "uss_bytes", "pss_bytes", "swapped_bytes", "read_calls", "write_calls", "read_bytes", "written_bytes",
    "call_read_bytes", "call_written_bytes", "start_seconds", "host.boot_time_seconds",
    "thread.tid", "thread.cpu_user_seconds", "thread.cpu_system_seconds", "environment",
    *(f"descriptor.{name}" for name in psutil._OPEN_FILE), *(f"socket.{name}" for name in psutil._SOCKET),
)
_OWN_KEYS = ("command", "running_time", "running_time_human")


@functools.lru_cache(maxsize=8)
def _metrics_of(what: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the table process."""
    return tuple(name for name in what if _core.find_metric(PROCESS, name))


class _Recorded:
    """Stands for the handle of a process in its snapshot: every question has the answer of that moment. Only the
    mappings, which cost as much as all else, are read when they are looked at."""

    def __init__(self, handle: Any, what: tuple[str, ...]) -> None:
        self._handle, self._what = handle, what
        self._answer = handle.ask(*what)
        self._known: dict[str, Any] = {}
        self.is_running, self.start_seconds = handle.is_running, handle.start_seconds

    def ask(self, *what: str) -> Any:
        return self._handle.ask(*what) if what == ("mapped_file",) else self._answer

    def read_rows(self, table: str, *names: str) -> Any:
        rows = self._answer[table]
        if rows.state == "denied":
            raise DeniedError(f"the table {table}")
        if rows.state == "gone":
            raise GoneError(f"the table {table}")
        return rows.rows(*names)

    def environment(self) -> dict[str, str]:
        return {name: value for name, value in self.read_rows("environment", "name", "value")
                if name and value is not None}

    def read_available(self, names: tuple[str, ...]) -> Any:
        """All metrics are converted with the first one."""
        if not self._known:
            metrics = _metrics_of(self._what)
            read = plan_of(PROCESS, metrics).read(self._answer.process[0]._pointer)
            self._known.update(zip(metrics, zip(*read)))
        return zip(*[self._known.get(name, (None, 0)) for name in names])


class _Values:
    """The values of a process's snapshot, each made of the recorded answer when it is looked at."""

    def __init__(self, frozen: HostProcess, keys: tuple[str, ...], ad_value: Any) -> None:
        self._frozen, self._keys, self._ad_value = frozen, keys, ad_value

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __contains__(self, name: object) -> bool:
        return name in self._keys

    def get(self, name: str) -> Callable[[], Any] | None:
        return functools.partial(self._made, name) if name in self._keys else None

    def everything(self, made: dict[str, Any]) -> dict[str, Any]:
        """None at once: some cost a reading."""
        return {}

    def _made(self, name: str) -> Any:
        try:
            value = getattr(self._frozen, name)
            return value() if callable(value) else value
        except (host.AccessDenied, host.NoSuchProcess):
            return self._ad_value


class HostProcess(host.Process, abc.ABC):
    """psutil's Process with nvitop's methods. While a process lives there is one object of it."""

    INSTANCE_LOCK: ClassVar[Any] = threading.RLock()
    INSTANCES: ClassVar[WeakValueDictionary[int, HostProcess]] = WeakValueDictionary()

    def __new__(cls, pid: int | None = None) -> HostProcess:
        pid = os.getpid() if pid is None else pid
        with cls.INSTANCE_LOCK:
            found = cls.INSTANCES.get(pid)
            if found is not None and found.is_running():
                return found
            made = super().__new__(cls)
            host.Process._init(made, pid, True)
            with contextlib.suppress(host.PsutilError):
                host.Process.cpu_percent(made)
            cls.INSTANCES[pid] = made
            return made

    def __init__(self, pid: int | None = None) -> None:  # it was made whole, or is older
        pass

    _username: str | None = None
    _at: float | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}{super().__str__().partition(type(self).__name__)[2]}"

    __str__ = __repr__

    def __reduce__(self) -> Any:
        return type(self), (self.pid,)

    def username(self) -> str:
        """Of the real user id."""
        if self._username is None:
            self._username = super().username()
        return self._username

    def cmdline(self) -> list[str]:
        line = super().cmdline()
        while len(line) > 1 and line[-1] == "":
            line.pop()
        return line

    def command(self) -> str:
        """The command line in one string."""
        return command_join(self.cmdline())

    def running_time(self) -> datetime.timedelta:
        import datetime
        return datetime.timedelta(seconds=(time.time() if self._at is None else self._at) - self.create_time())

    def running_time_human(self) -> str:
        return timedelta2human(self.running_time())

    def running_time_in_seconds(self) -> float:
        return self.running_time().total_seconds()

    elapsed_time, elapsed_time_human = running_time, running_time_human
    elapsed_time_in_seconds = running_time_in_seconds

    def rss_memory(self) -> int:
        """Resident memory in bytes."""
        return int(self.memory_info().rss)

    def parent(self) -> HostProcess | None:
        found = super().parent()
        return None if found is None else HostProcess(found.pid)

    def parents(self) -> list[Any]:
        return [HostProcess(one.pid) for one in super().parents()]

    def children(self, recursive: bool = False) -> list[Any]:
        return [HostProcess(one.pid) for one in super().children(recursive)]

    def as_snapshot(self, attrs: Iterable[str] | None = None, ad_value: Any = None) -> Snapshot:
        """Everything of one moment (memory_maps: when it is looked at), or only `attrs`; `ad_value` where permission is
        missing."""
        if attrs is not None:
            with self.oneshot():
                return Snapshot(self, **self.as_dict(list(attrs), ad_value))
        return Snapshot._of(self, self._recorded((*_all_attributes(), *_OWN_KEYS), ad_value, _EVERYTHING))

    @psutil._translated
    def _recorded(self, keys: tuple[str, ...], ad_value: Any, what: tuple[str, ...]) -> Any:
        frozen = object.__new__(type(self))
        frozen.__dict__.update(self.__dict__)
        frozen._held = _Recorded(self._handle, what)  # type: ignore[assignment]
        frozen._pointer = _core.ffi.NULL  # nothing of it is asked of the kernel
        frozen._at, frozen._answer = time.time(), None
        percent = frozen.cpu_percent()  # of the time since the last question, so now
        frozen.cpu_percent = lambda interval=None: percent  # type: ignore[method-assign]
        self._last = frozen._last
        return _Values(frozen, keys, ad_value)


@functools.lru_cache(maxsize=1)
def _all_attributes() -> tuple[str, ...]:
    return tuple(sorted(psutil._AS_DICT))


# --- Of a device ------------------------------------------------------------------------------------

_safe = threading.local()
_RAISES = object()


def _or_else(fallback: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Within GpuProcess.failsafe() a process that is gone, or may not be looked at, has this value. An object of a
    process that is gone is forgotten."""
    def wrap(method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def wrapped(self: GpuProcess, *arguments: Any, **named: Any) -> Any:
            try:
                return method(self, *arguments, **named)
            except host.PsutilError as error:
                with GpuProcess.INSTANCE_LOCK:
                    GpuProcess.INSTANCES.pop((self.pid, self.device), None)
                with HostProcess.INSTANCE_LOCK:
                    HostProcess.INSTANCES.pop(self.pid, None)
                if fallback is _RAISES or not getattr(_safe, "on", False):
                    raise
                return fallback(error) if callable(fallback) else fallback
        return wrapped
    return wrap


_HOST_KEYS = ("is_running", "status", "username", "name", "cmdline", "command", "cpu_percent", "memory_percent",
              "host_memory", "host_memory_human", "running_time", "running_time_human", "running_time_in_seconds")
_GPU_KEYS = ("type", "gpu_instance_id", "compute_instance_id", "gpu_memory", "gpu_memory_human", "gpu_memory_percent",
             "gpu_sm_utilization", "gpu_memory_utilization", "gpu_encoder_utilization", "gpu_decoder_utilization")
_HOST_METRICS = ("name", "program_name", "command_line", "state", "uid", "cpu_user_seconds", "cpu_system_seconds",
                 "resident_bytes", "virtual_bytes", "shared_bytes", "text_bytes", "data_bytes", "start_seconds",
                 "host.boot_time_seconds")


class GpuProcess:
    """A process on a device: what the device tells of it, and the methods of its HostProcess. While it lives there is
    one object of a process on a device."""

    INSTANCE_LOCK: ClassVar[Any] = threading.RLock()
    INSTANCES: ClassVar[WeakValueDictionary[Any, GpuProcess]] = WeakValueDictionary()

    _pid: int
    _host: HostProcess
    _device: Device
    _username: str | None
    _type: str | NaType
    _gpu_memory: Int

    def __new__(cls, pid: int | None, device: Device, *, gpu_memory: Int | None = None,
                gpu_instance_id: Int | None = None, compute_instance_id: Int | None = None,
                type: str | NaType | None = None) -> GpuProcess:
        pid = os.getpid() if pid is None else pid
        with cls.INSTANCE_LOCK:
            found = cls.INSTANCES.get((pid, device))
            if found is not None and found.is_running():
                return found
            made = super().__new__(cls)
            made._pid, made._device, made._username = pid, device, None
            made._host = HostProcess(pid)
            made._ident = (*made._host._ident, device.index)
            made._gpu_memory = made._type = NA
            made._gpu_memory_human = made._gpu_memory_percent = NA
            made._gpu_instance_id = made._compute_instance_id = NA
            made.set_gpu_utilization(NA, NA, NA, NA)
            cls.INSTANCES[pid, device] = made
            return made

    _ident: tuple[Any, ...]
    _gpu_memory_human: str
    _gpu_memory_percent: float | NaType
    _gpu_instance_id: Int
    _compute_instance_id: Int
    _gpu_sm_utilization: Int
    _gpu_memory_utilization: Int
    _gpu_encoder_utilization: Int
    _gpu_decoder_utilization: Int

    def __init__(self, pid: int | None, device: Device, *, gpu_memory: Int | None = None,
                 gpu_instance_id: Int | None = None, compute_instance_id: Int | None = None,
                 type: str | NaType | None = None) -> None:
        if gpu_memory is not None:
            self.set_gpu_memory(gpu_memory)
        if type is not None:
            self.type = type
        if gpu_instance_id is None or compute_instance_id is None:
            of_part: Any = device if device.is_mig_device() else None
            gpu_instance_id = of_part.gpu_instance_id() if of_part else NA
            compute_instance_id = of_part.compute_instance_id() if of_part else NA
        self._gpu_instance_id = NA if gpu_instance_id == UINT_MAX else gpu_instance_id
        self._compute_instance_id = NA if compute_instance_id == UINT_MAX else compute_instance_id

    def __repr__(self) -> str:
        return (f"{self.__class__.__name__}(pid={self.pid}, gpu_memory={self.gpu_memory_human()}, type={self.type}, "
                f"device={self.device}, host={self.host})")

    def __eq__(self, other: object) -> bool:
        return self._ident == other._ident if isinstance(other, (GpuProcess, host.Process)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._ident)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{self.__class__.__name__!r} object has no attribute {name!r}")
        value = getattr(self.host, name)
        if isinstance(value, types.MethodType):
            method = value
            wrapped = _or_else(_RAISES)(lambda _, *arguments, **named: method(*arguments, **named))
            return functools.partial(wrapped, self)
        return value

    @property
    def pid(self) -> int:
        return self._pid

    @property
    def host(self) -> HostProcess:
        return self._host

    @property
    def device(self) -> Device:
        return self._device

    @property
    def type(self) -> str | NaType:
        """C, G or C+G: it computes, draws, or does both."""
        return self._type

    @type.setter
    def type(self, value: str | NaType) -> None:
        kinds = [kind for kind in "CG" if kind in value and value is not NA]
        self._type = "+".join(kinds) if kinds else NA

    # --- what the device tells ---

    def gpu_instance_id(self) -> Int:
        return self._gpu_instance_id

    def compute_instance_id(self) -> Int:
        return self._compute_instance_id

    def gpu_memory(self) -> Int:
        """In bytes."""
        return self._gpu_memory

    def gpu_memory_human(self) -> str | NaType:
        return self._gpu_memory_human

    def gpu_memory_percent(self) -> float | NaType:
        return self._gpu_memory_percent

    def gpu_sm_utilization(self) -> Int:
        """In percent."""
        return self._gpu_sm_utilization

    def gpu_memory_utilization(self) -> Int:
        return self._gpu_memory_utilization

    def gpu_encoder_utilization(self) -> Int:
        return self._gpu_encoder_utilization

    def gpu_decoder_utilization(self) -> Int:
        return self._gpu_decoder_utilization

    def set_gpu_memory(self, value: Int) -> None:
        self._gpu_memory, self._gpu_memory_human = value, bytes2human(value)
        total = self.device.memory_total()
        known = isinstance(value, int) and isinstance(total, int) and total > 0
        self._gpu_memory_percent = round(100.0 * value / total, 1) if known else NA

    def set_gpu_utilization(self, gpu_sm_utilization: Int | None = None, gpu_memory_utilization: Int | None = None,
                            gpu_encoder_utilization: Int | None = None,
                            gpu_decoder_utilization: Int | None = None) -> None:
        """Sets those that are given."""
        for name, value in (("sm", gpu_sm_utilization), ("memory", gpu_memory_utilization),
                            ("encoder", gpu_encoder_utilization), ("decoder", gpu_decoder_utilization)):
            if value is not None:
                setattr(self, f"_gpu_{name}_utilization", value)

    def update_gpu_status(self) -> Int:
        """Reads all of that anew; NA where it is no longer on the device. Returns its memory."""
        self.set_gpu_memory(NA)
        self.set_gpu_utilization(NA, NA, NA, NA)
        now = self.device.processes().get(self.pid, self)
        if now is not self:
            self.set_gpu_memory(now.gpu_memory())
            self.set_gpu_utilization(now.gpu_sm_utilization(), now.gpu_memory_utilization(),
                                     now.gpu_encoder_utilization(), now.gpu_decoder_utilization())
        return self.gpu_memory()

    # --- what the machine tells ---

    @_or_else(False)
    def is_running(self) -> Any:
        return self.host.is_running()

    @_or_else("terminated")
    def status(self) -> Any:
        return self.host.status()

    @_or_else(NA)
    def create_time(self) -> Any:
        return self.host.create_time()

    @_or_else(NA)
    def running_time(self) -> Any:
        return self.host.running_time()

    def running_time_human(self) -> str | NaType:
        return timedelta2human(self.running_time())

    def running_time_in_seconds(self) -> float | NaType:
        elapsed = self.running_time()
        return NA if elapsed is NA else elapsed.total_seconds()  # type: ignore[no-any-return]

    elapsed_time, elapsed_time_human = running_time, running_time_human
    elapsed_time_in_seconds = running_time_in_seconds

    @_or_else(NA)
    def username(self) -> Any:
        if self._username is None:
            self._username = self.host.username()
        return self._username

    @_or_else(NA)
    def name(self) -> Any:
        return self.host.name()

    @_or_else(NA)
    def cpu_percent(self) -> Any:
        return self.host.cpu_percent()

    @_or_else(NA)
    def memory_percent(self) -> Any:
        """Resident memory in percent of the machine's."""
        return self.host.memory_percent()

    host_memory_percent = memory_percent

    @_or_else(NA)
    def host_memory(self) -> Any:
        """Resident memory in bytes."""
        return self.host.rss_memory()

    def host_memory_human(self) -> str | NaType:
        return bytes2human(self.host_memory())

    rss_memory = host_memory

    @_or_else(lambda error: ["No Permissions" if isinstance(error, host.AccessDenied) else "No Such Process"])
    def cmdline(self) -> Any:
        return self.host.cmdline() or ["Zombie Process"]

    def command(self) -> str:
        return command_join(self.cmdline())

    # --- snapshots ---

    @_or_else(_RAISES)
    def host_snapshot(self) -> Any:
        """What the machine tells, of one moment."""
        return self._of_host(self)

    @staticmethod
    def _of_host(process: GpuProcess) -> Snapshot:
        at_once = copy_with_host(process)
        return Snapshot(process.host, **{key: getattr(at_once, key)() for key in _HOST_KEYS})

    @_or_else(_RAISES)
    def as_snapshot(self, *, host_process_snapshot_cache: dict[int, Snapshot] | None = None) -> Any:
        """What the machine and the device tell of it, of one moment."""
        cache = {} if host_process_snapshot_cache is None else host_process_snapshot_cache
        if self.pid not in cache:
            cache[self.pid] = self.host_snapshot()
        of_host = cache[self.pid]
        values = {key: getattr(self, key) for key in _GPU_KEYS}
        return Snapshot(self, pid=self.pid, host=of_host, **{key: of_host[key] for key in _HOST_KEYS},
                        device=self.device,
                        **{key: value() if callable(value) else value for key, value in values.items()})

    @classmethod
    def take_snapshots(cls, gpu_processes: Iterable[GpuProcess], *, failsafe: bool = False) -> list[Snapshot]:
        """Snapshots of several; with `failsafe` those that are gone have fallback values."""
        cache: dict[int, Snapshot] = {}
        with cls.failsafe() if failsafe else contextlib.nullcontext():
            return [process.as_snapshot(host_process_snapshot_cache=cache) for process in gpu_processes]

    @classmethod
    @contextlib.contextmanager
    def failsafe(cls) -> Iterator[None]:
        """Within, a method that fails returns a fallback value and raises nothing."""
        before = getattr(_safe, "on", False)
        _safe.on = True
        try:
            yield
        finally:
            _safe.on = before


HostProcess.register(GpuProcess)


def _after_fork() -> None:
    """A lock that another thread of the parent held would stay locked."""
    HostProcess.INSTANCE_LOCK, GpuProcess.INSTANCE_LOCK = threading.RLock(), threading.RLock()


os.register_at_fork(after_in_child=_after_fork)


def copy_with_host(process: GpuProcess) -> GpuProcess:
    """The process with what the machine tells of it read once; itself where it is gone."""
    made = object.__new__(type(process))
    made.__dict__.update(process.__dict__)
    try:
        made._host = process.host._recorded((), None, _HOST_METRICS)._frozen
    except host.PsutilError:
        return process
    return made
