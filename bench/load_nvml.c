/* load_nvml.c: what it costs at least to talk to NVIDIA's library: load it, begin, end.
 *
 *     load_nvml LIBRARY
 *
 * bench/startup compares `vitals -1` with it. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* dlsym gives the address of a function as that of an object. */
static int call(void *library, const char *name)
{
    int (*function)(void);
    void *address = dlsym(library, name);
    if (address == NULL) {
        fprintf(stderr, "load_nvml: no %s\n", name);
        return 1;
    }
    memcpy(&function, &address, sizeof function);
    return function();
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: load_nvml LIBRARY\n");
        return 2;
    }
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "load_nvml: %s\n", dlerror());
        return 1;
    }
    return call(library, "nvmlInit_v2") != 0 || call(library, "nvmlShutdown") != 0;
}
