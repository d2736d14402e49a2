/* methods.c: see methods.h. Knows no mechanism: os/count.h lists those, best first.
 *
 * A method is tried only if it counts something that no better one does. The counts of several
 * methods are compared: the one that counted less has missed processes. */
#include "run/methods.h"

#include "os/count.h"
#include "util/cursor.h"
#include "util/memory.h"

#include <stdio.h>
#include <string.h>

enum { METHODS_MAX = 8 };

struct method {
    const struct os_counter *counter;
    size_t rank; /* of the counter in its list */
    void *state;
    os_quantities counts;
    bool in_use;
};

struct accounting {
    size_t count;
    struct method methods[METHODS_MAX]; /* best first */
    const struct os_counter *const *counters;
    const char *chosen; /* names of methods; NULL: all */
    bool orphans_lost;
    struct os_count_options asked;
};

/* Always there, whatever a user chose: reaping is done in any case. */
static const char ALWAYS[] = "wait4";

static bool is_chosen(const char *methods, const char *name)
{
    struct span word;
    if (methods == NULL || strcmp(name, ALWAYS) == 0)
        return true;
    struct cursor cursor = cursor_over(methods, strlen(methods));
    while (cursor_word(&cursor, &word)) {
        if (span_equal(word, name))
            return true;
    }
    return false;
}

/* The quantities that better methods promise. */
static os_quantities promised(const struct accounting *accounting, size_t below)
{
    os_quantities all = 0;
    for (size_t i = 0; i < below; i++) {
        if (accounting->methods[i].in_use)
            all |= accounting->methods[i].counts;
    }
    return all;
}

bool accounting_counts(const struct accounting *accounting, enum quantity quantity)
{
    return accounting != NULL &&
           (promised(accounting, accounting->count) & os_quantity(quantity)) != 0;
}

/* Tries a counter for quantities that no better one counts; methods[place] is free. */
static bool try_counter(struct accounting *accounting, size_t place, size_t rank)
{
    struct method *method = &accounting->methods[place];
    const struct os_counter *counter = accounting->counters[rank];
    *method = (struct method){.counter = counter, .rank = rank};
    accounting->asked.wanted = ~promised(accounting, place);
    if ((counter->worth & accounting->asked.wanted) == 0 ||
        (method->state = memory_alloc(counter->size)) == NULL)
        return false;
    method->in_use = counter->open(method->state, &accounting->asked, &method->counts) == 0;
    if (!method->in_use) {
        memory_free(method->state);
        method->state = NULL;
    }
    return method->in_use;
}

struct accounting *accounting_open(const struct accounting_options *options)
{
    struct accounting *accounting = memory_alloc(sizeof(*accounting));
    if (accounting == NULL)
        return NULL;
    accounting->counters = options->counters != NULL ? options->counters : os_counters;
    accounting->chosen = options->methods;
    accounting->orphans_lost = options->orphans_lost;
    accounting->asked = options->count;
    accounting->asked.shared = os_count_shared_new();
    if (accounting->asked.shared == NULL) {
        memory_free(accounting);
        return NULL;
    }
    for (size_t i = 0; accounting->counters[i] != NULL && accounting->count < METHODS_MAX; i++) {
        if (is_chosen(accounting->chosen, accounting->counters[i]->name))
            accounting->count += try_counter(accounting, accounting->count, i) ? 1 : 0;
    }
    return accounting;
}

void accounting_places(struct accounting *accounting, struct os_places *places)
{
    *places = (struct os_places){0};
    for (size_t i = 0; accounting != NULL && i < accounting->count; i++) {
        const struct method *method = &accounting->methods[i];
        if (method->in_use && method->counter->place != NULL)
            method->counter->place(method->state, places);
    }
}

/* Descriptors 0 to 2 are skipped: standard streams may be closed, and the sampler gets none of
 * them. */
