/* The table of devices: keys, labels, merging, staleness, who is on which device. */
#include "check.h"

#include "core/memory.h"
#include "gpu/table.h"
#include <vitals/error.h>

/* ---- a table of processes that says what the test wants ---- */

static struct {
    int64_t pid;
    uint64_t key;
} living[8];

static uint64_t find_living(const void *data, int64_t pid, uint64_t start_ticks)
{
    (void)data, (void)start_ticks;
    for (size_t i = 0; i < CHECK_COUNT(living); i++) {
        if (living[i].pid == pid)
            return living[i].key;
    }
    return 0;
}

/* ---- what the tests write, and what they read back ---- */

static struct gpu_table *table;
static vitals_builder *builder;
static vitals_snapshot *snapshot;
static struct gpu_sample sample;

static struct metric_set all_metrics(void)
{
    struct metric_set set = {0};
    for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;)
        metric_set_add(&set, m);
    return set;
}

static void begin(void)
{
    vitals_error error;
    memset(living, 0, sizeof living);
    table = gpu_table_new();
    CHECK_NOT_NULL(table);
    CHECK_OK(vitals_builder_new(&builder, &error), error);
}

static void end(void)
{
    vitals_snapshot_unref(snapshot);
    snapshot = NULL;
    vitals_builder_free(builder);
    gpu_table_free(table);
    facts_done(&sample.facts);
}

static void write_rows(gpu_find_process *find)
{
    struct metric_set wanted = all_metrics();
    vitals_error error;
    vitals_snapshot_unref(snapshot);
    snapshot = NULL;
    vitals_builder_begin(builder);
    gpu_table_write(table, builder, &wanted, find, NULL, 1);
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
}

static const vitals_row *row(vitals_entity entity, const char *label)
{
    for (const vitals_row *r = NULL; (r = vitals_snapshot_next(snapshot, entity, r));) {
        if (strcmp(vitals_row_label(r), label) == 0)
            return r;
    }
    CHECK_FAIL("no row %s", label);
}

static size_t rows(vitals_entity entity)
{
    return vitals_snapshot_count(snapshot, entity);
}

/* ---- scans and readings ---- */

static struct gpu_identity *add(struct gpu_scan *scan, uint32_t slot, const char *uuid)
{
    struct gpu_identity *who = &scan->devices[scan->count];
    *who = (struct gpu_identity){.slot = slot,
                                 .index = scan->count,
                                 .parent_slot = -1,
                                 .name_state = VITALS_HAVE,
                                 .pci_state = VITALS_HAVE,
                                 .driver_state = VITALS_HAVE,
                                 .cuda_state = VITALS_UNSUPPORTED};
    snprintf(who->uuid, sizeof who->uuid, "%s", uuid);
    snprintf(who->name, sizeof who->name, "Board %s", uuid);
    snprintf(who->vendor, sizeof who->vendor, "acme");
    scan->state = VITALS_HAVE;
    scan->count++;
    return who;
}

static void add_part(struct gpu_scan *scan, uint32_t slot, uint32_t parent, uint32_t index,
                     const char *uuid)
{
    struct gpu_identity *who = add(scan, slot, uuid);
    who->parent_slot = (int32_t)parent;
    who->index = index;
}

static void take_scan(unsigned backend, const struct gpu_scan *scan)
{
    CHECK_INT(gpu_table_scan(table, backend, scan), 0);
}

static void one_device(void)
{
    struct gpu_scan scan = {0};
    add(&scan, 0, "A");
    take_scan(0, &scan);
}

/* ---- a sample ---- */

static struct span span_of(const char *text)
{
    return (struct span){text, strlen(text)};
}

static void begin_sample(uint64_t stamp_ns, const vitals_metric *metrics)
{
    struct metric_set wanted = {0};
    for (; *metrics != 0; metrics++)
        metric_set_add(&wanted, *metrics);
    facts_reset(&sample.facts, &wanted);
    sample.stamp_ns = stamp_ns;
    sample.state = VITALS_HAVE;
}
#define ASKED(...)          \
    (const vitals_metric[]) \
    {                       \
        __VA_ARGS__, 0      \
    }

static void in_row(vitals_entity entity, const char *label)
{
    facts_row(&sample.facts, entity, 0, span_of(label));
}

static int take_sample(void)
{
    return gpu_table_sample(table, 0, 0, &sample);
}

static void take_power(uint64_t stamp_ns, double watts)
{
    begin_sample(stamp_ns, ASKED(VITALS_GPU_POWER_WATTS));
    in_row(VITALS_GPU, "");
    fact_f64(&sample.facts, VITALS_GPU_POWER_WATTS, watts);
    CHECK_INT(take_sample(), 0);
}

