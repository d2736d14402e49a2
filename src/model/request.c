/* request.c: what is wanted, and no way to read it.
 *
 * Thread rule: one thread at a time. */
#include "model/request.h"

#include "util/error.h"
#include "util/memory.h"

#include <string.h>

/* Numbers of tables are below the bits of sets, so that one is not taken for the other. */
enum { SETS_ALL = VITALS_SET_EVERYTHING, ROWS_ALL = 15 };

int vitals_request_new(unsigned sets, vitals_request **out, vitals_error *error)
{
    if ((sets & ~(unsigned)SETS_ALL) != 0)
        return error_set(error, VITALS_EARGUMENT, 0, "sets 0x%x: there is no such set", sets);
    vitals_request *request = memory_alloc(sizeof(*request));
    if (request == NULL)
        return error_no_memory(error);
    request->interval_ns = NS_PER_SECOND;
    request->rows = VITALS_ROWS_ALL;
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;) {
        if (metric_in_sets(metric, sets))
            metric_set_add(&request->wanted, metric);
        request->every_ns[vitals_metric_table(metric)][metric_number(metric)] =
            vitals_metric_every_ns(metric);
    }
    *out = request;
    return 0;
}

static void free_names(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memory_free(names[i]);
    memory_free(names);
}

/* Copies of the names; NULL: out of memory. */
static char **copy_names(const char *const *names, size_t count)
{
    char **copy = memory_array(count, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < count; i++) {
        copy[i] = memory_string(names[i]);
        if (copy[i] == NULL) {
            free_names(copy, i);
            return NULL;
        }
    }
    return copy;
}

int request_choose_devices(vitals_request *request, const char *const *names, size_t count)
{
    char **copy = count > 0 ? copy_names(names, count) : NULL;
    if (count > 0 && copy == NULL)
        return VITALS_EMEMORY;
    free_names(request->devices, request->device_count);
    request->devices = copy;
    request->device_count = count;
    return 0;
}

void vitals_request_free(vitals_request *request)
{
    if (request == NULL)
        return;
    free_names(request->devices, request->device_count);
    memory_free(request->pids);
    memory_free(request);
}

vitals_request *request_copy(const vitals_request *request)
{
    vitals_request *copy = memory_alloc(sizeof(*copy));
    if (copy == NULL)
        return NULL;
    *copy = *request;
    copy->pids = NULL;
    copy->devices = NULL;
    copy->pid_count = copy->device_count = 0;
    if (vitals_request_set_rows(copy, request->rows, request->pids, request->pid_count, NULL) < 0 ||
        request_choose_devices(copy, (const char *const *)request->devices, request->device_count) <
            0) {
        vitals_request_free(copy);
        return NULL;
    }
    return copy;
}

static int check_metric(vitals_metric metric, vitals_error *error)
{
    if (vitals_metric_name(metric) != NULL)
        return 0;
    return error_set(error, VITALS_EARGUMENT, 0, "metric 0x%x: there is no such metric",
                     (unsigned)metric);
}

int vitals_request_add(vitals_request *request, vitals_metric metric, vitals_error *error)
{
    int code = check_metric(metric, error);
    if (code == 0)
        metric_set_add(&request->wanted, metric);
    return code;
}

static int add_metrics(vitals_request *request, vitals_table entity, bool by_name,
                       vitals_error *error)
{
    if (vitals_table_name(entity) == NULL)
        return error_set(error, VITALS_EARGUMENT, 0, "table %u: there is no such table",
                         (unsigned)entity);
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;)
        if (metric_in_table(metric, entity) || (by_name && vitals_metric_table(metric) == entity))
            metric_set_add(&request->wanted, metric);
    return 0;
}

int vitals_request_add_table(vitals_request *request, vitals_table entity, vitals_error *error)
{
    return add_metrics(request, entity, false, error);
}

int vitals_request_add_all(vitals_request *request, vitals_table entity, vitals_error *error)
{
    return add_metrics(request, entity, true, error);
}

int vitals_request_remove(vitals_request *request, vitals_metric metric, vitals_error *error)
{
    int code = check_metric(metric, error);
    if (code == 0)
        metric_set_remove(&request->wanted, metric);
    return code;
}

int vitals_request_has(const vitals_request *request, vitals_metric metric)
{
    return vitals_metric_name(metric) != NULL && metric_set_has(&request->wanted, metric);
}

int vitals_request_set_every(vitals_request *request, vitals_metric metric, uint64_t every_ns,
                             vitals_error *error)
{
    int code = check_metric(metric, error);
    if (code == 0)
        request->every_ns[vitals_metric_table(metric)][metric_number(metric)] = every_ns;
    return code;
}

int request_check_interval(uint64_t interval_ns, vitals_error *error)
{
    if (interval_ns >= 10 * NS_PER_MS && interval_ns <= 86400 * NS_PER_SECOND)
        return 0;
    return error_set(error, VITALS_EARGUMENT, 0, "interval of %llu ns: give 10 ms to 1 day",
                     (unsigned long long)interval_ns);
}

int vitals_request_set_interval(vitals_request *request, uint64_t interval_ns, vitals_error *error)
{
    int code = request_check_interval(interval_ns, error);
    if (code == 0)
        request->interval_ns = interval_ns;
    return code;
}

int vitals_request_set_rows(vitals_request *request, unsigned rows, const int64_t *pids,
                            size_t count, vitals_error *error)
{
    if ((rows & VITALS_ROWS_TREE) == 0)
        count = 0; /* pids matter to the others */
    if (rows == 0 || (rows & ~(unsigned)ROWS_ALL) != 0)
        return error_set(error, VITALS_EARGUMENT, 0, "rows 0x%x: there is no such choice", rows);
    if ((rows & VITALS_ROWS_TREE) != 0 && (count == 0 || pids == NULL))
        return error_set(error, VITALS_EARGUMENT, 0, "a choice of processes without a pid");
    for (size_t i = 0; i < count; i++) {
        if (pids[i] < 1)
            return error_set(error, VITALS_EARGUMENT, 0, "pid %lld: pids begin at 1",
                             (long long)pids[i]);
    }
    int64_t *copy = NULL;
    if (count > 0) {
        copy = memory_array(count, sizeof(*copy));
        if (copy == NULL)
            return error_no_memory(error);
        memcpy(copy, pids, count * sizeof(*copy));
    }
    memory_free(request->pids);
    request->pids = copy;
    request->pid_count = count;
    request->rows = rows;
    return 0;
}
