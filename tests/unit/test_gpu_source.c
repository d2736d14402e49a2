/* A driver that does as it is told, in the place of the real back ends: what a sampler makes of one
 * that is slow, that hangs, and that has nothing to say.
 *
 * This program has a gpu_backends of its own, so that the library's registry is not linked. */
#include "check.h"

#include "core/memory.h"
#include "fake_clock.h"
#include "gpu/table.h"
#include "sample/gpu_source.h"

#include <stdatomic.h>
#include <vitals/vitals.h>

enum { DEVICES = 3 };

/* ---- the driver ---- */

static struct {
    atomic_int devices;            /* that a scan finds */
    atomic_int hang_device;        /* -1: none */
    atomic_int hang_calls;         /* so many of its calls, from now on, take … */
    atomic_uint_fast64_t hang_ns;  /* … so much real time */
    atomic_uint_fast64_t scan_ns;  /* real, of each scan */
    atomic_int listed;             /* devices of the scan that is under way */
    atomic_uint_fast64_t third_ns; /* real, of listing the third */
    atomic_uint_fast64_t price_ns; /* of each call, by the fake clock */
    struct fake_clock *fake;
    atomic_int scans, opened, closed;
    atomic_int calls[DEVICES], inside[DEVICES];
    atomic_int slow_calls, slow_inside; /* readings that are slow by nature: of all devices */
    atomic_uint_fast64_t slow_ns;       /* … and take so much real time */
    atomic_int lists, swept;            /* lists of processes that were asked for; with a sweep */
    atomic_uint_fast64_t swept_ns;      /* when the newest of them began */
    atomic_bool asleep;                 /* all of them */
    atomic_int diagnoses;               /* that were asked for */
    atomic_uint_fast64_t diagnosis_ns;  /* real, of each */
    atomic_uint of_sweep;               /* of GPU_SWEPT, of every device */
    atomic_bool mixed;                  /* slow and other metrics were asked for in one call */
    atomic_bool twice;                  /* a device was entered by two threads at once */
    atomic_bool everything_first; /* the first question of each device had all that is wanted */
} driver;

static int driver_open(const vitals_context *context, void **state, struct gpu_scan *why)
{
    (void)context, (void)why;
    atomic_fetch_add(&driver.opened, 1);
    *state = &driver;
    return 0;
}

static void identify(uint32_t i, struct gpu_identity *out)
{
    *out = (struct gpu_identity){
        .slot = i, .index = i, .parent_slot = -1, .swept = atomic_load(&driver.of_sweep)};
    snprintf(out->uuid, sizeof out->uuid, "uuid-%u", i);
}

static void driver_listed(void *state, struct gpu_scan *out)
{
    (void)state;
    out->count = (uint32_t)atomic_load(&driver.listed);
    for (uint32_t i = 0; i < out->count; i++)
        identify(i, &out->devices[i]);
}

static void driver_scan(void *state, struct gpu_scan *out)
{
    (void)state;
    atomic_fetch_add(&driver.scans, 1);
    real_sleep_ns(atomic_load(&driver.scan_ns));
    out->state = VITALS_HAVE;
    out->count = (uint32_t)atomic_load(&driver.devices);
    snprintf(out->message, sizeof out->message, "%u devices", out->count);
    for (uint32_t i = 0; i < out->count; i++) {
        real_sleep_ns(i == 2 ? atomic_load(&driver.third_ns) : 0);
        identify(i, &out->devices[i]);
        atomic_store(&driver.listed, (int)i + 1);
    }
}

static void maybe_hang(uint32_t slot)
{
    if ((int)slot != atomic_load(&driver.hang_device))
        return;
    if (atomic_fetch_sub(&driver.hang_calls, 1) > 0)
        real_sleep_ns(atomic_load(&driver.hang_ns));
}

