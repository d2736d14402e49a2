/* mlflow.h: what the files of the MLflow exporter share. The spool is spool.h.
 *
 *     main thread                                     sender's thread
 *     samples ─► points ─► requests ─► spool  ─────►  the server */
#pragma once

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "export/client.h"
#include "export/mlflow/spool.h"
#include "export/redact.h"
#include "export/sample.h"
#include "export/usage_line.h"

/* ---- bodies of log-batch requests, within the server's limits: mlflow_batch.c ----
 *
 * A request holds at most 1000 metrics, or 100 parameters or tags, and less than 1 MB. Keys and
 * values are made valid. */

enum mlflow_part { MLFLOW_METRICS, MLFLOW_PARAMS, MLFLOW_TAGS };

enum {
    MLFLOW_KEY_MOST = 250,
    MLFLOW_PARAM_MOST = 500, /* newer servers accept 6000 */
    MLFLOW_TAG_MOST = 5000,
    MLFLOW_BODY_MOST = 900000, /* servers accept 1,000,000 */
};

/* A batch of zeros with `emit` set is empty. `emit` gets each request's body, without the run:
 * {"metrics":[…]}. */
struct mlflow_batch {
    void (*emit)(void *data, struct buffer *body);
    void *data;
    bool tags_only; /* settings are tags: the run's parameters are another's */
    struct buffer text;
    enum mlflow_part part;
    unsigned count;
};

/* Adds nothing if `value` is not finite; `ms` since 1970. */
void mlflow_batch_metric(struct mlflow_batch *batch, const char *key, double value, uint64_t ms,
                         uint64_t step);
void mlflow_batch_tag(struct mlflow_batch *batch, const char *key, vitals_text value);

/* Add a parameter, or a tag if parameters are not ours; nothing if it is empty, or not above 0. */
void mlflow_batch_setting(struct mlflow_batch *batch, const char *key, vitals_text value);
void mlflow_batch_limit(struct mlflow_batch *batch, const char *key, double limit);

/* Emits what was added since the last flush. */
void mlflow_batch_flush(struct mlflow_batch *batch);
void mlflow_batch_done(struct mlflow_batch *batch);

/* Appends a key that MLflow accepts: letters, digits, _ - . space and single slashes inside. A key
 * that had to be changed gets a hash of eight digits, so that two such keys differ. */
void mlflow_key(struct buffer *out, const char *key);

/* Appends {"key":…,"value":…} of a tag or parameter; the value is cut to `most` bytes. */
void mlflow_pair(struct buffer *out, const char *key, vitals_text value, size_t most);

/* ---- samples as points of series: mlflow_points.c ----
 *
 * Over each window a gauge is its mean, with its peak beside it; a counter is its value at the last
 * sample. A point has the time of that sample. The first sample is a point of its own, so that
 * short runs have a line too. Missing values have no point. */

struct mlflow_points;

struct mlflow_points_options {
    const char *prefix; /* of the processes' metrics: "system/process/" */
    const char *node;   /* NULL, or the node's name: system/NODE/… */
    uint64_t period_ns;
    double memory_bytes; /* limit of the processes; 0: the cgroup's or the machine's */
    double cpus;         /* 100 % of their CPU time; 0: the cgroup's, or one */
    int64_t pid;         /* of a process in a cgroup of its own; 0: started in ours */
};

/* The texts are borrowed. Returns NULL if memory is out. */
struct mlflow_points *mlflow_points_new(const struct mlflow_points_options *options);
void mlflow_points_free(struct mlflow_points *points); /* accepts NULL */

/* Adds a sample. Returns true if a window is complete. */
bool mlflow_points_add(struct mlflow_points *points, const struct usage_line *usage);

/* Ends the last window at the end of the run, and sets counters to the figures of the account,
 * since sampling misses a process's last moments. Rates stay those of samples: the time that these
 * missed may be of any part of the run. `ms` since 1970; 0 if not known. */
void mlflow_points_end(struct mlflow_points *points, const json_t *figures, uint64_t ms);

/* Returns whether samples were added since the last point, or the account has more than it. */
bool mlflow_points_waiting(const struct mlflow_points *points);

/* Writes the window's points and begins the next window; also, once, the settings that shares are
 * of: how many CPUs are 100 %, and the cgroup's limits. `sample` may be NULL: values of the
 * snapshot alone (the root file system, limits of power and of the cgroup) are left out then. */
void mlflow_points_write(struct mlflow_points *points, struct sample *sample,
                         struct mlflow_batch *batch);

/* Returns the time of the newest sample, in ms since 1970; 0 if there was none. */
uint64_t mlflow_points_newest_ms(const struct mlflow_points *points);

