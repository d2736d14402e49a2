/* library.c: see library.h.
 *
 * The loader and nvmlInit both count their callers, so contexts share one library without a
 * reference count here: it is shut down and unloaded when the last of them closes. A back end whose
 * worker hangs is never closed (backend.h), so the library stays loaded for it. */
#include "gpu/nvidia/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <vitals/error.h>

enum { OPTIONAL, REQUIRED };

struct symbol {
    const char *name;
    size_t at; /* offset in struct nvml */
    int need;
};

static const struct symbol symbols[] = {
#define SYMBOL(need, name, ...) {#name, offsetof(struct nvml, name), need},
#include "gpu/nvidia/symbols.def"
#undef SYMBOL
};
_Static_assert(ARRAY_COUNT(symbols) == NVML_FUNCTIONS, "one row per function");
_Static_assert(sizeof(nvml_plain_call *) == sizeof(void *), "dlsym gives functions");

static void explain(struct nvml_failure *why, vitals_availability state, const char *text,
                    const char *detail)
{
    why->state = state;
    snprintf(why->message, sizeof why->message, "%s%s", text, detail);
}

static int load(struct nvml *nvml, const struct os *os, const char *given, struct nvml_failure *why)
{
    const char *const names[] = {given ? given : "libnvidia-ml.so.1",
                                 given ? NULL : "libnvidia-ml.so"};
    struct stat file;
    /* Opening a FIFO would block for ever. The loader looks up a name without a folder. */
    if (given && stat(given, &file) == 0 && !S_ISREG(file.st_mode)) {
        explain(why, VITALS_UNSUPPORTED, "no file, and so no NVIDIA driver library: ", given);
        return -1;
    }
    for (size_t i = 0; i < ARRAY_COUNT(names) && names[i] && !nvml->library; i++) {
        nvml->library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
        snprintf(nvml->path, sizeof nvml->path, "%s", names[i]);
        if (nvml->library)
            return 0;
        const char *problem = dlerror();
        os_trace(os, "nvidia: %s", problem ? problem : names[i]);
        if (i == 0)
            explain(why, VITALS_UNSUPPORTED,
                    given ? "not NVIDIA's driver library: "
                          : "NVIDIA's driver library is not installed: ",
                    given && problem ? problem : names[i]);
    }
    return -1;
}

/* Explains an error of nvmlInit, from its code and the version of the library. */
static void explain_init(struct nvml_failure *why)
{
    static const struct {
        nvml_return code;
        vitals_availability availability;
        const char *message;
    } failures[] = {
        {NVML_DRIVER_NOT_LOADED, VITALS_UNSUPPORTED,
         "NVIDIA driver not loaded; load its kernel module (modprobe nvidia)"},
        {NVML_NO_PERMISSION, VITALS_DENIED,
         "no permission to /dev/nvidia*; add yourself to the group that owns them"},
        {NVML_OPERATING_SYSTEM, VITALS_DENIED,
         "/dev/nvidiactl is blocked by a cgroup or a sandbox; allow it there"},
        {NVML_LIBRARY_NOT_FOUND, VITALS_FAILED,
         "the NVIDIA driver library lacks another of its libraries; reinstall the driver"},
        {NVML_GPU_IS_LOST, VITALS_GONE,
         "the NVIDIA driver lost a device while starting; reset it or reboot"},
    };
    why->state = VITALS_FAILED;
    if (why->code == NVML_LIB_RM_VERSION_MISMATCH) {
        snprintf(why->message, sizeof why->message,
                 "driver library%s%s does not match the kernel module; reboot or reload the module",
                 why->version[0] ? " " : "", why->version);
        return;
    }
    for (size_t i = 0; i < ARRAY_COUNT(failures); i++) {
        if (failures[i].code == why->code) {
            snprintf(why->message, sizeof why->message, "%s", failures[i].message);
            why->state = failures[i].availability;
            return;
        }
    }
    snprintf(why->message, sizeof why->message,
             "the NVIDIA driver does not start (nvmlInit says %u); see the kernel log, and in a "
             "container whether /dev/nvidia* are there",
             why->code);
}

