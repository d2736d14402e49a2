/* schema.c: docs/schema/snapshot.json: the form of a snapshot as JSON Schema 2020-12.
 *
 * Values of a column may be missing: null, and the row's `availability` says why. Tables and
 * columns that a newer vitals adds are allowed, because a reader passes over what it does not know.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "command/look/metrics.h"
#include "documents.h"
#include "report/json_form.h"

enum { INDENT = 2 };

/* Puts names and texts alternately, until NULL. */
static void put_pairs(struct json_form *form, va_list pairs)
{
    for (const char *name; (name = va_arg(pairs, const char *)) != NULL;)
        form_put_string(form, name, va_arg(pairs, const char *));
}

/* Begins "key": { and puts these pairs. */
__attribute__((sentinel)) static void begin(struct json_form *form, const char *key, ...)
{
    va_list pairs;
    form_begin_member(form, key, '{');
    va_start(pairs, key);
    put_pairs(form, pairs);
    va_end(pairs);
}

/* Puts a complete object with these pairs. */
__attribute__((sentinel)) static void member(struct json_form *form, const char *key, ...)
{
    va_list pairs;
    form_begin_member(form, key, '{');
    va_start(pairs, key);
    put_pairs(form, pairs);
    va_end(pairs);
    form_end(form, '}');
}

/* Puts "key": {"name": "value"} on a line of its own. */
static void line(struct json_form *form, const char *key, const char *name, const char *value)
{
    form_key(form, key);
    form->indent = 0;
    form_begin(form, '{');
    form_put_string(form, name, value);
    form_end(form, '}');
    form->indent = INDENT;
}

/* Puts "key": ["a", "b"] on a line of its own. */
static void list(struct json_form *form, const char *key, const char *const *words, size_t count)
{
    form_key(form, key);
    form->indent = 0;
    form_begin(form, '[');
    for (size_t i = 0; i < count; i++)
        form_string(form, words[i]);
    form_end(form, ']');
    form->indent = INDENT;
}

/* Prints the type of a value that may be missing. */
static void print_type(struct json_form *form, const char *type)
{
    list(form, "type", (const char *const[]){type, "null"}, 2);
}

static void scalar(struct json_form *form, const char *key, const char *type,
                   const char *description)
{
    member(form, key, "type", type, "description", description, NULL);
}

static void instant(struct json_form *form, const char *key, const char *description)
{
    member(form, key, "$ref", "#/$defs/instant", "description", description, NULL);
}

static void integer(struct json_form *form, const char *key, uint64_t minimum,
                    const char *description)
{
    begin(form, key, "type", "integer", NULL);
    form_put_count(form, "minimum", minimum);
    form_put_count(form, "maximum", (uint64_t)1 << 53);
    form_put_string(form, "description", description);
    form_end(form, '}');
}

static void print_row(struct json_form *form, vitals_table entity)
{
    static const char *const names[] = {"key", "label", "age_ns", "parent"};
    bool has_parent = vitals_table_parent(entity) != 0;
    begin(form, vitals_table_name(entity), "description", vitals_table_help(entity), "type",
          "object", NULL);
    list(form, "required", names, has_parent ? 4 : 3);
    begin(form, "properties", NULL);
    integer(form, "key", 1, "Unique in its table, and never given again by the same sampler.");
    if (has_parent) {
        char description[128];
        snprintf(description, sizeof description,
                 "The key of a row of %s, which need not be in the document; null: it has none.",
                 vitals_table_name(vitals_table_parent(entity)));
        begin(form, "parent", NULL);
        print_type(form, "integer");
        form_put_string(form, "description", description);
        form_end(form, '}');
    }
    scalar(form, "label", "string", "What to call it; safe to print.");
    scalar(form, "age_ns", "integer", "How long before the snapshot it was read, in nanoseconds.");
    begin(form, "availability", "description",
          "Of those values that are not simply there, by column.", "type", "object", NULL);
    line(form, "additionalProperties", "$ref", "#/$defs/availability");
    form_end(form, '}');
    begin(form, "ages_ns", "description",
          "The ages of those values that were not read with their row, by column.", "type",
          "object", NULL);
    line(form, "additionalProperties", "type", "integer");
    form_end(form, '}');
    for (vitals_metric metric = 0; (metric = vitals_metric_next_of(entity, metric)) != 0;) {
        vitals_type type = vitals_metric_type(metric);
        begin(form, vitals_metric_name(metric), NULL);
        print_type(form, type == VITALS_TEXT  ? "string"
                         : type == VITALS_F64 ? "number"
                                              : "integer");
        if (vitals_metric_target(metric) != 0)
            form_put_string(form, "x-key-of", vitals_table_name(vitals_metric_target(metric)));
        if (type == VITALS_U64) {
            form_put_count(form, "minimum", 0);
            form_put_count(form, "maximum", (uint64_t)1 << 53);
        }
        if (vitals_metric_unit(metric)[0] != '\0')
            form_put_string(form, "x-unit", vitals_metric_unit(metric));
        form_put_string(form, "x-kind", metrics_kind_name(vitals_metric_kind(metric)));
        form_put_string(form, "description", vitals_metric_help(metric));
        form_end(form, '}');
    }
    form_end(form, '}');
    form_end(form, '}');
}

