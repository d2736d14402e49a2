/* query.c: what a handle answers: everything that a request names of its process, in one pass, or
 * of its parents and children.
 *
 * The files are read by pid, in no order that matters; the handle's stat comes last, and proves
 * that all of them were this process's own. Thread rule: one thread at a time per handle. */
#include "process/live.h"

#include "model/request.h"
#include "process/reader.h"
#include "util/error.h"
#include "util/hash.h"
#include "util/memory.h"
#include "util/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- an answer ---- */

/* begin, rows, finish, done; done is legal after any of them. The keys of processes are made of pid
 * and start, so that all answers of one handle agree, and stand in the order of pids. */
struct query_result {
    vitals_process *process;
    struct metric_set wanted;  /* of its table process, and what of host goes with it */
    struct metric_set details; /* of these, what workers read for samplers */
    unsigned extras;
    bool io_with_details; /* read_bytes and written_bytes are in the same file as some of these */
    struct process_reader reader;
    struct row_batch batch; /* the details of the process being read */
    uint64_t details_ns;    /* when they were read */
    vitals_builder *builder;
    struct row_columns columns;
};

/* A pid has 22 bits (the kernel's PID_MAX_LIMIT); the rest tells when it started, and comes round
 * after 248 days of clock ticks. */
enum { PID_BITS = 22, START_BITS = 53 - PID_BITS };

/* 0 for a pid that no system gives. */
static uint64_t answer_key(int64_t pid, uint64_t start_ticks)
{
    if (pid < 1 || pid >> PID_BITS != 0)
        return 0;
    return (uint64_t)pid << START_BITS | (start_ticks & ((UINT64_C(1) << START_BITS) - 1));
}

/* Metrics of the table host that are added to those of a process: for shares and dates. */
static const vitals_metric OF_HOST[] = {VITALS_HOST_MEMORY_TOTAL_BYTES,
                                        VITALS_HOST_BOOT_TIME_SECONDS};

/* Metrics of the file io that workers read for samplers. */
#define IO_METRIC(name, member, label, metric) VITALS_PROCESS_##metric,
static const vitals_metric OF_IO[] = {OS_IO_METRICS(IO_METRIC)};

/* What a row of the batch says of a metric. */
static struct value detail_value(const struct row_batch *batch, vitals_metric metric)
{
    const struct batch_cell *cell = batch_find(batch, batch->rows, metric);
    if (cell == NULL)
        return value_missing(VITALS_UNSUPPORTED);
    return (struct value){.as.u64 = cell->as.u64, .state = cell->state};
}

/* Opens the table process with the wanted columns of it (pid and start_seconds always). */
static int answer_begin(struct query_result *answer, vitals_process *process,
                        const struct metric_set *wanted, vitals_error *error)
{
    const struct os *os = &process->context->os;
    const struct os_origin *origin = &process->context->origin;
    *answer = (struct query_result){.process = process, .reader = {.context = process->context}};
    struct metric_set *mine = &answer->wanted;
    memcpy(mine->bits[VITALS_TABLE_PROCESS], wanted->bits[VITALS_TABLE_PROCESS],
           sizeof mine->bits[VITALS_TABLE_PROCESS]);
    metric_set_add(mine, VITALS_PROCESS_PID);
    metric_set_add(mine, VITALS_PROCESS_START_SECONDS);
    for (size_t i = 0; i < ARRAY_COUNT(OF_HOST); i++)
        if (metric_set_has(wanted, OF_HOST[i]))
            metric_set_add(mine, OF_HOST[i]);
    detail_wanted(mine, &answer->details);
    answer->extras = reader_extras(mine);
    for (size_t i = 0; i < ARRAY_COUNT(OF_IO) && (answer->extras & EXTRA_IO) != 0; i++)
        answer->io_with_details |= metric_set_has(&answer->details, OF_IO[i]);
    if (answer->io_with_details)
        answer->extras &= ~(unsigned)EXTRA_IO;

    bool details = metric_set_has_entity(&answer->details, VITALS_TABLE_PROCESS);
    if (details && process->users == NULL && (process->users = user_cache_new()) == NULL)
        return error_no_memory(error);
    int code = vitals_builder_new(&answer->builder, error);
    if (code < 0)
        return code;
    if (process->stream == 0)
        process->stream = os_random(os) % EXACT_MAX + 1;
    vitals_builder_begin(answer->builder);
    vitals_builder_origin(answer->builder, vitals_text_of(origin->host),
                          vitals_text_of(origin->boot_id), origin->pid_namespace);
    vitals_builder_stream(answer->builder, process->stream);
    builder_table_of(answer->builder, VITALS_TABLE_PROCESS, &answer->wanted);
    rows_columns(&answer->columns, &answer->wanted);
    return 0;
}

