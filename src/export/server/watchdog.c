/* watchdog.c: see watchdog.h. */
#include "export/server/watchdog.h"

#include <poll.h>
#include <unistd.h>

#include "export/clock.h"
#include "export/export_thread.h"

static struct {
    int descriptor;
    uint64_t patience_ns;
} watched; /* set once, before the thread starts */

static void *watch(void *unused)
{
    const vitals_clock *clock = vitals_clock_system();
    struct pollfd other = {.fd = watched.descriptor, .events = POLLRDHUP};
    while (poll(&other, 1, -1) <= 0)
        ;
    uint64_t deadline_ns = clock->monotonic_ns(clock->data) + watched.patience_ns;
    while (clock->wait_until(clock->data, -1, deadline_ns) != 0)
        ;
    _exit(1);
    return unused;
}

void watchdog_start(int descriptor, uint64_t patience_ns)
{
    pthread_t thread;
    watched.descriptor = descriptor;
    watched.patience_ns = patience_ns;
    if (export_thread_create(&thread, watch, NULL) == 0)
        (void)pthread_detach(thread);
}
