/* The path of a cgroup: whatever it is, the container's name lies within it and is no path. */
#include "workload/workload.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = size != 0 ? (const char *)data : "";
    struct span found = container_of_cgroup((struct span){bytes, size});
    if (found.bytes < bytes || found.bytes + found.size > bytes + size)
        abort();
    if (found.size != 0 && memchr(found.bytes, '/', found.size) != NULL)
        abort();
    return 0;
}
