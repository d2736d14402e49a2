/* pages.c: see pages.h. Every number in a page may lie: each is checked before it is used. */
#include "record/sqlite/pages.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER = 100, PAGE_MIN = 512, PAGE_MOST = 65536 };

/* What a page is, by its first byte. */
enum { INDEX_BRANCH = 0x02, INDEX_LEAF = 0x0A, TABLE_LEAF = 0x0D };

struct scan {
    const struct pages_reader *reader;
    size_t page_size, usable;
    unsigned char *page;
    unsigned char *row; /* the bytes of one that goes on in other pages */
    size_t row_capacity;
    struct page_value *values;
    uint64_t budget; /* of bytes in such pages: none belongs to two rows */
    bool no_memory;
};

/* Bytes that are looked at one after the other. */
struct bytes_view {
    const unsigned char *at, *end;
};

static unsigned word(const unsigned char *bytes)
{
    return (unsigned)bytes[0] << 8 | bytes[1];
}

static uint32_t long_word(const unsigned char *bytes)
{
    return (uint32_t)word(bytes) << 16 | word(bytes + 2);
}

/* Up to nine bytes, seven bits each but for the ninth. */
static bool take_number(struct bytes_view *view, uint64_t *out)
{
    uint64_t number = 0;
    for (int i = 0; i < 9 && view->at < view->end; i++) {
        unsigned char byte = *view->at++;
        number = i == 8 ? number << 8 | byte : number << 7 | (byte & 0x7F);
        if (byte < 0x80 || i == 8) {
            *out = number;
            return true;
        }
    }
    return false;
}

/* ---- values ---- */

static int64_t whole_number(const unsigned char *bytes, size_t size)
{
    uint64_t number = size > 0 && bytes[0] >= 0x80 ? UINT64_MAX : 0;
    for (size_t i = 0; i < size; i++)
        number = number << 8 | bytes[i];
    int64_t result;
    memcpy(&result, &number, sizeof result);
    return result;
}

