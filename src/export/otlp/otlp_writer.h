/* otlp_writer.h: writes OTLP documents (ExportMetricsServiceRequest) in protobuf.
 *
 * Metrics are written one after another, each with its points. A document that reaches
 * OTLP_DOCUMENT_MAX is ended and the next begun, within a metric if necessary; each document is
 * complete. Without points there is no document. Values must be finite. One thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/counter_map.h"
#include "feed/text.h"

/* A collector accepts 20 MiB by default; other servers less. */
enum { OTLP_DOCUMENT_MAX = 4 * 1024 * 1024, OTLP_ATTRIBUTES = 16, OTLP_STORE = 2048 };

enum otlp_kind {
    OTLP_GAUGE,
    OTLP_COUNTER, /* a cumulative, monotonic sum */
    OTLP_UP_DOWN, /* a cumulative sum that is not */
};

struct otlp_attribute {
    const char *key;
    const char *text; /* UTF-8; NULL: `number` is the value */
    int64_t number;
};

/* Attributes, and storage for their texts. */
struct otlp_attributes {
    struct otlp_attribute list[OTLP_ATTRIBUTES];
    size_t count;
    char store[OTLP_STORE];
    size_t used;
};

/* Attributes beyond the capacity are left out. `otlp_attribute_safe` makes any bytes printable, at
 * most 128, and leaves out empty texts; `otlp_attribute_text` borrows a trusted text. */
void otlp_attribute_text(struct otlp_attributes *attributes, const char *key, const char *text);
void otlp_attribute_safe(struct otlp_attributes *attributes, const char *key, vitals_text text);
void otlp_attribute_number(struct otlp_attributes *attributes, const char *key, int64_t number);

struct otlp_metric {
    const char *name, *unit, *help;
    enum otlp_kind kind;
};

struct otlp_point {
    uint64_t start_ns, time_ns; /* since 1970; the start is of sums only */
    bool whole;                 /* `integer` holds the value, else `value` */
    int64_t integer;
    double value; /* finite */
    const struct otlp_attributes *attributes;
};

/* Returns the time from which a cumulative sum counts that is `value` at `time_ns`: `origin_ns`; if
 * it was lower than before, and so was reset, when it was last seen before that. `id` identifies
 * the sum (hash_join). Returns `origin_ns` if memory is out. */
uint64_t otlp_sum_start(struct counter_map *sums, uint64_t id, double value, uint64_t time_ns,
                        uint64_t origin_ns);

/* Borrowed by writers. */
struct otlp_resource {
    const struct otlp_attribute *list;
    size_t count;
};

enum { OTLP_DEPTH = 4 };

struct otlp_writer {
    const struct otlp_resource *resource;
    size_t most; /* bytes of a document; OTLP_DOCUMENT_MAX, or less in tests */
    /* Gets a complete document; it may take the bytes. */
    void (*give)(void *data, struct buffer *document);
    void *data;

    struct buffer text;
    size_t marks[OTLP_DEPTH]; /* of the messages that are open */
    struct otlp_metric metric;
    size_t metrics, points; /* in this document; of this metric in it */
};

/* Begin a metric, then write its points. Metrics without points are not written. */
void otlp_writer_metric(struct otlp_writer *writer, const struct otlp_metric *metric);
void otlp_writer_point(struct otlp_writer *writer, const struct otlp_point *point);

/* Ends the last document, and frees the buffer. */
void otlp_writer_end(struct otlp_writer *writer);
