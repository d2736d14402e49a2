/* item.c: the lines of the list, and the processes that they are about. See model.h. */
#include "monitor/model.h"

#include <string.h>

#include "monitor/list/group.h"
#include "view/cell_text.h"

bool identity_equal(const struct identity *a, const struct identity *b)
{
    bool starts = a->start < 0 || b->start < 0 ||
                  (a->start - b->start < 0.001 && b->start - a->start < 0.001);
    return a->pid == b->pid && starts && a->gpu == b->gpu && a->group == b->group;
}

struct identity identity_of(const vitals_row *process)
{
    struct identity identity = {.start = -1};
    uint64_t pid;
    double start;
    if (process != NULL && vitals_row_u64(process, VITALS_PROCESS_PID, &pid) > 0)
        identity.pid = pid;
    if (process != NULL && vitals_row_f64(process, VITALS_PROCESS_START_SECONDS, &start) > 0)
        identity.start = start;
    return identity;
}

struct identity item_identity(const struct item *item)
{
    struct identity identity = identity_of(item->process);
    uint64_t pid;
    if (item->process == NULL && item->user != NULL &&
        vitals_row_u64(item->user, VITALS_GPU_PROCESS_PID, &pid) > 0)
        identity.pid = pid;
    identity.gpu = item->user != NULL ? vitals_row_parent(item->user) : 0;
    identity.group = item->head ? item->group->id : 0;
    return identity;
}

bool identity_same_process(struct identity a, struct identity b)
{
    a.gpu = b.gpu = 0;
    return identity_equal(&a, &b);
}

/* The rate of a row of either list, by the readings that it is from. */
bool item_rate(const struct model *model, const vitals_row *process, vitals_metric metric,
               double *out)
{
    if (process == NULL)
        return false;
    const struct readings *readings = vitals_row_snapshot(process) == model->all.now
                                          ? &model->all
                                          : &model->machine;
    return vitals_row_rate(process, readings->older, metric, out) > 0;
}

bool item_cpu(const struct model *model, const vitals_row *process, double *cores)
{
    return item_rate(model, process, VITALS_PROCESS_CPU_SECONDS, cores);
}

bool item_is_other(const struct model *model, const struct item *item)
{
    vitals_text user;
    const char *own = model->options->user;
    if (own == NULL || model->options->root || item->head)
        return false;
    if (item->process == NULL || vitals_row_text(item->process, VITALS_PROCESS_USER, &user) <= 0)
        return true;
    return strlen(own) != user.size || memcmp(own, user.bytes, user.size) != 0;
}

const vitals_row *item_process_of(const vitals_snapshot *snapshot, const vitals_row *user)
{
    uint64_t key;
    if (vitals_row_u64(user, VITALS_GPU_PROCESS_PROCESS, &key) <= 0)
        return NULL;
    return vitals_snapshot_find(snapshot, VITALS_TABLE_PROCESS, key);
}

const vitals_row *model_process(const struct model *model, const struct identity *identity)
{
    const vitals_snapshot *places[] = {model->all.now, model->machine.now};
    for (size_t i = 0; i < 2; i++) {
        for (const vitals_row *row = NULL;
             places[i] != NULL &&
             (row = vitals_snapshot_next(places[i], VITALS_TABLE_PROCESS, row)) != NULL;) {
            struct identity own = identity_of(row);
            own.gpu = identity->gpu;
            if (own.pid != 0 && identity_equal(&own, identity))
                return row;
        }
    }
    return NULL;
}

const vitals_row *model_user_of(const struct model *model, const struct identity *identity,
                                const vitals_row *previous)
{
    const vitals_snapshot *now = model->machine.now;
    for (const vitals_row *user = previous;
         now != NULL &&
         (user = vitals_snapshot_next(now, VITALS_TABLE_GPU_PROCESS, user)) != NULL;) {
        struct item item = {.process = item_process_of(now, user), .user = user};
        if (identity_same_process(item_identity(&item), *identity))
            return user;
    }
    return NULL;
}

uint64_t item_devices(const struct item *item)
{
    return item->head ? item->group->devices : item->use.devices;
}

bool model_devices_total(const struct model *model, uint64_t devices, double *out)
{
    double sum = 0, total;
    uint64_t bit = 1;
    for (const vitals_row *gpu = NULL;
         (gpu = row_next(model->machine.now, VITALS_TABLE_GPU, gpu)) != NULL; bit <<= 1) {
        if (!(devices & bit))
            continue;
        if (!cell_value(gpu, VITALS_GPU_MEMORY_TOTAL_BYTES, &total))
            return false;
        sum += total;
    }
    *out = sum;
    return sum > 0;
}

const vitals_row *item_row(const struct item *item)
{
    return item->details != NULL ? item->details : item->process;
}
