/* container.h: the container that the path of a cgroup belongs to.
 *
 * Only the path is used, as docker, containerd and its CRI plug-in, nerdctl, CRI-O, podman, ECS,
 * LXC, LXD, libvirt's LXC and systemd-nspawn write it, on version 1 and 2, with or without systemd
 * and Kubernetes' pods. Tools that make no cgroup (Apptainer, enroot, unshare) are not seen; a
 * process that may name cgroups can forge one. Thread rule: pure. */
#ifndef VITALS_WORKLOAD_CONTAINER_H
#define VITALS_WORKLOAD_CONTAINER_H

#include "util/cursor.h"

/* The id or name of the innermost container, borrowed from `path` and as it stands there: systemd's
 * escapes (\x2d) stay. Size 0 where there is none; a container's monitor on the host (conmon,
 * lxc.monitor, nspawn's supervisor) is in none. */
struct span container_of_cgroup(struct span path);

#endif