static void set_of(struct gpu_process *process, vitals_metric metric, struct value value)
{
    process->at[metric_number(metric)] = value;
}

static const struct metric_set *asked_of_users(void)
{
    static struct metric_set asked;
    metric_set_add(&asked, VITALS_GPU_PROCESS_MEMORY_USED_BYTES);
    metric_set_add(&asked, VITALS_GPU_PROCESS_BUSY_SECONDS);
    metric_set_add(&asked, VITALS_GPU_PROCESSES);
    return &asked;
}

static void take_late(void)
{
    static struct metric_set asked;
    asked = *asked_of_users();
    metric_set_add(&asked, VITALS_GPU_POWER_WATTS);
    gpu_table_late(table, 0, 0, &asked);
}

static void take_users(uint32_t slot, const int64_t *pids, uint32_t count)
{
    static struct gpu_processes list;
    list = (struct gpu_processes){.stamp_ns = 7, .state = VITALS_HAVE, .count = count};
    for (uint32_t i = 0; i < count; i++) {
        list.items[i] = (struct gpu_process){.pid = pids[i], .uses = GPU_COMPUTE, .is_ours = 1};
        set_of(&list.items[i], VITALS_GPU_PROCESS_MEMORY_USED_BYTES, value_u64(1000));
        set_of(&list.items[i], VITALS_GPU_PROCESS_BUSY_SECONDS, value_f64(5));
    }
    CHECK_INT(gpu_table_processes(table, 0, slot, asked_of_users(), &list), 0);
}

static void take_state(signed char state)
{
    static struct gpu_processes list;
    list = (struct gpu_processes){.stamp_ns = 8, .state = state};
    CHECK_INT(gpu_table_processes(table, 0, 0, asked_of_users(), &list), 0);
}

static double number(const vitals_row *r, vitals_metric metric)
{
    double out = -1;
    if (vitals_row_number(r, metric, &out) <= 0)
        CHECK_FAIL("%s is %s", vitals_metric_name(metric),
                   vitals_availability_name(vitals_row_availability(r, metric)));
    return out;
}

/* ---- devices ---- */

static void devices_are_counted_and_partitions_stand_under_theirs(void)
{
    begin();
    struct gpu_scan scan = {0};
    add(&scan, 0, "A");
    add_part(&scan, 1, 0, 0, "A/0");
    add_part(&scan, 2, 0, 3, "A/3");
    add(&scan, 3, "B");
    take_scan(0, &scan);
    struct gpu_scan other = {0};
    add(&other, 0, "C");
    take_scan(1, &other);
    write_rows(NULL);
    static const char *const labels[] = {"0", "0:0", "0:3", "1", "2"};
    CHECK_UINT(rows(VITALS_GPU), CHECK_COUNT(labels));
    const vitals_row *r = NULL;
    for (size_t i = 0; i < CHECK_COUNT(labels); i++) {
        r = vitals_snapshot_next(snapshot, VITALS_GPU, r);
        CHECK_STR(vitals_row_label(r), labels[i]);
    }
    CHECK_UINT(vitals_row_parent(row(VITALS_GPU, "0:3")), vitals_row_key(row(VITALS_GPU, "0")));
    CHECK_UINT(vitals_row_parent(row(VITALS_GPU, "1")), 0);
    CHECK_NEAR(number(row(VITALS_GPU, "0:3"), VITALS_GPU_INDEX), 3, 0);
    vitals_text name;
    CHECK_INT(vitals_row_text(row(VITALS_GPU, "2"), VITALS_GPU_NAME, &name), VITALS_HAVE);
    CHECK_BYTES(name.bytes, name.size, "Board C", 7);
    CHECK_INT(vitals_row_availability(row(VITALS_GPU, "2"), VITALS_GPU_CUDA_VERSION),
              VITALS_UNSUPPORTED);
    end();
}

static void labels_follow_the_back_ends_whichever_answers_first(void)
{
    begin();
    struct gpu_scan second = {0}, first = {0};
    add(&second, 0, "late vendor's");
    take_scan(1, &second);
    add(&first, 0, "first vendor's");
    take_scan(0, &first);
    write_rows(NULL);
    vitals_text uuid;
    CHECK(vitals_row_text(row(VITALS_GPU, "0"), VITALS_GPU_UUID, &uuid) > 0);
    CHECK_BYTES(uuid.bytes, uuid.size, "first vendor's", 14);
    end();
}

