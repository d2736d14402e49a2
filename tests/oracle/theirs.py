"""What psutil says of a process, field by field; and what /proc says, where psutil is known to be wrong
(its defects are shown, each by a test of its own, in the files beside this one).

A field that cannot be read is a Missing with its reason, which compares like any value.
"""

import collections
import os
import pathlib
import pwd
import resource
import socket

import psutil

TICKS = os.sysconf("SC_CLK_TCK")
STATES = {
    "R": "running", "S": "sleeping", "D": "disk_sleep", "T": "stopped", "t": "tracing_stop",
    "Z": "zombie", "X": "dead", "x": "dead", "I": "idle", "P": "parked",
}
IO_CLASSES = {0: "none", 1: "realtime", 2: "best_effort", 3: "idle"}
LIMITS = {name[7:].lower(): getattr(resource, name) for name in dir(resource)
          if name.startswith("RLIMIT_") and name != "RLIMIT_OFILE"} | {"locks": 10}

Missing = collections.namedtuple("Missing", "why")


class Ended(Exception):
    """The process is no more."""


# --- /proc, as a third source ------------------------------------------------------------------------

def read(*path):
    return pathlib.Path("/proc", *map(str, path)).read_bytes()


def stat_fields(*path):
    """All fields of a stat, numbered from 0: pid, name, state …"""
    text = read(*path, "stat")
    start, end = text.index(b"("), text.rindex(b")")
    return [path[-1], text[start + 1:end], *text[end + 2:].decode().split()]


# A kernel thread has no memory of its own, and so none of these; a peak of it was never counted.
NONE_IN_THE_KERNEL = ("RssAnon", "RssFile", "RssShmem", "VmSwap", "VmLck")


def is_kernel_thread(pid):
    return int(stat_fields(pid)[8]) & 0x200000 != 0


def status_lines(*path):
    """{key: text}; a name holds no newline here, the kernel escapes it."""
    lines = read(*path, "status").decode("utf-8", "surrogateescape").splitlines()
    pairs = [line.split(":", 1) for line in lines if ":" in line]
    found = {}
    for key, value in pairs:
        found.setdefault(key, value.strip())
    return found


def ids(pid, key):
    return tuple(map(int, status_lines(pid)[key].split()[:3]))


def cpu_list(text):
    """{0, 1, 2, 3, 8} of "0-3,8"."""
    found = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def environment_entries(block):
    """[(name, value)] of /proc/PID/environ; an entry without = has no value, an empty one says
    nothing."""
    pairs = []
    for entry in filter(None, block.split(b"\0")):
        name, equals, value = entry.partition(b"=")
        pairs.append((name, value if equals else None))
    return pairs


def limits(pid):
    """{name: (soft, hard)} of /proc/PID/limits, None for no limit."""
    titles = {"Max cpu time": "cpu", "Max file size": "fsize", "Max data size": "data",
              "Max stack size": "stack", "Max core file size": "core", "Max resident set": "rss",
              "Max processes": "nproc", "Max open files": "nofile", "Max locked memory": "memlock",
              "Max address space": "as", "Max file locks": "locks",
              "Max pending signals": "sigpending", "Max msgqueue size": "msgqueue",
              "Max nice priority": "nice", "Max realtime priority": "rtprio",
              "Max realtime timeout": "rttime"}
    found = {}
    for line in read(pid, "limits").decode().splitlines()[1:]:
        title, words = line[:25].strip(), line[25:].split()
        found[titles[title]] = tuple(None if word == "unlimited" else int(word)
                                     for word in words[:2])
    return found


# --- psutil ------------------------------------------------------------------------------------------

def is_hostile(name):
    """Whether psutil misreads the files of a process with this name (its defects 2 and 3)."""
    return any(word in name for word in (b")", b"\n", b"\t", b":", b"\\"))


def endpoint(address, unix):
    if unix:
        return os.fsencode(address)
    return (address.ip.encode(), address.port) if address else ()


