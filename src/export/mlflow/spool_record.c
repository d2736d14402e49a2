/* spool_record.c: see spool_record.h. */
#include "export/mlflow/spool_record.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "export/tensorboard/crc32c.h"
#include "util/file.h"
#include "util/memory.h"

enum { WORD_AT = 18 }; /* after @ID and a space */

static const char *const WORDS[] = {
    [SPOOL_TARGET] = "target",     [SPOOL_RUN] = "run", [SPOOL_BATCH] = "batch",
    [SPOOL_ARTIFACT] = "artifact", [SPOOL_END] = "end",
};

/* ---- heads ---- */

void spool_format_magic(uint64_t id, char line[static SPOOL_MAGIC_SIZE + 1])
{
    int length = snprintf(line, SPOOL_MAGIC_SIZE + 1, "vitals-unsent 2 @%016" PRIx64 " ", id);
    (void)snprintf(line + length, SPOOL_MAGIC_SIZE + 1 - (size_t)length, "%08" PRIx32 "\n",
                   crc32c(line, (size_t)length));
}

/* Returns the length of the kind's word, in lower or upper case; 0 if it is none. */
static size_t parse_kind(const char *bytes, size_t size, struct spool_record *record)
{
    size_t length = 0, capitals = 0;
    while (length < size && isalpha((unsigned char)bytes[length]))
        capitals += isupper((unsigned char)bytes[length++]) != 0;
    record->arrived = capitals > 0;
    if (capitals > 0 && capitals < length)
        return 0;
    for (record->kind = 0; record->kind < SPOOL_KINDS; record->kind++) {
        if (strlen(WORDS[record->kind]) == length &&
            strncasecmp(WORDS[record->kind], bytes, length) == 0)
            return length;
    }
    return 0;
}

/* Formats the head of a record; returns its length. */
static size_t spool_format(const struct spool_record *record, char head[static SPOOL_HEAD_MOST])
{
    const char *kind = WORDS[record->kind];
    char word[16] = "";
    for (size_t i = 0; kind[i] != '\0'; i++)
        word[i] = (char)(record->arrived ? toupper((unsigned char)kind[i]) : kind[i]);
    int length = snprintf(head, SPOOL_HEAD_MOST,
                          "@%016" PRIx64 " %s %" PRIu64 " %" PRIu32 " %08" PRIx32 " ", record->id,
                          word, record->number, record->size, record->sum);
    length += snprintf(head + length, SPOOL_HEAD_MOST - (size_t)length, "%08" PRIx32 "\n",
                       crc32c(head, (size_t)length));
    return (size_t)length;
}

/* Formats what was parsed again, which must give the same bytes. */
static size_t parse_head(const char *bytes, size_t size, struct spool_record *record)
{
    char line[SPOOL_HEAD_MOST + 1], again[SPOOL_HEAD_MOST];
    size_t most = size < SPOOL_HEAD_MOST ? size : SPOOL_HEAD_MOST, length, word;
    if (size == 0 || bytes[0] != '@')
        return 0;
    memcpy(line, bytes, most);
    line[most] = '\0';
    length = strcspn(line, "\n") + 1;
    if (length <= WORD_AT || length > most)
        return 0;
    word = parse_kind(line + WORD_AT, length - WORD_AT, record);
    if (word == 0 || sscanf(line, "@%16" SCNx64, &record->id) != 1 ||
        sscanf(line + WORD_AT + word, " %20" SCNu64 " %9" SCNu32 " %8" SCNx32, &record->number,
               &record->size, &record->sum) != 3 ||
        record->size > SPOOL_BODY_MOST)
        return 0;
    return spool_format(record, again) == length && memcmp(line, again, length) == 0 ? length : 0;
}

size_t spool_parse(const char *bytes, size_t size, struct spool_record *record)
{
    *record = (struct spool_record){.id = 0};
    size_t length = parse_head(bytes, size, record);
    if (length == 0)
        *record = (struct spool_record){.id = 0};
    record->head = (uint32_t)length;
    return length;
}

void spool_format_record(uint64_t id, uint64_t number, enum spool_kind kind,
                         const struct buffer *body, struct buffer *out)
{
    char head[SPOOL_HEAD_MOST];
    struct spool_record record = {.id = id,
                                  .number = number,
                                  .size = (uint32_t)body->size,
                                  .sum = crc32c(body->bytes, body->size),
                                  .kind = (uint8_t)kind};
    buffer_append(out, head, spool_format(&record, head));
    buffer_append(out, body->bytes, body->size);
    buffer_byte(out, '\n');
}

