/* tls.h: what is looked at of certificates beyond what the HTTP library does itself. */
#ifndef VITALS_EXPORT_SERVER_TLS_H
#define VITALS_EXPORT_SERVER_TLS_H

#include "export/server/web_config.h"

/* Whether its certificate, key and authority can be used together. Errors: EFORMAT (which of them,
 * and why), EMEMORY. */
int tls_check(const struct web_config *config, vitals_error *error);

/* Has a session, which is new, ask for and verify what the configuration says; a client that fails
 * it does not get through the handshake. The configuration must live as long as the session. */
void tls_ask(void *session, const struct web_config *config);

#endif
