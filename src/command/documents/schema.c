/* schema.c: docs/schema/snapshot.json: the form of a snapshot as JSON Schema 2020-12.
 *
 * Values of a column may be missing: null, and the row's `availability` says why. Tables and
 * columns that a newer vitals adds are allowed, because a reader passes over what it does not know.
 */
#include <stdio.h>
#include <string.h>

#include "command/documents/documents.h"
#include "command/look/json_print.h"
#include "command/look/metrics.h"

static void reference(struct json_print *print, const char *key, const char *definition)
{
    char path[80];
    snprintf(path, sizeof path, "#/$defs/%s", definition);
    json_open_line(print, key, '{');
    json_text(print, "$ref", path);
    json_close_line(print, '}');
}

/* "key": {"type": type, …}; a range of integers where `minimum` is not NULL. */
static void scalar(struct json_print *print, const char *key, const char *type,
                   const char *description)
{
    json_open_object(print, key);
    json_text(print, "type", type);
    json_text(print, "description", description);
    json_close_object(print);
}

static void integer(struct json_print *print, const char *key, uint64_t minimum,
                    const char *description)
{
    json_open_object(print, key);
    json_text(print, "type", "integer");
    json_number(print, "minimum", minimum);
    json_number(print, "maximum", (uint64_t)1 << 53);
    json_text(print, "description", description);
    json_close_object(print);
}

static void instant(struct json_print *print, const char *key, const char *description)
{
    json_open_object(print, key);
    json_text(print, "$ref", "#/$defs/instant");
    json_text(print, "description", description);
    json_close_object(print);
}

static void print_required(struct json_print *print, const char *const *names, size_t count)
{
    json_open_line(print, "required", '[');
    for (size_t i = 0; i < count; i++)
        json_text(print, NULL, names[i]);
    json_close_line(print, ']');
}

static void print_host(struct json_print *print)
{
    static const char *const names[] = {"name", "boot_id", "pid_namespace"};
    json_open_object(print, "host");
    json_text(print, "type", "object");
    json_text(print, "description",
              "Whose it is: pids mean something only together with all three.");
    print_required(print, names, 3);
    json_open_object(print, "properties");
    scalar(print, "name", "string", "The host's name.");
    scalar(print, "boot_id", "string", "The kernel's identifier of this boot.");
    integer(print, "pid_namespace", 0, "Inode number of the pid namespace; 0: not known.");
    json_close_object(print);
    json_close_object(print);
}

/* --- Definitions --------------------------------------------------------------------------------
 */

static void print_availability(struct json_print *print)
{
    json_open_object(print, "availability");
    json_text(
        print, "description",
        "How good a value is, or why there is none. A value that is simply there has no entry.");
    json_open_array(print, "oneOf");
    for (int availability = VITALS_AVAILABILITY_MAX; availability >= VITALS_AVAILABILITY_MIN;
         availability--) {
        if (availability == VITALS_UNSET || availability == VITALS_HAVE)
            continue;
        json_open_line(print, NULL, '{');
        json_text(print, "const", vitals_availability_name((vitals_availability)availability));
        json_text(print, "description",
                  vitals_availability_help((vitals_availability)availability));
        json_close_line(print, '}');
    }
    json_close_array(print);
    json_close_object(print);
}

static void print_instant(struct json_print *print)
{
    json_open_object(print, "instant");
    json_text(print, "description", "Nanoseconds, in decimal digits: they pass 2^53.");
    json_text(print, "type", "string");
    json_text(print, "pattern", "^(0|[1-9][0-9]{0,19})$");
    json_close_object(print);
}

static void print_column(struct json_print *print, vitals_metric metric)
{
    vitals_type type = vitals_metric_type(metric);
    json_open_object(print, vitals_metric_name(metric));
    json_open_line(print, "type", '[');
    json_text(print, NULL,
              type == VITALS_TEXT  ? "string"
              : type == VITALS_F64 ? "number"
                                   : "integer");
    json_text(print, NULL, "null");
    json_close_line(print, ']');
    if (vitals_metric_target(metric) != 0)
        json_text(print, "x-key-of", vitals_entity_name(vitals_metric_target(metric)));
    if (type == VITALS_U64) {
        json_number(print, "minimum", 0);
        json_number(print, "maximum", (uint64_t)1 << 53);
    }
    if (vitals_metric_unit(metric)[0] != '\0')
        json_text(print, "x-unit", vitals_metric_unit(metric));
    json_text(print, "x-kind", metrics_kind_name(vitals_metric_kind(metric)));
    json_text(print, "description", vitals_metric_help(metric));
    json_close_object(print);
}

