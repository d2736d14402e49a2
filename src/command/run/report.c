/* report.c: `vitals report FILE`: prints what a recorded run used; and --jobs.
 *
 * src/record reads the recording; this file chooses the output. Errors in the file are reported on
 * stderr, and the rest is shown. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/command.h"
#include "command/grid.h"
#include "record/recording.h"
#include "report/run_report.h"
#include "report/sizing.h"
#include "report/words.h"

static const char *const FORMS[] = {
    [0] = "",
    [VITALS_REPORT_TEXT] = "text",
    [VITALS_REPORT_JSON] = "json",
    [VITALS_REPORT_HTML] = "",
    [VITALS_REPORT_GPU_TRACKER] = "gpu-tracker",
    [VITALS_REPORT_GPU_TRACKER_TEXT] = "gpu-tracker-text",
};

/* `advice`: printed instead of the report; NULL: none. */
static int print(const struct run_report *report, size_t form, const char *advice, int descriptor)
{
    struct output *output = output_begin(descriptor);
    struct sizing sizing;
    int stopped;
    if (advice == NULL) {
        stopped = run_report_write(report, (vitals_report_form)form, output_write, output);
    } else {
        sizing_of(recording_account(report->recording), &sizing);
        stopped = strcmp(advice, "slurm") == 0 ? sizing_slurm(&sizing, output_write, output)
                                               : sizing_kubernetes(&sizing, output_write, output);
    }
    return output_done(output, stopped != 0 && output_open(output)
                                   ? command_fail(EXIT_CANNOT, "out of memory")
                                   : EXIT_DONE);
}

