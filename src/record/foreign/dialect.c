/* dialect.c: see dialect.h. The tables follow the files that the tools write, measured on them. */
#include "record/foreign/dialect.h"

#include "util/base.h"
#include <string.h>

#define MIB  1048576.0
#define GIB  1073741824.0
#define GB   1e9
#define TICK 0.01 /* seconds: USER_HZ is 100 on every Linux that vitals is built for */

#define TREE        VITALS_SCOPE_TREE
#define SYSTEM      VITALS_SCOPE_SYSTEM
#define DESCENDANTS VITALS_SCOPE_DESCENDANTS

// One column, one line.
// clang-format off
static const struct dialect_column PROCESS[] = {
    {"timestamp",        DIALECT_TIME,     TREE,        {NULL}, .decimals = 3, .human = "Timestamp"},
    {"pid",              DIALECT_PID,      TREE,        {NULL}, .decimals = -1, .human = "PID"},
    {"children",         DIALECT_CHILDREN, DESCENDANTS, {"processes"}, .decimals = -1, .human = "children"},
    {"utime",            DIALECT_GROWTH,   TREE,        {"cpu_user_seconds"}, .decimals = 6, .real = true, .human = "CPU time (user)"},
    {"stime",            DIALECT_GROWTH,   TREE,        {"cpu_system_seconds"}, .decimals = 6, .real = true, .human = "CPU time (system)"},
    {"cpu_usage",        DIALECT_GAUGE,    TREE,        {"cpu_cores"}, .decimals = 4, .real = true, .human = "CPU usage"},
    {"memory_mib",       DIALECT_GAUGE,    TREE,        {"memory_pss_bytes"}, .scale = MIB, .decimals = 4, .real = true, .human = "memory usage"},
    {"disk_read_bytes",  DIALECT_GROWTH,   TREE,        {"disk_read_bytes"}, .decimals = -1, .human = "disk read"},
    {"disk_write_bytes", DIALECT_GROWTH,   TREE,        {"disk_written_bytes"}, .decimals = -1, .human = "disk write"},
    {"gpu_usage",        DIALECT_GAUGE,    TREE,        {"gpu_utilization_ratio"}, .decimals = 4, .real = true, .human = "GPU usage"},
    {"gpu_vram_mib",     DIALECT_GAUGE,    TREE,        {"gpu_memory_bytes"}, .scale = MIB, .decimals = 4, .real = true, .human = "VRAM used"},
    {"gpu_utilized",     DIALECT_GAUGE,    TREE,        {"devices_busy"}, .decimals = -1, .human = "GPUs in use"},
};

static const struct dialect_column MACHINE[] = {
    {"timestamp",           DIALECT_TIME,   SYSTEM, {NULL}, .decimals = 3, .human = "Timestamp"},
    {"processes",           DIALECT_GAUGE,  SYSTEM, {"processes"}, .decimals = -1, .human = "processes"},
    {"utime",               DIALECT_GROWTH, SYSTEM, {"cpu_user_seconds"}, .decimals = 6, .real = true, .human = "CPU time (user)"},
    {"stime",               DIALECT_GROWTH, SYSTEM, {"cpu_system_seconds"}, .decimals = 6, .real = true, .human = "CPU time (system)"},
    {"cpu_usage",           DIALECT_GAUGE,  SYSTEM, {"cpu_cores"}, .decimals = 4, .real = true, .human = "CPU usage"},
    {"memory_free_mib",     DIALECT_GAUGE,  SYSTEM, {"memory_free_bytes"}, .scale = MIB, .decimals = 4, .real = true, .human = "free memory"},
    {"memory_used_mib",     DIALECT_GAUGE,  SYSTEM, {"memory_used_bytes"}, .scale = MIB, .decimals = 4, .real = true, .human = "used memory"},
    {"memory_buffers_mib",  DIALECT_GAUGE,  SYSTEM, {"memory_buffers_bytes"}, .scale = MIB, .decimals = 4, .real = true, .human = "memory buffers"},
    {"memory_cached_mib",   DIALECT_GAUGE,  SYSTEM, {"memory_cached_bytes"}, .scale = MIB, .decimals = 4, .real = true, .human = "memory page/file cached"},
    {"memory_active_mib",   DIALECT_GAUGE,  SYSTEM, {"memory_active_bytes"}, .scale = MIB, .decimals = 4, .real = true, .human = "active memory"},
    {"memory_inactive_mib", DIALECT_GAUGE,  SYSTEM, {"memory_inactive_bytes"}, .scale = MIB, .decimals = 4, .real = true, .human = "inactive memory"},
    {"disk_read_bytes",     DIALECT_GROWTH, SYSTEM, {"disk_read_bytes"}, .decimals = -1, .human = "disk read"},
    {"disk_write_bytes",    DIALECT_GROWTH, SYSTEM, {"disk_written_bytes"}, .decimals = -1, .human = "disk write"},
    {"disk_space_total_gb", DIALECT_GAUGE,  SYSTEM, {"disk_space_total_bytes"}, .scale = GB, .decimals = 2, .real = true, .human = "disk space total"},
    {"disk_space_used_gb",  DIALECT_GAUGE,  SYSTEM, {"disk_space_used_bytes"}, .scale = GB, .decimals = 2, .real = true, .human = "disk space used"},
    {"disk_space_free_gb",  DIALECT_GAUGE,  SYSTEM, {"disk_space_available_bytes"}, .scale = GB, .decimals = 2, .real = true, .human = "disk space free"},
    {"net_recv_bytes",      DIALECT_GROWTH, SYSTEM, {"network_received_bytes"}, .decimals = -1, .human = "inbound network traffic"},
    {"net_sent_bytes",      DIALECT_GROWTH, SYSTEM, {"network_transmitted_bytes"}, .decimals = -1, .human = "outbound network traffic"},
    {"gpu_usage",           DIALECT_GAUGE,  SYSTEM, {"device_utilization_ratio"}, .decimals = 4, .real = true, .human = "GPU usage"},
    {"gpu_vram_mib",        DIALECT_GAUGE,  SYSTEM, {"device_memory_used_bytes"}, .scale = MIB, .decimals = 4, .real = true, .human = "VRAM used"},
    {"gpu_utilized",        DIALECT_GAUGE,  SYSTEM, {"devices_busy"}, .decimals = -1, .human = "GPUs in use"},
};

