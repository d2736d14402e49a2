/* mlflow_sender.c: see mlflow.h. */
#include "export/mlflow/mlflow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/address.h"
#include "export/clock.h"
#include "export/export_thread.h"
#include "export/reply.h"
#include "record/sample.h"

/* How often a request is repeated that the server answers and does not accept. */
enum { FAILURES_MOST = 8, ARTIFACT_FAILURES_MOST = 3 };

/* Counts of what was accepted. */
struct mlflow_sent {
    uint64_t records, metrics, artifacts;
};

struct mlflow_sender {
    struct spool *spool;
    bool resumed; /* another program created the spool */
    bool search;  /* a run may have been created before */
    const char *uri, *instead;
    uint64_t away_ns;
    struct export_thread thread;
    bool woken, stopping; /* guarded by its mutex */
    bool hurry;           /* guarded by its mutex: do not wait for the next try */
    uint64_t taken_ns;    /* guarded by its mutex: when the server last accepted something */
    atomic_bool cancel;   /* of the current request */

    /* the thread's own */
    struct mlflow_server server;
    struct mlflow_run run;
    struct retry retry;
    unsigned failures; /* of the current record */
    unsigned left_out; /* records that the server failed over and no others */
    bool unreadable;   /* the current record cannot be parsed */
    uint64_t metrics;  /* values in the current record */
    struct mlflow_sent sent;
    char refusal[400]; /* why the server refused the first record; "": none was refused */
    bool said_rest;
    const char *lack; /* NULL, or what the file does not state, without which nothing can be sent */
    bool elsewhere;   /* the run was found first at another address */
    bool at_home;     /* it was found first at the spool's own address */
    bool let_in;      /* the server has accepted something: our login is valid */
    bool said_away, said_refused, said_no_artifacts;
};

/* ---- waiting ---- */

/* Waits for a record or the stop; if `until_ns` is given, until then, or until a caller is in a
 * `hurry`. */
static void wait_for(struct mlflow_sender *sender, uint64_t until_ns, bool hurry)
{
    pthread_mutex_lock(&sender->thread.mutex);
    while (!atomic_load(&sender->cancel) && until_ns == 0 && !sender->woken && !sender->stopping)
        pthread_cond_wait(&sender->thread.changed, &sender->thread.mutex);
    while (!atomic_load(&sender->cancel) && until_ns > 0 && !(hurry && sender->hurry) &&
           export_thread_wait(&sender->thread, until_ns))
        ;
    sender->woken = sender->hurry = false;
    pthread_mutex_unlock(&sender->thread.mutex);
}

static bool is_stopping(struct mlflow_sender *sender)
{
    pthread_mutex_lock(&sender->thread.mutex);
    bool stopping = sender->stopping;
    pthread_mutex_unlock(&sender->thread.mutex);
    return stopping;
}

static void note_taken(struct mlflow_sender *sender)
{
    pthread_mutex_lock(&sender->thread.mutex);
    sender->taken_ns = clock_now_ns();
    pthread_mutex_unlock(&sender->thread.mutex);
}

/* Formats why sending stopped, and where. A request without an answer states the address itself. */
static void explain(const struct mlflow_sender *sender, char why[static 400])
{
    const struct mlflow_server *server = &sender->server;
    bool named = server->answer.status == 0 || server->why[0] == '\0';
    (void)snprintf(why, 400, "%.160s%s%.230s", named ? "" : server->shown, named ? "" : ": ",
                   server->why);
}

/* Waits before the next try, the first time for at most `first_ns`. Tries are more frequent while
 * stopping, unless the server says when to retry. */
static void wait_for_another_try(struct mlflow_sender *sender, uint64_t first_ns)
{
    bool hurry = sender->server.answer.retry_after_ns == 0;
    uint64_t most = hurry && is_stopping(sender) ? NS_PER_SECOND : 60 * NS_PER_SECOND;
    uint64_t wait = retry_wait_ns(&sender->retry, &sender->server.answer, first_ns, most);
    char why[400];
    if (!sender->said_away) {
        bool safe = spool_path(sender->spool) != NULL && spool_trouble(sender->spool) == 0;
        explain(sender, why);
        reply_say("mlflow: %s; vitals tries again, and %s", why,
                  safe ? "nothing is lost meanwhile" : "unsent data is lost if vitals ends first");
        sender->said_away = true;
    }
    wait_for(sender, clock_now_ns() + wait, hurry);
}

