/* The table socket from files of other kernels and files that lie, and the parsers under it: its
 * caps, how a dump ends, what a list forgets. */
#include "socket_world.h"

/* ---- files of other kernels, and files that lie ---- */

static struct os open_fixture(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "net/%s/proc", name);
    return open_os(check_linked_fixture(path));
}

static void check_fixture_lines(const char *name, const char *const *expected, size_t count)
{
    struct os os = open_fixture(name);
    CHECK_INT(read_process(&os, 700), 0);
    os_close(&os);
    for (size_t i = 0; i < count; i++) {
        CHECK_CASE(expected[i]);
        if (i >= batch.row_count)
            CHECK_FAIL("only %zu rows", batch.row_count);
        CHECK_STR(line_of(&batch.rows[i]), expected[i]);
    }
    CHECK_CASE(NULL);
    CHECK_UINT(batch.row_count, count);
}

static void files_become_rows(void)
{
    static const char *const LINES[] = {
        "inet stream tcp [0.0.0.0] 22 [] <unsupported> listen",
        "inet stream tcp [10.0.0.5] 22 [192.0.2.7] 50514 established",
        "inet6 stream tcp [::ffff:10.0.0.5] 443 [::ffff:192.0.2.9] 1025 close_wait",
        "inet6 stream tcp [2001:db8::1] 8443 [fe80::1] 9 99",
        "inet datagram udp [127.0.0.53] 53 [] <unsupported> none",
        "inet6 datagram udp [::] 5353 [] <unsupported> none",
        "inet raw gre [0.0.0.0] <unsupported> [] <unsupported> none",
        "inet6 raw icmpv6 [::] <unsupported> [] <unsupported> none",
        "inet datagram icmp [0.0.0.0] 12 [] <unsupported> none",
        "unix stream unix [/run/a path] <unsupported> [] <unsupported> listen",
        "unix datagram unix [] <unsupported> [] <unsupported> close",
        "unix seqpacket unix [@/tmp/x@@y] <unsupported> [<unsupported>] <unsupported> established",
        "netlink <unsupported> kobject_uevent [] 700 [] <unsupported> none",
        "packet datagram arp [3] <unsupported> [] <unsupported> none",
        "inet stream sctp [10.0.0.5] 5000 [] <unsupported> listen",
        "inet6 seqpacket sctp [2001:db8::1] 5001 [2001:db8::2] 5002 established",
        "inet datagram udplite [10.0.0.5] 7 [] <unsupported> none",
        "inet stream tcp [10.0.0.5] 22 [192.0.2.7] 50514 established", // duplicated
        ("<unsupported> <unsupported> <unsupported> [<unsupported>] <unsupported> [<unsupported>] "
         "<unsupported> <unsupported>"), // in no file
    };
    if (htonl(1) == 1)
        CHECK_SKIP("the fixture is of a little-endian machine");
    check_fixture_lines("kinds", LINES, CHECK_COUNT(LINES));
    CHECK_UINT(number_of(&batch.rows[1], VITALS_SOCKET_UID), 1000);
    CHECK_UINT(number_of(&batch.rows[1], VITALS_SOCKET_SEND_QUEUE_BYTES), 0x34);
    CHECK_UINT(number_of(&batch.rows[1], VITALS_SOCKET_RECEIVE_QUEUE_BYTES), 0x12);
    CHECK_UINT(number_of(&batch.rows[15], VITALS_SOCKET_SEND_QUEUE_BYTES), 40);
    CHECK_UINT(number_of(&batch.rows[18], VITALS_SOCKET_INODE), 9999);
}

static void files_that_lie_are_survived(void)
{
    static const char *const LINES[] = {
        "unix stream unix [/tmp/two\\nlines\\n\\nand an empty one] <unsupported> [] <unsupported> "
        "listen",
        // A path with a record in it: which of the two is true cannot be told.
        "unix <failed> unix [<failed>] <failed> [<failed>] <failed> <failed>",
        "unix datagram unix [/tmp/x\\n0000000000000000: 00000003 00000000 00000000 0001 03 abc /y] "
        "<unsupported> [] <unsupported> close",
        "inet stream tcp [127.0.0.1] 80 [] <unsupported> listen", // the lines around it are broken
    };
    if (htonl(1) == 1)
        CHECK_SKIP("the fixture is of a little-endian machine");
    check_fixture_lines("hostile", LINES, CHECK_COUNT(LINES));
}

static void a_machine_of_files_has_rows(void)
{
    struct os os = open_fixture("kinds");
    CHECK_INT(read_machine(&os), 0);
    os_close(&os);
    // The tree's "net" has two listeners; one is held twice by 700, the other by no process.
    CHECK_UINT(batch.row_count, 3);
    CHECK_INT(batch.states[VITALS_TABLE_SOCKET], VITALS_HAVE);
    CHECK_UINT(number_of(need_row(700, 4), VITALS_SOCKET_INODE), 1002);
    CHECK_UINT(number_of(need_row(700, 30), VITALS_SOCKET_INODE), 1002);
}

