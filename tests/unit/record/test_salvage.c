/* Recordings that were cut off or have broken pages: what is whole comes back, and is said. */
#include "frames_world.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "record/sqlite/database.h"
#include "record/sqlite/pages.h"

#if VITALS_WITH_SQLITE && VITALS_WITH_JANSSON

enum { SAMPLES = 100, PAGE = 4096 };

struct whole {
    struct record_world world;
    vitals_builder *builder;
    char *bytes;
    size_t size;
};

/* Samples, snapshots, phases and an attribute; no account, so that one is made of what is left. */
static void make_whole(struct whole *whole)
{
    vitals_error error;
    struct stat status;
    *whole = (struct whole){.size = 0};
    record_world_open(&whole->world, "a.db");
    CHECK_INT(vitals_builder_new(&whole->builder, &error), 0);
    struct recorder *recorder = frames_recorder(&whole->world);
    CHECK_INT(recorder_attribute(recorder, "command", (vitals_text){"true", 4}, &error), 0);
    frames_record(recorder, whole->builder, 0, 1);
    const vitals_mark mark = {.begins = 1, .name = "early", .monotonic_ns = 5000000000, .pid = 7};
    CHECK_INT(recorder_mark(recorder, &mark, &error), 0);
    frames_record(recorder, whole->builder, 1, SAMPLES);
    CHECK_INT(recorder_close(recorder, &error), 0);
    CHECK_INT(stat(whole->world.path, &status), 0);
    whole->size = (size_t)status.st_size;
    whole->bytes = malloc(whole->size);
    FILE *file = fopen(whole->world.path, "rb");
    CHECK_NOT_NULL(file);
    CHECK_UINT(fread(whole->bytes, 1, whole->size, file), whole->size);
    (void)fclose(file);
}

static void free_whole(struct whole *whole)
{
    free(whole->bytes);
    vitals_builder_free(whole->builder);
    record_world_close(&whole->world);
}

/* Which snapshots a feed gives: each whole, in their order. How many. */
static size_t count_feed(const struct whole *whole)
{
    struct feed feed = {.data = NULL};
    vitals_snapshot *snapshot = NULL;
    vitals_error error = {.message = ""};
    size_t count = 0;
    uint64_t before = 0;
    if (recording_feed(whole->world.path, &feed, &error) < 0) {
        CHECK_CONTAINS(error.message, whole->world.path);
        return 0;
    }
    while (feed.next(feed.data, &snapshot, &error) == 1) {
        uint64_t moment = vitals_snapshot_realtime_ns(snapshot);
        CHECK(moment > before);
        before = moment;
        is_snapshot(snapshot, whole->builder, (moment - FRAMES_BEGIN_NS) / SECOND_NS);
        count++;
    }
    feed_close(&feed);
    return count;
}

/* How many samples a recording has, each as it was; 0 where it cannot be read. */
static size_t count_samples(const struct whole *whole)
{
    struct recording *recording = NULL;
    vitals_error error = {.message = ""};
    if (recording_open(whole->world.path, &recording, &error) < 0) {
        CHECK_CONTAINS(error.message, whole->world.path);
        return 0;
    }
    CHECK(recording_problem(recording)[0] != '\0');
    const struct series *memory = recording_find(recording, "memory_pss_bytes", "");
    size_t count = memory != NULL ? memory->count : 0;
    for (size_t i = 0; i < count; i++) {
        double number = memory->seconds[i] - RECORD_BEGIN_SECONDS;
        CHECK_NEAR(memory->values[i], (100 + number) * 1048576, 1);
    }
    recording_close(recording);
    return count;
}

/* Each size: what was whole before the cut is there, and one that is longer has no less. */
static void a_cut_costs_what_is_behind_it(void)
{
    struct whole whole;
    size_t samples = 0, snapshots = 0;
    make_whole(&whole);
    for (size_t size = 0; size < whole.size; size += whole.size / 31) {
        record_put_text(&whole.world, whole.bytes, size);
        size_t now_samples = count_samples(&whole), now_snapshots = count_feed(&whole);
        CHECK(now_samples >= samples && now_snapshots >= snapshots);
        samples = now_samples;
        snapshots = now_snapshots;
        /* what came first may have moved behind what came later, but not far */
        if (size > whole.size / 4 * 3)
            CHECK(samples > SAMPLES / 3 && snapshots > SAMPLES / 3);
    }
    CHECK(samples >= SAMPLES - 5);
    free_whole(&whole);
}

static void a_cut_file_is_walked_and_says_so(void)
{
    struct whole whole;
    struct timeline timeline = {.data = NULL};
    struct timeline_span span;
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    make_whole(&whole);
    record_put_text(&whole.world, whole.bytes, whole.size / 4 * 3);
    CHECK_CONTAINS(recording_feed_problem(whole.world.path), "cut off");
    CHECK_INT(timeline_open(whole.world.path, &timeline, &error), 0);
    CHECK_CONTAINS(timeline.problem(timeline.data), "cut off");
    CHECK_INT(timeline.span(timeline.data, &span, &error), 0);
    CHECK(span.count > SAMPLES / 3 && span.count < SAMPLES);
    CHECK_UINT(span.first_ns, frame_moment(0));
    CHECK_INT(timeline.at(timeline.data, UINT64_MAX, &snapshot, &error), 1);
    CHECK_UINT(vitals_snapshot_realtime_ns(snapshot), span.last_ns);
    vitals_snapshot_unref(snapshot);
    CHECK_STR(timeline_phase_at(&timeline, frame_moment(3))->name, "early");
    timeline_close(&timeline);
    struct recording *recording = record_read(whole.world.path);
    CHECK_CONTAINS(recording_problem(recording), "cut off");
    CHECK_UINT(vitals_account_attribute(recording_account(recording), "command").size, 4);
    recording_close(recording);
    free_whole(&whole);
}

