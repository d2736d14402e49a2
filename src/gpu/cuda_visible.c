/* cuda_visible.c: the devices that a CUDA program sees. See vitals/gpu.h.
 *
 * The CUDA C++ Programming Guide ("CUDA Environment Variables") and the user guide of MIG say how
 * CUDA reads its two variables. Pure: cuda_library.c asks CUDA itself. */
#include "gpu/find.h"

#include "gpu/backend.h"
#include "util/base.h"
#include "util/error.h"
#include "util/number.h"

#include <stdlib.h>
#include <string.h>

/* ---- NVIDIA's devices, in CUDA's order ---- */

struct cuda_devices {
    const vitals_row *items[GPU_DEVICES_MAX]; /* without partitions */
    size_t count;
};

/* True for UUIDs in the form of NVIDIA's driver, and for a device whose UUID is unknown; CUDA does
 * not see a device of nouveau. */
static bool is_for_cuda(const vitals_row *row)
{
    vitals_text uuid;
    bool known = vitals_row_text(row, VITALS_GPU_UUID, &uuid) > 0;
    struct span text = {known ? uuid.bytes : "", known ? uuid.size : 0};
    return gpu_row_says(row, VITALS_GPU_VENDOR, "nvidia") &&
           (!known || span_starts(text, "GPU-") || span_starts(text, "MIG-") ||
            span_starts(text, "nvidia-"));
}

static int compare_rows(const void *first, const void *second)
{
    const vitals_row *const *a = first, *const *b = second;
    uint64_t x, y;
    if (!gpu_row_address(*a, &x))
        x = UINT64_MAX;
    if (!gpu_row_address(*b, &y))
        y = UINT64_MAX;
    if (x == y) { /* devices without an address: in the order of rows, which is NVML's */
        x = vitals_row_key(*a);
        y = vitals_row_key(*b);
    }
    return (x > y) - (x < y);
}

static void list_by_address(const vitals_snapshot *snapshot, struct cuda_devices *out)
{
    out->count = 0;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next_child(snapshot, VITALS_TABLE_GPU, 0, row)) != NULL;) {
        if (out->count < GPU_DEVICES_MAX && is_for_cuda(row))
            out->items[out->count++] = row;
    }
    qsort(out->items, out->count, sizeof(const vitals_row *), compare_rows);
}

/* Takes the next word of a comma list, without blanks around it; returns false after the last. "a,"
 * has two. */
