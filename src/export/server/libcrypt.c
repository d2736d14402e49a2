/* libcrypt.c: see libcrypt.h. */
#if VITALS_WITH_CRYPT
#include "export/server/libcrypt.h"

#include <stddef.h>

#include "feed/library.h"

struct libcrypt_functions libcrypt;

const char *libcrypt_missing(void)
{
    static const struct library_symbol SYMBOLS[] = {
#define SYMBOL(name) {#name, offsetof(struct libcrypt_functions, name##_function)},
        LIBCRYPT_FUNCTIONS(SYMBOL)
#undef SYMBOL
    };
    static struct library library = {.file = "libcrypt.so.1",
                                     .table = &libcrypt,
                                     .symbols = SYMBOLS,
                                     .count = sizeof(SYMBOLS) / sizeof(SYMBOLS[0])};
    return library_missing(&library);
}
#else
typedef int libcrypt_is_left_out;
#endif
