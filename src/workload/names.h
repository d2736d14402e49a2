/* names.h: what Kubernetes calls a container: its pod, its namespace, its own name.
 *
 * The node's log folder has a link for each container, "POD_NAMESPACE_CONTAINER-ID.log": no server
 * is asked. The folder is listed again when it has changed, and now and then where a container is
 * not in it; that it is not is kept likewise. It may be root's alone.
 * Thread rule: one thread at a time; workers only. */
#pragma once

#include "os/os.h"

/* Borrowed. */
struct workload_name {
    struct span pod, space, container; /* `space`: the namespace */
};

/* The name of a link, and the container's id behind it; false where it is none. Pure. */
bool workload_name_parse(struct span file, struct workload_name *out, struct span *id);

struct workload_names;

struct workload_names *workload_names_new(void); /* NULL when memory is out */
void workload_names_free(struct workload_names *names);

/* HAVE, and *out until the next call; UNSUPPORTED: no such folder (no node of Kubernetes) or
 * nothing of that container; DENIED; FAILED, also where memory is out. A system call; to list the
 * folder, one for a few hundred containers. */
vitals_availability workload_names_find(struct workload_names *names, const struct os *os,
                                        struct span id, struct workload_name *out);
