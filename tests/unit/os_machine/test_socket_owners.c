/* The table socket for other processes and the machine: the holders, in which network namespace,
 * which may not be asked, and which show nothing. */
#include "socket_world.h"

#include <pthread.h>
#include <sys/mount.h>

/* ---- other processes ---- */

/* A child in a network namespace of its own that listens; *told says the port, 0: forbidden. */
static pid_t child_elsewhere(uint16_t *told)
{
    int channel[2];
    CHECK_INT(pipe(channel), 0);
    pid_t pid = child_fork();
    if (pid == 0) {
        close(channel[0]);
        uint16_t port = 0;
        if (unshare(CLONE_NEWNET) == 0) {
            int listener = socket(AF_INET, SOCK_STREAM, 0);
            union address any = {.inet = {.sin_family = AF_INET}};
            if (bind(listener, &any.any, sizeof any.inet) == 0 && listen(listener, 1) == 0)
                port = port_of(listener);
            int named = socket(AF_UNIX, SOCK_DGRAM, 0);
            union address name = {.local = {.sun_family = AF_UNIX, .sun_path = "\0elsewhere"}};
            if (bind(named, &name.any, offsetof(struct sockaddr_un, sun_path) + 10) != 0)
                port = 0;
        }
        if (write(channel[1], &port, sizeof port) != sizeof port)
            _exit(1);
        for (;;)
            pause();
    }
    close(channel[1]);
    bool read_it = read(channel[0], told, sizeof *told) == sizeof *told;
    close(channel[0]);
    CHECK(read_it);
    return pid;
}

static void another_network_namespace_is_read(void)
{
    uint16_t port;
    pid_t pid = child_elsewhere(&port);
    if (port == 0) {
        child_end(pid);
        CHECK_SKIP("unshare(CLONE_NEWNET) is not permitted");
    }
    struct os os = open_way(0);
    int result = read_process(&os, pid);
    char line[128];
    snprintf(line, sizeof line, "inet stream tcp [0.0.0.0] %u [] <unsupported> listen", port);
    size_t listeners = result == 0 ? count_lines(line) : 0;
    size_t named = count_lines("unix datagram unix [@elsewhere] <unsupported> [] <unsupported> "
                               "close");
    int machine = read_machine(&os);
    size_t ours = count_lines("unix datagram unix [@elsewhere] <unsupported> [] <unsupported> "
                              "close");
    os_close(&os);
    child_end(pid);
    CHECK_INT(result, 0);
    CHECK_INT(machine, 0);
    CHECK_UINT(listeners, 1);
    CHECK_UINT(named, 1);
    CHECK_UINT(ours, 0); // it is not of our namespace
}

static void a_process_that_is_gone_says_so(void)
{
    pid_t pid = child_new();
    child_end(pid);
    struct os os = open_way(0);
    CHECK_INT(os_availability(read_process(&os, pid)), VITALS_GONE);
    CHECK_UINT(batch.row_count, 0);
    CHECK_INT(read_process(&os, 0), -EINVAL);
    os_close(&os);
}

/* Runs `look` in a child without rights; what it returns is its exit status. */
static int without_rights(int (*look)(pid_t other))
{
    pid_t other = child_new();
    pid_t pid = child_fork();
    if (pid == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(100);
        _exit(look(other));
    }
    int status = 0;
    waitpid(pid, &status, 0);
    child_end(other);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 101;
}

static int look_at_another(pid_t other)
{
    struct os os = open_way(0);
    if (os_availability(read_process(&os, other)) != VITALS_DENIED)
        return 1;
    if (read_machine(&os) != 0 || batch.states[VITALS_TABLE_SOCKET] != VITALS_LOWER_BOUND)
        return 2;
    for (size_t i = 0; i < batch.row_count; i++) {
        const struct batch_cell *inode = batch_find(&batch, &batch.rows[i], VITALS_SOCKET_INODE);
        const char *pid = shown(&batch.rows[i], VITALS_SOCKET_PID);
        if (pid[0] == '<' && strcmp(pid, inode->as.u64 != 0 ? "<denied>" : "<unsupported>") != 0)
            return 3;
    }
    return 0;
}

static void who_may_not_ask_is_told_so(void)
{
    if (getuid() != 0)
        CHECK_SKIP("needs root, to become somebody else");
    int listener = listening(AF_INET);
    (void)listener;
    CHECK_INT(without_rights(look_at_another), 0);
    close_all();
}

