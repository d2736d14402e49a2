/* count.c: the accounting methods of Linux, and for all of them the places of cgroups: those of the
 * launcher are looked up once. See os/count.h. Thread rule: the launcher's thread. */
#include "os/linux/accounting/count.h"

#include "util/memory.h"

/* Best first. */
const struct os_counter *const os_counters[] = {
    &count_cgroup2, &count_scope,     &count_perf, &count_taskstats,
    &count_cgroup1, &count_connector, &count_wait, NULL};

/* Not cleared: most of it is never touched, and an untouched page costs nothing. */
void *os_count_shared_new(void)
{
    struct count_shared *shared = memory_resize(NULL, 1, sizeof(*shared));
    if (shared != NULL)
        shared->looked = shared->elsewhere = false;
    return shared;
}

const struct cgroup_found *count_cgroup(const struct os_count_options *options,
                                        enum cgroup_controller controller)
{
    static const unsigned WANTED = 1u << CGROUP_CPUACCT | 1u << CGROUP_MEMORY | 1u << CGROUP_PIDS |
                                   1u << CGROUP_IO | 1u << CGROUP_SECOND;
    struct count_shared *shared = options->shared;
    const struct os *os = options->os;
    if (shared->elsewhere)
        return &shared->cgroups.found[controller];
    if (!shared->looked)
        shared->size = cgroup_usual_read(os, shared->memberships, sizeof shared->memberships);
    shared->looked = true;
    const struct span memberships = {shared->memberships, shared->size};
    if (shared->size > 0 && cgroup_usual_find(os, memberships, controller, &shared->last_asked))
        return &shared->last_asked;
    cgroups_find(&shared->cgroups, os, 0, WANTED);
    shared->elsewhere = true;
    return &shared->cgroups.found[controller];
}

bool count_membership(const struct os *os, int64_t pid, char text[static COUNT_TEXT],
                      struct span *place)
{
    struct span line;
    unsigned version;
    int64_t read = linux_process_line(os, pid, "cgroup", text, COUNT_TEXT);
    struct cursor at = cursor_over(text, read > 0 ? (size_t)read : 0);
    while (cursor_line(&at, &line))
        if (host_parse_membership(line, "", &version, place) && version == 2)
            return true;
    return false;
}
