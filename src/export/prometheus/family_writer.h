/* family_writer.h: functions that write the samples of a family, and what several of them label.
 *
 * A new one is a function here, in the file of its rows, and an entry in family_writers.c. */
#ifndef VITALS_EXPORT_PROMETHEUS_FAMILY_WRITER_H
#define VITALS_EXPORT_PROMETHEUS_FAMILY_WRITER_H

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

typedef void write_family(struct exposition_page *page, const struct metric_family *family,
                          const struct family_sources *from);

/* Write a label with a text of the row, if it has it, and one with a number. */
void family_label_text(struct exposition_page *page, const char *name, const vitals_row *row,
                       vitals_metric metric);
void family_label_number(struct exposition_page *page, const char *name, double number);

bool family_is_partition(const struct exposition_row *row);

/* exposition_devices.c */
write_family family_write_gpu_info, family_write_gpu_processes, family_write_links,
    family_write_xid, family_write_partition_info, family_write_partition;

/* exposition_workloads.c */
write_family family_write_process_info, family_write_process_start, family_write_workload_info,
    family_write_workload_gpu, family_write_workload_busy, family_write_gpu_jobs;

#endif