int accounting_activity(const struct accounting *accounting, int *folder)
{
    enum { STREAM_LAST = 2 };
    for (size_t i = 0; accounting != NULL && i < accounting->count; i++) {
        const struct method *method = &accounting->methods[i];
        if (!method->in_use || method->counter->activity == NULL)
            continue;
        int file = method->counter->activity(method->state, folder);
        if (file > STREAM_LAST && *folder > STREAM_LAST)
            return file;
        os_close_descriptor(file);
    }
    return *folder = 0;
}

/* False if the method cannot keep its promise: it counts nothing then. */
static bool take_child(struct method *method, int64_t pid)
{
    if (!method->in_use || method->counter->child == NULL ||
        method->counter->child(method->state, pid, &method->counts) >= 0)
        return true;
    method->in_use = false;
    method->counts = 0;
    return false;
}

void accounting_child(struct accounting *accounting, int64_t pid)
{
    bool all = true;
    for (size_t i = 0; accounting != NULL && i < accounting->count; i++)
        all = take_child(&accounting->methods[i], pid) && all;

    /* A quantity that a method promised and does not count may be counted by another one that needs
     * nothing before there is a child. */
    for (size_t i = 0; !all && accounting->counters[i] != NULL; i++) {
        const struct os_counter *counter = accounting->counters[i];
        struct method *methods = accounting->methods;
        size_t place = 0;
        while (place < accounting->count && methods[place].rank < i)
            place++;
        bool taken = place < accounting->count && methods[place].rank == i;
        if (taken || accounting->count == METHODS_MAX || counter->place != NULL ||
            !is_chosen(accounting->chosen, counter->name))
            continue;
        size_t behind = (accounting->count - place) * sizeof(*methods);
        memmove(&methods[place + 1], &methods[place], behind);
        if (try_counter(accounting, place, i)) {
            accounting->count++;
            (void)take_child(&methods[place], pid);
        } else
            memmove(&methods[place], &methods[place + 1], behind);
    }
}

void accounting_reaping(struct accounting *accounting, int64_t pid)
{
    for (size_t i = 0; accounting != NULL && i < accounting->count; i++) {
        const struct method *method = &accounting->methods[i];
        if (method->in_use && method->counter->ended != NULL)
            method->counter->ended(method->state, pid);
    }
}

void accounting_reaped(struct accounting *accounting, const struct os_reaped *child)
{
    for (size_t i = 0; accounting != NULL && i < accounting->count; i++) {
        const struct method *method = &accounting->methods[i];
        if (method->in_use && method->counter->reaped != NULL)
            method->counter->reaped(method->state, child);
    }
}

void accounting_tick(struct accounting *accounting)
{
    for (size_t i = 0; accounting != NULL && i < accounting->count; i++) {
        const struct method *method = &accounting->methods[i];
        if (method->in_use && method->counter->tick != NULL)
            method->counter->tick(method->state);
    }
}

/* ---- what is told ---- */

/* By one method. */
struct method_report {
    struct counted at[COUNTED_COUNT];
    bool doubtful;
};

enum {
    CPU_TIMES = 1 << COUNTED_CPU_SECONDS | 1 << COUNTED_CPU_USER_SECONDS |
                1 << COUNTED_CPU_SYSTEM_SECONDS
};

/* A count that has missed some is a bound, but for the spared ones; so is a split of CPU time. */
static void bound(struct counted *counted, os_quantities spared)
{
    for (int quantity = 0; quantity < COUNTED_COUNT; quantity++) {
        signed char *state = &counted[quantity].value.state;
        bool split = quantity == COUNTED_CPU_USER_SECONDS || quantity == COUNTED_CPU_SYSTEM_SECONDS;
        if ((spared & os_quantity((enum quantity)quantity)) == 0 &&
            (*state == VITALS_HAVE || (split && *state == VITALS_ESTIMATE)))
            *state = VITALS_LOWER_BOUND;
    }
}

/* Counts that every method begins at the same moment, so that the larger has missed less. Peaks and
 * times of waiting are not alike from method to method. */
