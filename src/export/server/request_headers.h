/* request_headers.h: parses the headers Accept, Accept-Encoding and If-None-Match, and checks Host
 * against the names of this server. Pure, except host_names_init. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* The quality is in thousandths; 0 if the header does not mention the type. */
struct accept_quality {
    int quality;
    int exactness; /* 3: named, 2: by its kind (text and a star), 1: by a star, 0: not mentioned */
};

/* Returns how much a client wants a document of that type. A range with a version counts only if
 * `versions`, which ends with NULL, has it. `header` may be NULL. */
struct accept_quality accept_type(const char *header, const char *type,
                                  const char *const *versions);

/* Returns whether the client accepts this coding ("gzip"). */
bool accept_encoding(const char *header, const char *coding);

/* Returns whether an entity tag, with its quotes, is in an If-None-Match. */
bool accept_has_tag(const char *header, const char *tag);

/* ---- Host ----
 *
 * A foreign page whose name resolves to our address (DNS rebinding) could read everything through
 * the browser, but the browser sends that name in Host. */

enum { HOST_NAME_MAX_BYTES = 256, HOST_NAMES_MAX = 66 /* two of the machine's own */ };

/* Reads the name or address of a Host header: in lower case, without port, brackets and final dot.
 * Returns false if it is neither. */
bool host_name_parse(const char *header, char out[static HOST_NAME_MAX_BYTES]);

struct host_names {
    size_t count;
    char names[HOST_NAMES_MAX][HOST_NAME_MAX_BYTES];
};

/* Begins the list with "localhost" and this machine's name. */
void host_names_init(struct host_names *names);

/* Adds a name. Returns false if host_name_parse does not accept it, or there is no place left. */
bool host_names_add(struct host_names *names, const char *header);

/* Returns whether the header names this server to a client that is connected to the address
 * `local`. Unix sockets accept any name, because no browser connects to them. */
bool host_names_allow(const struct host_names *names, const char *header,
                      const struct sockaddr *local);

/* Returns whether it is a loopback address. */
bool host_is_loopback(const struct sockaddr *address);
