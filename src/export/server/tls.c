/* tls.c: see serve.h. */
#include "export/server/serve.h"

#include <arpa/inet.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "record/sample.h"

struct tls_credentials {
    const struct web_config *config;
    gnutls_certificate_credentials_t certificate;
    gnutls_priority_t priorities;
};

static gnutls_datum_t datum(const struct web_file *file)
{
    return (gnutls_datum_t){(unsigned char *)file->text.bytes, (unsigned)file->text.size};
}

void tls_credentials_free(struct tls_credentials *tls)
{
    if (tls == NULL)
        return;
    if (tls->certificate != NULL)
        gnutls_certificate_free_credentials(tls->certificate);
    if (tls->priorities != NULL)
        gnutls_priority_deinit(tls->priorities);
    free(tls);
}

int tls_credentials_new(const struct web_config *config, struct tls_credentials **out,
                        vitals_error *error)
{
    const struct web_file *files = config->files;
    const gnutls_datum_t certificate = datum(&files[WEB_FILE_CERTIFICATE]);
    const gnutls_datum_t key = datum(&files[WEB_FILE_KEY]);
    const gnutls_datum_t authority = datum(&files[WEB_FILE_CLIENT_CA]);
    struct tls_credentials *tls = calloc(1, sizeof *tls);
    if (tls == NULL || gnutls_certificate_allocate_credentials(&tls->certificate) < 0) {
        free(tls);
        return record_fail(VITALS_EMEMORY, files[WEB_FILE_SELF].path, error, "no memory");
    }
    tls->config = config;

    int code = 0;
    int status = gnutls_certificate_set_x509_key_mem(tls->certificate, &certificate, &key,
                                                     GNUTLS_X509_FMT_PEM);
    if (status < 0)
        code = record_fail(VITALS_EFORMAT, files[WEB_FILE_CERTIFICATE].path, error,
                           "cannot be used with its key: %s", gnutls_strerror(status));

    if (code == 0 && files[WEB_FILE_CLIENT_CA].path != NULL) {
        status = gnutls_certificate_set_x509_trust_mem(tls->certificate, &authority,
                                                       GNUTLS_X509_FMT_PEM);
        if (status <= 0)
            code = record_fail(VITALS_EFORMAT, files[WEB_FILE_CLIENT_CA].path, error,
                               "holds no certificate: %s",
                               status < 0 ? gnutls_strerror(status) : "it is empty");
    }

    status = code == 0 ? gnutls_priority_init(&tls->priorities, config->priorities, NULL) : 0;
    if (status < 0)
        code = record_fail(VITALS_ESYSTEM, files[WEB_FILE_SELF].path, error,
                           "GnuTLS refuses these versions: %s", gnutls_strerror(status));
    if (code == 0)
        *out = tls;
    else
        tls_credentials_free(tls);
    return code;
}

/* Certificates hold addresses as bytes. */
static bool is_name(int type, const char *bytes, size_t size, const char *name)
{
    unsigned char address[16];
    if (type == GNUTLS_SAN_IPADDRESS)
        return (size == 4 || size == 16) &&
               inet_pton(size == 4 ? AF_INET : AF_INET6, name, address) == 1 &&
               memcmp(address, bytes, size) == 0;
    return (type == GNUTLS_SAN_DNSNAME || type == GNUTLS_SAN_RFC822NAME ||
            type == GNUTLS_SAN_URI) &&
           strlen(name) == size && memchr(bytes, '\0', size) == NULL &&
           strncasecmp(name, bytes, size) == 0;
}

/* Callback of GnuTLS: returns 0 to accept the client. */
static int verify(gnutls_session_t session)
{
    enum { NAMES_LOOKED_AT = 256 };
    const struct web_config *config = gnutls_session_get_ptr(session);
    unsigned count = 0, status = 0;
    gnutls_x509_crt_t certificate;
    const gnutls_datum_t *peers = gnutls_certificate_get_peers(session, &count);
    if (peers == NULL || count == 0)
        return config->client == WEB_CLIENT_VERIFY || config->client == WEB_CLIENT_REQUIRE_ANY;
    if (config->client < WEB_CLIENT_VERIFY_IF_GIVEN)
        return 0;
    gnutls_typed_vdata_st purpose = {.type = GNUTLS_DT_KEY_PURPOSE_OID,
                                     .data = (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT};
    if (gnutls_certificate_verify_peers(session, &purpose, 1, &status) < 0 || status != 0)
        return -1;
    if (config->name_count == 0)
        return 0;
    if (gnutls_x509_crt_init(&certificate) < 0)
        return -1;
    bool found = false;
    bool more = gnutls_x509_crt_import(certificate, &peers[0], GNUTLS_X509_FMT_DER) == 0;
    for (unsigned i = 0; i < NAMES_LOOKED_AT && more && !found; i++) {
        char bytes[512];
        size_t size = sizeof bytes;
        int type = gnutls_x509_crt_get_subject_alt_name(certificate, i, bytes, &size, NULL);
        more = type != GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE;
        for (size_t n = 0; n < config->name_count && type >= 0 && !found; n++)
            found = is_name(type, bytes, size, config->names[n]);
    }
    gnutls_x509_crt_deinit(certificate);
    return found ? 0 : -1;
}

bool tls_credentials_use(const struct tls_credentials *tls, void *session)
{
    const struct web_config *config = tls->config;
    bool required = config->client == WEB_CLIENT_REQUIRE_ANY || config->client == WEB_CLIENT_VERIFY;
    if (gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, tls->certificate) < 0 ||
        gnutls_priority_set(session, tls->priorities) < 0)
        return false;
    if (config->client != WEB_CLIENT_NONE) {
        gnutls_session_set_ptr(session, (void *)config);
        gnutls_certificate_server_set_request(session,
                                              required ? GNUTLS_CERT_REQUIRE : GNUTLS_CERT_REQUEST);
        gnutls_session_set_verify_function(session, verify);
    }
    return true;
}
