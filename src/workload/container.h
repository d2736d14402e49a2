/* container.h: which container the path of a cgroup belongs to.
 *
 * The path alone is judged, as docker, containerd and its CRI plug-in, nerdctl, CRI-O, podman, ECS,
 * LXC, LXD, libvirt's LXC and systemd-nspawn write it, on version 1 and 2, below systemd or not,
 * with Kubernetes' pods or without. What makes no cgroup of its own (Apptainer, enroot, unshare) is
 * not seen, and who may name cgroups may pretend. Thread rule: pure. */
#ifndef VITALS_WORKLOAD_CONTAINER_H
#define VITALS_WORKLOAD_CONTAINER_H

#include "util/cursor.h"

/* The id or name of the innermost container, borrowed from `path` and as it stands there: systemd's
 * escapes (\x2d) stay. Size 0 where there is none; a container's monitor on the host (conmon,
 * lxc.monitor, nspawn's supervisor) is in none. */
struct span container_of_cgroup(struct span path);

#endif
