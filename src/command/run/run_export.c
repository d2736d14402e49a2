/* run_export.c: see run_export.h. */
#include "command/run/run_export.h"

#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/run_config.h"
#include "report/run_report.h"

/* Least wait for unsent data in pid 1 of a namespace, whose end kills the exporter. */
static const uint64_t FIRST_PROCESS_NS = 1000000000;

/* ---- the beginning ---- */

/* Variables through which the command's own MLflow client finds the run. */
enum { OWN_RUN, OWN_SERVER, OWN_EXPERIMENT, OWN_COUNT };

static const char *const OWN_NAMES[] = {[OWN_RUN] = "MLFLOW_RUN_ID=",
                                        [OWN_SERVER] = "MLFLOW_TRACKING_URI=",
                                        [OWN_EXPERIMENT] = "MLFLOW_EXPERIMENT_NAME="};

_Static_assert(ARRAY_COUNT(OWN_NAMES) == OWN_COUNT, "a name for each");
_Static_assert(sizeof((struct run_export *)0)->own / sizeof(char *) == OWN_COUNT, "and a place");

/* NULL or "" is not set; if memory is exhausted the command does not get the variable. */
static void set_own(struct run_export *observer, unsigned which, const char *value)
{
    struct buffer pair = {.bytes = NULL};
    if (value == NULL || value[0] == '\0')
        return;
    buffer_string(&pair, OWN_NAMES[which]);
    buffer_string(&pair, value);
    buffer_byte(&pair, '\0');
    if (pair.failed)
        buffer_done(&pair);
    free(observer->own[which]);
    observer->own[which] = pair.bytes;
}

/* Prints the address of the run, if it has one that a browser can open. */
static void say_page(const struct exporter *exporter)
{
    char safe[sizeof exporter->page];
    (void)vitals_text_format(vitals_text_of(exporter->page), VITALS_TEXT_ASCII, safe, sizeof safe);
    if (safe[0] != '\0')
        (void)command_fail(0, "mlflow: the run is at %s", safe);
}

static bool is_variable(const char *variable, const char *name)
{
    return strncmp(variable, name, strlen(name)) == 0;
}

/* True if the command does not get this variable of ours. A command that is to have its own run
 * must not find the enclosing run; and if an experiment was named, the identifier of another one
 * would make its MLflow client raise. */
static bool is_replaced(const struct run_export *observer, bool new_run, const char *variable)
{
    for (unsigned i = 0; i < OWN_COUNT; i++) {
        if (observer->own[i] != NULL && is_variable(variable, OWN_NAMES[i]))
            return true;
    }
    return (new_run && is_variable(variable, OWN_NAMES[OWN_RUN])) ||
           (observer->own[OWN_EXPERIMENT] != NULL &&
            is_variable(variable, "MLFLOW_EXPERIMENT_ID="));
}

/* Waits until MLflow has a run or cannot have one, and makes the environment of the command. */
static void begin_mlflow(struct run_export *observer, const struct settings *settings)
{
    const struct mlflow_settings *mlflow = &settings->export.mlflow;
    const char *const *ours = settings->environment.variables;
    bool new_run = mlflow->run != NULL && strcmp(mlflow->run, MLFLOW_NEW_RUN) == 0;
    const char *named = new_run ? NULL : mlflow->run; /* known without asking MLflow */
    const char *id = NULL;                            /* "": there can be no run */
    struct exporter_message message;
    uint64_t now, deadline_ns = clock_now_ns() + settings->export.wait_ns;
    while (id == NULL && (now = clock_now_ns()) < deadline_ns) {
        char *line;
        int got = link_hear(observer->exporter.link, deadline_ns - now, &line);
        if (got < 0) {
            (void)command_fail(0, "mlflow: the exporter ended; nothing more is sent");
            observer->said_gone = true;
        }
        if (got <= 0)
            break;
        exporter_take(&observer->exporter, line, &message);
        if (strcmp(message.publisher, "mlflow") == 0)
            id = message.run_id;
    }
    set_own(observer, OWN_RUN, id != NULL ? id : named);
    set_own(observer, OWN_SERVER, mlflow->uri);
    set_own(observer, OWN_EXPERIMENT, mlflow->experiment);
    if (settings->look.verbose)
        say_page(&observer->exporter);

    /* A run that the environment names is continued. */
    bool known = observer->said_gone || named != NULL;
    size_t count = 0, used = 0;
    for (; ours != NULL && ours[count] != NULL; count++)
        known |= !new_run && is_variable(ours[count], OWN_NAMES[OWN_RUN]) &&
                 ours[count][strlen(OWN_NAMES[OWN_RUN])] != '\0';
    if (id == NULL && !known)
        (void)command_fail(0,
                           "mlflow: no run yet after %.3g s (--tell-wait); samples are sent once "
                           "the server has created one%s",
                           (double)settings->export.wait_ns / 1e9,
                           settings->arguments.command_argv != NULL
                               ? ", but the command begins without MLFLOW_RUN_ID"
                               : "");

    if ((observer->variables = calloc(count + OWN_COUNT + 1, sizeof *ours)) == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        if (!is_replaced(observer, new_run, ours[i]))
            observer->variables[used++] = ours[i];
    }
    for (unsigned i = 0; i < OWN_COUNT; i++) {
        if (observer->own[i] != NULL)
            observer->variables[used++] = observer->own[i];
    }
}

