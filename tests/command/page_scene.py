"""A machine for the page: eight devices, one of them partitioned, one held back, names of every kind;
as lines of `vitals --json`, a moment each. Without a clock of its own: who asks says when it is."""

import json
import math

SECOND, GIB = 10**9, 2**30
CPUS, GPUS = 64, 8
BEGAN = 1795188600 * SECOND

# Names that would do harm, or harm the layout, were they anything but text.
HOSTILE = ("<img src=x onerror=\"document.title='pwned'\">", "<script>document.title='pwned'</script>",
           "\u202egnp.exe\u202c", "a\nb\x1b[31m\x07", "\"' onmouseover='document.title=1' x=\"", "W" * 300,
           "javascript:alert(1)", "{{constructor.constructor('x')()}}", "\u0300\u0301\u0302 Zalgo", "")
NAMES = ("python3", "train.py", "vllm::worker", "ollama", "pt_main_thread", "jupyter-lab")
USERS = ("ada", "grace", "linus", "margaret", "root")

COLUMNS = {
    "host": "kernel uptime_seconds cpus load_1m load_5m load_15m processes cpu_busy_seconds cpu_iowait_seconds "
            "cpu_total_seconds memory_total_bytes memory_used_bytes memory_cached_bytes swap_total_bytes swap_used_bytes "
            "disk_read_bytes disk_written_bytes network_received_bytes network_transmitted_bytes operating_system cpu_model",
    "cpu": "index busy_seconds",
    "gpu": "index vendor name uuid memory_total_bytes memory_used_bytes utilization_ratio busy_seconds power_watts "
           "power_limit_watts temperature_celsius fan_ratio performance_state throttle_reasons partition_kind driver_version",
    "gpu_clock": "frequency_hertz",
    "process": "pid name state threads cpu_seconds resident_bytes user command_line workload",
    "gpu_process": "pid process type memory_used_bytes utilization_ratio",
    "pressure": "resource scope some_10s_ratio some_60s_ratio",
    "filesystem": "mount_point type counted total_bytes used_bytes",
    "disk": "name counted read_bytes written_bytes busy_seconds",
    "network": "name counted received_bytes transmitted_bytes",
    "workload": "id kind user processes memory_used_bytes memory_peak_bytes cpu_seconds",
    "source": "state message",
}


def wave(seconds, place):
    """Between 0 and 1: work that comes and goes, of each place at another time."""
    return max(0.02, min(0.99, 0.5 + 0.25 * math.sin((seconds + 47 * place) / 61) + 0.08 * math.sin(seconds / 13 + place)
                         + 0.25 * math.sin(seconds / 700 + place)))