static const struct dialect_column OLD_PROCESS[] = {
    {"timestamp",    DIALECT_TIME,   TREE,        {NULL}, .decimals = -2},
    {"pid",          DIALECT_PID,    TREE,        {NULL}, .decimals = -1},
    {"children",     DIALECT_GAUGE,  DESCENDANTS, {"processes"}, .decimals = -1},
    {"utime",        DIALECT_GROWTH, TREE,        {"cpu_user_seconds"}, .scale = TICK, .decimals = -1},
    {"stime",        DIALECT_GROWTH, TREE,        {"cpu_system_seconds"}, .scale = TICK, .decimals = -1},
    {"cpu_usage",    DIALECT_GAUGE,  TREE,        {"cpu_cores"}, .decimals = 4, .real = true},
    {"pss",          DIALECT_GAUGE,  TREE,        {"memory_pss_bytes"}, .scale = 1024, .decimals = -1},
    {"read_bytes",   DIALECT_GROWTH, TREE,        {"disk_read_bytes"}, .decimals = -1},
    {"write_bytes",  DIALECT_GROWTH, TREE,        {"disk_written_bytes"}, .decimals = -1},
    {"gpu_usage",    DIALECT_GAUGE,  TREE,        {"gpu_utilization_ratio"}, .decimals = -2},
    {"gpu_vram",     DIALECT_GAUGE,  TREE,        {"gpu_memory_bytes"}, .scale = MIB, .decimals = -2},
    {"gpu_utilized", DIALECT_GAUGE,  TREE,        {"devices_busy"}, .decimals = -1},
};

