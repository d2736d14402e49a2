/* The table descriptor: on everything that we can open ourselves, and on texts and trees that lie.
 */
#include "table_world.h"

#include "os/linux/process/process_tables.h"

#include <linux/memfd.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>

/* ---- a folder of files ---- */

static struct tree files;

static const char *file_path(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", files.path, name);
    return path;
}

static int file_open(const char *name, int flags)
{
    int descriptor = open(file_path(name), flags, 0644);
    if (descriptor < 0)
        CHECK_FAIL("%s: %s", file_path(name), strerror(errno));
    return descriptor;
}

static const struct batch_row *row_of(const struct asked *asked, int descriptor)
{
    CHECK(descriptor >= 0);
    return need_row(asked, (uint64_t)descriptor + 1);
}

static void check_path(const struct asked *asked, int descriptor, const char *name,
                       uint64_t deleted)
{
    CHECK_CASE(name);
    const struct batch_row *row = row_of(asked, descriptor);
    check_text(asked, row, VITALS_DESCRIPTOR_PATH, file_path(name));
    CHECK_UINT(u64_of(asked, row, VITALS_DESCRIPTOR_DELETED), deleted);
    CHECK_INT(state_of(asked, row, VITALS_DESCRIPTOR_DELETED), VITALS_HAVE);
}

static void ask_ourselves(struct asked *asked)
{
    ask(asked, NULL, getpid(), VITALS_TABLE_DESCRIPTOR);
    check_asked(asked);
    CHECK_INT(asked_state(asked), VITALS_HAVE);
}

/* ---- files ---- */

static void the_mode_is_that_of_open(void)
{
    static const struct {
        int flags;
        const char *mode;
    } CASES[] = {
        {O_RDONLY, "r"},
        {O_WRONLY, "w"},
        {O_RDWR, "r+"},
        {O_RDONLY | O_APPEND, "r"},
        {O_WRONLY | O_APPEND, "a"},
        {O_RDWR | O_APPEND, "a+"},
        {O_WRONLY | O_RDWR, "-"}, // 3: for ioctl alone
        {O_WRONLY | O_RDWR | O_APPEND, "-"},
        {O_PATH, "-"},
        {O_RDONLY | O_CLOEXEC, "r"},
    };
    files = tree_new();
    close(file_open("plain", O_CREAT | O_WRONLY));
    int open_ones[CHECK_COUNT(CASES)];
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++)
        open_ones[i] = file_open("plain", CASES[i].flags);
    struct asked asked;
    ask_ourselves(&asked);
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        const struct batch_row *row = row_of(&asked, open_ones[i]);
        bool is_path = (CASES[i].flags & O_PATH) != 0;
        check_path(&asked, open_ones[i], "plain", 0);
        check_text(&asked, row, VITALS_DESCRIPTOR_MODE, CASES[i].mode);
        check_text(&asked, row, VITALS_DESCRIPTOR_TYPE, is_path ? "path" : "file");
        CHECK_UINT(u64_of(&asked, row, VITALS_DESCRIPTOR_CLOSE_ON_EXEC),
                   (CASES[i].flags & O_CLOEXEC) != 0);
        CHECK_UINT(u64_of(&asked, row, VITALS_DESCRIPTOR_FLAGS) & O_ACCMODE,
                   (uint64_t)(CASES[i].flags & O_ACCMODE));
        CHECK_INT(state_of(&asked, row, VITALS_DESCRIPTOR_POSITION_BYTES),
                  is_path ? VITALS_UNSET : VITALS_HAVE);
        close(open_ones[i]);
    }
    asked_done(&asked);
    tree_free(&files);
}

