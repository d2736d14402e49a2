/* one_shot.c: `vitals -1`: prints a report. Rates need two readings: they are --delay apart. On a
 * machine with devices only the processes on them are read in full; without devices, all. */
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "command/look/demo_procfs.h"
#include "command/output.h"
#include "report/report.h"

enum { DEVICES_MAX = 256 };

/* Metrics that identify the devices which CUDA_VISIBLE_DEVICES names. */
static const vitals_metric VISIBLE_METRICS[] = {VITALS_GPU_VENDOR,
                                                VITALS_GPU_NAME,
                                                VITALS_GPU_UUID,
                                                VITALS_GPU_PCI_BUS_ID,
                                                VITALS_GPU_GPU_INSTANCE_ID,
                                                VITALS_GPU_COMPUTE_INSTANCE_ID,
                                                0};

/* Reads two snapshots: the last two of a file, or two of this machine that are --delay apart.
 * *older may stay NULL. Returns as command_read_next. */
static int read_feed(const struct machine_settings *machine,
                     const struct sampling_settings *sampling, struct feed *feed,
                     vitals_snapshot **older, vitals_snapshot **now, vitals_error *error)
{
    int got = feed->last != NULL ? feed->last(feed->data, 2, error) : 0;
    if (got >= 0)
        got = command_read_first(machine, feed, older, now, error);
    if (got > 0 && machine->from == NULL && sampling->delay_ns > 0) {
        command_wait_until(clock_now_ns() + sampling->delay_ns);
        return command_read_next(feed, older, now, error);
    }
    while (got > 0 && machine->from != NULL)
        got = command_read_next(feed, older, now, error);
    return got == 0 && *now != NULL ? 1 : got;
}

/* Returns 0, or an exit code after a message. */
static int take(const struct settings *settings, unsigned rows, vitals_snapshot **older,
                vitals_snapshot **now)
{
    const struct machine_settings *machine = &settings->machine;
    vitals_request *request = NULL;
    vitals_error error;
    struct demo_feed demo = {.most = 0};
    bool staged = demo_procfs_wanted(machine, &settings->view);

    static const vitals_table SOURCE[] = {VITALS_TABLE_SOURCE, 0};
    int code = command_request(settings->filter.only_visible ? VISIBLE_METRICS : NULL, SOURCE,
                               &request, &error);
    if (code == 0)
        code = command_request_add(request, REPORT_METRICS, REPORT_METRIC_COUNT, &error);
    if (code == 0 && rows != VITALS_ROWS_ALL)
        code = command_request_add(request, REPORT_WORK_METRICS, REPORT_WORK_METRIC_COUNT, &error);
    if (code == 0)
        code = vitals_request_set_rows(request, rows, NULL, 0, &error);
    code = code < 0 ? command_fail(EXIT_CANNOT, "%s", error.message)
           : staged ? demo_feed_open(settings, request, &demo)
                    : command_feed(machine, request, 0, -1, &demo.feed);
    vitals_request_free(request);
    int got = 1;
    if (code == 0 && !staged)
        got = read_feed(machine, &settings->sampling, &demo.feed, older, now, &error);
    for (size_t i = 0; code == 0 && staged && i < demo.most && got > 0; i++)
        got = command_read_next(&demo.feed, older, now, &error);
    demo_feed_close(&demo);
    if (code != 0)
        return code;
    if (got < 0)
        return command_fail(EXIT_CANNOT, "%s", error.message);
    if (got == 0)
        return command_fail(EXIT_CANNOT, "%s: no snapshot in it", command_safe(machine->from));
    return 0;
}

/* Writes the indices of the devices that CUDA_VISIBLE_DEVICES names: for a partition, that of its
 * device. Prints a message for entries that CUDA would ignore. */
static size_t visible_devices(const struct environment_settings *environment,
                              const vitals_snapshot *snapshot, uint64_t out[static DEVICES_MAX])
{
    const vitals_row *rows[DEVICES_MAX];
    vitals_error error;
    const char *visible = environment->visible_devices, *order = environment->device_order;
    size_t count = vitals_cuda_visible_devices(snapshot, visible, order, rows, DEVICES_MAX);
    if (vitals_cuda_visible_check(snapshot, visible, order, &error) < 0)
        (void)command_fail(0, "%s", error.message);
    for (size_t i = 0; i < count; i++)
        out[i] = selection_device_index(rows[i]);
    return count;
}

const char *command_user(char *out, size_t capacity)
{
    const struct passwd *entry = getpwuid(geteuid());
    if (entry != NULL)
        (void)snprintf(out, capacity, "%s", entry->pw_name);
    else
        (void)snprintf(out, capacity, "%u", (unsigned)geteuid());
    for (char *at = out; *at != '\0'; at++)
        *at = (unsigned char)*at < ' ' || *at == 0x7F ? '?' : *at;
    return out;
}

