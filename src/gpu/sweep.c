/* sweep.c: makes sweeps: the processes, their GPU descriptors, and the kernel's text for those.
 *
 * Listing the descriptors of a process costs a system call each, so it is repeated only now and
 * then: often for a process that is new or has a GPU open, rarely for one that never had one or
 * whose number of descriptors is unchanged, and only for a limited number per sweep (the first
 * lists everything). Known descriptors are read in every sweep.
 *
 * A pid may be reused: the start time is read after the descriptors and must be the same as before
 * they were listed, else nothing of the process counts. A sweep is reused once only the sweeper
 * holds a reference to it. Thread rule: one thread per sweeper. */
#include "gpu/backend.h"

#include "util/memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

enum {
    POOLED = 3,     /* sweeps kept for reuse */
    BUDGET = 10000, /* descriptors listed in one sweep, once all were listed */
    SELDOM = 8,     /* sweeps between two lists of a process without a GPU */
    OFTEN = 2,      /* likewise, with a GPU */
    RARELY = 64,    /* likewise, for a process that cannot have one */
    TRUSTED = 8,    /* lists that are skipped while the number of descriptors is unchanged */
    FDINFO_BYTES = 16 * 1024 /* the largest known text of a driver is 3 KiB */
};

/* ---- sweeps ---- */

struct pooled {
    struct gpu_sweep sweep; /* first, so that a pointer to it is also one to the struct */
    atomic_uint refs;
    size_t capacity;
};
_Static_assert(offsetof(struct pooled, sweep) == 0, "a sweep is found in what holds it");

static struct pooled *pooled_of(struct gpu_sweep *sweep)
{
    return (struct pooled *)(void *)sweep;
}

struct gpu_sweep *gpu_sweep_ref(struct gpu_sweep *sweep)
{
    atomic_fetch_add_explicit(&pooled_of(sweep)->refs, 1, memory_order_relaxed);
    return sweep;
}

void gpu_sweep_unref(struct gpu_sweep *sweep)
{
    if (sweep == NULL ||
        atomic_fetch_sub_explicit(&pooled_of(sweep)->refs, 1, memory_order_acq_rel) != 1)
        return;
    memory_free(sweep->clients);
    memory_free(pooled_of(sweep));
}

/* ---- a sweeper ---- */

/* State of a process that is kept between sweeps. */
struct known_descriptor {
    int64_t pid;
    uint64_t start_ticks; /* its start when it was listed; 0: not read, because it has no GPU */
    uint64_t due;         /* the sweep in which it is listed again */
    uint32_t pause;       /* sweeps between its last two lists */
    uint32_t passed_over; /* skipped lists since the last full one */
    uint64_t descriptors; /* number at that time */
    bool listed, denied, is_broker;
    struct os_gpu_open *opens;
    size_t count, capacity;
};

struct gpu_sweeper {
    const vitals_context *context;
    struct os_pids pids;
    struct known_descriptor *known, *spare; /* in the order of pids; spare: the previous list */
    size_t count, capacity, spare_capacity;
    struct os_gpu_opens opens; /* of the process being listed */
    uint64_t round;            /* number of sweeps so far */
    size_t left;               /* remaining budget */
    size_t turn; /* first process that did not fit the budget; the next sweep begins there */
    struct pooled *pool[POOLED];
    const struct os_gate *gate; /* of the current sweep; may be NULL */
    char fdinfo[FDINFO_BYTES];
};

struct gpu_sweeper *gpu_sweeper_new(const vitals_context *context)
{
    struct gpu_sweeper *sweeper = memory_alloc(sizeof *sweeper);
    if (sweeper == NULL)
        return NULL;
    sweeper->context = context;
    return sweeper;
}

