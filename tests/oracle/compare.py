"""Every field of processes that it starts itself, and of all other processes the fields that hold
still or only grow: ours between two readings of psutil's.

    compare.py [--made ROLE,ROLE…] handle|table

It compares in the place where it was started (as another user, in another namespace) and prints a
JSON document that the tests read. A field is right once it has agreed, and wrong if it has
disagreed often and never agreed; a field that moves between psutil's two readings proves nothing.
A process of the machine at large moves as it likes: one that changes and changes back between two
readings would look wrong. Its moving fields are not compared.
"""

import collections
import contextlib
import json
import os
import sys
import time

import psutil

import api
import theirs
from api import Failure
from theirs import Ended, Missing

ATTEMPTS = 8
OFTEN = 3  # what disagrees so often while theirs stands still is wrong
ROUNDS = 3  # unless it agrees later: a shell whose children come and go moves between our readings


# --- Ours ------------------------------------------------------------------------------------------

class Answer:
    """A snapshot with one process in it, or that process's row of a table of all."""

    def __init__(self, snapshot, row):
        self.snapshot, self.row = snapshot, row

    def of(self, *columns):
        """The values as a tuple, or why the first that is missing is missing."""
        pairs = [self.row.read(column) for column in columns]
        for value, state in pairs:
            if value is None:
                return Missing(state)
        return tuple(value for value, _ in pairs)

    def one(self, column):
        found = self.of(column)
        return found if isinstance(found, Missing) else found[0]

    def or_none(self, *columns):
        """The same where a process may well have no such value: None then."""
        pairs = [self.row.read(column) for column in columns]
        for value, state in pairs:
            if value is None and state not in NONE_LEFT:
                return Missing(state)
        return tuple(value for value, _ in pairs)

    def ticks(self, *columns):
        found = self.of(*columns)
        return found if isinstance(found, Missing) else theirs.ticks(found)

    def rows(self, table):
        """Rows of a table of its own, or why there are none."""
        state = self.snapshot.state(table)
        if state in api.MISSING:
            return Missing(state)
        return self.snapshot.rows(table)


def unless_missing(function):
    """For readers of a table: what is missing goes through as it is."""
    def read(answer):
        rows = answer.rows(function.table)
        return rows if isinstance(rows, Missing) else function(rows)
    return read


def table(name):
    def mark(function):
        function.table = name
        return unless_missing(function)
    return mark


MAP_COLUMNS = ("resident_bytes", "size_bytes", "pss_bytes", "shared_clean_bytes",
               "shared_dirty_bytes", "private_clean_bytes", "private_dirty_bytes",
               "referenced_bytes", "anonymous_bytes", "swap_bytes")


@table("mapping")
def our_maps(rows):
    return [(row["addresses"], row["permissions"], row["path"].strip(),
             *(row[column] for column in MAP_COLUMNS)) for row in rows]


@table("mapped_file")
def our_maps_grouped(rows):
    return {row["path"].strip(): tuple(row[column] for column in MAP_COLUMNS) for row in rows}


@table("thread")
def our_threads(rows):
    return {row["tid"]: theirs.ticks((row["cpu_user_seconds"], row["cpu_system_seconds"]))
            for row in rows}


@table("descriptor")
def our_files(rows):
    """Those that psutil cannot see (deleted, of no path, of access mode 3) are left out."""
    if rows and all(row.state("type") == "denied" for row in rows):
        return Missing("denied")
    return {(row["path"], row["number"], row["position_bytes"], row["mode"], row["flags"])
            for row in rows if row["type"] == b"file" and row["deleted"] == 0
            and row["mode"] != b"-" and theirs.stays(row["path"]) and os.path.isfile(row["path"])}


PSUTIL_PROTOCOLS = (b"tcp", b"udp", b"unix")


def socket_endpoint(row, side):
    if row["family"] == b"unix":
        return row["local_address"] if side == "local" else b""
    address, port = row[side + "_address"], row[side + "_port"]
    return (address, port) if port else ()


