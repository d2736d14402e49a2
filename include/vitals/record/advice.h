/* advice.h: what to ask for next time: CPUs, memory, GPUs, time, by the rules of
 * docs/account.md. */
#ifndef VITALS_LIBRECORD_ADVICE_H
#define VITALS_LIBRECORD_ADVICE_H

#include <vitals/account.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vitals_advice vitals_advice;

typedef enum vitals_advice_part {
    VITALS_ADVICE_CPUS = 1,
    VITALS_ADVICE_MEMORY_BYTES,
    VITALS_ADVICE_GPUS,
    VITALS_ADVICE_GPU_MEMORY_BYTES, /* of each */
    VITALS_ADVICE_SECONDS
} vitals_advice_part;

typedef enum vitals_advice_form {
    VITALS_ADVICE_TEXT = 1,
    VITALS_ADVICE_JSON,
    VITALS_ADVICE_SLURM,     /* lines for a job script */
    VITALS_ADVICE_KUBERNETES /* resources of a pod */
} vitals_advice_form;

/* Makes the advice of an account; *out is the caller's to free and needs nothing to live on.
 * Errors: EMEMORY. */
VITALS_API VITALS_CHECKED int vitals_account_advice(const vitals_account *account,
                                                    vitals_advice **out, vitals_error *error)
    VITALS_NONNULL(1, 2);

/* Frees an advice. Accepts NULL. */
VITALS_API void vitals_advice_free(vitals_advice *advice);

/* Computes how much of a part to ask for: CPUs, bytes, devices, or seconds. Returns 1, and *out is
 * that; 0: it is not known, or there is no such part. */
VITALS_API VITALS_CHECKED int vitals_advice_amount(const vitals_advice *advice,
                                                   vitals_advice_part part, double *out)
    VITALS_NONNULL(1, 3);

/* Returns what the advice of a part rests on, or why there is none; "" if there is no such part.
 * Borrowed, safe to print. */
VITALS_API const char *vitals_advice_reason(const vitals_advice *advice, vitals_advice_part part)
    VITALS_NONNULL(1);

/* Returns 1 if the run did not end well and may have needed more, had it gone on; else 0. */
VITALS_API int vitals_advice_failed(const vitals_advice *advice) VITALS_NONNULL(1);

/* Returns the resource that a pod asks for, "nvidia.com/gpu"; NULL where the vendor is not known.
 */
VITALS_API const char *vitals_advice_gpu_resource(const vitals_advice *advice) VITALS_NONNULL(1);

/* Writes the advice in a form, through `write` (snapshot.h). Errors: EARGUMENT (no such form),
 * ESYSTEM (`write` stopped). */
VITALS_API VITALS_CHECKED int vitals_advice_write(const vitals_advice *advice,
                                                  vitals_advice_form form, vitals_write_fn *write,
                                                  void *data, vitals_error *error)
    VITALS_NONNULL(1, 3);

#ifdef __cplusplus
}
#endif

#endif
