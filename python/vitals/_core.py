"""The bridge to the C libraries: errors, text, owned pointers, the context of the process.

Nothing is measured here. Each object of the library that Python owns is freed with the last reference
to it, but never in a process that was forked after it was made: there its threads do not exist.
"""

from __future__ import annotations

import errno
import os

from vitals._native import ffi, lib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterator

    Pointer = Any  # cffi's cdata has no types of its own
else:
    Pointer = None

__all__ = ["ffi", "lib"]


class VitalsError(Exception):
    """Why a call failed: `code` is the library's word for it, `detail` an errno or a driver's number."""

    code = "unknown"

    def __init__(self, message: str, code: str | None = None, detail: int = 0) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code
        self.detail = detail


class ArgumentError(VitalsError, ValueError):
    """An argument is invalid."""

    code = "argument"


class GoneError(VitalsError, ProcessLookupError):
    """The process or the device does not exist, or no longer."""

    code = "gone"


class DeniedError(VitalsError, PermissionError):
    """Permission is missing."""

    code = "denied"


class UnsupportedError(VitalsError, NotImplementedError):
    """Not possible on this machine, or in this build."""

    code = "unsupported"


class FormatError(VitalsError, ValueError):
    """The input has not the expected format."""

    code = "format"


class TimedOutError(VitalsError, TimeoutError):
    """The time given is over."""

    code = "timeout"


class SystemCallError(VitalsError, OSError):
    """The operating system refused; `errno` is why."""

    code = "system"


ERRORS: dict[int, type[VitalsError]] = {
    lib.VITALS_EARGUMENT: ArgumentError,
    lib.VITALS_ESYSTEM: SystemCallError,
    lib.VITALS_EGONE: GoneError,
    lib.VITALS_EDENIED: DeniedError,
    lib.VITALS_EUNSUPPORTED: UnsupportedError,
    lib.VITALS_EFORMAT: FormatError,
    lib.VITALS_ETIMEOUT: TimedOutError,
}


def failure(code: int, message: str, detail: int = 0) -> Exception:
    """The exception for a negative result of the library."""
    if code == lib.VITALS_EMEMORY:
        return MemoryError(message)
    made = ERRORS.get(code, VitalsError)(message, string(lib.vitals_code_name(code)), detail)
    if isinstance(made, OSError):
        made.errno = detail or {"gone": errno.ESRCH, "denied": errno.EACCES, "timeout": errno.ETIMEDOUT}.get(made.code)
    return made


def check(result: int, error: Pointer) -> int:
    """Returns a result that is no error; raises the exception of one that is."""
    if result < 0:
        raise failure(result, string(error.message), error.detail)
    return result


_ERROR = ffi.typeof("vitals_error *")
_outs: dict[str, Any] = {}


def call(function: Callable[..., int], *arguments: Any) -> int:
    """Calls a function whose last parameter is the error."""
    error = ffi.new(_ERROR)
    result = function(*arguments, error)
    return result if result >= 0 else check(result, error)


def create(kind: str, function: Callable[..., int], *arguments: Any) -> Pointer:
    """Calls a function that gives an object through its last parameter but one."""
    out = ffi.new(_outs.get(kind) or _outs.setdefault(kind, ffi.typeof(f"{kind} **")))
    call(function, *arguments, out)
    return out[0]


def owned(pointer: Pointer, free: Callable[[Pointer], Any], *keep: object) -> Pointer:
    """The pointer, freed with its last reference; `keep` lives at least as long."""
    maker = os.getpid()

    # As defaults: when the interpreter ends, the names of this module may be gone before the last object.
    def release(freed: Pointer, keep: tuple[object, ...] = keep, getpid: Callable[[], int] = os.getpid) -> None:
        if getpid() == maker:
            free(freed)

    return ffi.gc(pointer, release)


def string(pointer: Pointer) -> str:
    """A C string of the library's own, or "" for NULL."""
    if not pointer:
        return ""
    raw: bytes = ffi.string(pointer)
    return raw.decode("utf-8", "surrogateescape")


def text(value: Pointer) -> str:
    """A text from outside, as bytes that are no UTF-8 come back from os.fsdecode."""
    return bytes(ffi.buffer(value.bytes, value.size)).decode("utf-8", "surrogateescape")


def encode(value: str | os.PathLike[str]) -> bytes:
    """A string as the library wants it. Raises ValueError for one with a NUL in it."""
    raw = os.fsencode(value)
    if b"\0" in raw:
        raise ArgumentError("a string with a NUL character in it")
    return raw


def strings(values: Any) -> tuple[Pointer, list[Pointer]]:
    """A NULL-terminated array of strings, and what must live as long as it."""
    kept = [ffi.new("char[]", encode(value)) for value in values]
    return ffi.new("char *[]", [*kept, ffi.NULL]), kept


# --- What the library writes, piece by piece --------------------------------------------------------

def _collect(data: Pointer, piece: Pointer, size: int) -> int:
    ffi.from_handle(data).append(bytes(ffi.buffer(piece, size)))
    return 0


ffi.def_extern(name="vitals_python_write", error=-1)(_collect)


