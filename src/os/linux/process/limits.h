/* limits.h: the resource limits that Linux has. The one place where their names stand: the table
 * limit and vitals_process_set_limit use the same.
 *
 * Thread rule: constant. */
#ifndef VITALS_OS_LINUX_PROCESS_LIMITS_H
#define VITALS_OS_LINUX_PROCESS_LIMITS_H

#include "util/cursor.h"

enum { LINUX_LIMITS = 16 };

struct linux_limit {
    const char *name;  /* as getrlimit(2) calls it: nofile */
    int resource;      /* for prlimit(2) */
    const char *unit;  /* bytes, seconds, microseconds, or "" for a count */
    const char *title; /* how its line in /proc/PID/limits begins: "Max open files" */
};

/* In the order of /proc/PID/limits. Defined in process_change.c. */
extern const struct linux_limit LINUX_LIMIT[LINUX_LIMITS];

/* By name; NULL where there is none. */
const struct linux_limit *linux_limit_find(struct span name);

#endif
