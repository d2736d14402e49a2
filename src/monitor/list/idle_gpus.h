/* idle_gpus.h: memory of a device that is held without being used: by whom, and for how long.
 *
 * It is told of each reading in turn and remembers since when; where there is a recording, of those
 * before the first one too, backwards. Nothing is claimed of what was not seen: a gap between two
 * readings begins anew, as does a moment at which nobody could say whether the device worked. One
 * thread. */
#ifndef VITALS_MONITOR_LIST_IDLE_GPUS_H
#define VITALS_MONITOR_LIST_IDLE_GPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vitals/vitals.h>

/* Somebody who holds and does nothing; ascending keys. */
struct holding {
    uint64_t key; /* of a row */
    uint64_t since_ns;
    bool open; /* since the oldest reading, and perhaps before that */
};
struct holdings {
    struct holding *items;
    size_t count, capacity;
};

/* One of zeros knows nothing. */
struct held {
    struct holdings devices, users; /* rows of gpu, of gpu_process */
    struct holdings spare;          /* room for the next reading */
    uint64_t newest_ns, oldest_ns;
    uint64_t stream; /* that keys are of */
};

void held_update(struct held *held, const vitals_snapshot *snapshot);
/* The reading before the oldest one that it knows. */
void held_update_before(struct held *held, const vitals_snapshot *older);

/* Whether an older reading may say more. */
bool held_goes_back(const struct held *held);

void held_done(struct held *held);

/* For so many seconds up to a moment; false: not at all, or nobody knows. A device is held where
 * somebody holds its memory and it did not work; a process where it did not. */
bool held_device(const struct held *held, uint64_t key, uint64_t now_ns, double *seconds);
bool held_user(const struct held *held, uint64_t key, uint64_t now_ns, double *seconds);

/* "held 23 min" */
enum { HELD_WORDS = 24 };
char *held_words(double seconds, char out[static HELD_WORDS]);

#endif
