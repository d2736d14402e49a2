/* event_file.h: a file of records as TensorBoard reads it (events.out.tfevents.…).
 *
 * A thread of its own writes it, so that a folder on a slow disk holds up nobody; a record is one
 * write, so that a file that is cut off at any time holds whole ones. The queue is bounded: what
 * does not fit is dropped, and counted. */
#ifndef VITALS_EXPORT_TENSORBOARD_EVENT_FILE_H
#define VITALS_EXPORT_TENSORBOARD_EVENT_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <vitals/vitals.h>

#include "feed/text.h"

enum { EVENT_FILE_QUEUE_BYTES = 4 * 1024 * 1024 };

struct event_file;

/* A new file in the folder, which is made where it is not there, with its path replied as `path` of
 * `publisher`; or why not is, from the thread. Errors: EMEMORY, ESYSTEM (no thread). */
int event_file_new(const char *publisher, const char *folder, struct event_file **out,
                   vitals_error *error);

/* Frames one record and leaves it to the thread. The text stays the caller's. Never waits. */
void event_file_write(struct event_file *file, const struct text *record);

/* Writes what is left, until the deadline of the monotonic clock, says what was lost, and frees. */
void event_file_close(struct event_file *file, uint64_t deadline_ns);

#endif
