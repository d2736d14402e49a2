/* text.h: what documents and recordings need on top of util/buffer.h. */
#pragma once

#include <vitals/vitals.h>

#include "util/buffer.h"

/* A finite number with the fewest digits that read back as the same; whole ones have no point. */
void text_number(struct buffer *text, double value);

/* Bytes from outside in one of the forms of vitals/text.h. */
void text_safe(struct buffer *text, vitals_text bytes, vitals_text_form form);

/* How many bytes of a foreign text form the next part: at most `most`, and never a part of a
 * character. */
size_t text_part(vitals_text text, size_t most);

/* The signature of vitals_write_fn, with a struct buffer as data. */
int text_write(void *text, const char *bytes, size_t size);
