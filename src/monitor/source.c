/* source.c: see source.h. */
#include "monitor/source.h"

#include <stdlib.h>

#include "monitor/parting.h"

/* A person who goes to and fro begins no reading anew. */
static const uint64_t LINGER_NS = 10000000000u;

struct stream {
    vitals_sampler *sampler;
    vitals_subscription *subscription;
};

struct source {
    const struct monitor_options *options;
    struct stream machine, all;
    struct wants wants;   /* of every process, beside what each has */
    uint64_t unwanted_ns; /* since when `all` is not wanted; 0: it is */
};

static void stream_close(struct stream *stream)
{
    parting_free(stream->sampler, stream->subscription);
    *stream = (struct stream){0};
}

static int stream_open(const struct source *source, enum monitor_part part, struct stream *stream,
                       vitals_error *error)
{
    vitals_request *request = NULL;
    const struct monitor_options *options = source->options;
    int code = monitor_request(options, part, &request, error);
    if (code == 0 && part == MONITOR_ALL)
        code = wants_request(&source->wants, request, error);
    if (code == 0)
        code = vitals_sampler_new(options->context, request, &stream->sampler, error);
    vitals_request_free(request);
    if (code == 0)
        code = vitals_subscription_new(stream->sampler, &stream->subscription, error);
    if (code == 0)
        code = vitals_sampler_start(stream->sampler, error);
    if (code < 0)
        stream_close(stream);
    return code;
}

int source_open(const struct monitor_options *options, struct source **out, vitals_error *error)
{
    struct source *source = calloc(1, sizeof *source);
    if (source == NULL) {
        *error = (vitals_error){.code = VITALS_EMEMORY, .message = "out of memory"};
        return VITALS_EMEMORY;
    }
    source->options = options;
    int code = stream_open(source, MONITOR_MACHINE, &source->machine, error);
    if (code < 0)
        source_close(source);
    else
        *out = source;
    return code;
}

void source_close(struct source *source)
{
    if (source == NULL)
        return;
    stream_close(&source->all);
    stream_close(&source->machine);
    parting_wait();
    free(source);
}

bool source_has_all(const struct source *source)
{
    return source->all.sampler != NULL;
}

void source_want(struct source *source, const struct wants *wants)
{
    if (wants_equal(&source->wants, wants))
        return;
    source->wants = *wants;
    stream_close(&source->all);
}

void source_want_all(struct source *source, bool wanted)
{
    const vitals_clock *clock = vitals_context_clock(source->options->context);
    uint64_t now_ns = clock->monotonic_ns(clock->data);
    if (wanted) {
        source->unwanted_ns = 0;
        if (source->all.sampler == NULL)
            (void)!stream_open(source, MONITOR_ALL, &source->all, &(vitals_error){0});
        return;
    }
    if (source->all.sampler == NULL)
        return;
    if (source->unwanted_ns == 0)
        source->unwanted_ns = now_ns;
    if (now_ns - source->unwanted_ns > LINGER_NS)
        stream_close(&source->all);
}

static int descriptor(const struct stream *stream)
{
    return stream->subscription != NULL ? vitals_subscription_descriptor(stream->subscription) : -1;
}

int source_machine_descriptor(const struct source *source)
{
    return descriptor(&source->machine);
}

int source_all_descriptor(const struct source *source)
{
    return descriptor(&source->all);
}

static vitals_snapshot *latest(struct stream *stream)
{
    return stream->subscription != NULL ? vitals_subscription_latest(stream->subscription) : NULL;
}

vitals_snapshot *source_machine(struct source *source)
{
    return latest(&source->machine);
}

vitals_snapshot *source_all(struct source *source)
{
    return latest(&source->all);
}
