/* width.h: how many columns of a terminal a character takes.
 *
 * A table of our own: wcwidth knows nothing in the C locale, and the library depends on no locale.
 * Thread rule: pure. */
#pragma once

#include "util/base.h"

/* Not to be printed: controls, what reorders or hides its neighbours, what shows nothing. */
enum { WIDTH_HIDDEN = -1 };

/* 0 (marks on the character before), 1, 2 (East Asian and emoji) or WIDTH_HIDDEN. */
int width_of(uint32_t character);
