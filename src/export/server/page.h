/* page.h: what the page is sent: the part of a sample that it needs, and the last hour. One thread.
 */
#pragma once

#include "export/redact.h"
#include "feed/text.h"

/* ---- a sample, with rates: a tenth of the whole: view.c ----
 *
 *     {"view":1, "version":"0.1.0", "host":"node17", "realtime_ms":…, "sequence":…, "stream":…,
 *      "processes":"few",
 *      "tables":{"gpu":{"columns":["key","parent","label","index",…],"rows":[[1,null,"0",0,…],…]}}}
 *
 * A counter is written as its rate, named NAME_per_second. A missing value is a list of its
 * reason, ["denied"]; a value of another availability than `have` is a pair, ["stale",61]. Text is
 * escaped so that it can be shown as it is. A table that is not complete has a member "state". */

struct view_sample {
    const vitals_snapshot *snapshot;
    const vitals_snapshot *older;   /* with which rates are computed; NULL: none yet */
    enum redact_form command_lines; /* how much of them is in the view */
};

/* Appends the view. `every` has every process: the sample itself, or one of another sampler, whose
 * keys then replace the sample's. NULL: only processes on devices are listed. */
void view_write(struct buffer *text, const struct view_sample *sample,
                const struct view_sample *every);

/* ---- the last hour, which the page draws when it is opened: history.c ----
 *
 * One point every five seconds, or one per sample if those are rarer: gauges as they are at that
 * time, counters as rates since the last point, the utilization of a device as its mean since then
 * if its driver counts. Missing values are gaps, and so are values that a late source has not read
 * again. The line of a device that is gone stays for an hour. */

enum { HISTORY_STEP_SECONDS = 5, HISTORY_POINTS = 720 }; /* an hour */

/* Lines of 3 KiB each; values beyond them are left out and counted. */
enum { HISTORY_LINES_MAX = 256 };

struct history_store;

/* Returns NULL without memory. */
struct history_store *history_new(void);
void history_free(struct history_store *history); /* accepts NULL */

/* Adds a snapshot. Keeps a reference until newer ones come. */
void history_take(struct history_store *history, const vitals_snapshot *snapshot);

/* Returns a snapshot at least 0.9 s older than the newest, with which to compute rates. Borrowed
 * until the next history_take. NULL if there is none yet. */
const vitals_snapshot *history_before(const struct history_store *history);

/* Appends
 *     {"history":1,"step_seconds":5,"left_out":0,"realtime_ms":[…],
 *      "lines":[{"table":"gpu","key":1,"label":"0","metric":"power_watts","unit":"watts",
 *                "values":[412.4,null,…]},…],
 *      "availability":{"denied":"permission",…}}
 * The last member explains each word of availability. Times only increase, even if the wall clock
 * was set: the newest is right, and the others have their true distance from it. */
void history_write(const struct history_store *history, struct buffer *text);
