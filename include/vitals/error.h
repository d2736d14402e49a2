/* error.h: why a call failed.
 *
 * An error means that a call could not do its work: a bad argument, no memory, no such process or
 * file, no permission. A metric that cannot be read is no error: it is a value that is missing, and
 * its availability says why (availability.h). Only vitals_process_u64 and its like, which give one
 * value and no availability, return an error for it.
 *
 * A function that can fail returns a negative VITALS_E… then, leaves its outputs untouched, and
 * fills the caller's vitals_error unless that is NULL. It returns 0 on success, or a number above 0
 * where its comment says so, and leaves the vitals_error alone: test `< 0`. There is no hidden last
 * error: any thread may make any call that its object allows, with a vitals_error of its own. */
#ifndef VITALS_ERROR_H
#define VITALS_ERROR_H

#include <vitals/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* May grow: treat a code that you do not know as a failure. */
typedef enum vitals_code {
    VITALS_OK = 0,
    VITALS_EARGUMENT = -101,    /* an argument is invalid */
    VITALS_EMEMORY = -102,      /* out of memory */
    VITALS_ESYSTEM = -103,      /* the operating system refused; `detail` is its errno */
    VITALS_EGONE = -104,        /* the process or device does not exist, or no longer */
    VITALS_EDENIED = -105,      /* permission denied */
    VITALS_EUNSUPPORTED = -106, /* not possible on this machine or in this build */
    VITALS_EFORMAT = -107,      /* the input has not the expected format */
    VITALS_ETIMEOUT = -108      /* the time given is over */
} vitals_code;

enum { VITALS_ERROR_MESSAGE = 256 };

/* Owned by the caller. `message` is one line, safe to print, and says what happened to what. */
typedef struct vitals_error {
    vitals_code code;
    int detail; /* errno or a vendor's code; 0 where there is none */
    char message[256];
} vitals_error;

/* Returns the name of a code: "gone". Never NULL; "unknown" for a number that is none. */
VITALS_API const char *vitals_code_name(vitals_code code);

#ifdef __cplusplus
}
#endif

#endif
