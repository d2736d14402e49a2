/* gpu_job_claim.h: the job that a device is allotted to, by the file that a scheduler's prolog
 * wrote.
 *
 * Two conventions: /run/gpustat, one file per device that holds "JOB UID", and dcgm-exporter's
 * folder of job mappings, whose files hold job ids. Both name a file by the device's number;
 * gpustat also by its UUID, dcgm-exporter a MIG instance by "DEVICE.INSTANCE". Slurm numbers
 * devices by their nodes, the driver by their position on the bus: if the two numbers differ, a
 * file named by a number is believed only if both files say the same. An empty or missing file in
 * such a folder means that the device is free. Such a file is a claim, not proof: the processes on
 * the device show which job uses it. Thread rule: workers only, because a disk answers; functions
 * marked pure, any thread. */
#pragma once

#include "model/row_batch.h"
#include "os/os.h"

enum { JOB_CLAIM_UUID = 96, JOB_CLAIM_JOB_MAX = 64 };

/* The device that a file can name. Numbers below 0 mean unknown or none; without an index only a
 * file named by the UUID matches. */
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
