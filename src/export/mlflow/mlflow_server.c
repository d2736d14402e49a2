/* mlflow_server.c: see mlflow.h. */
#include "export/mlflow/mlflow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/address.h"
#include "export/environment.h"
#include "export/reply.h"
#include "record/sample.h"

static const char INTERFACE[] = "/api/2.0/mlflow/";
static const char ARTIFACTS[] = "/api/2.0/mlflow-artifacts/artifacts/";

/* ---- open and close ---- */

char *mlflow_without_login(const char *uri)
{
    const char *begin = strstr(uri, "://");
    char *copy = strdup(uri);
    if (begin == NULL || copy == NULL)
        return copy;
    begin += 3;
    for (size_t size = strcspn(begin, "/?#"); size > 0; size--) {
        if (begin[size - 1] == '@') {
            memmove(copy + (begin - uri), begin + size, strlen(begin + size) + 1);
            break;
        }
    }
    return copy;
}

int mlflow_server_open(struct mlflow_server *server, const char *uri, bool with_login,
                       const atomic_bool *cancel, vitals_error *error)
{
    *server = (struct mlflow_server){.cancel = cancel, .anonymous = !with_login};
    int code = address_check_mlflow(uri, error);
    if (code == 0)
        code = mlflow_login(with_login, &server->client, error);
    if (code < 0)
        return code;
    size_t size = strcspn(uri, "?#");
    while (size > 0 && uri[size - 1] == '/')
        size--;
    server->address = strndup(uri, size);
    if (server->address == NULL) {
        client_free(server->client);
        return record_fail(VITALS_EMEMORY, "mlflow", error, "out of memory");
    }
    address_show(server->address, server->shown, sizeof server->shown);
    return 0;
}

void mlflow_server_done(struct mlflow_server *server)
{
    client_free(server->client);
    free(server->address);
    client_answer_done(&server->answer);
    *server = (struct mlflow_server){.address = NULL};
}

void mlflow_run_done(struct mlflow_run *run)
{
    free(run->id);
    free(run->experiment);
    free(run->artifact_uri);
    *run = (struct mlflow_run){.id = NULL};
}

static void put_part(struct buffer *url, const char *before, const char *part)
{
    buffer_string(url, before);
    client_encode(url, part, strlen(part), false);
}

/* Parses the login as MLflow's client does. A name or password with an unescaped slash may look
 * like none; a remaining @ belongs to it. */
char *mlflow_run_page(const struct mlflow_server *server, const struct mlflow_run *run)
{
    enum { PAGE_MOST = 1000 };
    const char *workspace = environment_get("MLFLOW_WORKSPACE");
    char *address = mlflow_without_login(server->address);
    bool known = address != NULL && strchr(address, '@') == NULL && run->experiment[0] != '\0';
    struct buffer url = {.bytes = NULL};
    if (known) {
        buffer_string(&url, address);
        put_part(&url, "/#/experiments/", run->experiment);
        put_part(&url, "/runs/", run->id);
    }
    if (known && workspace != NULL && strcmp(workspace, "default") != 0)
        put_part(&url, "?workspace=", workspace);
    buffer_byte(&url, '\0');
    free(address);
    if (known && !url.failed && url.size <= PAGE_MOST)
        return url.bytes;
    buffer_done(&url);
    return NULL;
}

/* ---- one request ---- */

/* Maps a status: below 500 the body decides, from 500 on it is FAILED. */
static const struct {
    int status;
    enum mlflow_outcome outcome;
} OUTCOMES[] = {
    {401, MLFLOW_DENIED}, {403, MLFLOW_DENIED}, {408, MLFLOW_AGAIN}, {429, MLFLOW_AGAIN},
    {502, MLFLOW_AGAIN},  {503, MLFLOW_AGAIN},  {504, MLFLOW_AGAIN},
};

/* Returns the outcome of the request, and sets `why` unless it is WELL. `document` is the answer,
 * NULL if it is not JSON. MLflow answers with an object, with an error_code on failure; proxies in
 * front of it answer differently. */