def written(function: Callable[..., int], *arguments: Any) -> str:
    """What a function gives to its vitals_write_fn, which stands after these arguments."""
    pieces: list[bytes] = []
    handle = ffi.new_handle(pieces)
    call(function, *arguments, lib.vitals_python_write, handle)
    return b"".join(pieces).decode("utf-8", "replace")


# --- The catalogue: names of tables and metrics -----------------------------------------------------

SETS = {
    "machine": lib.VITALS_SET_MACHINE,
    "gpus": lib.VITALS_SET_GPUS,
    "processes": lib.VITALS_SET_PROCESSES,
    "sources": lib.VITALS_SET_SOURCES,
    "filesystems": lib.VITALS_SET_FILESYSTEMS,
    "sensors": lib.VITALS_SET_SENSORS,
}

_tables: dict[str, int] = {}
_numbers: dict[tuple[int, str], int] = {}
_types: dict[int, int] = {}
_columns: dict[int, dict[str, int]] = {}


def tables() -> dict[str, int]:
    """Each table by its name."""
    if not _tables:
        table = lib.vitals_table_next(0)
        while table:
            _tables[string(lib.vitals_table_name(table))] = table
            table = lib.vitals_table_next(table)
    return _tables


def table_number(name: str) -> int:
    """The table with a name. Raises ArgumentError."""
    try:
        return tables()[name]
    except KeyError:
        raise ArgumentError(f'no table is called "{name}"') from None


def columns(table: int) -> dict[str, int]:
    """The metrics of a table by name."""
    if table not in _columns:
        made = {}
        metric = lib.vitals_metric_next(0)
        while metric:
            if lib.vitals_metric_table(metric) == table:
                made[string(lib.vitals_metric_name(metric))] = metric
            metric = lib.vitals_metric_next(metric)
        _columns[table] = made  # whole: other threads may come between
    return _columns[table]


def metric_type(metric: int) -> int:
    """VITALS_U64, I64, F64 or TEXT."""
    kind = _types.get(metric)
    if kind is None:
        kind = _types[metric] = lib.vitals_metric_type(metric)
    return kind


def find_metric(table: int, name: str) -> int:
    """The metric of a table with a name, without making the list of all; 0 if there is none."""
    number = _numbers.get((table, name))
    if number is None:
        number = lib.vitals_metric_find(table, encode(name))
        if number:
            _numbers[table, name] = number
    return number


def metric_number(table: int, name: str) -> int:
    """The same. Raises ArgumentError if there is none."""
    number = find_metric(table, name)
    if number == 0:
        raise ArgumentError(f'the table {string(lib.vitals_table_name(table))} has no metric '
                            f'"{name}"')
    return number


def metric_of(path: str) -> int:
    """The metric "table.name". Raises ArgumentError."""
    table, _, name = path.partition(".")
    return metric_number(table_number(table), name)


def each(step: Callable[..., Any], *fixed: Any) -> Iterator[Pointer]:
    """What a function `next(object…, previous)` gives, from the first to the last."""
    item = step(*fixed, ffi.NULL)
    while item:
        yield item
        item = step(*fixed, item)


# --- The context ------------------------------------------------------------------------------------

def _descriptor_limit() -> int:
    import resource
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 2**64 if limit == resource.RLIM_INFINITY else limit


class Context:
    """Where /proc, /sys and /dev are, which device back ends there are, and the limits.

    `backends`: a list of back ends, as in "nvidia,amd"; "" for none. `demo`: a scenario of simulated
    devices, as in "default". `max_descriptors`: how many files a sampler keeps open; 0 is an eighth of the
    limit. `bpf`: whether a sampler may load a BPF program. A context may be used from any thread.
    """

    def __init__(self, *, proc_root: str | None = None, sys_root: str | None = None, dev_root: str | None = None,
                 backends: str | None = None, demo: str | None = None, seed: int = 0, nvml_path: str | None = None,
                 max_descriptors: int = 0, bpf: bool = False) -> None:
        options = ffi.new("vitals_options *")
        lib.vitals_options_init(options, ffi.sizeof("vitals_options"))
        if demo is not None and backends is None:
            backends = "demo"
        kept = []
        for name, value in (("proc_root", proc_root), ("sys_root", sys_root), ("dev_root", dev_root),
                            ("backends", backends), ("demo", demo), ("nvml_path", nvml_path)):
            if value is not None:
                kept.append(ffi.new("char[]", encode(value)))
                setattr(options, name, kept[-1])
        options.seed, options.bpf = seed, bpf
        options.max_descriptors = max_descriptors or min(_descriptor_limit() // 8, 2**32 - 1)
        self._options, self._kept = options, kept
        self.pointer = owned(create("vitals_context", lib.vitals_context_new, options), lib.vitals_context_free, kept)

    @property
    def options(self) -> Pointer:
        """For runs, which make a context of their own."""
        return self._options


_default: Context | None = None


def default_context() -> Context:
    """The context that calls without one use: real devices, all defaults."""
    global _default
    if _default is None:
        _default = Context()
    return _default


def _forget() -> None:
    global _default
    _default = None


os.register_at_fork(after_in_child=_forget)
