/* metrics.h: the names of types and kinds. */
#pragma once

#include "command/command.h"

/* "integer" of any size, "number", "text". */
const char *metrics_type_name(vitals_type type);
const char *metrics_kind_name(vitals_kind kind);