/* The type alone tells O_PATH too, though no other column asks for fdinfo. */
static void the_type_alone_knows_what_is_only_a_path(void)
{
    files = tree_new();
    int plain = file_open("plain", O_CREAT | O_RDWR), path = file_open("plain", O_PATH);
    struct asked asked;
    ask_one(&asked, NULL, getpid(), VITALS_DESCRIPTOR_TYPE);
    check_asked(&asked);
    check_text(&asked, row_of(&asked, plain), VITALS_DESCRIPTOR_TYPE, "file");
    check_text(&asked, row_of(&asked, path), VITALS_DESCRIPTOR_TYPE, "path");
    CHECK_UINT(row_of(&asked, plain)->count, 1);
    asked_done(&asked);
    close(plain);
    close(path);
    tree_free(&files);
}

static void where_and_how_large(void)
{
    files = tree_new();
    int file = file_open("data", O_CREAT | O_RDWR);
    CHECK_INT(ftruncate(file, 123456), 0);
    CHECK_INT(lseek(file, 77, SEEK_SET), 77);
    struct stat status;
    CHECK_INT(fstat(file, &status), 0);
    char device[64];
    snprintf(device, sizeof device, "%u:%u", major(status.st_dev), minor(status.st_dev));
    struct asked asked;
    ask_ourselves(&asked);
    const struct batch_row *row = row_of(&asked, file);
    CHECK_UINT(u64_of(&asked, row, VITALS_DESCRIPTOR_NUMBER), (uint64_t)file);
    CHECK_UINT(u64_of(&asked, row, VITALS_DESCRIPTOR_POSITION_BYTES), 77);
    CHECK_UINT(u64_of(&asked, row, VITALS_DESCRIPTOR_SIZE_BYTES), 123456);
    CHECK_UINT(u64_of(&asked, row, VITALS_DESCRIPTOR_INODE), status.st_ino);
    check_text(&asked, row, VITALS_DESCRIPTOR_DEVICE, device);
    CHECK(row == need_label(&asked, file_path("data")));
    asked_done(&asked);
    close(file);
    tree_free(&files);
}

static void a_deleted_file_is_told_from_one_that_is_called_so(void)
{
    files = tree_new();
    int literal = file_open("l (deleted)", O_CREAT | O_RDWR);
    int gone = file_open("gone", O_CREAT | O_RDWR);
    unlink(file_path("gone"));
    int shadowed = file_open("z", O_CREAT | O_RDWR); // and a sibling called as it reads now
    unlink(file_path("z"));
    int sibling = file_open("z (deleted)", O_CREAT | O_RDWR);
    int twice = file_open("t (deleted)", O_CREAT | O_RDWR);
    unlink(file_path("t (deleted)"));
    int linked = file_open("first", O_CREAT | O_RDWR);
    char second[256];
    snprintf(second, sizeof second, "%s", file_path("second"));
    CHECK_INT(link(file_path("first"), second), 0);
    unlink(file_path("first"));
    int nameless = open(files.path, O_TMPFILE | O_RDWR, 0600);
    mkdir(file_path("folder"), 0755);
    int folder = file_open("folder", O_RDONLY | O_DIRECTORY);
    rmdir(file_path("folder"));
    struct asked asked;
    ask_ourselves(&asked);
    check_path(&asked, literal, "l (deleted)", 0);
    check_path(&asked, gone, "gone", 1);
    check_path(&asked, shadowed, "z", 1);
    check_path(&asked, sibling, "z (deleted)", 0);
    check_path(&asked, twice, "t (deleted)", 1);
    check_path(&asked, linked, "first", 1);
    check_path(&asked, folder, "folder", 1);
    check_text(&asked, row_of(&asked, folder), VITALS_DESCRIPTOR_TYPE, "directory");
    if (nameless >= 0)
        CHECK_UINT(u64_of(&asked, row_of(&asked, nameless), VITALS_DESCRIPTOR_DELETED), 1);
    asked_done(&asked);
    ask_one(&asked, NULL, getpid(), VITALS_DESCRIPTOR_PATH); // without the other columns too
    check_text(&asked, row_of(&asked, literal), VITALS_DESCRIPTOR_PATH, file_path("l (deleted)"));
    check_text(&asked, row_of(&asked, gone), VITALS_DESCRIPTOR_PATH, file_path("gone"));
    asked_done(&asked);
    const int all[] = {literal, gone, shadowed, sibling, twice, linked, folder};
    for (size_t i = 0; i < CHECK_COUNT(all); i++)
        close(all[i]);
    if (nameless >= 0)
        close(nameless);
    tree_free(&files);
}

