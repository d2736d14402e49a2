/* pid_namespace.h: finds out if the pids from a driver belong to our pid namespace.
 *
 * Drivers differ: older NVIDIA drivers and KFD always give the pids of the machine, newer NVIDIA
 * drivers those of the caller's pid namespace. In the initial pid namespace both are equal.
 * Elsewhere a pid may belong to a process outside, and one of ours may have the same number: it is
 * accepted only if the process has a node of that device open.
 *
 * If /proc is that of an outer namespace, as in a container with the machine's /proc, the process
 * with that number in its innermost namespace (NSpid) is found in the same way, and its pid in that
 * /proc replaces the driver's. Thread rule: a worker's; may block. */
#pragma once

#include "gpu/backend.h"

/* The namespace of a driver's pids. */
enum gpu_pids {
    GPU_PIDS_OF_MACHINE, /* the initial pid namespace, for every caller */
    GPU_PIDS_OF_ASKER    /* the initial one, or that of the caller */
};

/* True if they are valid in our /proc without a proof: it is that of the initial pid namespace, and
 * this process is in that namespace too if they depend on the caller. False if /proc does not
 * report it. */
bool gpu_pids_hold(const vitals_context *context, enum gpu_pids pids);

/* Sets is_ours to HAVE or OUTSIDE if it is UNSET. Outside of the initial pid namespace this reads
 * the open descriptors of those processes, and in a /proc that is not our own the status of every
 * process. */
void gpu_prove(const vitals_context *context, const struct gpu_node *nodes, uint32_t node_count,
               struct gpu_processes *processes);
