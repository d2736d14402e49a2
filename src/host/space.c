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

static bool is_counted(const struct row_batch *batch, const struct batch_row *row)
{
    const struct batch_cell *cell = batch_find(batch, row, VITALS_FILESYSTEM_COUNTED);
    return row->entity == VITALS_FILESYSTEM && cell != NULL && cell->state > 0 && cell->as.u64 != 0;
}

/* The sum of a metric; missing where there is nothing to sum up. */
static struct value sum_of(const struct row_batch *batch, vitals_metric metric)
{
    struct value sum = value_u64(0);
    bool any = false, all = true;
    for (size_t i = 0; i < batch->row_count; i++) {
        const struct batch_row *row = &batch->rows[i];
        if (!is_counted(batch, row))
            continue;
        const struct batch_cell *cell = batch_find(batch, row, metric);
        bool known = cell != NULL && cell->state > 0;
        any |= known;
        all &= known && cell->state == VITALS_HAVE;
        if (known)
            sum.as.u64 = saturating_add(sum.as.u64, cell->as.u64);
    }
    sum.state = all && batch->states[VITALS_FILESYSTEM] == VITALS_HAVE ? VITALS_HAVE
                                                                       : VITALS_LOWER_BOUND;
    return any ? sum : value_missing(VITALS_UNSUPPORTED);
}

void space_sum(struct row_batch *batch, uint64_t host_key)
{
    struct value sums[ARRAY_COUNT(SUMS)];
    for (size_t i = 0; i < ARRAY_COUNT(SUMS); i++)
        sums[i] = sum_of(batch, SUMS[i].part);
    if (batch_add_row(batch, VITALS_HOST, host_key, (struct span){"host", 4}) == NULL)
        return;
    for (size_t i = 0; i < ARRAY_COUNT(SUMS); i++)
        batch_set_value(batch, SUMS[i].sum, sums[i]);
}
