/* json_delta.h: reads the deltas of JSON that recordings of earlier versions hold. Pure but for
 * memory. */
#ifndef VITALS_RECORD_FRAME_JSON_DELTA_H
#define VITALS_RECORD_FRAME_JSON_DELTA_H

#include <stdbool.h>

#include "feed/text.h"

/* Applies a delta to the JSON of a key. False: it is no delta of that JSON, the result is larger
 * than `most`, or no memory. */
bool json_delta_read(const struct text *base, const char *delta, size_t size, size_t most,
                     struct text *out);

#endif
