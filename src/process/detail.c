/* detail.c: what workers read of one process, and how its columns take it.
 *
 * Reading is by pid, so the caller that takes an answer proves first that the process lived all the
 * while. An answer is a row batch without a pointer; texts become shared ones when they are taken,
 * and only if they changed, so that snapshots go on sharing them.
 * Thread rule: reading on the thread that owns the cache; taking on the process's. */
#include "process/reader.h"

#include "util/hash.h"
#include "util/memory.h"
#include "util/number.h"
#include "workload/workload.h"

#include <errno.h>
#include <string.h>

/* ---- names ---- */

/* Names of users and groups, because a look-up may read files or wait for a network; and those of
 * containers, which workload/names.c keeps. A name is kept for a minute, so that a changed one is
 * seen, and all are forgotten when there are too many. */
enum { NAMES_MAX = 4096, NAME_MAX_BYTES = 256 };

struct user_cache_name {
    uint64_t read_ns;
    struct shared_text *text; /* NULL: none was kept for want of memory */
    bool known;               /* false: it could not be asked for */
};

struct user_cache {
    struct user_cache_name *names;
    size_t count, capacity;
    struct hash places[2]; /* of each kind: id → index */
    struct workload_names *containers;
};

struct user_cache *user_cache_new(void)
{
    return memory_alloc(sizeof(struct user_cache));
}

static void forget(struct user_cache *cache)
{
    for (size_t i = 0; i < cache->count; i++)
        shared_text_unref(cache->names[i].text);
    cache->count = 0;
    for (size_t i = 0; i < ARRAY_COUNT(cache->places); i++)
        hash_reset(&cache->places[i]);
}

void user_cache_free(struct user_cache *cache)
{
    if (cache == NULL)
        return;
    forget(cache);
    for (size_t i = 0; i < ARRAY_COUNT(cache->places); i++)
        hash_done(&cache->places[i]);
    memory_free(cache->names);
    workload_names_free(cache->containers);
    memory_free(cache);
}

const struct shared_text *user_cache_name(struct user_cache *cache, const vitals_clock *clock,
                                          enum user_kind kind, uint64_t id, bool *lacking)
{
    struct user_cache_name *kept;
    const uintptr_t *place = hash_find(&cache->places[kind], id);
    if (place != NULL) {
        kept = &cache->names[*place];
    } else {
        if (cache->count >= NAMES_MAX)
            forget(cache);
        if (MEMORY_GROW(cache->names, cache->capacity, cache->count) < 0)
            return NULL;
        if (hash_set(&cache->places[kind], id, cache->count) < 0)
            return NULL;
        kept = &cache->names[cache->count++];
        *kept = (struct user_cache_name){0};
    }
    uint64_t now = clock->monotonic_ns(clock->data);
    if (kept->known && now - kept->read_ns < 60 * NS_PER_SECOND)
        return kept->text;
    char name[NAME_MAX_BYTES];
    int result = kind == USER_NAME ? os_user_name(id, name, sizeof name)
                                   : os_group_name(id, name, sizeof name);
    bool refused = result == -EMFILE || result == -ENFILE;
    *lacking = *lacking || refused;
    if (refused && kept->text != NULL)
        return kept->text;
    if (result < 0)
        number_print_u64(name, id);
    if (!shared_text_equal(kept->text, name, strlen(name))) {
        struct shared_text *fresh = shared_text_new(name, strlen(name));
        if (fresh == NULL)
            return NULL;
        shared_text_unref(kept->text);
        kept->text = fresh;
    }
    kept->known = !refused;
    kept->read_ns = now;
    return kept->text;
}

struct workload_names *user_cache_containers(struct user_cache *cache)
{
    if (cache->containers == NULL)
        cache->containers = workload_names_new();
    return cache->containers;
}

/* ---- reading ---- */

/* Columns that are made of others. */
static const struct {
    vitals_metric metric, of;
} DERIVED[] = {
    {VITALS_PROCESS_USER, VITALS_PROCESS_UID},
    {VITALS_PROCESS_EFFECTIVE_USER, VITALS_PROCESS_EFFECTIVE_UID},
    {VITALS_PROCESS_GROUP, VITALS_PROCESS_GID},
    {VITALS_PROCESS_CONTAINER, VITALS_PROCESS_CGROUP},
    {VITALS_PROCESS_UNIT, VITALS_PROCESS_CGROUP},
    {VITALS_PROCESS_SLURM_JOB, VITALS_PROCESS_CGROUP},
    {VITALS_PROCESS_SLURM_STEP, VITALS_PROCESS_CGROUP},
    {VITALS_PROCESS_POD, VITALS_PROCESS_CGROUP},
    {VITALS_PROCESS_POD_NAME, VITALS_PROCESS_CGROUP},
    {VITALS_PROCESS_POD_NAMESPACE, VITALS_PROCESS_CGROUP},
    {VITALS_PROCESS_CONTAINER_NAME, VITALS_PROCESS_CGROUP},
    {VITALS_PROCESS_WORKLOAD, VITALS_PROCESS_CGROUP},
    {VITALS_PROCESS_WORKLOAD, VITALS_PROCESS_UID},
    {VITALS_PROCESS_PROGRAM_NAME, VITALS_PROCESS_COMMAND_LINE},
    {VITALS_PROCESS_SUPPLEMENTARY_GROUPS, VITALS_PROCESS_SUPPLEMENTARY_GIDS},
};

