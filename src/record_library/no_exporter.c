/* no_exporter.c: see <vitals/record/exporter.h>, in a build without exporters: there is never one
 * to call the other functions with. */
#include "feed/built_without.h"
#include "record_library/exporter_options.h"
#include "util/error.h"

static int refuse(vitals_error *error)
{
    return error_set(error, VITALS_EUNSUPPORTED, 0, BUILT_WITHOUT_EXPORTER);
}

int vitals_exporter_open(const vitals_exporter_options *options, vitals_exporter **out,
                         vitals_error *error)
{
    (void)options, (void)out;
    return refuse(error);
}

int vitals_exporter_request(const vitals_exporter *exporter, vitals_request *request,
                            vitals_error *error)
{
    (void)exporter, (void)request;
    return refuse(error);
}

int vitals_exporter_sample(vitals_exporter *exporter, const vitals_snapshot *snapshot,
                           const vitals_usage *usage, vitals_error *error)
{
    (void)exporter, (void)snapshot, (void)usage;
    return refuse(error);
}

int vitals_exporter_account(vitals_exporter *exporter, const vitals_account *account,
                            vitals_error *error)
{
    (void)exporter, (void)account;
    return refuse(error);
}

int vitals_exporter_file(vitals_exporter *exporter, const char *path, vitals_error *error)
{
    (void)exporter, (void)path;
    return refuse(error);
}

int vitals_exporter_observer(vitals_exporter *exporter, const vitals_run_observer *also,
                             const vitals_run_observer **out, vitals_error *error)
{
    (void)exporter, (void)also, (void)out;
    return refuse(error);
}

int vitals_exporter_wait(vitals_exporter *exporter, uint64_t timeout_ns, vitals_error *error)
{
    (void)exporter, (void)timeout_ns;
    return refuse(error);
}

vitals_export_state vitals_exporter_state(const vitals_exporter *exporter,
                                          vitals_export_target target)
{
    (void)exporter, (void)target;
    return VITALS_EXPORT_OFF;
}

const char *vitals_exporter_message(const vitals_exporter *exporter)
{
    (void)exporter;
    return "";
}

const char *vitals_exporter_run_id(const vitals_exporter *exporter)
{
    return vitals_exporter_message(exporter);
}

const char *vitals_exporter_run_page(const vitals_exporter *exporter)
{
    return vitals_exporter_message(exporter);
}

int64_t vitals_exporter_pid(const vitals_exporter *exporter)
{
    (void)exporter;
    return 0;
}

uint64_t vitals_exporter_dropped(const vitals_exporter *exporter)
{
    (void)exporter;
    return 0;
}

int vitals_exporter_close(vitals_exporter *exporter, uint64_t timeout_ns, vitals_error *error)
{
    (void)exporter, (void)timeout_ns, (void)error;
    return 0;
}
