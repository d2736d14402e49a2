/* path.h: what the path of a cgroup says: its systemd unit, its container, its pod.
 *
 * Thread rule: pure. */
#pragma once

#include "util/cursor.h"

/* The next element that is not empty; false at the end. */
bool path_element(struct cursor *cursor, struct span *out);

/* How much of the path there is to the end of the element that `at` is in. */
size_t path_end(struct span path, const char *at);

/* Returns the text between the two, if it is not empty. */
bool span_between(struct span span, const char *before, const char *behind, struct span *out);

/* Whether it has bytes, and only such as are in the string. */
bool span_is_of(struct span span, const char *allowed);
bool span_is_decimal(struct span span);
bool span_is_hex(struct span span); /* in small letters, as the kernel and runtimes write it */

/* As a string; false where there is no room for all of it, and out is "" then. */
bool span_copy(struct span span, char *out, size_t capacity);

/* The last service or scope in the path, as systemd calls it ("session-3.scope",
 * "user@1000.service", "docker-….scope"); borrowed from `path`. Size 0 where there is none. */
struct span unit_of_cgroup(struct span path);

/* The id or name of the innermost container, borrowed from `path` and as it stands there: systemd's
 * escapes (\x2d) stay. Size 0 where there is none; a container's monitor on the host (conmon,
 * lxc.monitor, nspawn's supervisor) is in the one that it runs in, if any.
 *
 * Only the path is used, as docker, containerd and its CRI plug-in, nerdctl, CRI-O, podman, ECS,
 * LXC, LXD, libvirt's LXC and systemd-nspawn write it, on version 1 and 2, with or without systemd
 * and Kubernetes' pods. Tools that make no cgroup (Apptainer, enroot, unshare) are not seen; a
 * process that may name cgroups can forge one. */
struct span container_of_cgroup(struct span path);

enum { POD_UID = 40 };

/* The uid of the innermost pod, as Kubernetes writes it (with "-", whatever the path has); static
 * pods have 32 digits without. Returns how much of the path leads to the pod's cgroup; 0, and "",
 * if there is none. */
size_t pod_of_cgroup(struct span path, char out[static POD_UID]);
