/* The parsers of the files that tell of one process, on captured and on hostile texts. The trees
 * are under tests/fixtures/proc/, each with a README that says which kernel it stands for. */
#include "check.h"

#include "os/linux/process/process_tables.h"
#include "os/os.h"

enum { ALL_FIELDS = OS_STAT_ALL };

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
    CHECK_UINT(stat.process_group, 700);
    CHECK_UINT(stat.session, 699);
    CHECK_INT(stat.terminal, 34819);
    CHECK_INT(stat.foreground_group, -1);
    CHECK_UINT(stat.flags, 4194304);
    CHECK_UINT(stat.minor_faults, 54321);
    CHECK_UINT(stat.major_faults, 21);
    CHECK_UINT(stat.user_ticks, 123456);
    CHECK_UINT(stat.system_ticks, 789);
    CHECK_UINT(stat.children_user_ticks, 31);
    CHECK_UINT(stat.children_system_ticks, 32);
    CHECK_INT(stat.priority, 15);
    CHECK_INT(stat.nice, -5);
    CHECK_UINT(stat.threads, 12);
    CHECK_UINT(stat.start_ticks, 5000);
    CHECK_UINT(stat.virtual_bytes, 123456789);
    CHECK_UINT(stat.resident_pages, 2400);
    CHECK_UINT(stat.cpu, 3);
    CHECK_UINT(stat.realtime_priority, 40);
    CHECK_UINT(stat.policy, 3);
    CHECK_UINT(stat.blocked_ticks, 42);
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
    CHECK_UINT(stat.has, OS_STAT_NAME | OS_STAT_STATE | OS_STAT_PARENT | OS_STAT_GROUP |
                             OS_STAT_SESSION | OS_STAT_TERMINAL | OS_STAT_FOREGROUND |
                             OS_STAT_FLAGS | OS_STAT_FAULTS);
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
    CHECK_UINT(stat.has, ALL_FIELDS & ~(unsigned)OS_STAT_BLOCKED);
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
    bool parsed = os_parse_status(text, size, OS_STATUS_ALL, out);
    free(text);
    return parsed;
}

static void status_gives_the_real_user(void)
{
    struct os_status status;
    CHECK(status_of("proc/linux-6.18/701/status", &status));
    unsigned plain = OS_STATUS_UID | OS_STATUS_PEAK | OS_STATUS_GROUP;
    CHECK_UINT(status.has & plain, plain);
    CHECK_UINT(status.uid, 4000000001);
    CHECK_UINT(status.peak_bytes, 7340 * 1024);
    CHECK_UINT(status.group, 701);
    CHECK(status_of("proc/linux-6.18/2/status", &status));
    CHECK_FALSE(status.has & OS_STATUS_PEAK);
}

static void a_name_cannot_pose_as_a_user(void)
{
    struct os_status status;
    CHECK(status_of("proc/hostile/16/status", &status)); // Name: Uid:\t7\t8\t9
    CHECK_UINT(status.uid, 1234);
    static const char FIRST[] = "Uid:\t7\t8\t9\nName:\tx\n";
    CHECK_FALSE(os_parse_status(FIRST, sizeof FIRST - 1, OS_STATUS_ALL, &status));
    CHECK_FALSE(status_of("proc/hostile/21/status", &status));
    CHECK(status_of("proc/hostile/22/status", &status));
    CHECK_UINT(status.has, OS_STATUS_PEAK | OS_STATUS_GROUP);
    CHECK_UINT(status.peak_bytes, UINT64_MAX);
}

