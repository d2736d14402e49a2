/* history_ring.c: see history_ring.h.
 *
 * Frames lie one behind the other in a ring of bytes, none across its end; where each lies stands
 * in a ring of places. A whole frame goes together with those that are told by it. */
#include "record/replay/history_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "record/frame/frame.h"
#include "record/sample.h"

enum {
    PLACES_FIRST = 256,
    PLACES_MAX = 65536,
    FILE_BYTES = 64 << 20,
    MEMORY_BYTES = 2 << 20,
    PLAIN_MAX = 4096, /* bytes of a frame: to deflate it would cost more than it saves */
};

static const char KEPT[] = "what is kept"; /* names the ring in messages */

/* Where a frame lies. */
struct place {
    uint64_t realtime_ns, offset;
    uint32_t size;
    uint16_t back;     /* so many frames before it is its key; 0: it is whole */
    uint16_t encoding; /* enum frame_encoding */
};
_Static_assert(sizeof(struct place) == 24, "a place is small");

struct keeper {
    struct frame_encoder encoder;
    uint64_t most_ns, most_memory;

    struct place *places; /* of frame N: N % capacity */
    size_t capacity;
    int64_t first, next; /* numbers: of the oldest, of the one to come */
    int64_t key;         /* of the next */

    keeper_read *read;
    int descriptor;  /* -1: in memory */
    char *memory;    /* NULL: in the file */
    uint64_t room;   /* bytes of the ring */
    bool limited;    /* by the limit of a file's size */
    uint64_t at;     /* where the next frame goes */
    uint64_t extent; /* the highest byte that was ever written */
    uint64_t used;   /* bytes of the frames that are there */
    char problem[VITALS_ERROR_MESSAGE];
};

static struct place *place_of(const struct keeper *keeper, int64_t number)
{
    return &keeper->places[(uint64_t)number % keeper->capacity];
}

/* ---- making room ---- */

/* With those that are told by it, which cannot be read without. */
static void drop_oldest(struct keeper *keeper)
{
    do
        keeper->used -= place_of(keeper, keeper->first++)->size;
    while (keeper->first < keeper->next && place_of(keeper, keeper->first)->back != 0);
}

static void drop_all(struct keeper *keeper)
{
    keeper->first = keeper->next;
    keeper->at = keeper->extent = keeper->used = 0;
    frame_encoder_begin_anew(&keeper->encoder);
}

static bool any(const struct keeper *keeper)
{
    return keeper->first < keeper->next;
}

/* The oldest lie right behind `at`, up to the end of the ring; then the others from its begin. */
static void make_room(struct keeper *keeper, size_t size)
{
    if (keeper->at + size > keeper->room) {
        while (any(keeper) && place_of(keeper, keeper->first)->offset >= keeper->at)
            drop_oldest(keeper);
        keeper->at = 0;
    }
    while (any(keeper)) {
        const struct place *oldest = place_of(keeper, keeper->first);
        if (oldest->offset < keeper->at || oldest->offset >= keeper->at + size)
            break;
        drop_oldest(keeper);
    }
}

/* Twice as many places, each where its number says. */
static bool grow_places(struct keeper *keeper)
{
    if ((size_t)(keeper->next - keeper->first) < keeper->capacity)
        return true;
    if (keeper->capacity == PLACES_MAX) {
        drop_oldest(keeper);
        return true;
    }
    size_t capacity = keeper->capacity * 2;
    struct place *places = malloc(capacity * sizeof *places);
    if (places == NULL)
        return false;
    for (int64_t number = keeper->first; number < keeper->next; number++)
        places[(uint64_t)number % capacity] = *place_of(keeper, number);
    free(keeper->places);
    keeper->places = places;
    keeper->capacity = capacity;
    return true;
}

static void forget_old(struct keeper *keeper, uint64_t realtime_ns)
{
    while (keeper->most_ns != 0 && any(keeper)) {
        uint64_t then_ns = place_of(keeper, keeper->first)->realtime_ns;
        if (then_ns > realtime_ns || realtime_ns - then_ns <= keeper->most_ns)
            break;
        drop_oldest(keeper);
    }
}

