/* record.c: `vitals record`: records the machine into a file until it is stopped. Deadlines are
 * those of the feed: absolute, and a missed one is skipped. The recorder limits what a recording
 * costs; the number of missed samples is printed at the end. */
#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "command/devices/device_list.h"
#include "command/run/run.h"
#include "record/recorder.h"
#include "util/burst.h"

struct recording_job {
    const struct settings *settings;
    uint64_t interval_ns;
    vitals_usage *usage;
    vitals_request *request;
    int interrupts;
    struct recorder *recorder;
    struct run_export exporter;
    struct feed feed;
    struct burst burst;
    uint64_t samples, first_ns, last_ns; /* monotonic */
};

static int open_recorder(struct recording_job *job)
{
    const struct settings *settings = job->settings;
    const char *path = settings->recording.path;
    vitals_error error;
    if (settings->arguments.words.count > 1 ||
        (settings->arguments.words.count == 1 && path != NULL))
        return command_fail(EXIT_USAGE, "record: name one file only, as FILE or with --output");
    if (settings->arguments.words.count == 1)
        path = settings->arguments.words.items[0];
    struct recorder_options options;
    int code = recording_options(&settings->recording, path, job->interval_ns, &options);
    if (code == 0 && path != NULL && strcmp(path, "-") != 0)
        code = recording_check_place("", path);
    if (code != 0)
        return code;
    if (settings->record.processes && !recorder_may_keep_frames(&options))
        return command_fail(EXIT_USAGE,
                            "--processes: %s cannot hold processes; record to a .db file",
                            path != NULL ? command_safe(path) : "standard output");
    if (recorder_needs_processes(&options))
        return command_fail(
            EXIT_USAGE,
            "--format %s is a format of processes, and record follows none; use vitals track PID",
            command_safe(settings->recording.format));
    options.stop = job->interrupts = command_interrupts();
    code = recorder_open(&options, &job->recorder, &error);
    if (code == VITALS_EARGUMENT)
        return command_fail(EXIT_USAGE, "%s%s", error.message,
                            recording_overwrite_hint(&options, path, code));
    return code < 0 ? command_fail(EXIT_CANNOT, "%s", error.message) : EXIT_DONE;
}

static int put_attribute(struct recording_job *job, const char *name, const char *text,
                         vitals_error *error)
{
    return text[0] == '\0' ? 0
                           : recorder_attribute(job->recorder, name, vitals_text_of(text), error);
}

static int put_number_attribute(struct recording_job *job, const char *name, uint64_t number,
                                vitals_error *error)
{
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    return put_attribute(job, name, digits, error);
}

static int take_sample(struct recording_job *job, const vitals_snapshot *snapshot,
                       vitals_error *error)
{
    uint64_t now_ns = vitals_snapshot_monotonic_ns(snapshot);
    uint64_t cores = job->settings->measure.expected_cores;
    int code = 0;
    if (job->samples == 0) {
        const struct passwd *user = getpwuid(geteuid());
        job->first_ns = now_ns;
        code = recorder_origin(job->recorder, snapshot, error);
        if (code == 0 && user != NULL)
            code = put_attribute(job, "user", user->pw_name, error);
        if (code == 0 && cores > 0)
            code = put_number_attribute(job, "expected_cores", cores, error);
        if (code == 0)
            code = put_attribute(job, "state", "running", error);
    }
    if (code == 0)
        code = vitals_usage_add(job->usage, snapshot, error);
    if (code == 0)
        code = recorder_sample(job->recorder, snapshot, job->usage, error);
    run_export_sample(&job->exporter, snapshot, job->usage);
    burst_step(&job->burst, vitals_snapshot_count(snapshot, VITALS_TABLE_PROCESS));
    job->last_ns = now_ns;
    job->samples++;
    return code;
}

/* Records until the requested count or duration is reached. */
static int record_all(struct recording_job *job)
{
    uint64_t count = job->settings->sampling.count, duration_ns = job->settings->record.duration_ns;
    vitals_error error;
    int code = 0;
    for (bool over = false; code == 0 && !over;) {
        vitals_snapshot *snapshot = NULL;
        code = job->feed.next(job->feed.data, &snapshot, &error);
        if (code == 0)
            break;
        if (code > 0) {
            code = take_sample(job, snapshot, &error);
            vitals_snapshot_unref(snapshot);
        }
        uint64_t elapsed_ns = job->last_ns - job->first_ns;
        over = (count > 0 && job->samples >= count) ||
               (duration_ns > 0 && elapsed_ns + job->interval_ns / 2 >= duration_ns);
    }
    if (code < 0 && error.detail == EPIPE)
        return EXIT_DONE; /* the reader has closed the pipe */
    return code < 0 ? command_fail(EXIT_CANNOT, "%s", error.message) : EXIT_DONE;
}

