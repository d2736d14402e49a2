/* /proc/PID/cgroup: the path lies within the bytes and on one line. */
#include "os/os.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct span path = os_parse_cgroup(bytes, size);
    if (path.size != 0 && (path.bytes < bytes || path.bytes + path.size > bytes + size ||
                           memchr(path.bytes, '\n', path.size) != NULL))
        abort();
    return 0;
}
