/* report.h: a snapshot or a run as text.
 *
 * Reports see snapshots and accounts and nothing else: no clock, no machine, no settings but these.
 * Their output is safe for a terminal. One thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vitals/vitals.h>

#include "view/draw.h"
#include "view/selection.h"

struct one_shot_options {
    struct look look;
    bool color; /* ANSI styles */
    int width;  /* columns there are */
    struct selection selection;
    const char *user; /* the user that runs vitals, for the title; NULL: it is not shown */
};

/* The metrics that the report shows. */
extern const vitals_metric REPORT_METRICS[];
extern const size_t REPORT_METRIC_COUNT;

/* The work that a process (may be NULL) belongs to: "job 4711.0", "pod notebook-0", "container
 * 5d1f0c6be2a9", "nginx.service". Returns false, and "", if there is none. Safe. And the metrics
 * that it is made of, which the report needs only of the processes on devices. */
bool report_work(const vitals_row *process, bool ascii, char *out, size_t capacity);
extern const vitals_metric REPORT_WORK_METRICS[];
extern const size_t REPORT_WORK_METRIC_COUNT;

/* Devices, host, processes. `older` (may be NULL) is what rates are made against. Returns 0,
 * VITALS_EMEMORY, or the value with which `write` stopped it. */
int report_one_shot(const vitals_snapshot *snapshot, const vitals_snapshot *older,
                    const struct one_shot_options *options, vitals_write_fn *write, void *data);

/* Indices of devices that were asked for and are not there, into `missing` (room for device_count).
 */
size_t report_missing_devices(const vitals_snapshot *snapshot, const struct selection *selection,
                              uint64_t *missing);

/* The rows of the table source that are of back ends: whether one is, and the next behind `after`
 * (NULL: the first); NULL at the end. And whether something kept it from looking for devices, so
 * that there may be some: no permission, a driver that does not answer. */
bool report_is_back_end(const vitals_row *source);
const vitals_row *report_next_back_end(const vitals_snapshot *snapshot, const vitals_row *after);
bool report_was_kept(const vitals_row *back_end);

/* Prints the account of a run for programs: one JSON object. */
int report_account_json(const vitals_account *account, const char *const *argv,
                        vitals_write_fn *write, void *data);
