/* account.c: what a run used, in a few lines for a person.
 *
 *     vitals: next time: --cpus-per-task=4 --mem=46G --time=1:30:00
 *     vitals: python train.py finished in 1 h 12 min, exit 0
 *       CPU        3 h 41 min  (3.07 of 16 cores)  exact
 *
 * The first line is what to ask a scheduler for. Every other line has a subject, the figure, and
 * how good it is, with --verbose also its source; a figure that is missing is N/A with the reason.
 * Lines are a table; a line without figures is left out. Text that does not fit into the width is
 * wrapped in its column. */
#include "report/account.h"

#include <stdio.h>
#include <string.h>

#include "feed/text.h"
#include "report/json_form.h"
#include "report/report.h"
#include "report/sizing.h"
#include "report/words.h"
#include "util/cursor.h"
#include "util/signal_names.h"
#include "view/paint.h"

enum { COMMAND_COLUMNS = 52, COMMAND_BYTES = 2048 };
enum { WHAT_COLUMNS = 11, WORDS_COLUMNS = 32, HOW_LEAST = 20 };

struct account_text_lines {
    struct paint *paint;
    const vitals_account *account;
    const struct account_view *view;
    const char *subject; /* "" of a run, "system" of a machine */
};

/* ---- one line ---- */

/* A figure is never cut: where it needs more than its columns, what follows moves. */
static size_t cell(struct paint *paint, enum color color, size_t columns, const char *text)
{
    size_t has = paint_columns(text), gap = has < columns ? columns - has : 1;
    paint_text(paint, color, text);
    paint_repeat(paint, COLOR_PLAIN, " ", gap);
    return has + gap;
}

static void put_words(const struct account_text_lines *lines, enum color color, size_t at,
                      const char *text)
{
    paint_paragraph(lines->paint, color, at, lines->view->width, text);
}

static void put_line(const struct account_text_lines *lines, const char *what, const char *words,
                     const char *how)
{
    size_t at = 2;
    paint_text(lines->paint, COLOR_PLAIN, "  ");
    at += cell(lines->paint, COLOR_BOLD, WHAT_COLUMNS, what);
    if (how[0] == '\0') {
        put_words(lines, COLOR_PLAIN, at, words);
        return;
    }
    at += cell(lines->paint, COLOR_PLAIN, WORDS_COLUMNS, words);
    if (lines->view->width > 0 && at + HOW_LEAST > lines->view->width) {
        at = 2 + WHAT_COLUMNS;
        paint_end(lines->paint);
        paint_repeat(lines->paint, COLOR_PLAIN, " ", at);
    }
    put_words(lines, COLOR_DIM, at, how);
}

static const vitals_figure *find(const struct account_text_lines *lines, const char *name)
{
    return vitals_account_find(lines->account, name, lines->subject);
}

/* Its value; 0 where it has none. */
static double number(const struct account_text_lines *lines, const char *name)
{
    vitals_availability ignored;
    return words_number(find(lines, name), &ignored);
}

static bool has(const struct account_text_lines *lines, const char *name)
{
    return words_availability(find(lines, name)) > 0;
}

static char *words_of(const struct account_text_lines *lines, const char *name,
                      char out[static WORDS])
{
    return words_figure(lines->view, find(lines, name), out);
}

/* How good a figure is, in a word; if it is missing, why. With --verbose also its source. */
static char *how_of(const struct account_text_lines *lines, const vitals_figure *figure,
                    char out[static WORDS])
{
    vitals_availability state = words_availability(figure);
    if (figure == NULL || state <= 0 || lines->view->verbose)
        return words_how(figure, out);
    (void)snprintf(out, WORDS, "%s", words_quality(state));
    return out;
}

/* ---- what the lines are ---- */

