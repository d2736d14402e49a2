/* processes.c: what each process of a recording used; see html.h. A process that was there in the
 * first snapshot counts from what it had used by then, one that came later from its birth. */
#include "report/html.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed/rows.h"
#include "record/recording.h"
#include "util/hash.h"
#include "util/memory.h"

enum { COUNTERS = 3 };

struct processes_table {
    struct process_use *items;
    size_t count, capacity;
    struct hash places; /* in items, by identity_of */
    struct hash by_pid; /* the same, of the process that had the pid last */
    bool first;         /* this is the first snapshot */
    double second;
};

static const vitals_metric METRICS[COUNTERS] = {
    VITALS_PROCESS_CPU_SECONDS, VITALS_PROCESS_READ_BYTES, VITALS_PROCESS_WRITTEN_BYTES};

static double *counter_of(struct process_use *use, size_t which)
{
    return which == 0 ? &use->cpu_seconds : which == 1 ? &use->read_bytes : &use->written_bytes;
}

/* ---- identity ---- */

static uint64_t identity_of(int64_t pid, double start)
{
    uint64_t bits;
    memcpy(&bits, &start, sizeof bits);
    return hash_join((uint64_t)pid, bits);
}

/* The process of this snapshot that has the pid; NULL: none. */
static struct process_use *present(const struct processes_table *table, int64_t pid)
{
    const uintptr_t *place = hash_find(&table->by_pid, (uint64_t)pid);
    struct process_use *use = place != NULL ? &table->items[*place] : NULL;
    return use != NULL && use->last_second == table->second ? use : NULL;
}

/* ---- one row ---- */

/* "cc1" of "/usr/lib/gcc/cc1 -quiet", "python3 train.py" of an interpreter; of a title its first
 * word. */
static void take_program(struct process_use *use, vitals_text line)
{
    static const char *const INTERPRETERS[] = {"python", "perl", "ruby", "node",   "bash",
                                               "sh",     "dash", "java", "Rscript"};
    char words[2][PROGRAM_NAME / 2] = {"", ""};
    const char *at = line.bytes, *end = line.bytes + line.size;
    for (size_t i = 0; i < 2 && at < end; i++) {
        const char *stop = memchr(at, '\0', (size_t)(end - at));
        vitals_text word = {at, (size_t)((stop != NULL ? stop : end) - at)};
        at += word.size + 1;
        if (i > 0 && (word.size == 0 || word.bytes[0] == '-'))
            break;
        const char *blank = stop == NULL ? memchr(word.bytes, ' ', word.size) : NULL;
        word.size = blank != NULL ? (size_t)(blank - word.bytes) : word.size;
        for (size_t k = word.size; k > 0; k--)
            if (word.bytes[k - 1] == '/' && k < word.size) {
                word = (vitals_text){word.bytes + k, word.size - k};
                break;
            }
        (void)snprintf(words[i], sizeof words[i], "%.*s", (int)word.size, word.bytes);
    }
    bool runs = false;
    for (size_t i = 0; i < sizeof INTERPRETERS / sizeof INTERPRETERS[0]; i++)
        runs = runs || strncmp(words[0], INTERPRETERS[i], strlen(INTERPRETERS[i])) == 0;
    (void)snprintf(use->program, sizeof use->program, "%s%s%s", words[0],
                   runs && words[1][0] != '\0' ? " " : "", runs ? words[1] : "");
}

/* A program may become another than it began as; one that ends loses its command line. */
static void take_name(struct process_use *use, const vitals_row *row)
{
    vitals_text line;
    const char *label = vitals_row_label(row);
    if (vitals_row_text(row, VITALS_PROCESS_COMMAND_LINE, &line) <= 0 || line.size == 0) {
        if (use->titled == 0 && strcmp(use->name, label) != 0) {
            (void)snprintf(use->name, sizeof use->name, "%s", label);
            (void)snprintf(use->program, sizeof use->program, "%s", label);
        }
        return;
    }
    uint64_t hash = hash_bytes(line.bytes, line.size) | 1;
    if (hash == use->titled)
        return;
    use->titled = hash;
    (void)vitals_text_command(line, use->name, sizeof use->name);
    take_program(use, line);
}

static void add_row(struct processes_table *table, const vitals_row *row)
{
    double pid = 0, start = 0, value;
    if (vitals_row_number(row, VITALS_PROCESS_PID, &pid) <= 0)
        return;
    (void)(vitals_row_number(row, VITALS_PROCESS_START_SECONDS, &start) > 0);
    uint64_t identity = identity_of((int64_t)pid, start);
    const uintptr_t *place = hash_find(&table->places, identity);
    size_t at = place != NULL ? *place : table->count;
    /* A recording may hold what was made to have the hash of another process. */
    if (place != NULL && (table->items[at].pid != (int64_t)pid || table->items[at].start != start))
        return;
    if (place == NULL) {
        if (table->count == PROCESSES_MAX ||
            MEMORY_GROW(table->items, table->capacity, table->count) != 0 ||
            hash_set(&table->places, identity, at) != 0)
            return;
        table->items[table->count++] = (struct process_use){.pid = (int64_t)pid,
                                                            .start = start,
                                                            .cpu_seconds = -1,
                                                            .read_bytes = -1,
                                                            .written_bytes = -1,
                                                            .memory_bytes = -1,
                                                            .gpu_bytes = -1,
                                                            .first_second = table->second};
    }
    struct process_use *use = &table->items[at];
    use->last_second = table->second;
    (void)hash_set(&table->by_pid, (uint64_t)use->pid, at);
    take_name(use, row);
    for (size_t i = 0; i < COUNTERS; i++) {
        if (vitals_row_number(row, METRICS[i], &value) <= 0)
            continue;
        if (*counter_of(use, i) < 0)
            use->bases[i] = table->first ? value : 0;
        double grown = value - use->bases[i];
        if (grown >= *counter_of(use, i))
            *counter_of(use, i) = grown;
    }
    if (vitals_row_number(row, VITALS_PROCESS_RESIDENT_BYTES, &value) > 0 &&
        value > use->memory_bytes)
        use->memory_bytes = value;
}

