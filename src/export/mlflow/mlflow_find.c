/* mlflow_find.c: finds or creates the MLflow run to export to (mlflow_server.h).
 *
 * A named run is continued: its steps go on, and its status is RUNNING again. A new run is created
 * in the named experiment, which is created if it does not exist; else in the one of the id; else
 * in "0". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/mlflow/mlflow_server.h"
#include "export/reply.h"

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
    (void)vitals_text_format((vitals_text){name, strlen(name)}, VITALS_TEXT_ASCII, safe,
                             sizeof safe);
    (void)snprintf(server->why, sizeof server->why, "%s%s%s", before, safe, behind);
    return outcome;
}

/* Posts a document, and releases it. */
static enum mlflow_outcome post(struct mlflow_server *server, const char *path, json_t *document,
                                json_t **answer)
{
    struct text body = {.bytes = NULL};
    char *bytes = document != NULL ? json_dumps(document, JSON_COMPACT) : NULL;
    if (bytes != NULL)
        text_string(&body, bytes);
    else
        body.failed = true;
    free(bytes);
    json_decref(document);

    enum mlflow_outcome outcome = mlflow_ask(server, path, &body, answer);
    text_done(&body);
    return outcome;
}

static enum mlflow_outcome get(struct mlflow_server *server, const char *path, const char *value,
                               json_t **answer)
{
    struct text url = {.bytes = NULL};
    text_string(&url, path);
    client_encode(&url, value, strlen(value), false);
    enum mlflow_outcome outcome = mlflow_ask(server, url.bytes, NULL, answer);
    text_done(&url);
    return outcome;
}

/* ---- reading a run ---- */

/* Returns one more than the newest step of the metrics that will be continued. */
static uint64_t next_step(const json_t *metrics, const char *prefix)
{
    uint64_t next = 0;
    for (size_t i = 0; i < json_array_size(metrics); i++) {
        const json_t *metric = json_array_get(metrics, i), *step = json_object_get(metric, "step");
        const char *key = word(metric, "key");
        if (key == NULL ||
            (strncmp(key, "system/", 7) != 0 && strncmp(key, prefix, strlen(prefix)) != 0))
            continue;
        const char *digits = json_string_value(step);
        long long number = digits != NULL ? strtoll(digits, NULL, 10) : json_integer_value(step);
        if (number >= 0 && number < INT64_MAX / 2 && (uint64_t)number >= next)
            next = (uint64_t)number + 1;
    }
    return next;
}

bool mlflow_read_run(const json_t *answer, const char *prefix, struct mlflow_run *run)
{
    const json_t *found = json_object_get(answer, "run"), *info = json_object_get(found, "info");
    const char *id = word(info, "run_id"), *place = word(info, "artifact_uri");
    const char *experiment = word(info, "experiment_id");
    if (id == NULL || id[0] == '\0' || strlen(id) > 200)
        return false;
    *run = (struct mlflow_run){
        .id = strdup(id),
        .experiment = strdup(experiment != NULL ? experiment : ""),
        .artifact_uri = strdup(place != NULL ? place : ""),
        .step = next_step(json_object_get(json_object_get(found, "data"), "metrics"), prefix),
    };
    if (run->id != NULL && run->experiment != NULL && run->artifact_uri != NULL)
        return true;
    mlflow_run_done(run);
    return false;
}

/* ---- a named run ---- */

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

/* ---- the experiment ---- */