static void a_device_keeps_its_key_and_another_never_gets_it(void)
{
    begin();
    struct gpu_scan both = {0}, none = {0}, back = {0};
    add(&both, 0, "A");
    add(&both, 1, "B");
    take_scan(0, &both);
    take_power(10, 100);
    write_rows(NULL);
    uint64_t key = vitals_row_key(row(VITALS_GPU, "0"));

    take_scan(0, &none);
    write_rows(NULL);
    CHECK_UINT(rows(VITALS_GPU), 0);

    add(&back, 2, "C");
    add(&back, 0, "A");
    take_scan(0, &back);
    write_rows(NULL);
    CHECK_UINT(rows(VITALS_GPU), 2);
    const vitals_row *again = vitals_snapshot_find(snapshot, VITALS_GPU, key);
    CHECK_NOT_NULL(again);
    CHECK_STR(vitals_row_label(again), "1");
    CHECK_INT(vitals_row_availability(again, VITALS_GPU_POWER_WATTS), VITALS_NOT_YET);
    CHECK(vitals_row_key(row(VITALS_GPU, "0")) > key + 1);
    end();
}

/* ---- readings ---- */

static uint64_t key_of(const char *label)
{
    return vitals_row_key(row(VITALS_GPU, label));
}

static void two_devices_of_one_uuid_are_two(void)
{
    struct gpu_scan scan = {0}, second = {0};
    begin();
    add(&scan, 3, "A");
    add(&scan, 5, "A");
    take_scan(0, &scan);
    write_rows(NULL);
    CHECK_UINT(rows(VITALS_GPU), 2);
    uint64_t first = key_of("0"), other = key_of("1");
    CHECK(first != other);
    take_scan(0, &scan);
    write_rows(NULL);
    CHECK_UINT(key_of("0"), first);
    CHECK_UINT(key_of("1"), other);
    add(&second, 5, "A"); /* the first is taken out: who is left is who it was */
    take_scan(0, &second);
    write_rows(NULL);
    CHECK_UINT(rows(VITALS_GPU), 1);
    CHECK_UINT(key_of("0"), other);
    take_scan(0, &scan);
    write_rows(NULL);
    CHECK_UINT(key_of("0"), first);
    CHECK_UINT(key_of("1"), other);
    second.devices[0].slot = 9; /* a device that comes back elsewhere is itself */
    take_scan(0, &second);
    write_rows(NULL);
    CHECK_UINT(key_of("0"), first);
    end();
}

static void what_a_sample_leaves_out_keeps_its_value(void)
{
    begin();
    one_device();
    begin_sample(10, ASKED(VITALS_GPU_POWER_WATTS, VITALS_GPU_POWER_LIMIT_WATTS,
                           VITALS_GPU_COMPUTE_MODE, VITALS_GPU_CLOCK_FREQUENCY_HERTZ,
                           VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ));
    in_row(VITALS_GPU, "");
    fact_f64(&sample.facts, VITALS_GPU_POWER_WATTS, 100);
    fact_f64(&sample.facts, VITALS_GPU_POWER_LIMIT_WATTS, 700);
    fact_string(&sample.facts, VITALS_GPU_COMPUTE_MODE, "default");
    in_row(VITALS_GPU_CLOCK, "sm");
    fact_f64(&sample.facts, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, 1e9);
    fact_f64(&sample.facts, VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, 2e9);
    CHECK_INT(take_sample(), 0);

    begin_sample(20, ASKED(VITALS_GPU_POWER_WATTS, VITALS_GPU_CLOCK_FREQUENCY_HERTZ));
    in_row(VITALS_GPU, "");
    fact_f64(&sample.facts, VITALS_GPU_POWER_WATTS, 150);
    in_row(VITALS_GPU_CLOCK, "sm");
    fact_f64(&sample.facts, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, 1.5e9);
    CHECK_INT(take_sample(), 0);
    write_rows(NULL);
    const vitals_row *r = row(VITALS_GPU, "0"), *clock = row(VITALS_GPU_CLOCK, "sm");
    CHECK_NEAR(number(r, VITALS_GPU_POWER_WATTS), 150, 0);
    CHECK_NEAR(number(r, VITALS_GPU_POWER_LIMIT_WATTS), 700, 0);
    CHECK_UINT(vitals_row_stamp_ns(r), 20);
    CHECK_NEAR(number(clock, VITALS_GPU_CLOCK_FREQUENCY_HERTZ), 1.5e9, 0);
    CHECK_NEAR(number(clock, VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ), 2e9, 0);
    CHECK_UINT(vitals_row_parent(clock), vitals_row_key(r));
    vitals_text mode;
    CHECK_INT(vitals_row_text(r, VITALS_GPU_COMPUTE_MODE, &mode), VITALS_HAVE);
    CHECK_BYTES(mode.bytes, mode.size, "default", 7);
    end();
}

