/* error.h: how the library fills a vitals_error.
 *
 * Messages say what happened to what. Hand names from outside over as they are, with %s: the whole
 * message is made one printable line here, and escaping twice would double backslashes.
 * Thread rule: pure but for the caller's error. */
#pragma once

#include <vitals/error.h>

/* Fills the error, which may be NULL, and returns the code, so that a caller can return the call.
 */
int error_set(vitals_error *error, vitals_code code, int detail, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same from an errno: its code, and ": " with its text behind the message. */
int error_system(vitals_error *error, int number, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* EMEMORY: "out of memory". */
int error_no_memory(vitals_error *error);

/* Refuses a call in a child of fork(2): the object's threads and locks are its parent's. */
int error_forked(vitals_error *error, const char *what);
