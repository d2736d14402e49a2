/* demo_processes.c: the processes on the demo's devices, and their workloads.
 *
 * The devices are made up, their users are not: the newest programs of the machine, chosen once, so
 * that a person sees rows like those of a real device. Their work is made up again: a path of a
 * cgroup as Slurm, Docker, Kubernetes and systemd write it, which src/workload judges like any
 * other, and what a node's log folder would call it. A /proc without programs gives no processes.
 * Thread rule: with the context, which is made by one thread. */
#include "gpu/demo/demo.h"

#include "util/memory.h"

#include <string.h>
#include <unistd.h>
#include <vitals/error.h>

/* Keeps the newest programs, the newest first; no kernel thread, and none that cannot be read. */
static void consider(vitals_context *context, uint64_t *starts, int64_t pid)
{
    struct world_player *players = context->players;
    char text[OS_STAT_TEXT];
    struct os_process process;
    struct os_stat stat = {0};
    if (os_process_open(&context->os, pid, false, &process) < 0)
        return;
    int result = os_process_stat(&process, text, &stat);
    os_process_close(&process);
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

    /* Where real devices are shown too, it is not made up what their processes belong to. */
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
