/* run_config.c: see run_config.h. */
#include "export/run_config.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "export/clock.h"

enum { ARGUMENTS_MAX = 64 * 1024 }; /* bytes of a command line */

/* ---- parts ---- */

void run_config_begin(struct json_form *form, struct buffer *out, const char *program)
{
    json_form_init(form, 0, text_write, out);
    form_begin(form, '{');
    form_put_count(form, "tell", 1);
    form_put_string(form, "program", program);
    form_put_string(form, "version", vitals_version_text());
}

void run_config_put(struct json_form *form, const char *key, const char *string)
{
    if (string != NULL && string[0] != '\0')
        form_put_string(form, key, string);
}

static void put_seconds(struct json_form *form, const char *key, uint64_t ns)
{
    form_put_number(form, key, (double)ns / 1e9);
}

void run_config_shared(struct json_form *form, const char *command_line, uint64_t interval_ns,
                       uint64_t patience_ns)
{
    put_seconds(form, "patience_seconds", patience_ns);
    put_seconds(form, "interval_seconds", interval_ns > 0 ? interval_ns : 1000000000);
    form_put_string(form, "cmdline", command_line);
}

void run_config_destination(struct json_form *form, const char *name, const char *key,
                            const char *value)
{
    if (value == NULL)
        return;
    form_begin_member(form, name, '{');
    run_config_put(form, key, value);
    form_end(form, '}');
}

/* ---- a run ---- */

static void put_job(struct json_form *form, const vitals_exporter_options *options)
{
    char place[PATH_MAX], host[HOST_NAME_MAX + 1], digits[24];
    form_begin_member(form, "job", '{');

    /* As much of the command line as is permitted. */
    char *const *argv = options->argv;
    size_t most = strcmp(options->command_line, "off") == 0     ? 0
                  : strcmp(options->command_line, "argv0") == 0 ? 1
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
    bool named = options->name != NULL || argv == NULL;
    const char *name = named ? options->name : argv[0];
    const char *slash = !named && name != NULL ? strrchr(name, '/') : NULL;
    run_config_put(form, "name", slash != NULL ? slash + 1 : name);

    if (options->pid > 0)
        form_put_count(form, "pid", (uint64_t)options->pid);
    (void)snprintf(digits, sizeof digits, "%llu", (unsigned long long)clock_realtime_ns());
    form_put_string(form, "started_ns", digits);
    run_config_put(form, "user", options->user);
    if (getcwd(place, sizeof place) != NULL)
        form_put_string(form, "cwd", place);
    if (gethostname(host, sizeof host) == 0) {
        host[sizeof host - 1] = '\0';
        form_put_string(form, "host", host);
    }
    form_put_string(form, "version", vitals_version_text());
    if (options->expected_cores > 0)
        form_put_number(form, "expected_cores", options->expected_cores);
    if (options->memory_limit > 0)
        form_put_count(form, "memory_limit_bytes", options->memory_limit);
    form_end(form, '}');
}

static void put_mlflow(struct json_form *form, const vitals_exporter_options *options)
{
    if (options->mlflow == NULL)
        return;
    form_begin_member(form, "mlflow", '{');
    run_config_put(form, "uri", options->mlflow);
    if (options->mlflow_new_run != 0)
        form_put_bool(form, "new_run", true);
    else
        run_config_put(form, "run_id", options->mlflow_run_id);
    run_config_put(form, "experiment", options->mlflow_experiment);
    run_config_put(form, "run_name", options->mlflow_run_name);
    form_put_string(form, "prefix", options->mlflow_prefix);
    put_seconds(form, "interval_seconds", options->mlflow_interval_ns);
    form_put_count(form, "samples", options->mlflow_samples);
    if (options->mlflow_max_memory > 0)
        form_put_count(form, "max_memory_bytes", options->mlflow_max_memory);
    if (options->mlflow_max_cpus > 0)
        form_put_number(form, "max_cpus", options->mlflow_max_cpus);
    run_config_put(form, "spool", options->mlflow_unsent);
    form_end(form, '}');
}

void run_config_write(const char *program, const vitals_exporter_options *options,
                      struct buffer *out)
{
    struct json_form form;
    run_config_begin(&form, out, program);
    run_config_shared(&form, options->command_line, options->interval_ns, options->patience_ns);
    put_job(&form, options);
    put_mlflow(&form, options);
    run_config_destination(&form, "otlp", "endpoint", options->otlp);
    run_config_destination(&form, "tensorboard", "folder", options->tensorboard);
    run_config_destination(&form, "textfile", "path", options->textfile);
    form_end(&form, '}');
}
