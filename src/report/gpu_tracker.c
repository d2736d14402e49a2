/* gpu_tracker.c: the report of gpu_tracker from our figures, so that its readers can read ours. Its
 * keys, their order and its text are tables here.
 *
 * Its fields: RAM is private + shared (pages that several processes map counted once), at one time,
 * in a decimal unit; main is the started process, descendants all below it, combined both; a sum
 * percentage is 100 for one busy core (or GPU), a hardware percentage is of all expected ones;
 * compute_time is the time from start to end. An unknown value is null, N/A in the text. */
#include "report/account.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/json_form.h"
#include "report/words.h"
#include "view/paint.h"

static const struct {
    const char *key, *words;
} WORDING[] = {
    {"max_ram", "Max RAM"},
    {"unit", "Unit"},
    {"system_capacity", "System capacity"},
    {"system", "System"},
    {"main", "Main"},
    {"descendants", "Descendants"},
    {"combined", "Combined"},
    {"total_rss", "Total RSS"},
    {"private_rss", "Private RSS"},
    {"shared_rss", "Shared RSS"},
    {"max_gpu_ram", "Max GPU RAM"},
    {"cpu_utilization", "CPU utilization"},
    {"system_core_count", "System core count"},
    {"n_expected_cores", "Number of expected cores"},
    {"max_sum_percent", "Max sum percent"},
    {"max_hardware_percent", "Max hardware percent"},
    {"mean_sum_percent", "Mean sum percent"},
    {"mean_hardware_percent", "Mean hardware percent"},
    {"main_n_threads", "Main number of threads"},
    {"descendants_n_threads", "Descendants number of threads"},
    {"combined_n_threads", "Combined number of threads"},
    {"gpu_utilization", "GPU utilization"},
    {"system_gpu_count", "System GPU count"},
    {"n_expected_gpus", "Number of expected GPUs"},
    {"gpu_percentages", "GPU percentages"},
    {"compute_time", "Compute time"},
    {"time", "Time"},
};

enum gpu_tracker_kind { KIND_REAL, KIND_COUNT };

struct gpu_tracker_tree {
    const vitals_account *account;
    const char *memory_unit, *gpu_memory_unit, *time_unit;
    double cores, expected_cores, devices, expected_devices; /* 0: not known */
    bool no_devices; /* there are none: what they used is 0 */

    bool text; /* where it goes: as text to `paint`, or to `form` */
    struct paint paint;
    struct json_form form;
};

/* ---- one member ---- */

static void put_text(struct gpu_tracker_tree *tree, int depth, const char *key, const char *value)
{
    enum { TEXT_INDENT = 3 };
    const char *title = key;
    for (size_t i = 0; i < sizeof WORDING / sizeof WORDING[0]; i++)
        if (strcmp(WORDING[i].key, key) == 0)
            title = WORDING[i].words;
    paint_repeat(&tree->paint, COLOR_PLAIN, " ", (size_t)depth * TEXT_INDENT);
    paint_text(&tree->paint, COLOR_PLAIN, title);
    paint_text(&tree->paint, COLOR_PLAIN, value[0] != '\0' ? ": " : ":");
    paint_text(&tree->paint, COLOR_PLAIN, value);
    paint_end(&tree->paint);
}

/* Writes the key, within the groups that are not over. */
static void put_key(struct gpu_tracker_tree *tree, int depth, const char *key)
{
    while (tree->form.depth > depth + 1)
        form_end(&tree->form, '}');
    form_key(&tree->form, key);
}

static void add_group(struct gpu_tracker_tree *tree, int depth, const char *key)
{
    if (tree->text) {
        put_text(tree, depth, key, "");
        return;
    }
    put_key(tree, depth, key);
    form_begin(&tree->form, '{');
}

static void add_number(struct gpu_tracker_tree *tree, int depth, const char *key,
                       enum gpu_tracker_kind kind, bool known, double value)
{
    char words[WORDS] = "N/A";
    if (!tree->text) {
        put_key(tree, depth, key);
        tree->form.floats = kind == KIND_REAL;
        form_number(&tree->form, known ? value : (double)NAN);
        return;
    }
    /* Three decimals, of which zeros behind the first go away. */
    size_t size = known ? (size_t)snprintf(words, sizeof words, kind == KIND_REAL ? "%.3f" : "%.0f",
                                           value)
                        : 0;
    while (kind == KIND_REAL && size > 2 && words[size - 1] == '0' && words[size - 2] != '.')
        words[--size] = '\0';
    put_text(tree, depth, key, words);
}

