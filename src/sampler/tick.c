/* tick.c: see tick.h. */
#include "sampler/tick.h"

#include "sampler/context.h"
#include "util/error.h"

#include <string.h>

/* ---- life ---- */

int tick_init(struct tick *tick, vitals_context *context, const vitals_request *request,
              vitals_error *error)
{
    memset(tick, 0, sizeof(*tick));
    tick->context = context_ref(context);
    host_init(&tick->host);
    tick->stream = os_random(&context->os) % EXACT_MAX + 1;
    tick->request = request_copy(request);
    tick->event = worker_event_new(context);
    tick->processes = process_table_new(context);
    tick->devices = gpu_table_new();
    if (tick->request == NULL || tick->event == NULL || tick->processes == NULL ||
        tick->devices == NULL || vitals_builder_new(&tick->builder, NULL) < 0)
        goto failed;
    tick->shown = request->wanted;
    if (metric_set_has_entity(&tick->shown, VITALS_TABLE_WORKLOAD)) { /* it is made of these */
        metric_set_add(&tick->request->wanted, VITALS_PROCESS_WORKLOAD);
        metric_set_add(&tick->request->wanted, VITALS_PROCESS_CGROUP);
        metric_set_add(&tick->request->wanted, VITALS_PROCESS_USER);
    }
    /* Where no process has a row, none is read but the users of devices, which gpu_process names;
     * host.processes is a count of the listing, which opens none. */
    if (!metric_set_has_entity(&tick->request->wanted, VITALS_TABLE_PROCESS))
        tick->request->rows = VITALS_ROWS_GPU_USERS;
    plan_init(&tick->plan, tick->request);
    process_table_watcher(tick->processes, request->watcher);
    process_table_watch_cgroup(tick->processes, request->activity, request->activity_folder);
    process_table_select(tick->processes, tick->request->rows, tick->request->pids,
                         tick->request->pid_count);
    process_table_only_chosen(
        tick->processes, !metric_set_has_entity(&tick->request->wanted, VITALS_TABLE_GPU_PROCESS));
    const struct metric_set *wanted = &tick->request->wanted;
    tick->now.wanted = wanted;
    tick->now.shown = &tick->shown;
    tick->now.due = &tick->due;
    tick->now.interval_ns = request->interval_ns;
    tick->now.host = &tick->host;
    tick->now.processes = tick->processes;
    tick->now.devices = tick->devices;
    gpu_table_choose(tick->devices, tick->request);

    /* In the order of their rows in the table source. */
    struct sources *sources = &tick->sources;
    sources->context = context;
    sources->event = tick->event;
    bool gpus = gpu_source_wants_devices(wanted) ||
                metric_set_has_entity(wanted, VITALS_TABLE_DIAGNOSIS);
    if (slow_sources_add(sources, &tick->plan) < 0 || machine_sources_add(sources, wanted) < 0 ||
        workload_source_add(sources, &tick->shown) < 0)
        goto failed;
    if (gpus && (tick->now.sweeps = sweep_source_add(sources)) == NULL)
        goto failed;
    for (unsigned i = 0; gpus && gpu_backends[i] != NULL; i++)
        if (gpu_backend_enabled(gpu_backends[i], context->backends) &&
            gpu_source_add(sources, gpu_backends[i], i) < 0)
            goto failed;
    return 0;

failed:
    tick_done(tick, NS_PER_SECOND);
    return error_set(error, VITALS_EMEMORY, 0, "no memory, thread or descriptor for a sampler");
}

/* All but the workers. */
static void free_rest(struct tick *tick)
{
    vitals_builder_free(tick->builder);
    gpu_table_free(tick->devices);
    process_table_free(tick->processes);
    host_done(&tick->host);
    worker_event_unref(tick->event);
    vitals_request_free(tick->request);
    context_unref(tick->context);
}

void tick_done(struct tick *tick, uint64_t patience_ns)
{
    const vitals_clock *clock = &tick->context->os.clock;
    uint64_t deadline = saturating_add(clock->monotonic_ns(clock->data), patience_ns);
    sources_end(&tick->sources, deadline);
    free_rest(tick);
}

