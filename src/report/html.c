/* html.c: see html.h: the page from top to bottom; html_chart.c and html_svg.c have the charts. */
#include "report/html.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/html_chart.h"
#include "report/html_out.h"
#include "report/page.h"
#include "report/processes.h"

struct page {
    struct html html;
    const struct html_report *report;
    const vitals_account *account;
    struct charts charts;
    struct process_list processes;
};

static vitals_text attribute(const struct page *page, const char *name)
{
    return vitals_account_attribute(page->account, name);
}

static bool is_text(vitals_text text, const char *word)
{
    return text.size == strlen(word) && memcmp(text.bytes, word, text.size) == 0;
}

static const vitals_figure *find(const struct page *page, const char *name, const char *subject)
{
    return vitals_account_find(page->account, name, subject);
}

/* ---- head ---- */

static vitals_text title_of(const struct page *page)
{
    vitals_text command = attribute(page, "command");
    vitals_text host = attribute(page, "host");
    const char *title = page->report->title;
    if (page->report->for_others)
        command = title != NULL ? (vitals_text){title, strlen(title)} : (vitals_text){"", 0};
    if (command.size > 0)
        return command;
    if (words_is_machine(page->account) && host.size > 0)
        return host;
    return (vitals_text){"a recorded run", 14};
}

/* The page's own scripts and styles, by their hashes, and nothing else: no name of anybody can
 * become a script, even if it came to stand where one could. */
static void put_policy(struct html *html)
{
    html_raw(html, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                   "base-uri 'none'; form-action 'none'; script-src");
    html_format(html, " '%s'", page_script_hash);
    if (page_plot_script_size > 0)
        html_format(html, " '%s'", page_plot_script_hash);
    html_format(html, "; style-src '%s'", page_style_hash);
    if (page_plot_style_size > 0)
        html_format(html, " '%s'", page_plot_style_hash);
    html_raw(html, "\">\n");
}

static void put_head(struct page *page)
{
    struct html *html = &page->html;
    html_raw(html, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    put_policy(html);
    html_raw(html, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<meta name=\"color-scheme\" content=\"light dark\">\n<title>vitals: ");
    html_text(html, title_of(page));
    html_raw(html, "</title>\n");
    if (page_plot_style_size > 0) {
        html_raw(html, "<style>");
        html_raw(html, page_plot_style);
        html_raw(html, "</style>\n");
    }
    html_raw(html, "<style>");
    html_raw(html, page_style);
    html_raw(html, "</style>\n</head>\n<body>\n");
}

/* "2026-11-22 08:15 UTC". */
static bool moment_words(vitals_text digits, char out[static WORDS])
{
    char copy[32];
    struct tm parts;
    if (digits.size == 0 || digits.size >= sizeof copy)
        return false;
    memcpy(copy, digits.bytes, digits.size);
    copy[digits.size] = '\0';
    time_t seconds = (time_t)(strtod(copy, NULL) / 1e9);
    return gmtime_r(&seconds, &parts) != NULL &&
           strftime(out, WORDS, "%Y-%m-%d %H:%M UTC", &parts) > 0;
}

static void put_outcome(struct page *page)
{
    struct html *html = &page->html;
    char wall[WORDS], how[WORDS];
    vitals_text state = attribute(page, "state");
    int code = vitals_account_exit_code(page->account),
        signal = vitals_account_signal(page->account);
    const vitals_figure *time = find(page, "wall_seconds", "");
    bool cut = is_text(state, "partial"), running = is_text(state, "running");
    html_raw(html, running       ? "has run for "
                   : cut         ? "was followed for "
                   : signal != 0 ? "ended after "
                                 : "finished in ");
    html_figure(html, words_figure(html->view, time, wall), words_how(time, how));
    if (cut)
        html_raw(html, "; its end was not seen");
    else if (!running && signal != 0)
        html_format(html, " <span class=\"bad\">by signal %d</span>", signal);
    else if (!running)
        html_format(html, ", <span%s>exit %d</span>", code != 0 ? " class=\"bad\"" : "", code);
}

static void put_title(struct page *page)
{
    static const char *const NAMES[] = {"host", "user", "working_directory"};
    struct html *html = &page->html;
    char started[WORDS];
    html_raw(html, "<header>\n<h1>");
    html_text(html, title_of(page));
    html_raw(html, "</h1>\n<p>");
    put_outcome(page);
    html_raw(html, "</p>\n<p class=\"soft\">");
    bool any = moment_words(attribute(page, "started_ns"), started);
    html_raw(html, any ? started : "");
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        vitals_text text = attribute(page, NAMES[i]);
        if (text.size == 0)
            continue;
        html_raw(html, any ? " · " : "");
        html_text(html, text);
        any = true;
    }
    html_raw(html, "</p>\n</header>\n");
}

