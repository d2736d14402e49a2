/* run_sender.h: sends the samples and the account of a run to the exporter: lines of wire.h.
 *
 * A line that does not get there in time is dropped and counted, in memory that the sampler's
 * process shares. Samples may come from the sampler's process or thread; the rest is the
 * caller's. */
#pragma once

#include <stdatomic.h>

#include <vitals/record/exporter.h>

#include "export/link.h"
#include "feed/text.h"

struct json_t; /* of jansson */

struct run_sender {
    struct link *link; /* borrowed; NULL: nothing is sent */
    vitals_run_observer face;
    vitals_request *request; /* owned */
    struct buffer line;      /* in the sampler's process or thread */
    uint64_t wait_ns;        /* limit for writing a sample */
    _Atomic uint64_t *dropped;
};

/* Makes the request of what exporters need beside an account: the machine, its devices, names of
 * processes; of a process that runs already whether our limits apply to it; for OTLP the workloads.
 * Errors: EMEMORY, and the request is NULL or lacks some. */
int run_sender_init(struct run_sender *sender, const vitals_exporter_options *options,
                    vitals_error *error);

/* Begins to send, at that interval. Errors: EMEMORY. */
int run_sender_begin(struct run_sender *sender, struct link *link, uint64_t interval_ns,
                     vitals_error *error);

/* Fills in `face`. */
void run_sender_observe(struct run_sender *sender);

/* Return 1 if it was sent, else 0 or EMEMORY: it was dropped and counted. */
int run_sender_sample(struct run_sender *sender, const vitals_snapshot *snapshot,
                      const vitals_usage *usage);
int run_sender_file(struct run_sender *sender, const char *path, uint64_t wait_ns);

/* Sends an account, as run_sender_account_of made it, with its end state, and when the sender stops
 * to listen: 0, or a deadline of the monotonic clock, before which the program must say what it has
 * not sent, early enough to be heard. `document` NULL: out of memory. */
int run_sender_account(struct run_sender *sender, const vitals_account *account,
                       const struct json_t *document, uint64_t wait_ns, uint64_t deadline_ns);

/* The time before a deadline at which the exporter has to be done. */
uint64_t run_sender_until_ns(uint64_t deadline_ns);

/* Returns the account as JSON, with as much of its command line as is permitted. The caller
 * releases it. NULL if memory is out. */
struct json_t *run_sender_account_of(const vitals_account *account, const char *command_line);

uint64_t run_sender_dropped(const struct run_sender *sender);
void run_sender_done(struct run_sender *sender);