static const char TCP_FILE[] =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode\n"
    "   0: 0100007F:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
    "77 1 0000000000000000 100 0 0 10 0\n";

/* A machine with one listener, whose inode is 77. */
static struct tree tree_of_one_listener(void)
{
    struct tree tree = tree_new();
    char path[128];
    snprintf(path, sizeof path, "%s/net", tree.path);
    CHECK_INT(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/net/tcp", tree.path);
    FILE *file = fopen(path, "we");
    CHECK_NOT_NULL(file);
    CHECK(fputs(TCP_FILE, file) >= 0);
    CHECK_INT(fclose(file), 0);
    return tree;
}

/* It says neither that no process holds it, nor that access is denied. */
static void who_could_not_be_read_may_hold_it(void)
{
    struct tree tree = tree_of_one_listener();
    tree_process(&tree, 5, "a", 1, 1);
    char path[128];
    snprintf(path, sizeof path, "%s/5/fd", tree.path);
    CHECK_INT(symlink("fd", path), 0); // ELOOP
    struct os os = open_os(tree.path);
    CHECK_INT(read_machine(&os), 0);
    CHECK_UINT(batch.row_count, 1);
    CHECK_STR(shown(&batch.rows[0], VITALS_SOCKET_PID), "<failed>");
    CHECK_STR(shown(&batch.rows[0], VITALS_SOCKET_DESCRIPTOR), "<failed>");
    CHECK_INT(batch.states[VITALS_TABLE_SOCKET], VITALS_LOWER_BOUND);
    os_close(&os);
    tree_free(&tree);
}

static void too_many_holders_are_cut(void)
{
    struct tree tree = tree_new();
    tree_process(&tree, 5, "a", 1, 1);
    char path[128];
    snprintf(path, sizeof path, "%s/5/fd", tree.path);
    CHECK_INT(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/5/fd/7", tree.path);
    CHECK_INT(symlink("socket:[77]", path), 0);
    struct os os = open_os(tree.path);
    struct socket_owners owners = {.count = SOCKET_OWNERS_MAX};
    CHECK_INT(socket_owners_read(&owners, &os, 5), 0);
    CHECK_UINT(owners.count, SOCKET_OWNERS_MAX);
    CHECK(owners.cut);
    owners.count = 0;
    socket_owners_done(&owners);
    os_close(&os);
    tree_free(&tree);
}

/* One socket with more holders than the table has rows: processes that share a folder. */
static void rows_have_a_cap(void)
{
    enum { EACH = 1024, PROCESSES = SOCKETS_MAX / EACH + 1 };
    struct tree tree = tree_of_one_listener();
    char path[128];
    snprintf(path, sizeof path, "%s/fd", tree.path);
    CHECK_INT(mkdir(path, 0700), 0);
    for (int i = 0; i < EACH; i++) {
        snprintf(path, sizeof path, "%s/fd/%d", tree.path, i);
        CHECK_INT(symlink("socket:[77]", path), 0);
    }
    for (int pid = 1; pid <= PROCESSES; pid++) {
        tree_process(&tree, pid, "a", 0, 1);
        snprintf(path, sizeof path, "%s/%d/fd", tree.path, pid);
        CHECK_INT(symlink("../fd", path), 0);
    }
    struct os os = open_os(tree.path);
    struct metric_set wanted = {0};
    metric_set_add(&wanted, VITALS_SOCKET_PID);
    batch_reset(&batch, &wanted);
    CHECK_INT(os_read_table(&os, VITALS_TABLE_SOCKET, &batch), 0);
    CHECK_UINT(batch.row_count, SOCKETS_MAX);
    CHECK_INT(batch.states[VITALS_TABLE_SOCKET], VITALS_LOWER_BOUND);
    batch_done(&batch);
    os_close(&os);
    tree_free(&tree);
}

static void a_process_without_files_has_rows(void)
{
    struct tree tree = tree_new();
    tree_process(&tree, 5, "a", 1, 1);
    char path[128];
    snprintf(path, sizeof path, "%s/5/fd", tree.path);
    CHECK_INT(mkdir(path, 0700), 0);
    struct os os = open_os(tree.path);
    CHECK_INT(read_process(&os, 5), 0);
    CHECK_UINT(batch.row_count, 0);
    snprintf(path, sizeof path, "%s/5/fd/7", tree.path);
    CHECK_INT(symlink("socket:[77]", path), 0);
    snprintf(path, sizeof path, "%s/5/fd/8", tree.path);
    CHECK_INT(symlink("socket:[99999999999999999999999]", path), 0);
    const char *const none[] = {"socket:[]", "socket:[12",  "socket:[12]x", "/socket:[12]",
                                "pipe:[12]", "socket:[-1]", "socket:[0]"};
    for (size_t i = 0; i < CHECK_COUNT(none); i++) {
        snprintf(path, sizeof path, "%s/5/fd/%zu", tree.path, 10 + i);
        CHECK_INT(symlink(none[i], path), 0);
    }
    CHECK_INT(read_process(&os, 5), 0);
    CHECK_UINT(batch.row_count, 2);
    CHECK_UINT(number_of(&batch.rows[0], VITALS_SOCKET_INODE), 77);
    CHECK_STR(shown(&batch.rows[0], VITALS_SOCKET_FAMILY), "<unsupported>");
    CHECK_INT(read_machine(&os), -ENOTSUP); // no list, and not: no sockets
    os_close(&os);
    tree_free(&tree);
}

/* ---- the kernel's answers ---- */

static const struct socket_group TCP = {AF_INET, SOCK_STREAM, IPPROTO_TCP, NULL, NET_INET, true};

static void put_u32(char *bytes, size_t at, uint32_t number)
{
    memcpy(bytes + at, &number, sizeof number);
}

static void a_dump_ends_as_the_kernel_says(void)
{
    enum { DONE = 3, ERROR = 2, OVERRUN = 4, HEADER = 16 };
    const struct {
        uint16_t type;
        uint32_t length, sequence;
        int32_t error;
        int expected;
    } cases[] = {
        {DONE, 20, 5, 0, 1},           {DONE, 20, 5, -ENOENT, -ENOENT},
        {DONE, HEADER, 5, -EPERM, 1},  {ERROR, 20, 5, -EPERM, -EPERM},
        {OVERRUN, 20, 5, 0, -ENOBUFS}, {DONE, 20, 4, 0, 0},
        {DONE, 21, 5, 0, -EBADMSG},    {DONE, 15, 5, 0, -EBADMSG},
        {DONE, 0, 5, 0, -EBADMSG},     {99, 20, 5, 0, 0},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        char bytes[20] = {0}, name[32];
        snprintf(name, sizeof name, "case %zu", i);
        CHECK_CASE(name);
        put_u32(bytes, 0, cases[i].length);
        memcpy(bytes + 4, &cases[i].type, 2);
        put_u32(bytes, 8, cases[i].sequence);
        put_u32(bytes, 16, (uint32_t)cases[i].error);
        struct socket_list list = {0};
        CHECK_INT(socket_diag_parse(bytes, sizeof bytes, &TCP, 5, &list), cases[i].expected);
        CHECK_UINT(list.count, 0);
        socket_list_done(&list);
    }
    const struct socket_group nobody = {AF_BLUETOOTH, 0, 0, NULL, NET_INET, true};
    struct socket_list list = {0};
    CHECK_INT(socket_diag_parse("", 0, &nobody, 1, &list), -EAFNOSUPPORT);
    CHECK_INT(socket_diag_parse("", 0, &TCP, 1, &list), 0);
}

static void a_list_that_is_cut_back_forgets(void)
{
    struct hash only = {0};
    CHECK_INT(hash_set(&only, 11, SOCKET_MISSING), 0);
    CHECK_INT(hash_set(&only, 12, SOCKET_MISSING), 0);
    struct socket_list list = {.only = &only, .missing = 2};
    struct socket_info info = {.inode = 11};
    CHECK_NOT_NULL(socket_list_add(&list, &info));
    info.inode = 12;
    CHECK_NOT_NULL(socket_list_add(&list, &info));
    CHECK_UINT(list.missing, 0);
    CHECK_FALSE(socket_list_asks(&list, 13));
    CHECK_FALSE(socket_list_asks(&list, 0));
    socket_list_cut_back(&list, 1);
    CHECK_UINT(list.missing, 1);
    CHECK_UINT(list.count, 1);
    CHECK_UINT(*hash_find(&only, 11), 0);
    CHECK_UINT(*hash_find(&only, 12), SOCKET_MISSING);
    socket_list_done(&list);
    hash_done(&only);
}

static const check_test tests[] = {
    {"who could not be read may hold it", who_could_not_be_read_may_hold_it},
    {"too many holders are cut", too_many_holders_are_cut},
    {"rows have a cap", rows_have_a_cap},
    {"files become rows", files_become_rows},
    {"files that lie are survived", files_that_lie_are_survived},
    {"a machine of files has rows", a_machine_of_files_has_rows},
    {"a process without files has rows", a_process_without_files_has_rows},
    {"a dump ends as the kernel says", a_dump_ends_as_the_kernel_says},
    {"a list that is cut back forgets", a_list_that_is_cut_back_forgets},
};
CHECK_TESTS(tests)
