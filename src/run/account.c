/* account.c: see account.h. Pure: figures from facts. */
#include "run/account.h"

#include "core/memory.h"

#include <stdio.h>
#include <string.h>

enum { FIGURES_MAX = 24 + 2 * WATCH_GPUS_MAX };

struct vitals_account {
    int exit_code, signal;
    char failure[160];
    size_t count;
    vitals_figure figures[FIGURES_MAX];
};

static vitals_figure *add(vitals_account *account, const char *name, const char *unit,
                          const char *source)
{
    vitals_figure *figure = &account->figures[account->count++];
    (void)snprintf(figure->name, sizeof(figure->name), "%s", name);
    (void)snprintf(figure->unit, sizeof(figure->unit), "%s", unit);
    (void)snprintf(figure->source, sizeof(figure->source), "%s", source);
    return figure;
}

static void add_number(vitals_account *account, const char *name, const char *unit,
                       const char *source, double value, vitals_availability state)
{
    vitals_figure *figure = add(account, name, unit, source);
    figure->value = value;
    figure->state = (signed char)state;
}

/* ---- what the kernel counted ---- */

static void add_cpu(vitals_account *account, const struct run_facts *facts)
{
    const struct os_usage *usage = &facts->usage;
    const char *source = facts->left > 0 ? "wait4 of every process that ended" : "wait4";
    /* What still runs may have children behind it that it has waited for. */
    vitals_availability state = facts->left > 0 || facts->left_unknown ? VITALS_LOWER_BOUND
                                                                       : VITALS_HAVE;
    double total = usage->user_seconds + usage->system_seconds + facts->left_cpu_seconds;
    add_number(account, "cpu", "seconds",
               facts->left > 0 ? "wait4, and the CPU clocks of what still runs" : source, total,
               state);
    add_number(account, "cpu_user", "seconds", source, usage->user_seconds, state);
    add_number(account, "cpu_system", "seconds", source, usage->system_seconds, state);
    if (facts->wall_seconds > 0)
        add_number(account, "cpu_cores", "cores", "cpu over wall", total / facts->wall_seconds,
                   state);
}

/* Counters of wait4: exact, or at least that much while something still runs. */
static void add_counters(vitals_account *account, const struct run_facts *facts)
{
    const struct os_usage *usage = &facts->usage;
    const struct {
        const char *name, *unit;
        uint64_t value;
    } COUNTERS[] = {
        {"disk_read", "bytes", usage->read_bytes},
        {"disk_written", "bytes", usage->written_bytes},
        {"faults_minor", "", usage->minor_faults},
        {"faults_major", "", usage->major_faults},
        {"switches_voluntary", "", usage->voluntary_switches},
        {"switches_involuntary", "", usage->involuntary_switches},
    };
    vitals_availability state = facts->left > 0 ? VITALS_LOWER_BOUND : VITALS_HAVE;
    for (size_t i = 0; i < ARRAY_COUNT(COUNTERS); i++)
        add_number(account, COUNTERS[i].name, COUNTERS[i].unit, "wait4", (double)COUNTERS[i].value,
                   state);
}

/* ---- what was sampled ---- */

static void add_value(vitals_account *account, const char *name, const char *source,
                      const struct value *value, vitals_availability state)
{
    if (value->state > 0)
        add_number(account, name, "bytes", source, (double)value->as.u64, state);
    else
        add(account, name, "bytes", source)->state = VITALS_NOT_YET;
}

static void add_memory(vitals_account *account, const struct run_facts *facts)
{
    static const struct value NOTHING;
    const struct watch_report *watched = facts->watched;
    char source[FIGURE_SOURCE];
    if (watched == NULL || watched->resident_peak_bytes.state <= 0) {
        const char *why = watched == NULL ? "the sampler did not answer"
                                          : "it ended before the first sample";
        add_value(account, "memory_peak_low", why, &NOTHING, VITALS_NOT_YET);
        add_value(account, "memory_peak_high", why, &NOTHING, VITALS_NOT_YET);
        return;
    }
    (void)snprintf(source, sizeof(source), "sum of resident set sizes, sampled at %g s",
                   (double)facts->interval_ns / 1e9);
    add_value(account, "memory_peak_low", source, &watched->resident_peak_bytes,
              VITALS_LOWER_BOUND);
    /* No bound: a process that was never seen, or that grew after it was last seen, is not in it.
     */
    add_value(account, "memory_peak_high",
              "sum of VmHWM of the processes seen, each at its last sample",
              &watched->resident_sum_bytes, VITALS_ESTIMATE);
}

