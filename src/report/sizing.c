/* sizing.c: see sizing.h. The rules, and what comes out for people, programs, Slurm and Kubernetes.
 */
#include "report/sizing.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "report/json_form.h"
#include "report/words.h"
#include "util/cursor.h"
#include "util/signal_names.h"
#include "view/paint.h"

static const struct account_view PLAIN = {.spaced = true};

static const double MIB = 0x1p20, GIB = 0x1p30;

/* How much is added to a peak: what was counted needs less than what was seen now and then, since
 * between two samples there may have been more. */
static const double HEADROOM_EXACT = 1.10, HEADROOM_SAMPLED = 1.25;

/* A run that was killed for want of memory never showed what it needs. */
static const double HEADROOM_KILLED = 2.0;

/* Device memory is held by allocators that seldom give back between two samples. */
static const double GPU_HEADROOM_EXACT = 1.05, GPU_HEADROOM_SAMPLED = 1.10;

/* CPUs: a busiest sample of 4.05 cores is four. */
static const double CPU_TOLERANCE = 0.1;

/* A device that was busy less than this was opened and not used. */
static const double GPU_IDLE_RATIO = 0.01;

static const double TIME_HEADROOM = 1.25;

/* ---- parts ---- */

static double number(const vitals_account *account, const char *name, const char *subject,
                     vitals_availability *state)
{
    return words_number(vitals_account_find(account, name, subject), state);
}

static double peak(const vitals_account *account, const char *measure, const char *subject,
                   vitals_availability *state)
{
    return words_number(words_find(account, measure, "peak", subject), state);
}

static void VITALS_FORMAT(2, 3) explain(struct sizing_part *part, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(part->reason, sizeof part->reason, format, arguments);
    va_end(arguments);
}

static void size_cpus(const vitals_account *account, struct sizing_part *part)
{
    vitals_availability has_mean, has_peak, has_coverage;
    double mean = number(account, "cpu_cores", "", &has_mean);
    if (has_mean <= 0)
        mean = words_number(words_find(account, "cpu_cores", "mean", ""), &has_mean);
    double most = peak(account, "cpu_cores", "", &has_peak);
    double coverage = number(account, "cpu_coverage_ratio", "", &has_coverage);
    if (has_mean <= 0 && has_peak <= 0) {
        explain(part, "CPU time is not known");
        return;
    }
    double used = has_peak > 0 && most > mean ? most : mean;
    part->known = true;
    part->amount = fmax(1, ceil(used - CPU_TOLERANCE));
    if (has_peak <= 0)
        explain(part, "%.2f cores on average; its busiest moments were not sampled", mean);
    else if (has_coverage > 0 && coverage < 0.5)
        explain(part,
                "%.2f cores on average, %.2f in the busiest sample; sampling saw %.0f %% of "
                "the CPU time, so it may have been busier",
                mean, most, coverage * 100);
    else
        explain(part, "%.2f cores in the busiest sample, %.2f on average", most, mean);
}

/* Without a count: the larger of the estimate and the lower bound. */
static void size_estimate(const vitals_account *account, struct sizing_part *part)
{
    vitals_availability has_low, has_high;
    char low_words[WORDS], high_words[WORDS];
    double low = number(account, "memory_peak_low_bytes", "", &has_low);
    double high = number(account, "memory_peak_high_bytes", "", &has_high);
    if (has_low <= 0 && has_high <= 0)
        low = peak(account, "memory_resident_bytes", "", &has_low);
    double most = fmax(has_low > 0 ? low : 0, has_high > 0 ? high : 0);
    if (most <= 0) { /* a process that had ended when it was sampled held none */
        explain(part, "the memory it needed is not known");
        return;
    }
    (void)words_value(&PLAIN, "", "bytes", low, low_words);
    (void)words_value(&PLAIN, "", "bytes", high, high_words);
    part->known = true;
    part->amount = most * HEADROOM_SAMPLED;
    if (has_high <= 0)
        explain(part, "sampled peak %.40s and 25 %%", low_words);
    else if (has_low <= 0)
        explain(part, "estimated peak %.40s and 25 %%", high_words);
    else
        explain(part, "estimated peak %.40s (at least %.40s) and 25 %%", high_words, low_words);
}

