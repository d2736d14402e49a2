/* devices.h: disks and network interfaces from reading to reading: which is which, what each
 * counted in all, and what all of them together did.
 *
 * A counter that falls goes on in ours. It has wrapped where it is one of 32 bits, was in the upper
 * half of them, and no other count of the device fell that could not; else the device began again,
 * and what it counted until then is the base. A device that leaves keeps what it counted in the
 * sums; one that comes brings nothing from before, for that may be another's (an interface that was
 * in a container meanwhile), and has a key that was never given. So no sum ever steps back.
 * Thread rule: one thread at a time. */
#pragma once

#include "model/answer_cache.h"
#include "os/os.h"

#include <limits.h>

struct counter {
    uint64_t before, last;
};

/* The next reading; returns the whole count. `wraps`: one that is less went on behind 2^32, else it
 * began again. */
uint64_t counter_take(struct counter *counter, uint64_t reading, bool wraps);

struct device {
    char name[OS_DEVICE_NAME];
    uint64_t key, parent; /* parent 0: none */
    struct os_device_kind kind;
    bool counted;
    bool young;   /* came with the last reading, and may not be set up yet */
    unsigned has; /* a bit for each number that it has */
    struct counter counters[OS_DEVICE_NUMBERS];
};

struct devices {
    struct device *items; /* in the order of the kernel's list */
    size_t count, capacity;
    uint64_t keys;                    /* given so far */
    uint64_t sums[OS_DEVICE_NUMBERS]; /* of those that are counted */
    bool begun, any_counted;          /* any: now or before */
    signed char state;                /* of the list, as of struct os_devices */
    uint64_t read_ns;                 /* when it was read */
};

/* Finds out what a new device is; `before` are the devices that stand before it in the list. */
typedef void devices_classify(const struct os *os, struct device *device,
                              const struct device *before, size_t count);

/* How wide the kernel counts: an unsigned long of its own, which is ours but for 32-bit programs
 * below a 64-bit kernel, where a count that is beyond 32 bits cannot wrap either. */
enum { DEVICE_LONG_BITS = sizeof(long) * CHAR_BIT };

struct counter_column {
    vitals_metric metric;
    unsigned char number;
    unsigned short scale; /* 0: milliseconds, which become seconds */
};

/* The kinds of lists. */
struct devices_kind {
    devices_classify *classify;
    unsigned char bits;    /* of all numbers but these: */
    uint32_t ints, gauges; /* a bit for each number of 32 bits, and for each that may fall */
    vitals_metric name, type, counted;           /* of its table */
    const struct counter_column *columns, *sums; /* of its table, and of host */
    size_t column_count, sum_count;
    bool none_is_unknown; /* where no device is counted, the sums are unknown and not 0 */
};

extern const struct devices_kind DEVICES_DISKS, DEVICES_NETWORKS;

/* Takes a reading. Returns 0 or VITALS_EMEMORY. Allocates only for new devices, and asks what they
 * are; once more at the next reading, for one that has just come is still being set up. */
int devices_take(struct devices *devices, const struct os *os, const struct os_devices *reading,
                 const struct devices_kind *kind);
void devices_done(struct devices *devices);

/* Takes a reading, and sets the sums among the machine's values where it was one. Returns 0 or
 * VITALS_EMEMORY. */
int devices_update(struct devices *devices, const struct os *os, const struct os_devices *reading,
                   const struct devices_kind *kind, struct values *machine, uint64_t now_ns);

/* Writes the rows into the open table. */
void devices_write(const struct devices *devices, const struct devices_kind *kind,
                   const struct answer_cache *cache, vitals_builder *builder, uint64_t stamp_ns);

/* The whole count of a device's number; false where it has none. */
bool device_number(const struct device *device, unsigned number, uint64_t *out);

/* The sum of a number times the scale; missing if the list is missing, or if no device has ever
 * been counted. */
struct value devices_sum(const struct devices *devices, unsigned number, uint64_t scale);
