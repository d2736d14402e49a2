/* What our own cgroup allows: each layout of tests/fixtures/host/cgroup_*, and the real kernel
 * where we may make a cgroup. */
#include "check.h"

#include "os/linux/machine/host_files.h"
#include "util/memory.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const vitals_metric METRICS[] = {
    VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES,
    VITALS_HOST_CGROUP_MEMORY_USED_BYTES,
    VITALS_HOST_CGROUP_CPU_LIMIT_CORES,
};

static struct metric_set all_three(void)
{
    struct metric_set set = {0};
    for (size_t i = 0; i < CHECK_COUNT(METRICS); i++)
        metric_set_add(&set, METRICS[i]);
    return set;
}

static struct os open_roots(const char *proc, const char *sys)
{
    vitals_options options;
    vitals_options_init(&options, sizeof options);
    options.proc_root = proc;
    options.sys_root = sys;
    struct os os;
    vitals_error error;
    CHECK_OK(os_open(&os, &options, &error), error);
    return os;
}

static struct os open_fixture(const char *name)
{
    char path[256], proc[PATH_MAX], sys[PATH_MAX];
    snprintf(path, sizeof path, "host/%s/proc", name);
    snprintf(proc, sizeof proc, "%s", check_fixture(path));
    snprintf(path, sizeof path, "host/%s/sys", name);
    snprintf(sys, sizeof sys, "%s", check_fixture(path));
    return open_roots(proc, sys);
}

static void check_state(const struct values *values, vitals_metric metric, int expected)
{
    int state = values->at[metric_number(metric)].state;
    if (state != expected)
        CHECK_FAIL("%s is %s, expected %s", vitals_metric_name(metric),
                   vitals_availability_name(state), vitals_availability_name(expected));
}

enum {
    HAVE = VITALS_HAVE,
    LEAST = VITALS_LOWER_BOUND,
    MOST = VITALS_UPPER_BOUND,
    NONE = VITALS_UNSUPPORTED,
    FAILED = VITALS_FAILED
};

static const struct layout {
    const char *fixture;
    int limit_state;
    uint64_t limit;
    int used_state;
    uint64_t used;
    int cores_state;
    double cores;
} layouts[] = {
    {"cgroup_v1", HAVE, 1073741824, HAVE, 123456, HAVE, 1.5},
    {"cgroup_v1_unlimited", NONE, 0, HAVE, 700, NONE, 0},
    {"cgroup_v1_container", HAVE, 2000000, LEAST, 4096, HAVE, 0.5},
    {"cgroup_v1_flat", HAVE, 50000, HAVE, 7, NONE, 0},
    {"cgroup_v2", HAVE, 536870912, HAVE, 65536, HAVE, 2.5},
    {"cgroup_v2_nested", HAVE, 1000000, HAVE, 900000, HAVE, 0.5},
    {"cgroup_v2_unlimited", NONE, 0, HAVE, 4242, NONE, 0},
    {"cgroup_v2_root", NONE, 0, NONE, 0, NONE, 0},
    {"cgroup_v2_namespace", HAVE, 3000000, HAVE, 1000000, HAVE, 1.0},
    {"cgroup_v2_bind", HAVE, 2000000, HAVE, 600000, NONE, 0},
    {"cgroup_v2_outer", MOST, 3000000, HAVE, 1000000, MOST, 3.0},
    {"cgroup_v2_beside", NONE, 0, NONE, 0, NONE, 0},
    {"cgroup_hybrid", HAVE, 2097152, HAVE, 1048576, HAVE, 0.01},
    {"cgroup_elsewhere", NONE, 0, NONE, 0, NONE, 0},
    {"cgroup_escaped", HAVE, 77, HAVE, 5, NONE, 0},
    {"cgroup_broken", MOST, 500, FAILED, 0, FAILED, 0},
    {"cgroup_hidden", NONE, 0, NONE, 0, NONE, 0},
    {"nothing", NONE, 0, NONE, 0, NONE, 0},
};

static void every_layout(void)
{
    struct metric_set wanted = all_three();
    for (size_t i = 0; i < CHECK_COUNT(layouts); i++) {
        const struct layout *layout = &layouts[i];
        CHECK_CASE(layout->fixture);
        struct os os = open_fixture(layout->fixture);
        struct values values = {0};
        uint64_t asked = memory_asked();
        os_read_own_cgroup(&os, &wanted, &values);
        CHECK_UINT(memory_asked(), asked);
        os_close(&os);
        const struct value *at = values.at;
        check_state(&values, METRICS[0], layout->limit_state);
        check_state(&values, METRICS[1], layout->used_state);
        check_state(&values, METRICS[2], layout->cores_state);
        if (layout->limit_state > 0)
            CHECK_UINT(at[metric_number(METRICS[0])].as.u64, layout->limit);
        if (layout->used_state > 0)
            CHECK_UINT(at[metric_number(METRICS[1])].as.u64, layout->used);
        if (layout->cores_state > 0)
            CHECK_NEAR(at[metric_number(METRICS[2])].as.f64, layout->cores, 0);
    }
}

