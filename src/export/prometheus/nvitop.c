/* nvitop.c: see nvitop.h. */
#include "export/prometheus/nvitop.h"

#define MIB     (1.0 / 1048576)
#define PERCENT 100.0
#define MHZ     1e-6

// clang-format off
#define ROW(rows, name, help, scale, metric) \
    {name, help, NULL, scale, {VITALS_##metric}, NVITOP_##rows, NVITOP_PLAIN}
#define BELOW(name, help, scale, label, metric) \
    {name, help, label, scale, {VITALS_##metric}, NVITOP_DEVICES, NVITOP_PLAIN}
#define OF(rows, how, name, help, scale, ...) \
    {name, help, NULL, scale, {__VA_ARGS__}, NVITOP_##rows, NVITOP_##how}
// clang-format on

const struct nvitop_family nvitop_families[] = {
    ROW(HOST, "host_uptime_Second", "Time since boot.", 1, HOST_UPTIME_SECONDS),
    OF(HOST, PART, "host_cpu_percent_Percentage", "Busy share of all CPUs.", PERCENT,
       VITALS_HOST_CPU_BUSY_SECONDS, VITALS_HOST_CPU_TOTAL_SECONDS),
    ROW(HOST, "host_virtual_memory_total_MiB", "Memory.", MIB, HOST_MEMORY_TOTAL_BYTES),
    ROW(HOST, "host_virtual_memory_used_MiB", "Memory in use.", MIB, HOST_MEMORY_USED_BYTES),
    ROW(HOST, "host_virtual_memory_free_MiB", "Memory that holds nothing.", MIB,
        HOST_MEMORY_FREE_BYTES),
    OF(HOST, REST, "host_virtual_memory_percent_Percentage",
       "Share of memory that is not available.", PERCENT, VITALS_HOST_MEMORY_AVAILABLE_BYTES,
       VITALS_HOST_MEMORY_TOTAL_BYTES),
    ROW(HOST, "host_swap_memory_total_MiB", "Swap space.", MIB, HOST_SWAP_TOTAL_BYTES),
    ROW(HOST, "host_swap_memory_used_MiB", "Swap space in use.", MIB, HOST_SWAP_USED_BYTES),
    ROW(HOST, "host_swap_memory_free_MiB", "Swap space that is free.", MIB, HOST_SWAP_FREE_BYTES),
    OF(HOST, SHARE, "host_swap_memory_percent_Percentage", "Share of swap space in use.", PERCENT,
       VITALS_HOST_SWAP_USED_BYTES, VITALS_HOST_SWAP_TOTAL_BYTES),
    ROW(HOST, "host_load_average_1m_Percentage", "Load average over one minute.", 1, HOST_LOAD_1M),
    ROW(HOST, "host_load_average_5m_Percentage", "Load average over five minutes.", 1,
        HOST_LOAD_5M),
    ROW(HOST, "host_load_average_15m_Percentage", "Load average over fifteen minutes.", 1,
        HOST_LOAD_15M),

    ROW(NETWORKS, "host_net_io_tx_data_MiB", "Data sent.", MIB, NETWORK_TRANSMITTED_BYTES),
    ROW(NETWORKS, "host_net_io_rx_data_MiB", "Data received.", MIB, NETWORK_RECEIVED_BYTES),
    ROW(NETWORKS, "host_net_io_tx_packets_Packet", "Packets sent.", 1, NETWORK_TRANSMITTED_PACKETS),
    ROW(NETWORKS, "host_net_io_rx_packets_Packet", "Packets received.", 1,
        NETWORK_RECEIVED_PACKETS),
    ROW(DISKS, "host_disk_io_read_data_MiB", "Data read.", MIB, DISK_READ_BYTES),
    ROW(DISKS, "host_disk_io_write_data_MiB", "Data written.", MIB, DISK_WRITTEN_BYTES),
    ROW(FILESYSTEMS, "host_disk_usage_total_MiB", "Size of the file system.", MIB,
        FILESYSTEM_TOTAL_BYTES),
    ROW(FILESYSTEMS, "host_disk_usage_used_MiB", "What is used of it.", MIB, FILESYSTEM_USED_BYTES),
    ROW(FILESYSTEMS, "host_disk_usage_free_MiB", "What anybody may still use of it.", MIB,
        FILESYSTEM_AVAILABLE_BYTES),
    OF(FILESYSTEMS, SHARE, "host_disk_usage_percent_Percentage",
       "Used share of what anybody may use.", PERCENT, VITALS_FILESYSTEM_USED_BYTES,
       VITALS_FILESYSTEM_USED_BYTES, VITALS_FILESYSTEM_AVAILABLE_BYTES),

    ROW(DEVICES, "gpu_utilization_Percentage", "Busy share of the device.", PERCENT,
        GPU_UTILIZATION_RATIO),
    ROW(DEVICES, "gpu_memory_utilization_Percentage", "Busy share of its memory controller.",
        PERCENT, GPU_MEMORY_BUSY_RATIO),
    BELOW("gpu_encoder_utilization_Percentage", "Busy share of the encoder.", PERCENT, "encoder",
          GPU_ENGINE_UTILIZATION_RATIO),
    BELOW("gpu_decoder_utilization_Percentage", "Busy share of the decoder.", PERCENT, "decoder",
          GPU_ENGINE_UTILIZATION_RATIO),
    ROW(DEVICES, "gpu_memory_total_MiB", "Device memory.", MIB, GPU_MEMORY_TOTAL_BYTES),
    ROW(DEVICES, "gpu_memory_used_MiB", "Device memory in use.", MIB, GPU_MEMORY_USED_BYTES),
    ROW(DEVICES, "gpu_memory_free_MiB", "Device memory that is free.", MIB, GPU_MEMORY_FREE_BYTES),
    OF(DEVICES, SHARE, "gpu_memory_percent_Percentage", "Share of device memory in use.", PERCENT,
       VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_MEMORY_TOTAL_BYTES),
    BELOW("gpu_clock_sm_MHz", "Clock of the multiprocessors.", MHZ, "sm",
          GPU_CLOCK_FREQUENCY_HERTZ),
    BELOW("gpu_clock_memory_MHz", "Clock of the memory.", MHZ, "memory", GPU_CLOCK_FREQUENCY_HERTZ),
    BELOW("gpu_clock_graphics_MHz", "Clock of the graphics.", MHZ, "graphics",
          GPU_CLOCK_FREQUENCY_HERTZ),
    BELOW("gpu_clock_video_MHz", "Clock of the video engines.", MHZ, "video",
          GPU_CLOCK_FREQUENCY_HERTZ),
    ROW(DEVICES, "gpu_power_usage_W", "Power draw.", 1, GPU_POWER_WATTS),
    ROW(DEVICES, "gpu_power_limit_W", "Power limit.", 1, GPU_POWER_LIMIT_WATTS),
    ROW(DEVICES, "gpu_temperature_C", "Temperature of the core.", 1, GPU_TEMPERATURE_CELSIUS),
    ROW(DEVICES, "gpu_fan_speed_Percentage", "Fan speed of its maximum.", PERCENT, GPU_FAN_RATIO),
    ROW(DEVICES, "gpu_pcie_tx_throughput_MiBps", "Sent over PCIe.", MIB,
        GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND),
    ROW(DEVICES, "gpu_pcie_rx_throughput_MiBps", "Received over PCIe.", MIB,
        GPU_PCIE_RECEIVED_BYTES_PER_SECOND),
    OF(DEVICES, LINK_SUM, "gpu_nvlink_total_tx_throughput_MiBps", "Sent over all links.", MIB,
       VITALS_GPU_LINK_TRANSMITTED_BYTES),
    OF(DEVICES, LINK_SUM, "gpu_nvlink_total_rx_throughput_MiBps", "Received over all links.", MIB,
       VITALS_GPU_LINK_RECEIVED_BYTES),
    OF(DEVICES, LINK_MEAN, "gpu_nvlink_mean_tx_throughput_MiBps", "Sent over a link, on average.",
       MIB, VITALS_GPU_LINK_TRANSMITTED_BYTES),
    OF(DEVICES, LINK_MEAN, "gpu_nvlink_mean_rx_throughput_MiBps",
       "Received over a link, on average.", MIB, VITALS_GPU_LINK_RECEIVED_BYTES),
    OF(LINKS, RATE, "gpu_nvlink_tx_throughput_MiBps", "Sent over the link.", MIB,
       VITALS_GPU_LINK_TRANSMITTED_BYTES),
    OF(LINKS, RATE, "gpu_nvlink_rx_throughput_MiBps", "Received over the link.", MIB,
       VITALS_GPU_LINK_RECEIVED_BYTES),

    OF(PROCESSES, SINCE, "process_running_time_Second", "How long it has lived.", 1,
       VITALS_PROCESS_START_SECONDS, VITALS_HOST_UPTIME_SECONDS),
    OF(PROCESSES, RATE, "process_cpu_percent_Percentage", "CPU time used; 100 is one core.",
       PERCENT, VITALS_PROCESS_CPU_SECONDS),
    ROW(PROCESSES, "process_rss_memory_MiB", "Its resident memory.", MIB, PROCESS_RESIDENT_BYTES),
    OF(PROCESSES, SHARE, "process_memory_percent_Percentage", "The same, of the machine's.",
       PERCENT, VITALS_PROCESS_RESIDENT_BYTES, VITALS_HOST_MEMORY_TOTAL_BYTES),
    ROW(PROCESSES, "process_gpu_memory_MiB", "Its device memory.", MIB,
        GPU_PROCESS_MEMORY_USED_BYTES),
    ROW(PROCESSES, "process_gpu_sm_utilization_Percentage", "Its share of the device.", PERCENT,
        GPU_PROCESS_UTILIZATION_RATIO),
    ROW(PROCESSES, "process_gpu_memory_utilization_Percentage", "Its share of memory bandwidth.",
        PERCENT, GPU_PROCESS_MEMORY_BUSY_RATIO),
    ROW(PROCESSES, "process_gpu_encoder_utilization_Percentage", "Its share of the encoder.",
        PERCENT, GPU_PROCESS_ENCODER_RATIO),
    ROW(PROCESSES, "process_gpu_decoder_utilization_Percentage", "Its share of the decoder.",
        PERCENT, GPU_PROCESS_DECODER_RATIO),
};
const size_t nvitop_families_count = sizeof nvitop_families / sizeof nvitop_families[0];

// clang-format off
const vitals_metric nvitop_identities[] = {
    VITALS_GPU_INDEX, VITALS_GPU_NAME, VITALS_GPU_UUID, VITALS_GPU_VENDOR,
    VITALS_GPU_DRIVER_VERSION, VITALS_GPU_CUDA_VERSION, VITALS_GPU_PROCESS_PID,
    VITALS_GPU_PROCESS_PROCESS, VITALS_GPU_LINK_ACTIVE, VITALS_PROCESS_PID, VITALS_PROCESS_UID,
    VITALS_PROCESS_USER, VITALS_PROCESS_NAME, VITALS_PROCESS_STATE, VITALS_PROCESS_COMMAND_LINE, 0,
};
// clang-format on
