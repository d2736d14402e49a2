"""Requests, snapshots and samplers: what the machine, its devices and its processes do at one moment."""

from __future__ import annotations

import os

from vitals import _core
from vitals._core import ArgumentError, Context, Pointer, VitalsError, ffi, lib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable, Iterator, Sequence, Union

    import numpy
    import pandas
    import polars

    Value = Union[int, float, str, None]
else:
    Value = None

ROWS = {
    "all": lib.VITALS_ROWS_ALL,
    "gpu_users": lib.VITALS_ROWS_GPU_USERS,
    "listed": lib.VITALS_ROWS_LISTED,
    "descendants": lib.VITALS_ROWS_DESCENDANTS,
    "tree": lib.VITALS_ROWS_TREE,
}


def request(what: Iterable[str], *, pids: Sequence[int] | None = None, rows: str | None = None,
            interval: float | None = None, every: dict[str, float] | None = None) -> Pointer:
    """Makes a request.

    `what` names sets ("machine", "gpus", "processes", "sources", "filesystems", "sensors"), tables
    ("gpu"; "gpu.*" also adds those metrics that a request must name), and metrics ("process.name").
    `pids` narrows the processes: rows="tree" (the default: these and all that descends from them),
    "listed", or "descendants"; without pids "all" or "gpu_users". `every` sets the seconds between
    readings of single metrics.
    """
    words = [what] if isinstance(what, str) else list(what)
    sets = 0
    for word in words:
        sets |= _core.SETS.get(word, 0)
    made = _core.owned(_core.create("vitals_request", lib.vitals_request_new, sets), lib.vitals_request_free)
    for word in words:
        if word in _core.SETS:
            continue
        table, _, name = word.partition(".")
        number = _core.table_number(table)
        if name == "":
            _core.call(lib.vitals_request_add_table, made, number)
        elif name == "*":
            _core.call(lib.vitals_request_add_all, made, number)
        else:
            _core.call(lib.vitals_request_add, made, _core.metric_number(number, name))
    if rows is not None and rows not in ROWS:
        raise ArgumentError(f'rows: "{rows}" is none of {", ".join(ROWS)}')
    if pids is not None:
        chosen = list(pids)
        _core.call(lib.vitals_request_set_rows, made, ROWS[rows or "tree"], ffi.new("int64_t[]", chosen), len(chosen))
    elif rows is not None:
        _core.call(lib.vitals_request_set_rows, made, ROWS[rows], ffi.NULL, 0)
    if interval is not None:
        _core.call(lib.vitals_request_set_interval, made, nanoseconds(interval))
    for word, seconds in (every or {}).items():
        _core.call(lib.vitals_request_set_every, made, _core.metric_of(word), nanoseconds(seconds))
    return made


def nanoseconds(seconds: float) -> int:
    """Seconds as the library counts them. Raises ArgumentError for what is negative or not finite."""
    if not 0 <= seconds < 1e9:
        raise ArgumentError(f"{seconds} is no number of seconds")
    return int(seconds * 1e9)


