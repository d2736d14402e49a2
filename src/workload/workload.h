/* workload.h: the workload of a process: its id, and the cgroup that is its own.
 *
 * The grammar of ids: slurm:JOB.STEP or slurm:JOB, k8s:NAMESPACE/POD/CONTAINER, ctr:ID, unit:NAME,
 * user:NAME. If a path names several, the first in this order counts: a job that starts a container
 * is the job. A process below user.slice belongs to its user, whichever units the user's own
 * manager made: any user can choose their names. The id of a claimed workload begins with
 * "claimed:", so that its sums stay apart from those of the real one. Thread rule: pure. */
#pragma once

#include "util/buffer.h"
#include "util/cursor.h"

enum workload_kind {
    WORKLOAD_NONE,
    WORKLOAD_SLURM,
    WORKLOAD_POD,
    WORKLOAD_CONTAINER,
    WORKLOAD_UNIT,
    WORKLOAD_USER
};

enum { WORKLOAD_ID_MAX = 1024, WORKLOAD_CONTAINER_DIGITS = 12 };

/* The parts of an id; those that its kind lacks are empty. Borrowed. */
struct workload {
    enum workload_kind kind;
    struct span job, step;             /* of Slurm; the step may be empty */
    struct span space, pod, container; /* of Kubernetes */
    struct span name;                  /* of a container, a unit, a user */
    bool claimed;                      /* an ordinary user may have made the cgroup that says so */
};

/* slurm, k8s, ctr, unit, user; "" of none. */
const char *workload_word(enum workload_kind kind);

/* Appends the id. A container's id of 64 digits is cut to the first twelve. */
void workload_format(const struct workload *workload, struct buffer *out);

/* False where it is none. */
bool workload_parse(struct span id, struct workload *out);

/* The parts of a path beside its kind; empty if it has none. Borrowed from it. */
struct workload_path {
    struct span container; /* the whole id, or a name */
    struct span sluid;
};
void workload_path_read(struct span path, struct workload_path *out);

/* Classifies the path of a cgroup. WORKLOAD_CONTAINER also for the container of a pod,
 * WORKLOAD_USER for everything else. *place: the length of the part of the path that is the
 * workload's own cgroup, 0 for a user, which has none. */
enum workload_kind workload_of_cgroup(struct span path, size_t *place);
