/* exposition_rows.c: the rows of a snapshot with their labels, and the choice of rows if there are
 * too many.
 *
 * Labels of a row are formatted once for all families. See exposition_page.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/keyed_hash.h"
#include "export/prometheus/exposition_page.h"

enum { WORKLOAD_ID_MAX = 120, WORKLOAD_ID_KEPT = 100 };

static void label(struct exposition_page *page, size_t from, const char *name, vitals_text value)
{
    struct text *labels = &page->labels;
    if (labels->size > from)
        text_byte(labels, ',');
    text_string(labels, name);
    text_append(labels, "=\"", 2);
    text_safe(labels, value, VITALS_TEXT_LABEL);
    text_byte(labels, '"');
}

static vitals_text word(const char *string)
{
    return (vitals_text){string, strlen(string)};
}

static void label_of(struct exposition_page *page, size_t from, const char *name,
                     const vitals_row *row, vitals_metric metric)
{
    vitals_text value;
    if (page_text(row, metric, &value) && value.size > 0)
        label(page, from, name, value);
}

/* Appends the labels of another row. */
static void copy_labels(struct exposition_page *page, const struct exposition_row *from)
{
    if (from->size == 0 || text_reserve(&page->labels, from->size) == NULL)
        return;
    text_append(&page->labels, page->labels.bytes + from->labels, from->size);
}

/* ---- users and workloads ---- */

static vitals_text hashed(vitals_text text, char *out, size_t capacity)
{
    int size = snprintf(out, capacity, "%016llx",
                        (unsigned long long)keyed_hash(text.bytes, text.size));
    return (vitals_text){out, size > 0 && (size_t)size < capacity ? (size_t)size : 0};
}