/* Returns the number of intervals without a sample. */
static uint64_t missed(const struct recording_job *job)
{
    uint64_t turns = (job->last_ns - job->first_ns + job->interval_ns / 2) / job->interval_ns + 1;
    return turns > job->samples ? turns - job->samples : 0;
}

static int finish(struct recording_job *job, int code)
{
    vitals_error error = {.message = ""}, closing = {.message = ""};
    vitals_account *account = NULL;

    /* Also for a recording that failed: exporters have the samples until then. */
    int written = job->samples > 0 ? vitals_usage_account(job->usage, &account, &error) : 0;
    bool whole = code == EXIT_DONE;
    if (whole && written == 0)
        written = put_attribute(job, "state", "complete", &error);
    if (whole && written == 0 && missed(job) > 0)
        written = put_number_attribute(job, "samples_missed", missed(job), &error);
    if (whole && written == 0 && account != NULL)
        written = recorder_describe(job->recorder, account, &error);
    if (whole && written == 0 && account != NULL)
        written = recorder_account(job->recorder, account, &error);
    if (account != NULL)
        run_export_end(&job->exporter, job->settings, account, NULL);
    vitals_account_free(account);

    int closed = recorder_close(job->recorder, &closing);
    if (code != EXIT_DONE)
        return code; /* the message was printed */
    if (written < 0)
        return command_fail(EXIT_CANNOT, "%s", error.message);
    if (closed < 0)
        return command_fail(EXIT_CANNOT, "%s", closing.message);
    if (missed(job) > 0)
        (void)command_fail(
            0, "%llu of %llu samples were missed: reading took longer than the interval",
            (unsigned long long)missed(job), (unsigned long long)(missed(job) + job->samples));
    return EXIT_DONE;
}

int command_record(const struct settings *settings)
{
    struct recording_job job = {.settings = settings,
                                .interval_ns = settings->sampling.interval_ns > 0
                                                   ? settings->sampling.interval_ns
                                                   : 1000000000};
    vitals_error error;
    /* A file size limit is reported as a write error instead of a signal. */
    const struct sigaction ignored = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGXFSZ, &ignored, NULL);
    int code = exporters_check(&settings->run, &settings->export, &settings->serve);
    if (code == 0)
        code = device_check(&settings->machine, &settings->measure);
    if (code != 0)
        return code;

    vitals_usage_options options;
    vitals_usage_options_init(&options, sizeof options);
    options.expected_cores = (double)settings->measure.expected_cores;
    options.devices = settings->measure.devices.items;
    options.brand = settings->measure.brand;
    code = vitals_usage_new(&options, &job.usage, &error);

    /* Requests the machine's metrics that resource-tracker's SystemTracker reads, and the sources
     * that are late. */
    bool processes = settings->record.processes;
    unsigned sets = VITALS_SET_MACHINE | VITALS_SET_GPUS | VITALS_SET_SOURCES;
    if (code == 0)
        code = vitals_request_new(sets | (processes ? VITALS_SET_PROCESSES : 0u), &job.request,
                                  &error);
    if (code == 0)
        code = vitals_usage_request(job.usage, job.request, &error);
    if (code == 0)
        code = vitals_request_set_rows(
            job.request, processes ? VITALS_ROWS_ALL : VITALS_ROWS_GPU_USERS, NULL, 0, &error);
    if (code == 0)
        code = vitals_request_add_table(job.request, VITALS_TABLE_WORKLOAD, &error);
    if (code == 0)
        code = vitals_request_set_interval(job.request, job.interval_ns, &error);
    code = code < 0 ? command_fail(code == VITALS_EARGUMENT ? EXIT_USAGE : EXIT_CANNOT, "%s",
                                   error.message)
                    : open_recorder(&job);
    if (code == EXIT_DONE)
        (void)run_export_begin(&job.exporter, settings, &(struct export_job){.program = "record"});
    if (code == EXIT_DONE)
        code = command_feed(&settings->machine, job.request, job.interval_ns, job.interrupts,
                            &job.feed);
    if (code == EXIT_DONE)
        code = record_all(&job);
    feed_close(&job.feed);
    if (job.recorder != NULL)
        code = finish(&job, code);
    run_export_done(&job.exporter);
    vitals_request_free(job.request);
    vitals_usage_free(job.usage);
    return code;
}
