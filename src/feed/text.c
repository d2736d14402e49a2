/* text.c: see text.h. */
#include "feed/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void number_shortest(double value, char out[static NUMBER_WORDS])
{
    static const double WHOLE_MAX = 9007199254740992.0; /* 2^53 */
    if (value == floor(value) && fabs(value) <= WHOLE_MAX) {
        (void)snprintf(out, NUMBER_WORDS, "%.0f", value + 0.0);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(out, NUMBER_WORDS, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            return;
    }
}

void number_rounded(double value, int decimals, bool point, char out[static NUMBER_WORDS])
{
    static const double FIXED_MAX = 1e15;
    if (fabs(value) >= FIXED_MAX) {
        number_shortest(value, out);
        return;
    }
    int size = snprintf(out, NUMBER_WORDS, "%.*f", decimals, value);
    if (decimals > 0) {
        while (out[size - 1] == '0')
            size--;
        if (out[size - 1] == '.')
            size--;
        out[size] = '\0';
    }
    if (strcmp(out, "0") == 0 || strcmp(out, "-0") == 0)
        (void)snprintf(out, NUMBER_WORDS, "0");
    else if (point && strchr(out, '.') == NULL)
        (void)snprintf(out + size, (size_t)(NUMBER_WORDS - size), ".0");
}

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
