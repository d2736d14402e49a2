/* async_free.h: samplers that begin and end while the monitor goes on. Ending one waits for its
 * tick, and so for a driver: that is left to a thread. One thread calls here. */
#ifndef VITALS_MONITOR_ASYNC_FREE_H
#define VITALS_MONITOR_ASYNC_FREE_H

#include "monitor/monitor.h"

/* Starts a sampler for a part of the screens and also for `wants`, which may be NULL. End it with
 * async_free. On an error both are NULL. */
int sampler_begin(const struct monitor_options *options, enum monitor_part part,
                  const struct wants *wants, vitals_sampler **sampler,
                  vitals_subscription **subscription, vitals_error *error);

/* Takes ownership of both; each may be NULL. Waits itself if no thread can be started or if too
 * many already wait. */
void async_free(vitals_sampler *sampler, vitals_subscription *subscription);

/* Until all of them have ended: before their context does. */
void async_free_wait(void);

#endif
