/* cgroup_own.h: a cgroup that is made for one run, or was made for it, and what its files count.
 *
 * One hierarchy each: of version 2, or of one controller of version 1. Thread rule: the launcher's
 * thread. */
#pragma once

#include "os/count.h"
#include "os/linux/cgroup/cgroup.h"

enum { OWN_GROUP_NAME = 40 };

/* The size of the tables of figures below. */
enum { OWN_FIGURES = 16 };

struct own_group {
    int parent; /* a descriptor of the folder that it is in; -1: it is not ours to remove */
    int folder; /* its own; -1: there is none */
    int64_t maker;
    char name[OWN_GROUP_NAME];
    unsigned held;          /* a bit for each figure whose file is open */
    int files[OWN_FIGURES]; /* by the first figure of each; one that is not ours has none */
};

/* Makes one below a place, with a name of its own. 0 or negative errno; what is left of a vitals
 * that was killed is replaced. Five system calls. Any thread. */
int own_group_make(const struct os *os, const struct cgroup_place *place, struct own_group *out);

/* Uses one that exists, by its path below /sys. */
int own_group_open(const struct os *os, const char *path, struct own_group *out);

bool own_group_has(const struct own_group *group, const char *file);

/* The limits that a cgroup gets. They are higher than the user's: the run is asked to end when it
 * passes its limit, before the kernel ends it; and a cgroup counts threads, not processes. */
static inline uint64_t own_hard_memory(uint64_t limit)
{
    const uint64_t least = UINT64_C(16) << 20;
    return saturating_add(limit, limit / 8 > least ? limit / 8 : least);
}

static inline uint64_t own_hard_tasks(uint64_t limit)
{
    return saturating_add(saturating_mul(limit, 8), 64);
}

/* Writes a number into it. */
int own_group_limit(const struct os *os, const struct own_group *group, const char *file,
                    uint64_t number);

/* Ends all that is in it and below; false where something lives on. */
bool own_group_kill(const struct os *os, const struct own_group *group);

/* Removes it if it is empty, or becomes so within some ms, with everything that the run made in it;
 * and those beside it that a killed vitals left, once they are empty. A fork of the process that
 * made it only closes its descriptors. */
void own_group_remove(const struct os *os, struct own_group *group);

/* ---- what its files count ---- */

/* Anonymous memory and shared memory, also of files in a tmpfs, that is charged to it and to the
 * groups below it now; false if memory.stat cannot be read. */
bool own_group_held(const struct os *os, const struct own_group *group, uint64_t *bytes);

enum own_shape {
    OWN_NUMBER,   /* a file of one number */
    OWN_FIELD,    /* of lines "key number" */
    OWN_ALONE,    /* the same, but those below it are not counted */
    OWN_LESS,     /* a key less another, which is the first behind its name: "pgfault-pgmajfault" */
    OWN_PRESSURE, /* the total of "some" */
    OWN_READS,    /* of disks, summed */
    OWN_WRITES
};

struct own_figure {
    enum quantity quantity;
    const char *controller; /* without which there is no such file; "": always */
    const char *file;
    enum own_shape shape;
    const char *key;
    double scale; /* the number times this */
    const char *source;
};

/* One number out of one file's text; false where it is not in it. `os` is asked which disks stand
 * on others. */
bool own_figure_parse(const struct os *os, const struct own_figure *figure, const char *bytes,
                      size_t size, double *out);

/* Tables, with a figure without a file at their end. */
extern const struct own_figure own_figures_v2[], own_figures_v1[];

/* The quantities of a table that a group will count; `controllers` is a text of names. Files of a
 * group that was made are opened, once for finding and reading them. */
os_quantities own_figures_found(struct own_group *group, const struct own_figure *figures,
                                const char *controllers);

/* The same of own_figures_v2, by the controllers that the group itself names. */
os_quantities own_figures_found_v2(const struct os *os, struct own_group *group);

/* Reads those of `counts`. */
void own_figures_read(const struct os *os, const struct own_group *group,
                      const struct own_figure *figures, os_quantities counts, struct counted *out);
