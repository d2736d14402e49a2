/* new_processes.c: see new_processes.h.
 *
 * The pids are cut into pieces. Each free thread reads the next piece, and so does the tick thread
 * while another has the one that it needs. A piece belongs to the thread that claimed it until it
 * is marked as read. Thread rule: the tick thread, but for help and what that calls. */
#include "process/new_processes.h"

#include "util/memory.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

enum { PIECE = 16, STACK_BYTES = 256 * 1024 };

struct new_processes {
    const vitals_context *context;
    unsigned extras;
    const int64_t *pids;
    struct new_process *items; /* of each pid */
    size_t count, taken;
    struct buffer text; /* of the owner's own reading */
    uint64_t ceiling;   /* of descriptors */

    atomic_bool lacking;     /* descriptors */
    atomic_size_t claimed;   /* pieces */
    atomic_bool *read;       /* each piece */
    pthread_mutex_t mutex;   /* of the condition alone */
    pthread_cond_t one_read; /* a piece */
    pthread_t threads[NEW_PROCESSES_HELPERS];
    size_t thread_count;
};

struct process *new_process_process(int64_t pid)
{
    struct process *process = memory_alloc(sizeof *process);
    if (process != NULL)
        process->files = (struct os_process){.pid = pid, .stat = -1, .statm = -1};
    return process;
}

void new_process_read(struct process_reader *reader, struct new_process *new_process,
                      unsigned extras)
{
    new_process->result = reader_open(reader, new_process->process);
    new_process->observed = new_process->result == 0 &&
                            reader_observe(reader, new_process->process, extras);
    new_process->read = true;
}

/* As if it had not been read. */
static void forget(struct new_process *new_process)
{
    if (new_process->process != NULL) {
        os_process_close(&new_process->process->files);
        process_done(new_process->process);
        memory_free(new_process->process);
    }
    *new_process = (struct new_process){0};
}

static size_t pieces(const struct new_processes *new_processes)
{
    return (new_processes->count + PIECE - 1) / PIECE;
}

/* A helper has no descriptors to give up: only the owner of the table has. */
static bool is_short(void *owner)
{
    struct new_processes *new_processes = owner;
    atomic_store(&new_processes->lacking, true);
    return false;
}

/* Reads the next piece. False where all are read or being read. */
static bool read_next(struct new_processes *new_processes, struct buffer *text)
{
    size_t piece = atomic_fetch_add_explicit(&new_processes->claimed, 1, memory_order_relaxed);
    if (piece >= pieces(new_processes))
        return false;
    struct process_reader reader = {.context = new_processes->context,
                                    .text = *text,
                                    .relieve = is_short,
                                    .owner = new_processes};
    size_t end = size_min((piece + 1) * PIECE, new_processes->count);
    for (size_t i = piece * PIECE; i < end && !reader.out_of_memory; i++) {
        struct new_process *new_process = &new_processes->items[i];
        if (atomic_load(&new_processes->lacking))
            break;
        new_process->process = new_process_process(new_processes->pids[i]);
        if (new_process->process == NULL)
            continue;
        new_process_read(&reader, new_process, new_processes->extras);
        const struct os_process *files = &new_process->process->files;
        if (descriptors_is_high(new_processes->ceiling, files->stat) ||
            descriptors_is_high(new_processes->ceiling, files->statm))
            atomic_store(&new_processes->lacking, true);
        if (atomic_load(&new_processes->lacking) || reader.out_of_memory)
            forget(new_process);
    }
    *text = reader.text;
    atomic_store(&new_processes->read[piece], true);
    return true;
}

static void *help(void *argument)
{
    struct new_processes *new_processes = argument;
    struct buffer text = {0};
    pthread_setname_np(pthread_self(), "vitals-first");
    while (read_next(new_processes, &text)) {
        pthread_mutex_lock(&new_processes->mutex);
        pthread_cond_signal(&new_processes->one_read);
        pthread_mutex_unlock(&new_processes->mutex);
    }
    buffer_done(&text);
    return NULL;
}

/* ---- the owner's side ---- */

struct new_processes *new_processes_start(const vitals_context *context, const int64_t *pids,
                                          size_t count, unsigned extras, unsigned helpers)
{
    struct new_processes *new_processes = memory_alloc(sizeof *new_processes);
    if (new_processes == NULL)
        return NULL;
    new_processes->context = context;
    new_processes->pids = pids;
    new_processes->count = count;
    new_processes->extras = extras;
    new_processes->ceiling = descriptors_ceiling();
    new_processes->items = memory_array(count, sizeof *new_processes->items);
    new_processes->read = memory_array(pieces(new_processes), sizeof *new_processes->read);
    pthread_mutex_init(&new_processes->mutex, NULL);
    pthread_cond_init(&new_processes->one_read, NULL);
    if (new_processes->items == NULL || new_processes->read == NULL) {
        new_processes_free(new_processes);
        return NULL;
    }

    pthread_attr_t attributes;
    if (helpers == 0 || pthread_attr_init(&attributes) != 0)
        return new_processes;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigset_t all, before; // the threads take no signal: those are the program's
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (unsigned i = 0; i < helpers && i < NEW_PROCESSES_HELPERS; i++) {
        pthread_t *thread = &new_processes->threads[new_processes->thread_count];
        if (pthread_create(thread, &attributes, help, new_processes) == 0)
            new_processes->thread_count++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return new_processes;
}

/* Ends all reading; those that were not taken are as if they had not been read. */
static bool end_reading(struct new_processes *new_processes)
{
    atomic_store(&new_processes->claimed, pieces(new_processes)); // no thread begins another
    for (size_t i = 0; i < new_processes->thread_count; i++)
        pthread_join(new_processes->threads[i], NULL);
    new_processes->thread_count = 0;
    bool any = false;
    for (size_t i = new_processes->taken; i < new_processes->count; i++) {
        any |= new_processes->items[i].process != NULL;
        forget(&new_processes->items[i]);
    }
    return any;
}

bool new_processes_give_up(struct new_processes *new_processes)
{
    bool any = end_reading(new_processes);
    for (size_t piece = 0; piece < pieces(new_processes); piece++)
        atomic_store(&new_processes->read[piece], true);
    return any;
}

struct new_process new_processes_next(struct new_processes *new_processes)
{
    size_t index = new_processes->taken, piece = index / PIECE;
    while (!atomic_load(&new_processes->read[piece])) {
        if (read_next(new_processes, &new_processes->text))
            continue;
        pthread_mutex_lock(&new_processes->mutex);
        while (!atomic_load(&new_processes->read[piece]))
            pthread_cond_wait(&new_processes->one_read, &new_processes->mutex);
        pthread_mutex_unlock(&new_processes->mutex);
    }
    if (atomic_exchange(&new_processes->lacking, false))
        (void)new_processes_give_up(new_processes);
    struct new_process one = new_processes->items[index];
    new_processes->items[index] = (struct new_process){0};
    new_processes->taken++;
    return one;
}

void new_processes_free(struct new_processes *new_processes)
{
    if (new_processes == NULL)
        return;
    if (new_processes->items != NULL)
        (void)end_reading(new_processes);
    pthread_cond_destroy(&new_processes->one_read);
    pthread_mutex_destroy(&new_processes->mutex);
    buffer_done(&new_processes->text);
    memory_free(new_processes->items);
    memory_free(new_processes->read);
    memory_free(new_processes);
}
