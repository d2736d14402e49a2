"""What the benches share: the programs, processes to look at, and how system calls are counted.

A count per process is a slope: the same program is traced beside few and beside many sleeping
processes, and what it does whatever their number falls out of the difference.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile

BUILD = pathlib.Path(os.environ.get("VITALS_BUILD", "build")).resolve()
SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[1])).resolve()
PROGRAMS = BUILD / "bench"
VITALS = os.environ.get("VITALS", str(BUILD / "vitals"))

FEW, MANY = 20, 120
SEVERAL, CROWD = 100, 200  # a first tick has as many helpers beside the one as beside the other
WARM_TICKS = 6  # as in table.c: before that a tick may still find room
NO_SLEEPERS = 125


def cpu_seconds(pid):
    """User and system time of a process in ticks of 10 ms, without its children's."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_bytes(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Unavailable(Exception):
    """Something that this machine or this user does not have; says what."""


def beside(count, command, timeout=300):
    """What a command prints while so many processes sleep. VITALS_BENCH_SHARED=1: among everybody."""
    options = ["--shared"] if os.environ.get("VITALS_BENCH_SHARED") == "1" else []
    result = subprocess.run(
        [str(PROGRAMS / "sleepers"), *options, str(count), *map(str, command)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, check=False)
    if result.returncode == NO_SLEEPERS:
        raise Unavailable(result.stderr.strip() or "no processes to be had")
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit {result.returncode}: "
                           f"{result.stderr.strip()}")
    return result.stdout


def apart():
    """Whether sleepers have a pid namespace of their own, so that counts are exact."""
    return beside(1, ["sh", "-c", "echo $SLEEPERS_SHARED"]).strip() == "0"


def lines(text):
    """{(case, phase): {figure: number}} of what floor, table and their like print."""
    result = {}
    for line in text.splitlines():
        words = dict(word.split("=", 1) for word in line.split() if "=" in word)
        if "case" in words and "phase" in words:
            key = words.pop("case"), words.pop("phase")
            result[key] = {name: float(value) for name, value in words.items()}
    return result


# --- counting system calls -------------------------------------------------------------------------

def strace_missing():
    """Why no system calls can be counted here, or None."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    probe = subprocess.run(["strace", "-f", "-c", "-o", os.devnull, "true"],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        return "strace may not trace here: " + probe.stderr.strip()
    return None


def system_calls(count, command):
    """{name: calls} of a command and its threads beside so many sleeping processes."""
    with tempfile.NamedTemporaryFile("r", prefix="vitals-bench-") as log:
        beside(count, ["strace", "-f", "-c", "-o", log.name, *command])
        rows = [line.split() for line in log.read().splitlines()]
    return {row[-1]: int(row[3]) for row in rows
            if len(row) >= 5 and row[3].isdigit() and row[-1] != "total"}


def total_calls(count, command):
    return sum(system_calls(count, command).values())


# How often a tick waits for lanes depends on how long it takes itself, and so on the number of
# processes, though none of it is done for one. A wake-up is a wait and a read of an event's counter;
# files are read with pread64.
WAITS = {"ppoll", "futex", "read"}


def working_calls(processes, command, waits=WAITS):
    """System calls of a command, but for its waits."""
    return sum(calls for name, calls in system_calls(processes, command).items()
               if name not in waits)


# The more processes a first tick meets, the more often it wakes workers. A helper thread that reads
# anything also gets an arena of the allocator; on a busy machine some helpers come too late to read.
WAKES = WAITS | {"write", "mmap", "munmap", "mprotect", "madvise"}


def first_calls(command, waits=WAKES):
    """System calls per process of a command that takes (sweeps, ticks), at first sight."""
    few, many = (working_calls(count, [*command, 1, 0], waits) for count in (SEVERAL, CROWD))
    return (many - few) / (CROWD - SEVERAL)


def steady_calls(command, begin=WARM_TICKS + 2, ticks=4, waits=WAITS):
    """(per process, per tick whatever the number of processes) of a steady tick, but for its waits."""
    growth = {}
    for count in (FEW, MANY):
        short, long = (working_calls(count, [*command, 1, n], waits) for n in (begin, begin + ticks))
        growth[count] = (long - short) / ticks
    slope = (growth[MANY] - growth[FEW]) / (MANY - FEW)
    # Beside the sleepers the namespace holds three: who started them, strace, and the program.
    return slope, growth[FEW] - slope * (FEW + 3)


# --- the simulated driver --------------------------------------------------------------------------

def nvml():
    """(library, scenario) of the simulated machine with eight GPUs."""
    library = BUILD / "tests" / "nvml" / "r580" / "libnvidia-ml.so.1"
    if not library.exists():
        raise Unavailable(f"{library} is not built")
    return library, SOURCE / "tests" / "nvml" / "scenarios" / "eight.conf"
