/* new_processes.c: see new_processes.h.
 *
 * They are cut into pieces. Whoever is free reads the next piece, also the tick thread while the
 * one that it needs is another's. A piece belongs to who claimed it until it is marked as read.
 * Thread rule: the tick thread, but for help and what that calls. */
#include "process/new_processes.h"

#include "process/descriptors.h"
#include "util/memory.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

enum { PIECE = 16, STACK_BYTES = 256 * 1024 };

struct newcomers {
    const vitals_context *context;
    unsigned extras;
    const int64_t *pids;
    struct newcomer *items; /* of each pid */
    size_t count, taken;
    struct buffer text; /* of the owner's own reading */
    uint64_t ceiling;   /* of descriptors */

    atomic_bool lacking;     /* descriptors */
    atomic_size_t claimed;   /* pieces */
    atomic_bool *read;       /* each piece */
    pthread_mutex_t mutex;   /* of the condition alone */
    pthread_cond_t one_read; /* a piece */
    pthread_t threads[NEWCOMERS_HELPERS];
    size_t thread_count;
};

/* ---- one ---- */

struct process *newcomer_process(int64_t pid)
{
    struct process *process = memory_alloc(sizeof *process);
    if (process != NULL)
        process->files = (struct os_process){.pid = pid, .stat = -1, .statm = -1};
    return process;
}

void newcomer_read(struct process_reader *reader, struct newcomer *newcomer, unsigned extras)
{
    newcomer->result = reader_open(reader, newcomer->process);
    newcomer->observed = newcomer->result == 0 && reader_observe(reader, newcomer->process, extras);
    newcomer->read = true;
}

/* As if nobody had looked at it. */
static void forget(struct newcomer *newcomer)
{
    if (newcomer->process != NULL) {
        os_process_close(&newcomer->process->files);
        process_done(newcomer->process);
        memory_free(newcomer->process);
    }
    *newcomer = (struct newcomer){0};
}

/* ---- a piece ---- */

static size_t pieces(const struct newcomers *newcomers)
{
    return (newcomers->count + PIECE - 1) / PIECE;
}

/* A helper has no descriptors to give up: only the owner of the table has. */
static bool is_short(void *owner)
{
    struct newcomers *newcomers = owner;
    atomic_store(&newcomers->lacking, true);
    return false;
}

static void read_one(struct newcomers *newcomers, size_t index, struct process_reader *reader)
{
    struct newcomer *newcomer = &newcomers->items[index];
    newcomer->process = newcomer_process(newcomers->pids[index]);
    if (newcomer->process == NULL)
        return;
    newcomer_read(reader, newcomer, newcomers->extras);
    const struct os_process *files = &newcomer->process->files;
    if (descriptors_is_high(newcomers->ceiling, files->stat) ||
        descriptors_is_high(newcomers->ceiling, files->statm))
        atomic_store(&newcomers->lacking, true);
    if (atomic_load(&newcomers->lacking) || reader->out_of_memory)
        forget(newcomer);
}

static void read_piece(struct newcomers *newcomers, size_t piece, struct buffer *text)
{
    struct process_reader reader = {
        .context = newcomers->context, .text = *text, .relieve = is_short, .owner = newcomers};
    size_t end = size_min((piece + 1) * PIECE, newcomers->count);
    for (size_t i = piece * PIECE; i < end && !reader.out_of_memory; i++) {
        if (atomic_load(&newcomers->lacking))
            break;
        read_one(newcomers, i, &reader);
    }
    *text = reader.text;
}

/* False where all are read or being read. */
static bool read_next(struct newcomers *newcomers, struct buffer *text)
{
    size_t piece = atomic_fetch_add_explicit(&newcomers->claimed, 1, memory_order_relaxed);
    if (piece >= pieces(newcomers))
        return false;
    read_piece(newcomers, piece, text);
    atomic_store(&newcomers->read[piece], true);
    return true;
}

/* ---- the helpers ---- */

