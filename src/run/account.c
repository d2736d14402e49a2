/* account.c: see account.h. Pure: figures from facts. */
#include "run/account.h"

#include "core/memory.h"

#include <stdio.h>
#include <string.h>

enum { FIGURES_MAX = 24 + WATCH_SOURCES_MAX + 3 * WATCH_GPUS_MAX };

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

/* How good the kernel's counts are: what still runs has used more, and may have children behind it
 * that it has waited for. */
static vitals_availability counted(const struct run_facts *facts)
{
    return facts->left > 0 || facts->left_unknown ? VITALS_LOWER_BOUND : VITALS_HAVE;
}

/* A process that ignores SIGCHLD has its children reaped by the kernel, and their time is in
 * nobody's wait4. Sampling saw them: then what was waited for is not all. */
static bool hides_children(const struct run_facts *facts, double total)
{
    static const double STEP_SECONDS = 0.02;
    double seen = facts->watched != NULL ? facts->watched->cpu_seconds : 0;
    return seen > total * 1.01 + STEP_SECONDS;
}

static void add_cpu(vitals_account *account, const struct run_facts *facts)
{
    const struct os_usage *usage = &facts->usage;
    const char *source = facts->left > 0 ? "wait4 of every process that ended" : "wait4";
    vitals_availability state = counted(facts);
    double total = usage->user_seconds + usage->system_seconds + facts->left_cpu_seconds;
    const char *total_source = facts->left > 0 ? "wait4 and the clocks of what still runs" : source;
    if (hides_children(facts, total)) {
        total = facts->watched->cpu_seconds;
        state = VITALS_LOWER_BOUND;
        total_source = "sampled; some children were never waited for";
    }
    add_number(account, "cpu_seconds", "seconds", total_source, total, state);
    add_number(account, "cpu_user_seconds", "seconds", source, usage->user_seconds, state);
    add_number(account, "cpu_system_seconds", "seconds", source, usage->system_seconds, state);
    if (facts->counted_seconds > 0)
        add_number(account, "cpu_cores", "cores", "CPU time over the time in which it was used",
                   total / facts->counted_seconds, state);
}

static void add_counters(vitals_account *account, const struct run_facts *facts)
{
    const struct os_usage *usage = &facts->usage;
    const struct {
        const char *name, *unit;
        uint64_t value;
    } COUNTERS[] = {
        {"disk_read_bytes", "bytes", usage->read_bytes},
        {"disk_written_bytes", "bytes", usage->written_bytes},
        {"minor_faults", "", usage->minor_faults},
        {"major_faults", "", usage->major_faults},
        {"voluntary_switches", "", usage->voluntary_switches},
        {"involuntary_switches", "", usage->involuntary_switches},
    };
    vitals_availability state = counted(facts);
    for (size_t i = 0; i < ARRAY_COUNT(COUNTERS); i++)
        add_number(account, COUNTERS[i].name, COUNTERS[i].unit, "wait4", (double)COUNTERS[i].value,
                   state);
}

/* ---- what was sampled ---- */

/* "driver, every 1 s", "driver, every 100 ms". */
static void interval_words(const char *what, const struct run_facts *facts,
                           char out[static FIGURE_SOURCE])
{
    bool whole = facts->interval_ns % NS_PER_SECOND == 0;
    (void)snprintf(out, FIGURE_SOURCE, "%s %llu %s", what,
                   (unsigned long long)(facts->interval_ns / (whole ? NS_PER_SECOND : NS_PER_MS)),
                   whole ? "s" : "ms");
}

/* A peak of memory, or why there is none. */
static void add_peak(vitals_account *account, const char *name, const char *source,
                     const struct run_facts *facts, const struct value *peak)
{
    const struct watch_report *watched = facts->watched;
    if (peak->state > 0) {
        add_number(account, name, "bytes", source, (double)peak->as.u64,
                   (vitals_availability)peak->state);
        return;
    }
    const char *why = watched == NULL           ? "the sampler had no time to answer"
                      : watched->processes == 0 ? "no sample saw it running"
                                                : "its size could not be read";
    add(account, name, "bytes", why)->state = watched == NULL ? VITALS_TIMED_OUT : VITALS_NOT_YET;
}

static void add_memory(vitals_account *account, const struct run_facts *facts)
{
    char source[FIGURE_SOURCE];
    struct value low = {0}, high = {0};
    if (facts->watched != NULL) {
        low = facts->watched->resident_peak_bytes;
        high = facts->watched->resident_sum_bytes;
    }
    low.state = low.state > 0 ? VITALS_LOWER_BOUND : low.state;
    /* No bound: who was never seen, or grew after its last reading, is not in it. */
    high.state = high.state > 0 ? VITALS_ESTIMATE : high.state;
    interval_words("sum of resident set sizes, sampled at", facts, source);
    add_peak(account, "memory_peak_low_bytes", source, facts, &low);
    add_peak(account, "memory_peak_high_bytes", "sum of every process's VmHWM as last read", facts,
             &high);
}