static void a_path_too_long_for_the_kernel_still_has_a_row(void)
{
    char name[251];
    memset(name, 'd', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    files = tree_new();
    int folders[20], depth = 0;
    folders[0] = open(files.path, O_RDONLY | O_DIRECTORY);
    for (; depth + 1 < (int)CHECK_COUNT(folders); depth++) {
        CHECK_INT(mkdirat(folders[depth], name, 0755), 0);
        folders[depth + 1] = openat(folders[depth], name, O_RDONLY | O_DIRECTORY);
    }
    int file = openat(folders[depth], "file", O_CREAT | O_RDWR, 0644);
    struct asked asked;
    ask_ourselves(&asked);
    const struct batch_row *row = row_of(&asked, file);
    CHECK_INT(state_of(&asked, row, VITALS_DESCRIPTOR_PATH), VITALS_FAILED);
    check_text(&asked, row, VITALS_DESCRIPTOR_TYPE, "file");
    check_text(&asked, row, VITALS_DESCRIPTOR_MODE, "r+");
    CHECK_UINT(u64_of(&asked, row, VITALS_DESCRIPTOR_SIZE_BYTES), 0);
    asked_done(&asked);
    unlinkat(folders[depth], "file", 0);
    close(file);
    for (; depth >= 0; depth--) {
        close(folders[depth]);
        if (depth > 0)
            unlinkat(folders[depth - 1], name, AT_REMOVEDIR);
    }
    tree_free(&files);
}

/* ---- everything else ---- */

static int syscall_open(long number, long a, long b, long c, long d, long e)
{
    return (int)syscall(number, a, b, c, d, e);
}

static int memfd_new(void)
{
    int file = (int)syscall(SYS_memfd_create, "mine", 0);
    return file >= 0 && ftruncate(file, 4096) == 0 ? file : -1;
}

static int epoll_new(void)
{
    return epoll_create1(0);
}

static int timerfd_new(void)
{
    return timerfd_create(CLOCK_MONOTONIC, 0);
}

static int signalfd_new(void)
{
    sigset_t none;
    sigemptyset(&none);
    return signalfd(-1, &none, 0);
}

static int eventfd_new(void)
{
    return eventfd(0, 0);
}

static int pidfd_new(void)
{
    return syscall_open(SYS_pidfd_open, getpid(), 0, 0, 0, 0);
}

static int socket_new(void)
{
    return socket(AF_UNIX, SOCK_STREAM, 0);
}

static int namespace_new(void)
{
    return open("/proc/self/ns/uts", O_RDONLY);
}

static int null_new(void)
{
    return open("/dev/null", O_RDWR);
}

static int fanotify_new(void)
{
    return syscall_open(SYS_fanotify_init, 0, O_RDONLY, 0, 0, 0);
}

static int ring_new(void)
{
    static uint64_t parameters[32];
    return syscall_open(SYS_io_uring_setup, 1, (long)(uintptr_t)parameters, 0, 0, 0);
}

static int perf_new(void)
{
    static uint32_t event[32] = {1, sizeof event}; // PERF_TYPE_SOFTWARE, cpu clock
    return syscall_open(SYS_perf_event_open, (long)(uintptr_t)event, 0, -1, -1, 0);
}

static int bpf_new(void)
{
    static const uint32_t map[32] = {2, 4, 4, 1}; // BPF_MAP_TYPE_ARRAY of one
    return syscall_open(SYS_bpf, 0, (long)(uintptr_t)map, sizeof map, 0, 0);
}

static int userfault_new(void)
{
    return syscall_open(SYS_userfaultfd, 1, 0, 0, 0, 0);
}

static const struct {
    const char *type;
    int (*open)(void);
    const char *path; /* how it begins */
    bool always;      /* every kernel and every user has it */
} KINDS[] = {
    {"memfd", memfd_new, "/memfd:mine", true},
    {"eventfd", eventfd_new, "anon_inode:[eventfd]", true},
    {"eventpoll", epoll_new, "anon_inode:[eventpoll]", true},
    {"timerfd", timerfd_new, "anon_inode:[timerfd]", true},
    {"signalfd", signalfd_new, "anon_inode:[signalfd]", true},
    {"inotify", inotify_init, "anon_inode:", true},
    {"pidfd", pidfd_new, "", false},
    {"socket", socket_new, "socket:[", true},
    {"namespace", namespace_new, "uts:[", true},
    {"character_device", null_new, "/dev/null", true},
    {"fanotify", fanotify_new, "anon_inode:", false},
    {"io_uring", ring_new, "anon_inode:", false},
    {"perf_event", perf_new, "anon_inode:", false},
    {"bpf", bpf_new, "anon_inode:", false},
    {"other", userfault_new, "anon_inode:", false},
};

static void every_kind_is_known(void)
{
    int open_ones[CHECK_COUNT(KINDS)];
    for (size_t i = 0; i < CHECK_COUNT(KINDS); i++)
        open_ones[i] = KINDS[i].open();
    struct asked asked;
    ask_ourselves(&asked);
    for (size_t i = 0; i < CHECK_COUNT(KINDS); i++) {
        CHECK_CASE(KINDS[i].type);
        CHECK(open_ones[i] >= 0 || !KINDS[i].always);
        if (open_ones[i] < 0)
            continue; // not on this machine
        const struct batch_row *row = row_of(&asked, open_ones[i]);
        check_text(&asked, row, VITALS_DESCRIPTOR_TYPE, KINDS[i].type);
        CHECK(span_starts(text_of(&asked, row, VITALS_DESCRIPTOR_PATH), KINDS[i].path));
        CHECK_UINT(u64_of(&asked, row, VITALS_DESCRIPTOR_DELETED), 0);
        bool has_place = KINDS[i].path[0] == '/';
        CHECK_INT(state_of(&asked, row, VITALS_DESCRIPTOR_POSITION_BYTES),
                  has_place ? VITALS_HAVE : VITALS_UNSET);
        bool has_size = KINDS[i].open == memfd_new;
        CHECK_INT(state_of(&asked, row, VITALS_DESCRIPTOR_SIZE_BYTES),
                  has_size ? VITALS_HAVE : VITALS_UNSET);
        close(open_ones[i]);
    }
    asked_done(&asked);
}

static void pipes_with_and_without_a_name(void)
{
    files = tree_new();
    int ends[2];
    CHECK_INT(pipe(ends), 0);
    CHECK_INT(mkfifo(file_path("fifo"), 0644), 0);
    int fifo = file_open("fifo", O_RDWR);
    struct asked asked;
    ask_ourselves(&asked);
    check_text(&asked, row_of(&asked, ends[0]), VITALS_DESCRIPTOR_TYPE, "pipe");
    check_text(&asked, row_of(&asked, ends[0]), VITALS_DESCRIPTOR_MODE, "r");
    check_text(&asked, row_of(&asked, ends[1]), VITALS_DESCRIPTOR_MODE, "w");
    check_text(&asked, row_of(&asked, fifo), VITALS_DESCRIPTOR_TYPE, "pipe");
    check_path(&asked, fifo, "fifo", 0);
    asked_done(&asked);
    close(ends[0]);
    close(ends[1]);
    close(fifo);
    tree_free(&files);
}

/* A file that we cannot see at all, on a mount that only the child has. */
static void files_of_another_mount_namespace_are_told(void)
{
    if (geteuid() != 0)
        CHECK_SKIP("only root can make a mount namespace");
    files = tree_new();
    int told[2];
    CHECK_INT(pipe(told), 0);
    pid_t pid = child_fork();
    if (pid == 0) {
        char byte = 'n';
        int file = -1;
        if (unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
            mount("none", files.path, "tmpfs", 0, NULL) == 0 &&
            (file = open(file_path("inside (deleted)"), O_CREAT | O_RDWR, 0644)) >= 0 &&
            dup2(file, 99) == 99 && ftruncate(file, 5) == 0)
            byte = 'y';
        if (write(told[1], &byte, 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    char byte = 0;
    CHECK_INT(read(told[0], &byte, 1), 1);
    close(told[0]);
    close(told[1]);
    if (byte != 'y') {
        child_end(pid);
        tree_free(&files);
        CHECK_SKIP("may not mount in a namespace of its own");
    }
    struct asked asked;
    ask(&asked, NULL, pid, VITALS_TABLE_DESCRIPTOR);
    child_end(pid);
    check_asked(&asked);
    check_path(&asked, 99, "inside (deleted)", 0);
    const struct batch_row *row = row_of(&asked, 99);
    check_text(&asked, row, VITALS_DESCRIPTOR_TYPE, "file");
    CHECK_UINT(u64_of(&asked, row, VITALS_DESCRIPTOR_SIZE_BYTES), 5);
    CHECK_INT(access(file_path("inside (deleted)"), F_OK), -1);
    asked_done(&asked);
    tree_free(&files);
}

/* ---- permission, and processes without any ---- */

static void others_are_denied(void)
{
    CHECK_INT(asked_by_another_user(getpid(), VITALS_TABLE_DESCRIPTOR), -EACCES);
}

static void a_zombie_has_nothing_open(void)
{
    pid_t pid = child_zombie();
    struct asked asked;
    ask(&asked, NULL, pid, VITALS_TABLE_DESCRIPTOR);
    CHECK_UINT(asked.batch.row_count, 0);
    CHECK_INT(asked.result, 0);
    asked_done(&asked);
    waitpid(pid, NULL, 0);
    ask(&asked, NULL, pid, VITALS_TABLE_DESCRIPTOR);
    CHECK_INT(os_availability(asked.result), VITALS_GONE);
    asked_done(&asked);
}

static void many_are_listed_in_order(void)
{
    enum { MOST = 5000 };
    struct rlimit limit;
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &limit), 0);
    int most = limit.rlim_cur < MOST ? (int)limit.rlim_cur : MOST, last = -1, count = 0;
    for (int copy; count < most && (copy = dup(0)) >= 0; count++)
        last = copy;
    for (int i = 0; i < 16; i++) // room for the reader's own
        close(last - i);
    struct asked asked;
    ask_one(&asked, NULL, getpid(), VITALS_DESCRIPTOR_NUMBER);
    check_asked(&asked);
    CHECK(asked.batch.row_count >= (size_t)(count - 16));
    struct os_pids numbers = {0};
    bool cut;
    int folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY);
    CHECK_INT(linux_numbers_read(folder, 100, &numbers, &cut), 0);
    CHECK(cut);
    CHECK_UINT(numbers.count, 100);
    close(folder);
    os_pids_done(&numbers);
    asked_done(&asked);
    for (int copy = last - 16; copy > 2 && copy > last - count; copy--)
        close(copy);
}

/* ---- trees and texts ---- */

static void link_in(const struct tree *tree, const char *name, const char *target)
{
    char path[256];
    snprintf(path, sizeof path, "%s/5/fd/%s", tree->path, name);
    CHECK_INT(symlink(target, path), 0);
}

static void what_a_tree_does_not_hold_is_missing(void)
{
    struct tree tree = tree_new();
    tree_folder(&tree, 5, "fd");
    tree_folder(&tree, 5, "fdinfo");
    link_in(&tree, "3", "socket:[123]");
    link_in(&tree, "4", "/nowhere/file (deleted)");
    link_in(&tree, "10", "/nowhere/file");
    link_in(&tree, "11", "/dmabuf:scanout");
    link_in(&tree, "12", "anon_inode:kvm-vm");
    link_in(&tree, "not a number", "/");
    tree_text(&tree, 5, "fd/13", "no link");
    tree_text(&tree, 5, "fdinfo/3", "pos:\t0\nflags:\t02000002\nmnt_id:\t9\n");
    tree_text(&tree, 5, "fdinfo/11", "pos:\t5\nflags:\t02\nsize:\t8192\ncount:\t3\n");
    struct asked asked;
    ask(&asked, tree.path, 5, VITALS_TABLE_DESCRIPTOR);
    check_asked(&asked);
    CHECK_UINT(asked.batch.row_count, 6);
    const struct batch_row *row = row_of(&asked, 3);
    check_text(&asked, row, VITALS_DESCRIPTOR_TYPE, "socket");
    check_text(&asked, row, VITALS_DESCRIPTOR_MODE, "r+");
    CHECK_UINT(u64_of(&asked, row, VITALS_DESCRIPTOR_CLOSE_ON_EXEC), 1);
    CHECK_INT(state_of(&asked, row, VITALS_DESCRIPTOR_INODE), VITALS_GONE);
    row = row_of(&asked, 4);
    check_text(&asked, row, VITALS_DESCRIPTOR_PATH, "/nowhere/file");
    CHECK_UINT(u64_of(&asked, row, VITALS_DESCRIPTOR_DELETED), 1);
    CHECK_INT(state_of(&asked, row, VITALS_DESCRIPTOR_DELETED), VITALS_ESTIMATE); // text alone
    CHECK_INT(state_of(&asked, row, VITALS_DESCRIPTOR_TYPE), VITALS_GONE);
    CHECK_INT(state_of(&asked, row, VITALS_DESCRIPTOR_MODE), VITALS_GONE);
    row = row_of(&asked, 10);
    CHECK_INT(state_of(&asked, row, VITALS_DESCRIPTOR_DELETED), VITALS_GONE);
    row = row_of(&asked, 11);
    check_text(&asked, row, VITALS_DESCRIPTOR_TYPE, "dmabuf");
    CHECK_UINT(u64_of(&asked, row, VITALS_DESCRIPTOR_SIZE_BYTES), 8192);
    check_text(&asked, row_of(&asked, 12), VITALS_DESCRIPTOR_TYPE, "other");
    CHECK_INT(state_of(&asked, row_of(&asked, 13), VITALS_DESCRIPTOR_PATH), VITALS_FAILED);
    asked_done(&asked);
    tree_free(&tree);
}

static void the_text_tells_the_type(void)
{
    static const struct {
        const char *text, *type;
    } CASES[] = {
        {"pipe:[1]", "pipe"},
        {"socket:[1]", "socket"},
        {"anon_inode:inotify", "inotify"},
        {"anon_inode:[fanotify]", "fanotify"},
        {"anon_inode:bpf-prog", "bpf"},
        {"anon_inode:btf", "bpf"},
        {"anon_inode:[pidfd]", "pidfd"},
        {"pidfd:[77]", "pidfd"},
        {"anon_inode:", "other"},
        {"anon_inode:[", "other"},
        {"net:[4026531840]", "namespace"},
        {"/memfd:x", NULL}, // a file that is called so
        {"/memfd:x (deleted)", "memfd"},
        {"/dmabuf:", "dmabuf"},
        {"/a/b", NULL},
        {"/", NULL},
        {"", "other"},
        {"pipe", "other"},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].text);
        struct span text = {CASES[i].text, strlen(CASES[i].text)};
        CHECK_STR(linux_descriptor_type(text), CASES[i].type);
    }
}

