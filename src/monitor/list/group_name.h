/* group_name.h: what a process belongs to, in words: a user, a container, a job, a service or a
 * parent. Pure. */
#ifndef VITALS_MONITOR_LIST_GROUP_NAME_H
#define VITALS_MONITOR_LIST_GROUP_NAME_H

#include "monitor/model.h"

/* A pod and its namespace fit. */
enum { GROUP_NAME = 512 };

/* The group that a line belongs to, safe to print: "ana", "web-1", "job 17"; an empty text if it
 * belongs to none. Returns false if that is not known. */
bool group_text(const struct model *model, enum group_by by, const struct item *item, char *out,
                size_t capacity);

/* The same, and an id that is never 0: a hash of all that the group is made of, however long. */
bool group_identify(const struct model *model, enum group_by by, const struct item *item, char *out,
                    size_t capacity, uint64_t *id);

/* "user", which stands before a name; for processes that belong to no group "no user". */
const char *group_word(enum group_by by, bool named);

/* Metrics of a process that are needed to group it; ends with 0. */
const vitals_metric *group_needs(enum group_by by);

#endif
