/* psutil's numbers: computed by hand from its formulas, with the rounding of Python. */
#include "check.h"

#include <vitals/psutil.h>
#include <vitals/sys/builder.h>

static vitals_text text(const char *string)
{
    return (vitals_text){string, strlen(string)};
}

/* ---- snapshots of one machine, one CPU and one process ---- */

enum { FIELDS = 10 };

struct moment {
    uint64_t stamp_ns;
    double start_seconds, boot_seconds;
    double user, system;
    uint64_t resident, total;
    double cpu[FIELDS]; /* user nice system idle iowait irq softirq steal guest guest_nice */
    uint64_t free_bytes, cached, buffers;
    bool no_host, no_process;
    int cpu_fields; /* how many the kernel has; 0: all */
};

static const vitals_metric HOST_CPU[FIELDS] = {
    VITALS_HOST_CPU_USER_SECONDS,    VITALS_HOST_CPU_NICE_SECONDS,
    VITALS_HOST_CPU_SYSTEM_SECONDS,  VITALS_HOST_CPU_IDLE_SECONDS,
    VITALS_HOST_CPU_IOWAIT_SECONDS,  VITALS_HOST_CPU_IRQ_SECONDS,
    VITALS_HOST_CPU_SOFTIRQ_SECONDS, VITALS_HOST_CPU_STEAL_SECONDS,
    VITALS_HOST_CPU_GUEST_SECONDS,   VITALS_HOST_CPU_GUEST_NICE_SECONDS,
};
static const vitals_metric ONE_CPU[FIELDS] = {
    VITALS_CPU_USER_SECONDS,       VITALS_CPU_NICE_SECONDS,   VITALS_CPU_SYSTEM_SECONDS,
    VITALS_CPU_IDLE_SECONDS,       VITALS_CPU_IOWAIT_SECONDS, VITALS_CPU_IRQ_SECONDS,
    VITALS_CPU_SOFTIRQ_SECONDS,    VITALS_CPU_STEAL_SECONDS,  VITALS_CPU_GUEST_SECONDS,
    VITALS_CPU_GUEST_NICE_SECONDS,
};

static void open_tables(vitals_builder *builder, const struct moment *at)
{
    vitals_metric host[FIELDS + 5] = {VITALS_HOST_BOOT_TIME_SECONDS, VITALS_HOST_MEMORY_TOTAL_BYTES,
                                      VITALS_HOST_MEMORY_FREE_BYTES,
                                      VITALS_HOST_MEMORY_CACHED_BYTES,
                                      VITALS_HOST_MEMORY_BUFFERS_BYTES};
    static const vitals_metric process[] = {
        VITALS_PROCESS_PID, VITALS_PROCESS_START_SECONDS, VITALS_PROCESS_CPU_USER_SECONDS,
        VITALS_PROCESS_CPU_SYSTEM_SECONDS, VITALS_PROCESS_RESIDENT_BYTES};
    memcpy(host + 5, HOST_CPU, sizeof HOST_CPU);
    if (!at->no_host)
        vitals_builder_table(builder, VITALS_TABLE_HOST, host, CHECK_COUNT(host));
    vitals_builder_table(builder, VITALS_TABLE_CPU, ONE_CPU, FIELDS);
    vitals_builder_table(builder, VITALS_TABLE_PROCESS, process, CHECK_COUNT(process));
}

static void put_cpu(vitals_builder *builder, const vitals_metric *metrics, const struct moment *at)
{
    for (int i = 0; i < FIELDS; i++) {
        if (at->cpu_fields == 0 || i < at->cpu_fields)
            vitals_builder_f64(builder, metrics[i], at->cpu[i], VITALS_HAVE);
        else
            vitals_builder_missing(builder, metrics[i], VITALS_UNSUPPORTED);
    }
}

