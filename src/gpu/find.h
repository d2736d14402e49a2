/* find.h: what the names of devices have in common. Pure. */
#ifndef VITALS_GPU_FIND_H
#define VITALS_GPU_FIND_H

#include "util/cursor.h"
#include <vitals/gpu.h>

/* How many devices a beginning of a UUID matches. */
enum gpu_match { GPU_MATCH_NONE, GPU_MATCH_ONE, GPU_MATCH_SEVERAL };

/* How names are compared. */
struct gpu_match_rule {
    const char *vendor; /* whose devices alone are meant; NULL: any vendor's. UUIDs of AMD's begin
                           as those of NVIDIA's do */
    bool exact;         /* upper and lower case are not the same */
};

/* Among all rows of gpu; *out is the first that it means. A whole UUID means itself alone. */
enum gpu_match gpu_match_uuid(const vitals_snapshot *snapshot, struct span name,
                              struct gpu_match_rule rule, const vitals_row **out);

/* The same of NVIDIA's "MIG-GPU-UUID/GI/CI"; NONE where it has not that form. */
enum gpu_match gpu_match_instance(const vitals_snapshot *snapshot, struct span name, bool exact,
                                  const vitals_row **out);

/* "0000:17:00.0" as a number that orders as the addresses do; false where it is none. */
bool gpu_parse_address(struct span text, uint64_t *out);

/* Whether the row has that text. */
bool gpu_row_says(const vitals_row *row, vitals_metric metric, const char *text);

/* The address of a row, likewise. */
bool gpu_row_address(const vitals_row *row, uint64_t *out);

#endif
