/* What the tests over a snapshot's devices share: rows of the table gpu, written down as a table.
 * Everything is static: each test program includes it once. */
#ifndef TESTS_UNIT_GPU_ROWS_H
#define TESTS_UNIT_GPU_ROWS_H

#include "check.h"

#include <vitals/sys/builder.h>

#define GIB (UINT64_C(1) << 30)

/* Missing: NULL, and a number below 0. `parent`: the place of its device among the rows, plus one.
 */
struct gpu_row {
    const char *label, *vendor, *name, *uuid, *address;
    unsigned parent;
    int gi, ci;
    int64_t total_gib, used_gib; /* free is the rest */
    double busy, memory_busy;
    double busy_seconds;
    const char *kind;
    vitals_availability lost; /* why its memory is not known; 0: it is */
};

static inline vitals_text text_of(const char *string)
{
    return (vitals_text){string, strlen(string)};
}

static inline void put_text(vitals_builder *builder, vitals_metric metric, const char *string)
{
    if (string != NULL)
        vitals_builder_text(builder, metric, text_of(string), VITALS_HAVE);
    else
        vitals_builder_missing(builder, metric, VITALS_UNSUPPORTED);
}

static inline void put_number(vitals_builder *builder, vitals_metric metric, double number)
{
    if (number < 0)
        vitals_builder_missing(builder, metric, VITALS_UNSUPPORTED);
    else if (vitals_metric_type(metric) == VITALS_F64)
        vitals_builder_f64(builder, metric, number, VITALS_HAVE);
    else
        vitals_builder_u64(builder, metric, (uint64_t)number, VITALS_HAVE);
}

static inline void put_memory(vitals_builder *builder, const struct gpu_row *row)
{
    static const vitals_metric METRICS[] = {
        VITALS_GPU_MEMORY_TOTAL_BYTES, VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_MEMORY_FREE_BYTES};
    bool is_known = row->total_gib >= 0 && row->used_gib >= 0;
    const int64_t gib[] = {row->total_gib, row->used_gib,
                           is_known ? row->total_gib - row->used_gib : -1};
    for (size_t i = 0; i < 3; i++) {
        if (row->lost != 0)
            vitals_builder_missing(builder, METRICS[i], row->lost);
        else
            put_number(builder, METRICS[i], gib[i] < 0 ? -1 : (double)gib[i] * (double)GIB);
    }
}

static inline uint64_t index_of(const char *label)
{
    const char *colon = strchr(label, ':');
    return strtoull(colon != NULL ? colon + 1 : label, NULL, 10);
}

/* Opens the table and writes the rows; their keys are 1, 2, 3… */
static inline void put_rows(vitals_builder *builder, const struct gpu_row *rows, size_t count,
                            uint64_t stamp_ns)
{
    static const vitals_metric COLUMNS[] = {VITALS_GPU_INDEX,
                                            VITALS_GPU_VENDOR,
                                            VITALS_GPU_NAME,
                                            VITALS_GPU_UUID,
                                            VITALS_GPU_PCI_BUS_ID,
                                            VITALS_GPU_GPU_INSTANCE_ID,
                                            VITALS_GPU_PARTITION_KIND,
                                            VITALS_GPU_BUSY_SECONDS,
                                            VITALS_GPU_COMPUTE_INSTANCE_ID,
                                            VITALS_GPU_MEMORY_TOTAL_BYTES,
                                            VITALS_GPU_MEMORY_USED_BYTES,
                                            VITALS_GPU_MEMORY_FREE_BYTES,
                                            VITALS_GPU_UTILIZATION_RATIO,
                                            VITALS_GPU_MEMORY_BUSY_RATIO};
    vitals_builder_table(builder, VITALS_TABLE_GPU, COLUMNS, CHECK_COUNT(COLUMNS));
    for (size_t i = 0; i < count; i++) {
        const struct gpu_row *row = &rows[i];
        vitals_builder_row(builder, VITALS_TABLE_GPU, i + 1, row->parent, text_of(row->label),
                           stamp_ns);
        put_number(builder, VITALS_GPU_INDEX, (double)index_of(row->label));
        put_text(builder, VITALS_GPU_VENDOR, row->vendor);
        put_text(builder, VITALS_GPU_NAME, row->name);
        put_text(builder, VITALS_GPU_UUID, row->uuid);
        put_text(builder, VITALS_GPU_PCI_BUS_ID, row->address);
        put_text(builder, VITALS_GPU_PARTITION_KIND, row->kind);
        put_number(builder, VITALS_GPU_GPU_INSTANCE_ID, row->parent != 0 ? row->gi : -1);
        put_number(builder, VITALS_GPU_COMPUTE_INSTANCE_ID, row->parent != 0 ? row->ci : -1);
        put_memory(builder, row);
        put_number(builder, VITALS_GPU_UTILIZATION_RATIO, row->busy);
        put_number(builder, VITALS_GPU_MEMORY_BUSY_RATIO, row->memory_busy);
        put_number(builder, VITALS_GPU_BUSY_SECONDS, row->busy_seconds);
    }
}

static inline vitals_builder *begin_rows(uint64_t moment_ns)
{
    vitals_builder *builder = NULL;
    vitals_error error;
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    vitals_builder_begin(builder);
    vitals_builder_origin(builder, text_of("host"), text_of("boot"), 1);
    vitals_builder_stream(builder, 7);
    vitals_builder_moment(builder, moment_ns, moment_ns, moment_ns, 1);
    return builder;
}

static inline vitals_snapshot *end_rows(vitals_builder *builder)
{
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
    vitals_builder_free(builder);
    return snapshot;
}

static inline vitals_snapshot *snapshot_of(const struct gpu_row *rows, size_t count)
{
    vitals_builder *builder = begin_rows(1000000000);
    put_rows(builder, rows, count, 1000000000);
    return end_rows(builder);
}

/* "0 2 1:0": the labels of what was found. */
static inline const char *labels_of(const vitals_row *const *rows, size_t count)
{
    static char out[1024];
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count && used < sizeof out; i++)
        used += (size_t)snprintf(out + used, sizeof out - used, "%s%s", i > 0 ? " " : "",
                                 vitals_row_label(rows[i]));
    return out;
}

#endif