static void sample_slowly(struct gpu_sample *out)
{
    if (atomic_fetch_add(&driver.slow_inside, 1) != 0)
        atomic_store(&driver.twice, true);
    int call = atomic_fetch_add(&driver.slow_calls, 1) + 1;
    if (facts_wants(&out->facts, VITALS_GPU_MEMORY_USED_BYTES))
        atomic_store(&driver.mixed, true);
    out->stamp_ns = driver.fake != NULL ? fake_clock_now(driver.fake) : real_now_ns();
    out->state = VITALS_HAVE;
    real_sleep_ns(atomic_load(&driver.slow_ns));
    facts_row(&out->facts, VITALS_GPU, 0, (struct span){"", 0});
    fact_f64(&out->facts, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND, call);
    atomic_fetch_sub(&driver.slow_inside, 1);
}

static void driver_sample(void *state, uint32_t slot, struct gpu_sample *out)
{
    if (facts_wants(&out->facts, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND)) {
        sample_slowly(out);
        return;
    }
    struct facts *facts = &out->facts;
    (void)state;
    if (atomic_fetch_add(&driver.inside[slot], 1) != 0)
        atomic_store(&driver.twice, true);
    int call = atomic_fetch_add(&driver.calls[slot], 1) + 1;
    if (call == 1 && !facts_wants(facts, VITALS_GPU_POWER_LIMIT_WATTS))
        atomic_store(&driver.everything_first, false);
    out->stamp_ns = driver.fake != NULL ? fake_clock_now(driver.fake) : real_now_ns();
    if (driver.fake != NULL)
        fake_clock_advance(driver.fake, atomic_load(&driver.price_ns));
    maybe_hang(slot);
    out->state = atomic_load(&driver.asleep) ? VITALS_SUSPENDED : VITALS_HAVE;
    if (out->state < 0) {
        atomic_fetch_sub(&driver.inside[slot], 1);
        return;
    }
    facts_row(facts, VITALS_GPU, 0, (struct span){"", 0});
    fact_f64(facts, VITALS_GPU_BUSY_SECONDS, atomic_load(&driver.lists));
    fact_u64(facts, VITALS_GPU_MEMORY_USED_BYTES, (uint64_t)call);
    fact_f64(facts, VITALS_GPU_POWER_LIMIT_WATTS, call);
    atomic_fetch_sub(&driver.inside[slot], 1);
}

static void driver_processes(void *state, uint32_t slot, const struct gpu_sweep *swept,
                             const struct metric_set *wanted, struct gpu_processes *out)
{
    (void)state, (void)slot, (void)wanted;
    atomic_fetch_add(&driver.lists, 1);
    if (swept != NULL) {
        atomic_fetch_add(&driver.swept, 1);
        atomic_store(&driver.swept_ns, swept->stamp_ns);
    }
    out->stamp_ns = real_now_ns();
    out->state = VITALS_HAVE;
    out->count = 1;
    out->items[0] = (struct gpu_process){.pid = 1, .uses = GPU_COMPUTE, .is_ours = VITALS_HAVE};
}

static void driver_diagnose(const vitals_context *own, void *state, struct facts *out)
{
    (void)own, (void)state;
    atomic_fetch_add(&driver.diagnoses, 1);
    real_sleep_ns(atomic_load(&driver.diagnosis_ns));
    facts_row(out, VITALS_DIAGNOSIS, 0, (struct span){"driver", 6});
    fact_string(out, VITALS_DIAGNOSIS_FINDING, "it is there");
}

static void driver_close(void *state)
{
    (void)state;
    atomic_fetch_add(&driver.closed, 1);
}

static struct gpu_backend BACKEND = {.name = "driver",
                                     .open = driver_open,
                                     .scan = driver_scan,
                                     .listed = driver_listed,
                                     .sample = driver_sample,
                                     .processes = driver_processes,
                                     .diagnose = driver_diagnose,
                                     .close = driver_close};

const struct gpu_backend *const gpu_backends[] = {&BACKEND, NULL};

bool gpu_backend_enabled(const struct gpu_backend *backend, const char *backends)
{
    return backend == &BACKEND && backends == NULL;
}

bool gpu_backends_known(const char *backends, struct span *unknown)
{
    (void)backends, (void)unknown;
    return true;
}

void gpu_backends_names(char *out, size_t capacity)
{
    (void)capacity;
    out[0] = '\0';
}

