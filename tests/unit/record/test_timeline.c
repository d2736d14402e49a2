/* Snapshots that were kept, by time: forth and back in recordings, in files of JSON and in what a
 * monitor keeps; files that grow, are cut off, or lie. */
#include "frames_world.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "record/replay/history_ring.h"
#include "record/sqlite/database.h"

/* Without SQLite there is no recording, without jansson no snapshot comes back. */
static bool can_read(void)
{
    return VITALS_WITH_JANSSON;
}

static bool can_record(void)
{
    return can_read() && VITALS_WITH_SQLITE;
}

static vitals_builder *new_builder(void)
{
    vitals_builder *builder = NULL;
    CHECK_INT(vitals_builder_new(&builder, NULL), 0);
    return builder;
}

static struct timeline open_timeline(const char *path)
{
    struct timeline timeline = {.data = NULL};
    vitals_error error = {.message = ""};
    CHECK_INT(timeline_open(path, &timeline, &error), 0);
    CHECK_STR(error.message, "");
    return timeline;
}

static void gives(int code, vitals_snapshot *snapshot, const vitals_error *error,
                  vitals_builder *builder, uint64_t number)
{
    CHECK_STR(code < 0 ? error->message : "", "");
    CHECK_INT(code, 1);
    is_snapshot(snapshot, builder, number);
}

static void at_is(const struct timeline *timeline, uint64_t moment, vitals_builder *builder,
                  uint64_t number)
{
    vitals_snapshot *snapshot = NULL;
    vitals_error error = {.message = ""};
    int code = timeline->at(timeline->data, moment, &snapshot, &error);
    gives(code, snapshot, &error, builder, number);
}

static void next_is(const struct timeline *timeline, vitals_builder *builder, uint64_t number)
{
    vitals_snapshot *snapshot = NULL;
    vitals_error error = {.message = ""};
    int code = timeline->next(timeline->data, &snapshot, &error);
    gives(code, snapshot, &error, builder, number);
}

static void previous_is(const struct timeline *timeline, vitals_builder *builder, uint64_t number)
{
    vitals_snapshot *snapshot = NULL;
    vitals_error error = {.message = ""};
    int code = timeline->previous(timeline->data, &snapshot, &error);
    gives(code, snapshot, &error, builder, number);
}

static void next_is_none(const struct timeline *timeline)
{
    vitals_snapshot *none = NULL;
    vitals_error error;
    CHECK_INT(timeline->next(timeline->data, &none, &error), 0);
    CHECK_NULL(none);
}

static void previous_is_none(const struct timeline *timeline)
{
    vitals_snapshot *none = NULL;
    vitals_error error;
    CHECK_INT(timeline->previous(timeline->data, &none, &error), 0);
    CHECK_NULL(none);
}

static void span_is(const struct timeline *timeline, uint64_t first, uint64_t last)
{
    struct timeline_span span;
    vitals_error error;
    CHECK_INT(timeline->span(timeline->data, &span, &error), 0);
    CHECK_UINT(span.first_ns, frame_moment(first));
    CHECK_UINT(span.last_ns, frame_moment(last));
    CHECK_UINT(span.count, last - first + 1);
}

/* What every kind does alike, of snapshots `first` to `last`. */
static void check_walks(const struct timeline *timeline, vitals_builder *builder, uint64_t first,
                        uint64_t last)
{
    span_is(timeline, first, last);
    at_is(timeline, frame_moment(first + 70), builder, first + 70);
    next_is(timeline, builder, first + 71);
    next_is(timeline, builder, first + 72);
    previous_is(timeline, builder, first + 71);
    for (uint64_t i = 0; i < 30; i++)
        previous_is(timeline, builder, first + 70 - i);
    at_is(timeline, frame_moment(first + 20) + SECOND_NS / 2, builder, first + 20);
    at_is(timeline, 5, builder, first);
    previous_is_none(timeline);
    next_is(timeline, builder, first + 1);
    at_is(timeline, UINT64_MAX, builder, last);
    next_is_none(timeline);
    next_is_none(timeline);
    previous_is(timeline, builder, last - 1);
    next_is(timeline, builder, last);
}

