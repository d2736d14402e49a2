/* mlflow_batch.h: the bodies of MLflow's log-batch requests, within the server's limits.
 *
 * A request holds at most 1000 metrics, or 100 parameters or tags, and less than 1 MB. Keys and
 * values are made valid. One thread at a time. */
#pragma once

#include <stdint.h>

#include "feed/text.h"

enum mlflow_part { MLFLOW_METRICS, MLFLOW_PARAMS, MLFLOW_TAGS };

enum {
    MLFLOW_KEY_MOST = 250,
    MLFLOW_PARAM_MOST = 500, /* newer servers accept 6000 */
    MLFLOW_TAG_MOST = 5000,
    MLFLOW_BODY_MOST = 900000, /* servers accept 1,000,000 */
};

/* A batch of zeros with `emit` set is empty. `emit` gets each request's body, without the run:
 * {"metrics":[…]}. */
struct mlflow_batch {
    void (*emit)(void *data, struct buffer *body);
    void *data;
    bool tags_only; /* settings are tags: the run's parameters are another's */
    struct buffer text;
    enum mlflow_part part;
    unsigned count;
};

/* Adds nothing if `value` is not finite; `ms` since 1970. */
void mlflow_batch_metric(struct mlflow_batch *batch, const char *key, double value, uint64_t ms,
                         uint64_t step);
void mlflow_batch_tag(struct mlflow_batch *batch, const char *key, vitals_text value);

/* Add a parameter, or a tag if parameters are not ours; nothing if it is empty, or not above 0. */
void mlflow_batch_setting(struct mlflow_batch *batch, const char *key, vitals_text value);
void mlflow_batch_limit(struct mlflow_batch *batch, const char *key, double limit);

/* Emits what was added since the last flush. */
void mlflow_batch_flush(struct mlflow_batch *batch);
void mlflow_batch_done(struct mlflow_batch *batch);

/* Appends a key that MLflow accepts: letters, digits, _ - . space and single slashes inside. A key
 * that had to be changed gets a hash of eight digits, so that two such keys differ. */
void mlflow_key(struct buffer *out, const char *key);

/* Appends {"key":…,"value":…} of a tag or parameter; the value is cut to `most` bytes. */
void mlflow_pair(struct buffer *out, const char *key, vitals_text value, size_t most);
