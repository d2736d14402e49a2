/* What the tests of a process's tables share: a table read by itself, its rows by key or label, and
 * trees, children and users beside those of process_world.h. Everything is static. */
#ifndef TESTS_UNIT_TABLE_WORLD_H
#define TESTS_UNIT_TABLE_WORLD_H

#include "process_world.h"

#include "model/row_batch.h"

#include <pthread.h>

/* ---- a table ---- */

struct asked {
    struct os os;
    struct row_batch batch;
    vitals_table entity;
    int result;
};

static inline struct metric_set all_of(vitals_table entity)
{
    struct metric_set wanted = {0};
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;)
        if (vitals_metric_table(metric) == entity)
            metric_set_add(&wanted, metric);
    return wanted;
}

static inline void ask_for(struct asked *asked, const char *proc_root, int64_t pid,
                           vitals_table entity, const struct metric_set *wanted)
{
    *asked = (struct asked){.entity = entity};
    vitals_options options = {.size = sizeof options, .proc_root = proc_root};
    vitals_error error;
    CHECK_OK(os_open(&asked->os, &options, &error), error);
    batch_reset(&asked->batch, wanted);
    asked->result = os_process_table(&asked->os, pid, entity, &asked->batch);
}

/* Every column; proc_root NULL: the live /proc. */
static inline void ask(struct asked *asked, const char *proc_root, int64_t pid, vitals_table entity)
{
    struct metric_set wanted = all_of(entity);
    ask_for(asked, proc_root, pid, entity, &wanted);
}

/* One column alone. */
static inline void ask_one(struct asked *asked, const char *proc_root, int64_t pid,
                           vitals_metric metric)
{
    struct metric_set wanted = {0};
    metric_set_add(&wanted, metric);
    ask_for(asked, proc_root, pid, vitals_metric_table(metric), &wanted);
}

static inline void asked_done(struct asked *asked)
{
    batch_done(&asked->batch);
    os_close(&asked->os);
}

static inline vitals_availability asked_state(const struct asked *asked)
{
    return (vitals_availability)asked->batch.states[asked->entity];
}

/* A table that must be there, with rows in the order of keys. */
static inline void check_asked(const struct asked *asked)
{
    CHECK_INT(asked->result, 0);
    CHECK_FALSE(asked->batch.failed);
    for (size_t i = 1; i < asked->batch.row_count; i++)
        CHECK(asked->batch.rows[i - 1].key < asked->batch.rows[i].key);
}

/* ---- rows and values ---- */

static inline const struct batch_row *find_row(const struct asked *asked, uint64_t key)
{
    for (size_t i = 0; i < asked->batch.row_count; i++)
        if (asked->batch.rows[i].key == key)
            return &asked->batch.rows[i];
    return NULL;
}

static inline const struct batch_row *need_row(const struct asked *asked, uint64_t key)
{
    const struct batch_row *row = find_row(asked, key);
    if (row == NULL)
        CHECK_FAIL("no row has the key %llu", (unsigned long long)key);
    return row;
}

static inline const struct batch_row *find_label(const struct asked *asked, const char *label)
{
    for (size_t i = 0; i < asked->batch.row_count; i++)
        if (span_equal(batch_label(&asked->batch, &asked->batch.rows[i]), label))
            return &asked->batch.rows[i];
    return NULL;
}

static inline const struct batch_row *need_label(const struct asked *asked, const char *label)
{
    const struct batch_row *row = find_label(asked, label);
    if (row == NULL)
        CHECK_FAIL("no row is called %s", label);
    return row;
}

/* VITALS_UNSET where nothing was said: UNSUPPORTED in a snapshot. */
static inline vitals_availability state_of(const struct asked *asked, const struct batch_row *row,
                                           vitals_metric metric)
{
    const struct batch_cell *cell = batch_find(&asked->batch, row, metric);
    return cell != NULL ? (vitals_availability)cell->state : VITALS_UNSET;
}

static inline const struct batch_cell *need_fact(const struct asked *asked,
                                                 const struct batch_row *row, vitals_metric metric)
{
    const struct batch_cell *cell = batch_find(&asked->batch, row, metric);
    if (cell == NULL || cell->state <= 0)
        CHECK_FAIL("%s is %s", vitals_metric_name(metric),
                   vitals_availability_name(state_of(asked, row, metric)));
    return cell;
}

static inline uint64_t u64_of(const struct asked *asked, const struct batch_row *row,
                              vitals_metric metric)
{
    return need_fact(asked, row, metric)->as.u64;
}

