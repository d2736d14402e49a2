/* answer_cache.c: see answer_cache.h. */
#include "model/answer_cache.h"

#include "util/error.h"
#include "util/memory.h"

#include <string.h>

void late_done(struct late *late)
{
    facts_done(&late->kept);
    facts_done(&late->spare);
    memory_free(late->moments);
    memory_free(late->spare_moments);
    *late = (struct late){0};
}

/* ---- taking ---- */

/* Whether all that was ever asked for is asked for now. */
static bool is_whole(const struct late *late, const struct facts *answer)
{
    for (size_t i = 0; i <= ENTITY_MAX; i++)
        for (size_t j = 0; j < METRIC_NUMBERS / 64; j++)
            if ((late->kept.wanted.bits[i][j] & ~answer->wanted.bits[i][j]) != 0)
                return false;
    return true;
}

static bool is_label(const struct facts *facts, const struct fact_row *row, struct span label)
{
    struct span own = fact_label(facts, row);
    return own.size == label.size && memcmp(own.bytes, label.bytes, label.size) == 0;
}

/* The same row in what was kept; searched for from *hint on, where it is put. */
static const struct fact_row *same_row(const struct facts *kept, const struct facts *answer,
                                       const struct fact_row *row, size_t *hint)
{
    struct span label = fact_label(answer, row);
    for (size_t i = 0; i < kept->row_count; i++) {
        size_t at = (*hint + i) % kept->row_count;
        const struct fact_row *other = &kept->rows[at];
        if (other->entity != row->entity || other->key != row->key ||
            (row->key == 0 && !is_label(kept, other, label)))
            continue;
        *hint = at + 1;
        return other;
    }
    return NULL;
}

/* Copies those facts of a row that are in the set, or that are not. */
static void copy_facts(struct late *late, const struct facts *from, const struct fact_row *row,
                       const uint64_t *moments, uint64_t moment, const struct metric_set *but)
{
    struct facts *to = &late->spare;
    for (size_t i = row->first; i < row->first + row->count && !to->failed; i++) {
        const struct fact *fact = &from->items[i];
        if (but != NULL && metric_set_has(but, fact->metric))
            continue;
        size_t before = to->count;
        if (vitals_metric_type(fact->metric) == VITALS_TEXT && fact->state > 0)
            fact_text_as(to, fact->metric, fact_span(from, fact), (vitals_availability)fact->state);
        else
            fact_value(to, fact->metric,
                       (struct value){.as.u64 = fact->as.u64, .state = fact->state});
        if (to->count == before)
            continue;
        if (before >= late->spare_capacity) {
            void *grown = memory_resize(late->spare_moments, to->capacity,
                                        sizeof *late->spare_moments);
            if (grown == NULL) {
                to->failed = true;
                return;
            }
            late->spare_moments = grown;
            late->spare_capacity = to->capacity;
        }
        late->spare_moments[before] = moments != NULL ? moments[i] : moment;
    }
}

static void copy_row(struct late *late, const struct facts *from, const struct fact_row *row)
{
    struct fact_row *copy = facts_row(&late->spare, row->entity, row->key, fact_label(from, row));
    if (copy != NULL)
        copy->parent = row->parent;
}

/* The answer over what was kept, into the spare. */
static void overlay(struct late *late, const struct facts *answer, uint64_t read_ns)
{
    size_t hint = 0;
    for (size_t i = 0; i < answer->row_count; i++) {
        const struct fact_row *row = &answer->rows[i];
        const struct fact_row *old = same_row(&late->kept, answer, row, &hint);
        copy_row(late, answer, row);
        copy_facts(late, answer, row, NULL, read_ns, NULL);
        if (old != NULL)
            copy_facts(late, &late->kept, old, late->moments, late->whole_ns, &answer->wanted);
    }
    for (size_t i = 0; i < late->kept.row_count; i++) {
        const struct fact_row *row = &late->kept.rows[i];
        if (metric_set_has_entity(&answer->wanted, row->entity))
            continue;
        copy_row(late, &late->kept, row);
        copy_facts(late, &late->kept, row, late->moments, late->whole_ns, NULL);
    }
}

static void exchange(struct facts *a, struct facts *b)
{
    struct facts other = *a;
    *a = *b;
    *b = other;
}

static int take_part(struct late *late, struct facts *answer, uint64_t read_ns)
{
    struct metric_set all = late->kept.wanted;
    for (size_t i = 0; i <= ENTITY_MAX; i++)
        for (size_t j = 0; j < METRIC_NUMBERS / 64; j++)
            all.bits[i][j] |= answer->wanted.bits[i][j];
    facts_reset(&late->spare, &all);
    for (size_t i = 0; i <= ENTITY_MAX; i++)
        late->spare.states[i] = metric_set_has_entity(&answer->wanted, (vitals_entity)i)
                                    ? answer->states[i]
                                    : late->kept.states[i];
    overlay(late, answer, read_ns);
    if (late->spare.failed)
        return VITALS_EMEMORY;
    exchange(&late->kept, &late->spare);
    uint64_t *moments = late->moments;
    size_t capacity = late->capacity;
    late->moments = late->spare_moments;
    late->capacity = late->spare_capacity;
    late->spare_moments = moments;
    late->spare_capacity = capacity;
    late->whole_ns = 0;
    return 0;
}

