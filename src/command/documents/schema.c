/* schema.c: docs/schema/snapshot.json: the form of a snapshot as JSON Schema 2020-12.
 *
 * Values of a column may be missing: null, and the row's `availability` says why. Tables and
 * columns that a newer vitals adds are allowed, because a reader passes over what it does not know.
 */
#include <stdio.h>
#include <string.h>

#include "command/documents/documents.h"
#include "command/look/metrics.h"
#include "report/json_form.h"

enum { INDENT = 2 };

/* A small object or array in a line of its own; `key` may be NULL. */
static void begin_line(struct json_form *form, const char *key, char bracket)
{
    if (key != NULL)
        form_key(form, key);
    form->indent = key != NULL ? 0 : form->indent;
    form_begin(form, bracket);
    form->indent = 0;
}

static void end_line(struct json_form *form, char bracket)
{
    form_end(form, bracket);
    form->indent = INDENT;
}

static void begin(struct json_form *form, const char *key)
{
    form_key(form, key);
    form_begin(form, '{');
}

static void reference(struct json_form *form, const char *key, const char *definition)
{
    char path[80];
    snprintf(path, sizeof path, "#/$defs/%s", definition);
    begin_line(form, key, '{');
    form_put_string(form, "$ref", path);
    end_line(form, '}');
}

/* "key": {"type": type, "description": …}, or a reference, by the member's name. */
static void member(struct json_form *form, const char *key, const char *name, const char *value,
                   const char *description)
{
    begin(form, key);
    form_put_string(form, name, value);
    form_put_string(form, "description", description);
    form_end(form, '}');
}

static void scalar(struct json_form *form, const char *key, const char *type,
                   const char *description)
{
    member(form, key, "type", type, description);
}

static void instant(struct json_form *form, const char *key, const char *description)
{
    member(form, key, "$ref", "#/$defs/instant", description);
}

static void integer(struct json_form *form, const char *key, uint64_t minimum,
                    const char *description)
{
    begin(form, key);
    form_put_string(form, "type", "integer");
    form_put_count(form, "minimum", minimum);
    form_put_count(form, "maximum", (uint64_t)1 << 53);
    form_put_string(form, "description", description);
    form_end(form, '}');
}

/* The type of a value that may be missing. */
static void print_type(struct json_form *form, const char *type)
{
    begin_line(form, "type", '[');
    form_string(form, type);
    form_string(form, "null");
    end_line(form, ']');
}

static void print_required(struct json_form *form, const char *const *names, size_t count)
{
    begin_line(form, "required", '[');
    for (size_t i = 0; i < count; i++)
        form_string(form, names[i]);
    end_line(form, ']');
}