/* ---- where bytes are ---- */

static void say(struct keeper *keeper, const char *folder, int number, const char *then)
{
    vitals_error error;
    (void)record_fail(VITALS_ESYSTEM, folder, &error, "%s; %s", strerror(number), then);
    (void)snprintf(keeper->problem, sizeof keeper->problem, "%s", error.message);
}

static bool use_memory(struct keeper *keeper)
{
    if (keeper->descriptor >= 0)
        close(keeper->descriptor);
    keeper->descriptor = -1;
    drop_all(keeper);
    keeper->room = keeper->most_memory;
    keeper->memory = malloc(keeper->room);
    return keeper->memory != NULL;
}

/* 0 or an errno. */
static int write_file(int descriptor, const char *bytes, size_t size, uint64_t offset)
{
    while (size > 0) {
        ssize_t written = pwrite(descriptor, bytes, size, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : ENOSPC;
        bytes += written;
        offset += (uint64_t)written;
        size -= (size_t)written;
    }
    return 0;
}

static int put(struct keeper *keeper, const struct frame *frame)
{
    int number = 0;
    if (keeper->memory != NULL)
        memcpy(keeper->memory + keeper->at, frame->content, frame->size);
    else
        number = write_file(keeper->descriptor, frame->content, frame->size, keeper->at);
    if (number == 0 && keeper->at + frame->size > keeper->extent)
        keeper->extent = keeper->at + frame->size;
    return number;
}

/* A file that nobody else sees, and that is gone with this process. -1: errno says why. */
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

/* Beyond the limit of a file's size a write would be answered by a signal. */
static uint64_t within_limit(uint64_t bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur < bytes)
        return limit.rlim_cur;
    return bytes;
}

/* ---- adding ---- */

static int refuse(struct keeper *keeper, vitals_error *error, const char *why)
{
    frame_encoder_begin_anew(&keeper->encoder);
    return record_fail(VITALS_EMEMORY, "snapshot", error, "%s", why);
}

/* Encodes a snapshot and makes room for its frame. If that drops the key of the frame, the snapshot
 * is encoded again, whole. */
static int encode(struct keeper *keeper, const vitals_snapshot *snapshot, struct frame *frame,
                  vitals_error *error)
{
    for (;;) {
        int code = frame_encode(&keeper->encoder, snapshot, frame, error);
        if (code < 0)
            return code;
        make_room(keeper, frame->size);
        if (frame->whole)
            keeper->key = keeper->next;
        if (keeper->key >= keeper->first)
            return 0;
        frame_encoder_begin_anew(&keeper->encoder);
    }
}

static int add(struct keeper *keeper, const vitals_snapshot *snapshot, int *number,
               vitals_error *error)
{
    struct frame frame;
    uint64_t realtime_ns = vitals_snapshot_realtime_ns(snapshot);
    *number = 0;
    forget_old(keeper, realtime_ns);
    if (!grow_places(keeper))
        return refuse(keeper, error, "out of memory");
    int code = encode(keeper, snapshot, &frame, error);
    if (code < 0)
        return code;
    if (frame.size > keeper->room)
        return refuse(keeper, error, "is larger than all that may be kept");
    *number = put(keeper, &frame);
    if (*number != 0)
        return refuse(keeper, error, strerror(*number));
    *place_of(keeper, keeper->next) = (struct place){.realtime_ns = realtime_ns,
                                                     .offset = keeper->at,
                                                     .size = (uint32_t)frame.size,
                                                     .back = (uint16_t)(keeper->next - keeper->key),
                                                     .encoding = (uint16_t)frame.encoding};
    keeper->next++;
    keeper->at += frame.size;
    keeper->used += frame.size;
    return 0;
}

