/* otlp_series.h: since when each of our sums counts, and what it said last.
 *
 * A cumulative sum carries the moment from which it counts. A sum that is less than before has
 * begun anew, at the earliest when it was last seen. One thread. */
#ifndef VITALS_EXPORT_OTLP_OTLP_SERIES_H
#define VITALS_EXPORT_OTLP_OTLP_SERIES_H

#include <stdint.h>

struct otlp_series;

/* NULL when memory is out. */
struct otlp_series *otlp_series_new(void);
void otlp_series_free(struct otlp_series *series); /* accepts NULL */

/* Since when a sum counts that is `value` at `time_ns`: `origin_ns`, or when it began anew. `id`
 * tells it from all others. Where memory is out, `origin_ns`. */
uint64_t otlp_series_start(struct otlp_series *series, uint64_t id, double value, uint64_t time_ns,
                           uint64_t origin_ns);

/* Between two exports: forgets what was not asked for since the call before. */
void otlp_series_turn(struct otlp_series *series);

/* Other keys from now on: forgets all. */
void otlp_series_clear(struct otlp_series *series);

/* A number that is another for other words, as far as 64 bits can tell. */
uint64_t otlp_series_id(uint64_t first, uint64_t second);

#endif