/* A page of nonsense costs what stood in it; the trees that go through it are done without. */
static void a_broken_page_costs_what_is_in_it(void)
{
    struct whole whole;
    make_whole(&whole);
    for (size_t at = PAGE; at + PAGE <= whole.size; at += PAGE * 2) {
        char *damaged = malloc(whole.size);
        CHECK_NOT_NULL(damaged);
        memcpy(damaged, whole.bytes, whole.size);
        memset(damaged + at, 0xA5, PAGE);
        record_put_text(&whole.world, damaged, whole.size);
        free(damaged);
        struct recording *recording = record_read(whole.world.path);
        const struct series *memory = recording_find(recording, "memory_pss_bytes", "");
        /* the page that names the columns is one */
        if (memory != NULL)
            CHECK(memory->count >= SAMPLES / 2);
        else
            CHECK_CONTAINS(recording_problem(recording), "damaged");
        recording_close(recording);
        CHECK(count_feed(&whole) >= 1);
    }
    free_whole(&whole);
}

/* A key whose page is gone takes those that are told by it along, and no other. */
static void a_timeline_passes_over_what_is_damaged(void)
{
    struct whole whole;
    size_t walked = 0, damages = 0;
    make_whole(&whole);
    for (size_t at = PAGE * 5; at + PAGE <= whole.size; at += PAGE * 7) {
        struct timeline timeline = {.data = NULL};
        vitals_snapshot *snapshot = NULL;
        vitals_error error = {.message = ""};
        char *damaged = malloc(whole.size);
        CHECK_NOT_NULL(damaged);
        memcpy(damaged, whole.bytes, whole.size);
        memset(damaged + at, 0, PAGE);
        record_put_text(&whole.world, damaged, whole.size);
        free(damaged);
        CHECK_INT(timeline_open(whole.world.path, &timeline, &error), 0);
        while (timeline.next(timeline.data, &snapshot, &error) == 1) {
            vitals_snapshot_unref(snapshot);
            walked++;
        }
        while (timeline.previous(timeline.data, &snapshot, &error) == 1)
            vitals_snapshot_unref(snapshot);
        damages++;
        timeline_close(&timeline);
    }
    CHECK(damages > 0);
    CHECK(walked > damages * SAMPLES / 2);
    free_whole(&whole);
}

#endif

/* ---- pages ---- */

struct counted {
    const char *bytes;
    size_t size, rows;
};

static bool read_counted(void *data, uint64_t offset, void *out, size_t size)
{
    const struct counted *counted = data;
    if (offset > counted->size || size > counted->size - offset)
        return false;
    memcpy(out, counted->bytes + offset, size);
    return true;
}

static void count_row(void *data, const struct page_row *row)
{
    struct counted *counted = data;
    CHECK(row->count > 0);
    CHECK(row->values[0].kind == PAGE_INTEGER);
    CHECK_INT(row->values[0].integer, -2);
    counted->rows++;
}

/* A page of 512 bytes with one row: key 3, one integer, -2. */
static void a_row_is_read_from_its_page(void)
{
    char page[1024] = "SQLite format 3";
    static const char CELL[] = {3, 3, 2, 1, (char)0xFE};
    struct counted counted = {.bytes = page, .size = sizeof page};
    const struct pages_reader reader = {
        .data = &counted, .read = read_counted, .size = sizeof page, .take = count_row};
    page[16] = 2;                                     /* 512 bytes a page */
    page[59] = 1;                                     /* UTF-8 */
    memcpy(page + 512, "\x0D\0\0\0\1\1\0\0\1\0", 10); /* a leaf, one cell, at 256 */
    memcpy(page + 512 + 256, CELL, sizeof CELL);
    CHECK(pages_scan(&reader));
    CHECK_UINT(counted.rows, 1);
    page[512 + 256] = 100; /* it says that it is longer than its page */
    page[512 + 258] = 100;
    CHECK(pages_scan(&reader));
    CHECK_UINT(counted.rows, 1);
    page[512 + 9] = (char)0xFF; /* it lies behind the page */
    page[512 + 8] = (char)0xFF;
    CHECK(pages_scan(&reader));
    CHECK_UINT(counted.rows, 1);
    page[0] = 'X';
    CHECK_FALSE(pages_scan(&reader));
}

static const check_test tests[] = {
#if VITALS_WITH_SQLITE && VITALS_WITH_JANSSON
    {"a cut costs what is behind it", a_cut_costs_what_is_behind_it},
    {"a cut file is walked and says so", a_cut_file_is_walked_and_says_so},
    {"a broken page costs what is in it", a_broken_page_costs_what_is_in_it},
    {"a timeline passes over what is damaged", a_timeline_passes_over_what_is_damaged},
#endif
    {"a row is read from its page", a_row_is_read_from_its_page},
};
CHECK_TESTS(tests)
