/* What the kernel says of every process in one reading: it changes with whatever /proc/PID/stat
 * would tell, and with nothing else; and a table that goes by it shows what the files say. Live. */
#include "process_world.h"

#include <pthread.h>
#include <sys/resource.h>

static struct os_task_iterator *iterator;
static struct world live;

static void open_iterator(void)
{
    world_open(&live, NULL, 0);
    int code = os_task_iterator_open(&live.context.os, &iterator);
    if (code < 0) {
        world_close(&live);
        CHECK_SKIP("the kernel runs no program of ours here: no CAP_BPF, an older kernel, or a "
                   "container");
    }
}

static void close_iterator(void)
{
    os_task_iterator_close(iterator);
    world_close(&live);
}

static struct os_task_digest digest_of(pid_t pid)
{
    const struct os_task_digest *items;
    size_t count;
    CHECK_INT(os_task_iterator_read(iterator, &items, &count), 0);
    struct os_task_digest found = {0};
    for (size_t i = 0; i < count; i++) {
        CHECK(i == 0 || items[i - 1].pid < items[i].pid);
        if (items[i].pid == pid)
            found = items[i];
    }
    return found;
}

/* Once it sleeps: a child that has just been told something may still run. */
static struct os_task_digest rested(pid_t pid)
{
    struct os_task_digest before = digest_of(pid), now;
    for (;; before = now) {
        usleep(2000);
        now = digest_of(pid);
        if (!now.runs && now.digest == before.digest)
            return now;
    }
}

/* ---- a child that does what it is told ---- */

struct puppet {
    pid_t pid;
    int orders;
};

static void *sleep_on(void *data)
{
    (void)data;
    pause();
    return NULL;
}

static void obey(char order)
{
    pthread_t thread;
    volatile unsigned waste = 0;
    if (order == 'w')
        for (unsigned i = 0; i < 3000000; i++)
            waste = waste + i;
    (void)waste;
    if (order == 't')
        (void)pthread_create(&thread, NULL, sleep_on, NULL);
    if (order == 'n')
        prctl(PR_SET_NAME, "renamed");
    if (order == 'c') {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        (void)waitpid(child, NULL, 0);
    }
}

static struct puppet puppet_new(void)
{
    int ends[2];
    CHECK_INT(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char order;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[1]);
        while (read(ends[0], &order, 1) == 1)
            obey(order);
        _exit(0);
    }
    close(ends[0]);
    return (struct puppet){pid, ends[1]};
}

static void puppet_free(struct puppet *puppet)
{
    kill(puppet->pid, SIGKILL);
    (void)waitpid(puppet->pid, NULL, 0);
    close(puppet->orders);
}

static void order(const struct puppet *puppet, char what)
{
    CHECK_INT(write(puppet->orders, &what, 1), 1);
}

/* ---- the number ---- */

/* What is done, for a message. */
static const char *const NAMES[] = {"works", "starts a thread", "takes a name",       "has a child",
                                    "nice",  "batch",           "a group of its own", "stopped"};

static void do_orders(const struct puppet *puppet, size_t which)
{
    static const char ORDERS[] = "wtnc";
    order(puppet, ORDERS[which]);
}

static void do_to_it(const struct puppet *puppet, size_t which)
{
    const struct sched_param none = {.sched_priority = 0};
    switch (which) {
    case 0: CHECK_INT(setpriority(PRIO_PROCESS, (id_t)puppet->pid, 7), 0); break;
    case 1: CHECK_INT(sched_setscheduler(puppet->pid, SCHED_BATCH, &none), 0); break;
    case 2: CHECK_INT(setpgid(puppet->pid, puppet->pid), 0); break;
    default: CHECK_INT(kill(puppet->pid, SIGSTOP), 0); break;
    }
}

static void changes(void (*act)(const struct puppet *, size_t), size_t first, size_t count)
{
    open_iterator();
    struct puppet puppet = puppet_new();
    for (size_t i = 0; i < count; i++) {
        uint64_t before = rested(puppet.pid).digest;
        CHECK_CASE(NAMES[first + i]);
        CHECK_UINT(rested(puppet.pid).digest, before);
        act(&puppet, i);
        while (digest_of(puppet.pid).digest == before)
            usleep(1000); // the test's own time limit ends it
        CHECK(rested(puppet.pid).digest != before);
    }
    puppet_free(&puppet);
    close_iterator();
}

static void what_it_does_shows(void)
{
    changes(do_orders, 0, 4);
}

static void what_others_do_to_it_shows(void)
{
    changes(do_to_it, 4, 4);
}

static void a_new_parent_shows(void)
{
    open_iterator();
    int ends[2];
    CHECK_INT(pipe(ends), 0);
    pid_t middle = fork(), grandchild = 0;
    if (middle == 0) {
        grandchild = fork();
        if (grandchild == 0) {
            pause();
            _exit(0);
        }
        (void)!write(ends[1], &grandchild, sizeof grandchild);
        pause();
        _exit(0);
    }
    CHECK_INT(read(ends[0], &grandchild, sizeof grandchild), sizeof grandchild);
    uint64_t before = rested(grandchild).digest;
    kill(middle, SIGKILL);
    (void)waitpid(middle, NULL, 0);
    CHECK(digest_of(grandchild).digest != before);
    kill(grandchild, SIGKILL);
    close(ends[0]);
    close(ends[1]);
    close_iterator();
}

