/* view.c: see page.h. The table COLUMNS lists what the page shows. */
#include "export/server/page.h"
#include "feed/rows.h"

#include <math.h>
#include <string.h>

// clang-format off
#define NOW(metric_)  {VITALS_##metric_, false}
#define RATE(metric_) {VITALS_##metric_, true}

/* The columns of the page, table by table: a metric or its rate. */
static const struct view_column {
    vitals_metric metric;
    bool rate;
} COLUMNS[] = {
    NOW(HOST_KERNEL), NOW(HOST_OPERATING_SYSTEM), NOW(HOST_CPU_MODEL), NOW(HOST_UPTIME_SECONDS),
    NOW(HOST_CPUS), NOW(HOST_LOAD_1M), NOW(HOST_LOAD_5M), NOW(HOST_LOAD_15M), NOW(HOST_PROCESSES),
    NOW(HOST_TASKS), NOW(HOST_TASKS_RUNNING), RATE(HOST_CPU_BUSY_SECONDS),
    RATE(HOST_CPU_IOWAIT_SECONDS), NOW(HOST_CPU_FREQUENCY_HERTZ), NOW(HOST_MEMORY_TOTAL_BYTES),
    NOW(HOST_MEMORY_USED_BYTES), NOW(HOST_MEMORY_AVAILABLE_BYTES), NOW(HOST_MEMORY_CACHED_BYTES),
    NOW(HOST_SWAP_TOTAL_BYTES), NOW(HOST_SWAP_USED_BYTES), RATE(HOST_DISK_READ_BYTES),
    RATE(HOST_DISK_WRITTEN_BYTES), NOW(HOST_DISK_SPACE_TOTAL_BYTES),
    NOW(HOST_DISK_SPACE_USED_BYTES), RATE(HOST_NETWORK_RECEIVED_BYTES),
    RATE(HOST_NETWORK_TRANSMITTED_BYTES), RATE(HOST_PACKAGE_ENERGY_JOULES),

    NOW(CPU_INDEX), RATE(CPU_BUSY_SECONDS),

    NOW(PRESSURE_RESOURCE), NOW(PRESSURE_SCOPE), NOW(PRESSURE_SOME_10S_RATIO),
    NOW(PRESSURE_SOME_60S_RATIO), NOW(PRESSURE_FULL_10S_RATIO), NOW(PRESSURE_FULL_60S_RATIO),

    NOW(GPU_INDEX), NOW(GPU_VENDOR), NOW(GPU_NAME), NOW(GPU_UUID), NOW(GPU_PARTITION_KIND),
    NOW(GPU_DRIVER_VERSION), NOW(GPU_UTILIZATION_RATIO), NOW(GPU_MEMORY_BUSY_RATIO),
    NOW(GPU_MEMORY_TOTAL_BYTES), NOW(GPU_MEMORY_USED_BYTES), NOW(GPU_POWER_WATTS),
    NOW(GPU_POWER_LIMIT_WATTS), NOW(GPU_TEMPERATURE_CELSIUS), NOW(GPU_FAN_RATIO),
    NOW(GPU_PERFORMANCE_STATE), NOW(GPU_THROTTLE_REASONS), NOW(GPU_RUNTIME_STATUS),
    NOW(GPU_MIG_MODE), NOW(GPU_PROCESSES), NOW(GPU_ECC_ERRORS_UNCORRECTED), RATE(GPU_ENERGY_JOULES),

    NOW(GPU_ENGINE_UTILIZATION_RATIO),

    NOW(GPU_CLOCK_FREQUENCY_HERTZ), NOW(GPU_CLOCK_FREQUENCY_MAX_HERTZ),

    NOW(GPU_PROCESS_PID), NOW(GPU_PROCESS_PROCESS), NOW(GPU_PROCESS_TYPE),
    NOW(GPU_PROCESS_MEMORY_USED_BYTES), NOW(GPU_PROCESS_UTILIZATION_RATIO),

    NOW(PROCESS_PID), NOW(PROCESS_NAME), NOW(PROCESS_USER), NOW(PROCESS_STATE),
    NOW(PROCESS_THREADS), RATE(PROCESS_CPU_SECONDS), NOW(PROCESS_RESIDENT_BYTES),
    RATE(PROCESS_READ_BYTES), RATE(PROCESS_WRITTEN_BYTES), NOW(PROCESS_START_SECONDS),
    NOW(PROCESS_WORKLOAD), NOW(PROCESS_COMMAND_LINE),

    NOW(WORKLOAD_ID), NOW(WORKLOAD_KIND), NOW(WORKLOAD_USER), NOW(WORKLOAD_PROCESSES),
    RATE(WORKLOAD_CPU_SECONDS), NOW(WORKLOAD_MEMORY_USED_BYTES), NOW(WORKLOAD_MEMORY_PEAK_BYTES),

    NOW(DISK_NAME), NOW(DISK_COUNTED), RATE(DISK_READ_BYTES), RATE(DISK_WRITTEN_BYTES),
    RATE(DISK_BUSY_SECONDS),

    NOW(NETWORK_NAME), NOW(NETWORK_COUNTED), NOW(NETWORK_UP), RATE(NETWORK_RECEIVED_BYTES),
    RATE(NETWORK_TRANSMITTED_BYTES),

    NOW(FILESYSTEM_MOUNT_POINT), NOW(FILESYSTEM_TYPE), NOW(FILESYSTEM_COUNTED),
    NOW(FILESYSTEM_TOTAL_BYTES), NOW(FILESYSTEM_USED_BYTES),

    NOW(SOURCE_STATE), NOW(SOURCE_MESSAGE), NOW(SOURCE_QUARANTINED),
};
// clang-format on
enum { COLUMNS_COUNT = sizeof COLUMNS / sizeof COLUMNS[0] };

