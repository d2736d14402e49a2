/* error.h: why a call could not do what it was asked.
 *
 * An error means: context unusable, out of memory, bad argument, no such thing, not writable.
 * A metric that cannot be read is no error; it is a value with its availability (availability.h).
 *
 * Fallible functions return 0 or a negative VITALS_E…, leave their outputs untouched on failure,
 * and fill the caller's vitals_error where it is not NULL. There is no hidden last error. */
#ifndef VITALS_ERROR_H
#define VITALS_ERROR_H

#include <vitals/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* May grow: treat a code that you do not know as a failure. */
typedef enum vitals_code {
    VITALS_OK = 0,
    VITALS_EARGUMENT = -101,    /* the caller's argument cannot be used */
    VITALS_EMEMORY = -102,      /* an allocation failed */
    VITALS_ESYSTEM = -103,      /* the operating system refused; `detail` is its errno */
    VITALS_EGONE = -104,        /* the process or device is no more, or never was */
    VITALS_EDENIED = -105,      /* permission */
    VITALS_EUNSUPPORTED = -106, /* this machine or this build cannot */
    VITALS_EFORMAT = -107,      /* input that is not what it should be */
    VITALS_ETIMEOUT = -108      /* not in the time given */
} vitals_code;

enum { VITALS_ERROR_MESSAGE = 256 };

/* Owned by the caller. `message` is one line, safe to print, and says what happened to what. */
typedef struct vitals_error {
    vitals_code code;
    int detail; /* errno or a vendor's code; 0 where there is none */
    char message[256];
} vitals_error;

/* The name of a code: "gone". Never NULL; "unknown" for a number that is none. */
VITALS_API const char *vitals_code_name(vitals_code code);

#ifdef __cplusplus
}
#endif

#endif
