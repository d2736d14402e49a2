/* space.c: see space.h. */
#include "host/space.h"

static const struct {
    vitals_metric part, sum;
} SUMS[] = {
    {VITALS_FILESYSTEM_TOTAL_BYTES, VITALS_HOST_DISK_SPACE_TOTAL_BYTES},
    {VITALS_FILESYSTEM_USED_BYTES, VITALS_HOST_DISK_SPACE_USED_BYTES},
    {VITALS_FILESYSTEM_AVAILABLE_BYTES, VITALS_HOST_DISK_SPACE_AVAILABLE_BYTES},
};

void space_want(struct metric_set *wanted)
{
    metric_set_add(wanted, VITALS_FILESYSTEM_COUNTED);
    for (size_t i = 0; i < ARRAY_COUNT(SUMS); i++)
        metric_set_add(wanted, SUMS[i].part);
}

static bool is_counted(const struct facts *facts, const struct fact_row *row)
{
    const struct fact *fact = fact_find(facts, row, VITALS_FILESYSTEM_COUNTED);
    return row->entity == VITALS_FILESYSTEM && fact != NULL && fact->state > 0 && fact->as.u64 != 0;
}

/* The sum of a metric; missing where there is nothing to sum up. */
static struct value sum_of(const struct facts *facts, vitals_metric metric)
{
    struct value sum = value_u64(0);
    bool any = false, all = true;
    for (size_t i = 0; i < facts->row_count; i++) {
        const struct fact_row *row = &facts->rows[i];
        if (!is_counted(facts, row))
            continue;
        const struct fact *fact = fact_find(facts, row, metric);
        bool known = fact != NULL && fact->state > 0;
        any |= known;
        all &= known && fact->state == VITALS_HAVE;
        if (known)
            sum.as.u64 = saturating_add(sum.as.u64, fact->as.u64);
    }
    sum.state = all && facts->states[VITALS_FILESYSTEM] == VITALS_HAVE ? VITALS_HAVE
                                                                       : VITALS_LOWER_BOUND;
    return any ? sum : value_missing(VITALS_UNSUPPORTED);
}

void space_sum(struct facts *facts, uint64_t host_key)
{
    struct value sums[ARRAY_COUNT(SUMS)];
    for (size_t i = 0; i < ARRAY_COUNT(SUMS); i++)
        sums[i] = sum_of(facts, SUMS[i].part);
    if (facts_row(facts, VITALS_HOST, host_key, (struct span){"host", 4}) == NULL)
        return;
    for (size_t i = 0; i < ARRAY_COUNT(SUMS); i++)
        fact_value(facts, SUMS[i].sum, sums[i]);
}