/* The most rows of a table; more would only slow down the browser. */
enum { VIEW_ROWS_MAX = 20000 };

/* ---- one value ---- */

/* Longer text is cut. */
enum { VIEW_TEXT_MAX = 512 };

/* Appends untrusted text as a JSON string with quotes. Control and invisible characters are
 * spelled out: \u{202e}. */
static void write_text(struct buffer *text, vitals_text bytes)
{
    char safe[VIEW_TEXT_MAX];
    size_t size = vitals_text_format(bytes, VITALS_TEXT_TERMINAL, safe, sizeof safe);
    bool cut = size >= sizeof safe;
    buffer_byte(text, '"');
    text_safe(text, (vitals_text){safe, cut ? strlen(safe) : size}, VITALS_TEXT_JSON);
    buffer_string(text, cut ? "…\"" : "\"");
}

/* Returns the key in `every` of the process with the pid of this device user, or 0. */
static uint64_t key_in(const vitals_snapshot *every, const vitals_row *user)
{
    const vitals_snapshot *sample = vitals_row_snapshot(user);
    uint64_t key, pid, other;
    if (vitals_row_u64(user, VITALS_GPU_PROCESS_PROCESS, &key) <= 0)
        return 0;
    const vitals_row *process = vitals_snapshot_find(sample, VITALS_TABLE_PROCESS, key);
    if (every == sample)
        return key;
    if (process == NULL || vitals_row_u64(process, VITALS_PROCESS_PID, &pid) <= 0)
        return 0;
    EACH_ROW(row, every, VITALS_TABLE_PROCESS) {
        if (vitals_row_u64(row, VITALS_PROCESS_PID, &other) > 0 && other == pid)
            return vitals_row_key(row);
    }
    return 0;
}

/* A redacted command line, for people. */
static void write_command(struct buffer *text, vitals_text line, enum redact_form form)
{
    char shown[VIEW_TEXT_MAX * 2];
    struct buffer redacted = {.bytes = NULL};
    redact_line(&redacted, line, form);
    (void)vitals_text_command((vitals_text){redacted.bytes, redacted.size}, shown, sizeof shown);
    write_text(text, vitals_text_of(shown));
    buffer_done(&redacted);
}

static void write_value(struct buffer *text, const struct view_column *column,
                        const vitals_row *row, const struct view_sample *of,
                        const struct view_sample *every)
{
    vitals_type type = vitals_metric_type(column->metric);
    vitals_text words = {"", 0};
    double number = 0;
    vitals_availability availability;
    if (column->rate)
        availability = vitals_row_rate(row, of->older, column->metric, &number);
    else if (type == VITALS_TEXT)
        availability = vitals_row_text(row, column->metric, &words);
    else
        availability = vitals_row_number(row, column->metric, &number);
    bool plain = availability == VITALS_HAVE;
    if (!plain)
        buffer_format(text, "[\"%s\"%s", vitals_availability_name(availability),
                      availability > 0 ? "," : "]");
    if (availability <= 0)
        return;

    if (every != NULL && column->metric == VITALS_GPU_PROCESS_PROCESS)
        number = (double)key_in(every->snapshot, row);
    if (type == VITALS_F64 || column->rate) /* small numbers have four decimals, large ones none */
        number = fabs(number) < 1e4 ? round(number * 1e4) / 1e4 : round(number);
    if (column->metric == VITALS_PROCESS_COMMAND_LINE)
        write_command(text, words, of->command_lines);
    else if (type == VITALS_TEXT)
        write_text(text, words);
    else
        text_number(text, number);
    if (!plain)
        buffer_byte(text, ']');
}

