/* The lane that looks who has a GPU open, over a sweeper that does as it is told: a driver that
 * hangs keeps its device and nobody else's, and gets it back when it answers.
 *
 * This program has sweepers of its own, so that those of src/gpu are not linked. */
#include "check.h"

#include "core/memory.h"
#include "fake_clock.h"
#include "sample/context.h"
#include "sample/sweep_source.h"

#include <stdatomic.h>
#include <vitals/vitals.h>

/* ---- the sweeper ---- */

struct gpu_sweeper {
    bool avoids;
};

static struct {
    atomic_bool hangs; /* the driver of 226:1 */
    atomic_int takes, sweepers, avoided, sweeps;
} world;

struct gpu_sweep *gpu_sweep_ref(struct gpu_sweep *sweep)
{
    return sweep;
}

void gpu_sweep_unref(struct gpu_sweep *sweep)
{
    if (sweep != NULL)
        atomic_fetch_sub(&world.sweeps, 1);
    memory_free(sweep);
}

struct gpu_sweeper *gpu_sweeper_new(const vitals_context *context)
{
    (void)context;
    atomic_fetch_add(&world.sweepers, 1);
    return memory_alloc(sizeof(struct gpu_sweeper));
}

void gpu_sweeper_free(struct gpu_sweeper *sweeper)
{
    atomic_fetch_sub(&world.sweepers, 1);
    memory_free(sweeper);
}

bool gpu_sweeper_asks(const struct gpu_sweeper *sweeper, uint32_t *major, uint32_t *minor)
{
    *major = 226;
    *minor = 1;
    return !sweeper->avoids && atomic_load(&world.hangs);
}

bool gpu_sweeper_avoid(struct gpu_sweeper *sweeper, uint32_t major, uint32_t minor)
{
    sweeper->avoids = major == 226 && minor == 1;
    atomic_fetch_add(&world.avoided, 1);
    return true;
}

struct gpu_sweep *gpu_sweeper_take(struct gpu_sweeper *sweeper)
{
    atomic_fetch_add(&world.takes, 1);
    while (!sweeper->avoids && atomic_load(&world.hangs))
        real_sleep_ns(NS_PER_MS);
    struct gpu_sweep *sweep = memory_alloc(sizeof *sweep);
    if (sweep != NULL) {
        atomic_fetch_add(&world.sweeps, 1);
        sweep->state = VITALS_HAVE;
        sweep->cut = sweeper->avoids;
    }
    return sweep;
}

/* ---- ticks ---- */

static struct fake_clock fake;
static vitals_context *context;
static struct lane_hub *hub;
static struct sweep_source *source;
static int64_t live_before;

static void begin(void)
{
    vitals_options options;
    vitals_error error;
    live_before = memory_live();
    memset(&world, 0, sizeof world);
    fake_clock_init(&fake);
    vitals_options_init(&options, sizeof options);
    options.clock = &fake.clock;
    CHECK_OK(vitals_context_new(&options, &context, &error), error);
    hub = lane_hub_new(context);
    source = sweep_source_new(context, hub);
    CHECK_NOT_NULL(source);
}

static void end(void)
{
    atomic_store(&world.hangs, false);
    sweep_source_free(source, fake_clock_now(&fake) + NS_PER_SECOND);
    lane_hub_unref(hub);
    vitals_context_free(context);
    uint64_t until = real_now_ns() + 20 * NS_PER_SECOND;
    while (memory_live() != live_before && real_now_ns() < until)
        real_sleep_ns(NS_PER_MS);
    CHECK_INT(memory_live(), live_before);
    CHECK_INT(atomic_load(&world.sweepers), 0);
    CHECK_INT(atomic_load(&world.sweeps), 0);
}

/* Asks, and waits for so many milliseconds of real time at most. */
static bool tick(struct gpu_sweep **out, unsigned patience_ms)
{
    sweep_source_begin(source);
    sweep_source_ask(source);
    for (unsigned i = 0; i < patience_ms; i++) {
        if (sweep_source_collect(source, out))
            return true;
        real_sleep_ns(NS_PER_MS);
    }
    sweep_source_late(source);
    return false;
}

static void every_tick_has_a_sweep_of_its_own(void)
{
    struct gpu_sweep *first = NULL, *second = NULL;
    begin();
    CHECK(tick(&first, 10000) && first != NULL);
    CHECK(tick(&second, 10000) && second != NULL);
    CHECK_INT(atomic_load(&world.takes), 2);
    CHECK_INT(atomic_load(&world.sweepers), 1);
    CHECK_INT(atomic_load(&world.sweeps), 1); /* the newest alone is kept */
    end();
}

static void a_driver_that_hangs_keeps_its_own_device_alone(void)
{
    struct gpu_sweep *sweep = NULL;
    begin();
    CHECK(tick(&sweep, 10000) && !sweep->cut);
    atomic_store(&world.hangs, true);
    CHECK_FALSE(tick(&sweep, 20)); /* late, and waited for */
    fake_clock_advance(&fake, 3 * NS_PER_SECOND);
    CHECK(tick(&sweep, 10000)); /* it hangs: nothing new in this tick */
    CHECK(sweep != NULL && !sweep->cut);
    CHECK(tick(&sweep, 10000) && sweep->cut); /* and from now on without that device */
    CHECK_INT(atomic_load(&world.avoided), 1);
    CHECK_INT(atomic_load(&world.sweepers), 2);
    CHECK(tick(&sweep, 10000) && sweep->cut);

    atomic_store(&world.hangs, false); /* it answers: the device is swept again */
    for (int i = 0; i < 10000 && sweep->cut; i++) {
        CHECK(tick(&sweep, 10000));
        real_sleep_ns(NS_PER_MS);
    }
    CHECK_FALSE(sweep->cut);
    CHECK_INT(atomic_load(&world.sweepers), 1);
    end();
}

static void a_thread_that_hangs_to_the_end_is_left_behind(void)
{
    struct gpu_sweep *sweep = NULL;
    begin();
    atomic_store(&world.hangs, true);
    CHECK_FALSE(tick(&sweep, 20));
    sweep_source_free(source, 0);
    source = NULL;
    end();
}

static const check_test tests[] = {
    {"every tick has a sweep of its own", every_tick_has_a_sweep_of_its_own},
    {"a driver that hangs keeps its own device alone",
     a_driver_that_hangs_keeps_its_own_device_alone},
    {"a thread that hangs to the end is left behind",
     a_thread_that_hangs_to_the_end_is_left_behind},
};
CHECK_MAIN(tests)
