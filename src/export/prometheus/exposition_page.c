/* exposition_page.c: see exposition_page.h: the text of a document, the rows of a snapshot with
 * their labels, and the choice of rows if there are too many. */
#include "export/prometheus/exposition_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/keyed_hash.h"

void page_init(struct exposition_page *page, struct buffer *out, enum exposition_format format,
               const struct exposition_options *options)
{
    *page = (struct exposition_page){.out = out, .format = format, .options = options};
}

void page_done(struct exposition_page *page)
{
    for (size_t i = 0; i < PAGE_TABLES; i++)
        free(page->tables[i].rows);
    free(page->sums);
    hash_done(&page->seen);
    buffer_done(&page->labels);
}

/* ---- families ---- */

void page_family(struct exposition_page *page, const char *prefix, const char *name,
                 enum family_type type, const char *help)
{
    page->prefix = prefix;
    page->name = name;
    page->type = type;
    page->help = help;
    page->unit = prefix[0] != '\0' ? family_unit(name) : "";
    page->headed = false;
    if (page->seen.count > 0)
        hash_reset(&page->seen);
}

static void head_line(struct exposition_page *page, const char *word, const char *rest)
{
    buffer_string(page->out, word);
    buffer_string(page->out, page->prefix);
    size_t size = strlen(page->name);
    if (page->format == EXPOSITION_OPENMETRICS && page->type == FAMILY_COUNTER)
        size -= sizeof "_total" - 1; /* OpenMetrics names the family without it */
    buffer_append(page->out, page->name, size);
    buffer_byte(page->out, ' ');
    buffer_string(page->out, rest);
    buffer_byte(page->out, '\n');
}

/* ---- samples ---- */

void page_sample(struct exposition_page *page)
{
    if (!page->headed) { /* help texts are our own: no backslash and no newline in them */
        bool open = page->format == EXPOSITION_OPENMETRICS;
        if (!open)
            head_line(page, "# HELP ", page->help);
        head_line(page, "# TYPE ", page->type == FAMILY_COUNTER ? "counter" : "gauge");
        if (open && page->unit[0] != '\0')
            head_line(page, "# UNIT ", page->unit);
        if (open)
            head_line(page, "# HELP ", page->help);
        page->headed = true;
    }

    page->sample = page->out->size;
    buffer_string(page->out, page->prefix);
    buffer_string(page->out, page->name);
    page->braces = page->out->size;
    page->labeled = false;
}

static void separate(struct exposition_page *page)
{
    buffer_byte(page->out, page->labeled ? ',' : '{');
    page->labeled = true;
}

void page_labels(struct exposition_page *page, const char *bytes, size_t size)
{
    if (size == 0)
        return;
    separate(page);
    buffer_append(page->out, bytes, size);
}

void page_label_word(struct exposition_page *page, const char *name, const char *value)
{
    page_label(page, name, vitals_text_of(value));
}

static void put_label(struct buffer *out, const char *name, vitals_text value)
{
    buffer_string(out, name);
    buffer_append(out, "=\"", 2);
    text_safe(out, value, VITALS_TEXT_LABEL);
    buffer_byte(out, '"');
}

void page_label(struct exposition_page *page, const char *name, vitals_text value)
{
    separate(page);
    put_label(page->out, name, value);
}

void page_value(struct exposition_page *page, double value)
{
    if (page->labeled)
        buffer_byte(page->out, '}');
    if (page->out->failed)
        return;

    /* A series of the family that was written already is dropped. */
    bool writes = isfinite(value) && (page->type != FAMILY_COUNTER || value >= 0);
    size_t size = page->out->size - page->braces;
    const char *series = page->out->bytes + page->braces;
    uint64_t key = hash_bytes(series, size);
    const uintptr_t *seen = hash_find(&page->seen, key);
    if (seen != NULL && memcmp(page->out->bytes + *seen, series, size) == 0)
        writes = false;
    if (writes && seen == NULL && hash_set(&page->seen, key, page->braces) != 0) {
        page->failed = true;
        writes = false;
    }
    if (!writes) {
        page->out->size = page->sample;
        page->out->bytes[page->sample] = '\0';
        return;
    }
    buffer_byte(page->out, ' ');
    text_number(page->out, value);
    buffer_byte(page->out, '\n');
}

