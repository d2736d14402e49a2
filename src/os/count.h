/* count.h: ways of counting what a tree of processes uses, one record of functions each.
 *
 *     open ──► child (stopped before its exec) ──► ended, reaped (each zombie) ──► read ──► close
 *
 * Each knows one mechanism of the kernel and nothing of the others; which of them speaks for what
 * is run/methods.c's affair. Nothing here may fail a run: what is denied says so, and is not used.
 * Thread rule: the launcher's thread. */
#pragma once

#include "os/counted.h"
#include "os/launch.h"

/* A set of quantities. */
typedef uint32_t os_quantities;
_Static_assert(COUNTED_COUNT <= 32, "a set has a bit for each");

static inline os_quantities os_quantity(enum quantity quantity)
{
    return (os_quantities)1 << quantity;
}

struct os_count_options {
    const struct os *os;
    os_quantities wanted;                         /* what no better mechanism counts */
    uint64_t limit_memory_bytes, limit_processes; /* what it shall hold, where it can; 0: none */
    uint64_t timeout_ns;                          /* for a scope to hold the command; 0: 50 ms */
    void *shared; /* of os_count_shared_new: what one has found out for the next */

    /* As in vitals_run_options. */
    int (*make_scope)(void *data, const char *name, const int64_t *pids, size_t pid_count,
                      uint64_t memory_max_bytes, uint64_t processes_max);
    void *scope_data;
};

/* A mechanism. Functions may be NULL but open and close. */
struct os_counter {
    const char *name;    /* as in vitals_run_options.methods */
    size_t size;         /* of its state, which begins as zeros */
    os_quantities worth; /* it is tried where one of these is wanted */
    bool ended_only;     /* what still runs is not in it */

    /* Makes what can be made before there is a child. 0, and *counts is what it will tell; or
     * negative errno, and nothing was left. */
    int (*open)(void *state, const struct os_count_options *options, os_quantities *counts);

    /* Where the child shall be born. */
    void (*place)(void *state, struct os_places *places);

    /* The child is there, stopped. Negative errno: it counts nothing, and close comes next. */
    int (*child)(void *state, int64_t pid, os_quantities *counts);
    void (*ended)(void *state, int64_t pid); /* a zombie child, not reaped */
    void (*reaped)(void *state, const struct os_reaped *child);
    void (*tick)(void *state); /* from time to time */

    /* Opens a file whose text stays the same while no member runs, and the folder of the group that
     * lists the members (os_list_group), which the counter owns; negative errno. NULL: there is no
     * such file. */
    int (*activity)(const void *state, int *folder);

    /* The memory that its members hold at this moment, without page cache that can be
     * dropped. False if it does not know. */
    bool (*held)(const void *state, uint64_t *bytes);

    bool (*is_idle)(const void *state); /* it was not worth it, or not allowed; NULL: never */

    /* Fills in what it counts; what it leaves UNSET it does not. */
    void (*read)(void *state, struct counted *out);
    double (*most_cpu_seconds)(const void *state); /* of the last read; NULL: what was read */
    bool (*whole)(const void *state);              /* no process was missed; NULL: read says it */
    bool (*kill)(void *state);                     /* all that it holds; false where it cannot */
    void (*close)(void *state);
};

/* Those of this system, best first; NULL behind the last. */
extern const struct os_counter *const os_counters[];

/* Freed by memory_free; NULL where memory is out. */
void *os_count_shared_new(void);

/* Writes one figure. */
static inline void os_count(struct counted *out, enum quantity quantity, double value,
                            vitals_availability state, const char *source)
{
    out[quantity].value = value_f64(value);
    out[quantity].value.state = (signed char)state;
    size_t size = 0;
    while (size + 1 < COUNTED_SOURCE && source[size] != '\0') {
        out[quantity].source[size] = source[size];
        size++;
    }
    out[quantity].source[size] = '\0';
}
