/* What the tests of workloads share: a /proc and a /sys of files with processes in cgroups, and the
 * table workload that is made of it. Everything is static: each test program includes it once. */
#ifndef TESTS_UNIT_WORKLOAD_WORLD_H
#define TESTS_UNIT_WORKLOAD_WORLD_H

#include "check.h"
#include "gpu_tree.h"

#include "os/world.h"
#include "util/memory.h"

#include <stdarg.h>
#include <vitals/vitals.h>

#define ID_A "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct gpu_tree tree;
static vitals_context *context;

enum { V1, V2, HYBRID };

static const char *const MOUNTS[] = {
    [V1] = "30 23 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
           "31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
           "32 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
           "33 30 0:29 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n",
    [V2] = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
    [HYBRID] = "30 23 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
               "31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
               "34 30 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
};

__attribute__((format(printf, 2, 3))) static inline void put(const char *text, const char *format,
                                                             ...)
{
    char name[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    gpu_tree_text(&tree, name, text);
}

static inline void begin(const char *mounts)
{
    context = NULL; // also behind a test that failed
    tree = gpu_tree_empty();
    put(mounts, "proc/self/mountinfo");
    put("btime 1\n", "proc/stat");
}

/* 100 + 50 ticks of CPU time, 3 threads, 7 resident pages. */
static inline void put_process(unsigned pid, const char *cgroup)
{
    char text[1024];
    snprintf(text, sizeof text,
             "%u (x) S 1 1 1 0 -1 4194304 11 0 2 0 100 50 0 0 20 0 3 0 %u 8192 7 0 1 1 0 0 0 0 0 0 "
             "0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
             pid, 100 + pid);
    put(text, "proc/%u/stat", pid);
    put("20 7 3 1 0 4 0\n", "proc/%u/statm", pid);
    put("Name:\tx\nUid:\t4242\t4242\t4242\t4242\nGid:\t1\t1\t1\t1\n", "proc/%u/status", pid);
    snprintf(text, sizeof text, "%s\n", cgroup);
    put(text, "proc/%u/cgroup", pid);
}

static inline void put_v2(const char *cgroup)
{
    put("5\n", "sys/fs/cgroup%s/pids.current", cgroup);
    put("4096\n", "sys/fs/cgroup%s/memory.current", cgroup);
    put("8192\n", "sys/fs/cgroup%s/memory.peak", cgroup);
    put("low 0\nhigh 3\noom 1\noom_kill 2\n", "sys/fs/cgroup%s/memory.events", cgroup);
    put("usage_usec 2500000\nuser_usec 1\n", "sys/fs/cgroup%s/cpu.stat", cgroup);
}

static inline void open_context(void)
{
    char proc[GPU_TREE_PATH], sys[GPU_TREE_PATH], var[GPU_TREE_PATH];
    vitals_options options;
    vitals_error error;
    vitals_options_init(&options, sizeof options);
    gpu_tree_path(&tree, "proc", proc);
    gpu_tree_path(&tree, "sys", sys);
    gpu_tree_path(&tree, "var", var);
    gpu_tree_parents(&tree, "var/");
    options.proc_root = proc;
    options.sys_root = sys;
    options.var_root = var;
    CHECK_OK(vitals_context_new(&options, &context, &error), error);
}

static inline void end(void)
{
    vitals_context_free(context);
    context = NULL;
    gpu_tree_free(&tree);
}

static inline vitals_request *request_of(unsigned rows, const int64_t *pids, size_t count)
{
    vitals_request *request;
    vitals_error error;
    CHECK_OK(vitals_request_new(0, &request, &error), error);
    CHECK_OK(vitals_request_add_table(request, VITALS_TABLE_WORKLOAD, &error), error);
    CHECK_OK(vitals_request_set_rows(request, rows, pids, count, &error), error);
    return request;
}

static inline vitals_snapshot *take_rows(unsigned rows, const int64_t *pids, size_t count)
{
    vitals_snapshot *snapshot;
    vitals_error error;
    if (context == NULL)
        open_context();
    vitals_request *request = request_of(rows, pids, count);
    CHECK_OK(vitals_snapshot_take_request(context, request, &snapshot, &error), error);
    vitals_request_free(request);
    return snapshot;
}

static inline vitals_snapshot *take(void)
{
    return take_rows(VITALS_ROWS_ALL, NULL, 0);
}

static inline const vitals_row *row_of(const vitals_snapshot *snapshot, const char *id)
{
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_TABLE_WORKLOAD, row)) != NULL;) {
        vitals_text text;
        if (vitals_row_text(row, VITALS_WORKLOAD_ID, &text) > 0 && text.size == strlen(id) &&
            memcmp(text.bytes, id, text.size) == 0)
            return row;
    }
    CHECK_FAIL("no workload %s", id);
    return NULL;
}

static inline void check_number(const vitals_row *row, vitals_metric metric,
                                vitals_availability state, double expected)
{
    double number = 0;
    CHECK_CASE(vitals_metric_name(metric));
    CHECK_STR(vitals_availability_name(vitals_row_number(row, metric, &number)),
              vitals_availability_name(state));
    if (state > 0)
        CHECK_NEAR(number, expected, 1e-9);
    CHECK_CASE(NULL);
}

static inline void check_text(const vitals_row *row, vitals_metric metric, const char *expected)
{
    vitals_text text;
    CHECK_CASE(vitals_metric_name(metric));
    CHECK(vitals_row_text(row, metric, &text) > 0);
    CHECK_BYTES(text.bytes, text.size, expected, strlen(expected));
    CHECK_CASE(NULL);
}

#endif