/* ---- the result of a resumed file ---- */

static const char NO_SERVER[] = "server it is for", NO_RUN[] = "run it is of";

/* Settles a resumed file and reports the result, once. `why`: the reason that not all was sent, or
 * "". */
static void report_rest(struct mlflow_sender *sender, const char *why)
{
    struct buffer line = {.bytes = NULL}, path = {.bytes = NULL};
    struct spool_damage damage = spool_damage(sender->spool);
    uint64_t waiting = spool_waiting(sender->spool);
    buffer_string(&path, spool_path(sender->spool));
    for (uint64_t i = 0; i < damage.places && i < SPOOL_PLACES; i++) {
        const struct spool_place *place = &damage.first[i];
        reply_say("mlflow: %s: %llu bytes from byte %llu on %s", path.bytes,
                  (unsigned long long)place->size, (unsigned long long)place->at,
                  place->incomplete ? "are an incomplete record" : "are damaged");
    }
    if (damage.places > SPOOL_PLACES)
        reply_say("mlflow: %s: %llu more places are damaged", path.bytes,
                  (unsigned long long)(damage.places - SPOOL_PLACES));
    enum spool_rest rest = why[0] == '\0' ? spool_settle(sender->spool) : SPOOL_STAYS;
    bool ended = why[0] == '\0' && waiting == 0;

    buffer_format(&line, "sent %llu records (%llu metric values, %llu artifacts)",
                  (unsigned long long)sender->sent.records,
                  (unsigned long long)sender->sent.metrics,
                  (unsigned long long)sender->sent.artifacts);
    if (sender->server.shown[0] != '\0')
        buffer_format(&line, " to %s", sender->server.shown);
    if (rest != SPOOL_REMOVED && damage.bytes > 0)
        buffer_format(&line, "; %llu damaged or incomplete bytes were not sent",
                      (unsigned long long)damage.bytes);
    if (rest != SPOOL_REMOVED && damage.missing > 0)
        buffer_format(&line, "; records missing between the others: %llu",
                      (unsigned long long)damage.missing);

    if (rest == SPOOL_STAYS && !ended) {
        buffer_format(&line, "; %llu records stay in the file: ", (unsigned long long)waiting);
        if (sender->lack == NO_SERVER)
            buffer_format(&line, "vitals send --mlflow=URI %s sends them", path.bytes);
        else if (sender->lack == NO_RUN)
            buffer_string(&line, "no server can accept them");
        else
            buffer_string(&line, "send it again, or remove it");
    }

    if (path.failed || line.failed)
        reply_failed("mlflow", "out of memory");
    else if (rest == SPOOL_REMOVED)
        reply_say("mlflow: %s; %s is removed", line.bytes, path.bytes);
    else if (rest == SPOOL_SET_ASIDE)
        reply_failed("mlflow", "%s: %s; the file is kept as %s", path.bytes, line.bytes,
                     spool_path(sender->spool));
    else if (ended)
        reply_failed(
            "mlflow",
            "%s: %s; nothing is left to send, but the file could not be %s (%s): move or remove "
            "it",
            path.bytes, line.bytes, damage.places + damage.missing > 0 ? "renamed" : "removed",
            strerror(spool_trouble(sender->spool)));
    else
        reply_failed("mlflow", "%s: not all was sent: %s; %s", path.bytes, why, line.bytes);
    buffer_done(&line);
    buffer_done(&path);
    sender->said_rest = true;
}

/* Ends sending, and reports why. */
static void fail(struct mlflow_sender *sender)
{
    char why[400];
    explain(sender, why);
    if (sender->resumed)
        report_rest(sender, why);
    else
        reply_failed("mlflow", "%s", why);
    sender->server.why[0] = '\0';
}

