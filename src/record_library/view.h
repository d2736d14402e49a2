/* view.h: how a report is shown, made of what the caller says. */
#pragma once

#include <vitals/record/report.h>

#include "report/account.h"

/* `given` may be NULL: the defaults. Errors: EARGUMENT (its size, a unit that is none). */
int view_take(const vitals_report_options *given, vitals_report_options *options,
              struct account_view *view, vitals_error *error);