static void only_what_is_wanted_is_written(void)
{
    for (size_t i = 0; i < CHECK_COUNT(METRICS); i++) {
        struct metric_set wanted = {0};
        metric_set_add(&wanted, METRICS[i]);
        struct os os = open_fixture("cgroup_v2");
        struct values values = {0};
        os_read_own_cgroup(&os, &wanted, &values);
        os_close(&os);
        for (size_t j = 0; j < CHECK_COUNT(METRICS); j++)
            check_state(&values, METRICS[j], i == j ? VITALS_HAVE : VITALS_UNSET);
    }
}

static void what_no_kernel_counts_is_not_zero(void)
{
    static const struct {
        const char *fixture;
        int state;
        uint64_t read, written;
    } cases[] = {
        {"cgroup_v1_usage", HAVE, 4100, 8197},
        {"cgroup_v1_uncounted", NONE, 0, 0}, // "Total 0", and not one device
        {"cgroup_v2_idle", HAVE, 0, 0},      // version 2 counts, and tells nothing of nothing
    };
    struct metric_set wanted = {0};
    metric_set_add(&wanted, VITALS_HOST_CGROUP_READ_BYTES);
    metric_set_add(&wanted, VITALS_HOST_CGROUP_WRITTEN_BYTES);
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        CHECK_CASE(cases[i].fixture);
        struct os os = open_fixture(cases[i].fixture);
        struct values values = {0};
        os_read_own_cgroup(&os, &wanted, &values);
        os_close(&os);
        check_state(&values, VITALS_HOST_CGROUP_READ_BYTES, cases[i].state);
        check_state(&values, VITALS_HOST_CGROUP_WRITTEN_BYTES, cases[i].state);
        if (cases[i].state <= 0)
            continue;
        CHECK_UINT(values.at[metric_number(VITALS_HOST_CGROUP_READ_BYTES)].as.u64, cases[i].read);
        CHECK_UINT(values.at[metric_number(VITALS_HOST_CGROUP_WRITTEN_BYTES)].as.u64,
                   cases[i].written);
    }
}

/* ---- lines ---- */

static struct span span_of(const char *text)
{
    return (struct span){text, strlen(text)};
}

static void lines_of_memberships(void)
{
    static const struct {
        const char *line;
        unsigned version; /* 0: not such a line */
        const char *path;
    } rows[] = {
        {"0::/", 2, "/"},
        {"0::/a:b/c", 2, "/a:b/c"},
        {"4:memory:/a", 1, "/a"},
        {"4:cpu,memory:/a b", 1, "/a b"},
        {"4:memory,cpu:/", 1, "/"},
        {"4:memoryx:/", 0, ""},
        {"4:xmemory:/", 0, ""},
        {"1:name=memory:/", 0, ""},
        {"4:memory:", 0, ""},
        {"4:memory", 0, ""},
        {"1::/", 0, ""},
        {"", 0, ""},
    };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        CHECK_CASE(rows[i].line);
        unsigned version = 0;
        struct span path = {"", 0};
        bool is = host_parse_membership(span_of(rows[i].line), "memory", &version, &path);
        CHECK(is == (rows[i].version != 0));
        CHECK_UINT(version, rows[i].version);
        CHECK_BYTES(path.bytes, path.size, rows[i].path, strlen(rows[i].path));
    }
}

