/* select.c: chooses devices for a job. See vitals/select.h. */
#include "gpu/backend.h"
#include "gpu/find.h"
#include "util/base.h"
#include "util/error.h"
#include "util/number.h"
#include "util/options.h"
#include <vitals/select.h>

#include <stdlib.h>
#include <string.h>

static const vitals_gpu_select_options DEFAULTS = {
    .min_count = 1, .max_utilization_ratio = -1, .max_memory_busy_ratio = -1};

OPTIONS_FORM(FORM, vitals_gpu_select_options, DEFAULTS, keep_order, 108);

void vitals_gpu_select_options_init(vitals_gpu_select_options *options, size_t size)
{
    options_init(&FORM, options, size);
}

/* ---- values of a candidate ---- */

/* A number of a device, and whether it is known. */
struct known_gpu {
    bool is;
    double number;
};

struct candidate {
    const vitals_row *row;
    struct known_gpu free, total, used, busy, memory_busy;
    unsigned tolerated; /* limits that hold only within the tolerance */
    uint64_t index;
    size_t place;
    vitals_text vendor;
    bool is_mig;
};

struct select_selection {
    const vitals_snapshot *snapshot;
    const vitals_gpu_select_options *options;
    struct candidate items[GPU_DEVICES_MAX];
    size_t count;
};

/* Reads a number; a value from before the driver stopped answering counts as unknown. */
static struct known_gpu read_number(const vitals_row *row, vitals_metric metric)
{
    struct known_gpu known = {.is = false};
    vitals_availability state = vitals_row_number(row, metric, &known.number);
    known.is = state > 0 && state != VITALS_STALE;
    return known;
}

/* Tiles and virtual functions are not assigned to jobs: their device is. */
static bool is_for_jobs(const vitals_row *part)
{
    return !gpu_row_says(part, VITALS_GPU_PARTITION_KIND, "tile") &&
           !gpu_row_says(part, VITALS_GPU_PARTITION_KIND, "vf");
}

static bool is_divided(const vitals_snapshot *snapshot, const vitals_row *row)
{
    for (const vitals_row *part = NULL;
         (part =
              vitals_snapshot_next_child(snapshot, VITALS_TABLE_GPU, vitals_row_key(row), part));) {
        if (is_for_jobs(part))
            return true;
    }
    return false;
}

/* True if nothing is reported. An idle device that sleeps reports nothing, and values that need two
 * readings come with the next one; any other device that reports nothing would be chosen
 * blindly. */
static bool tells_nothing(const struct candidate *candidate)
{
    static const vitals_metric TOLD[] = {
        VITALS_GPU_MEMORY_FREE_BYTES, VITALS_GPU_MEMORY_TOTAL_BYTES, VITALS_GPU_MEMORY_USED_BYTES,
        VITALS_GPU_UTILIZATION_RATIO, VITALS_GPU_MEMORY_BUSY_RATIO,  VITALS_GPU_BUSY_SECONDS};
    for (size_t i = 0; i < ARRAY_COUNT(TOLD); i++) {
        vitals_availability state = vitals_row_availability(candidate->row, TOLD[i]);
        if (state > 0 || state == VITALS_NOT_YET || state == VITALS_SUSPENDED)
            return false;
    }
    return true;
}

/* ---- accounts that count as free ---- */

static bool is_free_account(const vitals_gpu_select_options *options, const vitals_row *process)
{
    for (size_t i = 0; process && i < options->free_account_count; i++) {
        const char *account = options->free_accounts[i];
        uint64_t number, uid;
        if (gpu_row_says(process, VITALS_PROCESS_EFFECTIVE_USER, account) ||
            gpu_row_says(process, VITALS_PROCESS_USER, account) ||
            (number_is_u64(account, &number) &&
             vitals_row_u64(process, VITALS_PROCESS_UID, &uid) > 0 && uid == number))
            return true;
    }
    return false;
}

static double memory_of_free(const struct select_selection *selection, const vitals_row *device)
{
    double sum = 0, bytes;
    uint64_t key;
    if (selection->options->free_account_count == 0)
        return 0;
    for (const vitals_row *user = NULL;
         (user = vitals_snapshot_next_child(selection->snapshot, VITALS_TABLE_GPU_PROCESS,
                                            vitals_row_key(device), user)) != NULL;) {
        if (vitals_row_number(user, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, &bytes) > 0 &&
            vitals_row_u64(user, VITALS_GPU_PROCESS_PROCESS, &key) > 0 &&
            is_free_account(selection->options,
                            vitals_snapshot_find(selection->snapshot, VITALS_TABLE_PROCESS, key)))
            sum += bytes;
    }
    return sum;
}

/* ---- limits ---- */

/* True if a number meets a limit; one that meets it only within the tolerance is counted. */
static bool passes(struct candidate *candidate, struct known_gpu known, bool strictly, bool nearly)
{
    if (!known.is)
        return false;
    if (!strictly && nearly)
        candidate->tolerated++;
    return strictly || nearly;
}

