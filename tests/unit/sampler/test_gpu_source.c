/* What a sampler makes of a driver: what it asks when, and what that costs. Drivers that hang are
 * in test_gpu_source_hangs.c. */
#include "driver_world.h"

#include "sampler/source.h"

static struct fake_clock fake;

/* ---- a driver in good health ---- */

static void a_first_tick_is_full_and_asks_each_device_once(void)
{
    begin(NS_PER_SECOND, NULL);
    uint64_t begun = real_now_ns();
    vitals_snapshot *snapshot = take();
    CHECK(real_now_ns() - begun < NS_PER_SECOND); /* it does not wait once all is answered */
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_GPU), DEVICES);
    for (unsigned i = 0; i < DEVICES; i++) {
        CHECK_INT(state_of(snapshot, i), VITALS_HAVE);
        CHECK_INT(atomic_load(&driver.calls[i]), 1);
    }
    CHECK_INT(atomic_load(&driver.scans), 1);
    CHECK_UINT(source_u64(snapshot, VITALS_SOURCE_CALLS), 1 + DEVICES);
    CHECK_UINT(source_u64(snapshot, VITALS_SOURCE_TIMEOUTS), 0);
    vitals_snapshot_unref(snapshot);
    end();
}

static void every_tick_asks_each_device_once(void)
{
    fake_clock_init(&fake);
    begin(NS_PER_SECOND, &fake);
    for (int tick = 1; tick <= 50; tick++) {
        vitals_snapshot *snapshot = take();
        for (unsigned i = 0; i < DEVICES; i++) {
            CHECK_INT(state_of(snapshot, i), VITALS_HAVE);
            CHECK_INT(atomic_load(&driver.calls[i]), tick);
        }
        vitals_snapshot_unref(snapshot);
        fake_clock_advance(&fake, NS_PER_SECOND);
    }
    CHECK_INT(atomic_load(&driver.scans), 5); /* devices are listed every ten seconds */
    end();
}

static void devices_come_and_go_with_the_scans(void)
{
    fake_clock_init(&fake);
    begin(NS_PER_SECOND, &fake);
    atomic_store(&driver.devices, 1);
    vitals_snapshot *snapshot = take();
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_GPU), 1);
    vitals_snapshot_unref(snapshot);
    atomic_store(&driver.devices, 3);
    fake_clock_advance(&fake, 11 * NS_PER_SECOND);
    snapshot = take();
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_GPU), 3);
    CHECK_INT(state_of(snapshot, 2), VITALS_HAVE); /* in the very tick that found it */
    vitals_snapshot_unref(snapshot);
    atomic_store(&driver.devices, 2);
    fake_clock_advance(&fake, 11 * NS_PER_SECOND);
    snapshot = take();
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_GPU), 2);
    vitals_snapshot_unref(snapshot);
    end();
}

/* What is read but every five seconds too, whether it slept from the first or later. */
static void who_wakes_is_read_as_a_whole(void)
{
    fake_clock_init(&fake);
    begin(NS_PER_SECOND, &fake);
    for (int tick = 0; tick < 6; tick++) {
        bool asleep = tick % 2 == 0;
        atomic_store(&driver.asleep, asleep);
        vitals_snapshot *snapshot = take();
        const vitals_row *row = device_row(snapshot, 1);
        vitals_availability expected = asleep ? VITALS_SUSPENDED : VITALS_HAVE;
        CHECK_INT(vitals_row_availability(row, VITALS_GPU_MEMORY_USED_BYTES), expected);
        CHECK_INT(vitals_row_availability(row, VITALS_GPU_POWER_LIMIT_WATTS), expected);
        CHECK_INT(atomic_load(&driver.calls[1]), tick + 1);
        vitals_snapshot_unref(snapshot);
        fake_clock_advance(&fake, NS_PER_SECOND);
    }
    end();
}

/* ---- what is slow by its nature ---- */

