/* mlflow.c: exports a run to an MLflow server: the publisher "mlflow". See mlflow.h.
 *
 * The spool is the queue between the two: a record is in its file before the next sample is read,
 * so that it outlives this program, and only the sender waits for the network. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/address.h"
#include "export/clock.h"
#include "export/environment.h"
#include "export/mlflow/mlflow.h"
#include "export/publisher.h"
#include "export/reply.h"
#include "record/sample.h"
#include "util/file.h"
#include "util/memory.h"

enum { ARTIFACT_MOST = 40 * 1024 * 1024, INTERVAL_SECONDS = 10 };

struct mlflow {
    struct mlflow_points *points; /* NULL if the spool of another program is sent */
    struct mlflow_batch batch;
    struct sample *sample; /* the newest, or NULL */
    json_t *job, *config;
    enum redact_form form;
    bool ended;
    bool launched; /* vitals starts the process, in this working folder */

    const char *resume, *uri; /* of config, or the environment; the sender uses them too */
    struct spool *spool;
    struct mlflow_sender *sender;
    uint64_t dropped;  /* records that the spool did not accept */
    bool said_trouble; /* a write error was reported */
};

/* ---- configuration ---- */

static const char *setting(const json_t *config, const char *member, const char *variable)
{
    const char *value = json_string_value(json_object_get(config, member));
    if (value != NULL && value[0] != '\0')
        return value;
    return variable != NULL ? environment_get(variable) : NULL;
}

/* Returns the id of the run to continue; NULL for a new one. */
static const char *wanted_run(const json_t *config)
{
    return json_is_true(json_object_get(config, "new_run"))
               ? NULL
               : setting(config, "run_id", "MLFLOW_RUN_ID");
}

static double number(const json_t *config, const char *member)
{
    double value = json_number_value(json_object_get(config, member));
    return value > 0 ? value : 0;
}

static const char *prefix_of(const json_t *config)
{
    const char *prefix = json_string_value(json_object_get(config, "prefix"));
    return prefix != NULL ? prefix : "system/process/";
}

static void add(json_t *target, const char *member, const char *value)
{
    if (value != NULL)
        (void)json_object_set_new(target, member, json_string(value));
}

/* Returns what the run is found or created by (mlflow_server.h), as the spool stores it: without a
 * login. The caller frees it. */
static char *make_target(const struct mlflow *mlflow)
{
    char mark[64], *uri = mlflow_without_login(mlflow->uri);
    const json_t *config = mlflow->config, *job = mlflow->job;
    const char *run_id = wanted_run(config), *cwd = json_string_value(json_object_get(job, "cwd"));
    char commit[COMMIT_SIZE];
    bool known = mlflow->launched && run_id == NULL && cwd != NULL && commit_find(cwd, commit);
    (void)snprintf(mark, sizeof mark, "%llx-%llx", (unsigned long long)clock_realtime_ns(),
                   (unsigned long long)clock_now_ns());
    json_t *target = json_object();
    add(target, "uri", uri);
    add(target, "prefix", prefix_of(config));
    add(target, "mark", mark);
    add(target, "run_id", run_id);
    add(target, "parent", run_id == NULL ? environment_get("MLFLOW_RUN_ID") : NULL);
    add(target, "run_name", setting(config, "run_name", "MLFLOW_RUN_NAME"));
    add(target, "experiment", setting(config, "experiment", "MLFLOW_EXPERIMENT_NAME"));
    /* A named experiment wins over the environment's id. */
    bool named = setting(config, "experiment", NULL) != NULL;
    add(target, "experiment_id",
        setting(config, "experiment_id", named ? NULL : "MLFLOW_EXPERIMENT_ID"));
    uint64_t ns = usage_line_ns(job, "started_ns");
    ns = ns > 0 ? ns : clock_realtime_ns();
    (void)json_object_set_new(target, "start_ms", json_integer((json_int_t)(ns / 1000000)));
    (void)json_object_set_new(target, "tags",
                              mlflow_first_tags(job, known ? commit : NULL, mlflow->form));
    char *bytes = json_dumps(target, JSON_COMPACT);
    json_decref(target);
    free(uri);
    return bytes;
}

/* ---- the spool ---- */

