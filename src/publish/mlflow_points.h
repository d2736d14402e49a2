/* mlflow_points.h: a run's samples folded into points of MLflow's series.
 *
 * Over each window a gauge is its mean, with its peak beside it, and a counter what it counted by
 * the last sample; a point has the time of that sample. The first sample is a point of its own, so
 * that short runs have a line too. Values that are missing have no point. One thread at a time. */
#ifndef VITALS_PUBLISH_MLFLOW_POINTS_H
#define VITALS_PUBLISH_MLFLOW_POINTS_H

#include <jansson.h>

#include "publish/mlflow_batch.h"
#include "publish/moment.h"

struct mlflow_points;

struct mlflow_points_options {
    const char *prefix; /* of what the processes use: "system/process/" */
    const char *node;   /* NULL, or of many: system/NODE/… */
    uint64_t period_ns;
    double memory_bytes; /* what the processes may use; 0: what the machine has */
    double cpus;         /* what their CPU time is a percentage of; 0: of one */
};

/* Copied. NULL: memory is out. */
struct mlflow_points *mlflow_points_new(const struct mlflow_points_options *options);
void mlflow_points_free(struct mlflow_points *points); /* accepts NULL */

/* Folds in what stands under "usage". True: a window is complete. */
bool mlflow_points_add(struct mlflow_points *points, const json_t *usage);

/* Whether samples were folded in since the last point. */
bool mlflow_points_waiting(const struct mlflow_points *points);

/* Writes the window's points, and begins the next. `moment` may be NULL: what only the snapshot
 * knows (the root file system, limits of power) is left out. */
void mlflow_points_write(struct mlflow_points *points, struct moment *moment,
                         struct mlflow_batch *batch);

/* Of the newest sample, in ms since 1970; 0: there was none. */
uint64_t mlflow_points_newest_ms(const struct mlflow_points *points);

#endif
