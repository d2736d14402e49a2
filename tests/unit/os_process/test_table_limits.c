/* The table limit: against getrlimit, by another user, and on trees. */
#include "table_world.h"

#include "os/linux/process/process_tables.h"

#include <sys/resource.h>

static void check_limit(const struct asked *asked, const char *name, int resource)
{
    CHECK_CASE(name);
    struct rlimit limit;
    CHECK_INT(getrlimit((__rlimit_resource_t)resource, &limit), 0);
    const struct batch_row *row = need_label(asked, name);
    check_text(asked, row, VITALS_LIMIT_NAME, name);
    CHECK_UINT(u64_of(asked, row, VITALS_LIMIT_SOFT_UNLIMITED), limit.rlim_cur == RLIM_INFINITY);
    CHECK_UINT(u64_of(asked, row, VITALS_LIMIT_HARD_UNLIMITED), limit.rlim_max == RLIM_INFINITY);
    if (limit.rlim_cur == RLIM_INFINITY)
        CHECK_INT(state_of(asked, row, VITALS_LIMIT_SOFT), VITALS_UNSUPPORTED);
    else
        CHECK_UINT(u64_of(asked, row, VITALS_LIMIT_SOFT), limit.rlim_cur);
    if (limit.rlim_max == RLIM_INFINITY)
        CHECK_INT(state_of(asked, row, VITALS_LIMIT_HARD), VITALS_UNSUPPORTED);
    else
        CHECK_UINT(u64_of(asked, row, VITALS_LIMIT_HARD), limit.rlim_max);
}

static const struct {
    const char *name;
    int resource;
    const char *unit;
} LIMITS[] = {
    {"cpu", RLIMIT_CPU, "seconds"},
    {"fsize", RLIMIT_FSIZE, "bytes"},
    {"data", RLIMIT_DATA, "bytes"},
    {"stack", RLIMIT_STACK, "bytes"},
    {"core", RLIMIT_CORE, "bytes"},
    {"rss", RLIMIT_RSS, "bytes"},
    {"nproc", RLIMIT_NPROC, ""},
    {"nofile", RLIMIT_NOFILE, ""},
    {"memlock", RLIMIT_MEMLOCK, "bytes"},
    {"as", RLIMIT_AS, "bytes"},
    {"locks", RLIMIT_LOCKS, ""},
    {"sigpending", RLIMIT_SIGPENDING, ""},
    {"msgqueue", RLIMIT_MSGQUEUE, "bytes"},
    {"nice", RLIMIT_NICE, ""},
    {"rtprio", RLIMIT_RTPRIO, ""},
    {"rttime", RLIMIT_RTTIME, "microseconds"},
};

static void they_are_those_of_getrlimit(void)
{
    struct asked asked;
    ask(&asked, NULL, getpid(), VITALS_TABLE_LIMIT);
    check_asked(&asked);
    CHECK_UINT(asked.batch.row_count, CHECK_COUNT(LIMITS));
    for (size_t i = 0; i < CHECK_COUNT(LIMITS); i++) {
        check_limit(&asked, LIMITS[i].name, LIMITS[i].resource);
        check_text(&asked, need_label(&asked, LIMITS[i].name), VITALS_LIMIT_UNIT, LIMITS[i].unit);
    }
    asked_done(&asked);
}

/* The file says what prlimit says; an ordinary user has only the file and gets the same. */
static void a_limit_that_was_set_is_read_both_ways(void)
{
    pid_t pid = child_new();
    const struct rlimit set = {.rlim_cur = 123, .rlim_max = 456};
    CHECK_INT(prlimit(pid, RLIMIT_NOFILE, &set, NULL), 0);
    struct asked asked;
    ask(&asked, NULL, pid, VITALS_TABLE_LIMIT);
    struct linux_limit_values values[LINUX_LIMITS];
    struct buffer text = {0};
    bool cut;
    CHECK_INT(os_process_file(&asked.os, pid, "limits", 65536, &text, &cut), 0);
    child_end(pid);
    check_asked(&asked);
    const struct batch_row *row = need_label(&asked, "nofile");
    CHECK_UINT(u64_of(&asked, row, VITALS_LIMIT_SOFT), 123);
    CHECK_UINT(u64_of(&asked, row, VITALS_LIMIT_HARD), 456);
    CHECK_UINT(linux_parse_limits(text.bytes, text.size, values), LINUX_LIMITS);
    for (size_t i = 0; i < LINUX_LIMITS; i++) {
        CHECK_CASE(LINUX_LIMIT[i].name);
        const struct batch_cell *soft = batch_find(&asked.batch, &asked.batch.rows[i],
                                                   VITALS_LIMIT_SOFT);
        bool unlimited = soft->state == VITALS_UNSUPPORTED;
        CHECK_UINT(values[i].soft, unlimited ? LINUX_UNLIMITED : soft->as.u64);
    }
    buffer_done(&text);
    asked_done(&asked);
}

