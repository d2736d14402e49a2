/* family_writers.c: see family_writer.h: the table of writers, the one of plain rows, and those of
 * the exporter itself. */
#include "export/prometheus/family_writer.h"

#include <string.h>

#include "feed/decimal.h"

void family_label_text(struct exposition_page *page, const char *name, const vitals_row *row,
                       vitals_metric metric)
{
    vitals_text text;
    if (page_text(row, metric, &text) && text.size > 0)
        page_label(page, name, text);
}

void family_label_number(struct exposition_page *page, const char *name, double number)
{
    char words[NUMBER_WORDS];
    number_shortest(number, words);
    page_label_word(page, name, words);
}

bool family_is_partition(const struct exposition_row *row)
{
    return vitals_row_entity(row->row) == VITALS_GPU && vitals_row_parent(row->row) != 0;
}

/* ---- the rows of tables ---- */

static void label_parts(struct exposition_page *page, const struct metric_family *family,
                        const struct family_part *part, const char *row_label)
{
    const char *name = family_row_label(family);
    if (name != NULL && row_label != NULL)
        page_label(page, name, (vitals_text){row_label, strlen(row_label)});
    if (family->part_label != NULL)
        page_label_word(page, family->part_label, part->value);
}

/* Returns the value for the row label: the part's own word if the table has no such label. */
static const char *row_label_of(const struct metric_family *family, const struct family_part *part,
                                const struct exposition_row *row)
{
    return family->part_label == NULL && part->value != NULL ? part->value
                                                             : vitals_row_label(row->row);
}

/* Adds a folded row to the sum of its group. Counters have no sum: it would decrease when a process
 * ends. */
static void add_folded(struct exposition_page *page, const struct metric_family *family,
                       const struct exposition_row *row, const struct family_part *part)
{
    struct page_sum *sum = &page->sums[row->group];
    double value;
    if (page->type != FAMILY_GAUGE || family->unsummed)
        return;
    bool known = page_number(page, row->row, part->metric, &value);
    sum->value += known ? value : 0;
    sum->any = true;
    sum->lacking |= !known;
}

/* Writes the sum of the folded rows of each group. */
static void write_folded(struct exposition_page *page, const struct metric_family *family,
                         const struct family_part *part)
{
    vitals_entity entity = vitals_metric_entity(part->metric);
    const struct exposition_row *gpus = page->tables[VITALS_GPU].rows;
    for (size_t group = 0; group < page->groups; group++) {
        struct page_sum sum = page->sums[group];
        page->sums[group] = (struct page_sum){0};
        if (!sum.any || sum.lacking)
            continue;
        page_sample(page);
        if (group > 0)
            page_labels(page, page->labels.bytes + gpus[group - 1].labels, gpus[group - 1].size);
        page_label_word(page, entity == VITALS_WORKLOAD ? "workload" : "pid", "other");
        label_parts(page, family, part, NULL);
        page_value(page, sum.value);
    }
}

/* Returns whether a row below the device has the family's first metric: then the device's own
 * value, which stands in for it, is left out. */
static bool has_better(const struct exposition_page *page, const struct metric_family *family,
                       const struct family_part *part, const struct exposition_row *row)
{
    vitals_metric first = family->parts[0].metric;
    const vitals_row *child = NULL;
    double value;
    if (part == family->parts || vitals_row_entity(row->row) != VITALS_GPU ||
        vitals_metric_entity(first) == VITALS_GPU)
        return false;
    while ((child = vitals_snapshot_next_child(page->snapshot, vitals_metric_entity(first),
                                               vitals_row_key(row->row), child)) != NULL) {
        if (page_number(page, child, first, &value))
            return true;
    }
    return false;
}

static void write_part(struct exposition_page *page, const struct metric_family *family,
                       const struct family_part *part)
{
    const struct page_table *table = page_table(page, vitals_metric_entity(part->metric));
    bool folded = false;
    for (size_t i = 0; i < table->count; i++) {
        const struct exposition_row *row = &table->rows[i];
        double value;
        if (row->folded) {
            folded = true;
            add_folded(page, family, row, part);
            continue;
        }
        if (family_is_partition(row) || !page_number(page, row->row, part->metric, &value) ||
            has_better(page, family, part, row))
            continue;
        page_sample_of(page, row);
        label_parts(page, family, part, row_label_of(family, part, row));
        page_value(page, value);
    }
    if (folded)
        write_folded(page, family, part);
}

static void write_rows(struct exposition_page *page, const struct metric_family *family,
                       const struct family_sources *from)
{
    (void)from;
    for (size_t i = 0; i < FAMILY_PARTS && family->parts[i].metric != 0; i++)
        write_part(page, family, &family->parts[i]);
}

/* ---- the exporter itself ---- */

static void write_build(struct exposition_page *page, const struct metric_family *family,
                        const struct family_sources *from)
{
    (void)family, (void)from;
    page_sample(page);
    page_label_word(page, "version", vitals_version_text());
    page_value(page, 1);
}

