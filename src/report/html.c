/* html.c: see html.h: the page from top to bottom; html_chart.c and html_svg.c have the charts. */
#include "report/html.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "report/page.h"
#include "util/cursor.h"
#include "util/signal_names.h"

struct html_page {
    struct html html;
    struct account_view view;
    const struct run_report *report;
    const vitals_account *account;
    struct charts charts;
    struct process_list processes;
};

static vitals_text attribute(const struct html_page *page, const char *name)
{
    return vitals_account_attribute(page->account, name);
}

static const vitals_figure *find(const struct html_page *page, const char *name,
                                 const char *subject)
{
    return vitals_account_find(page->account, name, subject);
}

/* ---- head ---- */

static vitals_text title_of(const struct html_page *page)
{
    vitals_text command = attribute(page, "command");
    vitals_text host = attribute(page, "host");
    const char *title = page->report->title;
    if (page->report->for_others)
        command = title != NULL ? vitals_text_of(title) : (vitals_text){"", 0};
    if (command.size > 0)
        return command;
    if (words_is_machine(page->account) && host.size > 0)
        return host;
    return (vitals_text){"a recorded run", 14};
}

static void put_head(struct html_page *page)
{
    struct html *html = &page->html;
    html_raw(html, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");

    /* The page allows its own scripts and styles by their hashes and nothing else, so that no name
     * from outside can become a script. */
    html_raw(html, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                   "base-uri 'none'; form-action 'none'; script-src");
    html_format(html, " '%s' '%s'; style-src '%s'\">\n", page_script_hash, page_plot_script_hash,
                page_style_hash);

    html_raw(html, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<meta name=\"color-scheme\" content=\"light dark\">\n<title>vitals: ");
    html_text(html, title_of(page));
    html_raw(html, "</title>\n");
    html_raw(html, "<style>");
    html_raw(html, page_style);
    html_raw(html, "</style>\n</head>\n<body>\n");
}

static void put_outcome(struct html_page *page)
{
    struct html *html = &page->html;
    char wall[WORDS], how[WORDS], signal_name[SIGNAL_NAME_SIZE];
    vitals_text state = attribute(page, "state");
    int code = vitals_account_exit_code(page->account),
        signal = vitals_account_signal(page->account);
    const vitals_figure *time = find(page, "wall_seconds", "");
    bool cut = words_are(state, "partial"), running = words_are(state, "running");
    html_raw(html, running       ? "has run for "
                   : cut         ? "was followed for "
                   : signal != 0 ? "ended after "
                                 : "finished in ");
    html_figure(html, words_figure(html->view, time, wall), words_how(time, how));
    if (cut)
        html_raw(html, "; its end was not seen");
    else if (!running && signal != 0)
        html_format(html, " <span class=\"bad\">by SIG%s</span>",
                    signal_names_format(signal, signal_name));
    else if (!running && code >= 0)
        html_format(html, ", <span%s>exit %d</span>", code != 0 ? " class=\"bad\"" : "", code);
}

static void put_title(struct html_page *page)
{
    static const char *const NAMES[] = {"host", "user", "working_directory"};
    struct html *html = &page->html;
    char started[WORDS];
    struct tm parts;
    html_raw(html, "<header>\n<h1>");
    html_text(html, title_of(page));
    html_raw(html, "</h1>\n<p>");
    put_outcome(page);
    html_raw(html, "</p>\n<p class=\"soft\">");
    double started_ns = words_attribute_number(page->account, "started_ns");
    time_t seconds = (time_t)(started_ns / 1e9);
    bool any = started_ns > 0 && gmtime_r(&seconds, &parts) != NULL &&
               strftime(started, sizeof started, "%Y-%m-%d %H:%M UTC", &parts) > 0;
    html_raw(html, any ? started : "");
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        vitals_text text = attribute(page, NAMES[i]);
        if (text.size == 0)
            continue;
        html_raw(html, any ? " · " : "");
        html_text(html, text);
        any = true;
    }
    html_raw(html, "</p>\n</header>\n<main>\n");
}

/* One sentence of what mattered most. */
static void put_insight(struct html_page *page)
{
    struct insight insight;
    char how[WORDS];
    insight_of(page->account, page->html.view, &insight);
    if (insight.sentence[0] == '\0')
        return;
    html_format(&page->html, "<section class=\"insight%s\" aria-label=\"What mattered most\"><p>",
                insight.trouble ? " trouble" : "");
    html_figure(&page->html, insight.sentence, words_how(insight.figure, how));
    html_raw(&page->html, "</p>");
    if (insight.detail[0] != '\0') {
        html_raw(&page->html, "<p class=\"soft\">");
        html_string(&page->html, insight.detail);
        html_raw(&page->html, "</p>");
    }
    html_raw(&page->html, "</section>\n");
}

/* Sentences of others, a line each. */
static void put_notes(struct html_page *page, vitals_text text)
{
    struct cursor cursor = cursor_over(text.bytes, text.size);
    for (struct span line; cursor_line(&cursor, &line);) {
        if (line.size == 0)
            continue;
        html_raw(&page->html, "<p class=\"note\">");
        html_text(&page->html, (vitals_text){line.bytes, line.size});
        html_raw(&page->html, "</p>\n");
    }
}

/* ---- cards ---- */

static void begin_card(struct html *html, const char *title)
{
    html_raw(html, "<div class=\"card\"><h2>");
    html_string(html, title);
    html_raw(html, "</h2><div class=\"value\">");
}

static void end_card(struct html *html, const vitals_figure *figure)
{
    html_quality(html, words_availability(figure));
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
    if (words_availability(figure) <= 0)
        return;
    html_format(html, "<div class=\"more\">%s", before);
    put_figure(html, figure);
    html_format(html, "%s</div>", after);
}

