/* json_form.c: see json_form.h. */
#include "report/json_form.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "feed/text.h"

enum { PART = 512, ESCAPE = 6, DIGITS = NUMBER_WORDS };

void json_form_init(struct json_form *form, int indent, vitals_write_fn *write, void *data)
{
    *form = (struct json_form){.write = write, .data = data, .indent = indent};
}

static void put(struct json_form *form, const char *bytes, size_t size)
{
    if (form->failed == 0 && size > 0)
        form->failed = form->write(form->data, bytes, size);
}

static void put_line(struct json_form *form)
{
    if (form->indent == 0)
        return;
    put(form, "\n", 1);
    for (int i = 0; i < form->depth * form->indent; i++)
        put(form, " ", 1);
}

/* Writes the separator before a value or a key. */
static void separate(struct json_form *form)
{
    if (form->keyed) {
        form->keyed = false;
        return;
    }
    if (form->begun)
        put(form, ",", 1);
    if (form->depth > 0)
        put_line(form);
    form->begun = true;
}

void form_begin(struct json_form *form, char bracket)
{
    separate(form);
    put(form, &bracket, 1);
    form->depth++;
    form->begun = false;
}

void form_end(struct json_form *form, char bracket)
{
    form->depth--;
    if (form->begun)
        put_line(form);
    put(form, &bracket, 1);
    form->begun = true;
}

static void put_quoted(struct json_form *form, vitals_text text)
{
    char escaped[PART * ESCAPE + 1];
    put(form, "\"", 1);
    while (text.size > 0) {
        vitals_text part = {text.bytes, text_part(text, PART)};
        (void)vitals_text_format(part, VITALS_TEXT_JSON, escaped, sizeof escaped);
        /* Inside a script element nothing may end it: there < is escaped too. */
        for (const char *at = escaped; *at != '\0';) {
            size_t plain = form->script ? strcspn(at, "<>&") : strlen(at);
            put(form, at, plain);
            at += plain;
            if (*at == '\0')
                break;
            char escape[8];
            (void)snprintf(escape, sizeof escape, "\\u%04x", (unsigned)(unsigned char)*at++);
            put(form, escape, strlen(escape));
        }
        text.bytes += part.size;
        text.size -= part.size;
    }
    put(form, "\"", 1);
}

void form_key(struct json_form *form, const char *key)
{
    separate(form);
    put_quoted(form, vitals_text_of(key));
    put(form, ": ", form->indent > 0 ? 2 : 1);
    form->keyed = true;
}

void form_begin_member(struct json_form *form, const char *key, char bracket)
{
    form_key(form, key);
    form_begin(form, bracket);
}

void form_string(struct json_form *form, const char *string)
{
    if (string == NULL) {
        form_null(form);
        return;
    }
    separate(form);
    put_quoted(form, vitals_text_of(string));
}

void form_number(struct json_form *form, double value)
{
    char digits[DIGITS];
    if (!isfinite(value)) {
        form_null(form);
        return;
    }
    bool plain = value == 0 || (fabs(value) >= 1e-4 && fabs(value) < 1e16);
    if (value == floor(value) && plain)
        (void)snprintf(digits, sizeof digits, form->floats ? "%.1f" : "%.0f",
                       value == 0 ? 0.0 : value);
    else
        number_shortest(value, digits);
    separate(form);
    put(form, digits, strlen(digits));
}

static void put_word(struct json_form *form, const char *word)
{
    separate(form);
    put(form, word, strlen(word));
}

void form_count(struct json_form *form, uint64_t value)
{
    char digits[DIGITS];
    (void)snprintf(digits, sizeof digits, "%" PRIu64, value);
    put_word(form, digits);
}

void form_bool(struct json_form *form, bool value)
{
    put_word(form, value ? "true" : "false");
}

void form_null(struct json_form *form)
{
    put_word(form, "null");
}

void form_put_string(struct json_form *form, const char *key, const char *string)
{
    form_key(form, key);
    form_string(form, string);
}

void form_put_number(struct json_form *form, const char *key, double value)
{
    form_key(form, key);
    form_number(form, value);
}

void form_put_count(struct json_form *form, const char *key, uint64_t value)
{
    form_key(form, key);
    form_count(form, value);
}

void form_put_bool(struct json_form *form, const char *key, bool value)
{
    form_key(form, key);
    form_bool(form, value);
}
