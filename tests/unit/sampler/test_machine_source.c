/* The workers of the machine: a mount that hangs delays no tick for long, and is read again once it
 * answers.
 *
 * The mount really hangs: its folder is not in the tree, so opening it fails, and the trace
 * callback blocks the thread until the test lets it go. */
#include "host_world.h"

#include "fake_clock.h"
#include "sampler/source.h"

#include <stdatomic.h>
#include <vitals/vitals.h>

static struct {
    struct fake_clock *fake;
    atomic_bool hang;
    atomic_int inside, calls;
} server;

static void trace(void *data, const char *line)
{
    (void)data;
    if (strstr(line, "self/root/gone") == NULL)
        return;
    atomic_fetch_add(&server.calls, 1);
    atomic_fetch_add(&server.inside, 1);
    while (atomic_load(&server.hang))
        real_sleep_ns(1000000);
    atomic_fetch_sub(&server.inside, 1);
}

struct sampling {
    vitals_context *context;
    struct worker_event *event;
    struct sources sources;
    struct source_tick now;
    struct host host;
    struct metric_set wanted;
    int64_t live; /* before it began */
};

static void begin(struct sampling *sampling)
{
    vitals_options options;
    vitals_error error;
    char proc[PATH_MAX], sys[PATH_MAX];
    snprintf(proc, sizeof proc, "%s", check_fixture("host/filesystems/proc"));
    snprintf(sys, sizeof sys, "%s", check_fixture("host/sensors/sys"));
    server.fake = fake_clock_new();
    vitals_options_init(&options, sizeof options);
    options.proc_root = proc;
    options.sys_root = sys;
    options.clock = &server.fake->clock;
    options.trace = trace;
    *sampling = (struct sampling){.wanted = host_table(VITALS_TABLE_FILESYSTEM),
                                  .live = memory_live()};
    for (unsigned number = 1; number < METRIC_NUMBERS; number++) {
        metric_set_add(&sampling->wanted, metric_of(VITALS_TABLE_SENSOR, number));
        metric_set_add(&sampling->wanted, metric_of(VITALS_TABLE_SOURCE, number));
    }
    metric_set_add(&sampling->wanted, VITALS_HOST_DISK_SPACE_TOTAL_BYTES);
    CHECK_OK(vitals_context_new(&options, &sampling->context, &error), error);
    sampling->event = worker_event_new(sampling->context);
    sampling->sources = (struct sources){.context = sampling->context, .event = sampling->event};
    sampling->now = (struct source_tick){
        .wanted = &sampling->wanted, .due = &sampling->wanted, .host = &sampling->host};
    CHECK_INT(machine_sources_add(&sampling->sources, &sampling->wanted), 0);
    host_init(&sampling->host);
}

/* Lets a thread go that hangs, and waits until it has gone and looks at the clock no more. */
static void end(struct sampling *sampling)
{
    uint64_t until = real_now_ns() + 20 * NS_PER_SECOND;
    atomic_store(&server.hang, false);
    sources_end(&sampling->sources, fake_clock_now(server.fake) + 4 * NS_PER_SECOND);
    host_done(&sampling->host);
    worker_event_unref(sampling->event);
    vitals_context_free(sampling->context);
    while (memory_live() != sampling->live && real_now_ns() < until)
        real_sleep_ns(NS_PER_MS);
    CHECK_INT(memory_live(), sampling->live);
}

static void write_sources(const struct sources *sources, vitals_builder *builder, uint64_t stamp_ns)
{
    for (size_t i = 0; i < sources->count; i++)
        sources->items[i]->ops->write(sources->items[i], builder, stamp_ns);
}

