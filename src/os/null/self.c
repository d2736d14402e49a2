/* Who and where we are, on an operating system that does not tell.
 * Thread rule: as os/self.h says. */
#include "os/self.h"

#include <errno.h>

int os_self_folder(char *out, size_t capacity)
{
    (void)out;
    (void)capacity;
    return -ENOTSUP;
}

int os_self_user(const struct os *os, char *out, size_t capacity)
{
    (void)os;
    (void)out;
    (void)capacity;
    return -ENOTSUP;
}