void gpu_sweeper_free(struct gpu_sweeper *sweeper)
{
    if (sweeper == NULL)
        return;
    for (size_t i = 0; i < sweeper->count; i++)
        memory_free(sweeper->known[i].opens);
    for (size_t i = 0; i < POOLED; i++)
        if (sweeper->pool[i] != NULL)
            gpu_sweep_unref(&sweeper->pool[i]->sweep);
    memory_free(sweeper->known);
    memory_free(sweeper->spare);
    os_gpu_opens_done(&sweeper->opens);
    os_pids_done(&sweeper->pids);
    memory_free(sweeper);
}

static const struct os *os_of(const struct gpu_sweeper *sweeper)
{
    return &sweeper->context->os;
}

/* ---- list of processes ---- */

/* Keeps the entries of processes that still exist; removes the others. */
static bool take_pids(struct gpu_sweeper *sweeper)
{
    size_t wanted = sweeper->pids.count, old = 0, count = 0;
    if (wanted > sweeper->spare_capacity) {
        void *spare = memory_resize(sweeper->spare, wanted + wanted / 4, sizeof *sweeper->spare);
        if (spare == NULL)
            return false;
        sweeper->spare = spare;
        sweeper->spare_capacity = wanted + wanted / 4;
    }
    for (size_t i = 0; i < sweeper->pids.count; i++) {
        int64_t pid = sweeper->pids.items[i];
        if (count > 0 && sweeper->spare[count - 1].pid == pid)
            continue;
        while (old < sweeper->count && sweeper->known[old].pid < pid)
            memory_free(sweeper->known[old++].opens);
        bool is_known = old < sweeper->count && sweeper->known[old].pid == pid;
        sweeper->spare[count++] = is_known ? sweeper->known[old++]
                                           : (struct known_descriptor){.pid = pid};
    }
    while (old < sweeper->count)
        memory_free(sweeper->known[old++].opens);
    struct known_descriptor *known = sweeper->spare;
    size_t capacity = sweeper->spare_capacity;
    sweeper->spare = sweeper->known;
    sweeper->spare_capacity = sweeper->capacity;
    sweeper->known = known;
    sweeper->capacity = capacity;
    sweeper->count = count;
    return true;
}

/* ---- their descriptors ---- */

/* Fields of /proc/PID/stat. */
struct begun {
    uint64_t start_ticks;
    bool is_broker;
    bool has_files; /* neither a kernel thread nor a zombie */
};

static int read_begun(const struct os *os, int64_t pid, struct begun *out)
{
    char text[OS_STAT_TEXT];
    struct os_stat stat;
    int result = os_stat_of(os, pid, text, &stat);
    if (result < 0 || !(stat.has & OS_STAT_START))
        return result < 0 ? result : -EBADMSG;
    bool is_named = (stat.has & OS_STAT_NAME) && span_equal(stat.name, "systemd-logind");
    bool is_kernels = (stat.has & OS_STAT_FLAGS) && (stat.flags & OS_KERNEL_THREAD);
    *out = (struct begun){.start_ticks = stat.start_ticks,
                          .is_broker = pid == 1 || is_named,
                          .has_files = !is_kernels && stat.state != 'Z' && stat.state != 'X'};
    return 0;
}

/* Copies the list of one process; returns false if memory is exhausted. */
static bool keep_opens(struct known_descriptor *known, const struct os_gpu_opens *opens)
{
    if (opens->count > known->capacity) {
        void *items = memory_resize(known->opens, opens->count, sizeof *known->opens);
        if (items == NULL)
            return false;
        known->opens = items;
        known->capacity = opens->count;
    }
    if (opens->count > 0)
        memcpy(known->opens, opens->items, opens->count * sizeof *known->opens);
    known->count = opens->count;
    return true;
}

/* Sets when the process is listed again: if it began after the sweeper, soon and then at growing
 * intervals; the others are spread over several sweeps. */
