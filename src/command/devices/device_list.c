/* device_list.c: see device_list.h; and why there is no GPU, for the commands that need one. */
#include "command/devices/device_list.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "feed/rows.h"
#include "report/report.h"

static bool has_key(const struct device_list *list, uint64_t key)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->keys[i] == key)
            return true;
    }
    return false;
}

int device_list(const vitals_snapshot *snapshot, const struct settings_words *words,
                struct device_list *out)
{
    int code = EXIT_DONE;
    *out = (struct device_list){.keys = calloc(words->count + 1, sizeof *out->keys),
                                .all = words->count == 0};
    if (out->keys == NULL)
        return command_fail(EXIT_CANNOT, "out of memory");
    if (out->all)
        out->count = vitals_snapshot_count(snapshot, VITALS_TABLE_GPU);
    for (size_t i = 0; i < words->count; i++) {
        const vitals_row *row;
        vitals_error error;
        if (vitals_gpu_find(snapshot, words->items[i], &row, &error) < 0)
            code = command_fail(EXIT_CANNOT, "%s", error.message);
        else
            out->keys[out->count++] = vitals_row_key(row);
    }
    return code;
}

void device_list_done(struct device_list *list)
{
    free(list->keys);
    *list = (struct device_list){0};
}

static bool has_device(const struct device_list *list, const vitals_row *device)
{
    return has_key(list, vitals_row_key(device)) || has_key(list, vitals_row_parent(device));
}

bool device_list_has(const struct device_list *list, const vitals_row *row)
{
    if (list->all)
        return true;
    if (vitals_row_table(row) == VITALS_TABLE_GPU)
        return has_device(list, row);
    const vitals_row *device = vitals_snapshot_find(vitals_row_snapshot(row), VITALS_TABLE_GPU,
                                                    vitals_row_parent(row));
    return device != NULL && has_device(list, device);
}

struct device_form device_form_of(const struct settings *settings)
{
    return (struct device_form){.ascii = settings->look.ascii, .bytes = settings->table.bytes};
}

void command_tell_kept(const vitals_snapshot *snapshot)
{
    for (const vitals_row *row = NULL; (row = report_next_back_end(snapshot, row)) != NULL;) {
        char name[64], message[256];
        vitals_text text;
        if (!report_was_kept(row) || vitals_row_text(row, VITALS_SOURCE_MESSAGE, &text) <= 0)
            continue;
        (void)vitals_text_format(text, VITALS_TEXT_TERMINAL, message, sizeof message);
        text = vitals_text_of(vitals_row_label(row));
        (void)vitals_text_format(text, VITALS_TEXT_TERMINAL, name, sizeof name);
        (void)command_fail(0, "%s: %s", name, message);
    }
}

int command_tell_no_devices(const vitals_snapshot *snapshot)
{
    command_tell_kept(snapshot);
    return command_fail(EXIT_DONE, "no GPU was found; vitals doctor says what was tried");
}

enum { PATIENCE_MS = 5000, END_MS = 500 }; /* until a child reports, and until it has ended */

/* True if every driver has answered; if not, a device that is not listed may still exist. */
static bool all_answered(const vitals_snapshot *snapshot)
{
    EACH_ROW(row, snapshot, VITALS_TABLE_SOURCE) {
        if (vitals_row_availability(row, VITALS_SOURCE_STATE) > 0 &&
            !command_text_is(row, VITALS_SOURCE_STATE, "have") &&
            !command_text_is(row, VITALS_SOURCE_STATE, "unsupported"))
            return false;
    }
    return true;
}

/* Runs in the child. If the devices cannot be determined there is no message, because that is no
 * reason not to run the command. */
static void look(const struct machine_settings *machine, const struct measure_settings *measure,
                 vitals_error *verdict)
{
    vitals_context *context = NULL;
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    if (command_context(machine, &context, &error) < 0 ||
        vitals_snapshot_take(context, VITALS_SET_GPUS | VITALS_SET_SOURCES, &snapshot, &error) < 0)
        return;
    for (size_t i = 0; i < measure->devices.count && verdict->message[0] == '\0'; i++) {
        const vitals_row *row;
        int code = vitals_gpu_find(snapshot, measure->devices.items[i], &row, &error);
        if (code < 0 && (code != VITALS_EGONE || all_answered(snapshot)))
            *verdict = error;
    }
}

int device_check(const struct machine_settings *machine, const struct measure_settings *measure)
{
    vitals_error verdict = {.message = ""};
    int ends[2], ready;
    if (measure->devices.count == 0 || pipe2(ends, O_CLOEXEC) != 0)
        return EXIT_DONE;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        look(machine, measure, &verdict);
        _exit(write(ends[1], &verdict, sizeof verdict) < 0);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return EXIT_DONE;
    }

    /* Reads the message from the pipe, because the exit code is lost if SIGCHLD is ignored. A
     * signal restarts the wait unless it ends the process. A child that a driver holds in the
     * kernel does not end even when killed, and is left behind. */
    struct pollfd end = {.fd = ends[0], .events = POLLIN};
    do
        ready = poll(&end, 1, PATIENCE_MS);
    while (ready < 0 && errno == EINTR);
    bool told = ready > 0 && read(ends[0], &verdict, sizeof verdict) == (ssize_t)sizeof verdict;
    close(ends[0]);
    if (!told)
        (void)kill(child, SIGKILL);
    for (int i = 0; i < END_MS && waitpid(child, NULL, WNOHANG) == 0; i++)
        (void)poll(NULL, 0, 1);
    if (!told || verdict.message[0] == '\0')
        return EXIT_DONE;
    verdict.message[sizeof verdict.message - 1] = '\0';
    return command_fail(EXIT_USAGE, "--devices: %s", verdict.message);
}
