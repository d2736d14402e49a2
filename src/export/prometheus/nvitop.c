/* nvitop.c: see nvitop.h. */
#include "export/prometheus/nvitop.h"

#define MIB     (1.0 / 1048576)
#define PERCENT 100.0
#define MHZ     1e-6

#define HOST(word, what, much, how, ...)                                                         \
    {                                                                                            \
        .name = word, .help = what, .rows = NVITOP_HOST, .scale = much, .value = how, .reads = { \
            __VA_ARGS__                                                                          \
        }                                                                                        \
    }
#define DEVICE(word, what, much, how, ...)                                               \
    {                                                                                    \
        .name = word, .help = what, .rows = NVITOP_DEVICES, .scale = much, .value = how, \
        .reads = {                                                                       \
            __VA_ARGS__                                                                  \
        }                                                                                \
    }
#define BELOW(word, what, much, label, ...)                                                \
    {                                                                                      \
        .name = word, .help = what, .rows = NVITOP_DEVICES, .scale = much, .child = label, \
        .reads = {                                                                         \
            __VA_ARGS__                                                                    \
        }                                                                                  \
    }
#define ROW(table, word, what, much, how, ...)                                             \
    {                                                                                      \
        .name = word, .help = what, .rows = table, .scale = much, .value = how, .reads = { \
            __VA_ARGS__                                                                    \
        }                                                                                  \
    }

