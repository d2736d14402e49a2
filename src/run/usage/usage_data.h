/* usage_data.h: what a usage keeps between snapshots; see <vitals/usage.h>. A pass over a snapshot
 * goes through the files of this folder in the order of the functions below; usage_cell.c holds one
 * measure of one subject. Thread rule: one thread at a time. */
#pragma once

#include "run/account.h"
#include "run/measure.h"
#include "util/arena.h"
#include "util/hash.h"

/* ---- one measure of one subject ---- */

struct usage_cell {
    double value;       /* the newest */
    double least, most; /* of gauges */
    double integral;    /* of a gauge over `seconds` */
    double seconds;     /* in which it was known */
    uint64_t readings;  /* above zero */
    uint64_t read_ns;   /* when the newest was read; 0: the chain is broken */
    signed char state;  /* of the newest value, or why there is none; 0: never written */
    signed char worst;  /* of all that were above zero */
    signed char reason; /* why the last that was missing was */
};

/* A gauge that was read at a moment. A value that was not read anew is STALE and does not count
 * again; the same holds for a counter. A state that is not above zero is that of
 * usage_cell_missing. */
void usage_cell_gauge(struct usage_cell *cell, uint64_t read_ns, double value,
                      vitals_availability state);

/* One that is a mean over the time before it, as a rate is. A state likewise. */
void usage_cell_mean(struct usage_cell *cell, double value, double seconds,
                     vitals_availability state);

/* A counter, since the first snapshot. It never steps back: what was seen twice for a moment is
 * waited for. */
void usage_cell_counter(struct usage_cell *cell, uint64_t read_ns, double total,
                        vitals_availability state);

/* Nothing was read since: what was said holds. */
void usage_cell_repeat(struct usage_cell *cell);

/* The mean over time, the newest value held for so long; never outside of the range of readings.
 * The cell must have readings. */
double usage_cell_average(const struct usage_cell *cell, double held_seconds);

/* The time between its readings; 0 if there were fewer than two. A little more for a mean. */
double usage_cell_interval(const struct usage_cell *cell);

/* Notes that there is no value now. Earlier values are kept. */
void usage_cell_missing(struct usage_cell *cell, vitals_availability reason);

/* A sum that knows what is missing in it. */
struct usage_sum {
    double total;
    size_t known, missing;
    vitals_availability state, reason;
};

void sum_add(struct usage_sum *sum, vitals_availability state, double value);

/* The availability of the sum: a lower bound if a value is missing, the reason if all are. `empty`:
 * the availability if nothing was added. */
vitals_availability sum_state(const struct usage_sum *sum, vitals_availability empty);

/* Things by their keys, which stand in the order in which they came. A failed add, for want of
 * memory, changes nothing; one that succeeds is zeroed. Done frees them. */
struct usage_index {
    struct hash of;
    void **items;
    size_t count, capacity;
};

void *usage_index_find(const struct usage_index *index, uint64_t key);
void *usage_index_add(struct usage_index *index, uint64_t key, size_t size);
void usage_index_done(struct usage_index *index);

/* ---- whose ---- */

enum { SUBJECT_TEXT = FIGURE_SUBJECT, SUBJECT_LABEL = FIGURE_LABEL };

struct usage_subject {
    vitals_scope scope;
    char text[SUBJECT_TEXT];
    char label[SUBJECT_LABEL];
    struct usage_cell cells[MEASURE_COUNT];
};

/* ---- processes ---- */

/* The counters that are summed over processes. Those of the first kind stand again, with all that
 * were waited for, in a counter of the parent (`children`, `absorbs`): usage_processes.c. */
enum usage_flow {
    FLOW_CPU,
    FLOW_USER,
    FLOW_SYSTEM,
    FLOW_READ,
    FLOW_WRITTEN,
    FLOW_CALL_READ,
    FLOW_CALL_WRITTEN,
    FLOW_MINOR_FAULTS,
    FLOW_MAJOR_FAULTS,
    FLOW_VOLUNTARY,
    FLOW_INVOLUNTARY,
    FLOW_RUN_DELAY,
    FLOW_BLOCK_DELAY,
    FLOW_COUNT
};

/* One counter of one process; seconds or bytes or times. A base is what was there before the run
 * and does not count. */
struct usage_counter {
    double own, own_base;
    double children, children_base; /* of those it waited for, as the kernel counts them */
    double gone, gone_base;         /* of its children that were seen and are gone */
    uint64_t read_ns;               /* when `own` was read last */
    signed char state;              /* of `own`: above zero, or why it was never read */
};

