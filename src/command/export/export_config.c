/* export_config.c: checks the options of the exporters, and makes the configuration of them: for
 * serve and send here, for a run by export/run_config.h. */
#include <stdio.h>
#include <string.h>

#include "command/export/exporter.h"
#include "export/address.h"
#include "export/run_config.h"

/* ---- checks ---- */

/* False for a prefix that MLflow would reject, or would show under another name. */
static bool is_prefix(const char *prefix)
{
    static const char ALLOWED[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-. /";
    enum { MOST = 100 };
    bool good = strspn(prefix, ALLOWED) == strlen(prefix) && strlen(prefix) <= MOST;
    for (const char *part = prefix; good && *part != '\0'; part += strcspn(part, "/") + 1) {
        size_t size = strcspn(part, "/");
        good = size > 0 && strspn(part, ".") < size;
        if (part[size] == '\0')
            break;
    }
    return good;
}

/* Writes the address with its port, as the exporter expects it. 127.0.0.1:80, [::1]:80, host:80
 * and the path of a socket have one. */
static void whole_address(const struct serve_settings *serve, const char *given, char *out,
                          size_t size)
{
    const char *bracket = strrchr(given, ']'), *colon = strrchr(given, ':');
    bool path = strchr(given, '/') != NULL, one_colon = strchr(given, ':') == colon;
    bool bare = given[0] != '[' && !one_colon && !path;
    bool has_port = path || (colon != NULL && (bracket != NULL ? colon > bracket : one_colon));
    if (has_port && !bare)
        (void)snprintf(out, size, "%s", given);
    else
        (void)snprintf(out, size, "%s%.250s%s:%llu", bare ? "[" : "", given, bare ? "]" : "",
                       (unsigned long long)serve->port);
}

/* Checks the addresses of the command line before anything begins. The exporter checks those of
 * the environment, and an error there does not stop the job. */
static int check_addresses(const struct export_settings *export, const struct serve_settings *serve)
{
    vitals_error error;
    char address[300], shown[200];
    for (size_t i = 0; i < serve->listen.count; i++) {
        const char *given = serve->listen.items[i];
        if (given[0] != '\0' && given[strspn(given, "0123456789")] == '\0')
            return command_fail(EXIT_USAGE,
                                "--listen %s: a number is not an address; did you mean --port %s?",
                                command_safe(given), command_safe(given));
        whole_address(serve, given, address, sizeof address);
        if (address_check_listen(address, &error) < 0)
            return command_fail(EXIT_USAGE, "--listen: %s", error.message);
    }
    if (export->mlflow.uri != NULL && export->mlflow.uri[0] != '\0' &&
        address_check_mlflow(export->mlflow.uri, &error) < 0)
        return command_fail(EXIT_USAGE, "--mlflow: %s", error.message);
    if (export->otlp == NULL || export->otlp[0] == '\0' || address_is_web(export->otlp))
        return 0;
    address_show(export->otlp, shown, sizeof shown);
    return command_fail(EXIT_USAGE, "--otlp: %s is not an address; write http://HOST:4318%s", shown,
                        address_hint(export->otlp));
}

int exporters_check(const struct run_settings *run, const struct export_settings *export,
                    const struct serve_settings *serve)
{
    uint64_t bytes;
    int code = check_addresses(export, serve);
    if (code == 0 && export->mlflow.prefix != NULL && !is_prefix(export->mlflow.prefix))
        code = command_fail(EXIT_USAGE,
                            "--mlflow-prefix \"%s\" is not valid; use letters, digits, _ - . and "
                            "spaces, in parts divided by /, as in process/",
                            command_safe(export->mlflow.prefix));
    if (code == 0 && export->mlflow.memory != NULL &&
        (vitals_parse_bytes(export->mlflow.memory, &bytes) < 0 || bytes == 0))
        code = command_fail(EXIT_USAGE,
                            "--max-memory %s is not a size; write 40GiB or 500M, for example",
                            command_safe(export->mlflow.memory));
    if (code == 0 && run->repeat != 0 && exporters_asked(export))
        code = command_fail(EXIT_USAGE, "--repeat cannot be used with --mlflow, --otlp, "
                                        "--tensorboard or --textfile: they export one run");
    if (code == 0 && export->tensorboard != NULL && export->tensorboard[0] == '\0')
        code = command_fail(EXIT_USAGE, "--tensorboard needs a folder, as in: --tensorboard runs/");

    /* The node exporter's textfile collector reads only files with this ending. */
    const char *const files[] = {serve->textfile, export->textfile};
    for (size_t i = 0; i < ARRAY_COUNT(files) && code == 0; i++) {
        size_t size = files[i] != NULL ? strlen(files[i]) : 0;
        if (files[i] != NULL && size == 0)
            code = command_fail(EXIT_USAGE,
                                "--textfile needs a file, as in: --textfile vitals.prom");
        else if (size > 0 && (size < 5 || strcmp(files[i] + size - 5, ".prom") != 0))
            code = command_fail(
                EXIT_USAGE,
                "--textfile %s: the name must end in .prom, or node_exporter does not read it",
                command_safe(files[i]));
    }
    return code;
}

/* ---- serve ---- */

/* Puts the options that choose what /metrics contains; the textfile has the same. */
static void put_exposed(struct json_form *form, const struct serve_settings *serve)
{
    form_put_string(form, "processes", serve->processes);
    form_put_count(form, "max_processes", serve->max_processes);
    form_put_string(form, "label_user", serve->label_user);
    run_config_put(form, "compat", serve->compat);
    form_put_bool(form, "no_host", serve->no_host);
}

void export_config_serve(const struct sampling_settings *sampling,
                         const struct export_settings *export, const struct serve_settings *serve,
                         bool socket_activation, struct buffer *out)
{
    static const uint64_t PATIENCE_NS = 2000000000;
    struct json_form form;
    run_config_begin(&form, out, "serve");
    run_config_shared(&form, export->command_line, sampling->interval_ns, PATIENCE_NS);
    form_begin_member(&form, "serve", '{');

    /* Inherited sockets, and the given addresses; localhost if there is neither. */
    const struct settings_words *words = &serve->listen;
    char address[300];
    form_begin_member(&form, "listen", '[');
    if (socket_activation) {
        (void)snprintf(address, sizeof address, "fd:%d", LINK_ACTIVATION_SOCKET);
        form_string(&form, address);
    }
    for (size_t i = 0; i < words->count; i++) {
        whole_address(serve, words->items[i], address, sizeof address);
        form_string(&form, address);
    }
    if (!socket_activation && words->count == 0) {
        whole_address(serve, "localhost", address, sizeof address);
        form_string(&form, address);
    }
    form_end(&form, ']');

    run_config_put(&form, "web_config", serve->web_config);
    form_put_bool(&form, "allow_insecure", serve->allow_insecure);

    form_begin_member(&form, "hosts", '[');
    for (size_t i = 0; i < serve->allow_hosts.count; i++)
        form_string(&form, serve->allow_hosts.items[i]);
    form_end(&form, ']');

    put_exposed(&form, serve);
    form_end(&form, '}');
    if (serve->textfile != NULL) {
        form_begin_member(&form, "textfile", '{');
        form_put_string(&form, "path", serve->textfile);
        put_exposed(&form, serve);
        form_end(&form, '}');
    }
    run_config_destination(&form, "otlp", "endpoint", export->otlp);
    form_end(&form, '}');
}

/* ---- run ---- */

const char *exporter_variable(const struct environment_settings *environment, const char *name)
{
    size_t size = strlen(name);
    for (const char *const *at = environment->variables; at != NULL && *at != NULL; at++) {
        if (strncmp(*at, name, size) == 0 && (*at)[size] == '=' && (*at)[size + 1] != '\0')
            return *at + size + 1;
    }
    return NULL;
}

void export_options(const struct settings *settings, const struct export_job *job,
                    char own_user[static EXPORT_USER], vitals_exporter_options *out)
{
    const struct export_settings *export = &settings->export;
    const struct mlflow_settings *mlflow = &export->mlflow;
    const char *user = exporter_variable(&settings->environment, "LOGNAME");
    bool new_run = mlflow->run != NULL && strcmp(mlflow->run, MLFLOW_NEW_RUN) == 0;
    if (user == NULL)
        user = exporter_variable(&settings->environment, "USER");
    *out = (vitals_exporter_options){
        .size = sizeof *out,
        .program = export->program,
        .interval_ns = settings->sampling.interval_ns,
        .patience_ns = export->wait_ns,
        .mlflow = mlflow->uri,
        .otlp = export->otlp,
        .tensorboard = export->tensorboard,
        .textfile = export->textfile,
        .mlflow_run_id = mlflow->run,
        .mlflow_new_run = new_run,
        .mlflow_experiment = mlflow->experiment,
        .mlflow_run_name = mlflow->name,
        .mlflow_prefix = mlflow->prefix,
        .mlflow_interval_ns = mlflow->interval_ns,
        .mlflow_samples = mlflow->samples,
        .mlflow_max_cpus = (double)mlflow->cpus,
        .argv = (char *const *)job->argv,
        .name = job->name,
        .pid = job->pid,
        .user = user != NULL ? user : command_user(own_user, EXPORT_USER),
        .expected_cores = (double)settings->measure.expected_cores,
        .command_line = export->command_line,
    };
    if (mlflow->memory != NULL)
        (void)!vitals_parse_bytes(mlflow->memory, &out->mlflow_max_memory);
    if (settings->run.limits.memory != NULL)
        (void)!vitals_parse_bytes(settings->run.limits.memory, &out->memory_limit);
}

/* ---- send ---- */

/* A server that answers may take its time; a server that is away is retried as long as
 * requested. */
void export_config_send(const struct send_settings *send, const char *path, struct buffer *out)
{
    static const double PATIENCE_SECONDS = 86400;
    struct json_form form;
    run_config_begin(&form, out, "send");
    form_put_number(&form, "patience_seconds", PATIENCE_SECONDS);
    form_begin_member(&form, "mlflow", '{');
    form_put_string(&form, "resume", path);
    run_config_put(&form, "instead", send->mlflow);
    form_put_number(&form, "away_seconds", (double)send->wait_ns / 1e9);
    form_end(&form, '}');
    form_end(&form, '}');
}
