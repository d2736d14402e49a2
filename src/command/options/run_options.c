/* run_options.c: makes the library's options of a run from the settings; and the recording options
 * that run, track and record share. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/devices/device_list.h"
#include "command/options/option.h"
#include "command/run/run.h"
#include "util/file.h"

enum { PIDS_MAX = 4, NUMBER_BYTES = 24 };

static int take_size(const char *option, const char *text, uint64_t *out)
{
    if (text == NULL)
        return 0;
    /* 10 is as likely 10 GiB as 10 bytes, which no command survives. */
    bool has_unit = text[strspn(text, "0123456789.")] != '\0';
    if (has_unit && vitals_parse_bytes(text, out) == 0 && *out > 0)
        return 0;
    return command_fail(EXIT_USAGE, "--%s %s: write a size above 0 with its unit, as 40GiB or 500M",
                        option, command_safe(text));
}

/* Takes names of methods, separated by commas or spaces. */
static int take_methods(vitals_run_options *options, const struct measure_settings *measure)
{
    static char words[256];
    const struct option *option = option_find(COMMAND_RUN, "methods", strlen("methods"));
    if (measure->methods == NULL)
        return 0;
    bool known = snprintf(words, sizeof words, "%s", measure->methods) < (int)sizeof words;
    for (char *at = words, *end; known && *at != '\0'; at = end) {
        end = at + strcspn(at, ", ");
        bool more = *end != '\0';
        *end = '\0';
        known = *at == '\0' || option_choice(option, at) != NULL;
        if (more)
            *end++ = ' ';
    }
    options->methods = words;
    return known ? 0
                 : command_fail(EXIT_USAGE,
                                "--methods %s: not a method; there are cgroup2 systemd perf "
                                "taskstats cgroup1 connector wait4 sampling",
                                command_safe(measure->methods));
}

/* The tracker prints nothing else to standard output, so a named format goes there. */
static const char *recording_place(const struct run_plan *plan,
                                   const struct recording_settings *recording)
{
    bool tracks = plan->options.argv == NULL;
    bool named = recording->path != NULL;
    return !named && tracks && recording->format != NULL ? "-" : recording->path;
}

static int take_usage(struct run_plan *plan, const struct settings *settings)
{
    const struct measure_settings *measure = &settings->measure;
    vitals_usage_options_init(&plan->usage, sizeof plan->usage);
    plan->usage.expected_cores = (double)measure->expected_cores;
    plan->usage.no_children = measure->no_children;
    plan->usage.brand = measure->brand;
    /* Figures that cost more than a read are only measured for output that keeps them: the text
     * shows none. */
    plan->usage.details = recording_place(plan, &settings->recording) != NULL ||
                          settings->run.json_path != NULL || settings->look.verbose ||
                          exporters_asked(&settings->export);
    plan->options.usage = &plan->usage;

    plan->usage.devices = measure->devices.items;
    return device_check(&settings->machine, measure);
}

/* ---- the recording ---- */

int recording_options(const struct recording_settings *recording, const char *path,
                      uint64_t interval_ns, struct recorder_options *out)
{
    enum { ROTATE_BYTES_MIN = 4096 };
    double seconds;
    uint64_t bytes;
    *out = (struct recorder_options){.path = path,
                                     .format = recording->format,
                                     .overwrite = recording->overwrite,
                                     .no_header = recording->no_header,
                                     .interval_ns = interval_ns,
                                     .frames = true,
                                     .keep = (unsigned)recording->keep};
    if (recording->rotate == NULL)
        return 0;
    if (vitals_parse_duration(recording->rotate, &seconds) == 0 && seconds >= 1 && seconds <= 1e9)
        out->rotate_ns = (uint64_t)(seconds * 1e9);
    else if (vitals_parse_bytes(recording->rotate, &bytes) == 0 && bytes >= ROTATE_BYTES_MIN)
        out->rotate_bytes = bytes;
    else
        return command_fail(EXIT_USAGE,
                            "--rotate %s: give a size from 4KiB, as in 100MiB, or a time from 1s, "
                            "as in 1h",
                            command_safe(recording->rotate));
    return 0;
}

