/* selection.c: see selection.h. */
#include "view/selection.h"

#include <stdlib.h>
#include <string.h>

uint64_t selection_device_index(const vitals_row *gpu)
{
    return strtoull(vitals_row_label(gpu), NULL, 10);
}

bool selection_has_device(const struct selection *selection, const vitals_row *gpu)
{
    uint64_t index = selection_device_index(gpu);
    for (size_t i = 0; i < selection->device_count; i++) {
        if (selection->devices[i] == index)
            return true;
    }
    return selection->device_count == 0 && !selection->only_visible;
}

bool selection_has_type(const struct selection *selection, const vitals_row *user)
{
    vitals_text type = {NULL, 0};
    bool known = vitals_row_text(user, VITALS_GPU_PROCESS_TYPE, &type) > 0;
    bool compute = known && memchr(type.bytes, 'C', type.size) != NULL;
    bool graphics = known && memchr(type.bytes, 'G', type.size) != NULL;
    return (!selection->compute || compute) && (!selection->graphics || graphics) &&
           (!selection->only_compute || (compute && !graphics)) &&
           (!selection->only_graphics || (graphics && !compute));
}

bool selection_has_user(const struct selection *selection, const vitals_row *process)
{
    vitals_text name;
    if (!selection->users_given)
        return true;
    if (vitals_row_text(process, VITALS_PROCESS_USER, &name) <= 0)
        return false;
    for (size_t i = 0; i < selection->user_count; i++) {
        if (strlen(selection->users[i]) == name.size &&
            memcmp(selection->users[i], name.bytes, name.size) == 0)
            return true;
    }
    return false;
}

bool selection_has_pid(const struct selection *selection, uint64_t pid)
{
    for (size_t i = 0; i < selection->pid_count; i++) {
        if (selection->pids[i] == pid)
            return true;
    }
    return selection->pid_count == 0;
}
