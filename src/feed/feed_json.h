/* feed_json.h: one JSON document becomes a snapshot. The form is docs/schema/snapshot.json. */
#pragma once

#include <vitals/sys/builder.h>
#include <vitals/vitals.h>

/* Where a document stands, for messages. */
struct feed_place {
    const char *path;
    uint64_t line; /* of the document's first byte, from 1 */
};

/* Reads a document; *out is yours to unref. Tables and columns that this library does not know are
 * passed over: a newer vitals of the same form wrote them. Those that it knows must be valid.
 * Errors: EFORMAT (the message names the file, the line and what is wrong), EMEMORY, EUNSUPPORTED
 * (built without JSON). */
int feed_json_read(const struct feed_place *place, const char *bytes, size_t size,
                   vitals_builder *builder, vitals_snapshot **out, vitals_error *error);

/* Fills in an error about a place: "FILE:LINE: what". Gives the code back. */
int feed_fail(const struct feed_place *place, int code, vitals_error *error, const char *format,
              ...) VITALS_FORMAT(4, 5);
