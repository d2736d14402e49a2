/* feed_sampler.c: snapshots of this machine, at absolute deadlines, taken in the caller's thread.
 */
#include "feed/feed.h"

#include <errno.h>
#include <stdlib.h>

#include "util/error.h"

struct sampler_feed {
    vitals_sampler *sampler; /* NULL with FEED_ONCE */
    vitals_snapshot *only;   /* of FEED_ONCE, until it is asked for */
    vitals_context *context; /* NULL: another's */
    const vitals_clock *clock;
    uint64_t interval_ns;
    uint64_t due_ns; /* monotonic; 0: at once */
    int cancel;
};

static int sampler_next(void *data, vitals_snapshot **out, vitals_error *error)
{
    struct sampler_feed *feed = data;
    int result = 0;
    if (feed->sampler == NULL) {
        *out = feed->only;
        feed->only = NULL;
        return *out != NULL;
    }
    if (feed->due_ns != 0 || feed->cancel >= 0) {
        do {
            result = feed->clock->wait_until(feed->clock->data, feed->cancel, feed->due_ns);
        } while (result == -EINTR);
    }
    if (result < 0)
        return error_system(error, -result, "cannot wait for the next reading");
    if (result > 0)
        return 0; /* it was told to end */
    uint64_t begun_ns = feed->clock->monotonic_ns(feed->clock->data);
    result = vitals_sampler_take(feed->sampler, out, error);
    if (result < 0)
        return result;

    /* The first deadline after now that is a whole number of intervals behind the last one. */
    if (feed->interval_ns > 0) {
        uint64_t now_ns = feed->clock->monotonic_ns(feed->clock->data);
        uint64_t due_ns = feed->due_ns != 0 ? feed->due_ns : begun_ns;
        uint64_t late_ns = now_ns > due_ns ? now_ns - due_ns : 0;
        feed->due_ns = due_ns + (late_ns / feed->interval_ns + 1) * feed->interval_ns;
    }
    return 1;
}

static void sampler_close(void *data)
{
    struct sampler_feed *feed = data;
    vitals_sampler_free(feed->sampler);
    vitals_snapshot_unref(feed->only);
    vitals_context_free(feed->context);
    free(feed);
}

int feed_sampler_open(vitals_context *context, const struct feed_sampler_options *options,
                      struct feed *out, vitals_error *error)
{
    struct sampler_feed *feed = calloc(1, sizeof *feed);
    if (feed == NULL) {
        vitals_context_free(options->owns_context ? context : NULL);
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    }
    feed->context = options->owns_context ? context : NULL;
    feed->clock = vitals_context_clock(context);
    feed->interval_ns = options->interval_ns;
    feed->cancel = options->cancel;
    int result = options->interval_ns == FEED_ONCE
                     ? vitals_snapshot_take_request(context, options->request, &feed->only, error)
                     : vitals_sampler_new(context, options->request, &feed->sampler, error);
    if (result < 0) {
        sampler_close(feed);
        return result;
    }
    *out = (struct feed){.data = feed, .next = sampler_next, .close = sampler_close};
    return 0;
}

void feed_close(struct feed *feed)
{
    if (feed->close != NULL)
        feed->close(feed->data);
    *feed = (struct feed){.data = NULL};
}
