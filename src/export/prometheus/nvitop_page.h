/* nvitop_page.h: writes the families of nvitop-exporter. One thread at a time. */
#ifndef VITALS_EXPORT_PROMETHEUS_NVITOP_PAGE_H
#define VITALS_EXPORT_PROMETHEUS_NVITOP_PAGE_H

#include "export/prometheus/exposition_page.h"

/* The two newest snapshots, for rates between them. All zeros for none. */
struct nvitop_past {
    const vitals_snapshot *newest, *older;
};

void nvitop_past_add(struct nvitop_past *past, const vitals_snapshot *snapshot);
void nvitop_past_done(struct nvitop_past *past);

void nvitop_write(struct exposition_page *page, const struct nvitop_past *past);

#endif
