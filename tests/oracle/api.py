"""libvitals for the tests of this folder: loaded by its public headers and nothing else.

Values come back as Python's own: text as bytes, numbers as int and float, what is missing as None
with its availability beside it. A call that fails raises Failure, with the code's name.
"""

import collections
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))
LIBRARY = os.environ.get("VITALS_LIBRARY", str(SOURCE / "build/libvitals.so"))
sys.path.insert(1, str(SOURCE / "tests" / "command"))

if os.environ.get("VITALS_SANITIZED"):
    raise unittest.SkipTest("Python cannot load a library that is built for a sanitizer")
try:
    import cffi
    import psutil  # noqa: F401
except ImportError as missing:
    raise unittest.SkipTest(f"{missing.name} is not installed; `make test` installs it") from missing


# --- The library -----------------------------------------------------------------------------------

# cffi knows the types of these itself, and stumbles over what glibc puts around them.
STANDARD = {"stdint.h": "", "stddef.h": "", "stdbool.h": "#define bool _Bool\n"}

def declarations():
    """What is left of the public headers when the preprocessor is done."""
    # Children under other users take it from here: they may have no compiler, and less time.
    if "VITALS_DECLARATIONS" in os.environ:
        return pathlib.Path(os.environ["VITALS_DECLARATIONS"]).read_text()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in STANDARD.items():
            (pathlib.Path(folder) / name).write_text(text)
        return subprocess.run(
            ["cc", "-E", "-P", "-std=c11", "-D", "VITALS_BINDINGS", "-nostdinc", "-I", folder,
             "-I", SOURCE / "include", "-x", "c", "-"],
            input="#include <vitals/vitals.h>\n#include <vitals/psutil.h>\n"
            "#include <vitals/sys/account.h>\n#include <vitals/sys/builder.h>\n",
            capture_output=True, text=True, check=True).stdout


DECLARATIONS = declarations()
ffi = cffi.FFI()
ffi.cdef(DECLARATIONS)
lib = ffi.dlopen(LIBRARY)

MISSING = ("not_requested", "not_yet", "unsupported", "denied", "gone", "suspended", "timed_out",
           "failed", "outside", "wrong_metric")
FOREVER = 2**64 - 1
UNLIMITED = 2**64 - 1


class Failure(Exception):
    """What a function of the library said instead of an answer."""

    def __init__(self, error):
        self.code = ffi.string(lib.vitals_code_name(error.code)).decode()
        self.message = ffi.string(error.message).decode()
        self.detail = error.detail
        super().__init__(f"{self.code}: {self.message}")


def call(function, *arguments):
    """Calls a fallible function; the error goes last."""
    error = ffi.new("vitals_error *")
    result = function(*arguments, error)
    if result < 0:
        if result != error.code:
            raise AssertionError(f"returned {result}, and the error says {error.code}")
        raise Failure(error)
    return result


def take_out(kind, function, *arguments):
    """The same of one that gives something: its last argument but the error is the out pointer."""
    out = ffi.new(kind + " **")
    call(function, *arguments, out)
    return out[0]


def owned(pointer, free, context):
    """A pointer that is freed before the context that it came from."""
    return ffi.gc(pointer, lambda one, _=context: free(one))


def name_of(availability):
    return ffi.string(lib.vitals_availability_name(availability)).decode()


# --- The catalogue ---------------------------------------------------------------------------------

Metric = collections.namedtuple("Metric", "number name type kind price")


def read_catalogue():
    """{entity: number} and {entity: {metric: Metric}} of what the library knows."""
    entities, metrics = {}, {}
    entity = lib.vitals_table_next(0)
    while entity:
        entities[ffi.string(lib.vitals_table_name(entity)).decode()] = entity
        entity = lib.vitals_table_next(entity)
    names = {number: name for name, number in entities.items()}
    metric = lib.vitals_metric_next(0)
    while metric:
        name = ffi.string(lib.vitals_metric_name(metric)).decode()
        table = metrics.setdefault(names[lib.vitals_metric_table(metric)], {})
        table[name] = Metric(metric, name, lib.vitals_metric_type(metric),
                             lib.vitals_metric_kind(metric), lib.vitals_metric_price(metric))
        metric = lib.vitals_metric_next(metric)
    return entities, metrics


ENTITIES, METRICS = read_catalogue()
PROCESS_COLUMNS = tuple(f"process.{name}" for name in METRICS["process"])
# What only a live handle answers.
OWN_TABLES = ("thread", "descriptor", "mapping", "mapped_file", "environment", "limit")