static enum mlflow_outcome judge(struct mlflow_server *server, const json_t *document)
{
    const struct client_answer *answer = &server->answer;
    const char *code = json_string_value(json_object_get(document, "error_code"));
    const char *message = json_string_value(json_object_get(document, "message"));
    char words[260] = "";
    if (answer->status == 0) {
        /* A cancelled request is reported by the reason for its delay. */
        if (server->why[0] == '\0' || !atomic_load(server->cancel))
            (void)snprintf(server->why, sizeof server->why, "%s", answer->why);
        return answer->refused ? MLFLOW_DENIED : MLFLOW_AGAIN;
    }

    enum mlflow_outcome outcome = MLFLOW_REFUSED;
    size_t i = 0, count = sizeof OUTCOMES / sizeof OUTCOMES[0];
    while (i < count && OUTCOMES[i].status != answer->status)
        i++;
    if (i < count)
        outcome = OUTCOMES[i].outcome;
    else if (answer->status >= 500)
        outcome = MLFLOW_FAILED;
    else if (answer->status == 200 && json_is_object(document))
        return MLFLOW_WELL;
    else if (answer->status < 400 || code == NULL)
        outcome = MLFLOW_STRANGE;
    else if (answer->status == 404 && strcmp(code, "RESOURCE_DOES_NOT_EXIST") == 0)
        outcome = MLFLOW_MISSING;

    if (outcome == MLFLOW_STRANGE) {
        (void)snprintf(server->why, sizeof server->why, "no MLflow server answers there (%d)",
                       answer->status);
        return outcome;
    }
    if (message != NULL)
        (void)vitals_text_format((vitals_text){message, strcspn(message, "\n")}, VITALS_TEXT_ASCII,
                                 words, sizeof words);
    (void)snprintf(server->why, sizeof server->why, "the server says %d%s%s%s", answer->status,
                   words[0] != '\0' ? ": " : "", words,
                   outcome != MLFLOW_DENIED ? ""
                   : server->anonymous      ? " (no login was sent, as only --mlflow=URI or "
                                              "MLFLOW_TRACKING_URI name the server that it is for)"
                                            : " (MLFLOW_TRACKING_USERNAME and "
                                              "MLFLOW_TRACKING_PASSWORD, or "
                                              "MLFLOW_TRACKING_TOKEN, log in)");
    return outcome;
}

static enum mlflow_outcome ask(struct mlflow_server *server, const struct client_request *request,
                               json_t **answer)
{
    client_answer_done(&server->answer);
    client_ask(server->client, request, &server->answer);
    const struct buffer *body = &server->answer.body;
    json_t *document = body->size > 0 ? json_loadb(body->bytes, body->size, 0, NULL) : NULL;
    enum mlflow_outcome outcome = judge(server, document);
    if (outcome == MLFLOW_WELL && answer != NULL)
        *answer = document;
    else
        json_decref(document);
    return outcome;
}

enum mlflow_outcome mlflow_ask(struct mlflow_server *server, const char *path, const json_t *body,
                               json_t **answer)
{
    struct buffer url = {.bytes = NULL};
    char *bytes = json_dumps(body, JSON_COMPACT);
    buffer_format(&url, "%s%s%s", server->address, INTERFACE, path);
    struct client_request request = {.method = body != NULL ? "POST" : "GET",
                                     .url = url.bytes,
                                     .content_type = body != NULL ? "application/json" : NULL,
                                     .body = bytes,
                                     .size = bytes != NULL ? strlen(bytes) : 0,
                                     .cancel = server->cancel};
    enum mlflow_outcome outcome = MLFLOW_AGAIN;
    if (!url.failed && (body == NULL || bytes != NULL))
        outcome = ask(server, &request, answer);
    else
        (void)snprintf(server->why, sizeof server->why, "out of memory");
    buffer_done(&url);
    free(bytes);
    return outcome;
}

