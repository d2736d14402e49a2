/* command_lines.c: see command_lines.h. The document is searched, not parsed. */
#include "export/command_lines.h"

#include <jansson.h>
#include <string.h>

/* The text before each command line's value. A name cannot contain it, because quotes inside a
 * string are escaped. */
static const char MEMBER[] = "\"command_line\":\"";
enum { MEMBER_SIZE = sizeof MEMBER - 1, LINE_MAX_BYTES = 64 * 1024 };

/* Appends `string`, with its quotes, redacted. A string that cannot be decoded or is longer than a
 * page shows becomes empty. */
static void write_line(struct text *text, const char *string, size_t size, enum redact_form form)
{
    char line[LINE_MAX_BYTES];
    struct text told = {.bytes = NULL};
    json_t *value = json_loadb(string, size,
                               JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, NULL);
    vitals_text arguments = {json_string_value(value), json_string_length(value)};
    text_byte(text, '"');
    if (arguments.bytes != NULL && arguments.size > 0) {
        size_t whole = vitals_text_command(arguments, line, sizeof line);
        if (whole < sizeof line)
            redact_line(&told, (vitals_text){line, whole}, form);
    }
    if (told.size > 0) {
        text_safe(text, (vitals_text){told.bytes, told.size}, VITALS_TEXT_JSON);
        text_string(text, "\\u0000");
    }
    text_byte(text, '"');
    text->failed |= told.failed;
    text_done(&told);
    json_decref(value);
}

void command_lines_write(struct text *text, const char *json, size_t size, enum redact_form form)
{
    const char *from = json, *end = json + size, *found;
    while (form != REDACT_FULL &&
           (found = memmem(from, (size_t)(end - from), MEMBER, MEMBER_SIZE)) != NULL) {
        const char *string = found + MEMBER_SIZE - 1, *quote = string + 1;
        for (; quote < end && *quote != '"'; quote++)
            quote += *quote == '\\';
        if (quote >= end)
            break;
        text_append(text, from, (size_t)(string - from));
        write_line(text, string, (size_t)(quote + 1 - string), form);
        from = quote + 1;
    }
    text_append(text, from, (size_t)(end - from));
}