/* ---- feeds ---- */

static void feed_is(const struct feed *feed, vitals_builder *builder, uint64_t number)
{
    vitals_snapshot *snapshot = NULL;
    vitals_error error = {.message = ""};
    int code = feed->next(feed->data, &snapshot, &error);
    gives(code, snapshot, &error, builder, number);
}

static void snapshots_come_back_byte_for_byte(void)
{
    enum { COUNT = 150 }; /* more than one key */
    struct record_world world;
    struct feed feed = {.data = NULL};
    vitals_snapshot *none = NULL;
    vitals_error error;
    if (!can_record())
        return;
    record_world_open(&world, "a.db");
    vitals_builder *builder = new_builder();
    frames_write(&world, builder, COUNT);
    CHECK_INT(recording_feed(world.path, &feed, &error), 0);
    for (uint64_t i = 0; i < COUNT; i++)
        feed_is(&feed, builder, i);
    CHECK_INT(feed.next(feed.data, &none, &error), 0);
    CHECK_INT(feed.seek(feed.data, frame_moment(99) + SECOND_NS / 2, &error), 0);
    feed_is(&feed, builder, 100);
    feed_is(&feed, builder, 101);
    CHECK_INT(feed.seek(feed.data, frame_moment(1000000), &error), 0);
    CHECK_INT(feed.next(feed.data, &none, &error), 0);
    CHECK_INT(feed.last(feed.data, 2, &error), 0);
    feed_is(&feed, builder, COUNT - 2);
    feed_is(&feed, builder, COUNT - 1);
    CHECK_INT(feed.last(feed.data, COUNT + 5, &error), 0);
    feed_is(&feed, builder, 0);
    feed_close(&feed);
    vitals_builder_free(builder);
    record_world_close(&world);
}

/* ---- recordings ---- */

static void a_recording_is_walked_forth_and_back(void)
{
    struct record_world world;
    if (!can_record())
        return;
    record_world_open(&world, "a.db");
    vitals_builder *builder = new_builder();
    frames_write(&world, builder, 150);
    struct timeline timeline = open_timeline(world.path);
    next_is(&timeline, builder, 0);
    check_walks(&timeline, builder, 0, 149);
    CHECK_STR(timeline.problem(timeline.data), "");
    timeline_close(&timeline);
    timeline = open_timeline(world.path);
    previous_is(&timeline, builder, 149);
    timeline_close(&timeline);
    vitals_builder_free(builder);
    record_world_close(&world);
}

static void a_recording_that_grows_is_followed(void)
{
    struct record_world world;
    vitals_error error;
    if (!can_record())
        return;
    record_world_open(&world, "a.db");
    vitals_builder *builder = new_builder();
    struct recorder *recorder = frames_recorder(&world);
    struct timeline timeline = open_timeline(world.path);
    struct timeline_span span = {.count = 9};
    CHECK_INT(timeline.span(timeline.data, &span, &error), 0);
    CHECK_UINT(span.count, 0);
    next_is_none(&timeline);
    frames_record(recorder, builder, 0, 5);
    span_is(&timeline, 0, 4);
    at_is(&timeline, UINT64_MAX, builder, 4);
    next_is_none(&timeline);
    frames_record(recorder, builder, 5, 7);
    next_is(&timeline, builder, 5);
    next_is(&timeline, builder, 6);
    span_is(&timeline, 0, 6);
    CHECK_INT(recorder_close(recorder, &error), 0);
    previous_is(&timeline, builder, 5);
    timeline_close(&timeline);
    vitals_builder_free(builder);
    record_world_close(&world);
}

static void put_mark(struct recorder *recorder, const char *name, bool begins, uint64_t second)
{
    const vitals_mark mark = {.begins = begins,
                              .name = name,
                              .monotonic_ns = UINT64_C(5000000000) + second * SECOND_NS,
                              .pid = 71,
                              .tid = 71,
                              .told = 1};
    vitals_error error;
    CHECK_INT(recorder_mark(recorder, &mark, &error), 0);
}

