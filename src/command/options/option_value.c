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
    snprintf(to->error->message, sizeof to->error->message, "%s: \"%s\" is not accepted; give %s",
             to->name, command_safe(word), accepts);
    return -1;
}

/* Rejects the value with a message that shows all words unchanged. */
static int refuse_all(const struct assignment *to, const char *const *words, size_t count)
{
    char all[200] = "";
    for (size_t i = 0, used = 0; i < count && used < sizeof all; i++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i > 0 ? " " : "", words[i]);
    return refuse(to, all);
}

static int fail(const struct assignment *to, const char *why)
{
    snprintf(to->error->message, sizeof to->error->message, "%s%s", to->name, why);
    return -1;
}

static int want(const struct assignment *to)
{
    char why[220] = " needs a value: ";
    size_t used = strlen(why);
    option_accepts(to->option, why + used, sizeof why - used);
    return fail(to, why);
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

bool option_number(const char *word, size_t size, double least, double most, uint64_t *out)
{
    const char *end = word + size;
    uint64_t number;
    if (size > 18 || !number_u64(&word, end, &number) || word != end || (double)number < least ||
        (double)number > most)
        return false;
    *out = number;
    return true;
}

static bool parse_number(const struct option *option, const char *word, size_t size, uint64_t *out)
{
    return option_number(word, size, option->minimum, option->maximum, out);
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
    if (count == 0)
        return want(to);
    if (option_is_word_list(to->option->argument) &&
        (count > 1 || !is_listed(to->option->argument, words[0])))
        return refuse_all(to, words, count);
    if (count == 1 && to->option->no_stream != NULL && strcmp(words[0], "-") == 0) {
        snprintf(to->error->message, sizeof to->error->message, "%s -: name a file; %s", to->name,
                 to->option->no_stream);
        return -1;
    }
    if (count == 1) {
        *text = words[0];
        return 0;
    }
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += strlen(words[i]) + 1;
    char *joined = arena_alloc(&to->settings->memory, size);
    if (joined == NULL)
        return fail(to, ": out of memory");
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

static int assign_number(const struct assignment *to, const char *const *words, size_t count)
{
    if (count == 0)
        return want(to);
    if (!parse_number(to->option, words[0], strlen(words[0]), destination(to)))
        return refuse(to, words[0]);
    return 0;
}

static int assign_duration(const struct assignment *to, const char *const *words, size_t count)
{
    double seconds;
    if (to->option->implied != NULL)
        *(bool *)((char *)to->settings + to->option->also) = true;
    if (count == 0 && to->option->implied != NULL)
        words = &to->option->implied;
    else if (count == 0)
        return want(to);
    if (vitals_parse_duration(words[0], &seconds) < 0 || !(seconds >= to->option->minimum) ||
        !(seconds <= to->option->maximum))
        return refuse(to, words[0]);
    *(uint64_t *)destination(to) = (uint64_t)llround(seconds * 1e9);
    return 0;
}

/* Iterates over the parts of words that may be comma lists; returns false after the last. */
struct value_parts {
    const char *const *words;
    size_t count;
    const char *at; /* position in words[0]; NULL: at its beginning */
};

static bool parts_next(struct value_parts *parts, const char **begin, size_t *size)
{
    if (parts->count == 0)
        return false;
    *begin = parts->at != NULL ? parts->at : parts->words[0];
    *size = strcspn(*begin, ",");
    if ((*begin)[*size] == ',') {
        parts->at = *begin + *size + 1;
    } else {
        parts->at = NULL;
        parts->words++;
        parts->count--;
    }
    return true;
}

static size_t parts_count(const char *const *words, size_t count)
{
    size_t total = count;
    for (size_t i = 0; i < count; i++) {
        for (const char *at = words[i]; (at = strchr(at, ',')) != NULL; at++)
            total++;
    }
    return total;
}

/* `out` has room for parts_count numbers. */
static int parse_numbers(const struct assignment *to, const char *const *words, size_t count,
                         uint64_t *out)
{
    const char *begin;
    size_t size;
    for (struct value_parts parts = {words, count, NULL}; parts_next(&parts, &begin, &size);
         out++) {
        if (!parse_number(to->option, begin, size, out))
            return refuse_all(to, words, count);
    }
    return 0;
}

static int assign_pair(const struct assignment *to, const char *const *words, size_t count)
{
    uint64_t pair[2], *out = destination(to);
    if (count == 0)
        return want(to);
    if (parts_count(words, count) != 2)
        return refuse_all(to, words, count);
    if (parse_numbers(to, words, count, pair) < 0)
        return -1;
    out[0] = pair[0] < pair[1] ? pair[0] : pair[1];
    out[1] = pair[0] < pair[1] ? pair[1] : pair[0];
    return 0;
}

/* Returns a list with room for the old and the new items; the old array stays allocated in the
 * settings' arena. */
static void *grow(const struct assignment *to, const void *old, size_t kept, size_t more,
                  size_t item)
{
    void *items = arena_alloc(&to->settings->memory, (kept + more) * item);
    if (items != NULL && kept > 0)
        memcpy(items, old, kept * item);
    return items;
}

static int assign_numbers(const struct assignment *to, const char *const *words, size_t count)
{
    struct settings_numbers *list = destination(to);
    size_t kept = to->replaces ? 0 : list->count, more = parts_count(words, count);
    if (count == 0)
        return want(to);
    uint64_t *items = grow(to, list->items, kept, more, sizeof *items);
    if (items == NULL)
        return fail(to, ": out of memory");
    if (parse_numbers(to, words, count, items + kept) < 0)
        return -1;
    *list = (struct settings_numbers){items, kept + more, true};
    return 0;
}

static int assign_words(const struct assignment *to, const char *const *words, size_t count)
{
    struct settings_words *list = destination(to);
    size_t kept = to->replaces ? 0 : list->count, size;
    const char *begin;
    if (count < to->option->least)
        return want(to);
    const char **items = grow(to, list->items, kept, parts_count(words, count) + 1, sizeof *items);
    if (items == NULL)
        return fail(to, ": out of memory");
    bool several = parts_count(words, count) > 1;
    for (struct value_parts parts = {words, count, NULL}; parts_next(&parts, &begin, &size);) {
        if (size == 0 && several) {
            snprintf(to->error->message, sizeof to->error->message,
                     "%s: \"%s\" has an empty name between its commas", to->name,
                     command_safe(words[0]));
            return -1;
        }
        char *copy = arena_copy(&to->settings->memory, begin, size);
        if (copy == NULL)
            return fail(to, ": out of memory");
        if (size > 0)
            items[kept++] = copy;
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
