/* metrics.h: numbers of all tables and metrics that a snapshot can hold.
 *
 * Generated from src/model/metrics.def by `make docs`. A number is never given to another
 * metric. Both lists grow: a newer library may give a program numbers that its header
 * lacks. */
#ifndef VITALS_METRICS_H
#define VITALS_METRICS_H

/* Tables of a snapshot. */
typedef enum vitals_table {
    VITALS_TABLE_NONE = 0,
    // The machine, and what our own cgroup leaves us of it: one row.
    VITALS_TABLE_HOST = 1,
    // One row per online logical CPU.
    VITALS_TABLE_CPU = 2,
    // One row per device; a MIG instance, an XCP or a tile is a row whose parent is its device.
    VITALS_TABLE_GPU = 3,
    // Engines of a device: encoder, decoder, copy.
    VITALS_TABLE_GPU_ENGINE = 4,
    // Sensors of a device: temperatures, fans, voltages, power, by the driver's label.
    VITALS_TABLE_GPU_SENSOR = 5,
    // Clock domains of a device: graphics, sm, memory, video.
    VITALS_TABLE_GPU_CLOCK = 6,
    // Memory apertures beside the device's own memory: bar1, gtt.
    VITALS_TABLE_GPU_POOL = 7,
    // One row per process that the request selects; its parent is the process that started or
    // adopted it.
    VITALS_TABLE_PROCESS = 8,
    // One row per process on a device or partition.
    VITALS_TABLE_GPU_PROCESS = 9,
    // What was read from where, what it cost, and why something is missing.
    VITALS_TABLE_SOURCE = 10,
    // One row per block device; a partition's parent is its disk.
    VITALS_TABLE_DISK = 11,
    // One row per network interface of our network namespace.
    VITALS_TABLE_NETWORK = 12,
    // How much work stood still for want of cpu, memory, io or irq: of the machine, and of our own
    // cgroup.
    VITALS_TABLE_PRESSURE = 13,
    // One row per mounted file system that stores something, and one per ZFS pool.
    VITALS_TABLE_FILESYSTEM = 14,
    // Temperatures, fans and batteries of the machine.
    VITALS_TABLE_SENSOR = 15,
    // Addresses of the network interfaces.
    VITALS_TABLE_NETWORK_ADDRESS = 16,
    // Users that are logged in.
    VITALS_TABLE_LOGIN = 17,
    // Sockets: of a network namespace, or of the process that was asked; one row per descriptor
    // that holds it.
    VITALS_TABLE_SOCKET = 18,
    // The threads of a process.
    VITALS_TABLE_THREAD = 19,
    // What a process has open: files, sockets, pipes, devices.
    VITALS_TABLE_DESCRIPTOR = 20,
    // The mappings of a process's memory, one row each.
    VITALS_TABLE_MAPPING = 21,
    // The same, summed by what is mapped.
    VITALS_TABLE_MAPPED_FILE = 22,
    // The environment that a process was given when its program began.
    VITALS_TABLE_ENVIRONMENT = 23,
    // The resource limits of a process.
    VITALS_TABLE_LIMIT = 24,
    // Direct links of a device: NVLink, XGMI.
    VITALS_TABLE_GPU_LINK = 25,
    // Errors of a device by where they were: memory, caches, blocks.
    VITALS_TABLE_GPU_ERROR = 26,
    // What a device can talk to, and how far it is: other GPUs, network adapters.
    VITALS_TABLE_GPU_PEER = 27,
    // What was found on this machine, what is missing and why, and what would mend it.
    VITALS_TABLE_DIAGNOSIS = 28,
    // What the processor counts its energy by: packages, their cores and graphics, memory (RAPL).
    VITALS_TABLE_ENERGY_ZONE = 29,
    // What the selected processes work for, one row each: jobs, containers, services, users.
    VITALS_TABLE_WORKLOAD = 30,
    // Jobs that a device or partition is allotted to, by the file that the scheduler's prolog has
    // left: a claim, true also of a job that has not started or is idle. What the processes on the
    // device work for is proof.
    VITALS_TABLE_GPU_JOB = 31,
    // Every mount of our mount namespace, those that store nothing too, in the order of the kernel.
    // No file system is asked, so no reading hangs.
    VITALS_TABLE_MOUNT = 32
} vitals_table;

/* Columns of the tables: the table's number, shifted by 8, and the
 * metric's. */
