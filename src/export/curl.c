/* curl.c: see curl.h. */
#if VITALS_WITH_CURL
#include "export/curl.h"

#include <pthread.h>
#include <stddef.h>

#include "feed/library.h"

struct curl_functions curl;

static CURLcode made_ready; /* written once, under pthread_once */

static void make_ready(void)
{
    made_ready = curl_global_init(CURL_GLOBAL_DEFAULT);
}

const char *curl_missing(void)
{
    static const struct library_symbol SYMBOLS[] = {
#define SYMBOL(name) {#name, offsetof(struct curl_functions, name##_function)},
        CURL_FUNCTIONS(SYMBOL)
#undef SYMBOL
    };
    static struct library library = {.file = "libcurl.so.4",
                                     .table = &curl,
                                     .symbols = SYMBOLS,
                                     .count = sizeof SYMBOLS / sizeof SYMBOLS[0]};
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *why = library_missing(&library);
    if (why != NULL)
        return why;
    (void)pthread_once(&once, make_ready);
    return made_ready == CURLE_OK ? NULL : "it cannot be made ready";
}
#else
typedef int curl_is_left_out;
#endif
