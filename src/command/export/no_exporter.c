/* no_exporter.c: serve, send and the exports of run, in a build without the exporter program. */
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

int exporters_check(const struct run_settings *run, const struct export_settings *export,
                    const struct serve_settings *serve)
{
    (void)run, (void)serve;
    return exporters_asked(export) ? refuse(EXIT_USAGE) : 0;
}

void run_export_init(struct run_export *observer, const struct settings *settings)
{
    (void)settings;
    *observer = (struct run_export){.variables = NULL};
}

void run_export_observe(struct run_export *observer, vitals_run_options *options)
{
    (void)observer, (void)options;
}

bool run_export_begin(struct run_export *observer, const struct settings *settings,
                      const struct export_job *job)
{
    (void)observer, (void)settings, (void)job;
    return false;
}

int64_t run_export_pid(const struct run_export *observer)
{
    (void)observer;
    return 0;
}

void run_export_sample(struct run_export *observer, const vitals_snapshot *snapshot,
                       const vitals_usage *usage)
{
    (void)observer, (void)snapshot, (void)usage;
}

void run_export_take_interrupts(struct run_export *observer)
{
    (void)observer;
}

void run_export_end(struct run_export *observer, const struct settings *settings,
                    const vitals_account *account, const char *recording)
{
    (void)observer, (void)settings, (void)account, (void)recording;
}

void run_export_done(struct run_export *observer)
{
    (void)observer;
}
