/* track.c: `vitals track`: watches running processes, prints to stderr what they used since then
 * and, if a format is named, each sample to stdout. It ends when they have ended, or on a signal;
 * the processes are not affected. */
#include "command/processes/filter.h"
#include "command/run/run.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct run_track {
    const struct settings *settings;
    struct run_plan plan;
    int64_t *pids;
    vitals_run *run;
    int interrupts;
    int json;     /* -1: not requested */
    bool printed; /* the samples go to standard output */
    bool enough;  /* the reader of the samples has closed the pipe */
};

/* A failure before a command is run has an exit code of its own; here no command is run. */
static int exit_code(int code)
{
    return code == EXIT_BEFORE_RUN ? EXIT_CANNOT : code;
}

static int take_pids(struct run_track *track)
{
    const struct settings_words *words = &track->settings->arguments.words;
    int code = 0;
    if (words->count == 0)
        return command_fail(EXIT_USAGE, "track: no pid; as in: vitals track 4711");
    track->pids = calloc(words->count, sizeof *track->pids);
    if (track->pids == NULL)
        return command_fail(EXIT_CANNOT, "out of memory");
    for (size_t i = 0; i < words->count; i++) {
        track->pids[i] = (int64_t)filter_pid(words->items[i]);
        if (track->pids[i] == 0)
            code = EXIT_USAGE;
    }
    return code;
}

static int begin(struct run_track *track)
{
    const char *json = track->settings->run.json_path;
    vitals_error error;
    int code = take_pids(track);
    if (code == 0)
        code = exporters_check(&track->settings->run, &track->settings->export,
                               &track->settings->serve);
    if (code == 0)
        code = exit_code(run_plan_init(&track->plan, track->settings));
    if (code != 0)
        return code;
    track->interrupts = command_interrupts();
    track->plan.observer.options.stop = track->interrupts;
    track->plan.usage.pids = track->pids;
    track->plan.usage.pid_count = track->settings->arguments.words.count;

    /* In the formats of other programs, rows name the process that was given first. */
    char digits[24];
    int size = snprintf(digits, sizeof digits, "%lld", (long long)track->pids[0]);
    if (track->plan.records)
        record_observer_attribute(&track->plan.observer, "pid",
                                  (vitals_text){digits, (size_t)size});

    track->printed = track->plan.records && run_plan_file(&track->plan) == NULL;
    run_export_init(&track->plan.exporter, track->settings);
    if (exporters_asked(&track->settings->export))
        run_export_observe(&track->plan.exporter, &track->plan.options);
    if (vitals_run_open(&track->plan.options, &track->run, &error) < 0)
        return command_fail(EXIT_CANNOT, "%s", error.message);
    /* Nothing is written or replaced before all targets are found. */
    code = exit_code(run_plan_prepare(&track->plan));
    if (code == 0 && json != NULL && (track->json = output_create(json)) < 0)
        code = command_fail(EXIT_CANNOT, "%s: %s", command_safe(json), strerror(errno));
    if (code != 0)
        return code;
    (void)run_export_begin(&track->plan.exporter, track->settings,
                           &(struct export_job){.program = "track", .pid = track->pids[0]});

    /* This process and the exporter program are excluded if a target started them. Other children
     * of this process are its descendants; the exporter may become a child of the target. */
    const int64_t ours[] = {getpid(), run_export_pid(&track->plan.exporter)};
    for (size_t i = 0; i < ARRAY_COUNT(ours); i++) {
        bool leave_out = ours[i] > 0;
        for (size_t j = 0; j < track->plan.usage.pid_count; j++)
            leave_out &= track->pids[j] != ours[i];
        if (leave_out && vitals_run_exclude(track->run, ours[i], &error) < 0)
            return command_fail(EXIT_CANNOT, "%s", error.message);
    }
    return 0;
}

/* Waits until all targets have ended, a signal arrives, or the reader has closed the pipe. */
static int wait_for_end(struct run_track *track)
{
    static const uint64_t LOOK_NS = 200 * NS_PER_MS;
    struct pollfd interrupt = {.fd = track->interrupts, .events = POLLIN};
    vitals_error error;
    if (vitals_run_start(track->run, &error) < 0)
        return command_fail(EXIT_CANNOT, "%s", error.message);
    for (int ended = 0; ended == 0;) {
        ended = vitals_run_wait(track->run, LOOK_NS, &error);
        if (ended < 0)
            return command_fail(EXIT_CANNOT, "%s", error.message);
        /* Check if the reader of the samples has closed the pipe. */
        struct pollfd reader = {.fd = STDOUT_FILENO};
        track->enough = track->printed && poll(&reader, 1, 0) > 0 &&
                        (reader.revents & POLLERR) != 0;
        if (track->enough || (track->interrupts >= 0 && poll(&interrupt, 1, 0) > 0))
            break;
    }
    if (vitals_run_stop(track->run, &error) < 0)
        return command_fail(EXIT_CANNOT, "%s", error.message);
    return 0;
}

static int tell(struct run_track *track)
{
    const char *path = track->plan.recorder.path;
    vitals_account *account = NULL;
    vitals_error error;
    if (vitals_run_account(track->run, &account, &error) < 0)
        return command_fail(EXIT_CANNOT, "%s", error.message);

    /* Write the account into the recording. */
    bool recorded = !track->plan.records || recording_put_account(path, account, &error) == 0;
    if (!recorded)
        (void)command_fail(0, "%s: the account is missing: %s", command_safe(path), error.message);

    int code = EXIT_DONE;
    if (track->json >= 0) {
        struct output *output = output_begin(track->json);
        (void)!vitals_account_json(account, output_write, output, NULL);
        code = output_done(output, EXIT_DONE);
    }
    if (!track->settings->run.quiet)
        run_print_account(track->settings, account);
    else if (!track->enough)
        run_tell_stopped(&track->plan, account);
    if (!recorded || (run_recording_stopped(&track->plan, account) && !track->enough))
        code = EXIT_CANNOT;
    run_export_end(&track->plan.exporter, track->settings, account, run_plan_file(&track->plan));
    vitals_account_free(account);
    run_totals_remove(&track->plan);
    return code;
}

int command_track(const struct settings *settings)
{
    static struct run_track track; /* the plan is too large for the stack */
    track = (struct run_track){.settings = settings, .json = -1};
    int code = begin(&track);
    if (code == 0)
        code = wait_for_end(&track);
    if (code == 0)
        code = tell(&track);
    vitals_run_close(track.run);
    run_plan_done(&track.plan);
    free(track.pids);
    if (track.json >= 0)
        close(track.json);
    return code;
}
