/* decimal.c: see decimal.h. */
#include "feed/decimal.h"

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
