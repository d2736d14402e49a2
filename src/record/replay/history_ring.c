/* history_ring.c: see history_ring.h.
 *
 * Frames are stored one after the other in a ring of bytes, none across its end; their places are
 * in a ring of places. A key is dropped together with the frames that depend on it. */
#include "record/replay/history_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "record/error.h"
#include "record/frame/frame.h"
#include "util/base.h"
#include "util/file.h"

enum { PLACES_FIRST = 256, PLACES_MAX = 65536, FILE_BYTES = 64 << 20, MEMORY_BYTES = 2 << 20 };
enum { PLAIN_MAX = 4096 }; /* bytes of a frame that is not worth deflating */

static const char KEPT[] = "what is kept"; /* names the ring in messages */

/* Where a frame lies. */
struct ring_place {
    uint64_t realtime_ns, offset;
    uint32_t size;
    uint16_t back;     /* number of frames back to its key; 0: whole */
    uint16_t encoding; /* enum frame_encoding */
};
_Static_assert(sizeof(struct ring_place) == 24, "a place is small");

struct history_ring {
    struct frame_encoder encoder;
    uint64_t most_ns, most_memory;

    struct ring_place *places; /* of frame N: N % capacity */
    size_t capacity;
    int64_t first, next; /* numbers of the oldest frame and of the next */
    int64_t key;         /* of the next */

    history_ring_read *read;
    int descriptor;  /* -1: in memory */
    char *memory;    /* NULL: in the file */
    uint64_t room;   /* bytes of the ring */
    uint64_t at;     /* where the next frame goes */
    uint64_t extent; /* the highest byte ever written */
    uint64_t used;   /* bytes of the stored frames */
    char problem[VITALS_ERROR_MESSAGE];
};

static struct ring_place *place_of(const struct history_ring *ring, int64_t number)
{
    return &ring->places[(uint64_t)number % ring->capacity];
}

/* ---- making room ---- */

/* Drops the oldest frame, and those that depend on it. */
static void drop_oldest(struct history_ring *ring)
{
    do
        ring->used -= place_of(ring, ring->first++)->size;
    while (ring->first < ring->next && place_of(ring, ring->first)->back != 0);
}

static bool any(const struct history_ring *ring)
{
    return ring->first < ring->next;
}

/* Drops frames until `size` bytes are free at `at`. The oldest frames follow `at`, up to the end of
 * the ring, then from its beginning. */
static void make_room(struct history_ring *ring, size_t size)
{
    if (ring->at + size > ring->room) {
        while (any(ring) && place_of(ring, ring->first)->offset >= ring->at)
            drop_oldest(ring);
        ring->at = 0;
    }
    while (any(ring)) {
        const struct ring_place *oldest = place_of(ring, ring->first);
        if (oldest->offset < ring->at || oldest->offset >= ring->at + size)
            break;
        drop_oldest(ring);
    }
}

/* Doubles the places; each is at its number modulo the capacity. */
static bool grow_places(struct history_ring *ring)
{
    if ((size_t)(ring->next - ring->first) < ring->capacity)
        return true;
    if (ring->capacity == PLACES_MAX) {
        drop_oldest(ring);
        return true;
    }
    size_t capacity = ring->capacity * 2;
    struct ring_place *places = malloc(capacity * sizeof *places);
    if (places == NULL)
        return false;
    for (int64_t number = ring->first; number < ring->next; number++)
        places[(uint64_t)number % capacity] = *place_of(ring, number);
    free(ring->places);
    ring->places = places;
    ring->capacity = capacity;
    return true;
}

/* ---- where bytes are ---- */

static void say(struct history_ring *ring, const char *folder, int number, const char *then)
{
    vitals_error error;
    (void)record_fail(VITALS_ESYSTEM, folder, &error, "%s; %s", strerror(number), then);
    (void)snprintf(ring->problem, sizeof ring->problem, "%s", error.message);
}

static bool use_memory(struct history_ring *ring)
{
    if (ring->descriptor >= 0)
        close(ring->descriptor);
    ring->descriptor = -1;
    ring->first = ring->next;
    ring->at = ring->extent = ring->used = 0;
    frame_encoder_begin_anew(&ring->encoder);

    ring->room = ring->most_memory;
    ring->memory = malloc(ring->room);
    return ring->memory != NULL;
}

/* Returns 0 or an errno. */
static int put(struct history_ring *ring, const struct frame *frame)
{
    if (ring->memory != NULL)
        memcpy(ring->memory + ring->at, frame->content, frame->size);
    else if (!file_write_at(ring->descriptor, frame->content, frame->size, ring->at))
        return errno;
    ring->extent = uint64_max(ring->extent, ring->at + frame->size);
    return 0;
}

