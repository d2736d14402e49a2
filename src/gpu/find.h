/* find.h: comparison of device names. Pure. */
#pragma once

#include "model/values.h"
#include "util/cursor.h"
#include <vitals/gpu.h>

/* How many devices match the beginning of a UUID. */
enum gpu_match { GPU_MATCH_NONE, GPU_MATCH_ONE, GPU_MATCH_SEVERAL };

/* How names are compared. */
struct gpu_match_rule {
    const char *vendor; /* only devices of this vendor; NULL: all. UUIDs of AMD begin like those of
                         * NVIDIA */
    bool exact;         /* case-sensitive */
};

/* Searches all rows of gpu; *out is the first match. A whole UUID matches only itself. */
enum gpu_match gpu_match_uuid(const vitals_snapshot *snapshot, struct span name,
                              struct gpu_match_rule rule, const vitals_row **out);

/* The same for NVIDIA's "MIG-GPU-UUID/GI/CI"; NONE if the name has another form. */
enum gpu_match gpu_match_instance(const vitals_snapshot *snapshot, struct span name, bool exact,
                                  const vitals_row **out);

/* Parses "0000:17:00.0" to a number in the order of addresses; returns false if it is not an
 * address. */
bool gpu_parse_address(struct span text, uint64_t *out);

/* True if the device with that label, address and UUID has the name: by a UUID's beginning too. */
bool gpu_has_name(const char *name, const char *label, const char *address, const char *uuid);

/* True if the name is "MIG-GPU-UUID/GI/CI" of that instance; the UUID, or its beginning, is that of
 * the whole device. */
bool gpu_has_instance_name(const char *name, const char *uuid, struct value gi, struct value ci);

/* True if the row has that text. */
bool gpu_row_says(const vitals_row *row, vitals_metric metric, const char *text);

/* Parses the address of a row, likewise. */
bool gpu_row_address(const vitals_row *row, uint64_t *out);
