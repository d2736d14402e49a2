/* usage_account.c: what a usage knows, as figures. See usage_data.h. Pure. */
#include "run/usage/usage_data.h"

#include "util/buffer.h"
#include "util/error.h"
#include "util/number.h"

#include <stdio.h>
#include <string.h>

struct usage_account_writer {
    const vitals_usage *usage;
    vitals_account *account;
    char every[48]; /* "every 1 s" */
    double seconds; /* from the first snapshot to the last */
    int code;
    vitals_error *error;
};

/* ---- words ---- */

static void interval_words(double seconds, char *out, size_t capacity)
{
    if (seconds >= 0.9995)
        (void)snprintf(out, capacity, "every %.3g s", seconds);
    else
        (void)snprintf(out, capacity, "every %.0f ms", seconds * 1e3);
}

static void every_words(const vitals_usage *usage, char *out, size_t capacity)
{
    if (usage->count < 2)
        (void)snprintf(out, capacity, "once");
    else
        interval_words((double)(usage->last_ns - usage->first_ns) / 1e9 /
                           (double)(usage->count - 1),
                       out, capacity);
}

/* The statistic stands before the unit, where the name ends in it. */
static void statistic_name(const struct measure *measure, const char *statistic,
                           char out[static FIGURE_NAME])
{
    size_t name = strlen(measure->name), unit = strlen(measure->unit);
    bool ends = unit > 0 && name > unit + 1 &&
                strcmp(measure->name + name - unit, measure->unit) == 0;
    if (ends)
        (void)snprintf(out, FIGURE_NAME, "%.*s_%s_%s", (int)(name - unit - 1), measure->name,
                       statistic, measure->unit);
    else
        (void)snprintf(out, FIGURE_NAME, "%s_%s", measure->name, statistic);
}

static const char *origin_of_network(const struct usage_account_writer *writer)
{
    const vitals_usage *usage = writer->usage;
    if (usage->network_ours)
        return usage->network_own ? "its network namespaces, and the whole machine"
                                  : "the whole machine, not the run alone";
    return "its network namespace";
}

static bool is_energy_of_cpus(enum measure_place place)
{
    return place == MEASURE_AT_package_energy_joules || place == MEASURE_AT_dram_energy_joules ||
           place == MEASURE_AT_cpu_energy_joules;
}

/* Who tells a measure. */
static const char *origin_of(const struct usage_account_writer *writer, vitals_scope scope,
                             enum measure_place place)
{
    const char *name = MEASURES[place].name;
    bool machine = scope == VITALS_SCOPE_SYSTEM;
    if (strncmp(name, "gpu_", 4) == 0 || strncmp(name, "device", 6) == 0)
        return "driver";
    if (is_energy_of_cpus(place))
        return machine ? "RAPL" : "share of the packages' energy by CPU time";
    if (!machine && strncmp(name, "network_", 8) == 0)
        return origin_of_network(writer);
    return machine ? "kernel" : "procfs";
}

/* The machine is read more seldom than the tree, each figure at its own pace. */
static void source_words(const struct usage_account_writer *writer,
                         const struct usage_subject *subject, enum measure_place place,
                         char out[static FIGURE_SOURCE])
{
    char every[sizeof writer->every];
    const struct usage_cell *cell = &subject->cells[place];
    double seconds = usage_cell_interval(cell);
    (void)snprintf(every, sizeof every, "%s", writer->every);
    if (subject->scope == VITALS_SCOPE_SYSTEM && seconds > 0)
        interval_words(seconds, every, sizeof every);
    else if (subject->scope == VITALS_SCOPE_SYSTEM && cell->readings == 1)
        (void)snprintf(every, sizeof every, "once");
    (void)snprintf(out, FIGURE_SOURCE, "%s, %s", origin_of(writer, subject->scope, place), every);
}

/* Why a measure is missing, where more is known than the reason's name says. */
static const char *why_missing(enum measure_place place, vitals_availability reason)
{
    return is_energy_of_cpus(place) && reason == VITALS_DENIED
               ? "the counters in /sys/class/powercap are for root alone"
               : NULL;
}

/* ---- figures ---- */

static void put(struct usage_account_writer *writer, const vitals_figure_form *form)
{
    bool known = vitals_account_find(writer->account, form->name,
                                     form->subject != NULL ? form->subject : "") != NULL;
    if (writer->code == 0 && !known)
        writer->code = vitals_account_add(writer->account, form, writer->error);
}