/* ---- the run ---- */

/* Fails because the record that states this is damaged. */
static void fail_without(struct mlflow_sender *sender, const char *lack)
{
    sender->lack = lack;
    (void)snprintf(sender->server.why, sizeof sender->server.why, "the file does not say which %s",
                   lack);
    fail(sender);
}

static json_t *read_note(struct spool *spool, enum spool_kind kind)
{
    struct buffer text = {.bytes = NULL};
    json_t *note = spool_note(spool, kind, &text)
                       ? json_loadb(text.bytes, text.size, JSON_REJECT_DUPLICATES, NULL)
                       : NULL;
    buffer_done(&text);
    return note;
}

/* Takes the run that the spool notes; returns false if there is none. Notes of older versions do
 * not state the server. */
static bool take_known_run(struct mlflow_sender *sender, const json_t *target)
{
    json_t *note = read_note(sender->spool, SPOOL_RUN);
    const char *id = json_string_value(json_object_get(note, "run_id"));
    const char *place = json_string_value(json_object_get(note, "artifact_uri"));
    const char *experiment = json_string_value(json_object_get(note, "experiment_id"));
    const char *server = json_string_value(json_object_get(note, "server"));
    const char *home = json_string_value(json_object_get(target, "uri"));
    if (id != NULL) {
        sender->at_home = server == NULL || home == NULL || address_is_same(server, home);
        server = server != NULL ? server : home;
        sender->elsewhere = server == NULL || !address_is_same(server, sender->server.address);
        sender->run = (struct mlflow_run){
            .id = strdup(id),
            .experiment = strdup(experiment != NULL ? experiment : ""),
            .artifact_uri = strdup(place != NULL ? place : ""),
            .step = (uint64_t)json_integer_value(json_object_get(note, "step")),
            .ours = json_is_true(json_object_get(note, "ours")),
        };
    }
    json_decref(note);
    if (sender->run.experiment != NULL && sender->run.artifact_uri != NULL)
        return sender->run.id != NULL;
    mlflow_run_done(&sender->run);
    sender->elsewhere = false;
    return false;
}

/* Finds the noted run, else finds or creates one. At the spool's own address a noted run is never
 * replaced; one that was created at any other address is. */
static enum mlflow_outcome ask_for_run(struct mlflow_sender *sender, const json_t *target)
{
    if (sender->elsewhere) { /* it may exist here too, as after a server has moved */
        struct mlflow_run here = {.id = NULL};
        const char *prefix = json_string_value(json_object_get(target, "prefix"));
        json_t *wanted = json_pack("{s:s,s:s}", "run_id", sender->run.id, "prefix",
                                   prefix != NULL ? prefix : "");
        enum mlflow_outcome known = wanted != NULL
                                        ? mlflow_find_run(&sender->server, wanted, false, &here)
                                        : MLFLOW_AGAIN;
        json_decref(wanted);
        mlflow_run_done(&here);
        if (known != MLFLOW_MISSING || sender->at_home)
            return known;
        mlflow_run_done(&sender->run);
        sender->elsewhere = false;
        sender->search = true;
    }
    enum mlflow_outcome outcome = mlflow_find_run(&sender->server, target, sender->search,
                                                  &sender->run);
    sender->let_in = outcome == MLFLOW_WELL && sender->run.ours;
    return outcome;
}

