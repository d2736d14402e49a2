/* options.c: docs/options.md and docs/vitals.1, from the tables of options and commands. */
#include <stdio.h>
#include <string.h>

#include "command/options/option.h"
#include "documents.h"

static void print_markdown_group(struct output *output, const struct command *command,
                                 enum option_group group)
{
    output_format(output, "\n%s:\n\n", option_group_name(group));
    output_text(output, "| option | what | default | environment | configuration |\n"
                        "|---|---|---|---|---|\n");
    for (const struct option *option = NULL; (option = option_next(command, group, option));) {
        char argument[64], variable[64], accepts[200], what[400];
        option_argument(option, argument, sizeof argument);
        option_accepts(option, accepts, sizeof accepts);
        option_variable(option, variable, sizeof variable);
        output_text(output, "| ");
        if (option->brief != NULL)
            output_format(output, "`-%s` ", option->brief);
        output_format(output, "`--%s", option->name);
        for (const char *letter = argument; *letter != '\0'; letter++)
            output_format(output, *letter == '|' ? "\\%c" : "%c", *letter);
        output_text(output, "`");
        if (option->alias != NULL)
            output_format(output, " `--%s`", option->alias);
        option_describe(option, what, sizeof what);
        output_format(output, " | %s", what);
        if (option->maximum > 0)
            output_format(output, "; %s", accepts);
        output_format(output, " | %s | ", option->preset != NULL ? option->preset : "");
        if (option->everywhere)
            output_format(output, "`%s`", variable);
        if (option->foreign != NULL)
            output_format(output, ", `%s`", option->foreign);
        if (option_key(option) != NULL)
            output_format(output, " | `%s` |\n", option_key(option));
        else
            output_text(output, " |  |\n");
    }
}

void document_options(struct output *output)
{
    output_text(
        output,
        "# Options, environment, configuration\n\n"
        "    vitals --interval 2                 # a flag\n"
        "    VITALS_INTERVAL=2 vitals            # the environment\n"
        "    echo '{\"interval\": 2}' > ~/.config/vitals/config.json; vitals\n\n"
        "Generated from the option table; do not edit, run `make docs`.\n\n"
        "A flag wins over the environment, which wins over the configuration file, which wins over "
        "the default.\n\n"
        "- Write options that go with every command before or after its name.\n"
        "- A value is the next word or follows `=`: `--interval 2`, `--interval=2`. Several "
        "are several words\n  or a comma list: `-o 0 1`, `-o 0,1`; `--` ends them.\n"
        "- A flag that the environment or the configuration sets is taken back with `=no`: "
        "`--ascii=no`.\n"
        "- A mistake in a flag or in a `VITALS_` variable is a usage error (exit 2). An invalid "
        "variable of another\n  program is ignored.\n"
        "- `NVITOP_MONITOR_MODE` is a comma list of `auto` `full` `compact` (one of them), "
        "`plain` `colorful`,\n  `dark` `light`, `readonly`; of a pair the first one wins. Of its "
        "older form `NVITOP_MONITOR_THEME` is `dark` or\n  `light` where MODE names neither; "
        "`NVITOP_MONITOR_ALWAYS` is `true` `yes` `1`, a terminal gets the monitor (as without "
        "it),\n"
        "  or `false` `no` `0`, it gets a report unless `-m` is said.\n"
        "- `NO_COLOR` turns off the colors of reports and of the monitor, not bold, dim and "
        "reverse;\n  `--force-color` wins over it. `COLORTERM` with `truecolor` or `24bit` gives "
        "the "
        "monitor's charts any color\n  (docs/monitor.md). Without a theme `COLORFGBG` says whether "
        "the "
        "background is\n  light, until the terminal has replied.\n\n"
        "The configuration is one JSON object in `$XDG_CONFIG_HOME/vitals/config.json`, or "
        "`~/.config/vitals/config.json`:\n\n"
        "```json\n"
        "{\"interval\": 1, \"ascii\": true, \"gpu-util-thresh\": [20, 80]}\n"
        "```\n\n"
        "A mistake in it is reported with its line and column, and vitals continues without the "
        "file; a file that was named with\n`--config` must be valid. For root it must be root's, "
        "and writable "
        "for no "
        "other user.\n");

    const struct command *command = command_table;
    do {
        output_format(output, "\n## %s\n\n    vitals %s\n",
                      command->name != NULL ? command->name : "vitals", command->usage);
        for (enum option_group group = 1; group < GROUP_GLOBAL; group++) {
            if (option_next(command, group, NULL) != NULL)
                print_markdown_group(output, command, group);
        }
    } while ((++command)->name != NULL);
    output_text(output, "\n## Every command\n");
    for (enum option_group group = GROUP_GLOBAL; group < GROUP_END; group++)
        print_markdown_group(output, command_table, group);
}

