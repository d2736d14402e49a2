/* otlp_describe.h: what a row is, in OpenTelemetry's attributes: which device, process, workload.
 *
 * Every text is somebody else's, and made safe. Pure. */
#ifndef VITALS_EXPORT_OTLP_OTLP_DESCRIBE_H
#define VITALS_EXPORT_OTLP_OTLP_DESCRIBE_H

#include "export/otlp/otlp_snapshot.h"
#include "export/otlp/otlp_table.h"

/* All that a point of this source and row has. */
void otlp_describe(struct otlp_attributes *attributes, const vitals_row *row,
                   const struct otlp_source *source, const struct otlp_look *look);

/* The id of a device: its UUID, or its place where it has none. False: it has neither. */
bool otlp_describe_device(struct otlp_attributes *attributes, const char *key,
                          const vitals_row *gpu);

/* The workload that a text of the row names; `row` may be NULL. A user's name is in the id of what
 * is nobody's job; without names it is a hash there. What is too long for an attribute is cut, with
 * a hash of all of it, so that two stay two. */
void otlp_describe_workload(struct otlp_attributes *attributes, const vitals_row *row,
                            vitals_metric metric, const struct otlp_look *look);

/* What the first process of a run works for: its workload, and what is known of that; nothing where
 * no row says it. */
void otlp_describe_job(struct otlp_attributes *attributes, const vitals_row *process,
                       const struct otlp_look *look);

#endif