static void plan_next(struct gpu_sweeper *sweeper, struct known_descriptor *known, bool has_files)
{
    uint32_t most = known->count > 0 ? OFTEN : SELDOM;
    bool is_old = known->pause == 0 && sweeper->round == 1;
    uint64_t wait = is_old ? 1 + (uint64_t)known->pid % most : 0;
    known->pause = is_old ? most : known->pause == 0 ? 1 : known->pause * 2;
    if (known->pause > most)
        known->pause = most;
    if (wait == 0)
        wait = has_files ? known->pause : RARELY;
    known->due = sweeper->round + wait;
}

/* Lists a process. Its start time is read before its descriptors, so that a list is never older
 * than it; it is read only if a descriptor was found, or to be sure that a process which denies
 * access is one that has descriptors. Returns false if memory is exhausted. */
static bool list(struct gpu_sweeper *sweeper, struct known_descriptor *known)
{
    const struct os *os = os_of(sweeper);
    struct os_gpu_opens *opens = &sweeper->opens;
    struct begun begun = {.has_files = true};

    /* The same number of descriptors most likely means the same descriptors; not for ever, because
     * one may have been closed and another opened. */
    if (known->listed && known->descriptors != 0 && ++known->passed_over < TRUSTED) {
        sweeper->left -= size_min(sweeper->left, 1);
        if (os_descriptor_count(os, known->pid, opens) == known->descriptors) {
            plan_next(sweeper, known, true);
            return true;
        }
    }
    known->passed_over = 0;
    int result = os_gpu_opens_read(os, known->pid, opens);
    bool is_denied = result < 0 && os_availability(result) == VITALS_DENIED;
    bool is_bare = is_denied || (result == 0 && opens->numbers.count == 0);
    if (is_bare && read_begun(os, known->pid, &begun) == 0)
        is_denied = is_denied && begun.has_files;
    if (result == 0 && opens->count > 0) {
        result = read_begun(os, known->pid, &begun);
        if (result == 0)
            result = os_gpu_opens_read(os, known->pid, opens);
    }
    sweeper->left -= size_min(sweeper->left, opens->numbers.count + 1);
    if (result < 0)
        opens->count = 0;
    known->denied = is_denied;
    vitals_availability reason = result < 0 ? os_availability(result) : VITALS_HAVE;
    known->listed = result == 0 || reason == VITALS_DENIED || reason == VITALS_GONE;
    known->start_ticks = begun.start_ticks;
    known->is_broker = begun.is_broker;
    bool kept = result != -ENOMEM && keep_opens(known, opens);
    if (!kept) {
        known->count = 0;
        known->listed = false;
    }
    known->descriptors = result < 0 ? 0 : opens->numbers.count;
    plan_next(sweeper, known, begun.has_files);
    return kept;
}

/* Lists new processes, and then those that are due. Returns false if memory is exhausted. */
static bool list_due(struct gpu_sweeper *sweeper)
{
    size_t count = sweeper->count, from = count > 0 ? sweeper->turn % count : 0;
    sweeper->left = sweeper->round == 1 ? SIZE_MAX : BUDGET;
    for (size_t i = 0; i < count && sweeper->left > 0; i++) {
        if (!sweeper->known[i].listed && !list(sweeper, &sweeper->known[i]))
            return false;
    }
    for (size_t i = 0; i < count; i++) {
        struct known_descriptor *known = &sweeper->known[(from + i) % count];
        sweeper->turn = (from + i) % count;
        if (sweeper->left == 0)
            return true;
        if (known->due <= sweeper->round && !list(sweeper, known))
            return false;
    }
    sweeper->turn = 0;
    return true;
}

/* ---- the kernel's text ---- */

/* Reads a descriptor. One that this process has open to query the driver is skipped: it is checked
 * before and after, because it is open only briefly. A descriptor that was closed meanwhile is
 * skipped, and its process is listed again. One without data from its driver is skipped too. */