void run_export_init(struct run_export *observer, const struct settings *settings)
{
    char own_user[EXPORT_USER];
    const struct export_job job = {.argv = settings->arguments.command_argv};
    vitals_exporter_options options;
    vitals_error error;
    *observer = (struct run_export){.variables = NULL};
    if (!exporters_asked(&settings->export))
        return;
    export_options(settings, &job, own_user, &options);
    if (run_sender_init(&observer->sender, &options, &error) < 0)
        (void)command_fail(0, "not everything is exported: %s", error.message);
}

void run_export_observe(struct run_export *observer, vitals_run_options *options)
{
    vitals_error error;
    run_sender_observe(&observer->sender);
    if (options->observer == NULL)
        options->observer = &observer->sender.face;
    else if (observer_pair_init(&observer->pair, options->observer, &observer->sender.face,
                                &error) == 0)
        options->observer = &observer->pair.face;
    else
        (void)command_fail(0, "no samples are exported: %s", error.message);
}

void run_export_sample(struct run_export *observer, const vitals_snapshot *snapshot,
                       const vitals_usage *usage)
{
    (void)run_sender_sample(&observer->sender, snapshot, usage);
}

int64_t run_export_pid(const struct run_export *observer)
{
    return observer->exporter.link != NULL ? link_pid(observer->exporter.link) : 0;
}

/* Formats the name of a running process as process lists show it, safe to print: the kernel's name,
 * or if that may be cut, the program's file name if it begins with it; "" if it cannot be read. */
static void process_title(const struct machine_settings *machine, int64_t pid, char *out,
                          size_t size)
{
    enum { KERNEL_NAME = 15 }; /* bytes that the kernel keeps of a name */
    vitals_context *context = NULL;
    vitals_process *process = NULL;
    vitals_request *request = NULL;
    vitals_snapshot *answer = NULL;
    vitals_error error;
    vitals_text name, path;
    out[0] = '\0';
    static const vitals_metric METRICS[] = {VITALS_PROCESS_NAME, VITALS_PROCESS_EXECUTABLE, 0};
    int code = command_request(METRICS, NULL, &request, &error);
    if (code == 0)
        code = command_context(machine, &context, &error);
    if (code == 0)
        code = vitals_process_open(context, pid, &process, &error);
    if (code == 0)
        code = vitals_process_ask(process, request, &answer, &error);
    const vitals_row *row = code == 0 ? vitals_snapshot_row(answer, VITALS_TABLE_PROCESS, 0) : NULL;
    if (row != NULL && vitals_row_text(row, VITALS_PROCESS_NAME, &name) > 0) {
        if (name.size >= KERNEL_NAME &&
            vitals_row_text(row, VITALS_PROCESS_EXECUTABLE, &path) > 0) {
            const char *slash = memrchr(path.bytes, '/', path.size);
            size_t folder = slash != NULL ? (size_t)(slash + 1 - path.bytes) : 0;
            path = (vitals_text){path.bytes + folder, path.size - folder};
            if (path.size > name.size && memcmp(path.bytes, name.bytes, name.size) == 0)
                name = path;
        }
        (void)vitals_text_format(name, VITALS_TEXT_TERMINAL, out, size);
    }
    vitals_snapshot_unref(answer);
    vitals_process_close(process);
    vitals_context_free(context);
    vitals_request_free(request);
}

