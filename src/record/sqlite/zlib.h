/* zlib.h: <zlib.h>, whose library is opened when something is first packed (feed/library.h).
 *
 * A function that is called stands in both lists. Call zlib_missing before any. */
#ifndef VITALS_RECORD_SQLITE_ZLIB_H
#define VITALS_RECORD_SQLITE_ZLIB_H

#include <zlib.h>

#define ZLIB_FUNCTIONS(FUNCTION) \
    FUNCTION(compress2)          \
    FUNCTION(compressBound)      \
    FUNCTION(deflate)            \
    FUNCTION(deflateEnd)         \
    FUNCTION(deflateInit2_)      \
    FUNCTION(inflate)            \
    FUNCTION(inflateEnd)         \
    FUNCTION(inflateInit_)       \
    FUNCTION(zlibVersion)

struct zlib_functions {
#define ZLIB_MEMBER(name) __typeof__(name) *name##_function;
    ZLIB_FUNCTIONS(ZLIB_MEMBER)
#undef ZLIB_MEMBER
};

extern struct zlib_functions zlib; /* set by zlib_missing, and never after */

/* Opens it, once. NULL: it is open; else why it is not. */
const char *zlib_missing(void);

#define compress2     (*zlib.compress2_function)
#define compressBound (*zlib.compressBound_function)
#define deflate       (*zlib.deflate_function)
#define deflateEnd    (*zlib.deflateEnd_function)
#define deflateInit2_ (*zlib.deflateInit2__function)
#define inflate       (*zlib.inflate_function)
#define inflateEnd    (*zlib.inflateEnd_function)
#define inflateInit_  (*zlib.inflateInit__function)
#define zlibVersion   (*zlib.zlibVersion_function)

#endif
