/* account_json.h: an account read from its JSON (docs/account.md). */
#ifndef VITALS_RECORD_ACCOUNT_JSON_H
#define VITALS_RECORD_ACCOUNT_JSON_H

#include <vitals/vitals.h>

/* Reads one document. The caller frees *out. Unknown members are ignored; known ones must be valid.
 * Errors: EFORMAT, EUNSUPPORTED (a newer schema, built without jansson), EMEMORY. */
int account_json_read(const char *path, const char *bytes, size_t size, vitals_account **out,
                      vitals_error *error);

#endif