/* The names of groups, of their numbers with commas between them. */
static void set_group_names(struct row_batch *out, struct user_cache *users,
                            const vitals_clock *clock, struct span numbers, bool *lacking)
{
    struct buffer names = {0}, copy = {0}; // a batch's text may move while another is added
    buffer_append(&copy, numbers.bytes, numbers.size);
    const char *at = copy.bytes, *end = at + copy.size;
    for (uint64_t gid; !copy.failed && at < end && number_u64(&at, end, &gid); at++) {
        const struct shared_text *name = user_cache_name(users, clock, GROUP_NAME, gid, lacking);
        if (names.size > 0)
            buffer_string(&names, ",");
        if (name != NULL)
            buffer_append(&names, name->bytes, name->size);
        names.failed |= name == NULL;
    }
    if (names.failed || copy.failed)
        out->failed = true;
    else
        batch_set_text(out, VITALS_PROCESS_SUPPLEMENTARY_GROUPS,
                       (struct span){names.size > 0 ? names.bytes : "", names.size});
    buffer_done(&names);
    buffer_done(&copy);
}

void detail_wanted(const struct metric_set *wanted, struct metric_set *out)
{
    *out = (struct metric_set){0};
    vitals_metric metrics[METRIC_NUMBERS];
    size_t count = metric_set_list(wanted, VITALS_TABLE_PROCESS, metrics);
    for (size_t i = 0; i < count; i++)
        if (vitals_metric_price(metrics[i]) == VITALS_PRICE_WORKER)
            metric_set_add(out, metrics[i]);
}

void detail_reset(struct row_batch *out, const struct metric_set *wanted)
{
    struct metric_set all;
    detail_wanted(wanted, &all);
    for (size_t i = 0; i < ARRAY_COUNT(DERIVED); i++)
        if (metric_set_has(&all, DERIVED[i].metric))
            metric_set_add(&all, DERIVED[i].of);
    batch_reset(out, &all);
}

int detail_read(const vitals_context *context, struct user_cache *users,
                const struct process_want *want, struct row_batch *out)
{
    const int64_t pid = want->pid;
    const struct batch_row *row = batch_add_row(out, VITALS_TABLE_PROCESS, want->key,
                                                (struct span){"", 0});
    if (row == NULL)
        return -ENOMEM;

    /* The path of a cgroup that was made up stands for the process's own. */
    const struct world_player *player = work_player(context, pid);
    bool made_up = player != NULL && batch_wants(out, VITALS_PROCESS_CGROUP);
    if (made_up)
        metric_set_remove(&out->wanted, VITALS_PROCESS_CGROUP);
    bool bare = want->kernel_thread && batch_wants(out, VITALS_PROCESS_COMMAND_LINE);
    if (bare)
        metric_set_remove(&out->wanted, VITALS_PROCESS_COMMAND_LINE);
    bool whole = os_process_metrics(&context->os, pid, out);
    if (bare) {
        metric_set_add(&out->wanted, VITALS_PROCESS_COMMAND_LINE);
        batch_set_string(out, VITALS_PROCESS_COMMAND_LINE, "");
    }
    if (made_up) {
        metric_set_add(&out->wanted, VITALS_PROCESS_CGROUP);
        batch_set_string(out, VITALS_PROCESS_CGROUP, player->cgroup);
    }

    bool lacking = false;
    for (size_t i = 0; i < ARRAY_COUNT(DERIVED); i++) {
        vitals_metric metric = DERIVED[i].metric;
        if (!batch_wants(out, metric) || DERIVED[i].of == VITALS_PROCESS_CGROUP ||
            metric == VITALS_PROCESS_WORKLOAD)
            continue; // work_add sets those
        const struct batch_cell *cell = batch_find(out, row, DERIVED[i].of);
        if (cell == NULL || cell->state <= 0) {
            batch_set_missing(out, metric,
                              cell != NULL ? (vitals_availability)cell->state : VITALS_UNSUPPORTED);
        } else if (metric == VITALS_PROCESS_SUPPLEMENTARY_GROUPS) {
            set_group_names(out, users, &context->os.clock, batch_span(out, cell), &lacking);
        } else if (metric == VITALS_PROCESS_PROGRAM_NAME) {
            /* The last part of the first argument's path. Where no NUL ends the arguments a process
             * wrote its title over them, in words. */
            struct span command = batch_span(out, cell);
            bool title = command.size > 0 && command.bytes[command.size - 1] != '\0';
            size_t begin = 0, end = 0;
            for (; end < command.size && command.bytes[end] != (title ? ' ' : '\0'); end++)
                if (command.bytes[end] == '/')
                    begin = end + 1;

            /* Copied, because it may move while it is added. No name of a file is longer. */
            char text[256];
            size_t size = size_min(end - begin, sizeof text);
            if (size != 0)
                memcpy(text, command.bytes + begin, size);
            batch_set_text_as(out, metric, (struct span){text, size},
                              size < end - begin ? VITALS_LOWER_BOUND : VITALS_HAVE);
        } else {
            enum user_kind kind = metric == VITALS_PROCESS_GROUP ? GROUP_NAME : USER_NAME;
            const struct shared_text *name = user_cache_name(users, &context->os.clock, kind,
                                                             cell->as.u64, &lacking);
            if (name != NULL)
                batch_set_text(out, metric, (struct span){name->bytes, name->size});
            else
                out->failed = true;
        }
    }

    whole = work_add(context, users, pid, row, out) && whole && !lacking;
    if (out->failed)
        return -ENOMEM;
    return whole ? 0 : -EMFILE;
}