/* ---- a sampler over it ---- */

static struct fake_clock fake;
static vitals_context *context;
static vitals_sampler *sampler;
static vitals_error error;
static int64_t live_before;
static bool sweeps_next; /* of the next context: its driver learns of users from a sweep */

static void begin_with(uint64_t interval_ns, struct fake_clock *clock, vitals_metric more)
{
    live_before = memory_live();
    memset(&driver, 0, sizeof driver);
    BACKEND.sweeps = sweeps_next;
    sweeps_next = false;
    atomic_store(&driver.devices, DEVICES);
    atomic_store(&driver.hang_device, -1);
    atomic_store(&driver.everything_first, true);
    driver.fake = clock;
    vitals_options options;
    vitals_options_init(&options, sizeof options);
    if (clock != NULL)
        options.clock = &clock->clock;
    CHECK_OK(vitals_context_new(&options, &context, &error), error);
    static const vitals_metric WANTED[] = {
        VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_POWER_LIMIT_WATTS, VITALS_HOST_UPTIME_SECONDS,
        VITALS_SOURCE_CALLS,          VITALS_SOURCE_CALL_SECONDS,   VITALS_SOURCE_TIMEOUTS,
        VITALS_SOURCE_QUARANTINED,    VITALS_SOURCE_MESSAGE,        VITALS_SOURCE_MISSED_TICKS,
    };
    vitals_request *request = NULL;
    CHECK_OK(vitals_request_new(0, &request, &error), error);
    for (size_t i = 0; i < CHECK_COUNT(WANTED); i++)
        CHECK_OK(vitals_request_add(request, WANTED[i], &error), error);
    if (more != 0)
        CHECK_OK(vitals_request_add(request, more, &error), error);
    CHECK_OK(vitals_request_interval(request, interval_ns, &error), error);
    CHECK_OK(vitals_sampler_new(context, request, &sampler, &error), error);
    vitals_request_free(request);
}

static void begin(uint64_t interval_ns, struct fake_clock *clock)
{
    begin_with(interval_ns, clock, 0);
}

/* Everything is given back, at the latest when a thread that hung has ended. */
static void check_nothing_left(void)
{
    uint64_t until = real_now_ns() + 20 * NS_PER_SECOND;
    while (memory_live() != live_before && real_now_ns() < until)
        real_sleep_ns(NS_PER_MS);
    CHECK_INT(memory_live(), live_before);
    CHECK_INT(atomic_load(&driver.closed), atomic_load(&driver.opened));
    CHECK_FALSE(atomic_load(&driver.twice));
    CHECK(atomic_load(&driver.everything_first));
}

static void end(void)
{
    vitals_sampler_free(sampler);
    vitals_context_free(context);
    check_nothing_left();
}

static vitals_snapshot *take(void)
{
    vitals_snapshot *snapshot = NULL;
    CHECK_OK(vitals_sampler_take(sampler, &snapshot, &error), error);
    return snapshot;
}

static const vitals_row *device_row(const vitals_snapshot *snapshot, unsigned index)
{
    const vitals_row *row = NULL;
    for (unsigned i = 0; i <= index; i++) {
        row = vitals_snapshot_next(snapshot, VITALS_GPU, row);
        CHECK_NOT_NULL(row);
    }
    return row;
}

static vitals_availability state_of(const vitals_snapshot *snapshot, unsigned index)
{
    return vitals_row_availability(device_row(snapshot, index), VITALS_GPU_MEMORY_USED_BYTES);
}

static double age_of(const vitals_snapshot *snapshot, unsigned index)
{
    return (double)(vitals_snapshot_monotonic_ns(snapshot) -
                    vitals_row_stamp_ns(device_row(snapshot, index))) /
           1e9;
}

static const vitals_row *source_row(const vitals_snapshot *snapshot)
{
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_SOURCE, row)) != NULL;) {
        if (strcmp(vitals_row_label(row), "driver") == 0)
            return row;
    }
    CHECK_FAIL("no row of the source");
}

