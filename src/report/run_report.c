/* run_report.c: see run_report.h. */
#include "report/html.h"
#include "util/base.h"

static int write_text(const struct run_report *report, const struct phases *phases,
                      const struct sizing *sizing, vitals_write_fn *write, void *data)
{
    const vitals_account *account = recording_account(report->recording);
    bool ran = vitals_account_failure(account).size == 0;
    int stopped = account_text(account, report->view, write, data);
    if (stopped == 0 && report->with_phases)
        stopped = phases_text(phases, report->view, write, data);
    if (stopped == 0 && ran && !words_is_machine(account))
        stopped = sizing_text(sizing, report->view, write, data);
    return stopped;
}

static int write_form(const struct run_report *report, vitals_report_form form,
                      const struct phases *phases, const struct sizing *sizing,
                      vitals_write_fn *write, void *data)
{
    const vitals_account *account = recording_account(report->recording);
    const struct account_member members[] = {
        {"phases", phases_json, phases},
        {"advice", sizing_json, sizing},
    };
    if (form == VITALS_REPORT_TEXT)
        return write_text(report, phases, sizing, write, data);
    if (form == VITALS_REPORT_JSON)
        return account_json_with(account, members, ARRAY_COUNT(members), write, data);
    if (form == VITALS_REPORT_HTML)
        return html_write(report, phases, sizing, write, data);
    if (form == VITALS_REPORT_GPU_TRACKER && report->with_phases)
        return phases_gpu_tracker(phases, account, report->view, write, data);
    return account_gpu_tracker(account, report->view, form == VITALS_REPORT_GPU_TRACKER_TEXT, write,
                               data);
}

int run_report_write(const struct run_report *report, vitals_report_form form,
                     vitals_write_fn *write, void *data)
{
    struct phases phases;
    struct sizing sizing;
    if (phases_of(report->recording, &phases, NULL) < 0)
        return -1;
    sizing_of(recording_account(report->recording), &sizing);
    int stopped = write_form(report, form, &phases, &sizing, write, data);
    phases_done(&phases);
    return stopped;
}
