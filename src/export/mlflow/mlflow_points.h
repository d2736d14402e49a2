/* mlflow_points.h: aggregates a run's samples into points of MLflow's series.
 *
 * Over each window a gauge is its mean, with its peak beside it; a counter is its value at the last
 * sample. A point has the time of that sample. The first sample is a point of its own, so that
 * short runs have a line too. Missing values have no point. One thread at a time. */
#pragma once

#include "export/mlflow/mlflow_batch.h"
#include "export/sample.h"
#include "export/usage_line.h"

struct mlflow_points;

struct mlflow_points_options {
    const char *prefix; /* of the processes' metrics: "system/process/" */
    const char *node;   /* NULL, or the node's name: system/NODE/… */
    uint64_t period_ns;
    double memory_bytes; /* limit of the processes; 0: the cgroup's or the machine's */
    double cpus;         /* 100 % of their CPU time; 0: the cgroup's, or one */
    int64_t pid;         /* of a process in a cgroup of its own; 0: started in ours */
};

/* The texts are borrowed. Returns NULL if memory is out. */
struct mlflow_points *mlflow_points_new(const struct mlflow_points_options *options);
void mlflow_points_free(struct mlflow_points *points); /* accepts NULL */

/* Adds a sample. Returns true if a window is complete. */
bool mlflow_points_add(struct mlflow_points *points, const struct usage_line *usage);

/* Ends the last window at the end of the run, and sets counters to the figures of the account,
 * since sampling misses a process's last moments. Rates stay those of samples: the time that these
 * missed may be of any part of the run. `ms` since 1970; 0 if not known. */
void mlflow_points_end(struct mlflow_points *points, const json_t *figures, uint64_t ms);

/* Returns whether samples were added since the last point, or the account has more than it. */
bool mlflow_points_waiting(const struct mlflow_points *points);

/* Writes the window's points and begins the next window; also, once, the settings that shares are
 * of: how many CPUs are 100 %, and the cgroup's limits. `sample` may be NULL: values of the
 * snapshot alone (the root file system, limits of power and of the cgroup) are left out then. */
void mlflow_points_write(struct mlflow_points *points, struct sample *sample,
                         struct mlflow_batch *batch);

/* Returns the time of the newest sample, in ms since 1970; 0 if there was none. */
uint64_t mlflow_points_newest_ms(const struct mlflow_points *points);