static uint64_t source_u64(const vitals_snapshot *snapshot, vitals_metric metric)
{
    uint64_t value = 0;
    CHECK_INT(vitals_row_u64(source_row(snapshot), metric, &value), VITALS_HAVE);
    return value;
}

/* ---- a driver in good health ---- */

static void a_first_tick_is_full_and_asks_each_device_once(void)
{
    begin(NS_PER_SECOND, NULL);
    uint64_t begun = real_now_ns();
    vitals_snapshot *snapshot = take();
    CHECK(real_now_ns() - begun < NS_PER_SECOND); /* it does not wait once all is answered */
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_GPU), DEVICES);
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
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_GPU), 1);
    vitals_snapshot_unref(snapshot);
    atomic_store(&driver.devices, 3);
    fake_clock_advance(&fake, 11 * NS_PER_SECOND);
    snapshot = take();
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_GPU), 3);
    CHECK_INT(state_of(snapshot, 2), VITALS_HAVE); /* in the very tick that found it */
    vitals_snapshot_unref(snapshot);
    atomic_store(&driver.devices, 2);
    fake_clock_advance(&fake, 11 * NS_PER_SECOND);
    snapshot = take();
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_GPU), 2);
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
    begin_with(50 * NS_PER_MS, NULL, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND);
    vitals_snapshot *snapshot = take(); /* the first tick waits for it */
    double value = 0;
    CHECK_INT(
        vitals_row_f64(device_row(snapshot, 0), VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND, &value),
        VITALS_HAVE);
    CHECK_INT(atomic_load(&driver.slow_calls), DEVICES);
    vitals_snapshot_unref(snapshot);
    atomic_store(&driver.slow_ns, 700 * NS_PER_MS);
    for (int tick = 0; tick < 5; tick++) {
        uint64_t begun = real_now_ns();
        snapshot = take();
        CHECK(real_now_ns() - begun < NS_PER_SECOND);
        CHECK_INT(state_of(snapshot, 1), VITALS_HAVE);
        CHECK_INT(vitals_row_availability(device_row(snapshot, 1),
                                          VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND),
                  VITALS_HAVE); /* the one that was read first; its moment says when */
        vitals_snapshot_unref(snapshot);
    }
    CHECK_FALSE(atomic_load(&driver.mixed));
    end();
}

/* ---- who uses a device ---- */

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

static struct lane_hub *hub;
static struct gpu_table *table;
static struct gpu_source *alone;
static struct metric_set users;

static void begin_alone(void)
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
    hub = lane_hub_new(context);
    table = gpu_table_new();
    alone = gpu_source_new(context, hub, &BACKEND, 0);
    CHECK(hub != NULL && table != NULL && alone != NULL);
    users = (struct metric_set){0};
    metric_set_add(&users, VITALS_GPU_PROCESSES);
    metric_set_add(&users, VITALS_GPU_PROCESS_PID);
}

static void end_alone(void)
{
    gpu_source_free(alone, real_now_ns() + NS_PER_SECOND);
    gpu_table_free(table);
    lane_hub_unref(hub);
    vitals_context_free(context);
    BACKEND.sweeps = false;
    check_nothing_left();
}

