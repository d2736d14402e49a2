/* host_name.h: which names and addresses this server answers to: the header Host.
 *
 * A page from elsewhere that has its own name resolve to our address (DNS rebinding) would be let
 * read everything by the browser; but it cannot help sending that name. Pure, but for
 * host_names_new. */
#ifndef VITALS_EXPORT_SERVER_HOST_NAME_H
#define VITALS_EXPORT_SERVER_HOST_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

enum { HOST_NAME_MAX_BYTES = 256 };

/* The name or address of a Host header: in small letters, without port, brackets and a dot at its
 * end. False: it is none. */
bool host_name_parse(const char *header, char out[static HOST_NAME_MAX_BYTES]);

struct host_names;

/* This machine's own name, the loopback's, and those given (as host_name_parse has them; what is no
 * name is passed over). NULL when memory is out. */
struct host_names *host_names_new(const char *const *allowed, size_t count);
void host_names_free(struct host_names *names); /* accepts NULL */

/* Whether a header names us to who is connected to that address of ours. A socket in a folder has
 * none, and no browser comes to it: any name will do there. */
bool host_names_allow(const struct host_names *names, const char *header,
                      const struct sockaddr *local);

/* Whether it is an address of the loopback. */
bool host_is_loopback(const struct sockaddr *address);

#endif
