/* The file of a prolog, made of anything: each job lies within, and is made of nothing that would
 * need an escape. The first byte says of which convention it is. */
#include "workload/gpu_job_claim.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char BYTES[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+";
    if (size == 0)
        return 0;
    enum job_claim_form form = data[0] == 'g' ? JOB_CLAIM_GPUSTAT : JOB_CLAIM_DCGM;
    const char *bytes = (const char *)data + 1, *end = (const char *)data + size;
    struct cursor text = cursor_over(bytes, size - 1);
    struct job_claim job;
    bool bad = false;
    size_t count = 0;
    for (const char *before = bytes; job_claim_next(form, &text, &job, &bad); before = text.at) {
        require(text.at > before && text.at <= end);
        require(job.job.size != 0 && job.job.size <= JOB_CLAIM_JOB_MAX);
        require(job.job.bytes >= bytes && job.job.bytes + job.job.size <= end);
        for (size_t i = 0; i < job.job.size; i++)
            require(memchr(BYTES, job.job.bytes[i], sizeof BYTES - 1) != NULL);
        require(job.uid >= -1 && job.uid < UINT32_MAX);
        require(form == JOB_CLAIM_DCGM || job.of_slurm);
        count++;
    }
    require(form == JOB_CLAIM_DCGM || count <= 1);
    return 0;
}
