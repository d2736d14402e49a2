/* scenarios.c: the demo's scenarios, each a row, and products, each a record. */
#include "gpu/demo/demo.h"
#include "util/memory.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <vitals/error.h>

#define GIB (UINT64_C(1) << 30)

/* Properties of all H100s; the remaining ones are the load. */
#define H100                                                                                     \
    .vendor = "nvidia", .name = "NVIDIA H100 80GB HBM3", .driver = "580.65.06", .cuda = "13.0",  \
    .memory_bytes = 80 * GIB, .limit_watts = 700, .architecture = "hopper", .capability = "9.0", \
    .multiprocessors = 132, .bus_bits = 5120, .pcie_generation = 5, .links = 18

static const struct demo_model h100 = {H100, .idle_watts = 71, .calm = 0.62, .strain = 0.99,
                                       .processes = 2};

static const struct demo_model h100_alone = {H100, .idle_watts = 71, .calm = 0.62, .strain = 0.99,
                                             .processes = 1};

static const struct demo_model h100_parted = {
    H100,           .idle_watts = 69, .calm = 0.20,         .strain = 0.70,
    .processes = 1, .partitions = 2,  .profile = "3g.40gb", .partition_kind = "mig"};

static const struct demo_model h100_shared = {H100, .idle_watts = 71, .calm = 0.30, .strain = 0.99,
                                              .processes = 4};

// clang-format off
static const struct demo_model mi300x = {
    .vendor = "amd", .name = "AMD Instinct MI300X", .driver = "6.12.12",
    .memory_bytes = 192 * GIB, .architecture = "gfx942", .multiprocessors = 304, .bus_bits = 8192,
    .pcie_generation = 5, .links = 7, .idle_watts = 141, .limit_watts = 750, .calm = 0.05,
    .strain = 0.60, .processes = 1,
};

static const struct demo_model max1550 = {
    .vendor = "intel", .name = "Intel Data Center GPU Max 1550", .driver = "xe",
    .memory_bytes = 128 * GIB, .architecture = "ponte_vecchio", .multiprocessors = 128,
    .bus_bits = 8192, .pcie_generation = 5, .idle_watts = 108, .limit_watts = 600, .calm = 0.00,
    .strain = 0.35, .processes = 1,
};

#define PODS "/kubepods.slice/kubepods-"

/* A Slurm job, a container, two pods, a service and a desktop session. */
const struct demo_program demo_programs[DEMO_PROGRAMS] = {
    {.compute = true, .memory_share = 0.55, .share = 0.50,
     .cgroup = "/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0"},
    {.compute = true, .memory_share = 0.12, .share = 0.15,
     .cgroup = "/system.slice/docker-"
               "5d1f0c6be2a94873b1c05e8f7a6d3920c4b8e1f2a3d5967088e7c6b5a4f39281.scope"},
    {.compute = true, .memory_share = 0.20, .share = 0.12,
     .cgroup = PODS "burstable.slice/kubepods-burstable-pod"
                    "7c2e4f10_93ab_4d58_8e61_0b5a2d9f3c74.slice/cri-containerd-"
                    "a81c3e5f7092b4d6e8f1a3c5079b2d4f6e81a3c5d7f90b2e4a6c8d1f3b507e92.scope",
     .pod = "chat-6f7c9d5b8-x2lqp", .space = "inference", .container = "server"},
    {.compute = true, .memory_share = 0.04, .share = 0.05,
     .cgroup = PODS "pod1f8a6b3c_52d7_4e90_a1c4_6d9e8f7b5a20.slice/crio-"
                    "0f9e8d7c6b5a49382716f5e4d3c2b1a09f8e7d6c5b4a392817f6e5d4c3b2a190.scope",
     .pod = "notebook-0", .space = "research", .container = "jupyter"},
    {.compute = true, .memory_share = 0.08, .share = 0.15,
     .cgroup = "/system.slice/transcribe.service"},
    {.compute = true, .graphics = true, .memory_share = 0.06, .share = 0.15,
     .cgroup = "/user.slice/user-1000.slice/session-3.scope"}};

#define VENDORS {&h100, &h100_parted, &mi300x, &max1550}
static const struct demo_scenario demo_scenarios[] = {
    {.name = "default", .models = VENDORS,
     .help = "four devices of three vendors, one of them partitioned"},
    {.name = "self", .models = {&h100_alone, &h100_parted, &mi300x, &max1550}, .self = true,
     .help = "the same, and our own process runs on the first"},
    {.name = "many", .help = "eight devices, thirty-two processes",
     .models = {&h100_shared, &h100_shared, &h100_shared, &h100_shared, &h100_shared, &h100_shared,
                &h100_shared, &h100_shared}},
    {.name = "strangers", .models = VENDORS, .strangers = true,
     .help = "as default, but the processes on the devices are in other containers: only their "
             "pids are known"},
    {.name = "idle", .models = VENDORS, .idle = true,
     .help = "four devices and no process on them"},
    {.name = "broken", .models = VENDORS, .bare = true, .first_is_lost = true,
     .help = "the first device is lost, the others tell nothing"},
    {.name = "hang", .models = {&h100, &h100, &mi300x, &max1550}, .second_hangs = true,
     .help = "the second device takes five seconds to answer"},
    {.name = "ailing", .models = {&h100, &h100, &mi300x, &max1550}, .first_is_hot = true,
     .second_ails = true, .third_sleeps = true,
     .help = "the first device is too hot, the second has memory errors, the third is asleep"},
    {.name = "hotplug", .models = {&h100, &h100, &mi300x}, .second_is_away = true,
     .help = "the second device is pulled out and put back every twenty seconds"},
    {.name = "story", .story = true,
     .models = {&h100, &h100_alone, &h100, &h100, &mi300x, &max1550},
     .help = "in three minutes a job ends and another begins, a device is too hot, one is lost and "
             "comes back, one is held without being used"},
    {.name = "empty", .help = "no device at all"}};