class Row:
    """One process, device, CPU, …: `row.resident_bytes` or `row["resident_bytes"]` is the value of a
    metric, or None where there is none; `row.availability("resident_bytes")` says why.

    Where a method has the name of a metric, as `key`, only the form with brackets gives the metric.
    """

    __slots__ = ("_cells", "_known", "_place", "_table", "snapshot")

    def __init__(self, snapshot: Snapshot, table: int, pointer: Pointer, cells: _Cells | None = None,
                 place: int = 0) -> None:
        self.snapshot, self._table, self._known = snapshot, table, pointer
        self._cells, self._place = cells, place

    @property
    def _pointer(self) -> Pointer:
        if self._known is None:
            self._known = lib.vitals_snapshot_row(self.snapshot.pointer, self._table, self._place)
        return self._known

    def __getitem__(self, name: str) -> Value:
        if self._cells is not None:
            return self._cells[name][self._place]
        return plan_of(self._table, (name,)).read(self._pointer)[0][0]

    def __getattr__(self, name: str) -> Value:
        if "\0" in name or not _core.find_metric(self._table, name):
            raise AttributeError(f'the table {self.table} has no metric "{name}"')
        return self[name]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Row) and self._pointer == other._pointer

    def __hash__(self) -> int:
        return hash(self._pointer)

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *_core.columns(self._table)]

    def __repr__(self) -> str:
        return f"<{self.table} {self.label!r}>"

    def read(self, *names: str) -> list[Value]:
        """Several values at once."""
        return plan_of(self._table, names).read(self._pointer)[0]

    @property
    def table(self) -> str:
        """The name of its table."""
        return _core.string(lib.vitals_table_name(self._table))

    @property
    def key(self) -> int:
        """A number that no other row of the table ever has, as long as the sampler lives."""
        return int(lib.vitals_row_key(self._pointer))

    @property
    def parent_key(self) -> int:
        """The key of its parent in the parent table; 0: it has none."""
        return int(lib.vitals_row_parent(self._pointer))

    @property
    def label(self) -> str:
        """What people call it; safe to print."""
        return _core.string(lib.vitals_row_label(self._pointer))

    def availability(self, name: str) -> str:
        """How good a value is, or why there is none: "have", "sampled", "denied", …"""
        metric = _core.metric_number(self._table, name)
        return _core.string(lib.vitals_availability_name(lib.vitals_row_availability(self._pointer, metric)))

    def text(self, name: str) -> str:
        """A value as a person reads it, with its unit, or the word for why it is missing; safe to print."""
        metric = _core.metric_number(self._table, name)
        out = ffi.new("char[]", 4096)
        return _core.string(lib.vitals_row_string(self._pointer, metric, lib.VITALS_TEXT_TERMINAL, out, 4096))

    def command(self) -> str:
        """The command line of a process on one line, as a shell would read it back; safe to print."""
        out = ffi.new("char[]", 65536)
        return _core.string(lib.vitals_row_command(self._pointer, lib.VITALS_TEXT_TERMINAL, out, 65536))

    def rate(self, name: str, older: Snapshot) -> float | None:
        """Growth of a counter per second since an older snapshot of the same sampler."""
        out = ffi.new("double *")
        state = lib.vitals_row_rate(self._pointer, older.pointer, _core.metric_number(self._table, name), out)
        return float(out[0]) if state > 0 else None

    def age(self, name: str) -> float | None:
        """How old a value was when its snapshot was complete, in seconds."""
        age = lib.vitals_row_age_seconds(self._pointer, _core.metric_number(self._table, name))
        return float(age) if age == age else None

    def as_dict(self) -> dict[str, Value]:
        """All metrics that were requested."""
        whole = self.snapshot.pointer
        names = tuple(name for name, metric in _core.columns(self._table).items()
                      if lib.vitals_snapshot_has_metric(whole, metric))
        return dict(zip(names, self.read(*names)))

    def _repr_html_(self) -> str:
        from vitals._html import pairs
        return pairs(f"{self.table} {self.label}", {name: self.text(name) for name in self.as_dict()})


_CODES = {lib.VITALS_U64: "Q", lib.VITALS_I64: "q", lib.VITALS_F64: "d", lib.VITALS_TEXT: "Q"}
_plans: dict[tuple[int, tuple[str, ...]], Plan] = {}
_BYTES, _ANSWER = ffi.typeof("char[]"), ffi.typeof("vitals_python_answer *")
_ROOM = dict(_ANSWER.item.fields)["bytes"].type.length
_new = ffi.new_allocator(should_clear_after_alloc=False)


