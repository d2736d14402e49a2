/* usage.h: what a tree of processes, and the machine around it, uses, summed up from snapshots.
 *
 * Snapshots come from a sampler, a file or a recording, in the order of their moments; each is
 * added and not kept. Of every measure it keeps the newest value, the least, the largest, the
 * mean over time, and of counters the growth; a process that is gone keeps its share of the growth.
 * Memory does not grow with the length of a run, only with the number of its living processes and
 * devices. One thread at a time. */
#ifndef VITALS_USAGE_H
#define VITALS_USAGE_H

#include <stddef.h>
#include <stdint.h>

#include <vitals/account.h>
#include <vitals/measures.h>
#include <vitals/request.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vitals_usage vitals_usage;

/* The subject of a measure. */
typedef enum vitals_scope {
    VITALS_SCOPE_TREE = 1, /* the processes that are measured, together; subject "" */
    VITALS_SCOPE_ROOT,     /* those that were named; "root" */
    VITALS_SCOPE_DESCENDANTS,
    VITALS_SCOPE_SYSTEM, /* the machine; "system" */
    VITALS_SCOPE_GPU,    /* one device; its UUID, or its label */

    /* a collector's alone (collector.h) */
    VITALS_SCOPE_PROCESS,    /* one process of the tree; "pid:4711" */
    VITALS_SCOPE_PROCESS_GPU /* one process on one device; "pid:4711/GPU-…" */
} vitals_scope;

/* Return the name of a measure ("memory_resident_bytes"), its unit ("bytes"; "" for a count) and
 * what it is, in a sentence; NULL where there is no such measure. vitals_measure_is_counter returns
 * 1 if it only grows, else 0. Any thread. */
VITALS_API const char *vitals_measure_name(vitals_measure measure);
VITALS_API const char *vitals_measure_unit(vitals_measure measure);
VITALS_API const char *vitals_measure_help(vitals_measure measure);
VITALS_API int vitals_measure_is_counter(vitals_measure measure);

/* Returns the measure after `previous` in the order of measures.h: the first for 0, and 0 after the
 * last. Any thread. */
VITALS_API vitals_measure vitals_measure_next(vitals_measure previous);

/* Finds a measure by its name ("cpu_seconds"); 0 if there is none. Any thread. */
VITALS_API vitals_measure vitals_measure_find(const char *name) VITALS_NONNULL(1);

/* One measure of one subject, of the newest snapshot. It grows at its end only and is handed out by
 * pointer alone: its sizeof is not the distance between two. */
typedef struct vitals_usage_value {
    vitals_measure measure;
    vitals_scope scope;
    const char *subject; /* as vitals_figure_subject; lives as long as the usage */
    const char *label;   /* for people: "GPU 0", or "" */
    vitals_availability state;
    double value;     /* where state is above 0; of a counter: since the first snapshot */
    uint64_t read_ns; /* when it was read, by the monotonic clock; 0: not known, or a mean */
} vitals_usage_value;

/* How often the machine is read beside a tree. Alone it is read for each snapshot. */
enum vitals_machine_pace {
    VITALS_MACHINE_EACH_SECOND = 0, /* at most; what changes slowly, as space on disks, each ten */
    VITALS_MACHINE_CLOSELY = 1,     /* for each snapshot */
    VITALS_MACHINE_SELDOM = 2,      /* counters that only matter at the end of a run each five
                                       seconds, and at its end: the cheapest */
};

/* Grows at its end only, by the rule of vitals_options. */
typedef struct vitals_usage_options {
    size_t size;
    const int64_t *pids; /* the roots; none: the machine alone */
    size_t pid_count;
    int64_t launcher;             /* not 0: its children are the roots, not it itself */
    const int64_t *excluded_pids; /* pids that are no part of it, with all below them */
    size_t excluded_count;
    int no_children;            /* not 0: roots alone */
    double expected_cores;      /* what "of all" is of; 0: those that we may use */
    const char *const *devices; /* UUIDs, indices or addresses as vitals_gpu_find takes them, NULL
                                   at the end; NULL: every device */
    const char *brand;          /* "nvidia", "amd", "intel"; NULL: all */
    int details;      /* not 0: what costs more than a read: PSS, USS, swapped and anonymous memory,
                         descriptors, bytes of any system call, context switches and delays */
    int machine_pace; /* of enum vitals_machine_pace */
} vitals_usage_options;

