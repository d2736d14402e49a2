/* dialect.c: see foreign.h. The tables follow the files that the tools write, measured on them.
 *
 * Written rows hold growth since the row before, so the first sample gives the header instead of a
 * row. A value that cannot be read is 0, as in that tool's files. */
#include "record/foreign/foreign.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed/text.h"
#include "record/format.h"
#include "util/base.h"

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

/* 0.2 to 0.4: these, and otherwise the columns of 0.1. */
static const struct dialect_column MIDDLE_PROCESS[] = {
    {"timestamp", DIALECT_TIME,   TREE, {NULL}, .scale = 1},
    {"utime",     DIALECT_GROWTH, TREE, {"cpu_user_seconds"}, .scale = 1},
    {"stime",     DIALECT_GROWTH, TREE, {"cpu_system_seconds"}, .scale = 1},
    {"memory",    DIALECT_GAUGE,  TREE, {"memory_pss_bytes"}, .scale = 1024},
};

static const struct dialect_column MIDDLE_MACHINE[] = {
    {"timestamp",       DIALECT_TIME,   SYSTEM, {NULL}, .scale = 1},
    {"processes",       DIALECT_GAUGE,  SYSTEM, {"processes"}, .scale = 1},
    {"utime",           DIALECT_GROWTH, SYSTEM, {"cpu_user_seconds"}, .scale = 1},
    {"stime",           DIALECT_GROWTH, SYSTEM, {"cpu_system_seconds"}, .scale = 1},
    {"memory_used",     DIALECT_GAUGE,  SYSTEM, {"memory_used_bytes"}, .scale = 1024},
    {"memory_active",   DIALECT_GAUGE,  SYSTEM, {"memory_active_bytes"}, .scale = 1024},
    {"memory_inactive", DIALECT_GAUGE,  SYSTEM, {"memory_inactive_bytes"}, .scale = 1024},
};
// clang-format on

const struct dialect DIALECT_PROCESS = {"resource-tracker-process", NULL, PROCESS,
                                        ARRAY_COUNT(PROCESS), NULL};
const struct dialect DIALECT_SYSTEM = {"resource-tracker-system", NULL, MACHINE,
                                       ARRAY_COUNT(MACHINE), NULL};
const struct dialect DIALECT_OLD_PROCESS = {"resource-tracker-0.1-process", NULL, OLD_PROCESS,
                                            ARRAY_COUNT(OLD_PROCESS), NULL};
const struct dialect DIALECT_OLD_SYSTEM = {"resource-tracker-0.1-system", NULL, OLD_MACHINE,
                                           ARRAY_COUNT(OLD_MACHINE), NULL};
const struct dialect DIALECT_MIDDLE_PROCESS = {"resource-tracker-0.4-process", NULL, MIDDLE_PROCESS,
                                               ARRAY_COUNT(MIDDLE_PROCESS), &DIALECT_OLD_PROCESS};
const struct dialect DIALECT_MIDDLE_SYSTEM = {"resource-tracker-0.4-system", NULL, MIDDLE_MACHINE,
                                              ARRAY_COUNT(MIDDLE_MACHINE), &DIALECT_OLD_SYSTEM};

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

/* ---- writing ---- */

enum { COLUMNS_MAX = 64 };

struct dialect_state {
    const struct dialect *dialect;
    bool begun;
    double before[COLUMNS_MAX]; /* of each column that holds growth */
};

/* A family of formats: selects one of its dialects. */
struct dialect_family {
    const struct dialect *process, *system; /* without `process`, or for a machine, `system` */
};

static double column_value(const struct dialect_column *column, const struct record_sample *sample)
{
    double sum = 0;
    for (int i = 0; i < DIALECT_TERMS && column->measures[i] != NULL; i++) {
        const vitals_usage_value *value = sample_find(sample, column->measures[i], column->scope);
        if (value == NULL || value->state <= 0)
            return 0;
        sum += i == 0 ? value->value : -value->value;
    }
    return sum / (column->scale > 0 ? column->scale : 1);
}

/* Remembers the value of a column that holds growth. */
static double number_of(struct recorder *recorder, const struct dialect_column *column,
                        const struct record_sample *sample, size_t place)
{
    struct dialect_state *state = recorder->state;
    switch (column->kind) {
    case DIALECT_TIME: return (double)(sample->realtime_ns / 1000) / 1e6;
    case DIALECT_PID: return atof(recorder_attribute_text(recorder, "pid"));
    case DIALECT_BOOT: {
        double value = 0;
        const vitals_row *host = sample->snapshot != NULL
                                     ? vitals_snapshot_next(sample->snapshot, VITALS_TABLE_HOST,
                                                            NULL)
                                     : NULL;
        return host != NULL && vitals_row_number(host, column->metric, &value) > 0 ? value : 0;
    }
    case DIALECT_GROWTH: {
        double now = column_value(column, sample), before = state->before[place];
        if (column->decimals == -1)
            now = round(now); /* so that the rows add up */
        state->before[place] = now;
        return now > before && state->begun ? now - before : 0;
    }
    case DIALECT_GAUGE:
    case DIALECT_CHILDREN: break;
    }
    return column_value(column, sample);
}

