/* family_writers.h: writes the samples of a family. */
#ifndef VITALS_EXPORT_PROMETHEUS_FAMILY_WRITERS_H
#define VITALS_EXPORT_PROMETHEUS_FAMILY_WRITERS_H

#include "export/prometheus/exposition_page.h"
#include "export/prometheus/exposition_sums.h"

/* The data that a family is written from. */
struct family_sources {
    const struct exposition_self *self;
    const struct exposition_sums *sums;
};

/* Writes the samples of a family; nothing if no row has its values. */
void exposition_write_family(struct exposition_page *page, const struct metric_family *family,
                             const struct family_sources *from);

#endif