/* Appends a record and wakes the sender. */
static void keep(struct mlflow *mlflow, enum spool_kind kind, const struct buffer *record)
{
    if (record->failed || !spool_append(mlflow->spool, kind, record->bytes, record->size))
        mlflow->dropped++;

    int number = spool_path(mlflow->spool) != NULL ? spool_trouble(mlflow->spool) : 0;
    if (number != 0 && !mlflow->said_trouble)
        reply_say("mlflow: %s: %s; what is not sent by the end may be lost",
                  spool_path(mlflow->spool), number == ENOSPC ? "disk full" : strerror(number));
    mlflow->said_trouble |= number != 0;
    mlflow_sender_wake(mlflow->sender);
}

static void keep_batch(void *data, struct buffer *body)
{
    keep(data, SPOOL_BATCH, body);
}

/* Ends the run of a program that was killed before the end, or whose end record is damaged. */
static void end_for_another(struct spool *spool)
{
    struct buffer tags = {.bytes = NULL}, note = {.bytes = NULL};
    struct spool_damage damage = spool_damage(spool);
    bool damaged = damage.places > 0 || damage.missing > 0;
    bool is_for_one = spool_note(spool, SPOOL_TARGET, &note) || spool_note(spool, SPOOL_RUN, &note);
    char end[100];
    buffer_done(&note);
    if (!is_for_one || spool_has_end(spool))
        return;
    buffer_format(&tags, "{\"tags\":[{\"key\":\"vitals.end\",\"value\":\"not %s\"}]}",
                  damaged ? "known: its record is damaged"
                          : "seen: vitals was ended before the command");
    if (!tags.failed)
        (void)spool_append(spool, SPOOL_BATCH, tags.bytes, tags.size);
    buffer_done(&tags);
    int size = snprintf(end, sizeof end, "{\"status\":\"KILLED\",\"end_time\":%llu}",
                        (unsigned long long)spool_written_ms(spool));
    (void)spool_append(spool, SPOOL_END, end, (size_t)size);
}

/* Creates a spool that begins with its target. */
static int make_spool(const char *folder, const char *target, struct spool **spool,
                      vitals_error *error)
{
    int code = spool_new(folder, spool, error);
    if (code == 0 && !spool_append(*spool, SPOOL_TARGET, target, strlen(target))) {
        int number = spool_trouble(*spool);
        code = record_fail_errno(number != 0 ? number : ENOMEM, folder != NULL ? folder : "spool",
                                 error);
        spool_close(*spool, true);
        *spool = NULL;
    }
    return code;
}

/* ---- the run ---- */

static void done(struct mlflow *mlflow)
{
    mlflow_points_free(mlflow->points);
    mlflow_batch_done(&mlflow->batch);
    sample_unref(mlflow->sample);
    json_decref(mlflow->job);
    json_decref(mlflow->config);
    free(mlflow);
}

/* Begins to export a run, with a new spool. */
static int begin_run(struct mlflow *mlflow, vitals_error *error)
{
    const json_t *config = mlflow->config;
    if (mlflow->uri == NULL)
        return record_fail(VITALS_EARGUMENT, "no server", error,
                           "--mlflow=URI, or set MLFLOW_TRACKING_URI");
    int code = address_check_mlflow(mlflow->uri, error);
    if (code < 0)
        return code;

    double seconds = number(config, "interval_seconds"), samples = number(config, "samples");
    double memory = number(config, "max_memory_bytes");
    seconds = (seconds > 0 ? seconds : INTERVAL_SECONDS) * (samples >= 1 ? samples : 1);
    const struct mlflow_points_options options = {
        .prefix = prefix_of(config),
        .node = environment_get("MLFLOW_SYSTEM_METRICS_NODE_ID"),
        .period_ns = seconds < 1e9 ? (uint64_t)(seconds * 1e9) : UINT64_MAX / 2,
        .memory_bytes = memory > 0 ? memory : number(mlflow->job, "memory_limit_bytes"),
        .cpus = number(config, "max_cpus"),
        .pid = json_integer_value(json_object_get(mlflow->job, "pid")),
    };
    mlflow->points = mlflow_points_new(&options);
    char *target = mlflow->points != NULL ? make_target(mlflow) : NULL;
    if (target == NULL)
        return record_fail(VITALS_EMEMORY, "mlflow", error, "out of memory");

    /* If the folder cannot be written, the spool is in memory: only a killed program loses it. */
    const char *folder = setting(config, "spool", NULL);
    code = folder != NULL
               ? make_spool(folder, target, &mlflow->spool, error)
               : record_fail(VITALS_EGONE, "mlflow", error, "there is no folder for unsent data");
    if (code < 0) {
        reply_say(
            "mlflow: unsent data is kept in memory only, and lost if the exporter is killed: %s",
            strncmp(error->message, "mlflow: ", 8) == 0 ? error->message + 8 : error->message);
        code = make_spool(NULL, target, &mlflow->spool, error);
    }
    free(target);
    return code;
}

