/* metric_selection.c: see metric_selection.h. */
#include "export/metric_selection.h"

#include "export/prometheus/families.h"
#include "export/prometheus/nvitop.h"

/* Returns whether a metric is of use at this level, by its table. */
static bool is_wanted(vitals_metric metric, enum selection_level level)
{
    vitals_entity entity = vitals_metric_entity(metric);
    if (entity == VITALS_WORKLOAD || entity == VITALS_GPU_PROCESS || entity == VITALS_PROCESS)
        return level >= SELECT_WORKLOADS;
    return true;
}

static int add(vitals_request *request, vitals_metric metric, enum selection_level level,
               vitals_error *error)
{
    return is_wanted(metric, level) ? vitals_request_add(request, metric, error) : 0;
}

static int add_family(vitals_request *request, const struct metric_family *family,
                      enum selection_level level, vitals_error *error)
{
    int code = 0;
    enum family_level of = family_level(family);
    if ((of == FAMILY_OF_PROCESSES && level < SELECT_PROCESSES) ||
        (of == FAMILY_OF_WORKLOADS && level < SELECT_WORKLOADS))
        return 0;
    for (size_t i = 0; i < FAMILY_PARTS && family->parts[i].metric != 0 && code == 0; i++)
        code = add(request, family->parts[i].metric, level, error);
    return code;
}

static int add_nvitop(vitals_request *request, enum selection_level level, vitals_error *error)
{
    int code = 0;
    for (size_t i = 0; nvitop_identities[i] != 0 && code == 0; i++)
        code = add(request, nvitop_identities[i], level, error);
    for (size_t i = 0; i < nvitop_families_count; i++) {
        const struct nvitop_family *family = &nvitop_families[i];
        for (size_t p = 0; p < NVITOP_READS && family->reads[p] != 0 && code == 0; p++)
            code = add(request, family->reads[p], level, error);
    }
    return code;
}

int metric_selection_add(vitals_request *request, enum selection_level level, bool nvitop,
                         vitals_error *error)
{
    int code = 0;
    for (size_t i = 0; families_identities[i] != 0 && code == 0; i++)
        code = add(request, families_identities[i], level, error);
    for (size_t i = 0; i < families_count && code == 0; i++)
        code = add_family(request, &families[i], level, error);
    return code == 0 && nvitop ? add_nvitop(request, level, error) : code;
}
