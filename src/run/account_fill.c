/* account_fill.c: the figures and attributes of a run, from what its launcher knows.
 *
 * A counter of the whole tree comes first; samples are used for figures that nothing counts.
 * Thread rule: the launcher's thread. */
#include "run/account.h"

#include "os/os.h"
#include "util/buffer.h"
#include "util/number.h"
#include <vitals/sys/account.h>
#include <vitals/version.h>

#include <stdio.h>
#include <string.h>

/* Below it the coverage of a run says more of the clocks' steps than of sampling. */
static const double COVERED_SECONDS = 0.05;

enum { COMMAND_MOST = 64 * 1024 };

/* Adds a figure of the tree. If memory is out the figure is missing. */
static void put(vitals_account *account, const char *name, const char *unit, const char *source,
                vitals_availability state, double value)
{
    const vitals_figure_form form = {.size = sizeof(vitals_figure_form),
                                     .name = name,
                                     .unit = unit,
                                     .source = source,
                                     .state = state,
                                     .value = value};
    (void)!vitals_account_add(account, &form, NULL);
}

static double value_of(const vitals_account *account, const char *name, vitals_availability *state)
{
    double value = 0;
    const vitals_figure *figure = account != NULL ? vitals_account_find(account, name, "") : NULL;
    *state = figure != NULL ? vitals_figure_value(figure, &value) : VITALS_NOT_YET;
    return value;
}

/* ---- what the kernel counted ---- */

/* In the order in which a person reads them; processes, tasks and memory have rules of their own.
 */
struct figure_of {
    enum quantity quantity;
    const char *name, *unit;
};

static const struct figure_of CPU[] = {
    {COUNTED_CPU_SECONDS, VITALS_FIGURE_CPU_SECONDS, "seconds"},
    {COUNTED_CPU_USER_SECONDS, VITALS_FIGURE_CPU_USER_SECONDS, "seconds"},
    {COUNTED_CPU_SYSTEM_SECONDS, VITALS_FIGURE_CPU_SYSTEM_SECONDS, "seconds"},
};

static const struct figure_of REST[] = {
    {COUNTED_SWAP_PEAK_BYTES, VITALS_FIGURE_SWAP_PEAK_BYTES, "bytes"},
    {COUNTED_READ_BYTES, VITALS_FIGURE_DISK_READ_BYTES, "bytes"},
    {COUNTED_WRITTEN_BYTES, VITALS_FIGURE_DISK_WRITTEN_BYTES, "bytes"},
    {COUNTED_CALL_READ_BYTES, VITALS_FIGURE_CALL_READ_BYTES, "bytes"},
    {COUNTED_CALL_WRITTEN_BYTES, VITALS_FIGURE_CALL_WRITTEN_BYTES, "bytes"},
    {COUNTED_MINOR_FAULTS, VITALS_FIGURE_MINOR_FAULTS, ""},
    {COUNTED_MAJOR_FAULTS, VITALS_FIGURE_MAJOR_FAULTS, ""},
    {COUNTED_VOLUNTARY_SWITCHES, VITALS_FIGURE_VOLUNTARY_SWITCHES, ""},
    {COUNTED_INVOLUNTARY_SWITCHES, VITALS_FIGURE_INVOLUNTARY_SWITCHES, ""},
    {COUNTED_CPU_PRESSURE_SECONDS, VITALS_FIGURE_CPU_PRESSURE_SECONDS, "seconds"},
    {COUNTED_MEMORY_PRESSURE_SECONDS, VITALS_FIGURE_MEMORY_PRESSURE_SECONDS, "seconds"},
    {COUNTED_IO_PRESSURE_SECONDS, VITALS_FIGURE_IO_PRESSURE_SECONDS, "seconds"},
    {COUNTED_OOM_KILLS, VITALS_FIGURE_OOM_KILLS, ""},
};

static vitals_availability counted_state(const struct run_outcome *outcome, enum quantity quantity)
{
    return (vitals_availability)outcome->counted[quantity].value.state;
}

/* A process that ignores SIGCHLD has its children reaped by the kernel, so wait4 never reports
 * their time. If samples saw more than was counted, no counted figure is complete. */
