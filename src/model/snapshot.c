/* snapshot.c: the life of a snapshot, and its tables as a reader sees them.
 *
 * Knows nothing of how it was filled (builder.c) or of single values (row.c).
 * Thread rule: any thread; what is counted is the only thing that changes. */
#include "model/snapshot.h"

#include "util/memory.h"
#include "util/search.h"

#include <stdlib.h>
#include <string.h>

vitals_snapshot *snapshot_new(void)
{
    vitals_snapshot *snapshot = memory_alloc(sizeof *snapshot);
    if (snapshot == NULL)
        return NULL;
    atomic_init(&snapshot->refs, SNAPSHOT_OURS);
    snapshot->host = snapshot->boot_id = (vitals_text){"", 0};
    return snapshot;
}

static void drop_texts(vitals_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->shared.count; i++)
        shared_text_unref(snapshot->shared.items[i]);
    snapshot->shared = (struct shared_texts){0};
}

void snapshot_reset(vitals_snapshot *snapshot)
{
    drop_texts(snapshot);
    arena_reset(&snapshot->arena);
    snapshot->host = (vitals_text){"", 0};
    snapshot->boot_id = (vitals_text){"", 0};
    snapshot->pid_namespace = 0;
    snapshot->realtime_ns = 0;
    snapshot->boottime_ns = 0;
    snapshot->monotonic_ns = 0;
    snapshot->stream = 0;
    snapshot->sequence = 0;
    memset(snapshot->tables, 0, sizeof snapshot->tables);
}

vitals_snapshot *vitals_snapshot_ref(const vitals_snapshot *snapshot)
{
    /* All of it is constant to a reader but the count, and none was ever born constant. */
    vitals_snapshot *counted = (vitals_snapshot *)snapshot;
    atomic_fetch_add_explicit(&counted->refs, 1, memory_order_relaxed);
    return counted;
}

void snapshot_hold(vitals_snapshot *snapshot)
{
    atomic_fetch_add_explicit(&snapshot->refs, SNAPSHOT_OURS - 1, memory_order_relaxed);
}

/* Returns the references before, of which it gives back `count`. */
static uint64_t give_back(vitals_snapshot *snapshot, uint64_t count)
{
    /* Release: our reads come before the reuse or free; acquire: so do those of other threads. */
    uint64_t before = atomic_fetch_sub_explicit(&snapshot->refs, count, memory_order_acq_rel);
    if (before == count) {
        drop_texts(snapshot);
        arena_done(&snapshot->arena);
        memory_free(snapshot);
    }
    return before;
}

void snapshot_drop(vitals_snapshot *snapshot)
{
    if (snapshot != NULL)
        (void)give_back(snapshot, SNAPSHOT_OURS);
}

void vitals_snapshot_unref(vitals_snapshot *snapshot)
{
    if (snapshot != NULL && give_back(snapshot, 1) % SNAPSHOT_OURS == 0)
        abort(); /* released more often than referenced: it would change under a reader */
}

vitals_text vitals_snapshot_host(const vitals_snapshot *snapshot)
{
    return snapshot->host;
}

vitals_text vitals_snapshot_boot_id(const vitals_snapshot *snapshot)
{
    return snapshot->boot_id;
}

uint64_t vitals_snapshot_pid_namespace(const vitals_snapshot *snapshot)
{
    return snapshot->pid_namespace;
}

uint64_t vitals_snapshot_realtime_ns(const vitals_snapshot *snapshot)
{
    return snapshot->realtime_ns;
}

uint64_t vitals_snapshot_boottime_ns(const vitals_snapshot *snapshot)
{
    return snapshot->boottime_ns;
}

uint64_t vitals_snapshot_monotonic_ns(const vitals_snapshot *snapshot)
{
    return snapshot->monotonic_ns;
}

uint64_t vitals_snapshot_stream(const vitals_snapshot *snapshot)
{
    return snapshot->stream;
}

uint64_t vitals_snapshot_sequence(const vitals_snapshot *snapshot)
{
    return snapshot->sequence;
}

static const struct snapshot_column *column_of(const vitals_snapshot *snapshot,
                                               vitals_metric metric)
{
    const struct table *table = snapshot_table(snapshot, metric >> 8);
    return table != NULL ? table_column(table, metric) : NULL;
}

int vitals_snapshot_has_table(const vitals_snapshot *snapshot, vitals_table entity)
{
    return snapshot_table(snapshot, entity) != NULL;
}

int vitals_snapshot_has_metric(const vitals_snapshot *snapshot, vitals_metric metric)
{
    return column_of(snapshot, metric) != NULL;
}

vitals_availability vitals_snapshot_state(const vitals_snapshot *snapshot, vitals_table entity)
{
    const struct table *table = snapshot_table(snapshot, entity);
    return table != NULL ? (vitals_availability)table->state : VITALS_NOT_REQUESTED;
}

size_t vitals_snapshot_count(const vitals_snapshot *snapshot, vitals_table entity)
{
    const struct table *table = snapshot_table(snapshot, entity);
    return table != NULL ? table->count : 0;
}