/* Bytes of a value by its serial type, SIZE_MAX where there is none such. */
static size_t size_of(uint64_t type)
{
    static const size_t SIZES[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
    if (type < sizeof SIZES / sizeof SIZES[0])
        return SIZES[type];
    if (type < 12 || (type - 12) / 2 > PAGE_ROW_MAX)
        return SIZE_MAX;
    return (size_t)(type - 12) / 2;
}

static struct page_value value_of(uint64_t type, const unsigned char *bytes, size_t size)
{
    struct page_value value = {.kind = PAGE_NULL, .bytes = (const char *)bytes, .size = size};
    if (type >= 12) {
        value.kind = type % 2 == 0 ? PAGE_BLOB : PAGE_TEXT;
    } else if (type == 7) {
        int64_t bits = whole_number(bytes, size);
        value.kind = PAGE_REAL;
        memcpy(&value.real, &bits, sizeof value.real);
    } else if (type != 0) {
        value.kind = PAGE_INTEGER;
        value.integer = type == 9 ? 1 : whole_number(bytes, size);
        value.real = (double)value.integer;
    }
    return value;
}

/* A record: the size of its header, a type for each value, the values. */
static void take_record(struct scan *scan, const unsigned char *bytes, size_t size, bool has_key,
                        uint64_t key)
{
    struct bytes_view types = {bytes, bytes + size};
    uint64_t header, type;
    struct page_row row = {.has_key = has_key, .values = scan->values};
    memcpy(&row.key, &key, sizeof row.key);
    if (!take_number(&types, &header) || header > size || header < (size_t)(types.at - bytes))
        return;
    const unsigned char *body = bytes + header, *end = bytes + size;
    types.end = body;
    while (types.at < types.end) {
        if (!take_number(&types, &type) || row.count == PAGE_VALUES_MAX)
            return;
        size_t wide = size_of(type);
        if (wide > (size_t)(end - body))
            return;
        scan->values[row.count++] = value_of(type, body, wide);
        body += wide;
    }
    scan->reader->take(scan->reader->data, &row);
}

/* ---- cells ---- */

/* How much of a row stands in its own page. */
static size_t local_size(const struct scan *scan, size_t size, bool table)
{
    size_t usable = scan->usable;
    size_t most = table ? usable - 35 : (usable - 12) * 64 / 255 - 23;
    size_t least = (usable - 12) * 32 / 255 - 23;
    if (size <= most)
        return size;
    size_t local = least + (size - least) % (usable - 4);
    return local <= most ? local : least;
}

static bool row_room(struct scan *scan, size_t size)
{
    if (size <= scan->row_capacity)
        return true;
    unsigned char *row = realloc(scan->row, size);
    scan->no_memory = scan->no_memory || row == NULL;
    if (row == NULL)
        return false;
    scan->row = row;
    scan->row_capacity = size;
    return true;
}

/* The rest of a row: each page names the next one, and then holds a part. */
static bool read_rest(struct scan *scan, uint32_t number, size_t at, size_t size)
{
    const struct pages_reader *reader = scan->reader;
    unsigned char next[4];
    while (at < size) {
        size_t part = size - at < scan->usable - 4 ? size - at : scan->usable - 4;
        uint64_t offset = (uint64_t)(number - 1) * scan->page_size;
        if (number == 0 || offset + scan->page_size > reader->size || scan->budget < part ||
            !reader->read(reader->data, offset, next, sizeof next) ||
            !reader->read(reader->data, offset + 4, scan->row + at, part))
            return false;
        scan->budget -= part;
        number = long_word(next);
        at += part;
    }
    return true;
}

static void take_cell(struct scan *scan, const unsigned char *cell, int kind)
{
    struct bytes_view view = {cell, scan->page + scan->usable};
    bool table = kind == TABLE_LEAF;
    uint64_t size, key = 0;
    view.at += kind == INDEX_BRANCH ? 4 : 0;
    if (view.at >= view.end || !take_number(&view, &size) || size > PAGE_ROW_MAX ||
        (table && !take_number(&view, &key)))
        return;
    size_t local = local_size(scan, (size_t)size, table), left = (size_t)(view.end - view.at);
    if (local == size) {
        if (local <= left)
            take_record(scan, view.at, local, table, key);
        return;
    }
    if (left < 4 || local > left - 4 || size > scan->reader->size || !row_room(scan, (size_t)size))
        return;
    memcpy(scan->row, view.at, local);
    if (read_rest(scan, long_word(view.at + local), local, (size_t)size))
        take_record(scan, scan->row, (size_t)size, table, key);
}

/* The first page begins behind the file's header. */
static void take_page(struct scan *scan, bool first)
{
    const unsigned char *head = scan->page + (first ? HEADER : 0);
    int kind = head[0];
    size_t begin = (size_t)(head - scan->page) + (kind == INDEX_BRANCH ? 12 : 8);
    if (kind != INDEX_BRANCH && kind != INDEX_LEAF && kind != TABLE_LEAF)
        return;
    size_t count = word(head + 3);
    for (size_t i = 0; i < count && begin + 2 * i + 2 <= scan->usable && !scan->no_memory; i++) {
        size_t place = word(scan->page + begin + 2 * i);
        if (place >= begin && place < scan->usable)
            take_cell(scan, scan->page + place, kind);
    }
}

/* ---- the file ---- */

/* False: it is none of SQLite's, or its text is no UTF-8. */
static bool read_header(struct scan *scan)
{
    unsigned char header[HEADER];
    const struct pages_reader *reader = scan->reader;
    if (reader->size < PAGE_MIN || !reader->read(reader->data, 0, header, sizeof header) ||
        memcmp(header, "SQLite format 3", 16) != 0 || long_word(header + 56) != 1)
        return false;
    scan->page_size = word(header + 16) == 1 ? PAGE_MOST : word(header + 16);
    scan->usable = scan->page_size - header[20];
    return scan->page_size >= PAGE_MIN && (scan->page_size & (scan->page_size - 1)) == 0 &&
           scan->usable >= 480;
}

bool pages_scan(const struct pages_reader *reader)
{
    struct scan scan = {.reader = reader, .budget = reader->size};
    if (!read_header(&scan))
        return false;
    scan.page = malloc(scan.page_size);
    scan.values = malloc(PAGE_VALUES_MAX * sizeof *scan.values);
    scan.no_memory = scan.page == NULL || scan.values == NULL;
    for (uint64_t at = 0; !scan.no_memory && at + scan.page_size <= reader->size;
         at += scan.page_size)
        if (reader->read(reader->data, at, scan.page, scan.page_size))
            take_page(&scan, at == 0);
    free(scan.page);
    free(scan.values);
    free(scan.row);
    return !scan.no_memory;
}
