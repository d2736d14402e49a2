/* driver_world.h: a driver that does as it is told, in the place of the real back ends, and a
 * sampler over it.
 *
 * A program that includes it has a gpu_backends of its own, so that the library's registry is not
 * linked. */
#ifndef TESTS_UNIT_DRIVER_WORLD_H
#define TESTS_UNIT_DRIVER_WORLD_H

#include "check.h"

#include "fake_clock.h"
#include "gpu/table.h"
#include "util/memory.h"

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
    atomic_int expected;           /* devices, as the driver counts them */
    atomic_bool divided;           /* the second is a partition of the first */
    atomic_uint_fast64_t price_ns; /* of each call, by the fake clock, */
    atomic_uint_fast64_t power_ns; /* and of one that reads power more */
    struct fake_clock *fake;
    atomic_int scans, opened, closed;
    atomic_int calls[DEVICES], inside[DEVICES];
    atomic_int slow_calls, slow_inside; /* readings that are slow by nature: of all devices */
    atomic_uint_fast64_t slow_ns;       /* … and take so much real time */
    atomic_bool slow_both;              /* the last one was asked for both directions */
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

static inline int driver_open(const vitals_context *context, void **state, struct gpu_scan *why)
{
    (void)context, (void)why;
    atomic_fetch_add(&driver.opened, 1);
    *state = &driver;
    return 0;
}

static inline void identify(uint32_t i, struct gpu_identity *out)
{
    *out = (struct gpu_identity){
        .slot = i, .index = i, .parent_slot = -1, .swept = atomic_load(&driver.of_sweep)};
    if (i == 1 && atomic_load(&driver.divided))
        out->parent_slot = 0;
    snprintf(out->uuid, sizeof out->uuid, "uuid-%u", i);
}

static inline void driver_listed(void *state, struct gpu_scan *out)
{
    (void)state;
    out->count = (uint32_t)atomic_load(&driver.listed);
    out->expected = (uint32_t)atomic_load(&driver.expected);
    for (uint32_t i = 0; i < out->count; i++)
        identify(i, &out->devices[i]);
}

static inline void driver_scan(void *state, struct gpu_scan *out)
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

static inline void maybe_hang(uint32_t slot)
{
    if ((int)slot != atomic_load(&driver.hang_device))
        return;
    if (atomic_fetch_sub(&driver.hang_calls, 1) > 0)
        real_sleep_ns(atomic_load(&driver.hang_ns));
}

static inline void sample_slowly(struct gpu_sample *out)
{
    if (atomic_fetch_add(&driver.slow_inside, 1) != 0)
        atomic_store(&driver.twice, true);
    int call = atomic_fetch_add(&driver.slow_calls, 1) + 1;
    atomic_store(&driver.slow_both,
                 batch_wants(&out->batch, VITALS_GPU_PCIE_TRANSMITTED_BYTES_PER_SECOND));
    if (batch_wants(&out->batch, VITALS_GPU_MEMORY_USED_BYTES))
        atomic_store(&driver.mixed, true);
    out->stamp_ns = driver.fake != NULL ? fake_clock_now(driver.fake) : real_now_ns();
    out->state = VITALS_HAVE;
    real_sleep_ns(atomic_load(&driver.slow_ns));
    batch_add_row(&out->batch, VITALS_TABLE_GPU, 0, (struct span){"", 0});
    batch_set_f64(&out->batch, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND, call);
    atomic_fetch_sub(&driver.slow_inside, 1);
}

static inline void driver_sample(void *state, uint32_t slot, struct gpu_sample *out)
{
    if (batch_wants(&out->batch, VITALS_GPU_PCIE_RECEIVED_BYTES_PER_SECOND)) {
        sample_slowly(out);
        return;
    }
    struct row_batch *batch = &out->batch;
    (void)state;
    if (atomic_fetch_add(&driver.inside[slot], 1) != 0)
        atomic_store(&driver.twice, true);
    int call = atomic_fetch_add(&driver.calls[slot], 1) + 1;
    if (call == 1 && !batch_wants(batch, VITALS_GPU_POWER_LIMIT_WATTS))
        atomic_store(&driver.everything_first, false);
    out->stamp_ns = driver.fake != NULL ? fake_clock_now(driver.fake) : real_now_ns();
    if (driver.fake != NULL)
        fake_clock_advance(driver.fake, atomic_load(&driver.price_ns));
    if (driver.fake != NULL && batch_wants(batch, VITALS_GPU_POWER_WATTS))
        fake_clock_advance(driver.fake, atomic_load(&driver.power_ns));
    maybe_hang(slot);
    out->state = atomic_load(&driver.asleep) ? VITALS_SUSPENDED : VITALS_HAVE;
    if (out->state < 0) {
        atomic_fetch_sub(&driver.inside[slot], 1);
        return;
    }
    batch_add_row(batch, VITALS_TABLE_GPU, 0, (struct span){"", 0});
    batch_set_f64(batch, VITALS_GPU_BUSY_SECONDS, atomic_load(&driver.lists));
    batch_set_u64(batch, VITALS_GPU_MEMORY_USED_BYTES, (uint64_t)call);
    batch_set_f64(batch, VITALS_GPU_POWER_LIMIT_WATTS, call);
    batch_set_f64(batch, VITALS_GPU_POWER_WATTS, call);
    atomic_fetch_sub(&driver.inside[slot], 1);
}

