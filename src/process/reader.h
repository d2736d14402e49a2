/* reader.h: one process, as the table and the live handle both read it.
 *
 * reader.c reads what a tick may (stat, statm, io, status, the CPU clock), detail.c what workers
 * read, rows.c writes the row. There is no second way: a handle's answer has the same columns, by
 * the same rules, as a sampler's row. Thread rule: one thread at a time per reader and process;
 * detail_read on any. */
#pragma once

#include "model/builder.h"
#include "os/world.h"
#include "util/shared_text.h"

#include <errno.h>

/* How many cadences the columns that workers read may have. */
enum { PROCESS_TURNS = 6 };

/* A column that a worker read. */
struct process_detail {
    vitals_metric metric;
    signed char state;
    union {
        uint64_t number; /* the bytes of a value, by the metric's type */
        struct shared_text *text;
    } as;
    uint64_t read_ns;
};

/* The mark of a counter of the process's activity when its files were read. While the counter is
 * unchanged, the process has not run, and the values are valid. */
struct activity_mark {
    uint64_t mark;    /* 0: none */
    uint64_t read_ns; /* when it was read */
    unsigned extras;  /* what of it was read */
};

/* The state of activity.c and its implementations for a process. */
struct process_activity {
    struct activity_mark digest;        /* marked by what the kernel's task iterator tells of it */
    struct activity_mark clock;         /* by its CPU clock */
    struct activity_mark files;         /* by the same, of status and io alone (reader.c) */
    uint64_t listed_ns, listed_threads; /* its clock and threads before its children were listed */
    uint64_t clock_ns, clock_tick;      /* its clock as activity.c read it, and in which tick */
    bool has_no_new_child;              /* in this tick: it has not run since they were listed */
};

struct process {
    uint64_t key; /* 0: ended, to be freed */
    struct os_process files;
    bool kept; /* its stat stays open, and counts; else it is open while it is read */

    vitals_availability state;    /* of its stat: HAVE, or why only the pid is known */
    struct os_stat stat;          /* the newest reading; the name in it is not used */
    struct shared_text *name;     /* NULL: none was read */
    struct shared_text *terminal; /* of terminal_device, where that is not 0 */
    int64_t terminal_device;
    bool renamed; /* since the owner looked: it runs another program, or says so */
    uint64_t stamp_ns;

    /* Beside stat, read for those that have a row. */
    uint64_t extras_tick; /* 0: never */
    struct os_statm statm;
    signed char statm_state;
    bool statm_due; /* it is open, and is to be read by reader_statm */
    struct value cpu, peak, read, written;
    uint64_t statm_ns, cpu_ns, peak_ns, io_ns; /* when those were read */
    uint64_t measured_ns;                      /* when its memory was really read */

    struct process_detail *details; /* in the order of metrics */
    size_t detail_count, detail_capacity;
    struct process_turn {
        bool asked, pending; /* pending: a worker has the question */
        uint64_t asked_ns;
        uint64_t spent_ns; /* that the last answer took */
        uint64_t cpu_ns;   /* activity.clock.mark when it was asked */
        uint64_t digest;   /* likewise; 0: there was none */
    } turns[PROCESS_TURNS];

    struct process_activity activity;
    bool root;               /* the request names it */
    bool in_tree;            /* a root, or once the descendant of one */
    uint64_t judged;         /* the tick in which tree.c found it not to be in the tree */
    uint64_t marked;         /* the tick in which a device named it */
    uint64_t gone_tick;      /* that in which an answer found it to have ended; 0: none */
    uint64_t workload;       /* workloads.c: the key of what it works for, */
    uint64_t workload_ticks; /* and its CPU time that was counted there */
};

struct process_reader {
    const vitals_context *context;
    struct buffer text; /* of the file being read */
    bool out_of_memory;
    /* Gives up descriptors that the owner keeps, when there are no more; false: it has none. NULL
     * where it keeps none. */
    bool (*relieve)(void *owner);
    void *owner;
};

/* ---- reader.c ---- */

/* Files beside stat. */
enum {
    EXTRA_STATM = 1u << 0,
    EXTRA_CPU = 1u << 1,
    EXTRA_STATUS = 1u << 2,
    EXTRA_IO = 1u << 3,
    EXTRA_TERMINAL = 1u << 4, /* the name of what stat has as a number */
    EXTRA_LATER = 1u << 5     /* statm is only opened: reader_statm reads it */
};

/* Those that the wanted columns need. */
unsigned reader_extras(const struct metric_set *wanted);

/* Opens stat; as os_process_open. */
int reader_open(struct process_reader *reader, struct process *process);

