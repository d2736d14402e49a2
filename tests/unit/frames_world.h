/* frames_world.h: snapshots made by hand, to be kept and given back byte for byte. */
#ifndef TESTS_UNIT_FRAMES_WORLD_H
#define TESTS_UNIT_FRAMES_WORLD_H

#include "record_world.h"

#include "record/replay/timeline.h"
#include <vitals/sys/builder.h>

#define FRAMES_BEGIN_NS UINT64_C(1800000000000000000)
#define SECOND_NS       UINT64_C(1000000000)

static inline uint64_t frame_moment(uint64_t number)
{
    return FRAMES_BEGIN_NS + number * SECOND_NS;
}

/* A machine with processes that come, go and change a little. */
static inline vitals_snapshot *make_snapshot(vitals_builder *builder, uint64_t number)
{
    static const vitals_metric METRICS[] = {VITALS_PROCESS_PID, VITALS_PROCESS_NAME,
                                            VITALS_PROCESS_RESIDENT_BYTES};
    vitals_snapshot *snapshot = NULL;
    char name[40];
    vitals_builder_begin(builder);
    vitals_builder_stream(builder, 77);
    vitals_builder_moment(builder, frame_moment(number), number * SECOND_NS + 9,
                          number * SECOND_NS + 5, number + 1);
    vitals_builder_table(builder, VITALS_TABLE_PROCESS, METRICS, 3);
    for (uint64_t key = 1 + number; key < 100 + number; key++) {
        int size = snprintf(name, sizeof name, "process \n of some length %u", (unsigned)key);
        vitals_builder_row(builder, VITALS_TABLE_PROCESS, key, 0, (vitals_text){name, (size_t)size},
                           5);
        vitals_builder_u64(builder, VITALS_PROCESS_PID, key + 1000, VITALS_HAVE);
        vitals_builder_text(builder, VITALS_PROCESS_NAME, (vitals_text){name, (size_t)size},
                            VITALS_HAVE);
        vitals_builder_u64(builder, VITALS_PROCESS_RESIDENT_BYTES, key * 4096 * (1 + number % 7),
                           VITALS_HAVE);
    }
    CHECK_INT(vitals_builder_finish(builder, &snapshot, NULL), 0);
    return snapshot;
}

static inline int frame_append(void *data, const char *bytes, size_t size)
{
    (void)strncat(data, bytes, size);
    return 0;
}

/* That a snapshot is the one that was made for a number, which is given up. */
static inline void is_snapshot(vitals_snapshot *snapshot, vitals_builder *builder, uint64_t number)
{
    static char a[64 * 1024], b[64 * 1024];
    vitals_snapshot *made = make_snapshot(builder, number);
    a[0] = b[0] = '\0';
    CHECK_INT(vitals_snapshot_json(made, frame_append, a, NULL), 0);
    CHECK_INT(vitals_snapshot_json(snapshot, frame_append, b, NULL), 0);
    CHECK_STR(a, b);
    vitals_snapshot_unref(made);
    vitals_snapshot_unref(snapshot);
}

/* A recorder that is given snapshots as if it never were too soon for one. */
static inline struct recorder *frames_recorder(const struct record_world *world)
{
    const struct recorder_options options = {
        .path = world->path, .interval_ns = 1000000000, .frames = true};
    struct recorder *recorder = NULL;
    vitals_error error = {.message = ""};
    CHECK_INT(recorder_open(&options, &recorder, &error), 0);
    CHECK_STR(error.message, "");
    return recorder;
}

static inline void frames_record(struct recorder *recorder, vitals_builder *builder, uint64_t from,
                                 uint64_t to)
{
    vitals_error error;
    for (uint64_t i = from; i < to; i++) {
        struct filled_sample sample;
        record_fill(&sample, i);
        vitals_snapshot *snapshot = make_snapshot(builder, i);
        sample.content.snapshot = snapshot;
        sample.content.monotonic_ns += i * UINT64_C(100000000000);
        CHECK_INT(recorder_write_sample(recorder, &sample.content, &error), 0);
        vitals_snapshot_unref(snapshot);
    }
}

static inline void frames_write(const struct record_world *world, vitals_builder *builder,
                                uint64_t count)
{
    struct recorder *recorder = frames_recorder(world);
    vitals_error error;
    frames_record(recorder, builder, 0, count);
    CHECK_INT(recorder_close(recorder, &error), 0);
}

#endif
