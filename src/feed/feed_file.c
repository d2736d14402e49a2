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
#include "util/buffer.h"
#include "util/error.h"

enum { CHUNK = 64 * 1024, DOCUMENT_MAX = 64 * 1024 * 1024 };

struct file_feed {
    char *path; /* for messages */
    int descriptor;
    bool ended;  /* nothing more to read */
    bool broken; /* an error was told; nothing more is given */
    uint64_t line;
    struct buffer read;
    size_t at; /* what is read from there on is not looked at yet */
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

/* ---- bytes ---- */

/* Reads more behind what is there; sets `ended` at the end. Bytes that were parsed make room, and a
 * document that does not fit gets twice the room. */
static int read_more(struct file_feed *feed, vitals_error *error)
{
    struct buffer *text = &feed->read;
    if (feed->at > 0) {
        memmove(text->bytes, text->bytes + feed->at, text->size - feed->at);
        text->size -= feed->at;
        feed->at = 0;
    }
    char *room = buffer_reserve(text, CHUNK);
    if (room == NULL)
        return fail_here(feed, VITALS_EMEMORY, "out of memory", error);
    ssize_t size;
    do {
        size = read(feed->descriptor, room, text->capacity - text->size - 1);
    } while (size < 0 && errno == EINTR);
    if (size < 0)
        return fail_errno(feed, errno, error);
    buffer_advance(text, (size_t)size);
    feed->ended = size == 0;
    return 0;
}

/* ---- documents ---- */

static int read_document(struct file_feed *feed, vitals_snapshot **out, vitals_error *error)
{
    int result;
    for (;; feed->at++) {
        while (feed->at == feed->read.size) {
            if (feed->ended)
                return 0;
            if ((result = read_more(feed, error)) < 0)
                return result;
        }
        char byte = feed->read.bytes[feed->at];
        if (byte != ' ' && byte != '\t' && byte != '\r' && byte != '\n')
            break;
        feed->line += byte == '\n';
    }
    if (feed->read.bytes[feed->at] != '{')
        return fail_here(feed, VITALS_EFORMAT, "a snapshot begins with {; this is something else",
                         error);

    /* Follows brackets and strings only: whether it is JSON is for a reader of JSON to say. */
    size_t size = 0, depth = 0;
    uint64_t lines = 0;
    bool in_string = false, escaped = false;
    do {
        while (feed->at + size == feed->read.size) {
            if (feed->ended)
                return fail_here(feed, VITALS_EFORMAT,
                                 "the file ends inside the snapshot that begins here", error);
            if (size > DOCUMENT_MAX)
                return fail_here(feed, VITALS_EFORMAT,
                                 "the document that begins here is larger than 64 MiB, the limit",
                                 error);
            if ((result = read_more(feed, error)) < 0)
                return result;
        }
        char byte = feed->read.bytes[feed->at + size++];
        bool quote = byte == '"' && !escaped;
        escaped = in_string && byte == '\\' && !escaped;
        lines += byte == '\n';
        if (!in_string && (byte == '{' || byte == '['))
            depth++;
        else if (!in_string && (byte == '}' || byte == ']'))
            depth--;
        in_string ^= quote;
    } while (in_string || depth > 0);

    struct feed_place place = place_of(feed);
    result = feed_json_read(&place, feed->read.bytes + feed->at, size, feed->builder, out, error);
    if (result < 0)
        return result;
    feed->at += size;
    feed->line += lines;
    return 1;
}

/* ---- the feed ---- */

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
    feed->at = 0;
    buffer_reset(&feed->read);
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
    buffer_done(&feed->read);
    free(feed->path);
    free(feed);
}

/* `descriptor` becomes the feed's, also where this fails; below 0: errno says why there is none. */
static int begin(const char *name, int descriptor, struct feed *out, vitals_error *error)
{
    struct stat status;
    int number = errno;
    struct file_feed *feed = calloc(1, sizeof *feed);
    if (feed == NULL || (feed->path = strdup(name)) == NULL) {
        free(feed);
        if (descriptor > STDERR_FILENO)
            close(descriptor);
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    }
    feed->line = 1;
    feed->descriptor = descriptor;
    int result = 0;
    if (feed->descriptor < 0)
        result = fail_errno(feed, number, error);
    else if (fstat(feed->descriptor, &status) == 0 && S_ISDIR(status.st_mode))
        result = fail_errno(feed, EISDIR, error);
    if (result == 0)
        result = vitals_builder_new(&feed->builder, error);
    if (result < 0) {
        file_close(feed);
        return result;
    }
    *out = (struct feed){.data = feed, .next = file_next, .close = file_close};
    if (lseek(feed->descriptor, 0, SEEK_CUR) == 0)
        out->seek = file_seek;
    return 0;
}

int feed_file_open(const char *path, struct feed *out, vitals_error *error)
{
    if (strcmp(path, "-") == 0)
        return begin("standard input", STDIN_FILENO, out, error);
    /* A FIFO is waited for as everywhere; a folder is told at once and not at the first read. */
    return begin(path, open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), out, error);
}

int feed_descriptor_open(int descriptor, const char *name, struct feed *out, vitals_error *error)
{
    return begin(name, fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), out, error);
}