class Plan:
    """How some metrics of a row are read at once (native.c): `unpack` makes of their bytes their values and
    availabilities."""

    __slots__ = ("metrics", "count", "size", "unpack", "texts", "all_there")

    def __init__(self, table: int, names: tuple[str, ...]) -> None:
        from struct import Struct
        numbers = [_core.metric_number(table, name) for name in names]
        kinds = [_core.metric_type(number) for number in numbers]
        self.metrics, self.count, self.size = ffi.new("vitals_metric[]", numbers), len(names), 9 * len(names)
        self.unpack = Struct(f"={''.join(map(_CODES.__getitem__, kinds))}{len(names)}s").unpack_from
        self.all_there = bytes([lib.VITALS_HAVE]) * len(names)
        self.texts = [place for place, kind in enumerate(kinds) if kind == lib.VITALS_TEXT]

    def read(self, pointer: Pointer) -> tuple[list[Value], bytes]:
        """Of a row, as `values`."""
        room = self.size + 256 * len(self.texts)
        while True:
            out = _new(_BYTES, room)
            size = lib.vitals_python_row(pointer, self.metrics, self.count, out, room)
            if size <= room:
                return self.values(ffi.unpack(out, size))[:2]
            room = size

    def read_all(self, snapshot: Snapshot, table: int) -> list[list[Value]]:
        """Of all rows of a table, at once."""
        rows = lib.vitals_snapshot_count(snapshot.pointer, table)
        room = rows * (self.size + 64 * len(self.texts))
        size = 0
        while rows and not size:
            out = _new(_BYTES, room)
            size = lib.vitals_python_rows(snapshot.pointer, table, self.metrics, self.count, out, room)
            room *= 4
        return self.rows(ffi.unpack(out, size)) if rows else []

    def rows(self, raw: bytes) -> list[list[Value]]:
        """Of the bytes of rows."""
        found: list[list[Value]] = []
        end, size = 0, len(raw)
        while end < size:
            values, _, end = self.values(raw, end)
            found.append(values)
        return found

    def values(self, raw: bytes, begin: int = 0) -> tuple[list[Value], bytes, int]:
        """Of the bytes that native.c wrote: values, None where there is none, the availability of each, and where they
        end."""
        values: list[Any] = list(self.unpack(raw, begin))
        states: bytes = values.pop()
        end = begin + self.size
        for place in self.texts:
            begin, end = end, end + values[place]
            values[place] = raw[begin:end].decode("utf-8", "surrogateescape")
        # Availabilities that are values are 1 … 6; the others are negative.
        if states != self.all_there and max(states, default=1) >= 128:
            values = [value if state < 128 else None for value, state in zip(values, states)]
        return values, states, end


def plan_of(table: int, names: tuple[str, ...]) -> Plan:
    """The plan for some metrics of a table: one for all that ask."""
    plan = _plans.get((table, names))
    if plan is None:
        if len(_plans) >= 1024:
            _plans.clear()
        plan = _plans[table, names] = Plan(table, names)
    return plan


class _Cells(dict[str, "list[Value]"]):
    """The columns of a table, each read with the first of its cells: for rows that are visited one after
    the other."""

    def __init__(self, table: Table) -> None:
        super().__init__()
        self._of = table

    def __missing__(self, name: str) -> list[Value]:
        table = self._of
        metric = _core.metric_number(table._number, name)
        asked = lib.vitals_snapshot_has_metric(table.snapshot.pointer, metric)
        column = self[name] = table.values(name) if asked else [None] * len(table)
        return column