static void settle(void)
{
    do {
        CHECK_INT(gpu_source_collect(alone, table), 0);
        gpu_source_ask_new(alone, &users, real_now_ns());
    } while (!gpu_source_settled(alone) && !gpu_source_waits(alone) &&
             lane_hub_wait(hub, real_now_ns() + 10 * NS_PER_SECOND));
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
    gpu_source_ask(alone, &users, &users, real_now_ns() + 60 * NS_PER_SECOND, NS_PER_SECOND);
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
    const vitals_row *device = vitals_snapshot_next(snapshot, VITALS_GPU, NULL);
    CHECK_INT(vitals_row_availability(device, VITALS_GPU_PROCESSES), VITALS_LOWER_BOUND);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_GPU_PROCESS), VITALS_LOWER_BOUND);
    vitals_snapshot_unref(snapshot);

    struct gpu_sweeper *sweeper = gpu_sweeper_new(context);
    struct gpu_sweep *swept = gpu_sweeper_take(sweeper);
    snapshot = take_alone(swept, false);
    device = vitals_snapshot_next(snapshot, VITALS_GPU, NULL);
    CHECK_INT(vitals_row_availability(device, VITALS_GPU_PROCESSES), VITALS_HAVE);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_GPU_PROCESS), VITALS_HAVE);
    vitals_snapshot_unref(snapshot);

    snapshot = take_alone(swept, true);
    device = vitals_snapshot_next(snapshot, VITALS_GPU, NULL);
    CHECK_INT(vitals_row_availability(device, VITALS_GPU_PROCESSES), VITALS_STALE);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_GPU_PROCESS), VITALS_STALE);
    const vitals_row *user = vitals_snapshot_next(snapshot, VITALS_GPU_PROCESS, NULL);
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
    metric_set_add(&users, VITALS_GPU_BUSY_SECONDS); /* nobody has asked for the processes */
    atomic_store(&driver.everything_first, true);
    struct gpu_sweeper *sweeper = gpu_sweeper_new(context);
    for (int i = 1; i < 4; i++) {
        struct gpu_sweep *swept = gpu_sweeper_take(sweeper);
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

static void calls_take_a_hundredth_of_the_wall_at_most(void)
{
    static const struct {
        const char *name;
        int devices;
        uint64_t price_ms, interval_ms;
        double least; /* and it is not asked too seldom either */
    } ROWS[] = {
        {"one device, 50 ms, every second", 1, 50, 1000, 0.006},
        {"three devices, 50 ms, every second", 3, 50, 1000, 0.006},
        {"one device, 50 ms, every 4.1 s", 1, 50, 4100, 0.005},
        {"one device, 50 ms, every 100 ms", 1, 50, 100, 0.006},
        {"one device, 1.5 s, every second", 1, 1500, 1000, 0.004},
        {"one device, 1 ms, every 10 ms", 1, 1, 10, 0.006},
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
        if (share > 0.01 || share < ROWS[i].least)
            CHECK_FAIL("%d calls are %.4f of the wall", calls, share);
        end();
    }
}

static void what_is_due_while_a_device_is_not_asked_is_asked_later(void)
{
    fake_clock_init(&fake);
    begin(NS_PER_SECOND, &fake);
    atomic_store(&driver.devices, 1);
    atomic_store(&driver.price_ns, 70 * NS_PER_MS); /* every eight seconds or so */
    double last = 0;
    int changes = 0;
    for (int tick = 0; tick < 300; tick++) {
        vitals_snapshot *snapshot = take();
        double value = 0;
        CHECK_INT(vitals_row_f64(device_row(snapshot, 0), VITALS_GPU_POWER_LIMIT_WATTS, &value),
                  VITALS_HAVE);
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

/* ---- one that hangs ---- */

struct watching {
    double longest_tick, longest_fresh_age, longest_stale_age;
    int ticks, stale_ticks, fresh_after;
    uint64_t quarantined_most;
    bool host_late, age_fell;
};

/* Looks at every snapshot for so long, in real time, and takes note of how devices do. */
static struct watching watch_for(uint64_t ns, double others_settle)
{
    struct watching seen = {0};
    uint64_t begun = real_now_ns(), next = begun;
    double last_age = 0;
    while (real_now_ns() < begun + ns) {
        uint64_t tick_begun = real_now_ns();
        vitals_snapshot *snapshot = take();
        double took = (double)(real_now_ns() - tick_begun) / 1e9;
        double since = (double)(tick_begun - begun) / 1e9;
        seen.ticks++;
        seen.longest_tick = took > seen.longest_tick ? took : seen.longest_tick;
        const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_HOST, NULL);
        seen.host_late |= vitals_row_availability(host, VITALS_HOST_UPTIME_SECONDS) !=
                              VITALS_HAVE ||
                          vitals_row_stamp_ns(host) < tick_begun;
        if (state_of(snapshot, 1) == VITALS_STALE) {
            double age = age_of(snapshot, 1);
            seen.stale_ticks++;
            seen.fresh_after = 0;
            seen.age_fell |= age < last_age;
            last_age = age;
            seen.longest_stale_age = age > seen.longest_stale_age ? age : seen.longest_stale_age;
        } else if (state_of(snapshot, 1) == VITALS_HAVE) {
            seen.fresh_after++;
            last_age = 0;
        }
        for (unsigned i = 0; i < DEVICES && since > others_settle; i += 2) {
            double age = age_of(snapshot, i);
            seen.longest_fresh_age = age > seen.longest_fresh_age ? age : seen.longest_fresh_age;
            CHECK_INT(state_of(snapshot, i), VITALS_HAVE);
        }
        uint64_t quarantined = source_u64(snapshot, VITALS_SOURCE_QUARANTINED);
        if (quarantined > seen.quarantined_most)
            seen.quarantined_most = quarantined;
        vitals_snapshot_unref(snapshot);
        next += 200 * NS_PER_MS;
        uint64_t now = real_now_ns();
        if (next > now)
            real_sleep_ns(next - now);
    }
    return seen;
}

static void a_call_of_five_seconds_concerns_its_device_alone(void)
{
    begin(200 * NS_PER_MS, NULL);
    vitals_snapshot_unref(take());
    atomic_store(&driver.hang_device, 1);
    atomic_store(&driver.hang_ns, 5 * NS_PER_SECOND);
    atomic_store(&driver.hang_calls, 1);
    struct watching seen = watch_for(6500 * NS_PER_MS, 2.6);
    CHECK(seen.longest_tick < 1.0); /* the deadline is 0.1 s; the rest is a loaded machine's */
    CHECK_FALSE(seen.host_late);
    CHECK(seen.stale_ticks >= 10);
    CHECK(seen.longest_stale_age > 4.0);
    CHECK_FALSE(seen.age_fell);
    CHECK_UINT(seen.quarantined_most, 1);
    CHECK(seen.longest_fresh_age < 2.0);
    CHECK(seen.fresh_after >= 3); /* and then it is as any other again */
    vitals_snapshot *snapshot = take();
    CHECK_UINT(source_u64(snapshot, VITALS_SOURCE_QUARANTINED), 0);
    CHECK(source_u64(snapshot, VITALS_SOURCE_TIMEOUTS) >= 10);
    vitals_snapshot_unref(snapshot);
    end();
}

static void who_hangs_again_is_left_alone_for_a_while(void)
{
    begin(100 * NS_PER_MS, NULL);
    vitals_snapshot_unref(take());
    atomic_store(&driver.hang_device, 1);
    atomic_store(&driver.hang_ns, 2200 * NS_PER_MS);
    atomic_store(&driver.hang_calls, 1000);
    struct watching seen = watch_for(7 * NS_PER_SECOND, 2.6);
    CHECK_INT(atomic_load(&driver.calls[1]), 3); /* one in good health, two that hung */
    CHECK(seen.longest_stale_age > 2.0);
    CHECK(seen.longest_fresh_age < 2.0);
    CHECK_INT(seen.fresh_after, 0); /* its last reading is not passed off as of now */
    end();
}

static void two_devices_may_hang_at_once(void)
{
    begin(100 * NS_PER_MS, NULL);
    vitals_snapshot_unref(take());
    atomic_store(&driver.hang_ns, 7 * NS_PER_SECOND);
    atomic_store(&driver.hang_calls, 2);
    atomic_store(&driver.hang_device, 0);
    uint64_t until = real_now_ns() + 2 * NS_PER_SECOND;
    while (atomic_load(&driver.hang_calls) == 2 && real_now_ns() < until)
        vitals_snapshot_unref(take());
    atomic_store(&driver.hang_device, 1);
    uint64_t quarantined = 0;
    until = real_now_ns() + 6 * NS_PER_SECOND;
    while (quarantined < 2 && real_now_ns() < until) {
        vitals_snapshot *snapshot = take();
        quarantined = source_u64(snapshot, VITALS_SOURCE_QUARANTINED);
        vitals_snapshot_unref(snapshot);
        real_sleep_ns(50 * NS_PER_MS);
    }
    CHECK_UINT(quarantined, 2);
    vitals_snapshot_unref(take());
    vitals_snapshot *snapshot = take();
    CHECK_INT(state_of(snapshot, 2), VITALS_HAVE);
    CHECK(age_of(snapshot, 2) < 1.0);
    vitals_snapshot_unref(snapshot);
    end();
}

/* Of the driver's own: there are rows of the machine too. */
static const vitals_row *diagnosis_of(const vitals_snapshot *snapshot, const char *subject)
{
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_DIAGNOSIS, row)) != NULL;) {
        if (strcmp(vitals_row_label(row), subject) == 0)
            return row;
    }
    return NULL;
}

