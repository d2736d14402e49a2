/* metric_selection.c: see metric_selection.h. */
#include "export/metric_selection.h"

#include "export/prometheus/families.h"
#include "export/prometheus/nvitop.h"

static int add(vitals_request *request, vitals_metric metric, enum selection_level level,
               vitals_error *error)
{
    vitals_entity entity = vitals_metric_entity(metric);
    bool of_processes = entity == VITALS_WORKLOAD || entity == VITALS_GPU_PROCESS ||
                        entity == VITALS_PROCESS;
    if (of_processes && level < SELECT_WORKLOADS)
        return 0;
    return vitals_request_add(request, metric, error);
}

int metric_selection_add(vitals_request *request, enum selection_level level, bool nvitop,
                         vitals_error *error)
{
    int code = 0;
    for (size_t i = 0; families_identities[i] != 0 && code == 0; i++)
        code = add(request, families_identities[i], level, error);
    for (size_t i = 0; i < families_count && code == 0; i++) {
        const struct metric_family *family = &families[i];
        enum family_level of = family_level(family);
        if ((of == FAMILY_OF_PROCESSES && level < SELECT_PROCESSES) ||
            (of == FAMILY_OF_WORKLOADS && level < SELECT_WORKLOADS))
            continue;
        for (size_t p = 0; p < FAMILY_PARTS && family->parts[p].metric != 0 && code == 0; p++)
            code = add(request, family->parts[p].metric, level, error);
    }

    for (size_t i = 0; nvitop && nvitop_identities[i] != 0 && code == 0; i++)
        code = add(request, nvitop_identities[i], level, error);
    for (size_t i = 0; nvitop && i < nvitop_families_count; i++) {
        const struct nvitop_family *family = &nvitop_families[i];
        for (size_t p = 0; p < NVITOP_READS && family->reads[p] != 0 && code == 0; p++)
            code = add(request, family->reads[p], level, error);
    }
    return code;
}