static void put_process(vitals_builder *builder, const struct moment *at)
{
    vitals_builder_row(builder, VITALS_TABLE_PROCESS, 7, 0, text("x"), at->stamp_ns);
    vitals_builder_u64(builder, VITALS_PROCESS_PID, 70, VITALS_HAVE);
    vitals_builder_f64(builder, VITALS_PROCESS_START_SECONDS, at->start_seconds, VITALS_HAVE);
    vitals_builder_f64(builder, VITALS_PROCESS_CPU_USER_SECONDS, at->user, VITALS_HAVE);
    vitals_builder_f64(builder, VITALS_PROCESS_CPU_SYSTEM_SECONDS, at->system, VITALS_HAVE);
    vitals_builder_u64(builder, VITALS_PROCESS_RESIDENT_BYTES, at->resident, VITALS_HAVE);
}

static vitals_snapshot *snapshot_of(struct moment at)
{
    vitals_builder *builder = NULL;
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    vitals_builder_begin(builder);
    vitals_builder_origin(builder, text("host"), text("boot"), 1);
    vitals_builder_stream(builder, 9);
    open_tables(builder, &at);
    vitals_builder_row(builder, VITALS_TABLE_HOST, 1, 0, text("host"), at.stamp_ns);
    vitals_builder_f64(builder, VITALS_HOST_BOOT_TIME_SECONDS, at.boot_seconds, VITALS_HAVE);
    vitals_builder_u64(builder, VITALS_HOST_MEMORY_TOTAL_BYTES, at.total, VITALS_HAVE);
    vitals_builder_u64(builder, VITALS_HOST_MEMORY_FREE_BYTES, at.free_bytes, VITALS_HAVE);
    vitals_builder_u64(builder, VITALS_HOST_MEMORY_CACHED_BYTES, at.cached, VITALS_HAVE);
    vitals_builder_u64(builder, VITALS_HOST_MEMORY_BUFFERS_BYTES, at.buffers, VITALS_HAVE);
    put_cpu(builder, HOST_CPU, &at);
    vitals_builder_row(builder, VITALS_TABLE_CPU, 1, 0, text("cpu0"), at.stamp_ns);
    put_cpu(builder, ONE_CPU, &at);
    if (!at.no_process)
        put_process(builder, &at);
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
    vitals_builder_free(builder);
    return snapshot;
}

static const vitals_row *row_of(const vitals_snapshot *snapshot, vitals_table entity)
{
    return vitals_snapshot_next(snapshot, entity, NULL);
}

/* Exactly this number, bit for bit. */
#define CHECK_EXACT(call, value, expected)                  \
    do {                                                    \
        (value) = 77;                                       \
        CHECK_INT((call), VITALS_HAVE);                     \
        CHECK_BYTES(&(value), 8, &(double){(expected)}, 8); \
    } while (0)

/* ---- create_time ---- */

static void a_start_is_on_a_whole_second_of_boot(void)
{
    double value;
    vitals_snapshot *snapshot = snapshot_of(
        (struct moment){.start_seconds = 123.45, .boot_seconds = 1700000000.64});
    const vitals_row *process = row_of(snapshot, VITALS_TABLE_PROCESS);
    CHECK_EXACT(vitals_psutil_create_time(process, &value), value, 123.45 + 1700000000);
    value = 77;
    CHECK_INT(vitals_psutil_create_time(row_of(snapshot, VITALS_TABLE_HOST), &value),
              VITALS_WRONG_METRIC);
    vitals_snapshot_unref(snapshot);
    snapshot = snapshot_of((struct moment){.start_seconds = 123.45, .no_host = true});
    process = row_of(snapshot, VITALS_TABLE_PROCESS);
    CHECK_INT(vitals_psutil_create_time(process, &value), VITALS_NOT_REQUESTED);
    CHECK_INT(vitals_psutil_memory_percent(process, &value), VITALS_NOT_REQUESTED);
    CHECK_NEAR(value, 77, 0); // untouched
    vitals_snapshot_unref(snapshot);
}

/* ---- cpu_percent ---- */

#define SECOND UINT64_C(1000000000)

/* What the process's percent is where it used so much in a second. */
static double percent_of(double user, double system, uint64_t window_ns)
{
    double value = 77;
    vitals_snapshot *before = snapshot_of((struct moment){.stamp_ns = SECOND});
    vitals_snapshot *now = snapshot_of(
        (struct moment){.stamp_ns = SECOND + window_ns, .user = user, .system = system});
    CHECK_INT(vitals_psutil_cpu_percent(row_of(now, VITALS_TABLE_PROCESS), before, &value),
              VITALS_HAVE);
    vitals_snapshot_unref(before);
    vitals_snapshot_unref(now);
    return value;
}