/* Finds the functions and initializes the library. */
static int start(struct nvml *nvml, const struct os *os, struct nvml_failure *why)
{
    for (size_t i = 0; i < ARRAY_COUNT(symbols); i++) {
        void *function = dlsym(nvml->library, symbols[i].name);
        memcpy((char *)nvml + symbols[i].at, &function, sizeof function);
        nvml->found += function != NULL;
        if (function)
            continue;
        os_trace(os, "nvidia: %s: not in this driver", symbols[i].name);
        if (symbols[i].need == REQUIRED) {
            explain(why, VITALS_UNSUPPORTED, "the NVIDIA driver is too old: its library lacks ",
                    symbols[i].name);
            return -1;
        }
    }

    nvml_return code = nvml->nvmlInit_v2();
    if (code == NVML_SUCCESS)
        return 0;
    os_trace(os, "nvidia: nvmlInit_v2: error %u", code);
    why->code = code;

    /* "580.65.06" of the library, which reports "13.580.65.06"; the call is allowed before
     * nvmlInit. */
    char text[80] = "";
    if (NVML_CALL(nvml, nvmlSystemGetNVMLVersion, text, sizeof text) != NVML_SUCCESS)
        text[0] = '\0';
    text[sizeof text - 1] = '\0';
    const char *dot = strchr(text, '.');
    snprintf(why->version, sizeof why->version, "%s", dot ? dot + 1 : text);
    explain_init(why);
    return -1;
}

int nvml_open(struct nvml *nvml, const vitals_context *context, struct nvml_failure *why)
{
    *nvml = (struct nvml){0};
    *why = (struct nvml_failure){.state = VITALS_FAILED};
    const struct os *os = &context->os;
    if (load(nvml, os, context->nvml_path, why) < 0)
        return -1;
    if (start(nvml, os, why) < 0) {
        dlclose(nvml->library);
        nvml->library = NULL;
        return -1;
    }
    return 0;
}

void nvml_close(struct nvml *nvml)
{
    if (!nvml->library)
        return;
    nvml->nvmlShutdown();
    dlclose(nvml->library);
    nvml->library = NULL;
}

vitals_availability nvml_availability(nvml_return code)
{
    static const struct {
        nvml_return code;
        vitals_availability availability;
    } meanings[] = {
        {NVML_SUCCESS, VITALS_HAVE},
        {NVML_NOT_SUPPORTED, VITALS_UNSUPPORTED},
        {NVML_FUNCTION_NOT_FOUND, VITALS_UNSUPPORTED},
        {NVML_VGPU_ECC_NOT_SUPPORTED, VITALS_UNSUPPORTED},
        {NVML_FREQ_NOT_SUPPORTED, VITALS_UNSUPPORTED},
        {NVML_ARGUMENT_VERSION_MISMATCH, VITALS_UNSUPPORTED},
        {NVML_DEPRECATED, VITALS_UNSUPPORTED},
        {NVML_NO_PERMISSION, VITALS_DENIED},
        {NVML_OPERATING_SYSTEM, VITALS_DENIED}, /* "blocked by the operating system or a cgroup" */
        {NVML_DRIVER_NOT_LOADED, VITALS_GONE},
        {NVML_GPU_IS_LOST, VITALS_GONE},
        {NVML_GPU_NOT_FOUND, VITALS_GONE},
        {NVML_TIMEOUT, VITALS_TIMED_OUT},
        {NVML_NO_DATA, VITALS_NOT_YET},
        {NVML_NOT_READY, VITALS_NOT_YET},
    };
    for (size_t i = 0; i < ARRAY_COUNT(meanings); i++) {
        if (meanings[i].code == code)
            return meanings[i].availability;
    }
    return VITALS_FAILED;
}

bool nvml_lacks(nvml_return code)
{
    return nvml_availability(code) == VITALS_UNSUPPORTED && code != NVML_NOT_SUPPORTED;
}
