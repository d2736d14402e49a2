/* cuda_library.c: asks CUDA for its devices and their order. The only place that loads libcuda. The
 * library is never unloaded, because it has threads of its own by then. May block as long as the
 * driver does; see vitals/gpu.h. */
#include "util/base.h"
#include "util/error.h"
#include <vitals/gpu.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* From the documentation of the CUDA driver interface. */
typedef struct {
    unsigned char bytes[16];
} cuda_uuid;

struct cuda {
    int (*init)(unsigned flags);
    int (*count)(int *count);
    int (*get)(int *device, int ordinal);
    int (*uuid)(cuda_uuid *uuid, int device);
};

static const struct {
    const char *name;
    size_t offset;
    bool replaces; /* the previous row: its newer version, which may be missing */
} SYMBOLS[] = {
    {"cuInit", offsetof(struct cuda, init), false},
    {"cuDeviceGetCount", offsetof(struct cuda, count), false},
    {"cuDeviceGet", offsetof(struct cuda, get), false},
    {"cuDeviceGetUuid", offsetof(struct cuda, uuid), false},
    {"cuDeviceGetUuid_v2", offsetof(struct cuda, uuid), true}, /* a MIG device has its own */
};

static int fail(vitals_error *error, int result, const char *call)
{
    return error_set(error, VITALS_ESYSTEM, result, "%s of CUDA failed with %d", call, result);
}

/* "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6" */
enum { UUID_TEXT = 41 };

int vitals_cuda_enumerate(const char *library, char *out, size_t capacity, vitals_error *error)
{
    enum { NO_DEVICE = 100 };
    struct cuda cuda = {0};
    int count = 0;
    size_t used = 0;
    const char *name = library ? library : "libcuda.so.1";
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return error_set(error, VITALS_EUNSUPPORTED, 0, "%s cannot be loaded", name);
    for (size_t i = 0; i < ARRAY_COUNT(SYMBOLS); i++) {
        void *symbol = dlsym(handle, SYMBOLS[i].name);
        if (symbol)
            memcpy((char *)&cuda + SYMBOLS[i].offset, &symbol, sizeof symbol);
        else if (!SYMBOLS[i].replaces)
            return error_set(error, VITALS_EUNSUPPORTED, 0, "%s has no %s", name, SYMBOLS[i].name);
    }

    int result = cuda.init(0);
    if (result != 0 && result != NO_DEVICE)
        return fail(error, result, "cuInit");
    if (result == 0 && (result = cuda.count(&count)) != 0)
        return fail(error, result, "cuDeviceGetCount");
    if (capacity <= (size_t)(count > 0 ? count : 0) * UUID_TEXT)
        return error_set(error, VITALS_EARGUMENT, 0, "no room for the UUIDs of %d devices", count);
    for (int i = 0; i < count; i++) {
        cuda_uuid uuid;
        int device;
        if ((result = cuda.get(&device, i)) != 0 || (result = cuda.uuid(&uuid, device)) != 0)
            return fail(error, result, "cuDeviceGetUuid");
        used += (size_t)snprintf(out + used, capacity - used, "%sGPU-", i > 0 ? "," : "");
        for (size_t j = 0; j < sizeof uuid.bytes; j++) {
            bool dash = j == 4 || j == 6 || j == 8 || j == 10;
            used += (size_t)snprintf(out + used, capacity - used, "%s%02x", dash ? "-" : "",
                                     uuid.bytes[j]);
        }
    }
    out[used] = '\0';
    return 0;
}
