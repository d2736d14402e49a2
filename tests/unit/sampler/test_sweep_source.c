/* The worker that finds the processes with a GPU open, over a sweeper that the test controls: a
 * driver that hangs loses only its own device, and gets it back when it answers.
 *
 * This program has sweepers of its own, so that those of src/gpu are not linked. */
#include "check.h"

#include "fake_clock.h"
#include "gpu/sweep.h"
#include "sampler/context.h"
#include "sampler/source.h"
#include "util/memory.h"

#include <stdatomic.h>
#include <vitals/vitals.h>

/* ---- the sweeper ---- */

enum { DRIVERS = 8 };

struct gpu_sweeper {
    char nothing;
};

/* A device of each driver: 226:0 and on. */
static struct {
    atomic_bool hangs[DRIVERS];
    atomic_int takes, sweepers, sweeps;
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

/* Each driver is asked, as if a process had all of its devices open. */
struct gpu_sweep *gpu_sweeper_take(struct gpu_sweeper *sweeper, const struct os_gate *gate)
{
    (void)sweeper;
    bool cut = false;
    atomic_fetch_add(&world.takes, 1);
    for (uint32_t minor = 0; minor < DRIVERS; minor++) {
        uint64_t device = sweep_device(226, minor);
        if (!gate->enter(gate->data, device)) {
            cut = true;
            continue;
        }
        while (atomic_load(&world.hangs[minor]))
            real_sleep_ns(NS_PER_MS);
        gate->leave(gate->data, device);
    }
    struct gpu_sweep *sweep = memory_alloc(sizeof *sweep);
    if (sweep != NULL) {
        atomic_fetch_add(&world.sweeps, 1);
        sweep->state = VITALS_HAVE;
        sweep->cut = cut;
    }
    return sweep;
}

/* ---- ticks ---- */

static struct fake_clock fake;
static vitals_context *context;
static struct worker_event *event;
static struct sources sources;
static struct source *source;
static const struct source_tick NOW;
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
    event = worker_event_new(context);
    sources = (struct sources){.context = context, .event = event};
    source = sweep_source_add(&sources);
    CHECK_NOT_NULL(source);
}

static void hang_all(unsigned from, unsigned to, bool hang)
{
    for (unsigned i = from; i < to; i++)
        atomic_store(&world.hangs[i], hang);
}

static void end(void)
{
    hang_all(0, DRIVERS, false);
    sources_end(&sources, fake_clock_now(&fake) + NS_PER_SECOND);
    worker_event_unref(event);
    vitals_context_free(context);
    uint64_t until = real_now_ns() + 20 * NS_PER_SECOND;
    while (memory_live() != live_before && real_now_ns() < until)
        real_sleep_ns(NS_PER_MS);
    CHECK_INT(memory_live(), live_before);
    CHECK_INT(atomic_load(&world.sweepers), 0);
    CHECK_INT(atomic_load(&world.sweeps), 0);
}

/* Asks, and waits for so many milliseconds of real time at most. */
static enum sweep_answer answer_of(struct gpu_sweep **out, unsigned patience_ms)
{
    sources_begin(&sources, &NOW);
    for (unsigned i = 0; i < patience_ms; i++) {
        enum sweep_answer answer = sweep_source_take(source, out);
        if (answer != SWEEP_NONE)
            return answer;
        real_sleep_ns(NS_PER_MS);
    }
    (void)sources_late(&sources, &NOW);
    return SWEEP_NONE;
}

/* Until a thread is in its so many-th sweep: on a busy machine it may begin late. */
static void wait_for_take(int number)
{
    for (int i = 0; i < 10000 && atomic_load(&world.takes) < number; i++)
        real_sleep_ns(NS_PER_MS);
    CHECK_INT(atomic_load(&world.takes), number);
}