/* Sentences of others, a line each. */
static void put_notes(struct page *page, vitals_text text)
{
    for (size_t at = 0; at < text.size;) {
        const char *from = text.bytes + at, *end = memchr(from, '\n', text.size - at);
        size_t size = end != NULL ? (size_t)(end - from) : text.size - at;
        at += size + 1;
        if (size == 0)
            continue;
        html_raw(&page->html, "<p class=\"note\">");
        html_text(&page->html, (vitals_text){from, size});
        html_raw(&page->html, "</p>\n");
    }
}

/* ---- cards ---- */

static void begin_card(struct html *html, const char *title)
{
    html_raw(html, "<div class=\"card\"><h3>");
    html_string(html, title);
    html_raw(html, "</h3><div class=\"value\">");
}

static void end_card(struct html *html, const vitals_figure *figure)
{
    vitals_availability state;
    (void)words_number(figure, &state);
    html_quality(html, state);
    html_raw(html, "</div>\n");
}

static void put_figure(struct html *html, const vitals_figure *figure)
{
    char words[WORDS], how[WORDS];
    html_figure(html, words_figure(html->view, figure, words), words_how(figure, how));
}

/* The figure that a card is about. */
static void put_value(struct html *html, const vitals_figure *figure)
{
    put_figure(html, figure);
    html_raw(html, "</div>");
}

static void more(struct html *html, const char *before, const vitals_figure *figure,
                 const char *after)
{
    vitals_availability state;
    (void)words_number(figure, &state);
    if (state <= 0)
        return;
    html_format(html, "<div class=\"more\">%s", before);
    put_figure(html, figure);
    html_format(html, "%s</div>", after);
}

static void put_cpu_card(struct page *page)
{
    const vitals_figure *cpu = find(page, "cpu_seconds", "");
    if (cpu == NULL)
        return;
    begin_card(&page->html, "CPU time");
    put_value(&page->html, cpu);
    more(&page->html, "", find(page, "cpu_cores", ""), " on average");
    more(&page->html, "", words_find(page->account, "cpu_cores", "peak", ""),
         " in the busiest sample");
    end_card(&page->html, cpu);
}

static void put_memory_card(struct page *page)
{
    vitals_availability state;
    const vitals_figure *peak = find(page, "memory_peak_bytes", "");
    const vitals_figure *low = find(page, "memory_peak_low_bytes", "");
    const vitals_figure *resident = words_find(page->account, "memory_resident_bytes", "peak", "");
    (void)words_number(peak, &state);
    if (state <= 0)
        peak = low != NULL ? low : resident != NULL ? resident : peak;
    if (peak == NULL)
        return;
    begin_card(&page->html, "Peak memory");
    put_value(&page->html, peak);
    if (peak == low)
        more(&page->html, "and about ", find(page, "memory_peak_high_bytes", ""), "");
    if (peak != resident)
        more(&page->html, "resident ", resident, "");
    end_card(&page->html, peak);
}

static bool is_device(const vitals_figure *figure)
{
    const char *subject = vitals_figure_subject(figure);
    return subject[0] != '\0' && strcmp(subject, "root") != 0 &&
           strcmp(subject, "descendants") != 0 && strcmp(subject, "system") != 0;
}

