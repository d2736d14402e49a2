/* What a program records comes back: each form, a run that is watched, a recording that cannot be.
 */
#include "library_world.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* A program that samples itself. */
struct sampling {
    vitals_context *context;
    vitals_usage *usage;
    vitals_request *request;
    vitals_sampler *sampler;
};

static struct sampling sampling_open(void)
{
    struct sampling sampling = {.context = demo_context()};
    vitals_error error = {.message = ""};
    vitals_usage_options options;
    const int64_t pid = getpid();
    vitals_usage_options_init(&options, sizeof options);
    options.pids = &pid;
    options.pid_count = 1;
    options.machine_pace = VITALS_MACHINE_CLOSELY;
    CHECK_OK(vitals_usage_new(&options, &sampling.usage, &error), error);
    CHECK_OK(vitals_request_new(0, &sampling.request, &error), error);
    CHECK_OK(vitals_usage_request(sampling.usage, sampling.request, &error), error);
    CHECK_OK(vitals_sampler_new(sampling.context, sampling.request, &sampling.sampler, &error),
             error);
    return sampling;
}

static void sampling_close(struct sampling *sampling)
{
    vitals_sampler_free(sampling->sampler);
    vitals_request_free(sampling->request);
    vitals_usage_free(sampling->usage);
    vitals_context_free(sampling->context);
}

static int record_one(struct sampling *sampling, vitals_recorder *recorder, vitals_error *error)
{
    vitals_snapshot *snapshot = NULL;
    CHECK_OK(vitals_sampler_take(sampling->sampler, &snapshot, error), *error);
    CHECK_OK(vitals_usage_add(sampling->usage, snapshot, error), *error);
    int code = vitals_recorder_sample(recorder, snapshot, sampling->usage, error);
    vitals_snapshot_unref(snapshot);
    return code;
}

enum { SAMPLES = 4 };

static void record(const vitals_recorder_options *options)
{
    vitals_error error = {.message = ""};
    vitals_recorder *recorder = NULL;
    vitals_account *account = NULL;
    struct sampling sampling = sampling_open();
    CHECK_OK(vitals_recorder_open(options, &recorder, &error), error);
    CHECK_OK(vitals_recorder_set(recorder, "command", (vitals_text){"a test", 6}, &error), error);
    for (int i = 0; i < SAMPLES; i++) {
        CHECK_OK(record_one(&sampling, recorder, &error), error);
        vitals_mark mark = {.begins = i % 2 == 0,
                            .name = "step",
                            .monotonic_ns = vitals_usage_last_ns(sampling.usage),
                            .pid = getpid(),
                            .tid = getpid()};
        CHECK_OK(vitals_recorder_mark(recorder, &mark, &error), error);
        /* A snapshot is kept if all of them take a hundredth of a CPU at most. */
        (void)usleep(options->snapshots ? 400000 : 20000);
    }
    CHECK_OK(vitals_usage_account(sampling.usage, &account, &error), error);
    CHECK_OK(vitals_recorder_put_account(recorder, account, &error), error);
    CHECK_OK(vitals_recorder_close(recorder, &error), error);
    vitals_account_free(account);
    sampling_close(&sampling);
}

static vitals_recorder_options options_for(const char *path, const char *form)
{
    vitals_recorder_options options;
    vitals_recorder_options_init(&options, sizeof options);
    options.path = path;
    options.form = form;
    options.interval_ns = 20000000;
    return options;
}

static void every_form_comes_back(void)
{
    size_t forms = 0;
    for (const char *form; (form = vitals_recorder_form(forms)) != NULL; forms++) {
        vitals_error error = {.message = ""};
        vitals_recording *recording = NULL;
        struct folder folder;
        size_t count = 0, series = 0, spans = 0;
        bool ours = strncmp(form, "vitals", 6) == 0;
        folder_make(&folder, strcmp(form, "vitals") == 0 ? "a.db" : "a.csv");
        vitals_recorder_options options = options_for(folder.file, form);
        record(&options);
        int code = vitals_recorder_open(&options, &(vitals_recorder *){NULL}, &error);
        CHECK_INT(code, VITALS_EARGUMENT); /* it is there, and not empty */

        CHECK_OK(vitals_recording_open(folder.file, NULL, 0, &recording, &error), error);
        const double *seconds = vitals_recording_seconds(recording, &count);
        CHECK(count >= SAMPLES - 1);
        for (size_t i = 1; i < count; i++)
            CHECK(seconds[i] >= seconds[i - 1]);
        for (const vitals_series *next = NULL;
             (next = vitals_recording_next_series(recording, next)) != NULL; series++) {
            size_t values = 0, moments = 0;
            CHECK_NOT_NULL(vitals_series_values(next, &values));
            CHECK_NOT_NULL(vitals_series_seconds(next, &moments));
            CHECK_UINT(values, count);
            CHECK_UINT(moments, count);
            CHECK(vitals_recording_find_series(recording, vitals_series_name(next),
                                               vitals_series_subject(next)) == next);
        }
        CHECK(series > 3);
        for (const vitals_span *next = NULL;
             (next = vitals_recording_next_span(recording, next)) != NULL; spans++) {
            CHECK_STR(vitals_span_name(next), "step");
            CHECK(vitals_span_end_seconds(next) >= vitals_span_begin_seconds(next));
            CHECK_INT(vitals_span_depth(next), 0);
        }
        if (ours) {
            const vitals_account *account = vitals_recording_account(recording);
            CHECK_STR(vitals_recording_form(recording), form);
            CHECK_STR(vitals_recording_problem(recording), "");
            CHECK_UINT(spans, SAMPLES / 2);
            CHECK_UINT(vitals_account_attribute(account, "command").size, 6);
            CHECK_STR(vitals_account_attribute(account, "interval_ns").bytes, "20000000");
            CHECK(vitals_account_attribute(account, "host").size > 0);
            CHECK(vitals_account_attribute(account, "started_ns").size > 15);
            CHECK_NOT_NULL(vitals_recording_find_series(recording, "cpu_seconds", ""));
            CHECK(vitals_recording_find_measure(recording, VITALS_MEASURE_CPU_SECONDS, "") ==
                  vitals_recording_find_series(recording, "cpu_seconds", ""));
            CHECK_NULL(vitals_recording_find_measure(recording, VITALS_MEASURE_NONE, ""));
        }
        CHECK_INT(vitals_recording_has_snapshots(folder.file), 0);
        vitals_recording_close(recording);
        folder_remove(&folder);
    }
    CHECK(forms >= 5);
}

