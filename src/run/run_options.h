/* run_options.h: options of a run as both kinds of run take them, and when their threads and
 * processes wake. Thread rule: pure but for the clock. */
#pragma once

#include "util/options.h"
#include <vitals/clock.h>
#include <vitals/run.h>

/* Copies the caller's options, and its observer into `observer`, to which out->observer then
 * points. Errors: as options_take. */
int run_options_take(const vitals_run_options *given, vitals_run_options *out,
                     vitals_run_observer *observer, vitals_error *error);

/* True if the devices are the demo's. */
bool run_options_are_invented(const vitals_run_options *options);

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
