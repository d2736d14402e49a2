/* gnutls.h: <gnutls/gnutls.h>, whose library is opened when a certificate is first looked at
 * (feed/library.h).
 *
 * A function that is called stands in both lists. Call gnutls_missing before any. */
#ifndef VITALS_EXPORT_SERVER_GNUTLS_H
#define VITALS_EXPORT_SERVER_GNUTLS_H

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#define GNUTLS_FUNCTIONS(FUNCTION)                    \
    FUNCTION(gnutls_certificate_allocate_credentials) \
    FUNCTION(gnutls_certificate_free_credentials)     \
    FUNCTION(gnutls_certificate_get_peers)            \
    FUNCTION(gnutls_certificate_server_set_request)   \
    FUNCTION(gnutls_certificate_set_x509_key_mem)     \
    FUNCTION(gnutls_certificate_set_x509_trust_mem)   \
    FUNCTION(gnutls_certificate_verify_peers)         \
    FUNCTION(gnutls_session_get_ptr)                  \
    FUNCTION(gnutls_session_set_ptr)                  \
    FUNCTION(gnutls_session_set_verify_function)      \
    FUNCTION(gnutls_strerror)                         \
    FUNCTION(gnutls_x509_crt_deinit)                  \
    FUNCTION(gnutls_x509_crt_get_subject_alt_name)    \
    FUNCTION(gnutls_x509_crt_import)                  \
    FUNCTION(gnutls_x509_crt_init)

struct gnutls_functions {
#define GNUTLS_MEMBER(name) __typeof__(name) *name##_function;
    GNUTLS_FUNCTIONS(GNUTLS_MEMBER)
#undef GNUTLS_MEMBER
};

extern struct gnutls_functions gnutls; /* set by gnutls_missing, and never after */

/* Opens it, once. NULL: it is open; else why it is not. */
const char *gnutls_missing(void);

#define gnutls_certificate_allocate_credentials \
    (*gnutls.gnutls_certificate_allocate_credentials_function)
#define gnutls_certificate_free_credentials (*gnutls.gnutls_certificate_free_credentials_function)
#define gnutls_certificate_get_peers        (*gnutls.gnutls_certificate_get_peers_function)
#define gnutls_certificate_server_set_request \
    (*gnutls.gnutls_certificate_server_set_request_function)
#define gnutls_certificate_set_x509_key_mem (*gnutls.gnutls_certificate_set_x509_key_mem_function)
#define gnutls_certificate_set_x509_trust_mem \
    (*gnutls.gnutls_certificate_set_x509_trust_mem_function)
#define gnutls_certificate_verify_peers      (*gnutls.gnutls_certificate_verify_peers_function)
#define gnutls_session_get_ptr               (*gnutls.gnutls_session_get_ptr_function)
#define gnutls_session_set_ptr               (*gnutls.gnutls_session_set_ptr_function)
#define gnutls_session_set_verify_function   (*gnutls.gnutls_session_set_verify_function_function)
#define gnutls_strerror                      (*gnutls.gnutls_strerror_function)
#define gnutls_x509_crt_deinit               (*gnutls.gnutls_x509_crt_deinit_function)
#define gnutls_x509_crt_get_subject_alt_name (*gnutls.gnutls_x509_crt_get_subject_alt_name_function)
#define gnutls_x509_crt_import               (*gnutls.gnutls_x509_crt_import_function)
#define gnutls_x509_crt_init                 (*gnutls.gnutls_x509_crt_init_function)

#endif
