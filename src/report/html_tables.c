/* html_tables.c: the sections of the page that are a table each: a run's phases, its processes, and
 * what to ask for next time. */
#include <math.h>
#include <string.h>

#include "report/html.h"
#include "report/html_out.h"
#include "report/processes.h"

/* ---- phases ---- */

static void put_cell(struct html *html, bool known, const char *name, const char *unit,
                     double value, const char *how)
{
    char words[WORDS];
    html_raw(html, "<td class=\"num\">");
    if (known)
        html_figure(html, words_value(html->view, name, unit, value, words), how);
    else
        html_raw(html, "<span class=\"soft\">N/A</span>");
    html_raw(html, "</td>");
}

static void put_measured(struct html *html, bool known, const char *name, const char *unit,
                         const struct phase_measure *measure)
{
    bool counter = measure != NULL && measure->series->counter;
    double value = measure == NULL ? 0 : counter ? measure->growth : measure->values.max;
    put_cell(html, known, name, unit, value,
             counter ? "sampled, growth of the counter between begin and end"
                     : "sampled, the largest sample within");
}

static bool has_gauge(const struct phase *phase, const char *name)
{
    const struct phase_measure *measure = phase_measure_of(phase, name, "");
    return measure != NULL && measure->values.count > 0;
}

void html_phases(struct html *html, const struct phases *phases)
{
    static const char marked[] = "exact, marked by the run itself";
    bool gpus = false;
    if (phases->count == 0)
        return;
    for (size_t i = 0; i < phases->count; i++)
        gpus = gpus || has_gauge(&phases->items[i], "gpu_memory_bytes");
    html_raw(html,
             "<section>\n<h2>Phases</h2>\n<div class=\"wide\"><table><thead><tr><th>phase</th>"
             "<th class=\"num\">calls</th><th class=\"num\">time</th><th class=\"num\">mean</th>"
             "<th class=\"num\">longest</th><th class=\"num\">CPU</th><th class=\"num\">memory "
             "peak</th>");
    html_raw(html, gpus ? "<th class=\"num\">GPU memory</th>" : "");
    html_raw(html, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < phases->count; i++) {
        const struct phase *phase = &phases->items[i];
        const struct phase_measure *cpu = phase_measure_of(phase, "cpu_seconds", "");
        bool timed = phase->calls > 0;
        html_raw(html, "<tr><td class=\"name\">");
        html_string(html, phase->name);
        html_format(html, "</td><td class=\"num\">%zu</td>", phase->calls);
        put_cell(html, timed, "", "seconds", phase->seconds.total, marked);
        put_cell(html, timed, "", "seconds", phase->seconds.mean, marked);
        put_cell(html, timed, "", "seconds", phase->seconds.max, marked);
        put_measured(html, cpu != NULL && !isnan(cpu->growth), "", "seconds", cpu);
        put_measured(html, has_gauge(phase, "memory_resident_bytes"), "", "bytes",
                     phase_measure_of(phase, "memory_resident_bytes", ""));
        if (gpus)
            put_measured(html, has_gauge(phase, "gpu_memory_bytes"), "gpu_memory", "bytes",
                         phase_measure_of(phase, "gpu_memory_bytes", ""));
        html_raw(html, "</tr>\n");
    }
    html_format(html, "</tbody></table></div>\n<p>%s</p>\n</section>\n", PHASES_QUALITY);
}

/* ---- processes ---- */

static const char counted[] = "sampled, growth of its counter while it was seen";
static const char largest[] = "sampled, the largest sample";

static const struct {
    const char *title, *name, *unit, *how;
} USES[] = {
    {"CPU", "", "seconds", counted},
    {"memory peak", "", "bytes", largest},
    {"GPU memory", "gpu_memory", "bytes", largest},
    {"read", "", "bytes", counted},
    {"written", "", "bytes", counted},
    {"seen for", "", "seconds", "sampled, from the first to the last sample that saw it"},
};
enum { USE_COUNT = sizeof USES / sizeof USES[0] };

