/* /proc/PID/limits: as many are known as were found, and the rest says nothing. */
#include "os/linux/process/process_tables.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct linux_limit_values values[LINUX_LIMITS];
    size_t found = linux_parse_limits((const char *)data, size, values), known = 0;
    for (size_t i = 0; i < LINUX_LIMITS; i++) {
        known += values[i].known;
        if (!values[i].known && (values[i].soft != 0 || values[i].hard != 0))
            abort();
    }
    if (found != known)
        abort();
    return 0;
}
