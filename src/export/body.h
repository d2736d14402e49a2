/* body.h: what a server answers with: bytes that never change, counted, and packed at most once.
 *
 * All who ask for the same sample share one. Any thread. */
#ifndef VITALS_EXPORT_BODY_H
#define VITALS_EXPORT_BODY_H

#include <stddef.h>

#include "feed/text.h"

struct body;

/* Takes the text's bytes over; the text is empty after it. NULL when memory is out, or the text
 * has failed. */
struct body *body_new(struct text *text);

/* Bytes that live for ever, such as a file of the page; not copied. */
struct body *body_of_constant(const void *bytes, size_t size);

struct body *body_ref(struct body *body);
void body_unref(struct body *body); /* accepts NULL */

const void *body_bytes(const struct body *body, size_t *size);

/* The same as gzip, made when first asked for; NULL where there is no zlib or no memory: then it is
 * sent as it is. */
const void *body_packed(struct body *body, size_t *size);

#endif
