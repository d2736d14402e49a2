/* sys/builder.h: makes snapshots row by row, for readers of recordings and for tests.
 *
 * A weaker promise than the other headers: a later version may remove a function, or give it a
 * successor with another name, and never changes its signature.
 *
 *     vitals_builder_begin(builder);
 *     vitals_builder_origin(builder, host, boot_id, 0);
 *     vitals_builder_moment(builder, realtime_ns, boottime_ns, monotonic_ns, 1);
 *     vitals_builder_table(builder, VITALS_TABLE_GPU, metrics, metric_count);
 *     vitals_builder_row(builder, VITALS_TABLE_GPU, 1, 0, vitals_text_of("0"), monotonic_ns);
 *     vitals_builder_u64(builder, VITALS_GPU_MEMORY_USED_BYTES, 1 << 30, VITALS_HAVE);
 *     vitals_builder_finish(builder, &snapshot, &error);
 *
 * A builder is used again for each snapshot. It keeps references to its last four and reuses the
 * memory of one that has no other reference, so that a steady stream of snapshots allocates
 * nothing.
 *
 * Only vitals_builder_finish fails. The first mistake of a call before it, or a failed allocation,
 * is remembered: until the next begin all calls do nothing, and finish returns that error.
 *
 * One thread at a time. Finished snapshots may be read from any thread meanwhile. No function here
 * makes a system call, but to get memory. */
#ifndef VITALS_SYS_BUILDER_H
#define VITALS_SYS_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include <vitals/snapshot.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vitals_builder vitals_builder;

/* Makes a builder; *out is yours to free. Free accepts NULL, and drops a snapshot that is not
 * finished; finished ones live on. Errors: EMEMORY. */
VITALS_API VITALS_CHECKED int vitals_builder_new(vitals_builder **out, vitals_error *error)
    VITALS_NONNULL(1);
VITALS_API void vitals_builder_free(vitals_builder *builder);

/* Begins a snapshot without tables. One that was begun and not finished is dropped. */
VITALS_API void vitals_builder_begin(vitals_builder *builder) VITALS_NONNULL(1);

/* Sets the machine, boot and pid namespace (an inode number; 0: not known) of the snapshot. The
 * texts are made safe to print, cut at 255 bytes, and copied. Without a call they are empty and 0.
 */
VITALS_API void vitals_builder_origin(vitals_builder *builder, vitals_text host,
                                      vitals_text boot_id, uint64_t pid_namespace)
    VITALS_NONNULL(1);

/* Sets the stream to which its keys belong (vitals_snapshot_stream): a number, 1 … 2^53, that is
 * drawn at random once for each source of keys. Without a call, or above 2^53: 0, not known. */
VITALS_API void vitals_builder_stream(vitals_builder *builder, uint64_t stream) VITALS_NONNULL(1);

/* Sets when the reading was complete, in nanoseconds of three clocks (clock.h), and the number of
 * the snapshot, from 1. Without a call all four are 0. */
VITALS_API void vitals_builder_moment(vitals_builder *builder, uint64_t realtime_ns,
                                      uint64_t boottime_ns, uint64_t monotonic_ns,
                                      uint64_t sequence) VITALS_NONNULL(1);

/* Opens a table with `count` columns, in any order; its state is HAVE. There may be no column, and
 * one that is named twice is one. Mistakes: a number that is
 * no table, a column that is none or is of another table, a table that is open already. */
VITALS_API void vitals_builder_table(vitals_builder *builder, vitals_table entity,
                                     const vitals_metric *metrics, size_t count) VITALS_NONNULL(1);

/* Sets how complete the rows of a table are (vitals_snapshot_state). Does nothing for a table that
 * is not open. Mistakes: an availability that is none. */
VITALS_API void vitals_builder_state(vitals_builder *builder, vitals_table entity,
                                     vitals_availability state) VITALS_NONNULL(1);

/* Adds a row to a table; the values that are set next go into it. `key` is 1 … 2^53, unique in the
 * table, and any order of keys will do; `parent` is the key of a row of vitals_table_parent, or 0;
 * `label` is made safe to print, cut at 255 bytes, and copied; `stamp_ns` is the monotonic time at
 * which the row was read, not after that of the snapshot. Does nothing for a table that is not
 * open. Mistakes: a key of 0, a key or a parent above 2^53, a parent in a table that has none. */
VITALS_API void vitals_builder_row(vitals_builder *builder, vitals_table entity, uint64_t key,
                                   uint64_t parent, vitals_text label, uint64_t stamp_ns)
    VITALS_NONNULL(1);

/* Set a value in the newest row of the metric's table, in the metric's unit and type; the last call
 * for a metric holds. With an availability below 0 the value is missing and not looked at; with
 * VITALS_UNSET the call does nothing. They do nothing either if the column is not open, so that a
 * reader may offer all that it knows. A column that no call sets is VITALS_UNSET in that row, which
 * is a bug of the caller. Of a count above 2^53, 2^53 is kept as a lower bound; of an i64 below
 * -2^53, -2^53 as an upper bound; a double that is not finite becomes VITALS_FAILED; text is
 * copied, and cut at 2^20 characters as a lower bound. Mistakes: a value before there is a row, a
 * value of another type, an availability that is none. */
VITALS_API void vitals_builder_u64(vitals_builder *builder, vitals_metric metric, uint64_t value,
                                   vitals_availability availability) VITALS_NONNULL(1);
VITALS_API void vitals_builder_i64(vitals_builder *builder, vitals_metric metric, int64_t value,
                                   vitals_availability availability) VITALS_NONNULL(1);
VITALS_API void vitals_builder_f64(vitals_builder *builder, vitals_metric metric, double value,
                                   vitals_availability availability) VITALS_NONNULL(1);
VITALS_API void vitals_builder_text(vitals_builder *builder, vitals_metric metric,
                                    vitals_text value, vitals_availability availability)
    VITALS_NONNULL(1);

/* Sets why the newest row of the metric's table has no value: an availability below 0. Does nothing
 * if the column is not open. Mistakes: an availability above 0 or outside the list, no row yet. */
VITALS_API void vitals_builder_missing(vitals_builder *builder, vitals_metric metric,
                                       vitals_availability reason) VITALS_NONNULL(1);

/* Sets when a value of the newest row was read, by the monotonic clock, if that is not the row's
 * stamp; before or after the value itself. A missing value has no such time. Does nothing if the
 * column is not open. Mistakes: no row yet. */
VITALS_API void vitals_builder_read_at(vitals_builder *builder, vitals_metric metric,
                                       uint64_t read_ns) VITALS_NONNULL(1);

/* Completes the snapshot; *out is yours to unref. Rows are sorted by their keys where they did not
 * come in that order. Errors: EMEMORY, EARGUMENT (a mistake of a call before, the same key twice in
 * a table, or nothing was begun). */
VITALS_API VITALS_CHECKED int vitals_builder_finish(vitals_builder *builder, vitals_snapshot **out,
                                                    vitals_error *error) VITALS_NONNULL(1, 2);

#ifdef __cplusplus
}
#endif

#endif
