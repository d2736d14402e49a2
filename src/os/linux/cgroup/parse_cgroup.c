/* parse_cgroup.c: /proc/PID/cgroup, "hierarchy:controllers:path" per line (cgroups(7)).
 *
 * Version 2 is the line "0::path". A hybrid machine has both, and then version 2 often holds the
 * root alone while the controllers are on version 1. A path may hold ':' itself. Pure. */
#include "os/os.h"

#include <string.h>

/* The rank of a line, best last. */
enum rank { NONE, SECOND_ROOT, FIRST, FIRST_CPUACCT, FIRST_MEMORY, SECOND };

static bool controllers_have(struct span controllers, const char *name)
{
    struct cursor cursor = cursor_over(controllers.bytes, controllers.size);
    for (struct span one; cursor_until(&cursor, ',', &one);)
        if (span_equal(one, name))
            return true;
    return span_equal((struct span){cursor.at, (size_t)(cursor.end - cursor.at)}, name);
}

static enum rank rank_of(struct span hierarchy, struct span controllers, struct span path)
{
    if (controllers.size == 0) {
        if (!span_equal(hierarchy, "0"))
            return NONE;
        return span_equal(path, "/") ? SECOND_ROOT : SECOND;
    }
    if (controllers_have(controllers, "memory"))
        return FIRST_MEMORY;
    return controllers_have(controllers, "cpuacct") ? FIRST_CPUACCT : FIRST;
}

struct span os_parse_cgroup(const char *bytes, size_t size)
{
    struct span best = {bytes, 0};
    enum rank best_rank = NONE;
    struct cursor cursor = cursor_over(bytes, size);
    for (struct span line; cursor_line(&cursor, &line);) {
        struct cursor rest = cursor_over(line.bytes, line.size);
        struct span hierarchy, controllers;
        if (!cursor_until(&rest, ':', &hierarchy) || !cursor_until(&rest, ':', &controllers))
            continue;
        struct span path = {rest.at, (size_t)(rest.end - rest.at)};
        enum rank rank = path.size != 0 ? rank_of(hierarchy, controllers, path) : NONE;
        if (rank > best_rank) {
            best = path;
            best_rank = rank;
        }
    }
    return best;
}
