/* spool_record.h: one record of a spool file: how it is written, and how it is read and verified.
 *
 *     vitals-unsent 2 @ID LINE_SUM\n     then records:
 *     @ID KIND NUMBER SIZE SUM HEAD_SUM\n  SIZE bytes  \n
 *
 * ID (16 hex digits) is the same in all records of a file, so that a spool inside an artifact is
 * not taken for records. KIND is target, run, batch, artifact or end; in capitals if the record has
 * arrived: its head is rewritten in place then, which needs no space. NUMBER counts up by one,
 * which shows missing records. SUM is the CRC-32C of the bytes, HEAD_SUM that of the head before
 * it. `@` and the checksums make a record recognizable after any damage; the newline after the
 * bytes is for readability only. */
#pragma once

#include "export/mlflow/spool.h"

enum { SPOOL_MAGIC_SIZE = 43, SPOOL_HEAD_MOST = 96 };

struct spool_record {
    uint64_t id, number;
    uint64_t place, end; /* in the file: of the head, and after the record */
    uint32_t head, size; /* of the head and the body */
    uint32_t sum;        /* of the body */
    uint8_t kind;        /* enum spool_kind */
    bool arrived;
    bool behind_damage; /* the bytes before it in the file are damaged: set by spool_scan */
};

/* Formats the first line of a file. Pure. */
void spool_format_magic(uint64_t id, char line[static SPOOL_MAGIC_SIZE + 1]);

/* Parses the head at the begin of the bytes, all but place and end. Returns its length; 0 if there
 * is none. Pure. */
size_t spool_parse(const char *bytes, size_t size, struct spool_record *record);

/* Appends a whole record. Pure. */
void spool_format_record(uint64_t id, uint64_t number, enum spool_kind kind,
                         const struct buffer *body, struct buffer *out);

/* Reads the record at a place of a file that ends at `end`. Returns false if no whole record is
 * there; the record's size is then 0 unless its head is whole. */
bool spool_read(int descriptor, uint64_t place, uint64_t end, struct spool_record *record,
                struct buffer *body);

/* Writes a record of this id, number, kind and size; sets the rest. Returns false and sets errno if
 * it fails. */
bool spool_write(int descriptor, uint64_t place, struct spool_record *record, const char *bytes);

/* Marks the record as arrived, in the file. Returns false and sets errno if it fails. */
bool spool_write_arrived(int descriptor, const struct spool_record *record);

/* The contents of another program's file: every whole record, and the damaged bytes between them.
 */
struct spool_scan {
    struct spool_record *records; /* in order, each once; the caller frees it */
    size_t count, capacity;
    uint64_t id;   /* of the file; 0 if not known, because it has no whole record */
    uint64_t next; /* the number of the next record */
    struct spool_damage damage;
};

void spool_add_damage(struct spool_damage *damage, struct spool_place place);

/* Scans the first `size` bytes. Errors: EFORMAT (no spool), EMEMORY. */
int spool_scan(int descriptor, uint64_t size, struct spool_scan *out);
