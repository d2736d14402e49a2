/* Any bytes as messages of the process connector: nothing is read beyond them, a datagram counts at
 * most one birth for each message that there is room for, and no memory is left. */
#include "os/linux/netlink.h"
#include "os/linux/process/births.h"
#include "util/memory.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t live = memory_live();
    struct births births = {.settled = size > 0 && data[size - 1] % 2 == 0};
    births_add(&births, 1);
    births_take(&births, (const char *)data, size);
    if (births.count > 1 + size / NETLINK_HEADER)
        abort();
    births_done(&births);
    if (memory_live() != live)
        abort();
    return 0;
}