def total(seconds, place, most):
    """A counter that grows by most * wave each second: its integral by fives, so that it only grows."""
    whole = int(seconds // 5)
    key = (place, most)
    sums = total.kept.setdefault(key, [0.0])
    while len(sums) <= whole + 1:
        sums.append(sums[-1] + 5 * most * wave(5 * len(sums), place))
    return sums[whole] + (sums[whole + 1] - sums[whole]) * (seconds / 5 - whole)


total.kept = {}


class Machine:
    """`processes` beside those on devices; `hostile` gives some of them the names above."""

    def __init__(self, processes=40, hostile=False, gpus=GPUS, partitions=True):
        self.hostile, self.gpus, self.partitions, self.count = hostile, gpus, partitions, processes
        self.sequence = 0
        self.gone = {}  # values that are not there: {(table, key, column): reason}

    def row(self, table, key, label, parent=None, **values):
        row = {"key": key, "parent": parent, "label": label, "age_ns": 0}
        if table not in ("gpu", "gpu_clock", "gpu_process", "process", "disk"):
            del row["parent"]
        reasons = {}
        for column in sorted(self.columns[table], key=self.order[table].index):
            row[column] = values.get(column)
            if (table, key, column) in self.gone:
                row[column] = None
            if row[column] is None:
                reasons[column] = self.gone.get((table, key, column), "unsupported")
        if reasons:
            row["availability"] = reasons
        return row

    def line(self, seconds, begun=BEGAN):
        """The moment so many seconds after the beginning."""
        self.order = {table: columns.split() for table, columns in COLUMNS.items()}
        self.columns = self.order
        self.sequence += 1
        at = int(seconds * SECOND)
        tables = {name: make(seconds) for name, make in (
            ("host", self.host), ("cpu", self.cpus), ("gpu", self.devices), ("gpu_clock", self.clocks), ("process", self.processes),
            ("gpu_process", self.users), ("pressure", self.pressure), ("filesystem", self.filesystems), ("disk", self.disks),
            ("network", self.networks), ("workload", self.workloads), ("source", self.sources))}
        return json.dumps({
            "schema": 1, "vitals": "0.1.0", "host": {"name": "node17", "boot_id": "b", "pid_namespace": 4026531836},
            "realtime_ns": str(begun + at), "boottime_ns": str(10**14 + at), "monotonic_ns": str(9 * 10**13 + at),
            "stream": 4711, "sequence": self.sequence, "columns": self.order, "tables": tables}, separators=(",", ":"))

    def host(self, s):
        memory = 1008 * GIB
        return [self.row("host", 1, "host", kernel="6.12.0", uptime_seconds=90000 + s, cpus=CPUS, load_1m=round(CPUS * wave(s, 9), 2),
                         load_5m=31.5, load_15m=29.25, processes=812, cpu_busy_seconds=total(s, 9, CPUS), cpu_iowait_seconds=total(s, 3, 1.5),
                         cpu_total_seconds=CPUS * (1000 + s), memory_total_bytes=memory, memory_used_bytes=int(memory * (0.2 + 0.4 * wave(s / 5, 2))),
                         memory_cached_bytes=memory // 4, swap_total_bytes=8 * GIB, swap_used_bytes=GIB // 3,
                         disk_read_bytes=int(total(s, 5, 8e8)), disk_written_bytes=int(total(s / 2, 6, 3e8)),
                         network_received_bytes=int(total(s, 7, 2e8)), network_transmitted_bytes=int(total(s, 8, 5e7)),
                         operating_system="Debian GNU/Linux 13", cpu_model="AMD EPYC 9354")]

    def cpus(self, s):
        return [self.row("cpu", n + 1, str(n), index=n, busy_seconds=total(s, n * n, 1)) for n in range(CPUS)]

    def devices(self, s):
        rows = []
        for n in range(self.gpus):
            use, key = wave(s, n), 10 * (n + 1)
            split = self.partitions and n == 5
            rows.append(self.row("gpu", key, str(n), index=n, vendor="nvidia", name="NVIDIA H200", uuid=f"GPU-{n:04}", memory_total_bytes=141 * GIB,
                                 memory_used_bytes=int(141 * GIB * (0.1 + 0.85 * wave(s / 20, n))), utilization_ratio=None if split else round(use, 4),
                                 busy_seconds=None if split else total(s, n, 1), power_watts=round(90 + 600 * use, 1), power_limit_watts=700,
                                 temperature_celsius=round(34 + 45 * wave(s / 3, n)), performance_state=0,
                                 throttle_reasons="sw_power_cap,hw_thermal_slowdown" if n == 2 else "", driver_version="580.65.06"))
            for part in range(2 if split else 0):
                rows.append(self.row("gpu", key + 1 + part, f"{n}:{part}", key, index=part, vendor="nvidia", name="3g.71gb", uuid=f"MIG-{part}", partition_kind="mig",
                                     memory_total_bytes=70 * GIB, memory_used_bytes=(8 + 20 * part) * GIB))
        return rows

    def clocks(self, s):
        return [self.row("gpu_clock", n + 1, "sm", 10 * (n + 1), frequency_hertz=1.98e9) for n in range(self.gpus)]

    def processes(self, s):
        rows = []
        for n in range(self.count + 12):
            name = HOSTILE[n // 3 % len(HOSTILE)] if self.hostile and n % 3 == 0 else NAMES[n % 6] if n < 12 else f"worker-{n}"
            rows.append(self.row("process", n + 1, "p", pid=4000 + n, name=name, state="running" if n % 4 == 0 else "sleeping", threads=1 + n % 7,
                                 cpu_seconds=total(s, n % 17, (n * 7 % 13) / 3), resident_bytes=(n * 37 % 97) * 10**8 // 3, user=USERS[n % 5],
                                 command_line="secret\0--password\0hunter2\0", workload=f"slurm:{1700 + n % 3}.0" if n < 12 else ""))
        return rows

    def users(self, s):
        if not self.gpus:
            return []
        keys = [row["key"] for row in self.devices(s)]
        rows = [self.row("gpu_process", n + 1, str(4000 + n % 12), keys[n % len(keys)], pid=4000 + n % 12, process=n % 12 + 1, type="C",
                         memory_used_bytes=int(3e10 * wave(s / 9, n)), utilization_ratio=round(wave(s, n) / 2, 4)) for n in range(14)]
        # Of another namespace: a pid and no more.
        return rows + [self.row("gpu_process", 99, "777", keys[3 % len(keys)], pid=777, type="C", memory_used_bytes=4 * GIB, utilization_ratio=0.125)]

    def pressure(self, s):
        return [self.row("pressure", n + 1, name, resource=name, scope="machine", some_10s_ratio=round(wave(s, n) ** 6 * 0.4, 4), some_60s_ratio=0.01)
                for n, name in enumerate(("cpu", "memory", "io"))]

    def filesystems(self, s):
        return [self.row("filesystem", n + 1, place, mount_point=place, type="ext4", counted=1, total_bytes=size * GIB, used_bytes=int(size * GIB * part))
                for n, (place, size, part) in enumerate((("/", 200, 0.41), ("/home", 4000, 0.87), ("/scratch", 14000, 0.12)))]

    def disks(self, s):
        return [self.row("disk", 1, "nvme0n1", name="nvme0n1", counted=1, read_bytes=int(total(s, 5, 8e8)), written_bytes=int(total(s, 6, 3e8)), busy_seconds=total(s, 5, 0.6))]

    def networks(self, s):
        return [self.row("network", 1, "eth0", name="eth0", counted=1, received_bytes=int(total(s, 7, 2e8)), transmitted_bytes=int(total(s, 8, 5e7)))]

    def workloads(self, s):
        return [self.row("workload", n + 1, f"slurm:{1700 + n}.0", id=f"slurm:{1700 + n}.0", kind="slurm", user=USERS[n], processes=4, memory_used_bytes=(40 + 17 * n) * GIB,
                         memory_peak_bytes=(61 + 17 * n) * GIB, cpu_seconds=total(s, n, 5)) for n in range(3)] if self.gpus else []

    def sources(self, s):
        return [self.row("source", 1, "sampler", state="have", message="ticks"),
                self.row("source", 20, "amd", state="denied", message="amd: /dev/kfd: permission denied; add yourself to group \"render\"")]