struct selection command_selection(const struct settings *settings, const char *const *user)
{
    bool own = settings->filter.users.given && settings->filter.users.count == 0;
    return (struct selection){
        .devices = settings->filter.only.items,
        .device_count = settings->filter.only.count,
        .only_visible = settings->filter.only_visible && !settings->filter.only.given &&
                        settings->environment.visible_devices != NULL,
        .compute = settings->filter.compute,
        .only_compute = settings->filter.only_compute,
        .graphics = settings->filter.graphics,
        .only_graphics = settings->filter.only_graphics,
        .users = own ? user : settings->filter.users.items,
        .user_count = own ? 1 : settings->filter.users.count,
        .users_given = settings->filter.users.given,
        .pids = settings->filter.pids.items,
        .pid_count = settings->filter.pids.count,
    };
}

struct look command_look(const struct settings *settings)
{
    /* A picture for a script (--screen) is the same everywhere. */
    const char *background = settings->view.screen == NULL ? settings->environment.background
                                                           : NULL;
    bool theme_given = settings_origin(settings, &settings->view.theme) != ORIGIN_DEFAULT ||
                       settings_origin(settings, &settings->view.light) != ORIGIN_DEFAULT;
    return (struct look){
        .ascii = settings->look.ascii,
        .light = settings->view.light ||
                 (!theme_given && background != NULL && theme_variable(background) > 0),
        .theme_given = theme_given,
        .theme = theme_find(settings->view.theme),
        .colorful = settings->view.colorful,
        .colorless = !settings->look.color,
        .gpu_thresholds = {(unsigned)settings->view.gpu_thresholds[0],
                           (unsigned)settings->view.gpu_thresholds[1]},
        .memory_thresholds = {(unsigned)settings->view.memory_thresholds[0],
                              (unsigned)settings->view.memory_thresholds[1]},
    };
}

int command_print_report(const struct settings *settings, const vitals_snapshot *now,
                         const vitals_snapshot *older)
{
    uint64_t visible[DEVICES_MAX];
    char name[128];
    const char *user = demo_procfs_wanted(&settings->machine, &settings->view)
                           ? DEMO_PROCFS_USER
                           : command_user(name, sizeof name);
    struct one_shot_options options = {
        .look = command_look(settings),
        .color = settings->look.color,
        .width = settings->look.width < INT_MAX ? (int)settings->look.width : INT_MAX,
        .selection = command_selection(settings, &user),
        .user = settings->machine.from == NULL ? user : NULL, /* a file does not name its reader */
    };
    options.look.colorful = false;
    if (options.selection.only_visible) {
        options.selection.device_count = visible_devices(&settings->environment, now, visible);
        options.selection.devices = visible;
    }

    struct output *output = output_begin(STDOUT_FILENO);
    int code = report_one_shot(now, older, &options, output_write, output);
    code = output_done(output, code == VITALS_EMEMORY ? command_fail(EXIT_CANNOT, "out of memory")
                                                      : EXIT_DONE);
    if (code != EXIT_DONE || !settings->filter.only.given)
        return code;

    /* Prints which requested devices do not exist; the others were shown. */
    uint64_t missing[DEVICES_MAX];
    if (options.selection.device_count > DEVICES_MAX)
        options.selection.device_count = DEVICES_MAX;
    size_t count = report_missing_devices(now, &options.selection, missing);
    for (size_t i = 0; i < count; i++)
        code = command_fail(EXIT_CANNOT, "-o %llu: there is no device with that index",
                            (unsigned long long)missing[i]);
    return code;
}

int command_one_shot(const struct settings *settings)
{
    const struct filter_settings *filter = &settings->filter;
    bool here = settings->machine.from == NULL;
    vitals_snapshot *older = NULL, *now = NULL;

    /* A user that this system does not have owns no process; a snapshot of another machine may have
     * any user. */
    for (size_t i = 0; i < filter->users.count && here; i++) {
        const char *name = filter->users.items[i];
        errno = 0;
        bool number = name[strspn(name, "0123456789")] == '\0';
        if (!number && getpwnam(name) == NULL && (errno == 0 || errno == ENOENT))
            return command_fail(EXIT_USAGE, "-u: this system has no user \"%s\"",
                                command_safe(name));
    }

    int code = take(settings, VITALS_ROWS_GPU_USERS, &older, &now);
    if (code == 0 && here && vitals_snapshot_count(now, VITALS_TABLE_GPU) == 0 &&
        vitals_snapshot_state(now, VITALS_TABLE_GPU) != VITALS_NOT_YET) {
        vitals_snapshot_unref(now);
        vitals_snapshot_unref(older);
        older = now = NULL;
        code = take(settings, VITALS_ROWS_ALL, &older, &now);
    }
    if (code == 0)
        code = command_tell_partial(now, command_print_report(settings, now, older));
    vitals_snapshot_unref(now);
    vitals_snapshot_unref(older);
    return code;
}
