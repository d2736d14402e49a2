/* ends.c: see os/ends.h. No births and no ends are told here. */
#include "os/ends.h"

#include <errno.h>

int os_ends_open(const struct os *os, const struct os_trees *trees, struct os_ends **out)
{
    (void)os, (void)trees, (void)out;
    return -ENOTSUP;
}

void os_ends_free(struct os_ends *ends)
{
    (void)ends;
}

void os_ends_drain(struct os_ends *ends)
{
    (void)ends;
}

int os_ends_news(const struct os_ends *ends)
{
    (void)ends;
    return -1;
}

void os_ends_read(struct os_ends *ends, struct counted *out)
{
    (void)ends, (void)out;
}

const char *os_ends_names(const struct os_ends *ends)
{
    (void)ends;
    return "";
}
