/* What comes from outside of MLflow: answers of a server, the file of credentials, names that
 * become keys. The first byte says which. */
#include "export/environment.h"
#include "export/mlflow/mlflow.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const char *environment_get(const char *name)
{
    (void)name;
    return NULL;
}

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void read_answer(const char *bytes, size_t size)
{
    struct mlflow_run run = {.id = NULL};
    json_t *answer = json_loadb(bytes, size, 0, NULL);
    if (mlflow_read_run(answer, "system/process/", &run))
        check(run.id[0] != '\0' && run.artifact_uri != NULL);
    mlflow_run_done(&run);
    json_decref(answer);
}

static void read_credentials(const char *bytes, size_t size)
{
    char out[16] = "";
    if (mlflow_credential(bytes, size, "mlflow_tracking_username", out, sizeof out))
        check(out[0] != '\0' && strlen(out) < sizeof out && strchr(out, '\n') == NULL);
}

/* A key is one that MLflow takes, whatever it was made of. */
static void make_key(const char *bytes, size_t size)
{
    struct buffer key = {.bytes = NULL};
    char *name = strndup(bytes, size);
    if (name != NULL)
        mlflow_key(&key, name);
    check(key.failed || (key.size > 0 && key.size <= MLFLOW_KEY_MOST && key.bytes[0] != '/' &&
                         key.bytes[key.size - 1] != '/' && strstr(key.bytes, "//") == NULL));
    for (const char *part = key.bytes; part != NULL; part = strchr(part, '/')) {
        part += *part == '/';
        size_t length = strcspn(part, "/");
        check(!(length <= 2 && strspn(part, ".") >= length));
    }
    buffer_done(&key);
    free(name);
}

static void take_body(void *data, struct buffer *body)
{
    unsigned *count = data;
    json_t *document = json_loadb(body->bytes, body->size, 0, NULL);
    json_t *metrics = json_object_get(document, "metrics");
    check(json_array_size(metrics) <= 1000);
    check(json_array_size(metrics) + json_array_size(json_object_get(document, "params")) > 0);
    check(body->size <= MLFLOW_BODY_MOST + 1000);
    *count += (unsigned)json_array_size(metrics);
    json_decref(document);
}

static void add_usage(const char *bytes, size_t size)
{
    unsigned count = 0;
    struct mlflow_batch batch = {.emit = take_body, .data = &count};
    struct mlflow_points_options options = {.prefix = "p/", .period_ns = 1000};
    struct mlflow_points *points = mlflow_points_new(&options);
    json_t *usages = json_loadb(bytes, size, 0, NULL);
    for (size_t i = 0; i < json_array_size(usages) && points != NULL; i++) {
        struct usage_line *usage = usage_line_new(json_array_get(usages, i));
        if (usage != NULL && mlflow_points_add(points, usage))
            mlflow_points_write(points, NULL, &batch);
        usage_line_unref(usage);
    }
    json_decref(usages);
    mlflow_batch_done(&batch);
    mlflow_points_free(points);
}

static void (*const READERS[])(const char *bytes, size_t size) = {read_answer, read_credentials,
                                                                  make_key, add_usage};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && size <= 65536)
        READERS[data[0] % 4]((const char *)data + 1, size - 1);
    return 0;
}
