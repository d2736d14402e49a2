/* idle_gpus.c: see idle_gpus.h. */
#include "monitor/list/idle_gpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed/trouble.h"
#include "view/cell_text.h"

enum { HOLDINGS_MOST = 1 << 16, DEVICES_MOST = 256 };
static const uint64_t GAP_NS = 30000000000u;

/* Drivers round so much to 0 %. */
static const double IDLE = 0.005;

/* ---- holdings ---- */

static int by_key(const void *a, const void *b)
{
    const struct idle_row *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static struct idle_row *find(const struct idle_rows *holdings, uint64_t key)
{
    struct idle_row one = {.key = key};
    return holdings->count > 0 ? bsearch(&one, holdings->items, holdings->count, sizeof one, by_key)
                               : NULL;
}

/* Without memory it is forgotten, and nothing is claimed of it. */
static void add(struct idle_rows *holdings, uint64_t key)
{
    if (holdings->count == holdings->capacity) {
        size_t capacity = holdings->capacity > 0 ? holdings->capacity * 2 : 16;
        struct idle_row *items = capacity <= HOLDINGS_MOST
                                     ? realloc(holdings->items, capacity * sizeof *items)
                                     : NULL;
        if (items == NULL)
            return;
        holdings->items = items;
        holdings->capacity = capacity;
    }
    holdings->items[holdings->count++] = (struct idle_row){.key = key};
}

static void sort(struct idle_rows *gathered)
{
    if (gathered->count > 1)
        qsort(gathered->items, gathered->count, sizeof *gathered->items, by_key);
}

/* Puts what was gathered in the place of what was known, and since when that was so. */
static void go_on(struct idle_rows *known, struct idle_rows *gathered, uint64_t now_ns, bool first)
{
    struct idle_rows before = *known;
    for (size_t i = 0; i < gathered->count; i++) {
        struct idle_row *own = &gathered->items[i];
        const struct idle_row *then = find(&before, own->key);
        own->since_ns = then != NULL ? then->since_ns : now_ns;
        own->open = then != NULL ? then->open : first;
    }
    *known = *gathered;
    *gathered = before;
    gathered->count = 0;
}

/* Takes in the reading before the oldest one: a row that is not in it began with the oldest one. */
static void go_back(struct idle_rows *known, struct idle_rows *gathered, uint64_t then_ns)
{
    for (size_t i = 0; i < known->count; i++) {
        struct idle_row *own = &known->items[i];
        own->open = own->open && find(gathered, own->key) != NULL;
        if (own->open)
            own->since_ns = then_ns;
    }
    gathered->count = 0;
}

static void close_all(struct idle_rows *known)
{
    for (size_t i = 0; i < known->count; i++)
        known->items[i].open = false;
}

/* ---- a reading ---- */

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

/* An older one that shows work is no proof of rest, and work is what it is taken for. */
static bool works(const vitals_row *row, vitals_metric metric)
{
    double busy;
    return vitals_row_availability(row, metric) != VITALS_UPPER_BOUND &&
           cell_value(row, metric, &busy) && busy >= IDLE;
}

static size_t read_devices(const vitals_snapshot *snapshot, struct idle_device *devices)
{
    size_t count = 0;
    for (const vitals_row *gpu = NULL;
         count < DEVICES_MOST && (gpu = vitals_snapshot_next(snapshot, VITALS_GPU, gpu)) != NULL;) {
        devices[count++] = (struct idle_device){.key = vitals_row_key(gpu),
                                                .idle = rests(gpu, VITALS_GPU_UTILIZATION_RATIO)};
    }
    return count;
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

/* Programs that draw on a screen hold memory all the time; they are not reported. */
static bool computes(const vitals_row *user)
{
    char type[WORDS];
    (void)cell_text(user, VITALS_GPU_PROCESS_TYPE, true, type, sizeof type);
    return strcmp(type, "G") != 0;
}

static bool keeps(const vitals_row *user)
{
    double bytes;
    vitals_availability quality = vitals_row_availability(user,
                                                          VITALS_GPU_PROCESS_MEMORY_USED_BYTES);
    return quality != VITALS_STALE && quality != VITALS_UPPER_BOUND && computes(user) &&
           cell_value(user, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, &bytes) && bytes > 0;
}

static bool is_idle(const vitals_row *user, const struct idle_device *device)
{
    return device->idle || (device->named && rests(user, VITALS_GPU_PROCESS_UTILIZATION_RATIO));
}

static void look_at_users(const vitals_snapshot *snapshot, struct idle_device *devices,
                          size_t count)
{
    for (const vitals_row *user = NULL;
         (user = vitals_snapshot_next(snapshot, VITALS_GPU_PROCESS, user)) != NULL;) {
        struct idle_device *device = device_of(devices, count, user);
        if (device == NULL)
            continue;
        device->kept = device->kept || keeps(user);
        device->named = device->named || works(user, VITALS_GPU_PROCESS_UTILIZATION_RATIO);
    }
}

static void gather_devices(const struct idle_device *devices, size_t count, struct idle_rows *out)
{
    for (size_t i = 0; i < count; i++) {
        if (devices[i].idle && devices[i].kept)
            add(out, devices[i].key);
    }
    sort(out);
}

static void gather_users(const vitals_snapshot *snapshot, struct idle_device *devices, size_t count,
                         struct idle_rows *out)
{
    for (const vitals_row *user = NULL;
         (user = vitals_snapshot_next(snapshot, VITALS_GPU_PROCESS, user)) != NULL;) {
        const struct idle_device *device = device_of(devices, count, user);
        if (device != NULL && keeps(user) && is_idle(user, device))
            add(out, vitals_row_key(user));
    }
    sort(out);
}

void idle_gpus_update(struct idle_gpus *idle, const vitals_snapshot *snapshot)
{
    struct idle_device devices[DEVICES_MOST];
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
    size_t count = read_devices(snapshot, devices);
    look_at_users(snapshot, devices, count);
    gather_devices(devices, count, &idle->spare);
    go_on(&idle->devices, &idle->spare, now_ns, first);
    gather_users(snapshot, devices, count, &idle->spare);
    go_on(&idle->users, &idle->spare, now_ns, first);
}

void idle_gpus_update_before(struct idle_gpus *idle, const vitals_snapshot *older)
{
    struct idle_device devices[DEVICES_MOST];
    uint64_t then_ns = vitals_snapshot_monotonic_ns(older);
    if (!idle_gpus_goes_back(idle))
        return;
    if (then_ns > idle->oldest_ns || idle->oldest_ns - then_ns > GAP_NS ||
        vitals_snapshot_stream(older) != idle->stream) {
        close_all(&idle->devices);
        close_all(&idle->users);
        return;
    }
    idle->oldest_ns = then_ns;
    size_t count = read_devices(older, devices);
    look_at_users(older, devices, count);
    gather_devices(devices, count, &idle->spare);
    go_back(&idle->devices, &idle->spare, then_ns);
    gather_users(older, devices, count, &idle->spare);
    go_back(&idle->users, &idle->spare, then_ns);
}

static bool any_open(const struct idle_rows *known)
{
    for (size_t i = 0; i < known->count; i++) {
        if (known->items[i].open)
            return true;
    }
    return false;
}

bool idle_gpus_goes_back(const struct idle_gpus *idle)
{
    return any_open(&idle->devices) || any_open(&idle->users);
}

void idle_gpus_done(struct idle_gpus *idle)
{
    free(idle->devices.items);
    free(idle->users.items);
    free(idle->spare.items);
    *idle = (struct idle_gpus){0};
}

/* ---- for how long ---- */

static bool held_for(const struct idle_rows *holdings, uint64_t key, uint64_t now_ns,
                     double *seconds)
{
    const struct idle_row *row = find(holdings, key);
    if (row == NULL || row->since_ns > now_ns)
        return false;
    *seconds = (double)(now_ns - row->since_ns) / 1e9;
    return true;
}

bool idle_gpus_device(const struct idle_gpus *idle, uint64_t key, uint64_t now_ns, double *seconds)
{
    return held_for(&idle->devices, key, now_ns, seconds);
}

bool idle_gpus_user(const struct idle_gpus *idle, uint64_t key, uint64_t now_ns, double *seconds)
{
    return held_for(&idle->users, key, now_ns, seconds);
}

char *idle_words(double seconds, char out[static IDLE_WORDS])
{
    char span[SPAN_WORDS];
    (void)snprintf(out, IDLE_WORDS, "held %s", span_words(seconds, span));
    return out;
}