static void read_client(struct gpu_sweeper *sweeper, struct known_descriptor *known,
                        const struct os_gpu_open *open, struct pooled *pooled)
{
    uint64_t device = sweep_device(open->major, open->minor);
    const struct os_gate *gate = sweeper->gate;
    struct gpu_sweep *sweep = &pooled->sweep;
    if (os_drm_is_ours(known->pid, open->descriptor))
        return;
    if (sweep->count == SWEEP_CLIENTS_MAX ||
        MEMORY_GROW(sweep->clients, pooled->capacity, sweep->count) < 0) {
        sweep->cut = true;
        return;
    }
    if (gate != NULL && !gate->enter(gate->data, device)) {
        sweep->cut = true;
        return;
    }
    struct sweep_client *client = &sweep->clients[sweep->count];
    client->stamp_ns = os_now_ns(os_of(sweeper));
    client->pid = known->pid;
    client->start_ticks = known->start_ticks;
    client->is_broker = known->is_broker;
    client->major = open->major;
    client->minor = open->minor;
    size_t size;
    int result = os_gpu_fdinfo(os_of(sweeper), known->pid, open->descriptor, sweeper->fdinfo,
                               sizeof sweeper->fdinfo, &size);
    if (gate != NULL)
        gate->leave(gate->data, device);
    if (result < 0)
        known->due = sweeper->round + 1;
    else if (!os_drm_is_ours(known->pid, open->descriptor) &&
             sweep_parse((struct span){sweeper->fdinfo, size}, client))
        sweep->count++;
}

/* Nothing counts of a pid that was reused since it was listed. */
static void read_process(struct gpu_sweeper *sweeper, struct known_descriptor *known,
                         struct pooled *pooled)
{
    size_t before = pooled->sweep.count;
    for (size_t i = 0; i < known->count; i++)
        read_client(sweeper, known, &known->opens[i], pooled);
    struct begun begun;
    if (pooled->sweep.count == before)
        return;
    if (read_begun(os_of(sweeper), known->pid, &begun) == 0 &&
        begun.start_ticks == known->start_ticks)
        return;
    pooled->sweep.count = before;
    known->count = 0;
    known->descriptors = 0;
    known->due = sweeper->round + 1;
}

struct gpu_sweep *gpu_sweeper_take(struct gpu_sweeper *sweeper, const struct os_gate *gate)
{
    /* Take a sweep that only the pool holds, or a new one that replaces the oldest. */
    struct pooled *pooled = NULL, *pool;
    for (size_t i = 0; i < POOLED && pooled == NULL; i++) {
        pool = sweeper->pool[i];
        if (pool != NULL && atomic_load_explicit(&pool->refs, memory_order_acquire) == 1)
            pooled = pool;
    }
    if (pooled == NULL) {
        struct pooled **oldest = &sweeper->pool[sweeper->round % POOLED];
        pooled = memory_alloc(sizeof *pooled);
        if (pooled == NULL)
            return NULL;
        atomic_init(&pooled->refs, 1);
        if (*oldest != NULL)
            gpu_sweep_unref(&(*oldest)->sweep);
        *oldest = pooled;
    }

    sweeper->gate = gate;
    pooled->sweep = (struct gpu_sweep){.stamp_ns = os_now_ns(os_of(sweeper)),
                                       .state = VITALS_HAVE,
                                       .clients = pooled->sweep.clients};
    sweeper->round++;
    int result = os_list_processes(os_of(sweeper), &sweeper->pids);
    if (result == -ENOMEM || (result == 0 && (!take_pids(sweeper) || !list_due(sweeper))))
        return NULL;
    struct gpu_sweep *sweep = &pooled->sweep;
    if (result < 0) {
        sweep->state = (signed char)os_availability(result);
        return gpu_sweep_ref(sweep);
    }
    for (size_t i = 0; i < sweeper->count; i++) {
        struct known_descriptor *known = &sweeper->known[i];
        sweep->denied += known->denied;
        sweep->cut |= !known->listed;
        if (known->count > 0)
            read_process(sweeper, known, pooled);
    }
    sweep->processes = (uint32_t)size_min(sweeper->count, UINT32_MAX);
    return gpu_sweep_ref(sweep);
}
