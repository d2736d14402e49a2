/* path.c: see workload.h. */
#include "workload/workload.h"

#include <string.h>

/* ---- spans ---- */

bool path_element(struct cursor *cursor, struct span *out)
{
    while (!cursor_done(cursor)) {
        if (!cursor_until(cursor, '/', out)) {
            *out = (struct span){cursor->at, (size_t)(cursor->end - cursor->at)};
            cursor->at = cursor->end;
        }
        if (out->size != 0)
            return true;
    }
    return false;
}

size_t path_end(struct span path, const char *at)
{
    size_t end = (size_t)(at - path.bytes);
    while (end < path.size && path.bytes[end] != '/')
        end++;
    return end;
}

static bool span_ends(struct span span, const char *suffix)
{
    size_t size = strlen(suffix);
    return span.size >= size && memcmp(span.bytes + span.size - size, suffix, size) == 0;
}

bool span_between(struct span span, const char *before, const char *behind, struct span *out)
{
    size_t first = strlen(before), last = strlen(behind);
    if (span.size <= first + last || !span_starts(span, before) || !span_ends(span, behind))
        return false;
    *out = (struct span){span.bytes + first, span.size - first - last};
    return true;
}

bool span_is_of(struct span span, const char *allowed)
{
    for (size_t i = 0; i < span.size; i++)
        if (span.bytes[i] == '\0' || strchr(allowed, span.bytes[i]) == NULL)
            return false;
    return span.size != 0;
}

bool span_is_decimal(struct span span)
{
    return span_is_of(span, "0123456789");
}

bool span_is_hex(struct span span)
{
    return span_is_of(span, "0123456789abcdef");
}

bool span_copy(struct span span, char *out, size_t capacity)
{
    bool fits = span.size < capacity;
    size_t size = fits ? span.size : 0;
    if (size > 0)
        memcpy(out, span.bytes, size);
    out[size] = '\0';
    return fits;
}

/* ---- units ---- */

/* systemd puts "_" before a name that the kernel could mistake for a file of the cgroup itself; the
 * unit's name is without it. */
enum { UNIT_MAX = 255 };

