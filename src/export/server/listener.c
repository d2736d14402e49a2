/* listener.c: see listener.h. */
#include "export/server/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "export/server/request_headers.h"
#include "record/sample.h"
#include "util/number.h"

enum { BACKLOG = 1024 };

union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    struct sockaddr_un path;
    struct sockaddr_storage storage;
};

static int refuse_errno(int number, const char *where, vitals_error *error)
{
    if (number == EADDRINUSE)
        return record_fail(VITALS_ESYSTEM, where, error,
                           "another program listens there already; choose another address with "
                           "--port or --listen");
    if (number == EADDRNOTAVAIL || number == EAFNOSUPPORT)
        return record_fail(VITALS_ESYSTEM, where, error, "not an address of this machine");
    return record_fail_errno(number, where, error);
}

static int refuse_beyond(const char *where, const char *lacks, vitals_error *error)
{
    return record_fail(VITALS_EARGUMENT, where, error,
                       "can be reached from other machines; that needs %s, or --allow-insecure",
                       lacks);
}

/* Writes the name of the bound address, with the port that the kernel chose for port 0. */
static void name_it(struct listener *listener, const char *where)
{
    union address address = {.any.sa_family = AF_UNSPEC};
    socklen_t size = sizeof address;
    char host[INET6_ADDRSTRLEN] = "";
    if (getsockname(listener->descriptor, &address.any, &size) != 0)
        address.any.sa_family = AF_UNSPEC;
    if (address.any.sa_family == AF_INET)
        (void)snprintf(listener->name, sizeof listener->name, "%s:%u",
                       inet_ntop(AF_INET, &address.four.sin_addr, host, sizeof host),
                       (unsigned)ntohs(address.four.sin_port));
    else if (address.any.sa_family == AF_INET6)
        (void)snprintf(listener->name, sizeof listener->name, "[%s]:%u",
                       inet_ntop(AF_INET6, &address.six.sin6_addr, host, sizeof host),
                       (unsigned)ntohs(address.six.sin6_port));
    else if (address.any.sa_family == AF_UNIX && address.path.sun_path[0] == '/')
        (void)snprintf(listener->name, sizeof listener->name, "unix:%.*s",
                       (int)sizeof address.path.sun_path, address.path.sun_path);
    else
        (void)snprintf(listener->name, sizeof listener->name, "%s", where);
    listener->beyond = address.any.sa_family != AF_UNIX && !host_is_loopback(&address.any);
}

/* ---- an address ---- */

/* Parses a numeric address with a port: "127.0.0.1:9847". */
static bool read_address(const char *where, union address *out, socklen_t *size)
{
    char host[INET6_ADDRSTRLEN + 2];
    const char *colon = strrchr(where, ':');
    size_t length = colon != NULL ? (size_t)(colon - where) : 0;
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                             .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    uint64_t port;
    if (length == 0 || length >= sizeof host || strlen(colon + 1) > 5 ||
        !number_is_u64(colon + 1, &port) || port > UINT16_MAX)
        return false;
    bool bracket = where[0] == '[' && colon[-1] == ']';
    if (!bracket && memchr(where, ':', length) != NULL)
        return false;
    length -= bracket ? 2 : 0;
    memcpy(host, where + bracket, length);
    host[length] = '\0';
    if (getaddrinfo(host, colon + 1, &hints, &found) != 0)
        return false;
    bool fits = found->ai_addrlen <= sizeof *out;
    if (fits)
        memcpy(out, found->ai_addr, found->ai_addrlen);
    *size = found->ai_addrlen;
    freeaddrinfo(found);
    return fits;
}

/* Returns 0, or the positive errno of the call that failed. */
static int bind_socket(const union address *address, socklen_t size, int *out)
{
    int on = 1;
    int descriptor = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0)
        return errno;
    if (address->any.sa_family == AF_UNIX)
        (void)fchmod(descriptor, S_IRUSR | S_IWUSR); /* bind() creates the file with this mode */
    else
        (void)setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address->any.sa_family == AF_INET6)
        (void)setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(descriptor, &address->any, size) == 0 && listen(descriptor, BACKLOG) == 0) {
        *out = descriptor;
        return 0;
    }
    int number = errno;
    (void)close(descriptor);
    return number;
}

