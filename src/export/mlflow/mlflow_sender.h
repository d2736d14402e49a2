/* mlflow_sender.h: the thread that sends a spool to MLflow: in order, each record until it arrived.
 *
 * While the server is away it tries again, ever more seldom, up to once a minute. What the server
 * refuses is left out, and said once; so is what it fails over again and again, while it takes
 * other things of us. A login that never was enough, and what never was an MLflow server, end it.
 */
#ifndef VITALS_EXPORT_MLFLOW_MLFLOW_SENDER_H
#define VITALS_EXPORT_MLFLOW_MLFLOW_SENDER_H

#include <stdbool.h>
#include <stdint.h>

#include <vitals/error.h>

#include "export/mlflow/spool.h"

struct mlflow_sender;

/* Stands in an end that is for runs that we made alone; servers pass it over. */
#define MLFLOW_ONLY_OURS "\"only_ours\":true"

struct mlflow_sender_options {
    bool resumed;        /* another program began, and may have made the run already */
    const char *uri;     /* NULL, or an address with a login, where it is the spool's without */
    const char *instead; /* NULL, or an address in the place of the spool's */
    uint64_t away_ns; /* how long a server that does not answer is waited for at the end; 0: as long
                         as there is time */
};

/* The spool and the address are used until mlflow_sender_stop. Errors: EMEMORY, ESYSTEM (no
 * thread). */
int mlflow_sender_start(struct spool *spool, const struct mlflow_sender_options *options,
                        struct mlflow_sender **out, vitals_error *error);

/* There is something new in the spool. Any thread. */
void mlflow_sender_wake(struct mlflow_sender *sender);

/* No more is coming: waits until all has been sent, but not beyond the deadline of the monotonic
 * clock. False: the thread is held up, and is left behind with what it uses. */
bool mlflow_sender_stop(struct mlflow_sender *sender, uint64_t deadline_ns);

/* Frees the sender. `why` not all was sent; empty where that has been said. */
void mlflow_sender_free(struct mlflow_sender *sender, char why[static 400]);

#endif
