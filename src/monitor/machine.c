/* machine.c: the values of the machine and its devices in the newest readings of a model. */
#include "monitor/model.h"
#include "view/device_panel.h"
#include "view/host_bars.h"

const vitals_row *model_host(const struct model *model)
{
    return model->machine.now != NULL ? vitals_snapshot_next(model->machine.now, VITALS_HOST, NULL)
                                      : NULL;
}

size_t model_device_count(const struct model *model)
{
    size_t count = 0;
    if (model->machine.now == NULL)
        return 0;
    for (const vitals_row *gpu = NULL;
         (gpu = vitals_snapshot_next(model->machine.now, VITALS_GPU, gpu)) != NULL;)
        count += vitals_row_parent(gpu) == 0 && model_shows_device(model, gpu);
    return count;
}

struct selection model_selection(const struct model *model)
{
    struct selection selection = model->options->selection;
    if (selection.only_visible) {
        selection.devices = model->visible;
        selection.device_count = model->visible_count;
    }
    return selection;
}

bool model_shows_device(const struct model *model, const vitals_row *gpu)
{
    const struct selection selection = model_selection(model);
    return selection_has_device(&selection, gpu);
}

const vitals_row *model_next_device(const struct model *model, const vitals_row *previous)
{
    if (model->machine.now == NULL)
        return NULL;
    do {
        previous = vitals_snapshot_next(model->machine.now, VITALS_GPU, previous);
    } while (previous != NULL && !model_shows_device(model, previous));
    return previous;
}

bool model_idle(const struct model *model, const vitals_row *row, double *seconds)
{
    static const uint64_t USUAL_NS = 900000000000u; /* 15 min */
    uint64_t after_ns = model->options->held_after_ns;
    if (row == NULL || model->machine.now == NULL)
        return false;
    uint64_t now_ns = vitals_snapshot_monotonic_ns(model->machine.now);
    bool found = vitals_row_entity(row) == VITALS_GPU
                     ? idle_gpus_device(&model->idle, vitals_row_key(row), now_ns, seconds)
                     : idle_gpus_user(&model->idle, vitals_row_key(row), now_ns, seconds);
    return found && *seconds >= (double)(after_ns > 0 ? after_ns : USUAL_NS) / 1e9;
}

bool model_is_demo(const struct model *model)
{
    return model->machine.now != NULL && device_panel_is_demo(model->machine.now);
}

bool model_cpu_ratio(const struct model *model, double *out)
{
    return host_cpu_ratio(model->machine.now, model->machine.previous, out) ||
           host_cpu_ratio(model->machine.now, model->machine.older, out);
}

bool model_rate(const struct model *model, const vitals_row *row, vitals_metric metric, double *out)
{
    return row != NULL && (vitals_row_rate(row, model->machine.previous, metric, out) > 0 ||
                           vitals_row_rate(row, model->machine.older, metric, out) > 0);
}
