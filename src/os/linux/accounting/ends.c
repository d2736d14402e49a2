/* ends.c: see os/ends.h.
 *
 * Birth events tell to which tree a record belongs: they are read after the records, so that the
 * birth of each process that has ended is known. A living process is measured by its own clock,
 * which includes its threads that have ended; an ended one by the records of its threads. For a
 * process older than the run, its usage until then is subtracted: its records may lack earlier
 * threads, its last clock reading does not. */
#include "os/ends.h"

#include "os/linux/accounting/connector.h"
#include "os/linux/accounting/count.h"
#include "os/linux/accounting/pid_chain.h"
#include "os/linux/accounting/taskstats.h"
#include "util/memory.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* Records that wait for the births before them. */
enum { WAITING_MAX = 512 };

/* A process that lives, as far as is known. */
struct alive {
    struct pid_node node;
    bool was_there; /* older than the run */
    bool gone;      /* it no longer has a clock */
    uint64_t base_ns, clock_ns, records_ns;
};

struct os_ends {
    const struct os *os;
    struct connector connector;
    struct exit_listener listener;
    bool records; /* the listener receives records */
    bool begun;   /* processes born from now on are not older than the run */
    bool cut;     /* memory was exhausted */
    bool narrow;  /* the connector's buffer is small */
    struct pid_chain alive;
    struct exit_sums sums; /* sums of processes that have ended */
    size_t waiting_count;
    struct exit_record waiting[WAITING_MAX];
};

/* Reads the CPU time of a process and all threads that it ever had; returns false if the process is
 * gone. Any user may read it. */
