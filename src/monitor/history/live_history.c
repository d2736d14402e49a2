/* live_history.c: see live_history.h. */
#include "monitor/history/live_history.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { QUEUE = 16, PATIENCE_MS = 300 };

/* Both together: 64 MiB of a disk, 2 MiB of memory. */
static const struct {
    uint64_t bytes, memory;
} SHARES[DIARY_PAGES] = {
    [DIARY_MACHINE] = {24u << 20, 1u << 20}, [DIARY_ALL] = {40u << 20, 1u << 20}};

static const uint64_t HOUR_NS = UINT64_C(3600000000000);

struct history_entry {
    enum diary_page page;
    vitals_snapshot *snapshot;
};

struct history_page {
    struct diary *diary;
    struct history_ring *ring; /* guarded by `books` */
    struct timeline kept;      /* likewise; its place is of the thread */
    int64_t place;             /* of the owner: where it stands … */
    bool placed;               /* … or nowhere yet */
    unsigned every;            /* of the thread: one of so many is kept, so that an hour fits */
    uint64_t came;             /* likewise: snapshots */
    uint64_t since_ns;         /* likewise: monotonic, of the one that the last count began with */
    char problem[VITALS_ERROR_MESSAGE];
};

/* What the owner wants to see: one at a time. */
enum wish { WISH_AT, WISH_NEXT, WISH_PREVIOUS };
enum stage {
    STAGE_FREE,
    STAGE_ASKED,
    STAGE_TAKEN, /* by the thread */
    STAGE_ANSWERED,
    STAGE_LEFT /* nobody waits for the answer any longer */
};
struct history_question {
    enum stage stage;
    struct history_page *page;
    enum wish wish;
    uint64_t realtime_ns; /* of WISH_AT */
    int64_t place;        /* to stand at, where `placed`; in the answer: where it stands */
    bool placed;
    int code;
    vitals_snapshot *snapshot;
    vitals_error error;
};

/* Freed by whoever goes last: the owner, or the thread that was left behind. */
struct diary {
    pthread_mutex_t books; /* held while one is written or read */
    struct history_page pages[DIARY_PAGES];
    bool disk; /* a folder was given */

    pthread_mutex_t desk; /* a leaf: the queue, the question */
    pthread_cond_t news;
    struct history_question question;
    struct history_entry queue[QUEUE];
    size_t first, count;
    uint64_t left_out;
    bool ends;

    atomic_int owners;
    atomic_bool ended;

    pthread_t thread;
    const char *problem; /* of the owner: the last one that was told */
};

static void diary_unref(struct diary *diary)
{
    if (atomic_fetch_sub(&diary->owners, 1) > 1)
        return;
    for (size_t i = 0; i < diary->count; i++)
        vitals_snapshot_unref(diary->queue[(diary->first + i) % QUEUE].snapshot);
    for (size_t i = 0; i < DIARY_PAGES; i++) {
        timeline_close(&diary->pages[i].kept);
        history_ring_free(diary->pages[i].ring);
    }
    pthread_cond_destroy(&diary->news);
    pthread_mutex_destroy(&diary->desk);
    pthread_mutex_destroy(&diary->books);
    free(diary);
}

/* ---- the thread ---- */

/* A person who waits goes first. */
enum errand { ERRAND_END, ERRAND_KEEP, ERRAND_ANSWER };

static enum errand take(struct diary *diary, struct history_entry *entry,
                        struct history_question *question)
{
    enum errand errand = ERRAND_END;
    pthread_mutex_lock(&diary->desk);
    while (diary->count == 0 && diary->question.stage != STAGE_ASKED && !diary->ends)
        pthread_cond_wait(&diary->news, &diary->desk);
    if (!diary->ends && diary->question.stage == STAGE_ASKED) {
        errand = ERRAND_ANSWER;
        diary->question.stage = STAGE_TAKEN;
        *question = diary->question;
    } else if (!diary->ends) {
        errand = ERRAND_KEEP;
        *entry = diary->queue[diary->first];
        diary->first = (diary->first + 1) % QUEUE;
        diary->count--;
    }
    pthread_mutex_unlock(&diary->desk);
    return errand;
}

static void look(struct history_question *question)
{
    const struct timeline *kept = &question->page->kept;
    vitals_snapshot **out = &question->snapshot;
    vitals_error *error = &question->error;
    if (question->placed)
        kept->stand(kept->data, question->place);
    switch (question->wish) {
    case WISH_AT: question->code = kept->at(kept->data, question->realtime_ns, out, error); break;
    case WISH_NEXT: question->code = kept->next(kept->data, out, error); break;
    case WISH_PREVIOUS: question->code = kept->previous(kept->data, out, error); break;
    }
    question->place = kept->place(kept->data);
}

static void answer(struct diary *diary, struct history_question *question)
{
    pthread_mutex_lock(&diary->books);
    look(question);
    pthread_mutex_unlock(&diary->books);
    pthread_mutex_lock(&diary->desk);
    bool left = diary->question.stage == STAGE_LEFT;
    question->stage = left ? STAGE_FREE : STAGE_ANSWERED;
    diary->question = *question;
    pthread_mutex_unlock(&diary->desk);
    if (left)
        vitals_snapshot_unref(question->snapshot);
}

