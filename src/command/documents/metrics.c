/* metrics.c: include/vitals/metrics.h and docs/metrics.md, from the catalogue. */
#include <ctype.h>

#include "command/documents/documents.h"
#include "command/look/metrics.h"

static void print_upper(struct output *output, const char *name)
{
    for (; *name != '\0'; name++)
        output_format(output, "%c", toupper((unsigned char)*name));
}

void document_metrics_header(struct output *output)
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
    for (vitals_entity entity = 0; (entity = vitals_entity_next(entity)) != 0;) {
        output_format(output, "%s    VITALS_", between);
        print_upper(output, vitals_entity_name(entity));
        output_format(output, " = %d", (int)entity);
        between = ",\n";
    }
    output_text(output, "\n};\n\n"
                        "/* Columns: the entity's number, shifted by 8, and the metric's. */\n"
                        "typedef uint32_t vitals_metric;\n\nenum {");
    between = "\n";
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;) {
        output_format(output, "%s    VITALS_", between);
        print_upper(output, vitals_entity_name(vitals_metric_entity(metric)));
        output_text(output, "_");
        print_upper(output, vitals_metric_name(metric));
        output_format(output, " = 0x%04x", (unsigned)metric);
        between = ",\n";
    }
    output_text(output, "\n};\n\n#endif\n");
}

static const char *const PRICES[] = {[VITALS_PRICE_TICK] = "tick",
                                     [VITALS_PRICE_LANE] = "beside the tick",
                                     [VITALS_PRICE_SLOW] = "beside the tick, by itself"};

/* A bar would end the cell. */
static void print_cell(struct output *output, const char *text)
{
    for (; *text != '\0'; text++)
        output_format(output, *text == '|' ? "\\%c" : "%c", *text);
}

void document_metrics(struct output *output)
{
    output_text(output,
                "# Metrics\n\n"
                "Generated from the catalogue; do not edit, run `make docs`.\n\n"
                "Each table is a table of a snapshot, each metric a column of it, in C "
                "`VITALS_<TABLE>_<METRIC>`.\nA counter only grows while its row lives, and rates "
                "are made of it; a gauge goes up and down; an identity\ndoes not move. "
                "*Read* says when: at each tick of the sampler, or beside it, and how often unless "
                "a request\nsays otherwise.\n");
    for (vitals_entity entity = 0; (entity = vitals_entity_next(entity)) != 0;) {
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

            uint64_t every = vitals_metric_every_ns(metric);
            const char *where = PRICES[vitals_metric_price(metric)];
            if (every == 0)
                output_text(output, where);
            else
                output_format(output, "%s, every %g s", where, (double)every / 1e9);

            output_text(output, " | ");
            print_cell(output, vitals_metric_help(metric));
            output_text(output, " | ");
            print_cell(output, vitals_metric_source(metric));
            output_text(output, " |\n");
        }
    }
}