static bool lost_some(const struct run_outcome *outcome, double *seen)
{
    static const double STEP_SECONDS = 0.05;
    vitals_availability state;
    *seen = value_of(outcome->watched, VITALS_FIGURE_CPU_SECONDS, &state);
    return state > 0 && counted_state(outcome, COUNTED_CPU_SECONDS) > 0 &&
           *seen > outcome->counted[COUNTED_CPU_SECONDS].value.as.f64 * 1.01 + STEP_SECONDS;
}

/* ---- processes that left the cgroup ---- */

static const char MOST[] = VITALS_FIGURE_PROCESSES_PEAK;

/* Each process is a task: where more of them were seen at once than tasks were counted, some have
 * left the cgroup, and its count says nothing of them. */
static bool are_outnumbered(const struct run_outcome *outcome, double *seen)
{
    vitals_availability state;
    *seen = value_of(outcome->watched, MOST, &state);
    return state > 0 && counted_state(outcome, COUNTED_TASKS_PEAK) > 0 &&
           *seen > outcome->counted[COUNTED_TASKS_PEAK].value.as.f64;
}

/* A cgroup does not know about processes that left it. If the anonymous pages of one sampled
 * process exceed what the cgroup counted, that process is outside. No other resident memory shows
 * this: libraries and files are charged to the cgroup that read them first, huge pages of hugetlbfs
 * to none. */
static bool has_more_pages(const struct run_outcome *outcome, double *seen)
{
    static const double SHARE = 1.05, STEP_BYTES = 1 << 20;
    vitals_availability state;
    *seen = value_of(outcome->watched, ANONYMOUS_LARGEST, &state);
    return state > 0 && counted_state(outcome, COUNTED_MEMORY_PEAK_BYTES) > 0 &&
           *seen > outcome->counted[COUNTED_MEMORY_PEAK_BYTES].value.as.f64 * SHARE + STEP_BYTES;
}

/* ---- what was counted, as it is told ---- */

static void put_counted(vitals_account *account, const struct run_outcome *outcome,
                        enum quantity quantity, const char *name, const char *unit)
{
    static const char CGROUP[] = "cgroup";
    vitals_availability state = counted_state(outcome, quantity);
    bool split = quantity == COUNTED_CPU_USER_SECONDS || quantity == COUNTED_CPU_SYSTEM_SECONDS;
    double seen;
    if (state <= 0)
        return;
    const struct counted *counted = &outcome->counted[quantity];
    /* If one figure of a cgroup shows that a process left it, none of its figures is complete. */
    bool whole = state == VITALS_HAVE || (split && state == VITALS_ESTIMATE);
    bool left = strncmp(counted->source, CGROUP, sizeof(CGROUP) - 1) == 0 &&
                (are_outnumbered(outcome, &seen) || has_more_pages(outcome, &seen));
    if (whole && (left || lost_some(outcome, &seen)))
        state = VITALS_LOWER_BOUND;
    put(account, name, unit, counted->source, state, counted->value.as.f64);
}

static void put_cpu(vitals_account *account, const struct run_outcome *outcome)
{
    vitals_availability state;
    double seen;
    bool lost = lost_some(outcome, &seen);
    if (lost)
        put(account, VITALS_FIGURE_CPU_SECONDS, "seconds",
            "sampled; some children were never waited for", VITALS_LOWER_BOUND, seen);
    for (size_t i = lost ? 1 : 0; i < ARRAY_COUNT(CPU); i++)
        put_counted(account, outcome, CPU[i].quantity, CPU[i].name, CPU[i].unit);

    double total = value_of(account, VITALS_FIGURE_CPU_SECONDS, &state);
    if (state > 0 && outcome->counted_seconds > 0)
        put(account, VITALS_FIGURE_CPU_CORES, "cores",
            "CPU time over the time in which it was used", state, total / outcome->counted_seconds);
}

/* ---- memory ---- */

static const char LOW[] = VITALS_FIGURE_MEMORY_PEAK_LOW_BYTES,
                  HIGH[] = VITALS_FIGURE_MEMORY_PEAK_HIGH_BYTES,
                  SUM[] = VITALS_FIGURE_MEMORY_PEAK_SUM_BYTES;

