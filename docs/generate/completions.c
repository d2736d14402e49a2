/* completions.c: completions/options, the table that completion in bash, zsh and fish reads.
 *
 * A line for each command, then one for each option, with these fields between bars:
 *
 *     commands   to which it belongs, by spaces; "vitals" is none of them, "-" each
 *     names      of the option: "-u --user"; empty in the line of a command
 *     takes      how many words: 1, 2, "*" any number; "?" the next one if it is a value;
 *                "=" only what is attached with "="; "=," also next words that are lists of
 *                devices (2,5 or GPU-...); "1," a comma list, "1,-" one whose words may begin
 *                with a dash. Of a command also "!" a command line, "--" one after "--"
 *     argument   what they are, for people: "TIME"
 *     values     "<file>" "<folder>" "<pid>" "<user>", or the words that are known, or "<file>" and
 *                words that stand for no file
 *     help       one clause */
#include <string.h>

#include "command/options/option.h"
#include "documents.h"

enum { HELP_LEAST = 22, HELP_MOST = 72 };

static const char *takes(const struct option *option)
{
    switch (option->kind) {
    case OPTION_FLAG: return "";
    case OPTION_MAYBE: return option->takes != NULL ? "=," : "=";
    case OPTION_CHOICE: return "?";
    case OPTION_PAIR: return "2";
    case OPTION_DURATION: return option->implied != NULL ? "=" : "1";
    case OPTION_NUMBER: return "1";
    case OPTION_TEXT:
    case OPTION_NUMBERS:
    case OPTION_WORDS: break;
    }
    if ((option->kind == OPTION_WORDS || option->kind == OPTION_NUMBERS) && option->most == 0)
        return "*";
    if (strstr(option->argument, ",...") == NULL)
        return "1";
    return option->dashed ? "1,-" : "1,";
}

/* Returns the class of values to which an argument belongs, or NULL. */
static const char *class_of(const char *argument)
{
    static const char *const classes[][2] = {{"FILE", "<file>"},
                                             {"PATH", "<file>"},
                                             {"FOLDER", "<folder>"},
                                             {"PID", "<pid>"},
                                             {"USER", "<user>"}};
    argument += *argument == '[';
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        if (strncmp(argument, classes[i][0], strlen(classes[i][0])) == 0)
            return classes[i][1];
    }
    return NULL;
}

/* Replaces bars with `other`. */
static void print_without_bars(struct output *output, const char *text, const char *other)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            output_text(output, other);
        else
            (void)output_write(output, text, 1);
    }
}

static void print_values(struct output *output, const struct option *option)
{
    const char *const *choices = option->choices;
    const char *word, *last = "";
    if (choices == NULL && option->value == NULL) {
        if (option_is_word_list(option->argument))
            print_without_bars(output, option->argument, " ");
        else if (class_of(option->argument) != NULL)
            output_text(output, class_of(option->argument));
        return;
    }
    for (size_t i = 0; (word = choices != NULL ? choices[i] : option->value(i)) != NULL; i++) {
        if (strcmp(word, last) != 0) /* several formats share a name */
            output_format(output, "%s%s", i > 0 ? " " : "", word);
        last = word;
    }
}

static const char *command_name(const struct command *command)
{
    return command->name != NULL ? command->name : "vitals";
}

static void print_option(struct output *output, const struct option *option)
{
    bool any = option->commands == COMMAND_ANY, first = true;
    if (any)
        output_text(output, "-");
    for (const struct command *command = command_table; command->run != NULL && !any; command++) {
        if ((command->flags & COMMAND_HIDDEN) || !option_listed(option, command))
            continue;
        output_format(output, "%s%s", first ? "" : " ", command_name(command));
        first = false;
    }
    output_text(output, "|");
    if (option->brief != NULL)
        output_format(output, "-%s ", option->brief);
    output_format(output, "--%s", option->name);
    if (option->alias != NULL)
        output_format(output, " --%s", option->alias);
    output_format(output, "|%s|", takes(option));
    if (option->argument != NULL) {
        if (!option_is_word_list(option->argument))
            print_without_bars(output, option->argument, " or ");
        output_text(output, "|");
        print_values(output, option);
    } else {
        output_text(output, "|");
    }
    output_text(output, "|");

    const char *help = option->help;

    /* Cuts the text where an explanation or restriction begins, if the part before is long enough
     * to be understood alone; the part before a semicolon always is. */
    static const char *const ends[] = {". ", ": ", " (", ", otherwise"};
    const char *end = strstr(help, "; ");
    size_t size = end != NULL ? (size_t)(end - help) : strlen(help);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0] && size > HELP_LEAST; i++) {
        end = strstr(help + HELP_LEAST, ends[i]);
        while (end != NULL && (end - help >= 3 &&
                               (memcmp(end - 3, "e.g", 3) == 0 || memcmp(end - 3, "i.e", 3) == 0)))
            end = strstr(end + 1, ends[i]);
        if (end != NULL && (size_t)(end - help) < size)
            size = (size_t)(end - help);
    }

    bool cut = size > HELP_MOST;
    while (size > HELP_MOST || (cut && size > 0 && help[size] != ' '))
        size--;
    size -= cut && size > 0 && help[size - 1] == ',';
    output_format(output, "%.*s%s", (int)size, help, cut ? "..." : "");

    output_text(output, "\n");
}

void document_completions(struct output *output)
{
    for (const struct command *command = command_table; command->run != NULL; command++) {
        const char *words = "", *values = "";
        if (command->flags & COMMAND_HIDDEN)
            continue;
        if (command->flags & (COMMAND_RUNS | COMMAND_MAY_RUN)) {
            words = command->flags & COMMAND_WORDS ? "--" : "!";
            values = command->bit == COMMAND_MARK ? "begin end" : "";
        } else if (command->flags & COMMAND_WORDS) {
            words = "*";
            values = strstr(command->usage, "FILE") != NULL  ? "<file>"
                     : strstr(command->usage, "PID") != NULL ? "<pid>"
                                                             : "";
        }
        output_format(output, "%s||%s||%s|%s\n", command_name(command), words, values,
                      command->summary);
    }
    for (const struct option *option = option_table; option->name != NULL; option++) {
        bool listed = false;
        for (const struct command *command = command_table; command->run != NULL; command++)
            listed |= !(command->flags & COMMAND_HIDDEN) && option_listed(option, command);
        if (listed)
            print_option(output, option);
    }
}
