/* table.c: the cases of floor.c, and some more, through the public API.
 *
 *     table CASE SWEEPS TICKS [--nvml LIBRARY | --descriptors COUNT]
 *
 *     plain      what stat tells of all processes
 *     usual      and resident set size, and CPU time in nanoseconds
 *     processes  VITALS_SET_PROCESSES as it stands: and users, command lines, cgroups
 *     minute     the same, with a second between two ticks
 *     one        usual, of one process among all
 *     tree       usual, of ourselves and our descendants
 *     users      usual, of processes that a device names: none
 *     machine    VITALS_SET_MACHINE
 *     gpus       VITALS_SET_GPUS, with a second between two ticks; needs --nvml
 *
 * COUNT is of descriptors that may be kept open; else as many as there may be, as the command has
 * it. 0 is the library's default.
 *
 * Each sweep makes a sampler and takes a snapshot (first sight), then one for each tick. Like every
 * consumer that shows rates, it holds the newest and the one before. The first ticks may still
 * allocate; the ticks after them are steady. Linked with the hidden symbols of the library for its
 * count of allocations. */
#include "measure.h"

#include "util/memory.h"
#include <vitals/vitals.h>

#include <dirent.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Three snapshots take turns (two are held, one is being built), and each finds its size at its
 * second turn. */
enum { WARM_TICKS = 6 };

static const uint64_t SECOND_NS = 1000000000;

static void check(int code, const vitals_error *error)
{
    if (code >= 0)
        return;
    fprintf(stderr, "table: %s\n", error->message);
    exit(1);
}

/* ---- a clock that jumps from tick to tick ---- */

/* Between two jumps it takes a thousand times as long as the real one: a tick never gets to its
 * deadline, where values that came late would be left out and their files not be counted. */
enum { SLOWNESS = 1000 };

static _Atomic uint64_t ahead_ns;
static uint64_t begin_ns; /* by the real monotonic clock */

/* How far it is behind the real one. */
static uint64_t behind(const vitals_clock *clock)
{
    uint64_t passed = clock->monotonic_ns(clock->data) - begin_ns;
    return passed - passed / SLOWNESS;
}

static uint64_t monotonic(void *data)
{
    const vitals_clock *clock = data;
    uint64_t passed = clock->monotonic_ns(clock->data) - begin_ns;
    return begin_ns + passed / SLOWNESS + atomic_load(&ahead_ns);
}

static uint64_t boottime(void *data)
{
    const vitals_clock *clock = data;
    return clock->boottime_ns(clock->data) - behind(clock) + atomic_load(&ahead_ns);
}

static uint64_t realtime(void *data)
{
    const vitals_clock *clock = data;
    return clock->realtime_ns(clock->data) - behind(clock) + atomic_load(&ahead_ns);
}

static int wait_until(void *data, int descriptor, uint64_t deadline_ns)
{
    const vitals_clock *clock = data;
    uint64_t begin = begin_ns + atomic_load(&ahead_ns);
    if (deadline_ns != UINT64_MAX)
        deadline_ns = deadline_ns > begin ? begin_ns + (deadline_ns - begin) * SLOWNESS : 0;
    return clock->wait_until(clock->data, descriptor, deadline_ns);
}

/* ---- the cases ---- */

static const vitals_metric PLAIN[] = {
    VITALS_PROCESS_PID,
    VITALS_PROCESS_PARENT_PID,
    VITALS_PROCESS_START_SECONDS,
    VITALS_PROCESS_NAME,
    VITALS_PROCESS_STATE,
    VITALS_PROCESS_THREADS,
    VITALS_PROCESS_NICE,
    VITALS_PROCESS_CPU_USER_SECONDS,
    VITALS_PROCESS_CPU_SYSTEM_SECONDS,
    VITALS_PROCESS_MINOR_FAULTS,
    VITALS_PROCESS_MAJOR_FAULTS,
    VITALS_PROCESS_VIRTUAL_BYTES,
    VITALS_PROCESS_CPU,
};

