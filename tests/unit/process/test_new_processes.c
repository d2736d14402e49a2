/* Many processes that are met at once: each is read once, in the order of pids, and as the table
 * alone would have read it, whichever thread reads it; on trees of files. */
#include "process_world.h"

#include "process/entry.h"

#include <sys/resource.h>

enum { MANY = 150, FIRST = 100, GONE = 137, STEP = 3 };

static int64_t pid_at(size_t index)
{
    return FIRST + STEP * (int64_t)index;
}

/* MANY processes; of one, only its folder is left. */
static struct tree tree_of_many(int64_t pids[static MANY])
{
    struct tree tree = tree_new();
    for (size_t i = 0; i < MANY; i++) {
        char name[16];
        pids[i] = pid_at(i);
        snprintf(name, sizeof name, "number %zu", i);
        tree_process(&tree, pids[i], name, 1, 1000 + i);
    }
    char path[128];
    snprintf(path, sizeof path, "%s/%lld/stat", tree.path, (long long)pid_at(GONE));
    CHECK_INT(remove(path), 0);
    return tree;
}

static void let_go(struct new_process *new_process)
{
    if (new_process->process == NULL)
        return;
    os_process_close(&new_process->process->files);
    process_done(new_process->process);
    memory_free(new_process->process);
}

static void check_one(const struct new_process *one, size_t index)
{
    CHECK(one->read);
    CHECK_INT(one->process->files.pid, pid_at(index));
    if (index == GONE) {
        CHECK_INT(one->result, -ENOENT);
        CHECK_FALSE(one->observed);
        return;
    }
    char name[16];
    snprintf(name, sizeof name, "number %zu", index);
    CHECK_INT(one->result, 0);
    CHECK(one->observed);
    CHECK_UINT(one->process->stat.start_ticks, 1000 + index);
    CHECK_UINT(one->process->statm.resident, 7);
    CHECK_BYTES(one->process->name->bytes, one->process->name->size, name, strlen(name));
}

static size_t descriptors_open(void)
{
    size_t count = 0;
    for (int i = 0; i < 2048; i++)
        count += fcntl(i, F_GETFD) >= 0;
    return count;
}

static void each_is_read_once_and_in_order(void)
{
    int64_t pids[MANY];
    struct tree tree = tree_of_many(pids);
    struct world world;
    world_open(&world, tree.path, 0);
    size_t open = descriptors_open();
    for (unsigned helpers = 0; helpers <= NEW_PROCESSES_HELPERS; helpers++) {
        struct new_processes *all = new_processes_start(&world.context, pids, MANY, EXTRA_STATM,
                                                        helpers);
        CHECK_NOT_NULL(all);
        for (size_t i = 0; i < MANY; i++) {
            struct new_process one = new_processes_next(all);
            check_one(&one, i);
            let_go(&one);
        }
        new_processes_free(all);
        CHECK_UINT(descriptors_open(), open);
    }
    world_close(&world);
    tree_free(&tree);
}

/* As when memory runs out half-way: results that were not taken are closed and freed. */
static void those_that_nobody_takes_are_let_go(void)
{
    int64_t pids[MANY];
    struct tree tree = tree_of_many(pids);
    struct world world;
    world_open(&world, tree.path, 0);
    size_t open = descriptors_open();
    for (size_t taken = 0; taken < MANY; taken += 37) {
        int64_t blocks = memory_live();
        struct new_processes *all = new_processes_start(&world.context, pids, MANY, EXTRA_STATM, 2);
        for (size_t i = 0; i < taken; i++) {
            struct new_process one = new_processes_next(all);
            let_go(&one);
        }
        new_processes_free(all);
        CHECK_INT(memory_live(), blocks);
        CHECK_UINT(descriptors_open(), open);
    }
    new_processes_free(NULL);
    world_close(&world);
    tree_free(&tree);
}

/* Helpers have none to give up: processes that they could not open count as unread, and descriptors
 * that were opened but not taken are closed, so that some are left. */