/* Under hidepid=2 the only sign that processes are hidden is that pid 1 is not there. */
static int look_past_hidden(pid_t other)
{
    (void)other;
    struct os os = open_way(0);
    if (!os.live)
        return 1;
    if (read_machine(&os) != 0 || batch.states[VITALS_TABLE_SOCKET] != VITALS_LOWER_BOUND)
        return 2;
    for (size_t i = 0; i < batch.row_count; i++)
        if (number_of(&batch.rows[i], VITALS_SOCKET_INODE) != 0 &&
            strcmp(shown(&batch.rows[i], VITALS_SOCKET_PID), "<unsupported>") == 0)
            return 3;
    return 0;
}

static void who_is_hidden_may_hold_sockets(void)
{
    int listener = listening(AF_INET);
    (void)listener;
    pid_t pid = child_fork();
    if (pid == 0) {
        if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
            mount("proc", "/proc", "proc", 0, "hidepid=2") != 0)
            _exit(99);
        _exit(without_rights(look_past_hidden));
    }
    int status = 0;
    waitpid(pid, &status, 0);
    close_all();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 99)
        CHECK_SKIP("mounting a /proc of one's own is not permitted");
    CHECK_INT(status, 0);
}

/* ---- processes that show nothing ---- */

static void *outlive(void *told)
{
    char path[64], state[256];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)getpid());
    for (bool ended = false; !ended;) { // until the first thread is a zombie, without an event
        int file = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t size = read(file, state, sizeof state - 1);
        state[size > 0 ? size : 0] = '\0';
        close(file);
        const char *name = strrchr(state, ')');
        ended = name != NULL && name[1] == ' ' && name[2] == 'Z';
        sched_yield();
    }
    if (write(*(int *)told, "y", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

/* A child whose first thread has ended, with what we have open. */
static pid_t child_headless(void)
{
    static int told[2];
    char byte;
    if (pipe(told) != 0)
        return -1;
    pid_t pid = child_fork();
    if (pid == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, outlive, &told[1]) != 0)
            _exit(1);
        pthread_exit(NULL);
    }
    close(told[1]);
    bool ready = read(told[0], &byte, 1) == 1;
    close(told[0]);
    return ready ? pid : -1;
}

static int headless_listener;

/* 0 where the child shows its listener, in both tables and by both ways. */
static int look_at_headless(pid_t other)
{
    (void)other;
    prctl(PR_SET_DUMPABLE, 1); // which it is not after a change of user
    pid_t pid = child_headless();
    if (pid < 0)
        return 10;
    int failure = 0;
    for (size_t way = 0; way < CHECK_COUNT(WAYS) && failure == 0; way++) {
        struct os os = open_way(way);
        bool shown_by_itself = read_process(&os, pid) == 0 &&
                               find_row(pid, headless_listener) != NULL &&
                               strstr(line_of(find_row(pid, headless_listener)),
                                      "inet stream tcp [127.0.0.1]") != NULL;
        bool complete = batch.states[VITALS_TABLE_SOCKET] == VITALS_HAVE;
        bool shown_by_machine = read_machine(&os) == 0 && find_row(pid, headless_listener) != NULL;
        failure = !shown_by_itself ? 1 : !complete ? 2 : !shown_by_machine ? 3 : 0;
        os_close(&os);
    }
    child_end(pid);
    return failure;
}

static void sockets_outlive_the_first_thread(void)
{
    headless_listener = listening(AF_INET);
    CHECK_INT(look_at_headless(0), 0);
    if (getuid() == 0)
        CHECK_INT(without_rights(look_at_headless), 0);
    close_all();
}

/* A zombie holds nothing, and that needs no permission. */
static int look_at_a_zombie(pid_t other)
{
    (void)other;
    pid_t pid = child_fork();
    if (pid == 0)
        _exit(0);
    siginfo_t info;
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0)
        return 1;
    struct os os = open_way(0);
    int result = read_process(&os, pid);
    os_close(&os);
    waitpid(pid, NULL, 0);
    return result != 0 || batch.row_count != 0 || batch.states[VITALS_TABLE_SOCKET] != VITALS_HAVE;
}

static void a_zombie_holds_none(void)
{
    CHECK_INT(look_at_a_zombie(0), 0);
    if (getuid() == 0)
        CHECK_INT(without_rights(look_at_a_zombie), 0);
}

/* ---- the machine ---- */

