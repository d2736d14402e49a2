/* The exporter as a program uses it, with scripts in the place of the exporter's own program. */
#include "library_world.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define SOON_NS UINT64_C(60000000000) /* a busy machine */

/* What a program is told stands in `output` once it has read all. */
#define TAKES "cat > output.part; mv output.part output; "
#define DONE  "echo '{\"done\":true}'"

static struct folder folder;

static void write_program(const char *script)
{
    folder_make(&folder, "tell");
    FILE *file = fopen(folder.file, "w");
    CHECK_NOT_NULL(file);
    CHECK(fprintf(file, "#!/bin/sh\ncd %s || exit 1\n%s\n", folder.path, script) > 0);
    CHECK_INT(fclose(file), 0);
    CHECK_INT(chmod(folder.file, 0700), 0);
}

static vitals_exporter_options options_of(const char *script)
{
    vitals_exporter_options options;
    vitals_exporter_options_init(&options, sizeof options);
    write_program(script);
    options.program = folder.file;
    options.tensorboard = "/nowhere";
    return options;
}

static vitals_exporter *open_with(const vitals_exporter_options *options)
{
    vitals_error error = {.message = ""};
    vitals_exporter *exporter = NULL;
    CHECK_OK(vitals_exporter_open(options, &exporter, &error), error);
    return exporter;
}

static vitals_exporter *open_script(const char *script)
{
    vitals_exporter_options options = options_of(script);
    return open_with(&options);
}

static char *output(void)
{
    static char bytes[4 << 20];
    char path[96];
    (void)snprintf(path, sizeof path, "%s/output", folder.path);
    FILE *file = fopen(path, "r");
    CHECK_NOT_NULL(file);
    bytes[fread(bytes, 1, sizeof bytes - 1, file)] = '\0';
    CHECK_INT(fclose(file), 0);
    return bytes;
}

/* A snapshot with what the exporter wants. */
static vitals_snapshot *snapshot_for(const vitals_exporter *exporter)
{
    vitals_error error = {.message = ""};
    vitals_context *context = demo_context();
    vitals_request *request = NULL;
    vitals_sampler *sampler = NULL;
    vitals_snapshot *snapshot = NULL;
    CHECK_OK(vitals_request_new(0, &request, &error), error);
    CHECK_OK(vitals_exporter_request(exporter, request, &error), error);
    CHECK_OK(vitals_sampler_new(context, request, &sampler, &error), error);
    CHECK_OK(vitals_sampler_take(sampler, &snapshot, &error), error);
    vitals_sampler_free(sampler);
    vitals_request_free(request);
    vitals_context_free(context);
    return snapshot;
}

static vitals_account *account_of(const char *json)
{
    vitals_error error = {.message = ""};
    vitals_account *account = NULL;
    CHECK_OK(vitals_account_read_json(json, strlen(json), &account, &error), error);
    return account;
}

/* The configuration, each sample with a usage, the account without its command line. */
static void all_that_is_told_arrives(void)
{
    static char train[] = "/opt/bin/train", option[] = "--password", secret[] = "hunter2";
    static char *const argv[] = {train, option, secret, NULL};
    vitals_error error = {.message = ""};
    vitals_exporter_options options = options_of(TAKES DONE);
    options.mlflow = "http://127.0.0.1:9";
    options.mlflow_run_name = "first \"run\"";
    options.mlflow_max_cpus = 2.5;
    options.argv = argv;
    vitals_exporter *exporter = open_with(&options);
    vitals_snapshot *snapshot = snapshot_for(exporter);
    CHECK_INT(vitals_exporter_sample(exporter, snapshot, NULL, &error), 1);
    vitals_snapshot_unref(snapshot);
    vitals_account *account = account_of(
        "{\"schema\":1,\"exit_code\":3,\"signal\":0,\"attributes\":{\"command\":\"train hunter2\","
        "\"exit\":\"3\"},\"figures\":[]}");
    CHECK_INT(vitals_exporter_account(exporter, account, &error), 1);
    vitals_account_free(account);
    CHECK_INT(vitals_exporter_file(exporter, "/tmp/a \"page\"", &error), 1);
    CHECK_UINT(vitals_exporter_dropped(exporter), 0);
    CHECK_OK(vitals_exporter_close(exporter, SOON_NS, &error), error);

    static const char *const PARTS[] = {
        "{\"tell\":1,\"program\":\"run\",",
        "\"name\":\"train\"",
        "\"run_name\":\"first \\\"run\\\"\"",
        "\"max_cpus\":2.5",
        "\"tensorboard\":{\"folder\":\"/nowhere\"}",
        "\n{\"schema\":1,",
        "\n{\"usage\":{\"realtime_ns\":",
        "[\"system\",\"system\",\"memory_total_bytes\",\"have\",",
        "\n{\"account\":{",
        "\"status\":{\"state\":\"exited\",\"code\":3,\"signal\":0}}\n",
        "\n{\"artifacts\":[\"/tmp/a \\\"page\\\"\"]}\n",
        "\n{\"until_ns\":\"",
    };
    char *text = output(), *at = text;
    for (size_t i = 0; i < CHECK_COUNT(PARTS); i++) {
        CHECK_CASE(PARTS[i]);
        at = strstr(at, PARTS[i]);
        CHECK_NOT_NULL(at);
    }
    CHECK_NULL(strstr(text, "hunter2"));
    folder_remove(&folder);
}

