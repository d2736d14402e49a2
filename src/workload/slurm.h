/* slurm.h: the Slurm job, and its step, that a process belongs to.
 *
 * Read from Slurm's own cgroups, on version 1 (/slurm/uid_1000/job_12/step_0/task_0) and 2
 * (/system.slice/slurmstepd.scope/job_12/step_0/user/task_0), with a node's name before "slurm" if
 * several slurmd share a machine. Since 26.05 a job there is a SLUID: "s" and 13 capitals and
 * digits. The environment is not used: the owner of the process can change it. Thread rule: pure.
 */
#pragma once

#include "util/cursor.h"

enum { SLURM_TEXT = 24 };

/* Either may be "". */
struct slurm {
    char job[SLURM_TEXT];   /* a number, or a SLUID */
    char step[SLURM_TEXT];  /* a number, batch, extern, interactive */
    char sluid[SLURM_TEXT]; /* of an environment, beside the number */
    size_t place;           /* of a path: as much of it leads to the step's cgroup; 0: to none */
    size_t own;             /* likewise to the step's, or to the job's where there is no step */
};

/* False where the path is none of Slurm's. */
bool slurm_of_cgroup(struct span path, struct slurm *out);

/* Strings "NAME=VALUE", each ended by NUL. False where they name no job. */
bool slurm_of_environment(struct span strings, struct slurm *out);

/* The title of the daemon of a step, "slurmstepd: [123.batch]", which tells a SLUID's number. False
 * where it is none. */
bool slurm_of_title(struct span title, struct slurm *out);

/* Whether the job is named by its SLUID. */
bool slurm_is_sluid(const char *job);