static void phases_are_found_by_their_time(void)
{
    struct record_world world;
    vitals_error error;
    uint64_t moment = 0;
    size_t count = 9;
    if (!can_record())
        return;
    record_world_open(&world, "a.db");
    struct recorder *recorder = record_open(&world, NULL);
    struct timeline timeline = open_timeline(world.path);
    CHECK(timeline_phase_at(&timeline, frame_moment(3)) == NULL);
    CHECK_FALSE(timeline_nearest_mark(&timeline, frame_moment(0), 1, &moment));
    record_samples(recorder, 0, 1);
    put_mark(recorder, "outer", true, 2);
    put_mark(recorder, "inner", true, 4);
    put_mark(recorder, "inner", false, 6);
    record_samples(recorder, 1, 8);
    CHECK_STR(timeline_phase_at(&timeline, frame_moment(3))->name, "outer");
    CHECK_STR(timeline_phase_at(&timeline, frame_moment(5))->name, "inner");
    CHECK_STR(timeline_phase_at(&timeline, frame_moment(7))->name, "outer");
    CHECK(timeline_phase_at(&timeline, frame_moment(1)) == NULL);
    CHECK(timeline_nearest_mark(&timeline, frame_moment(2), 1, &moment));
    CHECK_UINT(moment, frame_moment(4));
    CHECK_FALSE(timeline_nearest_mark(&timeline, frame_moment(6), 1, &moment));
    CHECK(timeline_nearest_mark(&timeline, frame_moment(100), -1, &moment));
    CHECK_UINT(moment, frame_moment(6));
    CHECK_FALSE(timeline_nearest_mark(&timeline, frame_moment(2), -1, &moment));
    put_mark(recorder, "outer", false, 8);
    CHECK_INT(recorder_close(recorder, &error), 0);
    CHECK(timeline_phase_at(&timeline, frame_moment(9)) == NULL);
    (void)timeline.phases(timeline.data, &count);
    CHECK_UINT(count, 2);
    timeline_close(&timeline);
    record_world_close(&world);
}

static void a_file_without_snapshots_says_what_to_do(void)
{
    static const struct {
        const char *name, *text, *says;
    } FILES[] = {{"a.csv", "time,mark,cpu_cores\n1,,2\n", "vitals report shows"},
                 {"a.json", "{\"schema\":1,\"figures\":[]}\n", "vitals report shows"},
                 {"a.json", "", "is empty"},
                 {"a.json", "{\"a\":{}}\n", "nor a recording"},
                 {"a.bin",
                  "\x7f"
                  "ELF",
                  "no"},
                 {"a.txt", "root:x:0:0:root:/root:/bin/sh\n", "not a recording"}};
    struct timeline timeline = {.data = NULL};
    vitals_error error;
    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
        struct record_world world;
        if (strstr(FILES[i].name, ".json") != NULL && !can_read())
            continue;
        record_world_open(&world, FILES[i].name);
        record_put_text(&world, FILES[i].text, strlen(FILES[i].text));
        CHECK(timeline_open(world.path, &timeline, &error) < 0);
        CHECK_CONTAINS(error.message, FILES[i].says);
        CHECK_CONTAINS(error.message, world.path);
        record_world_close(&world);
    }
    CHECK_INT(timeline_open("-", &timeline, &error), VITALS_EUNSUPPORTED);
    CHECK_CONTAINS(error.message, "write it to a file");
    CHECK_INT(timeline_open("/nowhere/a.db", &timeline, &error), VITALS_EGONE);
}

