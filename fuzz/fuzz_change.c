/* Any bytes as what a monitor keeps of a snapshot: the first says whether it is told by another,
 * which is always the same one, and whether the rest is read twice. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/frame/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TOLD = 1, TWICE = 2 };

static void require(int condition)
{
    if (!condition)
        abort();
}

static vitals_text text_of(const char *string)
{
    return (vitals_text){string, strlen(string)};
}

static void put_process(vitals_builder *builder, uint64_t key, uint64_t stamp_ns)
{
    vitals_builder_row(builder, VITALS_TABLE_PROCESS, key, 0, text_of("process"), stamp_ns);
    vitals_builder_u64(builder, VITALS_PROCESS_PID, key + 1000, VITALS_HAVE);
    vitals_builder_text(builder, VITALS_PROCESS_NAME, text_of("a name"), VITALS_STALE);
    vitals_builder_f64(builder, VITALS_PROCESS_CPU_SECONDS, (double)key / 4, VITALS_HAVE);
    vitals_builder_missing(builder, VITALS_PROCESS_RESIDENT_BYTES, VITALS_DENIED);
}

/* Two tables, one without a row. */
static vitals_snapshot *make_base(vitals_builder *builder)
{
    static const vitals_metric PROCESS[] = {VITALS_PROCESS_PID, VITALS_PROCESS_NAME,
                                            VITALS_PROCESS_CPU_SECONDS,
                                            VITALS_PROCESS_RESIDENT_BYTES};
    static const vitals_metric GPU[] = {VITALS_GPU_NAME, VITALS_GPU_UTILIZATION_RATIO};
    vitals_snapshot *snapshot = NULL;
    vitals_builder_begin(builder);
    vitals_builder_origin(builder, text_of("here"), text_of("boot"), 1);
    vitals_builder_stream(builder, 7);
    vitals_builder_moment(builder, 3000, 2000, 1000, 1);
    vitals_builder_table(builder, VITALS_TABLE_PROCESS, PROCESS,
                         sizeof PROCESS / sizeof PROCESS[0]);
    vitals_builder_table(builder, VITALS_TABLE_GPU, GPU, sizeof GPU / sizeof GPU[0]);
    for (uint64_t key = 1; key <= 5; key++)
        put_process(builder, key, 900 + key);
    require(vitals_builder_finish(builder, &snapshot, NULL) == 0);
    return snapshot;
}

/* What was read can be written, and is read again as the same. */
static void round_trip(const vitals_snapshot *snapshot, vitals_builder *builder)
{
    struct buffer bytes = {0}, again = {0};
    vitals_snapshot *read = NULL;
    require(change_write(NULL, snapshot, &bytes));
    require(change_read(NULL, bytes.bytes, bytes.size, builder, &read) == 0);
    require(change_write(NULL, read, &again));
    require(again.size == bytes.size && memcmp(again.bytes, bytes.bytes, bytes.size) == 0);
    vitals_snapshot_unref(read);
    buffer_done(&bytes);
    buffer_done(&again);
}

static void read_one(const vitals_snapshot *base, const char *bytes, size_t size,
                     vitals_builder *builder)
{
    vitals_snapshot *snapshot = NULL;
    int code = change_read(base, bytes, size, builder, &snapshot);
    require((code == 0) == (snapshot != NULL));
    if (snapshot != NULL)
        round_trip(snapshot, builder);
    vitals_snapshot_unref(snapshot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    vitals_builder *maker = NULL, *builder = NULL;
    if (size == 0)
        return 0;
    require(vitals_builder_new(&maker, NULL) == 0 && vitals_builder_new(&builder, NULL) == 0);
    vitals_snapshot *base = data[0] & TOLD ? make_base(maker) : NULL;
    for (int i = 0; i < (data[0] & TWICE ? 2 : 1); i++)
        read_one(base, (const char *)data + 1, size - 1, builder);
    vitals_snapshot_unref(base);
    vitals_builder_free(builder);
    vitals_builder_free(maker);
    return 0;
}