bool run_export_begin(struct run_export *observer, const struct settings *settings,
                      const struct export_job *job)
{
    struct buffer config = {.bytes = NULL};
    struct export_job named_job = *job;
    vitals_exporter_options options;
    vitals_error error;
    char name[256] = "", folder[4096], own_user[EXPORT_USER];
    if (!exporters_asked(&settings->export))
        return false;
    if (job->argv == NULL && job->pid > 0) {
        process_title(&settings->machine, job->pid, name, sizeof name);
        named_job.name = name;
    }
    export_options(settings, &named_job, own_user, &options);
    const char *state = settings->environment.state_folder;
    int size = snprintf(folder, sizeof folder, "%s/vitals/unsent", state);
    if (state[0] != '\0' && size > 0 && (size_t)size < sizeof folder)
        options.mlflow_unsent = folder;
    run_config_write(job->program, &options, &config);
    if (exporter_open(&observer->exporter, &settings->export, &config, -1) != 0)
        return false; /* a message was printed */
    if (run_sender_begin(&observer->sender, observer->exporter.link, settings->sampling.interval_ns,
                         &error) < 0)
        (void)command_fail(0, "no samples are exported: %s", error.message);
    if (settings->export.mlflow.uri != NULL)
        begin_mlflow(observer, settings);
    return true;
}

/* ---- the page ---- */

/* The page of `vitals report` for upload: of a recording if there is one, else of the account. It
 * contains no command line except its title, which --cmdline controls. Until it was sent it lies in
 * a folder of its own that only this user can read. */
struct run_page {
    const char *title;             /* NULL: none */
    uint64_t deadline_ns;          /* monotonic */
    int interrupts;                /* once this is readable there is no time left; -1: none */
    char folder[4096], path[4200]; /* "": none */
};

