/* run_repeat.c: figures of several runs: the mean, least, largest and standard deviation of each. A
 * run without a figure is not counted for it, and the figure's count shows that. */
#include <stdio.h>
#include <string.h>

#include "command/run/run.h"
#include "report/json_form.h"
#include "report/statistics.h"
#include "report/words.h"
#include "util/memory.h"

void repeat_done(struct repeat *repeat)
{
    for (size_t i = 0; i < repeat->count; i++)
        vitals_account_free(repeat->runs[i]);
    memory_free(repeat->runs);
}

bool repeat_add(struct repeat *repeat, vitals_account *account)
{
    if (MEMORY_GROW(repeat->runs, repeat->capacity, repeat->count) < 0)
        return false;
    repeat->runs[repeat->count++] = account;
    return true;
}

/* A position in the figures of all runs, each of them once, in the order of the first run that has
 * it. All zero: before the first. */
struct run_repeat_walk {
    size_t run;
    const vitals_figure *figure;
};

static bool next_figure(const struct repeat *repeat, struct run_repeat_walk *walk)
{
    while (walk->run < repeat->count) {
        walk->figure = vitals_account_next(repeat->runs[walk->run], walk->figure);
        if (walk->figure == NULL) {
            walk->run++;
            continue;
        }
        const char *name = vitals_figure_name(walk->figure);
        const char *subject = vitals_figure_subject(walk->figure);
        bool known = false;
        for (size_t i = 0; i < walk->run && !known; i++)
            known = vitals_account_find(repeat->runs[i], name, subject) != NULL;
        if (!known)
            return true;
    }
    return false;
}

static struct statistics statistics_of(const struct repeat *repeat, const vitals_figure *figure)
{
    struct statistics result = {0};
    for (size_t i = 0; i < repeat->count; i++) {
        double value;
        const vitals_figure *one = vitals_account_find(repeat->runs[i], vitals_figure_name(figure),
                                                       vitals_figure_subject(figure));
        if (one != NULL && vitals_figure_value(one, &value) > 0)
            statistics_add(&result, value);
    }
    return result;
}

/* Figures for comparing runs, of the whole tree and of devices. */
static const struct {
    const char *name, *title;
} SHOWN[] = {
    {"wall_seconds", "time"},
    {"cpu_seconds", "CPU"},
    {"cpu_user_seconds", "  user"},
    {"cpu_system_seconds", "  system"},
    {"memory_peak_bytes", "memory, peak"},
    {"memory_peak_low_bytes", "memory, peak at least"},
    {"memory_peak_high_bytes", "memory, estimate"},
    {"disk_read_bytes", "disk, read"},
    {"disk_written_bytes", "  written"},
    {"processes", "processes"},
    {"gpu_memory_peak_bytes", "memory, peak"},
    {"gpu_busy_seconds", "busy"},
};

/* Returns its title, or NULL. With --verbose the title of every figure is its name. */
static const char *title_of(const struct account_view *view, const vitals_figure *figure)
{
    const char *name = vitals_figure_name(figure);
    if (view->verbose)
        return name;
    bool is_whole = vitals_figure_subject(figure)[0] == '\0';
    bool is_device = strncmp(name, "gpu_", 4) == 0 && vitals_figure_label(figure)[0] != '\0';
    for (size_t i = 0; (is_whole || is_device) && i < ARRAY_COUNT(SHOWN); i++) {
        if (strcmp(name, SHOWN[i].name) == 0)
            return SHOWN[i].title;
    }
    return NULL;
}

int repeat_text(const struct repeat *repeat, const struct account_view *view,
                vitals_write_fn *write, void *data)
{
    char mean[WORDS], min[WORDS], max[WORDS], std[WORDS], title[160], line[1400];
    struct run_repeat_walk walk = {0};
    int columns = view->verbose ? 44 : 24;
    (void)snprintf(line, sizeof line, "vitals: %zu run%s\n  %-*s %12s %12s %12s %12s\n",
                   repeat->count, repeat->count == 1 ? "" : "s", columns, "", "mean", "least",
                   "most", "deviation");
    int stopped = write(data, line, strlen(line));
    while (stopped == 0 && next_figure(repeat, &walk)) {
        const struct statistics of = statistics_of(repeat, walk.figure);
        const char *name = vitals_figure_name(walk.figure), *unit = vitals_figure_unit(walk.figure);
        const char *label = vitals_figure_label(walk.figure), *own = title_of(view, walk.figure);
        if (of.count == 0 || own == NULL)
            continue;
        if (label[0] == '\0' && view->verbose)
            label = vitals_figure_subject(walk.figure);
        if (view->verbose)
            (void)snprintf(title, sizeof title, "%s %s", name, label);
        else
            (void)snprintf(title, sizeof title, "%s%s%s", label, label[0] != '\0' ? " " : "", own);
        (void)snprintf(line, sizeof line, "  %-*.100s %12s %12s %12s %12s\n", columns, title,
                       words_value(view, name, unit, of.mean, mean),
                       words_value(view, name, unit, of.min, min),
                       words_value(view, name, unit, of.max, max),
                       words_value(view, name, unit, statistics_deviation(&of), std));
        stopped = write(data, line, strlen(line));
    }
    return stopped;
}

int repeat_json(const struct repeat *repeat, vitals_write_fn *write, void *data)
{
    struct json_form form;
    struct run_repeat_walk walk = {0};
    json_form_init(&form, 0, write, data);
    form_begin(&form, '{');
    form_put_count(&form, "runs", repeat->count);
    form_begin_member(&form, "statistics", '[');
    while (next_figure(repeat, &walk)) {
        const struct statistics of = statistics_of(repeat, walk.figure);
        if (of.count > 0) {
            const vitals_figure *figure = walk.figure;
            form_begin(&form, '{');
            form_put_string(&form, "name", vitals_figure_name(figure));
            if (vitals_figure_subject(figure)[0] != '\0')
                form_put_string(&form, "subject", vitals_figure_subject(figure));
            if (vitals_figure_label(figure)[0] != '\0')
                form_put_string(&form, "label", vitals_figure_label(figure));
            form_put_string(&form, "unit", vitals_figure_unit(figure));
            form_put_count(&form, "count", of.count);
            form_put_number(&form, "mean", of.mean);
            form_put_number(&form, "min", of.min);
            form_put_number(&form, "max", of.max);
            form_put_number(&form, "std", statistics_deviation(&of));
            form_end(&form, '}');
        }
    }
    form_end(&form, ']');
    form_begin_member(&form, "accounts", '[');
    for (size_t i = 0; i < repeat->count && form.failed == 0; i++) {
        form.begun = form.begun && write(data, ",", 1) == 0;
        form.failed = vitals_account_json(repeat->runs[i], write, data, NULL);
        form.begun = true;
    }
    form_end(&form, ']');
    form_end(&form, '}');
    return form.failed != 0 ? form.failed : write(data, "\n", 1);
}