static const os_quantities COMPARED = CPU_TIMES | 1u << COUNTED_READ_BYTES |
                                      1u << COUNTED_WRITTEN_BYTES | 1u << COUNTED_PROCESSES |
                                      1u << COUNTED_MINOR_FAULTS | 1u << COUNTED_MAJOR_FAULTS |
                                      1u << COUNTED_VOLUNTARY_SWITCHES |
                                      1u << COUNTED_INVOLUNTARY_SWITCHES;

/* More than clocks of two methods differ by, with what the child did before its exec. */
static bool is_much_more(enum quantity quantity, double value, double than)
{
    static const double SHARE = 1.005, STEP_SECONDS = 0.01;
    return value > than * SHARE + (quantity == COUNTED_CPU_SECONDS ? STEP_SECONDS : 0);
}

/* Takes `next` if it is the better figure. A method that counted much less than a worse one has
 * lost processes, so the worse one is at least closer. A figure that is not exact gives way to an
 * exact one, unless that is much lower than a proven lower bound; of two lower bounds the higher
 * one says more. */
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
    bool higher = offered == VITALS_LOWER_BOUND && held == VITALS_LOWER_BOUND && more > than;
    if (higher || (exact && (held == VITALS_ESTIMATE || !is_much_more(quantity, than, more))) ||
        (quantity == COUNTED_CPU_SECONDS && is_much_more(quantity, more, than)))
        *best = *next;
}

/* A method that counted much less CPU time than another has lost processes, and with them all other
 * quantities. The method that counted the most may have lost others. */
static void doubt(struct method_report *told, size_t count, double cpu_seconds)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        const struct value *own = &told[i].at[COUNTED_CPU_SECONDS].value;
        told[i].doubtful = own->state == VITALS_HAVE && /* else it knows that it is short */
                           is_much_more(COUNTED_CPU_SECONDS, cpu_seconds, own->as.f64);
        /* The losses of wait4 are known; other methods may lose processes that left them. */
        any |= told[i].doubtful && i + 1 < count;
    }
    for (size_t i = 0; i < count; i++) {
        if (told[i].doubtful || (any && i + 1 == count))
            bound(told[i].at, 0);
    }
}

/* True if the witness counted no more CPU time, but for less than the smallest process costs. */
static bool agrees(const struct method *witness, const struct method_report *its,
                   double cpu_seconds)
{
    static const double SHARE = 1.005, STEP_SECONDS = 0.001;
    double most = witness->counter->most_cpu_seconds != NULL
                      ? witness->counter->most_cpu_seconds(witness->state)
                      : its->at[COUNTED_CPU_SECONDS].value.as.f64;
    return most <= cpu_seconds * SHARE + STEP_SECONDS;
}

/* A method that may lose processes without notice, as one that ignored SIGCHLD for a while makes
 * wait4 lose them, is exact only if another method agrees. A clock of the whole tree is a witness
 * of CPU time alone: a process that is too short to show there may have written much. If the end of
 * every process was recorded, and no more page faults than here, none is missing. Records of ends
 * are no witness of CPU time: what a process does behind its record hides what another did. */
static void doubt_unwitnessed(const struct accounting *accounting, struct method_report *told)
{
    for (size_t i = 0; i < accounting->count; i++) {
        const struct method *method = &accounting->methods[i];
        const struct value *own = &told[i].at[COUNTED_MINOR_FAULTS].value;
        double cpu = told[i].at[COUNTED_CPU_SECONDS].value.as.f64;
        bool witnessed = false, is_short = false, recorded = false;
        if (method->counter->whole == NULL || !method->in_use ||
            method->counter->whole(method->state))
            continue;
        for (size_t k = 0; k < accounting->count; k++) {
            const struct value *least = &told[k].at[COUNTED_MINOR_FAULTS].value;
            if (k == i || told[k].at[COUNTED_CPU_SECONDS].value.state <= 0)
                continue;
            /* Every process has some page faults, however short it lives: records that show more
             * of them mean that whole processes are missing. */
            if (accounting->methods[k].counter->ended_only) {
                is_short |= own->state > 0 && least->state > 0 && least->as.f64 > own->as.f64;
                recorded |= told[k].at[COUNTED_PROCESSES].value.state == VITALS_HAVE;
            } else {
                witnessed |= agrees(&accounting->methods[k], &told[k], cpu);
            }
        }
        if (accounting->orphans_lost || !witnessed || is_short)
            bound(told[i].at, 0);
        else if (!recorded)
            bound(told[i].at, CPU_TIMES);
    }
}

