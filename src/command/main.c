/* main.c: main(), and everything that the command reads from its environment: variables, the
 * terminal, limits. No other file of the command calls getenv. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "command/export/exporter.h"
#include "command/options/option.h"

/* The folder of the exporter, relative to the folder of this program. */
#ifndef TELL_FOLDER
#define TELL_FOLDER "../libexec/vitals"
#endif

static const char *from_environment(void *data UNUSED, const char *name)
{
    return getenv(name);
}

/* Writes $XDG_CONFIG_HOME/vitals/NAME, or ~/.config/vitals/NAME; "" if neither is set. */
static void config_place(const char *name, char *out, size_t capacity)
{
    const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int size = 0;
    if (folder != NULL && folder[0] == '/')
        size = snprintf(out, capacity, "%s/vitals/%s", folder, name);
    else if (home != NULL && home[0] == '/')
        size = snprintf(out, capacity, "%s/.config/vitals/%s", home, name);
    if (size <= 0 || (size_t)size >= capacity)
        out[0] = '\0';
}

/* Returns $XDG_STATE_HOME or ~/.local/state; "" if neither is set, or if the home does not exist or
 * belongs to another user (sudo): neither is written to. */
static const char *state_place(void)
{
    static char place[4096];
    const char *folder = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    struct stat status;
    int size = 0;
    if (folder != NULL && folder[0] == '/')
        size = snprintf(place, sizeof place, "%s", folder);
    else if (home != NULL && home[0] == '/' && stat(home, &status) == 0 &&
             S_ISDIR(status.st_mode) && status.st_uid == geteuid())
        size = snprintf(place, sizeof place, "%s/.local/state", home);
    return size > 0 && (size_t)size < sizeof place ? place : "";
}

struct program_path {
    char text[4096 + sizeof TELL_FOLDER + 8];
};

/* Finds a program of this project: where it is installed, else beside the command, as in a build
 * folder. Returns the installed path if it is in neither, and "" if the path of this program is
 * unknown. */
static const char *find_program(const char *name, struct program_path *out)
{
    char own[4096], beside[sizeof out->text];
    ssize_t size = readlink("/proc/self/exe", own, sizeof own - 1);
    own[size > 0 ? size : 0] = '\0';
    char *slash = strrchr(own, '/');
    if (slash == NULL)
        return "";
    *slash = '\0';
    (void)snprintf(out->text, sizeof out->text, "%s%s%s/%s", TELL_FOLDER[0] != '/' ? own : "",
                   TELL_FOLDER[0] != '/' ? "/" : "", TELL_FOLDER, name);
    (void)snprintf(beside, sizeof beside, "%s/%s", own, name);
    if (access(out->text, X_OK) != 0 && access(beside, X_OK) == 0)
        memcpy(out->text, beside, sizeof beside);
    return out->text;
}

/* Finds the user's runtime folder, and the program that asks systemd for a scope if a systemd of
 * the user runs there. */
static void look_for_systemd(struct settings *settings)
{
    static struct program_path path;
    char manager[4096];
    const char *folder = settings->environment.runtime_folder = getenv("XDG_RUNTIME_DIR");
    if (!VITALS_WITH_SYSTEMD || folder == NULL || folder[0] != '/')
        return;
    int size = snprintf(manager, sizeof manager, "%s/systemd", folder);
    if (size < 0 || (size_t)size >= sizeof manager || access(manager, F_OK) != 0)
        return;
    const char *program = find_program("scope", &path);
    if (access(program, X_OK) == 0)
        settings->environment.scope_program = program;
}

/* True for a configuration that cannot be read because its home is another user's (su -m). */
static bool is_anothers(const char *place)
{
    const char *folder = getenv("XDG_CONFIG_HOME");
    struct stat status;
    if (folder == NULL || folder[0] != '/')
        folder = getenv("HOME");
    return faccessat(AT_FDCWD, place, R_OK, AT_EACCESS) != 0 && errno == EACCES && folder != NULL &&
           (stat(folder, &status) != 0 || status.st_uid != geteuid());
}

static int read_configuration(struct settings *settings)
{
    struct option_error error;
    static char notice[sizeof error.message + 32]; /* the monitor shows it too */
    char place[4096];
    if (settings->config != NULL)
        return config_read(settings, settings->config, true, &error) < 0
                   ? command_fail(EXIT_USAGE, "%s", error.message)
                   : 0;
    config_place("config.json", place, sizeof place);
    if (place[0] != '\0' && !is_anothers(place) &&
        config_read(settings, place, false, &error) < 0) {
        (void)snprintf(notice, sizeof notice, "%s; going on without it", error.message);
        (void)command_fail(0, "%s", notice);
        settings->view.config_notice = notice;
    }
    return 0;
}