static void what_is_late_is_stale_and_what_never_came_timed_out(void)
{
    begin();
    one_device();
    write_rows(NULL);
    CHECK_INT(vitals_row_availability(row(VITALS_GPU, "0"), VITALS_GPU_POWER_WATTS),
              VITALS_NOT_YET);
    take_late();
    write_rows(NULL);
    CHECK_INT(vitals_row_availability(row(VITALS_GPU, "0"), VITALS_GPU_POWER_WATTS),
              VITALS_TIMED_OUT);

    take_power(10, 100);
    take_users(0, (const int64_t[]){42}, 1);
    take_late();
    write_rows(NULL);
    const vitals_row *r = row(VITALS_GPU, "0"), *user = row(VITALS_GPU_PROCESS, "42");
    double watts;
    CHECK_INT(vitals_row_f64(r, VITALS_GPU_POWER_WATTS, &watts), VITALS_STALE);
    CHECK_NEAR(watts, 100, 0);
    CHECK_UINT(vitals_row_stamp_ns(r), 10);
    CHECK_INT(vitals_row_availability(r, VITALS_GPU_PROCESSES), VITALS_STALE);
    CHECK_INT(vitals_row_availability(r, VITALS_GPU_UUID), VITALS_HAVE);
    CHECK_INT(vitals_row_availability(user, VITALS_GPU_PROCESS_MEMORY_USED_BYTES), VITALS_STALE);
    CHECK_UINT(vitals_row_stamp_ns(user), 7);

    take_power(30, 120);
    write_rows(NULL);
    CHECK_INT(vitals_row_availability(row(VITALS_GPU, "0"), VITALS_GPU_POWER_WATTS), VITALS_HAVE);
    end();
}

static void of_a_lost_device_everything_is_gone(void)
{
    begin();
    one_device();
    begin_sample(10, ASKED(VITALS_GPU_POWER_LIMIT_WATTS, VITALS_GPU_POOL_TOTAL_BYTES));
    in_row(VITALS_GPU, "");
    fact_f64(&sample.facts, VITALS_GPU_POWER_LIMIT_WATTS, 700);
    in_row(VITALS_GPU_POOL, "bar1");
    fact_u64(&sample.facts, VITALS_GPU_POOL_TOTAL_BYTES, 1);
    CHECK_INT(take_sample(), 0);
    begin_sample(20, ASKED(VITALS_GPU_POWER_LIMIT_WATTS));
    sample.state = VITALS_GONE;
    CHECK_INT(take_sample(), 0);
    take_users(0, (const int64_t[]){42}, 1);
    take_state(VITALS_GONE);
    write_rows(NULL);
    const vitals_row *r = row(VITALS_GPU, "0");
    CHECK_INT(vitals_row_availability(r, VITALS_GPU_POWER_LIMIT_WATTS), VITALS_GONE);
    CHECK_INT(vitals_row_availability(r, VITALS_GPU_COMPUTE_MODE), VITALS_GONE);
    CHECK_INT(vitals_row_availability(r, VITALS_GPU_PROCESSES), VITALS_GONE);
    CHECK_INT(vitals_row_availability(r, VITALS_GPU_NAME), VITALS_HAVE);
    CHECK_INT(vitals_row_availability(row(VITALS_GPU_POOL, "bar1"), VITALS_GPU_POOL_TOTAL_BYTES),
              VITALS_GONE);
    CHECK_UINT(rows(VITALS_GPU_PROCESS), 0);
    end();
}

static void a_table_is_listed_whole(void)
{
    begin();
    one_device();
    begin_sample(10, ASKED(VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, VITALS_GPU_SENSOR_FAN_RPM));
    in_row(VITALS_GPU_SENSOR, "gpu");
    fact_f64(&sample.facts, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, 50);
    in_row(VITALS_GPU_SENSOR, "fan0");
    fact_f64(&sample.facts, VITALS_GPU_SENSOR_FAN_RPM, 1200);
    CHECK_INT(take_sample(), 0);
    take_power(15, 100); /* sensors were not asked for, and stay */
    write_rows(NULL);
    uint64_t key = vitals_row_key(row(VITALS_GPU_SENSOR, "fan0"));
    CHECK_NEAR(number(row(VITALS_GPU_SENSOR, "gpu"), VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS), 50, 0);
    CHECK_INT(vitals_row_availability(row(VITALS_GPU_SENSOR, "gpu"), VITALS_GPU_SENSOR_FAN_RPM),
              VITALS_UNSUPPORTED);
    CHECK_INT(
        vitals_row_availability(row(VITALS_GPU_SENSOR, "gpu"), VITALS_GPU_SENSOR_VOLTAGE_VOLTS),
        VITALS_NOT_YET);

    begin_sample(20, ASKED(VITALS_GPU_SENSOR_FAN_RPM));
    in_row(VITALS_GPU_SENSOR, "fan0");
    fact_f64(&sample.facts, VITALS_GPU_SENSOR_FAN_RPM, 1300);
    CHECK_INT(take_sample(), 0);
    write_rows(NULL);
    CHECK_UINT(rows(VITALS_GPU_SENSOR), 1);
    CHECK_UINT(vitals_row_key(row(VITALS_GPU_SENSOR, "fan0")), key);
    end();
}