static void put_missing(struct usage_account_writer *writer, const struct usage_subject *subject,
                        const char *name, const char *unit, vitals_availability reason,
                        const char *why)
{
    put(writer,
        &(vitals_figure_form){.name = name,
                              .unit = unit,
                              .subject = subject->text,
                              .label = subject->label,
                              .source = why != NULL ? why : vitals_availability_help(reason),
                              .state = reason != VITALS_UNSET ? reason : VITALS_NOT_YET});
}

/* A number of samples is at best sampled; one that was once too old is an estimate. */
static vitals_availability of_samples(const struct usage_cell *cell)
{
    vitals_availability worst = (vitals_availability)cell->worst;
    return state_worse(worst == VITALS_STALE ? VITALS_ESTIMATE : worst, VITALS_SAMPLED);
}

static bool is_of_devices(enum measure_place place)
{
    return strncmp(MEASURES[place].name, "gpu_", 4) == 0;
}

/* What may not be read any more, and a device that is lost, had been seen for a part of the run
 * alone. A process that has gone has ended. */
static vitals_availability of_part(const struct usage_cell *cell, enum measure_place place,
                                   vitals_availability of_missing)
{
    vitals_availability state = of_samples(cell);
    bool lost = cell->state == VITALS_GONE && is_of_devices(place);
    return lost || cell->state == VITALS_DENIED ? state_worse(state, of_missing) : state;
}

/* Nothing was seen before the devices were lost: that is not as if nothing had been used. */
static bool says_nothing(const struct usage_cell *cell, enum measure_place place)
{
    return cell->state < 0 && cell->most <= 0 && is_of_devices(place);
}

/* A counter that could not be read at the end is at least what it was. */
static vitals_availability of_counter(const struct usage_cell *cell)
{
    vitals_availability worst = (vitals_availability)cell->worst;
    worst = worst == VITALS_STALE ? VITALS_ESTIMATE : worst;
    return cell->state > 0 ? worst : state_worse(worst, VITALS_LOWER_BOUND);
}

/* Nor is one of the machine whole that was not read at the end: what it did since is not in it. A
 * single reading tells of no growth. */
static vitals_availability of_growth(const struct usage_subject *subject,
                                     const struct usage_cell *cell)
{
    bool cut = cell->state == VITALS_STALE || cell->readings < 2;
    vitals_availability state = of_counter(cell);
    return cut && subject->scope == VITALS_SCOPE_SYSTEM ? state_worse(state, VITALS_LOWER_BOUND)
                                                        : state;
}

static void put_counter(struct usage_account_writer *writer, const struct usage_subject *subject,
                        enum measure_place place)
{
    const struct usage_cell *cell = &subject->cells[place];
    char source[FIGURE_SOURCE];
    source_words(writer, subject, place, source);
    put(writer, &(vitals_figure_form){.name = MEASURES[place].name,
                                      .unit = MEASURES[place].unit,
                                      .subject = subject->text,
                                      .label = subject->label,
                                      .source = source,
                                      .state = of_growth(subject, cell),
                                      .value = cell->most});
}

static void put_gauge(struct usage_account_writer *writer, const struct usage_subject *subject,
                      enum measure_place place)
{
    const struct usage_cell *cell = &subject->cells[place];
    const struct {
        const char *statistic;
        double value;
        vitals_availability of_missing; /* what it is where the rest was denied */
    } STATISTICS[] = {
        {"peak", cell->most, VITALS_LOWER_BOUND},
        {"mean", usage_cell_average(cell, 0), VITALS_ESTIMATE},
        {"min", cell->least, VITALS_UPPER_BOUND},
    };
    char source[FIGURE_SOURCE], name[FIGURE_NAME];
    source_words(writer, subject, place, source);
    for (size_t i = 0; i < ARRAY_COUNT(STATISTICS); i++) {
        statistic_name(&MEASURES[place], STATISTICS[i].statistic, name);
        put(writer, &(vitals_figure_form){.name = name,
                                          .unit = MEASURES[place].unit,
                                          .subject = subject->text,
                                          .label = subject->label,
                                          .source = source,
                                          .state = of_part(cell, place, STATISTICS[i].of_missing),
                                          .value = STATISTICS[i].value});
    }
}

/* What nobody asked for, and what this machine does not have, is not worth a line. */
static bool is_worth_telling(const struct usage_cell *cell, enum measure_place place)
{
    bool once = is_energy_of_cpus(place) && cell->readings == 1; /* that says of no growth */
    return (cell->readings > 0 && !once) ||
           (cell->state < 0 && cell->state != VITALS_NOT_REQUESTED &&
            cell->state != VITALS_UNSUPPORTED && cell->state != VITALS_GONE &&
            cell->state != VITALS_NOT_YET);
}