static void add_unit(struct gpu_tracker_tree *tree, const char *unit)
{
    if (tree->text) {
        put_text(tree, 1, "unit", unit);
        return;
    }
    put_key(tree, 1, "unit");
    form_string(&tree->form, unit);
}

/* ---- figures ---- */

static bool figure(const struct gpu_tracker_tree *tree, const char *measure, const char *statistic,
                   const char *subject, double *out)
{
    vitals_availability state;
    *out = words_number(words_find(tree->account, measure, statistic, subject), &state);
    return state > 0;
}

static void add_bytes(struct gpu_tracker_tree *tree, int depth, const char *key,
                      const char *measure, const char *subject, const char *unit)
{
    double value = 0;
    bool known = figure(tree, measure, "peak", subject, &value) &&
                 vitals_usage_convert(value, "bytes", unit, &value) == 0;
    add_number(tree, depth, key, KIND_REAL, known, value);
}

static const struct {
    const char *key, *subject;
} SCOPES[] = {{"main", "root"}, {"descendants", "descendants"}, {"combined", ""}};
enum { SCOPE_COUNT = sizeof SCOPES / sizeof SCOPES[0] };

/* ---- groups ---- */

static void add_ram(struct gpu_tracker_tree *tree)
{
    const char *unit = tree->memory_unit;
    add_group(tree, 0, "max_ram");
    add_unit(tree, unit);
    add_bytes(tree, 1, "system_capacity", "memory_total_bytes", "system", unit);
    add_bytes(tree, 1, "system", "memory_used_bytes", "system", unit);
    for (size_t i = 0; i < SCOPE_COUNT; i++) {
        double ignored;
        bool both = figure(tree, "memory_both_bytes", "peak", SCOPES[i].subject, &ignored);
        add_group(tree, 1, SCOPES[i].key);
        add_bytes(tree, 2, "total_rss", both ? "memory_both_bytes" : "memory_resident_bytes",
                  SCOPES[i].subject, unit);
        add_bytes(tree, 2, "private_rss", "memory_private_bytes", SCOPES[i].subject, unit);
        add_bytes(tree, 2, "shared_rss", "memory_shared_bytes", SCOPES[i].subject, unit);
    }
}

/* If there is no device at all the use is known: 0. */
static void add_device_bytes(struct gpu_tracker_tree *tree, const char *key, const char *measure,
                             const char *subject)
{
    if (tree->no_devices)
        add_number(tree, 1, key, KIND_REAL, true, 0);
    else
        add_bytes(tree, 1, key, measure, subject, tree->gpu_memory_unit);
}

/* Four percentages of what is in use, of so many. */
static void add_percentages(struct gpu_tracker_tree *tree, const char *key, const double used[2],
                            const bool known[2], double of)
{
    static const char *const KEYS[2][2] = {{"max_sum_percent", "max_hardware_percent"},
                                           {"mean_sum_percent", "mean_hardware_percent"}};
    add_group(tree, 1, key);
    for (size_t i = 0; i < 2; i++) {
        add_number(tree, 2, KEYS[i][0], KIND_REAL, known[i], used[i] * 100);
        add_number(tree, 2, KEYS[i][1], KIND_REAL, known[i] && of > 0,
                   of > 0 ? used[i] * 100 / of : 0);
    }
}

/* The mean of the whole tree was counted, where it was; the rest is of samples. */
static void add_cpu_of(struct gpu_tracker_tree *tree, const char *key, const char *subject,
                       double of)
{
    double used[2] = {0}, counted;
    bool known[2] = {figure(tree, "cpu_cores", "peak", subject, &used[0]),
                     figure(tree, "cpu_cores", "mean", subject, &used[1])};
    vitals_availability state;
    counted = words_number(vitals_account_find(tree->account, "cpu_cores", subject), &state);
    if (state > 0) {
        used[1] = counted;
        known[1] = true;
    }
    if (known[1] && (!known[0] || used[0] < used[1])) {
        used[0] = used[1]; // no sample saw more than the mean, so that was the most
        known[0] = true;
    }
    add_percentages(tree, key, used, known, of);
}