int late_take(struct late *late, struct facts *answer, uint64_t read_ns)
{
    if (answer->failed)
        return VITALS_EMEMORY;
    if (is_whole(late, answer)) {
        exchange(&late->kept, answer);
        late->whole_ns = read_ns != 0 ? read_ns : 1;
    } else {
        int code = take_part(late, answer, read_ns);
        if (code < 0)
            return code;
    }
    late->answered = true;
    late->overdue = false;
    return 0;
}

void late_overdue(struct late *late, const struct metric_set *asked)
{
    late->overdue = true;
    for (size_t i = 0; i <= ENTITY_MAX; i++)
        for (size_t j = 0; j < METRIC_NUMBERS / 64; j++)
            late->silent.bits[i][j] |= asked->bits[i][j];
    for (size_t i = 0; i < late->kept.count; i++) {
        struct fact *fact = &late->kept.items[i];
        if (fact->state > 0 && metric_set_has(asked, fact->metric))
            fact->state = VITALS_STALE;
    }
}

void late_lose(struct late *late, vitals_availability reason)
{
    for (size_t i = 0; i < late->kept.count; i++)
        late->kept.items[i].state = (signed char)reason;
}

/* ---- writing ---- */

vitals_availability late_reason(const struct late *late)
{
    return late->overdue && !late->answered ? VITALS_TIMED_OUT : VITALS_NOT_YET;
}

static void write_missing(const struct late *late, vitals_entity entity, vitals_builder *builder)
{
    for (unsigned number = 1; number < METRIC_NUMBERS; number++) {
        vitals_metric metric = metric_of(entity, number);
        if (builder_wants(builder, metric) && vitals_metric_price(metric) != VITALS_PRICE_TICK)
            vitals_builder_missing(builder, metric, late_reason(late));
    }
}

uint64_t late_moment(const struct late *late, const struct fact *fact)
{
    return late->whole_ns != 0 ? late->whole_ns : late->moments[fact - late->kept.items];
}

static uint64_t moment_of(const struct late *late, size_t item)
{
    return late->whole_ns != 0 ? late->whole_ns : late->moments[item];
}

void late_write(const struct late *late, vitals_entity entity, const struct fact_row *row,
                vitals_builder *builder, uint64_t stamp_ns)
{
    if (row == NULL) {
        write_missing(late, entity, builder);
        return;
    }
    builder_facts(builder, &late->kept, row);
    for (size_t i = row->first; i < row->first + row->count; i++)
        if (moment_of(late, i) != stamp_ns)
            vitals_builder_read_at(builder, late->kept.items[i].metric, moment_of(late, i));
}

const struct fact_row *late_find(const struct late *late, vitals_entity entity, uint64_t key,
                                 size_t *hint)
{
    size_t count = late->kept.row_count;
    for (size_t i = 0; i < count; i++) {
        size_t at = ((hint != NULL ? *hint : 0) + i) % count;
        const struct fact_row *row = &late->kept.rows[at];
        if (row->entity != entity || row->key != key)
            continue;
        if (hint != NULL)
            *hint = at + 1;
        return row;
    }
    return NULL;
}

void late_write_named(const struct late *late, vitals_entity entity, vitals_text label,
                      size_t *hint, vitals_builder *builder, uint64_t stamp_ns)
{
    const struct fact_row *found = NULL;
    size_t count = late->kept.row_count;
    for (size_t i = 0; i < count && found == NULL; i++) {
        size_t at = (*hint + i) % count;
        const struct fact_row *row = &late->kept.rows[at];
        if (row->entity != entity ||
            !is_label(&late->kept, row, (struct span){label.bytes, label.size}))
            continue;
        found = row;
        *hint = at + 1;
    }
    late_write(late, entity, found, builder, stamp_ns);
}

void late_write_table(const struct late *late, vitals_entity entity, vitals_builder *builder,
                      uint64_t stamp_ns)
{
    if (!late->answered) {
        vitals_builder_state(builder, entity, late_reason(late));
        return;
    }
    builder_facts_rows(builder, &late->kept, entity,
                       late->whole_ns != 0 ? late->whole_ns : stamp_ns);
    if (late->overdue && late->kept.states[entity] > 0)
        vitals_builder_state(builder, entity, VITALS_STALE);
}
