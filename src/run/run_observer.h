/* run_observer.h: whom a run tells of what it sees while it goes on: an observer, and a file of
 * totals that a killed run leaves behind; and what went wrong with either, for the account.
 *
 * Who failed once is left alone: a run does not end because nobody can write it down. The same for
 * a run that has a watcher and for one that is only looked at. Thread rule: the thread that
 * samples; complaints any thread. */
#ifndef VITALS_RUN_RUN_OBSERVER_H
#define VITALS_RUN_RUN_OBSERVER_H

#include <pthread.h>
#include <stdbool.h>
#include <vitals/run.h>

enum { RUN_OBSERVER_COMPLAINT = 400 };

struct run_observer {
    const vitals_run_observer *observer; /* NULL: nobody */
    const char *totals_path;             /* NULL: no file */
    uint64_t begin_ns, totals_ns;        /* monotonic: of the run; of the newest totals */
    bool observed, totals_written;       /* not given up */
    bool rests; /* who is measured has done nothing since what was told last */
    pthread_mutex_t mutex;
    char complaint[RUN_OBSERVER_COMPLAINT]; /* guarded by mutex */
};

void run_observer_init(struct run_observer *relay, const vitals_run_observer *observer,
                       const char *totals_path);
void run_observer_done(struct run_observer *relay);

/* The observer's calls, in their order; `usage` is what was folded so far. */
void run_observer_begin(struct run_observer *relay, uint64_t now_ns);
void run_observer_sample(struct run_observer *relay, const vitals_snapshot *snapshot,
                         const vitals_usage *usage);
void run_observer_mark(struct run_observer *relay, const vitals_mark *mark);
void run_observer_end(struct run_observer *relay);

/* The first complaint stands. */
void run_observer_complain(struct run_observer *relay, const char *what, const char *why);
void run_observer_explain(struct run_observer *relay, vitals_account *account);

/* How long what was told last is good enough: a second at first, and then so long that who is
 * killed loses no more than a fifth of what the run did, and at most ten seconds; where nothing
 * was done in it half of its time, and at most a minute. To make the figures each time, and to put
 * a file in the place of another, is most of what a quiet run would cost. */
uint64_t run_observer_patience_ns(const struct run_observer *relay, uint64_t now_ns);
bool run_observer_totals_due(const struct run_observer *relay, uint64_t now_ns);
void run_observer_totals(struct run_observer *relay, const vitals_account *account,
                         uint64_t now_ns);

#endif
