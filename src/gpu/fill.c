/* fill.c: see fill.h. */
#include "gpu/fill.h"

#include <stdio.h>
#include <string.h>

static bool is_reading(vitals_metric metric)
{
    return vitals_metric_entity(metric) == VITALS_GPU && metric != VITALS_GPU_PROCESSES &&
           vitals_metric_kind(metric) != VITALS_IDENTITY;
}

void gpu_fill_rest(struct gpu_sample *sample, const struct metric_set *wanted,
                   vitals_availability reason)
{
    for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;) {
        if (!is_reading(m) || !metric_set_has(wanted, m))
            continue;
        signed char *state = m == VITALS_GPU_COMPUTE_MODE
                                 ? &sample->compute_mode_state
                                 : &sample->values.at[metric_number(m)].state;
        if (*state == VITALS_UNSET)
            *state = (signed char)reason;
    }
}

struct gpu_child *gpu_fill_child(struct gpu_sample *sample, vitals_entity entity, const char *label)
{
    for (uint32_t i = 0; i < sample->child_count; i++) {
        struct gpu_child *child = &sample->children[i];
        if (child->entity == entity && strcmp(child->label, label) == 0)
            return child;
    }
    if (sample->child_count == GPU_CHILDREN_MAX)
        return NULL;
    struct gpu_child *child = &sample->children[sample->child_count++];
    *child = (struct gpu_child){.entity = entity};
    snprintf(child->label, sizeof child->label, "%s", label);
    return child;
}

struct value gpu_fill_percent(uint64_t percent, uint64_t most)
{
    return percent <= most ? value_f64((double)percent / 100.0) : value_missing(VITALS_FAILED);
}
