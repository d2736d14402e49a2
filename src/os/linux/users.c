/* users.c: names of users, by the system's own rules (files, LDAP, systemd).
 *
 * May load modules and wait for a network: lanes only. Thread rule: any thread. */
#include "os/os.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>

enum { ENTRY_MIN = 1024, ENTRY_MAX = 1 << 20 };

bool os_user_name(uint64_t uid, char *out, size_t capacity)
{
    if (uid > UINT32_MAX)
        return false;
    struct buffer room = {0};
    struct passwd entry, *found = NULL;
    int result = ERANGE;
    for (size_t size = ENTRY_MIN; size <= ENTRY_MAX && result == ERANGE; size *= 4) {
        char *bytes = buffer_reserve(&room, size);
        if (bytes == NULL)
            break;
        do
            result = getpwuid_r((uid_t)uid, &entry, bytes, size, &found);
        while (result == EINTR);
    }
    bool named = result == 0 && found != NULL && found->pw_name != NULL &&
                 found->pw_name[0] != '\0' && strlen(found->pw_name) < capacity;
    if (named)
        memcpy(out, found->pw_name, strlen(found->pw_name) + 1);
    buffer_done(&room);
    return named;
}