static void a_newer_form_is_refused(void)
{
#if VITALS_WITH_SQLITE
    struct record_world world;
    struct timeline timeline = {.data = NULL};
    struct feed feed = {.data = NULL};
    sqlite3 *database = NULL;
    vitals_error error;
    if (!can_record())
        return;
    record_world_open(&world, "a.db");
    vitals_builder *builder = new_builder();
    frames_write(&world, builder, 2);
    CHECK_INT(database_open(world.path, DATABASE_WRITE, false, &database, &error), 0);
    CHECK_INT(database_run(database, world.path, "PRAGMA user_version=9", &error), 0);
    (void)sqlite3_close_v2(database);
    CHECK_INT(timeline_open(world.path, &timeline, &error), VITALS_EUNSUPPORTED);
    CHECK_CONTAINS(error.message, "newer vitals");
    CHECK_INT(recording_feed(world.path, &feed, &error), VITALS_EUNSUPPORTED);
    CHECK_CONTAINS(error.message, "newer vitals");
    vitals_builder_free(builder);
    record_world_close(&world);
#endif
}

/* ---- files of JSON ---- */

/* --rotate during a replay. */
static void a_recording_that_was_rotated_ends(void)
{
    struct record_world world;
    vitals_error error;
    char moved[300];
    if (!can_record())
        return;
    record_world_open(&world, "a.db");
    (void)snprintf(moved, sizeof moved, "%s.1", world.path);
    vitals_builder *builder = new_builder();
    struct recorder *recorder = frames_recorder(&world);
    frames_record(recorder, builder, 0, 5);
    CHECK_INT(recorder_close(recorder, &error), 0);
    struct timeline timeline = open_timeline(world.path);
    at_is(&timeline, UINT64_MAX, builder, 4);
    next_is_none(&timeline);
    CHECK_STR(timeline.problem(timeline.data), "");
    CHECK_INT(rename(world.path, moved), 0);
    recorder = frames_recorder(&world);
    vitals_snapshot *none = NULL;
    CHECK_INT(timeline.next(timeline.data, &none, &error), VITALS_EGONE);
    CHECK_CONTAINS(error.message, "rotated");
    CHECK_INT(timeline.previous(timeline.data, &none, &error), VITALS_EGONE);
    CHECK_INT(timeline.at(timeline.data, 0, &none, &error), VITALS_EGONE);
    CHECK_INT(recorder_close(recorder, &error), 0);
    timeline_close(&timeline);
    vitals_builder_free(builder);
    record_world_close(&world);
}

static void put_json(FILE *file, vitals_builder *builder, uint64_t number)
{
    static char json[64 * 1024];
    vitals_snapshot *snapshot = make_snapshot(builder, number);
    json[0] = '\0';
    CHECK_INT(vitals_snapshot_json(snapshot, frame_append, json, NULL), 0);
    CHECK(fputs(json, file) >= 0 && putc('\n', file) == '\n');
    vitals_snapshot_unref(snapshot);
}

static void lines_of_json_are_walked_and_followed(void)
{
    struct record_world world;
    if (!can_read())
        return;
    record_world_open(&world, "a.json");
    vitals_builder *builder = new_builder();
    FILE *file = fopen(world.path, "w");
    CHECK_NOT_NULL(file);
    for (uint64_t i = 0; i < 100; i++)
        put_json(file, builder, i);
    (void)fputs("{\"schema\":", file);
    CHECK_INT(fflush(file), 0);
    struct timeline timeline = open_timeline(world.path);
    check_walks(&timeline, builder, 0, 99);
    CHECK_INT(fseek(file, -10, SEEK_END), 0);
    put_json(file, builder, 100);
    CHECK_INT(fflush(file), 0);
    next_is(&timeline, builder, 100);
    span_is(&timeline, 0, 100);
    CHECK_INT(fclose(file), 0);
    timeline_close(&timeline);
    vitals_builder_free(builder);
    record_world_close(&world);
}