static void fdinfo_is_taken_line_by_line(void)
{
    static const struct {
        const char *text;
        unsigned has;
        uint64_t position, flags;
    } CASES[] = {
        {"pos:\t12\nflags:\t0100002\nmnt_id:\t1\n", FDINFO_POSITION | FDINFO_FLAGS, 12, 0100002},
        {"pos:\t-4096\n", FDINFO_POSITION, UINT64_MAX - 4095, 0},
        {"pos:\t12", 0, 0, 0},                            // may have been cut
        {"pos:\t1x\nflags:\t08\n", 0, 0, 0},              // 8 is no octal digit
        {"flags:\t7777777777777777777777777\n", 0, 0, 0}, // nor do these fit
        {"pos:\t1\npos:\t2\nflags:\t0\nflags:\t1\n", FDINFO_POSITION | FDINFO_FLAGS, 1, 0},
        {"xpos:\t1\n flags:\t1\n", 0, 0, 0},
        {"pos:\nflags:\n", 0, 0, 0},
        {"", 0, 0, 0},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].text);
        struct linux_fdinfo info;
        linux_parse_fdinfo(CASES[i].text, strlen(CASES[i].text), &info);
        CHECK_UINT(info.has, CASES[i].has);
        CHECK_UINT(info.position, CASES[i].position);
        CHECK_UINT(info.flags, CASES[i].flags);
    }
}

