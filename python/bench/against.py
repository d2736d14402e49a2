"""CPU time of the package beside psutil and nvitop, in one run: what each call costs, and by which factor.

    python bench/against.py [PROCESSES]      PROCESSES (1000) sleeping children are there meanwhile

Devices are those of the driver; LD_LIBRARY_PATH=build/tests/nvml/r580 puts the simulated one in its place.
The column "most" is the factor of a program that costs nothing itself: floor.c, compiled here, which only has the
kernel read the files that the line needs.
"""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROUNDS = 15  # a sampler with BPF learns in the first ones which processes are idle


def cost(function):
    """The least CPU time of some calls, in ms: what else the machine does makes it only larger."""
    least = float("inf")
    for _ in range(ROUNDS):
        before = time.process_time()
        function()
        least = min(least, time.process_time() - before)
    return least * 1000


def floor(pid):
    """What the kernel alone takes, in ms: (all processes, their files kept open, one process 100 times, its files kept
    open); None for each without a compiler."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "floor")
        try:
            subprocess.run(["cc", "-O2", "-o", program, pathlib.Path(__file__).with_name("floor.c")], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"no floor: {error}")
            return (None,) * 4
        done = subprocess.run([program, str(ROUNDS), str(pid)], check=True, capture_output=True, text=True)
    return tuple(map(float, done.stdout.split()))


def imported(module):
    """The least CPU time of a fresh interpreter that imports a module, less that of one that does not, in ms."""
    def run(code):
        least = float("inf")
        for _ in range(ROUNDS):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", code], check=True, cwd="/")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return least * 1000
    return run(f"import {module}; {module}.__version__") - run("pass")


def table(other, rows):
    """Rows of (title, our ms, the other's ms[, the kernel's ms])."""
    print(f"\n{'':52}{'vitals':>10}{other:>10}{'factor':>9}{'most':>9}")
    for title, ours, theirs, *kernel in rows:
        most = "".join(f"{theirs / one:9.1f}" for one in kernel if one)
        print(f"{title:52}{ours:10.2f}{theirs:10.2f}{theirs / ours if ours > 0 else float('inf'):9.1f}{most}")


def beside_nvitop(pid):
    try:
        import nvitop
    except ImportError:
        print("\nno nvitop here")
        return
    from vitals.compat import nvitop as ours
    rows = []
    both = (("HostProcess.as_snapshot, 20 times", [module.HostProcess(pid) for module in (ours, nvitop)], 20),
            ("Device.as_snapshot, 100 times", [module.Device.all() for module in (ours, nvitop)], 100))
    for title, things, count in both:
        things = [thing[0] if isinstance(thing, list) and thing else thing for thing in things]
        if not all(things):
            print(f"\n{title}: no device here")
            continue

        def snapshots(thing, looked_at):
            for _ in range(count):
                snapshot = thing.as_snapshot()
                if looked_at:
                    dict(snapshot)
        for text, looked_at in (("", False), (", all looked at", True)):
            rows.append((title.replace(", ", f"{text}, "), *(
                cost(lambda: snapshots(thing, looked_at)) for thing in things)))
    rows.append(("import", imported("vitals.compat.nvitop"), imported("nvitop")))
    table("nvitop", rows)


def main():
    import psutil

    import vitals
    from vitals.compat import psutil as compat
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    children = [subprocess.Popen(["sleep", "600"]) for _ in range(count)]
    names = ("pid", "name", "resident_bytes", "cpu_seconds")
    generous = vitals.Context(max_descriptors=2**32 - 1, bpf=True)
    open_files = vitals.Context(max_descriptors=2**32 - 1)
    sampler = vitals.Sampler(*(f"process.{name}" for name in names))
    best = vitals.Sampler(*(f"process.{name}" for name in names), context=generous)
    kept = vitals.Sampler(*(f"process.{name}" for name in names), context=open_files)
    # Where the state of a process may be so old, one whose CPU clock stands still is not read again.
    idle = vitals.Sampler("process.state", *(f"process.{name}" for name in names), every={"process.state": 30.0})
    processes = vitals.snapshot("process.pid").process

    def columns(sampler=sampler):
        process = sampler.take().process
        return [process.values(name) for name in names]

    def times(count, *functions):
        def repeated(function):
            for _ in range(count):
                function()
        return [cost(lambda: repeated(function)) for function in functions]

    def rows(sampler=sampler):
        return [[row[name] for name in names] for row in sampler.take().process]

    def theirs():
        return [process.info for process in psutil.process_iter(["pid", "name", "memory_info", "cpu_times"])]

    def one():
        process = vitals.Process(children[0].pid)
        for _ in range(100):
            process.read(*names)

    def their_one():
        process = psutil.Process(children[0].pid)
        for _ in range(100):
            process.as_dict(["pid", "name", "memory_info", "cpu_times"])
    try:
        descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        print(f"{len(processes)} processes, {descriptors} descriptors at most; CPU time in ms, the least of {ROUNDS}")
        each, each_kept, single, single_kept = floor(children[0].pid)
        table("psutil", (
                ("all processes, 4 values each, as columns", cost(columns), cost(theirs), each),
                ("the same as rows", cost(rows), cost(theirs), each),
                ("columns, files kept open", cost(lambda: columns(kept)), cost(theirs), each_kept),
                ("rows, files kept open", cost(lambda: rows(kept)), cost(theirs), each_kept),
                ("columns, states every 30 s: idle ones are not read", cost(lambda: columns(idle)), cost(theirs)),
                ("rows, states every 30 s", cost(lambda: rows(idle)), cost(theirs)),
                ("columns, BPF (root) and files kept open", cost(lambda: columns(best)), cost(theirs)),
                ("one process, 4 values, 100 times", cost(one), cost(their_one), single_kept),
                ("import", imported("vitals"), imported("psutil"))))
        print(f"the kernel alone: {each} ms for all, {each_kept} with files kept open, {single} for 100 times one, "
              f"{single_kept} with its files kept open")
        ours, theirs_ = compat.Process(children[0].pid), psutil.Process(children[0].pid)
        attributes = ["pid", "name", "memory_info", "cpu_times"]
        table("psutil", [(f"compat.psutil: {title}", *times(count, *functions)) for title, count, functions in (
            ("process_iter()", 1, [lambda: list(compat.process_iter()), lambda: list(psutil.process_iter())]),
            ("process_iter([4 attributes])", 1, [lambda: list(compat.process_iter(attributes)),
                                                lambda: list(psutil.process_iter(attributes))]),
            ("Process.as_dict, 4, 200 times", 200, [lambda: ours.as_dict(attributes), lambda: theirs_.as_dict(attributes)]),
            ("Process.cpu_times, 200 times", 200, [ours.cpu_times, theirs_.cpu_times]),
            ("Process.memory_info, 200 times", 200, [ours.memory_info, theirs_.memory_info]),
            *((f"Process.{name}, 200 times", 200, [getattr(ours, name), getattr(theirs_, name)]) for name in (
                "name", "status", "ppid", "cmdline", "cpu_percent", "num_threads", "uids", "gids", "io_counters", "exe",
                "nice", "ionice", "cwd", "cpu_affinity", "environ", "threads", "num_fds", "open_files", "net_connections",
                "num_ctx_switches", "create_time", "is_running")),
            ("Process.rlimit, 200 times", 200, [lambda: ours.rlimit(resource.RLIMIT_NOFILE),
                                                lambda: theirs_.rlimit(resource.RLIMIT_NOFILE)]),
            ("Process(pid), 200 times", 200, [lambda: compat.Process(ours.pid), lambda: psutil.Process(ours.pid)]),
            *((f"{name}, 200 times", 200, [getattr(compat, name), getattr(psutil, name)]) for name in (
                "cpu_times", "cpu_percent", "cpu_stats", "virtual_memory", "swap_memory", "disk_io_counters",
                "net_io_counters", "boot_time", "getloadavg", "cpu_count")),
            *((f"{name}, 50 times", 50, [getattr(compat, name), getattr(psutil, name)]) for name in (
                "users", "net_if_addrs", "net_if_stats", "disk_partitions", "cpu_freq", "pids")))])
        beside_nvitop(children[0].pid)
    finally:
        for child in children:
            child.kill()
        for child in children:
            child.wait()


if __name__ == "__main__":
    main()
