/* view.h: the part of a sample that the page needs, with rates: a tenth of the whole.
 *
 *     {"view":1, "version":"0.1.0", "host":"node17", "realtime_ms":…, "sequence":…, "stream":…,
 *      "processes":"few",
 *      "tables":{"gpu":{"columns":["key","parent","label","index",…],"rows":[[1,null,"0",0,…],…]}}}
 *
 * A counter is written as its rate, named NAME_per_second. A missing value is a list of its
 * reason, ["denied"]; a value of another availability than `have` is a pair, ["stale",61]. Text is
 * escaped so that it can be shown as it is. A table that is not complete has a member "state". */
#pragma once

#include "export/redact.h"
#include "feed/text.h"

struct view_sample {
    const vitals_snapshot *snapshot;
    const vitals_snapshot *older;   /* with which rates are computed; NULL: none yet */
    enum redact_form command_lines; /* how much of them is in the view */
};

/* Appends the view. `every` has every process: the sample itself, or one of another sampler, whose
 * keys then replace the sample's. NULL: only processes on devices are listed. */
void view_write(struct buffer *text, const struct view_sample *sample,
                const struct view_sample *every);
