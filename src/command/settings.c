/* settings.c: the life of the settings: defaults, memory, where a value came from. */
#include "command/settings.h"

#include <stdlib.h>
#include <string.h>

#include "command/options/option.h"

struct settings_memory {
    struct settings_memory *older;
    max_align_t bytes[];
};

void *settings_allocate(struct settings *settings, size_t size)
{
    struct settings_memory *memory = malloc(sizeof *memory + size);
    if (memory == NULL)
        return NULL;
    memory->older = settings->memory;
    settings->memory = memory;
    return memory->bytes;
}

char *settings_copy(struct settings *settings, const char *bytes, size_t size)
{
    char *copy = settings_allocate(settings, size + 1);
    if (copy != NULL) {
        memcpy(copy, bytes, size);
        copy[size] = '\0';
    }
    return copy;
}

void settings_init(struct settings *settings)
{
    memset(settings, 0, sizeof *settings);
    struct option_error error;
    for (const struct option *option = option_table; option->name != NULL; option++) {
        const char *word = option->preset;
        if (word != NULL)
            (void)option_assign(settings, option, option->name, &word, 1, ORIGIN_DEFAULT, &error);
    }
}

void settings_done(struct settings *settings)
{
    while (settings->memory != NULL) {
        struct settings_memory *older = settings->memory->older;
        free(settings->memory);
        settings->memory = older;
    }
}

enum origin settings_origin(const struct settings *settings, const void *field)
{
    size_t offset = (size_t)((const char *)field - (const char *)settings);
    enum origin origin = ORIGIN_DEFAULT;
    for (size_t row = 0; option_table[row].name != NULL; row++) {
        if (option_table[row].offset == offset && settings->origins[row] > origin)
            origin = (enum origin)settings->origins[row];
    }
    return origin;
}
