/* Lines of mountinfo and a path of a cgroup, made of anything: where it is found lies below a mount
 * and leads nowhere else. The path is the first line. */
#include "os/linux/cgroup/cgroup.h"
#include "os/os.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_place(const struct cgroup_place *place, unsigned version)
{
    require(version == 1 || version == 2);
    require(place->found && !place->outer && place->path.size < CGROUP_PATH_MAX);
    require(place->mount_size != 0 && place->mount_size <= place->path.size);
    char rest[CGROUP_PATH_MAX + 2];
    size_t size = place->path.size - place->mount_size;
    memcpy(rest, place->path.bytes + place->mount_size, size);
    memcpy(rest + size, "/", 2);
    require(memchr(rest, '\0', size) != NULL || strstr(rest, "/../") == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct os_groups *groups = os_groups_new();
    struct cursor text = cursor_over((const char *)data, size);
    struct span path, line;
    if (groups == NULL || !cursor_line(&text, &path)) {
        os_groups_free(groups);
        return 0;
    }
    groups->prefix_size = size % 2 == 0 ? 0 : 5;
    memcpy(groups->prefix, "/host", 6);
    while (cursor_line(&text, &line))
        groups_take_mount(line, groups);
    require(groups->count <= GROUP_MOUNTS);
    for (unsigned i = 0; i < GROUP_CONTROLLERS; i++) {
        struct cgroup_place place = {.found = false};
        unsigned version = groups_place(groups, i, path, &place);
        if (version != 0)
            check_place(&place, version);
    }
    os_groups_free(groups);
    return 0;
}