static void size_memory(const vitals_account *account, struct sizing_part *part)
{
    vitals_availability state, has_kills;
    char words[WORDS];
    double counted = number(account, "memory_peak_bytes", "", &state);
    double kills = number(account, "oom_kills", "", &has_kills);
    if (state > 0) {
        bool exact = state == VITALS_HAVE || state == VITALS_UPPER_BOUND;
        part->known = true;
        part->amount = counted * (exact ? HEADROOM_EXACT : HEADROOM_SAMPLED);
        explain(part, "%s peak %.40s and %s", words_quality(state),
                words_value(&PLAIN, "", "bytes", counted, words), exact ? "10 %" : "25 %");
    } else {
        size_estimate(account, part);
    }
    if ((kills > 0 || words_are(vitals_account_attribute(account, "limit"), "memory")) &&
        part->known) {
        part->amount = (state > 0 ? counted : part->amount) * HEADROOM_KILLED;
        explain(part, "it was killed for want of memory, so its need was not seen: twice the "
                      "peak");
    }
    if (!part->known)
        return;

    /* 128, 256, 512 MiB, 1, 2 GiB, then whole GiB, from 64 GiB on four at a time. */
    double step = 128 * MIB, unit = part->amount > 64 * GIB ? 4 * GIB : GIB;
    while (step < part->amount && step < 2 * GIB)
        step *= 2;
    part->amount = part->amount <= step ? step : ceil(part->amount / unit) * unit;
}

/* The resource name of a device plugin, by driver. */
static const struct {
    const char *driver, *resource;
} RESOURCES[] = {
    {"nvidia", "nvidia.com/gpu"},
    {"amdgpu", "amd.com/gpu"},
    {"i915", "gpu.intel.com/i915"},
    {"xe", "gpu.intel.com/xe"},
};

/* The resource of the device plugin, by the driver in the line "vendor driver subject". For
 * accounts without a vendor: NVIDIA's identities begin so, those of others do not tell. */
static const char *resource_of(const vitals_account *account, const char *subject)
{
    vitals_text text = vitals_account_attribute(account, "gpu_drivers");
    struct cursor lines = cursor_over(text.bytes, text.size);
    struct span line, vendor, name, driver = {"", 0};
    while (driver.size == 0 && cursor_line(&lines, &line)) {
        struct cursor at = cursor_over(line.bytes, line.size);
        if (cursor_until(&at, ' ', &vendor) && cursor_until(&at, ' ', &name) &&
            span_equal((struct span){at.at, (size_t)(at.end - at.at)}, subject))
            driver = name;
    }
    for (size_t i = 0; i < sizeof RESOURCES / sizeof RESOURCES[0]; i++)
        if (span_equal(driver, RESOURCES[i].driver))
            return RESOURCES[i].resource;
    bool nvidia = strncmp(subject, "GPU-", 4) == 0 || strncmp(subject, "MIG-", 4) == 0;
    return driver.size == 0 && nvidia ? RESOURCES[0].resource : NULL;
}

static void size_gpus(const vitals_account *account, struct sizing *out)
{
    struct sizing_part *count = &out->parts[SIZING_GPUS], *memory = &out->parts[SIZING_GPU_MEMORY];
    char words[WORDS];
    size_t used = 0, idle = 0, unknown = 0;
    double all_busy = 0, most = 0;
    bool exact = false;
    for (const vitals_figure *figure = NULL;
         (figure = vitals_account_next(account, figure)) != NULL;) {
        const char *subject = vitals_figure_subject(figure);
        vitals_availability has_memory, has_busy;
        if (strcmp(vitals_figure_name(figure), "gpu_memory_peak_bytes") != 0 ||
            !words_is_device(subject))
            continue;
        double bytes = words_number(figure, &has_memory);
        double busy = number(account, "gpu_busy_ratio", subject, &has_busy);
        if (has_memory <= 0 && has_busy <= 0) {
            unknown++;
            continue;
        }
        if (has_busy > 0 && busy < GPU_IDLE_RATIO) {
            idle++;
            continue;
        }
        used++;
        all_busy += has_busy > 0 ? busy : 0;
        out->gpu_resource = resource_of(account, subject);
        if (has_memory > 0 && bytes > most) {
            most = bytes;
            exact = has_memory == VITALS_HAVE;
        }
    }

    if (unknown > 0 && used == 0) {
        explain(count, "what it used of GPUs could not be read");
        explain(memory, "what it used of GPUs could not be read");
        return;
    }
    count->known = true;
    count->amount = (double)used;
    if (used == 0)
        explain(count, idle > 0 ? "it opened %zu and kept none busy" : "it used none", idle);
    else
        explain(count, "together as busy as %.2f GPUs%s", all_busy,
                idle > 0 ? "; others were opened and not used" : "");
    memory->known = most > 0;
    memory->amount = ceil(most * (exact ? GPU_HEADROOM_EXACT : GPU_HEADROOM_SAMPLED) / GIB) * GIB;
    if (memory->known)
        explain(memory, "of each: peak %.40s and %s", words_value(&PLAIN, "", "bytes", most, words),
                exact ? "5 %" : "10 %");
}