static void add_processes(vitals_account *account, const struct run_facts *facts)
{
    uint64_t seen = facts->watched != NULL ? facts->watched->processes : 0;
    uint64_t reaped = facts->reaped + facts->left;
    add_number(account, "processes", "", "reaped or sampled; shorter ones of others are not seen",
               (double)(seen > reaped ? seen : reaped), VITALS_LOWER_BOUND);
    if (facts->left > 0)
        add_number(account, "processes_left", "", "the process table", (double)facts->left,
                   VITALS_HAVE);
}

static void add_gpu(vitals_account *account, const struct run_facts *facts,
                    const struct watch_gpu *gpu)
{
    char source[FIGURE_SOURCE], device[FIGURE_DEVICE];
    (void)snprintf(source, sizeof(source), "driver, sampled at %g s",
                   (double)facts->interval_ns / 1e9);
    (void)snprintf(device, sizeof(device), "GPU %s", gpu->label);
    vitals_figure *memory = add(account, "gpu_memory_peak", "bytes", source);
    memory->state = gpu->memory_peak_bytes.state;
    memory->value = memory->state > 0 ? (double)gpu->memory_peak_bytes.as.u64 : 0;
    memcpy(memory->device, device, sizeof(device));
    vitals_figure *busy = add(account, "gpu_busy", "ratio", source);
    busy->state = facts->wall_seconds > 0 ? gpu->busy_seconds.state : VITALS_NOT_YET;
    busy->value = busy->state > 0 ? gpu->busy_seconds.as.f64 / facts->wall_seconds : 0;
    memcpy(busy->device, device, sizeof(device));
}

vitals_account *account_new(void)
{
    return memory_alloc(sizeof(vitals_account));
}

void account_fill(vitals_account *account, const struct run_facts *facts)
{
    account->exit_code = facts->exit_code;
    account->signal = facts->signal;
    memcpy(account->failure, facts->failure, sizeof(account->failure));
    add_number(account, "wall", "seconds", "CLOCK_MONOTONIC", facts->wall_seconds, VITALS_HAVE);
    add_cpu(account, facts);
    add_memory(account, facts);
    add_counters(account, facts);
    add_processes(account, facts);
    for (uint32_t i = 0; facts->watched != NULL && i < facts->watched->gpu_count; i++)
        add_gpu(account, facts, &facts->watched->gpus[i]);
}

/* ---- the public face ---- */

void vitals_account_free(vitals_account *account)
{
    memory_free(account);
}

int vitals_account_exit_code(const vitals_account *account)
{
    return account->exit_code;
}

int vitals_account_signal(const vitals_account *account)
{
    return account->signal;
}

vitals_text vitals_account_failure(const vitals_account *account)
{
    return (vitals_text){account->failure, strlen(account->failure)};
}

const vitals_figure *vitals_account_next(const vitals_account *account,
                                         const vitals_figure *previous)
{
    const vitals_figure *next = previous == NULL ? account->figures : previous + 1;
    return next < account->figures + account->count ? next : NULL;
}

const vitals_figure *vitals_account_find(const vitals_account *account, const char *name)
{
    for (size_t i = 0; i < account->count; i++) {
        const vitals_figure *figure = &account->figures[i];
        if (strcmp(figure->name, name) == 0 && figure->device[0] == '\0')
            return figure;
    }
    return NULL;
}

const char *vitals_figure_name(const vitals_figure *figure)
{
    return figure->name;
}

const char *vitals_figure_unit(const vitals_figure *figure)
{
    return figure->unit;
}

const char *vitals_figure_device(const vitals_figure *figure)
{
    return figure->device;
}

const char *vitals_figure_source(const vitals_figure *figure)
{
    return figure->source;
}

vitals_availability vitals_figure_value(const vitals_figure *figure, double *out)
{
    if (figure->state > 0)
        *out = figure->value;
    return (vitals_availability)figure->state;
}
