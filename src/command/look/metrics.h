/* metrics.h: the names of types and kinds, and the metrics of a table in their order. */
#pragma once

#include "command/command.h"
#include "command/output.h"

/* "integer" of any size, "number", "text". */
const char *metrics_type_name(vitals_type type);
const char *metrics_kind_name(vitals_kind kind);

/* Return the first metric of a table, and the next of the same table; 0 after the last. */
vitals_metric metrics_first(vitals_table entity);
vitals_metric metrics_after(vitals_metric metric);
