/* config.c: reads the configuration file into the settings, by the option table. */
#include "command/options/option.h"
#include "feed/built_without.h"
#include "util/file.h"
#include "util/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#if VITALS_WITH_JANSSON
#include <jansson.h>
#endif

enum { CONFIG_BYTES_MAX = 1 << 20, WORDS_MAX = 64 };

#if VITALS_WITH_JANSSON

void config_find(const char *bytes, size_t size, const char *word, size_t depth_most, size_t *line,
                 size_t *column)
{
    size_t depth = 0, length = strlen(word), row = 1, start = 0;
    *line = *column = 1;
    for (size_t at = 0; at < size; at++) {
        if (bytes[at] == '{' || bytes[at] == '[')
            depth++;
        if (bytes[at] == '}' || bytes[at] == ']')
            depth--;
        if (bytes[at] == '\n') {
            row++;
            start = at + 1;
        }
        if (bytes[at] != '"')
            continue;
        size_t begin = ++at;
        while (at < size && bytes[at] != '"')
            at += bytes[at] == '\\' ? 2 : 1;
        if (depth <= depth_most && at - begin == length &&
            memcmp(bytes + begin, word, length) == 0) {
            *line = row;
            *column = begin - start;
            return;
        }
    }
}

static int fail_at(struct option_error *error, const char *path, size_t line, size_t column,
                   const char *why)
{
    return option_fail(error, "%s:%zu:%zu: %s", command_safe(path), line, column, why);
}

/* Parses each value as a word of the command line, so that the same checks hold for both. */
static int assign_member(struct settings *settings, const struct option *option,
                         const json_t *value, struct option_error *error)
{
    char name[64];
    const char *words[WORDS_MAX];
    size_t count = json_is_array(value) ? json_array_size(value) : 1;
    snprintf(name, sizeof name, "\"%s\"", option->name);
    if (count > WORDS_MAX)
        return option_fail(error, "%s holds more than %d values", name, WORDS_MAX);
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_is_array(value) ? json_array_get(value, i) : value;
        char word[64];
        words[i] = NULL;
        if (json_is_integer(one))
            snprintf(word, sizeof word, "%lld", (long long)json_integer_value(one));
        else if (json_is_real(one))
            snprintf(word, sizeof word, "%.17g", json_real_value(one));
        if (json_is_string(one))
            words[i] = arena_copy(&settings->memory, json_string_value(one),
                                  json_string_length(one));
        else if (json_is_boolean(one))
            words[i] = json_is_true(one) ? "yes" : "no";
        else if (json_is_number(one))
            words[i] = arena_copy(&settings->memory, word, strlen(word));
        if (words[i] == NULL)
            return option_fail(error, "%s is no text, number, yes or no, nor a list of such", name);
    }
    return option_assign(settings, option, name, words, count, ORIGIN_CONFIGURATION, error);
}

/* Returns 0, or -1 with *wrong set to the member. */
static int take_members(struct settings *settings, json_t *object, const char **wrong,
                        struct option_error *error)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        const struct option *option = option_find_key(key);
        struct nearest nearest;
        *wrong = key;
        if (option != NULL) {
            if (assign_member(settings, option, value, error) < 0)
                return -1;
            continue;
        }
        nearest_begin(&nearest, key);
        for (option = option_table; option->name != NULL; option++) {
            if (option_key(option) != NULL)
                nearest_offer(&nearest, option_key(option));
        }
        const char *meant = nearest.word;
        return option_fail(error, "unknown key \"%s\"%s%s%s", command_safe(key),
                           meant != NULL ? "; did you mean \"" : "", meant != NULL ? meant : "",
                           meant != NULL ? "\"?" : "");
    }
    return 0;
}

int config_parse(struct settings *settings, const char *path, const char *bytes, size_t size,
                 struct option_error *error)
{
    json_error_t json_error;
    json_t *object = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &json_error);
    if (object == NULL)
        return fail_at(error, path, (size_t)(json_error.line > 0 ? json_error.line : 1),
                       (size_t)(json_error.column > 0 ? json_error.column : 1),
                       command_safe(json_error.text));
    int result = 0;
    const char *wrong = NULL;
    struct settings before = *settings;
    if (!json_is_object(object)) {
        result = fail_at(error, path, 1, 1,
                         "a configuration is one JSON object, as {\"interval\": 1}");
    } else if (take_members(settings, object, &wrong, error) < 0) {
        size_t line, column;
        struct option_error what = *error;
        config_find(bytes, size, wrong, 1, &line, &column);
        result = fail_at(error, path, line, column, what.message);
    }
    json_decref(object);
    if (result < 0) {
        struct arena memory = settings->memory;
        *settings = before;
        settings->memory = memory;
    }
    return result;
}

#else

int config_parse(struct settings *settings UNUSED, const char *path, const char *bytes UNUSED,
                 size_t size UNUSED, struct option_error *error)
{
    return option_fail(error, "%s: %s", command_safe(path), BUILT_WITHOUT_JSON);
}

#endif

int config_read(struct settings *settings, const char *path, bool named, struct option_error *error)
{
    struct file_text file;
    unsigned rules = FILE_PRIVILEGED | (named ? FILE_ANY_KIND : 0);
    int code = file_read_whole(path, CONFIG_BYTES_MAX, rules, &file);
    if (!named && (code == -ENOENT || code == -ENOTDIR))
        return 0;
    if (code < 0)
        return option_fail(error, "%s: %s", command_safe(path), file.why);
    code = config_parse(settings, path, file.bytes, file.size, error);
    memory_free(file.bytes);
    return code;
}
