/* energy.c: counters of energy that begin anew, and the sums over them.
 *
 * A zone's counter runs to its range and then from 0: what it counted before is added, as long as
 * it is read more often than it goes round (262 kJ at 200 W: some twenty minutes; 65 kJ at 400 W:
 * less than three). One that begins anew for another reason, its driver being loaded again, leaves
 * a lower bound; where it was not read for so long that both can have been, it counts as a round,
 * and is an estimate from then on. Thread rule: one thread at a time. */
#include "host/host.h"

#include "util/memory.h"

struct energy_zone {
    uint64_t key;
    double before, last; /* joules */
    uint64_t read_ns;
    vitals_availability state; /* of the sum of both */
};

/* No zone uses more. */
enum { WATTS_MAX = 2000 };

/* Zones by what their name begins with. */
static const struct {
    vitals_metric sum;
    const char *prefix;
} SUMS[] = {
    {VITALS_HOST_PACKAGE_ENERGY_JOULES, "package"},
    {VITALS_HOST_DRAM_ENERGY_JOULES, "dram"},
};

void energy_want(struct metric_set *wanted)
{
    for (size_t i = 0; i < ARRAY_COUNT(SUMS); i++)
        if (metric_set_has(wanted, SUMS[i].sum))
            metric_set_add(wanted, VITALS_ENERGY_ZONE_ENERGY_JOULES);
    if (!metric_set_has_entity(wanted, VITALS_TABLE_ENERGY_ZONE))
        return;
    metric_set_add_identities(wanted, VITALS_TABLE_ENERGY_ZONE);
    if (metric_set_has(wanted, VITALS_ENERGY_ZONE_ENERGY_JOULES))
        metric_set_add(wanted, VITALS_ENERGY_ZONE_RANGE_JOULES);
}

static struct batch_cell *number_of(struct row_batch *batch, const struct batch_row *row,
                                    vitals_metric metric)
{
    const struct batch_cell *cell = batch_find(batch, row, metric);
    return cell != NULL && cell->state > 0 ? &batch->items[cell - batch->items] : NULL;
}

static int take_zone(struct energy *energy, struct row_batch *batch, const struct batch_row *row,
                     uint64_t read_ns)
{
    struct batch_cell *joules = number_of(batch, row, VITALS_ENERGY_ZONE_ENERGY_JOULES);
    const struct batch_cell *range = number_of(batch, row, VITALS_ENERGY_ZONE_RANGE_JOULES);
    if (joules == NULL)
        return 0;
    struct energy_zone *zone = NULL;
    for (size_t i = 0; i < energy->count && zone == NULL; i++)
        if (energy->zones[i].key == row->key)
            zone = &energy->zones[i];
    if (zone == NULL) {
        if (MEMORY_GROW(energy->zones, energy->capacity, energy->count) != 0)
            return VITALS_EMEMORY;
        zone = &energy->zones[energy->count++];
        *zone = (struct energy_zone){
            .key = row->key, .last = joules->as.f64, .read_ns = read_ns, .state = VITALS_HAVE};
    }

    const double now = joules->as.f64;
    if (now < zone->last) {
        /* A smaller reading is a wraparound if its range and the time that has passed (and one
         * second, as a reading may be older than its time says) allow that much energy. Otherwise
         * the counter was reset, and what it counted before is lost. A range below an earlier
         * reading is not believed. */
        const double end = range != NULL ? range->as.f64 : 0;
        const uint64_t elapsed_ns = read_ns > zone->read_ns ? read_ns - zone->read_ns : 0;
        const double most = WATTS_MAX * ((double)elapsed_ns / (double)NS_PER_SECOND + 1);
        const bool round = end >= zone->last && end - zone->last + now <= most;
        zone->before += round ? end : zone->last;
        if (round && most > end / 2)
            zone->state = VITALS_ESTIMATE; /* either can have been */
        else if (!round && zone->state == VITALS_HAVE)
            zone->state = VITALS_LOWER_BOUND;
    }
    zone->last = now;
    zone->read_ns = read_ns;
    joules->as.f64 += zone->before;
    joules->state = (signed char)zone->state;
    return 0;
}

/* The sum over all zones of the kind, as good as the worst of them; a lower bound if one is not
 * known. */
static struct value sum_of(const struct row_batch *batch, const char *prefix)
{
    struct value sum = {.as.f64 = 0, .state = VITALS_UNSET};
    vitals_availability missing = VITALS_UNSET;
    for (size_t i = 0; i < batch->row_count; i++) {
        const struct batch_row *row = &batch->rows[i];
        const struct batch_cell *name = batch_find(batch, row, VITALS_ENERGY_ZONE_NAME);
        if (row->entity != VITALS_TABLE_ENERGY_ZONE || name == NULL || name->state <= 0 ||
            !span_starts(batch_span(batch, name), prefix))
            continue;
        const struct batch_cell *joules = batch_find(batch, row, VITALS_ENERGY_ZONE_ENERGY_JOULES);
        if (joules == NULL || joules->state <= 0) {
            missing = joules != NULL ? (vitals_availability)joules->state : VITALS_UNSUPPORTED;
            continue;
        }
        sum.as.f64 += joules->as.f64;
        if (sum.state <= VITALS_HAVE || joules->state == VITALS_ESTIMATE)
            sum.state = joules->state;
    }
    if (sum.state == VITALS_HAVE && missing != VITALS_UNSET)
        sum.state = VITALS_LOWER_BOUND;
    if (sum.state > 0)
        return sum;
    bool denied = batch->states[VITALS_TABLE_ENERGY_ZONE] == VITALS_DENIED;
    return value_missing(missing != VITALS_UNSET ? missing
                         : denied                ? VITALS_DENIED
                                                 : VITALS_UNSUPPORTED);
}

int energy_take(struct energy *energy, struct row_batch *batch, uint64_t read_ns)
{
    int code = 0;
    for (size_t i = 0; i < batch->row_count && code == 0; i++)
        if (batch->rows[i].entity == VITALS_TABLE_ENERGY_ZONE)
            code = take_zone(energy, batch, &batch->rows[i], read_ns);
    for (size_t i = 0; i < batch->row_count && code == 0; i++) {
        for (size_t j = 0; j < ARRAY_COUNT(SUMS) && batch->rows[i].entity == VITALS_TABLE_HOST;
             j++) {
            const struct batch_cell *cell = batch_find(batch, &batch->rows[i], SUMS[j].sum);
            if (cell == NULL)
                continue;
            struct value sum = sum_of(batch, SUMS[j].prefix);
            struct batch_cell *place = &batch->items[cell - batch->items];
            place->as.f64 = sum.as.f64;
            place->state = sum.state;
        }
    }
    return code;
}

void energy_done(struct energy *energy)
{
    memory_free(energy->zones);
    *energy = (struct energy){0};
}