static void put_device_cards(struct page *page)
{
    enum { MOST = 16 };
    size_t shown = 0;
    for (const vitals_figure *figure = NULL;
         (figure = vitals_account_next(page->account, figure)) != NULL && shown < MOST;) {
        if (strcmp(vitals_figure_name(figure), "gpu_memory_peak_bytes") != 0 || !is_device(figure))
            continue;
        const char *label = vitals_figure_label(figure), *subject = vitals_figure_subject(figure);
        char title[WORDS];
        (void)snprintf(title, sizeof title, "%.96s, peak memory",
                       label[0] != '\0' ? label : subject);
        begin_card(&page->html, title);
        put_value(&page->html, figure);
        more(&page->html, "busy ", find(page, "gpu_busy_ratio", subject), "");
        more(&page->html, "energy ", find(page, "device_energy_joules", subject), "");
        end_card(&page->html, figure);
        shown++;
    }
}

static void put_plain_card(struct page *page, const char *title, const char *name,
                           const char *subject, const char *other, const char *what)
{
    vitals_availability state;
    const vitals_figure *figure = find(page, name, subject);
    if (words_number(figure, &state) < 0 || state <= 0)
        return;
    begin_card(&page->html, title);
    put_value(&page->html, figure);
    more(&page->html, "", find(page, other, subject), what);
    end_card(&page->html, figure);
}

static void put_cards(struct page *page)
{
    vitals_availability state;
    html_raw(&page->html, "<section class=\"cards\">\n");
    put_cpu_card(page);
    put_memory_card(page);
    if (words_is_machine(page->account)) {
        put_plain_card(page, "CPUs in use, on average", "cpu_mean_cores", "system",
                       "cpu_peak_cores", " in the busiest sample");
        put_plain_card(page, "Memory in use, at most", "memory_used_peak_bytes", "system",
                       "memory_total_peak_bytes", " there is");
        put_plain_card(page, "Read from disks", "disk_read_bytes", "system", "disk_written_bytes",
                       " written");
        put_plain_card(page, "Received", "network_received_bytes", "system",
                       "network_transmitted_bytes", " sent");
        put_plain_card(page, "Energy of GPUs", "device_energy_joules", "system", "", "");
    }
    put_device_cards(page);
    put_plain_card(page, "Energy of GPUs", "gpu_energy_joules", "", "", "");
    put_plain_card(page, "Energy of CPU packages", "package_energy_joules", "system", "", "");
    put_plain_card(page, "Read from disks", "disk_read_bytes", "", "disk_written_bytes",
                   " written");
    put_plain_card(page, "Processes", "processes", "", "processes_left", " still running");
    if (words_number(find(page, "oom_kills", ""), &state) > 0)
        put_plain_card(page, "Killed for want of memory", "oom_kills", "", "", "");
    html_raw(&page->html, "</section>\n");
}

/* ---- tables ---- */

static void put_charts(struct page *page)
{
    struct html *html = &page->html;
    if (page->charts.count == 0)
        return;
    html_raw(html, "<section>\n<h2>Over time</h2>\n<p class=\"soft hint\">Drag to zoom into all "
                   "charts; double click to see the whole again.</p>\n");
    if (page->charts.thinned)
        html_raw(html, "<p class=\"soft\">Each point stands for several samples: the largest of "
                       "them.</p>\n");
    charts_draw(html, &page->charts);
    html_raw(html, "</section>\n");
}

static const struct phase_measure *measure_of(const struct phase *phase, const char *name)
{
    for (size_t i = 0; i < phase->measure_count; i++) {
        const struct series *series = phase->measures[i].series;
        if (strcmp(series->name, name) == 0 && series->subject[0] == '\0')
            return &phase->measures[i];
    }
    return NULL;
}

static void put_cell(struct page *page, bool known, const char *name, const char *unit,
                     double value, const char *how)
{
    char words[WORDS];
    html_raw(&page->html, "<td class=\"num\">");
    if (known)
        html_figure(&page->html, words_value(page->html.view, name, unit, value, words), how);
    else
        html_raw(&page->html, "<span class=\"soft\">N/A</span>");
    html_raw(&page->html, "</td>");
}

