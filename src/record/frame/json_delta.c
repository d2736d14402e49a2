/* json_delta.c: see json_delta.h.
 *
 * A delta is any number of: size of new bytes, those, offset and size of what is copied; sizes and
 * offsets in 7 bits a byte, the low ones first. */
#include "record/frame/json_delta.h"

struct json_delta_reader {
    const char *bytes;
    size_t size, at;
};

static bool read_number(struct json_delta_reader *reader, size_t *out)
{
    size_t number = 0;
    for (unsigned shift = 0; shift < 35 && reader->at < reader->size; shift += 7) {
        unsigned char byte = (unsigned char)reader->bytes[reader->at++];
        number |= (size_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            *out = number;
            return true;
        }
    }
    return false;
}

bool json_delta_read(const struct text *base, const char *delta, size_t size, size_t most,
                     struct text *out)
{
    struct json_delta_reader reader = {delta, size, 0};
    text_reset(out);
    while (reader.at < size) {
        size_t fresh, offset, copied;
        if (!read_number(&reader, &fresh) || fresh > size - reader.at || fresh > most - out->size ||
            text_write(out, delta + reader.at, fresh) != 0)
            return false;
        reader.at += fresh;
        if (!read_number(&reader, &offset) || !read_number(&reader, &copied) ||
            offset > base->size || copied > base->size - offset || copied > most - out->size)
            return false;
        if (copied > 0 && text_write(out, base->bytes + offset, copied) != 0)
            return false;
    }
    return true;
}
