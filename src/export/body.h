/* body.h: the body of an answer: immutable, reference-counted bytes that are compressed at most
 * once.
 *
 * All requests for the same sample share one. Any thread. */
#pragma once

#include <stddef.h>

#include "feed/text.h"

struct body;

/* Takes over the bytes of the text, which is empty afterwards. Returns NULL without memory, or if
 * the text has failed. */
struct body *body_new(struct buffer *text);

/* Makes a body of static bytes, such as a file of the page, without a copy. */
struct body *body_of_constant(const void *bytes, size_t size);

struct body *body_ref(struct body *body);
void body_unref(struct body *body); /* accepts NULL */

const void *body_bytes(const struct body *body, size_t *size);

/* Returns the bytes as gzip, compressed at the first call. NULL without zlib or memory. */
const void *body_packed(struct body *body, size_t *size);