static void cpu_line(const struct account_text_lines *lines)
{
    char total[WORDS], user[WORDS], system[WORDS], words[3 * WORDS], how[WORDS];
    const vitals_figure *cpu = find(lines, "cpu_seconds");
    if (cpu == NULL && has(lines, "cpu_mean_cores")) { /* the time was not counted */
        (void)snprintf(words, sizeof words, "%.2f cores, %.2f at most",
                       number(lines, "cpu_mean_cores"), number(lines, "cpu_peak_cores"));
        put_line(lines, "CPU", words, how_of(lines, find(lines, "cpu_mean_cores"), how));
    }
    if (cpu == NULL)
        return;
    vitals_text expected = vitals_account_attribute(lines->account, "expected_cores");
    int used = snprintf(words, sizeof words, "%s", words_figure(lines->view, cpu, total));
    const char *cores = has(lines, "cpu_cores") ? "cpu_cores" : "cpu_mean_cores";
    if (has(lines, cores)) {
        bool known = expected.size > 0 && expected.size < 12;
        (void)snprintf(words + used, sizeof words - (size_t)used, "  (%.2f %s%.*s%scores)",
                       number(lines, cores), known ? "of " : "", known ? (int)expected.size : 0,
                       expected.bytes, known ? " " : "");
    }
    put_line(lines, "CPU", words, how_of(lines, cpu, how));
    if (!has(lines, "cpu_user_seconds"))
        return;
    (void)snprintf(words, sizeof words, "user %s, system %s",
                   words_of(lines, "cpu_user_seconds", user),
                   words_of(lines, "cpu_system_seconds", system));
    put_line(lines, "", words, how_of(lines, find(lines, "cpu_user_seconds"), how));
}

/* "peak 41.20GiB", and how. How good it is may stand in the words already. */
static void peak_line(const struct account_text_lines *lines, const char *what, const char *before,
                      const vitals_figure *peak, bool told)
{
    vitals_availability state = words_availability(peak);
    char bytes[WORDS], words[2 * WORDS], how[WORDS];
    (void)snprintf(words, sizeof words, "%s %s", state > 0 ? before : "peak",
                   words_figure(lines->view, peak, bytes));
    (void)how_of(lines, peak, how);
    if (told && state > 0)
        (void)snprintf(how, sizeof how, "%s",
                       lines->view->verbose ? vitals_figure_source(peak) : "");
    put_line(lines, what, words, how);
}

static void memory_lines(const struct account_text_lines *lines)
{
    const vitals_figure *counted = find(lines, "memory_peak_bytes");
    const vitals_figure *low = find(lines, "memory_peak_low_bytes");
    const vitals_figure *resident = find(lines, "memory_resident_peak_bytes");
    if (resident == NULL)
        resident = find(lines, "memory_used_peak_bytes"); // of a machine
    vitals_availability state;
    if (counted != NULL && words_number(counted, &state) >= 0 && state > 0) {
        peak_line(lines, "memory", "peak", counted, false);
        if (resident != NULL && lines->view->verbose)
            peak_line(lines, "", "resident", resident, false);
        return;
    }
    const vitals_figure *high = find(lines, "memory_peak_high_bytes");
    char least[WORDS], most[WORDS];
    bool estimated = has(lines, "memory_peak_high_bytes");
    if (low != NULL)
        peak_line(lines, "memory", "peak at least", low, true);
    else if (estimated)
        peak_line(lines, "memory", "peak about", high, true);
    else if (resident != NULL)
        peak_line(lines, "memory", "peak", resident, false);
    else if (counted != NULL)
        peak_line(lines, "memory", "peak", counted, false);
    if (low != NULL && estimated &&
        strcmp(words_figure(lines->view, low, least), words_figure(lines->view, high, most)) != 0)
        peak_line(lines, "", "estimated", high, true);
}

static void swap_line(const struct account_text_lines *lines)
{
    const char *name = has(lines, "swap_peak_bytes") ? "swap_peak_bytes"
                                                     : "memory_swapped_peak_bytes";
    if (number(lines, name) > 0)
        peak_line(lines, "swap", "peak", find(lines, name), false);
}

