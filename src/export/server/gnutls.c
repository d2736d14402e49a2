/* gnutls.c: see gnutls.h. */
#if VITALS_WITH_GNUTLS
#include "export/server/gnutls.h"

#include <stddef.h>

#include "feed/library.h"

struct gnutls_functions gnutls;

const char *gnutls_missing(void)
{
    static const struct library_symbol SYMBOLS[] = {
#define SYMBOL(name) {#name, offsetof(struct gnutls_functions, name##_function)},
        GNUTLS_FUNCTIONS(SYMBOL)
#undef SYMBOL
    };
    static struct library library = {.file = "libgnutls.so.30",
                                     .table = &gnutls,
                                     .symbols = SYMBOLS,
                                     .count = sizeof(SYMBOLS) / sizeof(SYMBOLS[0])};
    return library_missing(&library);
}
#else
typedef int gnutls_is_left_out;
#endif
