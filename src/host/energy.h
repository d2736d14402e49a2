/* energy.h: counters of energy that begin anew, and the sums over them.
 *
 * A zone's counter runs to its range and then from 0: what it counted before is added, as long as
 * it is read more often than it goes round (at 200 W some twenty minutes). One that begins anew for
 * another reason, its driver being loaded again, looks the same: that range too much is not
 * noticed. Thread rule: one thread at a time. */
#ifndef VITALS_HOST_ENERGY_H
#define VITALS_HOST_ENERGY_H

#include "metric/facts.h"

struct energy_zone;

/* One of zeros knows no zone. */
struct energy {
    struct energy_zone *zones;
    size_t count, capacity;
};

void energy_done(struct energy *energy);

/* Adds what the sums are made of, where one is wanted. */
void energy_want(struct metric_set *wanted);

/* Puts what was counted before into the rows of energy_zone, and the sums into the row of host,
 * where it has a place for them. Returns 0 or VITALS_EMEMORY. */
int energy_take(struct energy *energy, struct facts *facts);

#endif