static void without_descriptors_they_are_left_to_the_table(void)
{
    int64_t pids[MANY];
    struct tree tree = tree_of_many(pids);
    struct world world;
    world_open(&world, tree.path, 0);
    size_t open = descriptors_open();
    struct rlimit before, few;
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = 80;
    for (unsigned helpers = 0; helpers < 2; helpers++) {
        struct new_process got[MANY];
        size_t read = 0, left = 0;
        CHECK_INT(setrlimit(RLIMIT_NOFILE, &few), 0);
        struct new_processes *all = new_processes_start(&world.context, pids, MANY, EXTRA_STATM,
                                                        helpers);
        for (size_t i = 0; i < MANY; i++) {
            got[i] = new_processes_next(all);
            read += got[i].read;
            if (!got[i].read && left == 0) // since the first, other code can open files again
                CHECK(descriptors_open() + 8 < few.rlim_cur);
            left += got[i].process == NULL;
        }
        CHECK_UINT(descriptors_open(), open + 2 * read);
        new_processes_free(all);
        CHECK_INT(setrlimit(RLIMIT_NOFILE, &before), 0);
        for (size_t i = 0; i < MANY; i++) {
            if (got[i].read)
                check_one(&got[i], i);
            let_go(&got[i]);
        }
        CHECK_UINT(read + left, MANY);
        CHECK(read < 40 && (read > 0 || helpers > 0));
    }
    world_close(&world);
    tree_free(&tree);
}

/* Code that needs descriptors gets those of processes that were read ahead. */
static void those_that_were_read_ahead_are_given_up(void)
{
    int64_t pids[MANY];
    struct tree tree = tree_of_many(pids);
    struct world world;
    world_open(&world, tree.path, 0);
    size_t open = descriptors_open();
    for (unsigned helpers = 0; helpers <= NEW_PROCESSES_HELPERS; helpers++) {
        struct new_processes *all = new_processes_start(&world.context, pids, MANY, EXTRA_STATM,
                                                        helpers);
        struct new_process first = new_processes_next(all), second;
        check_one(&first, 0);
        CHECK(new_processes_give_up(all)); // of its piece at least
        CHECK_UINT(descriptors_open(), open + 2);
        CHECK_FALSE(new_processes_give_up(all));
        for (size_t i = 1; i < MANY; i++) {
            second = new_processes_next(all);
            CHECK(!second.read && second.process == NULL);
        }
        new_processes_free(all);
        let_go(&first);
        CHECK_UINT(descriptors_open(), open);
    }
    world_close(&world);
    tree_free(&tree);
}

/* Whichever allocation fails, nothing is lost and no process is half read. */
static void want_of_memory_leaves_them_to_the_table(void)
{
    int64_t pids[MANY];
    struct tree tree = tree_of_many(pids);
    struct world world;
    world_open(&world, tree.path, 0);
    size_t open = descriptors_open();
    for (uint64_t nth = 1; nth < 40; nth++) {
        int64_t blocks = memory_live();
        size_t left = 0;
        memory_fail_at(nth);
        struct new_processes *all = new_processes_start(&world.context, pids, MANY, EXTRA_STATM,
                                                        nth % 2);
        CHECK(all == NULL ? nth <= 3 : nth > 3);
        for (size_t i = 0; all != NULL && i < MANY; i++) {
            struct new_process one = new_processes_next(all);
            if (one.read)
                check_one(&one, i);
            left += !one.read;
            let_go(&one);
        }
        memory_fail_at(0);
        new_processes_free(all);
        CHECK(all == NULL || (left > 0 && left < MANY));
        CHECK_INT(memory_live(), blocks);
        CHECK_UINT(descriptors_open(), open);
    }
    world_close(&world);
    tree_free(&tree);
}

/* ---- in a table ---- */

/* The tree stands in for this machine's /proc, which alone may be read by several. */
static void the_first_tick_meets_everybody(void)
{
    int64_t pids[MANY];
    struct tree tree = tree_of_many(pids);
    struct world world;
    world_open(&world, tree.path, 0);
    metric_set_remove(&world.wanted, VITALS_PROCESS_CPU_SECONDS); // by a system call, of a real pid
    for (unsigned live = 0; live < 2; live++) {
        process_table_free(world.table);
        world.table = process_table_new(&world.context);
        world.context.os.live = live != 0;
        for (size_t turn = 0; turn < 2; turn++) {
            world_tick(&world);
            CHECK_UINT(world_count(&world), MANY - 1);
            for (size_t i = 0, key = 1; i < MANY; i++) {
                CHECK_UINT(process_table_key_at(world.table, pids[i], 0), i == GONE ? 0 : key);
                key += i != GONE;
            }
            const vitals_row *row = world_need(&world, pids[120]);
            CHECK_STR(vitals_row_label(row), "number 120");
            CHECK_UINT(row_u64(row, VITALS_PROCESS_RESIDENT_BYTES),
                       7 * world.context.os.page_bytes);
        }
    }
    world_close(&world);
    tree_free(&tree);
}