static void replies_become_states(void)
{
    vitals_error error = {.message = ""};
    vitals_exporter_options options = options_of(
        "echo '{\"opened\":\"mlflow\",\"run_id\":\"4711\",\"url\":\"http://there/4711\"}'\n"
        "echo '{\"failed\":\"otlp\",\"message\":\"no such host\"}'\n"
        "read hello; read go; echo '{\"opened\":\"tensorboard\"}'; " TAKES DONE);
    options.mlflow = options.otlp = "";
    vitals_exporter *exporter = open_with(&options);
    CHECK_INT(vitals_exporter_wait(exporter, 0, &error), 0);
    vitals_snapshot *snapshot = snapshot_for(exporter);
    CHECK_INT(vitals_exporter_sample(exporter, snapshot, NULL, &error), 1);
    vitals_snapshot_unref(snapshot);
    CHECK_INT(vitals_exporter_wait(exporter, SOON_NS, &error), 1);
    CHECK_INT(vitals_exporter_state(exporter, VITALS_EXPORT_MLFLOW), VITALS_EXPORT_WORKS);
    CHECK_INT(vitals_exporter_state(exporter, VITALS_EXPORT_OTLP), VITALS_EXPORT_FAILED);
    CHECK_INT(vitals_exporter_state(exporter, VITALS_EXPORT_TENSORBOARD), VITALS_EXPORT_WORKS);
    CHECK_INT(vitals_exporter_state(exporter, VITALS_EXPORT_TEXTFILE), VITALS_EXPORT_OFF);
    CHECK_INT(vitals_exporter_state(exporter, (vitals_export_target)99), VITALS_EXPORT_OFF);
    CHECK_STR(vitals_exporter_run_id(exporter), "4711");
    CHECK_STR(vitals_exporter_run_page(exporter), "http://there/4711");
    CHECK_STR(vitals_exporter_message(exporter), "otlp: no such host");
    CHECK_INT(vitals_exporter_close(exporter, SOON_NS, &error), VITALS_ESYSTEM);
    CHECK_CONTAINS(error.message, "no such host");
    folder_remove(&folder);
}

/* A message alone is no loss; one that says so is. */
static void a_loss_is_told_at_the_close(void)
{
    vitals_error error = {.message = ""};
    vitals_exporter *exporter = open_script("cat > /dev/null; echo '{\"say\":\"try again\"}'; "
                                            "echo a library warns >&2; " DONE);
    CHECK_OK(vitals_exporter_close(exporter, SOON_NS, &error), error);
    folder_remove(&folder);
    exporter = open_script(
        "cat > /dev/null; echo '{\"say\":\"7 are lost\",\"lost\":\"yes\"}'; " DONE);
    CHECK_INT(vitals_exporter_close(exporter, SOON_NS, &error), VITALS_ESYSTEM);
    CHECK_STR(error.message, "7 are lost");
    folder_remove(&folder);
    exporter = open_script("cat > /dev/null; echo '{\"say\":\"7 are lost\",\"lost\":\"yes\"}'; "
                           "echo a library warns >&2; " DONE);
    CHECK_INT(vitals_exporter_close(exporter, SOON_NS, &error), VITALS_ESYSTEM);
    CHECK_STR(error.message, "7 are lost");
    folder_remove(&folder);
}