static void print_row(struct json_print *print, vitals_entity entity)
{
    static const char *const names[] = {"key", "label", "age_ns", "parent"};
    bool has_parent = vitals_entity_parent(entity) != 0;
    json_open_object(print, vitals_entity_name(entity));
    json_text(print, "description", vitals_entity_help(entity));
    json_text(print, "type", "object");
    print_required(print, names, has_parent ? 4 : 3);
    json_open_object(print, "properties");
    integer(print, "key", 1, "Unique in its table, and never given again by the same sampler.");
    if (has_parent) {
        char description[128];
        snprintf(description, sizeof description,
                 "The key of a row of %s, which need not be in the document; null: it has none.",
                 vitals_entity_name(vitals_entity_parent(entity)));
        json_open_object(print, "parent");
        json_open_line(print, "type", '[');
        json_text(print, NULL, "integer");
        json_text(print, NULL, "null");
        json_close_line(print, ']');
        json_text(print, "description", description);
        json_close_object(print);
    }
    scalar(print, "label", "string", "What to call it; safe to print.");
    scalar(print, "age_ns", "integer", "How long before the snapshot it was read, in nanoseconds.");
    json_open_object(print, "availability");
    json_text(print, "description", "Of those values that are not simply there, by column.");
    json_text(print, "type", "object");
    reference(print, "additionalProperties", "availability");
    json_close_object(print);
    json_open_object(print, "ages_ns");
    json_text(print, "description",
              "The ages of those values that were not read with their row, by column.");
    json_text(print, "type", "object");
    json_open_line(print, "additionalProperties", '{');
    json_text(print, "type", "integer");
    json_close_line(print, '}');
    json_close_object(print);
    for (vitals_metric metric = metrics_first(entity); metric != 0; metric = metrics_after(metric))
        print_column(print, metric);
    json_close_object(print);
    json_close_object(print);
}

/* --- The document -------------------------------------------------------------------------------
 */

static void print_columns(struct json_print *print)
{
    json_open_object(print, "columns");
    json_text(print, "description", "The columns that each table has, also where it has no row.");
    json_text(print, "type", "object");
    json_open_object(print, "additionalProperties");
    json_text(print, "type", "array");
    json_flag(print, "uniqueItems", true);
    json_open_line(print, "items", '{');
    json_text(print, "type", "string");
    json_close_line(print, '}');
    json_close_object(print);
    json_close_object(print);
}

static void print_tables(struct json_print *print)
{
    json_open_object(print, "tables");
    json_text(print, "description", "The rows of each table, in the order of keys.");
    json_text(print, "type", "object");
    json_open_object(print, "properties");
    for (vitals_entity entity = vitals_entity_next((vitals_entity)0); entity != 0;
         entity = vitals_entity_next(entity)) {
        json_open_object(print, vitals_entity_name(entity));
        json_text(print, "type", "array");
        reference(print, "items", vitals_entity_name(entity));
        json_close_object(print);
    }
    json_close_object(print);
    json_close_object(print);
}

/* Words of availability, by table; tables that are simply all there are not in it. */
static void print_states(struct json_print *print)
{
    json_open_object(print, "states");
    json_text(print, "description",
              "The tables whose rows are not all there, or why there are none. Left out where it "
              "would be empty.");
    json_text(print, "type", "object");
    json_open_object(print, "additionalProperties");
    json_text(print, "type", "string");
    json_close_object(print);
    json_close_object(print);
}

static void print_properties(struct json_print *print)
{
    json_open_object(print, "properties");
    json_open_object(print, "schema");
    json_number(print, "const", VITALS_SCHEMA);
    json_text(print, "description", "The number of this form.");
    json_close_object(print);
    scalar(print, "vitals", "string", "The version of vitals that wrote it.");
    print_host(print);
    json_open_object(print, "time");
    json_text(print, "type", "string");
    json_text(print, "format", "date-time");
    json_text(print, "description", "realtime_ns for people, in UTC.");
    json_close_object(print);
    instant(print, "realtime_ns", "Since 1970, when the reading was complete.");
    instant(print, "boottime_ns", "Since boot, suspend included.");
    instant(print, "monotonic_ns", "The clock that intervals are made of.");
    integer(print, "stream", 0,
            "Whose keys these are: keys of two snapshots mean the same only in one stream; 0: not "
            "known.");
    integer(print, "sequence", 0, "The number of the snapshot among its sampler's.");
    print_columns(print);
    print_states(print);
    print_tables(print);
    json_close_object(print);
}

void document_snapshot_schema(struct output *output)
{
    static const char *const names[] = {"schema",      "vitals",      "host",         "time",
                                        "realtime_ns", "boottime_ns", "monotonic_ns", "stream",
                                        "sequence",    "columns",     "tables"};
    struct json_print print;
    json_print_init(&print, output);
    json_open_object(&print, NULL);
    json_text(&print, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_text(&print, "title", "A snapshot of vitals");
    json_text(
        &print, "description",
        "What was read at one moment. Generated from the catalogue; do not edit, run `make docs`.");
    json_text(&print, "type", "object");
    print_required(&print, names, sizeof names / sizeof names[0]);
    print_properties(&print);
    json_open_object(&print, "$defs");
    print_instant(&print);
    print_availability(&print);
    for (vitals_entity entity = vitals_entity_next((vitals_entity)0); entity != 0;
         entity = vitals_entity_next(entity))
        print_row(&print, entity);
    json_close_object(&print);
    json_close_object(&print);
}