static int open_mlflow(const json_t *config, const json_t *export_config, void **data,
                       vitals_error *error)
{
    struct mlflow *mlflow = calloc(1, sizeof *mlflow);
    const char *form = json_string_value(json_object_get(export_config, "cmdline"));
    const char *program = json_string_value(json_object_get(export_config, "program"));
    if (mlflow == NULL)
        return record_fail(VITALS_EMEMORY, "mlflow", error, "out of memory");
    mlflow->batch = (struct mlflow_batch){
        .emit = keep_batch, .data = mlflow, .tags_only = wanted_run(config) != NULL};
    mlflow->config = json_deep_copy(config);
    mlflow->job = json_deep_copy(json_object_get(export_config, "job"));
    mlflow->launched = program != NULL && strcmp(program, "run") == 0;
    int known = form != NULL ? redact_form_of(form) : REDACT_OFF;
    mlflow->form = known >= 0 ? (enum redact_form)known : REDACT_OFF;
    mlflow->resume = setting(mlflow->config, "resume", NULL);
    mlflow->uri = setting(mlflow->config, "uri", "MLFLOW_TRACKING_URI");

    const bool resumes = mlflow->resume != NULL;
    int code = mlflow->config == NULL
                   ? record_fail(VITALS_EMEMORY, "mlflow", error, "out of memory")
               : resumes ? spool_open(mlflow->resume, &mlflow->spool, error)
                         : begin_run(mlflow, error);
    if (code == 0 && resumes)
        end_for_another(mlflow->spool);
    if (code == 0) {
        const struct mlflow_sender_options options = {
            .resumed = resumes,
            .uri = mlflow->uri,
            .instead = resumes ? setting(mlflow->config, "instead", NULL) : NULL,
            .away_ns = (uint64_t)(fmin(number(config, "away_seconds"), 1e9) * 1e9),
        };
        code = mlflow_sender_start(mlflow->spool, &options, &mlflow->sender, error);
    }
    if (code < 0) {
        spool_close(mlflow->spool, !resumes);
        done(mlflow);
        return code;
    }

    *data = mlflow;
    if (mlflow->points != NULL)
        mlflow_write_begin(mlflow->job, mlflow->config, mlflow->form, &mlflow->batch);
    return 0;
}

/* ---- events ---- */

static void take_snapshot(void *data, struct sample *sample)
{
    struct mlflow *mlflow = data;
    sample_unref(mlflow->sample);
    mlflow->sample = sample_ref(sample);
}

static void take_usage(void *data, struct usage_line *usage)
{
    struct mlflow *mlflow = data;
    if (mlflow->points != NULL && mlflow_points_add(mlflow->points, usage))
        mlflow_points_write(mlflow->points, mlflow->sample, &mlflow->batch);
}

/* Stores files as artifacts: vitals/NAME\n and their bytes. */
static void put_files(struct mlflow *mlflow, const json_t *paths)
{
    for (size_t i = 0; i < json_array_size(paths); i++) {
        const char *path = json_string_value(json_array_get(paths, i));
        struct buffer artifact = {.bytes = NULL};
        struct file_text file;
        if (path == NULL || path[0] == '\0')
            continue;
        if (file_read_whole(path, ARTIFACT_MOST, 0, &file) < 0) {
            reply_lost("mlflow: %s cannot be sent", path);
            continue;
        }
        const char *slash = strrchr(path, '/');
        buffer_format(&artifact, "vitals/%s\n", slash != NULL ? slash + 1 : path);
        buffer_append(&artifact, file.bytes, file.size);
        if (artifact.failed)
            reply_lost("mlflow: %s cannot be sent", path);
        else
            keep(mlflow, SPOOL_ARTIFACT, &artifact);
        buffer_done(&artifact);
        memory_free(file.bytes);
    }
}

static void put_end(struct mlflow *mlflow, const char *status, uint64_t ms)
{
    struct buffer end = {.bytes = NULL};
    buffer_format(&end, "{\"status\":\"%s\",\"end_time\":%llu%s}",
                  status != NULL ? status : "FINISHED", (unsigned long long)ms,
                  status == NULL ? "," MLFLOW_ONLY_OURS : "");
    keep(mlflow, SPOOL_END, &end);
    buffer_done(&end);
    mlflow->ended = true;
}

static uint64_t newest_ms(const struct mlflow *mlflow)
{
    uint64_t ms = mlflow_points_newest_ms(mlflow->points);
    return ms > 0 ? ms : clock_realtime_ns() / 1000000;
}

