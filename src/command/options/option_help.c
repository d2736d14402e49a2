/* option_help.c: prints --help, generated from the tables. At most 80 columns, ASCII. */
#include <stdio.h>
#include <string.h>

#include "command/options/option.h"
#include "view/paint.h"

enum { COLUMNS = 80, INDENT = 28 };

/* Wraps the words of `text` into lines; the cursor stands at `indent`. */
static void print_wrapped(struct output *output, const char *text, size_t indent)
{
    struct paint paint;
    paint_init(&paint, false, output_write, output);
    paint_paragraph(&paint, COLOR_PLAIN, indent, COLUMNS, text);
    (void)paint_done(&paint);
}

/* Writes "MODE" as shown after the name: " [auto|full|compact]", "[=SCENARIO]", " TIME". */
void option_argument(const struct option *option, char *out, size_t capacity)
{
    size_t used = 0;
    out[0] = '\0';
    switch (option->kind) {
    case OPTION_FLAG: return;
    case OPTION_MAYBE:
        snprintf(out, capacity, option->takes != NULL ? " [%s]" : "[=%s]", option->argument);
        return;
    case OPTION_DURATION:
        snprintf(out, capacity, option->implied != NULL ? "[=%s]" : " %s", option->argument);
        return;
    case OPTION_CHOICE:
        for (size_t i = 0; option->choices[i] != NULL && used < capacity; i++)
            used += (size_t)snprintf(out + used, capacity - used, "%s%s", i == 0 ? " [" : "|",
                                     option->choices[i]);
        if (used < capacity)
            snprintf(out + used, capacity - used, "]");
        return;
    case OPTION_TEXT:
    case OPTION_NUMBER:
    case OPTION_PAIR:
    case OPTION_NUMBERS:
    case OPTION_WORDS: snprintf(out, capacity, " %s", option->argument); return;
    }
}

void option_describe(const struct option *option, char *out, size_t capacity)
{
    const char *word;
    size_t used = (size_t)snprintf(out, capacity, "%s", option->help);
    for (size_t i = 0; option->kind == OPTION_MAYBE && option->value != NULL && used < capacity &&
                       (word = option->value(i)) != NULL;
         i++)
        used += (size_t)snprintf(out + used, capacity - used, "%s%s", i == 0 ? ": " : ", ", word);
}

bool option_listed(const struct option *option, const struct command *command)
{
    bool of_view = option->commands & COMMAND_VIEW;
    return option->help != NULL && option_belongs(option, command->bit) &&
           !(of_view && command->bit == COMMAND_OPTIONS);
}

const struct option *option_next(const struct command *command, enum option_group group,
                                 const struct option *option)
{
    for (option = option != NULL ? option + 1 : option_table; option->name != NULL; option++) {
        if (option->group == group && option_listed(option, command))
            return option;
    }
    return NULL;
}

static void print_lines(struct output *output, const char *heading, const char *lines)
{
    output_format(output, "\n%s:\n", heading);
    while (*lines != '\0') {
        size_t size = strcspn(lines, "\n");
        output_format(output, "  %.*s\n", (int)size, lines);
        lines += size + (lines[size] == '\n');
    }
}

const char *command_exits(const struct command *command)
{
    if (command->exits != NULL)
        return command->exits;
    if (command->flags & COMMAND_PLAIN)
        return "0 done\n"
               "1 it could not be written\n"
               "2 usage\n";
    return "0 done, also where there is no GPU and none was named\n"
           "1 what was asked could not be done\n"
           "2 usage\n";
}

/* `common`: without what follows the first clause of its help. */
static void print_option(struct output *output, const struct option *option, bool common)
{
    char brief[16] = "", left[128], argument[64], what[400], text[440];
    option_argument(option, argument, sizeof argument);
    if (option->brief != NULL)
        snprintf(brief, sizeof brief, "-%s,", option->brief);
    int size = snprintf(left, sizeof left, "  %-4s --%s%s%s%s", brief, option->name,
                        option->alias != NULL ? ", --" : "",
                        option->alias != NULL ? option->alias : "", argument);
    if (size + 2 > INDENT)
        output_format(output, "%s\n%*s", left, INDENT, "");
    else
        output_format(output, "%-*s", INDENT, left);
    option_describe(option, what, sizeof what);
    if (common)
        what[strcspn(what, ";")] = '\0';
    snprintf(text, sizeof text, option->preset != NULL ? "%s (default %s)" : "%s", what,
             option->preset);
    print_wrapped(output, text, INDENT);
}

/* Returns false if the command has no common options. */
static bool print_common(struct output *output, const struct command *command)
{
    bool any = false;
    for (const struct option *option = option_table; option->name != NULL; option++) {
        if ((option->common & command->bit) == 0)
            continue;
        output_text(output, any ? "" : "\nCommon options:\n");
        print_option(output, option, true);
        any = true;
    }
    if (any)
        output_format(output, "\nAll options and exit codes: vitals %s --help all\n",
                      command->name);
    return any;
}

void option_print_help(const struct command *command, bool all, struct output *output)
{
    output_format(output, "usage: vitals %s\n\n", command->usage);
    print_wrapped(output, command->purpose, 0);
    print_lines(output, "Examples", command->examples);
    if (!all && print_common(output, command))
        return;
    if (command->name == NULL)
        output_text(output, "\nCommands:\n");
    for (const struct command *one = command_table + 1; command->name == NULL && one->name != NULL;
         one++) {
        if ((one->flags & COMMAND_HIDDEN) == 0)
            output_format(output, "  %-10s%s\n", one->name, one->summary);
    }
    for (enum option_group group = 1; group < GROUP_END; group++) {
        const struct option *option = option_next(command, group, NULL);
        if (option == NULL || (group >= GROUP_GLOBAL && (command->flags & COMMAND_PLAIN)))
            continue;
        output_format(output, "\n%s:\n", option_group_name(group));
        for (; option != NULL; option = option_next(command, group, option))
            print_option(output, option, false);
    }
    if (command->flags & COMMAND_PLAIN)
        output_text(output, "\nOptions that go with every command: vitals --help\n");
    if (command->name == NULL)
        print_lines(output, "Environment and configuration",
                    "VITALS_INTERVAL=1 is --interval 1, and so for the others; see man vitals\n"
                    "NVITOP_MONITOR_MODE, ..._ALWAYS, ..._THEME and NVITOP_..._THRESHOLDS are\n"
                    "understood, and COLUMNS, NO_COLOR (reports and monitor), FORCE_COLOR,\n"
                    "CUDA_VISIBLE_DEVICES\n"
                    "A list is several words or commas: -o 0 1, -o 0,1; -- ends it\n");
    print_lines(output, "Exit codes", command_exits(command));
}