static void a_clock_may_begin_at_nought(void)
{
    begin();
    one_device();
    begin_sample(0, ASKED(VITALS_GPU_POWER_WATTS));
    in_row(VITALS_GPU, "");
    fact_f64(&sample.facts, VITALS_GPU_POWER_WATTS, 100);
    CHECK_INT(take_sample(), 0);
    write_rows(NULL);
    CHECK_NEAR(number(row(VITALS_GPU, "0"), VITALS_GPU_POWER_WATTS), 100, 0);
    end();
}

static void a_stranger_s_pid_is_nobody_of_ours(void)
{
    begin();
    one_device();
    static struct gpu_processes list;
    list = (struct gpu_processes){.stamp_ns = 7, .state = VITALS_HAVE, .count = 1};
    list.items[0] = (struct gpu_process){.pid = 42, .uses = GPU_COMPUTE, .is_ours = VITALS_OUTSIDE};
    CHECK_INT(gpu_table_processes(table, 0, 0, asked_of_users(), &list), 0);
    living[0].pid = 42;
    living[0].key = 1001;
    write_rows(find_living);
    uint64_t process;
    CHECK_INT(vitals_row_u64(row(VITALS_GPU_PROCESS, "42"), VITALS_GPU_PROCESS_PROCESS, &process),
              VITALS_OUTSIDE);
    end();
}

static void of_a_sleeping_device_what_is_known_stands(void)
{
    begin();
    one_device();
    take_power(10, 100);
    begin_sample(20, ASKED(VITALS_GPU_POWER_WATTS, VITALS_GPU_RUNTIME_STATUS));
    sample.state = VITALS_SUSPENDED;
    in_row(VITALS_GPU, "");
    fact_string(&sample.facts, VITALS_GPU_RUNTIME_STATUS, "suspended");
    CHECK_INT(take_sample(), 0);
    write_rows(NULL);
    const vitals_row *r = row(VITALS_GPU, "0");
    vitals_text status;
    CHECK_INT(vitals_row_text(r, VITALS_GPU_RUNTIME_STATUS, &status), VITALS_HAVE);
    CHECK_BYTES(status.bytes, status.size, "suspended", 9);
    CHECK_INT(vitals_row_availability(r, VITALS_GPU_POWER_WATTS), VITALS_SUSPENDED);
    CHECK_INT(vitals_row_availability(r, VITALS_GPU_ENERGY_JOULES), VITALS_SUSPENDED);
    end();
}

/* ---- processes ---- */

static void a_process_keeps_its_row_while_it_is_listed(void)
{
    begin();
    one_device();
    take_users(0, (const int64_t[]){42, 50}, 2);
    write_rows(NULL);
    uint64_t key = vitals_row_key(row(VITALS_GPU_PROCESS, "50"));
    take_users(0, (const int64_t[]){7, 50}, 2);
    write_rows(NULL);
    CHECK_UINT(rows(VITALS_GPU_PROCESS), 2);
    CHECK_UINT(vitals_row_key(row(VITALS_GPU_PROCESS, "50")), key);
    CHECK_UINT(vitals_row_parent(row(VITALS_GPU_PROCESS, "50")),
               vitals_row_key(row(VITALS_GPU, "0")));
    take_users(0, NULL, 0);
    take_users(0, (const int64_t[]){50}, 1);
    write_rows(NULL);
    CHECK(vitals_row_key(row(VITALS_GPU_PROCESS, "50")) > key);
    end();
}

static vitals_availability process_of(const char *label, uint64_t *key)
{
    *key = 0;
    return vitals_row_u64(row(VITALS_GPU_PROCESS, label), VITALS_GPU_PROCESS_PROCESS, key);
}

