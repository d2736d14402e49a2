/* match.h: the words of a filter or a search: `train user:ana gpu:0 !state:Z "two words"`.
 *
 * Each must hold; ! turns one round. Behind a field's name stands what the field must say; without
 * one it may stand in the user, the command, the pid, the device, or what else the line shows: its
 * job, pod or container, and the texts of its columns. Pure. */
#pragma once

#include "monitor/model.h"

enum { MATCH_TERMS = 16 };

struct match_field;

struct match {
    struct {
        const struct match_field *field; /* NULL: any */
        bool turned;
        const char *word; /* in `text` */
    } terms[MATCH_TERMS];
    size_t count;
    char text[ARRANGED_FILTER * 2];
    char unknown[32]; /* a word before a colon that is no field; it is looked for as it stands */
};

/* Terms beyond the limit are left out. */
void match_parse(const char *words, struct match *out);

/* True if a line passes; the line of a group by its name alone. An unknown value never passes. */
bool match_item(const struct match *match, const struct model *model, const struct item *item);

/* The metrics that its fields need, 0 behind the last; at most WANTS_MOST. */
void match_needs(const struct match *match, struct wants *out);

/* True if words mean a field that there is none of; says so, and which there are. */
bool match_unknown(const char *words, char *out, size_t capacity);
