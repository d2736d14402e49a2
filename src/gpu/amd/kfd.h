/* kfd.h: AMD's compute driver, below class/kfd/kfd: which nodes a card has, how they are linked,
 * and which processes compute on them.
 *
 * A card is one node of the topology, or one for each of its partitions. Its folder proc names
 * processes by the pids of the machine, whatever namespace we are in. Nothing here wakes a card.
 * Thread rule: the parsers are pure, the rest is for workers. No memory is asked for. */
#pragma once

#include "os/os.h"
#include "util/cursor.h"

/* Properties of a node, from its file; 0 if not reported. */
struct kfd_properties {
    uint64_t simd_count, simd_per_cu; /* no SIMDs: it is a CPU */
    uint64_t gfx_target_version;      /* 90402 is gfx942 */
    uint64_t domain, location_id;     /* the PCI address: bus, device and function in 16 bits */
    uint64_t drm_render_minor, unique_id, num_xcc;
};
void kfd_parse_properties(struct span text, struct kfd_properties *out);

/* A link between nodes, or a bank of memory. */
struct kfd_link {
    uint64_t type, node_to, weight, max_bandwidth;
};
void kfd_parse_link(struct span text, struct kfd_link *out);
struct kfd_bank {
    uint64_t heap_type, size_in_bytes, width;
};
void kfd_parse_bank(struct span text, struct kfd_bank *out);

enum { KFD_LINK_XGMI = 11, KFD_HEAP_PUBLIC = 1, KFD_HEAP_PRIVATE = 2 };

/* Writes "gfx942"; "" for 0 and for a version that no card has. */
enum { KFD_ARCHITECTURE = 16 };
void kfd_architecture(uint64_t gfx_target_version, char out[static KFD_ARCHITECTURE]);

uint64_t kfd_compute_units(const struct kfd_properties *node);

/* ---- the topology ---- */

enum { KFD_NODES_MAX = 192 };

struct kfd_node {
    uint32_t number;
    uint64_t gpu_id; /* part of the names of a process's files */
    struct kfd_properties properties;
};

/* All nodes that are GPUs, in the order of their numbers; the list changes with `generation`. */
struct kfd_topology {
    uint64_t generation;
    uint32_t count;
    struct kfd_node nodes[KFD_NODES_MAX];
};

/* kfd_generation returns 0 if there is no such driver, or access is denied. */
uint64_t kfd_generation(const struct os *os);
void kfd_read_topology(const struct os *os, struct kfd_topology *out);

/* True if the node is on the card of that address, whatever its function; the second function gives
 * the node's address. */
bool kfd_is_on(const struct kfd_node *node, const char *pci_bus_id);
void kfd_bus_id(const struct kfd_properties *node, char out[static 32]);

/* A node's own memory: the width of its bus, and its size; 0: not reported. */
struct kfd_memory {
    uint64_t bits, bytes;
};
void kfd_read_memory(const struct os *os, uint32_t number, struct kfd_memory *out);

/* The XGMI links of a node to others, in the order of their numbers. Returns how many. */
enum { KFD_LINKS_MAX = 64 };
size_t kfd_read_links(const struct os *os, uint32_t number, struct kfd_link out[KFD_LINKS_MAX]);

/* Reads the node of a node number; returns false if it cannot be read. */
bool kfd_read_node(const struct os *os, uint64_t number, struct kfd_node *out);

/* ---- processes ---- */

/* Parses the pid that a folder's name begins with; newer kernels append more. */
bool kfd_parse_pid(const char *name, int64_t *pid);

/* The next folder of a process, in the order of pids, of names that os_sys_names found in
 * KFD_PROCESSES; NULL at the end. */
#define KFD_PROCESSES "class/kfd/kfd/proc"
const char *kfd_next_process(struct os_sys_names *names, int64_t *pid);

/* Usage of a node by a process; each value is missing if not reported. */
struct kfd_usage {
    struct value memory_bytes;  /* u64 */
    struct value copy_seconds;  /* f64 */
    struct value compute_units; /* u64: in use at this time */
};
enum { KFD_MEMORY = 1, KFD_COPY = 2, KFD_UNITS = 4 };

/* Reads the values that `what` names; returns false if the process uses nothing on that node. */
bool kfd_read_usage(const struct os *os, const char *process, uint64_t gpu_id, unsigned what,
                    struct kfd_usage *out);
