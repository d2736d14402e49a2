/* methods.c: see methods.h. Knows no mechanism: those are os/count.h's, best first.
 *
 * A rung is tried where it would tell what no better one does, so that nobody pays for a second
 * way to the same number. What two rungs counted is compared: who counted less has missed some. */
#include "run/methods.h"

#include "os/count.h"
#include "util/cursor.h"
#include "util/memory.h"

#include <stdio.h>
#include <string.h>

enum { RUNGS_MAX = 8 };

struct rung {
    const struct os_counter *counter;
    size_t rank; /* of the counter in its list */
    void *state;
    os_quantities counts;
    bool in_use;
};

struct ladder {
    size_t count;
    struct rung rungs[RUNGS_MAX]; /* best first */
    const struct os_counter *const *counters;
    const char *chosen; /* names of rungs; NULL: all */
    bool orphans_lost;
    struct os_count_options asked;
    void *shared; /* the counters' own */
};

/* Always there, whatever a user chose: reaping is done in any case. */
static const char ALWAYS[] = "wait4";

static bool is_chosen(const char *rungs, const char *name)
{
    struct span word;
    if (rungs == NULL || strcmp(name, ALWAYS) == 0)
        return true;
    struct cursor cursor = cursor_over(rungs, strlen(rungs));
    while (cursor_word(&cursor, &word)) {
        if (span_equal(word, name))
            return true;
    }
    return false;
}

/* What the rungs above one promise. */
static os_quantities promised(const struct ladder *ladder, size_t below)
{
    os_quantities all = 0;
    for (size_t i = 0; i < below; i++) {
        if (ladder->rungs[i].in_use)
            all |= ladder->rungs[i].counts;
    }
    return all;
}

bool ladder_counts(const struct ladder *ladder, enum quantity quantity)
{
    return ladder != NULL && (promised(ladder, ladder->count) & os_quantity(quantity)) != 0;
}

static void drop(struct rung *rung)
{
    rung->in_use = false;
    rung->counts = 0;
}

static void open_rung(struct rung *rung, struct os_count_options *options)
{
    if ((rung->counter->worth & options->wanted) == 0)
        return;
    rung->state = memory_alloc(rung->counter->size);
    if (rung->state == NULL)
        return;
    rung->in_use = rung->counter->open(rung->state, options, &rung->counts) == 0;
    if (rung->in_use)
        return;
    drop(rung);
    memory_free(rung->state);
    rung->state = NULL;
}

/* Tries a counter for what nobody better counts; the rung is `place`, which is free. */
static bool try_counter(struct ladder *ladder, size_t place, size_t rank)
{
    struct rung *rung = &ladder->rungs[place];
    *rung = (struct rung){.counter = ladder->counters[rank], .rank = rank};
    ladder->asked.wanted = ~promised(ladder, place);
    open_rung(rung, &ladder->asked);
    return rung->in_use;
}

struct ladder *ladder_open(const struct ladder_options *options)
{
    struct ladder *ladder = memory_alloc(sizeof(*ladder));
    if (ladder == NULL)
        return NULL;
    ladder->counters = options->counters != NULL ? options->counters : os_counters;
    ladder->chosen = options->rungs;
    ladder->orphans_lost = options->orphans_lost;
    ladder->shared = os_count_shared_new();
    if (ladder->shared == NULL) {
        memory_free(ladder);
        return NULL;
    }
    ladder->asked = (struct os_count_options){.os = options->os,
                                              .shared = ladder->shared,
                                              .patience_ns = options->patience_ns,
                                              .limit_memory_bytes = options->limit_memory_bytes,
                                              .limit_processes = options->limit_processes};
    for (size_t i = 0; ladder->counters[i] != NULL && ladder->count < RUNGS_MAX; i++) {
        if (is_chosen(ladder->chosen, ladder->counters[i]->name))
            ladder->count += try_counter(ladder, ladder->count, i) ? 1 : 0;
    }
    return ladder;
}

void ladder_places(struct ladder *ladder, struct os_places *places)
{
    *places = (struct os_places){0};
    for (size_t i = 0; ladder != NULL && i < ladder->count; i++) {
        const struct rung *rung = &ladder->rungs[i];
        if (rung->in_use && rung->counter->place != NULL)
            rung->counter->place(rung->state, places);
    }
}

