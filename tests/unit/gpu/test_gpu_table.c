/* The table of devices: keys, labels, merging, staleness. */
#include "gpu_table_world.h"

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
    CHECK_UINT(rows(VITALS_TABLE_GPU), CHECK_COUNT(labels));
    const vitals_row *r = NULL;
    for (size_t i = 0; i < CHECK_COUNT(labels); i++) {
        r = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, r);
        CHECK_STR(vitals_row_label(r), labels[i]);
    }
    CHECK_UINT(vitals_row_parent(row(VITALS_TABLE_GPU, "0:3")),
               vitals_row_key(row(VITALS_TABLE_GPU, "0")));
    CHECK_UINT(vitals_row_parent(row(VITALS_TABLE_GPU, "1")), 0);
    CHECK_NEAR(number(row(VITALS_TABLE_GPU, "0:3"), VITALS_GPU_INDEX), 3, 0);
    vitals_text name;
    CHECK_INT(vitals_row_text(row(VITALS_TABLE_GPU, "2"), VITALS_GPU_NAME, &name), VITALS_HAVE);
    CHECK_BYTES(name.bytes, name.size, "Board C", 7);
    CHECK_INT(vitals_row_availability(row(VITALS_TABLE_GPU, "2"), VITALS_GPU_CUDA_VERSION),
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
    CHECK(vitals_row_text(row(VITALS_TABLE_GPU, "0"), VITALS_GPU_UUID, &uuid) > 0);
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
    uint64_t key = vitals_row_key(row(VITALS_TABLE_GPU, "0"));

    take_scan(0, &none);
    write_rows(NULL);
    CHECK_UINT(rows(VITALS_TABLE_GPU), 0);

    add(&back, 2, "C");
    add(&back, 0, "A");
    take_scan(0, &back);
    write_rows(NULL);
    CHECK_UINT(rows(VITALS_TABLE_GPU), 2);
    const vitals_row *again = vitals_snapshot_find(snapshot, VITALS_TABLE_GPU, key);
    CHECK_NOT_NULL(again);
    CHECK_STR(vitals_row_label(again), "1");
    CHECK_INT(vitals_row_availability(again, VITALS_GPU_POWER_WATTS), VITALS_NOT_YET);
    CHECK(vitals_row_key(row(VITALS_TABLE_GPU, "0")) > key + 1);
    end();
}

/* ---- readings ---- */

static uint64_t key_of(const char *label)
{
    return vitals_row_key(row(VITALS_TABLE_GPU, label));
}

static void two_devices_of_one_uuid_are_two(void)
{
    struct gpu_scan scan = {0}, second = {0};
    begin();
    add(&scan, 3, "A");
    add(&scan, 5, "A");
    take_scan(0, &scan);
    write_rows(NULL);
    CHECK_UINT(rows(VITALS_TABLE_GPU), 2);
    uint64_t first = key_of("0"), other = key_of("1");
    CHECK(first != other);
    take_scan(0, &scan);
    write_rows(NULL);
    CHECK_UINT(key_of("0"), first);
    CHECK_UINT(key_of("1"), other);
    add(&second, 5, "A"); /* the first is taken out: the other keeps its key */
    take_scan(0, &second);
    write_rows(NULL);
    CHECK_UINT(rows(VITALS_TABLE_GPU), 1);
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
    in_row(VITALS_TABLE_GPU, "");
    batch_set_f64(&sample.batch, VITALS_GPU_POWER_WATTS, 100);
    batch_set_f64(&sample.batch, VITALS_GPU_POWER_LIMIT_WATTS, 700);
    batch_set_string(&sample.batch, VITALS_GPU_COMPUTE_MODE, "default");
    in_row(VITALS_TABLE_GPU_CLOCK, "sm");
    batch_set_f64(&sample.batch, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, 1e9);
    batch_set_f64(&sample.batch, VITALS_GPU_CLOCK_FREQUENCY_MAX_HERTZ, 2e9);
    CHECK_INT(take_sample(), 0);

    begin_sample(20, ASKED(VITALS_GPU_POWER_WATTS, VITALS_GPU_CLOCK_FREQUENCY_HERTZ));
    in_row(VITALS_TABLE_GPU, "");
    batch_set_f64(&sample.batch, VITALS_GPU_POWER_WATTS, 150);
    in_row(VITALS_TABLE_GPU_CLOCK, "sm");
    batch_set_f64(&sample.batch, VITALS_GPU_CLOCK_FREQUENCY_HERTZ, 1.5e9);
    CHECK_INT(take_sample(), 0);
    write_rows(NULL);
    const vitals_row *r = row(VITALS_TABLE_GPU, "0"), *clock = row(VITALS_TABLE_GPU_CLOCK, "sm");
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
    CHECK_INT(vitals_row_availability(row(VITALS_TABLE_GPU, "0"), VITALS_GPU_POWER_WATTS),
              VITALS_NOT_YET);
    take_late();
    write_rows(NULL);
    CHECK_INT(vitals_row_availability(row(VITALS_TABLE_GPU, "0"), VITALS_GPU_POWER_WATTS),
              VITALS_TIMED_OUT);

    take_power(10, 100);
    take_users(0, (const int64_t[]){42}, 1);
    take_late();
    write_rows(NULL);
    const vitals_row *r = row(VITALS_TABLE_GPU, "0"), *user = row(VITALS_TABLE_GPU_PROCESS, "42");
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
    CHECK_INT(vitals_row_availability(row(VITALS_TABLE_GPU, "0"), VITALS_GPU_POWER_WATTS),
              VITALS_HAVE);
    end();
}

