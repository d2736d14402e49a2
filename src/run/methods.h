/* methods.h: the ways of counting what a tree uses, best first; each is tried without a word.
 *
 *   open ─► places ─► child (stopped before its exec) ─► reaping (each zombie) ─► read ─► close
 *
 * A method is a table entry: what it is called, what it can count, what it costs to try, how. Of
 * each quantity the best method that counts it speaks, and is named. Nothing here can fail a run:
 * what is denied drops one method. Thread rule: the launcher's thread. */
#pragma once

#include "os/count.h"
#include "os/counted.h"

struct accounting;

struct accounting_options {
    struct os_count_options count;            /* what is wanted and shared is set here */
    const char *methods;                      /* as vitals_run_options.methods */
    const struct os_counter *const *counters; /* NULL: os_counters; NULL behind the last */
    bool orphans_lost; /* we are no subreaper: what the command leaves behind others reap */
};

/* NULL when memory is out: then there is nothing to count with but wait4. Accepted everywhere. */
struct accounting *accounting_open(const struct accounting_options *options);

/* Where it shall be born; for os_command. */
void accounting_places(struct accounting *accounting, struct os_places *places);

/* See os_counter: of the best method that has such a file. The folder stays the method's. 0: none
 * has. */
int accounting_activity(const struct accounting *accounting, int *folder);

/* The command's process, which waits for the word to go. Where a method cannot keep its promise
 * then, those that were not needed are tried. */
void accounting_child(struct accounting *accounting, int64_t pid);

/* A child that has ended and was not reaped (waitid with WNOWAIT), and what wait4 said then. */
void accounting_reaping(struct accounting *accounting, int64_t pid);
void accounting_reaped(struct accounting *accounting, const struct os_reaped *child);

/* Whether a method counts that, as far as it is known by now. */
bool accounting_counts(const struct accounting *accounting, enum quantity quantity);

/* From time to time while the command runs: at least every ACCOUNTING_TICK_NS. */
#define ACCOUNTING_TICK_NS NS_PER_SECOND
void accounting_tick(struct accounting *accounting);

/* The processes of the run that still live, by /proc. */
struct accounting_left {
    bool any;           /* or it is not known */
    double cpu_seconds; /* what that has used */
};

/* Reads the counts so far. `out` has COUNTED_COUNT; a quantity that no method counts is
 * UNSUPPORTED. If processes are left nothing is exact. */
void accounting_read(struct accounting *accounting, const struct accounting_left *left,
                     struct counted *out);

/* Every method in use, best first, by spaces. */
void accounting_names(const struct accounting *accounting, char *out, size_t capacity);

/* Ends everything that is left in the tree where a method holds it (cgroup.kill); false where none
 * does. */
bool accounting_kill(struct accounting *accounting);

/* The memory that the whole job holds now, by the method that counts its memory; not known: no
 * state above 0. */
struct value accounting_held(const struct accounting *accounting);

/* Removes what was made. Accepts NULL. */
void accounting_close(struct accounting *accounting);
