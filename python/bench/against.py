"""CPU time of the package beside psutil and nvitop, in one run: what each call costs, and by which factor.

    python bench/against.py [PROCESSES]      PROCESSES (1000) sleeping children are there meanwhile

Devices are those of the driver; LD_LIBRARY_PATH=build/tests/nvml/r580 puts the simulated one in its place.
"""

import contextlib
import os
import resource
import subprocess
import sys
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


def floor():
    """What the kernel alone takes to open, read and close stat and statm of each process, in ms: the system's share of
    the CPU time of a loop, since what Python adds is the user's."""
    pids = [name for name in os.listdir("/proc") if name.isdigit()]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_stime
    for _ in range(ROUNDS):
        for path in (f"/proc/{pid}/{name}" for pid in pids for name in ("stat", "statm")):
            with contextlib.suppress(OSError):
                file = os.open(path, os.O_RDONLY)
                os.read(file, 4096)
                os.close(file)
    return (resource.getrusage(resource.RUSAGE_SELF).ru_stime - before) * 1000 / ROUNDS


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
    """Rows of (title, our ms, the other's ms)."""
    print(f"\n{'':44}{'vitals':>10}{other:>10}{'factor':>9}")
    for title, ours, theirs in rows:
        print(f"{title:44}{ours:10.2f}{theirs:10.2f}{theirs / ours if ours > 0 else float('inf'):9.1f}")


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
    processes = vitals.snapshot("process.pid").process

    def columns(sampler=sampler):
        process = sampler.take().process
        return [process.values(name) for name in names]

    def times(count, *functions):
        def repeated(function):
            for _ in range(count):
                function()
        return [cost(lambda: repeated(function)) for function in functions]

    def rows():
        return [[row[name] for name in names] for row in sampler.take().process]

    def theirs():
        return [process.info for process in psutil.process_iter(["pid", "name", "memory_info", "cpu_times"])]

    def one():
        process = vitals.Process(children[0].pid)
        for _ in range(100):
            process.row(*names)

    def their_one():
        process = psutil.Process(children[0].pid)
        for _ in range(100):
            process.as_dict(["pid", "name", "memory_info", "cpu_times"])
    try:
        print(f"{len(processes)} processes; CPU time in ms, the least of {ROUNDS}")
        table("psutil", (
                ("all processes, 4 values each, as columns", cost(columns), cost(theirs)),
                ("the same with descriptors", cost(lambda: columns(kept)), cost(theirs)),
                ("the same with BPF (root) and descriptors", cost(lambda: columns(best)), cost(theirs)),
                ("the same as rows", cost(rows), cost(theirs)),
                ("one process, 4 values, 100 times", cost(one), cost(their_one)),
                ("import", imported("vitals"), imported("psutil"))))
        print(f"of all processes the kernel alone takes {floor():.2f} ms to open, read and close stat and statm")
        ours, theirs_ = compat.Process(children[0].pid), psutil.Process(children[0].pid)
        attributes = ["pid", "name", "memory_info", "cpu_times"]
        table("psutil", [(f"compat.psutil: {title}", *times(count, *functions)) for title, count, functions in (
            ("process_iter()", 1, [lambda: list(compat.process_iter()), lambda: list(psutil.process_iter())]),
            ("process_iter([4 attributes])", 1, [lambda: list(compat.process_iter(attributes)),
                                                lambda: list(psutil.process_iter(attributes))]),
            ("Process.as_dict, 4, 200 times", 200, [lambda: ours.as_dict(attributes), lambda: theirs_.as_dict(attributes)]),
            ("Process.cpu_times, 200 times", 200, [ours.cpu_times, theirs_.cpu_times]),
            ("Process.memory_info, 200 times", 200, [ours.memory_info, theirs_.memory_info]),
            ("Process.name, 200 times", 200, [ours.name, theirs_.name]),
            ("cpu_times, 200 times", 200, [compat.cpu_times, psutil.cpu_times]),
            ("virtual_memory, 200 times", 200, [compat.virtual_memory, psutil.virtual_memory]),
            ("disk_io_counters, 200 times", 200, [compat.disk_io_counters, psutil.disk_io_counters]),
            ("net_io_counters, 200 times", 200, [compat.net_io_counters, psutil.net_io_counters]))])
        beside_nvitop(children[0].pid)
    finally:
        for child in children:
            child.kill()
        for child in children:
            child.wait()


if __name__ == "__main__":
    main()
