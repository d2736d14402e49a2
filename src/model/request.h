/* request.h: what a request holds. */
#pragma once

#include "model/catalogue.h"
#include <vitals/request.h>

struct vitals_request {
    struct metric_set wanted;
    uint64_t every_ns[ENTITY_MAX + 1][METRIC_NUMBERS];
    uint64_t interval_ns;
    unsigned rows;
    int64_t *pids;
    size_t pid_count;
    char **devices; /* names of the chosen ones; NULL: all */
    size_t device_count;
    int64_t watcher; /* the sampling process of a run, a child of its root, the launcher. It is not
                        read and has no row; orphans below the launcher become its children.
                        0: none */
    int activity;    /* a file whose text changes when a process of the run other than the launcher
                        runs; open as long as the sampler lives; 0: none */
    int activity_folder; /* the cgroup of that file: it says nothing of processes outside */
    uint64_t resting_ns; /* reads the host no more often than this while the run is idle; 0: reads
                            it as usual */
};

/* Checks the range of a sampling interval. Errors: EARGUMENT. */
int request_check_interval(uint64_t interval_ns, vitals_error *error);

/* Chooses devices by names that were checked; 0: all. Returns 0 or VITALS_EMEMORY. */
int request_choose_devices(vitals_request *request, const char *const *names, size_t count);

/* A copy that a sampler keeps, or NULL when memory is out. */
vitals_request *request_copy(const vitals_request *request);