static void add_rows(struct processes_table *table, const vitals_snapshot *snapshot)
{
    table->second = (double)vitals_snapshot_realtime_ns(snapshot) / 1e9;
    EACH_ROW(row, snapshot, VITALS_TABLE_PROCESS)
        add_row(table, row);
    /* The memory that each holds on all devices at this time. */
    EACH_ROW(row, snapshot, VITALS_TABLE_GPU_PROCESS) {
        double pid, value;
        struct process_use *use = vitals_row_number(row, VITALS_GPU_PROCESS_PID, &pid) > 0 &&
                                          vitals_row_number(
                                              row, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, &value) > 0
                                      ? present(table, (int64_t)pid)
                                      : NULL;
        if (use == NULL)
            continue;
        use->gpu_now = use->gpu_second == table->second ? use->gpu_now + value : value;
        use->gpu_second = table->second;
        use->gpu_bytes = use->gpu_now > use->gpu_bytes ? use->gpu_now : use->gpu_bytes;
    }
}

/* ---- all ---- */

static int by_use(const void *a, const void *b)
{
    const struct process_use *left = a, *right = b;
    if (left->cpu_seconds != right->cpu_seconds)
        return left->cpu_seconds > right->cpu_seconds ? -1 : 1;
    if (left->memory_bytes != right->memory_bytes)
        return left->memory_bytes > right->memory_bytes ? -1 : 1;
    return left->pid < right->pid ? -1 : left->pid > right->pid;
}

static void drop_strangers(struct processes_table *table, int64_t root_pid)
{
    const struct process_use *root = NULL;
    size_t kept = 0;
    for (size_t i = 0; i < table->count && root == NULL; i++) {
        if (table->items[i].pid == root_pid)
            root = &table->items[i];
    }
    if (root == NULL)
        return;
    const struct process_use first = *root;
    for (size_t i = 0; i < table->count; i++) {
        /* Start times have a resolution of 10 ms; within that pids give the order. */
        const struct process_use *use = &table->items[i];
        if (use->start > first.start || (use->start == first.start && use->pid >= first.pid))
            table->items[kept++] = *use;
    }
    table->count = kept;
}

/* ---- programs ---- */

static int by_program(const void *a, const void *b)
{
    const struct process_use *const *left = a, *const *right = b;
    return strcmp((*left)->program, (*right)->program);
}

static double add_known(double sum, double value)
{
    return value < 0 ? sum : fmax(sum, 0) + value;
}

/* Adds up the processes of each program, if any program had several. */
static void sum_programs(const struct processes_table *table, struct process_list *out)
{
    const struct process_use **sorted = calloc(table->count + 1, sizeof *sorted);
    struct process_use *programs = calloc(table->count + 1, sizeof *programs), *to = NULL;
    size_t count = 0;
    for (size_t i = 0; i < table->count && sorted != NULL; i++)
        sorted[i] = &table->items[i];
    if (sorted != NULL)
        qsort(sorted, table->count, sizeof *sorted, by_program);
    for (size_t i = 0; i < table->count && sorted != NULL && programs != NULL; i++) {
        const struct process_use *use = sorted[i];
        if (to == NULL || strcmp(to->program, use->program) != 0) {
            to = &programs[count++];
            *to = *use;
            to->count = 1;
            continue;
        }
        to->count++;
        to->cpu_seconds = add_known(to->cpu_seconds, use->cpu_seconds);
        to->read_bytes = add_known(to->read_bytes, use->read_bytes);
        to->written_bytes = add_known(to->written_bytes, use->written_bytes);
        to->memory_bytes = fmax(to->memory_bytes, use->memory_bytes);
        to->gpu_bytes = fmax(to->gpu_bytes, use->gpu_bytes);
        to->first_second = fmin(to->first_second, use->first_second);
        to->last_second = fmax(to->last_second, use->last_second);
    }
    free(sorted);
    if (programs == NULL || count == table->count) {
        free(programs);
        return;
    }
    qsort(programs, count, sizeof *programs, by_use);
    out->programs = programs;
    out->program_count = count < PROGRAMS_SHOWN ? count : PROGRAMS_SHOWN;
    out->programs_left_out = count - out->program_count;
}

void processes_of(const char *path, int64_t root, struct process_list *out)
{
    struct processes_table table = {.first = true};
    struct feed feed;
    vitals_snapshot *snapshot;
    vitals_error error;
    *out = (struct process_list){.count = 0};
    if (recording_feed(path, &feed, &error) < 0)
        return;
    while (feed.next(feed.data, &snapshot, &error) > 0) {
        add_rows(&table, snapshot);
        vitals_snapshot_unref(snapshot);
        table.first = false;
    }
    feed_close(&feed);
    hash_done(&table.places);
    hash_done(&table.by_pid);
    drop_strangers(&table, root);
    if (table.count > 0)
        qsort(table.items, table.count, sizeof *table.items, by_use);
    size_t shown = table.count < PROCESSES_SHOWN ? table.count : PROCESSES_SHOWN;
    *out = (struct process_list){
        .items = table.items, .count = shown, .left_out = table.count - shown};
    sum_programs(&table, out);
}

void processes_done(struct process_list *list)
{
    memory_free(list->items);
    free(list->programs);
    *list = (struct process_list){.count = 0};
}
