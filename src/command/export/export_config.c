/* export_config.c: the first line sent to libexec/vitals/tell, which configures it: a member for
 * each exporter, and the values that they share (docs/telling.md).
 *
 * Command lines are passed on only as far as --cmdline permits, so that no mistake in that program
 * can export more. */
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/export/exporter.h"
#include "export/address.h"
#include "report/json_form.h"

enum { ARGUMENTS_MAX = 64 * 1024 }; /* bytes of a command line */

/* ---- checks ---- */

bool exporters_asked(const struct export_settings *export)
{
    return export->mlflow.uri != NULL || export->otlp != NULL || export->tensorboard != NULL ||
           export->textfile != NULL;
}

/* False for a prefix that MLflow would reject, or would show under another name. */
static bool is_prefix(const char *prefix)
{
    static const char TAKEN[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-. /";
    enum { MOST = 100 };
    bool taken = strspn(prefix, TAKEN) == strlen(prefix) && strlen(prefix) <= MOST;
    for (const char *part = prefix; taken && *part != '\0'; part += strcspn(part, "/") + 1) {
        size_t size = strcspn(part, "/");
        taken = size > 0 && strspn(part, ".") < size;
        if (part[size] == '\0')
            break;
    }
    return taken;
}

/* Writes the address with its port, as the program expects it. 127.0.0.1:80, [::1]:80, host:80 and
 * the path of a socket have one. */
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

/* Checks the addresses of the command line before anything begins. The program checks those of the
 * environment, and an error there does not stop the job. */
static int check_addresses(const struct export_settings *export, const struct serve_settings *serve)
{
    vitals_error error;
    char address[300], shown[200];
    for (size_t i = 0; i < serve->listen.count; i++) {
        const char *given = serve->listen.items[i];
        if (given[0] != '\0' && given[strspn(given, "0123456789")] == '\0')
            return command_fail(EXIT_USAGE,
                                "--listen %s: a number is no address; did you mean --port %s?",
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
    return command_fail(EXIT_USAGE, "--otlp: %s is no address; it looks like http://HOST:4318%s",
                        shown, address_hint(export->otlp));
}

int exporters_check(const struct run_settings *run, const struct export_settings *export,
                    const struct serve_settings *serve)
{
    const struct {
        const char *given, *option, *words[5];
    } choices[] = {
        {serve->processes, "processes", {"off", "workload", "pid"}},
        {export->command_line, "cmdline", {"off", "argv0", "redacted", "full"}},
        {serve->label_user, "label-user", {"name", "uid", "hash", "off"}},
        {serve->compat, "compat", {"nvitop-exporter"}},
    };
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        const char *const *word = choices[i].words, *given = choices[i].given;
        char all[80] = "";
        for (; given != NULL && *word != NULL && strcmp(*word, given) != 0; word++) {
            size_t used = strlen(all);
            snprintf(all + used, sizeof all - used, "%s%s", used > 0 ? " " : "", *word);
        }
        if (given != NULL && *word == NULL)
            return command_fail(EXIT_USAGE, "--%s: \"%s\" is none; there is: %s", choices[i].option,
                                command_safe(given), all);
    }

    uint64_t bytes;
    int code = check_addresses(export, serve);
    if (code == 0 && export->mlflow.prefix != NULL && !is_prefix(export->mlflow.prefix))
        code = command_fail(EXIT_USAGE,
                            "--mlflow-prefix \"%s\": letters, digits, _ - . and spaces, in parts "
                            "by /, are expected, as in process/",
                            command_safe(export->mlflow.prefix));
    if (code == 0 && export->mlflow.memory != NULL &&
        (vitals_parse_bytes(export->mlflow.memory, &bytes) < 0 || bytes == 0))
        code = command_fail(EXIT_USAGE, "--max-memory %s: a size is expected, as 40GiB or 500M",
                            command_safe(export->mlflow.memory));
    if (code == 0 && run->repeat != 0 && exporters_asked(export))
        code = command_fail(EXIT_USAGE, "--repeat: several runs cannot be told as one; without "
                                        "--mlflow, --otlp and --tensorboard");
    if (code == 0 && export->tensorboard != NULL && export->tensorboard[0] == '\0')
        code = command_fail(EXIT_USAGE, "--tensorboard: a folder is expected");

    /* The node exporter's textfile collector reads only files with this ending. */
    const char *const files[] = {serve->textfile, export->textfile};
    for (size_t i = 0; i < sizeof files / sizeof files[0] && code == 0; i++) {
        size_t size = files[i] != NULL ? strlen(files[i]) : 0;
        if (files[i] != NULL && size == 0)
            code = command_fail(EXIT_USAGE, "--textfile: a file is expected");
        else if (size > 0 && (size < 5 || strcmp(files[i] + size - 5, ".prom") != 0))
            code = command_fail(EXIT_USAGE,
                                "--textfile %s: node_exporter reads only files that end in .prom",
                                command_safe(files[i]));
    }
    return code;
}

/* ---- parts of the configuration ---- */

static void begin(struct json_form *form, struct buffer *out, const char *program)
{
    json_form_init(form, 0, text_write, out);
    form_begin(form, '{');
    form_put_count(form, "tell", 1);
    form_put_string(form, "program", program);
    form_put_string(form, "version", vitals_version_text());
}

static void put_known(struct json_form *form, const char *key, const char *string)
{
    if (string != NULL && string[0] != '\0')
        form_put_string(form, key, string);
}

static void put_seconds(struct json_form *form, const char *key, uint64_t ns)
{
    form_put_number(form, key, (double)ns / 1e9);
}

static void put_shared(struct json_form *form, const struct sampling_settings *sampling,
                       const struct export_settings *export, uint64_t patience)
{
    uint64_t interval_ns = sampling->interval_ns > 0 ? sampling->interval_ns : 1000000000;
    put_seconds(form, "patience_seconds", patience);
    put_seconds(form, "interval_seconds", interval_ns);
    form_put_string(form, "cmdline", export->command_line);
}

static void put_otlp(struct json_form *form, const struct export_settings *export)
{
    if (export->otlp == NULL)
        return;
    form_begin_member(form, "otlp", '{');
    put_known(form, "endpoint", export->otlp);
    form_end(form, '}');
}

/* ---- serve ---- */

/* Puts the content of /metrics, for every destination. */
static void put_exposed(struct json_form *form, const struct serve_settings *serve)
{
    form_put_string(form, "processes", serve->processes);
    form_put_count(form, "max_processes", serve->max_processes);
    form_put_string(form, "label_user", serve->label_user);
    put_known(form, "compat", serve->compat);
    form_put_bool(form, "no_host", serve->no_host);
}

void export_config_serve(const struct sampling_settings *sampling,
                         const struct export_settings *export, const struct serve_settings *serve,
                         bool handed, struct buffer *out)
{
    static const uint64_t PATIENCE_NS = 2000000000;
    struct json_form form;
    begin(&form, out, "serve");
    put_shared(&form, sampling, export, PATIENCE_NS);
    form_begin_member(&form, "serve", '{');

    /* Inherited sockets, and the given addresses; localhost if there is neither. */
    const struct settings_words *words = &serve->listen;
    char address[300];
    form_begin_member(&form, "listen", '[');
    if (handed) {
        (void)snprintf(address, sizeof address, "fd:%d", LINK_HANDED);
        form_string(&form, address);
    }
    for (size_t i = 0; i < words->count; i++) {
        whole_address(serve, words->items[i], address, sizeof address);
        form_string(&form, address);
    }
    if (!handed && words->count == 0) {
        whole_address(serve, "localhost", address, sizeof address);
        form_string(&form, address);
    }
    form_end(&form, ']');

    put_known(&form, "web_config", serve->web_config);
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
    put_otlp(&form, export);
    form_end(&form, '}');
}

/* ---- run ---- */

static const char *variable(const struct environment_settings *environment, const char *name)
{
    size_t size = strlen(name);
    for (const char *const *at = environment->variables; at != NULL && *at != NULL; at++) {
        if (strncmp(*at, name, size) == 0 && (*at)[size] == '=' && (*at)[size + 1] != '\0')
            return *at + size + 1;
    }
    return NULL;
}

static void put_job(struct json_form *form, const struct settings *settings,
                    const struct export_job *job)
{
    char place[PATH_MAX], host[HOST_NAME_MAX + 1], digits[24], own_user[256];
    uint64_t bytes;
    form_begin_member(form, "job", '{');

    /* As much of the command line as --cmdline permits. */
    const char *const *argv = job->argv;
    size_t most = strcmp(settings->export.command_line, "off") == 0     ? 0
                  : strcmp(settings->export.command_line, "argv0") == 0 ? 1
                                                                        : SIZE_MAX;
    size_t used = 0;
    form_begin_member(form, "argv", '[');
    for (size_t i = 0; argv != NULL && argv[i] != NULL && i < most; i++) {
        used += strlen(argv[i]);
        if (used > ARGUMENTS_MAX)
            break;
        form_string(form, argv[i]);
    }
    form_end(form, ']');

    /* The name of the program, which every process list shows. A name from the kernel has no
     * folder: a / in it belongs to the name. */
    const char *name = job->argv != NULL ? job->argv[0] : job->name;
    const char *slash = job->argv != NULL && name != NULL ? strrchr(name, '/') : NULL;
    put_known(form, "name", slash != NULL ? slash + 1 : name);

    if (job->pid > 0)
        form_put_count(form, "pid", (uint64_t)job->pid);
    (void)snprintf(digits, sizeof digits, "%llu", (unsigned long long)clock_realtime_ns());
    form_put_string(form, "started_ns", digits);
    const char *user = variable(&settings->environment, "LOGNAME");
    if (user == NULL)
        user = variable(&settings->environment, "USER");
    form_put_string(form, "user", user != NULL ? user : command_user(own_user, sizeof own_user));
    if (getcwd(place, sizeof place) != NULL)
        form_put_string(form, "cwd", place);
    if (gethostname(host, sizeof host) == 0) {
        host[sizeof host - 1] = '\0';
        form_put_string(form, "host", host);
    }
    form_put_string(form, "version", vitals_version_text());
    if (settings->measure.expected_cores > 0)
        form_put_count(form, "expected_cores", settings->measure.expected_cores);
    if (settings->run.limits.memory != NULL &&
        vitals_parse_bytes(settings->run.limits.memory, &bytes) == 0)
        form_put_count(form, "memory_limit_bytes", bytes);
    form_end(form, '}');
}

void export_config_run(const struct settings *settings, const struct export_job *job,
                       struct buffer *out)
{
    struct json_form form;
    begin(&form, out, job->program);
    put_shared(&form, &settings->sampling, &settings->export, settings->export.wait_ns);
    put_job(&form, settings, job);
    const struct mlflow_settings *mlflow = &settings->export.mlflow;
    if (mlflow->uri != NULL) {
        uint64_t bytes;
        form_begin_member(&form, "mlflow", '{');
        put_known(&form, "uri", mlflow->uri);
        if (mlflow->run != NULL && strcmp(mlflow->run, MLFLOW_NEW_RUN) == 0)
            form_put_bool(&form, "new_run", true);
        else
            put_known(&form, "run_id", mlflow->run);
        put_known(&form, "experiment", mlflow->experiment);
        put_known(&form, "run_name", mlflow->name);
        form_put_string(&form, "prefix", mlflow->prefix);
        put_seconds(&form, "interval_seconds", mlflow->interval_ns);
        form_put_count(&form, "samples", mlflow->samples);
        if (mlflow->memory != NULL && vitals_parse_bytes(mlflow->memory, &bytes) == 0)
            form_put_count(&form, "max_memory_bytes", bytes);
        if (mlflow->cpus > 0)
            form_put_count(&form, "max_cpus", mlflow->cpus);

        char folder[PATH_MAX];
        const char *state = settings->environment.state_folder;
        int size = snprintf(folder, sizeof folder, "%s/vitals/unsent", state);
        if (state[0] != '\0' && size > 0 && (size_t)size < sizeof folder)
            form_put_string(&form, "spool", folder);
        form_end(&form, '}');
    }
    put_otlp(&form, &settings->export);
    if (settings->export.tensorboard != NULL) {
        form_begin_member(&form, "tensorboard", '{');
        form_put_string(&form, "folder", settings->export.tensorboard);
        form_end(&form, '}');
    }
    if (settings->export.textfile != NULL) {
        form_begin_member(&form, "textfile", '{');
        form_put_string(&form, "path", settings->export.textfile);
        form_end(&form, '}');
    }
    form_end(&form, '}');
}

/* ---- send ---- */

/* A server that answers may take its time; a server that is away is retried as long as
 * requested. */
void export_config_send(const struct send_settings *send, const char *path, struct buffer *out)
{
    static const double PATIENCE_SECONDS = 86400;
    struct json_form form;
    begin(&form, out, "send");
    form_put_number(&form, "patience_seconds", PATIENCE_SECONDS);
    form_begin_member(&form, "mlflow", '{');
    form_put_string(&form, "resume", path);
    put_known(&form, "instead", send->mlflow);
    put_seconds(&form, "away_seconds", send->wait_ns);
    form_end(&form, '}');
    form_end(&form, '}');
}
