/* feed_file.c: a file of JSON documents, one or many after each other, becomes snapshots.
 *
 * Finds where each document begins and ends; feed_json.c reads it. Holds one document at a time,
 * whatever the size of the file. */
#include "feed/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "feed/feed_json.h"

enum { CHUNK = 64 * 1024, DOCUMENT_MAX = 64 * 1024 * 1024 };

struct file_feed {
    char *path; /* for messages */
    int descriptor;
    bool ended;  /* nothing more to read */
    bool broken; /* an error was told; nothing more is given */
    uint64_t line;
    char *bytes;
    size_t capacity, used, at; /* bytes[at .. used) is not looked at yet */
    vitals_builder *builder;
    vitals_snapshot *found; /* by seek; the next one given */
};

static struct feed_place place_of(const struct file_feed *feed)
{
    return (struct feed_place){feed->path, feed->line};
}

static int fail_here(struct file_feed *feed, int code, const char *what, vitals_error *error)
{
    struct feed_place place = place_of(feed);
    return feed_fail(&place, code, error, "%s", what);
}

static int fail_errno(struct file_feed *feed, int number, vitals_error *error)
{
    int code = number == ENOENT || number == ENOTDIR ? VITALS_EGONE
               : number == EACCES || number == EPERM ? VITALS_EDENIED
                                                     : VITALS_ESYSTEM;
    struct feed_place place = {feed->path, 0};
    feed_fail(&place, code, error, "%s", strerror(number));
    error->detail = number;
    return code;
}

/* --- Bytes --------------------------------------------------------------------------------------
 */

/* What was looked at makes room; a document that does not fit gets twice the room. */
static int make_room(struct file_feed *feed, vitals_error *error)
{
    if (feed->at > 0) {
        memmove(feed->bytes, feed->bytes + feed->at, feed->used - feed->at);
        feed->used -= feed->at;
        feed->at = 0;
    }
    if (feed->capacity - feed->used >= CHUNK)
        return 0;
    size_t capacity = feed->capacity > 0 ? feed->capacity * 2 : 2 * CHUNK;
    char *bytes = realloc(feed->bytes, capacity);
    if (bytes == NULL)
        return fail_here(feed, VITALS_EMEMORY, "out of memory", error);
    feed->bytes = bytes;
    feed->capacity = capacity;
    return 0;
}

/* Reads more behind what is there; sets `ended` at the end. */
static int read_more(struct file_feed *feed, vitals_error *error)
{
    int result = make_room(feed, error);
    if (result < 0)
        return result;
    ssize_t size;
    do {
        size = read(feed->descriptor, feed->bytes + feed->used, feed->capacity - feed->used);
    } while (size < 0 && errno == EINTR);
    if (size < 0)
        return fail_errno(feed, errno, error);
    feed->used += (size_t)size;
    feed->ended = size == 0;
    return 0;
}

/* --- Documents ----------------------------------------------------------------------------------
 */

/* Moves to the first byte that is no space. 1: there is one. 0: the file ends. */
static int skip_space(struct file_feed *feed, vitals_error *error)
{
    for (;;) {
        for (; feed->at < feed->used; feed->at++) {
            char byte = feed->bytes[feed->at];
            if (byte != ' ' && byte != '\t' && byte != '\r' && byte != '\n')
                return 1;
            feed->line += byte == '\n';
        }
        if (feed->ended)
            return 0;
        int result = read_more(feed, error);
        if (result < 0)
            return result;
    }
}

/* Follows brackets and strings only: whether it is JSON is for a reader of JSON to say. */
struct feed_file_scan {
    size_t size; /* looked at */
    size_t depth;
    uint64_t lines;
    bool in_string;
    bool escaped;
};

/* True at the end of the document. */
static bool scan_byte(struct feed_file_scan *scan, char byte)
{
    scan->size++;
    scan->lines += byte == '\n';
    if (scan->in_string) {
        bool ends = byte == '"' && !scan->escaped;
        scan->escaped = byte == '\\' && !scan->escaped;
        scan->in_string = !ends;
        return false;
    }
    scan->in_string = byte == '"';
    if (byte == '{' || byte == '[')
        scan->depth++;
    else if (byte == '}' || byte == ']')
        scan->depth--;
    return scan->depth == 0;
}