/* Opens a file without a name, which ends with this process. Returns -1 with errno. */
static int open_unlinked(const char *folder)
{
    char path[4096];
    int descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return descriptor;
    if ((size_t)snprintf(path, sizeof path, "%s/vitals-XXXXXX", folder) >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    descriptor = mkostemp(path, O_CLOEXEC);
    if (descriptor >= 0)
        (void)unlink(path);
    return descriptor;
}

/* ---- adding ---- */

static int refuse(struct history_ring *ring, vitals_error *error, const char *why)
{
    frame_encoder_begin_anew(&ring->encoder);
    return record_fail(VITALS_EMEMORY, "snapshot", error, "%s", why);
}

static int add(struct history_ring *ring, const vitals_snapshot *snapshot, int *number,
               vitals_error *error)
{
    struct frame frame;
    uint64_t realtime_ns = vitals_snapshot_realtime_ns(snapshot);
    *number = 0;
    while (ring->most_ns != 0 && any(ring)) {
        uint64_t then_ns = place_of(ring, ring->first)->realtime_ns;
        if (then_ns > realtime_ns || realtime_ns - then_ns <= ring->most_ns)
            break;
        drop_oldest(ring);
    }
    if (!grow_places(ring))
        return refuse(ring, error, "out of memory");

    /* If making room drops the key of the frame, the snapshot is encoded again, whole. */
    for (;;) {
        int code = frame_encode(&ring->encoder, snapshot, &frame, error);
        if (code < 0)
            return code;
        make_room(ring, frame.size);
        if (frame.whole)
            ring->key = ring->next;
        if (ring->key >= ring->first)
            break;
        frame_encoder_begin_anew(&ring->encoder);
    }
    if (frame.size > ring->room)
        return refuse(ring, error, "is larger than the history may be");
    *number = put(ring, &frame);
    if (*number != 0)
        return refuse(ring, error, strerror(*number));
    *place_of(ring, ring->next) = (struct ring_place){.realtime_ns = realtime_ns,
                                                      .offset = ring->at,
                                                      .size = (uint32_t)frame.size,
                                                      .back = (uint16_t)(ring->next - ring->key),
                                                      .encoding = (uint16_t)frame.encoding};
    ring->next++;
    ring->at += frame.size;
    ring->used += frame.size;
    return 0;
}

int history_ring_add(struct history_ring *ring, const vitals_snapshot *snapshot,
                     vitals_error *error)
{
    int number, code = add(ring, snapshot, &number, error);
    if (number != 0 && ring->extent >= ring->most_memory && ring->extent < ring->room) {
        say(ring, KEPT, number, "the history is shorter");
        ring->room = ring->extent;
        code = add(ring, snapshot, &number, error);
    }
    if (number == 0)
        return code;
    say(ring, KEPT, number, "the history is kept in memory");
    if (!use_memory(ring))
        return refuse(ring, error, "out of memory");
    return add(ring, snapshot, &number, error);
}

/* ---- the whole ---- */

int history_ring_new(const struct history_ring_options *options, struct history_ring **out,
                     vitals_error *error)
{
    struct history_ring *ring = calloc(1, sizeof *ring);
    if (ring == NULL)
        return record_no_memory("snapshots", error);
    ring->descriptor = -1;
    ring->encoder.plain_max = PLAIN_MAX;
    ring->read = options->read != NULL ? options->read : pread;
    ring->most_ns = options->most_ns;
    ring->most_memory = options->most_memory > 0 ? options->most_memory : MEMORY_BYTES;
    ring->room = options->most_bytes > 0 ? options->most_bytes : FILE_BYTES;
    ring->capacity = PLACES_FIRST;
    ring->places = malloc(ring->capacity * sizeof *ring->places);

    /* A write beyond the limit of a file's size would be answered by a signal. */
    struct rlimit limit;
    bool small = false;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur < ring->room) {
        ring->room = limit.rlim_cur;
        small = ring->room < ring->most_memory;
    }

    bool opened = ring->places != NULL;
    if (opened && options->folder != NULL && !small)
        ring->descriptor = open_unlinked(options->folder);
    if (opened && ring->descriptor < 0) {
        if (options->folder != NULL)
            say(ring, options->folder, small ? EFBIG : errno, "the history is kept in memory");
        opened = use_memory(ring);
    }
    if (!opened) {
        history_ring_free(ring);
        return record_no_memory("snapshots", error);
    }
    *out = ring;
    return 0;
}

