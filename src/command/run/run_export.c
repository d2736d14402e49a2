/* run_export.c: see run_export.h. */
#include "command/run/run_export.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "export/clock.h"
#include "export/redact.h"
#include "export/usage_line.h"

static const uint64_t ROOM_NS = 50000000, END_NS = 200000000;
static const uint64_t HEARD_NS = 500000000, FIRST_PROCESS_NS = 1000000000;

/* ---- in the sampler's process ---- */

static bool send_line(struct run_telling *telling, uint64_t wait_ns)
{
    struct text *line = &telling->line;
    bool sent = !line->failed &&
                link_write(telling->telling.link, line->bytes, line->size, wait_ns);
    text_reset(line);
    return sent;
}

static void count_dropped(struct run_telling *telling, bool sent)
{
    if (!sent && telling->dropped != NULL)
        atomic_fetch_add(telling->dropped, 1);
}

void run_telling_sample(struct run_telling *telling, const vitals_snapshot *snapshot,
                        const vitals_usage *usage)
{
    if (telling->telling.link == NULL)
        return;
    text_reset(&telling->line);
    if (vitals_snapshot_json(snapshot, text_write, &telling->line, NULL) < 0)
        return;
    text_byte(&telling->line, '\n');
    bool sent = send_line(telling, telling->wait_ns);
    usage_line_write(&telling->line, snapshot, usage);
    sent = send_line(telling, telling->wait_ns) && sent;
    count_dropped(telling, sent);
}

static int sample(void *data, const vitals_snapshot *snapshot, const vitals_usage *usage,
                  vitals_error *error)
{
    (void)error;
    run_telling_sample(data, snapshot, usage);
    return 0;
}

static int mark(void *data, const vitals_mark *told, vitals_error *error)
{
    struct run_telling *telling = data;
    struct text *line = &telling->line;
    (void)error;
    if (telling->telling.link == NULL)
        return 0;
    text_reset(line);
    text_format(line, "{\"mark\":{\"begins\":%s,\"name\":\"", told->begins != 0 ? "true" : "false");
    text_safe(line, (vitals_text){told->name, strlen(told->name)}, VITALS_TEXT_JSON);
    text_format(line, "\",\"monotonic_ns\":\"%llu\",\"pid\":%lld,\"tid\":%lld}}\n",
                (unsigned long long)told->monotonic_ns, (long long)told->pid, (long long)told->tid);
    count_dropped(telling, send_line(telling, telling->wait_ns));
    return 0;
}

static int end(void *data, vitals_error *error)
{
    struct run_telling *telling = data;
    (void)error;
    if (telling->telling.link != NULL)
        count_dropped(telling, link_flush(telling->telling.link, END_NS));
    return 0;
}

/* ---- the beginning ---- */

/* What the processes work for: a job of a cluster, a pod, a container. */
static int add_work(vitals_request *request, vitals_error *error)
{
    static const vitals_metric METRICS[] = {
        VITALS_PROCESS_WORKLOAD,      VITALS_WORKLOAD_ID,
        VITALS_WORKLOAD_KIND,         VITALS_WORKLOAD_USER,
        VITALS_WORKLOAD_SLURM_JOB_ID, VITALS_WORKLOAD_SLURM_STEP_ID,
        VITALS_WORKLOAD_SLURM_SLUID,  VITALS_WORKLOAD_K8S_NAMESPACE_NAME,
        VITALS_WORKLOAD_K8S_POD_NAME, VITALS_WORKLOAD_K8S_CONTAINER_NAME,
        VITALS_WORKLOAD_CONTAINER_ID, VITALS_WORKLOAD_UNIT,
    };
    int code = 0;
    for (size_t i = 0; i < sizeof METRICS / sizeof METRICS[0] && code == 0; i++)
        code = vitals_request_add(request, METRICS[i], error);
    return code;
}