/* Where there is much to keep, fewer are kept of each minute rather than only the last minutes: as
 * many as an hour has room for, by what one takes and how often they come now. */
static void make_fit(struct history_page *page, const vitals_snapshot *snapshot, uint64_t room)
{
    enum { FIRST = 16, MOST = 5 };
    struct timeline_span span;
    vitals_error error;
    uint64_t now_ns = vitals_snapshot_monotonic_ns(snapshot), since_ns = page->since_ns;
    if (page->came % FIRST != 0)
        return;
    page->since_ns = now_ns;
    if (page->came == 0 || now_ns <= since_ns ||
        page->kept.span(page->kept.data, &span, &error) < 0 || span.count == 0)
        return;
    double each = (double)history_ring_size(page->ring) / (double)span.count;
    double wanted = each * FIRST * (double)HOUR_NS / (double)(now_ns - since_ns) / (double)room;
    page->every = wanted < 1 ? 1 : wanted < MOST ? (unsigned)wanted + 1 : MOST;
}

static void keep(struct diary *diary, const struct history_entry *entry)
{
    struct history_page *page = &diary->pages[entry->page];
    vitals_error error;
    pthread_mutex_lock(&diary->books);
    bool disk = diary->disk && history_ring_problem(page->ring)[0] == '\0';
    make_fit(page, entry->snapshot, disk ? SHARES[entry->page].bytes : SHARES[entry->page].memory);
    if (page->came++ % page->every == 0)
        (void)!history_ring_add(page->ring, entry->snapshot, &error);
    pthread_mutex_unlock(&diary->books);
}

static void *work(void *data)
{
    struct diary *diary = data;
    struct history_entry entry;
    struct history_question question;
    for (enum errand errand; (errand = take(diary, &entry, &question)) != ERRAND_END;) {
        if (errand == ERRAND_ANSWER) {
            answer(diary, &question);
            continue;
        }
        keep(diary, &entry);
        vitals_snapshot_unref(entry.snapshot);
    }
    atomic_store(&diary->ended, true);
    diary_unref(diary);
    return NULL;
}

static int start(struct diary *diary)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    atomic_store(&diary->owners, 2);
    int code = pthread_create(&diary->thread, NULL, work, diary);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0)
        atomic_store(&diary->owners, 1);
    return code;
}

/* ---- life ---- */

static int open_pages(struct diary *diary, const char *folder, history_ring_read *read,
                      vitals_error *error)
{
    int code = 0;
    for (size_t i = 0; i < DIARY_PAGES && code == 0; i++) {
        struct history_ring_options options = {.folder = folder,
                                               .most_bytes = SHARES[i].bytes,
                                               .most_memory = SHARES[i].memory,
                                               .most_ns = HOUR_NS,
                                               .read = read};
        diary->pages[i].diary = diary;
        diary->pages[i].every = 1;
        code = history_ring_new(&options, &diary->pages[i].ring, error);
        if (code == 0)
            code = history_ring_timeline(diary->pages[i].ring, &diary->pages[i].kept, error);
    }
    return code;
}

int diary_new(const char *folder, history_ring_read *read, struct diary **out, vitals_error *error)
{
    struct diary *diary = calloc(1, sizeof *diary);
    if (diary == NULL) {
        *error = (vitals_error){.code = VITALS_EMEMORY, .message = "out of memory"};
        return VITALS_EMEMORY;
    }
    atomic_store(&diary->owners, 1);
    pthread_mutex_init(&diary->books, NULL);
    pthread_mutex_init(&diary->desk, NULL);
    pthread_cond_init(&diary->news, NULL);
    diary->disk = folder != NULL;
    int code = open_pages(diary, folder, read, error);
    if (code == 0 && start(diary) != 0) {
        *error = (vitals_error){.code = VITALS_ESYSTEM, .message = "no thread can be started"};
        code = VITALS_ESYSTEM;
    }
    if (code < 0)
        diary_unref(diary);
    else
        *out = diary;
    return code;
}

/* Time for another thread, which needs no clock. */
static void wait_a_little(void)
{
    (void)poll(NULL, 0, 1);
}

void diary_free(struct diary *diary)
{
    if (diary == NULL)
        return;
    pthread_mutex_lock(&diary->desk);
    diary->ends = true;
    pthread_cond_signal(&diary->news);
    pthread_mutex_unlock(&diary->desk);
    for (int i = 0; i < PATIENCE_MS && !atomic_load(&diary->ended); i++)
        wait_a_little();
    if (atomic_load(&diary->ended))
        (void)pthread_join(diary->thread, NULL);
    else
        (void)pthread_detach(diary->thread);
    diary_unref(diary);
}

