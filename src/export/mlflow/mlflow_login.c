/* mlflow_login.c: see mlflow.h: environment variables and ~/.mlflow/credentials. */
#include "export/mlflow/mlflow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "export/environment.h"
#include "record/sample.h"
#include "util/file.h"
#include "util/memory.h"

enum { FILE_MOST = 64 * 1024 };

/* ---- ~/.mlflow/credentials ---- */

static vitals_text trimmed(const char *bytes, size_t size)
{
    while (size > 0 && strchr(" \t\r", bytes[0]) != NULL && bytes[0] != '\0') {
        bytes++;
        size--;
    }
    while (size > 0 && strchr(" \t\r", bytes[size - 1]) != NULL && bytes[size - 1] != '\0')
        size--;
    return (vitals_text){bytes, size};
}

static bool equals(vitals_text text, const char *word)
{
    return text.size == strlen(word) && strncasecmp(text.bytes, word, text.size) == 0;
}

bool mlflow_credential(const char *bytes, size_t length, const char *key, char *out, size_t size)
{
    bool ours = false;
    for (size_t at = 0; at < length;) {
        const char *newline = memchr(bytes + at, '\n', length - at);
        size_t end = newline != NULL ? (size_t)(newline - bytes) : length;
        vitals_text line = trimmed(bytes + at, end - at);
        if (line.size > 0 && line.bytes[0] == '[')
            ours = equals(line, "[mlflow]");
        at = end + 1;

        /* "key = value" */
        const char *sign = ours && line.size > 0 ? memchr(line.bytes, '=', line.size) : NULL;
        if (sign == NULL || !equals(trimmed(line.bytes, (size_t)(sign - line.bytes)), key))
            continue;
        vitals_text value = trimmed(sign + 1, line.size - (size_t)(sign + 1 - line.bytes));
        if (value.size == 0 || value.size >= size || memchr(value.bytes, '\0', value.size) != NULL)
            continue;
        memcpy(out, value.bytes, value.size);
        out[value.size] = '\0';
        return true;
    }
    return false;
}

/* ---- settings ---- */

static bool is_true(const char *value)
{
    return value != NULL && (strcasecmp(value, "true") == 0 || strcmp(value, "1") == 0);
}

int mlflow_login(bool with_login, struct client **out, vitals_error *error)
{
    /* Logins that need a plug-in of MLflow. */
    const char *sigv4 = environment_get("MLFLOW_TRACKING_AWS_SIGV4");
    const char *plugin = is_true(sigv4) ? "MLFLOW_TRACKING_AWS_SIGV4"
                         : environment_get("MLFLOW_TRACKING_AUTH") != NULL ? "MLFLOW_TRACKING_AUTH"
                                                                           : NULL;
    if (plugin != NULL && with_login)
        return record_fail(VITALS_EUNSUPPORTED, plugin, error,
                           "vitals does not support this login; set MLFLOW_TRACKING_TOKEN, or "
                           "MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD");

    char(*found)[FILE_MOST] = calloc(2, sizeof *found), path[4096];
    if (found == NULL)
        return record_fail(VITALS_EMEMORY, "mlflow", error, "out of memory");
    const char *user = environment_get("MLFLOW_TRACKING_USERNAME");
    const char *password = environment_get("MLFLOW_TRACKING_PASSWORD");
    const char *home = environment_get("HOME");
    struct file_text file;
    if (with_login && home != NULL && (user == NULL || password == NULL) &&
        (size_t)snprintf(path, sizeof path, "%s/.mlflow/credentials", home) < sizeof path &&
        file_read_whole(path, FILE_MOST, 0, &file) == 0) {
        if (user == NULL && mlflow_credential(file.bytes, file.size, "mlflow_tracking_username",
                                              found[0], FILE_MOST))
            user = found[0];
        if (password == NULL && mlflow_credential(file.bytes, file.size, "mlflow_tracking_password",
                                                  found[1], FILE_MOST))
            password = found[1];
        memory_free(file.bytes);
    }

    const char *workspace = environment_get("MLFLOW_WORKSPACE");
    struct buffer header = {.bytes = NULL};
    if (workspace != NULL)
        buffer_format(&header, "X-MLFLOW-WORKSPACE: %s", workspace);
    const char *const headers[] = {header.bytes, NULL};
    const char *seconds = environment_get("MLFLOW_HTTP_REQUEST_TIMEOUT");
    long timeout = seconds != NULL ? strtol(seconds, NULL, 10) : 0;
    struct client_options options = {
        .user_agent = "vitals",
        .user = with_login ? user : NULL,
        .password = with_login ? password : NULL,
        .token = with_login ? environment_get("MLFLOW_TRACKING_TOKEN") : NULL,
        .ca_file = environment_get("MLFLOW_TRACKING_SERVER_CERT_PATH"),
        .certificate = with_login ? environment_get("MLFLOW_TRACKING_CLIENT_CERT_PATH") : NULL,
        .headers = headers,
        .insecure = is_true(environment_get("MLFLOW_TRACKING_INSECURE_TLS")),
        .total_ns = timeout > 0 && timeout < 86400 ? (uint64_t)timeout * 1000000000 : 0,
    };
    int code = client_new(&options, out, error);
    buffer_done(&header);
    free(found);
    return code;
}