static void who_runs_is_told(void)
{
    open_iterator();
    pid_t busy = fork();
    if (busy == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            ;
    }
    while (!digest_of(busy).runs)
        usleep(1000);
    kill(busy, SIGKILL);
    (void)waitpid(busy, NULL, 0);
    CHECK_INT(digest_of(busy).pid, 0);
    CHECK(digest_of(getpid()).runs);
    close_iterator();
}

/* ---- a table that goes by it ---- */

enum { MANY = 120 };

/* Whether the row says what the file does now. */
static bool agrees(struct world *world, pid_t pid)
{
    char text[OS_STAT_TEXT];
    struct os_process files;
    struct os_stat stat;
    int64_t nice = 0;
    CHECK_INT(os_process_open(&world->context.os, pid, false, &files), 0);
    CHECK_INT(os_process_stat(&files, text, &stat), 0);
    os_process_close(&files);
    const vitals_row *row = world_need(world, pid);
    CHECK_INT(vitals_row_i64(row, VITALS_PROCESS_NICE, &nice), VITALS_HAVE);
    double user = (double)stat.user_ticks / world->context.os.ticks_per_second;
    vitals_text name = row_text(row, VITALS_PROCESS_NAME);
    vitals_text state = row_text(row, VITALS_PROCESS_STATE);
    return nice == stat.nice && row_u64(row, VITALS_PROCESS_THREADS) == stat.threads &&
           row_u64(row, VITALS_PROCESS_PROCESS_GROUP) == stat.process_group &&
           row_u64(row, VITALS_PROCESS_SESSION) == stat.session &&
           row_u64(row, VITALS_PROCESS_MINOR_FAULTS) == stat.minor_faults &&
           row_u64(row, VITALS_PROCESS_VIRTUAL_BYTES) == stat.virtual_bytes &&
           row_f64(row, VITALS_PROCESS_CPU_USER_SECONDS) > user - 1e-9 &&
           row_f64(row, VITALS_PROCESS_CPU_USER_SECONDS) < user + 1e-9 &&
           name.size == stat.name.size && memcmp(name.bytes, stat.name.bytes, name.size) == 0 &&
           state.size > 0 && (state.bytes[0] == 's') == (stat.state == 'S' || stat.state == 'T');
}

/* It may not have done all of it yet; a row that is not read again never agrees. */
static void agree(struct world *world, pid_t pid)
{
    enum { TRIES = 1000 };
    size_t tries = 0;
    for (world_tick(world); !agrees(world, pid) && tries < TRIES; tries++) {
        usleep(5000);
        world_tick(world);
    }
    CHECK(tries < TRIES);
}

/* Every process of /proc that lives throughout, though the iterator may omit some. */
static void everybody_is_there(struct world *world)
{
    struct os_pids pids = {0};
    char path[64];
    CHECK_INT(os_list_processes(&world->context.os, &pids), 0);
    world_tick(world);
    for (size_t i = 0; i < pids.count; i++) {
        snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pids.items[i]);
        CHECK(world_row(world, pids.items[i]) != NULL || access(path, F_OK) != 0);
    }
    os_pids_done(&pids);
}

static void a_table_shows_what_the_files_say(void)
{
    open_iterator();
    struct puppet puppet = puppet_new();
    pid_t sleepers[MANY];
    struct world world;
    world_open(&world, NULL, 0);
    for (size_t i = 0; i < MANY; i++)
        sleepers[i] = child_new();
    for (size_t tick = 0; tick < 40; tick++)
        world_tick(&world);
    for (size_t i = 0; i < CHECK_COUNT(NAMES); i++) {
        CHECK_CASE(NAMES[i]);
        uint64_t before = rested(puppet.pid).digest;
        (i < 4 ? do_orders : do_to_it)(&puppet, i < 4 ? i : i - 4);
        while (digest_of(puppet.pid).digest == before)
            usleep(1000);
        agree(&world, puppet.pid);
        agree(&world, sleepers[i]);
    }
    everybody_is_there(&world);
    child_end(sleepers[0]);
    world_tick(&world);
    CHECK_NULL(world_row(&world, sleepers[0]));
    for (size_t i = 1; i < MANY; i++)
        child_end(sleepers[i]);
    world_close(&world);
    puppet_free(&puppet);
    close_iterator();
}

static const check_test tests[] = {
    {"what a process does shows", what_it_does_shows},
    {"what others do to it shows", what_others_do_to_it_shows},
    {"a new parent shows", a_new_parent_shows},
    {"who runs is told, and who has ended is not", who_runs_is_told},
    {"a table that goes by it shows what the files say", a_table_shows_what_the_files_say},
};

CHECK_TESTS(tests)