/* One tick: asks, waits while workers answer (or only until the mount hangs), and collects. */
static vitals_snapshot *tick(struct sampling *sampling, bool will_hang)
{
    const struct sources *sources = &sampling->sources;
    vitals_builder *builder;
    vitals_snapshot *snapshot;
    vitals_error error;
    uint64_t now_ns = sampling->now.begin_ns = fake_clock_now(server.fake);
    sources_begin(sources, &sampling->now);
    const struct answer_cache *sensors = &sampling->host.cache[HOST_CACHE_SENSORS];
    while (!sources_settled(sources, &sampling->now, false)) {
        CHECK_INT(sources_collect(sources, &sampling->now), 0);
        if (will_hang && atomic_load(&server.inside) > 0 && sensors->whole_ns == now_ns)
            break;
        real_sleep_ns(1000000);
    }
    CHECK_INT(sources_collect(sources, &sampling->now), 0);
    (void)sources_late(sources, &sampling->now);
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    vitals_builder_begin(builder);
    host_write(&sampling->host, builder, &sampling->wanted, value_u64(1), now_ns);
    builder_table_of(builder, VITALS_TABLE_SOURCE, &sampling->wanted);
    write_sources(sources, builder, now_ns);
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
    vitals_builder_free(builder);
    fake_clock_advance(server.fake, NS_PER_SECOND);
    return snapshot;
}

static double hung(const struct sampling *sampling)
{
    CHECK_INT(sources_collect(&sampling->sources, &sampling->now), 0);
    vitals_builder *builder;
    vitals_snapshot *snapshot;
    vitals_error error;
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    vitals_builder_begin(builder);
    builder_table_of(builder, VITALS_TABLE_SOURCE, &sampling->wanted);
    write_sources(&sampling->sources, builder, 1);
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
    double count = host_number(host_row(snapshot, VITALS_TABLE_SOURCE, "filesystems"),
                               VITALS_SOURCE_QUARANTINED);
    vitals_snapshot_unref(snapshot);
    vitals_builder_free(builder);
    return count;
}

static void check_tick(const vitals_snapshot *snapshot, int state, int gone, int root, int hung)
{
    const vitals_row *source = host_row(snapshot, VITALS_TABLE_SOURCE, "filesystems");
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_FILESYSTEM), state);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_SENSOR), VITALS_HAVE);
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_SENSOR), 12);
    host_check(source, VITALS_SOURCE_QUARANTINED, hung);
    if (gone == 0)
        return;
    host_check_state(host_row(snapshot, VITALS_TABLE_FILESYSTEM, "/gone"),
                     VITALS_FILESYSTEM_TOTAL_BYTES, gone);
    host_check_state(host_row(snapshot, VITALS_TABLE_FILESYSTEM, "/home"),
                     VITALS_FILESYSTEM_TOTAL_BYTES, root);
}

static void a_mount_that_hangs_delays_nobody_for_long(void)
{
    static const struct {
        const char *name;
        bool hang, will_hang;
        int state, gone, root, hung;
    } steps[] = {
        {"all answer", false, false, VITALS_HAVE, VITALS_GONE, VITALS_HAVE, 0},
        {"one hangs", true, true, VITALS_STALE, VITALS_GONE, VITALS_STALE, 0},
        {"still", true, true, VITALS_STALE, VITALS_GONE, VITALS_STALE, 0},
        {"is left behind", true, true, VITALS_STALE, VITALS_GONE, VITALS_STALE, 1},
        {"the others are asked", true, false, VITALS_HAVE, VITALS_TIMED_OUT, VITALS_HAVE, 1},
        {"and again", true, false, VITALS_HAVE, VITALS_TIMED_OUT, VITALS_HAVE, 1},
        {"and it too, when it is back", false, false, VITALS_HAVE, VITALS_GONE, VITALS_HAVE, 0},
    };
    struct sampling sampling;
    begin(&sampling);
    for (size_t i = 0; i < CHECK_COUNT(steps); i++) {
        CHECK_CASE(steps[i].name);
        atomic_store(&server.hang, steps[i].hang);
        while (!steps[i].hang && hung(&sampling) > 0)
            real_sleep_ns(1000000);
        vitals_snapshot *snapshot = tick(&sampling, steps[i].will_hang);
        check_tick(snapshot, steps[i].state, steps[i].gone, steps[i].root, steps[i].hung);
        vitals_snapshot_unref(snapshot);
    }
    CHECK_INT(atomic_load(&server.calls), 3);
    end(&sampling);
}

