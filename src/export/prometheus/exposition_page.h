/* exposition_page.h: a document that is being written: families, samples and the labels of rows.
 *
 * Ensures what makes a document valid: the head of a family is written once, before its samples; a
 * series is written once (the first wins); labels are escaped; a value that is missing, stale or
 * not finite is not written. One thread. */
#pragma once

#include "export/counter_map.h"
#include "export/prometheus/exposition.h"
#include "export/prometheus/families.h"
#include "util/hash.h"

/* ---- values that are accumulated over snapshots: exposition.c ----
 *
 * The device time of a workload includes that of ended processes; the last reading of a source and
 * the first sight of an error are known only from earlier snapshots. */

/* All zeros is empty. */
struct exposition_sums {
    uint64_t stream, sequence;    /* of the last snapshot; keys are valid within a stream */
    struct counter_map processes; /* by key of gpu_process: its busy seconds */
    struct counter_map workloads; /* by exposition_workload_key: busy seconds */
    struct counter_map sources;   /* by key of source: `last` is call_seconds, `value` its growth */
    struct counter_map errors;    /* by key of gpu: `last` counts Xids, `value` is the newest */
};

void exposition_sums_add(struct exposition_sums *sums, const vitals_snapshot *snapshot);
void exposition_sums_done(struct exposition_sums *sums);

/* Returns the workload's id of a row of gpu_process; false if not known. */
bool exposition_workload_of(const vitals_row *row, vitals_text *id);

/* Returns the state of a source; VITALS_UNSET if it has none. */
vitals_availability exposition_state_of(const vitals_row *row);

/* Returns the key of a workload of a device in `workloads`. */
uint64_t exposition_workload_key(uint64_t gpu, vitals_text id);

/* ---- the document ---- */

/* The labels of a row, without braces: a range of page.labels. */
struct exposition_row {
    const vitals_row *row;
    size_t labels, size;
    unsigned group;  /* aggregated rows are summed per group: 1 + an index of gpus */
    bool aggregated; /* beyond the maximum */
};

/* The sum of the aggregated rows of a group. */
struct page_sum {
    double value;
    bool any, lacking; /* there is one; one has no value, so there is no sum */
};

struct page_table {
    struct exposition_row *rows;
    size_t count;
};

enum { PAGE_TABLES = 32 }; /* above all numbers of tables */

struct exposition_page {
    struct buffer *out;
    enum exposition_format format;
    const struct exposition_options *options;
    const vitals_snapshot *snapshot; /* NULL if there is none yet */
    bool is_alone;                   /* it is stale: only figures of the exporter itself */
    uint64_t age_ns;                 /* of the snapshot */
    struct buffer labels;
    struct page_table tables[PAGE_TABLES];
    struct page_sum *sums; /* by group; zero between two parts */
    size_t groups;
    size_t dropped[2]; /* processes, workloads */
    bool failed;       /* memory was out */

    /* beside the snapshot */
    const struct exposition_self *self;
    const struct exposition_sums *kept;

    /* of the current family */
    const struct metric_family *family;
    const char *prefix, *name, *help, *unit;
    enum family_type type;
    bool headed, labeled;
    size_t sample;    /* where its line begins */
    size_t braces;    /* where its labels begin */
    struct hash seen; /* series: where their labels begin */
};

void page_init(struct exposition_page *page, struct buffer *out, enum exposition_format format,
               const struct exposition_options *options);
void page_done(struct exposition_page *page);

/* Labels the rows, and chooses those beyond the maximum. */
void page_read(struct exposition_page *page, const vitals_snapshot *snapshot);
const struct page_table *page_table(const struct exposition_page *page, vitals_table entity);
const struct exposition_row *page_find(const struct exposition_page *page, vitals_table entity,
                                       uint64_t key);

/* Begins a family. Its head is written with its first sample. */
void page_family(struct exposition_page *page, const char *prefix, const char *name,
                 enum family_type type, const char *help);

/* Write a sample: begin, labels, value. A duplicate, or a value that is not finite, writes nothing.
 */
void page_sample(struct exposition_page *page);
void page_labels(struct exposition_page *page, const char *bytes, size_t size); /* `a="b",c="d"` */
void page_label(struct exposition_page *page, const char *name, vitals_text value);
void page_label_word(struct exposition_page *page, const char *name, const char *value);
void page_value(struct exposition_page *page, double value);

/* Begins a sample with the labels of a row. */
void page_sample_of(struct exposition_page *page, const struct exposition_row *row);

/* Reads a value to write: available, and if stale not older than three intervals. */
bool page_number(const struct exposition_page *page, const vitals_row *row, vitals_metric metric,
                 double *value);
bool page_text(const vitals_row *row, vitals_metric metric, vitals_text *text);

/* Names a user as the options say. Returns false if they say not at all. `uid` is -1 if not known.
 */
bool page_user(const struct exposition_page *page, vitals_text name, int64_t uid, char *out,
               size_t capacity, vitals_text *user);

/* Returns the id of a workload, with its user named as the options say. */
vitals_text page_workload(const struct exposition_page *page, vitals_text id, char *out,
                          size_t capacity);

/* ---- families.c's rows (family_writers.c) ---- */

/* Writes the samples of a family; nothing if no row has its values. */
void exposition_write_family(struct exposition_page *page, const struct metric_family *family);

/* ---- the families of nvitop-exporter (nvitop_page.c) ---- */

/* The two newest snapshots, for rates between them. All zeros for none. */
struct nvitop_past {
    const vitals_snapshot *newest, *older;
};

void nvitop_past_add(struct nvitop_past *past, const vitals_snapshot *snapshot);
void nvitop_past_done(struct nvitop_past *past);

void nvitop_write(struct exposition_page *page, const struct nvitop_past *past);
