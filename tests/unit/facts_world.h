/* What the tests of process facts share: asking for columns of one process, and a /proc of files
 * that a test writes. Everything is static: each test program includes it once. */
#ifndef TESTS_UNIT_FACTS_WORLD_H
#define TESTS_UNIT_FACTS_WORLD_H

#include "check.h"

#include "os/linux/process/process_metrics.h"

#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

/* Those of the price WORKER that os_process_metrics does not read. */
static const vitals_metric OTHERS[] = {VITALS_PROCESS_USER,
                                       VITALS_PROCESS_GROUP,
                                       VITALS_PROCESS_EFFECTIVE_USER,
                                       VITALS_PROCESS_CONTAINER,
                                       VITALS_PROCESS_PROGRAM_NAME,
                                       VITALS_PROCESS_UNIT,
                                       VITALS_PROCESS_SLURM_JOB,
                                       VITALS_PROCESS_SLURM_STEP,
                                       VITALS_PROCESS_POD,
                                       VITALS_PROCESS_POD_NAME,
                                       VITALS_PROCESS_POD_NAMESPACE,
                                       VITALS_PROCESS_CONTAINER_NAME,
                                       VITALS_PROCESS_WORKLOAD,
                                       VITALS_PROCESS_SUPPLEMENTARY_GROUPS};

/* ---- asking ---- */

static inline struct os open_os(const char *proc_root, const char *sys_root)
{
    struct os os;
    vitals_options options = {.size = sizeof options, .proc_root = proc_root, .sys_root = sys_root};
    vitals_error error;
    CHECK_OK(os_open(&os, &options, &error), error);
    return os;
}

static inline bool is_asked(vitals_metric metric)
{
    if (vitals_metric_table(metric) != VITALS_TABLE_PROCESS ||
        vitals_metric_price(metric) == VITALS_PRICE_TICK)
        return false;
    for (size_t i = 0; i < CHECK_COUNT(OTHERS); i++)
        if (OTHERS[i] == metric)
            return false;
    return true;
}

static inline struct metric_set every_metric(void)
{
    struct metric_set wanted = {0};
    for (vitals_metric metric = vitals_metric_next((vitals_metric)0); metric != 0;
         metric = vitals_metric_next(metric))
        if (is_asked(metric))
            metric_set_add(&wanted, metric);
    return wanted;
}

static inline size_t asked_count(void)
{
    size_t count = 0;
    for (vitals_metric metric = vitals_metric_next((vitals_metric)0); metric != 0;
         metric = vitals_metric_next(metric))
        count += is_asked(metric);
    return count;
}

static inline struct row_batch read_wanted(const struct os *os, int64_t pid,
                                           const struct metric_set *wanted)
{
    struct row_batch batch = {0};
    batch_reset(&batch, wanted);
    batch_add_row(&batch, VITALS_TABLE_PROCESS, 1, (struct span){"x", 1});
    os_process_metrics(os, pid, &batch);
    CHECK_FALSE(batch.failed);
    return batch;
}

static inline struct row_batch read_all(const struct os *os, int64_t pid)
{
    struct metric_set wanted = every_metric();
    return read_wanted(os, pid, &wanted);
}

static inline struct row_batch read_one(const struct os *os, int64_t pid, vitals_metric metric)
{
    struct metric_set wanted = {0};
    metric_set_add(&wanted, metric);
    return read_wanted(os, pid, &wanted);
}

static const struct batch_cell *fact_of(const struct row_batch *batch, vitals_metric metric)
{
    const struct batch_cell *cell = batch_find(batch, &batch->rows[0], metric);
    if (cell == NULL)
        CHECK_FAIL("%s has no value and no reason", vitals_metric_name(metric));
    return cell;
}

static inline vitals_availability state_of(const struct row_batch *batch, vitals_metric metric)
{
    return fact_of(batch, metric)->state;
}

static const struct batch_cell *value_of(const struct row_batch *batch, vitals_metric metric)
{
    const struct batch_cell *cell = fact_of(batch, metric);
    if (cell->state <= 0)
        CHECK_FAIL("%s is %s", vitals_metric_name(metric), vitals_availability_name(cell->state));
    return cell;
}

static inline uint64_t u64_of(const struct row_batch *batch, vitals_metric metric)
{
    return value_of(batch, metric)->as.u64;
}

#define CHECK_FACT_TEXT(batch, metric, expected)                              \
    do {                                                                      \
        struct span text_ = batch_span((batch), value_of((batch), (metric))); \
        CHECK_BYTES(text_.bytes, text_.size, (expected), strlen(expected));   \
    } while (0)

#define CHECK_STATE(batch, metric, expected)                         \
    CHECK_STR(vitals_availability_name(state_of((batch), (metric))), \
              vitals_availability_name(expected))

/* ---- a /proc of files ---- */

struct tree {
    char path[64];
};

static inline struct tree tree_new(void)
{
    struct tree tree;
    check_folder(tree.path, sizeof tree.path, "facts");
    return tree;
}

static inline int remove_one(const char *path, const struct stat *status, int kind,
                             struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static inline void tree_free(const struct tree *tree)
{
    nftw(tree->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* The path of something below the tree, whose folders are made. */
static const char *tree_place(const struct tree *tree, const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", tree->path, name);
    for (char *slash = path + strlen(tree->path) + 1; (slash = strchr(slash, '/')) != NULL;
         slash++) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
    return path;
}

static inline void tree_put(const struct tree *tree, const char *name, const void *bytes,
                            size_t size)
{
    const char *path = tree_place(tree, name);
    FILE *file = fopen(path, "we");
    if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        CHECK_FAIL("%s: %s", path, strerror(errno));
}

static inline void tree_text(const struct tree *tree, const char *name, const char *text)
{
    tree_put(tree, name, text, strlen(text));
}

static inline void tree_link(const struct tree *tree, const char *name, const char *target)
{
    const char *path = tree_place(tree, name);
    if (symlink(target, path) != 0)
        CHECK_FAIL("%s: %s", path, strerror(errno));
}

/* Process 7, of which nothing is there but its stat. */
static inline void tree_stat(const struct tree *tree, char state, unsigned flags,
                             const char *terminal)
{
    char text[512];
    snprintf(
        text, sizeof text,
        "7 (p) %c 1 7 7 %s -1 %u 11 0 2 0 100 50 0 0 20 0 1 0 100 8192 5 0 1 1 0 0 0 0 0 0 0 0 0 "
        "0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
        state, terminal, flags);
    tree_text(tree, "7/stat", text);
}

#endif