static bool has_memory(struct candidate *candidate, struct known_gpu known, uint64_t least,
                       double tolerance)
{
    return least == 0 || passes(candidate, known, known.number >= (double)least,
                                known.number >= (double)least * (1 - tolerance));
}

static bool is_idle(struct candidate *candidate, struct known_gpu known, double most,
                    double tolerance)
{
    const double ROUNDING = 1e-9; /* so that 0.1 + 0.2 meets 0.3 */
    return most < 0 || passes(candidate, known, known.number <= most + ROUNDING,
                              known.number <= most + tolerance + ROUNDING);
}

static void offer(struct select_selection *selection, const vitals_row *row)
{
    const vitals_gpu_select_options *options = selection->options;
    struct candidate *candidate = &selection->items[selection->count];
    bool is_part = vitals_row_parent(row) != 0;
    vitals_availability state = vitals_row_availability(row, VITALS_GPU_MEMORY_USED_BYTES);
    if (state == VITALS_GONE || state == VITALS_TIMED_OUT || state == VITALS_STALE)
        return; /* the device is lost, or its driver does not answer */
    if (selection->count == GPU_DEVICES_MAX || (is_part && !is_for_jobs(row)) ||
        (!is_part && is_divided(selection->snapshot, row)))
        return;
    for (size_t i = 0; i < selection->count; i++) {
        if (selection->items[i].row == row)
            return;
    }

    double freed = memory_of_free(selection, row);
    *candidate = (struct candidate){
        .row = row,
        .free = read_number(row, VITALS_GPU_MEMORY_FREE_BYTES),
        .total = read_number(row, VITALS_GPU_MEMORY_TOTAL_BYTES),
        .used = read_number(row, VITALS_GPU_MEMORY_USED_BYTES),
        .busy = read_number(row, VITALS_GPU_UTILIZATION_RATIO),
        .memory_busy = read_number(row, VITALS_GPU_MEMORY_BUSY_RATIO),
        .place = selection->count,
    };
    if (!candidate->busy.is && options->older)
        candidate->busy.is = vitals_row_rate(row, options->older, VITALS_GPU_BUSY_SECONDS,
                                             &candidate->busy.number) > 0;
    candidate->free.number += freed;
    if (candidate->total.is && candidate->free.number > candidate->total.number)
        candidate->free.number = candidate->total.number; // processes share memory
    candidate->used.number -= freed < candidate->used.number ? freed : candidate->used.number;
    if (vitals_row_u64(row, VITALS_GPU_INDEX, &candidate->index) <= 0)
        candidate->index = 0;
    if (vitals_row_text(row, VITALS_GPU_VENDOR, &candidate->vendor) <= 0)
        candidate->vendor = (vitals_text){"", 0};
    candidate->is_mig = is_part && gpu_row_says(row, VITALS_GPU_VENDOR, "nvidia");

    double tolerance = options->tolerance_ratio;
    if (!tells_nothing(candidate) &&
        has_memory(candidate, candidate->free, options->min_free_bytes, tolerance) &&
        has_memory(candidate, candidate->total, options->min_total_bytes, tolerance) &&
        is_idle(candidate, candidate->busy, options->max_utilization_ratio, tolerance) &&
        is_idle(candidate, candidate->memory_busy, options->max_memory_busy_ratio, tolerance))
        selection->count++;
}

/* ---- order: the best first ---- */

/* A missing value counts as the worst. */
static int more_first(struct known_gpu a, struct known_gpu b)
{
    if (!a.is || !b.is)
        return (int)b.is - (int)a.is;
    return (a.number < b.number) - (a.number > b.number);
}

static int less_first(struct known_gpu a, struct known_gpu b)
{
    return a.is && b.is ? more_first(b, a) : more_first(a, b);
}

static int compare(const void *first, const void *second)
{
    const struct candidate *a = first, *b = second;
    int order = (a->tolerated > b->tolerated) - (a->tolerated < b->tolerated);
    if (order == 0)
        order = more_first(a->free, b->free);
    if (order == 0)
        order = more_first(a->used, b->used);
    if (order == 0)
        order = less_first(a->busy, b->busy);
    if (order == 0)
        order = less_first(a->memory_busy, b->memory_busy);
    if (order == 0)
        order = (a->index < b->index) - (a->index > b->index);
    return order != 0 ? order : (a->place < b->place) - (a->place > b->place);
}

/* ---- devices that can be combined ---- */

static bool same_vendor(const struct candidate *a, const struct candidate *b)
{
    return a->vendor.size == b->vendor.size &&
           memcmp(a->vendor.bytes, b->vendor.bytes, a->vendor.size) == 0;
}

static void remove_at(struct select_selection *selection, size_t at)
{
    selection->count--;
    memmove(&selection->items[at], &selection->items[at + 1],
            (selection->count - at) * sizeof selection->items[0]);
}