static void what_is_broken_is_passed_over_and_said(void)
{
    struct record_world world;
    if (!can_read())
        return;
    record_world_open(&world, "a.json");
    vitals_builder *builder = new_builder();
    FILE *file = fopen(world.path, "w");
    CHECK_NOT_NULL(file);
    put_json(file, builder, 0);
    (void)fprintf(file, "{\"realtime_ns\":\"%llu\"}\n", (unsigned long long)frame_moment(1));
    put_json(file, builder, 2);
    (void)fputs("end\n", file);
    CHECK_INT(fclose(file), 0);
    struct timeline timeline = open_timeline(world.path);
    at_is(&timeline, frame_moment(1), builder, 2);
    previous_is(&timeline, builder, 0);
    previous_is_none(&timeline);
    next_is(&timeline, builder, 2);
    next_is_none(&timeline);
    CHECK_CONTAINS(timeline.problem(timeline.data), "some of its snapshots cannot be read");
    CHECK_CONTAINS(timeline.problem(timeline.data), "after its last snapshot");
    timeline_close(&timeline);
    vitals_builder_free(builder);
    record_world_close(&world);
}

/* No call takes long while thousands are skipped: each tries some, and the next goes on. */
static void of_many_that_are_broken_some_are_tried_at_once(void)
{
    enum { BROKEN = 40 };
    struct record_world world;
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    if (!can_read())
        return;
    record_world_open(&world, "a.json");
    vitals_builder *builder = new_builder();
    FILE *file = fopen(world.path, "w");
    CHECK_NOT_NULL(file);
    put_json(file, builder, 0);
    for (uint64_t i = 1; i <= BROKEN; i++)
        (void)fprintf(file, "{\"realtime_ns\":\"%llu\"}\n", (unsigned long long)frame_moment(i));
    put_json(file, builder, BROKEN + 1);
    CHECK_INT(fclose(file), 0);
    struct timeline timeline = open_timeline(world.path);
    at_is(&timeline, 0, builder, 0);
    int tries = 0, code;
    while ((code = timeline.next(timeline.data, &snapshot, &error)) == VITALS_EFORMAT)
        tries++;
    CHECK_INT(tries, 2);
    gives(code, snapshot, &error, builder, BROKEN + 1);
    timeline_close(&timeline);
    vitals_builder_free(builder);
    record_world_close(&world);
}

/* In the midst of a file. It goes on as it was written. */
static void a_clock_that_was_set_back(void)
{
    static const uint64_t ORDER[] = {5, 6, 7, 1, 2, 3};
    struct record_world world;
    struct timeline_span span;
    vitals_error error;
    if (!can_read())
        return;
    record_world_open(&world, "a.json");
    vitals_builder *builder = new_builder();
    FILE *file = fopen(world.path, "w");
    CHECK_NOT_NULL(file);
    for (size_t i = 0; i < CHECK_COUNT(ORDER); i++)
        put_json(file, builder, ORDER[i]);
    CHECK_INT(fclose(file), 0);
    struct timeline timeline = open_timeline(world.path);
    CHECK_INT(timeline.span(timeline.data, &span, &error), 0);
    CHECK_UINT(span.first_ns, frame_moment(1));
    CHECK_UINT(span.last_ns, frame_moment(7));
    at_is(&timeline, 0, builder, 5);
    int64_t place = timeline.place(timeline.data);
    for (size_t i = 1; i < CHECK_COUNT(ORDER); i++)
        next_is(&timeline, builder, ORDER[i]);
    next_is_none(&timeline);
    at_is(&timeline, UINT64_MAX, builder, 3);
    at_is(&timeline, frame_moment(6), builder, 6);
    at_is(&timeline, frame_moment(2), builder, 2);
    timeline.stand(timeline.data, place);
    next_is(&timeline, builder, 6);
    timeline_close(&timeline);
    vitals_builder_free(builder);
    record_world_close(&world);
}

/* ---- what a monitor keeps ---- */

static void keep(struct history_ring *ring, vitals_builder *builder, uint64_t from, uint64_t to)
{
    vitals_error error = {.message = ""};
    for (uint64_t i = from; i < to; i++) {
        vitals_snapshot *snapshot = make_snapshot(builder, i);
        CHECK_INT(history_ring_add(ring, snapshot, &error), 0);
        vitals_snapshot_unref(snapshot);
    }
}

