/* otlp_writer.c: see otlp.h. */
#include "export/otlp/otlp.h"

#include <math.h>
#include <string.h>

#include "export/otlp/protobuf.h"

/* The version of the semantic conventions that the names are of. */
static const char SCHEMA_URL[] = "https://opentelemetry.io/schemas/1.44.0";

/* An upper bound for one point with all of its attributes. */
enum { POINT_MAX = 6 * OTLP_STORE + OTLP_ATTRIBUTES * 256, TEXT_MAX = 128 };

/* ---- attributes ---- */

void otlp_attribute_text(struct otlp_attributes *attributes, const char *key, const char *text)
{
    if (attributes->count < OTLP_ATTRIBUTES && text != NULL && text[0] != '\0')
        attributes->list[attributes->count++] = (struct otlp_attribute){.key = key, .text = text};
}

void otlp_attribute_safe(struct otlp_attributes *attributes, const char *key, vitals_text text)
{
    size_t room = sizeof attributes->store - attributes->used;
    char *place = attributes->store + attributes->used;
    if (text.size == 0 || room <= TEXT_MAX)
        return;
    (void)vitals_text_format(text, VITALS_TEXT_TERMINAL, place, TEXT_MAX + 1);
    attributes->used += strlen(place) + 1;
    otlp_attribute_text(attributes, key, place);
}

void otlp_attribute_number(struct otlp_attributes *attributes, const char *key, int64_t number)
{
    if (attributes->count < OTLP_ATTRIBUTES)
        attributes->list[attributes->count++] = (struct otlp_attribute){.key = key,
                                                                        .number = number};
}

/* ---- sums ---- */

uint64_t otlp_sum_start(struct counter_map *sums, uint64_t id, double value, uint64_t time_ns,
                        uint64_t origin_ns)
{
    uint64_t origin = uint64_min(origin_ns, time_ns);
    struct counter_map_entry *sum = counter_map_take(sums, id);
    if (sum == NULL)
        return origin;
    if (sum->at_ns == 0)
        sum->start_ns = origin;
    else if (value < sum->value)
        sum->start_ns = sum->at_ns;
    sum->value = value;
    sum->at_ns = time_ns;
    return uint64_min(sum->start_ns, time_ns);
}

/* ---- messages ---- */

/* Field numbers of opentelemetry/proto/metrics/v1 and collector/metrics/v1, by message. */
enum { REQUEST_RESOURCE_METRICS = 1 };
enum { RESOURCE_METRICS_RESOURCE = 1, RESOURCE_METRICS_SCOPE_METRICS, RESOURCE_METRICS_SCHEMA_URL };
enum { RESOURCE_ATTRIBUTES = 1 };
enum { SCOPE_METRICS_SCOPE = 1, SCOPE_METRICS_METRICS, SCOPE_METRICS_SCHEMA_URL };
enum { SCOPE_NAME = 1, SCOPE_VERSION };
enum { METRIC_NAME = 1, METRIC_DESCRIPTION, METRIC_UNIT, METRIC_GAUGE = 5, METRIC_SUM = 7 };
enum { DATA_POINTS = 1, SUM_TEMPORALITY, SUM_MONOTONIC };
enum { POINT_START = 2, POINT_TIME, POINT_DOUBLE, POINT_INT = 6, POINT_ATTRIBUTES };
enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE };
enum { VALUE_STRING = 1, VALUE_INT = 3 };
enum { CUMULATIVE = 2 };

/* The places of marks. */
enum { IN_RESOURCE_METRICS, IN_SCOPE_METRICS, IN_METRIC, IN_DATA };
_Static_assert(IN_DATA + 1 == OTLP_DEPTH, "a mark for each message that stays open");

static void write_attributes(struct buffer *text, uint32_t field, const struct otlp_attribute *list,
                             size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t attribute = protobuf_open(text, field);
        protobuf_string(text, ATTRIBUTE_KEY, list[i].key);
        size_t value = protobuf_open(text, ATTRIBUTE_VALUE);
        if (list[i].text != NULL)
            protobuf_string(text, VALUE_STRING, list[i].text);
        else
            protobuf_number(text, VALUE_INT, (uint64_t)list[i].number);
        protobuf_close(text, value);
        protobuf_close(text, attribute);
    }
}

