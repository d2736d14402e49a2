/* history.h: the last hour, in memory: what the page draws before it has seen anything itself.
 *
 * A point every five seconds, or every sample where those are fewer: gauges as they are then,
 * counters as their rate since the point before, the utilization of a device as its mean since then
 * where its driver counts. A value that was missing is a gap, as is one that was not read since the
 * point before because its source was late. Devices come and go: the line of one
 * that left stays until an hour has passed. Samples between two points are not read. One thread. */
#ifndef VITALS_EXPORT_SERVER_HISTORY_H
#define VITALS_EXPORT_SERVER_HISTORY_H

#include "export/sample.h"
#include "feed/text.h"

enum { HISTORY_SECONDS = 3600, HISTORY_STEP_SECONDS = 5, HISTORY_POINTS = 720 };

/* Lines of an hour; what is more is left out, and counted. 3 KiB each. */
enum { HISTORY_LINES_MAX = 256 };

struct history;

/* NULL when memory is out. */
struct history *history_new(void);
void history_free(struct history *history); /* accepts NULL */

/* Takes every sample as it comes; shares it until there are newer ones. */
void history_take(struct history *history, struct moment *moment);

/* A sample that came 0.9 s before the newest, or earlier: what its rates are made with. Borrowed
 * until the next is taken; NULL: there is none yet. */
struct moment *history_before(const struct history *history);

/* Appends
 *     {"history":1,"step_seconds":5,"left_out":0,"realtime_ms":[…],
 *      "lines":[{"table":"gpu","key":1,"label":"0","metric":"power_watts","unit":"watts",
 *                "values":[412.4,null,…]},…],
 *      "availability":{"denied":"permission",…}}
 * The last member says what each word of availability means. Times only grow, whatever was done to
 * the wall clock: the newest is right, and the rest stand as far from it as time has passed. */
void history_write(const struct history *history, struct text *text);

#endif
