/* live_history.c: see live_history.h. */
#include "monitor/history/live_history.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "util/error.h"
#include "util/thread.h"

enum { QUEUE = 16, PATIENCE_MS = 300 };

/* Both together: 64 MiB of a disk, 2 MiB of memory. */
static const struct {
    uint64_t bytes, memory;
} SHARES[LIVE_PARTS] = {[LIVE_MACHINE] = {24u << 20, 1u << 20}, [LIVE_ALL] = {40u << 20, 1u << 20}};

static const uint64_t HOUR_NS = UINT64_C(3600000000000);

struct live_entry {
    enum live_part part;
    vitals_snapshot *snapshot;
};

struct live_store {
    struct live_history *history;
    struct history_ring *ring; /* of the thread, as all but the next two */
    int64_t place;             /* of the owner: where it stands … */
    bool placed;               /* … or nowhere yet */
    struct timeline kept;
    unsigned every;    /* one of so many is kept, so that an hour fits */
    uint64_t came;     /* snapshots */
    uint64_t since_ns; /* monotonic, of the one that the last count began with */
};

/* The owner's query: one at a time. ABANDONED: the owner no longer waits for the result. */
enum query_kind { QUERY_SPAN, QUERY_AT, QUERY_NEXT, QUERY_PREVIOUS };
enum query_stage { QUERY_NONE, QUERY_ASKED, QUERY_TAKEN, QUERY_ANSWERED, QUERY_ABANDONED };
struct live_query {
    enum query_stage stage;
    struct live_store *store;
    enum query_kind kind;
    uint64_t realtime_ns; /* of QUERY_AT */
    int64_t place;        /* to stand at, where `placed`; in the result: where it stands */
    bool placed;
    int code;
    struct timeline_span span; /* of QUERY_SPAN; of the others: */
    vitals_snapshot *snapshot;
    vitals_error error;
};

/* Freed by the last of the owner and the thread, which may have been left behind. */
struct live_history {
    struct live_store stores[LIVE_PARTS];
    bool disk; /* a folder was given */

    pthread_mutex_t lock; /* a leaf: all that follows up to `ends` */
    pthread_cond_t news;
    struct live_query query;
    char problem[VITALS_ERROR_MESSAGE]; /* the first of a store; "": none. It stays */
    struct live_entry queue[QUEUE];
    size_t first, count;
    bool ends;

    atomic_int owners;
    atomic_bool ended;

    pthread_t thread;
    bool told; /* of the owner: the problem */
};

static void live_history_unref(struct live_history *history)
{
    if (atomic_fetch_sub(&history->owners, 1) > 1)
        return;
    for (size_t i = 0; i < history->count; i++)
        vitals_snapshot_unref(history->queue[(history->first + i) % QUEUE].snapshot);
    for (size_t i = 0; i < LIVE_PARTS; i++) {
        timeline_close(&history->stores[i].kept);
        history_ring_free(history->stores[i].ring);
    }
    pthread_cond_destroy(&history->news);
    pthread_mutex_destroy(&history->lock);
    free(history);
}

static void answer(struct live_history *history, struct live_query *query)
{
    const struct timeline *kept = &query->store->kept;
    vitals_snapshot **out = &query->snapshot;
    vitals_error *error = &query->error;
    if (query->placed)
        kept->stand(kept->data, query->place);
    switch (query->kind) {
    case QUERY_SPAN: query->code = kept->span(kept->data, &query->span, error); break;
    case QUERY_AT: query->code = kept->at(kept->data, query->realtime_ns, out, error); break;
    case QUERY_NEXT: query->code = kept->next(kept->data, out, error); break;
    case QUERY_PREVIOUS: query->code = kept->previous(kept->data, out, error); break;
    }
    query->place = kept->place(kept->data);

    pthread_mutex_lock(&history->lock);
    bool abandoned = history->query.stage == QUERY_ABANDONED;
    query->stage = abandoned ? QUERY_NONE : QUERY_ANSWERED;
    history->query = *query;
    pthread_mutex_unlock(&history->lock);
    if (abandoned)
        vitals_snapshot_unref(query->snapshot);
}

static void note_problem(struct live_history *history, const struct live_store *store)
{
    pthread_mutex_lock(&history->lock);
    if (history->problem[0] == '\0')
        (void)snprintf(history->problem, sizeof history->problem, "%s",
                       history_ring_problem(store->ring));
    pthread_mutex_unlock(&history->lock);
}