/* Reads of a process what the answer wants, with stat open in it: 1, or 0 where it ended or is
 * another, or a VITALS_E… */
static int answer_read(struct query_result *answer, struct process *process, vitals_error *error)
{
    bool details = metric_set_has_entity(&answer->details, VITALS_TABLE_PROCESS);
    if (details) {
        detail_reset(&answer->batch, &answer->details);
        if (answer->io_with_details) {
            metric_set_add(&answer->batch.wanted, VITALS_PROCESS_READ_BYTES);
            metric_set_add(&answer->batch.wanted, VITALS_PROCESS_WRITTEN_BYTES);
        }
        answer->details_ns = reader_now(&answer->reader);
        const struct process_want want = {.key = process->key, .pid = process->files.pid};
        int result = detail_read(answer->process->context, answer->process->users, &want,
                                 &answer->batch);
        if (result == -ENOMEM)
            return error_no_memory(error);
        if (answer->io_with_details) {
            process->read = detail_value(&answer->batch, VITALS_PROCESS_READ_BYTES);
            process->written = detail_value(&answer->batch, VITALS_PROCESS_WRITTEN_BYTES);
        }
    }
    bool same = reader_observe(&answer->reader, process, answer->extras);
    if (answer->reader.out_of_memory)
        return error_no_memory(error);
    // Here every stat is fresh: one that does not tell when it started proves nothing.
    if (!same || process->state != VITALS_HAVE || (process->stat.has & OS_STAT_START) == 0)
        return 0;
    if (details)
        detail_take(process, &answer->batch, &answer->batch.rows[0], &answer->details,
                    process->stat.state == 'Z', answer->details_ns);
    return 1;
}

static int answer_finish(struct query_result *answer, vitals_snapshot **out, vitals_error *error)
{
    enum { HOST_KEY = 1 };
    vitals_builder *builder = answer->builder;
    const struct os *os = &answer->process->context->os;
    if (metric_set_has_entity(&answer->wanted, VITALS_TABLE_HOST)) {
        struct os_host files;
        struct os_machine machine = {0};
        os_host_init(&files);
        os_host_read(&files, os, &answer->wanted, &machine);
        builder_table_of(builder, VITALS_TABLE_HOST, &answer->wanted);
        vitals_builder_row(builder, VITALS_TABLE_HOST, HOST_KEY, 0, (vitals_text){"host", 4},
                           reader_now(&answer->reader));
        builder_values(builder, VITALS_TABLE_HOST, &machine.values);
        builder_rest(builder, VITALS_TABLE_HOST, VITALS_UNSUPPORTED);
        os_machine_done(&machine);
        os_host_done(&files);
    }
    const vitals_clock *clock = &os->clock;
    vitals_builder_moment(builder, clock->realtime_ns(clock->data), clock->boottime_ns(clock->data),
                          clock->monotonic_ns(clock->data), answer->process->asked + 1);
    int code = vitals_builder_finish(builder, out, error);
    answer->process->asked += code == 0;
    return code;
}

static void answer_done(struct query_result *answer)
{
    vitals_builder_free(answer->builder);
    batch_done(&answer->batch);
    buffer_done(&answer->reader.text);
}

/* ---- one process ---- */

/* Tables that a process answers for: its own, and the sockets that it holds. */
static bool is_asked(vitals_table entity)
{
    return entity_is_of_handle(entity) || entity == VITALS_TABLE_SOCKET;
}

static int ask_table(struct query_result *answer, vitals_table entity,
                     const struct metric_set *wanted, struct row_batch *batch, uint64_t key,
                     vitals_error *error)
{
    const vitals_process *process = answer->process;
    uint64_t now_ns = reader_now(&answer->reader);
    batch_reset(batch, wanted);
    int result = os_process_table(&process->context->os, process->files.pid, entity, batch);
    if (result == -ENOMEM || batch->failed)
        return error_no_memory(error);
    builder_table_of(answer->builder, entity, wanted);
    if (result < 0) {
        vitals_builder_state(answer->builder, entity, os_availability(result));
        return 0;
    }
    /* Rows belong to the process; what the system gives no key gets its place. */
    for (size_t i = 0; i < batch->row_count; i++) {
        batch->rows[i].parent = entity_is_of_handle(entity) ? key : 0;
        if (batch->rows[i].key == 0)
            batch->rows[i].key = i + 1;
    }
    builder_batch_rows(answer->builder, batch, entity, now_ns);
    return 0;
}

