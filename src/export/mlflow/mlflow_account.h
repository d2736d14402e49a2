/* mlflow_account.h: what MLflow is told of a run as a whole: at its begin, and when it has ended.
 *
 * Pure but for the batch that is written to. */
#ifndef VITALS_EXPORT_MLFLOW_MLFLOW_ACCOUNT_H
#define VITALS_EXPORT_MLFLOW_MLFLOW_ACCOUNT_H

#include <jansson.h>

#include "export/mlflow/mlflow_points.h"
#include "export/redact.h"

/* The tags of a new run, as a list of {"key":…,"value":…}: whose it is, and what it runs. `job` is
 * that of the first line, `commit` what it runs in, or NULL; the caller releases the list. NULL:
 * memory is out. */
json_t *mlflow_first_tags(const json_t *job, const char *commit, enum redact_form form);

/* What was asked of the run, as parameters, or as tags where `as_tags`. */
void mlflow_write_begin(const json_t *job, const json_t *config, enum redact_form form,
                        bool as_tags, struct mlflow_batch *batch);

/* What the cgroup allows, the same way. */
void mlflow_write_limits(const struct mlflow_limits *limits, bool as_tags,
                         struct mlflow_batch *batch);

/* The figures as metrics account/…, what is known beside them as tags. */
void mlflow_write_account(const json_t *account, const json_t *status, uint64_t ms,
                          struct mlflow_batch *batch);

/* FINISHED, FAILED or KILLED; NULL where nobody knows. */
const char *mlflow_status(const json_t *status);

/* The account as a document, without what is said of the command unless all of it may leave. */
void mlflow_account_document(const json_t *account, enum redact_form form, struct text *out);

#endif