/* What a driver that says nothing has: a row, and a table that is not whole. */
static void check_silence(const vitals_snapshot *snapshot, const char *finding)
{
    vitals_text text;
    const vitals_row *row = diagnosis_of(snapshot, "driver driver");
    CHECK_NOT_NULL(row);
    CHECK_NULL(diagnosis_of(snapshot, "driver"));
    CHECK_INT(vitals_row_text(row, VITALS_DIAGNOSIS_FINDING, &text), VITALS_HAVE);
    CHECK_CONTAINS(text.bytes, finding);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_DIAGNOSIS), VITALS_LOWER_BOUND);
}

/* The devices are listed and read by another thread meanwhile, and nobody waits for it. */
static void a_diagnosis_that_hangs_concerns_nobody_else(void)
{
    begin_with(100 * NS_PER_MS, NULL, VITALS_DIAGNOSIS_FINDING);
    atomic_store(&driver.diagnosis_ns, 7 * NS_PER_SECOND);
    uint64_t begun = real_now_ns();
    vitals_snapshot *late = take();
    check_silence(late, "answer");
    vitals_snapshot_unref(late);
    struct watching seen = watch_for(3 * NS_PER_SECOND, 1.0);
    CHECK(seen.longest_tick < 1.0);
    CHECK(seen.longest_fresh_age < 1.0);
    CHECK_UINT(seen.quarantined_most, 1);
    CHECK(seen.fresh_after >= 3); /* the second too */
    late = take();
    check_silence(late, "hangs");
    vitals_snapshot_unref(late);
    int calls = atomic_load(&driver.calls[0]);
    CHECK_INT(atomic_load(&driver.diagnoses), 1);
    bool told = false;
    while (!told && real_now_ns() < begun + 12 * NS_PER_SECOND) {
        vitals_snapshot *snapshot = take();
        told = diagnosis_of(snapshot, "driver") != NULL;
        CHECK(told != (diagnosis_of(snapshot, "driver driver") != NULL));
        vitals_snapshot_unref(snapshot);
        real_sleep_ns(50 * NS_PER_MS);
    }
    CHECK(told);
    CHECK(real_now_ns() - begun > 6 * NS_PER_SECOND);
    CHECK(atomic_load(&driver.calls[0]) > calls);
    CHECK_INT(atomic_load(&driver.opened), 1);
    end();
}