/* Where samples have missed the largest process, or most of it, it may have been there with all
 * that they saw; where every one that was reaped was sampled, it is among that. */
static void put_high(vitals_account *account, const struct run_outcome *outcome)
{
    static const double SHARE = 1.05, STEP_BYTES = 1 << 20;
    vitals_availability low_state, high_state, count_state;
    double low = value_of(outcome->watched, LOW, &low_state);
    double high = value_of(outcome->watched, HIGH, &high_state);
    double sampled = value_of(outcome->watched, VITALS_FIGURE_PROCESSES_SEEN, &count_state);
    double largest = counted_state(outcome, COUNTED_MEMORY_LARGEST_BYTES) > 0
                         ? outcome->counted[COUNTED_MEMORY_LARGEST_BYTES].value.as.f64
                         : 0;
    bool missed = largest > low * SHARE + STEP_BYTES;
    bool all = count_state > 0 && sampled >= (double)outcome->reaped;
    if (high_state <= 0 && largest <= 0)
        return;
    const char *source = "the largest process; none was sampled";
    if (high_state > 0)
        source = missed && !all ? "what samples saw, and the largest that they missed"
                                : vitals_account_find(outcome->watched, HIGH, "")->source;
    high = missed && !all ? high + largest : high > largest ? high : largest;
    put(account, HIGH, "bytes", source, VITALS_ESTIMATE, high);
}

/* Whether one process held more than its cgroup was charged: files that were charged to the cgroup
 * that read them first, or all of it after it has moved to another memory cgroup (version 1). Then
 * the charge is no peak of the run. */
static bool is_resident(const struct run_outcome *outcome, double *seen)
{
    static const double SHARE = 1.05, STEP_BYTES = 1 << 20;
    vitals_availability state;
    *seen = value_of(outcome->watched, LOW, &state);
    *seen = state > 0 ? *seen : 0;
    const struct value *largest = &outcome->counted[COUNTED_MEMORY_LARGEST_BYTES].value;
    if (largest->state > 0 && largest->as.f64 > *seen)
        *seen = largest->as.f64;
    return *seen > outcome->counted[COUNTED_MEMORY_PEAK_BYTES].value.as.f64 * SHARE + STEP_BYTES;
}

static void put_memory(vitals_account *account, const struct run_outcome *outcome)
{
    vitals_availability state;
    double seen;
    if (counted_state(outcome, COUNTED_MEMORY_PEAK_BYTES) > 0) {
        if (has_more_pages(outcome, &seen))
            put(account, VITALS_FIGURE_MEMORY_PEAK_BYTES, "bytes",
                "anonymous pages of one process, sampled; some have left the cgroup",
                VITALS_LOWER_BOUND, seen);
        else if (is_resident(outcome, &seen))
            put(account, VITALS_FIGURE_MEMORY_PEAK_BYTES, "bytes",
                "resident memory of one process; its cgroup was charged less", VITALS_LOWER_BOUND,
                seen);
        else
            put_counted(account, outcome, COUNTED_MEMORY_PEAK_BYTES,
                        VITALS_FIGURE_MEMORY_PEAK_BYTES, "bytes");
        return;
    }

    /* A lower bound: the highest sample, or the largest process, whichever is more. */
    const vitals_figure *low = outcome->watched != NULL
                                   ? vitals_account_find(outcome->watched, LOW, "")
                                   : NULL;
    const struct counted *largest = &outcome->counted[COUNTED_MEMORY_LARGEST_BYTES];
    seen = value_of(outcome->watched, LOW, &state);
    if (counted_state(outcome, COUNTED_MEMORY_LARGEST_BYTES) > 0 &&
        (state <= 0 || largest->value.as.f64 > seen))
        put(account, LOW, "bytes", largest->source, VITALS_LOWER_BOUND, largest->value.as.f64);
    else if (low != NULL)
        put(account, LOW, "bytes", low->source, state, seen);
    else
        put(account, LOW, "bytes", "the sampler had no time to answer", VITALS_TIMED_OUT, 0);
    put_high(account, outcome);

    /* Every process's own peak, as if all had come at once and nothing were shared. Records of ends
     * tell the peak of each last image: what an image before an exec had comes on top, and where
     * that is not told there may be more. So it is never exact, and never below the low. */
    const struct counted *sum = &outcome->counted[COUNTED_MEMORY_SUM_BYTES];
    if (counted_state(outcome, COUNTED_MEMORY_SUM_BYTES) <= 0)
        return; /* samples tell what they saw */
    double most = sum->value.as.f64, least = value_of(account, LOW, &state);
    if (state > 0 && least > most)
        most += least;
    seen = value_of(outcome->watched, SUM, &state);
    put(account, SUM, "bytes", sum->source, VITALS_ESTIMATE,
        state > 0 && seen > most ? seen : most);
}

