/* run.c: `vitals run`: runs a command and says on stderr what it used.
 *
 * The library runs it; this file prints. Nothing is written to stdout: that is the command's. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "command/output.h"
#include "report/report.h"

enum { EXIT_BEFORE_RUN = 125 };

/* Opened before the command runs: a place that cannot be written is better known now. */
static int open_json(const struct settings *settings, int *descriptor)
{
    *descriptor = -1;
    if (settings->json_path == NULL)
        return 0;
    *descriptor = open(settings->json_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (*descriptor >= 0)
        return 0;
    return command_fail(EXIT_BEFORE_RUN, "%s: %s; the command was not run",
                        command_safe(settings->json_path), strerror(errno));
}

static void print_json(const struct settings *settings, const vitals_account *account,
                       int descriptor)
{
    static struct output output;
    if (descriptor < 0)
        return;
    output_init(&output, descriptor);
    (void)report_account_json(account, settings->command_argv, output_write, &output);
    (void)output_done(&output, 0); /* says what failed; the exit code is the command's */
    close(descriptor);
}

static void print_text(const struct settings *settings, const vitals_account *account)
{
    static struct output output;
    vitals_text failure = vitals_account_failure(account);
    if (failure.size > 0) {
        (void)command_fail(0, "%.*s", (int)failure.size, failure.bytes);
        return;
    }
    output_init(&output, STDERR_FILENO);
    (void)report_account(account, settings->command_argv, settings->color, settings->ascii,
                         output_write, &output);
    (void)output_flush(&output);
}

/* A shell that runs us in a loop ends its script on Ctrl-C only if we died of it, as the command
 * did. Other signals are told by the exit code alone. */
static void end_as_interrupted(const vitals_account *account)
{
    if (vitals_account_signal(account) != SIGINT)
        return;
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    sigaction(SIGINT, &usual, NULL);
    (void)raise(SIGINT);
    sigprocmask(SIG_UNBLOCK, &interrupt, NULL);
}

int command_run(const struct settings *settings)
{
    vitals_options world;
    vitals_run_options options;
    vitals_account *account = NULL;
    vitals_error error;
    int descriptor;
    if (settings->command_argv == NULL)
        return command_fail(EXIT_USAGE,
                            "run: no command; it stands behind --, as in: vitals run -- make");
    if (open_json(settings, &descriptor) != 0)
        return EXIT_BEFORE_RUN;
    command_world(settings, &world);
    vitals_run_options_init(&options, sizeof options);
    options.argv = settings->command_argv;
    options.world = &world;
    options.wait_for_descendants = settings->wait;
    options.child_descriptors = settings->descriptors_before;
    if (settings->interval_ns != 0)
        options.interval_ns = settings->interval_ns;
    if (vitals_run_command(&options, &account, &error) < 0)
        return command_fail(EXIT_BEFORE_RUN, "%s", error.message);
    int code = vitals_account_exit_code(account);
    (void)signal(SIGPIPE,
                 SIG_IGN); /* nobody who reads the account: the exit code is told all the same */
    print_json(settings, account, descriptor);
    print_text(settings, account);
    end_as_interrupted(account);
    vitals_account_free(account);
    return code;
}