static void snapshots_are_kept_and_found(void)
{
    vitals_error error = {.message = ""};
    vitals_feed *feed = NULL;
    vitals_snapshot *snapshot = NULL;
    uint64_t moments[SAMPLES];
    int count = 0;
    struct folder folder;
    folder_make(&folder, "a.db");
    vitals_recorder_options options = options_for(folder.file, NULL);
    options.snapshots = 1;
    record(&options);
    CHECK_INT(vitals_recording_has_snapshots(folder.file), 1);
    CHECK_OK(vitals_feed_open(folder.file, &feed, &error), error);
    for (int code; (code = vitals_feed_next(feed, &snapshot, &error)) != 0; count++) {
        CHECK_INT(code, 1);
        CHECK(count < SAMPLES);
        moments[count] = vitals_snapshot_realtime_ns(snapshot);
        CHECK(vitals_snapshot_count(snapshot, VITALS_TABLE_PROCESS) > 0);
        vitals_snapshot_unref(snapshot);
    }
    CHECK_INT(count, SAMPLES);
    CHECK_OK(vitals_feed_seek(feed, moments[2], &error), error);
    CHECK_INT(vitals_feed_next(feed, &snapshot, &error), 1);
    CHECK_UINT(vitals_snapshot_realtime_ns(snapshot), moments[2]);
    vitals_snapshot_unref(snapshot);
    vitals_feed_close(feed);
    folder_remove(&folder);

    options = options_for("/tmp/not-made.csv", NULL);
    options.snapshots = 1;
    CHECK_INT(vitals_recorder_open(&options, &(vitals_recorder *){NULL}, &error), VITALS_EARGUMENT);
    options = options_for("/tmp/not-made", NULL);
    CHECK_INT(vitals_recorder_open(&options, &(vitals_recorder *){NULL}, NULL), VITALS_EARGUMENT);
    CHECK_INT(vitals_recorder_close(NULL, NULL), 0);
    vitals_recording_close(NULL);
}

/* A run in threads of this process, whose signals stay as they are. */
static void a_run_is_recorded(void)
{
    static char sh[] = "sh", c[] = "-c", script[] = "sleep 0.2; exit 3";
    char *const argv[] = {sh, c, script, NULL};
    vitals_error error = {.message = ""};
    vitals_run_recorder *recorder = NULL;
    vitals_recording *recording = NULL;
    vitals_account *account = NULL;
    vitals_run *run = NULL;
    vitals_run_options options;
    struct sigaction before, after;
    struct folder folder;
    size_t count;
    folder_make(&folder, "run.db");
    vitals_recorder_options recorded = options_for(folder.file, NULL);
    CHECK_OK(vitals_run_recorder_open(&recorded, &recorder, &error), error);
    CHECK_OK(vitals_run_recorder_set(recorder, "command", (vitals_text){"sleep", 5}, &error),
             error);
    CHECK_INT(sigaction(SIGXFSZ, NULL, &before), 0);

    vitals_run_options_init(&options, sizeof options);
    options.argv = argv;
    options.interval_ns = 20000000;
    options.observer = vitals_run_recorder_observer(recorder);
    CHECK_OK(vitals_run_open(&options, &run, &error), error);
    CHECK_OK(vitals_run_start(run, &error), error);
    CHECK_INT(vitals_run_wait(run, UINT64_C(30000000000), &error), 1);
    CHECK_OK(vitals_run_stop(run, &error), error);
    CHECK_OK(vitals_run_account(run, &account, &error), error);
    vitals_run_close(run);
    CHECK_OK(vitals_run_recorder_close(recorder, account, &error), error);
    CHECK_INT(sigaction(SIGXFSZ, NULL, &after), 0);
    CHECK(before.sa_handler == after.sa_handler);

    CHECK_OK(vitals_recording_open(folder.file, NULL, 0, &recording, &error), error);
    CHECK_INT(vitals_account_exit_code(vitals_recording_account(recording)), 3);
    (void)vitals_recording_seconds(recording, &count);
    CHECK(count >= 2);
    vitals_recording_close(recording);
    vitals_account_free(account);
    folder_remove(&folder);
    CHECK_INT(vitals_run_recorder_close(NULL, NULL, NULL), 0);
}

