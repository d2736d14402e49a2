/* run.c: `vitals run`: runs a command and prints to stderr what it used. The library runs it; this
 * file prints. Stdout belongs to the command, unless an option names it with "-". */
#include "command/run/run.h"
#include "report/report.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Prints one account, or all that `repeat` holds. */
static void print_json(const struct argument_settings *arguments, const vitals_account *account,
                       const struct repeat *repeat, int descriptor)
{
    if (descriptor < 0)
        return;
    struct output *output = output_begin(descriptor);
    int code = repeat != NULL
                   ? repeat_json(repeat, output_write, output)
                   : report_account_json(account, arguments->command_argv, output_write, output);
    if (code == VITALS_EMEMORY)
        (void)command_fail(0, "the account is not written as JSON: out of memory");
    (void)output_done(output, 0); /* prints the error; the exit code is that of the command */
    close(descriptor);
}

void run_print_account(const struct settings *settings, const vitals_account *account)
{
    const struct account_view view = command_account_view(&settings->look, &settings->account);
    struct output *output = output_begin(STDERR_FILENO);
    (void)account_text(account, &view, output_write, output);
    (void)output_flush(output);
}

/* Of other signals only the exit code tells. */
static void end_as_interrupted(const vitals_account *account)
{
    if (vitals_account_signal(account) == SIGINT)
        command_end_interrupted();
}

static int exit_code_of(const vitals_account *account)
{
    vitals_text limit = vitals_account_attribute(account, "limit");
    if (limit.size > 0)
        return (limit.size == strlen("time") && memcmp(limit.bytes, "time", limit.size) == 0)
                   ? EXIT_LIMIT_TIME
                   : EXIT_LIMIT;
    return vitals_account_exit_code(account);
}

bool run_recording_stopped(const struct run_plan *plan, const vitals_account *account)
{
    static const char STOPPED[] = "recording stopped";
    vitals_text missing = vitals_account_attribute(account, "missing");
    return plan->records && missing.size > 0 &&
           memmem(missing.bytes, missing.size, STOPPED, sizeof STOPPED - 1) != NULL;
}

void run_tell_stopped(const struct run_plan *plan, const vitals_account *account)
{
    vitals_text missing = vitals_account_attribute(account, "missing");
    if (run_recording_stopped(plan, account))
        (void)command_fail(0, "%.*s", (int)missing.size, missing.bytes);
}

/* With --quiet prints only what vitals itself did or could not do: the command prints its own
 * errors, and its exit code is passed on. */
static void print_end(const struct settings *settings, const struct run_plan *plan,
                      const vitals_account *account)
{
    vitals_text failure = vitals_account_failure(account);
    vitals_text words = vitals_account_attribute(account, "limit_words");
    if (failure.size > 0)
        (void)command_fail(0, "%.*s", (int)failure.size, failure.bytes);
    else if (!settings->run.quiet)
        run_print_account(settings, account);
    if (words.size > 0 && (failure.size > 0 || settings->run.quiet)) // the account tells it too
        (void)command_fail(0, "the command passed a limit: %.*s", (int)words.size, words.bytes);
    if (settings->run.quiet)
        run_tell_stopped(plan, account);
}

/* Ignores the signals of a closed pipe and a file size limit, so that the exit code stays that of
 * the command. */
static void outlive_writing(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
}

/* Runs the command once. The caller owns `*account` if 0 is returned. */
static int run_once(const struct run_plan *plan, vitals_account **account)
{
    vitals_error error;
    int code = vitals_run_command(&plan->options, account, &error);
    run_totals_remove(plan);
    if (code < 0)
        return command_fail(EXIT_BEFORE_RUN, "%s", error.message);

    /* The account goes into the recording that the sampler wrote. */
    if (plan->records && recording_put_account(plan->recorder.path, *account, &error) < 0)
        (void)command_fail(0, "%s: the account is missing: %s", command_safe(plan->recorder.path),
                           error.message);
    return 0;
}

static int run_single(const struct settings *settings, struct run_plan *plan, int descriptor)
{
    vitals_account *account = NULL;

    /* Before the command begins: starts the exporters and sets the variables through which the
     * command finds them. */
    const struct export_job job = {.program = "run", .argv = settings->arguments.command_argv};
    run_export_init(&plan->exporter, settings);
    if (run_export_begin(&plan->exporter, settings, &job)) {
        run_export_observe(&plan->exporter, &plan->options);
        plan->options.environment = (char *const *)plan->exporter.variables;
    }

    int code = run_once(plan, &account);
    if (code != 0)
        return code;
    run_export_take_interrupts(&plan->exporter);
    code = exit_code_of(account);
    outlive_writing();
    print_json(&settings->arguments, account, NULL, descriptor);

    /* `vitals run "sh -c 'exit 7'"`: a whole command line was given as the name of a program. */
    bool quoted = settings->arguments.command_argc == 1 && code == EXIT_NO_COMMAND &&
                  vitals_account_failure(account).size > 0 &&
                  strpbrk(settings->arguments.command_argv[0], " \t") != NULL;
    if (quoted) {
        const char *word = settings->arguments.command_argv[0];
        /* Without the quotes the shell in front of us would read what stands behind these. */
        bool shell = strpbrk(word, ";|&<>()\n") != NULL;
        code = command_fail(EXIT_USAGE, "\"%s\" is one word, and no program has that name; %s%s",
                            command_safe(word),
                            shell ? "for a shell: vitals run -- sh -c '...'"
                                  : "without the quotes around all of it: vitals run -- ",
                            shell ? "" : command_safe(word));
    } else {
        print_end(settings, plan, account);
    }
    run_export_end(&plan->exporter, settings, account, run_plan_file(plan));
    end_as_interrupted(account);
    vitals_account_free(account);
    return code;
}

