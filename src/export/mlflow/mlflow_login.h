/* mlflow_login.h: how MLflow's clients log in: their environment variables and their file. */
#ifndef VITALS_EXPORT_MLFLOW_MLFLOW_LOGIN_H
#define VITALS_EXPORT_MLFLOW_MLFLOW_LOGIN_H

#include "export/client.h"

/* A client made of MLFLOW_TRACKING_USERNAME and _PASSWORD, else of ~/.mlflow/credentials, else of
 * MLFLOW_TRACKING_TOKEN; of _INSECURE_TLS, _SERVER_CERT_PATH, _CLIENT_CERT_PATH, MLFLOW_WORKSPACE
 * and MLFLOW_HTTP_REQUEST_TIMEOUT. Errors: as client_new; EUNSUPPORTED for what needs a plug-in. */
int mlflow_login(struct client **out, vitals_error *error);

/* One value of an INI file, pure: `key` in the section [mlflow]; copied to *out, of `size` bytes.
 * False: it is not there, or too long. */
bool mlflow_credential(const char *bytes, size_t length, const char *key, char *out, size_t size);

#endif