void history_ring_free(struct history_ring *ring)
{
    if (ring == NULL)
        return;
    if (ring->descriptor >= 0)
        close(ring->descriptor);
    frame_encoder_done(&ring->encoder);
    free(ring->memory);
    free(ring->places);
    free(ring);
}

const char *history_ring_problem(const struct history_ring *ring)
{
    return ring->problem;
}

uint64_t history_ring_size(const struct history_ring *ring)
{
    return ring->used;
}

/* ---- looking back ---- */

struct ring_timeline {
    struct timeline_state state;
    struct history_ring *ring;
    struct frame_decoder decoder;
    struct buffer content; /* of a frame from the file */
};

static int span(void *data, struct timeline_span *out, vitals_error *error UNUSED)
{
    const struct history_ring *ring = ((struct ring_timeline *)data)->ring;
    *out = (struct timeline_span){.count = (uint64_t)(ring->next - ring->first)};
    out->first_ns = any(ring) ? UINT64_MAX : 0;
    for (int64_t number = ring->first; number < ring->next; number++)
        timeline_widen(out, place_of(ring, number)->realtime_ns);
    return 0;
}

/* The content of the frame is borrowed until the next call. */
static int fetch(struct ring_timeline *timeline, int64_t number, struct frame *out,
                 vitals_error *error)
{
    const struct history_ring *ring = timeline->ring;
    const struct ring_place *place = place_of(ring, number);
    *out = (struct frame){.whole = place->back == 0,
                          .encoding = (enum frame_encoding)place->encoding,
                          .size = place->size};
    if (ring->memory != NULL) {
        out->content = ring->memory + place->offset;
        return 0;
    }

    buffer_reset(&timeline->content);
    char *content = buffer_reserve(&timeline->content, place->size);
    if (content == NULL)
        return record_no_memory(KEPT, error);
    for (size_t done = 0; done < place->size;) {
        ssize_t got = ring->read(ring->descriptor, content + done, place->size - done,
                                 (off_t)(place->offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return record_fail_errno(got < 0 ? errno : EIO, KEPT, error);
        done += (size_t)got;
    }
    out->content = content;
    return 0;
}

static int read_frame(void *data, int64_t number, vitals_snapshot **out, vitals_error *error)
{
    struct ring_timeline *timeline = data;
    struct frame frame;
    int64_t key = number - place_of(timeline->ring, number)->back;
    int code = 0;
    if (key != number && !frame_decoder_has_key(&timeline->decoder, key)) {
        code = fetch(timeline, key, &frame, error);
        if (code == 0)
            code = frame_decode_key(&timeline->decoder, key, &frame, KEPT, error);
    }
    if (code == 0)
        code = fetch(timeline, number, &frame, error);
    return code < 0 ? code : frame_decode(&timeline->decoder, number, &frame, KEPT, out, error);
}

static int find(void *data, enum timeline_place place, int64_t argument, int64_t *number,
                vitals_error *error UNUSED)
{
    const struct history_ring *ring = ((struct ring_timeline *)data)->ring;
    int64_t found = -1;
    uint64_t found_ns = 0;
    if (place == TIMELINE_AFTER)
        found = argument < ring->first ? ring->first : argument + 1;
    else if (place == TIMELINE_BEFORE)
        found = (argument < ring->next ? argument : ring->next) - 1;
    for (int64_t i = ring->first; place == TIMELINE_UNTIL_TIME && i < ring->next; i++) {
        uint64_t then_ns = place_of(ring, i)->realtime_ns;
        if (then_ns > (uint64_t)argument || then_ns < found_ns)
            continue;
        found = i;
        found_ns = then_ns;
    }
    if (found < ring->first || found >= ring->next)
        return 0;
    *number = found;
    return 1;
}

static const struct timeline_store STORE = {find, read_frame};

static const char *problem(void *data)
{
    return history_ring_problem(((struct ring_timeline *)data)->ring);
}

static void close_timeline(void *data)
{
    struct ring_timeline *timeline = data;
    frame_decoder_done(&timeline->decoder);
    buffer_done(&timeline->content);
    free(timeline);
}

int history_ring_timeline(struct history_ring *ring, struct timeline *out, vitals_error *error)
{
    struct ring_timeline *timeline = calloc(1, sizeof *timeline);
    if (timeline == NULL)
        return record_no_memory(KEPT, error);
    timeline->ring = ring;
    timeline->state.store = &STORE;
    *out = timeline_over(&timeline->state);
    out->span = span;
    out->problem = problem;
    out->close = close_timeline;
    return 0;
}