static const struct dialect_column OLD_MACHINE[] = {
    {"timestamp",            DIALECT_TIME,   SYSTEM, {NULL}, .decimals = -2},
    {"processes",            DIALECT_BOOT,   SYSTEM, {NULL}, .decimals = -1, .metric = VITALS_HOST_FORKS},
    {"utime",                DIALECT_GROWTH, SYSTEM, {"cpu_user_seconds"}, .scale = TICK, .decimals = -1},
    {"stime",                DIALECT_GROWTH, SYSTEM, {"cpu_system_seconds"}, .scale = TICK, .decimals = -1},
    {"cpu_usage",            DIALECT_GAUGE,  SYSTEM, {"cpu_cores"}, .decimals = 4, .real = true},
    {"memory_free",          DIALECT_GAUGE,  SYSTEM, {"memory_free_bytes"}, .scale = 1024, .decimals = -1},
    {"memory_used",          DIALECT_GAUGE,  SYSTEM, {"memory_total_bytes", "memory_free_bytes", "memory_buffers_bytes", "memory_page_cache_bytes"}, .scale = 1024, .decimals = -1},
    {"memory_buffers",       DIALECT_GAUGE,  SYSTEM, {"memory_buffers_bytes"}, .scale = 1024, .decimals = -1},
    {"memory_cached",        DIALECT_GAUGE,  SYSTEM, {"memory_page_cache_bytes"}, .scale = 1024, .decimals = -1},
    {"memory_active_anon",   DIALECT_GAUGE,  SYSTEM, {"memory_active_anon_bytes"}, .scale = 1024, .decimals = -1},
    {"memory_inactive_anon", DIALECT_GAUGE,  SYSTEM, {"memory_inactive_anon_bytes"}, .scale = 1024, .decimals = -1},
    {"disk_read_bytes",      DIALECT_GROWTH, SYSTEM, {"disk_read_bytes"}, .decimals = -1},
    {"disk_write_bytes",     DIALECT_GROWTH, SYSTEM, {"disk_written_bytes"}, .decimals = -1},
    {"disk_space_total_gb",  DIALECT_GAUGE,  SYSTEM, {"disk_space_total_bytes"}, .scale = GIB, .decimals = 2, .real = true},
    {"disk_space_used_gb",   DIALECT_GAUGE,  SYSTEM, {"disk_space_total_bytes", "disk_space_available_bytes"}, .scale = GIB, .decimals = 2, .real = true},
    {"disk_space_free_gb",   DIALECT_GAUGE,  SYSTEM, {"disk_space_available_bytes"}, .scale = GIB, .decimals = 2, .real = true},
    {"net_recv_bytes",       DIALECT_GROWTH, SYSTEM, {"network_received_bytes"}, .decimals = -1},
    {"net_sent_bytes",       DIALECT_GROWTH, SYSTEM, {"network_transmitted_bytes"}, .decimals = -1},
    {"gpu_usage",            DIALECT_GAUGE,  SYSTEM, {"device_utilization_ratio"}, .decimals = -2},
    {"gpu_vram",             DIALECT_GAUGE,  SYSTEM, {"device_memory_used_bytes"}, .scale = MIB, .decimals = -2},
    {"gpu_utilized",         DIALECT_GAUGE,  SYSTEM, {"devices_busy"}, .decimals = -1},
};
// clang-format on

const struct dialect DIALECT_PROCESS = {"resource-tracker-process", NULL, PROCESS,
                                        ARRAY_COUNT(PROCESS), NULL};
const struct dialect DIALECT_SYSTEM = {"resource-tracker-system", NULL, MACHINE,
                                       ARRAY_COUNT(MACHINE), NULL};
const struct dialect DIALECT_OLD_PROCESS = {"resource-tracker-0.3-process", NULL, OLD_PROCESS,
                                            ARRAY_COUNT(OLD_PROCESS), NULL};
const struct dialect DIALECT_OLD_SYSTEM = {"resource-tracker-0.3-system", NULL, OLD_MACHINE,
                                           ARRAY_COUNT(OLD_MACHINE), NULL};

static const struct dialect COMBINED_PROCESS = {"resource-tracker-combined", "process_", PROCESS,
                                                ARRAY_COUNT(PROCESS), NULL};
const struct dialect DIALECT_COMBINED = {"resource-tracker-combined", "system_", MACHINE,
                                         ARRAY_COUNT(MACHINE), &COMBINED_PROCESS};

/* "System free memory" of "system_" and "free memory". */
static bool is_human(const char *name, const char *prefix, const char *human)
{
    size_t word = prefix != NULL ? strlen(prefix) - 1 : 0; /* without its last sign */
    if (human == NULL || word == 0)
        return human != NULL && strcmp(name, human) == 0;
    bool begins = name[0] == prefix[0] - 'a' + 'A' && strncmp(name + 1, prefix + 1, word - 1) == 0;
    return begins && name[word] == ' ' && strcmp(name + word + 1, human) == 0;
}

const struct dialect_column *dialect_find(const struct dialect *dialect, const char *name)
{
    for (const struct dialect *part = dialect; part != NULL; part = part->then) {
        for (size_t i = part == dialect ? 0 : 1; i < part->count; i++) {
            const char *prefix = i > 0 ? part->prefix : NULL; /* none of the time */
            const struct dialect_column *column = &part->columns[i];
            size_t size = prefix != NULL ? strlen(prefix) : 0;
            bool plain = strncmp(name, prefix != NULL ? prefix : "", size) == 0 &&
                         strcmp(name + size, column->name) == 0;
            if (plain || is_human(name, prefix, column->human))
                return column;
        }
    }
    return NULL;
}
