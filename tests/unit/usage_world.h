/* What the tests of usages share: snapshots of a machine that a test describes row by row.
 * Everything is static: each test program includes it once. */
#ifndef TESTS_UNIT_USAGE_WORLD_H
#define TESTS_UNIT_USAGE_WORLD_H

#include "check.h"

#include <math.h>
#include <vitals/sys/builder.h>
#include <vitals/vitals.h>

enum { WORLD_ROWS = 32 };

/* (double)NAN: denied; of u64s INFINITY: not read yet. */
struct world_process {
    uint64_t key, parent;
    int64_t pid, parent_pid;
    double start, cpu, user, system, children_user, children_system;
    double resident, peak, anonymous, unique, proportional, threads, read, written;
    double faults, shared;          /* pages of files and shared memory */
    double shared_memory;           /* of `shared` */
    double anonymous_share;         /* of `proportional`; 0: denied */
    double shared_memory_share;     /* likewise */
    double walked;                  /* when its memory was walked through; 0: as the world says */
    vitals_availability io;         /* why read and written are not there; 0: they are */
    double network, received, sent; /* its namespace, and what went through that */
};

struct world_client {
    uint64_t key, gpu, process;
    double memory, busy, utilization;
};

struct world_gpu {
    uint64_t key, parent;
    const char *label, *uuid, *vendor;
    double energy, utilization;
    vitals_availability processes; /* 0: they are listed */
    double read;                   /* when, by the monotonic clock; 0: now */
};

struct world {
    vitals_builder *builder;
    double seconds; /* monotonic; the machine booted an hour before */
    double realtime;
    uint64_t stream;
    double host_busy, host_memory, host_disk;
    double host_energy, host_network, host_received, host_sent; /* NaN: denied */
    double host_read, detail_read; /* when, by the monotonic clock; 0: now */
    vitals_availability listed;    /* why there are no processes; 0: there are */
    struct world_process processes[WORLD_ROWS];
    size_t process_count;
    struct world_gpu gpus[WORLD_ROWS];
    size_t gpu_count;
    struct world_client clients[WORLD_ROWS];
    size_t client_count;
};

static inline vitals_text world_text(const char *string)
{
    return (vitals_text){string, strlen(string)};
}

static inline void world_init(struct world *world)
{
    vitals_error error;
    *world = (struct world){.seconds = 100, .realtime = 1e9, .stream = 7, .host_memory = 1e9};
    CHECK_OK(vitals_builder_new(&world->builder, &error), error);
}

static inline void world_done(struct world *world, vitals_usage *usage)
{
    vitals_usage_free(usage);
    vitals_builder_free(world->builder);
}

static inline struct world_process *world_add(struct world *world, uint64_t key, uint64_t parent,
                                              int64_t pid, int64_t parent_pid)
{
    struct world_process *process = &world->processes[world->process_count++];
    *process = (struct world_process){.key = key,
                                      .parent = parent,
                                      .pid = pid,
                                      .parent_pid = parent_pid,
                                      .start = 3600 + world->seconds,
                                      .resident = 1000,
                                      .peak = 1000,
                                      .anonymous = (double)NAN,
                                      .unique = (double)NAN,
                                      .proportional = (double)NAN,
                                      .threads = 1};
    return process;
}

static inline void world_add_gpu(struct world *world, const char *label, const char *uuid)
{
    struct world_gpu *gpu = &world->gpus[world->gpu_count];
    *gpu = (struct world_gpu){.key = 50 + world->gpu_count++,
                              .label = label,
                              .uuid = uuid,
                              .vendor = "nvidia",
                              .utilization = 0.5};
}

/* A process on a device. */
static inline struct world_client *world_add_client(struct world *world, uint64_t key, uint64_t gpu,
                                                    uint64_t process)
{
    struct world_client *client = &world->clients[world->client_count++];
    *client = (struct world_client){.key = key, .gpu = gpu, .process = process};
    return client;
}

