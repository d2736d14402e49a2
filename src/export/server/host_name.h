/* host_name.h: checks the header Host against the names of this server.
 *
 * A foreign page whose name resolves to our address (DNS rebinding) could read everything through
 * the browser, but the browser sends that name in Host. Pure functions, except host_names_new. */
#ifndef VITALS_EXPORT_SERVER_HOST_NAME_H
#define VITALS_EXPORT_SERVER_HOST_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

enum { HOST_NAME_MAX_BYTES = 256 };

/* Reads the name or address of a Host header: in lower case, without port, brackets and final dot.
 * Returns false if it is neither. */
bool host_name_parse(const char *header, char out[static HOST_NAME_MAX_BYTES]);

struct host_names;

/* Makes the list of names: this machine's, "localhost" and those given, which host_name_parse must
 * accept; others are ignored. Returns NULL without memory. */
struct host_names *host_names_new(const char *const *allowed, size_t count);
void host_names_free(struct host_names *names); /* accepts NULL */

/* Returns whether the header names this server to a client that is connected to the address
 * `local`. Unix sockets accept any name, because no browser connects to them. */
bool host_names_allow(const struct host_names *names, const char *header,
                      const struct sockaddr *local);

/* Returns whether it is a loopback address. */
bool host_is_loopback(const struct sockaddr *address);

#endif