int vitals_process_ask(vitals_process *process, const vitals_request *request,
                       vitals_snapshot **out, vitals_error *error)
{
    /* The request, and the identity of the rows of each table: between two answers a key may have
     * been given again (a number of a thread), and a rate must not mix the two. */
    struct metric_set wanted = request->wanted;
    bool any = metric_set_has_entity(&wanted, VITALS_TABLE_PROCESS);
    for (vitals_table entity = 0; (entity = vitals_table_next(entity)) != 0;) {
        if (!is_asked(entity) || !metric_set_has_entity(&request->wanted, entity))
            continue;
        any = true;
        metric_set_add_identities(&wanted, entity);
    }
    if (!any)
        return error_set(error, VITALS_EARGUMENT, 0,
                         "the request names no metric or table of a process");

    /* Its start is known, so that stat proves it. The pid of a tree of files may have no key. */
    uint64_t key = answer_key(process->files.pid, process->start_ticks);
    struct process subject = {
        .key = key != 0 ? key : 1,
        .files = process->files,
        .stat = {.has = OS_STAT_START, .start_ticks = process->start_ticks},
    };
    struct query_result answer;
    struct row_batch batch = {0};
    int code = answer_begin(&answer, process, &wanted, error);
    for (vitals_table entity = 0; code == 0 && (entity = vitals_table_next(entity)) != 0;)
        if (is_asked(entity) && metric_set_has_entity(&wanted, entity))
            code = ask_table(&answer, entity, &wanted, &batch, subject.key, error);
    if (code == 0) {
        code = answer_read(&answer, &subject, error);
        if (code == 0)
            code = error_set(error, VITALS_EGONE, 0, "process %lld has ended",
                             (long long)subject.files.pid);
    }
    if (code > 0) {
        rows_write(&answer.reader, &subject, 0, &answer.columns, answer.builder);
        code = answer_finish(&answer, out, error);
    }
    live_keep_statm(process, subject.files.statm);
    process_done(&subject);
    batch_done(&batch);
    answer_done(&answer);
    return code;
}

/* ---- relatives ---- */

/* Upwards each parent's stat is read. Downwards no file in /proc tells all children for certain
 * (task/TID/children is the list of a thread, and omits some while their siblings end), so stat of
 * every process is read once, and the tree made of that. A parent is never younger than its child:
 * a younger one only has the number. Processes that may not be read are omitted, and the answer
 * says so. */

enum kin_mark { UNKNOWN, WANTED, OTHER, SUBJECT };

struct relatives_kin {
    int64_t pid;
    struct os_stat stat; /* the name in it is not used */
    size_t name_at, name_size;
    uint64_t stamp_ns;
    enum kin_mark mark;
};

struct relatives_family {
    const vitals_process *process;
    struct relatives_kin *items; /* once all are found: in the order of pids; upwards as met */
    size_t count, capacity;
    struct hash above; /* on the way up: the pids that are known */
    struct buffer names;
    bool partial; /* some process may not be read */
};

static int fail(int result, const char *what, vitals_error *error)
{
    if (result == -ENOMEM)
        return error_no_memory(error);
    return error_system(error, -result, "%s", what);
}

/* Adds a process: 0, or negative errno where its stat cannot be read or does not tell enough. */
static int read_kin(struct relatives_family *family, int64_t pid)
{
    const struct os *os = &family->process->context->os;
    struct os_process files;
    char text[OS_STAT_TEXT];
    struct relatives_kin kin = {.pid = pid, .stamp_ns = os_now_ns(os)};
    int result = os_process_open(os, pid, false, &files);
    if (result < 0)
        return result;
    result = os_process_stat(&files, text, &kin.stat);
    os_process_close(&files);
    if (result < 0)
        return result;
    unsigned needed = OS_STAT_START | OS_STAT_PARENT;
    if ((kin.stat.has & needed) != needed || answer_key(pid, 0) == 0)
        return -EBADMSG;
    kin.name_at = family->names.size;
    kin.name_size = kin.stat.name.size;
    buffer_append(&family->names, kin.stat.name.bytes, kin.stat.name.size);
    if (family->names.failed || MEMORY_GROW(family->items, family->capacity, family->count) < 0)
        return -ENOMEM;
    kin.stat.name = (struct span){0};
    family->items[family->count++] = kin;
    return 0;
}

