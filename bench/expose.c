/* expose.c: what a document for Prometheus costs, of samples on standard input.
 *
 *     expose ROUNDS < lines of vitals --json
 *
 * Prints a line for each level and form: microseconds of CPU to read the sample, to count it, to
 * render it and to pack it, the least of so many rounds; its series and bytes, plain and packed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/prometheus/exposition.h"
#include "measure.h"

enum { LINE_MAX_BYTES = 64 * 1024 * 1024, ROUNDS_MOST = 1000 };

static char *line;
static size_t line_size;

/* The last whole line of the input. */
static void read_input(void)
{
    char *next = malloc(LINE_MAX_BYTES);
    line = malloc(LINE_MAX_BYTES);
    if (next == NULL || line == NULL)
        exit(1);
    while (fgets(next, LINE_MAX_BYTES, stdin) != NULL) {
        line_size = strcspn(next, "\n");
        memcpy(line, next, line_size);
    }
    free(next);
}

struct phases {
    struct measure read, count, render, pack;
};

static size_t series_in(const char *bytes, size_t size)
{
    size_t series = 0;
    for (size_t i = 0; i < size; i++)
        series += (i == 0 || bytes[i - 1] == '\n') && bytes[i] != '#';
    return series;
}

static double least(const struct measure *measure)
{
    uint64_t result = UINT64_MAX;
    for (size_t i = 0; i < measure->count; i++)
        result = measure->cpu_ns[i] < result ? measure->cpu_ns[i] : result;
    return (double)result / 1000;
}

/* With an exposition that has seen nothing: of the same sample it would count nothing twice. */
static void one_round(struct phases *phases, const struct exposition_options *options,
                      enum exposition_format format, size_t sizes[3])
{
    struct exposition *exposition = exposition_new(options);
    const struct exposition_self self = {.now_ns = 0};
    struct sample *moment = sample_new(line, line_size, 0);
    measure_begin(&phases->read);
    if (exposition == NULL || sample_snapshot(moment) == NULL)
        exit(1);
    measure_end(&phases->read);
    measure_begin(&phases->count);
    exposition_count(exposition, moment);
    measure_end(&phases->count);
    measure_begin(&phases->render);
    struct body *body = exposition_render(exposition, moment, format, &self);
    measure_end(&phases->render);
    if (body == NULL)
        exit(1);
    const char *bytes = body_bytes(body, &sizes[0]);
    sizes[2] = series_in(bytes, sizes[0]);
    measure_begin(&phases->pack);
    if (body_packed(body, &sizes[1]) == NULL)
        sizes[1] = 0;
    measure_end(&phases->pack);
    body_unref(body);
    sample_unref(moment);
    exposition_free(exposition);
}

static void run(const char *name, const struct exposition_options *options,
                enum exposition_format format, size_t rounds)
{
    static struct phases phases;
    size_t sizes[3] = {0};
    memset(&phases, 0, sizeof phases);
    for (size_t i = 0; i < rounds; i++)
        one_round(&phases, options, format, sizes);
    printf("level=%s form=%s read_us=%.0f count_us=%.0f render_us=%.0f pack_us=%.0f series=%zu "
           "bytes=%zu packed=%zu\n",
           name, format == EXPOSITION_TEXT ? "text" : "openmetrics", least(&phases.read),
           least(&phases.count), least(&phases.render), least(&phases.pack), sizes[2], sizes[0],
           sizes[1]);
}

int main(int count, char **arguments)
{
    static const char *const LEVELS[] = {"off", "workload", "pid"};
    if (count != 2) {
        fputs("usage: expose ROUNDS < lines of vitals --json\n", stderr);
        return 2;
    }
    size_t rounds = measure_argument("expose", arguments[1], ROUNDS_MOST);
    read_input();
    for (int level = EXPOSITION_OFF; level <= EXPOSITION_PID; level++) {
        const struct exposition_options options = {.level = (enum exposition_level)level,
                                                   .max_processes = EXPOSITION_PROCESSES_MAX,
                                                   .interval_ns = 1000000000};
        for (int format = 0; format < EXPOSITION_FORMATS; format++)
            run(LEVELS[level], &options, (enum exposition_format)format, rounds);
    }
    free(line);
    return 0;
}