static void a_driver_that_does_not_load_delays_one_tick_only(void)
{
    begin(100 * NS_PER_MS, NULL);
    atomic_store(&driver.scan_ns, 3500 * NS_PER_MS);
    uint64_t begun = real_now_ns();
    vitals_snapshot *snapshot = take(); /* more patience than usual: most drivers load in time */
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_GPU), 0);
    CHECK(real_now_ns() - begun < 3 * NS_PER_SECOND);
    vitals_text message;
    CHECK_INT(vitals_row_text(source_row(snapshot), VITALS_SOURCE_MESSAGE, &message), VITALS_HAVE);
    CHECK_CONTAINS(message.bytes, "not answered");
    vitals_snapshot_unref(snapshot);
    begun = real_now_ns();
    vitals_snapshot_unref(take());
    CHECK(real_now_ns() - begun < NS_PER_SECOND);
    uint64_t until = begun + 4 * NS_PER_SECOND;
    size_t count = 0;
    while (count == 0 && real_now_ns() < until) {
        real_sleep_ns(50 * NS_PER_MS);
        snapshot = take();
        count = vitals_snapshot_count(snapshot, VITALS_GPU);
        vitals_snapshot_unref(snapshot);
    }
    CHECK_UINT(count, DEVICES);
    end();
}