static void a_slow_reading_delays_no_other(void)
{
    begin_with(NS_PER_SECOND, NULL, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND);
    vitals_snapshot *snapshot = take(); /* the first tick waits for it */
    double value = 0;
    CHECK_INT(
        vitals_row_f64(device_row(snapshot, 0), VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND, &value),
        VITALS_HAVE);
    CHECK_INT(atomic_load(&driver.slow_calls), DEVICES);
    vitals_snapshot_unref(snapshot);
    atomic_store(&driver.slow_ns, 3 * NS_PER_SECOND);
    int answered = 0;
    for (int tick = 0; tick < 20 && answered < 5; tick++) {
        uint64_t begun = real_now_ns();
        snapshot = take();
        CHECK(real_now_ns() - begun < 2 * NS_PER_SECOND);
        /* A busy machine may delay its thread for longer than a tick waits. */
        answered += state_of(snapshot, 1) == VITALS_HAVE;
        CHECK_INT(vitals_row_availability(device_row(snapshot, 1),
                                          VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND),
                  VITALS_HAVE); /* the one that was read first; its moment says when */
        vitals_snapshot_unref(snapshot);
    }
    CHECK_INT(answered, 5);
    CHECK_INT(atomic_load(&driver.slow_inside), 1); /* it is still being read */
    CHECK_FALSE(atomic_load(&driver.mixed));
    end();
}

/* ---- users of a device ---- */

static void users_of(const vitals_snapshot *snapshot, vitals_availability state)
{
    for (unsigned i = 0; i < DEVICES; i++)
        CHECK_INT(vitals_row_availability(device_row(snapshot, i), VITALS_GPU_PROCESSES), state);
}

static void a_driver_that_lists_its_users_needs_no_sweep(void)
{
    begin_with(50 * NS_PER_MS, NULL, VITALS_GPU_PROCESSES);
    vitals_snapshot *snapshot = take();
    users_of(snapshot, VITALS_HAVE);
    CHECK_INT(atomic_load(&driver.lists), DEVICES);
    CHECK_INT(atomic_load(&driver.swept), 0);
    vitals_snapshot_unref(snapshot);
    end();
}

static void the_users_of_a_tick_are_of_its_own_sweep(void)
{
    sweeps_next = true;
    begin_with(50 * NS_PER_MS, NULL, VITALS_GPU_PROCESSES);
    uint64_t begun = real_now_ns();
    vitals_snapshot *snapshot = take(); /* a first tick is patient */
    users_of(snapshot, VITALS_HAVE);
    CHECK_INT(atomic_load(&driver.lists), DEVICES);
    CHECK(atomic_load(&driver.swept_ns) >= begun);
    CHECK_INT(atomic_load(&driver.calls[0]), 1); /* and its readings are of one call */
    vitals_snapshot_unref(snapshot);
    uint64_t first_ns = atomic_load(&driver.swept_ns);
    for (int i = 0; i < 200 && atomic_load(&driver.swept) < 3 * DEVICES; i++) {
        real_sleep_ns(60 * NS_PER_MS);
        vitals_snapshot_unref(take());
    }
    CHECK(atomic_load(&driver.swept) >= 3 * DEVICES);
    CHECK(atomic_load(&driver.swept_ns) > first_ns);
    end();
    CHECK_INT(atomic_load(&driver.swept), atomic_load(&driver.lists));
}

/* ---- a source without a sampler ---- */

static struct worker_event *event;
static struct gpu_table *table;
static struct sources sources;
static struct source_tick now;
static struct source *alone;
static struct metric_set users;

static void begin_alone_as(unsigned number)
{
    vitals_options options;
    live_before = memory_live();
    memset(&driver, 0, sizeof driver);
    BACKEND.sweeps = true;
    atomic_store(&driver.devices, 1);
    atomic_store(&driver.hang_device, -1);
    atomic_store(&driver.everything_first, true);
    vitals_options_init(&options, sizeof options);
    CHECK_OK(vitals_context_new(&options, &context, &error), error);
    event = worker_event_new(context);
    table = gpu_table_new();
    sources = (struct sources){.context = context, .event = event};
    CHECK(event != NULL && table != NULL);
    CHECK_INT(gpu_source_add(&sources, &BACKEND, number), 0);
    alone = sources.items[0];
    users = (struct metric_set){0};
    metric_set_add(&users, VITALS_GPU_PROCESSES);
    metric_set_add(&users, VITALS_GPU_PROCESS_PID);
    now = (struct source_tick){
        .wanted = &users, .due = &users, .interval_ns = NS_PER_SECOND, .devices = table};
}

static void begin_alone(void)
{
    begin_alone_as(0);
}