/* *number is the positive errno of a system call that failed, or unchanged. */
static int open_address(const char *where, const char *lacks, struct listener *out, int *number,
                        vitals_error *error)
{
    union address address = {.any.sa_family = AF_UNSPEC};
    socklen_t size;
    if (!read_address(where, &address, &size))
        return record_fail(VITALS_EARGUMENT, where, error,
                           "not an address to listen on; give an IP address, localhost or "
                           "unix:/PATH, as in 127.0.0.1:9847 (0.0.0.0 or [::] for all)");
    if (lacks != NULL && !host_is_loopback(&address.any))
        return refuse_beyond(where, lacks, error);
    *number = bind_socket(&address, size, &out->descriptor);
    if (*number != 0)
        return refuse_errno(*number, where, error);
    name_it(out, where);
    return 0;
}

/* ---- a Unix socket ---- */

static int open_path(const char *where, struct listener *out, vitals_error *error)
{
    union address address = {.path.sun_family = AF_UNIX};
    const char *path = where + strlen("unix:");
    struct stat status;
    if (path[0] != '/' || strlen(path) >= sizeof address.path.sun_path)
        return record_fail(VITALS_EARGUMENT, where, error,
                           "the path of a socket begins with / and has at most %zu bytes",
                           sizeof address.path.sun_path - 1);
    memcpy(address.path.sun_path, path, strlen(path) + 1);
    int number = bind_socket(&address, sizeof address.path, &out->descriptor);

    /* A socket without a listener is removed: a killed server has left it. */
    if (number == EADDRINUSE && lstat(path, &status) == 0 && S_ISSOCK(status.st_mode)) {
        int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        bool dead = probe >= 0 && connect(probe, &address.any, sizeof address.path) != 0 &&
                    errno == ECONNREFUSED;
        if (probe >= 0)
            (void)close(probe);
        if (dead && unlink(path) == 0)
            number = bind_socket(&address, sizeof address.path, &out->descriptor);
    }
    if (number == EADDRINUSE && lstat(path, &status) == 0 && !S_ISSOCK(status.st_mode))
        return record_fail(VITALS_ESYSTEM, where, error, "exists and is not a socket");
    if (number != 0)
        return refuse_errno(number, where, error);
    name_it(out, where);
    if (lstat(path, &status) == 0) {
        memcpy(out->path, path, strlen(path) + 1);
        out->device = status.st_dev;
        out->inode = status.st_ino;
    }
    return 0;
}

/* ---- socket activation ---- */

static int open_inherited(const char *where, const char *lacks, struct listener *out,
                          vitals_error *error)
{
    const char *digits = where + strlen("fd:");
    int listening = 0;
    socklen_t size = sizeof listening;
    uint64_t number;
    if (strlen(digits) > 6 || !number_is_u64(digits, &number))
        return record_fail(VITALS_EARGUMENT, where, error, "not the number of a descriptor");
    int descriptor = (int)number;
    if (descriptor <= STDERR_FILENO ||
        getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0 || !listening)
        return record_fail(VITALS_EARGUMENT, where, error,
                           "no listening socket was passed (socket activation)");
    out->descriptor = descriptor;
    out->inherited = true;
    name_it(out, where);
    if (out->beyond && lacks != NULL) {
        (void)close(descriptor);
        return refuse_beyond(out->name, lacks, error);
    }
    (void)fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    (void)fcntl(descriptor, F_SETFL, O_NONBLOCK);
    return 0;
}

/* Returns whether an inherited socket already listens there: 0.0.0.0 covers every IPv4 address,
 * [::] every IPv6 one, and those of IPv4 unless IPV6_V6ONLY is set. */