/* Returns whether all of the bytes may be the beginning of a head. */
static bool spool_begins(const char *bytes, size_t size, uint64_t id)
{
    char begin[WORD_AT + 1];
    size_t at = size < WORD_AT ? size : WORD_AT;
    (void)snprintf(begin, sizeof begin, "@%016" PRIx64 " ", id);
    if (size >= SPOOL_HEAD_MOST || memcmp(bytes, begin, at) != 0)
        return false;
    while (at < size && (isalnum((unsigned char)bytes[at]) || bytes[at] == ' '))
        at++;
    return at == size;
}

/* ---- records ---- */

bool spool_read(int descriptor, uint64_t place, uint64_t end, struct spool_record *record,
                struct buffer *body)
{
    char head[SPOOL_HEAD_MOST], newline = '\0';
    uint64_t left = end - place;
    size_t count = left < sizeof head ? (size_t)left : sizeof head;
    *record = (struct spool_record){.id = 0};
    if (!file_read_at(descriptor, head, count, place) || spool_parse(head, count, record) == 0)
        return false;
    record->place = place;
    record->end = place + record->head + record->size;
    if (record->end > end)
        return false;
    buffer_reset(body);
    char *bytes = buffer_reserve(body, record->size);
    if (bytes == NULL || !file_read_at(descriptor, bytes, record->size, place + record->head))
        return false;
    buffer_advance(body, record->size);
    if (crc32c(body->bytes, body->size) != record->sum)
        return false;
    bool has_newline = record->end < end && file_read_at(descriptor, &newline, 1, record->end) &&
                       newline == '\n';
    record->end += has_newline;
    return true;
}

bool spool_write(int descriptor, uint64_t place, struct spool_record *record, const char *bytes)
{
    char head[SPOOL_HEAD_MOST];
    record->sum = crc32c(bytes, record->size);
    record->head = (uint32_t)spool_format(record, head);
    record->place = place;
    record->end = place + record->head + record->size + 1;
    return file_write_at(descriptor, head, record->head, place) &&
           file_write_at(descriptor, bytes, record->size, place + record->head) &&
           file_write_at(descriptor, "\n", 1, record->end - 1);
}

bool spool_write_arrived(int descriptor, const struct spool_record *record)
{
    char head[SPOOL_HEAD_MOST];
    struct spool_record arrived = *record;
    arrived.arrived = true;
    return file_write_at(descriptor, head, spool_format(&arrived, head), record->place);
}

/* ---- scanning a whole file ---- */

enum { WINDOW = 65536, EFFORT_MOST = 64 * 1024 * 1024 };