static void every_line_of_status_is_read(void)
{
    struct os_status status;
    size_t size;
    char *text = check_read("proc/facts/800/status", &size);
    CHECK(os_parse_status(text, size, OS_STATUS_ALL, &status));
    CHECK_UINT(status.has, OS_STATUS_ALL);
    CHECK_INT(status.state, 'S');
    CHECK_UINT(status.uid, 1000);
    CHECK_UINT(status.effective_uid, 1001);
    CHECK_UINT(status.saved_uid, 1002);
    CHECK_UINT(status.gid, 100);
    CHECK_UINT(status.effective_gid, 101);
    CHECK_UINT(status.saved_gid, 102);
    CHECK_UINT(status.umask, 027);
    CHECK_UINT(status.tracer_pid, 77);
    CHECK_UINT(status.namespace_pid, 3);
    CHECK_UINT(status.virtual_peak_bytes, 9001 * 1024);
    CHECK_UINT(status.locked_bytes, 64 * 1024);
    CHECK_UINT(status.peak_bytes, 7340 * 1024);
    CHECK_UINT(status.anon_bytes, 1000 * 1024);
    CHECK_UINT(status.file_bytes, 900 * 1024);
    CHECK_UINT(status.shmem_bytes, 100 * 1024);
    CHECK_UINT(status.swapped_bytes, 12 * 1024);
    CHECK_UINT(status.hugetlb_bytes, 2048 * 1024);
    CHECK_UINT(status.permitted, 0x1ffffffffff);
    CHECK_UINT(status.effective, 0x201000);
    CHECK_UINT(status.no_new_privileges, 1);
    CHECK_UINT(status.seccomp, 2);
    CHECK_UINT(status.filesystem_uid, 1003);
    CHECK_UINT(status.filesystem_gid, 103);
    CHECK_BYTES(status.groups.bytes, status.groups.size, "\t100 101 ", 9);
    CHECK_UINT(status.thread_pending, 0x400);
    CHECK_UINT(status.pending, 0x400000000);
    CHECK_UINT(status.blocked, 0x10000);
    CHECK_UINT(status.ignored, 6);
    CHECK_UINT(status.caught, 0x180014a07);
    CHECK_BYTES(status.cpus.bytes, status.cpus.size, "0-3,8", 5);
    free(text);
}

static void a_field_alone_is_as_it_is_among_all(void)
{
    struct os_status all, one;
    size_t size;
    char *text = check_read("proc/facts/800/status", &size);
    CHECK(os_parse_status(text, size, OS_STATUS_ALL, &all));
    for (unsigned bit = 1; bit <= OS_STATUS_GROUPS; bit <<= 1) {
        CHECK(os_parse_status(text, size, bit, &one));
        CHECK_UINT(one.has & bit, bit);
        CHECK_INT(one.state, 'S');
#define NUMBER(name, member, ...) \
    if (bit == OS_STATUS_##name)  \
        CHECK_UINT(one.member, all.member);
        OS_STATUS_NUMBERS(NUMBER)
#undef NUMBER
    }
    CHECK_BYTES(one.groups.bytes, one.groups.size, "\t100 101 ", 9);
    free(text);
}

/* Every prefix of a status gives nothing that the whole does not. */
static void a_prefix_of_status_never_lies(void)
{
    size_t size;
    char *text = check_read("proc/facts/800/status", &size);
    for (size_t cut = 0; cut < size; cut++) {
        char *copy = malloc(cut + 1);
        CHECK_NOT_NULL(copy);
        memcpy(copy, text, cut);
        struct os_status status;
        if (os_parse_status(copy, cut, OS_STATUS_ALL, &status)) {
            CHECK(!(status.has & OS_STATUS_SAVED_UID) || status.saved_uid == 1002);
            CHECK(!(status.has & OS_STATUS_UMASK) || status.umask == 027);
            CHECK(!(status.has & OS_STATUS_PERMITTED) || status.permitted == 0x1ffffffffff);
            CHECK(!(status.has & OS_STATUS_NAMESPACE_PID) || status.namespace_pid == 3);
            CHECK(!(status.has & OS_STATUS_HUGETLB) || status.hugetlb_bytes == 2048 * 1024);
            CHECK(!(status.has & OS_STATUS_CPUS) || status.cpus.size == 5);
        }
        free(copy);
    }
    free(text);
}

static void lines_of_nonsense_are_left_out(void)
{
    static const struct {
        const char *line;
        unsigned has;
    } CASES[] = {
        {"Uid:\t5\n", OS_STATUS_UID},
        {"Uid:\t5\t6\n", OS_STATUS_UID | OS_STATUS_EFFECTIVE_UID},
        {"Uid:\t5\t6\t7\n", OS_STATUS_UID | OS_STATUS_EFFECTIVE_UID | OS_STATUS_SAVED_UID},
        {"Gid:\t5\t6\t7\t8\n",
         OS_STATUS_GID | OS_STATUS_EFFECTIVE_GID | OS_STATUS_SAVED_GID | OS_STATUS_FILESYSTEM_GID},
        {"SigBlk:\tx\n", 0},
        {"Groups:\t\n", OS_STATUS_GROUPS},
        {"Uid:\tx\n", 0},
        {"Uid:\n", 0},
        {"Uid\t5\t6\t7\n", 0},
        {" Uid:\t5\t6\t7\n", 0},
        {"Gid:\t5\t6\tx\n", OS_STATUS_GID | OS_STATUS_EFFECTIVE_GID},
        {"Umask:\t0088\n", 0},
        {"Umask:\t000000022\n", 0},
        {"Umask:\t\n", 0},
        {"State:\tSS\n", 0},
        {"State:\t\n", 0},
        {"NSpid:\t1\t2x\n", 0},
        {"NSpid:\t\n", 0},
        {"CapEff:\tzz\n", 0},
        {"VmPeak:\tmuch\n", 0},
        {"Cpus_allowed_list:\t\n", 0},
        {"Tgid:\t18446744073709551615\n", 0},
        {"\xff\n\n\n", 0},
        {"Seccomp_filters:\t1\n", 0},
        {"Cpus_allowed:\tff\n", 0},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].line);
        char text[128];
        int size = snprintf(text, sizeof text, "Name:\tx\n%s", CASES[i].line);
        struct os_status status;
        CHECK(os_parse_status(text, (size_t)size, OS_STATUS_ALL, &status));
        CHECK_UINT(status.has, CASES[i].has);
    }
}