/* A sampler in a process of its own does not have our descriptors. */
int recording_check_place(const char *option, const char *path)
{
    struct stat found;
    bool descriptor = strncmp(path, "/dev/std", 8) == 0 || strncmp(path, "/dev/fd/", 8) == 0;
    if (!descriptor && (stat(path, &found) != 0 || S_ISREG(found.st_mode)))
        return 0;
    return command_fail(EXIT_USAGE,
                        "%s%s: not a regular file; the end of a recording rewrites its beginning",
                        option, command_safe(path));
}

const char *recording_overwrite_hint(const struct recorder_options *options, const char *path,
                                     int code)
{
    struct stat found;
    bool occupied = code == VITALS_EARGUMENT && !options->overwrite && path != NULL &&
                    stat(path, &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0;
    return occupied ? "; --overwrite replaces it" : "";
}

/* Writes FILE.3.db for FILE.db: the third of several runs. Returns false if the name is too
 * long. */
static bool recording_numbered(const char *path, uint64_t number, char *out, size_t capacity)
{
    const char *name = strrchr(path, '/'), *ending = strrchr(path, '.');
    name = name != NULL ? name + 1 : path;
    if (ending == NULL || ending <= name)
        ending = path + strlen(path);
    int size = snprintf(out, capacity, "%.*s.%llu%s", (int)(ending - path), path,
                        (unsigned long long)number, ending);
    return size >= 0 && (size_t)size < capacity;
}

const char *run_plan_file(const struct run_plan *plan)
{
    return plan->records && strcmp(plan->recording, "-") != 0 ? plan->recording : NULL;
}

/* Sets the file of the recording of one run; the plan records there from now on. */
static int plan_recording(struct run_plan *plan, const struct recording_settings *recording,
                          const struct run_settings *run)
{
    char *const *argv = plan->options.argv;
    vitals_error error;
    int code = recording_options(recording, plan->recording, plan->options.interval_ns,
                                 &plan->recorder);
    if (code != 0)
        return code;
    if (recorder_check(&plan->recorder, &error) < 0)
        return command_fail(EXIT_USAGE, "%s", error.message);
    plan->usage.machine_pace = recorder_samples_machine(&plan->recorder)
                                   ? VITALS_MACHINE_CLOSELY
                                   : VITALS_MACHINE_EACH_SECOND;
    record_observer_init(&plan->observer, &plan->recorder);
    plan->records = true;
    if (run_plan_file(plan) == NULL && argv != NULL) {
        plan->observer.face.descriptor = output_create(plan->recording);
        if (plan->observer.face.descriptor < 0)
            return command_fail(EXIT_BEFORE_RUN, "standard output: %s; the command was not run",
                                strerror(errno));
    }

    /* So that a recording that was cut off names its command. */
    char words[2048], line[4096];
    size_t used = 0;
    for (size_t i = 0; argv != NULL && argv[i] != NULL && used + strlen(argv[i]) < sizeof words;
         i++) {
        memcpy(words + used, argv[i], strlen(argv[i]) + 1);
        used += strlen(argv[i]) + 1;
    }
    if (argv != NULL) {
        (void)vitals_text_command((vitals_text){words, used}, line, sizeof line);
        record_observer_attribute(&plan->observer, "command", vitals_text_of(line));
    }
    if (plan->usage.expected_cores > 0) {
        (void)snprintf(words, sizeof words, "%.0f", plan->usage.expected_cores);
        record_observer_attribute(&plan->observer, VITALS_ATTRIBUTE_EXPECTED_CORES,
                                  vitals_text_of(words));
    }
    if (run->gpus == 0 || run->gpus_chosen) /* else the second start of vitals attaches it */
        plan->options.observer = &plan->observer.face;
    return 0;
}

int run_plan_prepare(struct run_plan *plan)
{
    vitals_error error;
    if (plan->options.observer == NULL || run_plan_file(plan) == NULL)
        return 0; /* nothing to prepare */
    int code = record_observer_prepare(&plan->observer, &error);
    if (code < 0)
        return command_fail(EXIT_BEFORE_RUN, "%s%s%s", error.message,
                            recording_overwrite_hint(&plan->recorder, plan->recording, code),
                            plan->options.argv != NULL ? "; the command was not run" : "");
    return 0;
}

int run_plan_record(struct run_plan *plan, const struct recording_settings *recording,
                    const struct run_settings *run, uint64_t number)
{
    if (recording->path == NULL)
        return 0;
    if (!recording_numbered(recording->path, number, plan->recording, sizeof plan->recording))
        return command_fail(EXIT_BEFORE_RUN, "--record %s: the path is too long",
                            command_safe(recording->path));
    if (plan->records)
        record_observer_done(&plan->observer);
    plan->records = false;
    plan->options.observer = NULL;
    int code = recording_check_place("--record ", plan->recording);
    if (code == 0)
        code = plan_recording(plan, recording, run);
    return code == 0 ? run_plan_prepare(plan) : code;
}

static int take_recording(struct run_plan *plan, const struct recording_settings *recording,
                          const struct run_settings *run)
{
    const char *path = recording_place(plan, recording);
    if (path == NULL && recording->no_header)
        return command_fail(EXIT_USAGE, "--no-header needs a recording");
    if (path == NULL)
        return 0;
    bool standard = strcmp(path, "-") == 0;
    if (standard && run->repeat != 0)
        return command_fail(EXIT_USAGE, "--record -: with --repeat each run is recorded into a "
                                        "file of its own; name one, as in: --record run.csv");
    /* If the file of a later run cannot be written, that is reported before the first run. */
    if (run->repeat != 0) {
        struct stat found;
        for (uint64_t i = 1; i <= run->repeat && !recording->overwrite; i++) {
            if (recording_numbered(recording->path, i, plan->recording, sizeof plan->recording) &&
                lstat(plan->recording, &found) == 0)
                return command_fail(
                    EXIT_BEFORE_RUN,
                    "%s: the file exists; --overwrite replaces it; the command was not run",
                    command_safe(plan->recording));
        }
        return 0; /* each run creates its own */
    }
    if (strlen(path) >= sizeof plan->recording)
        return command_fail(EXIT_USAGE, "--record %s: the path is too long", command_safe(path));
    memcpy(plan->recording, path, strlen(path) + 1);
    int code = standard ? 0 : recording_check_place("--record ", path);
    return code == 0 ? plan_recording(plan, recording, run) : code;
}

/* ---- the running totals, which remain if vitals is killed ---- */

void run_totals_remove(const struct run_plan *plan)
{
    const struct stat *before = &plan->totals_before;
    struct stat now;
    if (plan->totals[0] == '\0' || lstat(plan->totals, &now) != 0)
        return;
    bool is_old = before->st_mode != 0 && before->st_ino == now.st_ino &&
                  before->st_dev == now.st_dev;
    if (!is_old && S_ISREG(now.st_mode))
        (void)unlink(plan->totals);
}

/* Takes the file of --backup, or a unique name in the user's state folder; creates it and its
 * folders, readable by the user only. If there is no place, leaves plan->totals empty; run.c
 * reports it with --verbose. */
static int take_totals(struct run_plan *plan, const struct environment_settings *environment,
                       const struct run_settings *run)
{
    size_t size = run->backup != NULL ? strlen(run->backup) : 0, capacity = sizeof plan->totals;
    struct stat *before = &plan->totals_before;
    if (run->no_backup)
        return 0;
    if (run->backup != NULL && (size == 0 || size >= capacity))
        return command_fail(EXIT_USAGE, "--backup \"%s\": not the name of a file",
                            command_safe(run->backup));
    if (run->backup != NULL && lstat(run->backup, before) == 0 &&
        (!S_ISREG(before->st_mode) || before->st_size > 0))
        return command_fail(EXIT_BEFORE_RUN,
                            "--backup %s: the file exists and is not empty, or is not a regular "
                            "file; the command was not run",
                            command_safe(run->backup));
    if (run->backup != NULL) {
        plan->options.totals_path = memcpy(plan->totals, run->backup, size + 1);
        return 0;
    }

    const char *state = environment->state_folder;
    char *folder = plan->totals;
    int used = state != NULL && state[0] != '\0' ? snprintf(folder, capacity, "%s/vitals", state)
                                                 : 0;
    bool made = used > 0 && (size_t)used < capacity &&
                (access(folder, W_OK) == 0 || file_make_folders(folder, 0700));

    /* The name holds the time because containers may share the folder and have equal pids. */
    int more = made && access(folder, W_OK) == 0
                   ? snprintf(folder + used, capacity - (size_t)used, "/run-%llu-%ld.json",
                              (unsigned long long)clock_realtime_ns(), (long)getpid())
                   : 0;
    if (more > 0 && (size_t)(used + more) < capacity)
        plan->options.totals_path = folder;
    else
        folder[0] = '\0';
    return 0;
}

/* Asks the user's systemd for a scope for a run, with the program libexec/vitals/scope. The
 * contract is that of make_scope in vitals_run_options; `data` is the program. */
static int make_scope(void *data, const char *name, const int64_t *pids, size_t pid_count,
                      uint64_t memory_max_bytes, uint64_t processes_max)
{
    const char *program = data;
    char memory[NUMBER_BYTES], processes[NUMBER_BYTES], numbers[PIDS_MAX][NUMBER_BYTES];
    const char *arguments[4 + PIDS_MAX + 1] = {program, name, memory, processes};
    if (pid_count > PIDS_MAX)
        return -1;
    (void)snprintf(memory, sizeof memory, "%llu", (unsigned long long)memory_max_bytes);
    (void)snprintf(processes, sizeof processes, "%llu", (unsigned long long)processes_max);
    for (size_t i = 0; i < pid_count; i++) {
        (void)snprintf(numbers[i], sizeof numbers[i], "%lld", (long long)pids[i]);
        arguments[4 + i] = numbers[i];
    }

    /* Runs the program with its streams on /dev/null; returns 0 on success. */
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t pid;
    int status = -1;
    if (posix_spawn_file_actions_init(&files) != 0)
        return -1;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return -1;
    }
    for (int stream = 0; stream <= STDERR_FILENO; stream++)
        (void)posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_RDWR, 0);
    sigemptyset(&none);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    int failed = posix_spawn(&pid, program, &files, &attributes,
                             (char *const *)(uintptr_t)arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0)
        return -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status == 0 ? 0 : -1;
}

