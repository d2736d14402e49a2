/* report.c: see <vitals/record/report.h>. */
#include <vitals/record/report.h>

#include "record/recording_data.h"
#include "record_library/library.h"
#include "report/run_report.h"
#include "util/error.h"
#include "util/options.h"

/* ---- options ---- */

static const vitals_report_options DEFAULTS = {.statistic = "mean"};

OPTIONS_FORM(OPTIONS, vitals_report_options, DEFAULTS, statistic, 72);

void vitals_report_options_init(vitals_report_options *options, size_t size)
{
    options_init(&OPTIONS, options, size);
}

int view_take(const vitals_report_options *given, vitals_report_options *options,
              struct account_view *view, vitals_error *error)
{
    char wrong[256];
    int code = options_take(&OPTIONS, given, options, error);
    if (code < 0)
        return code;
    if (options->statistic == NULL)
        options->statistic = DEFAULTS.statistic;
    *view = (struct account_view){.ascii = options->ascii != 0,
                                  .color = options->color != 0,
                                  .verbose = options->verbose != 0,
                                  .width = options->width > 0 ? (size_t)options->width : 0,
                                  .memory_unit = options->memory_unit,
                                  .gpu_memory_unit = options->gpu_memory_unit,
                                  .time_unit = options->time_unit};
    if (!account_units(view, wrong, sizeof wrong))
        return error_set(error, VITALS_EARGUMENT, 0, "%s", wrong);
    return 0;
}

/* ---- reports ---- */

static int report(const struct recording *recording, const char *path, vitals_report_form form,
                  const vitals_report_options *given, struct library_writer *writer,
                  vitals_error *error)
{
    vitals_report_options options;
    struct account_view view;
    int code = view_take(given, &options, &view, error);
    if (code < 0)
        return code;
    if (form < VITALS_REPORT_TEXT || form > VITALS_REPORT_GPU_TRACKER_TEXT)
        return error_set(error, VITALS_EARGUMENT, 0, "there is no form %d of a report", (int)form);
    const struct run_report made = {.recording = recording,
                                    .path = path,
                                    .view = &view,
                                    .with_phases = options.phases != 0,
                                    .for_others = options.for_others != 0,
                                    .title = options.title};
    writer->locale = library_enter();
    return library_written(writer, run_report_write(&made, form, library_write, writer), error);
}

int vitals_recording_report(const vitals_recording *recording, vitals_report_form form,
                            const vitals_report_options *options, vitals_write_fn *write,
                            void *data, vitals_error *error)
{
    const struct recording *inside = (const struct recording *)recording;
    struct library_writer writer = {.write = write, .data = data};
    return report(inside, inside->path, form, options, &writer, error);
}

int vitals_account_report(const vitals_account *account, vitals_report_form form,
                          const vitals_report_options *options, vitals_write_fn *write, void *data,
                          vitals_error *error)
{
    /* A recording that has an account and no sample, as one read from JSON. */
    char nowhere[] = "";
    const struct recording alone = {.path = nowhere,
                                    .format = "json",
                                    .account = (vitals_account *)account,
                                    .account_stored = true};
    struct library_writer writer = {.write = write, .data = data};
    return report(&alone, "", form, options, &writer, error);
}