static void write_success(struct exposition_page *page, const struct metric_family *family,
                          const struct family_sources *from)
{
    const struct page_table *table = page_table(page, VITALS_SOURCE);
    (void)family, (void)from;
    for (size_t i = 0; i < table->count; i++) {
        vitals_availability state = exposition_state_of(table->rows[i].row);
        /* A source that this machine does not have, or that is not requested, has not failed. */
        if (state <= 0 && state != VITALS_DENIED && state != VITALS_GONE &&
            state != VITALS_TIMED_OUT && state != VITALS_FAILED && state != VITALS_OUTSIDE)
            continue;
        page_sample_of(page, &table->rows[i]);
        page_value(page, state > 0 && state != VITALS_STALE);
    }
}

static void write_of_sources(struct exposition_page *page, const struct family_sources *from,
                             bool last)
{
    const struct page_table *table = page_table(page, VITALS_SOURCE);
    for (size_t i = 0; i < table->count; i++) {
        const struct counter_map_entry *entry = counter_map_find(
            &from->sums->sources, vitals_row_key(table->rows[i].row), 0);
        if (entry == NULL || (last && entry->at <= 0))
            continue;
        page_sample_of(page, &table->rows[i]);
        page_value(page, last ? entry->at : entry->value);
    }
}

static void write_duration(struct exposition_page *page, const struct metric_family *family,
                           const struct family_sources *from)
{
    (void)family;
    write_of_sources(page, from, false);
}

static void write_last(struct exposition_page *page, const struct metric_family *family,
                       const struct family_sources *from)
{
    (void)family;
    write_of_sources(page, from, true);
}

static void write_dropped(struct exposition_page *page, const struct metric_family *family,
                          const struct family_sources *from)
{
    static const char *const SCOPES[] = {"processes", "workloads"};
    (void)family, (void)from;
    for (size_t i = 0; i < 2; i++) {
        page_sample(page);
        page_label_word(page, "scope", SCOPES[i]);
        page_value(page, (double)page->dropped[i]);
    }
}

static void write_tallies(struct exposition_page *page, const char *name,
                          const struct exposition_tally *tallies, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        page_sample(page);
        page_label_word(page, name, tallies[i].label);
        page_value(page, (double)tallies[i].count);
    }
}

static void write_requests(struct exposition_page *page, const struct metric_family *family,
                           const struct family_sources *from)
{
    (void)family;
    write_tallies(page, "code", from->self->requests, from->self->request_count);
}

static void write_rejected(struct exposition_page *page, const struct metric_family *family,
                           const struct family_sources *from)
{
    (void)family;
    write_tallies(page, "reason", from->self->rejected, from->self->rejected_count);
}

/* ---- the table ---- */

static const struct {
    write_family *write;
    bool alone; /* written without a snapshot, or with a stale one */
} WRITERS[FAMILY_WRITERS] = {
    [FAMILY_ROWS] = {write_rows, false},
    [FAMILY_BUILD] = {write_build, true},
    [FAMILY_COLLECTOR_SUCCESS] = {write_success, false},
    [FAMILY_COLLECTOR_DURATION] = {write_duration, false},
    [FAMILY_COLLECTOR_LAST] = {write_last, true},
    [FAMILY_DROPPED] = {write_dropped, false},
    [FAMILY_REQUESTS] = {write_requests, true},
    [FAMILY_REJECTED] = {write_rejected, true},
    [FAMILY_GPU_INFO] = {family_write_gpu_info, false},
    [FAMILY_GPU_PROCESSES] = {family_write_gpu_processes, false},
    [FAMILY_GPU_JOB] = {family_write_gpu_jobs, false},
    [FAMILY_GPU_LINKS] = {family_write_links, false},
    [FAMILY_XID_LAST] = {family_write_xid, false},
    [FAMILY_PARTITION_INFO] = {family_write_partition_info, false},
    [FAMILY_PARTITION] = {family_write_partition, false},
    [FAMILY_PROCESS_INFO] = {family_write_process_info, false},
    [FAMILY_PROCESS_START] = {family_write_process_start, false},
    [FAMILY_WORKLOAD_INFO] = {family_write_workload_info, false},
    [FAMILY_WORKLOAD_GPU] = {family_write_workload_gpu, false},
    [FAMILY_WORKLOAD_GPU_BUSY] = {family_write_workload_busy, false},
};

/* Returns whether a family is written at the level of the options. */
static bool is_exported(const struct metric_family *family, const char *name,
                        const struct exposition_options *options)
{
    enum exposition_level level = options->level;
    enum family_level of = family_level(family);
    if (options->without_host && strncmp(name, HOST_NAMES, sizeof HOST_NAMES - 1) == 0)
        return false;
    return of == FAMILY_ALWAYS || (of == FAMILY_OF_WORKLOADS && level >= EXPOSITION_WORKLOAD) ||
           (of == FAMILY_OF_PROCESSES && level >= EXPOSITION_PID);
}

void exposition_write_family(struct exposition_page *page, const struct metric_family *family,
                             const struct family_sources *from)
{
    char room[FAMILY_NAME_SIZE];
    const char *name = family_name(family, room);
    if (!is_exported(family, name, page->options) ||
        ((page->snapshot == NULL || page->is_alone) && !WRITERS[family->writer].alone))
        return;
    page_family(page, FAMILY_PREFIX, name, family_type(name), family_help(family));
    WRITERS[family->writer].write(page, family, from);
}
