/* view.h: a sample as the page needs it: a tenth of the whole, with rates.
 *
 *     {"view":1, "version":"0.1.0", "host":"node17", "realtime_ms":…, "sequence":…, "stream":…,
 *      "processes":"few",
 *      "tables":{"gpu":{"columns":["key","parent","label","index",…],"rows":[[1,null,"0",0,…],…]}}}
 *
 * A counter stands as its rate, by its name and _per_second. What is missing is ["denied"], a list
 * of its reason alone; what has a reservation is ["stale",61]. Text is made safe to be shown as it
 * is. A table whose rows are not simply all there has a "state". */
#ifndef VITALS_EXPORT_SERVER_VIEW_H
#define VITALS_EXPORT_SERVER_VIEW_H

#include <stdbool.h>

#include "feed/text.h"

struct view_sample {
    const vitals_snapshot *snapshot;
    const vitals_snapshot *older; /* what rates are made with; NULL: none yet */
};

/* Appends it. `every` has every process: the sample itself, or one of another sampler, whose keys
 * take the place of the sample's; NULL: those on devices are listed alone. */
void view_write(struct text *text, const struct view_sample *sample,
                const struct view_sample *every);

/* Appends a string of JSON, with its quotes, of text from outside: controls and what is invisible
 * stand in it as words, \u{202e}. */
void view_write_text(struct text *text, vitals_text bytes);

#endif
