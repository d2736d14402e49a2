/* pid_namespace.h: whether the pids that a driver gives are those of our processes.
 *
 * Drivers differ: older ones of NVIDIA and KFD always give the pids of the machine, newer ones of
 * NVIDIA those of the caller's pid namespace. In the initial pid namespace that is the same.
 * Elsewhere a pid may belong to a process outside, and one of ours may have the same number: it is
 * believed once the process shows an open node of that device. If /proc is that of an outer
 * namespace, as in a container that is given the machine's, the process with that number in its
 * innermost namespace (NSpid) is found in the same way, and its pid in that /proc replaces the
 * driver's. Thread rule: a worker's; may block. */
#ifndef VITALS_GPU_PID_NAMESPACE_H
#define VITALS_GPU_PID_NAMESPACE_H

#include "gpu/backend.h"

/* Whose pids a driver gives. */
enum gpu_pids {
    GPU_PIDS_OF_MACHINE, /* those of the initial pid namespace, for every caller */
    GPU_PIDS_OF_ASKER    /* those, or those of the caller's pid namespace */
};

/* Whether they are those of our /proc without any proof: it is that of the initial pid namespace,
 * and so is ours if they depend on the caller. False for a /proc that does not tell. */
bool gpu_pids_hold(const vitals_context *context, enum gpu_pids pids);

/* Sets is_ours, where it is UNSET, to HAVE or OUTSIDE. Outside of the initial pid namespace this
 * walks over the open descriptors of those processes, and in a /proc that is not our own over the
 * status of every process. */
void gpu_prove(const vitals_context *context, const struct gpu_node *nodes, uint32_t node_count,
               struct gpu_processes *processes);

#endif