/* Those of the standard streams, which may be closed, are not passed on to who samples. */
int ladder_pulse(const struct ladder *ladder, int *folder)
{
    enum { STREAM_LAST = 2 };
    for (size_t i = 0; ladder != NULL && i < ladder->count; i++) {
        const struct rung *rung = &ladder->rungs[i];
        if (!rung->in_use || rung->counter->pulse == NULL)
            continue;
        int file = rung->counter->pulse(rung->state, folder);
        if (file > STREAM_LAST && *folder > STREAM_LAST)
            return file;
        os_close_descriptor(file);
    }
    return *folder = 0;
}

static bool take_child(struct rung *rung, int64_t pid)
{
    if (!rung->in_use || rung->counter->child == NULL ||
        rung->counter->child(rung->state, pid, &rung->counts) >= 0)
        return true;
    drop(rung);
    return false;
}

/* The place of a counter that is not among the rungs; RUNGS_MAX where it is, or there is no room.
 */
static size_t place_for(const struct ladder *ladder, size_t rank)
{
    size_t place = 0;
    while (place < ladder->count && ladder->rungs[place].rank < rank)
        place++;
    bool taken = place < ladder->count && ladder->rungs[place].rank == rank;
    return taken || ladder->count == RUNGS_MAX ? RUNGS_MAX : place;
}

/* What a rung had promised and does not count may be counted by one that was not needed then, if
 * that needs nothing before there is a child. */
static void try_others(struct ladder *ladder, int64_t pid)
{
    for (size_t i = 0; ladder->counters[i] != NULL; i++) {
        const struct os_counter *counter = ladder->counters[i];
        size_t place = place_for(ladder, i);
        if (place == RUNGS_MAX || counter->place != NULL ||
            !is_chosen(ladder->chosen, counter->name))
            continue;
        struct rung *rungs = ladder->rungs;
        memmove(&rungs[place + 1], &rungs[place], (ladder->count - place) * sizeof(*rungs));
        if (try_counter(ladder, place, i)) {
            ladder->count++;
            (void)take_child(&rungs[place], pid);
        } else {
            memmove(&rungs[place], &rungs[place + 1], (ladder->count - place) * sizeof(*rungs));
        }
    }
}

void ladder_child(struct ladder *ladder, int64_t pid)
{
    bool all = true;
    for (size_t i = 0; ladder != NULL && i < ladder->count; i++)
        all = take_child(&ladder->rungs[i], pid) && all;
    if (!all)
        try_others(ladder, pid);
}

void ladder_reaping(struct ladder *ladder, int64_t pid)
{
    for (size_t i = 0; ladder != NULL && i < ladder->count; i++) {
        const struct rung *rung = &ladder->rungs[i];
        if (rung->in_use && rung->counter->ended != NULL)
            rung->counter->ended(rung->state, pid);
    }
}

void ladder_reaped(struct ladder *ladder, const struct os_reaped *child)
{
    for (size_t i = 0; ladder != NULL && i < ladder->count; i++) {
        const struct rung *rung = &ladder->rungs[i];
        if (rung->in_use && rung->counter->reaped != NULL)
            rung->counter->reaped(rung->state, child);
    }
}

void ladder_tick(struct ladder *ladder)
{
    for (size_t i = 0; ladder != NULL && i < ladder->count; i++) {
        const struct rung *rung = &ladder->rungs[i];
        if (rung->in_use && rung->counter->tick != NULL)
            rung->counter->tick(rung->state);
    }
}

/* ---- what is told ---- */

/* By one rung. */
struct told {
    struct counted at[COUNTED_COUNT];
    bool doubtful;
};

/* What has missed some is a bound; so is a split of it. */
static void bound_all(struct counted *counted)
{
    for (int quantity = 0; quantity < COUNTED_COUNT; quantity++) {
        signed char *state = &counted[quantity].value.state;
        bool split = quantity == COUNTED_CPU_USER_SECONDS || quantity == COUNTED_CPU_SYSTEM_SECONDS;
        if (*state == VITALS_HAVE || (split && *state == VITALS_ESTIMATE))
            *state = VITALS_LOWER_BOUND;
    }
}

