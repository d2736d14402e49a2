/* spool_scan.h: scans the spool file of another program: every whole record, and the damaged bytes
 * between them. Writes nothing. */
#ifndef VITALS_EXPORT_MLFLOW_SPOOL_SCAN_H
#define VITALS_EXPORT_MLFLOW_SPOOL_SCAN_H

#include "export/mlflow/spool_record.h"

struct spool_scan {
    struct spool_record *records; /* in order, each once; the caller frees it */
    size_t count, capacity;
    uint64_t id;   /* of the file; 0 if not known, because it has no whole record */
    uint64_t next; /* the number of the next record */
    struct spool_damage damage;
};

void spool_add_damage(struct spool_damage *damage, struct spool_place place);

/* Scans the first `size` bytes. Errors: EFORMAT (no spool), EMEMORY. */
int spool_scan(int descriptor, uint64_t size, struct spool_scan *out);

#endif