int keeper_add(struct keeper *keeper, const vitals_snapshot *snapshot, vitals_error *error)
{
    int number, code = add(keeper, snapshot, &number, error);
    if (number != 0 && keeper->extent >= keeper->most_memory && keeper->extent < keeper->room) {
        say(keeper, KEPT, number, "less is kept");
        keeper->room = keeper->extent;
        code = add(keeper, snapshot, &number, error);
    }
    if (number == 0)
        return code;
    say(keeper, KEPT, number, "it is kept in memory");
    if (!use_memory(keeper))
        return refuse(keeper, error, "out of memory");
    return add(keeper, snapshot, &number, error);
}

/* ---- the whole ---- */

static bool open_room(struct keeper *keeper, const char *folder)
{
    bool small = keeper->limited && keeper->room < keeper->most_memory;
    keeper->descriptor = folder != NULL && !small ? open_unlinked(folder) : -1;
    if (keeper->descriptor >= 0)
        return true;
    if (folder != NULL)
        say(keeper, folder, small ? EFBIG : errno, "it is kept in memory");
    return use_memory(keeper);
}

int keeper_new(const struct keeper_options *options, struct keeper **out, vitals_error *error)
{
    struct keeper *keeper = calloc(1, sizeof *keeper);
    if (keeper == NULL)
        return record_fail(VITALS_EMEMORY, "snapshots", error, "out of memory");
    keeper->descriptor = -1;
    keeper->encoder.plain_max = PLAIN_MAX;
    keeper->read = options->read != NULL ? options->read : pread;
    keeper->most_ns = options->most_ns;
    keeper->most_memory = options->most_memory > 0 ? options->most_memory : MEMORY_BYTES;
    uint64_t most_bytes = options->most_bytes > 0 ? options->most_bytes : FILE_BYTES;
    keeper->room = within_limit(most_bytes);
    keeper->limited = keeper->room < most_bytes;
    keeper->capacity = PLACES_FIRST;
    keeper->places = malloc(keeper->capacity * sizeof *keeper->places);
    if (keeper->places == NULL || !open_room(keeper, options->folder)) {
        keeper_free(keeper);
        return record_fail(VITALS_EMEMORY, "snapshots", error, "out of memory");
    }
    *out = keeper;
    return 0;
}

void keeper_free(struct keeper *keeper)
{
    if (keeper == NULL)
        return;
    if (keeper->descriptor >= 0)
        close(keeper->descriptor);
    frame_encoder_done(&keeper->encoder);
    free(keeper->memory);
    free(keeper->places);
    free(keeper);
}

const char *keeper_problem(const struct keeper *keeper)
{
    return keeper->problem;
}

uint64_t keeper_size(const struct keeper *keeper)
{
    return keeper->used;
}

/* ---- looking back ---- */

struct kept_timeline {
    struct keeper *keeper;
    struct frame_decoder decoder;
    struct text content; /* of a frame from the file */
    bool placed;
    int64_t number; /* of the one that was given last, where placed */
};

static int span(void *data, struct timeline_span *out, vitals_error *error)
{
    const struct keeper *keeper = ((struct kept_timeline *)data)->keeper;
    (void)error;
    *out = (struct timeline_span){.count = (uint64_t)(keeper->next - keeper->first)};
    out->first_ns = any(keeper) ? UINT64_MAX : 0;
    for (int64_t number = keeper->first; number < keeper->next; number++)
        timeline_widen(out, place_of(keeper, number)->realtime_ns);
    return 0;
}

