/* mlflow_login.h: logs in as MLflow's clients do: their environment variables and their file. */
#ifndef VITALS_EXPORT_MLFLOW_MLFLOW_LOGIN_H
#define VITALS_EXPORT_MLFLOW_MLFLOW_LOGIN_H

#include "export/client.h"

/* Creates a client from MLFLOW_TRACKING_USERNAME and _PASSWORD, else ~/.mlflow/credentials, else
 * MLFLOW_TRACKING_TOKEN; with _INSECURE_TLS, _SERVER_CERT_PATH, _CLIENT_CERT_PATH, MLFLOW_WORKSPACE
 * and MLFLOW_HTTP_REQUEST_TIMEOUT. Errors: as client_new; EUNSUPPORTED if the login needs a
 * plug-in. */
int mlflow_login(struct client **out, vitals_error *error);

/* Reads `key` of the section [mlflow] of an INI file into *out, of `size` bytes. Returns false if
 * it is not there or too long. Pure. */
bool mlflow_credential(const char *bytes, size_t length, const char *key, char *out, size_t size);

#endif