void page_sample_of(struct exposition_page *page, const struct exposition_row *row)
{
    page_sample(page);
    if (row->size > 0)
        page_labels(page, page->labels.bytes + row->labels, row->size);
}

/* ---- values ---- */

enum { STALE_INTERVALS = 3 };

bool page_number(const struct exposition_page *page, const vitals_row *row, vitals_metric metric,
                 double *value)
{
    vitals_availability availability = vitals_row_number(row, metric, value);
    if (availability <= 0)
        return false;
    if (availability != VITALS_STALE)
        return true;

    uint64_t taken = vitals_snapshot_monotonic_ns(page->snapshot);
    uint64_t read = vitals_row_read_ns(row, metric);
    uint64_t age = taken > read ? taken - read : 0;
    return age + page->age_ns <= STALE_INTERVALS * page->options->interval_ns;
}

bool page_text(const vitals_row *row, vitals_metric metric, vitals_text *text)
{
    return vitals_row_text(row, metric, text) > 0;
}

/* ---- the labels of rows ----
 *
 * Labels of a row are formatted once for all families. */

enum { WORKLOAD_ID_MAX = 120, WORKLOAD_ID_KEPT = 100 };

static void label(struct exposition_page *page, size_t from, const char *name, vitals_text value)
{
    struct buffer *labels = &page->labels;
    if (labels->size > from)
        buffer_byte(labels, ',');
    put_label(labels, name, value);
}

/* ---- users and workloads ---- */

static vitals_text fitted(const char *out, int size, size_t capacity)
{
    return (vitals_text){out, size > 0 && (size_t)size < capacity ? (size_t)size : 0};
}

static vitals_text hashed(vitals_text text, char *out, size_t capacity)
{
    unsigned long long hash = keyed_hash(text.bytes, text.size);
    return fitted(out, snprintf(out, capacity, "%016llx", hash), capacity);
}

static vitals_text decimal(int64_t number, char *out, size_t capacity)
{
    return fitted(out, snprintf(out, capacity, "%lld", (long long)number), capacity);
}

bool page_user(const struct exposition_page *page, vitals_text name, int64_t uid, char *out,
               size_t capacity, vitals_text *user)
{
    switch (page->options->user) {
    case EXPOSITION_USER_NAME:
        *user = name.size > 0 ? name : uid >= 0 ? decimal(uid, out, capacity) : name;
        return user->size > 0;
    case EXPOSITION_USER_UID: *user = decimal(uid, out, capacity); return uid >= 0;
    case EXPOSITION_USER_HASH:
        *user = hashed(name.size > 0 || uid < 0 ? name : decimal(uid, out, capacity), out,
                       capacity);
        return name.size > 0 || uid >= 0;
    case EXPOSITION_USER_OFF: break;
    }
    return false;
}

vitals_text page_workload(const struct exposition_page *page, vitals_text id, char *out,
                          size_t capacity)
{
    static const char USER[] = "user:";
    char words[32];
    vitals_text user, name = {id.bytes + sizeof USER - 1, id.size - (sizeof USER - 1)};
    if (page->options->user != EXPOSITION_USER_NAME && id.size > sizeof USER - 1 &&
        memcmp(id.bytes, USER, sizeof USER - 1) == 0) {
        /* The uid is that of a process of the workload. */
        const vitals_row *row = NULL;
        int64_t uid = -1;
        while (uid < 0 && page->options->user == EXPOSITION_USER_UID &&
               (row = vitals_snapshot_next(page->snapshot, VITALS_TABLE_PROCESS, row)) != NULL) {
            vitals_text of;
            uint64_t of_process;
            if (page_text(row, VITALS_PROCESS_WORKLOAD, &of) && of.size == id.size &&
                memcmp(of.bytes, id.bytes, id.size) == 0 &&
                vitals_row_u64(row, VITALS_PROCESS_UID, &of_process) > 0)
                uid = (int64_t)of_process;
        }
        if (page->options->user != EXPOSITION_USER_UID ||
            !page_user(page, name, uid, words, sizeof words, &user))
            user = hashed(name, words, sizeof words);
        int size = snprintf(out, capacity, "%s%.*s", USER, (int)user.size, user.bytes);
        return fitted(out, size, capacity);
    }
    if (id.size <= WORKLOAD_ID_MAX)
        return id;
    /* The start of the id and a hash of all of it, so that two long ids differ; the next start of
     * the program gives the same. */
    int size = snprintf(out, capacity, "%.*s~%016llx", WORKLOAD_ID_KEPT, id.bytes,
                        (unsigned long long)stable_hash(id.bytes, id.size));
    return fitted(out, size, capacity);
}

