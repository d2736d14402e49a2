/* Bytes as a double: what is printed is short enough and reads back to the same bits. Bytes as
 * text: a number that is read lies within them, and is the one that the C library reads there. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <vitals/units.h>

#include "util/cursor.h"
#include "util/number.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check_print(double value)
{
    char text[NUMBER_TEXT];
    size_t size = number_print_f64(text, value);
    require(size < sizeof text && strlen(text) == size);
    double again;
    if (!isfinite(value)) {
        require(strcmp(text, "null") == 0);
        return;
    }
    const char *at = text, *end = text + strlen(text);
    require(number_f64(&at, end, &again) && at == end);
    require(memcmp(&again, &value, sizeof value) == 0);
    require(strtod(text, NULL) == value);

    char human[VITALS_HUMAN];
    require(strlen(vitals_human_duration(value, human)) < sizeof human);
}

/* `string` is the same bytes with a NUL behind them. */
static void check_read(const char *bytes, size_t size, const char *string)
{
    const char *at = bytes;
    double value;
    if (number_f64(&at, bytes + size, &value)) {
        require(at > bytes && at <= bytes + size && isfinite(value));
        char *taken = strndup(string, (size_t)(at - bytes));
        require(taken != NULL);
        double expected = strtod(taken, NULL);
        require(isinf(expected) ? fabs(value) > 1e308 : value == expected);
        free(taken);
    } else {
        require(at == bytes);
    }

    uint64_t whole;
    struct cursor cursor = cursor_over(bytes, size);
    struct span span;
    while (cursor_line(&cursor, &span)) {
        struct cursor line = cursor_over(span.bytes, span.size);
        while (cursor_u64(&line, &whole) || cursor_word(&line, &span))
            require(line.at <= line.end);
    }
    at = bytes;
    require(number_hex(&at, bytes + size, &whole) == (at > bytes));

    double seconds;
    if (vitals_parse_bytes(string, &whole) == 0)
        require(strlen(string) > 0);
    if (vitals_parse_duration(string, &seconds) == 0)
        require(isfinite(seconds) && seconds >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    double value = 0;
    memcpy(&value, data, size_min(size, sizeof value));
    check_print(value);

    char *string = strndup((const char *)data, size);
    require(string != NULL);
    check_read((const char *)data, strlen(string), string);
    free(string);
    return 0;
}