/* ---- one table ---- */

static bool has_column(const struct view_column *column, const struct view_sample *of)
{
    return vitals_snapshot_has_metric(of->snapshot, column->metric) &&
           (column->metric != VITALS_PROCESS_COMMAND_LINE || of->command_lines != REDACT_OFF);
}

/* Writes the table of the columns from `begin` up to `end`. */
static void write_table(struct buffer *text, const struct view_column *begin,
                        const struct view_column *end, const struct view_sample *sample,
                        const struct view_sample *every)
{
    const vitals_table entity = vitals_metric_table(begin->metric);
    bool listed = every != NULL && entity == VITALS_TABLE_PROCESS;
    const struct view_sample *of = listed ? every : sample;
    const vitals_snapshot *snapshot = of->snapshot;
    vitals_availability state = vitals_snapshot_state(snapshot, entity);
    size_t rows = 0;
    buffer_format(text, "\"%s\":{", vitals_table_name(entity));
    if (state != VITALS_HAVE)
        buffer_format(text, "\"state\":\"%s\",", vitals_availability_name(state));
    buffer_string(text, "\"columns\":[\"key\",\"parent\",\"label\"");
    for (const struct view_column *column = begin; column < end; column++) {
        if (has_column(column, of))
            buffer_format(text, ",\"%s%s\"", vitals_metric_name(column->metric),
                          column->rate ? "_per_second" : "");
    }

    buffer_string(text, "],\"rows\":[");
    for (const vitals_row *row = NULL;
         rows < VIEW_ROWS_MAX && (row = vitals_snapshot_next(snapshot, entity, row)) != NULL;) {
        if (every == NULL && entity == VITALS_TABLE_PROCESS && !row_uses_gpu(row))
            continue;
        const char *label = vitals_row_label(row);
        buffer_format(text, "%s[%llu,", rows++ > 0 ? "," : "",
                      (unsigned long long)vitals_row_key(row));
        if (vitals_row_parent(row) == 0)
            buffer_string(text, "null,");
        else
            buffer_format(text, "%llu,", (unsigned long long)vitals_row_parent(row));
        write_text(text, vitals_text_of(label));
        for (const struct view_column *column = begin; column < end; column++) {
            if (!has_column(column, of))
                continue;
            buffer_byte(text, ',');
            write_value(text, column, row, of, every);
        }
        buffer_byte(text, ']');
    }
    buffer_string(text, "]}");
}

void view_write(struct buffer *text, const struct view_sample *sample,
                const struct view_sample *every)
{
    const vitals_snapshot *snapshot = sample->snapshot;
    const char *comma = "";
    buffer_format(text, "{\"view\":1,\"version\":\"%s\",\"host\":", vitals_version_text());
    write_text(text, vitals_snapshot_host(snapshot));
    buffer_format(
        text, ",\"realtime_ms\":%llu,\"sequence\":%llu,\"stream\":%llu,\"processes\":\"%s\"",
        (unsigned long long)(vitals_snapshot_realtime_ns(snapshot) / 1000000),
        (unsigned long long)vitals_snapshot_sequence(snapshot),
        (unsigned long long)vitals_snapshot_stream(snapshot), every != NULL ? "all" : "few");
    buffer_string(text, ",\"tables\":{");
    for (const struct view_column *begin = COLUMNS, *end; begin < COLUMNS + COLUMNS_COUNT;
         begin = end) {
        const vitals_table entity = vitals_metric_table(begin->metric);
        end = begin;
        while (end < COLUMNS + COLUMNS_COUNT && vitals_metric_table(end->metric) == entity)
            end++;
        if (!vitals_snapshot_has_table(snapshot, entity))
            continue;
        buffer_string(text, comma);
        write_table(text, begin, end, sample, every);
        comma = ",";
    }
    buffer_string(text, "}}");
}