static void put_measured(struct page *page, bool known, const char *name, const char *unit,
                         const struct phase_measure *measure)
{
    bool counter = measure != NULL && measure->series->counter;
    double value = measure == NULL ? 0 : counter ? measure->growth : measure->values.max;
    put_cell(page, known, name, unit, value,
             counter ? "sampled, growth of the counter between begin and end"
                     : "sampled, the largest sample within");
}

static bool has_gauge(const struct phase *phase, const char *name)
{
    const struct phase_measure *measure = measure_of(phase, name);
    return measure != NULL && measure->values.count > 0;
}

static void put_phase(struct page *page, const struct phase *phase, bool gpus)
{
    static const char marked[] = "exact, marked by the run itself";
    const struct phase_measure *cpu = measure_of(phase, "cpu_seconds");
    bool timed = phase->calls > 0;
    html_raw(&page->html, "<tr><td class=\"name\">");
    html_string(&page->html, phase->name);
    html_format(&page->html, "</td><td class=\"num\">%zu</td>", phase->calls);
    put_cell(page, timed, "", "seconds", phase->seconds.total, marked);
    put_cell(page, timed, "", "seconds", phase->seconds.mean, marked);
    put_cell(page, timed, "", "seconds", phase->seconds.max, marked);
    put_measured(page, cpu != NULL && !isnan(cpu->growth), "", "seconds", cpu);
    put_measured(page, has_gauge(phase, "memory_resident_bytes"), "", "bytes",
                 measure_of(phase, "memory_resident_bytes"));
    if (gpus)
        put_measured(page, has_gauge(phase, "gpu_memory_bytes"), "gpu_memory", "bytes",
                     measure_of(phase, "gpu_memory_bytes"));
    html_raw(&page->html, "</tr>\n");
}

static void put_phases(struct page *page)
{
    const struct phases *phases = page->report->phases;
    bool gpus = false;
    if (phases->count == 0)
        return;
    for (size_t i = 0; i < phases->count; i++)
        gpus = gpus || has_gauge(&phases->items[i], "gpu_memory_bytes");
    html_raw(&page->html,
             "<section>\n<h2>Phases</h2>\n<div class=\"wide\"><table><thead><tr><th>phase</th>"
             "<th class=\"num\">calls</th><th class=\"num\">time</th><th class=\"num\">mean</th>"
             "<th class=\"num\">longest</th><th class=\"num\">CPU</th><th class=\"num\">memory "
             "peak</th>");
    html_raw(&page->html, gpus ? "<th class=\"num\">GPU memory</th>" : "");
    html_raw(&page->html, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < phases->count; i++)
        put_phase(page, &phases->items[i], gpus);
    html_raw(&page->html, "</tbody></table></div>\n</section>\n");
}

static double cpu_of(const struct process_use *use)
{
    return use->cpu_seconds;
}

static double memory_of(const struct process_use *use)
{
    return use->memory_bytes;
}

static double gpu_of(const struct process_use *use)
{
    return use->gpu_bytes;
}

static double read_of(const struct process_use *use)
{
    return use->read_bytes;
}

static double written_of(const struct process_use *use)
{
    return use->written_bytes;
}

static double seen_of(const struct process_use *use)
{
    return use->last_second - use->first_second;
}

static const char counted[] = "sampled, growth of its counter while it was seen";
static const char largest[] = "sampled, the largest sample";

static const struct {
    const char *title, *name, *unit, *how;
    double (*value)(const struct process_use *use);
} USES[] = {
    {"CPU", "", "seconds", counted, cpu_of},
    {"memory peak", "", "bytes", largest, memory_of},
    {"GPU memory", "gpu_memory", "bytes", largest, gpu_of},
    {"read", "", "bytes", counted, read_of},
    {"written", "", "bytes", counted, written_of},
    {"seen for", "", "seconds", "sampled, from the first to the last sample that saw it", seen_of},
};
enum { USE_COUNT = sizeof USES / sizeof USES[0] };