static void end_alone(void)
{
    sources_end(&sources, real_now_ns() + NS_PER_SECOND);
    gpu_table_free(table);
    worker_event_unref(event);
    vitals_context_free(context);
    BACKEND.sweeps = false;
    check_nothing_left();
}

static void settle(void)
{
    do {
        CHECK_INT(sources_collect(&sources, &now), 0);
    } while (!sources_settled(&sources, &now, false) && !gpu_source_waits(alone) &&
             worker_event_wait(event, real_now_ns() + 10 * NS_PER_SECOND));
}

static vitals_snapshot *write_table(void)
{
    vitals_builder *builder = NULL;
    vitals_snapshot *snapshot = NULL;
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    vitals_builder_begin(builder);
    gpu_table_write(table, builder, &users, NULL, NULL, 1);
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
    vitals_builder_free(builder);
    return snapshot;
}

/* Of one tick, whose sweep this is; `is_old`: it is none of this tick. */
static vitals_snapshot *take_alone(struct gpu_sweep *swept, bool is_old)
{
    now.begin_ns = real_now_ns() + 60 * NS_PER_SECOND;
    sources_begin(&sources, &now);
    settle();
    CHECK(gpu_source_waits(alone));
    gpu_source_ask_users(alone, &users, swept, is_old, real_now_ns());
    settle();
    return write_table();
}

/* While all threads that sweep hang, what was read before is not passed off as of now. */
static void the_users_of_an_old_sweep_are_stale(void)
{
    begin_alone();
    vitals_snapshot *snapshot = take_alone(NULL, true); /* the driver knows some from elsewhere */
    const vitals_row *device = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, NULL);
    CHECK_INT(vitals_row_availability(device, VITALS_GPU_PROCESSES), VITALS_LOWER_BOUND);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_GPU_PROCESS), VITALS_LOWER_BOUND);
    vitals_snapshot_unref(snapshot);

    struct gpu_sweeper *sweeper = gpu_sweeper_new(context);
    struct gpu_sweep *swept = gpu_sweeper_take(sweeper, NULL);
    snapshot = take_alone(swept, false);
    device = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, NULL);
    CHECK_INT(vitals_row_availability(device, VITALS_GPU_PROCESSES), VITALS_HAVE);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_GPU_PROCESS), VITALS_HAVE);
    vitals_snapshot_unref(snapshot);

    snapshot = take_alone(swept, true);
    device = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, NULL);
    CHECK_INT(vitals_row_availability(device, VITALS_GPU_PROCESSES), VITALS_STALE);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_GPU_PROCESS), VITALS_STALE);
    const vitals_row *user = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU_PROCESS, NULL);
    CHECK_NOT_NULL(user);
    CHECK_UINT(vitals_row_stamp_ns(user), swept->stamp_ns);
    vitals_snapshot_unref(snapshot);
    gpu_sweep_unref(swept);
    gpu_sweeper_free(sweeper);
    end_alone();
}

/* What a driver adds up over its users is of the list of this tick, not of the one before. */
static void what_comes_of_a_sweep_is_read_behind_it(void)
{
    begin_alone();
    atomic_store(&driver.of_sweep, GPU_SWEPT_LOAD);
    users = (struct metric_set){0};
    metric_set_add(&users, VITALS_GPU_BUSY_SECONDS); /* the processes were not asked for */
    atomic_store(&driver.everything_first, true);
    struct gpu_sweeper *sweeper = gpu_sweeper_new(context);
    for (int i = 1; i < 4; i++) {
        struct gpu_sweep *swept = gpu_sweeper_take(sweeper, NULL);
        double lists = 0;
        vitals_snapshot *snapshot = take_alone(swept, false);
        CHECK_INT(vitals_row_f64(device_row(snapshot, 0), VITALS_GPU_BUSY_SECONDS, &lists),
                  VITALS_HAVE);
        CHECK_NEAR(lists, i, 0);
        vitals_snapshot_unref(snapshot);
        snapshot = take_alone(swept, true);
        CHECK_INT(vitals_row_f64(device_row(snapshot, 0), VITALS_GPU_BUSY_SECONDS, &lists),
                  VITALS_STALE);
        atomic_fetch_sub(&driver.lists, 1);
        vitals_snapshot_unref(snapshot);
        gpu_sweep_unref(swept);
    }
    gpu_sweeper_free(sweeper);
    atomic_store(&driver.everything_first, true); /* which asks for a power limit */
    end_alone();
    atomic_store(&driver.of_sweep, 0);
}

