/* Cgroups on an operating system that has none. See null.c. Thread rule: constant. */
#include "os/attach.h"

int os_attach(const struct os *os, int64_t pid, struct os_attached **out)
{
    (void)os, (void)pid;
    *out = NULL;
    return 0;
}

void os_attached_free(struct os_attached *attached)
{
    (void)attached;
}

size_t os_attached_count(const struct os_attached *attached)
{
    (void)attached;
    return 0;
}

const char *os_attached_name(const struct os_attached *attached, size_t which)
{
    (void)attached, (void)which;
    return "";
}

int os_attached_list(const struct os_attached *attached, size_t which, struct os_pids *pids)
{
    (void)attached, (void)which, (void)pids;
    return 0;
}

bool os_attached_holds(const struct os_attached *attached, size_t which, int64_t pid)
{
    (void)attached, (void)which, (void)pid;
    return false;
}

void os_attached_read(const struct os_attached *attached, size_t which, struct counted *out)
{
    (void)attached, (void)which, (void)out;
}

int64_t os_parent_of(const struct os *os, int64_t pid)
{
    (void)os, (void)pid;
    return 0;
}
