/* metrics.c: `vitals metrics`: the catalogue, for people, programs, C and the documents.
 *
 * All of it comes from <vitals/catalogue.h>: what the loaded library knows. */
#include "command/look/metrics.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command/look/json_print.h"

const char *metrics_type_name(vitals_type type)
{
    switch (type) {
    case VITALS_U64: return "u64";
    case VITALS_I64: return "i64";
    case VITALS_F64: return "f64";
    case VITALS_TEXT: return "text";
    }
    return "?";
}

const char *metrics_kind_name(vitals_kind kind)
{
    switch (kind) {
    case VITALS_GAUGE: return "gauge";
    case VITALS_COUNTER: return "counter";
    case VITALS_IDENTITY: return "identity";
    }
    return "?";
}

vitals_metric metrics_first(vitals_entity entity)
{
    vitals_metric metric = vitals_metric_next((vitals_metric)0);
    while (metric != 0 && vitals_metric_entity(metric) != entity)
        metric = vitals_metric_next(metric);
    return metric;
}

vitals_metric metrics_after(vitals_metric metric)
{
    vitals_metric next = vitals_metric_next(metric);
    bool same = next != 0 && vitals_metric_entity(next) == vitals_metric_entity(metric);
    return same ? next : (vitals_metric)0;
}

/* --- Plain --------------------------------------------------------------------------------------
 */

/* One line each, so that grep finds what it is about. */
static void print_list(struct output *output)
{
    for (vitals_entity entity = vitals_entity_next((vitals_entity)0); entity != 0;
         entity = vitals_entity_next(entity)) {
        output_format(output, "%s: %s\n", vitals_entity_name(entity), vitals_entity_help(entity));
        for (vitals_metric metric = metrics_first(entity); metric != 0;
             metric = metrics_after(metric))
            output_format(output, "  %-32s %-8s %-9s %s\n", vitals_metric_name(metric),
                          vitals_metric_unit(metric), metrics_kind_name(vitals_metric_kind(metric)),
                          vitals_metric_help(metric));
        output_text(output, vitals_entity_next(entity) != 0 ? "\n" : "");
    }
}

/* --- JSON ---------------------------------------------------------------------------------------
 */

static const struct {
    const char *word, *where;
} PRICES[] = {
    [VITALS_PRICE_TICK] = {"tick", "tick"},
    [VITALS_PRICE_LANE] = {"lane", "beside the tick"},
    [VITALS_PRICE_SLOW] = {"slow", "beside the tick, by itself"},
};

static void print_metric(struct json_print *print, vitals_metric metric)
{
    json_open_object(print, NULL);
    json_text(print, "name", vitals_metric_name(metric));
    json_number(print, "number", (uint64_t)metric);
    json_text(print, "unit", vitals_metric_unit(metric));
    json_text(print, "type", metrics_type_name(vitals_metric_type(metric)));
    json_text(print, "kind", metrics_kind_name(vitals_metric_kind(metric)));
    json_text(print, "price", PRICES[vitals_metric_price(metric)].word);
    vitals_entity target = vitals_metric_target(metric);
    if (target != 0)
        json_text(print, "target", vitals_entity_name(target));
    else
        json_nothing(print, "target");
    json_number(print, "every_ns", vitals_metric_every_ns(metric));
    json_number(print, "resolution_ns", vitals_metric_resolution_ns(metric, 0));
    json_number(print, "resolution_estimate_ns", vitals_metric_resolution_ns(metric, 1));
    json_text(print, "source", vitals_metric_source(metric));
    json_text(print, "help", vitals_metric_help(metric));
    json_close_object(print);
}

static void print_json(struct output *output)
{
    struct json_print print;
    json_print_init(&print, output);
    json_open_object(&print, NULL);
    json_text(&print, "vitals", vitals_version_text());
    json_number(&print, "schema", VITALS_SCHEMA);
    json_open_array(&print, "tables");
    for (vitals_entity entity = vitals_entity_next((vitals_entity)0); entity != 0;
         entity = vitals_entity_next(entity)) {
        json_open_object(&print, NULL);
        json_text(&print, "name", vitals_entity_name(entity));
        json_number(&print, "number", (uint64_t)entity);
        if (vitals_entity_parent(entity) != 0)
            json_text(&print, "parent", vitals_entity_name(vitals_entity_parent(entity)));
        else
            json_nothing(&print, "parent");
        json_text(&print, "help", vitals_entity_help(entity));
        json_open_array(&print, "metrics");
        for (vitals_metric metric = metrics_first(entity); metric != 0;
             metric = metrics_after(metric))
            print_metric(&print, metric);
        json_close_array(&print);
        json_close_object(&print);
    }
    json_close_array(&print);
    json_close_object(&print);
}

/* --- C ------------------------------------------------------------------------------------------
 */

static void print_upper(struct output *output, const char *name)
{
    for (; *name != '\0'; name++)
        output_format(output, "%c", toupper((unsigned char)*name));
}