static const vitals_metric MORE[] = {
    VITALS_PROCESS_RESIDENT_BYTES,
    VITALS_PROCESS_CPU_SECONDS,
};

struct scene {
    const char *name;
    unsigned sets;
    bool plain, more;
    unsigned rows; /* 0: all */
    bool jumps;    /* a second between two ticks */
};

static const struct scene scenes[] = {
    {.name = "plain", .plain = true},
    {.name = "usual", .plain = true, .more = true},
    {.name = "processes", .sets = VITALS_SET_PROCESSES},
    {.name = "minute", .sets = VITALS_SET_PROCESSES, .jumps = true},
    {.name = "one", .plain = true, .more = true, .rows = VITALS_ROWS_LISTED},
    {.name = "users", .plain = true, .more = true, .rows = VITALS_ROWS_GPU_USERS},
    {.name = "tree", .plain = true, .more = true, .rows = VITALS_ROWS_TREE},
    {.name = "machine", .sets = VITALS_SET_MACHINE},
    {.name = "gpus", .sets = VITALS_SET_GPUS, .jumps = true},
};

static vitals_request *request_of(const struct scene *scene)
{
    vitals_request *request;
    vitals_error error;
    check(vitals_request_new(scene->sets, &request, &error), &error);
    for (size_t i = 0; scene->plain && i < sizeof PLAIN / sizeof PLAIN[0]; i++)
        check(vitals_request_add(request, PLAIN[i], &error), &error);
    for (size_t i = 0; scene->more && i < sizeof MORE / sizeof MORE[0]; i++)
        check(vitals_request_add(request, MORE[i], &error), &error);
    int64_t self = getpid();
    if (scene->rows != 0)
        check(vitals_request_set_rows(request, scene->rows, &self, 1, &error), &error);
    return request;
}

/* ---- what the simulated driver was asked ---- */

static uint64_t (*driver_counter)(const char *name);

static void find_driver_counter(const char *library)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    void *address = handle != NULL ? dlsym(handle, "simulated_nvml_calls") : NULL;
    memcpy(&driver_counter, &address, sizeof address);
    if (driver_counter == NULL) {
        fprintf(stderr, "table: %s is no simulated driver\n", library);
        exit(1);
    }
}

static uint64_t driver_calls(void)
{
    return driver_counter != NULL ? driver_counter(NULL) : 0;
}

/* ---- taking ---- */

/* What was counted in the takes of one phase: allocations of the worst and the best, and all
 * driver calls. */
struct counts {
    uint64_t takes, allocations, allocations_least, driver_calls;
};

struct consumer {
    vitals_sampler *sampler;
    vitals_snapshot *newest, *before;
};

static void take(struct consumer *consumer, struct measure *measure, struct counts *counts)
{
    vitals_error error;
    vitals_snapshot *snapshot;
    uint64_t asked = memory_asked(), driven = driver_calls();
    measure_begin(measure);
    check(vitals_sampler_take(consumer->sampler, &snapshot, &error), &error);
    measure_end(measure);
    asked = memory_asked() - asked;
    if (counts->takes++ == 0 || asked < counts->allocations_least)
        counts->allocations_least = asked;
    counts->driver_calls += driver_calls() - driven;
    if (asked > counts->allocations)
        counts->allocations = asked;
    vitals_snapshot_unref(consumer->before);
    consumer->before = consumer->newest;
    consumer->newest = snapshot;
}

static void consumer_done(struct consumer *consumer)
{
    vitals_snapshot_unref(consumer->newest);
    vitals_snapshot_unref(consumer->before);
    vitals_sampler_free(consumer->sampler);
}