/* ---- processes ---- */

static const char LEAVERS[] = "processes sampled; some have left the cgroup";

/* The most at one moment. A task is a process or a thread: there were no more processes than tasks
 * at once, and no more than there ever were. Where as many were seen at once it is exact. */
static void put_most(vitals_account *account, const struct run_outcome *outcome)
{
    vitals_availability seen_state, total_state;
    double seen = value_of(outcome->watched, MOST, &seen_state);
    double total = value_of(account, VITALS_FIGURE_PROCESSES, &total_state);
    double least = seen_state > 0 && seen > 1 ? seen : 1;
    bool outnumbered = are_outnumbered(outcome, &seen);
    const struct counted *tasks = counted_state(outcome, COUNTED_TASKS_PEAK) == VITALS_HAVE &&
                                          !outnumbered
                                      ? &outcome->counted[COUNTED_TASKS_PEAK]
                                      : NULL;
    bool by_total = total_state == VITALS_HAVE && total >= least &&
                    (tasks == NULL || total < tasks->value.as.f64);
    if (outnumbered && !(by_total && least >= total)) {
        put(account, MOST, "", LEAVERS, VITALS_LOWER_BOUND, seen);
        return;
    }
    if (!by_total && tasks == NULL)
        return; /* samples tell what they saw */
    double most = by_total ? total : tasks->value.as.f64;
    char source[FIGURE_SOURCE];
    const char *witness = least < most ? ", which counts threads too" : "; as many were there";
    (void)snprintf(source, sizeof source, "%s%s",
                   by_total ? "there were no more in all" : tasks->source, by_total ? "" : witness);
    if (least >= most || seen_state <= 0)
        put(account, MOST, "", source, least >= most ? VITALS_HAVE : VITALS_UPPER_BOUND, most);
}

static void put_processes(vitals_account *account, const struct run_outcome *outcome)
{
    vitals_availability state;
    double seen;
    if (are_outnumbered(outcome, &seen))
        put(account, VITALS_FIGURE_TASKS_PEAK, "", LEAVERS, VITALS_LOWER_BOUND, seen);
    else
        put_counted(account, outcome, COUNTED_TASKS_PEAK, VITALS_FIGURE_TASKS_PEAK, "");

    /* A method that counted fewer processes than there were for certain has missed some, whatever
     * it reports. */
    double known = (double)(outcome->reaped + outcome->left);
    seen = value_of(outcome->watched, VITALS_FIGURE_PROCESSES_SEEN, &state);
    known = state > 0 && seen > known ? seen : known;
    if (counted_state(outcome, COUNTED_PROCESSES) > 0 &&
        outcome->counted[COUNTED_PROCESSES].value.as.f64 >= known)
        put_counted(account, outcome, COUNTED_PROCESSES, VITALS_FIGURE_PROCESSES, "");
    else
        put(account, VITALS_FIGURE_PROCESSES, "", "reaped or sampled", VITALS_LOWER_BOUND, known);
    put_most(account, outcome);
    if (outcome->left > 0)
        put(account, VITALS_FIGURE_PROCESSES_LEFT, "", "the process table", VITALS_HAVE,
            (double)outcome->left);
}

/* ---- what was sampled ---- */

/* Of two counts of bytes that may both have missed some, the larger has missed less: records of
 * ends know nothing of what still runs. */
