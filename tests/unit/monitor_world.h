/* What the tests of the monitor share: a machine with devices and processes, as snapshots; a
 * monitor that shows them; keys. Everything is static: each test program includes it once. */
#ifndef TESTS_UNIT_MONITOR_WORLD_H
#define TESTS_UNIT_MONITOR_WORLD_H

#include "gpu_rows.h"

#include "monitor/model.h"
#include "monitor/screens/screen.h"

enum { MONITOR_SECOND = 1000000000 };

/* A process; on a device where `gpu` (its place, plus one) is not 0. */
struct monitor_process {
    uint64_t pid, parent;
    const char *user, *command;
    double start, cpu_share; /* below 0: not known */
    uint64_t resident_mib;
    unsigned gpu;
    int64_t gpu_mib; /* below 0: not known */
    bool gone;       /* only the device knows of it */
};

/* Of each process in turn what most tests do not mind: the pod, and how good what is known of its
 * memory is. */
struct monitor_more {
    const char *pod;
    vitals_availability quality;
};
static const struct monitor_more *world_more; /* NULL: nothing, VITALS_HAVE */

static bool world_traffic; /* what disks have read is known */

/* Where its processes are real ones. */
static vitals_text world_boot;
static uint64_t world_namespace = 1;

struct monitor_world {
    const struct monitor_process *processes;
    size_t count;
    unsigned devices;
};

static inline void world_tables(vitals_builder *builder)
{
    static const vitals_metric HOST[] = {
        VITALS_HOST_MEMORY_TOTAL_BYTES, VITALS_HOST_MEMORY_USED_BYTES, VITALS_HOST_CPU_BUSY_SECONDS,
        VITALS_HOST_CPU_TOTAL_SECONDS,  VITALS_HOST_LOAD_1M,           VITALS_HOST_DISK_READ_BYTES};
    static const vitals_metric GPU[] = {VITALS_GPU_NAME, VITALS_GPU_MEMORY_TOTAL_BYTES,
                                        VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_UTILIZATION_RATIO};
    static const vitals_metric PROCESS[] = {
        VITALS_PROCESS_PID,         VITALS_PROCESS_PARENT_PID,     VITALS_PROCESS_START_SECONDS,
        VITALS_PROCESS_NAME,        VITALS_PROCESS_USER,           VITALS_PROCESS_COMMAND_LINE,
        VITALS_PROCESS_CPU_SECONDS, VITALS_PROCESS_RESIDENT_BYTES, VITALS_PROCESS_POD_NAME};
    static const vitals_metric USER[] = {VITALS_GPU_PROCESS_PID, VITALS_GPU_PROCESS_PROCESS,
                                         VITALS_GPU_PROCESS_TYPE,
                                         VITALS_GPU_PROCESS_MEMORY_USED_BYTES};
    vitals_builder_table(builder, VITALS_TABLE_HOST, HOST, CHECK_COUNT(HOST) - !world_traffic);
    vitals_builder_table(builder, VITALS_TABLE_GPU, GPU, CHECK_COUNT(GPU));
    vitals_builder_table(builder, VITALS_TABLE_PROCESS, PROCESS, CHECK_COUNT(PROCESS));
    vitals_builder_table(builder, VITALS_TABLE_GPU_PROCESS, USER, CHECK_COUNT(USER));
}

static inline void world_host(vitals_builder *builder, double seconds)
{
    vitals_builder_row(builder, VITALS_TABLE_HOST, 1, 0, text_of("host"),
                       (uint64_t)(seconds * MONITOR_SECOND));
    put_number(builder, VITALS_HOST_MEMORY_TOTAL_BYTES, 64.0 * (double)GIB);
    put_number(builder, VITALS_HOST_MEMORY_USED_BYTES, 16.0 * (double)GIB);
    put_number(builder, VITALS_HOST_CPU_BUSY_SECONDS, seconds);
    put_number(builder, VITALS_HOST_CPU_TOTAL_SECONDS, seconds * 4);
    put_number(builder, VITALS_HOST_LOAD_1M, 1.5);
    if (world_traffic)
        put_number(builder, VITALS_HOST_DISK_READ_BYTES, seconds * 1e6);
}

static inline void world_process(vitals_builder *builder, const struct monitor_process *process,
                                 uint64_t key, double seconds)
{
    if (process->gone)
        return;
    vitals_builder_row(builder, VITALS_TABLE_PROCESS, key, 0, text_of("process"),
                       (uint64_t)(seconds * MONITOR_SECOND));
    put_number(builder, VITALS_PROCESS_PID, (double)process->pid);
    put_number(builder, VITALS_PROCESS_PARENT_PID, (double)process->parent);
    put_number(builder, VITALS_PROCESS_START_SECONDS, process->start);
    put_text(builder, VITALS_PROCESS_NAME, process->command);
    put_text(builder, VITALS_PROCESS_USER, process->user);
    put_text(builder, VITALS_PROCESS_COMMAND_LINE, process->command);
    put_number(builder, VITALS_PROCESS_CPU_SECONDS,
               process->cpu_share < 0 ? -1 : process->cpu_share * seconds);
    const struct monitor_more *more = world_more != NULL ? &world_more[key - 1] : NULL;
    vitals_builder_u64(builder, VITALS_PROCESS_RESIDENT_BYTES, process->resident_mib << 20,
                       more != NULL ? more->quality : VITALS_HAVE);
    if (more != NULL)
        put_text(builder, VITALS_PROCESS_POD_NAME, more->pod);
    else
        vitals_builder_missing(builder, VITALS_PROCESS_POD_NAME, VITALS_NOT_REQUESTED);
}