static void a_process_is_joined_by_its_pid(void)
{
    begin();
    one_device();
    take_users(0, (const int64_t[]){42, 4000000}, 2);
    uint64_t key;
    write_rows(NULL);
    CHECK_INT(process_of("42", &key), VITALS_NOT_REQUESTED);

    living[0].pid = 42;
    living[0].key = 1001;
    write_rows(find_living);
    uint64_t row_key = vitals_row_key(row(VITALS_GPU_PROCESS, "42"));
    CHECK_INT(process_of("42", &key), VITALS_HAVE);
    CHECK_UINT(key, 1001);
    CHECK_INT(process_of("4000000", &key), VITALS_OUTSIDE);

    living[0].pid = 0; /* it ended, and the driver lists it still */
    write_rows(find_living);
    CHECK_INT(process_of("42", &key), VITALS_GONE);
    CHECK_UINT(vitals_row_key(row(VITALS_GPU_PROCESS, "42")), row_key);

    living[0].pid = 42; /* and another has its pid */
    living[0].key = 1002;
    write_rows(find_living);
    const vitals_row *r = row(VITALS_GPU_PROCESS, "42");
    CHECK(vitals_row_key(r) > row_key);
    CHECK_NEAR(number(r, VITALS_GPU_PROCESS_BUSY_SECONDS), 0, 0);
    end();
}

static void one_bad_answer_does_not_end_a_process(void)
{
    begin();
    one_device();
    take_users(0, (const int64_t[]){42}, 1);
    write_rows(NULL);
    uint64_t key = vitals_row_key(row(VITALS_GPU_PROCESS, "42"));
    take_state(VITALS_FAILED);
    write_rows(NULL);
    CHECK_INT(vitals_row_availability(row(VITALS_GPU_PROCESS, "42"),
                                      VITALS_GPU_PROCESS_MEMORY_USED_BYTES),
              VITALS_STALE);
    take_users(0, (const int64_t[]){42}, 1);
    write_rows(NULL);
    CHECK_UINT(vitals_row_key(row(VITALS_GPU_PROCESS, "42")), key);
    take_state(VITALS_DENIED);
    write_rows(NULL);
    CHECK_UINT(rows(VITALS_GPU_PROCESS), 0);
    CHECK_INT(vitals_row_availability(row(VITALS_GPU, "0"), VITALS_GPU_PROCESSES), VITALS_DENIED);
    end();
}

static void a_table_of_processes_says_what_it_lacks(void)
{
    static const struct {
        const char *name;
        signed char first, second; /* UNSET: no answer; LOWER_BOUND: a list that is cut */
        vitals_availability state;
    } CASES[] = {
        {"both", VITALS_HAVE, VITALS_HAVE, VITALS_HAVE},
        {"one is denied", VITALS_HAVE, VITALS_DENIED, VITALS_LOWER_BOUND},
        {"both are", VITALS_DENIED, VITALS_DENIED, VITALS_DENIED},
        {"denied is what can be mended", VITALS_SUSPENDED, VITALS_DENIED, VITALS_DENIED},
        {"one is cut", VITALS_HAVE, VITALS_LOWER_BOUND, VITALS_LOWER_BOUND},
        {"no answer", VITALS_UNSET, VITALS_UNSET, VITALS_NOT_YET},
        {"one answer", VITALS_UNSET, VITALS_HAVE, VITALS_LOWER_BOUND},
        {"no device has such", VITALS_UNSUPPORTED, VITALS_UNSUPPORTED, VITALS_UNSUPPORTED},
    };
    static struct gpu_processes list;
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        struct gpu_scan scan = {0};
        const signed char states[] = {CASES[i].first, CASES[i].second};
        CHECK_CASE(CASES[i].name);
        begin();
        add(&scan, 0, "A");
        add(&scan, 1, "B");
        take_scan(0, &scan);
        for (uint32_t slot = 0; slot < 2; slot++) {
            bool cut = states[slot] == VITALS_LOWER_BOUND;
            list = (struct gpu_processes){.state = cut ? VITALS_HAVE : states[slot], .cut = cut};
            if (states[slot] != VITALS_UNSET)
                CHECK_INT(gpu_table_processes(table, 0, slot, asked_of_users(), &list), 0);
        }
        write_rows(NULL);
        CHECK_INT(vitals_snapshot_state(snapshot, VITALS_GPU_PROCESS), CASES[i].state);
        end();
    }
}

/* What a partition's users are told of: the whole device. */
static void a_partition_without_a_list_lacks_nothing(void)
{
    static struct gpu_processes none = {.state = VITALS_UNSUPPORTED};
    struct gpu_scan scan = {0};
    begin();
    add(&scan, 0, "A");
    add_part(&scan, 1, 0, 0, "A/0");
    take_scan(0, &scan);
    take_users(0, (const int64_t[]){4}, 1);
    CHECK_INT(gpu_table_processes(table, 0, 1, asked_of_users(), &none), 0);
    write_rows(NULL);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_GPU_PROCESS), VITALS_HAVE);
    gpu_table_late(table, 0, 0, asked_of_users());
    write_rows(NULL);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_GPU_PROCESS), VITALS_STALE);
    end();
}

