/* item.h: the lines of the list, and the processes that they are about. Pure. */
#ifndef VITALS_MONITOR_LIST_ITEM_H
#define VITALS_MONITOR_LIST_ITEM_H

#include "monitor/model.h"

bool identity_equal(const struct identity *a, const struct identity *b);

/* The same on whatever device and in whatever group. */
bool identity_same_process(struct identity a, struct identity b);

/* The identity of a row of process, which may be NULL. */
struct identity identity_of(const vitals_row *process);
struct identity item_identity(const struct item *item);
bool item_cpu(const struct model *model, const vitals_row *process, double *cores);

/* The growth per second of a counter of a process; false if it is not known. item_cpu: cores. */
bool item_rate(const struct model *model, const vitals_row *process, vitals_metric metric,
               double *out);

/* The devices of a line as bits, and the memory that these have together; false if that of one is
 * not known. */
uint64_t item_devices(const struct item *item);
bool model_devices_total(const struct model *model, uint64_t devices, double *out);

/* True if the process belongs to another user. */
bool item_is_other(const struct model *model, const struct item *item);

/* The first row of gpu_process of a process, or the next one after `previous`; NULL: none. */
const vitals_row *model_user_of(const struct model *model, const struct identity *identity,
                                const vitals_row *previous);

/* The row of the process in the newest snapshots, or NULL. */
const vitals_row *model_process(const struct model *model, const struct identity *identity);

/* The row that knows most of the process of a line, or NULL. */
const vitals_row *item_row(const struct item *item);

/* The process of a row of gpu_process, or NULL. */
const vitals_row *item_process_of(const vitals_snapshot *snapshot, const vitals_row *user);

#endif
