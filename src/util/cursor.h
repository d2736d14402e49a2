/* cursor.h: a position in untrusted bytes.
 *
 * All parsers of /proc and /sys use one: every step is bounded, none reads past the end.
 * Thread rule: pure. */
#pragma once

#include "util/base.h"

struct cursor {
    const char *at;
    const char *end;
};

struct span {
    const char *bytes;
    size_t size;
};

static inline struct cursor cursor_over(const char *bytes, size_t size)
{
    return (struct cursor){bytes, size > 0 ? bytes + size : bytes};
}

static inline bool cursor_done(const struct cursor *cursor)
{
    return cursor->at >= cursor->end;
}

/* The next line without its newline; false at the end. */
bool cursor_line(struct cursor *cursor, struct span *line);

/* The next run of bytes that are not blanks (space, tab); false where there is none. */
bool cursor_word(struct cursor *cursor, struct span *word);

void cursor_blanks(struct cursor *cursor);

/* Takes the literal where it stands, else stays and returns false. */
bool cursor_literal(struct cursor *cursor, const char *literal);

/* Everything up to `byte`, which is passed over; false (and no move) where it does not occur. */
bool cursor_until(struct cursor *cursor, char byte, struct span *out);

/* A number after optional blanks. */
bool cursor_u64(struct cursor *cursor, uint64_t *out);
bool cursor_i64(struct cursor *cursor, int64_t *out);

bool span_equal(struct span span, const char *string);
bool span_starts(struct span span, const char *prefix);