static int take_options(const vitals_gpu_select_options *given, vitals_gpu_select_options *out,
                        vitals_error *error)
{
    int code = options_take(&FORM, given, out, error);
    if (code < 0)
        return code;
    if (out->max_count != 0 && out->max_count < out->min_count)
        return error_set(error, VITALS_EARGUMENT, 0, "at most %llu devices and at least %llu",
                         (unsigned long long)out->max_count, (unsigned long long)out->min_count);
    if (!(out->tolerance_ratio >= 0 && out->tolerance_ratio <= 1))
        return error_set(error, VITALS_EARGUMENT, 0, "tolerance: give a number from 0 to 1");
    if (!(out->max_utilization_ratio <= 1) || !(out->max_memory_busy_ratio <= 1))
        return error_set(error, VITALS_EARGUMENT, 0, "max_utilization: give a number of at most 1");
    return 0;
}

/* If several devices may be chosen, keeps at most one MIG device, and none beside a whole NVIDIA
 * device. Then keeps the devices of one vendor: that of the best device with enough others. */
static void leave_together(struct select_selection *selection)
{
    bool several = selection->options->max_count != 1, none = false;
    for (size_t i = 0; i < selection->count; i++)
        none |= !selection->items[i].is_mig &&
                gpu_row_says(selection->items[i].row, VITALS_GPU_VENDOR, "nvidia");
    none = none && several;
    for (size_t i = 0; i < selection->count;) {
        if (selection->items[i].is_mig && none) {
            remove_at(selection, i);
        } else {
            none |= selection->items[i].is_mig && several;
            i++;
        }
    }
    if (selection->count == 0)
        return;

    size_t best = 0, same = 0;
    for (size_t i = 0; i < selection->count && same < selection->options->min_count; i++) {
        same = 0;
        for (size_t j = 0; j < selection->count; j++)
            same += same_vendor(&selection->items[i], &selection->items[j]);
        if (same >= selection->options->min_count)
            best = i;
    }
    struct candidate chosen = selection->items[best];
    for (size_t i = 0; i < selection->count;) {
        if (same_vendor(&chosen, &selection->items[i]))
            i++;
        else
            remove_at(selection, i);
    }
}

int vitals_gpu_select(const vitals_snapshot *snapshot, const vitals_gpu_select_options *options,
                      const vitals_row **rows, size_t capacity, vitals_error *error)
{
    vitals_gpu_select_options taken;
    struct select_selection selection;
    int code = take_options(options, &taken, error);
    if (code < 0)
        return code;
    selection.snapshot = snapshot;
    selection.options = &taken;
    selection.count = 0;
    for (size_t i = 0; taken.candidates && i < taken.candidate_count; i++)
        offer(&selection, taken.candidates[i]);
    for (const vitals_row *row = NULL;
         !taken.candidates &&
         (row = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, row)) != NULL;)
        offer(&selection, row);
    if (!taken.keep_order)
        qsort(selection.items, selection.count, sizeof selection.items[0], compare);
    leave_together(&selection);
    if (taken.max_count != 0 && selection.count > taken.max_count)
        selection.count = (size_t)taken.max_count;
    for (size_t i = 0; rows && i < selection.count && i < capacity; i++)
        rows[i] = selection.items[i].row;
    return (int)selection.count;
}

int vitals_gpu_select_request(const vitals_gpu_select_options *options, vitals_request *request,
                              vitals_error *error)
{
    static const vitals_metric ALWAYS[] = {VITALS_GPU_INDEX,
                                           VITALS_GPU_VENDOR,
                                           VITALS_GPU_NAME,
                                           VITALS_GPU_UUID,
                                           VITALS_GPU_PCI_BUS_ID,
                                           VITALS_GPU_GPU_INSTANCE_ID,
                                           VITALS_GPU_PARTITION_KIND,
                                           VITALS_GPU_COMPUTE_INSTANCE_ID,
                                           VITALS_GPU_MEMORY_TOTAL_BYTES,
                                           VITALS_GPU_MEMORY_USED_BYTES,
                                           VITALS_GPU_MEMORY_FREE_BYTES,
                                           VITALS_GPU_UTILIZATION_RATIO,
                                           VITALS_GPU_MEMORY_BUSY_RATIO,
                                           VITALS_GPU_BUSY_SECONDS};
    static const vitals_metric ACCOUNTS[] = {
        VITALS_GPU_PROCESS_PID, VITALS_GPU_PROCESS_PROCESS,    VITALS_GPU_PROCESS_MEMORY_USED_BYTES,
        VITALS_PROCESS_PID,     VITALS_PROCESS_EFFECTIVE_USER, VITALS_PROCESS_USER,
        VITALS_PROCESS_UID};
    vitals_gpu_select_options taken;
    int code = take_options(options, &taken, error);
    for (size_t i = 0; i < ARRAY_COUNT(ALWAYS) && code == 0; i++)
        code = vitals_request_add(request, ALWAYS[i], error);
    if (taken.free_account_count == 0 || code < 0)
        return code;
    for (size_t i = 0; i < ARRAY_COUNT(ACCOUNTS) && code == 0; i++)
        code = vitals_request_add(request, ACCOUNTS[i], error);
    return code == 0 ? vitals_request_set_rows(request, VITALS_ROWS_GPU_USERS, NULL, 0, error)
                     : code;
}
