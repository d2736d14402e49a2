/* options.h: structs that a caller fills and that grow from release to release.
 *
 * Such a struct begins with a size_t that holds its size as the caller was compiled, and grows only
 * at its end. So a caller and a library of different releases agree: what an older caller does not
 * have is the default, and what a newer one has besides must be zero, or else it asks for something
 * that this library would silently not do. Knows no particular struct. Thread rule: pure. */
#pragma once

#include "util/base.h"
#include <vitals/error.h>

struct options_form {
    const char *name;     /* "vitals_options" */
    const void *defaults; /* a whole struct */
    size_t size;          /* of this library's struct */
    size_t first;         /* of the first release's */
};

/* Defines the form NAME of a struct whose defaults are DEFAULTS. In release 0.1.0 it ended behind
 * the member LAST, and that size stays BYTES (of a 64-bit system) when the struct grows. */
#define OPTIONS_FORM(NAME, TYPE, DEFAULTS, LAST, BYTES)                                \
    static const struct options_form NAME = {.name = #TYPE,                            \
                                             .defaults = &(DEFAULTS),                  \
                                             .size = sizeof(TYPE),                     \
                                             .first = offsetof(TYPE, LAST) +           \
                                                      sizeof(((TYPE *)NULL)->LAST)};   \
    _Static_assert(sizeof(void *) != 8 ||                                              \
                       offsetof(TYPE, LAST) + sizeof(((TYPE *)NULL)->LAST) == (BYTES), \
                   "structs grow at their end only")

/* The largest size of an options struct that is accepted: none will grow beyond it. */
enum { OPTIONS_SIZE_MAX = 4096 };

/* Fills a caller's struct of `size` bytes, not one more, and sets its size. */
void options_init(const struct options_form *form, void *options, size_t size);

/* Copies what a caller gives (NULL: the defaults) into `out`, a struct of this library, whose size
 * it becomes. Errors: EARGUMENT (a size that none has, a tail that we do not know). */
int options_take(const struct options_form *form, const void *given, void *out,
                 vitals_error *error);