/* If there is much to keep, fewer are kept of each minute rather than only the last minutes: as
 * many as an hour has room for, by what one takes and how often they come now. */
static void keep(struct live_history *history, const struct live_entry *entry)
{
    enum { FIRST = 16, MOST = 5 };
    struct live_store *store = &history->stores[entry->part];
    struct timeline_span span;
    vitals_error error;
    bool disk = history->disk && history_ring_problem(store->ring)[0] == '\0';
    uint64_t room = disk ? SHARES[entry->part].bytes : SHARES[entry->part].memory;
    if (store->came % FIRST == 0) {
        uint64_t now_ns = vitals_snapshot_monotonic_ns(entry->snapshot), since_ns = store->since_ns;
        store->since_ns = now_ns;
        if (store->came > 0 && now_ns > since_ns &&
            store->kept.span(store->kept.data, &span, &error) >= 0 && span.count > 0) {
            double each = (double)history_ring_size(store->ring) / (double)span.count;
            double wanted = each * FIRST * (double)HOUR_NS / (double)(now_ns - since_ns) /
                            (double)room;
            store->every = wanted < 1 ? 1 : wanted < MOST ? (unsigned)wanted + 1 : MOST;
        }
    }
    if (store->came++ % store->every == 0)
        (void)!history_ring_add(store->ring, entry->snapshot, &error);
    note_problem(history, store);
}

/* A query goes before what is to be kept: a person waits for it. */
static void *work(void *data)
{
    struct live_history *history = data;
    for (;;) {
        pthread_mutex_lock(&history->lock);
        while (history->count == 0 && history->query.stage != QUERY_ASKED && !history->ends)
            pthread_cond_wait(&history->news, &history->lock);
        bool ends = history->ends, asked = !ends && history->query.stage == QUERY_ASKED;
        struct live_query query = history->query;
        struct live_entry entry = history->queue[history->first];
        if (asked)
            history->query.stage = QUERY_TAKEN;
        else if (!ends) {
            history->first = (history->first + 1) % QUEUE;
            history->count--;
        }
        pthread_mutex_unlock(&history->lock);

        if (ends)
            break;
        if (asked) {
            answer(history, &query);
        } else {
            keep(history, &entry);
            vitals_snapshot_unref(entry.snapshot);
        }
    }
    atomic_store(&history->ended, true);
    live_history_unref(history);
    return NULL;
}

