/* idle_gpus.c: memory that is held without being used. See model.h. */
#include "monitor/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed/rows.h"
#include "feed/trouble.h"
#include "util/memory.h"
#include "util/search.h"
#include "view/cell_text.h"

enum { HOLDINGS_MOST = 1 << 16, DEVICES_MOST = 256 };
static const uint64_t GAP_NS = 30000000000u;

/* Drivers round so much to 0 %. */
static const double IDLE = 0.005;

static int by_key(const void *a, const void *b)
{
    const struct idle_row *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static struct idle_row *find(const struct idle_rows *holdings, uint64_t key)
{
    return search_find(holdings->items, holdings->count, sizeof *holdings->items,
                       (struct search_number){offsetof(struct idle_row, key), key});
}

/* Without memory it is forgotten, and nothing is claimed of it. */
static void add(struct idle_rows *holdings, uint64_t key)
{
    if (holdings->count == HOLDINGS_MOST ||
        MEMORY_GROW(holdings->items, holdings->capacity, holdings->count) < 0)
        return;
    holdings->items[holdings->count++] = (struct idle_row){.key = key};
}

/* Whether a device works, and which of its users are known. */
struct idle_device {
    uint64_t key;
    bool idle;  /* by its own account */
    bool named; /* its work is known by process, so a process without any is idle */
    bool kept;  /* some process has memory of it */
};

/* A process is idle only if a fresh number, which the truth does not exceed, is 0. */
static bool rests(const vitals_row *row, vitals_metric metric)
{
    double busy;
    vitals_availability quality = vitals_row_availability(row, metric);
    return quality != VITALS_STALE && quality != VITALS_LOWER_BOUND &&
           cell_value(row, metric, &busy) && busy < IDLE;
}

static struct idle_device *device_of(struct idle_device *devices, size_t count,
                                     const vitals_row *user)
{
    uint64_t key = vitals_row_parent(user);
    for (size_t i = 0; i < count; i++) {
        if (devices[i].key == key)
            return &devices[i];
    }
    return NULL;
}

/* True if a process has memory of a device. Programs that draw on a screen hold memory all the
 * time; they are not reported. */
static bool keeps(const vitals_row *user)
{
    static const vitals_metric USED = VITALS_GPU_PROCESS_MEMORY_USED_BYTES;
    double bytes;
    char type[WORDS];
    vitals_availability quality = vitals_row_availability(user, USED);
    return quality != VITALS_STALE && quality != VITALS_UPPER_BOUND &&
           strcmp(cell_text(user, VITALS_GPU_PROCESS_TYPE, true, type, sizeof type), "G") != 0 &&
           cell_value(user, USED, &bytes) && bytes > 0;
}

/* The rows of a reading that hold memory and do nothing: the devices, or else the processes. */
static void gather(const vitals_snapshot *snapshot, bool users, struct idle_rows *out)
{
    struct idle_device devices[DEVICES_MOST];
    size_t count = 0;
    double busy;
    for (const vitals_row *gpu = NULL;
         count < DEVICES_MOST && (gpu = row_next(snapshot, VITALS_TABLE_GPU, gpu)) != NULL;)
        devices[count++] = (struct idle_device){.key = vitals_row_key(gpu),
                                                .idle = rests(gpu, VITALS_GPU_UTILIZATION_RATIO)};
    EACH_ROW(user, snapshot, VITALS_TABLE_GPU_PROCESS) {
        struct idle_device *device = device_of(devices, count, user);
        if (device == NULL)
            continue;
        device->kept = device->kept || keeps(user);

        /* An older value that shows work is no proof of rest: it is taken for work. */
        vitals_metric share = VITALS_GPU_PROCESS_UTILIZATION_RATIO;
        device->named = device->named ||
                        (vitals_row_availability(user, share) != VITALS_UPPER_BOUND &&
                         cell_value(user, share, &busy) && busy >= IDLE);
    }
    for (size_t i = 0; !users && i < count; i++) {
        if (devices[i].idle && devices[i].kept)
            add(out, devices[i].key);
    }
    EACH_ROW(user, snapshot, VITALS_TABLE_GPU_PROCESS) {
        const struct idle_device *device = device_of(devices, count, user);
        if (users && device != NULL && keeps(user) &&
            (device->idle || (device->named && rests(user, VITALS_GPU_PROCESS_UTILIZATION_RATIO))))
            add(out, vitals_row_key(user));
    }
    if (out->count > 1)
        qsort(out->items, out->count, sizeof *out->items, by_key);
}

void idle_gpus_update(struct idle_gpus *idle, const vitals_snapshot *snapshot)
{
    uint64_t now_ns = vitals_snapshot_monotonic_ns(snapshot);
    uint64_t stream = vitals_snapshot_stream(snapshot);
    bool first = idle->newest_ns == 0 || now_ns < idle->newest_ns ||
                 now_ns - idle->newest_ns > GAP_NS || stream != idle->stream;
    if (first) {
        idle->devices.count = idle->users.count = 0;
        idle->oldest_ns = now_ns;
    }
    idle->newest_ns = now_ns;
    idle->stream = stream;

    /* The gathered rows replace the known ones, and keep the times at which those began. */
    for (int i = 0; i < 2; i++) {
        struct idle_rows *known = i == 0 ? &idle->devices : &idle->users, before = *known;
        gather(snapshot, i == 1, &idle->spare);
        *known = idle->spare;
        for (size_t j = 0; j < known->count; j++) {
            const struct idle_row *then = find(&before, known->items[j].key);
            known->items[j].since_ns = then != NULL ? then->since_ns : now_ns;
            known->items[j].open = then != NULL ? then->open : first;
        }
        before.count = 0;
        idle->spare = before;
    }
}

void idle_gpus_update_before(struct idle_gpus *idle, const vitals_snapshot *older)
{
    uint64_t then_ns = vitals_snapshot_monotonic_ns(older);
    if (!idle_gpus_goes_back(idle))
        return;
    bool follows = then_ns <= idle->oldest_ns && idle->oldest_ns - then_ns <= GAP_NS &&
                   vitals_snapshot_stream(older) == idle->stream;
    if (follows)
        idle->oldest_ns = then_ns;

    /* A row that is not in it began with the oldest reading that is known. */
    for (int i = 0; i < 2; i++) {
        struct idle_rows *known = i == 0 ? &idle->devices : &idle->users;
        if (follows)
            gather(older, i == 1, &idle->spare);
        for (size_t j = 0; j < known->count; j++) {
            struct idle_row *own = &known->items[j];
            own->open = own->open && find(&idle->spare, own->key) != NULL;
            if (own->open)
                own->since_ns = then_ns;
        }
        idle->spare.count = 0;
    }
}

bool idle_gpus_goes_back(const struct idle_gpus *idle)
{
    const struct idle_rows *const BOTH[] = {&idle->devices, &idle->users};
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < BOTH[i]->count; j++) {
            if (BOTH[i]->items[j].open)
                return true;
        }
    }
    return false;
}

void idle_gpus_done(struct idle_gpus *idle)
{
    memory_free(idle->devices.items);
    memory_free(idle->users.items);
    memory_free(idle->spare.items);
    *idle = (struct idle_gpus){0};
}

bool idle_rows_find(const struct idle_rows *rows, uint64_t key, uint64_t now_ns, double *seconds)
{
    const struct idle_row *row = find(rows, key);
    if (row == NULL || row->since_ns > now_ns)
        return false;
    *seconds = (double)(now_ns - row->since_ns) / 1e9;
    return true;
}

char *idle_words(double seconds, char out[static IDLE_WORDS])
{
    char span[SPAN_WORDS];
    (void)snprintf(out, IDLE_WORDS, "held %s", span_words(seconds, span));
    return out;
}
