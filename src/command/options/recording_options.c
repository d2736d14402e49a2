/* recording_options.c: see recording_options.h. */
#include "command/options/recording_options.h"

#include <string.h>
#include <sys/stat.h>

enum { ROTATE_BYTES_MIN = 4096 };

/* "100MiB" or "1h". */
static bool parse_rotation(const char *word, struct recorder_options *options)
{
    double seconds;
    uint64_t bytes;
    if (vitals_parse_duration(word, &seconds) == 0 && seconds >= 1 && seconds <= 1e9) {
        options->rotate_ns = (uint64_t)(seconds * 1e9);
        return true;
    }
    if (vitals_parse_bytes(word, &bytes) < 0 || bytes < ROTATE_BYTES_MIN)
        return false;
    options->rotate_bytes = bytes;
    return true;
}

int recording_take_rotation(struct recorder_options *options,
                            const struct recording_settings *recording)
{
    options->keep = (unsigned)recording->keep;
    if (recording->rotate == NULL || parse_rotation(recording->rotate, options))
        return 0;
    return command_fail(EXIT_USAGE, "--rotate %s: a size from 4KiB (100MiB) or a time from 1s (1h)",
                        command_safe(recording->rotate));
}

/* Descriptors of ours mean nothing to a sampler of its own. */
static bool is_descriptor(const char *path)
{
    static const char *const PLACES[] = {"/dev/std", "/dev/fd/"};
    for (size_t i = 0; i < sizeof PLACES / sizeof PLACES[0]; i++) {
        if (strncmp(path, PLACES[i], strlen(PLACES[i])) == 0)
            return true;
    }
    return false;
}

int recording_check_place(const char *option, const char *path)
{
    struct stat found;
    if (!is_descriptor(path) && (stat(path, &found) != 0 || S_ISREG(found.st_mode)))
        return 0;
    return command_fail(EXIT_USAGE, "%s%s: no regular file; a recording is finished in place",
                        option, command_safe(path));
}

const char *recording_way_out(const struct recorder_options *options, const char *path, int code)
{
    struct stat found;
    bool full = code == VITALS_EARGUMENT && !options->overwrite && path != NULL &&
                stat(path, &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0;
    return full ? "; --overwrite replaces it" : "";
}

bool recording_numbered(const char *path, uint64_t number, char *out, size_t capacity)
{
    const char *name = strrchr(path, '/'), *ending = strrchr(path, '.');
    name = name != NULL ? name + 1 : path;
    if (ending == NULL || ending <= name)
        ending = path + strlen(path);
    int size = snprintf(out, capacity, "%.*s.%llu%s", (int)(ending - path), path,
                        (unsigned long long)number, ending);
    return size >= 0 && (size_t)size < capacity;
}