static inline struct world_process *world_find(struct world *world, uint64_t key)
{
    for (size_t i = 0; i < world->process_count; i++) {
        if (world->processes[i].key == key)
            return &world->processes[i];
    }
    CHECK_FAIL("no process %u", (unsigned)key);
}

static inline void world_end(struct world *world, uint64_t key)
{
    struct world_process *process = world_find(world, key);
    *process = world->processes[--world->process_count];
}

static inline void world_f64(vitals_builder *builder, vitals_metric metric, double value)
{
    if (isnan(value))
        vitals_builder_missing(builder, metric, VITALS_DENIED);
    else
        vitals_builder_f64(builder, metric, value, VITALS_HAVE);
}

static inline void world_u64(vitals_builder *builder, vitals_metric metric, double value)
{
    if (isinf(value))
        vitals_builder_missing(builder, metric, VITALS_NOT_YET);
    else if (isnan(value))
        vitals_builder_missing(builder, metric, VITALS_DENIED);
    else
        vitals_builder_u64(builder, metric, (uint64_t)value, VITALS_HAVE);
}

static inline void world_read_at(vitals_builder *builder, vitals_metric metric, double seconds)
{
    if (seconds > 0)
        vitals_builder_read_at(builder, metric, (uint64_t)(seconds * 1e9));
}

static inline void world_write_process(const struct world *world,
                                       const struct world_process *process, uint64_t now)
{
    vitals_builder *builder = world->builder;
    vitals_builder_row(builder, VITALS_TABLE_PROCESS, process->key, process->parent,
                       world_text("p"), now);
    vitals_builder_u64(builder, VITALS_PROCESS_PID, (uint64_t)process->pid, VITALS_HAVE);
    vitals_builder_u64(builder, VITALS_PROCESS_PARENT_PID, (uint64_t)process->parent_pid,
                       VITALS_HAVE);
    world_f64(builder, VITALS_PROCESS_START_SECONDS, process->start);
    world_f64(builder, VITALS_PROCESS_CPU_SECONDS, process->cpu);
    world_f64(builder, VITALS_PROCESS_CPU_USER_SECONDS, process->user);
    world_f64(builder, VITALS_PROCESS_CPU_SYSTEM_SECONDS, process->system);
    world_f64(builder, VITALS_PROCESS_CHILDREN_USER_SECONDS, process->children_user);
    world_f64(builder, VITALS_PROCESS_CHILDREN_SYSTEM_SECONDS, process->children_system);
    world_u64(builder, VITALS_PROCESS_RESIDENT_BYTES, process->resident);
    world_u64(builder, VITALS_PROCESS_RESIDENT_PEAK_BYTES, process->peak);
    world_u64(builder, VITALS_PROCESS_THREADS, process->threads);
    world_u64(builder, VITALS_PROCESS_NETWORK_NAMESPACE, process->network);
    world_u64(builder, VITALS_PROCESS_NETWORK_RECEIVED_BYTES, process->received);
    world_u64(builder, VITALS_PROCESS_NETWORK_TRANSMITTED_BYTES, process->sent);
    world_u64(builder, VITALS_PROCESS_RESIDENT_ANON_BYTES, process->anonymous);
    world_u64(builder, VITALS_PROCESS_USS_BYTES, process->unique);
    world_u64(builder, VITALS_PROCESS_PSS_BYTES, process->proportional);
    bool split = process->anonymous_share > 0;
    world_u64(builder, VITALS_PROCESS_PSS_ANON_BYTES,
              split ? process->anonymous_share : (double)NAN);
    world_u64(builder, VITALS_PROCESS_PSS_SHMEM_BYTES,
              split ? process->shared_memory_share : (double)NAN);
    double walked = process->walked > 0 ? process->walked : world->detail_read;
    world_read_at(builder, VITALS_PROCESS_USS_BYTES, walked);
    world_read_at(builder, VITALS_PROCESS_PSS_BYTES, walked);
    world_read_at(builder, VITALS_PROCESS_PSS_ANON_BYTES, walked);
    world_read_at(builder, VITALS_PROCESS_PSS_SHMEM_BYTES, walked);
    world_u64(builder, VITALS_PROCESS_SHARED_BYTES, process->shared);
    world_u64(builder, VITALS_PROCESS_RESIDENT_SHMEM_BYTES, process->shared_memory);
    world_u64(builder, VITALS_PROCESS_MINOR_FAULTS, process->faults);
    world_u64(builder, VITALS_PROCESS_MAJOR_FAULTS, 0);
    if (process->io != 0) {
        vitals_builder_missing(builder, VITALS_PROCESS_READ_BYTES, process->io);
        vitals_builder_missing(builder, VITALS_PROCESS_WRITTEN_BYTES, process->io);
        return;
    }
    world_u64(builder, VITALS_PROCESS_READ_BYTES, process->read);
    world_u64(builder, VITALS_PROCESS_WRITTEN_BYTES, process->written);
}

