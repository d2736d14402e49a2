/* utf8.h: characters from bytes, strictly, and how many columns of a terminal they take.
 *
 * Overlong forms, surrogates and what lies beyond U+10FFFF are broken, as in the Unicode standard.
 * The widths are a table of our own: wcwidth knows nothing in the C locale, and the library depends
 * on no locale. Thread rule: pure. */
#pragma once

#include "util/base.h"

/* The character that stands for invalid bytes. */
#define UTF8_BROKEN UINT32_MAX

/* The character at `at`, which lies before `end`, and in `*size` how many bytes it takes. Where it
 * is broken, `*size` counts the bytes that one U+FFFD replaces: those that could have begun one. */
uint32_t utf8_decode(const char *at, const char *end, size_t *size);

/* Not to be printed: controls, what reorders or hides its neighbours, what shows nothing. */
enum { WIDTH_HIDDEN = -1 };

/* 0 (marks on the character before), 1, 2 (East Asian and emoji) or WIDTH_HIDDEN. */
int width_of(uint32_t character);
