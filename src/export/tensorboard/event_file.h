/* event_file.h: a file of records for TensorBoard (events.out.tfevents.…).
 *
 * A thread writes it, so that a slow disk holds up nothing else. Each record is one write, so that
 * a truncated file has whole records. The queue is bounded: a record that does not fit is dropped,
 * and counted. */
#pragma once

#include <stdint.h>

#include <vitals/vitals.h>

#include "feed/text.h"

enum { EVENT_FILE_QUEUE_BYTES = 4 * 1024 * 1024 };

struct event_file;

/* Creates a file in the folder, which is created too. The thread replies its path as `path` of
 * `publisher`, or why it failed. Errors: EMEMORY, ESYSTEM (no thread). */
int event_file_new(const char *publisher, const char *folder, struct event_file **out,
                   vitals_error *error);

/* Frames a record and gives it to the thread. The caller keeps the text. Never waits. */
void event_file_write(struct event_file *file, const struct buffer *record);

/* Writes the rest, until the deadline of the monotonic clock, reports what was lost, and frees. */
void event_file_close(struct event_file *file, uint64_t deadline_ns);
