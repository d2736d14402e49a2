/* spool_scan.c: see spool_scan.h. */
#include "export/mlflow/spool_scan.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW = 65536, EFFORT_MOST = 64 * 1024 * 1024 };

struct scanner {
    int descriptor;
    uint64_t size;
    uint64_t effort; /* bytes that may still be read without success: a hostile file has heads
                        everywhere */
    struct text body;
    struct spool_scan *found;
    uint64_t foreign_id; /* of the newest whole record of another file */
    size_t foreign;      /* how many there were */
    bool failed;         /* memory is out */
};

void spool_add_damage(struct spool_damage *damage, struct spool_place place)
{
    if (damage->places < SPOOL_PLACES)
        damage->first[damage->places] = place;
    damage->places++;
    damage->bytes += place.size;
}

/* Reads a whole record of this file, below `end`. The first of format 2 determines the id. */
static bool read_record(struct scanner *scanner, uint64_t at, uint64_t end, bool old,
                        struct spool_record *record)
{
    struct spool_scan *found = scanner->found;
    bool whole = spool_read(scanner->descriptor, at, end, old, record, &scanner->body);
    scanner->failed |= scanner->body.failed;
    if (whole && !old && found->id == 0)
        found->id = record->id;
    if (whole && (old || record->id == found->id))
        return true;
    if (whole) {
        scanner->foreign_id = record->id;
        scanner->foreign++;
    }
    uint64_t cost = WINDOW / 16 + record->size;
    scanner->effort -= cost < scanner->effort ? cost : scanner->effort;
    return false;
}

static void add_record(struct scanner *scanner, const struct spool_record *record)
{
    struct spool_scan *found = scanner->found;
    if (found->count == found->capacity) {
        size_t capacity = found->capacity > 0 ? found->capacity * 2 : 64;
        struct spool_record *grown = realloc(found->records, capacity * sizeof *grown);
        if (grown == NULL) {
            scanner->failed = true;
            return;
        }
        found->records = grown;
        found->capacity = capacity;
    }
    found->records[found->count++] = *record;
}

/* Returns the place of the next whole record from `at` on; `end` if there is none. */
static uint64_t find_record(struct scanner *scanner, uint64_t at, uint64_t end, bool old)
{
    char window[WINDOW + SPOOL_HEAD_MOST];
    struct spool_record record;
    for (; at < end; at += WINDOW) {
        size_t count = end - at < sizeof window ? (size_t)(end - at) : sizeof window;
        if (!spool_read_at(scanner->descriptor, window, count, at))
            break;
        for (size_t i = 0; i < count && i < WINDOW; i++) {
            if (!old && window[i] != '@')
                continue;
            if (spool_parse(window + i, count - i, old, &record) == 0)
                continue;
            if (read_record(scanner, at + i, end, old, &record))
                return at + i;
            if (scanner->effort == 0 || scanner->failed)
                return end;
        }
    }
    return end;
}

/* ---- format 1 ---- */

/* Scans everything before `end`. A "done" whose place is not the end of a record was written before
 * the file was damaged, and is ignored: sending twice, which MLflow merges, is better than never.
 */
static void scan_old(struct scanner *scanner, uint64_t at, uint64_t end)
{
    struct spool_scan *found = scanner->found;
    struct spool_record record;
    size_t before = 0,
           arrived = 0; /* records that end before the place; records that have arrived */
    while (at < end && !scanner->failed) {
        if (!read_record(scanner, at, end, true, &record)) {
            uint64_t next = find_record(scanner, at + 1, end, true);
            spool_add_damage(&found->damage, (struct spool_place){.at = at, .size = next - at});
            at = next;
            continue;
        }
        at = record.end;
        if (record.kind != SPOOL_DONE) {
            record.number = found->count + 1;
            add_record(scanner, &record);
            continue;
        }
        uint64_t place = scanner->body.size < 24 ? strtoull(scanner->body.bytes, NULL, 10) : 0;
        while (before < found->count && found->records[before].end <= place)
            before++;
        if (before > 0 && found->records[before - 1].end == place)
            arrived = before;
    }
    for (size_t i = 0; i < arrived; i++)
        found->records[i].arrived = true;
}

/* ---- format 2 ---- */

/* Returns whether the bytes between two places are a record that its writer did not finish: its
 * head is whole and bytes after it are missing, or the head itself is truncated. */
static bool is_incomplete(struct scanner *scanner, uint64_t at, uint64_t end)
{
    char head[SPOOL_HEAD_MOST];
    struct spool_record record;
    uint64_t id = scanner->found->id;
    size_t count = end - at < sizeof head ? (size_t)(end - at) : sizeof head;
    if (!spool_read_at(scanner->descriptor, head, count, at))
        return false;
    size_t length = spool_parse(head, count, false, &record);
    if (length > 0)
        return (id == 0 || record.id == id) && end - at - length < record.size;
    return id != 0 && spool_begins(head, count, id);
}