/* No wait is too long to be added to the clock. */
static void forever_is_a_wait(void)
{
    vitals_error error = {.message = ""};
    vitals_exporter *exporter = open_script("sleep 0.3; echo '{\"opened\":\"tensorboard\"}'; " TAKES
                                            "sleep 0.3; " DONE);
    CHECK_INT(vitals_exporter_wait(exporter, VITALS_FOREVER, &error), 1);
    CHECK_OK(vitals_exporter_close(exporter, VITALS_FOREVER, &error), error);
    folder_remove(&folder);
}

/* The exporter has its patience, however short the caller waits. */
static void a_short_wait_ends_nothing(void)
{
    vitals_error error = {.message = ""};
    vitals_exporter *exporter = open_script(TAKES DONE);
    pid_t pid = (pid_t)vitals_exporter_pid(exporter);
    int code = vitals_exporter_close(exporter, 1000000, &error);
    CHECK(code == 0 || code == VITALS_ETIMEOUT);
    for (int tries = 0; kill(pid, 0) == 0 && tries < 60000; tries++)
        (void)usleep(1000);
    CHECK_NULL(strstr(output(), "until_ns"));
    folder_remove(&folder);
}

/* Standard input, output and error are not ours, also where they are closed. */
static void no_standard_descriptor_is_needed(void)
{
    for (int closed = 1; closed < 8; closed++) {
        vitals_exporter_options options = options_of(TAKES DONE);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            vitals_exporter *exporter = NULL;
            for (int descriptor = 0; descriptor < 3; descriptor++) {
                if ((closed >> descriptor & 1) != 0)
                    close(descriptor);
            }
            if (vitals_exporter_open(&options, &exporter, NULL) < 0)
                _exit(1);
            for (int descriptor = 0; descriptor < 3; descriptor++) {
                if ((closed >> descriptor & 1) != 0 && fcntl(descriptor, F_GETFD) >= 0)
                    _exit(2);
            }
            if (vitals_exporter_file(exporter, "/page", NULL) != 1)
                _exit(3);
            _exit(vitals_exporter_close(exporter, SOON_NS, NULL) == 0 ? 7 : 4);
        }
        int status = 0;
        CHECK_INT(waitpid(child, &status, 0), child);
        CHECK(WIFEXITED(status));
        CHECK_INT(WEXITSTATUS(status), 7);
        CHECK_CONTAINS(output(), "\n{\"artifacts\":[\"/page\"]}\n");
        folder_remove(&folder);
    }
}

/* One that reads nothing costs samples, never the caller's time; it is left behind. */
static void nothing_waits_for_a_program_that_hangs(void)
{
    vitals_error error = {.message = ""};
    vitals_exporter *exporter = open_script("echo $$ > pid; exec sleep 600");
    vitals_snapshot *snapshot = snapshot_for(exporter);
    int sent = 1, tries = 0;
    while (sent == 1 && ++tries < 10000)
        sent = vitals_exporter_sample(exporter, snapshot, NULL, &error);
    CHECK_INT(sent, 0);
    CHECK_UINT(vitals_exporter_dropped(exporter), 1);
    CHECK_INT(vitals_exporter_wait(exporter, 0, &error), 0);
    vitals_snapshot_unref(snapshot);
    pid_t pid = (pid_t)vitals_exporter_pid(exporter);
    CHECK(pid > 0);
    CHECK_INT(vitals_exporter_close(exporter, 0, &error), VITALS_ETIMEOUT);
    CHECK_CONTAINS(error.message, "not done in time");
    CHECK_INT(kill(pid, SIGKILL), 0);
    folder_remove(&folder);
}