class Request:
    """Names of tables ("thread") and of columns ("process.name"); sets as a number."""

    def __init__(self, *names, sets=0, rows=0, pids=()):
        self.pointer = ffi.gc(take_out("vitals_request", lib.vitals_request_new, sets),
                              lib.vitals_request_free)
        for name in names:
            table, _, column = name.partition(".")
            if column:
                call(lib.vitals_request_add, self.pointer, METRICS[table][column].number)
            else:
                call(lib.vitals_request_add_table, self.pointer, ENTITIES[table])
        if rows:
            call(lib.vitals_request_set_rows, self.pointer, rows, list(pids), len(pids))


# --- Snapshots -------------------------------------------------------------------------------------

READERS = {
    lib.VITALS_U64: ("uint64_t *", lib.vitals_row_u64),
    lib.VITALS_I64: ("int64_t *", lib.vitals_row_i64),
    lib.VITALS_F64: ("double *", lib.vitals_row_f64),
    lib.VITALS_TEXT: ("vitals_text *", lib.vitals_row_text),
}


class Row:
    """One row: row["name"] is its value or None, row.state("name") how good it is or why not."""

    def __init__(self, snapshot, table, pointer):
        self.snapshot, self.table, self.pointer = snapshot, table, pointer
        self.key = lib.vitals_row_key(pointer)
        self.parent = lib.vitals_row_parent(pointer)

    def read(self, column):
        """(value, availability)."""
        metric = METRICS[self.table][column]
        kind, reader = READERS[metric.type]
        out = ffi.new(kind)
        availability = reader(self.pointer, metric.number, out)
        if availability == 0:
            raise AssertionError(f"{self.table}.{column} was never written")
        if availability < 0:
            return None, name_of(availability)
        value = out[0]
        if metric.type == lib.VITALS_TEXT:
            value = bytes(ffi.buffer(value.bytes, value.size)) if value.size else b""
        return value, name_of(availability)

    def __getitem__(self, column):
        return self.read(column)[0]

    def state(self, column):
        return self.read(column)[1]

    def all(self):
        """{column: (value, availability)} of every column that was asked for."""
        found = {column: self.read(column) for column in METRICS[self.table]}
        return {column: pair for column, pair in found.items() if pair[1] != "not_requested"}

    def label(self):
        return ffi.string(lib.vitals_row_label(self.pointer)).decode()

    def rate(self, older, column):
        out = ffi.new("double *")
        availability = lib.vitals_row_rate(
            self.pointer, older.pointer if older else ffi.NULL, METRICS[self.table][column].number,
            out)
        return (out[0] if availability > 0 else None), name_of(availability)

    def compute(self, function, *older, kind="double *"):
        """One of psutil.h."""
        out = ffi.new(kind)
        pointers = [one.pointer if one else ffi.NULL for one in older]
        availability = function(self.pointer, *pointers, out)
        return (out[0] if availability > 0 else None), name_of(availability)


class Snapshot:
    def __init__(self, pointer):
        self.pointer = ffi.gc(pointer, lib.vitals_snapshot_unref)

    def rows(self, table):
        entity, row, found = ENTITIES[table], ffi.NULL, []
        while True:
            row = lib.vitals_snapshot_next(self.pointer, entity, row)
            if row == ffi.NULL:
                return found
            found.append(Row(self, table, row))

    def one(self, table="process"):
        row, = self.rows(table)
        return row

    def by(self, table, column):
        """{value of a column: row}; the last, where there are several."""
        return {row[column]: row for row in self.rows(table)}

    def state(self, table):
        return name_of(lib.vitals_snapshot_state(self.pointer, ENTITIES[table]))

    def json(self):
        pieces = []

        @ffi.callback("int(void *, const char *, size_t)")
        def write(_, data, size):
            pieces.append(bytes(ffi.buffer(data, size)))
            return 0

        call(lib.vitals_snapshot_json, self.pointer, write, ffi.NULL)
        return b"".join(pieces)


# --- What asks -------------------------------------------------------------------------------------

