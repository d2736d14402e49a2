/* spool_scan.h: reads a spool file that another program left: every whole record, wherever the
 * bytes between are damaged, and what those are. Writes nothing. */
#ifndef VITALS_EXPORT_MLFLOW_SPOOL_SCAN_H
#define VITALS_EXPORT_MLFLOW_SPOOL_SCAN_H

#include "export/mlflow/spool_record.h"

struct spool_scan {
    struct spool_record *records; /* in their order, each once; freed by the caller */
    size_t count, capacity;
    uint64_t id;   /* of the file; 0: not known, since it has no whole record */
    uint64_t next; /* the number of the record to come */
    struct spool_damage damage;
};

void spool_add_damage(struct spool_damage *damage, struct spool_place place);

/* Scans the first `size` bytes. Errors: EFORMAT (no spool), EMEMORY. */
int spool_scan(int descriptor, uint64_t size, struct spool_scan *out);

#endif
