/* names.h: the words of the options of `vitals top`. Plain data. */
#pragma once

#include <stddef.h>

/* By enum fleet_by: "gpu", "node", "user", "job"; ends with NULL. */
extern const char *const fleet_by_names[];

/* Names of columns by index; NULL after the last. */
const char *fleet_column_word(size_t index);