static inline void world_user(vitals_builder *builder, const struct monitor_process *process,
                              uint64_t key, double seconds)
{
    char label[24];
    if (process->gpu == 0)
        return;
    snprintf(label, sizeof label, "%u", (unsigned)process->pid);
    vitals_builder_row(builder, VITALS_TABLE_GPU_PROCESS, key, process->gpu, text_of(label),
                       (uint64_t)(seconds * MONITOR_SECOND));
    put_number(builder, VITALS_GPU_PROCESS_PID, (double)process->pid);
    if (process->gone)
        vitals_builder_missing(builder, VITALS_GPU_PROCESS_PROCESS, VITALS_OUTSIDE);
    else
        put_number(builder, VITALS_GPU_PROCESS_PROCESS, (double)key);
    put_text(builder, VITALS_GPU_PROCESS_TYPE, "C");
    if (process->gpu_mib < 0)
        vitals_builder_missing(builder, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, VITALS_UNSUPPORTED);
    else
        vitals_builder_u64(builder, VITALS_GPU_PROCESS_MEMORY_USED_BYTES,
                           (uint64_t)process->gpu_mib << 20,
                           world_more != NULL ? world_more[key - 1].quality : VITALS_HAVE);
}

/* The machine at a moment. */
static inline vitals_snapshot *world_at(vitals_builder *builder, const struct monitor_world *world,
                                        double seconds, uint64_t sequence)
{
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    uint64_t now_ns = (uint64_t)(seconds * MONITOR_SECOND);
    vitals_builder_begin(builder);
    vitals_builder_origin(builder, text_of("n01"),
                          world_boot.size > 0 ? world_boot : text_of("boot"), world_namespace);
    vitals_builder_stream(builder, 7);
    vitals_builder_moment(builder, now_ns, now_ns, now_ns, sequence);
    world_tables(builder);
    world_host(builder, seconds);
    for (unsigned i = 0; i < world->devices; i++) {
        char label[16];
        snprintf(label, sizeof label, "%u", i);
        vitals_builder_row(builder, VITALS_TABLE_GPU, i + 1, 0, text_of(label), now_ns);
        put_text(builder, VITALS_GPU_NAME, "NVIDIA H100");
        put_number(builder, VITALS_GPU_MEMORY_TOTAL_BYTES, 80.0 * (double)GIB);
        put_number(builder, VITALS_GPU_MEMORY_USED_BYTES, 8.0 * (double)GIB);
        put_number(builder, VITALS_GPU_UTILIZATION_RATIO, 0.5);
    }
    for (size_t i = 0; i < world->count; i++) {
        world_process(builder, &world->processes[i], i + 1, seconds);
        world_user(builder, &world->processes[i], i + 1, seconds);
    }
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
    return snapshot;
}

/* The main screen as in nvitop; tests/command/test_monitor_usual.py has the usual one. */
static inline struct monitor_options world_options(void)
{
    static const struct arrangement NVITOP = {.nvitop = true};
    return (struct monitor_options){
        .arrangement = &NVITOP,
        .look = {.gpu_thresholds = {10, 75}, .memory_thresholds = {10, 80}},
        .user = "ana"};
}

/* A monitor that has seen the machine twice, 2 s apart. */
static inline void world_open(struct monitor *monitor, const struct monitor_options *options,
                              const struct monitor_world *world, vitals_builder **builder)
{
    vitals_error error;
    CHECK_OK(vitals_builder_new(builder, &error), error);
    CHECK_INT(monitor_init(monitor, options), 0);
    monitor->model.same = true;
    monitor_resize(monitor, 100, 40);
    model_add_machine(&monitor->model, world_at(*builder, world, 100, 1));
    model_add_machine(&monitor->model, world_at(*builder, world, 102, 2));
    monitor_settle(monitor);
}

static inline void world_close(struct monitor *monitor, vitals_builder *builder)
{
    monitor_done(monitor);
    vitals_builder_free(builder);
}

static inline void press_code(struct monitor *monitor, uint32_t code)
{
    struct input_event event = {.code = code};
    monitor_input(monitor, &event);
    monitor_settle(monitor);
}

static inline void press_keys(struct monitor *monitor, const char *keys)
{
    for (; *keys != '\0'; keys++)
        press_code(monitor, (unsigned char)*keys);
}

/* "4 2 3": the pids of the list. */
static inline const char *world_pids(const struct monitor *monitor)
{
    static char out[512];
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < monitor->model.list.count; i++)
        used += (size_t)snprintf(out + used, sizeof out - used, "%s%u", i > 0 ? " " : "",
                                 (unsigned)item_identity(&monitor->model.list.items[i]).pid);
    return out;
}

/* The screen as text. */
static inline const char *world_screen(const struct monitor *monitor)
{
    static char out[65536];
    static struct canvas canvas;
    size_t used = 0;
    CHECK_INT(canvas_resize(&canvas, monitor->model.width, monitor->model.height), 0);
    monitor_draw(monitor, &canvas);
    for (int y = 0; y < canvas.height; y++) {
        for (int x = 0; x < canvas.width && used < sizeof out - 32; x++)
            used += (size_t)snprintf(out + used, sizeof out - used, "%s",
                                     canvas_at(&canvas, x, y)->text);
        used += (size_t)snprintf(out + used, sizeof out - used, "\n");
    }
    canvas_done(&canvas);
    return out;
}

#endif
