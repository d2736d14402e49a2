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
#include "report/account.h"
#include "report/html.h"
#include "report/phases.h"
#include "report/run_report.h"
#include "report/sizing.h"

/* The selection to show, and its form. */
struct shown {
    const struct argument_settings *arguments;
    const struct report_settings *report;
    const struct recording *recording;
    const vitals_account *account;
    struct account_view view;
    struct phases phases;
    struct sizing sizing;
};

static const char *const FORMS[RUN_REPORT_COUNT] = {
    [RUN_REPORT_TEXT] = "text",
    [RUN_REPORT_JSON] = "json",
    [RUN_REPORT_GPU_TRACKER] = "gpu-tracker",
    [RUN_REPORT_GPU_TRACKER_TEXT] = "gpu-tracker-text",
};

/* `advice`: printed instead of a form; NULL: none. */
static int print_form(struct shown *shown, size_t form, const char *advice, struct output *output)
{
    if (advice != NULL)
        return strcmp(advice, "slurm") == 0
                   ? sizing_slurm(&shown->sizing, output_write, output)
                   : sizing_kubernetes(&shown->sizing, output_write, output);
    const struct run_report report = {.account = shown->account,
                                      .phases = &shown->phases,
                                      .sizing = &shown->sizing,
                                      .view = shown->view,
                                      .with_phases = shown->report->phases};
    return run_report_write(&report, (enum run_report_form)form, output_write, output);
}

static int print_page(struct shown *shown)
{
    const char *path = shown->report->html_path, *recording = shown->arguments->words.items[0];
    struct stat a, b;
    /* The page must not overwrite the recording that it is made from. */
    if (strcmp(path, "-") != 0 && stat(path, &a) == 0 && stat(recording, &b) == 0 &&
        a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        return command_fail(EXIT_USAGE, "--html %s is the recording itself; name another file",
                            command_safe(path));
    int descriptor = output_create(path);
    if (descriptor < 0)
        return command_fail(EXIT_CANNOT, "%s: %s", command_safe(path), strerror(errno));
    struct output *output = output_begin(descriptor);
    const struct html_report page = {.recording = shown->recording,
                                     .path = recording,
                                     .view = &shown->view,
                                     .phases = &shown->phases,
                                     .sizing = &shown->sizing};
    int stopped = html_write(&page, output_write, output);
    int code = output_done(output, stopped != 0 && output_open(output)
                                       ? command_fail(EXIT_CANNOT, "out of memory")
                                       : EXIT_DONE);
    if (close(descriptor) != 0)
        code = command_fail(EXIT_CANNOT, "%s: %s", command_safe(path), strerror(errno));
    return code;
}

static int show(struct shown *shown, size_t form, const char *advice)
{
    vitals_error error;
    if (phases_of(shown->recording, &shown->phases, &error) < 0)
        return command_fail(EXIT_CANNOT, "%s", error.message);
    sizing_of(shown->account, &shown->sizing);
    int code = EXIT_DONE;
    if (shown->report->html_path != NULL) {
        code = print_page(shown);
    } else {
        struct output *output = output_begin(STDOUT_FILENO);
        int stopped = print_form(shown, form, advice, output);
        if (stopped != 0 && output_open(output))
            code = command_fail(EXIT_CANNOT, "out of memory");
        code = output_done(output, code);
    }
    phases_done(&shown->phases);
    return code;
}

int command_report(const struct settings *settings)
{
    struct recording *recording;
    vitals_error error;
    char wrong[256];
    struct shown shown = {.arguments = &settings->arguments,
                          .report = &settings->report,
                          .view = command_account_view(&settings->look, &settings->account)};
    const struct settings_words *words = &settings->arguments.words;
    const char *advice = settings->look.json ? NULL : settings->report.advice;
    const char *name = settings->look.json                ? "json"
                       : settings->account.format != NULL ? settings->account.format
                                                          : "text";
    size_t form = 0;
    while (strcmp(FORMS[form], name) != 0)
        form++;
    /* gpu_tracker's text of a run has no place for code blocks; its JSON has. */
    if (settings->report.phases && advice == NULL && form == RUN_REPORT_GPU_TRACKER_TEXT)
        return command_fail(
            EXIT_USAGE, "--phases: gpu-tracker-text cannot show phases; use --format gpu-tracker");
    if (settings->report.jobs != NULL && words->count > 0)
        return command_fail(EXIT_USAGE, "report: --jobs reads a folder; %s would be ignored",
                            command_safe(words->items[0]));
    if (settings->report.jobs != NULL)
        return account_units(&shown.view, wrong, sizeof wrong)
                   ? report_jobs(settings, &shown.view)
                   : command_fail(EXIT_USAGE, "%s", wrong);
    if (words->count == 0)
        return command_fail(EXIT_USAGE, "report: no file; as in: vitals report run.db");
    if (words->count > 1)
        return command_fail(EXIT_USAGE,
                            "report: give one file, not %zu (vitals compare takes several)",
                            words->count);
    if (!account_units(&shown.view, wrong, sizeof wrong))
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

    shown.recording = recording;
    shown.account = recording_account(recording);
    int code = show(&shown, form, advice);
    recording_close(recording);
    return code;
}
