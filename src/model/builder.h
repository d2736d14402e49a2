/* builder.h: what rooms inside the library use beside <vitals/sys/builder.h>. */
#pragma once

#include "model/row_batch.h"
#include "util/shared_text.h"
#include <vitals/sys/builder.h>

/* Opens a table with those columns of the set that belong to the entity; nothing where none. */
void builder_table_of(vitals_builder *builder, vitals_table entity, const struct metric_set *set);

/* Returns the metric of the column at *place, and advances *place; 0 after the last column. */
vitals_metric builder_next(const vitals_builder *builder, vitals_table entity, size_t *place);

/* One value, by its metric's type (not TEXT). UNSET is passed over. */
void builder_value(vitals_builder *builder, vitals_metric metric, struct value value);

/* Every value of the row that is not UNSET and whose column is open. */
void builder_values(vitals_builder *builder, vitals_table entity, const struct values *values);

/* Text that lives longer than the snapshot: shared, not copied. NULL: missing for `state`. */
void builder_shared(vitals_builder *builder, vitals_metric metric, struct shared_text *text,
                    vitals_availability state);

/* Fills what is still UNSET in the newest row of the table with the reason. */
void builder_rest(vitals_builder *builder, vitals_table entity, vitals_availability reason);

/* The values of a row of a batch into the newest row of their table. */
void builder_batch(vitals_builder *builder, const struct row_batch *batch,
                   const struct batch_row *row);

/* All rows of the entity, whose keys must be set, into the open table, and its state. Values that a
 * row lacks are UNSUPPORTED. */
void builder_batch_rows(vitals_builder *builder, const struct row_batch *batch, vitals_table entity,
                        uint64_t stamp_ns);