/* Returns the stream for messages and reports: a command that runs another leaves standard output
 * to it. */
static int output_stream(const struct settings *settings)
{
    return settings->command->flags & COMMAND_RUNS ? STDERR_FILENO : STDOUT_FILENO;
}

static void look_at_terminal(struct settings *settings)
{
    bool writes_errors = settings->command->flags & COMMAND_RUNS;
    int stream = output_stream(settings);
    struct winsize size;
    if (settings->look.width == 0 && ioctl(stream, TIOCGWINSZ, &size) == 0)
        settings->look.width = size.ws_col;
    if (settings->look.width == 0)
        settings->look.width = 79;
    /* Lines of ps in a pipe are cut only by its own --width, not by VITALS_WIDTH or COLUMNS. */
    enum origin least = settings->command->bit == COMMAND_PS ? ORIGIN_FLAG : ORIGIN_CONFIGURATION;
    if (settings->look.terminal || settings_origin(settings, &settings->look.width) >= least)
        settings->look.line_width = settings->look.width;
    settings->sampling.interval_given =
        settings_origin(settings, &settings->sampling.interval_ns) == ORIGIN_FLAG;

    /* In the order of termcolor: --force-color, NO_COLOR, FORCE_COLOR, the terminal. */
    const char *no_color = getenv("NO_COLOR"), *color = getenv("FORCE_COLOR");
    const char *term = settings->environment.term;
    if (settings->look.force_color || (no_color != NULL && no_color[0] != '\0'))
        settings->look.color = settings->look.force_color;
    else if (color != NULL && color[0] != '\0' && strcmp(color, "0") != 0)
        settings->look.color = true;
    else
        settings->look.color = settings->look.terminal && term != NULL && strcmp(term, "dumb") != 0;

    if (settings_origin(settings, &settings->look.ascii) != ORIGIN_DEFAULT)
        return;
    settings->look.ascii_unknown =
        writes_errors; /* setlocale() costs time, and a run may print nothing */
    if (!writes_errors)
        settings->look.ascii = !command_is_utf8();
}

/* Raises the limit of descriptors: one open descriptor per process makes reading cheap, and the
 * default limit is too low. */
static void raise_descriptors(struct settings *settings)
{
    enum { MANY = 16384, FEW = 1024 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        uint64_t before = limit.rlim_cur;
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
            settings->arguments.descriptors_before = before;
    }

    /* The kernel doubles a process's table of descriptors as it fills, and in a process with
     * threads it waits each time until no CPU can be reading the old table (expand_fdtable in
     * fs/file.c): 35 ms for the descriptors of 1000 processes. Here there is only one thread, and
     * the table grows at once. Not for a launcher: it has no threads, and its children would copy
     * the large table. */
    if ((settings->command->flags & (COMMAND_PLAIN | COMMAND_RUNS)) == 0) {
        int descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, MANY - 1);
        if (descriptor < 0)
            descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, FEW - 1);
        if (descriptor >= 0)
            close(descriptor);
    }
}

static int point_to_help(const struct settings *settings)
{
    const struct command *command = settings->command;
    fprintf(stderr, "Try: vitals%s%s --help\n", command->name != NULL ? " " : "",
            command->name != NULL ? command->name : "");
    return EXIT_USAGE;
}

static int usage_error(const struct settings *settings, const struct option_error *error)
{
    (void)command_fail(EXIT_USAGE, "%s", error->message);
    return point_to_help(settings);
}

/* True if the request needs SQLite or ncurses: a recording is read or written, or the monitor is
 * shown. */
static bool needs_whole(const struct settings *settings)
{
    return (settings->command->flags & COMMAND_WHOLE) || settings->machine.from != NULL ||
           settings->recording.path != NULL || command_is_monitor(settings) ||
           command_is_live_top(settings);
}

/* Executes the full program. Returns only if there is no such program. */
static int start_whole(char **argv)
{
    struct program_path path;
    const char *program = find_program("vitals-full", &path);
    execv(program, argv);
    return command_fail(EXIT_CANNOT, "%s: %s; install vitals again", program, strerror(errno));
}

/* Whether files of a demo fit into a folder in memory, with much to spare. */
static bool has_room(const char *folder)
{
    struct statvfs room;
    return access(folder, W_OK | X_OK) == 0 && statvfs(folder, &room) == 0 &&
           (uint64_t)room.f_bavail * room.f_frsize >= 32 << 20;
}