static struct history_ring *new_ring(const struct history_ring_options *options)
{
    struct history_ring *ring = NULL;
    CHECK_INT(history_ring_new(options, &ring, NULL), 0);
    return ring;
}

static void check_ring(const struct history_ring_options *options)
{
    vitals_builder *builder = new_builder();
    struct history_ring *ring = new_ring(options);
    struct timeline timeline = {.data = NULL};
    vitals_error error;
    CHECK_INT(history_ring_timeline(ring, &timeline, &error), 0);
    next_is_none(&timeline);
    previous_is_none(&timeline);
    keep(ring, builder, 0, 200);
    check_walks(&timeline, builder, 0, 199);
    CHECK(history_ring_size(ring) > 0);
    timeline_close(&timeline);
    history_ring_free(ring);
    vitals_builder_free(builder);
}

static void a_ring_gives_back_what_it_was_given(void)
{
    if (!can_read())
        return;
    check_ring(&(struct history_ring_options){.folder = "/tmp"});
    check_ring(&(struct history_ring_options){.folder = NULL});
}

/* However small the room and whatever falls out: what is left comes back, and it is the newest. */
static void the_oldest_fall_out(void)
{
    static const uint64_t ROOMS[] = {3000, 20000, 100003};
    if (!can_read())
        return;
    vitals_builder *builder = new_builder();
    for (size_t i = 0; i < sizeof ROOMS / sizeof ROOMS[0]; i++) {
        struct history_ring *ring = new_ring(&(struct history_ring_options){
            .folder = i % 2 == 0 ? "/tmp" : NULL, .most_bytes = ROOMS[i], .most_memory = ROOMS[i]});
        struct timeline timeline = {.data = NULL};
        struct timeline_span span;
        vitals_error error;
        CHECK_INT(history_ring_timeline(ring, &timeline, &error), 0);
        for (uint64_t count = 0; count < 1000; count++) {
            keep(ring, builder, count, count + 1);
            CHECK_INT(timeline.span(timeline.data, &span, &error), 0);
            CHECK_UINT(span.last_ns, frame_moment(count));
            CHECK(span.count >= 1 && history_ring_size(ring) <= ROOMS[i]);
            uint64_t first = count + 1 - span.count;
            CHECK_UINT(span.first_ns, frame_moment(first));
            if (count % 9 == 0)
                at_is(&timeline, frame_moment(first), builder, first);
            if (count % 7 == 0)
                at_is(&timeline, frame_moment(first + span.count / 2), builder,
                      first + span.count / 2);
        }
        CHECK(span.count < 1000);
        timeline_close(&timeline);
        history_ring_free(ring);
    }
    vitals_builder_free(builder);
}

static void a_ring_forgets_what_is_too_old(void)
{
    struct timeline_span span;
    vitals_error error;
    if (!can_read())
        return;
    vitals_builder *builder = new_builder();
    struct history_ring *ring = new_ring(
        &(struct history_ring_options){.folder = NULL, .most_ns = 100 * SECOND_NS});
    struct timeline timeline = {.data = NULL};
    CHECK_INT(history_ring_timeline(ring, &timeline, &error), 0);
    keep(ring, builder, 0, 1000);
    CHECK_INT(timeline.span(timeline.data, &span, &error), 0);
    CHECK_UINT(span.last_ns, frame_moment(999));
    CHECK(span.count > 30 && span.count <= 101);
    uint64_t hundred = history_ring_size(ring);
    keep(ring, builder, 5000, 5002);
    CHECK(history_ring_size(ring) > 0 &&
          history_ring_size(ring) < hundred / 4); /* what has gone, too */
    timeline_close(&timeline);
    history_ring_free(ring);
    vitals_builder_free(builder);
}

static void a_ring_without_a_folder_says_so(void)
{
    if (!can_read())
        return;
    vitals_builder *builder = new_builder();
    struct history_ring *ring = new_ring(
        &(struct history_ring_options){.folder = "/nowhere/at/all"});
    CHECK_CONTAINS(history_ring_problem(ring), "/nowhere/at/all: No such file");
    CHECK_CONTAINS(history_ring_problem(ring), "kept in memory");
    keep(ring, builder, 0, 3);
    history_ring_free(ring);
    vitals_builder_free(builder);
}

