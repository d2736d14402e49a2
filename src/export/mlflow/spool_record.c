/* spool_record.c: see spool_record.h. */
#include "export/mlflow/spool_record.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "export/tensorboard/crc32c.h"

enum { WORD_AT = 18 }; /* after @ID and a space */

static const char *const WORDS[] = {
    [SPOOL_TARGET] = "target",     [SPOOL_RUN] = "run", [SPOOL_BATCH] = "batch",
    [SPOOL_ARTIFACT] = "artifact", [SPOOL_END] = "end", [SPOOL_DONE] = "done",
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
    for (record->kind = 0; record->kind <= SPOOL_DONE; record->kind++) {
        if (strlen(WORDS[record->kind]) == length &&
            strncasecmp(WORDS[record->kind], bytes, length) == 0)
            return length;
    }
    return 0;
}

/* Returns the number of digits, at most 9; 0 if it is not a number. */
static size_t parse_size(const char *bytes, size_t size, uint32_t *out)
{
    size_t count = 0;
    *out = 0;
    for (; count < size && count < 10 && isdigit((unsigned char)bytes[count]); count++)
        *out = *out * 10 + (uint32_t)(bytes[count] - '0');
    return count < 10 && *out <= SPOOL_BODY_MOST ? count : 0;
}

static size_t parse_old(const char *bytes, size_t size, struct spool_record *record)
{
    size_t at = parse_kind(bytes, size, record), digits;
    if (at == 0 || at >= size || bytes[at++] != ' ')
        return 0;
    digits = parse_size(bytes + at, size - at, &record->size);
    at += digits;
    record->old = true;
    return digits > 0 && at < size && bytes[at] == '\n' ? at + 1 : 0;
}

static void write_word(const struct spool_record *record, char word[static 16])
{
    size_t size = strlen(WORDS[record->kind]);
    for (size_t i = 0; i <= size; i++)
        word[i] = (char)(record->arrived ? toupper((unsigned char)WORDS[record->kind][i])
                                         : WORDS[record->kind][i]);
}

size_t spool_format(const struct spool_record *record, char head[static SPOOL_HEAD_MOST])
{
    char word[16];
    write_word(record, word);
    int length = snprintf(head, SPOOL_HEAD_MOST,
                          "@%016" PRIx64 " %s %" PRIu64 " %" PRIu32 " %08" PRIx32 " ", record->id,
                          word, record->number, record->size, record->sum);
    length += snprintf(head + length, SPOOL_HEAD_MOST - (size_t)length, "%08" PRIx32 "\n",
                       crc32c(head, (size_t)length));
    return (size_t)length;
}

/* Formats what was parsed again, which must give the same bytes. */
static size_t parse_new(const char *bytes, size_t size, struct spool_record *record)
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
    if (word == 0 || record->kind == SPOOL_DONE || sscanf(line, "@%16" SCNx64, &record->id) != 1 ||
        sscanf(line + WORD_AT + word, " %20" SCNu64 " %9" SCNu32 " %8" SCNx32, &record->number,
               &record->size, &record->sum) != 3 ||
        record->size > SPOOL_BODY_MOST)
        return 0;
    return spool_format(record, again) == length && memcmp(line, again, length) == 0 ? length : 0;
}

size_t spool_parse(const char *bytes, size_t size, bool old, struct spool_record *record)
{
    *record = (struct spool_record){.id = 0};
    size_t length = (old ? parse_old : parse_new)(bytes, size, record);
    if (length == 0)
        *record = (struct spool_record){.id = 0};
    record->head = (uint32_t)length;
    return length;
}

void spool_format_record(uint64_t id, uint64_t number, enum spool_kind kind,
                         const struct text *body, struct text *out)
{
    char head[SPOOL_HEAD_MOST];
    struct spool_record record = {.id = id,
                                  .number = number,
                                  .size = (uint32_t)body->size,
                                  .sum = crc32c(body->bytes, body->size),
                                  .kind = (uint8_t)kind};
    text_append(out, head, spool_format(&record, head));
    text_append(out, body->bytes, body->size);
    text_byte(out, '\n');
}

bool spool_begins(const char *bytes, size_t size, uint64_t id)
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

/* ---- bytes ---- */

bool spool_read_at(int descriptor, void *bytes, size_t size, uint64_t at)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(descriptor, (char *)bytes + done, size - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

bool spool_write_at(int descriptor, const void *bytes, size_t size, uint64_t at)
{
    for (size_t done = 0; done < size;) {
        ssize_t put = pwrite(descriptor, (const char *)bytes + done, size - done,
                             (off_t)(at + done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put == 0)
            errno = ENOSPC;
        if (put <= 0)
            return false;
        done += (size_t)put;
    }
    return true;
}

/* ---- records ---- */

static bool read_body(int descriptor, const struct spool_record *record, struct text *body)
{
    text_reset(body);
    char *place = text_reserve(body, record->size);
    if (place == NULL ||
        !spool_read_at(descriptor, place, record->size, record->place + record->head))
        return false;
    text_advance(body, record->size);
    return true;
}

bool spool_read(int descriptor, uint64_t place, uint64_t end, bool old, struct spool_record *record,
                struct text *body)
{
    char head[SPOOL_HEAD_MOST], newline = '\0';
    uint64_t left = end - place;
    size_t count = left < sizeof head ? (size_t)left : sizeof head;
    *record = (struct spool_record){.id = 0};
    if (!spool_read_at(descriptor, head, count, place) ||
        spool_parse(head, count, old, record) == 0)
        return false;
    record->place = place;
    record->end = place + record->head + record->size;
    if (record->end > end || !read_body(descriptor, record, body) ||
        (!old && crc32c(body->bytes, body->size) != record->sum))
        return false;
    bool has_newline = record->end < end && spool_read_at(descriptor, &newline, 1, record->end) &&
                       newline == '\n';
    record->end += has_newline;
    return has_newline || !old;
}

bool spool_write(int descriptor, uint64_t place, struct spool_record *record, const char *bytes)
{
    char head[SPOOL_HEAD_MOST];
    record->sum = crc32c(bytes, record->size);
    record->head = (uint32_t)spool_format(record, head);
    record->place = place;
    record->end = place + record->head + record->size + 1;
    return spool_write_at(descriptor, head, record->head, place) &&
           spool_write_at(descriptor, bytes, record->size, place + record->head) &&
           spool_write_at(descriptor, "\n", 1, record->end - 1);
}

bool spool_write_arrived(int descriptor, const struct spool_record *record)
{
    char head[SPOOL_HEAD_MOST];
    struct spool_record arrived = *record;
    arrived.arrived = true;
    if (!record->old)
        return spool_write_at(descriptor, head, spool_format(&arrived, head), record->place);
    write_word(&arrived, head);
    return spool_write_at(descriptor, head, strlen(head), record->place);
}