static void take_end(void *data, const json_t *account, const json_t *status)
{
    struct mlflow *mlflow = data;
    struct buffer document = {.bytes = NULL};
    if (mlflow->points == NULL || mlflow->ended)
        return;
    uint64_t ms = account_ended_ns(account) / 1000000;
    mlflow_points_end(mlflow->points, json_object_get(account, "figures"), ms);
    if (mlflow_points_waiting(mlflow->points))
        mlflow_points_write(mlflow->points, mlflow->sample, &mlflow->batch);
    ms = ms > 0 ? ms : newest_ms(mlflow);
    mlflow_write_account(account, status, ms, &mlflow->batch);
    /* The end precedes the artifacts, which a server may refuse or delay. */
    put_end(mlflow, mlflow_status(status), ms);
    buffer_string(&document, "vitals/account.json\n");
    mlflow_account_document(account, mlflow->form, &document);
    keep(mlflow, SPOOL_ARTIFACT, &document);
    buffer_done(&document);
    put_files(mlflow, json_object_get(mlflow->config, "artifacts"));
}

static void take_files(void *data, const json_t *paths)
{
    struct mlflow *mlflow = data;
    if (mlflow->points != NULL)
        put_files(mlflow, paths);
}

/* ---- the close ---- */

static void say_left(const struct mlflow *mlflow, const char *why)
{
    const char *path = spool_path(mlflow->spool);
    const char *between = why[0] != '\0' ? ": " : "";
    char server[200] = "";
    if (mlflow->uri != NULL)
        address_show(mlflow->uri, server, sizeof server);
    if (mlflow->resume != NULL && why[0] != '\0')
        reply_failed("mlflow", "%s: not all was sent: %s", path, why);
    else if (mlflow->resume == NULL && path != NULL)
        reply_lost("mlflow: not all was sent%s%s; vitals send %s sends the rest, once %s takes it",
                   between, why, path, server);
    else if (mlflow->resume == NULL)
        reply_lost("mlflow: not all was sent%s%s; the rest is lost", between, why);
}

static void close_mlflow(void *data, uint64_t deadline_ns)
{
    struct mlflow *mlflow = data;

    /* The input ended without an account: the measuring program was killed. */
    if (mlflow->points != NULL && !mlflow->ended) {
        static const char WORDS[] = "not seen: vitals was ended before the command";
        if (mlflow_points_waiting(mlflow->points))
            mlflow_points_write(mlflow->points, mlflow->sample, &mlflow->batch);
        mlflow_batch_tag(&mlflow->batch, "vitals.end", (vitals_text){WORDS, sizeof WORDS - 1});
        mlflow_batch_flush(&mlflow->batch);
        put_end(mlflow, "KILLED", newest_ms(mlflow));
    }

    if (mlflow->dropped > 0)
        reply_lost("mlflow: %llu parts are missing: %s", (unsigned long long)mlflow->dropped,
                   mlflow->said_trouble ? "the disk did not take them" : "too much was waiting");

    /* A thread that hangs keeps what it uses. */
    char why[400];
    if (!mlflow_sender_stop(mlflow->sender, deadline_ns)) {
        say_left(mlflow, "the server does not answer");
        return;
    }
    uint64_t waiting = spool_waiting(mlflow->spool);
    uint64_t lost = spool_in_memory(mlflow->spool), left = waiting - lost;
    bool damaged = spool_damage(mlflow->spool).places > 0, resumed = mlflow->resume != NULL;
    const char *path = spool_path(mlflow->spool);
    mlflow_sender_free(mlflow->sender, why);
    /* A resumed spool was already settled by the sender. */
    if (!resumed && damaged && path != NULL)
        reply_say("mlflow: %s is damaged and is kept; vitals send %s shows where", path, path);
    else if (!resumed && damaged)
        reply_lost("mlflow: requests that could not be read again are lost");
    if (!resumed && left > 0)
        say_left(mlflow, why);
    if (!resumed && lost > 0)
        reply_lost("mlflow: %llu requests were not sent, and are lost: %s",
                   (unsigned long long)lost, why[0] != '\0' ? why : "they could not be kept");
    spool_close(mlflow->spool, !resumed && left == 0 && !damaged);
    done(mlflow);
}

const struct publisher publisher_mlflow = {
    .name = "mlflow",
    .open = open_mlflow,
    .snapshot = take_snapshot,
    .usage = take_usage,
    .end = take_end,
    .files = take_files,
    .close = close_mlflow,
};