/* The characters that systemd permits in the name of a unit. */
static bool is_unit(struct span name, const char *suffix)
{
    struct span stem;
    return name.size <= UNIT_MAX && span_between(name, "", suffix, &stem) &&
           span_is_of(name,
                      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:-_.\\@");
}

struct span unit_of_cgroup(struct span path)
{
    struct span found = {path.bytes, 0}, element;
    struct cursor cursor = cursor_over(path.bytes, path.size);
    while (path_element(&cursor, &element)) {
        if (element.bytes[0] == '_')
            element = (struct span){element.bytes + 1, element.size - 1};
        if (is_unit(element, ".service") || is_unit(element, ".scope"))
            found = element;
    }
    return found;
}

/* ---- containers ---- */

/* The path is walked element by element and the last container that an element tells of stands:
 * one container may run within another. Two kinds of names: ids of 64 hexadecimal digits, which
 * any runtime may decorate ("docker-…", "cri-containerd-….scope", "…:cri-containerd:…"), and free
 * ones, which count only where their place in the path says so. */

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

static bool take_name(struct span parent, struct span element, struct span *out)
{
    /* machine.slice, or a slice that a user made below it: machine-web.slice. libvirt names its
     * virtual machines as systemd names containers: machine-qemu\x2d1\x2dname. */
    struct span slice;
    bool machines = span_equal(parent, "machine.slice") ||
                    span_between(parent, "machine-", ".slice", &slice);
    for (size_t i = 0; i < ARRAY_COUNT(NAMED); i++)
        if (span_between(element, NAMED[i].before, NAMED[i].behind, out))
            return !NAMED[i].slice || (machines && !span_starts(*out, "qemu\\x2d"));
    *out = element;
    return span_equal(parent, "lxc") || span_equal(parent, "lxc.payload"); // which it is below
}

struct span container_of_cgroup(struct span path)
{
    struct span found = {path.bytes, 0}, outer = found, parent = found, name;
    struct cursor cursor = cursor_over(path.bytes, path.size);
    bool taken = false; // of the parent
    for (struct span element; path_element(&cursor, &element); parent = element) {
        if (taken && span_equal(element, "supervisor") &&
            (span_starts(parent, "machine-") || span_starts(parent, "systemd-nspawn@")))
            found = outer; // nspawn's own process, beside the payload
        taken = take_id(element, &name) || take_task(parent, element, &name) ||
                take_name(parent, element, &name);
        if (taken) {
            outer = found;
            found = name;
        }
    }
    return found;
}

/* ---- pods ---- */

/* Two drivers of cgroups write two forms:
 *   systemd: …/kubepods-burstable-pod1111_2222….slice/…, with "_" for "-", and in one element with
 *            the container where containerd is told the wrong driver ("….slice:cri-containerd:…");
 *   cgroupfs: …/kubepods/burstable/pod1111-2222…/….
 * kind and its like have a node in a container: the innermost pod counts. */

enum { UUID_SIZE = 36, HASH_SIZE = 32 };

/* A UUID with that separator, or the hash of a static pod; *size is how long it is. */
static bool is_uid(struct span text, char separator, size_t *size)
{
    static const size_t dashes[] = {8, 13, 18, 23};
    struct span hash = {text.bytes, size_min(text.size, HASH_SIZE)};
    *size = HASH_SIZE;
    if (hash.size == HASH_SIZE && span_is_hex(hash))
        return true;
    *size = UUID_SIZE;
    if (text.size < UUID_SIZE)
        return false;
    for (size_t i = 0, dash = 0; i < UUID_SIZE; i++) {
        if (dash < ARRAY_COUNT(dashes) && i == dashes[dash]) {
            dash++;
            if (text.bytes[i] != separator)
                return false;
        } else if (!span_is_hex((struct span){text.bytes + i, 1})) {
            return false;
        }
    }
    return true;
}

/* "kubelet-kubepods-burstable-pod1111_….slice", alone or with ":…" behind. */
static bool take_slice(struct span element, struct span *uid)
{
    static const char mark[] = "-pod";
    size_t size, last = sizeof mark - 1;
    bool kubepods = span_starts(element, "kubepods-") || span_starts(element, "kubelet-kubepods-");
    for (size_t at = 0; kubepods && at + last < element.size; at++) {
        struct span rest = {element.bytes + at + last, element.size - at - last};
        if (memcmp(element.bytes + at, mark, last) != 0 || !is_uid(rest, '_', &size))
            continue;
        struct span behind = {rest.bytes + size, rest.size - size};
        if (!span_equal(behind, ".slice") && !span_starts(behind, ".slice:"))
            continue;
        *uid = (struct span){rest.bytes, size};
        return true;
    }
    return false;
}

/* Below "kubepods", or a class of quality below it; or where what lies above is hidden from us. */
static bool take_folder(struct span above, struct span parent, struct span element,
                        struct span *uid)
{
    static const char *const classes[] = {"burstable", "besteffort", "guaranteed"};
    size_t size;
    struct span rest;
    bool below = span_equal(parent, "kubepods") || span_equal(parent, "..");
    for (size_t i = 0; i < ARRAY_COUNT(classes); i++)
        below |= span_equal(parent, classes[i]) && span_equal(above, "kubepods");
    if (!below || !span_between(element, "pod", "", &rest) || !is_uid(rest, '-', &size) ||
        size != rest.size)
        return false;
    *uid = rest;
    return true;
}

size_t pod_of_cgroup(struct span path, char out[static POD_UID])
{
    struct span above = {path.bytes, 0}, parent = above, found = above, element, uid;
    struct cursor cursor = cursor_over(path.bytes, path.size);
    for (; path_element(&cursor, &element); above = parent, parent = element)
        if (take_slice(element, &uid) || take_folder(above, parent, element, &uid))
            found = uid;
    (void)span_copy(found, out, POD_UID);
    for (char *at = out; *at != '\0'; at++)
        *at = *at == '_' ? '-' : *at;
    return found.size != 0 ? path_end(path, found.bytes) : 0;
}