static void kills_line(const struct account_text_lines *lines)
{
    char words[WORDS], how[WORDS];
    double kills = number(lines, "oom_kills");
    if (kills <= 0)
        return;
    (void)snprintf(words, sizeof words, "%.0f process%s killed for want of it", kills,
                   kills == 1 ? "" : "es");
    put_line(lines, has(lines, "memory_peak_bytes") ? "" : "memory", words,
             how_of(lines, find(lines, "oom_kills"), how));
}

/* ---- devices ---- */

/* The figures of one device stand in one line. A device that the run did not use has none. */
static void device_lines(const struct account_text_lines *lines)
{
    char peak[WORDS], words[2 * WORDS], how[WORDS];
    for (const vitals_figure *memory = NULL;
         (memory = vitals_account_next(lines->account, memory)) != NULL;) {
        const char *subject = vitals_figure_subject(memory), *label = vitals_figure_label(memory);
        if (strcmp(vitals_figure_name(memory), "gpu_memory_peak_bytes") != 0 ||
            !words_is_device(subject))
            continue;
        vitals_availability has_memory = words_availability(memory), has_busy;
        const vitals_figure *busy = vitals_account_find(lines->account, "gpu_busy_ratio", subject);
        if (busy == NULL)
            busy = vitals_account_find(lines->account, "gpu_utilization_mean_ratio", subject);
        double ratio = words_number(busy, &has_busy);
        if (busy == NULL && has_memory <= 0) {
            /* Why a device or a back end reported nothing, up to the remedy. */
            (void)how_of(lines, memory, how);
            how[strcspn(how, ";")] = '\0';
            put_line(lines, label, "N/A", how);
            continue;
        }
        int used = snprintf(words, sizeof words, "peak %s",
                            words_figure(lines->view, memory, peak));
        if (has_busy > 0)
            (void)snprintf(words + used, sizeof words - (size_t)used, ", %.0f %% busy",
                           ratio * 100);
        (void)how_of(lines, has_memory <= 0 && has_busy > 0 ? busy : memory, how);
        put_line(lines, label[0] != '\0' ? label : subject, words, how);
    }

    const vitals_figure *left_out = find(lines, "gpus_not_counted");
    if (left_out != NULL) {
        (void)snprintf(words, sizeof words, "%.0f not counted", number(lines, "gpus_not_counted"));
        put_line(lines, "GPUs", words, how_of(lines, left_out, how));
    }
}

/* ---- the rest ---- */

/* The tree's use of devices, if any, and of the machine's packages, each with its method. The use
 * by others belongs to a recording of the machine. */
static void energy_line(const struct account_text_lines *lines)
{
    static const struct {
        const char *name, *subject, *of;
    } ENERGIES[] = {
        {"gpu_energy_joules", "", "GPU"},
        {"device_energy_joules", "system", "all GPUs"},
        {"cpu_energy_joules", "", "CPU"},
        {"package_energy_joules", "system", "all CPUs"},
    };
    const char *what = "energy";
    for (size_t i = 0; i < sizeof ENERGIES / sizeof ENERGIES[0]; i++) {
        char value[WORDS], words[2 * WORDS], how[WORDS];
        const vitals_figure *figure = vitals_account_find(lines->account, ENERGIES[i].name,
                                                          ENERGIES[i].subject);
        bool is_tree = ENERGIES[i].subject[0] == '\0', has_tree = has(lines, "cpu_seconds");
        if (words_availability(figure) <= 0 ||
            (is_tree ? number(lines, ENERGIES[i].name) <= 0 : has_tree && i == 1))
            continue;
        (void)snprintf(words, sizeof words, "%s %s", ENERGIES[i].of,
                       words_figure(lines->view, figure, value));
        put_line(lines, what, words, how_of(lines, figure, how));
        what = "";
        if (i == 0)
            i++; // the share says more than the whole
    }
}

