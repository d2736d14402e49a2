/* option.c: parses arguments into settings. */
#include "command/options/option.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "export/address.h"

enum { WORD_MAX = 40 };

struct parse {
    struct settings *settings;
    const struct command *commands;
    const char *const *argv;
    size_t count;
    size_t at; /* the next argument */
    struct option_error *error;
    const struct option *last; /* the previous option, for a better message */
};

int option_fail(struct option_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return -1;
}

bool option_belongs(const struct option *option, unsigned commands)
{
    return (option->commands & commands) != 0;
}

static bool same(const char *name, const char *bytes, size_t size)
{
    return name != NULL && strlen(name) == size && memcmp(name, bytes, size) == 0;
}

const struct option *option_find(unsigned commands, const char *name, size_t size)
{
    for (const struct option *option = option_table; option->name != NULL; option++) {
        if (option_belongs(option, commands) &&
            (same(option->name, name, size) || same(option->alias, name, size)))
            return option;
    }
    return NULL;
}

/* A configuration file does not name another one. */
const char *option_key(const struct option *option)
{
    bool has_key = option->everywhere && option->offset != offsetof(struct settings, config);
    return has_key ? option->name : NULL;
}

const struct option *option_find_key(const char *key)
{
    for (const struct option *option = option_table; option->name != NULL; option++) {
        const char *name = option_key(option);
        if (name != NULL && strcmp(name, key) == 0)
            return option;
    }
    return NULL;
}

static const struct option *find_brief(unsigned commands, const char *bytes, size_t size)
{
    for (const struct option *option = option_table; option->name != NULL; option++) {
        if (option_belongs(option, commands) && same(option->brief, bytes, size))
            return option;
    }
    return NULL;
}

/* The command whose options are looked up: the view until a subcommand is named. */
static unsigned commands_now(const struct parse *parse)
{
    return parse->settings->command->bit;
}

/* Returns "vitals%s%s" with these: "vitals run", "vitals". */
static const char *space(const struct command *command)
{
    return command->name != NULL ? " " : "";
}

static const char *word(const struct command *command)
{
    return command->name != NULL ? command->name : "";
}

/* ---- words that are not options ---- */

/* Formats an unknown word of the command line for a message. A URL is shown without its user name
 * and password, because messages may be logged. The result is cut to `size`. */
static void show_word(const char *given, char *out, size_t size)
{
    if (strstr(given, "://") != NULL)
        address_show(given, out, size);
    else
        (void)snprintf(out, size, "%s", command_safe(given));
}

static int unknown_option(struct parse *parse, const char *argument)
{
    const char *name = argument + strspn(argument, "-");
    size_t size = strcspn(name, "=");
    char wanted[64];
    snprintf(wanted, sizeof wanted, "%.*s", (int)(size < 60 ? size : 60), name);

    const struct command *own = parse->settings->command, *other = parse->commands;
    while (option_find(other->bit, name, size) == NULL && (++other)->name != NULL)
        ;
    bool found = option_find(other->bit, name, size) != NULL;
    if (found && other != own && argument[1] == '-')
        return option_fail(parse->error,
                           "--%s does not go with vitals%s%s; it belongs to vitals%s%s", wanted,
                           space(own), word(own), space(other), word(other));

    if (command_ps_word(own, argument) == PS_WORD_HABIT)
        return option_fail(parse->error, "%s: %s", command_safe(argument), COMMAND_PS_HABIT);

    struct nearest nearest;
    nearest_begin(&nearest, wanted);
    for (const struct option *option = option_table; option->name != NULL; option++) {
        if (!option_belongs(option, commands_now(parse)))
            continue;
        nearest_offer(&nearest, option->name);
        if (option->alias != NULL)
            nearest_offer(&nearest, option->alias);
    }
    char safe[128];
    show_word(argument, safe, sizeof safe);
    if (nearest.word != NULL)
        return option_fail(parse->error, "unknown option %s; did you mean --%s?", safe,
                           nearest.word);
    return option_fail(parse->error, "unknown option %s", safe);
}