/* Repeats the run until one fails; that run is reported on its own. */
static int run_repeated(const struct settings *settings, struct run_plan *plan, int descriptor)
{
    struct repeat repeat = {0};
    vitals_account *account = NULL, *failed = NULL;
    int code = 0;
    uint64_t done = 0;
    while (code == 0 && failed == NULL && done < settings->run.repeat) {
        code = run_plan_record(plan, &settings->recording, &settings->run, done + 1);
        if (code == 0)
            code = run_once(plan, &account);
        if (code != 0)
            break;
        code = exit_code_of(account);
        if (code != 0)
            failed = account;
        else if (!repeat_add(&repeat, account))
            code = command_fail(EXIT_BEFORE_RUN, "out of memory after %llu runs",
                                (unsigned long long)done);
        else
            done++;
    }
    outlive_writing();
    if (failed != NULL) {
        print_end(settings, plan, failed);
        (void)command_fail(0, "run %llu of %llu failed%s", (unsigned long long)done + 1,
                           (unsigned long long)settings->run.repeat,
                           settings->run.quiet ? "" : "; the figures are of those before it");
    }
    print_json(&settings->arguments, NULL, &repeat, descriptor);
    if (done > 0 && !settings->run.quiet) {
        const struct account_view view = command_account_view(&settings->look, &settings->account);
        struct output *output = output_begin(STDERR_FILENO);
        (void)repeat_text(&repeat, &view, output_write, output);
        (void)output_flush(output);
    }
    if (failed != NULL)
        end_as_interrupted(failed);
    vitals_account_free(failed);
    repeat_done(&repeat);
    return code;
}

/* `vitals run --gpus N`: does what `vitals select -n N --wait --lock -- vitals run …` does.
 *
 * Finding devices loads drivers and starts threads, and a launcher must have neither. So this
 * process executes itself again, with the locks and the variables of the chosen devices, and a word
 * before the command that marks the second start. Returns an exit code on failure. */
static int run_on_gpus(const struct settings *settings)
{
    const struct argument_settings *arguments = &settings->arguments;
    struct settings wanted = *settings;
    size_t before = arguments->argc - arguments->command_argc, used = 0;
    const char **argv = calloc(arguments->argc + 2, sizeof *argv);
    if (argv == NULL)
        return command_fail(EXIT_BEFORE_RUN, "out of memory");
    if (before > 0 && strcmp(arguments->argv[before - 1], "--") == 0)
        before--;
    for (size_t i = 0; i < arguments->argc; i++) {
        if (i == before)
            argv[used++] = "--gpus-chosen";
        argv[used++] = arguments->argv[i];
    }
    wanted.arguments.command_argv = argv;
    wanted.arguments.command_argc = arguments->argc + 1;
    wanted.select.command_path = arguments->program;
    wanted.select.count = settings->run.gpus;
    wanted.select.wait = wanted.select.lock = true;
    int code = command_select(&wanted);
    free(argv);
    return code;
}

int command_run(const struct settings *settings)
{
    static struct run_plan plan; /* large, and borrowed during the run */
    int json = -1;
    int code = exporters_check(&settings->run, &settings->export, &settings->serve);
    if (code == 0)
        code = run_plan_init(&plan, settings);
    if (code == 0)
        code = run_plan_prepare(&plan);
    bool restarts = settings->run.gpus != 0 && !settings->run.gpus_chosen;
    if (code == 0 && restarts)
        code = run_on_gpus(settings);
    /* Opened before the command runs, so that a path that cannot be written is reported first. */
    if (code == 0 && !restarts && settings->run.json_path != NULL) {
        json = output_create(settings->run.json_path);
        if (json < 0)
            code = command_fail(EXIT_BEFORE_RUN, "%s: %s; the command was not run",
                                command_safe(settings->run.json_path), strerror(errno));
    }
    if (code == 0 && !restarts) {
        if (settings->look.verbose && plan.totals[0] != '\0')
            (void)command_fail(0, "running totals are kept in %s", command_safe(plan.totals));
        else if (settings->look.verbose)
            (void)command_fail(0, "no running totals are kept");
        code = settings->run.repeat != 0 ? run_repeated(settings, &plan, json)
                                         : run_single(settings, &plan, json);
    }
    run_plan_done(&plan);
    return code;
}
