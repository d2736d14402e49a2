/* What the tests of sockets share: readings of the table socket by sock_diag and by the files, rows
 * as lines, and sockets to look at. Everything is static: each test program includes it once. */
#ifndef TESTS_UNIT_SOCKET_WORLD_H
#define TESTS_UNIT_SOCKET_WORLD_H

#include "process_world.h"

#include "os/linux/sockets/sockets.h"
#include "os/linux/tables.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

/* ---- a reading ---- */

static struct row_batch batch;

static inline struct metric_set everything(void)
{
    struct metric_set set = {0};
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;)
        if (vitals_metric_table(metric) == VITALS_TABLE_SOCKET)
            metric_set_add(&set, metric);
    return set;
}

static inline struct os open_os(const char *proc_root)
{
    vitals_options options;
    vitals_options_init(&options, sizeof options);
    options.proc_root = proc_root;
    struct os os;
    vitals_error error;
    CHECK_OK(os_open(&os, &options, &error), error);
    return os;
}

static inline int read_process(const struct os *os, int64_t pid)
{
    struct metric_set wanted = everything();
    batch_reset(&batch, &wanted);
    return os_process_table(os, pid, VITALS_TABLE_SOCKET, &batch);
}

static inline int read_machine(const struct os *os)
{
    struct metric_set wanted = everything();
    batch_reset(&batch, &wanted);
    return os_read_table(os, VITALS_TABLE_SOCKET, &batch);
}

/* By sock_diag, and by the files: what is not live has nothing else. */
static const char *const WAYS[] = {"sock_diag", "/proc/PID/net"};

static inline struct os open_way(size_t way)
{
    struct os os = open_os(NULL);
    if (way == 1)
        os.live = false;
    return os;
}

/* ---- rows ---- */

static inline uint64_t number_of(const struct batch_row *row, vitals_metric metric)
{
    const struct batch_cell *cell = batch_find(&batch, row, metric);
    if (cell == NULL || cell->state <= 0)
        CHECK_FAIL("%s is %s", vitals_metric_name(metric),
                   cell != NULL ? vitals_availability_name(cell->state) : "not there");
    return cell->as.u64;
}

/* The value as text, a missing one as "<why>"; the result lives for a few calls. */
static inline const char *shown(const struct batch_row *row, vitals_metric metric)
{
    static char texts[16][256];
    static unsigned turn;
    char *out = texts[turn++ % CHECK_COUNT(texts)];
    const struct batch_cell *cell = batch_find(&batch, row, metric);
    if (cell == NULL)
        return "<unset>";
    if (cell->state <= 0) {
        snprintf(out, sizeof texts[0], "<%s>", vitals_availability_name(cell->state));
    } else if (vitals_metric_type(metric) == VITALS_TEXT) {
        struct span text = batch_span(&batch, cell);
        vitals_text_format((vitals_text){text.bytes, text.size}, VITALS_TEXT_TERMINAL, out,
                           sizeof texts[0]);
    } else {
        snprintf(out, sizeof texts[0], "%llu", (unsigned long long)cell->as.u64);
    }
    return out;
}

/* "inet stream tcp 127.0.0.1 80 -  <unsupported> listen": what the tests below expect. */
static inline const char *line_of(const struct batch_row *row)
{
    static char line[1024];
    snprintf(line, sizeof line, "%s %s %s [%s] %s [%s] %s %s", shown(row, VITALS_SOCKET_FAMILY),
             shown(row, VITALS_SOCKET_TYPE), shown(row, VITALS_SOCKET_PROTOCOL),
             shown(row, VITALS_SOCKET_LOCAL_ADDRESS), shown(row, VITALS_SOCKET_LOCAL_PORT),
             shown(row, VITALS_SOCKET_REMOTE_ADDRESS), shown(row, VITALS_SOCKET_REMOTE_PORT),
             shown(row, VITALS_SOCKET_STATE));
    return line;
}

static inline const struct batch_row *find_row(int64_t pid, int descriptor)
{
    for (size_t i = 0; i < batch.row_count; i++) {
        const struct batch_cell *owner = batch_find(&batch, &batch.rows[i], VITALS_SOCKET_PID);
        if (owner != NULL && owner->state > 0 && owner->as.u64 == (uint64_t)pid &&
            number_of(&batch.rows[i], VITALS_SOCKET_DESCRIPTOR) == (uint64_t)descriptor)
            return &batch.rows[i];
    }
    return NULL;
}

