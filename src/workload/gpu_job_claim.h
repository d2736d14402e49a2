/* gpu_job_claim.h: to which job a device is allotted, by the file that a scheduler's prolog has
 * left.
 *
 * Two conventions: /run/gpustat, a file for each device that holds "JOB UID", and dcgm-exporter's
 * folder of job mappings, whose files hold the ids of jobs. Either calls a file by the device's
 * number; gpustat also by its UUID, dcgm-exporter a MIG instance by "DEVICE.INSTANCE". Slurm counts
 * devices by their nodes, the driver by their place on the bus: where the two numbers differ, a
 * file that is called by a number is believed only if both files say the same.
 * An empty file, or none in such a folder: nobody has the device.
 * What such a file says is a claim. Whose the processes on the device are is proof, and theirs to
 * tell. Thread rule: workers only, a disk may answer; what is marked pure, any. */
#ifndef VITALS_WORKLOAD_GPU_JOB_CLAIM_H
#define VITALS_WORKLOAD_GPU_JOB_CLAIM_H

#include "model/row_batch.h"
#include "os/os.h"

enum { JOB_CLAIM_UUID = 96, JOB_CLAIM_JOB_MAX = 64 };

/* Whom a file can name. Numbers below 0 are not known, or it has none; without an index only a file
 * of its UUID is its own. */
struct job_claim_device {
    char uuid[JOB_CLAIM_UUID];
    int64_t index, minor; /* as the vendor's tools count, and of its node; of a partition, those of
                           * the device that it is of */
    bool partition;
    int64_t instance; /* of a partition */
};

enum job_claim_form { JOB_CLAIM_GPUSTAT, JOB_CLAIM_DCGM };

struct job_claim {
    struct span job; /* of letters, digits and "._-+" */
    bool of_slurm;   /* a number, or a SLUID */
    int64_t uid;     /* -1: it does not say */
};

/* The next job of a file's text; false at the end. *bad: something in it was none. Pure. */
bool job_claim_next(enum job_claim_form form, struct cursor *text, struct job_claim *out,
                    bool *bad);

/* Adds rows of gpu_job, labeled by the job, and the table's state: HAVE also of a device that no
 * file names; UNSUPPORTED: there is neither folder; DENIED; FAILED: a file that is none of these,
 * or two that name different jobs. A folder whose file system hangs holds the caller: it has a
 * worker of its own, and no device waits for it. */
void job_claim_read(const struct os *os, const struct job_claim_device *device,
                    struct row_batch *out);

#endif
