/* shared_text.h: long-lived text that snapshots share: names, command lines, users.
 *
 * Immutable and counted. A process row of tick n + 1 holds the same object as that of tick n,
 * so that a steady tick copies and allocates nothing.
 * Thread rule: ref and unref from any thread; the bytes never change. */
#pragma once

#include "util/base.h"
#include <stdatomic.h>

struct shared_text {
    atomic_uint refs;
    uint32_t size;
    char bytes[]; /* size bytes and a NUL that is not counted */
};

/* Longer text is cut to this; the caller says so by the value's state. */
enum { SHARED_TEXT_MAX = 1 << 20 };

struct shared_text *shared_text_new(const char *bytes, size_t size);
struct shared_text *shared_text_ref(struct shared_text *text);
void shared_text_unref(struct shared_text *text); /* accepts NULL */
bool shared_text_equal(const struct shared_text *text, const char *bytes, size_t size);