/* With SIGPIPE at its default, which would end this test. */
static void a_program_that_dies_costs_its_lines(void)
{
    vitals_error error = {.message = ""};
    vitals_exporter *exporter = open_script("exit 3");
    vitals_snapshot *snapshot = snapshot_for(exporter);
    CHECK(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    while (vitals_exporter_wait(exporter, SOON_NS, &error) != VITALS_EGONE)
        ;
    while (vitals_exporter_sample(exporter, snapshot, NULL, &error) > 0)
        ;
    CHECK(vitals_exporter_dropped(exporter) > 0);
    vitals_snapshot_unref(snapshot);
    CHECK_INT(vitals_exporter_close(exporter, SOON_NS, &error), VITALS_EGONE);
    folder_remove(&folder);
}

/* No child to wait for, no handler of a signal, no descriptor that a command would inherit. */
static void the_process_stays_as_it_was(void)
{
    vitals_error error = {.message = ""};
    enum { MOST = 64 };
    struct sigaction before[NSIG], after;
    bool open_before[MOST];
    for (int descriptor = 0; descriptor < MOST; descriptor++)
        open_before[descriptor] = fcntl(descriptor, F_GETFD) >= 0;
    for (int number = 1; number < NSIG; number++)
        (void)sigaction(number, NULL, &before[number]);
    vitals_exporter *exporter = open_script(TAKES DONE);
    CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
    CHECK_INT(errno, ECHILD);
    for (int number = 1; number < NSIG; number++) {
        if (sigaction(number, NULL, &after) == 0) /* not those of the C library's own */
            CHECK(after.sa_handler == before[number].sa_handler);
    }
    int descriptors = 0;
    for (int descriptor = 0; descriptor < MOST; descriptor++) {
        int flags = open_before[descriptor] ? -1 : fcntl(descriptor, F_GETFD);
        descriptors += flags >= 0;
        CHECK(flags < 0 || (flags & FD_CLOEXEC) != 0);
    }
    CHECK(descriptors >= 2);
    CHECK_OK(vitals_exporter_close(exporter, SOON_NS, &error), error);
    for (int descriptor = 0; descriptor < MOST; descriptor++)
        CHECK(open_before[descriptor] || fcntl(descriptor, F_GETFD) < 0);
    folder_remove(&folder);
}

/* A forked child is refused, and its close is no end for the parent. */
static void a_forked_child_is_refused(void)
{
    vitals_request *request = NULL;
    const vitals_run_observer *observer = NULL;
    vitals_error error = {.message = ""};
    vitals_exporter *exporter = open_script(TAKES DONE);
    vitals_snapshot *snapshot = snapshot_for(exporter);
    CHECK_OK(vitals_request_new(0, &request, &error), error);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        bool refused = vitals_exporter_sample(exporter, snapshot, NULL, NULL) == VITALS_EARGUMENT &&
                       vitals_exporter_request(exporter, request, NULL) == VITALS_EARGUMENT &&
                       vitals_exporter_observer(exporter, NULL, &observer, NULL) ==
                           VITALS_EARGUMENT &&
                       vitals_exporter_wait(exporter, 0, NULL) == VITALS_EARGUMENT &&
                       vitals_exporter_file(exporter, "/", NULL) == VITALS_EARGUMENT &&
                       vitals_exporter_close(exporter, SOON_NS, NULL) == VITALS_EARGUMENT;
        _exit(refused ? 7 : 1);
    }
    int status = 0;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 7);
    vitals_request_free(request);
    CHECK_INT(vitals_exporter_sample(exporter, snapshot, NULL, &error), 1);
    vitals_snapshot_unref(snapshot);
    CHECK_OK(vitals_exporter_close(exporter, SOON_NS, &error), error);
    CHECK_CONTAINS(output(), "\n{\"usage\":");
    folder_remove(&folder);
}