static void print_properties(struct json_form *form)
{
    static const char *const names[] = {"name", "boot_id", "pid_namespace"};
    begin(form, "properties", NULL);
    begin(form, "schema", NULL);
    form_put_count(form, "const", VITALS_SCHEMA);
    form_put_string(form, "description", "The number of this form.");
    form_end(form, '}');
    scalar(form, "vitals", "string", "The version of vitals that wrote it.");

    begin(form, "host", "type", "object", "description",
          "The machine that was read: pids mean something only together with all three.", NULL);
    list(form, "required", names, 3);
    begin(form, "properties", NULL);
    scalar(form, "name", "string", "The host's name.");
    scalar(form, "boot_id", "string", "The kernel's identifier of this boot.");
    integer(form, "pid_namespace", 0, "Inode number of the pid namespace; 0: not known.");
    form_end(form, '}');
    form_end(form, '}');

    member(form, "time", "type", "string", "format", "date-time", "description",
           "realtime_ns for people, in UTC.", NULL);
    instant(form, "realtime_ns", "Since 1970, when the reading was complete.");
    instant(form, "boottime_ns", "Since boot, suspend included.");
    instant(form, "monotonic_ns", "The clock that intervals are made of.");
    integer(
        form, "stream", 0,
        "The stream of the keys: keys of two snapshots mean the same only in one stream; 0: not "
        "known.");
    integer(form, "sequence", 0, "The number of the snapshot among its sampler's.");

    begin(form, "columns", "description",
          "The columns that each table has, also where it has no row.", "type", "object", NULL);
    begin(form, "additionalProperties", "type", "array", NULL);
    form_put_bool(form, "uniqueItems", true);
    line(form, "items", "type", "string");
    form_end(form, '}');
    form_end(form, '}');

    /* The availability of tables; a table that is complete is not in it. */
    begin(form, "states", "description",
          "The tables whose rows are not all there, or why there are none. Left out where it "
          "would be empty.",
          "type", "object", NULL);
    member(form, "additionalProperties", "type", "string", NULL);
    form_end(form, '}');

    begin(form, "tables", "description", "The rows of each table, in the order of keys.", "type",
          "object", NULL);
    begin(form, "properties", NULL);
    for (vitals_table entity = 0; (entity = vitals_table_next(entity)) != 0;) {
        char path[80];
        snprintf(path, sizeof path, "#/$defs/%s", vitals_table_name(entity));
        begin(form, vitals_table_name(entity), "type", "array", NULL);
        line(form, "items", "$ref", path);
        form_end(form, '}');
    }
    form_end(form, '}');
    form_end(form, '}');
    form_end(form, '}');
}

void document_snapshot_schema(struct output *output)
{
    static const char *const names[] = {"schema",      "vitals",      "host",         "time",
                                        "realtime_ns", "boottime_ns", "monotonic_ns", "stream",
                                        "sequence",    "columns",     "tables"};
    struct json_form form;
    json_form_init(&form, INDENT, output_write, output);
    form_begin(&form, '{');
    form_put_string(&form, "$schema", "https://json-schema.org/draft/2020-12/schema");
    form_put_string(&form, "title", "A snapshot of vitals");
    form_put_string(
        &form, "description",
        "What was read at one moment. Generated from the catalogue; do not edit, run `make docs`.");
    form_put_string(&form, "type", "object");
    list(&form, "required", names, sizeof names / sizeof names[0]);
    print_properties(&form);

    begin(&form, "$defs", NULL);
    member(&form, "instant", "description", "Nanoseconds, in decimal digits: they pass 2^53.",
           "type", "string", "pattern", "^(0|[1-9][0-9]{0,19})$", NULL);
    begin(&form, "availability", "description",
          "How good a value is, or why there is none. A value that is simply there has no entry.",
          NULL);
    form_begin_member(&form, "oneOf", '[');
    for (int state = VITALS_AVAILABILITY_MAX; state >= VITALS_AVAILABILITY_MIN; state--) {
        if (state == VITALS_UNSET || state == VITALS_HAVE)
            continue;
        form_begin(&form, '{');
        form.indent = 0;
        form_put_string(&form, "const", vitals_availability_name((vitals_availability)state));
        form_put_string(&form, "description", vitals_availability_help((vitals_availability)state));
        form_end(&form, '}');
        form.indent = INDENT;
    }
    form_end(&form, ']');
    form_end(&form, '}');
    for (vitals_table entity = 0; (entity = vitals_table_next(entity)) != 0;)
        print_row(&form, entity);
    form_end(&form, '}');
    form_end(&form, '}');
    output_text(output, "\n");
}
