/* table.c: see <vitals/table.h>: tables of the machine, read in the caller's thread. Thread rule:
 * the caller's. */
#include <vitals/table.h>

#include "model/row_batch.h"
#include "os/world.h"
#include "util/error.h"

#include <errno.h>

/* Made of the rows of other tables. */
static bool is_sum(vitals_metric metric)
{
    return metric == VITALS_HOST_DISK_SPACE_TOTAL_BYTES ||
           metric == VITALS_HOST_DISK_SPACE_USED_BYTES ||
           metric == VITALS_HOST_DISK_SPACE_AVAILABLE_BYTES ||
           metric == VITALS_HOST_PACKAGE_ENERGY_JOULES || metric == VITALS_HOST_DRAM_ENERGY_JOULES;
}

/* Whether a worker reads all of them for a sampler, of a table of which a tick reads the rest. */
static bool are_beside_ticks(const vitals_metric *metrics, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_sum(metrics[i]) ||
            (vitals_metric_price(metrics[i]) != VITALS_PRICE_WORKER &&
             metrics[i] != VITALS_NETWORK_NAME && metrics[i] != VITALS_DISK_NAME))
            return false;
    return true;
}

static int fail_state(vitals_table entity, int state, vitals_error *error)
{
    if (state == VITALS_GONE || state == VITALS_UNSUPPORTED)
        return error_set(error, VITALS_EUNSUPPORTED, ENOTSUP, "there is no table %s here",
                         vitals_table_name(entity));
    return error_set(error, state == VITALS_DENIED ? VITALS_EDENIED : VITALS_ESYSTEM, 0,
                     "the table %s cannot be read", vitals_table_name(entity));
}

int vitals_table_read(vitals_context *context, const vitals_metric *metrics, size_t count,
                      vitals_row_fn *row, void *data, vitals_error *error)
{
    struct row_batch batch = {0};
    vitals_table entity = batch_want(&batch, metrics, count);
    bool ticked = entity == VITALS_TABLE_HOST || entity == VITALS_TABLE_CPU ||
                  entity == VITALS_TABLE_DISK || entity == VITALS_TABLE_NETWORK;
    if (entity == 0 || entity == VITALS_TABLE_PROCESS || entity_is_of_handle(entity) ||
        entity == VITALS_TABLE_DIAGNOSIS || (ticked && !are_beside_ticks(metrics, count)))
        return error_set(error, VITALS_EARGUMENT, 0,
                         "%zu metrics, of which one is of another table or not read directly",
                         count);

    int code = 0, result = 0;
    if (ticked)
        os_read_machine(&context->os, &batch);
    else
        result = os_read_table(&context->os, entity, &batch);
    if (batch.failed || result == -ENOMEM)
        code = error_no_memory(error);
    else if (batch.states[entity] < 0)
        code = fail_state(entity, batch.states[entity], error);
    else if (result == -ENOTSUP || result == -ENOENT)
        code = fail_state(entity, VITALS_UNSUPPORTED, error);
    else if (result < 0)
        code = error_system(error, -result, "the table %s", vitals_table_name(entity));
    else
        code = batch_hand_over(&batch, metrics, count, row, data);
    batch_done(&batch);
    return code;
}
