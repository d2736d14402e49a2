/* devices.c: see devices.h. */
#include "host/devices.h"

#include "util/error.h"
#include "util/memory.h"

#include <string.h>

static const uint64_t WRAP = UINT64_C(1) << 32;

uint64_t counter_take(struct counter *counter, uint64_t reading, bool wraps)
{
    if (reading < counter->last)
        counter->before = saturating_add(counter->before, wraps ? WRAP : counter->last);
    counter->last = reading;
    return saturating_add(counter->before, reading);
}

/* Whether a count that fell may have passed the end of its bits: from the upper half, and on by
 * less than a half. */
static bool may_wrap(unsigned bits, uint64_t last, uint64_t reading)
{
    return bits == 32 && last < WRAP && reading + (WRAP - last) < WRAP / 2;
}

/* Whether a device began again: a count fell that cannot have wrapped. */
static bool began_again(const struct device *device, const struct os_device *reading,
                        const struct devices_kind *kind)
{
    for (unsigned i = 0; i < OS_DEVICE_NUMBERS; i++) {
        uint64_t last = device->counters[i].last, now = reading->numbers[i];
        if ((reading->has >> i & 1) != 0 && kind->bits[i] != DEVICE_GAUGE && now < last &&
            !may_wrap(kind->bits[i], last, now))
            return true;
    }
    return false;
}

static uint64_t counted_so_far(const struct counter *counter)
{
    return saturating_add(counter->before, counter->last);
}

bool device_number(const struct device *device, unsigned number, uint64_t *out)
{
    if ((device->has >> number & 1) == 0)
        return false;
    *out = counted_so_far(&device->counters[number]);
    return true;
}

struct value devices_sum(const struct devices *devices, unsigned number, uint64_t scale)
{
    if (devices->state <= 0)
        return value_missing((vitals_availability)devices->state);
    struct value value = value_u64(saturating_mul(devices->sums[number], scale));
    value.state = devices->state;
    return value;
}

/* Puts the known device of the name at the place; false where there is none at or behind it. */
static bool bring(struct devices *devices, size_t place, size_t known, const char *name)
{
    for (size_t i = place; i < known; i++) {
        if (strcmp(devices->items[i].name, name) != 0)
            continue;
        if (i != place) {
            struct device other = devices->items[place];
            devices->items[place] = devices->items[i];
            devices->items[i] = other;
        }
        return true;
    }
    return false;
}

/* Makes room at the place for a new one; what stood there goes to the end. */
static struct device *insert(struct devices *devices, size_t place, size_t *known)
{
    void *items = devices->items;
    if (memory_grow(&items, &devices->capacity, *known, sizeof *devices->items) != 0)
        return NULL;
    devices->items = items;
    devices->items[*known] = devices->items[place];
    (*known)++;
    struct device *device = &devices->items[place];
    *device = (struct device){.key = ++devices->keys};
    return device;
}

/* Adds what a device that is counted did since the last reading. */
static void take_numbers(struct devices *devices, struct device *device,
                         const struct os_device *reading, const struct devices_kind *kind)
{
    bool whole = !devices->begun, wraps = !began_again(device, reading, kind);
    device->has = reading->has;
    for (unsigned i = 0; i < OS_DEVICE_NUMBERS; i++) {
        if ((reading->has >> i & 1) == 0)
            continue;
        if (kind->bits[i] == DEVICE_GAUGE) {
            device->counters[i].last = reading->numbers[i];
            continue;
        }
        uint64_t before = whole ? 0 : counted_so_far(&device->counters[i]);
        uint64_t now = counter_take(&device->counters[i], reading->numbers[i], wraps);
        if (device->counted && now > before)
            devices->sums[i] = saturating_add(devices->sums[i], now - before);
    }
}

/* Those of the least rank that there is. */
static void choose_counted(struct devices *devices)
{
    unsigned least = UINT8_MAX;
    for (size_t i = 0; i < devices->count; i++) {
        unsigned rank = devices->items[i].kind.rank;
        if (rank != 0 && rank < least)
            least = rank;
    }
    for (size_t i = 0; i < devices->count; i++) {
        devices->items[i].counted = devices->items[i].kind.rank == least;
        devices->any_counted |= devices->items[i].counted;
    }
}

/* Devices and readings one beside the other; *changed says whether there are others than before. */
static int match(struct devices *devices, const struct os *os, const struct os_devices *reading,
                 devices_classify *classify, bool *changed)
{
    size_t known = devices->count;
    *changed = known != reading->count;
    for (size_t i = 0; i < reading->count; i++) {
        const struct os_device *from = &reading->items[i];
        if (bring(devices, i, known, from->name)) {
            if (devices->items[i].young) {
                classify(os, &devices->items[i], devices->items, i);
                devices->items[i].young = false;
                *changed = true;
            }
            continue;
        }
        struct device *device = insert(devices, i, &known);
        if (device == NULL) {
            devices->count = i;
            return VITALS_EMEMORY;
        }
        memcpy(device->name, from->name, sizeof device->name);
        device->young = devices->begun;
        classify(os, device, devices->items, i);
        for (unsigned j = 0; devices->begun && j < OS_DEVICE_NUMBERS; j++)
            device->counters[j].last = from->numbers[j];
        *changed = true;
    }
    devices->count = reading->count;
    return 0;
}

int devices_take(struct devices *devices, const struct os *os, const struct os_devices *reading,
                 const struct devices_kind *kind)
{
    bool changed;
    devices->state = reading->state;
    if (reading->state <= 0)
        return 0;
    int code = match(devices, os, reading, kind->classify, &changed);
    if (code < 0)
        return code;
    if (changed)
        choose_counted(devices);
    for (size_t i = 0; i < devices->count; i++)
        take_numbers(devices, &devices->items[i], &reading->items[i], kind);
    devices->begun = true;
    return 0;
}

void devices_done(struct devices *devices)
{
    memory_free(devices->items);
    *devices = (struct devices){0};
}
