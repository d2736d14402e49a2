/* pace.h: when the threads and processes of a run wake. Thread rule: pure but for the clock. */
#ifndef VITALS_RUN_PACE_H
#define VITALS_RUN_PACE_H

#include "util/base.h"
#include <vitals/clock.h>

/* The deadline after one that is over: a whole number of intervals later, and in the future. */
static inline uint64_t pace_next(uint64_t deadline, uint64_t interval, uint64_t now)
{
    uint64_t late = now > deadline ? now - deadline : 0;
    return saturating_add(deadline, saturating_add(late - late % interval, interval));
}

/* Waits until the descriptor can be read or `ns` are over. If the clock, which may be a caller's,
 * cannot wait, the machine's own does: a clock that fails must not delay the job. */
static inline void pace_wait(const vitals_clock *clock, int descriptor, uint64_t ns)
{
    const vitals_clock *machine = vitals_clock_system();
    uint64_t deadline = saturating_add(clock->monotonic_ns(clock->data), ns);
    if (clock->wait_until(clock->data, descriptor, deadline) >= 0)
        return;
    deadline = saturating_add(machine->monotonic_ns(machine->data), ns);
    (void)machine->wait_until(machine->data, descriptor, deadline);
}

#endif
