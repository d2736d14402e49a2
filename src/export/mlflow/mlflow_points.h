/* mlflow_points.h: a run's samples folded into points of MLflow's series.
 *
 * Over each window a gauge is its mean, with its peak beside it, and a counter what it counted by
 * the last sample; a point has the time of that sample. The first sample is a point of its own, so
 * that short runs have a line too. Values that are missing have no point. One thread at a time. */
#ifndef VITALS_EXPORT_MLFLOW_MLFLOW_POINTS_H
#define VITALS_EXPORT_MLFLOW_MLFLOW_POINTS_H

#include <jansson.h>

#include "export/mlflow/mlflow_batch.h"
#include "export/sample.h"

struct mlflow_points;

struct mlflow_points_options {
    const char *prefix; /* of what the processes use: "system/process/" */
    const char *node;   /* NULL, or of many: system/NODE/… */
    uint64_t period_ns;
    double memory_bytes; /* what the processes may use; 0: what the cgroup or machine has */
    double cpus;         /* what their CPU time is a percentage of; 0: the cgroup's, or one */
    int64_t pid;         /* of who lives in a cgroup of its own; 0: they are begun in ours */
};

/* What the cgroup allows; 0: it has no limit. */
struct mlflow_limits {
    double memory_bytes, cpus;
};

/* Copied. NULL: memory is out. */
struct mlflow_points *mlflow_points_new(const struct mlflow_points_options *options);
void mlflow_points_free(struct mlflow_points *points); /* accepts NULL */

/* Folds in what stands under "usage". True: a window is complete. */
bool mlflow_points_add(struct mlflow_points *points, const json_t *usage);

/* The last window ends where the run did, and counters have what was counted then, the figures of
 * its account, for sampling does not see the last moments of a process. Rates stay those of
 * samples: what these missed may be of any time. `ms` since 1970; 0: not known. */
void mlflow_points_end(struct mlflow_points *points, const json_t *figures, uint64_t ms);

/* Whether samples were folded in since the last point, or the account has more than it. */
bool mlflow_points_waiting(const struct mlflow_points *points);

/* Writes the window's points, and begins the next. `moment` may be NULL: what only the snapshot
 * knows (the root file system, limits of power and of the cgroup) is left out. */
void mlflow_points_write(struct mlflow_points *points, struct sample *moment,
                         struct mlflow_batch *batch);

/* Of the newest point. False: nobody has said yet. */
bool mlflow_points_limits(const struct mlflow_points *points, struct mlflow_limits *limits);

/* Of the newest sample, in ms since 1970; 0: there was none. */
uint64_t mlflow_points_newest_ms(const struct mlflow_points *points);

#endif
