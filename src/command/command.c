/* command.c: functions that all subcommands share. */
#include "command/command.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "command/options/option.h"
#include "record/recording.h"

int command_fail(int code, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "vitals: %s\n", line);
    return code;
}

int command_execute(const struct argument_settings *arguments, const char *program,
                    char *const *environment)
{
    struct rlimit limit;
    if (arguments->descriptors_before != 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = (rlim_t)arguments->descriptors_before;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    (void)execvpe(program, (char *const *)arguments->command_argv, environment);
    bool missing = errno == ENOENT;
    return command_fail(
        missing ? EXIT_NO_COMMAND : EXIT_CANNOT_RUN, "%s: %s", command_safe(program),
        !missing                       ? strerror(errno)
        : strchr(program, '/') != NULL ? "no such file, or its interpreter is missing"
                                       : "command not found");
}

void command_end_interrupted(void)
{
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    (void)signal(SIGINT, SIG_DFL);
    (void)raise(SIGINT);
    sigprocmask(SIG_UNBLOCK, &interrupt, NULL);
}

int command_fail_unknown(const char *before, const char *given, const char *after,
                         const char *(*word)(size_t index), const char *otherwise)
{
    struct nearest nearest;
    nearest_begin(&nearest, given);
    for (size_t i = 0; word(i) != NULL; i++)
        nearest_offer(&nearest, word(i));
    return command_fail(EXIT_USAGE, "%s \"%s\"%s; %s%s%s", before, command_safe(given), after,
                        nearest.word != NULL ? "did you mean " : "",
                        nearest.word != NULL ? nearest.word : otherwise,
                        nearest.word != NULL ? "?" : "");
}

enum ps_word command_ps_word(const struct command *command, const char *word)
{
    bool dashed = word[0] == '-';
    const char *letters = word + dashed;
    size_t size = strlen(letters);
    if (command->bit != COMMAND_PS || size == 0 || size > 6)
        return PS_WORD_NONE;
    bool every = (strchr(letters, 'a') != NULL && strchr(letters, 'x') != NULL) ||
                 strpbrk(letters, "eA") != NULL;
    if (letters[0] != 'u' && strspn(letters, dashed ? "aAefuwx" : "afuwx") == size &&
        (every || (dashed && strspn(letters, "fw") == size)))
        return PS_WORD_ALL;
    return strspn(letters, "aAdefFjlLmMTuwxyZ") == size ? PS_WORD_HABIT : PS_WORD_NONE;
}

const char *command_safe(const char *string)
{
    static char buffers[2][256];
    static unsigned turn;
    char *out = buffers[turn++ % 2];
    (void)vitals_text_format(vitals_text_of(string), VITALS_TEXT_ASCII, out, sizeof buffers[0]);
    return out;
}

/* Each line is written with one write, because several threads may print at once. */
static void trace_line(void *data UNUSED, const char *line)
{
    char text[600];
    int size = snprintf(text, sizeof text, "vitals: trace: %s\n", line);
    if (size >= (int)sizeof text) {
        size = (int)sizeof text;
        text[size - 1] = '\n';
    }
    ssize_t ignored = write(STDERR_FILENO, text, (size_t)size);
    (void)ignored;
}

void command_world(const struct machine_settings *machine, vitals_options *options)
{
    vitals_options_init(options, sizeof *options);
    options->proc_root = machine->proc_root;
    options->bpf = !machine->no_bpf;
    options->driver_share = (double)machine->driver_percent / 100;
    options->max_descriptors = UINT32_MAX; /* as many as there may be: they are its own */
    options->sys_root = machine->sys_root;
    options->dev_root = machine->dev_root;
    options->nvml_path = machine->nvml;
    options->demo = machine->demo;
    options->seed = machine->seed;
    options->backends = machine->backends;
    if (machine->backends != NULL && strcmp(machine->backends, "none") == 0)
        options->backends = "";
    if (machine->trace)
        options->trace = trace_line;
}

int command_context(const struct machine_settings *machine, vitals_context **out,
                    vitals_error *error)
{
    vitals_options world;
    command_world(machine, &world);
    return vitals_context_new(&world, out, error);
}

void command_wait_until(uint64_t deadline_ns)
{
    const vitals_clock *clock = vitals_clock_system();
    (void)clock->wait_until(clock->data, -1, deadline_ns);
}

bool command_text_is(const vitals_row *row, vitals_metric metric, const char *word)
{
    vitals_text text;
    return vitals_row_text(row, metric, &text) > 0 && text.size == strlen(word) &&
           memcmp(text.bytes, word, text.size) == 0;
}

int command_feed(const struct machine_settings *machine, const vitals_request *request,
                 uint64_t interval_ns, int cancel, struct feed *out)
{
    vitals_error error;
    if (machine->from != NULL) {
        int code = recording_has_frames(machine->from) ? recording_feed(machine->from, out, &error)
                                                       : feed_file_open(machine->from, out, &error);
        return code < 0 ? command_fail(EXIT_CANNOT, "%s", error.message) : 0;
    }

    vitals_context *context = NULL;
    const struct feed_sampler_options sampler = {
        .request = request, .interval_ns = interval_ns, .cancel = cancel, .owns_context = true};
    int code = command_context(machine, &context, &error);
    if (code == 0)
        code = feed_sampler_open(context, &sampler, out, &error);
    if (code < 0)
        return command_fail(code == VITALS_EARGUMENT ? EXIT_USAGE : EXIT_CANNOT, "%s",
                            error.message);
    return 0;
}

int command_read_next(struct feed *feed, vitals_snapshot **older, vitals_snapshot **now,
                      vitals_error *error)
{
    vitals_snapshot *next = NULL;
    int got = feed->next(feed->data, &next, error);
    if (got > 0) {
        vitals_snapshot_unref(*older);
        *older = *now;
        *now = next;
    }
    return got;
}

bool command_is_whole(const vitals_snapshot *snapshot)
{
    vitals_availability state = vitals_snapshot_state(snapshot, VITALS_TABLE_GPU);
    return state != VITALS_NOT_YET && state != VITALS_LOWER_BOUND;
}

int command_read_first(const struct machine_settings *machine, struct feed *feed,
                       vitals_snapshot **older, vitals_snapshot **now, vitals_error *error)
{
    static const uint64_t AGAIN_NS = 100000000, TOLD_NS = 2000000000, SILENT_NS = 5000000000;
    uint64_t begun_ns = clock_now_ns(), newest_ns = begun_ns;
    size_t known = 0;
    bool told = false;
    int got = command_read_next(feed, older, now, error);
    while (got > 0 && machine->from == NULL && !command_is_whole(*now)) {
        uint64_t now_ns = clock_now_ns();
        size_t count = vitals_snapshot_count(*now, VITALS_TABLE_GPU);
        if (count > known)
            newest_ns = now_ns;
        known = count;
        bool silent = count > 0 && now_ns - newest_ns >= SILENT_NS;
        if (now_ns - begun_ns >= machine->device_wait_ns || silent)
            break;
        if (!told && now_ns - begun_ns >= TOLD_NS)
            (void)command_fail(0, "waiting for a driver that is still listing its GPUs "
                                  "(--device-wait says how long at most)");
        told = told || now_ns - begun_ns >= TOLD_NS;
        command_wait_until(now_ns + AGAIN_NS);
        got = command_read_next(feed, older, now, error);
    }
    return got;
}

int command_tell_partial(const vitals_snapshot *snapshot, int code)
{
    if (command_is_whole(snapshot))
        return code;
    command_tell_kept(snapshot);
    return command_fail(EXIT_CANNOT, "the list of GPUs is not complete: the driver did not list "
                                     "all in time; try again, or with a longer --device-wait");
}

int command_request_add(vitals_request *request, const vitals_metric *metrics, size_t count,
                        vitals_error *error)
{
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++)
        code = vitals_request_add(request, metrics[i], error);
    return code;
}