enum mlflow_outcome mlflow_put(struct mlflow_server *server, const char *artifact_uri,
                               const char *name, const char *bytes, size_t size)
{
    /* The part after "mlflow-artifacts:/" or "mlflow-artifacts://host:port/"; NULL if artifacts are
     * stored elsewhere. */
    static const char BEGIN[] = "mlflow-artifacts:/";
    bool ours = artifact_uri != NULL && strncmp(artifact_uri, BEGIN, sizeof BEGIN - 1) == 0;
    const char *path = ours ? artifact_uri + sizeof BEGIN - 1 : NULL;
    if (ours && path[0] == '/') {
        const char *slash = strchr(path + 1, '/');
        path = slash != NULL ? slash + 1 : NULL;
    }

    struct buffer url = {.bytes = NULL};
    if (path == NULL) {
        (void)snprintf(server->why, sizeof server->why,
                       "the server does not take artifacts itself (mlflow server "
                       "--serve-artifacts)");
        return MLFLOW_REFUSED;
    }
    buffer_format(&url, "%s%s", server->address, ARTIFACTS);
    client_encode(&url, path, strlen(path), true);
    buffer_byte(&url, '/');
    client_encode(&url, name, strlen(name), true);
    struct client_request request = {.method = "PUT",
                                     .url = url.bytes,
                                     .content_type = "application/octet-stream",
                                     .body = bytes,
                                     .size = size,
                                     .cancel = server->cancel,
                                     .large = true};
    enum mlflow_outcome outcome = url.failed ? MLFLOW_AGAIN : ask(server, &request, NULL);
    /* Newer servers answer this request with an empty body. */
    if (outcome == MLFLOW_STRANGE && server->answer.status == 200 && server->answer.body.size == 0)
        outcome = MLFLOW_WELL;
    buffer_done(&url);
    return outcome;
}

/* ---- runs ----
 *
 * A named run is continued: its steps go on, and its status is RUNNING again. A new run is created
 * in the named experiment, which is created if it does not exist; else in the one of the id; else
 * in "0". */

static const char MARK[] = "vitals.spool"; /* the tags */
static const char PARENT[] = "mlflow.parentRunId", NAME[] = "mlflow.runName";

static const char *word(const json_t *object, const char *member)
{
    return json_string_value(json_object_get(object, member));
}

/* Sets server->why to BEFORE name BEHIND, and returns the outcome. */
static enum mlflow_outcome fail(struct mlflow_server *server, enum mlflow_outcome outcome,
                                const char *before, const char *name, const char *behind)
{
    char safe[120];
    (void)vitals_text_format(vitals_text_of(name), VITALS_TEXT_ASCII, safe, sizeof safe);
    (void)snprintf(server->why, sizeof server->why, "%s%s%s", before, safe, behind);
    return outcome;
}

/* Posts a document, and releases it. */
static enum mlflow_outcome post(struct mlflow_server *server, const char *path, json_t *document,
                                json_t **answer)
{
    enum mlflow_outcome outcome = MLFLOW_AGAIN;
    if (document != NULL)
        outcome = mlflow_ask(server, path, document, answer);
    json_decref(document);
    return outcome;
}

static enum mlflow_outcome get(struct mlflow_server *server, const char *path, const char *value,
                               json_t **answer)
{
    struct buffer url = {.bytes = NULL};
    buffer_string(&url, path);
    client_encode(&url, value, strlen(value), false);
    enum mlflow_outcome outcome = mlflow_ask(server, url.bytes, NULL, answer);
    buffer_done(&url);
    return outcome;
}

bool mlflow_read_run(const json_t *answer, const char *prefix, struct mlflow_run *run)
{
    const json_t *found = json_object_get(answer, "run"), *info = json_object_get(found, "info");
    const char *id = word(info, "run_id"), *place = word(info, "artifact_uri");
    const char *experiment = word(info, "experiment_id");
    if (id == NULL || id[0] == '\0' || strlen(id) > 200)
        return false;

    /* One more than the newest step of the metrics that will be continued. */
    const json_t *metrics = json_object_get(json_object_get(found, "data"), "metrics");
    uint64_t next = 0;
    for (size_t i = 0; i < json_array_size(metrics); i++) {
        const json_t *metric = json_array_get(metrics, i), *step = json_object_get(metric, "step");
        const char *key = word(metric, "key"), *digits = json_string_value(step);
        long long number = digits != NULL ? strtoll(digits, NULL, 10) : json_integer_value(step);
        if (key != NULL &&
            (strncmp(key, "system/", 7) == 0 || strncmp(key, prefix, strlen(prefix)) == 0) &&
            number >= 0 && number < INT64_MAX / 2 && (uint64_t)number >= next)
            next = (uint64_t)number + 1;
    }
    *run = (struct mlflow_run){
        .id = strdup(id),
        .experiment = strdup(experiment != NULL ? experiment : ""),
        .artifact_uri = strdup(place != NULL ? place : ""),
        .step = next,
    };
    if (run->id != NULL && run->experiment != NULL && run->artifact_uri != NULL)
        return true;
    mlflow_run_done(run);
    return false;
}

