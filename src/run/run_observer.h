/* run_observer.h: passes what a run samples to an observer and to a file of running totals, which
 * survives if the run is killed; and keeps the first error of either for the account.
 *
 * After an error that receiver gets no more: a run does not end because its output failed. Serves
 * runs with a watcher and tracked processes alike. Thread rule: the thread that samples; errors
 * from any thread. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <vitals/run.h>

enum { RUN_OBSERVER_COMPLAINT = 400 };

struct run_observer {
    const vitals_run_observer *observer; /* NULL: none */
    const char *totals_path;             /* NULL: no file */
    uint64_t begin_ns, totals_ns;        /* monotonic: of the run; of the newest totals */
    bool observed, totals_written;       /* not given up */
    bool rests; /* the measured processes have been idle since the last totals */
    pthread_mutex_t mutex;
    char complaint[RUN_OBSERVER_COMPLAINT]; /* guarded by mutex */
};

void run_observer_init(struct run_observer *relay, const vitals_run_observer *observer,
                       const char *totals_path);
void run_observer_done(struct run_observer *relay);

/* Makes a request of what the usage needs beside what the observer, if there is one, asks for.
 * `memory`: the kernel counts no memory of the tree. `*out` is the caller's, even with an error. */
int run_observer_request(const vitals_run_observer *observer, const vitals_usage *usage,
                         bool memory, uint64_t interval_ns, vitals_request **out,
                         vitals_error *error);

/* The observer's calls, in their order; `usage` is what was added so far. */
void run_observer_begin(struct run_observer *relay, uint64_t now_ns);
void run_observer_sample(struct run_observer *relay, const vitals_snapshot *snapshot,
                         const vitals_usage *usage);
void run_observer_mark(struct run_observer *relay, const vitals_mark *mark);
void run_observer_end(struct run_observer *relay);

/* The first of each `what` is kept. */
void run_observer_complain(struct run_observer *relay, const char *what, const char *why);
void run_observer_explain(struct run_observer *relay, vitals_account *account);

/* How long the last totals are recent enough: 1 s at first; then a fifth of the run's time, so that
 * a killed run loses no more than that, up to 10 s; if the run was idle, half of its time, up to 60
 * s. Computing the figures and replacing a file is most of what a quiet run costs. */
uint64_t run_observer_patience_ns(const struct run_observer *relay, uint64_t now_ns);
bool run_observer_totals_due(const struct run_observer *relay, uint64_t now_ns);
void run_observer_totals(struct run_observer *relay, const vitals_account *account,
                         uint64_t now_ns);
