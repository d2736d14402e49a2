/* Groups of our own: their names, and when they are removed. A folder stands in for a cgroup:
 * making and removing are the same calls. */
#include "check.h"

#include "os/launch.h"
#include "os/linux/accounting/count.h"
#include "os/linux/cgroup/cgroup_own.h"
#include "util/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct stand_in {
    char folder[32];
    struct os os;
    struct cgroup_place place;
};

static void stand_in(struct stand_in *in)
{
    *in = (struct stand_in){.folder = "/tmp/vitals-group-XXXXXX", .os = {.proc = -1}};
    CHECK_NOT_NULL(mkdtemp(in->folder));
    in->os.sys = open(in->folder, O_RDONLY | O_DIRECTORY);
    CHECK(in->os.sys >= 0);
    in->place.found = true;
    in->place.path = (struct cgroup_path){.size = 1, .bytes = "."};
}

static void remove_stand_in(struct stand_in *in)
{
    close(in->os.sys);
    CHECK_INT(rmdir(in->folder), 0); /* nothing is left in it */
}

static bool is_there(const struct stand_in *in, const char *name)
{
    return faccessat(in->os.sys, name, F_OK, 0) == 0;
}

/* Several runs at once in one process. */
static void none_takes_the_place_of_another(void)
{
    struct stand_in in;
    struct own_group first, second;
    stand_in(&in);
    CHECK_INT(own_group_make(&in.os, &in.place, &first), 0);
    CHECK_INT(own_group_make(&in.os, &in.place, &second), 0);
    CHECK(strcmp(first.name, second.name) != 0);
    own_group_remove(&in.os, &second);
    CHECK(is_there(&in, first.name));
    CHECK(!is_there(&in, second.name));
    own_group_remove(&in.os, &first);
    remove_stand_in(&in);
}

static void a_fork_removes_nothing(void)
{
    struct stand_in in;
    struct own_group group;
    stand_in(&in);
    CHECK_INT(own_group_make(&in.os, &in.place, &group), 0);
    pid_t pid = fork();
    if (pid == 0) {
        own_group_remove(&in.os, &group);
        _exit(0);
    }
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    CHECK(is_there(&in, group.name));
    own_group_remove(&in.os, &group);
    remove_stand_in(&in);
}

/* Of a process that is no more; by both names that groups have had. Others stay. */
static void what_the_dead_left_goes(void)
{
    static const char *const OTHERS[] = {"vitals-",    "vitals-x",   "vitals-1",
                                         "vitals-1-x", "vitals-1-1", "other-1"};
    struct stand_in in;
    struct own_group group;
    char names[2][64];
    stand_in(&in);
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    (void)snprintf(names[0], sizeof names[0], "vitals-%d", (int)pid);
    (void)snprintf(names[1], sizeof names[1], "vitals-%d-12", (int)pid);
    for (size_t i = 0; i < 2; i++)
        CHECK_INT(mkdirat(in.os.sys, names[i], 0755), 0);
    for (size_t i = 0; i < ARRAY_COUNT(OTHERS); i++)
        CHECK_INT(mkdirat(in.os.sys, OTHERS[i], 0755), 0);
    CHECK_INT(own_group_make(&in.os, &in.place, &group), 0);
    own_group_remove(&in.os, &group);
    for (size_t i = 0; i < 2; i++)
        CHECK(!is_there(&in, names[i]));
    for (size_t i = 0; i < ARRAY_COUNT(OTHERS); i++) {
        CHECK(is_there(&in, OTHERS[i]));
        CHECK_INT(unlinkat(in.os.sys, OTHERS[i], AT_REMOVEDIR), 0);
    }
    remove_stand_in(&in);
}

static void note_file(void *data, const char *line)
{
    char *said = data;
    (void)snprintf(said + strlen(said), 512 - strlen(said), "%s\n", line);
}

/* A stand-in has no such files: each that is to be written is traced. */
static void the_kernels_limit_of_memory_is_a_hard_one(void)
{
    struct stand_in in;
    char said[512] = "";
    os_quantities counts;
    stand_in(&in);
    in.os.live = true;
    in.os.trace = note_file;
    in.os.trace_data = said;
    struct count_shared *shared = os_count_shared_new();
    CHECK_NOT_NULL(shared);
    shared->elsewhere = true;
    shared->cgroups.found[CGROUP_SECOND] = (struct cgroup_found){.version = 2, .place = in.place};
    const struct os_count_options options = {
        .os = &in.os, .shared = shared, .limit_memory_bytes = 100 << 20};
    void *state = memory_alloc(count_cgroup2.size);
    CHECK_INT(count_cgroup2.open(state, &options, &counts), 0);
    CHECK_CONTAINS(said, "memory.max");
    CHECK_CONTAINS(said, "memory.oom.group");
    CHECK(strstr(said, "memory.high") == NULL); /* slows a job down that is below its limit */
    count_cgroup2.close(state);
    memory_free(state);
    memory_free(shared);
    remove_stand_in(&in);
}

static const struct check_test tests[] = {
    {"none takes the place of another", none_takes_the_place_of_another},
    {"a fork removes nothing", a_fork_removes_nothing},
    {"what the dead left goes", what_the_dead_left_goes},
    {"the kernel's limit of memory is a hard one", the_kernels_limit_of_memory_is_a_hard_one},
};
CHECK_TESTS(tests)