/* Finds the parent run's experiment. The caller frees *id. MISSING if there is no such run. */
static enum mlflow_outcome experiment_of(struct mlflow_server *server, const char *parent,
                                         char **id)
{
    json_t *answer;
    enum mlflow_outcome outcome = get(server, "runs/get?run_id=", parent, &answer);
    if (outcome != MLFLOW_WELL)
        return outcome;
    const json_t *info = json_object_get(json_object_get(answer, "run"), "info");
    const char *found = word(info, "experiment_id");
    *id = strdup(found != NULL ? found : "0");
    json_decref(answer);
    return *id != NULL ? MLFLOW_WELL : MLFLOW_AGAIN;
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

static enum mlflow_outcome make_experiment(struct mlflow_server *server, const char *name,
                                           char **id)
{
    json_t *answer;
    enum mlflow_outcome outcome = post(server, "experiments/create",
                                       json_pack("{s:s}", "name", name), &answer);
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
    return *id != NULL
               ? MLFLOW_WELL
               : fail(server, MLFLOW_REFUSED, "the server does not make experiment ", name, "");
}

/* If the parent does not exist, `parent` is NULL from here on: a job of an older run's environment
 * is exported all the same. */
static enum mlflow_outcome find_experiment(struct mlflow_server *server, const json_t *target,
                                           const char **parent, char **id)
{
    const char *name = word(target, "experiment"), *wanted = word(target, "experiment_id");
    enum mlflow_outcome outcome = MLFLOW_WELL;
    *id = NULL;
    if (name == NULL && wanted == NULL && *parent != NULL) {
        outcome = experiment_of(server, *parent, id);
        if (outcome != MLFLOW_MISSING)
            return outcome;
        *parent = NULL;
    }
    if (name == NULL) {
        *id = strdup(wanted != NULL ? wanted : "0");
        return *id != NULL ? MLFLOW_WELL : MLFLOW_AGAIN;
    }
    outcome = experiment_by_name(server, name, id);
    if (outcome == MLFLOW_MISSING && wanted == NULL)
        outcome = make_experiment(server, name, id);
    else if (outcome == MLFLOW_MISSING)
        outcome = fail(server, outcome, "there is no experiment ", name, "");
    if (outcome == MLFLOW_WELL && wanted != NULL && strcmp(wanted, *id) != 0)
        outcome = fail(server, MLFLOW_REFUSED, "experiment ", name,
                       " has another id than the one that was named");
    return outcome;
}

/* ---- a new run ---- */

/* Finds the run with the spool's mark, if one was created before; sets *found. */
static enum mlflow_outcome search_run(struct mlflow_server *server, const char *experiment,
                                      const json_t *target, struct mlflow_run *run, bool *found)
{
    char filter[200];
    json_t *answer;
    (void)snprintf(filter, sizeof filter, "tags.`%s` = '%s'", MARK, word(target, "mark"));
    enum mlflow_outcome outcome = post(server, "runs/search",
                                       json_pack("{s:[s],s:s,s:i}", "experiment_ids", experiment,
                                                 "filter", filter, "max_results", 1),
                                       &answer);
    if (outcome != MLFLOW_WELL)
        return outcome;
    json_t *first = json_pack("{s:O?}", "run", json_array_get(json_object_get(answer, "runs"), 0));
    *found = mlflow_read_run(first, word(target, "prefix"), run);
    json_decref(first);
    json_decref(answer);
    return MLFLOW_WELL;
}

static void add_tag(json_t *tags, const char *key, const char *value)
{
    if (value != NULL)
        (void)json_array_append_new(tags, json_pack("{s:s,s:s}", "key", key, "value", value));
}

static enum mlflow_outcome make_run(struct mlflow_server *server, const char *experiment,
                                    const char *parent, const json_t *target,
                                    struct mlflow_run *run)
{
    json_t *answer, *tags = json_deep_copy(json_object_get(target, "tags"));
    const char *name = word(target, "run_name");
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
    enum mlflow_outcome outcome = post(server, "runs/create", request, &answer);
    if (outcome == MLFLOW_MISSING)
        return fail(server, outcome, "there is no experiment ", experiment, "");
    if (outcome != MLFLOW_WELL)
        return outcome;
    bool read = mlflow_read_run(answer, word(target, "prefix"), run);
    json_decref(answer);
    return read ? MLFLOW_WELL : fail(server, MLFLOW_REFUSED, "the server makes no run", "", "");
}

enum mlflow_outcome mlflow_find_run(struct mlflow_server *server, const json_t *target, bool search,
                                    struct mlflow_run *run)
{
    const char *id = word(target, "run_id"), *wanted = word(target, "parent"), *parent = wanted;
    char *experiment;
    bool found = false;
    if (id != NULL)
        return find_named(server, id, word(target, "prefix"), run);
    enum mlflow_outcome outcome = find_experiment(server, target, &parent, &experiment);
    if (outcome == MLFLOW_WELL && search)
        outcome = search_run(server, experiment, target, run, &found);
    if (outcome == MLFLOW_WELL && !found)
        outcome = make_run(server, experiment, parent, target, run);
    if (outcome == MLFLOW_WELL && parent != wanted) {
        char safe[120];
        (void)vitals_text_format((vitals_text){wanted, strlen(wanted)}, VITALS_TEXT_ASCII, safe,
                                 sizeof safe);
        reply_say("mlflow: there is no run %s; the new one stands below none", safe);
    }
    run->ours = outcome == MLFLOW_WELL;
    free(experiment);
    return outcome;
}