static inline void world_write_gpu(const struct world *world, const struct world_gpu *gpu,
                                   uint64_t now)
{
    vitals_builder *builder = world->builder;
    vitals_builder_row(builder, VITALS_TABLE_GPU, gpu->key, gpu->parent, world_text(gpu->label),
                       now);
    vitals_builder_text(builder, VITALS_GPU_VENDOR, world_text(gpu->vendor), VITALS_HAVE);
    if (gpu->uuid != NULL)
        vitals_builder_text(builder, VITALS_GPU_UUID, world_text(gpu->uuid), VITALS_HAVE);
    else
        vitals_builder_missing(builder, VITALS_GPU_UUID, VITALS_UNSUPPORTED);
    if (gpu->processes != 0)
        vitals_builder_missing(builder, VITALS_GPU_PROCESSES, gpu->processes);
    else
        vitals_builder_u64(builder, VITALS_GPU_PROCESSES, 0, VITALS_HAVE);
    world_f64(builder, VITALS_GPU_ENERGY_JOULES, gpu->energy);
    world_f64(builder, VITALS_GPU_UTILIZATION_RATIO, gpu->utilization);
    world_u64(builder, VITALS_GPU_MEMORY_USED_BYTES, 5000);
    world_read_at(builder, VITALS_GPU_UTILIZATION_RATIO, gpu->read);
    world_read_at(builder, VITALS_GPU_ENERGY_JOULES, gpu->read);
}

static inline void world_write_client(const struct world *world, const struct world_client *client,
                                      uint64_t now)
{
    vitals_builder *builder = world->builder;
    vitals_builder_row(builder, VITALS_TABLE_GPU_PROCESS, client->key, client->gpu, world_text("c"),
                       now);
    if (client->process != 0)
        vitals_builder_u64(builder, VITALS_GPU_PROCESS_PROCESS, client->process, VITALS_HAVE);
    else
        vitals_builder_missing(builder, VITALS_GPU_PROCESS_PROCESS, VITALS_OUTSIDE);
    world_u64(builder, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, client->memory);
    world_f64(builder, VITALS_GPU_PROCESS_BUSY_SECONDS, client->busy);
    world_f64(builder, VITALS_GPU_PROCESS_UTILIZATION_RATIO, client->utilization);
}