/* Fills in the defaults. `size` is sizeof(vitals_usage_options) as the caller was compiled; not a
 * byte beyond it is written. */
VITALS_API void vitals_usage_options_init(vitals_usage_options *options, size_t size)
    VITALS_NONNULL(1);

/* Makes a usage to which snapshots are added; *out is yours to free. Options (NULL: all defaults)
 * are copied. Free accepts NULL. Errors: EARGUMENT, EMEMORY. */
VITALS_API VITALS_CHECKED int vitals_usage_new(const vitals_usage_options *options,
                                               vitals_usage **out, vitals_error *error)
    VITALS_NONNULL(2);
VITALS_API void vitals_usage_free(vitals_usage *usage);

/* Adds to a request what a snapshot must hold for vitals_usage_add, rows included. A metric of the
 * machine that the request does not name yet gets the cadence of options.machine_pace. Errors:
 * EARGUMENT (a pid of the options below 1), EMEMORY. */
VITALS_API VITALS_CHECKED int vitals_usage_request(const vitals_usage *usage,
                                                   vitals_request *request, vitals_error *error)
    VITALS_NONNULL(1, 2);

/* Adds a snapshot. One that is not newer than the last is ignored. Errors: EMEMORY (part of it was
 * kept). */
VITALS_API VITALS_CHECKED int vitals_usage_add(vitals_usage *usage, const vitals_snapshot *snapshot,
                                               vitals_error *error) VITALS_NONNULL(1, 2);

/* Returns the value after `previous` (NULL: the first) of the newest snapshot, or NULL after the
 * last, in a fixed order (by scope, subject, measure). Borrowed; valid until something is added. */
VITALS_API const vitals_usage_value *vitals_usage_next(const vitals_usage *usage,
                                                       const vitals_usage_value *previous)
    VITALS_NONNULL(1);

/* Return the number of snapshots that were added, and the monotonic time of the first and the last.
 */
VITALS_API uint64_t vitals_usage_count(const vitals_usage *usage) VITALS_NONNULL(1);
VITALS_API uint64_t vitals_usage_first_ns(const vitals_usage *usage) VITALS_NONNULL(1);
VITALS_API uint64_t vitals_usage_last_ns(const vitals_usage *usage) VITALS_NONNULL(1);

/* Makes an account of everything so far; *out is yours to free. Errors: EMEMORY. */
VITALS_API VITALS_CHECKED int vitals_usage_account(const vitals_usage *usage, vitals_account **out,
                                                   vitals_error *error) VITALS_NONNULL(1, 2);

/* Converts a figure to a unit of the caller's choice ("bytes" "kilobytes" … "terabytes",
 * "kibibytes" … "tebibytes"; "seconds" "minutes" "hours" "days"; "" as it is): the number alone.
 * Returns 0, or VITALS_EARGUMENT if the unit is unknown or of another kind. Any thread. */
VITALS_API VITALS_CHECKED int vitals_usage_convert(double value, const char *from, const char *to,
                                                   double *out) VITALS_NONNULL(2, 3, 4);

/* Writes a figure with its unit, rounded to six digits but with all that stand before the point:
 * "1.5 hours", "41.2 gibibytes", "7258112 bytes"; a count alone, without a unit. `to` "": in its
 * own unit. Independent of the locale. Writes at most capacity bytes and ends with NUL where
 * capacity is above 0; returns, as snprintf does, how many there would be without it, or
 * VITALS_EARGUMENT if the unit is unknown or of another kind, or the value is not finite: what is
 * missing has no text. Any thread. */
VITALS_API VITALS_CHECKED int vitals_usage_format(double value, const char *from, const char *to,
                                                  char *out, size_t capacity) VITALS_NONNULL(2, 3);

#ifdef __cplusplus
}
#endif

#endif
