/* otlp_describe.h: describes rows by OpenTelemetry's attributes: the device, process, workload.
 *
 * Texts come from outside and are made safe. Pure. */
#ifndef VITALS_EXPORT_OTLP_OTLP_DESCRIBE_H
#define VITALS_EXPORT_OTLP_OTLP_DESCRIBE_H

#include "export/otlp/otlp_snapshot.h"
#include "export/otlp/otlp_table.h"

/* Adds all attributes of a point of this source and row. */
void otlp_describe(struct otlp_attributes *attributes, const vitals_row *row,
                   const struct otlp_source *source, const struct otlp_look *look);

/* Adds the id of a device: its UUID, or its index if it has none. Returns false if it has neither.
 */
bool otlp_describe_device(struct otlp_attributes *attributes, const char *key,
                          const vitals_row *gpu);

/* Adds the workload that a text of the row names; `row` may be NULL. The id of a workload without a
 * job contains the user's name, which is a hash if names are not exported. An id that is too long
 * is cut, with a hash of all of it, so that two ids stay different. */
void otlp_describe_workload(struct otlp_attributes *attributes, const vitals_row *row,
                            vitals_metric metric, const struct otlp_look *look);

/* Adds the workload of a run's first process, and what is known of it; nothing if no row states it.
 */
void otlp_describe_job(struct otlp_attributes *attributes, const vitals_row *process,
                       const struct otlp_look *look);

#endif