static inline vitals_snapshot *world_snapshot(struct world *world)
{
    static const vitals_metric HOST[] = {VITALS_HOST_CPU_BUSY_SECONDS,
                                         VITALS_HOST_CPUS,
                                         VITALS_HOST_CPUS_USABLE,
                                         VITALS_HOST_MEMORY_USED_BYTES,
                                         VITALS_HOST_DISK_READ_BYTES,
                                         VITALS_HOST_PACKAGE_ENERGY_JOULES,
                                         VITALS_HOST_NETWORK_NAMESPACE,
                                         VITALS_HOST_NETWORK_RECEIVED_BYTES,
                                         VITALS_HOST_NETWORK_TRANSMITTED_BYTES};
    static const vitals_metric PROCESS[] = {VITALS_PROCESS_PID,
                                            VITALS_PROCESS_PARENT_PID,
                                            VITALS_PROCESS_START_SECONDS,
                                            VITALS_PROCESS_CPU_SECONDS,
                                            VITALS_PROCESS_CPU_USER_SECONDS,
                                            VITALS_PROCESS_CPU_SYSTEM_SECONDS,
                                            VITALS_PROCESS_CHILDREN_USER_SECONDS,
                                            VITALS_PROCESS_CHILDREN_SYSTEM_SECONDS,
                                            VITALS_PROCESS_RESIDENT_BYTES,
                                            VITALS_PROCESS_RESIDENT_PEAK_BYTES,
                                            VITALS_PROCESS_THREADS,
                                            VITALS_PROCESS_NETWORK_NAMESPACE,
                                            VITALS_PROCESS_NETWORK_RECEIVED_BYTES,
                                            VITALS_PROCESS_NETWORK_TRANSMITTED_BYTES,
                                            VITALS_PROCESS_RESIDENT_ANON_BYTES,
                                            VITALS_PROCESS_USS_BYTES,
                                            VITALS_PROCESS_PSS_BYTES,
                                            VITALS_PROCESS_PSS_ANON_BYTES,
                                            VITALS_PROCESS_PSS_SHMEM_BYTES,
                                            VITALS_PROCESS_SHARED_BYTES,
                                            VITALS_PROCESS_RESIDENT_SHMEM_BYTES,
                                            VITALS_PROCESS_MINOR_FAULTS,
                                            VITALS_PROCESS_MAJOR_FAULTS,
                                            VITALS_PROCESS_READ_BYTES,
                                            VITALS_PROCESS_WRITTEN_BYTES};
    static const vitals_metric GPU[] = {VITALS_GPU_VENDOR,
                                        VITALS_GPU_UUID,
                                        VITALS_GPU_PROCESSES,
                                        VITALS_GPU_ENERGY_JOULES,
                                        VITALS_GPU_UTILIZATION_RATIO,
                                        VITALS_GPU_MEMORY_USED_BYTES};
    static const vitals_metric CLIENT[] = {
        VITALS_GPU_PROCESS_PROCESS, VITALS_GPU_PROCESS_MEMORY_USED_BYTES,
        VITALS_GPU_PROCESS_BUSY_SECONDS, VITALS_GPU_PROCESS_UTILIZATION_RATIO};
    vitals_builder *builder = world->builder;
    uint64_t now = (uint64_t)(world->seconds * 1e9);
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    vitals_builder_begin(builder);
    vitals_builder_origin(builder, world_text("host"), world_text("boot"), 1);
    vitals_builder_stream(builder, world->stream);
    vitals_builder_moment(builder, (uint64_t)(world->realtime * 1e9), now + UINT64_C(3600000000000),
                          now, 1);
    vitals_builder_table(builder, VITALS_TABLE_HOST, HOST, CHECK_COUNT(HOST));
    vitals_builder_row(builder, VITALS_TABLE_HOST, 1, 0, world_text("host"), now);
    world_f64(builder, VITALS_HOST_CPU_BUSY_SECONDS, world->host_busy);
    world_u64(builder, VITALS_HOST_CPUS, 8);
    world_u64(builder, VITALS_HOST_CPUS_USABLE, 4);
    world_u64(builder, VITALS_HOST_MEMORY_USED_BYTES, world->host_memory);
    world_u64(builder, VITALS_HOST_DISK_READ_BYTES, world->host_disk);
    world_f64(builder, VITALS_HOST_PACKAGE_ENERGY_JOULES, world->host_energy);
    world_u64(builder, VITALS_HOST_NETWORK_NAMESPACE, world->host_network);
    world_u64(builder, VITALS_HOST_NETWORK_RECEIVED_BYTES, world->host_received);
    world_u64(builder, VITALS_HOST_NETWORK_TRANSMITTED_BYTES, world->host_sent);
    for (size_t i = 0; i < CHECK_COUNT(HOST); i++)
        world_read_at(builder, HOST[i], world->host_read);
    vitals_builder_table(builder, VITALS_TABLE_PROCESS, PROCESS, CHECK_COUNT(PROCESS));
    if (world->listed != 0)
        vitals_builder_state(builder, VITALS_TABLE_PROCESS, world->listed);
    for (size_t i = 0; i < world->process_count && world->listed == 0; i++)
        world_write_process(world, &world->processes[i], now);
    vitals_builder_table(builder, VITALS_TABLE_GPU, GPU, CHECK_COUNT(GPU));
    for (size_t i = 0; i < world->gpu_count; i++)
        world_write_gpu(world, &world->gpus[i], now);
    vitals_builder_table(builder, VITALS_TABLE_GPU_PROCESS, CLIENT, CHECK_COUNT(CLIENT));
    for (size_t i = 0; i < world->client_count; i++)
        world_write_client(world, &world->clients[i], now);
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
    return snapshot;
}