static void take_claim(uint64_t stamp_ns)
{
    begin_sample(stamp_ns, ASKED(VITALS_GPU_JOB_JOB_ID, VITALS_GPU_JOB_UID));
    batch_state(&sample.batch, VITALS_TABLE_GPU_JOB, VITALS_HAVE);
    in_row(VITALS_TABLE_GPU_JOB, "4711");
    batch_set_text(&sample.batch, VITALS_GPU_JOB_JOB_ID, span_of("4711"));
    CHECK_INT(gpu_table_claims(table, 0, 0, &sample), 0);
}

static vitals_availability jobs_when(vitals_metric late)
{
    struct metric_set asked = {0};
    metric_set_add(&asked, late);
    gpu_table_late(table, 0, 0, &asked);
    write_rows(NULL);
    return vitals_snapshot_state(snapshot, VITALS_TABLE_GPU_JOB);
}

static void what_others_claim_of_a_device_holds_whatever_its_driver_says(void)
{
    vitals_text job;
    begin();
    one_device();
    take_claim(10);
    take_late();
    write_rows(NULL);
    CHECK_INT(vitals_row_availability(row(VITALS_TABLE_GPU, "0"), VITALS_GPU_POWER_WATTS),
              VITALS_TIMED_OUT);
    take_power(20, 100);
    begin_sample(30, ASKED(VITALS_GPU_POWER_WATTS));
    sample.state = VITALS_GONE;
    CHECK_INT(take_sample(), 0);
    write_rows(NULL);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_GPU_JOB), VITALS_HAVE);
    const vitals_row *claim = row(VITALS_TABLE_GPU_JOB, "4711");
    CHECK_INT(vitals_row_text(claim, VITALS_GPU_JOB_JOB_ID, &job), VITALS_HAVE);
    CHECK_INT(vitals_row_availability(claim, VITALS_GPU_JOB_UID), VITALS_UNSUPPORTED);
    CHECK_UINT(vitals_row_stamp_ns(claim), 10);
    CHECK_INT(jobs_when(VITALS_GPU_POWER_WATTS), VITALS_HAVE);
    CHECK_INT(jobs_when(VITALS_GPU_JOB_JOB_ID), VITALS_STALE);
    CHECK_INT(vitals_row_availability(row(VITALS_TABLE_GPU_JOB, "4711"), VITALS_GPU_JOB_JOB_ID),
              VITALS_STALE);
    end();
}

static void of_a_lost_device_everything_is_gone(void)
{
    begin();
    one_device();
    begin_sample(10, ASKED(VITALS_GPU_POWER_LIMIT_WATTS, VITALS_GPU_POOL_TOTAL_BYTES));
    in_row(VITALS_TABLE_GPU, "");
    batch_set_f64(&sample.batch, VITALS_GPU_POWER_LIMIT_WATTS, 700);
    in_row(VITALS_TABLE_GPU_POOL, "bar1");
    batch_set_u64(&sample.batch, VITALS_GPU_POOL_TOTAL_BYTES, 1);
    CHECK_INT(take_sample(), 0);
    begin_sample(20, ASKED(VITALS_GPU_POWER_LIMIT_WATTS));
    sample.state = VITALS_GONE;
    CHECK_INT(take_sample(), 0);
    take_users(0, (const int64_t[]){42}, 1);
    take_state(VITALS_GONE);
    write_rows(NULL);
    const vitals_row *r = row(VITALS_TABLE_GPU, "0");
    CHECK_INT(vitals_row_availability(r, VITALS_GPU_POWER_LIMIT_WATTS), VITALS_GONE);
    CHECK_INT(vitals_row_availability(r, VITALS_GPU_COMPUTE_MODE), VITALS_GONE);
    CHECK_INT(vitals_row_availability(r, VITALS_GPU_PROCESSES), VITALS_GONE);
    CHECK_INT(vitals_row_availability(r, VITALS_GPU_NAME), VITALS_HAVE);
    CHECK_INT(
        vitals_row_availability(row(VITALS_TABLE_GPU_POOL, "bar1"), VITALS_GPU_POOL_TOTAL_BYTES),
        VITALS_GONE);
    CHECK_UINT(rows(VITALS_TABLE_GPU_PROCESS), 0);
    end();
}