static void io_counts_what_reached_the_disks(void)
{
    size_t size;
    struct os_io io;
    char *text = check_read("proc/linux-6.18/700/io", &size);
    CHECK(os_parse_io(text, size, &io));
    CHECK_UINT(io.read_bytes, 123);
    CHECK_UINT(io.written_bytes, 456); // and not cancelled_write_bytes
    free(text);
    text = check_read("proc/facts/800/io", &size);
    CHECK(os_parse_io(text, size, &io));
    CHECK_UINT(io.has, OS_IO_ALL);
    CHECK_UINT(io.call_read_bytes, 5001);
    CHECK_UINT(io.call_written_bytes, 6002);
    CHECK_UINT(io.read_calls, 13);
    CHECK_UINT(io.write_calls, 14);
    CHECK_UINT(io.cancelled_write_bytes, 4096);
    CHECK(os_parse_io(text, size - 2, &io));
    CHECK_UINT(io.has, OS_IO_ALL & ~(unsigned)OS_IO_CANCELLED); // may have been cut
    free(text);
    text = check_read("proc/hostile/20/io", &size);
    CHECK(os_parse_io(text, size, &io));
    CHECK_UINT(io.has, OS_IO_READ);
    CHECK_UINT(io.read_bytes, UINT64_MAX); // the first of two
    free(text);
    CHECK_FALSE(os_parse_io("", 0, &io));
}

static void numbers_with_a_sign_have_it_in_stat(void)
{
    static const char TEXT[] = "5 (a) S 1 -1 -1 -2147448829 -1 0 1 2 3 4 5 6 7 8 -2 0 1 0 9 10 11 "
                               "0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 1 1 0\n";
    struct os_stat stat;
    CHECK(os_parse_stat(TEXT, sizeof TEXT - 1, &stat));
    CHECK_UINT(stat.has, ALL_FIELDS & ~(unsigned)(OS_STAT_GROUP | OS_STAT_SESSION));
    CHECK_INT(stat.terminal, -2147448829);
    CHECK_INT(stat.priority, -2);
    CHECK_UINT(stat.policy, 1);
}

/* Eighteen digits are read in the walk, and more of them by number.h. */
static void numbers_of_every_length_are_read(void)
{
    static const struct {
        const char *word;
        bool taken;
        uint64_t number;
    } CASES[] = {
        {"0", true, 0},
        {"000000000000000000000000007", true, 7},
        {"999999999999999999", true, 999999999999999999},
        {"1000000000000000000", true, 1000000000000000000},
        {"18446744073709551615", true, UINT64_MAX},
        {"18446744073709551616", true, UINT64_MAX},
        {"12x", false, 0},
        {"x12", false, 0},
        {"-1", false, 0},
        {"1\r", false, 0},
        {"\xff", false, 0},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].word);
        char text[128];
        int size = snprintf(text, sizeof text, "5 (a) S 1 %s\t6 7\n", CASES[i].word);
        struct os_stat stat;
        CHECK(os_parse_stat(text, (size_t)size, &stat));
        CHECK_INT((stat.has & OS_STAT_GROUP) != 0, CASES[i].taken);
        CHECK_UINT(stat.session, 6);
        if (CASES[i].taken)
            CHECK_UINT(stat.process_group, CASES[i].number);
    }
}

