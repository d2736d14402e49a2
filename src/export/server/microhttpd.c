/* microhttpd.c: see microhttpd.h. */
#if VITALS_WITH_MICROHTTPD
#include "export/server/microhttpd.h"

#include <stddef.h>

#include "feed/library.h"

struct microhttpd_functions microhttpd;

const char *microhttpd_missing(void)
{
    static const struct library_symbol SYMBOLS[] = {
#define SYMBOL(name) {#name, offsetof(struct microhttpd_functions, name##_function)},
        MICROHTTPD_FUNCTIONS(SYMBOL)
#undef SYMBOL
    };
    static struct library library = {.file = "libmicrohttpd.so.12",
                                     .table = &microhttpd,
                                     .symbols = SYMBOLS,
                                     .count = sizeof(SYMBOLS) / sizeof(SYMBOLS[0])};
    return library_missing(&library);
}
#else
typedef int microhttpd_is_left_out;
#endif
