/* address.h: where a person says a server is: whether it can be asked, and how it may be shown.
 *
 * The command looks at what stands on its line before anything begins; the program at what the
 * environment says too. Pure. */
#ifndef VITALS_EXPORT_ADDRESS_H
#define VITALS_EXPORT_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include <vitals/vitals.h>

/* An address as it may be shown, one safe line: its scheme and what stands behind the last @, since
 * before it may be a name and password; and nothing of a query. True to its size, else cut. */
void address_show(const char *url, char *out, size_t size);

/* What of it follows a name and password: all behind the last @, since a password may hold what
 * else would end it; without one all behind the scheme. */
const char *address_behind_login(const char *url);

/* Whether both are one server: without a login, a query and slashes at the end; scheme and host in
 * whatever case. The names alone: one that has two names is two. */
bool address_is_same(const char *url, const char *other);

/* http:// or https://, a host behind it, and a port from 1 to 65535 where one is said; before it,
 * if at all, a name and password in which @ / ? # are percent-encoded. */
bool address_is_web(const char *url);

/* Behind a message that says that it is none: how a login in it is written; "": there is none. */
const char *address_hint(const char *url);

/* EARGUMENT and why, where this is no address of a server of MLflow's: a file, a database, a
 * cloud's name. */
int address_check_mlflow(const char *uri, vitals_error *error);

/* EARGUMENT and why, where this cannot be listened at, whatever the machine: its form alone. */
int address_check_listen(const char *where, vitals_error *error);

#endif