static bool has_missed_less(const vitals_figure *sampled, const vitals_figure *counted)
{
    return counted != NULL && counted->state == VITALS_LOWER_BOUND &&
           sampled->state == VITALS_SAMPLED && strcmp(sampled->unit, "bytes") == 0 &&
           strncmp(sampled->name, "memory_", 7) != 0 && sampled->value > counted->value;
}

static void put_watched(vitals_account *account, const struct run_outcome *outcome)
{
    static const double STEP_SECONDS = 0.001;
    static const char DRIVER[] = "driver, ";
    vitals_availability state;
    double seconds = value_of(outcome->watched, VITALS_FIGURE_WALL_SECONDS, &state), busy;
    bool late = state > 0 && seconds + STEP_SECONDS < outcome->wall_seconds;
    bool memory = vitals_account_find(account, VITALS_FIGURE_MEMORY_PEAK_BYTES, "") != NULL;
    for (const vitals_figure *figure = NULL;
         (figure = vitals_account_next(outcome->watched, figure)) != NULL;) {
        /* Not what says the same as a figure that was counted, and what was for us alone. */
        const vitals_figure *counted = vitals_account_find(account, figure->name, figure->subject);
        bool more = has_missed_less(figure, counted);
        if (strcmp(figure->name, ANONYMOUS_LARGEST) == 0 || (counted != NULL && !more) ||
            (memory && strncmp(figure->name, "memory_peak_", 12) == 0))
            continue;
        char source[FIGURE_SOURCE];
        vitals_figure_form form = {.size = sizeof(vitals_figure_form),
                                   .name = figure->name,
                                   .unit = figure->unit,
                                   .subject = figure->subject,
                                   .label = figure->label,
                                   .source = figure->source,
                                   .state = more ? VITALS_LOWER_BOUND
                                                 : (vitals_availability)figure->state,
                                   .value = figure->value};
        /* The work of the demo's devices is invented: no power was drawn. */
        if (outcome->invented && strncmp(figure->source, DRIVER, sizeof(DRIVER) - 1) == 0) {
            (void)snprintf(source, sizeof(source), "invented by the demo, %s",
                           figure->source + sizeof(DRIVER) - 1);
            form.source = source;
        }
        /* The machine's counters begin with the first sample: what was before is not in them. */
        if (late && form.state == VITALS_HAVE && strcmp(figure->subject, "system") == 0)
            form.state = VITALS_LOWER_BOUND;
        /* Values of the whole run, not only of the time between samples. */
        if (strcmp(figure->name, VITALS_FIGURE_GPU_BUSY_RATIO) == 0 && outcome->wall_seconds > 0) {
            const vitals_figure *used = vitals_account_find(
                outcome->watched, VITALS_FIGURE_GPU_BUSY_SECONDS, figure->subject);
            if (used != NULL && vitals_figure_value(used, &busy) > 0)
                form.value = busy / outcome->wall_seconds;
        }
        (void)!vitals_account_put(account, &form, NULL);
    }
}

