/* exposition_page.h: one document on its way: families, samples and the labels of rows.
 *
 * What keeps a document right stands here: a family's head stands once and before its samples, a
 * series stands once (of two the first), labels are escaped, nothing that is missing, too old or
 * no number is written. One thread. */
#ifndef VITALS_EXPORT_PROMETHEUS_EXPOSITION_PAGE_H
#define VITALS_EXPORT_PROMETHEUS_EXPOSITION_PAGE_H

#include "export/prometheus/exposition.h"
#include "export/prometheus/families.h"
#include "record/sample.h"

/* Labels of a row, without braces: a piece of page.labels. */
struct exposition_row {
    const vitals_row *row;
    size_t labels, size;
    unsigned group; /* rows that are folded go with those of the same group: 1 + a place in gpus */
    bool folded;    /* beyond the cap */
};

/* The sum over the folded rows of a group. */
struct page_sum {
    double value;
    bool any, lacking; /* there is one; one has no value, and a sum without it would be none */
};

struct page_table {
    struct exposition_row *rows;
    size_t count;
};

enum { PAGE_TABLES = 32 }; /* numbers of tables are below */

struct page_seen {
    size_t at;
    uint32_t size, age;
};

struct exposition_page {
    struct text *out;
    enum exposition_format format;
    const struct exposition_options *options;
    const vitals_snapshot *snapshot; /* NULL: none has come */
    bool is_alone;                   /* it is too old: only what is told of ourselves */
    uint64_t age_ns;                 /* of the snapshot */
    struct text labels;
    struct page_table tables[PAGE_TABLES];
    struct page_sum *sums; /* by group; zeros between two parts */
    size_t groups;
    size_t dropped[2]; /* processes, workloads */
    bool failed;       /* memory */

    /* of the family that is being written */
    const char *prefix, *name, *help, *unit;
    enum family_type type;
    bool headed, labeled;
    size_t sample; /* where its line begins */
    size_t braces; /* where its labels begin */
    struct page_seen *seen;
    size_t seen_capacity, seen_count;
    uint32_t seen_age;
};

int page_init(struct exposition_page *page, struct text *out, enum exposition_format format,
              const struct exposition_options *options);
void page_done(struct exposition_page *page);

/* Rows and their labels, and which of them are beyond the cap (exposition_rows.c). */
void page_read(struct exposition_page *page, const vitals_snapshot *snapshot);
const struct page_table *page_table(const struct exposition_page *page, vitals_entity entity);
const struct exposition_row *page_find(const struct exposition_page *page, vitals_entity entity,
                                       uint64_t key);

/* From here on samples are of this family. Its head is written with the first of them. */
void page_family(struct exposition_page *page, const char *prefix, const char *name,
                 enum family_type type, const char *help);

/* A sample: begin, labels, end. What has stood already, and what is no number, leaves nothing. */
void page_sample(struct exposition_page *page);
void page_labels(struct exposition_page *page, const char *bytes, size_t size); /* `a="b",c="d"` */
void page_label(struct exposition_page *page, const char *name, vitals_text value);
void page_label_word(struct exposition_page *page, const char *name,
                     const char *value); /* ours: as it is */
void page_value(struct exposition_page *page, double value);

/* The same with the labels of a row. */
void page_sample_of(struct exposition_page *page, const struct exposition_row *row);

/* A value that is good enough to stand: above zero in availability, and not older than three
 * intervals where it is stale. */
bool page_number(const struct exposition_page *page, const vitals_row *row, vitals_metric metric,
                 double *value);
bool page_text(const vitals_row *row, vitals_metric metric, vitals_text *text);

/* A user, named as the options say: false: not at all. `uid` -1: not known. */
bool page_user(const struct exposition_page *page, vitals_text name, int64_t uid, char *out,
               size_t capacity, vitals_text *user);

/* The id of a workload, with its user named as the options say. */
vitals_text page_workload(const struct exposition_page *page, vitals_text id, char *out,
                          size_t capacity);

#endif
