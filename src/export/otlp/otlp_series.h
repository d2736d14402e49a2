/* otlp_series.h: the start time of each cumulative sum, and its last value.
 *
 * A cumulative sum carries the time from which it counts. A sum that is lower than before was
 * reset, at the earliest when it was last seen. One thread. */
#pragma once

#include <stdint.h>

#include "util/hash.h"

struct otlp_series;

/* Returns NULL if memory is out. */
struct otlp_series *otlp_series_new(void);
void otlp_series_free(struct otlp_series *series); /* accepts NULL */

/* Returns the start of a sum that is `value` at `time_ns`: `origin_ns`, or the last time before its
 * reset. `id` identifies the sum (hash_join). Returns `origin_ns` if memory is out. */
uint64_t otlp_series_start(struct otlp_series *series, uint64_t id, double value, uint64_t time_ns,
                           uint64_t origin_ns);

/* Between two exports: forgets the sums that were not used since the call before. */
void otlp_series_turn(struct otlp_series *series);

/* Forgets all: the keys of another stream follow. */
void otlp_series_clear(struct otlp_series *series);
