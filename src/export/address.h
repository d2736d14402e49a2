/* address.h: addresses of servers that a person gives: validity, comparison, and how to print them
 * without a login. The command checks those of its command line before anything begins; the
 * exporter also those of the environment. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <vitals/vitals.h>

/* Formats an address for messages, as one safe line: the scheme and the part after the last @
 * (before it may be a login), without a query. Cut to the size. */
void address_show(const char *url, char *out, size_t size);

/* Returns the part after the login: after the last @, since a password may contain characters that
 * would end it; after the scheme if there is no @. */
const char *address_behind_login(const char *url);

/* Compares two addresses without login, query and trailing slashes; scheme and host ignore case.
 * Names are not resolved: two names of one server differ. */
bool address_is_same(const char *url, const char *other);

/* Accepts http:// or https:// with a host and an optional port from 1 to 65535. A login may precede
 * the host; its @ / ? # must be percent-encoded. */
bool address_is_web(const char *url);

/* Returns a hint to append to an error message: how to write the login in the address; "" if it has
 * none. */
const char *address_hint(const char *url);

/* Returns EARGUMENT with the reason if this is not an address of an MLflow server: a file, a
 * database, a cloud provider's name. */
int address_check_mlflow(const char *uri, vitals_error *error);

/* Returns EARGUMENT with the reason if this cannot be listened on. Checks the form only. */
int address_check_listen(const char *where, vitals_error *error);