/* One that hangs from the first: no rows, and why. */
static void a_table_that_never_came_timed_out(void)
{
    struct sampling sampling;
    begin(&sampling);
    atomic_store(&server.hang, true);
    vitals_snapshot *snapshot = tick(&sampling, true);
    check_tick(snapshot, VITALS_TIMED_OUT, 0, 0, 0);
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_FILESYSTEM), 0);
    host_check_state(vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL),
                     VITALS_HOST_DISK_SPACE_TOTAL_BYTES, VITALS_TIMED_OUT);
    vitals_snapshot_unref(snapshot);
    end(&sampling);
}

/* The first reading waits as long as it takes to know that one hangs, and has the others. */
static void one_reading_has_all_others(void)
{
    struct sampling sampling;
    vitals_snapshot *snapshot;
    vitals_error error;
    begin(&sampling);
    atomic_store(&server.hang, true);
    CHECK_OK(vitals_snapshot_take(sampling.context, VITALS_SET_FILESYSTEMS | VITALS_SET_SENSORS,
                                  &snapshot, &error),
             error);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_FILESYSTEM), VITALS_HAVE);
    host_check_state(host_row(snapshot, VITALS_TABLE_FILESYSTEM, "/gone"),
                     VITALS_FILESYSTEM_TOTAL_BYTES, VITALS_TIMED_OUT);
    host_check_state(host_row(snapshot, VITALS_TABLE_FILESYSTEM, "/home"),
                     VITALS_FILESYSTEM_TOTAL_BYTES, VITALS_HAVE);
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_SENSOR), 12);
    vitals_snapshot_unref(snapshot);
    end(&sampling);
}

/* A worker that does not answer costs one tick its patience, and none behind it. */
static void who_is_late_is_waited_for_once(void)
{
    enum { TICKS = 8 };
    struct sampling sampling;
    vitals_request *request;
    vitals_sampler *sampler;
    vitals_error error;
    double spent = 0;
    begin(&sampling);
    CHECK_OK(vitals_request_new(VITALS_SET_FILESYSTEMS | VITALS_SET_SOURCES, &request, &error),
             error);
    CHECK_OK(vitals_request_set_every(request, VITALS_FILESYSTEM_TOTAL_BYTES, 0, &error), error);
    CHECK_OK(vitals_sampler_new(sampling.context, request, &sampler, &error), error);
    vitals_request_free(request);
    for (int i = 0; i < TICKS; i++) {
        vitals_snapshot *snapshot;
        atomic_store(&server.hang, i > 0);
        CHECK_OK(vitals_sampler_take(sampler, &snapshot, &error), error);
        double all = host_number(host_row(snapshot, VITALS_TABLE_SOURCE, "sampler"),
                                 VITALS_SOURCE_CALL_SECONDS);
        CHECK_NEAR(all - spent, i == 1 ? 0.1 : 0, 1e-6);
        spent = all;
        vitals_snapshot_unref(snapshot);
        fake_clock_advance(server.fake, NS_PER_SECOND / 4); // it hangs for less than 2 s
    }
    atomic_store(&server.hang, false);
    vitals_sampler_free(sampler);
    end(&sampling);
}

/* Workers only for what is wanted. */
static void nothing_is_made_that_is_not_wanted(void)
{
    struct sampling sampling;
    begin(&sampling);
    struct metric_set few = {0};
    metric_set_add(&few, VITALS_HOST_LOAD_1M);
    metric_set_add(&few, VITALS_CPU_USER_SECONDS);
    struct sources sources = {.context = sampling.context, .event = sampling.event};
    CHECK_INT(machine_sources_add(&sources, &few), 0);
    CHECK_UINT(sources.count, 0);
    end(&sampling);
}

static const check_test tests[] = {
    {"a mount that hangs delays nobody for long", a_mount_that_hangs_delays_nobody_for_long},
    {"a table that never came timed out", a_table_that_never_came_timed_out},
    {"one reading has all others", one_reading_has_all_others},
    {"who is late is waited for once", who_is_late_is_waited_for_once},
    {"nothing is made that is not wanted", nothing_is_made_that_is_not_wanted},
};
CHECK_TESTS(tests)