/* Counts that every rung begins at the same moment, so that the larger has missed less. Peaks and
 * times of waiting are not alike from rung to rung. */
static const os_quantities COMPARED = 1u << COUNTED_CPU_SECONDS | 1u << COUNTED_CPU_USER_SECONDS |
                                      1u << COUNTED_CPU_SYSTEM_SECONDS | 1u << COUNTED_READ_BYTES |
                                      1u << COUNTED_WRITTEN_BYTES | 1u << COUNTED_PROCESSES |
                                      1u << COUNTED_MINOR_FAULTS | 1u << COUNTED_MAJOR_FAULTS |
                                      1u << COUNTED_VOLUNTARY_SWITCHES |
                                      1u << COUNTED_INVOLUNTARY_SWITCHES;

/* More than clocks of two rungs differ by, with what the child did before its exec. */
static bool is_much_more(enum quantity quantity, double value, double than)
{
    static const double SHARE = 1.005, STEP_SECONDS = 0.01;
    return value > than * SHARE + (quantity == COUNTED_CPU_SECONDS ? STEP_SECONDS : 0);
}

/* Who counted much less than a worse rung has lost sight of some, and that one is at least less
 * wrong. What is not exact gives way to what is, unless that tells much less than there is at
 * least. */
static void take(struct counted *best, const struct counted *next, enum quantity quantity)
{
    signed char held = best->value.state, offered = next->value.state;
    double more = next->value.as.f64, than = best->value.as.f64;
    if (offered == VITALS_UNSET)
        return;
    if (held <= 0) {
        if (held == VITALS_UNSET || offered > 0)
            *best = *next;
        return;
    }
    /* A record of the end knows the last image only, not what an exec has thrown away. */
    if (offered > 0 && quantity == COUNTED_MEMORY_LARGEST_BYTES &&
        is_much_more(quantity, more, than))
        *best = *next;
    if (offered <= 0 || (COMPARED & os_quantity(quantity)) == 0)
        return;
    bool exact = offered == VITALS_HAVE && held != VITALS_HAVE;
    if ((exact && (held == VITALS_ESTIMATE || !is_much_more(quantity, than, more))) ||
        (quantity == COUNTED_CPU_SECONDS && is_much_more(quantity, more, than)))
        *best = *next;
}

/* A rung that counted much less CPU time than another has lost sight of some, and so of all else
 * that they did. Who counted the most may have lost others. */
static void doubt(struct told *told, size_t count, double cpu_seconds)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        const struct value *own = &told[i].at[COUNTED_CPU_SECONDS].value;
        told[i].doubtful = own->state == VITALS_HAVE && /* else it knows that it is short */
                           is_much_more(COUNTED_CPU_SECONDS, cpu_seconds, own->as.f64);
        /* Of wait4 it is known what it loses; another that lost some was left by them. */
        any |= told[i].doubtful && i + 1 < count;
    }
    for (size_t i = 0; i < count; i++) {
        if (told[i].doubtful || (any && i + 1 == count))
            bound_all(told[i].at);
    }
}

/* Who has lost a whole process has lost its faults, of which there are some however short it was: a
 * record of an end tells them, where it was told. */
static bool is_short(const struct told *told, const struct told *records)
{
    const struct value *own = &told->at[COUNTED_MINOR_FAULTS].value;
    const struct value *least = &records->at[COUNTED_MINOR_FAULTS].value;
    return own->state > 0 && least->state > 0 && least->as.f64 > own->as.f64;
}

/* Whether others tell the same of a rung that may have lost some. Records of ends alone do not:
 * what a process does behind its record hides what another did. */
static bool is_witnessed(const struct ladder *ladder, const struct told *told, size_t own)
{
    bool witnessed = false;
    for (size_t i = 0; i < ladder->count; i++) {
        if (i == own || told[i].at[COUNTED_CPU_SECONDS].value.state <= 0)
            continue;
        if (!ladder->rungs[i].counter->ended_only)
            witnessed = true;
        else if (is_short(&told[own], &told[i]))
            return false;
    }
    return witnessed;
}

