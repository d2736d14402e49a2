/* mlflow_server.c: see mlflow_server.h. */
#include "export/mlflow/mlflow_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "export/address.h"
#include "export/environment.h"
#include "export/mlflow/mlflow_login.h"
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

int mlflow_server_open(struct mlflow_server *server, const char *uri, const atomic_bool *cancel,
                       vitals_error *error)
{
    *server = (struct mlflow_server){.cancel = cancel};
    int code = address_check_mlflow(uri, error);
    if (code == 0)
        code = mlflow_login(&server->client, error);
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

static void put_part(struct text *url, const char *before, const char *part)
{
    text_string(url, before);
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
    struct text url = {.bytes = NULL};
    if (known) {
        text_string(&url, address);
        put_part(&url, "/#/experiments/", run->experiment);
        put_part(&url, "/runs/", run->id);
    }
    if (known && workspace != NULL && strcmp(workspace, "default") != 0)
        put_part(&url, "?workspace=", workspace);
    text_byte(&url, '\0');
    free(address);
    if (known && !url.failed && url.size <= PAGE_MOST)
        return url.bytes;
    text_done(&url);
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

/* `document` is the answer, NULL if it is not JSON. MLflow answers with an object, with an
 * error_code on failure; proxies in front of it answer differently. */
static enum mlflow_outcome outcome_of(const struct client_answer *answer, const json_t *document)
{
    const char *code = json_string_value(json_object_get(document, "error_code"));
    if (answer->status == 0)
        return answer->refused ? MLFLOW_DENIED : MLFLOW_AGAIN;
    for (size_t i = 0; i < sizeof OUTCOMES / sizeof OUTCOMES[0]; i++) {
        if (OUTCOMES[i].status == answer->status)
            return OUTCOMES[i].outcome;
    }
    if (answer->status >= 500)
        return MLFLOW_FAILED;
    if (answer->status == 200 && json_is_object(document))
        return MLFLOW_WELL;
    if (answer->status < 400 || code == NULL)
        return MLFLOW_STRANGE;
    return answer->status == 404 && strcmp(code, "RESOURCE_DOES_NOT_EXIST") == 0 ? MLFLOW_MISSING
                                                                                 : MLFLOW_REFUSED;
}

/* Sets `why` to the server's message, if it has one, after the request. */
static void explain(struct mlflow_server *server, enum mlflow_outcome outcome,
                    const json_t *document)
{
    const struct client_answer *answer = &server->answer;
    char words[260] = "";
    if (answer->status == 0) {
        /* A cancelled request is reported by the reason for its delay. */
        if (server->why[0] == '\0' || !atomic_load(server->cancel))
            (void)snprintf(server->why, sizeof server->why, "%s", answer->why);
        return;
    }
    if (outcome == MLFLOW_STRANGE) {
        (void)snprintf(server->why, sizeof server->why, "no MLflow server answers there (%d)",
                       answer->status);
        return;
    }
    const char *message = json_string_value(json_object_get(document, "message"));
    if (message != NULL)
        (void)vitals_text_format((vitals_text){message, strcspn(message, "\n")}, VITALS_TEXT_ASCII,
                                 words, sizeof words);
    (void)snprintf(server->why, sizeof server->why, "the server says %d%s%s%s", answer->status,
                   words[0] != '\0' ? ": " : "", words,
                   outcome == MLFLOW_DENIED ? " (MLFLOW_TRACKING_USERNAME and "
                                              "MLFLOW_TRACKING_PASSWORD, or "
                                              "MLFLOW_TRACKING_TOKEN, log in)"
                                            : "");
}

static enum mlflow_outcome ask(struct mlflow_server *server, const struct client_request *request,
                               json_t **answer)
{
    client_answer_done(&server->answer);
    client_ask(server->client, request, &server->answer);
    const struct text *body = &server->answer.body;
    json_t *document = body->size > 0 ? json_loadb(body->bytes, body->size, 0, NULL) : NULL;
    enum mlflow_outcome outcome = outcome_of(&server->answer, document);
    if (outcome != MLFLOW_WELL)
        explain(server, outcome, document);
    if (outcome == MLFLOW_WELL && answer != NULL)
        *answer = document;
    else
        json_decref(document);
    return outcome;
}

enum mlflow_outcome mlflow_ask(struct mlflow_server *server, const char *path,
                               const struct text *body, json_t **answer)
{
    struct text url = {.bytes = NULL};
    text_format(&url, "%s%s%s", server->address, INTERFACE, path);
    struct client_request request = {.method = body != NULL ? "POST" : "GET",
                                     .url = url.bytes,
                                     .content_type = body != NULL ? "application/json" : NULL,
                                     .body = body != NULL ? body->bytes : NULL,
                                     .size = body != NULL ? body->size : 0,
                                     .cancel = server->cancel};
    enum mlflow_outcome outcome = MLFLOW_AGAIN;
    if (!url.failed && (body == NULL || !body->failed))
        outcome = ask(server, &request, answer);
    text_done(&url);
    return outcome;
}

/* Returns the part after "mlflow-artifacts:/" or "mlflow-artifacts://host:port/"; NULL if artifacts
 * are stored elsewhere. */
static const char *artifact_path(const char *uri)
{
    static const char BEGIN[] = "mlflow-artifacts:/";
    if (uri == NULL || strncmp(uri, BEGIN, sizeof BEGIN - 1) != 0)
        return NULL;
    uri += sizeof BEGIN - 1;
    if (*uri != '/')
        return uri;
    const char *slash = strchr(uri + 1, '/');
    return slash != NULL ? slash + 1 : NULL;
}

enum mlflow_outcome mlflow_put(struct mlflow_server *server, const char *artifact_uri,
                               const char *name, const char *bytes, size_t size)
{
    const char *path = artifact_path(artifact_uri);
    struct text url = {.bytes = NULL};
    if (path == NULL) {
        (void)snprintf(server->why, sizeof server->why,
                       "the server does not take artifacts itself (mlflow server "
                       "--serve-artifacts)");
        return MLFLOW_REFUSED;
    }
    text_format(&url, "%s%s", server->address, ARTIFACTS);
    client_encode(&url, path, strlen(path), true);
    text_byte(&url, '/');
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
    text_done(&url);
    return outcome;
}