static void a_kernel_thread_has_nothing_open(void)
{
    check_kernel_thread(VITALS_TABLE_DESCRIPTOR);
}

static void another_thread_speaks_where_the_first_has_ended(void)
{
    check_without_first_thread(VITALS_TABLE_DESCRIPTOR);
}

/* The columns of the process too: what only the first thread has lost is read by another. */
static void columns_of_a_process_without_its_first_thread(void)
{
    static const vitals_metric WANTED[] = {
        VITALS_PROCESS_DESCRIPTORS,    VITALS_PROCESS_EXECUTABLE,
        VITALS_PROCESS_COMMAND_LINE,   VITALS_PROCESS_WORKING_DIRECTORY,
        VITALS_PROCESS_ROOT_DIRECTORY, VITALS_PROCESS_NETWORK_NAMESPACE,
        VITALS_PROCESS_PSS_BYTES,      VITALS_PROCESS_VIRTUAL_PEAK_BYTES,
        VITALS_PROCESS_UMASK,          VITALS_PROCESS_NAMESPACE_PID,
    };
    struct asked asked = {.entity = VITALS_TABLE_PROCESS};
    struct metric_set wanted = {0};
    for (size_t i = 0; i < CHECK_COUNT(WANTED); i++)
        metric_set_add(&wanted, WANTED[i]);
    pid_t pid = child_without_first_thread();
    vitals_options options = {.size = sizeof options};
    vitals_error error;
    CHECK_OK(os_open(&asked.os, &options, &error), error);
    batch_reset(&asked.batch, &wanted);
    const struct batch_row *row = batch_add_row(&asked.batch, VITALS_TABLE_PROCESS, 1,
                                                (struct span){"", 0});
    os_process_metrics(&asked.os, pid, &asked.batch);
    child_end(pid);
    CHECK_FALSE(asked.batch.failed);
    CHECK_UINT(row->count, CHECK_COUNT(WANTED)); // each once
    for (size_t i = 0; i < CHECK_COUNT(WANTED); i++)
        CHECK_INT(need_fact(&asked, row, WANTED[i])->state, VITALS_HAVE);
    CHECK(u64_of(&asked, row, VITALS_PROCESS_DESCRIPTORS) >= 3);
    CHECK(u64_of(&asked, row, VITALS_PROCESS_PSS_BYTES) > 0);
    CHECK(text_of(&asked, row, VITALS_PROCESS_COMMAND_LINE).size > 0);
    CHECK_UINT(u64_of(&asked, row, VITALS_PROCESS_NAMESPACE_PID), (uint64_t)pid); // not the thread
    asked_done(&asked);
}