static void add_processes(vitals_account *account, const struct run_facts *facts)
{
    uint64_t seen = facts->watched != NULL ? facts->watched->processes : 0;
    uint64_t reaped = facts->reaped + facts->left;
    add_number(account, "processes", "", "reaped or sampled",
               (double)(seen > reaped ? seen : reaped), VITALS_LOWER_BOUND);
    if (facts->left > 0)
        add_number(account, "processes_left", "", "the process table", (double)facts->left,
                   VITALS_HAVE);
}

static void add_gpu(vitals_account *account, const struct run_facts *facts,
                    const struct watch_gpu *gpu)
{
    const struct value *memory = &gpu->memory_peak_bytes, *busy = &gpu->busy_seconds;
    double seconds = busy->state > 0 ? busy->as.f64 : 0, wall = facts->wall_seconds;
    const struct {
        const char *name, *unit;
        vitals_availability state;
        double value;
    } FIGURES[] = {
        {"gpu_memory_peak_bytes", "bytes", (vitals_availability)memory->state,
         memory->state > 0 ? (double)memory->as.u64 : 0},
        {"gpu_busy_ratio", "ratio", wall > 0 ? (vitals_availability)busy->state : VITALS_NOT_YET,
         wall > 0 ? seconds / wall : 0},
        {"gpu_busy_seconds", "seconds", (vitals_availability)busy->state, seconds},
    };
    char source[FIGURE_SOURCE];
    interval_words(facts->invented ? "invented by the demo, every" : "driver, every", facts,
                   source);
    for (size_t i = 0; i < ARRAY_COUNT(FIGURES); i++) {
        bool missing = FIGURES[i].state <= 0;
        vitals_figure *figure = add(account, FIGURES[i].name, FIGURES[i].unit,
                                    missing ? vitals_availability_help(FIGURES[i].state) : source);
        figure->state = (signed char)FIGURES[i].state;
        figure->value = FIGURES[i].value;
        (void)snprintf(figure->subject, sizeof(figure->subject), "%s",
                       gpu->uuid[0] != '\0' ? gpu->uuid : gpu->label);
        (void)snprintf(figure->label, sizeof(figure->label), "GPU %s", gpu->label);
    }
}

/* Memory of which nothing can be said, and why: without it, the account would read as if the run
 * had used none. */
static void add_untold(vitals_account *account, const char *subject, const char *label,
                       vitals_availability state, const char *why)
{
    bool silent = state == VITALS_NOT_YET || state == VITALS_TIMED_OUT;
    if (why[0] == '\0')
        why = silent ? "the driver has not answered" : vitals_availability_help(state);
    vitals_figure *figure = add(account, "gpu_memory_peak_bytes", "bytes", why);
    figure->state = (signed char)state;
    (void)snprintf(figure->subject, sizeof(figure->subject), "%s", subject);
    (void)snprintf(figure->label, sizeof(figure->label), "GPU %s", label);
}

static void add_gpus(vitals_account *account, const struct run_facts *facts)
{
    const struct watch_report *watched = facts->watched;
    for (uint32_t i = 0; i < watched->gpu_count; i++) {
        const struct watch_gpu *gpu = &watched->gpus[i];
        if (gpu->used)
            add_gpu(account, facts, gpu);
        else if (gpu->unread < 0)
            add_untold(account, gpu->uuid[0] != '\0' ? gpu->uuid : gpu->label, gpu->label,
                       (vitals_availability)gpu->unread, "");
    }
    for (uint32_t i = 0; i < watched->source_count; i++) {
        const struct watch_source *source = &watched->sources[i];
        /* Unsupported: no driver, no library, no device. */
        if (source->state < 0 && source->state != VITALS_UNSUPPORTED)
            add_untold(account, source->label, source->label, (vitals_availability)source->state,
                       source->message);
    }
    if (watched->gpus_left_out > 0)
        add_number(account, "gpus_not_counted", "", "more devices than a run counts",
                   (double)watched->gpus_left_out, VITALS_LOWER_BOUND);
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
    add_number(account, "wall_seconds", "seconds", "CLOCK_MONOTONIC", facts->wall_seconds,
               VITALS_HAVE);
    add_cpu(account, facts);
    add_memory(account, facts);
    add_counters(account, facts);
    add_processes(account, facts);
    if (facts->watched != NULL)
        add_gpus(account, facts);
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

const vitals_figure *vitals_account_find(const vitals_account *account, const char *name,
                                         const char *subject)
{
    for (size_t i = 0; i < account->count; i++) {
        const vitals_figure *figure = &account->figures[i];
        if (strcmp(figure->name, name) == 0 && strcmp(figure->subject, subject) == 0)
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

const char *vitals_figure_subject(const vitals_figure *figure)
{
    return figure->subject;
}

const char *vitals_figure_label(const vitals_figure *figure)
{
    return figure->label;
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
