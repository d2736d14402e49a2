/* Counting on an operating system that counts nothing: there is no way of it. See null.c.
 * Thread rule: constant. */
#include "os/count.h"

const struct os_counter *const os_counters[] = {NULL};
const size_t os_count_shared_bytes = 1;