/* The second measure is what went the other way. */
static void pair_line(const struct account_text_lines *lines, const char *what,
                      const char *const names[2], const char *const verbs[2])
{
    char a[WORDS], b[WORDS], words[3 * WORDS], how[WORDS];
    const vitals_figure *first = find(lines, names[0]), *second = find(lines, names[1]);
    if (first == NULL || second == NULL)
        return;
    (void)snprintf(words, sizeof words, "%s %s, %s %s", verbs[0],
                   words_figure(lines->view, first, a), verbs[1],
                   words_figure(lines->view, second, b));
    put_line(lines, what, words, how_of(lines, first, how));
}

static void flow_lines(const struct account_text_lines *lines)
{
    static const char *const DISK[2] = {"disk_read_bytes", "disk_written_bytes"};
    static const char *const NETWORK[2] = {"network_received_bytes", "network_transmitted_bytes"};
    static const char *const USED[2] = {"read", "written"}, *const CARRIED[2] = {"received",
                                                                                 "sent"};
    vitals_availability state = words_availability(find(lines, NETWORK[0]));
    pair_line(lines, "disk", DISK, USED);
    /* The use of the whole machine tells little about a run. */
    if (state > 0 && state != VITALS_UPPER_BOUND)
        pair_line(lines, "network", NETWORK, CARRIED);
}

static void process_line(const struct account_text_lines *lines)
{
    char words[2 * WORDS], how[WORDS];
    vitals_availability state;
    const vitals_figure *count = find(lines, "processes");
    if (count == NULL && lines->subject[0] != '\0')
        peak_line(lines, "processes", "peak", find(lines, "processes_peak"), false);
    double all = words_number(count, &state), seen = number(lines, "processes_seen");
    if (count == NULL)
        return;
    int used = snprintf(words, sizeof words, "%.0f", all);
    if (state <= 0)
        used = snprintf(words, sizeof words, "N/A");
    else if (has(lines, "processes_seen") && all > seen)
        used = snprintf(words, sizeof words, "%.0f (%.0f shorter than a sample)", all, all - seen);
    if (find(lines, "processes_left") != NULL)
        (void)snprintf(words + used, sizeof words - (size_t)used, ", %.0f still running",
                       number(lines, "processes_left"));
    put_line(lines, "processes", words, how_of(lines, count, how));
}

/* If the work waited for a noticeable part of the time. */
static void waiting_line(const struct account_text_lines *lines)
{
    static const struct {
        const char *name, *what;
    } PRESSURES[] = {{"cpu_pressure_seconds", "CPU"},
                     {"memory_pressure_seconds", "memory"},
                     {"io_pressure_seconds", "I/O"}};
    char words[3 * WORDS] = "", how[WORDS] = "";
    size_t used = 0;
    double wall = number(lines, "wall_seconds");
    for (size_t i = 0; i < sizeof PRESSURES / sizeof PRESSURES[0]; i++) {
        char value[WORDS];
        double seconds = number(lines, PRESSURES[i].name);
        if (seconds <= wall / 50 || seconds <= 0)
            continue;
        (void)words_figure(lines->view, find(lines, PRESSURES[i].name), value);
        used += (size_t)snprintf(words + used, sizeof words - used, "%s%s %.60s",
                                 used > 0 ? ", " : "for ", PRESSURES[i].what, value);
        (void)how_of(lines, find(lines, PRESSURES[i].name), how);
    }
    if (used > 0)
        put_line(lines, "waited", words, how);
}

/* Only where sampling missed so much that sampled figures tell less than they seem to. */
static void coverage_line(const struct account_text_lines *lines)
{
    enum { MUCH = 90 };
    char words[WORDS];
    double percent = number(lines, "cpu_coverage_ratio") * 100;
    if (!has(lines, "cpu_coverage_ratio") || percent >= MUCH)
        return;
    (void)snprintf(words, sizeof words, "saw %.0f %% of the CPU time", percent);
    put_line(lines, "sampling", words,
             lines->view->verbose ? "what is sampled misses the rest" : "");
}

