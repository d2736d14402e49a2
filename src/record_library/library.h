/* library.h: what every function of libvitals-record does at its beginning and its end.
 *
 * The rooms below print and read numbers as in the C locale: a call has it in its own thread, and
 * a function of the caller's that it calls has the caller's. Thread rule: the thread that calls. */
#pragma once

#include <locale.h>

#include <vitals/record/exporter.h>
#include <vitals/record/phases.h>
#include <vitals/record/report.h>
#include <vitals/vitals.h>

#include "report/account.h"
#include "report/statistics.h"

/* Between the two no function may return. */
locale_t library_enter(void);
void library_leave(locale_t before);

/* Returns the item behind `previous`, or the first if that is NULL; NULL behind the last. */
static inline const void *library_next(const void *items, size_t count, size_t size,
                                       const void *previous)
{
    const char *first = items, *next = previous != NULL ? (const char *)previous + size : first;
    return count > 0 && next < first + count * size ? next : NULL;
}

/* Passes bytes on to a caller's function. */
struct library_writer {
    vitals_write_fn *write;
    void *data;
    locale_t locale; /* the caller's */
    int stopped;     /* what it returned */
};

int library_write(void *writer, const char *bytes, size_t size);

/* Makes the result of a report from what its function returned, and leaves. */
int library_written(const struct library_writer *writer, int result, vitals_error *error);

/* A statistic by its public name. */
double statistic_of(const struct statistics *statistics, vitals_statistic which);

/* How a report is shown, made of what the caller says; `given` may be NULL: the defaults. Errors:
 * EARGUMENT (its size, a unit that is none). */
int view_take(const vitals_report_options *given, vitals_report_options *options,
              struct account_view *view, vitals_error *error);

/* The options of an exporter, in builds with and without one. Errors: EARGUMENT (their size). */
int exporter_options_take(const vitals_exporter_options *given, vitals_exporter_options *out,
                          vitals_error *error);
