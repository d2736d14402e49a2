"""One living process: everything that can be known of it, waiting for it, signalling and changing it."""

from __future__ import annotations

import functools
import os

from vitals import _core
from vitals._core import ArgumentError, Context, GoneError, Pointer, TimedOutError, ffi, lib
from vitals._snapshot import (_ANSWER, _ROOM, Plan, Row, Snapshot, Value, _new, nanoseconds, plan_of, request, rows_of,
                              written)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable

RELATIONS = {
    "parent": lib.VITALS_PARENT,
    "ancestors": lib.VITALS_ANCESTORS,
    "children": lib.VITALS_CHILDREN,
    "descendants": lib.VITALS_DESCENDANTS,
}


PROCESS = lib.VITALS_TABLE_PROCESS
_OUT, _ERROR = ffi.typeof("vitals_snapshot **"), ffi.typeof("vitals_error *")


class Process:
    """The process that has a pid now (without one: this process). If it ends, its pid may be given to
    another process, but every call here is about the first one or raises GoneError.

    `process["resident_bytes"]` reads one metric; `process.ask("name", "threads", "environment")`
    reads several at one moment. A value that cannot be read is None.
    """

    def __init__(self, pid: int | None = None, *, context: Context | None = None) -> None:
        self._context = context or _core.default_context()
        pid = os.getpid() if pid is None else pid
        self._own(_core.create("vitals_process", lib.vitals_process_open, self._context.pointer, pid))

    def _own(self, pointer: Pointer) -> None:
        self.pointer = ffi.gc(pointer, lib.vitals_process_close)  # memory and descriptors: also in a forked process

    @classmethod
    def of(cls, row: Row, *, context: Context | None = None) -> Process:
        """The process of a row of the table process. Raises GoneError if it has ended, also if
        another process has its pid now."""
        made = cls.__new__(cls)
        made._context = context or _core.default_context()
        made._own(_core.create("vitals_process", lib.vitals_process_of, made._context.pointer, row._pointer))
        return made

    @property
    def pid(self) -> int:
        return int(lib.vitals_process_pid(self.pointer))

    @property
    def start_seconds(self) -> float:
        """When it started, in seconds since boot."""
        return float(lib.vitals_process_start_seconds(self.pointer))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Process) and (self.pid, self.start_seconds) == (other.pid, other.start_seconds)

    def __hash__(self) -> int:
        return hash((self.pid, self.start_seconds))

    def __repr__(self) -> str:
        try:
            return f"<process {self.pid} {self['name']!r}>"
        except GoneError:
            return f"<process {self.pid}, ended>"

    @property
    def descriptor(self) -> int:
        """Its pidfd, which stays the handle's; -1 where there is none."""
        return int(lib.vitals_process_descriptor(self.pointer))

    def is_running(self) -> bool:
        """True while it exists, also as a zombie that nothing has waited for."""
        return bool(lib.vitals_process_is_running(self.pointer))

    # --- asking ---

    def ask(self, *what: str) -> Snapshot:
        """Reads metrics of the table process and whole tables of its own (thread, descriptor, mapping,
        mapped_file, environment, limit, socket), each file once, at one moment."""
        out, error = ffi.new(_OUT), ffi.new(_ERROR)
        result = lib.vitals_process_ask(self.pointer, wanted(what), out, error)
        if result < 0:
            _core.check(result, error)
        return Snapshot(out[0])

    def read(self, *names: str) -> list[Value]:
        """Several metrics of the table process at one moment, in their order: what costs least where they are
        read again and again."""
        return self.read_available(names)[0]

    def read_available(self, names: tuple[str, ...]) -> tuple[list[Value], bytes]:
        """The same, and the availability of each as an unsigned byte: below 128 there is a value. For other modules
        of this package."""
        asked, plan, _ = _plans.get(names) or _plan(names)
        answer = _new(_ANSWER)
        size = lib.vitals_python_ask(self.pointer, asked, answer)
        return _told(size, answer, plan)

    def read_rows(self, table: str, *names: str) -> list[list[Value]]:
        """Some columns of a table of its own (thread, descriptor, mapping, environment, limit, socket) as a list of
        rows: what costs least where that table alone is wanted."""
        return rows_of(self.pointer, table, names, self._context)

    def environment(self) -> dict[str, str]:
        """What it was given as its environment when its program began. Of a name that stands there twice the last."""
        answer = _new(_ANSWER)
        raw = written(lib.vitals_python_environment(self.pointer, answer), answer)
        words = raw.decode("utf-8", "surrogateescape").split("\0")
        return dict(zip(words[::2], words[1::2]))

    def __getitem__(self, name: str) -> Value:
        return self.read(name)[0]

    def row(self, *names: str) -> Row:
        """Several metrics at one moment."""
        taken = self.ask(*names)
        return Row(taken, PROCESS, lib.vitals_snapshot_row(taken.pointer, PROCESS, 0))

    def as_dict(self, *names: str) -> dict[str, Value]:
        """Metrics by name; without a name all that cost little."""
        return self.ask(*(names or ("process",))).process[0].as_dict()

    def relatives(self, relation: str, *what: str) -> Snapshot:
        """Reads metrics of its "parent", "ancestors" (nearest first), "children" or "descendants"."""
        if relation not in RELATIONS:
            raise ArgumentError(f'"{relation}" is none of {", ".join(RELATIONS)}')
        return Snapshot(_core.create("vitals_snapshot", lib.vitals_process_relatives, self.pointer,
                                     RELATIONS[relation], wanted(what) if what else ffi.NULL))

    def _processes(self, relation: str) -> list[Process]:
        found = []
        for row in self.relatives(relation).process:
            try:
                found.append(Process.of(row, context=self._context))
            except GoneError:
                pass
        return found

    def parent(self) -> Process | None:
        """The process that started it, or adopted it."""
        return next(iter(self._processes("parent")), None)

    def ancestors(self) -> list[Process]:
        return self._processes("ancestors")

    def children(self) -> list[Process]:
        return self._processes("children")

    def descendants(self) -> list[Process]:
        return self._processes("descendants")

    # --- signalling and waiting ---

    def signal(self, number: int) -> None:
        """Sends a signal to this process, and never to another one that has its pid."""
        _core.call(lib.vitals_process_signal, self.pointer, int(number))

    def wait(self, timeout: float | None = None, *, reap: bool = True) -> int | None:
        """Waits until it has ended, and returns its exit code, the negative number of the signal that
        ended it, or None if the kernel does not tell. reap=False leaves a child of ours to whatever
        started it. Raises TimedOutError."""
        wait = lib.vitals_process_wait if reap else lib.vitals_process_wait_unreaped
        sliced(lambda slice_ns: _core.call(wait, self.pointer, slice_ns), timeout)
        return self.exit_status()

    def exit_status(self) -> int | None:
        """As `wait` returns it, once a wait has seen its end."""
        code, number = ffi.new("int *"), ffi.new("int *")
        if lib.vitals_process_exit_status(self.pointer, code, number) <= 0:
            return None
        return -number[0] if number[0] else int(code[0])

    # --- changing ---

    def set_nice(self, nice: int) -> None:
        _core.call(lib.vitals_process_set_nice, self.pointer, nice)

    def set_io_priority(self, io_class: str, level: int = 0) -> None:
        """io_class: "none", "realtime", "best_effort" or "idle"; level: 0 (first) to 7."""
        kept = ffi.new("char[]", _core.encode(io_class))
        number = lib.vitals_io_class_find(lib.vitals_text_of(kept))
        if number < 0:
            raise ArgumentError(f'no I/O class is called "{io_class}"')
        _core.call(lib.vitals_process_set_io_priority, self.pointer, number, level)

    def set_affinity(self, cpus: Iterable[int] = ()) -> None:
        """The CPUs that it may run on; none: all that it may have."""
        listed = list(cpus)
        if any(not 0 <= cpu < 1 << 32 for cpu in listed):
            raise ArgumentError(f"{listed} is no list of CPUs")
        _core.call(lib.vitals_process_set_affinity, self.pointer, ffi.new("unsigned[]", listed), len(listed))

    def thread(self, tid: int) -> Process:
        """A handle on one of its threads, by its tid in the table thread, to change that one: set_nice,
        set_io_priority, set_affinity."""
        made = Process.__new__(Process)
        made._context = self._context
        made._own(_core.create("vitals_process", lib.vitals_process_thread, self.pointer, tid))
        return made

    def set_limit(self, name: str, soft: int | None, hard: int | None) -> None:
        """A resource limit by its name in the table limit: "nofile". None: unlimited."""
        unlimited = 2**64 - 1
        _core.call(lib.vitals_process_set_limit, self.pointer, _core.encode(name),
                   unlimited if soft is None else soft, unlimited if hard is None else hard)


