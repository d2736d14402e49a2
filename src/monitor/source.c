/* source.c: see source.h. */
#include "monitor/source.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "util/error.h"
#include "util/thread.h"

/* A stopped sampler is kept for so long: starting it again opens no file anew. */
static const uint64_t KEPT_NS = 30000000000u;

struct monitor_source {
    const struct monitor_options *options;
    struct source_stream machine, all;
    struct source_stream next; /* of every process: with other wants, takes the place of `all` */
    vitals_snapshot *before;   /* the first of `next`, to make rates with; NULL: none came yet */
    vitals_snapshot *behind;   /* what follows the one that was given; NULL: nothing waits */
    struct wants wants; /* of every process, beside what each has; of `next`, or else `all` */
    struct wants had;   /* of `all` */
    uint64_t second_ns; /* when the second reading of `all` is due, soon after the first; 0: made */
    uint64_t unwanted_ns; /* since when `all` is not wanted; 0: it is */
    bool begins;          /* its next snapshot is the first since it is wanted */
};

static uint64_t source_now_ns(const struct monitor_source *source)
{
    const vitals_clock *clock = vitals_context_clock(source->options->context);
    return clock->monotonic_ns(clock->data);
}

/* ---- single samplers ---- */

static atomic_int freeings; /* threads that free a sampler */

static void *free_sampler(void *data)
{
    vitals_sampler_free(data);
    atomic_fetch_sub(&freeings, 1);
    return NULL;
}

void source_stream_close(struct source_stream *stream)
{
    enum { FREEINGS_MOST = 8 };
    pthread_t thread;
    vitals_subscription_free(stream->subscription);
    if (stream->sampler != NULL && atomic_fetch_add(&freeings, 1) < FREEINGS_MOST &&
        thread_start(&thread, "vitals-free", 0, free_sampler, stream->sampler) == 0)
        (void)pthread_detach(thread);
    else if (stream->sampler != NULL)
        (void)free_sampler(stream->sampler);
    *stream = (struct source_stream){0};
}

void source_streams_wait(void)
{
    while (atomic_load(&freeings) > 0)
        (void)poll(NULL, 0, 1);
}

int source_stream_open(struct source_stream *stream, const struct monitor_options *options,
                       enum monitor_part part, const struct wants *wants, vitals_error *error)
{
    vitals_request *request = NULL;
    int code = monitor_request(options, part, &request, error);
    if (code == 0 && wants != NULL)
        code = wants_request(wants, request, error);
    if (code == 0)
        code = vitals_sampler_new(options->context, request, &stream->sampler, error);
    vitals_request_free(request);
    if (code == 0)
        code = vitals_subscription_new(stream->sampler, &stream->subscription, error);
    if (code == 0)
        code = vitals_sampler_start(stream->sampler, error);
    if (code < 0)
        source_stream_close(stream);
    return code;
}

/* ---- the machine and every process ---- */

