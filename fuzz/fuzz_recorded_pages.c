/* Any bytes as the pages of a damaged recording: rows come out whole, or not at all. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/sqlite/pages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *data;
    size_t size;
    uint64_t rows;
    unsigned sum; /* so that every byte is read */
};

static void require(int condition)
{
    if (!condition)
        abort();
}

static bool read_at(void *data, uint64_t offset, void *out, size_t size)
{
    const struct input *input = data;
    if (offset > input->size || size > input->size - offset)
        return false;
    memcpy(out, input->data + offset, size);
    return true;
}

static void take(void *data, const struct page_row *row)
{
    struct input *input = data;
    require(row->count <= PAGE_VALUES_MAX);
    input->rows++;
    for (size_t i = 0; i < row->count; i++) {
        const struct page_value *value = &row->values[i];
        require(value->kind >= PAGE_NULL && value->kind <= PAGE_BLOB);
        if (value->kind != PAGE_TEXT && value->kind != PAGE_BLOB)
            continue;
        require(value->size <= input->size);
        for (size_t at = 0; at < value->size; at++)
            input->sum += (unsigned char)value->bytes[at];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {.data = data, .size = size};
    const struct pages_reader reader = {
        .data = &input, .read = read_at, .size = size, .take = take};
    (void)pages_scan(&reader);
    /* a cell needs two bytes that point to it */
    require(input.rows <= size);
    return 0;
}
