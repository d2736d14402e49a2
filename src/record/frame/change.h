/* change.h: a snapshot as bytes: all of it, or what differs from an older one; and back, without
 * loss. The form is private to vitals (docs/recording.md): frame.h names it in recordings.
 * Pure but for memory; one thread for each object. */
#pragma once

#include <vitals/sys/builder.h>

#include "feed/text.h"

/* True if `snapshot` can be written as a change of `base`: they have the same origin, tables and
 * columns. */
bool change_fits(const vitals_snapshot *base, const vitals_snapshot *snapshot);

/* `base` fits or is NULL. Compares each value; equal ones take no bytes. False: no memory. */
bool change_write(const vitals_snapshot *base, const vitals_snapshot *snapshot, struct buffer *out);

/* Reads what change_write wrote with that base. *out is the caller's to unref. Returns 0, EFORMAT
 * (the bytes are broken), EUNSUPPORTED (they hold a table or column that a newer vitals defines) or
 * EMEMORY. */
int change_read(const vitals_snapshot *base, const char *bytes, size_t size,
                vitals_builder *builder, vitals_snapshot **out);