/* The parts of a tree that used no device had nothing of it. */
static bool is_of_no_device(const struct usage_account_writer *writer,
                            const struct usage_subject *subject, enum measure_place place)
{
    const vitals_usage *usage = writer->usage;
    bool part = subject->scope == VITALS_SCOPE_ROOT || subject->scope == VITALS_SCOPE_DESCENDANTS;
    if (!part || !is_of_devices(place))
        return false;
    for (size_t i = 0; i < usage->device_count; i++) {
        if (usage->devices[i]->used)
            return false;
    }
    return true;
}

static void put_measure(struct usage_account_writer *writer, const struct usage_subject *subject,
                        enum measure_place place)
{
    const struct usage_cell *cell = &subject->cells[place];
    char name[FIGURE_NAME];
    if (!is_worth_telling(cell, place) || is_of_no_device(writer, subject, place))
        return;
    if (cell->readings == 0 || says_nothing(cell, place)) {
        statistic_name(&MEASURES[place], "peak", name);
        bool counter = MEASURES[place].kind == MEASURE_COUNTER;
        put_missing(writer, subject, counter ? MEASURES[place].name : name, MEASURES[place].unit,
                    (vitals_availability)cell->state,
                    why_missing(place, (vitals_availability)cell->state));
    } else if (MEASURES[place].kind == MEASURE_COUNTER) {
        put_counter(writer, subject, place);
    } else {
        put_gauge(writer, subject, place);
    }
}

/* ---- what a person asks first ---- */

static void put_wall(struct usage_account_writer *writer)
{
    put(writer, &(vitals_figure_form){.name = "wall_seconds",
                                      .unit = "seconds",
                                      .source = "from the first sample to the last",
                                      .state = VITALS_SAMPLED,
                                      .value = writer->seconds});
}

static void put_cpu(struct usage_account_writer *writer)
{
    static const enum measure_place PLACES[] = {MEASURE_AT_cpu_seconds, MEASURE_AT_cpu_user_seconds,
                                                MEASURE_AT_cpu_system_seconds};
    const struct usage_subject *tree = writer->usage->subjects[SUBJECT_TREE];
    for (size_t i = 0; i < ARRAY_COUNT(PLACES); i++)
        put_measure(writer, tree, PLACES[i]);
    const struct usage_cell *cpu = &tree->cells[MEASURE_AT_cpu_seconds];
    if (cpu->readings > 0 && writer->seconds > 0)
        put(writer, &(vitals_figure_form){.name = "cpu_cores",
                                          .unit = "cores",
                                          .source = "CPU time over the time of sampling",
                                          .state = of_counter(cpu),
                                          .value = cpu->most / writer->seconds});
}

/* See usage_memory.c. */
static void put_low(struct usage_account_writer *writer)
{
    const vitals_usage *usage = writer->usage;
    const struct usage_subject *tree = usage->subjects[SUBJECT_TREE];
    const struct usage_cell *resident = &tree->cells[MEASURE_AT_memory_resident_bytes];
    char source[FIGURE_SOURCE];
    double largest = usage->held_gone;
    for (size_t i = 0; i < usage->entry_count; i++) {
        const struct usage_process *process = usage->entries[i];
        if (process->member && process->held_peak > largest)
            largest = process->held_peak;
    }
    bool together = usage->together > largest;
    (void)snprintf(source, sizeof(source), "%s, %s",
                   together ? "PSS while nothing changed" : "largest process", writer->every);
    if (largest > 0)
        put(writer, &(vitals_figure_form){.name = "memory_peak_low_bytes",
                                          .unit = "bytes",
                                          .source = source,
                                          .state = VITALS_LOWER_BOUND,
                                          .value = together ? usage->together : largest});
    else
        put_missing(writer, tree, "memory_peak_low_bytes", "bytes",
                    usage->seen_processes == 0 ? VITALS_NOT_YET
                                               : (vitals_availability)resident->reason,
                    usage->seen_processes == 0 ? "no sample saw it running" : NULL);
}

static void put_estimate(struct usage_account_writer *writer, const char *name, const char *source,
                         double value)
{
    if (value > 0)
        put(writer, &(vitals_figure_form){.name = name,
                                          .unit = "bytes",
                                          .source = source,
                                          .state = VITALS_ESTIMATE,
                                          .value = value});
}

/* What was at least held is never above the estimate. Without private pages the sum of resident
 * sizes is all there is, in which shared pages count once in each process. */
