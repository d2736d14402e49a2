/* host_list.h: which machines `--hosts` names.
 *
 *     a,b,c                  names or addresses; host:port; [::1]:9847
 *     node[01-64,70]         as Slurm writes them; several brackets in one name count like digits
 *     https://host:9847      another scheme; a login in it is sent to that machine alone
 *     @FILE                  items line by line, # begins a comment; or Prometheus' file_sd JSON
 *
 * Everything is untrusted and bounded: what is too much or has no meaning is an error that names
 * the part. A machine that is named twice is asked once. Pure but for reading files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <vitals/vitals.h>

enum {
    HOSTS_MOST = 10000,
    HOST_FILE_MOST = 4 * 1024 * 1024,
    HOST_NAME = 256, /* bytes of a name without its port, and the NUL */
    HOST_PORT = 6
};

struct host_place {
    char *url;  /* "http://node01:9847", with a login if one was given */
    char *name; /* to show: the host, and its port if one was given; printable ASCII */
};

/* One of zeros is empty. */
struct host_list {
    struct host_place *items;
    size_t count, capacity;
};

/* Adds what a list names. `port` is that of items without one. Errors: EARGUMENT (the message says
 * which part is wrong), EGONE, EDENIED, ESYSTEM (a file), EUNSUPPORTED (file_sd in a build without
 * JSON), EMEMORY. */
int host_list_parse(const char *words, unsigned port, struct host_list *out, vitals_error *error);

/* The same for the content of a file, whose name is for messages. */
int host_list_parse_file(const char *path, const char *bytes, size_t size, unsigned port,
                         struct host_list *out, vitals_error *error);

void host_list_done(struct host_list *list); /* accepts zeros */

/* True for a name, an address, an IPv6 address in brackets; and perhaps a port. Such a name is no
 * option of a program. */
bool host_list_is_name(const char *text);

/* Splits such a name, as "[::1]:22", into the host without brackets and the port; "": none. */
void host_list_split_name(const char *name, char host[static HOST_NAME],
                          char port[static HOST_PORT]);
