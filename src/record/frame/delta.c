/* delta.c: see delta.h.
 *
 * A delta is any number of: size of new bytes, those, offset and size of what is copied; sizes and
 * offsets in 7 bits a byte, the low ones first. */
#include "record/frame/delta.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16, BITS_MIN = 10, BITS_MAX = 22, NUMBER_BYTES = 10 };

static uint32_t block_hash(const char *block, unsigned bits)
{
    uint64_t one, other;
    memcpy(&one, block, sizeof one);
    memcpy(&other, block + sizeof one, sizeof other);
    uint64_t mixed = (one ^ (other * UINT64_C(0x9E3779B97F4A7C15))) * UINT64_C(0xff51afd7ed558ccd);
    return (uint32_t)(mixed >> (64 - bits));
}

bool delta_base_set(struct delta_base *base, const char *bytes, size_t size)
{
    unsigned bits = BITS_MIN;
    while (bits < BITS_MAX && ((size_t)1 << bits) < size / BLOCK * 2)
        bits++;
    text_reset(&base->bytes);
    if (text_write(&base->bytes, bytes, size) != 0)
        return false;
    uint32_t *places = realloc(base->places, sizeof *places << bits);
    if (places == NULL)
        return false;
    memset(places, 0, sizeof *places << bits);
    base->places = places;
    base->bits = bits;
    for (size_t at = 0; at + BLOCK <= size && at < UINT32_MAX - 1; at += BLOCK)
        places[block_hash(bytes + at, bits)] = (uint32_t)at + 1;
    return true;
}

void delta_base_done(struct delta_base *base)
{
    text_done(&base->bytes);
    free(base->places);
    *base = (struct delta_base){.places = NULL};
}

static bool put_number(struct text *out, size_t number)
{
    char bytes[NUMBER_BYTES];
    size_t size = 0;
    do {
        bytes[size++] = (char)((number & 0x7F) | (number > 0x7F ? 0x80 : 0));
        number >>= 7;
    } while (number > 0);
    return text_write(out, bytes, size) == 0;
}

static bool put_step(struct text *out, const char *fresh, size_t fresh_size, size_t offset,
                     size_t copied)
{
    return put_number(out, fresh_size) && text_write(out, fresh, fresh_size) == 0 &&
           put_number(out, offset) && put_number(out, copied);
}

/* Where the block that begins here stands in the base, or SIZE_MAX. */
static size_t find_block(const struct delta_base *base, const char *block)
{
    if (base->places == NULL)
        return SIZE_MAX;
    uint32_t place = base->places[block_hash(block, base->bits)];
    return place != 0 && memcmp(base->bytes.bytes + place - 1, block, BLOCK) == 0 ? place - 1
                                                                                  : SIZE_MAX;
}

bool delta_make(const struct delta_base *base, const char *bytes, size_t size, struct text *out)
{
    size_t told = 0, at = 0;
    text_reset(out);
    while (at + BLOCK <= size) {
        size_t found = find_block(base, bytes + at), length = BLOCK;
        if (found == SIZE_MAX) {
            at++;
            continue;
        }
        while (at + length < size && found + length < base->bytes.size &&
               bytes[at + length] == base->bytes.bytes[found + length])
            length++;
        for (; at > told && found > 0 && bytes[at - 1] == base->bytes.bytes[found - 1]; length++) {
            at--;
            found--;
        }
        if (!put_step(out, bytes + told, at - told, found, length))
            return false;
        told = at += length;
    }
    return put_step(out, bytes + told, size - told, 0, 0);
}

/* ---- back ---- */

struct reader {
    const char *bytes;
    size_t size, at;
};

static bool read_number(struct reader *reader, size_t *out)
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

bool delta_read(const struct text *base, const char *delta, size_t size, size_t most,
                struct text *out)
{
    struct reader reader = {delta, size, 0};
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