/* A column that nobody has a value for is left out. */
static void choose_uses(const struct process_list *list, bool shown[])
{
    for (size_t i = 0; i < USE_COUNT; i++) {
        shown[i] = false;
        for (size_t j = 0; j < list->count && !shown[i]; j++)
            shown[i] = USES[i].value(&list->items[j]) >= 0;
    }
}

static void put_process(struct page *page, const struct process_use *use, const bool shown[])
{
    html_format(&page->html, "<tr><td class=\"num\">%lld</td><td class=\"name mono\">",
                (long long)use->pid);
    html_string(&page->html, use->name);
    html_raw(&page->html, "</td>");
    for (size_t i = 0; i < USE_COUNT; i++) {
        double value = USES[i].value(use);
        if (shown[i])
            put_cell(page, value >= 0, USES[i].name, USES[i].unit, value, USES[i].how);
    }
    html_raw(&page->html, "</tr>\n");
}

static void put_processes(struct page *page)
{
    const struct process_list *list = &page->processes;
    bool shown[USE_COUNT];
    if (list->count == 0)
        return;
    choose_uses(list, shown);
    html_raw(&page->html,
             "<section>\n<h2>Processes</h2>\n<div class=\"wide\"><table><thead><tr><th "
             "class=\"num\">pid</th><th>command</th>");
    for (size_t i = 0; i < USE_COUNT; i++) {
        if (shown[i])
            html_format(&page->html, "<th class=\"num\">%s</th>", USES[i].title);
    }
    html_raw(&page->html, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < list->count; i++)
        put_process(page, &list->items[i], shown);
    html_raw(&page->html, "</tbody></table></div>\n");
    if (list->left_out > 0)
        html_format(&page->html, "<p class=\"soft\">%zu more used less CPU time.</p>\n",
                    list->left_out);
    html_raw(&page->html, "<p class=\"soft\">Who lived shorter than a sample is not in this "
                          "table.</p>\n</section>\n");
}

static int collect(void *data, const char *bytes, size_t size)
{
    html_text(data, (vitals_text){bytes, size});
    return ((struct html *)data)->failed;
}

static int collect_lines(void *data, const char *bytes, size_t size)
{
    struct html *html = data;
    while (size > 0 && html->failed == 0) {
        const char *end = memchr(bytes, '\n', size);
        size_t part = end != NULL ? (size_t)(end - bytes) : size;
        (void)collect(html, bytes, part);
        if (end != NULL)
            html_raw(html, "\n");
        bytes += part + (end != NULL);
        size -= part + (end != NULL);
    }
    return html->failed;
}

static void put_sizing(struct page *page)
{
    static const char *const WHAT[SIZING_COUNT] = {"CPUs", "memory", "GPUs", "GPU memory", "time"};
    const struct sizing *sizing = page->report->sizing;
    html_raw(&page->html, "<section>\n<h2>Next time ask for</h2>\n");
    if (sizing->failed)
        html_raw(&page->html, "<p class=\"note\">This run failed and may have needed more.</p>\n");
    html_raw(&page->html, "<div class=\"wide\"><table><tbody>\n");
    for (size_t i = 0; i < SIZING_COUNT; i++) {
        char words[WORDS] = "N/A";
        const struct sizing_part *part = &sizing->parts[i];
        if (i == SIZING_GPU_MEMORY && !part->known)
            continue;
        if (part->known)
            sizing_words(page->html.view, i, part->amount, words);
        html_format(&page->html, "<tr><td class=\"name\">%s</td><td class=\"num\">", WHAT[i]);
        html_figure(&page->html, words, part->reason);
        html_raw(&page->html, "</td><td class=\"from\">");
        html_string(&page->html, part->reason);
        html_raw(&page->html, "</td></tr>\n");
    }
    html_raw(&page->html, "</tbody></table></div>\n<div class=\"two\"><pre>");
    (void)sizing_slurm(sizing, collect_lines, &page->html);
    html_raw(&page->html, "</pre><pre>");
    (void)sizing_kubernetes(sizing, collect_lines, &page->html);
    html_raw(&page->html, "</pre></div>\n</section>\n");
}

