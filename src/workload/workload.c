/* workload.c: see workload.h. */
#include "workload/workload.h"

#include <string.h>

enum { CONTAINER_DIGITS = 64 };

static const char CLAIMED[] = "claimed:";

static const char *const WORDS[] = {
    [WORKLOAD_NONE] = "",         [WORKLOAD_SLURM] = "slurm", [WORKLOAD_POD] = "k8s",
    [WORKLOAD_CONTAINER] = "ctr", [WORKLOAD_UNIT] = "unit",   [WORKLOAD_USER] = "user",
};

const char *workload_word(enum workload_kind kind)
{
    return WORDS[kind];
}

/* The parts of an id in their order, and what stands before each. */
struct workload_part {
    char before;
    uint16_t place;
    bool last; /* may hold anything: it is all that is left */
};

enum { PARTS = 3 };
static const struct workload_part ID_PARTS[][PARTS] = {
    [WORKLOAD_NONE] = {{0}},
    [WORKLOAD_SLURM] = {{':', offsetof(struct workload, job), false},
                        {'.', offsetof(struct workload, step), true}},
    [WORKLOAD_POD] = {{':', offsetof(struct workload, space), false},
                      {'/', offsetof(struct workload, pod), false},
                      {'/', offsetof(struct workload, container), true}},
    [WORKLOAD_CONTAINER] = {{':', offsetof(struct workload, name), true}},
    [WORKLOAD_UNIT] = {{':', offsetof(struct workload, name), true}},
    [WORKLOAD_USER] = {{':', offsetof(struct workload, name), true}},
};
_Static_assert(ARRAY_COUNT(ID_PARTS) == ARRAY_COUNT(WORDS), "each kind has both");

void workload_format(const struct workload *workload, struct buffer *out)
{
    const struct workload_part *parts = ID_PARTS[workload->kind];
    buffer_string(out, workload->claimed ? CLAIMED : "");
    buffer_string(out, WORDS[workload->kind]);
    for (size_t i = 0; i < PARTS && parts[i].before != '\0'; i++) {
        struct span text;
        memcpy(&text, (const char *)workload + parts[i].place, sizeof text);
        if (workload->kind == WORKLOAD_CONTAINER && text.size == CONTAINER_DIGITS &&
            span_is_hex(text))
            text.size = WORKLOAD_CONTAINER_DIGITS;
        if (text.size == 0 && i > 0) // a job without a step
            break;
        buffer_byte(out, parts[i].before);
        buffer_append(out, text.bytes, text.size);
    }
}

bool workload_parse(struct span id, struct workload *out)
{
    struct cursor at = cursor_over(id.bytes, id.size);
    struct span word;
    *out = (struct workload){.claimed = cursor_literal(&at, CLAIMED)};
    if (!cursor_until(&at, ':', &word))
        return false;
    for (unsigned kind = WORKLOAD_SLURM; kind < ARRAY_COUNT(WORDS); kind++)
        if (span_equal(word, WORDS[kind]))
            out->kind = (enum workload_kind)kind;
    const struct workload_part *parts = ID_PARTS[out->kind];
    for (size_t i = 0; i < PARTS && parts[i].before != '\0'; i++) {
        struct span text = {at.at, (size_t)(at.end - at.at)};
        char next = i + 1 < PARTS ? parts[i + 1].before : '\0';
        bool more = !parts[i].last && next != '\0' && cursor_until(&at, next, &text);
        if (text.size == 0)
            return false;
        memcpy((char *)out + parts[i].place, &text, sizeof text);
        if (!more)
            return parts[i].last || out->kind == WORKLOAD_SLURM;
    }
    return false;
}

void workload_path_read(struct span path, struct workload_path *out)
{
    struct slurm slurm;
    struct cursor cursor = cursor_over(path.bytes, path.size);
    *out = (struct workload_path){container_of_cgroup(path), {path.bytes, 0}};
    if (!slurm_of_cgroup(path, &slurm) || !slurm_is_sluid(slurm.job))
        return;
    for (struct span element, id; path_element(&cursor, &element);)
        if (span_between(element, "job_", "", &id) && span_equal(id, slurm.job))
            out->sluid = id;
}

enum workload_kind workload_of_cgroup(struct span path, size_t *place)
{
    struct slurm slurm;
    *place = 0;
    if (slurm_of_cgroup(path, &slurm)) {
        *place = slurm.own;
        return WORKLOAD_SLURM;
    }
    struct span name = container_of_cgroup(path);
    enum workload_kind kind = WORKLOAD_CONTAINER;
    if (name.size == 0) {
        /* Processes of a login, below user.slice/user-1000.slice, are its user's. */
        struct span parent = {path.bytes, 0}, element, uid;
        struct cursor cursor = cursor_over(path.bytes, path.size);
        for (; path_element(&cursor, &element); parent = element)
            if (span_equal(parent, "user.slice") &&
                span_between(element, "user-", ".slice", &uid) && span_is_decimal(uid))
                return WORKLOAD_USER;
        name = unit_of_cgroup(path);
        kind = WORKLOAD_UNIT;
    }
    if (name.size == 0)
        return WORKLOAD_USER;
    *place = path_end(path, name.bytes);
    /* The unit of nspawn's supervisor is the container's cgroup too: its own lies below. */
    if (kind == WORKLOAD_UNIT && container_of_cgroup((struct span){path.bytes, *place}).size != 0) {
        struct span rest = {path.bytes + *place, path.size - *place}, supervisor = rest;
        struct cursor below = cursor_over(rest.bytes, rest.size);
        (void)path_element(&below, &supervisor);
        *place = path_end(path, supervisor.bytes);
    }
    return kind;
}
