/* exporter.c: see <vitals/record/exporter.h>. The exporter is the same program, started and fed by
 * the same code (export/run_config.h, run_sender.h, link.h), as for the command. */
#include <vitals/record/exporter.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "export/address.h"
#include "export/clock.h"
#include "export/message.h"
#include "export/observer_pair.h"
#include "export/redact.h"
#include "export/run_config.h"
#include "export/run_sender.h"
#include "record_library/library.h"
#include "util/error.h"
#include "util/memory.h"

static const uint64_t END_NS = 200000000;

enum { TARGETS = 4, MESSAGE_MAX = sizeof((struct exporter_message *)0)->text + 40 };

static const char *const TARGET_NAMES[TARGETS] = {"mlflow", "otlp", "tensorboard", "textfile"};

struct vitals_exporter {
    pid_t maker;
    struct link *link;
    struct run_sender sender;
    struct observer_pair pair;
    vitals_usage *machine; /* of samples without a usage */
    vitals_export_state states[TARGETS];
    bool ended; /* the exporter has */
    bool lost;  /* something was not sent */
    char command_line[16];
    uint64_t patience_ns;
    struct exporter_message last;
    char message[MESSAGE_MAX], run_id[128], page[1024];
    char loss[MESSAGE_MAX]; /* the first message of something that was not sent */
};

/* ---- the open ---- */

static int check(const vitals_exporter_options *options, vitals_error *error)
{
    char shown[200];
    size_t size = options->textfile != NULL ? strlen(options->textfile) : 0;
    if (options->mlflow == NULL && options->otlp == NULL && options->tensorboard == NULL &&
        options->textfile == NULL)
        return error_set(error, VITALS_EARGUMENT, 0,
                         "no destination: mlflow, otlp, tensorboard "
                         "or textfile");
    if (redact_form_of(options->command_line) < 0)
        return error_set(error, VITALS_EARGUMENT, 0,
                         "command_line \"%s\": there is off, argv0, redacted, full",
                         options->command_line);
    if (options->mlflow != NULL && options->mlflow[0] != '\0' &&
        address_check_mlflow(options->mlflow, error) < 0)
        return VITALS_EARGUMENT;
    if (options->tensorboard != NULL && options->tensorboard[0] == '\0')
        return error_set(error, VITALS_EARGUMENT, 0, "tensorboard: the folder is empty text");
    if (options->textfile != NULL &&
        (size < 5 || strcmp(options->textfile + size - 5, ".prom") != 0))
        return error_set(error, VITALS_EARGUMENT, 0,
                         "textfile: the name must end in .prom, or node_exporter does not read it");
    if (options->otlp == NULL || options->otlp[0] == '\0' || address_is_web(options->otlp))
        return 0;
    address_show(options->otlp, shown, sizeof shown);
    return error_set(error, VITALS_EARGUMENT, 0,
                     "%s is not an address of a collector; write http://HOST:4318%s", shown,
                     address_hint(options->otlp));
}

static void free_all(vitals_exporter *exporter)
{
    run_sender_done(&exporter->sender);
    observer_pair_done(&exporter->pair);
    vitals_usage_free(exporter->machine);
    memory_free(exporter);
}

/* Opens what needs no program; then starts it. */
static int open_all(vitals_exporter *exporter, const vitals_exporter_options *options,
                    vitals_error *error)
{
    const struct link_program program = {
        .path = options->program, .environment = options->environment, .activation_socket = -1};
    const char *const wanted[TARGETS] = {options->mlflow, options->otlp, options->tensorboard,
                                         options->textfile};
    struct buffer config = {.bytes = NULL};
    for (size_t i = 0; i < TARGETS; i++)
        exporter->states[i] = wanted[i] != NULL ? VITALS_EXPORT_STARTING : VITALS_EXPORT_OFF;
    int code = vitals_usage_new(NULL, &exporter->machine, error);
    if (code == 0)
        code = run_sender_init(&exporter->sender, options, error);
    if (code == 0)
        run_config_write(options->argv != NULL ? "run" : "track", options, &config);
    if (code == 0 && config.failed)
        code = error_no_memory(error);
    if (code == 0)
        code = link_open(&program, config.bytes, &exporter->link, error);
    if (code == 0)
        code = run_sender_begin(&exporter->sender, exporter->link, options->interval_ns, error);
    buffer_done(&config);
    return code;
}

