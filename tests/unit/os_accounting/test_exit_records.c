/* Whose tree a task was that ended: records that are made up, in every order that a kernel can send
 * them, and one as Linux 6.18 sent it. */
#include "check.h"

#include "os/linux/accounting/exit_records.h"
#include "util/memory.h"

#include <errno.h>

enum { LAUNCHER = 100 };

static struct exit_record one(uint32_t pid, uint32_t parent, uint64_t peak)
{
    return (struct exit_record){
        .pid = pid,
        .group = pid,
        .parent = parent,
        .last = true,
        .used = {.processes = 1, .cpu_ns = 1000, .largest_bytes = peak, .sum_bytes = peak}};
}

static void ends(struct exit_tree *tree, uint32_t pid, uint32_t parent, uint64_t peak)
{
    const struct exit_record record = one(pid, parent, peak);
    exit_tree_add(tree, &record);
}

static struct exit_tree *begin(void)
{
    struct exit_tree *tree = exit_tree_new(LAUNCHER);
    CHECK_NOT_NULL(tree);
    return tree;
}

static void descendants_come_up_through_their_parents(void)
{
    struct exit_tree *tree = begin();
    struct exit_sums sums = {0};
    ends(tree, 203, 202, 30);
    ends(tree, 999, 1, 5000); /* of another tree */
    ends(tree, 202, 201, 20);
    ends(tree, 998, 997, 5000);
    ends(tree, 201, LAUNCHER, 10);
    CHECK(exit_tree_take(tree, 201, &sums));
    CHECK_UINT(sums.processes, 3);
    CHECK_UINT(sums.cpu_ns, 3000);
    CHECK_UINT(sums.largest_bytes, 30);
    CHECK_UINT(sums.sum_bytes, 60);
    CHECK_FALSE(exit_tree_take(tree, 201, &sums)); /* once */
    exit_tree_free(tree);
}

/* The watcher, and children from before, are never taken. */
static void another_child_of_the_launcher_is_not_the_runs(void)
{
    struct exit_tree *tree = begin();
    struct exit_sums sums = {0};
    ends(tree, 301, LAUNCHER, 500);
    ends(tree, 201, LAUNCHER, 10);
    CHECK(exit_tree_take(tree, 201, &sums));
    CHECK_UINT(sums.processes, 1);
    CHECK_UINT(sums.largest_bytes, 10);
    exit_tree_free(tree);
}

static void threads_are_one_process(void)
{
    struct exit_tree *tree = begin();
    struct exit_sums sums = {0};
    struct exit_record thread = {.pid = 205, .group = 204, .parent = LAUNCHER, .used.cpu_ns = 1000};
    exit_tree_add(tree, &thread);
    thread.pid = 204; /* the first thread ended before the last one */
    exit_tree_add(tree, &thread);
    thread = one(204, LAUNCHER, 80);
    thread.pid = 206;
    exit_tree_add(tree, &thread);
    CHECK(exit_tree_take(tree, 204, &sums));
    CHECK_UINT(sums.processes, 1);
    CHECK_UINT(sums.cpu_ns, 3000);
    CHECK_UINT(sums.largest_bytes, 80);
    CHECK_UINT(sums.sum_bytes, 80);
    exit_tree_free(tree);
}

/* It names its parent, which has told of its own end but not handed it on yet. */
static void one_that_ends_with_its_parent_is_not_lost(void)
{
    struct exit_tree *tree = begin();
    struct exit_sums sums = {0};
    ends(tree, 202, 201, 20);
    ends(tree, 203, 202, 30);
    ends(tree, 201, LAUNCHER, 10);
    ends(tree, 204, 201, 40);
    CHECK(exit_tree_take(tree, 201, &sums));
    CHECK_UINT(sums.processes, 4);
    CHECK_UINT(sums.largest_bytes, 40);
    exit_tree_free(tree);
}

/* The parent has ended without waiting for it: it is ours to reap, and was counted with its parent.
 * That is no loss, and nothing is counted twice. */
static void one_that_nobody_waited_for_is_known(void)
{
    struct exit_tree *tree = begin();
    struct exit_sums sums = {0};
    ends(tree, 202, 201, 20);
    ends(tree, 201, LAUNCHER, 10);
    CHECK(exit_tree_take(tree, 201, &sums));
    CHECK(exit_tree_take(tree, 202, &sums));
    CHECK_UINT(sums.processes, 2);
    CHECK_FALSE(exit_tree_take(tree, 203, &sums)); /* of that one nothing came */
    exit_tree_free(tree);
}

/* Its record was filled in while its parent lived, and came when that was reaped already. */
static void an_orphan_behind_its_parent_is_the_launchers(void)
{
    struct exit_tree *tree = begin();
    struct exit_sums sums = {0};
    ends(tree, 201, LAUNCHER, 10);
    CHECK(exit_tree_take(tree, 201, &sums));
    ends(tree, 202, 201, 20);
    CHECK(exit_tree_take(tree, 202, &sums));
    CHECK_UINT(sums.processes, 2);
    CHECK_UINT(sums.sum_bytes, 30);
    exit_tree_free(tree);
}

