/* measures.h: measures of a usage, and names of the figures that an account makes of them.
 *
 * Generated from src/run/measures.def by `make docs`. A number is never given to another
 * measure, and a newer library may give numbers that are not here. */
#ifndef VITALS_MEASURES_H
#define VITALS_MEASURES_H

/* What is measured. */
typedef enum vitals_measure {
    VITALS_MEASURE_NONE = 0,
    // CPU time, user and system. Unit: seconds, counter.
    VITALS_MEASURE_CPU_SECONDS = 1,
    // CPU time in user mode. Unit: seconds, counter.
    VITALS_MEASURE_CPU_USER_SECONDS = 2,
    // CPU time in the kernel. Unit: seconds, counter.
    VITALS_MEASURE_CPU_SYSTEM_SECONDS = 3,
    // CPUs in use since the figure before, over at least 90 ms: 1 is one core, always. Unit: cores,
    // gauge.
    VITALS_MEASURE_CPU_CORES = 4,
    // cpu_cores of the expected cores; of the system: of all. Unit: ratio, gauge.
    VITALS_MEASURE_CPU_RATIO = 5,
    // Sum of resident set sizes: shared pages count once in each process. Unit: bytes, gauge.
    VITALS_MEASURE_MEMORY_RESIDENT_BYTES = 10,
    // Sum of address spaces. Unit: bytes, gauge.
    VITALS_MEASURE_MEMORY_VIRTUAL_BYTES = 11,
    // Proportional set sizes: shared pages are split among all that map them. Unit: bytes, gauge.
    VITALS_MEASURE_MEMORY_PSS_BYTES = 12,
    // Pages that one process alone maps (USS), summed. Unit: bytes, gauge.
    VITALS_MEASURE_MEMORY_PRIVATE_BYTES = 13,
    // Pages that several processes map: of several processes about the most that one of them
    // shares. Unit: bytes, gauge.
    VITALS_MEASURE_MEMORY_SHARED_BYTES = 14,
    // Private and shared pages together, each counted once: of several processes an estimate. Unit:
    // bytes, gauge.
    VITALS_MEASURE_MEMORY_BOTH_BYTES = 15,
    // Pages in swap. Unit: bytes, gauge.
    VITALS_MEASURE_MEMORY_SWAPPED_BYTES = 16,
    // Processes that live. Unit: a count, gauge.
    VITALS_MEASURE_PROCESSES = 20,
    // Threads that live. Unit: a count, gauge.
    VITALS_MEASURE_THREADS = 21,
    // Open descriptors. Unit: a count, gauge.
    VITALS_MEASURE_DESCRIPTORS = 22,
    // Read from block devices; of the system: of whole disks. Unit: bytes, counter.
    VITALS_MEASURE_DISK_READ_BYTES = 30,
    // Written to block devices, taken back included; of the system: of whole disks. Unit: bytes,
    // counter.
    VITALS_MEASURE_DISK_WRITTEN_BYTES = 31,
    // Read by system calls, cache, pipes and sockets included. Unit: bytes, counter.
    VITALS_MEASURE_CALL_READ_BYTES = 32,
    // Written by system calls, cache, pipes and sockets included. Unit: bytes, counter.
    VITALS_MEASURE_CALL_WRITTEN_BYTES = 33,
    // Received; of a tree: in its network namespace where that is not ours, else at most what the
    // machine received meanwhile. Unit: bytes, counter.
    VITALS_MEASURE_NETWORK_RECEIVED_BYTES = 34,
    // Sent, likewise. Unit: bytes, counter.
    VITALS_MEASURE_NETWORK_TRANSMITTED_BYTES = 35,
    // Page faults that needed no disk. Unit: a count, counter.
    VITALS_MEASURE_MINOR_FAULTS = 40,
    // Page faults that needed one. Unit: a count, counter.
    VITALS_MEASURE_MAJOR_FAULTS = 41,
    // Context switches because of waiting. Unit: a count, counter.
    VITALS_MEASURE_VOLUNTARY_SWITCHES = 42,
    // Context switches because others wanted the CPU. Unit: a count, counter.
    VITALS_MEASURE_INVOLUNTARY_SWITCHES = 43,
    // Time ready to run and waiting for a CPU. Unit: seconds, counter.
    VITALS_MEASURE_RUN_DELAY_SECONDS = 44,
    // Time waiting for block devices. Unit: seconds, counter.
    VITALS_MEASURE_BLOCK_DELAY_SECONDS = 45,
    // Device memory that the processes hold. Unit: bytes, gauge.
    VITALS_MEASURE_GPU_MEMORY_BYTES = 50,
    // Share of time in which the processes kept a device busy; sums over devices. Unit: ratio,
    // gauge.
    VITALS_MEASURE_GPU_UTILIZATION_RATIO = 51,
    // The same as time. Unit: seconds, counter.
    VITALS_MEASURE_GPU_BUSY_SECONDS = 52,
    // The device busy, with whomever; of the system: the sum over devices. Unit: ratio, gauge.
    VITALS_MEASURE_DEVICE_UTILIZATION_RATIO = 60,
    // Device memory in use, by whomever. Unit: bytes, gauge.
    VITALS_MEASURE_DEVICE_MEMORY_USED_BYTES = 61,
    // Device memory there is. Unit: bytes, gauge.
    VITALS_MEASURE_DEVICE_MEMORY_TOTAL_BYTES = 62,
    // Energy by the device's own counter, whoever used it. Unit: joules, counter.
    VITALS_MEASURE_DEVICE_ENERGY_JOULES = 63,
    // Power drawn. Unit: watts, gauge.
    VITALS_MEASURE_DEVICE_POWER_WATTS = 64,
    // Temperature of the device. Unit: celsius, gauge.
    VITALS_MEASURE_DEVICE_TEMPERATURE_CELSIUS = 65,
    // Devices there are. Unit: a count, gauge.
    VITALS_MEASURE_DEVICES = 66,
    // Devices above 0 % busy; of the tree: those that its processes use. Unit: a count, gauge.
    VITALS_MEASURE_DEVICES_BUSY = 67,
    // The processes' share of the device's energy, by busy time: an estimate where others used it
    // too. Unit: joules, counter.
    VITALS_MEASURE_GPU_ENERGY_JOULES = 68,
    // Memory there is. Unit: bytes, gauge.
    VITALS_MEASURE_MEMORY_TOTAL_BYTES = 80,
    // Total less available. Unit: bytes, gauge.
    VITALS_MEASURE_MEMORY_USED_BYTES = 81,
    // Memory that nothing uses. Unit: bytes, gauge.
    VITALS_MEASURE_MEMORY_FREE_BYTES = 82,
    // Memory that new work can have without swapping. Unit: bytes, gauge.
    VITALS_MEASURE_MEMORY_AVAILABLE_BYTES = 83,
    // Buffers of block devices. Unit: bytes, gauge.
    VITALS_MEASURE_MEMORY_BUFFERS_BYTES = 84,
    // Page cache and reclaimable slab. Unit: bytes, gauge.
    VITALS_MEASURE_MEMORY_CACHED_BYTES = 85,
    // Memory used lately. Unit: bytes, gauge.
    VITALS_MEASURE_MEMORY_ACTIVE_BYTES = 86,
    // Memory not used lately. Unit: bytes, gauge.
    VITALS_MEASURE_MEMORY_INACTIVE_BYTES = 87,
    // Active(anon). Unit: bytes, gauge.
    VITALS_MEASURE_MEMORY_ACTIVE_ANON_BYTES = 88,
    // Inactive(anon). Unit: bytes, gauge.
    VITALS_MEASURE_MEMORY_INACTIVE_ANON_BYTES = 89,
    // Cached, without slab. Unit: bytes, gauge.
    VITALS_MEASURE_MEMORY_PAGE_CACHE_BYTES = 90,
    // Swap in use. Unit: bytes, gauge.
    VITALS_MEASURE_SWAP_USED_BYTES = 91,
    // Space of file systems, each counted once. Unit: bytes, gauge.
    VITALS_MEASURE_DISK_SPACE_TOTAL_BYTES = 92,
    // Space in use. Unit: bytes, gauge.
    VITALS_MEASURE_DISK_SPACE_USED_BYTES = 93,
    // Space that users can have. Unit: bytes, gauge.
    VITALS_MEASURE_DISK_SPACE_AVAILABLE_BYTES = 94,
    // CPU time in user mode at lowered priority. Unit: seconds, counter.
    VITALS_MEASURE_CPU_NICE_SECONDS = 95,
    // Time in which some task waited for a CPU. Unit: seconds, counter.
    VITALS_MEASURE_CPU_PRESSURE_SECONDS = 96,
    // Time in which some task waited for memory. Unit: seconds, counter.
    VITALS_MEASURE_MEMORY_PRESSURE_SECONDS = 97,
    // Time in which some task waited for I/O. Unit: seconds, counter.
    VITALS_MEASURE_IO_PRESSURE_SECONDS = 98,
    // Processes and threads created. Unit: a count, counter.
    VITALS_MEASURE_FORKS = 99,
    // Load average over one minute. Unit: a count, gauge.
    VITALS_MEASURE_LOAD_1M = 100,
    // Energy of the CPU packages (RAPL). Unit: joules, counter.
    VITALS_MEASURE_PACKAGE_ENERGY_JOULES = 101,
    // Energy of the memory, where RAPL counts it apart. Unit: joules, counter.
    VITALS_MEASURE_DRAM_ENERGY_JOULES = 102,
    // The processes' share of the energy of the CPU packages, by CPU time: an estimate. Unit:
    // joules, counter.
    VITALS_MEASURE_CPU_ENERGY_JOULES = 103,
    // Share of the machine's memory that is in use; of a process: that is resident in it. Unit:
    // ratio, gauge.
    VITALS_MEASURE_MEMORY_RATIO = 104,
    // Swap there is. Unit: bytes, gauge.
    VITALS_MEASURE_SWAP_TOTAL_BYTES = 105,
    // Share of the swap that is in use. Unit: ratio, gauge.
    VITALS_MEASURE_SWAP_RATIO = 106,
    // Load average over five minutes. Unit: a count, gauge.
    VITALS_MEASURE_LOAD_5M = 107,
    // Load average over fifteen minutes. Unit: a count, gauge.
    VITALS_MEASURE_LOAD_15M = 108,
    // Device memory that nobody uses. Unit: bytes, gauge.
    VITALS_MEASURE_DEVICE_MEMORY_FREE_BYTES = 109,
    // Share of the device's memory that is in use, by whomever. Unit: ratio, gauge.
    VITALS_MEASURE_DEVICE_MEMORY_RATIO = 110,
    // Share of time in which the device's memory was read or written. Unit: ratio, gauge.
    VITALS_MEASURE_DEVICE_MEMORY_BUSY_RATIO = 111,
    // Speed of the fan, of its most. Unit: ratio, gauge.
    VITALS_MEASURE_DEVICE_FAN_RATIO = 112,
    // How long a process has been running. Unit: seconds, gauge.
    VITALS_MEASURE_RUNNING_SECONDS = 113,
    // Share of the device's memory that a process holds. Unit: ratio, gauge.
    VITALS_MEASURE_GPU_MEMORY_SHARE_RATIO = 114,
    // Share of time in which a process read or wrote the device's memory. Unit: ratio, gauge.
    VITALS_MEASURE_GPU_MEMORY_BUSY_RATIO = 115
} vitals_measure;

