/* workload.h: what a process works for: what the path of its cgroup says (path.c), its job in Slurm
 * (slurm.c), what Kubernetes calls its container (names.c), and the id of all of it. Thread rule:
 * pure, but for the names of containers.
 *
 * The grammar of ids: slurm:JOB.STEP or slurm:JOB, k8s:NAMESPACE/POD/CONTAINER, ctr:ID, unit:NAME,
 * user:NAME. If a path names several, the first in this order counts: a job that starts a container
 * is the job. A process below user.slice belongs to its user, whichever units the user's own
 * manager made: any user can choose their names. The id of a claimed workload begins with
 * "claimed:", so that its sums stay apart from those of the real one. */
#pragma once

#include "os/os.h"
#include "util/buffer.h"
#include "util/cursor.h"

enum workload_kind {
    WORKLOAD_NONE,
    WORKLOAD_SLURM,
    WORKLOAD_POD,
    WORKLOAD_CONTAINER,
    WORKLOAD_UNIT,
    WORKLOAD_USER
};

enum { WORKLOAD_ID_MAX = 1024, WORKLOAD_CONTAINER_DIGITS = 12 };

/* The parts of an id; those that its kind lacks are empty. Borrowed. */
struct workload {
    enum workload_kind kind;
    struct span job, step;             /* of Slurm; the step may be empty */
    struct span space, pod, container; /* of Kubernetes */
    struct span name;                  /* of a container, a unit, a user */
    bool claimed;                      /* an ordinary user may have made the cgroup that says so */
};

/* slurm, k8s, ctr, unit, user; "" of none. */
const char *workload_word(enum workload_kind kind);

/* Appends the id. A container's id of 64 digits is cut to the first twelve. */
void workload_format(const struct workload *workload, struct buffer *out);

/* False where it is none. */
bool workload_parse(struct span id, struct workload *out);

/* The parts of a path beside its kind; empty if it has none. Borrowed from it. */
struct workload_path {
    struct span container; /* the whole id, or a name */
    struct span sluid;
};
void workload_path_read(struct span path, struct workload_path *out);

/* Classifies the path of a cgroup. WORKLOAD_CONTAINER also for the container of a pod,
 * WORKLOAD_USER for everything else. *place: the length of the part of the path that is the
 * workload's own cgroup, 0 for a user, which has none. */
enum workload_kind workload_of_cgroup(struct span path, size_t *place);

/* ---- paths of cgroups: path.c ---- */

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

/* ---- the job of Slurm: slurm.c ----
 *
 * Read from Slurm's own cgroups, on version 1 (/slurm/uid_1000/job_12/step_0/task_0) and 2
 * (/system.slice/slurmstepd.scope/job_12/step_0/user/task_0), with a node's name before "slurm" if
 * several slurmd share a machine. Since 26.05 a job there is a SLUID: "s" and 13 capitals and
 * digits. The environment is not used: the owner of the process can change it. */

enum { SLURM_TEXT = 24 };

/* Either may be "". */
struct slurm {
    char job[SLURM_TEXT];   /* a number, or a SLUID */
    char step[SLURM_TEXT];  /* a number, batch, extern, interactive */
    char sluid[SLURM_TEXT]; /* of an environment, beside the number */
    size_t place;           /* of a path: as much of it leads to the step's cgroup; 0: to none */
    size_t own;             /* likewise to the step's, or to the job's where there is no step */
};

/* False where the path is none of Slurm's. */
bool slurm_of_cgroup(struct span path, struct slurm *out);

/* Strings "NAME=VALUE", each ended by NUL. False where they name no job. */
bool slurm_of_environment(struct span strings, struct slurm *out);

/* The title of the daemon of a step, "slurmstepd: [123.batch]", which tells a SLUID's number. False
 * where it is none. */
bool slurm_of_title(struct span title, struct slurm *out);

/* Whether the job is named by its SLUID. */
bool slurm_is_sluid(const char *job);

/* ---- what Kubernetes calls a container: names.c ----
 *
 * The node's log folder has a link for each container, "POD_NAMESPACE_CONTAINER-ID.log": no server
 * is asked. The folder is listed again when it has changed, and now and then where a container is
 * not in it; that it is not is kept likewise. It may be root's alone. One thread at a time; workers
 * only. */

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