/* Pids that fall into one place of what is remembered. */
static void an_end_beside_it_does_not_hide_its_parent(void)
{
    enum { APART = 1024, OTHERS = 3 };
    struct exit_tree *tree = begin();
    struct exit_sums sums = {0};
    ends(tree, 202, 201, 20);
    for (uint32_t other = 1; other <= OTHERS; other++)
        ends(tree, 202 + other * APART, 1, 5000);
    ends(tree, 203, 202, 30);
    ends(tree, 201, LAUNCHER, 10);
    CHECK(exit_tree_take(tree, 201, &sums));
    CHECK_UINT(sums.processes, 3);
    CHECK_UINT(sums.largest_bytes, 30);
    exit_tree_free(tree);
}

static void a_pid_that_is_given_again_is_another_process(void)
{
    struct exit_tree *tree = begin();
    struct exit_sums sums = {0};
    ends(tree, 201, LAUNCHER, 10);
    CHECK(exit_tree_take(tree, 201, &sums));
    ends(tree, 201, 1, 5000);
    ends(tree, 202, LAUNCHER, 20);
    CHECK(exit_tree_take(tree, 202, &sums));
    CHECK_UINT(sums.processes, 2);
    CHECK_UINT(sums.largest_bytes, 20);
    exit_tree_free(tree);
}

static void nonsense_ends_too(void)
{
    struct exit_tree *tree = begin();
    struct exit_sums sums = {0};
    ends(tree, 5, 5, 1);
    ends(tree, 6, 7, 1);
    ends(tree, 7, 6, 1);
    ends(tree, 6, 7, 1);
    ends(tree, 0, 0, 1);
    ends(tree, LAUNCHER, LAUNCHER, 1);
    (void)exit_tree_take(tree, LAUNCHER, &sums);
    exit_tree_free(tree);
}

static void without_memory_it_says_so(void)
{
    int64_t live = memory_live();
    for (uint64_t nth = 1; nth < 6; nth++) {
        memory_fail_at(nth);
        struct exit_tree *tree = exit_tree_new(LAUNCHER);
        if (tree != NULL) {
            ends(tree, 202, 201, 20);
            ends(tree, 201, LAUNCHER, 10);
            memory_fail_at(0);
            struct exit_sums sums = {0};
            bool whole = exit_tree_take(tree, 201, &sums) && sums.processes == 2;
            CHECK(whole || exit_tree_is_cut(tree));
        }
        memory_fail_at(0);
        exit_tree_free(tree);
        CHECK_INT(memory_live(), live);
    }
}

static void a_record_of_the_kernel_is_read(void)
{
    size_t size;
    char *text = check_read("netlink/exit-record", &size);
    struct exit_record record;
    CHECK_INT(exit_record_parse(text, size, &record), 0);
    CHECK_UINT(record.pid, record.group);
    CHECK(record.last);
    CHECK(record.parent > 0);
    CHECK(record.used.cpu_ns > 0 && record.used.cpu_ns < 1000000000);
    CHECK_UINT(record.used.processes, 1);
    CHECK(record.used.largest_bytes > 100 * 1024 && record.used.largest_bytes < 64 * 1024 * 1024);
    CHECK_UINT(record.used.largest_bytes % 1024, 0);
    CHECK_UINT(record.used.sum_bytes, record.used.largest_bytes);
    CHECK(record.used.minor_faults > 0);
    CHECK(record.used.call_read_bytes > 0);
    CHECK_UINT(record.used.call_read_bytes % 1024, 0);
    for (size_t cut = 0; cut < size; cut++) {
        char *copy = malloc(cut > 0 ? cut : 1);
        memcpy(copy, text, cut);
        CHECK(exit_record_parse(copy, cut, &record) < 0);
        free(copy);
    }
    free(text);
}

static void other_messages_are_none(void)
{
    static const struct {
        const char *name;
        int code;
    } ROWS[] = {{"netlink/taskstats-v16", -EBADMSG}, {"netlink/denied", -EPERM}};
    for (size_t i = 0; i < ARRAY_COUNT(ROWS); i++) {
        size_t size;
        struct exit_record record;
        CHECK_CASE(ROWS[i].name);
        char *text = check_read(ROWS[i].name, &size);
        CHECK_INT(exit_record_parse(text, size, &record), ROWS[i].code);
        free(text);
    }
}

static const check_test tests[] = {
    {"descendants come up through their parents", descendants_come_up_through_their_parents},
    {"another child of the launcher is not the run's",
     another_child_of_the_launcher_is_not_the_runs},
    {"threads are one process", threads_are_one_process},
    {"one that ends with its parent is not lost", one_that_ends_with_its_parent_is_not_lost},
    {"one that nobody waited for is known", one_that_nobody_waited_for_is_known},
    {"an orphan behind its parent is the launcher's", an_orphan_behind_its_parent_is_the_launchers},
    {"an end beside it does not hide its parent", an_end_beside_it_does_not_hide_its_parent},
    {"a pid that is given again is another process", a_pid_that_is_given_again_is_another_process},
    {"nonsense ends too", nonsense_ends_too},
    {"without memory it says so", without_memory_it_says_so},
    {"a record of the kernel is read", a_record_of_the_kernel_is_read},
    {"other messages are none", other_messages_are_none},
};
CHECK_TESTS(tests)