/* Returns false if sending is over. */
static bool find_run(struct mlflow_sender *sender, const json_t *target)
{
    bool known = take_known_run(sender, target), here = known && !sender->elsewhere;
    if (!known && (!json_is_string(json_object_get(target, "uri")) ||
                   !json_is_string(json_object_get(target, "prefix")) ||
                   !json_is_string(json_object_get(target, "mark")))) {
        fail_without(sender, NO_RUN);
        return false;
    }
    for (enum mlflow_outcome outcome = MLFLOW_AGAIN; !here && outcome != MLFLOW_WELL;) {
        outcome = ask_for_run(sender, target);
        if (outcome == MLFLOW_WELL) {
            sender->retry.tries = 0;
            note_taken(sender);
            break;
        }
        /* A request without an answer may have created it nevertheless. */
        sender->search = true;
        if (outcome != MLFLOW_AGAIN && outcome != MLFLOW_FAILED) {
            fail(sender);
            return false;
        }
        if (atomic_load(&sender->cancel))
            return false;
        wait_for_another_try(sender, NS_PER_SECOND / 2);
    }

    /* Notes the run in the spool, so that another program can continue it. One of another address
     * is noted where it was found first. */
    if (!here && !sender->elsewhere) {
        char *server = mlflow_without_login(sender->server.address);
        json_t *note = json_pack("{s:s,s:s,s:s,s:s?,s:I,s:b}", "run_id", sender->run.id,
                                 "experiment_id", sender->run.experiment, "artifact_uri",
                                 sender->run.artifact_uri, "server", server, "step",
                                 (json_int_t)sender->run.step, "ours", sender->run.ours);
        char *bytes = note != NULL ? json_dumps(note, JSON_COMPACT) : NULL;
        if (bytes != NULL)
            (void)spool_append(sender->spool, SPOOL_RUN, bytes, strlen(bytes));
        free(bytes);
        free(server);
        json_decref(note);
    }
    char *page = mlflow_run_page(&sender->server, &sender->run);
    reply_opened_run("mlflow", sender->run.id, page);
    free(page);
    return true;
}

/* ---- records ---- */

/* Posts a record with the run's id, its steps continued from the run's. */
static enum mlflow_outcome post(struct mlflow_sender *sender, const char *path,
                                const struct buffer *record)
{
    json_error_t error = {.line = 0};
    json_t *document = json_loadb(record->bytes, record->size, 0, &error);
    json_t *metrics = json_object_get(document, "metrics");
    bool parsed = json_is_object(document);
    sender->unreadable = !parsed &&
                         (document != NULL || json_error_code(&error) != json_error_out_of_memory);
    (void)json_object_del(document, "only_ours");
    (void)json_object_set_new(document, "run_id", json_string(sender->run.id));
    for (size_t i = 0; i < json_array_size(metrics); i++) {
        json_t *step = json_object_get(json_array_get(metrics, i), "step");
        (void)json_integer_set(step, json_integer_value(step) + (json_int_t)sender->run.step);
    }
    sender->metrics = json_array_size(metrics);

    enum mlflow_outcome outcome = MLFLOW_WELL;
    if (parsed) {
        outcome = mlflow_ask(&sender->server, path, document, NULL);
    } else if (!sender->unreadable) {
        (void)snprintf(sender->server.why, sizeof sender->server.why, "out of memory");
        outcome = MLFLOW_AGAIN;
    }
    json_decref(document);
    return outcome;
}

/* Sends NAME\n and its bytes. A server that accepts no artifacts does not fail the run; in a
 * resumed file they stay. */
static enum mlflow_outcome send_artifact(struct mlflow_sender *sender, const struct buffer *record)
{
    char name[300];
    size_t size = strcspn(record->bytes, "\n");
    sender->unreadable = size == 0 || size >= sizeof name || size >= record->size;
    if (sender->unreadable)
        return MLFLOW_WELL;
    memcpy(name, record->bytes, size);
    name[size] = '\0';
    enum mlflow_outcome outcome = mlflow_put(&sender->server, sender->run.artifact_uri, name,
                                             record->bytes + size + 1, record->size - size - 1);
    bool heard = outcome != MLFLOW_WELL && sender->server.answer.status != 0;
    bool settled = outcome == MLFLOW_REFUSED || outcome == MLFLOW_MISSING;
    if (heard && !settled && ++sender->failures < ARTIFACT_FAILURES_MOST)
        return MLFLOW_AGAIN;
    if (!heard && !settled)
        return outcome == MLFLOW_DENIED ? MLFLOW_AGAIN : outcome;
    if (sender->resumed)
        return MLFLOW_REFUSED;
    if (!sender->said_no_artifacts)
        reply_lost("mlflow: no artifacts are kept: %s", sender->server.why);
    sender->said_no_artifacts = true;
    return MLFLOW_WELL;
}

