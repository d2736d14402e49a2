/* otlp_snapshot.c: see otlp.h. otlp_table.c lists the metrics, otlp_describe.c makes their
 * attributes. */
#include "export/otlp/otlp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "feed/rows.h"

struct otlp_writing {
    struct otlp_writer *writer;
    struct counter_map *sums;
    const vitals_snapshot *snapshot;
    const struct otlp_look *look;
    uint64_t *chosen; /* sorted keys of exported processes; NULL: all */
    size_t chosen_count;
};

/* ---- values of rows ---- */

/* Adds the parts of a source, all of one type; returns false if one is missing. If a part is a
 * bound or an estimate, so is the sum, and it is sent nevertheless. */
static bool value_of(const struct otlp_source *source, const vitals_row *row,
                     struct otlp_point *point)
{
    const vitals_metric parts[] = {source->metric, source->plus, source->minus[0], source->minus[1],
                                   source->minus[2]};
    double sum = 0;
    if (source->value != NULL && source->value(source, row, &sum) <= 0)
        return false;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && source->value == NULL; i++) {
        double value;
        if (parts[i] == 0)
            continue;
        if (vitals_row_number(row, parts[i], &value) <= 0)
            return false;
        sum += i < 2 ? value : -value;
    }
    /* A difference of two readings may be negative. */
    point->value = sum < 0 && source->minus[0] != 0 ? 0 : sum;
    point->whole = vitals_metric_type(source->metric) != VITALS_F64 && fabs(point->value) < 0x1p63;
    point->integer = point->whole ? (int64_t)point->value : 0;
    return true;
}

static void set_times(const struct otlp_writing *writing, const struct otlp_source *source,
                      const vitals_row *row, struct otlp_point *point)
{
    uint64_t now = vitals_snapshot_realtime_ns(writing->snapshot);
    uint64_t ticks = vitals_snapshot_monotonic_ns(writing->snapshot);
    uint64_t read = vitals_row_read_ns(row, source->metric);
    /* The time of a gauge is now if it was not due, and the time of its reading if its source is
     * late. */
    bool is_dated = source->as.kind == OTLP_COUNTER ||
                    vitals_row_availability(row, source->metric) == VITALS_STALE;
    point->time_ns = now;
    if (is_dated && read > 0 && read < ticks && ticks - read < now)
        point->time_ns = now - (ticks - read);
    if (source->as.kind == OTLP_GAUGE)
        return;
    uint64_t up = vitals_snapshot_boottime_ns(writing->snapshot);
    uint64_t origin = now > up ? now - up : 0;
    double start;
    if (source->origin == OTLP_SINCE_WE_LOOK)
        origin = writing->look->since_ns;
    else if (source->origin == OTLP_SINCE_START_OF_PROCESS &&
             vitals_row_f64(row, VITALS_PROCESS_START_SECONDS, &start) > 0 && start >= 0 &&
             start < 1e9)
        origin += (uint64_t)(start * 1e9);
    if (source->as.kind == OTLP_UP_DOWN) {
        point->start_ns = origin < point->time_ns ? origin : point->time_ns;
        return;
    }
    uint64_t id = hash_join((uint64_t)(source - otlp_sources) + 1, vitals_row_key(row));
    point->start_ns = otlp_sum_start(writing->sums, id, point->value, point->time_ns, origin);
}

/* ---- selection of rows ---- */

