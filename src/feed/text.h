/* text.h: what documents and recordings need on top of util/buffer.h, and numbers as the words of a
 * file: as many digits as it takes, and no more. */
#pragma once

#include <vitals/vitals.h>

#include "util/buffer.h"

enum { NUMBER_WORDS = 40 };

/* The shortest digits that read back as the same number; a whole one has no point. `value` is
 * finite; a locale's comma cannot occur, because the command never sets LC_NUMERIC. */
void number_shortest(double value, char out[static NUMBER_WORDS]);

/* At most so many digits behind the point, without zeros at the end. Zero is 0, and another whole
 * number ends in .0 where `point` is set: so Python prints what it rounded. */
void number_rounded(double value, int decimals, bool point, char out[static NUMBER_WORDS]);

/* The shortest digits of a finite number. */
void text_number(struct buffer *text, double value);

/* Bytes from outside in one of the forms of vitals/text.h. */
void text_safe(struct buffer *text, vitals_text bytes, vitals_text_form form);

/* How many bytes of a foreign text form the next part: at most `most`, and never a part of a
 * character. */
size_t text_part(vitals_text text, size_t most);

/* The signature of vitals_write_fn, with a struct buffer as data. */
int text_write(void *text, const char *bytes, size_t size);
