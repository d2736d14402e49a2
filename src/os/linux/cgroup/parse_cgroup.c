/* parse_cgroup.c: /proc/PID/cgroup, "hierarchy:controllers:path" per line (cgroups(7)); and from
 * those of /proc/self/mountinfo to where such a cgroup is below /sys.
 *
 * Version 2 is the line "0::path". A hybrid machine has both, and then version 2 often holds the
 * root alone while the controllers are on version 1. A path may hold ':' itself.
 * A mount shows a hierarchy from some cgroup, its root, downwards; both that root and the path of
 * ours are given as the cgroup namespace sees them (cgroup_namespaces(7)). A namespace
 * writes "/.." for a cgroup above its root, and leaves out the names on the way down again.
 * Thread rule: pure. */
#include "os/linux/cgroup/cgroup.h"
#include "os/linux/machine/mounts.h"

#include <string.h>

/* Whether the comma list has the word. */
static bool list_has(struct span list, const char *word)
{
    struct cursor at = cursor_over(list.bytes, list.size);
    struct span item;
    while (cursor_until(&at, ',', &item))
        if (span_equal(item, word))
            return true;
    return span_equal((struct span){at.at, (size_t)(at.end - at.at)}, word);
}

struct span os_parse_cgroup(const char *bytes, size_t size)
{
    enum { NONE, SECOND_ROOT, FIRST, FIRST_CPUACCT, FIRST_MEMORY, SECOND } best_rank = NONE;
    struct span best = {bytes, 0};
    struct cursor cursor = cursor_over(bytes, size);
    for (struct span line; cursor_line(&cursor, &line);) {
        struct cursor rest = cursor_over(line.bytes, line.size);
        struct span hierarchy, controllers;
        if (!cursor_until(&rest, ':', &hierarchy) || !cursor_until(&rest, ':', &controllers))
            continue;
        struct span path = {rest.at, (size_t)(rest.end - rest.at)};
        unsigned rank = FIRST;
        if (path.size == 0 || (controllers.size == 0 && !span_equal(hierarchy, "0")))
            continue;
        if (controllers.size == 0)
            rank = span_equal(path, "/") ? SECOND_ROOT : SECOND;
        else if (list_has(controllers, "memory"))
            rank = FIRST_MEMORY;
        else if (list_has(controllers, "cpuacct"))
            rank = FIRST_CPUACCT;
        if (rank > best_rank) {
            best = path;
            best_rank = rank;
        }
    }
    return best;
}

bool host_parse_membership(struct span line, const char *controller, unsigned *version,
                           struct span *path)
{
    struct cursor at = cursor_over(line.bytes, line.size);
    struct span number, list;
    if (!cursor_until(&at, ':', &number) || !cursor_until(&at, ':', &list))
        return false;
    bool unified = list.size == 0 && span_equal(number, "0");
    if (!unified && !list_has(list, controller))
        return false;
    if (cursor_done(&at) || *at.at != '/')
        return false;
    *version = unified ? 2 : 1;
    *path = (struct span){at.at, (size_t)(at.end - at.at)};
    return true;
}

/* False where it is no absolute path, is too long or holds a NUL. */
static bool take_path(struct span word, struct cgroup_path *out)
{
    struct cursor at = cursor_over(word.bytes, word.size);
    out->size = 0;
    while (!cursor_done(&at)) {
        char byte = mount_unescape(&at);
        if (byte == '\0' || out->size + 1 >= sizeof out->bytes)
            return false;
        out->bytes[out->size++] = byte;
    }
    out->bytes[out->size] = '\0';
    return out->size > 0 && out->bytes[0] == '/';
}

bool host_parse_cgroup_mount(struct span line, struct cgroup_mount *out)
{
    struct mount_fields fields;
    struct cursor at;
    if (!mount_split(line, &fields, &at))
        return false;
    out->version = span_equal(fields.type, "cgroup2")  ? 2
                   : span_equal(fields.type, "cgroup") ? 1
                                                       : 0;
    if (out->version == 0)
        return false;
    out->options = (struct span){"", 0};
    // The source may be empty; the options are last.
    for (struct span word; cursor_word(&at, &word);)
        out->options = word;
    return take_path(fields.root, &out->root) && take_path(fields.point, &out->point);
}

bool host_mount_has(const struct cgroup_mount *mount, unsigned version, const char *controller)
{
    return mount->version == version && (version == 2 || list_has(mount->options, controller));
}

/* How many "/.." a path begins with. */
static size_t count_ups(struct span path)
{
    size_t ups = 0;
    while (path.size >= 3 && memcmp(path.bytes, "/..", 3) == 0 &&
           (path.size == 3 || path.bytes[3] == '/')) {
        ups++;
        path.bytes += 3;
        path.size -= 3;
    }
    return ups;
}

void host_place_cgroup(const struct cgroup_mount *mount, struct span cgroup,
                       struct cgroup_place *place)
{
    static const char SYS[] = "/sys/";
    enum { SYS_SIZE = sizeof SYS - 1 };
    struct span root = {mount->root.bytes, mount->root.size};
    struct span point = {mount->point.bytes, mount->point.size};
    if (!span_starts(point, SYS) || point.size == SYS_SIZE)
        return;

    // The root may be an ancestor of the cgroup, which does not tell the way down.
    size_t ups = count_ups(root);
    bool above = ups * 3 == root.size && count_ups(cgroup) < ups;
    // Or the rest of the cgroup's path lies below it; "/" is an empty path and a slash.
    root.size = root.size == 1 ? 0 : root.size;
    cgroup.size = cgroup.size == 1 ? 0 : cgroup.size;
    struct span rest = {"", 0};
    bool inner = cgroup.size >= root.size && memcmp(cgroup.bytes, root.bytes, root.size) == 0;
    if (inner)
        rest = (struct span){cgroup.bytes + root.size, cgroup.size - root.size};
    inner = inner && (rest.size == 0 || (rest.bytes[0] == '/' && count_ups(rest) == 0));
    if (!inner && !above)
        return;
    point.bytes += SYS_SIZE;
    point.size -= SYS_SIZE;
    if (point.size + rest.size >= CGROUP_PATH_MAX)
        return;

    // A later mount at the same point hides the earlier one.
    bool hides = place->found && place->mount_size == point.size &&
                 memcmp(place->path.bytes, point.bytes, point.size) == 0;
    bool better = !place->found || (place->outer && inner) ||
                  (place->outer == !inner && rest.size > place->path.size - place->mount_size);
    if (!hides && !better)
        return;
    place->found = true;
    place->outer = !inner;
    place->mount_size = point.size;
    place->path.size = point.size + rest.size;
    memcpy(place->path.bytes, point.bytes, point.size);
    if (rest.size > 0)
        memcpy(place->path.bytes + point.size, rest.bytes, rest.size);
    place->path.bytes[place->path.size] = '\0';
}

bool cgroup_parse_field(const char *bytes, size_t size, struct span key, uint64_t *out)
{
    struct cursor at = cursor_over(bytes, size);
    struct span line, word;
    while (cursor_line(&at, &line)) {
        struct cursor field = cursor_over(line.bytes, line.size);
        if (cursor_word(&field, &word) && word.size == key.size &&
            memcmp(word.bytes, key.bytes, key.size) == 0)
            return cursor_u64(&field, out);
    }
    return false;
}
