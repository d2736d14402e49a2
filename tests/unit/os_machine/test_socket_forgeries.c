/* The table socket and processes that lie: names that hold records of other sockets, and
 * descriptors that have become something else. */
#include "socket_world.h"

/* A path that holds a line of /proc/net/unix with another's inode. sock_diag cannot be fooled so;
 * of the file neither is believed. */
static void a_forged_line_deceives_nobody(void)
{
    struct tree tree = tree_new();
    int victim = unix_bound(SOCK_STREAM, "\0victim", 7);
    CHECK_INT(listen(victim, 1), 0);
    struct stat status;
    CHECK_INT(fstat(victim, &status), 0);
    char path[256];
    int size = snprintf(path, sizeof path,
                        "%s/\n0000000000000000: 00000002 00000000 00000000 0002 "
                        "01 %llu x",
                        tree.path, (unsigned long long)status.st_ino);
    CHECK(size < 108);
    unix_bound(SOCK_STREAM, path, (size_t)size);
    for (size_t way = 0; way < CHECK_COUNT(WAYS); way++) {
        CHECK_CASE(WAYS[way]);
        struct os os = open_way(way);
        CHECK_INT(read_process(&os, getpid()), 0);
        check_line(victim, "%s",
                   way == 0 ? "unix stream unix [@victim] <unsupported> [] <unsupported> listen"
                            : "unix <failed> unix [<failed>] <failed> [<failed>] <failed> "
                              "<failed>");
        os_close(&os);
    }
    close_all();
    tree_free(&tree);
}

static uint64_t inode_of_file(int descriptor)
{
    struct stat status;
    CHECK_INT(fstat(descriptor, &status), 0);
    return status.st_ino;
}

/* An abstract name, which needs no permission, with a record that claims an inode. */
static void claim(uint64_t inode, char mark)
{
    char name[108];
    int size = snprintf(name, sizeof name,
                        "_%c\n0000000000000000: 00000002 00000000 00010000 0001 01 %llu /run/fake",
                        mark, (unsigned long long)inode);
    CHECK(size < (int)sizeof name);
    name[0] = '\0';
    CHECK_INT(listen(unix_bound(SOCK_STREAM, name, (size_t)size), 1), 0);
}

static void a_forged_line_claims_no_socket_of_another_kind(void)
{
    int victim = listening(AF_INET);
    claim(inode_of_file(victim), 'a');
    char line[128];
    snprintf(line, sizeof line, "inet stream tcp [127.0.0.1] %u [] <unsupported> listen",
             port_of(victim));
    for (size_t way = 0; way < CHECK_COUNT(WAYS); way++) {
        CHECK_CASE(WAYS[way]);
        struct os os = open_way(way);
        CHECK_INT(read_process(&os, getpid()), 0);
        check_line(victim, "%s", line);
        CHECK_INT(read_machine(&os), 0);
        size_t rows = 0;
        for (size_t i = 0; i < batch.row_count; i++)
            rows += number_of(&batch.rows[i], VITALS_SOCKET_INODE) == inode_of_file(victim);
        CHECK_UINT(rows, 1);
        CHECK_STR(line_of(need_row(getpid(), victim)), line);
        os_close(&os);
    }
    close_all();
}

/* In another network namespace only the files tell, and of a socket that was never bound none. */
static void a_forged_line_claims_no_socket_that_no_list_has(void)
{
    int victim = keep(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    int channel[2];
    CHECK_INT(pipe(channel), 0);
    pid_t pid = child_fork();
    if (pid == 0) {
        bool made = unshare(CLONE_NEWNET) == 0;
        if (made)
            claim(inode_of_file(victim), 'b');
        if (write(channel[1], made ? "y" : "n", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(channel[1]);
    char made = 0;
    CHECK_INT(read(channel[0], &made, 1), 1);
    close(channel[0]);
    struct os os = open_way(0);
    int result = read_process(&os, pid);
    const struct batch_row *row = find_row(pid, victim);
    char line[1024];
    snprintf(line, sizeof line, "%s", row != NULL ? line_of(row) : "none");
    os_close(&os);
    child_end(pid);
    close_all();
    if (made != 'y')
        CHECK_SKIP("unshare(CLONE_NEWNET) is not permitted");
    CHECK_INT(result, 0);
    CHECK_STR(line, "inet stream tcp [<unsupported>] <unsupported> [<unsupported>] "
                    "<unsupported> <unsupported>");
}

/* Nothing is asked about a file that stands where a socket stood. */
static void what_took_a_sockets_place_is_not_asked(void)
{
    int fresh = keep(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    struct socket_owner owner = {
        .inode = inode_of_file(fresh), .pid = getpid(), .descriptor = (uint64_t)fresh};
    struct socket_info info = {0};
    struct os os = open_way(0);
    size_t descriptors = check_open_descriptors();
    CHECK(socket_owner_protocol(&os, &owner, &info));
    CHECK_UINT(info.family, AF_INET);
    int other = keep(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    CHECK_INT(dup3(other, fresh, O_CLOEXEC), fresh);
    CHECK_FALSE(socket_owner_protocol(&os, &owner, &info));
    CHECK_UINT(check_open_descriptors(), descriptors + 1);
    os_close(&os);
    close_all();
}

static const check_test tests[] = {
    {"a forged line deceives nobody", a_forged_line_deceives_nobody},
    {"a forged line claims no socket of another kind",
     a_forged_line_claims_no_socket_of_another_kind},
    {"a forged line claims no socket that no list has",
     a_forged_line_claims_no_socket_that_no_list_has},
    {"what took a socket's place is not asked", what_took_a_sockets_place_is_not_asked},
};
CHECK_TESTS(tests)
