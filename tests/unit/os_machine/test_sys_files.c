/* Files, folders and links below /sys: as they are, as hostile trees have them, and as they vanish.
 */
#include "check.h"
#include "gpu_tree.h"

#include "os/linux/linux.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

static struct gpu_tree tree;
static struct os os;

static void begin(void)
{
    tree = gpu_tree_empty();
    os = (struct os){0};
    gpu_tree_open(&tree, &os);
}

static void end(void)
{
    gpu_tree_close(&os);
    gpu_tree_free(&tree);
}

static void a_text_is_without_its_padding(void)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *text;
    } CASES[] = {
        {"0x1002\n", 7, "0x1002"},
        {"auto", 4, "auto"},
        {"", 0, ""},
        {"\n", 1, ""},
        {"a b \n\0\0\0", 8, "a b"},
        {"1: 500Mhz\n2: 800Mhz *\n\n", 23, "1: 500Mhz\n2: 800Mhz *"},
        {"\0\0\0\0", 4, ""},
    };
    begin();
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        char text[64];
        CHECK_CASE(CASES[i].text);
        gpu_tree_put(&tree, "sys/a/file", CASES[i].bytes, CASES[i].size);
        CHECK_INT(os_sys_text(&os, "a/file", text, sizeof text), 0);
        CHECK_STR(text, CASES[i].text);
    }
    end();
}

static void what_does_not_fit_is_cut_and_says_so(void)
{
    char text[8];
    unsigned char bytes[8];
    size_t size;
    begin();
    gpu_tree_text(&tree, "sys/file", "1234567");
    CHECK_INT(os_sys_text(&os, "file", text, sizeof text), 0);
    CHECK_STR(text, "1234567");
    CHECK_INT(os_sys_bytes(&os, "file", bytes, sizeof bytes, &size), 0);
    CHECK_UINT(size, 7);
    gpu_tree_text(&tree, "sys/file", "12345678");
    CHECK_INT(os_sys_text(&os, "file", text, sizeof text), -EFBIG);
    CHECK_STR(text, "1234567");
    CHECK_INT(os_sys_bytes(&os, "file", bytes, sizeof bytes, &size), 0);
    CHECK_BYTES(bytes, size, "12345678", 8);
    gpu_tree_text(&tree, "sys/file", "123456789");
    CHECK_INT(os_sys_bytes(&os, "file", bytes, sizeof bytes, &size), -EFBIG);
    CHECK_BYTES(bytes, size, "12345678", 8);
    end();
}

/* A sparse file of a terabyte is not read through. */
static void a_huge_file_is_read_no_further(void)
{
    char path[GPU_TREE_PATH], text[4096];
    begin();
    gpu_tree_text(&tree, "sys/huge", "5\n");
    gpu_tree_path(&tree, "sys/huge", path);
    if (truncate(path, (off_t)1 << 40) != 0)
        CHECK_SKIP("the file system has no large files");
    CHECK_INT(os_sys_text(&os, "huge", text, sizeof text), -EFBIG);
    CHECK_STR(text, "5");
    uint64_t number = 0;
    CHECK_INT(os_sys_u64(&os, "huge", &number), 0);
    CHECK_UINT(number, 5);
    end();
}