static void nobody_sweeps_unasked(void)
{
    sweeps_next = true;
    begin(50 * NS_PER_MS, NULL);
    vitals_snapshot_unref(take());
    CHECK_INT(atomic_load(&driver.lists), 0);
    end();
}

/* ---- what it costs ---- */

static void calls_take_their_share_of_the_wall_at_most(void)
{
    static const struct {
        const char *name;
        int devices;
        uint64_t price_ms, interval_ms;
        double least; /* and it is not asked too seldom either */
    } ROWS[] = {
        {"one device, 60 ms, every second", 1, 60, 1000, 0.03},
        {"three devices, 50 ms, every second", 3, 50, 1000, 0.03},
        {"one device, 50 ms, every 4.1 s", 1, 50, 4100, 0.01},
        {"one device, 50 ms, every 100 ms", 1, 50, 100, 0.03},
        {"one device, 1.5 s, every second", 1, 1500, 1000, 0.02},
        {"one device, 1 ms, every 10 ms", 1, 1, 10, 0.03},
    };
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        CHECK_CASE(ROWS[i].name);
        fake_clock_init(&fake);
        begin(ROWS[i].interval_ms * NS_PER_MS, &fake);
        atomic_store(&driver.devices, ROWS[i].devices);
        atomic_store(&driver.price_ns, ROWS[i].price_ms * NS_PER_MS);
        uint64_t begun = fake_clock_now(&fake), price = ROWS[i].price_ms * NS_PER_MS;
        uint64_t wall = 3000 * price;
        while (fake_clock_now(&fake) < begun + wall) {
            vitals_snapshot_unref(take());
            fake_clock_advance(&fake, ROWS[i].interval_ms * NS_PER_MS);
        }
        int calls = 0; /* the first reading of each, too */
        for (int device = 0; device < DEVICES; device++)
            calls += atomic_load(&driver.calls[device]);
        double share = (double)calls * (double)price / (double)(fake_clock_now(&fake) - begun);
        if (share > 0.101 || share < ROWS[i].least)
            CHECK_FAIL("%d calls are %.4f of the wall", calls, share);
        end();
    }
}

static void what_is_due_while_a_device_is_not_asked_is_asked_later(void)
{
    fake_clock_init(&fake);
    begin(NS_PER_SECOND, &fake);
    atomic_store(&driver.devices, 1);
    atomic_store(&driver.price_ns, 400 * NS_PER_MS); /* every eight seconds or so */
    double last = 0;
    int changes = 0;
    for (int tick = 0; tick < 300; tick++) {
        vitals_snapshot *snapshot = take();
        double value = 0;
        CHECK(vitals_row_f64(device_row(snapshot, 0), VITALS_GPU_POWER_LIMIT_WATTS, &value) > 0);
        changes += value > last;
        last = value;
        vitals_snapshot_unref(snapshot);
        fake_clock_advance(&fake, NS_PER_SECOND);
    }
    /* Its own cadence is of some seconds; it must not be starved by never falling on a tick that
     * asks the device. */
    if (changes < 15)
        CHECK_FAIL("only %d new values in 300 s", changes);
    end();
}

/* How old a value may be without being stale. */
static void check_age(const vitals_snapshot *snapshot, unsigned device, vitals_metric metric,
                      double most)
{
    const vitals_row *row = device_row(snapshot, device);
    double age =
        (double)(vitals_snapshot_monotonic_ns(snapshot) - vitals_row_read_ns(row, metric)) / 1e9;
    vitals_availability state = vitals_row_availability(row, metric);
    if (state != (age > most ? VITALS_STALE : VITALS_HAVE) &&
        (age < most - 0.5 || age > most + 0.5))
        CHECK_FAIL("device %u: %s, %f s old", device, vitals_availability_name(state), age);
}

