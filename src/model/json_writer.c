/* json_writer.c: see json_writer.h. */
#include "model/json_writer.h"

#include "util/number.h"

#include <string.h>
#include <vitals/text.h>

enum {
    PART = 2048, /* bytes of a text that are escaped at once */
    ESCAPE = 6   /* a byte becomes at most \u0000 */
};

_Static_assert(PART *ESCAPE < JSON_BUFFER, "an escaped part fits an empty buffer");

void writer_init(struct json_writer *writer, vitals_write_fn *write, void *data)
{
    writer->write = write;
    writer->data = data;
    writer->stopped = 0;
    writer->used = 0;
}

int writer_finish(struct json_writer *writer)
{
    if (writer->stopped == 0 && writer->used != 0)
        writer->stopped = writer->write(writer->data, writer->bytes, writer->used);
    writer->used = 0;
    return writer->stopped;
}

char *writer_room(struct json_writer *writer, size_t size)
{
    if (size > JSON_BUFFER - writer->used)
        (void)writer_finish(writer);
    return writer->bytes + writer->used;
}

void writer_raw(struct json_writer *writer, const char *json)
{
    size_t size = strlen(json);
    memcpy(writer_room(writer, size), json, size);
    writer->used += size;
}

void writer_u64(struct json_writer *writer, uint64_t value)
{
    writer->used += number_print_u64(writer_room(writer, NUMBER_TEXT), value);
}

void writer_i64(struct json_writer *writer, int64_t value)
{
    writer->used += number_print_i64(writer_room(writer, NUMBER_TEXT), value);
}

void writer_f64(struct json_writer *writer, double value)
{
    writer->used += number_print_f64(writer_room(writer, NUMBER_TEXT), value);
}

void writer_text(struct json_writer *writer, const char *bytes, size_t size)
{
    writer_raw(writer, "\"");
    while (size != 0) {
        size_t part = size_min(size, PART);
        /* Never a part of a character, which has at most three bytes behind its first. */
        for (int i = 0; part < size && i < 3 && ((unsigned char)bytes[part] & 0xC0) == 0x80; i++)
            part--;
        size_t capacity = part * ESCAPE + 1;
        writer->used += vitals_text_format((vitals_text){bytes, part}, VITALS_TEXT_JSON,
                                           writer_room(writer, capacity), capacity);
        bytes += part;
        size -= part;
    }
    writer_raw(writer, "\"");
}

void writer_string(struct json_writer *writer, const char *string)
{
    writer_text(writer, string, strlen(string));
}