// clang-format on

const char *vitals_demo_name(size_t index)
{
    return index < ARRAY_COUNT(demo_scenarios) ? demo_scenarios[index].name : NULL;
}

const char *vitals_demo_help(size_t index)
{
    return index < ARRAY_COUNT(demo_scenarios) ? demo_scenarios[index].help : NULL;
}

const struct demo_scenario *demo_scenario_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(demo_scenarios); i++) {
        if (strcmp(demo_scenarios[i].name, name) == 0)
            return &demo_scenarios[i];
    }
    return NULL;
}

unsigned demo_process_count(const struct demo_scenario *scenario)
{
    unsigned count = 0;
    for (size_t i = 0; !scenario->idle && !scenario->bare && scenario->models[i]; i++) {
        const struct demo_model *model = scenario->models[i];
        count += model->processes * (model->partitions ? model->partitions : 1);
    }
    return count;
}

bool gpu_demo_known(const char *scenario)
{
    return demo_scenario_find(scenario) != NULL;
}

void gpu_demo_names(char *out, size_t capacity)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < ARRAY_COUNT(demo_scenarios); i++) {
        int size = snprintf(out + used, capacity - used, "%s%s", i > 0 ? " " : "",
                            demo_scenarios[i].name);
        if (size < 0 || (size_t)size >= capacity - used)
            return;
        used += (size_t)size;
    }
}

/* ---- the processes on the demo's devices, and their workloads; the context's thread ----
 *
 * The devices are simulated, their processes are real: the newest programs of the machine, chosen
 * once, so that rows look like those of a real device. Their workload is simulated: a cgroup path
 * as Slurm, Docker, Kubernetes and systemd write it, which src/workload judges like any other, and
 * the name that a node's log folder would give it. A /proc without programs gives no processes. */

/* Keeps the newest programs, the newest first; no kernel threads, and none that cannot be read. */
static void consider(vitals_context *context, uint64_t *starts, int64_t pid)
{
    struct world_player *players = context->players;
    char text[OS_STAT_TEXT];
    struct os_stat stat;
    int result = os_stat_of(&context->os, pid, text, &stat);
    uint64_t start = result == 0 && stat.virtual_bytes > 0 ? stat.start_ticks : 0;
    size_t place = context->player_count;
    while (place > 0 && start >= starts[place - 1] && start > 0)
        place--;
    if (place == context->player_count)
        return;
    size_t rest = context->player_count - 1 - place;
    memmove(starts + place + 1, starts + place, rest * sizeof *starts);
    memmove(players + place + 1, players + place, rest * sizeof *players);
    starts[place] = start;
    players[place] = (struct world_player){.pid = pid, .start_ticks = start};
}

static const char *text_of(const char *text)
{
    return text != NULL ? text : "";
}

int gpu_demo_processes(vitals_context *context)
{
    const struct demo_scenario *scenario = demo_scenario_find(context->demo);
    struct os_pids pids = {0};
    if (!gpu_backend_enabled(&gpu_backend_demo, context->backends) || scenario == NULL ||
        scenario->strangers)
        return 0;
    size_t players = demo_process_count(scenario);
    uint64_t *starts = players > 0 ? memory_alloc(players * sizeof *starts) : NULL;
    if (starts == NULL)
        return players > 0 ? VITALS_EMEMORY : 0;
    context->players = memory_alloc(players * sizeof *context->players);
    context->player_count = context->players != NULL ? players : 0;
    size_t count = os_list_processes(&context->os, &pids) == 0 ? pids.count : 0;
    for (size_t i = 0; i < count && context->player_count > 0; i++)
        consider(context, starts, pids.items[i]);

    /* If real devices are shown too, workloads are not simulated. */
    bool has_company = false;
    for (size_t i = 0; gpu_backends[i] != NULL; i++)
        has_company |= gpu_backends[i] != &gpu_backend_demo &&
                       gpu_backend_enabled(gpu_backends[i], context->backends);
    for (size_t i = 0; i < context->player_count && !has_company; i++) {
        const struct demo_program *program = &demo_programs[i % DEMO_PROGRAMS];
        struct world_player *player = &context->players[i];
        player->cgroup = program->cgroup;
        player->pod = text_of(program->pod);
        player->space = text_of(program->space);
        player->container = text_of(program->container);
    }
    os_pids_done(&pids);
    memory_free(starts);
    return context->player_count > 0 ? 0 : VITALS_EMEMORY;
}
