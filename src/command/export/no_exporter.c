/* no_exporter.c: serve, send and what run tells others, in a build without the program for it. */
#include "command/run/run_export.h"
#include "feed/built_without.h"

static int refuse(int code)
{
    return command_fail(code, BUILT_WITHOUT_EXPORTER);
}

int command_serve(const struct settings *settings)
{
    (void)settings;
    return refuse(EXIT_CANNOT);
}

int command_send(const struct settings *settings)
{
    (void)settings;
    return refuse(EXIT_CANNOT);
}

bool telling_asked(const struct export_settings *export)
{
    (void)export;
    return false;
}

int telling_check(const struct run_settings *run, const struct export_settings *export,
                  const struct serve_settings *serve)
{
    (void)run, (void)serve;
    bool asked = export->mlflow.uri != NULL || export->otlp != NULL ||
                 export->tensorboard != NULL || export->textfile != NULL;
    return asked ? refuse(EXIT_USAGE) : 0;
}

void run_telling_init(struct run_telling *telling, const struct argument_settings *arguments,
                      const struct export_settings *export)
{
    (void)arguments, (void)export;
    *telling = (struct run_telling){.request = NULL};
}

void run_telling_observe(struct run_telling *telling, vitals_run_options *options)
{
    (void)telling, (void)options;
}

bool run_telling_begin(struct run_telling *telling, const struct settings *settings,
                       const struct hello_job *job)
{
    (void)telling, (void)settings, (void)job;
    return false;
}

int64_t run_telling_pid(const struct run_telling *telling)
{
    (void)telling;
    return 0;
}

void run_telling_sample(struct run_telling *telling, const vitals_snapshot *snapshot,
                        const vitals_usage *usage)
{
    (void)telling, (void)snapshot, (void)usage;
}

void run_telling_hold(struct run_telling *telling)
{
    (void)telling;
}

void run_telling_end(struct run_telling *telling, const struct settings *settings,
                     const vitals_account *account, const char *recording)
{
    (void)telling, (void)settings, (void)account, (void)recording;
}

void run_telling_done(struct run_telling *telling)
{
    (void)telling;
}