static void numbers_are_decimal_or_marked(void)
{
    static const struct {
        const char *text;
        int result;
        uint64_t number;
    } CASES[] = {
        {"0\n", 0, 0},
        {"17179869184\n", 0, 17179869184},
        {"0x1002\n", 0, 0x1002},
        {"0xffFF", 0, 0xffff},
        {" 12 MHz\n", 0, 12},
        {"18446744073709551616\n", 0, UINT64_MAX}, // saturates
        {"", -EBADMSG, 77},
        {"\n", -EBADMSG, 77},
        {"-1\n", -EBADMSG, 77},
        {"0x\n", -EBADMSG, 77},
        {"12abc\n", -EBADMSG, 77},
        {"auto\n", -EBADMSG, 77},
    };
    begin();
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        uint64_t number = 77;
        CHECK_CASE(CASES[i].text);
        gpu_tree_text(&tree, "sys/n", CASES[i].text);
        CHECK_INT(os_sys_u64(&os, "n", &number), CASES[i].result);
        CHECK_UINT(number, CASES[i].number);
    }
    int64_t node = 5;
    gpu_tree_text(&tree, "sys/numa_node", "-1\n");
    CHECK_INT(os_sys_i64(&os, "numa_node", &node), 0);
    CHECK_INT(node, -1);
    gpu_tree_text(&tree, "sys/numa_node", "x\n");
    CHECK_INT(os_sys_i64(&os, "numa_node", &node), -EBADMSG);
    CHECK_INT(node, -1);
    end();
}

static void what_is_not_there_says_why(void)
{
    char text[16] = "old";
    uint64_t number;
    size_t size = 9;
    begin();
    gpu_tree_parents(&tree, "sys/folder/");
    CHECK_INT(os_sys_text(&os, "none", text, sizeof text), -ENOENT);
    CHECK_STR(text, "");
    CHECK_INT(os_sys_text(&os, "folder", text, sizeof text), -EISDIR);
    CHECK_INT(os_sys_u64(&os, "folder/none", &number), -ENOENT);
    CHECK_INT(os_sys_bytes(&os, "none", text, sizeof text, &size), -ENOENT);
    CHECK_UINT(size, 0);
    CHECK(os_sys_exists(&os, "folder"));
    CHECK_FALSE(os_sys_exists(&os, "none"));
    struct os without = os;
    without.sys = -1;
    CHECK_INT(os_sys_text(&without, "folder", text, sizeof text), -ENOENT);
    CHECK_INT(os_sys_link(&without, "folder", text, sizeof text), -ENOENT);
    CHECK_INT(os_sys_real(&without, "folder", text, sizeof text), -ENOENT);
    CHECK_FALSE(os_sys_exists(&without, "folder"));
    end();
}

/* A FIFO, which a person may have put there, is not waited for. */
static void nothing_is_waited_for(void)
{
    char path[GPU_TREE_PATH], text[16];
    begin();
    gpu_tree_path(&tree, "sys/fifo", path);
    CHECK_INT(mkfifo(path, 0600), 0);
    CHECK(os_sys_text(&os, "fifo", text, sizeof text) <= 0);
    CHECK_STR(text, "");
    end();
}

/* ---- folders ---- */

struct names {
    size_t count;
    char text[1024], last[OS_SYS_NAME];
};

/* Lists at most so many, and returns the result. */
static int list(const char *path, size_t most, struct names *out)
{
    struct os_sys_names names;
    *out = (struct names){0};
    os_sys_names(&names, &os, "%s", path);
    for (const char *name; out->count < most && (name = os_sys_next(&names)) != NULL;) {
        if (out->count++ < 16) {
            size_t used = strlen(out->text);
            snprintf(out->text + used, sizeof out->text - used, "%s ", name);
        }
        snprintf(out->last, sizeof out->last, "%s", name);
    }
    return names.result;
}

static void names_come_in_natural_order(void)
{
    static const char *const NAMES[] = {"card10", "card2",  "card02", ".hidden",   "renderD128",
                                        "card1",  "card1a", "card",   "card2-DP-1"};
    struct names names;
    begin();
    for (size_t i = 0; i < CHECK_COUNT(NAMES); i++) {
        char path[64];
        snprintf(path, sizeof path, "sys/drm/%s", NAMES[i]);
        gpu_tree_text(&tree, path, "");
    }
    CHECK_INT(list("drm", SIZE_MAX, &names), 0);
    CHECK_STR(names.text, "card card1 card1a card02 card2 card2-DP-1 card10 renderD128 ");
    CHECK_INT(list("drm", 2, &names), 0);
    CHECK_STR(names.text, "card card1 ");
    CHECK_INT(list("none", SIZE_MAX, &names), -ENOENT);
    CHECK_INT(list("drm/card1", SIZE_MAX, &names), -ENOTDIR);
    end();
}