static inline double f64_of(const struct asked *asked, const struct batch_row *row,
                            vitals_metric metric)
{
    return need_fact(asked, row, metric)->as.f64;
}

static inline struct span text_of(const struct asked *asked, const struct batch_row *row,
                                  vitals_metric metric)
{
    return batch_span(&asked->batch, need_fact(asked, row, metric));
}

static inline void check_text(const struct asked *asked, const struct batch_row *row,
                              vitals_metric metric, const char *expected)
{
    struct span text = text_of(asked, row, metric);
    CHECK_BYTES(text.bytes, text.size, expected, strlen(expected));
}

/* ---- what every table must stand ---- */

/* The n-th allocation fails, for every n: no crash, no leak, and the failure is told. */
static inline void check_memory(const char *proc_root, int64_t pid, vitals_table entity)
{
    struct metric_set wanted = all_of(entity);
    struct os os;
    vitals_options options = {.size = sizeof options, .proc_root = proc_root};
    vitals_error error;
    CHECK_OK(os_open(&os, &options, &error), error);
    bool failed = true;
    for (uint64_t nth = 1; failed; nth++) {
        CHECK(nth < 10000);
        int64_t live = memory_live();
        struct row_batch batch = {0};
        batch_reset(&batch, &wanted);
        memory_fail_at(nth);
        int result = os_process_table(&os, pid, entity, &batch);
        memory_fail_at(0);
        failed = result == -ENOMEM || batch.failed;
        CHECK(failed || result == 0);
        CHECK(failed || nth > 1); // it does allocate
        batch_done(&batch);
        CHECK_INT(memory_live(), live);
    }
    os_close(&os);
}

/* What the table answers to an ordinary user for another user's process. */
static inline int asked_by_another_user(int64_t pid, vitals_table entity)
{
    if (geteuid() != 0)
        CHECK_SKIP("only root can become another user");
    pid_t child = child_fork();
    if (child == 0) {
        if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0)
            _exit(255);
        struct asked asked;
        ask(&asked, NULL, pid, entity);
        _exit(asked.result == 0 ? 0 : -asked.result);
    }
    int status;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    return -WEXITSTATUS(status);
}

/* A child that has ended and was not waited for. */
static inline pid_t child_zombie(void)
{
    pid_t pid = child_fork();
    if (pid == 0)
        _exit(0);
    siginfo_t info;
    CHECK_INT(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    return pid;
}

/* kthreadd, which has neither memory nor files, where this pid namespace shows it. */
static inline void check_kernel_thread(vitals_table entity)
{
    enum { KTHREADD = 2 };
    char name[32] = "";
    FILE *file = fopen("/proc/2/comm", "r");
    if (file != NULL && fgets(name, sizeof name, file) == NULL)
        name[0] = '\0';
    if (file != NULL)
        fclose(file);
    if (strcmp(name, "kthreadd\n") != 0)
        CHECK_SKIP("no kernel thread can be seen here");
    struct asked asked;
    ask(&asked, NULL, KTHREADD, entity);
    check_asked(&asked);
    CHECK_UINT(asked.batch.row_count, 0);
    CHECK_INT(asked_state(&asked), VITALS_HAVE);
    asked_done(&asked);
}

/* A child whose first thread has ended while another goes on: /proc shows it as a zombie. */
static inline void *outlive_first_thread(void *told)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)getpid());
    while (strstr(text, ") Z ") == NULL) {
        int file = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t size = read(file, text, sizeof text - 1);
        text[size > 0 ? size : 0] = '\0';
        close(file);
    }
    if (write(*(int *)told, "y", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

static inline pid_t child_without_first_thread(void)
{
    static int told[2];
    CHECK_INT(pipe(told), 0);
    pid_t pid = child_fork();
    if (pid == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, outlive_first_thread, &told[1]) != 0)
            _exit(1);
        pthread_exit(NULL);
    }
    close(told[1]);
    char byte;
    CHECK_INT(read(told[0], &byte, 1), 1);
    close(told[0]);
    return pid;
}

/* The table is there all the same. */
static inline void check_without_first_thread(vitals_table entity)
{
    pid_t pid = child_without_first_thread();
    struct asked asked;
    ask(&asked, NULL, pid, entity);
    child_end(pid);
    check_asked(&asked);
    CHECK(asked.batch.row_count > 0);
    asked_done(&asked);
}

/* ---- folders in a tree ---- */

static inline void tree_folder(const struct tree *tree, int64_t pid, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%lld", tree->path, (long long)pid);
    mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/%lld/%s", tree->path, (long long)pid, name);
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        CHECK_FAIL("%s: %s", path, strerror(errno));
}

#endif