static int fetch_file(const struct keeper *keeper, const struct place *place, char *out)
{
    size_t size = place->size, done = 0;
    while (done < size) {
        ssize_t got = keeper->read(keeper->descriptor, out + done, size - done,
                                   (off_t)(place->offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? errno : EIO;
        done += (size_t)got;
    }
    return 0;
}

/* What the frame borrows is good until the next call. */
static int fetch(struct kept_timeline *timeline, int64_t number, struct frame *out,
                 vitals_error *error)
{
    const struct keeper *keeper = timeline->keeper;
    const struct place *place = place_of(keeper, number);
    *out = (struct frame){.whole = place->back == 0,
                          .encoding = (enum frame_encoding)place->encoding,
                          .size = place->size};
    if (keeper->memory != NULL) {
        out->content = keeper->memory + place->offset;
        return 0;
    }

    text_reset(&timeline->content);
    if (text_reserve(&timeline->content, place->size) == NULL)
        return record_fail(VITALS_EMEMORY, KEPT, error, "out of memory");
    int failed = fetch_file(keeper, place, timeline->content.bytes);
    out->content = timeline->content.bytes;
    return failed != 0 ? record_fail_errno(failed, KEPT, error) : 0;
}

static int give(struct kept_timeline *timeline, int64_t number, vitals_snapshot **out,
                vitals_error *error)
{
    struct frame frame;
    int64_t key = number - place_of(timeline->keeper, number)->back;
    int code = 0;
    if (key != number && !frame_decoder_has_key(&timeline->decoder, key)) {
        code = fetch(timeline, key, &frame, error);
        if (code == 0)
            code = frame_decode_key(&timeline->decoder, key, &frame, KEPT, error);
    }
    if (code == 0)
        code = fetch(timeline, number, &frame, error);
    if (code == 0)
        code = frame_decode(&timeline->decoder, number, &frame, KEPT, out, error);
    if (code < 0)
        return code;

    timeline->number = number;
    timeline->placed = true;
    return 1;
}

static int at(void *data, uint64_t realtime_ns, vitals_snapshot **out, vitals_error *error)
{
    struct kept_timeline *timeline = data;
    const struct keeper *keeper = timeline->keeper;
    int64_t found = realtime_ns == UINT64_MAX ? keeper->next - 1 : keeper->first;
    uint64_t found_ns = 0;
    for (int64_t number = keeper->first; realtime_ns < UINT64_MAX && number < keeper->next;
         number++) {
        uint64_t then_ns = place_of(keeper, number)->realtime_ns;
        if (then_ns > realtime_ns || then_ns < found_ns)
            continue;
        found = number;
        found_ns = then_ns;
    }
    return any(keeper) ? give(timeline, found, out, error) : 0;
}

static int next(void *data, vitals_snapshot **out, vitals_error *error)
{
    struct kept_timeline *timeline = data;
    const struct keeper *keeper = timeline->keeper;
    int64_t number = timeline->placed ? timeline->number + 1 : keeper->first;
    number = number < keeper->first ? keeper->first : number;
    return number < keeper->next ? give(timeline, number, out, error) : 0;
}

static int previous(void *data, vitals_snapshot **out, vitals_error *error)
{
    struct kept_timeline *timeline = data;
    const struct keeper *keeper = timeline->keeper;
    int64_t number = (timeline->placed ? timeline->number : keeper->next) - 1;
    return number >= keeper->first ? give(timeline, number, out, error) : 0;
}

static int64_t place(void *data)
{
    return ((struct kept_timeline *)data)->number;
}

static void stand(void *data, int64_t number)
{
    struct kept_timeline *timeline = data;
    timeline->number = number;
    timeline->placed = true;
}

static const char *problem(void *data)
{
    return keeper_problem(((struct kept_timeline *)data)->keeper);
}

static void close_timeline(void *data)
{
    struct kept_timeline *timeline = data;
    frame_decoder_done(&timeline->decoder);
    text_done(&timeline->content);
    free(timeline);
}

int keeper_timeline(struct keeper *keeper, struct timeline *out, vitals_error *error)
{
    struct kept_timeline *timeline = calloc(1, sizeof *timeline);
    if (timeline == NULL)
        return record_fail(VITALS_EMEMORY, KEPT, error, "out of memory");
    timeline->keeper = keeper;
    *out = (struct timeline){.data = timeline,
                             .span = span,
                             .at = at,
                             .next = next,
                             .previous = previous,
                             .place = place,
                             .stand = stand,
                             .problem = problem,
                             .close = close_timeline};
    return 0;
}
