/* libyaml.c: see libyaml.h. */
#if VITALS_WITH_YAML
#include "export/server/libyaml.h"

#include <stddef.h>

#include "feed/library.h"

struct libyaml_functions libyaml;

const char *libyaml_missing(void)
{
    static const struct library_symbol SYMBOLS[] = {
#define SYMBOL(name) {#name, offsetof(struct libyaml_functions, name##_function)},
        LIBYAML_FUNCTIONS(SYMBOL)
#undef SYMBOL
    };
    static struct library library = {.file = "libyaml-0.so.2",
                                     .table = &libyaml,
                                     .symbols = SYMBOLS,
                                     .count = sizeof(SYMBOLS) / sizeof(SYMBOLS[0])};
    return library_missing(&library);
}
#else
typedef int libyaml_is_left_out;
#endif