/* Compares keys, and structs that begin with their key. */
static int by_key(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static bool is_chosen(const struct otlp_writing *writing, uint64_t key)
{
    return writing->chosen_count > 0 &&
           bsearch(&key, writing->chosen, writing->chosen_count, sizeof key, by_key) != NULL;
}

static bool is_exported(const struct otlp_writing *writing, const struct otlp_source *source,
                        const vitals_row *row)
{
    const char *label = vitals_row_label(row);
    uint64_t key;
    if (source->only != NULL && strcmp(label, source->only) != 0)
        return false;
    for (size_t i = 0; i < 2 && source->other_than[i] != NULL; i++)
        if (source->only == NULL && strcmp(label, source->other_than[i]) == 0)
            return false;
    if (source->holds != NULL && !source->holds(row))
        return false;
    if (writing->chosen == NULL)
        return true;
    if (source->subject == OTLP_PROCESS)
        return is_chosen(writing, vitals_row_key(row));
    /* A row of a device whose process is not known is exported nevertheless. */
    return source->subject != OTLP_GPU_PROCESS ||
           vitals_row_u64(row, VITALS_GPU_PROCESS_PROCESS, &key) <= 0 || is_chosen(writing, key);
}

struct otlp_candidate {
    uint64_t key;
    double weight;
};

static int heavier_first(const void *left, const void *right)
{
    const struct otlp_candidate *a = left, *b = right;
    if (a->weight > b->weight || a->weight < b->weight)
        return a->weight > b->weight ? -1 : 1;
    return a->key < b->key ? -1 : a->key > b->key;
}

/* Chooses processes if there are more than the maximum: those on devices, then the largest. */
static void choose(struct otlp_writing *writing)
{
    const vitals_snapshot *snapshot = writing->snapshot;
    size_t count = vitals_snapshot_count(snapshot, VITALS_TABLE_PROCESS);
    size_t most = writing->look->options.max_processes;
    struct otlp_candidate *all = count > most ? calloc(count, sizeof *all) : NULL;
    uint64_t *chosen = count > most ? calloc(most, sizeof *chosen) : NULL;
    const vitals_row *row = NULL;
    for (size_t i = 0; all != NULL && i < count; i++) {
        row = vitals_snapshot_row(snapshot, VITALS_TABLE_PROCESS, i);
        all[i].key = vitals_row_key(row);
        if (vitals_row_number(row, VITALS_PROCESS_RESIDENT_BYTES, &all[i].weight) <= 0)
            all[i].weight = 0;
    }
    for (row = NULL; all != NULL && (row = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU_PROCESS,
                                                                row)) != NULL;) {
        uint64_t key;
        if (vitals_row_u64(row, VITALS_GPU_PROCESS_PROCESS, &key) <= 0)
            continue;
        struct otlp_candidate *found = bsearch(&key, all, count, sizeof *all, by_key);
        if (found != NULL)
            found->weight += 1e18;
    }
    if (all != NULL && chosen != NULL) {
        qsort(all, count, sizeof *all, heavier_first);
        for (size_t i = 0; i < most; i++)
            chosen[i] = all[i].key;
        qsort(chosen, most, sizeof *chosen, by_key);
        writing->chosen = chosen;
        writing->chosen_count = most;
        chosen = NULL;
    }
    free(chosen);
    free(all);
}

static void write_source(struct otlp_writing *writing, const struct otlp_source *source)
{
    vitals_table entity = vitals_metric_table(source->metric);
    const vitals_row *row = NULL;
    if (source == otlp_sources || strcmp(source->as.name, source[-1].as.name) != 0) {
        struct otlp_metric as = source->as;
        as.help = as.help != NULL ? as.help : vitals_metric_help(source->metric);
        otlp_writer_metric(writing->writer, &as);
    }
    while ((row = vitals_snapshot_next(writing->snapshot, entity, row)) != NULL) {
        struct otlp_attributes attributes;
        struct otlp_point point = {.attributes = &attributes};
        attributes.count = attributes.used = 0;
        if (!is_exported(writing, source, row) || !value_of(source, row, &point))
            continue;
        otlp_describe(&attributes, row, source, writing->look);
        set_times(writing, source, row, &point);
        otlp_writer_point(writing->writer, &point);
    }
}

/* ---- workloads on devices: sums over their processes ---- */

struct otlp_share {
    uint64_t gpu; /* of the workload's row */
    vitals_text workload;
    const vitals_row *process; /* one of its processes */
    double sums[2];            /* in the order of SHARES */
    bool known[2];
};