static void what_is_older_than_its_cadence_is_stale(void)
{
    fake_clock_init(&fake);
    begin(NS_PER_SECOND, &fake);
    atomic_store(&driver.price_ns, 150 * NS_PER_MS);
    int stale = 0;
    for (int tick = 0; tick < 100; tick++) {
        vitals_snapshot *snapshot = take();
        for (unsigned i = 0; i < DEVICES; i++) {
            check_age(snapshot, i, VITALS_GPU_MEMORY_USED_BYTES, 1.25);
            check_age(snapshot, i, VITALS_GPU_POWER_LIMIT_WATTS, 5.25);
            stale += state_of(snapshot, i) == VITALS_STALE;
        }
        vitals_snapshot_unref(snapshot);
        fake_clock_advance(&fake, NS_PER_SECOND);
    }
    CHECK(stale > 100); /* it is too slow for its share */
    end();
}

/* Power that takes 200 ms has its own turn: memory, at 5 ms, is of each tick. */
static void what_is_shown_first_is_read_first(void)
{
    fake_clock_init(&fake);
    begin_with(NS_PER_SECOND, &fake, VITALS_GPU_POWER_WATTS);
    atomic_store(&driver.price_ns, 5 * NS_PER_MS);
    atomic_store(&driver.power_ns, 200 * NS_PER_MS);
    double last = 0;
    int changes = 0, fresh = 0, asked = 0;
    for (int tick = 0; tick < 200; tick++) {
        vitals_snapshot *snapshot = take();
        double value = 0;
        for (unsigned i = 0; i < DEVICES; i++) {
            asked += tick > 10;
            fresh += tick > 10 && state_of(snapshot, i) == VITALS_HAVE;
            check_age(snapshot, i, VITALS_GPU_POWER_WATTS, 1.25);
        }
        CHECK(vitals_row_f64(device_row(snapshot, 1), VITALS_GPU_POWER_WATTS, &value) > 0);
        changes += value > last;
        last = value;
        vitals_snapshot_unref(snapshot);
        fake_clock_advance(&fake, NS_PER_SECOND);
    }
    if (changes < 5)
        CHECK_FAIL("power was read %d times in 200 s", changes);
    /* A busy machine may delay the thread of a device for longer than a tick waits. */
    if (fresh < asked - asked / 10)
        CHECK_FAIL("%d of %d states are of their tick", fresh, asked);
    end();
}

static void other_devices_are_not_asked(void)
{
    static const struct {
        const char *name;
        unsigned device;
    } ROWS[] = {{"1", 1}, {"uuid-2", 2}, {"UUID-0", 0}};
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        CHECK_CASE(ROWS[i].name);
        fake_clock_init(&fake);
        device_next = ROWS[i].name;
        begin_with(NS_PER_SECOND, &fake, VITALS_GPU_PROCESSES);
        for (int tick = 1; tick < 15; tick++) {
            vitals_snapshot *snapshot = take();
            CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_GPU), 1);
            CHECK_INT(state_of(snapshot, 0), VITALS_HAVE);
            vitals_snapshot_unref(snapshot);
            for (unsigned device = 0; device < DEVICES; device++)
                CHECK_INT(atomic_load(&driver.calls[device]), device == ROWS[i].device ? tick : 0);
            CHECK_INT(atomic_load(&driver.lists), tick);
            fake_clock_advance(&fake, NS_PER_SECOND);
        }
        end();
    }
    device_next = "none-of-them";
    begin(NS_PER_SECOND, NULL);
    vitals_snapshot *snapshot = take();
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_GPU), 0);
    vitals_snapshot_unref(snapshot);
    end();
}

/* The number by which a device is chosen is another's once a back end before its own lists. */
static void a_choice_holds_when_others_are_listed_later(void)
{
    static const struct {
        const char *name;
        int calls, later; /* before and after the other back end lists its one device */
    } ROWS[] = {{"0", 1, 1}, {"1", 0, 1}};
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        static struct gpu_scan other;
        vitals_request *request = NULL;
        CHECK_CASE(ROWS[i].name);
        begin_alone_as(1);
        BACKEND.sweeps = false;
        users = (struct metric_set){0};
        metric_set_add(&users, VITALS_GPU_MEMORY_USED_BYTES);
        metric_set_add(&users, VITALS_GPU_POWER_LIMIT_WATTS);
        CHECK_OK(vitals_request_new(0, &request, &error), error);
        CHECK_OK(vitals_request_set_devices(request, &ROWS[i].name, 1, &error), error);
        gpu_table_choose(table, request);
        for (int tick = 0; tick < 2; tick++) {
            now.begin_ns = real_now_ns() + 60 * NS_PER_SECOND * (uint64_t)(tick + 1);
            sources_begin(&sources, &now);
            settle();
            CHECK_INT(atomic_load(&driver.calls[0]), tick == 0 ? ROWS[i].calls : ROWS[i].later);
            other = (struct gpu_scan){.state = VITALS_HAVE, .count = 1};
            other.devices[0] = (struct gpu_identity){.parent_slot = -1, .uuid = "another"};
            CHECK_INT(gpu_table_scan(table, 0, &other), 0);
        }
        vitals_snapshot *snapshot = write_table();
        CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_GPU), 1);
        vitals_snapshot_unref(snapshot);
        vitals_request_free(request);
        end_alone();
    }
}

