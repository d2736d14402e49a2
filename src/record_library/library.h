/* library.h: what every function of libvitals-record does at its beginning and its end.
 *
 * The rooms below print and read numbers as in the C locale: a call has it in its own thread, and
 * a function of the caller's that it calls has the caller's. Thread rule: the thread that calls. */
#pragma once

#include <locale.h>

#include <vitals/vitals.h>

/* Between the two no function may return. */
locale_t library_enter(void);
void library_leave(locale_t before);

/* Returns the item behind `previous`, or the first if that is NULL; NULL behind the last. */
static inline const void *library_next(const void *items, size_t count, size_t size,
                                       const void *previous)
{
    const char *first = items, *next = previous != NULL ? (const char *)previous + size : first;
    return count > 0 && next < first + count * size ? next : NULL;
}

/* Passes bytes on to a caller's function. */
struct library_writer {
    vitals_write_fn *write;
    void *data;
    locale_t locale; /* the caller's */
    int stopped;     /* what it returned */
};

int library_write(void *writer, const char *bytes, size_t size);

/* Makes the result of a report from what its function returned, and leaves. */
int library_written(const struct library_writer *writer, int result, vitals_error *error);
