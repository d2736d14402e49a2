/* /proc/PID/environ: names and values lie within the bytes, hold no NUL, and together with the NULs
 * and one "=" each they are no more than there was. */
#include "core/memory.h"
#include "process/live.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(vitals_text text, const char *bytes, size_t size)
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
    struct environment_entry *entries = NULL;
    size_t count = 0, sum = 0;
    if (environment_split(bytes, size, &entries, &count) < 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        check(entries[i].name, bytes, size);
        check(entries[i].value, bytes, size);
        if (entries[i].name.size != 0 && memchr(entries[i].name.bytes, '=', entries[i].name.size))
            abort();
        sum += entries[i].name.size + entries[i].value.size;
    }
    if (sum > size || count > (size + 1) / 2)
        abort();
    memory_free(entries);
    return 0;
}