int source_open(const struct monitor_options *options, struct monitor_source **out,
                vitals_error *error)
{
    struct monitor_source *source = calloc(1, sizeof *source);
    if (source == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    source->options = options;
    int code = source_stream_open(&source->machine, options, MONITOR_MACHINE, NULL, error);
    if (code < 0)
        source_close(source);
    else
        *out = source;
    return code;
}

static void close_next(struct monitor_source *source)
{
    source_stream_close(&source->next);
    vitals_snapshot_unref(source->before);
    source->before = NULL;
}

static void drop_behind(struct monitor_source *source)
{
    vitals_snapshot_unref(source->behind);
    source->behind = NULL;
}

static void close_all(struct monitor_source *source)
{
    close_next(source);
    source_stream_close(&source->all);
    drop_behind(source);
}

void source_close(struct monitor_source *source)
{
    if (source == NULL)
        return;
    close_all(source);
    source_stream_close(&source->machine);
    source_streams_wait();
    free(source);
}

bool source_has_all(const struct monitor_source *source)
{
    return source->all.sampler != NULL && source->unwanted_ns == 0;
}

/* A sampler that has been started anew reads at once, and knows all that it knew. Between two
 * readings, ending its thread does not wait. */
static void restart_all(struct monitor_source *source)
{
    if (source->all.sampler != NULL)
        vitals_sampler_stop(source->all.sampler);
    if (source->all.sampler != NULL && vitals_sampler_start(source->all.sampler, NULL) < 0)
        source_stream_close(&source->all);
}

/* A sampler that cannot be started is tried again with the next call. */
static void want(struct monitor_source *source, const struct wants *wants)
{
    struct source_stream *all = &source->all;
    if (source->unwanted_ns != 0)
        restart_all(source);
    source->unwanted_ns = 0;
    if (all->sampler == NULL) {
        source->had = source->wants = *wants;
        source->begins = true;
        (void)source_stream_open(all, source->options, MONITOR_ALL, wants, NULL);
        return;
    }
    if (!wants_equal(&source->wants, wants))
        close_next(source);
    source->wants = *wants;
    /* The running sampler goes on meanwhile. */
    if (source->next.sampler == NULL && !wants_equal(&source->had, wants) &&
        source_stream_open(&source->next, source->options, MONITOR_ALL, wants, NULL) < 0)
        close_all(source);
}

void source_want(struct monitor_source *source, const struct wants *wants)
{
    uint64_t now_ns = source_now_ns(source);
    if (wants != NULL) {
        want(source, wants);
    } else if (source->unwanted_ns == 0) {
        close_next(source);
        drop_behind(source);
        source->unwanted_ns = now_ns;
        source->second_ns = 0;
        source->begins = true;
    } else if (now_ns - source->unwanted_ns > KEPT_NS) {
        close_all(source);
    }
}

int source_descriptor(const struct monitor_source *source, enum source_stream_kind kind)
{
    const struct source_stream *const STREAMS[] = {&source->machine, &source->all, &source->next};
    vitals_subscription *subscription = STREAMS[kind]->subscription;
    return subscription != NULL ? vitals_subscription_descriptor(subscription) : -1;
}

/* Between the first and the second reading. */
static const uint64_t SECOND_NS = 200000000;

void source_turn(struct monitor_source *source)
{
    if (source->second_ns == 0 || source_now_ns(source) < source->second_ns)
        return;
    source->second_ns = 0;
    restart_all(source);
}

uint64_t source_patience_ns(const struct monitor_source *source)
{
    uint64_t now_ns = source_now_ns(source), due_ns = source->second_ns;
    return due_ns == 0 ? UINT64_MAX : due_ns > now_ns ? due_ns - now_ns : 0;
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

static void stop_all(struct monitor_source *source)
{
    vitals_snapshot *snapshot = latest(&source->all);
    if (snapshot == NULL)
        return;
    vitals_snapshot_unref(snapshot);
    vitals_sampler_stop(source->all.sampler);
    vitals_snapshot_unref(latest(&source->all));
}

vitals_snapshot *source_all(struct monitor_source *source)
{
    vitals_snapshot *snapshot = source->behind, *first = source->before;
    if (source->unwanted_ns != 0) {
        stop_all(source);
        return NULL;
    }
    source->behind = NULL;
    if (snapshot != NULL)
        return snapshot;
    snapshot = latest(&source->next);
    if (snapshot != NULL && first != NULL) {
        /* The second of `next` has come: from now on it is `all`, which ends. */
        source_stream_close(&source->all);
        source->all = source->next;
        source->had = source->wants;
        source->next = (struct source_stream){0};
        source->before = NULL;
        source->behind = snapshot;
        return first;
    }
    if (snapshot != NULL)
        source->before = snapshot;
    uint64_t interval_ns = source->options->interval_ns;
    snapshot = latest(&source->all);
    if (snapshot != NULL && source->begins && (interval_ns == 0 || interval_ns > 2 * SECOND_NS))
        source->second_ns = source_now_ns(source) + SECOND_NS;
    source->begins = source->begins && snapshot == NULL;
    return snapshot;
}