/* Whether there is one of this tick. */
static bool tick(struct gpu_sweep **out, unsigned patience_ms)
{
    return answer_of(out, patience_ms) == SWEEP_FRESH;
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
    hang_all(1, 2, true);
    CHECK_FALSE(tick(&sweep, 20)); /* late, and waited for */
    wait_for_take(2);
    fake_clock_advance(&fake, 3 * NS_PER_SECOND);
    CHECK_INT(answer_of(&sweep, 10000), SWEEP_OLD); /* it hangs: nothing new in this tick */
    CHECK(sweep != NULL && !sweep->cut);
    CHECK(tick(&sweep, 10000) && sweep->cut); /* and from now on without that device */
    CHECK_INT(atomic_load(&world.sweepers), 2);
    CHECK(tick(&sweep, 10000) && sweep->cut);

    hang_all(1, 2, false); /* it answers: the device is swept again */
    for (int i = 0; i < 10000 && sweep->cut; i++) {
        CHECK(tick(&sweep, 10000));
        real_sleep_ns(NS_PER_MS);
    }
    CHECK_FALSE(sweep->cut);
    CHECK_INT(atomic_load(&world.sweepers), 1);
    end();
}

/* Its row in the table of sources: the state, and how many threads hang. */
static const char *state_of(uint64_t *hanging)
{
    static char word[32];
    static const vitals_metric COLUMNS[] = {VITALS_SOURCE_STATE, VITALS_SOURCE_QUARANTINED};
    vitals_builder *builder = NULL;
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    vitals_text text;
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    vitals_builder_begin(builder);
    vitals_builder_table(builder, VITALS_TABLE_SOURCE, COLUMNS, CHECK_COUNT(COLUMNS));
    source->ops->write(source, builder, 1);
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
    const vitals_row *row = vitals_snapshot_next(snapshot, VITALS_TABLE_SOURCE, NULL);
    CHECK_NOT_NULL(row);
    CHECK_INT(vitals_row_text(row, VITALS_SOURCE_STATE, &text), VITALS_HAVE);
    CHECK_INT(vitals_row_u64(row, VITALS_SOURCE_QUARANTINED, hanging), VITALS_HAVE);
    snprintf(word, sizeof word, "%.*s", (int)text.size, text.bytes);
    vitals_snapshot_unref(snapshot);
    vitals_builder_free(builder);
    return word;
}

/* What was swept before them is not handed out as of now; and one that answers makes room. */
static void where_all_threads_hang_nothing_is_new(void)
{
    struct gpu_sweep *sweep = NULL;
    uint64_t hanging = 0;
    begin();
    CHECK(tick(&sweep, 10000));
    hang_all(0, DRIVERS, true);
    for (int i = 0; i < 4; i++) { /* one thread after the other */
        CHECK_INT(answer_of(&sweep, 20), SWEEP_NONE);
        wait_for_take(i + 2);
        fake_clock_advance(&fake, 3 * NS_PER_SECOND);
        CHECK_INT(answer_of(&sweep, 10000), SWEEP_OLD);
    }
    for (int i = 0; i < 3; i++) {
        CHECK_INT(answer_of(&sweep, 10000), SWEEP_OLD);
        CHECK_NOT_NULL(sweep);
        fake_clock_advance(&fake, NS_PER_SECOND);
    }
    CHECK_INT(atomic_load(&world.sweepers), 4);
    CHECK_STR(state_of(&hanging), "timed_out");
    CHECK_UINT(hanging, 4);

    hang_all(0, 1, false); /* the first driver answers; 1 to 3 hang still */
    hang_all(4, DRIVERS, false);
    for (int i = 0; i < 10000 && !tick(&sweep, 20); i++)
        real_sleep_ns(NS_PER_MS);
    CHECK(sweep->cut);
    CHECK_STR(state_of(&hanging), "have");
    CHECK_UINT(hanging, 3);
    end();
}

static void a_thread_that_hangs_to_the_end_is_left_behind(void)
{
    struct gpu_sweep *sweep = NULL;
    begin();
    hang_all(1, 2, true);
    CHECK_FALSE(tick(&sweep, 20));
    sources_end(&sources, 0);
    end();
}

static const check_test tests[] = {
    {"every tick has a sweep of its own", every_tick_has_a_sweep_of_its_own},
    {"a driver that hangs keeps its own device alone",
     a_driver_that_hangs_keeps_its_own_device_alone},
    {"where all threads hang nothing is new", where_all_threads_hang_nothing_is_new},
    {"a thread that hangs to the end is left behind",
     a_thread_that_hangs_to_the_end_is_left_behind},
};
CHECK_TESTS(tests)