/* Whether the failure is our own lack of memory or descriptors. */
static bool is_ours(int result)
{
    return result == -ENOMEM || result == -EMFILE || result == -ENFILE;
}

static int compare_pids(const void *a, const void *b)
{
    int64_t x = ((const struct relatives_kin *)a)->pid, y = ((const struct relatives_kin *)b)->pid;
    return (x > y) - (x < y);
}

static struct relatives_kin *kin_of(const struct relatives_family *family, int64_t pid)
{
    struct search_number number = {offsetof(struct relatives_kin, pid), (uint64_t)pid};
    return search_find(family->items, family->count, sizeof *family->items, number);
}

static bool may_be_parent(const struct os_stat *parent, const struct os_stat *child)
{
    return parent->start_ticks <= child->start_ticks;
}

/* Its parent, among those that were read. */
static struct relatives_kin *parent_of(const struct relatives_family *family,
                                       const struct relatives_kin *kin)
{
    struct relatives_kin *parent = kin_of(family, kin->stat.parent_pid);
    bool real = parent != NULL && parent != kin && may_be_parent(&parent->stat, &kin->stat);
    return real ? parent : NULL;
}

/* Adds the parent of the last one: 1; 0: there is none; or a negative errno. A parent that has
 * ended meanwhile has left its child to another, so the child is asked again. */
static int climb(struct relatives_family *family)
{
    enum { TRIES = 8 };
    const struct os *os = &family->process->context->os;
    const struct relatives_kin last = family->count != 0 ? family->items[family->count - 1]
                                                         : (struct relatives_kin){0};
    char text[OS_STAT_TEXT];
    struct os_stat child = last.stat;
    int64_t before = 0;
    bool hidden = false;
    for (int i = 0; i < TRIES; i++) {
        struct os_process files;
        int result = 0;
        if (last.pid == 0) {
            result = os_process_stat(&family->process->files, text, &child);
        } else if (i > 0 && (result = os_process_open(os, last.pid, false, &files)) == 0) {
            result = os_process_stat(&files, text, &child);
            os_process_close(&files);
            if (result == 0 && child.start_ticks != last.stat.start_ticks)
                return 0; // it has ended
        }
        if (result < 0)
            return process_is_gone(result) ? 0 : result;
        if ((child.has & OS_STAT_PARENT) == 0 || child.parent_pid < 1 ||
            child.parent_pid == family->process->files.pid ||
            hash_find(&family->above, (uint64_t)child.parent_pid) != NULL)
            return 0;
        if (child.parent_pid == before) { // it is there, and hidden; or it never was its parent
            family->partial |= hidden;
            return 0;
        }
        before = child.parent_pid;
        result = read_kin(family, before);
        if (result == 0 && may_be_parent(&family->items[family->count - 1].stat, &child)) {
            family->items[family->count - 1].mark = WANTED;
            return hash_set(&family->above, (uint64_t)before, 1) < 0 ? -ENOMEM : 1;
        }
        hidden = result < 0;
        if (result == 0) {
            family->count--; // it only has its number
        } else if (!process_is_gone(result)) {
            family->partial = true;
            return is_ours(result) ? result : 0;
        }
    }
    return 0;
}

static int find_down(struct relatives_family *family, bool all, vitals_error *error)
{
    const struct os *os = &family->process->context->os;
    struct os_pids pids = {0};
    int result = os_list_processes(os, &pids);
    if (result == 0) // in a pid namespace of ours there is always a first process: some are hidden
        family->partial = os->live && (pids.count == 0 || pids.items[0] != 1);
    for (size_t i = 0; result == 0 && i < pids.count; i++) {
        int read = read_kin(family, pids.items[i]);
        if (is_ours(read))
            result = read;
        else if (read < 0 && !process_is_gone(read))
            family->partial = true;
    }
    os_pids_done(&pids);
    if (result < 0)
        return fail(result, "the list of processes", error);

    struct relatives_kin *subject = kin_of(family, family->process->files.pid);
    if (subject == NULL || subject->stat.start_ticks != family->process->start_ticks)
        return 0; // it has ended, which the proof will say
    subject->mark = SUBJECT;
    for (size_t i = 0; i < family->count; i++) {
        struct relatives_kin *kin = &family->items[i];
        if (!all) {
            if (kin->stat.parent_pid == subject->pid && parent_of(family, kin) == subject)
                kin->mark = WANTED;
            continue;
        }
        /* Up to the first that is known, and the way is marked: each is judged once. */
        struct relatives_kin *at = kin;
        for (; at != NULL && at->mark == UNKNOWN; at = parent_of(family, at))
            at->mark = OTHER;
        bool wanted = at != NULL && at->mark != OTHER;
        for (struct relatives_kin *up = kin; wanted && up != at; up = parent_of(family, up))
            up->mark = WANTED;
    }
    return 0;
}

