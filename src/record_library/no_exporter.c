/* no_exporter.c: see <vitals/record/exporter.h>, in a build without exporters: there is never one
 * to call the other functions with. */
#include "feed/built_without.h"
#include "record_library/library.h"
#include "util/base.h"
#include "util/error.h"

static int refuse(vitals_error *error)
{
    return error_set(error, VITALS_EUNSUPPORTED, 0, BUILT_WITHOUT_EXPORTER);
}

int vitals_exporter_open(const vitals_exporter_options *options UNUSED,
                         vitals_exporter **out UNUSED, vitals_error *error)
{
    return refuse(error);
}

int vitals_exporter_request(const vitals_exporter *exporter UNUSED, vitals_request *request UNUSED,
                            vitals_error *error)
{
    return refuse(error);
}

int vitals_exporter_sample(vitals_exporter *exporter UNUSED, const vitals_snapshot *snapshot UNUSED,
                           const vitals_usage *usage UNUSED, vitals_error *error)
{
    return refuse(error);
}

int vitals_exporter_account(vitals_exporter *exporter UNUSED, const vitals_account *account UNUSED,
                            vitals_error *error)
{
    return refuse(error);
}

int vitals_exporter_file(vitals_exporter *exporter UNUSED, const char *path UNUSED,
                         vitals_error *error)
{
    return refuse(error);
}

int vitals_exporter_observer(vitals_exporter *exporter UNUSED,
                             const vitals_run_observer *also UNUSED,
                             const vitals_run_observer **out UNUSED, vitals_error *error)
{
    return refuse(error);
}

int vitals_exporter_wait(vitals_exporter *exporter UNUSED, uint64_t timeout_ns UNUSED,
                         vitals_error *error)
{
    return refuse(error);
}

vitals_export_state vitals_exporter_state(const vitals_exporter *exporter UNUSED,
                                          vitals_export_target target UNUSED)
{
    return VITALS_EXPORT_OFF;
}

const char *vitals_exporter_message(const vitals_exporter *exporter UNUSED)
{
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

int64_t vitals_exporter_pid(const vitals_exporter *exporter UNUSED)
{
    return 0;
}

uint64_t vitals_exporter_dropped(const vitals_exporter *exporter UNUSED)
{
    return 0;
}

int vitals_exporter_close(vitals_exporter *exporter UNUSED, uint64_t timeout_ns UNUSED,
                          vitals_error *error UNUSED)
{
    return 0;
}
