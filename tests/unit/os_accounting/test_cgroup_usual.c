/* Where our own cgroup is, found without the list of mounts: the same as with it, on the real
 * machine, and left to that list where a mount shows less than all, stands elsewhere, or we are in
 * a namespace. */
#include "check.h"

#include "os/linux/cgroup/cgroup.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIPPED = 77, CUT_OFF = 78 };

static struct os open_real(void)
{
    return (struct os){.proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC),
                       .sys = open("/sys", O_PATH | O_DIRECTORY | O_CLOEXEC)};
}

static void close_real(struct os *os)
{
    close(os->proc);
    close(os->sys);
}

/* Of every controller: how many are at a usual place; -1 where we are in none of the first
 * namespace. */
static int count_usual(const struct os *os, struct cgroup_found found[static CGROUP_CONTROLLERS])
{
    char text[8192];
    const struct span memberships = {text, cgroup_usual_read(os, text, sizeof text)};
    int count = 0;
    if (memberships.size == 0)
        return -1;
    for (int i = 0; i < CGROUP_CONTROLLERS; i++) {
        if (cgroup_usual_find(os, memberships, (enum cgroup_controller)i, &found[i]))
            count += found[i].version != 0 ? 1 : 0;
        else
            found[i].version = 0;
    }
    return count;
}

static bool inode_of(const struct os *os, const struct cgroup_place *place, struct stat *is)
{
    return fstatat(os->sys, place->path.bytes, is, 0) == 0;
}

static void it_is_where_the_list_of_mounts_says(void)
{
    static struct cgroup_found usual[CGROUP_CONTROLLERS];
    static struct cgroups listed;
    struct os os = open_real();
    if (count_usual(&os, usual) <= 0)
        CHECK_SKIP("no cgroup of ours is at a usual place, of the first namespace");
    cgroups_find(&listed, &os, 0, (1u << CGROUP_CONTROLLERS) - 1);
    for (int i = 0; i < CGROUP_CONTROLLERS; i++) {
        const struct cgroup_found *other = &listed.found[i];
        struct stat here, there;
        if (usual[i].version == 0)
            continue;
        CHECK_INT(usual[i].version, other->version);
        CHECK(!usual[i].place.outer && !other->place.outer);
        CHECK(inode_of(&os, &usual[i].place, &here) && inode_of(&os, &other->place, &there));
        CHECK(here.st_dev == there.st_dev && here.st_ino == there.st_ino);
        CHECK(usual[i].place.path.size - usual[i].place.mount_size ==
              other->place.path.size - other->place.mount_size);
    }
    close_real(&os);
}

/* ---- what must be left to the list ---- */

/* In a world of its own; its exit says what came of it. */
static int apart(int flags, int (*look)(void))
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        bool alone = unshare(CLONE_NEWNS | flags) == 0 &&
                     mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
        _exit(alone ? look() : SKIPPED);
    }
    bool ended = pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status);
    return ended ? WEXITSTATUS(status) : CUT_OFF;
}

static int look_from_a_namespace(void)
{
    static struct cgroup_found found[CGROUP_CONTROLLERS];
    struct os os = open_real();
    return count_usual(&os, found) == -1 ? 0 : 1;
}

/* An empty cgroup of ours in each hierarchy where we are at a usual place. They are the machine's,
 * so the process that makes them must outlive the world that binds them. */
static struct part {
    char point[4200]; /* where the hierarchy is mounted */
    char path[4300];  /* empty: bound already, as CPU and its accounting are one, or not ours to
                         write */
} parts[CGROUP_CONTROLLERS];

static void make_parts(void)
{
    static struct cgroup_found found[CGROUP_CONTROLLERS];
    struct os os = open_real();
    int count = count_usual(&os, found);
    for (int i = 0; count > 0 && i < CGROUP_CONTROLLERS; i++) {
        const struct cgroup_place *place = &found[i].place;
        struct part *part = &parts[i];
        struct stat is;
        if (found[i].version == 0)
            continue;
        snprintf(part->point, sizeof part->point, "/sys/%.*s", (int)place->mount_size,
                 place->path.bytes);
        snprintf(part->path, sizeof part->path, "/sys/%.*s/vitals-part-%d", (int)place->mount_size,
                 place->path.bytes, (int)getpid());
        if (stat(part->point, &is) != 0 || is.st_ino != 1 || mkdir(part->path, 0755) != 0)
            part->path[0] = '\0';
    }
    close_real(&os);
}