/* Below 0: not known. */
static double value_of(const struct process_use *use, size_t which)
{
    const double values[USE_COUNT] = {use->cpu_seconds,   use->memory_bytes,
                                      use->gpu_bytes,     use->read_bytes,
                                      use->written_bytes, use->last_second - use->first_second};
    return values[which];
}

void html_processes(struct html *html, const struct process_list *list)
{
    bool shown[USE_COUNT] = {false};
    if (list->count == 0)
        return;
    for (size_t i = 0; i < USE_COUNT; i++) /* a column without any value is left out */
        for (size_t j = 0; j < list->count && !shown[i]; j++)
            shown[i] = value_of(&list->items[j], i) >= 0;
    html_raw(html, "<section>\n<h2>Processes</h2>\n<div class=\"wide\"><table><thead><tr><th "
                   "class=\"num\">pid</th><th>command</th>");
    for (size_t i = 0; i < USE_COUNT; i++) {
        if (shown[i])
            html_format(html, "<th class=\"num\">%s</th>", USES[i].title);
    }
    html_raw(html, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < list->count; i++) {
        const struct process_use *use = &list->items[i];
        html_format(html, "<tr><td class=\"num\">%lld</td><td class=\"name mono\">",
                    (long long)use->pid);
        html_string(html, use->name);
        html_raw(html, "</td>");
        for (size_t j = 0; j < USE_COUNT; j++) {
            double value = value_of(use, j);
            if (shown[j])
                put_cell(html, value >= 0, USES[j].name, USES[j].unit, value, USES[j].how);
        }
        html_raw(html, "</tr>\n");
    }
    html_raw(html, "</tbody></table></div>\n");
    if (list->left_out > 0)
        html_format(html, "<p class=\"soft\">%zu more used less CPU time.</p>\n", list->left_out);
    html_raw(html, "<p class=\"soft\">A process that lived for less than a sample is not in this "
                   "table.</p>\n</section>\n");
}

/* ---- what to ask for next time ---- */

static int collect_lines(void *data, const char *bytes, size_t size)
{
    struct html *html = data;
    while (size > 0 && html->failed == 0) {
        const char *end = memchr(bytes, '\n', size);
        size_t part = end != NULL ? (size_t)(end - bytes) : size;
        html_text(html, (vitals_text){bytes, part});
        if (end != NULL)
            html_raw(html, "\n");
        bytes += part + (end != NULL);
        size -= part + (end != NULL);
    }
    return html->failed;
}

void html_sizing(struct html *html, const struct sizing *sizing)
{
    static const char *const WHAT[SIZING_COUNT] = {"CPUs", "memory", "GPUs", "GPU memory", "time"};
    html_raw(html, "<section>\n<h2>Next time ask for</h2>\n");
    if (sizing->failed)
        html_raw(html, "<p class=\"note\">This run failed and may have needed more.</p>\n");
    html_raw(html, "<div class=\"wide\"><table><tbody>\n");
    for (size_t i = 0; i < SIZING_COUNT; i++) {
        char words[WORDS] = "N/A";
        const struct sizing_part *part = &sizing->parts[i];
        if (i == SIZING_GPU_MEMORY && !part->known)
            continue;
        if (part->known)
            sizing_words(html->view, i, part->amount, words);
        html_format(html, "<tr><td class=\"name\">%s</td><td class=\"num\">", WHAT[i]);
        html_figure(html, words, part->reason);
        html_raw(html, "</td><td class=\"from\">");
        html_string(html, part->reason);
        html_raw(html, "</td></tr>\n");
    }
    html_raw(html, "</tbody></table></div>\n<div class=\"two\"><pre>");
    (void)sizing_slurm(sizing, collect_lines, html);
    html_raw(html, "</pre><pre>");
    (void)sizing_kubernetes(sizing, collect_lines, html);
    html_raw(html, "</pre></div>\n</section>\n");
}