/* ---- taking ---- */

/* Its place, made where there is none; NULL where there is no room. */
static struct process_detail *place_of(struct process *process, vitals_metric metric)
{
    size_t at = process->detail_count;
    while (at > 0 && process->details[at - 1].metric >= metric)
        at--;
    struct process_detail *detail = &process->details[at];
    if (at < process->detail_count && detail->metric == metric)
        return detail;
    if (process->detail_count == process->detail_capacity)
        return NULL;
    memmove(detail + 1, detail, (process->detail_count - at) * sizeof *detail);
    process->detail_count++;
    *detail = (struct process_detail){.metric = metric, .state = VITALS_NOT_YET};
    return detail;
}

static void take_cell(struct process_detail *detail, const struct row_batch *batch,
                      const struct batch_cell *cell, bool zombie, uint64_t read_ns)
{
    bool is_text = vitals_metric_type(detail->metric) == VITALS_TEXT;
    bool empty = cell == NULL || cell->state <= 0 || (is_text && cell->as.text.size == 0);
    bool of_command = detail->metric == VITALS_PROCESS_COMMAND_LINE ||
                      detail->metric == VITALS_PROCESS_PROGRAM_NAME;
    if (of_command && zombie && empty) {
        /* It has given its memory back, and its arguments with it: what was read before stands. */
        detail->state = detail->as.text != NULL ? VITALS_STALE : VITALS_GONE;
        return;
    }
    detail->read_ns = read_ns;
    detail->state = cell != NULL ? cell->state : VITALS_UNSUPPORTED;
    if (!is_text) {
        if (cell != NULL)
            detail->as.number = cell->as.u64;
        return;
    }

    struct shared_text *fresh = NULL;
    if (detail->state > 0) {
        struct span span = batch_span(batch, cell);
        if (shared_text_equal(detail->as.text, span.bytes, span.size))
            return;
        fresh = shared_text_new(span.bytes, span.size);
        if (fresh == NULL)
            detail->state = VITALS_FAILED;
        else if (fresh->size < span.size)
            detail->state = VITALS_LOWER_BOUND;
    }
    shared_text_unref(detail->as.text);
    detail->as.text = fresh;
}

void detail_take(struct process *process, const struct row_batch *batch,
                 const struct batch_row *row, const struct metric_set *wanted, bool zombie,
                 uint64_t read_ns)
{
    /* Room for the wanted ones, beside those that are there. */
    vitals_metric metrics[METRIC_NUMBERS];
    const size_t asked = metric_set_list(wanted, VITALS_TABLE_PROCESS, metrics);
    size_t count = process->detail_count + asked;
    for (size_t i = 0; i < process->detail_count; i++)
        count -= metric_set_has(wanted, process->details[i].metric);
    if (count > process->detail_capacity) {
        void *items = memory_resize(process->details, count, sizeof *process->details);
        if (items == NULL)
            return;
        process->details = items;
        process->detail_capacity = count;
    }

    for (size_t i = 0; i < asked; i++) {
        struct process_detail *detail = place_of(process, metrics[i]);
        if (detail != NULL)
            take_cell(detail, batch, batch_find(batch, row, metrics[i]), zombie, read_ns);
    }
}
