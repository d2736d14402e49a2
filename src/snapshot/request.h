/* request.h: what a request holds. */
#ifndef VITALS_SNAPSHOT_REQUEST_H
#define VITALS_SNAPSHOT_REQUEST_H

#include "metric/catalogue.h"
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
    int64_t childless; /* a process that starts nobody, whatever its threads do: the watcher of a
                          run, whose children need not be looked for; 0: none */
};

/* A copy that a sampler keeps, or NULL when memory is out. */
vitals_request *request_copy(const vitals_request *request);

#endif