static void a_name_that_proc_forgot_was_not_deleted(void)
{
    int file = open("/proc/self/net/dev", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        CHECK_SKIP("no /proc/self/net/dev");
    struct asked asked;
    ask_ourselves(&asked);
    const struct batch_row *row = row_of(&asked, file);
    CHECK_UINT(u64_of(&asked, row, VITALS_DESCRIPTOR_DELETED), 0);
    struct span path = text_of(&asked, row, VITALS_DESCRIPTOR_PATH), cut;
    CHECK_FALSE(linux_ends_deleted(path, &cut));
    asked_done(&asked);
    close(file);
}

/* One number, two files in turn: every row tells of one of them. */
static void a_row_tells_of_one_file(void)
{
    enum { NUMBER = 100, TIMES = 1500 };
    files = tree_new();
    int one = file_open("one", O_CREAT | O_RDWR), two = file_open("two", O_CREAT | O_RDWR);
    CHECK_INT(ftruncate(two, 1000), 0);
    CHECK_INT(lseek(two, 500, SEEK_SET), 500);
    pid_t pid = child_fork();
    if (pid == 0)
        for (;;)
            if (dup2(one, NUMBER) < 0 || dup2(two, NUMBER) < 0)
                _exit(1);
    size_t rows = 0;
    for (int i = 0; i < TIMES; i++) {
        struct asked asked;
        ask(&asked, NULL, pid, VITALS_TABLE_DESCRIPTOR);
        check_asked(&asked);
        const struct batch_row *row = find_row(&asked, NUMBER + 1);
        if (row != NULL) {
            bool is_two = span_equal(text_of(&asked, row, VITALS_DESCRIPTOR_PATH),
                                     file_path("two"));
            CHECK_UINT(u64_of(&asked, row, VITALS_DESCRIPTOR_SIZE_BYTES), is_two ? 1000 : 0);
            CHECK_UINT(u64_of(&asked, row, VITALS_DESCRIPTOR_POSITION_BYTES), is_two ? 500 : 0);
            rows++;
        }
        asked_done(&asked);
    }
    child_end(pid);
    CHECK(rows > 0);
    close(one);
    close(two);
    tree_free(&files);
}

static void memory_that_runs_out_is_told(void)
{
    check_memory(NULL, getpid(), VITALS_TABLE_DESCRIPTOR);
}

static const check_test tests[] = {
    {"the mode is that of open", the_mode_is_that_of_open},
    {"the type alone knows what is only a path", the_type_alone_knows_what_is_only_a_path},
    {"where, and how large", where_and_how_large},
    {"a deleted file is told from one that is called so",
     a_deleted_file_is_told_from_one_that_is_called_so},
    {"a path too long for the kernel still has a row",
     a_path_too_long_for_the_kernel_still_has_a_row},
    {"every kind is known", every_kind_is_known},
    {"pipes with and without a name", pipes_with_and_without_a_name},
    {"files of another mount namespace are told", files_of_another_mount_namespace_are_told},
    {"others are denied", others_are_denied},
    {"a zombie has nothing open", a_zombie_has_nothing_open},
    {"many are listed in order", many_are_listed_in_order},
    {"what a tree does not hold is missing", what_a_tree_does_not_hold_is_missing},
    {"the text tells the type", the_text_tells_the_type},
    {"fdinfo is taken line by line", fdinfo_is_taken_line_by_line},
    {"a kernel thread has nothing open", a_kernel_thread_has_nothing_open},
    {"another thread speaks where the first has ended",
     another_thread_speaks_where_the_first_has_ended},
    {"columns of a process without its first thread",
     columns_of_a_process_without_its_first_thread},
    {"a name that /proc forgot was not deleted", a_name_that_proc_forgot_was_not_deleted},
    {"a row tells of one file", a_row_tells_of_one_file},
    {"memory that runs out is told", memory_that_runs_out_is_told},
};

CHECK_TESTS(tests)