typedef void each_column(struct recorder *recorder, const struct dialect *part, size_t index,
                         size_t place, const struct record_sample *sample);

static void for_each(struct recorder *recorder, const struct record_sample *sample,
                     each_column *each)
{
    struct dialect_state *state = recorder->state;
    size_t place = 0;
    for (const struct dialect *part = state->dialect; part != NULL; part = part->then)
        for (size_t i = part == state->dialect ? 0 : 1; i < part->count; i++, place++) {
            if (place > 0)
                text_file_put(&recorder->file, ",");
            each(recorder, part, i, place, sample);
        }
}

static void put_title(struct recorder *recorder, const struct dialect *part, size_t index,
                      size_t place, const struct record_sample *sample)
{
    char name[COLUMN_WORDS];
    (void)number_of(recorder, &part->columns[index], sample, place);
    (void)snprintf(name, sizeof name, "%s%s", place > 0 && part->prefix != NULL ? part->prefix : "",
                   part->columns[index].name);
    text_file_field(&recorder->file, name, true);
}

static void put_value(struct recorder *recorder, const struct dialect *part, size_t index,
                      size_t place, const struct record_sample *sample)
{
    const struct dialect_column *column = &part->columns[index];
    double value = number_of(recorder, column, sample, place);
    char words[NUMBER_WORDS];
    if (column->kind == DIALECT_CHILDREN && value <= 0)
        (void)snprintf(words, sizeof words, "\"\"");
    else if (column->decimals == -2)
        number_shortest(value, words);
    else
        number_rounded(value, column->decimals == -1 ? 0 : column->decimals, column->real, words);
    text_file_put(&recorder->file, words);
}

static int dialect_sample(struct recorder *recorder, const struct record_sample *sample,
                          vitals_error *error)
{
    struct dialect_state *state = recorder->state;
    if (!state->begun) {
        const struct dialect_family *family = recorder->format->table;
        bool tree = sample_find(sample, "cpu_seconds", VITALS_SCOPE_TREE) != NULL;
        state->dialect = tree ? family->process : family->system;
        if (!recorder->options.no_header) {
            for_each(recorder, sample, put_title);
            state->begun = true;
            return text_file_end_line(&recorder->file, error);
        }
    }

    /* The file ends when the tracked processes have ended. The first sample of a run may come
     * before its process. */
    const vitals_usage_value *living = sample_find(sample, "processes", VITALS_SCOPE_TREE);
    bool of_process = state->dialect == &DIALECT_PROCESS || state->dialect == &DIALECT_OLD_PROCESS;
    bool ended = of_process && living != NULL && living->state > 0 && living->value <= 0;
    bool none_yet = !state->begun && state->dialect->columns[1].kind == DIALECT_PID &&
                    recorder_attribute_text(recorder, "pid")[0] == '\0' && living != NULL &&
                    (living->state <= 0 || living->value <= 0);
    if (ended || none_yet)
        return 0;
    for_each(recorder, sample, put_value);
    state->begun = true;
    return text_file_end_line(&recorder->file, error);
}

/* With `of_machine` and `of_tree` a sample has the machine's values, and processes. */
#define DIALECT_FORMAT(title, process, system, ends, of_machine, of_tree)                          \
    {                                                                                              \
        .name = (title), .state_size = sizeof(struct dialect_state), .text = true, .crlf = (ends), \
        .table = &(const struct dialect_family){&(process), &(system)}, .machine = (of_machine),   \
        .tree = (of_tree), .sample = dialect_sample                                                \
    }

// clang-format off
const struct format FORMAT_DIALECTS[] = {
    DIALECT_FORMAT("resource-tracker", DIALECT_PROCESS, DIALECT_SYSTEM, false, false, false),
    DIALECT_FORMAT("resource-tracker-process", DIALECT_PROCESS, DIALECT_PROCESS, false, false, true),
    DIALECT_FORMAT("resource-tracker-system", DIALECT_SYSTEM, DIALECT_SYSTEM, false, true, false),
    DIALECT_FORMAT("resource-tracker-combined", DIALECT_COMBINED, DIALECT_COMBINED, true, true, true),
    DIALECT_FORMAT("resource-tracker-0.1", DIALECT_OLD_PROCESS, DIALECT_OLD_SYSTEM, true, false, false),
    DIALECT_FORMAT("resource-tracker-0.1-process", DIALECT_OLD_PROCESS, DIALECT_OLD_PROCESS, true, false, true),
    DIALECT_FORMAT("resource-tracker-0.1-system", DIALECT_OLD_SYSTEM, DIALECT_OLD_SYSTEM, true, true, false),
};
// clang-format on
const size_t FORMAT_DIALECT_COUNT = sizeof FORMAT_DIALECTS / sizeof FORMAT_DIALECTS[0];