/* The machine, its devices, and who the processes are. */
static int make_request(struct run_telling *telling, const struct argument_settings *arguments,
                        const struct export_settings *export, vitals_error *error)
{
    int code = vitals_request_new(VITALS_MACHINE | VITALS_GPUS, &telling->request, error);
    if (code == 0)
        code = vitals_request_add(telling->request, VITALS_PROCESS_NAME, error);
    if (code == 0)
        code = vitals_request_add(telling->request, VITALS_FILESYSTEM_MOUNT_POINT, error);
    if (code == 0)
        code = vitals_request_add(telling->request, VITALS_FILESYSTEM_USED_BYTES, error);
    if (code == 0)
        code = vitals_request_add(telling->request, VITALS_FILESYSTEM_AVAILABLE_BYTES, error);
    /* Whether our own limits are theirs, which we did not begin. */
    if (code == 0 && export->mlflow.uri != NULL && arguments->command_argv == NULL)
        code = vitals_request_add(telling->request, VITALS_PROCESS_CGROUP, error);
    if (code == 0 && strcmp(telling->policy, "off") != 0)
        code = vitals_request_add(telling->request, VITALS_PROCESS_COMMAND_LINE, error);
    return code == 0 && export->otlp != NULL ? add_work(telling->request, error) : code;
}

/* What the command's own client of MLflow finds the run by. */
enum { OWN_RUN, OWN_SERVER, OWN_EXPERIMENT, OWN_COUNT };

static const char *const OWN_NAMES[] = {[OWN_RUN] = "MLFLOW_RUN_ID=",
                                        [OWN_SERVER] = "MLFLOW_TRACKING_URI=",
                                        [OWN_EXPERIMENT] = "MLFLOW_EXPERIMENT_NAME="};

_Static_assert(sizeof OWN_NAMES / sizeof OWN_NAMES[0] == OWN_COUNT, "a name for each");
_Static_assert(sizeof((struct run_telling *)0)->own / sizeof(char *) == OWN_COUNT, "and a place");

/* NULL or "" is nothing to know; without memory the command does not know it. */
static void set_own(struct run_telling *telling, unsigned which, const char *value)
{
    struct text pair = {.bytes = NULL};
    if (value == NULL || value[0] == '\0')
        return;
    text_string(&pair, OWN_NAMES[which]);
    text_string(&pair, value);
    text_byte(&pair, '\0');
    if (pair.failed)
        text_done(&pair);
    free(telling->own[which]);
    telling->own[which] = pair.bytes;
}

static bool wants_new_run(const struct mlflow_settings *mlflow)
{
    return mlflow->run != NULL && strcmp(mlflow->run, MLFLOW_NEW_RUN) == 0;
}

/* Its id, "" where it cannot have one; NULL: nobody has said so in time. */
static const char *hear_run(struct run_telling *telling, const struct export_settings *export,
                            struct heard *heard)
{
    uint64_t now, deadline_ns = clock_now_ns() + export->wait_ns;
    while ((now = clock_now_ns()) < deadline_ns) {
        char *line;
        int got = link_hear(telling->telling.link, deadline_ns - now, &line);
        if (got < 0) {
            (void)command_fail(0, "mlflow: the program that tells it has ended");
            telling->said_gone = true;
            return NULL;
        }
        if (got == 0)
            break;
        telling_take(&telling->telling, line, heard);
        if (strcmp(heard->publisher, "mlflow") == 0)
            return heard->run_id;
    }
    return NULL;
}

/* Once there is one that a person can open. */
static void say_page(const struct telling *telling)
{
    char safe[sizeof telling->page];
    (void)vitals_text_format((vitals_text){telling->page, strlen(telling->page)}, VITALS_TEXT_ASCII,
                             safe, sizeof safe);
    if (safe[0] != '\0')
        (void)command_fail(0, "mlflow: the run is at %s", safe);
}

static bool is_variable(const char *variable, const char *name)
{
    return strncmp(variable, name, strlen(name)) == 0;
}

/* Whether the environment names the run, which is gone on with then. */
static bool knows_run(const struct environment_settings *environment,
                      const struct mlflow_settings *mlflow)
{
    const char *const *ours = environment->variables;
    bool known = false;
    for (size_t i = 0; ours != NULL && ours[i] != NULL && !known; i++)
        known = is_variable(ours[i], OWN_NAMES[OWN_RUN]) &&
                ours[i][strlen(OWN_NAMES[OWN_RUN])] != '\0';
    return known && !wants_new_run(mlflow);
}