static bool listens_already(const char *where, const struct listener *listeners, size_t count)
{
    union address wanted = {.any.sa_family = AF_UNSPEC}, bound;
    socklen_t size;
    bool path = strncmp(where, "unix:", 5) == 0, listens = false;
    if (!path && !read_address(where, &wanted, &size))
        return false;
    for (size_t i = 0; i < count && !listens; i++) {
        int six_only = 1;
        socklen_t flag_size = sizeof six_only;
        size = sizeof bound;
        if (!listeners[i].inherited)
            continue;
        if (path) {
            listens = strcmp(where, listeners[i].name) == 0;
            continue;
        }
        if (getsockname(listeners[i].descriptor, &bound.any, &size) != 0)
            continue;
        bool six = wanted.any.sa_family == AF_INET6;
        bool all = bound.any.sa_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&bound.six.sin6_addr);
        if (bound.any.sa_family == AF_INET && !six)
            listens = bound.four.sin_port == wanted.four.sin_port &&
                      (bound.four.sin_addr.s_addr == htonl(INADDR_ANY) ||
                       bound.four.sin_addr.s_addr == wanted.four.sin_addr.s_addr);
        else if (bound.any.sa_family == AF_INET6 && six)
            listens = bound.six.sin6_port == wanted.six.sin6_port &&
                      (all || IN6_ARE_ADDR_EQUAL(&bound.six.sin6_addr, &wanted.six.sin6_addr));
        else if (all && bound.six.sin6_port == wanted.four.sin_port)
            listens = getsockopt(listeners[i].descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &six_only,
                                 &flag_size) == 0 &&
                      six_only == 0;
    }
    return listens;
}

/* ---- all of them ---- */

/* IPv6 may be disabled; then IPv4 alone is opened. With port 0 both get the port that the kernel
 * chose for IPv4. */
static int open_localhost(const char *port, struct listener *listeners, size_t *count,
                          vitals_error *error)
{
    char where[LISTENER_NAME];
    (void)snprintf(where, sizeof where, "127.0.0.1:%.8s", port);
    int code = 0, number = 0;
    if (!listens_already(where, listeners, *count)) {
        code = open_address(where, NULL, &listeners[*count], &number, error);
        if (code < 0)
            return code;
        port = strrchr(listeners[(*count)++].name, ':') + 1;
    }
    (void)snprintf(where, sizeof where, "[::1]:%.8s", port);
    if (listens_already(where, listeners, *count))
        return 0;
    code = open_address(where, NULL, &listeners[*count], &number, error);
    *count += code == 0;
    return number == EAFNOSUPPORT || number == EADDRNOTAVAIL ? 0 : code;
}

int listeners_open(const char *where, const char *lacks, struct listener *listeners, size_t *count,
                   vitals_error *error)
{
    static const char LOCALHOST[] = "localhost:";
    if (*count + 2 > LISTENERS_MAX)
        return record_fail(VITALS_EARGUMENT, where, error, "more than %d addresses",
                           LISTENERS_MAX - 1);
    if (strncmp(where, LOCALHOST, sizeof LOCALHOST - 1) == 0)
        return open_localhost(where + sizeof LOCALHOST - 1, listeners, count, error);
    if (listens_already(where, listeners, *count))
        return 0;
    int number = 0;
    struct listener *out = &listeners[*count];
    *out = (struct listener){.descriptor = -1};
    int code = strncmp(where, "unix:", 5) == 0 ? open_path(where, out, error)
               : strncmp(where, "fd:", 3) == 0 ? open_inherited(where, lacks, out, error)
                                               : open_address(where, lacks, out, &number, error);
    *count += code == 0;
    return code;
}

void listeners_close(struct listener *listeners, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct stat status;
        const struct listener *listener = &listeners[i];
        (void)close(listener->descriptor);
        if (listener->path[0] != '\0' && lstat(listener->path, &status) == 0 &&
            status.st_dev == listener->device && status.st_ino == listener->inode)
            (void)unlink(listener->path);
    }
}