/* A write beyond RLIMIT_FSIZE is an error of the call, and no signal ends the program. */
static void a_full_disk_is_an_error(void)
{
    struct rlimit before, small;
    vitals_error error = {.message = ""};
    vitals_recorder *recorder = NULL;
    struct sampling sampling = sampling_open();
    struct folder folder;
    folder_make(&folder, "a.csv");
    vitals_recorder_options options = options_for(folder.file, NULL);
    CHECK_OK(vitals_recorder_open(&options, &recorder, &error), error);
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){2000, before.rlim_max};
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &small), 0);
    int code = 0;
    for (int i = 0; i < 100 && code == 0; i++)
        code = record_one(&sampling, recorder, &error);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
    CHECK_INT(code, VITALS_ESYSTEM);
    CHECK_CONTAINS(error.message, "a.csv");
    (void)vitals_recorder_close(recorder, &error);
    sampling_close(&sampling);
    folder_remove(&folder);
}

/* A forked child can neither write nor end the file, and its parent goes on. */
static void a_forked_child_writes_nothing(void)
{
    vitals_error error = {.message = ""};
    vitals_recorder *recorder = NULL;
    vitals_run_recorder *of_run = NULL;
    vitals_recording *recording = NULL;
    struct folder folder, other;
    size_t count = 0;
    int status = 0;
    folder_make(&folder, "a.db");
    folder_make(&other, "b.db");
    vitals_recorder_options options = options_for(folder.file, "vitals");
    vitals_recorder_options of_other = options_for(other.file, "vitals");
    struct sampling sampling = sampling_open();
    CHECK_OK(vitals_recorder_open(&options, &recorder, &error), error);
    CHECK_OK(vitals_run_recorder_open(&of_other, &of_run, &error), error);
    CHECK_OK(record_one(&sampling, recorder, &error), error);
    vitals_snapshot *snapshot = NULL;
    vitals_account *account = NULL;
    CHECK_OK(vitals_sampler_take(sampling.sampler, &snapshot, &error), error);
    CHECK_OK(vitals_usage_account(sampling.usage, &account, &error), error);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        const vitals_mark mark = {.begins = 1, .name = "step"};
        const vitals_text text = {"a", 1};
        bool refused = vitals_recorder_sample(recorder, snapshot, sampling.usage, NULL) ==
                           VITALS_EARGUMENT &&
                       vitals_recorder_set(recorder, "command", text, NULL) == VITALS_EARGUMENT &&
                       vitals_recorder_mark(recorder, &mark, NULL) == VITALS_EARGUMENT &&
                       vitals_recorder_put_account(recorder, account, NULL) == VITALS_EARGUMENT &&
                       vitals_recorder_close(recorder, NULL) == VITALS_EARGUMENT &&
                       vitals_run_recorder_set(of_run, "command", text, NULL) == VITALS_EARGUMENT &&
                       vitals_run_recorder_close(of_run, account, NULL) == VITALS_EARGUMENT;
        _exit(refused ? 7 : 1);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 7);
    vitals_snapshot_unref(snapshot);
    for (int i = 0; i < 2; i++) {
        (void)usleep(20000);
        CHECK_OK(record_one(&sampling, recorder, &error), error);
    }
    CHECK_OK(vitals_recorder_put_account(recorder, account, &error), error);
    CHECK_OK(vitals_recorder_close(recorder, &error), error);
    CHECK_OK(vitals_run_recorder_close(of_run, NULL, &error), error);
    vitals_account_free(account);
    sampling_close(&sampling);
    CHECK_OK(vitals_recording_open(folder.file, NULL, 0, &recording, &error), error);
    (void)vitals_recording_seconds(recording, &count);
    CHECK_UINT(count, 3);
    CHECK_STR(vitals_recording_problem(recording), "");
    vitals_recording_close(recording);
    folder_remove(&folder);
    folder_remove(&other);
}

static const check_test tests[] = {
    {"a forked child writes nothing", a_forked_child_writes_nothing},
    {"every form comes back", every_form_comes_back},
    {"snapshots are kept, and found by time", snapshots_are_kept_and_found},
    {"a run is recorded", a_run_is_recorded},
    {"a full disk is an error", a_full_disk_is_an_error},
};
CHECK_TESTS(tests)