void account_fill(vitals_account *account, const struct run_outcome *outcome)
{
    char interval[NUMBER_TEXT];
    vitals_availability seen_state, state;
    if (!outcome->end_unknown)
        vitals_account_ended(account, outcome->exit_code, outcome->signal);
    memcpy(account->failure, outcome->failure, sizeof(account->failure));
    put(account, VITALS_FIGURE_WALL_SECONDS, "seconds", "CLOCK_MONOTONIC", VITALS_HAVE,
        outcome->wall_seconds);
    put_cpu(account, outcome);
    put_memory(account, outcome);
    for (size_t i = 0; i < ARRAY_COUNT(REST); i++)
        put_counted(account, outcome, REST[i].quantity, REST[i].name, REST[i].unit);
    put_processes(account, outcome);
    double seen = value_of(outcome->watched, VITALS_FIGURE_CPU_SECONDS, &seen_state);
    double total = value_of(account, VITALS_FIGURE_CPU_SECONDS, &state);
    if (seen_state > 0 && state > 0 && total >= COVERED_SECONDS)
        put(account, VITALS_FIGURE_CPU_COVERAGE_RATIO, "ratio",
            "CPU time that samples tell of over what was counted", VITALS_SAMPLED,
            seen < total ? seen / total : 1);
    if (outcome->watched != NULL)
        put_watched(account, outcome);

    (void)number_print_u64(interval, outcome->interval_ns);
    account_set_string(account, VITALS_ATTRIBUTE_STATE, VITALS_RUN_COMPLETE);
    account_set_string(account, VITALS_ATTRIBUTE_INTERVAL_NS, interval);
    if (outcome->methods != NULL)
        account_set_string(account, VITALS_ATTRIBUTE_METHODS, outcome->methods);
    if (outcome->watched == NULL) {
        account_set_string(account, VITALS_ATTRIBUTE_MISSING,
                           "what is sampled: the sampler did not answer");
        return;
    }
    for (const char *name = NULL;
         (name = vitals_account_next_attribute(outcome->watched, name)) != NULL;) {
        if (vitals_account_attribute(account, name).size == 0)
            account_set_text(account, name, vitals_account_attribute(outcome->watched, name));
    }
}

/* ---- what is known beside figures ---- */

/* A run that was over before its first sample may use as many CPUs as the others. */
static void describe_cores(vitals_account *account, const struct os *os)
{
    char cores[NUMBER_TEXT];
    struct row_batch batch = {.text = {0}};
    struct metric_set wanted = {0};
    metric_set_add(&wanted, VITALS_HOST_CPUS_ELIGIBLE);
    batch_reset(&batch, &wanted);
    os_read_machine(os, &batch);
    const struct batch_cell *cell = NULL;
    if (batch.row_count > 0 && !batch.failed)
        cell = batch_find(&batch, &batch.rows[0], VITALS_HOST_CPUS_ELIGIBLE);
    if (cell != NULL && cell->state > 0) {
        (void)number_print_u64(cores, cell->as.u64);
        account_set_string(account, VITALS_ATTRIBUTE_EXPECTED_CORES, cores);
    }
    batch_done(&batch);
}

void account_describe(vitals_account *account, const vitals_context *context, char *const *argv,
                      uint64_t begin_ns)
{
    char text[OS_SELF_TEXT], started[NUMBER_TEXT];
    struct buffer arguments = {0}, line = {0};
    const vitals_clock *clock = &context->os.clock;

    /* The command as a shell would read it. */
    for (size_t i = 0; argv != NULL && argv[i] != NULL && arguments.size < COMMAND_MOST; i++)
        buffer_append(&arguments, argv[i], strlen(argv[i]) + 1);
    if (argv != NULL && !arguments.failed && buffer_reserve(&line, COMMAND_MOST) != NULL) {
        const vitals_text all = {arguments.bytes, arguments.size};
        size_t size = vitals_text_command(all, line.bytes, COMMAND_MOST);
        account_set_text(account, VITALS_ATTRIBUTE_COMMAND,
                         (vitals_text){line.bytes, size_min(size, COMMAND_MOST - 1)});
    }
    buffer_done(&arguments);
    buffer_done(&line);

    if (os_self_folder(text, sizeof(text)) == 0)
        account_set_string(account, VITALS_ATTRIBUTE_WORKING_DIRECTORY, text);
    if (os_self_user(&context->os, text, sizeof(text)) == 0)
        account_set_string(account, VITALS_ATTRIBUTE_USER, text);
    account_set_string(account, VITALS_ATTRIBUTE_HOST, context->origin.host);
    account_set_string(account, VITALS_ATTRIBUTE_BOOT_ID, context->origin.boot_id);
    account_set_string(account, VITALS_ATTRIBUTE_VERSION, vitals_version_text());
    uint64_t since = clock->monotonic_ns(clock->data) - begin_ns;
    (void)number_print_u64(started, clock->realtime_ns(clock->data) - since);
    account_set_string(account, VITALS_ATTRIBUTE_STARTED_NS, started);
    if (vitals_account_attribute(account, VITALS_ATTRIBUTE_EXPECTED_CORES).size == 0)
        describe_cores(account, &context->os);
}