static void *help(void *argument)
{
    struct newcomers *newcomers = argument;
    struct buffer text = {0};
    pthread_setname_np(pthread_self(), "vitals-first");
    while (read_next(newcomers, &text)) {
        pthread_mutex_lock(&newcomers->mutex);
        pthread_cond_signal(&newcomers->one_read);
        pthread_mutex_unlock(&newcomers->mutex);
    }
    buffer_done(&text);
    return NULL;
}

/* Threads that take no signal: those are the program's. */
static void start_helpers(struct newcomers *newcomers, unsigned helpers)
{
    pthread_attr_t attributes;
    if (helpers == 0 || pthread_attr_init(&attributes) != 0)
        return;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (unsigned i = 0; i < helpers && i < NEWCOMERS_HELPERS; i++) {
        pthread_t *thread = &newcomers->threads[newcomers->thread_count];
        if (pthread_create(thread, &attributes, help, newcomers) == 0)
            newcomers->thread_count++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

/* ---- the owner's side ---- */

struct newcomers *newcomers_new(const vitals_context *context, const int64_t *pids, size_t count,
                                unsigned extras, unsigned helpers)
{
    struct newcomers *newcomers = memory_alloc(sizeof *newcomers);
    if (newcomers == NULL)
        return NULL;
    newcomers->context = context;
    newcomers->pids = pids;
    newcomers->count = count;
    newcomers->extras = extras;
    newcomers->ceiling = descriptors_ceiling();
    newcomers->items = memory_array(count, sizeof *newcomers->items);
    newcomers->read = memory_array(pieces(newcomers), sizeof *newcomers->read);
    pthread_mutex_init(&newcomers->mutex, NULL);
    pthread_cond_init(&newcomers->one_read, NULL);
    if (newcomers->items == NULL || newcomers->read == NULL) {
        newcomers_free(newcomers);
        return NULL;
    }
    start_helpers(newcomers, helpers);
    return newcomers;
}

static void wait_for(struct newcomers *newcomers, size_t piece)
{
    pthread_mutex_lock(&newcomers->mutex);
    while (!atomic_load(&newcomers->read[piece]))
        pthread_cond_wait(&newcomers->one_read, &newcomers->mutex);
    pthread_mutex_unlock(&newcomers->mutex);
}

/* Nobody reads any more, and those that were not taken are as if nobody had looked at them. */
static bool end_reading(struct newcomers *newcomers)
{
    atomic_store(&newcomers->claimed, pieces(newcomers)); // nobody begins another
    for (size_t i = 0; i < newcomers->thread_count; i++)
        pthread_join(newcomers->threads[i], NULL);
    newcomers->thread_count = 0;
    bool any = false;
    for (size_t i = newcomers->taken; i < newcomers->count; i++) {
        any |= newcomers->items[i].process != NULL;
        forget(&newcomers->items[i]);
    }
    return any;
}

bool newcomers_give_up(struct newcomers *newcomers)
{
    bool any = end_reading(newcomers);
    for (size_t piece = 0; piece < pieces(newcomers); piece++)
        atomic_store(&newcomers->read[piece], true);
    return any;
}

struct newcomer newcomers_next(struct newcomers *newcomers)
{
    size_t index = newcomers->taken, piece = index / PIECE;
    while (!atomic_load(&newcomers->read[piece]))
        if (!read_next(newcomers, &newcomers->text))
            wait_for(newcomers, piece);
    if (atomic_exchange(&newcomers->lacking, false))
        (void)newcomers_give_up(newcomers);
    struct newcomer one = newcomers->items[index];
    newcomers->items[index] = (struct newcomer){0};
    newcomers->taken++;
    return one;
}

void newcomers_free(struct newcomers *newcomers)
{
    if (newcomers == NULL)
        return;
    if (newcomers->items != NULL)
        (void)end_reading(newcomers);
    pthread_cond_destroy(&newcomers->one_read);
    pthread_mutex_destroy(&newcomers->mutex);
    buffer_done(&newcomers->text);
    memory_free(newcomers->items);
    memory_free(newcomers->read);
    memory_free(newcomers);
}
