/* diagnosis.c: see diagnosis.h. */
#include "model/diagnosis.h"

#include <string.h>

void diagnosis_add(struct row_batch *out, enum diagnosis severity, const char *subject,
                   const char *finding, const char *remedy)
{
    static const char *const WORDS[] = {
        [DIAGNOSIS_GOOD] = "good",
        [DIAGNOSIS_NOTICE] = "notice",
        [DIAGNOSIS_PROBLEM] = "problem",
    };
    batch_add_row(out, VITALS_TABLE_DIAGNOSIS, 0, (struct span){subject, strlen(subject)});
    batch_set_string(out, VITALS_DIAGNOSIS_SUBJECT, subject);
    batch_set_string(out, VITALS_DIAGNOSIS_SEVERITY, WORDS[severity]);
    batch_set_string(out, VITALS_DIAGNOSIS_FINDING, finding);
    batch_set_string(out, VITALS_DIAGNOSIS_REMEDY, remedy);
}