static void print_notice(void *data UNUSED, const char *words)
{
    (void)command_fail(0, "%s", words);
}

int run_plan_init(struct run_plan *plan, const struct settings *settings)
{
    vitals_run_options *options = &plan->options;
    command_world(&settings->machine, &plan->world);
    vitals_run_options_init(options, sizeof *options);
    options->argv = (char *const *)settings->arguments.command_argv;
    options->world = &plan->world;
    options->notice = print_notice;
    options->wait_for_descendants = settings->run.wait;
    options->child_descriptors = settings->arguments.descriptors_before;
    options->runtime_folder = settings->environment.runtime_folder;
    if (settings->environment.scope_program != NULL) {
        options->make_scope = make_scope;
        options->scope_data = (void *)(uintptr_t)settings->environment.scope_program;
    }
    if (settings->sampling.interval_ns != 0)
        options->interval_ns = settings->sampling.interval_ns;

    const char *path = recording_place(plan, &settings->recording);
    const char *json = settings->run.json_path;
    if (path != NULL && strcmp(path, "-") == 0 && json != NULL && strcmp(json, "-") == 0)
        return command_fail(
            EXIT_USAGE, "%s and --json - both write to standard output; name a file for one",
            settings->recording.path != NULL ? "--record -" : "--format without --record");
    char wrong[512];
    const struct account_view view = {.memory_unit = settings->account.memory_unit,
                                      .gpu_memory_unit = settings->account.gpu_memory_unit,
                                      .time_unit = settings->account.time_unit};
    if (!account_units(&view, wrong, sizeof wrong))
        return command_fail(EXIT_USAGE, "%s", wrong);

    const struct limit_settings *limits = &settings->run.limits;
    options->limit_processes = limits->processes;
    options->limit_ns = limits->time_ns;
    options->limit_grace_ns = limits->grace_ns;
    options->kill_tree = limits->kill_tree;
    int code = take_size("limit-memory", limits->memory, &options->limit_memory_bytes);
    if (code == 0)
        code = take_size("limit-gpu-memory", limits->gpu_memory, &options->limit_gpu_memory_bytes);
    if (code == 0)
        code = take_methods(options, &settings->measure);
    if (code == 0)
        code = take_usage(plan, settings);
    if (code == 0)
        code = take_totals(plan, &settings->environment, &settings->run);
    return code == 0 ? take_recording(plan, &settings->recording, &settings->run) : code;
}

void run_plan_done(struct run_plan *plan)
{
    if (plan->records)
        record_observer_done(&plan->observer);
    run_export_done(&plan->exporter);
}