/* ---- options and their values ---- */

const char *option_choice(const struct option *option, const char *name)
{
    const char *const *choice = option->choices;
    while (*choice != NULL && strcmp(*choice, name) != 0)
        choice++;
    return *choice;
}

/* Returns how many of the following arguments belong to this option. */
static size_t count_words(const struct parse *parse, const struct option *option)
{
    const char *const *words = parse->argv + parse->at;
    size_t left = parse->count - parse->at, count = 0;
    while (option->takes != NULL && count < left && option->takes(words[count]))
        count++;
    /* An optional value must be attached to the option. */
    if (option->kind == OPTION_FLAG || option->kind == OPTION_MAYBE ||
        (option->kind == OPTION_DURATION && option->implied != NULL) || left == 0)
        return count;
    if (option->kind == OPTION_CHOICE)
        return option_choice(option, words[0]) != NULL ? 1 : 0;

    size_t most = 1;
    if (option->kind == OPTION_NUMBERS || option->kind == OPTION_WORDS)
        most = option->most > 0 ? option->most : left;
    if (option->kind == OPTION_PAIR && strchr(words[0], ',') == NULL)
        most = 2;
    for (; count < most && count < left; count++) {
        const char *word = words[count];
        /* "-5" is a bad value and not an option, unless there is such an option; for an option that
         * takes one number it is always a value. */
        bool one_number = option->kind == OPTION_NUMBER || option->kind == OPTION_DURATION;
        if (word[0] != '-' || word[1] == '\0')
            continue;
        bool negative = strchr("0123456789.", word[1]) != NULL;
        bool is_brief = !one_number && find_brief(commands_now(parse), word + 1, 1) != NULL;
        if (option->dashed ? word[1] == '-' : !negative || is_brief)
            break;
    }
    return count;
}

/* `name`: "--interval", "-o". `attached`: the attached value, or NULL. */
static int take_option(struct parse *parse, const struct option *option, const char *name,
                       const char *attached)
{
    const char *const *words = attached != NULL ? &attached : parse->argv + parse->at;
    size_t count = attached != NULL ? 1 : count_words(parse, option);
    if (attached == NULL)
        parse->at += count;
    parse->last = option;
    return option_assign(parse->settings, option, name, words, count, ORIGIN_FLAG, parse->error);
}

/* Parses "-ov" as one option if it exists, otherwise letter by letter: flags, and last one option
 * that takes a value, which may be attached. */
static int take_brief(struct parse *parse, const char *argument)
{
    const char *letter = argument + 1;
    size_t size = strlen(letter);
    if (find_brief(commands_now(parse), letter, size) == NULL)
        size = 1;
    while (*letter != '\0') {
        const struct option *option = find_brief(commands_now(parse), letter, size);
        char name[64];
        if (option == NULL)
            return unknown_option(parse, argument);
        snprintf(name, sizeof name, "-%.*s", (int)size, letter);
        letter += size;
        if (option->kind != OPTION_FLAG && *letter != '\0')
            return take_option(parse, option, name, letter + (*letter == '='));
        if (take_option(parse, option, name, NULL) < 0)
            return -1;
    }
    return 0;
}

/* ---- commands ---- */

static bool was_given(const struct settings *settings, const struct option *option)
{
    if (settings->origins[option - option_table] == ORIGIN_FLAG)
        return true;
    return option->kind == OPTION_CHOICE && *(const bool *)((const char *)settings + option->also);
}

static int take_command(struct parse *parse, const struct command *command)
{
    for (const struct option *option = option_table; option->name != NULL; option++) {
        if (option_belongs(option, command->bit) || !was_given(parse->settings, option))
            continue;
        if (option_find(command->bit, option->name, strlen(option->name)) != NULL)
            return option_fail(parse->error, "write --%s after %s, not before it", option->name,
                               command->name);
        return option_fail(parse->error, "--%s does not go with %s", option->name, command->name);
    }
    parse->settings->command = command;
    return 0;
}