static void put_peaks(struct usage_account_writer *writer)
{
    const vitals_usage *usage = writer->usage;
    const struct usage_subject *tree = usage->subjects[SUBJECT_TREE];
    const struct usage_cell *both = &tree->cells[MEASURE_AT_memory_both_bytes];
    const struct usage_cell *resident = &tree->cells[MEASURE_AT_memory_resident_bytes];
    char source[FIGURE_SOURCE];
    double low = 0, peaks = usage->peaks_gone;
    for (size_t i = 0; i < usage->entry_count; i++)
        peaks += usage->entries[i]->member ? usage->entries[i]->resident_peak : 0;
    put_low(writer);
    const vitals_figure *least = vitals_account_find(writer->account, "memory_peak_low_bytes", "");
    bool bounded = least != NULL && vitals_figure_value(least, &low) > 0;
    double most = both->readings > 0 ? both->most : resident->readings > 0 ? resident->most : 0;
    (void)snprintf(source, sizeof(source), "%s, %s",
                   both->readings > 0 ? "private and shared pages"
                                      : "resident sizes, shared pages in each",
                   writer->every);
    put_estimate(writer, "memory_peak_high_bytes", source, bounded && low > most ? low : most);
    /* No bound: a process that was never seen, or grew after its last reading, is not in it. */
    put_estimate(writer, "memory_peak_sum_bytes", "sum of every process's VmHWM as last read",
                 peaks);
}

/* Of one process and not a sum: what a fork shares with its parent is in both. */
static void put_anonymous(struct usage_account_writer *writer)
{
    const vitals_usage *usage = writer->usage;
    double most = usage->anonymous_gone;
    for (size_t i = 0; i < usage->entry_count; i++) {
        const struct usage_process *process = usage->entries[i];
        if (process->member && process->anonymous_peak > most)
            most = process->anonymous_peak;
    }
    if (most > 0)
        put(writer, &(vitals_figure_form){.name = ANONYMOUS_LARGEST,
                                          .unit = "bytes",
                                          .source = "anonymous pages of one process, sampled",
                                          .state = VITALS_LOWER_BOUND,
                                          .value = most});
}

static void put_processes(struct usage_account_writer *writer)
{
    put(writer, &(vitals_figure_form){.name = "processes_seen",
                                      .unit = "",
                                      .source = "processes that a sample saw",
                                      .state = VITALS_LOWER_BOUND,
                                      .value = (double)writer->usage->seen_processes});
}

/* ---- devices ---- */

static void put_device(struct usage_account_writer *writer, const struct usage_device *device)
{
    static const enum measure_place OF_TREE[] = {
        MEASURE_AT_gpu_memory_bytes, MEASURE_AT_gpu_busy_seconds, MEASURE_AT_gpu_utilization_ratio,
        MEASURE_AT_gpu_energy_joules};
    const struct usage_subject *subject = device->subject;
    const struct usage_cell *busy = &subject->cells[MEASURE_AT_gpu_busy_seconds];
    const struct usage_cell *memory = &subject->cells[MEASURE_AT_gpu_memory_bytes];
    char source[FIGURE_SOURCE];
    if (!device->used) {
        /* Of what nothing can be said the account must not read as if the run had used none. */
        if (device->unread < 0)
            put_missing(writer, subject, "gpu_memory_peak_bytes", "bytes",
                        (vitals_availability)device->unread, NULL);
        return;
    }
    if (memory->readings == 0 || (memory->most <= 0 && memory->reason < 0))
        put_missing(writer, subject, "gpu_memory_peak_bytes", "bytes",
                    (vitals_availability)memory->reason, NULL);
    (void)snprintf(source, sizeof(source), "driver, %s", writer->every);
    double ratio = writer->seconds > 0 ? busy->most / writer->seconds : 0;
    if (busy->readings > 0 && writer->seconds > 0)
        put(writer, &(vitals_figure_form){
                        .name = "gpu_busy_ratio",
                        .unit = "ratio",
                        .subject = subject->text,
                        .label = subject->label,
                        .source = source,
                        /* Of several processes each has its own share. */
                        .state = ratio > 1 ? state_worse(of_counter(busy), VITALS_ESTIMATE)
                                           : of_counter(busy),
                        .value = ratio > 1 ? 1 : ratio});
    else
        put_missing(writer, subject, "gpu_busy_ratio", "ratio",
                    busy->reason < 0 ? (vitals_availability)busy->reason : VITALS_NOT_YET, NULL);
    for (size_t i = 0; i < ARRAY_COUNT(OF_TREE); i++)
        put_measure(writer, subject, OF_TREE[i]);
}

static void put_whole_device(struct usage_account_writer *writer, const struct usage_device *device)
{
    for (enum measure_place place = 0; place < MEASURE_COUNT; place++) {
        bool whole = (MEASURES[place].scopes & MEASURE_OF_TREE) == 0;
        if ((MEASURES[place].scopes & MEASURE_OF_GPU) != 0 && whole)
            put_measure(writer, device->subject, place);
    }
}