static bool read_clock(uint32_t pid, uint64_t *out)
{
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid((pid_t)pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
        return false;
    *out = (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
    return true;
}

static void add_alive(void *data, uint32_t pid)
{
    struct os_ends *ends = data;
    struct alive *alive = pid_chain_add(&ends->alive, pid, sizeof *alive);
    if (alive == NULL) {
        ends->cut = true;
        return;
    }
    alive->was_there = !ends->begun;
    if (alive->was_there && read_clock(pid, &alive->base_ns))
        alive->clock_ns = alive->base_ns;
}

static uint64_t used_ns(const struct alive *alive)
{
    uint64_t most = alive->records_ns > alive->clock_ns ? alive->records_ns : alive->clock_ns;
    return most > alive->base_ns ? most - alive->base_ns : 0;
}

static void end_alive(struct os_ends *ends, struct alive *alive)
{
    ends->sums.cpu_ns = saturating_add(ends->sums.cpu_ns, used_ns(alive));
    pid_chain_remove(&ends->alive, &alive->node);
}

/* A process older than the run: its usage before the run and its own peak are not counted. Its peak
 * is part of the sum of all peaks, which stays an upper bound. */
static void settle_record(struct os_ends *ends, const struct exit_record *record)
{
    struct exit_sums sums = record->used;
    struct alive *alive = pid_chain_find(&ends->alive, record->group);
    if (alive == NULL)
        return;
    alive->records_ns = saturating_add(alive->records_ns, record->used.cpu_ns);
    sums.cpu_ns = 0; /* end_alive adds it */
    if (alive->was_there)
        sums = (struct exit_sums){.sum_bytes = sums.sum_bytes};
    exit_sums_add(&ends->sums, &sums);
    if (!record->last)
        return;
    births_remove(&ends->connector.births, record->group);
    end_alive(ends, alive);
}

/* Called when a pid is reused: the waiting records of the first process, up to its last one, come
 * before those of the second. If its last record was lost, the known usage is counted; its clock
 * now belongs to the other process. */
static void forget_alive(void *data, uint32_t pid)
{
    struct os_ends *ends = data;
    struct alive *alive = pid_chain_find(&ends->alive, pid);
    for (size_t i = 0; alive != NULL && i < ends->waiting_count; i++) {
        struct exit_record record = ends->waiting[i];
        if (record.group != pid)
            continue;
        ends->waiting[i].group = 0; /* settled: belongs to no process */
        settle_record(ends, &record);
        alive = pid_chain_find(&ends->alive, pid);
    }
    if (alive != NULL)
        end_alive(ends, alive);
}

static void settle(struct os_ends *ends)
{
    connector_drain(&ends->connector);
    for (size_t i = 0; i < ends->waiting_count; i++)
        settle_record(ends, &ends->waiting[i]);
    ends->waiting_count = 0;
}

static void take_record(void *data, const struct exit_record *record)
{
    struct os_ends *ends = data;
    ends->waiting[ends->waiting_count++] = *record;
    if (ends->waiting_count == WAITING_MAX)
        settle(ends);
}

/* Reads the clocks of processes older than the run: at their end, records alone may lack
 * threads. */
static void read_clocks(struct os_ends *ends, bool all)
{
    for (struct pid_node *node = ends->alive.first; node != NULL; node = node->next) {
        struct alive *alive = (struct alive *)node;
        if ((all || alive->was_there) && !alive->gone)
            alive->gone = !read_clock(node->pid, &alive->clock_ns);
    }
}

int os_ends_open(const struct os *os, const struct os_trees *trees, struct os_ends **out)
{
    struct os_ends *ends = os->live ? memory_alloc(sizeof *ends) : NULL;
    if (ends == NULL)
        return os->live ? -ENOMEM : -ENOTSUP;
    ends->os = os;
    connector_init(&ends->connector);
    ends->records = exit_listener_open(&ends->listener, os) == 0;
    if (ends->records) { /* without exit records, ends are not seen and need not be tracked */
        ends->connector.births.added = add_alive;
        ends->connector.births.forgotten = forget_alive;
    }
    ends->connector.births.data = ends;
    int code = connector_open(&ends->connector, os, trees);
    if (code < 0) {
        os_ends_free(ends);
        return code;
    }
    ends->begun = true;
    ends->narrow = connector_is_narrow(&ends->connector);
    *out = ends;
    return 0;
}

void os_ends_free(struct os_ends *ends)
{
    if (ends == NULL)
        return;
    exit_listener_close(&ends->listener);
    connector_close(&ends->connector);
    pid_chain_done(&ends->alive);
    memory_free(ends);
}

/* Without exit records, living processes are not tracked. */
void os_ends_drain(struct os_ends *ends)
{
    exit_listener_drain(&ends->listener, take_record, ends);
    settle(ends);

    /* A process that had no clock before the records were read has ended, even if it is still
     * listed: the birth of another process with its pid may not be reported. */
    for (struct pid_node *next, *node = ends->alive.first; node != NULL; node = next) {
        struct alive *alive = (struct alive *)node;
        next = node->next;
        if (alive->gone) {
            births_remove(&ends->connector.births, node->pid);
            end_alive(ends, alive);
        }
    }
    if (ends->records)
        read_clocks(ends, false);
}

int os_ends_news(const struct os_ends *ends)
{
    return ends->narrow && connector_is_open(&ends->connector) ? ends->connector.socket : -1;
}

static void read_records(struct os_ends *ends, struct counted *out)
{
    read_clocks(ends, true);
    os_ends_drain(ends); /* the records of processes that ended meanwhile have arrived now */
    struct exit_sums sums = ends->sums;
    for (const struct pid_node *node = ends->alive.first; node != NULL; node = node->next)
        sums.cpu_ns = saturating_add(sums.cpu_ns, used_ns((const struct alive *)node));
#define FIGURE(member, join, quantity, scale) {quantity, (double)sums.member * (scale)},
    const struct {
        enum quantity quantity;
        double value;
    } FIGURES[] = {EXIT_SUMS(FIGURE)};
#undef FIGURE
    bool lossy = ends->listener.lossy || ends->cut || ends->connector.lossy ||
                 ends->connector.births.cut;
    for (size_t i = 0; i < ARRAY_COUNT(FIGURES); i++) {
        bool cpu = FIGURES[i].quantity == COUNTED_CPU_SECONDS;
        os_count(out, FIGURES[i].quantity, FIGURES[i].value, VITALS_LOWER_BOUND,
                 cpu && lossy ? "taskstats, record of each end, some lost; clocks of the rest"
                 : cpu        ? "taskstats, record of each end; clocks of what still runs"
                 : lossy      ? "taskstats, record of each end; some were lost"
                              : "taskstats, record of each end");
    }
}

void os_ends_read(struct os_ends *ends, struct counted *out)
{
    os_ends_drain(ends);
    if (ends->records)
        read_records(ends, out);
    connector_read(&ends->connector, out);
}

const char *os_ends_names(const struct os_ends *ends)
{
    return ends->records ? "taskstats connector " : "connector ";
}
