/* source.h: the life cycle that all sources of a tick share.
 *
 * A source is what the tick thread keeps of one kind of reading that may block: the workers that
 * read, what they were asked, and where their answers go. tick.c calls the sources phase by phase
 * and knows nothing else of them:
 *
 *     begin ─ ask ─ collect until all are settled or the deadline ─ late ─ write
 *
 * A source whose worker did not answer by a deadline is late: no tick waits for it until it
 * answers. If a worker hangs in one item (worker.h), it is left behind there, and a new worker
 * reads the others; the item is avoided until the old one comes back. Thread rule: the tick thread.
 */
#pragma once

#include "model/builder.h"
#include "sampler/worker.h"

#include <string.h>

struct gpu_backend;
struct gpu_sweep;
struct gpu_table;
struct host;
struct plan;
struct process_table;
struct source;
struct sources;

/* The tick under way, as sources see it. */
struct source_tick {
    const struct metric_set *wanted; /* what is read: what is shown and what that is made of */
    const struct metric_set *shown;
    const struct metric_set *due; /* in this tick */
    uint64_t begin_ns;            /* also the name of the tick: nothing is asked twice in one */
    uint64_t interval_ns;
    bool first; /* no snapshot was made yet */
    struct host *host;
    struct process_table *processes;
    struct gpu_table *devices;
    struct source *sweeps; /* of open GPU devices; NULL: no devices are wanted */
};

/* Every function but `write` may be NULL. */
struct source_ops {
    size_t size;           /* of the struct that begins with a struct source */
    bool waits_for_others; /* it is asked once all others are settled */
    void (*let_go)(
        struct source *source);          /* of what its workers share: the last of them frees it */
    void (*done)(struct source *source); /* frees what is its own, but no worker */

    /* For its workers, unless it makes them itself: the functions that make `own` of each one's
     * world (may be NULL; false: no memory) and free it; and the size of each one's first job,
     * zeroed; 0: none. */
    size_t job_size;
    bool (*world_make)(struct worker_world *world);
    void (*world_done)(struct worker_world *world);

    /* At the beginning of a tick: asks for what is due. */
    void (*begin)(struct source *source, const struct source_tick *tick);

    /* Asks for what is due of the processes that are known by now. Called several times in a tick.
     * Returns 0 or VITALS_EMEMORY. */
    int (*ask)(struct source *source, const struct source_tick *tick);

    /* Takes what was answered, and asks what follows from it. Returns 0 or VITALS_EMEMORY. */
    int (*collect)(struct source *source, const struct source_tick *tick);

    /* Whether all is answered that the tick waits for; NULL: it waits for nothing. */
    bool (*settled)(const struct source *source, const struct source_tick *tick);

    /* When the tick is to look again before the deadline: it then asks again. */
    uint64_t (*patience)(const struct source *source, const struct source_tick *tick,
                         uint64_t deadline_ns);

    /* At the deadline: what was not answered is stale or timed out. Returns whether a worker was
     * left behind, so that the others can answer at once. */
    bool (*late)(struct source *source, const struct source_tick *tick);

    /* The rows of its own tables, before those of processes are written. */
    void (*write_tables)(struct source *source, const struct source_tick *tick,
                         vitals_builder *builder, uint64_t stamp_ns);

    /* Adds its problems to the table diagnosis, which is open. */
    void (*write_diagnosis)(const struct source *source, vitals_builder *builder,
                            uint64_t stamp_ns);

    /* Its row in the table source, which is open. */
    void (*write)(const struct source *source, vitals_builder *builder, uint64_t stamp_ns);
};

/* A worker that hangs in an item of its job. */
struct source_hung {
    struct worker *worker;
    int job;
    uint64_t item;
};

struct source {
    const struct source_ops *ops;
    const struct worker_service *service;
    size_t hung_max;         /* how many workers may be left behind, at most WORKER_AVOIDED */
    vitals_context *context; /* borrowed, as is the event */
    struct worker_event *event;
    struct worker **workers; /* all that it has, also those that hang */
    size_t worker_count, worker_capacity;
    struct worker *worker; /* the one in service; NULL: none was needed yet */
    struct source_hung hung[WORKER_AVOIDED];
    size_t hung_count;
    bool late; /* has not answered since a deadline: no tick waits for it */
    uint64_t calls, spent_ns, timeouts;
};

/* The sources of one sampler. */
enum { SOURCES_MAX = 16 };

