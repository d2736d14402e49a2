/* run_options.c: what `vitals run` tells the library, of the settings. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "command/devices/device_list.h"
#include "command/options/recording_options.h"
#include "command/run/run.h"

static int take_size(const char *option, const char *text, uint64_t *out)
{
    if (text == NULL)
        return 0;
    if (vitals_parse_bytes(text, out) == 0 && *out > 0)
        return 0;
    return command_fail(EXIT_USAGE, "--%s %s: a size above 0 is expected, as 40GiB or 500M", option,
                        command_safe(text));
}

static int take_limits(vitals_run_options *options, const struct limit_settings *limits)
{
    int code = take_size("limit-memory", limits->memory, &options->limit_memory_bytes);
    if (code == 0)
        code = take_size("limit-gpu-memory", limits->gpu_memory, &options->limit_gpu_memory_bytes);
    options->limit_processes = limits->processes;
    options->limit_ns = limits->time_ns;
    options->limit_grace_ns = limits->grace_ns;
    options->kill_tree = limits->kill_tree;
    return code;
}

/* Names of rungs by commas or spaces, as they are given on. */
static int take_methods(vitals_run_options *options, const struct measure_settings *measure)
{
    static const char *const KNOWN[] = {"cgroup2", "systemd",   "perf",  "taskstats",
                                        "cgroup1", "connector", "wait4", "sampling"};
    static char words[256];
    size_t used = 0;
    if (measure->methods == NULL)
        return 0;
    for (const char *at = measure->methods; *at != '\0';) {
        size_t size = strcspn(at, ", ");
        bool known = size == 0;
        for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++)
            known |= strlen(KNOWN[i]) == size && memcmp(KNOWN[i], at, size) == 0;
        if (!known || used + size + 2 > sizeof words)
            return command_fail(EXIT_USAGE,
                                "--rungs %s: there are cgroup2 systemd perf taskstats cgroup1 "
                                "connector wait4 sampling",
                                command_safe(measure->methods));
        memcpy(words + used, at, size);
        used += size;
        words[used++] = ' ';
        at += size + (at[size] != '\0');
    }
    words[used] = '\0';
    options->methods = words;
    return 0;
}

/* ---- what is measured ---- */

static int take_devices(struct run_plan *plan, const struct machine_settings *machine,
                        const struct measure_settings *measure)
{
    size_t count = measure->devices.count;
    if (count == 0)
        return 0;
    plan->devices = calloc(count + 1, sizeof *plan->devices);
    if (plan->devices == NULL)
        return command_fail(EXIT_BEFORE_RUN, "out of memory");
    for (size_t i = 0; i < count; i++)
        plan->devices[i] = measure->devices.items[i];
    plan->usage.devices = plan->devices;
    return device_check(machine, measure);
}

static int take_brand(struct run_plan *plan, const struct measure_settings *measure)
{
    static const char *const BRANDS[] = {"nvidia", "amd", "intel"};
    if (measure->brand == NULL)
        return 0;
    for (size_t i = 0; i < sizeof BRANDS / sizeof BRANDS[0]; i++) {
        if (strcmp(measure->brand, BRANDS[i]) == 0)
            plan->usage.brand = BRANDS[i];
    }
    if (plan->usage.brand != NULL)
        return 0;
    return command_fail(EXIT_USAGE, "--brand %s: nvidia, amd or intel is expected",
                        command_safe(measure->brand));
}

/* A tracker prints nothing else to standard output, so a named format goes there. */
static const char *recording_place(const struct argument_settings *arguments,
                                   const struct recording_settings *recording)
{
    bool tracks = arguments->command_argv == NULL;
    bool named = recording->path != NULL;
    return !named && tracks && recording->format != NULL ? "-" : recording->path;
}