void tick_forget(struct tick *tick)
{
    sources_forget(&tick->sources);
    free_rest(tick);
}

/* ---- the workers ---- */

/* Asks for what may block of the processes that were met so far. */
static void ask_details(void *data)
{
    struct tick *tick = data;
    if (tick->request->rows != VITALS_ROWS_GPU_USERS)
        (void)sources_ask(&tick->sources, &tick->now, true);
}

static void mark(void *data, int64_t pid)
{
    struct tick *tick = data;
    (void)process_table_use(tick->processes, pid, &tick->due);
}

/* Waits for an answer, or until a source is to be asked again; false at the deadline. */
static bool wait_for_answer(struct tick *tick, uint64_t deadline_ns)
{
    uint64_t until_ns = sources_patience(&tick->sources, &tick->now, deadline_ns);
    if (worker_event_wait(tick->event, until_ns))
        return true;
    if (until_ns >= deadline_ns || os_now_ns(&tick->context->os) < until_ns)
        return false;
    return sources_ask(&tick->sources, &tick->now, true) == 0;
}

/* Collects until all is answered or the deadline. A device that was found while waiting is asked at
 * once, and so are the details of its users, so that a first tick is as full as any other. */
static int wait_for_sources(struct tick *tick, uint64_t deadline_ns)
{
    const struct sources *sources = &tick->sources;
    int code = 0;
    do {
        code = sources_collect(sources, &tick->now);
        if (code < 0)
            return code;
        if ((tick->request->rows & VITALS_ROWS_GPU_USERS) != 0) {
            /* Processes that a device's driver names get rows; then their details are due too. */
            gpu_table_each_pid(tick->devices, mark, tick);
            code = sources_ask(sources, &tick->now, true);
        }
        if (code == 0 && sources_settled(sources, &tick->now, true))
            code = sources_ask(sources, &tick->now, false);
        if (code < 0)
            return code;
    } while (!sources_settled(sources, &tick->now, false) && wait_for_answer(tick, deadline_ns));
    return 0;
}

/* ---- rows ---- */

static uint64_t find_process(const void *processes, int64_t pid, uint64_t start_ticks)
{
    return process_table_key_at(processes, pid, start_ticks);
}

static int build(struct tick *tick, uint64_t read_ns, vitals_snapshot **out, vitals_error *error)
{
    const vitals_clock *clock = &tick->context->os.clock;
    const struct os_origin *origin = &tick->context->origin;
    const struct metric_set *wanted = &tick->shown;
    vitals_builder *builder = tick->builder;
    vitals_builder_begin(builder);
    vitals_builder_origin(builder, source_text(origin->host), source_text(origin->boot_id),
                          origin->pid_namespace);
    vitals_builder_stream(builder, tick->stream);
    vitals_availability state = process_table_state(tick->processes);
    struct value count = value_missing(state);
    if (state > 0)
        count = (struct value){.as.u64 = process_table_listed(tick->processes),
                               .state = (signed char)state};
    host_write(&tick->host, builder, wanted, count, read_ns);
    for (size_t i = 0; i < tick->sources.count; i++) {
        struct source *source = tick->sources.items[i];
        if (source->ops->write_tables != NULL)
            source->ops->write_tables(source, &tick->now, builder, read_ns);
    }
    process_table_write(tick->processes, builder, wanted);
    gpu_table_age(tick->devices, tick->request, read_ns);
    gpu_table_write(tick->devices, builder, wanted, find_process, tick->processes, read_ns);
    uint64_t now_ns = os_now_ns(&tick->context->os);
    for (size_t i = 0;
         metric_set_has_entity(wanted, VITALS_TABLE_DIAGNOSIS) && i < tick->sources.count; i++) {
        const struct source *source = tick->sources.items[i];
        if (source->ops->write_diagnosis != NULL)
            source->ops->write_diagnosis(source, builder, now_ns);
    }

    if (metric_set_has_entity(&tick->request->wanted, VITALS_TABLE_SOURCE)) {
        enum { KEY_SAMPLER = 1, KEY_PROCESSES = 2 };
        builder_table_of(builder, VITALS_TABLE_SOURCE, &tick->request->wanted);
        source_begin_row(builder, KEY_SAMPLER, "sampler", "ticks", VITALS_HAVE, now_ns);
        vitals_builder_u64(builder, VITALS_SOURCE_CALLS, tick->sequence, VITALS_HAVE);
        vitals_builder_f64(builder, VITALS_SOURCE_CALL_SECONDS, (double)tick->spent_ns / 1e9,
                           VITALS_HAVE);
        vitals_builder_u64(builder, VITALS_SOURCE_MISSED_TICKS, tick->missed, VITALS_HAVE);
        builder_rest(builder, VITALS_TABLE_SOURCE, VITALS_UNSUPPORTED);
        source_begin_row(builder, KEY_PROCESSES, "processes",
                         state == VITALS_LOWER_BOUND
                             ? "hidepid hides others' processes; vitals doctor tells more"
                             : "the processes in /proc",
                         state, now_ns);
        builder_rest(builder, VITALS_TABLE_SOURCE, VITALS_UNSUPPORTED);
        for (size_t i = 0; i < tick->sources.count; i++)
            tick->sources.items[i]->ops->write(tick->sources.items[i], builder, now_ns);
    }
    vitals_builder_moment(builder, clock->realtime_ns(clock->data), clock->boottime_ns(clock->data),
                          now_ns, ++tick->sequence);
    return vitals_builder_finish(builder, out, error);
}

