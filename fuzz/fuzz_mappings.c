/* /proc/PID/maps and smaps, line by line: what a header holds lies within it, a path that is
 * unescaped is no longer than it was, and the mark of a deleted file is cut once. */
#include "os/linux/process/process_tables.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct span part, struct span line)
{
    if (part.bytes < line.bytes || part.bytes + part.size > line.bytes + line.size)
        abort();
}

static void check_header(struct span line, const struct linux_mapping *mapping,
                         struct buffer *buffer)
{
    check(mapping->addresses, line);
    check(mapping->permissions, line);
    check(mapping->path, line);
    struct span path, cut;
    if (mapping->start > mapping->end || mapping->permissions.size == 0)
        abort();
    if (!linux_mapping_path(mapping->path, buffer, &path) || path.size > mapping->path.size)
        abort();
    if (linux_ends_deleted(path, &cut) && cut.size + 10 != path.size)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buffer buffer = {0};
    struct cursor cursor = cursor_over((const char *)data, size);
    for (struct span line; cursor_line(&cursor, &line);) {
        struct linux_mapping mapping;
        enum linux_mapping_size which;
        uint64_t bytes;
        bool is_header = linux_parse_mapping(line, &mapping);
        bool is_size = linux_parse_mapping_size(line, &which, &bytes);
        if (is_header && is_size)
            abort();
        if (is_header)
            check_header(line, &mapping, &buffer);
        if (is_size && which >= MAPPING_SIZES)
            abort();
    }
    buffer_done(&buffer);
    return 0;
}