static bool is_standard_output(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

static int check_streams(const struct argument_settings *arguments,
                         const struct recording_settings *recording, const struct run_settings *run)
{
    if (!is_standard_output(recording_place(arguments, recording)) ||
        !is_standard_output(run->json_path))
        return 0;
    return command_fail(EXIT_USAGE,
                        "%s and --json - both write to standard output; name a file "
                        "for one",
                        recording->path != NULL ? "--record -" : "--format without --record");
}

static int take_usage(struct run_plan *plan, const struct settings *settings)
{
    vitals_usage_options_init(&plan->usage, sizeof plan->usage);
    plan->usage.expected_cores = (double)settings->measure.expected_cores;
    plan->usage.no_children = settings->measure.no_children;
    /* Figures that cost more than a read are only for output that keeps them: the text shows none.
     */
    plan->usage.details = recording_place(&settings->arguments, &settings->recording) != NULL ||
                          settings->run.json_path != NULL || settings->look.verbose ||
                          exporters_asked(&settings->export);
    plan->options.usage = &plan->usage;
    int code = take_devices(plan, &settings->machine, &settings->measure);
    return code == 0 ? take_brand(plan, &settings->measure) : code;
}

/* ---- where it goes ---- */

static bool is_format(const char *name)
{
    const char *known;
    for (size_t i = 0; (known = recorder_format_name(i)) != NULL; i++) {
        if (strcmp(known, name) == 0)
            return true;
    }
    return false;
}

/* So that a recording that was cut off says of what it is. */
static void set_command(struct run_plan *plan, const char *const *argv)
{
    char arguments[2048], line[4096];
    size_t used = 0;
    for (size_t i = 0; argv[i] != NULL && used + strlen(argv[i]) < sizeof arguments; i++) {
        size_t size = strlen(argv[i]) + 1;
        memcpy(arguments + used, argv[i], size);
        used += size;
    }
    (void)vitals_text_command((vitals_text){arguments, used}, line, sizeof line);
    record_observer_attribute(&plan->observer, "command", (vitals_text){line, strlen(line)});
}

const char *run_plan_file(const struct run_plan *plan)
{
    return plan->records && strcmp(plan->recording, "-") != 0 ? plan->recording : NULL;
}

/* Where the recording of one run is written; from now on the plan records there. */
static int plan_recording(struct run_plan *plan, const struct argument_settings *arguments,
                          const struct recording_settings *recording,
                          const struct run_settings *run)
{
    plan->recorder = (struct recorder_options){.path = plan->recording,
                                               .format = recording->format,
                                               .overwrite = recording->overwrite,
                                               .no_header = recording->no_header,
                                               .interval_ns = plan->options.interval_ns,
                                               .frames = true};
    vitals_error error;
    int code = recording_take_rotation(&plan->recorder, recording);
    if (code != 0)
        return code;
    if (recorder_check(&plan->recorder, &error) < 0)
        return command_fail(EXIT_USAGE, "%s", error.message);
    plan->usage.machine_pace = recorder_samples_machine(&plan->recorder)
                                   ? VITALS_MACHINE_CLOSELY
                                   : VITALS_MACHINE_EACH_SECOND;
    record_observer_init(&plan->observer, &plan->recorder);
    plan->records = true;
    if (run_plan_file(plan) == NULL && arguments->command_argv != NULL) {
        plan->observer.face.descriptor = output_create(plan->recording);
        if (plan->observer.face.descriptor < 0)
            return command_fail(EXIT_BEFORE_RUN, "standard output: %s; the command was not run",
                                strerror(errno));
    }
    if (arguments->command_argv != NULL)
        set_command(plan, arguments->command_argv);
    if (run->gpus == 0 || run->gpus_chosen) /* it is begun once there are GPUs */
        plan->options.observer = &plan->observer.face;
    return 0;
}

int run_plan_prepare(struct run_plan *plan, const struct argument_settings *arguments)
{
    vitals_error error;
    if (plan->options.observer == NULL || run_plan_file(plan) == NULL)
        return 0; /* nothing to make */
    int code = record_observer_prepare(&plan->observer, &error);
    if (code < 0)
        return command_fail(EXIT_BEFORE_RUN, "%s%s%s", error.message,
                            recording_way_out(&plan->recorder, plan->recording, code),
                            arguments->command_argv != NULL ? "; the command was not run" : "");
    return 0;
}

int run_plan_record(struct run_plan *plan, const struct argument_settings *arguments,
                    const struct recording_settings *recording, const struct run_settings *run,
                    uint64_t number)
{
    if (recording->path == NULL)
        return 0;
    if (!recording_numbered(recording->path, number, plan->recording, sizeof plan->recording))
        return command_fail(EXIT_BEFORE_RUN, "--record %s: too long",
                            command_safe(recording->path));
    if (plan->records)
        record_observer_done(&plan->observer);
    plan->records = false;
    plan->options.observer = NULL;
    int code = recording_check_place("--record ", plan->recording);
    if (code == 0)
        code = plan_recording(plan, arguments, recording, run);
    return code == 0 ? run_plan_prepare(plan, arguments) : code;
}

static int take_recording(struct run_plan *plan, const struct argument_settings *arguments,
                          const struct recording_settings *recording,
                          const struct run_settings *run)
{
    const char *path = recording_place(arguments, recording);
    if (path == NULL && recording->no_header)
        return command_fail(EXIT_USAGE, "--no-header goes only with a recording");
    if (path == NULL)
        return 0;
    bool standard = strcmp(path, "-") == 0;
    if (standard && run->repeat != 0)
        return command_fail(EXIT_USAGE, "--record -: with --repeat each run is recorded into a "
                                        "file of its own; name one, as in: --record run.csv");
    if (recording->format != NULL && !is_format(recording->format))
        return command_fail(EXIT_USAGE, "--format %s: vitals run --help names the formats",
                            command_safe(recording->format));
    /* That one of several cannot be written is better known before the first runs. */
    if (run->repeat != 0) {
        struct stat found;
        for (uint64_t i = 1; i <= run->repeat && !recording->overwrite; i++) {
            if (recording_numbered(recording->path, i, plan->recording, sizeof plan->recording) &&
                lstat(plan->recording, &found) == 0)
                return command_fail(
                    EXIT_BEFORE_RUN,
                    "%s: is there already; --overwrite replaces it; the command was "
                    "not run",
                    command_safe(plan->recording));
        }
        return 0;
    }
    /* each run begins its own */
    if (strlen(path) >= sizeof plan->recording)
        return command_fail(EXIT_USAGE, "--record %s: too long", command_safe(path));
    memcpy(plan->recording, path, strlen(path) + 1);
    int code = standard ? 0 : recording_check_place("--record ", path);
    return code == 0 ? plan_recording(plan, arguments, recording, run) : code;
}

static int take_totals(struct run_plan *plan, const struct environment_settings *environment,
                       const struct run_settings *run)
{
    size_t size = run->backup != NULL ? strlen(run->backup) : 0;
    struct stat *before = &plan->totals_before;
    if (run->no_backup)
        return 0;
    if (run->backup != NULL && (size == 0 || size >= sizeof plan->totals))
        return command_fail(EXIT_USAGE, "--backup \"%s\": a file is expected",
                            command_safe(run->backup));
    if (run->backup != NULL && lstat(run->backup, before) == 0 &&
        (!S_ISREG(before->st_mode) || before->st_size > 0))
        return command_fail(EXIT_BEFORE_RUN,
                            "--backup %s: something stands there; the command was not run",
                            command_safe(run->backup));
    if (run->backup != NULL)
        memcpy(plan->totals, run->backup, size + 1);
    else
        run_totals_place(environment, plan->totals, sizeof plan->totals);
    if (plan->totals[0] != '\0')
        plan->options.totals_path = plan->totals;
    return 0;
}

int run_plan_init(struct run_plan *plan, const struct settings *settings)
{
    vitals_run_options *options = &plan->options;
    command_world(&settings->machine, &plan->world);
    vitals_run_options_init(options, sizeof *options);
    options->argv = settings->arguments.command_argv;
    options->world = &plan->world;
    options->wait_for_descendants = settings->run.wait;
    options->child_descriptors = settings->arguments.descriptors_before;
    options->runtime_folder = settings->environment.runtime_folder;
    if (settings->environment.scope_program != NULL) {
        options->make_scope = run_scope_make;
        options->scope_data = (void *)(uintptr_t)settings->environment.scope_program;
    }
    if (settings->sampling.interval_ns != 0)
        options->interval_ns = settings->sampling.interval_ns;
    int code = check_streams(&settings->arguments, &settings->recording, &settings->run);
    if (code == 0) {
        char line[512];
        const struct account_view view = {.memory_unit = settings->account.memory_unit,
                                          .gpu_memory_unit = settings->account.gpu_memory_unit,
                                          .time_unit = settings->account.time_unit};
        code = account_units(&view, line, sizeof line) ? 0 : command_fail(EXIT_USAGE, "%s", line);
    }
    if (code == 0)
        code = take_limits(options, &settings->run.limits);
    if (code == 0)
        code = take_methods(options, &settings->measure);
    if (code == 0)
        code = take_usage(plan, settings);
    if (code == 0)
        code = take_totals(plan, &settings->environment, &settings->run);
    return code == 0
               ? take_recording(plan, &settings->arguments, &settings->recording, &settings->run)
               : code;
}

void run_plan_done(struct run_plan *plan)
{
    if (plan->records)
        record_observer_done(&plan->observer);
    run_export_done(&plan->exporter);
    free(plan->devices);
    plan->devices = NULL;
}