static inline void driver_processes(void *state, uint32_t slot, const struct gpu_sweep *swept,
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

static inline void driver_diagnose(const vitals_context *own, void *state, struct row_batch *out)
{
    (void)own, (void)state;
    atomic_fetch_add(&driver.diagnoses, 1);
    real_sleep_ns(atomic_load(&driver.diagnosis_ns));
    batch_add_row(out, VITALS_TABLE_DIAGNOSIS, 0, (struct span){"driver", 6});
    batch_set_string(out, VITALS_DIAGNOSIS_FINDING, "it is there");
}

static inline void driver_close(void *state)
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

static vitals_context *context;
static vitals_sampler *sampler;
static vitals_error error;
static int64_t live_before;
static const char *device_next; /* of the next context: the only device that is asked for */
static bool sweeps_next;        /* of the next context: its driver learns of users from a sweep */

static inline void begin_with(uint64_t interval_ns, struct fake_clock *clock, vitals_metric more)
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
    CHECK_OK(vitals_request_set_devices(request, &device_next, device_next != NULL, &error), error);
    device_next = NULL;
    CHECK_OK(vitals_request_set_interval(request, interval_ns, &error), error);
    CHECK_OK(vitals_sampler_new(context, request, &sampler, &error), error);
    vitals_request_free(request);
}

static inline void begin(uint64_t interval_ns, struct fake_clock *clock)
{
    begin_with(interval_ns, clock, 0);
}

/* Everything is given back, at the latest when a thread that hung has ended. */
static inline void check_nothing_left(void)
{
    uint64_t until = real_now_ns() + 20 * NS_PER_SECOND;
    while (memory_live() != live_before && real_now_ns() < until)
        real_sleep_ns(NS_PER_MS);
    CHECK_INT(memory_live(), live_before);
    CHECK_INT(atomic_load(&driver.closed), atomic_load(&driver.opened));
    CHECK_FALSE(atomic_load(&driver.twice));
    CHECK(atomic_load(&driver.everything_first));
}

static inline void end(void)
{
    vitals_sampler_free(sampler);
    vitals_context_free(context);
    check_nothing_left();
}

static inline vitals_snapshot *take(void)
{
    vitals_snapshot *snapshot = NULL;
    CHECK_OK(vitals_sampler_take(sampler, &snapshot, &error), error);
    return snapshot;
}

static inline const vitals_row *device_row(const vitals_snapshot *snapshot, unsigned index)
{
    const vitals_row *row = NULL;
    for (unsigned i = 0; i <= index; i++) {
        row = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, row);
        CHECK_NOT_NULL(row);
    }
    return row;
}

static inline vitals_availability state_of(const vitals_snapshot *snapshot, unsigned index)
{
    return vitals_row_availability(device_row(snapshot, index), VITALS_GPU_MEMORY_USED_BYTES);
}

static inline double age_of(const vitals_snapshot *snapshot, unsigned index)
{
    return (double)(vitals_snapshot_monotonic_ns(snapshot) -
                    vitals_row_stamp_ns(device_row(snapshot, index))) /
           1e9;
}

static inline const vitals_row *source_row(const vitals_snapshot *snapshot)
{
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_TABLE_SOURCE, row)) != NULL;) {
        if (strcmp(vitals_row_label(row), "driver") == 0)
            return row;
    }
    CHECK_FAIL("no row of the source");
}

static inline uint64_t source_u64(const vitals_snapshot *snapshot, vitals_metric metric)
{
    uint64_t value = 0;
    CHECK_INT(vitals_row_u64(source_row(snapshot), metric, &value), VITALS_HAVE);
    return value;
}

#endif
