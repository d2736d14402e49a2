/* The parsers of the files that tell of one process, on captured and on hostile texts. The trees
 * are under tests/fixtures/proc/, each with a README that says which kernel it stands for. */
#include "check.h"

#include "os/os.h"

enum { ALL_FIELDS = (OS_STAT_CPU << 1) - 1 };

static bool stat_of(const char *fixture, struct os_stat *out, char name[static 64])
{
    size_t size;
    char *text = check_read(fixture, &size);
    bool parsed = os_parse_stat(text, size, out);
    snprintf(name, 64, "%.*s", parsed ? (int)out->name.size : 0, parsed ? out->name.bytes : "");
    free(text);
    return parsed;
}

static void every_field_is_the_one_that_the_manual_numbers(void)
{
    struct os_stat stat;
    char name[64];
    CHECK(stat_of("proc/linux-6.18/700/stat", &stat, name));
    CHECK_UINT(stat.has, ALL_FIELDS);
    CHECK_STR(name, "python3");
    CHECK_INT(stat.state, 'R');
    CHECK_INT(stat.parent_pid, 1);
    CHECK_UINT(stat.minor_faults, 54321);
    CHECK_UINT(stat.major_faults, 21);
    CHECK_UINT(stat.user_ticks, 123456);
    CHECK_UINT(stat.system_ticks, 789);
    CHECK_INT(stat.nice, -5);
    CHECK_UINT(stat.threads, 12);
    CHECK_UINT(stat.start_ticks, 5000);
    CHECK_UINT(stat.virtual_bytes, 123456789);
    CHECK_UINT(stat.resident_pages, 2400);
    CHECK_UINT(stat.cpu, 3);
}

static void a_name_ends_at_the_last_parenthesis(void)
{
    static const struct {
        const char *fixture, *name;
    } CASES[] = {
        {"proc/hostile/10/stat", "a) R 9 9 9 (b"},
        {"proc/hostile/11/stat", "two\nlines"},
        {"proc/hostile/12/stat", "\x1b[2J\xff\t\xc3"},
        {"proc/hostile/22/stat", "()"},
        {"proc/hostile/23/stat", ""},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].fixture);
        struct os_stat stat;
        char name[64];
        CHECK(stat_of(CASES[i].fixture, &stat, name));
        CHECK_STR(name, CASES[i].name);
        CHECK_UINT(stat.has, ALL_FIELDS);
        CHECK_INT(stat.state, 'S');
        CHECK_UINT(stat.user_ticks, 150);
        CHECK_UINT(stat.start_ticks, 1000);
    }
}

static void a_number_that_may_have_been_cut_is_not_taken(void)
{
    struct os_stat stat;
    char name[64];
    CHECK(stat_of("proc/hostile/13/stat", &stat, name)); // ends within "150"
    CHECK_UINT(stat.has, OS_STAT_NAME | OS_STAT_STATE | OS_STAT_PARENT | OS_STAT_FAULTS);
}

static void what_is_no_stat_is_refused(void)
{
    static const char *const CASES[] = {"proc/hostile/14/stat", "proc/hostile/18/stat",
                                        "proc/hostile/19/stat"};
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i]);
        struct os_stat stat;
        char name[64];
        CHECK_FALSE(stat_of(CASES[i], &stat, name));
        CHECK_UINT(stat.has, 0);
    }
}

static void fields_of_nonsense_are_left_out(void)
{
    struct os_stat stat;
    char name[64];
    CHECK(stat_of("proc/hostile/17/stat", &stat, name));
    CHECK_UINT(stat.has, OS_STAT_NAME);
    CHECK(stat_of("proc/hostile/20/stat", &stat, name));
    CHECK_UINT(stat.has, ALL_FIELDS & ~(unsigned)OS_STAT_PARENT); // -4
    CHECK_UINT(stat.minor_faults, UINT64_MAX);                    // saturated
    CHECK_UINT(stat.virtual_bytes, UINT64_MAX);
}

static void an_old_kernel_has_fewer_fields(void)
{
    struct os_stat stat;
    char name[64];
    CHECK(stat_of("proc/linux-2.4/5/stat", &stat, name));
    CHECK_UINT(stat.has, ALL_FIELDS);
    CHECK_UINT(stat.start_ticks, 77);
    static const char SHORT[] = "5 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19\n";
    CHECK(os_parse_stat(SHORT, sizeof SHORT - 1, &stat));
    CHECK_FALSE(stat.has & OS_STAT_VIRTUAL);
    CHECK(stat.has & OS_STAT_START);
    CHECK_UINT(stat.start_ticks, 19);
}

/* Every prefix of a real file gives nothing that the whole does not. */
static void a_prefix_never_lies(void)
{
    size_t size;
    char *text = check_read("proc/linux-6.18/700/stat", &size);
    for (size_t cut = 0; cut < size; cut++) {
        char *copy = malloc(cut + 1); // exactly, so that a sanitizer sees one byte too many
        CHECK_NOT_NULL(copy);
        memcpy(copy, text, cut);
        struct os_stat stat;
        if (os_parse_stat(copy, cut, &stat)) {
            CHECK(!(stat.has & OS_STAT_TIMES) || stat.system_ticks == 789);
            CHECK(!(stat.has & OS_STAT_START) || stat.start_ticks == 5000);
            CHECK(!(stat.has & OS_STAT_VIRTUAL) || stat.virtual_bytes == 123456789);
        }
        free(copy);
    }
    free(text);
}