static const struct {
    struct otlp_metric as;
    vitals_metric metric;
    bool whole;
} SHARES[2] = {
    {{"vitals.workload.gpu_memory_used", "By", NULL, OTLP_GAUGE},
     VITALS_GPU_PROCESS_MEMORY_USED_BYTES,
     true},
    {{"vitals.workload.gpu_utilization", "1", NULL, OTLP_GAUGE},
     VITALS_GPU_PROCESS_UTILIZATION_RATIO,
     false},
};

static void write_shares(struct otlp_writing *writing)
{
    const vitals_snapshot *snapshot = writing->snapshot;
    size_t room = vitals_snapshot_count(snapshot, VITALS_TABLE_GPU_PROCESS), count = 0;
    struct otlp_share *shares = room > 0 ? calloc(room, sizeof *shares) : NULL;
    const vitals_row *row = NULL;
    while (shares != NULL &&
           (row = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU_PROCESS, row)) != NULL) {
        uint64_t gpu = vitals_row_parent(row);
        vitals_text id;
        const vitals_row *process = row_process(row);
        if (process == NULL || vitals_row_text(process, VITALS_PROCESS_WORKLOAD, &id) <= 0)
            continue;
        size_t at = 0;
        while (at < count && (shares[at].gpu != gpu || shares[at].workload.size != id.size ||
                              memcmp(shares[at].workload.bytes, id.bytes, id.size) != 0))
            at++;
        if (at == count)
            shares[count++] = (struct otlp_share){.gpu = gpu, .workload = id};
        shares[at].process = process;
        for (size_t i = 0; i < 2; i++) {
            double value;
            if (vitals_row_number(row, SHARES[i].metric, &value) <= 0)
                continue;
            shares[at].sums[i] += value;
            shares[at].known[i] = true;
        }
    }

    for (size_t which = 0; which < 2; which++) {
        struct otlp_metric as = SHARES[which].as;
        as.help = vitals_metric_help(SHARES[which].metric);
        otlp_writer_metric(writing->writer, &as);
        for (size_t i = 0; i < count; i++) {
            const struct otlp_share *share = &shares[i];
            if (!share->known[which])
                continue;
            struct otlp_attributes attributes;
            const struct otlp_point point = {
                .time_ns = vitals_snapshot_realtime_ns(snapshot),
                .whole = SHARES[which].whole,
                .integer = SHARES[which].whole ? (int64_t)share->sums[which] : 0,
                .value = share->sums[which],
                .attributes = &attributes};
            const vitals_row *gpu = vitals_snapshot_find(snapshot, VITALS_TABLE_GPU, share->gpu);
            attributes.count = attributes.used = 0;
            if (gpu != NULL)
                (void)otlp_describe_device(&attributes, "hw.id", gpu);
            otlp_describe_workload(&attributes, share->process, VITALS_PROCESS_WORKLOAD,
                                   writing->look);
            otlp_writer_point(writing->writer, &point);
        }
    }
    free(shares);
}

void otlp_snapshot_write(struct otlp_writer *writer, struct counter_map *sums,
                         const vitals_snapshot *snapshot, const struct otlp_look *look)
{
    struct otlp_writing writing = {
        .writer = writer, .sums = sums, .snapshot = snapshot, .look = look};
    if (look->options.level == EXPOSITION_PID)
        choose(&writing);
    for (size_t i = 0; i < otlp_sources_count; i++) {
        enum otlp_subject subject = otlp_sources[i].subject;
        bool by_pid = subject == OTLP_PROCESS || subject == OTLP_GPU_PROCESS;
        if (by_pid ? look->options.level == EXPOSITION_PID
                   : subject != OTLP_WORKLOAD || look->options.level != EXPOSITION_OFF)
            write_source(&writing, &otlp_sources[i]);
    }
    if (look->options.level != EXPOSITION_OFF)
        write_shares(&writing);
    free(writing.chosen);
}
