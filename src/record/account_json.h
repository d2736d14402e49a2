/* account_json.h: an account read from its JSON (docs/account.md). */
#ifndef VITALS_RECORD_ACCOUNT_JSON_H
#define VITALS_RECORD_ACCOUNT_JSON_H

#include <vitals/vitals.h>

/* One document; *out is yours to free. What is unknown is passed over; what is known must be right.
 * Errors: EFORMAT, EUNSUPPORTED (a newer form, built without jansson), EMEMORY. */
int account_json_read(const char *path, const char *bytes, size_t size, vitals_account **out,
                      vitals_error *error);

#endif
