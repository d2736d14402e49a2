/* history.h: how a number has been, a value a second.
 *
 * A ring with fixed room. Values that come more often are averaged; a gap of a few seconds is
 * filled by a straight line, a longer one stays empty: nothing is drawn where nothing is known. One
 * thread. */
#ifndef VITALS_MONITOR_HISTORY_H
#define VITALS_MONITOR_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HISTORY_ROOM = 2048 };

struct history {
    float values[HISTORY_ROOM]; /* NaN: not known */
    uint64_t newest;            /* second of the newest value; 0: there is none */
    size_t count;
    double sum; /* of the newest second */
    unsigned parts;
};

/* One of zeros is empty. `value` may be NaN. A time before the newest is passed over. */
void history_add(struct history *history, uint64_t time_ns, double value);

/* The value so many seconds before the newest; NaN where there is none. */
double history_get(const struct history *history, size_t ago);

/* Over the newest `seconds`, `ago` left out: false where nothing is known. */
bool history_mean(const struct history *history, size_t ago, size_t seconds, double *out);
bool history_most(const struct history *history, size_t ago, size_t seconds, double *out);

#endif
