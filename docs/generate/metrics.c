/* metrics.c: include/vitals/metrics.h and docs/metrics.md, from the catalogue, and
 * include/vitals/measures.h, from the measures of a run. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "command/look/metrics.h"
#include "documents.h"

static void print_upper(struct output *output, const char *name)
{
    for (; *name != '\0'; name++)
        output_format(output, "%c", toupper((unsigned char)*name));
}

/* A // comment in lines of at most 100 columns. A source may hold an asterisk before a slash, which
 * would end the other kind of comment. */
struct comment {
    struct output *output;
    size_t column;
};

static void comment_add(struct comment *comment, const char *text)
{
    enum { WIDTH = 100 };
    for (const char *word = text; *word != '\0';) {
        size_t size = strcspn(word, " ");
        if (comment->column + 1 + size > WIDTH) {
            output_text(comment->output, "\n    //");
            comment->column = 6;
        }
        output_format(comment->output, " %.*s", (int)size, word);
        comment->column += 1 + size;
        word += size + strspn(word + size, " ");
    }
}

/* Prints the meaning, unit, kind, type and source of a metric. */
static void print_meaning(struct output *output, vitals_metric metric)
{
    const char *unit = vitals_metric_unit(metric), *source = vitals_metric_source(metric);
    struct comment comment = {output, 6};
    output_text(output, "    //");
    comment_add(&comment, vitals_metric_help(metric));
    char form[128];
    (void)snprintf(form, sizeof form, "%s%s%s, %s.", unit, unit[0] != '\0' ? ", " : "",
                   metrics_kind_name(vitals_metric_kind(metric)),
                   metrics_type_name(vitals_metric_type(metric)));
    comment_add(&comment, unit[0] != '\0' ? "Unit:" : "Form:");
    comment_add(&comment, form);
    if (source[0] != '\0') {
        comment_add(&comment, "Source:");
        comment_add(&comment, source);
    }
    output_text(output, "\n");
}

void document_metrics_header(struct output *output)
{
    output_text(
        output,
        "/* metrics.h: numbers of all tables and metrics that a snapshot can hold.\n"
        " *\n"
        " * Generated from src/model/metrics.def by `make docs`. A number is never given to "
        "another\n"
        " * metric. Both lists grow: a newer library may give a program numbers that its header\n"
        " * lacks. */\n"
        "#ifndef VITALS_METRICS_H\n#define VITALS_METRICS_H\n\n"
        "/* Tables of a snapshot. */\ntypedef enum vitals_table {\n    VITALS_TABLE_NONE = 0");
    for (vitals_table table = vitals_table_next((vitals_table)0); table != 0;
         table = vitals_table_next(table)) {
        struct comment comment = {output, 6};
        output_text(output, ",\n    //");
        comment_add(&comment, vitals_table_help(table));
        output_text(output, "\n    VITALS_TABLE_");
        print_upper(output, vitals_table_name(table));
        output_format(output, " = %d", (int)table);
    }
    output_text(output, "\n} vitals_table;\n\n"
                        "/* Columns of the tables: the table's number, shifted by 8, and the\n"
                        " * metric's. */\n"
                        "typedef enum vitals_metric {\n    VITALS_METRIC_NONE = 0");
    for (vitals_metric metric = vitals_metric_next((vitals_metric)0); metric != 0;
         metric = vitals_metric_next(metric)) {
        output_text(output, ",\n");
        print_meaning(output, metric);
        output_text(output, "    VITALS_");
        print_upper(output, vitals_table_name(vitals_metric_table(metric)));
        output_text(output, "_");
        print_upper(output, vitals_metric_name(metric));
        output_format(output, " = 0x%04x", (unsigned)metric);
    }
    output_text(output, "\n} vitals_metric;\n\n#endif\n");
}

/* "memory_resident_bytes", "peak" → "memory_resident_peak_bytes"; "threads_peak". */
static void print_statistic(struct output *output, vitals_measure measure, const char *statistic)
{
    const char *name = vitals_measure_name(measure), *unit = vitals_measure_unit(measure);
    size_t size = strlen(name), tail = strlen(unit);
    bool ends = tail > 0 && size > tail + 1 && strcmp(name + size - tail, unit) == 0;
    char whole[128];
    if (ends)
        (void)snprintf(whole, sizeof whole, "%.*s_%s_%s", (int)(size - tail - 1), name, statistic,
                       unit);
    else
        (void)snprintf(whole, sizeof whole, "%s_%s", name, statistic);
    output_text(output, "#define VITALS_FIGURE_");
    print_upper(output, whole);
    output_format(output, " \"%s\"\n", whole);
}

