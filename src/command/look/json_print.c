/* json_print.c: an indenting printer of JSON. */
#include "command/look/json_print.h"

#include <string.h>

#include <vitals/text.h>

void json_print_init(struct json_print *print, struct output *output)
{
    *print = (struct json_print){.output = output};
}

static void put_string(struct json_print *print, const char *string)
{
    char part[512];
    size_t size = strlen(string);
    output_text(print->output, "\"");
    for (size_t at = 0; at < size;) {
        size_t step = size - at < 80 ? size - at : 80;
        while (at + step < size && ((unsigned char)string[at + step] & 0xc0) == 0x80)
            step++;
        (void)vitals_text_format((vitals_text){string + at, step}, VITALS_TEXT_JSON, part,
                                 sizeof part);
        output_text(print->output, part);
        at += step;
    }
    output_text(print->output, "\"");
}

/* The comma, the line and the key before a value. */
static void lead(struct json_print *print, const char *key)
{
    if (print->follows)
        output_text(print->output, print->compact > 0 ? ", " : ",");
    if (print->compact == 0 && print->depth > 0)
        output_format(print->output, "\n%*s", (int)print->depth * 2, "");
    print->follows = true;
    if (key != NULL) {
        put_string(print, key);
        output_text(print->output, ": ");
    }
}

static void open_bracket(struct json_print *print, const char *key, const char *bracket)
{
    lead(print, key);
    output_text(print->output, bracket);
    print->depth++;
    print->follows = false;
}

static void close_bracket(struct json_print *print, const char *bracket)
{
    print->depth--;
    if (print->follows)
        output_format(print->output, "\n%*s", (int)print->depth * 2, "");
    output_text(print->output, bracket);
    print->follows = true;
    if (print->depth == 0)
        output_text(print->output, "\n");
}

void json_open_object(struct json_print *print, const char *key)
{
    open_bracket(print, key, "{");
}

void json_close_object(struct json_print *print)
{
    close_bracket(print, "}");
}

void json_open_array(struct json_print *print, const char *key)
{
    open_bracket(print, key, "[");
}

void json_close_array(struct json_print *print)
{
    close_bracket(print, "]");
}

void json_open_line(struct json_print *print, const char *key, char bracket)
{
    lead(print, key);
    (void)output_write(print->output, &bracket, 1);
    print->compact++;
    print->follows = false;
}

void json_close_line(struct json_print *print, char bracket)
{
    (void)output_write(print->output, &bracket, 1);
    print->compact--;
    print->follows = true;
}

void json_text(struct json_print *print, const char *key, const char *value)
{
    lead(print, key);
    put_string(print, value);
}

void json_number(struct json_print *print, const char *key, uint64_t value)
{
    lead(print, key);
    output_format(print->output, "%llu", (unsigned long long)value);
}

void json_decimal(struct json_print *print, const char *key, double value)
{
    lead(print, key);
    output_format(print->output, "%.15g", value);
}

void json_flag(struct json_print *print, const char *key, bool value)
{
    lead(print, key);
    output_text(print->output, value ? "true" : "false");
}

void json_nothing(struct json_print *print, const char *key)
{
    lead(print, key);
    output_text(print->output, "null");
}