/* How many stay. */
static int remove_parts(void)
{
    int stay = 0;
    for (int i = 0; i < CGROUP_CONTROLLERS; i++) {
        if (parts[i].path[0] != '\0' && rmdir(parts[i].path) != 0)
            stay++;
        parts[i].path[0] = '\0';
    }
    return stay;
}

/* Each part, bound over the whole. */
static int look_at_parts(void)
{
    static struct cgroup_found again[CGROUP_CONTROLLERS];
    int bound = 0, wrong = 0;
    for (int i = 0; i < CGROUP_CONTROLLERS; i++) {
        if (parts[i].path[0] == '\0' ||
            mount(parts[i].path, parts[i].point, NULL, MS_BIND, NULL) != 0)
            continue;
        struct os os = open_real();
        (void)count_usual(&os, again);
        bound++;
        wrong += again[i].version != 0 ? 1 : 0;
        close_real(&os);
        (void)umount2(parts[i].point, MNT_DETACH);
    }
    return wrong > 0 ? 1 : bound > 0 ? 0 : SKIPPED;
}

static int look_at_another_kind(void)
{
    static struct cgroup_found found[CGROUP_CONTROLLERS];
    if (mount("none", "/sys/fs/cgroup", "tmpfs", 0, NULL) != 0)
        return SKIPPED;
    struct os os = open_real();
    return count_usual(&os, found) <= 0 ? 0 : 1;
}

static void it_is_left_to_the_list(void)
{
    static const struct {
        int flags;
        int (*look)(void);
    } CASES[] = {
        {CLONE_NEWCGROUP, look_from_a_namespace}, {0, look_at_parts}, {0, look_at_another_kind}};
    size_t skipped = 0;
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        if (CASES[i].look == look_at_parts)
            make_parts();
        int code = apart(CASES[i].flags, CASES[i].look);
        CHECK_INT(remove_parts(), 0);
        if (code == CUT_OFF)
            CHECK_FAIL("case %zu: no world of its own, or it did not end by itself", i);
        if (code != 0 && code != SKIPPED)
            CHECK_FAIL("case %zu: found at a usual place what is not there", i);
        skipped += code == SKIPPED ? 1 : 0;
    }
    if (skipped == CHECK_COUNT(CASES))
        CHECK_SKIP("no mounts of our own here");
}

/* Trees of files are no hierarchies, whatever stands in them. */
static void a_tree_of_files_is_none(void)
{
    static const char *const TREES[] = {"host/cgroup_v1", "host/cgroup_hybrid"};
    static struct cgroup_found found[CGROUP_CONTROLLERS];
    for (size_t i = 0; i < CHECK_COUNT(TREES); i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/proc", TREES[i]);
        struct os os = {.sys = -1, .proc = open(check_fixture(path), O_PATH | O_DIRECTORY)};
        snprintf(path, sizeof path, "%s/sys", TREES[i]);
        os.sys = open(check_fixture(path), O_PATH | O_DIRECTORY);
        CHECK(os.proc >= 0 && os.sys >= 0);
        CHECK_INT(count_usual(&os, found), -1);
        close_real(&os);
    }
}

/* What stands in self/cgroup may be anything. */
static void texts_that_lie_are_none(void)
{
    static const char *const TEXTS[] = {"0::",         "0::relative", ":::",  "0",
                                        "1:memory:",   "\n\n",        "0:/:", "9:memory",
                                        "1:memory:..", "1::/a",       "::/"};
    static struct cgroup_found found;
    struct os os = open_real();
    for (size_t i = 0; i < CHECK_COUNT(TEXTS); i++) {
        const struct span text = {TEXTS[i], strlen(TEXTS[i])};
        for (int controller = 0; controller < CGROUP_CONTROLLERS; controller++) {
            bool told = cgroup_usual_find(&os, text, (enum cgroup_controller)controller, &found);
            CHECK(!told || found.version == 0);
        }
    }
    static char longest[6000] = "0::/";
    memset(longest + 4, 'a', sizeof longest - 4);
    CHECK(!cgroup_usual_find(&os, (struct span){longest, sizeof longest}, CGROUP_SECOND, &found));
    close_real(&os);
}

static const struct check_test tests[] = {
    {"it is where the list of mounts says", it_is_where_the_list_of_mounts_says},
    {"it is left to the list", it_is_left_to_the_list},
    {"a tree of files is none", a_tree_of_files_is_none},
    {"texts that lie are none", texts_that_lie_are_none},
};
CHECK_TESTS(tests)
