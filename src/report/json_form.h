/* json_form.h: a JSON document, written as it comes, in one line or indented.
 *
 * A failed write is remembered; writing on is then harmless. Numbers that are not finite become
 * null. One thread. */
#pragma once

#include <stdbool.h>

#include <vitals/vitals.h>

struct json_form {
    vitals_write_fn *write;
    void *data;
    int indent;  /* columns of each level; 0: all in one line */
    bool script; /* stands inside an HTML element: < > & are escaped too */
    bool floats; /* form_number writes 1 as 1.0, as Python does with a float */
    int depth, failed;
    bool begun; /* something stands already at this level */
    bool keyed; /* a key stands there and waits for its value */
};

void json_form_init(struct json_form *form, int indent, vitals_write_fn *write, void *data);

/* '{' or '['; and the end of it. */
void form_begin(struct json_form *form, char bracket);
void form_end(struct json_form *form, char bracket);

void form_key(struct json_form *form, const char *key);
void form_begin_member(struct json_form *form, const char *key, char bracket);
void form_string(struct json_form *form, const char *string); /* NULL: null */
void form_number(struct json_form *form, double value); /* shortest that reads back the same */
void form_count(struct json_form *form, uint64_t value);
void form_bool(struct json_form *form, bool value);
void form_null(struct json_form *form);

/* A key and a value. */
void form_put_string(struct json_form *form, const char *key, const char *string);
void form_put_number(struct json_form *form, const char *key, double value);
void form_put_count(struct json_form *form, const char *key, uint64_t value);
void form_put_bool(struct json_form *form, const char *key, bool value);
