/* report.c: `vitals report FILE`: prints what a recorded run used.
 *
 * src/record reads the recording; this file chooses the output. Errors in the file are reported on
 * stderr, and the rest is shown. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/command.h"
#include "record/recording.h"
#include "report/run_report.h"
#include "report/sizing.h"

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
