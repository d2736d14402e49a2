/* timeline_json.c: a timeline over a file of JSON documents.
 *
 * The file is indexed once without parsing the documents; what is appended later is indexed when it
 * is needed. The index takes 24 bytes a document. */
#include "record/replay/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "feed/feed_json.h"
#include "record/recording_data.h"
#include "util/memory.h"

enum { CHUNK = 256 * 1024, DOCUMENTS_MAX = 1000000, DOCUMENT_BYTES_MAX = 64 * 1024 * 1024 };
enum { HEAD = 1024 }; /* bytes of a document that hold its time */

struct document {
    uint64_t offset, size, realtime_ns;
};

struct json_timeline {
    struct timeline_state state; /* a number is an index of `documents` */
    FILE *file;
    struct document *documents;
    size_t count, capacity;
    struct timeline_span span;
    uint64_t scanned;    /* end of the last whole document */
    uint64_t size;       /* of the file when it was last read */
    bool ended;          /* the rest is no snapshot, or there is no room */
    struct buffer bytes; /* of one document */
    vitals_builder *builder;
};

/* ---- where documents lie ---- */

/* Follows brackets and strings only; the parser checks the rest. */
struct timeline_json_scan {
    uint64_t at, begin; /* offsets of the next byte and of the open document */
    size_t depth;
    bool in_string, escaped, failed;
    char head[HEAD];
    size_t head_size;
};

static void scan_inside(struct timeline_json_scan *scan, char byte)
{
    if (scan->head_size < HEAD)
        scan->head[scan->head_size++] = byte;
    if (scan->in_string) {
        scan->in_string = byte != '"' || scan->escaped;
        scan->escaped = byte == '\\' && !scan->escaped;
        return;
    }
    scan->in_string = byte == '"';
    scan->depth += byte == '{' || byte == '[';
    scan->depth -= byte == '}' || byte == ']';
}

/* Returns true if a document ends with this byte. */
static bool scan_byte(struct timeline_json_scan *scan, char byte)
{
    scan->at++;
    if (scan->depth > 0) {
        scan_inside(scan, byte);
        return scan->depth == 0;
    }
    if (byte == '{') {
        scan->begin = scan->at - 1;
        scan->head_size = 0;
        scan_inside(scan, byte);
    } else if (byte != ' ' && byte != '\t' && byte != '\r' && byte != '\n') {
        scan->failed = true;
    }
    return false;
}

static bool add_document(struct json_timeline *timeline, const struct timeline_json_scan *scan)
{
    /* Its head has `"realtime_ns":"1800000000000000000"`; what has none is left out. */
    static const char NAME[] = "\"realtime_ns\"";
    const char *end = scan->head + scan->head_size;
    const char *at = memmem(scan->head, scan->head_size, NAME, sizeof NAME - 1);
    uint64_t moment = 0;
    at = at != NULL ? at + sizeof NAME - 1 : end;
    while (at < end && (*at == ' ' || *at == ':' || *at == '"'))
        at++;
    for (; at < end && *at >= '0' && *at <= '9' && moment < UINT64_MAX / 10 - 1; at++)
        moment = moment * 10 + (uint64_t)(*at - '0');

    if (MEMORY_GROW(timeline->documents, timeline->capacity, timeline->count) != 0)
        return false;
    if (moment != 0) {
        timeline->documents[timeline->count++] = (struct document){scan->begin,
                                                                   scan->at - scan->begin, moment};
        timeline->span.first_ns = timeline->count == 1 ? UINT64_MAX : timeline->span.first_ns;
        timeline->span.count = timeline->count;
        timeline_widen(&timeline->span, moment);
    }
    timeline->scanned = scan->at;
    return true;
}

static void stop(struct json_timeline *timeline, const char *why)
{
    timeline->ended = true;
    recording_wrong(timeline->state.recording, "%s", why);
}

/* Indexes what was appended. Errors: EMEMORY, ESYSTEM. */
static int scan_file(struct json_timeline *timeline, vitals_error *error)
{
    struct stat status;
    struct timeline_json_scan scan = {.at = timeline->scanned};
    const char *path = timeline->state.recording->path;
    if (fstat(fileno(timeline->file), &status) != 0)
        return record_fail_errno(errno, path, error);
    if (timeline->ended || (uint64_t)status.st_size == timeline->size)
        return 0;
    timeline->size = (uint64_t)status.st_size;
    char *chunk = malloc(CHUNK);
    bool fits = chunk != NULL;
    ssize_t got = 1;
    while (fits && got > 0 && !timeline->ended) {
        got = pread(fileno(timeline->file), chunk, CHUNK, (off_t)scan.at);
        for (ssize_t i = 0; i < got && fits && !timeline->ended; i++) {
            fits = !scan_byte(&scan, chunk[i]) || add_document(timeline, &scan);
            if (fits && scan.failed)
                stop(timeline, "the text after its last snapshot is not a snapshot");
            else if (fits && timeline->count == DOCUMENTS_MAX)
                stop(timeline, "only its first 1000000 snapshots are shown");
        }
    }
    int number = got < 0 ? errno : 0;
    free(chunk);
    if (!fits)
        return record_no_memory(path, error);
    return number != 0 ? record_fail_errno(number, path, error) : 0;
}

