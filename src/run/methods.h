/* methods.h: the ways of counting what a tree uses, best first; each is tried without a word.
 *
 *     open ──► places ──► child (stopped before its exec) ──► reaping (each zombie) ──► read ──►
 * close
 *
 * A rung is a table entry: what it is called, what it can count, what it costs to try, how. Of each
 * quantity the best rung that counts it speaks, and is named. Nothing here can fail a run: what is
 * denied drops one rung. Thread rule: the launcher's thread. */
#ifndef VITALS_RUN_METHODS_H
#define VITALS_RUN_METHODS_H

#include "os/count.h"
#include "run/counted.h"

struct ladder;

struct ladder_options {
    const struct os *os;
    const char *rungs;                            /* as vitals_run_options.rungs */
    uint64_t patience_ns;                         /* as os_count_options */
    uint64_t limit_memory_bytes, limit_processes; /* what a cgroup holds, with room for a
                                                     graceful end before; 0: none */
    const struct os_counter *const *counters;     /* NULL: os_counters; NULL behind the last */
    bool orphans_lost; /* we are no subreaper: what the command leaves behind others reap */
};

/* NULL when memory is out: then there is nothing to count with but wait4. Accepted everywhere. */
struct ladder *ladder_open(const struct ladder_options *options);

/* Where it shall be born; for os_command. */
void ladder_places(struct ladder *ladder, struct os_places *places);

/* See os_counter: of the best rung that has such a file. The folder stays the rung's. 0: none
 * has. */
int ladder_pulse(const struct ladder *ladder, int *folder);

/* The command's process, which waits for the word to go. Where a rung cannot keep its promise then,
 * those that were not needed are tried. */
void ladder_child(struct ladder *ladder, int64_t pid);

/* A child that has ended and was not reaped (waitid with WNOWAIT), and what wait4 said then. */
void ladder_reaping(struct ladder *ladder, int64_t pid);
void ladder_reaped(struct ladder *ladder, const struct os_reaped *child);

/* Whether a rung counts that, as far as it is known by now. */
bool ladder_counts(const struct ladder *ladder, enum quantity quantity);

/* From time to time while the command runs: at least every LADDER_TICK_NS. */
#define LADDER_TICK_NS NS_PER_SECOND
void ladder_tick(struct ladder *ladder);

/* What of the run still runs, by /proc. */
struct ladder_left {
    bool any;           /* or it is not known */
    double cpu_seconds; /* what that has used */
};

/* What is known by now. `out` has COUNTED_COUNT; a quantity that no rung counts is UNSUPPORTED.
 * Where something is left nothing is exact. */
void ladder_read(struct ladder *ladder, const struct ladder_left *left, struct counted *out);

/* Every rung in use, best first, by spaces. */
void ladder_rungs(const struct ladder *ladder, char *out, size_t capacity);

/* Ends everything that is left in the tree where a rung holds it (cgroup.kill); false where none
 * does. */
bool ladder_kill(struct ladder *ladder);

/* Removes what was made. Accepts NULL. */
void ladder_close(struct ladder *ladder);

#endif