/* Processes in /proc, without the library: it is the one that is measured. */
static size_t listed(void)
{
    size_t count = 0;
    DIR *proc = opendir("/proc");
    for (const struct dirent *entry; proc != NULL && (entry = readdir(proc)) != NULL;)
        count += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
    if (proc != NULL)
        closedir(proc);
    return count;
}

static void print(struct measure *measure, const char *name, const char *phase, size_t processes,
                  const struct counts *counts)
{
    measure_print(measure, name, phase, processes);
    double takes = counts->takes > 0 ? (double)counts->takes : 1;
    printf(" allocations=%" PRIu64 " allocations_least=%" PRIu64 " driver_calls=%.2f\n",
           counts->allocations, counts->allocations_least, (double)counts->driver_calls / takes);
}

static void run(const struct scene *scene, vitals_context *context, size_t sweeps, size_t ticks)
{
    static struct measure first, warm, steady;
    struct counts first_counts = {0}, warm_counts = {0}, steady_counts = {0};
    vitals_request *request = request_of(scene);
    for (size_t sweep = 0; sweep < sweeps; sweep++) {
        vitals_error error;
        struct consumer consumer = {0};
        check(vitals_sampler_new(context, request, &consumer.sampler, &error), &error);
        take(&consumer, &first, &first_counts);
        for (size_t i = 0; i < ticks; i++) {
            bool settled = i >= WARM_TICKS;
            if (scene->jumps)
                atomic_fetch_add(&ahead_ns, SECOND_NS);
            take(&consumer, settled ? &steady : &warm, settled ? &steady_counts : &warm_counts);
        }
        if (sweep + 1 < sweeps)
            consumer_done(&consumer);
    }
    if (ticks == 0)
        _exit(0); // under a tracer: nothing but what is counted
    size_t processes = listed();
    print(&first, scene->name, "first", processes, &first_counts);
    print(&warm, scene->name, "warm", processes, &warm_counts);
    print(&steady, scene->name, "steady", processes, &steady_counts);
    fflush(stdout);
    _exit(0); // the last sampler is left as it is, so that a tracer counts no closing
}

static const struct scene *scene_of(const char *name)
{
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++)
        if (strcmp(scenes[i].name, name) == 0)
            return &scenes[i];
    return NULL;
}

int main(int argc, char **argv)
{
    bool nvml = argc == 6 && strcmp(argv[4], "--nvml") == 0;
    bool few = argc == 6 && strcmp(argv[4], "--descriptors") == 0;
    const struct scene *scene = argc == 4 || nvml || few ? scene_of(argv[1]) : NULL;
    if (scene == NULL) {
        fprintf(stderr, "usage: table CASE SWEEPS TICKS [--nvml LIBRARY | --descriptors COUNT], "
                        "where CASE is\n");
        for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++)
            fprintf(stderr, "    %s\n", scenes[i].name);
        return 2;
    }
    size_t sweeps = measure_argument("table", argv[2], 1000);
    size_t ticks = measure_argument("table", argv[3], 1000);
    measure_raise_descriptors();
    if (nvml)
        find_driver_counter(argv[5]);

    vitals_clock clock = {
        .size = sizeof clock,
        .monotonic_ns = monotonic,
        .boottime_ns = boottime,
        .realtime_ns = realtime,
        .wait_until = wait_until,
    };
    const vitals_clock *real = vitals_clock_system();
    memcpy(&clock.data, &real, sizeof clock.data);
    begin_ns = real->monotonic_ns(real->data);
    vitals_options options;
    vitals_error error;
    vitals_context *context;
    vitals_options_init(&options, sizeof options);
    options.nvml_path = nvml ? argv[5] : NULL;
    options.backends = nvml ? "nvidia" : "";
    options.clock = &clock;
    options.bpf = 1;
    options.max_descriptors = few ? (uint32_t)measure_argument("table", argv[5], UINT32_MAX)
                                  : UINT32_MAX;
    check(vitals_context_new(&options, &context, &error), &error);
    run(scene, context, sweeps, ticks);
}
