/* mlflow_account.c: see mlflow.h. */
#include "export/mlflow/mlflow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/environment.h"

static const char *word(const json_t *object, const char *member)
{
    return json_string_value(json_object_get(object, member));
}

/* ---- the begin ---- */

static void add_tag(json_t *tags, const char *key, const char *value)
{
    struct buffer pair = {.bytes = NULL};
    if (value == NULL)
        return;
    mlflow_pair(&pair, key, vitals_text_of(value), MLFLOW_TAG_MOST);
    if (!pair.failed)
        (void)json_array_append_new(tags, json_loadb(pair.bytes, pair.size, 0, NULL));
    buffer_done(&pair);
}

json_t *mlflow_first_tags(const json_t *job, const char *commit, enum redact_form form)
{
    static const char *const CLUSTERS[] = {"SLURM_JOB_ID", "KUBERNETES_SERVICE_HOST", "PBS_JOBID",
                                           "LSB_JOBID"};
    json_t *tags = json_array();
    struct buffer program = {.bytes = NULL};
    const char *name = word(job, "name");
    if (form != REDACT_OFF)
        redact_arguments(&program, json_object_get(job, "argv"), REDACT_ARGV0);
    if (program.size > 0)
        name = program.bytes;

    /* MLflow's name for the place that a run comes from; a job of a cluster belongs to a user. */
    const char *source = "LOCAL";
    for (size_t i = 0; i < sizeof CLUSTERS / sizeof CLUSTERS[0]; i++) {
        if (environment_get(CLUSTERS[i]) != NULL)
            source = "JOB";
    }
    add_tag(tags, "mlflow.user", word(job, "user"));
    add_tag(tags, "mlflow.source.name", name != NULL ? name : "vitals");
    add_tag(tags, "mlflow.source.type", source);
    add_tag(tags, "mlflow.source.git.commit", commit);
    add_tag(tags, "vitals.version", word(job, "version"));
    add_tag(tags, "vitals.host", word(job, "host"));
    buffer_done(&program);
    return tags;
}

void mlflow_write_begin(const json_t *job, const json_t *config, enum redact_form form,
                        struct mlflow_batch *batch)
{
    static const struct {
        const char *member, *key;
        bool of_job;
    } NUMBERS[] = {
        {"expected_cores", "vitals.expected_cores", true},
        {"memory_limit_bytes", "vitals.memory_limit_bytes", true},
        {"max_memory_bytes", "vitals.max_memory_bytes", false},
        {"max_cpus", "vitals.max_cpus", false},
    };
    struct buffer text = {.bytes = NULL};
    redact_arguments(&text, json_object_get(job, "argv"), form);
    mlflow_batch_setting(batch, "vitals.command", (vitals_text){text.bytes, text.size});
    for (size_t i = 0; i < sizeof NUMBERS / sizeof NUMBERS[0]; i++) {
        double value = json_number_value(
            json_object_get(NUMBERS[i].of_job ? job : config, NUMBERS[i].member));
        mlflow_batch_limit(batch, NUMBERS[i].key, value);
    }
    buffer_done(&text);
    mlflow_batch_flush(batch);
}

/* ---- the end ---- */

const char *mlflow_status(const json_t *status)
{
    static const struct {
        const char *state, *status;
    } STATES[] = {{"signaled", "KILLED"}, {"limit", "KILLED"}, {"exited", "FINISHED"}};
    const char *state = word(status, "state");
    bool failed = json_integer_value(json_object_get(status, "code")) != 0;
    for (size_t i = 0; state != NULL && i < sizeof STATES / sizeof STATES[0]; i++) {
        if (strcmp(state, STATES[i].state) == 0)
            return i == 2 && failed ? "FAILED" : STATES[i].status;
    }
    return NULL;
}

static void put_tag(struct mlflow_batch *batch, const char *name, const char *value)
{
    char key[80];
    if (value == NULL || value[0] == '\0')
        return;
    (void)snprintf(key, sizeof key, "vitals.%s", name);
    mlflow_batch_tag(batch, key, vitals_text_of(value));
}

void mlflow_write_account(const json_t *account, const json_t *status, uint64_t ms,
                          struct mlflow_batch *batch)
{
    /* The figures that a person compares runs by; MLflow shows system/ apart from the user's own
     * metrics. The account's document has all of them. */
    static const char *const OF_RUN[] = {
        VITALS_FIGURE_WALL_SECONDS,
        VITALS_FIGURE_CPU_SECONDS,
        VITALS_FIGURE_MEMORY_PEAK_BYTES,
        VITALS_FIGURE_MEMORY_PEAK_LOW_BYTES,
    };
    /* The attributes of the account, without details of the machine. */
    static const char *const NAMES[] = {
        "state",       "exit",        "signal",       "rungs",      "missing",     "limit",
        "limit_words", "interval_ns", "system_cores", "started_ns", "gpu_drivers", "version",
    };
    const json_t *code = json_object_get(account, "exit_code");
    const json_t *figures = json_object_get(account, "figures"), *figure;
    const json_t *attributes = json_object_get(account, "attributes");
    double busy = 0; /* of all devices; NaN where one is missing */
    bool devices = false;
    char digits[32], key[80];
    size_t index;
    json_array_foreach(figures, index, figure)
    {
        const char *name = word(figure, "name"), *subject = word(figure, "subject");
        const json_t *value = json_object_get(figure, "value");
        double number = json_is_number(value) ? json_number_value(value) : (double)NAN;
        if (name == NULL)
            continue;
        for (size_t i = 0; i < sizeof OF_RUN / sizeof OF_RUN[0]; i++) {
            if (strcmp(name, OF_RUN[i]) != 0 || (subject != NULL && subject[0] != '\0'))
                continue;
            (void)snprintf(key, sizeof key, "system/run/%s", name);
            mlflow_batch_metric(batch, key, number, ms, 0);
        }
        if (strcmp(name, VITALS_FIGURE_GPU_BUSY_SECONDS) == 0) {
            busy += number;
            devices = true;
        }
    }
    if (devices)
        mlflow_batch_metric(batch, "system/run/" VITALS_FIGURE_GPU_BUSY_SECONDS, busy, ms, 0);
    mlflow_batch_flush(batch);

    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        put_tag(batch, NAMES[i], word(attributes, NAMES[i]));
    if (!json_is_integer(code))
        code = json_object_get(status, "code");
    if (json_is_integer(code)) {
        (void)snprintf(digits, sizeof digits, "%lld", (long long)json_integer_value(code));
        put_tag(batch, "exit_code", digits);
    }
    put_tag(batch, "end", word(status, "state"));
    mlflow_batch_flush(batch);
}

void mlflow_account_document(const json_t *account, enum redact_form form, struct buffer *out)
{
    json_t *copy = json_deep_copy(account);
    if (form != REDACT_FULL) {
        json_t *attributes = json_object_get(copy, "attributes");
        (void)json_object_del(copy, "command");
        (void)json_object_del(attributes, "command");
        (void)json_object_del(attributes, "working_directory");
    }
    char *bytes = copy != NULL ? json_dumps(copy, JSON_INDENT(1)) : NULL;
    if (bytes != NULL)
        buffer_string(out, bytes);
    free(bytes);
    json_decref(copy);
}