void diary_add(struct diary *diary, enum diary_page page, const vitals_snapshot *snapshot)
{
    pthread_mutex_lock(&diary->desk);
    if (diary->count < QUEUE) {
        struct history_entry *entry = &diary->queue[(diary->first + diary->count++) % QUEUE];
        *entry = (struct history_entry){page, vitals_snapshot_ref(snapshot)};
        pthread_cond_signal(&diary->news);
    } else {
        diary->left_out++;
    }
    pthread_mutex_unlock(&diary->desk);
}

/* ---- looking back ---- */

static int no_answer(vitals_error *error)
{
    *error = (vitals_error){.code = VITALS_ETIMEOUT,
                            .message = "what is kept cannot be read: its disk does not answer"};
    return VITALS_ETIMEOUT;
}

/* Whether the thread is with a question that nobody waits for any longer. */
static bool hangs(struct diary *diary)
{
    pthread_mutex_lock(&diary->desk);
    bool left = diary->question.stage == STAGE_LEFT;
    pthread_mutex_unlock(&diary->desk);
    return left;
}

/* Not for ever: a person who presses a key gets an answer. */
static int open_books(struct diary *diary, vitals_error *error)
{
    for (int i = 0; i < PATIENCE_MS; i++) {
        if (pthread_mutex_trylock(&diary->books) == 0)
            return 0;
        if (hangs(diary))
            break;
        wait_a_little();
    }
    return no_answer(error);
}

static void close_books(struct diary *diary)
{
    pthread_mutex_unlock(&diary->books);
}

static int page_span(void *data, struct timeline_span *out, vitals_error *error)
{
    struct history_page *page = data;
    int code = open_books(page->diary, error);
    if (code < 0)
        return code;
    code = page->kept.span(page->kept.data, out, error);
    close_books(page->diary);
    return code;
}

/* With `desk` held, but for the waits: short ones first, since most answers take no longer. False:
 * there was none in time. */
static bool wait_for_answer(struct diary *diary)
{
    enum { SHORT = 20 };
    static const struct timespec MOMENT = {.tv_nsec = 100000};
    for (int i = 0; i < SHORT + PATIENCE_MS && diary->question.stage != STAGE_ANSWERED; i++) {
        pthread_mutex_unlock(&diary->desk);
        if (i < SHORT)
            (void)ppoll(NULL, 0, &MOMENT, NULL);
        else
            wait_a_little();
        pthread_mutex_lock(&diary->desk);
    }
    return diary->question.stage == STAGE_ANSWERED;
}

static int ask(struct history_page *page, enum wish wish, uint64_t realtime_ns,
               vitals_snapshot **out, vitals_error *error)
{
    struct diary *diary = page->diary;
    struct history_question *question = &diary->question;
    pthread_mutex_lock(&diary->desk);
    bool answered = question->stage == STAGE_FREE;
    if (answered) {
        *question = (struct history_question){.stage = STAGE_ASKED,
                                              .page = page,
                                              .wish = wish,
                                              .realtime_ns = realtime_ns,
                                              .place = page->place,
                                              .placed = page->placed};
        pthread_cond_signal(&diary->news);
        answered = wait_for_answer(diary);
        question->stage = question->stage == STAGE_TAKEN ? STAGE_LEFT : STAGE_FREE;
    }
    struct history_question answer = *question;
    pthread_mutex_unlock(&diary->desk);
    if (!answered)
        return no_answer(error);
    if (answer.code == 1) {
        page->place = answer.place;
        page->placed = true;
        *out = answer.snapshot;
    } else if (answer.code < 0) {
        *error = answer.error;
    }
    return answer.code;
}

static int page_at(void *data, uint64_t realtime_ns, vitals_snapshot **out, vitals_error *error)
{
    return ask(data, WISH_AT, realtime_ns, out, error);
}

static int page_next(void *data, vitals_snapshot **out, vitals_error *error)
{
    return ask(data, WISH_NEXT, 0, out, error);
}

static int page_previous(void *data, vitals_snapshot **out, vitals_error *error)
{
    return ask(data, WISH_PREVIOUS, 0, out, error);
}

static int64_t page_place(void *data)
{
    return ((const struct history_page *)data)->place;
}

static void page_stand(void *data, int64_t place)
{
    struct history_page *page = data;
    page->place = place;
    page->placed = true;
}

void diary_timeline(struct diary *diary, enum diary_page page, struct timeline *out)
{
    *out = (struct timeline){.data = &diary->pages[page],
                             .span = page_span,
                             .at = page_at,
                             .next = page_next,
                             .previous = page_previous,
                             .place = page_place,
                             .stand = page_stand};
}

/* The first page that has one; told once. */
const char *diary_news(struct diary *diary)
{
    if (diary->problem != NULL || pthread_mutex_trylock(&diary->books) != 0)
        return NULL;
    for (size_t i = 0; i < DIARY_PAGES && diary->problem == NULL; i++) {
        struct history_page *page = &diary->pages[i];
        (void)snprintf(page->problem, sizeof page->problem, "%s", history_ring_problem(page->ring));
        if (page->problem[0] != '\0')
            diary->problem = page->problem;
    }
    close_books(diary);
    return diary->problem;
}