/* What a device that slept has lost is asked for anew by each of its queries. */
static void who_wakes_is_read_slowly_as_a_whole_too(void)
{
    struct metric_set quick = {0}, due;
    begin_alone();
    BACKEND.sweeps = false;
    metric_set_add(&quick, VITALS_GPU_MEMORY_USED_BYTES);
    metric_set_add(&quick, VITALS_GPU_POWER_LIMIT_WATTS);
    due = quick;
    metric_set_add(&due, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND);
    users = due;
    metric_set_add(&users, VITALS_GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND);
    for (int tick = 0; tick < 4; tick++) {
        static const bool BOTH[] = {true, false, false, true};
        static const int CALLS[] = {1, 2, 2, 3};
        CHECK_CASE(((const char *const[]){"first", "next", "asleep", "awake"})[tick]);
        atomic_store(&driver.asleep, tick == 2);
        now.due = tick == 0 ? &users : tick == 2 ? &quick : &due;
        now.begin_ns = real_now_ns() + 60 * NS_PER_SECOND * (uint64_t)(tick + 1);
        sources_begin(&sources, &now);
        settle();
        /* No tick waits for what is slow: so its answer is awaited here. */
        uint64_t until = real_now_ns() + 10 * NS_PER_SECOND;
        double call = 0;
        while (tick != 2 && call < CALLS[tick] && real_now_ns() < until) {
            CHECK_INT(sources_collect(&sources, &now), 0);
            vitals_snapshot *snapshot = write_table();
            if (vitals_row_f64(device_row(snapshot, 0), VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND,
                               &call) < 0)
                call = 0;
            vitals_snapshot_unref(snapshot);
            real_sleep_ns(NS_PER_MS);
        }
        CHECK_INT(atomic_load(&driver.slow_calls), CALLS[tick]);
        CHECK_INT(atomic_load(&driver.slow_both), BOTH[tick]);
    }
    end_alone();
}

static const check_test tests[] = {
    {"who wakes is read slowly as a whole too", who_wakes_is_read_slowly_as_a_whole_too},
    {"a choice holds when others are listed later", a_choice_holds_when_others_are_listed_later},
    {"a first tick is full and asks each device once",
     a_first_tick_is_full_and_asks_each_device_once},
    {"every tick asks each device once", every_tick_asks_each_device_once},
    {"devices come and go with the scans", devices_come_and_go_with_the_scans},
    {"who wakes is read as a whole", who_wakes_is_read_as_a_whole},
    {"a slow reading delays no other", a_slow_reading_delays_no_other},
    {"a driver that lists its users needs no sweep", a_driver_that_lists_its_users_needs_no_sweep},
    {"the users of a tick are of its own sweep", the_users_of_a_tick_are_of_its_own_sweep},
    {"the users of an old sweep are stale", the_users_of_an_old_sweep_are_stale},
    {"what comes of a sweep is read behind it", what_comes_of_a_sweep_is_read_behind_it},
    {"nobody sweeps unasked", nobody_sweeps_unasked},
    {"calls take their share of the wall at most", calls_take_their_share_of_the_wall_at_most},
    {"what is older than its cadence is stale", what_is_older_than_its_cadence_is_stale},
    {"what is shown first is read first", what_is_shown_first_is_read_first},
    {"other devices are not asked", other_devices_are_not_asked},
    {"what is due while a device is not asked is asked later",
     what_is_due_while_a_device_is_not_asked_is_asked_later},
};
CHECK_TESTS(tests)
