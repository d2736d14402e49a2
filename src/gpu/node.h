/* node.h: the device nodes of a device, as /sys tells them: what programs open.
 *
 * Thread rule: any thread. */
#ifndef VITALS_GPU_NODE_H
#define VITALS_GPU_NODE_H

#include "gpu/backend.h"

/* Adds the node whose numbers stand in the file `path` below /sys ("226:128"). Nothing where the
 * file says something else, or there are GPU_NODES_MAX already. */
void gpu_node_add(const struct os *os, const char *path,
                  struct gpu_node nodes[static GPU_NODES_MAX], uint32_t *count);

#endif