def socket_tuple(row):
    """As psutil has it, for which unix sockets have no state."""
    state = b"none" if row["family"] == b"unix" else row["state"] or b""
    return (row["descriptor"], row["family"].decode(), row["type"].decode(),
            socket_endpoint(row, "local"), socket_endpoint(row, "remote"), state.decode())


@table("socket")
def our_sockets(rows):
    # One that was never bound nor connected is held, but stands in no table that psutil reads.
    return {socket_tuple(row) for row in rows if row["protocol"] in PSUTIL_PROTOCOLS
            and row["state"] is not None}


@table("limit")
def our_limits(rows):
    return {row["name"].decode(): (row["soft"], row["hard"]) for row in rows}


@table("environment")
def our_environment(rows):
    return [(row["name"], row["value"]) for row in rows]


def our_affinity(answer):
    text = answer.one("cpus_allowed_list")
    return text if isinstance(text, Missing) else theirs.cpu_list(text.decode())


def our_ionice(answer):
    io_class = answer.one("io_class")
    return io_class if isinstance(io_class, Missing) else (io_class.decode(), answer.row["io_level"])


def computed(function):
    def read(answer):
        value, state = answer.row.compute(function)
        return Missing(state) if value is None else value
    return read


OURS = {
    "name": lambda a: a.one("name"),
    "exe": lambda a: a.one("executable"),
    "cwd": lambda a: a.one("working_directory"),
    "terminal": lambda a: a.one("terminal"),
    "create_time": computed(api.lib.vitals_psutil_create_time),
    "status": lambda a: a.one("state"),
    "username": lambda a: a.one("user"),
    "ppid": lambda a: a.one("parent_pid"),
    "uids": lambda a: a.of("uid", "effective_uid", "saved_uid"),
    "gids": lambda a: a.of("gid", "effective_gid", "saved_gid"),
    "num_threads": lambda a: a.one("threads"),
    "threads": our_threads,
    "num_fds": lambda a: a.one("descriptors"),
    "num_ctx_switches": lambda a: a.of("voluntary_context_switches",
                                       "involuntary_context_switches"),
    "cpu_times": lambda a: a.ticks("cpu_user_seconds", "cpu_system_seconds",
                                   "children_user_seconds", "children_system_seconds"),
    "cpu_num": lambda a: a.one("cpu"),
    "cpu_affinity": our_affinity,
    "nice": lambda a: a.one("nice"),
    "ionice": our_ionice,
    "rlimit": our_limits,
    "memory_info": lambda a: a.of("resident_bytes", "virtual_bytes", "shared_bytes", "text_bytes",
                                  "data_bytes"),
    "memory_full_info": lambda a: a.of("uss_bytes", "pss_bytes", "swapped_bytes"),
    "memory_percent": computed(api.lib.vitals_psutil_memory_percent),
    "memory_maps": our_maps,
    "memory_maps_grouped": our_maps_grouped,
    "io_counters": lambda a: a.of("read_calls", "write_calls", "read_bytes", "written_bytes",
                                  "call_read_bytes", "call_written_bytes"),
    "open_files": our_files,
    "net_connections": our_sockets,
    "cmdline": lambda a: a.one("command_line"),
    "environ": our_environment,
    "page_faults": lambda a: a.of("minor_faults", "major_faults"),
    "limits": our_limits,
    "start": lambda a: a.ticks("start_seconds")[0],
    "groups": lambda a: a.of("process_group", "session"),
    "priority": lambda a: a.of("priority", "realtime_priority"),
    "oom": lambda a: a.of("oom_score", "oom_score_adjust"),
    "namespaces": lambda a: a.of("pid_namespace", "network_namespace", "mount_namespace",
                                 "user_namespace", "cgroup_namespace", "ipc_namespace",
                                 "uts_namespace"),
    "peaks": lambda a: a.or_none("resident_peak_bytes", "virtual_peak_bytes",
                                 "resident_anon_bytes", "resident_file_bytes",
                                 "resident_shmem_bytes", "swapped_bytes", "locked_bytes"),
    "security": lambda a: a.of("no_new_privileges", "seccomp", "tracer_pid"),
}
RELATIVES = {"children": "children", "descendants": "descendants", "parents": "ancestors"}
# Fields that hold still in processes that we did not start; the tables that answer them.
STILL = {"name", "exe", "cwd", "terminal", "create_time", "username", "ppid", "uids", "gids",
         "cpu_affinity", "nice", "ionice", "rlimit", "cmdline", "environ", "limits", "start",
         "groups", "namespaces", "is_running"}
