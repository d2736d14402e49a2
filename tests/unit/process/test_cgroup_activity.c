/* Whether a tree has run, by one file for all of it: while that stays the same, no process is read
 * and /proc is not listed; one that runs nevertheless is found. Live: a child of ours, and a file
 * that the test writes. */
#include "process_world.h"

#include "process/entry.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

static const uint64_t BEGIN_NS = 5000 * NS_PER_SECOND;
static const double BURNT_SECONDS = 0.02;

static uint64_t now_ns; /* of the table */
static struct world world;
static pid_t child;
static int orders[2], answers[2], file, folder;
static char folder_path[32];

static uint64_t moment(void *data)
{
    (void)data;
    return now_ns;
}

static double used(void)
{
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

/* Burns for each byte that it reads. */
static void obey(void)
{
    char order;
    while (read(orders[0], &order, 1) == 1) {
        for (double until = used() + BURNT_SECONDS; used() < until;)
            ;
        if (write(answers[1], &order, 1) != 1)
            break;
    }
    _exit(0);
}

/* What it does after its answer is work too: until it waits for the next order. */
static void await_rest(void)
{
    char path[32], text[256];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
    for (char state = 'R'; state != 'S';) {
        int stat = open(path, O_RDONLY);
        ssize_t size = read(stat, text, sizeof text - 1);
        (void)close(stat);
        CHECK(size > 0);
        text[size] = '\0';
        const char *end = strrchr(text, ')');
        CHECK(end != NULL && strlen(end) > 2);
        state = end[2];
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static void burn(void)
{
    char byte = 'b';
    CHECK_INT(write(orders[1], &byte, 1), 1);
    CHECK_INT(read(answers[0], &byte, 1), 1);
    await_rest();
}

static void beat(const char *text)
{
    CHECK_INT(ftruncate(file, 0), 0);
    CHECK_INT(pwrite(file, text, strlen(text), 0), (ssize_t)strlen(text));
}

/* The members of the group. */
static void hold(const char *text)
{
    int members = openat(folder, "cgroup.procs", O_CREAT | O_TRUNC | O_WRONLY, 0600);
    CHECK(members >= 0);
    CHECK_INT(write(members, text, strlen(text)), (ssize_t)strlen(text));
    CHECK_INT(close(members), 0);
}

static void hold_child(void)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%d\n", (int)child);
    hold(text);
}

/* After so many seconds; what the child has used by then, as the table says. */
static double tick(double seconds)
{
    now_ns += (uint64_t)(seconds * 1e9);
    world_tick(&world);
    return row_f64(world_need(&world, child), VITALS_PROCESS_CPU_SECONDS);
}

static void begin(void)
{
    static const vitals_metric METRICS[] = {VITALS_PROCESS_PID, VITALS_PROCESS_PARENT_PID,
                                            VITALS_PROCESS_CPU_SECONDS};
    char path[] = "/tmp/vitals-pulse-XXXXXX";
    static int64_t root;
    root = getpid();
    CHECK_INT(pipe(orders), 0);
    CHECK_INT(pipe(answers), 0);
    child = child_fork();
    if (child == 0) {
        (void)close(orders[1]);
        obey();
    }
    file = mkstemp(path);
    CHECK(file > 0);
    CHECK_INT(unlink(path), 0);
    beat("usage_usec 1\n");
    (void)snprintf(folder_path, sizeof folder_path, "/tmp/vitals-group-XXXXXX");
    CHECK(mkdtemp(folder_path) != NULL);
    folder = open(folder_path, O_RDONLY | O_DIRECTORY);
    CHECK(folder > 0);
    hold_child();
    now_ns = BEGIN_NS;
    world_open(&world, NULL, 0);
    world.context.os.clock.monotonic_ns = moment;
    world.wanted = (struct metric_set){0};
    for (size_t i = 0; i < CHECK_COUNT(METRICS); i++)
        metric_set_add(&world.wanted, METRICS[i]);
    process_table_select(world.table, VITALS_ROWS_TREE, &root, 1);
    process_table_watch_cgroup(world.table, file, folder);
    burn();
    for (int i = 0; i < 4; i++) /* the first that stays as it was is a look at all the same */
        (void)tick(1);
}

static void end(void)
{
    world_close(&world);
    for (int i = 0; i < 2; i++) {
        (void)close(orders[i]);
        (void)close(answers[i]);
    }
    (void)close(file);
    CHECK_INT(unlinkat(folder, "cgroup.procs", 0), 0);
    (void)close(folder);
    CHECK_INT(rmdir(folder_path), 0);
    child_end(child);
}

static void nobody_is_looked_at_while_it_stays(void)
{
    begin();
    double before = tick(1);
    CHECK(before >= BURNT_SECONDS);
    burn();
    CHECK(tick(1) <= before); /* the file denies it */
    beat("usage_usec 2\n");
    CHECK(tick(1) >= before + BURNT_SECONDS);
    end();
}

/* A process that left the group, or is in a group below it, runs unseen by the file. The group's
 * members are listed every five seconds, and at once while one is missing. */
static void who_is_not_in_it_is_looked_at(void)
{
    begin();
    double before = tick(1);
    static const char *const OTHERS[] = {"", "0\n", "1\n", "none\n"};
    for (size_t i = 0; i < CHECK_COUNT(OTHERS); i++) {
        burn();
        hold(OTHERS[i]);
        CHECK(tick(i == 0 ? 5 : 1) >= before + (double)(i + 1) * BURNT_SECONDS);
    }
    hold_child();
    double after = tick(1);
    burn();
    CHECK(tick(1) <= after); /* it is back */
    process_table_watch_cgroup(world.table, 0, 0);
    CHECK(tick(1) >= after + BURNT_SECONDS); /* as in the last tick */
    end();
}

/* All have run, and are idle again: the group's members are unknown now. */
static void who_left_it_while_it_ran_is_looked_at(void)
{
    begin();
    burn();
    hold("");
    beat("usage_usec 2\n");
    double before = tick(1);
    burn();
    CHECK(tick(1) >= before + BURNT_SECONDS);
    end();
}

/* Listing all must not be put off if a process may have been born outside. */
static void who_left_it_is_looked_for(void)
{
    begin();
    (void)tick(40);
    (void)tick(1);
    uint64_t scanned_ns = world.table->scanned_ns;
    hold("");
    (void)tick(5);
    hold_child();
    (void)tick(40);
    CHECK(world.table->scanned_ns > scanned_ns);
    end();
}

static void one_that_is_cut_short_says_nothing(void)
{
    begin();
    double before = tick(1);
    static const char *const TEXTS[] = {"", "usage_usec 1"};
    for (size_t i = 0; i < CHECK_COUNT(TEXTS); i++) {
        burn();
        beat(TEXTS[i]);
        CHECK(tick(1) >= before + (double)(i + 1) * BURNT_SECONDS);
    }
    burn();
    beat(""); /* and again: nothing is not the same as nothing */
    (void)tick(1);
    burn();
    CHECK(tick(1) >= before + 4 * BURNT_SECONDS);
    end();
}

static void one_that_does_not_speak_for_all_is_trusted_no_more(void)
{
    begin();
    double before = tick(1);
    burn();
    CHECK(tick(1) <= before);
    CHECK(tick(10) >= before + BURNT_SECONDS); /* it is checked */
    burn();
    CHECK(tick(1) >= before + 2 * BURNT_SECONDS);
    end();
}

static void one_that_is_true_stays_trusted(void)
{
    begin();
    double before = tick(1);
    CHECK(tick(10) <= before);
    burn();
    CHECK(tick(1) <= before);
    end();
}

/* Orphans, and gaps in the kernel's lists of children: a process that was born has run. */
static void nobody_is_looked_for_while_it_stays(void)
{
    begin();
    (void)tick(40);
    uint64_t scanned_ns = world.table->scanned_ns;
    CHECK(scanned_ns > 0);
    for (int i = 0; i < 10; i++) {
        (void)tick(15);
        CHECK_UINT(world.table->scanned_ns, scanned_ns);
    }
    beat("usage_usec 3\n");
    (void)tick(40);
    CHECK_UINT(world.table->scanned_ns, now_ns);
    scanned_ns = now_ns;
    beat("usage_usec 4\n"); /* since then too, but the group holds only known ones */
    (void)tick(0.5);
    (void)tick(40);
    CHECK_UINT(world.table->scanned_ns, scanned_ns);
    end();
}

static const check_test tests[] = {
    {"nobody is looked at while it stays", nobody_is_looked_at_while_it_stays},
    {"who is not in it is looked at", who_is_not_in_it_is_looked_at},
    {"who left it while it ran is looked at", who_left_it_while_it_ran_is_looked_at},
    {"who left it is looked for", who_left_it_is_looked_for},
    {"one that is cut short says nothing", one_that_is_cut_short_says_nothing},
    {"one that does not speak for all is trusted no more",
     one_that_does_not_speak_for_all_is_trusted_no_more},
    {"one that is true stays trusted", one_that_is_true_stays_trusted},
    {"nobody is looked for while it stays", nobody_is_looked_for_while_it_stays},
};
CHECK_TESTS(tests)