/* For usage_memory.c; moments are of the monotonic clock, 0: never. */
struct usage_memory {
    double resident, shared, anonymous; /* shared: of files and of shared memory; the rest */
    double shared_memory;               /* of `shared` */
    uint64_t shared_ns, shared_memory_ns;
    double before; /* the resident size that was read before this one */
    uint64_t resident_ns, before_ns;
    double faults;
    uint64_t first_ns;                           /* it was seen */
    uint64_t still_ns;                           /* since then it maps the same pages */
    uint64_t grown_shared_ns;                    /* `shared` was seen to grow last */
    double proportional, unique, anonymous_then; /* as they were walked through at walked_ns */
    double firm; /* of `proportional`: no page of a file; negative: not known */
    uint64_t walked_ns;
    double common;            /* resident then, and not `unique` */
    signed char common_state; /* ESTIMATE: it may have changed during the walk */
    double forked;            /* of `unique`: what a child has that was born since */
    signed char state;        /* of `unique` in the newest row */
    bool split;               /* `shared` was read at least once */
    bool compared;            /* its memory map, with those of all others */
    bool map_known;           /* the kernel answered */
    bool twin;                /* one that counts has the same map */
    bool ended;               /* it had when maps were compared, and was in the newest row */
};

struct usage_process {
    uint64_t key, parent; /* parent: its key, or 0 */
    uint64_t seen;        /* the pass in which it had a row last */
    uint64_t judged;      /* the pass in which its descent was looked at */
    bool member, root;
    bool born;              /* in the run: it counts from its birth */
    bool excluded;          /* with all below it */
    unsigned gone_children; /* that were not settled yet */
    double start_seconds;   /* since boot; 0: not known */
    double gone_before;     /* CPU time of its children that were gone when it was read last */
    double resident_peak;   /* its VmHWM */
    double held_peak;       /* the most that it was certainly resident in the run */
    double firm_peak;       /* the most of it that no page of a file was: see usage_memory_firm */
    double peak_first;      /* its VmHWM when that was read first; 0: never */
    double anonymous_peak;  /* of what was read of its anonymous pages */
    struct usage_memory memory;
    struct usage_counter counters[FLOW_COUNT];
};

/* ---- processes on devices ---- */

struct usage_client {
    uint64_t key;    /* of its row */
    uint64_t device; /* its row's */
    uint64_t seen;   /* the pass in which it had a row last */
    bool member;
    double busy_seconds, base;
    signed char state; /* above zero: busy_seconds was read */
    bool root;         /* of a process that was named */
    bool cut;          /* what it did before the first reading is not known */
};

struct usage_device {
    uint64_t key;
    uint64_t seen;
    struct usage_subject *subject;
    char vendor[16], driver[16];   /* words; "": not known */
    bool used;                     /* a process of the tree was on it, ever */
    bool shared;                   /* others were there meanwhile */
    signed char unread;            /* why its processes could not be listed last; else 0 */
    double busy_gone;              /* of processes of the tree that are gone */
    double tree_busy, others_busy; /* at energy_ns */
    double others_gone;
    double energy_first, energy_last, energy_tree;
    uint64_t energy_ns;       /* when energy_last was read */
    double energy_done;       /* under keys that it had before */
    signed char energy_state; /* above zero: energy_last was read */
    bool share_unknown;       /* at some moment it could not be said whose the energy was */
};

/* ---- network namespaces ---- */

struct usage_network {
    uint64_t inode;
    uint64_t seen;           /* the pass in which a process of the tree was in it last */
    uint64_t read_ns;        /* of the newest */
    double before[2];        /* received, sent: what the tree has done in it until `base` */
    double base[2], last[2]; /* of the counters */
    bool based;
};

/* The last report of a back end. */
struct usage_source {
    char label[FIGURE_LABEL];
    char message[FIGURE_SOURCE];
    signed char state; /* `have` where it found its devices */
};

enum { USAGE_SOURCES_MAX = 16 };

struct vitals_usage {
    vitals_usage_options options;
    const struct os *os;   /* borrowed: what the snapshots show, now; NULL: it cannot be asked */
    struct arena memory;   /* of what `options` points to */
    double expected_cores; /* 0: not known yet */
    size_t expected_gpus;  /* in the newest snapshot: those that the options ask for */
    double system_cores;

    uint64_t count, first_ns, last_ns;
    uint64_t first_boot_ns; /* boottime of the first */
    uint64_t stream;
    uint64_t pass; /* number of the one under way */
    bool failed;   /* memory was out in this pass */

    struct usage_subject **subjects; /* tree, root, descendants, system, then devices by key */
    size_t subject_count, subject_capacity;

    struct usage_index processes; /* struct usage_process */
    uint64_t root_key;            /* launcher mode: the command */
    uint64_t seen_processes;      /* of the tree, ever */
    uint64_t living;
    double finals[FLOW_COUNT];         /* of members that are gone and in no process's counter */
    double root_finals[FLOW_COUNT];    /* of roots that are gone, their own alone */
    signed char flow_gone[FLOW_COUNT]; /* how good those of the gone are; 0: none is gone */
    bool flow_cut[FLOW_COUNT];         /* one that is gone could never be read */
    double peaks_gone;                 /* sum of VmHWM of those that are gone */
    double held_gone;                  /* the largest held_peak of those that are gone */
    double together;                   /* the most PSS of several that stood still at one moment */
    double firm_gone, firm_together;   /* the same of firm_peak, and of PSS without files */
    bool shared_is_held;               /* shared memory is firm: no cgroup tells whose it is */
    double anonymous_gone;             /* the largest anonymous_peak of those that are gone */
    double cores_before[3];            /* CPU time at the beginning of the window, by scope */
    uint64_t cores_ns;
    double system_cpu_before;
    uint64_t system_cpu_ns;
    double machine_base[MEASURE_COUNT];
    bool machine_based[MEASURE_COUNT];

