/* /proc/PID/environ, and where stat says that it lies: names and values lie within the bytes, hold
 * no NUL, and together with the NULs and one "=" each they are no more than there was. */
#include "os/linux/process/process_tables.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct span text, const char *bytes, size_t size)
{
    if (text.size == 0)
        return;
    if (text.bytes < bytes || text.bytes + text.size > bytes + size ||
        memchr(text.bytes, '\0', text.size) != NULL)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct cursor cursor = cursor_over(bytes, size);
    struct linux_variable variable;
    size_t count = 0, sum = 0;
    for (; linux_parse_variable(&cursor, &variable); count++) {
        check(variable.name, bytes, size);
        if (variable.value.bytes != NULL)
            check(variable.value, bytes, size);
        if (variable.name.size != 0 && memchr(variable.name.bytes, '=', variable.name.size))
            abort();
        sum += variable.name.size + variable.value.size;
    }
    if (sum > size || count > (size + 1) / 2)
        abort();
    struct linux_stat_memory memory;
    linux_parse_stat_memory(bytes, size, &memory);
    return 0;
}