/* One of three hangs as it is listed: the two before it are read in the first tick, by a thread of
 * their own, and all three once it answers. */
static void a_listing_that_hangs_hides_none_that_it_has_listed(void)
{
    begin(100 * NS_PER_MS, NULL);
    atomic_store(&driver.third_ns, 3500 * NS_PER_MS);
    vitals_snapshot *snapshot = take();
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_GPU), 2);
    CHECK_INT(state_of(snapshot, 0), VITALS_HAVE);
    CHECK_INT(state_of(snapshot, 1), VITALS_HAVE);
    vitals_text message;
    CHECK_INT(vitals_row_text(source_row(snapshot), VITALS_SOURCE_MESSAGE, &message), VITALS_HAVE);
    CHECK_CONTAINS(message.bytes, "did not answer");
    CHECK_UINT(source_u64(snapshot, VITALS_SOURCE_QUARANTINED), 1);
    vitals_snapshot_unref(snapshot);
    int calls = atomic_load(&driver.calls[0]);
    size_t count = 2;
    uint64_t until = real_now_ns() + 6 * NS_PER_SECOND;
    while (count == 2 && real_now_ns() < until) {
        real_sleep_ns(50 * NS_PER_MS);
        snapshot = take();
        count = vitals_snapshot_count(snapshot, VITALS_GPU);
        vitals_snapshot_unref(snapshot);
    }
    CHECK_UINT(count, DEVICES);
    CHECK(atomic_load(&driver.calls[0]) > calls);
    CHECK_INT(atomic_load(&driver.scans), 1);
    end();
}

static void freeing_does_not_wait_for_a_driver_that_hangs(void)
{
    begin(100 * NS_PER_MS, NULL);
    CHECK_OK(vitals_sampler_start(sampler, &error), error);
    uint64_t until = real_now_ns() + 5 * NS_PER_SECOND;
    while (atomic_load(&driver.calls[2]) == 0 && real_now_ns() < until)
        real_sleep_ns(NS_PER_MS);
    atomic_store(&driver.hang_device, 1);
    atomic_store(&driver.hang_ns, 3 * NS_PER_SECOND);
    atomic_store(&driver.hang_calls, 1);
    while (atomic_load(&driver.hang_calls) == 1 && real_now_ns() < until)
        real_sleep_ns(NS_PER_MS);
    uint64_t begun = real_now_ns();
    vitals_sampler_free(sampler);
    vitals_context_free(context);
    CHECK(real_now_ns() - begun < NS_PER_SECOND); /* 0.1 s for the tick, 0.1 s for the lanes */
    CHECK_INT(atomic_load(&driver.closed), 0);    /* a library with a thread inside stays open */
    check_nothing_left();
    CHECK_INT(atomic_load(&driver.closed), 1);
}

static const check_test tests[] = {
    {"a listing that hangs hides none that it has listed",
     a_listing_that_hangs_hides_none_that_it_has_listed},
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
    {"calls take a hundredth of the wall at most", calls_take_a_hundredth_of_the_wall_at_most},
    {"what is due while a device is not asked is asked later",
     what_is_due_while_a_device_is_not_asked_is_asked_later},
    {"a call of five seconds concerns its device alone",
     a_call_of_five_seconds_concerns_its_device_alone},
    {"who hangs again is left alone for a while", who_hangs_again_is_left_alone_for_a_while},
    {"two devices may hang at once", two_devices_may_hang_at_once},
    {"a diagnosis that hangs concerns nobody else", a_diagnosis_that_hangs_concerns_nobody_else},
    {"a driver that does not load delays one tick only",
     a_driver_that_does_not_load_delays_one_tick_only},
    {"freeing does not wait for a driver that hangs",
     freeing_does_not_wait_for_a_driver_that_hangs},
};
CHECK_MAIN(tests)
