/* text.c: see text.h. */
#include "feed/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed/decimal.h"

enum { FIRST = 4096 };

char *text_reserve(struct text *text, size_t extra)
{
    if (text->failed)
        return NULL;
    if (extra < text->capacity - text->size)
        return text->bytes + text->size;
    size_t capacity = text->capacity > 0 ? text->capacity : FIRST;
    while (capacity - text->size <= extra && capacity <= SIZE_MAX / 2)
        capacity *= 2;
    char *bytes = capacity - text->size > extra ? realloc(text->bytes, capacity) : NULL;
    if (bytes == NULL) {
        text->failed = true;
        return NULL;
    }
    text->bytes = bytes;
    text->capacity = capacity;
    return bytes + text->size;
}

void text_advance(struct text *text, size_t written)
{
    text->size += written;
    text->bytes[text->size] = '\0';
}

void text_append(struct text *text, const void *bytes, size_t size)
{
    char *place = text_reserve(text, size);
    if (place == NULL)
        return;
    if (size > 0)
        memcpy(place, bytes, size);
    text->size += size;
    text->bytes[text->size] = '\0';
}

void text_string(struct text *text, const char *string)
{
    text_append(text, string, strlen(string));
}

void text_byte(struct text *text, char byte)
{
    text_append(text, &byte, 1);
}

void text_format(struct text *text, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *place = size >= 0 ? text_reserve(text, (size_t)size) : NULL;
    if (place != NULL) {
        (void)vsnprintf(place, (size_t)size + 1, format, again);
        text->size += (size_t)size;
    }
    va_end(again);
}

void text_number(struct text *text, double value)
{
    char words[NUMBER_WORDS];
    number_shortest(value, words);
    text_string(text, words);
}

void text_safe(struct text *text, vitals_text bytes, vitals_text_form form)
{
    size_t size = vitals_text_format(bytes, form, NULL, 0);
    char *place = text_reserve(text, size);
    if (place == NULL)
        return;
    (void)vitals_text_format(bytes, form, place, size + 1);
    text->size += size;
}

size_t text_part(vitals_text text, size_t most)
{
    size_t size = text.size < most ? text.size : most;
    for (int back = 0; size < text.size && back < 3; back++) {
        if (((unsigned char)text.bytes[size] & 0xc0) != 0x80)
            break;
        size--;
    }
    return size;
}

int text_write(void *text, const char *bytes, size_t size)
{
    struct text *to = text;
    text_append(to, bytes, size);
    return to->failed ? -1 : 0;
}

void text_reset(struct text *text)
{
    text->size = 0;
    text->failed = false;
    if (text->bytes != NULL)
        text->bytes[0] = '\0';
}

void text_done(struct text *text)
{
    free(text->bytes);
    *text = (struct text){.bytes = NULL};
}