STILL_TABLES = ("environment", "limit")
# What a table of all processes does not answer.
OWN_FIELDS = ("threads", "rlimit", "memory_maps", "memory_maps_grouped", "open_files",
              "net_connections", "environ", "limits", "is_running", *RELATIVES)
COLUMNS = (*api.PROCESS_COLUMNS, "host.boot_time_seconds", "host.memory_total_bytes")


def ours_by_handle(context, pid, fields):
    """{field: value} of one process, each question asked of a live handle."""
    process = context.open(pid)
    tables = STILL_TABLES if fields <= KEPT else (*api.OWN_TABLES, "socket")
    snapshot = process.ask(*COLUMNS, *tables)
    answer = Answer(snapshot, snapshot.one())
    found = {field: OURS[field](answer) for field in fields & OURS.keys()}
    for field in fields & RELATIVES.keys():
        found[field] = set(process.pids(RELATIVES[field]))
    found["is_running"] = process.is_running()
    return found


def ours_by_table(snapshot, row, fields):
    answer = Answer(snapshot, row)
    return {field: OURS[field](answer) for field in fields}


# --- Whether they agree --------------------------------------------------------------------------------

def between(before, ours, after):
    """Numbers, tuples of them, and dictionaries of those: what only grows."""
    if isinstance(before, dict):
        return all(between(before[key], ours[key], after[key])
                   for key in before.keys() & after.keys() & ours.keys()) and \
            before.keys() & after.keys() <= ours.keys()
    if isinstance(before, tuple):
        return all(low <= value <= high for low, value, high in zip(before, ours, after))
    return before <= ours <= after


def at_least(before, ours, after):
    """The whole group's against psutil's first thread (its defect 4)."""
    return all(low <= value for low, value in zip(before, ours))


GROW = {"threads": between, "cpu_times": between, "io_counters": between, "page_faults": between,
        "num_ctx_switches": at_least}
# What is compared of processes that we did not start, and of kernel threads and zombies besides.
KEPT = STILL | {"cpu_times", "io_counters", "page_faults", "num_ctx_switches"}
EMPTY = {"threads", "num_threads", "num_fds", "memory_info", "memory_full_info", "memory_percent",
         "memory_maps", "memory_maps_grouped", "open_files", "net_connections", "peaks", "priority",
         "security"}
SHARE = 64 << 10
CUT = 32 << 10
CLOSE = {"create_time": 1e-6, "memory_percent": 1e-9}


def projection(sockets):
    """Without descriptors: psutil gives one of several that hold the same socket."""
    return {one[1:] for one in sockets}


def same_sockets(before, ours):
    # psutil loses a path with a space (defect 7): such rows are tested by themselves.
    spaced = {one for one in ours if one[1] == "unix" and b" " in one[3]}
    blank = {(*one[:3], b"", *one[4:]) for one in spaced}
    return before <= ours | blank and projection(ours - spaced) <= projection(before)


def same_memory(before, ours):
    """The share of what is shared moves with whoever else maps it, whom we may just have started."""
    return (before[0], before[2]) == (ours[0], ours[2]) and abs(before[1] - ours[1]) <= SHARE


def equal(field, before, ours):
    if field == "memory_full_info":
        return same_memory(before, ours)
    if field in CLOSE:
        return abs(before - ours) <= CLOSE[field]
    if field == "net_connections":
        return same_sockets(before, ours)
    if field == "cmdline":
        # A long one is cut at a cap, and says so; test_names.py looks at that.
        return ours == before or (len(ours) >= CUT and before.startswith(ours))
    return ours == before