static void anybody_may_ask(void)
{
    CHECK_INT(asked_by_another_user(getpid(), VITALS_TABLE_LIMIT), 0);
}

static void a_zombie_has_limits_and_nobody_has_none(void)
{
    pid_t pid = child_zombie();
    struct asked asked;
    ask(&asked, NULL, pid, VITALS_TABLE_LIMIT);
    check_asked(&asked);
    CHECK_UINT(asked.batch.row_count, LINUX_LIMITS);
    asked_done(&asked);
    waitpid(pid, NULL, 0);
    ask(&asked, NULL, pid, VITALS_TABLE_LIMIT);
    CHECK_INT(os_availability(asked.result), VITALS_GONE);
    asked_done(&asked);
}

static void a_file_may_lack_lines_and_lie(void)
{
    static const char TEXT[] =
        "Limit                     Soft Limit           Hard Limit           Units     \n"
        "Max cpu time              unlimited            unlimited            seconds   \n"
        "Max nice priority         0                    0                    \n"
        "Max stack size            lots                 unlimited            bytes     \n"
        "Max open files            99999999999999999999 7                    files     \n"
        "Max open files            1                    2                    files     \n"
        "Max processes             5                    6";
    struct tree tree = tree_new();
    tree_text(&tree, 5, "limits", TEXT);
    struct asked asked;
    ask(&asked, tree.path, 5, VITALS_TABLE_LIMIT);
    check_asked(&asked);
    CHECK_UINT(asked.batch.row_count, 3);
    CHECK_INT(asked_state(&asked), VITALS_LOWER_BOUND); // of those that we know
    const struct batch_row *cpu = need_label(&asked, "cpu");
    CHECK_UINT(cpu->key, 1); // the same whatever else there is
    CHECK_INT(state_of(&asked, cpu, VITALS_LIMIT_SOFT), VITALS_UNSUPPORTED);
    CHECK_UINT(u64_of(&asked, cpu, VITALS_LIMIT_SOFT_UNLIMITED), 1);
    CHECK_UINT(u64_of(&asked, need_label(&asked, "nice"), VITALS_LIMIT_HARD_UNLIMITED), 0);
    CHECK_UINT(u64_of(&asked, need_label(&asked, "nice"), VITALS_LIMIT_HARD), 0);
    CHECK_UINT(u64_of(&asked, need_label(&asked, "nofile"), VITALS_LIMIT_HARD), 7);
    CHECK_NULL(find_label(&asked, "nproc")); // "6" may have been cut
    asked_done(&asked);
    tree_text(&tree, 5, "limits", "");
    ask(&asked, tree.path, 5, VITALS_TABLE_LIMIT);
    CHECK_INT(os_availability(asked.result), VITALS_FAILED);
    asked_done(&asked);
    ask(&asked, tree.path, 6, VITALS_TABLE_LIMIT);
    CHECK_INT(asked.result, -ENOENT);
    asked_done(&asked);
    tree_free(&tree);
}

static void memory_that_runs_out_is_told(void)
{
    struct tree tree = tree_new();
    tree_text(&tree, 5, "limits",
              "Max cpu time              unlimited            unlimited            seconds   \n");
    check_memory(tree.path, 5, VITALS_TABLE_LIMIT);
    check_memory(NULL, getpid(), VITALS_TABLE_LIMIT);
    tree_free(&tree);
}

static const check_test tests[] = {
    {"they are those of getrlimit", they_are_those_of_getrlimit},
    {"a limit that was set is read both ways", a_limit_that_was_set_is_read_both_ways},
    {"anybody may ask", anybody_may_ask},
    {"a zombie has limits, and nobody has none", a_zombie_has_limits_and_nobody_has_none},
    {"a file may lack lines and lie", a_file_may_lack_lines_and_lie},
    {"memory that runs out is told", memory_that_runs_out_is_told},
};

CHECK_TESTS(tests)
