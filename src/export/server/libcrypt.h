/* libcrypt.h: <crypt.h>, whose library is opened when a password is first looked at
 * (feed/library.h).
 *
 * A function that is called stands in both lists. Call libcrypt_missing before any. */
#ifndef VITALS_EXPORT_SERVER_LIBCRYPT_H
#define VITALS_EXPORT_SERVER_LIBCRYPT_H

#include <crypt.h>

#define LIBCRYPT_FUNCTIONS(FUNCTION) FUNCTION(crypt_rn)

struct libcrypt_functions {
#define LIBCRYPT_MEMBER(name) __typeof__(name) *name##_function;
    LIBCRYPT_FUNCTIONS(LIBCRYPT_MEMBER)
#undef LIBCRYPT_MEMBER
};

extern struct libcrypt_functions libcrypt; /* set by libcrypt_missing, and never after */

/* Opens it, once. NULL: it is open; else why it is not. */
const char *libcrypt_missing(void);

#define crypt_rn (*libcrypt.crypt_rn_function)

#endif
