/* sys/builder.h: makes snapshots. For readers of recordings and for back ends.
 *
 * A weaker promise than the rest: functions here may be removed, or get a successor with a new
 * name; they never change their arguments.
 *
 * A builder is used again and again: begin, tables, rows, values, finish. It keeps its last few
 * snapshots and reuses the memory of those that nobody else holds, so that a steady stream
 * allocates nothing. One thread at a time. The first mistake, or running out of memory, is
 * remembered and told by finish; every call between is then harmless. */
#ifndef VITALS_SYS_BUILDER_H
#define VITALS_SYS_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include <vitals/snapshot.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vitals_builder vitals_builder;

/* Makes a builder; *out is yours to free. Free accepts NULL, and drops what is not finished.
 * Errors: EMEMORY. */
VITALS_API VITALS_CHECKED int vitals_builder_new(vitals_builder **out, vitals_error *error)
    VITALS_NONNULL(1);
VITALS_API void vitals_builder_free(vitals_builder *builder);

/* Begins a snapshot; one that was begun and not finished is dropped. */
VITALS_API void vitals_builder_begin(vitals_builder *builder) VITALS_NONNULL(1);

/* Says of which machine, boot and pid namespace (0: not known) it is. Copied. */
VITALS_API void vitals_builder_origin(vitals_builder *builder, vitals_text host,
                                      vitals_text boot_id, uint64_t pid_namespace)
    VITALS_NONNULL(1);

/* Says of which stream its keys are: a number, 1 … 2^53, that is drawn at random once for each
 * source of keys. Without a call, or above 2^53: 0, not known. */
VITALS_API void vitals_builder_stream(vitals_builder *builder, uint64_t stream) VITALS_NONNULL(1);

/* Says when it was complete, by three clocks, and its number. */
VITALS_API void vitals_builder_moment(vitals_builder *builder, uint64_t realtime_ns,
                                      uint64_t boottime_ns, uint64_t monotonic_ns,
                                      uint64_t sequence) VITALS_NONNULL(1);

/* Opens a table with these columns (in any order; the order of numbers holds). Mistakes: a table or
 * a column that is none, a column of another table, a table that is open. */
VITALS_API void vitals_builder_table(vitals_builder *builder, vitals_table entity,
                                     const vitals_metric *metrics, size_t count) VITALS_NONNULL(1);

/* Says how complete an open table is, HAVE unless said; a table that is not open is passed over. A
 * mistake: an availability that is none. */
VITALS_API void vitals_builder_state(vitals_builder *builder, vitals_table entity,
                                     vitals_availability state) VITALS_NONNULL(1);

/* Adds a row to a table; values that are set next go into it. A row of a table that is not open is
 * passed over. Keys must be unique; finish sorts rows that do not come in the order of keys. The
 * label is made safe and copied. Mistakes: a key of 0, a key or a parent above 2^53, a parent in
 * a table that has none. */
VITALS_API void vitals_builder_row(vitals_builder *builder, vitals_table entity, uint64_t key,
                                   uint64_t parent, vitals_text label, uint64_t stamp_ns)
    VITALS_NONNULL(1);

/* Sets a value in the newest row of the metric's table. A metric whose column was not opened is
 * passed over, so that a source may offer all it knows. Above 2^53 a count is stored as 2^53, a
 * lower bound; a double that is not finite is stored as failed; text of more than 2^20 characters
 * is cut, a lower bound. Mistakes: a value before there is a row, a value of another type, an
 * availability that is none. */
VITALS_API void vitals_builder_u64(vitals_builder *builder, vitals_metric metric, uint64_t value,
                                   vitals_availability availability) VITALS_NONNULL(1);
VITALS_API void vitals_builder_i64(vitals_builder *builder, vitals_metric metric, int64_t value,
                                   vitals_availability availability) VITALS_NONNULL(1);
VITALS_API void vitals_builder_f64(vitals_builder *builder, vitals_metric metric, double value,
                                   vitals_availability availability) VITALS_NONNULL(1);
VITALS_API void vitals_builder_text(vitals_builder *builder, vitals_metric metric,
                                    vitals_text value, vitals_availability availability)
    VITALS_NONNULL(1);

/* Says why there is no value. A mistake: a reason that is none. */
VITALS_API void vitals_builder_missing(vitals_builder *builder, vitals_metric metric,
                                       vitals_availability reason) VITALS_NONNULL(1);

/* Says when a value of the newest row was read, where that is not its row's stamp; before or after
 * the value itself. A missing value has no moment of its own. Passed over and mistaken as above. */
VITALS_API void vitals_builder_read_at(vitals_builder *builder, vitals_metric metric,
                                       uint64_t read_ns) VITALS_NONNULL(1);

/* Completes the snapshot; *out is yours to unref. Errors: EMEMORY, EARGUMENT (a mistake as above,
 * a key given twice, or nothing was begun). */
VITALS_API VITALS_CHECKED int vitals_builder_finish(vitals_builder *builder, vitals_snapshot **out,
                                                    vitals_error *error) VITALS_NONNULL(1, 2);

#ifdef __cplusplus
}
#endif

#endif