/* ---- the commit that a working folder is at, read from git's files: commit.c ----
 *
 * Runs no git and reads no configuration, so a folder of another user cannot run anything. Anything
 * that does not look like a commit gives none, and so does a repository with reftables. May wait
 * for a disk. */

enum { COMMIT_SIZE = 65, COMMIT_NAME_SIZE = 256 }; /* SHA-256 and NUL; "refs/heads/…" */

/* Finds the commit of the folder (an absolute path), or of the nearest folder above it that is a
 * working tree. */
bool commit_find(const char *folder, char commit[static COMMIT_SIZE]);

/* Parses HEAD or a reference's file: a commit, or the name of another reference. Returns false if
 * it is neither. Pure. */
bool commit_parse(const char *bytes, size_t size, char commit[static COMMIT_SIZE],
                  char name[static COMMIT_NAME_SIZE]);

/* Finds the commit of a reference in packed-refs. Pure. */
bool commit_parse_packed(const char *bytes, size_t size, const char *name,
                         char commit[static COMMIT_SIZE]);

/* ---- a run as a whole, at its begin and after its end: mlflow_account.c ---- */

/* Returns the tags of a new run as a list of {"key":…,"value":…}: its user and source. `job` is
 * that of the export_config, `commit` the working folder's, or NULL. The caller releases the list.
 * NULL if memory is out. */
json_t *mlflow_first_tags(const json_t *job, const char *commit, enum redact_form form);

/* Writes the options of the run as settings. */
void mlflow_write_begin(const json_t *job, const json_t *config, enum redact_form form,
                        struct mlflow_batch *batch);

/* Writes the main figures as metrics system/run/…, and attributes of the account as tags. */
void mlflow_write_account(const json_t *account, const json_t *status, uint64_t ms,
                          struct mlflow_batch *batch);

/* Returns FINISHED, FAILED or KILLED; NULL if the status is not known. */
const char *mlflow_status(const json_t *status);

/* Appends the account as a document, without the command line unless all of it may leave. */
void mlflow_account_document(const json_t *account, enum redact_form form, struct buffer *out);

/* ---- the calls of MLflow's REST interface that vitals uses: mlflow_server.c ----
 *
 * They block as long as a request takes. One thread at a time per server. */

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

/* ---- the login, as MLflow's clients do it: mlflow_login.c ---- */

/* Creates a client; `with_login` from MLFLOW_TRACKING_USERNAME and _PASSWORD, else
 * ~/.mlflow/credentials, else MLFLOW_TRACKING_TOKEN, and with _CLIENT_CERT_PATH; in any case with
 * _INSECURE_TLS, _SERVER_CERT_PATH, MLFLOW_WORKSPACE and MLFLOW_HTTP_REQUEST_TIMEOUT. Errors: as
 * client_new; EUNSUPPORTED if the login needs a plug-in. */
int mlflow_login(bool with_login, struct client **out, vitals_error *error);

/* Reads `key` of the section [mlflow] of an INI file into *out, of `size` bytes. Returns false if
 * it is not there or too long. Pure. */
bool mlflow_credential(const char *bytes, size_t length, const char *key, char *out, size_t size);

/* ---- the thread that sends a spool: mlflow_sender.c ----
 *
 * It sends the records in order, each until it is accepted. While the server is away it retries,
 * with growing intervals of up to a minute. A record that the server refuses is left out and
 * reported once; so is one that it fails over repeatedly while it accepts others. A login that
 * never worked, or a server that never was MLflow's, ends sending. */

struct mlflow_sender;

/* A member of an end record that is sent only for runs that we created; servers ignore it. */
#define MLFLOW_ONLY_OURS "\"only_ours\":true"

struct mlflow_sender_options {
    bool resumed;        /* another program began, and may have created the run already */
    const char *uri;     /* NULL, or the address with a login, if the spool has it without */
    const char *instead; /* NULL, or an address to use instead of the spool's */
    uint64_t away_ns;    /* how long the end waits for a server that does not answer; 0: until the
                            deadline */
};

/* The spool and the addresses are used until mlflow_sender_stop. Errors: EMEMORY, ESYSTEM (no
 * thread). */
int mlflow_sender_start(struct spool *spool, const struct mlflow_sender_options *options,
                        struct mlflow_sender **out, vitals_error *error);

/* Announces a new record. Any thread. */
void mlflow_sender_wake(struct mlflow_sender *sender);

/* Announces that no record follows: waits until all has been sent, but not beyond the deadline of
 * the monotonic clock. Returns false if the thread hangs; it is left behind with what it uses. */
bool mlflow_sender_stop(struct mlflow_sender *sender, uint64_t deadline_ns);

/* Frees the sender. `why`: the reason that not all was sent; empty if it was reported already. */
void mlflow_sender_free(struct mlflow_sender *sender, char why[static 400]);
