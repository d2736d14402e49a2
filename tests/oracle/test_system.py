"""The machine: CPUs, memory, disks, networks, users and sensors, against psutil, procps and df."""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

import api
import psutil
import scene
import theirs
from harness import environment, in_most_of

ATTEMPTS = 16
CPU_FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest",
              "guest_nice")


def agree(case, read, ours, slack=None):
    """Until each of ours lay once between two of theirs. Both give {name: number}."""
    left, seen, slack = None, {}, slack or {}
    for _ in range(ATTEMPTS):
        before, found, after = read(), ours(), read()
        left = set(before) if left is None else left
        for name in sorted(left, key=str):
            low, high = sorted((before[name], after.get(name, before[name])))
            value = found.get(name)
            seen[name] = (low, value, high)
            room = slack.get(name, 0)
            if value is not None and low - room <= value <= high + room:
                left.discard(name)
        if not left:
            return
    case.assertEqual({name: seen[name] for name in left}, {})


def words(text):
    return text.decode() if isinstance(text, bytes) else text


class Machine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.context = api.Context()

    def host(self, *columns):
        row = self.context.take(*(f"host.{name}" for name in columns)).one("host")
        return {name: row[name] for name in columns}

    def table(self, name, key):
        return {words(row[key]): row for row in self.context.take(name).rows(name)}


class Cpu(Machine):
    """Check 37, and cpu_count, cpu_freq, cpu_stats, load."""

    def test_times(self):
        columns = [f"cpu_{name}_seconds" for name in CPU_FIELDS]

        def read():
            times = psutil.cpu_times()
            return {f"cpu_{name}_seconds": round(getattr(times, name), 2) for name in CPU_FIELDS}

        agree(self, read, lambda: self.host(*columns), dict.fromkeys(columns, 1e-6))

    def test_times_of_each_cpu(self):
        def read():
            return {(n, name): getattr(times, name)
                    for n, times in enumerate(psutil.cpu_times(percpu=True)) for name in CPU_FIELDS}

        def ours():
            return {(n, name): row[f"{name}_seconds"]
                    for n, row in enumerate(self.context.take("cpu").rows("cpu"))
                    for name in CPU_FIELDS}

        agree(self, read, ours, dict.fromkeys(read(), 1e-6))

    def test_counts(self):
        ours = self.host("cpus", "cpus_usable", "cpus_physical", "cpu_packages")
        self.assertEqual(ours["cpus"], psutil.cpu_count())
        self.assertEqual(ours["cpus_usable"], len(os.sched_getaffinity(0)))
        if psutil.cpu_count(logical=False) is not None:
            self.assertEqual(ours["cpus_physical"], psutil.cpu_count(logical=False))
        told = subprocess.run(["lscpu", "-p=CORE,SOCKET"], capture_output=True, text=True,
                              check=False).stdout
        pairs = {line for line in told.splitlines() if line and not line.startswith("#")}
        if pairs:
            self.assertEqual(ours["cpus_physical"], len(pairs))
            self.assertEqual(ours["cpu_packages"], len({line.split(",")[1] for line in pairs}))

    def test_stats(self):
        def read():
            stats = psutil.cpu_stats()
            return {"context_switches": stats.ctx_switches, "interrupts": stats.interrupts,
                    "soft_interrupts": stats.soft_interrupts}

        agree(self, read, lambda: self.host(*read()))

    def test_load(self):
        names = ("load_1m", "load_5m", "load_15m")
        agree(self, lambda: dict(zip(names, psutil.getloadavg())), lambda: self.host(*names),
              dict.fromkeys(names, 0.011))

    def test_frequency(self):
        """psutil falls back to /proc/cpuinfo too, and tells MHz."""
        their = psutil.cpu_freq()
        row = self.context.take("host.cpu_frequency_hertz").one("host")
        value, state = row.read("cpu_frequency_hertz")
        if their is None or not their.current:
            self.assertEqual((value, state), (None, "unsupported"))
        else:
            self.assertAlmostEqual(value / 1e6, their.current, delta=0.35 * their.current)

    def test_percent(self):
        """vitals_psutil_system_cpu_percent over the same time as psutil's, of which it is one."""
        row = self.context.sampler("host.cpu_busy_seconds", *(
            f"host.cpu_{n}_seconds" for n in CPU_FIELDS)).take().one("host")
        self.assertEqual(row.compute(api.lib.vitals_psutil_system_cpu_percent, None),
                         (0.0, "have"))
        in_most_of(5, self.check_percent)

    def check_percent(self):
        columns = ("host.cpu_busy_seconds", *(f"host.cpu_{n}_seconds" for n in CPU_FIELDS),
                   "cpu")
        sampler = self.context.sampler(*columns)
        older = sampler.take()
        psutil.cpu_percent()
        psutil.cpu_percent(percpu=True)
        begun, end = time.process_time(), time.monotonic() + 1
        while time.monotonic() < end:
            pass
        own = time.process_time() - begun  # the others and the machine's host leave us that
        newer = sampler.take()
        their, each = psutil.cpu_percent(), psutil.cpu_percent(percpu=True)
        ours, _ = newer.one("host").compute(api.lib.vitals_psutil_system_cpu_percent, older)
        self.assertAlmostEqual(ours, their, delta=4)
        self.assertGreater(ours, 100 * own / psutil.cpu_count() - 10)
        self.assertEqual(ours, round(ours, 1))
        for row, percent in zip(newer.rows("cpu"), each, strict=True):
            value, _ = row.compute(api.lib.vitals_psutil_system_cpu_percent, older)
            self.assertAlmostEqual(value, percent, delta=6)