const struct nvitop_family nvitop_families[] = {
    HOST("host_uptime_Second", "Time since boot.", 1, NVITOP_PLAIN, VITALS_HOST_UPTIME_SECONDS),
    HOST("host_cpu_percent_Percentage", "Busy share of all CPUs.", PERCENT, NVITOP_PART,
         VITALS_HOST_CPU_BUSY_SECONDS, VITALS_HOST_CPU_TOTAL_SECONDS),
    HOST("host_virtual_memory_total_MiB", "Memory.", MIB, NVITOP_PLAIN,
         VITALS_HOST_MEMORY_TOTAL_BYTES),
    HOST("host_virtual_memory_used_MiB", "Memory in use.", MIB, NVITOP_PLAIN,
         VITALS_HOST_MEMORY_USED_BYTES),
    HOST("host_virtual_memory_free_MiB", "Memory that holds nothing.", MIB, NVITOP_PLAIN,
         VITALS_HOST_MEMORY_FREE_BYTES),
    HOST("host_virtual_memory_percent_Percentage", "Share of memory that is not available.",
         PERCENT, NVITOP_REST, VITALS_HOST_MEMORY_AVAILABLE_BYTES, VITALS_HOST_MEMORY_TOTAL_BYTES),
    HOST("host_swap_memory_total_MiB", "Swap space.", MIB, NVITOP_PLAIN,
         VITALS_HOST_SWAP_TOTAL_BYTES),
    HOST("host_swap_memory_used_MiB", "Swap space in use.", MIB, NVITOP_PLAIN,
         VITALS_HOST_SWAP_USED_BYTES),
    HOST("host_swap_memory_free_MiB", "Swap space that is free.", MIB, NVITOP_PLAIN,
         VITALS_HOST_SWAP_FREE_BYTES),
    HOST("host_swap_memory_percent_Percentage", "Share of swap space in use.", PERCENT,
         NVITOP_SHARE, VITALS_HOST_SWAP_USED_BYTES, VITALS_HOST_SWAP_TOTAL_BYTES),
    HOST("host_load_average_1m_Percentage", "Load average over one minute.", 1, NVITOP_PLAIN,
         VITALS_HOST_LOAD_1M),
    HOST("host_load_average_5m_Percentage", "Load average over five minutes.", 1, NVITOP_PLAIN,
         VITALS_HOST_LOAD_5M),
    HOST("host_load_average_15m_Percentage", "Load average over fifteen minutes.", 1, NVITOP_PLAIN,
         VITALS_HOST_LOAD_15M),

    ROW(NVITOP_NETWORKS, "host_net_io_tx_data_MiB", "Data sent.", MIB, NVITOP_PLAIN,
        VITALS_NETWORK_TRANSMITTED_BYTES),
    ROW(NVITOP_NETWORKS, "host_net_io_rx_data_MiB", "Data received.", MIB, NVITOP_PLAIN,
        VITALS_NETWORK_RECEIVED_BYTES),
    ROW(NVITOP_NETWORKS, "host_net_io_tx_packets_Packet", "Packets sent.", 1, NVITOP_PLAIN,
        VITALS_NETWORK_TRANSMITTED_PACKETS),
    ROW(NVITOP_NETWORKS, "host_net_io_rx_packets_Packet", "Packets received.", 1, NVITOP_PLAIN,
        VITALS_NETWORK_RECEIVED_PACKETS),
    ROW(NVITOP_DISKS, "host_disk_io_read_data_MiB", "Data read.", MIB, NVITOP_PLAIN,
        VITALS_DISK_READ_BYTES),
    ROW(NVITOP_DISKS, "host_disk_io_write_data_MiB", "Data written.", MIB, NVITOP_PLAIN,
        VITALS_DISK_WRITTEN_BYTES),
    ROW(NVITOP_FILESYSTEMS, "host_disk_usage_total_MiB", "Size of the file system.", MIB,
        NVITOP_PLAIN, VITALS_FILESYSTEM_TOTAL_BYTES),
    ROW(NVITOP_FILESYSTEMS, "host_disk_usage_used_MiB", "What is used of it.", MIB, NVITOP_PLAIN,
        VITALS_FILESYSTEM_USED_BYTES),
    ROW(NVITOP_FILESYSTEMS, "host_disk_usage_free_MiB", "What anybody may still use of it.", MIB,
        NVITOP_PLAIN, VITALS_FILESYSTEM_AVAILABLE_BYTES),
    ROW(NVITOP_FILESYSTEMS, "host_disk_usage_percent_Percentage",
        "Used share of what anybody may use.", PERCENT, NVITOP_SHARE, VITALS_FILESYSTEM_USED_BYTES,
        VITALS_FILESYSTEM_USED_BYTES, VITALS_FILESYSTEM_AVAILABLE_BYTES),

    DEVICE("gpu_utilization_Percentage", "Busy share of the device.", PERCENT, NVITOP_PLAIN,
           VITALS_GPU_UTILIZATION_RATIO),
    DEVICE("gpu_memory_utilization_Percentage", "Busy share of its memory controller.", PERCENT,
           NVITOP_PLAIN, VITALS_GPU_MEMORY_BUSY_RATIO),
    BELOW("gpu_encoder_utilization_Percentage", "Busy share of the encoder.", PERCENT, "encoder",
          VITALS_GPU_ENGINE_UTILIZATION_RATIO),
    BELOW("gpu_decoder_utilization_Percentage", "Busy share of the decoder.", PERCENT, "decoder",
          VITALS_GPU_ENGINE_UTILIZATION_RATIO),
    DEVICE("gpu_memory_total_MiB", "Device memory.", MIB, NVITOP_PLAIN,
           VITALS_GPU_MEMORY_TOTAL_BYTES),
    DEVICE("gpu_memory_used_MiB", "Device memory in use.", MIB, NVITOP_PLAIN,
           VITALS_GPU_MEMORY_USED_BYTES),
    DEVICE("gpu_memory_free_MiB", "Device memory that is free.", MIB, NVITOP_PLAIN,
           VITALS_GPU_MEMORY_FREE_BYTES),
    DEVICE("gpu_memory_percent_Percentage", "Share of device memory in use.", PERCENT, NVITOP_SHARE,
           VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_MEMORY_TOTAL_BYTES),
    BELOW("gpu_clock_sm_MHz", "Clock of the multiprocessors.", MHZ, "sm",
          VITALS_GPU_CLOCK_FREQUENCY_HERTZ),
    BELOW("gpu_clock_memory_MHz", "Clock of the memory.", MHZ, "memory",
          VITALS_GPU_CLOCK_FREQUENCY_HERTZ),
    BELOW("gpu_clock_graphics_MHz", "Clock of the graphics.", MHZ, "graphics",
          VITALS_GPU_CLOCK_FREQUENCY_HERTZ),
    BELOW("gpu_clock_video_MHz", "Clock of the video engines.", MHZ, "video",
          VITALS_GPU_CLOCK_FREQUENCY_HERTZ),
    DEVICE("gpu_power_usage_W", "Power draw.", 1, NVITOP_PLAIN, VITALS_GPU_POWER_WATTS),
    DEVICE("gpu_power_limit_W", "Power limit.", 1, NVITOP_PLAIN, VITALS_GPU_POWER_LIMIT_WATTS),
    DEVICE("gpu_temperature_C", "Temperature of the core.", 1, NVITOP_PLAIN,
           VITALS_GPU_TEMPERATURE_CELSIUS),
    DEVICE("gpu_fan_speed_Percentage", "Fan speed of its maximum.", PERCENT, NVITOP_PLAIN,
           VITALS_GPU_FAN_RATIO),
    DEVICE("gpu_pcie_tx_throughput_MiBps", "Sent over PCIe.", MIB, NVITOP_PLAIN,
           VITALS_GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND),
    DEVICE("gpu_pcie_rx_throughput_MiBps", "Received over PCIe.", MIB, NVITOP_PLAIN,
           VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND),
    DEVICE("gpu_nvlink_total_tx_throughput_MiBps", "Sent over all links.", MIB, NVITOP_LINK_SUM,
           VITALS_GPU_LINK_TRANSMITTED_BYTES),
    DEVICE("gpu_nvlink_total_rx_throughput_MiBps", "Received over all links.", MIB, NVITOP_LINK_SUM,
           VITALS_GPU_LINK_RECEIVED_BYTES),
    DEVICE("gpu_nvlink_mean_tx_throughput_MiBps", "Sent over a link, on average.", MIB,
           NVITOP_LINK_MEAN, VITALS_GPU_LINK_TRANSMITTED_BYTES),
    DEVICE("gpu_nvlink_mean_rx_throughput_MiBps", "Received over a link, on average.", MIB,
           NVITOP_LINK_MEAN, VITALS_GPU_LINK_RECEIVED_BYTES),
    ROW(NVITOP_LINKS, "gpu_nvlink_tx_throughput_MiBps", "Sent over the link.", MIB, NVITOP_RATE,
        VITALS_GPU_LINK_TRANSMITTED_BYTES),
    ROW(NVITOP_LINKS, "gpu_nvlink_rx_throughput_MiBps", "Received over the link.", MIB, NVITOP_RATE,
        VITALS_GPU_LINK_RECEIVED_BYTES),

    ROW(NVITOP_PROCESSES, "process_running_time_Second", "How long it has lived.", 1, NVITOP_SINCE,
        VITALS_PROCESS_START_SECONDS, VITALS_HOST_UPTIME_SECONDS),
    ROW(NVITOP_PROCESSES, "process_cpu_percent_Percentage", "CPU time used; 100 is one core.",
        PERCENT, NVITOP_RATE, VITALS_PROCESS_CPU_SECONDS),
    ROW(NVITOP_PROCESSES, "process_rss_memory_MiB", "Its resident memory.", MIB, NVITOP_PLAIN,
        VITALS_PROCESS_RESIDENT_BYTES),
    ROW(NVITOP_PROCESSES, "process_memory_percent_Percentage", "The same, of the machine's.",
        PERCENT, NVITOP_SHARE, VITALS_PROCESS_RESIDENT_BYTES, VITALS_HOST_MEMORY_TOTAL_BYTES),
    ROW(NVITOP_PROCESSES, "process_gpu_memory_MiB", "Its device memory.", MIB, NVITOP_PLAIN,
        VITALS_GPU_PROCESS_MEMORY_USED_BYTES),
    ROW(NVITOP_PROCESSES, "process_gpu_sm_utilization_Percentage", "Its share of the device.",
        PERCENT, NVITOP_PLAIN, VITALS_GPU_PROCESS_UTILIZATION_RATIO),
    ROW(NVITOP_PROCESSES, "process_gpu_memory_utilization_Percentage",
        "Its share of memory bandwidth.", PERCENT, NVITOP_PLAIN,
        VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO),
    ROW(NVITOP_PROCESSES, "process_gpu_encoder_utilization_Percentage", "Its share of the encoder.",
        PERCENT, NVITOP_PLAIN, VITALS_GPU_PROCESS_ENCODER_RATIO),
    ROW(NVITOP_PROCESSES, "process_gpu_decoder_utilization_Percentage", "Its share of the decoder.",
        PERCENT, NVITOP_PLAIN, VITALS_GPU_PROCESS_DECODER_RATIO),
};
const size_t nvitop_families_count = sizeof nvitop_families / sizeof nvitop_families[0];

const vitals_metric nvitop_identities[] = {
    VITALS_GPU_INDEX,
    VITALS_GPU_NAME,
    VITALS_GPU_UUID,
    VITALS_GPU_VENDOR,
    VITALS_GPU_DRIVER_VERSION,
    VITALS_GPU_CUDA_VERSION,
    VITALS_GPU_PROCESS_PID,
    VITALS_GPU_PROCESS_PROCESS,
    VITALS_GPU_LINK_ACTIVE,
    VITALS_PROCESS_PID,
    VITALS_PROCESS_UID,
    VITALS_PROCESS_USER,
    VITALS_PROCESS_NAME,
    VITALS_PROCESS_STATE,
    VITALS_PROCESS_COMMAND_LINE,
    0,
};
