/* microhttpd.h: <microhttpd.h>, whose library is opened when a server is first opened
 * (feed/library.h).
 *
 * A function that is called stands in both lists. Call microhttpd_missing before any. */
#ifndef VITALS_EXPORT_SERVER_MICROHTTPD_H
#define VITALS_EXPORT_SERVER_MICROHTTPD_H

#include <microhttpd.h>

#define MICROHTTPD_FUNCTIONS(FUNCTION)          \
    FUNCTION(MHD_add_connection)                \
    FUNCTION(MHD_add_response_header)           \
    FUNCTION(MHD_create_response_from_buffer)   \
    FUNCTION(MHD_create_response_from_callback) \
    FUNCTION(MHD_destroy_response)              \
    FUNCTION(MHD_get_connection_info)           \
    FUNCTION(MHD_get_connection_values)         \
    FUNCTION(MHD_get_daemon_info)               \
    FUNCTION(MHD_get_timeout)                   \
    FUNCTION(MHD_get_version)                   \
    FUNCTION(MHD_is_feature_supported)          \
    FUNCTION(MHD_lookup_connection_value)       \
    FUNCTION(MHD_queue_response)                \
    FUNCTION(MHD_resume_connection)             \
    FUNCTION(MHD_run)                           \
    FUNCTION(MHD_start_daemon)                  \
    FUNCTION(MHD_stop_daemon)                   \
    FUNCTION(MHD_suspend_connection)

struct microhttpd_functions {
#define MICROHTTPD_MEMBER(name) __typeof__(name) *name##_function;
    MICROHTTPD_FUNCTIONS(MICROHTTPD_MEMBER)
#undef MICROHTTPD_MEMBER
};

extern struct microhttpd_functions microhttpd; /* set by microhttpd_missing, and never after */

/* Opens it, once. NULL: it is open; else why it is not. */
const char *microhttpd_missing(void);

#define MHD_add_connection                (*microhttpd.MHD_add_connection_function)
#define MHD_add_response_header           (*microhttpd.MHD_add_response_header_function)
#define MHD_create_response_from_buffer   (*microhttpd.MHD_create_response_from_buffer_function)
#define MHD_create_response_from_callback (*microhttpd.MHD_create_response_from_callback_function)
#define MHD_destroy_response              (*microhttpd.MHD_destroy_response_function)
#define MHD_get_connection_info           (*microhttpd.MHD_get_connection_info_function)
#define MHD_get_connection_values         (*microhttpd.MHD_get_connection_values_function)
#define MHD_get_daemon_info               (*microhttpd.MHD_get_daemon_info_function)
#define MHD_get_timeout                   (*microhttpd.MHD_get_timeout_function)
#define MHD_get_version                   (*microhttpd.MHD_get_version_function)
#define MHD_is_feature_supported          (*microhttpd.MHD_is_feature_supported_function)
#define MHD_lookup_connection_value       (*microhttpd.MHD_lookup_connection_value_function)
#define MHD_queue_response                (*microhttpd.MHD_queue_response_function)
#define MHD_resume_connection             (*microhttpd.MHD_resume_connection_function)
#define MHD_run                           (*microhttpd.MHD_run_function)
#define MHD_start_daemon                  (*microhttpd.MHD_start_daemon_function)
#define MHD_stop_daemon                   (*microhttpd.MHD_stop_daemon_function)
#define MHD_suspend_connection            (*microhttpd.MHD_suspend_connection_function)

#endif