/* Finds the experiment's id by its name. The caller frees *id. */
static enum mlflow_outcome experiment_by_name(struct mlflow_server *server, const char *name,
                                              char **id)
{
    json_t *answer;
    enum mlflow_outcome outcome = get(server, "experiments/get-by-name?experiment_name=", name,
                                      &answer);
    if (outcome != MLFLOW_WELL)
        return outcome;
    const json_t *experiment = json_object_get(answer, "experiment");
    const char *stage = word(experiment, "lifecycle_stage");
    const char *found = word(experiment, "experiment_id");
    if (stage != NULL && strcmp(stage, "deleted") == 0)
        outcome = fail(server, MLFLOW_REFUSED, "experiment ", name, " has been deleted");
    else if (found == NULL || (*id = strdup(found)) == NULL)
        outcome = fail(server, MLFLOW_REFUSED, "the server does not show experiment ", name, "");
    json_decref(answer);
    return outcome;
}

/* If the parent does not exist, `parent` is NULL from here on: a job of an older run's environment
 * is exported all the same. */
static enum mlflow_outcome find_experiment(struct mlflow_server *server, const json_t *target,
                                           const char **parent, char **id)
{
    const char *name = word(target, "experiment"), *wanted = word(target, "experiment_id");
    enum mlflow_outcome outcome;
    json_t *answer;
    *id = NULL;
    if (name == NULL && wanted == NULL && *parent != NULL) {
        outcome = get(server, "runs/get?run_id=", *parent, &answer);
        if (outcome == MLFLOW_WELL) {
            const char *found = word(json_object_get(json_object_get(answer, "run"), "info"),
                                     "experiment_id");
            *id = strdup(found != NULL ? found : "0");
            json_decref(answer);
            return *id != NULL ? MLFLOW_WELL : MLFLOW_AGAIN;
        }
        if (outcome != MLFLOW_MISSING)
            return outcome;
        *parent = NULL;
    }
    if (name == NULL) {
        *id = strdup(wanted != NULL ? wanted : "0");
        return *id != NULL ? MLFLOW_WELL : MLFLOW_AGAIN;
    }
    outcome = experiment_by_name(server, name, id);
    if (outcome == MLFLOW_MISSING && wanted != NULL)
        return fail(server, outcome, "there is no experiment ", name, "");
    if (outcome == MLFLOW_MISSING) {
        outcome = post(server, "experiments/create", json_pack("{s:s}", "name", name), &answer);
        /* Another program may have created it meanwhile. */
        if (outcome == MLFLOW_REFUSED &&
            strstr(server->answer.body.size > 0 ? server->answer.body.bytes : "",
                   "RESOURCE_ALREADY_EXISTS") != NULL)
            return experiment_by_name(server, name, id);
        if (outcome != MLFLOW_WELL)
            return outcome;
        const char *made = word(answer, "experiment_id");
        *id = made != NULL ? strdup(made) : NULL;
        json_decref(answer);
        return *id != NULL ? MLFLOW_WELL
                           : fail(server, MLFLOW_REFUSED, "the server does not create experiment ",
                                  name, "");
    }
    if (outcome == MLFLOW_WELL && wanted != NULL && strcmp(wanted, *id) != 0)
        outcome = fail(server, MLFLOW_REFUSED, "experiment ", name,
                       " has another id than the given one");
    return outcome;
}

