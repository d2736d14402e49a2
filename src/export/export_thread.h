/* export_thread.h: the thread of a publisher, and the lock that it shares with the main thread.
 *
 * The thread blocks signals (util/thread.h). Waits are by the monotonic clock. Both sides take
 * `mutex` around what they share, and broadcast `changed` after a change. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <vitals/error.h>

struct export_thread {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool ended; /* guarded by mutex */
    pthread_t thread;
    void (*work)(void *data);
    void *data;
};

/* Runs work(data), after which `ended` is set. Errors: ESYSTEM, and nothing is left to end. */
int export_thread_start(struct export_thread *thread, void (*work)(void *data), void *data,
                        vitals_error *error);

/* Waits for a change, with the mutex held. Returns false if the time is over. */
bool export_thread_wait(struct export_thread *thread, uint64_t until_ns);

/* Waits until the thread has ended or the time is over, with the mutex held. Returns `ended`. */
bool export_thread_wait_for_end(struct export_thread *thread, uint64_t until_ns);

/* Frees a thread that has ended; one that has not is left behind with all that it uses. Called with
 * the mutex held, which it unlocks. Returns `ended`. */
bool export_thread_leave(struct export_thread *thread);

/* The watchdog, a thread that takes no lock: ends the process `patience_ns` after the other end of
 * the descriptor was closed, even if input is left to read. To be called once. Without a thread
 * there is no watchdog. */
void watchdog_start(int descriptor, uint64_t patience_ns);