def _told(size: int, answer: Pointer, plan: Plan) -> tuple[list[Value], bytes]:
    if size < 0:
        _core.check(size, answer.error)
    if size <= _ROOM:
        values, states, _ = plan.values(ffi.unpack(answer.bytes, size))
        return values, states
    taken = Snapshot(answer.answer)
    return plan.read(lib.vitals_snapshot_row(taken.pointer, PROCESS, 0))


def read_once(pid: int, start_seconds: float, names: tuple[str, ...]) -> tuple[list[Value], bytes]:
    """As read_available of the process that has a pid, if it started then: where it is asked once, this costs less than
    a handle. For other modules of this package."""
    asked, plan, _ = _plans.get(names) or _plan(names)
    answer = _new(_ANSWER)
    context = _core.default_context().pointer
    return _told(lib.vitals_python_ask_once(context, pid, start_seconds, asked, answer), answer, plan)


_plans: dict[tuple[str, ...], tuple[Pointer, Plan, Pointer]] = {}


def _plan(names: tuple[str, ...]) -> tuple[Pointer, Plan, Pointer]:
    """What vitals_python_ask is told to read, what reads its answer, and what both need."""
    if len(_plans) >= 256:
        _plans.clear()
    plan, what = plan_of(PROCESS, names), wanted(names)
    made = _plans[names] = ffi.new("vitals_python_plan *", (what, plan.metrics, plan.count)), plan, what
    return made