static int create_private(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

static uint64_t page_left_ns(const struct run_page *page)
{
    struct pollfd interrupt = {.fd = page->interrupts, .events = POLLIN};
    uint64_t now = clock_now_ns();
    return now < page->deadline_ns && poll(&interrupt, 1, 0) <= 0 ? page->deadline_ns - now : 0;
}

struct page_printer {
    const struct run_page *page;
    struct output *output;
};

static int write_in_time(void *data, const char *bytes, size_t size)
{
    struct page_printer *printer = data;
    return page_left_ns(printer->page) > 0 ? output_write(printer->output, bytes, size) : -1;
}

static bool draw_page(const char *source, const struct run_page *page,
                      const struct account_view *view)
{
    struct recording *recording;
    vitals_error error;
    if (recording_open(source, &recording, &error) < 0)
        return false;
    const struct run_report report = {.recording = recording,
                                      .path = source,
                                      .view = view,
                                      .for_others = true,
                                      .title = page->title};
    int descriptor = create_private(page->path);
    struct page_printer printer = {page, output_begin(descriptor)};
    bool made = descriptor >= 0 &&
                run_report_write(&report, VITALS_REPORT_HTML, write_in_time, &printer) == 0;
    made = descriptor >= 0 && output_flush(printer.output) == 0 && made;
    made = descriptor >= 0 && close(descriptor) == 0 && made;
    recording_close(recording);
    return made;
}

static void remove_page(struct run_page *page)
{
    if (page->folder[0] == '\0')
        return;
    if (page->path[0] != '\0')
        (void)unlink(page->path);
    (void)rmdir(page->folder);
    page->folder[0] = page->path[0] = '\0';
}

/* If the recording is too long for the remaining time, the page shows only the account (its JSON),
 * and a message says so. Returns false on failure. */
static bool make_page(struct run_page *page, const char *temporary, const struct account_view *view,
                      const char *recording, const char *account)
{
    char json[sizeof page->path];
    page->folder[0] = page->path[0] = '\0';
    if (page_left_ns(page) == 0)
        return false;
    int length = snprintf(page->folder, sizeof page->folder, "%s/vitals-XXXXXX", temporary);
    if (length < 0 || (size_t)length >= sizeof page->folder || mkdtemp(page->folder) == NULL) {
        page->folder[0] = '\0';
        return false;
    }
    (void)snprintf(json, sizeof json, "%s/account.json", page->folder);
    (void)snprintf(page->path, sizeof page->path, "%s/report.html", page->folder);
    /* True if a recording can be read and drawn in the remaining time: a slow CPU does 2 MB in a
     * second. */
    static const uint64_t NS_PER_BYTE = 500;
    struct stat status;
    bool whole = recording == NULL || (stat(recording, &status) == 0 && status.st_size >= 0 &&
                                       (uint64_t)status.st_size < page_left_ns(page) / NS_PER_BYTE);
    bool made = recording != NULL && whole && draw_page(recording, page, view);
    if (!whole)
        (void)command_fail(0, "the exported page has no charts: the recording is long; a longer "
                              "--tell-wait gives time for them");
    if (!made) {
        (void)unlink(page->path);
        int file = create_private(json);
        struct output *output = output_begin(file);
        output_text(output, account);
        made = file >= 0 && output_flush(output) == 0;
        made = file >= 0 && close(file) == 0 && made && draw_page(json, page, view);
        (void)unlink(json);
    }
    if (!made)
        remove_page(page);
    return made;
}

/* ---- the end ---- */

static void say_end(const struct run_export *observer, const struct settings *settings,
                    enum link_end end)
{
    const char *state_folder = settings->environment.state_folder;
    uint64_t dropped = run_sender_dropped(&observer->sender);
    if (dropped > 0 && end != LINK_GONE)
        (void)command_fail(0,
                           "%llu samples or accounts were not exported: the exporter did "
                           "not take them in time",
                           (unsigned long long)dropped);
    const char *what = end == LINK_GONE && !observer->said_gone
                           ? "the exporter ended before everything was sent"
                       : end == LINK_LEFT ? "the exporter was not done in time and goes on alone"
                                          : NULL;
    if (what != NULL && settings->export.mlflow.uri != NULL && state_folder[0] != '\0')
        (void)command_fail(0,
                           "%s; to send the rest to MLflow later: vitals send "
                           "%s/vitals/unsent/*.spool",
                           what, command_safe(state_folder));
    else if (what != NULL)
        (void)command_fail(0, "%s", what);
}

/* True in pid 1 of a namespace: when it ends, the kernel kills the namespace's other processes. */
static bool is_first_process(void)
{
    return getpid() == 1;
}

void run_export_take_interrupts(struct run_export *observer)
{
    if (observer->exporter.link == NULL || observer->held)
        return;
    observer->held = true;
    observer->interrupts = command_last_interrupts();
    if (is_first_process())
        observer->interrupts = -1;
    link_hurry_by(observer->exporter.link, observer->interrupts);
}

void run_export_end(struct run_export *observer, const struct settings *settings,
                    const vitals_account *account, const char *recording)
{
    static struct run_page page; /* too large for the stack */
    uint64_t wait_ns = settings->export.wait_ns;
    if (observer->exporter.link == NULL)
        return;
    run_export_take_interrupts(observer);
    if (is_first_process() && wait_ns < FIRST_PROCESS_NS)
        wait_ns = FIRST_PROCESS_NS;
    page.deadline_ns = clock_now_ns() + wait_ns;
    page.interrupts = observer->interrupts;

    json_t *document = run_sender_account_of(account, settings->export.command_line);
    char *account_json = document != NULL ? json_dumps(document, JSON_COMPACT) : NULL;
    page.title = json_string_value(
        json_object_get(json_object_get(document, "attributes"), "command"));
    if (observer->sender.link != NULL)
        (void)run_sender_account(&observer->sender, account, document, wait_ns, page.deadline_ns);
    if (observer->sender.link != NULL && account_json != NULL &&
        settings->export.mlflow.uri != NULL) {
        const struct account_view view = command_account_view(&settings->look, &settings->account);
        if (make_page(&page, settings->environment.temporary, &view, recording, account_json))
            (void)run_sender_file(&observer->sender, page.path, clock_left_ns(page.deadline_ns));
    }
    free(account_json);
    say_end(observer, settings,
            exporter_close(&observer->exporter, clock_left_ns(page.deadline_ns), false));
    if (!settings->run.quiet)
        say_page(&observer->exporter);
    remove_page(&page);
    json_decref(document);
}

void run_export_done(struct run_export *observer)
{
    (void)exporter_close(&observer->exporter, 0, false);
    observer_pair_done(&observer->pair);
    run_sender_done(&observer->sender);
    for (unsigned i = 0; i < OWN_COUNT; i++)
        free(observer->own[i]);
    free(observer->variables);
    *observer = (struct run_export){.variables = NULL};
}
