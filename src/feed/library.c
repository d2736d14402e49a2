/* library.c: see library.h. */
#include "feed/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static bool fail(struct library *library)
{
    const char *why = dlerror();
    (void)snprintf(library->why, sizeof(library->why), "%s",
                   why != NULL ? why : "it cannot be opened");
    return false;
}

static bool load(struct library *library)
{
    void *handle = dlopen(library->file, RTLD_LAZY | RTLD_LOCAL);
    if (handle == NULL)
        return fail(library);
    for (size_t i = 0; i < library->count; i++) {
        void *address = dlsym(handle, library->symbols[i].name);
        if (address == NULL)
            return fail(library);
        memcpy((char *)library->table + library->symbols[i].offset, &address, sizeof(address));
    }
    return true;
}

const char *library_missing(struct library *library)
{
    pthread_mutex_lock(&mutex);
    if (library->state == 0)
        library->state = load(library) ? 1 : -1;
    bool open = library->state > 0;
    pthread_mutex_unlock(&mutex);
    return open ? NULL : library->why;
}