/* Prints text for roff: its special characters escaped, a dot or a quote at the beginning of a line
 * protected. */
static void print_roff(struct output *output, const char *text)
{
    if (*text == '.' || *text == '\'')
        output_text(output, "\\&");
    for (; *text != '\0'; text++) {
        if (*text == '\\')
            output_text(output, "\\e");
        else if (*text == '-')
            output_text(output, "\\-");
        else
            (void)output_write(output, text, 1);
    }
}

static void print_roff_lines(struct output *output, const char *lines)
{
    while (*lines != '\0') {
        char line[200];
        size_t size = strcspn(lines, "\n");
        snprintf(line, sizeof line, "%.*s", (int)size, lines);
        print_roff(output, line);
        output_text(output, "\n");
        lines += size + (lines[size] == '\n');
        if (*lines != '\0')
            output_text(output, ".br\n");
    }
}

static void print_roff_group(struct output *output, const struct command *command,
                             enum option_group group)
{
    output_format(output, ".PP\n%s:\n", option_group_name(group));
    for (const struct option *option = NULL; (option = option_next(command, group, option));) {
        char argument[64], variable[64], what[400], text[440];
        option_argument(option, argument, sizeof argument);
        output_text(output, ".TP\n\\fB");
        if (option->brief != NULL)
            output_format(output, "\\-%s\\fR, \\fB", option->brief);
        output_text(output, "\\-\\-");
        print_roff(output, option->name);
        if (option->alias != NULL) {
            output_text(output, "\\fR, \\fB\\-\\-");
            print_roff(output, option->alias);
        }
        output_text(output, "\\fR");
        print_roff(output, argument);
        option_describe(option, what, sizeof what);
        snprintf(text, sizeof text, option->preset != NULL ? "\n%s (default %s)" : "\n%s", what,
                 option->preset);
        print_roff(output, text);
        if (option->everywhere) {
            option_variable(option, variable, sizeof variable);
            output_text(output, "; environment ");
            print_roff(output, variable);
        }
        output_text(output, ".\n");
    }
}

void document_man(struct output *output)
{
    output_format(output,
                  ".\\\" Generated from the option table; do not edit, run `make docs`.\n"
                  ".TH VITALS 1 \"\" \"vitals %s\" \"User Commands\"\n"
                  ".SH NAME\nvitals \\- ",
                  VITALS_VERSION);
    output_text(output, "show, record and account for what processes do to a machine\n"
                        ".SH SYNOPSIS\n");
    for (const struct command *command = command_table; command->run != NULL; command++) {
        if (command->flags & COMMAND_HIDDEN)
            continue;
        output_text(output, "vitals ");
        print_roff(output, command->usage);
        output_text(output, "\n.br\n");
    }

    output_text(output, ".SH COMMANDS\n");
    for (const struct command *command = command_table; command->run != NULL; command++) {
        if (command->flags & COMMAND_HIDDEN)
            continue;
        output_format(output, ".SS vitals%s%s\n", command->name != NULL ? " " : "",
                      command->name != NULL ? command->name : "");
        print_roff(output, command->purpose);
        output_text(output, "\n");
        for (enum option_group group = 1; group < GROUP_GLOBAL; group++) {
            if (option_next(command, group, NULL) != NULL)
                print_roff_group(output, command, group);
        }
        output_text(output, ".PP\nExit codes:\n.RS\n");
        print_roff_lines(output, command_exits(command));
        output_text(output, ".RE\n.PP\nExamples:\n.RS\n.nf\n");
        print_roff_lines(output, command->examples);
        output_text(output, ".fi\n.RE\n");
    }
    output_text(output, ".SH OPTIONS OF EVERY COMMAND\n");
    for (enum option_group group = GROUP_GLOBAL; group < GROUP_END; group++)
        print_roff_group(output, command_table, group);
    output_text(output,
                ".SH FILES\n.TP\n\\fI$XDG_CONFIG_HOME/vitals/config.json\\fR, "
                "\\fI~/.config/vitals/config.json\\fR\n"
                "One JSON object whose keys are names of those options that have an environment "
                "variable.\n"
                "A flag wins over the environment, which wins over this file.\n"
                ".SH SEE ALSO\n.BR vitals (3)\n");
}
