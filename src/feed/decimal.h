/* decimal.h: numbers as the words of a file: as many digits as it takes, and no more. Pure. */
#pragma once

#include <stdbool.h>

enum { NUMBER_WORDS = 40 };

/* The shortest digits that read back as the same number; a whole one has no point. `value` is
 * finite; a locale's comma cannot occur, because the command never sets LC_NUMERIC. */
void number_shortest(double value, char out[static NUMBER_WORDS]);

/* At most so many digits behind the point, without zeros at the end. Zero is 0, and another whole
 * number ends in .0 where `point` is set: so Python prints what it rounded. */
void number_rounded(double value, int decimals, bool point, char out[static NUMBER_WORDS]);
