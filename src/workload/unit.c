/* unit.c: see unit.h. systemd puts "_" before a name that the kernel could mistake for a file of
 * the cgroup itself; the unit's name is without it. */
#include "workload/unit.h"
#include "workload/path.h"

#include <string.h>

enum { UNIT_MAX = 255 };

/* What systemd lets a unit be called. */
static bool is_unit(struct span name, const char *suffix)
{
    static const char allowed[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  ":-_.\\@";
    struct span stem;
    if (name.size > UNIT_MAX || !span_between(name, "", suffix, &stem))
        return false;
    for (size_t i = 0; i < name.size; i++)
        if (name.bytes[i] == '\0' || strchr(allowed, name.bytes[i]) == NULL)
            return false;
    return true;
}

struct span unit_of_cgroup(struct span path)
{
    struct span found = {path.bytes, 0}, element;
    struct cursor cursor = cursor_over(path.bytes, path.size);
    while (path_element(&cursor, &element)) {
        if (element.bytes[0] == '_')
            element = (struct span){element.bytes + 1, element.size - 1};
        if (is_unit(element, ".service") || is_unit(element, ".scope"))
            found = element;
    }
    return found;
}