int command_request(const vitals_metric *metrics, const vitals_table *tables, vitals_request **out,
                    vitals_error *error)
{
    int code = vitals_request_new(0, out, error);
    for (; metrics != NULL && *metrics != 0 && code == 0; metrics++)
        code = vitals_request_add(*out, *metrics, error);
    for (; tables != NULL && *tables != 0 && code == 0; tables++)
        code = vitals_request_add_table(*out, *tables, error);
    return code;
}

int command_once(const struct settings *settings, int (*make)(vitals_request **, vitals_error *),
                 int (*print)(const struct settings *, const vitals_snapshot *))
{
    vitals_request *request = NULL;
    vitals_snapshot *snapshot = NULL, *older = NULL;
    vitals_error error;
    struct feed feed = {0};
    int code = make(&request, &error);
    if (code < 0)
        code = command_fail(EXIT_CANNOT, "%s", error.message);
    else
        code = command_feed(&settings->machine, request, 0, -1, &feed);
    vitals_request_free(request);
    if (code != 0)
        return code;
    /* A diagnosis tells of a driver that takes long. */
    int got = settings->command->bit == COMMAND_DOCTOR
                  ? feed.next(feed.data, &snapshot, &error)
                  : command_read_first(&settings->machine, &feed, &older, &snapshot, &error);
    if (got < 0)
        code = command_fail(EXIT_CANNOT, "%s", error.message);
    else if (got == 0)
        code = command_fail(EXIT_CANNOT, "%s: no snapshot in it",
                            command_safe(settings->machine.from));
    else
        code = print(settings, snapshot);
    vitals_snapshot_unref(older);
    vitals_snapshot_unref(snapshot);
    feed_close(&feed);
    return code;
}

int command_print_json(const vitals_snapshot *snapshot, struct output *output)
{
    vitals_error error;
    if (vitals_snapshot_json(snapshot, output_write, output, &error) < 0 && output_open(output))
        return command_fail(EXIT_CANNOT, "%s", error.message);
    output_text(output, "\n");
    return EXIT_DONE;
}

bool command_is_utf8(void)
{
    return setlocale(LC_CTYPE, "") != NULL && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

struct account_view command_account_view(const struct look_settings *look,
                                         const struct account_settings *account)
{
    return (struct account_view){.ascii = look->ascii_unknown ? !command_is_utf8() : look->ascii,
                                 .color = look->color,
                                 .verbose = look->verbose,
                                 .width = look->width,
                                 .memory_unit = account->memory_unit,
                                 .gpu_memory_unit = account->gpu_memory_unit,
                                 .time_unit = account->time_unit};
}

/* Write end of the pipe that a signal handler writes to; the read end stops the feed. */
static volatile sig_atomic_t interrupted_by = -1;

static void interrupt(int signal_number UNUSED)
{
    int before = errno;
    ssize_t ignored = write((int)interrupted_by, "", 1);
    (void)ignored;
    errno = before;
}

/* Takes the first `count` signals that are not ignored. */
static int take_signals(size_t count, int flags)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction ours = {.sa_handler = interrupt, .sa_flags = flags}, theirs;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return -1;
    interrupted_by = ends[1];
    for (size_t i = 0; i < count; i++) {
        if (sigaction(signals[i], NULL, &theirs) == 0 && theirs.sa_handler != SIG_IGN)
            sigaction(signals[i], &ours, NULL);
    }
    return ends[0];
}

int command_interrupts(void)
{
    return take_signals(3, (int)SA_RESETHAND);
}

int command_last_interrupts(void)
{
    return take_signals(4, 0);
}