# What a zombie has no more, and how we may say so: it is gone; and what psutil takes for an error
# or for 0 may well be a value that there is none of.
NONE_LEFT = ("gone", "unsupported")


# What psutil asks in a way that is refused, though the kernel tells everybody in another: limits have a
# file (compared as "limits"), and the size of the folder of descriptors is their number.
KNOWN_TO_ALL = ("rlimit", "num_fds")


def agrees(field, before, ours, after):
    """True, False, or None where theirs moved and says nothing."""
    if isinstance(before, Missing) or isinstance(after, Missing):
        if before != after or "failed" in before.why:
            return None
        if not isinstance(ours, Missing):
            return field in KNOWN_TO_ALL or (before.why == "zombie" and is_nothing(field, ours))
        return ours.why in (NONE_LEFT if before.why == "zombie" else (before.why,))
    if field in GROW:
        return not isinstance(ours, Missing) and GROW[field](before, ours, after)
    if before != after:
        return None
    if isinstance(ours, Missing):
        return is_nothing(field, before) and ours.why in NONE_LEFT
    return equal(field, before, ours)


def is_nothing(field, value):
    """What psutil and /proc say of a process without memory of its own, where we say why."""
    nothing = {"memory_full_info": (0, 0, 0), "cmdline": b"", "environ": [], "memory_maps": [],
               "memory_maps_grouped": {}, "exe": b"", "open_files": set(), "threads": {},
               "net_connections": set()}
    return field in nothing and value == nothing[field]


# --- Every process -----------------------------------------------------------------------------------

class Verdicts:
    """Of each (process, field): whether it ever agreed, and what disagreed. `made` are the pids of
    which every field is compared."""

    def __init__(self, made):
        self.made = made
        self.right, self.wrong = set(), collections.defaultdict(list)
        self.names, self.fields = {}, {}

    def meet(self, pid):
        """The key of a process, noted with the fields to compare."""
        key, name = key_of(pid)
        self.names[key] = name
        if key not in self.fields:
            self.fields[key] = set(theirs.FIELDS) if pid in self.made else \
                KEPT | EMPTY if has_nothing(pid) else KEPT
        return key

    def add(self, key, field, verdict, story):
        if verdict is True:
            self.right.add((key, field))
        elif verdict is False:
            self.wrong[key, field].append(story)

    def open(self, key):
        """The fields of a process that have not agreed yet."""
        return {field for field in self.fields[key] if (key, field) not in self.right}

    def disputed(self, key=None):
        """Whether a field, of that process or of any, has disagreed and not agreed yet."""
        return any(pair not in self.right for pair in self.wrong if key in (None, pair[0]))

    def suspects(self):
        """{(key, field): what disagreed} of those that are wrong so far."""
        return {pair: stories for pair, stories in self.wrong.items()
                if pair not in self.right and len(stories) >= OFTEN}

    def report(self, ended):
        bad = [{"pid": key[0], "name": repr(self.names[key]), "field": field,
                "seen": told(stories[-1])}
               for (key, field), stories in self.suspects().items() if key not in ended]
        fields = collections.Counter(field for _, field in self.right)
        return {"wrong": bad, "fields": fields, "pids": sorted({key[0] for key, _ in self.right})}


def told(story):
    """What disagreed, as lines; of large sets only what one has and the other has not."""
    if all(isinstance(one, set) for one in story):
        before, ours, _ = story
        return [f"only theirs: {before - ours}", f"only ours: {ours - before}"]
    return [repr(one) for one in story]


def theirs_of(pid, fields):
    try:
        process = psutil.Process(pid)
        hostile = theirs.is_hostile(os.fsencode(process._proc.name()))
        return {field: theirs.reading(process, field, hostile) for field in fields}
    except (psutil.Error, OSError) as error:
        raise Ended(str(error)) from error