static void size_time(const vitals_account *account, struct sizing_part *part)
{
    vitals_availability state;
    char words[WORDS];
    double wall = number(account, "wall_seconds", "", &state);
    vitals_text told = vitals_account_attribute(account, "state");
    bool whole = told.size == 0 || words_are(told, "complete");
    if (state <= 0 || !whole) {
        explain(part, "its end was not seen");
        return;
    }
    if (vitals_account_signal(account) != 0) {
        char name[SIGNAL_NAME_SIZE];
        explain(part, "it was ended after %.40s, by SIG%s", words_seconds(wall, words),
                signal_names_format(vitals_account_signal(account), name));
        return;
    }
    /* 5 minutes, then quarters of an hour, then hours. */
    double wanted = wall * TIME_HEADROOM;
    double unit = wanted <= 3600 ? 300 : wanted <= 6 * 3600 ? 900 : 3600;
    part->known = true;
    part->amount = ceil(wanted / unit) * unit;
    explain(part, "it took %.40s; 25 %% more", words_seconds(wall, words));
}

/* A run that did not get the CPUs which it wanted does not show how many those are, and took
 * longer. */
static void doubt_cpus(const vitals_account *account, struct sizing *out)
{
    static const char pressure[] = "cpu_pressure_seconds";
    struct sizing_part *cpus = &out->parts[SIZING_CPUS], *time = &out->parts[SIZING_TIME];
    char wait[WORDS], wall[WORDS];
    if (words_waited(account, pressure, "") < WORDS_MUCH)
        return;
    (void)words_figure(&PLAIN, vitals_account_find(account, pressure, ""), wait);
    (void)words_figure(&PLAIN, vitals_account_find(account, "wall_seconds", ""), wall);
    (void)snprintf(out->starved, sizeof out->starved, "it waited for a CPU for %.40s of %.40s",
                   wait, wall);
    size_t used = strlen(cpus->reason);
    (void)snprintf(cpus->reason + used, sizeof cpus->reason - used, "; %.100s, so it may use more",
                   out->starved);
    used = strlen(time->reason);
    if (time->known)
        (void)snprintf(time->reason + used, sizeof time->reason - used,
                       "; less if it waits less for CPUs");
}

void sizing_of(const vitals_account *account, struct sizing *out)
{
    static const double MOST[SIZING_COUNT] = {[SIZING_CPUS] = 1e6,
                                              [SIZING_MEMORY] = 0x1p60,
                                              [SIZING_GPUS] = 1e6,
                                              [SIZING_GPU_MEMORY] = 0x1p60,
                                              [SIZING_TIME] = 1e10};
    *out = (struct sizing){.failed = vitals_account_exit_code(account) > 0};
    size_cpus(account, &out->parts[SIZING_CPUS]);
    size_memory(account, &out->parts[SIZING_MEMORY]);
    size_gpus(account, out);
    size_time(account, &out->parts[SIZING_TIME]);
    doubt_cpus(account, out);
    /* An account may say anything; no more can be requested than a machine has. */
    for (size_t i = 0; i < SIZING_COUNT; i++) {
        struct sizing_part *part = &out->parts[i];
        if (!part->known || (part->amount >= 0 && part->amount <= MOST[i]))
            continue;
        part->known = false;
        explain(part, "no machine has what the account says");
    }
}