class Context:
    """proc_root="…", sys_root="…" and so on as in vitals_options; no devices."""

    def __init__(self, **options):
        record = ffi.new("vitals_options *")
        lib.vitals_options_init(record, ffi.sizeof("vitals_options"))
        kept = []
        for name, value in {"backends": "", **options}.items():
            if isinstance(value, (str, bytes, os.PathLike)):
                kept.append(ffi.new("char[]", os.fsencode(value)))
                value = kept[-1]
            setattr(record, name, value)
        self.pointer = ffi.gc(take_out("vitals_context", lib.vitals_context_new, record),
                              lib.vitals_context_free)

    def take(self, *names, **options):
        """One reading of tables and columns of the machine."""
        request = Request(*names, **options)
        return Snapshot(take_out("vitals_snapshot", lib.vitals_snapshot_take_request, self.pointer,
                                 request.pointer))

    def sampler(self, *names, **options):
        return Sampler(self, Request(*names, **options))

    def open(self, pid):
        return Process(self, take_out("vitals_process", lib.vitals_process_open, self.pointer, pid))

    def open_row(self, row):
        return Process(self, take_out("vitals_process", lib.vitals_process_of, self.pointer,
                                      row.pointer))


class Sampler:
    def __init__(self, context, request):
        self.pointer = owned(take_out("vitals_sampler", lib.vitals_sampler_new, context.pointer,
                                      request.pointer), lib.vitals_sampler_free, context)

    def take(self):
        return Snapshot(take_out("vitals_snapshot", lib.vitals_sampler_take, self.pointer))


# `known` is whether the kernel tells how; else code and signal are 0.
Exit = collections.namedtuple("Exit", "known code signal")


class Process:
    """A live handle."""

    def __init__(self, context, pointer):
        self.pointer = owned(pointer, lib.vitals_process_close, context)

    @property
    def pid(self):
        return lib.vitals_process_pid(self.pointer)

    @property
    def start_seconds(self):
        return lib.vitals_process_start_seconds(self.pointer)

    def is_running(self):
        return bool(lib.vitals_process_is_running(self.pointer))

    def ask(self, *names):
        request = Request(*names)
        return Snapshot(take_out("vitals_snapshot", lib.vitals_process_ask, self.pointer,
                                 request.pointer))

    def get(self, column):
        """One column of table process: its value, or None."""
        return self.ask("process." + column).one()[column]

    def rows(self, table):
        return self.ask(table).rows(table)

    def relatives(self, relation, *names):
        request = Request(*names).pointer if names else ffi.NULL
        number = getattr(lib, "VITALS_" + relation.upper())
        return Snapshot(take_out("vitals_snapshot", lib.vitals_process_relatives, self.pointer,
                                 number, request))

    def pids(self, relation):
        return [row["pid"] for row in self.relatives(relation).rows("process")]

    def signal(self, number):
        call(lib.vitals_process_signal, self.pointer, number)

    def wait(self, seconds=None):
        call(lib.vitals_process_wait, self.pointer, nanoseconds(seconds))
        return self.exit()

    def exit(self):
        """How it ended, where a wait has seen that it did."""
        code, signal = ffi.new("int *"), ffi.new("int *")
        availability = lib.vitals_process_exit_status(self.pointer, code, signal)
        return Exit(availability == lib.VITALS_HAVE, code[0], signal[0])

    def exit_state(self):
        return name_of(lib.vitals_process_exit_status(self.pointer, ffi.NULL, ffi.NULL))

    def descriptor(self):
        return lib.vitals_process_descriptor(self.pointer)

    def set_nice(self, nice):
        call(lib.vitals_process_set_nice, self.pointer, nice)

    def set_io_priority(self, io_class, level=0):
        number = getattr(lib, "VITALS_IO_" + io_class.upper())
        call(lib.vitals_process_set_io_priority, self.pointer, number, level)

    def set_affinity(self, cpus):
        call(lib.vitals_process_set_affinity, self.pointer, ffi.new("unsigned[]", list(cpus)),
             len(cpus))

    def set_limit(self, name, soft, hard):
        call(lib.vitals_process_set_limit, self.pointer, name.encode(), soft, hard)


def nanoseconds(seconds):
    return FOREVER if seconds is None else round(seconds * 1e9)


def wait_for_several(processes, seconds, ended=None):
    """Of how many nobody was told. `ended` is called with (place, Exit) of each that ended, and stops it
    with True."""
    places = {process.pointer: place for place, process in enumerate(processes)}

    @ffi.callback("int(void *, vitals_process *)")
    def told(_, pointer):
        place = places[pointer]
        return ended(place, processes[place].exit()) is True

    how = ffi.new("vitals_wait *")
    lib.vitals_wait_init(how, ffi.sizeof("vitals_wait"))
    how.timeout_ns = nanoseconds(seconds)
    if ended:
        how.ended = told
    remaining = ffi.new("size_t *")
    pointers = ffi.new("vitals_process *[]", [process.pointer for process in processes])
    call(lib.vitals_process_wait_several, pointers, len(processes), how, remaining)
    return remaining[0]