/* Scans from the first record on; `old_magic`: records of format 1 may precede it. */
static void scan_all(struct scanner *scanner, uint64_t at, bool old_magic)
{
    struct spool_scan *found = scanner->found;
    struct spool_record record;
    bool behind_damage = false;
    for (bool first = true; at < scanner->size && !scanner->failed; first = false) {
        if (read_record(scanner, at, scanner->size, false, &record)) {
            record.behind_damage = behind_damage;
            behind_damage = false;
            add_record(scanner, &record);
            at = record.end;
            continue;
        }
        uint64_t next = find_record(scanner, at + 1, scanner->size, false);
        struct spool_place place = {at, next - at, is_incomplete(scanner, at, next)};
        if (first && old_magic)
            scan_old(scanner, at, next);
        else
            spool_add_damage(&found->damage, place);
        behind_damage = true;
        at = next;
    }
}

/* Records of format 1 come first. */
static int compare(const void *left, const void *right)
{
    const struct spool_record *a = left, *b = right;
    if (a->old != b->old)
        return a->old ? -1 : 1;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return a->place < b->place ? -1 : 1;
}

/* Sorts the records, drops duplicates (bytes may have been doubled or moved), and counts missing
 * numbers, except those that damaged bytes in their place explain. */
static void put_in_order(struct spool_scan *found)
{
    size_t kept = 0;
    if (found->count > 0)
        qsort(found->records, found->count, sizeof found->records[0], compare);
    for (size_t i = 0; i < found->count; i++) {
        struct spool_record record = found->records[i];
        struct spool_record *last = kept > 0 ? &found->records[kept - 1] : NULL;
        bool same = last != NULL && !last->old && !record.old && last->number == record.number &&
                    last->kind == record.kind && last->size == record.size &&
                    last->sum == record.sum;
        if (same) {
            last->arrived |= record.arrived;
            spool_add_damage(
                &found->damage,
                (struct spool_place){.at = record.place, .size = record.end - record.place});
            continue;
        }
        if (last != NULL && !last->old && !record.behind_damage && record.number > last->number)
            found->damage.missing += record.number - last->number - 1;
        found->records[kept++] = record;
        found->next = record.number + 1;
    }
    found->count = kept;
}

/* Reads the id from the first line, and its length. Returns false if it is damaged; then only the
 * records show the id. */
static bool read_magic(int descriptor, uint64_t size, uint64_t *id, uint64_t *length)
{
    char line[SPOOL_MAGIC_SIZE + 1] = "", again[SPOOL_MAGIC_SIZE + 1];
    size_t count = size < SPOOL_MAGIC_SIZE ? (size_t)size : SPOOL_MAGIC_SIZE;
    *length = *id = 0;
    if (!spool_read_at(descriptor, line, count, 0))
        return false;
    if (strncmp(line, SPOOL_OLD_MAGIC, sizeof SPOOL_OLD_MAGIC - 1) == 0) {
        *id = SPOOL_OLD_ID;
        *length = sizeof SPOOL_OLD_MAGIC - 1;
        return true;
    }
    const char *mark = strchr(line, '@');
    uint64_t written = mark != NULL ? strtoull(mark + 1, NULL, 16) : 0;
    spool_format_magic(written, again);
    if (written == 0 || strcmp(line, again) != 0)
        return false;
    *id = written;
    *length = SPOOL_MAGIC_SIZE;
    return true;
}

static void scan_from(struct scanner *scanner, uint64_t begin, uint64_t id)
{
    struct spool_scan *found = scanner->found;
    free(found->records);
    *found = (struct spool_scan){.next = 1, .id = id};
    scanner->effort = scanner->size < UINT64_MAX / 8 ? scanner->size * 4 + EFFORT_MOST : UINT64_MAX;
    scan_all(scanner, begin, id == SPOOL_OLD_ID);
}

int spool_scan(int descriptor, uint64_t size, struct spool_scan *out)
{
    uint64_t begin, id;
    struct scanner scanner = {.descriptor = descriptor, .size = size, .found = out};
    *out = (struct spool_scan){.records = NULL};
    bool has_magic = read_magic(descriptor, size, &id, &begin);
    scan_from(&scanner, begin, id);
    /* Without a first line, the id of most records is the file's; others are inside an artifact. */
    if (!has_magic && scanner.foreign > out->count)
        scan_from(&scanner, begin, scanner.foreign_id);
    put_in_order(out);
    text_done(&scanner.body);
    if (!scanner.failed && (has_magic || out->count > 0))
        return 0;
    free(out->records);
    out->records = NULL;
    return scanner.failed ? VITALS_EMEMORY : VITALS_EFORMAT;
}
