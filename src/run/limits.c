/* limits.c: see limits.h. */
#include "run/limits.h"

#include "util/number.h"
#include <vitals/units.h>

#include <stdio.h>

/* Between two rounds of SIGKILL; a process forked meanwhile is killed in the next. */
static const uint64_t ROUND_NS = 50 * NS_PER_MS;

/* Between two replacements of the sampler: the first pause, and the longest. */
static const uint64_t PAUSE_NS = NS_PER_SECOND, PAUSE_MOST_NS = 64 * NS_PER_SECOND;

void limits_init(struct limits *limits, const vitals_run_options *options)
{
    *limits = (struct limits){.ns = options->limit_ns,
                              .memory_bytes = options->limit_memory_bytes,
                              .gpu_memory_bytes = options->limit_gpu_memory_bytes,
                              .processes = options->limit_processes,
                              .grace_ns = options->limit_grace_ns,
                              .pause_ns = PAUSE_NS};
}

bool limits_are_sampled(const struct limits *limits)
{
    return limits->memory_bytes != 0 || limits->gpu_memory_bytes != 0 || limits->processes != 0;
}

static bool is_over(struct limits *limits, enum limit limit, uint64_t most,
                    const struct value *seen)
{
    if (most == 0 || seen->state <= 0 || seen->as.u64 <= most)
        return false;
    limits->passed = limit;
    limits->reached = seen->as.u64;
    return true;
}

enum limits_order limits_step(struct limits *limits, const struct limits_seen *seen)
{
    const struct value run = value_u64(seen->run_ns);
    if (limits->asked) {
        if (seen->run_ns < limits->kill_ns)
            return LIMITS_NOTHING;
        limits->kill_ns = saturating_add(seen->run_ns, ROUND_NS);
        return LIMITS_KILL;
    }
    if (!is_over(limits, LIMIT_MEMORY, limits->memory_bytes, &seen->held_bytes) &&
        !is_over(limits, LIMIT_MEMORY, limits->memory_bytes, &seen->memory_bytes) &&
        !is_over(limits, LIMIT_GPU_MEMORY, limits->gpu_memory_bytes, &seen->gpu_memory_bytes) &&
        !is_over(limits, LIMIT_PROCESSES, limits->processes, &seen->processes) &&
        !is_over(limits, LIMIT_TIME, limits->ns, &run))
        return LIMITS_NOTHING;
    limits_end(limits, seen->run_ns);
    return LIMITS_ASK;
}

bool limits_replace(struct limits *limits, uint64_t run_ns)
{
    if (!limits_are_sampled(limits) || limits->asked || run_ns < limits->replace_ns)
        return false;
    limits->replace_ns = saturating_add(run_ns, limits->pause_ns);
    limits->pause_ns = uint64_min(2 * limits->pause_ns, PAUSE_MOST_NS);
    return true;
}

void limits_end(struct limits *limits, uint64_t run_ns)
{
    if (limits->asked)
        return;
    limits->asked = true;
    limits->kill_ns = saturating_add(run_ns, limits->grace_ns);
}

void limits_hurry(struct limits *limits, uint64_t run_ns)
{
    if (limits->asked && limits->kill_ns > run_ns)
        limits->kill_ns = run_ns;
}

void limits_held(struct limits *limits, uint64_t peak_bytes, bool survived)
{
    bool below = peak_bytes != 0 && peak_bytes < limits->memory_bytes;
    if (limits->passed != LIMIT_NONE || limits->memory_bytes == 0 || below)
        return;
    limits->passed = LIMIT_MEMORY;
    limits->by_kernel = true;
    limits->survived = survived;
    limits->reached = peak_bytes;
}

uint64_t limits_next_ns(const struct limits *limits)
{
    if (limits->asked)
        return limits->kill_ns;
    return limits->ns != 0 ? saturating_add(limits->ns, 1) : UINT64_MAX;
}

/* ---- words ---- */

const char *limits_name(enum limit limit)
{
    static const char *const NAMES[] = {[LIMIT_NONE] = "",
                                        [LIMIT_TIME] = VITALS_RUN_LIMIT_TIME,
                                        [LIMIT_MEMORY] = VITALS_RUN_LIMIT_MEMORY,
                                        [LIMIT_GPU_MEMORY] = VITALS_RUN_LIMIT_GPU_MEMORY,
                                        [LIMIT_PROCESSES] = VITALS_RUN_LIMIT_PROCESSES};
    return NAMES[limit];
}

static void bytes_words(const struct limits *limits, uint64_t most, const char *what, char *out,
                        size_t capacity)
{
    static const struct {
        uint64_t bytes;
        const char *name;
    } UNITS[] = {{1ULL << 40, "TiB"},
                 {1ULL << 30, "GiB"},
                 {1ULL << 20, "MiB"},
                 {1000ULL * 1000 * 1000 * 1000, "TB"},
                 {1000ULL * 1000 * 1000, "GB"},
                 {1000ULL * 1000, "MB"},
                 {1000, "kB"}};
    char limit[NUMBER_TEXT + 4] = "", had[VITALS_HUMAN], number[NUMBER_TEXT];
    /* The limit in the units in which it was given: 50M as 50MB, 16GiB as 16GiB. */
    for (size_t i = 0; i < ARRAY_COUNT(UNITS) && limit[0] == '\0'; i++) {
        if (most % UNITS[i].bytes != 0)
            continue;
        (void)number_print_u64(number, most / UNITS[i].bytes);
        (void)snprintf(limit, sizeof(limit), "%s%s", number, UNITS[i].name);
    }
    if (limit[0] == '\0')
        vitals_human_bytes(most, limit);
    vitals_human_bytes(limits->reached, had);

    /* The cgroup's limit is higher than ours, so that a job that grows slowly is asked to end
     * first. A peak that the cgroup held is therefore not the peak that our limit allows. */
    bool known = limits->reached != 0;
    if (limits->by_kernel)
        (void)snprintf(
            out, capacity,
            "it grew past %s of memory, too fast to be asked to end; the kernel ended %s%s%s",
            limit, limits->survived ? "one of its processes" : "it", known ? " at " : "",
            known ? had : "");
    else
        (void)snprintf(out, capacity, "it used more than %s of %s: %s", limit, what, had);
}

void limits_words(const struct limits *limits, char *out, size_t capacity)
{
    char text[NUMBER_TEXT + VITALS_HUMAN];
    double seconds = (double)limits->ns / 1e9;
    out[0] = '\0';
    switch (limits->passed) {
    case LIMIT_NONE: return;
    case LIMIT_TIME:
        if (seconds < 60)
            number_print_f64(text, seconds);
        (void)snprintf(out, capacity, "it took longer than %s%s",
                       seconds < 60 ? text : vitals_human_duration(seconds, text),
                       seconds < 60 ? " s" : "");
        return;
    case LIMIT_MEMORY: bytes_words(limits, limits->memory_bytes, "memory", out, capacity); return;
    case LIMIT_GPU_MEMORY:
        bytes_words(limits, limits->gpu_memory_bytes, "GPU memory", out, capacity);
        return;
    case LIMIT_PROCESSES:
        (void)snprintf(out, capacity, "it had more than %llu processes: %llu",
                       (unsigned long long)limits->processes, (unsigned long long)limits->reached);
        return;
    }
}
