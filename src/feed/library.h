/* library.h: a shared library that some commands need and most do not, opened when one does.
 *
 * What is linked into a program is loaded at each start, which costs `vitals run` more than what it
 * is there for. A header beside each user (monitor/curses.h) lists the functions that are called,
 * which are then called by their own names. Thread rule: any thread; a library is never closed. */
#ifndef VITALS_FEED_LIBRARY_H
#define VITALS_FEED_LIBRARY_H

#include <stddef.h>

/* The place of an address in the table. */
struct library_symbol {
    const char *name;
    size_t offset;
};

struct library {
    const char *file; /* as the loader finds it: "libz.so.1" */
    void *table;      /* of pointers, all set once it is open */
    const struct library_symbol *symbols;
    size_t count;
    int state;     /* guarded by library.c's mutex: 1 open, -1 it cannot be, 0 not tried */
    char why[256]; /* it cannot be: what the loader said */
};

/* Opens it, once. NULL: it is open; else why it is not, as the loader says it: it is not there, or
 * lacks one of them. */
const char *library_missing(struct library *library);

#endif