/* Why a back end gives nothing, unless it is that there is nothing. */
static void put_sources(struct usage_account_writer *writer)
{
    const vitals_usage *usage = writer->usage;
    for (size_t i = 0; i < usage->source_count; i++) {
        const struct usage_source *source = &usage->sources[i];
        char label[FIGURE_LABEL];
        vitals_availability state = (vitals_availability)source->state;
        bool silent = state == VITALS_NOT_YET || state == VITALS_TIMED_OUT;
        if (state >= 0 || state == VITALS_UNSUPPORTED)
            continue;
        (void)snprintf(label, sizeof(label), "GPU %.30s", source->label);
        put(writer, &(vitals_figure_form){.name = "gpu_memory_peak_bytes",
                                          .unit = "bytes",
                                          .subject = source->label,
                                          .label = label,
                                          .source = source->message[0] != '\0' ? source->message
                                                    : silent ? "the driver has not answered"
                                                             : vitals_availability_help(state),
                                          .state = state});
    }
}

/* ---- the whole ---- */

static void put_subject(struct usage_account_writer *writer, size_t index)
{
    const struct usage_subject *subject = writer->usage->subjects[index];
    unsigned scope = subject->scope == VITALS_SCOPE_SYSTEM ? MEASURE_OF_SYSTEM : MEASURE_OF_TREE;
    for (enum measure_place place = 0; place < MEASURE_COUNT; place++) {
        if ((MEASURES[place].scopes & scope) != 0)
            put_measure(writer, subject, place);
    }
}

static void set_number(struct usage_account_writer *writer, const char *name, double value)
{
    char digits[NUMBER_TEXT];
    if (!(value > 0) || writer->code != 0)
        return;
    vitals_text text = {digits, number_print_f64(digits, value)};
    writer->code = vitals_account_set(writer->account, name, text, writer->error);
}

/* Whose the devices are that the tree used: a line each, "nvidia nvidia GPU-…". A word that is not
 * known is "-". */
static void set_drivers(struct usage_account_writer *writer)
{
    struct buffer lines = {.bytes = NULL};
    const vitals_usage *usage = writer->usage;
    for (size_t i = 0; i < usage->device_count; i++) {
        const struct usage_device *device = usage->devices[i];
        const char *const WORDS[] = {device->vendor[0] != '\0' ? device->vendor : "-",
                                     " ",
                                     device->driver[0] != '\0' ? device->driver : "-",
                                     " ",
                                     device->subject->text,
                                     "\n"};
        for (size_t k = 0; k < ARRAY_COUNT(WORDS) && device->used; k++)
            buffer_append(&lines, WORDS[k], strlen(WORDS[k]));
    }
    if (lines.size > 0 && !lines.failed && writer->code == 0)
        writer->code = vitals_account_set(writer->account, "gpu_drivers",
                                          (vitals_text){lines.bytes, lines.size - 1},
                                          writer->error);
    buffer_done(&lines);
}

static void fill(struct usage_account_writer *writer)
{
    const vitals_usage *usage = writer->usage;
    bool tree = usage->options.launcher != 0 || usage->options.pid_count > 0;
    put_wall(writer);
    if (tree) {
        put_cpu(writer);
        put_peaks(writer);
        put_anonymous(writer);
    }
    for (size_t i = 0; i < usage->device_count && tree; i++)
        put_device(writer, usage->devices[i]);
    put_sources(writer);
    if (tree) {
        put_subject(writer, SUBJECT_TREE);
        put_processes(writer);
        put_subject(writer, SUBJECT_ROOT);
        put_subject(writer, SUBJECT_DESCENDANTS);
    }
    put_subject(writer, SUBJECT_SYSTEM);
    for (size_t i = 0; i < usage->device_count; i++)
        put_whole_device(writer, usage->devices[i]);
    set_drivers(writer);
    set_number(writer, "expected_cores", usage->expected_cores);
    set_number(writer, "system_cores", usage->system_cores);
}

int vitals_usage_account(const vitals_usage *usage, vitals_account **out, vitals_error *error)
{
    struct usage_account_writer writer = {.usage = usage, .error = error};
    writer.code = vitals_account_new(&writer.account, error);
    if (writer.code < 0)
        return writer.code;
    writer.seconds = (double)(usage->last_ns - usage->first_ns) / 1e9;
    every_words(usage, writer.every, sizeof(writer.every));
    fill(&writer);
    if (writer.code < 0)
        vitals_account_free(writer.account);
    else
        *out = writer.account;
    return writer.code;
}
