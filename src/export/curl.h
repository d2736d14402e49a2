/* curl.h: <curl/curl.h>, whose library is opened when somebody is first told (feed/library.h).
 *
 * A function that is called stands in both lists. Call curl_missing before any. */
#ifndef VITALS_EXPORT_CURL_H
#define VITALS_EXPORT_CURL_H

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

/* Of these the header makes macros that count arguments; they would hide the names. */
#undef curl_easy_getinfo
#undef curl_easy_setopt

#define CURL_FUNCTIONS(FUNCTION)       \
    FUNCTION(curl_easy_cleanup)        \
    FUNCTION(curl_easy_getinfo)        \
    FUNCTION(curl_easy_init)           \
    FUNCTION(curl_easy_reset)          \
    FUNCTION(curl_easy_setopt)         \
    FUNCTION(curl_easy_strerror)       \
    FUNCTION(curl_global_init)         \
    FUNCTION(curl_multi_add_handle)    \
    FUNCTION(curl_multi_cleanup)       \
    FUNCTION(curl_multi_info_read)     \
    FUNCTION(curl_multi_init)          \
    FUNCTION(curl_multi_perform)       \
    FUNCTION(curl_multi_poll)          \
    FUNCTION(curl_multi_remove_handle) \
    FUNCTION(curl_slist_append)        \
    FUNCTION(curl_slist_free_all)

struct curl_functions {
#define CURL_MEMBER(name) __typeof__(name) *name##_function;
    CURL_FUNCTIONS(CURL_MEMBER)
#undef CURL_MEMBER
};

extern struct curl_functions curl; /* set by curl_missing, and never after */

/* Opens it, once, and makes it ready for threads. NULL: it is; else why it is not. */
const char *curl_missing(void);

#define curl_easy_cleanup        (*curl.curl_easy_cleanup_function)
#define curl_easy_getinfo        (*curl.curl_easy_getinfo_function)
#define curl_easy_init           (*curl.curl_easy_init_function)
#define curl_easy_reset          (*curl.curl_easy_reset_function)
#define curl_easy_setopt         (*curl.curl_easy_setopt_function)
#define curl_easy_strerror       (*curl.curl_easy_strerror_function)
#define curl_global_init         (*curl.curl_global_init_function)
#define curl_multi_add_handle    (*curl.curl_multi_add_handle_function)
#define curl_multi_cleanup       (*curl.curl_multi_cleanup_function)
#define curl_multi_info_read     (*curl.curl_multi_info_read_function)
#define curl_multi_init          (*curl.curl_multi_init_function)
#define curl_multi_perform       (*curl.curl_multi_perform_function)
#define curl_multi_poll          (*curl.curl_multi_poll_function)
#define curl_multi_remove_handle (*curl.curl_multi_remove_handle_function)
#define curl_slist_append        (*curl.curl_slist_append_function)
#define curl_slist_free_all      (*curl.curl_slist_free_all_function)

#endif