int live_history_new(const char *folder, history_ring_read *read, struct live_history **out,
                     vitals_error *error)
{
    struct live_history *history = calloc(1, sizeof *history);
    if (history == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    atomic_store(&history->owners, 1);
    pthread_mutex_init(&history->lock, NULL);
    pthread_cond_init(&history->news, NULL);
    history->disk = folder != NULL;
    int code = 0;
    for (size_t i = 0; i < LIVE_PARTS && code == 0; i++) {
        struct live_store *store = &history->stores[i];
        struct history_ring_options options = {.folder = folder,
                                               .most_bytes = SHARES[i].bytes,
                                               .most_memory = SHARES[i].memory,
                                               .most_ns = HOUR_NS,
                                               .read = read};
        store->history = history;
        store->every = 1;
        code = history_ring_new(&options, &store->ring, error);
        if (code == 0) {
            note_problem(history, store);
            code = history_ring_timeline(store->ring, &store->kept, error);
        }
    }

    if (code == 0) {
        atomic_store(&history->owners, 2);
        if (thread_start(&history->thread, "vitals-history", 0, work, history) != 0) {
            atomic_store(&history->owners, 1);
            code = error_set(error, VITALS_ESYSTEM, 0, "no thread can be started");
        }
    }
    if (code < 0)
        live_history_unref(history);
    else
        *out = history;
    return code;
}

/* Time for another thread, which needs no clock. */
static void wait_a_little(void)
{
    (void)poll(NULL, 0, 1);
}

void live_history_free(struct live_history *history)
{
    if (history == NULL)
        return;
    pthread_mutex_lock(&history->lock);
    history->ends = true;
    pthread_cond_signal(&history->news);
    pthread_mutex_unlock(&history->lock);
    for (int i = 0; i < PATIENCE_MS && !atomic_load(&history->ended); i++)
        wait_a_little();
    if (atomic_load(&history->ended))
        (void)pthread_join(history->thread, NULL);
    else
        (void)pthread_detach(history->thread);
    live_history_unref(history);
}

void live_history_add(struct live_history *history, enum live_part part,
                      const vitals_snapshot *snapshot)
{
    pthread_mutex_lock(&history->lock);
    if (history->count < QUEUE) {
        struct live_entry *entry = &history->queue[(history->first + history->count++) % QUEUE];
        *entry = (struct live_entry){part, vitals_snapshot_ref(snapshot)};
        pthread_cond_signal(&history->news);
    }
    pthread_mutex_unlock(&history->lock);
}

/* Gives up in time, and at once while the thread is with an abandoned query: a person who presses a
 * key gets an answer. */
static int ask(struct live_store *store, enum query_kind kind, uint64_t realtime_ns,
               struct live_query *result, vitals_error *error)
{
    enum { SHORT = 20 };
    static const struct timespec SHORT_WAIT = {.tv_nsec = 100000};
    struct live_history *history = store->history;
    struct live_query *query = &history->query;
    pthread_mutex_lock(&history->lock);
    bool answered = query->stage == QUERY_NONE;
    if (answered) {
        *query = (struct live_query){.stage = QUERY_ASKED,
                                     .store = store,
                                     .kind = kind,
                                     .realtime_ns = realtime_ns,
                                     .place = store->place,
                                     .placed = store->placed};
        pthread_cond_signal(&history->news);

        /* Short waits first, since most answers take no longer. */
        for (int i = 0; i < SHORT + PATIENCE_MS && query->stage != QUERY_ANSWERED; i++) {
            pthread_mutex_unlock(&history->lock);
            if (i < SHORT)
                (void)ppoll(NULL, 0, &SHORT_WAIT, NULL);
            else
                wait_a_little();
            pthread_mutex_lock(&history->lock);
        }
        answered = query->stage == QUERY_ANSWERED;
        query->stage = query->stage == QUERY_TAKEN ? QUERY_ABANDONED : QUERY_NONE;
    }
    *result = *query;
    pthread_mutex_unlock(&history->lock);
    if (!answered)
        return error_set(error, VITALS_ETIMEOUT, 0,
                         "what is kept cannot be read: its disk does not answer");
    if (result->code < 0)
        *error = result->error;
    return result->code;
}

static int store_span(void *data, struct timeline_span *out, vitals_error *error)
{
    struct live_query result;
    int code = ask(data, QUERY_SPAN, 0, &result, error);
    if (code >= 0)
        *out = result.span;
    return code;
}

static int take(struct live_store *store, enum query_kind kind, uint64_t realtime_ns,
                vitals_snapshot **out, vitals_error *error)
{
    struct live_query result;
    int code = ask(store, kind, realtime_ns, &result, error);
    if (code == 1) {
        store->place = result.place;
        store->placed = true;
        *out = result.snapshot;
    }
    return code;
}

static int store_at(void *data, uint64_t realtime_ns, vitals_snapshot **out, vitals_error *error)
{
    return take(data, QUERY_AT, realtime_ns, out, error);
}

static int store_next(void *data, vitals_snapshot **out, vitals_error *error)
{
    return take(data, QUERY_NEXT, 0, out, error);
}

static int store_previous(void *data, vitals_snapshot **out, vitals_error *error)
{
    return take(data, QUERY_PREVIOUS, 0, out, error);
}

static int64_t store_place(void *data)
{
    return ((const struct live_store *)data)->place;
}

static void store_stand(void *data, int64_t place)
{
    struct live_store *store = data;
    store->place = place;
    store->placed = true;
}

void live_history_timeline(struct live_history *history, enum live_part part, struct timeline *out)
{
    *out = (struct timeline){.data = &history->stores[part],
                             .span = store_span,
                             .at = store_at,
                             .next = store_next,
                             .previous = store_previous,
                             .place = store_place,
                             .stand = store_stand};
}

const char *live_history_news(struct live_history *history)
{
    pthread_mutex_lock(&history->lock);
    bool fresh = history->problem[0] != '\0' && !history->told;
    pthread_mutex_unlock(&history->lock);
    history->told |= fresh;
    return fresh ? history->problem : NULL;
}
