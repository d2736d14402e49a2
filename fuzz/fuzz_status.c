/* /proc/PID/status, io and statm: all three over the same bytes. */
#include "os/os.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct os_status status;
    if (!os_parse_status(bytes, size, OS_STATUS_ALL, &status) && status.has != 0)
        abort();
    if ((status.has & OS_STATUS_GROUP) != 0 && status.group > INT64_MAX)
        abort();
    struct os_io io;
    if (os_parse_io(bytes, size, &io) != (io.has != 0))
        abort();
    struct os_statm statm;
    if (os_parse_statm(bytes, size, &statm) != ((statm.has & OS_STATM_RESIDENT) != 0))
        abort();
    return 0;
}