struct sources {
    vitals_context *context; /* borrowed, as is the event */
    struct worker_event *event;
    struct source *items[SOURCES_MAX];
    size_t count;
};

/* A new one, zeroed but for its struct source. NULL: no memory. */
void *sources_add(struct sources *sources, const struct source_ops *ops,
                  const struct worker_service *service, size_t hung_max);

/* Frees all, and ends their workers; leaves behind those that hang beyond the deadline. */
void sources_end(struct sources *sources, uint64_t deadline_ns);

/* Frees what can be freed after a fork, where the workers' threads are not. */
void sources_forget(struct sources *sources);

/* ---- the phases, of all sources ---- */

void sources_begin(const struct sources *sources, const struct source_tick *tick);

/* `others`: those that wait for no other source; else those that do. */
int sources_ask(const struct sources *sources, const struct source_tick *tick, bool others);
int sources_collect(const struct sources *sources, const struct source_tick *tick);

/* `others`: only those that wait for no other source; else all. */
bool sources_settled(const struct sources *sources, const struct source_tick *tick, bool others);
uint64_t sources_patience(const struct sources *sources, const struct source_tick *tick,
                          uint64_t deadline_ns);
bool sources_late(const struct sources *sources, const struct source_tick *tick);

/* ---- for those that implement one ---- */

uint64_t source_now(const struct source *source);

/* A new worker of the source: in that world, without a job; or in one of its own, with its first
 * job, of which the number is 0. NULL: no memory or no thread. Does not put it in service. */
struct worker *source_worker(struct source *source, struct worker_world *world);
struct worker *source_new_worker(struct source *source);
void source_worker_end(struct source *source, struct worker *worker, uint64_t deadline_ns);

/* For a source whose workers have one job: whether it is idle; its data; and whether it was
 * answered, which ends being late. */
bool source_is_idle(const struct source *source);
void *source_data(const struct source *source);
bool source_collect(struct source *source);

/* Counts an answer that was collected among its calls; returns how long it took. */
uint64_t source_count_call(struct source *source, struct worker *worker, int job);

/* If the worker in service hangs in an item, leaves it behind and puts a new one in service. False:
 * nothing has changed. */
bool source_leave_behind(struct source *source);

/* Takes one that came back out of the list, with its answer; the caller ends it. */
bool source_take_back(struct source *source, struct source_hung *out);

static inline vitals_text source_text(const char *string)
{
    return (vitals_text){string, strlen(string)};
}

/* Begins a row in the table source; and ends it with the figures of a source. */
void source_begin_row(vitals_builder *builder, uint64_t key, const char *name, const char *message,
                      vitals_availability state, uint64_t stamp_ns);

void source_end_row(const struct source *source, vitals_builder *builder, struct value quarantined);

/* ---- the sources ---- */

/* Each adds what is wanted, and returns 0 or VITALS_EMEMORY. slow_source.c: for the columns of
 * processes that the plan wants of workers; no such columns, no threads. gpu_source.c: for one back
 * end, of that number in its rows; nothing is loaded yet. */
int slow_sources_add(struct sources *sources, const struct plan *plan);
int machine_sources_add(struct sources *sources, const struct metric_set *wanted);
int workload_source_add(struct sources *sources, const struct metric_set *wanted);
int gpu_source_add(struct sources *sources, const struct gpu_backend *backend, unsigned number);

/* Whether any table of devices is wanted. */
bool gpu_source_wants_devices(const struct metric_set *set);

/* Whether the users of a device can be read as soon as there is a sweep of /proc; and asks for them
 * with it. `is_old`: it is not of this tick, and there will be none; then the answer is stale, or
 * timed_out if there was never one (NULL). */
bool gpu_source_waits(const struct source *source);
void gpu_source_ask_users(struct source *source, const struct metric_set *wanted,
                          struct gpu_sweep *swept, bool is_old, uint64_t now_ns);

/* sweep_source.c. NULL: no memory. Its thread begins with the first question. */
struct source *sweep_source_add(struct sources *sources);

/* Asks for a sweep, unless one of this tick is on its way or was answered, and takes an answer.
 * *out is the newest there is, still the source's, or NULL. */
enum sweep_answer {
    SWEEP_NONE,  /* it may still come in this tick */
    SWEEP_FRESH, /* it is of this tick */
    SWEEP_OLD    /* there will be none in this tick: a driver hangs, or memory is out */
};
enum sweep_answer sweep_source_take(struct source *source, struct gpu_sweep **out);
