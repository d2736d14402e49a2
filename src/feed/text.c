/* text.c: see text.h. */
#include "feed/text.h"

#include "feed/decimal.h"

void text_number(struct buffer *text, double value)
{
    char words[NUMBER_WORDS];
    number_shortest(value, words);
    buffer_string(text, words);
}

void text_safe(struct buffer *text, vitals_text bytes, vitals_text_form form)
{
    size_t size = vitals_text_format(bytes, form, NULL, 0);
    char *place = buffer_reserve(text, size);
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
    struct buffer *to = text;
    buffer_append(to, bytes, size);
    return to->failed ? -1 : 0;
}