/* Until MLflow has a run, or cannot have one. One that was named is known without it. */
static void wait_for_run(struct run_telling *telling, const struct settings *settings)
{
    struct heard heard;
    const char *named = wants_new_run(&settings->export.mlflow) ? NULL
                                                                : settings->export.mlflow.run;
    const char *id = hear_run(telling, &settings->export, &heard);
    set_own(telling, OWN_RUN, id != NULL ? id : named);
    set_own(telling, OWN_SERVER, settings->export.mlflow.uri);
    set_own(telling, OWN_EXPERIMENT, settings->export.mlflow.experiment);
    if (settings->look.verbose)
        say_page(&telling->telling);
    if (id == NULL && !telling->said_gone && named == NULL &&
        !knows_run(&settings->environment, &settings->export.mlflow))
        (void)command_fail(0,
                           "mlflow: the server has made no run within %.3g s (--tell-wait); it is "
                           "told as soon as there is one%s",
                           (double)settings->export.wait_ns / 1e9,
                           settings->arguments.command_argv != NULL
                               ? ", but the command begins without MLFLOW_RUN_ID"
                               : "");
}

/* A command that is to have a run of its own does not find the one around it; and where an
 * experiment was named, the id of another would make its client of MLflow raise. */
static bool is_replaced(const struct run_telling *telling, const struct mlflow_settings *mlflow,
                        const char *variable)
{
    for (unsigned i = 0; i < OWN_COUNT; i++) {
        if (telling->own[i] != NULL && is_variable(variable, OWN_NAMES[i]))
            return true;
    }
    return (wants_new_run(mlflow) && is_variable(variable, OWN_NAMES[OWN_RUN])) ||
           (telling->own[OWN_EXPERIMENT] != NULL && is_variable(variable, "MLFLOW_EXPERIMENT_ID="));
}

/* Ours, with what is the command's own in the place of the same. */
static void make_variables(struct run_telling *telling,
                           const struct environment_settings *environment,
                           const struct mlflow_settings *mlflow)
{
    const char *const *ours = environment->variables;
    size_t count = 0, used = 0;
    while (ours != NULL && ours[count] != NULL)
        count++;
    if ((telling->variables = calloc(count + OWN_COUNT + 1, sizeof *ours)) == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        if (!is_replaced(telling, mlflow, ours[i]))
            telling->variables[used++] = ours[i];
    }
    for (unsigned i = 0; i < OWN_COUNT; i++) {
        if (telling->own[i] != NULL)
            telling->variables[used++] = telling->own[i];
    }
}

void run_telling_init(struct run_telling *telling, const struct argument_settings *arguments,
                      const struct export_settings *export)
{
    vitals_error error;
    *telling = (struct run_telling){.policy = export->command_line};
    if (telling_asked(export) && make_request(telling, arguments, export, &error) < 0)
        (void)command_fail(0, "less is told: %s", error.message);
}

void run_telling_observe(struct run_telling *telling, vitals_run_options *options)
{
    vitals_error error;
    telling->wait_ns = options->interval_ns / 8 < ROOM_NS ? options->interval_ns / 8 : ROOM_NS;
    telling->face = (vitals_run_observer){
        .data = telling, .request = telling->request, .sample = sample, .mark = mark, .end = end};
    if (telling->telling.link != NULL)
        telling->face.descriptor = link_descriptor(telling->telling.link);
    if (options->observer == NULL)
        options->observer = &telling->face;
    else if (observer_pair_init(&telling->pair, options->observer, &telling->face, &error) == 0)
        options->observer = &telling->pair.face;
    else
        (void)command_fail(0, "no samples are told: %s", error.message);
}