static void type_says_compute_and_graphics(void)
{
    static const struct {
        unsigned uses;
        const char *type;
    } cases[] = {{GPU_COMPUTE, "C"},
                 {GPU_GRAPHICS, "G"},
                 {GPU_COMPUTE | GPU_GRAPHICS, "C+G"},
                 {GPU_COMPUTE | GPU_MPS, "M+C"},
                 {GPU_COMPUTE | GPU_GRAPHICS | GPU_MPS, "M+C+G"},
                 {0, NULL}};
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        begin();
        one_device();
        static struct gpu_processes list;
        list = (struct gpu_processes){.state = VITALS_HAVE, .count = 1};
        list.items[0] = (struct gpu_process){.pid = 9, .uses = cases[i].uses, .is_ours = 1};
        CHECK_INT(gpu_table_processes(table, 0, 0, asked_of_users(), &list), 0);
        write_rows(NULL);
        vitals_text type = {"", 0};
        vitals_availability state = vitals_row_text(row(VITALS_GPU_PROCESS, "9"),
                                                    VITALS_GPU_PROCESS_TYPE, &type);
        CHECK_INT(state, cases[i].type ? VITALS_HAVE : VITALS_UNSUPPORTED);
        if (cases[i].type)
            CHECK_BYTES(type.bytes, type.size, cases[i].type, strlen(cases[i].type));
        end();
    }
}

static void a_partitioned_device_counts_its_partitions_processes(void)
{
    begin();
    struct gpu_scan scan = {0};
    add(&scan, 0, "A");
    add_part(&scan, 1, 0, 0, "A/0");
    add_part(&scan, 2, 0, 1, "A/1");
    take_scan(0, &scan);
    take_users(0, NULL, 0);
    take_users(1, (const int64_t[]){1, 2}, 2);
    write_rows(NULL);
    CHECK_INT(vitals_row_availability(row(VITALS_GPU, "0"), VITALS_GPU_PROCESSES), VITALS_NOT_YET);
    take_users(2, (const int64_t[]){3}, 1);
    write_rows(NULL);
    CHECK_NEAR(number(row(VITALS_GPU, "0"), VITALS_GPU_PROCESSES), 3, 0);
    CHECK_NEAR(number(row(VITALS_GPU, "0:0"), VITALS_GPU_PROCESSES), 2, 0);
    end();
}

static void sum_pid(void *data, int64_t pid)
{
    *(int64_t *)data += pid;
}

static void each_pid_is_visited_on_each_device(void)
{
    begin();
    struct gpu_scan scan = {0}, less = {0};
    add(&scan, 0, "A");
    add(&scan, 1, "B");
    take_scan(0, &scan);
    take_users(0, (const int64_t[]){1, 20}, 2);
    take_users(1, (const int64_t[]){300}, 1);
    int64_t sum = 0;
    gpu_table_each_pid(table, sum_pid, &sum);
    CHECK_INT(sum, 321);
    add(&less, 0, "A");
    take_scan(0, &less);
    sum = 0;
    gpu_table_each_pid(table, sum_pid, &sum);
    CHECK_INT(sum, 21);
    end();
}

/* ---- keys of the rows of child tables ---- */

static void take_sensors(unsigned from, unsigned count)
{
    begin_sample(10, ASKED(VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS));
    in_row(VITALS_GPU, "");
    for (unsigned i = from; i < from + count; i++) {
        char label[16];
        snprintf(label, sizeof label, "%u", i);
        in_row(VITALS_GPU_SENSOR, label);
    }
    CHECK_INT(take_sample(), 0);
}

/* A driver that lists other sensors each time fills no memory; one whose row is away for a while
 * finds its key again. */
static void rows_that_are_gone_are_forgotten(void)
{
    begin();
    one_device();
    take_sensors(0, 3);
    write_rows(NULL);
    uint64_t key = vitals_row_key(row(VITALS_GPU_SENSOR, "1"));
    take_sensors(0, 1);
    take_sensors(0, 3);
    write_rows(NULL);
    CHECK_UINT(vitals_row_key(row(VITALS_GPU_SENSOR, "1")), key);
    for (unsigned i = 0; i < 50; i++)
        take_sensors(10 + 7 * i, 7);
    write_rows(NULL);
    CHECK_UINT(rows(VITALS_GPU_SENSOR), 7);
    take_sensors(0, 3);
    write_rows(NULL);
    CHECK(vitals_row_key(row(VITALS_GPU_SENSOR, "1")) > key); /* nobody else has had it */
    end();
}

