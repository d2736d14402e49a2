/* usage_cell.c: one measure of one subject over time; see usage_data.h. Pure.
 *
 * A mean is over time, not over samples: between two readings a gauge is taken to have gone
 * straight from one to the other. Where one of the two is missing that time does not count: a
 * missing value is never 0. */
#include "run/usage/usage_data.h"

#include "util/memory.h"

#include <stdio.h>

static void note_value(struct usage_cell *cell, double value, vitals_availability state)
{
    if (cell->readings == 0 || value < cell->least)
        cell->least = value;
    if (cell->readings == 0 || value > cell->most)
        cell->most = value;
    cell->readings++;
    cell->worst = (signed char)state_worse((vitals_availability)cell->worst, state);
    cell->value = value;
    cell->state = (signed char)state;
}

void usage_cell_repeat(struct usage_cell *cell)
{
    if (cell->state > 0)
        cell->state = VITALS_STALE;
}

void usage_cell_gauge(struct usage_cell *cell, uint64_t read_ns, double value,
                      vitals_availability state)
{
    if (state <= 0) {
        usage_cell_missing(cell, state);
        return;
    }
    if (cell->read_ns != 0 && read_ns <= cell->read_ns) {
        usage_cell_repeat(cell);
        return;
    }
    if (cell->read_ns != 0) {
        double seconds = (double)(read_ns - cell->read_ns) / (double)NS_PER_SECOND;
        cell->integral += (cell->value + value) / 2 * seconds;
        cell->seconds += seconds;
    }
    note_value(cell, value, state);
    cell->read_ns = read_ns;
}

void usage_cell_mean(struct usage_cell *cell, double value, double seconds,
                     vitals_availability state)
{
    if (state <= 0) {
        usage_cell_missing(cell, state);
        return;
    }
    cell->integral += value * seconds;
    cell->seconds += seconds;
    note_value(cell, value, state);
}

void usage_cell_counter(struct usage_cell *cell, uint64_t read_ns, double total,
                        vitals_availability state)
{
    if (state <= 0) {
        usage_cell_missing(cell, state);
        return;
    }
    if (cell->readings > 0 && total < cell->value)
        total = cell->value;
    if (cell->read_ns != 0 && read_ns <= cell->read_ns && total <= cell->value) {
        usage_cell_repeat(cell);
        return;
    }
    if (cell->read_ns != 0 && read_ns > cell->read_ns)
        cell->seconds += (double)(read_ns - cell->read_ns) / (double)NS_PER_SECOND;
    note_value(cell, total, state);
    cell->read_ns = read_ns;
}

double usage_cell_interval(const struct usage_cell *cell)
{
    bool mean = cell->readings == 1; /* of what is read at a moment one has no time */
    if (cell->readings == 0 || cell->seconds <= 0)
        return 0;
    return cell->seconds / (double)(mean ? 1 : cell->readings - 1);
}

void usage_cell_missing(struct usage_cell *cell, vitals_availability reason)
{
    cell->state = cell->reason = (signed char)reason;
    cell->read_ns = 0;
}

double usage_cell_average(const struct usage_cell *cell, double held_seconds)
{
    double seconds = cell->seconds + held_seconds;
    if (seconds <= 0)
        return cell->value;
    double mean = (cell->integral + cell->value * held_seconds) / seconds;
    if (mean < cell->least)
        return cell->least;
    return mean > cell->most ? cell->most : mean;
}

void sum_add(struct usage_sum *sum, vitals_availability state, double value)
{
    if (state <= 0) {
        sum->missing++;
        sum->reason = state;
        return;
    }
    sum->total += value;
    sum->state = state_worse(sum->state, state);
    sum->known++;
}

vitals_availability sum_state(const struct usage_sum *sum, vitals_availability empty)
{
    if (sum->known == 0)
        return sum->missing == 0 ? empty : sum->reason;
    if (sum->missing == 0)
        return sum->state;
    return state_worse(sum->state, VITALS_LOWER_BOUND);
}

void usage_set_gauge(vitals_usage *usage, uint64_t read_ns, enum measure_place place, size_t scope,
                     const struct usage_sum *sum)
{
    usage_cell_gauge(usage_cell(usage, scope, place), read_ns, sum->total,
                     sum_state(sum, VITALS_GONE));
}

void usage_add_reading(struct usage_sum *sums, bool root, vitals_availability state, double value)
{
    if (state == VITALS_GONE)
        return;
    sum_add(&sums[SUBJECT_TREE], state, value);
    sum_add(&sums[root ? SUBJECT_ROOT : SUBJECT_DESCENDANTS], state, value);
}

void *usage_index_find(const struct usage_index *index, uint64_t key)
{
    const uintptr_t *found = hash_find(&index->of, key);
    return found != NULL ? (void *)*found : NULL;
}

void *usage_index_add(struct usage_index *index, uint64_t key, size_t size)
{
    void *item = memory_alloc(size);
    if (item == NULL || MEMORY_GROW(index->items, index->capacity, index->count) < 0 ||
        hash_set(&index->of, key, (uintptr_t)item) < 0) {
        memory_free(item);
        return NULL;
    }
    return index->items[index->count++] = item;
}

void usage_index_done(struct usage_index *index)
{
    for (size_t i = 0; i < index->count; i++)
        memory_free(index->items[i]);
    memory_free(index->items);
    hash_done(&index->of);
}

struct usage_subject *usage_subject_add(vitals_usage *usage, vitals_scope scope, const char *text,
                                        const char *label)
{
    struct usage_subject *subject = memory_alloc(sizeof(*subject));
    if (subject == NULL ||
        MEMORY_GROW(usage->subjects, usage->subject_capacity, usage->subject_count) < 0) {
        memory_free(subject);
        usage->failed = true;
        return NULL;
    }
    subject->scope = scope;
    (void)snprintf(subject->text, sizeof(subject->text), "%s", text);
    (void)snprintf(subject->label, sizeof(subject->label), "%s", label);
    usage->subjects[usage->subject_count++] = subject;
    return subject;
}