/* More than one pass holds: each comes once and in order. */
static void many_names_come_each_once(void)
{
    enum { MANY = 700 };
    struct names names;
    begin();
    for (int i = MANY; i > 0; i--) {
        char path[64];
        snprintf(path, sizeof path, "sys/many/%d", i);
        gpu_tree_text(&tree, path, "");
    }
    CHECK_INT(list("many", SIZE_MAX, &names), 0);
    CHECK_UINT(names.count, MANY);
    CHECK_STR(names.last, "700");
    char path[300] = "sys/many/";
    memset(path + strlen(path), 'x', OS_SYS_NAME);
    gpu_tree_text(&tree, path, "");
    CHECK_INT(list("many", SIZE_MAX, &names), -EFBIG); // one was passed over
    CHECK_UINT(names.count, MANY);
    end();
}

/* ---- links ---- */

static void links_are_read_and_followed(void)
{
    char text[OS_SYS_PATH];
    begin();
    gpu_tree_text(&tree, "sys/devices/pci0000:00/0000:00:01.0/0000:03:00.0/vendor", "0x1002\n");
    gpu_tree_link(&tree, "sys/bus/pci/devices/0000:03:00.0",
                  "../../../devices/pci0000:00/0000:00:01.0/0000:03:00.0");
    gpu_tree_link(&tree, "sys/class/drm/card0/device", "../../../bus/pci/devices/0000:03:00.0");
    CHECK_INT(os_sys_link(&os, "bus/pci/devices/0000:03:00.0", text, sizeof text), 0);
    CHECK_STR(text, "../../../devices/pci0000:00/0000:00:01.0/0000:03:00.0");
    CHECK_INT(os_sys_link(&os, "bus/pci", text, sizeof text), -EINVAL);
    CHECK_INT(os_sys_link(&os, "bus/pci/devices/0000:03:00.0", text, 8), -ENAMETOOLONG);
    CHECK_STR(text, "");
    CHECK_INT(os_sys_real(&os, "class/drm/card0/device/vendor", text, sizeof text), 0);
    CHECK_STR(text, "devices/pci0000:00/0000:00:01.0/0000:03:00.0/vendor");
    CHECK_INT(os_sys_real(&os, "class/drm/card0/device/..", text, sizeof text), 0);
    CHECK_STR(text, "devices/pci0000:00/0000:00:01.0");
    CHECK_INT(os_sys_real(&os, "class/drm/card0/device", text, 8), -ENAMETOOLONG);
    CHECK_INT(os_sys_real(&os, "class/drm/card0/device/none", text, sizeof text), -ENOENT);
    CHECK_STR(text, "");
    end();
}

static void links_that_lead_nowhere_end(void)
{
    char text[OS_SYS_PATH], number[16];
    begin();
    gpu_tree_link(&tree, "sys/a", "b");
    gpu_tree_link(&tree, "sys/b", "a");
    gpu_tree_link(&tree, "sys/self", "self/self/self");
    gpu_tree_link(&tree, "sys/out", "../../etc");
    gpu_tree_link(&tree, "sys/root", "/etc");
    gpu_tree_link(&tree, "sys/gone", "nothing");
    CHECK_INT(os_sys_real(&os, "a", text, sizeof text), -ELOOP);
    CHECK(os_sys_real(&os, "self", text, sizeof text) < 0);
    CHECK_INT(os_sys_real(&os, "out", text, sizeof text), -EXDEV);
    CHECK_INT(os_sys_real(&os, "root", text, sizeof text), -EXDEV);
    CHECK_INT(os_sys_real(&os, "gone", text, sizeof text), -ENOENT);
    CHECK_INT(os_sys_real(&os, "..", text, sizeof text), -EXDEV);
    CHECK_INT(os_sys_text(&os, "a", number, sizeof number), -ELOOP);
    char path[OS_SYS_PATH + 2];
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = '\0';
    CHECK_INT(os_sys_real(&os, path, text, sizeof text), -ENAMETOOLONG);
    end();
}