/* ---- memory ---- */

static int take_everything(uint32_t users)
{
    static struct gpu_processes list;
    struct gpu_scan scan = {0};
    add(&scan, 0, "A");
    add_part(&scan, 1, 0, 0, "A/0");
    begin_sample(10, ASKED(VITALS_GPU_POWER_WATTS, VITALS_GPU_COMPUTE_MODE,
                           VITALS_GPU_CLOCK_FREQUENCY_HERTZ, VITALS_GPU_POOL_TOTAL_BYTES));
    in_row(VITALS_GPU, "");
    fact_f64(&sample.facts, VITALS_GPU_POWER_WATTS, 100);
    fact_string(&sample.facts, VITALS_GPU_COMPUTE_MODE, "default");
    in_row(VITALS_GPU_CLOCK, "sm");
    in_row(VITALS_GPU_POOL, "bar1");
    list = (struct gpu_processes){.state = VITALS_HAVE, .count = users};
    for (uint32_t i = 0; i < users; i++)
        list.items[i] = (struct gpu_process){.pid = i + 1, .uses = GPU_COMPUTE, .is_ours = 1};
    int result = gpu_table_scan(table, 0, &scan);
    if (result == 0)
        result = take_sample();
    if (result == 0)
        result = gpu_table_processes(table, 0, 0, asked_of_users(), &list);
    return result;
}

static void no_allocation_that_fails_does_harm(void)
{
    for (uint64_t nth = 1;; nth++) {
        int64_t live = memory_live();
        begin();
        memory_fail_at(nth);
        int result = take_everything(20);
        memory_fail_at(0);
        CHECK(result == 0 || result == VITALS_EMEMORY);
        write_rows(NULL); /* whatever it has by now */
        CHECK_INT(take_everything(20), 0);
        write_rows(NULL);
        CHECK_UINT(rows(VITALS_GPU), 2);
        CHECK_UINT(rows(VITALS_GPU_CLOCK), 1);
        CHECK_UINT(rows(VITALS_GPU_PROCESS), 20);
        end();
        CHECK_INT(memory_live(), live);
        if (result == 0) {
            CHECK(nth > 10);
            return;
        }
    }
}

static void a_steady_tick_allocates_nothing(void)
{
    begin();
    for (int i = 0; i < 3; i++)
        CHECK_INT(take_everything(20), 0);
    uint64_t asked = memory_asked();
    CHECK_INT(take_everything(20), 0);
    CHECK_UINT(memory_asked(), asked);
    end();
}

static const check_test tests[] = {
    {"devices are counted and partitions stand under theirs",
     devices_are_counted_and_partitions_stand_under_theirs},
    {"labels follow the back ends, whichever answers first",
     labels_follow_the_back_ends_whichever_answers_first},
    {"a device keeps its key and another never gets it",
     a_device_keeps_its_key_and_another_never_gets_it},
    {"two devices of one UUID are two", two_devices_of_one_uuid_are_two},
    {"what a sample leaves out keeps its value", what_a_sample_leaves_out_keeps_its_value},
    {"what is late is stale, and what never came timed out",
     what_is_late_is_stale_and_what_never_came_timed_out},
    {"of a lost device everything is gone", of_a_lost_device_everything_is_gone},
    {"a table is listed whole", a_table_is_listed_whole},
    {"a clock may begin at nought", a_clock_may_begin_at_nought},
    {"a stranger's pid is nobody of ours", a_stranger_s_pid_is_nobody_of_ours},
    {"of a sleeping device what is known stands", of_a_sleeping_device_what_is_known_stands},
    {"a process keeps its row while it is listed", a_process_keeps_its_row_while_it_is_listed},
    {"a process is joined by its pid", a_process_is_joined_by_its_pid},
    {"one bad answer does not end a process", one_bad_answer_does_not_end_a_process},
    {"a table of processes says what it lacks", a_table_of_processes_says_what_it_lacks},
    {"a partition without a list lacks nothing", a_partition_without_a_list_lacks_nothing},
    {"type says compute and graphics", type_says_compute_and_graphics},
    {"a partitioned device counts its partitions' processes",
     a_partitioned_device_counts_its_partitions_processes},
    {"each pid is visited on each device", each_pid_is_visited_on_each_device},
    {"rows that are gone are forgotten", rows_that_are_gone_are_forgotten},
    {"no allocation that fails does harm", no_allocation_that_fails_does_harm},
    {"a steady tick allocates nothing", a_steady_tick_allocates_nothing},
};
CHECK_MAIN(tests)