static void put_memory_card(struct html_page *page)
{
    const vitals_figure *peak = find(page, "memory_peak_bytes", "");
    const vitals_figure *low = find(page, "memory_peak_low_bytes", "");
    const vitals_figure *high = find(page, "memory_peak_high_bytes", "");
    const vitals_figure *resident = words_find(page->account, "memory_resident_bytes", "peak", "");
    if (words_availability(peak) <= 0)
        peak = low != NULL ? low : high != NULL ? high : resident != NULL ? resident : peak;
    if (peak == NULL)
        return;
    begin_card(&page->html, "Peak memory");
    put_value(&page->html, peak);
    if (peak == low)
        more(&page->html, "estimated ", high, "");
    if (peak != resident)
        more(&page->html, "resident ", resident, "");
    end_card(&page->html, peak);
}

static void put_device_cards(struct html_page *page)
{
    enum { MOST = 16 };
    size_t shown = 0;
    for (const vitals_figure *figure = NULL;
         (figure = vitals_account_next(page->account, figure)) != NULL && shown < MOST;) {
        const char *label = vitals_figure_label(figure), *subject = vitals_figure_subject(figure);
        if (strcmp(vitals_figure_name(figure), "gpu_memory_peak_bytes") != 0 ||
            !words_is_device(subject))
            continue;
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

static void put_plain_card(struct html_page *page, const char *title, const char *name,
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

static void put_cards(struct html_page *page)
{
    vitals_availability state;
    html_raw(&page->html, "<section class=\"cards\" aria-label=\"Figures\">\n");
    const vitals_figure *cpu = find(page, "cpu_seconds", "");
    if (cpu != NULL) {
        begin_card(&page->html, "CPU time");
        put_value(&page->html, cpu);
        more(&page->html, "", find(page, "cpu_cores", ""), " on average");
        more(&page->html, "", words_find(page->account, "cpu_cores", "peak", ""),
             " in the busiest sample");
        end_card(&page->html, cpu);
    }
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
    if (words_waited(page->account, "cpu_pressure_seconds", "") >= WORDS_MUCH)
        put_plain_card(page, "Waited for a CPU", "cpu_pressure_seconds", "", "run_delay_seconds",
                       ", its threads added up");
    put_plain_card(page, "Processes", "processes", "", "processes_left", " still running");
    if (words_number(find(page, "oom_kills", ""), &state) > 0)
        put_plain_card(page, "Killed for want of memory", "oom_kills", "", "", "");
    html_raw(&page->html, "</section>\n");
}

/* ---- figures, the end ---- */

static void put_all_figures(struct html_page *page)
{
    enum { FIGURES_MOST = 5000 };
    size_t count = 0;
    html_raw(&page->html,
             "<details>\n<summary>Every figure, and how it was measured</summary>\n<div "
             "class=\"wide\"><table><thead><tr><th>figure</th><th>of</th><th "
             "class=\"num\">value</th><th></th><th>source</th></tr></thead><tbody>\n");
    for (const vitals_figure *figure = NULL;
         (figure = vitals_account_next(page->account, figure)) != NULL && count < FIGURES_MOST;
         count++) {
        vitals_availability state = words_availability(figure);
        char words[WORDS];
        const char *label = vitals_figure_label(figure), *subject = vitals_figure_subject(figure);
        const char *source = vitals_figure_source(figure);
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

static void put_foot(struct html_page *page)
{
    struct html *html = &page->html;
    html_format(html, "</main>\n<footer>made by vitals %s of a recording (%s)",
                vitals_version_text(), recording_format(page->report->recording));
    if (!page->report->for_others && page->report->path[0] != '\0') {
        html_raw(html, ", ");
        html_string(html, page->report->path);
    }
    vitals_text rungs = attribute(page, "rungs");
    if (rungs.size > 0) {
        html_raw(html, "; counted with ");
        html_text(html, rungs);
    }
    html_raw(html, "</footer>\n");
    if (page->charts.count > 0) {
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

int html_write(const struct run_report *report, const struct phases *phases,
               const struct sizing *sizing, vitals_write_fn *write, void *data)
{
    struct html_page page = {.html = {.write = write, .data = data},
                             .view = *report->view,
                             .report = report,
                             .account = recording_account(report->recording)};
    const char *problem = recording_problem(report->recording);
    if (charts_of(report->recording, &page.charts) < 0)
        return -1;
    if (!report->for_others)
        processes_of(report->path, (int64_t)words_attribute_number(page.account, "pid"),
                     &page.processes);
    page.view.spaced = true;
    page.html.view = &page.view;
    put_head(&page);
    put_title(&page);
    put_notes(&page, attribute(&page, "limit_words"));
    put_notes(&page, vitals_account_failure(page.account));
    put_insight(&page);
    put_cards(&page);
    put_notes(&page, attribute(&page, "missing"));
    put_notes(&page, vitals_text_of(problem));
    if (!words_is_machine(page.account) && vitals_account_failure(page.account).size == 0)
        html_sizing(&page.html, sizing);
    if (page.charts.count > 0) {
        html_raw(&page.html, "<section>\n<h2>Over time</h2>\n<p class=\"soft hint\">Drag to zoom "
                             "into all charts; double click to see the whole again.</p>\n");
        if (page.charts.thinned)
            html_raw(&page.html, "<p class=\"soft\">Each point stands for several samples: the "
                                 "largest of them.</p>\n");
        charts_draw(&page.html, &page.charts);
        html_raw(&page.html, "</section>\n");
    }
    html_phases(&page.html, phases);
    html_processes(&page.html, &page.processes);
    put_all_figures(&page);
    put_foot(&page);
    processes_done(&page.processes);
    charts_done(&page.charts);
    return page.html.failed;
}
