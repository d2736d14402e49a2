/* no_exporter.c: serve, send and the exports of run, in a build without the exporter program. */
#include "command/run/run_export.h"
#include "feed/built_without.h"

static int refuse(int code)
{
    return command_fail(code, BUILT_WITHOUT_EXPORTER);
}

int command_serve(const struct settings *settings UNUSED)
{
    return refuse(EXIT_CANNOT);
}

int command_send(const struct settings *settings UNUSED)
{
    return refuse(EXIT_CANNOT);
}

int exporters_check(const struct run_settings *run UNUSED, const struct export_settings *export,
                    const struct serve_settings *serve UNUSED)
{
    return exporters_asked(export) ? refuse(EXIT_USAGE) : 0;
}

void run_export_init(struct run_export *observer, const struct settings *settings UNUSED)
{
    *observer = (struct run_export){.variables = NULL};
}

void run_export_observe(struct run_export *observer UNUSED, vitals_run_options *options UNUSED)
{
}

bool run_export_begin(struct run_export *observer UNUSED, const struct settings *settings UNUSED,
                      const struct export_job *job UNUSED)
{
    return false;
}

int64_t run_export_pid(const struct run_export *observer UNUSED)
{
    return 0;
}

void run_export_sample(struct run_export *observer UNUSED, const vitals_snapshot *snapshot UNUSED,
                       const vitals_usage *usage UNUSED)
{
}

void run_export_take_interrupts(struct run_export *observer UNUSED)
{
}

void run_export_end(struct run_export *observer UNUSED, const struct settings *settings UNUSED,
                    const vitals_account *account UNUSED, const char *recording UNUSED)
{
}

void run_export_done(struct run_export *observer UNUSED)
{
}