struct scanner {
    int descriptor;
    uint64_t size;
    uint64_t effort; /* bytes that may still be read without success: a hostile file has heads
                        everywhere */
    struct buffer body;
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

/* Reads a whole record of this file. The first determines the id. */
static bool read_record(struct scanner *scanner, uint64_t at, struct spool_record *record)
{
    struct spool_scan *found = scanner->found;
    bool whole = spool_read(scanner->descriptor, at, scanner->size, record, &scanner->body);
    scanner->failed |= scanner->body.failed;
    if (whole && found->id == 0)
        found->id = record->id;
    if (whole && record->id == found->id)
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
    if (MEMORY_GROW(found->records, found->capacity, found->count) != 0) {
        scanner->failed = true;
        return;
    }
    found->records[found->count++] = *record;
}

/* Returns the place of the next whole record from `at` on; that of the end if there is none. */
static uint64_t find_record(struct scanner *scanner, uint64_t at)
{
    const uint64_t end = scanner->size;
    char window[WINDOW + SPOOL_HEAD_MOST];
    struct spool_record record;
    for (; at < end; at += WINDOW) {
        size_t count = end - at < sizeof window ? (size_t)(end - at) : sizeof window;
        if (!file_read_at(scanner->descriptor, window, count, at))
            break;
        for (size_t i = 0; i < count && i < WINDOW; i++) {
            if (window[i] != '@' || spool_parse(window + i, count - i, &record) == 0)
                continue;
            if (read_record(scanner, at + i, &record))
                return at + i;
            if (scanner->effort == 0 || scanner->failed)
                return end;
        }
    }
    return end;
}

/* Scans from the first record on, into scanner->found. */
static void scan_all(struct scanner *scanner, uint64_t at, uint64_t id)
{
    struct spool_scan *found = scanner->found;
    struct spool_record record;
    bool behind_damage = false;
    memory_free(found->records);
    *found = (struct spool_scan){.next = 1, .id = id};
    scanner->effort = scanner->size < UINT64_MAX / 8 ? scanner->size * 4 + EFFORT_MOST : UINT64_MAX;
    while (at < scanner->size && !scanner->failed) {
        if (read_record(scanner, at, &record)) {
            record.behind_damage = behind_damage;
            behind_damage = false;
            add_record(scanner, &record);
            at = record.end;
            continue;
        }
        uint64_t next = find_record(scanner, at + 1);
        behind_damage = true;

        /* It may be a record that its writer did not finish: its head is whole and bytes after it
         * are missing, or the head itself is truncated. */
        char head[SPOOL_HEAD_MOST];
        struct spool_place place = {at, next - at, false};
        size_t count = next - at < sizeof head ? (size_t)(next - at) : sizeof head;
        if (file_read_at(scanner->descriptor, head, count, at)) {
            size_t length = spool_parse(head, count, &record);
            place.incomplete = length > 0 ? (found->id == 0 || record.id == found->id) &&
                                                place.size - length < record.size
                                          : found->id != 0 && spool_begins(head, count, found->id);
        }
        spool_add_damage(&found->damage, place);
        at = next;
    }
}

static int compare(const void *left, const void *right)
{
    const struct spool_record *a = left, *b = right;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return a->place < b->place ? -1 : 1;
}

int spool_scan(int descriptor, uint64_t size, struct spool_scan *out)
{
    char line[SPOOL_MAGIC_SIZE + 1] = "", again[SPOOL_MAGIC_SIZE + 1];
    size_t count = size < SPOOL_MAGIC_SIZE ? (size_t)size : SPOOL_MAGIC_SIZE, kept = 0;
    uint64_t begin = 0, id = 0;
    struct scanner scanner = {.descriptor = descriptor, .size = size, .found = out};
    *out = (struct spool_scan){.records = NULL};

    /* The id is in the first line. If that is damaged, only the records show it: that of most is
     * the file's; others are inside an artifact. */
    if (!file_read_at(descriptor, line, count, 0))
        line[0] = '\0';
    const char *mark = strchr(line, '@');
    uint64_t written = mark != NULL ? strtoull(mark + 1, NULL, 16) : 0;
    spool_format_magic(written, again);
    id = written != 0 && strcmp(line, again) == 0 ? written : 0;
    begin = id != 0 ? SPOOL_MAGIC_SIZE : 0;
    bool has_magic = id != 0;
    scan_all(&scanner, begin, id);
    if (!has_magic && scanner.foreign > out->count)
        scan_all(&scanner, begin, scanner.foreign_id);
    buffer_done(&scanner.body);

    /* Sorts the records, drops duplicates (bytes may have been doubled or moved), and counts
     * missing numbers, except those that damaged bytes in their place explain. */
    if (out->count > 0)
        qsort(out->records, out->count, sizeof out->records[0], compare);
    for (size_t i = 0; i < out->count; i++) {
        struct spool_record record = out->records[i];
        struct spool_record *last = kept > 0 ? &out->records[kept - 1] : NULL;
        if (last != NULL && last->number == record.number && last->kind == record.kind &&
            last->size == record.size && last->sum == record.sum) {
            last->arrived |= record.arrived;
            spool_add_damage(&out->damage, (struct spool_place){.at = record.place,
                                                                .size = record.end - record.place});
            continue;
        }
        if (last != NULL && !record.behind_damage && record.number > last->number)
            out->damage.missing += record.number - last->number - 1;
        out->records[kept++] = record;
        out->next = record.number + 1;
    }
    out->count = kept;
    if (!scanner.failed && (has_magic || out->count > 0))
        return 0;
    memory_free(out->records);
    out->records = NULL;
    return scanner.failed ? VITALS_EMEMORY : VITALS_EFORMAT;
}