class Memory(Machine):
    """Check 36."""

    OWN = 64 << 20  # what we take while we read

    def test_against_psutil(self):
        names = {"total": 0, "free": self.OWN, "available": self.OWN, "active": self.OWN,
                 "inactive": self.OWN, "buffers": self.OWN, "cached": self.OWN, "shared": 0,
                 "slab": self.OWN, "used": self.OWN}

        def read():
            memory = psutil.virtual_memory()
            return {f"memory_{name}_bytes": getattr(memory, name) for name in names}

        agree(self, read, lambda: self.host(*read()),
              {f"memory_{name}_bytes": room for name, room in names.items()})

    def test_used_before_psutil_7_1(self):
        in_most_of(ATTEMPTS, self.check_used)

    def check_used(self):
        memory = psutil.virtual_memory()
        snapshot = self.context.take(*(f"host.memory_{name}_bytes" for name in (
            "total", "free", "buffers", "cached")))
        ours, state = snapshot.one("host").compute(api.lib.vitals_psutil_memory_used,
                                                   kind="uint64_t *")
        self.assertEqual(state, "have")
        self.assertAlmostEqual(
            ours, memory.total - memory.free - memory.buffers - memory.cached, delta=self.OWN)

    def test_against_free(self):
        def read():
            text = subprocess.run(["free", "-b", "-w"], check=True, capture_output=True, text=True,
                                  env=environment(LC_ALL="C")).stdout.splitlines()
            names = ["total", "used", "free", "shared", "buffers", "cached", "available"]
            return {f"memory_{name}_bytes": int(word)
                    for name, word in zip(names, text[1].split()[1:], strict=True)}

        agree(self, read, lambda: self.host(*read()), dict.fromkeys(read(), self.OWN))

    def test_swap(self):
        def read():
            swap = psutil.swap_memory()
            page = os.sysconf("SC_PAGE_SIZE")
            # psutil multiplies by 4096 whatever the page size (defect 15).
            return {"swap_total_bytes": swap.total, "swap_used_bytes": swap.used,
                    "swap_free_bytes": swap.free, "swap_in_bytes": swap.sin // 4096 * page,
                    "swap_out_bytes": swap.sout // 4096 * page}

        agree(self, read, lambda: self.host(*read()))

    def test_against_vmstat(self):
        if shutil.which("vmstat") is None:
            self.skipTest("no vmstat")

        def read():
            text = subprocess.run(["vmstat", "-s", "-S", "B"], check=True, capture_output=True,
                                  text=True, env=environment(LC_ALL="C")).stdout
            lines = {title: int(number) for number, title in
                     re.findall(r"^\s*(\d+) (?:B )?(.+)$", text, re.MULTILINE)}
            return {"memory_total_bytes": lines["total memory"],
                    "memory_active_bytes": lines["active memory"],
                    "context_switches": lines["CPU context switches"],
                    "interrupts": lines["interrupts"], "forks": lines["forks"]}

        agree(self, read, lambda: self.host(*read()), {"memory_active_bytes": self.OWN})


class Fixture(unittest.TestCase):
    """Checks 36, 37 and 38 on /proc trees that both read: psutil by PROCFS_PATH, we by proc_root."""

    MEMINFO = {"MemTotal": 1000000, "MemFree": 200000, "Buffers": 1000, "Cached": 300000,
               "SwapCached": 0, "Active": 400000, "Inactive": 200000, "Active(file)": 100000,
               "Inactive(file)": 150000, "SwapTotal": 50000, "SwapFree": 40000, "Shmem": 700,
               "Slab": 9000, "SReclaimable": 5000, "MemAvailable": 600000}

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        self.addCleanup(setattr, psutil, "PROCFS_PATH", psutil.PROCFS_PATH)
        self.write("stat", "cpu  10 0 10 100 5 0 0 3 0 0\ncpu0 10 0 10 100 5 0 0 3 0 0\n"
                   "intr 5\nctxt 6\nbtime 1700000000\nprocesses 7\nprocs_running 1\n"
                   "procs_blocked 0\nsoftirq 9 1 2 3 0 0 0 0 0 0 3\n")
        self.write("zoneinfo", "Node 0, zone Normal\n  pages free 5\n        low      1000\n")
        self.write("vmstat", "pswpin 11\npswpout 13\n")
        self.meminfo()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def meminfo(self, without=(), form="{}: {:>8} kB\n", **changes):
        lines = {**self.MEMINFO, **changes}
        self.write("meminfo", "".join(form.format(key, value) for key, value in lines.items()
                                      if key not in without))

    def theirs(self):
        psutil.PROCFS_PATH = str(self.root)
        return psutil

    def ours(self, *columns, table="host"):
        snapshot = api.Context(proc_root=self.root).take(
            *(f"{table}.{name}" for name in columns))
        return snapshot.one(table)

    def assert_memory(self):
        their = self.theirs().virtual_memory()
        names = ("total", "available", "used", "free", "buffers", "cached", "shared", "active",
                 "inactive", "slab")
        row = self.ours(*(f"memory_{name}_bytes" for name in names))
        for name in names:
            with self.subTest(name=name):
                self.assertEqual(row[f"memory_{name}_bytes"], getattr(their, name))
        return row

    def test_as_it_is_today(self):
        self.assert_memory()

    def test_no_available(self):
        """Linux before 3.14: computed, and said to be an estimate."""
        self.meminfo(without=("MemAvailable",))
        row = self.assert_memory()
        self.assertEqual(row.state("memory_available_bytes"), "estimate")

    def test_available_of_nothing(self):
        """A container that writes 0."""
        self.meminfo(MemAvailable=0)
        self.assert_memory()

    def test_no_zoneinfo(self):
        self.meminfo(without=("MemAvailable",))
        (self.root / "zoneinfo").unlink()
        self.assert_memory()

    def test_more_available_than_there_is(self):
        """LXC: psutil takes free instead."""
        self.meminfo(MemAvailable=2000000)
        self.assert_memory()

    def test_no_space_after_the_colon(self):
        """psutil 7 fails (IndexError); the number is there all the same."""
        self.meminfo(form="{}:{} kB\n")
        row = self.ours("memory_total_bytes", "memory_available_bytes")
        self.assertEqual((row["memory_total_bytes"], row["memory_available_bytes"]),
                         (1000000 << 10, 600000 << 10))

    def test_swap(self):
        their = self.theirs().swap_memory()
        row = self.ours("swap_total_bytes", "swap_used_bytes", "swap_in_bytes", "swap_out_bytes")
        page = os.sysconf("SC_PAGE_SIZE")
        self.assertEqual([row[name] for name in ("swap_total_bytes", "swap_used_bytes")],
                         [their.total, their.used])
        self.assertEqual((row["swap_in_bytes"], row["swap_out_bytes"]), (11 * page, 13 * page))

    def test_no_vmstat(self):
        """psutil warns and says 0; we say that there is no number."""
        (self.root / "vmstat").unlink()
        with self.assertWarns(RuntimeWarning):
            self.assertEqual(self.theirs().swap_memory().sin, 0)
        row = self.ours("swap_in_bytes", "swap_out_bytes")
        self.assertEqual(row["swap_in_bytes"], None)

    def test_steal_that_steps_back(self):
        """A percentage never falls below 0: psutil's is made of clamped differences, as ours."""
        context = api.Context(proc_root=self.root)
        sampler = context.sampler(*(f"host.cpu_{name}_seconds" for name in CPU_FIELDS),
                                  "host.cpu_busy_seconds", "host.cpu_total_seconds")
        older = sampler.take()
        their = self.theirs()
        their.cpu_percent()
        self.write("stat", "cpu  30 0 10 180 5 0 0 1 0 0\ncpu0 30 0 10 180 5 0 0 1 0 0\n")
        newer = sampler.take()
        ours, _ = newer.one("host").compute(api.lib.vitals_psutil_system_cpu_percent, older)
        self.assertEqual(ours, 20.0)

    DISKSTATS = {
        # Linux 2.6 to 4.17: 14 columns
        14: ("   8       0 sda 10 11 12 13 14 15 16 17 18 19 20\n", (10, 14, 12, 16, 13, 17)),
        # 4.18: and discards
        18: ("   8       0 sda 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24\n",
             (10, 14, 12, 16, 13, 17)),
        # 5.5: and flushes
        20: ("   8       0 sda 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26\n",
             (10, 14, 12, 16, 13, 17)),
        # partitions of Linux 2.6.0 to 2.6.24
        7: ("   8       0 sda 10 12 14 16\n", (10, 14, 12, 16, None, None)),
    }

    def test_diskstats(self):
        for columns, (line, truth) in self.DISKSTATS.items():
            with self.subTest(columns=columns):
                self.write("diskstats", line)
                their = self.theirs().disk_io_counters(perdisk=True, nowrap=False)["sda"]
                row = self.ours("reads", "writes", "read_bytes", "written_bytes", "read_seconds",
                                "write_seconds", table="disk")
                ours = (row["reads"], row["writes"], row["read_bytes"], row["written_bytes"],
                        row["read_seconds"], row["write_seconds"])
                scaled = (truth[0], truth[1], truth[2] * 512, truth[3] * 512,
                          *(None if ms is None else ms / 1000 for ms in truth[4:]))
                self.assertEqual(ours, scaled)
                self.assertEqual((their.read_count, their.write_count, their.read_bytes,
                                  their.write_bytes), scaled[:4])

    def network(self, received, sent):
        self.write("net/dev", "Inter-|   Receive |  Transmit\n face |bytes    packets\n"
                   f"  eth0: {received} 2 3 4 0 0 0 0 {sent} 6 7 8 0 0 0 0\n")

    def test_a_counter_that_wraps(self):
        """Check 38: 32 bits run over; the sum goes on, as psutil's nowrap does."""
        self.network(2**32 - 1000, 5)
        sampler = api.Context(proc_root=self.root).sampler(
            "network.name", "network.received_bytes", "host.network_received_bytes")
        first = sampler.take()
        psutil.net_io_counters.cache_clear()
        their = [self.theirs().net_io_counters(pernic=True, nowrap=True)["eth0"].bytes_recv]
        self.network(500, 5)
        second = sampler.take()
        their.append(self.theirs().net_io_counters(pernic=True, nowrap=True)["eth0"].bytes_recv)
        values = [one.one("network")["received_bytes"] for one in (first, second)]
        self.assertEqual(values[0], 2**32 - 1000)
        self.assertGreaterEqual(values[1], values[0])
        self.assertGreaterEqual(their[1], their[0])
        self.assertGreaterEqual(second.one("host")["network_received_bytes"] or 0,
                                first.one("host")["network_received_bytes"] or 0)

    def test_an_interface_that_leaves(self):
        """Check 38: the machine's sum does not step back, and forgets nothing that was counted."""
        lines = "{}: 1000 1 0 0 0 0 0 0 2000 1 0 0 0 0 0 0\n"
        head = "Inter-|   Receive |  Transmit\n face |bytes    packets\n"
        self.write("net/dev", head + lines.format("eth0") + lines.format("eth1"))
        sampler = api.Context(proc_root=self.root).sampler(
            "network.name", "network.received_bytes", "host.network_received_bytes",
            "host.network_transmitted_bytes")
        before = sampler.take().one("host")
        self.write("net/dev", head + lines.format("eth0"))
        snapshot = sampler.take()
        after = snapshot.one("host")
        self.assertEqual([row["name"] for row in snapshot.rows("network")], [b"eth0"])
        self.assertEqual(before["network_received_bytes"], 2000)
        self.assertEqual((after["network_received_bytes"], after["network_transmitted_bytes"]),
                         (2000, 4000))

    def test_frequencies(self):
        """Check 39: a CPU each, also where one has no policy (psutil before 8 counts policies)."""
        folder = self.root / "sys"
        tree = folder / "devices/system/cpu"
        for cpu, kilohertz in (("cpu0", 1500000), ("cpu2", 2500000)):
            (tree / cpu / "cpufreq").mkdir(parents=True)
            for name, value in (("cur", kilohertz), ("min", 800000), ("max", 3000000)):
                (tree / cpu / "cpufreq" / f"scaling_{name}_freq").write_text(f"{value}\n")
        (tree / "cpu1").mkdir()
        (tree / "online").write_text("0-2\n")
        self.write("stat", "cpu  30 0 10 180 5 0 0 1 0 0\n" + "".join(
            f"cpu{n} 10 0 10 60 5 0 0 1 0 0\n" for n in range(3)))
        context = api.Context(proc_root=self.root, sys_root=folder)
        rows = context.take("cpu").rows("cpu")
        self.assertEqual([row["frequency_hertz"] for row in rows], [1.5e9, None, 2.5e9])
        self.assertEqual([row["frequency_max_hertz"] for row in rows], [3e9, None, 3e9])
        mean, _ = context.take("host.cpu_frequency_hertz").one("host").read("cpu_frequency_hertz")
        self.assertEqual(mean, 2e9)

    def test_a_name_with_colons(self):
        self.write("net/dev", "Inter-|   Receive |  Transmit\n face |bytes    packets\n"
                   "eth0:1:100 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n")
        row = self.ours("name", "received_bytes", "transmitted_bytes", table="network")
        self.assertEqual((row["name"], row["received_bytes"], row["transmitted_bytes"]),
                         (b"eth0:1", 100, 5))


class Disks(Machine):
    def test_counters(self):
        columns = {"reads": "read_count", "writes": "write_count", "read_bytes": "read_bytes",
                   "written_bytes": "write_bytes", "reads_merged": "read_merged_count",
                   "writes_merged": "write_merged_count"}
        times = {"read_seconds": "read_time", "write_seconds": "write_time",
                 "busy_seconds": "busy_time"}

        def read():
            found = {}
            for disk, io in psutil.disk_io_counters(perdisk=True, nowrap=False).items():
                for ours, name in columns.items():
                    found[disk, ours] = getattr(io, name)
                for ours, name in times.items():
                    found[disk, ours] = getattr(io, name) / 1000
            return found

        def ours():
            rows = self.table("disk", "name")
            return {(disk, name): row[name] for disk, row in rows.items()
                    for name in (*columns, *times)}

        if not psutil.disk_io_counters(perdisk=True, nowrap=False):
            self.skipTest("no disk")
        agree(self, read, ours, dict.fromkeys(read(), 1e-6))

    def test_usage(self):
        """Check 35: disk_usage, against df and psutil."""
        rows = self.table("filesystem", "mount_point")
        # In a chroot / may be no mount point.
        self.assertEqual("/" in rows, "/" in {one.mountpoint for one in psutil.disk_partitions(all=True)})
        measured = [mount for mount in ("/", "/dev/shm") if mount in rows]
        if not measured:
            self.skipTest("neither / nor /dev/shm is a mount point")
        for mount in measured:

            def read(mount=mount):
                usage = psutil.disk_usage(mount)
                text = subprocess.run(["df", "-B1", "--output=size,used,avail,itotal", mount],
                                      capture_output=True, text=True, check=True).stdout
                size, used, available, inodes = map(int, text.split("\n")[1].split())
                self.assertEqual(size, usage.total)
                return {"total_bytes": usage.total, "used_bytes": used,
                        "available_bytes": available, "inodes": inodes}

            agree(self, read, lambda mount=mount: {
                name: self.table("filesystem", "mount_point")[mount][name] for name in read()})

    def test_partitions(self):
        """psutil's disk_partitions() are rows of ours, with device, type and options."""
        rows = self.context.take("filesystem").rows("filesystem")
        ours = {(words(row["mount_point"]), words(row["type"])): row for row in rows}
        for one in psutil.disk_partitions(all=False):
            row = ours[one.mountpoint, one.fstype]
            self.assertEqual(words(row["device"]), one.device)
            self.assertEqual(row["pseudo"], 0)
            self.assertEqual(row["read_only"], int("ro" in one.opts.split(",")))
            self.assertLessEqual({"rw", "ro"} & set(one.opts.split(",")),
                                 set(words(row["options"]).split(",")))


    def test_all_partitions(self):
        """Every one of psutil.disk_partitions(all=True), proc and cgroup too, in the same order."""
        rows = self.context.take("mount").rows("mount")
        ours = [(words(row["mount_point"]), words(row["device"]), words(row["type"]),
                 words(row["options"])) for row in rows]
        theirs = [(one.mountpoint, one.device, one.fstype, one.opts)
                  for one in psutil.disk_partitions(all=True)]
        # psutil says "" for a device that is called none.
        ours = [(point, "" if device == "none" else device, kind, sorted(options.split(",")))
                for point, device, kind, options in ours]
        self.assertEqual(ours, [(point, device, kind, sorted(options.split(",")))
                                for point, device, kind, options in theirs])


class Networks(Machine):
    def test_counters(self):
        columns = {"received_bytes": "bytes_recv", "transmitted_bytes": "bytes_sent",
                   "received_packets": "packets_recv", "transmitted_packets": "packets_sent",
                   "receive_errors": "errin", "transmit_errors": "errout",
                   "receive_drops": "dropin", "transmit_drops": "dropout"}

        def read():
            return {(nic, ours): getattr(io, name)
                    for nic, io in psutil.net_io_counters(pernic=True, nowrap=False).items()
                    for ours, name in columns.items()}

        def ours():
            return {(nic, name): row[name] for nic, row in self.table("network", "name").items()
                    for name in columns}

        agree(self, read, ours)

    def test_addresses(self):
        names = {socket.AF_INET: "inet", socket.AF_INET6: "inet6", socket.AF_PACKET: "link"}
        their = {(nic, names[one.family], one.address, one.netmask or "", one.broadcast or "",
                  one.ptp or "")
                 for nic, addresses in psutil.net_if_addrs().items() for one in addresses}
        ours = {tuple(words(row[name]) or "" for name in (
            "interface", "family", "address", "netmask", "broadcast", "peer"))
            for row in self.context.take("network_address").rows("network_address")}
        self.assertEqual({one[:3] for one in ours}, {one[:3] for one in their})
        self.assertEqual({one for one in ours if one[1] != "link"},
                         {one for one in their if one[1] != "link"})

    def test_addresses_against_ip(self):
        told = subprocess.run(["ip", "-o", "address"], capture_output=True, text=True, check=False)
        if told.returncode != 0:
            self.skipTest("no ip")
        truth = {(line.split()[1], line.split()[3].partition("/")[0],
                  int(line.split()[3].partition("/")[2] or 32))
                 for line in told.stdout.splitlines()}
        ours = {(words(row["interface"]), words(row["address"]).partition("%")[0],
                 row["prefix_length"])
                for row in self.context.take("network_address").rows("network_address")
                if row["family"] != b"link"}
        self.assertEqual(ours, truth)

    def test_states(self):
        rows = self.table("network", "name")
        for nic, stats in psutil.net_if_stats().items():
            row = rows[nic]
            with self.subTest(nic=nic):
                self.assertEqual(row["up"], int(stats.isup))
                self.assertEqual(row["mtu_bytes"], stats.mtu)
                # psutil says 0 where there is no speed.
                self.assertEqual(row["speed_bytes_per_second"] or 0, stats.speed * 125000)
                self.assertEqual(set(words(row["flags"]).split(",")),
                                 set(stats.flags.split(",")))


class Times(Machine):
    def test_boot(self):
        """psutil's is a whole second, at most one too early; ours has its fraction."""
        in_most_of(ATTEMPTS, self.check_boot)

    def check_boot(self):
        ours = self.host("boot_time_seconds", "uptime_seconds")
        real = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
        self.assertAlmostEqual(ours["boot_time_seconds"], real, delta=0.01)
        self.assertTrue(-0.01 <= ours["boot_time_seconds"] - psutil.boot_time() < 1.01)
        self.assertAlmostEqual(ours["uptime_seconds"], time.clock_gettime(time.CLOCK_BOOTTIME),
                               delta=1)

    def test_start_of_a_process_is_exact(self):
        """Where psutil's create_time is early (defect 13); and psutil's own number beside it."""
        pid = scene.one(self, "ready(); stay()")
        start = int(theirs.stat_fields(pid)[21]) / theirs.TICKS
        for _ in range(ATTEMPTS):
            row = self.context.open(pid).ask("process.start_seconds").one()
            self.assertEqual(row["start_seconds"], start)
        in_most_of(ATTEMPTS, lambda: self.check_start(pid, start))

    def check_start(self, pid, start):
        snapshot = self.context.open(pid).ask("process.start_seconds", "host.boot_time_seconds")
        row, host = snapshot.one(), snapshot.one("host")
        exact = host["boot_time_seconds"] + row["start_seconds"]
        self.assertAlmostEqual(exact, time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + start,
                               delta=0.01)
        theirs_of_it = psutil.Process(pid).create_time()
        ours, state = row.compute(api.lib.vitals_psutil_create_time)
        self.assertEqual(state, "have")
        self.assertAlmostEqual(ours, theirs_of_it, places=6)
        self.assertTrue(-0.01 <= exact - theirs_of_it < 1.01)


class Users(Machine):
    """Check 35."""

    def test_users(self):
        ours = sorted((words(row["user"]), words(row["terminal"]), words(row["host"]))
                      for row in self.context.take("login").rows("login"))
        their = sorted((one.name, one.terminal or "",
                        "" if one.host in ("localhost", None) else one.host)
                       for one in psutil.users())
        self.assertLessEqual(set(their), set(ours))

    def test_the_same_as_who(self):
        told = subprocess.run(["who"], capture_output=True, text=True, check=True).stdout
        ours = {(words(row["user"]), words(row["terminal"]))
                for row in self.context.take("login").rows("login")}
        self.assertLessEqual({tuple(line.split()[:2]) for line in told.splitlines()}, ours)

    def test_pids_are_those_of_ps(self):
        def listed():
            text = subprocess.run(["ps", "ax", "-o", "pid="], capture_output=True, text=True,
                                  check=True).stdout
            return set(map(int, text.split()))

        before, ours, after = listed(), self.context.take("process.pid").by("process", "pid"), listed()
        self.assertLessEqual(before & after, set(ours))
        self.assertLessEqual(set(psutil.pids()) & before & after, set(ours))

    def test_a_terminal_that_is_opened_later(self):
        """psutil remembers the terminals that were there first; a new one is None to it."""
        psutil.Process().terminal()
        parent, child = os.openpty()
        self.addCleanup(os.close, parent)
        self.addCleanup(os.close, child)
        name = os.ttyname(child)
        pid = scene.one(self, """
import fcntl
os.setsid()
tty = os.open(sys.argv[1], os.O_RDWR)
fcntl.ioctl(tty, 0x540E, 0)  # TIOCSCTTY
ready(); stay()
""", name)
        ours = self.context.open(pid).get("terminal")
        self.assertEqual(b"/dev/" + ours, name.encode())
        told = subprocess.run(["ps", "-o", "tty=", "-p", str(pid)], capture_output=True, text=True,
                              check=True).stdout.strip()
        self.assertEqual(ours.decode(), told)


HWMON = {
    "hwmon/hwmon0/name": "coretemp", "hwmon/hwmon0/temp1_input": "41000",
    "hwmon/hwmon0/temp1_label": "Package id 0", "hwmon/hwmon0/temp1_max": "80000",
    "hwmon/hwmon0/temp1_crit": "100000", "hwmon/hwmon0/temp2_input": "39500",
    "hwmon/hwmon0/temp2_label": "Core 0",
    "hwmon/hwmon1/name": "nct6775", "hwmon/hwmon1/fan1_input": "1234",
    "hwmon/hwmon1/fan1_label": "cpu fan", "hwmon/hwmon1/fan2_input": "0",
    # a reading that fails, one that is no number, one that is no temperature
    "hwmon/hwmon2/name": "broken", "hwmon/hwmon2/temp1_input": "nonsense",
    "hwmon/hwmon2/temp2_input": "30000", "hwmon/hwmon2/temp2_max": "nonsense",
    "power_supply/BAT0/type": "Battery", "power_supply/BAT0/energy_now": "30000000",
    "power_supply/BAT0/energy_full": "60000000", "power_supply/BAT0/power_now": "10000000",
    "power_supply/BAT0/status": "Discharging", "power_supply/BAT0/capacity": "50",
    "power_supply/AC0/type": "Mains", "power_supply/AC0/online": "0",
}


class Sensors(unittest.TestCase):
    """Check 39: a machine with sensors, that psutil and we both read."""

    @classmethod
    def setUpClass(cls):
        cls.tree = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.tree)
        for name, text in HWMON.items():
            path = cls.tree / "class" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n")
        cls.rows = api.Context(sys_root=cls.tree).take("sensor").rows("sensor")

    def test_ours(self):
        temperatures = {(row["chip"], row["name"]): row for row in self.rows
                        if row["kind"] == b"temperature"}
        package = temperatures[b"coretemp", b"Package id 0"]
        self.assertEqual((package["temperature_celsius"], package["high_celsius"],
                          package["critical_celsius"]), (41.0, 80.0, 100.0))
        core = temperatures[b"coretemp", b"Core 0"]
        self.assertEqual((core["temperature_celsius"], core["high_celsius"]), (39.5, None))
        fans = {row["name"]: row["fan_rpm"] for row in self.rows if row["kind"] == b"fan"}
        self.assertEqual(fans[b"cpu fan"], 1234)
        self.assertIn(0, fans.values())
        self.assertNotIn(0.0, [row["temperature_celsius"] for row in temperatures.values()],
                         "nonsense is no 0 degrees")

    def test_battery(self):
        battery, = [row for row in self.rows if row["kind"] == b"battery"]
        self.assertEqual((battery["charge_ratio"], battery["state"], battery["remaining_seconds"]),
                         (0.5, b"discharging", 3 * 3600))

    def test_against_psutil(self):
        """psutil's folder is fixed: the tree is mounted where it looks, in a namespace of its own."""
        words_, reason = scene.place("mount_namespace")
        if reason is not None:
            self.skipTest(reason)
        mount = ("unshare", "--mount", *scene.shell(f"mount --bind {self.tree}/class /sys/class"))
        found = scene.run_there(mount, "sensors.py")
        self.assertGreater(len(found["temperatures"]), 2)
        ours = {(words(row["chip"]), words(row["name"])): row["temperature_celsius"]
                for row in self.rows if row["kind"] == b"temperature"}
        for chip, label, current, high, critical in found["temperatures"]:
            near = [value for (one, name), value in ours.items()
                    if one == chip and (name == label or not label)]
            self.assertIn(current, near, (chip, label))
        fans = sorted(row["fan_rpm"] for row in self.rows if row["kind"] == b"fan")
        self.assertEqual(fans, sorted(found["fans"]))
        self.assertEqual(found["battery"], [50.0, 3 * 3600, False])


if __name__ == "__main__":
    unittest.main()
