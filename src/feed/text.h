/* text.h: bytes that grow at the end; what documents and recordings are written to.
 *
 * An append that fails for want of memory sets `failed` and every later one does nothing, so a
 * writer checks once, at the end. Always NUL-terminated where bytes is not NULL. A text of zeros is
 * empty and usable. Thread rule: one thread at a time. */
#ifndef VITALS_FEED_TEXT_H
#define VITALS_FEED_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vitals/vitals.h>

struct text {
    char *bytes;
    size_t size;
    size_t capacity;
    bool failed;
};

/* Room for `extra` more bytes behind `size`, and a NUL; where they go, or NULL. */
char *text_reserve(struct text *text, size_t extra);

/* Counts what was written there, and puts the NUL behind it. */
void text_advance(struct text *text, size_t written);

void text_append(struct text *text, const void *bytes, size_t size);
void text_string(struct text *text, const char *string);
void text_byte(struct text *text, char byte);
void text_format(struct text *text, const char *format, ...) VITALS_FORMAT(2, 3);

/* A finite number with the fewest digits that read back as the same; whole ones have no point. */
void text_number(struct text *text, double value);

/* Bytes from outside in one of the forms of vitals/text.h. */
void text_safe(struct text *text, vitals_text bytes, vitals_text_form form);

/* How many bytes of a foreign text form the next part: at most `most`, and never a part of a
 * character. */
size_t text_part(vitals_text text, size_t most);

/* The signature of vitals_write_fn, with a text as data. */
int text_write(void *text, const char *bytes, size_t size);

/* Empties, and keeps the memory. */
void text_reset(struct text *text);
void text_done(struct text *text);

#endif