/* Expected: what Python prints for round(x, 1). */
static void percent_is_rounded_as_python_rounds(void)
{
    static const struct {
        double user, expected;
    } rows[] = {
        {0, 0.0},
        {1, 100.0},
        {2.5, 250.0},
        {0.3749, 37.5},
        {0.0005, 0.1},
        {0.0004999, 0.0},
        {0.00349999999, 0.3},
        {0.12345, 12.3},
        {0.00150390625, 0.2},
        {0.99949, 99.9},
        {0.99951, 100.0},
        {16, 1600.0},
        // 100 * 0.0025 and 100 * 0.0075 are 0.25 and 0.75 in binary: ties, to the even tenth
        {0.0025, 0.2},
        {0.0075, 0.8},
        // 100 * 0.0035 is 0.35000000000000003, 100 * 0.0045 is 0.44999999999999996: none
        {0.0035, 0.4},
        {0.0045, 0.4},
    };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        char name[32];
        snprintf(name, sizeof name, "%.17g", rows[i].user);
        CHECK_CASE(name);
        double value = percent_of(rows[i].user, 0, SECOND);
        CHECK_BYTES(&value, 8, &rows[i].expected, 8);
    }
    CHECK_CASE(NULL);
    CHECK_NEAR(percent_of(0.25, 0.5, SECOND / 2), 150, 0);
}

static void the_first_percent_is_0(void)
{
    double value;
    struct moment first = {.stamp_ns = SECOND, .user = 5};
    vitals_snapshot *now = snapshot_of(first);
    first.no_process = true;
    vitals_snapshot *without = snapshot_of(first);
    const vitals_row *process = row_of(now, VITALS_TABLE_PROCESS);
    CHECK_EXACT(vitals_psutil_cpu_percent(process, NULL, &value), value, 0.0);
    CHECK_EXACT(vitals_psutil_cpu_percent(process, without, &value), value, 0.0);
    CHECK_EXACT(vitals_psutil_cpu_percent(process, now, &value), value, 0.0); // no time between
    CHECK_EXACT(vitals_psutil_system_cpu_percent(row_of(now, VITALS_TABLE_HOST), NULL, &value),
                value, 0.0);
    CHECK_INT(vitals_psutil_cpu_percent(row_of(now, VITALS_TABLE_CPU), NULL, &value),
              VITALS_WRONG_METRIC);
    vitals_snapshot_unref(now);
    vitals_snapshot_unref(without);
}

/* ---- memory_percent ---- */

static void memory_percent_is_not_rounded(void)
{
    double value;
    vitals_snapshot *snapshot = snapshot_of((struct moment){.resident = 1, .total = 3});
    CHECK_EXACT(vitals_psutil_memory_percent(row_of(snapshot, VITALS_TABLE_PROCESS), &value), value,
                1.0 / 3.0 * 100);
    vitals_snapshot_unref(snapshot);
    snapshot = snapshot_of((struct moment){.resident = 1, .total = 0});
    CHECK_INT(vitals_psutil_memory_percent(row_of(snapshot, VITALS_TABLE_PROCESS), &value),
              VITALS_FAILED);
    vitals_snapshot_unref(snapshot);
}

/* ---- cpu_percent of the machine ---- */

static const struct {
    const char *name;
    double before[FIELDS], now[FIELDS];
    int fields;
    double expected;
} system_rows[] = {
    {"idle and busy", {0}, {1, 0, 1, 6}, 0, 25.0},
    {"waiting is not busy", {0}, {1, 0, 0, 1, 2}, 0, 25.0},
    {"all kinds", {0}, {1, 1, 1, 10, 2, 1, 1, 1}, 0, 33.3},
    {"guests are in user and nice already", {0}, {3, 1, 0, 4, 0, 0, 0, 0, 2, 1}, 0, 50.0},
    {"nothing moved", {5, 5, 5, 5}, {5, 5, 5, 5}, 0, 0.0},
    {"waiting that stepped back did not grow", {0, 0, 0, 0, 9}, {1, 0, 0, 3, 4}, 0, 25.0},
    {"so did stolen time", {0, 0, 0, 0, 0, 0, 0, 9}, {1, 0, 0, 1, 0, 0, 0, 0}, 0, 50.0},
    {"everything stepped back", {9, 9, 9, 9}, {1, 1, 1, 1}, 0, 0.0},
    {"a kernel of four fields", {0}, {1, 0, 1, 6}, 4, 25.0},
};

