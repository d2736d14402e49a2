/* environment.c: what a process was given as its environment.
 *
 * As it was when the program began: what the process has set since is not seen, and one that writes
 * its title over it (setproctitle) leaves empty strings, which are left out.
 * Thread rule: the handle's; an answer is immutable. */
#include "process/live.h"

#include "core/error.h"
#include "core/memory.h"

#include <string.h>

enum { ENVIRONMENT_LIMIT = 16 << 20 };

struct vitals_environment {
    struct buffer text;
    struct environment_entry *entries;
    size_t count;
    bool cut;
};

/* The next string that is not empty, ended by NUL or by the end; false where there is none. */
static bool next_string(struct cursor *cursor, struct span *out)
{
    while (!cursor_done(cursor) && *cursor->at == '\0')
        cursor->at++;
    if (cursor_done(cursor))
        return false;
    if (cursor_until(cursor, '\0', out))
        return true;
    *out = (struct span){cursor->at, (size_t)(cursor->end - cursor->at)};
    cursor->at = cursor->end;
    return true;
}

static struct environment_entry entry_of(struct span string)
{
    const char *equals = memchr(string.bytes, '=', string.size);
    if (equals == NULL)
        return (struct environment_entry){.name = {string.bytes, string.size}, .value = {"", 0}};
    size_t size = (size_t)(equals - string.bytes);
    return (struct environment_entry){.name = {string.bytes, size},
                                      .value = {equals + 1, string.size - size - 1}};
}

int environment_split(const char *bytes, size_t size, struct environment_entry **out, size_t *count)
{
    const struct cursor whole = cursor_over(bytes, size);
    struct cursor cursor = whole;
    struct span string;
    size_t strings = 0;
    while (next_string(&cursor, &string))
        strings++;
    struct environment_entry *entries = memory_array(strings, sizeof *entries);
    if (entries == NULL)
        return -1;
    cursor = whole;
    for (size_t i = 0; i < strings && next_string(&cursor, &string); i++)
        entries[i] = entry_of(string);
    *out = entries;
    *count = strings;
    return 0;
}

static int split(vitals_environment *environment)
{
    if (environment->text.size == 0)
        return 0;
    return environment_split(environment->text.bytes, environment->text.size, &environment->entries,
                             &environment->count);
}

int vitals_process_environment(vitals_process *process, vitals_environment **out,
                               vitals_error *error)
{
    vitals_environment *environment = memory_alloc(sizeof *environment);
    if (environment == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    int code = live_file(process, "environ", ENVIRONMENT_LIMIT, &environment->text,
                         &environment->cut, error);
    if (code == 0 && split(environment) < 0)
        code = error_set(error, VITALS_EMEMORY, 0, "out of memory");
    if (code < 0) {
        vitals_environment_free(environment);
        return code;
    }
    *out = environment;
    return 0;
}

void vitals_environment_free(vitals_environment *environment)
{
    if (environment == NULL)
        return;
    memory_free(environment->entries);
    buffer_done(&environment->text);
    memory_free(environment);
}

size_t vitals_environment_count(const vitals_environment *environment)
{
    return environment->count;
}

vitals_text vitals_environment_name(const vitals_environment *environment, size_t index)
{
    return index < environment->count ? environment->entries[index].name : (vitals_text){"", 0};
}

vitals_text vitals_environment_value(const vitals_environment *environment, size_t index)
{
    return index < environment->count ? environment->entries[index].value : (vitals_text){"", 0};
}

int vitals_environment_find(const vitals_environment *environment, const char *name,
                            vitals_text *out)
{
    for (size_t i = environment->count; i > 0; i--) {
        vitals_text found = environment->entries[i - 1].name;
        if (span_equal((struct span){found.bytes, found.size}, name)) {
            *out = environment->entries[i - 1].value;
            return 1;
        }
    }
    return 0;
}

int vitals_environment_truncated(const vitals_environment *environment)
{
    return environment->cut;
}