static int start(struct settings *settings, int argc, char **argv)
{
    static char layout[4096];
    struct option_error error;
    if (options_from_arguments(settings, command_table, argc, (const char *const *)argv, &error) <
        0)
        return usage_error(settings, &error);
    bool runs = settings->command->flags & (COMMAND_RUNS | COMMAND_MAY_RUN);
    if (!runs || settings->help || settings->version)
        signal(SIGPIPE, SIG_IGN);
    if (settings->help) {
        struct output *output = output_begin(STDOUT_FILENO);
        option_print_help(settings->command, settings->help_form != NULL, output);
        return output_done(output, EXIT_DONE);
    }
    if (settings->version)
        return command_version(settings);
    if ((settings->command->flags & COMMAND_RUNS) && settings->arguments.command_argc == 0) {
        (void)option_fail(&error, "%s: no command; write it after --, as in: vitals %s -- make",
                          settings->command->name, settings->command->name);
        return usage_error(settings, &error);
    }
    if (options_from_environment(settings, from_environment, NULL, &error) < 0)
        return usage_error(settings, &error);
    settings->look.terminal = isatty(output_stream(settings));
    settings->look.typed = isatty(STDIN_FILENO);
    settings->environment.term = getenv("TERM");
    settings->environment.colors = getenv("COLORTERM");
    settings->environment.background = getenv("COLORFGBG");

    /* A configuration may be standard input, which can be read only once: it is left to the program
     * that executes the command. The usual file may name a recording. */
    bool whole = command_is_whole_program();
    if (!whole && (settings->config != NULL || needs_whole(settings)))
        return start_whole(argv);
    int code = read_configuration(settings);
    if (code != 0)
        return code;
    if (!whole && needs_whole(settings))
        return start_whole(argv);
    settings->environment.visible_devices = getenv("CUDA_VISIBLE_DEVICES");
    settings->environment.device_order = getenv("CUDA_DEVICE_ORDER");
    settings->environment.marks = getenv("VITALS_MARKS");
    settings->environment.temporary = getenv("TMPDIR");
    if (settings->environment.temporary == NULL || settings->environment.temporary[0] != '/')
        settings->environment.temporary = "/tmp";
    settings->environment.demo_folder = settings->environment.temporary;
    if (settings->machine.demo != NULL && getenv("TMPDIR") == NULL && has_room("/dev/shm"))
        settings->environment.demo_folder = "/dev/shm"; /* hundreds of small files */
    settings->environment.state_folder = state_place();
    config_place("layout.json", layout, sizeof layout);
    settings->view.layout_path = layout;
    settings->arguments.argv = (const char *const *)argv;
    settings->arguments.argc = argc > 0 ? (size_t)argc : 0;
    if (settings->run.gpus != 0) /* the only option that starts this program again */
        settings->arguments.program = access("/proc/self/exe", X_OK) == 0 ? "/proc/self/exe" : NULL;
    settings->environment.variables = (const char *const *)environ;

    /* Finds the path of the exporter, only if something is exported: the value of VITALS_TELL, or
     * our own program. */
    static struct program_path path;
    const char *named = getenv("VITALS_TELL");
    if (exporters_asked(&settings->export) || settings->command->bit == COMMAND_SERVE ||
        settings->command->bit == COMMAND_SEND || settings->command->bit == COMMAND_TOP ||
        settings->fleet.hosts != NULL)
        settings->export.program = named != NULL && named[0] != '\0' ? named
                                                                     : find_program("tell", &path);

    if (settings->command->flags & COMMAND_RUNS)
        look_for_systemd(settings);
    look_at_terminal(settings);
    raise_descriptors(settings);
    code = settings->command->run(settings);
    bool ours = code == EXIT_USAGE && !(settings->command->flags & COMMAND_RUNS);
    return ours ? point_to_help(settings) : code;
}

int main(int argc, char **argv)
{
    struct settings settings;

    /* The next file that is opened would get the number of a closed standard stream, and be written
     * to. The descriptor that is opened in its place is read-only, so that writing fails with a
     * message. */
    int descriptor;
    do {
        descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
    } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor >= 0)
        close(descriptor);

    /* `vitals help` and `vitals help COMMAND` mean --help. */
    static char help[] = "--help";
    if ((argc == 2 || argc == 3) && strcmp(argv[1], "help") == 0) {
        argv[1] = argc == 3 ? argv[2] : help;
        if (argc == 3)
            argv[2] = help;
    }

    if (command_is_whole_program())
        (void)prctl(PR_SET_NAME, "vitals"); /* the name under which users look for it */
    settings_init(&settings);
    int code = start(&settings, argc, argv);
    settings_done(&settings);
    return code;
}