class Table:
    """The rows of one table: iterate over it, index it by position, or take whole columns."""

    def __init__(self, snapshot: Snapshot, name: str) -> None:
        self.snapshot, self.name = snapshot, name
        self._number = _core.table_number(name)

    def __len__(self) -> int:
        return int(lib.vitals_snapshot_count(self.snapshot.pointer, self._number))

    def __iter__(self) -> Iterator[Row]:
        snapshot, number, cells = self.snapshot, self._number, _Cells(self)
        for place in range(len(self)):
            yield Row(snapshot, number, None, cells, place)

    def __getitem__(self, index: int) -> Row:
        count = len(self)
        pointer = lib.vitals_snapshot_row(self.snapshot.pointer, self._number, index + count if index < 0 else index)
        if index < -count or not pointer:
            raise IndexError(f"{self.name} has {count} rows")
        return Row(self.snapshot, self._number, pointer)

    def __repr__(self) -> str:
        return f"<table {self.name}: {len(self)} rows>"

    @property
    def state(self) -> str:
        """How complete the rows are: "have"; "lower_bound" where some may not be looked at; or why there are none."""
        return _core.string(lib.vitals_availability_name(
            lib.vitals_snapshot_state(self.snapshot.pointer, self._number)))

    @property
    def columns(self) -> list[str]:
        """The names of the metrics that were requested."""
        whole = self.snapshot.pointer
        return [name for name, metric in _core.columns(self._number).items()
                if lib.vitals_snapshot_has_metric(whole, metric)]

    def find(self, key: int) -> Row | None:
        """The row with a key."""
        pointer = lib.vitals_snapshot_find(self.snapshot.pointer, self._number, key)
        return Row(self.snapshot, self._number, pointer) if pointer else None

    def children(self, parent: Row | int) -> list[Row]:
        """The rows whose parent is this row, or has this key; 0: rows without a parent."""
        key = parent.key if isinstance(parent, Row) else parent
        step = lib.vitals_snapshot_next_child
        return [Row(self.snapshot, self._number, pointer)
                for pointer in _core.each(step, self.snapshot.pointer, self._number, key)]

    def values(self, name: str) -> list[Value]:
        """A column as a list; None where a value is missing."""
        metric = _core.metric_number(self._number, name)
        if _core.metric_type(metric) == lib.VITALS_TEXT:
            return self._texts(metric)
        count, states = ffi.new(_COUNT), ffi.new(_STATES)
        cells = lib.vitals_snapshot_column(self.snapshot.pointer, metric, states, count)
        if not cells:
            raise ArgumentError(f"{self.name}.{name} was not requested")
        rows = count[0]
        read: list[Value] = ffi.unpack(ffi.cast(_CELLS[_core.metric_type(metric)], cells), rows)
        good = ffi.buffer(states[0], rows)[:]
        # Availabilities that are values are 1 … 6; the others are negative.
        return read if max(good, default=1) < 128 else [
            value if state < 128 else None for value, state in zip(read, good)]

    def _texts(self, metric: int) -> list[Value]:
        count, states = ffi.new(_COUNT), ffi.new(_STATES)
        if not lib.vitals_snapshot_texts(self.snapshot.pointer, metric, states, count):
            raise ArgumentError("the column was not requested")
        rows = count[0]
        size = lib.vitals_snapshot_pack_texts(self.snapshot.pointer, metric, ffi.NULL, 0, ffi.NULL)
        out, offsets = ffi.new("char[]", size or 1), ffi.new("int64_t[]", rows + 1)
        lib.vitals_snapshot_pack_texts(self.snapshot.pointer, metric, out, size, offsets)
        raw = ffi.buffer(out, size)[:]
        good = ffi.buffer(states[0], rows)[:]
        ends = ffi.unpack(offsets, rows + 1)
        cells = zip(ends, ends[1:], good)
        if raw.isascii():  # then decoded at once
            whole = raw.decode("ascii")
            return [whole[begin:end] if state < 128 else None for begin, end, state in cells]
        return [raw[begin:end].decode("utf-8", "surrogateescape") if state < 128 else None
                for begin, end, state in cells]

    def rows(self, *names: str) -> list[list[Value]]:
        """Some columns as a list of rows: what costs least where a table has few."""
        return plan_of(self._number, names).read_all(self.snapshot, self._number)

    def keys(self) -> list[int]:
        """The keys of all rows."""
        count = ffi.new("size_t *")
        keys = lib.vitals_snapshot_keys(self.snapshot.pointer, self._number, count)
        found: list[int] = ffi.unpack(keys, count[0]) if keys else []
        return found

    def array(self, name: str) -> numpy.ndarray[Any, Any]:
        """A column of numbers as a numpy array that shares the snapshot's memory: nothing is copied.

        A cell without a value holds nothing meaningful: `available(name)` says which have one.
        """
        import numpy
        metric = _core.metric_number(self._number, name)
        count = ffi.new("size_t *")
        cells = lib.vitals_snapshot_column(self.snapshot.pointer, metric, ffi.NULL, count)
        if not cells:
            raise ArgumentError(f"{self.name}.{name} is no column of numbers that was requested")
        kind = {lib.VITALS_U64: "u8", lib.VITALS_I64: "i8", lib.VITALS_F64: "f8"}[_core.metric_type(metric)]
        return numpy.frombuffer(self._buffer(cells, 8 * count[0]), dtype=kind)

    def available(self, name: str) -> numpy.ndarray[Any, Any]:
        """For each row of a column whether it has a value, as a numpy array."""
        import numpy
        metric = _core.metric_number(self._number, name)
        count, states = ffi.new("size_t *"), ffi.new("signed char **")
        column = lib.vitals_snapshot_texts if _core.metric_type(metric) == lib.VITALS_TEXT else lib.vitals_snapshot_column
        if not column(self.snapshot.pointer, metric, states, count):
            raise ArgumentError(f"{self.name}.{name} was not requested")
        made: numpy.ndarray[Any, Any] = numpy.frombuffer(self._buffer(states[0], count[0]), dtype="i1") > 0
        return made

    def _buffer(self, pointer: Pointer, size: int) -> memoryview:
        snapshot = self.snapshot
        held = ffi.gc(ffi.cast("char *", pointer), lambda _, keep=snapshot: None)
        return memoryview(ffi.buffer(held, size)).toreadonly()

    def to_dict(self) -> dict[str, list[Value]]:
        """All requested columns by name."""
        return {name: self.values(name) for name in self.columns}

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a pandas data frame, one row per key."""
        import pandas
        return pandas.DataFrame(self.to_dict(), index=pandas.Index(self.keys(), name="key"))

    def to_polars(self) -> polars.DataFrame:
        """The table as a polars data frame; the column `key` comes first."""
        import polars
        return polars.DataFrame({"key": self.keys(), **self.to_dict()}, infer_schema_length=None)

    def _repr_html_(self) -> str:
        from vitals._html import rows
        return rows(self.name, self.columns, ([row.text(name) for name in self.columns] for row in self), len(self))


_COUNT, _STATES = ffi.typeof("size_t *"), ffi.typeof("signed char **")
_CELLS = {lib.VITALS_U64: ffi.typeof("uint64_t *"), lib.VITALS_I64: ffi.typeof("int64_t *"),
          lib.VITALS_F64: ffi.typeof("double *")}


class Snapshot:
    """What was read at one moment. It never changes; `snapshot.gpu` or `snapshot["gpu"]` is a table."""

    def __init__(self, pointer: Pointer) -> None:
        self.pointer = ffi.gc(pointer, lib.vitals_snapshot_unref)  # memory alone: also in a forked process

    def __getitem__(self, name: str) -> Table:
        return Table(self, name)

    def __getattr__(self, name: str) -> Table:
        if name.startswith("_") or name not in _core.tables():
            raise AttributeError(f'no table is called "{name}"')
        return Table(self, name)

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *_core.tables()]

    def __repr__(self) -> str:
        counts = ", ".join(f"{table.name} {len(table)}" for table in self)
        return f"<snapshot of {self.hostname}: {counts}>"

    def __iter__(self) -> Iterator[Table]:
        for name, number in _core.tables().items():
            if lib.vitals_snapshot_has_table(self.pointer, number):
                yield Table(self, name)

    @property
    def hostname(self) -> str:
        """The machine that it was read on."""
        return _core.text(lib.vitals_snapshot_host(self.pointer))

    @property
    def time(self) -> float:
        """When the reading was complete, in seconds since 1970."""
        return float(lib.vitals_snapshot_realtime_ns(self.pointer)) / 1e9

    @property
    def monotonic(self) -> float:
        """The same moment by the clock of time.monotonic()."""
        return float(lib.vitals_snapshot_monotonic_ns(self.pointer)) / 1e9

    @property
    def sequence(self) -> int:
        """Its number among those of its sampler, from 1."""
        return int(lib.vitals_snapshot_sequence(self.pointer))

    def json(self) -> str:
        """The whole snapshot as one JSON document, as `vitals --json` prints it."""
        return _core.written(lib.vitals_snapshot_json, self.pointer)

    def _repr_html_(self) -> str:
        return "".join(table._repr_html_() for table in self)

    def __getstate__(self) -> str:
        return self.json()

    def __setstate__(self, state: str) -> None:
        self.pointer = read_json(state).pointer


def read_json(document: str | bytes) -> Snapshot:
    """A snapshot from its JSON. Raises FormatError."""
    raw = document.encode() if isinstance(document, str) else document
    return Snapshot(_core.create("vitals_snapshot", lib.vitals_snapshot_read_json, raw, len(raw)))


def written(size: int, answer: Pointer) -> bytes:
    """What native.c wrote of a table that was read directly."""
    if size < 0:
        _core.check(size, answer.error)
    if size <= _ROOM:
        raw: bytes = ffi.unpack(answer.bytes, size)
        return raw
    try:
        return bytes(ffi.buffer(answer.more, size))
    finally:
        lib.free(answer.more)


def rows_of(process: Pointer, table: str, names: tuple[str, ...], context: Context | None = None,
            lacking: bool = False) -> list[list[Value]]:
    """Columns of a table of a process, or (NULL) of the machine, read directly; `lacking`: no rows, and no error, where
    this machine has no such table. For other modules of this package."""
    plan, answer = plan_of(_core.table_number(table), names), _new(_ANSWER)
    pointer = (context or _core.default_context()).pointer
    size = lib.vitals_python_table(pointer, process, plan.metrics, plan.count, answer)
    return [] if lacking and size == lib.VITALS_EUNSUPPORTED else plan.rows(written(size, answer))


def read_rows(table: str, *names: str, context: Context | None = None) -> list[list[Value]]:
    """Reads some columns of a table of the machine now, in this thread and without a snapshot: what costs least for
    tables that a sampler reads beside its ticks (mount, filesystem, network_address, login, socket, sensor; of host,
    cpu, disk and network what is not counted). May block as these may."""
    return rows_of(ffi.NULL, table, names, context)


DEFAULT = ("machine", "gpus", "processes")


def snapshot(*what: str, pids: Sequence[int] | None = None, rows: str | None = None,
             context: Context | None = None) -> Snapshot:
    """Reads the machine now: sets, tables and metrics as in `request`; without a name the machine,
    its GPUs and its processes. For rates and repeated readings make a Sampler."""
    context = context or _core.default_context()
    wanted = request(what or DEFAULT, pids=pids, rows=rows)
    return Snapshot(_core.create("vitals_snapshot", lib.vitals_snapshot_take_request, context.pointer, wanted))


class Sampler:
    """Carries out a request again and again.

    `take()` reads in the calling thread. As an iterator, or after `start()`, a thread of the library
    reads at each interval, without the GIL; the iterator gives each newest snapshot once:

        for snapshot in vitals.Sampler("gpu", interval=0.5):
            print(snapshot.gpu.values("utilization_ratio"))
    """

    def __init__(self, *what: str, interval: float = 1.0, pids: Sequence[int] | None = None,
                 rows: str | None = None, every: dict[str, float] | None = None,
                 context: Context | None = None, more: Callable[[Pointer], Any] | None = None) -> None:
        """`more` adds to the request; it is for other modules of this package."""
        context = context or _core.default_context()
        wanted = request(what or DEFAULT, pids=pids, rows=rows, interval=interval, every=every)
        if more is not None:
            more(wanted)
        self.interval = interval
        self._maker = os.getpid()
        self._pointer = _core.owned(_core.create("vitals_sampler", lib.vitals_sampler_new, context.pointer, wanted),
                                    lib.vitals_sampler_free, context)

    def _sampler(self) -> Pointer:
        if self._pointer is None:
            raise VitalsError("the sampler is closed")
        if os.getpid() != self._maker:
            raise VitalsError("the sampler was made before this process was forked: make another one")
        return self._pointer

    def take(self) -> Snapshot:
        """Reads now."""
        return Snapshot(_core.create("vitals_snapshot", lib.vitals_sampler_take, self._sampler()))

    def take_rows(self, table: str, *names: str) -> list[list[Value]]:
        """Reads now, and gives some columns of a table: what costs least where it is small and read again and again."""
        return self.rows_reader(table, *names)()

    def rows_reader(self, table: str, *names: str) -> Callable[[], list[list[Value]]]:
        """A function that does what `take_rows` does with these arguments, for a loop."""
        number = _core.table_number(table)
        plan, take, sampler = plan_of(number, names), lib.vitals_python_take, self._sampler

        def read() -> list[list[Value]]:
            answer = _new(_ANSWER)
            size = take(sampler(), number, plan.metrics, plan.count, answer)
            if size < 0:
                _core.check(size, answer.error)
            if size <= _ROOM:
                return plan.rows(ffi.unpack(answer.bytes, size))
            return plan.read_all(Snapshot(answer.answer), number)
        return read

    def start(self) -> Sampler:
        """Starts the thread that reads at each interval."""
        _core.call(lib.vitals_sampler_start, self._sampler())
        return self

    def latest(self) -> Snapshot | None:
        """The newest snapshot of the thread, or None if there is none yet."""
        pointer = lib.vitals_sampler_latest(self._sampler())
        return Snapshot(pointer) if pointer else None

    def stop(self) -> None:
        """Ends the thread. Does nothing if none runs."""
        lib.vitals_sampler_stop(self._sampler())

    def close(self) -> None:
        """Stops, and frees everything."""
        if self._pointer is not None and os.getpid() == self._maker:
            ffi.release(self._pointer)
        self._pointer = None

    def __enter__(self) -> Sampler:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Snapshot]:
        sampler = self._sampler()
        subscription = _core.owned(
            _core.create("vitals_subscription", lib.vitals_subscription_new, sampler),
            lib.vitals_subscription_free, sampler)
        lib.vitals_sampler_stop(sampler)
        self.start()
        import select
        poll = select.poll()
        poll.register(lib.vitals_subscription_descriptor(subscription), select.POLLIN)
        try:
            while self._pointer is not None:
                if poll.poll(1000):
                    pointer = lib.vitals_subscription_latest(subscription)
                    if pointer:
                        yield Snapshot(pointer)
        finally:
            ffi.release(subscription)
            if self._pointer is not None:
                self.stop()


class History:
    """Keeps as many snapshots of a sampler as rates over `window` seconds need (0: the shortest
    window in which each counter has a rate)."""

    def __init__(self, window: float = 0.0) -> None:
        self._pointer = _core.owned(_core.create("vitals_history", lib.vitals_history_new, nanoseconds(window)),
                                    lib.vitals_history_free)

    def add(self, snapshot: Snapshot) -> None:
        """Keeps a snapshot; the newest comes last."""
        lib.vitals_history_add(self._pointer, snapshot.pointer)

    def rate(self, row: Row, name: str) -> float | None:
        """Growth of a counter per second up to this row; None while there is none."""
        out = ffi.new("double *")
        metric = _core.metric_number(row._table, name)
        return float(out[0]) if lib.vitals_history_rate(self._pointer, row._pointer, metric, out) > 0 else None

    def rates(self, table: Table, name: str) -> list[float | None]:
        """The rates of a whole column, in the order of rows."""
        count = len(table)
        out = ffi.new("double[]", count or 1)
        lib.vitals_history_rates(self._pointer, table.snapshot.pointer, _core.metric_number(table._number, name),
                                 out, ffi.NULL, count)
        return [value if value == value else None for value in ffi.unpack(out, count)] if count else []