/* By helper threads, if there are CPUs for them; in a tree of files by none. */
static void the_first_tick_reads_ahead(void)
{
    int64_t pids[MANY];
    struct tree tree = tree_of_many(pids);
    struct world world;
    world_open(&world, tree.path, 0);
    metric_set_remove(&world.wanted, VITALS_PROCESS_CPU_SECONDS);
    world_tick(&world);
    CHECK_UINT(world.table->read_ahead, 0);
    world.context.os.live = true;
    size_t cpus = os_cpus_usable(&world.context.os);
    process_table_free(world.table);
    world.table = process_table_new(&world.context);
    world_tick(&world);
    size_t first = world.table->read_ahead;
    world_tick(&world); // which knows them
    size_t second = world.table->read_ahead;
    world_close(&world);
    tree_free(&tree);
    if (cpus < 2)
        CHECK_SKIP("one CPU: nobody reads ahead");
    CHECK_UINT(first, MANY);
    CHECK_UINT(second, 0);
}

static size_t hold_all_but(int *held, size_t limit, size_t spare)
{
    size_t count = 0;
    for (size_t used = descriptors_open(); used + count < limit - spare; count++) {
        held[count] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        CHECK(held[count] >= 0);
    }
    return count;
}

struct worker_like {
    size_t asked, refused;
};

/* As a worker: it begins while the tick goes on, and opens a file. */
static void open_one(void *data)
{
    struct worker_like *worker = data;
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    worker->asked++;
    worker->refused += file < 0;
    if (file >= 0)
        close(file);
}

/* A program that has most of its descriptors open itself: reading ahead takes none from the
 * workers, and the table makes do with what there is. */
static void reading_ahead_leaves_descriptors_to_workers(void)
{
    enum { LIMIT = 1024, FREE = 60 };
    int64_t pids[MANY];
    struct tree tree = tree_of_many(pids);
    struct rlimit before, few;
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = LIMIT;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &few), 0);
    struct worker_like worker = {0};
    struct world world;
    world_open(&world, tree.path, 0);
    metric_set_remove(&world.wanted, VITALS_PROCESS_CPU_SECONDS);
    world.context.os.live = true;
    process_table_tell(world.table, open_one, &worker);
    int held[LIMIT];
    size_t count = hold_all_but(held, LIMIT, FREE);
    CHECK_INT(process_table_tick(world.table, &world.wanted), 0);
    while (count > 0)
        close(held[--count]);
    CHECK_OK(world_write(&world, NULL), (vitals_error){0});
    CHECK_UINT(world_count(&world), MANY - 1);
    for (size_t i = 0; i < MANY; i++)
        if (i != GONE)
            CHECK_UINT(row_u64(world_need(&world, pids[i]), VITALS_PROCESS_RESIDENT_BYTES),
                       7 * world.context.os.page_bytes);
    CHECK(worker.asked > 1);
    CHECK_UINT(worker.refused, 0);
    world_close(&world);
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &before), 0);
    tree_free(&tree);
}

/* However many the program has, and whichever thread reads: some always stay free, and every row is
 * there. */