/* Reads the rest of a process and writes its row; what stands in stat is known from the scan. A
 * process with the pid that started in the same clock tick but has another parent is another
 * process; or it has lost its parent, and descends from it no more. */
static int write_kin(struct query_result *answer, struct relatives_family *family,
                     const struct relatives_kin *kin, uint64_t key, uint64_t parent_key,
                     vitals_error *error)
{
    struct process process = {
        .key = key,
        .files = {.pid = kin->pid, .stat = -1, .statm = -1},
        .state = VITALS_HAVE,
        .stat = kin->stat,
        .name = shared_text_new(family->names.bytes + kin->name_at, kin->name_size),
        .stamp_ns = kin->stamp_ns,
    };
    if (process.name == NULL)
        return error_no_memory(error);

    int code = 1; // 0: it has ended
    if (answer->extras != 0 || metric_set_has_entity(&answer->details, VITALS_TABLE_PROCESS)) {
        int result = reader_open(&answer->reader, &process);
        if (is_ours(result))
            code = fail(result, "a relative of a process", error);
        else
            code = result < 0 ? 0 : answer_read(answer, &process, error);
        os_process_close(&process.files);
        bool downwards = family->above.count == 0;
        if (code > 0 && downwards && process.stat.parent_pid != kin->stat.parent_pid) {
            family->partial = true;
            code = 0;
        }
    }
    if (code > 0)
        rows_write(&answer->reader, &process, parent_key, &answer->columns, answer->builder);
    process_done(&process);
    return code < 0 ? code : 0;
}

int vitals_process_relatives(vitals_process *process, vitals_relation relation,
                             const vitals_request *request, vitals_snapshot **out,
                             vitals_error *error)
{
    struct metric_set wanted = {0};
    if (request != NULL)
        wanted = request->wanted;
    metric_set_add(&wanted, VITALS_PROCESS_PARENT_PID);
    struct relatives_family family = {.process = process};
    struct query_result answer;
    bool upwards = relation == VITALS_PARENT || relation == VITALS_ANCESTORS;
    int code = answer_begin(&answer, process, &wanted, error);
    if (code == 0) {
        bool all = relation == VITALS_ANCESTORS || relation == VITALS_DESCENDANTS;
        int up = 0;
        if (upwards)
            do
                up = climb(&family);
            while (up > 0 && all);
        else if (relation == VITALS_CHILDREN || relation == VITALS_DESCENDANTS)
            code = find_down(&family, all, error);
        else
            code = error_set(error, VITALS_EARGUMENT, 0, "there is no relation %d", (int)relation);
        if (upwards && code == 0) /* keys are heights, of this answer alone: no rate may mix them */
            vitals_builder_stream(answer.builder, os_random(&process->context->os) % EXACT_MAX + 1);
        if (up < 0)
            code = fail(up, "the parents of a process", error);
        if (family.count != 0 && !upwards)
            qsort(family.items, family.count, sizeof *family.items, compare_pids);
    }
    for (size_t i = 0; i < family.count && code == 0; i++) {
        const struct relatives_kin *kin = &family.items[i];
        if (kin->mark != WANTED)
            continue;
        if (upwards) { /* keys that stand in the order of heights */
            bool told = i + 1 < family.count && kin[1].pid == kin->stat.parent_pid;
            code = write_kin(&answer, &family, kin, i + 1, told ? i + 2 : 0, error);
            continue;
        }
        const struct relatives_kin *parent = parent_of(&family, kin);
        bool told = parent != NULL && (parent->mark == WANTED || parent->mark == SUBJECT);
        code = write_kin(&answer, &family, kin, answer_key(kin->pid, kin->stat.start_ticks),
                         told ? answer_key(parent->pid, parent->stat.start_ticks) : 0, error);
    }
    if (code == 0 && family.partial)
        vitals_builder_state(answer.builder, VITALS_TABLE_PROCESS, VITALS_LOWER_BOUND);
    if (code == 0)
        code = live_prove(process, error);
    if (code == 0)
        code = answer_finish(&answer, out, error);
    answer_done(&answer);
    hash_done(&family.above);
    buffer_done(&family.names);
    memory_free(family.items);
    return code;
}