static int print_page(const struct run_report *report, const char *path)
{
    struct stat a, b;
    /* The page must not overwrite the recording that it is made from. */
    if (strcmp(path, "-") != 0 && stat(path, &a) == 0 && stat(report->path, &b) == 0 &&
        a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        return command_fail(EXIT_USAGE, "--html %s is the recording itself; name another file",
                            command_safe(path));
    int descriptor = output_create(path);
    if (descriptor < 0)
        return command_fail(EXIT_CANNOT, "%s: %s", command_safe(path), strerror(errno));
    int code = print(report, VITALS_REPORT_HTML, NULL, descriptor);
    if (close(descriptor) != 0)
        code = command_fail(EXIT_CANNOT, "%s: %s", command_safe(path), strerror(errno));
    return code;
}

/* ---- --jobs: a line for each account of a folder, such as packaging/slurm leaves ---- */

#define JOB_ENDING ".json"

static int is_account(const struct dirent *entry)
{
    size_t size = strlen(entry->d_name), end = strlen(JOB_ENDING);
    return size > end && strcmp(entry->d_name + size - end, JOB_ENDING) == 0;
}

/* The first of the figures that has a value, or the last. */
static void add_figure(struct grid *grid, const struct account_view *view,
                       const vitals_account *account, const char *const *names)
{
    const vitals_figure *figure = NULL;
    vitals_availability availability = VITALS_NOT_REQUESTED;
    char words[WORDS];
    for (; *names != NULL && availability <= 0; names++) {
        figure = vitals_account_find(account, *names, "");
        (void)words_number(figure, &availability);
    }
    grid_cell(grid, COLOR_PLAIN, words_figure(view, figure, words));
}

/* The devices that it used, and how long they were busy together. N/A if one could not be read. */
static void add_gpus(struct grid *grid, const vitals_account *account)
{
    double busy_seconds = 0;
    size_t devices = 0, timed = 0;
    bool known = true;
    char words[WORDS];
    for (const vitals_figure *figure = NULL;
         (figure = vitals_account_next(account, figure)) != NULL;) {
        vitals_availability availability;
        double value = words_number(figure, &availability);
        if (strcmp(vitals_figure_name(figure), "gpu_memory_peak_bytes") == 0) {
            devices++;
            known = known && words_is_device(vitals_figure_subject(figure));
        } else if (strcmp(vitals_figure_name(figure), "gpu_busy_seconds") == 0) {
            busy_seconds += value;
            timed += availability > 0;
        }
    }
    (void)snprintf(words, sizeof words, "%zu", devices);
    grid_cell(grid, COLOR_PLAIN, known ? words : "N/A");
    grid_cell(grid, COLOR_PLAIN,
              known && timed == devices ? words_seconds(busy_seconds, words) : "N/A");
}

static void add_text(struct grid *grid, vitals_text text)
{
    char safe[WORDS];
    (void)vitals_text_format(text, VITALS_TEXT_TERMINAL, safe, sizeof safe);
    grid_cell(grid, COLOR_PLAIN, safe[0] != '\0' ? safe : "N/A");
}

static int add_job(struct grid *grid, const struct account_view *view, const char *folder,
                   const char *name)
{
    struct recording *recording;
    vitals_error error;
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    if (recording_open(path, &recording, &error) < 0)
        return command_fail(EXIT_CANNOT, "%s", error.message);
    const vitals_account *account = recording_account(recording);
    add_text(grid, (vitals_text){name, strlen(name) - strlen(JOB_ENDING)});
    add_text(grid, vitals_account_attribute(account, VITALS_ATTRIBUTE_STATE));
    add_text(grid, vitals_account_attribute(account, VITALS_ATTRIBUTE_EXIT));
    add_figure(grid, view, account, (const char *[]){"wall_seconds", NULL});
    add_figure(grid, view, account, (const char *[]){"cpu_seconds", NULL});
    add_figure(grid, view, account, (const char *[]){"cpu_cores", NULL});
    add_figure(grid, view, account,
               (const char *[]){"memory_peak_bytes", "memory_peak_high_bytes",
                                "memory_peak_low_bytes", NULL});
    add_gpus(grid, account);
    add_text(grid, vitals_account_attribute(account, VITALS_ATTRIBUTE_HOST));
    add_text(grid, vitals_account_attribute(account, VITALS_ATTRIBUTE_COMMAND));
    recording_close(recording);
    return EXIT_DONE;
}

static int report_jobs(const struct settings *settings, const struct account_view *view)
{
    static const char *const TITLES[] = {"JOB",    "STATE", "EXIT",     "TIME", "CPU",    "CORES",
                                         "MEMORY", "GPUS",  "GPU TIME", "HOST", "COMMAND"};
    const char *folder = settings->report.jobs;
    struct dirent **entries;
    int code = EXIT_DONE, count = scandir(folder, &entries, is_account, versionsort);
    if (count < 0)
        return command_fail(EXIT_CANNOT, "%s: %s", command_safe(folder), strerror(errno));
    struct grid grid = {0};
    for (size_t i = 0; i < ARRAY_COUNT(TITLES); i++)
        grid_column(&grid, TITLES[i], i >= 3 && i <= 8 ? ALIGN_RIGHT : ALIGN_LEFT, 0);
    for (int i = 0; i < count; i++) {
        int failed = add_job(&grid, view, folder, entries[i]->d_name);
        code = failed != EXIT_DONE ? failed : code;
        free(entries[i]);
    }
    free(entries);
    struct output *output = output_begin(STDOUT_FILENO);
    const struct grid_form form = {.width = (size_t)settings->look.line_width, .titles = true};
    code = output_done(output, grid_print(&grid, &form, view->color, false, output) != EXIT_DONE
                                   ? EXIT_CANNOT
                                   : code);
    grid_done(&grid);
    return code;
}

/* ---- the command ---- */

int command_report(const struct settings *settings)
{
    struct recording *recording;
    vitals_error error;
    char wrong[256];
    const struct account_view view = command_account_view(&settings->look, &settings->account);
    const struct settings_words *words = &settings->arguments.words;
    const char *advice = settings->look.json ? NULL : settings->report.advice;
    const char *name = settings->look.json                ? "json"
                       : settings->account.format != NULL ? settings->account.format
                                                          : "text";
    size_t form = VITALS_REPORT_TEXT;
    while (strcmp(FORMS[form], name) != 0)
        form++;
    /* gpu_tracker's text of a run has no place for code blocks; its JSON has. */
    if (settings->report.phases && advice == NULL && form == VITALS_REPORT_GPU_TRACKER_TEXT)
        return command_fail(
            EXIT_USAGE, "--phases: gpu-tracker-text cannot show phases; use --format gpu-tracker");
    if (settings->report.jobs != NULL && words->count > 0)
        return command_fail(EXIT_USAGE, "report: --jobs reads a folder; %s would be ignored",
                            command_safe(words->items[0]));
    if (settings->report.jobs != NULL)
        return account_units(&view, wrong, sizeof wrong) ? report_jobs(settings, &view)
                                                         : command_fail(EXIT_USAGE, "%s", wrong);
    if (words->count == 0)
        return command_fail(EXIT_USAGE, "report: no file; as in: vitals report run.db");
    if (words->count > 1)
        return command_fail(EXIT_USAGE,
                            "report: give one file, not %zu (vitals compare takes several)",
                            words->count);
    if (!account_units(&view, wrong, sizeof wrong))
        return command_fail(EXIT_USAGE, "%s", wrong);
    if (recording_open_tracked(words->items[0], settings->report.phase_files.items,
                               settings->report.phase_files.count, &recording, &error) < 0)
        return command_fail(EXIT_CANNOT, "%s", error.message);

    /* Prints the problems of a file, one sentence a line. */
    const char *problem = recording_problem(recording);
    while (*problem != '\0') {
        char line[200];
        size_t size = strcspn(problem, "\n");
        (void)vitals_text_format((vitals_text){problem, size}, VITALS_TEXT_TERMINAL, line,
                                 sizeof line);
        (void)command_fail(0, "%s: %s", command_safe(words->items[0]), line);
        problem += size + (problem[size] == '\n');
    }

    const struct run_report report = {.recording = recording,
                                      .path = words->items[0],
                                      .view = &view,
                                      .with_phases = settings->report.phases};
    int code = settings->report.html_path != NULL ? print_page(&report, settings->report.html_path)
                                                  : print(&report, form, advice, STDOUT_FILENO);
    recording_close(recording);
    return code;
}
