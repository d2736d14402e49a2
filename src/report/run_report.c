/* run_report.c: see run_report.h. */
#include "report/run_report.h"

#include "report/words.h"

static int write_text(const struct run_report *report, vitals_write_fn *write, void *data)
{
    bool ran = vitals_account_failure(report->account).size == 0;
    int stopped = account_text(report->account, &report->view, write, data);
    if (stopped == 0 && report->with_phases)
        stopped = phases_text(report->phases, &report->view, write, data);
    if (stopped == 0 && ran && !words_is_machine(report->account))
        stopped = sizing_text(report->sizing, &report->view, write, data);
    return stopped;
}

int run_report_write(const struct run_report *report, enum run_report_form form,
                     vitals_write_fn *write, void *data)
{
    const struct account_member members[] = {
        {"phases", phases_json, report->phases},
        {"advice", sizing_json, report->sizing},
    };
    if (form == RUN_REPORT_TEXT)
        return write_text(report, write, data);
    if (form == RUN_REPORT_JSON)
        return account_json_with(report->account, members, sizeof members / sizeof members[0],
                                 write, data);
    if (form == RUN_REPORT_GPU_TRACKER && report->with_phases)
        return phases_gpu_tracker(report->phases, report->account, &report->view, write, data);
    return account_gpu_tracker(report->account, &report->view, form == RUN_REPORT_GPU_TRACKER_TEXT,
                               write, data);
}