/* The disk is full (or the file may not grow further): the newest are kept, and it is said. */
static void a_full_disk_keeps_less(void)
{
    static const uint64_t LIMITS[] = {30000, 3000};
    struct rlimit old;
    if (!can_read())
        return;
    vitals_builder *builder = new_builder();
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &old), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof LIMITS / sizeof LIMITS[0]; i++) {
        struct history_ring *ring = new_ring(
            &(struct history_ring_options){.folder = "/tmp", .most_memory = 20000});
        struct rlimit low = {LIMITS[i], old.rlim_max};
        struct timeline timeline = {.data = NULL};
        struct timeline_span span = {.count = 0};
        vitals_error error;
        CHECK_INT(history_ring_timeline(ring, &timeline, &error), 0);
        CHECK_INT(setrlimit(RLIMIT_FSIZE, &low), 0);
        keep(ring, builder, 0, 320);
        CHECK_INT(setrlimit(RLIMIT_FSIZE, &old), 0);
        CHECK_CONTAINS(history_ring_problem(ring),
                       i == 0 ? "history is shorter" : "kept in memory");
        at_is(&timeline, UINT64_MAX, builder, 319);
        previous_is(&timeline, builder, 318);
        CHECK_INT(timeline.span(timeline.data, &span, &error), 0);
        CHECK(span.count > 1 && span.count < 320);
        timeline_close(&timeline);
        history_ring_free(ring);
    }
    vitals_builder_free(builder);
}

/* A file that may not hold a single one. */
static void without_room_in_a_file_it_is_kept_in_memory(void)
{
    struct rlimit old;
    if (!can_read())
        return;
    vitals_builder *builder = new_builder();
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &old), 0);
    struct rlimit low = {0, old.rlim_max};
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &low), 0);
    struct history_ring *ring = new_ring(&(struct history_ring_options){.folder = "/tmp"});
    struct timeline timeline = {.data = NULL};
    vitals_error error;
    CHECK_INT(history_ring_timeline(ring, &timeline, &error), 0);
    keep(ring, builder, 0, 3);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &old), 0);
    CHECK_CONTAINS(history_ring_problem(ring), "kept in memory");
    at_is(&timeline, UINT64_MAX, builder, 2);
    timeline_close(&timeline);
    history_ring_free(ring);
    vitals_builder_free(builder);
}

static const check_test tests[] = {
    {"snapshots come back byte for byte", snapshots_come_back_byte_for_byte},
    {"a recording is walked forth and back", a_recording_is_walked_forth_and_back},
    {"a recording that grows is followed", a_recording_that_grows_is_followed},
    {"a recording that was rotated ends", a_recording_that_was_rotated_ends},
    {"phases are found by their time", phases_are_found_by_their_time},
    {"a file without snapshots says what to do", a_file_without_snapshots_says_what_to_do},
    {"a newer form is refused", a_newer_form_is_refused},
    {"lines of JSON are walked and followed", lines_of_json_are_walked_and_followed},
    {"what is broken is passed over and said", what_is_broken_is_passed_over_and_said},
    {"of many that are broken some are tried at once",
     of_many_that_are_broken_some_are_tried_at_once},
    {"a clock that was set back", a_clock_that_was_set_back},
    {"a ring gives back what it was given", a_ring_gives_back_what_it_was_given},
    {"the oldest fall out", the_oldest_fall_out},
    {"a ring forgets what is too old", a_ring_forgets_what_is_too_old},
    {"a ring without a folder says so", a_ring_without_a_folder_says_so},
    {"a full disk keeps less", a_full_disk_keeps_less},
    {"without room in a file it is kept in memory", without_room_in_a_file_it_is_kept_in_memory},
};
CHECK_TESTS(tests)