static void mistakes_are_named(void)
{
    vitals_error error = {.message = ""};
    vitals_exporter *exporter = NULL;
    vitals_exporter_options plain;
    vitals_exporter_options_init(&plain, sizeof plain);
    CHECK_INT(vitals_exporter_open(&plain, &exporter, &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "no destination");
    const struct {
        const char *mlflow, *otlp, *textfile, *tensorboard, *command_line, *part;
    } CASES[] = {
        {.mlflow = "sqlite:///x.db", .part = "database"},
        {.otlp = "grpc://a", .part = "http://HOST:4318"},
        {.textfile = "x.txt", .part = ".prom"},
        {.tensorboard = "", .part = "folder"},
        {.tensorboard = "x", .command_line = "some", .part = "redacted"},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        vitals_exporter_options options = plain;
        options.mlflow = CASES[i].mlflow;
        options.otlp = CASES[i].otlp;
        options.textfile = CASES[i].textfile;
        options.tensorboard = CASES[i].tensorboard;
        options.command_line = CASES[i].command_line;
        CHECK_INT(vitals_exporter_open(&options, &exporter, &error), VITALS_EARGUMENT);
        CHECK_CONTAINS(error.message, CASES[i].part);
    }
    plain.tensorboard = "/tmp";
    plain.program = "/nowhere/tell";
    CHECK_INT(vitals_exporter_open(&plain, &exporter, &error), VITALS_EGONE);
    CHECK_CONTAINS(error.message, "/nowhere/tell");
    CHECK_NULL(exporter);
    CHECK_INT(vitals_exporter_close(NULL, 0, &error), 0);
}

/* A run beside a recording: both get every sample; the environment is the one that was given. */
static void a_run_is_observed(void)
{
    static char sleep[] = "sleep", seconds[] = "0.3";
    static char only[] = "OTEL_ONLY=this", path_is[] = "PATH=/usr/bin:/bin";
    static char *const argv[] = {sleep, seconds, NULL};
    static char *const environment[] = {only, path_is, NULL};
    vitals_error error = {.message = ""};
    vitals_run_recorder *recorder = NULL;
    vitals_account *account = NULL;
    vitals_recorder_options recorded;
    vitals_run_options options;
    struct folder place;
    vitals_exporter_options told = options_of("env > environment; " TAKES DONE);
    told.environment = environment;
    told.argv = argv;
    told.interval_ns = 50000000;
    vitals_exporter *exporter = open_with(&told);
    folder_make(&place, "run.csv");
    vitals_recorder_options_init(&recorded, sizeof recorded);
    recorded.path = place.file;
    CHECK_OK(vitals_run_recorder_open(&recorded, &recorder, &error), error);
    vitals_run_options_init(&options, sizeof options);
    options.argv = argv;
    options.interval_ns = 50000000;
    CHECK_OK(vitals_exporter_observer(exporter, vitals_run_recorder_observer(recorder),
                                      &options.observer, &error),
             error);
    CHECK_OK(vitals_run_command(&options, &account, &error), error);
    CHECK_INT(vitals_exporter_account(exporter, account, &error), 1);
    CHECK_OK(vitals_exporter_close(exporter, SOON_NS, &error), error);
    CHECK_OK(vitals_run_recorder_close(recorder, account, &error), error);
    vitals_account_free(account);

    vitals_recording *recording = NULL;
    size_t samples = 0, lines = 0;
    CHECK_OK(vitals_recording_open(place.file, NULL, 0, &recording, &error), error);
    (void)vitals_recording_seconds(recording, &samples);
    vitals_recording_close(recording);
    for (char *at = output(); (at = strstr(at, "\n{\"usage\":")) != NULL; at++)
        lines++;
    CHECK(samples > 0);
    CHECK_UINT(lines, samples);

    char path[96], line[64] = "";
    bool ours = false;
    (void)snprintf(path, sizeof path, "%s/environment", folder.path);
    FILE *file = fopen(path, "r");
    CHECK_NOT_NULL(file);
    while (fgets(line, sizeof line, file) != NULL) {
        ours |= strcmp(line, "OTEL_ONLY=this\n") == 0;
        CHECK(strncmp(line, "HOME=", 5) != 0);
    }
    CHECK_INT(fclose(file), 0);
    CHECK(ours);
    folder_remove(&place);
    folder_remove(&folder);
}

static const check_test tests[] = {
    {"all that is told arrives", all_that_is_told_arrives},
    {"replies become states", replies_become_states},
    {"a loss is told at the close", a_loss_is_told_at_the_close},
    {"forever is a wait", forever_is_a_wait},
    {"a short wait ends nothing", a_short_wait_ends_nothing},
    {"no standard descriptor is needed", no_standard_descriptor_is_needed},
    {"nothing waits for a program that hangs", nothing_waits_for_a_program_that_hangs},
    {"a program that dies costs its lines", a_program_that_dies_costs_its_lines},
    {"the process stays as it was", the_process_stays_as_it_was},
    {"a forked child is refused", a_forked_child_is_refused},
    {"mistakes are named", mistakes_are_named},
    {"a run is observed", a_run_is_observed},
};
CHECK_TESTS(tests)
