/* answer_cache.c: see answer_cache.h. */
#include "model/answer_cache.h"

#include "util/memory.h"

#include <string.h>

void cache_done(struct answer_cache *cache)
{
    batch_done(&cache->kept);
    batch_done(&cache->spare);
    memory_free(cache->moments);
    memory_free(cache->spare_moments);
    *cache = (struct answer_cache){0};
}

/* ---- taking ---- */

/* The row with that key and that label, either of which may be NULL: any. Searched for from *hint
 * on, where it is put. */
static const struct batch_row *find_row(const struct row_batch *kept, vitals_table entity,
                                        const uint64_t *key, const struct span *label, size_t *hint)
{
    for (size_t i = 0; i < kept->row_count; i++) {
        size_t at = (*hint + i) % kept->row_count;
        const struct batch_row *row = &kept->rows[at];
        struct span own = batch_label(kept, row);
        if (row->entity != entity || (key != NULL && row->key != *key) ||
            (label != NULL &&
             (own.size != label->size || memcmp(own.bytes, label->bytes, own.size) != 0)))
            continue;
        *hint = at + 1;
        return row;
    }
    return NULL;
}

/* Copies the cells of a row whose metrics are in the set, or those whose are not. */
static void copy_facts(struct answer_cache *cache, const struct row_batch *from,
                       const struct batch_row *row, const uint64_t *moments, uint64_t moment,
                       const struct metric_set *but)
{
    struct row_batch *to = &cache->spare;
    for (size_t i = row->first; i < row->first + row->count && !to->failed; i++) {
        const struct batch_cell *cell = &from->items[i];
        if (but != NULL && metric_set_has(but, cell->metric))
            continue;
        size_t before = to->count;
        if (vitals_metric_type(cell->metric) == VITALS_TEXT && cell->state > 0)
            batch_set_text_as(to, cell->metric, batch_span(from, cell),
                              (vitals_availability)cell->state);
        else
            batch_set_value(to, cell->metric,
                            (struct value){.as.u64 = cell->as.u64, .state = cell->state});
        if (to->count == before)
            continue;
        if (before >= cache->spare_capacity) {
            void *grown = memory_resize(cache->spare_moments, to->capacity,
                                        sizeof *cache->spare_moments);
            if (grown == NULL) {
                to->failed = true;
                return;
            }
            cache->spare_moments = grown;
            cache->spare_capacity = to->capacity;
        }
        cache->spare_moments[before] = moments != NULL ? moments[i] : moment;
    }
}

static void copy_row(struct answer_cache *cache, const struct row_batch *from,
                     const struct batch_row *row, const uint64_t *moments, uint64_t moment)
{
    struct batch_row *copy = batch_add_row(&cache->spare, row->entity, row->key,
                                           batch_label(from, row));
    if (copy != NULL)
        copy->parent = row->parent;
    copy_facts(cache, from, row, moments, moment, NULL);
}

static void exchange(struct row_batch *a, struct row_batch *b)
{
    struct row_batch other = *a;
    *a = *b;
    *b = other;
}

/* The answer over what was kept, in the spare. */
static int take_part(struct answer_cache *cache, const struct row_batch *answer, uint64_t read_ns)
{
    struct row_batch *kept = &cache->kept, *spare = &cache->spare;
    struct metric_set all = kept->wanted;
    metric_set_join(&all, &answer->wanted);
    batch_reset(spare, &all);
    for (size_t i = 0; i <= ENTITY_MAX; i++)
        spare->states[i] = metric_set_has_entity(&answer->wanted, (vitals_table)i)
                               ? answer->states[i]
                               : kept->states[i];

    size_t hint = 0;
    for (size_t i = 0; i < answer->row_count; i++) {
        const struct batch_row *row = &answer->rows[i];
        struct span label = batch_label(answer, row);
        const struct batch_row *old = find_row(kept, row->entity, &row->key,
                                               row->key == 0 ? &label : NULL, &hint);
        copy_row(cache, answer, row, NULL, read_ns);
        if (old != NULL)
            copy_facts(cache, kept, old, cache->moments, cache->whole_ns, &answer->wanted);
    }
    for (size_t i = 0; i < kept->row_count; i++) {
        if (!metric_set_has_entity(&answer->wanted, kept->rows[i].entity))
            copy_row(cache, kept, &kept->rows[i], cache->moments, cache->whole_ns);
    }
    if (spare->failed)
        return VITALS_EMEMORY;

    exchange(kept, spare);
    uint64_t *moments = cache->moments;
    size_t capacity = cache->capacity;
    cache->moments = cache->spare_moments;
    cache->capacity = cache->spare_capacity;
    cache->spare_moments = moments;
    cache->spare_capacity = capacity;
    cache->whole_ns = 0;
    return 0;
}

