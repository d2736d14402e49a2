/* diagnosis.h: a row of the table diagnosis: what was found, and what would mend it.
 *
 * A finding is one short line that does not name its subject again. A remedy is what a shell takes,
 * a command a line; what a person is to do or to know stands behind "# " on a line of its own, as
 * "# or:" between two ways. People paste it: nothing from outside goes into one but what was proven
 * to be a plain word. Thread rule: as row_batch.h says. */
#pragma once

#include "model/row_batch.h"

enum diagnosis {
    DIAGNOSIS_GOOD,
    DIAGNOSIS_NOTICE, /* something is missing that may well be meant so, or costs little */
    DIAGNOSIS_PROBLEM /* a device that is there cannot be read, or processes cannot be seen */
};

/* "" where there is nothing to mend. */
void diagnosis_add(struct row_batch *out, enum diagnosis severity, const char *subject,
                   const char *finding, const char *remedy);
