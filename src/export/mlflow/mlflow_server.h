/* mlflow_server.h: the calls of MLflow's REST interface that vitals uses.
 *
 * Blocks as long as a request takes. One thread at a time per server. */
#pragma once

#include <jansson.h>
#include <stdatomic.h>

#include "export/client.h"

enum mlflow_outcome {
    MLFLOW_WELL,
    MLFLOW_AGAIN,   /* it is away, or wants a later retry */
    MLFLOW_REFUSED, /* it refuses this request for good, in MLflow's own words */
    MLFLOW_DENIED,  /* the login is not accepted */
    MLFLOW_MISSING, /* the run or experiment does not exist, in MLflow's own words */
    MLFLOW_FAILED,  /* it failed over this request; a retry may help */
    MLFLOW_STRANGE, /* the answer is not MLflow's: a proxy's page, another server */
};

struct mlflow_server {
    struct client *client;
    char *address;   /* http://host:port, without a trailing slash */
    char shown[200]; /* the same for messages: without a login */
    const atomic_bool *cancel;
    bool anonymous;              /* no login is sent */
    struct client_answer answer; /* the newest; its body was consumed */
    char why[400];               /* the newest failure, one safe line */
};

/* Opens a server, `with_login` with that of MLflow's own variables and ~/.mlflow/credentials.
 * Errors: EARGUMENT (an address that this program cannot use), EUNSUPPORTED, EMEMORY. */
int mlflow_server_open(struct mlflow_server *server, const char *uri, bool with_login,
                       const atomic_bool *cancel, vitals_error *error);
void mlflow_server_done(struct mlflow_server *server);

/* Returns the address without its login; the caller frees it. NULL if memory is out. */
char *mlflow_without_login(const char *uri);

/* Calls /api/2.0/mlflow/`path`. A body of NULL is a GET. The caller releases *answer, which may be
 * NULL, if the outcome is WELL. */
enum mlflow_outcome mlflow_ask(struct mlflow_server *server, const char *path, const json_t *body,
                               json_t **answer);

/* Uploads an artifact of a run whose artifacts are at `artifact_uri`; REFUSED if the server does
 * not store them itself. */
enum mlflow_outcome mlflow_put(struct mlflow_server *server, const char *artifact_uri,
                               const char *name, const char *bytes, size_t size);

/* A run that was found or created. */
struct mlflow_run {
    char *id;
    char *experiment; /* its id; "" if not known */
    char *artifact_uri;
    uint64_t step; /* the next step of its system metrics */
    bool ours;     /* we created it */
};

void mlflow_run_done(struct mlflow_run *run);

/* The target that a run is found or created by is JSON; each member but the first and the last is
 * optional:
 *     {"uri":…, "run_id":…, "experiment":NAME, "experiment_id":…, "run_name":…, "start_ms":…,
 *      "parent":RUN_ID, "tags":[{"key":…,"value":…}…], "prefix":"system/process/", "mark":…}
 * A new run is created below the parent, and in its experiment unless another is given. The mark is
 * a tag of the run that we create, by which it is found again. */

/* Finds the run of the target, or creates it; `search`: it may have been created before. For
 * REFUSED, DENIED and MISSING server->why has a message for a person. */
enum mlflow_outcome mlflow_find_run(struct mlflow_server *server, const json_t *target, bool search,
                                    struct mlflow_run *run);

/* Returns the address of the run's page, without a login; the caller frees it. NULL if it is not
 * known, too long, or memory is out. */
char *mlflow_run_page(const struct mlflow_server *server, const struct mlflow_run *run);

/* Reads the run from an answer of runs/get or runs/create. Returns false if it has none. Pure. */
bool mlflow_read_run(const json_t *answer, const char *prefix, struct mlflow_run *run);

/* ---- the login (mlflow_login.c), as MLflow's clients do it ---- */

/* Creates a client; `with_login` from MLFLOW_TRACKING_USERNAME and _PASSWORD, else
 * ~/.mlflow/credentials, else MLFLOW_TRACKING_TOKEN, and with _CLIENT_CERT_PATH; in any case with
 * _INSECURE_TLS, _SERVER_CERT_PATH, MLFLOW_WORKSPACE and MLFLOW_HTTP_REQUEST_TIMEOUT. Errors: as
 * client_new; EUNSUPPORTED if the login needs a plug-in. */
int mlflow_login(bool with_login, struct client **out, vitals_error *error);

/* Reads `key` of the section [mlflow] of an INI file into *out, of `size` bytes. Returns false if
 * it is not there or too long. Pure. */
bool mlflow_credential(const char *bytes, size_t length, const char *key, char *out, size_t size);
