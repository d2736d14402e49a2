/* select.h: which devices a job should take.
 *
 * Pure functions over a snapshot, which any thread may call: a device is free if it was free when
 * the snapshot was read. To wait for devices and to reserve them, use the command (vitals select).
 */
#ifndef VITALS_SELECT_H
#define VITALS_SELECT_H

#include <stddef.h>
#include <stdint.h>

#include <vitals/error.h>
#include <vitals/request.h>
#include <vitals/snapshot.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows at its end only, by the rule of vitals_options. What a limit asks for must be known: a
 * device whose value is missing is not taken. */
typedef struct vitals_gpu_select_options {
    size_t size;                  /* sizeof(vitals_gpu_select_options), set by init */
    uint64_t min_count;           /* how many are needed, 1; see below what it decides */
    uint64_t max_count;           /* how many are taken; 0: all that are good */
    uint64_t min_free_bytes;      /* memory that must be free; 0: no matter */
    uint64_t min_total_bytes;     /* memory that there must be; 0: no matter */
    double max_utilization_ratio; /* negative, as at first: no matter; 0: idle ones only */
    double max_memory_busy_ratio; /* of memory bandwidth, likewise */
    double tolerance_ratio;       /* 0 to 1, 0: what fails a limit by no more than this share of it
                                   * (of memory) or by this much (of a ratio) is taken after those
                                   * that meet it */
    const char *const *free_accounts;    /* names or numbers of users whose memory counts as free */
    size_t free_account_count;           /* 0: of no user */
    const vitals_row *const *candidates; /* among these; NULL: among all */
    size_t candidate_count;
    const vitals_snapshot *older; /* of the same stream: where a driver gives no utilization,
                                   * it is what the device was busy since; NULL: then it is
                                   * missing */
    int keep_order;               /* not 0: as the candidates stand, not the best first */
} vitals_gpu_select_options;

/* Fills in the defaults. `size` is sizeof(vitals_gpu_select_options) as the caller was compiled;
 * not a byte beyond it is written. */
VITALS_API void vitals_gpu_select_options_init(vitals_gpu_select_options *options, size_t size)
    VITALS_NONNULL(1);

/* Chooses the devices for a job: writes at most `capacity` rows, the best first, and returns how
 * many were chosen: fewer than min_count too, which is for the caller to see. `options` may be NULL
 * (all defaults); rows belong to the snapshot.
 *
 * A device that is divided into MIG instances or XCPs stands for these. One that is lost, does not
 * answer, or tells neither memory nor load is never taken; of one that sleeps nothing is known, so
 * that it is taken where no limit asks for more. Best is: fewest limits that hold by tolerance
 * only, most free memory, most used memory, least utilization, least use of memory bandwidth, the
 * highest number; what is missing counts as worst.
 *
 * All devices chosen are of one vendor: the best one's, unless it has fewer than min_count and
 * another vendor has enough. Of MIG devices a program can use one: where whole devices of NVIDIA's
 * are chosen MIG devices are left out, unless one device alone is to be taken and a MIG device is
 * the best; and else one MIG device is chosen.
 *
 * Where accounts count as free, the snapshot needs the columns process and memory_used_bytes of
 * gpu_process, and user, effective_user or uid of process; the memory of a process whose user is
 * not known is not free. Utilization is that of all processes in any case: a driver does not divide
 * it. Errors: EARGUMENT (options of a newer vitals, max_count below min_count, a ratio that is
 * none). */
VITALS_API VITALS_CHECKED int vitals_gpu_select(const vitals_snapshot *snapshot,
                                                const vitals_gpu_select_options *options,
                                                const vitals_row **rows, size_t capacity,
                                                vitals_error *error) VITALS_NONNULL(1);

/* Adds what vitals_gpu_select reads to a request. `options` are those of the later
 * vitals_gpu_select, or NULL (all defaults). Errors: EARGUMENT, EMEMORY. */
VITALS_API VITALS_CHECKED int vitals_gpu_select_request(const vitals_gpu_select_options *options,
                                                        vitals_request *request,
                                                        vitals_error *error) VITALS_NONNULL(2);

#ifdef __cplusplus
}
#endif

#endif
