/* mlflow_sender.h: the thread that sends a spool to MLflow, in order, each record until it is
 * accepted.
 *
 * While the server is away it retries, with growing intervals of up to a minute. A record that the
 * server refuses is left out and reported once; so is one that it fails over repeatedly while it
 * accepts others. A login that never worked, or a server that never was MLflow's, ends sending. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <vitals/error.h>

#include "export/mlflow/spool.h"

struct mlflow_sender;

/* A member of an end record that is sent only for runs that we created; servers ignore it. */
#define MLFLOW_ONLY_OURS "\"only_ours\":true"

struct mlflow_sender_options {
    bool resumed;        /* another program began, and may have created the run already */
    const char *uri;     /* NULL, or the address with a login, if the spool has it without */
    const char *instead; /* NULL, or an address to use instead of the spool's */
    uint64_t away_ns;    /* how long the end waits for a server that does not answer; 0: until the
                            deadline */
};

/* The spool and the addresses are used until mlflow_sender_stop. Errors: EMEMORY, ESYSTEM (no
 * thread). */
int mlflow_sender_start(struct spool *spool, const struct mlflow_sender_options *options,
                        struct mlflow_sender **out, vitals_error *error);

/* Announces a new record. Any thread. */
void mlflow_sender_wake(struct mlflow_sender *sender);

/* Announces that no record follows: waits until all has been sent, but not beyond the deadline of
 * the monotonic clock. Returns false if the thread hangs; it is left behind with what it uses. */
bool mlflow_sender_stop(struct mlflow_sender *sender, uint64_t deadline_ns);

/* Frees the sender. `why`: the reason that not all was sent; empty if it was reported already. */
void mlflow_sender_free(struct mlflow_sender *sender, char why[static 400]);
