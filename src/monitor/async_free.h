/* async_free.h: samplers that are ended while the monitor goes on. Ending one waits for its tick,
 * and so for a driver: that is left to a thread. One thread calls here. */
#ifndef VITALS_MONITOR_ASYNC_FREE_H
#define VITALS_MONITOR_ASYNC_FREE_H

#include <vitals/vitals.h>

/* Takes both over; each may be NULL. Where no thread is to be had, or some already wait, it waits
 * itself. */
void async_free(vitals_sampler *sampler, vitals_subscription *subscription);

/* Until all of them have ended: before their context does. */
void async_free_wait(void);

#endif