/* Adds what the world looks like now, and lets a second go by. */
static inline void world_tick(struct world *world, vitals_usage *usage)
{
    vitals_error error;
    vitals_snapshot *snapshot = world_snapshot(world);
    CHECK_OK(vitals_usage_add(usage, snapshot, &error), error);
    vitals_snapshot_unref(snapshot);
    world->seconds += 1;
    world->realtime += 1;
}

static inline vitals_usage *usage_of(const vitals_usage_options *options)
{
    vitals_usage *usage = NULL;
    vitals_error error;
    CHECK_OK(vitals_usage_new(options, &usage, &error), error);
    return usage;
}

/* Of the tree of process 10 and all below it, as `vitals track 10` measures. */
static inline vitals_usage *usage_of_pid(int64_t pid)
{
    vitals_usage_options options;
    vitals_usage_options_init(&options, sizeof options);
    options.pids = &pid;
    options.pid_count = 1;
    return usage_of(&options);
}

static inline vitals_usage *usage_of_launcher(int64_t pid)
{
    vitals_usage_options options;
    vitals_usage_options_init(&options, sizeof options);
    options.launcher = pid;
    return usage_of(&options);
}

/* The newest value; its state in *state, which may be NULL. */
static inline double newest(const vitals_usage *usage, vitals_scope scope, const char *name,
                            vitals_availability *state)
{
    vitals_measure measure = vitals_measure_find(name);
    CHECK(measure != 0);
    for (const vitals_usage_value *value = NULL;
         (value = vitals_usage_next(usage, value)) != NULL;) {
        if (value->measure != measure || value->scope != scope)
            continue;
        if (state != NULL)
            *state = value->state;
        return value->value;
    }
    if (state != NULL)
        *state = VITALS_UNSET;
    return (double)NAN;
}

static inline double tree(const vitals_usage *usage, const char *name)
{
    return newest(usage, VITALS_SCOPE_TREE, name, NULL);
}

/* A figure of the account; its state in *state, which may be NULL. */
static inline double figure_of(const vitals_usage *usage, const char *name, const char *subject,
                               vitals_availability *state)
{
    vitals_account *account = NULL;
    vitals_error error;
    double value = (double)NAN;
    CHECK_OK(vitals_usage_account(usage, &account, &error), error);
    const vitals_figure *figure = vitals_account_find(account, name, subject);
    vitals_availability is = figure != NULL ? vitals_figure_value(figure, &value) : VITALS_UNSET;
    if (state != NULL)
        *state = is;
    vitals_account_free(account);
    return value;
}

#endif
