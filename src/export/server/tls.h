/* tls.h: certificates and versions of TLS, as the configuration has them.
 *
 * Each connection gets the credentials of the configuration that it was accepted under, so that a
 * new certificate needs no new listener. */
#ifndef VITALS_EXPORT_SERVER_TLS_H
#define VITALS_EXPORT_SERVER_TLS_H

#include "export/server/web_config.h"

struct tls_credentials;

/* Loads certificate, key and authority. Borrows the configuration. Errors: EFORMAT (which file
 * cannot be used, and why), EMEMORY. */
int tls_credentials_new(const struct web_config *config, struct tls_credentials **out,
                        vitals_error *error);
void tls_credentials_free(struct tls_credentials *tls); /* accepts NULL */

/* Gives them to a session before its handshake: certificate, versions, and what is asked of the
 * client, which does not get through the handshake if it fails that. They must outlive the session.
 * Returns false if GnuTLS refuses; the session must not be used then. */
bool tls_credentials_use(const struct tls_credentials *tls, void *session);

#endif
