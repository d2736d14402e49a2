/* otlp_writer.h: documents of OTLP (ExportMetricsServiceRequest) in protobuf.
 *
 * Metrics are written one after another, each with its points; a document that grows near
 * OTLP_DOCUMENT_MAX is ended and the next begun, in the middle of a metric where need be, so what
 * comes out is one document or several that each stand for themselves. Nothing written is nothing
 * given: there is no empty envelope. What a point says must be finite: there is no NaN on the wire.
 * One thread. */
#ifndef VITALS_EXPORT_OTLP_OTLP_WRITER_H
#define VITALS_EXPORT_OTLP_OTLP_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feed/text.h"

/* A collector takes 20 MiB at most unless told otherwise; others less. */
enum { OTLP_DOCUMENT_MAX = 4 * 1024 * 1024, OTLP_ATTRIBUTES = 16, OTLP_STORE = 2048 };

enum otlp_kind {
    OTLP_GAUGE,
    OTLP_COUNTER, /* a cumulative, monotonic sum */
    OTLP_UP_DOWN, /* a cumulative sum that is not */
};

struct otlp_attribute {
    const char *key;
    const char *text; /* UTF-8; NULL: `number` */
    int64_t number;
};

/* A list of attributes, and room for the texts that are made for it. */
struct otlp_attributes {
    struct otlp_attribute list[OTLP_ATTRIBUTES];
    size_t count;
    char store[OTLP_STORE];
    size_t used;
};

/* What does not fit is left out. `otlp_attribute_safe` makes anybody's bytes printable, in at most
 * 128 bytes, and leaves out empty ones; `otlp_attribute_text` borrows a text of ours. */
void otlp_attribute_text(struct otlp_attributes *attributes, const char *key, const char *text);
void otlp_attribute_safe(struct otlp_attributes *attributes, const char *key, vitals_text text);
void otlp_attribute_number(struct otlp_attributes *attributes, const char *key, int64_t number);

struct otlp_metric {
    const char *name, *unit, *help;
    enum otlp_kind kind;
};

struct otlp_point {
    uint64_t start_ns, time_ns; /* since 1970; start of sums alone */
    bool whole;                 /* `integer` holds the value, else `value` */
    int64_t integer;
    double value; /* finite */
    const struct otlp_attributes *attributes;
};

/* Who speaks: the resource, and the scope that names us. Borrowed by writers. */
struct otlp_resource {
    const struct otlp_attribute *list;
    size_t count;
    const char *scope_name, *scope_version, *schema_url;
};

enum { OTLP_DEPTH = 4 };

struct otlp_writer {
    const struct otlp_resource *resource;
    size_t most; /* bytes of a document; OTLP_DOCUMENT_MAX, or less in tests */
    /* A document that is whole; its bytes may be taken, else they are used again. */
    void (*give)(void *data, struct text *document);
    void *data;

    struct text text;
    size_t marks[OTLP_DEPTH]; /* of protobuf's messages that are open */
    struct otlp_metric metric;
    size_t metrics, points; /* in this document; of this metric in it */
    bool failed;            /* memory was out: some documents were not given */
};

/* Between the two, points of one metric after another. Metrics without points are not written. */
void otlp_writer_metric(struct otlp_writer *writer, const struct otlp_metric *metric);
void otlp_writer_point(struct otlp_writer *writer, const struct otlp_point *point);

/* Gives the last document, and frees what it was made in. */
void otlp_writer_end(struct otlp_writer *writer);

#endif
