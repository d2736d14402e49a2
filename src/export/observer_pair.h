/* observer_pair.h: two observers of one run: a recording and an exporter.
 *
 * If one fails, it is not called again and the other goes on; the failure is reported at the end,
 * with the account. Called in the sampler's process. */
#pragma once

#include <stdbool.h>

#include <vitals/vitals.h>

struct observer_pair {
    vitals_run_observer face;
    const vitals_run_observer *each[2];
    vitals_request *request; /* the metrics of both; owned */
    bool stopped[2];         /* in the sampler's process, like the next */
    vitals_error error;      /* of the first failure */
};

/* Both observers are borrowed; each may have one descriptor that stays open. Errors: EMEMORY. */
int observer_pair_init(struct observer_pair *pair, const vitals_run_observer *first,
                       const vitals_run_observer *second, vitals_error *error);
void observer_pair_done(struct observer_pair *pair);
