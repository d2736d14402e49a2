/* run_observer.c: see run_observer.h. */
#include "run/run_observer.h"

#include "os/shared.h"
#include "util/buffer.h"
#include "util/error.h"
#include <vitals/sys/account.h>

#include <stdio.h>
#include <string.h>

static const uint64_t OFTENEST_NS = NS_PER_SECOND, RAREST_NS = 10 * NS_PER_SECOND;
static const uint64_t RESTING_NS = 60 * NS_PER_SECOND;

/* What of a run may be in no file where it is killed: while its tree rests, the wall time alone. */
enum { PART_LOST = 5, PART_RESTED = 2 };

void teller_init(struct teller *teller, const vitals_run_observer *observer,
                 const char *totals_path)
{
    *teller = (struct teller){.observer = observer,
                              .totals_path = totals_path,
                              .observed = observer != NULL,
                              .totals_written = totals_path != NULL};
    pthread_mutex_init(&teller->mutex, NULL);
}

void teller_done(struct teller *teller)
{
    pthread_mutex_destroy(&teller->mutex);
}

/* ---- complaints ---- */

void teller_complain(struct teller *teller, const char *what, const char *why)
{
    pthread_mutex_lock(&teller->mutex);
    if (teller->complaint[0] == '\0')
        (void)snprintf(teller->complaint, sizeof(teller->complaint), "%s: %s", what, why);
    pthread_mutex_unlock(&teller->mutex);
}

void teller_explain(struct teller *teller, vitals_account *account)
{
    char text[TELLER_COMPLAINT];
    pthread_mutex_lock(&teller->mutex);
    memcpy(text, teller->complaint, sizeof(text));
    pthread_mutex_unlock(&teller->mutex);
    if (text[0] != '\0') /* without memory it is missing */
        (void)!vitals_account_set(account, "missing", (vitals_text){text, strlen(text)}, NULL);
}

/* ---- the observer ---- */

static void check(struct teller *teller, int code, const vitals_error *error)
{
    if (code >= 0)
        return;
    teller->observed = false;
    teller_complain(teller, "recording stopped", error->message);
}

void teller_begin(struct teller *teller, uint64_t now_ns)
{
    const vitals_run_observer *observer = teller->observer;
    vitals_error error = {.message = ""};
    teller->begin_ns = teller->totals_ns = now_ns;
    if (teller->observed && observer->begin != NULL)
        check(teller, observer->begin(observer->data, &error), &error);
}

void teller_sample(struct teller *teller, const vitals_snapshot *snapshot,
                   const vitals_usage *usage)
{
    const vitals_run_observer *observer = teller->observer;
    vitals_error error = {.message = ""};
    if (teller->observed && observer->sample != NULL)
        check(teller, observer->sample(observer->data, snapshot, usage, &error), &error);
}

void teller_mark(struct teller *teller, const vitals_mark *mark)
{
    const vitals_run_observer *observer = teller->observer;
    vitals_error error = {.message = ""};
    if (teller->observed && observer->mark != NULL)
        check(teller, observer->mark(observer->data, mark, &error), &error);
}

void teller_end(struct teller *teller)
{
    const vitals_run_observer *observer = teller->observer;
    vitals_error error = {.message = ""};
    if (teller->observed && observer->end != NULL)
        check(teller, observer->end(observer->data, &error), &error);
}

/* ---- the file of totals ---- */

uint64_t teller_patience_ns(const struct teller *teller, uint64_t now_ns)
{
    uint64_t lasted = now_ns > teller->begin_ns ? now_ns - teller->begin_ns : 0;
    uint64_t every = lasted / (teller->rests ? PART_RESTED : PART_LOST);
    uint64_t rarest = teller->rests ? RESTING_NS : RAREST_NS;
    if (every < OFTENEST_NS)
        return OFTENEST_NS;
    return every < rarest ? every : rarest;
}

bool teller_totals_due(const struct teller *teller, uint64_t now_ns)
{
    uint64_t every = teller_patience_ns(teller, now_ns);
    return teller->totals_written && now_ns >= saturating_add(teller->totals_ns, every);
}

static int append(void *data, const char *bytes, size_t size)
{
    struct buffer *buffer = data;
    buffer_append(buffer, bytes, size);
    return buffer->failed ? -1 : 0;
}

void teller_totals(struct teller *teller, const vitals_account *account, uint64_t now_ns)
{
    struct buffer buffer = {.bytes = NULL};
    teller->totals_ns = now_ns;
    int code = vitals_account_json(account, append, &buffer);
    if (code == 0 && !buffer.failed)
        code = os_replace_file(teller->totals_path, buffer.bytes, buffer.size);
    buffer_done(&buffer);
    if (code == 0)
        return;
    vitals_error error;
    (void)error_system(&error, -code, "%s", teller->totals_path);
    teller_complain(teller, "no file of totals", error.message);
    teller->totals_written = false;
}
