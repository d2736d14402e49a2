/* socket_activation.c: takes a listening socket from the parent, as sd_listen_fds(3) describes:
 * LISTEN_PID is the pid that it is for, LISTEN_FDS the number of descriptors from 3 on. One thread.
 * The server program checks whether that address is allowed. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "command/export/exporter.h"

enum { FIRST_HANDED = 3 };

/* 0: it is not there, or no number. */
static unsigned long long number_of(const struct environment_settings *environment,
                                    const char *name)
{
    static const unsigned long long MOST = 1ULL << 40;
    size_t size = strlen(name);
    unsigned long long number = 0;
    const char *digits = "";
    for (const char *const *at = environment->variables; at != NULL && *at != NULL; at++) {
        if (strncmp(*at, name, size) == 0 && (*at)[size] == '=')
            digits = *at + size + 1;
    }
    for (; *digits >= '0' && *digits <= '9' && number < MOST; digits++)
        number = number * 10 + (unsigned long long)(*digits - '0');
    return *digits == '\0' ? number : 0;
}

/* What is said to stand there may be another thing, of our own even. */
static bool listens(int descriptor)
{
    int listening = 0;
    socklen_t size = sizeof listening;
    return getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) == 0 &&
           listening != 0;
}

int socket_activation_take(const struct environment_settings *environment, int *out)
{
    unsigned long long count = number_of(environment, "LISTEN_FDS");
    *out = -1;
    if (count == 0 || number_of(environment, "LISTEN_PID") != (unsigned long long)getpid())
        return 0;
    if (count != 1)
        return command_fail(EXIT_CANNOT,
                            "%llu sockets are handed down by who started this, and one is taken; "
                            "one ListenStream= in the .socket unit",
                            count);
    if (!listens(FIRST_HANDED))
        return command_fail(EXIT_CANNOT, "no socket that listens was handed down: LISTEN_FDS is "
                                         "set, and descriptor 3 is none");
    int descriptor = fcntl(FIRST_HANDED, F_DUPFD_CLOEXEC, LINK_HANDED + 1);
    if (descriptor < 0)
        return command_fail(EXIT_CANNOT, "the socket that was handed down: %s", strerror(errno));
    (void)close(FIRST_HANDED);
    *out = descriptor;
    return 0;
}
