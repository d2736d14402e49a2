/* library_world.h: what tests of libvitals-record share. They are linked with the two shared
 * libraries and see public headers alone. */
#ifndef TESTS_UNIT_LIBRARY_WORLD_H
#define TESTS_UNIT_LIBRARY_WORLD_H

#include "check.h"

#include <dirent.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <unistd.h>

#include <vitals/record.h>
#include <vitals/vitals.h>

struct text {
    char *bytes; /* NUL at the end */
    size_t size;
};

static inline int text_take(void *data, const char *bytes, size_t size)
{
    struct text *text = data;
    text->bytes = realloc(text->bytes, text->size + size + 1);
    CHECK_NOT_NULL(text->bytes);
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = '\0';
    return 0;
}

static inline void text_free(struct text *text)
{
    free(text->bytes);
    *text = (struct text){.bytes = NULL};
}

/* Stops at once. */
static inline int text_refuse(void *data, const char *bytes, size_t size)
{
    (void)data;
    (void)bytes;
    (void)size;
    return 7;
}

/* A context of invented devices. */
static inline vitals_context *demo_context(void)
{
    vitals_error error = {.message = ""};
    vitals_context *context = NULL;
    vitals_options options;
    vitals_options_init(&options, sizeof options);
    options.backends = "demo";
    CHECK_OK(vitals_context_new(&options, &context, &error), error);
    return context;
}

static inline struct text json_of(const vitals_snapshot *snapshot)
{
    struct text text = {.bytes = NULL};
    vitals_error error = {.message = ""};
    CHECK_OK(vitals_snapshot_json(snapshot, text_take, &text, &error), error);
    return text;
}

/* Numbers have a comma in the thread that calls. (locale_t)0 where no such locale can be made, and
 * under a sanitizer: glibc keeps what LOCPATH said, and it takes that for a leak. */
static inline locale_t comma_locale(void)
{
    static const char make[] =
        "cd \"$LOCPATH\" && printf 'LC_NUMERIC\\n%s\\n%s\\nEND LC_NUMERIC\\n'"
        " 'decimal_point \"<U002C>\"' 'thousands_sep \"<U002E>\"' >source &&"
        " { localedef -c -i ./source ./comma >log 2>&1 || true; }";
    char folder[] = "/tmp/vitals-locale-XXXXXX";
    locale_t comma = (locale_t)0;
    if (CHECK_SANITIZED || mkdtemp(folder) == NULL || setenv("LOCPATH", folder, 1) != 0)
        return comma;
    if (system(make) == 0)
        comma = newlocale(LC_NUMERIC_MASK, "comma", (locale_t)0);
    CHECK_INT(system("rm -rf \"$LOCPATH\""), 0);
    unsetenv("LOCPATH");
    return comma;
}

/* A folder that ends with the test. */
struct folder {
    char path[64];
    char file[128];
};

static inline void folder_make(struct folder *folder, const char *name)
{
    (void)snprintf(folder->path, sizeof folder->path, "/tmp/vitals-library-XXXXXX");
    CHECK_NOT_NULL(mkdtemp(folder->path));
    (void)snprintf(folder->file, sizeof folder->file, "%s/%s", folder->path, name);
}

static inline void folder_remove(struct folder *folder)
{
    char path[512];
    DIR *entries = opendir(folder->path);
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        (void)snprintf(path, sizeof path, "%s/%s", folder->path, entry->d_name);
        (void)unlink(path);
    }
    if (entries != NULL)
        closedir(entries);
    CHECK_INT(rmdir(folder->path), 0);
}

#endif