/* ---- the labels of each table ---- */

_Static_assert((int)VITALS_TABLE_WORKLOAD < (int)PAGE_TABLES, "a place for each table");

/* Returns whether the row has no samples: a partition of a disk, whose bytes are the disk's too, a
 * pseudo file system, the pressure of a cgroup. */
static bool is_left_out(const vitals_row *row)
{
    vitals_text scope;
    uint64_t flag;
    switch (vitals_row_table(row)) {
    case VITALS_TABLE_DISK: return vitals_row_u64(row, VITALS_DISK_COUNTED, &flag) > 0 && flag == 0;
    case VITALS_TABLE_FILESYSTEM:
        return vitals_row_u64(row, VITALS_FILESYSTEM_PSEUDO, &flag) > 0 && flag != 0;
    case VITALS_TABLE_PRESSURE:
        return !page_text(row, VITALS_PRESSURE_SCOPE, &scope) || scope.size != 7 ||
               memcmp(scope.bytes, "machine", 7) != 0;
    default: return false;
    }
}

/* Appends the labels of a row to page->labels; returns false if the row has no samples. */
static bool label_row(struct exposition_page *page, const struct family_table *labels,
                      struct exposition_row *row)
{
    const size_t from = row->labels;
    char words[WORKLOAD_ID_MAX + 80];
    if (is_left_out(row->row))
        return false;
    if (labels->of_gpu) {
        const struct exposition_row *gpu = page_find(page, VITALS_TABLE_GPU,
                                                     vitals_row_parent(row->row));
        bool of_process = labels->entity == VITALS_TABLE_GPU_PROCESS;
        /* Other rows of partitions have no samples, so that sums over a device stay correct. */
        if (gpu == NULL || (!of_process && vitals_row_parent(gpu->row) != 0))
            return false;
        if (of_process)
            row->group = 1 + (unsigned)(gpu - page->tables[VITALS_TABLE_GPU].rows);
        if (gpu->size > 0 && buffer_reserve(&page->labels, gpu->size) != NULL)
            buffer_append(&page->labels, page->labels.bytes + gpu->labels, gpu->size);
    }

    if (labels->own != NULL)
        label(page, from, labels->own, vitals_text_of(vitals_row_label(row->row)));
    for (size_t i = 0; i < 2 && labels->more[i].name != NULL; i++) {
        const vitals_metric metric = labels->more[i].metric;
        bool required = labels->level != EXPOSITION_OFF;
        vitals_text value = {"", 0};
        uint64_t pid;
        bool known = vitals_metric_type(metric) == VITALS_TEXT
                         ? page_text(row->row, metric, &value)
                         : vitals_row_u64(row->row, metric, &pid) > 0;
        if (!known && required)
            return false;
        if (metric == VITALS_WORKLOAD_ID)
            value = page_workload(page, value, words, sizeof words);
        else if (known && vitals_metric_type(metric) != VITALS_TEXT)
            value = decimal((int64_t)pid, words, sizeof words);
        if (required || (known && value.size > 0))
            label(page, from, labels->more[i].name, value);
    }
    return true;
}

const struct page_table *page_table(const struct exposition_page *page, vitals_table entity)
{
    return &page->tables[(unsigned)entity < PAGE_TABLES ? (unsigned)entity : 0];
}

static int compare_with_key(const void *key, const void *row)
{
    uint64_t wanted = *(const uint64_t *)key;
    uint64_t there = vitals_row_key(((const struct exposition_row *)row)->row);
    return (wanted > there) - (wanted < there);
}

const struct exposition_row *page_find(const struct exposition_page *page, vitals_table entity,
                                       uint64_t key)
{
    const struct page_table *table = page_table(page, entity);
    return table->count > 0
               ? bsearch(&key, table->rows, table->count, sizeof *table->rows, compare_with_key)
               : NULL;
}

/* ---- the maximum ---- */

/* Decides which rows keep series of their own: by device memory, then memory, then age of the row.
 */
