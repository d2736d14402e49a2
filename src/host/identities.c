/* identities.c: see identities.h. An identity is known by 64 bits of hash, and its occurrence. */
#include "host/identities.h"

#include "util/memory.h"

struct row_identity {
    uint64_t hash, key;
    uint64_t reading; /* the last one that had it */
};

static uint64_t identity_of(const struct row_batch *batch, const struct batch_row *row)
{
    uint64_t hash = 0;
    for (size_t i = row->first; i < row->first + row->count; i++) {
        const struct batch_cell *cell = &batch->items[i];
        if (vitals_metric_kind(cell->metric) != VITALS_IDENTITY)
            continue;
        bool has = cell->state > 0; // said with the metric: a value is none that follows
        hash = hash_join(hash, (uint64_t)cell->metric << 1 | has);
        if (!has)
            continue;
        if (vitals_metric_type(cell->metric) == VITALS_TEXT) {
            struct span text = batch_span(batch, cell);
            hash = hash_join(hash, hash_bytes(text.bytes, text.size));
        } else {
            hash = hash_join(hash, cell->as.u64);
        }
    }
    return hash;
}

/* One that was not seen in this reading yet, of the hash or of one that follows it by occurrence;
 * NULL where memory is out. */
static struct row_identity *find(struct identities *identities, uint64_t hash)
{
    uintptr_t *next = hash_find(&identities->next, hash); // occurrence in this reading
    if (next == NULL && hash_set(&identities->next, hash, 0) == 0)
        next = hash_find(&identities->next, hash);
    while (next != NULL) {
        const uint64_t occurrence = (*next)++;
        uint64_t own = hash_join(hash, occurrence);
        const uintptr_t *place = hash_find(&identities->places, own);
        if (place != NULL) {
            struct row_identity *identity = &identities->items[*place];
            if (identity->reading != identities->reading) // else of another, whose hash is the same
                return identity;
            continue;
        }
        if (MEMORY_GROW(identities->items, identities->capacity, identities->count) != 0)
            return NULL;
        if (hash_set(&identities->places, own, identities->count) != 0)
            return NULL;
        struct row_identity *identity = &identities->items[identities->count++];
        *identity = (struct row_identity){.hash = own, .key = ++identities->keys};
        return identity;
    }
    return NULL;
}

int identities_give(struct identities *identities, struct row_batch *batch, vitals_table entity)
{
    identities->reading++;
    hash_reset(&identities->next);
    size_t count = 0;
    for (size_t i = 0; i < batch->row_count; i++)
        count += batch->rows[i].entity == entity && batch->rows[i].key == 0;
    if (count != 0 && (hash_reserve(&identities->next, count) != 0 ||
                       hash_reserve(&identities->places, count) != 0))
        return VITALS_EMEMORY;
    for (size_t i = 0; i < batch->row_count; i++) {
        struct batch_row *row = &batch->rows[i];
        if (row->entity != entity || row->key != 0)
            continue;
        struct row_identity *identity = find(identities, identity_of(batch, row));
        if (identity == NULL)
            return VITALS_EMEMORY;
        identity->reading = identities->reading;
        row->key = identity->key;
    }

    /* Forgets those that this reading did not have. */
    for (size_t i = 0; i < identities->count;) {
        struct row_identity *identity = &identities->items[i];
        if (identity->reading == identities->reading) {
            i++;
            continue;
        }
        hash_remove(&identities->places, identity->hash);
        *identity = identities->items[--identities->count];
        if (i < identities->count && hash_set(&identities->places, identity->hash, i) != 0)
            return VITALS_EMEMORY;
    }
    return 0;
}

void identities_done(struct identities *identities)
{
    hash_done(&identities->places);
    hash_done(&identities->next);
    memory_free(identities->items);
    *identities = (struct identities){0};
}