static void put_all_figures(struct page *page)
{
    enum { FIGURES_MOST = 5000 };
    size_t count = 0;
    html_raw(&page->html, "<details>\n<summary>Every figure, and how it was got</summary>\n<div "
                          "class=\"wide\"><table><thead><tr><th>figure</th><th>of</th><th "
                          "class=\"num\">value</th><th></th><th>source</th></tr></thead><tbody>\n");
    for (const vitals_figure *figure = NULL;
         (figure = vitals_account_next(page->account, figure)) != NULL && count < FIGURES_MOST;
         count++) {
        vitals_availability state;
        char words[WORDS];
        const char *label = vitals_figure_label(figure), *subject = vitals_figure_subject(figure);
        const char *source = vitals_figure_source(figure);
        (void)words_number(figure, &state);
        html_raw(&page->html, "<tr><td class=\"name mono\">");
        html_string(&page->html, vitals_figure_name(figure));
        html_raw(&page->html, "</td><td>");
        html_string(&page->html, label[0] != '\0' ? label : subject);
        html_raw(&page->html, "</td><td class=\"num\">");
        html_string(&page->html, words_figure(page->html.view, figure, words));
        html_raw(&page->html, "</td><td>");
        html_quality(&page->html, state);
        html_raw(&page->html, "</td><td class=\"from\">");
        html_string(&page->html,
                    source[0] != '\0' || state > 0 ? source : vitals_availability_help(state));
        html_raw(&page->html, "</td></tr>\n");
    }
    html_raw(&page->html, "</tbody></table></div>\n");
    if (count == FIGURES_MOST)
        html_raw(&page->html, "<p class=\"soft\">More are in the recording.</p>\n");
    html_raw(&page->html, "</details>\n");
}

static void put_foot(struct page *page)
{
    struct html *html = &page->html;
    html_format(html, "<footer>made by vitals %s of a recording (%s)", vitals_version_text(),
                recording_format(page->report->recording));
    if (!page->report->for_others) {
        html_raw(html, ", ");
        html_string(html, page->report->path);
    }
    vitals_text rungs = attribute(page, "rungs");
    if (rungs.size > 0) {
        html_raw(html, "; counted with ");
        html_text(html, rungs);
    }
    html_raw(html, "</footer>\n");
    if (page_plot_script_size > 0 && page->charts.count > 0) {
        html_raw(html, "<script type=\"application/json\" id=\"data\">");
        charts_data(html, &page->charts);
        html_raw(html, "</script>\n<script>");
        html_raw(html, page_plot_script);
        html_raw(html, "</script>\n<script>");
        html_raw(html, page_script);
        html_raw(html, "</script>\n");
    }
    html_raw(html, "</body>\n</html>\n");
}

/* The run's first process; 0 where it is not told. */
static int64_t root_of(const struct page *page)
{
    char digits[24] = "";
    vitals_text text = attribute(page, "pid");
    if (text.size > 0 && text.size < sizeof digits)
        memcpy(digits, text.bytes, text.size);
    return (int64_t)strtoll(digits, NULL, 10);
}

int html_write(const struct html_report *report, vitals_write *write, void *data)
{
    struct page page = {.html = {.write = write, .data = data, .view = report->view},
                        .report = report,
                        .account = recording_account(report->recording)};
    const char *problem = recording_problem(report->recording);
    if (charts_of(report->recording, &page.charts) < 0)
        return -1;
    if (!report->for_others)
        processes_of(report->path, root_of(&page), &page.processes);
    put_head(&page);
    put_title(&page);
    put_notes(&page, attribute(&page, "limit_words"));
    put_notes(&page, vitals_account_failure(page.account));
    put_notes(&page, attribute(&page, "missing"));
    put_notes(&page, (vitals_text){problem, strlen(problem)});
    put_cards(&page);
    put_charts(&page);
    put_phases(&page);
    put_processes(&page);
    if (!words_is_machine(page.account) && vitals_account_failure(page.account).size == 0)
        put_sizing(&page);
    put_all_figures(&page);
    put_foot(&page);
    processes_done(&page.processes);
    charts_done(&page.charts);
    return page.html.failed;
}
