/* new_processes.c: many new processes, read by several threads at once.
 *
 * A first tick reads the files of all processes, which takes a thousand times as long as anything
 * else in it: helpers that live no longer than the tick read ahead of the thread that gives keys.
 * They read what cannot wait (stat and what stands beside it), each process for itself, and know
 * nothing of the table. What they could not read for want of memory, the table reads itself; if few
 * descriptors are left, the reading ahead ends, and what was read ahead is closed: workers and the
 * program need some as well.
 *
 * The pids are cut into pieces. Each free thread reads the next piece, and so does the tick thread
 * while another has the one that it needs. A piece belongs to the thread that claimed it until it
 * is marked as read. Thread rule: the tick thread, but for help and what that calls. */
#include "process/entry.h"

#include "util/memory.h"
#include "util/thread.h"

#include <pthread.h>
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

    atomic_bool lacking;   /* descriptors */
    atomic_size_t claimed; /* pieces */
    atomic_bool *read;     /* each piece */
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

void new_process_read(struct process_reader *reader, struct new_process *one, unsigned extras)
{
    one->result = reader_open(reader, one->process);
    one->observed = one->result == 0 && reader_observe(reader, one->process, extras);
    one->read = true;
}

/* As if it had not been read. */
static void forget(struct new_process *one)
{
    if (one->process != NULL) {
        os_process_close(&one->process->files);
        process_done(one->process);
        memory_free(one->process);
    }
    *one = (struct new_process){0};
}

static size_t pieces(const struct new_processes *ahead)
{
    return (ahead->count + PIECE - 1) / PIECE;
}

/* A helper has no descriptors to give up: only the owner of the table has. */
static bool is_short(void *owner)
{
    struct new_processes *ahead = owner;
    atomic_store(&ahead->lacking, true);
    return false;
}

/* Reads the next piece. False where all are read or being read. */
static bool read_next(struct new_processes *ahead, struct buffer *text)
{
    size_t piece = atomic_fetch_add_explicit(&ahead->claimed, 1, memory_order_relaxed);
    if (piece >= pieces(ahead))
        return false;
    struct process_reader reader = {
        .context = ahead->context, .text = *text, .relieve = is_short, .owner = ahead};
    size_t end = size_min((piece + 1) * PIECE, ahead->count);
    for (size_t i = piece * PIECE; i < end && !reader.out_of_memory; i++) {
        struct new_process *one = &ahead->items[i];
        if (atomic_load(&ahead->lacking))
            break;
        one->process = new_process_process(ahead->pids[i]);
        if (one->process == NULL)
            continue;
        new_process_read(&reader, one, ahead->extras);
        const struct os_process *files = &one->process->files;
        if (descriptors_is_high(ahead->ceiling, files->stat) ||
            descriptors_is_high(ahead->ceiling, files->statm))
            atomic_store(&ahead->lacking, true);
        if (atomic_load(&ahead->lacking) || reader.out_of_memory)
            forget(one);
    }
    *text = reader.text;
    atomic_store(&ahead->read[piece], true);
    return true;
}

static void *help(void *argument)
{
    struct new_processes *ahead = argument;
    struct buffer text = {0};
    while (read_next(ahead, &text))
        ;
    buffer_done(&text);
    return NULL;
}

struct new_processes *new_processes_start(const vitals_context *context, const int64_t *pids,
                                          size_t count, unsigned extras, unsigned helpers)
{
    struct new_processes *ahead = memory_alloc(sizeof *ahead);
    if (ahead == NULL)
        return NULL;
    ahead->context = context;
    ahead->pids = pids;
    ahead->count = count;
    ahead->extras = extras;
    ahead->ceiling = descriptors_ceiling();
    ahead->items = memory_array(count, sizeof *ahead->items);
    ahead->read = memory_array(pieces(ahead), sizeof *ahead->read);
    if (ahead->items == NULL || ahead->read == NULL) {
        ahead->count = 0;
        new_processes_free(ahead);
        return NULL;
    }

    for (unsigned i = 0; i < helpers && i < NEW_PROCESSES_HELPERS; i++) {
        pthread_t *thread = &ahead->threads[ahead->thread_count];
        if (thread_start(thread, "vitals-first", STACK_BYTES, help, ahead) == 0)
            ahead->thread_count++;
    }
    return ahead;
}

/* Each helper ends once it has read its piece and there is no other. */
static void join_helpers(struct new_processes *ahead)
{
    for (size_t i = 0; i < ahead->thread_count; i++)
        pthread_join(ahead->threads[i], NULL);
    ahead->thread_count = 0;
}

bool new_processes_give_up(struct new_processes *ahead)
{
    bool any = false;
    atomic_store(&ahead->claimed, pieces(ahead)); // no thread begins another
    join_helpers(ahead);
    for (size_t i = ahead->taken; i < ahead->count; i++) {
        any |= ahead->items[i].process != NULL;
        forget(&ahead->items[i]);
    }
    for (size_t piece = 0; piece < pieces(ahead); piece++)
        atomic_store(&ahead->read[piece], true);
    return any;
}

struct new_process new_processes_next(struct new_processes *ahead)
{
    size_t index = ahead->taken, piece = index / PIECE;
    while (!atomic_load(&ahead->read[piece]))
        if (!read_next(ahead, &ahead->text))
            join_helpers(ahead); // they read the last pieces, and this one
    if (atomic_exchange(&ahead->lacking, false))
        (void)new_processes_give_up(ahead);
    struct new_process one = ahead->items[index];
    ahead->items[index] = (struct new_process){0};
    ahead->taken++;
    return one;
}

void new_processes_free(struct new_processes *ahead)
{
    if (ahead == NULL)
        return;
    (void)new_processes_give_up(ahead);
    buffer_done(&ahead->text);
    memory_free(ahead->items);
    memory_free(ahead->read);
    memory_free(ahead);
}