/* ---- in words ---- */

static const struct {
    const char *what, *key;
} PARTS[SIZING_COUNT] = {
    [SIZING_CPUS] = {"CPUs", "cpus"},
    [SIZING_MEMORY] = {"memory", "memory_bytes"},
    [SIZING_GPUS] = {"GPUs", "gpus"},
    [SIZING_GPU_MEMORY] = {"GPU memory", "gpu_memory_bytes"},
    [SIZING_TIME] = {"time", "time_seconds"},
};

/* "48 GiB", "512 MiB": whole ones, as they are asked for; `gib` and `mib` name the units. */
static char *size_words(double bytes, const char *gib, const char *mib, char out[static WORDS])
{
    bool whole = bytes >= GIB && fmod(bytes, GIB) == 0;
    (void)snprintf(out, WORDS, "%.0f%s", bytes / (whole ? GIB : MIB), whole ? gib : mib);
    return out;
}

void sizing_words(const struct account_view *view, size_t part, double amount, char *out)
{
    if (part == SIZING_TIME)
        (void)words_value(view, "wall_seconds", "seconds", amount, out);
    else if (part == SIZING_MEMORY && view->memory_unit == NULL)
        (void)size_words(amount, " GiB", " MiB", out);
    else if (part == SIZING_GPU_MEMORY && view->gpu_memory_unit == NULL)
        (void)size_words(amount, " GiB", " MiB", out);
    else if (part == SIZING_MEMORY || part == SIZING_GPU_MEMORY)
        (void)words_value(view, part == SIZING_MEMORY ? "" : "gpu_memory", "bytes", amount, out);
    else
        (void)snprintf(out, WORDS, "%.0f", amount);
}

int sizing_text(const struct sizing *sizing, const struct account_view *view,
                vitals_write_fn *write, void *data)
{
    enum { WHAT = 13, AMOUNT = 32 };
    struct paint paint;
    paint_init(&paint, view->color, write, data);
    paint_end(&paint);
    paint_text(&paint, COLOR_PLAIN,
               sizing->failed ? "next time ask for (this run failed and may have needed more)"
                              : "next time ask for");
    paint_end(&paint);
    for (size_t i = 0; i < SIZING_COUNT; i++) {
        char amount[WORDS] = "N/A";
        const struct sizing_part *part = &sizing->parts[i];
        bool used_none = part->known && part->amount == 0 &&
                         strncmp(part->reason, "it used none", 12) == 0;
        if ((i == SIZING_GPU_MEMORY && !part->known) || (i == SIZING_GPUS && used_none))
            continue;
        if (part->known)
            sizing_words(view, i, part->amount, amount);
        paint_text(&paint, COLOR_PLAIN, "  ");
        paint_cell(&paint, COLOR_BOLD, ALIGN_LEFT, WHAT - 2, PARTS[i].what);
        paint_cell(&paint, COLOR_PLAIN, ALIGN_LEFT, AMOUNT, amount);
        paint_paragraph(&paint, COLOR_DIM, WHAT + AMOUNT, view->width, part->reason);
    }
    return paint_done(&paint);
}

void sizing_json(const void *data, struct json_form *form)
{
    const struct sizing *sizing = data;
    form_begin(form, '{');
    for (size_t i = 0; i < SIZING_COUNT; i++) {
        form_begin_member(form, PARTS[i].key, '{');
        form_put_number(form, "value",
                        sizing->parts[i].known ? sizing->parts[i].amount : (double)NAN);
        form_put_string(form, "reason", sizing->parts[i].reason);
        form_end(form, '}');
    }
    form_end(form, '}');
}

/* ---- for schedulers ---- */

static void VITALS_FORMAT(2, 3) put(struct paint *paint, const char *format, ...)
{
    char line[2 * WORDS];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    paint_text(paint, COLOR_PLAIN, line);
    paint_end(paint);
}

