/* path.h: what all judges of a cgroup's path do. Thread rule: pure. */
#ifndef VITALS_WORKLOAD_PATH_H
#define VITALS_WORKLOAD_PATH_H

#include "util/cursor.h"

/* The next element that is not empty; false at the end. */
bool path_element(struct cursor *cursor, struct span *out);

bool span_ends(struct span span, const char *suffix);

/* What stands between the two, where that is not empty. */
bool span_between(struct span span, const char *before, const char *behind, struct span *out);

bool span_is_decimal(struct span span);
bool span_is_hex(struct span span); /* in small letters, as the kernel and runtimes write it */

/* As a string; false where there is no room for all of it, and out is "" then. */
bool span_copy(struct span span, char *out, size_t capacity);

#endif
