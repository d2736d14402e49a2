/* number.h: numbers from text and to text, whatever the locale.
 *
 * Parsers take a cursor into (bytes, end), move it past what they took, and return false
 * without moving it where there is no number. A number too large saturates.
 * Thread rule: pure. */
#pragma once

#include "util/base.h"

/* Unsigned decimal digits. */
bool number_u64(const char **cursor, const char *end, uint64_t *out);

/* An optional '-' and decimal digits. */
bool number_i64(const char **cursor, const char *end, int64_t *out);

/* Hexadecimal digits, with or without 0x. */
bool number_hex(const char **cursor, const char *end, uint64_t *out);

/* A JSON-like decimal: 12, 0.5, -1e3; never inf or nan. */
bool number_f64(const char **cursor, const char *end, double *out);

/* The whole of a NUL-terminated string must be the number; spaces are not accepted. */
bool number_is_u64(const char *string, uint64_t *out);

/* Writes into `out` (at least NUMBER_TEXT bytes), NUL-terminated, returns the length. */
enum { NUMBER_TEXT = 32 };
size_t number_print_u64(char *out, uint64_t value);
size_t number_print_i64(char *out, int64_t value);

/* The shortest decimal that reads back to the same double; "null" for what is not finite.
 * Integral values print without a point: 12, not 12.0. */
size_t number_print_f64(char *out, double value);

/* A moment in UTC as RFC 3339 has it, without fraction and zone: "2026-11-28T09:30:00". At most the
 * year 9999. */
size_t number_print_date(char *out, uint64_t seconds_since_1970);