int tick_run(struct tick *tick, uint64_t patience_ns, vitals_snapshot **out, vitals_error *error)
{
    static const uint64_t MOMENT_NS = 100 * NS_PER_MS;
    static const vitals_table WHOLE[] = {VITALS_TABLE_CPU, VITALS_TABLE_DISK};
    const struct metric_set *wanted = &tick->request->wanted;
    uint64_t begin_ns = os_now_ns(&tick->context->os);
    tick->now.begin_ns = begin_ns;
    tick->now.first = tick->sequence == 0;
    tick->plan.rests = process_table_is_idle(tick->processes);
    plan_due(&tick->plan, begin_ns, tick->last, &tick->due);
    sources_begin(&tick->sources, &tick->now);
    /* Their rows are made anew in each tick, and so are read as a whole. */
    for (size_t i = 0; i < ARRAY_COUNT(WHOLE); i++)
        memcpy(tick->due.bits[WHOLE[i]], wanted->bits[WHOLE[i]], sizeof tick->due.bits[WHOLE[i]]);

    uint64_t read_ns = os_now_ns(&tick->context->os);
    int code = host_read(&tick->host, tick->context, &tick->due, read_ns);
    process_table_tell(tick->processes, ask_details, tick);
    if (tick->last && tick->now.first)
        process_table_once(tick->processes);
    if (tick->last) /* what is not seen now is never seen: all are looked at */
        process_table_watch_cgroup(tick->processes, 0, 0);
    if (code == 0 && (metric_set_has_entity(wanted, VITALS_TABLE_PROCESS) ||
                      metric_set_has(wanted, VITALS_GPU_PROCESS_PROCESS) ||
                      metric_set_has(wanted, VITALS_HOST_PROCESSES)))
        code = process_table_tick(tick->processes, &tick->due);
    if (code == 0) {
        ask_details(tick);
        code = wait_for_sources(tick, saturating_add(begin_ns, patience_ns));
    }
    /* The deadline is over. If a source had waited for a worker that hangs, others can answer now:
     * a first tick, which may be the only one, waits a moment for them. */
    if (code == 0 && sources_late(&tick->sources, &tick->now) && tick->now.first) {
        ask_details(tick);
        code = wait_for_sources(tick, os_now_ns(&tick->context->os) + MOMENT_NS);
    }
    if (code == 0 && metric_set_has_entity(wanted, VITALS_TABLE_GPU_PEER))
        code = gpu_table_look_around(tick->devices, &tick->context->os, wanted);
    tick->spent_ns += os_now_ns(&tick->context->os) - begin_ns;
    if (code < 0)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    return build(tick, read_ns, out, error);
}
