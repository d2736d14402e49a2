/* energy.h: counters of energy that begin anew, and the sums over them.
 *
 * A zone's counter runs to its range and then from 0: what it counted before is added, as long as
 * it is read more often than it goes round (262 kJ at 200 W: some twenty minutes; 65 kJ at 400 W:
 * less than three). One that begins anew for another reason, its driver being loaded again, leaves
 * a lower bound; where it was not read for so long that both can have been, it counts as a round,
 * and is an estimate from then on. Thread rule: one thread at a time. */
#ifndef VITALS_HOST_ENERGY_H
#define VITALS_HOST_ENERGY_H

#include "model/row_batch.h"

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
 * where it has a place for them; the table was read at read_ns. Returns 0 or VITALS_EMEMORY. */
int energy_take(struct energy *energy, struct row_batch *batch, uint64_t read_ns);

#endif
