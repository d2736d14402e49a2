/* spool.h: what is to be sent and has not been acknowledged, in a file of its own.
 *
 * One thread appends, another takes in the same order; both may at once. The file remembers what
 * was acknowledged, so that another program can go on where this one was killed: then the last
 * record may be sent again, and who sends must see to it that twice is as good as once.
 *
 *     vitals-spool 1\n          then records:  KIND SIZE\n  SIZE bytes  \n
 *
 * At the end of a file that was cut off stands half a record, which is passed over. */
#ifndef VITALS_PUBLISH_SPOOL_H
#define VITALS_PUBLISH_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feed/text.h"

struct spool;

/* The first two are notes: the newest of each is kept, and not sent. */
enum spool_kind { SPOOL_TARGET, SPOOL_RUN, SPOOL_BATCH, SPOOL_ARTIFACT, SPOOL_END, SPOOL_KINDS };

enum {
    SPOOL_MOST = 256 * 1024 * 1024,       /* bytes that wait; batches beyond are refused */
    SPOOL_MEMORY_MOST = 32 * 1024 * 1024, /* the same of what waits in memory */
    SPOOL_RESERVE = 64 * 1024 * 1024,     /* more, for how it ended */
    SPOOL_BODY_MOST = 48 * 1024 * 1024,   /* of one record */
};

/* A new file in the folder, which is made; readable for its owner alone. Without a folder (NULL)
 * it is memory, and is gone with this program. Errors: EDENIED, ESYSTEM, EMEMORY. */
int spool_new(const char *folder, struct spool **out, vitals_error *error);

/* One that another program left. Errors: EGONE, EDENIED, EFORMAT (it is none), ETIMEOUT (its
 * program lives and sends it), EMEMORY. */
int spool_open(const char *path, struct spool **out, vitals_error *error);

/* The same of an open file, which is the spool's from then on, also where this fails. */
int spool_adopt(int descriptor, const char *path, struct spool **out, vitals_error *error);

/* NULL: it has no name. */
const char *spool_path(const struct spool *spool);

/* Of a spool that another program left: when it last wrote there, in ms since 1970. */
uint64_t spool_written_ms(const struct spool *spool);

/* What the disk does not take waits in memory, behind the rest. False: it was not kept, since too
 * much is waiting; a note of the first two kinds also where the disk did not take it. */
bool spool_append(struct spool *spool, enum spool_kind kind, const char *bytes, size_t size);

/* The newest note of its kind, copied; false: there is none. */
bool spool_note(struct spool *spool, enum spool_kind kind, struct text *out);

/* Whether the end was written. */
bool spool_has_end(struct spool *spool);

/* The oldest record that is not acknowledged, copied to the body. False: there is none. */
bool spool_next(struct spool *spool, enum spool_kind *kind, struct text *body);

/* What spool_next gave has arrived, or never will. */
void spool_acknowledge(struct spool *spool);

/* Records that are not acknowledged. */
uint64_t spool_waiting(struct spool *spool);

/* Of those, how many wait in memory; first they are written to the disk if it takes them by now. */
uint64_t spool_in_memory(struct spool *spool);

/* Why the disk did not take what was appended, the newest time: an errno; 0: it took all. */
int spool_trouble(struct spool *spool);

/* `remove`: the file too; else it stays where it has a name. Accepts NULL. */
void spool_close(struct spool *spool, bool remove);

/* Reads the head of a record, pure: its length, or 0 where these bytes begin with none. */
size_t spool_head(const char *bytes, size_t size, char word[static 16], uint64_t *body);

#endif