static void (*const LINES[])(const struct account_text_lines *lines) = {
    cpu_line,    memory_lines, swap_line,    kills_line,   device_lines,
    energy_line, flow_lines,   process_line, waiting_line, coverage_line,
};

/* ---- what is known beside figures ---- */

/* Sentences of others, a line each, made safe. */
static void sentence_lines(const struct account_text_lines *lines, const char *what,
                           vitals_text text)
{
    vitals_text_form form = lines->view->ascii ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL;
    struct cursor cursor = cursor_over(text.bytes, text.size);
    for (struct span line; cursor_line(&cursor, &line);) {
        char safe[2 * WORDS];
        if (line.size == 0)
            continue;
        (void)vitals_text_format((vitals_text){line.bytes, line.size}, form, safe, sizeof safe);
        put_line(lines, what, safe, "");
        what = "";
    }
}

/* Long commands are cut: the user knows the arguments. */
static void command_words(vitals_text command, bool ascii, char out[static COMMAND_BYTES])
{
    vitals_text_form form = ascii ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL;
    bool whole = vitals_text_columns(command, form) <= COMMAND_COLUMNS;
    vitals_text_fit(command, form, whole ? COMMAND_COLUMNS : COMMAND_COLUMNS - 2, out,
                    COMMAND_BYTES - 2, NULL);
    if (!whole)
        memcpy(out + strlen(out), "..", 3);
}

/* The resources to request next time, as options of Slurm. */
static void request_line(const struct account_text_lines *lines)
{
    struct sizing sizing;
    char options[WORDS];
    sizing_of(lines->account, &sizing);
    sizing_request(&sizing, options, sizeof options);
    if (options[0] == '\0')
        return;
    paint_text(lines->paint, COLOR_PLAIN, "vitals: next time");
    paint_text(lines->paint, COLOR_PLAIN, sizing.failed ? ", at least: " : ": ");
    paint_text(lines->paint, COLOR_BOLD, options);
    paint_end(lines->paint);
}

/* The command and how it ended. */
static void title_line(const struct account_text_lines *lines)
{
    char name[COMMAND_BYTES], wall[WORDS], why[2 * WORDS], words[3 * WORDS];
    const bool ascii = lines->view->ascii, machine = lines->subject[0] != '\0';
    vitals_text state = vitals_account_attribute(lines->account, "state");
    vitals_text failure = vitals_account_failure(lines->account);
    vitals_text title = vitals_account_attribute(lines->account,
                                                 machine && failure.size == 0 ? "host" : "command");
    char signal_name[SIGNAL_NAME_SIZE];
    vitals_text dumped = vitals_account_attribute(lines->account, "core_dumped");
    int signal = vitals_account_signal(lines->account);
    int exit_code = vitals_account_exit_code(lines->account);
    const char *untitled = failure.size > 0 ? "the command" : machine ? "this machine" : "this run";
    command_words(title.size > 0 ? title : vitals_text_of(untitled), ascii, name);
    (void)words_figure(lines->view, vitals_account_find(lines->account, "wall_seconds", ""), wall);
    (void)vitals_text_format(failure, ascii ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL, why,
                             sizeof why);

    if (failure.size > 0)
        (void)snprintf(words, sizeof words, " was not run: %s, exit %d", why, exit_code);
    else if (machine)
        (void)snprintf(words, sizeof words, " was recorded for %s", wall);
    else if (words_are(state, "running"))
        (void)snprintf(words, sizeof words, " has run for %s", wall);
    else if (words_are(state, "partial"))
        (void)snprintf(words, sizeof words, " was followed for %s; its end was not seen", wall);
    else if (signal != 0)
        (void)snprintf(words, sizeof words, " ended after %s by SIG%s%s", wall,
                       signal_names_format(signal, signal_name),
                       words_are(dumped, "1") ? ", core dumped" : "");
    else
        (void)snprintf(words, sizeof words,
                       exit_code < 0 ? " finished in %s; its exit code is not known"
                                     : " finished in %s, exit %d",
                       wall, exit_code);
    paint_text(lines->paint, COLOR_PLAIN, "vitals: ");
    paint_text(lines->paint, COLOR_PLAIN, name);
    paint_text(lines->paint, COLOR_PLAIN, words);
    paint_end(lines->paint);
}

