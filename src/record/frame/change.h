/* change.h: a snapshot as bytes: what differs from an older one, or, told by none, all of it; and
 * back, the same to the last bit. For what is kept for a while and read by who wrote it: no form
 * for others (docs/recording.md has that). Pure but for memory; one thread for each object. */
#ifndef VITALS_RECORD_FRAME_CHANGE_H
#define VITALS_RECORD_FRAME_CHANGE_H

#include <vitals/sys/builder.h>

#include "record/frame/packed.h"

/* Whether one can be told by the other: they have the same tables and columns and one origin. */
bool change_fits(const vitals_snapshot *base, const vitals_snapshot *snapshot);

/* `base` fits or is NULL. Costs a comparison of each value; what is alike takes no bytes. False: no
 * memory. */
bool change_write(const vitals_snapshot *base, const vitals_snapshot *snapshot, struct text *out);

/* The snapshot again; *out is yours to unref. Errors: EFORMAT: it was not written by that base;
 * EMEMORY. */
int change_read(const vitals_snapshot *base, const char *bytes, size_t size,
                vitals_builder *builder, vitals_snapshot **out, vitals_error *error);

#endif