/* Figures of an account (vitals_account_find): the growth of a counter; the peak, mean
 * and least of a gauge. account.h has the others. */
/* clang-format off */
#define VITALS_FIGURE_CPU_SECONDS "cpu_seconds"
#define VITALS_FIGURE_CPU_USER_SECONDS "cpu_user_seconds"
#define VITALS_FIGURE_CPU_SYSTEM_SECONDS "cpu_system_seconds"
#define VITALS_FIGURE_CPU_PEAK_CORES "cpu_peak_cores"
#define VITALS_FIGURE_CPU_MEAN_CORES "cpu_mean_cores"
#define VITALS_FIGURE_CPU_MIN_CORES "cpu_min_cores"
#define VITALS_FIGURE_CPU_PEAK_RATIO "cpu_peak_ratio"
#define VITALS_FIGURE_CPU_MEAN_RATIO "cpu_mean_ratio"
#define VITALS_FIGURE_CPU_MIN_RATIO "cpu_min_ratio"
#define VITALS_FIGURE_MEMORY_RESIDENT_PEAK_BYTES "memory_resident_peak_bytes"
#define VITALS_FIGURE_MEMORY_RESIDENT_MEAN_BYTES "memory_resident_mean_bytes"
#define VITALS_FIGURE_MEMORY_RESIDENT_MIN_BYTES "memory_resident_min_bytes"
#define VITALS_FIGURE_MEMORY_VIRTUAL_PEAK_BYTES "memory_virtual_peak_bytes"
#define VITALS_FIGURE_MEMORY_VIRTUAL_MEAN_BYTES "memory_virtual_mean_bytes"
#define VITALS_FIGURE_MEMORY_VIRTUAL_MIN_BYTES "memory_virtual_min_bytes"
#define VITALS_FIGURE_MEMORY_PSS_PEAK_BYTES "memory_pss_peak_bytes"
#define VITALS_FIGURE_MEMORY_PSS_MEAN_BYTES "memory_pss_mean_bytes"
#define VITALS_FIGURE_MEMORY_PSS_MIN_BYTES "memory_pss_min_bytes"
#define VITALS_FIGURE_MEMORY_PRIVATE_PEAK_BYTES "memory_private_peak_bytes"
#define VITALS_FIGURE_MEMORY_PRIVATE_MEAN_BYTES "memory_private_mean_bytes"
#define VITALS_FIGURE_MEMORY_PRIVATE_MIN_BYTES "memory_private_min_bytes"
#define VITALS_FIGURE_MEMORY_SHARED_PEAK_BYTES "memory_shared_peak_bytes"
#define VITALS_FIGURE_MEMORY_SHARED_MEAN_BYTES "memory_shared_mean_bytes"
#define VITALS_FIGURE_MEMORY_SHARED_MIN_BYTES "memory_shared_min_bytes"
#define VITALS_FIGURE_MEMORY_BOTH_PEAK_BYTES "memory_both_peak_bytes"
#define VITALS_FIGURE_MEMORY_BOTH_MEAN_BYTES "memory_both_mean_bytes"
#define VITALS_FIGURE_MEMORY_BOTH_MIN_BYTES "memory_both_min_bytes"
#define VITALS_FIGURE_MEMORY_SWAPPED_PEAK_BYTES "memory_swapped_peak_bytes"
#define VITALS_FIGURE_MEMORY_SWAPPED_MEAN_BYTES "memory_swapped_mean_bytes"
#define VITALS_FIGURE_MEMORY_SWAPPED_MIN_BYTES "memory_swapped_min_bytes"
#define VITALS_FIGURE_PROCESSES_PEAK "processes_peak"
#define VITALS_FIGURE_PROCESSES_MEAN "processes_mean"
#define VITALS_FIGURE_PROCESSES_MIN "processes_min"
#define VITALS_FIGURE_THREADS_PEAK "threads_peak"
#define VITALS_FIGURE_THREADS_MEAN "threads_mean"
#define VITALS_FIGURE_THREADS_MIN "threads_min"
#define VITALS_FIGURE_DESCRIPTORS_PEAK "descriptors_peak"
#define VITALS_FIGURE_DESCRIPTORS_MEAN "descriptors_mean"
#define VITALS_FIGURE_DESCRIPTORS_MIN "descriptors_min"
#define VITALS_FIGURE_DISK_READ_BYTES "disk_read_bytes"
#define VITALS_FIGURE_DISK_WRITTEN_BYTES "disk_written_bytes"
#define VITALS_FIGURE_CALL_READ_BYTES "call_read_bytes"
#define VITALS_FIGURE_CALL_WRITTEN_BYTES "call_written_bytes"
#define VITALS_FIGURE_NETWORK_RECEIVED_BYTES "network_received_bytes"
#define VITALS_FIGURE_NETWORK_TRANSMITTED_BYTES "network_transmitted_bytes"
#define VITALS_FIGURE_MINOR_FAULTS "minor_faults"
#define VITALS_FIGURE_MAJOR_FAULTS "major_faults"
#define VITALS_FIGURE_VOLUNTARY_SWITCHES "voluntary_switches"
#define VITALS_FIGURE_INVOLUNTARY_SWITCHES "involuntary_switches"
#define VITALS_FIGURE_RUN_DELAY_SECONDS "run_delay_seconds"
#define VITALS_FIGURE_BLOCK_DELAY_SECONDS "block_delay_seconds"
#define VITALS_FIGURE_GPU_MEMORY_PEAK_BYTES "gpu_memory_peak_bytes"
#define VITALS_FIGURE_GPU_MEMORY_MEAN_BYTES "gpu_memory_mean_bytes"
#define VITALS_FIGURE_GPU_MEMORY_MIN_BYTES "gpu_memory_min_bytes"
#define VITALS_FIGURE_GPU_UTILIZATION_PEAK_RATIO "gpu_utilization_peak_ratio"
#define VITALS_FIGURE_GPU_UTILIZATION_MEAN_RATIO "gpu_utilization_mean_ratio"
#define VITALS_FIGURE_GPU_UTILIZATION_MIN_RATIO "gpu_utilization_min_ratio"
#define VITALS_FIGURE_GPU_BUSY_SECONDS "gpu_busy_seconds"
#define VITALS_FIGURE_DEVICE_UTILIZATION_PEAK_RATIO "device_utilization_peak_ratio"
#define VITALS_FIGURE_DEVICE_UTILIZATION_MEAN_RATIO "device_utilization_mean_ratio"
#define VITALS_FIGURE_DEVICE_UTILIZATION_MIN_RATIO "device_utilization_min_ratio"
#define VITALS_FIGURE_DEVICE_MEMORY_USED_PEAK_BYTES "device_memory_used_peak_bytes"
#define VITALS_FIGURE_DEVICE_MEMORY_USED_MEAN_BYTES "device_memory_used_mean_bytes"
#define VITALS_FIGURE_DEVICE_MEMORY_USED_MIN_BYTES "device_memory_used_min_bytes"
#define VITALS_FIGURE_DEVICE_MEMORY_TOTAL_PEAK_BYTES "device_memory_total_peak_bytes"
#define VITALS_FIGURE_DEVICE_MEMORY_TOTAL_MEAN_BYTES "device_memory_total_mean_bytes"
#define VITALS_FIGURE_DEVICE_MEMORY_TOTAL_MIN_BYTES "device_memory_total_min_bytes"
#define VITALS_FIGURE_DEVICE_ENERGY_JOULES "device_energy_joules"
#define VITALS_FIGURE_DEVICE_POWER_PEAK_WATTS "device_power_peak_watts"
#define VITALS_FIGURE_DEVICE_POWER_MEAN_WATTS "device_power_mean_watts"
#define VITALS_FIGURE_DEVICE_POWER_MIN_WATTS "device_power_min_watts"
#define VITALS_FIGURE_DEVICE_TEMPERATURE_PEAK_CELSIUS "device_temperature_peak_celsius"
#define VITALS_FIGURE_DEVICE_TEMPERATURE_MEAN_CELSIUS "device_temperature_mean_celsius"
#define VITALS_FIGURE_DEVICE_TEMPERATURE_MIN_CELSIUS "device_temperature_min_celsius"
#define VITALS_FIGURE_DEVICES_PEAK "devices_peak"
#define VITALS_FIGURE_DEVICES_MEAN "devices_mean"
#define VITALS_FIGURE_DEVICES_MIN "devices_min"
#define VITALS_FIGURE_DEVICES_BUSY_PEAK "devices_busy_peak"
#define VITALS_FIGURE_DEVICES_BUSY_MEAN "devices_busy_mean"
#define VITALS_FIGURE_DEVICES_BUSY_MIN "devices_busy_min"
#define VITALS_FIGURE_GPU_ENERGY_JOULES "gpu_energy_joules"
#define VITALS_FIGURE_MEMORY_TOTAL_PEAK_BYTES "memory_total_peak_bytes"
#define VITALS_FIGURE_MEMORY_TOTAL_MEAN_BYTES "memory_total_mean_bytes"
#define VITALS_FIGURE_MEMORY_TOTAL_MIN_BYTES "memory_total_min_bytes"
#define VITALS_FIGURE_MEMORY_USED_PEAK_BYTES "memory_used_peak_bytes"
#define VITALS_FIGURE_MEMORY_USED_MEAN_BYTES "memory_used_mean_bytes"
#define VITALS_FIGURE_MEMORY_USED_MIN_BYTES "memory_used_min_bytes"
#define VITALS_FIGURE_MEMORY_FREE_PEAK_BYTES "memory_free_peak_bytes"
#define VITALS_FIGURE_MEMORY_FREE_MEAN_BYTES "memory_free_mean_bytes"
#define VITALS_FIGURE_MEMORY_FREE_MIN_BYTES "memory_free_min_bytes"
#define VITALS_FIGURE_MEMORY_AVAILABLE_PEAK_BYTES "memory_available_peak_bytes"
#define VITALS_FIGURE_MEMORY_AVAILABLE_MEAN_BYTES "memory_available_mean_bytes"
#define VITALS_FIGURE_MEMORY_AVAILABLE_MIN_BYTES "memory_available_min_bytes"
#define VITALS_FIGURE_MEMORY_BUFFERS_PEAK_BYTES "memory_buffers_peak_bytes"
#define VITALS_FIGURE_MEMORY_BUFFERS_MEAN_BYTES "memory_buffers_mean_bytes"
#define VITALS_FIGURE_MEMORY_BUFFERS_MIN_BYTES "memory_buffers_min_bytes"
#define VITALS_FIGURE_MEMORY_CACHED_PEAK_BYTES "memory_cached_peak_bytes"
#define VITALS_FIGURE_MEMORY_CACHED_MEAN_BYTES "memory_cached_mean_bytes"
#define VITALS_FIGURE_MEMORY_CACHED_MIN_BYTES "memory_cached_min_bytes"
#define VITALS_FIGURE_MEMORY_ACTIVE_PEAK_BYTES "memory_active_peak_bytes"
#define VITALS_FIGURE_MEMORY_ACTIVE_MEAN_BYTES "memory_active_mean_bytes"
#define VITALS_FIGURE_MEMORY_ACTIVE_MIN_BYTES "memory_active_min_bytes"
#define VITALS_FIGURE_MEMORY_INACTIVE_PEAK_BYTES "memory_inactive_peak_bytes"
#define VITALS_FIGURE_MEMORY_INACTIVE_MEAN_BYTES "memory_inactive_mean_bytes"
#define VITALS_FIGURE_MEMORY_INACTIVE_MIN_BYTES "memory_inactive_min_bytes"
#define VITALS_FIGURE_MEMORY_ACTIVE_ANON_PEAK_BYTES "memory_active_anon_peak_bytes"
#define VITALS_FIGURE_MEMORY_ACTIVE_ANON_MEAN_BYTES "memory_active_anon_mean_bytes"
#define VITALS_FIGURE_MEMORY_ACTIVE_ANON_MIN_BYTES "memory_active_anon_min_bytes"
#define VITALS_FIGURE_MEMORY_INACTIVE_ANON_PEAK_BYTES "memory_inactive_anon_peak_bytes"
#define VITALS_FIGURE_MEMORY_INACTIVE_ANON_MEAN_BYTES "memory_inactive_anon_mean_bytes"
#define VITALS_FIGURE_MEMORY_INACTIVE_ANON_MIN_BYTES "memory_inactive_anon_min_bytes"
#define VITALS_FIGURE_MEMORY_PAGE_CACHE_PEAK_BYTES "memory_page_cache_peak_bytes"
#define VITALS_FIGURE_MEMORY_PAGE_CACHE_MEAN_BYTES "memory_page_cache_mean_bytes"
#define VITALS_FIGURE_MEMORY_PAGE_CACHE_MIN_BYTES "memory_page_cache_min_bytes"
#define VITALS_FIGURE_SWAP_USED_PEAK_BYTES "swap_used_peak_bytes"
#define VITALS_FIGURE_SWAP_USED_MEAN_BYTES "swap_used_mean_bytes"
#define VITALS_FIGURE_SWAP_USED_MIN_BYTES "swap_used_min_bytes"
#define VITALS_FIGURE_DISK_SPACE_TOTAL_PEAK_BYTES "disk_space_total_peak_bytes"
#define VITALS_FIGURE_DISK_SPACE_TOTAL_MEAN_BYTES "disk_space_total_mean_bytes"
#define VITALS_FIGURE_DISK_SPACE_TOTAL_MIN_BYTES "disk_space_total_min_bytes"
#define VITALS_FIGURE_DISK_SPACE_USED_PEAK_BYTES "disk_space_used_peak_bytes"
#define VITALS_FIGURE_DISK_SPACE_USED_MEAN_BYTES "disk_space_used_mean_bytes"
#define VITALS_FIGURE_DISK_SPACE_USED_MIN_BYTES "disk_space_used_min_bytes"
#define VITALS_FIGURE_DISK_SPACE_AVAILABLE_PEAK_BYTES "disk_space_available_peak_bytes"
#define VITALS_FIGURE_DISK_SPACE_AVAILABLE_MEAN_BYTES "disk_space_available_mean_bytes"
#define VITALS_FIGURE_DISK_SPACE_AVAILABLE_MIN_BYTES "disk_space_available_min_bytes"
#define VITALS_FIGURE_CPU_NICE_SECONDS "cpu_nice_seconds"
#define VITALS_FIGURE_CPU_PRESSURE_SECONDS "cpu_pressure_seconds"
#define VITALS_FIGURE_MEMORY_PRESSURE_SECONDS "memory_pressure_seconds"
#define VITALS_FIGURE_IO_PRESSURE_SECONDS "io_pressure_seconds"
#define VITALS_FIGURE_FORKS "forks"
#define VITALS_FIGURE_LOAD_1M_PEAK "load_1m_peak"
#define VITALS_FIGURE_LOAD_1M_MEAN "load_1m_mean"
#define VITALS_FIGURE_LOAD_1M_MIN "load_1m_min"
#define VITALS_FIGURE_PACKAGE_ENERGY_JOULES "package_energy_joules"
#define VITALS_FIGURE_DRAM_ENERGY_JOULES "dram_energy_joules"
#define VITALS_FIGURE_CPU_ENERGY_JOULES "cpu_energy_joules"
#define VITALS_FIGURE_MEMORY_PEAK_RATIO "memory_peak_ratio"
#define VITALS_FIGURE_MEMORY_MEAN_RATIO "memory_mean_ratio"
#define VITALS_FIGURE_MEMORY_MIN_RATIO "memory_min_ratio"
#define VITALS_FIGURE_SWAP_TOTAL_PEAK_BYTES "swap_total_peak_bytes"
#define VITALS_FIGURE_SWAP_TOTAL_MEAN_BYTES "swap_total_mean_bytes"
#define VITALS_FIGURE_SWAP_TOTAL_MIN_BYTES "swap_total_min_bytes"
#define VITALS_FIGURE_SWAP_PEAK_RATIO "swap_peak_ratio"
#define VITALS_FIGURE_SWAP_MEAN_RATIO "swap_mean_ratio"
#define VITALS_FIGURE_SWAP_MIN_RATIO "swap_min_ratio"
#define VITALS_FIGURE_LOAD_5M_PEAK "load_5m_peak"
#define VITALS_FIGURE_LOAD_5M_MEAN "load_5m_mean"
#define VITALS_FIGURE_LOAD_5M_MIN "load_5m_min"
#define VITALS_FIGURE_LOAD_15M_PEAK "load_15m_peak"
#define VITALS_FIGURE_LOAD_15M_MEAN "load_15m_mean"
#define VITALS_FIGURE_LOAD_15M_MIN "load_15m_min"
#define VITALS_FIGURE_DEVICE_MEMORY_FREE_PEAK_BYTES "device_memory_free_peak_bytes"
#define VITALS_FIGURE_DEVICE_MEMORY_FREE_MEAN_BYTES "device_memory_free_mean_bytes"
#define VITALS_FIGURE_DEVICE_MEMORY_FREE_MIN_BYTES "device_memory_free_min_bytes"
#define VITALS_FIGURE_DEVICE_MEMORY_PEAK_RATIO "device_memory_peak_ratio"
#define VITALS_FIGURE_DEVICE_MEMORY_MEAN_RATIO "device_memory_mean_ratio"
#define VITALS_FIGURE_DEVICE_MEMORY_MIN_RATIO "device_memory_min_ratio"
#define VITALS_FIGURE_DEVICE_MEMORY_BUSY_PEAK_RATIO "device_memory_busy_peak_ratio"
#define VITALS_FIGURE_DEVICE_MEMORY_BUSY_MEAN_RATIO "device_memory_busy_mean_ratio"
#define VITALS_FIGURE_DEVICE_MEMORY_BUSY_MIN_RATIO "device_memory_busy_min_ratio"
#define VITALS_FIGURE_DEVICE_FAN_PEAK_RATIO "device_fan_peak_ratio"
#define VITALS_FIGURE_DEVICE_FAN_MEAN_RATIO "device_fan_mean_ratio"
#define VITALS_FIGURE_DEVICE_FAN_MIN_RATIO "device_fan_min_ratio"
#define VITALS_FIGURE_RUNNING_PEAK_SECONDS "running_peak_seconds"
#define VITALS_FIGURE_RUNNING_MEAN_SECONDS "running_mean_seconds"
#define VITALS_FIGURE_RUNNING_MIN_SECONDS "running_min_seconds"
#define VITALS_FIGURE_GPU_MEMORY_SHARE_PEAK_RATIO "gpu_memory_share_peak_ratio"
#define VITALS_FIGURE_GPU_MEMORY_SHARE_MEAN_RATIO "gpu_memory_share_mean_ratio"
#define VITALS_FIGURE_GPU_MEMORY_SHARE_MIN_RATIO "gpu_memory_share_min_ratio"
#define VITALS_FIGURE_GPU_MEMORY_BUSY_PEAK_RATIO "gpu_memory_busy_peak_ratio"
#define VITALS_FIGURE_GPU_MEMORY_BUSY_MEAN_RATIO "gpu_memory_busy_mean_ratio"
#define VITALS_FIGURE_GPU_MEMORY_BUSY_MIN_RATIO "gpu_memory_busy_min_ratio"
/* clang-format on */

#endif