int vitals_exporter_open(const vitals_exporter_options *given, vitals_exporter **out,
                         vitals_error *error)
{
    vitals_exporter_options options;
    vitals_error ours;
    error = error != NULL ? error : &ours;
    int code = exporter_options_take(given, &options, error);
    if (code == 0)
        code = check(&options, error);
    if (code < 0)
        return code;
    vitals_exporter *made = memory_alloc(sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    made->maker = getpid();
    made->patience_ns = options.patience_ns;
    (void)strcpy(made->command_line, options.command_line);
    locale_t locale = library_enter();
    code = open_all(made, &options, error);
    library_leave(locale);
    if (code == 0) {
        *out = made;
        return 0;
    }
    (void)link_close(made->link, 0, true, NULL, NULL);
    free_all(made);
    return code;
}

/* ---- samples ---- */

static int refuse_fork(const vitals_exporter *exporter, vitals_error *error)
{
    if (exporter->maker == getpid())
        return 0;
    return error_forked(error, "exporter");
}

int vitals_exporter_request(const vitals_exporter *exporter, vitals_request *request,
                            vitals_error *error)
{
    int code = refuse_fork(exporter, error);
    if (code == 0)
        code = vitals_usage_request(exporter->machine, request, error);
    for (vitals_metric metric = 0; code == 0 && (metric = vitals_metric_next(metric)) != 0;) {
        if (vitals_request_has(exporter->sender.request, metric))
            code = vitals_request_add(request, metric, error);
    }
    return code;
}

static int sent_or_error(int sent, vitals_error *error)
{
    return sent < 0 ? error_no_memory(error) : sent;
}

int vitals_exporter_sample(vitals_exporter *exporter, const vitals_snapshot *snapshot,
                           const vitals_usage *usage, vitals_error *error)
{
    int code = refuse_fork(exporter, error);
    if (code == 0 && usage == NULL)
        code = vitals_usage_add(exporter->machine, snapshot, error);
    if (code < 0)
        return code;
    locale_t locale = library_enter();
    int sent = run_sender_sample(&exporter->sender, snapshot,
                                 usage != NULL ? usage : exporter->machine);
    library_leave(locale);
    return sent_or_error(sent, error);
}

int vitals_exporter_account(vitals_exporter *exporter, const vitals_account *account,
                            vitals_error *error)
{
    int code = refuse_fork(exporter, error);
    if (code < 0)
        return code;
    locale_t locale = library_enter();
    json_t *document = run_sender_account_of(account, exporter->command_line);
    int sent = run_sender_account(&exporter->sender, account, document, END_NS, 0);
    json_decref(document);
    library_leave(locale);
    return sent_or_error(sent, error);
}

int vitals_exporter_file(vitals_exporter *exporter, const char *path, vitals_error *error)
{
    int code = refuse_fork(exporter, error);
    return code < 0 ? code : sent_or_error(run_sender_file(&exporter->sender, path, END_NS), error);
}

int vitals_exporter_observer(vitals_exporter *exporter, const vitals_run_observer *also,
                             const vitals_run_observer **out, vitals_error *error)
{
    int code = refuse_fork(exporter, error);
    if (code < 0)
        return code;
    run_sender_observe(&exporter->sender);
    *out = also != NULL ? &exporter->pair.face : &exporter->sender.face;
    return also != NULL ? observer_pair_init(&exporter->pair, also, &exporter->sender.face, error)
                        : 0;
}

/* ---- what the exporter says ---- */

static void hear(void *data, const char *line)
{
    vitals_exporter *exporter = data;
    struct exporter_message *last = &exporter->last;
    message_read(line, last);
    for (size_t i = 0; i < TARGETS; i++) {
        if (strcmp(last->publisher, TARGET_NAMES[i]) != 0)
            continue;
        if (last->kind == MESSAGE_OPENED)
            exporter->states[i] = VITALS_EXPORT_WORKS;
        else if (last->kind == MESSAGE_FAILED)
            exporter->states[i] = VITALS_EXPORT_FAILED;
    }
    if (last->kind == MESSAGE_OPENED && strcmp(last->publisher, "mlflow") == 0) {
        memcpy(exporter->run_id, last->run_id, sizeof exporter->run_id);
        memcpy(exporter->page, last->url, sizeof exporter->page);
    }
    if (last->kind == MESSAGE_FAILED)
        (void)snprintf(exporter->message, sizeof exporter->message, "%s: %s", last->publisher,
                       last->text);
    else if (last->kind == MESSAGE_SAY || last->kind == MESSAGE_OTHER)
        (void)snprintf(exporter->message, sizeof exporter->message, "%.1000s",
                       last->kind == MESSAGE_SAY ? last->text : line);
    if (last->kind != MESSAGE_FAILED && !last->lost)
        return;
    if (!exporter->lost)
        (void)strcpy(exporter->loss, exporter->message);
    exporter->lost = true;
}

static bool is_starting(const vitals_exporter *exporter)
{
    bool starting = false;
    for (size_t i = 0; i < TARGETS; i++)
        starting |= exporter->states[i] == VITALS_EXPORT_STARTING;
    return starting;
}

static int say(vitals_error *error, vitals_code code, const char *what, const char *message)
{
    return error_set(error, code, 0, "%s%s%s", what, message[0] != '\0' ? ": " : "", message);
}

int vitals_exporter_wait(vitals_exporter *exporter, uint64_t timeout_ns, vitals_error *error)
{
    uint64_t deadline_ns = saturating_add(clock_now_ns(), timeout_ns);
    int code = refuse_fork(exporter, error), got = 1;
    if (code < 0)
        return code;

    /* Reads at least what is there already. */
    while (got > 0) {
        char *line;
        got = link_hear(exporter->link, is_starting(exporter) ? clock_left_ns(deadline_ns) : 0,
                        &line);
        if (got > 0)
            hear(exporter, line);
    }
    exporter->ended |= got < 0;
    if (exporter->ended)
        return say(error, VITALS_EGONE, "the exporter ended", exporter->message);
    return !is_starting(exporter);
}

vitals_export_state vitals_exporter_state(const vitals_exporter *exporter,
                                          vitals_export_target target)
{
    bool known = target >= VITALS_EXPORT_MLFLOW && (size_t)target <= TARGETS;
    return known ? exporter->states[(size_t)target - 1] : VITALS_EXPORT_OFF;
}

const char *vitals_exporter_message(const vitals_exporter *exporter)
{
    return exporter->message;
}

const char *vitals_exporter_run_id(const vitals_exporter *exporter)
{
    return exporter->run_id;
}

const char *vitals_exporter_run_page(const vitals_exporter *exporter)
{
    return exporter->page;
}

int64_t vitals_exporter_pid(const vitals_exporter *exporter)
{
    return link_pid(exporter->link);
}

uint64_t vitals_exporter_dropped(const vitals_exporter *exporter)
{
    return run_sender_dropped(&exporter->sender);
}

/* ---- the end ---- */

int vitals_exporter_close(vitals_exporter *exporter, uint64_t timeout_ns, vitals_error *error)
{
    if (exporter == NULL)
        return 0;
    int code = refuse_fork(exporter, error);
    if (code < 0) {
        link_abandon(exporter->link); /* the rest stays: a run's thread may have been changing it */
        return code;
    }

    /* A caller that waits for all of the patience hears what was not sent. */
    uint64_t deadline_ns = saturating_add(clock_now_ns(), timeout_ns);
    if (timeout_ns >= exporter->patience_ns) {
        char until[64];
        int size = snprintf(until, sizeof until, "\n{\"until_ns\":\"%llu\"}\n",
                            (unsigned long long)run_sender_until_ns(deadline_ns));
        (void)link_write(exporter->link, until, (size_t)size,
                         timeout_ns < END_NS ? timeout_ns : END_NS);
    }
    enum link_end end = link_close(exporter->link, clock_left_ns(deadline_ns), false, hear,
                                   exporter);
    if (end == LINK_GONE)
        code = say(error, VITALS_EGONE, "the exporter ended before everything was sent",
                   exporter->message);
    else if (end == LINK_LEFT)
        code = say(error, VITALS_ETIMEOUT, "the exporter was not done in time and goes on alone",
                   exporter->message);
    else if (exporter->lost)
        code = error_set(error, VITALS_ESYSTEM, 0, "%s", exporter->loss);
    else if (vitals_exporter_dropped(exporter) > 0)
        code = error_set(error, VITALS_ESYSTEM, 0,
                         "%llu samples or accounts were not taken in time",
                         (unsigned long long)vitals_exporter_dropped(exporter));
    free_all(exporter);
    return code;
}