static void the_machines_percent_clamps_each_field(void)
{
    for (size_t i = 0; i < CHECK_COUNT(system_rows); i++) {
        CHECK_CASE(system_rows[i].name);
        struct moment a = {.stamp_ns = SECOND, .cpu_fields = system_rows[i].fields};
        struct moment b = {.stamp_ns = 2 * SECOND, .cpu_fields = system_rows[i].fields};
        memcpy(a.cpu, system_rows[i].before, sizeof a.cpu);
        memcpy(b.cpu, system_rows[i].now, sizeof b.cpu);
        vitals_snapshot *before = snapshot_of(a), *now = snapshot_of(b);
        double value;
        CHECK_EXACT(
            vitals_psutil_system_cpu_percent(row_of(now, VITALS_TABLE_HOST), before, &value), value,
            system_rows[i].expected);
        CHECK_EXACT(vitals_psutil_system_cpu_percent(row_of(now, VITALS_TABLE_CPU), before, &value),
                    value, system_rows[i].expected);
        vitals_snapshot_unref(before);
        vitals_snapshot_unref(now);
    }
}

static void what_a_machine_does_not_tell_has_no_percent(void)
{
    double value = 77;
    vitals_snapshot *now = snapshot_of((struct moment){.stamp_ns = SECOND, .cpu_fields = 3});
    CHECK_INT(vitals_psutil_system_cpu_percent(row_of(now, VITALS_TABLE_HOST), NULL, &value),
              VITALS_UNSUPPORTED); // no idle
    CHECK_INT(vitals_psutil_system_cpu_percent(row_of(now, VITALS_TABLE_PROCESS), NULL, &value),
              VITALS_WRONG_METRIC);
    CHECK_NEAR(value, 77, 0);
    vitals_snapshot_unref(now);
}

/* ---- virtual_memory().used ---- */

static void used_memory_is_by_the_older_formula(void)
{
    static const struct {
        uint64_t total, free, cached, buffers, expected;
    } rows[] = {
        {100, 20, 30, 10, 40},
        {100, 20, 70, 10, 0},
        {100, 20, 71, 10, 80}, // below zero: total less free
        {100, 120, 1, 1, 0},   // as in some containers
        {100, UINT64_C(1) << 53, UINT64_C(1) << 53, UINT64_C(1) << 53, 0},
    };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        uint64_t value = 77;
        vitals_snapshot *snapshot = snapshot_of((struct moment){.total = rows[i].total,
                                                                .free_bytes = rows[i].free,
                                                                .cached = rows[i].cached,
                                                                .buffers = rows[i].buffers});
        CHECK_INT(vitals_psutil_memory_used(row_of(snapshot, VITALS_TABLE_HOST), &value),
                  VITALS_HAVE);
        CHECK_UINT(value, rows[i].expected);
        vitals_snapshot_unref(snapshot);
    }
    uint64_t value = 77;
    vitals_snapshot *snapshot = snapshot_of((struct moment){0});
    CHECK_INT(vitals_psutil_memory_used(row_of(snapshot, VITALS_TABLE_CPU), &value),
              VITALS_WRONG_METRIC);
    CHECK_UINT(value, 77);
    vitals_snapshot_unref(snapshot);
}

static const check_test tests[] = {
    {"a start is on a whole second of boot", a_start_is_on_a_whole_second_of_boot},
    {"percent is rounded as Python rounds", percent_is_rounded_as_python_rounds},
    {"the first percent is 0", the_first_percent_is_0},
    {"memory percent is not rounded", memory_percent_is_not_rounded},
    {"the machine's percent clamps each field", the_machines_percent_clamps_each_field},
    {"what a machine does not tell has no percent", what_a_machine_does_not_tell_has_no_percent},
    {"used memory is by the older formula", used_memory_is_by_the_older_formula},
};
CHECK_TESTS(tests)
