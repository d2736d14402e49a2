/* /proc/PID/stat: whatever the bytes, the name lies within them and only known fields are claimed.
 */
#include "os/os.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct os_stat stat;
    bool parsed = os_parse_stat(bytes, size, &stat);
    if (parsed != ((stat.has & OS_STAT_NAME) != 0) || (stat.has & ~(unsigned)OS_STAT_ALL) != 0)
        abort();
    if (parsed && (stat.name.bytes < bytes || stat.name.bytes + stat.name.size > bytes + size))
        abort();
    if ((stat.has & OS_STAT_PARENT) != 0 && stat.parent_pid < 0)
        abort();
    int status = -1;
    bool ended = os_parse_stat_exit(bytes, size, &status);
    if (ended ? status < 0 || status > 0xFFFF || stat.state != 'Z' : status != -1)
        abort();
    return 0;
}
