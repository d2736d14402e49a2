/* group_name.c: see group_name.h. */
#include "monitor/list/group.h"

#include <stdio.h>
#include <string.h>

#include "monitor/model.h"

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

// clang-format off
#define P(suffix) VITALS_PROCESS_##suffix
static const struct {
    const char *word;       /* before the name */
    const char *nowhere;    /* of processes that belong to none */
    vitals_metric needs[5]; /* ends with 0 */
} KINDS[GROUP_KINDS] = {
    [GROUP_NONE] = {"", "", {0}},
    [GROUP_USER] = {"user", "no user", {0}},
    [GROUP_CONTAINER] = {"container", "in no container", {P(CONTAINER), P(CONTAINER_NAME)}},
    [GROUP_JOB] = {"", "in no job", {P(SLURM_JOB), P(POD), P(POD_NAME), P(POD_NAMESPACE)}},
    [GROUP_SERVICE] = {"service", "of no service", {P(UNIT)}},
    [GROUP_PARENT] = {"parent", "without parent", {0}},
};
// clang-format on

const vitals_metric *group_needs(enum group_by by)
{
    return KINDS[by].needs;
}

/* As `take` of what the group is called. */
static int name_of(struct naming *naming, enum group_by by, char *out, size_t capacity)
{
    enum { ID_SHOWN = 12 };
    char name[GROUP_NAME / 2], place[GROUP_NAME / 4]; /* together they fit */
    uint64_t number;
    int got, pod;
    switch (by) {
    case GROUP_USER: return take(naming, P(USER), out, capacity);
    case GROUP_SERVICE: return take(naming, P(UNIT), out, capacity);
    case GROUP_CONTAINER: /* by its name where the node knows it; else by the start of its id */
        if (take(naming, P(CONTAINER_NAME), out, capacity) > 0)
            return 1;
        got = take(naming, P(CONTAINER), out, capacity);
        if (got > 0 && strspn(out, "0123456789abcdef") > ID_SHOWN)
            out[ID_SHOWN] = '\0';
        return got;
    case GROUP_JOB:
        got = take(naming, P(SLURM_JOB), name, sizeof name);
        if (got > 0) {
            (void)snprintf(out, capacity, "job %s", name);
            return 1;
        }
        if (take(naming, P(POD_NAME), name, sizeof name) > 0) {
            bool known = take(naming, P(POD_NAMESPACE), place, sizeof place) > 0;
            (void)snprintf(out, capacity, "%s%s%s", known ? place : "", known ? "/" : "", name);
            return 1;
        }
        pod = take(naming, P(POD), name, sizeof name);
        (void)snprintf(out, capacity, "%s%s", pod > 0 ? "pod " : "", name);
        return pod > 0 ? 1 : got < 0 && pod < 0 ? -1 : 0;
    case GROUP_PARENT: /* the pid; group.c adds the name once for each group */
        if (naming->row == NULL || vitals_row_u64(naming->row, P(PARENT_PID), &number) <= 0)
            return -1;
        if (number == 0)
            return 0;
        naming->hash = mix(naming->hash, &number, sizeof number);
        (void)snprintf(out, capacity, "%llu", (unsigned long long)number);
        return 1;
    case GROUP_NONE:
    case GROUP_KINDS: break;
    }
    return -1;
}

bool group_identify(const struct model *model, enum group_by by, const struct item *item, char *out,
                    size_t capacity, uint64_t *id)
{
    struct naming naming = {model, item_row(item), 0xcbf29ce484222325u};
    out[0] = '\0';
    bool known = name_of(&naming, by, out, capacity) >= 0;
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
