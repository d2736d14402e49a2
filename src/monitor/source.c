/* source.c: see source.h. */
#include "monitor/source.h"

#include <stdlib.h>

#include "monitor/async_free.h"

/* Switching back and forth starts no new reading. */
static const uint64_t LINGER_NS = 10000000000u;

struct source_stream {
    vitals_sampler *sampler;
    vitals_subscription *subscription;
    uint64_t given; /* the number of the last one; 0: none was given */
};

struct monitor_source {
    const struct monitor_options *options;
    struct source_stream machine, all;
    struct source_stream next; /* of every process: with other wants, takes the place of `all` */
    vitals_snapshot *before;   /* the first of `next`, to make rates with; NULL: none came yet */
    vitals_snapshot *behind;   /* what follows the one that was given; NULL: nothing waits */
    struct wants wants;   /* of every process, beside what each has; of `next`, or else `all` */
    struct wants had;     /* of `all` */
    uint64_t unwanted_ns; /* since when `all` is not wanted; 0: it is */
};

static void stream_close(struct source_stream *stream)
{
    async_free(stream->sampler, stream->subscription);
    *stream = (struct source_stream){0};
}

static int stream_open(const struct monitor_source *source, enum monitor_part part,
                       struct source_stream *stream, vitals_error *error)
{
    return sampler_begin(source->options, part, part == MONITOR_ALL ? &source->wants : NULL,
                         &stream->sampler, &stream->subscription, error);
}

int source_open(const struct monitor_options *options, struct monitor_source **out,
                vitals_error *error)
{
    struct monitor_source *source = calloc(1, sizeof *source);
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

static void close_next(struct monitor_source *source)
{
    stream_close(&source->next);
    vitals_snapshot_unref(source->before);
    source->before = NULL;
}

static void close_all(struct monitor_source *source)
{
    close_next(source);
    stream_close(&source->all);
    vitals_snapshot_unref(source->behind);
    source->behind = NULL;
}

void source_close(struct monitor_source *source)
{
    if (source == NULL)
        return;
    close_all(source);
    stream_close(&source->machine);
    async_free_wait();
    free(source);
}

bool source_has_all(const struct monitor_source *source)
{
    return source->all.sampler != NULL;
}

/* The running sampler goes on meanwhile. If a new one cannot be started it is tried again when it
 * is needed next. */
void source_want(struct monitor_source *source, const struct wants *wants)
{
    if (wants_equal(&source->wants, wants))
        return;
    source->wants = *wants;
    close_next(source);
    if (source->all.sampler == NULL || wants_equal(&source->had, wants))
        return;
    if (source->unwanted_ns != 0)
        close_all(source);
    else if (stream_open(source, MONITOR_ALL, &source->next, &(vitals_error){0}) < 0)
        close_all(source);
}

void source_want_all(struct monitor_source *source, bool wanted)
{
    const vitals_clock *clock = vitals_context_clock(source->options->context);
    uint64_t now_ns = clock->monotonic_ns(clock->data);
    if (wanted) {
        source->unwanted_ns = 0;
        if (source->all.sampler == NULL) {
            source->had = source->wants;
            (void)!stream_open(source, MONITOR_ALL, &source->all, &(vitals_error){0});
        }
        return;
    }
    if (source->all.sampler == NULL)
        return;
    if (source->unwanted_ns == 0)
        source->unwanted_ns = now_ns;
    if (now_ns - source->unwanted_ns > LINGER_NS)
        close_all(source);
}

int source_descriptor(const struct monitor_source *source, enum source_stream_kind kind)
{
    const struct source_stream *const STREAMS[] = {&source->machine, &source->all, &source->next};
    vitals_subscription *subscription = STREAMS[kind]->subscription;
    return subscription != NULL ? vitals_subscription_descriptor(subscription) : -1;
}

/* Each is given once: a key does not list all processes again. */
static vitals_snapshot *latest(struct source_stream *stream)
{
    if (stream->subscription == NULL)
        return NULL;
    vitals_snapshot *snapshot = vitals_subscription_latest(stream->subscription);
    if (snapshot == NULL || vitals_snapshot_sequence(snapshot) == stream->given) {
        vitals_snapshot_unref(snapshot);
        return NULL;
    }
    stream->given = vitals_snapshot_sequence(snapshot);
    return snapshot;
}

vitals_snapshot *source_machine(struct monitor_source *source)
{
    return latest(&source->machine);
}

vitals_snapshot *source_all(struct monitor_source *source)
{
    vitals_snapshot *snapshot = source->behind, *first = source->before;
    source->behind = NULL;
    if (snapshot != NULL)
        return snapshot;
    snapshot = latest(&source->next);
    if (snapshot != NULL && first != NULL) {
        /* The second of `next` has come: from now on it is `all`, which ends. */
        stream_close(&source->all);
        source->all = source->next;
        source->had = source->wants;
        source->next = (struct source_stream){0};
        source->before = NULL;
        source->behind = snapshot;
        return first;
    }
    if (snapshot != NULL)
        source->before = snapshot;
    return latest(&source->all);
}
