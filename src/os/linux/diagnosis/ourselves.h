/* ourselves.h: the rights of this process and the parts of /proc that the kernel shows to it: the
 * base of the machine's rows in the table diagnosis.
 *
 * Everything is read below the roots of struct os; a fact that cannot be read is unknown, and has
 * no row. Thread rule: workers only; no memory is asked for. */
#pragma once

#include "model/diagnosis.h"
#include "os/linux/lines.h"

/* The level of a namespace. */
enum place { PLACE_UNKNOWN, PLACE_FIRST, PLACE_INNER };

/* The options of a mount of procfs (proc(5)). */
enum hide_pid {
    HIDE_NOTHING = 0,
    HIDE_CONTENT = 1,   /* noaccess: others' folders cannot be entered */
    HIDE_PROCESSES = 2, /* invisible */
    HIDE_UNTRACED = 4   /* ptraceable: no exception for a group */
};
struct proc_mount {
    bool known; /* a line of mountinfo tells it */
    enum hide_pid hide;
    bool has_group; /* gid= was given; else it is group 0 */
    uint64_t group; /* its members see all processes */
    bool only_pids; /* subset=pid: only processes */
};

/* Distributions by package names and by how kernel parameters are set. */
enum family {
    FAMILY_OTHER,
    FAMILY_DEBIAN,
    FAMILY_UBUNTU,
    FAMILY_FEDORA,
    FAMILY_ARCH,
    FAMILY_SUSE,
    FAMILIES
};

/* The bits of capabilities(7) that matter here. */
enum capability {
    CAPABILITY_DAC_READ_SEARCH = 2,
    CAPABILITY_NET_ADMIN = 12,
    CAPABILITY_SYS_PTRACE = 19,
    CAPABILITY_SYS_ADMIN = 21,
    CAPABILITY_PERFMON = 38
};

struct ourselves {
    const struct os *os;
    struct row_batch *out;
    bool known;  /* self/status could be read */
    bool listed; /* /proc was listed, and has processes */
    uint64_t processes;
    uint64_t capabilities;
    uint64_t user, group; /* effective identifiers */
    bool in_group;        /* in the group of the mount, if it has one */
    bool no_new_privileges;
    unsigned depth; /* number of our pids in nested namespaces, as seen in this /proc; 0: not
                     * known */
    enum place pids, users;
    struct proc_mount mount;
    char kernel[128]; /* release; "" */
    char system[32];  /* the distribution, by ID of os-release(5), a plain word; "" */
    enum family family;
    bool wsl, old_wsl;  /* Linux under Windows; its first version, which has no GPUs */
    const char *rights; /* the remedy for a missing capability */
};

/* ---- rows, one file each ---- */

void diagnose_rights(struct ourselves *self);        /* table_diagnosis_rights.c */
void diagnose_devices(const struct ourselves *self); /* table_diagnosis_devices.c */

/* Adds a row that needs no remedy. */
static inline void diagnose_good(const struct ourselves *self, const char *subject,
                                 const char *finding)
{
    diagnosis_add(self->out, DIAGNOSIS_GOOD, subject, finding, "");
}

/* Fills in the mount, the rights and the namespaces; `os` is set. */
void ourselves_read(struct ourselves *self);

bool ourselves_may(const struct ourselves *self, enum capability capability);

/* Whether the mount of /proc would hide nothing from us, whatever its hidepid. */
bool ourselves_sees_hidden(const struct ourselves *self);

/* ---- parsers: pure, total, fuzzed ---- */

/* Parses a line of mountinfo that mounts procfs; its identifier, and whether it is at /proc. */
bool ourselves_parse_mount(struct span line, uint64_t *id, bool *at_proc, struct proc_mount *out);

/* Parses a line of a status into a struct ourselves, whose mount.group is the group to look for. */
void ourselves_parse_status(struct span line, void *data);

/* Parses a line of os-release(5): ID, and ID_LIKE if that one is not known. */
void ourselves_parse_release(struct span line, void *data);