/* It is idle: what was read of it, with these files, holds at that moment. */
void reader_stamp(struct process *process, unsigned extras, uint64_t now_ns);

/* With stat open: the extras, then stat, which proves whose they are. False where the process ended
 * or is another. statm is opened where it must be, and stays open. */
bool reader_observe(struct process_reader *reader, struct process *process, unsigned extras);

/* Reads the statm that is due. Returns 0, or a negative errno where the process has ended. */
int reader_statm(struct process_reader *reader, struct process *process);

/* Whether this stat can be the process's: it started at the same moment, as far as is known. */
bool process_same_start(const struct process *process, const struct os_stat *stat);

/* Frees name and details; the files are closed by the owner. */
void process_done(struct process *process);

/* Whether that errno of its files says that it has ended. */
static inline bool process_is_gone(int result)
{
    return result == -ENOENT || result == -ESRCH;
}

uint64_t reader_now(const struct process_reader *reader);

/* ---- table.c: descriptors ---- */

/* The kernel gives the lowest number that is free, so from this number on a descriptor is one of
 * the last of the whole program: of 64, or an eighth of all where those are fewer. */
uint64_t descriptors_ceiling(void);

static inline bool descriptors_is_high(uint64_t ceiling, int descriptor)
{
    return descriptor >= 0 && (uint64_t)descriptor >= ceiling;
}

/* ---- detail.c: names ---- */

/* Names of users and groups, kept for 60 s. Belongs to one thread, that of the worker. */
struct user_cache;
enum user_kind { USER_NAME, GROUP_NAME };
struct user_cache *user_cache_new(void); /* NULL when memory is out */
void user_cache_free(struct user_cache *cache);

/* The name of the user or of the group, or the number where it has none; borrowed until the next
 * call. NULL when memory is out. *lacking is set where a descriptor was refused: the name is then
 * the one before, or the number. May block. */
const struct shared_text *user_cache_name(struct user_cache *cache, const vitals_clock *clock,
                                          enum user_kind kind, uint64_t id, bool *lacking);

/* The names of containers in Kubernetes, made on first use; NULL if memory is out. */
struct workload_names *user_cache_containers(struct user_cache *cache);

/* ---- work.c ---- */

/* Sets those of container, unit, slurm_job, slurm_step, pod, pod_name, pod_namespace,
 * container_name and workload that are wanted, of the newest row, whose cgroup and uid are known.
 * May block. False where a descriptor was refused. */
bool work_add(const vitals_context *context, struct user_cache *cache, int64_t pid,
              const struct batch_row *row, struct row_batch *out);

/* The process, where the demo made up its work; else NULL. */
const struct world_player *work_player(const vitals_context *context, int64_t pid);

/* ---- detail.c ---- */

/* Those of the wanted metrics that workers read of a process. */
void detail_wanted(const struct metric_set *wanted, struct metric_set *out);

/* Empties `out` for rows that hold those metrics, and what they are made of. */
void detail_reset(struct row_batch *out, const struct metric_set *wanted);

struct process_want {
    uint64_t key;
    int64_t pid;
    bool kernel_thread; /* its stat says so: it has no arguments, and no file is read for them */
};

/* Adds a row with what the process tells of itself, by pid: the caller that takes it proves the
 * identity. 0; -ENOMEM: no memory (out->failed); -EMFILE: a descriptor was refused, and some of it
 * may be wrong. May block. */
int detail_read(const vitals_context *context, struct user_cache *users,
                const struct process_want *want, struct row_batch *out);

/* Takes the wanted metrics from a row: what it does not say is UNSUPPORTED. A text that is as
 * before stays the same object. `zombie`: whether the process is one. */
void detail_take(struct process *process, const struct row_batch *batch,
                 const struct batch_row *row, const struct metric_set *wanted, bool zombie,
                 uint64_t read_ns);

/* ---- rows.c ---- */

/* The wanted columns, found once and not for each row. */
struct row_columns {
    unsigned char numbers[32];
    size_t number_count;
    vitals_metric details[METRIC_NUMBERS];
    size_t detail_count;
    const struct metric_set *wanted; /* borrowed */
};

/* The value of a column of numbers that no worker reads; false if the metric is none. */
bool rows_number(const struct process_reader *reader, const struct process *process,
                 vitals_metric metric, struct value *out);

void rows_columns(struct row_columns *out, const struct metric_set *wanted);

/* Writes the row of a process; `parent` is its parent's key or 0. */
void rows_write(const struct process_reader *reader, const struct process *process, uint64_t parent,
                const struct row_columns *columns, vitals_builder *builder);
