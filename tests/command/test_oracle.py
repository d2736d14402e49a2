"""`vitals --json` against psutil, procps and the kernel's own counters, on this machine as it runs.

Theirs is read before and after ours. A counter of ours must lie between, what did not move must be
equal. A machine with neighbours moves: what does not agree is read again, and only what never agrees
is wrong. Where an oracle is wrong, the test says so and shows why.
"""

import bisect
import collections
import ctypes
import itertools
import json
import os
import pathlib
import re
import subprocess
import time
import unittest

import psutil
from cast import NOBODY, Cast, as_user, kernel_thread, ordinary
from harness import SANITIZED, VITALS, environment, in_most_of, wait_until

TICKS = os.sysconf("SC_CLK_TCK")
ATTEMPTS = 8
OFTEN = 3  # one that lives shorter than so many attempts may differ by chance
NO_NAME = 54321  # a user id without a name

STATES = {
    "R": "running", "S": "sleeping", "D": "disk_sleep", "T": "stopped", "t": "tracing_stop",
    "Z": "zombie", "X": "dead", "x": "dead", "I": "idle", "P": "parked",
}


# --- Ours ------------------------------------------------------------------------------------------

def snapshots(*arguments, prefix=()):
    result = subprocess.run(
        [*prefix, VITALS, "--json", "--backends", "none", *map(str, arguments)],
        env=environment(), capture_output=True, stdin=subprocess.DEVNULL, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def snapshot(*arguments, prefix=()):
    return snapshots(*arguments, prefix=prefix)[0]


def host_row(*arguments, prefix=()):
    return snapshot(*arguments, prefix=prefix)["tables"]["host"][0]


# --- Processes that are made for this --------------------------------------------------------------

NAMES = {
    "spaces": b"two words here",
    "bracket": b"x) Z 1 (y",
    "fifteen": b"fifteen-bytes-x",
    "sixteen": b"sixteen-bytes-xx",
    "cut_inside_a_letter": "ééééééééé".encode(),
    "newline": b"two\nlines",
    "empty": b"",
    "backslash": b"back\\slash\\n",
}

TRACED = """
child = os.fork()
if child == 0:
    libc.ptrace(0, 0, 0, 0)
    os.kill(os.getpid(), signal.SIGSTOP)
    os._exit(0)
os.waitpid(child, 2)  # WUNTRACED
print(child, flush=True)
sys.stdin.read()
os.kill(child, signal.SIGKILL)
os._exit(0)
"""


def make_cast():
    cast = Cast()
    for role, words in NAMES.items():
        cast.add(role, f"name({words!r}); ready(); stay()")
    cast.add("threads", """
def burn():
    while True:
        hashlib.pbkdf2_hmac('sha256', b'a', b'b', 20000)  # without the interpreter's lock
os.nice(5)
for _ in range(2): threading.Thread(target=burn, daemon=True).start()
for _ in range(3): threading.Thread(target=threading.Event().wait, daemon=True).start()
ready()
stay()
""")
    cast.add("zombie", """
child = os.fork()
if child == 0: os._exit(3)
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
print(child, flush=True)
stay()
""")
    cast.add("stopped", "ready(); os.kill(os.getpid(), signal.SIGSTOP); stay()")
    cast.wait_for_state("stopped", "T")
    cast.add("traced", TRACED)
    cast.add("arguments", "ready(); stay()", "", "b c", "--x=\u00e9", "a\nb", "")
    cast.add("children", """
for _ in range(3):
    if os.fork() == 0: time.process_time() ; os._exit(0)
    os.wait()
ready(); stay()
""")
    for role, uid in (("nobody", NOBODY.pw_uid), ("no_name", NO_NAME)):
        words, reason = as_user(uid, uid)
        if reason is None:
            cast.add(role, "ready(); stay()", prefix=words)
    return cast


# --- Theirs ----------------------------------------------------------------------------------------

def read_bytes(*path):
    return pathlib.Path("/proc", *map(str, path)).read_bytes()


def stat_fields(pid):
    """All fields of /proc/PID/stat, numbered from 0: pid, name, state …"""
    text = read_bytes(pid, "stat")
    start, end = text.index(b"("), text.rindex(b")")
    return [str(pid), text[start + 1:end], *text[end + 2:].decode().split()]


def own_cgroup(pid):
    """Version 2, else memory, else cpuacct; None where the process has neither."""
    found = {}
    for line in read_bytes(pid, "cgroup").decode("utf-8", "replace").splitlines():
        number, controllers, path = line.split(":", 2)
        if number == "0":
            found["v2"] = path
        for controller in controllers.split(","):
            found[controller] = path
    return found


# Exactly equal, unless it moved between our two readings of theirs.
SAME = ("pid", "ppid", "start", "name", "state", "threads", "uid", "user", "rss", "vms", "nice",
        "cpu")
# Only grow.
GROW = ("user_ticks", "system_ticks", "minor", "major")


def theirs_of(pid):
    """One process by psutil, where psutil is right, and by /proc, where psutil has no word for it.
    None where it ended."""
    try:
        process = psutil.Process(pid)
        with process.oneshot():
            times, memory = process.cpu_times(), process.memory_info()
            fields = stat_fields(pid)
            try:
                user = process.username()
            except KeyError:
                user = str(process.uids().real)
            return {
                "pid": process.pid,
                "ppid": process.ppid(),
                "start": round(process._proc.create_time(monotonic=True) * TICKS),
                # psutil's name() is the command line's where that is longer.
                "name": os.fsencode(process._proc.name()).decode("utf-8", "replace"),
                "state": STATES[fields[2]],
                "status": process.status(),
                # psutil's num_threads() believes a name that holds "\nThreads:\t7".
                "threads": int(fields[19]),
                "uid": process.uids().real,
                "user": user,
                "command": read_bytes(pid, "cmdline"),
                "rss": memory.rss,
                "vms": memory.vms,
                "nice": process.nice(),
                "cpu": process.cpu_num(),
                "user_ticks": round(times.user * TICKS),
                "system_ticks": round(times.system * TICKS),
                "minor": int(fields[9]),
                "major": int(fields[11]),
                "cgroup": own_cgroup(pid),
            }
    except (psutil.Error, OSError):
        return None


def theirs():
    found = {pid: theirs_of(pid) for pid in psutil.pids()}
    return {pid: one for pid, one in found.items() if one is not None}


def ours_of(row):
    command = row["command_line"]
    ticks = lambda name: None if row[name] is None else round(row[name] * TICKS)
    return {
        "pid": row["pid"], "ppid": row["parent_pid"], "start": ticks("start_seconds"),
        "name": row["name"], "state": row["state"], "threads": row["threads"], "uid": row["uid"],
        "user": row["user"], "command": command, "rss": row["resident_bytes"],
        "vms": row["virtual_bytes"], "nice": row["nice"], "cpu": row["cpu"],
        "user_ticks": ticks("cpu_user_seconds"), "system_ticks": ticks("cpu_system_seconds"),
        "minor": row["minor_faults"], "major": row["major_faults"],
    }


def is_command(ours, kernel):
    """The kernel's bytes. A zombie has none left, and we say so."""
    text = kernel.decode("utf-8", "replace")
    return ours == text or (ours is None and text == "")


def disagreements(before, row, after):
    """The fields in which our row can be neither of what they saw."""
    ours = ours_of(row)
    found = {}
    if before["command"] == after["command"] and not is_command(ours["command"], before["command"]):
        found["command"] = (before["command"], ours["command"])
    for field in SAME:
        if field == "state" and row["pid"] == os.getpid():
            continue  # running while it looks, and waiting while ours does
        if before[field] == after[field] and ours[field] != before[field]:
            found[field] = (before[field], ours[field])
    for field in GROW:
        if ours[field] is None or not before[field] <= ours[field] <= after[field]:
            found[field] = (before[field], ours[field], after[field])
    # The scheduler's clock runs on inside a tick; each thread may be a tick ahead of its ticks.
    slack = 2 * (1 + max(before["threads"], after["threads"])) / TICKS
    low = (before["user_ticks"] + before["system_ticks"]) / TICKS - slack
    high = (after["user_ticks"] + after["system_ticks"]) / TICKS + slack
    if row["cpu_seconds"] is None or not low <= row["cpu_seconds"] <= high:
        found["cpu_seconds"] = (low, row["cpu_seconds"], high)
    if row["cgroup"] not in before["cgroup"].values():
        found["cgroup"] = (before["cgroup"], row["cgroup"])
    return found


def compare_everything(case, prefix=(), must_hold=()):
    """Every process that lived all the while, until each has agreed in every field once."""
    stubborn, compared, latest = {}, collections.Counter(), {}
    for _ in range(ATTEMPTS):
        before = theirs()
        rows = {row["pid"]: row for row in snapshot(prefix=prefix)["tables"]["process"]}
        after = theirs()
        lived = {pid for pid in before if pid in after and
                 before[pid]["start"] == after[pid]["start"]}
        case.assertLessEqual(lived, set(rows), "processes that we do not list")
        for pid in lived:
            wrong = disagreements(before[pid], rows[pid], after[pid])
            key = (pid, before[pid]["start"])
            latest[pid] = before[pid]
            # A field that agreed once is right; one that never did stays.
            stubborn[key] = {field: what for field, what in wrong.items()
                             if field in stubborn.get(key, wrong)}
            compared[key] += 1
        living = {(pid, before[pid]["start"]) for pid in lived}
        if not any(stubborn[key] for key in living):
            break
    for key in sorted(key for key in living if compared[key] >= OFTEN or not stubborn[key]):
        with case.subTest(pid=key[0], name=latest[key[0]]["name"]):
            case.assertEqual(stubborn[key], {})
    case.assertLessEqual(set(must_hold), {pid for pid, _ in living}, "made for this, and not compared")
    return latest


class Processes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cast = make_cast()
        cls.addClassCleanup(cls.cast.close)

    def rows(self, *arguments, prefix=()):
        rows = {row["pid"]: row
                for row in snapshot(*arguments, prefix=prefix)["tables"]["process"]}
        return {role: rows[pid] for role, pid in self.cast.pids.items() if pid in rows}

    def test_every_process_agrees(self):
        compare_everything(self, must_hold=self.cast.pids.values())

    def test_every_process_agrees_for_an_ordinary_user(self):
        compare_everything(self, prefix=ordinary(self), must_hold=self.cast.pids.values())

    def test_agrees_with_ps(self):
        """ps reads the same files, but by other code than psutil."""
        columns = "pid,ppid,ni,nlwp,psr,min_flt,maj_flt,ruid,vsz,rss,s"
        right, wrong = set(), {}

        def listing():
            text = subprocess.run(["ps", "-e", "-o", columns], check=True, text=True,
                                  capture_output=True).stdout
            words = [line.split() for line in text.splitlines()[1:]]
            return {int(line[0]): line[1:] for line in words}

        for _ in range(ATTEMPTS):
            before = listing()
            rows = {row["pid"]: row for row in snapshot()["tables"]["process"]}
            after = listing()
            for pid in before.keys() & after.keys() & rows.keys():
                row = rows[pid]
                if row["virtual_bytes"] is None or row["resident_bytes"] is None:
                    continue  # it ended while we read
                ours = [row["parent_pid"], row["nice"], row["threads"], row["cpu"],
                        row["minor_faults"], row["major_faults"], row["uid"],
                        row["virtual_bytes"] // 1024, row["resident_bytes"] // 1024,
                        {word: letter for letter, word in STATES.items() if letter != "x"}
                        [row["state"]]]
                # Real time has no nice value.
                ours = [word if str(ours[n]) != word and word == "-" else str(ours[n])
                        for n, word in enumerate(before[pid])]
                # Reading processes wakes threads of the kernel (rcu_preempt): their state while
                # we read is never that before and after.
                if row["parent_pid"] == 2:
                    ours[-1] = before[pid][-1]
                if before[pid] == after[pid]:
                    if ours == before[pid]:
                        right.add(pid)
                        wrong.pop(pid, None)
                    elif pid not in right:
                        wrong.setdefault(pid, []).append((before[pid], ours))
            if not wrong and set(self.cast.pids.values()) - {self.cast.pids["threads"]} <= right:
                break
        self.assertEqual({pid: seen for pid, seen in wrong.items() if len(seen) >= OFTEN}, {})
        self.assertGreater(len(right), 5)
        self.assertLessEqual(set(self.cast.pids.values()) - {self.cast.pids["threads"]}, right)

    def test_a_name_is_what_the_process_chose(self):
        rows = self.rows()
        for role, words in NAMES.items():
            with self.subTest(role=role):
                self.assertEqual(rows[role]["name"], words[:15].decode("utf-8", "replace"))

    def test_states(self):
        rows = self.rows()
        for role, state in (("zombie", "zombie"), ("stopped", "stopped"),
                            ("traced", "tracing_stop"), ("spaces", "sleeping")):
            with self.subTest(role=role):
                self.assertEqual(rows[role]["state"], state)

    def test_a_zombie_has_what_a_zombie_has(self):
        row = self.rows()["zombie"]
        self.assertEqual((row["resident_bytes"], row["virtual_bytes"]), (0, 0))
        self.assertEqual((row["command_line"], row["availability"]["command_line"]),
                         (None, "gone"))
        self.assertEqual(row["uid"], os.getuid())
        self.assertIsNotNone(row["cpu_seconds"])

    def test_kernel_threads_have_no_command_line(self):
        """pid 2 and its children; psutil's cmdline() says [] of them."""
        first = kernel_thread(self)
        threads = [row for row in snapshot()["tables"]["process"] if row["parent_pid"] == first]
        self.assertGreater(len(threads), 0)
        for row in threads:
            self.assertEqual((row["command_line"], row["resident_bytes"], row["uid"]), ("", 0, 0))

    def test_threads(self):
        row = self.rows()["threads"]
        self.assertEqual((row["threads"], row["nice"]), (6, min(os.nice(0) + 5, 19)))

    def test_arguments(self):
        command = self.rows()["arguments"]["command_line"]
        pid = self.cast.pids["arguments"]
        self.assertTrue(is_command(command, read_bytes(pid, "cmdline")), command)
        self.assertEqual(command.split("\0")[3:8], ["", "b c", "--x=\u00e9", "a\nb", ""])

    def test_a_command_line_ends_as_it_is_documented(self):
        """docs/json.md and docs/metrics.md: the arguments, each ended by NUL."""
        command = self.rows()["arguments"]["command_line"]
        self.assertEqual(command.encode(), read_bytes(self.cast.pids["arguments"], "cmdline"))

    def test_other_users(self):
        rows = self.rows()
        if "nobody" not in rows:
            self.skipTest(as_user(NOBODY.pw_uid, NOBODY.pw_uid)[1])
        self.assertEqual((rows["nobody"]["uid"], rows["nobody"]["user"]),
                         (NOBODY.pw_uid, "nobody"))
        self.assertEqual((rows["no_name"]["uid"], rows["no_name"]["user"]),
                         (NO_NAME, str(NO_NAME)))

    def test_start_is_exact_where_psutil_truncates(self):
        """create_time() counts from btime, which lacks its fraction: up to 1 s early (§8, 13)."""
        boot = psutil.boot_time()
        for role, row in self.rows().items():
            with self.subTest(role=role):
                ticks = int(stat_fields(row["pid"])[21])
                self.assertAlmostEqual(row["start_seconds"], ticks / TICKS, places=6)
                early = psutil.Process(row["pid"]).create_time() - boot - row["start_seconds"]
                self.assertLess(abs(early), 0.001)
                real = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
                self.assertLess(abs(real - boot), 1.01)

    def test_start_is_printed_as_the_kernel_counts(self):
        for row in snapshot()["tables"]["process"]:
            self.assertEqual(row["start_seconds"], round(row["start_seconds"] * TICKS) / TICKS)

    def test_cpu_of_a_thread_group_is_its_clock(self):
        """Ours lies between two readings of the burner's own clock, to the nanosecond."""
        pid = self.cast.pids["threads"]
        clock = ctypes.c_int(((~pid) << 3) | 2).value
        before = time.clock_gettime_ns(clock)
        ours = self.rows()["threads"]["cpu_seconds"]
        after = time.clock_gettime_ns(clock)
        self.assertGreater(after, before)
        self.assertTrue(before <= round(ours * 1e9) + 1 and round(ours * 1e9) - 1 <= after,
                        (before, ours, after))


# --- The duty cycle --------------------------------------------------------------------------------

# Works 36 of 100 ms, and says at every 4 of them what time it is and what it has used. The pauses are
# the load that is measured.
DUTY = """
def note():
    usage = __import__('resource').getrusage(0)
    notes.append((time.monotonic_ns(), time.process_time_ns(),
                  usage.ru_utime + usage.ru_stime))
notes, done = [], threading.Event()
threading.Thread(target=lambda: (sys.stdin.readline(), done.set()), daemon=True).start()
ready()
while not done.is_set():
    note()
    for _ in range(9):
        until = time.process_time() + 0.004
        while time.process_time() < until: pass
        note()
    done.wait(0.064)
note()
for one in notes: print(*one)
sys.stdout.flush()
os._exit(0)
"""


def used_at(notes, moment):
    """CPU seconds of the process at a moment: the least and the most, of the notes around it."""
    times = [one[0] for one in notes]
    right = bisect.bisect(times, moment)
    assert 0 < right < len(notes), "a moment outside of the notes"
    return notes[right - 1][1] / 1e9, notes[right][1] / 1e9


def used_between(notes, start, end):
    """The same of the seconds between two moments."""
    (low0, high0), (low1, high1) = used_at(notes, start), used_at(notes, end)
    return low1 - high0, high1 - low0


class Rates(unittest.TestCase):
    def start(self):
        cast = Cast()
        self.addCleanup(cast.close)
        program = cast.add("duty", DUTY)
        # Three turns, so that there are notes before the first reading.
        clock = ctypes.c_int(((~program.pid) << 3) | 2).value
        begun = time.clock_gettime(clock)
        wait_until(lambda: time.clock_gettime(clock) >= begun + 0.1, "three turns")
        return program

    def finish(self, program):
        program.stdin.write(b"\n")
        program.stdin.flush()
        return [(int(a), int(b), float(c)) for a, b, c in map(bytes.split, program.stdout)]

    def check(self, prefix=()):
        program = self.start()
        moments = []
        for one in snapshots("--interval", 0.5, "--count", 2, prefix=prefix):
            row, = [row for row in one["tables"]["process"] if row["pid"] == program.pid]
            moments.append((int(one["monotonic_ns"]) - row["age_ns"], row["cpu_seconds"],
                            row["cpu_user_seconds"] + row["cpu_system_seconds"]))
        notes = self.finish(program)
        (t0, ours0, ticks0), (t1, ours1, ticks1) = moments
        self.assertGreater(t1 - t0, 0.3e9)
        low, high = used_between(notes, t0, t1)
        # A row's moment is that of its stat, and the clock is read right after.
        self.assertTrue(low - 0.005 <= ours1 - ours0 <= high + 0.005, (low, ours1 - ours0, high))
        # The two columns that count by ticks, too.
        self.assertTrue(low - 2 / TICKS <= ticks1 - ticks0 <= high + 2 / TICKS,
                        (low, ticks1 - ticks0, high))
        # It was a load, and no full one.
        seconds = (t1 - t0) / 1e9
        self.assertGreater(low / seconds, 0.02)
        self.assertLess(high / seconds, 0.9)
        self.assertAlmostEqual(notes[-1][2], notes[-1][1] / 1e9, delta=0.05)

    def test_a_duty_cycle(self):
        in_most_of(ATTEMPTS, self.check)

    def test_a_duty_cycle_for_an_ordinary_user(self):
        prefix = ordinary(self)
        in_most_of(ATTEMPTS, lambda: self.check(prefix))

    def test_the_report_prints_it(self):
        in_most_of(ATTEMPTS, self.check_report)

    def check_report(self):
        program = self.start()
        before = time.monotonic_ns()
        result = subprocess.run(
            [VITALS, "-1", "--delay", "0.5", "--backends", "none", "-p", str(program.pid)],
            env=environment(COLUMNS=120), capture_output=True, text=True, timeout=60, check=True,
            stdin=subprocess.DEVNULL)
        after = time.monotonic_ns()
        notes = self.finish(program)
        line, = [line for line in result.stdout.splitlines() if f" {program.pid} " in line]
        printed = float(re.search(r"(?:B|N/A) +(\d+\.?\d*) ", line)[1]) / 100
        # Which half second it was is not told: the least and the most of all that it can have been.
        rates = [used_between(notes, start, start + 500_000_000)
                 for start in range(before, max(before + 1, after - 500_000_000), 5_000_000)]
        self.assertGreater(printed, min(low for low, _ in rates) / 0.5 - 0.02)
        self.assertLess(printed, max(high for _, high in rates) / 0.5 + 0.02)


# --- The machine -----------------------------------------------------------------------------------

# While we read, what we take for ourselves is taken: our pages, our threads and their stacks.
OWN = {name: 64 << 20 for name in (
    "memory_free_bytes", "memory_available_bytes", "memory_used_bytes", "memory_committed_bytes",
    "memory_inactive_bytes", "memory_active_bytes", "memory_inactive_anon_bytes",
    "memory_active_anon_bytes")}
# The command and its lanes: one for each kind of file that may block, and one per vendor.
OWN |= {"tasks": 12, "tasks_running": 12}
# Each process, file and descriptor of ours takes some of the kernel's slabs while it is there.
OWN |= {"memory_slab_bytes": 4 << 20, "memory_slab_reclaimable_bytes": 4 << 20}
# Loads are rounded by the kernel here and by the library there.
OWN |= {"load_1m": 0.011, "load_5m": 0.011, "load_15m": 0.011}


def agree(case, read, names, prefix=()):
    """Until each of ours lay once between two of theirs. `read` gives a dictionary by our names."""
    left, seen = set(names), {}
    for _ in range(4 * ATTEMPTS):
        before = read()
        row = host_row(prefix=prefix)
        after = read()
        for name in sorted(left):
            low, high = sorted((before[name], after[name]))
            slack = OWN.get(name, 0)
            seen[name] = (low, row[name], high)
            if row[name] is not None and low - slack <= row[name] <= high + slack:
                left.discard(name)
        if not left:
            return
    case.assertEqual({name: seen[name] for name in left}, {})


def diskstats():
    """Whole disks that lie on no other, by /sys; the sums that we promise."""
    sums = {"disk_reads": 0, "disk_read_bytes": 0, "disk_writes": 0, "disk_written_bytes": 0}
    for line in pathlib.Path("/proc/diskstats").read_text().splitlines():
        words = line.split()
        block = pathlib.Path("/sys/block", words[2].replace("/", "!"))
        if not block.exists() or re.match(r"(loop|ram|zram|sr|fd|dm-|md)\d", words[2]):
            continue
        sums["disk_reads"] += int(words[3])
        sums["disk_read_bytes"] += int(words[5]) * 512
        sums["disk_writes"] += int(words[7])
        sums["disk_written_bytes"] += int(words[9]) * 512
    return sums


def network():
    """Of the interfaces that are hardware: what a bridge or a container sends passes them too. Without hardware, of
    all but loopback and bridges."""
    nics = psutil.net_io_counters(pernic=True, nowrap=False)
    has = lambda name, mark: os.path.exists(f"/sys/class/net/{name}/{mark}")
    counted = [n for name, n in nics.items() if has(name, "device")] or [
        n for name, n in nics.items() if name != "lo" and not has(name, "bridge")]
    return {
        "network_received_bytes": sum(n.bytes_recv for n in counted),
        "network_transmitted_bytes": sum(n.bytes_sent for n in counted),
    }


def memory():
    m, s = psutil.virtual_memory(), psutil.swap_memory()
    return {
        "memory_total_bytes": m.total, "memory_free_bytes": m.free,
        "memory_available_bytes": m.available, "memory_used_bytes": m.total - m.available,
        "memory_buffers_bytes": m.buffers, "memory_cached_bytes": m.cached,
        "memory_shared_bytes": m.shared, "memory_active_bytes": m.active,
        "memory_inactive_bytes": m.inactive, "memory_slab_bytes": m.slab,
        "swap_total_bytes": s.total, "swap_free_bytes": s.free, "swap_used_bytes": s.used,
    }


def free():
    text = subprocess.run(["free", "-b", "-w"], check=True, capture_output=True, text=True,
                          env=environment(LC_ALL="C")).stdout.splitlines()
    names = ["total", "used", "free", "shared", "buffers", "cached", "available"]
    result = {f"memory_{name}_bytes": int(word)
              for name, word in zip(names, text[1].split()[1:], strict=True)}
    for name, word in zip(names, text[2].split()[1:], strict=False):
        result[f"swap_{name}_bytes"] = int(word)
    return result


MEMINFO = {
    "memory_page_cache_bytes": "Cached", "memory_active_anon_bytes": "Active(anon)",
    "memory_inactive_anon_bytes": "Inactive(anon)", "memory_active_file_bytes": "Active(file)",
    "memory_inactive_file_bytes": "Inactive(file)", "memory_slab_reclaimable_bytes": "SReclaimable",
    "memory_dirty_bytes": "Dirty", "memory_committed_bytes": "Committed_AS",
}


def meminfo():
    lines = dict(line.split(":") for line in
                 pathlib.Path("/proc/meminfo").read_text().splitlines())
    return {name: int(lines[key].split()[0]) * 1024 for name, key in MEMINFO.items()}


CPU = {
    "user": "user", "nice": "nice", "system": "system", "idle": "idle", "iowait": "iowait",
    "irq": "irq", "softirq": "softirq", "steal": "steal", "guest": "guest",
    "guest_nice": "guest_nice",
}


class Host(unittest.TestCase):
    @unittest.skipIf(SANITIZED, "a sanitized vitals takes memory of its own while it reads")
    def test_memory_is_psutil_s(self):
        agree(self, memory, memory())

    @unittest.skipIf(SANITIZED, "a sanitized vitals takes memory of its own while it reads")
    def test_memory_is_free_s(self):
        names = free()
        version = subprocess.run(["free", "--version"], capture_output=True, text=True,
                                 check=True).stdout
        if not re.search(r" 4\.", version):
            # Before 4, used was total - free - buffers - cached.
            del names["memory_used_bytes"]
        agree(self, free, names)

    @unittest.skipIf(SANITIZED, "a sanitized vitals takes memory of its own while it reads")
    def test_memory_lines(self):
        agree(self, meminfo, MEMINFO)

    def test_disks(self):
        agree(self, diskstats, diskstats())

    def test_disks_where_psutil_agrees(self):
        """psutil counts loop, ram, dm and md devices beside the disks that they lie on."""
        def theirs():
            disks = psutil.disk_io_counters(nowrap=False)
            return {"disk_reads": disks.read_count, "disk_writes": disks.write_count,
                    "disk_read_bytes": disks.read_bytes, "disk_written_bytes": disks.write_bytes}

        twice = [name for name, disk in
                 psutil.disk_io_counters(perdisk=True, nowrap=False).items()
                 if re.match(r"(loop|ram|zram|sr|fd|dm-|md)\d", name) and disk.read_count]
        if psutil.disk_io_counters(nowrap=False) is None:
            self.skipTest("no disk")
        if twice:
            self.skipTest(f"psutil counts {twice[0]} too, test_disks does not")
        agree(self, theirs, theirs())

    def test_network_is_without_loopback(self):
        agree(self, network, network())

    def test_load(self):
        def theirs():
            text = pathlib.Path("/proc/loadavg").read_text().split()
            load = psutil.getloadavg()
            running, tasks = text[3].split("/")
            return {"load_1m": round(load[0], 2), "load_5m": round(load[1], 2),
                    "load_15m": round(load[2], 2), "tasks": int(tasks),
                    "tasks_running": int(running)}
        agree(self, theirs, theirs())

    def test_counters(self):
        def theirs():
            stats = psutil.cpu_stats()
            lines = dict(line.split()[:2] for line in
                         pathlib.Path("/proc/stat").read_text().splitlines() if line.strip())
            return {"context_switches": stats.ctx_switches, "interrupts": stats.interrupts,
                    "forks": int(lines["processes"]),
                    "tasks_blocked": int(lines["procs_blocked"]),
                    "processes": len(psutil.pids()), "cpus": psutil.cpu_count(),
                    "cpus_usable": len(os.sched_getaffinity(0))}
        agree(self, theirs, theirs().keys() - {"processes"})
        # What ended between the list and its own reading has no row.
        rows = snapshot()["tables"]
        listed = rows["host"][0]["processes"]
        self.assertLessEqual(len(rows["process"]), listed)
        self.assertGreaterEqual(len(rows["process"]), listed * 0.7)

    def test_affinity(self):
        cpu = min(os.sched_getaffinity(0))
        row = host_row(prefix=("taskset", "-c", str(cpu)))
        self.assertEqual(row["cpus_usable"], 1)
        self.assertEqual(row["cpus"], psutil.cpu_count())

    def test_total_cpu_times(self):
        def theirs():
            return {f"cpu_{ours}_seconds": round(getattr(psutil.cpu_times(), name), 2)
                    for name, ours in CPU.items()}
        agree(self, theirs, theirs())

    def test_cpu_times_of_each_core(self):
        left, seen = None, {}
        for _ in range(4 * ATTEMPTS):
            before = psutil.cpu_times(percpu=True)
            rows = snapshot()["tables"]["cpu"]
            after = psutil.cpu_times(percpu=True)
            self.assertEqual(len(rows), len(before))
            if left is None:
                left = {(n, name) for n in range(len(rows)) for name in CPU}
            for n, name in sorted(left):
                low, high = sorted((getattr(before[n], name), getattr(after[n], name)))
                ours = rows[n][f"{CPU[name]}_seconds"]
                seen[n, name] = (low, ours, high)
                if low - 1e-6 <= ours <= high + 1e-6:
                    left.discard((n, name))
            if not left:
                break
        self.assertEqual({key: seen[key] for key in left}, {})

    def test_busy_and_total_are_sums(self):
        tables = snapshot()["tables"]
        for prefix, rows in (("cpu_", tables["host"]), ("", tables["cpu"])):
            for row in rows:
                of = lambda name, row=row, prefix=prefix: row[f"{prefix}{name}_seconds"]
                total = sum(map(of, ("user", "nice", "system", "idle", "iowait", "irq", "softirq",
                                     "steal")))
                self.assertAlmostEqual(of("total"), total, places=4)
                self.assertAlmostEqual(of("busy"), total - of("idle") - of("iowait"), places=4)

    def test_clocks(self):
        in_most_of(ATTEMPTS, self.check_clocks)

    def check_clocks(self):
        before = time.clock_gettime_ns(time.CLOCK_BOOTTIME), time.time_ns()
        one = snapshot()
        after = time.clock_gettime_ns(time.CLOCK_BOOTTIME), time.time_ns()
        self.assertTrue(before[0] <= int(one["boottime_ns"]) <= after[0])
        self.assertTrue(before[1] <= int(one["realtime_ns"]) <= after[1])
        uptime = one["tables"]["host"][0]["uptime_seconds"]
        self.assertTrue(before[0] <= uptime * 1e9 + 1000 and uptime * 1e9 - 1000 <= after[0])
        boot = (int(one["realtime_ns"]) - int(one["boottime_ns"])) / 1e9
        # psutil's is btime, a whole second at most one early.
        self.assertTrue(-0.01 <= boot - psutil.boot_time() < 1.01, boot - psutil.boot_time())

    def test_who_it_is(self):
        one = snapshot()
        row = one["tables"]["host"][0]
        self.assertEqual(row["name"], os.uname().nodename)
        self.assertEqual(row["kernel"], os.uname().release)
        self.assertEqual(one["host"]["boot_id"],
                         pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        self.assertEqual(one["host"]["pid_namespace"], os.stat("/proc/self/ns/pid").st_ino)

    @unittest.skipIf(SANITIZED, "a sanitized vitals takes memory of its own while it reads")
    def test_an_ordinary_user_sees_the_same_machine(self):
        prefix = ordinary(self)
        for read in (memory, diskstats, network, meminfo):
            with self.subTest(read=read.__name__):
                agree(self, read, read(), prefix=prefix)


class Tries(unittest.TestCase):
    def test_what_is_wrong_now_and_then_is_seen(self):
        for every, seen in ((2, True), (3, True), (6, False), (99, False)):
            for first in range(every):
                turns = itertools.count(first)
                measure = lambda turns=turns, every=every: self.assertNotEqual(
                    next(turns) % every, every - 1)
                with self.subTest(every=every, first=first):
                    if seen:
                        self.assertRaises(AssertionError, in_most_of, 16, measure)
                    else:
                        in_most_of(16, measure)


if __name__ == "__main__":
    unittest.main()
