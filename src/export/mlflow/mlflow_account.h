/* mlflow_account.h: what is exported to MLflow of a run as a whole: at its begin and after its end.
 * Pure but for the batch that is written to. */
#pragma once

#include <jansson.h>

#include "export/mlflow/mlflow_batch.h"
#include "export/redact.h"

/* Returns the tags of a new run as a list of {"key":…,"value":…}: its user and source. `job` is
 * that of the export_config, `commit` the working folder's, or NULL. The caller releases the list.
 * NULL if memory is out. */
json_t *mlflow_first_tags(const json_t *job, const char *commit, enum redact_form form);

/* Writes the options of the run as settings. */
void mlflow_write_begin(const json_t *job, const json_t *config, enum redact_form form,
                        struct mlflow_batch *batch);

/* Writes the main figures as metrics system/run/…, and attributes of the account as tags. */
void mlflow_write_account(const json_t *account, const json_t *status, uint64_t ms,
                          struct mlflow_batch *batch);

/* Returns FINISHED, FAILED or KILLED; NULL if the status is not known. */
const char *mlflow_status(const json_t *status);

/* Appends the account as a document, without the command line unless all of it may leave. */
void mlflow_account_document(const json_t *account, enum redact_form form, struct buffer *out);