/* Returns whether the record itself is at fault: the server accepts a tag that says so. */
static bool note_left_out(struct mlflow_sender *sender)
{
    struct buffer tag = {.bytes = NULL};
    char why[sizeof sender->server.why];
    (void)snprintf(why, sizeof why, "%s", sender->server.why);
    buffer_format(&tag, "{\"key\":\"vitals.left_out\",\"value\":\"%u\"}", sender->left_out + 1);
    bool noted = !tag.failed && post(sender, "runs/set-tag", &tag) == MLFLOW_WELL;
    buffer_done(&tag);
    sender->left_out += noted;
    (void)snprintf(sender->server.why, sizeof sender->server.why, "%s", why);
    return noted;
}

/* Sends the oldest record. Returns false if sending is over. */
static bool send_one(struct mlflow_sender *sender, enum spool_kind kind,
                     const struct buffer *record)
{
    enum mlflow_outcome outcome = MLFLOW_WELL;
    sender->unreadable = false;
    if (kind == SPOOL_BATCH)
        outcome = post(sender, "runs/log-batch", record);
    else if (kind == SPOOL_ARTIFACT)
        outcome = send_artifact(sender, record);
    else if (sender->run.ours || strstr(record->bytes, MLFLOW_ONLY_OURS) == NULL)
        outcome = post(sender, "runs/update", record);
    /* else a run that vitals did not create, of a process that vitals did not start, is not ended
     */
    if (sender->unreadable) {
        spool_leave(sender->spool, true);
        return true;
    }

    /* A login or an address that never worked must be changed by a person. */
    bool shut_out = outcome == MLFLOW_DENIED || outcome == MLFLOW_STRANGE;
    if (outcome == MLFLOW_MISSING || (shut_out && !sender->let_in)) {
        fail(sender);
        return false;
    }

    bool failed = outcome == MLFLOW_FAILED || shut_out, noted = true;
    if (failed && ++sender->failures >= FAILURES_MOST && note_left_out(sender))
        outcome = MLFLOW_REFUSED;
    if (outcome != MLFLOW_WELL && outcome != MLFLOW_REFUSED) {
        wait_for_another_try(sender, shut_out ? 20 * NS_PER_SECOND : NS_PER_SECOND / 2);
        return !atomic_load(&sender->cancel);
    }

    if (outcome == MLFLOW_WELL) {
        sender->sent.records++;
        sender->sent.metrics += kind == SPOOL_BATCH ? sender->metrics : 0;
        sender->sent.artifacts += kind == SPOOL_ARTIFACT;
        sender->let_in |= kind != SPOOL_ARTIFACT;
        noted = spool_acknowledge(sender->spool);
        if (!noted) /* sending ends, since each further record would be sent twice */
            (void)snprintf(
                sender->refusal, sizeof sender->refusal,
                "what has arrived cannot be noted in the file, and will be sent again: %s",
                strerror(spool_trouble(sender->spool)));
    } else {
        /* Leaves it out. In a resumed file it stays: a person may remove the reason. */
        if (!sender->resumed && !sender->said_refused)
            reply_lost("mlflow: a part was refused and is left out: %s", sender->server.why);
        sender->said_refused = true;
        if (sender->refusal[0] == '\0')
            explain(sender, sender->refusal);
        if (sender->resumed)
            spool_leave(sender->spool, false);
        else
            (void)spool_acknowledge(sender->spool);
    }
    note_taken(sender);
    sender->retry.tries = sender->failures = 0;
    return noted;
}

/* ---- the thread ---- */

