/* feed.h: snapshots from a file or a pipe, one after the other.
 *
 * A feed reads the snapshots of a recording (SQLite), or JSON documents behind each other, as
 * `vitals --json` writes them. It holds one at a time, whatever the size of the file. */
#ifndef VITALS_LIBRECORD_FEED_H
#define VITALS_LIBRECORD_FEED_H

#include <vitals/snapshot.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vitals_feed vitals_feed;

/* Opens a file of snapshots: a recording or JSON, as its first bytes tell. *out is the caller's to
 * close. Errors: EGONE, EDENIED, ESYSTEM (it cannot be opened), EUNSUPPORTED (a recording without
 * snapshots, a newer form, a build without what reads it), EFORMAT, EMEMORY. Cost: it reads the
 * head of the file. */
VITALS_API VITALS_CHECKED int vitals_feed_open(const char *path, vitals_feed **out,
                                               vitals_error *error) VITALS_NONNULL(1, 2);

/* Reads JSON documents from a descriptor: a pipe, a socket, a file. The feed keeps a copy of the
 * descriptor; the caller's stays the caller's to close. `name` is for messages.
 * Errors: ESYSTEM (no descriptor), EMEMORY. */
VITALS_API VITALS_CHECKED int vitals_feed_open_json(int descriptor, const char *name,
                                                    vitals_feed **out, vitals_error *error)
    VITALS_NONNULL(2, 3);

/* Reads the next snapshot. Returns 1, and *out is the caller's to unref; 0 at the end. Waits for a
 * pipe until a document is complete. A recording that grows is read up to its current end: a later
 * call may give more. Errors: EFORMAT (of JSON: the message names the line, and nothing more will
 * come; of a recording: told once behind all snapshots that are whole), ESYSTEM, EMEMORY,
 * EUNSUPPORTED. Cost: it reads one snapshot. */
VITALS_API VITALS_CHECKED int vitals_feed_next(vitals_feed *feed, vitals_snapshot **out,
                                               vitals_error *error) VITALS_NONNULL(1, 2);

/* Makes the next snapshot the first that was taken at that moment or later. Cost: a look-up in a
 * recording; JSON is read from its beginning. Errors: EUNSUPPORTED (a pipe), and those of
 * vitals_feed_next. */
VITALS_API VITALS_CHECKED int vitals_feed_seek(vitals_feed *feed, uint64_t realtime_ns,
                                               vitals_error *error) VITALS_NONNULL(1);

/* Closes a feed; its snapshots live on. Accepts NULL. */
VITALS_API void vitals_feed_close(vitals_feed *feed);

#ifdef __cplusplus
}
#endif

#endif