typedef enum vitals_metric {
    VITALS_METRIC_NONE = 0,
    // The host's name. Form: identity, text. Source: /proc/sys/kernel/hostname
    VITALS_HOST_NAME = 0x0101,
    // The kernel's release. Form: identity, text. Source: /proc/sys/kernel/osrelease
    VITALS_HOST_KERNEL = 0x0102,
    // Time since boot, suspend included. Unit: seconds, gauge, f64. Source: CLOCK_BOOTTIME
    VITALS_HOST_UPTIME_SECONDS = 0x0103,
    // Logical CPUs that are online. Form: gauge, u64. Source: /proc/stat cpuN lines
    VITALS_HOST_CPUS = 0x0104,
    // Logical CPUs that our own affinity mask allows. Form: gauge, u64. Source: sched_getaffinity
    VITALS_HOST_CPUS_USABLE = 0x0105,
    // Load average over one minute: tasks running or in uninterruptible sleep. Form: gauge, f64.
    // Source: /proc/loadavg
    VITALS_HOST_LOAD_1M = 0x0106,
    // Load average over five minutes. Form: gauge, f64. Source: /proc/loadavg
    VITALS_HOST_LOAD_5M = 0x0107,
    // Load average over fifteen minutes. Form: gauge, f64. Source: /proc/loadavg
    VITALS_HOST_LOAD_15M = 0x0108,
    // Kernel tasks that are runnable now. Form: gauge, u64. Source: /proc/loadavg
    VITALS_HOST_TASKS_RUNNING = 0x0109,
    // Kernel tasks (threads) that exist. Form: gauge, u64. Source: /proc/loadavg
    VITALS_HOST_TASKS = 0x010a,
    // Processes in /proc. Form: gauge, u64. Source: /proc, its number of links
    VITALS_HOST_PROCESSES = 0x010b,
    // Processes and threads created since boot. Form: counter, u64. Source: /proc/stat processes
    VITALS_HOST_FORKS = 0x010c,
    // Context switches since boot. Form: counter, u64. Source: /proc/stat ctxt
    VITALS_HOST_CONTEXT_SWITCHES = 0x010d,
    // Interrupts served since boot. Form: counter, u64. Source: /proc/stat intr
    VITALS_HOST_INTERRUPTS = 0x010e,
    // Tasks waiting for block I/O. Form: gauge, u64. Source: /proc/stat procs_blocked
    VITALS_HOST_TASKS_BLOCKED = 0x010f,
    // Soft interrupts served since boot. Form: counter, u64. Source: /proc/stat softirq
    VITALS_HOST_SOFT_INTERRUPTS = 0x0110,
    // When the machine was booted, in seconds since 1970; moves with the wall clock. Unit: seconds,
    // gauge, f64. Source: CLOCK_REALTIME - CLOCK_BOOTTIME
    VITALS_HOST_BOOT_TIME_SECONDS = 0x0111,
    // Physical cores that are online: hardware threads of one core count once. Form: gauge, u64.
    // Source: /sys/devices/system/cpu/cpu*/topology
    VITALS_HOST_CPUS_PHYSICAL = 0x0112,
    // Processor packages (sockets). Form: gauge, u64. Source:
    // /sys/devices/system/cpu/cpu*/topology/physical_package_id
    VITALS_HOST_CPU_PACKAGES = 0x0113,
    // CPU time in user mode, guests included. Unit: seconds, counter, f64. Source: /proc/stat cpu
    // field 1
    VITALS_HOST_CPU_USER_SECONDS = 0x0114,
    // CPU time in user mode at lowered priority, niced guests included. Unit: seconds, counter,
    // f64. Source: /proc/stat cpu field 2
    VITALS_HOST_CPU_NICE_SECONDS = 0x0115,
    // CPU time in the kernel. Unit: seconds, counter, f64. Source: /proc/stat cpu field 3
    VITALS_HOST_CPU_SYSTEM_SECONDS = 0x0116,
    // CPU time idle. Unit: seconds, counter, f64. Source: /proc/stat cpu field 4
    VITALS_HOST_CPU_IDLE_SECONDS = 0x0117,
    // CPU time idle while a task waited for I/O; may step back. Unit: seconds, counter, f64.
    // Source: /proc/stat cpu field 5
    VITALS_HOST_CPU_IOWAIT_SECONDS = 0x0118,
    // CPU time serving interrupts. Unit: seconds, counter, f64. Source: /proc/stat cpu field 6
    VITALS_HOST_CPU_IRQ_SECONDS = 0x0119,
    // CPU time serving soft interrupts. Unit: seconds, counter, f64. Source: /proc/stat cpu field 7
    VITALS_HOST_CPU_SOFTIRQ_SECONDS = 0x011a,
    // CPU time that the hypervisor gave to others. Unit: seconds, counter, f64. Source: /proc/stat
    // cpu field 8
    VITALS_HOST_CPU_STEAL_SECONDS = 0x011b,
    // CPU time running guests; already in user. Unit: seconds, counter, f64. Source: /proc/stat cpu
    // field 9
    VITALS_HOST_CPU_GUEST_SECONDS = 0x011c,
    // CPU time running niced guests; already in nice. Unit: seconds, counter, f64. Source:
    // /proc/stat cpu field 10
    VITALS_HOST_CPU_GUEST_NICE_SECONDS = 0x011d,
    // CPU time that was not idle and not waiting for I/O; its rate is the number of busy CPUs.
    // Unit: seconds, counter, f64. Source: /proc/stat cpu
    VITALS_HOST_CPU_BUSY_SECONDS = 0x011e,
    // All CPU time, each second counted once; busy over total is the utilization. Unit: seconds,
    // counter, f64. Source: /proc/stat cpu
    VITALS_HOST_CPU_TOTAL_SECONDS = 0x011f,
    // The processor's name. Form: identity, text. Source: /proc/cpuinfo model name
    VITALS_HOST_CPU_MODEL = 0x0120,
    // The machine's architecture, as x86_64. Form: identity, text. Source: uname
    VITALS_HOST_ARCHITECTURE = 0x0121,
    // Vendor and product name of the machine. Form: identity, text. Source: /sys/class/dmi/id
    VITALS_HOST_PRODUCT = 0x0122,
    // The distribution. Form: identity, text. Source: /etc/os-release PRETTY_NAME
    VITALS_HOST_OPERATING_SYSTEM = 0x0123,
    // Mean clock of the online CPUs. Unit: hertz, gauge, f64. Source:
    // /sys/devices/system/cpu/cpufreq, else /proc/cpuinfo
    VITALS_HOST_CPU_FREQUENCY_HERTZ = 0x0124,
    // CPUs that we can keep busy: our affinity mask, bounded by the cgroup's quota rounded up.
    // Form: gauge, u64. Source: sched_getaffinity and the quota of our cgroup
    VITALS_HOST_CPUS_ELIGIBLE = 0x0125,
    // Physical memory that the kernel manages. Unit: bytes, gauge, u64. Source: /proc/meminfo
    // MemTotal
    VITALS_HOST_MEMORY_TOTAL_BYTES = 0x0128,
    // Memory used for nothing at all. Unit: bytes, gauge, u64. Source: /proc/meminfo MemFree
    VITALS_HOST_MEMORY_FREE_BYTES = 0x0129,
    // Memory that can be had without swapping; an estimate of ours on kernels that do not tell.
    // Unit: bytes, gauge, u64. Source: /proc/meminfo MemAvailable
    VITALS_HOST_MEMORY_AVAILABLE_BYTES = 0x012a,
    // Total less available, as free(1) of procps 4 counts. Unit: bytes, gauge, u64. Source:
    // /proc/meminfo MemTotal - MemAvailable
    VITALS_HOST_MEMORY_USED_BYTES = 0x012b,
    // Block device buffers. Unit: bytes, gauge, u64. Source: /proc/meminfo Buffers
    VITALS_HOST_MEMORY_BUFFERS_BYTES = 0x012c,
    // Page cache and reclaimable slab, as free(1) counts. Unit: bytes, gauge, u64. Source:
    // /proc/meminfo Cached + SReclaimable
    VITALS_HOST_MEMORY_CACHED_BYTES = 0x012d,
    // Page cache alone. Unit: bytes, gauge, u64. Source: /proc/meminfo Cached
    VITALS_HOST_MEMORY_PAGE_CACHE_BYTES = 0x012e,
    // Shared memory and tmpfs. Unit: bytes, gauge, u64. Source: /proc/meminfo Shmem
    VITALS_HOST_MEMORY_SHARED_BYTES = 0x012f,
    // Recently used memory. Unit: bytes, gauge, u64. Source: /proc/meminfo Active
    VITALS_HOST_MEMORY_ACTIVE_BYTES = 0x0130,
    // Memory not used recently. Unit: bytes, gauge, u64. Source: /proc/meminfo Inactive
    VITALS_HOST_MEMORY_INACTIVE_BYTES = 0x0131,
    // Recently used anonymous memory. Unit: bytes, gauge, u64. Source: /proc/meminfo Active(anon)
    VITALS_HOST_MEMORY_ACTIVE_ANON_BYTES = 0x0132,
    // Anonymous memory not used recently. Unit: bytes, gauge, u64. Source: /proc/meminfo
    // Inactive(anon)
    VITALS_HOST_MEMORY_INACTIVE_ANON_BYTES = 0x0133,
    // Recently used page cache. Unit: bytes, gauge, u64. Source: /proc/meminfo Active(file)
    VITALS_HOST_MEMORY_ACTIVE_FILE_BYTES = 0x0134,
    // Page cache not used recently. Unit: bytes, gauge, u64. Source: /proc/meminfo Inactive(file)
    VITALS_HOST_MEMORY_INACTIVE_FILE_BYTES = 0x0135,
    // Kernel object caches. Unit: bytes, gauge, u64. Source: /proc/meminfo Slab
    VITALS_HOST_MEMORY_SLAB_BYTES = 0x0136,
    // Slab that can be reclaimed. Unit: bytes, gauge, u64. Source: /proc/meminfo SReclaimable
    VITALS_HOST_MEMORY_SLAB_RECLAIMABLE_BYTES = 0x0137,
    // Memory waiting to be written to disk. Unit: bytes, gauge, u64. Source: /proc/meminfo Dirty
    VITALS_HOST_MEMORY_DIRTY_BYTES = 0x0138,
    // Memory promised to processes. Unit: bytes, gauge, u64. Source: /proc/meminfo Committed_AS
    VITALS_HOST_MEMORY_COMMITTED_BYTES = 0x0139,
    // Swap space. Unit: bytes, gauge, u64. Source: /proc/meminfo SwapTotal
    VITALS_HOST_SWAP_TOTAL_BYTES = 0x013a,
    // Swap space not in use. Unit: bytes, gauge, u64. Source: /proc/meminfo SwapFree
    VITALS_HOST_SWAP_FREE_BYTES = 0x013b,
    // Swap space in use. Unit: bytes, gauge, u64. Source: /proc/meminfo SwapTotal - SwapFree
    VITALS_HOST_SWAP_USED_BYTES = 0x013c,
    // Bytes read back from swap since boot. Unit: bytes, counter, u64. Source: /proc/vmstat pswpin
    VITALS_HOST_SWAP_IN_BYTES = 0x013d,
    // Bytes written to swap since boot. Unit: bytes, counter, u64. Source: /proc/vmstat pswpout
    VITALS_HOST_SWAP_OUT_BYTES = 0x013e,
    // Processes that the kernel killed for want of memory. Form: counter, u64. Source: /proc/vmstat
    // oom_kill
    VITALS_HOST_OOM_KILLS = 0x013f,
    // Memory set aside as huge pages. Unit: bytes, gauge, u64. Source: /proc/meminfo
    // HugePages_Total
    VITALS_HOST_MEMORY_HUGE_TOTAL_BYTES = 0x0140,
    // Huge pages that are not in use. Unit: bytes, gauge, u64. Source: /proc/meminfo HugePages_Free
    VITALS_HOST_MEMORY_HUGE_FREE_BYTES = 0x0141,
    // Memory that the ZFS cache holds, which the kernel does not count as available. Unit: bytes,
    // gauge, u64. Source: /proc/spl/kstat/zfs/arcstats size
    VITALS_HOST_MEMORY_ZFS_CACHE_BYTES = 0x0142,
    // Bytes read from whole disks; partitions, loop, ram, dm and md devices are not counted again.
    // Goes on where a disk leaves or its counter wraps. Unit: bytes, counter, u64. Source:
    // /proc/diskstats field 6
    VITALS_HOST_DISK_READ_BYTES = 0x0146,
    // Bytes written to whole disks; partitions, loop, ram, dm and md devices are not counted again.
    // Goes on where a disk leaves or its counter wraps. Unit: bytes, counter, u64. Source:
    // /proc/diskstats field 10
    VITALS_HOST_DISK_WRITTEN_BYTES = 0x0147,
    // Reads completed by whole disks. Form: counter, u64. Source: /proc/diskstats field 4
    VITALS_HOST_DISK_READS = 0x0148,
    // Writes completed by whole disks. Form: counter, u64. Source: /proc/diskstats field 8
    VITALS_HOST_DISK_WRITES = 0x0149,
    // Bytes received by the interfaces of our network namespace that carry traffic of their own:
    // not loopback, and not twice for bridges, veth, VLANs and bonds. Goes on where an interface
    // leaves or its counter wraps. Unit: bytes, counter, u64. Source: /proc/net/dev
    VITALS_HOST_NETWORK_RECEIVED_BYTES = 0x014a,
    // Bytes sent by the interfaces of our network namespace that carry traffic of their own: not
    // loopback, and not twice for bridges, veth, VLANs and bonds. Goes on where an interface leaves
    // or its counter wraps. Unit: bytes, counter, u64. Source: /proc/net/dev
    VITALS_HOST_NETWORK_TRANSMITTED_BYTES = 0x014b,
    // Time that whole disks were busy, added up. Unit: seconds, counter, f64. Source:
    // /proc/diskstats field 13
    VITALS_HOST_DISK_BUSY_SECONDS = 0x014c,
    // Packets received by the interfaces that are counted. Form: counter, u64. Source:
    // /proc/net/dev
    VITALS_HOST_NETWORK_RECEIVED_PACKETS = 0x014d,
    // Packets sent by the interfaces that are counted. Form: counter, u64. Source: /proc/net/dev
    VITALS_HOST_NETWORK_TRANSMITTED_PACKETS = 0x014e,
    // Size of all local file systems together, each device counted once, ZFS pools included. Unit:
    // bytes, gauge, u64. Source: statvfs
    VITALS_HOST_DISK_SPACE_TOTAL_BYTES = 0x014f,
    // The memory limit of our own cgroup and its ancestors; unsupported where none is set. Unit:
    // bytes, gauge, u64. Source: cgroup memory.max (v1: memory.limit_in_bytes)
    VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES = 0x0150,
    // Memory charged to the cgroup that sets the limit. Unit: bytes, gauge, u64. Source: cgroup
    // memory.current (v1: memory.usage_in_bytes)
    VITALS_HOST_CGROUP_MEMORY_USED_BYTES = 0x0151,
    // The CPU limit of our own cgroup and its ancestors, in CPUs; unsupported where none is set.
    // Unit: cores, gauge, f64. Source: cgroup cpu.max (v1: cpu.cfs_quota_us / cpu.cfs_period_us)
    VITALS_HOST_CGROUP_CPU_LIMIT_CORES = 0x0152,
    // Space in use on them. Unit: bytes, gauge, u64. Source: statvfs
    VITALS_HOST_DISK_SPACE_USED_BYTES = 0x0156,
    // Space on them that an ordinary user may still fill. Unit: bytes, gauge, u64. Source: statvfs
    VITALS_HOST_DISK_SPACE_AVAILABLE_BYTES = 0x0157,
    // 1, 2, or 12 where both are mounted and controllers are on version 1 (hybrid). Form: gauge,
    // u64. Source: /proc/self/mountinfo
    VITALS_HOST_CGROUP_VERSION = 0x0158,
    // Our own cgroup. Form: gauge, text. Source: /proc/self/cgroup
    VITALS_HOST_CGROUP_PATH = 0x0159,
    // Memory above which the cgroup is slowed down, the least of it and its ancestors; unsupported
    // where none is set. Unit: bytes, gauge, u64. Source: cgroup memory.high
    VITALS_HOST_CGROUP_MEMORY_HIGH_BYTES = 0x015a,
    // The most memory ever charged to our own cgroup. Unit: bytes, gauge, u64. Source: cgroup
    // memory.peak (v1: memory.max_usage_in_bytes)
    VITALS_HOST_CGROUP_MEMORY_PEAK_BYTES = 0x015b,
    // Memory charged to our own cgroup that cannot simply be dropped: the working set. Unit: bytes,
    // gauge, u64. Source: cgroup memory.current - inactive_file
    VITALS_HOST_CGROUP_MEMORY_WORKING_BYTES = 0x015c,
    // Swap that our cgroup and its ancestors allow; unsupported where none is set. Unit: bytes,
    // gauge, u64. Source: cgroup memory.swap.max (v1: memsw less memory)
    VITALS_HOST_CGROUP_SWAP_LIMIT_BYTES = 0x015d,
    // Processes of our own cgroup and those below it killed because memory was out. Version 1
    // counts those of the cgroup itself alone: a lower bound. Form: counter, u64. Source: cgroup
    // memory.events oom_kill (v1: memory.oom_control)
    VITALS_HOST_CGROUP_OOM_KILLS = 0x015e,
    // CPU time of our own cgroup. Unit: seconds, counter, f64. Source: cgroup cpu.stat usage_usec
    // (v1: cpuacct.usage)
    VITALS_HOST_CGROUP_CPU_SECONDS = 0x015f,
    // Time that our own cgroup was held back by its quota. Unit: seconds, counter, f64. Source:
    // cgroup cpu.stat throttled_usec
    VITALS_HOST_CGROUP_CPU_THROTTLED_SECONDS = 0x0160,
    // Periods in which it was held back. Form: counter, u64. Source: cgroup cpu.stat nr_throttled
    VITALS_HOST_CGROUP_CPU_THROTTLED_PERIODS = 0x0161,
    // CPUs that our cgroup may run on. Form: gauge, u64. Source: cgroup cpuset.cpus.effective
    VITALS_HOST_CGROUP_CPUS = 0x0162,
    // Tasks in our own cgroup. Form: gauge, u64. Source: cgroup pids.current
    VITALS_HOST_CGROUP_PROCESSES = 0x0163,
    // Tasks that our cgroup and its ancestors allow; unsupported where no limit is set. Form:
    // gauge, u64. Source: cgroup pids.max
    VITALS_HOST_CGROUP_PROCESSES_LIMIT = 0x0164,
    // Bytes that our own cgroup read from disks. Unit: bytes, counter, u64. Source: cgroup io.stat
    // rbytes (v1: blkio)
    VITALS_HOST_CGROUP_READ_BYTES = 0x0165,
    // Bytes that our own cgroup wrote to disks. Unit: bytes, counter, u64. Source: cgroup io.stat
    // wbytes (v1: blkio)
    VITALS_HOST_CGROUP_WRITTEN_BYTES = 0x0166,
    // Memory that processes here can have: the machine's or our cgroup's, whichever is less. Unit:
    // bytes, gauge, u64. Source: the least of MemTotal and the cgroup's limits
    VITALS_HOST_MEMORY_EFFECTIVE_BYTES = 0x0168,
    // Energy of all CPU packages together, by RAPL. What its counters lose when they begin anew is
    // added, from the first reading on; denied without root, unsupported in most virtual machines.
    // Unit: joules, counter, f64. Source: /sys/class/powercap/intel-rapl:N/energy_uj
    VITALS_HOST_PACKAGE_ENERGY_JOULES = 0x0169,
    // Energy of the memory, where RAPL counts it: it is not part of the packages'. Unit: joules,
    // counter, f64. Source: /sys/class/powercap/intel-rapl:N:M/energy_uj
    VITALS_HOST_DRAM_ENERGY_JOULES = 0x016a,
    // The inode number of our own network namespace, whose traffic is counted. Form: gauge, u64.
    // Source: /proc/self/ns/net
    VITALS_HOST_NETWORK_NAMESPACE = 0x016b,
    // The kernel's number of the CPU. Form: identity, u64. Source: /proc/stat cpuN
    VITALS_CPU_INDEX = 0x0201,
    // The core within its package. Form: identity, u64. Source:
    // /sys/devices/system/cpu/cpuN/topology/core_id
    VITALS_CPU_CORE = 0x0202,
    // The package (socket). Form: identity, u64. Source:
    // /sys/devices/system/cpu/cpuN/topology/physical_package_id
    VITALS_CPU_PACKAGE = 0x0203,
    // The clock now. Unit: hertz, gauge, f64. Source:
    // /sys/devices/system/cpu/cpuN/cpufreq/scaling_cur_freq, else /proc/cpuinfo
    VITALS_CPU_FREQUENCY_HERTZ = 0x0204,
    // The lowest that the clock may run. Unit: hertz, gauge, f64. Source: cpufreq/scaling_min_freq
    VITALS_CPU_FREQUENCY_MIN_HERTZ = 0x0205,
    // The highest that the clock may run. Unit: hertz, gauge, f64. Source: cpufreq/scaling_max_freq
    VITALS_CPU_FREQUENCY_MAX_HERTZ = 0x0206,
    // CPU time in user mode, guests included. Unit: seconds, counter, f64. Source: /proc/stat cpuN
    // field 1
    VITALS_CPU_USER_SECONDS = 0x0214,
    // CPU time in user mode at lowered priority. Unit: seconds, counter, f64. Source: /proc/stat
    // cpuN field 2
    VITALS_CPU_NICE_SECONDS = 0x0215,
    // CPU time in the kernel. Unit: seconds, counter, f64. Source: /proc/stat cpuN field 3
    VITALS_CPU_SYSTEM_SECONDS = 0x0216,
    // CPU time idle. Unit: seconds, counter, f64. Source: /proc/stat cpuN field 4
    VITALS_CPU_IDLE_SECONDS = 0x0217,
    // CPU time idle while a task waited for I/O. Unit: seconds, counter, f64. Source: /proc/stat
    // cpuN field 5
    VITALS_CPU_IOWAIT_SECONDS = 0x0218,
    // CPU time serving interrupts. Unit: seconds, counter, f64. Source: /proc/stat cpuN field 6
    VITALS_CPU_IRQ_SECONDS = 0x0219,
    // CPU time serving soft interrupts. Unit: seconds, counter, f64. Source: /proc/stat cpuN field
    // 7
    VITALS_CPU_SOFTIRQ_SECONDS = 0x021a,
    // CPU time that the hypervisor gave to others. Unit: seconds, counter, f64. Source: /proc/stat
    // cpuN field 8
    VITALS_CPU_STEAL_SECONDS = 0x021b,
    // CPU time running guests; already in user. Unit: seconds, counter, f64. Source: /proc/stat
    // cpuN field 9
    VITALS_CPU_GUEST_SECONDS = 0x021c,
    // CPU time running niced guests; already in nice. Unit: seconds, counter, f64. Source:
    // /proc/stat cpuN field 10
    VITALS_CPU_GUEST_NICE_SECONDS = 0x021d,
    // CPU time that was not idle and not waiting for I/O. Unit: seconds, counter, f64. Source:
    // /proc/stat cpuN
    VITALS_CPU_BUSY_SECONDS = 0x021e,
    // All time of this CPU, each second counted once. Unit: seconds, counter, f64. Source:
    // /proc/stat cpuN
    VITALS_CPU_TOTAL_SECONDS = 0x021f,
    // The device's number among its vendor's, as the vendor's own tools count; a partition's number
    // within its device. Form: identity, u64. Source: order of enumeration
    VITALS_GPU_INDEX = 0x0301,
    // nvidia, amd, intel, arm, qualcomm, broadcom; the kernel module's name where that is all we
    // know. Form: identity, text. Source: the back end
    VITALS_GPU_VENDOR = 0x0302,
    // The product's name; of a partition, its profile. Form: identity, text. Source: NVML
    // nvmlDeviceGetName; amdgpu product_name, else amdgpu.ids, pci.ids
    VITALS_GPU_NAME = 0x0303,
    // The identifier that survives a restart. Form: identity, text. Source: NVML nvmlDeviceGetUUID;
    // amdgpu unique_id
    VITALS_GPU_UUID = 0x0304,
    // Domain:bus:device.function. Form: identity, text. Source: NVML nvmlDeviceGetPciInfo
    VITALS_GPU_PCI_BUS_ID = 0x0305,
    // The kernel driver's version. Form: identity, text. Source: NVML nvmlSystemGetDriverVersion;
    // /sys/module/amdgpu/version
    VITALS_GPU_DRIVER_VERSION = 0x0306,
    // The newest CUDA that the driver serves. Form: identity, text. Source: NVML
    // nvmlSystemGetCudaDriverVersion_v2
    VITALS_GPU_CUDA_VERSION = 0x0307,
    // MIG: the GPU instance. Form: identity, u64. Source: NVML nvmlDeviceGetGpuInstanceId
    VITALS_GPU_GPU_INSTANCE_ID = 0x0308,
    // MIG: the compute instance. Form: identity, u64. Source: NVML nvmlDeviceGetComputeInstanceId
    VITALS_GPU_COMPUTE_INSTANCE_ID = 0x0309,
    // Memory of the device. Unit: bytes, gauge, u64. Source: NVML nvmlDeviceGetMemoryInfo_v2; i915
    // and xe memory region queries, else the size of the card's PCI window 2; amdgpu
    // mem_info_vram_total
    VITALS_GPU_MEMORY_TOTAL_BYTES = 0x030a,
    // Memory in use by all processes, reserved memory not counted where the driver tells it apart.
    // Unit: bytes, gauge, u64. Source: NVML nvmlDeviceGetMemoryInfo_v2; i915 and xe memory region
    // queries (CAP_PERFMON), else fdinfo drm-resident-*, of all processes that we may see; amdgpu
    // mem_info_vram_used
    VITALS_GPU_MEMORY_USED_BYTES = 0x030b,
    // Memory that can be allocated. Unit: bytes, gauge, u64. Source: NVML
    // nvmlDeviceGetMemoryInfo_v2; i915 and xe memory region queries (CAP_PERFMON); amdgpu
    // mem_info_vram_total less mem_info_vram_used
    VITALS_GPU_MEMORY_FREE_BYTES = 0x030c,
    // Memory that driver and firmware keep for themselves. Unit: bytes, gauge, u64. Source: NVML
    // nvmlDeviceGetMemoryInfo_v2
    VITALS_GPU_MEMORY_RESERVED_BYTES = 0x030d,
    // Share of the driver's last sample period in which a kernel ran; the driver's own window.
    // Unit: ratio, gauge, f64. Source: NVML nvmlDeviceGetUtilizationRates, of MIG instances
    // nvmlGpmMetricsGet; i915 and xe perf events; rc6_residency_ms, idle_residency_ms;
    // npu_busy_time_us; sums of fdinfo drm-engine-* over all processes that we may see; amdgpu
    // gpu_busy_percent
    VITALS_GPU_UTILIZATION_RATIO = 0x030e,
    // Share of the driver's last sample period in which device memory was read or written; not how
    // full it is. Unit: ratio, gauge, f64. Source: NVML nvmlDeviceGetUtilizationRates; amdgpu
    // mem_busy_percent
    VITALS_GPU_MEMORY_BUSY_RATIO = 0x030f,
    // Time busy since this sampler first saw the device. Unit: seconds, counter, f64. Source: our
    // integral of utilization_ratio
    VITALS_GPU_BUSY_SECONDS = 0x0310,
    // Power draw of the whole board. Unit: watts, gauge, f64. Source: NVML nvmlDeviceGetPowerUsage;
    // hwmon energyN_input; RAPL uncore; hwmon power1_average or power1_input
    VITALS_GPU_POWER_WATTS = 0x0311,
    // The power limit in force. Unit: watts, gauge, f64. Source: NVML
    // nvmlDeviceGetEnforcedPowerLimit; hwmon powerN_max; hwmon power1_cap
    VITALS_GPU_POWER_LIMIT_WATTS = 0x0312,
    // Energy since the driver was loaded. Unit: joules, counter, f64. Source: NVML
    // nvmlDeviceGetTotalEnergyConsumption; hwmon energyN_input; RAPL uncore; amdgpu gpu_metrics
    VITALS_GPU_ENERGY_JOULES = 0x0313,
    // The core's temperature; other sensors are rows of gpu_sensor. Unit: celsius, gauge, f64.
    // Source: NVML nvmlDeviceGetTemperature; hwmon tempN_input; hwmon temp1_input
    VITALS_GPU_TEMPERATURE_CELSIUS = 0x0314,
    // Intended fan speed, of its maximum; may exceed 1. Unit: ratio, gauge, f64. Source: NVML
    // nvmlDeviceGetFanSpeed; hwmon pwm1
    VITALS_GPU_FAN_RATIO = 0x0315,
    // P-state: 0 is the fastest. Form: gauge, u64. Source: NVML nvmlDeviceGetPerformanceState
    VITALS_GPU_PERFORMANCE_STATE = 0x0316,
    // default, exclusive_thread, prohibited, exclusive_process. Form: gauge, text. Source: NVML
    // nvmlDeviceGetComputeMode
    VITALS_GPU_COMPUTE_MODE = 0x0317,
    // 1 where the driver stays loaded without clients. Form: gauge, u64. Source: NVML
    // nvmlDeviceGetPersistenceMode
    VITALS_GPU_PERSISTENCE_MODE = 0x0318,
    // 1 where a display is initialised on the device. Form: gauge, u64. Source: NVML
    // nvmlDeviceGetDisplayActive
    VITALS_GPU_DISPLAY_ACTIVE = 0x0319,
    // 1 where the device is partitioned. Form: gauge, u64. Source: NVML nvmlDeviceGetMigMode
    VITALS_GPU_MIG_MODE = 0x031a,
    // Uncorrected ECC errors since the driver was loaded. Form: counter, u64. Source: NVML
    // nvmlDeviceGetTotalEccErrors; RAS ue
    VITALS_GPU_ECC_ERRORS_UNCORRECTED = 0x031b,
    // Processes on the device. Form: gauge, u64. Source: NVML process lists
    VITALS_GPU_PROCESSES = 0x031c,
    // The board's serial number. Form: identity, text. Source: NVML nvmlDeviceGetSerial; amdgpu
    // serial_number
    VITALS_GPU_SERIAL = 0x031d,
    // Version of the firmware on the board. Form: identity, text. Source: NVML
    // nvmlDeviceGetVbiosVersion; amdgpu vbios_version
    VITALS_GPU_VBIOS_VERSION = 0x031e,
    // The maker's number of the board. Form: identity, text. Source: NVML
    // nvmlDeviceGetBoardPartNumber; amdgpu product_number
    VITALS_GPU_BOARD_PART_NUMBER = 0x031f,
    // The generation: hopper, ampere; gfx942 as AMD's compilers call it. Form: identity, text.
    // Source: NVML nvmlDeviceGetArchitecture; KFD gfx_target_version
    VITALS_GPU_ARCHITECTURE = 0x0320,
    // The product line: nvidia, geforce, rtx, tesla. Form: identity, text. Source: NVML
    // nvmlDeviceGetBrand
    VITALS_GPU_BRAND = 0x0321,
    // Major.minor, as nvcc counts them. Form: identity, text. Source: NVML
    // nvmlDeviceGetCudaComputeCapability
    VITALS_GPU_COMPUTE_CAPABILITY = 0x0322,
    // The kernel module: nvidia, amdgpu, i915, xe, msm. Form: identity, text. Source:
    // /sys/bus/pci/devices/ID/driver
    VITALS_GPU_KERNEL_DRIVER = 0x0323,
    // wddm, wdm or mcdm on Windows; unsupported elsewhere. Form: gauge, text. Source: NVML
    // nvmlDeviceGetDriverModel_v2
    VITALS_GPU_DRIVER_MODEL = 0x0324,
    // The node that programs open. Form: identity, text. Source: /dev/nvidiaN, /dev/dri/renderDN
    VITALS_GPU_DEVICE_NODE = 0x0325,
    // Vendor:device, in hexadecimal. Form: identity, text. Source: /sys/bus/pci/devices/ID/vendor
    // and device
    VITALS_GPU_PCI_ID = 0x0326,
    // Vendor:device of the board's maker, in hexadecimal. Form: identity, text. Source:
    // /sys/bus/pci/devices/ID/subsystem_vendor and subsystem_device
    VITALS_GPU_PCI_SUBSYSTEM_ID = 0x0327,
    // The NUMA node that it is attached to; unsupported where the machine has one alone. Form:
    // identity, u64. Source: /sys/bus/pci/devices/ID/numa_node
    VITALS_GPU_NUMA_NODE = 0x0328,
    // The CPUs nearest to it: 0-15,32-47. Form: identity, text. Source:
    // /sys/bus/pci/devices/ID/local_cpulist
    VITALS_GPU_LOCAL_CPUS = 0x0329,
    // SMs of NVIDIA, compute units of AMD. Form: identity, u64. Source: NVML
    // nvmlDeviceGetAttributes_v2, nvmlDeviceGetNumGpuCores; KFD simd_count
    VITALS_GPU_MULTIPROCESSORS = 0x032a,
    // Width of the memory bus. Form: identity, u64. Source: NVML nvmlDeviceGetMemoryBusWidth; KFD
    // mem_banks width
    VITALS_GPU_MEMORY_BUS_BITS = 0x032b,
    // 1 where it has no memory of its own: the figures of memory are then the machine's, an
    // estimate. Form: identity, u64. Source: NVML nvmlDeviceGetMemoryInfo_v2; sysfs
    VITALS_GPU_UNIFIED_MEMORY = 0x032c,
    // active, suspended, suspending, resuming; a suspended device is left asleep, and its readings
    // are suspended. Form: gauge, text. Source: /sys/bus/pci/devices/ID/power/runtime_status
    VITALS_GPU_RUNTIME_STATUS = 0x032d,
    // 1 where a monitor is connected. Form: gauge, u64. Source: NVML nvmlDeviceGetDisplayMode;
    // /sys/class/drm/CARD-*/status
    VITALS_GPU_DISPLAY_ATTACHED = 0x032e,
    // 1 where memory is corrected. Form: gauge, u64. Source: NVML nvmlDeviceGetEccMode; amdgpu
    // ras/features
    VITALS_GPU_ECC_MODE = 0x032f,
    // The value that ecc_mode will have after the next restart. Form: gauge, u64. Source: NVML
    // nvmlDeviceGetEccMode
    VITALS_GPU_ECC_MODE_PENDING = 0x0330,
    // The value that mig_mode will have after the next reset. Form: gauge, u64. Source: NVML
    // nvmlDeviceGetMigMode
    VITALS_GPU_MIG_MODE_PENDING = 0x0331,
    // How AMD divides the device: SPX, DPX, TPX, QPX, CPX. Form: gauge, text. Source: amdgpu
    // current_compute_partition
    VITALS_GPU_COMPUTE_PARTITION = 0x0332,
    // How AMD divides its memory: NPS1, NPS2, NPS4, NPS8. Form: gauge, text. Source: amdgpu
    // current_memory_partition
    VITALS_GPU_MEMORY_PARTITION = 0x0333,
    // The kind of a partition: mig, xcp, tile, vf. Form: identity, text. Source: the back end
    VITALS_GPU_PARTITION_KIND = 0x0334,
    // 1 where the driver keeps accounts of processes. Form: gauge, u64. Source: NVML
    // nvmlDeviceGetAccountingMode
    VITALS_GPU_ACCOUNTING_MODE = 0x0335,
    // auto, low, high, manual, or the name of a profile. Form: gauge, text. Source: amdgpu
    // power_dpm_force_performance_level
    VITALS_GPU_PERFORMANCE_LEVEL = 0x0336,
    // The limit that was set; the one in force may be lower. Unit: watts, gauge, f64. Source: NVML
    // nvmlDeviceGetPowerManagementLimit; hwmon power1_cap; hwmon powerN_max
    VITALS_GPU_POWER_LIMIT_SET_WATTS = 0x0337,
    // The limit after a start. Unit: watts, gauge, f64. Source: NVML
    // nvmlDeviceGetPowerManagementDefaultLimit; hwmon power1_cap_default; hwmon powerN_rated_max
    VITALS_GPU_POWER_LIMIT_DEFAULT_WATTS = 0x0338,
    // The lowest that may be set. Unit: watts, gauge, f64. Source: NVML
    // nvmlDeviceGetPowerManagementLimitConstraints; hwmon power1_cap_min
    VITALS_GPU_POWER_LIMIT_MIN_WATTS = 0x0339,
    // The highest that may be set. Unit: watts, gauge, f64. Source: NVML
    // nvmlDeviceGetPowerManagementLimitConstraints; hwmon power1_cap_max
    VITALS_GPU_POWER_LIMIT_MAX_WATTS = 0x033a,
    // 1 while a power limit holds its clocks down. Form: gauge, u64. Source: NVML
    // nvmlDeviceGetCurrentClocksEventReasons; gpu_metrics; throttle/reason_*
    VITALS_GPU_THROTTLED_BY_POWER = 0x033b,
    // 1 while heat holds its clocks down. Form: gauge, u64. Source: NVML
    // nvmlDeviceGetCurrentClocksEventReasons; gpu_metrics; throttle/reason_*
    VITALS_GPU_THROTTLED_BY_TEMPERATURE = 0x033c,
    // 1 while a limit of current holds its clocks down. Form: gauge, u64. Source: gpu_metrics;
    // throttle/reason_*
    VITALS_GPU_THROTTLED_BY_CURRENT = 0x033d,
    // 1 while something else does, an idle device and clocks set by a person not counted. Form:
    // gauge, u64. Source: NVML nvmlDeviceGetCurrentClocksEventReasons; gpu_metrics;
    // throttle/reason_*
    VITALS_GPU_THROTTLED_OTHERWISE = 0x033e,
    // The driver's own names of all reasons that slow the clocks now, joined by commas; empty where
    // there is none. Form: gauge, text. Source: NVML nvmlDeviceGetCurrentClocksEventReasons;
    // gpu_metrics; throttle/reason_*
    VITALS_GPU_THROTTLE_REASONS = 0x033f,
    // Time that a power limit held its clocks down, since the driver was loaded. Unit: seconds,
    // counter, f64. Source: NVML nvmlDeviceGetViolationStatus
    VITALS_GPU_THROTTLED_POWER_SECONDS = 0x0340,
    // Time that heat held its clocks down, since the driver was loaded. Unit: seconds, counter,
    // f64. Source: NVML nvmlDeviceGetViolationStatus
    VITALS_GPU_THROTTLED_THERMAL_SECONDS = 0x0341,
    // Corrected ECC errors since the driver was loaded. Form: counter, u64. Source: NVML
    // nvmlDeviceGetTotalEccErrors; RAS ce
    VITALS_GPU_ECC_ERRORS_CORRECTED = 0x0342,
    // Uncorrected ECC errors in the life of the board. Form: counter, u64. Source: NVML
    // nvmlDeviceGetTotalEccErrors
    VITALS_GPU_ECC_ERRORS_UNCORRECTED_EVER = 0x0343,
    // Corrected ECC errors in the life of the board. Form: counter, u64. Source: NVML
    // nvmlDeviceGetTotalEccErrors
    VITALS_GPU_ECC_ERRORS_CORRECTED_EVER = 0x0344,
    // Pages taken out of use for many corrected errors. Form: gauge, u64. Source: NVML
    // nvmlDeviceGetRetiredPages
    VITALS_GPU_RETIRED_PAGES_CORRECTED = 0x0345,
    // Pages taken out of use for an uncorrected error. Form: gauge, u64. Source: NVML
    // nvmlDeviceGetRetiredPages; ras/gpu_vram_bad_pages
    VITALS_GPU_RETIRED_PAGES_UNCORRECTED = 0x0346,
    // 1 where pages will be taken out of use at the next restart. Form: gauge, u64. Source: NVML
    // nvmlDeviceGetRetiredPagesPendingStatus; ras/gpu_vram_bad_pages
    VITALS_GPU_RETIRED_PAGES_PENDING = 0x0347,
    // Rows of memory remapped for corrected errors. Form: gauge, u64. Source: NVML
    // nvmlDeviceGetRemappedRows
    VITALS_GPU_REMAPPED_ROWS_CORRECTED = 0x0348,
    // Rows of memory remapped for uncorrected errors. Form: gauge, u64. Source: NVML
    // nvmlDeviceGetRemappedRows
    VITALS_GPU_REMAPPED_ROWS_UNCORRECTED = 0x0349,
    // 1 where rows will be remapped at the next reset. Form: gauge, u64. Source: NVML
    // nvmlDeviceGetRemappedRows
    VITALS_GPU_REMAPPED_ROWS_PENDING = 0x034a,
    // 1 where a remapping has failed: the board is to be replaced. Form: gauge, u64. Source: NVML
    // nvmlDeviceGetRemappedRows
    VITALS_GPU_REMAPPED_ROWS_FAILED = 0x034b,
    // Xid errors since this sampler opened the driver. Form: counter, u64. Source: NVML
    // nvmlEventSetWait_v2
    VITALS_GPU_XID_ERRORS = 0x034c,
    // The newest Xid; not_yet before there is one. Form: gauge, u64. Source: NVML
    // nvmlEventSetWait_v2
    VITALS_GPU_XID_LAST = 0x034d,
    // Generation of the PCIe link now; an idle device lowers it. Form: gauge, u64. Source: NVML
    // nvmlDeviceGetCurrPcieLinkGeneration; pp_dpm_pcie; current_link_speed
    VITALS_GPU_PCIE_GENERATION = 0x034e,
    // The highest that device and slot can do. Form: gauge, u64. Source: NVML
    // nvmlDeviceGetMaxPcieLinkGeneration; max_link_speed
    VITALS_GPU_PCIE_GENERATION_MAX = 0x034f,
    // Lanes of the PCIe link now. Form: gauge, u64. Source: NVML nvmlDeviceGetCurrPcieLinkWidth;
    // pp_dpm_pcie; current_link_width
    VITALS_GPU_PCIE_WIDTH = 0x0350,
    // The most that device and slot can do. Form: gauge, u64. Source: NVML
    // nvmlDeviceGetMaxPcieLinkWidth; max_link_width
    VITALS_GPU_PCIE_WIDTH_MAX = 0x0351,
    // Packets that had to be sent again. Form: counter, u64. Source: NVML
    // nvmlDeviceGetPcieReplayCounter; pcie_replay_count
    VITALS_GPU_PCIE_REPLAYS = 0x0352,
    // Bytes that it received over PCIe, in a window of the driver of 20 ms (amdgpu: one second, an
    // upper bound). Reading it takes that long. Unit: bytes_per_second, gauge, f64. Source: NVML
    // nvmlDeviceGetPcieThroughput; pcie_bw
    VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND = 0x0353,
    // Bytes that it sent over PCIe, in a window of the driver of 20 ms (amdgpu: one second, an
    // upper bound). Reading it takes that long. Unit: bytes_per_second, gauge, f64. Source: NVML
    // nvmlDeviceGetPcieThroughput; pcie_bw
    VITALS_GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND = 0x0354,
    // Share of time in which an SM had a warp, over all SMs. From Hopper on, of partitions too. It
    // shares counters with profilers: read only when asked for by name, and denied while
    // nv-hostengine (DCGM) runs. Unit: ratio, gauge, f64. Source: NVML nvmlGpmMetricsGet
    VITALS_GPU_SM_ACTIVE_RATIO = 0x0355,
    // Warps on the SMs, of as many as fit. From Hopper on, of partitions too. It shares counters
    // with profilers: read only when asked for by name, and denied while nv-hostengine (DCGM) runs.
    // Unit: ratio, gauge, f64. Source: NVML nvmlGpmMetricsGet
    VITALS_GPU_SM_OCCUPANCY_RATIO = 0x0356,
    // Share of time in which the tensor cores worked. From Hopper on, of partitions too. It shares
    // counters with profilers: read only when asked for by name, and denied while nv-hostengine
    // (DCGM) runs. Unit: ratio, gauge, f64. Source: NVML nvmlGpmMetricsGet
    VITALS_GPU_TENSOR_ACTIVE_RATIO = 0x0357,
    // Share of the memory bandwidth that was used. From Hopper on, of partitions too. It shares
    // counters with profilers: read only when asked for by name, and denied while nv-hostengine
    // (DCGM) runs. Unit: ratio, gauge, f64. Source: NVML nvmlGpmMetricsGet
    VITALS_GPU_MEMORY_BANDWIDTH_RATIO = 0x0358,
    // Processes that the driver keeps accounts of. Form: gauge, u64. Source: NVML
    // nvmlDeviceGetAccountingPids
    VITALS_GPU_ACCOUNTING_PIDS = 0x0359,
    // Time that the device was asleep while the machine was awake. Unit: seconds, counter, f64.
    // Source: rc6_residency_ms; idle_residency_ms
    VITALS_GPU_IDLE_RESIDENCY_SECONDS = 0x035a,
    // Share of the driver's sample period in which the engine was busy. Unit: ratio, gauge, f64.
    // Source: NVML nvmlDeviceGetEncoderUtilization and its like; amdgpu gpu_metrics
    VITALS_GPU_ENGINE_UTILIZATION_RATIO = 0x0401,
    // Time that the engine was busy: the kernel's own count where it has one, else the sum over
    // processes that we may see, a lower bound. Unit: seconds, counter, f64. Source: perf events;
    // fdinfo drm-engine-*; gpu_metrics
    VITALS_GPU_ENGINE_BUSY_SECONDS = 0x0402,
    // How many engines of the kind there are. Form: gauge, u64. Source: fdinfo
    // drm-engine-capacity-*
    VITALS_GPU_ENGINE_CAPACITY = 0x0403,
    // Temperature at the sensor. Unit: celsius, gauge, f64. Source: NVML nvmlDeviceGetTemperature;
    // hwmon tempN_input; amdgpu gpu_metrics
    VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS = 0x0501,
    // From here on clocks are lowered. Unit: celsius, gauge, f64. Source: NVML
    // nvmlDeviceGetTemperatureThreshold slowdown; hwmon tempN_crit, tempN_max of nouveau
    VITALS_GPU_SENSOR_HIGH_CELSIUS = 0x0502,
    // From here on it switches itself off. Unit: celsius, gauge, f64. Source: NVML
    // nvmlDeviceGetTemperatureThreshold shutdown; hwmon tempN_emergency
    VITALS_GPU_SENSOR_CRITICAL_CELSIUS = 0x0503,
    // Revolutions per minute of the fan. Unit: rpm, gauge, f64. Source: NVML
    // nvmlDeviceGetFanSpeedRPM; hwmon fanN_input
    VITALS_GPU_SENSOR_FAN_RPM = 0x0504,
    // Speed of the fan, of its maximum. Unit: ratio, gauge, f64. Source: NVML
    // nvmlDeviceGetFanSpeed_v2; hwmon pwmN
    VITALS_GPU_SENSOR_FAN_RATIO = 0x0505,
    // Voltage. Unit: volts, gauge, f64. Source: hwmon inN_input
    VITALS_GPU_SENSOR_VOLTAGE_VOLTS = 0x0506,
    // Power at the sensor. Unit: watts, gauge, f64. Source: hwmon powerN_average or powerN_input;
    // energyN_input
    VITALS_GPU_SENSOR_POWER_WATTS = 0x0507,
    // The limit of that power. Unit: watts, gauge, f64. Source: hwmon powerN_cap or powerN_max
    VITALS_GPU_SENSOR_POWER_LIMIT_WATTS = 0x0508,
    // Energy since the driver was loaded. Unit: joules, counter, f64. Source: hwmon energyN_input
    VITALS_GPU_SENSOR_ENERGY_JOULES = 0x0509,
    // The limit of that power in a short burst. Unit: watts, gauge, f64. Source: hwmon powerN_cap
    // of xe
    VITALS_GPU_SENSOR_POWER_BURST_LIMIT_WATTS = 0x050a,
    // The clock now. Unit: hertz, gauge, f64. Source: NVML nvmlDeviceGetClockInfo; devfreq
    // cur_freq; npu_current_frequency_mhz; hwmon freqN_input; pp_dpm_*; amdgpu gpu_metrics
    VITALS_GPU_CLOCK_FREQUENCY_HERTZ = 0x0601,
    // The highest that the clock may run. Unit: hertz, gauge, f64. Source: NVML
    // nvmlDeviceGetMaxClockInfo; devfreq max_freq; npu_max_frequency_mhz; pp_dpm_*
    VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ = 0x0602,
    // The lowest that the clock may run. Unit: hertz, gauge, f64. Source: pp_dpm_*;
    // gt_min_freq_mhz; freq0/min_freq; devfreq min_freq
    VITALS_GPU_CLOCK_FREQUENCY_MIN_HERTZ = 0x0603,
    // The frequency that software asks for. Unit: hertz, gauge, f64. Source: NVML
    // nvmlDeviceGetApplicationsClock; gt_cur_freq_mhz; freq0/cur_freq; devfreq target_freq
    VITALS_GPU_CLOCK_FREQUENCY_REQUESTED_HERTZ = 0x0604,
    // Size of the aperture. Unit: bytes, gauge, u64. Source: NVML nvmlDeviceGetBAR1MemoryInfo;
    // amdgpu mem_info_*_total
    VITALS_GPU_POOL_TOTAL_BYTES = 0x0701,
    // Bytes of the aperture in use. Unit: bytes, gauge, u64. Source: NVML
    // nvmlDeviceGetBAR1MemoryInfo; amdgpu mem_info_*_used
    VITALS_GPU_POOL_USED_BYTES = 0x0702,
    // The process id, in our pid namespace. Form: identity, u64. Source: /proc
    VITALS_PROCESS_PID = 0x0801,
    // The parent's process id; 0 where it has none here. Form: gauge, u64. Source: /proc/PID/stat
    // field 4
    VITALS_PROCESS_PARENT_PID = 0x0802,
    // When it started, in seconds since boot; a step of one clock tick. Unit: seconds, identity,
    // f64. Source: /proc/PID/stat field 22
    VITALS_PROCESS_START_SECONDS = 0x0803,
    // The name that the kernel keeps, chosen by the process: at most 15 bytes, of a kernel thread
    // 63. Form: gauge, text. Source: /proc/PID/stat field 2
    VITALS_PROCESS_NAME = 0x0804,
    // running, sleeping, disk_sleep, stopped, tracing_stop, zombie, dead, idle, parked. Form:
    // gauge, text. Source: /proc/PID/stat field 3
    VITALS_PROCESS_STATE = 0x0805,
    // Threads. Form: gauge, u64. Source: /proc/PID/stat field 20
    VITALS_PROCESS_THREADS = 0x0806,
    // CPU time of all its threads, dead ones included; from clock ticks (an estimate) where the
    // clock cannot be read. Unit: seconds, counter, f64. Source: the process's CPU clock
    VITALS_PROCESS_CPU_SECONDS = 0x0807,
    // CPU time in user mode; the kernel's split of cpu_seconds. Unit: seconds, counter, f64.
    // Source: /proc/PID/stat field 14
    VITALS_PROCESS_CPU_USER_SECONDS = 0x0808,
    // CPU time in the kernel; the kernel's split of cpu_seconds. Unit: seconds, counter, f64.
    // Source: /proc/PID/stat field 15
    VITALS_PROCESS_CPU_SYSTEM_SECONDS = 0x0809,
    // Resident set size, shared pages included. Unit: bytes, gauge, u64. Source: /proc/PID/statm
    // field 2
    VITALS_PROCESS_RESIDENT_BYTES = 0x080a,
    // Address space in use. Unit: bytes, gauge, u64. Source: /proc/PID/stat field 23
    VITALS_PROCESS_VIRTUAL_BYTES = 0x080b,
    // Page faults that needed no disk. Form: counter, u64. Source: /proc/PID/stat field 10
    VITALS_PROCESS_MINOR_FAULTS = 0x080c,
    // Page faults that read from disk. Form: counter, u64. Source: /proc/PID/stat field 12
    VITALS_PROCESS_MAJOR_FAULTS = 0x080d,
    // Nice value, -20 to 19. Form: gauge, i64. Source: /proc/PID/stat field 19
    VITALS_PROCESS_NICE = 0x080e,
    // The CPU that its first thread ran on last. Form: gauge, u64. Source: /proc/PID/stat field 39
    VITALS_PROCESS_CPU = 0x080f,
    // The process group. Form: gauge, u64. Source: /proc/PID/stat field 5
    VITALS_PROCESS_PROCESS_GROUP = 0x0810,
    // The session. Form: gauge, u64. Source: /proc/PID/stat field 6
    VITALS_PROCESS_SESSION = 0x0811,
    // The kernel's priority: 20 plus nice, or minus one less the realtime priority. Form: gauge,
    // i64. Source: /proc/PID/stat field 18
    VITALS_PROCESS_PRIORITY = 0x0812,
    // Realtime priority, 1 to 99; 0 for ordinary scheduling. Form: gauge, u64. Source:
    // /proc/PID/stat field 40
    VITALS_PROCESS_REALTIME_PRIORITY = 0x0813,
    // The real user id. Form: gauge, u64. Source: /proc/PID/status Uid
    VITALS_PROCESS_UID = 0x0814,
    // The real user's name, or the number where it has none. Form: gauge, text. Source: getpwuid_r
    // of uid
    VITALS_PROCESS_USER = 0x0815,
    // The arguments, each ended by NUL; chosen by the process. Form: gauge, text. Source:
    // /proc/PID/cmdline
    VITALS_PROCESS_COMMAND_LINE = 0x0816,
    // The path of its cgroup: of version 2, else that of the memory or cpuacct controller. Form:
    // gauge, text. Source: /proc/PID/cgroup
    VITALS_PROCESS_CGROUP = 0x0817,
    // Highest resident set size of the program it runs now. Unit: bytes, gauge, u64. Source:
    // /proc/PID/status VmHWM
    VITALS_PROCESS_RESIDENT_PEAK_BYTES = 0x0818,
    // Bytes that it made the disks read, reaped children included. Unit: bytes, counter, u64.
    // Source: /proc/PID/io read_bytes
    VITALS_PROCESS_READ_BYTES = 0x0819,
    // Bytes that it made the disks write, reaped children included. Unit: bytes, counter, u64.
    // Source: /proc/PID/io write_bytes
    VITALS_PROCESS_WRITTEN_BYTES = 0x081a,
    // other, fifo, rr, batch, idle, deadline, ext. Form: gauge, text. Source: /proc/PID/stat field
    // 41
    VITALS_PROCESS_SCHEDULING_POLICY = 0x081b,
    // CPU time in user mode of children that it waited for, and of theirs. Unit: seconds, counter,
    // f64. Source: /proc/PID/stat field 16
    VITALS_PROCESS_CHILDREN_USER_SECONDS = 0x081c,
    // CPU time in the kernel of children that it waited for, and of theirs. Unit: seconds, counter,
    // f64. Source: /proc/PID/stat field 17
    VITALS_PROCESS_CHILDREN_SYSTEM_SECONDS = 0x081d,
    // Resident pages of files and of shared memory; not what others share. Unit: bytes, gauge, u64.
    // Source: /proc/PID/statm field 3
    VITALS_PROCESS_SHARED_BYTES = 0x081e,
    // Address space of the program's code. Unit: bytes, gauge, u64. Source: /proc/PID/statm field 4
    VITALS_PROCESS_TEXT_BYTES = 0x081f,
    // Address space of data and stack. Unit: bytes, gauge, u64. Source: /proc/PID/statm field 6
    VITALS_PROCESS_DATA_BYTES = 0x0820,
    // Its controlling terminal, as pts/3, or as the numbers of a device without a name; empty where
    // it has none. Form: gauge, text. Source: /proc/PID/stat field 7, /sys/dev/char
    VITALS_PROCESS_TERMINAL = 0x0821,
    // Largest address space of the program it runs now. Unit: bytes, gauge, u64. Source:
    // /proc/PID/status VmPeak
    VITALS_PROCESS_VIRTUAL_PEAK_BYTES = 0x0822,
    // Resident anonymous memory. Unit: bytes, gauge, u64. Source: /proc/PID/status RssAnon
    VITALS_PROCESS_RESIDENT_ANON_BYTES = 0x0823,
    // Resident pages of files. Unit: bytes, gauge, u64. Source: /proc/PID/status RssFile
    VITALS_PROCESS_RESIDENT_FILE_BYTES = 0x0824,
    // Resident shared memory. Unit: bytes, gauge, u64. Source: /proc/PID/status RssShmem
    VITALS_PROCESS_RESIDENT_SHMEM_BYTES = 0x0825,
    // Anonymous memory that is swapped out. Unit: bytes, gauge, u64. Source: /proc/PID/status
    // VmSwap
    VITALS_PROCESS_SWAPPED_BYTES = 0x0826,
    // Huge pages that it set aside; not in the resident size. Unit: bytes, gauge, u64. Source:
    // /proc/PID/status HugetlbPages
    VITALS_PROCESS_HUGETLB_BYTES = 0x0827,
    // Memory that it locked. Unit: bytes, gauge, u64. Source: /proc/PID/status VmLck
    VITALS_PROCESS_LOCKED_BYTES = 0x0828,
    // Times that its threads gave the CPU up, ended ones included; a lower bound where those of
    // ended threads may be missing. Form: counter, u64. Source: taskstats of the thread group, else
    // the sum over /proc/PID/task
    VITALS_PROCESS_VOLUNTARY_CONTEXT_SWITCHES = 0x0829,
    // Times that its threads were taken off the CPU, ended ones included; a lower bound where those
    // of ended threads may be missing. Form: counter, u64. Source: taskstats of the thread group,
    // else the sum over /proc/PID/task
    VITALS_PROCESS_INVOLUNTARY_CONTEXT_SWITCHES = 0x082a,
    // The effective user id. Form: gauge, u64. Source: /proc/PID/status Uid
    VITALS_PROCESS_EFFECTIVE_UID = 0x082b,
    // The saved user id. Form: gauge, u64. Source: /proc/PID/status Uid
    VITALS_PROCESS_SAVED_UID = 0x082c,
    // The real group id. Form: gauge, u64. Source: /proc/PID/status Gid
    VITALS_PROCESS_GID = 0x082d,
    // The effective group id. Form: gauge, u64. Source: /proc/PID/status Gid
    VITALS_PROCESS_EFFECTIVE_GID = 0x082e,
    // The saved group id. Form: gauge, u64. Source: /proc/PID/status Gid
    VITALS_PROCESS_SAVED_GID = 0x082f,
    // The real group's name, or the number where it has none. Form: gauge, text. Source: getgrgid_r
    // of gid
    VITALS_PROCESS_GROUP = 0x0830,
    // The effective user's name, or the number. Form: gauge, text. Source: getpwuid_r of
    // effective_uid
    VITALS_PROCESS_EFFECTIVE_USER = 0x0831,
    // The user who logged in; unsupported if there was no login. Form: gauge, u64. Source:
    // /proc/PID/loginuid
    VITALS_PROCESS_LOGIN_UID = 0x0832,
    // Its process id in the innermost pid namespace. Form: gauge, u64. Source: /proc/PID/status
    // NSpid
    VITALS_PROCESS_NAMESPACE_PID = 0x0833,
    // Effective capabilities, joined by commas; all, or empty for none. Form: gauge, text. Source:
    // /proc/PID/status CapEff
    VITALS_PROCESS_CAPABILITIES = 0x0834,
    // Permitted capabilities, joined by commas; all, or empty for none. Form: gauge, text. Source:
    // /proc/PID/status CapPrm
    VITALS_PROCESS_CAPABILITIES_PERMITTED = 0x0835,
    // disabled, strict, filter. Form: gauge, text. Source: /proc/PID/status Seccomp
    VITALS_PROCESS_SECCOMP = 0x0836,
    // 1 where no program that it runs can gain privileges. Form: gauge, u64. Source:
    // /proc/PID/status NoNewPrivs
    VITALS_PROCESS_NO_NEW_PRIVILEGES = 0x0837,
    // How likely the kernel is to kill it for want of memory, 0 to 2000. Form: gauge, u64. Source:
    // /proc/PID/oom_score
    VITALS_PROCESS_OOM_SCORE = 0x0838,
    // The adjustment that is added to its oom_score, -1000 to 1000. Form: gauge, i64. Source:
    // /proc/PID/oom_score_adj
    VITALS_PROCESS_OOM_SCORE_ADJUST = 0x0839,
    // Descriptors that it has open. Form: gauge, u64. Source: /proc/PID/fd
    VITALS_PROCESS_DESCRIPTORS = 0x083a,
    // Time that its threads were ready and waited for a CPU; without taskstats that of its living
    // threads, a lower bound if there are several. Unit: seconds, counter, f64. Source: taskstats
    // of the thread group, else the sum over /proc/PID/task
    VITALS_PROCESS_RUN_DELAY_SECONDS = 0x083b,
    // Time that its threads waited for block devices; without taskstats of the first alone;
    // unsupported unless kernel.task_delayacct is on. Unit: seconds, counter, f64. Source:
    // taskstats, else /proc/PID/stat field 42
    VITALS_PROCESS_BLOCK_DELAY_SECONDS = 0x083c,
    // Time that it waited for swapped pages; unsupported unless kernel.task_delayacct is on. Unit:
    // seconds, counter, f64. Source: taskstats
    VITALS_PROCESS_SWAP_DELAY_SECONDS = 0x083d,
    // Time that it spent freeing memory for itself; unsupported unless kernel.task_delayacct is on.
    // Unit: seconds, counter, f64. Source: taskstats
    VITALS_PROCESS_RECLAIM_DELAY_SECONDS = 0x083e,
    // Proportional set size: a page that n processes map counts for a nth; 0 for a kernel thread.
    // Reading it walks its memory and holds its lock. Unit: bytes, gauge, u64. Source:
    // /proc/PID/smaps_rollup Pss
    VITALS_PROCESS_PSS_BYTES = 0x083f,
    // Unique set size: what would be free if it ended. Unit: bytes, gauge, u64. Source:
    // /proc/PID/smaps_rollup Private_*
    VITALS_PROCESS_USS_BYTES = 0x0840,
    // Its proportional share of swap. Unit: bytes, gauge, u64. Source: /proc/PID/smaps_rollup
    // SwapPss
    VITALS_PROCESS_SWAP_PSS_BYTES = 0x0841,
    // The program's file; empty for a kernel thread. Form: gauge, text. Source: /proc/PID/exe
    VITALS_PROCESS_EXECUTABLE = 0x0842,
    // 1 where that file was deleted or replaced; unsupported for a kernel thread. Form: gauge, u64.
    // Source: /proc/PID/exe
    VITALS_PROCESS_EXECUTABLE_DELETED = 0x0843,
    // The working directory. Form: gauge, text. Source: /proc/PID/cwd
    VITALS_PROCESS_WORKING_DIRECTORY = 0x0844,
    // Its root; / unless it was changed. Form: gauge, text. Source: /proc/PID/root
    VITALS_PROCESS_ROOT_DIRECTORY = 0x0845,
    // The id of its container, as the path of its cgroup tells; empty where it is in none. Form:
    // gauge, text. Source: /proc/PID/cgroup
    VITALS_PROCESS_CONTAINER = 0x0846,
    // The inode number of its pid namespace. Form: gauge, u64. Source: /proc/PID/ns/pid
    VITALS_PROCESS_PID_NAMESPACE = 0x0847,
    // The inode number of its network namespace. Form: gauge, u64. Source: /proc/PID/ns/net
    VITALS_PROCESS_NETWORK_NAMESPACE = 0x0848,
    // The inode number of its mount namespace. Form: gauge, u64. Source: /proc/PID/ns/mnt
    VITALS_PROCESS_MOUNT_NAMESPACE = 0x0849,
    // The inode number of its user namespace. Form: gauge, u64. Source: /proc/PID/ns/user
    VITALS_PROCESS_USER_NAMESPACE = 0x084a,
    // The inode number of its cgroup namespace. Form: gauge, u64. Source: /proc/PID/ns/cgroup
    VITALS_PROCESS_CGROUP_NAMESPACE = 0x084b,
    // The inode number of its ipc namespace. Form: gauge, u64. Source: /proc/PID/ns/ipc
    VITALS_PROCESS_IPC_NAMESPACE = 0x084c,
    // The inode number of its uts namespace. Form: gauge, u64. Source: /proc/PID/ns/uts
    VITALS_PROCESS_UTS_NAMESPACE = 0x084d,
    // The inode number of its time namespace. Form: gauge, u64. Source: /proc/PID/ns/time
    VITALS_PROCESS_TIME_NAMESPACE = 0x084e,
    // Calls of read(2) and its like, reaped children included. Form: counter, u64. Source:
    // /proc/PID/io syscr
    VITALS_PROCESS_READ_CALLS = 0x084f,
    // Calls of write(2) and its like, reaped children included. Form: counter, u64. Source:
    // /proc/PID/io syscw
    VITALS_PROCESS_WRITE_CALLS = 0x0850,
    // Bytes returned by read(2) and its like, including those from the cache, pipes and terminals.
    // Unit: bytes, counter, u64. Source: /proc/PID/io rchar
    VITALS_PROCESS_CALL_READ_BYTES = 0x0851,
    // Bytes passed to write(2) and its like, including those to the cache, pipes and terminals.
    // Unit: bytes, counter, u64. Source: /proc/PID/io wchar
    VITALS_PROCESS_CALL_WRITTEN_BYTES = 0x0852,
    // The part of written_bytes that was dropped before it reached a disk. Unit: bytes, counter,
    // u64. Source: /proc/PID/io cancelled_write_bytes
    VITALS_PROCESS_CANCELLED_WRITE_BYTES = 0x0853,
    // none, realtime, best_effort, idle. Form: gauge, text. Source: ioprio_get
    VITALS_PROCESS_IO_CLASS = 0x0854,
    // Priority within the class, 0 (highest) to 7; unsupported where the class has none. Form:
    // gauge, u64. Source: ioprio_get
    VITALS_PROCESS_IO_LEVEL = 0x0855,
    // CPUs that it may run on. Form: gauge, u64. Source: /proc/PID/status Cpus_allowed_list
    VITALS_PROCESS_CPUS_ALLOWED = 0x0856,
    // Those CPUs, as 0-3,8. Form: gauge, text. Source: /proc/PID/status Cpus_allowed_list
    VITALS_PROCESS_CPUS_ALLOWED_LIST = 0x0857,
    // The kernel function that it sleeps in; empty while it runs, or where the kernel does not
    // tell. Form: gauge, text. Source: /proc/PID/wchan
    VITALS_PROCESS_WAIT_CHANNEL = 0x0858,
    // The mask of permissions for files that it makes. Form: gauge, u64. Source: /proc/PID/status
    // Umask
    VITALS_PROCESS_UMASK = 0x0859,
    // The process that traces it; 0 for none. Form: gauge, u64. Source: /proc/PID/status TracerPid
    VITALS_PROCESS_TRACER_PID = 0x085a,
    // Anonymous memory in transparent huge pages. Unit: bytes, gauge, u64. Source:
    // /proc/PID/smaps_rollup AnonHugePages
    VITALS_PROCESS_THP_BYTES = 0x085b,
    // The process group in the foreground of its terminal; unsupported where it has none. Form:
    // gauge, u64. Source: /proc/PID/stat field 8
    VITALS_PROCESS_FOREGROUND_GROUP = 0x085c,
    // The name whole: where the kernel cut it, its first argument's last part, if that begins
    // alike. A name that may be cut is a lower bound. Form: gauge, text. Source: /proc/PID/stat and
    // cmdline
    VITALS_PROCESS_PROGRAM_NAME = 0x085d,
    // The systemd unit: the last service or scope of its cgroup; empty where it is in none. Form:
    // gauge, text. Source: /proc/PID/cgroup
    VITALS_PROCESS_UNIT = 0x085e,
    // The Slurm job: its number, or its SLUID where the node knows no number; empty where it is in
    // none. An estimate where only its own environment says so. Form: gauge, text. Source:
    // /proc/PID/cgroup and the title of slurmstepd, else SLURM_JOB_ID of its environment
    VITALS_PROCESS_SLURM_JOB = 0x085f,
    // The step of the job: a number, batch, extern, interactive. Form: gauge, text. Source:
    // /proc/PID/cgroup, else SLURM_STEP_ID
    VITALS_PROCESS_SLURM_STEP = 0x0860,
    // The uid of its Kubernetes pod; empty where it is in none. Form: gauge, text. Source:
    // /proc/PID/cgroup
    VITALS_PROCESS_POD = 0x0861,
    // The pod's name, from the node's log folder. Form: gauge, text. Source: /var/log/containers
    VITALS_PROCESS_POD_NAME = 0x0862,
    // The pod's namespace, from the node's log folder. Form: gauge, text. Source:
    // /var/log/containers
    VITALS_PROCESS_POD_NAMESPACE = 0x0863,
    // The container's name in its pod, from the node's log folder. Form: gauge, text. Source:
    // /var/log/containers
    VITALS_PROCESS_CONTAINER_NAME = 0x0864,
    // Bytes received in its network namespace, by all processes there and over every interface but
    // loopback; unsupported in our own namespace: the tables host and network have those. Unit:
    // bytes, counter, u64. Source: /proc/PID/net/dev
    VITALS_PROCESS_NETWORK_RECEIVED_BYTES = 0x0865,
    // Bytes sent in its network namespace, by all processes there and over every interface but
    // loopback; unsupported in our own namespace: the tables host and network have those. Unit:
    // bytes, counter, u64. Source: /proc/PID/net/dev
    VITALS_PROCESS_NETWORK_TRANSMITTED_BYTES = 0x0866,
    // What it works for, the id of a row of the table workload: slurm:JOB.STEP,
    // k8s:NAMESPACE/POD/CONTAINER, ctr:ID, unit:NAME, user:NAME. An estimate where only its own
    // environment gives the number of its Slurm job, or behind claimed: where an ordinary user may
    // have made the cgroup that says so. Form: gauge, text. Source: /proc/PID/cgroup, the title of
    // slurmstepd, /var/log/containers, getpwuid_r of uid
    VITALS_PROCESS_WORKLOAD = 0x0867,
    // Signals that its first thread blocks, joined by commas: HUP,RTMIN+3; all, or empty for none.
    // Form: gauge, text. Source: /proc/PID/status SigBlk
    VITALS_PROCESS_SIGNALS_BLOCKED = 0x0868,
    // Signals that it ignores, joined by commas; all, or empty for none. Form: gauge, text. Source:
    // /proc/PID/status SigIgn
    VITALS_PROCESS_SIGNALS_IGNORED = 0x0869,
    // Signals for which it has a handler, joined by commas; all, or empty for none. Form: gauge,
    // text. Source: /proc/PID/status SigCgt
    VITALS_PROCESS_SIGNALS_CAUGHT = 0x086a,
    // Signals that were sent to it or to its first thread and wait, joined by commas; all, or empty
    // for none. Form: gauge, text. Source: /proc/PID/status SigPnd and ShdPnd
    VITALS_PROCESS_SIGNALS_PENDING = 0x086b,
    // The ids of its supplementary groups, joined by commas; empty for none. Form: gauge, text.
    // Source: /proc/PID/status Groups
    VITALS_PROCESS_SUPPLEMENTARY_GIDS = 0x086c,
    // Their names, or the number of one that has none. Form: gauge, text. Source: getgrgid_r of
    // supplementary_gids
    VITALS_PROCESS_SUPPLEMENTARY_GROUPS = 0x086d,
    // The user id that counts when it opens files. Form: gauge, u64. Source: /proc/PID/status Uid
    VITALS_PROCESS_FILESYSTEM_UID = 0x086e,
    // The group id that counts when it opens files. Form: gauge, u64. Source: /proc/PID/status Gid
    VITALS_PROCESS_FILESYSTEM_GID = 0x086f,
    // The kernel's flags (PF_… of include/linux/sched.h): 0x40 it has not run a program since its
    // fork, 0x100 it used privileges. Form: gauge, u64. Source: /proc/PID/stat field 9
    VITALS_PROCESS_KERNEL_FLAGS = 0x0870,
    // Its SELinux context or AppArmor profile; unsupported where no such module is on. Form: gauge,
    // text. Source: /proc/PID/attr/current
    VITALS_PROCESS_SECURITY_LABEL = 0x0871,
    // The anonymous part of its PSS; unsupported before Linux 5.3. Unit: bytes, gauge, u64. Source:
    // /proc/PID/smaps_rollup Pss_Anon
    VITALS_PROCESS_PSS_ANON_BYTES = 0x0872,
    // The part of its PSS that files back; unsupported before Linux 5.3. Unit: bytes, gauge, u64.
    // Source: /proc/PID/smaps_rollup Pss_File
    VITALS_PROCESS_PSS_FILE_BYTES = 0x0873,
    // The part of its PSS that is shared memory, files in a tmpfs included; unsupported before
    // Linux 5.3. Unit: bytes, gauge, u64. Source: /proc/PID/smaps_rollup Pss_Shmem
    VITALS_PROCESS_PSS_SHMEM_BYTES = 0x0874,
    // The process id that the driver gives. Form: identity, u64. Source: NVML process lists; KFD
    VITALS_GPU_PROCESS_PID = 0x0901,
    // The key of its row in the table process; outside if the pid is of another namespace, or its
    // process ended before it was seen. Form: identity, u64. Source: proven by /proc/PID
    VITALS_GPU_PROCESS_PROCESS = 0x0902,
    // C, G, M and their sums, as C+G: compute, graphics, compute through the MPS server. Form:
    // gauge, text. Source: NVML process lists
    VITALS_GPU_PROCESS_TYPE = 0x0903,
    // Device memory that it holds; where the device has none of its own, what it may use of the
    // machine's, an estimate. Unit: bytes, gauge, u64. Source: NVML process lists; fdinfo
    // drm-resident-*; KFD vram_*
    VITALS_GPU_PROCESS_MEMORY_USED_BYTES = 0x0904,
    // NVIDIA: its share of the SMs in the newest driver sample, 0 where the driver has none of it.
    // Else: its share of the engines that it kept busiest, since the sweep of /proc before. Unit:
    // ratio, gauge, f64. Source: NVML nvmlDeviceGetProcessUtilization; fdinfo drm-engine-*,
    // drm-cycles-*; KFD cu_occupancy
    VITALS_GPU_PROCESS_UTILIZATION_RATIO = 0x0905,
    // Its share of memory bandwidth in the newest driver sample. Unit: ratio, gauge, f64. Source:
    // NVML nvmlDeviceGetProcessUtilization
    VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO = 0x0906,
    // Its share of the encoder. Unit: ratio, gauge, f64. Source: NVML
    // nvmlDeviceGetProcessUtilization; fdinfo drm-engine-*
    VITALS_GPU_PROCESS_ENCODER_RATIO = 0x0907,
    // Its share of the decoder. Unit: ratio, gauge, f64. Source: NVML
    // nvmlDeviceGetProcessUtilization; fdinfo drm-engine-*
    VITALS_GPU_PROCESS_DECODER_RATIO = 0x0908,
    // Time that it kept the SMs, or its busiest engines, busy since this sampler first saw it.
    // Unit: seconds, counter, f64. Source: our integral of utilization_ratio
    VITALS_GPU_PROCESS_BUSY_SECONDS = 0x0909,
    // MIG: the GPU instance that it runs on. Form: gauge, u64. Source: NVML process lists
    VITALS_GPU_PROCESS_GPU_INSTANCE_ID = 0x090a,
    // MIG: the compute instance that it runs on. Form: gauge, u64. Source: NVML process lists
    VITALS_GPU_PROCESS_COMPUTE_INSTANCE_ID = 0x090b,
    // Its share of the JPEG engine. Unit: ratio, gauge, f64. Source: NVML
    // nvmlDeviceGetProcessesUtilizationInfo; fdinfo drm-engine-*
    VITALS_GPU_PROCESS_JPEG_RATIO = 0x090c,
    // Its share of the optical flow engine. Unit: ratio, gauge, f64. Source: NVML
    // nvmlDeviceGetProcessesUtilizationInfo
    VITALS_GPU_PROCESS_OPTICAL_FLOW_RATIO = 0x090d,
    // Memory of the machine, not of the device, that the device may use for it. Unit: bytes, gauge,
    // u64. Source: fdinfo drm-resident-gtt and system
    VITALS_GPU_PROCESS_SYSTEM_MEMORY_BYTES = 0x090e,
    // The part of its device memory that other processes hold too. Unit: bytes, gauge, u64. Source:
    // fdinfo drm-shared-*
    VITALS_GPU_PROCESS_SHARED_MEMORY_BYTES = 0x090f,
    // Time that it kept the graphics engine busy, as the kernel counts. Unit: seconds, counter,
    // f64. Source: fdinfo drm-engine-*, drm-cycles-*
    VITALS_GPU_PROCESS_GRAPHICS_SECONDS = 0x0910,
    // Time that it kept the compute engine busy, as the kernel counts. Unit: seconds, counter, f64.
    // Source: fdinfo drm-engine-*, drm-cycles-*
    VITALS_GPU_PROCESS_COMPUTE_SECONDS = 0x0911,
    // Time that it kept the copy engines busy, as the kernel counts. Unit: seconds, counter, f64.
    // Source: fdinfo drm-engine-*, drm-cycles-*; KFD sdma_*
    VITALS_GPU_PROCESS_COPY_SECONDS = 0x0912,
    // Time that it kept the video encoder busy, as the kernel counts. Unit: seconds, counter, f64.
    // Source: fdinfo drm-engine-*, drm-cycles-*
    VITALS_GPU_PROCESS_ENCODER_SECONDS = 0x0913,
    // Time that it kept the video decoder busy, as the kernel counts. Unit: seconds, counter, f64.
    // Source: fdinfo drm-engine-*, drm-cycles-*
    VITALS_GPU_PROCESS_DECODER_SECONDS = 0x0914,
    // Where several processes hold one client of the driver, the one that is charged for it: the
    // others have no figures of their own. Else its own pid. Form: gauge, u64. Source: fdinfo
    // drm-client-id
    VITALS_GPU_PROCESS_CHARGED_PID = 0x0915,
    // The most device memory that it held, where the driver keeps accounts. Unit: bytes, gauge,
    // u64. Source: NVML nvmlDeviceGetAccountingStats
    VITALS_GPU_PROCESS_MEMORY_PEAK_BYTES = 0x0916,
    // Its utilization in the mean of its life. Unit: ratio, gauge, f64. Source: NVML
    // nvmlDeviceGetAccountingStats
    VITALS_GPU_PROCESS_MEAN_UTILIZATION_RATIO = 0x0917,
    // Its use of memory bandwidth in the mean of its life. Unit: ratio, gauge, f64. Source: NVML
    // nvmlDeviceGetAccountingStats
    VITALS_GPU_PROCESS_MEAN_MEMORY_BUSY_RATIO = 0x0918,
    // How long it has had the device open. Unit: seconds, counter, f64. Source: NVML
    // nvmlDeviceGetAccountingStats
    VITALS_GPU_PROCESS_ACCOUNTED_SECONDS = 0x0919,
    // Its share of the video engines that encode and decode, as Intel's. Unit: ratio, gauge, f64.
    // Source: fdinfo drm-engine-*, drm-cycles-*
    VITALS_GPU_PROCESS_VIDEO_RATIO = 0x091a,
    // Its share of the engines that scale and filter video, as Intel's. Unit: ratio, gauge, f64.
    // Source: fdinfo drm-engine-*, drm-cycles-*
    VITALS_GPU_PROCESS_VIDEO_ENHANCE_RATIO = 0x091b,
    // Time that it kept the engines that encode and decode busy, as the kernel counts. Unit:
    // seconds, counter, f64. Source: fdinfo drm-engine-*, drm-cycles-*
    VITALS_GPU_PROCESS_VIDEO_SECONDS = 0x091c,
    // Time that it kept the engines that scale and filter video busy, as the kernel counts. Unit:
    // seconds, counter, f64. Source: fdinfo drm-engine-*, drm-cycles-*
    VITALS_GPU_PROCESS_VIDEO_ENHANCE_SECONDS = 0x091d,
    // have, or the reason why the source gives nothing. Form: gauge, text. Source: ourselves
    VITALS_SOURCE_STATE = 0x0a01,
    // One line for a person: what was found, or why not. Form: gauge, text. Source: ourselves
    VITALS_SOURCE_MESSAGE = 0x0a02,
    // Readings that the source was asked for. Form: counter, u64. Source: ourselves
    VITALS_SOURCE_CALLS = 0x0a03,
    // Wall time spent in the calls of the source. Unit: seconds, counter, f64. Source: ourselves
    VITALS_SOURCE_CALL_SECONDS = 0x0a04,
    // Ticks that went on without an answer. Form: counter, u64. Source: ourselves
    VITALS_SOURCE_TIMEOUTS = 0x0a05,
    // Ticks skipped because an earlier one took too long; on the row of the sampler. Form: counter,
    // u64. Source: ourselves
    VITALS_SOURCE_MISSED_TICKS = 0x0a06,
    // Devices whose driver call has hung for more than two seconds. Form: gauge, u64. Source:
    // ourselves
    VITALS_SOURCE_QUARANTINED = 0x0a07,
    // The kernel's name: sda, nvme0n1p2. Form: identity, text. Source: /proc/diskstats field 3
    VITALS_DISK_NAME = 0x0b01,
    // disk, partition, loop, ram, device_mapper, raid, zram, optical, network; stacked for what
    // else stands on other devices. Form: identity, text. Source: /sys/block
    VITALS_DISK_TYPE = 0x0b02,
    // 1 where the machine's sums hold it: whole disks that stand on no other. Form: identity, u64.
    // Source: ourselves
    VITALS_DISK_COUNTED = 0x0b03,
    // Bytes read. Unit: bytes, counter, u64. Source: /proc/diskstats field 6
    VITALS_DISK_READ_BYTES = 0x0b04,
    // Bytes written. Unit: bytes, counter, u64. Source: /proc/diskstats field 10
    VITALS_DISK_WRITTEN_BYTES = 0x0b05,
    // Reads completed. Form: counter, u64. Source: /proc/diskstats field 4
    VITALS_DISK_READS = 0x0b06,
    // Writes completed. Form: counter, u64. Source: /proc/diskstats field 8
    VITALS_DISK_WRITES = 0x0b07,
    // Reads that were joined with another. Form: counter, u64. Source: /proc/diskstats field 5
    VITALS_DISK_READS_MERGED = 0x0b08,
    // Writes that were joined with another. Form: counter, u64. Source: /proc/diskstats field 9
    VITALS_DISK_WRITES_MERGED = 0x0b09,
    // Time that reads took, added up. Unit: seconds, counter, f64. Source: /proc/diskstats field 7
    VITALS_DISK_READ_SECONDS = 0x0b0a,
    // Time that writes took, added up. Unit: seconds, counter, f64. Source: /proc/diskstats field
    // 11
    VITALS_DISK_WRITE_SECONDS = 0x0b0b,
    // Time with at least one request; its rate is the utilization. Unit: seconds, counter, f64.
    // Source: /proc/diskstats field 13
    VITALS_DISK_BUSY_SECONDS = 0x0b0c,
    // Time weighted with the requests in flight; its rate is the mean queue. Unit: seconds,
    // counter, f64. Source: /proc/diskstats field 14
    VITALS_DISK_QUEUE_SECONDS = 0x0b0d,
    // Requests in flight now. Form: gauge, u64. Source: /proc/diskstats field 12
    VITALS_DISK_IN_FLIGHT = 0x0b0e,
    // Discards completed. Form: counter, u64. Source: /proc/diskstats field 15
    VITALS_DISK_DISCARDS = 0x0b0f,
    // Bytes discarded. Unit: bytes, counter, u64. Source: /proc/diskstats field 17
    VITALS_DISK_DISCARDED_BYTES = 0x0b10,
    // Flushes completed. Form: counter, u64. Source: /proc/diskstats field 19
    VITALS_DISK_FLUSHES = 0x0b11,
    // Capacity. Unit: bytes, gauge, u64. Source: /sys/block/NAME/size
    VITALS_DISK_SIZE_BYTES = 0x0b12,
    // Vendor and model, where the device tells. Form: identity, text. Source:
    // /sys/block/NAME/device/model
    VITALS_DISK_MODEL = 0x0b13,
    // 1 for a disk that turns. Form: gauge, u64. Source: /sys/block/NAME/queue/rotational
    VITALS_DISK_ROTATIONAL = 0x0b14,
    // The interface's name. Form: identity, text. Source: /proc/net/dev
    VITALS_NETWORK_NAME = 0x0c01,
    // loopback, ethernet, wireless, infiniband, bridge, bond, vlan, veth, tunnel, virtual. Form:
    // gauge, text. Source: /sys/class/net/NAME
    VITALS_NETWORK_TYPE = 0x0c02,
    // 1 where the machine's sums hold it: hardware; where there is none, as in a container, links
    // that lead out; else tunnels. Form: gauge, u64. Source: ourselves
    VITALS_NETWORK_COUNTED = 0x0c03,
    // Bytes received; goes on where the kernel's counter wraps. Unit: bytes, counter, u64. Source:
    // /proc/net/dev
    VITALS_NETWORK_RECEIVED_BYTES = 0x0c04,
    // Bytes sent; goes on where the kernel's counter wraps. Unit: bytes, counter, u64. Source:
    // /proc/net/dev
    VITALS_NETWORK_TRANSMITTED_BYTES = 0x0c05,
    // Packets received. Form: counter, u64. Source: /proc/net/dev
    VITALS_NETWORK_RECEIVED_PACKETS = 0x0c06,
    // Packets sent. Form: counter, u64. Source: /proc/net/dev
    VITALS_NETWORK_TRANSMITTED_PACKETS = 0x0c07,
    // Packets that came broken. Form: counter, u64. Source: /proc/net/dev
    VITALS_NETWORK_RECEIVE_ERRORS = 0x0c08,
    // Packets that could not be sent. Form: counter, u64. Source: /proc/net/dev
    VITALS_NETWORK_TRANSMIT_ERRORS = 0x0c09,
    // Packets received and dropped. Form: counter, u64. Source: /proc/net/dev
    VITALS_NETWORK_RECEIVE_DROPS = 0x0c0a,
    // Packets dropped before they were sent. Form: counter, u64. Source: /proc/net/dev
    VITALS_NETWORK_TRANSMIT_DROPS = 0x0c0b,
    // 1 where it is up and running. Form: gauge, u64. Source: /sys/class/net/NAME/flags
    VITALS_NETWORK_UP = 0x0c0c,
    // up, down, dormant, unknown and so on. Form: gauge, text. Source:
    // /sys/class/net/NAME/operstate
    VITALS_NETWORK_STATE = 0x0c0d,
    // Largest packet. Unit: bytes, gauge, u64. Source: /sys/class/net/NAME/mtu
    VITALS_NETWORK_MTU_BYTES = 0x0c0e,
    // Speed of the link; unsupported where the link is down or has none. Unit: bytes_per_second,
    // gauge, u64. Source: /sys/class/net/NAME/speed
    VITALS_NETWORK_SPEED_BYTES_PER_SECOND = 0x0c0f,
    // full, half or unknown. Form: gauge, text. Source: /sys/class/net/NAME/duplex
    VITALS_NETWORK_DUPLEX = 0x0c10,
    // The link's own address. Form: identity, text. Source: /sys/class/net/NAME/address
    VITALS_NETWORK_HARDWARE_ADDRESS = 0x0c11,
    // up, broadcast, loopback, running, multicast and so on, joined by commas. Form: gauge, text.
    // Source: /sys/class/net/NAME/flags
    VITALS_NETWORK_FLAGS = 0x0c12,
    // cpu, memory, io, irq. Form: identity, text. Source: /proc/pressure
    VITALS_PRESSURE_RESOURCE = 0x0d01,
    // machine, or cgroup for our own, which has rows where this is asked for. Form: identity, text.
    // Source: /proc/pressure, cgroup *.pressure
    VITALS_PRESSURE_SCOPE = 0x0d02,
    // Share of the last 10 s in which some task stood still. Unit: ratio, gauge, f64. Source: some
    // avg10
    VITALS_PRESSURE_SOME_10S_RATIO = 0x0d03,
    // Share of the last 60 s in which some task stood still. Unit: ratio, gauge, f64. Source: some
    // avg60
    VITALS_PRESSURE_SOME_60S_RATIO = 0x0d04,
    // Share of the last 300 s in which some task stood still. Unit: ratio, gauge, f64. Source: some
    // avg300
    VITALS_PRESSURE_SOME_300S_RATIO = 0x0d05,
    // Time in which some task stood still. Unit: seconds, counter, f64. Source: some total
    VITALS_PRESSURE_SOME_SECONDS = 0x0d06,
    // Share of the last 10 s in which every task that was not idle stood still. Unit: ratio, gauge,
    // f64. Source: full avg10
    VITALS_PRESSURE_FULL_10S_RATIO = 0x0d07,
    // Share of the last 60 s in which every task that was not idle stood still. Unit: ratio, gauge,
    // f64. Source: full avg60
    VITALS_PRESSURE_FULL_60S_RATIO = 0x0d08,
    // Share of the last 300 s in which every task that was not idle stood still. Unit: ratio,
    // gauge, f64. Source: full avg300
    VITALS_PRESSURE_FULL_300S_RATIO = 0x0d09,
    // Time in which every task that was not idle stood still. Unit: seconds, counter, f64. Source:
    // full total
    VITALS_PRESSURE_FULL_SECONDS = 0x0d0a,
    // The mount point; empty for a ZFS pool that is not mounted. Form: identity, text. Source:
    // /proc/self/mountinfo
    VITALS_FILESYSTEM_MOUNT_POINT = 0x0e01,
    // The device that is mounted there; for a pool, its name. Form: identity, text. Source:
    // /proc/self/mountinfo
    VITALS_FILESYSTEM_DEVICE = 0x0e02,
    // ext4, xfs, nfs4, zfs_pool. Form: identity, text. Source: /proc/self/mountinfo
    VITALS_FILESYSTEM_TYPE = 0x0e03,
    // Options of the mount, joined by commas. Form: gauge, text. Source: /proc/self/mountinfo
    VITALS_FILESYSTEM_OPTIONS = 0x0e04,
    // 1 where the file system is read-only, and not this mount of it alone, which options says.
    // Form: gauge, u64. Source: /proc/self/mountinfo
    VITALS_FILESYSTEM_READ_ONLY = 0x0e05,
    // 1 for a file system over a network. Form: gauge, u64. Source: /proc/self/mountinfo
    VITALS_FILESYSTEM_REMOTE = 0x0e06,
    // 1 where the machine's sums hold it: local, its device not counted before, no loop device; the
    // root where nothing else is. Form: gauge, u64. Source: ourselves
    VITALS_FILESYSTEM_COUNTED = 0x0e07,
    // Size. Unit: bytes, gauge, u64. Source: statvfs
    VITALS_FILESYSTEM_TOTAL_BYTES = 0x0e08,
    // Space in use. Unit: bytes, gauge, u64. Source: statvfs
    VITALS_FILESYSTEM_USED_BYTES = 0x0e09,
    // Space not in use, including the part reserved for root. Unit: bytes, gauge, u64. Source:
    // statvfs
    VITALS_FILESYSTEM_FREE_BYTES = 0x0e0a,
    // Space that an ordinary user may still fill. Unit: bytes, gauge, u64. Source: statvfs
    VITALS_FILESYSTEM_AVAILABLE_BYTES = 0x0e0b,
    // Inodes. Form: gauge, u64. Source: statvfs
    VITALS_FILESYSTEM_INODES = 0x0e0c,
    // Inodes not in use. Form: gauge, u64. Source: statvfs
    VITALS_FILESYSTEM_INODES_FREE = 0x0e0d,
    // 1 for a file system without a device of its own, as tmpfs and overlay. Form: gauge, u64.
    // Source: /proc/filesystems nodev
    VITALS_FILESYSTEM_PSEUDO = 0x0e0e,
    // Bytes read; of ZFS pools only. Where the pool itself does not tell, by its mounted datasets,
    // what the cache served included. Unit: bytes, counter, u64. Source:
    // /proc/spl/kstat/zfs/POOL/io, else objset-*
    VITALS_FILESYSTEM_READ_BYTES = 0x0e0f,
    // Bytes written; of ZFS pools only. Where the pool itself does not tell, by its mounted
    // datasets, what the cache served included. Unit: bytes, counter, u64. Source:
    // /proc/spl/kstat/zfs/POOL/io, else objset-*
    VITALS_FILESYSTEM_WRITTEN_BYTES = 0x0e10,
    // The chip or zone: coretemp, nvme, BAT0. Form: identity, text. Source:
    // /sys/class/hwmon/hwmonN/name
    VITALS_SENSOR_CHIP = 0x0f01,
    // The sensor's label; empty where it has none. Form: identity, text. Source:
    // /sys/class/hwmon/hwmonN/tempM_label
    VITALS_SENSOR_NAME = 0x0f02,
    // temperature, fan, battery, power_adapter. Form: identity, text. Source: /sys/class/hwmon,
    // thermal, power_supply
    VITALS_SENSOR_KIND = 0x0f03,
    // Temperature. Unit: celsius, gauge, f64. Source: tempM_input
    VITALS_SENSOR_TEMPERATURE_CELSIUS = 0x0f04,
    // From here on it is high. Unit: celsius, gauge, f64. Source: tempM_max
    VITALS_SENSOR_HIGH_CELSIUS = 0x0f05,
    // From here on it is critical. Unit: celsius, gauge, f64. Source: tempM_crit
    VITALS_SENSOR_CRITICAL_CELSIUS = 0x0f06,
    // Revolutions per minute. Unit: rpm, gauge, f64. Source: fanM_input
    VITALS_SENSOR_FAN_RPM = 0x0f07,
    // Charge of the battery. Unit: ratio, gauge, f64. Source: /sys/class/power_supply
    VITALS_SENSOR_CHARGE_RATIO = 0x0f08,
    // Until the battery is empty, while it discharges. Unit: seconds, gauge, f64. Source:
    // /sys/class/power_supply
    VITALS_SENSOR_REMAINING_SECONDS = 0x0f09,
    // charging, discharging, full, not_charging, unknown; of an adapter, online or offline. Form:
    // gauge, text. Source: /sys/class/power_supply
    VITALS_SENSOR_STATE = 0x0f0a,
    // The interface. Form: identity, text. Source: getifaddrs
    VITALS_NETWORK_ADDRESS_INTERFACE = 0x1001,
    // inet, inet6, link. Form: identity, text. Source: getifaddrs
    VITALS_NETWORK_ADDRESS_FAMILY = 0x1002,
    // The address; of inet6 with its scope where it has one. Form: identity, text. Source:
    // getifaddrs
    VITALS_NETWORK_ADDRESS_ADDRESS = 0x1003,
    // Bits of the network. Form: gauge, u64. Source: getifaddrs
    VITALS_NETWORK_ADDRESS_PREFIX_LENGTH = 0x1004,
    // The same as a mask. Form: gauge, text. Source: getifaddrs
    VITALS_NETWORK_ADDRESS_NETMASK = 0x1005,
    // The broadcast address; empty where there is none. Form: gauge, text. Source: getifaddrs
    VITALS_NETWORK_ADDRESS_BROADCAST = 0x1006,
    // The other end of a point-to-point link; empty where there is none. Form: gauge, text. Source:
    // getifaddrs
    VITALS_NETWORK_ADDRESS_PEER = 0x1007,
    // The user's name. Form: identity, text. Source: utmp, /run/systemd/sessions
    VITALS_LOGIN_USER = 0x1101,
    // The terminal; empty where there is none. Form: identity, text. Source: utmp,
    // /run/systemd/sessions
    VITALS_LOGIN_TERMINAL = 0x1102,
    // From where; empty for this machine. Form: identity, text. Source: utmp, /run/systemd/sessions
    VITALS_LOGIN_HOST = 0x1103,
    // When, in seconds since 1970. Unit: seconds, identity, f64. Source: utmp,
    // /run/systemd/sessions
    VITALS_LOGIN_START_TIME_SECONDS = 0x1104,
    // The process of the login. Form: identity, u64. Source: utmp, /run/systemd/sessions
    VITALS_LOGIN_PID = 0x1105,
    // inet, inet6, unix, netlink, packet, vsock; xdp, alg, tipc, which no list of the kernel has.
    // Form: identity, text. Source: sock_diag, else /proc/PID/net
    VITALS_SOCKET_FAMILY = 0x1201,
    // stream, datagram, seqpacket, raw; of netlink told by sock_diag alone. Form: identity, text.
    // Source: sock_diag, else /proc/PID/net
    VITALS_SOCKET_TYPE = 0x1202,
    // tcp, udp, icmp, sctp, mptcp, unix and so on; of netlink its kind (route, audit), of packet
    // what it listens to (all, arp); a number where it has no name. Form: identity, text. Source:
    // sock_diag, else /proc/PID/net
    VITALS_SOCKET_PROTOCOL = 0x1203,
    // The local address, of a link-local one with its scope where sock_diag tells it; of a unix
    // socket its path, with @ for every NUL of an abstract name; of packet the interface; empty
    // where it has none; unsupported of a socket that no list of the kernel has, such as one that
    // was never bound. Form: identity, text. Source: sock_diag, else /proc/PID/net
    VITALS_SOCKET_LOCAL_ADDRESS = 0x1204,
    // The local port, for netlink the port id; unsupported if there is none. Form: identity, u64.
    // Source: sock_diag, else /proc/PID/net
    VITALS_SOCKET_LOCAL_PORT = 0x1205,
    // The other end; empty if there is none; for a unix socket the path of its peer, unsupported if
    // only /proc lists it. Form: identity, text. Source: sock_diag, else /proc/PID/net
    VITALS_SOCKET_REMOTE_ADDRESS = 0x1206,
    // The port of the other end; unsupported where there is none. Form: identity, u64. Source:
    // sock_diag, else /proc/PID/net
    VITALS_SOCKET_REMOTE_PORT = 0x1207,
    // established, syn_sent, syn_received, fin_wait1, fin_wait2, time_wait, close, close_wait,
    // last_ack, listen, closing, new_syn_received; none where the protocol has no states; a number
    // where it has no name. Form: gauge, text. Source: sock_diag, else /proc/PID/net
    VITALS_SOCKET_STATE = 0x1208,
    // The socket's inode; 0 if no process holds it any more. Form: identity, u64. Source:
    // sock_diag, else /proc/PID/net
    VITALS_SOCKET_INODE = 0x1209,
    // A process that holds it; unsupported if none does, denied where it may be a process that we
    // may not read, failed where not all could be read. Form: identity, u64. Source: /proc/PID/fd
    VITALS_SOCKET_PID = 0x120a,
    // Its descriptor in that process. Form: identity, u64. Source: /proc/PID/fd
    VITALS_SOCKET_DESCRIPTOR = 0x120b,
    // The user it belongs to; unsupported if no process holds it any more. Form: gauge, u64.
    // Source: sock_diag, else /proc/PID/net
    VITALS_SOCKET_UID = 0x120c,
    // For tcp and unix streams, bytes that wait to be read; for a listener, connections that wait.
    // For other sockets an estimate: the memory in use, for unix datagrams the size of the first;
    // the end of a tcp connection that is not established may count as a byte. For unix sockets
    // only from sock_diag. Unit: bytes, gauge, u64. Source: sock_diag, else /proc/PID/net
    VITALS_SOCKET_RECEIVE_QUEUE_BYTES = 0x120d,
    // For tcp, bytes that wait to be sent or acknowledged; unsupported for a listener. For other
    // sockets an estimate: the memory in use; the beginning or end of a tcp connection that is not
    // established may count as a byte. For unix sockets only from sock_diag. Unit: bytes, gauge,
    // u64. Source: sock_diag, else /proc/PID/net
    VITALS_SOCKET_SEND_QUEUE_BYTES = 0x120e,
    // The thread id. Form: identity, u64. Source: /proc/PID/task
    VITALS_THREAD_TID = 0x1301,
    // Its name, chosen by the process. Form: gauge, text. Source: /proc/PID/task/TID/stat field 2
    VITALS_THREAD_NAME = 0x1302,
    // As the state of a process. Form: gauge, text. Source: /proc/PID/task/TID/stat field 3
    VITALS_THREAD_STATE = 0x1303,
    // When it started, in seconds since boot. Unit: seconds, identity, f64. Source:
    // /proc/PID/task/TID/stat field 22
    VITALS_THREAD_START_SECONDS = 0x1304,
    // CPU time. Unit: seconds, counter, f64. Source: /proc/PID/task/TID/schedstat field 1
    VITALS_THREAD_CPU_SECONDS = 0x1305,
    // CPU time in user mode. Unit: seconds, counter, f64. Source: /proc/PID/task/TID/stat field 14
    VITALS_THREAD_CPU_USER_SECONDS = 0x1306,
    // CPU time in the kernel. Unit: seconds, counter, f64. Source: /proc/PID/task/TID/stat field 15
    VITALS_THREAD_CPU_SYSTEM_SECONDS = 0x1307,
    // Time that it was ready and waited for a CPU. Unit: seconds, counter, f64. Source:
    // /proc/PID/task/TID/schedstat field 2
    VITALS_THREAD_RUN_DELAY_SECONDS = 0x1308,
    // The CPU that it ran on last. Form: gauge, u64. Source: /proc/PID/task/TID/stat field 39
    VITALS_THREAD_CPU = 0x1309,
    // Nice value. Form: gauge, i64. Source: /proc/PID/task/TID/stat field 19
    VITALS_THREAD_NICE = 0x130a,
    // As that of a process. Form: gauge, text. Source: /proc/PID/task/TID/stat field 41
    VITALS_THREAD_SCHEDULING_POLICY = 0x130b,
    // Realtime priority. Form: gauge, u64. Source: /proc/PID/task/TID/stat field 40
    VITALS_THREAD_REALTIME_PRIORITY = 0x130c,
    // Page faults that needed no disk. Form: counter, u64. Source: /proc/PID/task/TID/stat field 10
    VITALS_THREAD_MINOR_FAULTS = 0x130d,
    // Page faults that read from disk. Form: counter, u64. Source: /proc/PID/task/TID/stat field 12
    VITALS_THREAD_MAJOR_FAULTS = 0x130e,
    // Times that it gave the CPU up. Form: counter, u64. Source: /proc/PID/task/TID/status
    VITALS_THREAD_VOLUNTARY_CONTEXT_SWITCHES = 0x130f,
    // Times that it was taken off the CPU. Form: counter, u64. Source: /proc/PID/task/TID/status
    VITALS_THREAD_INVOLUNTARY_CONTEXT_SWITCHES = 0x1310,
    // CPUs that it may run on. Form: gauge, text. Source: /proc/PID/task/TID/status
    VITALS_THREAD_CPUS_ALLOWED_LIST = 0x1311,
    // The descriptor. Form: identity, u64. Source: /proc/PID/fd
    VITALS_DESCRIPTOR_NUMBER = 0x1401,
    // file, directory, character_device, block_device, pipe, socket, memfd, eventfd, eventpoll,
    // timerfd, signalfd, inotify, fanotify, pidfd, io_uring, dmabuf, bpf, perf_event, namespace,
    // path, other. Form: gauge, text. Source: /proc/PID/fd/N
    VITALS_DESCRIPTOR_TYPE = 0x1402,
    // The file that it refers to, as the process sees it: a path, or the kernel's own name of it.
    // Form: gauge, text. Source: /proc/PID/fd/N
    VITALS_DESCRIPTOR_PATH = 0x1403,
    // 1 if the name of the file was removed; path is the former name. Form: gauge, u64. Source:
    // statx of /proc/PID/fd/N
    VITALS_DESCRIPTOR_DELETED = 0x1404,
    // The position of the next read or write. Unit: bytes, gauge, u64. Source: /proc/PID/fdinfo/N
    // pos
    VITALS_DESCRIPTOR_POSITION_BYTES = 0x1405,
    // Flags of open(2). Form: gauge, u64. Source: /proc/PID/fdinfo/N flags
    VITALS_DESCRIPTOR_FLAGS = 0x1406,
    // The access: r, w, r+, a, a+; - for neither reading nor writing. Form: gauge, text. Source:
    // /proc/PID/fdinfo/N flags
    VITALS_DESCRIPTOR_MODE = 0x1407,
    // The device that holds it, as 8:1. Form: gauge, text. Source: statx of /proc/PID/fd/N
    VITALS_DESCRIPTOR_DEVICE = 0x1408,
    // The inode of the file. Form: gauge, u64. Source: statx of /proc/PID/fd/N
    VITALS_DESCRIPTOR_INODE = 0x1409,
    // The size, for files only. Unit: bytes, gauge, u64. Source: statx of /proc/PID/fd/N
    VITALS_DESCRIPTOR_SIZE_BYTES = 0x140a,
    // 1 if the descriptor is closed when another program begins. Form: gauge, u64. Source:
    // /proc/PID/fdinfo/N flags
    VITALS_DESCRIPTOR_CLOSE_ON_EXEC = 0x140b,
    // First and end address, in hexadecimal. Form: identity, text. Source: /proc/PID/maps
    VITALS_MAPPING_ADDRESSES = 0x1501,
    // r, w, x and p (private) or s (shared). Form: gauge, text. Source: /proc/PID/maps
    VITALS_MAPPING_PERMISSIONS = 0x1502,
    // The mapped file: a path, [heap], [stack]; [anon] for memory without a name. Form: gauge,
    // text. Source: /proc/PID/maps
    VITALS_MAPPING_PATH = 0x1503,
    // 1 if the mapped file was deleted or replaced. Form: gauge, u64. Source: /proc/PID/maps
    VITALS_MAPPING_DELETED = 0x1504,
    // The place in the file at which the mapping begins. Unit: bytes, gauge, u64. Source:
    // /proc/PID/maps
    VITALS_MAPPING_OFFSET_BYTES = 0x1505,
    // The device that holds the file, as 8:1. Form: gauge, text. Source: /proc/PID/maps
    VITALS_MAPPING_DEVICE = 0x1506,
    // The file's inode; 0 for none. Form: gauge, u64. Source: /proc/PID/maps
    VITALS_MAPPING_INODE = 0x1507,
    // Address space of the mapping. Unit: bytes, gauge, u64. Source: /proc/PID/smaps Size
    VITALS_MAPPING_SIZE_BYTES = 0x1508,
    // Pages of the mapping in memory. Unit: bytes, gauge, u64. Source: /proc/PID/smaps Rss
    VITALS_MAPPING_RESIDENT_BYTES = 0x1509,
    // Pages of the mapping in memory, each divided by the number of processes that map it. Unit:
    // bytes, gauge, u64. Source: /proc/PID/smaps Pss
    VITALS_MAPPING_PSS_BYTES = 0x150a,
    // Pages of the mapping that other processes map too, unchanged. Unit: bytes, gauge, u64.
    // Source: /proc/PID/smaps Shared_Clean
    VITALS_MAPPING_SHARED_CLEAN_BYTES = 0x150b,
    // Pages of the mapping that other processes map too, changed. Unit: bytes, gauge, u64. Source:
    // /proc/PID/smaps Shared_Dirty
    VITALS_MAPPING_SHARED_DIRTY_BYTES = 0x150c,
    // Pages of the mapping that only this process maps, unchanged. Unit: bytes, gauge, u64. Source:
    // /proc/PID/smaps Private_Clean
    VITALS_MAPPING_PRIVATE_CLEAN_BYTES = 0x150d,
    // Pages of the mapping that only this process maps, changed. Unit: bytes, gauge, u64. Source:
    // /proc/PID/smaps Private_Dirty
    VITALS_MAPPING_PRIVATE_DIRTY_BYTES = 0x150e,
    // Pages of the mapping that were accessed recently. Unit: bytes, gauge, u64. Source:
    // /proc/PID/smaps Referenced
    VITALS_MAPPING_REFERENCED_BYTES = 0x150f,
    // Pages of the mapping that belong to no file, such as changed copies. Unit: bytes, gauge, u64.
    // Source: /proc/PID/smaps Anonymous
    VITALS_MAPPING_ANONYMOUS_BYTES = 0x1510,
    // Pages of the mapping that are swapped out. Unit: bytes, gauge, u64. Source: /proc/PID/smaps
    // Swap
    VITALS_MAPPING_SWAP_BYTES = 0x1511,
    // Pages of the mapping in transparent huge pages. Unit: bytes, gauge, u64. Source:
    // /proc/PID/smaps AnonHugePages
    VITALS_MAPPING_THP_BYTES = 0x1512,
    // Pages of the mapping that are locked in memory. Unit: bytes, gauge, u64. Source:
    // /proc/PID/smaps Locked
    VITALS_MAPPING_LOCKED_BYTES = 0x1513,
    // Huge pages of hugetlbfs of the mapping that other processes map too; in none of the other
    // sizes. Unit: bytes, gauge, u64. Source: /proc/PID/smaps Shared_Hugetlb
    VITALS_MAPPING_SHARED_HUGETLB_BYTES = 0x1514,
    // Huge pages of hugetlbfs of the mapping that only this process maps; in none of the other
    // sizes. Unit: bytes, gauge, u64. Source: /proc/PID/smaps Private_Hugetlb
    VITALS_MAPPING_PRIVATE_HUGETLB_BYTES = 0x1515,
    // The mapped file, as in the table mapping. Form: identity, text. Source: /proc/PID/maps
    VITALS_MAPPED_FILE_PATH = 0x1601,
    // Mappings of the file. Form: gauge, u64. Source: /proc/PID/maps
    VITALS_MAPPED_FILE_MAPPINGS = 0x1602,
    // Address space of the mappings of the file. Unit: bytes, gauge, u64. Source: /proc/PID/smaps
    // Size
    VITALS_MAPPED_FILE_SIZE_BYTES = 0x1603,
    // Pages of the file in memory. Unit: bytes, gauge, u64. Source: /proc/PID/smaps Rss
    VITALS_MAPPED_FILE_RESIDENT_BYTES = 0x1604,
    // Pages of the file in memory, each divided by the number of processes that map it. Unit:
    // bytes, gauge, u64. Source: /proc/PID/smaps Pss
    VITALS_MAPPED_FILE_PSS_BYTES = 0x1605,
    // Pages of the file that other processes map too, unchanged. Unit: bytes, gauge, u64. Source:
    // /proc/PID/smaps Shared_Clean
    VITALS_MAPPED_FILE_SHARED_CLEAN_BYTES = 0x1606,
    // Pages of the file that other processes map too, changed. Unit: bytes, gauge, u64. Source:
    // /proc/PID/smaps Shared_Dirty
    VITALS_MAPPED_FILE_SHARED_DIRTY_BYTES = 0x1607,
    // Pages of the file that only this process maps, unchanged. Unit: bytes, gauge, u64. Source:
    // /proc/PID/smaps Private_Clean
    VITALS_MAPPED_FILE_PRIVATE_CLEAN_BYTES = 0x1608,
    // Pages of the file that only this process maps, changed. Unit: bytes, gauge, u64. Source:
    // /proc/PID/smaps Private_Dirty
    VITALS_MAPPED_FILE_PRIVATE_DIRTY_BYTES = 0x1609,
    // Pages of the file that were accessed recently. Unit: bytes, gauge, u64. Source:
    // /proc/PID/smaps Referenced
    VITALS_MAPPED_FILE_REFERENCED_BYTES = 0x160a,
    // Pages of the file that belong to no file, such as changed copies. Unit: bytes, gauge, u64.
    // Source: /proc/PID/smaps Anonymous
    VITALS_MAPPED_FILE_ANONYMOUS_BYTES = 0x160b,
    // Pages of the file that are swapped out. Unit: bytes, gauge, u64. Source: /proc/PID/smaps Swap
    VITALS_MAPPED_FILE_SWAP_BYTES = 0x160c,
    // Pages of the file in transparent huge pages. Unit: bytes, gauge, u64. Source: /proc/PID/smaps
    // AnonHugePages
    VITALS_MAPPED_FILE_THP_BYTES = 0x160d,
    // Pages of the file that are locked in memory. Unit: bytes, gauge, u64. Source: /proc/PID/smaps
    // Locked
    VITALS_MAPPED_FILE_LOCKED_BYTES = 0x160e,
    // Huge pages of hugetlbfs of the file that other processes map too; in none of the other sizes.
    // Unit: bytes, gauge, u64. Source: /proc/PID/smaps Shared_Hugetlb
    VITALS_MAPPED_FILE_SHARED_HUGETLB_BYTES = 0x160f,
    // Huge pages of hugetlbfs of the file that only this process maps; in none of the other sizes.
    // Unit: bytes, gauge, u64. Source: /proc/PID/smaps Private_Hugetlb
    VITALS_MAPPED_FILE_PRIVATE_HUGETLB_BYTES = 0x1610,
    // 1 where that file was deleted or replaced: a row of its own beside the one that is there now.
    // Form: identity, u64. Source: /proc/PID/maps
    VITALS_MAPPED_FILE_DELETED = 0x1611,
    // The name; of an entry without =, the whole. Form: identity, text. Source: /proc/PID/environ
    VITALS_ENVIRONMENT_NAME = 0x1701,
    // The value; unsupported of an entry without =, which has none. Form: gauge, text. Source:
    // /proc/PID/environ
    VITALS_ENVIRONMENT_VALUE = 0x1702,
    // As getrlimit(2) calls it: nofile, as, cpu. Form: identity, text. Source: prlimit, else
    // /proc/PID/limits
    VITALS_LIMIT_NAME = 0x1801,
    // The soft limit; unsupported if there is none, as soft_unlimited says. Form: gauge, u64.
    // Source: prlimit, else /proc/PID/limits
    VITALS_LIMIT_SOFT = 0x1802,
    // The hard limit, up to which the soft one may be raised; unsupported if there is none, as
    // hard_unlimited says. Form: gauge, u64. Source: prlimit, else /proc/PID/limits
    VITALS_LIMIT_HARD = 0x1803,
    // bytes, seconds, microseconds, or empty for a count. Form: identity, text. Source:
    // getrlimit(2)
    VITALS_LIMIT_UNIT = 0x1804,
    // 1 where there is no soft limit, else 0. Form: gauge, u64. Source: prlimit, else
    // /proc/PID/limits
    VITALS_LIMIT_SOFT_UNLIMITED = 0x1805,
    // 1 where there is no hard limit, else 0. Form: gauge, u64. Source: prlimit, else
    // /proc/PID/limits
    VITALS_LIMIT_HARD_UNLIMITED = 0x1806,
    // 1 where the link is up. Form: gauge, u64. Source: NVML nvmlDeviceGetNvLinkState; KFD io_links
    VITALS_GPU_LINK_ACTIVE = 0x1901,
    // The kind of the link: nvlink, xgmi. Form: identity, text. Source: the back end
    VITALS_GPU_LINK_KIND = 0x1902,
    // Version of the link. Form: gauge, u64. Source: NVML nvmlDeviceGetNvLinkVersion
    VITALS_GPU_LINK_VERSION = 0x1903,
    // The device at the other end: gpu, switch, cpu. Form: gauge, text. Source: NVML
    // nvmlDeviceGetNvLinkRemoteDeviceType; KFD io_links
    VITALS_GPU_LINK_REMOTE_KIND = 0x1904,
    // The PCI address of the other end. Form: gauge, text. Source: NVML
    // nvmlDeviceGetNvLinkRemotePciInfo_v2; KFD io_links
    VITALS_GPU_LINK_REMOTE_PCI_BUS_ID = 0x1905,
    // Bytes of data received. Unit: bytes, counter, u64. Source: NVML field values 139; gpu_metrics
    // xgmi_read_data_acc
    VITALS_GPU_LINK_RECEIVED_BYTES = 0x1906,
    // Bytes of data sent. Unit: bytes, counter, u64. Source: NVML field values 138; gpu_metrics
    // xgmi_write_data_acc
    VITALS_GPU_LINK_TRANSMITTED_BYTES = 0x1907,
    // Packets that had to be sent again. Form: counter, u64. Source: NVML
    // nvmlDeviceGetNvLinkErrorCounter
    VITALS_GPU_LINK_REPLAY_ERRORS = 0x1908,
    // Times that the link had to be set up anew. Form: counter, u64. Source: NVML
    // nvmlDeviceGetNvLinkErrorCounter
    VITALS_GPU_LINK_RECOVERY_ERRORS = 0x1909,
    // Packets whose checksum was wrong. Form: counter, u64. Source: NVML
    // nvmlDeviceGetNvLinkErrorCounter
    VITALS_GPU_LINK_CRC_ERRORS = 0x190a,
    // Capacity of the link in one direction. Unit: bytes_per_second, gauge, f64. Source: NVML field
    // values 90; KFD io_links max_bandwidth
    VITALS_GPU_LINK_SPEED_BYTES_PER_SECOND = 0x190b,
    // Corrected errors since the driver was loaded. Form: counter, u64. Source: NVML
    // nvmlDeviceGetMemoryErrorCounter; ras/*_err_count ce
    VITALS_GPU_ERROR_CORRECTED = 0x1a01,
    // Uncorrected errors since the driver was loaded. Form: counter, u64. Source: NVML
    // nvmlDeviceGetMemoryErrorCounter; ras/*_err_count ue
    VITALS_GPU_ERROR_UNCORRECTED = 0x1a02,
    // Corrected errors in the life of the board. Form: counter, u64. Source: NVML
    // nvmlDeviceGetMemoryErrorCounter
    VITALS_GPU_ERROR_CORRECTED_EVER = 0x1a03,
    // Uncorrected errors in the life of the board. Form: counter, u64. Source: NVML
    // nvmlDeviceGetMemoryErrorCounter
    VITALS_GPU_ERROR_UNCORRECTED_EVER = 0x1a04,
    // Errors that were found and did no harm yet. Form: counter, u64. Source: ras/*_err_count de
    VITALS_GPU_ERROR_DEFERRED = 0x1a05,
    // The key of its row, where it is a GPU; unsupported for another device. Form: identity, u64.
    // Source: the table gpu
    VITALS_GPU_PEER_PEER = 0x1b01,
    // gpu or network. Form: identity, text. Source: /sys/bus/pci/devices/ID/class
    VITALS_GPU_PEER_KIND = 0x1b02,
    // The PCI address of the peer. Form: identity, text. Source: /sys/bus/pci/devices
    VITALS_GPU_PEER_PEER_PCI_BUS_ID = 0x1b03,
    // The distance over PCIe, in nvidia-smi's words: pix (one switch at most), pxb (several), phb
    // (through the host bridge), node (between host bridges of one NUMA node), sys (between NUMA
    // nodes). Form: gauge, text. Source: /sys/devices
    VITALS_GPU_PEER_PATH = 0x1b04,
    // Direct links (NVLink, XGMI) between the two that are up. Form: gauge, u64. Source: the table
    // gpu_link
    VITALS_GPU_PEER_LINKS = 0x1b05,
    // The kind of the direct links: nvlink, xgmi; empty if there is none. Form: gauge, text.
    // Source: the table gpu_link
    VITALS_GPU_PEER_LINK_KIND = 0x1b06,
    // good, notice or problem. Form: gauge, text. Source: ourselves
    VITALS_DIAGNOSIS_SEVERITY = 0x1c01,
    // The finding, in one line. Form: gauge, text. Source: ourselves
    VITALS_DIAGNOSIS_FINDING = 0x1c02,
    // The remedy: commands for a shell, one a line, and words behind #; empty if none is needed.
    // Form: gauge, text. Source: ourselves
    VITALS_DIAGNOSIS_REMEDY = 0x1c03,
    // The subject of the finding: nvidia driver, permissions, container. Form: identity, text.
    // Source: ourselves
    VITALS_DIAGNOSIS_SUBJECT = 0x1c04,
    // package-0, core, uncore, dram, psys. Form: identity, text. Source:
    // /sys/class/powercap/intel-rapl:N/name
    VITALS_ENERGY_ZONE_NAME = 0x1d01,
    // The zone that it is a part of; of a package itself. Form: identity, text. Source:
    // /sys/class/powercap/intel-rapl:N/name
    VITALS_ENERGY_ZONE_PACKAGE = 0x1d02,
    // Energy by its counter; what that loses when it begins anew is added, from the first reading
    // on. Unit: joules, counter, f64. Source: /sys/class/powercap/intel-rapl:N/energy_uj
    VITALS_ENERGY_ZONE_ENERGY_JOULES = 0x1d03,
    // The value at which the kernel's counter begins anew. Unit: joules, gauge, f64. Source:
    // /sys/class/powercap/intel-rapl:N/max_energy_range_uj
    VITALS_ENERGY_ZONE_RANGE_JOULES = 0x1d04,
    // slurm:JOB.STEP, k8s:NAMESPACE/POD/CONTAINER, ctr:ID (the first 12 digits), unit:NAME;
    // user:NAME for processes of a login that are in none of these. Form: identity, text. Source:
    // process.workload
    VITALS_WORKLOAD_ID = 0x1e01,
    // slurm, k8s, ctr, unit or user. Form: identity, text. Source: process.workload
    VITALS_WORKLOAD_KIND = 0x1e02,
    // The user of its oldest process among those selected. Form: gauge, text. Source: getpwuid_r of
    // uid
    VITALS_WORKLOAD_USER = 0x1e03,
    // The number of the Slurm job, or its SLUID where the node knows no number; empty for other
    // kinds. Form: gauge, text. Source: /proc/PID/cgroup and the title of slurmstepd, else
    // SLURM_JOB_ID of the environment
    VITALS_WORKLOAD_SLURM_JOB_ID = 0x1e04,
    // The step: a number, batch, extern, interactive; empty where there is none. Form: gauge, text.
    // Source: /proc/PID/cgroup
    VITALS_WORKLOAD_SLURM_STEP_ID = 0x1e05,
    // The SLUID that names the job in its cgroup (Slurm 26.05 and later); else empty. Form: gauge,
    // text. Source: /proc/PID/cgroup
    VITALS_WORKLOAD_SLURM_SLUID = 0x1e06,
    // The namespace of the Kubernetes pod; empty for other kinds. Form: gauge, text. Source:
    // /var/log/containers
    VITALS_WORKLOAD_K8S_NAMESPACE_NAME = 0x1e07,
    // The name of the pod; empty for other kinds. Form: gauge, text. Source: /var/log/containers
    VITALS_WORKLOAD_K8S_POD_NAME = 0x1e08,
    // The name of the container in its pod; empty for other kinds. Form: gauge, text. Source:
    // /var/log/containers
    VITALS_WORKLOAD_K8S_CONTAINER_NAME = 0x1e09,
    // The whole id or name of the container; empty where there is none. Form: gauge, text. Source:
    // /proc/PID/cgroup
    VITALS_WORKLOAD_CONTAINER_ID = 0x1e0a,
    // The systemd unit; empty for other kinds. Form: gauge, text. Source: /proc/PID/cgroup
    VITALS_WORKLOAD_UNIT = 0x1e0b,
    // The path of the cgroup that the figures are of; unsupported for a user, whose figures are
    // sums over processes. Form: gauge, text. Source: /proc/PID/cgroup
    VITALS_WORKLOAD_CGROUP = 0x1e0c,
    // Its processes; a lower bound where the request does not select all, or what some work for is
    // not known. Form: gauge, u64. Source: the table process
    VITALS_WORKLOAD_PROCESSES = 0x1e0d,
    // Its tasks: processes and their threads, nested cgroups included; of a user the threads of the
    // processes. Form: gauge, u64. Source: cgroup pids.current, else /proc/PID/stat
    VITALS_WORKLOAD_TASKS = 0x1e0e,
    // Memory charged to it, page cache included. Where no cgroup tells: the sum of resident set
    // sizes, an estimate: shared pages count each time, other page cache and kernel memory do not.
    // Unit: bytes, gauge, u64. Source: cgroup memory.current (v1: memory.usage_in_bytes), else
    // /proc/PID/statm
    VITALS_WORKLOAD_MEMORY_USED_BYTES = 0x1e0f,
    // The most memory ever charged to it. Unit: bytes, gauge, u64. Source: cgroup memory.peak (v1:
    // memory.max_usage_in_bytes)
    VITALS_WORKLOAD_MEMORY_PEAK_BYTES = 0x1e10,
    // CPU time of all its processes, ended ones too. Where no cgroup tells: that of the selected
    // processes that were seen, by clock ticks, an estimate. Unit: seconds, counter, f64. Source:
    // cgroup cpu.stat usage_usec (v1: cpuacct.usage), else /proc/PID/stat
    VITALS_WORKLOAD_CPU_SECONDS = 0x1e11,
    // Processes of the workload killed because memory was out. Version 1 does not count those in
    // nested cgroups: a lower bound. Form: counter, u64. Source: cgroup memory.events oom_kill (v1:
    // memory.oom_control)
    VITALS_WORKLOAD_OOM_KILLS = 0x1e12,
    // 1 where an ordinary user may have made the cgroup that names the job, pod or container: its
    // id then begins with claimed:, and it is never added to the one that it names. Form: gauge,
    // u64. Source: the owner of the cgroup's folder
    VITALS_WORKLOAD_CLAIMED = 0x1e13,
    // The job, as its scheduler calls it. Form: identity, text. Source: /run/gpustat;
    // /var/lib/dcgm-exporter/job-mapping
    VITALS_GPU_JOB_JOB_ID = 0x1f01,
    // slurm:JOB where the id is one of Slurm's; unsupported otherwise. Form: gauge, text. Source:
    // job_id
    VITALS_GPU_JOB_WORKLOAD = 0x1f02,
    // The user of the job; unsupported where the file does not say. Form: gauge, u64. Source:
    // /run/gpustat
    VITALS_GPU_JOB_UID = 0x1f03,
    // Which prolog wrote the file: gpustat or dcgm. Form: gauge, text. Source: where the file was
    VITALS_GPU_JOB_CONVENTION = 0x1f04,
    // The mount point. Form: identity, text. Source: /proc/self/mountinfo
    VITALS_MOUNT_MOUNT_POINT = 0x2001,
    // The device that is mounted there. Form: identity, text. Source: /proc/self/mountinfo
    VITALS_MOUNT_DEVICE = 0x2002,
    // ext4, proc, cgroup2, overlay. Form: identity, text. Source: /proc/self/mountinfo
    VITALS_MOUNT_TYPE = 0x2003,
    // Options of the mount and of its file system, joined by commas. Form: gauge, text. Source:
    // /proc/self/mountinfo
    VITALS_MOUNT_OPTIONS = 0x2004
} vitals_metric;

#endif
