/* html_tables.c: the sections of the page that are a table each: a run's phases, its processes, and
 * what to ask for next time. */
#include <math.h>
#include <string.h>

#include "report/html.h"
#include "util/cursor.h"

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
    bool is_short = counter && phase_measure_state(measure) == VITALS_LOWER_BOUND;
    put_cell(html, known, name, unit, value,
             is_short  ? "at least, growth of the counter between the samples"
             : counter ? "estimate, growth of the counter between begin and end"
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

static const struct {
    const char *title, *name, *unit;
} USES[] = {
    {"CPU", "", "seconds"},
    {"memory peak", "", "bytes"},
    {"GPU memory", "gpu_memory", "bytes"},
    {"seen for", "", "seconds"},
    {"read", "", "bytes"},
    {"written", "", "bytes"},
};
enum { USE_COUNT = sizeof USES / sizeof USES[0] };

/* Below 0: not known. */
static double value_of(const struct process_use *use, size_t which)
{
    const double values[USE_COUNT] = {use->cpu_seconds, use->memory_bytes,
                                      use->gpu_bytes,   use->last_second - use->first_second,
                                      use->read_bytes,  use->written_bytes};
    return values[which];
}

/* Columns that few readers need are left out on a phone. */
static const char *class_of(size_t which)
{
    return which >= 3 ? "num less" : "num";
}

/* The program, which a narrow screen has room for, and the command line as far as it says more. */
static void put_command(struct html *html, const struct process_use *use)
{
    size_t size = strlen(use->program);
    bool begins = strncmp(use->name, use->program, size) == 0 &&
                  (use->name[size] == ' ' || use->name[size] == '\0');
    html_raw(html, "<b>");
    html_string(html, use->program);
    html_raw(html, begins ? "</b><span class=\"soft\">" : "</b> <span class=\"soft\">");
    html_string(html, use->name + (begins ? size : 0));
    html_raw(html, "</span>");
}

/* A table of uses; of programs without pids. A column without any value is left out. */
static void put_uses(struct html *html, const struct process_use *uses, size_t count)
{
    bool shown[USE_COUNT] = {false}, programs = count > 0 && uses[0].count > 0;
    for (size_t i = 0; i < USE_COUNT; i++)
        for (size_t j = 0; j < count && !shown[i]; j++)
            shown[i] = value_of(&uses[j], i) >= 0;
    html_raw(html, "<div class=\"wide\"><table><thead><tr>");
    html_raw(html, programs ? "<th>program</th>" : "<th class=\"num\">pid</th><th>command</th>");
    for (size_t i = 0; i < USE_COUNT; i++) {
        if (shown[i])
            html_format(html, "<th class=\"%s\">%s</th>", class_of(i), USES[i].title);
    }
    html_raw(html, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < count; i++) {
        const struct process_use *use = &uses[i];
        if (programs) {
            html_raw(html, "<tr><td class=\"name mono\">");
            html_string(html, use->program);
            if (use->count > 1)
                html_format(html, " × %zu", use->count);
            html_raw(html, "</td>");
        } else {
            html_format(
                html,
                "<tr><td class=\"num\">%lld</td><td class=\"name mono\"><span class=\"cut\" "
                "tabindex=\"0\">",
                (long long)use->pid);
            put_command(html, use);
            html_raw(html, "</span></td>");
        }
        for (size_t j = 0; j < USE_COUNT; j++) {
            char words[WORDS];
            double value = value_of(use, j);
            if (shown[j])
                html_format(html, "<td class=\"%s\">%s</td>", class_of(j),
                            value >= 0
                                ? words_value(html->view, USES[j].name, USES[j].unit, value, words)
                                : "<span class=\"soft\">N/A</span>");
        }
        html_raw(html, "</tr>\n");
    }
    html_raw(html, "</tbody></table></div>\n");
}

void html_processes(struct html *html, const struct process_list *list)
{
    enum { FIRST = 20 };
    size_t first = list->count < FIRST ? list->count : FIRST;
    if (list->count == 0)
        return;
    if (list->program_count > 0) {
        html_raw(html, "<section>\n<h2>Programs</h2>\n<p class=\"soft\">What the processes of each "
                       "used together; the memory is that of the largest.</p>\n");
        put_uses(html, list->programs, list->program_count);
        if (list->programs_left_out > 0)
            html_format(html, "<p class=\"soft\">%zu more used less CPU time.</p>\n",
                        list->programs_left_out);
        html_raw(html, "</section>\n");
    }
    html_raw(html, "<section>\n<h2>Processes</h2>\n");
    put_uses(html, list->items, first);
    if (list->count > first) {
        html_format(html, "<details>\n<summary>The next %zu by CPU time</summary>\n",
                    list->count - first);
        put_uses(html, list->items + first, list->count - first);
        html_raw(html, "</details>\n");
    }
    if (list->left_out > 0)
        html_format(html, "<p class=\"soft\">%zu more used less CPU time.</p>\n", list->left_out);
    html_raw(html,
             "<p class=\"soft\">Sampled: a process that lived for less than a sample is not in "
             "this table. CPU, read and written are the growth of its counters while it was "
             "seen; memory is the largest sample.</p>\n</section>\n");
}

/* ---- what to ask for next time ---- */

static int collect_lines(void *data, const char *bytes, size_t size)
{
    struct html *html = data;
    struct cursor cursor = cursor_over(bytes, size);
    for (struct span line; cursor_until(&cursor, '\n', &line);) {
        html_text(html, (vitals_text){line.bytes, line.size});
        html_raw(html, "\n");
    }
    html_text(html, (vitals_text){cursor.at, (size_t)(cursor.end - cursor.at)});
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
        if ((i == SIZING_GPU_MEMORY && !part->known) ||
            (i == SIZING_GPUS && part->known && part->amount == 0))
            continue;
        if (part->known)
            sizing_words(html->view, i, part->amount, words);
        html_format(html,
                    "<tr><td class=\"what\">%s</td><td class=\"num\">%s</td><td class=\"from\">",
                    WHAT[i], words);
        html_string(html, part->reason);
        html_raw(html, "</td></tr>\n");
    }
    html_raw(html, "</tbody></table></div>\n<details>\n<summary>As lines for Slurm and "
                   "Kubernetes</summary>\n<div class=\"two\"><pre tabindex=\"0\">");
    (void)sizing_slurm(sizing, collect_lines, html);
    html_raw(html, "</pre><pre tabindex=\"0\">");
    (void)sizing_kubernetes(sizing, collect_lines, html);
    html_raw(html, "</pre></div>\n</details>\n</section>\n");
}