static void print_row(struct json_form *form, vitals_table entity)
{
    static const char *const names[] = {"key", "label", "age_ns", "parent"};
    bool has_parent = vitals_table_parent(entity) != 0;
    begin(form, vitals_table_name(entity));
    form_put_string(form, "description", vitals_table_help(entity));
    form_put_string(form, "type", "object");
    print_required(form, names, has_parent ? 4 : 3);
    begin(form, "properties");
    integer(form, "key", 1, "Unique in its table, and never given again by the same sampler.");
    if (has_parent) {
        char description[128];
        snprintf(description, sizeof description,
                 "The key of a row of %s, which need not be in the document; null: it has none.",
                 vitals_table_name(vitals_table_parent(entity)));
        begin(form, "parent");
        print_type(form, "integer");
        form_put_string(form, "description", description);
        form_end(form, '}');
    }
    scalar(form, "label", "string", "What to call it; safe to print.");
    scalar(form, "age_ns", "integer", "How long before the snapshot it was read, in nanoseconds.");
    begin(form, "availability");
    form_put_string(form, "description", "Of those values that are not simply there, by column.");
    form_put_string(form, "type", "object");
    reference(form, "additionalProperties", "availability");
    form_end(form, '}');
    begin(form, "ages_ns");
    form_put_string(form, "description",
                    "The ages of those values that were not read with their row, by column.");
    form_put_string(form, "type", "object");
    begin_line(form, "additionalProperties", '{');
    form_put_string(form, "type", "integer");
    end_line(form, '}');
    form_end(form, '}');
    for (vitals_metric metric = metrics_first(entity); metric != 0;
         metric = metrics_after(metric)) {
        vitals_type type = vitals_metric_type(metric);
        begin(form, vitals_metric_name(metric));
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

static void print_tables(struct json_form *form)
{
    begin(form, "tables");
    form_put_string(form, "description", "The rows of each table, in the order of keys.");
    form_put_string(form, "type", "object");
    begin(form, "properties");
    for (vitals_table entity = 0; (entity = vitals_table_next(entity)) != 0;) {
        begin(form, vitals_table_name(entity));
        form_put_string(form, "type", "array");
        reference(form, "items", vitals_table_name(entity));
        form_end(form, '}');
    }
    form_end(form, '}');
    form_end(form, '}');
}

static void print_properties(struct json_form *form)
{
    begin(form, "properties");
    begin(form, "schema");
    form_put_count(form, "const", VITALS_SCHEMA);
    form_put_string(form, "description", "The number of this form.");
    form_end(form, '}');
    scalar(form, "vitals", "string", "The version of vitals that wrote it.");

    static const char *const names[] = {"name", "boot_id", "pid_namespace"};
    begin(form, "host");
    form_put_string(form, "type", "object");
    form_put_string(form, "description",
                    "The machine that was read: pids mean something only together with all three.");
    print_required(form, names, 3);
    begin(form, "properties");
    scalar(form, "name", "string", "The host's name.");
    scalar(form, "boot_id", "string", "The kernel's identifier of this boot.");
    integer(form, "pid_namespace", 0, "Inode number of the pid namespace; 0: not known.");
    form_end(form, '}');
    form_end(form, '}');

    begin(form, "time");
    form_put_string(form, "type", "string");
    form_put_string(form, "format", "date-time");
    form_put_string(form, "description", "realtime_ns for people, in UTC.");
    form_end(form, '}');
    instant(form, "realtime_ns", "Since 1970, when the reading was complete.");
    instant(form, "boottime_ns", "Since boot, suspend included.");
    instant(form, "monotonic_ns", "The clock that intervals are made of.");
    integer(
        form, "stream", 0,
        "The stream of the keys: keys of two snapshots mean the same only in one stream; 0: not "
        "known.");
    integer(form, "sequence", 0, "The number of the snapshot among its sampler's.");

    begin(form, "columns");
    form_put_string(form, "description",
                    "The columns that each table has, also where it has no row.");
    form_put_string(form, "type", "object");
    begin(form, "additionalProperties");
    form_put_string(form, "type", "array");
    form_key(form, "uniqueItems");
    form_bool(form, true);
    begin_line(form, "items", '{');
    form_put_string(form, "type", "string");
    end_line(form, '}');
    form_end(form, '}');
    form_end(form, '}');

    /* Words of availability, by table; tables that are simply all there are not in it. */
    begin(form, "states");
    form_put_string(
        form, "description",
        "The tables whose rows are not all there, or why there are none. Left out where it "
        "would be empty.");
    form_put_string(form, "type", "object");
    begin(form, "additionalProperties");
    form_put_string(form, "type", "string");
    form_end(form, '}');
    form_end(form, '}');

    print_tables(form);
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
    print_required(&form, names, sizeof names / sizeof names[0]);
    print_properties(&form);
    begin(&form, "$defs");

    begin(&form, "instant");
    form_put_string(&form, "description", "Nanoseconds, in decimal digits: they pass 2^53.");
    form_put_string(&form, "type", "string");
    form_put_string(&form, "pattern", "^(0|[1-9][0-9]{0,19})$");
    form_end(&form, '}');

    begin(&form, "availability");
    form_put_string(
        &form, "description",
        "How good a value is, or why there is none. A value that is simply there has no entry.");
    form_key(&form, "oneOf");
    form_begin(&form, '[');
    for (int availability = VITALS_AVAILABILITY_MAX; availability >= VITALS_AVAILABILITY_MIN;
         availability--) {
        if (availability == VITALS_UNSET || availability == VITALS_HAVE)
            continue;
        begin_line(&form, NULL, '{');
        form_put_string(&form, "const",
                        vitals_availability_name((vitals_availability)availability));
        form_put_string(&form, "description",
                        vitals_availability_help((vitals_availability)availability));
        end_line(&form, '}');
    }
    form_end(&form, ']');
    form_end(&form, '}');

    for (vitals_table entity = 0; (entity = vitals_table_next(entity)) != 0;)
        print_row(&form, entity);
    form_end(&form, '}');
    form_end(&form, '}');
    output_text(output, "\n");
}