    uint64_t energy_ns; /* of the packages' reading until which the share is known; 0: none */
    double energy_before, energy_busy, energy_cpu; /* then: packages, machine, tree */
    double energy_share;

    struct usage_network *networks;
    size_t network_count, network_capacity;
    double network_gone[2];    /* of namespaces that no process of the tree is in any more */
    double network_machine[2]; /* of the machine: counts where the tree was ever in our namespace */
    double network_host[2];    /* the machine's counters in the pass before */
    uint64_t network_host_ns, network_readings; /* of the machine's counters */
    bool network_host_known;
    bool network_ours, network_own; /* the tree was ever seen in our namespace, in another */
    bool network_shared;            /* and others in that other */

    struct usage_index clients; /* struct usage_client */
    struct usage_device **devices;
    size_t device_count, device_capacity;

    struct usage_source sources[USAGE_SOURCES_MAX];
    size_t source_count;

    vitals_usage_value *values;
    size_t value_count, value_capacity;
};

enum { SUBJECT_TREE, SUBJECT_ROOT, SUBJECT_DESCENDANTS, SUBJECT_SYSTEM, SUBJECT_DEVICES };

static inline double f64_max(double a, double b)
{
    return a > b ? a : b;
}

static inline struct usage_cell *usage_cell(vitals_usage *usage, size_t subject,
                                            enum measure_place place)
{
    return &usage->subjects[subject]->cells[place];
}

/* NULL when memory is out. */
struct usage_subject *usage_subject_add(vitals_usage *usage, vitals_scope scope, const char *text,
                                        const char *label);

/* The parts of a pass, in this order. They set `failed` if memory is out. */
void usage_members(vitals_usage *usage, const vitals_snapshot *snapshot);
void usage_processes(vitals_usage *usage, const vitals_snapshot *snapshot);
void usage_memory(vitals_usage *usage, const vitals_snapshot *snapshot);
void usage_machine(vitals_usage *usage, const vitals_snapshot *snapshot);
void usage_energy(vitals_usage *usage);
void usage_network(vitals_usage *usage, const vitals_snapshot *snapshot);
void usage_devices(vitals_usage *usage, const vitals_snapshot *snapshot);

/* The next process of the snapshot that is measured, with its row: NULL before the first and after
 * the last. */
struct usage_process *usage_next_member(const vitals_usage *usage, const vitals_snapshot *snapshot,
                                        const vitals_row **row);

/* The process above one, if that is measured; else NULL. */
struct usage_process *usage_parent(const vitals_usage *usage, const struct usage_process *process);

/* A reading of one process into sums by scope; such a sum as the value of a measure. A process that
 * has ended holds nothing, and is missing in no sum. */
void usage_add_reading(struct usage_sum *sums, bool root, vitals_availability state, double value);
void usage_set_gauge(vitals_usage *usage, uint64_t read_ns, enum measure_place place, size_t scope,
                     const struct usage_sum *sum);

/* The most memory that the tree has held at one moment for certain, in bytes; 0: none was seen. */
double usage_memory_held(const vitals_usage *usage);

/* The same without pages of files, which the kernel drops when it needs them: what a limit is
 * compared with. */
double usage_memory_firm(const vitals_usage *usage);

/* Adds to a request the private and proportional pages of processes, which alone tell how much
 * memory several processes hold together. The kernel walks through their memory for it. */
VITALS_CHECKED int usage_request_memory(vitals_request *request, vitals_error *error);

/* The process with that key if it is measured, or NULL. */
struct usage_process *usage_member_of(const vitals_usage *usage, uint64_t key);

/* Copies a caller's options; NULL: all defaults. Errors: as options_take. */
int usage_options_take(const vitals_usage_options *given, vitals_usage_options *out,
                       vitals_error *error);

/* Whether the pid is one of its excluded pids, and one more of them. EARGUMENT, EMEMORY.
 */
bool usage_excludes(const vitals_usage *usage, int64_t pid);
int usage_exclude(vitals_usage *usage, int64_t pid, vitals_error *error);

/* Whether some of the tree but its roots were alive in the newest snapshot. */
bool usage_has_descendants(const vitals_usage *usage);

/* Ends what is keyed by a stream that is over. */
void usage_processes_end(vitals_usage *usage);
void usage_network_end(vitals_usage *usage);
void usage_devices_end(vitals_usage *usage);