static void the_last_descriptors_are_not_kept(void)
{
    enum { LIMIT = 1024, SPARE = 64 };
    static const size_t FREE[] = {34, 70, 200};
    int64_t pids[MANY];
    int held[LIMIT];
    struct tree tree = tree_of_many(pids);
    struct rlimit before, few;
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = LIMIT;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (size_t turn = 0; turn < 2 * CHECK_COUNT(FREE); turn++) {
        struct world world;
        size_t spare = FREE[turn / 2];
        world_open(&world, tree.path, 0);
        metric_set_remove(&world.wanted, VITALS_PROCESS_CPU_SECONDS);
        world.context.os.live = turn % 2 != 0;
        size_t count = hold_all_but(held, LIMIT, spare);
        for (unsigned tick = 0; tick < 2; tick++) {
            world_tick(&world);
            CHECK_UINT(world_count(&world), MANY - 1);
            size_t open = descriptors_open();
            size_t most = spare > SPARE ? LIMIT - SPARE : LIMIT - spare + 1; // one lists processes
            CHECK_UINT(open, most);
            for (size_t i = 0; i < MANY; i++)
                if (i != GONE)
                    CHECK_UINT(row_u64(world_need(&world, pids[i]), VITALS_PROCESS_RESIDENT_BYTES),
                               7 * world.context.os.page_bytes);
        }
        while (count > 0)
            close(held[--count]);
        world_close(&world);
    }
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &before), 0);
    tree_free(&tree);
}

static const char *const LATER_STATM[] = {"20 9 3 1 0 4 0\n", "0 0 0 0 0 0 0\n"};

/* Of one that workers are asked about, statm is read when the answer is taken, or else for its row:
 * it then proves whose the answer is, and a process that has lost its memory since does not have
 * none. */
static void memory_is_read_with_the_answers(void)
{
    static const vitals_availability STATES[] = {VITALS_HAVE, VITALS_GONE};
    for (unsigned turn = 0; turn < 4; turn++) {
        struct tree tree = tree_new();
        struct world world;
        bool answered = turn % 2 != 0;
        const vitals_row *row;
        uint64_t bytes;
        tree_process(&tree, 10, "later", 1, 1000);
        tree_text(&tree, 10, "cmdline", "later");
        world_open(&world, tree.path, 0);
        metric_set_remove(&world.wanted, VITALS_PROCESS_CPU_SECONDS);
        world.context.os.live = true;
        CHECK_INT(process_table_tick(world.table, &world.wanted), 0);
        tree_text(&tree, 10, "statm", LATER_STATM[turn / 2]);
        if (answered)
            CHECK_UINT(world_details(&world, 1, NS_PER_SECOND), 1);
        CHECK_OK(world_write(&world, NULL), (vitals_error){0});
        row = world_need(&world, 10);
        CHECK_INT(vitals_row_availability(row, VITALS_PROCESS_COMMAND_LINE),
                  answered ? VITALS_HAVE : VITALS_NOT_YET);
        CHECK_INT(vitals_row_u64(row, VITALS_PROCESS_RESIDENT_BYTES, &bytes), STATES[turn / 2]);
        if (turn / 2 == 0)
            CHECK_UINT(bytes, 9 * world.context.os.page_bytes);
        world_close(&world);
        tree_free(&tree);
    }
}

/* Where no descriptor is kept there is nothing to read it from later. */
static void without_room_memory_is_read_at_once(void)
{
    struct tree tree = tree_new();
    struct world world;
    tree_process(&tree, 10, "at once", 1, 1000);
    world_open(&world, tree.path, 1);
    CHECK_INT(process_table_tick(world.table, &world.wanted), 0);
    tree_text(&tree, 10, "statm", LATER_STATM[0]);
    CHECK_OK(world_write(&world, NULL), (vitals_error){0});
    CHECK_UINT(row_u64(world_need(&world, 10), VITALS_PROCESS_RESIDENT_BYTES),
               7 * world.context.os.page_bytes);
    world_close(&world);
    tree_free(&tree);
}

static const check_test tests[] = {
    {"each is read once and in order, by however many", each_is_read_once_and_in_order},
    {"those that nobody takes are let go", those_that_nobody_takes_are_let_go},
    {"without descriptors they are left to the table",
     without_descriptors_they_are_left_to_the_table},
    {"those that were read ahead are given up", those_that_were_read_ahead_are_given_up},
    {"want of memory leaves them to the table", want_of_memory_leaves_them_to_the_table},
    {"the first tick of a table meets everybody", the_first_tick_meets_everybody},
    {"the first tick reads ahead", the_first_tick_reads_ahead},
    {"the last descriptors are not kept", the_last_descriptors_are_not_kept},
    {"reading ahead leaves descriptors to lanes", reading_ahead_leaves_descriptors_to_workers},
    {"memory is read with the answers of lanes", memory_is_read_with_the_answers},
    {"without room memory is read at once", without_room_memory_is_read_at_once},
};
CHECK_TESTS(tests)
