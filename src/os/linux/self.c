/* self.c: see os/self.h. */
#include "os/self.h"

#include "os/linux/lines.h"
#include "os/linux/linux.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

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
