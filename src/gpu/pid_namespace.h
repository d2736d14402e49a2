/* pid_namespace.h: whether the pids that a driver gives are those of our processes.
 *
 * Drivers differ: older ones of NVIDIA give the pids of the machine whoever asks, newer ones those
 * of the asker's pid namespace, and KFD always those of the machine. In the first pid namespace
 * that is the same. Elsewhere a pid may be a stranger's, and somebody of ours may have the same
 * number: it is believed once the process shows an open node of that device. Where /proc is that of
 * an outer namespace, as when a container is given the machine's, whoever has the number in the
 * innermost of its namespaces (NSpid) is looked for in the same way, and its pid in that /proc
 * takes the place of the driver's. Thread rule: a worker's; may block. */
#ifndef VITALS_GPU_PID_NAMESPACE_H
#define VITALS_GPU_PID_NAMESPACE_H

#include "gpu/backend.h"

/* Whose pids a driver gives. */
enum gpu_pids {
    GPU_PIDS_OF_MACHINE, /* those of the first pid namespace, whoever asks */
    GPU_PIDS_OF_ASKER    /* those, or those of the pid namespace of who asks */
};

/* Whether they are those of our /proc without any proof: it is that of the first pid namespace, and
 * where it depends on who asks, that is ours too. Of a /proc that does not tell, they are not. */
bool gpu_pids_hold(const vitals_context *context, enum gpu_pids pids);

/* Says of every process whose is_ours is UNSET whether it is: HAVE or OUTSIDE. Outside of the
 * first pid namespace that walks over the open descriptors of those processes, and in a /proc that
 * is not our own over everybody's status. */
void gpu_prove(const vitals_context *context, const struct gpu_node *nodes, uint32_t node_count,
               struct gpu_processes *processes);

#endif
