/* mlflow_login.c: see mlflow_login.h. */
#include "export/mlflow/mlflow_login.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "export/environment.h"
#include "record/sample.h"

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

/* "key = value" */
static bool take_value(vitals_text line, const char *key, char *out, size_t size)
{
    const char *sign = memchr(line.bytes, '=', line.size);
    if (sign == NULL || !equals(trimmed(line.bytes, (size_t)(sign - line.bytes)), key))
        return false;
    vitals_text value = trimmed(sign + 1, line.size - (size_t)(sign + 1 - line.bytes));
    if (value.size == 0 || value.size >= size || memchr(value.bytes, '\0', value.size) != NULL)
        return false;
    memcpy(out, value.bytes, value.size);
    out[value.size] = '\0';
    return true;
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
        else if (ours && line.size > 0 && take_value(line, key, out, size))
            return true;
        at = end + 1;
    }
    return false;
}

/* ---- settings ---- */

struct mlflow_login {
    const char *user, *password; /* NULL: none */
    char file[3][FILE_MOST];     /* the file's bytes, and both values from it */
    struct text workspace;
    const char *headers[2];
};

/* Reads the file for values that no variable sets. */
static void take_file(struct mlflow_login *login)
{
    char path[4096];
    const char *home = environment_get("HOME");
    if (home == NULL || (login->user != NULL && login->password != NULL) ||
        (size_t)snprintf(path, sizeof path, "%s/.mlflow/credentials", home) >= sizeof path)
        return;
    FILE *file = fopen(path, "re");
    char *const bytes = login->file[0], *const user = login->file[1],
                *const password = login->file[2];
    size_t size = file != NULL ? fread(bytes, 1, FILE_MOST, file) : 0;
    if (login->user == NULL &&
        mlflow_credential(bytes, size, "mlflow_tracking_username", user, FILE_MOST))
        login->user = user;
    if (login->password == NULL &&
        mlflow_credential(bytes, size, "mlflow_tracking_password", password, FILE_MOST))
        login->password = password;
    if (file != NULL)
        (void)fclose(file);
}

static bool is_true(const char *value)
{
    return value != NULL && (strcasecmp(value, "true") == 0 || strcmp(value, "1") == 0);
}

/* Logins that need a plug-in of MLflow. */
static const char *unsupported(void)
{
    static const char *const NAMES[] = {"MLFLOW_TRACKING_AWS_SIGV4", "MLFLOW_TRACKING_AUTH"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        const char *value = environment_get(NAMES[i]);
        if (value != NULL && (i > 0 || is_true(value)))
            return NAMES[i];
    }
    return NULL;
}

int mlflow_login(struct client **out, vitals_error *error)
{
    const char *plugin = unsupported();
    struct mlflow_login *login;
    if (plugin != NULL)
        return record_fail(VITALS_EUNSUPPORTED, plugin, error,
                           "vitals cannot log in so; it knows names and tokens");
    login = calloc(1, sizeof *login);
    if (login == NULL)
        return record_fail(VITALS_EMEMORY, "mlflow", error, "out of memory");
    login->user = environment_get("MLFLOW_TRACKING_USERNAME");
    login->password = environment_get("MLFLOW_TRACKING_PASSWORD");
    take_file(login);
    const char *workspace = environment_get("MLFLOW_WORKSPACE");
    if (workspace != NULL)
        text_format(&login->workspace, "X-MLFLOW-WORKSPACE: %s", workspace);
    login->headers[0] = login->workspace.bytes;
    const char *certificate = environment_get("MLFLOW_TRACKING_CLIENT_CERT_PATH");
    const char *seconds = environment_get("MLFLOW_HTTP_REQUEST_TIMEOUT");
    long timeout = seconds != NULL ? strtol(seconds, NULL, 10) : 0;
    struct client_options options = {
        .user_agent = "vitals",
        .user = login->user,
        .password = login->password,
        .token = environment_get("MLFLOW_TRACKING_TOKEN"),
        .ca_file = environment_get("MLFLOW_TRACKING_SERVER_CERT_PATH"),
        .certificate = certificate,
        .headers = login->headers,
        .insecure = is_true(environment_get("MLFLOW_TRACKING_INSECURE_TLS")),
        .total_ns = timeout > 0 && timeout < 86400 ? (uint64_t)timeout * 1000000000 : 0,
    };
    int code = client_new(&options, out, error);
    text_done(&login->workspace);
    free(login);
    return code;
}
