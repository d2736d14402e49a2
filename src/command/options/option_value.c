/* option_value.c: parses words into values, a function for each kind of option; and the life of the
 * settings that hold them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command/options/option.h"
#include "util/number.h"

/* One value that is assigned to the settings. */
struct assignment {
    struct settings *settings;
    const struct option *option;
    const char *name; /* for messages */
    enum origin origin;
    bool replaces; /* the existing value is from a weaker origin */
    struct option_error *error;
};

static void *destination(const struct assignment *to)
{
    return (char *)to->settings + to->option->offset;
}

static int refuse(const struct assignment *to, const char *word)
{
    char accepts[200];
    option_accepts(to->option, accepts, sizeof accepts);
    return option_fail(to->error, "%s: \"%s\" is not accepted; give %s", to->name,
                       command_safe(word), accepts);
}

/* Rejects the value with a message that shows all words unchanged. */
static int refuse_all(const struct assignment *to, const char *const *words, size_t count)
{
    char all[200] = "";
    for (size_t i = 0, used = 0; i < count && used < sizeof all; i++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i > 0 ? " " : "", words[i]);
    return refuse(to, all);
}

static int fail_memory(const struct assignment *to)
{
    return option_fail(to->error, "%s: out of memory", to->name);
}

static int want(const struct assignment *to)
{
    char accepts[200];
    option_accepts(to->option, accepts, sizeof accepts);
    return option_fail(to->error, "%s needs a value: %s", to->name, accepts);
}

void option_accepts(const struct option *option, char *out, size_t capacity)
{
    double low = option->minimum, high = option->maximum;
    switch (option->kind) {
    case OPTION_FLAG: snprintf(out, capacity, "yes or no"); return;
    case OPTION_CHOICE: {
        size_t used = 0;
        for (size_t i = 0; option->choices[i] != NULL && used < capacity; i++) {
            const char *between = i == 0 ? "" : option->choices[i + 1] == NULL ? " or " : ", ";
            used += (size_t)snprintf(out + used, capacity - used, "%s%s", between,
                                     option->choices[i]);
        }
        return;
    }
    case OPTION_TEXT:
    case OPTION_MAYBE:
    case OPTION_WORDS: snprintf(out, capacity, "%s", option->argument); return;
    case OPTION_NUMBER:
        snprintf(out, capacity, "a whole number from %.0f to %.0f", low, high);
        return;
    case OPTION_DURATION:
        snprintf(out, capacity, "a time from %.10g to %.10g seconds, as 2, 0.5s, 100ms or 1min",
                 low, high);
        return;
    case OPTION_PAIR:
        snprintf(out, capacity, "two whole numbers from %.0f to %.0f, as 10 75 or 10,75", low,
                 high);
        return;
    case OPTION_NUMBERS:
        snprintf(out, capacity, "whole numbers from %.0f to %.0f, as %s4,5", low, high,
                 option->most == 1 ? "" : "4 5 or ");
        return;
    }
}

bool option_number(const char *word, double least, double most, uint64_t *out)
{
    uint64_t number;
    if (strlen(word) > 18 || !number_is_u64(word, &number) || (double)number < least ||
        (double)number > most)
        return false;
    *out = number;
    return true;
}

static bool parse_number(const struct option *option, const char *word, uint64_t *out)
{
    return option_number(word, option->minimum, option->maximum, out);
}

/* True if the word is yes or no; *out is which. */
static bool is_flag_word(const char *word, bool *yes)
{
    static const char *const words[][2] = {
        {"no", "yes"}, {"false", "true"}, {"off", "on"}, {"0", "1"}};
    for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
        *yes = strcmp(word, words[i][1]) == 0;
        if (*yes || strcmp(word, words[i][0]) == 0)
            return true;
    }
    return false;
}

static int assign_flag(const struct assignment *to, const char *const *words, size_t count)
{
    bool yes = true;
    if (count > 0 && !is_flag_word(words[0], &yes))
        return refuse(to, words[0]);
    *(bool *)destination(to) = yes;
    return 0;
}

