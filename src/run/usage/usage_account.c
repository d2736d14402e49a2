/* usage_account.c: what a usage knows, as figures. See usage_data.h. Pure. */
#include "run/usage/usage_data.h"

#include "util/buffer.h"
#include "util/number.h"

#include <stdio.h>
#include <string.h>

struct usage_account_writer {
    const vitals_usage *usage;
    vitals_account *account;
    char every[48];                      /* "every 1 s" */
    double seconds;                      /* from the first snapshot to the last */
    const struct usage_subject *subject; /* of the figures that are put now */
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

static bool is_energy_of_cpus(enum measure_place place)
{
    return place == MEASURE_AT_package_energy_joules || place == MEASURE_AT_dram_energy_joules ||
           place == MEASURE_AT_cpu_energy_joules;
}

/* ---- figures ---- */

/* A figure that was set before is kept. */
static void put_form(struct usage_account_writer *writer, const vitals_figure_form *form)
{
    if (writer->code == 0 &&
        vitals_account_find(writer->account, form->name, form->subject) == NULL)
        writer->code = vitals_account_add(writer->account, form, writer->error);
}

static void put(struct usage_account_writer *writer, const char *name, const char *unit,
                const char *source, vitals_availability state, double value)
{
    put_form(writer, &(vitals_figure_form){.size = sizeof(vitals_figure_form),
                                           .name = name,
                                           .unit = unit,
                                           .subject = writer->subject->text,
                                           .label = writer->subject->label,
                                           .source = source,
                                           .state = state,
                                           .value = value});
}

static void put_missing(struct usage_account_writer *writer, const char *name, const char *unit,
                        vitals_availability reason, const char *why)
{
    reason = reason != VITALS_UNSET ? reason : VITALS_NOT_YET;
    put(writer, name, unit, why != NULL ? why : vitals_availability_help(reason), reason, 0);
}

static bool is_of_devices(enum measure_place place)
{
    return strncmp(MEASURES[place].name, "gpu_", 4) == 0;
}

/* A counter that could not be read at the end is at least what it was. */
static vitals_availability of_counter(const struct usage_cell *cell)
{
    vitals_availability worst = (vitals_availability)cell->worst;
    worst = worst == VITALS_STALE ? VITALS_ESTIMATE : worst;
    return cell->state > 0 ? worst : state_worse(worst, VITALS_LOWER_BOUND);
}

/* How a measure is known. The machine is read more seldom than the tree, each figure at its own
 * pace. */
static void source_words(const struct usage_account_writer *writer, enum measure_place place,
                         char out[static FIGURE_SOURCE])
{
    char every[sizeof writer->every];
    const vitals_usage *usage = writer->usage;
    const struct usage_cell *cell = &writer->subject->cells[place];
    const char *name = MEASURES[place].name;
    bool machine = writer->subject->scope == VITALS_SCOPE_SYSTEM;
    const char *origin = machine ? "kernel" : "procfs";
    if (strncmp(name, "gpu_", 4) == 0 || strncmp(name, "device", 6) == 0)
        origin = "driver";
    else if (is_energy_of_cpus(place))
        origin = machine ? "RAPL" : "share of the packages' energy by CPU time";
    else if (!machine && strncmp(name, "network_", 8) == 0)
        origin = !usage->network_ours ? "its network namespace"
                 : usage->network_own
                     ? "its network namespaces, and the whole machine without its loopback"
                     : "the whole machine without its loopback, not the run alone";

    double seconds = usage_cell_interval(cell);
    (void)snprintf(every, sizeof every, "%s", writer->every);
    if (machine && seconds > 0)
        interval_words(seconds, every, sizeof every);
    else if (machine && cell->readings == 1)
        (void)snprintf(every, sizeof every, "once");
    (void)snprintf(out, FIGURE_SOURCE, "%s, %s", origin, every);
}

static void put_gauge(struct usage_account_writer *writer, enum measure_place place,
                      const char *source)
{
    const struct usage_cell *cell = &writer->subject->cells[place];
    const struct {
        const char *statistic;
        double value;
        vitals_availability of_missing; /* what it is where the rest was denied */
    } STATISTICS[] = {
        {"peak", cell->most, VITALS_LOWER_BOUND},
        {"mean", usage_cell_average(cell, 0), VITALS_ESTIMATE},
        {"min", cell->least, VITALS_UPPER_BOUND},
    };
    /* A number of samples is at best sampled; one that was once too old is an estimate. A subject
     * that may not be read any more, or a device that is lost, was seen for only a part of the run;
     * a process that is gone has ended. */
    vitals_availability worst = (vitals_availability)cell->worst;
    worst = state_worse(worst == VITALS_STALE ? VITALS_ESTIMATE : worst, VITALS_SAMPLED);
    bool in_part = cell->state == VITALS_DENIED ||
                   (cell->state == VITALS_GONE && is_of_devices(place));
    for (size_t i = 0; i < ARRAY_COUNT(STATISTICS); i++) {
        char name[FIGURE_NAME];
        statistic_name(&MEASURES[place], STATISTICS[i].statistic, name);
        put(writer, name, MEASURES[place].unit, source,
            in_part ? state_worse(worst, STATISTICS[i].of_missing) : worst, STATISTICS[i].value);
    }
}

/* Whether a measure is worth a line: not what was not asked for or what this machine does not have,
 * and no device of the parts of a tree that used none. */
static bool is_worth_telling(const vitals_usage *usage, const struct usage_subject *subject,
                             enum measure_place place)
{
    const struct usage_cell *cell = &subject->cells[place];
    bool once = is_energy_of_cpus(place) && cell->readings == 1; /* that says of no growth */
    bool worth = (cell->readings > 0 && !once) ||
                 (cell->state < 0 && cell->state != VITALS_NOT_REQUESTED &&
                  cell->state != VITALS_UNSUPPORTED && cell->state != VITALS_GONE &&
                  cell->state != VITALS_NOT_YET);
    bool part = subject->scope == VITALS_SCOPE_ROOT || subject->scope == VITALS_SCOPE_DESCENDANTS;
    if (!part || !is_of_devices(place))
        return worth;
    bool used = false;
    for (size_t i = 0; i < usage->device_count; i++)
        used |= usage->devices[i]->used;
    return worth && used;
}

static void put_measure(struct usage_account_writer *writer, enum measure_place place)
{
    const struct measure *measure = &MEASURES[place];
    const struct usage_cell *cell = &writer->subject->cells[place];
    char name[FIGURE_NAME], source[FIGURE_SOURCE];
    bool counter = measure->kind == MEASURE_COUNTER;
    if (!is_worth_telling(writer->usage, writer->subject, place))
        return;
    /* Nothing was seen before the devices were lost: that is not as if nothing had been used. */
    bool unseen = cell->state < 0 && cell->most <= 0 && is_of_devices(place);
    if (cell->readings == 0 || unseen) {
        bool root_alone = is_energy_of_cpus(place) && cell->state == VITALS_DENIED;
        statistic_name(measure, "peak", name);
        put_missing(writer, counter ? measure->name : name, measure->unit,
                    (vitals_availability)cell->state,
                    root_alone ? "the counters in /sys/class/powercap are for root alone" : NULL);
        return;
    }
    source_words(writer, place, source);
    if (!counter) {
        put_gauge(writer, place, source);
        return;
    }

    /* Activity of the machine after the last reading is not in it, and a single reading shows no
     * growth. */
    bool cut = writer->subject->scope == VITALS_SCOPE_SYSTEM &&
               (cell->state == VITALS_STALE || cell->readings < 2);
    vitals_availability state = of_counter(cell);
    put(writer, measure->name, measure->unit, source,
        cut ? state_worse(state, VITALS_LOWER_BOUND) : state, cell->most);
}

static void put_bytes(struct usage_account_writer *writer, const char *name, const char *source,
                      vitals_availability state, double value)
{
    if (value > 0)
        put(writer, name, "bytes", source, state, value);
}

/* ---- what a person asks first ---- */

static void put_cpu(struct usage_account_writer *writer)
{
    const struct usage_cell *cpu = &writer->subject->cells[MEASURE_AT_cpu_seconds];
    put_measure(writer, MEASURE_AT_cpu_seconds);
    put_measure(writer, MEASURE_AT_cpu_user_seconds);
    put_measure(writer, MEASURE_AT_cpu_system_seconds);
    if (cpu->readings > 0 && writer->seconds > 0)
        put(writer, VITALS_FIGURE_CPU_CORES, "cores", "CPU time over the time of sampling",
            of_counter(cpu), cpu->most / writer->seconds);
}

/* See usage_memory.c. The lower bound is never above the estimate. Without private pages the sum of
 * resident sizes is all there is, in which shared pages count once in each process. */
static void put_memory(struct usage_account_writer *writer)
{
    const vitals_usage *usage = writer->usage;
    const struct usage_cell *cells = writer->subject->cells;
    const struct usage_cell *both = &cells[MEASURE_AT_memory_both_bytes];
    const struct usage_cell *resident = &cells[MEASURE_AT_memory_resident_bytes];
    char source[FIGURE_SOURCE];
    double sum = usage->peaks_gone, anonymous = usage->anonymous_gone;
    for (size_t i = 0; i < usage->processes.count; i++) {
        const struct usage_process *process = usage->processes.items[i];
        if (!process->member)
            continue;
        sum += process->resident_peak;
        anonymous = f64_max(anonymous, process->anonymous_peak);
    }

    double low = usage_memory_held(usage);
    (void)snprintf(source, sizeof(source), "%s, %s",
                   low > 0 && low <= usage->together ? "PSS while nothing changed"
                                                     : "largest process",
                   writer->every);
    put_bytes(writer, VITALS_FIGURE_MEMORY_PEAK_LOW_BYTES, source, VITALS_LOWER_BOUND, low);
    if (low <= 0)
        put_missing(writer, VITALS_FIGURE_MEMORY_PEAK_LOW_BYTES, "bytes",
                    (vitals_availability)resident->reason,
                    resident->reason == VITALS_UNSET ? "no sample saw it running" : NULL);

    double most = both->readings > 0 ? both->most : resident->readings > 0 ? resident->most : 0;
    (void)snprintf(source, sizeof(source), "%s, %s",
                   both->readings > 0 ? "private and shared pages"
                                      : "resident sizes, shared pages in each",
                   writer->every);
    put_bytes(writer, VITALS_FIGURE_MEMORY_PEAK_HIGH_BYTES, source, VITALS_ESTIMATE,
              f64_max(low, most));
    /* No bound: a process that was never seen, or grew after its last reading, is not in it. */
    put_bytes(writer, VITALS_FIGURE_MEMORY_PEAK_SUM_BYTES,
              "sum of every process's VmHWM as last read", VITALS_ESTIMATE, sum);
    /* The value of one process and not a sum: pages that a fork shares with its parent are in both.
     */
    put_bytes(writer, ANONYMOUS_LARGEST, "anonymous pages of one process, sampled",
              VITALS_LOWER_BOUND, anonymous);
}

/* ---- devices ---- */

static void put_device(struct usage_account_writer *writer, const struct usage_device *device)
{
    const struct usage_cell *busy = &device->subject->cells[MEASURE_AT_gpu_busy_seconds];
    const struct usage_cell *memory = &device->subject->cells[MEASURE_AT_gpu_memory_bytes];
    char source[FIGURE_SOURCE];
    writer->subject = device->subject;
    if (!device->used) {
        /* A quantity that is not known must not read as if the run had used none. */
        if (device->unread < 0)
            put_missing(writer, VITALS_FIGURE_GPU_MEMORY_PEAK_BYTES, "bytes",
                        (vitals_availability)device->unread, NULL);
        return;
    }
    if (memory->readings == 0 || (memory->most <= 0 && memory->reason < 0))
        put_missing(writer, VITALS_FIGURE_GPU_MEMORY_PEAK_BYTES, "bytes",
                    (vitals_availability)memory->reason, NULL);
    if (busy->readings > 0 && writer->seconds > 0) {
        double ratio = busy->most / writer->seconds;
        vitals_availability state = of_counter(busy);
        if (ratio > 1) { /* of several processes each has its own share */
            state = state_worse(state, VITALS_ESTIMATE);
            ratio = 1;
        }
        (void)snprintf(source, sizeof(source), "driver, %s", writer->every);
        put(writer, VITALS_FIGURE_GPU_BUSY_RATIO, "ratio", source, state, ratio);
    } else
        put_missing(writer, VITALS_FIGURE_GPU_BUSY_RATIO, "ratio",
                    busy->reason < 0 ? (vitals_availability)busy->reason : VITALS_NOT_YET, NULL);
    put_measure(writer, MEASURE_AT_gpu_memory_bytes);
    put_measure(writer, MEASURE_AT_gpu_busy_seconds);
    put_measure(writer, MEASURE_AT_gpu_utilization_ratio);
    put_measure(writer, MEASURE_AT_gpu_energy_joules);
}

/* ---- the whole ---- */

/* Sets all measures of a scope. Those of the tree on a device have been set before. */
static void put_subject(struct usage_account_writer *writer, const struct usage_subject *subject,
                        unsigned scope)
{
    writer->subject = subject;
    for (enum measure_place place = 0; place < MEASURE_COUNT; place++) {
        unsigned scopes = MEASURES[place].scopes;
        bool of_tree = (scopes & MEASURE_OF_TREE) != 0;
        if ((scopes & scope) != 0 && (scope != MEASURE_OF_GPU || !of_tree))
            put_measure(writer, place);
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

/* The drivers of the devices that the tree used: a line each, "nvidia nvidia GPU-…". A word that is
 * not known is "-". */
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
        writer->code = vitals_account_set(writer->account, VITALS_ATTRIBUTE_GPU_DRIVERS,
                                          (vitals_text){lines.bytes, lines.size - 1},
                                          writer->error);
    buffer_done(&lines);
}

int vitals_usage_account(const vitals_usage *usage, vitals_account **out, vitals_error *error)
{
    struct usage_account_writer writer = {.usage = usage, .every = "once", .error = error};
    bool tree = usage->options.launcher != 0 || usage->options.pid_count > 0;
    writer.code = vitals_account_new(&writer.account, error);
    if (writer.code < 0)
        return writer.code;
    writer.seconds = (double)(usage->last_ns - usage->first_ns) / 1e9;
    if (usage->count >= 2)
        interval_words(writer.seconds / (double)(usage->count - 1), writer.every,
                       sizeof(writer.every));

    writer.subject = usage->subjects[SUBJECT_TREE];
    put(&writer, VITALS_FIGURE_WALL_SECONDS, "seconds", "from the first sample to the last",
        VITALS_SAMPLED, writer.seconds);
    if (tree) {
        put_cpu(&writer);
        put_memory(&writer);
    }
    for (size_t i = 0; i < usage->device_count && tree; i++)
        put_device(&writer, usage->devices[i]);

    /* Why a back end gives nothing, unless it is that there is nothing. */
    for (size_t i = 0; i < usage->source_count; i++) {
        const struct usage_source *source = &usage->sources[i];
        char label[FIGURE_LABEL];
        vitals_availability state = (vitals_availability)source->state;
        bool silent = state == VITALS_NOT_YET || state == VITALS_TIMED_OUT;
        if (state >= 0 || state == VITALS_UNSUPPORTED)
            continue;
        (void)snprintf(label, sizeof(label), "GPU %.30s", source->label);
        put_form(&writer,
                 &(vitals_figure_form){.size = sizeof(vitals_figure_form),
                                       .name = VITALS_FIGURE_GPU_MEMORY_PEAK_BYTES,
                                       .unit = "bytes",
                                       .subject = source->label,
                                       .label = label,
                                       .source = source->message[0] != '\0' ? source->message
                                                 : silent ? "the driver has not answered"
                                                          : vitals_availability_help(state),
                                       .state = state});
    }

    if (tree) {
        put_subject(&writer, usage->subjects[SUBJECT_TREE], MEASURE_OF_TREE);
        put(&writer, VITALS_FIGURE_PROCESSES_SEEN, "", "processes that a sample saw",
            VITALS_LOWER_BOUND, (double)usage->seen_processes);
        put_subject(&writer, usage->subjects[SUBJECT_ROOT], MEASURE_OF_TREE);
        put_subject(&writer, usage->subjects[SUBJECT_DESCENDANTS], MEASURE_OF_TREE);
    }
    put_subject(&writer, usage->subjects[SUBJECT_SYSTEM], MEASURE_OF_SYSTEM);
    for (size_t i = 0; i < usage->device_count; i++)
        put_subject(&writer, usage->devices[i]->subject, MEASURE_OF_GPU);
    set_drivers(&writer);
    set_number(&writer, VITALS_ATTRIBUTE_EXPECTED_CORES, usage->expected_cores);
    set_number(&writer, VITALS_ATTRIBUTE_SYSTEM_CORES, usage->system_cores);
    if (usage->options.devices != NULL)
        set_number(&writer, "expected_gpus", (double)usage->expected_gpus);
    if (writer.code < 0)
        vitals_account_free(writer.account);
    else
        *out = writer.account;
    return writer.code;
}