static void take_command_line(struct parse *parse)
{
    parse->settings->arguments.command_argv = parse->argv + parse->at;
    parse->settings->arguments.command_argc = parse->count - parse->at;
    parse->at = parse->count;
}

/* Keeps a word that the command itself will check. */
static int keep_word(struct parse *parse, const char *name)
{
    struct settings_words *words = &parse->settings->arguments.words;
    if (words->items == NULL)
        words->items = arena_alloc(&parse->settings->memory, parse->count * sizeof *words->items);
    if (words->items == NULL)
        return option_fail(parse->error, "out of memory");
    words->items[words->count++] = name;
    words->given = true;
    return 0;
}

static int take_word(struct parse *parse, const char *name)
{
    struct settings *settings = parse->settings;
    if (settings->command->flags & COMMAND_WORDS)
        return keep_word(parse, name);
    /* `--mlflow http://…`: an address after an option whose value must be attached with "=". */
    if (strstr(name, "://") != NULL && parse->last != NULL && parse->last->kind == OPTION_MAYBE &&
        parse->at >= 2 && strchr(parse->argv[parse->at - 2], '=') == NULL &&
        parse->argv[parse->at - 2][0] == '-') {
        char safe[200];
        show_word(name, safe, sizeof safe);
        return option_fail(parse->error, "write the value of --%s as --%s=%s", parse->last->name,
                           parse->last->name, safe);
    }
    if (settings->command->flags & (COMMAND_RUNS | COMMAND_MAY_RUN)) {
        parse->at--;
        take_command_line(parse);
        return 0;
    }
    if (settings->command->name == NULL) {
        for (const struct command *command = parse->commands + 1; command->name != NULL;
             command++) {
            if (strcmp(command->name, name) == 0)
                return take_command(parse, command);
        }
    }

    char safe[200];
    show_word(name, safe, sizeof safe);
    if (settings->command->name != NULL)
        return option_fail(parse->error, "%s takes no \"%s\"", settings->command->name, safe);
    if (parse->last != NULL && parse->last->kind == OPTION_MAYBE)
        return option_fail(parse->error, "unknown command \"%s\"; write a value as --%s=%s", safe,
                           parse->last->name, safe);

    if (parse->last != NULL && parse->last->kind == OPTION_CHOICE) {
        char accepts[128];
        option_accepts(parse->last, accepts, sizeof accepts);
        return option_fail(parse->error, "--%s takes %s, not \"%s\"", parse->last->name, accepts,
                           safe);
    }

    struct nearest nearest;
    nearest_begin(&nearest, name);
    for (const struct command *command = parse->commands + 1; command->name != NULL; command++)
        nearest_offer(&nearest, command->name);
    if (nearest.word != NULL)
        return option_fail(parse->error, "unknown command \"%s\"; did you mean %s?", safe,
                           nearest.word);
    return option_fail(parse->error, "unknown command \"%s\"", safe);
}

static bool name_was_given(const struct parse *parse, const char *name)
{
    const struct option *option = option_find(commands_now(parse), name, strlen(name));
    return option != NULL && was_given(parse->settings, option);
}

