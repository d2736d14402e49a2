/* run_report.h: the report of a run in the form that was asked for: what `vitals report` prints. */
#pragma once

#include "report/phases.h"
#include "report/sizing.h"

enum run_report_form {
    RUN_REPORT_TEXT,
    RUN_REPORT_JSON,
    RUN_REPORT_GPU_TRACKER,
    RUN_REPORT_GPU_TRACKER_TEXT,
    RUN_REPORT_COUNT
};

struct run_report {
    const vitals_account *account;
    const struct phases *phases;
    const struct sizing *sizing;
    struct account_view view;
    bool with_phases; /* text and gpu_tracker's JSON tell of them too */
};

/* Returns 0, or what `write` returned to stop, or less than zero where memory is out. */
int run_report_write(const struct run_report *report, enum run_report_form form,
                     vitals_write_fn *write, void *data);
