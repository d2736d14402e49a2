/* registry.c: the list of back ends. A new vendor is a folder and a line here. Constant data; any
 * thread. */
#include "gpu/backend.h"
#include "util/cursor.h"

#include <stdio.h>
#include <string.h>

const struct gpu_backend *const gpu_backends[] = {
    &gpu_backend_nvidia, &gpu_backend_amd,  &gpu_backend_intel,
    &gpu_backend_drm,    &gpu_backend_demo, NULL,
};

/* Takes the next name of a comma list, without blanks around it; returns false at the end. */
static bool next_name(struct cursor *list, struct span *name)
{
    while (!cursor_done(list)) {
        struct span part;
        if (!cursor_until(list, ',', &part)) {
            part = (struct span){list->at, (size_t)(list->end - list->at)};
            list->at = list->end;
        }
        struct cursor inside = cursor_over(part.bytes, part.size);
        if (cursor_word(&inside, name))
            return true;
    }
    return false;
}

bool gpu_backend_enabled(const struct gpu_backend *backend, const char *backends)
{
    if (!backends)
        return !backend->only_on_demand;
    struct cursor list = cursor_over(backends, strlen(backends));
    struct span name;
    while (next_name(&list, &name)) {
        if (span_equal(name, backend->name))
            return true;
    }
    return false;
}

bool gpu_backends_known(const char *backends, struct span *unknown)
{
    if (!backends)
        return true;
    struct cursor list = cursor_over(backends, strlen(backends));
    struct span name;
    while (next_name(&list, &name)) {
        size_t i = 0;
        while (gpu_backends[i] && !span_equal(name, gpu_backends[i]->name))
            i++;
        if (!gpu_backends[i]) {
            *unknown = name;
            return false;
        }
    }
    return true;
}

void gpu_backends_names(char *out, size_t capacity)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; gpu_backends[i]; i++) {
        int size = snprintf(out + used, capacity - used, "%s%s", used > 0 ? ", " : "",
                            gpu_backends[i]->name);
        if (size < 0 || (size_t)size >= capacity - used)
            return;
        used += (size_t)size;
    }
}