static int span(void *data, struct timeline_span *out, vitals_error *error)
{
    struct json_timeline *timeline = data;
    int code = scan_file(timeline, error);
    if (code < 0)
        return code;
    *out = timeline->span;
    return 0;
}

/* ---- snapshots ---- */

static int read_bytes(struct json_timeline *timeline, const struct document *document,
                      vitals_error *error)
{
    const char *path = timeline->state.recording->path;
    char chunk[8192];
    buffer_reset(&timeline->bytes);
    if (document->size > DOCUMENT_BYTES_MAX)
        return record_fail(VITALS_EFORMAT, path, error, "a snapshot in it is too large");
    while (timeline->bytes.size < document->size) {
        size_t size = (size_t)document->size - timeline->bytes.size;
        size = size < sizeof chunk ? size : sizeof chunk;
        ssize_t got = pread(fileno(timeline->file), chunk, size,
                            (off_t)(document->offset + timeline->bytes.size));
        if (got < 0)
            return record_fail_errno(errno, path, error);
        if (got == 0)
            return record_fail(VITALS_EFORMAT, path, error, "became shorter while it was read");
        if (text_write(&timeline->bytes, chunk, (size_t)got) != 0)
            return record_no_memory(path, error);
    }
    return 0;
}

static int find(void *data, enum timeline_place place, int64_t argument, int64_t *number,
                vitals_error *error)
{
    struct json_timeline *timeline = data;
    int code = place == TIMELINE_AFTER ? scan_file(timeline, error) : 0;
    int64_t count = (int64_t)timeline->count, found = -1;
    if (code < 0)
        return code;
    if (place == TIMELINE_AFTER)
        found = argument + 1;
    else if (place == TIMELINE_BEFORE)
        found = (argument < count ? argument : count) - 1;

    uint64_t found_ns = 0;
    for (int64_t i = 0; place == TIMELINE_UNTIL_TIME && i < count; i++) {
        uint64_t then_ns = timeline->documents[i].realtime_ns;
        if (then_ns > (uint64_t)argument || then_ns < found_ns)
            continue;
        found = i;
        found_ns = then_ns;
    }
    if (found < 0 || found >= count)
        return 0;
    *number = found;
    return 1;
}

static int read_document(void *data, int64_t number, vitals_snapshot **out, vitals_error *error)
{
    struct json_timeline *timeline = data;
    const struct feed_place where = {timeline->state.recording->path, (uint64_t)number + 1};
    int code = read_bytes(timeline, &timeline->documents[number], error);
    return code < 0 ? code
                    : feed_json_read(&where, timeline->bytes.bytes, timeline->bytes.size,
                                     timeline->builder, out, error);
}

/* ---- opening ---- */

static void close_timeline(void *data)
{
    struct json_timeline *timeline = data;
    if (timeline->file != NULL)
        (void)fclose(timeline->file);
    vitals_builder_free(timeline->builder);
    buffer_done(&timeline->bytes);
    memory_free(timeline->documents);
    recording_close(timeline->state.recording);
    free(timeline);
}

static const struct timeline_store STORE = {find, read_document};

int timeline_json_open(const char *path, struct timeline *out, vitals_error *error)
{
    struct json_timeline *timeline = calloc(1, sizeof *timeline);
    struct recording *recording = calloc(1, sizeof *recording);
    char *copy = strdup(path);
    if (timeline == NULL || recording == NULL || copy == NULL) {
        free(timeline);
        free(recording);
        free(copy);
        return record_no_memory(path, error);
    }
    timeline->state.store = &STORE;
    timeline->state.recording = recording;
    recording->path = copy;
    timeline->file = recording_file(path, error);
    int code = timeline->file == NULL ? (int)error->code
                                      : vitals_builder_new(&timeline->builder, error);
    if (code == 0)
        code = scan_file(timeline, error);
    /* A document that is incomplete now may be completed later. */
    if (code == 0 && timeline->count == 0)
        code = timeline->size == 0
                   ? record_fail(VITALS_EFORMAT, path, error, RECORD_NOTHING_YET)
                   : record_fail(VITALS_EUNSUPPORTED, path, error,
                                 "holds no snapshots; vitals report shows what is in it");
    if (code < 0) {
        close_timeline(timeline);
        return code;
    }
    *out = timeline_over(&timeline->state);
    out->span = span;
    out->close = close_timeline;
    return 0;
}
