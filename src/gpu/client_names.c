/* client_names.c: what drivers call their engines and regions of memory. See clients.h.
 *
 * Constant data; any thread. */
#include "gpu/clients.h"

#include <string.h>

static const char *const LABELS[ENGINE_KINDS] = {
    [ENGINE_GRAPHICS] = "graphics",
    [ENGINE_COMPUTE] = "compute",
    [ENGINE_COPY] = "copy",
    [ENGINE_ENCODER] = "encoder",
    [ENGINE_DECODER] = "decoder",
    [ENGINE_VIDEO] = "video",
    [ENGINE_JPEG] = "jpeg",
    [ENGINE_VIDEO_ENHANCE] = "video_enhance",
    [ENGINE_OPTICAL_FLOW] = "optical_flow",
};

const char *engine_label(enum engine_kind kind)
{
    return LABELS[kind];
}

/* amdgpu, i915, xe, v3d, etnaviv. */
static const struct client_name ENGINES[] = {
    {"gfx", ENGINE_GRAPHICS},       {"render", ENGINE_GRAPHICS},
    {"rcs", ENGINE_GRAPHICS},       {"3d", ENGINE_GRAPHICS},
    {"3D", ENGINE_GRAPHICS},        {"compute", ENGINE_COMPUTE},
    {"ccs", ENGINE_COMPUTE},        {"csd", ENGINE_COMPUTE},
    {"copy", ENGINE_COPY},          {"dma", ENGINE_COPY},
    {"sdma", ENGINE_COPY},          {"bcs", ENGINE_COPY},
    {"enc", ENGINE_ENCODER},        {"dec", ENGINE_DECODER},
    {"video", ENGINE_VIDEO},        {"vcs", ENGINE_VIDEO},
    {"jpeg", ENGINE_JPEG},          {"video-enhance", ENGINE_VIDEO_ENHANCE},
    {"vecs", ENGINE_VIDEO_ENHANCE},
};

/* amdgpu, i915, xe, and "memory", the one region of drivers without memory of their own. What the
 * device cannot reach (amdgpu's "cpu") and what is a part of another region is not counted. */
static const struct client_name REGIONS[] = {
    {"vram", REGION_DEVICE},   {"local", REGION_DEVICE},  {"stolen-local", REGION_DEVICE},
    {"gtt", REGION_SYSTEM},    {"system", REGION_SYSTEM}, {"stolen-system", REGION_SYSTEM},
    {"stolen", REGION_SYSTEM}, {"memory", REGION_SYSTEM},
};

static int find(const struct client_name *names, size_t count, const char *name, int otherwise)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i].name, name) == 0)
            return names[i].kind;
    }
    for (size_t i = 0; i < count; i++) { /* "vram" of "vram0"; "enc" of "enc_1" */
        size_t size = strlen(names[i].name);
        if (strncmp(name, names[i].name, size) != 0)
            continue;
        const char *rest = name + size;
        if (rest[0] == '_' && rest[1] != '\0')
            rest++;
        if (rest[strspn(rest, "0123456789")] == '\0')
            return names[i].kind;
    }
    return otherwise;
}

enum engine_kind client_engine(const struct client_name *names, size_t count, const char *name)
{
    int common = find(ENGINES, ARRAY_COUNT(ENGINES), name, ENGINE_OTHER);
    return (enum engine_kind)find(names, count, name, common);
}

enum region_kind client_region(const struct client_name *names, size_t count, const char *name)
{
    int common = find(REGIONS, ARRAY_COUNT(REGIONS), name, REGION_OTHER);
    return (enum region_kind)find(names, count, name, common);
}
