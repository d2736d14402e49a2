/* run_report.h: the report of a run in the form that was asked for: what `vitals report` prints. */
#pragma once

#include <vitals/record/report.h>

#include "record/recording.h"
#include "report/account.h"

struct run_report {
    const struct recording *recording;
    const char *path; /* of the recording, for its snapshots; as it was given */
    const struct account_view *view;
    bool with_phases; /* text and gpu_tracker's JSON tell of them too */

    /* For a page that is published: neither paths of this machine nor command lines, but this
     * title; NULL: none. */
    bool for_others;
    const char *title;
};

/* Returns 0, or what `write` returned to stop, or less than zero where memory is out. */
int run_report_write(const struct run_report *report, vitals_report_form form,
                     vitals_write_fn *write, void *data);