/* ---- documents ---- */

static void end_metric(struct otlp_writer *writer)
{
    if (writer->points > 0) {
        protobuf_close(&writer->text, writer->marks[IN_DATA]);
        protobuf_close(&writer->text, writer->marks[IN_METRIC]);
    }
    writer->points = 0;
}

static void end_document(struct otlp_writer *writer)
{
    end_metric(writer);
    if (writer->metrics == 0)
        return;

    protobuf_string(&writer->text, SCOPE_METRICS_SCHEMA_URL, SCHEMA_URL);
    protobuf_close(&writer->text, writer->marks[IN_SCOPE_METRICS]);
    protobuf_string(&writer->text, RESOURCE_METRICS_SCHEMA_URL, SCHEMA_URL);
    protobuf_close(&writer->text, writer->marks[IN_RESOURCE_METRICS]);

    if (!writer->text.failed)
        writer->give(writer->data, &writer->text);
    writer->metrics = 0;
    if (writer->text.failed)
        buffer_done(&writer->text);
    buffer_reset(&writer->text);
}

void otlp_writer_metric(struct otlp_writer *writer, const struct otlp_metric *metric)
{
    end_metric(writer);
    writer->metric = *metric;
}

void otlp_writer_point(struct otlp_writer *writer, const struct otlp_point *point)
{
    struct buffer *text = &writer->text;
    const struct otlp_metric *metric = &writer->metric;
    bool gauge = metric->kind == OTLP_GAUGE;
    if (!point->whole && !isfinite(point->value))
        return;
    if (writer->metrics > 0 && text->size + POINT_MAX > writer->most)
        end_document(writer);
    if (writer->metrics == 0) {
        const struct otlp_resource *resource = writer->resource;
        writer->marks[IN_RESOURCE_METRICS] = protobuf_open(text, REQUEST_RESOURCE_METRICS);
        size_t mark = protobuf_open(text, RESOURCE_METRICS_RESOURCE);
        write_attributes(text, RESOURCE_ATTRIBUTES, resource->list, resource->count);
        protobuf_close(text, mark);
        writer->marks[IN_SCOPE_METRICS] = protobuf_open(text, RESOURCE_METRICS_SCOPE_METRICS);
        mark = protobuf_open(text, SCOPE_METRICS_SCOPE);
        protobuf_string(text, SCOPE_NAME, "vitals");
        protobuf_string(text, SCOPE_VERSION, vitals_version_text());
        protobuf_close(text, mark);
    }
    if (writer->points == 0) {
        writer->metrics++;
        writer->marks[IN_METRIC] = protobuf_open(text, SCOPE_METRICS_METRICS);
        protobuf_string(text, METRIC_NAME, metric->name);
        if (metric->help != NULL)
            protobuf_string(text, METRIC_DESCRIPTION, metric->help);
        protobuf_string(text, METRIC_UNIT, metric->unit);
        writer->marks[IN_DATA] = protobuf_open(text, gauge ? METRIC_GAUGE : METRIC_SUM);
        if (!gauge)
            protobuf_number(text, SUM_TEMPORALITY, CUMULATIVE);
        if (metric->kind == OTLP_COUNTER)
            protobuf_number(text, SUM_MONOTONIC, 1);
    }

    size_t mark = protobuf_open(text, DATA_POINTS);
    if (!gauge)
        protobuf_fixed64(text, POINT_START, point->start_ns);
    protobuf_fixed64(text, POINT_TIME, point->time_ns);
    if (point->whole)
        protobuf_fixed64(text, POINT_INT, (uint64_t)point->integer);
    else
        protobuf_double(text, POINT_DOUBLE, point->value);
    write_attributes(text, POINT_ATTRIBUTES, point->attributes->list, point->attributes->count);
    protobuf_close(text, mark);
    writer->points++;
}

void otlp_writer_end(struct otlp_writer *writer)
{
    end_document(writer);
    buffer_done(&writer->text);
}
