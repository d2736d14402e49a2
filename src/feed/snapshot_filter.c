/* snapshot_filter.c: see snapshot_filter.h. */
#include "feed/snapshot_filter.h"
#include "feed/rows.h"

enum { COLUMNS_MAX = 256 };

static void copy_value(vitals_builder *to, const vitals_row *row, vitals_metric metric)
{
    vitals_availability availability = vitals_row_availability(row, metric);
    uint64_t whole, read_ns = vitals_row_read_ns(row, metric);
    int64_t signed_whole;
    double real;
    vitals_text text;
    if (availability <= 0) {
        vitals_builder_missing(to, metric, availability);
        return;
    }
    switch (vitals_metric_type(metric)) {
    case VITALS_U64:
        if (vitals_row_u64(row, metric, &whole) > 0)
            vitals_builder_u64(to, metric, whole, availability);
        break;
    case VITALS_I64:
        if (vitals_row_i64(row, metric, &signed_whole) > 0)
            vitals_builder_i64(to, metric, signed_whole, availability);
        break;
    case VITALS_F64:
        if (vitals_row_f64(row, metric, &real) > 0)
            vitals_builder_f64(to, metric, real, availability);
        break;
    case VITALS_TEXT:
        if (vitals_row_text(row, metric, &text) > 0)
            vitals_builder_text(to, metric, text, availability);
        break;
    }
    if (read_ns != vitals_row_stamp_ns(row))
        vitals_builder_read_at(to, metric, read_ns);
}

int snapshot_copy(const vitals_snapshot *snapshot, const struct snapshot_changes *changes,
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

    for (vitals_table entity = 0; (entity = vitals_table_next(entity)) != 0;) {
        vitals_metric columns[COLUMNS_MAX];
        if (!vitals_snapshot_has_table(snapshot, entity))
            continue;

        /* The columns of a table of a snapshot. */
        size_t count = 0;
        for (vitals_metric metric = 0;
             (metric = vitals_metric_next(metric)) != 0 && count < COLUMNS_MAX;) {
            if (vitals_metric_table(metric) == entity &&
                vitals_snapshot_has_metric(snapshot, metric) &&
                (changes->column == NULL || changes->column(metric)))
                columns[count++] = metric;
        }
        if (count == 0 && changes->column != NULL)
            continue;

        vitals_builder_table(builder, entity, columns, count);
        vitals_builder_state(builder, entity, vitals_snapshot_state(snapshot, entity));
        EACH_ROW(row, snapshot, entity) {
            if (changes->keep != NULL && !changes->keep(changes->data, row))
                continue;
            vitals_builder_row(builder, entity, vitals_row_key(row), vitals_row_parent(row),
                               vitals_text_of(vitals_row_label(row)), vitals_row_stamp_ns(row));
            for (size_t i = 0; i < count; i++)
                copy_value(builder, row, columns[i]);
        }
        if (changes->more != NULL)
            changes->more(changes->data, entity, builder);
    }
    return vitals_builder_finish(builder, out, error);
}
