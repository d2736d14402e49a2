/* pod.c: see pod.h. Two drivers of cgroups write two forms:
 *   systemd: …/kubepods-burstable-pod1111_2222….slice/…, with "_" for "-", and in one element with
 *            the container where containerd is told the wrong driver ("….slice:cri-containerd:…");
 *   cgroupfs: …/kubepods/burstable/pod1111-2222…/….
 * kind and its like have a node in a container: the innermost pod counts. */
#include "workload/pod.h"
#include "workload/path.h"

#include <string.h>

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

bool pod_of_cgroup(struct span path, char out[static POD_UID])
{
    struct span above = {path.bytes, 0}, parent = above, found = above, element, uid;
    struct cursor cursor = cursor_over(path.bytes, path.size);
    for (; path_element(&cursor, &element); above = parent, parent = element)
        if (take_slice(element, &uid) || take_folder(above, parent, element, &uid))
            found = uid;
    (void)span_copy(found, out, POD_UID);
    for (char *at = out; *at != '\0'; at++)
        *at = *at == '_' ? '-' : *at;
    return found.size != 0;
}