static void a_table_is_listed_whole(void)
{
    begin();
    one_device();
    begin_sample(10, ASKED(VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, VITALS_GPU_SENSOR_FAN_RPM));
    in_row(VITALS_TABLE_GPU_SENSOR, "gpu");
    batch_set_f64(&sample.batch, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, 50);
    in_row(VITALS_TABLE_GPU_SENSOR, "fan0");
    batch_set_f64(&sample.batch, VITALS_GPU_SENSOR_FAN_RPM, 1200);
    CHECK_INT(take_sample(), 0);
    take_power(15, 100); /* sensors were not asked for, and stay */
    write_rows(NULL);
    uint64_t key = vitals_row_key(row(VITALS_TABLE_GPU_SENSOR, "fan0"));
    CHECK_NEAR(number(row(VITALS_TABLE_GPU_SENSOR, "gpu"), VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS),
               50, 0);
    CHECK_INT(
        vitals_row_availability(row(VITALS_TABLE_GPU_SENSOR, "gpu"), VITALS_GPU_SENSOR_FAN_RPM),
        VITALS_UNSUPPORTED);
    CHECK_INT(vitals_row_availability(row(VITALS_TABLE_GPU_SENSOR, "gpu"),
                                      VITALS_GPU_SENSOR_VOLTAGE_VOLTS),
              VITALS_NOT_YET);

    begin_sample(20, ASKED(VITALS_GPU_SENSOR_FAN_RPM));
    in_row(VITALS_TABLE_GPU_SENSOR, "fan0");
    batch_set_f64(&sample.batch, VITALS_GPU_SENSOR_FAN_RPM, 1300);
    CHECK_INT(take_sample(), 0);
    write_rows(NULL);
    CHECK_UINT(rows(VITALS_TABLE_GPU_SENSOR), 1);
    CHECK_UINT(vitals_row_key(row(VITALS_TABLE_GPU_SENSOR, "fan0")), key);
    end();
}

