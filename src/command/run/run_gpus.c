/* run_gpus.c: `vitals run --gpus N`: what `vitals select -n N --wait --lock -- vitals run …` does.
 *
 * Finding devices loads drivers and starts threads, and a launcher must have neither. So this
 * process executes itself anew, with the locks and the variables of the chosen devices. */
#include <stdlib.h>
#include <string.h>

#include "command/run/run.h"

/* Our own arguments, with a word that says that it was done; it stands before the command. */
static const char **begin_again(const struct argument_settings *arguments)
{
    static const char CHOSEN[] = "--gpus-chosen";
    size_t before = arguments->argc - arguments->command_argc, used = 0;
    const char **argv = calloc(arguments->argc + 2, sizeof *argv);
    if (argv == NULL)
        return NULL;
    if (before > 0 && strcmp(arguments->argv[before - 1], "--") == 0)
        before--;
    for (size_t i = 0; i < arguments->argc; i++) {
        if (i == before)
            argv[used++] = CHOSEN;
        argv[used++] = arguments->argv[i];
    }
    return argv;
}

int run_on_gpus(const struct settings *settings)
{
    struct settings wanted = *settings;
    const char **argv = begin_again(&settings->arguments);
    if (argv == NULL)
        return command_fail(EXIT_BEFORE_RUN, "out of memory");
    wanted.arguments.command_argv = argv;
    wanted.arguments.command_argc = settings->arguments.argc + 1;
    wanted.select.command_path = settings->arguments.program;
    wanted.select.count = settings->run.gpus;
    wanted.select.wait = wanted.select.lock = true;
    int code = command_select(&wanted);
    free(argv);
    return code;
}
