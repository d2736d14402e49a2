/* group.h: the list of processes by user, container, job, service or parent, with sums.
 *
 * A group is a line above its processes. Sums are of all that have passed the filter, whether the
 * group is open or closed; what something is missing of says so. One thread. */
#pragma once

#include "monitor/list/columns.h"

/* ---- what a process belongs to, in words. Pure ---- */

/* A pod and its namespace fit. */
enum { GROUP_NAME = 512 };

/* The group that a line belongs to, safe to print: "ana", "web-1", "job 17"; an empty text if it
 * belongs to none. Returns false if that is not known. */
bool group_text(const struct model *model, enum group_by by, const struct item *item, char *out,
                size_t capacity);

/* Metrics of a process that are needed to group it; ends with 0. */
const vitals_metric *group_needs(enum group_by by);

/* ---- groups ---- */

struct group_part {
    double sum;
    unsigned known, unknown;
};

struct group {
    uint64_t id;
    bool known; /* false: the group of processes for which it is not known where they belong */
    bool folded;
    size_t count; /* processes; one on two devices is one */
    size_t lines;
    uint64_t devices;
    char name[GROUP_NAME];
    struct group_part parts[ARRANGED_COLUMNS]; /* by column; only of those that are asked for */
};

/* Puts every line of the list into its group and sums up; the lines stand by pid. -1: out of
 * memory. */
int groups_make(struct model *model);

/* Which of two groups comes first, by the sorts; 0: the same one. */
int groups_compare(const struct model *model, const struct group *a, const struct group *b);

/* Inserts the lines of the groups into the sorted list and takes out those that are closed. -1: out
 * of memory. */
int groups_insert(struct model *model);

/* The members of a group, open or closed, each once, as many as there is room for. Returns how many
 * there are. */
size_t group_members(const struct model *model, const struct group *group, struct identity *out,
                     size_t most);

/* The processes of a group that there are, also those that do not pass the filter; 0: not every
 * process is known. */
size_t group_total(const struct model *model, const struct group *group);

/* The group that a line's `group` names; NULL: it is not there any more. */
const struct group *group_find(const struct model *model, uint64_t id);

/* "user ana", "in no container" */
void group_title(const struct model *model, const struct group *group, char *out, size_t capacity);

/* "user ana: 12 processes", with a mark that says whether it is open; "user ana (12)" where that
 * does not fit in so many columns (0: there is room). */
void group_words(const struct model *model, const struct group *group, int columns, char *out,
                 size_t capacity);
