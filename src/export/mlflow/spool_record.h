/* spool_record.h: one record of a spool file: how it is written, and how it is read with proof that
 * it is whole.
 *
 *     vitals-unsent 2 @ID LINE_SUM\n     then records:
 *     @ID KIND NUMBER SIZE SUM HEAD_SUM\n  SIZE bytes  \n
 *
 * ID (16 hex digits) is the same in all records of a file, so that a spool inside an artifact is
 * not taken for records. KIND is target, run, batch, artifact or end; in capitals when the
 * record has arrived: its head is rewritten then, in place, which needs no space. NUMBER counts up
 * by one, which shows what is missing. SUM is the CRC-32C of the bytes, HEAD_SUM that of the head
 * before it. `@` and the checksums make a record recognizable behind any damage; the newline behind
 * the bytes is for people and proves nothing.
 *
 * The format before, "vitals-spool 1", is read as well: KIND SIZE\n bytes \n, without checksums,
 * with KIND "done" for the place in the file before which everything has arrived. What is appended
 * to such a file is of format 2, with SPOOL_OLD_ID. The first lines of the two differ in so many
 * bytes that no damage makes the one the other. */
#ifndef VITALS_EXPORT_MLFLOW_SPOOL_RECORD_H
#define VITALS_EXPORT_MLFLOW_SPOOL_RECORD_H

#include "export/mlflow/spool.h"

#define SPOOL_OLD_MAGIC "vitals-spool 1\n"

enum { SPOOL_MAGIC_SIZE = 43 };

enum { SPOOL_HEAD_MOST = 96, SPOOL_DONE = SPOOL_KINDS, SPOOL_OLD_ID = 1 };

struct spool_record {
    uint64_t id, number; /* 0 where old */
    uint64_t place, end; /* in the file: of the head, and of what is behind the record */
    uint32_t head, size; /* bytes of the head and the body */
    uint32_t sum;        /* of the body; 0 where old */
    uint8_t kind;        /* enum spool_kind; where old also SPOOL_DONE */
    bool old;            /* of format 1 */
    bool arrived;
    bool behind_damage; /* the bytes before it in the file are damaged: set by spool_scan */
};

/* The first line of a file of format 2. Pure. */
void spool_format_magic(uint64_t id, char line[static SPOOL_MAGIC_SIZE + 1]);

/* Parses the head that the bytes begin with, but for place and end: its length; 0: there is none.
 * Pure. */
size_t spool_parse(const char *bytes, size_t size, bool old, struct spool_record *record);

/* Whether the bytes, to the last one, may be the beginning of a head of format 2. Pure. */
bool spool_begins(const char *bytes, size_t size, uint64_t id);

/* Writes the head of a record; returns its length. Pure. */
size_t spool_format(const struct spool_record *record, char head[static SPOOL_HEAD_MOST]);

/* Appends a whole record. Pure. */
void spool_format_record(uint64_t id, uint64_t number, enum spool_kind kind,
                         const struct text *body, struct text *out);

/* Reads the record at a place of a file that ends at `end`. False: no whole one is there; the
 * record's size is 0 then unless its head is whole. */
bool spool_read(int descriptor, uint64_t place, uint64_t end, bool old, struct spool_record *record,
                struct text *body);

/* Writes a record of this id, number, kind and size; sets the rest. False: errno. */
bool spool_write(int descriptor, uint64_t place, struct spool_record *record, const char *bytes);

/* Notes in the file that the record has arrived. False: errno. */
bool spool_write_arrived(int descriptor, const struct spool_record *record);

bool spool_read_at(int descriptor, void *bytes, size_t size, uint64_t at);
bool spool_write_at(int descriptor, const void *bytes, size_t size, uint64_t at);

#endif
