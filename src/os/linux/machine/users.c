/* users.c: names of users and groups, by the system's own rules (files, LDAP, systemd); and our own
 * user and home folder, which need no name service. May load modules and wait for a network: only
 * on workers and callers' own threads. Thread rule: any thread. */

#include "os/linux/lines.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ENTRY_MIN = 1024, ENTRY_MAX = 1 << 20 };

/* Looks one up with `size` bytes of room. Returns 0 or an errno; ERANGE: too little room. *name is
 * NULL if there is none. */
typedef int look_up(uint64_t id, char *room, size_t size, const char **name);

static int look_up_user(uint64_t id, char *room, size_t size, const char **name)
{
    struct passwd entry, *found = NULL;
    int result = getpwuid_r((uid_t)id, &entry, room, size, &found);
    *name = found != NULL ? found->pw_name : NULL;
    return result;
}

static int look_up_group(uint64_t id, char *room, size_t size, const char **name)
{
    struct group entry, *found = NULL;
    int result = getgrgid_r((gid_t)id, &entry, room, size, &found);
    *name = found != NULL ? found->gr_name : NULL;
    return result;
}

static int name_of(look_up *ask, uint64_t id, char *out, size_t capacity)
{
    if (id > UINT32_MAX)
        return -ENOENT;
    struct buffer room = {0};
    const char *name = NULL;
    int result = ERANGE;
    for (size_t size = ENTRY_MIN; size <= ENTRY_MAX && result == ERANGE; size *= 4) {
        char *bytes = buffer_reserve(&room, size);
        if (bytes == NULL)
            break;
        do
            result = ask(id, bytes, size, &name);
        while (result == EINTR);
    }
    bool named = result == 0 && name != NULL && name[0] != '\0' && strlen(name) < capacity;
    if (named)
        memcpy(out, name, strlen(name) + 1);
    buffer_done(&room);
    if (result == EMFILE || result == ENFILE)
        return -result;
    return named ? 0 : -ENOENT;
}

int os_user_name(uint64_t uid, char *out, size_t capacity)
{
    return name_of(look_up_user, uid, out, capacity);
}

int os_group_name(uint64_t gid, char *out, size_t capacity)
{
    return name_of(look_up_group, gid, out, capacity);
}

int os_self_folder(char *out, size_t capacity)
{
    return getcwd(out, capacity) != NULL ? 0 : -errno;
}

struct self_wanted {
    uint64_t uid;
    char *out;
    size_t capacity;
    bool found;
};

/* passwd(5): name:password:uid:… */
static void take_user(struct span line, void *data)
{
    struct self_wanted *wanted = data;
    struct cursor cursor = cursor_over(line.bytes, line.size);
    struct span name, password;
    uint64_t uid;
    if (wanted->found || !cursor_until(&cursor, ':', &name) ||
        !cursor_until(&cursor, ':', &password) || !cursor_u64(&cursor, &uid) ||
        uid != wanted->uid || name.size == 0)
        return;
    wanted->found = true;
    (void)snprintf(wanted->out, wanted->capacity, "%.*s", (int)name.size, name.bytes);
}

int os_self_user(const struct os *os, char *out, size_t capacity)
{
    struct self_wanted wanted = {.uid = geteuid(), .out = out, .capacity = capacity};
    if (os->etc >= 0)
        (void)lines_each(os, os->etc, "passwd", take_user, &wanted);
    if (!wanted.found)
        (void)snprintf(out, capacity, "%llu", (unsigned long long)wanted.uid);
    return 0;
}