static vitals_text decimal(int64_t number, char *out, size_t capacity)
{
    int size = snprintf(out, capacity, "%lld", (long long)number);
    return (vitals_text){out, size > 0 && (size_t)size < capacity ? (size_t)size : 0};
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

/* Returns the start of the id and a hash of all of it, so that two long ids differ. The key is
 * constant, so that the next start of the program gives the same. */
static vitals_text shortened(vitals_text id, char *out, size_t capacity)
{
    int size = snprintf(out, capacity, "%.*s~%016llx", WORKLOAD_ID_KEPT, id.bytes,
                        (unsigned long long)stable_hash(id.bytes, id.size));
    return (vitals_text){out, size > 0 && (size_t)size < capacity ? (size_t)size : 0};
}

/* Returns the uid of a process of the workload; -1 if none is known. */
static int64_t workload_uid(const struct exposition_page *page, vitals_text id)
{
    const vitals_row *row = NULL;
    while ((row = vitals_snapshot_next(page->snapshot, VITALS_PROCESS, row)) != NULL) {
        vitals_text of;
        uint64_t uid;
        if (page_text(row, VITALS_PROCESS_WORKLOAD, &of) && of.size == id.size &&
            memcmp(of.bytes, id.bytes, id.size) == 0 &&
            vitals_row_u64(row, VITALS_PROCESS_UID, &uid) > 0)
            return (int64_t)uid;
    }
    return -1;
}

vitals_text page_workload(const struct exposition_page *page, vitals_text id, char *out,
                          size_t capacity)
{
    static const char USER[] = "user:";
    char words[32];
    vitals_text user, name = {id.bytes + sizeof USER - 1, id.size - (sizeof USER - 1)};
    if (page->options->user != EXPOSITION_USER_NAME && id.size > sizeof USER - 1 &&
        memcmp(id.bytes, USER, sizeof USER - 1) == 0) {
        if (page->options->user != EXPOSITION_USER_UID ||
            !page_user(page, name, workload_uid(page, id), words, sizeof words, &user))
            user = hashed(name, words, sizeof words);
        int size = snprintf(out, capacity, "%s%.*s", USER, (int)user.size, user.bytes);
        return (vitals_text){out, size > 0 && (size_t)size < capacity ? (size_t)size : 0};
    }
    return id.size > WORKLOAD_ID_MAX ? shortened(id, out, capacity) : id;
}

/* ---- the labels of each table ---- */

/* Appends the labels of a row to page->labels; returns false if the row has no samples. */
typedef bool label_row(struct exposition_page *page, struct exposition_row *row, size_t from);

static bool label_nothing(struct exposition_page *page, struct exposition_row *row, size_t from)
{
    (void)page, (void)row, (void)from;
    return true;
}

static bool label_gpu(struct exposition_page *page, struct exposition_row *row, size_t from)
{
    label(page, from, "gpu", word(vitals_row_label(row->row)));
    label_of(page, from, "uuid", row->row, VITALS_GPU_UUID);
    return true;
}

/* Rows of a device have its labels. Rows of partitions have no samples, so that sums over a device
 * stay correct. */
static bool label_child(struct exposition_page *page, struct exposition_row *row, size_t from)
{
    const struct exposition_row *gpu = page_find(page, VITALS_GPU, vitals_row_parent(row->row));
    (void)from;
    if (gpu == NULL || vitals_row_parent(gpu->row) != 0)
        return false;
    copy_labels(page, gpu);
    return true;
}

static bool label_gpu_process(struct exposition_page *page, struct exposition_row *row, size_t from)
{
    const struct exposition_row *gpu = page_find(page, VITALS_GPU, vitals_row_parent(row->row));
    uint64_t pid;
    char words[32];
    if (gpu == NULL || vitals_row_u64(row->row, VITALS_GPU_PROCESS_PID, &pid) <= 0)
        return false;
    row->group = 1 + (unsigned)(gpu - page->tables[VITALS_GPU].rows);
    copy_labels(page, gpu);
    label(page, from, "pid", decimal((int64_t)pid, words, sizeof words));
    return true;
}

static bool label_process(struct exposition_page *page, struct exposition_row *row, size_t from)
{
    uint64_t pid;
    char words[32];
    if (vitals_row_u64(row->row, VITALS_PROCESS_PID, &pid) <= 0)
        return false;
    label(page, from, "pid", decimal((int64_t)pid, words, sizeof words));
    return true;
}

static bool label_workload(struct exposition_page *page, struct exposition_row *row, size_t from)
{
    vitals_text id;
    char words[WORKLOAD_ID_MAX + 80];
    if (!page_text(row->row, VITALS_WORKLOAD_ID, &id))
        return false;
    label(page, from, "workload", page_workload(page, id, words, sizeof words));
    return true;
}

static bool label_source(struct exposition_page *page, struct exposition_row *row, size_t from)
{
    label(page, from, "collector", word(vitals_row_label(row->row)));
    return true;
}

/* Only disks that count in sums: what is written to a partition is written to its disk. */
static bool label_disk(struct exposition_page *page, struct exposition_row *row, size_t from)
{
    uint64_t counted;
    if (vitals_row_u64(row->row, VITALS_DISK_COUNTED, &counted) > 0 && counted == 0)
        return false;
    label_of(page, from, "device", row->row, VITALS_DISK_NAME);
    return true;
}

static bool label_network(struct exposition_page *page, struct exposition_row *row, size_t from)
{
    label_of(page, from, "device", row->row, VITALS_NETWORK_NAME);
    return true;
}

static bool label_filesystem(struct exposition_page *page, struct exposition_row *row, size_t from)
{
    uint64_t pseudo;
    if (vitals_row_u64(row->row, VITALS_FILESYSTEM_PSEUDO, &pseudo) > 0 && pseudo != 0)
        return false;
    label_of(page, from, "mountpoint", row->row, VITALS_FILESYSTEM_MOUNT_POINT);
    label_of(page, from, "fstype", row->row, VITALS_FILESYSTEM_TYPE);
    return true;
}

static bool label_pressure(struct exposition_page *page, struct exposition_row *row, size_t from)
{
    vitals_text scope;
    if (!page_text(row->row, VITALS_PRESSURE_SCOPE, &scope) || scope.size != 7 ||
        memcmp(scope.bytes, "machine", 7) != 0)
        return false;
    label_of(page, from, "resource", row->row, VITALS_PRESSURE_RESOURCE);
    return true;
}

/* Ordered so that a row's labels precede those that contain them. */
static const struct {
    vitals_entity entity;
    enum exposition_level level;
    label_row *label;
} TABLES[] = {
    {VITALS_HOST, EXPOSITION_OFF, label_nothing},
    {VITALS_GPU, EXPOSITION_OFF, label_gpu},
    {VITALS_GPU_ENGINE, EXPOSITION_OFF, label_child},
    {VITALS_GPU_SENSOR, EXPOSITION_OFF, label_child},
    {VITALS_GPU_CLOCK, EXPOSITION_OFF, label_child},
    {VITALS_GPU_POOL, EXPOSITION_OFF, label_child},
    {VITALS_GPU_LINK, EXPOSITION_OFF, label_child},
    {VITALS_SOURCE, EXPOSITION_OFF, label_source},
    {VITALS_DISK, EXPOSITION_OFF, label_disk},
    {VITALS_NETWORK, EXPOSITION_OFF, label_network},
    {VITALS_FILESYSTEM, EXPOSITION_OFF, label_filesystem},
    {VITALS_PRESSURE, EXPOSITION_OFF, label_pressure},
    {VITALS_WORKLOAD, EXPOSITION_WORKLOAD, label_workload},
    {VITALS_PROCESS, EXPOSITION_PID, label_process},
    {VITALS_GPU_PROCESS, EXPOSITION_PID, label_gpu_process},
};
_Static_assert((int)VITALS_WORKLOAD < (int)PAGE_TABLES, "a place for each table");

static void read_table(struct exposition_page *page, vitals_entity entity, label_row *label_of_row)
{
    size_t count = vitals_snapshot_count(page->snapshot, entity);
    struct page_table *table = &page->tables[entity];
    const vitals_row *row = NULL;
    table->rows = count > 0 ? calloc(count, sizeof *table->rows) : NULL;
    if (count > 0 && table->rows == NULL)
        page->failed = true;
    if (table->rows == NULL)
        return;
    while ((row = vitals_snapshot_next(page->snapshot, entity, row)) != NULL) {
        struct exposition_row next = {.row = row, .labels = page->labels.size};
        if (label_of_row(page, &next, next.labels)) {
            next.size = page->labels.size - next.labels;
            table->rows[table->count++] = next;
        }
    }
}

const struct page_table *page_table(const struct exposition_page *page, vitals_entity entity)
{
    return &page->tables[(unsigned)entity < PAGE_TABLES ? (unsigned)entity : 0];
}

static int compare_with_key(const void *key, const void *row)
{
    uint64_t wanted = *(const uint64_t *)key;
    uint64_t there = vitals_row_key(((const struct exposition_row *)row)->row);
    return (wanted > there) - (wanted < there);
}

const struct exposition_row *page_find(const struct exposition_page *page, vitals_entity entity,
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

/* Adds the device memory of processes to their ranks, which are in the order of rows. */
static void rank_devices(const struct exposition_page *page, struct row_rank *ranks)
{
    const struct exposition_row *processes = page->tables[VITALS_PROCESS].rows;
    const vitals_row *row = NULL;
    while ((row = vitals_snapshot_next(page->snapshot, VITALS_GPU_PROCESS, row)) != NULL) {
        uint64_t key;
        const struct exposition_row *process = vitals_row_u64(row, VITALS_GPU_PROCESS_PROCESS,
                                                              &key) > 0
                                                   ? page_find(page, VITALS_PROCESS, key)
                                                   : NULL;
        if (process != NULL)
            ranks[process - processes].device += 1 + number_of(
                                                         row, VITALS_GPU_PROCESS_MEMORY_USED_BYTES);
    }
}

/* Folds all rows of the table but the first `most` by rank. Returns how many are folded. */
static size_t fold(struct exposition_page *page, vitals_entity entity, vitals_metric memory)
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
    if (entity == VITALS_PROCESS)
        rank_devices(page, ranks);
    qsort(ranks, table->count, sizeof *ranks, compare_ranks);
    for (size_t i = most; i < table->count; i++)
        table->rows[ranks[i].place].folded = true;
    free(ranks);
    return table->count - most;
}

/* A row of gpu_process is folded if its process is. */
static void fold_with_processes(struct exposition_page *page)
{
    struct page_table *table = &page->tables[VITALS_GPU_PROCESS];
    for (size_t i = 0; i < table->count; i++) {
        uint64_t key;
        const struct exposition_row *process = vitals_row_u64(table->rows[i].row,
                                                              VITALS_GPU_PROCESS_PROCESS, &key) > 0
                                                   ? page_find(page, VITALS_PROCESS, key)
                                                   : NULL;
        if (process != NULL)
            table->rows[i].folded = process->folded;
    }
}

void page_read(struct exposition_page *page, const vitals_snapshot *snapshot)
{
    page->snapshot = snapshot;
    for (size_t i = 0; i < sizeof TABLES / sizeof TABLES[0]; i++) {
        if (page->options->level >= TABLES[i].level)
            read_table(page, TABLES[i].entity, TABLES[i].label);
    }
    (void)fold(page, VITALS_GPU_PROCESS, VITALS_GPU_PROCESS_MEMORY_USED_BYTES);
    page->dropped[0] = fold(page, VITALS_PROCESS, VITALS_PROCESS_RESIDENT_BYTES);
    page->dropped[1] = fold(page, VITALS_WORKLOAD, VITALS_WORKLOAD_MEMORY_USED_BYTES);
    fold_with_processes(page);
    page->groups = page->tables[VITALS_GPU].count + 1;
    page->sums = calloc(page->groups, sizeof *page->sums);
    page->failed = page->failed || page->sums == NULL;
}
