/* export.c: what a document for an OpenTelemetry collector costs, of samples on standard input.
 *
 *     export ROUNDS < lines of vitals --json
 *
 * Prints a line for each level: microseconds of CPU to write the last sample's documents
 * and to pack them, the least of so many rounds; their points and bytes, plain and packed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/body.h"
#include "export/otlp/otlp.h"
#include "export/otlp/protobuf.h"
#include "export/sample.h"
#include "measure.h"

enum { LINE_MAX_BYTES = 64 * 1024 * 1024, ROUNDS_MOST = 1000 };

struct result {
    struct measure write, pack;
    size_t points, bytes, packed;
};

static struct sample *read_input(void)
{
    char *line = malloc(LINE_MAX_BYTES);
    struct sample *moment = NULL;
    if (line == NULL)
        exit(1);
    while (fgets(line, LINE_MAX_BYTES, stdin) != NULL) {
        sample_unref(moment);
        moment = sample_new(line, strcspn(line, "\n"), 0);
    }
    free(line);
    return moment;
}

static void take(void *data, struct buffer *document)
{
    struct buffer *all = data;
    buffer_append(all, document->bytes, document->size);
}

/* Counts the points below `depth` messages of a document. */
static size_t points_in(const char *bytes, size_t size, size_t depth)
{
    /* resource_metrics, scope_metrics, metrics, gauge or sum, data_points */
    static const uint32_t PATH[][2] = {{1, 1}, {2, 2}, {2, 2}, {5, 7}, {1, 1}};
    size_t points = 0;
    struct protobuf_reader reader;
    struct protobuf_field field;
    if (depth == sizeof PATH / sizeof PATH[0])
        return 1;
    protobuf_read(&reader, bytes, size);
    while (protobuf_next(&reader, &field)) {
        if (field.number == PATH[depth][0] || field.number == PATH[depth][1])
            points += field.wire == PROTOBUF_BYTES ? points_in(field.bytes, field.size, depth + 1)
                                                   : 0;
    }
    return points;
}

static void one_round(struct result *result, const vitals_snapshot *snapshot,
                      const struct otlp_look *look)
{
    static const struct otlp_attribute NAME = {.key = "service.name", .text = "vitals"};
    const struct otlp_resource resource = {.list = &NAME, .count = 1};
    struct buffer all = {.bytes = NULL};
    struct otlp_writer writer = {
        .resource = &resource, .most = OTLP_DOCUMENT_MAX, .give = take, .data = &all};
    struct counter_map sums = {.count = 0};
    measure_begin(&result->write);
    otlp_snapshot_write(&writer, &sums, snapshot, look);
    otlp_writer_end(&writer);
    measure_end(&result->write);
    result->points = points_in(all.bytes, all.size, 0);
    result->bytes = all.size;
    struct body *body = body_new(&all);
    if (body == NULL)
        exit(1);
    measure_begin(&result->pack);
    (void)body_packed(body, &result->packed);
    measure_end(&result->pack);
    body_unref(body);
    counter_map_done(&sums);
}

static double least(const struct measure *measure)
{
    uint64_t result = UINT64_MAX;
    for (size_t i = 0; i < measure->count; i++)
        result = measure->cpu_ns[i] < result ? measure->cpu_ns[i] : result;
    return (double)result / 1000;
}

int main(int count, char **arguments)
{
    static const char *const LEVELS[] = {"off", "workload", "pid"};
    static struct result result;
    if (count != 2) {
        fputs("usage: export ROUNDS < lines of vitals --json\n", stderr);
        return 2;
    }
    size_t rounds = measure_argument("export", arguments[1], ROUNDS_MOST);
    struct sample *moment = read_input();
    const vitals_snapshot *snapshot = sample_snapshot(moment);
    if (snapshot == NULL)
        return 1;
    for (enum exposition_level level = EXPOSITION_OFF; level <= EXPOSITION_PID; level++) {
        const struct otlp_look look = {.options = {.level = level, .max_processes = 100000}};
        memset(&result, 0, sizeof result);
        for (size_t i = 0; i < rounds; i++)
            one_round(&result, snapshot, &look);
        printf("level=%s write_us=%.0f pack_us=%.0f points=%zu bytes=%zu packed=%zu\n",
               LEVELS[level], least(&result.write), least(&result.pack), result.points,
               result.bytes, result.packed);
    }
    sample_unref(moment);
    return 0;
}
