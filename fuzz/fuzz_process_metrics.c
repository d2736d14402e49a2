/* What is read of one process beside the ticks: every parser over the same bytes. */
#include "os/linux/process/process_metrics.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whole lines, in one piece or in two, give the same sums. */
static void sum_smaps(const char *bytes, size_t size)
{
    struct linux_smaps whole = {0}, pieces = {0};
    size_t taken = linux_add_smaps(bytes, size, &whole);
    if (taken > size || (taken != 0 && bytes[taken - 1] != '\n'))
        abort();
    size_t first = linux_add_smaps(bytes, size / 2, &pieces);
    size_t second = linux_add_smaps(bytes + first, size - first, &pieces);
    if (first + second != taken || memcmp(&whole, &pieces, sizeof whole) != 0)
        abort();
}

static void count_cpus(const char *bytes, size_t size)
{
    uint64_t count = 0;
    if (linux_count_cpus((struct span){bytes, size}, &count) != (count != 0))
        abort();
}

static void name_capabilities(const char *bytes, size_t size)
{
    uint64_t mask = 0;
    memcpy(&mask, bytes, size < sizeof mask ? size : sizeof mask);
    struct buffer names = {0};
    linux_format_capabilities(mask, size != 0 ? (unsigned char)bytes[0] : 0, &names);
    if ((names.size == 0) != (mask == 0))
        abort();
    buffer_done(&names);
}

static void name_terminal(const char *bytes, size_t size)
{
    int64_t device = 0;
    char name[OS_TERMINAL_TEXT];
    const struct os os = {.sys = -1};
    memcpy(&device, bytes, size < sizeof device ? size : sizeof device);
    if (os_terminal_name(&os, device, name) != strlen(name))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = size != 0 ? (const char *)data : "";
    uint16_t family = 0;
    struct linux_taskstats stats;
    sum_smaps(bytes, size);
    count_cpus(bytes, size);
    name_capabilities(bytes, size);
    name_terminal(bytes, size);
    if (linux_parse_family(bytes, size, &family) > 0 ||
        linux_parse_taskstats(bytes, size, &stats) > 0)
        abort();
    return 0;
}