@functools.lru_cache(maxsize=256)
def wanted(what: tuple[str, ...]) -> Pointer:
    """A request by names of metrics of the table process ("name" is "process.name") and of tables."""
    return request([f"process.{word}" if _core.find_metric(PROCESS, word) or
                    word not in _core.tables() and "." not in word else word for word in what])


# A signal handler of Python runs only between two calls.
SLICE = 0.5


def sliced(wait: Callable[[int], Any], timeout: float | None) -> Any:
    """Waits in slices, so that an interrupt is seen. `wait` raises TimedOutError after each one."""
    import time
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        left = SLICE if end is None else min(SLICE, max(0.0, end - time.monotonic()))
        try:
            return wait(nanoseconds(left))
        except TimedOutError:
            if end is not None and time.monotonic() >= end:
                raise


def wait_several(processes: Iterable[Process], timeout: float | None = None,
                 callback: Callable[[Process], Any] | None = None, *,
                 reap: bool = True) -> tuple[list[Process], list[Process]]:
    """Waits until all have ended or the time is over: (ended, alive). `callback` is called for each
    one as it ends."""
    import time
    waiting, ended = list(processes), []
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        gone: list[Process] = []
        handle = ffi.new_handle((waiting, gone))
        how = ffi.new("vitals_wait *")
        lib.vitals_wait_init(how, ffi.sizeof("vitals_wait"))
        left = SLICE if end is None else min(SLICE, max(0.0, end - time.monotonic()))
        how.timeout_ns, how.ended, how.data = nanoseconds(left), lib.vitals_python_ended, handle
        how.flags = 0 if reap else lib.VITALS_WAIT_UNREAPED
        pointers = ffi.new("vitals_process *[]", [process.pointer for process in waiting])
        _core.call(lib.vitals_process_wait_several, pointers, len(waiting), how, ffi.NULL)
        for process in gone:
            if callback is not None:
                callback(process)
        ended += gone
        waiting = [process for process in waiting if not any(process is one for one in gone)]
        if not waiting or (end is not None and time.monotonic() >= end):
            return ended, waiting


def _ended(data: Pointer, pointer: Pointer) -> int:
    waiting, gone = ffi.from_handle(data)
    gone.extend(process for process in waiting
                if process.pointer == pointer and not any(process is one for one in gone))
    return 0


ffi.def_extern(name="vitals_python_ended", error=0)(_ended)