static inline const struct batch_row *need_row(int64_t pid, int descriptor)
{
    const struct batch_row *row = find_row(pid, descriptor);
    if (row == NULL)
        CHECK_FAIL("descriptor %d of %lld has no row", descriptor, (long long)pid);
    return row;
}

static inline void check_line(int descriptor, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline void check_line(int descriptor, const char *format, ...)
{
    char expected[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(expected, sizeof expected, format, arguments);
    va_end(arguments);
    CHECK_STR(line_of(need_row(getpid(), descriptor)), expected);
}

/* ---- sockets to look at ---- */

enum { SOCKETS = 64 };
static int opened[SOCKETS];
static size_t opened_count;

static inline int keep(int descriptor)
{
    if (descriptor < 0)
        CHECK_FAIL("socket: %s", strerror(errno));
    opened[opened_count++] = descriptor;
    return descriptor;
}

static inline void close_all(void)
{
    while (opened_count > 0)
        close(opened[--opened_count]);
}

union address {
    struct sockaddr any;
    struct sockaddr_in inet;
    struct sockaddr_in6 inet6;
    struct sockaddr_un local;
};

static inline uint16_t port_of(int descriptor)
{
    union address address = {0};
    socklen_t size = sizeof address;
    if (getsockname(descriptor, &address.any, &size) != 0)
        CHECK_FAIL("getsockname: %s", strerror(errno));
    return ntohs(address.any.sa_family == AF_INET ? address.inet.sin_port
                                                  : address.inet6.sin6_port);
}

static inline union address loopback(int family, uint16_t port, socklen_t *size)
{
    union address address = {0};
    address.any.sa_family = (sa_family_t)family;
    if (family == AF_INET) {
        address.inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.inet.sin_port = htons(port);
        *size = sizeof address.inet;
    } else {
        address.inet6.sin6_addr = in6addr_loopback;
        address.inet6.sin6_port = htons(port);
        *size = sizeof address.inet6;
    }
    return address;
}

static inline bool try_bind(int descriptor, int family)
{
    socklen_t size;
    union address address = loopback(family, 0, &size);
    return bind(descriptor, &address.any, size) == 0;
}

static inline int bound(int family, int type)
{
    int descriptor = keep(socket(family, type | SOCK_CLOEXEC, 0));
    if (!try_bind(descriptor, family))
        CHECK_FAIL("bind: %s", strerror(errno));
    return descriptor;
}

static inline int listening(int family)
{
    int descriptor = bound(family, SOCK_STREAM);
    if (listen(descriptor, 7) != 0)
        CHECK_FAIL("listen: %s", strerror(errno));
    return descriptor;
}

static inline int connected(int family, int type, uint16_t port)
{
    int descriptor = keep(socket(family, type | SOCK_CLOEXEC, 0));
    socklen_t size;
    union address address = loopback(family, port, &size);
    if (connect(descriptor, &address.any, size) != 0)
        CHECK_FAIL("connect: %s", strerror(errno));
    return descriptor;
}

static inline int accepted(int listener)
{
    return keep(accept4(listener, NULL, NULL, SOCK_CLOEXEC));
}

static inline bool has_inet6(void)
{
    int descriptor = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool has = descriptor >= 0 && try_bind(descriptor, AF_INET6);
    if (descriptor >= 0)
        close(descriptor);
    return has;
}

/* A name of `size` bytes; an abstract one begins with NUL. */
static inline int unix_bound(int type, const char *name, size_t size)
{
    int descriptor = keep(socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
    union address address = {.local = {.sun_family = AF_UNIX}};
    memcpy(address.local.sun_path, name, size);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
    if (bind(descriptor, &address.any, length) != 0)
        CHECK_FAIL("bind: %s", strerror(errno));
    return descriptor;
}

static inline int unix_connected(int type, const char *name, size_t size)
{
    int descriptor = keep(socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
    union address address = {.local = {.sun_family = AF_UNIX}};
    memcpy(address.local.sun_path, name, size);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
    if (connect(descriptor, &address.any, length) != 0)
        CHECK_FAIL("connect: %s", strerror(errno));
    return descriptor;
}

static inline size_t count_lines(const char *line)
{
    size_t count = 0;
    for (size_t i = 0; i < batch.row_count; i++)
        count += strcmp(line_of(&batch.rows[i]), line) == 0;
    return count;
}

#endif
