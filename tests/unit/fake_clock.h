/* A clock that a test moves, so that a day of ticks takes seconds.
 *
 * A wait takes no real time: if nothing can be read from the descriptor, the clock jumps to the
 * deadline. Worker threads need real time, though: waits that are short by the fake clock
 * (`near_ns`) first get a real grace. With `manual` the clock never moves by itself, and
 * fake_clock_advance wakes waiting threads. A wait without a deadline is a real one. Any thread. */
#ifndef TESTS_UNIT_FAKE_CLOCK_H
#define TESTS_UNIT_FAKE_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vitals/clock.h>

struct fake_clock {
    vitals_clock clock; /* what a context is handed */
    atomic_uint_fast64_t now_ns;
    atomic_uint_fast64_t near_ns; /* waits of at most this … */
    uint64_t grace_ns;            /* … get as much real time before the clock jumps */
    atomic_bool manual;
    atomic_uint_fast64_t awaited_ns; /* with manual: the deadline waited for; 0: none */
};

/* Begins an hour after boot. Grace: 200 ms for waits of up to 4 s. */
void fake_clock_init(struct fake_clock *fake);

/* One that is used once only: for tests that leave threads behind, which keep using theirs. There
 * are 128 to a program. */
struct fake_clock *fake_clock_new(void);

void fake_clock_advance(struct fake_clock *fake, uint64_t by_ns);
/* With manual: returns once a thread waits for a deadline that is still to come. */
void fake_clock_wait_for_waiter(struct fake_clock *fake);

uint64_t fake_clock_now(struct fake_clock *fake);

/* Real time, for bounds that a test states in it. */
uint64_t real_now_ns(void);
void real_sleep_ns(uint64_t ns);

#endif
