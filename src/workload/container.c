/* container.c: see container.h.
 *
 * The path is walked element by element and the last container that an element tells of stands:
 * one container may run within another. Two kinds of names: ids of 64 hexadecimal digits, which
 * any runtime may decorate ("docker-…", "cri-containerd-….scope", "…:cri-containerd:…"), and free
 * ones, which count only where their place in the path says so. */
#include "workload/container.h"
#include "workload/path.h"

#include <string.h>

enum { ID_DIGITS = 64, TASK_DIGITS = 32 };

/* An element that holds a free name between these two; `slice`: below that of machines. */
static const struct {
    const char *before, *behind;
    bool slice;
} NAMED[] = {
    {"lxc.payload.", "", false},
    {"machine-", ".scope", true},
    {"systemd-nspawn@", ".service", true},
};

/* The element below one of these is the name. */
static const char *const PARENTS[] = {"lxc", "lxc.payload"};

/* An id at the element's end, alone or behind the runtime's word and one of "-:". */
static bool take_id(struct span element, struct span *out)
{
    if (span_ends(element, ".scope"))
        element.size -= strlen(".scope");
    if (element.size < ID_DIGITS)
        return false;
    struct span word = {element.bytes, element.size - ID_DIGITS};
    struct span id = {element.bytes + word.size, ID_DIGITS};
    if (!span_is_hex(id))
        return false;
    if (word.size != 0 && word.bytes[word.size - 1] != '-' && word.bytes[word.size - 1] != ':')
        return false;
    if (span_ends(word, "conmon-"))
        return false;
    *out = id;
    return true;
}

/* Fargate: /ecs/TASK/TASK-NUMBER. */
static bool take_task(struct span parent, struct span element, struct span *out)
{
    if (parent.size != TASK_DIGITS || !span_is_hex(parent) || element.size <= TASK_DIGITS + 1 ||
        element.bytes[TASK_DIGITS] != '-' ||
        memcmp(parent.bytes, element.bytes, TASK_DIGITS) != 0 ||
        !span_is_decimal(
            (struct span){element.bytes + TASK_DIGITS + 1, element.size - TASK_DIGITS - 1}))
        return false;
    *out = element;
    return true;
}

/* libvirt names its virtual machines as systemd names containers: machine-qemu\x2d1\x2dname. */
static bool is_virtual_machine(struct span name)
{
    return span_starts(name, "qemu\\x2d");
}

/* machine.slice, or a slice that a user made below it: machine-web.slice. */
static bool is_machines(struct span slice)
{
    struct span name;
    return span_equal(slice, "machine.slice") || span_between(slice, "machine-", ".slice", &name);
}

static bool take_name(struct span parent, struct span element, struct span *out)
{
    for (size_t i = 0; i < ARRAY_COUNT(NAMED); i++)
        if (span_between(element, NAMED[i].before, NAMED[i].behind, out))
            return !NAMED[i].slice || (is_machines(parent) && !is_virtual_machine(*out));
    for (size_t i = 0; i < ARRAY_COUNT(PARENTS); i++) {
        if (span_equal(parent, PARENTS[i])) {
            *out = element;
            return true;
        }
    }
    return false;
}

/* The container that the element tells of; false where it tells of none. */
static bool take(struct span parent, struct span element, struct span *out)
{
    return take_id(element, out) || take_task(parent, element, out) ||
           take_name(parent, element, out);
}

struct span container_of_cgroup(struct span path)
{
    struct span found = {path.bytes, 0}, parent = found, name;
    struct cursor cursor = cursor_over(path.bytes, path.size);
    bool taken = false; // of the parent
    for (struct span element; path_element(&cursor, &element); parent = element) {
        if (taken && span_equal(element, "supervisor"))
            found.size = 0; // nspawn's own process, beside the payload
        taken = take(parent, element, &name);
        if (taken)
            found = name;
    }
    return found;
}
