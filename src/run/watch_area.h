/* watch_area.h: the figures of the watcher, where the launcher finds them.
 *
 * Memory that both share, made before the watcher is forked. It holds two reports: one stands while
 * the other is written, so that a watcher that is killed has told all but the last. The reader
 * believes nothing of it: counts are bounded, texts are ended, numbers checked.
 * Thread rule: one writer, one reader, a process each. */
#ifndef VITALS_RUN_WATCH_AREA_H
#define VITALS_RUN_WATCH_AREA_H

#include <vitals/account.h>

struct watch_area;

/* NULL where there is no such memory: then there are no figures of samples. */
struct watch_area *watch_area_new(void);
void watch_area_free(struct watch_area *area); /* accepts NULL */

/* Tells this account; figures beyond what there is room for are left out, and it says so. */
void watch_area_write(struct watch_area *area, const vitals_account *account);

/* What was told last, yours to free; NULL: nothing was, or memory is out. */
vitals_account *watch_area_read(struct watch_area *area);

#endif