/* Continues a named run: its status is RUNNING again. */
static enum mlflow_outcome find_named(struct mlflow_server *server, const char *id,
                                      const char *prefix, struct mlflow_run *run)
{
    json_t *answer;
    enum mlflow_outcome outcome = get(server, "runs/get?run_id=", id, &answer);
    if (outcome == MLFLOW_MISSING)
        return fail(server, outcome, "there is no run ", id, "");
    if (outcome != MLFLOW_WELL)
        return outcome;
    const json_t *info = json_object_get(json_object_get(answer, "run"), "info");
    const char *stage = word(info, "lifecycle_stage"), *status = word(info, "status");
    if (stage != NULL && strcmp(stage, "deleted") == 0)
        outcome = fail(server, MLFLOW_MISSING, "run ", id, " has been deleted");
    else if (!mlflow_read_run(answer, prefix, run))
        outcome = fail(server, MLFLOW_REFUSED, "the server does not show run ", id, "");
    else if (status == NULL || strcmp(status, "RUNNING") != 0)
        outcome = post(server, "runs/update",
                       json_pack("{s:s,s:s}", "run_id", run->id, "status", "RUNNING"), NULL);
    json_decref(answer);
    return outcome;
}

static void add_tag(json_t *tags, const char *key, const char *value)
{
    if (value != NULL)
        (void)json_array_append_new(tags, json_pack("{s:s,s:s}", "key", key, "value", value));
}

/* Finds the run with the spool's mark, if one may have been created before (`search`), else creates
 * it below the parent. */
static enum mlflow_outcome make_run(struct mlflow_server *server, const char *experiment,
                                    const char *parent, const json_t *target, bool search,
                                    struct mlflow_run *run)
{
    const char *name = word(target, "run_name"), *prefix = word(target, "prefix");
    char filter[200];
    json_t *answer;
    (void)snprintf(filter, sizeof filter, "tags.`%s` = '%s'", MARK, word(target, "mark"));
    enum mlflow_outcome outcome = MLFLOW_WELL;
    bool read = false;
    if (search)
        outcome = post(server, "runs/search",
                       json_pack("{s:[s],s:s,s:i}", "experiment_ids", experiment, "filter", filter,
                                 "max_results", 1),
                       &answer);
    if (search && outcome == MLFLOW_WELL) {
        const json_t *found = json_array_get(json_object_get(answer, "runs"), 0);
        json_t *first = json_pack("{s:O?}", "run", found);
        read = mlflow_read_run(first, prefix, run);
        json_decref(first);
        json_decref(answer);
    }
    if (outcome != MLFLOW_WELL || read)
        return outcome;

    json_t *tags = json_deep_copy(json_object_get(target, "tags"));
    if (tags == NULL)
        tags = json_array();
    add_tag(tags, MARK, word(target, "mark"));
    add_tag(tags, PARENT, parent);
    add_tag(tags, NAME, name); /* of servers that do not know run_name */
    json_t *request = json_pack("{s:s,s:I,s:o}", "experiment_id", experiment, "start_time",
                                json_integer_value(json_object_get(target, "start_ms")), "tags",
                                tags);
    if (name != NULL)
        (void)json_object_set_new(request, "run_name", json_string(name));
    outcome = post(server, "runs/create", request, &answer);
    if (outcome == MLFLOW_MISSING)
        return fail(server, outcome, "there is no experiment ", experiment, "");
    if (outcome != MLFLOW_WELL)
        return outcome;
    read = mlflow_read_run(answer, prefix, run);
    json_decref(answer);
    return read ? MLFLOW_WELL : fail(server, MLFLOW_REFUSED, "the server created no run", "", "");
}

enum mlflow_outcome mlflow_find_run(struct mlflow_server *server, const json_t *target, bool search,
                                    struct mlflow_run *run)
{
    const char *id = word(target, "run_id"), *wanted = word(target, "parent"), *parent = wanted;
    char *experiment;
    if (id != NULL)
        return find_named(server, id, word(target, "prefix"), run);
    enum mlflow_outcome outcome = find_experiment(server, target, &parent, &experiment);
    if (outcome == MLFLOW_WELL)
        outcome = make_run(server, experiment, parent, target, search, run);
    if (outcome == MLFLOW_WELL && parent != wanted) {
        char safe[120];
        (void)vitals_text_format(vitals_text_of(wanted), VITALS_TEXT_ASCII, safe, sizeof safe);
        reply_say("mlflow: there is no run %s; the new run is not nested below it", safe);
    }
    run->ours = outcome == MLFLOW_WELL;
    free(experiment);
    return outcome;
}