static void statm_gives_pages(void)
{
    enum { FIRST = OS_STATM_RESIDENT, SOME = FIRST | OS_STATM_SHARED, ALL = OS_STATM_ALL };
    static const struct {
        const char *text;
        struct os_statm statm;
    } CASES[] = {
        {"30140 2500 900 1 0 2000 0\n", {ALL, 30140, 2500, 900, 1, 2000}},
        {"30140 2500 900 1 0 2000\n", {ALL, 30140, 2500, 900, 1, 2000}},
        {"0 0 0 0 0 0 0\n", {ALL, 0, 0, 0, 0, 0}},
        {"12 34 5 6 7 8", {SOME | OS_STATM_TEXT, 12, 34, 5, 6, 0}}, // may have been 89
        {"1 2 3\n", {SOME, 1, 2, 3, 0, 0}},
        {"1 2 -3 4 5 6 7\n", {FIRST, 1, 2, 0, 0, 0}},
        {"12 34", {0}}, // may have been 345
        {"12\n", {0}},
        {"", {0}},
        {"-1 5 6", {0}},
        {"99999999999999999999 99999999999999999999 1\n", {SOME, UINT64_MAX, UINT64_MAX, 1, 0, 0}},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].text);
        struct os_statm statm;
        const struct os_statm *expected = &CASES[i].statm;
        CHECK_INT(os_parse_statm(CASES[i].text, strlen(CASES[i].text), &statm), expected->has != 0);
        CHECK_UINT(statm.has, expected->has);
        CHECK_UINT(statm.has != 0 ? statm.size : 0, expected->size);
        CHECK_UINT(statm.resident, expected->resident);
        CHECK_UINT(statm.shared, expected->shared);
        CHECK_UINT(statm.text, expected->text);
        CHECK_UINT(statm.data, expected->data);
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

static void the_folders_of_proc_are_learned_from_listings_that_differ(void)
{
    static const struct {
        const char *name;
        uint64_t links, listed, modules;
        bool known;
    } ROWS[] = {
        {"a first", 160, 100, 9, false},
        {"the same number proves nothing", 160, 100, 9, false},
        {"another number", 163, 103, 9, false},
        {"the same again", 163, 103, 9, false},
        {"a third number", 161, 101, 9, true},
        {"one more agrees", 162, 102, 9, true},
        {"a process was missed", 162, 101, 9, false},
        {"and again, by chance", 163, 102, 9, false},
        {"the truth", 164, 104, 9, false},
        {"a second time", 165, 105, 9, false},
        {"a third time", 166, 106, 9, true},
        {"a module came", 167, 107, 10, false},
        {"modules are not known: as it was", 168, 108, 0, false},
        {"fewer links than processes: as it was", 100, 108, 10, false},
        {"the second with the module", 168, 108, 10, false},
        {"the third", 169, 109, 10, true},
    };
    struct os_process_count count = {0};
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        CHECK_CASE(ROWS[i].name);
        linux_learn_count(&count, ROWS[i].links, ROWS[i].listed, ROWS[i].modules);
        CHECK_INT(count.known, ROWS[i].known);
    }
}

static const check_test tests[] = {
    {"the folders of /proc are learned from listings that differ",
     the_folders_of_proc_are_learned_from_listings_that_differ},
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
    {"every line of status is read", every_line_of_status_is_read},
    {"a field alone is as it is among all", a_field_alone_is_as_it_is_among_all},
    {"a prefix of status never lies", a_prefix_of_status_never_lies},
    {"lines of nonsense are left out", lines_of_nonsense_are_left_out},
    {"io counts what reached the disks", io_counts_what_reached_the_disks},
    {"numbers with a sign have it in stat", numbers_with_a_sign_have_it_in_stat},
    {"numbers of every length are read", numbers_of_every_length_are_read},
    {"statm gives pages", statm_gives_pages},
    {"the cgroup is where the process is accounted", the_cgroup_is_where_the_process_is_accounted},
};
CHECK_TESTS(tests)