int account_text(const vitals_account *account, const struct account_view *view,
                 vitals_write_fn *write, void *data)
{
    enum { NAME_COLUMNS = 34, SUBJECT_COLUMNS = 12, VALUE_COLUMNS = 16 };
    struct paint paint;
    const struct account_text_lines lines = {&paint, account, view,
                                             words_is_machine(account) ? "system" : ""};
    paint_init(&paint, view->color, write, data);
    bool ran = vitals_account_failure(account).size == 0;
    if (ran && lines.subject[0] == '\0')
        request_line(&lines);
    title_line(&lines);
    if (!ran) /* a job that did not run has no figures */
        return paint_done(&paint);
    sentence_lines(&lines, "limit", vitals_account_attribute(account, "limit_words"));
    for (size_t i = 0; i < sizeof LINES / sizeof LINES[0]; i++)
        LINES[i](&lines);
    sentence_lines(&lines, "missing", vitals_account_attribute(account, "missing"));
    if (!view->verbose)
        return paint_done(&paint);

    paint_end(&paint);
    for (const vitals_figure *figure = NULL;
         (figure = vitals_account_next(account, figure)) != NULL;) {
        char value[WORDS], how[WORDS];
        const char *label = vitals_figure_label(figure), *subject = vitals_figure_subject(figure);
        size_t at = 2;
        paint_text(&paint, COLOR_PLAIN, "  ");
        at += cell(&paint, COLOR_PLAIN, NAME_COLUMNS, vitals_figure_name(figure));
        at += cell(&paint, COLOR_PLAIN, SUBJECT_COLUMNS, label[0] != '\0' ? label : subject);
        at += cell(&paint, COLOR_PLAIN, VALUE_COLUMNS, words_figure(view, figure, value));
        put_words(&lines, COLOR_DIM, at, words_how(figure, how));
    }
    return paint_done(&paint);
}

/* ---- as JSON, with members behind its own ---- */

int account_json_with(const vitals_account *account, const struct account_member *members,
                      size_t count, vitals_write_fn *write, void *data)
{
    static const char END[] = "}\n"; /* of a document that goes on here */
    struct buffer own = {0};
    struct json_form form;
    int stopped = vitals_account_json(account, text_write, &own, NULL);
    if (own.failed)
        stopped = VITALS_EMEMORY;
    else if (stopped == 0)
        stopped = write(data, own.bytes, own.size - strlen(END));
    buffer_done(&own);
    json_form_init(&form, 0, write, data);
    form.failed = stopped;
    form.begun = true; /* the figures stand there */
    form.depth = 1;
    for (size_t i = 0; i < count; i++) {
        form_key(&form, members[i].key);
        members[i].put(members[i].data, &form);
    }
    form_end(&form, '}');
    return form.failed != 0 ? form.failed : write(data, "\n", 1);
}

static void put_arguments(const void *data, struct json_form *form)
{
    const char *const *argv = data;
    form_begin(form, '[');
    for (size_t i = 0; argv[i] != NULL; i++)
        form_string(form, argv[i]);
    form_end(form, ']');
}

int report_account_json(const vitals_account *account, const char *const *argv,
                        vitals_write_fn *write, void *data)
{
    const struct account_member member = {"command", put_arguments, argv};
    return account_json_with(account, &member, 1, write, data);
}
