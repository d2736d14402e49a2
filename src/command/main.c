/* main.c: the table of subcommands, and everything that is asked of the environment.
 *
 * The only file of the command that calls getenv. */
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "command/config.h"
#include "command/option.h"

static const struct command commands[] = {
    {
        .run = command_view,
        .bit = COMMAND_VIEW,
        .usage = "[OPTION]... [COMMAND]",
        .summary = "shows this machine",
        .purpose = "Shows what every process does to this machine's CPUs, memory, disks and GPUs.",
        .examples = "vitals -1                         a report of now\n"
                    "vitals -1 -o 0 1 -u ana           of two GPUs and one user's processes\n"
                    "vitals --json --interval 1        a snapshot a second, until Ctrl-C\n"
                    "vitals run -- python train.py     what did this run use?\n"
                    "vitals --demo -1                  all of it without a GPU\n",
    },
    {
        .name = "run",
        .run = command_run,
        .bit = COMMAND_RUN,
        .flags = COMMAND_RUNS,
        .usage = "run [OPTION]... [--] COMMAND [ARGUMENT]...",
        .summary = "runs a command and says what it used",
        .purpose = "Runs a command and says on stderr what it and all its descendants used, each "
                   "figure with how it was got. The command's own output and exit code stay as "
                   "they are.",
        .examples = "vitals run -- python train.py\n"
                    "vitals run --json account.json --interval 100ms -- make -j8\n",
        .exits = "the command's own; 128 + signal where one ended it\n"
                 "125 vitals itself failed before the command ran\n"
                 "126 the command cannot be run, 127 there is no such command\n"
                 "2   usage\n",
    },
    {
        .name = "metrics",
        .run = command_metrics,
        .bit = COMMAND_METRICS,
        .flags = COMMAND_PLAIN,
        .usage = "metrics [--json | --header | --markdown | --schema]",
        .summary = "lists everything that can be known, with units and sources",
        .purpose = "Lists the catalogue: every table of a snapshot and every metric in it.",
        .examples = "vitals metrics | grep memory\n"
                    "vitals metrics --json\n",
    },
    {
        .name = "options",
        .run = command_options,
        .bit = COMMAND_OPTIONS,
        .flags = COMMAND_PLAIN | COMMAND_HIDDEN,
        .usage = "options [--markdown | --man | --settings [OPTION]...]",
        .summary = "prints what is made of the option table",
        .purpose = "Prints the documents that are made of the option table, or what all that was "
                   "said comes to. With --settings it takes the options of vitals itself too.",
        .examples = "vitals options --man | man -l -\n"
                    "vitals options --settings -o 0 1\n",
    },
    {.name = NULL},
};

static const char *from_environment(void *data, const char *name)
{
    (void)data;
    return getenv(name);
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' && strcmp(value, "0") != 0;
}

/* A closed standard stream would be given to the next file that is opened, and written to. What
 * stands in for it can only be read, so that writing fails and says so. */
static void occupy_standard_streams(void)
{
    int descriptor;
    do {
        descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
    } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor >= 0)
        close(descriptor);
}

/* $XDG_CONFIG_HOME/vitals/config.json, or ~/.config/vitals/config.json; "" where neither is set. */
static void config_place(char *out, size_t capacity)
{
    const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int size = 0;
    if (folder != NULL && folder[0] == '/')
        size = snprintf(out, capacity, "%s/vitals/config.json", folder);
    else if (home != NULL && home[0] == '/')
        size = snprintf(out, capacity, "%s/.config/vitals/config.json", home);
    if (size <= 0 || (size_t)size >= capacity)
        out[0] = '\0';
}

static int read_configuration(struct settings *settings)
{
    char place[4096];
    struct option_error error;
    if (settings->config != NULL)
        return config_read(settings, settings->config, true, &error) < 0
                   ? command_fail(EXIT_USAGE, "%s", error.message)
                   : 0;
    config_place(place, sizeof place);
    if (place[0] != '\0' && config_read(settings, place, false, &error) < 0)
        (void)command_fail(0, "%s; going on without it", error.message);
    return 0;
}

/* As termcolor decides: what was said on the command line, NO_COLOR, FORCE_COLOR, the terminal. */
static bool wants_color(const struct settings *settings)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (settings->force_color)
        return true;
    if (no_color != NULL && no_color[0] != '\0')
        return false;
    if (is_set("FORCE_COLOR"))
        return true;
    return settings->terminal && term != NULL && strcmp(term, "dumb") != 0;
}

static void look_at_terminal(struct settings *settings)
{
    bool writes_errors = settings->command->flags & COMMAND_RUNS;
    int stream = writes_errors ? STDERR_FILENO : STDOUT_FILENO;
    struct winsize size;
    settings->terminal = isatty(stream);
    if (settings->width == 0 && ioctl(stream, TIOCGWINSZ, &size) == 0)
        settings->width = size.ws_col;
    if (settings->width == 0)
        settings->width = 79;
    settings->color = wants_color(settings);
    if (settings_origin(settings, &settings->ascii) == ORIGIN_DEFAULT)
        settings->ascii = setlocale(LC_CTYPE, "") == NULL ||
                          strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}

/* A kept descriptor per process makes reading cheap; the default limit is for small programs. */
static void raise_descriptors(struct settings *settings)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max)
        return;
    uint64_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
        settings->descriptors_before = before;
}

static int usage_error(const struct settings *settings, const struct option_error *error)
{
    const struct command *command = settings->command;
    (void)command_fail(EXIT_USAGE, "%s", error->message);
    fprintf(stderr, "Try: vitals%s%s --help\n", command->name != NULL ? " " : "",
            command->name != NULL ? command->name : "");
    return EXIT_USAGE;
}

static int print_help(const struct settings *settings)
{
    struct output output;
    output_init(&output, STDOUT_FILENO);
    option_print_help(commands, settings->command, &output);
    return output_done(&output, EXIT_DONE);
}

static int start(struct settings *settings, int argc, char **argv)
{
    struct option_error error;
    if (options_from_arguments(settings, commands, argc, (const char *const *)argv, &error) < 0)
        return usage_error(settings, &error);
    if (!(settings->command->flags & COMMAND_RUNS) || settings->help || settings->version)
        signal(SIGPIPE, SIG_IGN);
    if (settings->help)
        return print_help(settings);
    if (settings->version)
        return command_version(settings);
    if ((settings->command->flags & COMMAND_RUNS) && settings->command_argc == 0) {
        snprintf(error.message, sizeof error.message, "%s needs a command to run",
                 settings->command->name);
        return usage_error(settings, &error);
    }
    if (options_from_environment(settings, from_environment, NULL, &error) < 0)
        return usage_error(settings, &error);
    int code = read_configuration(settings);
    if (code != 0)
        return code;
    settings->visible_devices = getenv("CUDA_VISIBLE_DEVICES");
    look_at_terminal(settings);
    raise_descriptors(settings);
    return settings->command->run(settings);
}

int main(int argc, char **argv)
{
    struct settings settings;
    occupy_standard_streams();
    settings_init(&settings);
    int code = start(&settings, argc, argv);
    settings_done(&settings);
    return code;
}
