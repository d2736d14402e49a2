/* row_batch.c: see row_batch.h. */
#include "model/row_batch.h"

#include "util/memory.h"

#include <string.h>

_Static_assert(sizeof(struct fact) == 16, "a table may have millions");

void facts_reset(struct facts *facts, const struct metric_set *wanted)
{
    facts->wanted = *wanted;
    facts->count = facts->row_count = 0;
    facts->failed = false;
    memset(facts->states, VITALS_HAVE, sizeof facts->states);
    buffer_reset(&facts->text);
}

void facts_done(struct facts *facts)
{
    memory_free(facts->items);
    memory_free(facts->rows);
    buffer_done(&facts->text);
    *facts = (struct facts){0};
}

void facts_state(struct facts *facts, vitals_entity entity, vitals_availability state)
{
    facts->states[entity] = (signed char)state;
}

void facts_rewind(struct facts *facts, struct facts_mark mark)
{
    facts->count = mark.count;
    facts->row_count = mark.row_count;
    size_t kept = mark.text_size;
    if (kept > facts->text.size || facts->text.failed)
        return;
    facts->text.size = kept;
    if (facts->text.bytes != NULL)
        facts->text.bytes[kept] = '\0';
}

/* ---- text ---- */

static bool is_at(const struct facts *facts, size_t at, size_t size, struct span text)
{
    return size == text.size && text.size != 0 &&
           memcmp(facts->text.bytes + at, text.bytes, size) == 0;
}

/* Says where the text is, copied in where it is not there yet. *text is cut to what is kept. */
static size_t keep_text(struct facts *facts, struct span *text)
{
    size_t most = facts->text_max != 0 ? facts->text_max : FACTS_TEXT_MAX;
    size_t at = facts->text.size;
    text->size = size_min(text->size, most - size_min(at, most));
    buffer_append(&facts->text, text->bytes, text->size);
    facts->failed |= facts->text.failed;
    return at;
}

/* What has the same text already, as rows that follow each other often do: the newest row's label,
 * or the value of this metric in the row before, which stands at the same place or near it. */
static bool find_text(const struct facts *facts, vitals_metric metric, struct span text, size_t *at)
{
    const struct fact_row *row = &facts->rows[facts->row_count - 1];
    *at = row->label_at;
    if (is_at(facts, row->label_at, row->label_size, text))
        return true;
    if (facts->row_count < 2 || row[-1].entity != row->entity)
        return false;
    const struct fact *before = fact_find(facts, &row[-1], metric);
    if (before == NULL || before->state <= 0)
        return false;
    *at = before->as.text.at;
    return is_at(facts, before->as.text.at, before->as.text.size, text);
}

/* ---- rows ---- */

/* True where it is the label of the row before too. */
static bool find_label(const struct facts *facts, struct span label, size_t *at)
{
    if (facts->row_count == 0)
        return false;
    const struct fact_row *before = &facts->rows[facts->row_count - 1];
    *at = before->label_at;
    return is_at(facts, before->label_at, before->label_size, label);
}

/* Room for `more` behind `count`, and for a few that come with the next reading; false where there
 * is no memory. */
static bool reserve(void **items, size_t *capacity, size_t count, size_t more, size_t size)
{
    if (more <= *capacity - count)
        return true;
    if (more > SIZE_MAX / 2 - count)
        return false;
    size_t wanted = (count + more) + (count + more) / 8;
    void *grown = memory_resize(*items, wanted, size);
    if (grown == NULL)
        return false;
    *items = grown;
    *capacity = wanted;
    return true;
}

void facts_reserve(struct facts *facts, vitals_entity entity, size_t rows)
{
    size_t wanted = 0;
    for (size_t word = 0; word < ARRAY_COUNT(facts->wanted.bits[entity]); word++)
        wanted += (size_t)__builtin_popcountll(facts->wanted.bits[entity][word]);
    if (facts->failed || wanted == 0)
        return;
    void *kept_rows = facts->rows, *items = facts->items;
    facts->failed =
        rows > SIZE_MAX / wanted ||
        !reserve(&kept_rows, &facts->row_capacity, facts->row_count, rows, sizeof *facts->rows) ||
        !reserve(&items, &facts->capacity, facts->count, rows * wanted, sizeof *facts->items);
    facts->rows = kept_rows;
    facts->items = items;
}

