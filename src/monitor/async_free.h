/* async_free.h: samplers that are ended while the monitor goes on. Ending one waits for its tick,
 * and so for a driver: that is left to a thread. One thread calls here. */
#ifndef VITALS_MONITOR_ASYNC_FREE_H
#define VITALS_MONITOR_ASYNC_FREE_H

#include <vitals/vitals.h>

/* Takes ownership of both; each may be NULL. Waits itself if no thread can be started or if too
 * many already wait. */
void async_free(vitals_sampler *sampler, vitals_subscription *subscription);

/* Until all of them have ended: before their context does. */
void async_free_wait(void);

#endif
