/* spool.h: a queue in a file: records that are to be sent and have not been acknowledged.
 *
 * One thread appends, another takes in the same order; both may at the same time. The file stores
 * what was acknowledged, so that another program can continue after this one was killed. The last
 * record may then be sent again; sending twice must have the effect of sending once. A killed
 * writer loses at most the record that it was writing.
 *
 * Each record has a checksum and a number (spool_record.h): after damaged bytes the next whole
 * record is found, and no record is given twice. A file with damaged bytes is never removed, but
 * renamed to NAME.damaged after everything else has arrived. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feed/text.h"

struct spool;

/* The first two are notes: the newest of each is kept, and they are not sent. */
enum spool_kind { SPOOL_TARGET, SPOOL_RUN, SPOOL_BATCH, SPOOL_ARTIFACT, SPOOL_END, SPOOL_KINDS };

enum {
    SPOOL_MOST = 256 * 1024 * 1024,       /* bytes that wait; batches beyond are refused */
    SPOOL_MEMORY_MOST = 32 * 1024 * 1024, /* the limit for records in memory */
    SPOOL_RESERVE = 64 * 1024 * 1024,     /* additional space for the end of the run */
    SPOOL_BODY_MOST = 48 * 1024 * 1024,   /* of one record */
};

/* Bytes of a file that are not a whole record. */
struct spool_place {
    uint64_t at, size;
    bool incomplete; /* a record that was not finished, or was truncated */
};

enum { SPOOL_PLACES = 5 };

struct spool_damage {
    uint64_t places, bytes;
    struct spool_place first[SPOOL_PLACES];
    uint64_t missing; /* records whose numbers are missing, without damage in their place */
};

/* Creates a file in the folder, which is created too; readable by its owner only. Without a folder
 * (NULL) the spool is in memory and is lost with this program. Errors: EDENIED, ESYSTEM, EMEMORY.
 */
int spool_new(const char *folder, struct spool **out, vitals_error *error);

/* Opens the spool of another program. Errors: EGONE, EDENIED, EFORMAT (not a spool), ETIMEOUT (its
 * program is running and sends it), EMEMORY. */
int spool_open(const char *path, struct spool **out, vitals_error *error);

/* Does the same with an open file, which the spool owns from then on, also if this fails. */
int spool_adopt(int descriptor, const char *path, struct spool **out, vitals_error *error);

/* Returns NULL if the spool is in memory. */
const char *spool_path(const struct spool *spool);

/* Returns when another program last wrote to the spool, in ms since 1970. */
uint64_t spool_written_ms(const struct spool *spool);

/* Appends a record. If the disk does not accept it, it waits in memory, after the others. Returns
 * false if it was not kept because too much is waiting; for a note also if the disk did not accept
 * it. */
bool spool_append(struct spool *spool, enum spool_kind kind, const char *bytes, size_t size);

/* Copies the newest note of its kind; false if there is none. */
bool spool_note(struct spool *spool, enum spool_kind kind, struct buffer *out);

/* Returns whether the end was appended. */
bool spool_has_end(struct spool *spool);

/* Copies the oldest record that is not acknowledged. Returns false if there is none. */
bool spool_next(struct spool *spool, enum spool_kind *kind, struct buffer *body);

/* Marks the record that spool_next gave: it has arrived, or is given up. Returns false if the file
 * of another program cannot be marked (spool_trouble says why); the record stays there. */
bool spool_acknowledge(struct spool *spool);

/* Leaves the record that spool_next gave in the file, and does not give it again: it was refused,
 * or, if `damaged`, cannot be parsed. */
void spool_leave(struct spool *spool, bool damaged);

/* Returns the damage that was found when the file was opened and since. */
struct spool_damage spool_damage(struct spool *spool);

/* Ends the file: removes it if everything has arrived; renames it to NAME.damaged, or
 * NAME.damaged.1 to .9 if that exists, if only damaged bytes are left (spool_path returns the new
 * name). Returns SPOOL_STAYS although nothing waits if that failed: spool_trouble says why. */
enum spool_rest { SPOOL_REMOVED, SPOOL_STAYS, SPOOL_SET_ASIDE };
enum spool_rest spool_settle(struct spool *spool);

/* Returns the number of records that are not acknowledged. */
uint64_t spool_waiting(struct spool *spool);

/* Returns how many of these are in memory, after trying to write them to the disk. */
uint64_t spool_in_memory(struct spool *spool);

/* Returns the errno of the newest write that failed; 0 if none has. */
int spool_trouble(struct spool *spool);

/* `remove`: unlinks the file too, whatever it holds. Accepts NULL. */
void spool_close(struct spool *spool, bool remove);
