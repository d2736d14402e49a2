/* pages.h: the rows of a SQLite file that was cut off or broken, read page by page, without the
 * trees that SQLite finds them by: those lose whole branches with one page. As its file format is
 * documented; no SQLite is needed.
 *
 * Rows come in the order of pages, and of no table in particular: who takes them knows them by what
 * they hold. One thread. */
#ifndef VITALS_RECORD_SQLITE_PAGES_H
#define VITALS_RECORD_SQLITE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PAGE_VALUES_MAX = 2000, PAGE_ROW_MAX = 80 * 1024 * 1024 };

enum page_kind { PAGE_NULL, PAGE_INTEGER, PAGE_REAL, PAGE_TEXT, PAGE_BLOB };

struct page_value {
    enum page_kind kind;
    int64_t integer;
    double real;       /* of an integer too */
    const char *bytes; /* text has no end but its size */
    size_t size;
};

struct page_row {
    bool has_key; /* of an ordinary table: its first column may stand as PAGE_NULL */
    int64_t key;
    const struct page_value *values; /* until the next row */
    size_t count;
};

struct pages_reader {
    void *data;
    /* So many bytes from `offset` on. False: the file ends before, or cannot be read. */
    bool (*read)(void *data, uint64_t offset, void *out, size_t size);
    uint64_t size; /* of the file */
    void (*take)(void *data, const struct page_row *row);
};

/* Gives all rows that are whole to `take`. False: its first page is none of SQLite's, or memory is
 * out. Reads each page twice at most. */
bool pages_scan(const struct pages_reader *reader);

#endif