static void lines_of_mounts(void)
{
    static const struct {
        const char *line;
        unsigned version;
        const char *root, *point;
    } rows[] = {
        {"1 2 0:3 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw", 2, "/", "/sys/fs/cgroup"},
        {"1 2 0:3 / /sys/fs/cgroup rw shared:1 master:2 unbindable - cgroup2  rw", 2, "/",
         "/sys/fs/cgroup"},
        {"1 2 0:3 /a\\040b /m\\134\\011x rw - cgroup cgroup rw,memory", 1, "/a b", "/m\\\tx"},
        {"1 2 0:3 / /m rw - cgroup  rw,memory", 1, "/", "/m"}, // no source
        {"1 2 0:3 / /m rw - tmpfs cgroup2 rw", 0, NULL, NULL},
        {"1 2 0:3 / /m rw cgroup2 cgroup2 rw", 0, NULL, NULL}, // no minus
        {"1 2 0:3 / /m rw -", 0, NULL, NULL},
        {"1 2 0:3 m /m rw - cgroup2 x rw", 0, NULL, NULL},
        {"1 2 0:3 /\\000 /m rw - cgroup2 x rw", 0, NULL, NULL},
        {"1 2 0:3 /\\04 /m\\999 rw - cgroup2 x rw", 2, "/\\04", "/m\\999"},
        {"", 0, NULL, NULL},
    };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        CHECK_CASE(rows[i].line);
        struct cgroup_mount mount;
        bool is = host_parse_cgroup_mount(span_of(rows[i].line), &mount);
        CHECK(is == (rows[i].version != 0));
        if (!is)
            continue;
        CHECK_UINT(mount.version, rows[i].version);
        CHECK_STR(mount.root.bytes, rows[i].root);
        CHECK_STR(mount.point.bytes, rows[i].point);
        CHECK(host_mount_has(&mount, mount.version, "memory"));
        CHECK_FALSE(mount.version == 1 && host_mount_has(&mount, 1, "cpu"));
    }
}

/* Where a path is found, for a mount of version 2 with this root. */
static void places(void)
{
    static const struct {
        const char *root, *point, *cgroup;
        const char *place; /* NULL: not there */
        bool outer;
    } rows[] = {
        {"/", "/sys/fs/cgroup", "/", "fs/cgroup", false},
        {"/", "/sys/fs/cgroup", "/a/b", "fs/cgroup/a/b", false},
        {"/a", "/sys/fs/cgroup", "/a", "fs/cgroup", false},
        {"/a", "/sys/fs/cgroup", "/a/b", "fs/cgroup/b", false},
        {"/a", "/sys/fs/cgroup", "/ab", NULL, false},
        {"/a/b", "/sys/fs/cgroup", "/a", NULL, false},
        {"/..", "/sys/fs/cgroup", "/", "fs/cgroup", true},
        {"/..", "/sys/fs/cgroup", "/a", "fs/cgroup", true},
        {"/../..", "/sys/fs/cgroup", "/../a", "fs/cgroup", true},
        {"/../..", "/sys/fs/cgroup", "/../../a", "fs/cgroup/a", false},
        {"/..", "/sys/fs/cgroup", "/../..", NULL, false},
        {"/../x", "/sys/fs/cgroup", "/", NULL, false},
        {"/../x", "/sys/fs/cgroup", "/../x/y", "fs/cgroup/y", false},
        {"/..x", "/sys/fs/cgroup", "/", NULL, false},
        {"/", "/sys/fs/cgroup", "/..", NULL, false},
        {"/", "/cgroup", "/", NULL, false},
        {"/", "/system", "/", NULL, false},
        {"/", "/sys", "/", NULL, false},
        {"/", "/sys/", "/", NULL, false},
    };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        char line[256];
        snprintf(line, sizeof line, "root %s, point %s, cgroup %s", rows[i].root, rows[i].point,
                 rows[i].cgroup);
        CHECK_CASE(line);
        char text[512];
        snprintf(text, sizeof text, "1 2 0:3 %s %s rw - cgroup2 x rw", rows[i].root, rows[i].point);
        struct cgroup_mount mount;
        struct cgroup_place place = {.found = false};
        CHECK(host_parse_cgroup_mount(span_of(text), &mount));
        host_place_cgroup(&mount, span_of(rows[i].cgroup), &place);
        CHECK(place.found == (rows[i].place != NULL));
        if (!place.found)
            continue;
        CHECK_STR(place.path.bytes, rows[i].place);
        CHECK(place.outer == rows[i].outer);
    }
}

