/* workloads.h: what the processes of a table that have a row work for, one entry each.
 *
 * Processes with the same id are of one workload. An entry keeps its key as long as a process works
 * for it from tick to tick. Its row has that key until a counter steps back, because the cgroup was
 * made anew, or another counts: then it gets one of its own. A key is never given again. Sums over
 * processes stand in for what no cgroup counts: CPU time keeps what processes used that ended while
 * they were watched. Thread rule: the tick thread. */
#pragma once

#include "process/table.h"
#include "workload/workload.h"

/* No more of them have a row. */
enum { WORKLOADS_MAX = 1024 };

enum { WORKLOAD_COUNTERS = 2 };

/* Values of the oldest process that describe the workload; texts may be NULL. Owned. */
struct workload_entry {
    uint64_t key, row_key;
    struct shared_text *id;    /* never NULL */
    struct workload parts;     /* of `id` */
    vitals_availability state; /* HAVE, or ESTIMATE */
    struct shared_text *user, *cgroup;
    vitals_availability user_state;
    size_t place; /* as much of cgroup leads to its own; 0: it has none */
    bool several; /* a younger process is in another one */

    uint64_t read_ns, tick, processes, threads, resident_bytes;
    double cpu_seconds;
    struct workload_told {
        double number;
        bool is, counted;      /* by a cgroup; else it is a sum over processes */
    } told[WORKLOAD_COUNTERS]; /* what counters said last */
};

struct workloads {
    struct workload_entry *items; /* in the order of keys */
    size_t count, capacity;
    uint64_t last_key, tick;
    bool failed;  /* memory was out for some */
    bool cut;     /* there are more than WORKLOADS_MAX */
    bool named;   /* some have a name that was found out, when one looked last */
    bool all;     /* every process was selected */
    bool unknown; /* what some work for is not known yet, or may not be */
};

void workloads_done(struct workloads *workloads);

/* Takes from the table which processes work for what, and gives those that share a cgroup the
 * better of their names. Called any number of times between tick and write. */
void workloads_collect(struct workloads *workloads, struct process_table *table);

/* A counter of the entry, which WORKLOAD_COUNTERS numbers, says so now. */
void workloads_tell(struct workloads *workloads, struct workload_entry *entry, size_t counter,
                    double number, bool counted);
