/* spool.h: what is to be sent and has not been acknowledged, in a file of its own.
 *
 * One thread appends, another takes in the same order; both may at once. The file remembers what
 * was acknowledged, so that another program can go on where this one was killed: then the last
 * record may be sent again, and the sender must see to it that twice is as good as once. A killed
 * writer loses at most the record that it was writing.
 *
 * Each record has a checksum and a number (spool_record.h): behind damaged bytes the next whole
 * record is found again, and none is given twice. Damaged bytes stay in the file, which is never
 * removed then, but renamed to NAME.damaged once everything else has arrived. */
#ifndef VITALS_EXPORT_MLFLOW_SPOOL_H
#define VITALS_EXPORT_MLFLOW_SPOOL_H

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

/* Bytes of a file that are no whole record. */
struct spool_place {
    uint64_t at, size;
    bool incomplete; /* a record that was not finished, or was cut off */
};

enum { SPOOL_PLACES = 5 };

struct spool_damage {
    uint64_t places, bytes;
    struct spool_place first[SPOOL_PLACES];
    uint64_t missing; /* records whose numbers are left out, with no damaged place there */
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

/* What spool_next gave has arrived, or never will and is not to be kept. False: in the file of
 * another program that cannot be noted (spool_trouble says why), so that it stays there. */
bool spool_acknowledge(struct spool *spool);

/* What spool_next gave stays in the file and is not given again by this program: it was refused;
 * or, if `damaged`, cannot be read. */
void spool_leave(struct spool *spool, bool damaged);

/* What was damaged when the file was opened, or found damaged since. */
struct spool_damage spool_damage(struct spool *spool);

/* Ends the file: removes it if everything has arrived; renames it to NAME.damaged, or
 * NAME.damaged.1 to .9 where that is another file, if all that is left is damaged: spool_path says
 * which from then on. SPOOL_STAYS though nothing waits: spool_trouble says why it failed. */
enum spool_rest { SPOOL_REMOVED, SPOOL_STAYS, SPOOL_SET_ASIDE };
enum spool_rest spool_settle(struct spool *spool);

/* Records that are not acknowledged. */
uint64_t spool_waiting(struct spool *spool);

/* Of those, how many wait in memory; first they are written to the disk if it takes them by now. */
uint64_t spool_in_memory(struct spool *spool);

/* Why the disk did not take what was appended or noted, the newest time: an errno; 0: it took all.
 */
int spool_trouble(struct spool *spool);

/* `remove`: the file too, whatever it holds. Else it stays where it has a name. Accepts NULL. */
void spool_close(struct spool *spool, bool remove);

#endif