/* Remarks about what could not be determined, so that its absence is not taken for an answer. */
static void put_unknown(struct paint *paint, const struct sizing *sizing)
{
    if (sizing->failed)
        put(paint, "# this run failed and may have needed more");
    if (sizing->starved[0] != '\0')
        put(paint, "# %s: it may use more CPUs, and less time", sizing->starved);
    for (size_t i = 0; i < SIZING_COUNT; i++) {
        if (!sizing->parts[i].known && i != SIZING_GPU_MEMORY)
            put(paint, "# %s: %s", PARTS[i].what, sizing->parts[i].reason);
    }
}

/* Writes the option of sbatch for a part; returns false if there is none to give. */
static bool slurm_option(const struct sizing *sizing, size_t part, char out[static WORDS])
{
    double amount = sizing->parts[part].amount, minutes = amount / 60, hours = floor(minutes / 60);
    char size[WORDS];
    bool given = sizing->parts[part].known && amount > 0;
    if (part == SIZING_CPUS)
        (void)snprintf(out, WORDS, "--cpus-per-task=%.0f", amount);
    else if (part == SIZING_MEMORY) /* Slurm's letters are binary: its M is MiB */
        (void)snprintf(out, WORDS, "--mem=%.40s", size_words(amount, "G", "M", size));
    else if (part == SIZING_GPUS)
        (void)snprintf(out, WORDS, "--gpus=%.0f", amount);
    else if (part == SIZING_TIME)
        (void)snprintf(out, WORDS, "--time=%.0f:%02.0f:00", hours, minutes - hours * 60);
    else
        return false;
    return given;
}

void sizing_request(const struct sizing *sizing, char *out, size_t capacity)
{
    char option[WORDS];
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < SIZING_COUNT; i++)
        if (slurm_option(sizing, i, option) && used + strlen(option) + 2 <= capacity)
            used += (size_t)snprintf(out + used, capacity - used, "%s%s", used > 0 ? " " : "",
                                     option);
}

int sizing_slurm(const struct sizing *sizing, vitals_write_fn *write, void *data)
{
    const struct sizing_part *memory = &sizing->parts[SIZING_GPU_MEMORY];
    struct paint paint;
    char option[WORDS];
    paint_init(&paint, false, write, data);
    for (size_t i = 0; i < SIZING_COUNT; i++)
        if (slurm_option(sizing, i, option))
            put(&paint, "#SBATCH %s", option);
    if (memory->known)
        put(&paint, "# each GPU needs %.0f GiB of memory", memory->amount / GIB);
    put_unknown(&paint, sizing);
    return paint_done(&paint);
}

int sizing_kubernetes(const struct sizing *sizing, vitals_write_fn *write, void *data)
{
    const struct sizing_part *parts = sizing->parts;
    struct paint paint;
    char size[WORDS];
    bool gpus = parts[SIZING_GPUS].known && parts[SIZING_GPUS].amount > 0;
    paint_init(&paint, false, write, data);
    put(&paint, "resources:");
    if (parts[SIZING_CPUS].known || parts[SIZING_MEMORY].known)
        put(&paint, "  requests:");
    if (parts[SIZING_CPUS].known)
        put(&paint, "    cpu: \"%.0f\"", parts[SIZING_CPUS].amount);
    (void)size_words(parts[SIZING_MEMORY].amount, "Gi", "Mi", size);
    if (parts[SIZING_MEMORY].known)
        put(&paint, "    memory: %s", size);
    if (parts[SIZING_MEMORY].known || (gpus && sizing->gpu_resource != NULL))
        put(&paint, "  limits:");
    if (parts[SIZING_MEMORY].known)
        put(&paint, "    memory: %s", size);
    if (gpus && sizing->gpu_resource != NULL)
        put(&paint, "    %s: %.0f", sizing->gpu_resource, parts[SIZING_GPUS].amount);
    if (gpus && sizing->gpu_resource == NULL)
        put(&paint,
            "# %.0f GPUs: limits of amd.com/gpu or gpu.intel.com/i915, as your cluster "
            "names them",
            parts[SIZING_GPUS].amount);
    if (parts[SIZING_GPU_MEMORY].known)
        put(&paint, "# each GPU needs %.0f GiB of memory", parts[SIZING_GPU_MEMORY].amount / GIB);
    put_unknown(&paint, sizing);
    return paint_done(&paint);
}
