/* run_observer.c: see run_observer.h. */
#include "run/run_observer.h"

#include "model/request.h"
#include "os/shared.h"
#include "run/account.h"
#include "run/usage/usage_data.h"
#include "util/buffer.h"
#include "util/error.h"
#include <vitals/sys/account.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const uint64_t OFTENEST_NS = NS_PER_SECOND, RAREST_NS = 10 * NS_PER_SECOND;
static const uint64_t RESTING_NS = 60 * NS_PER_SECOND;

/* The time of a run that may be missing in its file if it is killed: while its tree is idle, only
 * the wall time changes. */
enum { PART_LOST = 5, PART_RESTED = 2 };

void run_observer_init(struct run_observer *relay, const vitals_run_observer *observer,
                       const char *totals_path)
{
    *relay = (struct run_observer){.observer = observer,
                                   .totals_path = totals_path,
                                   .observed = observer != NULL,
                                   .totals_written = totals_path != NULL};
    pthread_mutex_init(&relay->mutex, NULL);
}

void run_observer_done(struct run_observer *relay)
{
    pthread_mutex_destroy(&relay->mutex);
}

int run_observer_request(const vitals_run_observer *observer, const vitals_usage *usage,
                         bool memory, uint64_t interval_ns, vitals_request **out,
                         vitals_error *error)
{
    int code = 0;
    *out = observer != NULL && observer->request != NULL ? request_copy(observer->request) : NULL;
    if (*out == NULL)
        code = vitals_request_new(0, out, error);
    if (code == 0)
        code = vitals_usage_request(usage, *out, error);
    if (code == 0 && memory)
        code = usage_request_memory(*out, error);
    if (code == 0)
        code = vitals_request_set_interval(*out, interval_ns, error);
    return code;
}

/* ---- complaints ---- */

void run_observer_complain(struct run_observer *relay, const char *what, const char *why)
{
    pthread_mutex_lock(&relay->mutex);
    size_t used = strlen(relay->complaint);
    if (strstr(relay->complaint, what) == NULL)
        (void)snprintf(relay->complaint + used, sizeof(relay->complaint) - used, "%s%s: %s",
                       used > 0 ? "; " : "", what, why);
    pthread_mutex_unlock(&relay->mutex);
}

void run_observer_explain(struct run_observer *relay, vitals_account *account)
{
    char text[RUN_OBSERVER_COMPLAINT];
    pthread_mutex_lock(&relay->mutex);
    memcpy(text, relay->complaint, sizeof(text));
    pthread_mutex_unlock(&relay->mutex);
    account_set_string(account, VITALS_ATTRIBUTE_MISSING, text);
}

/* ---- the observer ---- */

static void check(struct run_observer *relay, int code, const vitals_error *error)
{
    if (code >= 0)
        return;
    relay->observed = false;
    run_observer_complain(relay, "recording stopped", error->message);
}

void run_observer_begin(struct run_observer *relay, uint64_t now_ns)
{
    const vitals_run_observer *observer = relay->observer;
    vitals_error error = {.message = ""};
    relay->begin_ns = relay->totals_ns = now_ns;
    if (relay->observed && observer->begin != NULL)
        check(relay, observer->begin(observer->data, &error), &error);
}

void run_observer_sample(struct run_observer *relay, const vitals_snapshot *snapshot,
                         const vitals_usage *usage)
{
    const vitals_run_observer *observer = relay->observer;
    vitals_error error = {.message = ""};
    if (relay->observed && observer->sample != NULL)
        check(relay, observer->sample(observer->data, snapshot, usage, &error), &error);
}

void run_observer_mark(struct run_observer *relay, const vitals_mark *mark)
{
    const vitals_run_observer *observer = relay->observer;
    vitals_error error = {.message = ""};
    if (relay->observed && observer->mark != NULL)
        check(relay, observer->mark(observer->data, mark, &error), &error);
}

void run_observer_end(struct run_observer *relay)
{
    const vitals_run_observer *observer = relay->observer;
    vitals_error error = {.message = ""};
    if (relay->observed && observer->end != NULL)
        check(relay, observer->end(observer->data, &error), &error);
}

/* ---- the file of totals ---- */

uint64_t run_observer_patience_ns(const struct run_observer *relay, uint64_t now_ns)
{
    uint64_t lasted = now_ns > relay->begin_ns ? now_ns - relay->begin_ns : 0;
    uint64_t every = lasted / (relay->rests ? PART_RESTED : PART_LOST);
    return uint64_max(OFTENEST_NS, uint64_min(every, relay->rests ? RESTING_NS : RAREST_NS));
}

bool run_observer_totals_due(const struct run_observer *relay, uint64_t now_ns)
{
    uint64_t every = run_observer_patience_ns(relay, now_ns);
    return relay->totals_written && now_ns >= saturating_add(relay->totals_ns, every);
}

static int append(void *data, const char *bytes, size_t size)
{
    struct buffer *buffer = data;
    buffer_append(buffer, bytes, size);
    return buffer->failed ? -1 : 0;
}

void run_observer_totals(struct run_observer *relay, const vitals_account *account, uint64_t now_ns)
{
    struct buffer buffer = {.bytes = NULL};
    relay->totals_ns = now_ns;
    int code = vitals_account_json(account, append, &buffer, NULL) == 0 ? 0 : -ENOMEM;
    if (code == 0)
        code = os_replace_file(relay->totals_path, buffer.bytes, buffer.size);
    buffer_done(&buffer);
    if (code == 0)
        return;
    vitals_error error;
    (void)error_system(&error, -code, "%s", relay->totals_path);
    run_observer_complain(relay, "no file of totals", error.message);
    relay->totals_written = false;
}
