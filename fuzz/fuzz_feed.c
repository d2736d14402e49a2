/* Any bytes as a file of snapshots: each snapshot that is read is written, read again and written
 * again to the same bytes; each refusal is one line that is safe to print. Rows in the form that
 * vitals writes mean what they mean to jansson, which reads them where a blank is added. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "feed/feed.h"
#include "feed/feed_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct buffer {
    char *bytes;
    size_t size, capacity;
};

static void require(int condition)
{
    if (!condition)
        abort();
}

static int append(void *data, const char *bytes, size_t size)
{
    struct buffer *text = data;
    if (size > text->capacity - text->size) {
        text->capacity = (text->capacity + size) * 2;
        text->bytes = realloc(text->bytes, text->capacity);
        require(text->bytes != NULL);
    }
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    return 0;
}

static void require_message(const vitals_error *error)
{
    require(error->code < 0 && error->message[0] != '\0');
    for (const char *byte = error->message; *byte != '\0'; byte++)
        require(*byte >= ' ' && *byte <= '~');
}

static void require_round_trip(const vitals_snapshot *snapshot)
{
    struct buffer first = {0}, second = {0};
    struct feed_place place = {"written", 1};
    vitals_builder *builder;
    vitals_snapshot *again;
    require(vitals_snapshot_json(snapshot, append, &first, NULL) == 0);
    require(vitals_builder_new(&builder, NULL) == 0);
    vitals_error error;
    require(feed_json_read(&place, first.bytes, first.size, builder, &again, &error) == 0);
    require(vitals_snapshot_json(again, append, &second, NULL) == 0);
    require(first.size == second.size && memcmp(first.bytes, second.bytes, first.size) == 0);
    vitals_snapshot_unref(again);
    vitals_builder_free(builder);
    free(first.bytes);
    free(second.bytes);
}

/* Reads a document and writes it; nothing if it is refused. */
static struct buffer read_one(const char *bytes, size_t size)
{
    struct buffer text = {0};
    struct feed_place place = {"input", 1};
    vitals_builder *builder;
    vitals_snapshot *snapshot;
    vitals_error error;
    require(vitals_builder_new(&builder, NULL) == 0);
    if (feed_json_read(&place, bytes, size, builder, &snapshot, &error) == 0) {
        require(vitals_snapshot_json(snapshot, append, &text, NULL) == 0);
        vitals_snapshot_unref(snapshot);
    }
    vitals_builder_free(builder);
    return text;
}

static void require_both_ways(const char *bytes, size_t size)
{
    static const char ROW[] = "{\"key\":";
    struct buffer blanks = {0};
    for (size_t i = 0; i < size; i++) {
        bool row = size - i >= sizeof ROW && memcmp(bytes + i, ROW, sizeof ROW - 1) == 0;
        append(&blanks, row ? "{ " : bytes + i, row ? 2 : 1);
    }
    struct buffer own = read_one(bytes, size), other = read_one(blanks.bytes, blanks.size);
    require(own.size == other.size &&
            (own.size == 0 || memcmp(own.bytes, other.bytes, own.size) == 0));
    free(blanks.bytes);
    free(own.bytes);
    free(other.bytes);
}

static void read_all(struct feed *feed)
{
    vitals_error error;
    vitals_snapshot *snapshot;
    int result;
    while ((result = feed->next(feed->data, &snapshot, &error)) > 0) {
        require_round_trip(snapshot);
        vitals_snapshot_unref(snapshot);
    }
    if (result < 0)
        require_message(&error);
    require(feed->next(feed->data, &snapshot, &error) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    require_both_ways((const char *)data, size);

    /* The feed takes its bytes from standard input, which is a file in memory. */
    int file = memfd_create("input", 0);
    require(file >= 0);
    require(write(file, data, size) == (ssize_t)size);
    require(lseek(file, 0, SEEK_SET) == 0 && dup2(file, STDIN_FILENO) == STDIN_FILENO);
    close(file);

    vitals_error error;
    struct feed feed = {0};
    require(feed_file_open("-", &feed, &error) == 0);
    read_all(&feed);
    if (feed.seek != NULL) {
        vitals_snapshot *snapshot;
        if (feed.seek(feed.data, 1, &error) == 0 && feed.next(feed.data, &snapshot, &error) > 0) {
            require(vitals_snapshot_realtime_ns(snapshot) >= 1);
            vitals_snapshot_unref(snapshot);
        }
    }
    feed_close(&feed);
    return 0;
}