static bool next_word(const char **list, struct span *word)
{
    if (*list == NULL)
        return false;
    const char *from = *list, *end = from + strcspn(from, ",");
    *list = *end == ',' ? end + 1 : NULL;
    while (from < end && (*from == ' ' || *from == '\t'))
        from++;
    while (end > from && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *word = (struct span){from, (size_t)(end - from)};
    return true;
}

static bool is_asked_of_cuda(const char *order)
{
    return order != NULL && (strncmp(order, "GPU-", 4) == 0 || strncmp(order, "MIG-", 4) == 0);
}

/* Puts the devices that CUDA listed (vitals_cuda_enumerate) first. CUDA's bytes do not say if they
 * are of a GPU or of a partition; a partition stands for its device. */
static void sort_as_enumerated(const vitals_snapshot *snapshot, const char *order,
                               struct cuda_devices *devices)
{
    static const struct gpu_match_rule RULE = {"nvidia", false};
    struct span word;
    size_t done = 0;
    while (next_word(&order, &word)) {
        char other[GPU_NAME] = "MIG";
        const vitals_row *row = NULL;
        if (word.size < 4 || word.size >= sizeof other)
            continue;
        memcpy(other + 3, word.bytes + 3, word.size - 3);
        if (gpu_match_uuid(snapshot, word, RULE, &row) != GPU_MATCH_ONE &&
            gpu_match_uuid(snapshot, (struct span){other, word.size}, RULE, &row) != GPU_MATCH_ONE)
            continue;
        if (vitals_row_parent(row) != 0)
            row = vitals_snapshot_find(snapshot, VITALS_TABLE_GPU, vitals_row_parent(row));
        for (size_t i = done; row && i < devices->count; i++) {
            if (devices->items[i] != row)
                continue;
            memmove(&devices->items[done + 1], &devices->items[done],
                    (i - done) * sizeof devices->items[0]);
            devices->items[done++] = row;
            break;
        }
    }
}

vitals_availability vitals_cuda_order(const vitals_snapshot *snapshot, const char *order)
{
    struct cuda_devices devices;
    vitals_text first, other;
    list_by_address(snapshot, &devices);
    if (devices.count == 0)
        return VITALS_UNSUPPORTED;
    if (is_asked_of_cuda(order) || (order != NULL && strcmp(order, "PCI_BUS_ID") == 0))
        return VITALS_HAVE;
    bool named = vitals_row_text(devices.items[0], VITALS_GPU_NAME, &first) > 0;
    for (size_t i = 1; i < devices.count; i++) { /* devices of one model have only this order */
        if (!named || vitals_row_text(devices.items[i], VITALS_GPU_NAME, &other) <= 0 ||
            other.size != first.size || memcmp(other.bytes, first.bytes, first.size) != 0)
            return VITALS_ESTIMATE;
    }
    return VITALS_HAVE;
}

/* ---- the variable's list ---- */

struct visible_reading {
    const vitals_snapshot *snapshot;
    struct cuda_devices devices;
    const vitals_row *rows[GPU_DEVICES_MAX];
    size_t count;
    const char *why; /* why the list ended here, for a person; NULL: it did not */
    struct span bad; /* the word where it ended */
    bool twice;
};

static const vitals_row *first_partition(const vitals_snapshot *snapshot, const vitals_row *device)
{
    return vitals_snapshot_next_child(snapshot, VITALS_TABLE_GPU, vitals_row_key(device), NULL);
}

static bool stop(struct visible_reading *reading, struct span word, const char *why)
{
    reading->bad = word;
    reading->why = why;
    return false;
}

/* Takes a device, or the first partition of a divided one. Returns false if the list ends before
 * it. */
static bool take_row(struct visible_reading *reading, struct span word, const vitals_row *row)
{
    const vitals_row *part = first_partition(reading->snapshot, row);
    bool is_part = part || vitals_row_parent(row) != 0;
    if (part)
        row = part;
    for (size_t i = 0; i < reading->count; i++) {
        if (reading->rows[i] == row) {
            reading->twice = true;
            return stop(reading, word, "a device is named twice, so CUDA sees none");
        }
    }
    if (reading->count > 0 && (is_part || vitals_row_parent(reading->rows[0]) != 0))
        return stop(reading, word, "CUDA sees one MIG device only");
    if (reading->count == GPU_DEVICES_MAX)
        return stop(reading, word, "too many devices");
    reading->rows[reading->count++] = row;
    return true;
}

/* Like strtol: digits after blanks and a sign, whatever follows. */
static bool parse_ordinal(struct span word, uint64_t *out)
{
    const char *at = word.bytes, *end = word.bytes + word.size;
    if (at < end && *at == '+')
        at++;
    return number_u64(&at, end, out);
}

static bool starts(struct span word, const char *prefix)
{
    return span_starts(word, prefix) && word.size > strlen(prefix);
}

static bool take_uuid(struct visible_reading *reading, struct span word, const char *prefix)
{
    struct gpu_match_rule rule = {"nvidia", true};
    const vitals_row *row = NULL;
    if (!starts(word, prefix))
        return stop(reading, word, "every word must be a UUID of the same kind as the first");
    enum gpu_match match = gpu_match_uuid(reading->snapshot, word, rule, &row);
    if (match == GPU_MATCH_NONE)
        match = gpu_match_instance(reading->snapshot, word, true, &row);
    if (match == GPU_MATCH_NONE) {
        rule.vendor = NULL; /* any vendor, to explain why there is none */
        match = gpu_match_uuid(reading->snapshot, word, rule, &row);
    }
    if (match == GPU_MATCH_SEVERAL)
        return stop(reading, word, "several UUIDs begin with it");
    if (match == GPU_MATCH_NONE || !row)
        return stop(reading, word, "no device has that UUID");
    if (!is_for_cuda(row))
        return stop(reading, word, "CUDA cannot use that device");
    return take_row(reading, word, row);
}

static void read_words(struct visible_reading *reading, const char *visible)
{
    static const char *const NONE[] = {"", "-1", "none", "void", "NoDevFiles"};
    const char *list = visible, *prefix = NULL;
    struct span word;
    uint64_t ordinal;
    bool going = true;
    for (size_t i = 0; i < ARRAY_COUNT(NONE); i++) {
        if (strcmp(visible, NONE[i]) == 0)
            return;
    }
    (void)next_word(&list, &word);
    bool numbers = parse_ordinal(word, &ordinal);
    if (!numbers)
        prefix = starts(word, "GPU-") ? "GPU-" : starts(word, "MIG-") ? "MIG-" : NULL;
    if (!numbers && !prefix) {
        (void)stop(reading, word, "it is neither a number nor a UUID");
        return;
    }
    for (list = visible; going && next_word(&list, &word);) {
        if (!numbers)
            going = take_uuid(reading, word, prefix);
        else if (!parse_ordinal(word, &ordinal))
            going = stop(reading, word, "every word must be a number, as the first");
        else if (ordinal >= reading->devices.count)
            going = stop(reading, word, "there is no device with that number");
        else
            going = take_row(reading, word, reading->devices.items[ordinal]);
    }
    if (reading->twice)
        reading->count = 0;
}

static void read_visible(const vitals_snapshot *snapshot, const char *visible, const char *order,
                         struct visible_reading *out)
{
    out->snapshot = snapshot;
    out->count = 0;
    out->why = NULL;
    out->bad = (struct span){"", 0};
    out->twice = false;
    list_by_address(snapshot, &out->devices);
    if (is_asked_of_cuda(order))
        sort_as_enumerated(snapshot, order, &out->devices);
    if (visible) {
        read_words(out, visible);
        return;
    }

    /* Without the variable: whole devices, or the first partition of the first if there are none.
     */
    const vitals_row *only = NULL;
    for (size_t i = 0; i < out->devices.count; i++) {
        const vitals_row *row = out->devices.items[i];
        const vitals_row *part = first_partition(snapshot, row);
        if (!part)
            out->rows[out->count++] = row;
        else if (!only)
            only = part;
    }
    if (out->count == 0 && only)
        out->rows[out->count++] = only;
}

size_t vitals_cuda_visible_devices(const vitals_snapshot *snapshot, const char *visible,
                                   const char *order, const vitals_row **rows, size_t capacity)
{
    struct visible_reading reading;
    read_visible(snapshot, visible, order, &reading);
    for (size_t i = 0; rows && i < reading.count && i < capacity; i++)
        rows[i] = reading.rows[i];
    return reading.count;
}

int vitals_cuda_visible_check(const vitals_snapshot *snapshot, const char *visible,
                              const char *order, vitals_error *error)
{
    struct visible_reading reading;
    read_visible(snapshot, visible, order, &reading);
    if (!reading.why)
        return 0;
    return error_set(error, VITALS_EFORMAT, 0, "CUDA_VISIBLE_DEVICES ends before \"%.*s\": %s",
                     (int)size_min(reading.bad.size, 64), reading.bad.bytes, reading.why);
}