def judge(verdicts, key, before, ours, after):
    empty = has_nothing(key[0])
    for field in before:
        if field in ours and field in after:
            verdict = agrees(field, before[field], ours[field], after[field])
            # It has none of these, whoever asks: that needs no permission to be known.
            if verdict is False and empty and (is_nothing(field, ours[field]) or
                                               ours[field] == Missing("gone")):
                verdict = before[field] == Missing("denied")
            # psutil takes a process whose first thread has ended for a zombie; we read its other threads.
            if verdict is False and before[field] == Missing("zombie") and key[0] not in verdicts.made:
                verdict = None
            # psutil gives up where one process may not be looked at (defect 12); we tell of the rest.
            if field in RELATIVES and before[field] == Missing("denied"):
                verdict = None
            verdicts.add(key, field, verdict, (before[field], ours[field], after[field]))


def has_nothing(pid):
    """Of kernel threads and zombies."""
    try:
        return theirs.is_kernel_thread(pid) or theirs.is_zombie(pid)
    except (OSError, Ended):
        return False


def key_of(pid):
    try:
        fields = theirs.stat_fields(pid)
        return (pid, int(fields[21])), fields[1]
    except OSError as error:
        raise Ended(str(error)) from error


def made_here():
    """The pids of all that we started, by their parents' pids."""
    parents, made = {}, set()
    for pid in psutil.pids():
        with contextlib.suppress(OSError):
            parents[pid] = int(theirs.stat_fields(pid)[3])
    more = {os.getpid()}
    while more:
        more = {pid for pid, parent in parents.items() if parent in more}
        made |= more
    return made


def compare_handles(context, verdicts):
    ended, pids = set(), psutil.pids()
    for _ in range(ROUNDS):
        compare_pids(context, verdicts, pids, ended)
        pids = sorted({key[0] for key, _ in verdicts.suspects() if key not in ended})
    return verdicts.report(ended)


def compare_pids(context, verdicts, pids, ended):
    for pid in pids:
        if pid == os.getpid():
            continue  # running while it looks
        key = None
        try:
            key = verdicts.meet(pid)
            for _ in range(ATTEMPTS):
                fields = verdicts.open(key)
                before = theirs_of(pid, fields)
                ours = ours_by_handle(context, pid, fields)
                judge(verdicts, key, before, ours, theirs_of(pid, fields))
                if not verdicts.disputed(key):
                    break
        except Ended:
            ended.add(key)
        except Failure as failure:
            if failure.code != "gone" or os.path.exists(f"/proc/{pid}"):
                raise
            ended.add(key)


def compare_table(context, verdicts):
    ended = set()
    for _ in range(ROUNDS * ATTEMPTS):
        before = read_all(verdicts)
        snapshot = context.take(*COLUMNS)
        rows = snapshot.by("process", "pid")
        after = read_all(verdicts, before)
        for key in before.keys() & after.keys():
            row = rows.get(key[0])
            ours = ours_by_table(snapshot, row, before[key].keys()) if row else {}
            verdicts.add(key, "row", row is not None, ("not listed",))
            judge(verdicts, key, before[key], ours, after[key])
        ended |= before.keys() - after.keys()
        if not verdicts.disputed():
            break
    return verdicts.report(ended)


def read_all(verdicts, only=None):
    found = {}
    for pid in psutil.pids():
        if pid == os.getpid():
            continue
        try:
            key = verdicts.meet(pid)
            if only is not None and key not in only:
                continue
            found[key] = theirs_of(pid, verdicts.open(key) - set(OWN_FIELDS))
        except Ended:
            continue
    return found


def main():
    made = sys.argv[1] == "--made"
    mode = sys.argv[-1]
    context = api.Context()
    cast = None
    if made:
        import scene
        cast = scene.make_cast(sys.argv[2].split(","))
    begun = time.monotonic()
    try:
        found = {"handle": compare_handles, "table": compare_table}[mode](context,
                                                                          Verdicts(made_here()))
    finally:
        pids = cast.pids if cast else {}
        if cast:
            cast.close()
    json.dump({**found, "made": pids, "seconds": time.monotonic() - begun}, sys.stdout)


if __name__ == "__main__":
    main()
