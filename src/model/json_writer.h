/* json_writer.h: JSON piece by piece, through a buffer in the writer itself: nothing is allocated,
 * so that what is known can be told when memory is out.
 *
 * Once the caller's function stops, nothing more is written. Thread rule: one thread at a time. */
#pragma once

#include "util/base.h"
#include <vitals/snapshot.h>

enum { JSON_BUFFER = 16 * 1024 };

struct json_writer {
    vitals_write_fn *write;
    void *data;
    int stopped; /* what write returned, if that was not 0 */
    size_t used;
    char bytes[JSON_BUFFER];
};

void writer_init(struct json_writer *writer, vitals_write_fn *write, void *data);

/* Hands the rest over. Returns what stopped it, or 0. */
int writer_finish(struct json_writer *writer);

/* Room for `size` more bytes, at most JSON_BUFFER; the caller adds to `used`. */
char *writer_room(struct json_writer *writer, size_t size);

/* JSON as it stands. */
void writer_raw(struct json_writer *writer, const char *json);
void writer_u64(struct json_writer *writer, uint64_t value);
void writer_i64(struct json_writer *writer, int64_t value);
void writer_f64(struct json_writer *writer, double value);

/* Text from anywhere, escaped and quoted. */
void writer_text(struct json_writer *writer, const char *bytes, size_t size);
void writer_string(struct json_writer *writer, const char *string);