def connections(process, kind="all"):
    """{(descriptor, family, type, local, remote, state)}."""
    found = set()
    for one in process.net_connections(kind):
        unix = one.family == socket.AF_UNIX
        found.add((one.fd, one.family.name[3:].lower(),
                   {1: "stream", 2: "datagram", 5: "seqpacket"}[int(one.type)],
                   endpoint(one.laddr, unix), b"" if unix else endpoint(one.raddr, unix),
                   one.status.lower().replace("syn_recv", "syn_received")))
    return found


def mapping(one):
    # psutil cuts blanks at both ends of a path.
    return (one.addr.encode(), one.perms.encode(), os.fsencode(one.path), *one[3:])


def stays(path):
    """Not in /proc, whose files come and go with processes, and whose links say "deleted" of files in
    net that are there."""
    return not path.startswith(b"/proc/")


def affinity(process):
    return set(process.cpu_affinity())


def ionice(process):
    io_class, value = process.ionice()
    # psutil keeps hint bits in the level (defect 10), and a level where the class has none.
    name = IO_CLASSES[int(io_class)]
    return name, value & 7 if name in ("realtime", "best_effort") else None


def rlimits(process):
    none = resource.RLIM_INFINITY
    return {name: tuple(None if value == none else value for value in process.rlimit(number))
            for name, number in LIMITS.items()}


def threads(process):
    return {one.id: (round(one.user_time * TICKS), round(one.system_time * TICKS))
            for one in process.threads()}


def true_threads(pid):
    found = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            fields = stat_fields(pid, "task", tid)
        except (FileNotFoundError, ProcessLookupError):
            continue
        found[int(tid)] = (int(fields[13]), int(fields[14]))
    return found


def ticks(seconds):
    return tuple(round(one * TICKS) for one in seconds)


def user_name(pid):
    uid = ids(pid, "Uid")[0]
    try:
        return pwd.getpwuid(uid).pw_name.encode()
    except KeyError:
        return b"%d" % uid


def terminal(process):
    """psutil looks for the device in its own /dev, where one of another mount namespace is missing."""
    name = process.terminal()
    if name is None and stat_fields(process.pid)[6] != "0":
        raise KeyError("no such terminal in this /dev")
    return (name or "").removeprefix("/dev/").encode()


def context_switches(process):
    return tuple(process.num_ctx_switches())


def has_delays():
    """Whether the kernel counts field 42 of stat."""
    try:
        return pathlib.Path("/proc/sys/kernel/task_delayacct").read_text().strip() == "1"
    except OSError:
        return False


# field: what psutil says. Hidden methods (_proc) are psutil's own reading without what it guesses
# from other fields: a longer name from the command line, a path from its first argument.
PSUTIL = {
    "name": lambda p: os.fsencode(p._proc.name()),
    "exe": lambda p: os.fsencode(p._proc.exe()),
    "cwd": lambda p: os.fsencode(p.cwd()),
    "terminal": terminal,
    "create_time": lambda p: p.create_time(),
    "status": lambda p: p.status().replace("-", "_").encode(),
    "username": lambda p: p.username().encode(),
    "ppid": lambda p: p.ppid(),
    "uids": lambda p: tuple(p.uids()),
    "gids": lambda p: tuple(p.gids()),
    "num_threads": lambda p: p.num_threads(),
    "threads": threads,
    "num_fds": lambda p: p.num_fds(),
    "num_ctx_switches": context_switches,
    "cpu_times": lambda p: ticks(p.cpu_times()[:4]),
    "cpu_num": lambda p: p.cpu_num(),
    "cpu_affinity": affinity,
    "nice": lambda p: p.nice(),
    "ionice": ionice,
    "rlimit": rlimits,
    "memory_info": lambda p: tuple(p.memory_info()[:4]) + (p.memory_info().data,),
    "memory_full_info": lambda p: tuple(p.memory_full_info()[-3:]),
    "memory_percent": lambda p: p.memory_percent(),
    "memory_maps": lambda p: [mapping(one) for one in p.memory_maps(grouped=False)],
    "memory_maps_grouped": lambda p: {os.fsencode(one.path): tuple(one[1:])
                                      for one in p.memory_maps(grouped=True)},
    "io_counters": lambda p: tuple(p.io_counters()),
    "open_files": lambda p: {(os.fsencode(f.path), f.fd, f.position, f.mode.encode(), f.flags)
                             for f in p.open_files() if stays(os.fsencode(f.path))},
    "net_connections": connections,
    "children": lambda p: {one.pid for one in p.children()},
    "descendants": lambda p: {one.pid for one in p.children(recursive=True)},
    "parents": lambda p: {one.pid for one in p.parents()},
    "is_running": lambda p: p.is_running(),
}

