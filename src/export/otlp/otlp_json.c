/* otlp_json.c: the JSON form of OTLP (otlp_writer.h): keys in lowerCamelCase, integers of 64 bits
 * as strings, enums as numbers. */
#include <inttypes.h>
#include <string.h>

#include "export/otlp/otlp_writer.h"

static void write_string(struct text *text, const char *string)
{
    text_byte(text, '"');
    text_safe(text, (vitals_text){string, strlen(string)}, VITALS_TEXT_JSON);
    text_byte(text, '"');
}

static void write_member(struct text *text, const char *before, const char *string)
{
    text_string(text, before);
    write_string(text, string);
}

static void write_attributes(struct text *text, const struct otlp_attribute *list, size_t count)
{
    text_string(text, "\"attributes\":[");
    for (size_t i = 0; i < count; i++) {
        write_member(text, i > 0 ? ",{\"key\":" : "{\"key\":", list[i].key);
        if (list[i].text != NULL)
            write_member(text, ",\"value\":{\"stringValue\":", list[i].text);
        else
            text_format(text, ",\"value\":{\"intValue\":\"%" PRId64 "\"", list[i].number);
        text_string(text, "}}");
    }
    text_byte(text, ']');
}

static void open_document(void *data)
{
    struct otlp_writer *writer = data;
    struct text *text = &writer->text;
    text_string(text, "{\"resourceMetrics\":[{\"resource\":{");
    write_attributes(text, writer->resource->list, writer->resource->count);
    write_member(text, "},\"scopeMetrics\":[{\"scope\":{\"name\":", writer->resource->scope_name);
    write_member(text, ",\"version\":", writer->resource->scope_version);
    text_string(text, "},\"metrics\":[");
}

static void open_metric(void *data)
{
    struct otlp_writer *writer = data;
    struct text *text = &writer->text;
    const struct otlp_metric *metric = &writer->metric;
    write_member(text, writer->metrics > 1 ? ",{\"name\":" : "{\"name\":", metric->name);
    if (metric->help != NULL)
        write_member(text, ",\"description\":", metric->help);
    write_member(text, ",\"unit\":", metric->unit);
    if (metric->kind == OTLP_GAUGE)
        text_string(text, ",\"gauge\":{");
    else
        text_format(text, ",\"sum\":{\"aggregationTemporality\":2,\"isMonotonic\":%s,",
                    metric->kind == OTLP_COUNTER ? "true" : "false");
    text_string(text, "\"dataPoints\":[");
}

static void write_point(void *data, const struct otlp_point *point)
{
    struct otlp_writer *writer = data;
    struct text *text = &writer->text;
    text_string(text, writer->points > 0 ? ",{" : "{");
    if (writer->metric.kind != OTLP_GAUGE)
        text_format(text, "\"startTimeUnixNano\":\"%" PRIu64 "\",", point->start_ns);
    text_format(text, "\"timeUnixNano\":\"%" PRIu64 "\",", point->time_ns);
    if (point->whole) {
        text_format(text, "\"asInt\":\"%" PRId64 "\",", point->integer);
    } else {
        text_string(text, "\"asDouble\":");
        text_number(text, point->value);
        text_byte(text, ',');
    }
    write_attributes(text, point->attributes->list, point->attributes->count);
    text_byte(text, '}');
}

static void close_metric(void *data)
{
    struct otlp_writer *writer = data;
    text_string(&writer->text, "]}}");
}

static void close_document(void *data)
{
    struct otlp_writer *writer = data;
    write_member(&writer->text, "],\"schemaUrl\":", writer->resource->schema_url);
    write_member(&writer->text, "}],\"schemaUrl\":", writer->resource->schema_url);
    text_string(&writer->text, "}]}");
}

const struct otlp_form otlp_form_json = {
    .name = "http/json",
    .content_type = "application/json",
    .open = open_document,
    .open_metric = open_metric,
    .point = write_point,
    .close_metric = close_metric,
    .close = close_document,
};
