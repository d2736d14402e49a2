/* mlflow_server.h: MLflow's REST interface, the calls that we make.
 *
 * Blocks as long as a request may take. One thread at a time per server. */
#ifndef VITALS_EXPORT_MLFLOW_MLFLOW_SERVER_H
#define VITALS_EXPORT_MLFLOW_MLFLOW_SERVER_H

#include <jansson.h>
#include <stdatomic.h>

#include "export/client.h"

enum mlflow_outcome {
    MLFLOW_WELL,
    MLFLOW_AGAIN,   /* it is away, or wants to be asked later */
    MLFLOW_REFUSED, /* this request, for good, in MLflow's own words */
    MLFLOW_DENIED,  /* who we are is not enough */
    MLFLOW_MISSING, /* what it is about does not exist, in MLflow's own words */
    MLFLOW_FAILED,  /* it failed over this request; once more may help */
    MLFLOW_STRANGE, /* what answers is no MLflow server: a proxy's page, the address of another */
};

struct mlflow_server {
    struct client *client;
    char *address;   /* http://host:port, without a slash at its end */
    char shown[200]; /* the same for messages: without a name and password */
    const atomic_bool *cancel;
    struct client_answer answer; /* the newest; its body is taken */
    char why[400];               /* the newest failure, one safe line */
};

/* A server's address, with how to log in by MLflow's own variables and ~/.mlflow/credentials.
 * Errors: EARGUMENT (no address that this program can ask), EUNSUPPORTED, EMEMORY. */
int mlflow_server_open(struct mlflow_server *server, const char *uri, const atomic_bool *cancel,
                       vitals_error *error);
void mlflow_server_done(struct mlflow_server *server);

/* The address without the name and password in it; the caller's. NULL: no memory. */
char *mlflow_without_login(const char *uri);

/* Asks /api/2.0/mlflow/`path`. A body of NULL is a GET. *answer, which may be NULL, is the caller's
 * to release where the outcome is WELL. */
enum mlflow_outcome mlflow_ask(struct mlflow_server *server, const char *path,
                               const struct text *body, json_t **answer);

/* Puts a file where the server takes artifacts for a run whose place is `artifact_uri`; REFUSED
 * where it does not take any. */
enum mlflow_outcome mlflow_put(struct mlflow_server *server, const char *artifact_uri,
                               const char *name, const char *bytes, size_t size);

/* A run, as it was found or made. */
struct mlflow_run {
    char *id;
    char *experiment; /* its id; "": not known */
    char *artifact_uri;
    uint64_t step; /* the next of its system metrics */
    bool ours;     /* we made it */
};

void mlflow_run_done(struct mlflow_run *run);

/* What a run is found or made by, as JSON, each member optional but the first and the last:
 *     {"uri":…, "run_id":…, "experiment":NAME, "experiment_id":…, "run_name":…, "start_ms":…,
 *      "parent":RUN_ID,
 *      "tags":[{"key":…,"value":…}…], "prefix":"system/process/", "mark":…}
 * A parent is the run that a new one stands below, and in whose experiment it is unless another was
 * asked for. The mark is a tag of the run that we make, by which it is found again. */

/* Finds the run that the target asks for, or makes it; `search`: one may have been made before.
 * REFUSED, DENIED and MISSING say in server->why what a person must know. */
enum mlflow_outcome mlflow_find_run(struct mlflow_server *server, const json_t *target, bool search,
                                    struct mlflow_run *run);

/* Where the server shows the run to a person, without what logs in; the caller's. NULL: not known,
 * too long, or no memory. */
char *mlflow_run_page(const struct mlflow_server *server, const struct mlflow_run *run);

/* Reads the run out of an answer of runs/get or runs/create, pure. False: it holds none. */
bool mlflow_read_run(const json_t *answer, const char *prefix, struct mlflow_run *run);

#endif
