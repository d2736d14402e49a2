/* node.c: see node.h. */
#include "gpu/node.h"

#include <string.h>

void gpu_node_add(const struct os *os, const char *path,
                  struct gpu_node nodes[static GPU_NODES_MAX], uint32_t *count)
{
    char text[32];
    uint64_t major, minor;
    if (*count == GPU_NODES_MAX || os_sys_text(os, path, text, sizeof text) < 0)
        return;
    struct cursor cursor = cursor_over(text, strlen(text));
    if (cursor_u64(&cursor, &major) && cursor_literal(&cursor, ":") &&
        cursor_u64(&cursor, &minor) && major <= UINT32_MAX && minor <= UINT32_MAX)
        nodes[(*count)++] = (struct gpu_node){(uint32_t)major, (uint32_t)minor};
}