static void add_cpu(struct gpu_tracker_tree *tree)
{
    static const char *const THREADS[SCOPE_COUNT] = {"main_n_threads", "descendants_n_threads",
                                                     "combined_n_threads"};
    add_group(tree, 0, "cpu_utilization");
    add_number(tree, 1, "system_core_count", KIND_COUNT, tree->cores > 0, tree->cores);
    bool whole = tree->expected_cores == floor(tree->expected_cores);
    add_number(tree, 1, "n_expected_cores", whole ? KIND_COUNT : KIND_REAL,
               tree->expected_cores > 0, tree->expected_cores);
    add_cpu_of(tree, "system", "system", tree->cores);
    for (size_t i = 0; i < SCOPE_COUNT; i++)
        add_cpu_of(tree, SCOPES[i].key, SCOPES[i].subject, tree->expected_cores);
    for (size_t i = 0; i < SCOPE_COUNT; i++) {
        double threads;
        bool known = figure(tree, "threads", "peak", SCOPES[i].subject, &threads);
        add_number(tree, 1, THREADS[i], KIND_COUNT, known, threads);
    }
}

/* ---- the whole ---- */

int account_gpu_tracker(const vitals_account *account, const struct account_view *view, bool text,
                        vitals_write_fn *write, void *data)
{
    struct gpu_tracker_tree tree = {
        .account = account,
        .memory_unit = view->memory_unit != NULL ? view->memory_unit : "gigabytes",
        .gpu_memory_unit = view->gpu_memory_unit != NULL ? view->gpu_memory_unit : "gigabytes",
        .time_unit = view->time_unit != NULL ? view->time_unit : "hours",
        .text = text,
    };
    paint_init(&tree.paint, false, write, data);
    json_form_init(&tree.form, 1, write, data);
    if (!text)
        form_begin(&tree.form, '{');
    vitals_availability state;
    const vitals_figure *found = words_find(account, "devices", "peak", "system");
    double devices = words_number(found, &state);
    bool told = state > 0;
    /* No driver: no device. An account of ours that measured the machine leaves out what there is
     * none of. */
    if (found != NULL ? state == VITALS_UNSUPPORTED
                      : vitals_account_attribute(account, "version").size > 0 &&
                            words_find(account, "memory_total_bytes", "peak", "system") != NULL) {
        told = true;
        devices = 0;
    }
    tree.expected_cores = words_attribute_number(account, "expected_cores");
    tree.cores = words_attribute_number(account, "system_cores");
    tree.devices = told ? devices : 0;
    tree.no_devices = told && devices == 0;
    tree.expected_devices = words_attribute_number(account, "expected_gpus");
    if (tree.expected_devices == 0)
        tree.expected_devices = tree.devices;
    add_ram(&tree);

    add_group(&tree, 0, "max_gpu_ram");
    add_unit(&tree, tree.gpu_memory_unit);
    add_device_bytes(&tree, "system_capacity", "device_memory_total_bytes", "system");
    add_device_bytes(&tree, "system", "device_memory_used_bytes", "system");
    double all;
    bool unused = figure(&tree, "gpu_memory_bytes", "peak", "", &all) && all == 0;
    for (size_t i = 0; i < SCOPE_COUNT; i++)
        if (unused) /* by no part of the tree */
            add_number(&tree, 1, SCOPES[i].key, KIND_REAL, true, 0);
        else
            add_device_bytes(&tree, SCOPES[i].key, "gpu_memory_bytes", SCOPES[i].subject);
    add_cpu(&tree);
    double used[2] = {0};
    const bool no_devices = tree.no_devices, counted = no_devices || tree.devices > 0;
    const bool shares[2] = {
        figure(&tree, "device_utilization_ratio", "peak", "system", &used[0]) || no_devices,
        figure(&tree, "device_utilization_ratio", "mean", "system", &used[1]) || no_devices};
    add_group(&tree, 0, "gpu_utilization");
    add_number(&tree, 1, "system_gpu_count", KIND_COUNT, counted, tree.devices);
    add_number(&tree, 1, "n_expected_gpus", KIND_COUNT, counted, tree.expected_devices);
    add_percentages(&tree, "gpu_percentages", used, shares, no_devices ? 1 : tree.expected_devices);

    double time = words_number(vitals_account_find(account, "wall_seconds", ""), &state);
    bool known = state > 0 && vitals_usage_convert(time, "seconds", tree.time_unit, &time) == 0;
    add_group(&tree, 0, "compute_time");
    add_unit(&tree, tree.time_unit);
    add_number(&tree, 1, "time", KIND_REAL, known, time);
    if (text)
        return paint_done(&tree.paint);
    while (tree.form.depth > 0)
        form_end(&tree.form, '}');
    return tree.form.failed != 0 ? tree.form.failed : write(data, "\n", 1);
}
