/* thread.h: threads that take no signal: those are the program's. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Runs main(data) on a new thread that blocks all signals but those of faults of its own. `name`
 * has at most 15 bytes. A stack of 0 bytes is the usual one. Returns 0 or a positive errno. */
int thread_start(pthread_t *thread, const char *name, size_t stack_bytes, void *(*main)(void *data),
                 void *data);

/* True if a thread of this process was started by thread_start. Any thread. */
bool thread_is_ours(int64_t tid);