static void a_line_that_is_too_long_hides_no_other(void)
{
    char folder[] = "/tmp/vitals-cgroup-XXXXXX", path[512];
    CHECK_NOT_NULL(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/self", folder);
    CHECK_INT(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/self/cgroup", folder);
    FILE *file = fopen(path, "w");
    CHECK_NOT_NULL(file);
    fputs("0::/system.slice/job.service\n", file);
    CHECK_INT(fclose(file), 0);
    // An overlay of a thousand layers before and behind the mount that counts.
    snprintf(path, sizeof path, "%s/self/mountinfo", folder);
    file = fopen(path, "w");
    CHECK_NOT_NULL(file);
    for (int i = 0; i < 3; i++) {
        fputs("40 23 0:50 / /merged rw - overlay overlay rw,lowerdir=", file);
        for (int layer = 0; layer < 1000; layer++)
            fputs("/var/lib/layers/abcdef:", file);
        fputs(i == 0 ? "\n30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n" : "\n", file);
    }
    CHECK_INT(fclose(file), 0);

    char sys[PATH_MAX];
    snprintf(sys, sizeof sys, "%s", check_fixture("host/cgroup_v2/sys"));
    struct os os = open_roots(folder, sys);
    struct metric_set wanted = all_three();
    struct values values = {0};
    os_read_own_cgroup(&os, &wanted, &values);
    os_close(&os);
    check_state(&values, METRICS[0], VITALS_HAVE);
    CHECK_UINT(values.at[metric_number(METRICS[0])].as.u64, 536870912);

    CHECK_INT(unlink(path), 0);
    snprintf(path, sizeof path, "%s/self/cgroup", folder);
    CHECK_INT(unlink(path), 0);
    snprintf(path, sizeof path, "%s/self", folder);
    CHECK_INT(rmdir(path), 0);
    CHECK_INT(rmdir(folder), 0);
}

/* ---- the real kernel ---- */

static bool write_text(const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX + 256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return false;
    bool written = fputs(text, file) >= 0;
    return fclose(file) == 0 && written;
}

/* Below our own cgroup of a memory hierarchy that is mounted at its usual place. */
static bool make_cgroup(char *folder, size_t size, const char **limit_file)
{
    FILE *file = fopen("/proc/self/cgroup", "r");
    char line[PATH_MAX];
    bool made = false;
    while (file != NULL && !made && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        const char *unified = strncmp(line, "0::", 3) == 0 ? line + 3 : NULL;
        const char *memory = strstr(line, ":memory:");
        const char *mount = unified != NULL ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
        const char *path = unified != NULL ? unified : memory != NULL ? memory + 8 : NULL;
        *limit_file = unified != NULL ? "memory.max" : "memory.limit_in_bytes";
        if (path == NULL)
            continue;
        snprintf(folder, size, "%s%s/vitals-test-%d", mount, path, (int)getpid());
        if (mkdir(folder, 0755) != 0)
            continue;
        made = write_text(folder, *limit_file, "33554432");
        if (!made)
            rmdir(folder);
    }
    if (file != NULL)
        fclose(file);
    return made;
}

enum { LIMIT = 32 << 20, TOUCHED = 4 << 20 };

/* In a process of its own that has moved there: 0 where the limit and the charge are seen, 2 where
 * it cannot move. */
static int look_from_inside(const char *folder)
{
    static volatile char touched[TOUCHED]; // volatile: a compiler may not know better
    if (!write_text(folder, "cgroup.procs", "0"))
        return 2;
    for (size_t i = 0; i < sizeof touched; i += 1024)
        touched[i] = 1;
    vitals_options options;
    vitals_options_init(&options, sizeof options);
    struct os os;
    if (os_open(&os, &options, NULL) != 0)
        return 1;
    struct metric_set wanted = all_three();
    struct values values = {0};
    os_read_own_cgroup(&os, &wanted, &values);
    os_close(&os);
    const struct value *limit = &values.at[metric_number(METRICS[0])];
    const struct value *used = &values.at[metric_number(METRICS[1])];
    bool limited = limit->state == VITALS_HAVE && limit->as.u64 == LIMIT;
    bool charged = used->state == VITALS_HAVE && used->as.u64 >= TOUCHED && used->as.u64 <= LIMIT;
    return limited && charged ? 0 : 1;
}

static void a_limit_that_the_kernel_holds(void)
{
    char folder[PATH_MAX + 128];
    const char *limit_file;
    if (!make_cgroup(folder, sizeof folder, &limit_file))
        CHECK_SKIP("no memory cgroup can be made here");
    pid_t child = fork();
    if (child == 0)
        _exit(look_from_inside(folder));
    int status = 0;
    bool waited = child > 0 && waitpid(child, &status, 0) == child;
    bool removed = rmdir(folder) == 0;
    CHECK(waited && WIFEXITED(status));
    if (WEXITSTATUS(status) == 2)
        CHECK_SKIP("no process can be moved to a cgroup here");
    CHECK_INT(WEXITSTATUS(status), 0);
    CHECK(removed);
}

static const check_test tests[] = {
    {"every layout of cgroups", every_layout},
    {"only what is wanted is written", only_what_is_wanted_is_written},
    {"what no kernel counts is not zero", what_no_kernel_counts_is_not_zero},
    {"lines of /proc/self/cgroup", lines_of_memberships},
    {"lines of /proc/self/mountinfo", lines_of_mounts},
    {"where a cgroup is found below its mount", places},
    {"a line that is too long hides no other", a_line_that_is_too_long_hides_no_other},
    {"a limit that the kernel holds", a_limit_that_the_kernel_holds},
};
CHECK_TESTS(tests)