static void print_header(struct output *output)
{
    output_text(
        output,
        "/* metrics.h: the constants of the catalogue. Printed by the program from src/metric/; do "
        "not edit,\n"
        " * run `make docs`. Numbers stand for ever. What each means: docs/metrics.md, or vitals "
        "metrics.\n"
        " * Both lists grow, so that their types are integers and not enums. */\n"
        "#ifndef VITALS_METRICS_H\n#define VITALS_METRICS_H\n\n#include <stdint.h>\n\n"
        "/* Tables of a snapshot. */\ntypedef uint32_t vitals_entity;\n\nenum {");
    const char *between = "\n";
    for (vitals_entity entity = vitals_entity_next((vitals_entity)0); entity != 0;
         entity = vitals_entity_next(entity)) {
        output_format(output, "%s    VITALS_", between);
        print_upper(output, vitals_entity_name(entity));
        output_format(output, " = %d", (int)entity);
        between = ",\n";
    }
    output_text(output, "\n};\n\n"
                        "/* Columns: the entity's number, shifted by 8, and the metric's. */\n"
                        "typedef uint32_t vitals_metric;\n\nenum {");
    between = "\n";
    for (vitals_metric metric = vitals_metric_next((vitals_metric)0); metric != 0;
         metric = vitals_metric_next(metric)) {
        output_format(output, "%s    VITALS_", between);
        print_upper(output, vitals_entity_name(vitals_metric_entity(metric)));
        output_text(output, "_");
        print_upper(output, vitals_metric_name(metric));
        output_format(output, " = 0x%04x", (unsigned)metric);
        between = ",\n";
    }
    output_text(output, "\n};\n\n#endif\n");
}

/* --- Markdown -----------------------------------------------------------------------------------
 */

static void print_cadence(struct output *output, vitals_metric metric)
{
    uint64_t every = vitals_metric_every_ns(metric);
    const char *where = PRICES[vitals_metric_price(metric)].where;
    if (every == 0)
        output_text(output, where);
    else
        output_format(output, "%s, every %g s", where, (double)every / 1e9);
}

/* A bar would end the cell. */
static void print_cell(struct output *output, const char *text)
{
    for (; *text != '\0'; text++)
        output_format(output, *text == '|' ? "\\%c" : "%c", *text);
}

static void print_markdown(struct output *output)
{
    output_text(output,
                "# Metrics\n\n"
                "Printed by `vitals metrics --markdown`; do not edit, run `make docs`.\n\n"
                "Each table is a table of a snapshot, each metric a column of it, in C "
                "`VITALS_<TABLE>_<METRIC>`.\nA counter only grows while its row lives, and rates "
                "are made of it; a gauge goes up and down; an identity\ndoes not move. "
                "*Read* says when: at each tick of the sampler, or beside it, and how often unless "
                "a request\nsays otherwise.\n");
    for (vitals_entity entity = vitals_entity_next((vitals_entity)0); entity != 0;
         entity = vitals_entity_next(entity)) {
        output_format(output, "\n## %s\n\n%s", vitals_entity_name(entity),
                      vitals_entity_help(entity));
        if (vitals_entity_parent(entity) != 0)
            output_format(output, " Parent: `%s`.",
                          vitals_entity_name(vitals_entity_parent(entity)));
        output_text(output, "\n\n| metric | unit | kind | type | read | what | from |\n"
                            "|---|---|---|---|---|---|---|\n");
        for (vitals_metric metric = metrics_first(entity); metric != 0;
             metric = metrics_after(metric)) {
            output_format(output, "| `%s` | %s | %s | %s | ", vitals_metric_name(metric),
                          vitals_metric_unit(metric), metrics_kind_name(vitals_metric_kind(metric)),
                          metrics_type_name(vitals_metric_type(metric)));
            print_cadence(output, metric);
            output_text(output, " | ");
            print_cell(output, vitals_metric_help(metric));
            output_text(output, " | ");
            print_cell(output, vitals_metric_source(metric));
            output_text(output, " |\n");
        }
    }
}

int command_metrics(const struct settings *settings)
{
    struct output output;
    const struct {
        bool wanted;
        void (*print)(struct output *output);
    } forms[] = {{settings->form_json, print_json},
                 {settings->form_header, print_header},
                 {settings->form_markdown, print_markdown},
                 {settings->form_schema, metrics_print_schema},
                 {true, print_list}};
    size_t wanted = 0, form = sizeof forms / sizeof forms[0];
    while (form-- > 0)
        wanted += forms[form].wanted;
    if (wanted > 2)
        return command_fail(EXIT_USAGE, "metrics prints one form at a time");
    for (form = 0; !forms[form].wanted; form++)
        ;
    output_init(&output, STDOUT_FILENO);
    forms[form].print(&output);
    return output_done(&output, EXIT_DONE);
}