void document_measures_header(struct output *output)
{
    static const char *const STATISTICS[] = {"peak", "mean", "min"};
    output_text(
        output,
        "/* measures.h: measures of a usage, and names of the figures that an account makes of "
        "them.\n"
        " *\n"
        " * Generated from src/run/measures.def by `make docs`. A number is never given to "
        "another\n"
        " * measure, and a newer library may give numbers that are not here. */\n"
        "#ifndef VITALS_MEASURES_H\n#define VITALS_MEASURES_H\n\n"
        "/* What is measured. */\ntypedef enum vitals_measure {\n    VITALS_MEASURE_NONE = 0");
    for (vitals_measure measure = 0; (measure = vitals_measure_next(measure)) != 0;) {
        struct comment comment = {output, 6};
        char form[64];
        const char *unit = vitals_measure_unit(measure);
        (void)snprintf(form, sizeof form, "%s, %s.", unit[0] != '\0' ? unit : "a count",
                       vitals_measure_is_counter(measure) != 0 ? "counter" : "gauge");
        output_text(output, ",\n    //");
        comment_add(&comment, vitals_measure_help(measure));
        comment_add(&comment, "Unit:");
        comment_add(&comment, form);
        output_text(output, "\n    VITALS_MEASURE_");
        print_upper(output, vitals_measure_name(measure));
        output_format(output, " = %u", (unsigned)measure);
    }
    output_text(output, "\n} vitals_measure;\n\n"
                        "/* Figures of an account (vitals_account_find): the growth of a counter; "
                        "the peak, mean\n * and least of a gauge. account.h has the others. */\n"
                        "/* clang-format off */\n");
    for (vitals_measure measure = 0; (measure = vitals_measure_next(measure)) != 0;) {
        if (vitals_measure_is_counter(measure) != 0) {
            output_text(output, "#define VITALS_FIGURE_");
            print_upper(output, vitals_measure_name(measure));
            output_format(output, " \"%s\"\n", vitals_measure_name(measure));
            continue;
        }
        for (size_t i = 0; i < sizeof STATISTICS / sizeof STATISTICS[0]; i++)
            print_statistic(output, measure, STATISTICS[i]);
    }
    output_text(output, "/* clang-format on */\n\n#endif\n");
}

static const char *const PRICES[] = {[VITALS_PRICE_TICK] = "tick",
                                     [VITALS_PRICE_WORKER] = "beside the tick",
                                     [VITALS_PRICE_SLOW] = "beside the tick, by itself"};

/* Escapes bars, which would end the cell. */
static void print_cell(struct output *output, const char *text)
{
    for (; *text != '\0'; text++)
        output_format(output, *text == '|' ? "\\%c" : "%c", *text);
}

void document_metrics(struct output *output)
{
    output_text(output,
                "# Metrics\n\n"
                "    vitals metrics | grep memory\n"
                "    vitals ps -o pid,rss,swapped_bytes\n\n"
                "Generated from the catalogue; do not edit, run `make docs`.\n\n"
                "Each table is a table of a snapshot, each metric a column of it, in C "
                "`VITALS_<TABLE>_<METRIC>`.\nA counter only grows while its row lives, and rates "
                "are made of it; a gauge goes up and down; an identity\ndoes not change. "
                "*Read* says when: at each tick of the sampler, or beside it, and how often unless "
                "a request\nsays otherwise.\n");
    for (vitals_table entity = 0; (entity = vitals_table_next(entity)) != 0;) {
        output_format(output, "\n## %s\n\n%s", vitals_table_name(entity),
                      vitals_table_help(entity));
        if (vitals_table_parent(entity) != 0)
            output_format(output, " Parent: `%s`.", vitals_table_name(vitals_table_parent(entity)));
        output_text(output, "\n\n| metric | unit | kind | type | read | what | from |\n"
                            "|---|---|---|---|---|---|---|\n");
        for (vitals_metric metric = 0; (metric = vitals_metric_next_of(entity, metric)) != 0;) {
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
