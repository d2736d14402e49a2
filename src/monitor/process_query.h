/* process_query.h: questions to one process, each answered beside the loop.
 *
 * Reading some of a process waits for a lock that it may hold for long, so a thread asks. If the
 * owner goes meanwhile the thread is left behind, and the last of the two frees the memory. The
 * owner is one thread. */
#pragma once

#include <stdbool.h>

#include <vitals/vitals.h>

struct process_query;

/* Takes the handle over, also if it fails. NULL: out of memory or descriptors. */
struct process_query *process_query_new(vitals_process *process);
void process_query_free(struct process_query *query); /* accepts NULL */

/* Asks; the request is taken over. False: a question is with the process already, or no thread can
 * be started. */
bool process_query_ask(struct process_query *query, vitals_request *request);

/* True once for each question, when it has been answered: *answer is yours to unref, or NULL, and
 * *error says why. */
bool process_query_take(struct process_query *query, vitals_snapshot **answer, vitals_error *error);

/* Can be read when a question has been answered; -1: none has been asked. */
int process_query_descriptor(const struct process_query *query);