static void the_machine_has_a_row_per_holder(void)
{
    int listener = listening(AF_INET);
    int twin = keep(fcntl(listener, F_DUPFD_CLOEXEC, 30));
    pid_t child = child_new(); // which inherits both
    for (size_t way = 0; way < CHECK_COUNT(WAYS); way++) {
        CHECK_CASE(WAYS[way]);
        struct os os = open_way(way);
        CHECK_INT(read_machine(&os), 0);
        const struct batch_row *rows[] = {find_row(getpid(), listener), find_row(getpid(), twin),
                                          find_row(child, listener), find_row(child, twin)};
        char line[128];
        snprintf(line, sizeof line, "inet stream tcp [127.0.0.1] %u [] <unsupported> listen",
                 port_of(listener));
        size_t found = 0;
        for (size_t i = 0; i < CHECK_COUNT(rows); i++)
            found += rows[i] != NULL && rows[i]->key == 0 && strcmp(line_of(rows[i]), line) == 0;
        CHECK_UINT(found, 4);
        CHECK(rows[0] < rows[1] && rows[2] < rows[3]); // by descriptor
        CHECK_UINT(count_lines(line), 4);
        os_close(&os);
    }
    child_end(child);
    close_all();
}

static void what_nobody_holds_has_no_owner(void)
{
    int listener = listening(AF_INET);
    int client = connected(AF_INET, SOCK_STREAM, port_of(listener));
    int server = accepted(listener);
    uint16_t from = port_of(client), to = port_of(listener);
    char byte;
    shutdown(client, SHUT_RDWR);
    CHECK_INT(read(server, &byte, 1), 0);
    close_all(); // the client closed first: it waits for late packets
    char line[128];
    snprintf(line, sizeof line, "inet stream tcp [127.0.0.1] %u [127.0.0.1] %u time_wait", from,
             to);
    for (size_t way = 0; way < CHECK_COUNT(WAYS); way++) {
        CHECK_CASE(WAYS[way]);
        struct os os = open_way(way);
        CHECK_INT(read_machine(&os), 0);
        const struct batch_row *row = NULL;
        for (size_t i = 0; i < batch.row_count && row == NULL; i++)
            if (strcmp(line_of(&batch.rows[i]), line) == 0)
                row = &batch.rows[i];
        CHECK_NOT_NULL(row);
        CHECK_UINT(number_of(row, VITALS_SOCKET_INODE), 0);
        CHECK_STR(shown(row, VITALS_SOCKET_PID), "<unsupported>");
        CHECK_STR(shown(row, VITALS_SOCKET_UID), "<unsupported>"); // and not root's
        os_close(&os);
    }
}

static void owners_are_looked_for_only_if_wanted(void)
{
    int listener = listening(AF_INET);
    struct os os = open_way(0);
    struct metric_set wanted = {0};
    metric_set_add(&wanted, VITALS_SOCKET_LOCAL_PORT);
    metric_set_add(&wanted, VITALS_SOCKET_INODE);
    batch_reset(&batch, &wanted);
    CHECK_INT(os_read_table(&os, VITALS_TABLE_SOCKET, &batch), 0);
    size_t rows = 0;
    struct stat status;
    CHECK_INT(fstat(listener, &status), 0);
    for (size_t i = 0; i < batch.row_count; i++) {
        const struct batch_cell *port = batch_find(&batch, &batch.rows[i],
                                                   VITALS_SOCKET_LOCAL_PORT);
        if (number_of(&batch.rows[i], VITALS_SOCKET_INODE) == status.st_ino)
            rows += port != NULL && port->state > 0 && port->as.u64 == port_of(listener);
        CHECK_NULL(batch_find(&batch, &batch.rows[i], VITALS_SOCKET_PID));
    }
    CHECK_UINT(rows, 1);
    os_close(&os);
    close_all();
}

static const check_test tests[] = {
    {"sockets outlive the first thread", sockets_outlive_the_first_thread},
    {"a zombie holds none", a_zombie_holds_none},
    {"another network namespace is read", another_network_namespace_is_read},
    {"a process that is gone says so", a_process_that_is_gone_says_so},
    {"who may not ask is told so", who_may_not_ask_is_told_so},
    {"who is hidden may hold sockets", who_is_hidden_may_hold_sockets},
    {"the machine has a row per holder", the_machine_has_a_row_per_holder},
    {"what nobody holds has no owner", what_nobody_holds_has_no_owner},
    {"owners are looked for only if wanted", owners_are_looked_for_only_if_wanted},
};
CHECK_TESTS(tests)