static bool status_of(const char *fixture, struct os_status *out)
{
    size_t size;
    char *text = check_read(fixture, &size);
    bool parsed = os_parse_status(text, size, out);
    free(text);
    return parsed;
}

static void status_gives_the_real_user(void)
{
    struct os_status status;
    CHECK(status_of("proc/linux-6.18/701/status", &status));
    CHECK_UINT(status.has, OS_STATUS_UID | OS_STATUS_PEAK | OS_STATUS_GROUP);
    CHECK_UINT(status.uid, 4000000001);
    CHECK_UINT(status.peak_bytes, 7340 * 1024);
    CHECK_INT(status.group, 701);
    CHECK(status_of("proc/linux-6.18/2/status", &status));
    CHECK_FALSE(status.has & OS_STATUS_PEAK);
}

static void a_name_cannot_pose_as_a_user(void)
{
    struct os_status status;
    CHECK(status_of("proc/hostile/16/status", &status)); // Name: Uid:\t7\t8\t9
    CHECK_UINT(status.uid, 1234);
    static const char FIRST[] = "Uid:\t7\t8\t9\nName:\tx\n";
    CHECK_FALSE(os_parse_status(FIRST, sizeof FIRST - 1, &status));
    CHECK_FALSE(status_of("proc/hostile/21/status", &status));
    CHECK(status_of("proc/hostile/22/status", &status));
    CHECK_UINT(status.has, OS_STATUS_PEAK | OS_STATUS_GROUP);
    CHECK_UINT(status.peak_bytes, UINT64_MAX);
}

static void io_counts_what_reached_the_disks(void)
{
    size_t size;
    struct os_io io;
    char *text = check_read("proc/linux-6.18/700/io", &size);
    CHECK(os_parse_io(text, size, &io));
    CHECK_UINT(io.has, OS_IO_READ | OS_IO_WRITTEN);
    CHECK_UINT(io.read_bytes, 123);
    CHECK_UINT(io.written_bytes, 456); // and not cancelled_write_bytes
    free(text);
    text = check_read("proc/hostile/20/io", &size);
    CHECK(os_parse_io(text, size, &io));
    CHECK_UINT(io.has, OS_IO_READ);
    CHECK_UINT(io.read_bytes, UINT64_MAX); // the first of two
    free(text);
    CHECK_FALSE(os_parse_io("", 0, &io));
}

static void statm_gives_resident_pages(void)
{
    static const struct {
        const char *text;
        bool parsed;
        uint64_t pages;
    } CASES[] = {
        {"30140 2500 900 1 0 2000 0\n", true, 2500},
        {"0 0 0 0 0 0 0\n", true, 0},
        {"12 34", false, 0}, // may have been 345
        {"12\n", false, 0},
        {"", false, 0},
        {"-1 5 6", false, 0},
        {"99999999999999999999 99999999999999999999 1\n", true, UINT64_MAX},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].text);
        uint64_t pages = 0;
        CHECK_INT(os_parse_statm(CASES[i].text, strlen(CASES[i].text), &pages), CASES[i].parsed);
        CHECK_UINT(pages, CASES[i].pages);
    }
}

static void the_cgroup_is_where_the_process_is_accounted(void)
{
    static const struct {
        const char *fixture, *path;
    } CASES[] = {
        {"proc/cgroup/v2", "/user.slice/user-1000.slice/session-4.scope"},
        {"proc/cgroup/v2-root", "/"},
        {"proc/cgroup/v1", "/docker/abc"},
        {"proc/cgroup/v1-cpuacct", "/slurm/uid_0/job_9"},
        {"proc/cgroup/v1-first", "/f"},
        {"proc/cgroup/hybrid", "/system.slice/a.service"},
        {"proc/cgroup/hybrid-root", "/process_api/edda"},
        {"proc/cgroup/colon", "/odd:name:with colons/\x1b[31m"},
        {"proc/cgroup/nonsense", ""},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].fixture);
        size_t size;
        char *text = check_read(CASES[i].fixture, &size);
        struct span path = os_parse_cgroup(text, size);
        CHECK_BYTES(path.bytes, path.size, CASES[i].path, strlen(CASES[i].path));
        free(text);
    }
    CHECK_UINT(os_parse_cgroup("", 0).size, 0);
}

static const check_test tests[] = {
    {"every field is the one that the manual numbers",
     every_field_is_the_one_that_the_manual_numbers},
    {"a name ends at the last parenthesis", a_name_ends_at_the_last_parenthesis},
    {"a number that may have been cut is not taken", a_number_that_may_have_been_cut_is_not_taken},
    {"what is no stat is refused", what_is_no_stat_is_refused},
    {"fields of nonsense are left out", fields_of_nonsense_are_left_out},
    {"an old kernel has fewer fields", an_old_kernel_has_fewer_fields},
    {"a prefix never lies", a_prefix_never_lies},
    {"status gives the real user", status_gives_the_real_user},
    {"a name cannot pose as a user", a_name_cannot_pose_as_a_user},
    {"io counts what reached the disks", io_counts_what_reached_the_disks},
    {"statm gives resident pages", statm_gives_resident_pages},
    {"the cgroup is where the process is accounted", the_cgroup_is_where_the_process_is_accounted},
};
CHECK_MAIN(tests)