/* Without a word the value is unchanged, and only the flag beside it is set. */
static int assign_choice(const struct assignment *to, const char *const *words, size_t count)
{
    if (to->origin == ORIGIN_FLAG)
        *(bool *)((char *)to->settings + to->option->also) = true;
    if (count == 0)
        return 0;
    const char *choice = option_choice(to->option, words[0]);
    if (choice == NULL)
        return refuse(to, words[0]);
    *(const char **)destination(to) = choice;
    return 0;
}

bool option_is_word_list(const char *argument)
{
    return strpbrk(argument, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == NULL;
}

/* True if the word stands in a list such as off|argv0. */
static bool is_listed(const char *list, const char *word)
{
    size_t length = strlen(word), size = strcspn(list, "|");
    while (list[size] != '\0' && (size != length || memcmp(list, word, size) != 0)) {
        list += size + 1;
        size = strcspn(list, "|");
    }
    return size == length && memcmp(list, word, size) == 0;
}

/* Joins several words (an array of the configuration) into one comma list. */
static int assign_text(const struct assignment *to, const char *const *words, size_t count)
{
    const char **text = destination(to);
    if (option_is_word_list(to->option->argument) &&
        (count > 1 || !is_listed(to->option->argument, words[0])))
        return refuse_all(to, words, count);
    if (count == 1 && to->option->no_stream != NULL && strcmp(words[0], "-") == 0)
        return option_fail(to->error, "%s -: name a file; %s", to->name, to->option->no_stream);
    if (count == 1) {
        *text = words[0];
        return 0;
    }
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += strlen(words[i]) + 1;
    char *joined = arena_alloc(&to->settings->memory, size);
    if (joined == NULL)
        return fail_memory(to);
    char *end = joined;
    for (size_t i = 0; i < count; i++)
        end += snprintf(end, size - (size_t)(end - joined), "%s%s", i > 0 ? "," : "", words[i]);
    *text = joined;
    return 0;
}

/* "yes" in a configuration or a variable means the option without a value; "no" removes it. */
static int assign_maybe(const struct assignment *to, const char *const *words, size_t count)
{
    const char **text = destination(to);
    bool yes = false;
    if (count == 0 || (!to->option->literal && is_flag_word(words[0], &yes)))
        *text = count == 0 || yes ? to->option->implied : NULL;
    else
        return assign_text(to, words, count);
    return 0;
}

static int assign_number(const struct assignment *to, const char *const *words, size_t count UNUSED)
{
    if (!parse_number(to->option, words[0], destination(to)))
        return refuse(to, words[0]);
    return 0;
}

static int assign_duration(const struct assignment *to, const char *const *words, size_t count)
{
    double seconds;
    if (to->option->implied != NULL)
        *(bool *)((char *)to->settings + to->option->also) = true;
    if (count == 0)
        words = &to->option->implied;
    if (vitals_parse_duration(words[0], &seconds) < 0 || !(seconds >= to->option->minimum) ||
        !(seconds <= to->option->maximum))
        return refuse(to, words[0]);
    *(uint64_t *)destination(to) = (uint64_t)llround(seconds * 1e9);
    return 0;
}

/* Splits words that may be comma lists. Returns the parts, or NULL if memory is out. */
static const char **split(const struct assignment *to, const char *const *words, size_t count,
                          size_t *part_count)
{
    struct arena *memory = &to->settings->memory;
    size_t most = count, used = 0;
    for (size_t i = 0; i < count; i++) {
        for (const char *at = words[i]; (at = strchr(at, ',')) != NULL; at++)
            most++;
    }
    const char **parts = arena_array(memory, most, sizeof *parts);
    *part_count = 0;
    for (size_t i = 0; parts != NULL && i < count; i++) {
        size_t size;
        for (const char *at = words[i]; at != NULL; at = at[size] == ',' ? at + size + 1 : NULL) {
            size = strcspn(at, ",");
            if ((parts[used++] = arena_copy(memory, at, size)) == NULL)
                return NULL;
        }
    }
    *part_count = used;
    return parts;
}

static int assign_pair(const struct assignment *to, const char *const *words, size_t count)
{
    uint64_t low, high, *out = destination(to);
    size_t part_count;
    const char **parts = split(to, words, count, &part_count);
    if (parts == NULL)
        return fail_memory(to);
    if (part_count != 2 || !parse_number(to->option, parts[0], &low) ||
        !parse_number(to->option, parts[1], &high))
        return refuse_all(to, words, count);
    out[0] = low < high ? low : high;
    out[1] = low < high ? high : low;
    return 0;
}

/* Adds to a list that has an origin as strong; the old array stays in the settings' arena. */
static int assign_numbers(const struct assignment *to, const char *const *words, size_t count)
{
    struct settings_numbers *list = destination(to);
    size_t kept = to->replaces ? 0 : list->count, more;
    const char **parts = split(to, words, count, &more);
    uint64_t *items = arena_array(&to->settings->memory, kept + more, sizeof *items);
    if (parts == NULL || items == NULL)
        return fail_memory(to);
    if (kept > 0)
        memcpy(items, list->items, kept * sizeof *items);
    for (size_t i = 0; i < more; i++) {
        if (!parse_number(to->option, parts[i], &items[kept + i]))
            return refuse_all(to, words, count);
    }
    *list = (struct settings_numbers){items, kept + more, true};
    return 0;
}

static int assign_words(const struct assignment *to, const char *const *words, size_t count)
{
    struct settings_words *list = destination(to);
    size_t kept = to->replaces ? 0 : list->count, more;
    const char **parts = split(to, words, count, &more);
    const char **items = arena_array(&to->settings->memory, kept + more + 1, sizeof *items);
    if (parts == NULL || items == NULL)
        return fail_memory(to);
    if (kept > 0)
        memcpy(items, list->items, kept * sizeof *items);
    for (size_t i = 0; i < more; i++) {
        if (parts[i][0] != '\0')
            items[kept++] = parts[i];
        else if (more > 1)
            return option_fail(to->error, "%s: \"%s\" has an empty name between its commas",
                               to->name, command_safe(words[0]));
    }
    *list = (struct settings_words){items, kept, true};
    return 0;
}

typedef int assign(const struct assignment *to, const char *const *words, size_t count);

static assign *const assigns[] = {
    [OPTION_FLAG] = assign_flag,     [OPTION_CHOICE] = assign_choice,
    [OPTION_TEXT] = assign_text,     [OPTION_MAYBE] = assign_maybe,
    [OPTION_NUMBER] = assign_number, [OPTION_DURATION] = assign_duration,
    [OPTION_PAIR] = assign_pair,     [OPTION_NUMBERS] = assign_numbers,
    [OPTION_WORDS] = assign_words,
};

int option_assign(struct settings *settings, const struct option *option, const char *name,
                  const char *const *words, size_t count, enum origin origin,
                  struct option_error *error)
{
    unsigned char *is = &settings->origins[option - option_table];
    enum origin strongest = origin; /* presets come first */
    if (origin != ORIGIN_DEFAULT)
        strongest = settings_origin(settings, (const char *)settings + option->offset);
    if (strongest > origin)
        return 0;
    struct assignment to = {settings, option, name, origin, strongest < origin, error};
    bool may_lack = option->kind == OPTION_FLAG || option->kind == OPTION_CHOICE ||
                    option->implied != NULL || (option->kind == OPTION_WORDS && option->least == 0);
    if (count == 0 && !may_lack)
        return want(&to);
    if (assigns[option->kind](&to, words, count) < 0)
        return -1;
    if (option->kind != OPTION_CHOICE || count > 0)
        *is = (unsigned char)origin;
    return 0;
}

/* ---- the life of the settings ---- */

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
    arena_done(&settings->memory);
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
