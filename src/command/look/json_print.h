/* json_print.h: prints a JSON document that people read too: indented, members in the order given.
 *
 * For documents that are printed once. Snapshots have a writer of their own, in the library. */
#ifndef VITALS_COMMAND_LOOK_JSON_PRINT_H
#define VITALS_COMMAND_LOOK_JSON_PRINT_H

#include <stdint.h>

#include "command/output.h"

struct json_print {
    struct output *output;
    unsigned depth;
    bool follows;     /* something stands before on this level */
    unsigned compact; /* above 0: what is open stays on its line */
};

void json_print_init(struct json_print *print, struct output *output);

/* `key` is NULL in an array and for the outermost value. */
void json_open_object(struct json_print *print, const char *key);
void json_close_object(struct json_print *print);
void json_open_array(struct json_print *print, const char *key);
void json_close_array(struct json_print *print);
void json_text(struct json_print *print, const char *key, const char *value);
void json_number(struct json_print *print, const char *key, uint64_t value);
void json_decimal(struct json_print *print, const char *key, double value);
void json_flag(struct json_print *print, const char *key, bool value);
void json_nothing(struct json_print *print, const char *key);

/* A small object or array on one line: {"type": "integer", "minimum": 0}. Closed by close_line. */
void json_open_line(struct json_print *print, const char *key, char bracket);
void json_close_line(struct json_print *print, char bracket);

#endif