static int take_argument(struct parse *parse)
{
    const char *argument = parse->argv[parse->at++];
    unsigned flags = parse->settings->command->flags;
    if (strcmp(argument, "--") == 0) {
        if (flags & (COMMAND_RUNS | COMMAND_MAY_RUN))
            take_command_line(parse);
        else if (!(flags & COMMAND_WORDS) && parse->at < parse->count)
            return option_fail(parse->error, "unexpected word \"%s\" after --",
                               command_safe(parse->argv[parse->at]));
        while (parse->at < parse->count) {
            if (keep_word(parse, parse->argv[parse->at++]) < 0)
                return -1;
        }
        return 0;
    }
    if (argument[0] != '-' || argument[1] == '\0')
        return take_word(parse, argument);

    /* -5, which a command that takes pids checks itself; and -TERM. */
    static const char DIGITS[] = "0123456789";
    static const char CAPITALS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-";
    size_t length = strlen(argument + 1);
    if (((flags & COMMAND_WORDS) && strspn(argument + 1, DIGITS) == length) ||
        ((flags & COMMAND_SIGNALS) && length >= 2 && strspn(argument + 1, CAPITALS) == length)) {
        parse->settings->arguments.dashed_first |= parse->settings->arguments.words.count == 0;
        return keep_word(parse, argument);
    }
    if (command_ps_word(parse->settings->command, argument) == PS_WORD_ALL)
        return keep_word(parse, argument);
    if (argument[1] != '-')
        return take_brief(parse, argument);

    char name[64];
    size_t size = strcspn(argument, "=");
    const struct option *option = option_find(commands_now(parse), argument + 2, size - 2);
    if (option == NULL)
        return unknown_option(parse, argument);
    snprintf(name, sizeof name, "%.*s", (int)size, argument);
    return take_option(parse, option, name, argument[size] == '=' ? argument + size + 1 : NULL);
}

int options_from_arguments(struct settings *settings, const struct command *commands, int argc,
                           const char *const *argv, struct option_error *error)
{
    struct parse parse = {.settings = settings,
                          .commands = commands,
                          .argv = argv,
                          .count = argc > 0 ? (size_t)argc : 0,
                          .at = 1,
                          .error = error};
    settings->commands = settings->command = commands;
    while (parse.at < parse.count) {
        if (take_argument(&parse) < 0)
            return -1;
    }

    /* Checks options that exclude or need each other, by the table. */
    for (const struct option *option = option_table; option->name != NULL; option++) {
        if (!option_belongs(option, commands_now(&parse)) || !was_given(parse.settings, option))
            continue;
        if (option->excludes != NULL && name_was_given(&parse, option->excludes))
            return option_fail(error, "--%s and --%s cannot be used together", option->name,
                               option->excludes);
        if (option->needs != NULL && !name_was_given(&parse, option->needs))
            return option_fail(error, "--%s can be used only with --%s", option->name,
                               option->needs);
    }
    return 0;
}

/* ---- suggestions ---- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Counts insertions, deletions, replacements and swaps of neighbors. Longer words count as far
 * away. */
static size_t word_distance(const char *a, const char *b)
{
    size_t rows = strlen(a), columns = strlen(b);
    if (rows > WORD_MAX || columns > WORD_MAX)
        return WORD_MAX;
    size_t at[WORD_MAX + 1][WORD_MAX + 1];
    for (size_t i = 0; i <= rows; i++)
        at[i][0] = i;
    for (size_t j = 0; j <= columns; j++)
        at[0][j] = j;
    for (size_t i = 1; i <= rows; i++) {
        for (size_t j = 1; j <= columns; j++) {
            size_t best = least(at[i - 1][j], at[i][j - 1]) + 1;
            best = least(best, at[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = least(best, at[i - 2][j - 2] + 1);
            at[i][j] = best;
        }
    }
    return at[rows][columns];
}

/* A third of the letters may be wrong, but fewer than half; a prefix of a word is near to it. */
void nearest_begin(struct nearest *nearest, const char *wanted)
{
    size_t size = strlen(wanted);
    *nearest = (struct nearest){.wanted = wanted, .distance = least((size + 1) / 2, size / 3 + 1)};
}

void nearest_offer(struct nearest *nearest, const char *word)
{
    size_t size = strlen(nearest->wanted);
    size_t distance = word_distance(nearest->wanted, word);
    if (size >= 3 && strncmp(nearest->wanted, word, size) == 0)
        distance = 1;
    if (distance < nearest->distance) {
        nearest->distance = distance;
        nearest->word = word;
    }
}