/* Who may have lost some without a sign of it is believed where another counted the same, which the
 * doubts above have seen to. Orphans that are reaped by others may have used too little CPU time
 * for that, and much of all else. */
static void doubt_unwitnessed(const struct ladder *ladder, struct told *told)
{
    for (size_t i = 0; i < ladder->count; i++) {
        const struct rung *rung = &ladder->rungs[i];
        bool whole = rung->counter->whole == NULL || !rung->in_use ||
                     rung->counter->whole(rung->state);
        if (!whole && (ladder->orphans_lost || !is_witnessed(ladder, told, i)))
            bound_all(told[i].at);
    }
}

/* What still runs is in no record of an end. */
static void add_left(struct counted *cpu, double left_cpu_seconds)
{
    if (cpu->value.state <= 0 || left_cpu_seconds <= 0)
        return;
    size_t size = strlen(cpu->source);
    cpu->value.as.f64 += left_cpu_seconds;
    (void)snprintf(cpu->source + size, sizeof(cpu->source) - size, "; clocks of what still runs");
}

static double read_rungs(const struct ladder *ladder, double left_cpu_seconds,
                         struct told told[static RUNGS_MAX])
{
    double most = 0;
    for (size_t i = 0; i < ladder->count; i++) {
        const struct rung *rung = &ladder->rungs[i];
        if (rung->in_use && rung->counter->read != NULL)
            rung->counter->read(rung->state, told[i].at);
        if (rung->counter->ended_only)
            add_left(&told[i].at[COUNTED_CPU_SECONDS], left_cpu_seconds);
        const struct value *cpu = &told[i].at[COUNTED_CPU_SECONDS].value;
        if (cpu->state > 0 && cpu->as.f64 > most)
            most = cpu->as.f64;
    }
    return most;
}

void ladder_read(struct ladder *ladder, const struct ladder_left *left, struct counted *out)
{
    struct told told[RUNGS_MAX] = {0};
    memset(out, 0, COUNTED_COUNT * sizeof(*out));
    double cpu_seconds = ladder != NULL ? read_rungs(ladder, left->cpu_seconds, told) : 0;
    if (ladder != NULL)
        doubt(told, ladder->count, cpu_seconds);
    if (ladder != NULL)
        doubt_unwitnessed(ladder, told);
    for (size_t i = 0; ladder != NULL && i < ladder->count; i++) {
        for (int quantity = 0; quantity < COUNTED_COUNT; quantity++)
            take(&out[quantity], &told[i].at[quantity], (enum quantity)quantity);
    }
    for (int quantity = 0; quantity < COUNTED_COUNT; quantity++) {
        signed char *state = &out[quantity].value.state;
        if (*state == VITALS_UNSET)
            *state = VITALS_UNSUPPORTED;
        else if (*state == VITALS_HAVE && left->any)
            *state = VITALS_LOWER_BOUND;
    }
}

void ladder_rungs(const struct ladder *ladder, char *out, size_t capacity)
{
    size_t size = 0;
    if (capacity == 0)
        return;
    out[0] = '\0';
    for (size_t i = 0; ladder != NULL && i < ladder->count; i++) {
        const struct rung *rung = &ladder->rungs[i];
        bool idle = rung->in_use && rung->counter->is_idle != NULL &&
                    rung->counter->is_idle(rung->state);
        if (!rung->in_use || idle || size >= capacity)
            continue;
        int written = snprintf(out + size, capacity - size, "%s%s", size > 0 ? " " : "",
                               rung->counter->name);
        size += written > 0 ? (size_t)written : 0;
    }
}

bool ladder_kill(struct ladder *ladder)
{
    for (size_t i = 0; ladder != NULL && i < ladder->count; i++) {
        const struct rung *rung = &ladder->rungs[i];
        if (rung->in_use && rung->counter->kill != NULL && rung->counter->kill(rung->state))
            return true;
    }
    return false;
}

void ladder_close(struct ladder *ladder)
{
    for (size_t i = 0; ladder != NULL && i < ladder->count; i++) {
        ladder->rungs[i].counter->close(ladder->rungs[i].state);
        memory_free(ladder->rungs[i].state);
    }
    if (ladder != NULL)
        memory_free(ladder->shared);
    memory_free(ladder);
}
