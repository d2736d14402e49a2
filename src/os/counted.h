/* counted.h: quantities of a whole tree that the kernel may count for us, and how each was got. */
#pragma once

#include "model/values.h"

enum quantity {
    COUNTED_CPU_SECONDS,
    COUNTED_CPU_USER_SECONDS,
    COUNTED_CPU_SYSTEM_SECONDS,
    COUNTED_MEMORY_PEAK_BYTES, /* page cache and kernel memory included, as cgroups count */
    COUNTED_SWAP_PEAK_BYTES,
    COUNTED_READ_BYTES,
    COUNTED_WRITTEN_BYTES,
    COUNTED_PROCESSES,  /* that ever were */
    COUNTED_TASKS_PEAK, /* processes and threads, at once */
    COUNTED_OOM_KILLS,
    COUNTED_MINOR_FAULTS,
    COUNTED_MAJOR_FAULTS,
    COUNTED_VOLUNTARY_SWITCHES,
    COUNTED_INVOLUNTARY_SWITCHES,
    COUNTED_CALL_READ_BYTES, /* by any system call */
    COUNTED_CALL_WRITTEN_BYTES,
    COUNTED_CPU_PRESSURE_SECONDS,
    COUNTED_MEMORY_PRESSURE_SECONDS,
    COUNTED_IO_PRESSURE_SECONDS,
    COUNTED_MEMORY_LARGEST_BYTES, /* largest VmHWM of any one process that ended (hiwater_rss) */
    COUNTED_MEMORY_SUM_BYTES,     /* sum of every ended process's own peak: above the tree's */
    COUNTED_COUNT
};

enum { COUNTED_SOURCE = 96 };

/* value.as.f64 always; value.state says how good, or why there is none. */
struct counted {
    struct value value;
    char source[COUNTED_SOURCE]; /* "cgroup v2", "perf, inherited", "wait4", … for people */
};
