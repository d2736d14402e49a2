/* zlib.c: see zlib.h. */
#if VITALS_WITH_ZLIB
#include "record/sqlite/zlib.h"

#include <stddef.h>

#include "feed/library.h"

struct zlib_functions zlib;

const char *zlib_missing(void)
{
    static const struct library_symbol SYMBOLS[] = {
#define SYMBOL(name) {#name, offsetof(struct zlib_functions, name##_function)},
        ZLIB_FUNCTIONS(SYMBOL)
#undef SYMBOL
    };
    static struct library library = {.file = "libz.so.1",
                                     .table = &zlib,
                                     .symbols = SYMBOLS,
                                     .count = sizeof(SYMBOLS) / sizeof(SYMBOLS[0])};
    return library_missing(&library);
}
#else
typedef int zlib_is_left_out;
#endif
