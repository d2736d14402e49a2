/* What the tests of processes share: a /proc of files that a test writes, a context over it or over
 * the live one, a table that ticks into snapshots, and children that do what they are told.
 * Everything is static: each test program includes it once. */
#ifndef TESTS_UNIT_PROCESS_WORLD_H
#define TESTS_UNIT_PROCESS_WORLD_H

#include "check.h"

#include "process/table.h"
#include "util/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a /proc of files ---- */

struct tree {
    char path[64];
};

static inline struct tree tree_new(void)
{
    struct tree tree;
    check_folder(tree.path, sizeof tree.path, "proc");
    return tree;
}

static inline int tree_remove_one(const char *path, const struct stat *status, int kind,
                                  struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static inline void tree_remove(const struct tree *tree, int64_t pid)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%lld", tree->path, (long long)pid);
    nftw(path, tree_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static inline void tree_free(const struct tree *tree)
{
    nftw(tree->path, tree_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static inline void tree_put(const struct tree *tree, int64_t pid, const char *name,
                            const void *bytes, size_t size)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%lld", tree->path, (long long)pid);
    mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/%lld/%s", tree->path, (long long)pid, name);
    // In place, as /proc does it: a descriptor that is open sees the new content.
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size)
        CHECK_FAIL("%s: %s", path, strerror(errno));
    close(file);
}

static inline void tree_text(const struct tree *tree, int64_t pid, const char *name,
                             const char *text)
{
    tree_put(tree, pid, name, text, strlen(text));
}

/* A process with a name, a parent and a start; 100 ticks of user time, 7 resident pages. */
static inline void tree_process(const struct tree *tree, int64_t pid, const char *name,
                                int64_t parent, uint64_t start)
{
    char text[512];
    snprintf(text, sizeof text,
             "%lld (%s) S %lld 1 1 0 -1 4194304 11 0 2 0 100 50 0 0 20 0 3 0 %llu 8192 5 0 1 1 0 0 "
             "0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
             (long long)pid, name, (long long)parent, (unsigned long long)start);
    tree_text(tree, pid, "stat", text);
    tree_text(tree, pid, "statm", "20 7 3 1 0 4 0\n");
}

/* ---- a context, a table, snapshots ---- */

struct world {
    struct vitals_context context;
    struct process_table *table;
    struct user_cache *users;
    struct process_batch batch;
    vitals_builder *builder;
    struct metric_set wanted;
    vitals_snapshot *snapshot; /* of the last tick */
    uint64_t sequence;
};

/* Over a tree of files; NULL: the live /proc. Every metric of the table process is wanted. */
/* A clock of small steps, for a /proc of files: how long a busy machine takes for one is none of a
 * test's. */
static inline uint64_t world_moment(void *data)
{
    static atomic_uint_fast64_t moment_ns;
    (void)data;
    return atomic_fetch_add(&moment_ns, 1000) + 1000;
}

static inline void world_open(struct world *world, const char *proc_root, uint32_t max_descriptors)
{
    *world = (struct world){0};
    vitals_options options = {.size = sizeof options, .proc_root = proc_root, .bpf = 1};
    vitals_error error;
    CHECK_OK(os_open(&world->context.os, &options, &error), error);
    os_read_origin(&world->context.os, &world->context.origin);
    if (proc_root != NULL)
        world->context.os.clock.monotonic_ns = world_moment;
    world->context.max_descriptors = max_descriptors != 0 ? max_descriptors : UINT32_MAX;
    for (vitals_metric metric = vitals_metric_next((vitals_metric)0); metric != 0;
         metric = vitals_metric_next(metric))
        if (vitals_metric_table(metric) == VITALS_TABLE_PROCESS)
            metric_set_add(&world->wanted, metric);
    world->table = process_table_new(&world->context);
    world->users = user_cache_new();
    CHECK_NOT_NULL(world->table);
    CHECK_NOT_NULL(world->users);
    CHECK_OK(vitals_builder_new(&world->builder, &error), error);
}

static inline void world_close(struct world *world)
{
    vitals_snapshot_unref(world->snapshot);
    vitals_builder_free(world->builder);
    process_table_free(world->table);
    user_cache_free(world->users);
    batch_done(&world->batch.rows);
    os_close(&world->context.os);
}

static inline int world_write(struct world *world, vitals_error *error)
{
    const struct os_origin *origin = &world->context.origin;
    vitals_builder_begin(world->builder);
    vitals_builder_origin(world->builder, (vitals_text){origin->host, strlen(origin->host)},
                          (vitals_text){origin->boot_id, strlen(origin->boot_id)},
                          origin->pid_namespace);
    process_table_write(world->table, world->builder, &world->wanted);
    world->sequence++;
    vitals_builder_moment(world->builder, world->sequence, world->sequence, world->sequence,
                          world->sequence);
    vitals_snapshot_unref(world->snapshot);
    world->snapshot = NULL;
    return vitals_builder_finish(world->builder, &world->snapshot, error);
}

static inline void world_tick(struct world *world)
{
    vitals_error error;
    CHECK_INT(process_table_tick(world->table, &world->wanted), 0);
    CHECK_OK(world_write(world, &error), error);
}

/* Fills the batch with the processes for which all wanted values are due. */
static inline size_t world_due(struct world *world, struct process_batch *batch, uint64_t now_ns,
                               uint64_t every_ns, size_t capacity)
{
    struct process_question question = {0, 1, &every_ns, &world->wanted};
    return process_table_due(world->table, &question, now_ns, batch, capacity);
}

/* As a worker would, but at once. Returns how many processes were asked for. */
static inline size_t world_details(struct world *world, uint64_t now_ns, uint64_t every_ns)
{
    enum { BATCH = 64 };
    size_t all = 0, count;
    do {
        count = world_due(world, &world->batch, now_ns, every_ns, BATCH);
        process_batch_read(&world->context, world->users, &world->batch, NULL);
        process_table_take(world->table, &world->batch);
        all += count;
    } while (count == BATCH);
    return all;
}

/* ---- reading the snapshot ---- */

static inline const vitals_row *world_row(const struct world *world, int64_t pid)
{
    const vitals_row *row = NULL;
    while ((row = vitals_snapshot_next(world->snapshot, VITALS_TABLE_PROCESS, row)) != NULL) {
        uint64_t found;
        if (vitals_row_u64(row, VITALS_PROCESS_PID, &found) > 0 && found == (uint64_t)pid)
            return row;
    }
    return NULL;
}

static inline const vitals_row *world_need(const struct world *world, int64_t pid)
{
    const vitals_row *row = world_row(world, pid);
    if (row == NULL)
        CHECK_FAIL("process %lld has no row", (long long)pid);
    return row;
}

static inline size_t world_count(const struct world *world)
{
    return vitals_snapshot_count(world->snapshot, VITALS_TABLE_PROCESS);
}

static inline uint64_t row_u64(const vitals_row *row, vitals_metric metric)
{
    uint64_t value;
    vitals_availability state = vitals_row_u64(row, metric, &value);
    if (state <= 0)
        CHECK_FAIL("%s is %s", vitals_metric_name(metric), vitals_availability_name(state));
    return value;
}

static inline double row_f64(const vitals_row *row, vitals_metric metric)
{
    double value;
    vitals_availability state = vitals_row_f64(row, metric, &value);
    if (state <= 0)
        CHECK_FAIL("%s is %s", vitals_metric_name(metric), vitals_availability_name(state));
    return value;
}

static inline vitals_text row_text(const vitals_row *row, vitals_metric metric)
{
    vitals_text value;
    vitals_availability state = vitals_row_text(row, metric, &value);
    if (state <= 0)
        CHECK_FAIL("%s is %s", vitals_metric_name(metric), vitals_availability_name(state));
    return value;
}

#define CHECK_TEXT(row, metric, expected)                                       \
    do {                                                                        \
        vitals_text text_ = row_text((row), (metric));                          \
        CHECK_BYTES(text_.bytes, text_.size, (expected), sizeof(expected) - 1); \
    } while (0)

/* ---- children ---- */

/* fork; the child does not outlive the test program, whatever becomes of the test. */
static inline pid_t child_fork(void)
{
    pid_t parent = getpid(), pid = fork();
    if (pid < 0)
        CHECK_FAIL("fork: %s", strerror(errno));
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pid_t now = getppid(); /* 0: beyond a pid namespace */
        if (now != parent && now != 0)
            _exit(0); /* the parent ended before the call */
    }
    return pid;
}

/* A child that waits to be killed; it lives when this returns. */
static inline pid_t child_new(void)
{
    pid_t pid = child_fork();
    if (pid == 0)
        for (;;)
            pause();
    return pid;
}

/* Kills and reaps: the pid is free when this returns. */
static inline void child_end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* A child with just this pid, or -1 where that is not permitted. */
static inline pid_t child_with_pid(pid_t pid)
{
    struct {
        uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
        uint64_t set_tid, set_tid_size;
    } arguments = {.exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&pid, .set_tid_size = 1};
    long child = syscall(SYS_clone3, &arguments, sizeof arguments);
    if (child != 0)
        return (pid_t)child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        pause();
}

#endif
