/* utf8.h: characters from bytes, strictly.
 *
 * Overlong forms, surrogates and what lies beyond U+10FFFF are broken, as in the Unicode standard.
 * Thread rule: pure. */
#pragma once

#include "util/base.h"

/* The character that stands for invalid bytes. */
#define UTF8_BROKEN UINT32_MAX

/* The character at `at`, which lies before `end`, and in `*size` how many bytes it takes. Where it
 * is broken, `*size` counts the bytes that one U+FFFD replaces: those that could have begun one. */
uint32_t utf8_decode(const char *at, const char *end, size_t *size);