void accounting_read(struct accounting *accounting, const struct accounting_left *left,
                     struct counted *out)
{
    struct method_report told[METHODS_MAX] = {0};
    double most = 0;
    size_t count = accounting != NULL ? accounting->count : 0;
    memset(out, 0, COUNTED_COUNT * sizeof(*out));
    for (size_t i = 0; i < count; i++) {
        const struct method *method = &accounting->methods[i];
        struct counted *cpu = &told[i].at[COUNTED_CPU_SECONDS];
        if (method->in_use && method->counter->read != NULL)
            method->counter->read(method->state, told[i].at);
        if (cpu->value.state <= 0)
            continue;
        if (method->counter->ended_only && left->cpu_seconds > 0) {
            size_t size = strlen(cpu->source);
            cpu->value.as.f64 += left->cpu_seconds; /* what still runs is in no record of an end */
            (void)snprintf(cpu->source + size, sizeof(cpu->source) - size,
                           "; clocks of what still runs");
        }
        most = cpu->value.as.f64 > most ? cpu->value.as.f64 : most;
    }
    if (count > 0) {
        doubt(told, count, most);
        doubt_unwitnessed(accounting, told);
    }

    for (int quantity = 0; quantity < COUNTED_COUNT; quantity++) {
        signed char *state = &out[quantity].value.state;
        for (size_t i = 0; i < count; i++)
            take(&out[quantity], &told[i].at[quantity], (enum quantity)quantity);
        if (*state == VITALS_UNSET)
            *state = VITALS_UNSUPPORTED;
        else if (*state == VITALS_HAVE && left->any)
            *state = VITALS_LOWER_BOUND;
    }
}

void accounting_names(const struct accounting *accounting, char *out, size_t capacity)
{
    size_t size = 0;
    out[0] = '\0';
    for (size_t i = 0; accounting != NULL && i < accounting->count; i++) {
        const struct method *method = &accounting->methods[i];
        bool idle = method->in_use && method->counter->is_idle != NULL &&
                    method->counter->is_idle(method->state);
        if (!method->in_use || idle || size >= capacity)
            continue;
        int written = snprintf(out + size, capacity - size, "%s%s", size > 0 ? " " : "",
                               method->counter->name);
        size += written > 0 ? (size_t)written : 0;
    }
}

struct value accounting_held(const struct accounting *accounting)
{
    uint64_t bytes;
    for (size_t i = 0; accounting != NULL && i < accounting->count; i++) {
        const struct method *method = &accounting->methods[i];
        if (method->in_use && method->counter->held != NULL &&
            (method->counts & os_quantity(COUNTED_MEMORY_PEAK_BYTES)) != 0 &&
            method->counter->held(method->state, &bytes))
            return value_u64(bytes);
    }
    return value_missing(VITALS_UNSUPPORTED);
}

bool accounting_kill(struct accounting *accounting)
{
    for (size_t i = 0; accounting != NULL && i < accounting->count; i++) {
        const struct method *method = &accounting->methods[i];
        if (method->in_use && method->counter->kill != NULL && method->counter->kill(method->state))
            return true;
    }
    return false;
}

void accounting_close(struct accounting *accounting)
{
    for (size_t i = 0; accounting != NULL && i < accounting->count; i++) {
        accounting->methods[i].counter->close(accounting->methods[i].state);
        memory_free(accounting->methods[i].state);
    }
    if (accounting != NULL)
        memory_free(accounting->asked.shared);
    memory_free(accounting);
}
