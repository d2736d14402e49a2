/* report_jobs.c: `vitals report --jobs FOLDER`: a line for each account of a folder, as
 * packaging/slurm leaves one for each step of a job. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "command/grid.h"
#include "record/recording.h"
#include "report/words.h"

#define SUFFIX ".json"

static int is_account(const struct dirent *entry)
{
    size_t size = strlen(entry->d_name), end = strlen(SUFFIX);
    return size > end && strcmp(entry->d_name + size - end, SUFFIX) == 0;
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
    add_text(grid, (vitals_text){name, strlen(name) - strlen(SUFFIX)});
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

int report_jobs(const struct settings *settings, const struct account_view *view)
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