struct row_rank {
    double device, memory;
    size_t place;
};

static int compare_ranks(const void *a, const void *b)
{
    const struct row_rank *left = a, *right = b;
    if (left->device != right->device)
        return left->device > right->device ? -1 : 1;
    if (left->memory != right->memory)
        return left->memory > right->memory ? -1 : 1;
    return left->place < right->place ? -1 : 1;
}

static double number_of(const vitals_row *row, vitals_metric metric)
{
    double value;
    return vitals_row_number(row, metric, &value) > 0 ? value : 0;
}

/* Returns the process of a row of gpu_process, or NULL. */
static const struct exposition_row *process_of(const struct exposition_page *page,
                                               const vitals_row *row)
{
    uint64_t key;
    return vitals_row_u64(row, VITALS_GPU_PROCESS_PROCESS, &key) > 0
               ? page_find(page, VITALS_TABLE_PROCESS, key)
               : NULL;
}

/* Marks all rows of the table but the first `most` by rank as aggregated. Returns how many. */
static size_t aggregate(struct exposition_page *page, vitals_table entity, vitals_metric memory)
{
    struct page_table *table = &page->tables[entity];
    size_t most = page->options->max_processes;
    struct row_rank *ranks = table->count > most ? calloc(table->count, sizeof *ranks) : NULL;
    if (table->count > most && ranks == NULL)
        page->failed = true;
    if (ranks == NULL)
        return 0;
    for (size_t i = 0; i < table->count; i++)
        ranks[i] = (struct row_rank){0, number_of(table->rows[i].row, memory), i};

    /* Adds the device memory of processes to their ranks, which are in the order of rows. */
    const vitals_row *row = NULL;
    while (entity == VITALS_TABLE_PROCESS &&
           (row = vitals_snapshot_next(page->snapshot, VITALS_TABLE_GPU_PROCESS, row)) != NULL) {
        const struct exposition_row *process = process_of(page, row);
        if (process != NULL)
            ranks[process - table->rows].device +=
                1 + number_of(row, VITALS_GPU_PROCESS_MEMORY_USED_BYTES);
    }
    qsort(ranks, table->count, sizeof *ranks, compare_ranks);
    for (size_t i = most; i < table->count; i++)
        table->rows[ranks[i].place].aggregated = true;
    free(ranks);
    return table->count - most;
}

void page_read(struct exposition_page *page, const vitals_snapshot *snapshot)
{
    page->snapshot = snapshot;
    for (size_t i = 0; i < family_tables_count; i++) {
        const vitals_table entity = family_tables[i].entity;
        struct page_table *table = &page->tables[entity];
        size_t count = vitals_snapshot_count(snapshot, entity);
        const vitals_row *row = NULL;
        if (page->options->level < family_tables[i].level || count == 0)
            continue;
        table->rows = calloc(count, sizeof *table->rows);
        page->failed = page->failed || table->rows == NULL;
        while (table->rows != NULL && (row = vitals_snapshot_next(snapshot, entity, row)) != NULL) {
            struct exposition_row next = {.row = row, .labels = page->labels.size};
            if (!label_row(page, &family_tables[i], &next))
                continue;
            next.size = page->labels.size - next.labels;
            table->rows[table->count++] = next;
        }
    }

    (void)aggregate(page, VITALS_TABLE_GPU_PROCESS, VITALS_GPU_PROCESS_MEMORY_USED_BYTES);
    page->dropped[0] = aggregate(page, VITALS_TABLE_PROCESS, VITALS_PROCESS_RESIDENT_BYTES);
    page->dropped[1] = aggregate(page, VITALS_TABLE_WORKLOAD, VITALS_WORKLOAD_MEMORY_USED_BYTES);
    /* A row of gpu_process is aggregated if its process is. */
    const struct page_table *users = &page->tables[VITALS_TABLE_GPU_PROCESS];
    for (size_t i = 0; i < users->count; i++) {
        const struct exposition_row *process = process_of(page, users->rows[i].row);
        if (process != NULL)
            users->rows[i].aggregated = process->aggregated;
    }

    page->groups = page->tables[VITALS_TABLE_GPU].count + 1;
    page->sums = calloc(page->groups, sizeof *page->sums);
    page->failed = page->failed || page->sums == NULL;
}