# field: what /proc says, where psutil says nothing, or something else.
KERNEL = {
    "cmdline": lambda pid: read(pid, "cmdline"),
    "environ": lambda pid: environment_entries(read(pid, "environ")),
    "page_faults": lambda pid: (int(stat_fields(pid)[9]), int(stat_fields(pid)[11])),
    "limits": limits,
    "start": lambda pid: int(stat_fields(pid)[21]),
    "groups": lambda pid: (int(stat_fields(pid)[4]), int(stat_fields(pid)[5])),
    "priority": lambda pid: (int(stat_fields(pid)[17]), int(stat_fields(pid)[39])),
    "oom": lambda pid: (int(read(pid, "oom_score")), int(read(pid, "oom_score_adj"))),
    "namespaces": lambda pid: tuple(
        os.stat(f"/proc/{pid}/ns/{name}").st_ino
        for name in ("pid", "net", "mnt", "user", "cgroup", "ipc", "uts")),
    "peaks": lambda pid: tuple(int(status_lines(pid)[key].split()[0]) * 1024
                               if key in status_lines(pid) else
                               0 if key in NONE_IN_THE_KERNEL and is_kernel_thread(pid) else None
                               for key in ("VmHWM", "VmPeak", *NONE_IN_THE_KERNEL)),
    "security": lambda pid: (int(status_lines(pid)["NoNewPrivs"]),
                             (b"disabled", b"strict", b"filter")[int(status_lines(pid)["Seccomp"])],
                             int(status_lines(pid)["TracerPid"])),
}

# The same of fields that psutil misreads where the name is hostile.
TRUTH = {
    "uids": lambda pid: ids(pid, "Uid"),
    "username": user_name,
    "gids": lambda pid: ids(pid, "Gid"),
    "num_threads": lambda pid: int(stat_fields(pid)[19]),
    "threads": true_threads,
    "num_ctx_switches": lambda pid: tuple(
        int(status_lines(pid)[key])
        for key in ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches")),
}


def psutil_reading(process, field, hostile):
    if hostile and field in TRUTH:
        return TRUTH[field](process.pid)
    return PSUTIL[field](process)


def reading(process, field, hostile):
    """One field of a psutil.Process."""
    try:
        if field in KERNEL:
            return KERNEL[field](process.pid)
        return psutil_reading(process, field, hostile)
    except psutil.ZombieProcess:
        return Missing("zombie")
    except (psutil.AccessDenied, PermissionError):
        return Missing("denied")
    except (psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError) as error:
        if not is_zombie(process.pid):
            raise Ended(str(error)) from error
        return Missing("zombie")
    except KeyError as error:
        # open_files() fails on access mode 3 (defect 6), net_connections() on unknown states,
        # terminal() on another mount namespace's.
        return Missing(f"psutil failed: {error!r}")


def is_zombie(pid):
    """Raises Ended where it is no more."""
    try:
        return stat_fields(pid)[2] == "Z"
    except OSError as error:
        raise Ended(str(error)) from error


def is_kernel_thread(pid):
    """PF_KTHREAD."""
    return bool(int(stat_fields(pid)[8]) & 0x00200000)


FIELDS = (*PSUTIL, *KERNEL)