/* Where the sampler, which may be a process of its own, counts what did not leave. */
static void share_count(struct run_telling *telling)
{
    void *place = mmap(NULL, sizeof *telling->dropped, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    telling->dropped = place != MAP_FAILED ? place : NULL;
}

int64_t run_telling_pid(const struct run_telling *telling)
{
    return telling->telling.link != NULL ? link_pid(telling->telling.link) : 0;
}

bool run_telling_begin(struct run_telling *telling, const struct settings *settings,
                       const struct hello_job *job)
{
    struct text hello = {.bytes = NULL};
    struct hello_job called = *job;
    char name[256] = "";
    if (!telling_asked(&settings->export))
        return false;
    if (job->argv == NULL && job->pid > 0)
        telling_called(&settings->machine, job->pid, name, sizeof name);
    called.name = name;
    telling->policy = settings->export.command_line;
    if (telling->wait_ns == 0)
        telling->wait_ns = ROOM_NS;
    hello_of_run(settings, &called, &hello);
    if (telling_open(&telling->telling, &settings->export, &hello, -1) != 0)
        return false; /* it was said */
    share_count(telling);
    if (settings->export.mlflow.uri != NULL) {
        wait_for_run(telling, settings);
        make_variables(telling, &settings->environment, &settings->export.mlflow);
    }
    return true;
}

/* ---- the end ---- */

/* What leaves of the command line, as --cmdline has it. */
static void redact(const struct run_telling *telling, json_t *account)
{
    json_t *attributes = json_object_get(account, "attributes");
    const char *command = json_string_value(json_object_get(attributes, "command"));
    struct text line = {.bytes = NULL};
    if (command == NULL)
        return;
    redact_line(&line, (vitals_text){command, strlen(command)},
                (enum redact_form)redact_form_of(telling->policy));
    if (line.failed || line.size == 0 ||
        json_object_set_new(attributes, "command", json_stringn(line.bytes, line.size)) < 0)
        (void)json_object_del(attributes, "command");
    text_done(&line);
}

/* As it may leave; NULL: no memory. */
static json_t *account_document(const struct run_telling *telling, const vitals_account *account)
{
    struct text text = {.bytes = NULL};
    json_t *document = NULL;
    if (vitals_account_json(account, text_write, &text) == 0 && !text.failed)
        document = json_loadb(text.bytes, text.size, 0, NULL);
    if (document != NULL)
        redact(telling, document);
    text_done(&text);
    return document;
}

/* Of a process that was no child of ours nobody may know how it ended. */
static void put_status(struct text *line, const vitals_account *account)
{
    int code = vitals_account_exit_code(account), signal = vitals_account_signal(account);
    const char *state = "exited";
    if (vitals_account_attribute(account, "limit").size > 0)
        state = "limit";
    else if (signal != 0)
        state = "signaled";
    else if (vitals_account_attribute(account, "exit").size == 0)
        state = "unknown";
    text_format(line, "\"status\":{\"state\":\"%s\",\"code\":%d,\"signal\":%d}", state, code,
                signal);
}

static uint64_t left_ns(uint64_t deadline_ns)
{
    uint64_t now = clock_now_ns();
    return deadline_ns > now ? deadline_ns - now : 0;
}

/* By when the program is to say what it has not sent, so that it is heard. */
static uint64_t until_ns(uint64_t deadline_ns)
{
    uint64_t part = left_ns(deadline_ns) / 4;
    return deadline_ns - (part < HEARD_NS ? part : HEARD_NS);
}

/* A line of the sampler's may have no end. */
static void send_account(struct run_telling *telling, const char *account_json,
                         const vitals_account *account, uint64_t deadline_ns)
{
    struct text line = {.bytes = NULL};
    text_format(&line, "\n{\"account\":");
    text_string(&line, account_json);
    text_byte(&line, ',');
    put_status(&line, account);
    text_format(&line, ",\"until_ns\":\"%llu\"}\n", (unsigned long long)until_ns(deadline_ns));
    count_dropped(telling, !line.failed && link_write(telling->telling.link, line.bytes, line.size,
                                                      left_ns(deadline_ns)));
    text_done(&line);
}

static void send_page(struct run_telling *telling, const struct run_page *page)
{
    struct text line = {.bytes = NULL};
    text_string(&line, "{\"artifacts\":[\"");
    text_safe(&line, (vitals_text){page->path, strlen(page->path)}, VITALS_TEXT_JSON);
    text_string(&line, "\"]}\n");
    count_dropped(telling, !line.failed && link_write(telling->telling.link, line.bytes, line.size,
                                                      left_ns(page->deadline_ns)));
    text_done(&line);
}

/* What it wrote down outlives it. */
static void say_kept(const struct environment_settings *environment,
                     const struct mlflow_settings *mlflow, const char *what)
{
    if (mlflow->uri != NULL && environment->state_folder[0] != '\0')
        (void)command_fail(0,
                           "%s; what it kept for MLflow is sent by: vitals send "
                           "%s/vitals/unsent/*.spool",
                           what, command_safe(environment->state_folder));
    else
        (void)command_fail(0, "%s", what);
}

static void say_end(const struct run_telling *telling,
                    const struct environment_settings *environment,
                    const struct mlflow_settings *mlflow, enum link_end end)
{
    uint64_t dropped = telling->dropped != NULL ? atomic_load(telling->dropped) : 0;
    if (dropped > 0 && end != LINK_GONE)
        (void)command_fail(0,
                           "%llu samples, marks or accounts were not told: the program that tells "
                           "others did not take them in time",
                           (unsigned long long)dropped);
    if (end == LINK_GONE && !telling->said_gone)
        say_kept(environment, mlflow, "the program that tells others has ended before it was done");
    else if (end == LINK_LEFT)
        say_kept(environment, mlflow,
                 "the program that tells others was not done in time, and goes on alone");
}

/* What a first process leaves behind, its kernel kills. */
static bool is_first_process(void)
{
    return getpid() == 1;
}

void run_telling_hold(struct run_telling *telling)
{
    if (telling->telling.link == NULL || telling->held)
        return;
    telling->held = true;
    telling->interrupts = command_last_interrupts();
    if (is_first_process())
        telling->interrupts = -1;
    link_hurry_by(telling->telling.link, telling->interrupts);
}

static uint64_t patience_ns(const struct export_settings *export)
{
    uint64_t wait_ns = export->wait_ns;
    return is_first_process() && wait_ns < FIRST_PROCESS_NS ? FIRST_PROCESS_NS : wait_ns;
}

void run_telling_end(struct run_telling *telling, const struct settings *settings,
                     const vitals_account *account, const char *recording)
{
    static struct run_page page; /* large */
    if (telling->telling.link == NULL)
        return;
    run_telling_hold(telling);
    page.deadline_ns = clock_now_ns() + patience_ns(&settings->export);
    page.interrupts = telling->interrupts;
    json_t *document = account_document(telling, account);
    char *line = document != NULL ? json_dumps(document, JSON_COMPACT) : NULL;
    page.title = json_string_value(
        json_object_get(json_object_get(document, "attributes"), "command"));
    if (line != NULL)
        send_account(telling, line, account, page.deadline_ns);
    if (line != NULL && settings->export.mlflow.uri != NULL) {
        const struct account_view view = command_account_view(&settings->look, &settings->account);
        if (run_page_make(&page, settings->environment.temporary, &view, recording, line))
            send_page(telling, &page);
    }
    free(line);
    say_end(telling, &settings->environment, &settings->export.mlflow,
            telling_close(&telling->telling, left_ns(page.deadline_ns)));
    if (!settings->run.quiet)
        say_page(&telling->telling);
    run_page_remove(&page);
    json_decref(document);
}

void run_telling_done(struct run_telling *telling)
{
    (void)telling_close(&telling->telling, 0);
    if (telling->dropped != NULL)
        (void)munmap((void *)telling->dropped, sizeof *telling->dropped);
    observer_pair_done(&telling->pair);
    vitals_request_free(telling->request);
    text_done(&telling->line);
    for (unsigned i = 0; i < OWN_COUNT; i++)
        free(telling->own[i]);
    free(telling->variables);
    *telling = (struct run_telling){.request = NULL};
}