static void sender_main(void *data)
{
    struct mlflow_sender *sender = data;
    vitals_error error;
    json_t *target = read_note(sender->spool, SPOOL_TARGET);
    struct buffer record = {.bytes = NULL};
    enum spool_kind kind;
    char why[400] = "";
    bool going = false;

    /* The spool's address, or the one given instead. The login is only for a server that a person
     * has named: not for one that just a resumed file names. */
    const char *uri = sender->instead != NULL ? sender->instead
                                              : json_string_value(json_object_get(target, "uri"));
    bool named = sender->instead != NULL || !sender->resumed;
    if (uri != NULL && sender->uri != NULL && address_is_same(uri, sender->uri)) {
        uri = sender->uri;
        named = true;
    }
    if (uri == NULL) {
        fail_without(sender, NO_SERVER);
    } else if (mlflow_server_open(&sender->server, uri, named, &sender->cancel, &error) < 0) {
        (void)snprintf(sender->server.why, sizeof sender->server.why, "%s", error.message);
        fail(sender);
    } else {
        going = find_run(sender, target);
    }
    json_decref(target);

    while (going && !atomic_load(&sender->cancel)) {
        bool stopping = is_stopping(sender); /* asked first: no record comes after the stop */
        if (spool_next(sender->spool, &kind, &record))
            going = send_one(sender, kind, &record);
        else if (stopping)
            break;
        else
            wait_for(sender, 0, false);
    }
    buffer_done(&record);
    if (sender->resumed && !sender->said_rest) {
        bool rest = spool_waiting(sender->spool) > 0;
        (void)snprintf(why, sizeof why, "%s", sender->refusal);
        if (why[0] == '\0' && rest)
            explain(sender, why);
        report_rest(sender, why[0] == '\0' && rest ? "it was ended before" : why);
    }
}

int mlflow_sender_start(struct spool *spool, const struct mlflow_sender_options *options,
                        struct mlflow_sender **out, vitals_error *error)
{
    struct mlflow_sender *sender = calloc(1, sizeof *sender);
    if (sender == NULL)
        return record_fail(VITALS_EMEMORY, "mlflow", error, "out of memory");
    sender->spool = spool;
    sender->resumed = sender->search = options->resumed;
    sender->uri = options->uri;
    sender->instead = options->instead;
    sender->away_ns = options->away_ns;
    sender->taken_ns = clock_now_ns();
    int code = export_thread_start(&sender->thread, sender_main, sender, error);
    if (code < 0) {
        free(sender);
        return code;
    }
    *out = sender;
    return 0;
}

void mlflow_sender_wake(struct mlflow_sender *sender)
{
    pthread_mutex_lock(&sender->thread.mutex);
    sender->woken = true;
    pthread_cond_broadcast(&sender->thread.changed);
    pthread_mutex_unlock(&sender->thread.mutex);
}

/* Returns when to give up, which is later after each success. Called with the mutex held. */
static uint64_t give_up_ns(const struct mlflow_sender *sender, uint64_t most_ns)
{
    uint64_t away = sender->away_ns > 0 ? sender->taken_ns + sender->away_ns : UINT64_MAX;
    return away < most_ns ? away : most_ns;
}

bool mlflow_sender_stop(struct mlflow_sender *sender, uint64_t deadline_ns)
{
    enum { GRACE_NS = 300000000 }; /* for a request to be cancelled */
    uint64_t until_ns, most_ns = deadline_ns > GRACE_NS ? deadline_ns - GRACE_NS : 0;
    pthread_mutex_lock(&sender->thread.mutex);
    sender->stopping = sender->hurry = true;
    pthread_cond_broadcast(&sender->thread.changed);
    bool finished;
    do {
        until_ns = give_up_ns(sender, most_ns);
        finished = export_thread_wait_for_end(&sender->thread, until_ns);
    } while (!finished && give_up_ns(sender, most_ns) > until_ns);
    if (!finished) {
        atomic_store(&sender->cancel, true);
        pthread_cond_broadcast(&sender->thread.changed);
        (void)export_thread_wait_for_end(&sender->thread, deadline_ns);
    }
    return export_thread_leave(&sender->thread);
}

void mlflow_sender_free(struct mlflow_sender *sender, char why[static 400])
{
    explain(sender, why);
    mlflow_server_done(&sender->server);
    mlflow_run_done(&sender->run);
    free(sender);
}
