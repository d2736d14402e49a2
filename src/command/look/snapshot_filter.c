/* snapshot_filter.c: see snapshot_filter.h. */
#include "command/look/snapshot_filter.h"

#include <string.h>

enum { COLUMNS_MAX = 256 };

static void copy_number(vitals_builder *to, const vitals_row *row, vitals_metric metric,
                        vitals_availability availability)
{
    uint64_t whole;
    int64_t signed_whole;
    double real;
    vitals_text text;
    switch (vitals_metric_type(metric)) {
    case VITALS_U64:
        if (vitals_row_u64(row, metric, &whole) > 0)
            vitals_builder_u64(to, metric, whole, availability);
        return;
    case VITALS_I64:
        if (vitals_row_i64(row, metric, &signed_whole) > 0)
            vitals_builder_i64(to, metric, signed_whole, availability);
        return;
    case VITALS_F64:
        if (vitals_row_f64(row, metric, &real) > 0)
            vitals_builder_f64(to, metric, real, availability);
        return;
    case VITALS_TEXT:
        if (vitals_row_text(row, metric, &text) > 0)
            vitals_builder_text(to, metric, text, availability);
        return;
    }
}

static void copy_value(vitals_builder *to, const vitals_row *row, vitals_metric metric)
{
    vitals_availability availability = vitals_row_availability(row, metric);
    if (availability <= 0) {
        vitals_builder_missing(to, metric, availability);
        return;
    }
    copy_number(to, row, metric, availability);
    uint64_t read_ns = vitals_row_read_ns(row, metric);
    if (read_ns != vitals_row_stamp_ns(row))
        vitals_builder_read_at(to, metric, read_ns);
}

struct processes {
    snapshot_keep *keep;
    void *data;
};

static bool keep_processes(void *data, const vitals_row *row)
{
    const struct processes *processes = data;
    uint64_t key;
    if (vitals_row_entity(row) == VITALS_PROCESS)
        return processes->keep(processes->data, row);
    if (vitals_row_entity(row) != VITALS_GPU_PROCESS)
        return true;
    if (vitals_row_u64(row, VITALS_GPU_PROCESS_PROCESS, &key) <= 0)
        return false;
    const vitals_row *process = vitals_snapshot_find(vitals_row_snapshot(row), VITALS_PROCESS, key);
    return process != NULL && processes->keep(processes->data, process);
}

/* Which rows are copied, and what is added behind them; either may be NULL. */
struct changes {
    snapshot_keep *keep;
    snapshot_more *more;
    void *data;
};

static int copy(const vitals_snapshot *snapshot, const struct changes *changes,
                vitals_builder *builder, vitals_snapshot **out, vitals_error *error)
{
    vitals_builder_begin(builder);
    vitals_builder_origin(builder, vitals_snapshot_host(snapshot),
                          vitals_snapshot_boot_id(snapshot),
                          vitals_snapshot_pid_namespace(snapshot));
    vitals_builder_stream(builder, vitals_snapshot_stream(snapshot));
    vitals_builder_moment(
        builder, vitals_snapshot_realtime_ns(snapshot), vitals_snapshot_boottime_ns(snapshot),
        vitals_snapshot_monotonic_ns(snapshot), vitals_snapshot_sequence(snapshot));

    for (vitals_entity entity = 0; (entity = vitals_entity_next(entity)) != 0;) {
        vitals_metric columns[COLUMNS_MAX];
        if (!vitals_snapshot_has_entity(snapshot, entity))
            continue;

        /* The columns that a table of a snapshot has. */
        size_t count = 0;
        for (vitals_metric metric = 0;
             (metric = vitals_metric_next(metric)) != 0 && count < COLUMNS_MAX;) {
            if (vitals_metric_entity(metric) == entity &&
                vitals_snapshot_has_metric(snapshot, metric))
                columns[count++] = metric;
        }

        vitals_builder_table(builder, entity, columns, count);
        vitals_builder_state(builder, entity, vitals_snapshot_state(snapshot, entity));
        for (const vitals_row *row = NULL;
             (row = vitals_snapshot_next(snapshot, entity, row)) != NULL;) {
            const char *label = vitals_row_label(row);
            if (changes->keep != NULL && !changes->keep(changes->data, row))
                continue;
            vitals_builder_row(builder, entity, vitals_row_key(row), vitals_row_parent(row),
                               (vitals_text){label, strlen(label)}, vitals_row_stamp_ns(row));
            for (size_t i = 0; i < count; i++)
                copy_value(builder, row, columns[i]);
        }
        if (changes->more != NULL)
            changes->more(changes->data, entity, builder);
    }
    return vitals_builder_finish(builder, out, error);
}

int snapshot_filter_rows(const vitals_snapshot *snapshot, snapshot_keep *keep, void *data,
                         vitals_builder *builder, vitals_snapshot **out, vitals_error *error)
{
    const struct changes changes = {.keep = keep, .data = data};
    return copy(snapshot, &changes, builder, out, error);
}

int snapshot_extend(const vitals_snapshot *snapshot, snapshot_more *more, void *data,
                    vitals_builder *builder, vitals_snapshot **out, vitals_error *error)
{
    const struct changes changes = {.more = more, .data = data};
    return copy(snapshot, &changes, builder, out, error);
}

int snapshot_filter_processes(const vitals_snapshot *snapshot, snapshot_keep *keep, void *data,
                              vitals_builder *builder, vitals_snapshot **out, vitals_error *error)
{
    struct processes processes = {keep, data};
    return snapshot_filter_rows(snapshot, keep_processes, &processes, builder, out, error);
}