static void a_clock_may_begin_at_nought(void)
{
    begin();
    one_device();
    begin_sample(0, ASKED(VITALS_GPU_POWER_WATTS));
    in_row(VITALS_TABLE_GPU, "");
    batch_set_f64(&sample.batch, VITALS_GPU_POWER_WATTS, 100);
    CHECK_INT(take_sample(), 0);
    write_rows(NULL);
    CHECK_NEAR(number(row(VITALS_TABLE_GPU, "0"), VITALS_GPU_POWER_WATTS), 100, 0);
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
    CHECK_INT(
        vitals_row_u64(row(VITALS_TABLE_GPU_PROCESS, "42"), VITALS_GPU_PROCESS_PROCESS, &process),
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
    in_row(VITALS_TABLE_GPU, "");
    batch_set_string(&sample.batch, VITALS_GPU_RUNTIME_STATUS, "suspended");
    CHECK_INT(take_sample(), 0);
    write_rows(NULL);
    const vitals_row *r = row(VITALS_TABLE_GPU, "0");
    vitals_text status;
    CHECK_INT(vitals_row_text(r, VITALS_GPU_RUNTIME_STATUS, &status), VITALS_HAVE);
    CHECK_BYTES(status.bytes, status.size, "suspended", 9);
    CHECK_INT(vitals_row_availability(r, VITALS_GPU_POWER_WATTS), VITALS_SUSPENDED);
    CHECK_INT(vitals_row_availability(r, VITALS_GPU_ENERGY_JOULES), VITALS_SUSPENDED);
    end();
}

/* ---- keys of the rows of child tables ---- */

static void take_sensors(unsigned from, unsigned count)
{
    begin_sample(10, ASKED(VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS));
    in_row(VITALS_TABLE_GPU, "");
    for (unsigned i = from; i < from + count; i++) {
        char label[16];
        snprintf(label, sizeof label, "%u", i);
        in_row(VITALS_TABLE_GPU_SENSOR, label);
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
    uint64_t key = vitals_row_key(row(VITALS_TABLE_GPU_SENSOR, "1"));
    take_sensors(0, 1);
    take_sensors(0, 3);
    write_rows(NULL);
    CHECK_UINT(vitals_row_key(row(VITALS_TABLE_GPU_SENSOR, "1")), key);
    for (unsigned i = 0; i < 50; i++)
        take_sensors(10 + 7 * i, 7);
    write_rows(NULL);
    CHECK_UINT(rows(VITALS_TABLE_GPU_SENSOR), 7);
    take_sensors(0, 3);
    write_rows(NULL);
    CHECK(vitals_row_key(row(VITALS_TABLE_GPU_SENSOR, "1")) > key); /* a new key */
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
    in_row(VITALS_TABLE_GPU, "");
    batch_set_f64(&sample.batch, VITALS_GPU_POWER_WATTS, 100);
    batch_set_string(&sample.batch, VITALS_GPU_COMPUTE_MODE, "default");
    in_row(VITALS_TABLE_GPU_CLOCK, "sm");
    in_row(VITALS_TABLE_GPU_POOL, "bar1");
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
        CHECK_UINT(rows(VITALS_TABLE_GPU), 2);
        CHECK_UINT(rows(VITALS_TABLE_GPU_CLOCK), 1);
        CHECK_UINT(rows(VITALS_TABLE_GPU_PROCESS), 20);
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

/* While devices are still being listed no table says that there is nothing. */
static void no_table_is_whole_during_a_first_scan(void)
{
    static const vitals_table TABLES[] = {VITALS_TABLE_GPU,        VITALS_TABLE_GPU_PROCESS,
                                          VITALS_TABLE_GPU_JOB,    VITALS_TABLE_GPU_PEER,
                                          VITALS_TABLE_GPU_ENGINE, VITALS_TABLE_GPU_SENSOR,
                                          VITALS_TABLE_GPU_CLOCK,  VITALS_TABLE_GPU_POOL,
                                          VITALS_TABLE_GPU_LINK,   VITALS_TABLE_GPU_ERROR};
    struct os os = {.proc = -1, .sys = -1, .dev = -1};
    struct metric_set wanted = all_metrics();
    begin();
    gpu_table_scans(table, 1, true);
    CHECK_INT(gpu_table_look_around(table, &os, &wanted), 0);
    write_rows(NULL);
    for (size_t i = 0; i < CHECK_COUNT(TABLES); i++) {
        CHECK_CASE(vitals_table_name(TABLES[i]));
        CHECK_INT(vitals_snapshot_state(snapshot, TABLES[i]), VITALS_NOT_YET);
    }
    one_device();
    take_users(0, NULL, 0);
    begin_sample(10, ASKED(VITALS_GPU_JOB_JOB_ID));
    batch_state(&sample.batch, VITALS_TABLE_GPU_JOB, VITALS_HAVE);
    CHECK_INT(gpu_table_claims(table, 0, 0, &sample), 0);
    for (int scanning = 1; scanning >= 0; scanning--) {
        gpu_table_scans(table, 1, scanning != 0);
        CHECK_INT(gpu_table_look_around(table, &os, &wanted), 0);
        write_rows(NULL);
        for (size_t i = 0; i < CHECK_COUNT(TABLES); i++) {
            CHECK_CASE(vitals_table_name(TABLES[i]));
            CHECK_INT(vitals_snapshot_state(snapshot, TABLES[i]),
                      scanning ? VITALS_LOWER_BOUND : VITALS_HAVE);
        }
    }
    take_state(VITALS_DENIED);
    gpu_table_scans(table, 1, true);
    take_users(0, NULL, 0);
    take_state(VITALS_DENIED);
    write_rows(NULL);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_GPU_PROCESS), VITALS_DENIED);
    end();
}

static const check_test tests[] = {
    {"no table is whole during a first scan", no_table_is_whole_during_a_first_scan},
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
    {"what others claim of a device holds whatever its driver says",
     what_others_claim_of_a_device_holds_whatever_its_driver_says},
    {"of a lost device everything is gone", of_a_lost_device_everything_is_gone},
    {"a table is listed whole", a_table_is_listed_whole},
    {"a clock may begin at nought", a_clock_may_begin_at_nought},
    {"a stranger's pid is nobody of ours", a_stranger_s_pid_is_nobody_of_ours},
    {"of a sleeping device what is known stands", of_a_sleeping_device_what_is_known_stands},
    {"rows that are gone are forgotten", rows_that_are_gone_are_forgotten},
    {"no allocation that fails does harm", no_allocation_that_fails_does_harm},
    {"a steady tick allocates nothing", a_steady_tick_allocates_nothing},
};
CHECK_TESTS(tests)
