/* group_name.c: see group_name.h. */
#include "monitor/list/group.h"

#include <stdio.h>
#include <string.h>

#include "monitor/list/item.h"

const char *const group_names[] = {"none", "user", "container", "job", "service", "parent", NULL};
const char group_letters[] = "nucjsp";
const char *const panel_names[] = {"devices", "host", "graphs", NULL};
const char *const traffic_names[] = {"auto", "always", "never", NULL};

static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
    for (const unsigned char *at = bytes; size > 0; at++, size--)
        hash = (hash ^ *at) * 0x100000001b3u;
    return hash;
}

/* The name of a line's group, and a hash of everything that it is made of, however long. */
struct naming {
    const struct model *model;
    const vitals_row *row;
    uint64_t hash;
};

/* 1: something is there; 0: nothing, which is known; -1: not known. */
static int take(struct naming *naming, vitals_metric metric, char *out, size_t capacity)
{
    bool ascii = naming->model->options->look.ascii;
    vitals_text text;
    out[0] = '\0';
    if (naming->row == NULL || vitals_row_text(naming->row, metric, &text) <= 0)
        return -1;
    (void)vitals_text_format(text, ascii ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL, out, capacity);
    if (text.size == 0)
        return 0;
    naming->hash = mix(naming->hash, &metric, sizeof metric);
    naming->hash = mix(naming->hash, text.bytes, text.size);
    return 1;
}

static int user_name(struct naming *naming, char *out, size_t capacity)
{
    return take(naming, VITALS_PROCESS_USER, out, capacity);
}

/* By its name where the node knows it; else as much of its id as one needs. */
static int container_name(struct naming *naming, char *out, size_t capacity)
{
    enum { ID_SHOWN = 12 };
    if (take(naming, VITALS_PROCESS_CONTAINER_NAME, out, capacity) > 0)
        return 1;
    int got = take(naming, VITALS_PROCESS_CONTAINER, out, capacity);
    if (got > 0 && strspn(out, "0123456789abcdef") > ID_SHOWN)
        out[ID_SHOWN] = '\0';
    return got;
}

static int job_name(struct naming *naming, char *out, size_t capacity)
{
    char name[GROUP_NAME / 2], place[GROUP_NAME / 4]; /* together they fit */
    int job = take(naming, VITALS_PROCESS_SLURM_JOB, name, sizeof name);
    if (job > 0) {
        (void)snprintf(out, capacity, "job %s", name);
        return 1;
    }
    if (take(naming, VITALS_PROCESS_POD_NAME, name, sizeof name) > 0) {
        bool known = take(naming, VITALS_PROCESS_POD_NAMESPACE, place, sizeof place) > 0;
        (void)snprintf(out, capacity, "%s%s%s", known ? place : "", known ? "/" : "", name);
        return 1;
    }
    int pod = take(naming, VITALS_PROCESS_POD, name, sizeof name);
    (void)snprintf(out, capacity, "%s%s", pod > 0 ? "pod " : "", name);
    return pod > 0 ? 1 : job < 0 && pod < 0 ? -1 : 0;
}

static int unit_name(struct naming *naming, char *out, size_t capacity)
{
    return take(naming, VITALS_PROCESS_UNIT, out, capacity);
}

/* The pid; group.c adds the name once for each group. */
static int parent_name(struct naming *naming, char *out, size_t capacity)
{
    uint64_t pid;
    out[0] = '\0';
    if (naming->row == NULL || vitals_row_u64(naming->row, VITALS_PROCESS_PARENT_PID, &pid) <= 0)
        return -1;
    if (pid == 0)
        return 0;
    naming->hash = mix(naming->hash, &pid, sizeof pid);
    (void)snprintf(out, capacity, "%llu", (unsigned long long)pid);
    return 1;
}

static const struct {
    int (*name)(struct naming *naming, char *out, size_t capacity);
    const char *word;    /* before the name */
    const char *nowhere; /* of processes that belong to none */
    const vitals_metric *needs;
} KINDS[GROUP_KINDS] = {
    [GROUP_NONE] = {NULL, "", "", (const vitals_metric[]){0}},
    [GROUP_USER] = {user_name, "user", "no user", (const vitals_metric[]){0}},
    [GROUP_CONTAINER] = {container_name, "container", "in no container",
                         (const vitals_metric[]){VITALS_PROCESS_CONTAINER,
                                                 VITALS_PROCESS_CONTAINER_NAME, 0}},
    [GROUP_JOB] = {job_name, "", "in no job",
                   (const vitals_metric[]){VITALS_PROCESS_SLURM_JOB, VITALS_PROCESS_POD,
                                           VITALS_PROCESS_POD_NAME, VITALS_PROCESS_POD_NAMESPACE,
                                           0}},
    [GROUP_SERVICE] = {unit_name, "service", "of no service",
                       (const vitals_metric[]){VITALS_PROCESS_UNIT, 0}},
    [GROUP_PARENT] = {parent_name, "parent", "without parent", (const vitals_metric[]){0}},
};

const vitals_metric *group_needs(enum group_by by)
{
    return KINDS[by].needs;
}

bool group_identify(const struct model *model, enum group_by by, const struct item *item, char *out,
                    size_t capacity, uint64_t *id)
{
    struct naming naming = {model, item_row(item), 0xcbf29ce484222325u};
    out[0] = '\0';
    bool known = KINDS[by].name != NULL && KINDS[by].name(&naming, out, capacity) >= 0;
    *id = known ? naming.hash | 1u : 2u;
    return known;
}

bool group_text(const struct model *model, enum group_by by, const struct item *item, char *out,
                size_t capacity)
{
    uint64_t id;
    return group_identify(model, by, item, out, capacity, &id);
}

const char *group_word(enum group_by by, bool named)
{
    return named ? KINDS[by].word : KINDS[by].nowhere;
}
