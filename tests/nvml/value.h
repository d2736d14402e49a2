/*
 * value.h - one value of a scenario: a number that may move, a text, or a return code in its place.
 *
 * Parsing is pure; reading a moving value advances it, so callers hold the simulation's mutex.
 */
#ifndef SIMULATED_VALUE_H
#define SIMULATED_VALUE_H

#include "simulated_nvml.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum value_kind {
    VALUE_UNSET,      /* never mentioned: not supported */
    VALUE_CONSTANT,   /* 42, 0x2a, 80GiB, -5, max */
    VALUE_SWING,      /* 10..90: there and back in ten steps each way, one step a read */
    VALUE_PER_CALL,   /* 1000+5: grows by 5 at each read */
    VALUE_PER_SECOND, /* 1000+5/s: grows by 5 a second since nvmlInit */
    VALUE_NOW,        /* now: microseconds of the monotonic clock, when it is read */
    VALUE_TEXT,
    VALUE_ERROR /* N/A, error:15 */
};

struct value {
    enum value_kind kind;
    nvml_return result;     /* VALUE_ERROR */
    uint64_t first, second; /* constant; low and high; start and growth */
    uint64_t reads;         /* guarded by the simulation's mutex */
    char *text;             /* VALUE_TEXT, owned */
};

/* What value_parse_number accepts, for messages. */
#define VALUE_NUMBER_FORMS \
    "a number (42, 0x2a, 80GiB, max), LOW..HIGH, START+STEP, START+STEP/s, now, N/A or error:CODE"

bool value_parse_number(struct value *value, const char *text);
bool value_parse_text(struct value *value, const char *text);
/* 20ms, 5s, 0: a whole number of nanoseconds. */
bool value_parse_duration(uint64_t *out_ns, const char *text);
/* Digits with an optional sign, 0x and byte suffix, to the end of the text. */
bool value_parse_integer(uint64_t *out, const char *text);

/* The number now, and the next one at the next read. elapsed_ns counts from nvmlInit. */
nvml_return value_read(struct value *value, uint64_t elapsed_ns, uint64_t *out);
/* The same without moving on. */
nvml_return value_peek(const struct value *value, uint64_t elapsed_ns, uint64_t *out);

bool value_copy(struct value *to, const struct value *from);
void value_done(struct value *value);

#endif
