/* metrics.c: `vitals metrics`: the catalogue of <vitals/catalogue.h> as text or JSON. */
#include "command/look/metrics.h"

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

static const char *const PRICES[] = {
    [VITALS_PRICE_TICK] = "tick", [VITALS_PRICE_LANE] = "lane", [VITALS_PRICE_SLOW] = "slow"};

static void print_metric(struct json_print *print, vitals_metric metric)
{
    json_open_object(print, NULL);
    json_text(print, "name", vitals_metric_name(metric));
    json_number(print, "number", (uint64_t)metric);
    json_text(print, "unit", vitals_metric_unit(metric));
    json_text(print, "type", metrics_type_name(vitals_metric_type(metric)));
    json_text(print, "kind", metrics_kind_name(vitals_metric_kind(metric)));
    json_text(print, "price", PRICES[vitals_metric_price(metric)]);
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

int command_metrics(const struct settings *settings)
{
    struct output output;
    output_init(&output, STDOUT_FILENO);
    if (settings->look.json)
        print_json(&output);
    else
        print_list(&output);
    return output_done(&output, EXIT_DONE);
}