void facts_reserve_like(struct facts *facts, const struct facts *like)
{
    void *rows = facts->rows, *items = facts->items;
    if (like->row_count > facts->row_capacity)
        reserve(&rows, &facts->row_capacity, 0, like->row_count, sizeof *facts->rows);
    if (like->count > facts->capacity)
        reserve(&items, &facts->capacity, 0, like->count, sizeof *facts->items);
    facts->rows = rows;
    facts->items = items;
    if (like->text.size > facts->text.size)
        buffer_reserve(&facts->text, like->text.size - facts->text.size);
    facts->text.failed = false;
}

struct fact_row *facts_row(struct facts *facts, vitals_entity entity, uint64_t key,
                           struct span label)
{
    void *rows = facts->rows;
    if (!facts->failed &&
        memory_grow(&rows, &facts->row_capacity, facts->row_count, sizeof *facts->rows) < 0)
        facts->failed = true;
    facts->rows = rows;
    label.size = size_min(label.size, FACTS_LABEL_MAX);
    size_t at = 0, whole = label.size;
    if (!facts->failed && !find_label(facts, label, &at))
        at = keep_text(facts, &label);
    if (facts->failed)
        return NULL;
    if (label.size < whole)
        facts_state(facts, entity, VITALS_LOWER_BOUND);
    struct fact_row *row = &facts->rows[facts->row_count++];
    *row = (struct fact_row){.entity = entity,
                             .key = key,
                             .label_at = at,
                             .label_size = label.size,
                             .first = facts->count};
    return row;
}

/* A place for a value of the newest row; NULL where it is not wanted or nothing can be kept. */
static struct fact *place(struct facts *facts, vitals_metric metric)
{
    if (facts->failed || facts->row_count == 0 || !facts_wants(facts, metric))
        return NULL;
    void *items = facts->items;
    if (memory_grow(&items, &facts->capacity, facts->count, sizeof *facts->items) < 0) {
        facts->failed = true;
        return NULL;
    }
    facts->items = items;
    facts->rows[facts->row_count - 1].count++;
    struct fact *fact = &facts->items[facts->count++];
    *fact = (struct fact){.metric = metric, .state = VITALS_HAVE};
    return fact;
}

void fact_value(struct facts *facts, vitals_metric metric, struct value value)
{
    struct fact *fact = value.state != VITALS_UNSET ? place(facts, metric) : NULL;
    if (fact == NULL)
        return;
    fact->as.u64 = value.as.u64; // the numbers share their bytes
    fact->state = value.state;
}

void fact_u64(struct facts *facts, vitals_metric metric, uint64_t number)
{
    fact_value(facts, metric, value_u64(number));
}

void fact_i64(struct facts *facts, vitals_metric metric, int64_t number)
{
    fact_value(facts, metric, value_i64(number));
}

void fact_f64(struct facts *facts, vitals_metric metric, double number)
{
    fact_value(facts, metric, value_f64(number));
}

void fact_text_as(struct facts *facts, vitals_metric metric, struct span text,
                  vitals_availability state)
{
    struct fact *fact = place(facts, metric);
    if (fact == NULL)
        return;
    size_t at, whole = text.size;
    if (!find_text(facts, metric, text, &at))
        at = keep_text(facts, &text);
    if (text.size < whole) {
        state = VITALS_LOWER_BOUND;
        facts_state(facts, facts->rows[facts->row_count - 1].entity, state);
    }
    fact->state = (signed char)state;
    fact->as.text.at = (uint32_t)at; // of at most FACTS_TEXT_MAX bytes
    fact->as.text.size = (uint32_t)text.size;
}

void fact_text(struct facts *facts, vitals_metric metric, struct span text)
{
    fact_text_as(facts, metric, text, VITALS_HAVE);
}

void fact_string(struct facts *facts, vitals_metric metric, const char *string)
{
    fact_text(facts, metric, (struct span){string, strlen(string)});
}

void fact_missing(struct facts *facts, vitals_metric metric, vitals_availability reason)
{
    fact_value(facts, metric, value_missing(reason));
}

const struct fact *fact_find(const struct facts *facts, const struct fact_row *row,
                             vitals_metric metric)
{
    for (size_t i = row->first; i < row->first + row->count; i++)
        if (facts->items[i].metric == metric)
            return &facts->items[i];
    return NULL;
}