const vitals_row *vitals_snapshot_next(const vitals_snapshot *snapshot, vitals_table entity,
                                       const vitals_row *previous)
{
    const struct table *table = snapshot_table(snapshot, entity);
    if (table == NULL || (previous != NULL && previous->table != table))
        return NULL;
    size_t index = previous != NULL ? row_index(previous) + 1 : 0;
    return index < table->count ? &table->rows[index] : NULL;
}

const vitals_row *vitals_snapshot_find_pid(const vitals_snapshot *snapshot, int64_t pid)
{
    const vitals_row *row = NULL;
    uint64_t its;
    while ((row = vitals_snapshot_next(snapshot, VITALS_TABLE_PROCESS, row)) != NULL &&
           !(vitals_row_u64(row, VITALS_PROCESS_PID, &its) > 0 && its == (uint64_t)pid))
        continue;
    return row;
}

const vitals_row *vitals_snapshot_row(const vitals_snapshot *snapshot, vitals_table entity,
                                      size_t index)
{
    const struct table *table = snapshot_table(snapshot, entity);
    return table != NULL && index < table->count ? &table->rows[index] : NULL;
}

/* The row at a place in the order of parents, then keys. */
static const vitals_row *row_by_parent(const struct table *table, size_t place)
{
    return &table->rows[table->by_parent != NULL ? table->by_parent[place] : place];
}

const vitals_row *vitals_snapshot_next_child(const vitals_snapshot *snapshot, vitals_table entity,
                                             uint64_t parent, const vitals_row *previous)
{
    const struct table *table = snapshot_table(snapshot, entity);
    if (table == NULL || (previous != NULL && previous->table != table))
        return NULL;
    size_t low = 0;
    size_t high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const vitals_row *row = row_by_parent(table, middle);
        /* Rows stand in the order of keys, so that their places in memory say which key is more. */
        bool before = row->parent < parent ||
                      (row->parent == parent && previous != NULL && row <= previous);
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    const vitals_row *row = low < table->count ? row_by_parent(table, low) : NULL;
    return row != NULL && row->parent == parent ? row : NULL;
}

const vitals_row *vitals_snapshot_find(const vitals_snapshot *snapshot, vitals_table entity,
                                       uint64_t key)
{
    const struct table *table = snapshot_table(snapshot, entity);
    if (table == NULL)
        return NULL;
    const uint64_t *found = search_find(table->keys, table->count, sizeof *table->keys,
                                        (struct search_number){0, key});
    return found != NULL ? &table->rows[found - table->keys] : NULL;
}

const uint64_t *vitals_snapshot_keys(const vitals_snapshot *snapshot, vitals_table entity,
                                     size_t *count)
{
    const struct table *table = snapshot_table(snapshot, entity);
    if (count != NULL)
        *count = table != NULL ? table->count : 0;
    return table != NULL ? table->keys : NULL;
}

/* The column of a metric whose values are text, or are not; NULL where there is none. */
static const struct snapshot_column *column_of_kind(const vitals_snapshot *snapshot,
                                                    vitals_metric metric, bool text,
                                                    const signed char **availabilities,
                                                    size_t *count)
{
    const struct snapshot_column *column = column_of(snapshot, metric);
    if (column != NULL && (column->type == VITALS_TEXT) != text)
        column = NULL;
    if (availabilities != NULL)
        *availabilities = column != NULL ? column->states : NULL;
    if (count != NULL)
        *count = column != NULL ? vitals_snapshot_count(snapshot, metric >> 8) : 0;
    return column;
}

const void *vitals_snapshot_column(const vitals_snapshot *snapshot, vitals_metric metric,
                                   const signed char **availabilities, size_t *count)
{
    const struct snapshot_column *column = column_of_kind(snapshot, metric, false, availabilities,
                                                          count);
    return column != NULL ? column->cells : NULL;
}

const vitals_text *vitals_snapshot_texts(const vitals_snapshot *snapshot, vitals_metric metric,
                                         const signed char **availabilities, size_t *count)
{
    const struct snapshot_column *column = column_of_kind(snapshot, metric, true, availabilities,
                                                          count);
    return column != NULL ? column->texts : NULL;
}

size_t vitals_snapshot_pack_texts(const vitals_snapshot *snapshot, vitals_metric metric, char *out,
                                  size_t capacity, int64_t *offsets)
{
    size_t count, size = 0;
    const vitals_text *texts = vitals_snapshot_texts(snapshot, metric, NULL, &count);
    for (size_t i = 0; i < count; i++) {
        if (offsets != NULL)
            offsets[i] = (int64_t)size;
        if (texts[i].size != 0 && size < capacity)
            memcpy(out + size, texts[i].bytes, size_min(texts[i].size, capacity - size));
        size += texts[i].size;
    }
    if (texts != NULL && offsets != NULL)
        offsets[count] = (int64_t)size;
    return size;
}