/* ---- below /usr/share ---- */

static void count_lines(struct span line, void *data)
{
    *(size_t *)data += line.size > 0;
}

static void lists_are_handed_over_line_by_line(void)
{
    size_t lines = 0;
    begin();
    gpu_tree_text(&tree, "share/misc/pci.ids", "# a\n1002  AMD\n\t73df  Navi 22\n");
    CHECK_INT(os_share_lines(&os, "misc/pci.ids", count_lines, &lines), 0);
    CHECK_UINT(lines, 3);
    CHECK_INT(os_share_lines(&os, "none", count_lines, &lines), -ENOENT);
    end();
}

/* From here on statx(2) fails as on a kernel before 4.11. */
static bool forbid_statx(void)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_statx, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {CHECK_COUNT(steps), steps};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static bool is_same_file(const struct statx *found, const struct stat *truth)
{
    return (found->stx_mask & STATX_BASIC_STATS) == STATX_BASIC_STATS &&
           found->stx_mode == truth->st_mode && found->stx_nlink == truth->st_nlink &&
           found->stx_ino == truth->st_ino && found->stx_size == (uint64_t)truth->st_size &&
           found->stx_dev_major == major(truth->st_dev) &&
           found->stx_dev_minor == minor(truth->st_dev) &&
           found->stx_rdev_major == major(truth->st_rdev) &&
           found->stx_rdev_minor == minor(truth->st_rdev);
}

static void a_kernel_without_statx_is_asked_by_stat(void)
{
    static const char *const PATHS[] = {"/dev/null", "/proc/self/exe", "/"};
    pid_t child = fork();
    if (child == 0) {
        int wrong = 0;
        for (size_t turn = 0; turn < 2 && wrong == 0; turn++) { /* with statx, and without it */
            for (size_t i = 0; i < CHECK_COUNT(PATHS) && wrong == 0; i++) {
                struct statx found;
                struct stat truth;
                if (stat(PATHS[i], &truth) != 0 ||
                    linux_statx(AT_FDCWD, PATHS[i], AT_STATX_DONT_SYNC, STATX_BASIC_STATS,
                                &found) != 0 ||
                    !is_same_file(&found, &truth))
                    wrong = 1 + (int)i;
            }
            if (turn == 0 && !forbid_statx())
                wrong = 10;
            if (turn == 0 &&
                (syscall(SYS_statx, AT_FDCWD, "/", 0, 0u, NULL) == 0 || errno != ENOSYS))
                wrong = 11;
        }
        struct statx none;
        if (linux_statx(AT_FDCWD, "/dev/no such file", 0, STATX_INO, &none) == 0 || errno != ENOENT)
            wrong = 12;
        _exit(wrong);
    }
    int status = -1;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
}

static const check_test tests[] = {
    {"a text is without its padding", a_text_is_without_its_padding},
    {"what does not fit is cut and says so", what_does_not_fit_is_cut_and_says_so},
    {"a huge file is read no further", a_huge_file_is_read_no_further},
    {"numbers are decimal or marked", numbers_are_decimal_or_marked},
    {"what is not there says why", what_is_not_there_says_why},
    {"nothing is waited for", nothing_is_waited_for},
    {"names come in natural order", names_come_in_natural_order},
    {"many names come each once", many_names_come_each_once},
    {"links are read and followed", links_are_read_and_followed},
    {"links that lead nowhere end", links_that_lead_nowhere_end},
    {"lists are handed over line by line", lists_are_handed_over_line_by_line},
    {"a kernel without statx is asked by stat", a_kernel_without_statx_is_asked_by_stat},
};

CHECK_TESTS(tests)