int cache_take(struct answer_cache *cache, struct row_batch *answer, uint64_t read_ns)
{
    /* Whether all that was ever asked for is asked for now. */
    bool whole = true;
    for (size_t i = 0; i <= ENTITY_MAX; i++)
        for (size_t j = 0; j < METRIC_NUMBERS / 64; j++)
            whole &= (cache->kept.wanted.bits[i][j] & ~answer->wanted.bits[i][j]) == 0;
    if (answer->failed || (!whole && take_part(cache, answer, read_ns) < 0))
        return VITALS_EMEMORY;
    if (whole) {
        exchange(&cache->kept, answer);
        cache->whole_ns = read_ns != 0 ? read_ns : 1;
    }
    cache->answered = true;
    cache->overdue = false;
    return 0;
}

void cache_overdue(struct answer_cache *cache, const struct metric_set *asked)
{
    cache->overdue = true;
    metric_set_join(&cache->silent, asked);
    for (size_t i = 0; i < cache->kept.count; i++) {
        struct batch_cell *cell = &cache->kept.items[i];
        if (cell->state > 0 && metric_set_has(asked, cell->metric))
            cell->state = VITALS_STALE;
    }
}

void cache_age(struct answer_cache *cache, const struct vitals_request *request, uint64_t now_ns)
{
    uint64_t interval_ns = request->interval_ns;
    for (size_t i = 0; i < cache->kept.count; i++) {
        struct batch_cell *cell = &cache->kept.items[i];
        uint64_t every_ns = request->every_ns[cell->metric >> 8][metric_number(cell->metric)];
        uint64_t limit_ns = saturating_add(uint64_max(every_ns, interval_ns), interval_ns / 4);
        if (cell->state > 0 && now_ns > saturating_add(cache_moment(cache, cell), limit_ns))
            cell->state = VITALS_STALE;
    }
}

void cache_lose(struct answer_cache *cache, vitals_availability reason)
{
    for (size_t i = 0; i < cache->kept.count; i++) {
        struct batch_cell *cell = &cache->kept.items[i];
        bool constant = cell->state > 0 && vitals_metric_kind(cell->metric) == VITALS_IDENTITY;
        cell->state = (signed char)(constant ? VITALS_STALE : reason);
    }
}

/* ---- writing ---- */

vitals_availability cache_reason(const struct answer_cache *cache)
{
    return cache->overdue && !cache->answered ? VITALS_TIMED_OUT : VITALS_NOT_YET;
}

uint64_t cache_moment(const struct answer_cache *cache, const struct batch_cell *cell)
{
    return cache->whole_ns != 0 ? cache->whole_ns : cache->moments[cell - cache->kept.items];
}

void cache_write(const struct answer_cache *cache, vitals_table entity, const struct batch_row *row,
                 vitals_builder *builder, uint64_t stamp_ns)
{
    vitals_metric metric;
    for (size_t i = 0; row == NULL && (metric = builder_next(builder, entity, &i)) != 0;) {
        if (vitals_metric_price(metric) != VITALS_PRICE_TICK)
            vitals_builder_missing(builder, metric, cache_reason(cache));
    }
    if (row == NULL)
        return;
    builder_batch(builder, &cache->kept, row);
    for (size_t i = row->first; i < row->first + row->count; i++) {
        const struct batch_cell *cell = &cache->kept.items[i];
        if (cache_moment(cache, cell) != stamp_ns)
            vitals_builder_read_at(builder, cell->metric, cache_moment(cache, cell));
    }
}

const struct batch_row *cache_find(const struct answer_cache *cache, vitals_table entity,
                                   uint64_t key, size_t *hint)
{
    size_t first = 0;
    return find_row(&cache->kept, entity, &key, NULL, hint != NULL ? hint : &first);
}

void cache_write_named(const struct answer_cache *cache, vitals_table entity, vitals_text label,
                       size_t *hint, vitals_builder *builder, uint64_t stamp_ns)
{
    const struct span name = {label.bytes, label.size};
    cache_write(cache, entity, find_row(&cache->kept, entity, NULL, &name, hint), builder,
                stamp_ns);
}

void cache_write_table(const struct answer_cache *cache, vitals_table entity,
                       vitals_builder *builder, uint64_t stamp_ns)
{
    if (!cache->answered) {
        vitals_builder_state(builder, entity, cache_reason(cache));
        return;
    }
    builder_batch_rows(builder, &cache->kept, entity,
                       cache->whole_ns != 0 ? cache->whole_ns : stamp_ns);
    if (cache->overdue && cache->kept.states[entity] > 0)
        vitals_builder_state(builder, entity, VITALS_STALE);
}