/* Finds the end of the document that begins here. */
static int find_end(struct file_feed *feed, struct feed_file_scan *scan, vitals_error *error)
{
    if (feed->bytes[feed->at] != '{')
        return fail_here(feed, VITALS_EFORMAT, "a snapshot begins with {, and this does not",
                         error);
    for (;;) {
        while (feed->at + scan->size < feed->used) {
            if (scan_byte(scan, feed->bytes[feed->at + scan->size]))
                return 0;
        }
        if (feed->ended)
            return fail_here(feed, VITALS_EFORMAT,
                             "the file ends inside the snapshot that begins here", error);
        if (scan->size > DOCUMENT_MAX)
            return fail_here(feed, VITALS_EFORMAT,
                             "what begins here is larger than 64 MiB, which no snapshot is", error);
        int result = read_more(feed, error);
        if (result < 0)
            return result;
    }
}

static int read_document(struct file_feed *feed, vitals_snapshot **out, vitals_error *error)
{
    int result = skip_space(feed, error);
    if (result <= 0)
        return result;
    struct feed_file_scan scan = {.size = 0};
    struct feed_place place = place_of(feed);
    result = find_end(feed, &scan, error);
    if (result == 0)
        result = feed_json_read(&place, feed->bytes + feed->at, scan.size, feed->builder, out,
                                error);
    if (result < 0)
        return result;
    feed->at += scan.size;
    feed->line += scan.lines;
    return 1;
}

/* --- The feed -----------------------------------------------------------------------------------
 */

static int file_next(void *data, vitals_snapshot **out, vitals_error *error)
{
    struct file_feed *feed = data;
    if (feed->found != NULL) {
        *out = feed->found;
        feed->found = NULL;
        return 1;
    }
    if (feed->broken)
        return 0;
    int result = read_document(feed, out, error);
    feed->broken = result < 0;
    return result;
}

static int file_seek(void *data, uint64_t realtime_ns, vitals_error *error)
{
    struct file_feed *feed = data;
    if (lseek(feed->descriptor, 0, SEEK_SET) < 0)
        return fail_errno(feed, errno, error);
    vitals_snapshot_unref(feed->found);
    feed->found = NULL;
    feed->ended = feed->broken = false;
    feed->line = 1;
    feed->at = feed->used = 0;
    for (;;) {
        vitals_snapshot *snapshot;
        int result = file_next(feed, &snapshot, error);
        if (result <= 0)
            return result;
        if (vitals_snapshot_realtime_ns(snapshot) >= realtime_ns) {
            feed->found = snapshot;
            return 0;
        }
        vitals_snapshot_unref(snapshot);
    }
}

static void file_close(void *data)
{
    struct file_feed *feed = data;
    if (feed->descriptor > STDERR_FILENO)
        close(feed->descriptor);
    vitals_snapshot_unref(feed->found);
    vitals_builder_free(feed->builder);
    free(feed->bytes);
    free(feed->path);
    free(feed);
}

/* A FIFO is waited for as everywhere; a folder is told at once and not at the first read. */
static int open_path(struct file_feed *feed, const char *path, vitals_error *error)
{
    struct stat status;
    bool standard = strcmp(path, "-") == 0;
    feed->path = strdup(standard ? "standard input" : path);
    if (feed->path == NULL) {
        *error = (vitals_error){.code = VITALS_EMEMORY, .message = "out of memory"};
        return VITALS_EMEMORY;
    }
    feed->descriptor = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (feed->descriptor < 0)
        return fail_errno(feed, errno, error);
    if (fstat(feed->descriptor, &status) == 0 && S_ISDIR(status.st_mode))
        return fail_errno(feed, EISDIR, error);
    return vitals_builder_new(&feed->builder, error);
}

int feed_file_open(const char *path, struct feed *out, vitals_error *error)
{
    struct file_feed *feed = calloc(1, sizeof *feed);
    if (feed == NULL) {
        *error = (vitals_error){.code = VITALS_EMEMORY, .message = "out of memory"};
        return VITALS_EMEMORY;
    }
    feed->line = 1;
    feed->descriptor = -1;
    int result = open_path(feed, path, error);
    if (result < 0) {
        file_close(feed);
        return result;
    }
    *out = (struct feed){.data = feed, .next = file_next, .close = file_close};
    if (lseek(feed->descriptor, 0, SEEK_CUR) == 0)
        out->seek = file_seek;
    return 0;
}
