/* json.h: snapshots and accounts from their JSON.
 *
 * Reads what vitals_snapshot_json and vitals_account_json write. Several snapshots behind each
 * other, from a file or a pipe, are a feed (feed.h). */
#ifndef VITALS_LIBRECORD_JSON_H
#define VITALS_LIBRECORD_JSON_H

#include <vitals/account.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a snapshot of one JSON document of the form docs/schema/snapshot.json. Tables and columns
 * that this library does not know are passed over; those that it knows must be right. `bytes` need
 * not end in NUL and need not live on; *out is the caller's to unref. Errors: EFORMAT (the message
 * names the line and what is wrong there), EMEMORY, EUNSUPPORTED (this build reads no JSON).
 * Thread: any. Cost: no system call. */
VITALS_API VITALS_CHECKED int vitals_snapshot_read_json(const char *bytes, size_t size,
                                                        vitals_snapshot **out, vitals_error *error)
    VITALS_NONNULL(1, 3);

/* Makes an account of its JSON (docs/account.md). Members that this library does not know are
 * passed over. `bytes` need not end in NUL and need not live on; *out is the caller's to free.
 * Errors: EFORMAT, EMEMORY, EUNSUPPORTED (this build reads no JSON, or the form is newer). Thread:
 * any. Cost: no system call. */
VITALS_API VITALS_CHECKED int vitals_account_read_json(const char *bytes, size_t size,
                                                       vitals_account **out, vitals_error *error)
    VITALS_NONNULL(1, 3);

#ifdef __cplusplus
}
#endif

#endif
