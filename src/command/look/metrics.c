/* metrics.c: `vitals metrics`: the catalogue of <vitals/catalogue.h> as text or JSON. */
#include "command/look/metrics.h"

#include <unistd.h>

#include "report/json_form.h"

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

static const char *const PRICES[] = {
    [VITALS_PRICE_TICK] = "tick", [VITALS_PRICE_WORKER] = "worker", [VITALS_PRICE_SLOW] = "slow"};

static void print_json(struct output *output)
{
    struct json_form form;
    json_form_init(&form, 2, output_write, output);
    form_begin(&form, '{');
    form_put_string(&form, "vitals", vitals_version_text());
    form_put_count(&form, "schema", VITALS_SCHEMA);
    form_begin_member(&form, "tables", '[');
    for (vitals_table entity = 0; (entity = vitals_table_next(entity)) != 0;) {
        form_begin(&form, '{');
        form_put_string(&form, "name", vitals_table_name(entity));
        form_put_count(&form, "number", (uint64_t)entity);
        vitals_table parent = vitals_table_parent(entity);
        form_put_string(&form, "parent", parent != 0 ? vitals_table_name(parent) : NULL);
        form_put_string(&form, "help", vitals_table_help(entity));
        form_begin_member(&form, "metrics", '[');
        for (vitals_metric metric = 0; (metric = vitals_metric_next_of(entity, metric)) != 0;) {
            form_begin(&form, '{');
            form_put_string(&form, "name", vitals_metric_name(metric));
            form_put_count(&form, "number", (uint64_t)metric);
            form_put_string(&form, "unit", vitals_metric_unit(metric));
            form_put_string(&form, "type", metrics_type_name(vitals_metric_type(metric)));
            form_put_string(&form, "kind", metrics_kind_name(vitals_metric_kind(metric)));
            form_put_string(&form, "price", PRICES[vitals_metric_price(metric)]);
            vitals_table target = vitals_metric_target(metric);
            form_put_string(&form, "target", target != 0 ? vitals_table_name(target) : NULL);
            form_put_count(&form, "every_ns", vitals_metric_every_ns(metric));
            form_put_count(&form, "resolution_ns", vitals_metric_resolution_ns(metric, 0));
            form_put_count(&form, "resolution_estimate_ns", vitals_metric_resolution_ns(metric, 1));
            form_put_string(&form, "source", vitals_metric_source(metric));
            form_put_string(&form, "help", vitals_metric_help(metric));
            form_end(&form, '}');
        }
        form_end(&form, ']');
        form_end(&form, '}');
    }
    form_end(&form, ']');
    form_end(&form, '}');
    output_text(output, "\n");
}

int command_metrics(const struct settings *settings)
{
    struct output *output = output_begin(STDOUT_FILENO);
    if (settings->look.json)
        print_json(output);
    /* One line for each metric, so that grep finds it. */
    for (vitals_table entity = 0;
         !settings->look.json && (entity = vitals_table_next(entity)) != 0;) {
        output_format(output, "%s: %s\n", vitals_table_name(entity), vitals_table_help(entity));
        for (vitals_metric metric = 0; (metric = vitals_metric_next_of(entity, metric)) != 0;)
            output_format(output, "  %-32s %-8s %-9s %s\n", vitals_metric_name(metric),
                          vitals_metric_unit(metric), metrics_kind_name(vitals_metric_kind(metric)),
                          vitals_metric_help(metric));
        output_text(output, vitals_table_next(entity) != 0 ? "\n" : "");
    }
    return output_done(output, EXIT_DONE);
}
