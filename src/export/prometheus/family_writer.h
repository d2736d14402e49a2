/* family_writer.h: one way to make the samples of a family, and what several ways label.
 *
 * A new way is a function here, in the file of what it tells of, and a row in family_writers.c. */
#ifndef VITALS_EXPORT_PROMETHEUS_FAMILY_WRITER_H
#define VITALS_EXPORT_PROMETHEUS_FAMILY_WRITER_H

#include "export/prometheus/family_writers.h"

typedef void write_family(struct page *page, const struct family *family,
                          const struct ways_from *from);

/* A label where the row has that text, and one of a number. */
void way_label_text(struct page *page, const char *name, const vitals_row *row,
                    vitals_metric metric);
void way_label_number(struct page *page, const char *name, double number);

bool way_is_partition(const struct page_row *row);

/* exposition_devices.c */
write_family way_gpu_info, way_gpu_processes, way_links, way_xid, way_partition_info, way_partition;

/* exposition_workloads.c */
write_family way_process_info, way_process_start, way_workload_info, way_workload_gpu,
    way_workload_busy, way_gpu_jobs;

#endif
