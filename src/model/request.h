/* request.h: what a request holds. */
#ifndef VITALS_MODEL_REQUEST_H
#define VITALS_MODEL_REQUEST_H

#include "model/catalogue.h"
#include <vitals/request.h>

/* What every interval of sampling may be. */
#define INTERVAL_MIN_NS (10 * NS_PER_MS)
#define INTERVAL_MAX_NS (86400 * NS_PER_SECOND)

struct vitals_request {
    struct metric_set wanted;
    uint64_t every_ns[ENTITY_MAX + 1][METRIC_NUMBERS];
    uint64_t interval_ns;
    unsigned rows;
    int64_t *pids;
    size_t pid_count;
    int64_t watcher; /* who samples a run, a child of the one root, the launcher: it has no row and
                        is not read. The launcher adopts whoever is orphaned below it; 0: none */
    int activity; /* a file that changes whenever anybody of the run but the launcher does anything,
                  open as long as the sampler lives; 0: none */
    int activity_folder; /* of the group that it is of: who is not in it is not in the file either
                          */
    uint64_t resting_ns; /* the host is read no more often while nobody of the run does anything;
                            0: as ever */
};

/* A copy that a sampler keeps, or NULL when memory is out. */
vitals_request *request_copy(const vitals_request *request);

#endif
